/* The DMPlex front end's own declarations. */
#pragma once
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsmeshimpl.h>
#include <petscfe.h>

/*
  The closure of the reference cell: for each entry its depth and the reference corners (0 or 1 per direction)
  of its vertices, in the order in which the cell sees them. A quadrilateral sees the vertices of a face with
  orientation o as own[(k+o) mod 4] for o >= 0 and own[(2-o-k) mod 4] for o < 0; an edge is reversed if o < 0.
*/
typedef struct {
  PetscInt          dim, n; /* n entries: the cell, its faces, edges, vertices */
  PetscInt          depth[27];
  PetscInt          corner[27][4][3]; /* corner[i][k][d]: reference corner (0 or 1) of vertex k of entry i, as the cell sees it */
  PetscInt          nedges;
  HopsClosureTables tables;
} HopsPlexClosure;

static inline PetscInt HopsQuadVertex(PetscInt o, PetscInt k)
{
  return o >= 0 ? (k + o) % 4 : (6 - o - k) % 4;
}

/* edge k joins the vertices k and k+1; for o < 0 the cell sees it reversed */
static inline PetscInt HopsQuadEdge(PetscInt o, PetscInt k)
{
  return o >= 0 ? (k + o) % 4 : (5 - o - k) % 4;
}

/* The cells of a mesh that this rank computes on, with the points and orientations in their closures, as
   DMPlexGetTransitiveClosure() has them; spaces on one mesh share it. The closures are where the back end
   that made them works, and in the process's memory once HopsPlexCellsBring() was called */
struct _n_HopsPlexCells {
  PetscInt              refct, dim;
  PetscInt              cstart, ncaller; /* cells of the DM */
  PetscInt              ncells, *cell;   /* [ncells] without those of an overlap, ascending */
  PetscInt             *where;           /* [ncaller] their places in cell[], or -1 */
  HopsPlexClosure       ref;
  PetscInt             *point; /* [ncells][ref.n] */
  signed char          *ornt;  /* [ncells][ref.n] */
  const HopsBackendOps *backend;
  PetscInt             *bpoint; /* point[] and ornt[] there */
  signed char          *bornt;
  /* are there cells with hanging nodes, on any rank? Then of this rank's the masks (hopshanging.h), and the
     points whose unknowns they see: parents where nodes hang. Else NULL, and these are point[] and ornt[] */
  PetscBool       hanging;
  unsigned short *hang;
  PetscInt       *upoint;
  signed char    *uornt;
};

/* The unknowns of a section in the closures of the cells, in the order of DMPlexGetClosureIndices() */
typedef struct {
  DM                 dm; /* the first three are borrowed */
  PetscSection       s;
  HopsPlexCells      cells;
  const PetscInt    *point; /* those of the cells; of coordinates their own, else where their unknowns are */
  const signed char *ornt;
  PetscInt           size;                     /* unknowns of a cell, 0 on a rank without cells */
  PetscInt           nlist, list[27], dof[27]; /* entries with unknowns, and how many */
  PetscInt           maxdof, pStart, np;
  PetscInt          *off;   /* [np] points: the first unknown, or -1 where there is another number of them */
  PetscInt          *place; /* [nlist][orientation + 4][maxdof] place in the cell's unknowns, where */
  PetscBool          known[27][8];
} HopsPlexUnknowns;

/* The faces of a label's value as HopsSpaceGetLabelFaces() has them, of any space with cells of the DM;
   ninner, if it is not NULL: those that lie between a cell of this rank and another one */
PETSC_INTERN PetscErrorCode HopsPlexGetLabelFaces(DM, HopsSpace, DMLabel, PetscInt value, PetscInt *n, PetscInt *cells[],
                                                  PetscInt *faces[], PetscInt *ninner);

/* Which values a vector had when something was made of them */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state;
  PetscInt64       hash; /* of all bits: PETSc counts accesses that change nothing as changes of state */
} HopsVecKey;
/* of n numbers, bit by bit; h is 0 at first */
PETSC_INTERN PetscInt64 HopsHashBits(size_t size, const void *, PetscInt64 h);
/* Has the vector, which may be NULL, others than the key's? It becomes that of now. Not collective */
PETSC_INTERN PetscErrorCode HopsVecChanged(Vec, HopsVecKey *, PetscBool *changed);
/* The same for a DM's coordinates, on any rank. Collective */
PETSC_INTERN PetscErrorCode HopsPlexCoordinatesChanged(DM, HopsVecKey *, PetscBool *changed);

/* own: of the cells' own points, as coordinates are; else of their parents' where nodes hang */
PETSC_INTERN PetscErrorCode HopsPlexUnknownsCreate(DM, PetscSection, HopsPlexCells, PetscBool own, HopsPlexUnknowns *);
PETSC_INTERN PetscErrorCode HopsPlexUnknownsDestroy(HopsPlexUnknowns *);
/* idx[size] of cells->cell[c]; n is not `size` where the cell has another number of unknowns */
PETSC_INTERN PetscErrorCode HopsPlexUnknownsGet(HopsPlexUnknowns *, PetscInt c, PetscInt idx[], PetscInt *n);
/* the first cell that has another number of unknowns than cell 0, or -1 */
PETSC_INTERN PetscInt HopsPlexUnknownsDiffer(const HopsPlexUnknowns *);
/* For all cells at once: how they see unknowns is known, and each has `size` of them. Others are an error
   where `expected` is not that: the number which `what` has */
PETSC_INTERN PetscErrorCode HopsPlexUnknownsSetUp(HopsPlexUnknowns *, PetscInt expected, const char what[]);
/* the entries of a closure with unknowns, and how many times nc of them a point has */
PETSC_INTERN void HopsPlexUnknownsNumbered(const HopsPlexUnknowns *, PetscInt nc, HopsNumbering *);
/* Rows of ne entries: entry[size] where unknown i of a cell is, or -1; nc unknowns of a point are one of the
   view. PetscFree() slot and seen */
PETSC_INTERN PetscErrorCode HopsPlexUnknownsView(const HopsPlexUnknowns *, PetscInt nc, PetscInt ne, const PetscInt entry[],
                                                 HopsCellView *);
/* rows[n][ne] of the cells perm[n], as Restrict() has them, in new memory where the back end works, of a view
   whose points begin at first[np] */
PETSC_INTERN PetscErrorCode HopsPlexUnknownsRows(const HopsPlexUnknowns *, const HopsBackendOps *, const PetscInt first[],
                                                 const HopsCellView *, PetscInt n, const int perm[], int **rows);
/* the back end whose passes serve another one: the same, or the host */
static inline const HopsBackendOps *HopsMeshBackend(const HopsBackendOps *be)
{
  return be->mesh ? be : &HopsBackendHost;
}
/* whose passes set up a space: with hanging nodes the host's, which know parents */
static inline const HopsBackendOps *HopsSpaceMeshBackend(HopsSpace sp)
{
  return sp->hanging ? &HopsBackendHost : sp->backend;
}
/* cells, strata and closures, these where the back end that has the passes works; all else is zero */
PETSC_INTERN PetscErrorCode HopsNumberingBegin(DM, HopsPlexCells, const HopsBackendOps *, HopsNumbering *);
PETSC_INTERN PetscErrorCode HopsPlexGetFENodes(PetscFE, PetscInt dim, PetscInt *order, PetscInt *nc, PetscInt *node[]);
PETSC_INTERN PetscErrorCode HopsPlexClosureCreate(PetscInt dim, HopsPlexClosure *);
PETSC_INTERN PetscInt       HopsPlexClosureNode(const HopsPlexClosure *, PetscInt order, PetscInt i, PetscInt o, PetscInt t);
/* refuses meshes of other cells than quadrilaterals or hexahedra; closures are made by this back end, or by
   the host where it cannot; collective */
PETSC_INTERN PetscErrorCode HopsPlexCellsCreate(DM, PetscInt dim, const HopsBackendOps *, HopsPlexCells *);
/* point[] and ornt[] are in the process's memory; to be called before they are read there */
PETSC_INTERN PetscErrorCode HopsPlexCellsBring(HopsPlexCells);
/* bpoint[] and bornt[] are where this back end's passes over a mesh, or the host's, work */
PETSC_INTERN PetscErrorCode HopsPlexCellsMove(HopsPlexCells, const HopsBackendOps *);
/* a space on these cells, or, where NULL, on those of the DM */
PETSC_INTERN PetscErrorCode HopsSpaceSetCells(HopsSpace, DM, HopsPlexCells);
PETSC_INTERN PetscErrorCode HopsPlexGetGeometry(DM, HopsSpace);
/* corner[ncaller][2^dim][dim] of cells with straight edges; in a periodic mesh of a cell's own coordinates */
PETSC_INTERN PetscErrorCode HopsPlexGetCellCorners(DM, HopsPlexCells, PetscReal corner[]);
/* src/space/plex/plextree.c: hanging nodes of a DMPlex with a tree. Of the cells; of a space with these
   cells, in their order; perm[] and that with it sorted by masks; what is known once there are numbers and
   maps. Collective */
PETSC_INTERN PetscErrorCode HopsPlexCellsSetTree(DM, HopsPlexCells);
PETSC_INTERN PetscErrorCode HopsSpaceSetTree(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceFixTree(HopsSpace); /* points that hang, or that no cell has, join fixed[] */
PETSC_INTERN PetscErrorCode HopsSpaceSortTree(HopsSpace, int perm[]);
PETSC_INTERN PetscErrorCode HopsSpaceFinishTree(HopsSpace);
/* a space on the mesh's cells: checks the DM and its only field, and sets all that depends neither on a
   numbering nor on coordinates */
PETSC_INTERN PetscErrorCode HopsSpaceCreateFE_Private(DM, HopsSpace *, PetscInt *nc, PetscInt *node[]);
PETSC_INTERN PetscErrorCode HopsSpaceSetRange(HopsSpace); /* rstart and N from nT; collective */
/* Numbers a space by a section with one unknown a node, that of sp->dm; nc unknowns of the other one, which
   HopsPlexUnknownsSetUp() was called for, are a node, and node[] their places in a cell. first[points],
   which may be NULL, is where the nodes of points begin in an L-vector, or -1 (PetscFree() it); itself NULL
   where they do not follow one another */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpPlex(HopsSpace, PetscSection, const HopsPlexUnknowns *, PetscInt nc,
                                               const PetscInt node[], PetscInt *first[]);
/* the local section, to be destroyed, with the symmetries of its edges and faces */
PETSC_INTERN PetscErrorCode HopsPlexGetSection(DM, PetscInt order, PetscSection *);
/* the maps of a refined mesh from those of its coarse DM */
PETSC_INTERN PetscErrorCode HopsPlexRefineGeometry(DM, HopsSpace);
/* the DM itself, or the mesh of a DMForest, whose vectors are the forest's (borrowed); NULL of any other DM.
   Collective */
PETSC_INTERN PetscErrorCode HopsDMGetPlex(DM, DM *plex);
/* the same; any other DM is refused */
PETSC_INTERN PetscErrorCode HopsCheckPlex(DM, DM *plex, PetscInt *dim);
/* the points, ascending, in the closures of the label's values; collective */
PETSC_INTERN PetscErrorCode HopsPlexEssentialPoints(DM, DMLabel, PetscInt nv, const PetscInt values[], PetscInt *n,
                                                    PetscInt *points[]);
/* the same for those that hold essential unknowns of a space */
PETSC_INTERN PetscErrorCode HopsSpaceGetEssentialPoints(HopsSpace, PetscInt *n, PetscInt *points[]);
/* those with mark[p - pStart]; points of other ranks take what their owners have. The marks change;
   collective */
PETSC_INTERN PetscErrorCode HopsPlexSharePoints(DM, signed char mark[], PetscInt *n, PetscInt *points[]);
/* the same, with their closures, of np points from pStart on, where a rank that has a point may have marked
   it; points[] is NULL or of PetscMalloc(). Collective */
PETSC_INTERN PetscErrorCode HopsPlexShareClosures(DM, PetscInt pStart, PetscInt np, signed char mark[], PetscInt *n,
                                                  PetscInt *points[]);
/* hops' own numbering: restr[], the order of the cells, ghosts and halo; the points sp->fixed[] are
   essential; collective */
PETSC_INTERN PetscErrorCode HopsPlexNumber(HopsSpace, const HopsLayout *);
/* The same by a section and its global one, for HopsSpaceSetUpPlex(), once the T-vector's range is set.
   done is false where a point has both essential and other unknowns. Collective only where it is done on
   all ranks, or HopsSpaceSetUpNumbering() on the others */
PETSC_INTERN PetscErrorCode HopsPlexNumberSection(HopsSpace, PetscSection, PetscSection, const HopsPlexUnknowns *, PetscInt nc,
                                                  const HopsCellView *, PetscInt *first[], PetscBool *done);
/* E-vector entry, -1-entry where the cell sees the opposite sign, of each of the dof unknowns of entry i of
   the closure seen with orientation o */
PETSC_INTERN void HopsPlexEntryRow(const HopsPlexClosure *, const HopsLayout *, HopsFamily, PetscInt order, PetscInt i, PetscInt o,
                                   PetscInt dof, PetscInt row[]);
