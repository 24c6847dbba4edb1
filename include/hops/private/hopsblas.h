/* BLAS and LAPACK of doubles: PETSc's own names of a build with real scalars; one with complex scalars
   declares few of them. */
#pragma once
#include <petscblaslapack.h>

#if defined(PETSC_USE_COMPLEX)
  #define HopsBLASgemm    BLASREALgemm_
  #define HopsBLASgemv    PETSCBLASREAL(gemv, GEMV)
  #define HopsLAPACKsyev  PETSCBLASREAL(syev, SYEV)
  #define HopsLAPACKsygv  PETSCBLASREAL(sygv, SYGV)
  #define HopsLAPACKpotrf PETSCBLASREAL(potrf, POTRF)
  #define HopsLAPACKpotri PETSCBLASREAL(potri, POTRI)
BLAS_EXTERN void HopsBLASgemv(const char *, const PetscBLASInt *, const PetscBLASInt *, const PetscReal *, const PetscReal *,
                              const PetscBLASInt *, const PetscReal *, const PetscBLASInt *, const PetscReal *, PetscReal *,
                              const PetscBLASInt *);
BLAS_EXTERN void HopsLAPACKsyev(const char *, const char *, const PetscBLASInt *, PetscReal *, const PetscBLASInt *, PetscReal *,
                                PetscReal *, const PetscBLASInt *, PetscBLASInt *);
BLAS_EXTERN void HopsLAPACKsygv(const PetscBLASInt *, const char *, const char *, const PetscBLASInt *, PetscReal *,
                                const PetscBLASInt *, PetscReal *, const PetscBLASInt *, PetscReal *, PetscReal *,
                                const PetscBLASInt *, PetscBLASInt *);
BLAS_EXTERN void HopsLAPACKpotrf(const char *, const PetscBLASInt *, PetscReal *, const PetscBLASInt *, PetscBLASInt *);
BLAS_EXTERN void HopsLAPACKpotri(const char *, const PetscBLASInt *, PetscReal *, const PetscBLASInt *, PetscBLASInt *);
#else
  #define HopsBLASgemm    BLASgemm_
  #define HopsBLASgemv    BLASgemv_
  #define HopsLAPACKsyev  LAPACKsyev_
  #define HopsLAPACKsygv  LAPACKsygv_
  #define HopsLAPACKpotrf LAPACKpotrf_
  #define HopsLAPACKpotri LAPACKpotri_
#endif
