/* What adaptive loops share: problems and their solutions, options, a solve with an estimate, and a table */
#pragma once
#include "tutorial.h"
#include <petscdm.h>

typedef struct {
  PetscInt          dim, order, start, most;
  HopsEstimateType  estimate;
  PetscReal         refine, coarsen;
  PetscBool         lshape, write;
  char              output[PETSC_MAX_PATH_LEN];
  HopsPointFunction u, grad, f;
} Options;

static inline PetscReal Radius(PetscInt dim, const PetscReal x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(x[d] - 1.0);
  return PetscMax(PetscSqrtReal(s), 1e-12);
}

/* from the boundary above the corner, 0 to 3/2 pi */
static inline PetscReal Angle(const PetscReal x[])
{
  const PetscReal t = PetscAtan2Real(x[1] - 1.0, x[0] - 1.0) - 0.5 * PETSC_PI;

  return t < -1e-10 ? t + 2.0 * PETSC_PI : t;
}

static inline PetscErrorCode Corner(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscPowReal(Radius(2, x), 2.0 / 3.0) * PetscSinReal(2.0 / 3.0 * Angle(x));
  return 0;
}

static inline PetscErrorCode CornerGradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  const PetscReal t = Angle(x), a = 2.0 / 3.0 * t - t - 0.5 * PETSC_PI, c = 2.0 / 3.0 * PetscPowReal(Radius(2, x), -1.0 / 3.0);

  g[0] = c * PetscSinReal(a);
  g[1] = c * PetscCosReal(a);
  return 0;
}

static inline PetscErrorCode Layer(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = atan(20.0 * (Radius(dim, x) - 0.725));
  return 0;
}

static inline PetscErrorCode LayerGradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  const PetscReal r = Radius(dim, x), s = 20.0 * (r - 0.725);

  for (PetscInt d = 0; d < dim; ++d) g[d] = 20.0 / (1.0 + s * s) * (x[d] - 1.0) / r;
  return 0;
}

static inline PetscErrorCode LayerSource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal r = PetscMax(Radius(dim, x), 1e-10), s = 20.0 * (r - 0.725), q = 1.0 + s * s;

  f[0] = 800.0 * s / (q * q) - (dim - 1) / r * 20.0 / q;
  return 0;
}

static inline PetscErrorCode Zero(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 0.0;
  return 0;
}

static inline PetscErrorCode ReadOptions(Options *o)
{
  const char *const problems[] = {"lshape", "layer"};
  PetscInt          problem    = 0;

  PetscFunctionBeginUser;
  *o = (Options){.dim = 2, .order = 3, .start = 1, .most = 10000, .estimate = HOPS_ESTIMATE_RESIDUAL, .refine = 0.5};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "An adaptive loop", NULL);
  PetscCall(PetscOptionsEList("-problem", "Solution", NULL, problems, 2, problems[0], &problem, NULL));
  PetscCall(PetscOptionsRangeInt("-dim", "Dimension of the layer", NULL, o->dim, &o->dim, NULL, 2, 3));
  PetscCall(PetscOptionsInt("-order", "Polynomial order", NULL, o->order, &o->order, NULL));
  PetscCall(PetscOptionsInt("-start", "Refinements of the first mesh", NULL, o->start, &o->start, NULL));
  PetscCall(PetscOptionsInt("-unknowns", "Stop before so many", NULL, o->most, &o->most, NULL));
  PetscCall(
    PetscOptionsEnum("-estimate", "Estimate", NULL, HopsEstimateTypes, (PetscEnum)o->estimate, (PetscEnum *)&o->estimate, NULL));
  PetscCall(PetscOptionsReal("-refine", "Part of the estimate's square", NULL, o->refine, &o->refine, NULL));
  PetscCall(PetscOptionsReal("-coarsen", "Part of the estimate's square", NULL, o->coarsen, &o->coarsen, NULL));
  PetscCall(PetscOptionsString("-output", "Name of VTU files", NULL, "", o->output, sizeof(o->output), &o->write));
  PetscOptionsEnd();
  o->lshape = problem ? PETSC_FALSE : PETSC_TRUE;
  if (o->lshape) o->dim = 2;
  o->u    = o->lshape ? Corner : Layer;
  o->grad = o->lshape ? CornerGradient : LayerGradient;
  o->f    = o->lshape ? Zero : LayerSource;
  PetscFunctionReturn(0);
}

/* What the table says of the loop: unknowns and errors of all steps */
typedef struct {
  PetscInt  n, N[100];
  PetscReal error[100], effectivity[100];
} Table;

static inline PetscErrorCode PrintRate(const Table *t, PetscInt dim, PetscInt order)
{
  const PetscInt last = t->n - 1;
  PetscInt       k    = 0;
  PetscReal      lo = PETSC_MAX_REAL, hi = 0.0;

  PetscFunctionBeginUser;
  if (t->n < 2) PetscFunctionReturn(0);
  while (k + 2 < last && t->N[k + 1] * 8 < t->N[last]) ++k;
  for (PetscInt i = 0; i < t->n; ++i) {
    lo = PetscMin(lo, t->effectivity[i]);
    hi = PetscMax(hi, t->effectivity[i]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Since %" PetscInt_FMT " unknowns: error like unknowns^%.2f (best: %.2f), effectivity %.2f to %.2f\n",
                        t->N[k],
                        (double)(PetscLogReal(t->error[last] / t->error[k]) / PetscLogReal((PetscReal)t->N[last] / t->N[k])),
                        -(double)order / dim, (double)lo, (double)hi));
  PetscFunctionReturn(0);
}

/* Solves from a first guess, prints a line of the table, and marks cells */
static inline PetscErrorCode SolveAndMark(const Options *o, HopsSpace space, Vec x, Table *t, PetscInt marks[])
{
  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;
  Mat               A;
  Vec               b, eta;
  PetscInt          its, N, ncells;
  PetscReal         error, estimate;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(MatCreatePA(space, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceComputeRHS(space, o->f, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(SolveFrom(A, b, x, PETSC_TRUE, &its));
  PetscCall(HopsSpaceCreateCellVec(space, &eta));
  PetscCall(HopsSpaceEstimateError(space, A, x, o->estimate, o->f, NULL, NULL, eta));
  PetscCall(VecNorm(eta, NORM_2, &estimate));
  PetscCall(HopsSpaceComputeEnergyError(space, A, x, NULL, o->grad, NULL, NULL, &error));
  PetscCall(HopsSpaceGetSizes(space, NULL, &N));
  PetscCall(VecGetSize(eta, &ncells));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT "%10" PetscInt_FMT "%12" PetscInt_FMT "%14.3e%13.3e%13.2f\n", ncells, N,
                        its, (double)error, (double)estimate, (double)(estimate / error)));
  if (o->write) {
    char name[PETSC_MAX_PATH_LEN];

    PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%" PetscInt_FMT ".vtu", o->output, t->n));
    PetscCall(HopsSpaceViewVTUCells(space, x, "u", eta, "eta", name));
  }
  t->N[t->n]             = N;
  t->error[t->n]         = error;
  t->effectivity[t->n++] = estimate / error;
  PetscCall(HopsSpaceMark(space, eta, o->refine, o->coarsen, marks));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&eta));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscFunctionReturn(0);
}
