/* A back end on the host whose point functions are compiled as those of a device, by the compiler of
   C++, with one thread a block. So generated text, maps and tables are tested where there is no device. */
#pragma once
#include <hops/private/hopspointcellsimpl.h>
#include <dlfcn.h>
#include <unistd.h>

struct _HopsPointModule {
  void              *lib;
  PetscInt           nvars;
  HopsPointVariable *var;
  void (*run)(void (*)(HopsPointArgs), int, void **);
};

static const char PointToyHead[] =
  "#include <cmath>\n#include <cstddef>\n"
  "using std::isfinite;\n"
  "#define __host__\n#define __device__\n#define __global__\n#define __shared__ static\n"
  "struct Index {\n  int x;\n};\nstatic Index threadIdx, blockIdx, blockDim = {1}, gridDim = {1};\n"
  "static inline void __syncthreads() {}\n"
  "static inline void atomicMin(int *p, int v)\n{\n  if (v < *p) *p = v;\n}\n";
static const char PointToyTail[] =
  "extern \"C\" void Run(void (*kernel)(const HopsPoints::HopsPointArgs), int grid, void **args)\n{\n"
  "  gridDim.x = grid;\n"
  "  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) kernel(*(HopsPoints::HopsPointArgs *)args[0]);\n}\n";

static PetscErrorCode PointToyCreate(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *module, char why[],
                                     size_t len)
{
  char            base[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN + 8], command[3 * PETSC_MAX_PATH_LEN];
  const char     *text, *cxx = getenv("CXX");
  FILE           *f;
  HopsPointModule m;
  static int      count;

  PetscFunctionBegin;
  PetscCall(HopsPointCodeGetText(code, &text));
  PetscCall(PetscGetTmp(PETSC_COMM_SELF, base, sizeof(base)));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/pointtoy.%d.%d", base, (int)getpid(), count++));
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s -std=c++17 -O1 -w -shared -fPIC -x c++ %s -o %s.so", cxx ? cxx : "c++",
                          path, path));
  f = fopen(path, "w");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(f, "%s\n%s\n%s\n%s", PointToyHead, text, kernels, PointToyTail);
  fclose(f);
  PetscCheck(!system(command), PETSC_COMM_SELF, PETSC_ERR_LIB, "This fails: %s", command);
  PetscCall(PetscNew(&m));
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s.so", path));
  m->lib = dlopen(command, RTLD_NOW | RTLD_LOCAL);
  PetscCheck(m->lib, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dlerror());
  *(void **)&m->run = dlsym(m->lib, "Run");
  remove(command);
  remove(path);
  m->nvars = code->nvars;
  PetscCall(PetscMalloc1(m->nvars, &m->var));
  PetscCall(PetscArraycpy(m->var, code->var, m->nvars));
  *module = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyRefresh(HopsPointModule m)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m->nvars; ++i) PetscCall(PetscMemcpy(dlsym(m->lib, m->var[i].name), m->var[i].host, m->var[i].size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyLaunch(HopsPointModule m, const char kernel[], PetscInt grid, PetscInt block, void *args[])
{
  void (*f)(HopsPointArgs);

  PetscFunctionBegin;
  *(void **)&f = dlsym(m->lib, kernel);
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_LIB, "No kernel %s", kernel);
  (*m->run)(f, (int)grid, args);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyDestroy(HopsPointModule *m)
{
  PetscFunctionBegin;
  dlclose((*m)->lib);
  PetscCall(PetscFree((*m)->var));
  PetscCall(PetscFree(*m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsPointOps PointToyOps = {.Create  = PointToyCreate,
                                         .Refresh = PointToyRefresh,
                                         .Launch  = PointToyLaunch,
                                         .Destroy = PointToyDestroy};

/* Known as "toy" from now on */
static inline PetscErrorCode PointToyRegister(HopsBackendOps *toy)
{
  PetscFunctionBegin;
  *toy        = HopsBackendHost;
  toy->name   = "toy";
  toy->points = &PointToyOps;
  PetscCall(HopsBackendRegister(toy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
