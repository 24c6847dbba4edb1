/* Host kernels for any machine: vectors of 4 lanes, which the compiler splits as it must */
#include "hosttable.h"

HOPS_HOST_TABLE(HopsHostKernelsBase, "base", 1)
