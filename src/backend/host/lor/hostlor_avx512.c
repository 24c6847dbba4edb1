/* Host kernels of low-order-refined matrices for AVX-512; this file alone is compiled for it (makefile) */
#include "hostlorimpl.h"
#if defined(__x86_64__)
  #if !defined(__AVX512F__) || !defined(__AVX512VL__)
    #error "Compile hostlor_avx512.c with -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512"
  #endif
  #include "hostlorh1.h"
  #include "hostlorderham.h"
  #include "hostlorrows.h"

const struct _HopsHostLORKernels HopsHostKernelsAVX512LOR = {LORVertex, LORValues,   LORFormVertex, LORFormValues,
                                                             LORRows,   LORRowBegin, LORRowEnd};
#endif
