static char help[] = "Where CUDA's run-time compiler is not there, or is none.\n\n";

#include "hopstest.h"
#include <backend/nvrtc/nvrtc.h>

int main(int argc, char **argv)
{
  static const char *const names[] = {"/nowhere/libnvrtc.so", "libm.so.6"};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); ++k) {
    char   why[1024], *image;
    size_t size;

    PetscCall(PetscOptionsSetValue(NULL, "-hops_pointwise_nvrtc", names[k]));
    PetscCall(HopsNvrtcCompile("", 90, PETSC_FALSE, &image, &size, why, sizeof(why)));
    PetscCheck(!image, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s compiles", names[k]);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", why));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:

TEST*/
