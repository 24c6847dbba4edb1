/* Host kernels of low-order-refined matrices for any machine */
#include "hostlorimpl.h"
#include "hostlorh1.h"
#include "hostlorderham.h"
#include "hostlorrows.h"

const struct _HopsHostLORKernels HopsHostKernelsBaseLOR = {LORVertex, LORValues,   LORFormVertex, LORFormValues,
                                                           LORRows,   LORRowBegin, LORRowEnd};
