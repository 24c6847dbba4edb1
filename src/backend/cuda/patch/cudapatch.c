/* CUDA: 1D factors of the patches of a uniform box, and sweeps over their colours. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <petscblaslapack.h>
#include "cudapatch.h"

/*
  Eigenvalues, and columns of x, of the pencil a, m from approximate ones, by Ogita and Aishima's refinement,
  whose convergence is quadratic. LAPACK's have errors of some hundred roundings, others with each BLAS and
  processor, which a sweep repeats in all patches: at order 6 in 2D residuals stalled at 2 to 7 times what
  they do now. Eigenvalues of one parity are distinct; k <= 8, the highest order. Where long double is double
  this gains little.
*/
static void Refine(int k, const long double a[], const long double m[], long double x[], long double lambda[])
{
  for (int step = 0; step < 2; step++) {
    long double S[64], R[64], y[64];

    for (int j = 0; j < k; j++) {
      long double u[8] = {0}, v[8] = {0};

      for (int s = 0; s < k; s++)
        for (int t = 0; t < k; t++) {
          u[s] += a[s * k + t] * x[t * k + j];
          v[s] += m[s * k + t] * x[t * k + j];
        }
      for (int i = 0; i < k; i++) {
        S[i * k + j] = 0;
        R[i * k + j] = i == j;
        y[i * k + j] = x[i * k + j];
        for (int s = 0; s < k; s++) {
          S[i * k + j] += x[s * k + i] * u[s];
          R[i * k + j] -= x[s * k + i] * v[s];
        }
      }
    }
    for (int j = 0; j < k; j++) lambda[j] = S[j * k + j] / (1 - R[j * k + j]);
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++) {
        const long double e = i == j ? R[i * k + i] / 2 : (S[i * k + j] + lambda[j] * R[i * k + j]) / (lambda[j] - lambda[i]);

        for (int s = 0; s < k; s++) x[s * k + j] += y[s * k + i] * e;
      }
  }
}

/* S and lambda of the even (par = 0) or odd modes: the pencil in the basis of (de)symmetrised nodes, the
   centre last; the first component of a mode is positive */
static PetscErrorCode ModesOfParity(int p, const double A[], const double M[], int par, long double S[], long double lambda[])
{
  const int    n = 2 * p - 1, N = n + 2, k = par ? p - 1 : p;
  double      *a, *m, *l, *work;
  long double  al[64], ml[64], x[64];
  PetscBLASInt one = 1, bk = k, lwork = 64 * k, info;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc4(k * k, &a, k * k, &m, k, &l, lwork, &work));
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) {
      const int         i1 = i + 1, j1 = j + 1, i2 = n - i, j2 = n - j; /* nodes of the patch; the centre has one */
      const long double s = par ? -1.0 : 1.0, di = i1 == i2 ? 0.0 : s, dj = j1 == j2 ? 0.0 : s;

      al[i * k + j] = al[j * k + i] = A[i1 * N + j1] + dj * A[i1 * N + j2] + di * A[i2 * N + j1] + di * dj * A[i2 * N + j2];
      ml[i * k + j] = ml[j * k + i] = M[i1 * N + j1] + dj * M[i1 * N + j2] + di * M[i2 * N + j1] + di * dj * M[i2 * N + j2];
    }
  for (int i = 0; i < k * k; i++) {
    a[i] = (double)al[i];
    m[i] = (double)ml[i];
  }
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "V", "U", &bk, a, &bk, m, &bk, l, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK sygv failed: %d", (int)info);
  for (int q = 0; q < k; q++)
    for (int i = 0; i < k; i++) x[i * k + q] = a[q * k + i]; /* column q of a is eigenvector q */
  Refine(k, al, ml, x, lambda + par * p);
  for (int q = 0; q < k; q++)
    for (int i = 0; i < k; i++) { /* LAPACK's signs are any */
      const long double y = x[q] < 0 ? -x[i * k + q] : x[i * k + q];

      S[i * n + par * p + q] = y;
      if (i != n - 1 - i) S[(n - 1 - i) * n + par * p + q] = par ? -y : y;
    }
  PetscCall(PetscFree4(a, m, l, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the matrices of two cells; in long double until they are rounded once */
static PetscErrorCode Factor(HopsCudaPatch k, const double A[], const double M[])
{
  const int    p = k->p, n = 2 * p - 1, N = n + 2;
  long double *S, *lambda, *E;

  PetscFunctionBegin;
  if (p == 1) {
    PetscCall(PetscArraycpy(k->A, A, 9));
    PetscCall(PetscArraycpy(k->M, M, 9));
  }
  PetscCall(PetscCalloc6(n * n, &k->S, n * n, &k->Inv, n, &k->lambda, n, &k->mu, n, &k->c, n, &k->E));
  PetscCall(PetscCalloc3(n * n, &S, n, &lambda, n, &E));
  for (int par = 0; par < 2; par++) PetscCall(ModesOfParity(p, A, M, par, S, lambda));
  for (int m = 0; m < n; m++) {
    long double mu = 0, alpha = 0;

    for (int i = 0; i < n; i++) {
      long double inverse = 0;

      mu += S[i * n + m] * M[(i + 1) * N];
      alpha += S[i * n + m] * A[(i + 1) * N];
      for (int j = 0; j < n; j++) inverse += S[j * n + m] * M[(j + 1) * N + i + 1];
      k->Inv[m * n + i] = (double)inverse;
      k->S[i * n + m]   = (double)S[i * n + m];
    }
    k->lambda[m] = (double)lambda[m];
    k->mu[m]     = (double)mu;
    k->c[m]      = (double)(alpha - lambda[m] * mu);
    for (int i = 0; i < n; i++) E[i] -= S[i * n + m] * mu;
  }
  for (int i = 0; i < n; i++) k->E[i] = (double)E[i];
  PetscCall(PetscFree3(S, lambda, E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplications and additions of a patch as the kernels do them; in 3D `row` neighbours share the faces
   between them and the ends of lines in x */
static double PatchFlops(int dim, double p, double row)
{
  const double n = 2 * p - 1, N = n + 2, line = 2 * (p * p + (p - 1) * (p - 1)) + 2 * (p - 1), ends = line + 2 * n;

  if (p == 1) return dim == 3 ? 53 : 17;
  if (dim == 2) return 2 * n * line + 2 * n * ends + 5 * n * n + 4 * (ends + N);
  return 3 * n * n * line + 3 * n * n * ends + 7 * n * n * n + ((1 + 1 / row) * (N + n) + 4 * (n + 1 + 1 / row) + 4 * n) * ends +
         4 * N * (n + 1 + 1 / row) + 2 * n * n;
}

/* The same where only what is even in z is wanted on the middle plane, as walks do */
static double PatchFlopsEven(double p)
{
  const double n = 2 * p - 1, N = n + 2, line = 2 * (p * p + (p - 1) * (p - 1)) + 2 * (p - 1), ends = line + 2 * n,
               even = 2 * p * p + 2 * (p - 1);

  return n * n * even + 2 * n * p * line + 2 * n * p * ends + 7 * n * n * p + n * n * (2 * p + 2) + 4 * N * (even + 2 * p) +
         N * ends + (4 * p + n) * ends + 3 * N * N;
}

/* The same where the middle planes are wanted alone. These counts leave out the steps of Newton's method, and
   are some percent high in the first product of each line */
static double PatchFlopsMiddle(double p)
{
  const double n = 2 * p - 1, ends = 2 * (p * p + (p - 1) * (p - 1)) + 2 * (p - 1) + 2 * n;

  return PatchFlops(3, p, 1) + (p * n + p - 1 - 2 * n * n) * ends + (p - 1) * (n - 1) * (2 * p + 1) + n * n * (2 * p + 2) +
         (2 * n - 1) * (p - 1) * (4 * p + 4);
}

/* Walks of the colours c and c ^ 1: the patches [0] <= i < [1], [2] <= j < [3] whose cells those of the
   colours cover and cover ^ 1 overwrite later; none if cover < 0 */
static void Inner(HopsCudaPatch k, int c, int cover, int inner[4])
{
  for (int i = 0; i < 4; i++) inner[i] = 0;
  if (cover < 0 || c >> 1 == cover >> 1) return;
  for (int d = 0; d < 2; d++) {
    /* the last patch that overwrites is on the cells last and last + 1 */
    const int f = cover >> (2 - d) & 1, own = c >> (2 - d) & 1, last = f + (k->ncells[d] - f) / 2 * 2 - 2;

    inner[2 * d]     = (f - own + 1) / 2;
    inner[2 * d + 1] = last < f ? 0 : (last - own + 2) / 2;
  }
  if (inner[1] <= inner[0] || inner[3] <= inner[2]) inner[1] = inner[0];
}

/* The matrix of two cells */
static void Pair(PetscInt p, const PetscReal K[], double A[])
{
  const PetscInt P = p + 1, N = 2 * p + 1;

  for (PetscInt i = 0; i < N * N; i++) A[i] = 0.0;
  for (PetscInt c = 0; c < 2; c++)
    for (PetscInt i = 0; i < P; i++)
      for (PetscInt j = 0; j < P; j++) A[(c * p + i) * N + c * p + j] += K[i * P + j];
}

/* Factors, and what depends on the coefficients */
static PetscErrorCode Prepare(HopsCudaPatch k, const double A[], const double M[])
{
  const int    dim = k->dim, n = 2 * k->p - 1;
  const double in = dim == 3 ? (double)n * n * n : (double)n * n;
  double      *h;

  PetscFunctionBegin;
#define HOPS_CUDA_PATCH_FIND(P) \
  if (k->p == P) { \
    k->launch     = HopsCudaPatchLaunch_##P; \
    k->zero       = HopsCudaPatchZero_##P; \
    k->launchlist = HopsCudaPatchLaunchList_##P; \
    k->row        = HopsCudaPatchRow_##P(k->single); \
    k->walks      = HopsCudaPatchWalks_##P(k->single); \
  }
  HOPS_CUDA_PATCH_ORDERS(HOPS_CUDA_PATCH_FIND)
  if (dim < 3 || k->ncells[2] < 3) k->walks = PETSC_FALSE;
  PetscCheck(k->launch, PETSC_COMM_SELF, PETSC_ERR_SUP, "There are fused CUDA smoothers for the orders 1 to 8, not %d", k->p);
  PetscCall(Factor(k, A, M));
  PetscCall(PetscMalloc1((size_t)in + 4 * n, &h));
  for (int i = 0, q = 0; i < n; i++) /* x, (z,) y */
    for (int l = 0; l < (dim == 3 ? n : 1); l++)
      for (int j = 0; j < n; j++)
        h[q++] = 1.0 / (k->d[0] * k->lambda[i] + k->d[1] * k->lambda[j] + (dim == 3 ? k->d[2] * k->lambda[l] : 0.0) + k->m);
  PetscCall(HopsCudaNumbersToDevice((size_t)in, k->single, h, &k->Dinv));
  for (int i = 0; i < n; i++) {
    h[i]     = k->d[1] * k->c[i];
    h[n + i] = k->d[2] * k->c[i];

    h[2 * n + i] = k->d[1] * k->lambda[i] + k->m;
    h[3 * n + i] = k->d[2] * k->lambda[i];
  }
  PetscCall(HopsCudaNumbersToDevice(4 * n, k->single, h, &k->cyz));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchCreateList(PetscInt p, const PetscReal A[], const PetscReal M[], const PetscReal d[], PetscReal m,
                                       PetscBool single, HopsCudaPatch *patch)
{
  HopsCudaPatch k;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  k->dim    = 3;
  k->p      = (int)p;
  k->single = single;
  k->m      = m;
  for (int a = 0; a < 3; a++) k->d[a] = d[a];
  PetscCall(Prepare(k, A, M));
  k->flops = PatchFlops(3, p, 1);
  *patch   = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchSweepList(HopsCudaPatch k, const HopsCudaPatchList *list, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (list->n) PetscCall((*k->launchlist)(k, list, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchCreate(PetscInt dim, PetscInt p, const PetscReal A1[], const PetscReal M1[], const PetscReal d[],
                                   PetscReal m, const PetscInt ncells[], PetscInt64 sy, PetscInt64 sz, PetscBool single,
                                   HopsCudaPatch *patch)
{
  HopsCudaPatch k;
  const int     n = 2 * (int)p - 1;
  double       *A, *M, np = 1, in, all;

  PetscFunctionBegin;
  PetscCheck(dim == 2 || dim == 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A box has 2 or 3 dimensions, not %" PetscInt_FMT,
             dim);
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&k));
  k->dim    = (int)dim;
  k->p      = (int)p;
  k->single = single;
  k->m      = m;
  for (int a = 0; a < 3; a++) {
    k->ncells[a] = a < dim ? (int)ncells[a] : 1;
    k->d[a]      = a < dim ? d[a] : 0.0;
    PetscCheck(a >= dim || ncells[a] >= 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A box of %" PetscInt_FMT " cell in direction %d has no inner vertices: solve its few unknowns directly", ncells[a],
               a);
    PetscCheck(a >= dim || d[a] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The weight %g of the stiffness in direction %d is not positive", d[a], a);
    if (a < dim) np *= PetscMax(0, ncells[a] - 1);
  }
  PetscCheck(m >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The weight %g of the mass is negative", m);
  k->sy = sy ? sy : (PetscInt64)k->ncells[0] * p + 1;
  k->sz = sz ? sz : k->sy * ((PetscInt64)k->ncells[1] * p + 1);
  for (int a = 1; a < dim; a++)
    PetscCheck(k->ncells[a] < 131072, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A box of %d cells in direction %d: a launch takes up to 131071 there, and more in direction 0 alone: exchange the "
               "directions",
               k->ncells[a], a);
  PetscCheck(k->sy < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Rows of %" PetscInt64_FMT " nodes are too long",
             k->sy);
  in  = dim == 3 ? (double)n * n * n : (double)n * n;
  all = PetscPowReal(2.0 * p, dim);
  PetscCall(PetscMalloc2((2 * p + 1) * (2 * p + 1), &A, (2 * p + 1) * (2 * p + 1), &M));
  Pair(p, A1, A);
  Pair(p, M1, M);
  PetscCall(Prepare(k, A, M));
  PetscCall(PetscFree2(A, M));
#define HOPS_CUDA_PATCH_AGREE(P) \
  if (dim == 3 && single && k->p == P) \
    PetscCheck(HopsCudaPatchAgrees_##P(k), PETSC_COMM_SELF, PETSC_ERR_SUP, \
               "Sweeps in single precision are for the Lagrange basis on the Gauss-Lobatto-Legendre nodes of [0,1], and the 1D " \
               "matrices of order %d are others: use double precision", \
               k->p);
  HOPS_CUDA_PATCH_ORDERS(HOPS_CUDA_PATCH_AGREE)
  k->flops = np * PatchFlops((int)dim, p, k->row);
  /* a forward sweep; of a column of patches the first colour's, but the lowest one and, if no other lies
     above it, the highest, are taken by what is even in z. Pairs of which one patch is not inner count as if
     it were */
  if (k->walks) {
    const PetscInt even = (ncells[2] - 1) / 2 - 1;

    k->flops -= np / (ncells[2] - 1) * even * (PatchFlops(3, p, 1) - PatchFlopsEven(p));
    for (int c = 0; c < 6; c += 2) {
      int inner[4];

      Inner(k, c, 6, inner);
      k->flops -= (double)(inner[1] - inner[0]) * (inner[3] - inner[2]) * (ncells[2] - 1 - even) *
                  (PatchFlops(3, p, 1) - PatchFlopsMiddle(p));
    }
  }
  /* x on the surfaces (neighbours share them) and b inside are read, x inside is written */
  k->bytes = np * (all + in) * (single ? 4 : 8);
  *patch   = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A launch takes both colours */
static PetscBool OneLaunch(HopsCudaPatch k, int c, int other)
{
  return k->walks && (c ^ 1) == other ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode HopsCudaPatchSweep(HopsCudaPatch k, int first, int last, PetscBool reverse, PetscBool zero, const void *b, void *x,
                                  cudaStream_t stream)
{
  /* the last launch, if it is one of two colours: its patches overwrite whatever lies in their cells */
  const int end = reverse ? first : last - 1, cover = last - first > 1 && OneLaunch(k, end, reverse ? end + 1 : end - 1) ? end : -1;

  /*
    Walks of all colours, from zero. Nobody reads the inside of cells. On planes across x, the first two
    launches leave those between their patches as they are, and need them on their patches' faces alone, where
    they are told so; the last two find what these wrote. Rows on the other planes are set to zero, which
    includes the ends of the lines that join them
  */
  const PetscBool fromzero = zero && k->walks && !reverse && !first && last == 8 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (fromzero) PetscCall((*k->zero)(k, x, stream));
  else if (zero) {
    const size_t rows = (size_t)(k->ncells[1] * k->p + 1), planes = k->dim == 3 ? (size_t)(k->ncells[2] * k->p + 1) : 1;

    PetscCallCUDA(
      cudaMemsetAsync(x, 0, ((planes - 1) * (size_t)k->sz + rows * (size_t)k->sy) * (k->single ? sizeof(float) : sizeof(double)),
                      stream));
  }
  for (int q = first; q < last; q++) {
    const int       c    = reverse ? first + last - 1 - q : q;
    const PetscBool pair = q + 1 < last ? OneLaunch(k, c, reverse ? c - 1 : c + 1) : PETSC_FALSE;
    int             inner[4];

    Inner(k, c, pair ? cover : -1, inner);
    PetscCall((*k->launch)(k, c, pair, fromzero && c < 4 ? PETSC_TRUE : PETSC_FALSE, inner, b, x, stream));
    if (pair) q++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchDestroy(HopsCudaPatch *patch)
{
  HopsCudaPatch k = *patch;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree6(k->S, k->Inv, k->lambda, k->mu, k->c, k->E));
  if (k->Dinv) PetscCallCUDA(cudaFree(k->Dinv));
  if (k->cyz) PetscCallCUDA(cudaFree(k->cyz));
  PetscCall(PetscFree(*patch));
  PetscFunctionReturn(PETSC_SUCCESS);
}
