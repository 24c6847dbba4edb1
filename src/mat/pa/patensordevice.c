/* Full tensors of cells, made where the back end works if the point functions are compiled for it, and those
   of boundary terms, which a device takes from the process. */
#include <hops/private/hopspatensorimpl.h>

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

    HopsPABlockForget(t, b); /* the kernels do not compare */
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
      (*pair)[data->npairs++] = (HopsTensorPair){(int)kind, (int)(k / nct), (int)(k % nct), (int)data->nentries};
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
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->nfaceops; ++i) PetscCall((*t->faceops[i]->ops->Destroy)(&t->faceops[i]));
  PetscCall(PetscFree(t->faceops));
  t->nfaceops = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensors of all boundary terms go to the device, which alone needs them */
PetscErrorCode HopsPATensorSetUpFacesDevice(HopsPATensor t)
{
  HopsFields F = t->jacobian->fields;
  PetscInt   n = 0;

  PetscFunctionBegin;
  PetscCall(HopsPATensorResetFacesDevice(t));
  for (HopsFaceTerm term = t->faces->terms; term; term = term->next) ++n;
  PetscCall(PetscCalloc1(n, &t->faceops));
  for (HopsFaceTerm term = t->faces->terms; term; term = term->next) {
    const PetscInt  nq = HopsPower(t->Q, F->dim - 1);
    HopsTensorData  data;
    HopsTensorPair *pair;
    PetscReal      *q;

    data.test = data.trial = 0;
    while (t->side[HOPS_TEST][data.test].field != term->test) ++data.test;
    while (t->side[HOPS_TRIAL][data.trial].field != term->trial) ++data.trial;
    PetscCall(HopsFaceTermPairs(term, F->nc[term->test], F->nc[term->trial], F->dim, nq, &data, &pair, &q));
    PetscCall((*t->kernel->ops->CreateFaces)(t->kernel, term->n, term->cells, term->faces, &data, &t->faceops[t->nfaceops]));
    ++t->nfaceops;
    PetscCall(PetscFree(pair));
    PetscCall(PetscFree(q));
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(term->q[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
