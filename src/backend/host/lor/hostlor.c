/* Host back end: data of the low-order-refined matrix */
#include <backend/host/runtime/hostimpl.h>

static PetscErrorCode HopsLORCouplings_Host(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *kappa,
                                            const HopsValues *mass, PetscReal tol, unsigned char mask[], PetscInt *bad,
                                            PetscReal *det)
{
  HopsLORKernel    k    = (HopsLORKernel)lor;
  const HopsValues none = {0, 0, 0, NULL};
  HopsHostRun      run  = {first, n, kappa, &none, -1, 0};

  PetscFunctionBegin;
  if (n > 0) k->ops->lorcouplings(k, &run, tol, mask);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORSetPositions_Host(HopsLORAssembler lor, const HopsLumpPattern pattern[8], const unsigned char mask[],
                                               const PetscInt start[], const int pos[])
{
  HopsLORKernel k = (HopsLORKernel)lor;

  PetscFunctionBegin;
  k->mask  = mask;
  k->start = start;
  k->pos   = pos;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORFill_Host(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *kappa,
                                       const HopsValues *mass, PetscScalar vals[], PetscInt *bad, PetscReal *det)
{
  HopsLORKernel k   = (HopsLORKernel)lor;
  HopsHostRun   run = {first, n, kappa, mass, -1, 0};

  PetscFunctionBegin;
  PetscCheck(k->pos || !k->ncells, PETSC_COMM_SELF, PETSC_ERR_ORDER, "SetPositions() must come before Fill()");
  if (n > 0) k->ops->lorfill(k, &run, vals);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORGetInfo_Host(HopsLORAssembler lor, const char **kernel, PetscLogDouble *bytes)
{
  HopsLORKernel k = (HopsLORKernel)lor;

  PetscFunctionBegin;
  if (kernel) *kernel = k->name;
  if (bytes) *bytes = k->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORDestroy_Host(HopsLORAssembler *kernel)
{
  HopsLORKernel k = (HopsLORKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree3(k->h, k->m, k->r));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsLOROps HopsLORHost = {HopsLORCouplings_Host, HopsLORSetPositions_Host, HopsLORFill_Host, HopsLORGetInfo_Host,
                                       HopsLORDestroy_Host};

static PetscErrorCode HopsLORCreateH1(HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
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
  k->head.ops = &HopsLORHost;
  *lor        = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORCreate_Host(HopsSpace space, const HopsBasis *gll, PetscBool derivative, PetscBool field,
                                  HopsLORAssembler *lor)
{
  PetscFunctionBegin;
  if (space->family == HOPS_H1) PetscCall(HopsLORCreateH1(space, gll, lor));
  else PetscCall(HopsLumpCreate_Host(space, gll, derivative, field, lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
