/* What changes PETSc's assembly of a PetscDS beside its functions and fields, and hops does not take:
   refused. */
#include <hops/private/hopsdsimpl.h>

PetscErrorCode HopsDMCheckClosures(DM dm)
{
  PetscSection s;
  Vec          v;
  PetscScalar *a, *closure = NULL;
  PetscInt     cStart, cEnd, n, m, *idx = NULL;
  PetscBool    same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  if (cStart == cEnd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexGetClosureIndices(dm, s, s, cStart, PETSC_FALSE, &m, &idx, NULL, NULL));
  PetscCall(PetscSectionGetStorageSize(s, &n));
  PetscCall(PetscMalloc1(n, &a)); /* a local vector, of which no other entries are touched */
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt k = idx[i] < 0 ? -(idx[i] + 1) : idx[i];

    a[k] = k;
  }
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, a, &v));
  PetscCall(DMPlexVecGetClosure(dm, s, v, cStart, &n, &closure));
  for (PetscInt i = 0; m == n && i < n; ++i)
    if (PetscRealPart(closure[i]) != (idx[i] < 0 ? -(idx[i] + 1) : idx[i])) same = PETSC_FALSE;
  PetscCall(DMPlexRestoreClosureIndices(dm, s, s, cStart, PETSC_FALSE, &m, &idx, NULL, NULL));
  PetscCall(DMPlexVecRestoreClosure(dm, s, v, cStart, &n, &closure));
  PetscCall(VecDestroy(&v));
  PetscCall(PetscFree(a));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The closures of the DM's local section are permuted (DMPlexSetClosurePermutationTensor()), for which neither PETSc's "
             "finite element integrals nor those of hops are right: permute a section on a clone of the DM alone, or make the "
             "operator by MatPASetDiffusion() and MatPASetMass()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSHasHessians(PetscDS ds, PetscBool *has)
{
  PetscInt nf;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  PetscCall(PetscDSGetNumFields(ds, &nf));
  for (PetscInt f = 0; f < nf; ++f) {
    PetscInt k;

    PetscCall(PetscDSGetJetDegree(ds, f, &k));
    if (k > 1) *has = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDMHasAnchors(DM dm, PetscBool *has)
{
  PetscSection anchors;
  PetscInt     n = 0;

  PetscFunctionBegin;
  PetscCall(DMPlexGetAnchors(dm, &anchors, NULL));
  if (anchors) PetscCall(PetscSectionGetStorageSize(anchors, &n));
  *has = n ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, has, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Regions and keys are HopsDSCheck()'s */
PetscErrorCode HopsDMCheck(DM dm)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)dm);
  PetscInt  nds;
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(DMHasBasisTransform(dm, &is));
  PetscCheck(!is, comm, PETSC_ERR_SUP,
             "The DM has a basis transformation between global and local vectors (DMPlexCreateBasisRotation()), which hops does "
             "not apply to matrices: leave out -dm_mat_type " MATPA " and -pc_type " PCLOR);
  PetscCall(HopsDMHasAnchors(dm, &is));
  if (is) {
    PetscSection parents;

    PetscCall(DMPlexGetTree(dm, &parents, NULL, NULL, NULL, NULL));
    if (parents) is = PETSC_FALSE;
  }
  PetscCheck(!is, comm, PETSC_ERR_SUP,
             "The mesh has anchors (DMPlexSetAnchors(), hanging nodes) and no tree (DMPlexSetTree()), by which hops knows what "
             "hangs: "
             "leave out -dm_mat_type " MATPA " and -pc_type " PCLOR ", or use a conforming mesh");
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS ds;

    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(HopsDSHasHessians(ds, &is));
    PetscCheck(!is, comm, PETSC_ERR_SUP,
               "The point functions of the PetscDS see second derivatives (PetscDSSetJetDegree()), which hops does not evaluate: "
               "leave out -dm_mat_type " MATPA " and -pc_type " PCLOR);
  }
  PetscCall(HopsDMCheckClosures(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
