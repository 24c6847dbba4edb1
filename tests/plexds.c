static char help[] =
  "A DMPlex, PetscFE and PetscDS code: MATPA against PETSc's own assembled Jacobian, and PCLOR on that Jacobian.\n\
  -form <plain,convection,state,boundary,label,dynamic,inside,tensor> : the form; only plain and boundary have nothing to\n\
                                                                        refuse\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t

/* two regions: outside and inside the stratum of a label; the tensor depends on position and on a constant */
static void G3(PetscReal scale, PetscInt dim, const PetscReal x[], const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) g[i * dim + j] = scale * (i == j ? 1.0 + i + constants[0] * x[0] * x[0] : 0.3);
}

static void g3(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  G3(1.0, dim, x, constants, g);
}

static void g3inner(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  G3(10.0, dim, x, constants, g);
}

static void g3state(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  G3(1.0 + u[0] * u[0], dim, x, constants, g);
}

static void g3nonsymmetric(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  G3(1.0, dim, x, constants, g);
  g[1] += 0.1;
}

static void g0(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  g[0] = 2.0 + x[1];
}

static void g1(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  g[0] = 1.0;
}

static void g0bd(POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[],
                 PetscScalar g[])
{
  g[0] = 1.0 + n[0] * x[1] + 0.5 * n[1];
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 0.0;
  return PETSC_SUCCESS;
}

/* a region of its own, in which the diffusion is ten times as large */
static PetscErrorCode AddRegion(DM dm, PetscFE fe, PetscBool overlap, const PetscScalar constants[])
{
  DMLabel       label[2];
  PetscInt      cStart, cEnd, dim;
  PetscDS       ds;
  PetscWeakForm wf;
  IS            fields; /* without it PETSc looks for the fields of a region in vain */
  PetscBool     unlabelled = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "outer"));
  PetscCall(DMGetLabel(dm, "outer", &label[0]));
  PetscCall(DMCreateLabel(dm, "inner"));
  PetscCall(DMGetLabel(dm, "inner", &label[1]));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3];

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, x, NULL));
    PetscCall(DMLabelSetValue(label[(x[0] < 0.5) == (x[1] < 0.5) ? 1 : 0], c, 1));
  }
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-unlabelled", &unlabelled, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 1, 0, 1, &fields));
  if (!overlap) { /* PETSc looks the functions of a region up by its label and value 1 */
    PetscCall(HopsDMSetRegionNumDS(dm, 0, label[0], fields, ds));
    PetscCall(PetscDSGetWeakForm(ds, &wf));
    PetscCall(PetscWeakFormSetIndexJacobian(wf, label[0], 1, 0, 0, 0, 0, g0, 0, NULL, 0, NULL, 0, g3));
  }
  PetscCall(PetscDSCreate(PETSC_COMM_SELF, &ds));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscDSSetCoordinateDimension(ds, dim));
  PetscCall(PetscDSSetDiscretization(ds, 0, (PetscObject)fe));
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  if (unlabelled) PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, NULL, NULL, g3inner));
  else PetscCall(PetscWeakFormSetIndexJacobian(wf, label[1], 1, 0, 0, 0, 0, g0, 0, NULL, 0, NULL, 0, g3inner));
  PetscCall(PetscDSSetConstants(ds, 1, (PetscScalar *)constants));
  PetscCall(PetscDSSetUp(ds));
  PetscCall(HopsDMSetRegionDS(dm, label[1], fields, ds));
  PetscCall(ISDestroy(&fields));
  PetscCall(PetscDSDestroy(&ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a face between two cells gets value 2 */
static PetscErrorCode MarkInside(DM dm, DMLabel faces)
{
  PetscInt fStart, fEnd;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  for (PetscInt f = fStart; f < fEnd; ++f) {
    PetscInt n;

    PetscCall(DMPlexGetSupportSize(dm, f, &n));
    if (n != 2) continue;
    PetscCall(DMLabelSetValue(faces, f, 2));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetForm(DM dm, const char form[])
{
  PetscFE           fe;
  PetscDS           ds;
  DMLabel           faces;
  PetscInt          dim, one = 1, other = 2;
  PetscBool         convection, state, boundary, label, dynamic, inside, tensor, region = PETSC_FALSE, overlap = PETSC_FALSE;
  const PetscScalar constants[1] = {0.7};

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(form, "convection", &convection));
  PetscCall(PetscStrcmp(form, "state", &state));
  PetscCall(PetscStrcmp(form, "boundary", &boundary));
  PetscCall(PetscStrcmp(form, "label", &label));
  PetscCall(PetscStrcmp(form, "dynamic", &dynamic));
  PetscCall(PetscStrcmp(form, "inside", &inside));
  PetscCall(PetscStrcmp(form, "tensor", &tensor));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PetscObjectComm((PetscObject)dm), dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetConstants(ds, 1, (PetscScalar *)constants));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-region", &region, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-overlap", &overlap, NULL));
  if (!region || overlap)
    PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, convection ? g1 : NULL, NULL, state ? g3state : (tensor ? g3nonsymmetric : g3)));
  PetscCall(DMGetLabel(dm, "Face Sets", &faces));
  PetscCall(DMPlexLabelComplete(dm, faces));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", faces, 1, &one, 0, 0, NULL, (HopsVoidFn)Zero, NULL, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-key", &other, NULL));
  if (inside) PetscCall(MarkInside(dm, faces));
  if (boundary || inside) {
    PetscInt      bd, two = 2;
    PetscWeakForm wf;

    PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "robin", faces, 1, &two, 0, 0, NULL, NULL, NULL, NULL, &bd));
    PetscCall(PetscDSGetBoundary(ds, bd, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, other, 0, 0, 0, 0, g0bd, 0, NULL, 0, NULL, 0, NULL));
  }
  if (dynamic) {
    PetscWeakForm wf;

    PetscCall(PetscDSGetWeakForm(ds, &wf));
    PetscCall(PetscWeakFormSetIndexDynamicJacobian(wf, faces, 3, 0, 0, 0, 0, g0, 0, NULL, 0, NULL, 0, NULL));
  }
  if (label) {
    PetscWeakForm wf;

    PetscCall(PetscDSGetWeakForm(ds, &wf));
    PetscCall(PetscWeakFormSetIndexJacobian(wf, faces, 3, 0, 0, 0, 0, g0, 0, NULL, 0, NULL, 0, NULL));
  }
  if (region) PetscCall(AddRegion(dm, fe, overlap, constants));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM          dm;
  SNES        snes;
  KSP         ksp;
  HopsSpace   sp;
  Mat         J, A;
  Vec         u, x, y, z;
  PetscReal   e, n;
  PetscInt    its;
  PetscRandom r;
  PetscBool   straight = PETSC_FALSE;
  char        form[32] = "plain";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-form", form, sizeof(form), NULL));
  /* on curved faces PETSc takes the geometry of one point */
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  PetscCall(SetForm(dm, form));
  PetscCall(HopsSpaceCreateFromDM(dm, &sp));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetFromDS(A, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecSet(u, 0.0));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(SNESSetSolution(snes, u));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeJacobian(snes, u, J, J));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(VecDuplicate(u, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(J, x, z));
  PetscCall(VecNorm(z, NORM_2, &n));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &e));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MATPA %s PETSc's Jacobian\n", e <= 1e-12 * n ? "agrees with" : "DIFFERS from"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(HopsKSPSetDMInactive(ksp));
  PetscCall(KSPSetOperators(ksp, J, J));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, x, y));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(MatMult(J, y, z));
  PetscCall(VecAXPY(z, -1.0, x));
  PetscCall(VecNorm(z, NORM_2, &e));
  PetscCall(VecNorm(x, NORM_2, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PCLOR on it: %s in %s iterations\n", e < 1e-6 * n ? "converged" : "DID NOT CONVERGE",
                        its <= 40 ? "at most 40" : "MORE THAN 40"));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_type lor
    output_file: output/plexds_plain.out
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -dm_coord_petscspace_degree 2 -petscspace_degree {{1 4}}
    test:
      suffix: 3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -dm_coord_petscspace_degree 2 -petscspace_degree 3
    test:
      suffix: boundary
      nsize: {{1 3}}
      args: -form boundary -straight -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -petscspace_degree {{1 3}}
    test:
      suffix: region
      nsize: {{1 2}}
      args: -region -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,2 -dm_coord_petscspace_degree 2 -petscspace_degree 3

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 2,2 -petscspace_degree 2 -petsc_ci_portable_error_output
    test:
      suffix: convection
      args: -form convection
      filter: grep -oE "first-order term|-pc_lor_ignore convection" | sort -u
    test:
      suffix: state
      args: -form state
      filter: grep -oE "depends on the solution|PCLORSetCoefficients" | sort -u
    test:
      suffix: label
      args: -form label
      filter: grep -oE "value 3 of a label|DMSetRegionDS" | sort -u
    test:
      suffix: dynamic
      args: -form dynamic
      output_file: output/plexds_label.out
      filter: grep -oE "value 3 of a label|DMSetRegionDS" | sort -u
    test:
      suffix: key
      args: -form boundary -key 4
      filter: grep -oE "belongs to no natural boundary condition|DMAddBoundary" | sort -u
    test:
      suffix: inside
      args: -form inside
      filter: grep -oE "lies inside the domain" | sort -u
    test:
      suffix: region_boundary
      args: -form boundary -region
      filter: grep -oE "adds it up once a region" | sort -u
    test:
      suffix: overlap
      args: -region -overlap
      filter: grep -oE "PetscDS for the whole mesh|DMSetRegionNumDS" | sort -u
    test:
      suffix: unlabelled
      args: -region -unlabelled
      filter: grep -oE "function without a label|PetscWeakFormSetIndexJacobian" | sort -u
    test:
      suffix: tensor
      args: -form tensor
      filter: grep -oE "is not symmetric" | sort -u

TEST*/
