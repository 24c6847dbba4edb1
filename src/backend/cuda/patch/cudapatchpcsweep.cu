/* Fused sweeps of patches (lanespatchsweep.h), of which some cubes are solved on tensor cores
   (cudapatchsweeptensor.cuh), and those of a class by cudapatchlist.cuh. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include "cudapatch.h"
#include "cudapatchlanes.h"
#include "cudapatchsweeptensor.cuh"

template <class L> static cudaError_t RunTensor(const HopsSweepArgs<double> &a, cudaStream_t stream)
{
  const size_t mem = sizeof(double) * L::patch * L::G;
  cudaError_t  err = cudaFuncSetAttribute(HopsSweepTensor<L>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  HopsSweepTensor<L><<<(a.n + L::G - 1) / L::G, L::threads, mem, stream>>>(a);
  return cudaGetLastError();
}

struct Fast {
  template <class Args> static PetscErrorCode Cubes(const Args &a, const HopsLanesPatchRun *run, bool *done)
  {
    cudaStream_t stream;

    PetscFunctionBegin;
    if (!a.packed || !HopsCudaPatchTensor) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsGetCUDAStream(&stream));
    /* as measured to be fastest */
#define SWEEP_TENSOR(SIZE, ...) \
  if (run->size == SIZE) { \
    PetscCallCUDA((RunTensor<HopsSweepTensorSizes<SIZE, __VA_ARGS__>>(a, stream))); \
    *done = true; \
  }
    SWEEP_TENSOR(5, 1, 4, 128)
    SWEEP_TENSOR(7, 2, 2, 128)
    SWEEP_TENSOR(9, 6, 1, 80)
    SWEEP_TENSOR(11, 4, 1, 168)
    SWEEP_TENSOR(13, 6, 1, 168)
    SWEEP_TENSOR(15, 8, 1, 128)
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode HopsPatchSweep_CUDA(HopsLanesPatchSet s, const HopsLanesSweepData *d, const HopsLanesPatchRun *run, PetscBool floats,
                                   const void *b, void *z)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (run->group > 1) {
    const HopsLanesPatchRecord *p = s->patches + run->first;
    const HopsLanesSweepRecord *w = d->patches + run->first;
    const HopsCudaPatchList     list =
      {&p->start,      &w->estart, s->idx, d->eidx, sizeof(*p) / sizeof(int), sizeof(*w) / sizeof(int), (int)run->n,
       (int)s->nP - 1, floats,     b,      z};

    PetscCall(HopsGetCUDAStream(&stream));
    PetscCall(HopsCudaPatchSweepList((HopsCudaPatch)d->classes[run->group - 2], &list, stream));
  } else PetscCall((HopsLanesPatchSweep<HopsCudaBack, Fast>::Sweep(s, d, run, floats, b, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
