/*
  Multigrid in single precision on raw arrays where the back end works, between a right-hand side and a
  solution of double precision: smoothing is Chebyshev iteration with the diagonal, or Richardson iteration
  with patches or the diagonal, and the coarsest level is solved by a KSP in double precision.
*/
#include "hopsmgimpl.h"
#include <hops/private/hopspatchfdimpl.h>

enum {
  DOWN,      /* from a level's b and x */
  DOWN_ZERO, /* from its b and zero */
  UP,
  PARTS
}; /* of a V-cycle, before the coarsest level's solution and after it */

typedef struct {
  HopsSpace       space;
  HopsOperator    A;
  HopsInterpMap   P;           /* from the next coarser level */
  HopsSmoother    smoother[2]; /* before and after coarse corrections */
  HopsPatchSingle patch[2];    /* or NULL: the diagonal; often the same */
  HopsProlong     prolong;
  float          *dinv;          /* [nT] inverse diagonal */
  float          *b, *x, *r, *d; /* [nT] */
  float          *e;             /* [nT] with patches */
  float          *xg, *yg;       /* HopsSpaceNumOthers(): ghosts, constrained entries, which are zero, and others */
  float          *ess;           /* [ness] scratch */
  PetscBool       ran[PARTS];    /* of cycles from this level */
  HopsRecord      record[PARTS];
  PetscLogDouble  flops[PARTS];
} HopsSingleLevel;

struct _HopsSingleMG {
  PetscInt         n;
  HopsSingleLevel *level;  /* coarsest first */
  PetscBool        repeat; /* parts of cycles are recorded */
  KSP              coarse;
  Vec              cb, cx;
};

/* ----------------------------------------- operations ----------------------------------------- */

/* y = A x */
static PetscErrorCode SingleMult(void *ctx, const float x[], float y[])
{
  HopsSingleLevel      *l  = (HopsSingleLevel *)ctx;
  HopsSpace             sp = l->space;
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  PetscCall((*be->vector->Zero)(PETSC_FLOAT, sp->nT, y));
  PetscCall((*be->vector->Zero)(PETSC_FLOAT, HopsSpaceNumOthers(sp), l->yg));
  PetscCall(HopsProlongBegin(l->prolong, x, l->xg));
  PetscCall((*l->A->ops->Apply)(l->A, HOPS_PART_INTERIOR_A, x, l->xg, y, l->yg));
  PetscCall(HopsProlongEnd(l->prolong, x, l->xg));
  PetscCall((*l->A->ops->Apply)(l->A, HOPS_PART_SHARED, x, l->xg, y, l->yg));
  PetscCall(HopsProlongTransposeBegin(l->prolong, l->yg, y));
  PetscCall((*l->A->ops->Apply)(l->A, HOPS_PART_INTERIOR_B, x, l->xg, y, l->yg));
  PetscCall(HopsProlongTransposeEnd(l->prolong, l->yg, y));
  PetscCall(HopsSpaceAddEssential(sp, PETSC_FLOAT, x, l->ess, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += a correction: d = a d + b B r, x += d */
static PetscErrorCode SingleStep(HopsSingleLevel *l, PetscInt u, float a, float b, const float r[])
{
  const PetscInt       n   = l->space->nT;
  const HopsVectorOps *vec = l->space->backend->vector;

  PetscFunctionBegin;
  if (l->patch[u]) {
    if (l->smoother[u].reverse) PetscCall(PCPATCHFDReverse_Private(l->smoother[u].patch));
    PetscCall(HopsPatchSingleApply(l->patch[u], r, l->e));
    if (l->smoother[u].reverse) PetscCall(PCPATCHFDReverse_Private(l->smoother[u].patch));
    PetscCall((*vec->Step)(n, a, b, NULL, l->e, l->d, l->x));
  } else PetscCall((*vec->Step)(n, a, b, l->dinv, r, l->d, l->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of Richardson iteration, or of Chebyshev iteration for B A on [emin, emax], in the recurrence of
   Saad's "Iterative Methods", algorithm 12.1 */
static PetscErrorCode SingleSmooth(HopsSingleLevel *l, PetscInt u, PetscBool zero)
{
  const HopsSmoother  *s     = l->smoother + u;
  const PetscInt       n     = l->space->nT;
  const HopsVectorOps *vec   = l->space->backend->vector;
  const PetscReal      theta = 0.5 * (s->emax + s->emin), delta = 0.5 * (s->emax - s->emin), sigma = theta / delta;
  PetscReal            rho = 1.0 / sigma;

  PetscFunctionBegin;
  if (zero) PetscCall((*vec->Zero)(PETSC_FLOAT, n, l->x));
  for (PetscInt k = 0; k < s->steps; ++k) {
    const PetscReal next = 1.0 / (2.0 * sigma - rho);
    const float    *r    = l->r;
    float           a = k ? (float)(next * rho) : 0.0f, b = (float)(k ? 2.0 * next / delta : 1.0 / theta);

    if (k) rho = next;
    if (s->richardson) {
      a = 0.0f;
      b = (float)s->scale;
    }
    if (zero && !k) r = l->b;
    else {
      PetscCall(SingleMult(l, l->x, l->r));
      PetscCall((*vec->Combine)(PETSC_FLOAT, n, 1.0f, l->b, -1.0f, l->r, l->r));
    }
    PetscCall(SingleStep(l, u, a, b, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleToVec(HopsSpace sp, PetscReal s, const float x[], Vec v)
{
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(HopsVecGetArray(sp, v, HOPS_VEC_WRITE, &a));
  PetscCall((*sp->backend->vector->Convert)(PETSC_DOUBLE, sp->nT, s, x, a));
  PetscCall(HopsVecRestoreArray(sp, v, HOPS_VEC_WRITE, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleFromVec(HopsSpace sp, PetscReal s, Vec v, float x[])
{
  const PetscReal *a;

  PetscFunctionBegin;
  PetscCall(HopsVecGetArrayRead(sp, v, &a));
  PetscCall((*sp->backend->vector->Convert)(PETSC_FLOAT, sp->nT, s, a, x));
  PetscCall(HopsVecRestoreArrayRead(sp, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleCoarseSolve(HopsSingleMG mg, PC pc)
{
  HopsSingleLevel *l = mg->level;

  PetscFunctionBegin;
  PetscCall(SingleToVec(l->space, 1.0, l->b, mg->cb));
  PetscCall(KSPSolve(mg->coarse, mg->cb, mg->cx));
  PetscCall(KSPCheckSolve(mg->coarse, pc, mg->cx));
  PetscCall(SingleFromVec(l->space, 1.0, mg->cx, l->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleDown(HopsSingleMG mg, PetscInt k, PetscBool zero)
{
  PetscFunctionBegin;
  for (PetscInt j = k; j > 0; --j) {
    HopsSingleLevel *l = mg->level + j;

    PetscCall(SingleSmooth(l, 0, j < k ? PETSC_TRUE : zero));
    PetscCall(SingleMult(l, l->x, l->r));
    PetscCall((*l->space->backend->vector->Combine)(PETSC_FLOAT, l->space->nT, 1.0f, l->b, -1.0f, l->r, l->r));
    PetscCall(HopsInterpMapApplyTranspose(l->P, l->r, PETSC_FALSE, (l - 1)->b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleUp(HopsSingleMG mg, PetscInt k)
{
  PetscFunctionBegin;
  for (PetscInt j = 1; j <= k; ++j) {
    HopsSingleLevel *l = mg->level + j;

    PetscCall(HopsInterpMapApply(l->P, (l - 1)->x, PETSC_TRUE, l->x));
    PetscCall(SingleSmooth(l, 1, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleRunPart(HopsSingleMG mg, PetscInt k, int part)
{
  PetscFunctionBegin;
  if (part == UP) PetscCall(SingleUp(mg, k));
  else PetscCall(SingleDown(mg, k, part == DOWN_ZERO ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts are recorded when they are needed a second time: few unknowns take less time than their kernels'
   launches one by one, and exchanges between devices are dozens of them */
static PetscErrorCode SinglePart(HopsSingleMG mg, PetscInt k, int part)
{
  HopsSingleLevel     *l      = mg->level + k;
  const HopsMemoryOps *memory = l->space->backend->memory;
  PetscErrorCode       err, end;
  PetscLogDouble       before, after;

  PetscFunctionBegin;
  if (!mg->repeat || !l->ran[part]) {
    PetscCall(SingleRunPart(mg, k, part));
    l->ran[part] = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!l->record[part]) {
    PetscCall(PetscGetFlops(&before));
    PetscCall((*memory->RecordBegin)());
    err = SingleRunPart(mg, k, part); /* the record is ended in any case */
    end = (*memory->RecordEnd)(&l->record[part]);
    PetscCall(err);
    PetscCall(end);
    PetscCall(PetscGetFlops(&after));
    l->flops[part] = after - before;
  } else PetscCall(PetscLogGpuFlops(l->flops[part]));
  PetscCall((*memory->RecordRun)(l->record[part]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One V-cycle for level k's b, from zero or from its x */
static PetscErrorCode SingleCycle(HopsSingleMG mg, PC pc, PetscInt k, PetscBool zero)
{
  PetscFunctionBegin;
  if (k) PetscCall(SinglePart(mg, k, zero ? DOWN_ZERO : DOWN));
  PetscCall(SingleCoarseSolve(mg, pc));
  if (k) PetscCall(SinglePart(mg, k, UP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side is scaled to a largest entry of 1, so that small residuals do not underflow; pc is told
   of a failed coarse solve */
PetscErrorCode HopsSingleMGApply(HopsSingleMG mg, PC pc, PetscBool full, Vec b, Vec x)
{
  HopsSingleLevel *l = mg->level + mg->n - 1;
  PetscReal        scale;

  PetscFunctionBegin;
  PetscCall(VecNorm(b, NORM_INFINITY, &scale));
  if (scale == 0.0) {
    PetscCall(VecSet(x, 0.0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SingleFromVec(l->space, 1.0 / scale, b, l->b));
  if (full) {
    for (PetscInt k = mg->n - 1; k > 0; --k)
      PetscCall(HopsInterpMapApplyTranspose(mg->level[k].P, mg->level[k].b, PETSC_FALSE, mg->level[k - 1].b));
    PetscCall(SingleCycle(mg, pc, 0, PETSC_TRUE));
    for (PetscInt k = 1; k < mg->n; ++k) {
      PetscCall(HopsInterpMapApply(mg->level[k].P, mg->level[k - 1].x, PETSC_FALSE, mg->level[k].x));
      PetscCall(SingleCycle(mg, pc, k, PETSC_FALSE));
    }
  } else PetscCall(SingleCycle(mg, pc, mg->n - 1, PETSC_TRUE));
  PetscCall(SingleToVec(l->space, scale, l->x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the cycle symmetric, if the coarse solver is? What two sets of patches do is not compared: they count as
   not symmetric */
PetscErrorCode HopsSingleMGIsSymmetric(HopsSingleMG mg, PetscBool *symmetric)
{
  PetscFunctionBegin;
  *symmetric = PETSC_TRUE;
  for (PetscInt k = 1; k < mg->n && *symmetric; ++k) {
    const HopsSingleLevel *l = mg->level + k;
    const HopsSmoother    *s = l->smoother;

    if (l->patch[0] != l->patch[1] || s[0].richardson != s[1].richardson || s[0].steps != s[1].steps || s[0].scale != s[1].scale)
      *symmetric = PETSC_FALSE;
    else if (l->patch[0] && !s[1].reverse) PetscCall(HopsPatchSingleIsSymmetric(l->patch[0], symmetric));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

/* An array of zeros where the back end works */
static PetscErrorCode SingleCalloc(HopsSpace sp, PetscInt n, float **a)
{
  PetscFunctionBegin;
  PetscCall((*sp->backend->memory->PoolMalloc)(n * sizeof(float), (void **)a));
  PetscCall((*sp->backend->vector->Zero)(PETSC_FLOAT, n, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What smoothing needs to know of a level's operator: the diagonal, for Chebyshev iteration PETSc's usual
   interval */
static PetscErrorCode SingleSmoothers(HopsSingleLevel *l, Mat A, HopsSmoother smoother[2])
{
  PetscReal largest = 1.0;

  PetscFunctionBegin;
  if (!smoother[0].patch || !smoother[1].patch) {
    PetscCall(SingleCalloc(l->space, l->space->nT, &l->dinv));
    PetscCall(HopsSingleInvertDiagonal(l->space, A, l->dinv));
  }
  if (!smoother[0].richardson || !smoother[1].richardson)
    PetscCall(HopsSingleLargest(l->space, SingleMult, l, l->dinv, l->b, l->d, l->r, &largest));
  for (PetscInt u = 0; u < 2; ++u) {
    smoother[u].emin = 0.1 * largest;
    smoother[u].emax = 1.1 * largest;
    l->smoother[u]   = smoother[u];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Patches' events and orders of colors are the process's work */
static PetscBool SingleCanRepeat(HopsSingleMG mg)
{
  for (PetscInt k = 0; k < mg->n; ++k) {
    const HopsSingleLevel *l = mg->level + k;

    if (!HopsProlongCanRecord(l->prolong) || l->patch[0] || l->patch[1]) return PETSC_FALSE;
    if (l->P && !HopsInterpMapCanRecord(l->P)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscErrorCode HopsSingleMGCreate(PetscInt n, const HopsSpace space[], const Mat A[], const Mat P[], HopsSmoother (*smoother)[2],
                                  KSP coarse, PetscBool graph, HopsSingleMG *single)
{
  HopsSingleMG mg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mg));
  *single = mg;
  mg->n   = n;
  PetscCall(PetscCalloc1(n, &mg->level));
  PetscCall(PetscObjectReference((PetscObject)coarse));
  mg->coarse = coarse;
  PetscCall(HopsSpaceCreateVec(space[0], &mg->cb));
  PetscCall(VecDuplicate(mg->cb, &mg->cx));
  for (PetscInt k = 0; k < n; ++k) {
    HopsSingleLevel *l = mg->level + k;
    const PetscInt   m = space[k]->nT, g = HopsSpaceNumOthers(space[k]);
    Mat_PA          *pa;

    PetscCall(HopsSpaceSetUpBackend(space[k]));
    PetscCall(HopsSpaceReference(space[k]));
    l->space = space[k];
    PetscCall(SingleCalloc(space[k], m, &l->b));
    PetscCall(SingleCalloc(space[k], m, &l->x));
    PetscCall(SingleCalloc(space[k], g, &l->xg));
    PetscCall(SingleCalloc(space[k], g, &l->yg));
    PetscCall(SingleCalloc(space[k], space[k]->ness, &l->ess));
    PetscCall(HopsProlongCreate(space[k], space[k]->backend, &space[k]->halo, 1, PETSC_FLOAT, NULL, &l->prolong));
    HopsProlongSetHung(l->prolong, space[k]->hung);
    if (!k) continue;
    PetscCall(SingleCalloc(space[k], m, &l->r));
    PetscCall(SingleCalloc(space[k], m, &l->d));
    PetscCall(MatPAGetData(A[k], &pa));
    PetscCall(MatPASetUp_Private(A[k], pa));
    PetscCall((*pa->kernel->ops->CreateSingle)(pa->kernel, &l->A));
    PetscCall(MatHopsInterpCreateSingle(P[k], &l->P));
    PetscCall(SingleSmoothers(l, A[k], smoother[k]));
    if (l->smoother[0].patch || l->smoother[1].patch) PetscCall(SingleCalloc(space[k], m, &l->e));
    if (l->smoother[0].patch) PetscCall(HopsPatchSingleCreate(l->smoother[0].patch, SingleMult, l, &l->patch[0]));
    if (l->smoother[1].patch == l->smoother[0].patch) l->patch[1] = l->patch[0];
    else if (l->smoother[1].patch) PetscCall(HopsPatchSingleCreate(l->smoother[1].patch, SingleMult, l, &l->patch[1]));
  }
  mg->repeat = graph ? SingleCanRepeat(mg) : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMGView(HopsSingleMG mg, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the cycle runs in single precision, with the smoothers shown below\n"));
  if (mg->repeat) PetscCall(PetscViewerASCIIPrintf(viewer, "its parts above the coarsest level run as CUDA graphs\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMGDestroy(HopsSingleMG *single)
{
  HopsSingleMG mg = *single;

  PetscFunctionBegin;
  if (!mg) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->n; ++k) {
    HopsSingleLevel *l    = mg->level + k;
    float          **a[9] = {&l->dinv, &l->b, &l->x, &l->r, &l->d, &l->e, &l->xg, &l->yg, &l->ess};

    for (int part = 0; part < PARTS; ++part)
      if (l->record[part]) PetscCall((*l->space->backend->memory->RecordDestroy)(&l->record[part]));
    if (l->A) PetscCall((*l->A->ops->Destroy)(&l->A));
    PetscCall(HopsInterpMapDestroy(&l->P));
    if (l->patch[1] != l->patch[0]) PetscCall(HopsPatchSingleDestroy(&l->patch[1]));
    PetscCall(HopsPatchSingleDestroy(&l->patch[0]));
    for (PetscInt i = 0; i < 9; ++i)
      if (*a[i]) PetscCall((*l->space->backend->memory->PoolFree)((void **)a[i]));
    PetscCall(HopsProlongDestroy(&l->prolong));
    PetscCall(HopsSpaceDestroy(&l->space));
  }
  PetscCall(PetscFree(mg->level));
  PetscCall(KSPDestroy(&mg->coarse));
  PetscCall(VecDestroy(&mg->cb));
  PetscCall(VecDestroy(&mg->cx));
  PetscCall(PetscFree(*single));
  PetscFunctionReturn(PETSC_SUCCESS);
}
