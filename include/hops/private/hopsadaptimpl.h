/* Adaptivity: facets between cells, also where they hang and between ranks; fluxes in cells. */
#pragma once
#include <hops/private/hopshanging.h>
#include <hops/private/hopsformimpl.h>
#include <hops/private/hopsmatimpl.h>

/*
  Points of a facet are numbered in its frame, which is the same from both sides: it begins at the corner with
  the smallest name, and in 3D its first direction goes to the neighbour with the smaller name. A frame is the
  place of that corner (bits of the facet's own directions) and, as bit 2, whether the directions are
  exchanged. Halves of a facet, quarters in 3D, are numbered in the frame of the whole one.

  From number k in the frame, n points per direction, to the number in the cell's own directions:
*/
static inline PetscInt HopsFrameToOwn(PetscInt dim, PetscInt frame, PetscInt n, PetscInt k)
{
  PetscInt a[2] = {k % n, k / n};

  if (dim == 2) return frame & 1 ? n - 1 - k : k;
  if (frame & 4) {
    a[0] = k / n;
    a[1] = k % n;
  }
  for (PetscInt d = 0; d < 2; ++d)
    if (frame >> d & 1) a[d] = n - 1 - a[d];
  return a[0] + n * a[1];
}

/* One side of a piece of a facet: what lies between two cells, or a cell and the boundary. Where a facet
   hangs, its parent's other side has one side for each part */
typedef struct {
  PetscInt  cell, face; /* of the space; 2d (lower) or 2d + 1 (upper) */
  PetscInt  part;       /* bits: upper half in the facet's own directions; -1: the whole facet */
  PetscInt  frame;
  PetscBool boundary;
} HopsFacetSide;

/* All sides of a rank's cells, cell by cell. others: leaves are sides that have another one, the roots */
typedef struct {
  PetscInt       n;
  HopsFacetSide *side;  /* [n] */
  PetscInt      *start; /* [ncells + 1] */
  PetscSF        others;
} HopsFacetSides;

/* src/adapt/facets.c. nodes: the space of all nodes of the cells, cell c of the space is where[c] there */
PETSC_INTERN PetscErrorCode HopsSpaceGetAllNodes(HopsSpace, HopsSpace *nodes, PetscInt *where[]);
PETSC_INTERN PetscErrorCode HopsFacetSidesCreate(HopsSpace, HopsSpace nodes, const PetscInt where[], HopsFacetSides *);
PETSC_INTERN PetscErrorCode HopsFacetSidesDestroy(HopsFacetSides *);

/*
  A function u and its flux kappa grad u at tensor-product points of cells. Rule 0 has the ends of [-1,1] and
  Q Gauss points; rule 1 the ends, the middle, and the Q points of either half. Arrays have room for either.
*/
typedef struct {
  HopsSpace       sp;
  const PetscInt *order;       /* [ncells] of the cells, or NULL: that of the space */
  HopsForm        form;        /* whose Robin terms are on the boundary */
  HopsCoefficient kappa, mass; /* mass may be NULL */
  HopsHanging     hang;
  HopsBasis       rule[2], geom[2], middle; /* of the element maps: at the middle of a cell */
  HopsMapKind     kind;
  PetscInt        Q;
  PetscReal      *weight;               /* [Q] */
  PetscReal      *xg;                   /* the L-vector's part behind x */
  PetscReal      *u, *v, *grad, *work;  /* [ne], [nq], [dim][nq] */
  PetscReal      *x, *J, *Ji, *det, *F; /* [nq][dim], [nq][dim^2] twice, [nq], [nq][dim] */
  size_t          size[2];
  PetscReal      *values[2];
  HopsValues      k, m; /* of the last cell */
} HopsFlux;

/* src/adapt/flux.c */
PETSC_INTERN PetscErrorCode HopsFluxCreate(HopsForm, const PetscReal x[], HopsFlux *);
PETSC_INTERN PetscErrorCode HopsFluxDestroy(HopsFlux *);
/* fills u, v, x, Ji, det and F in a cell at points of a rule, and k, m */
PETSC_INTERN PetscErrorCode HopsFluxCell(HopsFlux *, PetscInt cell, const HopsBasis *rule, const HopsBasis *geom,
                                         const PetscReal x[]);
/* F = K g, K a scalar, a diagonal or the upper triangle of a tensor */
PETSC_INTERN void HopsMultiplyTensor(PetscInt dim, PetscInt nc, const PetscReal K[], const PetscReal g[], PetscReal F[]);
/* largest distance of two of n corners */
PETSC_INTERN PetscReal HopsDiameter(PetscInt dim, PetscInt n, const PetscReal *const corner[]);

/* eta2[ncells] += squares of the estimates; src/adapt/jumps.c, src/adapt/recover.c. why[]: what is refused */
PETSC_INTERN PetscErrorCode HopsEstimateJumps(HopsSpace, HopsFlux *, const HopsFacetSides *, const PetscReal x[],
                                              PetscBool residual, HopsPointFunction f, HopsPointFunction flux, void *ctx,
                                              PetscReal eta2[]);
PETSC_INTERN PetscErrorCode HopsEstimateRecovered(HopsSpace, HopsFlux *, HopsSpace nodes, const PetscInt where[],
                                                  const PetscReal x[], PetscReal eta2[], char why[]);

/* src/adapt/estimate.c */
/* HopsSpaceEstimateError() of cells that have orders of their own, or NULL */
PETSC_INTERN PetscErrorCode HopsEstimateError_Private(HopsSpace, const PetscInt order[], Mat, Vec x, HopsEstimateType,
                                                      HopsPointFunction f, HopsPointFunction flux, void *ctx, Vec eta);
/* the form of an operator that has an energy: with a diffusion */
PETSC_INTERN PetscErrorCode HopsGetEnergy(HopsSpace, Mat, const char what[], HopsForm *);
