static char help[] =
  "The smoothers of PCLOR's own V-cycle on a device: -Laplace u = f with u = 0 on the boundary, CG, one hierarchy for each\n\
  number of sweeps.\n\
  -mesh <cube,kershaw> : the unit cube; the same with the cells of Kershaw's mesh (default cube). With -dm_plex_filename a file\n\
                         instead\n\
  -cells <n>           : cells per direction (default 8)\n\
  -epsilon <e>         : least over mean height of Kershaw's cells (default 0.3)\n\
  -order <p>           : polynomial order (default 6)\n\
  -repeat <n>          : solves of which the fastest counts (default 3)\n\
  -csv <file>          : append the rows to a file\n\n";

#include <hops.h>
#include <petscksp.h>
#include <petsctime.h>
#include <petscdevice.h>
#include "kershaw.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

typedef struct {
  char      mesh[PETSC_MAX_PATH_LEN];
  PetscInt  cells, order, repeat;
  PetscReal epsilon;
  FILE     *csv;
} Case;

static double Now(void)
{
  PetscLogDouble t;

#if defined(PETSC_HAVE_CUDA)
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) (void)cudaDeviceSynchronize();
#endif
  (void)PetscTime(&t);
  return t;
}

static PetscErrorCode CreateMesh(Case *c, DM *dm)
{
  PetscBool kershaw;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(PetscStrcmp(c->mesh, "kershaw", &kershaw));
  if (kershaw) {
    Vec          v;
    PetscScalar *x;
    PetscInt     n;

    PetscCall(DMGetCoordinatesLocal(*dm, &v));
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetArray(v, &x));
    for (PetscInt i = 0; i < n; i += 3) Kershaw(c->epsilon, x + i);
    PetscCall(VecRestoreArray(v, &x));
    PetscCall(DMSetCoordinatesLocal(*dm, v));
  }
  PetscFunctionReturn(0);
}

/* iterations and seconds of a solve with the cycle as it is, and seconds of the cycle; `sweeps` is hypre's
   number */
static PetscErrorCode Time(Case *c, KSP ksp, Vec b, Vec x, PetscInt degree, PetscInt sweeps)
{
  PC                 pc;
  KSPConvergedReason reason;
  PCLORCycle         runs;
  PetscInt           its, N;
  double             solve = 1e9, apply = 1e9;
  const char *const  precision[] = {"hypre", "double", "single"};

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCLORGetCycle(pc, &runs, NULL));
  for (PetscInt i = 0; i <= c->repeat; ++i) {
    double t = Now();

    PetscCall(KSPSolve(ksp, b, x));
    if (i) solve = PetscMin(solve, Now() - t);
    t = Now();
    for (PetscInt k = 0; k < 10; ++k) PetscCall(PCApply(pc, b, x));
    if (i) apply = PetscMin(apply, (Now() - t) / 10.0);
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecGetSize(x, &N));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%-10s %-8s %" PetscInt_FMT " sweep%s of %s %" PetscInt_FMT ": %3" PetscInt_FMT
                        " iterations%s, solve %.4f s, cycle %.5f s\n",
                        c->mesh, precision[runs], sweeps, sweeps > 1 ? "s" : " ", degree ? "Chebyshev" : "Jacobi   ", degree, its,
                        reason > 0 ? "" : " NOT CONVERGED", solve, apply));
  if (c->csv)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c->csv,
                           "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                           ",%.6f,%.6f\n",
                           c->mesh, c->order, N, precision[runs], sweeps, degree, its, solve, apply));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Case *c, Mat A, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  for (PetscInt sweeps = 1; sweeps <= 2; ++sweeps) {
    KSP    ksp;
    PC     pc;
    char   number[8];
    double t;

    PetscCall(PetscSNPrintf(number, sizeof(number), "%" PetscInt_FMT, sweeps));
    PetscCall(PetscOptionsSetValue(NULL, "-lor_pc_hypre_boomeramg_grid_sweeps_all", number));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-8, 0.0, 1e50, 1000));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_JACOBI, PETSC_DECIDE));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    t = Now();
    PetscCall(KSPSetUp(ksp));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s set-up %.4f s\n", c->mesh, Now() - t));
    for (PetscInt cycle = PCLOR_CYCLE_HYPRE; cycle <= PCLOR_CYCLE_SINGLE; ++cycle) {
      PCLORCycle runs;

      PetscCall(PCLORSetCycle(pc, (PCLORCycle)cycle));
      PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_JACOBI, PETSC_DECIDE));
      PetscCall(PCLORGetCycle(pc, &runs, NULL));
      PetscCall(Time(c, ksp, b, x, 0, sweeps));
      for (PetscInt degree = 1; degree <= 4 && sweeps == 1 && runs != PCLOR_CYCLE_HYPRE; ++degree) {
        PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_CHEBYSHEV, degree));
        PetscCall(Time(c, ksp, b, x, degree, sweeps));
      }
      PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_JACOBI, PETSC_DECIDE));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case            c = {"cube", 8, 6, 3, 0.3, NULL};
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient kappa;
  Mat             A;
  Vec             x, b;
  PetscScalar     one = 1.0;
  PetscInt        id  = 1;
  PetscBool       set, gmsh;
  char            file[PETSC_MAX_PATH_LEN], text[128];
  PetscRandom     r;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", c.mesh, sizeof(c.mesh), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &c.cells, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &c.order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &c.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-epsilon", &c.epsilon, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_filename", &gmsh));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", file, sizeof(file), &set));
  if (set) {
    PetscBool exists;

    PetscCall(PetscTestFile(file, 'r', &exists));
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "a", &c.csv));
    if (!exists)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, c.csv, "mesh,order,unknowns,precision,sweeps,degree,iterations,solve,cycle\n"));
  }
  if (gmsh) PetscCall(PetscStrncpy(text, "-dm_plex_simplex 0", sizeof(text)));
  else
    PetscCall(PetscSNPrintf(text, sizeof(text),
                            "-dm_plex_simplex 0 -dm_plex_dim 3 -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT
                            ",%" PetscInt_FMT,
                            c.cells, c.cells, c.cells));
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(CreateMesh(&c, &dm));
  PetscCall(DMCreateLabel(dm, "boundary of the bench"));
  PetscCall(DMGetLabel(dm, "boundary of the bench", &label));
  PetscCall(DMPlexMarkBoundaryFaces(dm, id, label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(HopsSpaceCreateH1(dm, c.order, label, 1, &id, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(b, r));
  PetscCall(Run(&c, A, b, x));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  if (c.csv) PetscCall(PetscFClose(PETSC_COMM_WORLD, c.csv));
  PetscCall(PetscFinalize());
  return 0;
}
