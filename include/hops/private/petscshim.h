/* The one place that knows the differences between PETSc versions and PETSc's private headers. */
#pragma once
#include <petscversion.h>
#include <petscsys.h>

#if !defined(PETSC_USE_REAL_DOUBLE)
  #error "hops needs a PETSc in double precision (configure: --with-precision=double)"
#endif
#if defined(PETSC_USE_COMPLEX) && (defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS))
  #error "hops works with complex scalars on the host alone: take a PETSc without CUDA, and leave out KOKKOS"
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

/* Forms are real, and so is all that hops computes with. A vector of complex scalars has two parts, which a
   real operator works on one after the other */
#if defined(PETSC_USE_COMPLEX)
  #define HOPS_PARTS 2
#else
  #define HOPS_PARTS 1
#endif
static inline PetscReal HopsScalarPart(PetscScalar s, PetscInt part)
{
  return part ? PetscImaginaryPart(s) : PetscRealPart(s);
}
static inline void HopsScalarSetPart(PetscScalar *s, PetscInt part, PetscReal v)
{
  ((PetscReal *)s)[part] = v;
}

/* sorts numbers, and the real values that go with them */
#if defined(PETSC_USE_COMPLEX)
  #define HopsSortIntWithReals(n, i, x) PetscSortIntWithDataArray(n, i, x, sizeof(PetscReal), &(PetscReal){0})
#else
  #define HopsSortIntWithReals(n, i, x) PetscSortIntWithScalarArray(n, i, x)
#endif

/* the MPI type of PetscBool */
#if PETSC_VERSION_GE(3, 24, 0)
  #define HOPS_MPI_BOOL MPI_C_BOOL
#else
  #define HOPS_MPI_BOOL MPIU_BOOL
#endif

/* a function pointer of unspecified arguments, as MatShellSetOperation() wants it */
#if PETSC_VERSION_GE(3, 24, 0)
typedef PetscErrorCodeFn *HopsVoidFn;
#else
typedef void (*HopsVoidFn)(void);
#endif

/* PCSetFromOptions' argument */
#if PETSC_VERSION_GE(3, 23, 0)
typedef PetscOptionItems HopsOptionItems;
#else
typedef PetscOptionItems *HopsOptionItems;
#endif

/* a pointwise residual function of a PetscDS */
typedef void (*HopsPointFun)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[],
                             const PetscScalar[], const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[],
                             const PetscScalar[], const PetscScalar[], PetscReal, const PetscReal[], PetscInt, const PetscScalar[],
                             PetscScalar[]);

/* a pointwise Jacobian function of a PetscDS */
typedef void (*HopsPointJac)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[],
                             const PetscScalar[], const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[],
                             const PetscScalar[], const PetscScalar[], PetscReal, PetscReal, const PetscReal[], PetscInt,
                             const PetscScalar[], PetscScalar[]);

/* a pointwise boundary Jacobian function of a PetscDS */
typedef void (*HopsBdPointJac)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[],
                               const PetscScalar[], const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[],
                               const PetscScalar[], const PetscScalar[], PetscReal, PetscReal, const PetscReal[], const PetscReal[],
                               PetscInt, const PetscScalar[], PetscScalar[]);

#if PETSC_VERSION_GE(3, 19, 0)
  #define HopsDMGetCellDS(dm, cell, ds)  DMGetCellDS(dm, cell, ds, NULL)
  #define HopsDMGetRegionDS(dm, i, ds)   DMGetRegionNumDS(dm, i, NULL, NULL, ds, NULL)
  #define HopsDMGetRegionLabel(dm, i, l) DMGetRegionNumDS(dm, i, l, NULL, NULL, NULL)
#else
  #define HopsDMGetCellDS(dm, cell, ds)  DMGetCellDS(dm, cell, ds)
  #define HopsDMGetRegionDS(dm, i, ds)   DMGetRegionNumDS(dm, i, NULL, NULL, ds)
  #define HopsDMGetRegionLabel(dm, i, l) DMGetRegionNumDS(dm, i, l, NULL, NULL)
#endif

/* KSPSetDMActive()'s arguments for a DM that makes neither operator nor right-hand side */
#if PETSC_VERSION_GE(3, 25, 0)
  #define HopsKSPSetDMInactive(ksp) KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE)
#else
  #define HopsKSPSetDMInactive(ksp) KSPSetDMActive(ksp, PETSC_FALSE)
#endif

#if PETSC_VERSION_GE(3, 21, 0)
  #define HopsDMPlexSetSNESLocalFEM(dm) DMPlexSetSNESLocalFEM(dm, PETSC_FALSE, NULL)
#else
  #define HopsDMPlexSetSNESLocalFEM(dm) DMPlexSetSNESLocalFEM(dm, NULL, NULL, NULL)
#endif

#if PETSC_VERSION_GE(3, 19, 0)
  #define HopsDMSetRegionDS(dm, label, fields, ds)       DMSetRegionDS(dm, label, fields, ds, NULL)
  #define HopsDMSetRegionNumDS(dm, i, label, fields, ds) DMSetRegionNumDS(dm, i, label, fields, ds, NULL)
#else
  #define HopsDMSetRegionDS(dm, label, fields, ds)       DMSetRegionDS(dm, label, fields, ds)
  #define HopsDMSetRegionNumDS(dm, i, label, fields, ds) DMSetRegionNumDS(dm, i, label, fields, ds)
#endif

#if PETSC_VERSION_GE(3, 22, 0)
  #define HopsDMPlexCreateBox(comm, dim, simplex, faces, dm) \
    DMPlexCreateBoxMesh(comm, dim, simplex, faces, NULL, NULL, NULL, PETSC_TRUE, 0, PETSC_TRUE, dm)
#else
  #define HopsDMPlexCreateBox(comm, dim, simplex, faces, dm) \
    DMPlexCreateBoxMesh(comm, dim, simplex, faces, NULL, NULL, NULL, PETSC_TRUE, dm)
#endif

/* a PetscContainer's own destructor */
#if PETSC_VERSION_GE(3, 25, 0)
typedef void *HopsContainerCtx; /* the address of the context */
  #define HopsContainerData(ctx)        (*(void **)(ctx))
  #define HopsContainerSetDestroy(c, f) PetscContainerSetCtxDestroy(c, f)
#elif PETSC_VERSION_GE(3, 23, 0)
typedef void            **HopsContainerCtx;
  #define HopsContainerData(ctx)        (*(ctx))
  #define HopsContainerSetDestroy(c, f) PetscContainerSetCtxDestroy(c, f)
#else
typedef void *HopsContainerCtx;
  #define HopsContainerData(ctx)        (ctx)
  #define HopsContainerSetDestroy(c, f) PetscContainerSetUserDestroy(c, f)
#endif

/* boundary residual of one value of a label */
#if PETSC_VERSION_GE(3, 23, 0)
  #define HopsDMPlexBdResidual(dm, t, wf, key, X, Xt, F) DMPlexComputeBdResidualSingle(dm, wf, key, X, Xt, t, F)
#else
  #define HopsDMPlexBdResidual(dm, t, wf, key, X, Xt, F) DMPlexComputeBdResidualSingle(dm, t, wf, key, X, Xt, F)
#endif

/* does MPI read a device's memory itself (-use_gpu_aware_mpi)? */
#if defined(PETSC_HAVE_DEVICE)
PETSC_EXTERN PetscBool use_gpu_aware_mpi; /* declared by petscimpl.h */
  #define HopsGPUAwareMPI() use_gpu_aware_mpi
#else
  #define HopsGPUAwareMPI() PETSC_FALSE
#endif

/* the stream on which PETSc's own device vectors work. HopsGetCUDAStream(): where the back end's work goes,
   the same but where it is recorded */
#if defined(PETSC_HAVE_CUDA)
  #if PETSC_VERSION_GE(3, 20, 0)
    #define HopsPetscCUDAStream(stream) PetscGetCurrentCUDAStream(stream)
  #else
    #define HopsPetscCUDAStream(stream) (*(stream) = PetscDefaultCudaStream, PETSC_SUCCESS)
  #endif
struct CUstream_st;
EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsGetCUDAStream(struct CUstream_st **);
EXTERN_C_END
#endif

/* what only builds with CUDA have: a table of functions, else NULL; matrices on a device (nothing reaches
   them in other builds) */
#if defined(PETSC_HAVE_CUDA)
  #define HOPS_CUDA_TABLE(table)             (&(table))
  #define HOPS_MATAIJDEVICE                  MATAIJCUSPARSE
  #define HopsSeqAIJDeviceGetArray(A, a)     MatSeqAIJCUSPARSEGetArray(A, a)
  #define HopsSeqAIJDeviceRestoreArray(A, a) MatSeqAIJCUSPARSERestoreArray(A, a)
#else
  #define HOPS_CUDA_TABLE(table)             NULL
  #define HOPS_MATAIJDEVICE                  MATAIJ
  #define HopsSeqAIJDeviceGetArray(A, a)     MatSeqAIJGetArray(A, a)
  #define HopsSeqAIJDeviceRestoreArray(A, a) MatSeqAIJRestoreArray(A, a)
#endif

/* PETSc's own vectors and matrices of Kokkos, in the memory that its Kokkos works in: its KokkosKernels
   brings them */
#if defined(PETSC_HAVE_KOKKOS_KERNELS)
  #define HOPS_HAVE_VECKOKKOS 1
#else
  #define HOPS_HAVE_VECKOKKOS 0
#endif

/* hypre's matrices on a device: its own header, for arrays that change hands */
#if defined(PETSC_HAVE_HYPRE_DEVICE) && defined(PETSC_HAVE_CUDA)
  #define HOPS_HAVE_HYPRE_DEVICE 1
#else
  #define HOPS_HAVE_HYPRE_DEVICE 0
#endif

/* hypre's solver inside a PCHYPRE, for which PETSc has no function: the first member of its data in all
   supported versions */
#define HopsPCHYPREGetSolver(pc) (*(HYPRE_Solver *)(pc)->data)

/* how many pairs of periodic faces a DMPlex identifies beside its point SF */
#if PETSC_VERSION_GE(3, 21, 0)
  #define HopsDMPlexGetIdentified(dm, n) DMPlexGetIsoperiodicFaceSF(dm, n, &(const PetscSF *){NULL}) /* not optional */
#else
  #define HopsDMPlexGetIdentified(dm, n) (*(n) = 0, PETSC_SUCCESS)
#endif

/* coordinates in the space of a PetscFE */
#if PETSC_VERSION_GE(3, 24, 0)
  #define HopsDMSetCoordinateDisc(dm, fe) DMSetCoordinateDisc(dm, fe, PETSC_FALSE, PETSC_TRUE)
#elif PETSC_VERSION_GE(3, 21, 0)
  #define HopsDMSetCoordinateDisc(dm, fe) DMSetCoordinateDisc(dm, fe, PETSC_TRUE)
#else
  #define HopsDMSetCoordinateDisc(dm, fe) DMProjectCoordinates(dm, fe)
#endif

/* numbers of ranks in a PetscSF */
#if PETSC_VERSION_GE(3, 22, 0)
typedef PetscMPIInt HopsSFRank;
#else
typedef PetscInt          HopsSFRank;
#endif
