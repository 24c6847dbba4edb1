/* Products of matrices in the directions of a lattice. */
#include <hops/private/hopsbasisimpl.h>

#define HOPS_CONTRACT_MAX 576 /* entries of a matrix that is transposed on the stack */

/* out[o][q][i] = sum_j M[q][j] in[o][j][i]: one direction of a tensor product; M is m-by-n, row-major */
static void HopsContract(PetscInt outer, PetscInt m, PetscInt n, PetscInt inner, const PetscReal M[], const PetscReal in[],
                         PetscReal out[])
{
  /* the vector is that of the output, which the transposed matrix makes contiguous */
  if (inner == 1 && m * n <= HOPS_CONTRACT_MAX) {
    PetscReal T[HOPS_CONTRACT_MAX];

    for (PetscInt q = 0; q < m; ++q)
      for (PetscInt j = 0; j < n; ++j) T[j * m + q] = M[q * n + j];
    for (PetscInt o = 0; o < outer; ++o) {
      const PetscReal *s = in + o * n;
      PetscReal       *t = out + o * m;

      for (PetscInt q = 0; q < m; ++q) t[q] = 0.0;
      for (PetscInt j = 0; j < n; ++j)
        for (PetscInt q = 0; q < m; ++q) t[q] += T[j * m + q] * s[j];
    }
    return;
  }
  for (PetscInt o = 0; o < outer; ++o)
    for (PetscInt q = 0; q < m; ++q) {
      PetscReal *t = out + (o * m + q) * inner;

      for (PetscInt i = 0; i < inner; ++i) t[i] = 0.0;
      for (PetscInt j = 0; j < n; ++j) {
        const PetscReal  a = M[q * n + j];
        const PetscReal *s = in + (o * n + j) * inner;

        for (PetscInt i = 0; i < inner; ++i) t[i] += a * s[i];
      }
    }
}

/*
  out = (M[dim-1] x ... x M[0]) in: in has n^dim entries, out m^dim, x fastest; M[d] is m-by-n, row-major.
  work has room for 2 max(n,m)^dim entries.
*/
PetscErrorCode HopsTensorApply(PetscInt dim, PetscInt m, PetscInt n, const PetscReal *const M[], const PetscReal in[],
                               PetscReal out[], PetscReal work[])
{
  const PetscInt   size  = HopsPower(PetscMax(m, n), dim);
  PetscInt         inner = 1, outer = HopsPower(n, dim - 1);
  const PetscReal *src = in;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) {
    PetscReal *dst = d == dim - 1 ? out : work + (d % 2) * size;

    HopsContract(outer, m, n, inner, M[d], src, dst);
    src = dst;
    inner *= m;
    outer /= n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The n-by-n matrix M in direction d alone */
void HopsTensorApplyDirection(PetscInt dim, PetscInt d, PetscInt n, const PetscReal M[], const PetscReal in[], PetscReal out[])
{
  HopsContract(HopsPower(n, dim - 1 - d), n, n, HopsPower(n, d), M, in, out);
}
