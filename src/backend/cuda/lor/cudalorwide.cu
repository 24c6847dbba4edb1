/*
  Rows of several components that do not couple, from those of one: what is row r of a node is rows r nc to
  r nc + nc - 1, which lie side by side, and each has the node's columns. Eight threads work on a node's row,
  which has 5 to 19 entries as a rule.
*/
#include "cudalor.h"

#define HOPS_WIDE_LANES 8

/* Where the entries of row r of a node begin, and how many there are */
__device__ __forceinline__ static int Begin(const HopsLORRows &rows, int b, int r, int *n)
{
  const int lo = rows.i[b][r];

  *n = rows.i[b][r + 1] - lo;
  return lo;
}

__global__ static void Pattern(const HopsLORRows rows, int nc, HopsLORRows wide)
{
  const int r = (int)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / HOPS_WIDE_LANES), lane = threadIdx.x % HOPS_WIDE_LANES;

  if (r >= rows.n) return;
  for (int b = 0; b < 2 && rows.i[b]; b++) {
    int       n;
    const int lo = Begin(rows, b, r, &n);

    for (int c = lane; c < nc; c += HOPS_WIDE_LANES) wide.i[b][r * nc + c] = nc * lo + c * n;
    if (lane == 0 && r == rows.n - 1) wide.i[b][rows.n * nc] = nc * (lo + n);
    for (int c = 0; c < nc; c++)
      for (int e = lane; e < n; e += HOPS_WIDE_LANES) wide.j[b][nc * lo + c * n + e] = rows.j[b][lo + e] * nc + c;
  }
}

__global__ static void Values(const HopsLORRows rows, int nc, int c, const unsigned char *__restrict__ fixed0,
                              const unsigned char *__restrict__ fixed1, HopsLORRows wide)
{
  const int r = (int)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / HOPS_WIDE_LANES), lane = threadIdx.x % HOPS_WIDE_LANES;

  if (r >= rows.n) return;
  const bool row = fixed0 && fixed0[r] >> c & 1;

  for (int b = 0; b < 2 && rows.i[b]; b++) {
    const unsigned char *fixed = b ? fixed1 : fixed0;
    int                  n;
    const int            lo = Begin(rows, b, r, &n);

    for (int e = lane; e < n; e += HOPS_WIDE_LANES) {
      const int j = rows.j[b][lo + e];
      double    v = rows.v[b][lo + e];

      if (row) v = b == 0 && j == r;
      else if (fixed && fixed[j] >> c & 1) v = 0;
      wide.v[b][nc * lo + c * n + e] = v;
    }
  }
}

static unsigned int Blocks(const HopsLORRows *rows)
{
  return (unsigned int)(((size_t)rows->n * HOPS_WIDE_LANES + 255) / 256);
}

PetscErrorCode HopsCudaLORWidenRows(const HopsLORRows *rows, int nc, HopsLORRows *wide, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->n) Pattern<<<Blocks(rows), 256, 0, stream>>>(*rows, nc, *wide);
  else
    for (int b = 0; b < 2; b++)
      if (rows->i[b]) PetscCallCUDA(cudaMemsetAsync(wide->i[b], 0, sizeof(int), stream));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaLORWidenValues(const HopsLORRows *rows, int nc, int c, const unsigned char fixed0[],
                                      const unsigned char fixed1[], HopsLORRows *wide, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->n) Values<<<Blocks(rows), 256, 0, stream>>>(*rows, nc, c, fixed0, fixed1, *wide);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
