/* Host kernels for AVX2 with FMA; this file alone is compiled for them (makefile) */
#include "hostimpl.h"
#if defined(__x86_64__)
  #if !defined(__AVX2__) || !defined(__FMA__)
    #error "Compile hostkernels_avx2.c with -mavx2 -mfma"
  #endif
  #include "hosttable.h"

HOPS_HOST_TABLE(HopsHostKernelsAVX2, "avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#endif
