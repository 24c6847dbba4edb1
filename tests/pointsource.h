/* Point functions of an example: their text, compiled by the compiler of C++, gives what they give; and
   CUDA's compiler takes it. */
#pragma once
#include "pointtoy.h"
#include "pointnvrtc.h"
#include <hops/private/hopspointcheckimpl.h>

/* kind: f residual, g Jacobian, b and j the same on the boundary, e exact solution */
#define F(kind, name) \
  { \
    (HopsVoidFn)(name), \
      (kind) == 'f'   ? HOPS_POINT_RESIDUAL \
      : (kind) == 'g' ? HOPS_POINT_JACOBIAN \
      : (kind) == 'b' ? HOPS_POINT_BOUNDARY_RESIDUAL \
      : (kind) == 'j' ? HOPS_POINT_BOUNDARY_JACOBIAN \
                      : HOPS_POINT_EXACT, \
      (kind) == 'e' ? 3 : 81, NULL, NULL \
  }

/* compiled, never run */
static PetscErrorCode NvrtcCreate(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *module, char why[],
                                  size_t len)
{
  PetscBool taken = PETSC_FALSE;

  PetscFunctionBeginUser;
  *module = NULL;
  PetscCall(TestNvrtc(code, kernels, fma, &taken, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static const HopsPointOps NvrtcOps = {.Create = NvrtcCreate};

/* vector, scalar, two components; the same as auxiliary fields */
static PetscErrorCode TestState(PetscReal scale, HopsPointState *state)
{
  const PetscInt nc[3] = {3, 1, 2};
  PetscScalar    constants[12];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 12; ++k) constants[k] = 0.3 + 0.1 * k;
  PetscCall(HopsPointStateCreateRandom(50, 3, 3, nc, 3, nc, 12, constants, scale, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All functions at once; files: their sources */
static PetscErrorCode TestFunctions(const char files[], PetscInt n, const HopsPointSubject f[])
{
  HopsBackendOps toy = HopsBackendHost;
  HopsVoidFn    *fn;
  HopsPointCode  code;
  char           why[1024];
  PetscBool      nvrtc = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nvrtc", &nvrtc, NULL));
  toy.points = nvrtc ? &NvrtcOps : &PointToyOps;
  PetscCall(PetscMalloc1(n, &fn));
  for (PetscInt i = 0; i < n; ++i) fn[i] = f[i].f;
  PetscCall(HopsPointCodeCreate(files, n, fn, &code, why, sizeof(why)));
  PetscCheck(code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  for (PetscInt k = 0; k < 2; ++k) {
    HopsPointState state;

    PetscCall(TestState(k ? 1.0 : 30.0, &state));
    PetscCall(HopsPointCheck(&toy, code, n, f, &state, why, sizeof(why)));
    PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
    PetscCall(HopsPointStateDestroy(&state));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " functions, %" PetscInt_FMT " variables\n", n, code->nvars));
  PetscCall(HopsPointCodeDestroy(&code));
  PetscCall(PetscFree(fn));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -source: the file that has them */
static inline int TestMain(int argc, char **argv, PetscInt n, const HopsPointSubject f[])
{
  char      path[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-source", path, sizeof(path), &set));
  PetscCheck(set, PETSC_COMM_SELF, PETSC_ERR_USER, "Which source? (-source)");
  PetscCall(TestFunctions(path, n, f));
  PetscCall(PetscFinalize());
  return 0;
}
