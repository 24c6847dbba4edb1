/*
  Sweeps of PCPATCHFD on one core (or on ranks): set-up, local solves, whole sweeps of each type, and the operator beside them, in unknowns
  and flops per second; on a box of equal cells, of graded ones, or curved.

    patchbench [-dim 3] [-dofs 1e6] [-orders 1,2,...] [-mesh uniform|graded|curved] [-repeat 3] [-calls 1] [-variants 0,1,2,3,4] [-hops_backend host|cuda]

  -calls: so many between two looks at the clock; -variants: lines of the table in Order()
*/
#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscdevice.h>
#include <petsctime.h>

typedef struct {
  PetscInt  dim, repeat, calls, nvariants, variant[5];
  PetscBool device;
  PetscReal dofs;
  char      mesh[16];
  double    peak; /* measured: flop/s of one core in double precision; 0 on a device */
} Bench;

#define PEAK(name, attribute, width) \
  attribute static double name(long n) \
  { \
    typedef double vec __attribute__((vector_size(8 * width))); \
    vec            m = {0}, r[10]; \
    double         s = 0.0; \
    m += 0.999; \
    for (int i = 0; i < 10; i++) r[i] = m; \
    for (long k = 0; k < n; k++) { \
      __asm__ volatile("" \
                       : "+v"(r[0]), "+v"(r[1]), "+v"(r[2]), "+v"(r[3]), "+v"(r[4]), "+v"(r[5]), "+v"(r[6]), "+v"(r[7]), "+v"(r[8]), "+v"(r[9])); \
      _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) r[i] = r[i] * m + m; \
    } \
    for (int i = 0; i < 10; i++) s += r[i][0]; \
    return s; \
  }
#if defined(__x86_64__)
PEAK(Peak512, __attribute__((target("avx512f"))), 8)
PEAK(Peak256, __attribute__((target("avx2,fma"))), 4)
#endif
PEAK(PeakBase, , 2)

/* Multiply-adds on ten independent registers */
static PetscErrorCode Peak(Bench *bench)
{
  const long n          = 4000000;
  double (*f)(long)     = PeakBase;
  double          width = 2;
  volatile double sink  = 0;

  PetscFunctionBeginUser;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    f     = Peak512;
    width = 8;
  } else if (__builtin_cpu_supports("avx2")) {
    f     = Peak256;
    width = 4;
  }
#endif
  bench->peak = 0.0;
  for (int i = 0; i < 5; i++) {
    PetscLogDouble t0, t1;

    PetscCall(PetscTime(&t0));
    sink += f(n);
    PetscCall(PetscTime(&t1));
    bench->peak = PetscMax(bench->peak, 20. * width * n / (t1 - t0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the box's coordinates, moved */
static PetscErrorCode Mesh(const Bench *bench, PetscInt p, DM *dm)
{
  const PetscInt n = PetscMax(2, (PetscInt)(PetscPowReal(bench->dofs, 1.0 / bench->dim) / p + 0.5));
  char           text[128];
  PetscBool      graded, curved;
  Vec            x;
  PetscScalar   *a;
  PetscInt       m;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(bench->mesh, "graded", &graded));
  PetscCall(PetscStrcmp(bench->mesh, "curved", &curved));
  PetscCall(PetscSNPrintf(text, sizeof(text), "-dm_plex_simplex 0 -dm_plex_dim %" PetscInt_FMT " -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT, bench->dim, n, n, n));
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMGetCoordinatesLocal(*dm, &x));
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt i = 0; i < m / bench->dim; ++i) {
    PetscScalar *y = a + i * bench->dim, s = 0.0;

    for (PetscInt d = 0; d < bench->dim; ++d) s += y[d];
    for (PetscInt d = 0; d < bench->dim; ++d) {
      if (graded) y[d] = y[d] * (0.3 + y[d] * (0.2 * (d + 1) + 0.5 * y[d]));
      if (curved) y[d] += 0.05 * PetscSinReal(3.0 * s + d);
    }
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(DMSetCoordinatesLocal(*dm, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* waits for the device */
static PetscErrorCode Finish(const Bench *bench)
{
  PetscFunctionBeginUser;
  if (bench->device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* seconds and flops of one call: the best of some */
#define TIME(bench, seconds, flops, call) \
  do { \
    seconds = PETSC_MAX_REAL; \
    for (PetscInt i_ = 0; i_ <= (bench)->repeat; ++i_) { \
      PetscLogDouble t0_, t1_, f0_, f1_; \
      PetscCall(Finish(bench)); \
      PetscCall(PetscGetFlops(&f0_)); \
      PetscCall(PetscTime(&t0_)); \
      for (PetscInt j_ = 0; j_ < (bench)->calls; ++j_) call; \
      PetscCall(Finish(bench)); \
      PetscCall(PetscTime(&t1_)); \
      PetscCall(PetscGetFlops(&f1_)); \
      seconds = PetscMin(seconds, (t1_ - t0_) / (bench)->calls); \
      flops   = (f1_ - f0_) / (bench)->calls; \
    } \
  } while (0)

static PetscErrorCode Line(const Bench *bench, PetscInt p, const char name[], PetscInt N, double seconds, double flops)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT " %10" PetscInt_FMT "  %-28s %9.2f ms %9.2f Munknowns/s %8.2f GFLOP/s", p, N, name, 1e3 * seconds, 1e-6 * N / seconds, 1e-9 * flops / seconds));
  if (bench->peak > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %5.1f%% of peak", 100.0 * flops / seconds / bench->peak));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Order(const Bench *bench, PetscInt p)
{
  static const struct {
    const char        *name;
    PCPATCHFDType      type;
    PCPATCHFDPatch     patch;
    PCPATCHFDDirection direction;
    PetscBool          single;
  } variants[] = {
    {"additive", PC_PATCHFD_ADDITIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_FALSE},
    {"additive, single", PC_PATCHFD_ADDITIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_TRUE},
    {"additive, element", PC_PATCHFD_ADDITIVE, PC_PATCHFD_ELEMENT, PC_PATCHFD_FORWARD, PETSC_FALSE},
    {"multiplicative, forward", PC_PATCHFD_MULTIPLICATIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_FALSE},
    {"multiplicative, single", PC_PATCHFD_MULTIPLICATIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_TRUE}};
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient c;
  Mat             A;
  Vec             x, y, w;
  PetscScalar     one   = 1.0;
  PetscInt        value = 1, N;
  double          seconds, flops = 0.0;

  PetscFunctionBeginUser;
  PetscCall(Mesh(bench, p, &dm));
  PetscCall(DMCreateLabel(dm, "wall"));
  PetscCall(DMGetLabel(dm, "wall", &label));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &value, &sp));
  PetscCall(HopsSpaceGetSizes(sp, NULL, &N));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecSetRandom(x, NULL));
  TIME(bench, seconds, flops, PetscCall(MatMult(A, x, y)));
  PetscCall(Line(bench, p, "operator", N, seconds, flops));
  for (PetscInt k = 0; k < bench->nvariants; ++k) {
    const PetscInt v = bench->variant[k];
    PC             pc;
    PetscLogDouble t0, t1;
    char           name[64];
    PetscInt       its;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCPATCHFD));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCPATCHFDSetType(pc, variants[v].type));
    PetscCall(PCPATCHFDSetPatch(pc, variants[v].patch));
    PetscCall(PCPATCHFDSetDirection(pc, variants[v].direction));
    PetscCall(PCPATCHFDSetPrecision(pc, variants[v].single));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscTime(&t0));
    PetscCall(PCSetUp(pc));
    PetscCall(PetscTime(&t1));
    if (variants[v].type == PC_PATCHFD_ADDITIVE) TIME(bench, seconds, flops, PetscCall(PCApply(pc, x, y)));
    else {
      PCRichardsonConvergedReason reason;

      PetscCall(VecSet(y, 0.5));
      TIME(bench, seconds, flops, PetscCall(PCApplyRichardson(pc, x, y, w, 0.0, 0.0, 1e5, 1, PETSC_FALSE, &its, &reason)));
      PetscCall(Line(bench, p, variants[v].name, N, seconds, flops));
      TIME(bench, seconds, flops, PetscCall(PCApply(pc, x, y)));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s", variants[v].type == PC_PATCHFD_ADDITIVE ? variants[v].name : "  from zero"));
    PetscCall(Line(bench, p, name, N, seconds, flops));
    PetscCall(PetscSNPrintf(name, sizeof(name), "  its set-up"));
    PetscCall(Line(bench, p, name, N, t1 - t0, 0.0));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench     bench      = {.dim = 3, .repeat = 3, .calls = 1, .dofs = 1e6, .mesh = "uniform", .nvariants = 5, .variant = {0, 1, 2, 3, 4}};
  PetscInt  orders[16] = {1, 2, 3, 4, 5, 6, 7, 8}, n = 16;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &bench.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &bench.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &bench.dofs, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", bench.mesh, sizeof(bench.mesh), NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 8;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-variants", bench.variant, &bench.nvariants, &set));
  if (!set) bench.nvariants = 5;
  for (PetscInt k = 0; k < bench.nvariants; ++k) PetscCheck(bench.variant[k] >= 0 && bench.variant[k] < 5, PETSC_COMM_WORLD, PETSC_ERR_USER, "There are the variants 0 to 4, not %" PetscInt_FMT, bench.variant[k]);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-calls", &bench.calls, NULL));
  {
    char name[32] = "host";

    PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_backend", name, sizeof(name), NULL));
    PetscCall(PetscStrcmp(name, "cuda", &bench.device));
  }
  if (!bench.device) {
    PetscCall(Peak(&bench));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "multiply-adds on one core %.1f GFLOP/s; ", bench.peak / 1e9));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mesh %s, %" PetscInt_FMT "D\n", bench.mesh, bench.dim));
  for (PetscInt i = 0; i < n; ++i) PetscCall(Order(&bench, orders[i]));
  PetscCall(PetscFinalize());
  return 0;
}
