/* The DMPlex front end's own declarations. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <petscfe.h>

/*
  The closure of the reference cell: for each entry its depth and the reference corners (0 or 1 per direction)
  of its vertices, in the order in which the cell sees them. A quadrilateral sees the vertices of a face with
  orientation o as own[(k+o) mod 4] for o >= 0 and own[(2-o-k) mod 4] for o < 0; an edge is reversed if o < 0.
*/
typedef struct {
  PetscInt dim, n; /* n entries: the cell, its faces, edges, vertices */
  PetscInt depth[27];
  PetscInt corner[27][4][3]; /* corner[i][k][d]: reference corner (0 or 1) of vertex k of entry i, as the cell sees it */
} HopsPlexClosure;

static inline PetscInt HopsQuadVertex(PetscInt o, PetscInt k)
{
  return o >= 0 ? (k + o) % 4 : (6 - o - k) % 4;
}

PETSC_INTERN PetscErrorCode HopsPlexGetFENodes(PetscFE, PetscInt dim, PetscInt *order, PetscInt *nc, PetscInt *node[]);
PETSC_INTERN PetscErrorCode HopsPlexClosureCreate(PetscInt dim, HopsPlexClosure *);
PETSC_INTERN PetscInt       HopsPlexClosureNode(const HopsPlexClosure *, PetscInt order, PetscInt i, PetscInt o, PetscInt t);
/* the cells that this rank computes on (no overlap), checked to be quads or hexes: sets dim-dependent sizes,
   cell[], ncells */
PETSC_INTERN PetscErrorCode HopsPlexGetCells(DM, HopsSpace);
PETSC_INTERN PetscErrorCode HopsPlexGetGeometry(DM, HopsSpace);
/* a space on the mesh's cells: checks the DM and its only field, and sets all that does not depend on a
   numbering */
PETSC_INTERN PetscErrorCode HopsSpaceCreateFE_Private(DM, HopsSpace *, PetscInt *nc, PetscInt *node[]);
/* numbers a space by a section's unknowns; elist holds their local offsets */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpPlex(HopsSpace, PetscSection, const PetscInt elist[]);
/* the local section, to be destroyed, with the symmetries of its edges and faces */
PETSC_INTERN PetscErrorCode HopsPlexGetSection(DM, PetscSection *);
/* HopsSpaceCreateH1() with a list of essential points, ess[p - pStart] */
PETSC_INTERN PetscErrorCode HopsSpaceCreateH1Points(DM, PetscInt order, const PetscBool ess[], HopsSpace *);
/* the maps of a refined mesh from those of its coarse DM */
PETSC_INTERN PetscErrorCode HopsPlexRefineGeometry(DM, HopsSpace);
PETSC_INTERN PetscErrorCode HopsCheckPlex(DM, PetscInt *dim);
/* cl[ncells][2 n]: points and orientations in the closures of the space's cells */
PETSC_INTERN PetscErrorCode HopsPlexGetClosures(DM, HopsSpace, PetscInt n, PetscInt *cl[]);
PETSC_INTERN PetscErrorCode HopsPlexCreateSection(DM, HopsSpace, PetscInt ncl, const PetscInt cl[], const PetscBool ess[],
                                                  PetscSection *);
/* ess[p - pStart]: NULL for the points in the closure of the label's values */
PETSC_INTERN PetscErrorCode HopsPlexEssentialPoints(DM, DMLabel, PetscInt nv, const PetscInt values[], PetscInt pStart,
                                                    PetscInt pEnd, PetscBool *ess[]);
