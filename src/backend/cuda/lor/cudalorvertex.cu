/* Geometry factors of the low-order-refined matrix at the nodes of cells. */
#include "cudalor.h"
#include <backend/lanes/operator/lanesgeom.h>

/* T = A kappa; kappa scalar, diagonal or symmetric (upper triangle by rows) as nc is 1, DIM or more */
template <int DIM> __device__ static void TimesKappa(int nc, const double *__restrict__ K, const double A[], double T[])
{
  double k[DIM * DIM];

  if (nc <= DIM) {
#pragma unroll
    for (int i = 0; i < DIM * DIM; i++) T[i] = A[i] * K[nc == 1 ? 0 : i % DIM];
    return;
  }
#pragma unroll
  for (int i = 0, n = 0; i < DIM; i++)
#pragma unroll
    for (int j = i; j < DIM; j++, n++) k[i * DIM + j] = k[j * DIM + i] = K[n];
#pragma unroll
  for (int r = 0; r < DIM; r++)
#pragma unroll
    for (int j = 0; j < DIM; j++) {
      double t = 0;

#pragma unroll
      for (int i = 0; i < DIM; i++) t += A[r * DIM + i] * k[i * DIM + j];
      T[r * DIM + j] = t;
    }
}

/* Bits of a cell's mask, once for the threads of a warp that share the cell: a byte of the word that holds
   it */
__device__ static void SetMask(unsigned char *mask, int c, unsigned int on)
{
  const unsigned int active = __activemask(), peers = __match_any_sync(active, c);

  on = __reduce_or_sync(peers, on);
  if ((int)(threadIdx.x % 32) == __ffs(peers) - 1 && on && (*(volatile unsigned char *)mask & on) != on) {
    const size_t at = (size_t)mask & 3;

    atomicOr((unsigned int *)(mask - at), on << (8 * at));
  }
}

#define HOPS_MASK_LARGE 8u /* an off-diagonal factor of the cell is too large to drop */

/* Vertex data of node v of cell c of the run, with Jacobian J[i][a] = dx_i/dxi_a */
template <int DIM> __device__ static void Factors(const HopsCudaLORRun &s, int c, int v, const int ijk[], const double J[])
{
  const size_t at = ((size_t)c * s.nn + v) * 4;
  /* R: the node's weight over its share of the sub-cells' volumes */
  double       A[DIM * DIM], T[DIM * DIM], m[DIM], G[DIM * DIM], mm = 1, R = 1;
  double       x[4] = {0, 0, 0, 0}, q[4] = {0, 0, 0, 0};
  const double det = Adjugate(DIM, J, A);

  if (!(det > 0)) atomicMin(s.bad, c);
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    m[a] = __ldg(s.m + ijk[a]);
    mm *= m[a];
    R *= __ldg(s.r + ijk[a]);
  }
  if (s.knc) {
    const double f  = R / det;
    unsigned int on = 0;

    TimesKappa<DIM>(s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride, A, T);
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int b = a; b < DIM; b++) {
        double t = 0;

#pragma unroll
        for (int i = 0; i < DIM; i++) t += T[a * DIM + i] * A[b * DIM + i];
        G[a * DIM + b] = f * t;
      }
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      double w = 0.5;

#pragma unroll
      for (int b = 0; b < DIM; b++)
        if (b != a) w *= m[b];
      x[a] = G[a * DIM + a] * w;
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        const double g = G[a * DIM + b], gg = G[a * DIM + a] * G[b * DIM + b];

        if (g * g > s.tol * s.tol * gg) on |= 1u << bit;
        if (g * g > s.droptol * s.droptol * gg) on |= HOPS_MASK_LARGE;
        q[bit] = g * (0.25 * (DIM == 3 ? m[3 - a - b] : 1));
      }
    SetMask(s.mask + c, c, on);
  }
  if (s.mnc) x[3] = R * mm * det * s.mass[(size_t)c * s.mcstride + (size_t)v * s.mpstride];
  if (DIM == 2 && s.mixed) x[2] = q[0];
  *(double2 *)(s.out + at)     = make_double2(x[0], x[1]);
  *(double2 *)(s.out + at + 2) = make_double2(x[2], x[3]);
  if (DIM == 3 && s.mixed) {
    *(double2 *)(s.pairs + at)     = make_double2(q[0], q[1]);
    *(double2 *)(s.pairs + at + 2) = make_double2(q[2], q[3]);
  }
}

/* The same of families other than H1: tensors J^-1 kappa J^-T det J of H(curl), J^T kappa J / det J of
   H(div), kappa / det J of L2 */
template <int DIM> __device__ static void Tensors(const HopsCudaLORRun &s, int c, int v, const double J[])
{
  const size_t  nn    = (size_t)s.nn;
  const int     nc[2] = {s.knc, s.mnc};
  const double *K[2]  = {s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride,
                         s.mass + (size_t)c * s.mcstride + (size_t)v * s.mpstride};
  double        A[9], R[DIM * DIM], T[DIM * DIM], G[DIM * DIM];
  const double  det = Adjugate(DIM, J, A);
  double       *out = s.out + (size_t)c * s.ncomp * nn + v, *mixed = out;
  unsigned int  on = 0;

  if (!(det > 0)) atomicMin(s.bad, c);
#pragma unroll
  for (int t = 0; t < 2; t++)
    if (nc[t]) mixed += nn * (s.family[t] == HOPS_L2 ? 1 : DIM);
#pragma unroll
  for (int t = 0; t < 2; t++) {
    if (!nc[t]) continue;
    if (s.family[t] == HOPS_L2) {
      *out = K[t][0] / det;
      out += nn;
      continue;
    }
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int i = 0; i < DIM; i++) R[a * DIM + i] = s.family[t] == HOPS_HCURL ? A[a * DIM + i] : J[i * DIM + a];
    TimesKappa<DIM>(nc[t], K[t], R, T);
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int b = a; b < DIM; b++) {
        double g = 0;

#pragma unroll
        for (int i = 0; i < DIM; i++) g += T[a * DIM + i] * R[b * DIM + i];
        G[a * DIM + b] = g / det;
      }
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      *out = G[a * DIM + a];
      out += nn;
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        const double g = G[a * DIM + b];

        if (!(g * g <= s.tol * s.tol * G[a * DIM + a] * G[b * DIM + b]) && g != 0) on |= 1u << bit;
        if (s.mixed) {
          *mixed = g;
          mixed += nn;
        }
      }
  }
  SetMask(s.mask + c, c, on);
}

/* Vertex data of either kind */
template <int DIM, bool LUMP>
__device__ __forceinline__ static void Node(const HopsCudaLORRun &s, int c, int v, const int ijk[], const double J[])
{
  if (LUMP) Tensors<DIM>(s, c, v, J);
  else Factors<DIM>(s, c, v, ijk, J);
}

/* J of a bi- or trilinear map, direction by direction; b, d: the two basis functions of each direction and
   their derivatives */
template <int DIM>
__device__ __forceinline__ static void Multilinear(const double *X, const double b[][2], const double d[][2], double J[])
{
#pragma unroll
  for (int i = 0; i < DIM; i++, X += 1 << DIM) {
    double f[2], fx[2], fy[2];

#pragma unroll
    for (int z = 0; z < DIM - 1; z++) {
      double u[2], w[2];

#pragma unroll
      for (int y = 0; y < 2; y++) {
        const double x0 = __ldg(X + 4 * z + 2 * y), x1 = __ldg(X + 4 * z + 2 * y + 1);

        u[y] = b[0][0] * x0 + b[0][1] * x1;
        w[y] = d[0][0] * x0 + d[0][1] * x1;
      }
      f[z]  = b[1][0] * u[0] + b[1][1] * u[1];
      fx[z] = b[1][0] * w[0] + b[1][1] * w[1];
      fy[z] = d[1][0] * u[0] + d[1][1] * u[1];
    }
    if (DIM == 2) {
      J[i * DIM]     = fx[0];
      J[i * DIM + 1] = fy[0];
    } else {
      J[i * DIM]     = b[2][0] * fx[0] + b[2][1] * fx[1];
      J[i * DIM + 1] = b[2][0] * fy[0] + b[2][1] * fy[1];
      J[i * DIM + 2] = d[2][0] * f[0] + d[2][1] * f[1];
    }
  }
}

/* J by full sums over the nodes of the element map, which are few */
template <int DIM>
__device__ __forceinline__ static void FullSums(const HopsCudaLORRun &s, const double *X, const int ijk[], double J[])
{
  const int Pg = s.Pg, ng = Pg * Pg * (DIM == 3 ? Pg : 1);

#pragma unroll
  for (int i = 0; i < DIM * DIM; i++) J[i] = 0;
  for (int z = 0; z < (DIM == 3 ? Pg : 1); z++) {
    const double bz = DIM == 3 ? __ldg(s.B + ijk[2] * Pg + z) : 1, dz = DIM == 3 ? __ldg(s.D + ijk[2] * Pg + z) : 0;

    for (int y = 0; y < Pg; y++) {
      const double by = __ldg(s.B + ijk[1] * Pg + y), dy = __ldg(s.D + ijk[1] * Pg + y);

      for (int x = 0; x < Pg; x++) {
        const double b = __ldg(s.B + ijk[0] * Pg + x), d = __ldg(s.D + ijk[0] * Pg + x);

#pragma unroll
        for (int i = 0; i < DIM; i++) {
          const double xi = __ldg(X + i * ng + (z * Pg + y) * Pg + x);

          J[i * DIM] += d * by * bz * xi;
          J[i * DIM + 1] += b * dy * bz * xi;
          if (DIM == 3) J[i * DIM + 2] += b * by * dz * xi;
        }
      }
    }
  }
}

/* A thread for each node, which computes J alone. LINEAR: the element map has two nodes in each direction */
template <int DIM, bool LINEAR, bool LUMP>
__global__ static void __launch_bounds__(128, LINEAR && !LUMP ? 8 : 4) VertexDirect(const HopsCudaLORRun s)
{
  const unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int          c = __double2int_rd((t + 0.5) * s.perentry), v = (int)(t - (unsigned int)(c * s.nn)); /* exact for t < 2^31 */

  if (c >= s.n) return;
  const int at = __ldg(s.ijk + v), ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
  double    J[DIM * DIM];

  if (LINEAR) {
    double b[DIM][2], d[DIM][2];

#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int k = 0; k < 2; k++) {
        b[a][k] = __ldg(s.B + ijk[a] * 2 + k);
        d[a][k] = __ldg(s.D + ijk[a] * 2 + k);
      }
    Multilinear<DIM>(s.X + (size_t)c * (DIM << DIM), b, d, J);
  } else FullSums<DIM>(s, s.X + (size_t)c * DIM * s.Pg * s.Pg * (DIM == 3 ? s.Pg : 1), ijk, J);
  Node<DIM, LUMP>(s, c, v, ijk, J);
}

/*
  The element map is interpolated to the nodes of the space, direction by direction, and differentiated there.
  Blocks of nb cells; two arrays of nb * DIM * nn in shared memory take turns. The map's order is at most the
  space's.
*/
template <int DIM, bool LUMP> __global__ static void VertexNodal(const HopsCudaLORRun s, int nb)
{
  extern __shared__ double shared[];
  const int                c0 = blockIdx.x * nb, n = min(nb, s.n - c0), P = s.P, Pg = s.Pg, nn = s.nn, S = DIM * nn;
  const int                ng = Pg * Pg * (DIM == 3 ? Pg : 1), T = blockDim.x;
  double                  *a = shared, *b = shared + nb * S;

  for (int t = threadIdx.x; t < n * DIM * ng; t += T) a[t / (DIM * ng) * S + t % (DIM * ng)] = s.X[(size_t)c0 * DIM * ng + t];
  __syncthreads();
  if (Pg < P) {
    int inner = 1, outer = DIM * ng / Pg; /* [outer][Pg][inner] -> [outer][P][inner] */

    for (int d = 0; d < DIM; d++) {
      const int len = outer * P * inner;

      for (int t = threadIdx.x; t < n * len; t += T) {
        const int     cell = t / len, r = t - cell * len, i = r % inner, q = r / inner % P, o = r / (inner * P);
        const double *src = a + cell * S + o * Pg * inner + i;
        double        v   = 0;

        for (int k = 0; k < Pg; k++) v += __ldg(s.B + q * Pg + k) * src[k * inner];
        b[cell * S + r] = v;
      }
      __syncthreads();
      double *w = a;

      a = b;
      b = w;
      inner *= P;
      outer /= Pg;
    }
  }
  for (int t = threadIdx.x; t < n * nn; t += T) {
    const int     cell = t / nn, v = t - cell * nn, at = __ldg(s.ijk + v);
    const int     ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
    const double *x      = a + cell * S;
    double        J[DIM * DIM];

#pragma unroll
    for (int i = 0; i < DIM * DIM; i++) J[i] = 0;
#pragma unroll
    for (int e = 0, stride = 1; e < DIM; e++, stride *= P)
      for (int k = 0; k < P; k++) {
        const double d = __ldg(s.C + ijk[e] * P + k);

#pragma unroll
        for (int i = 0; i < DIM; i++) J[i * DIM + e] += d * x[i * nn + v + (k - ijk[e]) * stride];
      }
    Node<DIM, LUMP>(s, c0 + cell, v, ijk, J);
  }
}

template <int DIM, bool LUMP> static PetscErrorCode Launch(const HopsCudaLORRun *s)
{
  const size_t points = (size_t)s->n * s->nn, one = 2 * (size_t)DIM * s->nn * sizeof(double);
  const int    blocks = (int)((points + 127) / 128);
  int          device, most;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (s->Pg == 2) VertexDirect<DIM, true, LUMP><<<blocks, 128, 0, s->stream>>>(*s);
  else if (s->Pg > s->P || one > (size_t)most) VertexDirect<DIM, false, LUMP><<<blocks, 128, 0, s->stream>>>(*s);
  else {
    const int nb = (int)PetscMax(1, PetscMin((size_t)192 / s->nn, 24576 / one)), threads = nb * s->nn > 256 ? 256 : 128;

    PetscCallCUDA(cudaFuncSetAttribute(VertexNodal<DIM, LUMP>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    VertexNodal<DIM, LUMP><<<(int)((s->n + nb - 1) / nb), threads, nb * one, s->stream>>>(*s, nb);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell drops all of its off-diagonal factors or none */
__global__ static void Drop(PetscInt n, unsigned char *mask)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (c < n) mask[c] = mask[c] & HOPS_MASK_LARGE ? mask[c] & ~HOPS_MASK_LARGE : 0;
}

PetscErrorCode HopsCudaLORVertexData(const HopsCudaLORRun *s)
{
  PetscFunctionBegin;
  if (s->lump) {
    if (s->dim == 3) PetscCall((Launch<3, true>(s)));
    else PetscCall((Launch<2, true>(s)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->dim == 3) PetscCall((Launch<3, false>(s)));
  else PetscCall((Launch<2, false>(s)));
  if (s->knc) {
    Drop<<<(unsigned int)((s->n + 255) / 256), 256, 0, s->stream>>>(s->n, s->mask);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Masks ---- */

__global__ static void Compare(PetscInt n, const unsigned char *__restrict__ newmask, const unsigned char *__restrict__ mask,
                               int     *result)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  const int      a = c < n ? newmask[c] : 0, m = c < n ? mask[c] : 0;
  const int      lacks = __syncthreads_or(a & ~m), some = __syncthreads_or(a);

  if (threadIdx.x == 0) { /* all write the same */
    if (lacks) result[0] = 1;
    if (some) result[1] = 1;
  }
}

PetscErrorCode HopsCudaLORCompare(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[2],
                                  cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(result, 0, 2 * sizeof(int), stream));
  Compare<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, newmask, mask, result);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

__global__ static void Merge(PetscInt n, const unsigned char *__restrict__ more, unsigned char *__restrict__ mask)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (c < n) mask[c] |= more[c];
}

PetscErrorCode HopsCudaLORMerge(PetscInt n, const unsigned char more[], unsigned char mask[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (n) Merge<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, more, mask);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
