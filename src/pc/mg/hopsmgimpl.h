/* PCHOPSMG's data: what it adds to PCMG. */
#pragma once
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopspatchfdimpl.h>
#include <petsc/private/pcimpl.h>

#define HOPS_MG_MAXORDERS 64

/* A V-cycle or full cycle in single precision on raw arrays; nothing below it is a Vec, but for the coarsest
   level's solver */
typedef struct _HopsSingleMG *HopsSingleMG;

/* Chebyshev or Richardson iteration: steps, and the interval or the factor */
typedef struct {
  PetscInt  steps;
  PetscReal emin, emax, scale;
  PetscBool richardson, reverse; /* reverse: the patches' colors in the order opposite to the PC's */
  PC        patch;               /* a PCPATCHFD, or NULL: the diagonal */
} HopsSmoother;

typedef struct {
  struct _PCOps       mg; /* PCMG's own operations */
  PCHopsMGCoarsenType coarsen;
  PetscInt            maxlevels; /* 0: all there are */
  PetscInt            norders, orders[HOPS_MG_MAXORDERS];
  PetscInt            coarsemat; /* 0: assembled where it is small, 1: assembled, 2: matrix-free */
  PetscBool           options;   /* the user wants options read */
  PetscInt            nlevels;
  HopsSpace           space[HOPS_MG_MAXORDERS];       /* coarsest first */
  HopsNested          nested[HOPS_MG_MAXORDERS];      /* [l]: how level l lies in level l-1 */
  Mat                 A[HOPS_MG_MAXORDERS];           /* operators below the finest level */
  HopsSmoother        smoother[HOPS_MG_MAXORDERS][2]; /* of the cycle in single precision: before and after coarse corrections */
  PetscBool           single;                         /* the cycle runs in single precision, */
  PetscBool           graph;                          /* its parts as CUDA graphs */
  /* patches in the opposite order after coarse corrections; the user says so, or not */
  PetscBool    reverse, reverseset;
  PetscBool    reversed[HOPS_MG_MAXORDERS]; /* [l]: they are */
  HopsSingleMG cycle;
} PC_HopsMG;

/* src/pc/mg/singlebounds.c */
PETSC_INTERN PetscErrorCode HopsSingleInvertDiagonal(HopsSpace, Mat, float dinv[]);
PETSC_INTERN PetscErrorCode HopsSingleLargest(HopsSpace, HopsSingleMult, void *ctx, const float dinv[], float r[], float d[],
                                              float q[], PetscReal *);
/* src/pc/mg/singlemg.c: A[l], P[l] (from level l-1 to l) and smoothers of all levels, whose intervals are
   found; entries 0 are not used. graph: record parts of cycles where that can be */
PETSC_INTERN PetscErrorCode HopsSingleMGCreate(PetscInt n, const HopsSpace space[], const Mat A[], const Mat P[],
                                               HopsSmoother (*)[2], KSP coarse, PetscBool graph, HopsSingleMG *);
PETSC_INTERN PetscErrorCode HopsSingleMGApply(HopsSingleMG, PC, PetscBool full, Vec b, Vec x);
PETSC_INTERN PetscErrorCode HopsSingleMGIsSymmetric(HopsSingleMG, PetscBool *);
PETSC_INTERN PetscErrorCode HopsSingleMGView(HopsSingleMG, PetscViewer);
PETSC_INTERN PetscErrorCode HopsSingleMGDestroy(HopsSingleMG *);

PETSC_INTERN PetscErrorCode PCHopsMGGet(PC, PC_HopsMG **);
/* src/pc/mg/hopsmgup.c: smoothing after coarse corrections; the KSP is NULL where it is that before them */
PETSC_INTERN PetscErrorCode PCHopsMGGetUp(PC, PetscInt level, KSP *);
PETSC_INTERN PetscErrorCode PCHopsMGReverse(PC, PC_HopsMG *);
/* src/pc/mg/hopsmglevels.c */
PETSC_INTERN PetscErrorCode PCHopsMGBuildLevels(PC, PC_HopsMG *, HopsSpace);
PETSC_INTERN PetscErrorCode PCHopsMGFreeLevels(PC_HopsMG *);
PETSC_INTERN PetscErrorCode PCHopsMGUpdateOperators(PC, PC_HopsMG *, Mat);
