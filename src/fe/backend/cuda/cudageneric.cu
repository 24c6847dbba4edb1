/*
  Kernels for any order: the operator where no fused kernel exists, the diagonal, and set-up. A block works on a cell; scratch
  lies in shared memory where it fits, else in the device's memory.
*/
#include "cudaimpl.h"

#define HOPS_CUDA_THREADS 128
#define HOPS_CUDA_SHARED  (96 * 1024) /* bytes of shared memory of a generic block, two of which fit on a multiprocessor */

/* out[o][m][i] (+)= sum_n A[m*sm + n*sn] in[o][n][i] */
__device__ static void Contract(int M, int N, const double *A, int sm, int sn, int outer, int inner, const double *in, double *out, bool add)
{
  for (int t = threadIdx.x; t < outer * M * inner; t += blockDim.x) {
    const int i = t % inner, m = t / inner % M, o = t / (inner * M);
    double    v = add ? out[t] : 0;

    for (int n = 0; n < N; n++) v += A[m * sm + n * sn] * in[(o * N + n) * inner + i];
    out[t] = v;
  }
  __syncthreads();
}

/* out (+)= (A_z x) A_y x A_x in, A[d] is M x N or, read by columns, its transpose; f, g are scratch */
__device__ static void Tensor(int dim, int M, int N, const double *const A[3], int sm, int sn, const double *in, double *f, double *g, double *out, bool add)
{
  if (dim == 3) {
    Contract(M, N, A[0], sm, sn, N * N, 1, in, f, false);
    Contract(M, N, A[1], sm, sn, N, M, f, g, false);
    Contract(M, N, A[2], sm, sn, 1, M * M, g, out, add);
  } else {
    Contract(M, N, A[0], sm, sn, N, 1, in, f, false);
    Contract(M, N, A[1], sm, sn, 1, M, f, out, add);
  }
}

__host__ __device__ static inline int Power(int n, int d)
{
  return d == 3 ? n * n * n : n * n;
}

/* One cell: values of each derivative at the points, the quadrature data, the transposes. Any Q, below P too. */
__global__ static void __launch_bounds__(HOPS_CUDA_THREADS) ApplyGeneric(const HopsCudaArgs k, const double *__restrict__ x, const double *__restrict__ xg, double *y, double *yg)
{
  extern __shared__ double shared[];
  const int                dim = k.dim, P = k.P, Q = k.Q, nn = Power(P, dim), nq = Power(Q, dim), nm = Power(P > Q ? P : Q, dim);
  const int                nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0), first = k.diffusion ? 0 : dim, last = dim + (k.mass ? 1 : 0);
  double                  *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *f = e + nn, *g = f + nm, *v = g + nm;

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

/* d_n += sum_q sum_ab D_ab(q) (d_a phi_n d_b phi_n)(q) + m(q) phi_n(q)^2, term by term: 1D factors DD, BD, BB */
__global__ static void __launch_bounds__(HOPS_CUDA_THREADS) Diagonal(const HopsCudaArgs k, double *y, double *yg)
{
  extern __shared__ double shared[];
  const int                dim = k.dim, P = k.P, Q = k.Q, nn = Power(P, dim), nq = Power(Q, dim), nm = Power(P > Q ? P : Q, dim);
  const int                nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0);
  double                  *e = k.work ? k.work + blockIdx.x * k.nwork : shared, *f = e + nn, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + blockIdx.x; cell < k.first + k.n; cell += gridDim.x) {
    const int    *restr = k.restr + (size_t)cell * nn;
    const double *d     = k.qdata + (size_t)cell * nq * nc;

    for (int t = 0, r = 0, c = 0; t < nc; t++) {
      const double *A[3] = {k.BB, k.BB, k.BB};
      double        two  = 1;

      if (t < nd) {
        if (r == c) A[r] = k.DD;
        else {
          A[r] = A[c] = k.BD;
          two         = 2;
        }
        if (++c == dim) c = ++r;
      }
      for (int q = threadIdx.x; q < nq; q += blockDim.x) v[q] = two * d[t * nq + q];
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
  *nwork  = (size_t)Power(P, dim) + 2 * (size_t)Power(P > Q ? P : Q, dim) + (size_t)(dim + 1) * Power(Q, dim);
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

/* J[i][j] = dx_i/dxi_j at point q of a cell: full sums over the map's nodes, set-up runs once */
__device__ static void Jacobian(const HopsCudaSetUp &s, const double *X, int q, double J[9])
{
  const int dim = s.dim, n = s.Pg, nn = Power(n, dim), qx = q % s.Q, qy = q / s.Q % s.Q, qz = dim == 3 ? q / (s.Q * s.Q) : 0;

  for (int i = 0; i < 9; i++) J[i] = 0;
  for (int z = 0; z < (dim == 3 ? n : 1); z++) {
    const double bz = dim == 3 ? s.B[qz * n + z] : 1, dz = dim == 3 ? s.D[qz * n + z] : 0;

    for (int y = 0; y < n; y++) {
      const double by = s.B[qy * n + y], dy = s.D[qy * n + y];

      for (int x = 0; x < n; x++) {
        const double b = s.B[qx * n + x], d = s.D[qx * n + x], w0 = d * by * bz, w1 = b * dy * bz, w2 = b * by * dz;

        for (int i = 0; i < dim; i++) {
          const double xi = X[i * nn + (z * n + y) * n + x];

          J[i * dim] += w0 * xi;
          J[i * dim + 1] += w1 * xi;
          if (dim == 3) J[i * dim + 2] += w2 * xi;
        }
      }
    }
  }
}

/* A = det(J) J^-1, row-major; returns det(J) */
__device__ static double Adjugate(int dim, const double J[9], double A[9])
{
  if (dim == 2) {
    A[0] = J[3];
    A[1] = -J[1];
    A[2] = -J[2];
    A[3] = J[0];
    return J[0] * J[3] - J[1] * J[2];
  }
  A[0] = J[4] * J[8] - J[5] * J[7];
  A[1] = J[2] * J[7] - J[1] * J[8];
  A[2] = J[1] * J[5] - J[2] * J[4];
  A[3] = J[5] * J[6] - J[3] * J[8];
  A[4] = J[0] * J[8] - J[2] * J[6];
  A[5] = J[2] * J[3] - J[0] * J[5];
  A[6] = J[3] * J[7] - J[4] * J[6];
  A[7] = J[1] * J[6] - J[0] * J[7];
  A[8] = J[0] * J[4] - J[1] * J[3];
  return J[0] * A[0] + J[1] * A[3] + J[2] * A[6];
}

/* component of the symmetric tensor; nc is 1 (scalar), dim (diagonal) or dim(dim+1)/2 (upper triangle by rows) */
__device__ static double Kappa(int dim, int nc, const double *k, int i, int j)
{
  const int r = i < j ? i : j, c = i < j ? j : i;

  if (nc <= dim) return i == j ? k[nc == 1 ? 0 : i] : 0;
  return k[r * dim - r * (r + 1) / 2 + c];
}

/* A thread for each point: w detJ J^-1 kappa J^-T and w detJ c */
__global__ static void SetUp(const HopsCudaSetUp s)
{
  const int    dim = s.dim, nq = Power(s.Q, dim), nx = dim * Power(s.Pg, dim);
  const size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int    c = (int)(t / nq), q = (int)(t % nq);
  double       J[9], A[9], det, w = 1;
  double      *out;

  if (c >= s.n) return;
  Jacobian(s, s.X + (size_t)c * nx, q, J);
  det = Adjugate(dim, J, A);
  if (!(det > 0)) atomicMin(s.bad, c);
  for (int d = 0, i = q; d < dim; d++, i /= s.Q) w *= s.w[i % s.Q];
  out = s.qdata + (size_t)(s.first + c) * s.ncomp * nq + q;
  if (s.knc) {
    const double *k = s.kappa + (size_t)c * s.kcstride + (size_t)q * s.kpstride;

    for (int r = 0; r < dim; r++) {
      for (int l = r; l < dim; l++, out += nq) {
        double v = 0;

        for (int i = 0; i < dim; i++)
          for (int j = 0; j < dim; j++) v += A[r * dim + i] * Kappa(dim, s.knc, k, i, j) * A[l * dim + j];
        *out = w / det * v;
      }
    }
  }
  if (s.mnc) *out = w * det * s.mass[(size_t)c * s.mcstride + (size_t)q * s.mpstride];
}

/* One thread: the first determinant of a cell that is not positive */
__global__ static void FindBad(const HopsCudaSetUp s, PetscInt cell)
{
  const int nq = Power(s.Q, s.dim), nx = s.dim * Power(s.Pg, s.dim);

  for (int q = 0; q < nq; q++) {
    double J[9], A[9], det;

    Jacobian(s, s.X + (size_t)cell * nx, q, J);
    det = Adjugate(s.dim, J, A);
    if (!(det > 0)) {
      *s.det = det;
      return;
    }
  }
}

PetscErrorCode HopsCudaPASetUp(const HopsCudaSetUp *s)
{
  const size_t n = (size_t)s->n * Power(s->Q, s->dim);

  PetscFunctionBegin;
  SetUp<<<(unsigned int)((n + 127) / 128), 128, 0, s->stream>>>(*s);
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

/* ---- Entries of vectors ---- */

__global__ static void Pack(PetscInt n, const PetscInt *__restrict__ idx, const double *__restrict__ x, double *__restrict__ buf)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) buf[i] = x[idx[i]];
}

__global__ static void UnpackAdd(PetscInt n, const PetscInt *__restrict__ idx, const double *__restrict__ buf, double *__restrict__ y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[idx[i]] += buf[i];
}

__global__ static void SetEntries(PetscInt n, const PetscInt *__restrict__ idx, const double *x, double *y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[idx[i]] = x ? x[idx[i]] : 1;
}

PetscErrorCode HopsCudaPack(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (n) Pack<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, idx, x, buf);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaUnpackAdd(PetscInt n, const PetscInt idx[], const PetscScalar buf[], PetscScalar y[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (n) UnpackAdd<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, idx, buf, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaSetEntries(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar y[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (n) SetEntries<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, idx, x, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
