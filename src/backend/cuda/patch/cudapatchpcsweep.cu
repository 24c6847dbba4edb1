/* CUDA: fused sweeps of patches, of which some cubes are solved on tensor cores, and those of a class by
   cudapatchlist.cuh. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/patch/lanespatchsweeptensor.h>
#include "cudapatch.h"
#include "cudapatchlanes.h"

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
  } else PetscCall((HopsLanesPatchSweep<HopsCudaBack, HopsSweepOnTensor<HopsCudaBack>>::Sweep(s, d, run, floats, b, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
