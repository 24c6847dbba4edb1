/* Launches of the fused operator in H1 (lanesh1.h): a block takes several cells, each with threads of
   its own. */
#pragma once
#include <stdint.h>
#include <backend/lanes/operator/lanesh1.h>
#include <backend/cuda/runtime/cudateam.cuh>

/* The scalars of kernels and of their data: float in the files that define HOPS_CUDA_SINGLE */
#if defined(HOPS_CUDA_SINGLE)
namespace HopsCudaSingle {
typedef float real;
#else
typedef double real;
#endif
template <int P, int Q> using HopsCudaTables = HopsH1Tables<real, P, Q>;
typedef HopsH1Cells<real> HopsCudaCells;

template <int P, int Q, int GEOM, int TERMS>
__global__ void __launch_bounds__(Q *Q *HopsH1Launch3<Q, GEOM, TERMS>::cells, HopsH1Launch3<Q, GEOM, TERMS>::blocks)
  HopsCudaApply3(const __grid_constant__ HopsCudaTables<P, Q> tab, const HopsCudaCells a)
{
  typedef HopsH1Launch3<Q, GEOM, TERMS>            Launch;
  typedef HopsCudaTeam<real, Q * Q, Launch::cells> Team;
  extern __shared__ real                           mem[];
  const int                                        n = HopsH1Cubes3<Team, Q>(TERMS == HOPS_H1_ANY ? a.mass : TERMS == HOPS_H1_BOTH);

#if __CUDA_ARCH__ >= 900
  if (Launch::prefetch && !threadIdx.x) {
    const int cell = min((int)(blockIdx.x * Launch::cells + threadIdx.y), a.n - 1), nc = 6 * Q * Q * Q;

    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(a.qdata + (size_t)cell * nc), "r"(nc * (int)sizeof(real))
                 : "memory");
  }
#endif
  HopsH1Apply3<GEOM, TERMS, Launch::unroll>(Team(), tab, a, mem + threadIdx.y * n,
                                            mem + Launch::cells * n + threadIdx.y * HopsH1Geometry<GEOM, 3>());
}

template <int P, int Q, int GEOM>
__global__ void __launch_bounds__(Q *HopsH1Launch2<Q>::cells, HopsH1Launch2<Q>::blocks)
  HopsCudaApply2(const __grid_constant__ HopsCudaTables<P, Q> tab, const HopsCudaCells a)
{
  constexpr int          NB = HopsH1Launch2<Q>::cells, n = 2 * Q * (Q | 1);
  extern __shared__ real mem[];

  HopsH1Apply2<GEOM>(HopsCudaTeam<real, Q, NB>(), tab, a, mem + threadIdx.y * n,
                     mem + NB * n + threadIdx.y * HopsH1Geometry<GEOM, 2>());
}

#if defined(HOPS_CUDA_SINGLE)
}
#endif
