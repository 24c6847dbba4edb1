/* The low-order-refined matrix of a vector-valued field, in blocks of its components. */
#pragma once
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsfaceimpl.h>

typedef struct _HopsLORBlock HopsLORBlock;
struct _HopsLORBlock {
  HopsLOR      lor; /* pattern of the nodes; lor.mat is not used */
  HopsForm     form;
  HopsJacobian jacobian; /* the form's */
  PetscInt     nc;
  PetscBool    has[4]; /* the terms in the matrix */
  HopsFaceForm faces;  /* boundary Jacobians, or NULL */
  PetscBool    couple; /* entries between nodes in two directions: some g3 */
  PetscBool    sym;    /* the matrix is symmetric */
  HopsNodes    nodes;  /* essential components are identity rows here */
  PetscScalar *vals;   /* [nc^2 (nd + no + ng)] diagonal and off-diagonal block (CSR of components), ghost rows in blocks */
  PetscScalar *rvals;  /* [nr][nc^2] */
  PetscInt    *rrow;   /* [nr] owned node of each received block */
  MPI_Datatype unit;
  PetscBool    upwind; /* one-sided differences for first-order terms of the cells */
  Mat          mat;
  Vec          x, y; /* inner vectors */
};

PETSC_INTERN PetscErrorCode HopsLORBlockCreate(HopsNodes, HopsForm, PetscBool upwind, HopsLORBlock **);
PETSC_INTERN PetscErrorCode HopsLORBlockDestroy(HopsLORBlock **);
PETSC_INTERN PetscErrorCode HopsLORBlockNumeric(HopsLORBlock *);
/* outer vector to inner vector (essential components zero), and back */
PETSC_INTERN PetscErrorCode HopsLORBlockEmbed(HopsLORBlock *, Vec outer, Vec inner);
PETSC_INTERN PetscErrorCode HopsLORBlockExtract(HopsLORBlock *, Vec inner, Vec outer);
/* the near-null space of the outer matrix, or rigid-body modes where it has none and there is a component for
   each direction */
PETSC_INTERN PetscErrorCode HopsLORBlockSetNullSpaces(HopsLORBlock *, Mat outer, Mat alternative);
