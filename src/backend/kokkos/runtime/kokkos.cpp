/* Kokkos back end: what it has. What it lacks it takes of the back end that works in the same memory. */
#include "kokkosimpl.h"
#include <backend/kokkos/lor/kokkoslor.h>
#include <backend/kokkos/operator/kokkosderham.h>
#include <backend/kokkos/operator/kokkosh1.h>
#include <backend/kokkos/operator/kokkostensor.h>
#include <backend/kokkos/patch/kokkospatch.h>
#include <hops/private/hopsformimpl.h>

/* The other back end in this memory. -info names what is taken of it, and -log_view counts */
static PetscErrorCode HopsKokkosDelegate(HopsSpace sp, const char what[], const HopsBackendOps **other)
{
  PetscFunctionBegin;
  PetscCall(HopsBackendOfMemory(HOPS_KOKKOS_MEMTYPE, other));
  PetscCheck(*other && *other != &HopsBackendKokkos, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The back end kokkos has no %s on %s yet, and no other back end works there: use -hops_backend host", what,
             HopsKokkosExec::name());
  PetscCall(PetscInfo(sp, "%s: of the back end %s, for kokkos\n", what, (*other)->name));
  PetscCall(PetscLogEventBegin(HopsEvent.delegated, sp, 0, 0, 0));
  PetscCall(PetscLogEventEnd(HopsEvent.delegated, sp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperatorCreate(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  PetscFunctionBegin;
  if (form->space->family == HOPS_H1) PetscCall(HopsH1OperatorCreate(&HopsH1KernelsKokkos, form, basis, A));
  else PetscCall(HopsDerhamOperatorCreate(&HopsDerhamKernelsKokkos, form, basis, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are kernels of Kokkos the choice where on one thread of a host those of the host back end are faster? */
static PetscErrorCode HopsKokkosLanes(PetscBool *lanes)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  *lanes = !HopsKokkosOnHost || exec->concurrency() > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hops_kokkos_lanes", lanes, NULL));
  if (!HopsKokkosOnHost) *lanes = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TensorCreate(HopsSpace sp, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[],
                                   PetscInt ntrial, const HopsTensorSide trial[], HopsTensorOperator *A)
{
  const HopsBackendOps *other;
  PetscBool             lanes;

  PetscFunctionBegin;
  PetscCall(HopsKokkosLanes(&lanes));
  if (lanes) {
    PetscCall(HopsLanesTensorCreate(&HopsTensorKernelsKokkos, sp, Q, W, ntest, test, ntrial, trial, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsKokkosDelegate(sp, "operator of full tensors", &other));
  PetscCall((*other->TensorCreate)(sp, Q, W, ntest, test, ntrial, trial, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LORCreate(HopsSpace sp, const HopsBasis *gll, HopsLORAssembler *L)
{
  const HopsBackendOps *other;
  PetscBool             lanes;

  PetscFunctionBegin;
  PetscCall(HopsKokkosLanes(&lanes));
  if (lanes) {
    PetscCall(HopsLORCreate_Kokkos(sp, gll, L));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsKokkosDelegate(sp, "LOR matrix", &other));
  PetscCall((*other->LORCreate)(sp, gll, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatchCreate(HopsPatches patches, PetscDataType type, HopsPatchSmoother *S)
{
  return HopsLanesPatchCreate(&HopsPatchKernelsKokkos, patches, type, S);
}

/* Tables are the other back end's as they are, and so is a host's memory, since what one of them
   allocates the other may free; on devices Kokkos' is the driver's */
static HopsBackendOps Table()
{
  static HopsMemoryOps  memory;
  HopsBackendOps        b     = {};
  const HopsBackendOps *other = NULL;

  if (HopsBackendOfMemory(HOPS_KOKKOS_MEMTYPE, &other) == PETSC_SUCCESS && other && other != &HopsBackendKokkos) b = *other;
  b.name    = "kokkos";
  b.vectype = HOPS_KOKKOS_VECTYPE;
  b.memtype = HOPS_KOKKOS_MEMTYPE;
  b.host    = HopsKokkosOnHost ? PETSC_TRUE : PETSC_FALSE;
  if (HopsKokkosOnHost) b.runpoints = 1 << 17; /* launches that keep threads busy */
#if defined(HOPS_KOKKOS_HOST)
  if (other) memory = HopsKokkosHostMemory(other->memory);
#endif
  b.memory         = HopsKokkosOnHost && other ? &memory : &HopsMemoryKokkos;
  b.vector         = &HopsVectorKokkos;
  b.rows           = &HopsRowsKokkos;
  b.mesh           = &HopsMeshKokkos;
  b.arrays         = &HopsArraysKokkos;
  b.MapKind        = HopsMapKind_Kokkos;
  b.CountCells     = HopsCountCells_Kokkos;
  b.OperatorCreate = OperatorCreate;
  b.FacesCreate    = HopsFacesCreate_Kokkos;
  b.TensorCreate   = TensorCreate;
  b.LORCreate      = LORCreate;
  b.HungCreate     = HopsHungCreate_Kokkos;
  b.InterpCreate   = HopsInterpCreate_Kokkos;
  b.PatchCreate    = PatchCreate;
  b.patches        = &HopsPatchSetUpKokkos;
  b.condenses      = PETSC_TRUE;
  b.hanging        = PETSC_FALSE;
  b.spare          = PETSC_FALSE;
  return b;
}

const HopsBackendOps HopsBackendKokkos = Table();
