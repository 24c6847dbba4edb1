/* Set-up of spaces from arrays in the process's memory, cell after cell. */
#include <hops/private/hopsarraysimpl.h>

static PetscErrorCode HopsArraysKeys_Host(const HopsArrays *m, const PetscInt unknowns[], PetscInt *bad, PetscInt *nforeign)
{
  const HopsArrays a   = *m; /* which no store can change */
  const PetscInt   nel = a.ncells * a.ne;
  PetscInt         n = 0, first = -1;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < nel; ++e) {
    PetscBool none = PETSC_FALSE;
    const int k    = HopsArraysKey(&a, unknowns[e], &none);

    a.key[e] = k;
    n += HopsArraysUnsigned(k) == HOPS_FOREIGN;
    if (none && first < 0) first = e;
  }
  *bad      = first;
  *nforeign = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysListForeign_Host(const HopsArrays *m, const PetscInt unknowns[], PetscInt nforeign, PetscInt list[])
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscInt e = 0; n < nforeign; ++e)
    if (HopsArraysUnsigned(m->key[e]) == HOPS_FOREIGN) list[n++] = unknowns[e] < 0 ? -1 - unknowns[e] : unknowns[e];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysKeysForeign_Host(const HopsArrays *m, const PetscInt unknowns[])
{
  PetscFunctionBegin;
  for (PetscInt e = 0; e < m->ncells * m->ne; ++e)
    if (HopsArraysUnsigned(m->key[e]) == HOPS_FOREIGN) m->key[e] = HopsArraysForeignKey(m, unknowns[e]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysNodes_Host(PetscInt ncells, PetscInt dim, PetscInt np, const PetscReal coords[], PetscReal X[],
                                           PetscInt *bad)
{
  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt c = 0; c < ncells; ++c) {
    const PetscReal *x   = coords + c * np * dim;
    PetscReal       *y   = X + c * np * dim;
    PetscReal        sum = 0.0; /* zero times what is not finite is not zero */

    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt d = 0; d < dim; ++d) {
        sum += 0.0 * x[i * dim + d];
        y[d * np + i] = x[i * dim + d];
      }
    if (sum != 0.0 && *bad < 0) *bad = c;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysTouch_Host(const HopsArrays *m, PetscInt *nuntouched)
{
  const PetscInt nel = m->ncells * m->ne, nkeys = m->nT + m->nF;
  const int     *key   = m->key;
  int           *touch = m->touch, *count = m->count;

  PetscFunctionBegin;
  *nuntouched = 0;
  for (PetscInt k = 0; k < nkeys; ++k) touch[k] = HOPS_UNTOUCHED;
  PetscCall(PetscArrayzero(count, nkeys));
  for (PetscInt e = 0; e < nel; ++e) {
    const int k = HopsArraysUnsigned(key[e]);

    if (!count[k]++) touch[k] = (int)e;
  }
  for (PetscInt k = 0; k < m->nT; ++k) *nuntouched += !count[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysMaps_Host(PetscInt ncells, PetscInt dim, PetscInt P, const PetscReal D[], const PetscReal X[],
                                          PetscInt n[2])
{
  const PetscInt nx = dim * HopsPower(P, dim);

  PetscFunctionBegin;
  n[0] = n[1] = 0;
  for (PetscInt c = 0; c < ncells; ++c) {
    n[0] += HopsArraysRightHanded(dim, P, X + c * nx, D) ? 0 : 1;
    n[1] += P > 3 && HopsArraysEquispaced(dim, P, X + c * nx) ? 1 : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysLattices_Host(const HopsArrays *m, PetscInt G, const PetscReal B[], const PetscReal X[],
                                              PetscReal x[], PetscReal size[])
{
  const PetscInt   ng   = HopsPower(G, m->dim);
  const PetscReal *M[3] = {B, B, B};
  PetscReal       *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * HopsPower(PetscMax(m->P, G), m->dim), &work));
  for (PetscInt c = 0; c < m->ncells; ++c) {
    if (m->dim == 3) size[c] = HopsArraysCellSize(3, G, ng, 1, X + c * 3 * ng); /* a constant, for the compiler */
    else size[c] = HopsArraysCellSize(2, G, ng, 1, X + c * 2 * ng);
    for (PetscInt d = c * m->dim; x && d < (c + 1) * m->dim; ++d)
      PetscCall(HopsTensorApply(m->dim, m->P, G, M, X + d * ng, x + (size_t)d * m->np, work));
  }
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysAgree_Host(const HopsArrays *m, PetscBool *good)
{
  PetscBool all = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->ncells && all; ++c) {
    for (PetscInt i = 0; i < m->ne; ++i)
      if (!HopsArraysEntryAgrees(m, c, i)) all = PETSC_FALSE;
    if (m->family == HOPS_H1 && !HopsArraysCornersDiffer(m, c)) all = PETSC_FALSE;
    for (PetscInt t = 0; m->family == HOPS_H1 && t < m->nparts && all; ++t) all = HopsArraysPartAgrees(m, c, t);
  }
  *good = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysValues_Host(const HopsArrays *m, PetscInt n, const int list[], HopsArraysValue value[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) HopsArraysGetValue(m, list[i], &value[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysReadInts_Host(PetscInt n, const int list[], const int x[], int y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) y[i] = x[list[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysNumber_Host(const HopsArrays *m, PetscInt n, const int list[], const int foreign[], int nTG,
                                            int number[], PetscInt *nC)
{
  int next = nTG;

  PetscFunctionBegin;
  for (int k = 0; k < m->nT; ++k) number[k] = k;
  PetscCall(PetscArraycpy(number + m->nT, foreign, m->nF));
  for (PetscInt i = 0; i < n; ++i) number[list[i]] = -1;
  for (PetscInt e = 0; n && e < m->ncells * m->ne; ++e) {
    const int k = HopsArraysUnsigned(m->key[e]);

    if (number[k] < 0) number[k] = next++;
  }
  *nC = next - nTG;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysOrder_Host(const HopsArrays *m, const int number[], int perm[], PetscInt *ninterior)
{
  unsigned char *inner;
  PetscInt       at[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->ncells, &inner));
  for (PetscInt c = 0; c < m->ncells; ++c) {
    inner[c] = 1;
    for (PetscInt i = 0; i < m->ne; ++i)
      if (number[HopsArraysUnsigned(m->key[c * m->ne + i])] >= m->nT) inner[c] = 0;
    at[0] += inner[c];
  }
  *ninterior = at[0];
  for (PetscInt c = 0; c < m->ncells; ++c) perm[at[inner[c] ? 1 : 0]++] = (int)c;
  PetscCall(PetscFree(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysRestrict_Host(const HopsArrays *m, const int number[], const int perm[], int restr[], PetscInt nx,
                                              const PetscReal X[], PetscReal Y[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->ncells; ++c) {
    const int *key = m->key + perm[c] * m->ne;

    for (PetscInt i = 0; i < m->ne; ++i) restr[c * m->ne + i] = key[i] < 0 ? -1 - number[-1 - key[i]] : number[key[i]];
    if (Y) PetscCall(PetscArraycpy(Y + c * nx, X + perm[c] * nx, nx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysSameCells_Host(const HopsArraysPair *p, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  for (PetscInt c = 0; c < p->ncells; ++c)
    if (!HopsArraysSameCorners(p, c)) *good = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysSameBoundaries_Host(const HopsArraysPair *p, PetscBool *good)
{
  PetscReal *y;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(PetscMalloc1(p->nT[0], &y));
  for (PetscInt pass = 0; pass < 2; ++pass)
    for (PetscInt c = 0; c < p->ncells; ++c)
      for (PetscInt k = 0; k < p->n; ++k) {
        int             l;
        const PetscReal sum = HopsArraysBoundary(p, c, p->list[k], &l);

        if (l >= p->nT[0]) continue;
        if (!pass) y[l] = sum;
        else if (!(PetscAbsReal(y[l] - sum) <= HOPS_ARRAYS_BOUNDARY)) *good = PETSC_FALSE;
      }
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsArraysClose_Host(const HopsArraysPair *p, const HopsArraysClosure *closure, PetscInt n,
                                           unsigned char mark[])
{
  HopsArraysClosure q = *closure;

  PetscFunctionBegin;
  q.mark = mark;
  PetscCall(PetscArrayzero(mark, n));
  for (PetscInt c = 0; c < p->ncells; ++c)
    for (PetscInt i = 0; i < p->ne[0]; ++i) HopsArraysMarkClosure(p, &q, c, i, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsArraysOps HopsArraysHost = {.Keys           = HopsArraysKeys_Host,
                                      .ListForeign    = HopsArraysListForeign_Host,
                                      .KeysForeign    = HopsArraysKeysForeign_Host,
                                      .Nodes          = HopsArraysNodes_Host,
                                      .Touch          = HopsArraysTouch_Host,
                                      .Maps           = HopsArraysMaps_Host,
                                      .Lattices       = HopsArraysLattices_Host,
                                      .Agree          = HopsArraysAgree_Host,
                                      .Values         = HopsArraysValues_Host,
                                      .ReadInts       = HopsArraysReadInts_Host,
                                      .Number         = HopsArraysNumber_Host,
                                      .Order          = HopsArraysOrder_Host,
                                      .Restrict       = HopsArraysRestrict_Host,
                                      .SameCells      = HopsArraysSameCells_Host,
                                      .SameBoundaries = HopsArraysSameBoundaries_Host,
                                      .Close          = HopsArraysClose_Host};
