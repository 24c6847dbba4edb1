/* See boxtools.h: plain kernels, whose time does not count. */
#include "boxtools.h"
#include <cuda_runtime.h>

__global__ static void Fill(int n0, int n1, int n2, double c, const double *g, double *x)
{
  const long long n = (long long)n0 * n1 * n2;

  for (long long t = blockIdx.x * 256LL + threadIdx.x; t < n; t += gridDim.x * 256LL) {
    const int  i = (int)(t % n0), j = (int)(t / n0 % n1), k = (int)(t / n0 / n1);
    const bool inside = i > 0 && i < n0 - 1 && j > 0 && j < n1 - 1 && (n2 == 1 || (k > 0 && k < n2 - 1));

    x[t] = inside ? c * g[i] * g[n0 + j] * g[n0 + n1 + k] : 0.0;
  }
}

static cudaError_t Upload(size_t n, const double *h, double **d)
{
  cudaError_t err = cudaMalloc(d, n * sizeof(double));

  return err ? err : cudaMemcpy(*d, h, n * sizeof(double), cudaMemcpyHostToDevice);
}

int BoxFill(const int n[3], double c, const double *const g[3], double *x)
{
  double     *d;
  cudaError_t err = cudaMalloc(&d, (n[0] + n[1] + n[2]) * sizeof(double));

  for (int a = 0, o = 0; a < 3 && !err; o += n[a++]) err = cudaMemcpy(d + o, g[a], n[a] * sizeof(double), cudaMemcpyHostToDevice);
  if (err) return err;
  Fill<<<4096, 256>>>(n[0], n[1], n[2], c, d, x);
  err = cudaDeviceSynchronize();
  cudaFree(d);
  return err;
}

/* a block takes a cell */
__global__ static void Error(int dim, int p, int m0, int m1, int m2, int Q, const double *B, const double *w, const double *e0,
                             const double *e1, const double *e2, const double *u, double *sum)
{
  extern __shared__ double s[];
  const int                P = p + 1, Pz = dim == 3 ? P : 1, Qz = dim == 3 ? Q : 1, t = threadIdx.x;
  double                  *v = s, *a = v + P * P * Pz, *b = a + Q * P * Pz;
  const long long n0 = (long long)m0 * p + 1, n1 = (long long)m1 * p + 1, c0 = blockIdx.x, c1 = blockIdx.y, c2 = blockIdx.z;
  double          r = 0;

  for (int i = t; i < P * P * Pz; i += blockDim.x) v[i] = u[c0 * p + i % P + n0 * (c1 * p + i / P % P + n1 * (c2 * p + i / P / P))];
  __syncthreads();
  for (int i = t; i < Q * P * Pz; i += blockDim.x) { /* [z][y][qx] */
    double x = 0;

    for (int k = 0; k < P; k++) x += B[i % Q * P + k] * v[i / Q * P + k];
    a[i] = x;
  }
  __syncthreads();
  for (int i = t; i < Q * Q * Pz; i += blockDim.x) { /* [z][qy][qx] */
    double x = 0;

    for (int k = 0; k < P; k++) x += B[i / Q % Q * P + k] * a[i % Q + Q * (k + P * (i / Q / Q))];
    b[i] = x;
  }
  __syncthreads();
  for (int i = t; i < Q * Q * Qz; i += blockDim.x) {
    const int q0 = i % Q, q1 = i / Q % Q, q2 = i / Q / Q;
    double    x = dim == 3 ? 0 : b[i];

    if (dim == 3)
      for (int k = 0; k < P; k++) x += B[q2 * P + k] * b[q0 + Q * (q1 + Q * k)];
    x -= e0[c0 * Q + q0] * e1[c1 * Q + q1] * (dim == 3 ? e2[c2 * Q + q2] : 1.0);
    r += w[q0] * w[q1] * (dim == 3 ? w[q2] : 1.0) * x * x;
  }
  for (int o = 16; o > 0; o /= 2) r += __shfl_down_sync(0xffffffffu, r, o);
  if (t % 32 == 0) atomicAdd(sum, r);
}

int BoxError(int dim, int p, const int ncells[3], int Q, const double *B, const double *w, const double *const e[3],
             const double *u, double *sum)
{
  const int   P = p + 1, m2 = dim == 3 ? ncells[2] : 1;
  double     *dB, *dw, *de[3] = {NULL, NULL, NULL}, *ds, zero = 0;
  cudaError_t err = Upload(Q * P, B, &dB);

  if (!err) err = Upload(Q, w, &dw);
  for (int a = 0; a < dim && !err; a++) err = Upload((size_t)ncells[a] * Q, e[a], &de[a]);
  if (!err) err = Upload(1, &zero, &ds);
  if (err) return err;
  Error<<<dim3(ncells[0], ncells[1], m2), 128,
          (P * P * (dim == 3 ? P : 1) + Q * P * (dim == 3 ? P : 1) + Q * Q * (dim == 3 ? P : 1)) * sizeof(double)>>>(dim, p,
                                                                                                                     ncells[0],
                                                                                                                     ncells[1], m2,
                                                                                                                     Q, dB, dw,
                                                                                                                     de[0], de[1],
                                                                                                                     de[2], u, ds);
  err = cudaDeviceSynchronize();
  if (!err) err = cudaMemcpy(sum, ds, sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(dB);
  cudaFree(dw);
  cudaFree(ds);
  for (int a = 0; a < dim; a++) cudaFree(de[a]);
  return err;
}
