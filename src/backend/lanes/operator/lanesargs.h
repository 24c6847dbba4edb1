/* Arguments of the launches of operators in H1, for C and C++. Apart from the rest, so that a change of the
   space recompiles no kernel. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <petscsys.h>
#include <backend/lanes/runtime/lanesconst.h>
#include <backend/lanes/runtime/lanescopies.h>

/* Groups of cells before piece t of a launch for cells first .. first + n - 1, from the first one's on */
HOPS_LANES_CONSTEXPR int HopsLanesPiece(int first, int n, int group, int pieces, int t)
{
  return (int)((long long)((first + n - 1) / group - first / group + 1) * t / pieces);
}

/* Where quadrature data come from: memory; a constant tensor for each cell; the corners of a bi- or trilinear
   cell */
enum {
  HOPS_GEOMETRY_STORED,
  HOPS_GEOMETRY_AFFINE,
  HOPS_GEOMETRY_MULTILINEAR
};

/* Numbers for a cell. Affine: tensor (upper triangle by rows), determinant times mass. Multilinear: the
   derivatives of the map's polynomial, [dim][2^dim - 1] coefficients halved (x = c0 + 2 c_r r + 2 c_s s +
   ..., points in [0,1]; 3D: r, s, t, rs, rt, st, rst; 2D: r, s, rs), then kappa (upper triangle by rows) and
   mass. */
HOPS_LANES_CONSTEXPR int HopsGeometrySize(int geometry, int dim)
{
  return geometry == HOPS_GEOMETRY_AFFINE ? (dim == 3 ? 7 : 4) : (dim == 3 ? 21 + 7 : 6 + 4);
}

/*
  What a launch of an operator needs; pointers into the back end's memory but for those named host... Data of
  cells lie in groups of `group` cells side by side, cell c in lane c % group: [c / group][n][group].
*/
typedef struct {
  int        dim, P, Q, nT, group;
  bool       diffusion, mass;
  PetscInt   first, n; /* cells */
  const int *restr;    /* [ncells][P^dim] L-vector indices */
  /* the same with the nodes of the fused kernel, -1 for those beyond the basis; HOPS_LANES_MEET may be set */
  const int      *padded;
  HopsLanesCopies copies; /* where marked nodes are added */
  /* [ncomp][Q^dim] of a cell: diffusion dim(dim+1)/2 (upper triangle by rows), then mass */
  const double *qdata;
  const double *B, *D, *C;                     /* [Q][P], [Q][P], [Q][Q] as in HopsBasis */
  const double *BB, *DD, *BD;                  /* [Q][P] products by entries: the diagonal */
  const double *w, *z;                         /* [Q] weights; points of [0,1] */
  const double *hostB, *hostC, *hostw, *hostz; /* copies, which kernels may have as arguments */
  int           geometry;
  bool          scalar; /* recomputed: the tensors of all cells are multiples of the identity */
  const double *geom;   /* [HopsGeometrySize()] of a cell */
  /* kernels of any order: scratch of a team where a level of its own memory does not hold it, else NULL */
  double *work;
  size_t  nwork;  /* doubles of scratch of a team */
  int     nteams; /* of a launch */
} HopsH1Args;

/* Set-up of a run of cells: X[n][dim][Pg^dim], coefficient values with the strides of HopsValues */
typedef struct {
  int           dim, Pg, Q, ncomp, knc, mnc, group;
  PetscInt      first, n, kcstride, kpstride, mcstride, mpstride;
  const double *X, *B, *D, *w, *kappa, *mass; /* B, D: [Q][Pg], the element map's basis at the points */
  const double *z;                            /* recomputed geometry: points of [0,1] */
  int           geometry;
  double       *geom;
  double       *qdata;
  int          *bad; /* least cell of the run with a determinant that is not positive; untouched if there is none */
  double       *det; /* that determinant, by FindBad() */
} HopsSetUpArgs;
