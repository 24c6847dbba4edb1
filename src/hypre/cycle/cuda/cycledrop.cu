/*
  A matrix without its rounding errors. ADS makes C^T A C, C the curl, whose div-div part is zero: hypre's
  product keeps all places of it, two thirds of the entries, with numbers of the size of rounding errors, and
  the nodal matrices below inherit them.
*/
#include "cycle.h"
#include <cub/device/device_scan.cuh>

#define LANES 8 /* threads of a row */
#define ROW \
  const int row = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) / LANES), lane = threadIdx.x % LANES; \
  const int begin = row < n ? i[row] : 0, end = row < n ? i[row + 1] : 0

__global__ static void Diagonal(int n, const int *__restrict__ i, const int *__restrict__ j, const double *__restrict__ v,
                                double *__restrict__ d)
{
  ROW;

  if (row < n && lane == 0) d[row] = 0.0; /* the same warp writes it below */
  __syncwarp();
  for (int k = begin + lane; k < end; k += LANES)
    if (j[k] == row) d[row] = fabs(v[k]);
}

/* Copies what is kept of each row to its place, or, where there are no columns to write, counts it there */
__global__ static void Keep(int n, const int *__restrict__ i, const int *__restrict__ j, const double *__restrict__ v,
                            const double *__restrict__ d, double square, int *__restrict__ place, int *__restrict__ column,
                            double *__restrict__ value)
{
  ROW;
  const int shift = (int)(threadIdx.x % 32) / LANES * LANES;
  int       at    = column && row < n ? place[row] : 0;

  for (int k = begin + lane; __any_sync(0xffffffffu, k - lane < end); k += LANES) {
    const bool     keep = k < end && (j[k] == row || v[k] * v[k] > square * d[row] * d[j[k]]);
    const unsigned mask = __ballot_sync(0xffffffffu, keep) >> shift & ((1u << LANES) - 1);

    if (keep && column) {
      const int to = at + __popc(mask & ((1u << lane) - 1));

      column[to] = j[k];
      value[to]  = v[k];
    }
    at += __popc(mask);
  }
  if (!column && row < n && lane == 0) place[row] = at;
}

/* The square matrix m gets arrays of its own, which lack off-diagonal entries of at most drop sqrt(a_ii
   a_jj) */
PetscErrorCode HopsCycleDrop(HopsCycleMatrix *m, double drop, cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)(((size_t)m->m * LANES + 255) / 256);
  const double      *v      = (const double *)m->v;
  const double       square = drop * drop;
  void              *d, *i, *j, *w;
  size_t             size = 0;
  int                nnz;

  PetscFunctionBegin;
  if (!m->m || !m->nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCycleMalloc((size_t)m->m * sizeof(double), &d));
  PetscCall(HopsCycleMalloc(((size_t)m->m + 1) * sizeof(int), &i));
  PetscCallCUDA(cudaMemsetAsync(i, 0, ((size_t)m->m + 1) * sizeof(int), stream));
  Diagonal<<<blocks, 256, 0, stream>>>(m->m, m->i, m->j, v, (double *)d);
  Keep<<<blocks, 256, 0, stream>>>(m->m, m->i, m->j, v, (const double *)d, square, (int *)i, NULL, NULL);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(NULL, size, (int *)i, (int *)i, m->m + 1, stream));
  PetscCall(HopsCycleMalloc(size, &w));
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(w, size, (int *)i, (int *)i, m->m + 1, stream));
  PetscCallCUDA(cudaMemcpyAsync(&nnz, (int *)i + m->m, sizeof(int), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HopsCycleFree(&w));
  PetscCall(HopsCycleMalloc((size_t)nnz * sizeof(int), &j));
  PetscCall(HopsCycleMalloc((size_t)nnz * sizeof(double), &w));
  Keep<<<blocks, 256, 0, stream>>>(m->m, m->i, m->j, v, (const double *)d, square, (int *)i, (int *)j, (double *)w);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HopsCycleFree(&d));
  m->nnz      = (size_t)nnz;
  m->i        = (const int *)i;
  m->j        = (const int *)j;
  m->v        = w;
  m->own      = true;
  m->ownplace = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
