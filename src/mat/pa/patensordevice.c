/* Full tensors on a device: the host evaluates the point functions once for each state, the action and the diagonal run there. */
#include <hops/private/hopspatensor.h>

typedef struct _HopsPATensorDevice *HopsPATensorDevice;
struct _HopsPATensorDevice {
  HopsFieldKernel kernel;
  HopsHalo        halo;
  PetscInt       *map;     /* [nT][nc] as HopsNodes */
  PetscScalar    *xl, *yl; /* [nL][nc] */
};

/* The weighted tensors at a point in reference coordinates, as q[k][cell][entry][point] */
static void HopsFieldPoint(PetscInt dim, PetscInt nc2, PetscInt nq, PetscInt cell, PetscInt q, PetscReal w, const PetscReal Ji[], const PetscScalar *const g[4], PetscScalar *const out[4])
{
  for (PetscInt k = 0; k < nc2; ++k) {
    if (g[0]) out[0][(size_t)(cell * nc2 + k) * nq + q] = w * g[0][k];
    for (PetscInt m = 1; m < 3; ++m)
      for (PetscInt a = 0; g[m] && a < dim; ++a) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d) s += Ji[a * dim + d] * g[m][k * dim + d];
        out[m][(size_t)((cell * nc2 + k) * dim + a) * nq + q] = w * s;
      }
    for (PetscInt a = 0; g[3] && a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) s += Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[b * dim + e];
        out[3][(size_t)(((cell * nc2 + k) * dim + a) * dim + b) * nq + q] = w * s;
      }
  }
}

/* The tensors of all cells, which go to the device */
static PetscErrorCode HopsFieldSetUp(HopsPATensor t, HopsFieldKernel kernel)
{
  HopsSpace        sp    = t->nodes->space;
  const HopsBasis *basis = &t->side[HOPS_TEST][0].basis;
  const PetscInt   dim = sp->dim, Q = basis->Q, nq = PetscPowInt(Q, dim), nc = t->nodes->nc, nc2 = nc * nc, chunk = PetscMax(4, 2048 / nq);
  HopsBasis        geom;
  PetscReal       *x, *J;
  PetscScalar     *g[4], *q[4];

  PetscFunctionBegin;
  t->flops = 0.0;
  for (PetscInt k = 0; k < 4; ++k) {
    const PetscInt size = nc2 * HopsTensorEntries(dim, k);

    g[k] = q[k] = NULL;
    if (!t->form->has[k]) continue;
    PetscCall(PetscMalloc1(chunk * nq * size, &g[k]));
    PetscCall(PetscMalloc1((size_t)sp->ncells * nq * size, &q[k]));
    t->flops += 2.0 * sp->ncells * nq * size;
  }
  for (PetscInt d = 0; d < dim; ++d) t->flops += 4.0 * sp->ncells * nc * (dim + 1) * PetscPowInt(Q, d + 1) * PetscPowInt(basis->P, dim - d);
  PetscCall(PetscMalloc2(chunk * nq * dim, &x, chunk * nq * dim * dim, &J));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; c += chunk) {
    const PetscInt n = PetscMin(chunk, sp->ncells - c);

    PetscCall(HopsSpaceGetPoints(sp, &geom, c, n, x, J));
    PetscCall(HopsTensorFormEvaluate(t->form, sp, c, n, basis, x, J, g));
    for (PetscInt e = 0; e < n; ++e)
      for (PetscInt p = 0; p < nq; ++p) {
        const PetscScalar *at[4];
        PetscReal          Ji[9], det, w = 1.0;

        det = HopsInverse(dim, J + (e * nq + p) * dim * dim, Ji);
        if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(sp, c + e, det));
        for (PetscInt d = 0, k = p; d < dim; ++d, k /= Q) w *= basis->weights[k % Q];
        for (PetscInt k = 0; k < 4; ++k) at[k] = g[k] ? g[k] + (e * nq + p) * nc2 * HopsTensorEntries(dim, k) : NULL;
        HopsFieldPoint(dim, nc2, nq, c + e, p, w * det, Ji, at, q);
      }
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree2(x, J));
  PetscCall((*sp->backend->FieldSetUp)(kernel, (const PetscScalar *const *)q));
  for (PetscInt k = 0; k < 4; ++k) {
    PetscCall(PetscFree(g[k]));
    PetscCall(PetscFree(q[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorSetUpDevice(HopsPATensor t)
{
  HopsSpace             sp = t->nodes->space;
  const HopsBackendOps *be = sp->backend;
  const PetscInt        nc = t->nodes->nc;
  HopsPATensorDevice    d  = t->device;

  PetscFunctionBegin;
  if (!d) {
    PetscCall(PetscNew(&t->device));
    d = t->device;
    PetscCall((*be->FieldCreate)(sp, &t->side[HOPS_TEST][0].basis, nc, &d->kernel));
    PetscCall(HopsHaloCreate(sp, nc, &d->halo));
    PetscCall((*be->Malloc)(sp->nT * nc * sizeof(PetscInt), (void **)&d->map));
    PetscCall((*be->Copy)(d->map, t->nodes->map, sp->nT * nc * sizeof(PetscInt), PETSC_TRUE));
    PetscCall((*be->Malloc)(sp->nL * nc * sizeof(PetscScalar), (void **)&d->xl));
    PetscCall((*be->Malloc)(sp->nL * nc * sizeof(PetscScalar), (void **)&d->yl));
    PetscCall((*be->Zero)(sp->nL * nc, d->xl));
  }
  PetscCall(HopsFieldSetUp(t, d->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroyDevice(HopsPATensor t)
{
  HopsPATensorDevice d = t->device;

  PetscFunctionBegin;
  if (d) {
    const HopsBackendOps *be = t->nodes->space->backend;

    PetscCall((*be->FieldDestroy)(&d->kernel));
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
  const PetscInt nc = t->nodes->nc;

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
  const PetscInt        nc = t->nodes->nc, half = sp->ninterior / 2;
  PetscScalar          *xg = d->xl + (size_t)sp->nT * nc, *yg = d->yl + (size_t)sp->nT * nc, *ya;
  const PetscScalar    *xa;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(sp, x, y, &xa, &ya));
  PetscCall((*be->Pack)(sp->nT * nc, d->map, xa, d->xl));
  PetscCall((*be->Zero)(sp->nL * nc, d->yl));
  PetscCall(HopsHaloBegin(d->halo, d->xl, xg));
  PetscCall((*be->FieldApply)(d->kernel, transpose, 0, half, d->xl, d->yl));
  PetscCall(HopsHaloEnd(d->halo, xg));
  PetscCall((*be->FieldApply)(d->kernel, transpose, sp->ninterior, sp->ncells - sp->ninterior, d->xl, d->yl));
  PetscCall(HopsHaloAddBegin(d->halo, yg));
  PetscCall((*be->FieldApply)(d->kernel, transpose, half, sp->ninterior - half, d->xl, d->yl));
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
  PetscScalar       *yg = d->yl + (size_t)sp->nT * t->nodes->nc, *va;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(sp, NULL, v, NULL, &va));
  PetscCall((*sp->backend->Zero)(sp->nL * t->nodes->nc, d->yl));
  PetscCall((*sp->backend->FieldDiagonal)(d->kernel, d->yl));
  PetscCall(HopsHaloAddBegin(d->halo, yg));
  PetscCall(HopsHaloAddEnd(d->halo, yg, d->yl));
  PetscCall(HopsPATensorPut(t, va));
  PetscCall(MatPARestoreArrays(sp, NULL, v, NULL, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}
