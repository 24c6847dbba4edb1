static char help[] =
  "Boundary residuals of a PetscDS by kernels that are compiled at run time, against PETSc's, and Jacobians, against the host's.\n\
  -on <toy,cuda>: where; -layout <0,1>: a scalar; velocity and pressure; -aux: auxiliary fields; -robin: a scalar with g0 alone;\n\
  -curved: cells that are no boxes, whose residuals are left to PETSc;\n\
  -left <why>: what is left to the host: inner (faces inside of the domain), own (auxiliary fields of a condition)\n\n";

#include "pointfields.h"
#include "pointsource.h"
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopspatensorimpl.h>
#include <petscds.h>
#include <petscts.h>

static PetscInt calls;
#define CALLED ++calls
#include "pointfacefunctions.h"

static char Device[16] = "toy", Left[16] = ""; /* the back end that is compared with the host */

/* -nvrtc: CUDA's compiler takes each text, too */
static PetscErrorCode CreateBoth(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *module, char why[],
                                 size_t len)
{
  PetscFunctionBeginUser;
  PetscCall(NvrtcCreate(code, kernels, fma, module, why, len));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(PointToyCreate(code, kernels, fma, module, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode AddAuxiliary(DM dm, DMLabel label, PetscInt value, PetscInt Q)
{
  DM  aux;
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &aux));
  PetscCall(TestAddField(aux, 0, 1, 2, Q));
  PetscCall(DMCreateDS(aux));
  PetscCall(TestProject(aux, 0.1 + value, &v));
  PetscCall(DMSetAuxiliaryVec(dm, label, value, 0, v));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Faces inside of the domain */
static PetscErrorCode AddInner(DM dm, DMLabel label, PetscInt value)
{
  PetscInt fStart, fEnd, ns;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  for (PetscInt f = fStart; f < fEnd; ++f) {
    PetscCall(DMPlexGetSupportSize(dm, f, &ns));
    if (ns == 2) PetscCall(DMLabelSetValue(label, f, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conditions on the sides 1 and 2, which have all functions, and 3; on 2 and 4 for the last field; side 2 has
   two conditions */
static PetscErrorCode AddConditions(DM dm, PetscInt layout, PetscBool robin, PetscInt Q)
{
  const PetscInt sides[2][2] = {{1, 2}, {2, 4}}, three = 3, wall = 4;
  PetscDS        ds;
  PetscWeakForm  wf;
  DMLabel        label;
  PetscInt       b;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "wall", label, 2, sides[0], 0, 0, NULL, NULL, NULL, NULL, &b));
  PetscCall(PetscDSGetBoundary(ds, b, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt v = 0; v < 2; ++v) {
    PetscCall(PetscWeakFormSetIndexBdResidual(wf, label, sides[0][v], 0, 0, 0, f0_wall, 0, robin ? NULL : f1_wall));
    PetscCall(PetscWeakFormSetIndexBdJacobian(wf, label, sides[0][v], 0, 0, 0, 0, g0_wall, 0, robin || v ? NULL : g1_wall, 0,
                                              robin ? NULL : g2_wall, 0, robin ? NULL : g3_wall));
  }
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "other", label, 2, sides[1], layout, 0, NULL, NULL, NULL, NULL, &b));
  PetscCall(PetscDSGetBoundary(ds, b, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt v = 0; v < 2; ++v) {
    PetscCall(PetscWeakFormSetIndexBdResidual(wf, label, sides[1][v], layout, 0, 0, f0_other, 0, NULL));
    PetscCall(PetscWeakFormSetIndexBdResidual(wf, label, sides[1][v], layout, 0, 1, f0_more, 0, NULL));
    PetscCall(PetscWeakFormSetIndexBdJacobian(wf, label, sides[1][v], layout, 0, 0, 0, g0_other, 0, NULL, 0, NULL, 0, NULL));
  }
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "essential", label, 1, &three, 0, 0, NULL, (void (*)(void))Zero, NULL, NULL, NULL));
  if (!strcmp(Left, "own")) PetscCall(AddAuxiliary(dm, label, wall, Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(PetscInt layout, PetscBool robin, PetscBool aux, PetscBool curved, PetscInt order, PetscInt Q,
                               DM *dm)
{
  const PetscScalar constants[2] = {0.7, 0.4};
  PetscDS           ds;
  PetscInt          dim;
  DMLabel           label;

  PetscFunctionBeginUser;
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCall(TestAddField(*dm, 0, layout ? dim : 1, order, Q));
  if (layout) PetscCall(TestAddField(*dm, 1, 1, order - 1, Q));
  PetscCall(DMCreateDS(*dm));
  PetscCall(DMGetDS(*dm, &ds));
  PetscCall(PetscDSSetConstants(ds, 2, (PetscScalar *)constants));
  PetscCall(PetscDSSetResidual(ds, 0, f0_u, NULL));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3_uu));
  if (layout) PetscCall(PetscDSSetJacobian(ds, 1, 1, NULL, NULL, NULL, g3_pp));
  PetscCall(DMGetLabel(*dm, "Face Sets", &label));
  if (!strcmp(Left, "inner")) PetscCall(AddInner(*dm, label, 4));
  if (aux || !strcmp(Left, "own")) PetscCall(AddAuxiliary(*dm, NULL, 0, Q));
  PetscCall(AddConditions(*dm, layout, robin, Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], Vec x, Vec y)
{
  PetscReal scale, error;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1.0, x, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &scale));
  PetscCall(VecNorm(d, NORM_INFINITY, &error));
  PetscCall(VecDestroy(&d));
  PetscCheck(error <= 1e-12 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The %s is off by %g of %g", name, (double)error,
             (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F of PETSc's boundary functions and of the kernels, which call the process's at their first use alone */
static PetscErrorCode CompareResiduals(DM dm, PetscBool petsc, Vec X, Vec Xt)
{
  const char *const backends[2] = {"host", Device};
  HopsPlex         *plex;
  Vec               F[2];
  PetscInt          n;

  PetscFunctionBeginUser;
  PetscCall(HopsPlexGet(dm, &plex));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDuplicate(X, &F[k]));
  for (PetscInt again = 0; again < 3; ++again) {
    Strength = 0.4 - 0.1 * again;
    for (PetscInt k = 0; k < 2; ++k) {
      PetscBool done;

      PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backends[k]));
      if (again < 2) PetscCall(HopsPlexResidualReset(plex));
      PetscCall(VecSet(F[k], 1.0)); /* the residual is added */
      if (again == 2 && !k) {
        HopsPlex device = *plex; /* what the back end has is used once more */

        PetscCall(PetscMemzero(plex, sizeof(*plex)));
        PetscCall(HopsPlexResidual(dm, plex, 0.3 + again, X, NULL, F[k], &done));
        PetscCall(HopsPlexResidualReset(plex));
        *plex = device;
        continue;
      }
      calls = 0;
      PetscCall(HopsPlexResidual(dm, plex, 0.3 + again, X, again ? NULL : Xt, F[k], &done));
      PetscCheck(done && !plex->points == !k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The residual is not that of the back end %s",
                 backends[k]);
      PetscCheck(!k || again < 2 || !calls || petsc, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " calls of boundary functions", calls);
      PetscCheck(!k || again < 2 || calls || !Left[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc's functions were not called");
    }
    PetscCall(VecGetLocalSize(X, &n));
    PetscCall(Compare("residual", F[0], F[1]));
  }
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&F[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x and the diagonal by the host's functions, and by the kernels, which call the process's at their first
   use alone */
static PetscErrorCode CompareJacobians(DM dm, Vec X, Vec Xt)
{
  const char *const names[2] = {"host", Device};
  Mat               A[2];
  Vec               x, y[2], d[2];

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(DMCreateMatrix(dm, &A[k]));
    PetscCall(VecDuplicate(x, &y[k]));
    PetscCall(VecDuplicate(x, &d[k]));
  }
  for (PetscInt again = 0; again < 3; ++again) {
    Strength = 0.4 - 0.1 * again;
    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", names[k]));
      PetscCall(MatPASetState(A[k], dm, PETSC_FALSE, X, again ? NULL : Xt, 0.2 + again, again ? 0.0 : 1.3));
      calls = 0;
      PetscCall(MatMult(A[k], x, y[k]));
      PetscCall(MatGetDiagonal(A[k], d[k]));
      PetscCheck(!k || !strcmp(Left, "own") || !again || !calls, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " calls of boundary functions", calls);
    }
    PetscCall(Compare("product", y[0], y[1]));
    PetscCall(Compare("diagonal", d[0], d[1]));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(MatDestroy(&A[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(VecDestroy(&d[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  HopsBackendOps toy;
  HopsPointOps   both = PointToyOps;
  DM             dm;
  Vec            X, Xt;
  PetscInt       layout = 0, order = 3, Q = 4;
  PetscBool      curved = PETSC_FALSE, aux = PETSC_FALSE, robin = PETSC_FALSE, nvrtc = PETSC_FALSE;
  PetscInt       dim;
  PetscBool      petsc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nvrtc", &nvrtc, NULL));
  both.Create = CreateBoth;
  if (nvrtc) toy.points = &both;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-on", Device, sizeof(Device), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-left", Left, sizeof(Left), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-layout", &layout, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-q", &Q, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aux", &aux, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-robin", &robin, NULL));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_mat_type", "pa"));
  PetscCall(CreateDM(layout, robin, aux, curved, order, Q, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(TestProject(dm, 0.1, &X));
  PetscCall(TestProject(dm, 0.6, &Xt));
  PetscCall(VecScale(Xt, -0.7));
  /* in 3D the residuals of PETSc 3.25 are others again, and are kept */
  petsc = curved || Left[0] || (PETSC_VERSION_GE(3, 25, 0) && dim == 3) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(CompareResiduals(dm, petsc, X, Xt));
  if (strcmp(Left, "inner")) PetscCall(CompareJacobians(dm, X, Xt)); /* which operators refuse */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Functions of the boundary compiled at run time agree with the host's\n"));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Xt));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    requires: host
    output_file: output/pointfaces.out
    args: -dm_plex_separate_marker -petscpartitioner_type simple -hops_pointwise_source ${HOPS_SOURCE}/tests/pointfacefunctions.h

    test:
      suffix: scalar
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -curved {{0 1}} -robin {{0 1}}
    test:
      suffix: fields
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,1 -layout 1 -aux {{0 1}} -curved
    # fewer points than nodes; work that shared memory does not hold; cells of order 2; a rank without cells
    test:
      suffix: few
      args: -dm_plex_box_faces 3,2 -layout 1 -q 2 -aux
    test:
      suffix: large
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -layout 1 -order 5 -q 6
    test:
      suffix: curved
      args: -dm_plex_box_faces 3,2 -dm_coord_petscspace_degree 2 -curved -aux
    test:
      suffix: empty
      nsize: 2
      args: -dm_plex_box_faces 1,1
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 1,1,1 -layout 1 -aux -nvrtc -hops_pointwise_cache none
    test:
      suffix: left
      args: -dm_plex_box_faces 3,2 -layout {{0 1}} -left {{inner own}}

  testset:
    requires: cuda
    output_file: output/pointfaces.out
    args: -on cuda -dm_vec_type cuda -use_gpu_aware_mpi 0 -dm_plex_separate_marker -petscpartitioner_type simple -hops_pointwise_source ${HOPS_SOURCE}/tests/pointfacefunctions.h
    test:
      suffix: cuda
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -layout {{0 1}} -aux {{0 1}} -order {{2 5}} -q 6 -curved
    test:
      suffix: cuda_robin
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -robin
    test:
      suffix: cuda_left
      args: -dm_plex_box_faces 3,2 -layout {{0 1}} -left {{inner own}}

TEST*/
