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
  if (pc->space->hanging) HopsHangingElement(&pc->hanging, pc->hang[c], E);
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
  if (!be->patches) {
    for (PetscInt k = 0; k < n; ++k) PetscCall(HostMatrix(pt, pc, cells[k], marked[cells[k]], E + k * n2));
    PetscCall(PetscFree(marked));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->op) PetscCall(HopsPatchCellsOperator(pc, pc->basis, &pc->op));
  PetscCall((*be->patches->Elements)(pc->op, pc->basis, n, cells, E));
  PetscCall(PetscMalloc1(n2, &M));
  for (PetscInt k = 0; k < n; ++k) {
    if (!marked[cells[k]]) continue;
    PetscCall(HopsFormElementMatrices(pc->form, pc->basis, 1, cells + k, M));
    PetscCall((*be->memory->Copy)(NULL, E + k * n2, M, n2 * sizeof(PetscReal), HOPS_COPY_IN));
  }
  PetscCall(PetscFree(M));
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

/* Memory for the inverses of the patches dense[nd] */
static PetscErrorCode Reserve(HopsPatches pt, PetscInt nd, const PetscInt dense[])
{
  PetscInt64 total = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nd; ++k) {
    pt->dense[dense[k]] = (PetscInt)total;
    total += PetscSqr((PetscInt64)(pt->start[dense[k] + 1] - pt->start[dense[k]]));
    PetscCheck(total < PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The inverses of %" PetscInt_FMT " patches take more than %" PetscInt_FMT
               " entries: lower -pc_patchfd_dense_max, or "
               "use more ranks",
               nd, PETSC_INT_MAX);
  }
  if (total) PetscCall((*pt->space->backend->memory->Malloc)((size_t)total * sizeof(PetscReal), (void **)&pt->inv));
  pt->ninv = (PetscInt)total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverts the patches dense[nd]; where[] has -1 for all cells, before and after; `have`: on the host */
static PetscErrorCode InvertSome(HopsPatches pt, HopsPatchCells *pc, PetscInt nd, const PetscInt dense[], int where[],
                                 HopsPatchInverses have)
{
  const HopsBackendOps *be = pt->space->backend;
  HopsPatchMatrices     m  = {.n = nd, .nn = pc->nn, .nodes = pc->bnodes, .list = pt->idx};
  PetscInt             *start, *size, *cstart, *used, nc = 0, bad;
  size_t               *offset;
  int                  *cell;
  PetscReal            *E;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nd, &start, nd, &size, nd + 1, &cstart, nd, &offset));
  for (PetscInt k = 0; k < nd; ++k) {
    start[k]  = pt->start[dense[k]];
    size[k]   = pt->start[dense[k] + 1] - start[k];
    offset[k] = pt->dense[dense[k]];
    cstart[k] = nc;
    nc += pt->touchstart[dense[k] + 1] - pt->touchstart[dense[k]];
  }
  cstart[nd] = nc;
  PetscCall(PetscMalloc2(nc, &cell, nc, &used));
  for (PetscInt k = 0; k < nd; ++k)
    for (PetscInt c = cstart[k]; c < cstart[k + 1]; ++c) {
      const PetscInt i = pt->touch[pt->touchstart[dense[k]] + c - cstart[k]];

      if (where[i] < 0) {
        where[i]         = (int)m.ncells;
        used[m.ncells++] = i;
      }
      cell[c] = where[i];
    }
  if (have)
    for (PetscInt k = 0; k < nd; ++k) PetscCall(HopsPatchCellsArrange(pc, used, cstart[k + 1] - cstart[k], cell + cstart[k]));
  for (PetscInt c = 0; c < m.ncells; ++c) where[used[c]] = -1;
  PetscCall((*be->memory->Malloc)(m.ncells * PetscSqr((size_t)pc->nn) * sizeof(PetscReal), (void **)&E));
  PetscCall(ElementMatrices(pt, pc, m.ncells, used, E));
  m.start  = start;
  m.size   = size;
  m.cstart = cstart;
  m.cells  = used;
  m.cell   = cell;
  m.offset = offset;
  m.E      = E;
  if (have) PetscCall(HopsPatchesInvertHost(pt, &m, dense, have, &bad));
  else PetscCall((*be->patches->Invert)(&m, pt->inv, &bad));
  if (bad >= 0) {
    const PetscInt j = dense[bad];

    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
            "The operator's matrix on the patch of %s %" PetscInt_FMT
            " is not positive definite: the form is not, so use another preconditioner (-pc_type " PCLOR
            "), or the mesh is periodic with one cell in a direction: refine it",
            pt->element[j] ? "cell" : "unknown", pt->element[j] ? pc->space->cell[pt->center[j]] : pt->center[j]);
  }
  PetscCall((*be->memory->Free)((void **)&E));
  PetscCall(PetscFree2(cell, used));
  PetscCall(PetscFree4(start, size, cstart, offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half a gigabyte of element matrices at a time. A cell of two rounds is computed twice */
PetscErrorCode HopsPatchesInvert(HopsPatches pt, HopsPatchCells *pc)
{
  const size_t      most = PetscMax((size_t)4 * pc->nv, ((size_t)1 << 26) / PetscSqr((size_t)pc->nn)); /* cells of a round */
  PetscInt         *dense, *round, rounds = 0, all, nd = 0;
  int              *where;
  HopsPatchInverses have = NULL;

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
  PetscCall(MPIU_Allreduce(&rounds, &all, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc->space)));
  /* where nodes hang few are distinct: room grows with them */
  if (pt->space->backend->patches || !pt->space->hanging) PetscCall(Reserve(pt, nd, dense));
  if (!pt->space->backend->patches) PetscCall(HopsPatchInversesCreate(pt, &have));
  for (PetscInt r = 0; r < all; ++r) {
    const PetscInt first = r < rounds ? round[r] : nd, last = r + 1 < rounds ? round[r + 1] : nd;

    PetscCall(InvertSome(pt, pc, last - first, dense + first, where, have));
  }
  PetscCall(HopsPatchInversesDestroy(pt, &have));
  PetscCall(PetscFree3(dense, round, where));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.invert, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
