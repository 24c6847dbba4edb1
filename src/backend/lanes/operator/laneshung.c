/* Hanging nodes for kernels that do not know them: which entries of which cells; the lines of each mask. */
#include <hops/private/hopshanging.h>
#include "laneshung.h"

#define HOPS_HUNG_LINES   64  /* of a team, in a direction */
#define HOPS_HUNG_ENTRIES 512 /* of a team, about */

typedef struct {
  struct _HopsHung       head;
  const HopsHungKernels *kernels;
  HopsHungArgs           args;
  int                    ncells, ninterior; /* with such entries */
  void                  *mem[10];           /* the back end's */
  int                    nmem;
  HopsHanging            J;
} Hung;

/* Tables of the masks in use, by their numbers, in the process's memory */
typedef struct {
  int                 n, nlines, number[HOPS_HANGING_MASKS], *mstart, *entry, *line, most, lines;
  unsigned long long *at;
  unsigned char      *open;
} Masks;

static PetscErrorCode Bring(Hung *k, size_t n, const void *h, void *d)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  void               **p      = &k->mem[k->nmem++];

  PetscFunctionBegin;
  PetscCall((*memory->Malloc)(n, p));
  if (h) PetscCall((*memory->Copy)(NULL, *p, h, n, HOPS_COPY_IN));
  *(void **)d = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines of one mask; index[ne] is scratch */
static PetscErrorCode AddMask(const HopsHanging *h, unsigned mask, int m, Masks *t, PetscBool on[], int index[])
{
  int n = t->mstart[m], start[2 * HOPS_HANGING_MOST], step;

  PetscFunctionBegin;
  (void)HopsHangingNodes(h, mask, on);
  for (int i = 0; i < h->ne; i++)
    if (on[i]) {
      index[i]      = n - t->mstart[m];
      t->entry[n++] = i;
    }
  t->mstart[m + 1] = n;
  t->most          = PetscMax(t->most, n - t->mstart[m]);
  for (int a = 0; a < 3; a++) {
    const int first = t->nlines;

    t->line[3 * m + a] = first;
    for (int c = 0; a < h->dim && c < h->nc; c++) {
      const HopsHangingBox *x  = h->box + c;
      const int             nl = HopsHangingLines(h->dim, x, mask, a, start);

      for (int l = 0; l < nl; l++, t->nlines++) {
        const int at = h->off[c] + HopsHangingLine(x, mask, a, start[l], &step);

        t->open[t->nlines] = x->open >> a & 1;
        for (int i = 0; i < x->n[a]; i++)
          t->at[t->nlines * HOPS_HUNG_WORDS(h->P) + i / 4] |= (unsigned long long)index[at + i * step] << (16 * (i % 4));
      }
    }
    t->lines = PetscMax(t->lines, t->nlines - first);
  }
  t->line[3 * m + 3] = t->nlines;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMasks(HopsSpace sp, const HopsHanging *h, Masks *t)
{
  const int  lines = 6 * h->P * h->nc; /* of a mask, at most */
  PetscBool *on;
  int       *index;

  PetscFunctionBegin;
  *t = (Masks){.n = 0};
  for (int m = 0; m < HOPS_HANGING_MASKS; m++) t->number[m] = -1;
  for (PetscInt c = 0; c < sp->ncells; ++c)
    if (sp->hang[c] && t->number[sp->hang[c]] < 0) t->number[sp->hang[c]] = t->n++;
  PetscCall(PetscMalloc2(h->ne, &on, h->ne, &index));
  PetscCall(PetscMalloc2(t->n + 1, &t->mstart, 3 * t->n + 1, &t->line));
  PetscCall(PetscMalloc1(t->n * h->ne, &t->entry));
  PetscCall(PetscCalloc1(t->n * lines * HOPS_HUNG_WORDS(h->P), &t->at));
  PetscCall(PetscMalloc1(t->n * lines, &t->open));
  t->mstart[0] = t->line[0] = 0;
  for (int m = 0; m < t->n; m++)
    for (unsigned mask = 0; mask < HOPS_HANGING_MASKS; mask++)
      if (t->number[mask] == m) PetscCall(AddMask(h, mask, m, t, on, index));
  PetscCall(PetscFree2(on, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyMasks(Masks *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(t->mstart, t->line));
  PetscCall(PetscFree(t->entry));
  PetscCall(PetscFree(t->at));
  PetscCall(PetscFree(t->open));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells whose masks have entries. Where no other rank is none need be worked on before the others */
static PetscErrorCode ListCells(Hung *k, HopsSpace sp, const Masks *t, int *cell[], int *mask[], int *start[])
{
  PetscInt64  all = 0;
  int         n   = 0;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  PetscCall(PetscMalloc3(sp->ncells, cell, sp->ncells, mask, sp->ncells + 1, start));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const int m = sp->hang[c] ? t->number[sp->hang[c]] : -1;

    if (m < 0 || t->mstart[m + 1] == t->mstart[m]) continue;
    (*cell)[n]    = (int)c;
    (*mask)[n]    = m;
    (*start)[n++] = (int)all;
    all += t->mstart[m + 1] - t->mstart[m];
    if (size > 1 && c < sp->ninterior) k->ninterior = n;
    PetscCheck(all + sp->nL < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of a rank have more than 2^31 unknowns where nodes hang: use more ranks");
  }
  (*start)[n] = (int)all;
  k->ncells   = n;
  k->head.n   = (PetscInt)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What there is ---- */

/* Cells of a class */
static PetscBool Cells(Hung *k, PetscBool interior, PetscInt nc, PetscInt c, PetscInt unit)
{
  k->args.first = interior ? 0 : k->ninterior;
  k->args.n     = interior ? k->ninterior : k->ncells - k->ninterior;
  k->args.nc    = (int)nc;
  k->args.c     = (int)c;
  k->args.unit  = (int)unit;
  return k->args.n ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode Apply(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, const void *x, void *xg)
{
  Hung *k = (Hung *)h;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < nc; ++c)
    if (Cells(k, interior, nc, c, -1)) PetscCall((*k->kernels->Apply)(&k->args, type, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyTranspose(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, void *yg, void *y)
{
  Hung *k = (Hung *)h;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < nc; ++c)
    if (Cells(k, interior, nc, c, -1)) PetscCall((*k->kernels->ApplyTranspose)(&k->args, type, yg, y, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyUnit(HopsHung h, PetscInt nc, PetscInt c, PetscInt i, PetscReal xg[])
{
  Hung *k = (Hung *)h;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (Cells(k, b ? PETSC_TRUE : PETSC_FALSE, nc, c, i)) PetscCall((*k->kernels->Apply)(&k->args, PETSC_DOUBLE, NULL, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddUnit(HopsHung h, PetscInt nc, PetscInt c, PetscInt i, const PetscReal yg[], PetscReal d[], PetscReal dg[])
{
  Hung *k = (Hung *)h;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (Cells(k, b ? PETSC_TRUE : PETSC_FALSE, nc, c, i))
      PetscCall((*k->kernels->ApplyTranspose)(&k->args, PETSC_DOUBLE, yg, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(HopsHung *h)
{
  Hung *k = (Hung *)*h;

  PetscFunctionBegin;
  *h = NULL;
  for (int i = 0; i < k->nmem; i++) PetscCall((*k->kernels->backend->memory->Free)(&k->mem[i]));
  PetscCall(HopsHangingDestroy(&k->J));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsHungOps HopsHungLanes = {.Apply          = Apply,
                                          .ApplyTranspose = ApplyTranspose,
                                          .ApplyUnit      = ApplyUnit,
                                          .AddUnit        = AddUnit,
                                          .Destroy        = Destroy};

/* For the time of set-up */
static PetscErrorCode BringFor(Hung *k, size_t n, const int h[], int **d)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;

  PetscFunctionBegin;
  PetscCall((*memory->Malloc)(n * sizeof(int), (void **)d));
  PetscCall((*memory->Copy)(NULL, *d, h, n * sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restrictions with the numbers of entries on lines, and what stood there */
static PetscErrorCode NumberEntries(Hung *k, HopsSpace sp, const Masks *t, const int mask[])
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  const size_t         nr     = (size_t)sp->ncells * sp->ne * sizeof(int);
  HopsHungArgs        *a      = &k->args;
  int                 *list, *dev[3];
  const int           *restr;
  const PetscReal     *X;

  PetscFunctionBegin;
  PetscCall(Bring(k, k->head.n * sizeof(int), NULL, &list));
  PetscCall(Bring(k, nr, NULL, &k->head.restr));
  a->list = list;
  PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &X));
  PetscCall((*memory->Copy)(NULL, k->head.restr, restr, nr, HOPS_COPY_WITHIN));
  PetscCall(BringFor(k, k->ncells, mask, &dev[0]));
  PetscCall(BringFor(k, t->n + 1, t->mstart, &dev[1]));
  PetscCall(BringFor(k, t->mstart[t->n], t->entry, &dev[2]));
  a->first = 0;
  a->n     = k->ncells;
  if (a->n) PetscCall((*k->kernels->Number)(a, dev[0], dev[1], dev[2], list, k->head.restr));
  for (int i = 0; i < 3; i++) PetscCall((*memory->Free)((void **)&dev[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tables and lists in the back end's memory */
static PetscErrorCode BringTables(Hung *k, HopsSpace sp, const HopsHanging *h, const Masks *t)
{
  HopsHungArgs *a = &k->args;
  int          *cell, *mask, *start, *line;

  PetscFunctionBegin;
  PetscCall(ListCells(k, sp, t, &cell, &mask, &start));
  PetscCall(PetscMalloc1(4 * (size_t)k->ncells, &line));
  for (int c = 0; c < k->ncells; c++)
    for (int i = 0; i < 4; i++) line[4 * (size_t)c + i] = t->line[3 * mask[c] + i];
  PetscCall(Bring(k, k->ncells * sizeof(int), cell, &a->cell));
  PetscCall(Bring(k, (k->ncells + 1) * sizeof(int), start, &a->start));
  PetscCall(Bring(k, 4 * (size_t)k->ncells * sizeof(int), line, &a->line));
  PetscCall(Bring(k, (size_t)t->nlines * HOPS_HUNG_WORDS(h->P) * sizeof(*t->at), t->at, &a->at));
  PetscCall(Bring(k, t->nlines, t->open, &a->open));
  PetscCall(Bring(k, (size_t)h->P * h->P * sizeof(double), h->J[0], &a->J[0]));
  PetscCall(Bring(k, (size_t)(h->P - 1) * (h->P - 1) * sizeof(double), h->J[1], &a->J[1]));
  for (int i = 0; i < 2; i++) a->hostJ[i] = h->J[i];
  PetscCall(NumberEntries(k, sp, t, mask));
  PetscCall(PetscFree3(cell, mask, start));
  PetscCall(PetscFree(line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesHungCreate(const HopsHungKernels *kernels, HopsSpace sp, HopsHung *hung)
{
  Hung *k;
  Masks t;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  *hung       = &k->head;
  k->head.ops = &HopsHungLanes;
  k->kernels  = kernels;
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &k->J));
  PetscCall(CreateMasks(sp, &k->J, &t));
  k->args       = (HopsHungArgs){.dim   = (int)sp->dim,
                                 .P     = k->J.P,
                                 .nT    = (int)sp->nT,
                                 .nL    = (int)sp->nL,
                                 .ne    = (int)sp->ne,
                                 .most  = PetscMax(t.most, 1),
                                 .lines = PetscMax(t.lines, 1)};
  k->args.group = PetscMax(1, PetscMin(HOPS_HUNG_LINES / k->args.lines, HOPS_HUNG_ENTRIES / k->args.most));
  k->head.most  = t.most;
  PetscCall(BringTables(k, sp, &k->J, &t));
  PetscCall(PetscInfo(sp, "%d cells have %" PetscInt_FMT " entries of their own where nodes hang, by %d masks\n", k->ncells,
                      k->head.n, t.n));
  PetscCall(DestroyMasks(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
