/* Boundary faces: tensor-product points, geometry, and the boundary Jacobians of a PetscDS with full
   tensors. */
#pragma once
#include <hops/private/hopsformimpl.h>
#include <hops/private/hopsdsimpl.h>
#include <hops/private/hopspointcellsimpl.h>
#include <hops/private/hopspointcheckimpl.h>

/*
  A basis on the faces of the reference cell: face 2d (lower) or 2d+1 (upper) in direction d, whose points are
  those of the basis in the other directions, in ascending order of direction, lowest fastest. Q-data of a
  face: v[0][q] values, v[1+a][q] derivatives in reference direction a.
*/
typedef struct {
  PetscInt   dim, P, Q;
  PetscReal *B, *D, *Bt, *Dt; /* [Q][P] tabulations, [P][Q] their transposes */
  PetscReal *points;          /* [Q] */
  PetscReal *E;               /* [2][P] derivatives of the basis functions at -1 and at 1 */
  PetscInt  *node;            /* [2 dim][P^(dim-1)] E-vector nodes of each face */
  PetscReal *work;
} HopsFaceBasis;

/* the Lagrange functions on the P GLL nodes at the points of `basis` */
PETSC_INTERN PetscErrorCode HopsFaceBasisCreate(PetscInt dim, PetscInt P, const HopsBasis *basis, HopsFaceBasis *);
PETSC_INTERN PetscErrorCode HopsFaceBasisDestroy(HopsFaceBasis *);
/* those of all fields, [nf] */
PETSC_INTERN PetscErrorCode HopsFaceBasesCreate(HopsFields, const HopsBasis *, HopsFaceBasis *[]);
PETSC_INTERN PetscErrorCode HopsFaceBasesDestroy(HopsFields, HopsFaceBasis *[]);
/* v from e[P^dim]; gradient: derivatives too */
PETSC_INTERN PetscErrorCode HopsFaceInterpolate(const HopsFaceBasis *, PetscInt face, PetscBool gradient, const PetscReal e[],
                                                PetscReal v[]);
/* f[P^dim] += the transpose */
PETSC_INTERN PetscErrorCode HopsFaceIntegrate(const HopsFaceBasis *, PetscInt face, PetscBool gradient, const PetscReal v[],
                                              PetscReal f[]);
/* x[q][dim], outward unit normals [q][dim], Jacobians J[q][dim*dim] of the element map, surface elements
   ds[q] */
PETSC_INTERN PetscErrorCode HopsFaceGeometry(HopsSpace, const HopsFaceBasis *geom, PetscInt cell, PetscInt face, PetscReal x[],
                                             PetscReal normal[], PetscReal J[], PetscReal ds[]);

/* The boundary Jacobian of one value of a natural boundary condition */
typedef struct _HopsFaceTerm *HopsFaceTerm;
struct _HopsFaceTerm {
  PetscInt        test, trial;       /* fields */
  PetscInt        n, *cells, *faces; /* [n] cell of the space, face of the reference cell */
  PetscDS         ds;                /* constants */
  DMLabel         label;
  PetscInt        value, auxvalue; /* PETSc takes the auxiliary fields of a condition's first value for all of them */
  PetscInt        nf[4];
  HopsBdPointJac *f[4];
  PetscReal      *q[4]; /* weighted tensors in reference coordinates, [face][entry][point] */
  HopsFaceTerm    next;
};

/* All of them, at the state of a Jacobian */
typedef struct _HopsFaceForm *HopsFaceForm;
struct _HopsFaceForm {
  HopsJacobian   jacobian;
  HopsSpace      space; /* borrowed: what the form lives on outlives it */
  PetscBool      has[4];
  HopsFaceTerm   terms;
  HopsFaceBasis *basis; /* [nf] of all fields at the points of the last set-up */
  HopsBasis     *rule;  /* [nf] the same in one dimension, with the weights */
  PetscBool      sought;
  HopsPointFaces points; /* the faces of all terms where a device evaluates them, or NULL; then it was sought */
};

/* which boundary Jacobian functions the PetscDS has; what hops cannot take is refused */
PETSC_INTERN PetscErrorCode HopsFaceFormQuery(DM, PetscBool has[4]);
/* those between some of the fields, NULL where there are none; a scalar g0 alone may be handed to
   HopsFormAddBoundaryDS() instead. Collective */
PETSC_INTERN PetscErrorCode HopsFaceFormCreate(HopsJacobian, HopsSpace, PetscInt ntest, const PetscInt test[], PetscInt ntrial,
                                               const PetscInt trial[], HopsFaceForm *);
PETSC_INTERN PetscErrorCode HopsFaceFormDestroy(HopsFaceForm *);
/* functions of a form, with what they are */
typedef struct {
  PetscInt          n;
  HopsPointSubject *subject;
} HopsSubjects;
PETSC_INTERN PetscErrorCode HopsSubjectsAdd(HopsSubjects *, PetscInt n, HopsVoidFn *, HopsPointKind, PetscInt size);
/* appends all boundary Jacobian functions */
PETSC_INTERN PetscErrorCode HopsFaceFormCollect(DM, HopsFields, HopsSubjects *);
/* src/form/ds/faceds.c: appends the boundary Jacobians g0 of a field's component as coefficients; those with
   derivatives are refused */
PETSC_INTERN PetscErrorCode HopsFormAddBoundaryDS(HopsForm, HopsJacobian, PetscInt component);
PETSC_INTERN PetscErrorCode HopsFaceContextDestroy(void *); /* of such coefficients, which it tells from others */
/* drops what depends on the rule */
PETSC_INTERN PetscErrorCode HopsFaceFormResetRule(HopsFaceForm);
/* What functions of the boundary see of fields and auxiliary fields at the points of a face: [q][..] */
typedef struct {
  HopsAux      aux;
  PetscScalar *u, *ux, *ut, *utx, *a, *ax;
} HopsFaceValues;
/* bases of all fields; X and Xt, local vectors, may be NULL; single: see HopsFieldPoints */
PETSC_INTERN PetscErrorCode HopsFaceValuesCreate(DM, HopsFields, Vec X, Vec Xt, PetscBool single, DMLabel, PetscInt auxvalue,
                                                 PetscInt cell, PetscInt face, const HopsFaceBasis[], const PetscReal J[],
                                                 HopsFaceValues *);
PETSC_INTERN PetscErrorCode HopsFaceValuesDestroy(HopsFaceValues *);
/* g[k][q][..] (see HopsJacobian) at the points of a face with this geometry; g[k] may be NULL; bases of all
   fields */
PETSC_INTERN PetscErrorCode HopsFaceTermEvaluate(HopsJacobian, HopsFaceTerm, HopsSpace, PetscInt cell, PetscInt face,
                                                 PetscBool single, const HopsFaceBasis[], const PetscReal x[],
                                                 const PetscReal normal[], const PetscReal J[], PetscReal *const g[4]);
/* The same of all faces of a term, where a device evaluates it: else done is false. To the process's
   memory */
PETSC_INTERN PetscErrorCode HopsFaceTermEvaluateDevice(HopsFaceForm, HopsFaceTerm, const HopsBasis *, PetscReal *const g[4],
                                                       PetscBool *done);

/* src/mat/pa/patensorface.c: their quadrature data */
PETSC_INTERN PetscErrorCode HopsFaceFormSetUp(HopsFaceForm, const HopsBasis *);
