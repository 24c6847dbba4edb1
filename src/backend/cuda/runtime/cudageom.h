/* Kinds of geometry data, for C and CUDA */
#pragma once
#if defined(__CUDACC__)
  #define HOPS_CUDA_CONSTEXPR __host__ __device__ constexpr
#else
  #define HOPS_CUDA_CONSTEXPR static inline
#endif

/* Where quadrature data come from: memory; a constant tensor for each cell; the corners of a bi- or trilinear
   cell */
enum {
  HOPS_CUDA_STORED,
  HOPS_CUDA_AFFINE,
  HOPS_CUDA_MULTILINEAR
};

/* Doubles for a cell. Affine: tensor (upper triangle by rows), determinant times mass. Multilinear: the
   derivatives of the map's polynomial, [dim][2^dim - 1] coefficients halved (x = c0 + 2 c_r r + 2 c_s s +
   ..., points in [0,1]; 3D: r, s, t, rs, rt, st, rst; 2D: r, s, rs), then kappa (upper triangle by rows) and
   mass. */
HOPS_CUDA_CONSTEXPR int HopsCudaGeomSize(int geom, int dim)
{
  return geom == HOPS_CUDA_AFFINE ? (dim == 3 ? 7 : 4) : (dim == 3 ? 21 + 7 : 6 + 4);
}
