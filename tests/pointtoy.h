/* A back end on the host whose point functions are compiled as those of a device, by the compiler of C++,
   with one thread a block. So texts and kernels are tested where there is no device. */
#pragma once
#include <hops/private/hopspointimpl.h>
#include <hops/private/hopspleximpl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

struct _HopsPointModule {
  void         *lib;
  HopsPointCode code;
};

static PetscInt PointToyTensors; /* how often tensors were evaluated */

static const char PointToyHead[] =
  "#include <cmath>\n#include <cstring>\nusing namespace std;\n"
  "#define __host__\n#define __device__\n#define __global__\n#define __shared__ static\n#define __restrict__\n"
  "struct Index {\n  int x;\n};\nstatic Index threadIdx, blockIdx, blockDim = {1}, gridDim = {1};\n"
  "static inline void __syncthreads() {}\n"
  "static inline void atomicMin(int *p, int v)\n{\n  if (v < *p) *p = v;\n}\n";

/* The kernels; after each, which has one argument, a function that runs its blocks: at that place, so that
   what the text leaves out by its macros is left out with it */
static void PointToyKernels(FILE *f, const char kernels[])
{
  const char *const mark = "__global__ void ", *from = kernels;

  for (const char *s = strstr(kernels, mark); s; s = strstr(from, mark)) {
    const char *name = s + strlen(mark), *open = strchr(name, '('), *close = strchr(open, ')'), *end = close;
    const char *after = strstr(close, "\n}\n") + 3;
    const int   n     = (int)(open - name);

    while (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", end[-1])) --end; /* the argument's name */
    fprintf(f, "%.*s", (int)(after - from), from);
    fprintf(f,
            "extern \"C\" void Run_%.*s(int grid, void **args)\n{\n  gridDim.x = grid;\n"
            "  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) %.*s(*(%.*s *)args[0]);\n}\n",
            n, name, n, name, (int)(end - open) - 1, open + 1);
    from = after;
  }
  fputs(from, f);
}

/* The library `so` of the text in file `path`. What was compiled in a folder for temporary files of the test
   harness, by another rank or a run before, is taken: compiling takes longer than all else */
static PetscErrorCode PointToyCompile(const char options[], const char path[], const char so[], PetscBool *done)
{
  const char *cxx = getenv("CXX"), *folder = getenv("TMPDIR");
  char        command[4 * PETSC_MAX_PATH_LEN], kept[PETSC_MAX_PATH_LEN], *text;
  FILE       *f = fopen(path, "r");
  size_t      size;
  int         lock = -1;

  PetscFunctionBegin;
  PetscCheck(f && !fseek(f, 0, SEEK_END), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read %s", path);
  size = (size_t)ftell(f);
  rewind(f);
  PetscCall(PetscMalloc1(size, &text));
  PetscCheck(fread(text, 1, size, f) == size, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read %s", path);
  fclose(f);
  PetscCall(PetscSNPrintf(command, sizeof(command), "%s -std=c++17 -O1 -w %s -shared -fPIC -x c++ ", cxx ? cxx : "c++", options));
  PetscCall(PetscSNPrintf(kept, sizeof(kept), "%s/pointtoy.%zu.%" PetscInt64_FMT ".so", folder ? folder : "", size,
                          HopsHashBits(size, text, HopsHashBits(strlen(command), command, 0))));
  PetscCall(PetscFree(text));
  if (folder) {
    PetscCall(PetscSNPrintf(command + strlen(command), sizeof(command) - strlen(command), "%s -o %s.%d && mv %s.%d %s", path, kept,
                            (int)getpid(), kept, (int)getpid(), kept));
    PetscCall(PetscStrlcat(kept, ".lock", sizeof(kept)));
    lock                   = open(kept, O_RDWR | O_CREAT, 0600);
    kept[strlen(kept) - 5] = 0;
    PetscCheck(lock >= 0 && !flock(lock, LOCK_EX), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot lock %s", kept);
    *done = access(kept, R_OK) && system(command) ? PETSC_FALSE : PETSC_TRUE;
    close(lock);
    /* by another name: each module has variables of its own */
    PetscCall(PetscSNPrintf(command, sizeof(command), "cp %s %s", kept, so));
    if (*done && system(command)) *done = PETSC_FALSE;
  } else {
    PetscCall(PetscSNPrintf(command + strlen(command), sizeof(command) - strlen(command), "%s -o %s", path, so));
    *done = system(command) ? PETSC_FALSE : PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyCreate(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *module, char why[],
                                     size_t len)
{
  char            base[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN + 32], so[PETSC_MAX_PATH_LEN + 40], options[64];
  FILE           *f;
  HopsPointModule m;
  PetscBool       verbose = PETSC_FALSE, done = PETSC_FALSE;

  PetscFunctionBegin;
  *module = NULL;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-toy_verbose", &verbose, NULL));
  PetscCall(PetscGetTmp(PETSC_COMM_SELF, base, sizeof(base)));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/pointtoy.XXXXXX", base)); /* dlopen() knows a name that it had */
  f = fdopen(mkstemp(path), "w");
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", fma ? "" : "-ffp-contract=off", verbose ? "" : "2>/dev/null"));
  PetscCall(PetscSNPrintf(so, sizeof(so), "%s.so", path));
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(f, "%s%s\n", PointToyHead, code->text);
  PointToyKernels(f, kernels);
  fclose(f);
  PetscCall(PointToyCompile(options, path, so, &done));
  if (!done) {
    PetscCall(PetscStrncpy(why, "the compiler of C++ does not take it (-toy_verbose)", len));
    if (!verbose) remove(path);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&m));
  m->code = code;
  m->lib  = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  PetscCheck(m->lib, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dlerror());
  remove(path);
  remove(so);
  *module = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyRefresh(HopsPointModule m, PetscBool *changed)
{
  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  for (PetscInt k = 0; k < m->code->nvars; ++k) {
    void *p = dlsym(m->lib, m->code->var[k].name);

    PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_LIB, "The text has no variable %s", m->code->var[k].name);
    if (memcmp(p, m->code->var[k].host, m->code->var[k].size)) *changed = PETSC_TRUE;
    PetscCall(PetscMemcpy(p, m->code->var[k].host, m->code->var[k].size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyLaunch(HopsPointModule m, const char kernel[], PetscInt grid, PetscInt block, void *args[])
{
  char name[128];
  void (*run)(int, void **);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "Run_%s", kernel));
  *(void **)&run = dlsym(m->lib, name);
  PetscCheck(run, PETSC_COMM_SELF, PETSC_ERR_LIB, "No kernel %s", kernel);
  if (!strcmp(kernel, "HopsPointTensors")) ++PointToyTensors;
  (*run)((int)grid, args);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointToyDestroy(HopsPointModule *m)
{
  PetscFunctionBegin;
  if (*m) dlclose((*m)->lib);
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
