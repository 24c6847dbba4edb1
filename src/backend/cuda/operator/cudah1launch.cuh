/* Launches of the fused operator for Q points per direction and up to Q nodes. */
#pragma once
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/lanes/operator/lanesh1launch.h>
#include "cudah1.cuh"
#include "cudah1first.cuh"

#if defined(HOPS_CUDA_SINGLE)
using namespace HopsCudaSingle;
#endif

template <typename Kernel, int P, int Q>
static PetscErrorCode HopsCudaRun(Kernel kernel, const HopsCudaTables<P, Q> &tab, int threads, int cells, size_t shared,
                                  const HopsCudaCells &a)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (shared > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(a.n + cells - 1) / cells, dim3(threads, cells), shared, stream>>>(tab, a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Order 1 in 3D */
template <int Q, int GEOM, int TERMS>
static PetscErrorCode HopsCudaRunFirst(const HopsCudaTables<2, Q> &tab, const HopsCudaCells &a)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if constexpr (GEOM == HOPS_GEOMETRY_STORED) {
    constexpr int N = 2, T = 256;

    HopsCudaApplyNodes1<TERMS, N, T><<<(unsigned int)(((size_t)a.n * 8 + N * T - 1) / (N * T)), T, 0, stream>>>(tab, a);
  } else {
    typedef HopsCudaLaunchCells1<Q, GEOM> Launch;

    HopsCudaApplyCells1<Q, GEOM, TERMS, Launch::threads, Launch::blocks, Launch::unroll>
      <<<(a.n + Launch::threads - 1) / Launch::threads, Launch::threads, 0, stream>>>(tab, a);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels take pointers to the first cell of a launch */
template <int DIM, int P, int Q, int GEOM> static HopsCudaCells HopsCudaFromFirst(HopsCudaCells a)
{
  constexpr size_t nn = HopsLanesPower(P, DIM), nq = HopsLanesPower(Q, DIM);
  const int        nc = (a.diffusion ? DIM * (DIM + 1) / 2 : 0) + (a.mass ? 1 : 0);

  a.restr += a.first * nn;
  if (GEOM == HOPS_GEOMETRY_STORED) a.qdata += a.first * nq * nc;
  else a.geom += (size_t)a.first * HopsGeometrySize(GEOM, DIM);
  a.first = 0;
  return a;
}

struct HopsCudaH1Run {
  template <int P, int Q, int GEOM, int TERMS>
  static PetscErrorCode Run3(const HopsCudaTables<P, Q> &tab, const HopsCudaCells &cells)
  {
    typedef HopsH1Launch3<Q, GEOM, TERMS> Launch;
    const HopsCudaCells                   a = HopsCudaFromFirst<3, P, Q, GEOM>(cells);

    PetscFunctionBegin;
    if constexpr (P == 2 && TERMS != HOPS_H1_ANY && (Q == 2 || GEOM != HOPS_GEOMETRY_STORED))
      PetscCall((HopsCudaRunFirst<Q, GEOM, TERMS>(tab, a)));
    else
      PetscCall(HopsCudaRun(HopsCudaApply3<P, Q, GEOM, TERMS>, tab, Q * Q, Launch::cells,
                            Launch::cells * ((size_t)(a.mass ? 3 : 2) * Q * Q * (Q | 1) + HopsH1Geometry<GEOM, 3>()) * sizeof(real),
                            a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int P, int Q, int GEOM> static PetscErrorCode Run2(const HopsCudaTables<P, Q> &tab, const HopsCudaCells &cells)
  {
    constexpr int NB = HopsH1Launch2<Q>::cells;

    PetscFunctionBegin;
    PetscCall(HopsCudaRun(HopsCudaApply2<P, Q, GEOM>, tab, Q, NB,
                          NB * ((size_t)2 * Q * (Q | 1) + HopsH1Geometry<GEOM, 2>()) * sizeof(real),
                          HopsCudaFromFirst<2, P, Q, GEOM>(cells)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
