/* A back end that sets up spaces as a device does: in memory of its own, and with cells in an order that is
   not theirs. It has no kernels. */
#pragma once
#include <hops/private/hopsarraysimpl.h>

/* the i-th of n cells */
static PetscInt ApartCell(PetscInt i, PetscInt n)
{
  PetscInt step = 7919; /* a prime; others where n is a multiple of it */

  while (n > 1 && n % step == 0) step = step == 7919 ? 7907 : 7901;
  return (PetscInt)(((PetscInt64)i * step + n / 2) % n);
}

static PetscErrorCode ApartClosures(const HopsMeshCones *m, PetscInt point[], signed char ornt[], PetscInt *bad)
{
  const PetscInt n = HopsClosureSize(m->dim);

  PetscFunctionBegin;
  *bad = PETSC_INT_MAX;
  for (PetscInt i = 0; i < m->ncells; ++i) {
    const PetscInt c = ApartCell(i, m->ncells);

    if (!HopsCellClosure(m->dim, m, c, point + c * n, ornt + c * n)) *bad = PetscMin(*bad, c);
  }
  if (*bad == PETSC_INT_MAX) *bad = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums of what comes before, x[n] last */
static int ApartScan(PetscInt n, int x[])
{
  int sum = 0;

  for (PetscInt i = 0; i < n; ++i) {
    const int next = sum + x[i];

    x[i] = sum;
    sum  = next;
  }
  return sum;
}

static PetscErrorCode ApartNumber(const HopsNumbering *b, PetscInt ness, const PetscInt ess[], PetscInt nforeign,
                                  const PetscInt foreign[], int *nT, int *nC)
{
  int *count, *constrained, *rest;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(b->ncells, &count, b->ncells, &constrained, b->np, &rest));
  for (PetscInt p = 0; p < b->np; ++p) {
    b->kind[p]  = 0;
    b->touch[p] = HOPS_UNTOUCHED;
    b->first[p] = HOPS_NO_NUMBER;
  }
  for (PetscInt i = 0; i < ness; ++i) b->kind[ess[i] - b->pStart] |= HOPS_POINT_ESSENTIAL;
  for (PetscInt i = 0; i < nforeign; ++i) b->kind[foreign[i] - b->pStart] |= HOPS_POINT_FOREIGN;
  for (PetscInt i = 0; i < b->ncells; ++i) HopsTouchCell(b, ApartCell(i, b->ncells));
  for (PetscInt i = 0; i < b->ncells; ++i) {
    const PetscInt c    = ApartCell(i, b->ncells);
    int            n[2] = {0, 0};

    HopsReachCell(b, c, PETSC_FALSE, n);
    count[c]       = n[0];
    constrained[c] = n[1];
  }
  *nT = ApartScan(b->ncells, count);
  *nC = ApartScan(b->ncells, constrained);
  for (PetscInt i = 0; i < b->ncells; ++i) {
    const PetscInt c    = ApartCell(i, b->ncells);
    int            n[2] = {count[c], constrained[c]};

    HopsReachCell(b, c, PETSC_TRUE, n);
  }
  for (PetscInt p = 0; p < b->np; ++p) rest[p] = HopsCountUntouched(b, p);
  {
    const int n = *nT;

    *nT += ApartScan(b->np, rest);
    for (PetscInt p = 0; p < b->np; ++p)
      if (HopsCountUntouched(b, p)) b->first[p] = n + rest[p];
  }
  PetscCall(PetscFree3(count, constrained, rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartOrder(const HopsNumbering *b, int nT, int perm[], PetscInt *ninterior)
{
  PetscFunctionBegin;
  *ninterior = 0;
  for (PetscInt c = 0; c < b->ncells; ++c)
    if (HopsIsInnerCell(b, nT, c)) perm[(*ninterior)++] = (int)c;
  for (PetscInt c = 0, k = *ninterior; c < b->ncells; ++c)
    if (!HopsIsInnerCell(b, nT, c)) perm[k++] = (int)c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one entry after the other, the last first */
static PetscErrorCode ApartRestrict(const HopsNumbering *b, const HopsCellView *v, int nTG, PetscInt nrows, const int perm[],
                                    int restr[])
{
  const PetscInt n = HopsClosureSize(b->dim);

  PetscFunctionBegin;
  for (PetscInt e = nrows * v->ne - 1; e >= 0; --e) {
    const PetscInt row = e / v->ne, i = e % v->ne, c = perm ? perm[row] : row, k = v->slot[i];

    restr[e] = c < 0 ? 0 : HopsCellEntry(HopsCellFirst(b, nTG, c, k), v->seen[(b->ornt[c * n + b->list[k]] + 4) * v->ne + i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* entries are placed from the last one on, and each list is sorted */
static PetscErrorCode ApartTranspose(size_t n, const int key[], int nkeys, int start[], int entry[])
{
  int *fill;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nkeys + 1, &fill));
  PetscCall(PetscArrayzero(start, nkeys + 1));
  for (size_t i = 0; i < n; ++i) ++start[key[i]];
  start[nkeys] = ApartScan(nkeys, start);
  for (size_t i = n; i > 0; --i) entry[start[key[i - 1]] + fill[key[i - 1]]++] = (int)(i - 1);
  for (int k = 0; k < nkeys; ++k)
    for (int i = start[k] + 1; i < start[k + 1]; ++i)
      for (int h = i; h > start[k] && entry[h] < entry[h - 1]; --h) {
        const int e = entry[h];

        entry[h]     = entry[h - 1];
        entry[h - 1] = e;
      }
  PetscCall(PetscFree(fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartComplement(PetscInt size, PetscInt n, const PetscInt gap[], PetscInt list[], PetscInt inverse[])
{
  PetscFunctionBegin;
  for (PetscInt i = size - 1; i >= 0; --i) HopsComplementEntry(n, gap, i, list, inverse);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartCorners(const HopsCorners *m, PetscInt nx, PetscInt ncells, const PetscInt point[], const int perm[],
                                   PetscReal X[])
{
  PetscFunctionBegin;
  for (PetscInt e = ncells * m->n - 1; e >= 0; --e) HopsCellCorner(m, point, e / m->n, perm[e / m->n], e % m->n, X);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartCoarsen(const HopsChildMaps *m, const PetscReal fine[], PetscReal X[])
{
  const PetscInt np = HopsPower(m->P, m->dim);

  PetscFunctionBegin;
  for (PetscInt e = m->ncoarse * np - 1; e >= 0; --e) HopsCoarseNode(m, fine, e / np, e % np, X);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsMeshOps ApartMesh = {.Closures   = ApartClosures,
                                      .Number     = ApartNumber,
                                      .Order      = ApartOrder,
                                      .Restrict   = ApartRestrict,
                                      .Transpose  = ApartTranspose,
                                      .Complement = ApartComplement,
                                      .Corners    = ApartCorners,
                                      .Coarsen    = ApartCoarsen};

/* ---- Spaces from arrays: each of these takes another way than the host's; the host's others have one line
   for each entry or cell, and no order ---- */

static PetscErrorCode ApartListForeign(const HopsArrays *m, const PetscInt unknowns[], PetscInt nforeign, PetscInt list[])
{
  PetscFunctionBegin;
  for (PetscInt e = m->ncells * m->ne - 1, n = 0; e >= 0; --e)
    if (HopsArraysUnsigned(m->key[e]) == HOPS_FOREIGN) list[n++] = unknowns[e] < 0 ? -1 - unknowns[e] : unknowns[e];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartTouch(const HopsArrays *m, PetscInt *nuntouched)
{
  PetscFunctionBegin;
  *nuntouched = 0;
  for (PetscInt k = 0; k < m->nT + m->nF; ++k) {
    m->touch[k] = HOPS_UNTOUCHED;
    m->count[k] = 0;
  }
  for (PetscInt e = m->ncells * m->ne - 1; e >= 0; --e) {
    const int k = HopsArraysUnsigned(m->key[e]);

    m->touch[k] = PetscMin(m->touch[k], (int)e);
    ++m->count[k];
  }
  for (PetscInt k = 0; k < m->nT; ++k) *nuntouched += m->touch[k] == HOPS_UNTOUCHED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* node by node, as on a device */
static PetscErrorCode ApartLattices(const HopsArrays *m, PetscInt G, const PetscReal B[], const PetscReal X[], PetscReal x[],
                                    PetscReal size[])
{
  const PetscInt ng = HopsPower(G, m->dim);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->ncells; ++c) size[c] = HopsArraysCellSize(m->dim, G, ng, 1, X + c * m->dim * ng);
  for (PetscInt e = x ? m->ncells * m->dim * m->np - 1 : -1; e >= 0; --e)
    x[e] = HopsArraysNode(m->dim, m->P, G, B, X + e / m->np * ng, e % m->np);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all of them, whatever is found before */
static PetscErrorCode ApartAgree(const HopsArrays *m, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  for (PetscInt i = 0; i < m->ncells; ++i) {
    const PetscInt c = ApartCell(i, m->ncells);

    for (PetscInt t = m->family == HOPS_H1 ? 0 : m->nparts; t < m->nparts; ++t)
      if (!HopsArraysPartAgrees(m, c, t)) *good = PETSC_FALSE;
    if (m->family == HOPS_H1 && !HopsArraysCornersDiffer(m, c)) *good = PETSC_FALSE;
    for (PetscInt k = 0; k < m->ne; ++k)
      if (!HopsArraysEntryAgrees(m, c, k)) *good = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* constrained ones by counting first meetings */
static PetscErrorCode ApartArraysNumber(const HopsArrays *m, PetscInt n, const int list[], const int foreign[], int nTG,
                                        int number[], PetscInt *nC)
{
  const PetscInt nel = m->ncells * m->ne;
  int           *before;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nel, &before));
  for (PetscInt k = m->nT + m->nF - 1; k >= 0; --k) number[k] = k < m->nT ? (int)k : foreign[k - m->nT];
  for (PetscInt i = 0; i < n; ++i) number[list[i]] = -1;
  for (PetscInt e = 0; e < nel; ++e) {
    const int k = HopsArraysUnsigned(m->key[e]);

    before[e] = number[k] < 0 && m->touch[k] == (int)e;
  }
  *nC = ApartScan(nel, before);
  for (PetscInt i = n - 1; i >= 0; --i)
    if (m->touch[list[i]] != HOPS_UNTOUCHED) number[list[i]] = nTG + before[m->touch[list[i]]];
  PetscCall(PetscFree(before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartArraysOrder(const HopsArrays *m, const int number[], int perm[], PetscInt *ninterior)
{
  PetscBool *outer;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m->ncells, &outer));
  for (PetscInt e = m->ncells * m->ne - 1; e >= 0; --e)
    if (number[HopsArraysUnsigned(m->key[e])] >= m->nT) outer[e / m->ne] = PETSC_TRUE;
  *ninterior = 0;
  for (PetscInt c = 0; c < m->ncells; ++c)
    if (!outer[c]) perm[(*ninterior)++] = (int)c;
  for (PetscInt c = 0, k = *ninterior; c < m->ncells; ++c)
    if (outer[c]) perm[k++] = (int)c;
  PetscCall(PetscFree(outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartArraysRestrict(const HopsArrays *m, const int number[], const int perm[], int restr[], PetscInt nx,
                                          const PetscReal X[], PetscReal Y[])
{
  PetscFunctionBegin;
  for (PetscInt e = m->ncells * m->ne - 1; e >= 0; --e) {
    const int k = m->key[perm[e / m->ne] * m->ne + e % m->ne], l = number[HopsArraysUnsigned(k)];

    restr[e] = k < 0 ? -1 - l : l;
  }
  for (PetscInt e = Y ? m->ncells * nx - 1 : -1; e >= 0; --e) Y[e] = X[perm[e / nx] * nx + e % nx];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first cell speaks for an unknown, where the host takes the last */
static PetscErrorCode ApartSameBoundaries(const HopsArraysPair *p, PetscBool *good)
{
  PetscReal *y;
  PetscBool *told;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(PetscCalloc2(p->nT[0], &y, p->nT[0], &told));
  for (PetscInt e = 0; e < p->ncells * p->n; ++e) {
    int             l;
    const PetscReal sum = HopsArraysBoundary(p, e / p->n, p->list[e % p->n], &l);

    if (l >= p->nT[0]) continue;
    if (told[l] && !(PetscAbsReal(y[l] - sum) <= HOPS_ARRAYS_BOUNDARY)) *good = PETSC_FALSE;
    y[l]    = sum;
    told[l] = PETSC_TRUE;
  }
  PetscCall(PetscFree2(y, told));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApartClose(const HopsArraysPair *p, const HopsArraysClosure *closure, PetscInt n, unsigned char mark[])
{
  HopsArraysClosure q = *closure;

  PetscFunctionBegin;
  q.mark = mark;
  PetscCall(PetscArrayzero(mark, n));
  for (PetscInt e = p->ncells * p->ne[0] - 1; e >= 0; --e) HopsArraysMarkClosure(p, &q, e / p->ne[0], e % p->ne[0], NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nothing is left to wait for */
static PetscErrorCode ApartFinish(HopsQueue queue)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static HopsBackendOps ApartBackend;

/* as "apart" */
static PetscErrorCode ApartRegister(void)
{
  static HopsMemoryOps memory;
  static HopsArraysOps arrays;

  PetscFunctionBegin;
  PetscCall(HopsInitialize());
  memory                = *HopsBackendHost.memory;
  memory.QueueFinish    = ApartFinish;
  ApartBackend.name     = "apart";
  ApartBackend.vectype  = VECSTANDARD;
  ApartBackend.memtype  = PETSC_MEMTYPE_HOST;
  ApartBackend.memory   = &memory;
  ApartBackend.vector   = HopsBackendHost.vector;
  ApartBackend.mesh     = &ApartMesh;
  arrays                = *HopsBackendHost.arrays;
  arrays.ListForeign    = ApartListForeign;
  arrays.Touch          = ApartTouch;
  arrays.Lattices       = ApartLattices;
  arrays.Agree          = ApartAgree;
  arrays.Number         = ApartArraysNumber;
  arrays.Order          = ApartArraysOrder;
  arrays.Restrict       = ApartArraysRestrict;
  arrays.SameBoundaries = ApartSameBoundaries;
  arrays.Close          = ApartClose;
  ApartBackend.arrays   = &arrays;
  PetscCall(HopsBackendRegister(&ApartBackend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The passes of a back end are asked for where it works in memory of its own. One with passes that works as
   the process does, such as Kokkos on a host, lends them to "apart", and this is used in its place */
static PetscErrorCode ApartUse(const char name[], const char **use)
{
  const HopsBackendOps *be;

  PetscFunctionBegin;
  *use = name;
  PetscCall(HopsBackendGet(name, &be));
  if (!be->host || be->mesh == HopsBackendHost.mesh) PetscFunctionReturn(PETSC_SUCCESS);
  ApartBackend.mesh    = be->mesh;
  ApartBackend.arrays  = be->arrays;
  ApartBackend.rows    = be->rows;
  ApartBackend.MapKind = be->MapKind;
  *use                 = ApartBackend.name;
  PetscFunctionReturn(PETSC_SUCCESS);
}
