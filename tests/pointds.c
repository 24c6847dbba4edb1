static char help[] = "Sources of point functions that the program gives itself.\n\n";

#include "hopsexpect.h"
#include "pointsource.h"
#include <petscds.h>

#define ARGS \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[], PetscInt nc, \
    const PetscScalar constants[], PetscScalar f[]
#define TEXT(...)   #__VA_ARGS__
#define SOURCE(...) TEXT(__VA_ARGS__)

static PetscReal Help(PetscReal v)
{
  return v * v;
}

static void f0_u(ARGS)
{
  f[0] = Help(u[0]) + x[0];
}

static void f1_u(ARGS)
{
  for (PetscInt d = 0; d < dim; ++d) f[d] = 2.0 * u_x[d] * Help(u[0]);
}

#define HELP "static PetscReal Help(PetscReal v)\n{\n  return v * v;\n}\n"
static const char F0[] = HELP "static void f0_u(" SOURCE(ARGS) ")\n{\n  f[0] = Help(u[0]) + x[0];\n}\n";
static const char F1[] =
  HELP "static void f1_u(" SOURCE(ARGS) ")\n{\n  for (PetscInt d = 0; d < dim; ++d) f[d] = 2.0 * u_x[d] * Help(u[0]);\n}\n";
static const char Wrong[] = HELP "static void f1_u(" SOURCE(ARGS) ")\n{\n  f[0] = Help(t);\n}\n";

static PetscErrorCode Check(const char what[], PetscDS ds)
{
  static const HopsPointSubject subject[] = {F('f', f0_u), F('f', f1_u)};
  const HopsVoidFn              fn[]      = {(HopsVoidFn)f0_u, (HopsVoidFn)f1_u};
  HopsPointOrigin               from      = {.files = ""};
  HopsBackendOps                toy       = HopsBackendHost;
  HopsPointCode                 code;
  HopsPointState                state;
  PetscInt                      n;
  char                          why[1024];

  PetscFunctionBeginUser;
  toy.points = &PointToyOps;
  PetscCall(HopsObjectGetDeviceSource((PetscObject)ds, &n, &from.given));
  from.ngiven = n;
  PetscCall(HopsPointCodeCreateFrom(&from, 2, fn, &code, why, sizeof(why)));
  if (code) {
    PetscCall(TestState(1.0, &state));
    PetscCall(HopsPointCheck(&toy, code, 2, subject, &state, why, sizeof(why)));
    PetscCall(HopsPointStateDestroy(&state));
  }
  if (strstr(why, " compiled gives")) strstr(why, " compiled gives")[0] = '\0';
  PetscCall(HopsPointCodeDestroy(&code));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " sources, %s\n", what, n, why[0] ? why : "the same"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscDS ds;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDSCreate(PETSC_COMM_SELF, &ds));
  PetscCall(Check("none", ds));
  PetscCall(HopsDSSetDeviceSource(ds, "f0_u", F0));
  PetscCall(Check("one of two", ds));
  PetscCall(HopsDSSetDeviceSource(ds, "f1_u", Wrong));
  PetscCall(Check("another one", ds));
  PetscCall(HopsDSSetDeviceSource(ds, "f1_u", F1));
  PetscCall(Check("both", ds));
  EXPECT("no such function", HopsDSSetDeviceSource(ds, "f2_u", F1), "no function f2_u()|in the program");
  EXPECT("brackets", HopsDSSetDeviceSource(ds, "f2_u", "void f2_u(int a) { if (a) {"), "is no C source|brackets do not match");
  PetscCall(Check("after refusals", ds));
  PetscCall(PetscDSDestroy(&ds));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:

TEST*/
