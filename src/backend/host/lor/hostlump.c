/* Host back end: data of low-order-refined matrices of H(curl), H(div) and L2 */
#include <backend/host/runtime/hostimpl.h>

static const HopsValues none = {0, 0, 0, NULL};

static PetscErrorCode HopsLumpCouplings_Host(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *mu,
                                             const HopsValues *beta, PetscReal tol, unsigned char mask[], PetscInt *bad,
                                             PetscReal *det)
{
  HopsLumpKernel k   = (HopsLumpKernel)lor;
  HopsHostRun    run = {first, n, k->nd ? mu : &none, k->nm ? beta : &none, -1, 0};

  PetscFunctionBegin;
  if (n > 0) k->ops->lumpcouplings(k, &run, tol, mask);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpSetPositions_Host(HopsLORAssembler lor, const HopsLumpPattern pattern[8], const unsigned char mask[],
                                                const PetscInt start[], const int pos[])
{
  HopsLumpKernel k = (HopsLumpKernel)lor;
  PetscInt       n = 0;

  PetscFunctionBegin;
  k->pattern = pattern;
  k->mask    = mask;
  k->start   = start;
  k->pos     = pos;
  for (int m = 0; m < 8; m++) n = PetscMax(n, pattern[m].n);
  PetscCall(PetscFree(k->mem[2]));
  PetscCall(HopsHostAlloc((size_t)n * k->W, PETSC_FALSE, &k->mem[2], &k->loc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpFill_Host(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *mu,
                                        const HopsValues *beta, PetscScalar vals[], PetscInt *bad, PetscReal *det)
{
  HopsLumpKernel k   = (HopsLumpKernel)lor;
  HopsHostRun    run = {first, n, k->nd ? mu : &none, k->nm ? beta : &none, -1, 0};

  PetscFunctionBegin;
  PetscCheck(k->pos || !k->ncells, PETSC_COMM_SELF, PETSC_ERR_ORDER, "SetPositions() must come before Fill()");
  if (n > 0) k->ops->lumpfill(k, &run, vals);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpGetInfo_Host(HopsLORAssembler lor, const char **kernel, PetscLogDouble *bytes)
{
  HopsLumpKernel k = (HopsLumpKernel)lor;

  PetscFunctionBegin;
  if (kernel) *kernel = k->name;
  if (bytes) *bytes = k->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpDestroy_Host(HopsLORAssembler *kernel)
{
  HopsLumpKernel k = (HopsLumpKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsLOROps HopsLumpHost = {HopsLumpCouplings_Host, HopsLumpSetPositions_Host, HopsLumpFill_Host, HopsLumpGetInfo_Host,
                                        HopsLumpDestroy_Host};

PetscErrorCode HopsLumpCreate_Host(HopsSpace space, const HopsBasis *gll, PetscBool deriv, PetscBool mass, HopsLORAssembler *lor)
{
  HopsLumpKernel k;
  size_t         n;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(space, &k->ops));
  k->W       = k->ops->W;
  k->dim     = (int)space->dim;
  k->P       = (int)gll->P;
  k->family  = space->family;
  k->dfamily = HopsFamilyDerivative(space->family, space->dim);
  k->nd      = deriv ? HopsFamilyTensorSize(k->dfamily, k->dim) : 0;
  k->nm      = mass ? HopsFamilyTensorSize(k->family, k->dim) : 0;
  k->ncells  = space->ncells;
  n          = HopsPower(k->P, k->dim) * (k->nd + k->nm) * k->W;
  PetscCall(HopsHostAlloc(n, PETSC_TRUE, &k->mem[0], &k->G));
  PetscCall(HopsHostGeometrySetUp(space, gll, k->W, &k->geom, &k->map, &k->mem[1]));
  k->bytes = n * sizeof(double);
  PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d, %s", k->ops->isa, k->P, HopsFamilies[k->family]));
  k->head.ops = &HopsLumpHost;
  *lor        = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
