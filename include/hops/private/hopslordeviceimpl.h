/* The low-order-refined matrix of a space whose back end assembles rows on a device. */
#pragma once
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopslorrowsimpl.h>

typedef enum {
  HOPS_LOR_AIJ,         /* values are copied to the process's memory */
  HOPS_LOR_AIJCUSPARSE, /* values are copied within the device's memory */
  HOPS_LOR_HYPRE        /* the rows' arrays are the matrix's own */
} HopsLORTarget;

typedef struct _HopsLORDevice *HopsLORDevice;
struct _HopsLORDevice {
  HopsLORTarget target;
  HopsLORRows   rows, ghosts; /* owned rows; ghost rows, which travel to their owners through the process's memory */
  PetscBool     coupled;      /* the pattern has couplings across cells' directions on this rank */
  PetscBool     given;        /* rows.i, rows.j and rows.v belong to the matrix */
  PetscInt      ncols;        /* columns of block 1 */
  PetscInt     *cols;         /* [ncols] their global indices, ascending */
  PetscScalar  *gvals;        /* [lor->ng] values of ghost rows, in the process's memory */
  PetscScalar  *xvals;        /* [lor->nr] received values, on the device */
};

/* src/pc/lor/lordevicemat.c: memory of the rows, as the target wants it; the matrix on the filled pattern;
   its new values */
PETSC_INTERN PetscErrorCode HopsLORDeviceAlloc(HopsLOR *, size_t bytes, void **);
PETSC_INTERN PetscErrorCode HopsLORDeviceFree(HopsLOR *, void **);
PETSC_INTERN PetscErrorCode HopsLORDeviceSetTarget(HopsLOR *, MatType);
PETSC_INTERN PetscErrorCode HopsLORDeviceCreateMat(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORDeviceUpdateMat(HopsLOR *);
