/*
  The V-cycle of a BoomerAMG hierarchy, in place of hypre's own solve on one device. A cycle on a device is
  mostly short kernels: hypre launches each from the host and waits often; here the whole of it is one CUDA
  graph, of fused kernels, and as a preconditioner it may run in single precision. hypre does the set-up,
  which stays where the work is to be done right.
*/
#include "cycle.h"
#if HOPS_HAVE_HYPRE_DEVICE
  #include <_hypre_parcsr_ls.h>
  #include <petsc/private/pcimpl.h>

/* Memory of the pool that hypre uses too; where there is none left, see src/hypre/memory/hyprememory.c */
PetscErrorCode HopsCycleMalloc(size_t n, void **p)
{
  PetscFunctionBegin;
  *p = n ? (void *)hypre_TAlloc(char, n, HYPRE_MEMORY_DEVICE) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleFree(void **p)
{
  PetscFunctionBegin;
  if (*p) hypre_TFree(*p, HYPRE_MEMORY_DEVICE);
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleFreeMatrix(HopsCycleMatrix *m)
{
  void *i = (void *)m->i, *j = (void *)m->j;

  PetscFunctionBegin;
  if (m->own) PetscCall(HopsCycleFree(&m->v));
  if (m->ownplace) {
    PetscCall(HopsCycleFree(&i));
    PetscCall(HopsCycleFree(&j));
  }
  m->own = m->ownplace = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleFreeLevel(HopsCycleLevel *a)
{
  HopsCycleMatrix *m[] = {&a->A, &a->P, &a->R};

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(HopsCycleFreeMatrix(m[k]));
  PetscCall(HopsCycleFree(&a->d));
  PetscCall(HopsCycleFree(&a->f));
  PetscCall(HopsCycleFree(&a->u));
  PetscCall(HopsCycleFree(&a->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleDestroy(HopsCycle *cycle)
{
  HopsCycle c = *cycle;

  PetscFunctionBegin;
  if (!c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsRecordDestroy_CUDA(&c->graph));
  PetscCall(HopsCycleDestroySpread(&c->spread));
  for (int l = 0; l < c->nlevels; l++) {
    PetscCall(HopsCycleFreeLevel(c->level + l));
    if (c->transposed[l]) PetscCallExternal(hypre_CSRMatrixDestroy, (hypre_CSRMatrix *)c->transposed[l]);
    for (int k = 0; k < 2; k++)
      if (c->gathered && c->gathered[2 * l + k])
        PetscCallExternal(hypre_CSRMatrixDestroy, (hypre_CSRMatrix *)c->gathered[2 * l + k]);
  }
  if (c->fork) PetscCallCUDA(cudaEventDestroy(c->fork));
  for (int k = 0; k < HOPS_CYCLE_SPACES; k++) {
    HopsCycleMatrix *m[] = {&c->P[k], &c->R[k]};

    if (c->joined[k]) PetscCallCUDA(cudaEventDestroy(c->joined[k]));
    if (c->branch[k]) PetscCallCUDA(cudaStreamDestroy(c->branch[k]));
    PetscCall(HopsCycleDestroy(&c->sub[k]));
    for (int i = 0; i < 2; i++) PetscCall(HopsCycleFreeMatrix(m[i]));
    if (c->spacetransposed[k]) PetscCallExternal(hypre_CSRMatrixDestroy, (hypre_CSRMatrix *)c->spacetransposed[k]);
  }
  PetscCall(HopsCycleFree(&c->inverse));
  PetscCall(PetscFree(c->level));
  PetscCall(PetscFree(c->transposed));
  PetscCall(PetscFree(c->gathered));
  PetscCall(PetscFree(*cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the cycle takes for granted; NULL if all is so */
const char *HopsCycleRefuse(void *data)
{
  hypre_ParAMGData *amg   = (hypre_ParAMGData *)data;
  const HYPRE_Int  *relax = hypre_ParAMGDataGridRelaxType(amg), *sweeps = hypre_ParAMGDataNumGridSweeps(amg),
                  n = hypre_ParAMGDataNumLevels(amg);

  if (n < 2) return "there is one level";
  if (hypre_ParAMGDataMaxIter(amg) != 1 || hypre_ParAMGDataTol(amg) != 0.0) return "it iterates";
  if (hypre_ParAMGDataCycleType(amg) != 1 || hypre_ParAMGDataFCycle(amg)) return "it is no V-cycle";
  if (sweeps[1] != sweeps[2] || sweeps[1] < 1 || sweeps[3] != 1)
    return "its numbers of sweeps differ before and after coarse corrections, or there are several on the coarsest level";
  if (sweeps[1] > HOPS_CYCLE_STEPS / HOPS_CYCLE_DEGREE) return "it smooths too often";
  if (relax[1] != 18 || relax[2] != 18) return "its smoother is not l1scaled-Jacobi";
  if (relax[3] != 18 && relax[3] != 8 && relax[3] != 9 && relax[3] != 19 && relax[3] != 98 && relax[3] != 99)
    return "its coarsest level has a smoother of its own";
  if (hypre_ParAMGDataRelaxOrder(amg)) return "it smooths coarse and fine points separately";
  if (hypre_ParAMGDataSmoothNumLevels(amg) > 0) return "it has complex smoothers";
  if (hypre_ParAMGDataBlockMode(amg)) return "it works in blocks";
  if (hypre_ParAMGDataAdditive(amg) >= 0 || hypre_ParAMGDataMultAdditive(amg) >= 0 || hypre_ParAMGDataSimple(amg) >= 0)
    return "it is additive";
  if (hypre_ParAMGDataRestriction(amg)) return "its restriction is not the transpose of its interpolation";
  if (hypre_ParAMGDataPartialCycleCoarsestLevel(amg) >= 0) return "it is partial";
  if (hypre_ParAMGDataParticipate(amg)) return "one rank solves its coarsest level";
  for (HYPRE_Int l = 0; l < n; l++) {
    hypre_ParCSRMatrix *A = hypre_ParAMGDataAArray(amg)[l];

    if (hypre_ParCSRMatrixMemoryLocation(A) != HYPRE_MEMORY_DEVICE) return "its matrices are not on the device";
    /* nor has a rank without rows */
    if (l < n - 1 && hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(A)) &&
        (!hypre_ParAMGDataL1Norms(amg) || !hypre_ParAMGDataL1Norms(amg)[l]))
      return "it has no l1 norms";
  }
  return NULL;
}

/*
  Chebyshev polynomials of the fourth kind damp best what a V-cycle leaves to its smoother, on all of (0,1],
  where D A has its eigenvalues as D has the inverse l1 norms of the rows: no eigenvalue is estimated. The
  error after n steps is a multiple of W_n(1 - 2 D A), whose zeros are sin^2(k pi/(2n+1)), k = 1..n: Jacobi
  steps with their reciprocals as weights. (J. Lottes, Optimal polynomial smoothers for multigrid V-cycles,
  Numer. Linear Algebra Appl. 2023, section 4.) Small weights come first.
*/
double HopsCycleSetSteps(HopsCycle c, void *data, PetscInt degree)
{
  const int n = (int)PetscMax(degree, 1), sweeps = (int)hypre_ParAMGDataNumGridSweeps((hypre_ParAMGData *)data)[1];
  double    weight[HOPS_CYCLE_DEGREE] = {1.0};

  for (int k = 0; k < n && degree; k++) weight[k] = 1.0 / PetscSqr(PetscSinReal((n - k) * PETSC_PI / (2 * n + 1)));
  c->nsteps = n * sweeps;
  for (int k = 0; k < c->nsteps; k++) c->step[k] = weight[k % n] / weight[0];
  return weight[0];
}

PetscErrorCode HopsCycleSetMatrix(HopsCycle c, void *csr, double drop, HopsCycleMatrix *m, cudaStream_t stream)
{
  hypre_CSRMatrix *A = (hypre_CSRMatrix *)csr;

  PetscFunctionBegin;
  m->m   = (int)hypre_CSRMatrixNumRows(A);
  m->n   = (int)hypre_CSRMatrixNumCols(A);
  m->nnz = (size_t)hypre_CSRMatrixNumNonzeros(A);
  m->i   = hypre_CSRMatrixI(A);
  m->j   = hypre_CSRMatrixJ(A);
  m->v   = hypre_CSRMatrixData(A);
  if (drop > 0.0) PetscCall(HopsCycleDrop(m, drop, stream));
  if (c->single) {
    void *v;

    PetscCall(HopsCycleMalloc(m->nnz * sizeof(float), &v));
    PetscCall(HopsCycleConvert(m->nnz, (const double *)m->v, 1.0, false, true, v, stream));
    if (m->own) {
      PetscCallCUDA(cudaStreamSynchronize(stream));
      PetscCall(HopsCycleFree(&m->v));
    }
    m->v   = v;
    m->own = true;
  }
  c->flops += 2.0 * (PetscLogDouble)m->nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gauss-Jordan elimination with partial pivoting of a small matrix; ok is false where it is singular to
   rounding */
static PetscErrorCode Invert(PetscInt n, double A[], double B[], PetscBool *ok)
{
  double largest = 0.0;

  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  for (PetscInt i = 0; i < n * n; i++) {
    B[i]    = i % (n + 1) == 0 ? 1.0 : 0.0;
    largest = PetscMax(largest, PetscAbsReal(A[i]));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscInt p = k;

    for (PetscInt i = k + 1; i < n; i++)
      if (PetscAbsReal(A[i * n + k]) > PetscAbsReal(A[p * n + k])) p = i;
    if (!(PetscAbsReal(A[p * n + k]) > 1e-13 * largest)) {
      *ok = PETSC_FALSE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (PetscInt j = 0; j < n; j++) {
      const double a = A[k * n + j], b = B[k * n + j];

      A[k * n + j] = A[p * n + j];
      B[k * n + j] = B[p * n + j];
      A[p * n + j] = a;
      B[p * n + j] = b;
    }
    for (PetscInt i = 0, j; i < n; i++) {
      const double f = (i == k ? A[k * n + k] - 1.0 : A[i * n + k]) / A[k * n + k];

      for (j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
      for (j = 0; j < n; j++) B[i * n + j] -= f * B[k * n + j];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a sweep: l1 norms where the level has them, else those of A */
static PetscErrorCode GetDiagonals(HopsCycle c, const HopsCycleSweep *sweep, PetscInt n, const double A[], cudaStream_t stream,
                                   double diagonal[])
{
  const HopsCycleLevel *a = c->level + c->nlevels - 1;
  float                *single;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) diagonal[r] = A[r * n + r];
  if (!a->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaStreamSynchronize(stream));
  if (c->single) {
    PetscCall(PetscMalloc1(n, &single));
    PetscCallCUDA(cudaMemcpy(single, a->d, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (PetscInt r = 0; r < n; r++) diagonal[r] = single[r];
    PetscCall(PetscFree(single));
  } else PetscCallCUDA(cudaMemcpy(diagonal, a->d, n * sizeof(double), cudaMemcpyDeviceToHost));
  for (PetscInt r = 0; r < n; r++) diagonal[r] = sweep->scale / diagonal[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  For the rows of each rank B = X + w (D + U)^-1 (I - A X), X = w (D + L)^-1, where A is what is within the
  rank, and L and U are its triangles: the ranks do not tell one another of their forward sweeps
*/
static PetscErrorCode SetSweep(HopsCycle c, const HopsCycleSweep *sweep, PetscInt n, const double A[], double B[],
                               cudaStream_t stream, PetscBool *ok)
{
  const double w = sweep->weight;
  double      *X, *D;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n * n, &X));
  PetscCall(PetscMalloc1(n, &D));
  PetscCall(GetDiagonals(c, sweep, n, A, stream, D));
  for (PetscInt e = 0; e < n * n; e++) B[e] = 0.0;
  for (PetscInt r = 0; r < n; r++)
    if (!(PetscAbsReal(D[r]) > 0.0)) *ok = PETSC_FALSE;
  for (int p = 0; p < sweep->nranks && *ok; p++) {
    const PetscInt begin = sweep->first[p], end = p + 1 < sweep->nranks ? sweep->first[p + 1] : n;

    for (PetscInt r = begin; r < end; r++) {
      double *x = X + r * n;

      x[r] = w;
      for (PetscInt k = begin; k < r; k++)
        for (PetscInt q = begin; q <= k; q++) x[q] -= A[r * n + k] * X[k * n + q];
      for (PetscInt q = begin; q <= r; q++) x[q] /= D[r];
    }
    for (PetscInt r = end - 1; r >= begin; r--) {
      double *b = B + r * n;

      b[r] = w;
      for (PetscInt k = begin; k < end; k++)
        for (PetscInt q = begin; q < end; q++) b[q] -= A[r * n + k] * (w * X[k * n + q] + (k > r ? B[k * n + q] : 0.0));
      for (PetscInt q = begin; q < end; q++) b[q] /= D[r];
    }
  }
  for (PetscInt e = 0; e < n * n; e++) B[e] += X[e];
  PetscCall(PetscFree(X));
  PetscCall(PetscFree(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleSetCoarsest(HopsCycle c, void *csr, const HopsCycleSweep *sweep, cudaStream_t stream, PetscBool *ok)
{
  hypre_CSRMatrix *A   = (hypre_CSRMatrix *)csr;
  const PetscInt   n   = (PetscInt)hypre_CSRMatrixNumRows(A);
  const size_t     nnz = (size_t)hypre_CSRMatrixNumNonzeros(A);
  int             *i, *j;
  double          *v, *D, *B, *d = NULL;

  PetscFunctionBegin;
  *ok = n <= HOPS_CYCLE_DENSE ? PETSC_TRUE : PETSC_FALSE;
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(n + 1, &i, nnz, &j, nnz, &v));
  PetscCall(PetscCalloc1(n * n, &D));
  PetscCall(PetscMalloc1(n * n, &B));
  PetscCallCUDA(cudaMemcpy(i, hypre_CSRMatrixI(A), (n + 1) * sizeof(int), cudaMemcpyDeviceToHost));
  PetscCallCUDA(cudaMemcpy(j, hypre_CSRMatrixJ(A), nnz * sizeof(int), cudaMemcpyDeviceToHost));
  PetscCallCUDA(cudaMemcpy(v, hypre_CSRMatrixData(A), nnz * sizeof(double), cudaMemcpyDeviceToHost));
  for (PetscInt r = 0; r < n; r++)
    for (int k = i[r]; k < i[r + 1]; k++) D[r * n + j[k]] += v[k];
  if (sweep) PetscCall(SetSweep(c, sweep, n, D, B, stream, ok));
  else PetscCall(Invert(n, D, B, ok));
  if (*ok) {
    PetscCall(HopsCycleMalloc(n * n * sizeof(double), (void **)&d));
    PetscCall(HopsCycleMalloc(n * n * HopsCycleSize(c), &c->inverse));
    PetscCallCUDA(cudaMemcpyAsync(d, B, n * n * sizeof(double), cudaMemcpyHostToDevice, stream));
    PetscCall(HopsCycleConvert(n * n, d, 1.0, false, c->single, c->inverse, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(HopsCycleFree((void **)&d));
  }
  PetscCall(PetscFree3(i, j, v));
  PetscCall(PetscFree(D));
  PetscCall(PetscFree(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleSetLevel(HopsCycle c, HopsCycleLevel *a, void *A, void *P, void *R, const double l1[], double weight,
                                 cudaStream_t stream)
{
  const size_t n = (size_t)hypre_CSRMatrixNumRows((hypre_CSRMatrix *)A);

  PetscFunctionBegin;
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->f));
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->u));
  if (l1) {
    PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->d));
    PetscCall(HopsCycleConvert(n, l1, weight, true, c->single, a->d, stream));
  }
  if (P) {
    PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->w));
    PetscCall(HopsCycleSetMatrix(c, A, c->drop, &a->A, stream));
    c->flops += (2.0 * c->nsteps - 1.0) * 2.0 * (PetscLogDouble)a->A.nnz; /* two of A for each step, one of P and R each */
    PetscCall(HopsCycleSetMatrix(c, P, 0.0, &a->P, stream));
    PetscCall(HopsCycleSetMatrix(c, R, 0.0, &a->R, stream));
  } else {
    a->A.m = (int)n;
    a->A.i = hypre_CSRMatrixI((hypre_CSRMatrix *)A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Level l of a hierarchy on one rank; hypre's relaxation weights are times that of the first step */
static PetscErrorCode SetLevel(HopsCycle c, hypre_ParAMGData *amg, int l, double weight, cudaStream_t stream)
{
  hypre_Vector   **l1 = hypre_ParAMGDataL1Norms(amg);
  hypre_CSRMatrix *A = hypre_ParCSRMatrixDiag(hypre_ParAMGDataAArray(amg)[l]), *P = NULL, *R = NULL;

  PetscFunctionBegin;
  if (l < c->nlevels - 1) {
    P = hypre_ParCSRMatrixDiag(hypre_ParAMGDataPArray(amg)[l]);
    R = hypre_ParCSRMatrixDiagT(hypre_ParAMGDataPArray(amg)[l]);
    if (!R) {
      PetscCallExternal(hypre_CSRMatrixTranspose, P, &R, 1);
      PetscCallCUDA(cudaDeviceSynchronize()); /* hypre's stream is not ours */
      c->transposed[l] = R;
    }
  }
  PetscCall(HopsCycleSetLevel(c, c->level + l, A, P, R, l1 && l1[l] ? hypre_VectorData(l1[l]) : NULL,
                              weight * hypre_ParAMGDataRelaxWeight(amg)[l], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle of a hierarchy, without its graph */
PetscErrorCode HopsCycleCreateHierarchy(void *data, PetscInt degree, bool single, double drop, HopsCycle *cycle, const char **why)
{
  hypre_ParAMGData *amg   = (hypre_ParAMGData *)data;
  const PetscMPIInt first = 0;
  HopsCycle         c;
  double            weight;
  PetscBool         same = PETSC_TRUE;
  cudaStream_t      stream;

  PetscFunctionBegin;
  *why = HopsCycleRefuse(amg);
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(PetscNew(&c));
  c->single  = single;
  c->drop    = drop;
  c->nlevels = (int)hypre_ParAMGDataNumLevels(amg);
  c->direct  = hypre_ParAMGDataGridRelaxType(amg)[3] != 18;
  weight     = HopsCycleSetSteps(c, amg, degree);
  PetscCall(PetscCalloc1(c->nlevels, &c->level));
  PetscCall(PetscCalloc1(c->nlevels, &c->transposed));
  for (int l = 0; l < c->nlevels; l++) {
    PetscCall(SetLevel(c, amg, l, weight, stream));
    c->complexity +=
      (PetscReal)(l < c->nlevels - 1 ? c->level[l].A.nnz
                                     : (size_t)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(hypre_ParAMGDataAArray(amg)[l])));
  }
  c->entries = (PetscReal)PetscMax(c->level[0].A.nnz, 1);
  c->complexity /= c->entries;
  if (c->direct) {
    const double         w     = hypre_ParAMGDataRelaxWeight(amg)[c->nlevels - 1];
    const HopsCycleSweep sweep = {w, weight * w, 1, &first};

    PetscCall(HopsCycleSetCoarsest(c, hypre_ParCSRMatrixDiag(hypre_ParAMGDataAArray(amg)[c->nlevels - 1]),
                                   hypre_ParAMGDataGridRelaxType(amg)[3] == 8 ? &sweep : NULL, stream, &same));
    *why = "its coarsest level is large or singular";
  } else if (!c->level[c->nlevels - 1].d) {
    same = PETSC_FALSE;
    *why = "its coarsest level has no l1 norms";
  }
  if (same) {
    *why   = NULL;
    *cycle = c;
  } else PetscCall(HopsCycleDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleCreate(PC pc, HopsSpace sp, const HopsCycleSettings *set, const HopsCycleAuxiliary *aux, HopsCycle *cycle,
                               const char **why)
{
  const bool   single = set->type == PCLOR_CYCLE_SINGLE;
  HYPRE_Solver solver;
  const char  *name;
  PetscBool    same, ams = PETSC_FALSE, ads = PETSC_FALSE;
  PetscMPIInt  size;
  cudaStream_t stream;

  PetscFunctionBegin;
  *cycle = NULL;
  *why   = "it was not asked for";
  if (set->type == PCLOR_CYCLE_HYPRE) PetscFunctionReturn(PETSC_SUCCESS);
  *why = "it is not hypre's BoomerAMG, AMS or ADS";
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCHYPRE, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCHYPREGetType(pc, &name));
  PetscCall(PetscStrcmp(name, "boomeramg", &same));
  if (!same) PetscCall(PetscStrcmp(name, "ams", &ams));
  if (!same && !ams) PetscCall(PetscStrcmp(name, "ads", &ads));
  if (!same && !ams && !ads) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  solver = HopsPCHYPREGetSolver(pc);
  PetscCallCUDA(cudaDeviceSynchronize()); /* hypre has streams of its own */
  if (ams) PetscCall(HopsCycleCreateAMS(solver, sp, set, 0.0, cycle, why));
  else if (ads) PetscCall(HopsCycleCreateADS(solver, sp, set, aux, cycle, why));
  else if (size > 1) PetscCall(HopsCycleCreateSpread(solver, sp, set, 0.0, cycle, why));
  else PetscCall(HopsCycleCreateHierarchy(solver, set->degree, single, 0.0, cycle, why));
  if (!*cycle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HopsCycleCapture(*cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleApply(HopsCycle c, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;
  PetscMemType       xm, ym;
  cudaStream_t       stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(VecGetArrayReadAndMemType(x, &xa, &xm));
  PetscCall(VecGetArrayWriteAndMemType(y, &ya, &ym));
  PetscCheck(PetscMemTypeDevice(xm) && PetscMemTypeDevice(ym), PetscObjectComm((PetscObject)x), PETSC_ERR_ARG_WRONG,
             "A vector of type %s lies in the host's memory, and the preconditioner on the device: make vectors by "
             "MatCreateVecs(), or use -pc_lor_cycle hypre",
             ((PetscObject)x)->type_name);
  PetscCall(PetscLogGpuTimeBegin());
  if (c->spread) PetscCall(HopsCycleRunSpread(c, xa, ya, stream));
  else PetscCall(HopsCycleRun(c, xa, ya, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(c->flops));
  PetscCall(VecRestoreArrayReadAndMemType(x, &xa));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleCreateOnFirst(PC pc, HopsSpace sp, PetscInt n, const HopsCycleSettings *set, HopsCycle *cycle,
                                      const char **why)
{
  PetscFunctionBegin;
  *cycle = NULL;
  *why   = set->type == PCLOR_CYCLE_HYPRE ? "it was not asked for" : NULL;
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaDeviceSynchronize()); /* hypre has streams of its own */
  PetscCall(HopsCycleCreateGathered(pc ? HopsPCHYPREGetSolver(pc) : NULL, sp, n, set, cycle, why));
  if (*cycle) PetscCall(HopsCycleCapture(*cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Levels(const HopsCycle c, PetscInt *spread)
{
  *spread = c->spread ? c->spread->n : 0;
  return c->spread && c->spread->levels ? c->spread->levels : c->nlevels + *spread;
}

PetscErrorCode HopsCycleGetInfo(HopsCycle c, PetscInt *levels, PetscInt *spread, PetscReal *complexity)
{
  PetscFunctionBegin;
  *levels = Levels(c, spread);
  for (int k = 0; k < HOPS_CYCLE_SPACES; k++) {
    PetscInt below;

    if (!c->sub[k]) continue;
    *levels = PetscMax(*levels, Levels(c->sub[k], &below) + 1);
    if (below) *spread = PetscMax(*spread, below + 1);
  }
  *complexity = c->complexity;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
