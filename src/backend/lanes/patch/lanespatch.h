/* Patches of a HopsSpace (PCPATCHFD) of back ends that launch kernels for teams of lanes: what such a back
   end brings. */
#pragma once
#include "lanespatchset.h"

/*
  What a fused sweep needs of a patch beside its record: the nodes of its cells, and its factors. A factor of
  n modes on N nodes is stored as S[n][R] and lambda[n] as in HopsLanesPatchRecord, then T[n][N] = S^T M and
  Ta[n][N] = S^T A on all nodes; where the window is all nodes but the first and the last, then alpha[2][n] =
  S^T A e and E[2][n], for the functions e that are 1 at one end and M-orthogonal to the modes, and their
  values E at the window's nodes.
*/
typedef struct {
  int    estart, esize[3], f[3];
  int    t[3];      /* as HopsLanesPackSweep() has them */
  double s5, omega; /* HopsPatches' scale[5], and the factor of the correction: scale[4] times it */
} HopsLanesSweepRecord;

/*
  Groups of patches: 0 have other windows than all nodes but the first and the last; 1 have those; from 2 on
  they are cubes in 3D, besides, with one symmetric factor in all directions and the same coefficients, which
  a class of the back end's knows
*/
#define HOPS_LANES_SWEEP_CLASSES 16

typedef struct {
  const HopsLanesSweepRecord *patches; /* [n] in the order of the set's records */
  const int                  *eidx;
  const void                 *values;
  const double               *packed;                            /* for tensor cores, or NULL */
  void                       *work;                              /* scratch of plain sweeps whose teams do not have it */
  size_t                      nwork;                             /* bytes of a team */
  int                         nteams, nfactor;                   /* nfactor: numbers of the largest factor but alpha and E */
  void                       *classes[HOPS_LANES_SWEEP_CLASSES]; /* of groups 2, 3, ... */
} HopsLanesSweepData;

/* No function waits for a device */
struct _HopsLanesPatchKernels {
  const HopsBackendOps *backend; /* whose memory it is */
  size_t (*MostScratch)(void);   /* bytes of scratch that a team can have */
  int group;                     /* patches whose numbers a host's lane holds side by side; 1 on a device */
  /* patches of a run: local solves, by which z changes where patches of others may do so at once (`atomic`);
     fused sweeps */
  PetscErrorCode (*Solve)(HopsLanesPatchSet, const HopsLanesPatchRun *, PetscBool atomic, HopsPatchMode, PetscBool floats,
                          const void *r, void *z);
  PetscErrorCode (*Sweep)(HopsLanesPatchSet, const HopsLanesSweepData *, const HopsLanesPatchRun *, PetscBool floats, const void *b,
                          void *z);
  /* NULL: a device adds atomically. Says where each entry of so many patches is added to, that no two threads
     add to the same, when a launch has patches that share unknowns */
  PetscErrorCode (*Mark)(HopsLanesPatchSet, PetscInt n, PetscInt nent);
  /* teams of a launch of plain sweeps whose scratch lies in the back end's memory */
  PetscErrorCode (*SweepTeams)(int *);
  /* NULL: kernels on tensor cores are not here. Has the device them, in double precision? */
  PetscErrorCode (*HasTensor)(PetscBool *);
  /* a class of cubes (group 2 and above), NULL: none. A, M: [2p+1][2p+1] of the two cells of a patch, rows
     inside; d and m: coefficients; flops of a patch */
  PetscErrorCode (*ClassCreate)(PetscInt p, const PetscReal A[], const PetscReal M[], const PetscReal d[], PetscReal m,
                                PetscBool single, void **, PetscLogDouble *flops);
  PetscErrorCode (*ClassDestroy)(void **);
};

EXTERN_C_BEGIN
/* For benchmarks and tests: 0 no tensor cores; else (default -1) wherever there is a kernel, which is where
   they are faster */
PETSC_INTERN int HopsLanesPatchTensor;
/* Are cubes of this size solved there? */
PETSC_INTERN PetscBool HopsLanesOnTensor(int size);
/* S^T and S of each factor as kernels on tensor cores read them, at[nfactors] where they begin; what sweeps
   need beside, of factors h[at[i]] as above. *packed is the back end's, NULL where the device or the
   precision has none */
PETSC_INTERN PetscErrorCode HopsLanesPackSet(const HopsLanesPatchKernels *, const HopsLanesPatchInput *, PetscInt at[],
                                             double **packed, PetscLogDouble *bytes);
PETSC_INTERN PetscErrorCode HopsLanesPackSweep(const HopsLanesPatchKernels *, HopsPatches, const double h[], const PetscInt at[],
                                               PetscInt tat[], double **packed, PetscLogDouble *bytes);
PETSC_INTERN PetscErrorCode HopsLanesPatchCreate(const HopsLanesPatchKernels *, HopsPatches, PetscDataType, HopsPatchSmoother *);
EXTERN_C_END
