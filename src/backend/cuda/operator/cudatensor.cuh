/*
  What the kernels of full tensors on cells and on faces do alike. Sizes are not known to the compiler: an
  item (a component in a lane) has lines of length n an odd number n|1 of doubles apart; a thread makes four
  entries of a line at a time, with two loads of the matrix.
*/
#pragma once
#include "cudatensor.h"

static __device__ __forceinline__ int Odd(int n)
{
  return n | 1;
}

/* t / d, for t < 2^21, by its reciprocal */
static __device__ __forceinline__ int Quotient(int t, float reciprocal)
{
  return (int)((t + 0.5f) * reciprocal);
}

/* out[item][o][m][i] (+)= sum_n A[n][m] in[item][o][n][i], where an entry lies at item S + o so + n sn + i
   (in), o ro + m rm + i (out) */
static __device__ __forceinline__ void Contract(int M, int N, const double *A, int items, int S, int outer, int inner, int so,
                                                int sn, int ro, int rm, const double *in, double *out, bool add)
{
  const int   Mp = (M + 3) & ~3, total = items * outer * inner * (Mp / 4);
  const float ri = __frcp_rn((float)inner), ro1 = __frcp_rn((float)outer), rs = __frcp_rn((float)items);

  for (int t = threadIdx.x; t < total; t += blockDim.x) {
    int       r = t, q = Quotient(r, ri);
    const int i    = r - q * inner;
    double    v[4] = {0, 0, 0, 0};

    r                  = q;
    q                  = Quotient(r, ro1);
    const int o        = r - q * outer;
    r                  = q;
    q                  = Quotient(r, rs);
    const int     item = r - q * items, m = 4 * q;
    const double *s = in + item * S + o * so + i, *a = A + m;
    double       *to = out + item * S + o * ro + i + m * rm;

#pragma unroll 2
    for (int n = 0; n < N; n++) {
      const double  x  = s[n * sn];
      const double2 a0 = *(const double2 *)(a + n * Mp), a1 = *(const double2 *)(a + n * Mp + 2);

      v[0] += a0.x * x;
      v[1] += a0.y * x;
      v[2] += a1.x * x;
      v[3] += a1.y * x;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (m + j < M) to[j * rm] = add ? to[j * rm] + v[j] : v[j];
  }
}

/* out (+)= (Az x) Ay x Ax in of items; t1 and t2 are scratch, t2 may be `in`; 2D and 1D use fewer of them */
static __device__ __forceinline__ void Tensor(int dim, int M, int N, const double *Ax, const double *Ay, const double *Az,
                                              int items, int S, const double *in, double *t1, double *t2, double *out, bool add)
{
  const int lm = Odd(M), ln = Odd(N);

  if (dim == 1) {
    Contract(M, N, Ax, items, S, 1, 1, 0, 1, 0, 1, in, out, add);
    __syncthreads();
    return;
  }
  Contract(M, N, Ax, items, S, dim == 3 ? N * N : N, 1, ln, 1, lm, 1, in, t1, false);
  __syncthreads();
  if (dim == 2) {
    Contract(M, N, Ay, items, S, 1, M, 0, lm, 0, lm, t1, out, add);
    __syncthreads();
    return;
  }
  Contract(M, N, Ay, items, S, N, M, N * lm, lm, M * lm, lm, t1, t2, false);
  __syncthreads();
  Contract(M, N, Az, items, S, M, M, lm, M * lm, lm, M * lm, t2, out, add);
  __syncthreads();
}

/* where entry i of a tensor-product set of n entries a direction lies in an item */
static __device__ __forceinline__ int Place(int i, int n)
{
  return i / n * Odd(n) + i % n;
}

/*
  acc = what a component gets at a point: value, then derivatives. `w` is the scratch at the point, at + entry
  * stride the point's tensors of a block of nentries
*/
template <int DIM>
static __device__ __forceinline__ void Accumulate(const HopsCudaTensorOut &o, const HopsCudaTensorOp *__restrict__ ops,
                                                  size_t batch, size_t stride, int at, const double *w, double acc[])
{
#pragma unroll
  for (int a = 0; a <= DIM; a++) acc[a] = 0;
  for (int j = o.first; j < o.end; j++) {
    const HopsCudaTensorOp p = ops[j];
    const double          *q = p.q + (batch * p.nentries + p.entry) * stride + at, *u = w + p.in;

    if (p.kind == 3) {
      double g[DIM], x[DIM][DIM];

#pragma unroll
      for (int a = 0; a < DIM; a++)
#pragma unroll
        for (int b = 0; b < DIM; b++) x[a][b] = __ldcs(q + (a * p.sa + b * p.sb) * stride);
#pragma unroll
      for (int b = 0; b < DIM; b++) g[b] = u[(b + 1) * p.R];
#pragma unroll
      for (int a = 0; a < DIM; a++)
#pragma unroll
        for (int b = 0; b < DIM; b++) acc[a + 1] += x[a][b] * g[b];
    } else if (p.kind == 1) {
#pragma unroll
      for (int b = 0; b < DIM; b++) acc[0] += __ldcs(q + b * stride) * u[(b + 1) * p.R];
    } else if (p.kind == 2) {
#pragma unroll
      for (int a = 0; a < DIM; a++) acc[a + 1] += __ldcs(q + a * stride) * u[0];
    } else acc[0] += __ldcs(q) * u[0];
  }
}

/* The tensors at the points of the n cells of a batch; NC: components that come out, in place of those that
   go in; 0: any number, beside them */
template <int DIM, int NC>
static __device__ __forceinline__ void Points(const HopsCudaTensorArgs &k, const int Q, const int nq, size_t batch, int n,
                                              double *w)
{
  const size_t stride = (size_t)k.W * nq;

  for (int t = threadIdx.x; t < n * nq; t += blockDim.x) {
    const int lane = t / nq;
    double   *at   = w + lane * k.S + Place(t - lane * nq, Q);

    if constexpr (NC > 0) {
      double acc[NC][DIM + 1];

#pragma unroll
      for (int c = 0; c < NC; c++) Accumulate<DIM>(k.out[c], k.op, batch, stride, t, at, acc[c]);
#pragma unroll
      for (int c = 0; c < NC; c++)
#pragma unroll
        for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[c][a];
    } else {
      for (int c = 0; c < k.ncout; c++) {
        double acc[DIM + 1];

        Accumulate<DIM>(k.out[c], k.op, batch, stride, t, at, acc);
#pragma unroll
        for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[a];
      }
    }
  }
}

/* The nodes of the cells of a batch; e: [component][lane][node], zero in lanes without a cell */
template <int DIM>
static __device__ __forceinline__ void Gather(const HopsCudaTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                              double *e)
{
  const int nn = DIM == 3 ? P * P * P : P * P;

  for (int t = threadIdx.x; t < W * nn; t += blockDim.x) {
    const int lane = t / nn;
    double   *to   = e + lane * S + Place(t - lane * nn, P);

    if (lane < n) {
      const double *from = s.l + (size_t)s.restr[(size_t)cell * nn + t] * s.nc;

      for (int c = 0; c < s.nc; c++) to[c * W * S] = from[c];
    } else
      for (int c = 0; c < s.nc; c++) to[c * W * S] = 0;
  }
  __syncthreads();
}

template <int DIM>
static __device__ __forceinline__ void Scatter(const HopsCudaTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                               const double *e)
{
  const int nn = DIM == 3 ? P * P * P : P * P;

  for (int t = threadIdx.x; t < n * nn; t += blockDim.x) {
    const int     lane = t / nn;
    const double *from = e + lane * S + Place(t - lane * nn, P);
    double       *to   = s.l + (size_t)s.restr[(size_t)cell * nn + t] * s.nc;

    for (int c = 0; c < s.nc; c++) atomicAdd(to + c, from[c * W * S]);
  }
}
