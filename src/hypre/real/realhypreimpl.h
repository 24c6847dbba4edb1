/* A real cycle of hypre for complex vectors: what the files of this folder share. */
#pragma once
#include <hops/private/hopsrealhypre.h>
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_utilities.h>
#include <HYPRE_config.h>

#if defined(HYPRE_COMPLEX) || defined(HYPRE_SINGLE) || defined(HYPRE_LONG_DOUBLE)
  #error "hops calls a hypre of real numbers in double precision: leave out HYPRE_DIR, or set it to one"
#endif

typedef enum {
  HOPS_HYPRE_BOOMERAMG,
  HOPS_HYPRE_AMS,
  HOPS_HYPRE_ADS
} HopsHypreType;

#define HOPS_HYPRE_MAXOPTIONS 24

/* Values of the options of a type, by their places in its list */
typedef struct {
  PetscReal v[HOPS_HYPRE_MAXOPTIONS];
  PetscBool set[HOPS_HYPRE_MAXOPTIONS]; /* by the user */
  PetscInt  amg[2][5];                  /* AMS: of A_alpha and A_beta; ADS: of the AMS, of the AMG inside */
} HopsHypreOptions;

typedef struct {
  HopsHypreType    type;
  HopsHypreOptions options[3]; /* by type */
  HYPRE_Solver     solver;
  HYPRE_IJMatrix   A;
  HYPRE_IJVector   b, x;
  PetscInt         n, start;
  HYPRE_BigInt    *rows; /* [n] global numbers of the owned rows */
  HYPRE_Complex   *work; /* [n] */

  /* of AMS and ADS: what the user gave, and what is made of it */
  Mat            given[8]; /* G, C, interpolations to H(div) and to H(curl) by component */
  HYPRE_IJMatrix made[8];
  Vec            constants[3], interior;
  HYPRE_IJVector vector[4];
  PetscInt       dim;
  PetscBool      nobeta;
} PC_HopsHypre;
enum {
  HOPS_HYPRE_G,
  HOPS_HYPRE_C,
  HOPS_HYPRE_RT,
  HOPS_HYPRE_ND = 5
};

/* src/hypre/real/realhypreoptions.c */
PETSC_INTERN const char *const HopsHypreTypes[];
PETSC_INTERN PetscErrorCode    HopsHypreOptionsDefault(PC_HopsHypre *);
PETSC_INTERN PetscErrorCode    HopsHypreSetFromOptions(PC, HopsOptionItems);
PETSC_INTERN PetscErrorCode    HopsHypreOptionsApply(PC, PC_HopsHypre *); /* to a new solver */
PETSC_INTERN PetscErrorCode    HopsHypreOptionsView(PC_HopsHypre *, PetscViewer);
