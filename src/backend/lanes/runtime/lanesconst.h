/* HOPS_LANES_CONSTEXPR: functions that kernels and the process call, and C too */
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
  #define HOPS_LANES_CONSTEXPR __host__ __device__ constexpr
#elif defined(__cplusplus)
  #define HOPS_LANES_CONSTEXPR constexpr
#else
  #define HOPS_LANES_CONSTEXPR static inline
#endif
