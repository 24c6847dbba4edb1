/* What kind of map a cell's nodes describe, for the process and for devices. */
#pragma once
#if defined(__CUDACC__) || defined(__HIPCC__)
  #define HOPS_HOST_DEVICE __host__ __device__ static inline
#else
  #define HOPS_HOST_DEVICE static inline
#endif

/* x[2^dim]: one coordinate of a cell's corners, of its values X[n^dim] at the nodes of the element map */
HOPS_HOST_DEVICE void HopsCellCorners(int dim, int n, const PetscReal X[], PetscReal x[])
{
  for (int k = 0; k < 1 << dim; ++k) x[k] = X[(n - 1) * ((k & 1) + n * ((k >> 1 & 1) + n * (k >> 2 & 1)))];
}

HOPS_HOST_DEVICE PetscReal HopsMapAbs(PetscReal x)
{
  return x < 0 ? -x : x;
}

/* Are the values X[n^dim] at the nodes s in [0,1] linear along every line? Lines in x, then in y on their
   ends, then in z on the ends of those */
HOPS_HOST_DEVICE int HopsCellIsMultilinear(int dim, int n, const PetscReal s[], const PetscReal X[], PetscReal tol)
{
  for (int d = 0, stride = 1; d < dim; ++d, stride *= n)
    for (int z = 0; z < (dim == 3 ? n : 1); z += d == 2 ? n : 1)
      for (int y = 0; y < n; y += d == 1 ? n : (d == 2 ? n - 1 : 1))
        for (int x = 0; x < n; x += d == 0 ? n : n - 1) { /* the line's first node */
          const PetscReal *L = X + (z * n + y) * n + x, a = L[0], b = L[(n - 1) * stride] - a;

          for (int i = 1; i < n - 1; ++i)
            if (!(HopsMapAbs(a + s[i] * b - L[i * stride]) <= tol)) return 0;
        }
  return 1;
}

/* 0: one coordinate X[n^dim] of a cell is affine; 1: bi- or trilinear; 2: neither. A node may be off by a few
   units in the last place of its coordinates, or 1e-13 of the cell's size */
HOPS_HOST_DEVICE int HopsCellMapKind(int dim, int n, const PetscReal s[], const PetscReal X[])
{
  PetscReal x[8], size = 0, tol;
  int       kind = 0;

  HopsCellCorners(dim, n, X, x);
  for (int k = 0; k < 1 << dim; ++k) size = HopsMapAbs(x[k]) > size ? HopsMapAbs(x[k]) : size;
  tol  = 16 * PETSC_MACHINE_EPSILON * size;
  size = 0;
  for (int k = 1; k < 1 << dim; ++k) size = HopsMapAbs(x[k] - x[0]) > size ? HopsMapAbs(x[k] - x[0]) : size;
  tol += 1e-13 * size;
  for (int k = 3; k < 1 << dim; ++k) { /* an affine map from the corner and its neighbours */
    PetscReal e = x[0];

    for (int d = 0; d < dim; ++d) e += k >> d & 1 ? x[1 << d] - x[0] : 0;
    if (!(HopsMapAbs(e - x[k]) <= tol)) kind = 1;
  }
  return HopsCellIsMultilinear(dim, n, s, X, tol) ? kind : 2;
}
