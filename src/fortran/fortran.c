/* What the Fortran module (include/hops.F90) cannot call directly: functions with a communicator, which is
   another thing in C. */
#include <hops.h>
#include <hops/private/petscshim.h>

PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromNodesFortran(MPI_Fint, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt64[],
                                                            const PetscInt[], const PetscReal[], PetscInt, const PetscInt64[],
                                                            HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromArraysFortran(MPI_Fint, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt[],
                                                             const PetscReal[], PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateConstantFortran(MPI_Fint, PetscInt, const PetscScalar[], HopsCoefficient *);

PetscErrorCode HopsSpaceCreateFromNodesFortran(MPI_Fint comm, PetscInt dim, PetscInt order, PetscInt ncells, PetscInt n,
                                               const PetscInt64 ids[], const PetscInt perm[], const PetscReal coords[],
                                               PetscInt ness, const PetscInt64 ess[], HopsSpace *space)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateFromNodes(MPI_Comm_f2c(comm), dim, order, ncells, n, ids, perm, coords, ness, ess, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateFromArraysFortran(MPI_Fint comm, PetscInt dim, PetscInt order, PetscInt ncells, PetscInt n,
                                                const PetscInt idx[], const PetscReal coords[], PetscInt ness, const PetscInt ess[],
                                                HopsSpace *space)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateFromArrays(MPI_Comm_f2c(comm), dim, order, ncells, n, idx, coords, ness, ess, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientCreateConstantFortran(MPI_Fint comm, PetscInt nc, const PetscScalar values[], HopsCoefficient *cf)
{
  PetscFunctionBegin;
  PetscCall(HopsCoefficientCreateConstant(MPI_Comm_f2c(comm), nc, values, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
