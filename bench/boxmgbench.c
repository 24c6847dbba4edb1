static char help[] =
  "Full multigrid with vertex patches on a uniform box: -Laplace u = f on the unit square or cube, u = 0 on the boundary, on a\n\
  CUDA device.\n\
  -dim <d> -order <p> -cells <n,...>  : sizes, n cells in each direction\n\
  -cases <p:n,...>                    : orders and cells, in place of -order and -cells\n\
  -precision <double,single>          : of the cycle\n\
  -rhs <sin,one>                      : f such that u is the product of sin(pi x), or f = 1 (then there is no error)\n\
  -rtol <r>                           : until |b - A x| <= r |b| (default 1e-9)\n\
  -repeat <n>                         : solves, of which the fastest counts, after one that warms up\n\
  -breakdown                          : seconds by level (0: the finest) and kind of kernel, each waited for; what is left of\n\
                                        the solve is the finest level's\n\
                                        'rest': products and vectors of a Krylov method, and the waits\n\
Prints CSV, the first column of which says what a line is. Options of PCBOXMG and KSP apply; -ksp_type fgmres, with the cycle as\n\
  preconditioner, is one choice.\n\n";

#include <hops.h>
#include <petscdt.h>

#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
  #include "cuda/boxtools.h"

  #define MAX_CASES 128

typedef struct {
  PetscInt  dim, order, n, repeat;
  PetscBool sine, breakdown;
  PetscReal rtol;
} Bench;

/* Lagrange polynomials on the Gauss-Lobatto nodes at points of [-1,1]: B[Q][p+1] */
static PetscErrorCode Tabulate(PetscInt p, PetscInt Q, const PetscReal points[], PetscReal B[])
{
  PetscReal z[16], wz[16];

  PetscFunctionBeginUser;
  z[0] = -1.0;
  z[p] = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(p + 1, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, wz));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i <= p; ++i) {
      PetscReal l = 1.0;

      for (PetscInt k = 0; k <= p; ++k)
        if (k != i) l *= (points[q] - z[k]) / (z[i] - z[k]);
      B[q * (p + 1) + i] = l;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RHS(const Bench *b, Vec v)
{
  const PetscInt p = b->order, Q = p + 8, nodes = b->n * p + 1;
  PetscReal      x[32], w[32], B[512], one = 1.0, *g;
  const double  *gs[3];
  int            n[3];
  PetscScalar   *a;

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, x, w));
  PetscCall(Tabulate(p, Q, x, B));
  PetscCall(PetscCalloc1(nodes, &g));
  for (PetscInt c = 0; c < b->n; ++c)
    for (PetscInt q = 0; q < Q; ++q) {
      const PetscReal f = b->sine ? PetscSinReal(PETSC_PI * (c + 0.5 * (x[q] + 1.0)) / b->n) : 1.0;

      for (PetscInt i = 0; i <= p; ++i) g[c * p + i] += 0.5 * w[q] / b->n * f * B[q * (p + 1) + i];
    }
  for (PetscInt d = 0; d < 3; ++d) {
    gs[d] = d < b->dim ? g : &one;
    n[d]  = d < b->dim ? (int)nodes : 1;
  }
  PetscCall(VecCUDAGetArrayWrite(v, &a));
  PetscCallCUDA((cudaError_t)BoxFill(n, b->sine ? b->dim * PETSC_PI * PETSC_PI : 1.0, gs, a));
  PetscCall(VecCUDARestoreArrayWrite(v, &a));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L2 norm of u less the product of sines */
static PetscErrorCode Error(const Bench *b, Vec u, PetscReal *error)
{
  const PetscInt     p = b->order, Q = p + 2;
  PetscReal          x[32], w[32], B[512], *e, sum;
  const double      *es[3];
  const int          ncells[3] = {(int)b->n, (int)b->n, (int)b->n};
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, x, w));
  PetscCall(Tabulate(p, Q, x, B));
  PetscCall(PetscMalloc1(b->n * Q, &e));
  for (PetscInt c = 0; c < b->n; ++c)
    for (PetscInt q = 0; q < Q; ++q) e[c * Q + q] = PetscSinReal(PETSC_PI * (c + 0.5 * (x[q] + 1.0)) / b->n);
  for (PetscInt q = 0; q < Q; ++q) w[q] *= 0.5 / b->n;
  es[0] = es[1] = es[2] = e;
  PetscCall(VecCUDAGetArrayRead(u, &a));
  PetscCallCUDA((cudaError_t)BoxError((int)b->dim, (int)p, ncells, (int)Q, B, w, es, a, &sum));
  PetscCall(VecCUDARestoreArrayRead(u, &a));
  PetscCall(PetscFree(e));
  *error = PetscSqrtReal(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Seconds(PetscLogDouble *t)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BreakdownLine(const Bench *b, PetscBool single, PetscInt level, const char kind[], PetscReal seconds,
                                    KSPType ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "breakdown,%d,%d,%d,%s,%d,%s,%.6f,%s\n", (int)b->dim, (int)b->order, (int)b->n,
                        single ? "single" : "double", (int)level, kind, (double)seconds, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the kinds of kernels: on where seconds is NULL starts from zero, or stops */
static PetscErrorCode Profile(PC pc, PetscBool on, PetscInt *levels, PetscReal *seconds[])
{
  PetscErrorCode (*profile)(PC, PetscBool, PetscInt *, PetscReal *[]);

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCBoxMGProfile_C", &profile));
  PetscCheck(profile, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The preconditioner is no PCBOXMG");
  PetscCall((*profile)(pc, on, levels, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Breakdown(const Bench *b, PetscBool single, KSP ksp, Vec f, Vec x)
{
  static const char *const kinds[] = {"smoothing", "residual", "restriction", "prolongation", "direct", "vectors"};
  PC                       pc;
  PetscInt                 levels;
  PetscReal               *s, rest;
  PetscLogDouble           t0, t1;
  KSPType                  type;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(Profile(pc, PETSC_TRUE, NULL, NULL));
  PetscCall(Seconds(&t0));
  PetscCall(KSPSolve(ksp, f, x));
  PetscCall(Seconds(&t1));
  rest = t1 - t0;
  PetscCall(Profile(pc, PETSC_FALSE, &levels, &s));
  for (PetscInt l = levels - 1; l >= 0; --l)
    for (PetscInt k = 0; k < 6; ++k)
      if (s[6 * l + k] > 0.0) {
        PetscCall(BreakdownLine(b, single, levels - 1 - l, kinds[k], s[6 * l + k], type));
        rest -= s[6 * l + k];
      }
  PetscCall(BreakdownLine(b, single, 0, "rest", rest, type));
  PetscCall(Profile(pc, PETSC_FALSE, NULL, NULL));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Bench *b, PetscBool single)
{
  const PetscInt     ncells[3] = {b->n, b->n, b->n};
  Mat                A;
  Vec                f, x;
  KSP                ksp;
  PC                 pc;
  PetscInt           its, n;
  PetscReal          error = 0.0, norm[2];
  PetscLogDouble     t0, t1, setup, best = 1e30;
  size_t             available, total;
  KSPConvergedReason reason;
  KSPType            type;
  char               ksptype[64];

  PetscFunctionBeginUser;
  PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, b->dim, b->order, ncells, NULL, NULL, 0.0, &A));
  PetscCall(MatCreateVecs(A, &x, &f));
  PetscCall(RHS(b, f));
  PetscCall(Seconds(&t0));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, b->rtol, 0.0, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCBOXMG));
  PetscCall(PCBoxMGSetPrecision(pc, single));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Seconds(&t1));
  setup = t1 - t0;
  for (PetscInt r = 0; r <= b->repeat; ++r) {
    PetscCall(Seconds(&t0));
    PetscCall(KSPSolve(ksp, f, x));
    PetscCall(Seconds(&t1));
    if (r) best = PetscMin(best, t1 - t0);
  }
  PetscCallCUDA(cudaMemGetInfo(&available, &total));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (b->sine) PetscCall(Error(b, x, &error));
  if (b->breakdown) PetscCall(Breakdown(b, single, ksp, f, x));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(PetscStrncpy(ksptype, type, sizeof(ksptype)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecNorm(f, NORM_2, &norm[0]));
  { /* independent of the solver's own residual */
    Vec r;

    PetscCall(VecDuplicate(f, &r));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1.0, f));
    PetscCall(VecNorm(r, NORM_2, &norm[1]));
    PetscCall(VecDestroy(&r));
  }
  PetscCall(VecGetSize(f, &n));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "solve,%d,%d,%d,%d,%s,%s,%d,%s,%.2e,%.3e,%.3f,%.4f,%.3f,%.1f,%s\n", (int)b->dim,
                        (int)b->order, (int)b->n, (int)n, b->sine ? "sin" : "one", single ? "single" : "double", (int)its,
                        reason > 0 && reason != KSP_CONVERGED_ITS ? "yes" : "no", (double)(norm[1] / norm[0]), (double)error, setup,
                        best, n / best * 1e-9, (total - available) * 1e-9, ksptype));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench     b                = {3, 7, 8, 3, PETSC_TRUE, PETSC_FALSE, 1e-9};
  PetscInt  cells[MAX_CASES] = {8}, orders[MAX_CASES], ncells = MAX_CASES, ncases = MAX_CASES, nprecisions = 2;
  char     *precisions[2] = {NULL, NULL}, *cases[MAX_CASES], rhs[16] = "sin";
  PetscBool set, both, one;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &b.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &b.order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &b.repeat, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", cells, &ncells, &set));
  if (!set) ncells = 1;
  for (PetscInt c = 0; c < ncells; ++c) orders[c] = b.order;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-cases", cases, &ncases, &set));
  if (set) {
    ncells = ncases;
    for (PetscInt c = 0; c < ncases; ++c) {
      int  p, n;
      char rest;

      PetscCheck(sscanf(cases[c], "%d:%d%c", &p, &n, &rest) == 2, PETSC_COMM_SELF, PETSC_ERR_USER,
                 "-cases are an order, a colon, and a number of cells, such as 7:64, not %s", cases[c]);
      orders[c] = p;
      cells[c]  = n;
      PetscCall(PetscFree(cases[c]));
    }
  }
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-precision", precisions, &nprecisions, &set));
  both = set ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rhs", rhs, sizeof(rhs), NULL));
  PetscCall(PetscStrcmp(rhs, "sin", &b.sine));
  PetscCall(PetscStrcmp(rhs, "one", &one));
  PetscCheck(b.sine || one, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-rhs is sin or one, not %s", rhs);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &b.rtol, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-breakdown", &b.breakdown, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "solve,dim,order,cells,unknowns,rhs,precision,iterations,converged,residual,l2_error,"
                                         "setup_s,solve_s,gdof_per_s,device_gb,ksp\n"));
  if (b.breakdown) PetscCall(PetscPrintf(PETSC_COMM_SELF, "breakdown,dim,order,cells,precision,level,kind,seconds,ksp\n"));
  for (PetscInt c = 0; c < ncells; ++c) {
    b.order = orders[c];
    b.n     = cells[c];
    if (both) {
      PetscCall(Run(&b, PETSC_FALSE));
      PetscCall(Run(&b, PETSC_TRUE));
    } else
      for (PetscInt i = 0; i < nprecisions; ++i) {
        PetscBool single;

        PetscCall(PetscStrcmp(precisions[i], "single", &single));
        PetscCall(Run(&b, single));
      }
  }
  for (PetscInt i = 0; i < 2 && !both; ++i) PetscCall(PetscFree(precisions[i]));
  PetscCall(PetscFinalize());
  return 0;
}
#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif
