/* Fused forms on H(curl), H(div) and L2 (lanesderham.h) with HOPS_ORDER nodes per direction; the makefile
   compiles this file once for each. A block takes several cells. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/operator/lanesderhamlaunch.h>
#include "cudaderham.h"

template <int P, int Q, int FAMILY, int TERMS>
__global__ void __launch_bounds__(HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::nt *HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::cells,
                                  HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::blocks)
  HopsCudaDerham3(const __grid_constant__ HopsDerhamTables<P, Q> tab, const HopsDerhamCells a)
{
  typedef HopsDerhamLaunch3<P, Q, FAMILY, TERMS> Launch;
  extern __shared__ double                       mem[];
  double *const                                  nodes = mem + threadIdx.y * HopsDerhamScratch(P, Q, FAMILY, 3, TERMS);

#if __CUDA_ARCH__ >= 900
  if (Launch::prefetch && !threadIdx.x && !threadIdx.z) {
    constexpr int SIZE = HopsDerhamData(Q, FAMILY, 3, TERMS);
    const double *qd   = a.qdata + (size_t)min((int)(blockIdx.x * Launch::cells + threadIdx.y), a.n - 1) * SIZE;

    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((unsigned long long)qd & ~15ull), "r"(SIZE * 8 & ~15)
                 : "memory");
  }
#endif
  HopsDerhamApply3<FAMILY, TERMS>(HopsCudaTeam<double, Q * Q, Launch::cells, Launch::halves>(), tab, a, nodes,
                                  nodes + HopsDerhamNodes(P, FAMILY, 3));
}

template <int P, int Q, int FAMILY, int TERMS>
__global__ void __launch_bounds__(Q *HopsDerhamLaunch2<Q>::cells, HopsDerhamLaunch2<Q>::blocks)
  HopsCudaDerham2(const __grid_constant__ HopsDerhamTables<P, Q> tab, const HopsDerhamCells a)
{
  extern __shared__ double mem[];
  double *const            nodes = mem + threadIdx.y * HopsDerhamScratch(P, Q, FAMILY, 2, TERMS);

  HopsDerhamApply2<FAMILY, TERMS>(HopsCudaTeam<double, Q, HopsDerhamLaunch2<Q>::cells>(), tab, a, nodes,
                                  nodes + HopsDerhamNodes(P, FAMILY, 2));
}

struct HopsCudaDerhamRun {
  template <int P, int Q, int FAMILY, int TERMS, int DIM>
  static PetscErrorCode Run(const HopsDerhamTables<P, Q> &tab, HopsDerhamCells a)
  {
    typedef HopsDerhamLaunch3<P, Q, FAMILY, TERMS> L;
    constexpr int                                  cells  = DIM == 3 ? L::cells : HopsDerhamLaunch2<Q>::cells;
    constexpr size_t                               shared = cells * HopsDerhamScratch(P, Q, FAMILY, DIM, TERMS) * sizeof(double);
    cudaStream_t                                   stream;

    PetscFunctionBegin;
    PetscCall(HopsGetCUDAStream(&stream));
    /* the kernels take pointers to the first cell of a launch */
    a.restr += (size_t)a.first * HopsDerhamEntries(P, FAMILY, DIM);
    a.qdata += (size_t)a.first * HopsDerhamData(Q, FAMILY, DIM, TERMS);
    a.first = 0;
    if constexpr (DIM == 3) {
      if (shared > 48 * 1024)
        PetscCallCUDA(
          cudaFuncSetAttribute(HopsCudaDerham3<P, Q, FAMILY, TERMS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
      HopsCudaDerham3<P, Q, FAMILY, TERMS><<<(a.n + cells - 1) / cells, dim3(Q * Q, cells, L::halves), shared, stream>>>(tab, a);
    } else HopsCudaDerham2<P, Q, FAMILY, TERMS><<<(a.n + cells - 1) / cells, dim3(Q, cells), shared, stream>>>(tab, a);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#define NAME(order)   HopsCudaDerhamLaunch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsDerhamArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  return HopsDerhamLaunchNodes<HopsCudaDerhamRun, HOPS_ORDER>(k, x, xg, y, yg);
}
