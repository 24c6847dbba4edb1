/* PCPATCHFD's data. */
#pragma once
#include <hops/private/hopspatch.h>

typedef struct {
  PC_LOR             src; /* where space and form come from */
  PCPATCHFDType      type;
  PCPATCHFDPatch     patch;
  PCPATCHFDDirection direction;
  PetscBool          single, weight, weightset, usefuse;
  PetscReal          omega;
  HopsPatchOptions   opt;
  HopsBasis          basis;
  HopsPatches        patches;
  HopsPatchKernel    kernel;
  PetscBool          fellback;      /* single precision was asked for and would not do */
  PetscScalar       *b, *g, *c;     /* [nP], [nG] right-hand side and former ghosts of fused sweeps, or NULL; [2 nT] iterate and residual */
  Mat                A;             /* the operator of multiplicative sweeps (borrowed from the PC) */
  PetscScalar       *r, *z;         /* [nP] */
  PetscScalar       *w;             /* [nT] weights of the additive and restricted types, or NULL */
  Vec                t, x;          /* A z, and z's owned entries as a vector (an array is placed) */
  PetscInt64         count[2][3];   /* patches of all ranks: vertex, element; by HopsPatchSolver */
  PetscInt64         factors, size; /* 1D factors, largest dense patch */
} PC_PATCHFD;

PETSC_INTERN PetscErrorCode PCPATCHFDGetData(PC, PC_PATCHFD **);
