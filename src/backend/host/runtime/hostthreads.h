/*
  Threads of a rank, where hops is built with OPENMP=1: OMP_NUM_THREADS of them. All there is of OpenMP is in
  this file and in hostthreads.c. Work is cut into as many pieces as there are threads, of cells, batches or
  rows side by side. A piece has scratch of its own and runs no function of PETSc. Without OPENMP=1 there is
  one piece, and loops over pieces are no loops.
*/
#pragma once
#include <hops/private/petscshim.h>

#if defined(HOPS_OPENMP)
  #include <omp.h>
  #define HOPS_EACH_PIECE    _Pragma("omp parallel for schedule(static, 1)")
  #define HOPS_ATOMIC        _Pragma("omp atomic write")
  #define HOPS_ONE_AT_A_TIME _Pragma("omp critical")
static inline int HopsHostThreads(void)
{
  return omp_get_max_threads();
}
#else
  #define HOPS_EACH_PIECE
  #define HOPS_ATOMIC
  #define HOPS_ONE_AT_A_TIME
static inline int HopsHostThreads(void)
{
  return 1;
}
#endif

/* Where piece t of T begins of n things that stay together in groups of `group` */
static inline PetscInt HopsHostPiece(PetscInt n, PetscInt group, int t, int T)
{
  return PetscMin(n, (PetscInt)((PetscInt64)((n + group - 1) / group) * t / T) * group);
}

/* Where pieces of a part's batches meet: entries of the result that batches of several pieces add to. Such
   a batch adds by indices of its own, in which each meeting is an entry of `sums`, behind the owned
   unknowns. All meetings of an entry lie side by side, in the order of their batches, and are added in this
   order. So results do not depend on the number of threads, but for what -0 + 0 is. */
typedef struct {
  int       T;
  PetscInt  b0, b1; /* batches */
  PetscInt *own;    /* [b1 - b0] where the indices of a batch are, or -1 */
  int      *idx;
  PetscInt  n; /* entries, L indices, and where their meetings begin */
  int      *entry, *begin;
  double   *sums; /* zero between uses */
} HopsHostMeeting;

/* n indices (or -1 - index) of L-vectors a batch; entries behind nT always meet */
PETSC_INTERN PetscErrorCode HopsHostMeetingCreate(int T, PetscInt b0, PetscInt b1, int n, const int idx[], PetscInt nT, PetscInt nL,
                                                  HopsHostMeeting **);
PETSC_INTERN PetscErrorCode HopsHostMeetingDestroy(HopsHostMeeting **);
PETSC_INTERN void           HopsHostMeetingAdd(HopsHostMeeting *, PetscInt nT, double y[], double yg[]);

/* The indices by which batch b adds to y and, behind the owned unknowns, to m->sums; NULL: those by which
   it reads */
static inline const int *HopsHostMeetingIndices(const HopsHostMeeting *m, PetscInt b)
{
#if defined(HOPS_OPENMP)
  return m && m->own[b - m->b0] >= 0 ? m->idx + m->own[b - m->b0] : NULL;
#else
  return NULL;
#endif
}
