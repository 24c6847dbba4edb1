/* Memory that the ranks of one host share and their devices reach: src/sys/hostshare.c. */
#pragma once
#include <hops/private/hopsimpl.h>

typedef struct _HopsShare *HopsShare;

/* A piece of it for each rank. Offsets are bytes from the base, which is the same memory on all ranks */
typedef struct {
  HopsShare share;  /* NULL: there is none */
  PetscInt  number; /* among the pieces that live: the same on all ranks */
  char     *host, *device;
  size_t   *first; /* [ranks] where the pieces of the ranks begin, multiples of HOPS_SHARE_ALIGN */
} HopsSharePiece;

#define HOPS_SHARE_ALIGN ((size_t)128)

/* `share` is NULL where the ranks are on several hosts, or the back end's device does not reach such memory.
   It lives as long as the communicator. Collective */
PETSC_INTERN PetscErrorCode HopsShareGet(MPI_Comm, const HopsMemoryOps *, HopsShare *);
/* A piece of n bytes of this rank's, and pieces of theirs for the others; its share is NULL if there is no
   more. Collective */
PETSC_INTERN PetscErrorCode HopsShareAlloc(HopsShare, size_t n, HopsSharePiece *);
/* Not collective: the memory serves again once all ranks have freed their pieces */
PETSC_INTERN PetscErrorCode HopsShareFree(HopsSharePiece *);

/* src/space/prolongshared.c: ghosts through such memory. Devices write it, read it and wait for one another,
   the processes wait for nothing */
typedef struct _HopsSharedHalo *HopsSharedHalo;
/* Of entries of nc components. NULL where there is no such memory. Collective */
PETSC_INTERN PetscErrorCode HopsSharedHaloCreate(MPI_Comm, const HopsBackendOps *, const HopsHalo *, PetscInt nc, PetscDataType,
                                                 HopsSharedHalo *);
PETSC_INTERN PetscErrorCode HopsSharedHaloDestroy(HopsSharedHalo *);
/* Shared entries of x to ghosts; ghosts added to shared entries of y */
PETSC_INTERN PetscErrorCode HopsSharedHaloBcastBegin(HopsSharedHalo, const PetscInt idx[], const void *x);
PETSC_INTERN PetscErrorCode HopsSharedHaloBcastEnd(HopsSharedHalo, void *xg);
PETSC_INTERN PetscErrorCode HopsSharedHaloReduceBegin(HopsSharedHalo, const void *yg);
PETSC_INTERN PetscErrorCode HopsSharedHaloReduceEnd(HopsSharedHalo, void *y);
/* src/space/prolong.c: a HopsProlong that is of this kind, or NULL */
PETSC_INTERN PetscErrorCode HopsProlongCreateShared(HopsSpace, const HopsBackendOps *, const HopsHalo *, PetscDataType,
                                                    HopsProlong *);
