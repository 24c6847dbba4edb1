/* Patches that are solved by the inverse of the operator's matrix: element matrices, where the cells live,
   and what is made of them. */
#include <hops/private/hopspatchimpl.h>

/* -------------------------------------- element matrices -------------------------------------- */

/* Marks own cells with Robin terms */
static PetscErrorCode MarkFaces(const HopsPatchCells *pc, PetscBool *marked[])
{
  const HopsIntegral *in;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(pc->nown, marked));
  for (PetscInt i = 0; (in = HopsFormNext(pc->form, HOPS_BOUNDARY, &i));)
    for (PetscInt f = 0; f < in->facets->n; ++f) (*marked)[in->facets->cells[f]] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a cell's matrix a sum of tensor products, but for what is on its faces? Where its model is exact */
static PetscBool IsProduct(const HopsPatchCells *pc, PetscInt c)
{
  const HopsPatchCell *d = pc->data + c;

  return (!HopsFormDerivative(pc->form) || (d->lo > 1.0 - 1e-12 && d->hi < 1.0 + 1e-12)) &&
         (!(d->m > 0.0) || (d->mlo > 1.0 - 1e-12 && d->mhi < 1.0 + 1e-12));
}

/* E += s A1 x M1 x M1, with A1 in direction t (-1: nowhere) */
static void AddProduct(HopsPatches pt, PetscInt t, PetscReal s, PetscReal E[])
{
  const PetscInt   dim = pt->space->dim, P = pt->space->order + 1, nn = HopsPower(P, dim), P2 = dim == 3 ? P * P : P;
  const PetscReal *F[3] = {t == 0 ? pt->A1 : pt->M1, t == 1 ? pt->A1 : pt->M1, t == 2 ? pt->A1 : pt->M1};

  for (PetscInt i = 0; i < nn; ++i)
    for (PetscInt k = 0; k < nn / P2; ++k)
      for (PetscInt j = 0; j < (dim == 3 ? P : 1); ++j) {
        const PetscInt  row = i * nn + k * P2 + (dim == 3 ? j * P : 0), a = i / P % P, b = i / (P * P);
        const PetscReal f = dim == 3 ? s * F[2][b * P + k] * F[1][a * P + j] : s * F[1][a * P + k];

        for (PetscInt l = 0; l < P; ++l) E[row + l] += f * F[0][i % P * P + l];
      }
}

/* The same of one cell on the host */
static PetscErrorCode HostMatrix(HopsPatches pt, const HopsPatchCells *pc, PetscInt c, PetscBool faces, PetscReal E[])
{
  const HopsPatchCell *d = pc->data + c;

  PetscFunctionBegin;
  if (faces || !IsProduct(pc, c)) PetscCall(HopsFormElementMatrices(pc->form, pc->basis, 1, &c, E));
  else {
    PetscCall(PetscArrayzero(E, pc->nn * pc->nn));
    for (PetscInt t = 0; t < pc->space->dim && HopsFormDerivative(pc->form); ++t) AddProduct(pt, t, d->d[t], E);
    if (d->m > 0.0) AddProduct(pt, -1, d->m, E);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those with hanging nodes become what the cells list */
static PetscErrorCode HangMatrices(const HopsPatchCells *pc, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  PetscInt        m = 0, *at;
  unsigned short *mask;

  PetscFunctionBegin;
  if (!pc->space->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &at, n, &mask));
  for (PetscInt k = 0; k < n; ++k) {
    if (!pc->hang[cells[k]]) continue;
    at[m]     = k;
    mask[m++] = pc->hang[cells[k]];
  }
  PetscCall((*HopsPatchSetUpOf(pc->space)->Hang)(&pc->hanging, m, at, mask, E));
  PetscCall(PetscFree2(at, mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E[n][nn][nn] of what own cells list, in the back end's memory. The process adds what is on faces */
static PetscErrorCode OwnMatrices(HopsPatches pt, HopsPatchCells *pc, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  const HopsBackendOps *be = pc->space->backend;
  const size_t          n2 = PetscSqr((size_t)pc->nn);
  PetscBool            *marked;
  PetscReal            *M;

  PetscFunctionBegin;
  PetscCall(MarkFaces(pc, &marked));
  if (!be->patches)
    for (PetscInt k = 0; k < n; ++k) PetscCall(HostMatrix(pt, pc, cells[k], marked[cells[k]], E + k * n2));
  else {
    if (!pc->op) PetscCall(HopsPatchCellsOperator(pc, pc->basis, &pc->op));
    PetscCall((*be->patches->Elements)(pc->op, pc->basis, n, cells, E));
    PetscCall(PetscMalloc1(n2, &M));
    for (PetscInt k = 0; k < n; ++k) {
      if (!marked[cells[k]]) continue;
      PetscCall(HopsFormElementMatrices(pc->form, pc->basis, 1, cells + k, M));
      PetscCall((*be->memory->Copy)(NULL, E + k * n2, M, n2 * sizeof(PetscReal), HOPS_COPY_IN));
    }
    PetscCall(PetscFree(M));
  }
  PetscCall(HangMatrices(pc, n, cells, E));
  PetscCall(PetscFree(marked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of cells of any rank (numbers of HopsPatchCells), computed where they live; collective */
static PetscErrorCode ElementMatrices(HopsPatches pt, HopsPatchCells *pc, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  HopsSpace             sp   = pc->space;
  MPI_Comm              comm = PetscObjectComm((PetscObject)sp);
  const HopsBackendOps *be   = sp->backend;
  const size_t          n2   = PetscSqr((size_t)pc->nn);
  PetscInt             *to, *is, nreq, *req, *from, *tag, nget, *back;
  PetscReal            *M, *B, *R = NULL;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) {
    PetscCall(OwnMatrices(pt, pc, n, cells, E));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(n, &to, 2 * n, &is));
  for (PetscInt k = 0; k < n; ++k) {
    to[k]         = pc->home[2 * cells[k]];
    is[2 * k]     = pc->home[2 * cells[k] + 1];
    is[2 * k + 1] = k;
  }
  PetscCall(HopsPatchExchange(comm, n, to, 2, is, 0, NULL, &nreq, &from, &req, NULL));
  PetscCall(PetscFree2(to, is));
  PetscCall(PetscMalloc2(nreq * n2, &M, nreq, &tag));
  for (PetscInt k = 0; k < nreq; ++k) tag[k] = req[2 * k];
  PetscCall((*be->memory->Malloc)(nreq * n2 * sizeof(PetscReal), (void **)&B));
  PetscCall(OwnMatrices(pt, pc, nreq, tag, B));
  PetscCall((*be->memory->Copy)(NULL, M, B, nreq * n2 * sizeof(PetscReal), HOPS_COPY_OUT));
  PetscCall((*be->memory->Free)((void **)&B));
  for (PetscInt k = 0; k < nreq; ++k) tag[k] = req[2 * k + 1];
  PetscCall(HopsPatchExchange(comm, nreq, from, 1, tag, n2, M, &nget, NULL, &back, &R));
  PetscCheck(nget == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " element matrices asked for, %" PetscInt_FMT " received",
             n, nget);
  for (PetscInt k = 0; k < nget; ++k)
    PetscCall((*be->memory->Copy)(NULL, E + back[k] * n2, R + k * n2, n2 * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall(PetscFree2(M, tag));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(req));
  PetscCall(PetscFree(back));
  PetscCall(PetscFree(R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ inverses ------------------------------------------ */

/* Memory for the inverses of the patches dense[nd]; collective */
static PetscErrorCode Reserve(HopsPatches pt, PetscInt nd, const PetscInt dense[])
{
  char       why[HOPS_WHY_LENGTH] = "";
  PetscInt64 total                = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nd; ++k) {
    pt->dense[dense[k]] = (PetscInt)total;
    total += PetscSqr((PetscInt64)(pt->start[dense[k] + 1] - pt->start[dense[k]]));
  }
  if (total >= PETSC_INT_MAX) PetscCall(HopsPatchInversesRefuse(why));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pt->space), PETSC_ERR_SUP, why));
  if (total) PetscCall((*pt->space->backend->memory->Malloc)((size_t)total * sizeof(PetscReal), (void **)&pt->inv));
  pt->ninv = (PetscInt)total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What m says of the patches which[n], which ascend, in place of all */
typedef struct {
  PetscInt *start, *size, *cstart, *cells, *which;
  size_t   *offset;
  int      *cell;
} Arrays;

static void Keep(HopsPatches pt, const PetscInt dense[], PetscInt n, Arrays *a)
{
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt w = a->which[k], from = a->cstart[w], nc = a->cstart[w + 1] - from;

    a->start[k]  = a->start[w];
    a->size[k]   = a->size[w];
    a->offset[k] = pt->dense[dense[w]];
    for (PetscInt c = 0; c < nc; ++c) a->cell[a->cstart[k] + c] = a->cell[from + c];
    a->cstart[k + 1] = a->cstart[k] + nc; /* k <= w: read before, or the same */
  }
}

/* Which cells the patches dense[nd] have; where[] has -1 for all cells, before and after */
static void TouchedCells(HopsPatches pt, PetscInt nd, const PetscInt dense[], int where[], PetscInt *ncells, Arrays *a)
{
  PetscInt nc = 0, n = 0;

  for (PetscInt k = 0; k < nd; ++k) {
    const PetscInt *touch = pt->touch + pt->touchstart[dense[k]];

    a->which[k]  = k;
    a->start[k]  = pt->start[dense[k]];
    a->size[k]   = pt->start[dense[k] + 1] - a->start[k];
    a->cstart[k] = nc;
    for (PetscInt c = 0; c < pt->touchstart[dense[k] + 1] - pt->touchstart[dense[k]]; ++c) {
      const PetscInt i = touch[c];

      if (where[i] < 0) {
        where[i]      = (int)n;
        a->cells[n++] = i;
      }
      a->cell[nc++] = where[i];
    }
  }
  a->cstart[nd] = nc;
  for (PetscInt c = 0; c < n; ++c) where[a->cells[c]] = -1;
  *ncells = n;
}

/* Inverts the patches dense[nd]; have: where those with equal matrices share an inverse. What is wrong with a
   rank's matrices is the error of all when all have theirs: others ask for element matrices meanwhile */
static PetscErrorCode InvertSome(HopsPatches pt, HopsPatchCells *pc, PetscInt nd, const PetscInt dense[], int where[],
                                 HopsPatchInverses have, char large[], char why[])
{
  const HopsBackendOps *be = pt->space->backend;
  HopsPatchMatrices     m  = {.n = nd, .nn = pc->nn, .nodes = pc->bnodes, .list = pt->idx};
  PetscInt              nc = 0, nfresh, bad;
  Arrays                a;
  PetscReal            *E;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nd; ++k) nc += pt->touchstart[dense[k] + 1] - pt->touchstart[dense[k]];
  PetscCall(PetscMalloc7(nd, &a.start, nd, &a.size, nd + 1, &a.cstart, nd, &a.offset, nd, &a.which, nc, &a.cell, nc, &a.cells));
  TouchedCells(pt, nd, dense, where, &m.ncells, &a);
  m.start  = a.start;
  m.size   = a.size;
  m.cstart = a.cstart;
  m.cells  = a.cells;
  m.cell   = a.cell;
  m.offset = a.offset;
  PetscCall((*be->memory->Malloc)(m.ncells * PetscSqr((size_t)pc->nn) * sizeof(PetscReal), (void **)&E));
  PetscCall(ElementMatrices(pt, pc, m.ncells, a.cells, E));
  m.E = E;
  if (have) {
    for (PetscInt k = 0; k < nd; ++k)
      PetscCall(HopsPatchCellsArrange(pc, a.cells, a.cstart[k + 1] - a.cstart[k], a.cell + a.cstart[k]));
    PetscCall(HopsPatchInversesFind(pt, pc, &m, dense, have, &nfresh, a.which, large));
    m.n = nfresh;
  }
  if (large[0]) m.n = 0;
  Keep(pt, dense, m.n, &a);
  PetscCall((*HopsPatchSetUpOf(pt->space)->Invert)(&m, pt->inv, &bad));
  if (bad >= 0) {
    const PetscInt j = dense[a.which[bad]];

    PetscCall(HopsRefuse(why,
                         "The operator's matrix on the patch of %s %" PetscInt_FMT
                         " is not positive definite: the form is not, so use another preconditioner (-pc_type " PCLOR
                         "), or the mesh is periodic with one cell in a direction: refine it",
                         pt->element[j] ? "cell" : "unknown", pt->element[j] ? pc->space->cell[pt->center[j]] : pt->center[j]));
  }
  PetscCall((*be->memory->Free)((void **)&E));
  PetscCall(PetscFree7(a.start, a.size, a.cstart, a.offset, a.which, a.cell, a.cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many element matrices at a time. A cell of two rounds is computed twice */
PetscErrorCode HopsPatchesInvert(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt)
{
  const size_t      half = PetscMax((size_t)4 * pc->nv, ((size_t)1 << 26) / PetscSqr((size_t)pc->nn)); /* a gigabyte */
  const size_t      most = opt->densecells ? (size_t)opt->densecells : half;
  const MPI_Comm    comm = PetscObjectComm((PetscObject)pc->space);
  char              large[HOPS_WHY_LENGTH] = "", why[HOPS_WHY_LENGTH] = "";
  PetscInt         *dense, *round, rounds = 0, all, nd = 0;
  int              *where;
  HopsPatchInverses have = NULL;
  /* devices invert faster than the process compares; but where nodes hang many matrices are equal */
  const PetscBool share = !pt->space->backend->patches || pt->space->hanging ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.invert, 0, 0, 0, 0));
  for (PetscInt k = 0; k < pt->n; ++k) nd += pt->solver[k] == HOPS_PATCH_DENSE;
  PetscCall(PetscMalloc3(nd, &dense, nd + 1, &round, pc->n, &where));
  nd = 0;
  for (PetscInt k = 0; k < pt->n; ++k)
    if (pt->solver[k] == HOPS_PATCH_DENSE) dense[nd++] = k;
  for (PetscInt c = 0; c < pc->n; ++c) where[c] = -1;
  for (PetscInt k = 0; k < nd; ++rounds) { /* where[]: the last round that has the cell */
    size_t nc = 0;

    round[rounds] = k;
    for (; k < nd; ++k) {
      const PetscInt *cells = pt->touch + pt->touchstart[dense[k]], n = pt->touchstart[dense[k] + 1] - pt->touchstart[dense[k]];

      if (nc + n > most && k > round[rounds]) break;
      for (PetscInt c = 0; c < n; ++c) {
        nc += where[cells[c]] != rounds;
        where[cells[c]] = (int)rounds;
      }
    }
  }
  for (PetscInt c = 0; c < pc->n; ++c) where[c] = -1;
  PetscCall(MPIU_Allreduce(&rounds, &all, 1, MPIU_INT, MPI_MAX, comm));
  /* where nodes hang few are distinct: room grows with them */
  if (!pt->space->hanging) PetscCall(Reserve(pt, nd, dense));
  if (share) PetscCall(HopsPatchInversesCreate(pt, &have));
  for (PetscInt r = 0; r < all; ++r) {
    const PetscInt first = r < rounds ? round[r] : nd, last = r + 1 < rounds ? round[r + 1] : nd;

    PetscCall(InvertSome(pt, pc, last - first, dense + first, where, have, large, why));
  }
  PetscCall(HopsPatchInversesDestroy(pt, &have));
  PetscCall(PetscFree3(dense, round, where));
  PetscCall(HopsRaise(comm, PETSC_ERR_SUP, large));
  PetscCall(HopsRaise(comm, PETSC_ERR_MAT_LU_ZRPVT, why));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.invert, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
