static char help[] =
  "A code with a matrix of its own, -pc_type lor among the options of a solver that it does not touch, and a space that a matrix\n\
or a DM carries.\n\
  -dim <d> -order <p> -cells <n,n,n> -spread : the mesh, as arrays\n\
  -carrier <mat|amat|dm|matdm>               : who carries the space\n\
  -shell, -nodiagonal                        : a shell in place of an assembled matrix, without a diagonal\n\
  -list <bool>                               : the space knows its essential unknowns\n\
  -rows <identity|rows|scaled|none>          : Dirichlet rows, with columns; without; with -diag on the diagonal; none\n\
  -diag <d>                                  : 37 by default\n\
  -islands                                   : some rows inside have a diagonal entry alone, too\n\
  -untold                                    : nobody attaches the null space either\n\
  -kappa <smooth|power|jump>                 : the coefficient that nobody tells\n\
  -errors                                    : what is refused\n\n";

#include "boxarrays.h"
#include "hopsexpect.h"
#include <petscdmshell.h>
#include <hops/private/petscshim.h>

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellDiagonal(Mat S, Vec d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatGetDiagonal(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateShell(Mat A, PetscBool diagonal, Mat *S)
{
  PetscInt n, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, A, S));
  PetscCall(MatShellSetOperation(*S, MATOP_MULT, (HopsVoidFn)ShellMult));
  if (diagonal) PetscCall(MatShellSetOperation(*S, MATOP_GET_DIAGONAL, (HopsVoidFn)ShellDiagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Power(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = PetscPowReal(10.0, 4.0 * x[0]);
  return PETSC_SUCCESS;
}

/* on straight cells, an even number of them in x */
static PetscErrorCode Jump(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = x[0] > 0.5 ? 1e4 : 1.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode CreateSpace(const Box *b, PetscBool spread, PetscBool essential, HopsSpace *sp)
{
  BoxArrays a;

  PetscFunctionBeginUser;
  PetscCall(BoxArraysCreate(b, spread, essential, &a));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a.nc, a.owned, a.nodes, a.coords, a.ness, a.ess, sp));
  PetscCall(BoxArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the user's matrix, whose Dirichlet rows PETSc makes */
static PetscErrorCode CreateMatrix(const Box *b, PetscBool spread, HopsPointFunction kappa, const char rows[], Mat *A)
{
  BoxArrays       a;
  HopsSpace       sp;
  HopsCoefficient cf;
  MatNullSpace    constants;
  Mat             PA;
  PetscBool       none, alone, scaled, islands;

  PetscFunctionBeginUser;
  PetscCall(CreateSpace(b, spread, PETSC_FALSE, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, kappa, NULL, &cf));
  PetscCall(MatCreatePA(sp, &PA));
  PetscCall(MatPASetDiffusion(PA, cf));
  PetscCall(MatConvert(PA, MATAIJ, MAT_INITIAL_MATRIX, A));
  PetscCall(PetscStrcmp(rows, "none", &none));
  PetscCall(PetscStrcmp(rows, "rows", &alone));
  PetscCall(PetscStrcmp(rows, "scaled", &scaled));
  PetscCall(BoxArraysCreate(b, spread, PETSC_TRUE, &a));
  if (none) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(*A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  } else if (alone) PetscCall(MatZeroRows(*A, a.ness, a.ess, 1.0, NULL, NULL));
  else {
    PetscReal diag = 37.0;

    PetscCall(PetscOptionsGetReal(NULL, NULL, "-diag", &diag, NULL));
    PetscCall(MatZeroRowsColumns(*A, a.ness, a.ess, scaled ? diag : 1.0, NULL, NULL));
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-islands", &islands));
  if (islands) { /* unknowns that are not in use, as those of constraints in other codes */
    PetscInt start, end, *rows, n = 0;

    PetscCall(MatGetOwnershipRange(*A, &start, &end));
    PetscCall(PetscMalloc1(end - start, &rows));
    for (PetscInt i = start; i < end; i += 7) rows[n++] = i;
    PetscCall(MatZeroRowsColumns(*A, n, rows, 1e4, NULL, NULL));
    PetscCall(PetscFree(rows));
  }
  PetscCall(BoxArraysDestroy(&a));
  PetscCall(MatDestroy(&PA));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the solver of options alone finds what the matrix was multiplied with */
static PetscErrorCode Solve(Mat A, Mat P, PetscBool untold, KSP ksp, PetscInt most)
{
  Vec          x, y, b;
  PetscRandom  r;
  PetscReal    error, norm;
  PetscInt     its;
  MatNullSpace nsp;

  PetscFunctionBeginUser;
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatGetNullSpace(A, &nsp));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(PetscObjectReference((PetscObject)nsp));
  if (untold) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetNullSpace(P, NULL));
  }
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(y, -1.0, x));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, y));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, solution %s\n", its > 2 && its <= most ? "iterations as expected" : "ITERATIONS",
                        error < 1e-7 * norm ? "right" : "WRONG"));
  if (its <= 2 || its > most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", its));
  if (error >= 1e-7 * norm) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %g\n", (double)(error / norm)));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(MatNullSpaceDestroy(&nsp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attach(const char carrier[], HopsSpace sp, Mat A, Mat P, KSP ksp)
{
  PetscBool is;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(carrier, "mat", &is));
  if (is) PetscCall(MatSetHopsSpace(P, sp));
  PetscCall(PetscStrcmp(carrier, "amat", &is));
  if (is) PetscCall(MatSetHopsSpace(A, sp));
  PetscCall(PetscStrcmp(carrier, "dm", &is));
  if (is) {
    PetscCall(DMShellCreate(PETSC_COMM_WORLD, &dm));
    PetscCall(DMSetHopsSpace(dm, sp));
    PetscCall(KSPSetDM(ksp, dm));
    PetscCall(HopsKSPSetDMInactive(ksp));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PetscStrcmp(carrier, "matdm", &is));
  if (is) {
    PetscCall(DMShellCreate(PETSC_COMM_WORLD, &dm));
    PetscCall(DMSetHopsSpace(dm, sp));
    PetscCall(MatSetDM(P, dm));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewPC(Mat A, HopsSpace sp, PCType type, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(MatSetHopsSpace(A, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(const Box *b)
{
  HopsSpace sp, other;
  BoxArrays a;
  PetscInt  n, *list;
  DM        dm, clone;
  Mat       A, S, Z;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(b, PETSC_FALSE, TestKappa, "identity", &A));
  PetscCall(NewPC(A, NULL, PCLOR, &pc));
  EXPECT("no space", PCSetUp(pc), "finds no finite element space|MatSetHopsSpace()|DMSetHopsSpace()");
  PetscCall(BoxArraysCreate(b, PETSC_FALSE, PETSC_TRUE, &a));
  --a.ness; /* every rank lists some */
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a.nc, a.owned, a.nodes, a.coords, a.ness, a.ess, &sp));
  PetscCall(NewPC(A, sp, PCLOR, &pc));
  EXPECT("a list that lacks some", PCSetUp(pc), "is a Dirichlet row|list all of them, or none");
  ++a.ness;
  PetscCall(PetscMalloc1(a.ness + 1, &list));
  PetscCall(PetscArraycpy(list, a.ess, a.ness));
  list[a.ness] = a.nodes[b->p + 2]; /* inside of the first cell of this rank */
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a.nc, a.owned, a.nodes, a.coords, a.ness + 1, list, &sp));
  PetscCall(PetscFree(list));
  PetscCall(NewPC(A, sp, PCLOR, &pc));
  EXPECT("a list with a row that couples", PCSetUp(pc), "its row of the operator couples it|leave it out");
  PetscCall(CreateSpace(b, PETSC_FALSE, PETSC_FALSE, &sp));
  PetscCall(NewPC(A, sp, PCPATCHFD, &pc));
  EXPECT("patches without a form", PCSetUp(pc), "has a space but no form");
  PetscCall(CreateShell(A, PETSC_FALSE, &S));
  PetscCall(NewPC(S, sp, PCLOR, &pc));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_scale diagonal"));
  PetscCall(PCSetFromOptions(pc));
  EXPECT("no diagonal", PCSetUp(pc), "which a matrix of type shell does not give|MATOP_GET_DIAGONAL");
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &Z));
  PetscCall(MatScale(Z, -1.0));
  PetscCall(NewPC(Z, sp, PCLOR, &pc));
  PetscCall(PCSetFromOptions(pc));
  EXPECT("a negative diagonal", PCSetUp(pc), "cannot scale|-pc_lor_scale none");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_scale"));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &Z));
  PetscCall(MatZeroRows(Z, a.ness, a.ess, 0.0, NULL, NULL));
  PetscCall(NewPC(Z, sp, PCLOR, &pc));
  EXPECT("rows of zeros", PCSetUp(pc), "of the operator is zero|MatSetNullSpace()");
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatCreateMFFD(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, &Z));
  PetscCall(NewPC(Z, sp, PCLOR, &pc));
  EXPECT("finite differences", PCSetUp(pc), "MATMFFD|list them");
  PetscCall(CreateMatrix(b, PETSC_FALSE, TestKappa, "none", &Z));
  PetscCall(MatSetNullSpace(Z, NULL));
  PetscCall(MatShift(Z, 1e-3));
  PetscCall(NewPC(Z, sp, PCLOR, &pc));
  EXPECT("mass alone keeps it regular", PCSetUp(pc), "low-order-refined matrix is singular|-pc_lor_mass");
  {
    const PetscScalar minus = -1.0;
    HopsCoefficient   cf;

    PetscCall(NewPC(A, sp, PCLOR, &pc));
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &minus, &cf));
    PetscCall(PCLORSetCoefficients(pc, cf, NULL));
    EXPECT("a negative diffusion", PCSetUp(pc), "diffusion coefficient that was told|negative somewhere");
  }
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_mass -1"));
  EXPECT("a negative mass", PCSetFromOptions(pc), "-pc_lor_mass|not negative");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_mass"));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &other));
  PetscCall(HopsSpaceGetDM(other, &clone));
  EXPECT("a DM's own space", DMSetHopsSpace(clone, other), "made from this DM|leave DMSetHopsSpace() out");
  PetscCall(DMSetHopsSpace(dm, other)); /* the space is that of a clone */
  PetscCall(DMGetHopsSpace(dm, &sp));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the DM %s the space\n", sp == other ? "has" : "HAS NOT"));
  PetscCall(MatSetHopsSpace(A, other));
  PetscCall(MatGetHopsSpace(A, &sp));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the matrix %s the space\n", sp == other ? "has" : "HAS NOT"));
  PetscCall(MatSetHopsSpace(A, NULL));
  PetscCall(MatGetHopsSpace(A, &sp));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "and %s\n", sp ? "STILL HAS" : "no longer"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Box          box = {.dim = 2, .p = 4, .cells = {4, 3, 2}};
  PetscInt     nn = 3, most = 30;
  PetscBool    spread = PETSC_FALSE, shell = PETSC_FALSE, nodiagonal = PETSC_FALSE, list = PETSC_TRUE, errors = PETSC_FALSE;
  PetscBool    power, jump, untold = PETSC_FALSE;
  char         carrier[16] = "mat", rows[16] = "identity", kappa[16] = "smooth";
  HopsSpace    sp;
  MatNullSpace nsp;
  Mat          A, P;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &box.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &box.p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", box.cells, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spread", &spread, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shell", &shell, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-carrier", carrier, sizeof(carrier), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nodiagonal", &nodiagonal, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &list, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-untold", &untold, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rows", rows, sizeof(rows), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kappa", kappa, sizeof(kappa), NULL));
  PetscCall(PetscStrcmp(kappa, "power", &power));
  PetscCall(PetscStrcmp(kappa, "jump", &jump));
  box.straight = jump;
  PetscCall(BoxSetUp(&box));
  if (errors) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Errors(&box));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(CreateSpace(&box, spread, list, &sp));
  PetscCall(CreateMatrix(&box, spread, power ? Power : (jump ? Jump : TestKappa), rows, &P));
  if (shell) PetscCall(CreateShell(P, nodiagonal ? PETSC_FALSE : PETSC_TRUE, &A));
  else PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &A));
  PetscCall(MatGetNullSpace(P, &nsp)); /* no copy has it */
  PetscCall(MatSetNullSpace(A, nsp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, shell ? A : P));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(Attach(carrier, sp, A, shell ? A : P, ksp));
  PetscCall(HopsSpaceDestroy(&sp)); /* who carries it keeps it */
  PetscCall(Solve(A, P, untold, ksp, most));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -ksp_type cg -pc_lor_diffusion 1
    output_file: output/attach_1.out
    test:
      suffix: carrier
      args: -pc_type lor -carrier {{mat amat dm matdm}} -order 5
      nsize: {{1 3}}
    test:
      suffix: hidden
      args: -pc_type ksp -ksp_ksp_type preonly -ksp_pc_type composite -ksp_pc_composite_pcs lor -ksp_sub_0_pc_lor_diffusion 1
        -options_left 0 -carrier {{mat matdm}}
      nsize: {{1 2}}
    test:
      suffix: 3d
      args: -pc_type lor -dim 3 -order 3
      nsize: {{1 4}}
    test:
      suffix: empty
      args: -pc_type lor -cells 2,1,1 -shell
      nsize: 3

  testset:
    nsize: {{1 2}}
    args: -ksp_type cg -pc_type lor -pc_lor_diffusion 1 -pc_lor_mass 0.1 -ksp_view
    filter: grep -E "space and form|solution"
    test:
      suffix: view_mat
    test:
      suffix: view_dm
      args: -carrier dm

  testset:
    args: -ksp_type cg -pc_type lor -list 0
    output_file: output/attach_1.out
    test:
      suffix: found
      args: -order {{1 5}} -rows {{identity scaled}}
      nsize: {{1 3 4}}
    test:
      suffix: found_3d
      args: -dim 3 -order 3 -cells 3,2,2
      nsize: {{1 2}}
    test:
      suffix: found_empty
      args: -cells 2,1,1
      nsize: 3
    test:
      suffix: found_shell
      args: -shell -nodiagonal {{0 1}}
      nsize: {{1 2}}
    test:
      suffix: found_shell_scaled
      args: -shell -nodiagonal -rows scaled -diag {{1e-6 1e8}} -ksp_norm_type natural
      nsize: {{1 2}}
    test:
      suffix: islands
      args: -islands -shell -nodiagonal {{0 1}}
      nsize: {{1 3}}
    test:
      suffix: listed_scaled
      args: -list 1 -rows scaled -diag 1e8 -pc_lor_diffusion 1
      nsize: {{1 2}}
    test:
      suffix: found_rows
      args: -rows rows -ksp_type gmres -ksp_rtol 1e-12
      nsize: {{1 2}}
    test:
      suffix: power
      args: -kappa power -order 4 -cells 8,8 -most 30
      nsize: {{1 3}}
    test:
      suffix: power_mass
      args: -kappa power -order 4 -cells 8,8 -most 30 -pc_lor_mass 1e-6
    test:
      suffix: jump
      args: -kappa jump -order 4 -cells 8,8 -most 55
      nsize: {{1 2}}
    test:
      suffix: neumann
      args: -rows none -kappa power -cells 6,6 -most 40
      nsize: {{1 3}}
    test:
      suffix: untold
      args: -rows none -untold -order {{4 6}} -cells 4,4 -ksp_type {{cg gmres}}
      nsize: {{1 3}}

  test:
    suffix: view_found
    args: -ksp_type cg -pc_type lor -list 0 -ksp_view
    filter: grep -E "essential unknowns|coefficient|not scaled|scaled by|solution"
    nsize: {{1 2}}

  test:
    suffix: view_unscaled
    args: -ksp_type cg -pc_type lor -list 0 -ksp_view -shell -nodiagonal
    filter: grep -E "essential unknowns|coefficient|not scaled|scaled by|solution"

  test:
    suffix: errors
    args: -errors -dm_plex_simplex 0 -dm_plex_dim 2 -malloc_dump 0
    nsize: {{1 2}}

TEST*/
