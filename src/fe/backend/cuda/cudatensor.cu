/*
  Full tensors of one field of nc components (patensor.c has the form), any order: a block works on a cell, with values and reference
  gradients of all components at its points in shared memory where they fit, else in the device's memory. Reading the tensors bounds
  it: up to (nc (dim+1))^2 numbers a point.
*/
#include "cudacontract.cuh"
#include "cudaimpl.h"

#define HOPS_CUDA_TENSOR_THREADS 128
#define HOPS_CUDA_TENSOR_SHARED  (200 * 1024)

struct HopsCudaTensor {
  int           dim, P, Q, nc, nblocks;
  bool          transpose;
  PetscInt      first, n;
  const int    *restr; /* [ncells][P^dim] */
  const double *q[4];  /* [ncells][entry][Q^dim] */
  const double *B, *D, *BB, *BD, *DD;
  double       *work; /* scratch of a block, or NULL: shared memory */
  size_t        nwork;
};

struct _HopsFieldKernel {
  struct HopsCudaTensor args;
  PetscInt              ncells;
  double               *tables, *q[4];
};

/* v = tensors u at a point, [component][value, derivatives], where nc is not known to the compiler */
__device__ static void PointAny(const HopsCudaTensor &k, PetscInt cell, int nq, int q, double *u, double *v)
{
  const int     nc = k.nc, dim = k.dim, nc2 = nc * nc, row = dim + 1;
  const double *q1 = k.transpose ? k.q[2] : k.q[1], *q2 = k.transpose ? k.q[1] : k.q[2];

  for (int c = 0; c < nc; c++) {
    double s[4] = {0, 0, 0, 0};

    for (int g = 0; g < nc; g++) {
      const size_t  e  = (size_t)cell * nc2 + (k.transpose ? g * nc + c : c * nc + g);
      const double *ug = u + (size_t)g * row * nq;

      if (k.q[0]) s[0] += k.q[0][e * nq + q] * ug[q];
      for (int a = 0; a < dim; a++) {
        if (q1) s[0] += q1[(e * dim + a) * nq + q] * ug[(a + 1) * nq + q];
        if (q2) s[a + 1] += q2[(e * dim + a) * nq + q] * ug[q];
        for (int b = 0; k.q[3] && b < dim; b++) s[a + 1] += k.q[3][((e * dim + (k.transpose ? b : a)) * dim + (k.transpose ? a : b)) * nq + q] * ug[(b + 1) * nq + q];
      }
    }
    for (int a = 0; a <= dim; a++) v[((size_t)c * row + a) * nq + q] = s[a];
  }
}

/* the same in place: the point's values in registers */
template <int NC, int DIM>
__device__ static void Point(const HopsCudaTensor &k, PetscInt cell, int nq, int q, double *u)
{
  const double *q1 = k.transpose ? k.q[2] : k.q[1], *q2 = k.transpose ? k.q[1] : k.q[2];
  double        r[NC][DIM + 1];

#pragma unroll
  for (int g = 0; g < NC; g++)
#pragma unroll
    for (int a = 0; a <= DIM; a++) r[g][a] = u[(g * (DIM + 1) + a) * nq + q];
#pragma unroll
  for (int c = 0; c < NC; c++) {
    double s[DIM + 1] = {0};

#pragma unroll
    for (int g = 0; g < NC; g++) {
      const size_t e = (size_t)cell * NC * NC + (k.transpose ? g * NC + c : c * NC + g);

      if (k.q[0]) s[0] += __ldcs(k.q[0] + e * nq + q) * r[g][0];
      if (q1) {
#pragma unroll
        for (int a = 0; a < DIM; a++) s[0] += __ldcs(q1 + (e * DIM + a) * nq + q) * r[g][a + 1];
      }
      if (q2) {
#pragma unroll
        for (int a = 0; a < DIM; a++) s[a + 1] += __ldcs(q2 + (e * DIM + a) * nq + q) * r[g][0];
      }
      if (k.q[3]) {
#pragma unroll
        for (int a = 0; a < DIM; a++)
#pragma unroll
          for (int b = 0; b < DIM; b++) s[a + 1] += __ldcs(k.q[3] + ((e * DIM + (k.transpose ? b : a)) * DIM + (k.transpose ? a : b)) * nq + q) * r[g][b + 1];
      }
    }
#pragma unroll
    for (int a = 0; a <= DIM; a++) u[(c * (DIM + 1) + a) * nq + q] = s[a];
  }
}

template <int NC, int DIM>
__global__ static void __launch_bounds__(HOPS_CUDA_TENSOR_THREADS) TensorApply(const HopsCudaTensor k, const double *__restrict__ x, double *y)
{
  extern __shared__ double shared[];
  const int                P = k.P, Q = k.Q, nc = NC ? NC : k.nc, nn = Power(P, DIM), nq = Power(Q, DIM), nm = max(nn, nq), row = DIM + 1;
  double                  *f = k.work ? k.work + blockIdx.x * k.nwork : shared, *g = f + nm, *e = g + nm, *u = e + nn, *v = NC ? u : u + nc * row * nq;
  const bool               in[2]  = {k.q[0] || (k.transpose ? k.q[1] : k.q[2]), k.q[3] || (k.transpose ? k.q[2] : k.q[1])}; /* of the trial function: value, gradient */
  const bool               out[2] = {k.q[0] || (k.transpose ? k.q[2] : k.q[1]), k.q[3] || (k.transpose ? k.q[1] : k.q[2])};

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int *restr = k.restr + (size_t)cell * nn;

    for (int c = 0; c < nc; c++) {
      for (int i = threadIdx.x; i < nn; i += blockDim.x) e[i] = x[(size_t)restr[i] * nc + c];
      __syncthreads();
      for (int a = 0; a <= DIM; a++) {
        const double *const A[3] = {a == 1 ? k.D : k.B, a == 2 ? k.D : k.B, a == 3 ? k.D : k.B};

        if (in[a > 0]) Tensor(DIM, Q, P, A, P, 1, e, f, g, u + (c * row + a) * nq, false);
      }
    }
    for (int q = threadIdx.x; q < nq; q += blockDim.x) {
      if constexpr (NC) Point<NC, DIM>(k, cell, nq, q, u);
      else PointAny(k, cell, nq, q, u, v);
    }
    __syncthreads();
    for (int c = 0; c < nc; c++) {
      bool add = false;

      for (int a = 0; a <= DIM; a++) {
        const double *const A[3] = {a == 1 ? k.D : k.B, a == 2 ? k.D : k.B, a == 3 ? k.D : k.B};

        if (out[a > 0]) {
          Tensor(DIM, P, Q, A, 1, P, v + (c * row + a) * nq, f, g, e, add);
          add = true;
        }
      }
      for (int i = threadIdx.x; i < nn; i += blockDim.x) atomicAdd(y + (size_t)restr[i] * nc + c, e[i]);
      __syncthreads();
    }
  }
}

/* The tensors of a component with itself meet products of one-dimensional functions with themselves or with their derivatives */
__global__ static void __launch_bounds__(HOPS_CUDA_TENSOR_THREADS) TensorDiagonal(const HopsCudaTensor k, double *y)
{
  extern __shared__ double shared[];
  const int                dim = k.dim, P = k.P, Q = k.Q, nc = k.nc, nn = Power(P, dim), nq = Power(Q, dim), nm = max(nn, nq);
  double                  *f = k.work ? k.work + blockIdx.x * k.nwork : shared, *g = f + nm, *e = g + nm, *v = e + nn;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int *restr = k.restr + (size_t)cell * nn;

    for (int c = 0; c < nc; c++) {
      const size_t entry = (size_t)cell * nc * nc + c * nc + c;
      bool         add   = false;

      for (int a = -1; a < dim; a++) /* derivative of the test function, -1: its value */
        for (int b = -1; b < dim; b++) {
          const int     kind = (a < 0 ? 0 : 2) + (b < 0 ? 0 : 1), len = kind == 0 ? 1 : (kind == 3 ? dim * dim : dim);
          const int     off = kind == 0 ? 0 : (kind == 1 ? b : (kind == 2 ? a : a * dim + b));
          const double *A[3];

          if (!k.q[kind]) continue;
          for (int d = 0; d < 3; d++) A[d] = d == a ? (d == b ? k.DD : k.BD) : (d == b ? k.BD : k.BB);
          for (int q = threadIdx.x; q < nq; q += blockDim.x) v[q] = k.q[kind][(entry * len + off) * nq + q];
          __syncthreads();
          Tensor(dim, P, Q, A, 1, P, v, f, g, e, add);
          add = true;
        }
      for (int i = threadIdx.x; add && i < nn; i += blockDim.x) atomicAdd(y + (size_t)restr[i] * nc + c, e[i]);
      __syncthreads();
    }
  }
}

typedef void (*TensorFunction)(const HopsCudaTensor, const double *, double *);

static TensorFunction FindKernel(const HopsCudaTensor *a)
{
  if (a->dim == 2) return a->nc == 1 ? TensorApply<1, 2> : (a->nc == 2 ? TensorApply<2, 2> : TensorApply<0, 2>);
  return a->nc == 1 ? TensorApply<1, 3> : (a->nc == 3 ? TensorApply<3, 3> : TensorApply<0, 3>);
}

PetscErrorCode HopsTensorCreate_CUDA(HopsSpace sp, const HopsBasis *basis, PetscInt nc, HopsFieldKernel *kernel)
{
  const HopsBackendOps  *be = &HopsBackendCUDA;
  HopsFieldKernel        k;
  struct HopsCudaTensor *a;
  const size_t           PQ = (size_t)basis->P * basis->Q;
  int                    device, nsm, nn, nq;
  double                *h;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&k));
  *kernel   = k;
  k->ncells = sp->ncells;
  a         = &k->args;
  a->dim    = (int)sp->dim;
  a->P      = (int)basis->P;
  a->Q      = (int)basis->Q;
  a->nc     = (int)nc;
  nn        = Power(a->P, a->dim);
  nq        = Power(a->Q, a->dim);
  PetscCall((*be->Malloc)(sp->ncells * nn * sizeof(int), (void **)&a->restr));
  PetscCall((*be->Copy)((void *)a->restr, sp->restr, sp->ncells * nn * sizeof(int), PETSC_TRUE));
  PetscCall(PetscMalloc1(5 * PQ, &h));
  for (size_t i = 0; i < PQ; i++) {
    h[i]          = basis->B[i];
    h[PQ + i]     = basis->D[i];
    h[2 * PQ + i] = h[i] * h[i];
    h[3 * PQ + i] = h[i] * h[PQ + i];
    h[4 * PQ + i] = h[PQ + i] * h[PQ + i];
  }
  PetscCall((*be->Malloc)(5 * PQ * sizeof(double), (void **)&k->tables));
  PetscCall((*be->Copy)(k->tables, h, 5 * PQ * sizeof(double), PETSC_TRUE));
  PetscCall(PetscFree(h));
  a->B  = k->tables;
  a->D  = a->B + PQ;
  a->BB = a->D + PQ;
  a->BD = a->BB + PQ;
  a->DD = a->BD + PQ;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
  a->nwork   = 2 * (size_t)PetscMax(nn, nq) + nn + (size_t)(nc == 1 || nc == a->dim ? 1 : 2) * nc * (a->dim + 1) * nq;
  a->nblocks = 16 * nsm;
  if (a->nwork * sizeof(double) > HOPS_CUDA_TENSOR_SHARED) {
    a->nblocks = 4 * nsm;
    PetscCall((*be->Malloc)(a->nwork * a->nblocks * sizeof(double), (void **)&a->work));
  } else if (a->nwork * sizeof(double) > 48 * 1024) {
    PetscCallCUDA(cudaFuncSetAttribute(FindKernel(a), cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_TENSOR_SHARED));
    PetscCallCUDA(cudaFuncSetAttribute(TensorDiagonal, cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_TENSOR_SHARED));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorSetUp_CUDA(HopsFieldKernel k, const PetscScalar *const q[4])
{
  const HopsBackendOps *be     = &HopsBackendCUDA;
  const size_t          n      = (size_t)k->ncells * k->args.nc * k->args.nc * Power(k->args.Q, k->args.dim);
  const size_t          len[4] = {1, (size_t)k->args.dim, (size_t)k->args.dim, (size_t)k->args.dim * k->args.dim};

  PetscFunctionBegin;
  for (int i = 0; i < 4; i++) {
    if (!q[i]) PetscCall((*be->Free)((void **)&k->q[i]));
    else {
      if (!k->q[i]) PetscCall((*be->Malloc)(n * len[i] * sizeof(double), (void **)&k->q[i]));
      PetscCall((*be->Copy)(k->q[i], q[i], n * len[i] * sizeof(double), PETSC_TRUE));
    }
    k->args.q[i] = k->q[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorApply_CUDA(HopsFieldKernel k, PetscBool transpose, PetscInt first, PetscInt n, const PetscScalar xl[], PetscScalar yl[])
{
  struct HopsCudaTensor a = k->args;
  cudaStream_t          stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  a.transpose = transpose;
  a.first     = first;
  a.n         = n;
  PetscCall(HopsGetCUDAStream(&stream));
  FindKernel(&a)<<<(unsigned int)PetscMin(n, a.nblocks), HOPS_CUDA_TENSOR_THREADS, a.work ? 0 : a.nwork * sizeof(double), stream>>>(a, xl, yl);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorDiagonal_CUDA(HopsFieldKernel k, PetscScalar yl[])
{
  struct HopsCudaTensor a = k->args;
  cudaStream_t          stream;

  PetscFunctionBegin;
  if (!k->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  a.first = 0;
  a.n     = k->ncells;
  PetscCall(HopsGetCUDAStream(&stream));
  TensorDiagonal<<<(unsigned int)PetscMin(a.n, a.nblocks), HOPS_CUDA_TENSOR_THREADS, a.work ? 0 : a.nwork * sizeof(double), stream>>>(a, yl);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorDestroy_CUDA(HopsFieldKernel *kernel)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  HopsFieldKernel       k  = *kernel;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 4; i++) PetscCall((*be->Free)((void **)&k->q[i]));
  PetscCall((*be->Free)((void **)&k->args.restr));
  PetscCall((*be->Free)((void **)&k->args.work));
  PetscCall((*be->Free)((void **)&k->tables));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
