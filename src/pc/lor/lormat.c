/* The low-order-refined matrix: life cycle, and what is said of forms that it is not good for. */
#include <hops/private/hopslorimpl.h>

PetscErrorCode HopsLORCreate(HopsSpace sp, const HopsBackendOps *backend, HopsLOR *lor)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(lor, sizeof(*lor)));
  PetscCall(HopsSpaceReference(sp));
  lor->space   = sp;
  lor->backend = backend;
  lor->nc      = 1;
  lor->process = backend->host;
  PetscCall(HopsBasisCreate(sp->order + 1, sp->order + 1, PETSC_TRUE, &lor->gll));
  PetscCall(HopsBasisCreateInside(&lor->gll, HOPS_BASIS_INSET, &lor->inner));
  PetscCheck(backend->LORCreate, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end %s has no low-order-refined matrices: use -hops_backend host", backend->name);
  PetscCall((*backend->LORCreate)(sp, &lor->gll, &lor->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORSetPoints(HopsLOR *lor, HopsLORPoints points)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisDestroy(&lor->inner));
  if (points == HOPS_LOR_INSIDE) PetscCall(HopsBasisCreateInside(&lor->gll, HOPS_BASIS_INSET, &lor->inner));
  else PetscCall(HopsBasisCreate(lor->gll.P, lor->gll.Q, PETSC_TRUE, &lor->inner));
  lor->inner.limit = points == HOPS_LOR_LIMITS ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORSetComponents(HopsLOR *lor, PetscInt nc, const unsigned char essential[])
{
  PetscFunctionBegin;
  PetscCheck(nc >= 1 && nc <= 8, PetscObjectComm((PetscObject)lor->space), PETSC_ERR_SUP,
             "A field of %" PetscInt_FMT
             " components: the low-order-refined matrix without couplings between them takes 8 at most; "
             "use -pc_lor_couple",
             nc);
  lor->nc        = nc;
  lor->essential = essential;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDestroy(HopsLOR *lor)
{
  PetscFunctionBegin;
  if (!lor->space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLORDestroyPattern(lor));
  if (lor->kernel) PetscCall((*lor->kernel->ops->Destroy)(&lor->kernel));
  PetscCall(HopsBasisDestroy(&lor->gll));
  PetscCall(HopsBasisDestroy(&lor->inner));
  PetscCall(HopsSpaceDestroy(&lor->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AMS and ADS refuse a negative mass (pcloraux.c) */
PetscErrorCode HopsLORWarn(HopsLOR *lor)
{
  MPI_Comm                 comm     = PetscObjectComm((PetscObject)lor->space);
  static const char *const terms[4] = {"diffusion", "curl-curl", "div-div", "derivative's"};
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, lor->negative, 3, HOPS_MPI_BOOL, MPI_LOR, comm));
  PetscCheck(!lor->told || !lor->negative[2], comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The %s coefficient that was told (PCLORSetCoefficients(), PCLORSetElasticity()) is negative somewhere, and the "
             "low-order-refined matrix would be indefinite: give one that is not negative; of elasticity, mu positive and lambda + "
             "mu not negative",
             terms[lor->space->family]);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->negative[0])
    PetscCall((*PetscErrorPrintf)("Warning: the %s coefficient is not positive everywhere; the low-order-refined matrix may be "
                                  "indefinite, use a Krylov method that allows it\n",
                                  terms[lor->space->family]));
  if (lor->negative[1])
    PetscCall((*PetscErrorPrintf)("Warning: the mass coefficient is negative somewhere; the low-order-refined matrix may be "
                                  "indefinite, use a Krylov method that allows it\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Where a form vanishes around an unknown, its row is zero, and inner solvers fail with errors of their own.
  Rows in a device's memory are not looked at.
*/
PetscErrorCode HopsLORCheckZero(HopsLOR *lor)
{
  HopsSpace sp   = lor->space;
  MPI_Comm  comm = PetscObjectComm((PetscObject)sp);
  PetscInt  n    = 0;
  PetscBool some;

  PetscFunctionBegin;
  if (lor->target != HOPS_LOR_AIJ || lor->part) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*lor->kernel->ops->FindZero)(lor->kernel, lor->nc > 1 ? &lor->wide : &lor->rows, &some));
  for (PetscInt i = 0; some && i < sp->nT * lor->nc; ++i) {
    PetscInt k = lor->di[i];

    while (k < lor->di[i + 1] && lor->dj[k] < i) ++k; /* columns ascend */
    if (k < lor->di[i + 1] && lor->dj[k] == i && lor->vals[0][k] == 0.0) ++n;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &n, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(!n, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The form is zero in all cells around %" PetscInt_FMT " of %" PetscInt_FMT
             " unknowns, so the low-order-refined matrix is singular: give it a positive coefficient there (a small mass term will "
             "do), make the unknowns essential, or use -pc_type none",
             n, sp->N * lor->nc);
  PetscFunctionReturn(PETSC_SUCCESS);
}
