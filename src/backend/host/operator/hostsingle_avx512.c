/* Host kernels in single precision for AVX-512; this file alone is compiled for them (makefile) */
#define HOPS_HOST_SINGLE
#include <backend/host/runtime/hostimpl.h>
#if defined(__x86_64__)
  #if !defined(__AVX512F__)
    #error "Compile hostsingle_avx512.c with -mavx512f"
  #endif
  #include "hostpa.h"
  #include <backend/host/transfer/hostinterp.h>

const HopsHostSingleKernels HopsHostSingleAVX512 = {"avx512", W, PAFind, PAApply, InterpApply, InterpApplyTranspose};
#endif
