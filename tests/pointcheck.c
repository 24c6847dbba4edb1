static char help[] =
  "Compiled point functions against the process's: those of other sources differ and are refused. This file is the source.\n\
  -source <file> -other <file: the same with FACTOR 3>\n\n";

#include "pointsource.h"

#define FACTOR 2.0
#define FIELDS \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define REST PetscInt nc, const PetscScalar constants[], PetscScalar f[]

static PetscReal variable = 0.5;

/* every argument counts */
static void f_all(FIELDS, const PetscReal x[], REST)
{
  for (PetscInt c = 0; c < uOff[Nf]; ++c) f[c] += u[c] * x[c % dim] + u_t[c] * t + constants[nc - 1] * a[aOff[NfAux] - 1 - c];
  for (PetscInt d = 0; d < dim; ++d) f[d] += u_x[uOff_x[1] + d] - a_x[aOff_x[1] + d] * a_t[0] * FACTOR;
}

static void g_all(FIELDS, PetscReal shift, const PetscReal x[], REST)
{
  for (PetscInt d = 0; d < dim; ++d) f[d * dim + d] = shift * FACTOR + u[0] * x[d] + variable;
}

static void b_all(FIELDS, const PetscReal x[], const PetscReal n[], REST)
{
  for (PetscInt d = 0; d < dim; ++d) f[d] = n[d] * FACTOR * x[0] + u[0];
}

static void j_all(FIELDS, PetscReal shift, const PetscReal x[], const PetscReal n[], REST)
{
  f[0] = n[0] * shift + FACTOR * n[1] * x[0];
}

static PetscErrorCode e_all(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt nc, PetscScalar *u, void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = FACTOR * PetscSinReal(x[c % dim] + time);
  return PETSC_SUCCESS;
}

/* not a number where u[0] is negative, infinite where it is small: the same there */
static void f_nan(FIELDS, const PetscReal x[], REST)
{
  f[0] = PetscSqrtReal(u[0]);
  f[1] = PetscAbsReal(u[0]) < 0.5 ? 1.0 / PetscMax(0.0, FACTOR - 10.0) : 1.0;
}

/* a number where FACTOR is 3 */
static void f_othernan(FIELDS, const PetscReal x[], REST)
{
  f[0] = PetscLogReal(FACTOR - 2.5) + u[0];
}

/* C that is no C++ */
static void f_class(FIELDS, const PetscReal x[], REST)
{
  PetscInt class = dim;

  f[0] = class;
}

static const HopsPointSubject all[] = {F('f', f_all), F('g', g_all), F('b', b_all),     F('j', j_all),
                                       F('e', e_all), F('f', f_nan), F('f', f_othernan)};

/* which function differs where these files are the source */
static PetscErrorCode Check(const char what[], const char files[], PetscInt n, const HopsPointSubject f[])
{
  HopsBackendOps toy = HopsBackendHost;
  HopsVoidFn     fn[16];
  HopsPointState state;
  HopsPointCode  code;
  char           why[1024];

  PetscFunctionBeginUser;
  toy.points = &PointToyOps;
  for (PetscInt i = 0; i < n; ++i) fn[i] = f[i].f;
  PetscCall(HopsPointCodeCreate(files, n, fn, &code, why, sizeof(why)));
  PetscCheck(code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(TestState(1.0, &state));
  PetscCall(HopsPointCheck(&toy, code, n, f, &state, why, sizeof(why)));
  if (strstr(why, " compiled gives")) strstr(why, " compiled gives")[0] = '\0';
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, why[0] ? why : "the same"));
  PetscCall(HopsPointStateDestroy(&state));
  PetscCall(HopsPointCodeDestroy(&code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const HopsPointSubject bad[] = {F('f', f_class)};
  char                          path[PETSC_MAX_PATH_LEN], other[PETSC_MAX_PATH_LEN];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-source", path, sizeof(path), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-other", other, sizeof(other), NULL));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(Check("all", path, PETSC_STATIC_ARRAY_LENGTH(all), all));
    variable += argc; /* copied before each use */
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); ++k) PetscCall(Check("other source", other, 1, &all[k]));
  PetscCall(Check("no C++", path, 1, bad));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    args: -source ${HOPS_SOURCE}/tests/pointcheck.c -other ${HOPS_SOURCE}/tests/pointcheckother.h

TEST*/
