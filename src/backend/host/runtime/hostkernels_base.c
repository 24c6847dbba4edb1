/* Host kernels for any machine: vectors of two lanes, as SSE2, NEON and VSX have */
#include "hosttable.h"

HOPS_HOST_TABLE(HopsHostKernelsBase, "base", 1)
