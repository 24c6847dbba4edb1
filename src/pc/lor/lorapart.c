/*
  The low-order-refined matrix of a vector-valued field without the couplings between its components: for each
  component the matrix of a scalar field, with its own block of the form's tensors, where its back end works.
  Rows are numbered as those of the coupled matrix are, node by node.

  By Korn's inequality this matrix of linear elasticity is spectrally equivalent to the coupled one where a
  part of the boundary is essential; docs/theory/lor.md has the constants.
*/
#include <hops/private/hopslorblockimpl.h>

/* What each node's components are: essential ones as bits; where free ones lie in the outer vector, and
   back */
static PetscErrorCode HopsLORBlockSetNumbers(HopsLORBlock *b)
{
  const HopsMemoryOps *memory = b->lor.backend->memory;
  HopsNodes            nodes  = b->nodes;
  const PetscInt       nc = b->nc, n = nodes->space->nT * nc;
  PetscInt            *place;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nodes->space->nL, &b->essential));
  for (PetscInt l = 0; l < nodes->space->nL; ++l)
    for (PetscInt c = 0; c < nc; ++c)
      if (!nodes->isfree[l * nc + c]) b->essential[l] |= (unsigned char)(1 << c);
  PetscCall(HopsLORSetComponents(&b->lor, nc, b->essential));
  b->direct = nodes->nfree == n ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc1(nodes->nfree, &place));
  for (PetscInt k = 0; k < nodes->nfree; ++k) place[k] = -1;
  for (PetscInt k = 0; k < n; ++k) {
    if (nodes->map[k] >= 0) place[nodes->map[k]] = k;
    if (nodes->map[k] != k) b->direct = PETSC_FALSE;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &b->direct, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)nodes->space)));
  PetscCall((*memory->Malloc)(n * sizeof(PetscInt), (void **)&b->map));
  PetscCall((*memory->Malloc)(nodes->nfree * sizeof(PetscInt), (void **)&b->place));
  PetscCall((*memory->Copy)(NULL, b->map, nodes->map, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall((*memory->Copy)(NULL, b->place, place, nodes->nfree * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockSetUpApart(HopsLORBlock *b, PetscReal droptol, PetscInt entries)
{
  HopsSpace sp = b->nodes->space;

  PetscFunctionBegin;
  PetscCall(HopsLORCreate(sp, sp->backend, &b->lor));
  b->lor.droptol           = droptol;
  b->lor.constraintentries = b->lor.kernel->constraintentries = entries;
  b->sym                                                      = PETSC_TRUE;
  PetscCall(HopsLORBlockSetNumbers(b));
  PetscCall(PetscCalloc1(b->nc, &b->part));
  for (PetscInt c = 0; c < b->nc; ++c) {
    PetscCall(HopsFormCreate(&b->part[c]));
    PetscCall(HopsFormSetSpace(b->part[c], sp));
    if (b->jacobian) PetscCall(HopsFormSetComponent(b->form, c, b->part[c]));
  }
  PetscCall(HopsVecCreate(PetscObjectComm((PetscObject)sp), 1, sp->nT * b->nc, sp->N * b->nc, HopsSpaceVecType(sp), &b->x));
  PetscCall(VecDuplicate(b->x, &b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockCreateComponents(HopsNodes nodes, PetscReal droptol, PetscInt entries, HopsLORBlock **block)
{
  HopsLORBlock *b;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *block  = b;
  b->unit = MPI_DATATYPE_NULL;
  ++nodes->refct;
  b->nodes = nodes;
  b->nc    = nodes->nc;
  PetscCall(HopsFormCreate(&b->form));
  PetscCall(HopsFormSetSpace(b->form, nodes->space));
  PetscCall(HopsLORBlockSetUpApart(b, droptol, entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockDestroyApart(HopsLORBlock *b)
{
  PetscFunctionBegin;
  if (b->lor.backend) {
    PetscCall((*b->lor.backend->memory->Free)((void **)&b->map));
    PetscCall((*b->lor.backend->memory->Free)((void **)&b->place));
  }
  for (PetscInt c = 0; b->part && c < b->nc; ++c) PetscCall(HopsFormDestroy(&b->part[c]));
  PetscCall(PetscFree(b->part));
  PetscCall(PetscFree(b->essential));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockNumericApart(HopsLORBlock *b, MatType type, PetscBool *fits)
{
  HopsLORVertexData data[8];

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lorcoef, b->nodes->space, 0, 0, 0));
  PetscCall(HopsLORCheckCouplings(&b->lor, b->part, data, fits));
  PetscCall(PetscLogEventEnd(HopsEvent.lorcoef, b->nodes->space, 0, 0, 0));
  if (!*fits) PetscCall(HopsLORSymbolic(&b->lor, type));
  PetscCall(HopsLORNumeric(&b->lor, b->part, data));
  PetscCall(PetscObjectReference((PetscObject)b->lor.mat));
  PetscCall(MatDestroy(&b->mat));
  b->mat = b->lor.mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[i] = from[idx[i]], 0 where idx[i] < 0, where the back end works */
static PetscErrorCode HopsLORBlockGather(HopsLORBlock *b, PetscInt n, const PetscInt idx[], Vec from, Vec to)
{
  HopsSpace  sp = b->nodes->space;
  PetscReal *f, *t;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    PetscCall(HopsVecGetPart(sp, from, k, HOPS_VEC_READ, &f));
    PetscCall(HopsVecGetPart(sp, to, k, HOPS_VEC_WRITE, &t));
    PetscCall((*b->lor.backend->vector->Pack)(NULL, PETSC_DOUBLE, n, idx, f, t));
    PetscCall(HopsVecRestorePart(sp, to, k, HOPS_VEC_WRITE, &t));
    PetscCall(HopsVecRestorePart(sp, from, k, HOPS_VEC_READ, &f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockEmbedApart(HopsLORBlock *b, Vec outer, Vec inner)
{
  PetscFunctionBegin;
  PetscCall(HopsLORBlockGather(b, b->nodes->space->nT * b->nc, b->map, outer, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockExtractApart(HopsLORBlock *b, Vec inner, Vec outer)
{
  PetscFunctionBegin;
  PetscCall(HopsLORBlockGather(b, b->nodes->nfree, b->place, inner, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
