/* CUDA back end: terms on boundary faces (lanesface.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanesface.h>

PetscErrorCode HopsFacesCreate_CUDA(HopsSpace space, const HopsBasis *basis, PetscInt n, const int restr[], const PetscReal qdata[],
                                    HopsOperator *A)
{
  return HopsLanesFaces<HopsCudaBack>::Create(space, basis, n, restr, qdata, A);
}
