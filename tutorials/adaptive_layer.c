static char help[] = "An adaptive mesh with hanging nodes, given as arrays, by hops.\n\
\n\
  -div(grad u) = f on a cube without one of its eighths (a square without a quarter), u = arctan(20 (r - 0.725)), r the\n\
  distance from the re-entrant corner. Cells that meet r = 0.725 are refined, level by level. octree.h stands for p4est:\n\
  it gives nodes, masks and coordinates. With -pc_type hopsmg the meshes of before are the levels of multigrid.\n\
\n\
  -dim <d>         : dimension\n\
  -order <p>       : polynomial order\n\
  -levels <n>      : how often cells are refined\n\
  -maxwell         : curl curl E + E = f in H(curl) on these meshes, E_i = sin(pi x_{i+1})\n\
  -output <file>   : writes the last solution for ParaView (.vtu)\n\n\
  Try: -order 4 -levels 4 -ksp_view -output layer.vtu\n\n";

#include "octreeadapt.h"
#include "tutorial.h"

static PetscReal Radius(PetscInt dim, const PetscReal x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(x[d] - 1.0);
  return PetscSqrtReal(s);
}

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = atan(20.0 * (Radius(dim, x) - 0.725));
  return 0;
}

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal r = PetscMax(Radius(dim, x), 1e-10), s = 20.0 * (r - 0.725), q = 1.0 + s * s;

  f[0] = 800.0 * s / (q * q) - (dim - 1) / r * 20.0 / q;
  return 0;
}

/* curl curl E = pi^2 E; ctx: f instead of E */
static PetscErrorCode E(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar e[], void *ctx)
{
  for (PetscInt i = 0; i < dim; ++i) e[i] = (ctx ? PETSC_PI * PETSC_PI + 1.0 : 1.0) * PetscSinReal(PETSC_PI * x[(i + 1) % dim]);
  return 0;
}

/* does a cell of width h around x meet the layer? */
static PetscBool Layer(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PetscAbsReal(Radius(dim, x) - 0.725) < 0.5 * h * PetscSqrtReal((PetscReal)dim) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

/* The mesh with so many levels, and the space on it: this is all that differs from a uniform mesh. AMS needs
   the nodes of H(curl)'s cells, without essential ones; hopsmg the space of before, on the mesh of before */
static PetscErrorCode CreateSpace(HopsFamily family, PetscInt dim, PetscInt order, PetscInt levels, HangMesh *mesh,
                                  HopsSpace *space)
{
  const PetscInt roots[3] = {2, 2, 2};
  HangMesh       before   = *mesh;
  HopsSpace      coarse   = *space;
  HangArrays     a;

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, roots, PETSC_TRUE, levels, mesh));
  PetscCall(HangAdapt(mesh, 0, levels, 0.0, Layer));
  PetscCall(HangList(mesh, PETSC_FALSE));
  PetscCall(HangFamilyCreate(mesh, family, order, NULL, Everywhere, -1, &a));
  PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, family, dim, order, a.nc, a.owned, a.nodes, a.masks, order,
                                              a.coords, a.ness, a.ess, space));
  if (family == HOPS_H1 && coarse) {
    PetscInt n = 0, *relations;

    PetscCall(HangRelations(&before, mesh, a.first, a.nc, &n, &relations));
    PetscCall(HopsSpaceSetCoarse(*space, coarse, n, relations));
    PetscCall(PetscFree(relations));
  }
  PetscCall(HopsSpaceDestroy(&coarse)); /* the new space keeps it */
  PetscCall(HangDestroy(&before));
  PetscCall(HangArraysDestroy(&a));
  if (family == HOPS_HCURL) {
    HopsSpace nodes;

    PetscCall(HangFamilyCreate(mesh, HOPS_H1, order, NULL, NULL, -1, &a));
    PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, HOPS_H1, dim, order, a.nc, a.owned, a.nodes, a.masks, order,
                                                a.coords, 0, NULL, &nodes));
    PetscCall(HopsSpaceSetCompanion(*space, nodes));
    PetscCall(HopsSpaceDestroy(&nodes));
    PetscCall(HangArraysDestroy(&a));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt          dim = 3, order = 3, levels = 3;
  const PetscScalar one = 1.0;
  char              output[PETSC_MAX_PATH_LEN];
  PetscBool         write, maxwell = PETSC_FALSE;
  HopsCoefficient   kappa;
  HangMesh          mesh  = {0};
  HopsSpace         space = NULL;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "An adaptive mesh", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimension", NULL, dim, &dim, NULL, 2, 3));
  PetscCall(PetscOptionsInt("-order", "Polynomial order", NULL, order, &order, NULL));
  PetscCall(PetscOptionsRangeInt("-levels", "Levels of refinement", NULL, levels, &levels, NULL, 1, HANG_LEVELS));
  PetscCall(PetscOptionsBool("-maxwell", "In H(curl)", NULL, maxwell, &maxwell, NULL));
  PetscCall(PetscOptionsString("-output", "VTU file", NULL, "", output, sizeof(output), &write));
  PetscOptionsEnd();
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  unknowns  iterations     L2 error\n"));
  PetscCall(CreateSpace(maxwell ? HOPS_HCURL : HOPS_H1, dim, order, 0, &mesh, &space));
  for (PetscInt l = 1; l <= levels; ++l) {
    PetscInt  N, its;
    PetscReal error;
    Mat       A;
    Vec       x, b;

    PetscCall(CreateSpace(maxwell ? HOPS_HCURL : HOPS_H1, dim, order, l, &mesh, &space));
    PetscCall(HopsSpaceGetSizes(space, NULL, &N));
    PetscCall(MatCreatePA(space, &A));
    if (maxwell) {
      PetscCall(MatPASetCurlCurl(A, kappa));
      PetscCall(MatPASetMass(A, kappa));
    } else PetscCall(MatPASetDiffusion(A, kappa));
    PetscCall(HopsSpaceCreateVec(space, &x));
    PetscCall(VecDuplicate(x, &b));
    PetscCall(HopsSpaceSetEssentialFunction(space, maxwell ? E : U, NULL));
    PetscCall(HopsSpaceComputeRHS(space, maxwell ? E : F, &maxwell, b));
    PetscCall(MatPALiftEssential(A, b));
    PetscCall(Solve(A, b, x, &its));
    PetscCall(HopsSpaceComputeL2Error(space, x, maxwell ? E : U, NULL, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT "%10" PetscInt_FMT "%12" PetscInt_FMT "%13.3e\n", mesh.n, N, its,
                          (double)error));
    if (write && l == levels) PetscCall(HopsSpaceViewVTU(space, x, maxwell ? "E" : "u", output));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HangDestroy(&mesh));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre
    nsize: {{1 2 4}}
    filter: awk '{print $1, $2, $4, ($3 < 34)}'

    test:
      suffix: 2d
      args: -dim 2 -order 4 -levels 4

    test:
      suffix: multigrid
      args: -dim 2 -order 4 -levels 4 -pc_type hopsmg -mg_levels_ksp_max_it 3

    test:
      suffix: 3d
      args: -dim 3 -order 3 -levels 2 -output adaptive_layer.vtu

    test:
      suffix: maxwell
      args: -maxwell -dim 3 -order 2 -levels 2 -output adaptive_layer.vtu

TEST*/
