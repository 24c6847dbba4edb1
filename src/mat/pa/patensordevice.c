/* Full tensors on a device: the host evaluates the point functions once for each state, the action and the diagonal run there. */
#include <hops/private/hopspatensor.h>

typedef struct _HopsPATensorDevice *HopsPATensorDevice;
struct _HopsPATensorDevice {
  HopsTensorKernel kernel;
  HopsHalo         halo;
  PetscInt        *map;     /* [nT][nc] as HopsNodes */
  PetscScalar     *xl, *yl; /* [nL][nc] */
};

PetscErrorCode HopsPATensorSetUpDevice(HopsPATensor t)
{
  HopsSpace             sp = t->nodes->space;
  const HopsBackendOps *be = sp->backend;
  const PetscInt        nc = t->form->nc;
  HopsPATensorDevice    d  = t->device;

  PetscFunctionBegin;
  if (!d) {
    PetscCall(PetscNew(&t->device));
    d = t->device;
    PetscCall((*be->TensorCreate)(sp, t->basis, nc, &d->kernel));
    PetscCall(HopsHaloCreate(sp, nc, &d->halo));
    PetscCall((*be->Malloc)(sp->nT * nc * sizeof(PetscInt), (void **)&d->map));
    PetscCall((*be->Copy)(d->map, t->nodes->map, sp->nT * nc * sizeof(PetscInt), PETSC_TRUE));
    PetscCall((*be->Malloc)(sp->nL * nc * sizeof(PetscScalar), (void **)&d->xl));
    PetscCall((*be->Malloc)(sp->nL * nc * sizeof(PetscScalar), (void **)&d->yl));
    PetscCall((*be->Zero)(sp->nL * nc, d->xl));
  }
  PetscCall((*be->TensorSetUp)(d->kernel, (const PetscScalar *const *)t->q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroyDevice(HopsPATensor t)
{
  HopsPATensorDevice d = t->device;

  PetscFunctionBegin;
  if (d) {
    const HopsBackendOps *be = t->nodes->space->backend;

    PetscCall((*be->TensorDestroy)(&d->kernel));
    PetscCall(HopsHaloDestroy(&d->halo));
    PetscCall((*be->Free)((void **)&d->map));
    PetscCall((*be->Free)((void **)&d->xl));
    PetscCall((*be->Free)((void **)&d->yl));
    PetscCall(PetscFree(t->device));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of yl that the global vector has */
static PetscErrorCode HopsPATensorPut(HopsPATensor t, PetscScalar y[])
{
  HopsSpace      sp = t->nodes->space;
  const PetscInt nc = t->form->nc;

  PetscFunctionBegin;
  PetscCall((*sp->backend->Zero)(t->nodes->nfree, y));
  PetscCall((*sp->backend->UnpackAdd)(sp->nT * nc, t->device->map, t->device->yl, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorMultDevice(HopsPATensor t, PetscBool transpose, Vec x, Vec y)
{
  HopsSpace             sp = t->nodes->space;
  const HopsBackendOps *be = sp->backend;
  HopsPATensorDevice    d  = t->device;
  const PetscInt        nc = t->form->nc, half = sp->ninterior / 2;
  PetscScalar          *xg = d->xl + (size_t)sp->nT * nc, *yg = d->yl + (size_t)sp->nT * nc, *ya;
  const PetscScalar    *xa;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(sp, x, y, &xa, &ya));
  PetscCall((*be->Pack)(sp->nT * nc, d->map, xa, d->xl));
  PetscCall((*be->Zero)(sp->nL * nc, d->yl));
  PetscCall(HopsHaloBegin(d->halo, d->xl, xg));
  PetscCall((*be->TensorApply)(d->kernel, transpose, 0, half, d->xl, d->yl));
  PetscCall(HopsHaloEnd(d->halo, xg));
  PetscCall((*be->TensorApply)(d->kernel, transpose, sp->ninterior, sp->ncells - sp->ninterior, d->xl, d->yl));
  PetscCall(HopsHaloAddBegin(d->halo, yg));
  PetscCall((*be->TensorApply)(d->kernel, transpose, half, sp->ninterior - half, d->xl, d->yl));
  PetscCall(HopsHaloAddEnd(d->halo, yg, d->yl));
  PetscCall(HopsPATensorPut(t, ya));
  PetscCall(PetscLogGpuFlops(t->flops));
  PetscCall(MatPARestoreArrays(sp, x, y, &xa, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDiagonalDevice(HopsPATensor t, Vec v)
{
  HopsSpace          sp = t->nodes->space;
  HopsPATensorDevice d  = t->device;
  PetscScalar       *yg = d->yl + (size_t)sp->nT * t->form->nc, *va;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(sp, NULL, v, NULL, &va));
  PetscCall((*sp->backend->Zero)(sp->nL * t->form->nc, d->yl));
  PetscCall((*sp->backend->TensorDiagonal)(d->kernel, d->yl));
  PetscCall(HopsHaloAddBegin(d->halo, yg));
  PetscCall(HopsHaloAddEnd(d->halo, yg, d->yl));
  PetscCall(HopsPATensorPut(t, va));
  PetscCall(MatPARestoreArrays(sp, NULL, v, NULL, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}
