/*
  Kernels for any order: the operator where no fused kernel exists, the diagonal, and set-up. A block works on
  a cell; scratch lies in shared memory where it fits, else in the device's memory.
*/
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/cuda/runtime/cudacontract.cuh>
#include <backend/cuda/runtime/cudajacobian.cuh>
#include <hops/private/hopsmapkind.h>

#define HOPS_CUDA_THREADS 128
#define HOPS_CUDA_SHARED  (96 * 1024) /* bytes of shared memory of a generic block, two of which fit on a multiprocessor */

/* One cell: values of each derivative at the points, the quadrature data, the transposes. Any Q, below P
   too. */
__global__ static void __launch_bounds__(HOPS_CUDA_THREADS)
  ApplyGeneric(const HopsCudaArgs k, const double *__restrict__ x, const double *__restrict__ xg, double *y, double *yg)
{
  extern __shared__ double shared[];
  const int                dim = k.dim, P = k.P, Q = k.Q, nn = HopsCudaPower(P, dim), nq = HopsCudaPower(Q, dim),
            nm = HopsCudaPower(P > Q ? P : Q, dim);
  const int nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0), first = k.diffusion ? 0 : dim,
            last = dim + (k.mass ? 1 : 0);
  double *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *f = e + nn, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int    *restr = k.restr + (size_t)cell * nn;
    const double *d     = k.qdata + (size_t)cell * nq * nc;

    for (int i = threadIdx.x; i < nn; i += blockDim.x) e[i] = restr[i] < k.nT ? x[restr[i]] : xg[restr[i] - k.nT];
    __syncthreads();
    for (int a = first; a < last; a++) {
      const double *const A[3] = {a == 0 ? k.D : k.B, a == 1 ? k.D : k.B, a == 2 && dim == 3 ? k.D : k.B};

      Tensor(dim, Q, P, A, P, 1, e, f, g, v + (a - first) * nq, false);
    }
    for (int q = threadIdx.x; q < nq; q += blockDim.x) {
      if (nd) {
        double gr[3], fl[3];

        for (int a = 0; a < dim; a++) gr[a] = v[a * nq + q];
        for (int a = 0; a < dim; a++) {
          fl[a] = 0;
          for (int b = 0; b < dim; b++) {
            const int r = a < b ? a : b, c = a < b ? b : a;

            fl[a] += d[(r * dim - r * (r + 1) / 2 + c) * nq + q] * gr[b];
          }
        }
        for (int a = 0; a < dim; a++) v[a * nq + q] = fl[a];
      }
      if (k.mass) v[(dim - first) * nq + q] *= d[nd * nq + q];
    }
    __syncthreads();
    for (int a = first; a < last; a++) {
      const double *const A[3] = {a == 0 ? k.D : k.B, a == 1 ? k.D : k.B, a == 2 && dim == 3 ? k.D : k.B};

      Tensor(dim, P, Q, A, 1, P, v + (a - first) * nq, f, g, e, a > first);
    }
    for (int i = threadIdx.x; i < nn; i += blockDim.x) atomicAdd(restr[i] < k.nT ? y + restr[i] : yg + (restr[i] - k.nT), e[i]);
    __syncthreads();
  }
}

/* d_n += sum_q sum_ab D_ab(q) (d_a phi_n d_b phi_n)(q) + m(q) phi_n(q)^2, term by term: 1D factors DD, BD,
   BB */
__global__ static void __launch_bounds__(HOPS_CUDA_THREADS) Diagonal(const HopsCudaArgs k, double *y, double *yg)
{
  extern __shared__ double shared[];
  const int                dim = k.dim, P = k.P, Q = k.Q, nn = HopsCudaPower(P, dim), nq = HopsCudaPower(Q, dim),
            nm = HopsCudaPower(P > Q ? P : Q, dim);
  const int nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0);
  double   *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *f = e + nn, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int *restr = k.restr + (size_t)cell * nn;

    for (int t = 0, r = 0, c = 0; t < nc; t++) {
      const double *A[3] = {k.BB, k.BB, k.BB};

      for (int q = threadIdx.x; q < nq; q += blockDim.x)
        v[q] = (t < nd && r != c ? 2 : 1) * QData(k, cell, t < nd ? r : -1, c, t, q);
      if (t < nd) {
        if (r == c) A[r] = k.DD;
        else A[r] = A[c] = k.BD;
        if (++c == dim) c = ++r;
      }
      __syncthreads();
      Tensor(dim, P, Q, A, 1, P, v, f, g, e, t > 0);
    }
    for (int i = threadIdx.x; i < nn; i += blockDim.x) atomicAdd(restr[i] < k.nT ? y + restr[i] : yg + (restr[i] - k.nT), e[i]);
    __syncthreads();
  }
}

PetscErrorCode HopsCudaGenericSetUp(int dim, int P, int Q, size_t *nwork, int *nblocks, PetscBool *shared)
{
  int device, nsm;

  PetscFunctionBegin;
  *nwork =
    (size_t)HopsCudaPower(P, dim) + 2 * (size_t)HopsCudaPower(P > Q ? P : Q, dim) + (size_t)(dim + 1) * HopsCudaPower(Q, dim);
  *shared = *nwork * sizeof(double) <= HOPS_CUDA_SHARED ? PETSC_TRUE : PETSC_FALSE;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
  *nblocks = *shared ? 16 * nsm : 2 * nsm;
  PetscCallCUDA(cudaFuncSetAttribute(ApplyGeneric, cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_SHARED));
  PetscCallCUDA(cudaFuncSetAttribute(Diagonal, cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_SHARED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPALaunchGeneric(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const int nblocks = (int)PetscMin((PetscInt)k->nblocks, k->n);

  PetscFunctionBegin;
  ApplyGeneric<<<nblocks, HOPS_CUDA_THREADS, k->work ? 0 : k->nwork * sizeof(double), k->stream>>>(*k, x, xg, y, yg);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPADiagonal(const HopsCudaArgs *k, double d[], double dg[])
{
  const int nblocks = (int)PetscMin((PetscInt)k->nblocks, k->n);

  PetscFunctionBegin;
  Diagonal<<<nblocks, HOPS_CUDA_THREADS, k->work ? 0 : k->nwork * sizeof(double), k->stream>>>(*k, d, dg);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Quadrature data ---- */

/* w detJ J^-1 kappa J^-T and w detJ c at a point */
template <int DIM> __device__ static void PointData(const HopsCudaSetUp &s, int c, int q, const double J[9])
{
  const int    nq = HopsCudaPower(s.Q, DIM);
  double       A[9];
  const double w   = HopsCudaWeight(DIM, s.Q, s.w, q);
  const double det = Adjugate(DIM, J, A);
  double      *out = s.qdata + (size_t)(s.first + c) * s.ncomp * nq + q;

  if (!(det > 0)) atomicMin(s.bad, c);
  if (s.knc) out = WeightedCongruence<DIM>(A, s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)q * s.kpstride, w / det, nq, out);
  if (s.mnc) *out = w * det * s.mass[(size_t)c * s.mcstride + (size_t)q * s.mpstride];
}

/* A block for each cell, or (planes is 0) a thread for each point */
template <int DIM> __global__ static void __launch_bounds__(HOPS_CUDA_JACOBIAN_THREADS) SetUp(const HopsCudaSetUp s, int planes)
{
  const auto at = [&](int c, int q, const double J[9]) { PointData<DIM>(s, c, q, J); };

  if (planes) ForJacobians<DIM>(s, planes, at);
  else AtJacobian<DIM>(s, at);
}

/* X[dim][2^dim]: the corners of a cell */
__device__ static void LoadCorners(const HopsCudaSetUp &s, PetscInt c, double X[24])
{
  const int nn = HopsCudaPower(s.Pg, s.dim);

  for (int d = 0; d < s.dim; d++) HopsCellCorners(s.dim, s.Pg, s.X + ((size_t)c * s.dim + d) * nn, X + (d << s.dim));
}

/* A thread for each cell: what recomputed geometry needs */
__global__ static void SetUpCells(const HopsCudaSetUp s)
{
  const int     dim = s.dim, nx = dim << dim, nq = s.geometry == HOPS_CUDA_AFFINE ? 1 : HopsCudaPower(s.Q, dim);
  const int     c = blockIdx.x * blockDim.x + threadIdx.x;
  const double *k = s.kappa + (size_t)c * s.kcstride;
  double        J[9], A[9], X[24], det = 0;
  double       *out = s.geom + (size_t)(s.first + c) * HopsCudaGeomSize(s.geometry, dim);

  if (c >= s.n) return;
  LoadCorners(s, c, X);
  for (int q = 0; q < nq; q++) {
    CornerJacobian(dim, s.Q, s.z, X, q, J);
    det = Adjugate(dim, J, A);
    if (!(det > 0)) atomicMin(s.bad, c);
  }
  if (s.geometry == HOPS_CUDA_MULTILINEAR) {
    MapCoefficients(dim, X, out);
    out += nx - dim;
  }
  for (int r = 0; r < dim; r++)
    for (int l = r; l < dim; l++)
      *out++ =
        !s.knc ? 0 : (s.geometry == HOPS_CUDA_AFFINE ? Congruence(dim, A, s.knc, k, r, l) / det : Kappa(dim, s.knc, k, r, l));
  *out = s.mnc ? s.mass[(size_t)c * s.mcstride] * (s.geometry == HOPS_CUDA_AFFINE ? det : 1) : 0;
}

/* One thread: the first determinant of a cell that is not positive */
__global__ static void FindBad(const HopsCudaSetUp s, PetscInt cell)
{
  const int nq = HopsCudaPower(s.Q, s.dim), nx = s.dim * HopsCudaPower(s.Pg, s.dim);
  double    X[24];

  if (s.geometry != HOPS_CUDA_STORED) LoadCorners(s, cell, X);
  for (int q = 0; q < nq; q++) {
    double J[9], A[9], det;

    if (s.geometry != HOPS_CUDA_STORED) CornerJacobian(s.dim, s.Q, s.z, X, q, J);
    else Jacobian(s.dim, s, s.X + (size_t)cell * nx, q, J);
    det = Adjugate(s.dim, J, A);
    if (!(det > 0)) {
      *s.det = det;
      return;
    }
  }
}

PetscErrorCode HopsCudaPASetUp(const HopsCudaSetUp *s)
{
  unsigned int blocks;
  size_t       bytes;
  int          planes;

  PetscFunctionBegin;
  blocks = HopsCudaJacobianBlocks(s, &planes, &bytes);
  if (s->dim == 3) SetUp<3><<<blocks, HOPS_CUDA_JACOBIAN_THREADS, bytes, s->stream>>>(*s, planes);
  else SetUp<2><<<blocks, HOPS_CUDA_JACOBIAN_THREADS, bytes, s->stream>>>(*s, planes);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPASetUpCells(const HopsCudaSetUp *s)
{
  PetscFunctionBegin;
  SetUpCells<<<(unsigned int)((s->n + 127) / 128), 128, 0, s->stream>>>(*s);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A thread for each coordinate of a cell */
__global__ static void MapKind(PetscInt n, int dim, int g, const double *s, const double *X, int *kind)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  int            k;

  if (i >= n) return;
  k = HopsCellMapKind(dim, g, s, X + (size_t)i * HopsCudaPower(g, dim));
  if (k > *(volatile int *)kind) atomicMax(kind, k);
}

PetscErrorCode HopsCudaMapKind(PetscInt n, int dim, int g, const double s[], const double X[], int *kind, cudaStream_t stream)
{
  PetscFunctionBegin;
  MapKind<<<(unsigned int)((n * dim + 127) / 128), 128, 0, stream>>>(n * dim, dim, g, s, X, kind);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaFindBad(const HopsCudaSetUp *s, PetscInt cell)
{
  PetscFunctionBegin;
  FindBad<<<1, 1, 0, s->stream>>>(*s, cell);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
