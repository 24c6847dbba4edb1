static char help[] = "Throughput of each part of the LOR-preconditioned solve of -Laplace u + u = 1 on the unit square or cube.\n\
  -dim <2,3>           : dimension (default 3)\n\
  -fe <h1,nd,rt,l2>    : in place of the Laplacian, curl curl u + u with Nedelec or -grad div u + u with Raviart-Thomas elements,\n\
                         or u alone in L2\n\
  -orders <p,...>      : polynomial orders (default 1,...,8)\n\
  -sizes <n,...>       : wanted numbers of unknowns; the box with the nearest number is taken (default 1000000)\n\
  -extra_points <k>    : order + k Gauss points per direction (default 2)\n\
  -curved              : deform the box smoothly, so that every metric term is there\n\
  -skew <s>            : move x by s y and, in 3D, y by s z: parallelograms and parallelepipeds (default 0)\n\
  -lor_operator        : the solver works on the low-order-refined matrix itself, with its preconditioner; no operator is set up\n\
  -assembled           : the assembled matrix of the same order instead, with BoomerAMG on it\n\
  -mass <c>            : mass coefficient (default 1)\n\
  -solve <bool>        : solve too (default true)\n\
  -transfer            : also time interpolation of a function and, in H1 from order 2, maps to and from half the order\n\
  -pc_type <hopsmg,...>: another preconditioner than lor, whose whole set-up is amg_setup\n\
  -repeat <n>          : repetitions of the timed kernels, of which the best counts (default 5)\n\
  -cpu                 : seconds of this process (one rank, one thread) in place of those on the clock, for a busy machine; not\n\
                         in the parts of the set-up\n\
  -passes <n>          : the whole case so many times (default 1); each is reported, the last one alone goes to the file\n\
  -csv <file>          : append the rows to a file\n\
  -lock <file>         : of several programs with the same file one at a time is timed, while others make their meshes and\n\
                         spaces (whose time suffers)\n\n";

#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscksp.h>
#include <petsctime.h>
#include <petscdevice.h>
#include "benchlock.h"
#include "benchtime.h"
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
  #include <malloc.h>
#endif
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

typedef enum {
  SPACE,
  OPSETUP,
  APPLY,
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
  GRADIENT,
  CURL,
  COORDINATES,
  INTERPOLATE,
  COARSEN,
  PROLONG,
  RESTRICT,
  NTIMES
} Part;
static const char *const names[] = {"space", "op_setup",    "apply",       "diagonal", "lor_vertex", "lor_symbolic", "lor_numeric",
                                    "lor",   "lor_refill",  "amg_setup",   "vcycle",   "cg",         "total",        "gradient",
                                    "curl",  "coordinates", "interpolate", "coarsen",  "prolong",    "restrict"};

typedef enum {
  H1,
  ND,
  RT,
  L2
} Element;
static const char *const elements[] = {"h1", "nd", "rt", "l2", "Element", "", NULL};

typedef struct {
  Element   fe;
  PetscInt  dim, order, extra, cells, N, its, repeat;
  PetscReal skew, mass;
  PetscBool curved, assembled, solve, loroperator, transfer;
  PetscInt  pass, passes;
  double    t[NTIMES], memory, peak, nnzrow, device;
  FILE     *csv;
  DM        dm;   /* the mesh of all passes */
  int       lock; /* of rank 0, or -1 */
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

static PetscBool cpu = PETSC_FALSE;

/* what runs on a device has finished, on all ranks */
static double Now(void)
{
  if (cpu) {
    struct timespec s;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &s);
    return (double)s.tv_sec + 1e-9 * (double)s.tv_nsec;
  }
  return BenchNow();
}

/*
  Memory that this process has now and its resident memory at its peak so far, over all cases, in bytes; sums
  of the ranks. What the allocator keeps of what was given back does not count, where the C library tells.
*/
static PetscErrorCode Memory(double *now, double *peak)
{
  struct rusage r;

  PetscFunctionBeginUser;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  {
    const struct mallinfo2 info = mallinfo2();

    *now = (double)info.uordblks + (double)info.hblkhd;
  }
#else
  {
    PetscLogDouble m;

    PetscCall(PetscMemoryGetCurrentUsage(&m));
    *now = m;
  }
#endif
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, now, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  if (!peak) PetscFunctionReturn(0);
  (void)getrusage(RUSAGE_SELF, &r);
  *peak = 1024.0 * r.ru_maxrss;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, peak, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* memory of the device that is taken, by all processes; what pools keep is taken too */
static double DeviceMemory(void)
{
#if defined(PETSC_HAVE_CUDA)
  size_t available = 0, total = 0;

  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA) && cudaMemGetInfo(&available, &total) == cudaSuccess)
    return (double)(total - available);
#endif
  return 0.0;
}

static PetscErrorCode CreateMesh(Case *c, DM *dm)
{
  const PetscInt faces[3] = {c->cells, c->cells, c->cells};

  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, c->dim, PETSC_FALSE, faces, dm));
  PetscCall(DMSetFromOptions(*dm)); /* distributes */
  if (c->curved || c->skew != 0.0) {
    Vec          v;
    PetscScalar *x;
    PetscInt     n;

    PetscCall(DMGetCoordinatesLocal(*dm, &v));
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetArray(v, &x));
    for (PetscInt i = 0; i < n; i += c->dim) {
      const PetscReal a = x[i], b = x[i + 1], d = c->dim > 2 ? x[i + 2] : 0.5;

      if (c->curved) {
        x[i] += 0.06 * PetscSinReal(PETSC_PI * b) * PetscCosReal(PETSC_PI * d);
        x[i + 1] += 0.06 * PetscSinReal(PETSC_PI * a) * PetscCosReal(2.0 * d);
        if (c->dim > 2) x[i + 2] += 0.06 * PetscSinReal(PETSC_PI * a) * PetscCosReal(PETSC_PI * b);
      }
      x[i] += c->skew * x[i + 1];
      if (c->dim > 2) x[i + 1] += c->skew * x[i + 2];
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
    if (!c->loroperator) {
      t = Now();
      PetscCall(MatGetDiagonal(A, y));
      s              = Now() - t;
      c->t[DIAGONAL] = i ? PetscMin(c->t[DIAGONAL], s) : s;
    }
    if (!c->solve) continue;
    t = Now();
    PetscCall(PCApply(pc, x, y));
    s            = Now() - t;
    c->t[VCYCLE] = i ? PetscMin(c->t[VCYCLE], s) : s;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Coordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[*(PetscInt *)ctx];
  return 0;
}

/* best of several: what AMS and ADS need beside the matrix, once the companion spaces are there */
static PetscErrorCode TimeAuxiliary(Case *c, HopsSpace sp)
{
  const PetscBool ads = c->fe == RT && c->dim == 3 ? PETSC_TRUE : PETSC_FALSE;
  HopsSpace       nodes, edges = sp;
  Vec             x;

  PetscFunctionBeginUser;
  if (c->fe == H1 || c->fe == L2) PetscFunctionReturn(0);
  PetscCall(BenchLock(c->lock, LOCK_UN)); /* the host's work */
  PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_FALSE, &nodes));
  if (ads) PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &edges));
  PetscCall(BenchLock(c->lock, LOCK_EX));
  PetscCall(HopsSpaceCreateVec(nodes, &x));
  for (PetscInt i = 0; i < c->repeat; ++i) {
    double t = Now(), s;
    Mat    D;

    PetscCall(HopsSpaceCreateDerivative(nodes, edges, &D));
    s              = Now() - t;
    c->t[GRADIENT] = i ? PetscMin(c->t[GRADIENT], s) : s;
    PetscCall(MatDestroy(&D));
    t = Now();
    for (PetscInt d = 0; d < c->dim; ++d) PetscCall(HopsSpaceInterpolate(nodes, Coordinate, &d, x));
    s                 = Now() - t;
    c->t[COORDINATES] = i ? PetscMin(c->t[COORDINATES], s) : s;
    if (!ads) continue;
    t = Now();
    PetscCall(HopsSpaceCreateDerivative(edges, sp, &D));
    s          = Now() - t;
    c->t[CURL] = i ? PetscMin(c->t[CURL], s) : s;
    PetscCall(MatDestroy(&D));
  }
  PetscCall(VecDestroy(&x));
  if (ads) PetscCall(HopsSpaceDestroy(&edges));
  PetscCall(HopsSpaceDestroy(&nodes));
  PetscFunctionReturn(0);
}

/* best of several: values of a function; in H1 the map from half the order, with the set-up of its space */
static PetscErrorCode TimeTransfer(Case *c, HopsSpace sp, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < c->repeat; ++i) {
    HopsSpace coarse;
    Mat       P;
    Vec       z;
    double    t = Now(), s;

    PetscCall(HopsSpaceInterpolate(sp, One, NULL, x));
    s                 = Now() - t;
    c->t[INTERPOLATE] = i ? PetscMin(c->t[INTERPOLATE], s) : s;
    if (c->fe != H1 || c->order < 2) continue;
    t = Now();
    PetscCall(HopsSpaceCreateCoarse(sp, NULL, c->order / 2, &coarse));
    PetscCall(MatCreateHopsInterp(coarse, sp, &P));
    s             = Now() - t;
    c->t[COARSEN] = i ? PetscMin(c->t[COARSEN], s) : s;
    PetscCall(MatCreateVecs(P, &z, NULL));
    PetscCall(MatMultTranspose(P, x, z)); /* the first product may set up */
    t = Now();
    PetscCall(MatMultTranspose(P, x, z));
    s              = Now() - t;
    c->t[RESTRICT] = i ? PetscMin(c->t[RESTRICT], s) : s;
    PetscCall(MatMult(P, z, y));
    t = Now();
    PetscCall(MatMult(P, z, y));
    s             = Now() - t;
    c->t[PROLONG] = i ? PetscMin(c->t[PROLONG], s) : s;
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&P));
    PetscCall(HopsSpaceDestroy(&coarse));
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
  PC        pc;
  PetscBool lor;
  double    t0 = 0.0, t1 = 0.0;

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
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLOR, &lor));
  if (c->loroperator) {
    Mat L;

    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(KSPSetOperators(ksp, L, A));
    PetscCall(BenchEventTime("PCLORAuxiliary", &t1));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  auxiliary spaces and matrices %10.5f s\n", t1));
  }
  if (lor) {
    Mat     L;
    MatInfo info;

    PetscCall(BenchEventTime("PCLORCoef", &c->t[VERTEX]));
    PetscCall(BenchEventTime("PCLORSymbolic", &c->t[SYMBOLIC]));
    PetscCall(BenchEventTime("PCLORNumeric", &c->t[NUMERIC]));
    c->t[LOR] = c->t[VERTEX] + c->t[SYMBOLIC] + c->t[NUMERIC];
    PetscCall(BenchEventTime("PCLORSolverSetUp", &c->t[AMG]));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(MatGetInfo(L, MAT_GLOBAL_SUM, &info));
    c->nnzrow = info.nz_used / c->N;
    if (!c->solve) { /* new values in the old pattern */
      for (PetscInt i = 0; i < c->repeat; ++i) {
        double v0 = 0, v1 = 0; /* the vertex data are new too */

        double n0 = Now(), n1;

        PetscCall(BenchEventTime("PCLORNumeric", &t0));
        PetscCall(BenchEventTime("PCLORCoef", &v0));
        PetscCall(SetTerm(c, A, kappa));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetUp(pc));
        PetscCall(BenchEventTime("PCLORNumeric", &t1));
        PetscCall(BenchEventTime("PCLORCoef", &v1));
        n1 = Now() - n0;
        t1 += v1 - v0;
        if (cpu) t1 = t0 + n1; /* with what little else there is, the events being on the clock */
        c->t[REFILL] = i ? PetscMin(c->t[REFILL], t1 - t0) : t1 - t0;
      }
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD,
                "%" PetscInt_FMT "D %s%sp=%" PetscInt_FMT "%s%s: %" PetscInt_FMT " unknowns, %.1f nonzeros per row, %" PetscInt_FMT
                " iterations, %.0f bytes per unknown (peak %.0f), %.0f on the device\n",
                c->dim, c->fe == H1 ? "" : elements[c->fe], c->fe == H1 ? "" : " ", c->order, c->curved ? " curved" : "",
                c->assembled ? " assembled" : "", c->N, c->nnzrow, c->its, c->memory / c->N, c->peak / c->N, c->device / c->N));
  for (PetscInt k = 0; k < NTIMES; ++k)
    if (c->t[k] > 0.0)
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "  %-13s %10.5f s %9.3f million unknowns/s\n", names[k], c->t[k], 1e-6 * c->N / c->t[k]));
  if (c->csv && c->pass == c->passes - 1) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv,
                           "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%d,%d,%" PetscInt_FMT ",%" PetscInt_FMT
                           ",%.2f,%.1f,%.1f,",
                           c->dim, c->order, c->extra, c->curved, c->assembled, c->N, c->its, c->nnzrow, c->memory / c->N,
                           c->peak / c->N));
    if (c->device > 0.0) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, "%.1f", c->device / c->N)); /* else not measured */
    for (PetscInt k = 0; k < NTIMES; ++k) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, ",%.6f", c->t[k]));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv, ",%s\n", elements[c->fe]));
    (void)fflush(c->csv);
  }
  PetscFunctionReturn(0);
}

/* brings the mesh to a device, as the set-up of the operator does elsewhere */
static PetscErrorCode WarmUp(Mat A)
{
  PC            pc;
  PetscLogStage stage;

  PetscFunctionBeginUser;
  PetscCall(PetscLogStageGetId("warm up", &stage));
  if (stage < 0) PetscCall(PetscLogStageRegister("warm up", &stage));
  PetscCall(PetscLogStagePush(stage));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PetscOptionsSetValue(NULL, "-warmup_lor_pc_type", "none"));
  PetscCall(PCSetOptionsPrefix(pc, "warmup_"));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscLogStagePop());
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c)
{
  DM              dm;
  DMLabel         label;
  const PetscInt  values[6] = {1, 2, 3, 4, 5, 6};
  PetscScalar     one       = 1.0;
  HopsSpace       sp;
  PetscScalar     mass = c->mass;
  HopsCoefficient unit, beta;
  Mat             A, op = NULL;
  Vec             x, b;
  KSP             ksp;
  PC              pc;
  double          before = 0.0, before_device = DeviceMemory(), start;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(c->t, NTIMES));
  if (!c->pass) {
    PetscCall(DMDestroy(&c->dm));
    PetscCall(CreateMesh(c, &c->dm));
  }
  dm = c->dm;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(Memory(&before, NULL));
  start = Now();
  if (c->fe == H1) PetscCall(HopsSpaceCreateH1(dm, c->order, label, 2 * c->dim, values, &sp));
  if (c->fe == ND) PetscCall(HopsSpaceCreateHCurl(dm, c->order, label, 2 * c->dim, values, &sp));
  if (c->fe == RT) PetscCall(HopsSpaceCreateHDiv(dm, c->order, label, 2 * c->dim, values, &sp));
  if (c->fe == L2) PetscCall(HopsSpaceCreateL2(dm, c->order, &sp));
  c->t[SPACE] = Now() - start;
  PetscCall(HopsSpaceGetSizes(sp, NULL, &c->N));
  PetscCall(BenchLock(c->lock, LOCK_EX));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetQuadrature(A, c->order + c->extra, PETSC_FALSE));
  PetscCall(SetTerm(c, A, unit));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &mass, &beta));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  if (c->assembled) PetscCall(Assemble(c, &A));
  else if (!c->loroperator) {
    PetscCall(MatMult(A, x, b)); /* sets up */
    PetscCall(BenchEventTime("MatPASetUp", &c->t[OPSETUP]));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  if (c->loroperator) PetscCall(WarmUp(A));
  PetscCall(SetUpSolver(c, ksp, A, unit));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(HopsSpaceComputeRHS(sp, One, NULL, b));
  c->its = 0;
  if (c->solve) {
    PetscReal norm;
    double    t;

    PetscCall(VecNorm(b, NORM_2, &norm)); /* where the solver works */
    PetscCall(VecZeroEntries(x));
    t = Now();
    PetscCall(KSPSolve(ksp, b, x));
    c->t[CG] = Now() - t;
    PetscCall(KSPGetIterationNumber(ksp, &c->its));
    c->t[TOTAL] = c->t[OPSETUP] + c->t[LOR] + c->t[AMG] + c->t[CG];
  }
  PetscCall(Memory(&c->memory, &c->peak));
  c->memory -= before;
  c->device = c->lock >= 0 ? 0.0 : DeviceMemory() - before_device; /* others take memory too */
  if (c->loroperator) PetscCall(PCLORGetMat(pc, &op));
  PetscCall(TimeKernels(c, c->loroperator ? op : A, pc, x, b));
  PetscCall(TimeAuxiliary(c, sp));
  if (c->transfer) PetscCall(TimeTransfer(c, sp, x, b));
  PetscCall(Report(c));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(BenchLock(c->lock, LOCK_UN));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case      c          = {.dim = 3, .extra = 2, .repeat = 5, .solve = PETSC_TRUE, .passes = 1, .mass = 1.0, .lock = -1};
  PetscInt  orders[64] = {1, 2, 3, 4, 5, 6, 7, 8}, no = 64, sizes[64] = {1000000}, ns = 64, components;
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
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cpu", &cpu, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-passes", &c.passes, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &c.curved, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &c.mass, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-skew", &c.skew, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-assembled", &c.assembled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-solve", &c.solve, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lor_operator", &c.loroperator, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transfer", &c.transfer, NULL));
  PetscCheck(!c.loroperator || !c.assembled, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "Give -assembled or -lor_operator, not both");
  PetscCheck(c.fe == H1 || !c.assembled, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-assembled has BoomerAMG on the matrix, which is for -fe h1");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &no, &set));
  if (!set) no = 8;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &ns, &set));
  if (!set) ns = 1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-lock", file, sizeof(file), &set));
  if (set) {
    char backend[16] = "";

    PetscCall(BenchLockOpen(file, &c.lock));
    PetscCall(BenchLock(c.lock, LOCK_EX)); /* to look at the file of -csv, and to start a device, at which others would stop */
    PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_backend", backend, sizeof(backend), NULL));
    PetscCall(PetscStrcmp(backend, "host", &set));
    if (!set && backend[0] && PetscDefined(HAVE_CUDA)) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", file, sizeof(file), &set));
  if (set) {
    PetscBool exists;

    PetscCall(PetscTestFile(file, 'r', &exists));
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "a", &c.csv));
    if (!exists) {
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv,
                             "dim,order,extra_points,curved,assembled,unknowns,iterations,nonzeros_per_row,bytes_per_unknown,peak_"
                             "bytes_per_unknown,device_bytes_per_unknown"));
      for (PetscInt k = 0; k < NTIMES; ++k) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, ",%s", names[k]));
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, ",fe\n"));
      (void)fflush(c.csv);
    }
  }
  PetscCall(BenchLock(c.lock, LOCK_UN));
  components = c.fe == ND || c.fe == RT ? c.dim : 1;
  for (PetscInt s = 0; s < ns; ++s)
    for (PetscInt i = 0; i < no; ++i) {
      PetscLogStage stage; /* events are timed case by case */
      char          name[64];

      c.order = orders[i];
      c.cells = (PetscInt)PetscMax(1, PetscFloorReal(PetscPowReal((PetscReal)sizes[s] / components, 1.0 / c.dim) / c.order + 0.5));
      for (c.pass = 0; c.pass < c.passes; ++c.pass) {
        PetscCall(PetscSNPrintf(name, sizeof(name), "case %" PetscInt_FMT "-%" PetscInt_FMT "-%" PetscInt_FMT, s, i, c.pass));
        PetscCall(PetscLogStageRegister(name, &stage));
        PetscCall(PetscLogStagePush(stage));
        PetscCall(RunCase(&c));
        PetscCall(PetscLogStagePop());
      }
    }
  PetscCall(DMDestroy(&c.dm));
  if (c.csv) PetscCall(PetscFClose(PETSC_COMM_WORLD, c.csv));
  if (c.lock >= 0) (void)close(c.lock);
  PetscCall(PetscFinalize());
  return 0;
}
