/* Vectors of a uniform box: sums, conversions between precisions, the boundary, and contractions of small
   boxes. */
#include "cudabox.h"

template <class T> __global__ void Add(long long n, T s, const T *__restrict__ e, double *__restrict__ x)
{
  const long long i = blockIdx.x * 256LL + threadIdx.x;

  if (i < n) x[i] += (double)s * (double)e[i];
}

template <class TX, class TY> __global__ void Convert(long long n, const TX *__restrict__ x, double s, TY *__restrict__ y)
{
  const long long i = blockIdx.x * 256LL + threadIdx.x;

  if (i < n) y[i] = (TY)(s * (double)x[i]);
}

/* sum of 256 threads, in the first one */
__device__ static double BlockSum(double v)
{
  __shared__ double s[8];

#pragma unroll
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < 8; w++) v += s[w];
  return v;
}

template <class T> __global__ void Squares(long long n, const T *__restrict__ x, double *__restrict__ partial)
{
  double s = 0;

  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) s += (double)x[i] * (double)x[i];
  s = BlockSum(s);
  if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

__global__ void Sum(int n, const double *__restrict__ partial, double *__restrict__ sum)
{
  double s = 0;

  for (int i = threadIdx.x; i < n; i += 256) s += partial[i];
  s = BlockSum(s);
  if (threadIdx.x == 0) *sum = s;
}

/* s[0] = 1 / sqrt(*sum), or 1, and s[1] its inverse: as the host would have it, bit by bit */
__global__ void Scale(const double *__restrict__ sum, double *__restrict__ s)
{
  const double norm = sqrt(*sum), scale = norm > 0 ? 1 / norm : 1;

  s[0] = scale;
  s[1] = 1 / scale;
}

/* *any is set where a face has a number other than zero */
__global__ void FacesNonzero(int n0, int n1, long long s0, long long s1, long long other, const double *__restrict__ x, int *any)
{
  const long long i = blockIdx.x * 256LL + threadIdx.x;

  if (i < (long long)n0 * n1) {
    const long long k = i % n0 * s0 + i / n0 * s1;

    if (x[k] != 0.0 || x[k + other] != 0.0) *any = 1;
  }
}

/* both faces of a direction with n[0] n[1] nodes, s[0] and s[1] apart */
__global__ void Faces(int n0, int n1, long long s0, long long s1, long long other, double s, const double *__restrict__ x,
                      double *__restrict__ y)
{
  const long long i = blockIdx.x * 256LL + threadIdx.x;

  if (i < (long long)n0 * n1) {
    const long long k = i % n0 * s0 + i / n0 * s1;

    y[k]         = x ? s * x[k] : 0.0;
    y[k + other] = x ? s * x[k + other] : 0.0;
  }
}

template <class T> struct ContractArgs {
  int       n[3], dir;
  bool      transpose, divide;
  long long si[3], so[3];
  T         d[3], m;
  const T *__restrict__ S, *__restrict__ lambda[3], *__restrict__ in;
  T *out;
};

template <class T> __global__ void Contract(const ContractArgs<T> a)
{
  const int t = blockIdx.x * 256 + threadIdx.x, i[3] = {t % a.n[0], t / a.n[0] % a.n[1], t / a.n[0] / a.n[1]};
  const int n = a.n[a.dir], row = a.dir == 0 ? i[0] : a.dir == 1 ? i[1] : i[2];
  T         s = 0;

  if (i[2] >= a.n[2]) return;
  const T *in = a.in + i[0] * a.si[0] + i[1] * a.si[1] + i[2] * a.si[2] - row * a.si[a.dir];

  for (int j = 0; j < n; j++) s += (a.transpose ? a.S[j * n + row] : a.S[row * n + j]) * in[j * a.si[a.dir]];
  if (a.divide)
    s /= a.d[0] * a.lambda[0][i[0]] + a.d[1] * a.lambda[1][i[1]] + (a.lambda[2] ? a.d[2] * a.lambda[2][i[2]] : (T)0) + a.m;
  a.out[i[0] * a.so[0] + i[1] * a.so[1] + i[2] * a.so[2]] = s;
}

static unsigned int Blocks(PetscInt64 n)
{
  return (unsigned int)((n + 255) / 256);
}

PetscErrorCode HopsCudaBoxAdd(PetscInt64 n, PetscBool single, double s, const void *e, double *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (single) Add<float><<<Blocks(n), 256, 0, stream>>>(n, (float)s, (const float *)e, x);
  else Add<double><<<Blocks(n), 256, 0, stream>>>(n, s, (const double *)e, x);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxConvert(PetscInt64 n, PetscBool xsingle, const void *x, double s, PetscBool ysingle, void *y,
                                  cudaStream_t stream)
{
  PetscFunctionBegin;
  if (xsingle && ysingle) Convert<float, float><<<Blocks(n), 256, 0, stream>>>(n, (const float *)x, s, (float *)y);
  else if (xsingle) Convert<float, double><<<Blocks(n), 256, 0, stream>>>(n, (const float *)x, s, (double *)y);
  else if (ysingle) Convert<double, float><<<Blocks(n), 256, 0, stream>>>(n, (const double *)x, s, (float *)y);
  else Convert<double, double><<<Blocks(n), 256, 0, stream>>>(n, (const double *)x, s, (double *)y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxSquares(PetscInt64 n, PetscBool single, const void *x, int blocks, double *partial, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (single) Squares<float><<<blocks, 256, 0, stream>>>(n, (const float *)x, partial);
  else Squares<double><<<blocks, 256, 0, stream>>>(n, (const double *)x, partial);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxSum(int n, const double *partial, double *sum, cudaStream_t stream)
{
  PetscFunctionBegin;
  Sum<<<1, 256, 0, stream>>>(n, partial, sum);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxScale(const double *sum, double *scale, cudaStream_t stream)
{
  PetscFunctionBegin;
  Scale<<<1, 1, 0, stream>>>(sum, scale);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxBoundary(HopsCudaBox k, double s, const double *x, double *y, cudaStream_t stream)
{
  const PetscInt64 step[3] = {1, k->sy, k->sz};

  PetscFunctionBegin;
  for (int a = 0; a < k->dim; a++) {
    const int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;

    Faces<<<Blocks((PetscInt64)k->nodes[b] * k->nodes[c]), 256, 0, stream>>>(k->nodes[b], k->nodes[c], step[b], step[c],
                                                                             (k->nodes[a] - 1) * step[a], s, x, y);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxBoundaryNonzero(HopsCudaBox k, const double *x, int *any, cudaStream_t stream)
{
  const PetscInt64 step[3] = {1, k->sy, k->sz};

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(any, 0, sizeof(int), stream));
  for (int a = 0; a < k->dim; a++) {
    const int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;

    FacesNonzero<<<Blocks((PetscInt64)k->nodes[b] * k->nodes[c]), 256, 0, stream>>>(k->nodes[b], k->nodes[c], step[b], step[c],
                                                                                    (k->nodes[a] - 1) * step[a], x, any);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static cudaError_t RunContract(const int n[], int dir, PetscBool transpose, const void *S, const PetscInt64 si[], const void *in,
                               const PetscInt64 so[], void *out, const HopsCudaBoxDirect *l, cudaStream_t stream)
{
  ContractArgs<T> a = {};

  for (int i = 0; i < 3; i++) {
    a.n[i]  = n[i];
    a.si[i] = si[i];
    a.so[i] = so[i];
    if (l) {
      a.d[i]      = (T)l->box->d[i];
      a.lambda[i] = (const T *)l->lambda[i];
    }
  }
  a.dir       = dir;
  a.transpose = transpose;
  a.divide    = l != NULL;
  a.m         = l ? (T)l->box->m : (T)0;
  a.S         = (const T *)S;
  a.in        = (const T *)in;
  a.out       = (T *)out;
  Contract<T><<<Blocks((PetscInt64)n[0] * n[1] * n[2]), 256, 0, stream>>>(a);
  return cudaGetLastError();
}

PetscErrorCode HopsCudaBoxContract(PetscBool single, const int n[], int dir, PetscBool transpose, const void *S,
                                   const PetscInt64 si[], const void *in, const PetscInt64 so[], void *out,
                                   const HopsCudaBoxDirect *lambda, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (single) PetscCallCUDA(RunContract<float>(n, dir, transpose, S, si, in, so, out, lambda, stream));
  else PetscCallCUDA(RunContract<double>(n, dir, transpose, S, si, in, so, out, lambda, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
