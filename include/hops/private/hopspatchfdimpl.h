/* PCPATCHFD's data. */
#pragma once
#include <hops/private/hopspatchimpl.h>

typedef struct {
  PC_LOR             src; /* where space and form come from; first, as PCLOR's setters serve */
  PCPATCHFDType      type;
  PCPATCHFDPatch     patch;
  PCPATCHFDDirection direction;
  PetscBool          directed; /* the user chose the direction */
  PetscBool          single, weight, weightset, usefuse;
  PetscReal          omega;
  HopsPatchOptions   opt;
  HopsBasis          basis;
  HopsPatches        patches;
  HopsPatchSmoother  kernel;
  PetscBool          fellback; /* single precision was asked for and would not do */
  Mat                A;        /* the operator of multiplicative sweeps (borrowed from the PC) */
  HopsProlong        prolong;  /* of P-vectors */
  /* arrays where the back end works */
  PetscReal *b, *g, *c;   /* [nP], [nG] right-hand side and former ghosts of fused sweeps, or NULL; [2 nT] iterate and residual */
  PetscReal *r, *z;       /* [nP] */
  PetscReal *w;           /* [nT] weights of the additive and restricted types, or NULL */
  Vec        t, x, rv;    /* A z; owned entries of z and of r as vectors */
  PetscInt   condensemax; /* what was asked for; see HopsPatchOptions */
  PetscBool  condenseset;
  PetscInt64 count[2][HOPS_PATCH_NSOLVERS]; /* patches of all ranks: vertex, element; by HopsPatchSmoother */
  /* 1D factors, different condensed patches and bytes of their inverses, largest dense patch */
  PetscInt64 factors, different, schur, size;
} PC_PATCHFD;

PETSC_INTERN PetscErrorCode PCPATCHFDGetData(PC, PC_PATCHFD **);
PETSC_INTERN PetscErrorCode PCPATCHFDReverse_Private(PC);

/* src/pc/patchfd/patchfdsweep.c: r = b - A z (b and norm may be NULL); what a color's patches (negative: all)
   add to z; z of a fused sweep */
/* A vector of the numbers in an array: of real scalars, on the array itself. Tell() follows a change of the
   array, Take() one of the vector */
PETSC_INTERN PetscErrorCode PCPATCHFDCreateVec(HopsSpace, const PetscReal a[], Vec *);
PETSC_INTERN PetscErrorCode PCPATCHFDTell(HopsSpace, const PetscReal a[], Vec);
PETSC_INTERN PetscErrorCode PCPATCHFDTake(HopsSpace, Vec, PetscReal a[]);
PETSC_INTERN PetscErrorCode PCPATCHFDResidual(PC_PATCHFD *, const PetscReal b[], PetscReal *norm);
PETSC_INTERN PetscErrorCode PCPATCHFDCheckReal(PC, PC_PATCHFD *);
PETSC_INTERN PetscErrorCode PCPATCHFDSolve(PC, PC_PATCHFD *, PetscInt color, HopsPatchMode);
PETSC_INTERN PetscErrorCode PCPATCHFDSweepFused(PC, PC_PATCHFD *, PetscInt color);
PETSC_INTERN PetscErrorCode PCApply_PATCHFD(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTranspose_PATCHFD(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyRichardson_PATCHFD(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt, PetscBool,
                                                      PetscInt *, PCRichardsonConvergedReason *);

/* src/pc/patchfd/patchfdsingle.c: z = B r on T-vectors in single precision where the back end works; mult is
   y = A x on them */
typedef PetscErrorCode (*HopsSingleMult)(void *ctx, const float x[], float y[]);
typedef struct _HopsPatchSingle *HopsPatchSingle;
PETSC_INTERN PetscErrorCode      HopsPatchSingleCreate(PC, HopsSingleMult, void *ctx, HopsPatchSingle *);
PETSC_INTERN PetscErrorCode      HopsPatchSingleApply(HopsPatchSingle, const float r[], float z[]);
PETSC_INTERN PetscErrorCode      HopsPatchSingleIsSymmetric(HopsPatchSingle, PetscBool *);
PETSC_INTERN PetscErrorCode      HopsPatchSingleDestroy(HopsPatchSingle *);
