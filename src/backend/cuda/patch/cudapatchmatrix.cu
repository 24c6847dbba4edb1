/* CUDA back end: set-up of patches (lanespatchsetup.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/patch/lanespatchsetup.h>
#include "cudapatchlanes.h"

const HopsPatchSetUpOps HopsPatchSetUpCUDA = HOPS_LANES_PATCH_SETUP(HopsCudaBack);
