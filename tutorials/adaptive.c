static char help[] = "An adaptive loop by hops: solve, estimate, mark, refine and balance, transfer, and again.\n\
\n\
  -div(grad u) = f on a square without a quarter (a cube without one of its eighths), r the distance from the corner.\n\
\n\
  -problem <lshape|layer> : u = r^(2/3) sin(2/3 theta), singular at the corner, in 2D; or u = arctan(20 (r - 0.725))\n\
  -dim <d>         : dimension of the layer\n\
  -order <p>       : polynomial order\n\
  -start <n>       : how often all cells of the first mesh were refined\n\
  -unknowns <n>    : stop before so many unknowns\n\
  -estimate <kelly|zz|residual>\n\
  -refine <part>, -coarsen <part> : parts of the estimate's square, see HopsSpaceMark()\n\
  -output <name>   : writes name-0.vtu, name-1.vtu, ... for ParaView\n\n\
  Try: -order 4 -unknowns 20000 -output corner\n\n";

#include "octreeadapt.h"
#include "tutorial.h"

typedef struct {
  PetscInt          dim, order, start, most;
  HopsEstimateType  estimate;
  PetscReal         refine, coarsen;
  PetscBool         lshape, write;
  char              output[PETSC_MAX_PATH_LEN];
  HopsPointFunction u, grad, f;
} Options;

static PetscReal Radius(PetscInt dim, const PetscReal x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(x[d] - 1.0);
  return PetscMax(PetscSqrtReal(s), 1e-12);
}

/* from the boundary above the corner, 0 to 3/2 pi */
static PetscReal Angle(const PetscReal x[])
{
  const PetscReal t = PetscAtan2Real(x[1] - 1.0, x[0] - 1.0) - 0.5 * PETSC_PI;

  return t < -1e-10 ? t + 2.0 * PETSC_PI : t;
}

static PetscErrorCode Corner(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscPowReal(Radius(2, x), 2.0 / 3.0) * PetscSinReal(2.0 / 3.0 * Angle(x));
  return 0;
}

static PetscErrorCode CornerGradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  const PetscReal t = Angle(x), a = 2.0 / 3.0 * t - t - 0.5 * PETSC_PI, c = 2.0 / 3.0 * PetscPowReal(Radius(2, x), -1.0 / 3.0);

  g[0] = c * PetscSinReal(a);
  g[1] = c * PetscCosReal(a);
  return 0;
}

static PetscErrorCode Layer(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = atan(20.0 * (Radius(dim, x) - 0.725));
  return 0;
}

static PetscErrorCode LayerGradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  const PetscReal r = Radius(dim, x), s = 20.0 * (r - 0.725);

  for (PetscInt d = 0; d < dim; ++d) g[d] = 20.0 / (1.0 + s * s) * (x[d] - 1.0) / r;
  return 0;
}

static PetscErrorCode LayerSource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal r = PetscMax(Radius(dim, x), 1e-10), s = 20.0 * (r - 0.725), q = 1.0 + s * s;

  f[0] = 800.0 * s / (q * q) - (dim - 1) / r * 20.0 / q;
  return 0;
}

static PetscErrorCode Zero(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 0.0;
  return 0;
}

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

static PetscBool All(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PETSC_TRUE;
}

static PetscErrorCode ReadOptions(Options *o)
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

static PetscErrorCode PrintRate(const Table *t, PetscInt dim, PetscInt order)
{
  const PetscInt last = t->n - 1;
  PetscInt       k    = 0;
  PetscReal      lo = PETSC_MAX_REAL, hi = 0.0;

  PetscFunctionBeginUser;
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
static PetscErrorCode SolveAndMark(const Options *o, const HangMesh *m, HopsSpace space, Vec x, Table *t, PetscInt marks[])
{
  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;
  Mat               A;
  Vec               b, eta;
  PetscInt          its, N;
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
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT "%10" PetscInt_FMT "%12" PetscInt_FMT "%14.3e%13.3e%13.2f\n", m->n, N,
                        its, (double)error, (double)estimate, (double)(estimate / error)));
  if (o->write) {
    char name[PETSC_MAX_PATH_LEN];

    PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%" PetscInt_FMT ".vtu", o->output, t->n));
    PetscCall(HopsSpaceViewVTU(space, x, "u", name));
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

/* The next mesh, the space on it, and on it the function x */
static PetscErrorCode Advance(const Options *o, HangMesh *mesh, HangArrays *a, const PetscInt marks[], HopsSpace *space, Vec *x)
{
  HangMesh  next;
  HopsSpace newspace;
  Vec       y;
  PetscInt  n = 0, *relations, *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->n, &all));
  PetscCall(HangAllMarks(mesh, a->nc, marks, all));
  PetscCall(HangNext(mesh, all, &next));
  PetscCall(HangArraysDestroy(a));
  PetscCall(HangArraysCreate(&next, o->order, NULL, Everywhere, -1, a));
  PetscCall(HangRelations(mesh, &next, a->first, a->nc, &n, &relations));
  PetscCall(HangSpace(&next, o->order, a, &newspace));
  PetscCall(HopsSpaceSetEssentialFunction(newspace, o->u, NULL));
  PetscCall(HopsSpaceCreateVec(newspace, &y));
  PetscCall(HopsSpaceTransfer(*space, *x, newspace, HOPS_TRANSFER_NODAL, n, relations, y));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(relations));
  PetscCall(HangDestroy(mesh));
  PetscCall(HopsSpaceDestroy(space));
  PetscCall(VecDestroy(x));
  *mesh  = next;
  *space = newspace;
  *x     = y;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt roots[3] = {2, 2, 2};
  Table          table    = {0};
  Options        o;
  HangMesh       mesh;
  HangArrays     a;
  HopsSpace      space;
  Vec            x;
  PetscInt      *marks;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(HangCreate(o.dim, roots, PETSC_TRUE, o.dim == 3 ? 10 : HANG_LEVELS, &mesh));
  PetscCall(HangAdapt(&mesh, 0, o.start, 0.0, All));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  PetscCall(HangArraysCreate(&mesh, o.order, NULL, Everywhere, -1, &a));
  PetscCall(HangSpace(&mesh, o.order, &a, &space));
  PetscCall(HopsSpaceSetEssentialFunction(space, o.u, NULL));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  unknowns  iterations  energy error     estimate  effectivity\n"));
  while (a.N <= o.most && table.n < 100 && (!table.n || a.N != table.N[table.n - 1])) { /* or no cell is finer */
    PetscCall(PetscMalloc1(a.nc, &marks));
    PetscCall(SolveAndMark(&o, &mesh, space, x, &table, marks));
    PetscCall(Advance(&o, &mesh, &a, marks, &space, &x));
    PetscCall(PetscFree(marks));
  }
  PetscCall(PrintRate(&table, o.dim, o.order));
  PetscCall(VecDestroy(&x));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&mesh));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre
    filter: awk '/^Since/ {print} /^ / {print $1, $2, ($3 < 30), $4, $6}'

    test:
      suffix: lshape
      nsize: {{1 2 3 4}}
      args: -order 3 -unknowns 1500 -output adaptive

    test:
      suffix: estimates
      args: -order 2 -unknowns 1500 -estimate {{kelly zz}separate output}

    test:
      suffix: inner
      nsize: {{1 3}}
      args: -problem layer -order 4 -start 2 -unknowns 6000 -coarsen 0.02

    test:
      suffix: fichera
      nsize: {{1 4}}
      args: -problem layer -dim 3 -order 2 -start 2 -unknowns 15000

  # the bar: slopes of at least 0.9 order/2
  test:
    suffix: slopes
    requires: hypre
    args: -order {{1 2 3 4}} -unknowns 4000
    filter: tr '^,)' '   ' | awk '/^Since/ {print ($7 < 0.9 * $9), ($13 < 2 * $11)}'

TEST*/
