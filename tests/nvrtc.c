static char help[] = "CUDA's run-time compiler, without a device: machine code, files that keep it, and what is refused.\n\n";

#include "hopstest.h"
#include <backend/nvrtc/nvrtc.h>
#include <dirent.h>

static const char Good[] =
  "extern \"C\" __global__ void Kernel(double *x, double a)\n{\n  x[threadIdx.x] = a * x[threadIdx.x] + 1.0;\n}\n";
static const char Bad[] = "extern \"C\" __global__ void Kernel(double *x)\n{\n  x[0] = missing(1.0);\n}\n";

/* a file of a folder, the first in the order of their names; n of them */
static PetscErrorCode Files(const char dir[], int *n, char path[], size_t len)
{
  struct dirent **list;

  PetscFunctionBeginUser;
  *n      = 0;
  path[0] = '\0';
  for (int k = 0, found = scandir(dir, &list, NULL, alphasort); k < found; ++k) {
    if (list[k]->d_name[0] != '.' && !(*n)++) PetscCall(PetscSNPrintf(path, len, "%s/%s", dir, list[k]->d_name));
    free(list[k]);
    if (k == found - 1) free(list);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What becomes of a text, and how many files there are then */
static PetscErrorCode Compile(const char what[], const char text[], PetscInt arch, PetscBool fma, const char dir[])
{
  char   why[1024], *image, path[PETSC_MAX_PATH_LEN], *line;
  size_t size;
  int    n;

  PetscFunctionBeginUser;
  PetscCall(HopsNvrtcCompile(text, arch, fma, &image, &size, why, sizeof(why)));
  PetscCall(Files(dir, &n, path, sizeof(path)));
  line = strstr(why, "error:"); /* without the version */
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s, files %d\n", what,
                        image ? (memcmp(image, "\177ELF", 4) ? "no ELF" : "compiled") : (line ? line : why), n));
  PetscCall(PetscFree(image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left of a file when a disk is full, or another key's file; flip -1: the first byte of the code */
static PetscErrorCode Spoil(const char dir[], long keep, int flip)
{
  char  path[PETSC_MAX_PATH_LEN], *data;
  FILE *f;
  long  size;
  int   n;

  PetscFunctionBeginUser;
  PetscCall(Files(dir, &n, path, sizeof(path)));
  f = fopen(path, "rb");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file in %s", dir);
  fseek(f, 0, SEEK_END);
  size = ftell(f);
  rewind(f);
  PetscCall(PetscMalloc1(size, &data));
  PetscCheck(fread(data, 1, size, f) == (size_t)size, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read %s", path);
  fclose(f);
  for (long k = 0; k < size - 4 && flip < 0; ++k)
    if (!memcmp(data + k, "\177ELF", 4)) flip = (int)k;
  data[flip] ^= 1;
  f = fopen(path, "wb");
  fwrite(data, 1, keep ? keep : size, f);
  fclose(f);
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char dir[] = "pointwise/cache"; /* the test runs in a folder of its own */

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_pointwise_cache", dir));
  PetscCall(Compile("first", Good, 90, PETSC_FALSE, dir));
  PetscCall(Compile("again", Good, 90, PETSC_FALSE, dir));
  PetscCall(Spoil(dir, 0, -1));
  PetscCall(Compile("from the file", Good, 90, PETSC_FALSE, dir));
  PetscCall(Spoil(dir, 200, 100));
  PetscCall(Compile("half a file", Good, 90, PETSC_FALSE, dir));
  PetscCall(Spoil(dir, 0, 60));
  PetscCall(Compile("another key", Good, 90, PETSC_FALSE, dir));
  PetscCall(Compile("fused", Good, 90, PETSC_TRUE, dir));
  PetscCall(Compile("another device", Good, 80, PETSC_FALSE, dir));
  PetscCall(Compile("missing function", Bad, 90, PETSC_FALSE, dir));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_pointwise_cache", "/proc/nowhere"));
  PetscCall(Compile("folder that cannot be", Good, 90, PETSC_FALSE, dir));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_pointwise_cache", "none"));
  PetscCall(Compile("no folder", Good, 90, PETSC_FALSE, dir));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    requires: nvrtc

TEST*/
