/* Point functions as text for a device: what the extraction of a source finds, and what it refuses. This file
   is the source. */
#include "pointsource.h"

#define ARGS \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[], PetscInt nc, \
    const PetscScalar constants[], PetscScalar f[]
#define CUBE(v) ((v)*PetscSqr(v))
#define N       3

typedef enum {
  LINEAR,
  CUBIC /* a comment, with "a quote */
} Law;
typedef struct {
  PetscReal c[2];
  Law       law;
} Material;

static const PetscReal table[N] = {0.5, 0.25, 0.125};
static PetscReal       factor = 1.0, shift = 0.5;
static PetscInt        calls;
static const char     *text  = "not a { bracket";
static Material        mixed = {{1.0, 2.0}, CUBIC};

static PetscReal Later(PetscReal, Law);

#if defined(PETSC_USE_COMPLEX)
static void f_all(ARGS)
{
  f[0] = 'c';
}
#else
/* types, macros, constants, variables, callees before and behind */
static void f_all(ARGS)
{
  const Material m = {{0.1, 0.2}, CUBIC};

  if (0) {
    (void)PetscPrintf(PETSC_COMM_SELF, "never }\n");
  }
  for (PetscInt d = 0; d < dim; ++d) f[d] = table[d % N] * Later(u[d], m.law) * m.c[0] + mixed.c[1] * factor + shift;
}
#endif

static PetscReal Later(PetscReal v, Law law)
{
  switch (law) {
  case CUBIC:
    return CUBE(v) + PetscPowRealInt(v, -3) + PetscPowReal(v, 1.5);
  default:
    return v;
  }
}

static void f_local(ARGS) /* names of variables of the file that are its own */
{
  PetscReal factor = u[0];

  factor += 1.0;
  f[0] = factor;
}

static PetscErrorCode exact(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt nc, PetscScalar *u, void *ctx)
{
  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < nc; ++c) u[c] = PetscSinReal(PETSC_PI * x[c % dim]) * PetscExpReal(-time);
  PetscFunctionReturn(0);
}

static void f_prints(ARGS)
{
  (void)PetscPrintf(PETSC_COMM_SELF, "%g\n", (double)t);
}

static void f_counts(ARGS)
{
  ++calls;
  f[0] = calls;
}

static void f_remembers(ARGS)
{
  static PetscReal last = 0.0;

  f[0] = last;
  last = t;
}

static void f_points(ARGS)
{
  f[0] = text[0];
}

static PetscErrorCode reads(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt nc, PetscScalar *u, void *ctx)
{
  u[0] = *(PetscReal *)ctx;
  return PETSC_SUCCESS;
}

/* The reason, without what depends on where the tests are */
static PetscErrorCode Refuse(const char what[], const char files[], HopsVoidFn fn)
{
  HopsPointCode code;
  char          why[512], *s = why;

  PetscFunctionBegin;
  PetscCall(HopsPointCodeCreate(files, 1, &fn, &code, why, sizeof(why)));
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is not refused", what);
  if (why[0] == '/') s = strchr(why, ':') + 2;
  if (strstr(s, " is in /")) strstr(s, " is in /")[6] = '\0';
  if (strstr(s, " at 0x")) strstr(s, " at 0x")[0] = '\0';
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('f', f_all), F('f', f_local), F('e', exact)};
  char                          path[PETSC_MAX_PATH_LEN], twice[2 * PETSC_MAX_PATH_LEN + 2];
  PetscInt                      heap[4];

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-source", path, sizeof(path), NULL));
  factor = 2.5; /* as a code's options do */
  shift += argc;
  PetscCall(TestFunctions(path, PETSC_STATIC_ARRAY_LENGTH(f), f));
  PetscCall(PetscSNPrintf(twice, sizeof(twice), "%s,%s", path, path));
  PetscCall(Refuse("no file", "nowhere.c", (HopsVoidFn)f_all));
  PetscCall(Refuse("prints", path, (HopsVoidFn)f_prints));
  PetscCall(Refuse("counts", path, (HopsVoidFn)f_counts));
  PetscCall(Refuse("remembers", path, (HopsVoidFn)f_remembers));
  PetscCall(Refuse("points", path, (HopsVoidFn)f_points));
  PetscCall(Refuse("reads", path, (HopsVoidFn)reads));
  PetscCall(Refuse("two files", twice, (HopsVoidFn)f_all));
  PetscCall(Refuse("elsewhere", path, (HopsVoidFn)HopsPointLex));
  PetscCall(Refuse("data", path, (HopsVoidFn)(void *)heap));
  mixed.c[0] += calls;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    args: -source ${HOPS_SOURCE}/tests/pointsource.c

TEST*/
