/* What a DMPlex code's PetscDS says: regions, their Jacobian functions, and auxiliary fields at the points of a basis. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <petscds.h>

/* The Jacobian functions that PETSc's assembly evaluates on a region: those of the key (label, 1), or of no label for the whole mesh */
typedef struct {
  DMLabel       label;
  PetscInt      value;
  PetscDS       ds;
  PetscInt      n[4];
  HopsPointJac *g[4]; /* functions of one kind add up */
} HopsRegion;

/* Auxiliary fields at the points of a basis: values and physical gradients of all components, in the order of the aux DS */
typedef struct {
  DM               dm;
  Vec              v;
  PetscDS          ds;
  DMEnclosureType  enclosure;
  PetscInt         nf, nc, *off, *offx;
  PetscTabulation *tab;
} HopsAux;

PETSC_INTERN PetscErrorCode HopsRegionGet(DM, PetscInt s, HopsRegion *);
/* the region of a cell, or -1: PETSc then adds nothing there */
PETSC_INTERN PetscErrorCode HopsRegionOfCell(DM, PetscInt cell, PetscInt *region);
/* refuses Jacobian functions under other keys than the region's: they are not part of what PETSc's assembly evaluates */
PETSC_INTERN PetscErrorCode HopsRegionCheckKeys(PetscDS, DMLabel);
PETSC_INTERN PetscErrorCode HopsAuxCreate(DM, DMLabel, PetscInt value, PetscInt cell, PetscInt nq, const PetscReal xi[], HopsAux *);
PETSC_INTERN PetscErrorCode HopsAuxDestroy(HopsAux *);
/* a[q][nc], ax[q][nc*dim] on one cell; J[q][dim*dim] are the Jacobians there */
PETSC_INTERN PetscErrorCode HopsAuxEvaluate(const HopsAux *, DM, PetscInt cell, PetscInt dim, PetscInt nq, const PetscReal J[], PetscScalar a[], PetscScalar ax[]);

/*
  The pointwise Jacobian of a field of nc components at the points of a run of cells, as the PetscDS functions give it:
  g[0][..][c][c'], g[1][..][c][c'][d'], g[2][..][c][c'][d], g[3][..][c][c'][d][d'] with c, d the component and direction of the test
  function and c', d' those of the trial function; g[k] is left alone where has[k] is false.
*/
typedef struct _HopsTensorForm *HopsTensorForm;
struct _HopsTensorForm {
  PetscInt  nc;
  PetscBool has[4];
  void     *ctx;
  PetscErrorCode (*evaluate)(HopsTensorForm, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *, const PetscReal x[], const PetscReal J[], PetscScalar *const g[4]);
  PetscErrorCode (*destroy)(HopsTensorForm);
};
PETSC_INTERN PetscErrorCode HopsTensorFormDestroy(HopsTensorForm *);
/* from the DM's PetscDS; terms that depend on the solution are refused */
PETSC_INTERN PetscErrorCode HopsTensorFormCreateDS(DM, PetscInt nc, PetscBool ignoreconvection, HopsTensorForm *);
/* src/fe/spacenodes.c */
PETSC_INTERN PetscErrorCode HopsSpaceCreateNodes(DM, HopsSpace *, PetscInt *nc, PetscInt *map[], unsigned char *isfree[]);
