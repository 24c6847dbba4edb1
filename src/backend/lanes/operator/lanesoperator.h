/* What operators of back ends that launch kernels for teams of lanes share: the cells of a part, and what
   their set-ups do around a kernel. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <backend/lanes/runtime/laneslog.h>
#include "lanesargs.h"

/* The determinant of a cell that is not positive, to HopsSetUpArgs' det */
typedef PetscErrorCode (*HopsLanesFindBad)(const HopsSetUpArgs *, PetscInt cell);

/* Of an operator, in the back end's memory but for the struct */
typedef struct {
  const double *X;    /* the space's coordinates */
  void         *flag; /* determinant and cell of HopsSetUpArgs */
  void         *mem[2];
  size_t        size[2]; /* of mem: copies of coefficients */
} HopsLanesSetUp;

EXTERN_C_BEGIN
/* The cells of a part. Where no other rank is, nothing needs overlap: the last part has them all */
PETSC_INTERN void HopsLanesPart(HopsPart, PetscBool alone, PetscInt ninterior, PetscInt ncells, PetscInt *first, PetscInt *n);
/* sp's element map, and Q points */
PETSC_INTERN PetscErrorCode HopsLanesSetUpCreate(const HopsBackendOps *, HopsSpace, PetscInt Q, HopsSetUpArgs *, HopsLanesSetUp *);
/* Cells and coefficients of a run, in the back end's memory; NULL: no such term */
PETSC_INTERN PetscErrorCode HopsLanesSetUpBegin(const HopsBackendOps *, HopsLanesSetUp *, PetscInt first, PetscInt n,
                                                const HopsValues *kappa, const HopsValues *mass, HopsSetUpArgs *);
/* Waits for the device: was there a bad cell? The copies of coefficients go after the last run */
PETSC_INTERN PetscErrorCode HopsLanesSetUpEnd(const HopsBackendOps *, HopsLanesSetUp *, HopsLanesFindBad, PetscInt ncells,
                                              const HopsSetUpArgs *, PetscInt *bad, PetscReal *det);
PETSC_INTERN PetscErrorCode HopsLanesSetUpDestroy(const HopsBackendOps *, HopsLanesSetUp *);
/* Cells of whole groups */
PETSC_INTERN size_t HopsLanesGroups(int group, PetscInt ncells);
/* Lanes of the last group that have no cell compute as the last cell does, with n numbers of a cell: on a
   host, where groups are */
PETSC_INTERN void HopsLanesFillGroup(int group, PetscInt ncells, double *data, size_t n);
EXTERN_C_END
