/*
  The operator with full tensors, by sum factorisation: at each quadrature point the values u_c and reference
  gradients d_a u_c of all components of all fields meet the tensors q0, q1, q2, q3, which hold weight,
  determinant and inverse Jacobians:

    v_c = q0_cc' u_c' + q1_cc'a d_a u_c'      (times the value of the test function)
    w_ca = q2_cc'a u_c' + q3_cc'ab d_b u_c'   (times its gradient)

  Fields of different orders meet at the points of one rule. Only pairs of components whose tensors are not
  zero everywhere are kept, and those of pairs that are equal everywhere are kept once: a vector Laplacian has
  the tensors of a scalar one.
*/
#include <hops/private/hopspatensorimpl.h>

#define HOPS_POINT_FUNCTION static inline
#include <form/ds/device/pointtensor.h>

static PetscErrorCode HopsPASideSetUp(PetscInt field, HopsNodes nodes, HopsPASide *s)
{
  PetscFunctionBegin;
  s->field = field;
  s->nodes = nodes;
  ++nodes->refct;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt HopsPABlockPairs(HopsPATensor t, PetscInt b)
{
  return t->side[HOPS_TEST][t->block[b].test].nodes->nc * t->side[HOPS_TRIAL][t->block[b].trial].nodes->nc;
}

/* No pair is like another one until tensors are compared */
void HopsPABlockForget(HopsPATensor t, PetscInt b)
{
  HopsPABlock *tb = &t->block[b];

  tb->compared = PETSC_FALSE;
  for (PetscInt k = 0; k < 4; ++k)
    for (PetscInt i = 0; tb->like[k] && i < HopsPABlockPairs(t, b); ++i) tb->like[k][i] = i;
}

PetscErrorCode HopsPATensorCreate(HopsForm form, PetscInt ntest, const PetscInt testfields[], HopsNodes const test[],
                                  PetscInt ntrial, const PetscInt trialfields[], HopsNodes const trial[], HopsPATensor *out)
{
  HopsPATensor     t;
  const PetscInt  *fields[2] = {testfields, trialfields};
  HopsNodes const *nodes[2]  = {test, trial};

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  ++form->refct;
  t->form          = form;
  t->jacobian      = form->jacobian;
  t->n[HOPS_TEST]  = ntest;
  t->n[HOPS_TRIAL] = ntrial;
  if (ntest == 1 && ntrial == 1 && test[0] == trial[0]) t->nodes = test[0];
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscCalloc1(t->n[k], &t->side[k]));
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      PetscCall(HopsPASideSetUp(fields[k][i], nodes[k][i], &t->side[k][i]));
      t->size[k] += nodes[k][i]->nfree;
      if (!t->space || nodes[k][i]->space->order > t->space->order) t->space = nodes[k][i]->space;
    }
  }
  PetscCall(HopsFaceFormCreate(t->jacobian, t->space, ntest, testfields, ntrial, trialfields, &t->faces));
  PetscCall(PetscCalloc2(t->jacobian->nblocks, &t->block, t->jacobian->nblocks, &t->view));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    const HopsJacobianBlock *fb = &t->jacobian->blocks[b];
    HopsPABlock             *tb = &t->block[b];

    tb->test = tb->trial = -1;
    for (PetscInt i = 0; i < ntest; ++i)
      if (testfields[i] == fb->test) tb->test = i;
    for (PetscInt i = 0; i < ntrial; ++i)
      if (trialfields[i] == fb->trial) tb->trial = i;
    PetscCheck(tb->test >= 0 && tb->trial >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "A block of fields %" PetscInt_FMT ", %" PetscInt_FMT " that the operator does not have", fb->test, fb->trial);
    for (PetscInt k = 0; k < 4; ++k)
      if (fb->has[k]) PetscCall(PetscCalloc2(HopsPABlockPairs(t, b), &tb->pairs[k], HopsPABlockPairs(t, b), &tb->like[k]));
    HopsPABlockForget(t, b);
  }
  *out = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPADataRelease(HopsPAData **data)
{
  HopsPAData *d = *data;

  PetscFunctionBegin;
  *data = NULL;
  if (!d || --d->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*d->backend->memory->Free)((void **)&d->q));
  PetscCall(PetscFree(d->pair));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops what depends on the rule */
static PetscErrorCode HopsPATensorReset(HopsPATensor t)
{
  PetscFunctionBegin;
  PetscCall(HopsPATensorResetFacesDevice(t)); /* they have the kernel's bases */
  if (t->kernel) PetscCall((*t->kernel->ops->Destroy)(&t->kernel));
  for (PetscInt k = 0; t->Q && k < 2; ++k)
    for (PetscInt i = 0; i < t->n[k]; ++i) PetscCall(HopsBasisDestroy(&t->side[k][i].basis));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    PetscCall(HopsPADataRelease(&t->block[b].data));
    HopsPABlockForget(t, b);
  }
  t->Q = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroy(HopsPATensor *out)
{
  HopsPATensor t = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPATensorReset(t));
  PetscCall(HopsPATensorDestroyVectors(t));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree2(t->block[b].pairs[k], t->block[b].like[k]));
  PetscCall(PetscFree2(t->block, t->view));
  for (PetscInt k = 0; k < 2; ++k) {
    for (PetscInt i = 0; i < t->n[k]; ++i) PetscCall(HopsNodesDestroy(&t->side[k][i].nodes));
    PetscCall(PetscFree(t->side[k]));
  }
  PetscCall(HopsFaceFormDestroy(&t->faces));
  PetscCall(HopsFormDestroy(&t->form));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorSameSpaces(HopsPATensor t, HopsPATensor u, PetscBool *same)
{
  PetscFunctionBegin;
  *same = t->jacobian->dm == u->jacobian->dm && t->n[0] == u->n[0] && t->n[1] == u->n[1] ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt k = 0; k < 2 && *same; ++k)
    for (PetscInt i = 0; i < t->n[k]; ++i)
      if (t->side[k][i].nodes != u->side[k][i].nodes || t->side[k][i].field != u->side[k][i].field) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDuplicate(HopsPATensor t, HopsPATensor *out)
{
  HopsJacobian jac;
  HopsForm     form;
  HopsNodes   *nodes[2];
  PetscInt    *fields[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscMalloc1(t->n[k], &nodes[k]));
    PetscCall(PetscMalloc1(t->n[k], &fields[k]));
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      nodes[k][i]  = t->side[k][i].nodes;
      fields[k][i] = t->side[k][i].field;
    }
  }
  PetscCall(HopsJacobianDuplicate(t->jacobian, &jac));
  PetscCall(HopsFormSelect(t->form, jac, PETSC_TRUE, PETSC_TRUE, &form));
  PetscCall(HopsJacobianDestroy(&jac));
  PetscCall(HopsPATensorCreate(form, t->n[0], fields[0], nodes[0], t->n[1], fields[1], nodes[1], out));
  PetscCall(HopsFormDestroy(&form));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscFree(nodes[k]));
    PetscCall(PetscFree(fields[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- quadrature data -------------------------------------- */

/* Bases and kernel of a rule; W as in TensorCreate() */
static PetscErrorCode HopsPATensorSetUpRule(HopsPATensor t, const HopsBasis *rule, PetscInt W)
{
  const HopsBackendOps *be = t->space->backend;
  HopsTensorSide       *sides[2];

  PetscFunctionBegin;
  if (t->Q && HopsBasisSameRule(&t->side[HOPS_TEST][0].basis, rule)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPATensorReset(t));
  if (!t->side[HOPS_TEST][0].P) PetscCall(HopsPATensorCreateVectors(t));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscCalloc1(t->n[k], &sides[k]));
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      HopsPASide *s = &t->side[k][i];

      PetscCall(HopsBasisCreateLike(s->nodes->space->order + 1, rule, &s->basis));
      sides[k][i].nc    = s->nodes->nc;
      sides[k][i].basis = &s->basis;
      sides[k][i].nl    = s->nl;
      sides[k][i].l     = s->l;
      sides[k][i].restr = s->restr;
    }
  }
  PetscCall((*be->TensorCreate)(t->space, rule->Q, W, t->n[0], sides[0], t->n[1], sides[1], &t->kernel));
  PetscCall(PetscFree(sides[0]));
  PetscCall(PetscFree(sides[1]));
  t->Q = rule->Q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the kernel sees, and the flops that it takes */
static PetscErrorCode HopsPATensorSetUpView(HopsPATensor t)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    const HopsPABlock *tb = &t->block[b];

    t->view[b].test     = tb->test;
    t->view[b].trial    = tb->trial;
    t->view[b].npairs   = tb->data->npairs;
    t->view[b].nentries = tb->data->nentries;
    t->view[b].pair     = tb->data->pair;
    t->view[b].q        = tb->data->q;
  }
  PetscCall((*t->kernel->ops->SetBlocks)(t->kernel, t->jacobian->nblocks, t->view));
  PetscCall(PetscInfo(t->space, "kernel %s, %g flops per application\n", t->kernel->info.name, (double)t->kernel->info.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pairs of a block with tensors that are not zero, and their entries */
static PetscErrorCode ListPairs(HopsPATensor t, PetscInt b, PetscInt *npairs, PetscInt *nentries, HopsTensorPair **pair)
{
  const HopsPABlock *tb  = &t->block[b];
  const PetscInt     nct = t->side[HOPS_TRIAL][tb->trial].nodes->nc, nc = HopsPABlockPairs(t, b);
  PetscInt          *entry;

  PetscFunctionBegin;
  *npairs = *nentries = 0;
  PetscCall(PetscMalloc1(4 * nc, pair));
  PetscCall(PetscMalloc1(nc, &entry));
  for (PetscInt k = 0; k < 4; ++k)
    for (PetscInt i = 0; tb->pairs[k] && i < nc; ++i) {
      if (!tb->pairs[k][i]) continue;
      entry[i]             = tb->like[k][i] == i ? *nentries : entry[tb->like[k][i]];
      (*pair)[(*npairs)++] = (HopsTensorPair){(int)k, (int)(i / nct), (int)(i % nct), (int)entry[i]};
      if (tb->like[k][i] == i) *nentries += HopsTensorEntries(t->jacobian->fields->dim, k);
    }
  PetscCall(PetscFree(entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was there if nobody else uses it and its pairs are the same. Lanes without a cell stay zero */
PetscErrorCode HopsPABlockAllocate(HopsPATensor t, PetscInt b, PetscInt nq)
{
  const HopsBackendOps *be = t->space->backend;
  HopsPABlock          *tb = &t->block[b];
  HopsPAData           *d  = tb->data;
  HopsTensorLayout      layout;
  HopsTensorPair       *pair;
  PetscInt              npairs, nentries;
  PetscBool             same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(ListPairs(t, b, &npairs, &nentries, &pair));
  if (d && d->refct == 1 && d->npairs == npairs) PetscCall(PetscArraycmp(d->pair, pair, npairs, &same));
  if (same) {
    PetscCall(PetscFree(pair));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPADataRelease(&tb->data));
  PetscCall(PetscNew(&d));
  d->refct    = 1;
  d->backend  = be;
  d->npairs   = npairs;
  d->nentries = nentries;
  d->pair     = pair;
  tb->data    = d;
  PetscCall((*t->kernel->ops->GetLayout)(t->kernel, &layout));
  PetscCall((*be->memory->Malloc)((size_t)layout.nb * nq * nentries * layout.W * sizeof(PetscReal), (void **)&d->q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are two of the nc pairs of a kind equal at n points? v: [n][nc][len] */
static PetscBool Equal(PetscInt n, PetscInt nc, PetscInt len, const PetscReal v[], PetscInt c, PetscInt d)
{
  for (PetscInt i = 0; i < n; ++i)
    if (memcmp(v + (i * nc + c) * len, v + (i * nc + d) * len, len * sizeof(*v))) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Which pair each one is like, on the first points that are seen; does any now differ from that? */
static void Compare(PetscInt n, PetscInt nc, PetscInt len, const PetscReal v[], const HopsPABlock *tb, PetscInt k, PetscBool *grown)
{
  PetscInt *like = tb->like[k];

  for (PetscInt c = 0; c < nc; ++c) {
    if (!tb->pairs[k][c]) continue;
    for (PetscInt d = 0; !tb->compared && d < c && like[c] == c; ++d)
      if (tb->pairs[k][d] && like[d] == d && Equal(n, nc, len, v, c, d)) like[c] = d;
    if (tb->compared && like[c] != c && !Equal(n, nc, len, v, c, like[c])) like[c] = c, *grown = PETSC_TRUE;
  }
}

/* Marks the pairs of components with tensors that are not zero on n points, and those that are equal; is any
   new, or no longer equal? */
static PetscErrorCode HopsPATensorMark(HopsPATensor t, PetscInt n, PetscReal *(*g)[4], PetscBool *grown)
{
  const PetscInt dim = t->jacobian->fields->dim;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    HopsPABlock   *tb = &t->block[b];
    const PetscInt nc = HopsPABlockPairs(t, b);

    for (PetscInt k = 0; k < 4; ++k) {
      const PetscInt len = HopsTensorEntries(dim, k);

      for (PetscInt c = 0; g[b][k] && c < nc; ++c) {
        for (PetscInt i = 0; !tb->pairs[k][c] && i < n * len; ++i)
          if (g[b][k][((i / len) * nc + c) * len + i % len] != 0.0) tb->pairs[k][c] = 1, *grown = PETSC_TRUE;
      }
      if (g[b][k]) Compare(n, nc, len, g[b][k], tb, k, grown);
    }
    tb->compared = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensors of batches b0 .. b1 - 1, those of block b from q[b] on; J and g begin with the first of their
   cells */
static PetscErrorCode HopsPATensorFill(HopsPATensor t, const HopsTensorLayout *layout, const HopsBasis *basis, PetscInt b0,
                                       PetscInt b1, const PetscReal J[], PetscReal *(*g)[4], PetscReal *const q[])
{
  const PetscInt dim = t->jacobian->fields->dim, nq = HopsPower(basis->Q, dim), W = layout->W;

  PetscFunctionBegin;
  for (PetscInt batch = b0; batch < b1; ++batch)
    for (PetscInt c = layout->first[batch]; c < layout->first[batch + 1]; ++c)
      for (PetscInt p = 0; p < nq; ++p) {
        const size_t   e    = (size_t)(c - layout->first[b0]) * nq + p;
        const PetscInt lane = c - layout->first[batch];
        PetscReal      Ji[9], det, w = 1.0;

        det = HopsInverse(dim, J + e * dim * dim, Ji);
        if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(t->space, c, det));
        for (PetscInt d = 0, k = p; d < dim; ++d, k /= basis->Q) w *= basis->weights[k % basis->Q];
        for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
          const HopsPAData *d   = t->block[b].data;
          const PetscInt    nct = t->side[HOPS_TRIAL][t->block[b].trial].nodes->nc,
                         ncc    = t->side[HOPS_TEST][t->block[b].test].nodes->nc * nct;
          PetscReal *to         = q[b] + (size_t)(batch - b0) * nq * d->nentries * W +
                          (layout->points ? (size_t)lane * nq + p : (size_t)p * d->nentries * W + lane);
          const size_t     step = layout->points ? (size_t)W * nq : (size_t)W;
          const int       *kind = d->npairs ? &d->pair[0].kind : NULL;
          const PetscReal *at[4];

          for (PetscInt k = 0; k < 4; ++k) at[k] = g[b][k] ? g[b][k] + e * ncc * HopsTensorEntries(dim, k) : NULL;
          if (dim == 3) HopsTensorsAtPoint(3, (int)d->npairs, kind, (int)nct, w * det, Ji, at, step, to);
          else HopsTensorsAtPoint(2, (int)d->npairs, kind, (int)nct, w * det, Ji, at, step, to);
        }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One pass over the cells, a run of batches at a time, which a device gets when its tensors are there. Where a
  pair of components turns up that was zero before, the rest of the pass only looks for more of them, and
  `again` asks for another one.
*/
static PetscErrorCode HopsPATensorPassHost(HopsPATensor t, const HopsBasis *basis, const HopsBasis *geom, PetscBool *again)
{
  HopsSpace             sp  = t->space;
  const HopsBackendOps *be  = sp->backend;
  const PetscInt        dim = sp->dim, nq = HopsPower(basis->Q, dim), nblocks = t->jacobian->nblocks;
  PetscInt              run;
  HopsTensorLayout      layout;
  PetscReal            *x, *J;
  PetscReal *(*g)[4], **q;

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  PetscCall((*t->kernel->ops->GetLayout)(t->kernel, &layout));
  run = PetscMax(PetscMax(4, 2048 / nq), layout.W);
  PetscCall(PetscMalloc2(run * nq * dim, &x, run * nq * dim * dim, &J));
  PetscCall(PetscCalloc2(nblocks, &g, nblocks, &q));
  for (PetscInt b = 0; b < nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k)
      if (t->jacobian->blocks[b].has[k])
        PetscCall(PetscMalloc1(run * nq * t->side[HOPS_TEST][t->block[b].test].nodes->nc *
                                 t->side[HOPS_TRIAL][t->block[b].trial].nodes->nc * HopsTensorEntries(dim, k),
                               &g[b][k]));
  for (PetscInt b0 = 0, b1; b0 < layout.nb; b0 = b1) {
    const PetscInt c     = layout.first[b0];
    PetscBool      grown = PETSC_FALSE;
    PetscInt       n;

    b1 = b0 + 1;
    while (b1 < layout.nb && (b1 + 1 - b0) * layout.W <= run) ++b1;
    n = layout.first[b1] - c;
    PetscCall(HopsSpaceGetPoints(sp, geom, c, n, x, J));
    PetscCall(HopsJacobianEvaluateBlocks(t->jacobian, sp, c, n, basis, x, J, g));
    PetscCall(HopsPATensorMark(t, n * nq, g, &grown));
    if (grown && b0) *again = PETSC_TRUE;
    for (PetscInt b = 0; b < nblocks; ++b) {
      const HopsPAData *d;

      if (!b0) {
        PetscCall(HopsPABlockAllocate(t, b, nq));
        PetscCall(PetscMalloc1((size_t)(run / layout.W) * layout.W * nq * t->block[b].data->nentries, &q[b]));
      }
      d = t->block[b].data;
      PetscCall(PetscArrayzero(q[b], (size_t)(b1 - b0) * layout.W * nq * d->nentries));
    }
    if (*again) continue;
    PetscCall(HopsPATensorFill(t, &layout, basis, b0, b1, J, g, q));
    for (PetscInt b = 0; b < nblocks; ++b) {
      const HopsPAData *d = t->block[b].data;
      const size_t      m = (size_t)layout.W * nq * d->nentries;

      PetscCall((*be->memory->Copy)(NULL, d->q + b0 * m, q[b], (b1 - b0) * m * sizeof(PetscReal), HOPS_COPY_IN));
    }
  }
  for (PetscInt b = 0; b < nblocks; ++b) {
    if (!layout.nb) PetscCall(HopsPABlockAllocate(t, b, nq));
    else PetscCall(PetscFree(q[b]));
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[b][k]));
  }
  PetscCall(PetscFree2(g, q));
  PetscCall(PetscFree2(x, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPATensorSetUpFaces(HopsPATensor t, const HopsBasis *rule)
{
  PetscFunctionBegin;
  if (!t->faces) PetscFunctionReturn(PETSC_SUCCESS);
  t->devicefaces = t->space->backend->host ? PETSC_FALSE : PETSC_TRUE;
  PetscCheck(!t->devicefaces || HopsBasisSameRule(rule, &t->side[HOPS_TEST][0].basis), PetscObjectComm((PetscObject)t->space),
             PETSC_ERR_SUP,
             "On a device full tensors on boundary faces have the rule of the cells, and the PetscFE's face quadrature is another "
             "one: give it the same points (PetscFESetFaceQuadrature()), override both by -mat_pa_q_1d, or use -hops_backend host");
  PetscCall(HopsFaceFormSetUp(t->faces, rule));
  if (t->devicefaces) PetscCall(HopsPATensorSetUpFacesDevice(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorSetUp(HopsPATensor t, const HopsBasis *basis, const HopsBasis *face)
{
  HopsBasis geom;
  PetscBool again = PETSC_TRUE;
  size_t    bytes = 0;
  PetscInt  equal = 0;

  PetscFunctionBegin;
  PetscCall(HopsPATensorSetUpRule(t, basis, 0));
  PetscCall(HopsSpaceCreateGeometryBasis(t->space, basis, &geom));
  while (again) {
    PetscBool done;

    PetscCall(HopsPATensorPassDevice(t, basis, &again, &done));
    if (!done) PetscCall(HopsPATensorPassHost(t, basis, &geom, &again));
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsPATensorSetUpView(t));
  PetscCall(HopsPATensorSetUpFaces(t, face));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    const HopsPABlock *tb = &t->block[b];

    bytes += (size_t)tb->data->nentries * t->space->ncells * HopsPower(basis->Q, t->space->dim) * sizeof(PetscReal);
    for (PetscInt k = 0; k < 4; ++k)
      for (PetscInt i = 0; tb->like[k] && i < HopsPABlockPairs(t, b); ++i) equal += tb->like[k][i] != i;
  }
  PetscCall(PetscInfo(t->space,
                      "full tensors: %g bytes of quadrature data in %" PetscInt_FMT " blocks; %" PetscInt_FMT
                      " pairs of components have those of another pair\n",
                      (double)bytes, t->jacobian->nblocks, equal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorShare(HopsPATensor whole, const HopsBasis *face, const PetscInt blocks[], HopsPATensor t)
{
  HopsTensorLayout layout;

  PetscFunctionBegin;
  PetscCall((*whole->kernel->ops->GetLayout)(whole->kernel, &layout));
  PetscCall(HopsPATensorSetUpRule(t, &whole->side[HOPS_TEST][0].basis, layout.W));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    HopsPAData *d = whole->block[blocks[b]].data;

    ++d->refct;
    PetscCall(HopsPADataRelease(&t->block[b].data));
    t->block[b].data = d;
  }
  PetscCall(HopsPATensorSetUpView(t));
  PetscCall(HopsPATensorSetUpFaces(t, face));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------- view -------------------------------------------- */

PetscErrorCode HopsPATensorView(HopsPATensor t, PetscViewer viewer)
{
  static const char *what[2] = {"test", "trial"};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < (t->nodes ? 1 : 2); ++k)
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      if (!t->nodes) {
        PetscCall(PetscViewerASCIIPrintf(viewer, "%s field %" PetscInt_FMT ", %" PetscInt_FMT " components: ", what[k],
                                         t->side[k][i].field, t->side[k][i].nodes->nc));
        PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
      }
      PetscCall(HopsSpaceView(t->side[k][i].nodes->space, viewer));
      if (!t->nodes) PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
    }
  if (t->nodes)
    PetscCall(PetscViewerASCIIPrintf(viewer, "components: %" PetscInt_FMT ", full tensors of the PetscDS:", t->nodes->nc));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "full tensors of the PetscDS:"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (PetscInt b = 0; b < t->jacobian->nblocks; ++b) {
    const HopsJacobianBlock *fb = &t->jacobian->blocks[b];

    if (!t->nodes)
      PetscCall(PetscViewerASCIIPrintf(viewer, "%s (%" PetscInt_FMT ",%" PetscInt_FMT ")", b ? "," : "", fb->test, fb->trial));
    for (PetscInt k = 0; k < 4; ++k)
      if (fb->has[k]) PetscCall(PetscViewerASCIIPrintf(viewer, " g%" PetscInt_FMT, k));
  }
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "%s%s\n", t->jacobian->nblocks ? "" : " none", t->jacobian->X ? ", at the current state" : ""));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (t->faces) {
    const PetscBool *bd = t->faces->has;

    PetscCall(PetscViewerASCIIPrintf(viewer, "boundary terms:%s%s%s%s\n", bd[0] ? " g0" : "", bd[1] ? " g1" : "",
                                     bd[2] ? " g2" : "", bd[3] ? " g3" : ""));
  }
  if (t->kernel) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "kernel: %s, %s\n", t->kernel->info.name,
                                     t->kernel->info.specialised ? "specialised" : "generic"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
