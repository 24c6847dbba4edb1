/* Numbers of nodes and points, and weights of points, on the device. */
#pragma once
#include <cuda_runtime.h>

/* n^d, d = 1 to 3 */
__host__ __device__ static inline int HopsCudaPower(int n, int d)
{
  return d == 3 ? n * n * n : (d == 2 ? n * n : n);
}

/* of point q of a cell with Q in a direction, the first one fastest */
__device__ static inline double HopsCudaWeight(int dim, int Q, const double *w, int q)
{
  double f = 1;

  for (int d = 0; d < dim; d++, q /= Q) f *= w[q % Q];
  return f;
}
