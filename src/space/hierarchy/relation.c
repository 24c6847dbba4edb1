/* How cells of one mesh came about from those of another one: kept, halved, or made of halves. */
#include <hops/private/hopsnestedimpl.h>

PetscErrorCode HopsSpaceCreateCellSF(HopsSpace sp, PetscInt n, const PetscInt cells[], PetscInt *first, PetscSF *sf)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->ncaller, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, n, NULL, PETSC_OWN_POINTER, cells));
  if (first) PetscCall(PetscLayoutGetRange(layout, first, NULL));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceGetCorners(HopsSpace sp, PetscInt c, PetscReal corner[])
{
  const PetscInt ng = HopsPower(sp->gorder + 1, sp->dim), nv = 1 << sp->dim;
  PetscReal      x[8];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < sp->dim; ++d) {
    HopsCellCorners(sp->dim, sp->gorder + 1, sp->X + (c * sp->dim + d) * ng, x);
    for (PetscInt v = 0; v < nv; ++v) corner[v * sp->dim + d] = x[v];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* child: -1 kept; k the new cell is child k; -2 - k the old one is child k. Bits of k are the caller's
   directions, of which a turned space has the first two exchanged */
PetscInt HopsRelationChild(HopsSpace sp, PetscInt child)
{
  const PetscInt k = child >= 0 ? child : -2 - child;

  return sp->turned ? (k & 4) | (k & 1) << 1 | (k >> 1 & 1) : k;
}

PetscErrorCode HopsRelationsCheck(HopsSpace old, HopsSpace sp, PetscInt n, const PetscInt relations[])
{
  const PetscInt nv = 1 << sp->dim, all = (1 << nv) - 1;
  PetscInt       N                    = old->ncaller, *parts;
  char           why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &N, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscCall(PetscCalloc1(sp->ncaller, &parts));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt c = relations[i * HOPS_RELATION], o = relations[i * HOPS_RELATION + 1], k = relations[i * HOPS_RELATION + 2];

    if (c < 0 || c >= sp->ncaller || o < 0 || o >= N || k >= nv || k < -1 - nv) {
      PetscCall(HopsRefuse(why,
                           "Relation %" PetscInt_FMT " is of new cell %" PetscInt_FMT " of %" PetscInt_FMT
                           " on its rank, old cell %" PetscInt_FMT " of %" PetscInt_FMT " of all ranks, and child %" PetscInt_FMT
                           ", which must be -1 (kept), 0 to %" PetscInt_FMT " (refined) or -2 to %" PetscInt_FMT " (coarsened)",
                           i, c, sp->ncaller, o, N, k, nv - 1, -1 - nv));
      continue;
    }
    if (k >= -1 ? parts[c] : parts[c] >> (-2 - k) & 1)
      PetscCall(HopsRefuse(why, "New cell %" PetscInt_FMT " is made twice, the second time by relation %" PetscInt_FMT, c, i));
    parts[c] |= k >= -1 ? all : 1 << (-2 - k);
  }
  for (PetscInt c = 0; c < sp->ncells; ++c)
    if (parts[sp->cell[c] - sp->cstart] != all)
      PetscCall(HopsRefuse(why,
                           "New cell %" PetscInt_FMT " is made of %s old cells: give one relation for a cell that was kept or "
                           "refined, and %" PetscInt_FMT " for one that was coarsened",
                           sp->cell[c] - sp->cstart, parts[sp->cell[c] - sp->cstart] ? "too few" : "no", nv));
  PetscCall(PetscFree(parts));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_WRONG, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Apart(PetscInt dim, const PetscReal a[], const PetscReal b[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(a[d] - b[d]);
  return PetscSqrtReal(s);
}

/* A cell that was kept has its corners. A child has one of its parent's, and those beside it are near the
   middles of the parent's edges, whatever is curved */
PetscBool HopsRelationFits(PetscInt dim, PetscInt child, PetscInt k, const PetscReal fine[], const PetscReal coarse[])
{
  PetscReal size = 0.0;

  for (PetscInt v = 1; v < (1 << dim); ++v) size = PetscMax(size, Apart(dim, coarse, coarse + v * dim));
  for (PetscInt v = 0; v < (1 << dim); ++v)
    if ((child == -1 || v == k) && !(Apart(dim, fine + v * dim, coarse + v * dim) <= 1e-5 * size)) return PETSC_FALSE;
  for (PetscInt d = 0; d < dim && child != -1; ++d) {
    const PetscReal *x = coarse + k * dim, *y = coarse + (k ^ 1 << d) * dim;
    PetscReal        mid[3];

    for (PetscInt a = 0; a < dim; ++a) mid[a] = 0.5 * (x[a] + y[a]);
    if (!(Apart(dim, fine + (k ^ 1 << d) * dim, mid) <= 0.3 * Apart(dim, x, y))) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* ------------------------------------------ to parents ------------------------------------------ */

PetscErrorCode HopsToParentsCreate(const HopsNested *n, HopsSpace coarse, HopsToParents *t)
{
  PetscInt *parents;

  PetscFunctionBegin;
  *t = (HopsToParents){.n = coarse->ncaller, .coarse = coarse};
  PetscCall(PetscMalloc1(n->nfine, &t->place));
  if (!n->apart) {
    for (PetscInt f = 0; f < n->nfine; ++f) t->place[f] = coarse->cell[n->parent[f]] - coarse->cstart;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  t->n = n->nfine;
  PetscCall(PetscMalloc1(n->nfine, &parents));
  PetscCall(PetscArraycpy(parents, n->number, n->nfine));
  PetscCall(PetscSortRemoveDupsInt(&t->n, parents));
  for (PetscInt f = 0; f < n->nfine; ++f) PetscCall(PetscFindInt(n->number[f], t->n, parents, &t->place[f]));
  PetscCall(HopsSpaceCreateCellSF(coarse, t->n, parents, NULL, &t->sf));
  PetscCall(PetscFree(parents));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsToParentsSum(const HopsToParents *t, PetscInt nc, PetscScalar *v[])
{
  PetscScalar *sum;
  MPI_Datatype unit = MPIU_SCALAR; /* PetscSF sums no type of one scalar but the scalar itself */

  PetscFunctionBegin;
  if (!t->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCheckIndex("values of cells", (PetscInt64)t->coarse->ncaller * nc));
  PetscCall(PetscCalloc1(t->coarse->ncaller * nc, &sum));
  if (nc > 1) {
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_SCALAR, &unit));
    PetscCallMPI(MPI_Type_commit(&unit));
  }
  PetscCall(PetscSFReduceBegin(t->sf, unit, *v, sum, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(t->sf, unit, *v, sum, MPIU_SUM));
  if (nc > 1) PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscFree(*v));
  *v = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsToParentsDestroy(HopsToParents *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(t->place));
  PetscCall(PetscSFDestroy(&t->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
