/* Host kernels in single precision for the compiler's own instruction set */
#define HOPS_HOST_SINGLE
#include "hostimpl.h"
#include "hostpa.h"
#include "hostinterp.h"

const HopsHostSingleKernels HopsHostSingleBase = {"base", W, PAFind, PAApply, InterpApply, InterpApplyTranspose};
