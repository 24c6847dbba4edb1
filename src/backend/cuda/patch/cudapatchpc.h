/* CUDA: the patches of a HopsSpace (PCPATCHFD) on the device, maps between nested spaces, and copies in
   single precision. */
#pragma once
#include <hops/private/hopspatchimpl.h>
#include "cudapatch.h"
#include "cudapatchset.h"

/*
  What a fused sweep needs of a patch beside its record: the nodes of its cells, and its factors. A factor of
  n modes on N nodes is stored as S[n][R] and lambda[n] as in HopsCudaPatchRecord, then T[n][N] = S^T M and
  Ta[n][N] = S^T A on all nodes; where the window is all nodes but the first and the last, then alpha[2][n] =
  S^T A e and E[2][n], for the functions e that are 1 at one end and M-orthogonal to the modes, and their
  values E at the window's nodes.
*/
typedef struct {
  int    estart, esize[3], f[3];
  int    t[3];      /* for tensor cores: S^T, then S and E, then T as they are multiplied there (cudapatchpcsweep.cu) */
  double s5, omega; /* HopsPatches' scale[5], and the factor of the correction: scale[4] times it */
} HopsCudaSweepRecord;

/*
  Groups of patches: 0 have other windows than all nodes but the first and the last; 1 have those; from 2 on
  they are cubes in 3D, besides, with one symmetric factor in all directions and the same coefficients, which
  a HopsCudaPatch knows
*/
#define HOPS_CUDA_SWEEP_CLASSES 16

typedef struct {
  const HopsCudaSweepRecord *patches; /* [n] in the order of the set's records */
  const int                 *eidx;
  const void                *values;
  const double              *packed; /* NULL: no sweep runs on tensor cores */
  void                      *work;   /* scratch of plain sweeps that do not fit in shared memory */
  size_t                     nwork;  /* bytes of a block */
  int                        nblocks;
  HopsCudaPatch              classes[HOPS_CUDA_SWEEP_CLASSES]; /* of groups 2, 3, ... */
} HopsCudaSweepData;

EXTERN_C_BEGIN
PETSC_INTERN const HopsPatchSetUpOps HopsPatchSetUpCUDA;
/* bytes of shared memory of a plain sweep of a patch; the device's largest block has
   HOPS_CUDA_PATCH_SHARED */
#define HOPS_CUDA_PATCH_SHARED 232448
PETSC_INTERN size_t         HopsCudaSweepShared(int dim, const int n[3], const int N[3], PetscBool single);
PETSC_INTERN PetscErrorCode HopsCudaSweepLaunch(HopsCudaPatchSet, const HopsCudaSweepData *, const HopsCudaPatchRun *,
                                                PetscBool floats, const void *b, void *z, cudaStream_t);
EXTERN_C_END
