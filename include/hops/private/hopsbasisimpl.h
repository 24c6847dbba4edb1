/* 1D bases, small powers and inverses, and values at points. */
#pragma once
#include <hops.h>
#include <petsc/private/petscimpl.h>
#include <petscsf.h>
#include <hops/private/petscshim.h>
#include <hops/private/hopscheck.h>

/*
  One-dimensional basis: the P Lagrange polynomials on Gauss-Lobatto-Legendre (GLL) nodes of [-1,1], tabulated
  at Q points.
*/
typedef enum {
  HOPS_RULE_NONE, /* points that are no quadrature rule */
  HOPS_RULE_GAUSS,
  HOPS_RULE_GLL,
  HOPS_RULE_OTHER /* any other one, symmetric about 0 */
} HopsRuleType;
typedef struct {
  PetscInt   P, Q;
  PetscReal *nodes;   /* [P] GLL nodes, ascending */
  PetscReal *points;  /* [Q] points, ascending */
  PetscReal *weights; /* [Q] quadrature weights (zeros where the points are no quadrature rule) */
  PetscReal *B;       /* [Q][P] B[q*P+i] = l_i(points[q]) */
  PetscReal *D;       /* [Q][P] D[q*P+i] = l_i'(points[q]) */
  /* [Q][P-1] E[q*(P-1)+j] = e_j(points[q]), the edge functions: integral over (node k, node k+1) is 1 if j =
     k, else 0 */
  PetscReal   *E;
  PetscReal   *C;          /* [Q][Q] derivatives at the points of the Lagrange basis on the points; D = C B if Q >= P */
  PetscBool    collocated; /* the points are the nodes */
  HopsRuleType rule;
  /* at points on the faces of a cell coefficients are their limits from inside (hops' own Gauss-Lobatto
     rule) */
  PetscBool limit;
} HopsBasis;

/* r with r^dim = n, rounded to an integer: the points per direction of a tensor-product set */
static inline PetscInt HopsRoot(PetscInt n, PetscInt dim)
{
  return (PetscInt)PetscFloorReal(PetscPowReal((PetscReal)n, 1.0 / dim) + 0.5);
}

/* n^d. HopsPower() squares once more than it must, and overflows where this does not. */
static inline PetscInt HopsPower(PetscInt n, PetscInt d)
{
  PetscInt power = 1;

  while (d-- > 0) power *= n;
  return power;
}

/* inverse of a dim-by-dim matrix, row-major; returns the determinant */
static inline PetscReal HopsInverse(PetscInt dim, const PetscReal J[], PetscReal Ji[])
{
  PetscReal det;

  if (dim == 2) {
    det   = J[0] * J[3] - J[1] * J[2];
    Ji[0] = J[3] / det;
    Ji[1] = -J[1] / det;
    Ji[2] = -J[2] / det;
    Ji[3] = J[0] / det;
  } else {
    for (PetscInt i = 0; i < 3; ++i)
      for (PetscInt j = 0; j < 3; ++j) {
        const PetscInt a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

        Ji[i * 3 + j] = J[a * 3 + c] * J[b * 3 + d] - J[a * 3 + d] * J[b * 3 + c];
      }
    det = J[0] * Ji[0] + J[1] * Ji[3] + J[2] * Ji[6];
    for (PetscInt i = 0; i < 9; ++i) Ji[i] /= det;
  }
  return det;
}

PETSC_INTERN void           HopsSymmetrize(PetscInt n, PetscReal x[], PetscReal w[]);
PETSC_INTERN PetscErrorCode HopsBasisCreate(PetscInt P, PetscInt Q, PetscBool gll, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisCreateAtPoints(PetscInt P, PetscInt Q, const PetscReal points[], HopsBasis *);
/*
  The same points, but for those at the ends of [-1,1], which move in by a fraction of the distance to the
  next ones. A function that jumps between cells has two values at the ends, and only inside of a cell is it
  known which of them is the cell's: preconditioners evaluate coefficients at HOPS_BASIS_INSET; an operator,
  whose smooth coefficients must not move, takes the limit (HopsBasis.limit).
*/
#define HOPS_BASIS_INSET 0.01
PETSC_INTERN PetscErrorCode HopsBasisCreateInside(const HopsBasis *, PetscReal inset, HopsBasis *);
/* The limit is extrapolated from HOPS_LIMIT_POINTS insets: adds the values v[n][Q^dim][size] at the k-th one
   to out, in the order of k */
#define HOPS_LIMIT_POINTS 3
PETSC_INTERN PetscErrorCode HopsBasisCreateLimit(const HopsBasis *, PetscInt k, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisAddLimit(const HopsBasis *, PetscInt k, PetscInt dim, PetscInt n, PetscInt size,
                                              const PetscReal v[], PetscReal out[]);
/* that of P nodes at the rule of another basis */
PETSC_INTERN PetscErrorCode HopsBasisCreateLike(PetscInt P, const HopsBasis *rule, HopsBasis *);
PETSC_INTERN PetscBool      HopsBasisSameRule(const HopsBasis *, const HopsBasis *);
PETSC_INTERN const char    *HopsBasisRuleName(const HopsBasis *);
/* src/basis/rule.c: that of P nodes at a quadrature in dim dimensions, if this is a tensor-product rule that
   hops takes */
PETSC_INTERN PetscErrorCode HopsBasisCreateQuadrature(PetscInt P, PetscInt dim, PetscQuadrature, PetscBool *found, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisDestroy(HopsBasis *);
PETSC_INTERN PetscErrorCode HopsGLL(PetscInt n, PetscReal x[], PetscReal w[]);

/* src/basis/contract.c */
PETSC_INTERN PetscErrorCode HopsTensorApply(PetscInt dim, PetscInt m, PetscInt n, const PetscReal *const M[], const PetscReal in[],
                                            PetscReal out[], PetscReal work[]);
PETSC_INTERN void HopsTensorApplyDirection(PetscInt dim, PetscInt d, PetscInt n, const PetscReal M[], const PetscReal in[],
                                           PetscReal out[]);

/*
  Values of a coefficient at the points of a run of cells: component k at point q of cell c of the run is
  v[c*cstride + q*pstride + k]; strides are 0 where the value does not vary. nc is 0 where the term is absent
  (v is NULL). They lie in the process's memory, or in that of a back end whose memory is of this type.
*/
typedef struct {
  PetscInt         nc, cstride, pstride;
  const PetscReal *v;
  PetscMemType     memtype;
} HopsValues;

/* What the element maps of a space are, from the narrowest kind (HopsSpaceGetMapKind()) */
typedef enum {
  HOPS_MAP_UNKNOWN,
  HOPS_MAP_AFFINE,
  HOPS_MAP_MULTILINEAR, /* bi- or trilinear */
  HOPS_MAP_CURVED
} HopsMapKind;

/* src/basis/basis.c: the factor of the derivative's term of a low-order-refined matrix */
PETSC_INTERN PetscErrorCode HopsVertexEdgeMass(PetscInt P, PetscReal *h1);
