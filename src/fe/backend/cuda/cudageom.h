/* Kinds of geometry data, for C and CUDA */
#pragma once
#if defined(__CUDACC__)
  #define HOPS_CUDA_CONSTEXPR __host__ __device__ constexpr
#else
  #define HOPS_CUDA_CONSTEXPR static inline
#endif

/* Where quadrature data come from: memory; a constant tensor for each cell; the corners of a bi- or trilinear cell */
enum {
  HOPS_CUDA_STORED,
  HOPS_CUDA_AFFINE,
  HOPS_CUDA_MULTILINEAR
};

/* doubles for a cell: affine: tensor (upper triangle by rows), determinant times mass; multilinear: corners [dim][2^dim], kappa
   (upper triangle by rows), mass */
HOPS_CUDA_CONSTEXPR int HopsCudaGeomSize(int geom, int dim)
{
  return geom == HOPS_CUDA_AFFINE ? (dim == 3 ? 7 : 4) : (dim == 3 ? 24 + 7 : 8 + 4);
}
