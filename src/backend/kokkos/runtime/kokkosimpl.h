/* Kokkos back end: what its files share. Kokkos throws where it fails: no exception leaves a function of the
   back end. */
#pragma once
#include <hops/private/hopsimpl.h>
#include "kokkosversion.h"
#include <exception>

/* Statements that call Kokkos; where it throws, a PETSc error */
#define HopsKokkosCall(...) \
  do { \
    try { \
      __VA_ARGS__; \
    } catch (const std::exception &e) { \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Kokkos: %s", e.what()); \
    } \
  } while (0)

/* The instance that works for a queue, or where there is none in the order of the back end's work. Starts
   Kokkos where nobody did */
PetscErrorCode HopsKokkosGetExec(HopsQueue, HopsKokkosExec **);

/* f(i), i < n, in the order of a queue's work, or of the back end's */
template <class F> PetscErrorCode HopsKokkosEach(HopsQueue queue, const char name[], size_t n, const F &f)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsKokkosGetExec(queue, &exec));
  HopsKokkosCall(Kokkos::parallel_for(name, HopsKokkosRange(*exec, 0, n), f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a host its back end's, but that threads copy */
HopsMemoryOps HopsKokkosHostMemory(const HopsMemoryOps *host);

/* See Set and Scan in lanes.h */
PetscErrorCode HopsKokkosSet(void *p, int byte, size_t n);
PetscErrorCode HopsKokkosScan(size_t n, int x[]);

EXTERN_C_BEGIN
PETSC_INTERN const HopsMemoryOps HopsMemoryKokkos;
PETSC_INTERN const HopsVectorOps HopsVectorKokkos;
PETSC_INTERN const HopsMeshOps   HopsMeshKokkos;
PETSC_INTERN const HopsArraysOps HopsArraysKokkos;
PETSC_INTERN PetscErrorCode      HopsMapKind_Kokkos(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[],
                                                    HopsMapKind *);
PETSC_INTERN PetscErrorCode      HopsCountCells_Kokkos(HopsValuesTest, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *,
                                                       const HopsValues *, PetscInt *count);
PETSC_INTERN PetscErrorCode      HopsFacesCreate_Kokkos(HopsSpace, const HopsBasis *, PetscInt n, const int node[],
                                                        const PetscReal qdata[], HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsHungCreate_Kokkos(HopsSpace, HopsHung *);
PETSC_INTERN PetscErrorCode      HopsInterpCreate_Kokkos(HopsSpace, HopsSpace, const HopsInterpData *, HopsInterpolation *);
EXTERN_C_END
