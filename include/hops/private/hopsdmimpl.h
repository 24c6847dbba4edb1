/* What hops adds to DMs of type plex: matrices of type pa, and local Jacobians and residuals by sum
   factorisation. */
#pragma once
#include <hops/private/hopspointcellsimpl.h>
#include <petscsnes.h>

typedef struct _HopsPlexBoundary *HopsPlexBoundary; /* essential values */
typedef struct _HopsPlexFaces    *HopsPlexFaces;    /* boundary residuals on a device */
typedef struct _HopsPlexParents  *HopsPlexParents;  /* essential values of a mesh with a tree */
/* a function of a PetscDS, of time and position */
typedef PetscErrorCode (*HopsFunction)(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx);
typedef enum {
  HOPS_LINEAR_DEFAULT, /* as auto with -hops_residual, else as no */
  HOPS_LINEAR_NO,
  HOPS_LINEAR_YES,
  HOPS_LINEAR_AUTO
} HopsLinearMode;
typedef struct {
  PetscBool      pa;       /* -dm_mat_type pa: DMCreateMatrix() makes matrix-free operators */
  PetscBool      residual; /* -hops_residual */
  HopsLinearMode linear;   /* -hops_linear */
  PetscBool      check;    /* -hops_residual_check */
  PetscBool      hooked;
  PetscBool      projects; /* DMProjectFunction() by nodes though the residual is PETSc's: a part of a DM, while PETSc makes it */
  PetscBool      overlap;  /* any rank has cells of another one; known for this point SF */
  PetscObjectId  sfid;
  /* of the residual; made for this section and these coordinates */
  PetscSection     section;
  HopsVecKey       coordinates;
  HopsFields       fields;
  HopsSpace        space; /* cells and their maps, without a numbering */
  HopsBasis        rule;  /* its weights */
  HopsFieldPoints  at;
  PetscReal      **Bt, **Dt;    /* [nf][P Q] transposed tabulations */
  PetscReal       *Ct;          /* [Q Q] transposed derivatives at the points */
  PetscBool        sought;      /* the next one was asked for */
  HopsPointCells   points;      /* the same where the device is, or NULL */
  HopsPlexFaces    faces;       /* of the boundary there */
  HopsPlexBoundary boundary[2]; /* essential values, their time derivatives */
  HopsPlexParents  parents;     /* those that no cell of this process has; or NULL */
} HopsPlex;

/* registers DMPLEX anew with a constructor that adds these; collective */
PETSC_INTERN PetscErrorCode HopsPlexRegister(void);
/* the state of a DM, or NULL */
PETSC_INTERN PetscErrorCode HopsPlexGet(DM, HopsPlex **);
/* gives it to a new DM, with the options */
PETSC_INTERN PetscErrorCode HopsPlexAddState(DM);
/* -dm_mat_type pa becomes a mark of the state; what local functions of the DM need, from then on */
PETSC_INTERN PetscErrorCode HopsPlexTakeRequest(DM, HopsPlex *);
PETSC_INTERN PetscErrorCode HopsPlexAddHook(DM, HopsPlex *);
/* a matrix of type pa of a DMPLEX, whether it asked for one or not */
PETSC_INTERN PetscErrorCode HopsPlexCreateMatrixPA(DM, Mat *);
/* src/dm/forestpa.c: registers the types of DMForest anew, where PETSc has them */
PETSC_INTERN PetscErrorCode HopsForestRegister(void);
/* the mesh (borrowed; or NULL) that local functions of a forest work on, as PETSc's projections need it */
PETSC_INTERN PetscErrorCode HopsForestPrepare(DM, DM *plex);
/* F += the residual of the DM's PetscDS; done is false where hops cannot (F is then untouched) */
PETSC_INTERN PetscErrorCode HopsPlexResidual(DM, HopsPlex *, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsPlexResidualReset(HopsPlex *);
/* what the residual needs; can is false where it is left to PETSc */
PETSC_INTERN PetscErrorCode HopsPlexResidualSetUp(DM, HopsPlex *, PetscBool *can);
/* src/dm/plexboundary.c: DMPlexInsertBoundaryValues() and its like for time derivatives call functions at
   nodes alone, and keep values that these would give again */
PETSC_INTERN PetscErrorCode HopsPlexWrapBoundary(DM);
PETSC_INTERN PetscErrorCode HopsPlexBoundaryDestroy(HopsPlexBoundary *);
/* src/dm/plexparents.c: values of a local vector that no cell of this process has, from others: INSERT_VALUES
   all but the essential ones, INSERT_BC_VALUES these, INSERT_ALL_VALUES both; the object is made where it is
   NULL. Collective */
PETSC_INTERN PetscErrorCode HopsPlexParentsShare(DM, HopsPlexParents *, InsertMode, Vec);
PETSC_INTERN PetscErrorCode HopsPlexParentsDestroy(HopsPlexParents *);
/* PETSc's residual of a value of a natural condition */
PETSC_INTERN PetscErrorCode HopsPlexTermResidual(DM, HopsPlex *, PetscReal t, PetscWeakForm, PetscFormKey, Vec X, Vec Xt, Vec F);
/* src/dm/plexfaces.c: F += the boundary residual, where a device does it: else done is false, and F as it
   was */
PETSC_INTERN PetscErrorCode HopsPlexFacesResidual(DM, HopsPlex *, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsPlexFacesDestroy(HopsPlexFaces *);
/* src/dm/plexproject.c: DMProjectFunction() calls functions once a node */
PETSC_INTERN PetscErrorCode HopsPlexWrapProject(DM);
/* at the place x[dim] of a node the function `which` gives the components comp[n] for entries of a local
   vector */
typedef PetscErrorCode (*HopsPlexNodeVisit)(void *ctx, PetscInt which, const PetscReal x[], PetscInt n, const PetscInt entry[],
                                            const PetscInt comp[]);
/* visits each entry of a local vector with of[entry] >= 0, which is `which`, once, in the cells that have a
   point with onpoint[] (NULL: all), and makes it -1 */
PETSC_INTERN PetscErrorCode HopsPlexVisitNodes(DM, HopsPlex *, PetscInt of[], const PetscBool onpoint[], HopsPlexNodeVisit,
                                               void *ctx);
/* src/dm/sectionsf.c: a graph of the DM's section that is set up quickly, on one process, where there is none
   yet */
PETSC_INTERN PetscErrorCode HopsPlexSetSectionSF(DM);
/* hops' local functions take the place of PETSc's, where these are what a solver of the DM calls */
PETSC_INTERN PetscErrorCode HopsPlexSwap(DM, HopsPlex *);
/* src/dm/plexlinear.c: what is evaluated once for all states of a linear form. Registers SNES types anew;
   collective */
PETSC_INTERN PetscErrorCode HopsLinearRegister(void);
/* within a solve, may Jacobian and preconditioning matrix stay as they are? Collective */
PETSC_INTERN PetscErrorCode HopsLinearJacobian(DM, PetscReal shift, Mat J, Mat P, PetscBool *keep);
/* is a DM's function what PETSc makes of a local one for a SNES? That of a TS is another one */
PETSC_INTERN PetscBool HopsPlexIsLocalSNES(PetscErrorCode (*)(SNES, Vec, Vec, void *));
