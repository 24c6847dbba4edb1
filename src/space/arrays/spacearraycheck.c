/* Spaces from arrays: are the cells' lattices right, and do cells agree on what their common unknowns are? */
#include <hops/private/hopsarraysimpl.h>

/*
  What a cell says of one of its entries, as HopsArraysDescribe() has it. Of a node inside an edge or face of
  H1 v[0-2] is where the corners of that lie, each weighted by a number that stands for its unknown. v[3-5]
  is counted from the middle of the edge or face, so that the cell may lie elsewhere, as on a periodic mesh
*/
typedef struct {
  PetscReal v[7], size, cellsize;
} HopsArraysEntity;

static void HopsArraysDescribeNode(const HopsArrays *m, PetscInt c, PetscInt i, const PetscInt gidx[], PetscReal v[7])
{
  const HopsArraysEntry *e         = m->entry + i;
  const PetscInt         stride[3] = {1, m->P, m->P * m->P};
  const PetscReal       *X         = m->x + c * m->dim * m->np;
  PetscReal              centre[3] = {0.0, 0.0, 0.0};

  HopsArraysMean(m, X, e->from, e->whole, m->P - 1, centre);
  for (PetscInt d = 0; d < m->dim; ++d) v[3 + d] -= centre[d];
  if (e->part < 0) return;
  for (PetscInt k = 0; k < (1 << m->dim); ++k) {
    PetscInt q = e->from;

    if (k & ~e->whole) continue; /* a corner is met once for each direction that does not extend */
    for (PetscInt d = 0; d < m->dim; ++d) q += (k >> d & 1) * (m->P - 1) * stride[d];
    for (PetscInt d = 0; d < m->dim; ++d) v[d] += HopsArraysHash(gidx[m->key[c * m->ne + q]]) * (X[d * m->np + q] - centre[d]);
  }
}

static void HopsArraysEntityOf(const HopsArrays *m, PetscInt c, PetscInt i, const PetscInt gidx[], HopsArraysEntity *e)
{
  e->size     = HopsArraysDescribe(m, c, i, e->v);
  e->cellsize = m->size[c];
  if (m->family != HOPS_H1) return;
  HopsArraysDescribeNode(m, c, i, gidx, e->v);
  e->size = e->cellsize; /* weights may cancel */
}

/* 0: w is what e says; 1: the same, but the other way round; 2: something else */
static PetscInt HopsArraysCompare(const HopsArraysEntity *e, const PetscReal w[7], PetscBool absolute)
{
  PetscReal turned[7];

  for (PetscInt k = 0; k < 7; ++k) turned[k] = k < 3 ? (absolute ? PetscAbsReal(e->v[k]) : -e->v[k]) : e->v[k];
  if (HopsArraysSame(HOPS_ARRAYS_TOL, e->v, w, e->size, e->cellsize)) return 0;
  return HopsArraysSame(HOPS_ARRAYS_TOL, turned, w, e->size, e->cellsize) ? 1 : 2;
}

static PetscErrorCode HopsArraysRefuse(HopsSpace sp, PetscInt how, PetscInt cell, PetscInt other, PetscInt g, char why[])
{
  char        with[64] = "a cell of another rank";
  const char *flux     = sp->dim == 3 ? "face" : "edge";
  const char *what     = sp->family == HOPS_HCURL ? "line" : (sp->family == HOPS_HDIV ? flux : "node or box");

  PetscFunctionBegin;
  if (other >= 0) PetscCall(PetscSNPrintf(with, sizeof(with), "cell %" PetscInt_FMT " of this rank", other));
  if (how == 1 && sp->family != HOPS_H1)
    PetscCall(HopsRefuse(why,
                         "Cell %" PetscInt_FMT " and %s give unknown %" PetscInt_FMT
                         " to the same %s with opposite directions: in one of them its entry must be %" PetscInt_FMT
                         ", for the opposite sign",
                         cell, with, g, what, -1 - g));
  else if (how)
    PetscCall(HopsRefuse(why,
                         "Cell %" PetscInt_FMT " and %s give unknown %" PetscInt_FMT
                         " to a different %s each, or to one at different places of their common edge or face: the numbers of what "
                         "two cells share must follow the lattice of both (see HopsSpaceCreateFamilyFromArrays())",
                         cell, with, g, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysLattice(HopsSpace sp, const HopsBasis *geom, PetscInt c, PetscReal x[])
{
  const PetscInt   P = sp->order + 1, np = HopsPower(P, sp->dim), G = sp->gorder + 1;
  const HopsArrays one = {.dim = sp->dim, .P = P, .np = np, .ncells = 1};
  const PetscReal *X   = sp->X + c * sp->dim * HopsPower(G, sp->dim);
  PetscReal        size;

  PetscFunctionBegin;
  if (G == P) PetscCall(PetscArraycpy(x, X, sp->dim * np));
  else PetscCall((*HopsBackendHost.arrays->Lattices)(&one, G, geom->B, X, x, &size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unknown inside a cell is that cell's, one inside a facet that of two at most. ends[k]: in how many
   directions cells end there */
PetscErrorCode HopsArraysCheckCounts(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], PetscInt count[], const PetscInt cell[],
                                     const PetscReal ends[], PetscInt stride, PetscSF keys, char why[])
{
  PetscMPIInt size;
  PetscInt   *sum;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  if (size > 1) {
    PetscCall(PetscCalloc1(sp->nT, &sum));
    PetscCall(PetscSFReduceBegin(keys, MPIU_INT, count, sum, MPI_SUM));
    PetscCall(PetscSFReduceEnd(keys, MPIU_INT, count, sum, MPI_SUM));
    PetscCall(PetscSFBcastBegin(keys, MPIU_INT, sum, count, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(keys, MPIU_INT, sum, count, MPI_REPLACE));
    PetscCall(PetscFree(sum));
  }
  for (PetscInt k = 0; k < nkeys; ++k)
    if (count[k] > 1 && ends[k * stride] <= 1.0 && count[k] > 1 + (PetscInt)ends[k * stride])
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT " lies %s of cell %" PetscInt_FMT ", but is given %" PetscInt_FMT
                           " times: a cell is listed once, by one rank",
                           gidx[k], ends[k * stride] > 0.0 ? "inside a facet" : "inside", cell[k], count[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells are still in the caller's order */
static PetscErrorCode HopsArraysCheckOrientation(HopsArraysWork *a, const PetscInt gidx[], PetscSF keys, char why[])
{
  HopsSpace         sp    = a->sp;
  const HopsArrays *m     = &a->m;
  const PetscInt    nkeys = m->nT + m->nF;
  HopsArraysEntity *seen;
  PetscInt         *cell, *count;
  PetscReal        *leaf, *root, *most;

  PetscFunctionBegin;
  PetscCall(HopsArraysDescribing(a));
  PetscCall(PetscCalloc6(nkeys, &seen, nkeys, &cell, nkeys * 7, &most, nkeys, &count, nkeys, &leaf, sp->nT, &root));
  for (PetscInt c = 0; c < m->ncells; ++c)
    for (PetscInt i = 0; i < m->ne; ++i) {
      const PetscInt   k = HopsArraysUnsigned(m->key[c * m->ne + i]);
      HopsArraysEntity now;

      HopsArraysEntityOf(m, c, i, gidx, &now);
      if (!count[k]++) {
        seen[k] = now;
        cell[k] = c;
      } else PetscCall(HopsArraysRefuse(sp, HopsArraysCompare(&now, seen[k].v, PETSC_FALSE), c, cell[k], gidx[k], why));
    }
  /* other ranks: each is told the largest of each number, which all must have given */
  for (PetscInt d = 0; d < 7; ++d) {
    for (PetscInt i = 0; i < sp->nT; ++i) root[i] = PETSC_MIN_REAL;
    for (PetscInt k = 0; k < nkeys; ++k) leaf[k] = seen[k].v[d];
    PetscCall(PetscSFReduceBegin(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFReduceEnd(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFBcastBegin(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    for (PetscInt k = 0; k < nkeys; ++k) most[k * 7 + d] = leaf[k];
  }
  for (PetscInt k = 0; k < nkeys; ++k) {
    if (!count[k]) continue; /* no cell of this rank has it */
    PetscCall(HopsArraysRefuse(sp, HopsArraysCompare(&seen[k], most + k * 7, sp->family == HOPS_H1 ? PETSC_FALSE : PETSC_TRUE),
                               cell[k], -1, gidx[k], why));
  }
  for (PetscInt k = 0; k < nkeys; ++k) leaf[k] = seen[k].v[6];
  PetscCall(HopsArraysCheckCounts(sp, nkeys, gidx, count, cell, leaf, 1, keys, why));
  PetscCall(PetscFree6(seen, cell, most, count, leaf, root));
  PetscCall(HopsArraysDescribed(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- nodes of H1 ---------------------------------------- */

/* A cell may hold a node twice where a periodic mesh is one cell wide: whole opposite faces are then the
   same, node by node */
static PetscErrorCode HopsArraysCheckTwice(HopsSpace sp, PetscInt c, const PetscInt gidx[], const int key[], char why[])
{
  const PetscInt P = sp->order + 1, np = HopsPower(P, sp->dim), nf = np / P;
  PetscInt      *own, n = 0;
  PetscBool      folded[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(np, &own));
  for (PetscInt d = 0, stride = 1; d < sp->dim; ++d, stride *= P) {
    PetscInt same = 0;

    for (PetscInt i = 0; i < np; ++i) same += i / stride % P == 0 && key[i] == key[i + (P - 1) * stride];
    folded[d] = same == nf ? PETSC_TRUE : PETSC_FALSE;
  }
  for (PetscInt i = 0; i < np; ++i) {
    PetscBool last = PETSC_FALSE;

    for (PetscInt d = 0, k = i; d < sp->dim; ++d, k /= P)
      if (folded[d] && k % P == P - 1) last = PETSC_TRUE;
    if (!last) own[n++] = key[i];
  }
  if (n == 1)
    PetscCall(HopsRefuse(why, "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT " at all of its nodes", c, gidx[own[0]]));
  PetscCall(PetscSortInt(n, own));
  for (PetscInt i = 1; i < n; ++i)
    if (own[i] == own[i - 1])
      PetscCall(HopsRefuse(why,
                           "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                           " at two of its nodes: give each node its own (only whole opposite faces may coincide, where a periodic "
                           "mesh is one cell wide)",
                           c, gidx[own[i]]));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* coordinate d of the first point is x[d*stride] */
static inline PetscBool HopsArraysDiffer(PetscInt dim, PetscInt stride, const PetscReal x[], const PetscReal y[], PetscReal tol)
{
  for (PetscInt d = 0; d < dim; ++d)
    if (!(PetscAbsReal(x[d * stride] - y[d]) <= tol)) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* A corner whose unknown lies elsewhere, as on a periodic mesh, must not find it where another corner of the
   cell is */
static PetscErrorCode HopsArraysCheckMovedCorners(HopsSpace sp, PetscInt c, const PetscInt gidx[], const int key[],
                                                  const PetscReal x[], const PetscReal place[], PetscReal size, char why[])
{
  const PetscInt dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim);
  PetscInt       node[8];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < (1 << dim); ++k) node[k] = (P - 1) * ((k & 1) + P * ((k >> 1 & 1) + P * (k >> 2 & 1)));
  for (PetscInt a = 0; a < (1 << dim); ++a) {
    const PetscReal *at = place + key[node[a]] * (dim + 1);

    if (!HopsArraysDiffer(dim, np, x + node[a], at, HOPS_ARRAYS_TOL * size)) continue;
    for (PetscInt b = 0; b < (1 << dim); ++b)
      if (key[node[b]] != key[node[a]] && !HopsArraysDiffer(dim, np, x + node[b], at, HOPS_ARRAYS_TOL * size))
        PetscCall(HopsRefuse(why,
                             "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                             " at one of its corners, and another cell has it where the cell's corner %" PetscInt_FMT
                             " is: number the nodes of both in the order of their lattices, x fastest",
                             c, gidx[key[node[a]]], b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* other[nkeys][w]: place[] of the lowest rank that has the unknown (which = 1), or of the highest (-1). Which
   message comes first must not matter */
static PetscErrorCode HopsArraysSharePlaces(HopsSpace sp, PetscInt nkeys, PetscInt w, PetscSF keys, PetscInt which,
                                            const PetscReal place[], PetscReal other[])
{
  PetscMPIInt rank;
  PetscInt   *speaker, *least;
  PetscReal  *root, *leaf;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sp), &rank));
  PetscCall(PetscMalloc4(nkeys, &speaker, sp->nT, &least, sp->nT, &root, nkeys, &leaf));
  for (PetscInt k = 0; k < nkeys; ++k) speaker[k] = which * rank;
  for (PetscInt i = 0; i < sp->nT; ++i) least[i] = PETSC_INT_MAX;
  PetscCall(PetscSFReduceBegin(keys, MPIU_INT, speaker, least, MPI_MIN));
  PetscCall(PetscSFReduceEnd(keys, MPIU_INT, speaker, least, MPI_MIN));
  PetscCall(PetscSFBcastBegin(keys, MPIU_INT, least, speaker, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(keys, MPIU_INT, least, speaker, MPI_REPLACE));
  for (PetscInt d = 0; d < w; ++d) {
    for (PetscInt i = 0; i < sp->nT; ++i) root[i] = PETSC_MIN_REAL;
    for (PetscInt k = 0; k < nkeys; ++k) leaf[k] = speaker[k] == which * rank ? place[k * w + d] : PETSC_MIN_REAL;
    PetscCall(PetscSFReduceBegin(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFReduceEnd(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFBcastBegin(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    for (PetscInt k = 0; k < nkeys; ++k) other[k * w + d] = leaf[k];
  }
  PetscCall(PetscFree4(speaker, least, root, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  place[k]: where the first cell of this rank has unknown k, and in how many directions cells end there.
  `agree`: all cells have all their unknowns there, so that nothing
  else about them needs to be compared
*/
static PetscErrorCode HopsArraysCheckPlaces(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], const int elist[], PetscSF keys,
                                            char why[], PetscBool *agree)
{
  const PetscInt dim = sp->dim, w = dim + 1, P = sp->order + 1, np = HopsPower(P, dim);
  MPI_Comm       comm = PetscObjectComm((PetscObject)sp);
  HopsBasis      gll, geom;
  PetscInt      *cell, *count, *ends;
  PetscReal     *x, *place, *size, *other[2] = {NULL, NULL};
  PetscMPIInt    nranks;

  PetscFunctionBegin;
  *agree = PETSC_TRUE;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(PetscMalloc5(nkeys, &cell, np, &ends, np * dim, &x, nkeys * w, &place, sp->ncells, &size));
  PetscCall(PetscCalloc1(nkeys, &count));
  for (PetscInt i = 0; i < np; ++i) {
    ends[i] = 0;
    for (PetscInt d = 0, k = i; d < dim; ++d, k /= P) ends[i] += k % P == 0 || k % P == P - 1;
  }
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscBool twice = PETSC_FALSE;

    PetscCall(HopsArraysLattice(sp, &geom, c, x));
    size[c] = HopsArraysCellSize(dim, P, np, 1, x);
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt k  = elist[c * np + i];
      PetscReal     *at = place + k * w;

      if (!count[k]++) {
        for (PetscInt d = 0; d < dim; ++d) at[d] = x[d * np + i];
        at[dim] = ends[i];
      } else {
        if (cell[k] == c) twice = PETSC_TRUE;
        if (at[dim] != ends[i] || HopsArraysDiffer(dim, np, x + i, at, HOPS_ARRAYS_SAME * size[c])) *agree = PETSC_FALSE;
      }
      cell[k] = c;
    }
    if (twice) PetscCall(HopsArraysCheckTwice(sp, c, gidx, elist + c * np, why));
  }
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  for (PetscInt r = 0; r < 2 && nranks > 1; ++r) { /* either may have it where a cell of this rank has another corner */
    PetscCall(PetscMalloc1(nkeys * w, &other[r]));
    PetscCall(HopsArraysSharePlaces(sp, nkeys, w, keys, r ? 1 : -1, place, other[r]));
    for (PetscInt k = 0; k < nkeys; ++k)
      if (count[k] && (other[r][k * w + dim] != place[k * w + dim] ||
                       HopsArraysDiffer(dim, 1, other[r] + k * w, place + k * w, HOPS_ARRAYS_SAME * size[cell[k]])))
        *agree = PETSC_FALSE;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, agree, 1, HOPS_MPI_BOOL, MPI_LAND, comm));
  if (*agree) PetscCall(HopsArraysCheckCounts(sp, nkeys, gidx, count, cell, place + dim, w, keys, why));
  for (PetscInt c = 0; c < sp->ncells && !*agree; ++c) {
    PetscCall(HopsArraysLattice(sp, &geom, c, x));
    for (PetscInt r = 0; r < (nranks > 1 ? 2 : 1); ++r)
      PetscCall(HopsArraysCheckMovedCorners(sp, c, gidx, elist + c * np, x, nranks > 1 ? other[r] : place, size[c], why));
  }
  for (PetscInt r = 0; r < 2; ++r) PetscCall(PetscFree(other[r]));
  PetscCall(PetscFree5(cell, ends, x, place, size));
  PetscCall(PetscFree(count));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- edges and faces ---------------------------------------- */

/* `cell` has unknown k inside of the edge or face t, another cell as well, and not all the others of t */
static PetscErrorCode HopsArraysRefusePart(HopsSpace sp, PetscInt cell, PetscInt k, const HopsArraysPart *t, const PetscInt gidx[],
                                           const int elist[], char why[])
{
  const PetscInt P        = sp->order + 1;
  const int     *own      = elist + cell * sp->ne;
  char           with[64] = "a cell of another rank";

  PetscFunctionBegin;
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < cell * sp->ne; ++i)
    if (elist[i] == k) {
      PetscCall(PetscSNPrintf(with, sizeof(with), "cell %" PetscInt_FMT " of this rank", i / sp->ne));
      break;
    }
  PetscCall(HopsRefuse(why,
                       "Cell %" PetscInt_FMT " and %s share unknown %" PetscInt_FMT
                       " inside of the %s between the corners %" PetscInt_FMT " and %" PetscInt_FMT
                       " of the first of them, and do not share all of this %s's unknowns: give what two cells "
                       "have in common the same numbers in both, corners included; a slit has numbers of its own for all nodes "
                       "inside of an edge or face",
                       cell, with, gidx[k], t->n > 1 ? "face" : "edge", gidx[own[t->start]],
                       gidx[own[t->start + (P - 1) * t->step[0] + (t->n - 1) * t->step[1]]], t->n > 1 ? "face" : "edge"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As below, among this rank's cells: seen[k] is what the first of them says of unknown k, unless it is said
   already */
static PetscErrorCode HopsArraysSumParts(HopsArraysWork *a, const PetscInt gidx[], PetscInt64 seen[], char why[])
{
  const HopsArrays *m = &a->m;
  const PetscInt    P = m->P;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->ncells; ++c)
    for (const HopsArraysPart *t = m->part; t < m->part + m->nparts; ++t) {
      const int       *own = m->key + c * m->ne + t->start;
      const PetscInt   lo  = t->n > 1 ? 1 : 0;
      const PetscInt64 now = HopsArraysSumPart(m, c, (PetscInt)(t - m->part));

      for (PetscInt j = lo; j < t->n - lo; ++j)
        for (PetscInt i = 1; i < P - 1; ++i) {
          const PetscInt k = own[i * t->step[0] + j * t->step[1]];

          if (!seen[k]) seen[k] = now;
          if (seen[k] != now) PetscCall(HopsArraysRefusePart(a->sp, c, k, t, gidx, m->key, why));
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All cells that have an unknown inside of an edge or face have all of this edge or face: they agree on the
   sum of numbers that stand for its unknowns */
static PetscErrorCode HopsArraysCheckParts(HopsArraysWork *a, const PetscInt gidx[], PetscSF keys, char why[])
{
  HopsSpace      sp    = a->sp;
  const PetscInt nkeys = a->m.nT + a->m.nF;
  PetscInt64    *seen, *most, *root;
  PetscMPIInt    nranks;
  PetscBool      same;

  PetscFunctionBegin;
  if (sp->order == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &nranks));
  PetscCall(PetscCalloc1(nkeys, &seen));
  PetscCall(HopsArraysSumParts(a, gidx, seen, why));
  if (nranks > 1) {
    PetscCall(PetscCalloc2(nkeys, &most, sp->nT, &root));
    PetscCall(PetscSFReduceBegin(keys, MPIU_INT64, seen, root, MPI_MAX));
    PetscCall(PetscSFReduceEnd(keys, MPIU_INT64, seen, root, MPI_MAX));
    PetscCall(PetscSFBcastBegin(keys, MPIU_INT64, root, most, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(keys, MPIU_INT64, root, most, MPI_REPLACE));
    PetscCall(PetscArraycmp(most, seen, nkeys, &same));
    if (!same) PetscCall(HopsArraysSumParts(a, gidx, most, why));
    PetscCall(PetscFree2(most, root));
  }
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns that belong to no cell */
static PetscErrorCode HopsArraysCheckUsed(HopsSpace sp, PetscSF keys, char why[])
{
  const PetscInt *degree;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(keys, &degree));
  PetscCall(PetscSFComputeDegreeEnd(keys, &degree));
  for (PetscInt i = 0; i < sp->nT; ++i)
    if (!degree[i])
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT
                           " belongs to no cell of any rank: number the unknowns without gaps, or let hops number the ids "
                           "(HopsSpaceCreateFromNodes() with PETSC_DECIDE)",
                           sp->rstart + i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ lattices ------------------------------------------ */

/* 1: positive at all corners; -1: negative at all; else 0 */
static PetscInt HopsArraysHandedness(PetscInt dim, PetscInt P, const PetscReal X[], const PetscInt node[], const PetscReal D[])
{
  PetscInt positive = 0, negative = 0;

  for (PetscInt k = 0; k < (1 << dim); ++k) {
    const PetscReal det = HopsArraysCornerDet(dim, P, X, node, D, k);

    positive += det > 0.0;
    negative += det < 0.0;
  }
  return positive == (1 << dim) ? 1 : (negative == (1 << dim) ? -1 : 0);
}

/*
  A map that is neither right- nor left-handed: are its nodes out of order? At order 1, they run around the
  cell (VTK, Gmsh); at higher orders, steps between neighbours of the lattice are as long as if they went
  across the cell.
*/
static PetscErrorCode HopsArraysCheckOrder(HopsSpace sp, PetscInt c, const PetscReal D[], char why[])
{
  const PetscInt   dim = sp->dim, P = sp->gorder + 1, np = HopsPower(P, dim), around[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  const PetscReal *X    = sp->X + c * dim * np;
  PetscReal        step = 0.0, diagonal = 0.0;
  PetscInt         n = 0;

  PetscFunctionBegin;
  if (P == 2) {
    if (HopsArraysHandedness(dim, P, X, around, D))
      PetscCall(HopsRefuse(why,
                           "The nodes of cell %" PetscInt_FMT
                           " run around it, as those of VTK and Gmsh do: list them in the order of the lattice, x fastest, that is "
                           "with the nodes 2 and 3 (in 3D also 6 and 7) exchanged, or tell their order (HopsGetNodeOrder(), for "
                           "HopsSpaceCreateFromNodes())",
                           c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt d = 0, stride = 1; d < dim; ++d, stride *= P)
    for (PetscInt i = 0; i < np; ++i) {
      PetscReal s = 0.0;

      if (i / stride % P == P - 1) continue;
      for (PetscInt k = 0; k < dim; ++k) s += PetscSqr(X[k * np + i + stride] - X[k * np + i]);
      step += PetscSqrtReal(s);
      ++n;
    }
  for (PetscInt k = 0; k < dim; ++k) {
    PetscReal lo = X[k * np], hi = X[k * np];

    for (PetscInt i = 1; i < np; ++i) {
      lo = PetscMin(lo, X[k * np + i]);
      hi = PetscMax(hi, X[k * np + i]);
    }
    diagonal += PetscSqr(hi - lo);
  }
  if (step / n * (P - 1) > 0.95 * PetscSqrtReal(diagonal))
    PetscCall(HopsRefuse(why,
                         "The nodes of cell %" PetscInt_FMT " are not in the order of its lattice: list the Gauss-Lobatto-Legendre "
                         "points of the cell with x fastest, then y, then z, or tell their order (HopsGetNodeOrder(), "
                         "HopsGetNodeOrderFromPoints(), for HopsSpaceCreateFromNodes())",
                         c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lattices that are left-handed, out of order or equispaced; a cell inverted otherwise is left to the
   operator, which sees more points. *left: all are left-handed, in a space that can be turned */
PetscErrorCode HopsArraysCheckMaps(HopsSpace sp, char why[], PetscBool *left)
{
  const PetscInt dim = sp->dim, P = sp->gorder + 1, np = HopsPower(P, dim);
  HopsBasis      gll;
  PetscInt       first = -1;
  PetscInt64     n[3]  = {sp->ncells, 0, 0}; /* cells, left-handed ones, equispaced ones */

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscReal *X    = sp->X + c * dim * np;
    PetscInt         hand = 1;

    /* two opposite corners show most that is wrong, and all of them take as long as half the set-up of a
       space of order 1 */
    if (!HopsArraysRightHanded(dim, P, X, gll.D)) hand = HopsArraysHandedness(dim, P, X, NULL, gll.D);
    if (hand < 0 && !n[1]++) first = c;
    if (!hand) PetscCall(HopsArraysCheckOrder(sp, c, gll.D, why));
    if (P > 3 && HopsArraysEquispaced(dim, P, X)) ++n[2];
  }
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, n, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  *left = sp->family == HOPS_H1 && !sp->hanging && n[0] && n[1] == n[0] ? PETSC_TRUE : PETSC_FALSE;
  if (n[0] && n[1] == n[0] && !*left)
    PetscCall(HopsRefuse(why, "The lattices of all cells are left-handed: two directions are exchanged, or one runs backwards; "
                              "list the nodes of each cell so that x, y and z of its lattice are right-handed in space"));
  else if (first >= 0 && !*left)
    PetscCall(HopsRefuse(why,
                         "The lattice of cell %" PetscInt_FMT " is left-handed, and those of %" PetscInt64_FMT
                         " of %" PetscInt64_FMT " cells are not: either its nodes are listed with two directions exchanged, or the "
                         "cell is inverted and the mesh needs repair; exchange two directions in the nodes and the coordinates of "
                         "each left-handed cell (a mesh all of whose cells are left-handed is taken as it is)",
                         first, n[0] - n[1], n[0]));
  if (2 * n[2] > n[0])
    PetscCall(HopsRefuse(why,
                         "The coordinates of %" PetscInt64_FMT " of %" PetscInt64_FMT
                         " cells are at equispaced points of their straight edges: evaluate the element maps at the "
                         "Gauss-Lobatto-Legendre points of order %" PetscInt_FMT,
                         n[2], n[0], sp->gorder));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the first two directions of all cells of an H1 space, whose caller goes on to count them as
   before */
static PetscErrorCode HopsArraysTurn(HopsSpace sp, int elist[])
{
  const PetscInt dim = sp->dim, P = sp->order + 1, G = sp->gorder + 1, ng = HopsPower(G, dim);

  PetscFunctionBegin;
  PetscCall(PetscInfo(sp, "All cells are left-handed: their first two directions are exchanged\n"));
  sp->turned = PETSC_TRUE;
  PetscCall(PetscMalloc1(sp->ne, &sp->place));
  for (PetscInt i = 0; i < sp->ne; ++i) sp->place[i] = i / (P * P) * P * P + i % P * P + i / P % P;
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt i = 0; i < sp->ne; ++i) {
      const PetscInt j = sp->place[i], e = elist[c * sp->ne + i];

      if (i >= j) continue;
      elist[c * sp->ne + i] = elist[c * sp->ne + j];
      elist[c * sp->ne + j] = e;
    }
  for (PetscInt k = 0; k < sp->ncells * dim; ++k)
    for (PetscInt i = 0; i < ng; ++i) {
      const PetscInt  j = i / (G * G) * G * G + i % G * G + i / G % G;
      const PetscReal x = sp->X[k * ng + i];

      if (i >= j) continue;
      sp->X[k * ng + i] = sp->X[k * ng + j];
      sp->X[k * ng + j] = x;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns of no cell */
static PetscErrorCode HopsArraysFindUnused(HopsArraysWork *a, const PetscInt gidx[])
{
  MPI_Comm  comm                 = PetscObjectComm((PetscObject)a->sp);
  char      why[HOPS_WHY_LENGTH] = "";
  PetscBool some                 = a->nuntouched ? PETSC_TRUE : PETSC_FALSE;
  PetscSF   keys;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  if (!some) PetscFunctionReturn(PETSC_SUCCESS); /* each is in a cell of its owner */
  PetscCall(HopsArraysKeySF(a, gidx, &keys));
  PetscCall(HopsArraysCheckUsed(a->sp, keys, why));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(PetscSFDestroy(&keys));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells do not agree as most meshes' do: on one that is periodic, or wrong */
static PetscErrorCode HopsArraysExplain(HopsArraysWork *a, const PetscInt gidx[])
{
  HopsSpace      sp                   = a->sp;
  const PetscInt nkeys                = a->m.nT + a->m.nF;
  char           why[HOPS_WHY_LENGTH] = "";
  PetscBool      agree                = PETSC_FALSE;
  PetscSF        keys;

  PetscFunctionBegin;
  PetscCall(HopsArraysKeySF(a, gidx, &keys));
  if (sp->family == HOPS_H1) PetscCall(HopsArraysCheckPlaces(sp, nkeys, gidx, a->m.key, keys, why, &agree));
  if (!agree) PetscCall(HopsArraysCheckOrientation(a, gidx, keys, why));
  if (sp->family == HOPS_H1) PetscCall(HopsArraysCheckParts(a, gidx, keys, why));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_INCOMP, why));
  PetscCall(PetscSFDestroy(&keys));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysCheck(HopsArraysWork *a, const PetscInt gidx[])
{
  char      why[HOPS_WHY_LENGTH] = "";
  PetscBool left                 = PETSC_FALSE, good;

  PetscFunctionBegin;
  PetscCall(HopsArraysFindUnused(a, gidx));
  PetscCall(HopsArraysCheckMaps(a->sp, why, &left));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)a->sp), PETSC_ERR_ARG_WRONG, why));
  if (left) {
    PetscCall(HopsArraysTurn(a->sp, a->m.key));
    PetscCall((*a->at->arrays->Touch)(&a->m, &a->nuntouched));
  }
  PetscCall(HopsArraysAgree(a, &good));
  if (!good) PetscCall(HopsArraysExplain(a, gidx));
  PetscFunctionReturn(PETSC_SUCCESS);
}
