/* The low-order-refined matrix of a vector-valued field, in blocks of its components. */
#pragma once
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsds.h>

typedef struct _HopsLORBlock HopsLORBlock;
struct _HopsLORBlock {
  HopsLOR        lor; /* pattern of the nodes; lor.mat is not used */
  HopsTensorForm form;
  PetscInt       nc;
  PetscInt      *map;    /* [nT][nc] local index in the outer vectors, or -1: an essential component, an identity row here */
  unsigned char *isfree; /* [nL][nc] */
  PetscInt       nfree;  /* local size of the outer vectors */
  PetscScalar   *vals;   /* [nc^2 (nd + no + ng)] diagonal and off-diagonal block (CSR of components), ghost rows in blocks */
  PetscScalar   *rvals;  /* [nr][nc^2] */
  PetscInt      *rrow;   /* [nr] owned node of each received block */
  MPI_Datatype   unit;
  PetscBool      upwind;
  Mat            mat;
  Vec            x, y; /* inner vectors */
};

PETSC_INTERN PetscErrorCode HopsLORBlockCreate(DM, HopsTensorForm, PetscBool upwind, HopsLORBlock **);
PETSC_INTERN PetscErrorCode HopsLORBlockDestroy(HopsLORBlock **);
PETSC_INTERN PetscErrorCode HopsLORBlockNumeric(HopsLORBlock *);
/* outer vector to inner vector (essential components zero), and back */
PETSC_INTERN PetscErrorCode HopsLORBlockEmbed(HopsLORBlock *, Vec outer, Vec inner);
PETSC_INTERN PetscErrorCode HopsLORBlockExtract(HopsLORBlock *, Vec inner, Vec outer);
/* the near-null space of the outer matrix, or rigid-body modes where it has none and there is a component for each direction */
PETSC_INTERN PetscErrorCode HopsLORBlockSetNullSpaces(HopsLORBlock *, Mat outer, Mat alternative);
