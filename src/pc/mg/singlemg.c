/*
  Multigrid in single precision on raw arrays, between a right-hand side and a solution of double precision: smoothing is Chebyshev
  iteration with the diagonal, and the coarsest level is solved by a KSP in double precision.
*/
#include "hopsmgimpl.h"

typedef struct {
  HopsSpace        space;
  HopsSinglePA     A;
  HopsSingleInterp P; /* from the next coarser level */
  HopsSmoother     smoother;
  float           *dinv;          /* [nT] inverse diagonal */
  float           *b, *x, *r, *d; /* [nT] */
  float           *xg, *yg;       /* [nL-nT] ghosts and constrained entries, which are zero */
  float           *shared;        /* [nshared] roots of the halo exchange */
} HopsSingleLevel;

struct _HopsSingleMG {
  PetscInt         n;
  HopsSingleLevel *level; /* coarsest first */
  KSP              coarse;
  Vec              cb, cx;
};

/* ------------------------------------------------------------ halo exchange ------------------------------------------------------------ */

static PetscErrorCode SingleHaloBegin(HopsSingleLevel *l, const float x[])
{
  HopsSpace sp = l->space;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nshared; ++i) l->shared[i] = x[sp->shared[i]];
  PetscCall(PetscSFBcastBegin(sp->halo, MPI_FLOAT, l->shared, l->xg, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleHaloEnd(HopsSingleLevel *l)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastEnd(l->space->halo, MPI_FLOAT, l->shared, l->xg, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleHaloAddBegin(HopsSingleLevel *l)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(l->shared, l->space->nshared));
  PetscCall(PetscSFReduceBegin(l->space->halo, MPI_FLOAT, l->yg, l->shared, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleHaloAddEnd(HopsSingleLevel *l, float y[])
{
  HopsSpace sp = l->space;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceEnd(sp->halo, MPI_FLOAT, l->yg, l->shared, MPI_SUM));
  for (PetscInt i = 0; i < sp->nshared; ++i) y[sp->shared[i]] += l->shared[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------------------------- operations -------------------------------------------------------------- */

/* y = A x */
static PetscErrorCode SingleMult(HopsSingleLevel *l, const float x[], float y[])
{
  HopsSpace             sp = l->space;
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(y, sp->nT));
  PetscCall(PetscArrayzero(l->yg, sp->nL - sp->nT));
  PetscCall(SingleHaloBegin(l, x));
  PetscCall((*be->SinglePAApply)(l->A, HOPS_PART_INTERIOR_A, x, l->xg, y, l->yg));
  PetscCall(SingleHaloEnd(l));
  PetscCall((*be->SinglePAApply)(l->A, HOPS_PART_SHARED, x, l->xg, y, l->yg));
  PetscCall(SingleHaloAddBegin(l));
  PetscCall((*be->SinglePAApply)(l->A, HOPS_PART_INTERIOR_B, x, l->xg, y, l->yg));
  PetscCall(SingleHaloAddEnd(l, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fine x = (add: +=) P coarse x */
static PetscErrorCode SingleProlong(HopsSingleLevel *coarse, HopsSingleLevel *fine, PetscBool add)
{
  const HopsBackendOps *be = fine->space->backend;

  PetscFunctionBegin;
  PetscCall(SingleHaloBegin(coarse, coarse->x));
  PetscCall((*be->SingleInterpApply)(fine->P, PETSC_TRUE, coarse->x, coarse->xg, fine->x, add));
  PetscCall(SingleHaloEnd(coarse));
  PetscCall((*be->SingleInterpApply)(fine->P, PETSC_FALSE, coarse->x, coarse->xg, fine->x, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* coarse b = P^T r */
static PetscErrorCode SingleRestrict(HopsSingleLevel *fine, const float r[], HopsSingleLevel *coarse)
{
  HopsSpace             sp = coarse->space;
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coarse->b, sp->nT));
  PetscCall(PetscArrayzero(coarse->yg, sp->nL - sp->nT));
  PetscCall((*be->SingleInterpApplyTranspose)(fine->P, PETSC_FALSE, r, coarse->b, coarse->yg));
  PetscCall(SingleHaloAddBegin(coarse));
  PetscCall((*be->SingleInterpApplyTranspose)(fine->P, PETSC_TRUE, r, coarse->b, coarse->yg));
  PetscCall(SingleHaloAddEnd(coarse, coarse->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of Chebyshev iteration for D^-1 A on [emin, emax], in the recurrence of Saad's "Iterative Methods", algorithm 12.1 */
static PetscErrorCode SingleSmooth(HopsSingleLevel *l, PetscBool zero)
{
  const PetscInt  n     = l->space->nT;
  const PetscReal theta = 0.5 * (l->smoother.emax + l->smoother.emin), delta = 0.5 * (l->smoother.emax - l->smoother.emin), sigma = theta / delta;
  PetscReal       rho = 1.0 / sigma;
  float *restrict x = l->x, *restrict r = l->r, *restrict d = l->d, *restrict dinv = l->dinv, *restrict b = l->b;

  PetscFunctionBegin;
  if (zero) PetscCall(PetscArrayzero(x, n));
  for (PetscInt k = 0; k < l->smoother.steps; ++k) {
    const PetscReal next = 1.0 / (2.0 * sigma - rho);
    const float     c0 = k ? (float)(next * rho) : 0.0f, c1 = (float)(k ? 2.0 * next / delta : 1.0 / theta);

    if (k) rho = next;
    if (zero && !k) PetscCall(PetscArrayzero(r, n));
    else PetscCall(SingleMult(l, x, r));
    if (!k) PetscCall(PetscArrayzero(d, n));
    for (PetscInt i = 0; i < n; ++i) {
      d[i] = c0 * d[i] + c1 * dinv[i] * (b[i] - r[i]);
      x[i] += d[i];
    }
    PetscCall(PetscLogFlops(6.0 * n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleCoarseSolve(HopsSingleMG mg, PC pc)
{
  HopsSingleLevel   *l = mg->level;
  PetscScalar       *b;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(mg->cb, &b));
  for (PetscInt i = 0; i < l->space->nT; ++i) b[i] = l->b[i];
  PetscCall(VecRestoreArrayWrite(mg->cb, &b));
  PetscCall(KSPSolve(mg->coarse, mg->cb, mg->cx));
  PetscCall(KSPCheckSolve(mg->coarse, pc, mg->cx));
  PetscCall(VecGetArrayRead(mg->cx, &x));
  for (PetscInt i = 0; i < l->space->nT; ++i) l->x[i] = (float)PetscRealPart(x[i]);
  PetscCall(VecRestoreArrayRead(mg->cx, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One V-cycle for level k's b, from zero or from its x */
static PetscErrorCode SingleCycle(HopsSingleMG mg, PC pc, PetscInt k, PetscBool zero)
{
  HopsSingleLevel *l = mg->level + k;

  PetscFunctionBegin;
  if (k == 0) {
    PetscCall(SingleCoarseSolve(mg, pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SingleSmooth(l, zero));
  PetscCall(SingleMult(l, l->x, l->r));
  for (PetscInt i = 0; i < l->space->nT; ++i) l->r[i] = l->b[i] - l->r[i];
  PetscCall(SingleRestrict(l, l->r, l - 1));
  PetscCall(SingleCycle(mg, pc, k - 1, PETSC_TRUE));
  PetscCall(SingleProlong(l - 1, l, PETSC_TRUE));
  PetscCall(SingleSmooth(l, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side is scaled to a largest entry of 1, so that small residuals do not underflow; pc is told of a failed coarse solve */
PetscErrorCode HopsSingleMGApply(HopsSingleMG mg, PC pc, PetscBool full, const PetscScalar b[], PetscScalar x[])
{
  HopsSingleLevel *l     = mg->level + mg->n - 1;
  const PetscInt   n     = l->space->nT;
  PetscReal        scale = 0.0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) scale = PetscMax(scale, PetscAbsScalar(b[i]));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &scale, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)l->space)));
  if (scale == 0.0) {
    PetscCall(PetscArrayzero(x, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < n; ++i) l->b[i] = (float)(PetscRealPart(b[i]) / scale);
  if (full) {
    for (PetscInt k = mg->n - 1; k > 0; --k) PetscCall(SingleRestrict(mg->level + k, mg->level[k].b, mg->level + k - 1));
    PetscCall(SingleCycle(mg, pc, 0, PETSC_TRUE));
    for (PetscInt k = 1; k < mg->n; ++k) {
      PetscCall(SingleProlong(mg->level + k - 1, mg->level + k, PETSC_FALSE));
      PetscCall(SingleCycle(mg, pc, k, PETSC_FALSE));
    }
  } else PetscCall(SingleCycle(mg, pc, mg->n - 1, PETSC_TRUE));
  for (PetscInt i = 0; i < n; ++i) x[i] = scale * l->x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------------------------- life cycle --------------------------------------------------------------- */

/* numbers without order in [-1/2, 1/2], the same on any number of ranks */
static PetscErrorCode SingleNoise(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscReal s = 0.0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) s += (d * 65.243 + 12.9898) * x[d];
  s    = PetscSinReal(s + 0.37) * 43758.5453;
  u[0] = s - PetscFloorReal(s) - 0.5;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest eigenvalue of D^-1 A by ten steps of the conjugate gradient method; PETSc's usual interval for smoothing, [0.1, 1.1] of it */
PetscErrorCode HopsSingleBounds(HopsSpace sp, Mat A, PetscReal *emin, PetscReal *emax)
{
  KSP ksp;
  PC  pc;
  Vec b, x;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateVec(sp, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(HopsSpaceInterpolate(sp, SingleNoise, NULL, b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, PetscMin(10, sp->N)));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, emin));
  PetscCheck(*emax > 0.0, PetscObjectComm((PetscObject)A), PETSC_ERR_CONV_FAILED, "The operator has no positive eigenvalue on a level: single precision needs a positive definite one, use -pc_hopsmg_precision double");
  *emin = 0.1 * *emax;
  *emax *= 1.1;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleDiagonal(HopsSingleLevel *l, Mat A)
{
  Vec                d;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateVec(l->space, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecGetArrayRead(d, &a));
  for (PetscInt i = 0; i < l->space->nT; ++i) {
    PetscCheck(PetscRealPart(a[i]) > 0.0, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED, "The operator has a diagonal entry %g on a level: single precision needs a positive definite one, use -pc_hopsmg_precision double", (double)PetscRealPart(a[i]));
    l->dinv[i] = (float)(1.0 / PetscRealPart(a[i]));
  }
  PetscCall(VecRestoreArrayRead(d, &a));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMGCreate(PetscInt n, const HopsSpace space[], const Mat A[], const Mat P[], const HopsSmoother smoother[], KSP coarse, HopsSingleMG *single)
{
  HopsSingleMG mg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mg));
  mg->n = n;
  PetscCall(PetscCalloc1(n, &mg->level));
  PetscCall(PetscObjectReference((PetscObject)coarse));
  mg->coarse = coarse;
  PetscCall(HopsSpaceCreateVec(space[0], &mg->cb));
  PetscCall(VecDuplicate(mg->cb, &mg->cx));
  for (PetscInt k = 0; k < n; ++k) {
    HopsSingleLevel *l = mg->level + k;
    const PetscInt   m = space[k]->nT, g = space[k]->nL - m;
    HopsInterpKernel interp;
    Mat_PA          *pa;

    PetscCall(HopsSpaceReference(space[k]));
    l->space    = space[k];
    l->smoother = smoother[k];
    PetscCall(PetscCalloc5(m, &l->dinv, m, &l->b, m, &l->x, m, &l->r, m, &l->d));
    PetscCall(PetscCalloc3(g, &l->xg, g, &l->yg, space[k]->nshared, &l->shared));
    if (!k) continue;
    PetscCall(MatPAGetData(A[k], &pa));
    PetscCall(MatPASetUp_Private(A[k], pa));
    PetscCall((*space[k]->backend->SinglePACreate)(pa->kernel, &l->A));
    PetscCall(MatHopsInterpGetKernel(P[k], &interp));
    PetscCall((*space[k]->backend->SingleInterpCreate)(interp, &l->P));
    PetscCall(SingleDiagonal(l, A[k]));
  }
  *single = mg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMGView(HopsSingleMG mg, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the cycle runs in single precision, with the Chebyshev-Jacobi smoothers shown below\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMGDestroy(HopsSingleMG *single)
{
  HopsSingleMG mg = *single;

  PetscFunctionBegin;
  if (!mg) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->n; ++k) {
    HopsSingleLevel *l = mg->level + k;

    if (k) PetscCall((*l->space->backend->SinglePADestroy)(&l->A));
    if (k) PetscCall((*l->space->backend->SingleInterpDestroy)(&l->P));
    PetscCall(PetscFree5(l->dinv, l->b, l->x, l->r, l->d));
    PetscCall(PetscFree3(l->xg, l->yg, l->shared));
    PetscCall(HopsSpaceDestroy(&l->space));
  }
  PetscCall(PetscFree(mg->level));
  PetscCall(KSPDestroy(&mg->coarse));
  PetscCall(VecDestroy(&mg->cb));
  PetscCall(VecDestroy(&mg->cx));
  PetscCall(PetscFree(*single));
  PetscFunctionReturn(PETSC_SUCCESS);
}
