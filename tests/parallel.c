static char help[] =
  "Operator, diagonal, low-order-refined matrix and right-hand side do not depend on the number of ranks or on the numbering.\n\
  -order <p> -curved -fe (the numbering of a PetscFE) \n\n";

#include "hopstest.h"
#include <petscfe.h>
#include <petscds.h>

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(3.0 * x[0]) + x[1] * x[0] + (dim > 2 ? PetscCosReal(2.0 * x[2]) : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0] - x[1]) + (dim > 2 ? x[2] * x[2] : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode Form(Mat A, Vec u, Vec v, Vec w, const char name[])
{
  PetscScalar a;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, u, w));
  PetscCall(VecDot(v, w, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %.10g\n", name, (double)a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Boundary(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 0.0;
  return PETSC_SUCCESS;
}

/* the same Dirichlet condition through a PetscFE and a PetscDS */
static PetscErrorCode SpaceFE(DM dm, PetscInt p, HopsSpace *sp)
{
  PetscFE  fe;
  PetscInt dim, one = 1;
  DMLabel  label;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PetscObjectComm((PetscObject)dm), dim, 1, PETSC_FALSE, p, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 0, NULL, (HopsVoidFn)Boundary, NULL, NULL, NULL));
  PetscCall(HopsSpaceCreateFromDM(dm, sp));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM              dm;
  DMLabel         label;
  PetscInt        dim, p = 3, one = 1, n, N, *cells, *faces;
  PetscBool       curved = PETSC_FALSE, usefe = PETSC_FALSE;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  Mat             A, L;
  PC              pc;
  Vec             u, v, w;
  PetscScalar     a;
  PetscReal       e;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fe", &usefe, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (usefe) PetscCall(SpaceFE(dm, p, &sp));
  else PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
  PetscCall(HopsSpaceGetSizes(sp, NULL, &N));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns %" PetscInt_FMT "\n", N));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(HopsSpaceGetLabelFaces(sp, label, 2, &n, &cells, &faces));
  PetscCall(MatPAAddRobin(A, n, cells, faces, mass));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(Form(A, u, v, w, "v.Au"));
  PetscCall(MatGetDiagonal(A, w));
  PetscCall(VecPointwiseMult(w, w, u));
  PetscCall(VecDot(w, v, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "v.diag(A)u %.10g\n", (double)a));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetDropTolerance(pc, 0.0));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(Form(L, u, v, w, "v.Lu"));
  PetscCall(MatGetDiagonal(L, w));
  PetscCall(VecPointwiseMult(w, w, u));
  PetscCall(VecDot(w, v, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "v.diag(L)u %.10g\n", (double)a));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, V, NULL, w));
  PetscCall(MatPALiftEssential(A, w));
  PetscCall(VecDot(w, v, &a));
  PetscCall(HopsSpaceComputeL2Error(sp, u, V, NULL, &e));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "v.b %.10g, norm of u - v %.10g\n", (double)a, (double)e));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j
    args: -pc_lor_mat_type aij -lor_pc_type jacobi

    testset:
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -curved -dm_coord_petscspace_degree 2 -order 4
      output_file: output/parallel_2d.out
      test:
        suffix: 2d
        nsize: {{1 2 3 4}}
      test:
        suffix: 2d_fe
        nsize: {{1 3}}
        args: -fe
      test:
        suffix: 2d_overlap
        nsize: 3
        args: -dm_distribute_overlap 1

    testset:
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -curved -dm_coord_petscspace_degree 2 -order 3
      output_file: output/parallel_3d.out
      test:
        suffix: 3d
        nsize: {{1 2 3 4}}
      test:
        suffix: 3d_fe
        nsize: {{1 4}}
        args: -fe

    testset:
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -order 4
      output_file: output/parallel_empty.out
      test:
        suffix: empty
        nsize: {{1 3}}

    testset:
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 3
      output_file: output/parallel_solid.out
      test:
        suffix: solid
        nsize: {{1 3}}
      test:
        suffix: solid_fe
        nsize: {{1 4}}
        args: -fe

    testset:
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order 5
      output_file: output/parallel_plate.out
      test:
        suffix: plate
        nsize: {{1 4}}
      test:
        suffix: plate_fe
        nsize: {{1 3}}
        args: -fe

TEST*/
