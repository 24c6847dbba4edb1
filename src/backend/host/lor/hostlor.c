/* Host back end: data of the low-order-refined matrix */
#include <backend/host/runtime/hostimpl.h>

PetscErrorCode HopsLORCreate_Host(HopsSpace space, const HopsBasis *gll, HopsLORKernel *kernel)
{
  HopsLORKernel k;
  size_t        n;

  PetscFunctionBegin;
  PetscCheck(space->dim == 2 || space->dim == 3, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes dimensions 2 and 3, not %" PetscInt_FMT, space->dim);
  PetscCheck(gll->collocated && gll->P == space->order + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The low-order-refined matrix needs the collocated basis of the space's order");
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(space, &k->ops));
  k->W      = k->ops->W;
  k->dim    = (int)space->dim;
  k->P      = (int)gll->P;
  k->ncells = space->ncells;
  PetscCall(PetscMalloc3(k->P - 1, &k->h, k->P, &k->m, k->P, &k->r));
  for (int i = 0; i < k->P - 1; i++) k->h[i] = gll->nodes[i + 1] - gll->nodes[i];
  for (int i = 0; i < k->P; i++) k->m[i] = ((i ? k->h[i - 1] : 0) + (i < k->P - 1 ? k->h[i] : 0)) / 2;
  for (int i = 0; i < k->P; i++) k->r[i] = gll->weights[i] / k->m[i];
  n = (size_t)(k->dim == 3 ? k->P : 1) * k->P * k->P * (k->dim * (k->dim + 1) / 2 + 1) * k->W;
  PetscCall(HopsHostAlloc(n, PETSC_TRUE, &k->mem[0], &k->G));
  PetscCall(HopsHostGeometrySetUp(space, gll, k->W, &k->geom, &k->map, &k->mem[1]));
  k->bytes = n * sizeof(double);
  PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d", k->ops->isa, k->P));
  *kernel = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORCouplings_Host(HopsLORKernel k, PetscInt first, PetscInt n, const HopsValues *kappa, PetscReal tol,
                                     unsigned char mask[], PetscInt *bad, PetscReal *det)
{
  const HopsValues none = {0, 0, 0, NULL};
  HopsHostRun      run  = {first, n, kappa, &none, -1, 0};

  PetscFunctionBegin;
  if (n > 0) k->ops->lorcouplings(k, &run, tol, mask);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORSetPositions_Host(HopsLORKernel k, const unsigned char mask[], const PetscInt start[], const int pos[])
{
  PetscFunctionBegin;
  k->mask  = mask;
  k->start = start;
  k->pos   = pos;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORFill_Host(HopsLORKernel k, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                PetscScalar vals[], PetscInt *bad, PetscReal *det)
{
  HopsHostRun run = {first, n, kappa, mass, -1, 0};

  PetscFunctionBegin;
  PetscCheck(k->pos || !k->ncells, PETSC_COMM_SELF, PETSC_ERR_ORDER, "LORSetPositions must come before LORFill");
  if (n > 0) k->ops->lorfill(k, &run, vals);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORGetInfo_Host(HopsLORKernel k, const char **kernel, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  if (kernel) *kernel = k->name;
  if (bytes) *bytes = k->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDestroy_Host(HopsLORKernel *kernel)
{
  HopsLORKernel k = *kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree3(k->h, k->m, k->r));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}
