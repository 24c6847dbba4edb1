/* Host kernels of low-order-refined matrices for AVX2 with FMA; this file alone is compiled for it
   (makefile) */
#include "hostlorimpl.h"
#if defined(__x86_64__)
  #if !defined(__AVX2__) || !defined(__FMA__)
    #error "Compile hostlor_avx2.c with -mavx2 -mfma"
  #endif
  #include "hostlorh1.h"
  #include "hostlorderham.h"
  #include "hostlorrows.h"

const struct _HopsHostLORKernels HopsHostKernelsAVX2LOR = {LORVertex, LORValues,   LORFormVertex, LORFormValues,
                                                           LORRows,   LORRowBegin, LORRowEnd};
#endif
