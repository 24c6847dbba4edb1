/* Kokkos back end: set-up of spaces on a mesh (lanesmesh.h) and from arrays (lanesarrays.h), and what
   coefficients' values say of a form (lanesvalues.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/runtime/lanesarrays.h>
#include <backend/lanes/runtime/lanesmesh.h>
#include <backend/lanes/runtime/lanesvalues.h>

const HopsMeshOps   HopsMeshKokkos   = HopsLanesMesh<HopsKokkosBack>::Table();
const HopsArraysOps HopsArraysKokkos = HopsLanesArrays<HopsKokkosBack>::Table();

PetscErrorCode HopsMapKind_Kokkos(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *kind)
{
  return HopsLanesMesh<HopsKokkosBack>::MapKind(n, dim, g, s, X, kind);
}

PetscErrorCode HopsCountCells_Kokkos(HopsValuesTest test, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k,
                                     const HopsValues *m, PetscInt *count)
{
  return HopsLanesValues<HopsKokkosBack>::CountCells(test, dim, n, nq, k, m, count);
}
