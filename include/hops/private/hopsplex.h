/* The DMPlex front end's own declarations. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <petscfe.h>

typedef struct {
  PetscInt dim, n; /* n entries: the cell, its faces, edges, vertices */
  PetscInt depth[27];
  PetscInt corner[27][4][3]; /* corner[i][k][d]: reference corner (0 or 1) of vertex k of entry i, as the cell sees it */
} HopsPlexClosure;

PETSC_INTERN PetscErrorCode HopsPlexGetFENodes(PetscFE, PetscInt dim, PetscInt *order, PetscInt *nc, PetscInt *node[]);
PETSC_INTERN PetscErrorCode HopsPlexClosureCreate(PetscInt dim, HopsPlexClosure *);
PETSC_INTERN PetscInt       HopsPlexClosureNode(const HopsPlexClosure *, PetscInt order, PetscInt i, PetscInt o, PetscInt t);
/* the cells that this rank computes on (no overlap), checked to be quads or hexes: sets dim-dependent sizes, cell[], ncells */
PETSC_INTERN PetscErrorCode HopsPlexGetCells(DM, HopsSpace);
PETSC_INTERN PetscErrorCode HopsPlexGetGeometry(DM, HopsSpace);
/* a space on the mesh's cells: checks the DM and its only field, and sets all that does not depend on a numbering */
PETSC_INTERN PetscErrorCode HopsSpaceCreateFE_Private(DM, HopsSpace *, PetscInt *nc, PetscInt *node[]);
/* numbers a space by a section's unknowns; elist holds their local offsets */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpPlex(HopsSpace, PetscSection, const PetscInt elist[]);
/* the local section, to be destroyed, with the symmetries of its edges and faces */
PETSC_INTERN PetscErrorCode HopsPlexGetSection(DM, PetscSection *);
/* HopsSpaceCreateH1() with a list of essential points, ess[p - pStart] */
PETSC_INTERN PetscErrorCode HopsSpaceCreateH1Points(DM, PetscInt order, const PetscBool ess[], HopsSpace *);
/* the maps of a refined mesh from those of its coarse DM */
PETSC_INTERN PetscErrorCode HopsPlexRefineGeometry(DM, HopsSpace);
