/* HopsSpace from raw arrays, the form in which spectral-element codes hold their mesh. */
#include <hops/private/hopsimpl.h>

/*@C
  HopsSpaceCreateFromArrays - Creates a `HopsSpace` from the arrays of a spectral-element code.

  Collective

  Input Parameters:
+ comm   - the communicator
. dim    - 2 or 3
. order  - the polynomial order p, 1 or more
. ncells - number of cells on this rank (may be 0)
. n      - number of unknowns owned by this rank: rank r owns a contiguous range of global indices, as in a `Vec`
. nodes  - [ncells][(p+1)^dim] global index of each Gauss-Lobatto-Legendre node of each cell, x fastest
. coords - [ncells][(p+1)^dim][dim] coordinates of those nodes
. ness   - number of essential unknowns listed by this rank
- ess    - [ness] global indices of essential (Dirichlet) unknowns; every rank with a cell that touches one lists it, or its owner does

  Output Parameter:
. space - the space

  Level: beginner

  Note:
  Essential unknowns stay in the vectors: their rows and columns are those of the identity, in the operator and in the
  low-order-refined matrix alike. The arrays are copied.

.seealso: `HopsSpace`, `HopsSpaceCreateFromDM()`, `HopsSpaceCreateH1()`, `PCLORSetSpace()`
@*/
PetscErrorCode HopsSpaceCreateFromArrays(MPI_Comm comm, PetscInt dim, PetscInt order, PetscInt ncells, PetscInt n, const PetscInt nodes[], const PetscReal coords[], PetscInt ness, const PetscInt ess[], HopsSpace *space)
{
  HopsSpace   sp;
  PetscInt    np, nel, nkeys, *gidx, *elist;
  PetscBool  *isess;
  PetscSF     sf;
  PetscLayout layout;
  PetscInt   *mark, *leaf;

  PetscFunctionBegin;
  PetscAssertPointer(space, 10);
  PetscCall(HopsSpaceCreate_Private(comm, dim, order, &sp));
  PetscCheck(ncells >= 0 && n >= 0 && ness >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Negative sizes: %" PetscInt_FMT " cells, %" PetscInt_FMT " owned unknowns, %" PetscInt_FMT " essential unknowns", ncells, n, ness);
  PetscCall(PetscLogEventBegin(HopsEvent.space, sp, 0, 0, 0));
  np  = PetscPowInt(order + 1, dim);
  nel = ncells * np;
  PetscCall(PetscLayoutCreateFromSizes(comm, n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRange(layout, &sp->rstart, NULL));
  PetscCall(PetscLayoutGetSize(layout, &sp->N));
  sp->nT     = n;
  sp->ncells = sp->ncaller = ncells;
  sp->gorder               = order;
  PetscCall(PetscMalloc1(ncells, &sp->cell));
  PetscCall(PetscMalloc1(nel * dim, &sp->X));
  for (PetscInt c = 0; c < ncells; ++c) {
    sp->cell[c] = c;
    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt d = 0; d < dim; ++d) sp->X[(c * dim + d) * np + i] = coords[(c * np + i) * dim + d];
  }
  /* keys: the distinct global indices of this rank's cells, ascending */
  PetscCall(PetscMalloc2(nel, &gidx, nel, &elist));
  PetscCall(PetscArraycpy(gidx, nodes, nel));
  nkeys = nel;
  PetscCall(PetscSortRemoveDupsInt(&nkeys, gidx));
  PetscCheck(!nkeys || (gidx[0] >= 0 && gidx[nkeys - 1] < sp->N), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A node has global index %" PetscInt_FMT ", outside [0,%" PetscInt_FMT ")", gidx[0] < 0 ? gidx[0] : gidx[nkeys - 1], sp->N);
  for (PetscInt i = 0; i < nel; ++i) PetscCall(PetscFindInt(nodes[i], nkeys, gidx, &elist[i]));
  /* an unknown is essential everywhere if any rank says so */
  PetscCall(PetscCalloc3(n, &mark, PetscMax(nkeys, ness), &leaf, nkeys, &isess));
  for (PetscInt i = 0; i < ness; ++i) {
    PetscCheck(ess[i] >= 0 && ess[i] < sp->N, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Essential unknown %" PetscInt_FMT " is outside [0,%" PetscInt_FMT ")", ess[i], sp->N);
    leaf[i] = 1;
  }
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, ness, NULL, PETSC_OWN_POINTER, ess));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, leaf, mark, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, leaf, mark, MPI_MAX));
  for (PetscInt i = 0; i < n; ++i) { /* its value is known from the owner's cells alone */
    PetscInt where = 0;

    if (mark[i]) PetscCall(PetscFindInt(sp->rstart + i, nkeys, gidx, &where));
    PetscCheck(where >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "Essential unknown %" PetscInt_FMT " is owned by a rank none of whose cells touch it: let it be owned by a rank with such a cell", sp->rstart + i);
  }
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, nkeys, NULL, PETSC_OWN_POINTER, gidx));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, mark, leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, mark, leaf, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  for (PetscInt k = 0; k < nkeys; ++k) isess[k] = leaf[k] ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsSpaceSetUpNumbering(sp, nkeys, gidx, isess, elist));
  PetscCall(PetscFree3(mark, leaf, isess));
  PetscCall(PetscFree2(gidx, elist));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscLogEventEnd(HopsEvent.space, sp, 0, 0, 0));
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}
