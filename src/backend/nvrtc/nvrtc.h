/* Text of CUDA C++ to machine code, at run time. */
#pragma once
#include <hops/private/hopsimpl.h>

/* src/backend/nvrtc/nvrtc.c: machine code of text for a device of compute capability arch, 90 say. fma: may
   multiplications and additions be fused? Where it cannot be had *image is NULL, and why[len] says why.
   PetscFree() it. Not collective */
PETSC_INTERN PetscErrorCode HopsNvrtcCompile(const char text[], PetscInt arch, PetscBool fma, char **image, size_t *size,
                                             char why[], size_t len);

/* src/backend/nvrtc/nvrtccache.c: files that an earlier process wrote, -hops_pointwise_cache */
/* the image that was stored with exactly this key, or NULL */
PETSC_INTERN PetscErrorCode HopsNvrtcCacheGet(const char key[], char **image, size_t *size);
/* a folder that cannot be written to is passed over */
PETSC_INTERN PetscErrorCode HopsNvrtcCachePut(const char key[], const char image[], size_t size);
