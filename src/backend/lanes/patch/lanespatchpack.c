/* Factors of patches as kernels on tensor cores read them. */
#include "lanespatch.h"
#include "lanespatchpack.h"

int HopsLanesPatchTensor = -1;

PetscBool HopsLanesOnTensor(int size)
{
  return HopsLanesPatchTensor && HOPS_LANES_TENSOR_HAS(size) ? PETSC_TRUE : PETSC_FALSE;
}

/* S^T and S of each factor for tensor cores, of the sizes that have such kernels; at[] where they begin */
PetscErrorCode HopsLanesPackSet(const HopsLanesPatchKernels *kernels, const HopsLanesPatchInput *in, PetscInt at[], double **packed,
                                PetscLogDouble *bytes)
{
  PetscInt64 n = 0;
  double    *h;
  PetscBool  has = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(at, in->nfactors));
  if (kernels->HasTensor) PetscCall((*kernels->HasTensor)(&has));
  if (!has || in->dim != 3 || in->single) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    at[f] = (PetscInt)n;
    if (HOPS_LANES_TENSOR_HAS(in->fsize[f])) n += 2 * HOPS_LANES_TENSOR_SIZE(in->fsize[f], in->fsize[f]);
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more devices", n);
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const int        m = in->fsize[f];
    const PetscReal *S = in->values + in->foffset[f];

    if (!HOPS_LANES_TENSOR_HAS(m)) continue;
    HopsLanesTensorPack(m, m, S, m, 1, h + at[f]);
    HopsLanesTensorPack(m, m, S, 1, m, h + at[f] + HOPS_LANES_TENSOR_SIZE(m, m));
  }
  PetscCall(HopsLanesToBack(kernels->backend, n * sizeof(double), h, packed));
  *bytes += (double)n * sizeof(double);
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrices of a factor h of n modes for tensor cores (lanespatchsweeptensor.h): S^T; S beside E; T, whose
   ends come last */
static void SweepPack(int n, const double *h, double *packed)
{
  const int     N = n + 2, R = (n + 1) / 2 * 2;
  const double *T = h + n * R + n, *E = T + 2 * n * N + 2 * n;
  double        b[17 * 15];

  HopsLanesTensorPack(n, n, h, R, 1, packed);
  packed += HOPS_LANES_TENSOR_SIZE(n, n);
  for (int i = 0; i < n; ++i) {
    for (int m = 0; m < n; ++m) b[m * n + i] = h[i * R + m];
    for (int e = 0; e < 2; ++e) b[(n + e) * n + i] = E[e * n + i];
  }
  HopsLanesTensorPack(N, n, b, n, 1, packed);
  packed += HOPS_LANES_TENSOR_SIZE(N, n);
  for (int m = 0; m < n; ++m) {
    for (int i = 0; i < n; ++i) b[i * n + m] = T[m * N + 1 + i];
    for (int e = 0; e < 2; ++e) b[(n + e) * n + m] = T[m * N + (e ? N - 1 : 0)];
  }
  HopsLanesTensorPack(N, n, b, n, 1, packed);
}

PetscErrorCode HopsLanesPackSweep(const HopsLanesPatchKernels *kernels, HopsPatches pt, const double h[], const PetscInt at[],
                                  PetscInt tat[], double **packed, PetscLogDouble *bytes)
{
  PetscInt64 n = 0;
  double    *p;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    const PetscInt m = pt->factors[i].n;

    tat[i] = (PetscInt)n;
    if (HOPS_LANES_TENSOR_HAS(m) && pt->factors[i].N == m + 2)
      n += HOPS_LANES_TENSOR_SIZE(m, m) + 2 * HOPS_LANES_TENSOR_SIZE(m + 2, m);
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more devices", n);
  PetscCall(PetscMalloc1(n, &p));
  for (PetscInt i = 0; i < pt->nfactors; ++i)
    if (HOPS_LANES_TENSOR_HAS(pt->factors[i].n) && pt->factors[i].N == pt->factors[i].n + 2)
      SweepPack((int)pt->factors[i].n, h + at[i], p + tat[i]);
  PetscCall(HopsLanesToBack(kernels->backend, n * sizeof(double), p, packed));
  *bytes += (double)n * sizeof(double);
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
