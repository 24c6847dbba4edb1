/* CUDA back end: kernels around a code's point functions, compiled at run time. CUDA's driver, which
   loads them, is looked for when it is first asked for: libraries that need it do not load on machines
   without a device. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/nvrtc/nvrtc.h>
#include <hops/private/hopspointimpl.h>
#include <cuda.h>
#include <dlfcn.h>

static struct {
  CUresult (*LoadData)(CUmodule *, const void *image);
  CUresult (*Unload)(CUmodule);
  CUresult (*GetFunction)(CUfunction *, CUmodule, const char name[]);
  CUresult (*GetGlobal)(CUdeviceptr *, size_t *, CUmodule, const char name[]);
  CUresult (*Launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
} driver;

#define HOPS_MODULE_KERNELS 8

/* A variable of the process, and its copy on the device */
typedef struct {
  HopsPointVariable of;
  void             *device;
  char             *last; /* the value that the device has */
} Variable;

struct _HopsPointModule {
  CUmodule   module;
  PetscInt   nvars, nkernels;
  Variable  *var;
  CUfunction kernel[HOPS_MODULE_KERNELS];
  char       name[HOPS_MODULE_KERNELS][64];
};

void *HopsCudaDriver(const char name[])
{
  static void *lib;

  if (!lib) lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return lib ? dlsym(lib, name) : NULL;
}

static PetscErrorCode DriverLoad(char why[], size_t len)
{
  const struct {
    const char *name;
    void       *function;
  } symbol[] = {{"cuModuleLoadData", &driver.LoadData},
                {"cuModuleUnload", &driver.Unload},
                {"cuModuleGetFunction", &driver.GetFunction},
                {"cuModuleGetGlobal_v2", &driver.GetGlobal},
                {"cuLaunchKernel", &driver.Launch}};

  PetscFunctionBegin;
  if (driver.Launch) PetscFunctionReturn(PETSC_SUCCESS);
  if (!HopsCudaDriver("cuInit")) {
    PetscCall(PetscSNPrintf(why, len, "the device's driver is not there: %s", dlerror()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(symbol); ++k) {
    *(void **)symbol[k].function = HopsCudaDriver(symbol[k].name);
    PetscCheck(*(void **)symbol[k].function, PETSC_COMM_SELF, PETSC_ERR_LIB, "libcuda.so.1 has no function %s()", symbol[k].name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleDestroy_CUDA(HopsPointModule *out)
{
  HopsPointModule m = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < m->nvars; ++i) PetscCall(PetscFree(m->var[i].last));
  PetscCall(PetscFree(m->var));
  if (m->module) (void)(*driver.Unload)(m->module); /* which fails at exit, where the driver has gone first */
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copies of the process's variables; their first Refresh() writes them */
static PetscErrorCode ModuleSetVariables(HopsPointModule m, HopsPointCode code)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(code->nvars, &m->var));
  for (PetscInt i = 0; i < code->nvars; ++i) {
    Variable   *v = &m->var[m->nvars];
    CUdeviceptr p;
    size_t      size;

    v->of = code->var[i];
    if ((*driver.GetGlobal)(&p, &size, m->module, v->of.name)) continue; /* no kernel reads it */
    PetscCheck(size == v->of.size, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "The variable %s has %zu bytes in the program, %zu on the device", v->of.name, v->of.size, size);
    v->device = (void *)(uintptr_t)p;
    ++m->nvars;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleCreate_CUDA(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *out,
                                                 char why[], size_t len)
{
  HopsPointModule m;
  cudaStream_t    stream;
  int             device, major, minor;
  size_t          ntext = strlen(code->text) + strlen(kernels) + 2, size;
  char           *text, *image;
  CUresult        err;

  PetscFunctionBegin;
  *out   = NULL;
  why[0] = '\0';
  PetscCall(HopsCudaQueueGetStream(NULL, &stream)); /* PETSc initialises the device */
  PetscCall(DriverLoad(why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  PetscCall(PetscMalloc1(ntext, &text));
  PetscCall(PetscSNPrintf(text, ntext, "%s\n%s", code->text, kernels));
  PetscCall(HopsNvrtcCompile(text, 10 * major + minor, fma, &image, &size, why, len));
  PetscCall(PetscFree(text));
  if (!image) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&m));
  err = (*driver.LoadData)(&m->module, image);
  PetscCall(PetscFree(image));
  if (err) {
    m->module = NULL;
    PetscCall(
      PetscSNPrintf(why, len, "the device's driver does not load what NVRTC has compiled (error %d): NVRTC is newer than it", err));
    PetscCall(HopsPointModuleDestroy_CUDA(&m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ModuleSetVariables(m, code));
  *out = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleRefresh_CUDA(HopsPointModule m, PetscBool *changed)
{
  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  for (PetscInt i = 0; i < m->nvars; ++i) {
    Variable *v = &m->var[i];

    if (v->last && !memcmp(v->last, v->of.host, v->of.size)) continue;
    *changed = PETSC_TRUE;
    if (!v->last) PetscCall(PetscMalloc1(v->of.size, &v->last));
    PetscCall(PetscMemcpy(v->last, v->of.host, v->of.size));
    PetscCall(HopsCopy_CUDA(NULL, v->device, v->last, v->of.size, HOPS_COPY_IN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleLaunch_CUDA(HopsPointModule m, const char kernel[], PetscInt grid, PetscInt block,
                                                 void *args[])
{
  PetscInt     k = 0;
  cudaStream_t stream;
  CUresult     err;

  PetscFunctionBegin;
  while (k < m->nkernels && strcmp(m->name[k], kernel)) ++k;
  if (k == m->nkernels) {
    PetscCheck(k < HOPS_MODULE_KERNELS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d kernels", HOPS_MODULE_KERNELS);
    PetscCall(PetscStrncpy(m->name[k], kernel, sizeof(m->name[k])));
    err = (*driver.GetFunction)(&m->kernel[k], m->module, kernel);
    PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_LIB, "No kernel %s: error %d of CUDA's driver", kernel, err);
    ++m->nkernels;
  }
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  err = (*driver.Launch)(m->kernel[k], (unsigned)grid, 1, 1, (unsigned)block, 1, 1, 0, stream, args, NULL);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_GPU, "The kernel %s cannot be launched: error %d of CUDA's driver", kernel, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsPointOps HopsPointCUDA = {.Create  = HopsPointModuleCreate_CUDA,
                                    .Refresh = HopsPointModuleRefresh_CUDA,
                                    .Launch  = HopsPointModuleLaunch_CUDA,
                                    .Destroy = HopsPointModuleDestroy_CUDA};
