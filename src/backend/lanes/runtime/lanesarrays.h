/*
  Set-up of spaces from arrays (HopsArraysOps). A lane takes an entry, a cell, an edge or face, or a key. Back
  is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanesmesh.h>
#include <hops/private/hopsarraysimpl.h>

/* ---- Keys ---- */

/* found[0]: the least place of an unknown without a number; found[1]: places of others' unknowns */
template <class Team> struct HopsArraysMakeKeys {
  HopsArrays      m;
  const PetscInt *unknowns;
  int            *found;

  HOPS_LANES void operator()(size_t e) const
  {
    PetscBool bad = PETSC_FALSE;
    const int k   = HopsArraysKey(&m, unknowns[e], &bad);

    m.key[e] = k;
    if (bad) Team::Least(found, (int)e);
    if (HopsArraysUnsigned(k) == HOPS_FOREIGN) (void)Team::Take(found + 1, 1);
  }
};

template <class Team> struct HopsArraysFindForeign {
  HopsArrays      m;
  const PetscInt *unknowns;
  PetscInt       *list;
  int            *n;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt u = unknowns[e];

    if (HopsArraysUnsigned(m.key[e]) == HOPS_FOREIGN) list[Team::Take(n, 1)] = u < 0 ? -1 - u : u;
  }
};

struct HopsArraysMakeForeignKeys {
  HopsArrays      m;
  const PetscInt *unknowns;

  HOPS_LANES void operator()(size_t e) const
  {
    if (HopsArraysUnsigned(m.key[e]) == HOPS_FOREIGN) m.key[e] = HopsArraysForeignKey(&m, unknowns[e]);
  }
};

template <class Team> struct HopsArraysTouchKeys {
  HopsArrays m;

  HOPS_LANES void operator()(size_t e) const
  {
    const int k = HopsArraysUnsigned(m.key[e]);

    Team::Least(m.touch + k, (int)e);
    (void)Team::Take(m.count + k, 1);
  }
};

template <class Team> struct HopsArraysCountUntouched {
  const int *count;
  int       *n;

  HOPS_LANES void operator()(size_t k) const
  {
    if (!count[k]) (void)Team::Take(n, 1);
  }
};

struct HopsArraysGatherInts {
  const int *list, *x;
  int       *y;

  HOPS_LANES void operator()(size_t i) const
  {
    y[i] = x[list[i]];
  }
};

/* ---- Maps ---- */

template <class Team> struct HopsArraysMakeNodes {
  PetscInt         dim, np;
  const PetscReal *coords;
  PetscReal       *X;
  int             *bad;

  HOPS_LANES void operator()(size_t e) const
  {
    const size_t c = e / np, i = e % np;
    PetscReal    sum = 0;

    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal x = coords[e * dim + d];

      X[(c * dim + d) * np + i] = x;
      sum += 0 * x;
    }
    if (sum != 0) Team::Least(bad, (int)c);
  }
};

template <class Team> struct HopsArraysCheckCells {
  PetscInt         dim, P, nx;
  const PetscReal *D, *X;
  int             *n;

  HOPS_LANES void operator()(size_t c) const
  {
    if (!HopsArraysRightHanded(dim, P, X + c * nx, D)) (void)Team::Take(n, 1);
    if (P > 3 && HopsArraysEquispaced(dim, P, X + c * nx)) (void)Team::Take(n + 1, 1);
  }
};

struct HopsArraysMakeLattices {
  PetscInt         dim, P, G, np, ng;
  const PetscReal *B, *X;
  PetscReal       *x;

  HOPS_LANES void operator()(size_t e) const
  {
    x[e] = HopsArraysNode(dim, P, G, B, X + e / np * ng, (PetscInt)(e % np));
  }
};

struct HopsArraysMakeSizes {
  PetscInt         dim, G, ng;
  const PetscReal *X;
  PetscReal       *size;

  HOPS_LANES void operator()(size_t c) const
  {
    size[c] = HopsArraysCellSize(dim, G, ng, 1, X + c * dim * ng);
  }
};

/* ---- What cells share ---- */

struct HopsArraysCompareEntries {
  HopsArrays m;
  int       *differ;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt c = (PetscInt)(e / m.ne);

    if (!HopsArraysEntryAgrees(&m, c, (PetscInt)(e - (size_t)c * m.ne))) *(volatile int *)differ = 1;
  }
};

/* edges and faces of a cell, then its corners */
struct HopsArraysCompareParts {
  HopsArrays m;
  int       *differ;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt c = (PetscInt)(e / (m.nparts + 1)), t = (PetscInt)(e % (m.nparts + 1));

    if (t < m.nparts ? !HopsArraysPartAgrees(&m, c, t) : !HopsArraysCornersDiffer(&m, c)) *(volatile int *)differ = 1;
  }
};

struct HopsArraysGetValues {
  HopsArrays       m;
  const int       *list;
  HopsArraysValue *value;

  HOPS_LANES void operator()(size_t i) const
  {
    HopsArraysGetValue(&m, list[i], value + i);
  }
};

/* ---- Numbers ---- */

struct HopsArraysFirstNumbers {
  int        nT;
  const int *foreign;
  int       *number;

  HOPS_LANES void operator()(size_t k) const
  {
    number[k] = (int)k < nT ? (int)k : foreign[k - nT];
  }
};

struct HopsArraysUnnumber {
  const int *list;
  int       *number;

  HOPS_LANES void operator()(size_t i) const
  {
    number[list[i]] = -1;
  }
};

/* before[e] = 1 where a key without a number is first met; before[nel] = 0 */
struct HopsArraysMeet {
  HopsArrays m;
  size_t     nel;
  const int *number;
  int       *before;

  HOPS_LANES void operator()(size_t e) const
  {
    const int k = e < nel ? HopsArraysUnsigned(m.key[e]) : 0;

    before[e] = e < nel && number[k] < 0 && m.touch[k] == (int)e;
  }
};

struct HopsArraysConstrain {
  const int *list, *touch, *before;
  int        first, *number;

  HOPS_LANES void operator()(size_t i) const
  {
    const int k = list[i];

    if (touch[k] != HOPS_UNTOUCHED) number[k] = first + before[touch[k]];
  }
};

/* inner[c] becomes 0 where a cell has an unknown that is not of the T-vector */
struct HopsArraysFindOuter {
  HopsArrays m;
  const int *number;
  int       *inner;

  HOPS_LANES void operator()(size_t e) const
  {
    if (number[HopsArraysUnsigned(m.key[e])] >= m.nT) *(volatile int *)(inner + e / m.ne) = 0;
  }
};

struct HopsArraysInner {
  PetscInt n;
  int     *inner;

  HOPS_LANES void operator()(size_t c) const
  {
    inner[c] = (PetscInt)c < n ? 1 : 0;
  }
};

struct HopsArraysMakeRestriction {
  HopsArrays m;
  const int *number, *perm;
  int       *restr;

  HOPS_LANES void operator()(size_t e) const
  {
    const size_t c = e / m.ne;
    const int    k = m.key[(size_t)perm[c] * m.ne + (e - c * m.ne)];

    restr[e] = k < 0 ? -1 - number[-1 - k] : number[k];
  }
};

struct HopsArraysMoveNodes {
  PetscInt         nx;
  const int       *perm;
  const PetscReal *X;
  PetscReal       *Y;

  HOPS_LANES void operator()(size_t e) const
  {
    Y[e] = X[(size_t)perm[e / nx] * nx + e % nx];
  }
};

/* ---- Companions ---- */

struct HopsArraysCompareCells {
  HopsArraysPair p;
  int           *differ;

  HOPS_LANES void operator()(size_t c) const
  {
    if (!HopsArraysSameCorners(&p, (PetscInt)c)) *(volatile int *)differ = 1;
  }
};

/* y[], by whichever cell comes last, or what differs from it */
struct HopsArraysFindBoundaries {
  HopsArraysPair p;
  int           *differ;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt c = (PetscInt)(e / p.n);
    int            l;
    const double   sum = HopsArraysBoundary(&p, c, p.list[e - (size_t)c * p.n], &l);

    if (l >= p.nT[0]) return;
    if (!differ) *(volatile PetscReal *)(p.y + l) = sum;
    else if (!(HopsMapAbs(p.y[l] - sum) <= HOPS_ARRAYS_BOUNDARY)) *(volatile int *)differ = 1;
  }
};

struct HopsArraysCloseEntries {
  HopsArraysPair    p;
  HopsArraysClosure q;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt c = (PetscInt)(e / p.ne[0]);

    HopsArraysMarkClosure(&p, &q, c, (PetscInt)(e - (size_t)c * p.ne[0]), NULL);
  }
};

/* ---- The table ---- */

template <class Back> struct HopsLanesArrays {
  typedef typename Back::Team Team;

  static PetscErrorCode Keys(const HopsArrays *m, const PetscInt unknowns[], PetscInt *bad, PetscInt *nforeign)
  {
    const size_t nel = (size_t)m->ncells * m->ne;
    int         *flags, found[2] = {INT_MAX, 0};

    PetscFunctionBegin;
    PetscCall(HopsLanesCopyIn<Back>(sizeof(found), found, &flags));
    if (nel) PetscCall(Back::Each("HopsArraysKeys", nel, HopsArraysMakeKeys<Team>{*m, unknowns, flags}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(found), flags, found));
    PetscCall(HopsLanesFree<Back>(&flags));
    *bad      = found[0] == INT_MAX ? -1 : found[0];
    *nforeign = found[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ListForeign(const HopsArrays *m, const PetscInt unknowns[], PetscInt nforeign, PetscInt list[])
  {
    PetscInt *there;
    int      *n, zero = 0;

    PetscFunctionBegin;
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &zero, &n));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(nforeign * sizeof(PetscInt), (void **)&there));
    PetscCall(Back::Each("HopsArraysListForeign", (size_t)m->ncells * m->ne, HopsArraysFindForeign<Team>{*m, unknowns, there, n}));
    PetscCall(HopsLanesCopyOut<Back>(nforeign * sizeof(PetscInt), there, list));
    PetscCall(HopsLanesFree<Back>(&there));
    PetscCall(HopsLanesFree<Back>(&n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode KeysForeign(const HopsArrays *m, const PetscInt unknowns[])
  {
    return Back::Each("HopsArraysKeysForeign", (size_t)m->ncells * m->ne, HopsArraysMakeForeignKeys{*m, unknowns});
  }

  static PetscErrorCode Nodes(PetscInt ncells, PetscInt dim, PetscInt np, const PetscReal coords[], PetscReal X[], PetscInt *bad)
  {
    int *flag, found = INT_MAX;

    PetscFunctionBegin;
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &flag));
    if (ncells) PetscCall(Back::Each("HopsArraysNodes", (size_t)ncells * np, HopsArraysMakeNodes<Team>{dim, np, coords, X, flag}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), flag, &found));
    PetscCall(HopsLanesFree<Back>(&flag));
    *bad = found == INT_MAX ? -1 : found;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Touch(const HopsArrays *m, PetscInt *nuntouched)
  {
    const size_t nel = (size_t)m->ncells * m->ne, nkeys = (size_t)m->nT + m->nF;
    int         *n, found                               = 0;

    PetscFunctionBegin;
    *nuntouched = 0;
    if (!nkeys) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &n));
    PetscCall(Back::Set(m->touch, HOPS_UNTOUCHED & 0xff, nkeys * sizeof(int)));
    PetscCall(Back::Set(m->count, 0, nkeys * sizeof(int)));
    if (nel) PetscCall(Back::Each("HopsArraysTouch", nel, HopsArraysTouchKeys<Team>{*m}));
    if (m->nT) PetscCall(Back::Each("HopsArraysUntouched", m->nT, HopsArraysCountUntouched<Team>{m->count, n}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), n, &found));
    PetscCall(HopsLanesFree<Back>(&n));
    *nuntouched = found;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Maps(PetscInt ncells, PetscInt dim, PetscInt P, const PetscReal D[], const PetscReal X[], PetscInt n[2])
  {
    PetscReal *d;
    int       *count, found[2] = {0, 0};

    PetscFunctionBegin;
    n[0] = n[1] = 0;
    if (!ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(P * P * sizeof(PetscReal), D, &d));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(found), found, &count));
    PetscCall(Back::Each("HopsArraysMaps", ncells,
                         HopsArraysCheckCells<Team>{dim, P, dim * HopsLanesPower((int)P, (int)dim), d, X, count}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(found), count, found));
    PetscCall(HopsLanesFree<Back>(&d));
    PetscCall(HopsLanesFree<Back>(&count));
    n[0] = found[0];
    n[1] = found[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Lattices(const HopsArrays *m, PetscInt G, const PetscReal B[], const PetscReal X[], PetscReal x[],
                                 PetscReal size[])
  {
    const PetscInt ng = HopsLanesPower((int)G, (int)m->dim);
    PetscReal     *b;

    PetscFunctionBegin;
    if (!m->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Back::Each("HopsArraysSizes", m->ncells, HopsArraysMakeSizes{m->dim, G, ng, X, size}));
    if (!x) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(m->P * G * sizeof(PetscReal), B, &b));
    PetscCall(Back::Each("HopsArraysLattices", (size_t)m->ncells * m->dim * m->np,
                         HopsArraysMakeLattices{m->dim, m->P, G, m->np, ng, b, X, x}));
    PetscCall(HopsLanesFree<Back>(&b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Agree(const HopsArrays *m, PetscBool *good)
  {
    int *differ, found = 0;

    PetscFunctionBegin;
    *good = PETSC_TRUE;
    if (!m->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &differ));
    PetscCall(Back::Each("HopsArraysAgree", (size_t)m->ncells * m->ne, HopsArraysCompareEntries{*m, differ}));
    if (m->family == HOPS_H1)
      PetscCall(Back::Each("HopsArraysParts", (size_t)m->ncells * (m->nparts + 1), HopsArraysCompareParts{*m, differ}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), differ, &found));
    PetscCall(HopsLanesFree<Back>(&differ));
    *good = found ? PETSC_FALSE : PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Values(const HopsArrays *m, PetscInt n, const int list[], HopsArraysValue value[])
  {
    HopsArraysValue *v;
    int             *keys;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(int), list, &keys));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(n * sizeof(*v), (void **)&v));
    PetscCall(Back::Each("HopsArraysValues", n, HopsArraysGetValues{*m, keys, v}));
    PetscCall(HopsLanesCopyOut<Back>(n * sizeof(*v), v, value));
    PetscCall(HopsLanesFree<Back>(&keys));
    PetscCall(HopsLanesFree<Back>(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ReadInts(PetscInt n, const int list[], const int x[], int y[])
  {
    int *keys, *z;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(int), list, &keys));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(n * sizeof(int), (void **)&z));
    PetscCall(Back::Each("HopsArraysReadInts", n, HopsArraysGatherInts{keys, x, z}));
    PetscCall(HopsLanesCopyOut<Back>(n * sizeof(int), z, y));
    PetscCall(HopsLanesFree<Back>(&keys));
    PetscCall(HopsLanesFree<Back>(&z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Number(const HopsArrays *m, PetscInt n, const int list[], const int foreign[], int nTG, int number[],
                               PetscInt *nC)
  {
    const size_t nel = (size_t)m->ncells * m->ne;
    int         *f, *l, *before, total;

    PetscFunctionBegin;
    *nC = 0;
    if (!m->nT && !m->nF) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(m->nF * sizeof(int), foreign, &f));
    PetscCall(Back::Each("HopsArraysNumber", (size_t)m->nT + m->nF, HopsArraysFirstNumbers{m->nT, f, number}));
    PetscCall(HopsLanesFree<Back>(&f));
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(int), list, &l));
    PetscCall((*Back::Ops()->memory->PoolMalloc)((nel + 1) * sizeof(int), (void **)&before));
    PetscCall(Back::Each("HopsArraysUnnumber", n, HopsArraysUnnumber{l, number}));
    PetscCall(Back::Each("HopsArraysMeet", nel + 1, HopsArraysMeet{*m, nel, number, before}));
    PetscCall(Back::Scan(nel, before));
    PetscCall(Back::Each("HopsArraysConstrain", n, HopsArraysConstrain{l, m->touch, before, nTG, number}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), before + nel, &total));
    PetscCall(HopsLanesFree<Back>(&l));
    PetscCall(HopsLanesFree<Back>(&before));
    *nC = total;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Order(const HopsArrays *m, const int number[], int perm[], PetscInt *ninterior)
  {
    int *inner, *order, n;

    PetscFunctionBegin;
    *ninterior = 0;
    if (!m->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*Back::Ops()->memory->PoolMalloc)((m->ncells + 1) * sizeof(int), (void **)&inner));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(m->ncells * sizeof(int), (void **)&order));
    PetscCall(Back::Each("HopsArraysInner", m->ncells + 1, HopsArraysInner{m->ncells, inner}));
    PetscCall(Back::Each("HopsArraysOuter", (size_t)m->ncells * m->ne, HopsArraysFindOuter{*m, number, inner}));
    PetscCall(Back::Scan(m->ncells, inner));
    PetscCall(Back::Each("HopsMeshOrderCells", m->ncells, HopsMeshOrderCells{m->ncells, inner, order}));
    PetscCall(HopsLanesCopyOut<Back>(m->ncells * sizeof(int), order, perm));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), inner + m->ncells, &n));
    PetscCall(HopsLanesFree<Back>(&inner));
    PetscCall(HopsLanesFree<Back>(&order));
    *ninterior = n;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Restrict(const HopsArrays *m, const int number[], const int perm[], int restr[], PetscInt nx,
                                 const PetscReal X[], PetscReal Y[])
  {
    int *order;

    PetscFunctionBegin;
    if (!m->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(m->ncells * sizeof(int), perm, &order));
    PetscCall(Back::Each("HopsArraysRestrict", (size_t)m->ncells * m->ne, HopsArraysMakeRestriction{*m, number, order, restr}));
    if (Y) PetscCall(Back::Each("HopsArraysMoveNodes", (size_t)m->ncells * nx, HopsArraysMoveNodes{nx, order, X, Y}));
    PetscCall(HopsLanesFree<Back>(&order));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode SameCells(const HopsArraysPair *pair, PetscBool *good)
  {
    HopsArraysPair p = *pair;
    int           *differ, found = 0;

    PetscFunctionBegin;
    *good = PETSC_TRUE;
    if (!p.ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(p.ncells * sizeof(int), pair->cell, &p.cell));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &differ));
    PetscCall(Back::Each("HopsArraysSameCells", p.ncells, HopsArraysCompareCells{p, differ}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), differ, &found));
    PetscCall(HopsLanesFree<Back>(&differ));
    PetscCall(HopsLanesFree<Back>(&p.cell));
    *good = found ? PETSC_FALSE : PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode SameBoundaries(const HopsArraysPair *pair, PetscBool *good)
  {
    HopsArraysPair p = *pair;
    const size_t   n = (size_t)p.ncells * p.n;
    int           *differ, found = 0;

    PetscFunctionBegin;
    *good = PETSC_TRUE;
    if (!n || !p.nT[0]) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(p.ncells * sizeof(int), pair->cell, &p.cell));
    PetscCall(HopsLanesCopyIn<Back>(p.n * sizeof(int), pair->list, &p.list));
    PetscCall(HopsLanesCopyIn<Back>(p.ne[0] * sizeof(int), pair->ncol, &p.ncol));
    PetscCall(HopsLanesCopyIn<Back>(6 * p.ne[0] * sizeof(int), pair->col, &p.col));
    PetscCall(HopsLanesCopyIn<Back>(6 * p.ne[0] * sizeof(PetscReal), pair->sgn, &p.sgn));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &differ));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(p.nT[0] * sizeof(PetscReal), (void **)&p.y));
    PetscCall(Back::Each("HopsArraysBoundaries", n, HopsArraysFindBoundaries{p, NULL}));
    PetscCall(Back::Each("HopsArraysSameBoundaries", n, HopsArraysFindBoundaries{p, differ}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), differ, &found));
    PetscCall(HopsLanesFree<Back>(&differ));
    PetscCall(HopsLanesFree<Back>(&p.y));
    PetscCall(HopsLanesFree<Back>(&p.cell));
    PetscCall(HopsLanesFree<Back>(&p.list));
    PetscCall(HopsLanesFree<Back>(&p.ncol));
    PetscCall(HopsLanesFree<Back>(&p.col));
    PetscCall(HopsLanesFree<Back>(&p.sgn));
    *good = found ? PETSC_FALSE : PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Close(const HopsArraysPair *pair, const HopsArraysClosure *closure, PetscInt n, unsigned char mark[])
  {
    HopsArraysPair    p = *pair;
    HopsArraysClosure q = *closure;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(p.ncells * sizeof(int), pair->cell, &p.cell));
    PetscCall((*Back::Ops()->memory->PoolMalloc)(n, (void **)&q.mark));
    PetscCall(Back::Set(q.mark, 0, n));
    if (p.ncells) PetscCall(Back::Each("HopsArraysClose", (size_t)p.ncells * p.ne[0], HopsArraysCloseEntries{p, q}));
    PetscCall(HopsLanesCopyOut<Back>(n, q.mark, mark));
    PetscCall(HopsLanesFree<Back>(&q.mark));
    PetscCall(HopsLanesFree<Back>(&p.cell));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static constexpr HopsArraysOps Table()
  {
    return {Keys,   ListForeign, KeysForeign, Nodes, Touch,    Maps,      Lattices,       Agree,
            Values, ReadInts,    Number,      Order, Restrict, SameCells, SameBoundaries, Close};
  }
};
