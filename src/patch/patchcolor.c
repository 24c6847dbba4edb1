/*
  Colours: patches of one colour have no cell in common, so that they neither share unknowns nor couple, and
  one may be solved without the other's correction.

  Each cell's corners are labelled by the corners of a hypercube, by walking from cell to cell; a patch
  prefers the label of its vertex. On meshes of regular vertices (and on all boxes, in any numbering) that
  gives 2^dim colours, on any number of ranks. Elsewhere a patch whose colour is taken gets the first one that
  is free, rank after rank along the chains of ranks that have cells in common.
*/
#include <hops/private/hopspatchimpl.h>

#define HOPS_COLOR_WORDS 8 /* of 64 colours each */

/* CellLabels() where a corner and all its neighbours but one, at least, have labels, as in most cells that a
   walk reaches: then there is one way at most. False where there is no such corner, or no way */
static PetscBool CellLabelsAt(PetscInt dim, const int known[], int label[])
{
  const int nv = 1 << dim;

  for (int v = 0; v < nv; ++v) {
    int bit[3] = {0, 0, 0}, left = nv - 1, missing = -1, n = 0;

    if (known[v] < 0) continue;
    for (int d = 0; d < dim; ++d) {
      const int next = known[v ^ (1 << d)];

      if (next < 0) missing = d;
      else {
        bit[d] = next ^ known[v];
        if ((bit[d] & (bit[d] - 1)) || !(bit[d] & left)) return PETSC_FALSE; /* no axis, or twice the same */
        left &= ~bit[d];
        ++n;
      }
    }
    if (n < dim - 1) continue;
    if (missing >= 0) bit[missing] = left;
    for (int w = 0; w < nv; ++w) {
      int l = known[v];

      for (int d = 0; d < dim; ++d) l ^= ((v ^ w) >> d) & 1 ? bit[d] : 0;
      if (known[w] >= 0 && known[w] != l) return PETSC_FALSE;
    }
    for (int w = 0; w < nv; ++w) {
      label[w] = known[v];
      for (int d = 0; d < dim; ++d) label[w] ^= ((v ^ w) >> d) & 1 ? bit[d] : 0;
    }
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Labels of a cell's corners: corner v has label ((axes of v permuted) ^ flip), in the first way that agrees
   with known labels; is it the only one? */
static PetscBool CellLabels(PetscInt dim, const int known[], int label[])
{
  static const int perm[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int        nv         = 1 << dim;
  int              n          = 0;

  if (CellLabelsAt(dim, known, label)) return PETSC_TRUE;
  for (int s = 0; s < (dim == 2 ? 2 : 6); ++s)
    for (int flip = 0; flip < nv; ++flip) {
      int       l[8];
      PetscBool fits = PETSC_TRUE;

      for (int v = 0; v < nv && fits; ++v) {
        l[v] = flip;
        for (int d = 0; d < dim; ++d) l[v] ^= ((v >> d) & 1) << perm[s][d];
        if (known[v] >= 0 && known[v] != l[v]) fits = PETSC_FALSE;
      }
      if (!fits) continue;
      if (!n++)
        for (int v = 0; v < nv; ++v) label[v] = l[v];
    }
  return n == 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* The least corner of a cell in lexicographic order of coordinates x[nv][dim], up to rounding errors */
static PetscInt LeastCorner(PetscInt dim, PetscInt nv, const PetscReal x[], PetscReal tol)
{
  PetscInt best = 0;

  for (PetscInt v = 1; v < nv; ++v)
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal e = x[v * dim + d] - x[best * dim + d];

      if (e < -tol) best = v;
      if (PetscAbsReal(e) > tol) break;
    }
  return best;
}

/* Cells that may be the one to begin with */
typedef struct {
  PetscInt       n, *cells; /* cells[n], which ascend */
  PetscInt      *at;        /* [n] where the cell is in the next two */
  PetscReal     *x;         /* [..][nv][dim] corners */
  unsigned char *least;     /* [..] the least corner */
} Candidates;

/* Keeps those whose coordinate d, of the least corner or of the centre, is the least of all ranks' */
static PetscErrorCode KeepLeast(const HopsPatchCells *pc, PetscInt d, PetscBool center, PetscReal tol, Candidates *s)
{
  const PetscInt dim = pc->space->dim, nv = pc->nv;
  PetscReal      min = PETSC_MAX_REAL, *value;
  PetscInt       n   = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &value));
  for (PetscInt i = 0; i < s->n; ++i) {
    const PetscReal *x = s->x + s->at[i] * nv * dim;

    value[i] = center ? 0.0 : x[s->least[s->at[i]] * dim + d];
    for (PetscInt v = 0; v < nv && center; ++v) value[i] += x[v * dim + d] / nv;
    min = PetscMin(min, value[i]);
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &min, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)pc->space)));
  for (PetscInt i = 0; i < s->n; ++i)
    if (value[i] <= min + tol) {
      s->cells[n] = s->cells[i];
      s->at[n++]  = s->at[i];
    }
  s->n = n;
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of a cell's corners: the least one is 0; its neighbours are 1, 2, 4, from the last to the first in
   lexicographic order */
static void FirstLabels(PetscInt dim, PetscInt nv, const PetscReal x[], PetscInt least, PetscReal tol, int label[])
{
  int bit[3];

  for (PetscInt d = 0; d < dim; ++d) {
    bit[d] = 0;
    for (PetscInt e = 0; e < dim; ++e) {
      const PetscReal *a = x + (least ^ (1 << d)) * dim, *b = x + (least ^ (1 << e)) * dim;
      PetscInt         k = 0;

      while (k < dim - 1 && PetscAbsReal(a[k] - b[k]) <= tol) ++k;
      bit[d] += e != d && a[k] < b[k];
    }
  }
  for (PetscInt v = 0; v < nv; ++v) {
    label[v] = 0;
    for (PetscInt d = 0; d < dim; ++d) label[v] |= (((v ^ least) >> d) & 1) << bit[d];
  }
}

/*
  The cell to begin with, and the labels of its corners, from coordinates alone, so that neither depends on
  numbering, orientation or partition: the cell with the least corner, of several the one with the least
  centre. seed is -1 on all ranks but one.
*/
static PetscErrorCode FirstCell(const HopsPatchCells *pc, PetscInt *seed, int label[])
{
  const HopsPatchSetUpOps *ops  = HopsPatchSetUpOf(pc->space);
  MPI_Comm                 comm = PetscObjectComm((PetscObject)pc->space);
  const PetscInt           dim = pc->space->dim, nv = pc->nv;
  PetscReal                box[3] = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL}, tol, *extent;
  Candidates               s      = {0};
  PetscMPIInt              rank, winner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(3 * pc->nown, &extent));
  PetscCall((*ops->Extents)(&pc->maps, pc->nown, extent));
  for (PetscInt c = 0; c < pc->nown; ++c) {
    box[0] = PetscMin(box[0], extent[3 * c + 1]);
    box[1] = PetscMin(box[1], -extent[3 * c + 2]);
    box[2] = PetscMin(box[2], extent[3 * c]);
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, box, 3, MPIU_REAL, MPIU_MIN, comm));
  tol = -1e-10 * (box[0] + box[1]);
  /* a least corner is within 8 tol of its cell's least coordinate */
  for (PetscInt c = 0; c < pc->nown; ++c) s.n += !(extent[3 * c] > box[2] + 16 * tol);
  PetscCall(PetscMalloc4(s.n, &s.cells, s.n, &s.at, s.n * nv * dim, &s.x, s.n, &s.least));
  s.n = 0;
  for (PetscInt c = 0; c < pc->nown; ++c)
    if (!(extent[3 * c] > box[2] + 16 * tol)) s.cells[s.n++] = c;
  PetscCall((*ops->Positions)(&pc->maps, s.n, s.cells, s.x));
  for (PetscInt i = 0; i < s.n; ++i) {
    s.at[i]    = i;
    s.least[i] = (unsigned char)LeastCorner(dim, nv, s.x + i * nv * dim, tol);
  }
  for (PetscInt k = 0; k < 2 * dim; ++k) PetscCall(KeepLeast(pc, k % dim, k < dim ? PETSC_FALSE : PETSC_TRUE, tol, &s));
  winner = s.n ? rank : INT_MAX;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &winner, 1, MPI_INT, MPI_MIN, comm));
  *seed = winner == rank ? s.cells[0] : -1;
  if (*seed >= 0) FirstLabels(dim, nv, s.x + s.at[0] * nv * dim, s.least[s.at[0]], tol, label);
  PetscCall(PetscFree4(s.cells, s.at, s.x, s.least));
  PetscCall(PetscFree(extent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A walk over this rank's cells: labels so far, and the cells whose neighbours are labelled next */
typedef struct {
  const HopsPatchCells *pc;
  int                  *label;          /* [nvertex] of the vertices, -1 where there is none yet */
  PetscInt             *vstart, *vcell; /* cells at each vertex */
  PetscInt             *left;           /* [nvertex] those of them that are not done */
  PetscInt             *queue, head, tail;
  PetscBool            *done;        /* [nown] all corners have labels */
  int                  *root, *leaf; /* labels of shared unknowns and of ghosts */
} Walk;

static PetscErrorCode WalkCreate(const HopsPatchCells *pc, int label[], Walk *w)
{
  HopsSpace      sp = pc->space;
  const PetscInt nv = pc->nv;

  PetscFunctionBegin;
  w->pc    = pc;
  w->label = label;
  w->head = w->tail = 0;
  PetscCall(PetscMalloc3(pc->nvertex + 2, &w->vstart, pc->nown * nv, &w->vcell, pc->nvertex, &w->left));
  PetscCall(PetscMalloc4(pc->nown, &w->queue, pc->nown, &w->done, sp->halo.nshared, &w->root, sp->nG, &w->leaf));
  PetscCall(PetscArrayzero(w->vstart, pc->nvertex + 2));
  for (PetscInt i = 0; i < pc->nvertex; ++i) label[i] = -1;
  for (PetscInt c = 0; c < pc->nown; ++c) w->done[c] = PETSC_FALSE;
  for (PetscInt k = 0; k < pc->nown * nv; ++k) ++w->vstart[pc->number[k] + 2];
  for (PetscInt i = 0; i < pc->nvertex; ++i) {
    w->left[i] = w->vstart[i + 2];
    w->vstart[i + 2] += w->vstart[i + 1];
  }
  for (PetscInt i = 0; i < pc->nown * nv; ++i) w->vcell[w->vstart[pc->number[i] + 1]++] = (int)(i >> pc->space->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkDestroy(Walk *w)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(w->vstart, w->vcell, w->left));
  PetscCall(PetscFree4(w->queue, w->done, w->root, w->leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of a cell's corners, -1 where there is none yet; the number of those there are */
static PetscInt WalkKnown(const Walk *w, PetscInt c, int known[])
{
  PetscInt n = 0;

  for (PetscInt v = 0; v < w->pc->nv; ++v) {
    known[v] = w->label[w->pc->number[c * w->pc->nv + v]];
    n += known[v] >= 0;
  }
  return n;
}

static void WalkDone(Walk *w, PetscInt c)
{
  w->done[c] = PETSC_TRUE;
  for (PetscInt v = 0; v < w->pc->nv; ++v) --w->left[w->pc->number[c * w->pc->nv + v]];
}

/* Gives a cell's corners their labels where they have none; its neighbours are next */
static void WalkTake(Walk *w, PetscInt c, const int label[])
{
  int known[8];

  (void)WalkKnown(w, c, known);
  for (PetscInt v = 0; v < w->pc->nv; ++v)
    if (known[v] < 0) w->label[w->pc->number[c * w->pc->nv + v]] = label[v];
  WalkDone(w, c);
  w->queue[w->tail++] = c;
}

/* From the cells in the queue as far as labels are determined */
static void WalkSpread(Walk *w)
{
  const PetscInt nv = w->pc->nv;

  while (w->head < w->tail) {
    const PetscInt c = w->queue[w->head++];

    for (PetscInt v = 0; v < nv; ++v)
      for (PetscInt i = w->pc->number[c * nv + v], k = w->vstart[i]; k < w->vstart[i + 1] && w->left[i]; ++k) {
        const PetscInt b = w->vcell[k];
        PetscInt       n;
        int            known[8], l[8];

        if (w->done[b]) continue;
        n = WalkKnown(w, b, known);
        if (n < w->pc->space->dim) continue; /* fewer labels determine no cell */
        if (CellLabels(w->pc->space->dim, known, l)) WalkTake(w, b, l);
        else if (n == nv) WalkDone(w, b); /* no hypercube: all its corners are labelled all the same */
      }
  }
}

/* Labels of shared vertices: any rank's is as good */
static PetscErrorCode WalkShare(Walk *w)
{
  HopsSpace  sp     = w->pc->space;
  const int *vertex = w->pc->vertex;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->halo.nshared; ++i) {
    const int v = vertex[sp->halo.shared[i]];

    w->root[i] = v ? w->label[v - 1] : -1;
  }
  for (PetscInt g = 0; g < sp->nG; ++g) w->leaf[g] = vertex[sp->nT + g] ? w->label[vertex[sp->nT + g] - 1] : -1;
  PetscCall(PetscSFReduceBegin(sp->halo.sf, MPI_INT, w->leaf, w->root, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sp->halo.sf, MPI_INT, w->leaf, w->root, MPI_MAX));
  PetscCall(PetscSFBcastBegin(sp->halo.sf, MPI_INT, w->root, w->leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo.sf, MPI_INT, w->root, w->leaf, MPI_REPLACE));
  for (PetscInt i = 0; i < sp->halo.nshared; ++i)
    if (vertex[sp->halo.shared[i]]) w->label[vertex[sp->halo.shared[i]] - 1] = w->root[i];
  for (PetscInt g = 0; g < sp->nG; ++g)
    if (vertex[sp->nT + g]) w->label[vertex[sp->nT + g] - 1] = w->leaf[g];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the cells that have become determined, and counts them */
static PetscInt WalkDetermined(Walk *w)
{
  PetscInt taken = 0;

  for (PetscInt c = 0; c < w->pc->nown; ++c) {
    PetscInt n;
    int      known[8], l[8];

    if (w->done[c]) continue;
    n = WalkKnown(w, c, known);
    if (n == w->pc->nv) WalkDone(w, c);
    else if (n >= w->pc->space->dim && CellLabels(w->pc->space->dim, known, l)) {
      WalkTake(w, c, l);
      ++taken;
    }
  }
  return taken;
}

/* Where nothing moves: from a cell anew, keeping what is known where it fits */
static void WalkAnew(Walk *w, PetscInt c)
{
  int known[8], l[8];

  (void)WalkKnown(w, c, known);
  for (int v = 0; v < w->pc->nv; ++v) l[v] = v;
  (void)CellLabels(w->pc->space->dim, known, l);
  WalkTake(w, c, l);
}

/* label[nvertex] */
static PetscErrorCode Labels(const HopsPatchCells *pc, int label[])
{
  MPI_Comm    comm  = PetscObjectComm((PetscObject)pc->space);
  PetscInt    first = -1, seed = 0;
  int         l[8];
  PetscMPIInt rank, size;
  Walk        w;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(WalkCreate(pc, label, &w));
  PetscCall(FirstCell(pc, &first, l));
  if (first >= 0) WalkTake(&w, first, l);
  for (;;) {
    PetscInt state[2] = {0, size}; /* progress anywhere; least rank with cells left */

    WalkSpread(&w);
    PetscCall(WalkShare(&w));
    state[0] = -WalkDetermined(&w);
    while (seed < pc->nown && w.done[seed]) ++seed;
    if (seed < pc->nown) state[1] = rank;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, state, 2, MPIU_INT, MPI_MIN, comm));
    if (state[0]) continue;
    if (state[1] == size) break;
    if (state[1] == rank) WalkAnew(&w, seed);
  }
  PetscCall(WalkDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells that patches of several ranks touch: roots are own cells, leaves those of other ranks; and the
   ranks met there */
static PetscErrorCode CellHalo(const HopsPatchCells *pc, PetscSF *sf, PetscMPIInt *nnb, PetscMPIInt *nb[])
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)pc->space);
  const PetscInt n    = pc->n - pc->nown;
  PetscSFNode   *remote;
  PetscInt      *root, *zero, *leaf, *none, *to, *is, *ir, nroot = n, nleaf, nget, k;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &remote));
  PetscCall(PetscCalloc2(n, &root, n, &zero));
  for (PetscInt c = 0; c < n; ++c) {
    root[c] = remote[c].rank = pc->home[2 * (pc->nown + c)];
    remote[c].index          = pc->home[2 * (pc->nown + c) + 1];
  }
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraph(*sf, pc->nown, n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*sf));
  PetscCall(PetscSortRemoveDupsInt(&nroot, root));
  PetscCall(HopsPatchExchange(comm, nroot, root, 1, zero, 0, NULL, &nleaf, &leaf, &none, NULL));
  /* two ranks may also meet in a cell of a third one, which tells all its neighbours of each other */
  k = nroot + nleaf;
  PetscCall(PetscMalloc2(k * k, &to, k * k, &is));
  for (PetscInt i = 0; i < k * k; ++i) {
    to[i] = i / k < nroot ? root[i / k] : leaf[i / k - nroot];
    is[i] = i % k < nroot ? root[i % k] : leaf[i % k - nroot];
  }
  PetscCall(HopsPatchExchange(comm, k * k, to, 1, is, 0, NULL, &nget, NULL, &ir, NULL));
  PetscCall(PetscMalloc1(k + nget, nb));
  for (PetscInt i = 0; i < k; ++i) (*nb)[i] = (PetscMPIInt)is[i];
  for (PetscInt i = 0; i < nget; ++i) (*nb)[k + i] = (PetscMPIInt)ir[i];
  *nnb = (PetscMPIInt)(k + nget);
  PetscCall(PetscFree2(to, is));
  PetscCall(PetscFree2(root, zero));
  PetscCall(PetscFree(leaf));
  PetscCall(PetscFree(none));
  PetscCall(PetscFree(ir));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colours of the patches at each cell, by bits: 64 w + b in used[w][n], NULL where there is none yet */
typedef PetscInt64 *Used[HOPS_COLOR_WORDS];

/* Those of the cells of a patch */
static PetscInt64 Taken(HopsPatches pt, PetscInt k, const PetscInt64 used[])
{
  PetscInt64 taken = 0;

  for (PetscInt i = pt->touchstart[k]; i < pt->touchstart[k + 1] && used; ++i) taken |= used[pt->touch[i]];
  return taken;
}

/* label[]: of the vertices from 1 on; *most: the largest colour, or the number of those there can be
   where they are too few */
static PetscErrorCode ColorOwn(HopsPatches pt, const HopsPatchCells *pc, const int label[], Used used, PetscInt *most)
{
  HopsSpace sp = pt->space;

  PetscFunctionBegin;
  *most = 0;
  for (PetscInt k = 0; k < pt->n; ++k) {
    PetscInt64 taken = Taken(pt, k, used[0]);
    PetscInt   color = -1;

    if (!pt->element[k]) color = label[pc->vertex[pt->center[k] - sp->rstart]];
    if (color < 0 || (taken >> color) & 1)
      for (color = 0; color < 64 * HOPS_COLOR_WORDS && (taken >> (color % 64)) & 1;) {
        if (!(++color % 64) && color < 64 * HOPS_COLOR_WORDS) taken = Taken(pt, k, used[color / 64]);
      }
    *most = PetscMax(*most, color);
    if (color == 64 * HOPS_COLOR_WORDS) break;
    pt->color[k] = (int)color;
    if (!used[color / 64]) PetscCall(PetscCalloc1(pc->n, &used[color / 64]));
    for (PetscInt i = pt->touchstart[k]; i < pt->touchstart[k + 1]; ++i)
      used[color / 64][pt->touch[i]] |= (PetscInt64)1 << (color % 64);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UsedFree(Used used)
{
  PetscFunctionBegin;
  for (PetscInt w = 0; w < HOPS_COLOR_WORDS; ++w) PetscCall(PetscFree(used[w]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What other ranks' patches have at common cells; PetscSF combines basic types only */
static PetscErrorCode ShareColors(const HopsPatchCells *pc, PetscSF sf, PetscMPIInt size, Used used)
{
  PetscMPIInt nwords = 0;

  PetscFunctionBegin;
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscMPIInt w = 0; w < HOPS_COLOR_WORDS; ++w) nwords = used[w] ? w + 1 : nwords;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &nwords, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc->space)));
  for (PetscMPIInt w = 0; w < nwords; ++w) {
    PetscInt64 *root, *leaf;

    if (!used[w]) PetscCall(PetscCalloc1(pc->n, &used[w]));
    root = used[w];
    leaf = root + pc->nown;
    PetscCall(PetscSFReduceBegin(sf, MPIU_INT64, leaf, root, MPI_BOR));
    PetscCall(PetscSFReduceEnd(sf, MPIU_INT64, leaf, root, MPI_BOR));
    PetscCall(PetscSFBcastBegin(sf, MPIU_INT64, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, MPIU_INT64, root, leaf, MPI_REPLACE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesColor(HopsPatches pt, const HopsPatchCells *pc)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pt->space);
  PetscSF     sf;
  PetscMPIInt size, rank, nnb = 0, *nb, *done;
  Used        used = {NULL};
  int        *label, colored = 0, all = 0, *map;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(pc->nvertex + 1, &label));
  label[0] = -1;
  PetscCall(Labels(pc, label + 1));
  PetscCall(CellHalo(pc, &sf, &nnb, &nb));
  PetscCall(PetscCalloc1(size, &done));
  while (!all) {
    PetscMPIInt ready = 1;

    for (PetscMPIInt i = 0; i < nnb; ++i) ready = ready && (nb[i] >= rank || done[nb[i]]);
    if (ready && !colored) {
      PetscInt most;

      PetscCall(ColorOwn(pt, pc, label, used, &most));
      PetscCheck(most < 64 * HOPS_COLOR_WORDS, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The patches need more than %d colors: use -pc_patchfd_type additive", 64 * HOPS_COLOR_WORDS);
      colored = 1;
    }
    PetscCall(ShareColors(pc, sf, size, used));
    PetscCallMPI(MPI_Allgather(&colored, 1, MPI_INT, done, 1, MPI_INT, comm));
    all = 1;
    for (PetscMPIInt r = 0; r < size; ++r) all = all && done[r];
  }
  /* colours that no rank uses are left out */
  PetscCall(PetscCalloc1(64 * HOPS_COLOR_WORDS, &map));
  for (PetscInt k = 0; k < pt->n; ++k) map[pt->color[k]] = 1;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, map, 64 * HOPS_COLOR_WORDS, MPI_INT, MPI_MAX, comm));
  pt->ncolors = 0;
  for (PetscInt c = 0; c < 64 * HOPS_COLOR_WORDS; ++c) {
    const int in = map[c];

    map[c] = (int)pt->ncolors;
    pt->ncolors += in;
  }
  for (PetscInt k = 0; k < pt->n; ++k) pt->color[k] = map[pt->color[k]];
  PetscCall(PetscFree(map));
  PetscCall(PetscFree(done));
  PetscCall(UsedFree(used));
  PetscCall(PetscFree(label));
  PetscCall(PetscFree(nb));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
