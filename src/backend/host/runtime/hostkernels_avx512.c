/* Host kernels for AVX-512; this file alone is compiled for it (makefile) */
#include "hostimpl.h"
#if defined(__x86_64__)
  #if !defined(__AVX512F__) || !defined(__AVX512VL__)
    #error "Compile hostkernels_avx512.c with -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512"
  #endif
  #include "hosttable.h"

HOPS_HOST_TABLE(HopsHostKernelsAVX512, "avx512",
                __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#endif
