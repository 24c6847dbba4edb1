/* Point functions of an example: their text, compiled by the compiler of C++, gives what they give. */
#include <hops/private/hopspointimpl.h>
#include <dlfcn.h>
#include <unistd.h>

typedef void (*Residual)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], PetscReal, const PetscReal[], PetscInt, const PetscScalar[], PetscScalar[]);
typedef void (*Jacobian)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], PetscReal, PetscReal, const PetscReal[], PetscInt, const PetscScalar[],
                         PetscScalar[]);
typedef void (*Boundary)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[],
                         const PetscScalar[], PetscReal, const PetscReal[], const PetscReal[], PetscInt, const PetscScalar[],
                         PetscScalar[]);
typedef PetscErrorCode (*Exact)(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *);

/* kind: f residual, g Jacobian, b boundary residual, e exact solution */
typedef struct {
  const char *name;
  char        kind;
  HopsVoidFn  f;
} Function;

static const char Head[] = "#include <cmath>\n#include <cstring>\nusing namespace std;\n#define __device__\n#define __restrict__\n";

static void Call(const Function *f, HopsVoidFn fn, const PetscReal v[], PetscScalar out[])
{
  const PetscInt     off[4] = {0, 3, 4, 6}, offx[4] = {0, 9, 12, 18};
  const PetscScalar *u = v, *ut = v + 6, *ux = v + 12, *a = v + 30, *at = v + 36, *ax = v + 42, *x = v + 60, *n = v + 63,
                    *c = v + 66;

  for (int i = 0; i < 81; ++i) out[i] = 0.25;
  if (f->kind == 'f') (*(Residual)fn)(3, 3, 3, off, offx, u, ut, ux, off, offx, a, at, ax, 0.7, x, 12, c, out);
  if (f->kind == 'g') (*(Jacobian)fn)(3, 3, 3, off, offx, u, ut, ux, off, offx, a, at, ax, 0.7, 1.3, x, 12, c, out);
  if (f->kind == 'b') (*(Boundary)fn)(3, 3, 3, off, offx, u, ut, ux, off, offx, a, at, ax, 0.7, x, n, 12, c, out);
  if (f->kind == 'e') (void)(*(Exact)fn)(3, 0.7, x, 3, out, NULL);
}

static PetscErrorCode Compile(HopsPointCode code, PetscInt n, const Function f[], void **lib)
{
  char        tmp[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN + 40], so[PETSC_MAX_PATH_LEN + 48], command[3 * PETSC_MAX_PATH_LEN];
  const char *text, *cxx = getenv("CXX");
  FILE       *file;

  PetscFunctionBegin;
  PetscCall(HopsPointCodeGetText(code, &text));
  PetscCall(PetscGetTmp(PETSC_COMM_SELF, tmp, sizeof(tmp)));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/pointsource.%d", tmp, (int)getpid()));
  PetscCall(PetscSNPrintf(so, sizeof(so), "%s.so", path));
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s -std=c++17 -O1 -w -ffp-contract=off -shared -fPIC -x c++ %s -o %s",
                          cxx ? cxx : "c++", path, so));
  file = fopen(path, "w");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(file, "%s%s", Head, text);
  for (PetscInt i = 0; i < n; ++i) {
    const char *name;

    PetscCall(HopsPointCodeGetName(code, f[i].f, &name));
    fprintf(file, "extern \"C\" void *Test%d() { return (void *)%s; }\n", (int)i, name);
  }
  fclose(file);
  PetscCheck(!system(command), PETSC_COMM_SELF, PETSC_ERR_LIB, "This fails: %s", command);
  *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  PetscCheck(*lib, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dlerror());
  remove(path);
  remove(so);
  for (PetscInt k = 0; k < code->nvars; ++k) {
    void *p = dlsym(*lib, code->var[k].name);

    PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_LIB, "The text has no variable %s", code->var[k].name);
    PetscCall(PetscMemcpy(p, code->var[k].host, code->var[k].size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(void *lib, PetscInt i, const Function *f, PetscRandom random)
{
  void *(*get)(void);
  HopsVoidFn other;
  char       name[32];
  PetscReal  v[80], worst = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "Test%d", (int)i));
  *(void **)&get   = dlsym(lib, name);
  *(void **)&other = (*get)();
  PetscCheck(other != f->f, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is compared with itself", f->name);
  for (PetscInt k = 0; k < 50; ++k) {
    PetscScalar here[81], there[81];
    PetscReal   scale = 0.0;

    for (PetscInt j = 0; j < 80; ++j) PetscCall(PetscRandomGetValueReal(random, &v[j]));
    Call(f, f->f, v, here);
    Call(f, other, v, there);
    for (PetscInt j = 0; j < 81; ++j)
      if (!PetscIsInfOrNanReal(here[j])) scale = PetscMax(scale, PetscAbsReal(here[j]));
    for (PetscInt j = 0; j < 81; ++j)
      if (PetscIsInfOrNanReal(here[j]) != PetscIsInfOrNanReal(there[j])) worst = 1.0;
      else if (!PetscIsInfOrNanReal(here[j])) worst = PetscMax(worst, PetscAbsReal(here[j] - there[j]) / scale);
  }
  PetscCheck(worst <= 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s differs by %g", f->name, (double)worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All functions at once; path of the source */
static PetscErrorCode TestFunctions(const char path[], PetscInt n, const Function f[])
{
  HopsVoidFn   *fn;
  HopsPointCode code;
  PetscRandom   random;
  char          why[512];
  void         *lib = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &fn));
  for (PetscInt i = 0; i < n; ++i) fn[i] = f[i].f;
  PetscCall(HopsPointCodeCreate(path, n, fn, &code, why, sizeof(why)));
  PetscCheck(code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(Compile(code, n, f, &lib));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, 0.1, 0.9));
  for (PetscInt i = 0; i < n; ++i) PetscCall(Compare(lib, i, &f[i], random));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " functions, %" PetscInt_FMT " variables\n", n, code->nvars));
  PetscCall(PetscRandomDestroy(&random));
  dlclose(lib);
  PetscCall(HopsPointCodeDestroy(&code));
  PetscCall(PetscFree(fn));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define F(kind, name) \
  { \
    #name, kind, (HopsVoidFn)name \
  }

/* -source: the file that has them */
static inline int TestMain(int argc, char **argv, PetscInt n, const Function f[])
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
