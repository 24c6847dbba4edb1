/* Host kernels in single precision for AVX2 with FMA; this file alone is compiled for them (makefile) */
#define HOPS_HOST_SINGLE
#include <backend/host/runtime/hostimpl.h>
#if defined(__x86_64__)
  #if !defined(__AVX2__) || !defined(__FMA__)
    #error "Compile hostsingle_avx2.c with -mavx2 -mfma"
  #endif
  #include "hostpa.h"
  #include <backend/host/transfer/hostinterp.h>

const HopsHostSingleKernels HopsHostSingleAVX2 = {"avx2", W, PAFind, PAApply, InterpApply, InterpApplyTranspose};
#endif
