/*
  Full tensors on a device: L-vectors of all fields of a side in one array, which one index list fills from
  the global vector and another empties into it, halos, and boundary terms. Tensors of the cells are made
  there where the point functions are compiled for it, else by the host once for each state.
*/
#include <hops/private/hopspatensorimpl.h>

typedef struct _HopsPATensorDevice *HopsPATensorDevice;
struct _HopsPATensorDevice {
  PetscInt            size[2];    /* of the L-vectors */
  PetscReal          *l[2];       /* of all fields, one after the other */
  PetscInt           *gather[2];  /* [size] entry of the global vector, -1 where it has none */
  PetscInt           *scatter[2]; /* [local size of the global vector] entry of the L-vectors */
  PetscInt            nfaces;     /* boundary terms */
  HopsTensorOperator *faces;
};

static PetscErrorCode HopsPATensorUpload(const HopsBackendOps *be, PetscInt n, const PetscInt idx[], PetscInt **to)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscInt), (void **)to));
  PetscCall((*be->memory->Copy)(NULL, *to, idx, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsPATensorBorrows(HopsPATensor t, PetscInt k, PetscInt i)
{
  return k == HOPS_TRIAL && i < t->n[HOPS_TEST] && t->side[HOPS_TEST][i].nodes == t->side[HOPS_TRIAL][i].nodes ? PETSC_TRUE
                                                                                                               : PETSC_FALSE;
}

PetscErrorCode HopsPATensorCreateDevice(HopsPATensor t)
{
  const HopsBackendOps *be = t->space->backend;
  HopsPATensorDevice    d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  t->device = d;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscInt *gather, *scatter, off = 0;

    for (PetscInt i = 0; i < t->n[k]; ++i) {
      PetscCall(HopsPASideSetUpVector(&t->side[k][i]));
      d->size[k] += t->side[k][i].nl * t->side[k][i].nodes->nc;
    }
    PetscCall((*be->memory->Malloc)(d->size[k] * sizeof(PetscReal), (void **)&d->l[k]));
    PetscCall(PetscMalloc2(d->size[k], &gather, t->size[k], &scatter));
    for (PetscInt i = 0; i < t->size[k]; ++i) scatter[i] = -1;
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      HopsPASide    *s  = &t->side[k][i];
      HopsSpace      sp = s->nodes->space;
      const PetscInt nc = s->nodes->nc;

      s->l = d->l[k] + off;
      for (PetscInt j = 0; j < s->nl * nc; ++j) {
        gather[off + j] = j < sp->nT * nc ? s->nodes->map[j] : -1;
        if (gather[off + j] >= 0) scatter[gather[off + j]] = off + j;
      }
      off += s->nl * nc;
      if (HopsPATensorBorrows(t, k, i)) s->P = t->side[HOPS_TEST][i].P;
      else PetscCall(HopsProlongCreate(sp, be, &sp->halo, nc, PETSC_DOUBLE, NULL, &s->P));
      HopsProlongSetHung(s->P, s->hung);
    }
    PetscCall(HopsPATensorUpload(be, d->size[k], gather, &d->gather[k]));
    PetscCall(HopsPATensorUpload(be, t->size[k], scatter, &d->scatter[k]));
    PetscCall(PetscFree2(gather, scatter));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroyDevice(HopsPATensor t)
{
  HopsPATensorDevice    d  = t->device;
  const HopsBackendOps *be = t->space ? t->space->backend : NULL;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPATensorResetFacesDevice(t));
  for (PetscInt k = 1; k >= 0; --k) {
    for (PetscInt i = 0; i < t->n[k]; ++i)
      if (!HopsPATensorBorrows(t, k, i)) PetscCall(HopsProlongDestroy(&t->side[k][i].P));
    PetscCall((*be->memory->Free)((void **)&d->l[k]));
    PetscCall((*be->memory->Free)((void **)&d->gather[k]));
    PetscCall((*be->memory->Free)((void **)&d->scatter[k]));
  }
  PetscCall(PetscFree(t->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- tensors ---------------------------------------- */

/* place[cell] = batch * W + lane, where the back end works */
static PetscErrorCode HopsPATensorPlaces(HopsPATensor t, const HopsTensorLayout *layout, int **place)
{
  const HopsMemoryOps *memory = t->space->backend->memory;
  const PetscInt       n      = t->space->ncells;
  int                 *h;

  PetscFunctionBegin;
  PetscCall(HopsCheckInt("places of cells", (PetscInt64)layout->nb * layout->W));
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt b = 0; b < layout->nb; ++b)
    for (PetscInt c = layout->first[b]; c < layout->first[b + 1]; ++c) h[c] = (int)(b * layout->W + c - layout->first[b]);
  PetscCall((*memory->PoolMalloc)(n * sizeof(int), (void **)place));
  PetscCall((*memory->Copy)(NULL, *place, h, n * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks as the point functions' kernels fill them. Lanes without a cell are zeroed once */
static PetscErrorCode HopsPATensorSetTarget(HopsPATensor t, PetscInt nq, const HopsTensorLayout *layout, HopsTensorData blocks[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    HopsPAData *d;
    size_t      size, n;

    PetscCall(HopsPABlockAllocate(t, b, nq));
    d         = t->block[b].data;
    blocks[b] = (HopsTensorData){.npairs = d->npairs, .nentries = d->nentries, .pair = d->pair, .q = d->q};
    if (d->cleared) continue;
    d->cleared = PETSC_TRUE;
    size       = (size_t)layout->nb * nq * d->nentries * layout->W;
    for (size_t i = 0; i < size; i += n) {
      n = PetscMin(size - i, (size_t)1 << 30);
      PetscCall((*t->space->backend->vector->Zero)(PETSC_DOUBLE, (PetscInt)n, d->q + i));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells of a run: as many as have about as many numbers as a scalar form's coefficients at `runpoints`
   points */
static PetscInt HopsPATensorRun(HopsPATensor t, PetscInt nq)
{
  HopsFields F     = t->jacobian->fields;
  PetscInt   total = 0;

  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k)
      if (t->jacobian->blocks[b].has[k])
        total += F->nc[t->jacobian->blocks[b].test] * F->nc[t->jacobian->blocks[b].trial] * HopsTensorEntries(F->dim, k);
  return (PetscInt)PetscMax(64, (PetscInt64)t->space->backend->runpoints * F->dim * F->dim / ((PetscInt64)nq * PetscMax(total, 1)));
}

/* Where a pair of components turns up that was zero before, the tensors of the runs before are without it:
   again */
PetscErrorCode HopsPATensorPassDevice(HopsPATensor t, const HopsBasis *basis, PetscBool *again, PetscBool *done)
{
  HopsSpace        sp = t->space;
  const PetscInt   nq = HopsPower(basis->Q, sp->dim), nblocks = t->jacobian->nblocks, run = HopsPATensorRun(t, nq);
  HopsTensorTarget to;
  HopsTensorData  *blocks;
  int             *place = NULL;
  unsigned char *(*marks)[4];

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  *done  = PETSC_TRUE;
  PetscCall((*t->kernel->ops->GetLayout)(t->kernel, &to.layout));
  PetscCall(PetscMalloc2(nblocks, &blocks, nblocks, &marks));
  to.block = blocks;
  for (PetscInt b = 0; b < nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k) marks[b][k] = t->block[b].pairs[k];
  for (PetscInt c = 0; (!c || c < sp->ncells) && *done; c += run) {
    const PetscInt n     = PetscMin(run, sp->ncells - c);
    PetscBool      grown = PETSC_FALSE;

    PetscCall(HopsJacobianEvaluateMarks(t->jacobian, sp, c, n, basis, marks, &grown, done));
    if (!*done) break;
    if (!c) {
      PetscCall(HopsPATensorPlaces(t, &to.layout, &place));
      PetscCall(HopsPATensorSetTarget(t, nq, &to.layout, blocks));
      to.place = place;
    } else if (grown) *again = PETSC_TRUE;
    if (!*again) PetscCall(HopsJacobianEvaluateReference(t->jacobian, sp, c, n, basis, &to, done));
  }
  PetscCall((*sp->backend->memory->PoolFree)((void **)&place));
  PetscCall(PetscFree2(blocks, marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- boundary terms --------------------------------------- */

/* derivative a of the form, in the order that the back end takes: that along the normal direction first */
static PetscInt HopsFaceDirection(PetscInt face, PetscInt a)
{
  const PetscInt d = face / 2;

  return a == 0 ? d : (a <= d ? a - 1 : a);
}

/* The pairs of components with any tensor that is not zero, and their entries [face][entry][point] */
static PetscErrorCode HopsFaceTermPairs(HopsFaceTerm term, PetscInt nc, PetscInt nct, PetscInt dim, PetscInt nq,
                                        HopsTensorData *data, HopsTensorPair **pair, PetscReal **q)
{
  PetscFunctionBegin;
  data->npairs = data->nentries = 0;
  PetscCall(PetscMalloc1(4 * nc * nct, pair));
  for (PetscInt kind = 0; kind < 4; ++kind) {
    const PetscInt len = HopsTensorEntries(dim, kind) * nq;

    for (PetscInt k = 0; term->q[kind] && k < nc * nct; ++k) {
      PetscBool zero = PETSC_TRUE;

      for (PetscInt f = 0; f < term->n && zero; ++f)
        for (PetscInt i = 0; i < len && zero; ++i)
          if (term->q[kind][((size_t)f * nc * nct + k) * len + i] != 0.0) zero = PETSC_FALSE;
      if (zero) continue;
      (*pair)[data->npairs++] = (HopsTensorPair){(int)kind, (int)(k / nct), (int)(k % nct)};
      data->nentries += HopsTensorEntries(dim, kind);
    }
  }
  PetscCall(PetscMalloc1((size_t)term->n * data->nentries * nq, q));
  for (PetscInt f = 0; f < term->n; ++f) {
    PetscReal *to = *q + (size_t)f * data->nentries * nq;

    for (PetscInt j = 0; j < data->npairs; ++j) {
      const HopsTensorPair p = (*pair)[j];
      const PetscReal     *from =
        term->q[p.kind] + ((size_t)f * nc * nct + p.test * nct + p.trial) * HopsTensorEntries(dim, p.kind) * nq;
      const PetscInt na = p.kind & 2 ? dim : 1, nb = p.kind & 1 ? dim : 1;

      for (PetscInt a = 0; a < na; ++a)
        for (PetscInt b = 0; b < nb; ++b, to += nq) {
          const PetscInt ra = na == 1 ? 0 : HopsFaceDirection(term->faces[f], a),
                         rb = nb == 1 ? 0 : HopsFaceDirection(term->faces[f], b);

          PetscCall(PetscArraycpy(to, from + (ra * nb + rb) * nq, nq));
        }
    }
  }
  data->pair = *pair;
  data->q    = *q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorResetFacesDevice(HopsPATensor t)
{
  HopsPATensorDevice d = t->device;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < d->nfaces; ++i) PetscCall((*d->faces[i]->ops->Destroy)(&d->faces[i]));
  PetscCall(PetscFree(d->faces));
  d->nfaces = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensors of all boundary terms go to the device, which alone needs them */
PetscErrorCode HopsPATensorSetUpFacesDevice(HopsPATensor t)
{
  HopsPATensorDevice d = t->device;
  HopsFields         F = t->jacobian->fields;
  PetscInt           n = 0;

  PetscFunctionBegin;
  PetscCall(HopsPATensorResetFacesDevice(t));
  for (HopsFaceTerm term = t->faces->terms; term; term = term->next) ++n;
  PetscCall(PetscCalloc1(n, &d->faces));
  for (HopsFaceTerm term = t->faces->terms; term; term = term->next) {
    const PetscInt  nq = HopsPower(t->Q, F->dim - 1);
    HopsTensorData  data;
    HopsTensorPair *pair;
    PetscReal      *q;

    data.test = data.trial = 0;
    while (t->side[HOPS_TEST][data.test].field != term->test) ++data.test;
    while (t->side[HOPS_TRIAL][data.trial].field != term->trial) ++data.trial;
    PetscCall(HopsFaceTermPairs(term, F->nc[term->test], F->nc[term->trial], F->dim, nq, &data, &pair, &q));
    PetscCall((*t->kernel->ops->CreateFaces)(t->kernel, term->n, term->cells, term->faces, &data, &d->faces[d->nfaces]));
    ++d->nfaces;
    PetscCall(PetscFree(pair));
    PetscCall(PetscFree(q));
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(term->q[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* Ghosts, then all, of the fields of a side go to the global vector */
static PetscErrorCode HopsPATensorAddBegin(HopsPATensor t, PetscInt k)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongTransposeBegin(s->P, HopsPASideGhosts(s), s->l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPATensorAddEnd(HopsPATensor t, PetscInt k, PetscReal y[])
{
  HopsPATensorDevice d = t->device;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[k]; ++i) {
    HopsPASide *s = &t->side[k][i];

    PetscCall(HopsProlongTransposeEnd(s->P, HopsPASideGhosts(s), s->l));
  }
  PetscCall((*t->space->backend->vector->Pack)(NULL, PETSC_DOUBLE, t->size[k], d->scatter[k], d->l[k], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorFacesApplyDevice(HopsPATensor t, PetscBool transpose)
{
  HopsPATensorDevice d = t->device;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < d->nfaces; ++i) PetscCall((*d->faces[i]->ops->Apply)(d->faces[i], HOPS_PART_SHARED, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorMultDevice(HopsPATensor t, PetscBool transpose, Vec x, Vec y)
{
  const HopsBackendOps *be = t->space->backend;
  const PetscInt        in = transpose ? HOPS_TEST : HOPS_TRIAL, out = 1 - in;
  HopsPATensorDevice    d = t->device;
  PetscReal            *ya;
  const PetscReal      *xa;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(t->space, 0, x, y, &xa, &ya));
  PetscCall(
    (*be->vector->Pack)(NULL, PETSC_DOUBLE, d->size[in], d->gather[in], xa, d->l[in])); /* ghosts and constrained entries: zero */
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, d->size[out], d->l[out]));
  for (PetscInt i = 0; i < t->n[in]; ++i) {
    HopsPASide *s = &t->side[in][i];

    PetscCall(HopsProlongBegin(s->P, s->l, HopsPASideGhosts(s)));
  }
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_INTERIOR_A, transpose));
  for (PetscInt i = 0; i < t->n[in]; ++i) {
    HopsPASide *s = &t->side[in][i];

    PetscCall(HopsProlongEnd(s->P, s->l, HopsPASideGhosts(s)));
  }
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_SHARED, transpose));
  PetscCall(HopsPATensorFacesApplyDevice(t, transpose));
  PetscCall(HopsPATensorAddBegin(t, out));
  PetscCall((*t->kernel->ops->Apply)(t->kernel, HOPS_PART_INTERIOR_B, transpose));
  PetscCall(HopsPATensorAddEnd(t, out, ya));
  PetscCall(PetscLogGpuFlops(t->kernel->info.flops));
  PetscCall(MatPARestoreArrays(t->space, 0, x, y, &xa, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDiagonalDevice(HopsPATensor t, Vec v)
{
  const HopsBackendOps *be = t->space->backend;
  HopsPATensorDevice    d  = t->device;
  PetscReal            *va;

  PetscFunctionBegin;
  PetscCall(MatPAGetArrays(t->space, 0, NULL, v, NULL, &va));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, d->size[HOPS_TEST], d->l[HOPS_TEST]));
  PetscCall((*t->kernel->ops->Diagonal)(t->kernel));
  for (PetscInt i = 0; i < d->nfaces; ++i) PetscCall((*d->faces[i]->ops->Diagonal)(d->faces[i]));
  PetscCall(HopsPATensorDiagonalHung(t));
  PetscCall(HopsPATensorAddBegin(t, HOPS_TEST));
  PetscCall(HopsPATensorAddEnd(t, HOPS_TEST, va));
  PetscCall(MatPARestoreArrays(t->space, 0, NULL, v, NULL, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}
