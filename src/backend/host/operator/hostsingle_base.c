/* Host kernels in single precision for the compiler's own instruction set */
#define HOPS_HOST_SINGLE
#include <backend/host/runtime/hostimpl.h>
#include "hostpa.h"
#include <backend/host/transfer/hostinterp.h>

const HopsHostSingleKernels HopsHostSingleBase = {"base", W, PAFind, PAApply, InterpApply, InterpApplyTranspose};
