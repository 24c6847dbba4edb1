/*
  One back end against another: -backends <a,b> names them. Beside those of the library there are

  toy  - backend_toy.h: an H1 operator of its own, the host's for the rest
  team - backend_team.h: patches are set up as on devices, by one thread
  base - the host's kernels for any processor, in place of those for this one
*/
#pragma once
#include "backend_team.h" /* first: petscshim.h comes after PETSc's private headers */
#include "hopstest.h"

static const char *const BaseOption = "-hops_host_isa";

static inline PetscErrorCode BaseOperator(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, BaseOption, "base"));
  PetscCall((*HopsBackendHost.OperatorCreate)(form, basis, A));
  PetscCall(PetscOptionsClearValue(NULL, BaseOption));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BaseLOR(HopsSpace sp, const HopsBasis *gll, HopsLORAssembler *L)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, BaseOption, "base"));
  PetscCall((*HopsBackendHost.LORCreate)(sp, gll, L));
  PetscCall(PetscOptionsClearValue(NULL, BaseOption));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BaseInterp(HopsSpace from, HopsSpace to, const HopsInterpData *d, HopsInterpolation *P)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, BaseOption, "base"));
  PetscCall((*HopsBackendHost.InterpCreate)(from, to, d, P));
  PetscCall(PetscOptionsClearValue(NULL, BaseOption));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BasePatch(HopsPatches patches, PetscDataType type, HopsPatchSmoother *S)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, BaseOption, "base"));
  PetscCall((*HopsBackendHost.PatchCreate)(patches, type, S));
  PetscCall(PetscOptionsClearValue(NULL, BaseOption));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the two names; compare: they were given. names stays valid until the program ends */
static inline PetscErrorCode TestGetBackends(const char *names[2], PetscBool *compare)
{
  static HopsBackendOps base;
  static char           text[128];
  char                 *comma;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-backends", text, sizeof(text), compare));
  if (!*compare) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsInitialize());
  PetscCall(PetscStrchr(text, ',', &comma));
  PetscCheck(comma, PETSC_COMM_WORLD, PETSC_ERR_USER, "-backends %s: give two, as in -backends host,toy", text);
  *comma   = 0;
  names[0] = text;
  names[1] = comma + 1;
  PetscCall(ToyRegister());
  PetscCall(TeamRegister());
  base                = HopsBackendHost;
  base.name           = "base";
  base.OperatorCreate = BaseOperator;
  base.LORCreate      = BaseLOR;
  base.InterpCreate   = BaseInterp;
  base.PatchCreate    = BasePatch;
  PetscCall(HopsBackendRegister(&base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the spaces that are made next */
static inline PetscErrorCode TestSetBackend(const char name[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* relative difference of h and d, which may lie in the memories of different back ends */
static inline PetscErrorCode Differ(Vec h, Vec d, PetscReal *e)
{
  Vec       t;
  PetscReal n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(h, &t));
  PetscCall(VecCopy(d, t));
  PetscCall(VecNorm(h, NORM_2, &n));
  PetscCall(VecAXPY(t, -1.0, h));
  PetscCall(VecNorm(t, NORM_2, e));
  *e /= n;
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the worst so far, without end if above 1e-12 */
static inline PetscErrorCode Difference(Vec h, Vec d, PetscReal *worst)
{
  PetscReal e;

  PetscFunctionBeginUser;
  PetscCall(Differ(h, d, &e));
  *worst = e <= 1e-12 ? PetscMax(*worst, e) : PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same operator on two back ends */
static inline PetscErrorCode CompareOperators(Mat A, Mat B, PetscReal *worst)
{
  Vec         x, y, b, dx, dy, db;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(B, &dx, &dy));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecCopy(x, dx));
  for (PetscInt k = 0; k < 2; ++k) { /* twice: nothing is left over from the first application */
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, dx, dy));
    PetscCall(Difference(y, dy, worst));
  }
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, dy));
  PetscCall(Difference(y, dy, worst));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(dx, &db));
  PetscCall(VecCopy(x, b));
  PetscCall(VecCopy(dx, db));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(MatPALiftEssential(B, db));
  PetscCall(Difference(b, db, worst));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&dy));
  PetscCall(VecDestroy(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Operator(HopsSpace sp, PetscInt q, PetscBool gll, HopsCoefficient kappa, HopsCoefficient mass, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetQuadrature(*A, gll ? 0 : q, gll));
  if (kappa) PetscCall(MatPASetDiffusion(*A, kappa));
  if (mass) PetscCall(MatPASetMass(*A, mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha u v on one face of each cell, inside the mesh too */
static inline PetscErrorCode AddFaces(DM dm, HopsSpace sp, Mat A, HopsCoefficient alpha)
{
  PetscInt n, start = 0, dim, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  if (dm) PetscCall(DMPlexGetHeightStratum(dm, 0, &start, NULL));
  PetscCall(PetscMalloc2(n, &cells, n, &faces));
  for (PetscInt i = 0; i < n; ++i) {
    cells[i] = start + i;
    faces[i] = i % (2 * dim);
  }
  PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
  PetscCall(PetscFree2(cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}
