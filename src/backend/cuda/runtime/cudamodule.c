/* Kernels compiled at run time around a code's point functions: NVRTC and the driver are loaded when first
   asked for, and compiled code is kept on disk. */
#include "cudaimpl.h"
#include <hops/private/hopspointimpl.h>
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOPS_MODULE_KERNELS 16

struct _HopsPointModule {
  CUmodule      module;
  HopsPointCode code; /* borrowed: its variables */
  CUdeviceptr  *var;
  PetscInt      n; /* kernels so far */
  char          name[HOPS_MODULE_KERNELS][64];
  CUfunction    kernel[HOPS_MODULE_KERNELS];
};

static struct {
  void *nvrtc, *driver;
  nvrtcResult (*CreateProgram)(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
  nvrtcResult (*CompileProgram)(nvrtcProgram, int, const char *const *);
  nvrtcResult (*DestroyProgram)(nvrtcProgram *);
  nvrtcResult (*GetCUBINSize)(nvrtcProgram, size_t *);
  nvrtcResult (*GetCUBIN)(nvrtcProgram, char *);
  nvrtcResult (*GetProgramLogSize)(nvrtcProgram, size_t *);
  nvrtcResult (*GetProgramLog)(nvrtcProgram, char *);
  nvrtcResult (*Version)(int *, int *);
  CUresult (*ModuleLoadData)(CUmodule *, const void *);
  CUresult (*ModuleUnload)(CUmodule);
  CUresult (*ModuleGetFunction)(CUfunction *, CUmodule, const char *);
  CUresult (*ModuleGetGlobal)(CUdeviceptr *, size_t *, CUmodule, const char *);
  CUresult (*LaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                           void **);
} rt;

/* One symbol into the pointer to a function at `to` */
static PetscBool Symbol(void *lib, const char name[], void *to)
{
  void *p = lib ? dlsym(lib, name) : NULL;

  memcpy(to, &p, sizeof(p));
  return p ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode LoadNVRTC(char why[], size_t len)
{
  static const char *const names[]                  = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
  char                     path[PETSC_MAX_PATH_LEN] = "";
  PetscBool                ok;

  PetscFunctionBegin;
  if (rt.nvrtc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_pointwise_nvrtc", path, sizeof(path), NULL));
  if (path[0]) rt.nvrtc = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (size_t k = 0; !path[0] && !rt.nvrtc && k < PETSC_STATIC_ARRAY_LENGTH(names); ++k)
    rt.nvrtc = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  if (!rt.nvrtc) {
    PetscCall(PetscSNPrintf(why, len,
                            "%s, CUDA's compiler at run time, is not found: install it, or name it by -hops_pointwise_nvrtc",
                            path[0] ? path : "libnvrtc.so"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ok = Symbol(rt.nvrtc, "nvrtcCreateProgram", &rt.CreateProgram);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcCompileProgram", &rt.CompileProgram) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcDestroyProgram", &rt.DestroyProgram) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcGetCUBINSize", &rt.GetCUBINSize) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcGetCUBIN", &rt.GetCUBIN) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcGetProgramLogSize", &rt.GetProgramLogSize) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcGetProgramLog", &rt.GetProgramLog) && ok);
  ok = (PetscBool)(Symbol(rt.nvrtc, "nvrtcVersion", &rt.Version) && ok);
  if (!ok) {
    PetscCall(PetscSNPrintf(why, len, "CUDA's compiler at run time is too old: take that of CUDA 11.2 or later"));
    dlclose(rt.nvrtc);
    rt.nvrtc = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadDriver(char why[], size_t len)
{
  PetscBool ok;

  PetscFunctionBegin;
  if (rt.driver) PetscFunctionReturn(PETSC_SUCCESS);
  rt.driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  ok        = Symbol(rt.driver, "cuModuleLoadData", &rt.ModuleLoadData);
  ok        = (PetscBool)(Symbol(rt.driver, "cuModuleUnload", &rt.ModuleUnload) && ok);
  ok        = (PetscBool)(Symbol(rt.driver, "cuModuleGetFunction", &rt.ModuleGetFunction) && ok);
  ok        = (PetscBool)(Symbol(rt.driver, "cuModuleGetGlobal_v2", &rt.ModuleGetGlobal) && ok);
  ok        = (PetscBool)(Symbol(rt.driver, "cuLaunchKernel", &rt.LaunchKernel) && ok);
  if (!ok) {
    PetscCall(PetscSNPrintf(why, len, "the device's driver, libcuda.so.1, is not found or too old"));
    if (rt.driver) dlclose(rt.driver);
    rt.driver = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ on the disk ------------------------------------------ */

static void Hash(const char s[], uint64_t h[2])
{
  for (; *s; ++s) {
    h[0] = (h[0] ^ (unsigned char)*s) * 0x100000001b3ull;
    h[1] = (h[1] + (unsigned char)*s) * 0x9e3779b97f4a7c15ull;
    h[1] ^= h[1] >> 29;
  }
}

/* The file of a text compiled so; path is "" where there is no folder for it. A newline separates the key's
   parts, which none but the text contains */
static PetscErrorCode CachePath(const char text[], const char kernels[], int n, const char *const options[], char path[],
                                size_t len)
{
  char        dir[PETSC_MAX_PATH_LEN] = "", version[64];
  const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
  uint64_t    h[2]  = {0xcbf29ce484222325ull, 0};
  int         major = 0, minor = 0;

  PetscFunctionBegin;
  path[0] = '\0';
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_pointwise_cache", dir, sizeof(dir), NULL));
  if (!dir[0] && xdg && xdg[0]) PetscCall(PetscSNPrintf(dir, sizeof(dir), "%s/hops", xdg));
  else if (!dir[0] && home && home[0]) {
    PetscCall(PetscSNPrintf(dir, sizeof(dir), "%s/.cache", home));
    (void)mkdir(dir, 0700);
    PetscCall(PetscSNPrintf(dir, sizeof(dir), "%s/.cache/hops", home));
  }
  if (!dir[0]) PetscFunctionReturn(PETSC_SUCCESS);
  (void)mkdir(dir, 0700);
  (void)(*rt.Version)(&major, &minor);
  PetscCall(PetscSNPrintf(version, sizeof(version), "\n%d.%d", major, minor));
  Hash(text, h);
  Hash(kernels, h);
  for (int k = 0; k < n; ++k) {
    Hash("\n", h);
    Hash(options[k], h);
  }
  Hash(version, h);
  PetscCall(PetscSNPrintf(path, len, "%s/%016llx%016llx.cubin", dir, (unsigned long long)h[0], (unsigned long long)h[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CacheRead(const char path[], char **code)
{
  FILE *f = path[0] ? fopen(path, "rb") : NULL;
  long  n;

  PetscFunctionBegin;
  *code = NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  (void)fseek(f, 0, SEEK_END);
  n = ftell(f);
  rewind(f);
  if (n > 0) {
    PetscCall(PetscMalloc1(n, code));
    if (fread(*code, 1, n, f) != (size_t)n) PetscCall(PetscFree(*code));
  }
  (void)fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By another name first, since other processes may look */
static PetscErrorCode CacheWrite(const char path[], size_t n, const char code[])
{
  char      tmp[PETSC_MAX_PATH_LEN];
  FILE     *f;
  PetscBool ok;

  PetscFunctionBegin;
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(tmp, sizeof(tmp), "%s.%d", path, (int)getpid()));
  f = fopen(tmp, "wb");
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  ok = fwrite(code, 1, n, f) == n ? PETSC_TRUE : PETSC_FALSE;
  if (fclose(f)) ok = PETSC_FALSE;
  if (!ok || rename(tmp, path)) (void)remove(tmp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the module ------------------------------------------- */

/* The first line of the compiler's messages that is an error */
static PetscErrorCode CompilerSays(nvrtcProgram program, char why[], size_t len)
{
  size_t n;
  char  *log, *line, *end;

  PetscFunctionBegin;
  (void)(*rt.GetProgramLogSize)(program, &n);
  PetscCall(PetscMalloc1(n + 1, &log));
  (void)(*rt.GetProgramLog)(program, log);
  log[n] = '\0';
  line   = strstr(log, "error");
  if (!line) line = log;
  end = strchr(line, '\n');
  if (end) *end = '\0';
  PetscCall(PetscSNPrintf(why, len, "CUDA's compiler does not take the point functions: %s", line));
  PetscCall(PetscFree(log));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compile(const char text[], const char kernels[], int nopt, const char *const options[], size_t *n,
                              char **code, char why[], size_t len)
{
  nvrtcProgram program;
  char        *all;
  size_t       size = strlen(text) + strlen(kernels) + 2;

  PetscFunctionBegin;
  *code = NULL;
  PetscCall(PetscMalloc1(size, &all));
  PetscCall(PetscSNPrintf(all, size, "%s\n", text));
  PetscCall(PetscStrlcat(all, kernels, size));
  PetscCheck((*rt.CreateProgram)(&program, all, "pointfunctions", 0, NULL, NULL) == NVRTC_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "nvrtcCreateProgram() fails");
  if ((*rt.CompileProgram)(program, nopt, options) != NVRTC_SUCCESS) PetscCall(CompilerSays(program, why, len));
  else {
    PetscCheck((*rt.GetCUBINSize)(program, n) == NVRTC_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "nvrtcGetCUBINSize() fails");
    PetscCall(PetscMalloc1(*n, code));
    PetscCheck((*rt.GetCUBIN)(program, *code) == NVRTC_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "nvrtcGetCUBIN() fails");
  }
  (void)(*rt.DestroyProgram)(&program);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleCreate_CUDA(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *out,
                                                 char why[], size_t len)
{
  HopsPointModule m;
  char            arch[32], path[PETSC_MAX_PATH_LEN], *cubin = NULL;
  const char     *options[] = {arch, "--std=c++17", fma ? "--fmad=true" : "--fmad=false"};
  const int       nopt      = (int)PETSC_STATIC_ARRAY_LENGTH(options);
  int             device, major, minor;
  size_t          n = 0;

  PetscFunctionBegin;
  *out   = NULL;
  why[0] = '\0';
  PetscCall(LoadNVRTC(why, len));
  if (!why[0]) PetscCall(LoadDriver(why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  PetscCall(PetscSNPrintf(arch, sizeof(arch), "--gpu-architecture=sm_%d%d", major, minor));
  PetscCall(CachePath(code->text, kernels, nopt, options, path, sizeof(path)));
  PetscCall(CacheRead(path, &cubin));
  PetscCall(PetscInfo(NULL, "point functions: %s %s\n", cubin ? "compiled before, in" : "to be compiled, for",
                      path[0] ? path : "this run"));
  if (!cubin) {
    PetscCall(Compile(code->text, kernels, nopt, options, &n, &cubin, why, len));
    if (!cubin) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(CacheWrite(path, n, cubin));
  }
  PetscCall(PetscNew(&m));
  m->code = code;
  PetscCheck((*rt.ModuleLoadData)(&m->module, cubin) == CUDA_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The device does not load the compiled point functions: remove %s, if it is there", path);
  PetscCall(PetscFree(cubin));
  PetscCall(PetscCalloc1(code->nvars, &m->var));
  for (PetscInt k = 0; k < code->nvars; ++k) {
    size_t size;

    if ((*rt.ModuleGetGlobal)(&m->var[k], &size, m->module, code->var[k].name) != CUDA_SUCCESS)
      m->var[k] = 0; /* no kernel reads it */
    else
      PetscCheck(size == code->var[k].size, PETSC_COMM_SELF, PETSC_ERR_LIB, "The variable %s has %zu bytes on the device, not %zu",
                 code->var[k].name, size, code->var[k].size);
  }
  *out = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleRefresh_CUDA(HopsPointModule m)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < m->code->nvars; ++k)
    if (m->var[k]) PetscCall(HopsCopy_CUDA(NULL, (void *)m->var[k], m->code->var[k].host, m->code->var[k].size, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleLaunch_CUDA(HopsPointModule m, const char kernel[], PetscInt grid, PetscInt block,
                                                 void *args[])
{
  PetscInt     k = 0;
  cudaStream_t stream;

  PetscFunctionBegin;
  while (k < m->n && strcmp(m->name[k], kernel)) ++k;
  if (k == m->n) {
    PetscCheck(m->n < HOPS_MODULE_KERNELS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d kernels in a module",
               HOPS_MODULE_KERNELS);
    PetscCheck((*rt.ModuleGetFunction)(&m->kernel[k], m->module, kernel) == CUDA_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "The compiled point functions have no kernel %s", kernel);
    PetscCall(PetscStrncpy(m->name[m->n++], kernel, sizeof(m->name[0])));
  }
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCheck((*rt.LaunchKernel)(m->kernel[k], (unsigned)grid, 1, 1, (unsigned)block, 1, 1, 0, stream, args, NULL) == CUDA_SUCCESS,
             PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The kernel %s of compiled point functions cannot be launched, with %d blocks of %d threads", kernel, (int)grid,
             (int)block);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointModuleDestroy_CUDA(HopsPointModule *m)
{
  PetscFunctionBegin;
  if (!*m) PetscFunctionReturn(PETSC_SUCCESS);
  (void)(*rt.ModuleUnload)((*m)->module);
  PetscCall(PetscFree((*m)->var));
  PetscCall(PetscFree(*m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsPointOps HopsPointCUDA = {.Create  = HopsPointModuleCreate_CUDA,
                                    .Refresh = HopsPointModuleRefresh_CUDA,
                                    .Launch  = HopsPointModuleLaunch_CUDA,
                                    .Destroy = HopsPointModuleDestroy_CUDA};
