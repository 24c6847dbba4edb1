/* CUDA back end: launches of the kernels in H1 for any order, and of set-up (lanesh1kernels.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanesh1kernels.h>
#include "cudah1.h"

static HopsH1Kernels Kernels()
{
  HopsH1Kernels k = HopsH1Launches<HopsCudaBack>::Table(1);

#define ENTRY(Q)        k.launch[Q] = HopsCudaH1Launch_##Q;
#define SINGLE_ENTRY(Q) k.single[Q] = HopsCudaSingleLaunch_##Q;
  HOPS_H1_POINTS(ENTRY)
  HOPS_H1_SINGLE_POINTS(SINGLE_ENTRY)
  return k;
}

const HopsH1Kernels HopsH1KernelsCUDA = Kernels();

/* A thread for each coordinate of a cell */
struct MapKind {
  int           dim, g;
  const double *s, *X;
  int          *kind;

  HOPS_LANES void operator()(size_t i) const
  {
    const int k = HopsCellMapKind(dim, g, s, X + i * HopsLanesPower(g, dim));

    if (k > *(volatile int *)kind) atomicMax(kind, k);
  }
};

PetscErrorCode HopsCudaMapKind(PetscInt n, int dim, int g, const double s[], const double X[], int *kind)
{
  return HopsCudaBack::Each("HopsMapKind", (size_t)n * dim, MapKind{dim, g, s, X, kind});
}
