/*
  CUDA: multigrid on a uniform box, by raw pointers. A level smooths by one multiplicative sweep over the
  vertex patches before and after the coarse correction; the coarsest box is solved exactly.

  The cycle runs in double or in single precision. Its data: on each level right-hand side and solution, and
  restricted residuals between directions. In single precision the cycle is a correction for a residual taken
  in double precision, scaled to be of order 1, on every level of the nested iteration: so both precisions
  compute the same to rounding of the correction, and take the same number of cycles. x's values on the next
  coarser level enter that residual through A P, and the correction is added as they are prolonged.
*/
#include <hops/private/hopsimpl.h>
#include <backend/cuda/runtime/cudaimpl.h>
#include "cudaboxmg.h"

struct _HopsBoxKernel {
  HopsCudaBox box;
};

static PetscErrorCode Begin(HopsBoxMG mg, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (mg->profile) PetscCallCUDA(cudaEventRecord(mg->event[0], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(HopsBoxMG mg, int l, HopsBoxKind kind, cudaStream_t stream)
{
  float ms;

  PetscFunctionBegin;
  if (!mg->profile) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaEventRecord(mg->event[1], stream));
  PetscCallCUDA(cudaEventSynchronize(mg->event[1]));
  PetscCallCUDA(cudaEventElapsedTime(&ms, mg->event[0], mg->event[1]));
  mg->seconds[l * HOPS_BOX_NKINDS + kind] += 1e-3 * ms;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smooth(HopsBoxMG mg, int l, PetscBool post, PetscBool zero, const void *b, void *x, cudaStream_t stream)
{
  HopsCudaBox k = mg->box[l];

  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall(
    HopsCudaPatchSweep(k->patch, 0, 1 << k->dim, post && mg->choice.symmetric ? PETSC_TRUE : PETSC_FALSE, zero, b, x, stream));
  PetscCall(End(mg, l, HOPS_BOX_SMOOTH, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out = transposed prolongation of b - A x, or of b, and then sums of squares of b where asked for, in 3D */
static PetscErrorCode Restrict(HopsBoxMG mg, HopsCudaBox fine, const void *b, const void *x, void *out, double *partial,
                               cudaStream_t stream)
{
  PetscFunctionBegin;
  if (fine->dim == 3 && (!x || fine->single)) {
    PetscCall((*fine->k->Coarse)(fine, b, x, mg->t[0], out, partial, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (x) PetscCall((*fine->k->ResidualRestrict)(fine, b, x, mg->t[0], stream));
  else PetscCall((*fine->k->Restrict)(fine, fine->dim - 1, b, mg->t[0], stream));
  if (fine->dim == 3) PetscCall((*fine->k->Restrict)(fine, 1, mg->t[0], mg->t[1], stream));
  PetscCall((*fine->k->Restrict)(fine, 0, mg->t[fine->dim - 2], out, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle for level l's b, from x or from zero */
static PetscErrorCode Cycle(HopsBoxMG mg, int l, PetscBool zero, const void *b, void *x, cudaStream_t stream)
{
  HopsCudaBox k = mg->box[l];

  PetscFunctionBegin;
  if (l == 0) {
    PetscCall(Begin(mg, stream));
    PetscCall(HopsCudaBoxDirectSolve(&mg->direct, b, x, stream));
    PetscCall(End(mg, l, HOPS_BOX_DIRECT, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth(mg, l, PETSC_FALSE, zero, b, x, stream));
  PetscCall(Begin(mg, stream));
  PetscCall(Restrict(mg, k, b, x, mg->b[l - 1], NULL, stream));
  PetscCall(End(mg, l, HOPS_BOX_RESTRICT, stream));
  if (l == mg->n - 1 && mg->graph && !mg->profile) PetscCall(HopsRecordRun_CUDA(mg->graph));
  else PetscCall(Cycle(mg, l - 1, PETSC_TRUE, mg->b[l - 1], mg->x[l - 1], stream));
  PetscCall(Begin(mg, stream));
  PetscCall((*k->k->Prolong)(k, mg->x[l - 1], mg->choice.single, 1.0, NULL, x, x, stream));
  PetscCall(End(mg, l, HOPS_BOX_PROLONG, stream));
  PetscCall(Smooth(mg, l, PETSC_TRUE, PETSC_FALSE, b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the sum of squares that was taken last: a wait */
static PetscErrorCode GetNorm(HopsBoxMG mg, PetscReal *norm, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpyAsync(mg->norm, mg->sum, HOPS_BOX_NSUMS * sizeof(double), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *norm = PetscSqrtReal(mg->norm[HOPS_BOX_SUM]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = scale (b - A x) on level l, its norm (before scaling) where asked for: a wait */
static PetscErrorCode Residual(HopsBoxMG mg, int l, const double *b, const double *x, double scale, void *r, PetscReal *norm,
                               cudaStream_t stream)
{
  HopsCudaBox k = mg->exact[l];

  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall((*k->k->Residual)(k, b, x, mg->choice.single, scale, r, norm ? mg->partial : NULL, stream));
  if (norm) PetscCall(HopsCudaBoxSum((*k->k->Blocks)(k), mg->partial, mg->sum, stream));
  PetscCall(End(mg, l, HOPS_BOX_RESIDUAL, stream));
  if (norm) PetscCall(GetNorm(mg, norm, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of squares of x on level l, to mg->sum[which] */
static PetscErrorCode Squares(HopsBoxMG mg, int l, PetscBool single, const void *x, int which, cudaStream_t stream)
{
  const int   blocks = 1024;
  HopsCudaBox k      = mg->exact[l];

  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall(HopsCudaBoxSquares(k->n, single, x, blocks, mg->partial, stream));
  PetscCall(HopsCudaBoxSum(blocks, mg->partial, mg->sum + which, stream));
  PetscCall(End(mg, l, HOPS_BOX_VECTOR, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |x| on level l: a wait */
static PetscErrorCode Norm(HopsBoxMG mg, int l, PetscBool single, const void *x, PetscReal *norm, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(Squares(mg, l, single, x, HOPS_BOX_SUM, stream));
  PetscCall(GetNorm(mg, norm, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += mg->x / scale */
static PetscErrorCode AddCorrection(HopsBoxMG mg, int l, double scale, double *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall(HopsCudaBoxAdd(mg->box[l]->n, mg->choice.single, 1.0 / scale, mg->x[l], x, stream));
  PetscCall(End(mg, l, HOPS_BOX_VECTOR, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += the cycle's correction for b - A x, which in single precision lies in mg->b already, times scale */
static PetscErrorCode Correct(HopsBoxMG mg, int l, double scale, const double *b, double *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!mg->choice.single && l) {
    PetscCall(Cycle(mg, l, PETSC_FALSE, b, x, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->choice.single) PetscCall(Residual(mg, l, b, x, scale, mg->b[l], NULL, stream)); /* the direct solver knows no boundary */
  PetscCall(Cycle(mg, l, PETSC_TRUE, mg->b[l], mg->x[l], stream));
  PetscCall(AddCorrection(mg, l, scale, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mg->scale <- scale and its inverse; nothing that was copied there before may be under way, as after a wait
   for a norm */
static PetscErrorCode SetScale(HopsBoxMG mg, double scale, cudaStream_t stream)
{
  PetscFunctionBegin;
  mg->norm[HOPS_BOX_NSUMS]     = scale;
  mg->norm[HOPS_BOX_NSUMS + 1] = 1.0 / scale;
  PetscCallCUDA(cudaMemcpyAsync(mg->scale, mg->norm + HOPS_BOX_NSUMS, 2 * sizeof(double), cudaMemcpyHostToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mg->b = scale (b - A P X) for the next coarser level's X, and where asked for its sum of squares (before
   scaling). scale: mg->scale */
static PetscErrorCode ResidualProlonged(HopsBoxMG mg, int l, const double *b, PetscBool squares, cudaStream_t stream)
{
  HopsCudaBox k = mg->exact[l];

  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall((*k->k->ResidualProlonged)(k, b, mg->X[l - 1], mg->scale, mg->b[l], squares ? mg->partial : NULL, stream));
  if (squares) PetscCall(HopsCudaBoxSum((*k->k->ProlongedBlocks)(k), mg->partial, mg->sum + HOPS_BOX_SUM_PROLONGED, stream));
  PetscCall(End(mg, l, HOPS_BOX_RESIDUAL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = P X + mg->x / scale */
static PetscErrorCode AddProlonged(HopsBoxMG mg, int l, double *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall((*mg->exact[l]->k->Prolong)(mg->exact[l], mg->X[l - 1], PETSC_TRUE, 1.0, mg->scale + 1, mg->x[l], x, stream));
  PetscCall(End(mg, l, HOPS_BOX_PROLONG, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |mg->b - A mg->x| in single precision on the finest level: a wait */
static PetscErrorCode ResidualSingle(HopsBoxMG mg, PetscReal *norm, cudaStream_t stream)
{
  const int   l = mg->n - 1;
  HopsCudaBox k = mg->box[l];

  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall((*k->k->Residual)(k, mg->b[l], mg->x[l], PETSC_TRUE, 1.0, NULL, mg->partial, stream));
  PetscCall(HopsCudaBoxSum((*k->k->Blocks)(k), mg->partial, mg->sum, stream));
  PetscCall(End(mg, l, HOPS_BOX_RESIDUAL, stream));
  PetscCall(GetNorm(mg, norm, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = P X for the next coarser level's X */
static PetscErrorCode Prolong(HopsBoxMG mg, int l, double *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(Begin(mg, stream));
  PetscCall((*mg->exact[l]->k->Prolong)(mg->exact[l], mg->X[l - 1], PETSC_FALSE, 0.0, NULL, NULL, x, stream));
  PetscCall(End(mg, l, HOPS_BOX_PROLONG, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B is restricted from the next-to-finest level on; the coarsest one exactly, then a cycle on each level: X
   there */
static PetscErrorCode NestedBelow(HopsBoxMG mg, cudaStream_t stream)
{
  const int top = mg->n - 1;

  PetscFunctionBegin;
  for (int l = top - 1; l > 0; l--) {
    PetscCall(Begin(mg, stream));
    PetscCall(Restrict(mg, mg->exact[l], mg->B[l], NULL, mg->B[l - 1], NULL, stream));
    PetscCall(End(mg, l, HOPS_BOX_RESTRICT, stream));
  }
  PetscCall(Begin(mg, stream));
  PetscCall(HopsCudaBoxDirectSolve(&mg->exactdirect, mg->B[0], mg->X[0], stream));
  PetscCall(End(mg, 0, HOPS_BOX_DIRECT, stream));
  for (int l = 1; l < top; l++) {
    if (mg->choice.single) {
      PetscCall(ResidualProlonged(mg, l, mg->B[l], PETSC_FALSE, stream));
      PetscCall(Cycle(mg, l, PETSC_TRUE, mg->b[l], mg->x[l], stream));
      PetscCall(AddProlonged(mg, l, mg->X[l], stream));
    } else {
      PetscCall(Prolong(mg, l, mg->X[l], stream));
      PetscCall(Cycle(mg, l, PETSC_FALSE, mg->B[l], mg->X[l], stream));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches on the coarser levels take the host longer than the device: they are recorded, once */
PetscErrorCode HopsBoxMGCapture(HopsBoxMG mg)
{
  cudaStream_t stream;
  const int    l = mg->n - 2;

  PetscFunctionBegin;
  if (l < 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int nested = 0; nested < 2; nested++) {
    PetscErrorCode err, end;

    PetscCall(HopsRecordBegin_CUDA());
    PetscCall(HopsGetCUDAStream(&stream));
    err = nested ? NestedBelow(mg, stream) : Cycle(mg, l, PETSC_TRUE, mg->b[l], mg->x[l], stream);
    end = HopsRecordEnd_CUDA(nested ? &mg->nested : &mg->graph); /* in any case */
    PetscCall(err);
    PetscCall(end);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level whose X tells the size of the solution: a small one */
static int CoarserX(HopsBoxMG mg)
{
  return PetscMax(mg->n - 3, 0);
}

static PetscErrorCode LaunchNestedBelow(HopsBoxMG mg, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (mg->nested && !mg->profile) PetscCall(HopsRecordRun_CUDA(mg->nested));
  else PetscCall(NestedBelow(mg, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In 3D on several levels: b is restricted, and the nested iteration begins below the finest level, with
   scale 1 / |b| or 1; the host waits for |b|, and in single precision for whether b has values on the
   boundary, alone */
static PetscErrorCode NestedBegin(HopsBoxMG mg, const double *b, PetscReal *bnorm, PetscBool *boundary, cudaStream_t stream)
{
  const int   top = mg->n - 1;
  HopsCudaBox k   = mg->exact[top];
  int         blocks;

  PetscFunctionBegin;
  (void)(*k->k->CoarseSums)(k, &blocks);
  PetscCall(Begin(mg, stream));
  PetscCall(Restrict(mg, k, b, NULL, mg->B[top - 1], mg->partial, stream));
  PetscCall(HopsCudaBoxSum(blocks, mg->partial, mg->sum + HOPS_BOX_SUM, stream));
  PetscCall(End(mg, top, HOPS_BOX_RESTRICT, stream));
  if (mg->choice.single) {
    PetscCall(HopsCudaBoxBoundaryNonzero(k, b, (int *)(mg->sum + HOPS_BOX_ANY), stream));
    PetscCall(HopsCudaBoxScale(mg->sum + HOPS_BOX_SUM, mg->scale, stream));
  }
  PetscCallCUDA(cudaMemcpyAsync(mg->norm, mg->sum, HOPS_BOX_NSUMS * sizeof(double), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaEventRecord(mg->ready, stream));
  PetscCall(LaunchNestedBelow(mg, stream));
  PetscCallCUDA(cudaEventSynchronize(mg->ready));
  *bnorm    = PetscSqrtReal(mg->norm[HOPS_BOX_SUM]);
  *boundary = *(int *)(mg->norm + HOPS_BOX_ANY) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Nested iteration: the coarsest level exactly, then a cycle on each level; |b| is about 1 / scale. Inside of
  x is overwritten. begun: by NestedBegin(). With `prolonged`, in single precision, x is not written: it is P
  X + mg->x / scale of the finest level; the sums of squares of b - A P X and of a coarser X are taken.
*/
static PetscErrorCode Nested(HopsBoxMG mg, PetscBool begun, double scale, PetscBool prolonged, const double *b, double *x,
                             cudaStream_t stream)
{
  const int top = mg->n - 1;

  PetscFunctionBegin;
  if (!top) {
    PetscCall(Begin(mg, stream));
    PetscCall(HopsCudaBoxDirectSolve(&mg->exactdirect, b, x, stream));
    PetscCall(End(mg, 0, HOPS_BOX_DIRECT, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!begun) {
    PetscCall(Begin(mg, stream));
    PetscCall(Restrict(mg, mg->exact[top], b, NULL, mg->B[top - 1], NULL, stream));
    PetscCall(End(mg, top, HOPS_BOX_RESTRICT, stream));
    if (mg->choice.single) PetscCall(SetScale(mg, scale, stream));
    PetscCall(LaunchNestedBelow(mg, stream));
  }
  if (prolonged) { /* P X has no boundary values, and x may have */
    const int l = CoarserX(mg);

    PetscCall(Squares(mg, l, PETSC_FALSE, mg->X[l], HOPS_BOX_SUM_X, stream));
    PetscCall(ResidualProlonged(mg, top, b, PETSC_TRUE, stream));
    PetscCall(Cycle(mg, top, PETSC_TRUE, mg->b[top], mg->x[top], stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Prolong(mg, top, x, stream));
  if (mg->choice.single) PetscCall(Residual(mg, top, b, x, scale, mg->b[top], NULL, stream));
  PetscCall(Correct(mg, top, scale, b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Iterative refinement: cycles in single precision correct for a residual r of double precision, one after the
  other from the c that the last one left, until rounding would keep the next one from what the last one
  gained, or from the tolerance, or the last one gained less than a factor of 4; then x is updated, and its
  residual taken anew. So a cycle costs what it does in single precision alone.

  |r - A c| is taken in single precision. It does not see that r was rounded, by 2^-24 |r| at most, and that x
  + c will be, in double precision: `hidden` bounds the one and estimates the other. What it says of b - A (x
  + c) counts where these do not matter; else, and where x's size is not known, the residual is that of x in
  double precision.
*/
static PetscErrorCode SolveSingle(HopsBoxMG mg, const HopsBoxStop *stop, PetscBool begun, PetscBool boundary, PetscReal bnorm,
                                  const double *b, double *x, PetscInt *its, PetscBool *converged, PetscReal *norm,
                                  cudaStream_t stream)
{
  const int       top = mg->n - 1;
  const PetscReal tol = PetscMax(stop->rtol * bnorm, stop->abstol), eps = PetscPowReal(2.0, -24);
  /* of the residual that is corrected; before the last cycle; of x's rounding, negative if not known */
  PetscReal rnorm = 0.0, last, size = -1.0;
  /* what HopsCudaBoxScale() has on the device */
  double    scale     = bnorm > 0.0 ? 1.0 / bnorm : 1.0;
  PetscBool prolonged = PETSC_FALSE, pending = PETSC_FALSE, done = PETSC_FALSE; /* x is P X + c; or x + c */

  PetscFunctionBegin;
  *norm = bnorm;
  if (stop->zero && stop->full) {
    if (begun && !boundary) prolonged = pending = PETSC_TRUE; /* the coarser levels know no boundary values */
    PetscCall(Nested(mg, begun, scale, prolonged, b, x, stream));
  }
  last = prolonged ? -1.0 : rnorm;
  while (!done) {
    if (pending) {
      PetscBool stopped;
      PetscReal c, hidden;

      PetscCall(ResidualSingle(mg, norm, stream));
      *norm /= scale;
      if (prolonged) {
        const int l = CoarserX(mg);

        rnorm = PetscSqrtReal(mg->norm[HOPS_BOX_SUM_PROLONGED]);
        size  = mg->rounding * PetscPowReal(2.0, -29) *
               PetscSqrtReal(mg->norm[HOPS_BOX_SUM_X] * (PetscReal)mg->exact[top]->n / mg->exact[l]->n);
        if (last < 0.0) last = rnorm;
      }
      hidden = eps * rnorm + PetscMax(size, 0.0);
      PetscCall(PetscInfo(NULL,
                          "%" PetscInt_FMT
                          " cycles on the finest level: |b - A x| / |b| = %g in single precision, and at most %g of rounding\n",
                          *its, (double)(*norm / bnorm), (double)(hidden / bnorm)));
      stopped =
        *norm <= tol || *its >= stop->maxits || PetscIsInfOrNanReal(*norm) || (stop->dtol > 0.0 && *norm > stop->dtol * bnorm)
          ? PETSC_TRUE
          : PETSC_FALSE;
      if (!stopped && *norm < 0.25 * last) {
        PetscCall(Norm(mg, top, PETSC_TRUE, mg->x[top], &c, stream));
        if (PetscMax(*norm * *norm / last, 0.25 * tol) > 4.0 * (eps * rnorm + mg->rounding * c / scale)) {
          PetscCall(Cycle(mg, top, PETSC_FALSE, mg->b[top], mg->x[top], stream));
          last = *norm;
          ++*its;
          continue;
        }
      }
      if (prolonged) PetscCall(AddProlonged(mg, top, x, stream));
      else PetscCall(AddCorrection(mg, top, scale, x, stream));
      prolonged = pending = PETSC_FALSE;
      if (stopped && size >= 0.0 && (*norm > tol || *norm + hidden <= tol)) {
        *norm += hidden;
        done = PETSC_TRUE;
      }
      if (*norm > 0.0) scale = 1.0 / *norm;
    }
    if (!done) {
      PetscCall(Residual(mg, top, b, x, scale, mg->b[top], norm, stream));
      PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " cycles on the finest level: |b - A x| / |b| = %g\n", *its,
                          (double)(bnorm > 0.0 ? *norm / bnorm : *norm)));
      rnorm = last = *norm;
    }
    *converged = *norm <= tol ? PETSC_TRUE : PETSC_FALSE;
    if (done || *converged || *its >= stop->maxits || PetscIsInfOrNanReal(*norm) ||
        (stop->dtol > 0.0 && *norm > stop->dtol * bnorm))
      break;
    PetscCall(Cycle(mg, top, PETSC_TRUE, mg->b[top], mg->x[top], stream));
    pending = PETSC_TRUE;
    ++*its;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxMGSolve_CUDA(HopsBoxMG mg, const HopsBoxStop *stop, const PetscScalar b[], PetscScalar x[],
                                          PetscInt *its, PetscBool *converged, PetscReal norms[2])
{
  const int       top      = mg->n - 1;
  HopsCudaBox     k        = mg->exact[top];
  const PetscBool begun    = stop->zero && stop->full && top && k->dim == 3 ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       boundary = PETSC_TRUE;
  PetscReal       norm, bnorm = 0.0, tol;
  double          scale;
  cudaStream_t    stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (begun) PetscCall(NestedBegin(mg, b, &bnorm, &boundary, stream));
  else PetscCall(Norm(mg, top, PETSC_FALSE, b, &bnorm, stream));
  norms[0]   = bnorm;
  norms[1]   = 0.0;
  tol        = PetscMax(stop->rtol * bnorm, stop->abstol);
  norm       = bnorm;
  *its       = 0;
  *converged = PETSC_TRUE;
  if (stop->zero && !(bnorm > 0.0)) { /* zero, or NaN */
    *converged = bnorm == 0.0 ? PETSC_TRUE : PETSC_FALSE;
    PetscCallCUDA(cudaMemsetAsync(x, 0, k->n * sizeof(double), stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (stop->zero && !stop->full) PetscCallCUDA(cudaMemsetAsync(x, 0, k->n * sizeof(double), stream));
  PetscCall(HopsCudaBoxBoundary(k, 1.0, b, x, stream));
  scale = norm > 0.0 ? 1.0 / norm : 1.0;
  if (mg->choice.single) {
    PetscCall(SolveSingle(mg, stop, begun, boundary, bnorm, b, x, its, converged, &norms[1], stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (stop->zero && stop->full) PetscCall(Nested(mg, begun, scale, PETSC_FALSE, b, x, stream));
  for (;; ++*its) {
    PetscCall(Residual(mg, top, b, x, scale, NULL, &norm, stream));
    norms[1] = norm;
    PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " cycles on the finest level: |b - A x| / |b| = %g\n", *its,
                        (double)(bnorm > 0.0 ? norm / bnorm : norm)));
    *converged = norm <= tol ? PETSC_TRUE : PETSC_FALSE;
    if (*converged || *its >= stop->maxits || PetscIsInfOrNanReal(norm) || (stop->dtol > 0.0 && norm > stop->dtol * bnorm)) break;
    PetscCall(Correct(mg, top, scale, b, x, stream));
    if (norm > 0.0) scale = 1.0 / norm; /* of the next residual, which is smaller */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxMGApply_CUDA(HopsBoxMG mg, PetscBool full, const PetscScalar b[], PetscScalar x[])
{
  const int    top  = mg->n - 1;
  HopsCudaBox  k    = mg->exact[top];
  PetscReal    norm = 1.0;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (mg->choice.single) { /* small numbers must not underflow */
    PetscCall(Norm(mg, top, PETSC_FALSE, b, &norm, stream));
    if (!(norm > 0.0)) {
      PetscCall(HopsCudaBoxConvert(k->n, PETSC_FALSE, b, 1.0, PETSC_FALSE, x, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (full) PetscCall(Nested(mg, PETSC_FALSE, 1.0 / norm, PETSC_FALSE, b, x, stream));
  else if (mg->choice.single) {
    PetscCall(HopsCudaBoxConvert(k->n, PETSC_FALSE, b, 1.0 / norm, PETSC_TRUE, mg->b[top], stream));
    PetscCall(Cycle(mg, top, PETSC_TRUE, mg->b[top], mg->x[top], stream));
    PetscCall(HopsCudaBoxConvert(k->n, PETSC_TRUE, mg->x[top], norm, PETSC_FALSE, x, stream));
  } else {
    PetscCall(HopsCudaBoxBoundary(k, 0.0, NULL, x, stream));
    PetscCall(Cycle(mg, top, PETSC_TRUE, b, x, stream));
  }
  PetscCall(HopsCudaBoxBoundary(k, 1.0, b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxMGGetInfo_CUDA(HopsBoxMG mg, PetscInt *levels, PetscInt coarsest[], PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  if (levels) *levels = mg->n;
  for (int a = 0; coarsest && a < 3; a++) coarsest[a] = mg->box[0]->ncells[a];
  if (bytes) *bytes = mg->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxMGProfile_CUDA(HopsBoxMG mg, PetscBool on, PetscReal seconds[])
{
  PetscFunctionBegin;
  if (seconds) PetscCall(PetscArraycpy(seconds, mg->seconds, mg->n * HOPS_BOX_NKINDS));
  else {
    mg->profile = on;
    PetscCall(PetscArrayzero(mg->seconds, mg->n * HOPS_BOX_NKINDS));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxCreate_CUDA(const HopsBoxForm *f, HopsBoxKernel *k)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(k));
  PetscCall(HopsCudaBoxCreateForm(f, 0, PETSC_FALSE, &(*k)->box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxMult_CUDA(HopsBoxKernel k, const PetscScalar x[], PetscScalar y[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall((*k->box->k->Residual)(k->box, NULL, x, PETSC_FALSE, -1.0, y, NULL, stream));
  PetscCall(HopsCudaBoxBoundary(k->box, 1.0, x, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBoxDestroy_CUDA(HopsBoxKernel *k)
{
  PetscFunctionBegin;
  if (*k) PetscCall(HopsCudaBoxDestroy(&(*k)->box));
  PetscCall(PetscFree(*k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsBoxOps HopsBoxCUDA = {
  .Create    = HopsBoxCreate_CUDA,
  .Mult      = HopsBoxMult_CUDA,
  .Destroy   = HopsBoxDestroy_CUDA,
  .MGCreate  = HopsBoxMGCreate_CUDA,
  .MGApply   = HopsBoxMGApply_CUDA,
  .MGSolve   = HopsBoxMGSolve_CUDA,
  .MGGetInfo = HopsBoxMGGetInfo_CUDA,
  .MGProfile = HopsBoxMGProfile_CUDA,
  .MGDestroy = HopsBoxMGDestroy_CUDA,
};
