/* CUDA: what multigrid on a uniform box has, shared by its cycle and solve (cudaboxmg.c) and its life cycle
   (cudaboxmgset.c). */
#pragma once
#include "cudabox.h"

struct _HopsBoxMG {
  HopsBoxMGChoice   choice;
  int               n;           /* levels, coarsest first */
  HopsCudaBox      *box, *exact; /* of the cycle; in double precision (the same where the cycle is) */
  HopsCudaBoxDirect direct, exactdirect;
  /* of the cycle; NULL on the finest of several levels in double precision, whose vectors are the caller's */
  void   **b, **x;
  double **B, **X;               /* of the nested iteration, below the finest level; X is x in double precision */
  void    *t[2];                 /* restricted in the last direction, or sums of tiles; restricted in two */
  double  *partial, *sum, *norm; /* sum: [HOPS_BOX_NSUMS]; norm: the host's copy of it, and after it what scale is to be */
  /* single precision: of residuals of the nested iteration, and its inverse; on the device, where graphs find
     it */
  double *scale;
  /* |A d| / |x| for the finest level's A and changes d of x by its rounding to single precision */
  double         rounding;
  HopsRecord     graph, nested; /* the cycle below the finest level; the nested iteration there */
  PetscLogDouble bytes;
  PetscBool      profile;
  cudaEvent_t    event[2], ready;
  PetscReal     *seconds; /* [n][HOPS_BOX_NKINDS] */
};

/* Sums of squares: the one asked for last; of b - A P X and of a coarser level's X, which nobody waits for;
   and whether b has values on the boundary, an int */
enum {
  HOPS_BOX_SUM,
  HOPS_BOX_SUM_PROLONGED,
  HOPS_BOX_SUM_X,
  HOPS_BOX_ANY,
  HOPS_BOX_NSUMS
};

EXTERN_C_BEGIN
/* The box of the form's cells, each 2^shift of them in each direction */
PETSC_INTERN PetscErrorCode HopsCudaBoxCreateForm(const HopsBoxForm *, int shift, PetscBool single, HopsCudaBox *);
PETSC_INTERN PetscErrorCode HopsBoxMGCreate_CUDA(const HopsBoxForm *, const HopsBoxMGChoice *, HopsBoxMG *);
PETSC_INTERN PetscErrorCode HopsBoxMGDestroy_CUDA(HopsBoxMG *);
/* Records the cycle and the nested iteration below the finest level */
PETSC_INTERN PetscErrorCode HopsBoxMGCapture(HopsBoxMG);
EXTERN_C_END
