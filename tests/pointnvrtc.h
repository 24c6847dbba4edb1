/* CUDA's compiler takes what the compiler of C++ takes: for an H100, where there may be none to run it on */
#pragma once
#include <hops/private/hopspointimpl.h>
#include <backend/nvrtc/nvrtc.h>

/* taken: false with the compiler's message in why */
static PetscErrorCode TestNvrtc(HopsPointCode code, const char kernels[], PetscBool fma, PetscBool *taken, char why[], size_t len)
{
  const size_t n = strlen(code->text) + strlen(kernels) + 2;
  char        *text, *image;
  size_t       size;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &text));
  PetscCall(PetscSNPrintf(text, n, "%s\n", code->text));
  PetscCall(PetscArraycpy(text + strlen(text), kernels, strlen(kernels) + 1));
  PetscCall(HopsNvrtcCompile(text, 90, fma, &image, &size, why, len));
  *taken = image ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscFree(image));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
