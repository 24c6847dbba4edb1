/* A back end whose set-up of patches is that of devices (hopspatchkernel.h), by teams of one; the toy's
   operator, whose quadrature data it takes, and the host's for the rest. */
#pragma once
#include "backend_toy.h"
#include <hops/private/hopspatchimpl.h>

/* q[comp][nq] of a cell */
static HopsPatchPoints TeamPoints(Toy k, PetscInt c, PetscReal q[])
{
  const int       dim = (int)k->sp->dim, nq = (int)HopsPower(k->basis->Q, dim);
  HopsPatchPoints p = {.dim = dim, .Q = (int)k->basis->Q, .nq = nq, .derivative = 1, .mass = 1, .w = k->basis->weights};

  for (int i = 0; i < nq; ++i) {
    const PetscReal *G = k->G + (c * nq + i) * dim * dim;

    for (int a = 0, t = 0; a < dim; ++a)
      for (int b = a; b < dim; ++b) q[t++ * nq + i] = G[a * dim + b];
    q[dim * (dim + 1) / 2 * nq + i] = k->m[c * nq + i];
  }
  return p;
}

static PetscErrorCode TeamModels(HopsOperator A, HopsPatchCell models[])
{
  Toy        k = (Toy)A;
  PetscReal *q;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(7 * HopsPower(k->basis->Q, k->sp->dim), &q));
  for (PetscInt c = 0; c < k->sp->ncells; ++c) {
    HopsPatchPoints p      = TeamPoints(k, c, q);
    PetscReal       sum[5] = {0.0};

    p.derivative = k->derivative;
    p.mass       = k->mass;
    if (!k->derivative) PetscCall(PetscArraycpy(q, q + p.dim * (p.dim + 1) / 2 * p.nq, p.nq));
    for (int rank = 0; rank < 3; ++rank) HopsPatchModelSums(&p, q, rank, 3, sum); /* shares of three members */
    HopsPatchModelMeans(&p, sum, models + c);
    for (int rank = 0; rank < 3; ++rank) HopsPatchModelExtremes(&p, q, rank, 3, models + c);
  }
  PetscCall(PetscFree(q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamElements(HopsOperator A, const HopsBasis *b, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  Toy          k = (Toy)A;
  const int    P = (int)b->P, Q = (int)b->Q, dim = (int)k->sp->dim, chunk = PetscMax(1, P * P / 2 + 1);
  const size_t nn = HopsPower(P, dim);
  PetscReal   *q, *T, *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(7 * HopsPower(Q, dim), &q, 4 * Q * P * P, &T, chunk * HopsPatchElementScratch(dim, P, Q), &work));
  HopsPatchElementTables(P, Q, b->B, b->D, T);
  for (PetscInt i = 0; i < n; ++i) {
    const HopsPatchPoints p = TeamPoints(k, cells[i], q); /* what the form has not is zero */

    HopsPatchElementMatrix(&p, P, q, T, chunk, work, E + i * nn * nn, 0, 1);
  }
  PetscCall(PetscFree3(q, T, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamHang(const HopsHanging *h, PetscInt n, const PetscInt at[], const unsigned short mask[], PetscReal E[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) HopsHangingElementTeam(h, mask[k], E + at[k] * PetscSqr((size_t)h->ne), 0, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's stars, and their faults by shares of three members */
static PetscErrorCode TeamStars(const HopsPatchVertices *m, HopsPatchStar star[], unsigned char faults[], HopsPatchFit fit[])
{
  PetscFunctionBegin;
  PetscCall((*HopsPatchSetUpHost.Stars)(m, star, faults, fit));
  for (PetscInt k = 0; k < m->n; ++k) {
    faults[k] = 0;
    for (int rank = 0; rank < 3 && star[k].side[0]; ++rank)
      faults[k] |= (unsigned char)HopsPatchStarFaults(&m->nodes, star + k, m->all ? 1 : 0, rank, 3);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamLists(const HopsPatchLists *l, int idx[], int eidx[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < l->n; ++k) {
    const HopsPatchStar *s = l->star + k;
    const PetscInt       n = l->start[k + 1] - l->start[k];
    int                 *work;

    PetscCall(PetscMalloc1(n, &work));
    if (!s->side[0]) PetscCall(PetscArraycpy(work, l->given + s->cell[0], n));
    for (int rank = 2; rank >= 0 && s->side[0]; --rank) HopsPatchStarList(&l->nodes, s, 0, work, NULL, rank, 3);
    if (!s->sorted) PetscCall(PetscArraycpy(idx + l->start[k], work, n));
    for (int rank = 2; rank >= 0 && s->sorted; --rank) HopsPatchListSort((int)n, work, NULL, idx + l->start[k], NULL, rank, 3);
    for (int rank = 2; rank >= 0 && l->estart[k] < l->estart[k + 1]; --rank)
      HopsPatchStarList(&l->nodes, s, 1, eidx + l->estart[k], NULL, rank, 3);
    PetscCall(PetscFree(work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamInvert(const HopsPatchMatrices *m, PetscReal inv[], PetscInt *bad)
{
  const int  b = 4;
  PetscReal *work;
  int       *row;

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt k = 0; k < m->n; ++k) {
    const int n = (int)m->size[k];

    PetscCall(PetscMalloc2(HopsPatchInvertScratch(n, b), &work, m->nn, &row));
    HopsPatchAssemble(&m->nodes, n, m->list + m->start[k], (int)(m->cstart[k + 1] - m->cstart[k]), m->cell + m->cstart[k], m->cells,
                      m->E, row, inv + m->offset[k], 0, 1);
    if (!HopsPatchInvert(n, b, inv + m->offset[k], work, 0, 1) && *bad < 0) *bad = k;
    PetscCall(PetscFree2(work, row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamCondense(const HopsPatchModes *m, PetscInt n, const HopsPatchCondensed cond[], PetscReal schur[],
                                   PetscInt *bad)
{
  const int  b = 4;
  PetscReal *work;

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(PetscMalloc1(HopsPatchInvertScratch(cond[k].n, b), &work));
    HopsPatchSchur(m, cond + k, schur + cond[k].offset, 0, 1);
    if (!HopsPatchInvert(cond[k].n, b, schur + cond[k].offset, work, 0, 1) && *bad < 0) *bad = k;
    PetscCall(PetscFree(work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A smoother whose condensed patches are solved as on a device, and the others by the host */
typedef struct {
  struct _HopsPatchSmoother head;
  HopsPatches               pt;
  HopsPatchSmoother         host;
} * TeamPatch;

static PetscErrorCode TeamPatchApply(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, HopsPatchMode mode,
                                     const void *r, void *z)
{
  const TeamPatch t  = (TeamPatch)smoother;
  HopsPatches     pt = t->pt;
  PetscReal      *x;

  PetscFunctionBegin;
  PetscCall((*t->host->ops->Apply)(t->host, type, color, mode, r, z));
  PetscCall(PetscMalloc1(3 * pt->modes.nodes, &x));
  for (PetscInt k = 0; k < pt->n; ++k) {
    const PetscInt            at = pt->start[k], n = pt->start[k + 1] - at;
    const HopsPatchCondensed *c;

    if (pt->solver[k] != HOPS_PATCH_CONDENSED || (color >= 0 && pt->color[k] != color)) continue;
    c = pt->cond + pt->dense[k];
    for (PetscInt i = 0; i < n; ++i) {
      const int e = pt->idx[at + i];

      x[i] = type == PETSC_FLOAT ? ((const float *)r)[e] : ((const double *)r)[e];
      if (mode == HOPS_PATCH_RESTRICT_IN && pt->level[e] != pt->dist[at + i]) x[i] = 0.0;
    }
    HopsPatchCondensedSolve(&pt->modes, c, pt->schur + c->offset, x, x + pt->modes.nodes, x + 2 * pt->modes.nodes, 0, 1);
    for (PetscInt i = 0; i < n; ++i) {
      const int e = pt->idx[at + i];

      if (mode == HOPS_PATCH_RESTRICT_OUT && pt->level[e] != pt->dist[at + i]) continue;
      if (type == PETSC_FLOAT) ((float *)z)[e] += (float)(pt->scale[k][4] * x[i]);
      else ((double *)z)[e] += pt->scale[k][4] * x[i];
    }
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamPatchSweep(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, const void *b, void *z)
{
  const TeamPatch t = (TeamPatch)smoother;

  PetscFunctionBegin;
  PetscCall((*t->host->ops->Sweep)(t->host, type, color, b, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamPatchDestroy(HopsPatchSmoother *smoother)
{
  const TeamPatch t = (TeamPatch)*smoother;

  PetscFunctionBegin;
  PetscCall((*t->host->ops->Destroy)(&t->host));
  PetscCall(PetscFree(*smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TeamPatchCreate(HopsPatches pt, PetscDataType type, HopsPatchSmoother *smoother)
{
  static const HopsPatchOps ops   = {TeamPatchApply, TeamPatchSweep, TeamPatchDestroy};
  const PetscInt            ncond = pt->ncond;
  TeamPatch                 t;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  t->head.ops = &ops;
  t->pt       = pt;
  pt->ncond   = 0; /* these the host has not */
  PetscCall((*HopsBackendHost.PatchCreate)(pt, type, &t->host));
  pt->ncond    = ncond;
  t->head.info = t->host->info;
  *smoother    = &t->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TeamRegister(void)
{
  static HopsPatchSetUpOps ops;
  static HopsBackendOps    team;

  PetscFunctionBegin;
  ops                 = HopsPatchSetUpHost;
  ops.Models          = TeamModels;
  ops.Elements        = TeamElements;
  ops.Hang            = TeamHang;
  ops.Stars           = TeamStars;
  ops.Lists           = TeamLists;
  ops.Condense        = TeamCondense;
  ops.Invert          = TeamInvert;
  team                = HopsBackendHost;
  team.name           = "team";
  team.OperatorCreate = ToyCreate;
  team.PatchCreate    = TeamPatchCreate;
  team.patches        = &ops;
  team.hanging        = PETSC_FALSE; /* the toy has what hangs behind the L-vector */
  PetscCall(HopsBackendRegister(&team));
  PetscFunctionReturn(PETSC_SUCCESS);
}
