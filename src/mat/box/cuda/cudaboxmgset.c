/* CUDA: life cycle of multigrid on a uniform box: boxes, vectors and solvers of the levels. */
#include <backend/cuda/runtime/cudaimpl.h>
#include "cudaboxmg.h"

static size_t Size(HopsBoxMG mg)
{
  return mg->choice.single ? sizeof(float) : sizeof(double);
}

/* zeroed: nothing writes to boundaries of the levels */
static PetscErrorCode Allocate(HopsBoxMG mg, size_t n, void *p)
{
  PetscFunctionBegin;
  PetscCall(
    HopsCudaCheckMemory(cudaMalloc((void **)p, n), n, "multigrid on a box", "use fewer cells, or -pc_boxmg_precision single"));
  PetscCallCUDA(cudaMemset(*(void **)p, 0, n));
  mg->bytes += (PetscLogDouble)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxCreateForm(const HopsBoxForm *f, int shift, PetscBool single, HopsCudaBox *box)
{
  PetscInt  ncells[3];
  PetscReal d[3], m = f->m;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    ncells[a] = f->ncells[a] >> (a < f->dim ? shift : 0);
    d[a]      = f->d[a];
  }
  for (int s = 0; s < shift; s++) { /* a cell of twice the size: stiffness 1/2, masses 2 in each direction */
    for (int a = 0; a < f->dim; a++) d[a] *= f->dim == 3 ? 2.0 : 1.0;
    m *= f->dim == 3 ? 8.0 : 4.0;
  }
  PetscCall(HopsCudaBoxCreate(f->dim, f->order, f->A1, f->M1, f->J, d, m, ncells, single, box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBoxMGDestroy_CUDA(HopsBoxMG *m)
{
  HopsBoxMG mg = *m;

  PetscFunctionBegin;
  if (!mg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsRecordDestroy_CUDA(&mg->graph));
  PetscCall(HopsRecordDestroy_CUDA(&mg->nested));
  for (int l = 0; l < mg->n; l++) {
    if (mg->choice.single) {
      PetscCall(HopsCudaBoxDestroy(&mg->box[l]));
      PetscCallCUDA(cudaFree(mg->X[l]));
    }
    PetscCall(HopsCudaBoxDestroy(&mg->exact[l]));
    PetscCallCUDA(cudaFree(mg->b[l]));
    PetscCallCUDA(cudaFree(mg->x[l]));
    PetscCallCUDA(cudaFree(mg->B[l]));
  }
  PetscCall(HopsCudaBoxDirectDestroy(&mg->direct));
  PetscCall(HopsCudaBoxDirectDestroy(&mg->exactdirect));
  for (int i = 0; i < 2; i++) {
    PetscCallCUDA(cudaFree(mg->t[i]));
    if (mg->event[i]) PetscCallCUDA(cudaEventDestroy(mg->event[i]));
  }
  if (mg->ready) PetscCallCUDA(cudaEventDestroy(mg->ready));
  PetscCallCUDA(cudaFree(mg->partial));
  PetscCallCUDA(cudaFree(mg->sum));
  PetscCallCUDA(cudaFree(mg->scale));
  if (mg->norm) PetscCallCUDA(cudaFreeHost(mg->norm));
  PetscCall(PetscFree6(mg->box, mg->exact, mg->b, mg->x, mg->B, mg->X));
  PetscCall(PetscFree(mg->seconds));
  PetscCall(PetscFree(*m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  |A d| / |x| for changes d of x, without order, by at most its rounding to single precision, as x's size is
  1: d has a root mean square of 2^-24 / sqrt(3) times some 3/4, and A rows whose squares have a mean that the
  1D matrices give
*/
static double Rounding(HopsCudaBox k)
{
  const int N       = k->p + 1;
  double    F[3][3] = {{0.0}}, sum = 0.0; /* mean over a direction's nodes of row products of A A, A M, M M */

  for (int a = 0; a < k->dim; a++) {
    const int n = k->nodes[a], p = k->p;

    for (int i = 0; i <= p; i++) /* row i of a cell: of the first node, the cell before's last row is added */
      for (int j = 0; j <= p; j++) {
        const double A = k->A1[i * N + j], M = k->M1[i * N + j], w = (double)k->ncells[a] / n;
        const double A0 = !i && !j ? 2 * A : A, M0 = !i && !j ? 2 * M : M;

        if (i == p) { /* of the cell before, row of the first node: without the diagonal */
          if (j < p) {
            F[a][0] += w * A * A;
            F[a][1] += w * A * M;
            F[a][2] += w * M * M;
          }
        } else {
          F[a][0] += w * A0 * A0;
          F[a][1] += w * A0 * M0;
          F[a][2] += w * M0 * M0;
        }
      }
  }
  for (int a = 0; a < k->dim; a++)
    for (int b = 0; b < k->dim; b++) {
      double f = k->d[a] * k->d[b];

      for (int c = 0; c < k->dim; c++) f *= F[c][c == a && c == b ? 0 : c == a || c == b ? 1 : 2];
      sum += f;
    }
  return PetscSqrtReal(sum) * 0.75 * 5.96e-8 / PetscSqrtReal(3.0);
}

/* Levels: cells are halved while all numbers are even and there are more nodes inside than the choice's limit
   in some direction */
static PetscErrorCode CountLevels(const HopsBoxForm *f, const HopsBoxMGChoice *choice, int *n)
{
  PetscInt c[3], coarse = PetscMin(choice->coarse, HOPS_BOX_COARSE);

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(c, f->ncells, 3));
  for (*n = 1;; ++*n) {
    PetscBool small = PETSC_TRUE, even = PETSC_TRUE;

    for (PetscInt a = 0; a < f->dim; ++a) {
      if (c[a] * f->order - 1 > coarse) small = PETSC_FALSE;
      if (c[a] % 2) even = PETSC_FALSE;
    }
    if (small || !even || *n == choice->levels) break;
    for (PetscInt a = 0; a < f->dim; ++a) c[a] /= 2;
  }
  for (PetscInt a = 0; a < f->dim; ++a)
    PetscCheck(c[a] * f->order - 1 <= HOPS_BOX_COARSE, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The coarsest box has %" PetscInt_FMT " cells of order %" PetscInt_FMT " in direction %" PetscInt_FMT
               ", too many for its direct solver (%d nodes inside): choose numbers of cells with more factors of 2, or more levels",
               c[a], f->order, a, HOPS_BOX_COARSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBoxMGCreate_CUDA(const HopsBoxForm *f, const HopsBoxMGChoice *choice, HopsBoxMG *m)
{
  HopsBoxMG   mg;
  HopsCudaBox fine;
  size_t      half;
  int         n, i, blocks = 0;

  PetscFunctionBegin;
  PetscCall(CountLevels(f, choice, &n));
  PetscCall(PetscNew(&mg));
  *m         = mg;
  mg->choice = *choice;
  mg->n      = n;
  PetscCall(PetscCalloc6(n, &mg->box, n, &mg->exact, n, &mg->b, n, &mg->x, n, &mg->B, n, &mg->X));
  PetscCall(PetscCalloc1(n * HOPS_BOX_NKINDS, &mg->seconds));
  for (int l = 0; l < n; l++) {
    PetscCall(HopsCudaBoxCreateForm(f, n - 1 - l, PETSC_FALSE, &mg->exact[l]));
    if (choice->single) PetscCall(HopsCudaBoxCreateForm(f, n - 1 - l, PETSC_TRUE, &mg->box[l]));
    else mg->box[l] = mg->exact[l];
    if (choice->single || l < n - 1 || !l) {
      PetscCall(Allocate(mg, mg->box[l]->n * Size(mg), &mg->b[l]));
      PetscCall(Allocate(mg, mg->box[l]->n * Size(mg), &mg->x[l]));
    }
    if (l < n - 1) PetscCall(Allocate(mg, mg->box[l]->n * sizeof(double), &mg->B[l]));
    if (!choice->single) mg->X[l] = (double *)mg->x[l];
    else if (l < n - 1) PetscCall(Allocate(mg, mg->box[l]->n * sizeof(double), &mg->X[l]));
  }
  fine = mg->exact[n - 1];
  PetscCall(HopsCudaBoxDirectCreate(mg->box[0], &mg->direct));
  PetscCall(HopsCudaBoxDirectCreate(mg->exact[0], &mg->exactdirect));
  half = (size_t)(fine->nodes[fine->dim - 1] + 1) / 2;
  if (n > 1) {
    const size_t plane = (size_t)(fine->dim == 3 ? fine->sz : fine->sy), sums = (*fine->k->CoarseSums)(mg->box[n - 1], &i);
    size_t       size = (*fine->k->CoarseSums)(fine, &blocks);

    size = PetscMax(size, sums);
    if (fine->dim == 2 || !choice->single) size = PetscMax(size, half * plane * sizeof(double));
    PetscCall(Allocate(mg, size, &mg->t[0]));
    if (fine->dim == 3 && !choice->single)
      PetscCall(Allocate(mg, half * ((size_t)(fine->nodes[1] + 1) / 2) * (size_t)fine->sy * sizeof(double), &mg->t[1]));
  }
  blocks = PetscMax(PetscMax(PetscMax(1024, blocks), (*fine->k->Blocks)(fine)), (*fine->k->ProlongedBlocks)(fine));
  if (choice->single) blocks = PetscMax(blocks, (*mg->box[n - 1]->k->Blocks)(mg->box[n - 1]));
  PetscCall(Allocate(mg, blocks * sizeof(double), &mg->partial));
  mg->rounding = Rounding(fine);
  PetscCall(Allocate(mg, HOPS_BOX_NSUMS * sizeof(double), &mg->sum));
  PetscCall(Allocate(mg, 2 * sizeof(double), &mg->scale));
  PetscCallCUDA(cudaMallocHost((void **)&mg->norm, (HOPS_BOX_NSUMS + 2) * sizeof(double)));
  for (int i = 0; i < 2; i++) PetscCallCUDA(cudaEventCreate(&mg->event[i]));
  PetscCallCUDA(cudaEventCreateWithFlags(&mg->ready, cudaEventDisableTiming));
  PetscCallCUDA(cudaDeviceSynchronize());
  if (choice->graph) PetscCall(HopsBoxMGCapture(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
