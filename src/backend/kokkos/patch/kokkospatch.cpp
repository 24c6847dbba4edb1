/* Kokkos back end: set-up of patches (lanespatchsetup.h), and their kernels' table. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchmeet.h>
#include <backend/lanes/patch/lanespatchsetup.h>
#include "kokkospatch.h"

const HopsPatchSetUpOps HopsPatchSetUpKokkos = HOPS_LANES_PATCH_SETUP(HopsKokkosBack);

/* as many as work at once, on a host */
static PetscErrorCode SweepTeams(int *n)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  *n = HopsKokkosOnHost ? (int)exec->concurrency() : 256;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasTensor(PetscBool *has)
{
  PetscFunctionBegin;
  *has = HopsKokkosTensor ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static HopsLanesPatchKernels Kernels()
{
  HopsLanesPatchKernels k = {};

  k.backend     = &HopsBackendKokkos;
  k.MostScratch = HopsKokkosBack::MostScratch; /* Kokkos does not run yet when this is filled */
  k.group       = HOPS_KOKKOS_GROUP;
  k.Solve       = HopsPatchSolve_Kokkos;
  k.Sweep       = HopsPatchSweep_Kokkos;
  k.Mark        = HopsKokkosOnHost ? HopsPatchMeetLaunches<HopsKokkosBack>::Mark : NULL;
  k.SweepTeams  = SweepTeams;
  k.HasTensor   = HopsKokkosTensor ? HasTensor : NULL;
  return k;
}

const HopsLanesPatchKernels HopsPatchKernelsKokkos = Kernels();
