/*
  Sweeps of PCPATCHFD on one core (or on ranks), or on a device: set-up, local solves, whole sweeps of each
  type, and the operator beside them, in unknowns, flops and bytes per second; on a box of equal cells, of
  graded ones, or curved, of Kershaw's (epsilon = 0.3, 3D), or of equal ones whose coefficients are 1 or 100
  in turn (board) or at random: their patches are condensed.

    patchbench [-dim 3] [-dofs 1e6] [-orders 1,2,...] [-mesh uniform|graded|curved|kershaw|board|random]
    [-repeat 3] [-calls 1] [-variants 0,1,2,3,4] [-hops_backend host|cuda|kokkos]
               [-tensor 0,1] [-cpu] [-peak 0] [-csv FILE]

  -calls: so many between two looks at the clock; -variants: lines of the table in Order(); -tensor: on a
  device on vector units (0) or, where they have a kernel, on tensor cores (1, as without this option), one
  after the other if both are given; -cpu: the process's processor time in place of the clock's, for a busy
  machine; -peak 0: peak and copy are not measured, and no fractions of them given; -csv: adds lines to FILE,
  with a header where it is new or empty.

  On one process flops and bytes are also given as fractions of a peak and of a copy's bandwidth. On the host
  both are measured here, on one core: multiply-adds in registers, in the precision of the patches, and a copy
  of 256 MB. On a device the peak is that of the vector units at the highest clock (compute capabilities 8.0
  and 9.0; of others no fraction is given), and the copy one of 1 GB. Bytes are those that must be moved at
  least:
    operator, additive: x read, y zeroed and added to, an index for each entry of a cell or patch (quadrature
    data, where they are stored, come on top) multiplicative: for each patch b inside and x around it read, x
    inside written, an index for each; in single precision on an iterate, and
                    the operator for the residual. Only where sweeps are fused: not on curved cells, nor for
                    condensed patches
*/
#include <hops.h>
#if defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS)
  #include <backend/lanes/patch/lanespatch.h> /* before petscshim.h, which comes after PETSc's private headers */
#endif
#include <hops/private/petscshim.h>
#include <petscdevice.h>
#include <petsctime.h>
#include <time.h>
#include "kershaw.h"
#if defined(PETSC_HAVE_CUDA)
  #include "cuda/devicecopy.h"
#endif

typedef struct {
  PetscInt    dim, repeat, calls, nvariants, variant[5], ntensor, tensor[3];
  char        backend[16];
  PetscBool   device, cpu;
  PetscReal   dofs;
  PetscMPIInt size, rank;
  char        mesh[16];
  double      peak[2], copy; /* flop/s in double and single precision, bytes/s; 0 where not known */
  FILE       *csv;
} Bench;

#define PEAK(name, attribute, real, bytes) \
  attribute static double name(long n) \
  { \
    typedef real vec __attribute__((vector_size(bytes))); \
    vec          m = {0}, r[10]; \
    double       s = 0.0; \
    m += (real)0.999; \
    for (int i = 0; i < 10; i++) r[i] = m; \
    for (long k = 0; k < n; k++) { \
      __asm__ volatile("" \
                       : "+v"(r[0]), "+v"(r[1]), "+v"(r[2]), "+v"(r[3]), "+v"(r[4]), "+v"(r[5]), "+v"(r[6]), "+v"(r[7]), \
                         "+v"(r[8]), "+v"(r[9])); \
      _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) r[i] = r[i] * m + m; \
    } \
    for (int i = 0; i < 10; i++) s += r[i][0]; \
    return s; \
  }
#if defined(__x86_64__)
PEAK(Peak512, __attribute__((target("avx512f"))), double, 64)
PEAK(Peak512Single, __attribute__((target("avx512f"))), float, 64)
PEAK(Peak256, __attribute__((target("avx2,fma"))), double, 32)
PEAK(Peak256Single, __attribute__((target("avx2,fma"))), float, 32)
#endif
PEAK(PeakBase, , double, 16)
PEAK(PeakBaseSingle, , float, 16)

static double Now(const Bench *bench)
{
  PetscLogDouble t = 0.0;

  if (bench->cpu) {
    struct timespec c;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c);
    return (double)c.tv_sec + 1e-9 * (double)c.tv_nsec;
  }
  (void)PetscTime(&t);
  return t;
}

/* Of one core: multiply-adds on ten independent registers, and a copy of 256 MB */
static PetscErrorCode HostPeak(Bench *bench)
{
  const long   n        = 2000000;
  const size_t m        = (size_t)1 << 28;
  double (*f[2])(long)  = {PeakBase, PeakBaseSingle};
  double          width = 16, t0;
  volatile double sink  = 0;
  char           *x, *y;

  PetscFunctionBeginUser;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    f[0]  = Peak512;
    f[1]  = Peak512Single;
    width = 64;
  } else if (__builtin_cpu_supports("avx2")) {
    f[0]  = Peak256;
    f[1]  = Peak256Single;
    width = 32;
  }
#endif
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 20; i++) {
      t0 = Now(bench);
      sink += f[s](n);
      bench->peak[s] = PetscMax(bench->peak[s], 20. * width / (s ? 4 : 8) * n / (Now(bench) - t0));
    }
  PetscCall(PetscMalloc2(m, &x, m, &y));
  for (size_t i = 0; i < m; i++) x[i] = (char)i;
  for (int i = 0; i < 8; i++) {
    t0 = Now(bench);
    PetscCall(PetscMemcpy(y, x, m));
    t0 = Now(bench) - t0;
    sink += y[(size_t)i << 20];
    if (i) bench->copy = PetscMax(bench->copy, 2. * (double)m / t0); /* the first one gets y's pages */
  }
  (void)sink;
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DevicePeak(Bench *bench)
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  int device, sms, clock, major, minor;

  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if ((major == 8 || major == 9) && !minor) {
    bench->peak[0] = 2.0 * 64 * sms * clock * 1e3;
    bench->peak[1] = 2 * bench->peak[0];
  }
  PetscCall(DeviceCopy(&bench->copy));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the box's coordinates, moved */
static PetscErrorCode Mesh(const Bench *bench, PetscInt p, DM *dm)
{
  const PetscInt n = PetscMax(2, (PetscInt)(PetscPowReal(bench->dofs, 1.0 / bench->dim) / p + 0.5));
  char           text[128];
  PetscBool      graded, curved, kershaw;
  Vec            x;
  PetscScalar   *a;
  PetscInt       m;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(bench->mesh, "graded", &graded));
  PetscCall(PetscStrcmp(bench->mesh, "curved", &curved));
  PetscCall(PetscStrcmp(bench->mesh, "kershaw", &kershaw));
  PetscCheck(!kershaw || bench->dim == 3, PETSC_COMM_WORLD, PETSC_ERR_USER, "Kershaw's mesh is in 3D");
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "-dm_plex_simplex 0 -dm_plex_dim %" PetscInt_FMT " -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT
                          ",%" PetscInt_FMT,
                          bench->dim, n, n, n));
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
    if (kershaw) Kershaw(0.3, y);
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(DMSetCoordinatesLocal(*dm, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1; by cells, 1 and 100 in turn, or all between without order */
static PetscErrorCode Kappa(const Bench *bench, DM dm, PetscInt p, HopsSpace sp, HopsCoefficient *kappa)
{
  const PetscInt n   = PetscMax(2, (PetscInt)(PetscPowReal(bench->dofs, 1.0 / bench->dim) / p + 0.5));
  PetscScalar    one = 1.0, *v;
  PetscBool      board, random;
  PetscInt       cStart, cEnd;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(bench->mesh, "board", &board));
  PetscCall(PetscStrcmp(bench->mesh, "random", &random));
  if (!board && !random) {
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, kappa));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &v));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3];
    PetscInt  k = 0;

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, x, NULL));
    for (PetscInt d = 0; d < bench->dim; ++d) k = (random ? 131 : 1) * k + (PetscInt)(n * x[d]);
    v[c - cStart] = random ? PetscPowReal(10.0, 1.0 + PetscSinReal(13.0 * (k % 1009) * (k % 1013))) : (k % 2 ? 100.0 : 1.0);
  }
  PetscCall(HopsCoefficientCreateCell(sp, 1, v, kappa));
  PetscCall(PetscFree(v));
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
      PetscLogDouble f0_, f1_; \
      double         t0_, t1_; \
      PetscCall(Finish(bench)); \
      PetscCall(PetscGetFlops(&f0_)); \
      t0_ = Now(bench); \
      for (PetscInt j_ = 0; j_ < (bench)->calls; ++j_) call; \
      PetscCall(Finish(bench)); \
      t1_ = Now(bench); \
      PetscCall(PetscGetFlops(&f1_)); \
      seconds = PetscMin(seconds, (t1_ - t0_) / (bench)->calls); \
      flops   = (f1_ - f0_) / (bench)->calls; \
    } \
  } while (0)

/* One more line; flops and bytes that are 0 are not known */
static PetscErrorCode Line(const Bench *bench, PetscInt p, const char name[], PetscBool single, PetscInt N, double seconds,
                           double flops, double bytes)
{
  const char  *precision = single ? "single" : "double";
  const double peak = bench->size == 1 ? bench->peak[single] : 0.0, copy = bench->size == 1 ? bench->copy : 0.0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &flops, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT " %10" PetscInt_FMT "  %-25s %s %9.2f ms %9.2f Munknowns/s", p, N, name,
                        precision, 1e3 * seconds, 1e-6 * N / seconds));
  if (flops > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f GFLOP/s", 1e-9 * flops / seconds));
  if (flops > 0.0 && peak > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %5.1f%% of peak", 100.0 * flops / seconds / peak));
  if (bytes > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f GB/s", 1e-9 * bytes / seconds));
  if (bytes > 0.0 && copy > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %5.1f%% of copy", 100.0 * bytes / seconds / copy));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  if (bench->csv) {
    fprintf(bench->csv, "%s,%s,%d,%d,%d,%d,%s,%s,%.6g,%.6g,", bench->backend, bench->mesh, (int)bench->size, (int)bench->dim,
            (int)p, (int)N, name, precision, seconds, 1e-6 * N / seconds);
    if (flops > 0.0) fprintf(bench->csv, "%.6g,%.5g,", flops, 1e-9 * flops / seconds);
    else fprintf(bench->csv, ",,");
    if (flops > 0.0 && peak > 0.0) fprintf(bench->csv, "%.4f", flops / seconds / peak);
    fprintf(bench->csv, ",");
    if (bytes > 0.0) fprintf(bench->csv, "%.6g,%.5g,", bytes, 1e-9 * bytes / seconds);
    else fprintf(bench->csv, ",,");
    if (bytes > 0.0 && copy > 0.0) fprintf(bench->csv, "%.4f", bytes / seconds / copy);
    fprintf(bench->csv, ",%.5g,%.5g\n", 1e-9 * peak, 1e-9 * copy);
    (void)fflush(bench->csv);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a cell or of patches, on all ranks, with an index each */
static PetscErrorCode Sum(PetscInt n, double *sum)
{
  PetscFunctionBeginUser;
  *sum = (double)n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char        *name;
  PCPATCHFDType      type;
  PCPATCHFDPatch     patch;
  PCPATCHFDDirection direction;
  PetscBool          single;
} variants[] = {{"additive", PC_PATCHFD_ADDITIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_FALSE},
                {"additive", PC_PATCHFD_ADDITIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_TRUE},
                {"additive element", PC_PATCHFD_ADDITIVE, PC_PATCHFD_ELEMENT, PC_PATCHFD_FORWARD, PETSC_FALSE},
                {"multiplicative", PC_PATCHFD_MULTIPLICATIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_FALSE},
                {"multiplicative", PC_PATCHFD_MULTIPLICATIVE, PC_PATCHFD_VERTEX, PC_PATCHFD_FORWARD, PETSC_TRUE}};

/* The operator of an order */
typedef struct {
  PetscInt  p, N;
  double    bytes; /* of its application */
  PetscBool fused; /* sweeps with patches are fused, and their bytes known */
  Mat       A;
  Vec       x, y, w;
} Operator;

static PetscErrorCode CreateVariant(const Bench *bench, const Operator *op, PetscInt v, PC *pc, double *seconds)
{
  double t0;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCPATCHFD));
  PetscCall(PCSetOperators(*pc, op->A, op->A));
  PetscCall(PCPATCHFDSetType(*pc, variants[v].type));
  PetscCall(PCPATCHFDSetPatch(*pc, variants[v].patch));
  PetscCall(PCPATCHFDSetDirection(*pc, variants[v].direction));
  PetscCall(PCPATCHFDSetPrecision(*pc, variants[v].single));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(Finish(bench));
  t0 = Now(bench);
  PetscCall(PCSetUp(*pc));
  PetscCall(Finish(bench));
  *seconds = Now(bench) - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Variant(const Bench *bench, const Operator *op, PetscInt v)
{
  const PetscBool single = variants[v].single;
  const PetscInt *start, p = op->p, N = op->N;
  PetscInt        npatches, its;
  PC              pc;
  double          setup = 0.0, seconds, flops = 0.0, bytes, entries, patches;

  PetscFunctionBeginUser;
  PetscCall(CreateVariant(bench, op, v, &pc, &setup));
  PetscCall(PCPATCHFDGetPatches(pc, &npatches, &start, NULL, NULL, NULL));
  PetscCall(Sum(start[npatches], &entries));
  PetscCall(Sum(npatches, &patches));
  bytes = 32.0 * N + 4.0 * entries;
  for (PetscInt i = 0; i < bench->ntensor; ++i) {
    const char *const with = bench->tensor[i] < 0 ? "" : (bench->tensor[i] ? " on tensor cores" : " on vector units");
    char              name[64];

#if defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS)
    HopsLanesPatchTensor = (int)bench->tensor[i];
#endif
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", variants[v].name, with));
    if (variants[v].type == PC_PATCHFD_ADDITIVE) TIME(bench, seconds, flops, PetscCall(PCApply(pc, op->x, op->y)));
    else {
      const double                around = patches * PetscPowInt(2 * p + 1, bench->dim) - entries;
      PCRichardsonConvergedReason reason;

      bytes = op->fused ? (single ? 4.0 : 8.0) * (2.0 * entries + around) + 4.0 * (entries + around) : 0.0;
      PetscCall(VecSet(op->y, 0.5));
      TIME(bench, seconds, flops,
           PetscCall(PCApplyRichardson(pc, op->x, op->y, op->w, 0.0, 0.0, 1e5, 1, PETSC_FALSE, &its, &reason)));
      PetscCall(Line(bench, p, name, single, N, seconds, flops, bytes > 0.0 && single ? bytes + op->bytes : bytes));
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s from zero%s", variants[v].name, with));
      TIME(bench, seconds, flops, PetscCall(PCApply(pc, op->x, op->y)));
    }
    PetscCall(Line(bench, p, name, single, N, seconds, flops, bytes));
  }
  PetscCall(Line(bench, p, "set-up", single, N, setup, 0.0, 0.0));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Order(const Bench *bench, PetscInt p)
{
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient c;
  PetscInt        value = 1, ncells;
  double          seconds, flops = 0.0, entries;
  PetscBool       curved, kershaw, board, random, fuse = PETSC_TRUE;
  Operator        op;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(bench->mesh, "curved", &curved));
  PetscCall(PetscStrcmp(bench->mesh, "kershaw", &kershaw));
  PetscCall(PetscStrcmp(bench->mesh, "board", &board));
  PetscCall(PetscStrcmp(bench->mesh, "random", &random));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pc_patchfd_fuse", &fuse, NULL));
  PetscCall(Mesh(bench, p, &dm));
  PetscCall(DMCreateLabel(dm, "wall"));
  PetscCall(DMGetLabel(dm, "wall", &label));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &value, &sp));
  PetscCall(HopsSpaceGetSizes(sp, NULL, &op.N));
  PetscCall(HopsSpaceGetNumCells(sp, &ncells));
  PetscCall(Sum(ncells * PetscPowInt(p + 1, bench->dim), &entries));
  op.p     = p;
  op.bytes = 32.0 * op.N + 4.0 * entries;
  op.fused = curved || kershaw || board || random || !fuse ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(Kappa(bench, dm, p, sp, &c));
  PetscCall(MatCreatePA(sp, &op.A));
  PetscCall(MatPASetDiffusion(op.A, c));
  PetscCall(MatCreateVecs(op.A, &op.x, &op.y));
  PetscCall(VecDuplicate(op.x, &op.w));
  PetscCall(VecSetRandom(op.x, NULL));
  TIME(bench, seconds, flops, PetscCall(MatMult(op.A, op.x, op.y)));
  PetscCall(Line(bench, p, "operator", PETSC_FALSE, op.N, seconds, flops, op.bytes));
  for (PetscInt k = 0; k < bench->nvariants; ++k) PetscCall(Variant(bench, &op, bench->variant[k]));
  PetscCall(VecDestroy(&op.x));
  PetscCall(VecDestroy(&op.y));
  PetscCall(VecDestroy(&op.w));
  PetscCall(MatDestroy(&op.A));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench bench =
    {.dim = 3, .repeat = 3, .calls = 1, .dofs = 1e6, .mesh = "uniform", .nvariants = 5, .variant = {0, 1, 2, 3, 4}, .ntensor = 3};
  PetscInt  orders[16] = {1, 2, 3, 4, 5, 6, 7, 8}, n = 16;
  PetscBool set, tensor, peak = PETSC_TRUE;
  char      file[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(HopsInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &bench.size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &bench.rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &bench.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &bench.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &bench.dofs, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", bench.mesh, sizeof(bench.mesh), NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 8;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-variants", bench.variant, &bench.nvariants, &set));
  if (!set) bench.nvariants = 5;
  for (PetscInt k = 0; k < bench.nvariants; ++k)
    PetscCheck(bench.variant[k] >= 0 && bench.variant[k] < 5, PETSC_COMM_WORLD, PETSC_ERR_USER,
               "There are the variants 0 to 4, not %" PetscInt_FMT, bench.variant[k]);
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-tensor", bench.tensor, &bench.ntensor, &set));
  tensor = set;
  if (!set) {
    bench.ntensor   = 1;
    bench.tensor[0] = -1;
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-calls", &bench.calls, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cpu", &bench.cpu, NULL));
  PetscCall(PetscStrncpy(bench.backend, "host", sizeof(bench.backend)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_backend", bench.backend, sizeof(bench.backend), NULL));
  PetscCall(PetscStrcmp(bench.backend, "host", &bench.device));
#if PetscDefined(HAVE_CUDA) || PetscDefined(HAVE_HIP)
  bench.device = bench.device ? PETSC_FALSE : PETSC_TRUE; /* kokkos too */
#else
  bench.device = PETSC_FALSE;
#endif
  PetscCheck(bench.device || !tensor, PETSC_COMM_WORLD, PETSC_ERR_USER, "-tensor is for devices: add -hops_backend cuda");
  PetscCheck(!bench.device || !bench.cpu, PETSC_COMM_WORLD, PETSC_ERR_USER, "-cpu times the host: drop it, or -hops_backend cuda");
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-peak", &peak, NULL));
  if (peak && bench.device) PetscCall(DevicePeak(&bench));
  if (peak && !bench.device) PetscCall(HostPeak(&bench));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD,
                "%s: multiply-adds %.1f GFLOP/s in double, %.1f in single precision, copy %.1f GB/s; mesh %s, %" PetscInt_FMT "D\n",
                bench.device ? "device" : "one core", 1e-9 * bench.peak[0], 1e-9 * bench.peak[1], 1e-9 * bench.copy, bench.mesh,
                bench.dim));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", file, sizeof(file), &set));
  if (set && !bench.rank) {
    bench.csv = fopen(file, "a");
    PetscCheck(bench.csv, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", file);
    (void)fseek(bench.csv, 0, SEEK_END);
    if (!ftell(bench.csv))
      fprintf(bench.csv, "backend,mesh,ranks,dim,order,unknowns,kernel,precision,seconds,munknowns_per_s,flops,gflops,of_peak,"
                         "bytes,gb_per_s,of_copy,peak_gflops,copy_gb_per_s\n");
  }
  for (PetscInt i = 0; i < n; ++i) PetscCall(Order(&bench, orders[i]));
  if (bench.csv) (void)fclose(bench.csv);
  PetscCall(PetscFinalize());
  return 0;
}
