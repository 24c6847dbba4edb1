/* CUDA back end: set-up of spaces on a mesh (lanesmesh.h) and from arrays (lanesarrays.h), and what
   coefficients' values say of a form (lanesvalues.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/runtime/lanesarrays.h>
#include <backend/lanes/runtime/lanesmesh.h>
#include <backend/lanes/runtime/lanesvalues.h>

const HopsMeshOps   HopsMeshCUDA   = HopsLanesMesh<HopsCudaBack>::Table();
const HopsArraysOps HopsArraysCUDA = HopsLanesArrays<HopsCudaBack>::Table();

PetscErrorCode HopsMapKind_CUDA(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *kind)
{
  return HopsLanesMesh<HopsCudaBack>::MapKind(n, dim, g, s, X, kind);
}

PetscErrorCode HopsCountCells_CUDA(HopsValuesTest test, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k,
                                   const HopsValues *m, PetscInt *count)
{
  return HopsLanesValues<HopsCudaBack>::CountCells(test, dim, n, nq, k, m, count);
}
