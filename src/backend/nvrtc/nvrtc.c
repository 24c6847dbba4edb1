/* CUDA's run-time compiler. The library is looked for when it is first asked for: nothing links with it. */
#include <backend/nvrtc/nvrtc.h>
#include <dlfcn.h>

/* what of its interface is used; a result of 0 is success */
typedef struct _nvrtcProgram *NvrtcProgram;
typedef struct {
  void *lib;
  char  name[PETSC_MAX_PATH_LEN]; /* as it was asked for */
  int   major, minor;
  int (*Version)(int *, int *);
  int (*CreateProgram)(NvrtcProgram *, const char text[], const char name[], int, const char *const[], const char *const[]);
  int (*CompileProgram)(NvrtcProgram, int n, const char *const options[]);
  int (*DestroyProgram)(NvrtcProgram *);
  int (*GetCUBINSize)(NvrtcProgram, size_t *);
  int (*GetCUBIN)(NvrtcProgram, char[]);
  int (*GetProgramLogSize)(NvrtcProgram, size_t *);
  int (*GetProgramLog)(NvrtcProgram, char[]);
  const char *(*GetErrorString)(int);
} Nvrtc;
static Nvrtc rtc;

/* the name without a number comes with the developers' package alone */
static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
static const char *const roots[] = {"", "/usr/local/cuda/lib64/"};

static void NvrtcOpen(const char name[], char said[], size_t len)
{
  rtc.lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!rtc.lib && !said[0]) (void)PetscStrncpy(said, dlerror(), len);
}

/* -hops_pointwise_nvrtc, or where such libraries are */
static PetscErrorCode NvrtcFind(const char name[], char why[], size_t len)
{
  char said[256] = "";

  PetscFunctionBegin;
  if (name[0]) NvrtcOpen(name, said, sizeof(said));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(roots) && !name[0]; ++i)
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names) && !rtc.lib; ++k) {
      char path[PETSC_MAX_PATH_LEN];

      PetscCall(PetscSNPrintf(path, sizeof(path), "%s%s", roots[i], names[k]));
      NvrtcOpen(path, said, sizeof(said));
    }
  if (!rtc.lib)
    PetscCall(PetscSNPrintf(why, len,
                            "CUDA's run-time compiler is not there (%s): install NVRTC, or name the library by "
                            "-hops_pointwise_nvrtc /path/to/libnvrtc.so",
                            said));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NvrtcSymbols(char why[], size_t len)
{
  const struct {
    const char *name;
    void       *function;
  } symbol[] = {{"nvrtcVersion", &rtc.Version},
                {"nvrtcCreateProgram", &rtc.CreateProgram},
                {"nvrtcCompileProgram", &rtc.CompileProgram},
                {"nvrtcDestroyProgram", &rtc.DestroyProgram},
                {"nvrtcGetCUBINSize", &rtc.GetCUBINSize},
                {"nvrtcGetCUBIN", &rtc.GetCUBIN},
                {"nvrtcGetProgramLogSize", &rtc.GetProgramLogSize},
                {"nvrtcGetProgramLog", &rtc.GetProgramLog},
                {"nvrtcGetErrorString", &rtc.GetErrorString}};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(symbol) && !why[0]; ++k) {
    *(void **)symbol[k].function = dlsym(rtc.lib, symbol[k].name);
    if (!*(void **)symbol[k].function)
      PetscCall(PetscSNPrintf(why, len,
                              "the library %s has no function %s(): -hops_pointwise_nvrtc names NVRTC of CUDA 11.2 or later",
                              rtc.name[0] ? rtc.name : names[0], symbol[k].name));
  }
  if (!why[0] && (*rtc.Version)(&rtc.major, &rtc.minor)) PetscCall(PetscStrncpy(why, "NVRTC does not say its version", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NvrtcLoad(char why[], size_t len)
{
  char      name[PETSC_MAX_PATH_LEN] = "";
  PetscBool same;

  PetscFunctionBegin;
  why[0] = '\0';
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_pointwise_nvrtc", name, sizeof(name), NULL));
  PetscCall(PetscStrcmp(name, rtc.name, &same));
  if (rtc.lib && same) PetscFunctionReturn(PETSC_SUCCESS);
  if (rtc.lib) (void)dlclose(rtc.lib);
  PetscCall(PetscMemzero(&rtc, sizeof(rtc)));
  PetscCall(PetscStrncpy(rtc.name, name, sizeof(rtc.name)));
  PetscCall(NvrtcFind(name, why, len));
  if (rtc.lib) PetscCall(NvrtcSymbols(why, len));
  if (rtc.lib && why[0]) {
    (void)dlclose(rtc.lib);
    rtc.lib = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The compiler's first error: what follows is often its consequence */
static PetscErrorCode NvrtcRefuse(NvrtcProgram program, int result, const char arch[], char why[], size_t len)
{
  size_t n = 0;
  char  *log, *error, *end;

  PetscFunctionBegin;
  (void)(*rtc.GetProgramLogSize)(program, &n);
  PetscCall(PetscCalloc1(n + 1, &log));
  if (n) (void)(*rtc.GetProgramLog)(program, log);
  PetscCall(PetscInfo(NULL, "NVRTC %d.%d for %s says:\n%s\n", rtc.major, rtc.minor, arch, log));
  error = strstr(log, "error");
  while (error && error > log && error[-1] != '\n') --error;
  if (!error) error = log;
  end = strchr(error, '\n');
  if (end) *end = '\0';
  PetscCall(PetscSNPrintf(why, len, "NVRTC %d.%d does not compile them for %s (%s): %s", rtc.major, rtc.minor, arch,
                          (*rtc.GetErrorString)(result), error));
  PetscCall(PetscFree(log));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNvrtcCompile(const char text[], PetscInt arch, PetscBool fma, char **image, size_t *size, char why[], size_t len)
{
  char         sm[64], version[96];
  const char  *option[] = {sm, fma ? "-fmad=true" : "-fmad=false", "-std=c++17"};
  const int    noption  = (int)PETSC_STATIC_ARRAY_LENGTH(option);
  NvrtcProgram program;
  char        *key;
  size_t       nkey;
  int          result;

  PetscFunctionBegin;
  *image = NULL;
  *size  = 0;
  PetscCall(NvrtcLoad(why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(sm, sizeof(sm), "-arch=sm_%" PetscInt_FMT, arch));
  PetscCall(
    PetscSNPrintf(version, sizeof(version), "NVRTC %d.%d %s %s %s\n", rtc.major, rtc.minor, option[0], option[1], option[2]));
  nkey = strlen(version) + strlen(text) + 1;
  PetscCall(PetscMalloc1(nkey, &key));
  PetscCall(PetscSNPrintf(key, nkey, "%s%s", version, text));
  PetscCall(HopsNvrtcCacheGet(key, image, size));
  if (!*image) {
    result = (*rtc.CreateProgram)(&program, text, "hops_pointwise.cu", 0, NULL, NULL);
    PetscCheck(!result, PETSC_COMM_SELF, PETSC_ERR_LIB, "nvrtcCreateProgram(): %s", (*rtc.GetErrorString)(result));
    result = (*rtc.CompileProgram)(program, noption, option);
    if (!result) result = (*rtc.GetCUBINSize)(program, size);
    if (result || !*size) PetscCall(NvrtcRefuse(program, result, sm + 6, why, len));
    else {
      PetscCall(PetscMalloc1(*size, image));
      result = (*rtc.GetCUBIN)(program, *image);
      PetscCheck(!result, PETSC_COMM_SELF, PETSC_ERR_LIB, "nvrtcGetCUBIN(): %s", (*rtc.GetErrorString)(result));
      PetscCall(HopsNvrtcCachePut(key, *image, *size));
    }
    (void)(*rtc.DestroyProgram)(&program);
  }
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}
