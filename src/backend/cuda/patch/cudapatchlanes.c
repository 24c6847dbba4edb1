/* CUDA back end: the table of the kernels of patches by lists, and what those on tensor cores read. */
#include <backend/cuda/runtime/cudaimpl.h>
#include "cudapatch.h"
#include "cudapatchlanes.h"
#include "cudapatchpack.h"

int HopsCudaPatchTensor = -1;

static PetscBool OnTensor(int size)
{
  return HopsCudaPatchTensor && HOPS_CUDA_TENSOR_HAS(size) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode HopsCudaPatchHasTensor(PetscBool *has)
{
  int device, major;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  *has = major == 9 ? PETSC_TRUE : PETSC_FALSE; /* others have other shapes or rates, which were not tried */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S^T and S of each factor for tensor cores, of the sizes that have such kernels; at[] where they begin */
static PetscErrorCode PackSet(const HopsLanesPatchInput *in, PetscInt at[], double **packed, PetscLogDouble *bytes)
{
  PetscInt64 n = 0;
  double    *h;
  PetscBool  has;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(at, in->nfactors));
  PetscCall(HopsCudaPatchHasTensor(&has));
  if (!has || in->dim != 3 || in->single) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    at[f] = (PetscInt)n;
    if (HOPS_CUDA_TENSOR_HAS(in->fsize[f])) n += 2 * HOPS_CUDA_TENSOR_SIZE(in->fsize[f], in->fsize[f]);
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more devices", n);
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const int        m = in->fsize[f];
    const PetscReal *S = in->values + in->foffset[f];

    if (!HOPS_CUDA_TENSOR_HAS(m)) continue;
    HopsCudaTensorPack(m, m, S, m, 1, h + at[f]);
    HopsCudaTensorPack(m, m, S, 1, m, h + at[f] + HOPS_CUDA_TENSOR_SIZE(m, m));
  }
  PetscCall(HopsCudaToDevice(n * sizeof(double), h, packed));
  *bytes += (double)n * sizeof(double);
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrices of a factor h of n modes for tensor cores (cudapatchpcsweep.cu): S^T; S beside E; T, whose
   ends come last */
static void SweepPack(int n, const double *h, double *packed)
{
  const int     N = n + 2, R = (n + 1) / 2 * 2;
  const double *T = h + n * R + n, *E = T + 2 * n * N + 2 * n;
  double        b[17 * 15];

  HopsCudaTensorPack(n, n, h, R, 1, packed);
  packed += HOPS_CUDA_TENSOR_SIZE(n, n);
  for (int i = 0; i < n; ++i) {
    for (int m = 0; m < n; ++m) b[m * n + i] = h[i * R + m];
    for (int e = 0; e < 2; ++e) b[(n + e) * n + i] = E[e * n + i];
  }
  HopsCudaTensorPack(N, n, b, n, 1, packed);
  packed += HOPS_CUDA_TENSOR_SIZE(N, n);
  for (int m = 0; m < n; ++m) {
    for (int i = 0; i < n; ++i) b[i * n + m] = T[m * N + 1 + i];
    for (int e = 0; e < 2; ++e) b[(n + e) * n + m] = T[m * N + (e ? N - 1 : 0)];
  }
  HopsCudaTensorPack(N, n, b, n, 1, packed);
}

static PetscErrorCode PackSweep(HopsPatches pt, const double h[], const PetscInt at[], PetscInt tat[], double **packed,
                                PetscLogDouble *bytes)
{
  PetscInt64 n = 0;
  double    *p;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    const PetscInt m = pt->factors[i].n;

    tat[i] = (PetscInt)n;
    if (HOPS_CUDA_TENSOR_HAS(m) && pt->factors[i].N == m + 2)
      n += HOPS_CUDA_TENSOR_SIZE(m, m) + 2 * HOPS_CUDA_TENSOR_SIZE(m + 2, m);
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more devices", n);
  PetscCall(PetscMalloc1(n, &p));
  for (PetscInt i = 0; i < pt->nfactors; ++i)
    if (HOPS_CUDA_TENSOR_HAS(pt->factors[i].n) && pt->factors[i].N == pt->factors[i].n + 2)
      SweepPack((int)pt->factors[i].n, h + at[i], p + tat[i]);
  PetscCall(HopsCudaToDevice(n * sizeof(double), p, packed));
  *bytes += (double)n * sizeof(double);
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClassCreate(PetscInt p, const PetscReal A[], const PetscReal M[], const PetscReal d[], PetscReal m,
                                  PetscBool single, void **data, PetscLogDouble *flops)
{
  HopsCudaPatch k;

  PetscFunctionBegin;
  PetscCall(HopsCudaPatchCreateList(p, A, M, d, m, single, &k));
  *flops = k->flops;
  *data  = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClassDestroy(void **data)
{
  HopsCudaPatch k = (HopsCudaPatch)*data;

  PetscFunctionBegin;
  PetscCall(HopsCudaPatchDestroy(&k));
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepTeams(int *n)
{
  int device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(n, cudaDevAttrMultiProcessorCount, device));
  *n *= 4;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t MostScratch(void)
{
  return HOPS_LANES_PATCH_OWN;
}

const HopsLanesPatchKernels HopsPatchKernelsCUDA = {.backend      = &HopsBackendCUDA,
                                                    .MostScratch  = MostScratch,
                                                    .group        = 1,
                                                    .Solve        = HopsPatchSolve_CUDA,
                                                    .Sweep        = HopsPatchSweep_CUDA,
                                                    .SweepTeams   = SweepTeams,
                                                    .OnTensor     = OnTensor,
                                                    .PackSet      = PackSet,
                                                    .PackSweep    = PackSweep,
                                                    .ClassCreate  = ClassCreate,
                                                    .ClassDestroy = ClassDestroy};

PetscErrorCode HopsPatchCreate_CUDA(HopsPatches patches, PetscDataType type, HopsPatchSmoother *S)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(HopsLanesPatchCreate(&HopsPatchKernelsCUDA, patches, type, S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
