/* Matrices on arrays that a device assembled (src/hypre, src/space/derham). */
#pragma once
#include <hops/private/hopslorrowsimpl.h>
#include <petscmat.h>

#if HOPS_HAVE_HYPRE_DEVICE
/* hypre frees its matrix's arrays, so they come from its own allocator */
PETSC_INTERN PetscErrorCode HopsHypreAlloc(size_t bytes, void **);
PETSC_INTERN PetscErrorCode HopsHypreFree(void **);
/* hypre's products by its own kernels, not cuSPARSE's, and its memory as below, in the whole process */
PETSC_INTERN PetscErrorCode HopsHypreConfigure(void);
/* hypre's memory of the device: where there is none left, the host's, so that hypre does not end the
   process */
PETSC_INTERN PetscErrorCode HopsHypreSetMemory(void);
/* PETSC_ERR_MEM where a rank had to do that since the last call. Collective */
PETSC_INTERN PetscErrorCode HopsHypreCheckMemory(MPI_Comm);
/* may a matrix from one space to the other be wrapped? It may where all ranks have rows and columns.
   Collective; initialises hypre if so */
PETSC_INTERN PetscErrorCode HopsHypreCanWrap(HopsSpace rows, HopsSpace columns, PetscBool *);
/* MATHYPRE on the arrays of the rows, nc for an unknown of the space, which it takes over; cols[ncols]:
   global indices of block 1's columns, ascending */
PETSC_INTERN PetscErrorCode HopsHypreWrap(HopsSpace rows, HopsSpace columns, PetscInt nc, HopsLORRows *, PetscInt ncols,
                                          const PetscInt cols[], Mat *);
/* MATHYPRE of a hypre_ParCSRMatrix whose blocks lie on the device */
PETSC_INTERN PetscErrorCode HopsHypreFinish(void *parcsr, Mat *);
/* src/hypre/matrix/hypregather.c, collective: all rows of a hypre_ParCSRMatrix as a hypre_CSRMatrix on the
   device of rank `root`, or of every rank where root < 0, else NULL; the same of a MATHYPRE, on
   PETSC_COMM_SELF */
PETSC_INTERN PetscErrorCode HopsHypreGather(MPI_Comm, void *parcsr, PetscMPIInt root, void **csr);
PETSC_INTERN PetscErrorCode HopsHypreGatherMat(Mat, PetscMPIInt root, Mat *whole);
/* global numbers of the columns of other ranks, in the process's memory: of HYPRE_BigInt */
PETSC_INTERN const void *HopsHypreColumnsOfOthers(void *parcsr);
/* count[], first[] of the ranks: how many entries each has, and where they begin among those of all */
PETSC_INTERN PetscErrorCode HopsGatherPlaces(MPI_Comm, PetscMPIInt n, PetscMPIInt count[], PetscMPIInt first[], PetscMPIInt *total);
#endif

/*
  Matrix with the pattern of HopsDeviceIncidence: columns of row i of a cell's E-vector of `to` are table[i *
  n + k] (2 * entry of `from` + 1 where it is subtracted, -1 for none); scale[nT], where not NULL, is on the
  device: all entries of row l are scale[l] / n. type: MATHYPRE, or anything else for a matrix that PETSc
  makes of a host AIJ. extra[nextra]: own columns without an entry, which get an explicit zero. Collective
*/
PETSC_INTERN PetscErrorCode HopsIncidenceMatCreate(HopsSpace from, HopsSpace to, PetscInt n, const int table[],
                                                   const PetscReal scale[], PetscInt nextra, const int extra[], MatType type,
                                                   Mat *);
/* src/space/derham/derivative.c: cell[to->ncells], the cells of `to` in the order of `from`; checks that
   there is a derivative where asked for */
PETSC_INTERN PetscErrorCode HopsCompanionCells(HopsSpace from, HopsSpace to, PetscInt *cell[]);
/* HopsSpaceCreateDerivative() of any type, on a device */
PETSC_INTERN PetscErrorCode HopsDerivativeCreateDevice(HopsSpace from, HopsSpace to, PetscInt nextra, const int extra[],
                                                       MatType type, Mat *);
