/* What the values of a coefficient at a point, and then in a cell, say of a form: for the process and for
   devices. */
#pragma once
#include <petscsys.h>
#include <hops/private/hopsmapkind.h>

typedef enum {
  HOPS_INDEFINITE,    /* a diffusion k and mass m with which no form is positive: negative in a direction somewhere (beyond
                         rounding error), or zero all over a cell without a positive mass. A zero at single
                         points does no harm */
  HOPS_NEGATIVE,      /* k is negative somewhere (beyond rounding error), or positive nowhere in a cell */
  HOPS_NEGATIVE_FIELD /* the same of a mass, which may be zero all over a cell */
} HopsValuesTest;

/* The largest absolute value at a point, if it is more than `size` */
HOPS_HOST_DEVICE PetscReal HopsPointSize(int nc, const PetscReal k[], PetscReal size)
{
  for (int i = 0; i < nc; ++i) size = HopsMapAbs(k[i]) > size ? HopsMapAbs(k[i]) : size;
  return size;
}

/* Is K + shift I positive definite? By the pivots of Gaussian elimination */
HOPS_HOST_DEVICE int HopsPointIsPositive(int dim, int nc, const PetscReal k[], PetscReal shift)
{
  PetscReal K[9] = {0.0};

  if (nc <= dim) {
    for (int i = 0; i < nc; ++i)
      if (!(k[i] + shift > 0.0)) return 0;
    return 1;
  }
  for (int i = 0, t = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j, ++t) K[i * dim + j] = K[j * dim + i] = k[t] + (i == j ? shift : 0.0);
  for (int p = 0; p < dim; ++p) {
    if (!(K[p * dim + p] > 0.0)) return 0;
    for (int i = p + 1; i < dim; ++i)
      for (int j = p + 1; j < dim; ++j) K[i * dim + j] -= K[i * dim + p] * K[p * dim + j] / K[p * dim + p];
  }
  return 1;
}

/* The range of what is on the diagonal at a point, and before */
HOPS_HOST_DEVICE void HopsPointRange(int dim, int nc, const PetscReal k[], PetscReal *lo, PetscReal *hi)
{
  for (int i = 0, t = 0; i < (nc <= dim ? nc : dim); ++i) {
    *lo = k[t] < *lo ? k[t] : *lo;
    *hi = k[t] > *hi ? k[t] : *hi;
    t += nc <= dim ? 1 : dim - i;
  }
}

/* by the range in a cell */
HOPS_HOST_DEVICE int HopsCellIsNegative(HopsValuesTest test, PetscReal lo, PetscReal hi)
{
  return (hi <= 0.0 && (test == HOPS_NEGATIVE || lo < 0.0)) || lo < -1e-12 * hi;
}
