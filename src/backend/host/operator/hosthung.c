/* Host back end: hanging nodes for full tensors and for facets, whose kernels do not know them. */
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopshanging.h>

typedef struct {
  struct _HopsHung head;
  HopsSpace        space; /* whose this is */
  HopsHanging      J;
  int             *start; /* [ncells + 1] where the entries of a cell begin */
  int             *place; /* [n] which of the cell's entries it is, */
  int             *list;  /* [n] and what the cell lists there */
  PetscReal       *u;     /* of a cell */
} Hung;

/* Cells of a class: the interior ones, or the others */
static void Cells(const Hung *k, PetscBool interior, PetscInt *first, PetscInt *end)
{
  *first = interior ? 0 : k->space->ninterior;
  *end   = interior ? k->space->ninterior : k->space->ncells;
}

static PetscErrorCode Apply(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, const void *from, void *to)
{
  const Hung      *k  = (Hung *)h;
  const PetscReal *x  = (const PetscReal *)from;
  PetscReal       *xg = (PetscReal *)to;
  const PetscInt   nT = k->space->nT, behind = k->space->nL - nT;
  PetscInt         first, end;

  PetscFunctionBegin;
  PetscCheck(type == PETSC_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Operators of floats know hanging nodes here");
  Cells(k, interior, &first, &end);
  for (PetscInt cell = first; cell < end; ++cell)
    for (PetscInt c = 0; c < nc && k->start[cell] < k->start[cell + 1]; ++c) {
      for (int e = k->start[cell]; e < k->start[cell + 1]; e++) {
        const PetscInt l = k->list[e];

        k->u[k->place[e]] = l < nT ? x[l * nc + c] : xg[(l - nT) * nc + c];
      }
      HopsHangingApply(&k->J, k->space->hang[cell], PETSC_FALSE, k->u);
      for (int e = k->start[cell]; e < k->start[cell + 1]; e++) xg[(behind + e) * nc + c] = k->u[k->place[e]];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* J^T of what a component of a cell has of its own */
static void Transpose(const Hung *k, PetscInt cell, PetscInt nc, PetscInt c, const PetscReal yg[])
{
  const PetscInt behind = k->space->nL - k->space->nT;

  for (int e = k->start[cell]; e < k->start[cell + 1]; e++) k->u[k->place[e]] = yg[(behind + e) * nc + c];
  HopsHangingApply(&k->J, k->space->hang[cell], PETSC_TRUE, k->u);
}

static void Add(const Hung *k, int e, PetscInt nc, PetscInt c, PetscReal y[], PetscReal yg[])
{
  const PetscInt l = k->list[e], nT = k->space->nT;

  *(l < nT ? y + l * nc + c : yg + (l - nT) * nc + c) += k->u[k->place[e]];
}

static PetscErrorCode ApplyTranspose(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, void *from, void *to)
{
  const Hung *k  = (Hung *)h;
  PetscReal  *yg = (PetscReal *)from, *y = (PetscReal *)to;
  PetscInt    first, end;

  PetscFunctionBegin;
  PetscCheck(type == PETSC_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Operators of floats know hanging nodes here");
  Cells(k, interior, &first, &end);
  for (PetscInt cell = first; cell < end; ++cell)
    for (PetscInt c = 0; c < nc && k->start[cell] < k->start[cell + 1]; ++c) {
      Transpose(k, cell, nc, c, yg);
      for (int e = k->start[cell]; e < k->start[cell + 1]; e++) Add(k, e, nc, c, y, yg);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyUnit(HopsHung h, PetscInt nc, PetscInt c, PetscInt i, PetscReal xg[])
{
  const Hung    *k      = (Hung *)h;
  const PetscInt behind = k->space->nL - k->space->nT;

  PetscFunctionBegin;
  for (PetscInt cell = 0; cell < k->space->ncells; ++cell) {
    for (int e = k->start[cell]; e < k->start[cell + 1]; e++) k->u[k->place[e]] = e - k->start[cell] == i ? 1.0 : 0.0;
    HopsHangingApply(&k->J, k->space->hang[cell], PETSC_FALSE, k->u);
    for (int e = k->start[cell]; e < k->start[cell + 1]; e++) xg[(behind + e) * nc + c] = k->u[k->place[e]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddUnit(HopsHung h, PetscInt nc, PetscInt c, PetscInt i, const PetscReal yg[], PetscReal d[], PetscReal dg[])
{
  const Hung *k = (Hung *)h;

  PetscFunctionBegin;
  for (PetscInt cell = 0; cell < k->space->ncells; ++cell) {
    if (k->start[cell] + i >= k->start[cell + 1]) continue;
    Transpose(k, cell, nc, c, yg);
    Add(k, k->start[cell] + (int)i, nc, c, d, dg);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(HopsHung *h)
{
  Hung *k = (Hung *)*h;

  PetscFunctionBegin;
  *h = NULL;
  PetscCall(HopsHangingDestroy(&k->J));
  PetscCall(PetscFree(k->head.restr));
  PetscCall(PetscFree4(k->start, k->place, k->list, k->u));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsHungOps HopsHungHost = {.Apply          = Apply,
                                         .ApplyTranspose = ApplyTranspose,
                                         .ApplyUnit      = ApplyUnit,
                                         .AddUnit        = AddUnit,
                                         .Destroy        = Destroy};

PetscErrorCode HopsHungCreate_Host(HopsSpace sp, HopsHung *hung)
{
  const PetscInt ne = sp->ne;
  PetscInt64     n  = 0;
  PetscBool     *on;
  Hung          *k;

  PetscFunctionBegin;
  PetscCheck(sp->family == HOPS_H1, PetscObjectComm((PetscObject)sp), PETSC_ERR_PLIB, "Full tensors are for H1");
  PetscCall(PetscNew(&k));
  k->head.ops = &HopsHungHost;
  k->space    = sp;
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &k->J));
  PetscCall(PetscMalloc1(ne, &on));
  for (PetscInt c = 0; c < sp->ncells; ++c) n += HopsHangingNodes(&k->J, sp->hang[c], on);
  PetscCheck(n + sp->nL < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of a rank have more than 2^31 unknowns where nodes hang: use more ranks");
  k->head.n = (PetscInt)n;
  PetscCall(PetscMalloc4(sp->ncells + 1, &k->start, n, &k->place, n, &k->list, ne, &k->u));
  PetscCall(PetscMalloc1((size_t)sp->ncells * ne, &k->head.restr));
  PetscCall(PetscArraycpy(k->head.restr, sp->restr, (size_t)sp->ncells * ne));
  n = 0;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    k->start[c] = (int)n;
    (void)HopsHangingNodes(&k->J, sp->hang[c], on);
    for (PetscInt i = 0; i < ne; ++i) {
      int *r = k->head.restr + (size_t)c * ne + i;

      if (!on[i]) continue;
      k->place[n] = (int)i;
      k->list[n]  = *r;
      *r          = (int)(sp->nL + n++);
    }
    k->head.most = PetscMax(k->head.most, (PetscInt)n - k->start[c]);
  }
  k->start[sp->ncells] = (int)n;
  PetscCall(PetscFree(on));
  *hung = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
