/*
  The action of an operator with full tensors: L-vectors of all fields of a side in one array, which one index
  list fills from the global vector and another empties into it, halos, cells and boundary terms.
*/
#include <hops/private/hopspatensorimpl.h>

/* ------------------------------------------ L-vectors ----------------------------------------- */

static PetscErrorCode BringList(const HopsBackendOps *be, PetscInt n, const PetscInt idx[], PetscInt **to)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscInt), (void **)to));
  PetscCall((*be->memory->Copy)(NULL, *to, idx, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same nodes on both sides have one prolongation */
static PetscBool Borrows(HopsPATensor t, PetscInt k, PetscInt i)
{
  return k == HOPS_TRIAL && i < t->n[HOPS_TEST] && t->side[HOPS_TEST][i].nodes == t->side[HOPS_TRIAL][i].nodes ? PETSC_TRUE
                                                                                                               : PETSC_FALSE;
}

static PetscErrorCode SetUpSide(HopsPASide *s)
{
  HopsSpace        sp = s->nodes->space;
  const PetscReal *X;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetHung(sp, &s->hung));
  PetscCall(HopsSpaceGetBackendMesh(sp, &s->restr, &X));
  if (s->hung) s->restr = s->hung->restr;
  s->nl = sp->nL + (s->hung ? s->hung->n : 0);
  PetscCall(HopsCheckInt("entries of a field's L-vector", (PetscInt64)s->nl * s->nodes->nc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(HopsPATensor t, PetscInt k)
{
  const HopsBackendOps *be = t->space->backend;
  HopsPAVector         *v  = &t->vec[k];
  PetscInt             *gather, *scatter, off = 0;
  PetscInt64            n = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    PetscCall(SetUpSide(&t->side[k][i]));
    n += (PetscInt64)t->side[k][i].nl * t->side[k][i].nodes->nc;
  }
  PetscCall(HopsCheckInt("entries of the fields' L-vectors", n));
  v->n = (PetscInt)n;
  PetscCall((*be->memory->Malloc)(v->n * sizeof(PetscReal), (void **)&v->l));
  PetscCall(PetscMalloc2(v->n, &gather, t->size[k], &scatter));
  for (PetscInt i = 0; i < t->size[k]; ++i) scatter[i] = -1;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    HopsPASide    *s  = &t->side[k][i];
    HopsSpace      sp = s->nodes->space;
    const PetscInt nc = s->nodes->nc;

    s->l = v->l + off;
    for (PetscInt j = 0; j < s->nl * nc; ++j) {
      gather[off + j] = j < sp->nT * nc ? s->nodes->map[j] : -1;
      if (gather[off + j] >= 0) scatter[gather[off + j]] = off + j;
    }
    off += s->nl * nc;
    if (Borrows(t, k, i)) s->P = t->side[HOPS_TEST][i].P;
    else PetscCall(HopsProlongCreate(sp, be, &sp->halo, nc, PETSC_DOUBLE, NULL, &s->P));
    HopsProlongSetHung(s->P, s->hung);
  }
  PetscCall(BringList(be, v->n, gather, &v->gather));
  PetscCall(BringList(be, t->size[k], scatter, &v->scatter));
  PetscCall(PetscFree2(gather, scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorCreateVectors(HopsPATensor t)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(CreateVector(t, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroyVectors(HopsPATensor t)
{
  PetscFunctionBegin;
  for (PetscInt k = 1; k >= 0; --k) {
    for (PetscInt i = 0; i < t->n[k]; ++i)
      if (!Borrows(t, k, i)) PetscCall(HopsProlongDestroy(&t->side[k][i].P));
    if (!t->vec[k].l && !t->vec[k].gather && !t->vec[k].scatter) continue;
    PetscCall((*t->space->backend->memory->Free)((void **)&t->vec[k].l));
    PetscCall((*t->space->backend->memory->Free)((void **)&t->vec[k].gather));
    PetscCall((*t->space->backend->memory->Free)((void **)&t->vec[k].scatter));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* From the global vector; ghosts, constrained and cells' own entries become zero, and the way to them begins
   */
static PetscErrorCode Begin(HopsPATensor t, PetscInt k, const PetscReal x[])
{
  const HopsPAVector *v = &t->vec[k];

  PetscFunctionBegin;
  PetscCall((*t->space->backend->vector->Pack)(NULL, PETSC_DOUBLE, v->n, v->gather, x, v->l));
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    const HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongBegin(s->P, s->l, HopsPASideGhosts(s)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(HopsPATensor t, PetscInt k)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    const HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongEnd(s->P, s->l, HopsPASideGhosts(s)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts, then all, of the fields of a side go to the global vector */
static PetscErrorCode AddBegin(HopsPATensor t, PetscInt k)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    const HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongTransposeBegin(s->P, HopsPASideGhosts(s), s->l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddEnd(HopsPATensor t, PetscInt k, PetscReal y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    const HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongTransposeEnd(s->P, HopsPASideGhosts(s), s->l));
  }
  PetscCall((*t->space->backend->vector->Pack)(NULL, PETSC_DOUBLE, t->size[k], t->vec[k].scatter, t->vec[k].l, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorApplyFaces(HopsPATensor t, PetscBool transpose)
{
  PetscFunctionBegin;
  if (t->faces && !t->devicefaces) PetscCall(HopsPATensorFacesApply(t, transpose));
  for (PetscInt i = 0; i < t->nfaceops; ++i) PetscCall((*t->faceops[i]->ops->Apply)(t->faceops[i], HOPS_PART_SHARED, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorMult(HopsPATensor t, PetscBool transpose, PetscInt part, Vec x, Vec y)
{
  const PetscInt   in = transpose ? HOPS_TEST : HOPS_TRIAL, out = 1 - in;
  PetscReal       *ya;
  const PetscReal *xa;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(t->space, part, x, y, &xa, &ya));
  PetscCall(Begin(t, in, xa));
  PetscCall((*t->space->backend->vector->Zero)(PETSC_DOUBLE, t->vec[out].n, t->vec[out].l));
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_INTERIOR_A, transpose));
  PetscCall(End(t, in));
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_SHARED, transpose));
  PetscCall(HopsPATensorApplyFaces(t, transpose));
  PetscCall(AddBegin(t, out));
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_INTERIOR_B, transpose));
  PetscCall(AddEnd(t, out, ya));
  if (PetscMemTypeHost(t->space->backend->memtype)) PetscCall(PetscLogFlops(t->kernel->info.flops));
  else PetscCall(PetscLogGpuFlops(t->kernel->info.flops));
  PetscCall(MatPARestoreArrays(t->space, part, x, y, &xa, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDiagonal(HopsPATensor t, Vec d)
{
  PetscReal *a;
  PetscBool  square = t->n[0] == t->n[1] ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; square && i < t->n[0]; ++i)
    if (t->side[0][i].nodes != t->side[1][i].nodes) square = PETSC_FALSE;
  PetscCheck(square, PetscObjectComm((PetscObject)t->space), PETSC_ERR_ARG_WRONG,
             "A block of different test and trial fields has no diagonal: precondition the blocks on the diagonal (PCFIELDSPLIT), "
             "or use -pc_type none");
  if (HOPS_PARTS > 1) PetscCall(VecSet(d, 0.0));
  PetscCall(MatPAGetArrays(t->space, 0, NULL, d, NULL, &a));
  PetscCall((*t->space->backend->vector->Zero)(PETSC_DOUBLE, t->vec[HOPS_TEST].n, t->vec[HOPS_TEST].l));
  PetscCall((*t->kernel->ops->Diagonal)(t->kernel));
  if (t->faces && !t->devicefaces) PetscCall(HopsPATensorFacesDiagonal(t));
  for (PetscInt i = 0; i < t->nfaceops; ++i) PetscCall((*t->faceops[i]->ops->Diagonal)(t->faceops[i]));
  PetscCall(HopsPATensorDiagonalHung(t));
  PetscCall(AddBegin(t, HOPS_TEST));
  PetscCall(AddEnd(t, HOPS_TEST, a));
  PetscCall(MatPARestoreArrays(t->space, 0, NULL, d, NULL, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
