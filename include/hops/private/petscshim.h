/* The one place that knows the differences between PETSc versions and PETSc's private headers. */
#pragma once
#include <petscversion.h>
#include <petscsys.h>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "hops needs a PETSc with real double-precision scalars: use libpetsc-real-dev, or configure with --with-scalar-type=real --with-precision=double"
#endif
#if PETSC_VERSION_LT(3, 18, 0)
  #error "hops needs PETSc 3.18 or newer"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif
#if !defined(PetscAssertPointer)
  #define PetscAssertPointer(ptr, arg) \
    do { \
      (void)(ptr); \
      (void)(arg); \
    } while (0)
#endif
#if !defined(PETSC_INT_MAX)
  #define PETSC_INT_MAX PETSC_MAX_INT
#endif

/* a function pointer of unspecified arguments, as MatShellSetOperation() wants it */
#if PETSC_VERSION_GE(3, 24, 0)
typedef PetscErrorCodeFn *HopsVoidFn;
#else
typedef void (*HopsVoidFn)(void);
#endif
