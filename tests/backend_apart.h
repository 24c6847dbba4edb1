/* A back end that sets up spaces as a device does: in memory of its own, and with cells in an order that is
   not theirs. It has no kernels. */
#pragma once
#include <hops/private/hopsmeshimpl.h>

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

  PetscFunctionBegin;
  PetscCall(HopsInitialize());
  memory               = *HopsBackendHost.memory;
  memory.QueueFinish   = ApartFinish;
  ApartBackend.name    = "apart";
  ApartBackend.vectype = VECSTANDARD;
  ApartBackend.memtype = PETSC_MEMTYPE_HOST;
  ApartBackend.memory  = &memory;
  ApartBackend.vector  = HopsBackendHost.vector;
  ApartBackend.mesh    = &ApartMesh;
  ApartBackend.arrays  = HopsBackendHost.arrays;
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
