/* CUDA back end: data of a form on H(curl), H(div) or L2. No function here waits for the device unless it
   says so. */
#pragma once
#include <hops/private/hopsderhamimpl.h>
#include "cudaderhamargs.h"
#include <backend/cuda/runtime/cudaimpl.h>

typedef struct _HopsDerhamKernel *HopsDerhamKernel;
struct _HopsDerhamKernel {
  struct _HopsOperator head;
  HopsCudaDerhamArgs   args;
  HopsSetUpArgs        setup; /* kappa: the derivative's coefficient; mass: the field's */
  PetscErrorCode (*launch)(const HopsCudaDerhamArgs *, const double *, const double *, double *, double *);
  PetscInt      ncells, ninterior;
  PetscBool     alone; /* no other rank, so that the parts need not be kept apart */
  const double *X;     /* the space's coordinates, on the device */
  double       *tables, *hosttables, *qdata;
  void         *mem[2]; /* device: coefficients of a set-up */
  size_t        size[2];
  void         *flag; /* device: determinant and cell of HopsSetUpArgs */
  HopsBasis     geom;
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsDerhamCreate_CUDA(HopsSpace, const HopsBasis *, PetscBool deriv, PetscBool mass, HopsOperator *);

/* cudaderhamgeneric.cu */
PETSC_INTERN PetscErrorCode HopsCudaDerhamLaunchGeneric(const HopsCudaDerhamArgs *, const double x[], const double xg[], double y[],
                                                        double yg[]);
PETSC_INTERN PetscErrorCode HopsCudaDerhamDiagonal(const HopsCudaDerhamArgs *, double d[], double dg[]);
/* doubles of scratch of a block, blocks of a launch, and whether the scratch lies in shared memory */
PETSC_INTERN PetscErrorCode HopsCudaDerhamGenericSetUp(HopsCudaDerhamArgs *, PetscBool *shared);
PETSC_INTERN PetscErrorCode HopsCudaDerhamSetUp(int family, const HopsSetUpArgs *);
EXTERN_C_END
