/* The spaces H1, H(curl), H(div) and L2 on one mesh: layout of a cell's unknowns, incidence, Piola maps. */
#pragma once
#include <hops/private/hopsimpl.h>

/*
  Unknowns of a cell of order p, on the lattice of its (p+1)^dim Gauss-Lobatto points: values at lattice
  points (H1), line integrals over lattice edges (H(curl)), fluxes through lattice faces (H(div)), integrals
  over lattice cells (L2). The E-vector has one component after the other, x fastest; component c has n[c][d]
  entries in direction d: p where the entity extends in that direction (open, the edge functions), p+1
  elsewhere (closed, the Lagrange polynomials). H(curl)'s component c extends in direction c, H(div)'s in the
  others. Edges and normals point in the directions of the reference coordinates.

  Order 2 in 2D; H(curl): x--0--x--1--x   H(div): .--6--.--7--.
                          6     7     8           0     1     2
                          x--2--x--3--x           .--8--.--9--.       (eta points downwards here)
                          9    10    11           3     4     5
                          x--4--x--5--x           .-10--.-11--.
*/
typedef struct {
  PetscInt  nc, ne;     /* components; entries of all components */
  PetscInt  n[3][3];    /* [nc][3] entries per direction, 1 in the third direction in 2D */
  PetscInt  off[4];     /* start of each component */
  PetscBool open[3][3]; /* [nc][dim] */
} HopsLayout;

static inline void HopsLayoutCreate(HopsFamily family, PetscInt dim, PetscInt order, HopsLayout *l)
{
  l->nc     = family == HOPS_HCURL || family == HOPS_HDIV ? dim : 1;
  l->off[0] = 0;
  for (PetscInt c = 0; c < l->nc; ++c) {
    for (PetscInt d = 0; d < 3; ++d) {
      const PetscBool o =
        (family == HOPS_L2 || (family == HOPS_HCURL && c == d) || (family == HOPS_HDIV && c != d)) ? PETSC_TRUE : PETSC_FALSE;

      l->open[c][d] = o;
      l->n[c][d]    = d < dim ? (o ? order : order + 1) : 1;
    }
    l->off[c + 1] = l->off[c] + l->n[c][0] * l->n[c][1] * l->n[c][2];
  }
  l->ne = l->off[l->nc];
}

static inline PetscInt HopsLayoutEntry(const HopsLayout *l, PetscInt c, const PetscInt ijk[3])
{
  return l->off[c] + ijk[0] + l->n[c][0] * (ijk[1] + l->n[c][1] * ijk[2]);
}

/* an entry of `restr`: the L-vector index, and whether the cell sees the unknown with the opposite sign */
static inline PetscInt HopsUnsigned(int l)
{
  return l < 0 ? -1 - l : l;
}

static inline PetscReal HopsSign(int l)
{
  return l < 0 ? -1.0 : 1.0;
}

/* L-vector entry l where owned entries, ghosts and constrained ones lie apart; NULL without its part */
static inline PetscReal *HopsLEntry(HopsSpace sp, PetscInt l, PetscReal x[], PetscReal g[], PetscReal cv[])
{
  if (l < sp->nT) return x ? x + l : NULL;
  if (l < sp->nT + sp->nG) return g ? g + l - sp->nT : NULL;
  return cv ? cv + l - sp->nT - sp->nG : NULL;
}

/* dimension of the lattice entities whose integrals are the unknowns */
static inline PetscInt HopsFamilyForm(HopsFamily family, PetscInt dim)
{
  return family == HOPS_H1 ? 0 : (family == HOPS_HCURL ? 1 : (family == HOPS_HDIV ? dim - 1 : dim));
}

/* unknowns inside a mesh point of depth d: k-dimensional lattice entities in the interior of a d-dimensional
   cube */
static inline PetscInt HopsFamilyDof(HopsFamily family, PetscInt dim, PetscInt order, PetscInt d)
{
  const PetscInt k        = HopsFamilyForm(family, dim);
  PetscInt       binomial = 1;

  if (k > d) return 0;
  for (PetscInt i = 0; i < k; ++i) binomial = binomial * (d - i) / (i + 1);
  return binomial * HopsPower(order, k) * HopsPower(order - 1, d - k);
}

/* a field's reference components from physical ones and back; J row-major, Ji its inverse */
static inline void HopsPiola(HopsFamily family, PetscInt dim, const PetscReal J[], const PetscReal Ji[], PetscReal det,
                             const PetscReal ref[], PetscReal u[])
{
  if (family == HOPS_H1) u[0] = ref[0];
  else if (family == HOPS_L2) u[0] = ref[0] / det;
  else
    for (PetscInt i = 0; i < dim; ++i) {
      u[i] = 0.0;
      for (PetscInt a = 0; a < dim; ++a) u[i] += family == HOPS_HCURL ? Ji[a * dim + i] * ref[a] : J[i * dim + a] * ref[a] / det;
    }
}

/* rows of a derivative on a cell: row i is sum_k sgn[6 i + k] e_{col[6 i + k]}, k < n[i] */
typedef struct {
  PetscInt   nrows;
  PetscInt  *n, *col;
  PetscReal *sgn;
} HopsIncidence;

PETSC_INTERN PetscErrorCode HopsIncidenceCreate(HopsFamily from, HopsFamily to, PetscInt dim, PetscInt order, HopsIncidence *);
/* the same form: the mean of a field of H1 over the corners of an entry of `to`, other than L2 */
PETSC_INTERN PetscErrorCode HopsIncidenceCreateMean(HopsFamily to, PetscInt dim, PetscInt order, HopsIncidence *);
PETSC_INTERN PetscErrorCode HopsIncidenceDestroy(HopsIncidence *);
/* is there a derivative between the families, in this dimension? */
PETSC_INTERN PetscBool HopsFamilyHasDerivative(HopsFamily from, HopsFamily to, PetscInt dim);
/* values at a point of the tensor of a term int b u v in a family: the upper triangle by rows, or a scalar */
static inline int HopsFamilyTensorSize(HopsFamily family, int dim)
{
  return family == HOPS_L2 ? 1 : dim * (dim + 1) / 2;
}

/* the family of curl u for H(curl), of div u for H(div) */
static inline HopsFamily HopsFamilyDerivative(HopsFamily family, PetscInt dim)
{
  return family == HOPS_H1 ? HOPS_HCURL : (family == HOPS_HCURL && dim == 3 ? HOPS_HDIV : HOPS_L2);
}

/* src/space/arrays/spacearrays.c, spacearraycheck.c: spaces from arrays */
PETSC_INTERN PetscErrorCode HopsSpaceCreateArrays_Private(MPI_Comm, HopsFamily, PetscInt dim, PetscInt order, PetscInt ncells,
                                                          PetscInt n, const PetscInt unknowns[], PetscInt gorder,
                                                          const PetscReal coords[], const unsigned short masks[], PetscInt ness,
                                                          const PetscInt ess[], PetscBool check, HopsSpace *);
/* src/space/arrays/hangingcheck.c: masks of the caller's cells become hang[], in the normal form;
   collective */
PETSC_INTERN PetscErrorCode HopsArraysSetMasks(HopsSpace, const unsigned short masks[], PetscBool check);
/* What sizes follow from is the same on all ranks, before a rank alone finds it wrong. Collective */
PETSC_INTERN PetscErrorCode HopsArraysCheckSame(MPI_Comm, PetscInt dim, PetscInt order, PetscInt gorder);
/* a space on the same cells, so many of whose unknowns are this rank's, to be numbered */
PETSC_INTERN PetscErrorCode HopsSpaceCopyCells_Private(HopsSpace, PetscInt, HopsSpace *);
PETSC_INTERN PetscErrorCode HopsSpaceCreateFree_Private(HopsSpace, HopsSpace *); /* without essential unknowns in the vectors */
/* on a DMPlex with hops' own numbering; the DM's cells may be given, or NULL. Essential is the boundary of a
   label, or, where it is not NULL, points[nv] */
PETSC_INTERN PetscErrorCode HopsSpaceCreatePlex_Private(DM, HopsPlexCells, HopsFamily, PetscInt order, DMLabel, PetscInt nv,
                                                        const PetscInt values[], const PetscInt points[], HopsSpace *);

/* the error for consumers that know H1 alone */
PETSC_INTERN PetscErrorCode HopsSpaceCheckH1(HopsSpace, const char what[]);

/* src/space/spacefuncderham.c: the functions of spacefunc.c for families other than H1 */
PETSC_INTERN PetscErrorCode HopsFieldMoments(HopsSpace, HopsRealFunction, void *ctx, PetscReal x[], PetscReal g[], PetscReal cv[]);
PETSC_INTERN PetscErrorCode HopsFieldComputeRHS(HopsSpace, PetscInt part, HopsRealFunction, void *ctx, Vec);
PETSC_INTERN PetscErrorCode HopsFieldComputeL2Error(HopsSpace, Vec, PetscInt part, HopsRealFunction, void *ctx, PetscReal *square);
/* src/space/spacefuncdevice.c: the same for all families where the function is compiled, by Q Gauss points
   per direction; not done where it is not */
PETSC_INTERN PetscErrorCode HopsSpaceComputeRHSDevice(HopsSpace, HopsPointFunction, void *ctx, PetscInt Q, Vec, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsSpaceComputeL2ErrorDevice(HopsSpace, HopsPointFunction, void *ctx, PetscInt Q, Vec, PetscReal *,
                                                          PetscBool *done);
/* out = (M[dim-1] x ... x M[0]) in, M[d] m[d]-by-n[d] row-major; work: 2 prod_d max(m[d],n[d]) entries */
PETSC_INTERN void HopsTensorApplyRect(PetscInt dim, const PetscInt m[], const PetscInt n[], const PetscReal *const M[],
                                      const PetscReal in[], PetscReal out[], PetscReal work[]);
/* physical components u[q][nc] of a cell's E-vector e at the tensor-product points of `basis`, given J[q]
   there */
PETSC_INTERN PetscErrorCode HopsFieldAtPoints(HopsSpace, const HopsBasis *, const PetscReal e[], const PetscReal J[],
                                              PetscReal u[]);
