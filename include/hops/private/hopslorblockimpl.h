/* The low-order-refined matrix of a vector-valued field: in blocks of its components, or without couplings
   between them. */
#pragma once
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsfaceimpl.h>

typedef struct _HopsLORBlock HopsLORBlock;
struct _HopsLORBlock {
  HopsLOR      lor; /* pattern of the nodes; lor.mat is not used where components couple */
  HopsForm     form;
  HopsJacobian jacobian; /* the form's, or NULL: parts of the user's coefficients */
  PetscInt     nc;
  PetscBool    has[4];  /* the terms in the matrix */
  HopsFaceForm faces;   /* boundary Jacobians, or NULL */
  PetscBool    couple;  /* components do; else see lorapart.c */
  PetscBool    mixed;   /* entries between nodes in two directions: some g3 */
  PetscBool    sym;     /* the matrix is symmetric */
  HopsNodes    nodes;   /* essential components are identity rows here */
  PetscReal   *vals;    /* [nc^2 (nd + no + ng)] diagonal and off-diagonal block (CSR of components), ghost rows in blocks */
  PetscScalar *scalars; /* the first two as the matrix has them */
  PetscReal   *rvals;   /* [nr][nc^2] */
  /* where nodes hang: a cell's entries before these are eliminated, [nodes][nentries][nc^2], and after */
  PetscReal       *stencil;
  HopsLORCondensed condensed;
  PetscInt        *rrow; /* [nr] owned node of each received block */
  MPI_Datatype     unit;
  PetscBool        upwind; /* one-sided differences for first-order terms of the cells */
  Mat              mat;
  Vec              x, y; /* inner vectors */

  /* where components do not couple */
  HopsForm      *part;      /* [nc] each one's own form */
  unsigned char *essential; /* [nL] bits of components */
  PetscInt      *map;       /* as that of the nodes, where the back end works */
  PetscInt      *place;     /* [nfree] the inverse */
  PetscBool      direct;    /* outer vectors are inner ones, on all ranks */
};

/* the drop tolerance is of components that do not couple */
PETSC_INTERN PetscErrorCode HopsLORBlockCreate(HopsNodes, HopsForm, PetscBool upwind, PetscBool couple, PetscReal droptol,
                                               PetscInt entries, HopsLORBlock **);
/* of components that do not couple and whose forms, part[nc], are to be set; entries: constraintentries */
PETSC_INTERN PetscErrorCode HopsLORBlockCreateComponents(HopsNodes, PetscReal droptol, PetscInt entries, HopsLORBlock **);
PETSC_INTERN PetscErrorCode HopsLORBlockDestroy(HopsLORBlock **);
/* the values; where components do not couple, the type of the matrix, and whether its pattern was kept */
PETSC_INTERN PetscErrorCode HopsLORBlockNumeric(HopsLORBlock *, MatType, PetscBool *kept);
/* outer vector to inner vector (essential components zero), and back */
PETSC_INTERN PetscErrorCode HopsLORBlockEmbed(HopsLORBlock *, Vec outer, Vec inner);
PETSC_INTERN PetscErrorCode HopsLORBlockExtract(HopsLORBlock *, Vec inner, Vec outer);
/* the near-null space of the outer matrix, or rigid-body modes where it has none and there is a component for
   each direction */
PETSC_INTERN PetscErrorCode HopsLORBlockSetNullSpaces(HopsLORBlock *, Mat outer, Mat alternative);

/* src/pc/lor/lorapart.c: the same where components do not couple */
PETSC_INTERN PetscErrorCode HopsLORBlockSetUpApart(HopsLORBlock *, PetscReal droptol, PetscInt entries);
PETSC_INTERN PetscErrorCode HopsLORBlockDestroyApart(HopsLORBlock *);
PETSC_INTERN PetscErrorCode HopsLORBlockNumericApart(HopsLORBlock *, MatType, PetscBool *kept);
PETSC_INTERN PetscErrorCode HopsLORBlockEmbedApart(HopsLORBlock *, Vec outer, Vec inner);
PETSC_INTERN PetscErrorCode HopsLORBlockExtractApart(HopsLORBlock *, Vec inner, Vec outer);
