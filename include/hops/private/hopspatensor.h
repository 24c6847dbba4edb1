/* The matrix-free operator of a form with full tensors: several components, first-order terms, nonsymmetric tensors. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsds.h>

typedef struct _HopsPATensor *HopsPATensor;
struct _HopsPATensor {
  HopsTensorForm              form;
  HopsNodes                   nodes;
  const HopsBasis            *basis;   /* the Mat's */
  PetscReal                  *Bt, *Dt; /* [P][Q] transposed tabulations */
  PetscScalar                *q[4];    /* weighted tensors in reference coordinates, [cell][entry][point] */
  PetscScalar                *xl, *yl; /* [nL][nc] */
  PetscScalar                *hbuf;    /* [nshared][nc] */
  MPI_Datatype                unit;
  PetscLogDouble              flops;
  struct _HopsPATensorDevice *device; /* patensordevice.c: what a device holds, NULL on the host */
};

/* src/mat/pa/patensordevice.c: the same on a device, after the host has filled q[] */
PETSC_INTERN PetscErrorCode HopsPATensorSetUpDevice(HopsPATensor);
PETSC_INTERN PetscErrorCode HopsPATensorMultDevice(HopsPATensor, PetscBool transpose, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsPATensorDiagonalDevice(HopsPATensor, Vec d);
PETSC_INTERN PetscErrorCode HopsPATensorDestroyDevice(HopsPATensor);

PETSC_INTERN PetscErrorCode HopsPATensorCreate(HopsNodes, HopsTensorForm, HopsPATensor *);
PETSC_INTERN PetscErrorCode HopsPATensorDestroy(HopsPATensor *);
PETSC_INTERN PetscErrorCode HopsPATensorSetUp(HopsPATensor, const HopsBasis *);
PETSC_INTERN PetscErrorCode HopsPATensorMult(HopsPATensor, PetscBool transpose, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsPATensorDiagonal(HopsPATensor, Vec d);
PETSC_INTERN PetscErrorCode HopsPATensorAssemble(HopsPATensor, Mat A, MatReuse, Mat *B);
PETSC_INTERN PetscErrorCode MatPASetForm(Mat, HopsSpace, HopsTensorForm);
/* src/mat/pa/matpads.c: the form becomes that of a PetscDS at a state (local vectors); Xt may be NULL */
PETSC_INTERN PetscErrorCode MatPASetState(Mat, DM, PetscBool preconditioner, Vec X, Vec Xt, PetscReal t, PetscReal shift);
