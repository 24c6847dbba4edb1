static char help[] = "Throughput on adaptive meshes with hanging nodes: -Laplace u = f on a cube without one of its eighths,\n\
u = arctan(20 (r - 0.725)), r the distance from the re-entrant corner, refined where r = 0.725; beside equal cells.\n\
  -orders <p,...>   : polynomial orders (default 2,4,6)\n\
  -levels <n>       : levels of refinement (default 4)\n\
  -uniform <n>      : of the mesh of equal cells, 0: none (default 3)\n\
  -roots <n>        : this begins with a cube of n^3 cells without the last (default 2, as the other one)\n\
  -fe <h1,nd,rt>    : in place of the Laplacian, curl curl u + u, or -grad div u + u\n\
  -shear <s>        : move x by s y: cells that are no boxes (default 0)\n\
  -extra_points <k> : order + k Gauss points per direction (default 2)\n\
  -passes <n>       : the whole case so many times; of those after the first, the best of each part is reported (default 2)\n\
  -repeat <n>       : repetitions of the timed kernels, of which the best counts (default 5)\n\
  -solve <bool>     : solve, too (default true)\n\
  -csv <file>       : append the rows to a file\n\n";

#include "../tutorials/octree.h"
#include <hops/private/hopsimpl.h>
#include <petscksp.h>
#include "benchtime.h"

typedef enum {
  SPACE,
  OPSETUP,
  APPLY,
  ALONE,
  DIAGONAL,
  VERTEX,
  SYMBOLIC,
  NUMERIC,
  LOR,
  REFILL,
  AMG,
  VCYCLE,
  CG,
  TOTAL,
  FIRST, /* LOR in the first pass */
  NTIMES
} Part;
static const char *const names[]    = {"space",      "op_setup",     "apply",       "apply_alone", "diagonal",
                                       "lor_vertex", "lor_symbolic", "lor_numeric", "lor",         "lor_refill",
                                       "amg_setup",  "vcycle",       "cg",          "total",       "lor_first"};
static const char *const elements[] = {"h1", "nd", "rt", "Element", "", NULL};

typedef struct {
  HopsFamily family;
  PetscInt   order, extra, repeat, cells, hanging, N, its;
  PetscBool  solve, uniform;
  double     t[NTIMES], nnzrow;
  FILE      *csv;
} Case;

static PetscReal shear = 0.0;

static void Shear(PetscInt dim, PetscReal x[])
{
  x[0] += shear * x[1];
}

static PetscReal Radius(PetscInt dim, const PetscReal x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(x[d] - 1.0);
  return PetscSqrtReal(s);
}

static PetscBool Layer(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PetscAbsReal(Radius(dim, x) - 0.725) < 0.5 * h * PetscSqrtReal((PetscReal)dim) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool All(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PETSC_TRUE;
}

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal r = PetscMax(Radius(dim, x), 1e-10), s = 20.0 * (r - 0.725), q = 1.0 + s * s;

  for (PetscInt i = 0; i < nc; ++i) f[i] = 800.0 * s / (q * q) - (dim - 1) / r * 20.0 / q;
  return 0;
}

/* whose cells are straight */
static PetscErrorCode CreateFamily(const HangMesh *mesh, HopsFamily family, PetscInt p, PetscBool essential, HopsSpace *space)
{
  HangArrays a;
  PetscReal *corners;

  PetscFunctionBeginUser;
  PetscCall(HangFamilyCreate(mesh, family, p, shear != 0.0 ? Shear : NULL, essential ? Everywhere : NULL, -1, &a));
  PetscCall(PetscMalloc1(24 * a.nc, &corners));
  for (PetscInt c = 0; c < a.nc; ++c)
    for (PetscInt v = 0; v < 8; ++v)
      for (PetscInt d = 0; d < 3; ++d)
        corners[(8 * c + v) * 3 + d] = a.coords[(c * a.np + p * ((v & 1) + (p + 1) * ((v >> 1 & 1) + (p + 1) * (v >> 2)))) * 3 + d];
  PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, family, 3, p, a.nc, a.owned, a.nodes, a.masks, 1, corners, a.ness,
                                              a.ess, space));
  PetscCall(PetscFree(corners));
  PetscCall(HangArraysDestroy(&a));
  PetscFunctionReturn(0);
}

/* a family's space; those of lower degree are its companions */
static PetscErrorCode CreateSpace(const HangMesh *mesh, HopsFamily family, PetscInt p, HopsSpace *space)
{
  PetscFunctionBeginUser;
  PetscCall(CreateFamily(mesh, family, p, PETSC_TRUE, space));
  for (HopsFamily f = HOPS_H1; f < family; f = (HopsFamily)(f + 1)) {
    HopsSpace companion;

    PetscCall(CreateFamily(mesh, f, p, PETSC_FALSE, &companion));
    PetscCall(HopsSpaceSetCompanion(*space, companion));
    PetscCall(HopsSpaceDestroy(&companion));
  }
  PetscFunctionReturn(0);
}

/* the term of the derivative */
static PetscErrorCode SetTerm(Case *c, Mat A, HopsCoefficient cf)
{
  PetscFunctionBeginUser;
  if (c->family == HOPS_H1) PetscCall(MatPASetDiffusion(A, cf));
  if (c->family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, cf));
  if (c->family == HOPS_HDIV) PetscCall(MatPASetDivDiv(A, cf));
  PetscFunctionReturn(0);
}

static PetscErrorCode NoHung(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, const void *x, void *xg)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode NoHungTranspose(HopsHung h, PetscDataType type, PetscInt nc, PetscBool interior, void *yg, void *y)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode Best(Case *c, Part part, Mat A, PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < c->repeat; ++i) {
    double t = BenchNow();

    if (pc) PetscCall(PCApply(pc, x, y));
    else if (part == DIAGONAL) PetscCall(MatGetDiagonal(A, y));
    else PetscCall(MatMult(A, x, y));
    t          = BenchNow() - t;
    c->t[part] = i ? PetscMin(c->t[part], t) : t;
  }
  PetscFunctionReturn(0);
}

/* apply_alone: the same cells without what hanging nodes add, on back ends whose kernels do not know them */
static PetscErrorCode TimeKernels(Case *c, HopsSpace sp, Mat A, PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(Best(c, APPLY, A, NULL, x, y));
  if (sp->hung) {
    HopsHungOps        none = *sp->hung->ops;
    const HopsHungOps *ops  = sp->hung->ops;

    none.Apply          = NoHung;
    none.ApplyTranspose = NoHungTranspose;
    sp->hung->ops       = &none;
    PetscCall(Best(c, ALONE, A, NULL, x, y));
    sp->hung->ops = ops;
  }
  PetscCall(Best(c, DIAGONAL, A, NULL, x, y));
  if (c->solve) PetscCall(Best(c, VCYCLE, A, pc, x, y));
  PetscFunctionReturn(0);
}

/* new values in the old pattern */
static PetscErrorCode TimeRefill(Case *c, Mat A, PC pc, HopsCoefficient kappa)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < c->repeat; ++i) {
    double n0 = 0.0, n1 = 0.0, v0 = 0.0, v1 = 0.0;

    PetscCall(BenchEventTime("PCLORNumeric", &n0));
    PetscCall(BenchEventTime("PCLORCoef", &v0));
    PetscCall(SetTerm(c, A, kappa));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(BenchEventTime("PCLORNumeric", &n1));
    PetscCall(BenchEventTime("PCLORCoef", &v1));
    c->t[REFILL] = i ? PetscMin(c->t[REFILL], n1 - n0 + v1 - v0) : n1 - n0 + v1 - v0;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUpSolver(Case *c, Mat A, HopsCoefficient kappa, KSP *ksp, PC *pc)
{
  Mat     L;
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(*ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetErrorIfNotConverged(*ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  if (!c->solve) PetscCall(PetscOptionsSetValue(NULL, "-lor_pc_type", "none"));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(BenchEventTime("PCLORCoef", &c->t[VERTEX]));
  PetscCall(BenchEventTime("PCLORSymbolic", &c->t[SYMBOLIC]));
  PetscCall(BenchEventTime("PCLORNumeric", &c->t[NUMERIC]));
  c->t[LOR] = c->t[VERTEX] + c->t[SYMBOLIC] + c->t[NUMERIC];
  PetscCall(BenchEventTime("PCLORSolverSetUp", &c->t[AMG]));
  PetscCall(PCLORGetMat(*pc, &L));
  PetscCall(MatGetInfo(L, MAT_GLOBAL_SUM, &info));
  c->nnzrow = info.nz_used / c->N;
  if (!c->solve) PetscCall(TimeRefill(c, A, *pc, kappa));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s p=%" PetscInt_FMT " %s: %" PetscInt_FMT " cells, %" PetscInt_FMT " with hanging nodes, %" PetscInt_FMT
                        " unknowns, %.1f nonzeros per row, %" PetscInt_FMT " iterations\n",
                        elements[c->family], c->order, c->uniform ? "uniform" : "adaptive", c->cells, c->hanging, c->N, c->nnzrow,
                        c->its));
  for (PetscInt k = 0; k < NTIMES; ++k)
    if (c->t[k] > 0.0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-13s %10.5f s %9.2f ns per unknown %9.2f per cell\n", names[k], c->t[k],
                            1e9 * c->t[k] / c->N, 1e9 * c->t[k] / c->cells));
  if (c->csv) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv,
                           "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                           ",%" PetscInt_FMT ",%.2f",
                           elements[c->family], c->order, c->extra, c->uniform, c->cells, c->hanging, c->N, c->its, c->nnzrow));
    for (PetscInt k = 0; k < NTIMES; ++k) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, ",%.6f", c->t[k]));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, "\n"));
    (void)fflush(c->csv);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Pass(Case *c, HopsSpace sp)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   unit;
  Mat               A;
  Vec               x, b;
  KSP               ksp;
  PC                pc;
  double            t;
  PetscLogStage     stage;
  static int        n = 0;
  char              name[32];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "case %d", n++));
  PetscCall(PetscLogStageRegister(name, &stage)); /* events count from here */
  PetscCall(PetscLogStagePush(stage));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetQuadrature(A, c->order + c->extra, PETSC_FALSE));
  PetscCall(SetTerm(c, A, unit));
  if (c->family != HOPS_H1) PetscCall(MatPASetMass(A, unit));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(MatMult(A, x, b)); /* sets up */
  PetscCall(BenchEventTime("MatPASetUp", &c->t[OPSETUP]));
  PetscCall(SetUpSolver(c, A, unit, &ksp, &pc));
  c->its = 0;
  if (c->solve) {
    PetscReal norm;

    PetscCall(HopsSpaceComputeRHS(sp, F, NULL, b));
    PetscCall(VecNorm(b, NORM_2, &norm)); /* where the solver works */
    PetscCall(VecZeroEntries(x));
    t = BenchNow();
    PetscCall(KSPSolve(ksp, b, x));
    c->t[CG] = BenchNow() - t;
    PetscCall(KSPGetIterationNumber(ksp, &c->its));
    c->t[TOTAL] = c->t[OPSETUP] + c->t[LOR] + c->t[AMG] + c->t[CG];
  }
  PetscCall(TimeKernels(c, sp, A, pc, x, b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(PetscLogStagePop());
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c, PetscInt n, PetscInt levels, PetscInt passes)
{
  const PetscInt roots[3] = {n, n, n};
  PetscInt       hanging  = 0;
  HangMesh       mesh;
  HopsSpace      sp;
  double         t, best[NTIMES];

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(c->t, NTIMES));
  PetscCall(HangCreate(3, roots, PETSC_TRUE, levels, &mesh));
  PetscCall(HangAdapt(&mesh, 0, levels, 0.0, c->uniform ? All : Layer));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  t = BenchNow();
  PetscCall(CreateSpace(&mesh, c->family, c->order, &sp));
  c->t[SPACE] = BenchNow() - t;
  c->cells    = mesh.n;
  PetscCall(HangDestroy(&mesh));
  for (PetscInt i = 0; i < sp->ncells; ++i) hanging += sp->hang && sp->hang[i] ? 1 : 0;
  PetscCall(MPIU_Allreduce(&hanging, &c->hanging, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(HopsSpaceGetSizes(sp, NULL, &c->N));
  for (PetscInt i = 0; i < passes; ++i) {
    PetscCall(Pass(c, sp));
    for (PetscInt k = 0; k < NTIMES && i > 1; ++k) c->t[k] = PetscMin(c->t[k], best[k]);
    if (!i) c->t[FIRST] = c->t[LOR];
    PetscCall(PetscArraycpy(best, c->t, NTIMES));
  }
  PetscCall(Report(c));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  orders[16] = {2, 4, 6}, n = 16, levels = 4, uniform = 3, roots = 2, passes = 2;
  PetscEnum fe = (PetscEnum)0;
  char      csv[PETSC_MAX_PATH_LEN];
  PetscBool set;
  Case      c = {.extra = 2, .repeat = 5, .solve = PETSC_TRUE};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 3;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-levels", &levels, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-uniform", &uniform, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-roots", &roots, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-passes", &passes, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &c.repeat, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-extra_points", &c.extra, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shear", &shear, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-solve", &c.solve, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-fe", elements, &fe, NULL));
  c.family = (HopsFamily)fe;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", csv, sizeof(csv), &set));
  if (set) PetscCall(PetscFOpen(PETSC_COMM_WORLD, csv, "a", &c.csv));
  for (PetscInt i = 0; i < n; ++i) {
    c.order   = orders[i];
    c.uniform = PETSC_FALSE;
    PetscCall(RunCase(&c, 2, levels, passes));
    c.uniform = PETSC_TRUE;
    if (uniform > 0) PetscCall(RunCase(&c, roots, uniform, passes));
  }
  if (set) PetscCall(PetscFClose(PETSC_COMM_WORLD, c.csv));
  PetscCall(PetscFinalize());
  return 0;
}
