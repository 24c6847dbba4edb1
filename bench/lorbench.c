static char help[] = "Throughput of each part of the LOR-preconditioned solve of -Laplace u + u = 1 on the unit square or cube.\n\
  -dim <2,3>           : dimension (default 3)\n\
  -fe <h1,nd,rt>       : in place of the Laplacian, curl curl u + u with Nedelec or -grad div u + u with Raviart-Thomas elements\n\
  -orders <p,...>      : polynomial orders (default 1,...,8)\n\
  -sizes <n,...>       : wanted numbers of unknowns; the box with the nearest number is taken (default 1000000)\n\
  -extra_points <k>    : order + k Gauss points per direction (default 2)\n\
  -curved              : deform the box smoothly, so that every metric term is there\n\
  -assembled           : the assembled matrix of the same order instead, with BoomerAMG on it\n\
  -solve <bool>        : solve too (default true)\n\
  -repeat <n>          : repetitions of the timed kernels, of which the best counts (default 5)\n\
  -csv <file>          : append the rows to a file\n\n";

#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscksp.h>
#include <petsctime.h>
#include <sys/resource.h>

typedef enum {
  SPACE,
  OPSETUP,
  APPLY,
  DIAGONAL,
  SYMBOLIC,
  NUMERIC,
  REFILL,
  AMG,
  VCYCLE,
  CG,
  TOTAL,
  NTIMES
} Part;
static const char *const names[] = {"space", "op_setup", "apply", "diagonal", "lor_symbolic", "lor_numeric", "lor_refill", "amg_setup", "vcycle", "cg", "total"};

typedef enum {
  H1,
  ND,
  RT
} Element;
static const char *const elements[] = {"h1", "nd", "rt", "Element", "", NULL};

typedef struct {
  Element   fe;
  PetscInt  dim, order, extra, cells, N, its, repeat;
  PetscBool curved, assembled, solve;
  double    t[NTIMES], memory, peak, nnzrow;
  FILE     *csv;
} Case;

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 1.0;
  return 0;
}

/* the term of the derivative */
static PetscErrorCode SetTerm(Case *c, Mat A, HopsCoefficient cf)
{
  PetscFunctionBeginUser;
  if (c->fe == H1) PetscCall(MatPASetDiffusion(A, cf));
  if (c->fe == ND) PetscCall(MatPASetCurlCurl(A, cf));
  if (c->fe == RT) PetscCall(MatPASetDivDiv(A, cf));
  PetscFunctionReturn(0);
}

static double Now(void)
{
  PetscLogDouble t;

  (void)MPI_Barrier(PETSC_COMM_WORLD);
  (void)PetscTime(&t);
  return t;
}

/* resident memory of this process now, and at its peak, in bytes */
static PetscErrorCode Resident(double *now, double *peak)
{
  struct rusage  r;
  PetscLogDouble m;

  PetscFunctionBeginUser;
  PetscCall(PetscMemoryGetCurrentUsage(&m));
  (void)getrusage(RUSAGE_SELF, &r);
  *now = m;
  if (peak) *peak = 1024.0 * r.ru_maxrss;
  PetscFunctionReturn(0);
}

static PetscErrorCode EventTime(const char name[], double *t)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *t = info.time;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMesh(Case *c, DM *dm)
{
  const PetscInt faces[3] = {c->cells, c->cells, c->cells};

  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, c->dim, PETSC_FALSE, faces, dm));
  PetscCall(DMSetFromOptions(*dm)); /* distributes */
  if (c->curved) {
    Vec          v;
    PetscScalar *x;
    PetscInt     n;

    PetscCall(DMGetCoordinatesLocal(*dm, &v));
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetArray(v, &x));
    for (PetscInt i = 0; i < n; i += c->dim) {
      const PetscReal a = x[i], b = x[i + 1], d = c->dim > 2 ? x[i + 2] : 0.5;

      x[i] += 0.06 * PetscSinReal(PETSC_PI * b) * PetscCosReal(PETSC_PI * d);
      x[i + 1] += 0.06 * PetscSinReal(PETSC_PI * a) * PetscCosReal(2.0 * d);
      if (c->dim > 2) x[i + 2] += 0.06 * PetscSinReal(PETSC_PI * a) * PetscCosReal(PETSC_PI * b);
    }
    PetscCall(VecRestoreArray(v, &x));
  }
  PetscFunctionReturn(0);
}

/* best of several: matrix times vector, diagonal, preconditioner */
static PetscErrorCode TimeKernels(Case *c, Mat A, PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetRandom(x, NULL));
  for (PetscInt i = 0; i < c->repeat; ++i) {
    double t = Now(), s;

    PetscCall(MatMult(A, x, y));
    s           = Now() - t;
    c->t[APPLY] = i ? PetscMin(c->t[APPLY], s) : s;
    t           = Now();
    PetscCall(MatGetDiagonal(A, y));
    s              = Now() - t;
    c->t[DIAGONAL] = i ? PetscMin(c->t[DIAGONAL], s) : s;
    if (!c->solve) continue;
    t = Now();
    PetscCall(PCApply(pc, x, y));
    s            = Now() - t;
    c->t[VCYCLE] = i ? PetscMin(c->t[VCYCLE], s) : s;
  }
  PetscFunctionReturn(0);
}

/* an assembled matrix with BoomerAMG on it, in place of the matrix-free operator and PCLOR */
static PetscErrorCode Assemble(Case *c, Mat *A)
{
  Mat     B;
  MatInfo info;

  PetscFunctionBeginUser;
  c->t[OPSETUP] = Now();
  PetscCall(MatConvert(*A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  c->t[OPSETUP] = Now() - c->t[OPSETUP];
  PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info));
  c->nnzrow = info.nz_used / c->N;
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUpSolver(Case *c, KSP ksp, Mat A, HopsCoefficient kappa)
{
  PC     pc;
  double t0 = 0.0, t1 = 0.0;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, c->assembled ? PCHYPRE : PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  if (!c->solve && !c->assembled) PetscCall(PetscOptionsSetValue(NULL, "-lor_pc_type", "none"));
  if (c->assembled && !c->solve) PetscFunctionReturn(0);
  t0 = Now();
  PetscCall(KSPSetUp(ksp));
  c->t[AMG] = Now() - t0;
  if (!c->assembled) {
    Mat     L;
    MatInfo info;

    PetscCall(EventTime("PCLORSymbolic", &c->t[SYMBOLIC]));
    PetscCall(EventTime("PCLORNumeric", &c->t[NUMERIC]));
    PetscCall(EventTime("PCLORSolverSetUp", &c->t[AMG]));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(MatGetInfo(L, MAT_GLOBAL_SUM, &info));
    c->nnzrow = info.nz_used / c->N;
    if (!c->solve) { /* new values in the old pattern */
      for (PetscInt i = 0; i < c->repeat; ++i) {
        PetscCall(EventTime("PCLORNumeric", &t0));
        PetscCall(SetTerm(c, A, kappa));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetUp(pc));
        PetscCall(EventTime("PCLORNumeric", &t1));
        c->t[REFILL] = i ? PetscMin(c->t[REFILL], t1 - t0) : t1 - t0;
      }
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT "D %sp=%" PetscInt_FMT "%s%s: %" PetscInt_FMT " unknowns, %.1f nonzeros per row, %" PetscInt_FMT " iterations, %.0f bytes per unknown (peak %.0f)\n", c->dim, c->fe == H1 ? "" : (c->fe == ND ? "nd " : "rt "), c->order, c->curved ? " curved" : "", c->assembled ? " assembled" : "", c->N, c->nnzrow, c->its, c->memory / c->N, c->peak / c->N));
  for (PetscInt k = 0; k < NTIMES; ++k)
    if (c->t[k] > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-13s %10.5f s %9.3f million unknowns/s\n", names[k], c->t[k], 1e-6 * c->N / c->t[k]));
  if (c->csv) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%d,%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%.2f,%.1f,%.1f", c->dim, c->order, c->extra, c->curved, c->assembled, c->N, c->its, c->nnzrow, c->memory / c->N, c->peak / c->N));
    for (PetscInt k = 0; k < NTIMES; ++k) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, ",%.6f", c->t[k]));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, ",%s\n", elements[c->fe]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c)
{
  DM              dm;
  DMLabel         label;
  const PetscInt  values[6] = {1, 2, 3, 4, 5, 6};
  PetscScalar     one       = 1.0;
  HopsSpace       sp;
  HopsCoefficient unit;
  Mat             A;
  Vec             x, b;
  KSP             ksp;
  PC              pc;
  double          before = 0.0, start;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(c->t, NTIMES));
  PetscCall(CreateMesh(c, &dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(Resident(&before, NULL));
  start = Now();
  if (c->fe == H1) PetscCall(HopsSpaceCreateH1(dm, c->order, label, 2 * c->dim, values, &sp));
  if (c->fe == ND) PetscCall(HopsSpaceCreateHCurl(dm, c->order, label, 2 * c->dim, values, &sp));
  if (c->fe == RT) PetscCall(HopsSpaceCreateHDiv(dm, c->order, label, 2 * c->dim, values, &sp));
  c->t[SPACE] = Now() - start;
  PetscCall(HopsSpaceGetSizes(sp, NULL, &c->N));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetQuadrature(A, c->order + c->extra, PETSC_FALSE));
  PetscCall(SetTerm(c, A, unit));
  PetscCall(MatPASetMass(A, unit));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  if (c->assembled) PetscCall(Assemble(c, &A));
  else {
    PetscCall(MatMult(A, x, b)); /* sets up */
    PetscCall(EventTime("MatPASetUp", &c->t[OPSETUP]));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(SetUpSolver(c, ksp, A, unit));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(HopsSpaceComputeRHS(sp, One, NULL, b));
  c->its = 0;
  if (c->solve) {
    double t = Now();

    PetscCall(KSPSolve(ksp, b, x));
    c->t[CG] = Now() - t;
    PetscCall(KSPGetIterationNumber(ksp, &c->its));
    c->t[TOTAL] = c->t[OPSETUP] + c->t[SYMBOLIC] + c->t[NUMERIC] + c->t[AMG] + c->t[CG];
  }
  PetscCall(Resident(&c->memory, &c->peak));
  c->memory -= before;
  PetscCall(TimeKernels(c, A, pc, x, b));
  PetscCall(Report(c));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case      c          = {.dim = 3, .extra = 2, .repeat = 5, .solve = PETSC_TRUE};
  PetscInt  orders[64] = {1, 2, 3, 4, 5, 6, 7, 8}, no = 64, sizes[64] = {1000000}, ns = 64;
  PetscBool set;
  char      file[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &c.dim, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-fe", elements, (PetscEnum *)&c.fe, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-extra_points", &c.extra, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &c.repeat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &c.curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-assembled", &c.assembled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-solve", &c.solve, NULL));
  PetscCheck(c.fe == H1 || !c.assembled, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-assembled has BoomerAMG on the matrix, which is for -fe h1");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &no, &set));
  if (!set) no = 8;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &ns, &set));
  if (!set) ns = 1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", file, sizeof(file), &set));
  if (set) {
    PetscBool exists;

    PetscCall(PetscTestFile(file, 'r', &exists));
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "a", &c.csv));
    if (!exists) {
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, "dim,order,extra_points,curved,assembled,unknowns,iterations,nonzeros_per_row,bytes_per_unknown,peak_bytes_per_unknown"));
      for (PetscInt k = 0; k < NTIMES; ++k) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, ",%s", names[k]));
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, ",fe\n"));
    }
  }
  for (PetscInt s = 0; s < ns; ++s)
    for (PetscInt i = 0; i < no; ++i) {
      PetscLogStage stage; /* events are timed case by case */
      char          name[64];

      c.order = orders[i];
      c.cells = (PetscInt)PetscMax(1, PetscFloorReal(PetscPowReal((PetscReal)sizes[s] / (c.fe == H1 ? 1 : c.dim), 1.0 / c.dim) / c.order + 0.5));
      PetscCall(PetscSNPrintf(name, sizeof(name), "case %" PetscInt_FMT "-%" PetscInt_FMT, s, i));
      PetscCall(PetscLogStageRegister(name, &stage));
      PetscCall(PetscLogStagePush(stage));
      PetscCall(RunCase(&c));
      PetscCall(PetscLogStagePop());
    }
  if (c.csv) PetscCall(PetscFClose(PETSC_COMM_WORLD, c.csv));
  PetscCall(PetscFinalize());
  return 0;
}
