/* Uniform boxes on a device: operator and multigrid, by raw pointers to its memory. Nothing is stored for a
   cell. */
#pragma once
#include <hops/private/hopsimpl.h>

typedef struct _HopsBoxOps     HopsBoxOps;
typedef struct _HopsBoxKernel *HopsBoxKernel;
typedef struct _HopsBoxMG     *HopsBoxMG;

#define HOPS_BOX_ORDER  8   /* highest order */
#define HOPS_BOX_COARSE 127 /* most nodes inside the coarsest box in a direction */

/*
  The form sum_a d[a] A_a x (M_b, b != a) + m M x M (x M) on ncells[] cells, with the 1D stiffness A1 and mass
  M1 of the reference cell; nodes are numbered lexicographically, x fastest, the boundary included.
*/
typedef struct {
  PetscInt  dim, order, ncells[3];
  PetscReal d[3], m;
  PetscReal A1[81], M1[81]; /* [p+1][p+1] */
  PetscReal J[153];         /* [2p+1][p+1] values of the reference cell's functions at the nodes of its two halves */
  PetscReal nodes[9];       /* of the reference cell, in [0,1] */
} HopsBoxForm;

typedef enum {
  HOPS_BOX_SMOOTH,
  HOPS_BOX_RESIDUAL,
  HOPS_BOX_RESTRICT, /* with the residual where there is one */
  HOPS_BOX_PROLONG,
  HOPS_BOX_DIRECT,
  HOPS_BOX_VECTOR,
  HOPS_BOX_NKINDS
} HopsBoxKind;

typedef struct {
  PetscBool single;    /* precision of the cycle */
  PetscBool symmetric; /* smooths in the opposite order of colours after the coarse correction */
  PetscBool graph;     /* levels below the finest one as CUDA graphs */
  PetscInt  coarse;    /* coarsen while there are more nodes inside than this in some direction */
  PetscInt  levels;    /* at most; 0: no limit */
} HopsBoxMGChoice;

typedef struct {
  PetscReal rtol, abstol, dtol;
  PetscInt  maxits;
  PetscBool zero, full; /* from zero (else from x); then with nested iteration */
} HopsBoxStop;

struct _HopsBoxOps {
  PetscErrorCode (*Create)(const HopsBoxForm *, HopsBoxKernel *);
  /* rows of the boundary are those of the identity */
  PetscErrorCode (*Mult)(HopsBoxKernel, const PetscReal x[], PetscReal y[]);
  PetscErrorCode (*Destroy)(HopsBoxKernel *);
  PetscErrorCode (*MGCreate)(const HopsBoxForm *, const HopsBoxMGChoice *, HopsBoxMG *);
  /* one cycle, or one pass of nested iteration, from zero */
  PetscErrorCode (*MGApply)(HopsBoxMG, PetscBool full, const PetscReal b[], PetscReal x[]);
  /* cycles until |b - A x| is small enough; norm: |b|, |b - A x| */
  PetscErrorCode (*MGSolve)(HopsBoxMG, const HopsBoxStop *, const PetscReal b[], PetscReal x[], PetscInt *its, PetscBool *converged,
                            PetscReal norm[2]);
  PetscErrorCode (*MGGetInfo)(HopsBoxMG, PetscInt *levels, PetscInt coarsest[], PetscLogDouble *bytes);
  /* seconds[HOPS_BOX_NKINDS * level + kind], coarsest level first, since it was turned on; while it is on,
     every kernel is waited for. NULL: on or off */
  PetscErrorCode (*MGProfile)(HopsBoxMG, PetscBool on, PetscReal seconds[]);
  PetscErrorCode (*MGDestroy)(HopsBoxMG *);
};

PETSC_INTERN const HopsBoxOps HopsBoxCUDA;

/* form is NULL where the matrix is no MATHOPSBOX */
PETSC_INTERN PetscErrorCode MatHopsBoxGetForm(Mat, const HopsBoxForm **, const HopsBoxOps **);
PETSC_INTERN PetscErrorCode MatCreate_HopsBox(Mat);
PETSC_INTERN PetscErrorCode PCCreate_BoxMG(PC);
