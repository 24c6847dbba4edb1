/*
  Forms on H(curl), H(div) and L2 of any order: the operator where no fused kernel exists, the diagonal, and
  set-up. A block works on a cell; scratch lies in shared memory where it fits, else in the device's memory.
*/
#include "cudaderham.h"
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/operator/lanescontract.h>
#include <backend/lanes/operator/lanesjacobian.h>

#define HOPS_CUDA_FORM_THREADS 128
#define HOPS_CUDA_FORM_SHARED  (200 * 1024)

typedef HopsCudaTeam<double> Team;

/* The layouts of the field and of its derivative beside the arguments of the launch */
struct HopsCudaDerhamCell {
  HopsCudaDerhamArgs k;
  HopsLayout         l, w;
};

/* Component c at the points, and back: f, g are scratch */
__device__ static void Evaluate(const HopsCudaDerhamArgs &k, const HopsLayout &l, int c, const double *u, double *f, double *g,
                                double *out)
{
  const int     n[3] = {(int)l.n[c][0], (int)l.n[c][1], (int)l.n[c][2]}, Q = k.Q;
  const double *A[3] = {l.open[c][0] ? k.E : k.B, l.open[c][1] ? k.E : k.B, l.open[c][2] ? k.E : k.B};

  Contract(Team(), Q, n[0], A[0], n[0], 1, n[1] * n[2], 1, u, f, false);
  if (k.dim == 2) {
    Contract(Team(), Q, n[1], A[1], n[1], 1, 1, Q, f, out, false);
    return;
  }
  Contract(Team(), Q, n[1], A[1], n[1], 1, n[2], Q, f, g, false);
  Contract(Team(), Q, n[2], A[2], n[2], 1, 1, Q * Q, g, out, false);
}

/* out (+)= the transposed contractions by the matrices A[d][Q][n[d]] */
__device__ static void Transpose(int dim, int Q, const int n[3], const double *const A[3], const double *in, double *f, double *g,
                                 double *out, bool add)
{
  if (dim == 2) {
    Contract(Team(), n[1], Q, A[1], 1, n[1], 1, Q, in, f, false);
    Contract(Team(), n[0], Q, A[0], 1, n[0], n[1], 1, f, out, add);
    return;
  }
  Contract(Team(), n[2], Q, A[2], 1, n[2], 1, Q * Q, in, g, false);
  Contract(Team(), n[1], Q, A[1], 1, n[1], n[2], Q, g, f, false);
  Contract(Team(), n[0], Q, A[0], 1, n[0], n[1] * n[2], 1, f, out, add);
}

/* u <- sum_ab B_a^T D_ab B_b u with the tensor data d[nc][Q^dim] */
__device__ static void Term(const HopsCudaDerhamArgs &k, const HopsLayout &l, int nc, const double *d, double *u, double *f,
                            double *g, double *v)
{
  const int nq = HopsLanesPower(k.Q, k.dim), m = (int)l.nc;

  for (int c = 0; c < m; c++) Evaluate(k, l, c, u + l.off[c], f, g, v + c * nq);
  for (int q = threadIdx.x; q < nq; q += blockDim.x) {
    double in[3];

    for (int a = 0; a < m; a++) in[a] = v[a * nq + q];
    for (int a = 0; a < m; a++) {
      double s = 0;

      for (int b = 0; b < m; b++) {
        const int r = a < b ? a : b, c = a < b ? b : a;

        s += d[(r * m - r * (r + 1) / 2 + c) * nq + q] * in[b];
      }
      v[a * nq + q] = s;
    }
  }
  __syncthreads();
  for (int c = 0; c < m; c++) {
    const int           n[3] = {(int)l.n[c][0], (int)l.n[c][1], (int)l.n[c][2]};
    const double *const A[3] = {l.open[c][0] ? k.E : k.B, l.open[c][1] ? k.E : k.B, l.open[c][2] ? k.E : k.B};

    Transpose(k.dim, k.Q, n, A, v + c * nq, f, g, u + l.off[c], false);
  }
}

/* The entry of component c at i + e_d (d < 0: at i) of a layout's array, 0 outside */
__device__ static double Entry(const HopsLayout &l, const double *u, int c, const int i[3], int d, int shift)
{
  int at[3] = {i[0], i[1], i[2]};

  if (d >= 0) at[d] += shift;
  for (int x = 0; x < 3; x++)
    if (at[x] < 0 || at[x] >= (int)l.n[c][x]) return 0;
  return u[l.off[c] + at[0] + (int)l.n[c][0] * (at[1] + (int)l.n[c][1] * at[2])];
}

__device__ static int Place(const HopsLayout &l, int e, int i[3])
{
  int c = 0;

  while (e >= (int)l.off[c + 1]) c++;
  e -= (int)l.off[c];
  i[0] = e % (int)l.n[c][0];
  i[1] = e / (int)l.n[c][0] % (int)l.n[c][1];
  i[2] = e / (int)(l.n[c][0] * l.n[c][1]);
  return c;
}

/* w = C u on the lattice: (dw)_c = u_a + u_b(+a) - u_a(+b) - u_b, or the sum over directions d of u_d(+d) -
   u_d */
__device__ static void Derivative(const HopsCudaDerhamCell &s, const double *u, double *w)
{
  for (int e = threadIdx.x; e < (int)s.w.ne; e += blockDim.x) {
    int       i[3];
    const int c = Place(s.w, e, i), dim = s.k.dim;
    double    v = 0;

    if (s.k.family == HOPS_CUDA_HCURL) {
      const int a = dim == 3 ? (c + 1) % 3 : 0, b = dim == 3 ? (c + 2) % 3 : 1;

      v = Entry(s.l, u, a, i, -1, 0) + Entry(s.l, u, b, i, a, 1) - Entry(s.l, u, a, i, b, 1) - Entry(s.l, u, b, i, -1, 0);
    } else {
      for (int d = 0; d < dim; d++) v += Entry(s.l, u, d, i, d, 1) - Entry(s.l, u, d, i, -1, 0);
    }
    w[e] = v;
  }
  __syncthreads();
}

/* u (+)= C^T w */
__device__ static void DerivativeTranspose(const HopsCudaDerhamCell &s, const double *w, double *u, bool add)
{
  for (int e = threadIdx.x; e < (int)s.l.ne; e += blockDim.x) {
    int       i[3];
    const int c = Place(s.l, e, i), dim = s.k.dim;
    double    v = add ? u[e] : 0;

    if (s.k.family != HOPS_CUDA_HCURL) v += Entry(s.w, w, 0, i, c, -1) - Entry(s.w, w, 0, i, -1, 0);
    else {
      if (dim == 3 || c == 0)
        v += Entry(s.w, w, dim == 3 ? (c + 2) % 3 : 0, i, -1, 0) -
             Entry(s.w, w, dim == 3 ? (c + 2) % 3 : 0, i, dim == 3 ? (c + 1) % 3 : 1, -1);
      if (dim == 3 || c == 1)
        v += Entry(s.w, w, dim == 3 ? (c + 1) % 3 : 0, i, dim == 3 ? (c + 2) % 3 : 0, -1) -
             Entry(s.w, w, dim == 3 ? (c + 1) % 3 : 0, i, -1, 0);
    }
    u[e] = v;
  }
  __syncthreads();
}

__global__ static void __launch_bounds__(HOPS_CUDA_FORM_THREADS)
  Apply(const HopsCudaDerhamCell s, const double *__restrict__ x, const double *__restrict__ xg, double *y, double *yg)
{
  extern __shared__ double  shared[];
  const HopsCudaDerhamArgs &k  = s.k;
  const int                 ne = (int)s.l.ne, nq = HopsLanesPower(k.Q, k.dim), nm = HopsLanesPower(k.P > k.Q ? k.P : k.Q, k.dim);
  double *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *w = e + ne, *f = w + s.w.ne, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int    *restr = k.restr + (size_t)cell * ne;
    const double *d     = k.qdata + (size_t)cell * nq * (k.nd + k.nm);

    for (int i = threadIdx.x; i < ne; i += blockDim.x) {
      const int l = restr[i] < 0 ? -1 - restr[i] : restr[i];

      e[i] = (restr[i] < 0 ? -1 : 1) * (l < k.nT ? x[l] : xg[l - k.nT]);
    }
    __syncthreads();
    if (k.nd) {
      Derivative(s, e, w);
      Term(k, s.w, k.nd, d, w, f, g, v);
    }
    if (k.nm) Term(k, s.l, k.nm, d + (size_t)k.nd * nq, e, f, g, v);
    if (k.nd) DerivativeTranspose(s, w, e, k.nm > 0);
    for (int i = threadIdx.x; i < ne; i += blockDim.x) {
      const int l = restr[i] < 0 ? -1 - restr[i] : restr[i];

      atomicAdd(l < k.nT ? y + l : yg + (l - k.nT), (restr[i] < 0 ? -1 : 1) * e[i]);
    }
    __syncthreads();
  }
}

/* e_i (+)= a sum_q d_q prod_x f_x(q) for the entries of component c; f: by `kind` of direction the square of
   the function (0), of its derivative (1), or their product (2) */
__device__ static void DiagonalTerm(const HopsCudaDerhamCell &s, int c, const int kind[3], double a, const double *d, double *e,
                                    double *f, double *g, double *v, bool add)
{
  const HopsCudaDerhamArgs &k = s.k;
  const double             *A[3];
  const int                 nq = HopsLanesPower(k.Q, k.dim), n[3] = {(int)s.l.n[c][0], (int)s.l.n[c][1], (int)s.l.n[c][2]};

  for (int x = 0; x < 3; x++) A[x] = kind[x] == 1 ? k.DD : (kind[x] == 2 ? k.BD : (s.l.open[c][x] ? k.EE : k.BB));
  for (int q = threadIdx.x; q < nq; q += blockDim.x) v[q] = a * d[q];
  __syncthreads();
  Transpose(k.dim, k.Q, n, A, v, f, g, e + s.l.off[c], add);
}

/* Of the field D_cc phi^2; of a divergence D (d_c phi)^2; of a curl, with component c alone, (0, d_z, -d_y)
   phi and cyclic: the tensor's two diagonal entries and the one between them */
__global__ static void __launch_bounds__(HOPS_CUDA_FORM_THREADS) Diagonal(const HopsCudaDerhamCell s, double *y, double *yg)
{
  extern __shared__ double  shared[];
  const HopsCudaDerhamArgs &k = s.k;
  const int ne = (int)s.l.ne, dim = k.dim, nq = HopsLanesPower(k.Q, dim), nm = HopsLanesPower(k.P > k.Q ? k.P : k.Q, dim);
  const int diag3[3] = {0, 3, 5}, off3[3] = {4, 2, 1};
  double   *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *f = e + ne, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int    *restr = k.restr + (size_t)cell * ne;
    const double *dd = k.qdata + (size_t)cell * nq * (k.nd + k.nm), *dm = dd + (size_t)k.nd * nq;

    for (int c = 0; c < (int)s.l.nc; c++) {
      int kind[3] = {0, 0, 0};

      if (k.nm) DiagonalTerm(s, c, kind, 1, dm + (size_t)(s.l.nc == 1 ? 0 : (dim == 3 ? diag3[c] : 2 * c)) * nq, e, f, g, v, false);
      if (!k.nd) continue;
      if (k.family == HOPS_CUDA_HDIV || dim == 2) {
        kind[k.family == HOPS_CUDA_HDIV ? c : 1 - c] = 1;
        DiagonalTerm(s, c, kind, 1, dd, e, f, g, v, k.nm > 0);
      } else {
        const int r = (c + 1) % 3, t = (c + 2) % 3;

        kind[t] = 1;
        DiagonalTerm(s, c, kind, 1, dd + (size_t)diag3[r] * nq, e, f, g, v, k.nm > 0);
        kind[t] = 0;
        kind[r] = 1;
        DiagonalTerm(s, c, kind, 1, dd + (size_t)diag3[t] * nq, e, f, g, v, true);
        kind[r] = kind[t] = 2;
        DiagonalTerm(s, c, kind, -2, dd + (size_t)off3[c] * nq, e, f, g, v, true);
      }
    }
    for (int i = threadIdx.x; i < ne; i += blockDim.x) {
      const int l = restr[i] < 0 ? -1 - restr[i] : restr[i]; /* squares have no sign */

      atomicAdd(l < k.nT ? y + l : yg + (l - k.nT), e[i]);
    }
    __syncthreads();
  }
}

static HopsCudaDerhamCell Cell(const HopsCudaDerhamArgs *k)
{
  const HopsFamily   families[] = {HOPS_HCURL, HOPS_HDIV, HOPS_L2};
  HopsCudaDerhamCell s;

  s.k = *k;
  HopsLayoutCreate(families[k->family], k->dim, k->P - 1, &s.l);
  HopsLayoutCreate(HopsFamilyDerivative(families[k->family], k->dim), k->dim, k->P - 1, &s.w);
  return s;
}

PetscErrorCode HopsCudaDerhamGenericSetUp(HopsCudaDerhamArgs *k, PetscBool *shared)
{
  const HopsCudaDerhamCell s = Cell(k);
  int                      device, nsm, most;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  most     = PetscMin(most, HOPS_CUDA_FORM_SHARED);
  k->nwork = (size_t)(s.l.ne + s.w.ne) + 2 * (size_t)HopsLanesPower(PetscMax(k->P, k->Q), k->dim) +
             (size_t)s.l.nc * HopsLanesPower(k->Q, k->dim);
  *shared    = k->nwork * sizeof(double) <= (size_t)most ? PETSC_TRUE : PETSC_FALSE;
  k->nblocks = *shared ? 16 * nsm : 2 * nsm;
  PetscCallCUDA(cudaFuncSetAttribute(Apply, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  PetscCallCUDA(cudaFuncSetAttribute(Diagonal, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaDerhamLaunchGeneric(const HopsCudaDerhamArgs *k, const double x[], const double xg[], double y[],
                                           double yg[])
{
  const int                nblocks = (int)PetscMin((PetscInt)k->nblocks, k->n);
  const HopsCudaDerhamCell s       = Cell(k);

  PetscFunctionBegin;
  Apply<<<nblocks, HOPS_CUDA_FORM_THREADS, k->work ? 0 : k->nwork * sizeof(double), k->stream>>>(s, x, xg, y, yg);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaDerhamDiagonal(const HopsCudaDerhamArgs *k, double d[], double dg[])
{
  const int                nblocks = (int)PetscMin((PetscInt)k->nblocks, k->n);
  const HopsCudaDerhamCell s       = Cell(k);

  PetscFunctionBegin;
  Diagonal<<<nblocks, HOPS_CUDA_FORM_THREADS, k->work ? 0 : k->nwork * sizeof(double), k->stream>>>(s, d, dg);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Quadrature data ---- */

/* A term's values at a point in a family, A = det J^-1: nc values of the coefficient k; returns where the
   next term's go */
template <int DIM>
__device__ static double *Factor(int family, int nc, const double *k, double w, double det, const double J[9], const double A[9],
                                 size_t stride, double *out)
{
  double R[9];

  if (!nc) return out;
  if (family == HOPS_CUDA_L2) {
    *out = w / det * k[0];
    return out + stride;
  }
#pragma unroll
  for (int r = 0; r < DIM; r++)
#pragma unroll
    for (int c = 0; c < DIM; c++) R[r * DIM + c] = family == HOPS_CUDA_HCURL ? A[r * DIM + c] : J[c * DIM + r];
  return WeightedCongruence<DIM>(R, nc, k, w / det, stride, out);
}

/* A block for each cell, or (planes is 0) a thread for each point */
template <int DIM>
__global__ static void __launch_bounds__(HOPS_JACOBIAN_LANES) SetUp(int family, int derivative, const HopsSetUpArgs s, int planes)
{
  extern __shared__ double shared[];
  const auto               at = [&](int c, int q, const double J[9]) {
    const int    nq = HopsLanesPower(s.Q, DIM);
    double       A[9];
    const double w   = HopsLanesWeight(DIM, s.Q, s.w, q);
    const double det = Adjugate(DIM, J, A);
    double      *out = s.qdata + (size_t)(s.first + c) * s.ncomp * nq + q;

    if (!(det > 0)) atomicMin(s.bad, c);
    out = Factor<DIM>(derivative, s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)q * s.kpstride, w, det, J, A, nq, out);
    (void)Factor<DIM>(family, s.mnc, s.mass + (size_t)c * s.mcstride + (size_t)q * s.mpstride, w, det, J, A, nq, out);
  };

  if (planes) ForJacobians<DIM>(Team(), s, planes, shared, at);
  else AtJacobian<DIM>(s, (size_t)blockIdx.x * blockDim.x + threadIdx.x, at);
}

PetscErrorCode HopsCudaDerhamSetUp(int family, const HopsSetUpArgs *s)
{
  const int    derivative = family == HOPS_CUDA_HCURL && s->dim == 3 ? HOPS_CUDA_HDIV : HOPS_CUDA_L2;
  unsigned int blocks;
  size_t       bytes;
  int          planes;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  blocks = HopsJacobianTeams(s, &planes, &bytes);
  if (s->dim == 3) SetUp<3><<<blocks, HOPS_JACOBIAN_LANES, bytes, stream>>>(family, derivative, *s, planes);
  else SetUp<2><<<blocks, HOPS_JACOBIAN_LANES, bytes, stream>>>(family, derivative, *s, planes);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
