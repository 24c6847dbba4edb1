/* Symbolic phase of the low-order-refined matrix: CSR pattern and the position of every element entry in
   it. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderhamimpl.h>

#define HOPS_LOR_MAX 19 /* entries of a node in 3D with all pairs coupled */

/* Row and column nodes of the entries of a node as offsets in (i,j,k): diagonal, edges, coupled pairs (see
   HopsBackendOps) */
typedef struct {
  PetscInt n, r[HOPS_LOR_MAX][3], c[HOPS_LOR_MAX][3];
} HopsStencil;

static void HopsStencilAdd(HopsStencil *s, PetscInt ra, PetscInt rb, PetscInt ca, PetscInt cb)
{
  for (PetscInt d = 0; d < 3; ++d) {
    s->r[s->n][d] = (d == ra) + (d == rb);
    s->c[s->n][d] = (d == ca) + (d == cb);
  }
  ++s->n;
}

static void HopsStencilCreate(PetscInt dim, unsigned char mask, HopsStencil *s)
{
  static const PetscInt pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};

  s->n = 0;
  HopsStencilAdd(s, -1, -1, -1, -1);
  for (PetscInt d = 0; d < dim; ++d) {
    HopsStencilAdd(s, -1, -1, d, -1);
    HopsStencilAdd(s, d, -1, -1, -1);
  }
  for (PetscInt k = 0; k < (dim == 3 ? 3 : 1); ++k) {
    const PetscInt a = pair[k][0], b = pair[k][1];

    if (!(mask & (1 << k))) continue;
    HopsStencilAdd(s, a, -1, b, -1);
    HopsStencilAdd(s, b, -1, a, -1);
    HopsStencilAdd(s, -1, -1, a, b);
    HopsStencilAdd(s, a, b, -1, -1);
  }
}

/* Entries of a cell come node by node (H1), or from its pattern: nv times ne of them */
static inline void HopsEntryCount(const HopsLOR *lor, const HopsStencil st[8], PetscInt c, PetscInt *nv, PetscInt *ne)
{
  *nv = lor->element ? 1 : lor->space->ne;
  *ne = lor->element ? lor->element[lor->mask[c]].n : st[lor->mask[c]].n;
}

/* The same of entry e of a pattern; the cell sees the entry with the opposite sign if `flip` */
static inline void HopsPatternEntry(const HopsLOR *lor, const HopsLumpPattern *p, const int restr[], PetscInt e, PetscInt *row,
                                    PetscInt *col, PetscBool *flip)
{
  const PetscInt nfree = lor->space->nT + lor->space->nG;

  *row  = HopsUnsigned(restr[p->row[e]]);
  *col  = HopsUnsigned(restr[p->col[e]]);
  *flip = (restr[p->row[e]] < 0) != (restr[p->col[e]] < 0) ? PETSC_TRUE : PETSC_FALSE;
  if (*row >= nfree || *col >= nfree) *row = *col = -1;
}

/* L indices of entry e at node v of a cell, or -1 where a neighbour lies outside the cell or is
   constrained */
static inline void HopsEntry(const HopsLOR *lor, const HopsStencil *s, const int restr[], PetscInt v, PetscInt e, PetscInt *row,
                             PetscInt *col)
{
  const PetscInt P = lor->space->order + 1, nfree = lor->space->nT + lor->space->nG;
  PetscInt       r = 0, c = 0;

  *row = *col = -1;
  for (PetscInt d = 0, k = v, stride = 1; d < lor->space->dim; ++d, k /= P, stride *= P) {
    if (k % P + s->r[e][d] >= P || k % P + s->c[e][d] >= P) return;
    r += (k % P + s->r[e][d]) * stride;
    c += (k % P + s->c[e][d]) * stride;
  }
  if (restr[r] >= nfree || restr[c] >= nfree) return;
  *row = restr[r];
  *col = restr[c];
}

/* Entries of all cells, with repetitions, must be numbers that `PetscInt` holds; those of the graph are
   fewer */
static PetscErrorCode HopsLORCheckEntries(HopsLOR *lor, const HopsStencil st[8])
{
  PetscInt64 n = lor->space->ness;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < lor->space->ncells; ++c) {
    PetscInt nv, ne;

    HopsEntryCount(lor, st, c, &nv, &ne);
    n += (PetscInt64)nv * ne;
  }
  PetscCall(HopsCheckIndex("entries of the low-order-refined matrix, cell by cell", n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local graph: rows are owned and ghost unknowns, columns global indices, sorted, without duplicates */
static PetscErrorCode HopsLORLocalGraph(HopsLOR *lor, const HopsStencil st[8], PetscInt *gi[], PetscInt *gj[])
{
  HopsSpace      sp = lor->space;
  const PetscInt np = sp->ne, nrow = sp->nT + sp->nG;
  PetscInt      *ia, *ja, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nrow + 1, &ia));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      PetscInt nv, ne;

      HopsEntryCount(lor, st, c, &nv, &ne);
      for (PetscInt v = 0; v < nv; ++v)
        for (PetscInt e = 0; e < ne; ++e) {
          PetscInt  row, col;
          PetscBool flip;

          if (lor->element) HopsPatternEntry(lor, &lor->element[lor->mask[c]], sp->restr + c * np, e, &row, &col, &flip);
          else HopsEntry(lor, &st[lor->mask[c]], sp->restr + c * np, v, e, &row, &col);
          if (row < 0) continue;
          if (!pass) ++ia[row + 1];
          else ja[ia[row]++] = col < sp->nT ? sp->rstart + col : sp->ghost[col - sp->nT];
        }
    }
    if (!pass) {
      for (PetscInt e = 0; e < sp->ness; ++e) ++ia[sp->essT[e] + 1];
      for (PetscInt r = 0; r < nrow; ++r) ia[r + 1] += ia[r];
      PetscCall(PetscMalloc1(ia[nrow], &ja));
    } else
      for (PetscInt e = 0; e < sp->ness; ++e) ja[ia[sp->essT[e]]++] = sp->rstart + sp->essT[e];
  }
  for (PetscInt r = 0, begin = 0; r < nrow; ++r) { /* ia[r] is now the end of row r */
    const PetscInt end = ia[r];
    PetscInt       len = end - begin;

    PetscCall(PetscSortRemoveDupsInt(&len, ja + begin));
    PetscCall(PetscArraymove(ja + n, ja + begin, len));
    ia[r] = n;
    n += len;
    begin = end;
  }
  ia[nrow] = n;
  *gi      = ia;
  *gj      = ja;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Ghost rows travel to their owners: builds lor->exchange and returns for each received entry its owned row
  and global column. The entries of a row are ordered by the rank that they come from, so sums have a fixed
  order. The ghost rows' columns are gj[gi[g]..gi[g+1]), g < nG.
*/
PetscErrorCode HopsLORGhostRows(HopsLOR *lor, const PetscInt gi[], const PetscInt gj[], PetscInt *rrow[], PetscInt *rcol[])
{
  HopsSpace  sp  = lor->space;
  PetscInt64 sum = 0;
  PetscInt   nrows, *len, *row, *count, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->nG, &len));
  for (PetscInt g = 0; g < sp->nG; ++g) len[g] = gi[g + 1] - gi[g];
  PetscCall(HopsLORExchangeCreate(sp, len, &lor->exchange, &nrows, &row, &count));
  PetscCall(PetscFree(len));
  lor->ng = gi[sp->nG] - gi[0];
  lor->nr = 0;
  for (PetscInt k = 0; k < nrows; ++k) sum += count[k];
  PetscCall(HopsCheckInt("entries of the low-order-refined matrix from other ranks", sum));
  lor->nr = (PetscInt)sum;
  PetscCall(PetscMalloc1(lor->nr, rrow));
  PetscCall(PetscMalloc1(lor->nr, rcol));
  for (PetscInt k = 0; k < nrows; ++k)
    for (PetscInt e = 0; e < count[k]; ++e) (*rrow)[n++] = row[k];
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(count));
  PetscCall(HopsLORExchangeEntries(lor->exchange, MPIU_INT, sizeof(PetscInt), gj + gi[0], *rcol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Final CSR of the owned rows: the union of local and received columns */
static PetscErrorCode HopsLORFinalPattern(HopsLOR *lor, const PetscInt gi[], const PetscInt gj[], const PetscInt rrow[],
                                          const PetscInt rcol[])
{
  HopsSpace      sp = lor->space;
  const PetscInt lo = sp->rstart, hi = sp->rstart + sp->nT;
  PetscInt      *ri, *rj, *cols, maxlen = 0, cap;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(sp->nT + 1, &ri)); /* received columns by row */
  PetscCall(PetscMalloc1(lor->nr, &rj));
  for (PetscInt k = 0; k < lor->nr; ++k) ++ri[rrow[k] + 1];
  for (PetscInt r = 0; r < sp->nT; ++r) {
    maxlen = PetscMax(maxlen, ri[r + 1] + gi[r + 1] - gi[r]);
    ri[r + 1] += ri[r];
  }
  for (PetscInt k = 0; k < lor->nr; ++k) rj[ri[rrow[k]]++] = rcol[k];
  PetscCall(PetscMalloc1(maxlen, &cols));
  PetscCall(PetscMalloc2(sp->nT + 1, &lor->di, sp->nT + 1, &lor->oi));
  PetscCall(HopsCheckIndex("entries of the low-order-refined matrix, own and from other ranks", (PetscInt64)gi[sp->nT] + lor->nr));
  cap = gi[sp->nT] + lor->nr;
  PetscCall(PetscMalloc1(cap, &lor->dj));
  PetscCall(PetscMalloc1(cap, &lor->oj));
  lor->di[0] = lor->oi[0] = 0;
  for (PetscInt r = 0; r < sp->nT; ++r) {
    PetscInt n = gi[r + 1] - gi[r], nr = r ? ri[r] - ri[r - 1] : ri[0], nd = lor->di[r], no = lor->oi[r];

    PetscCall(PetscArraycpy(cols, gj + gi[r], n));
    if (nr) {
      PetscCall(PetscArraycpy(cols + n, rj + ri[r] - nr, nr));
      n += nr;
      PetscCall(PetscSortRemoveDupsInt(&n, cols));
    }
    for (PetscInt k = 0; k < n; ++k) {
      if (cols[k] >= lo && cols[k] < hi) lor->dj[nd++] = cols[k] - lo;
      else lor->oj[no++] = cols[k];
    }
    lor->di[r + 1] = nd;
    lor->oi[r + 1] = no;
  }
  lor->nd = lor->di[sp->nT];
  lor->no = lor->oi[sp->nT];
  PetscCall(PetscRealloc(PetscMax(lor->nd, 1) * sizeof(PetscInt), &lor->dj));
  PetscCall(PetscRealloc(PetscMax(lor->no, 1) * sizeof(PetscInt), &lor->oj));
  PetscCall(PetscFree(ri));
  PetscCall(PetscFree(rj));
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Position in vals of an owned row's entry with a global column */
static inline int HopsLORFind(const HopsLOR *lor, PetscInt row, PetscInt gcol)
{
  const PetscInt  lo = lor->space->rstart, hi = lo + lor->space->nT;
  const PetscBool d  = (gcol >= lo && gcol < hi) ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt *ia = d ? lor->di : lor->oi, *ja = d ? lor->dj : lor->oj, col = d ? gcol - lo : gcol;
  PetscInt        a = ia[row], b = ia[row + 1];

  while (b - a > 1) {
    const PetscInt m = (a + b) / 2;

    if (ja[m] <= col) a = m;
    else b = m;
  }
  return (int)(d ? a : lor->nd + a);
}

static PetscErrorCode HopsLORPositions(HopsLOR *lor, const HopsStencil st[8], const PetscInt gi[], const PetscInt gj[],
                                       const PetscInt rrow[], const PetscInt rcol[])
{
  HopsSpace      sp = lor->space;
  const PetscInt np = sp->ne, g0 = gi[sp->nT];
  const int      trash = (int)(lor->nd + lor->no + lor->ng);
  PetscInt       n     = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt nv, ne;

    HopsEntryCount(lor, st, c, &nv, &ne);
    lor->start[c] = n;
    n += nv * ne;
  }
  PetscCall(PetscMalloc1(n, &lor->pos));
  PetscCall(PetscMalloc1(sp->nL, &lor->diag));
  PetscCall(PetscMalloc1(lor->nr, &lor->rpos));
  for (PetscInt l = 0; l < sp->nL; ++l) lor->diag[l] = trash;
  n = 0;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt nv, ne;

    HopsEntryCount(lor, st, c, &nv, &ne);
    for (PetscInt v = 0; v < nv; ++v)
      for (PetscInt e = 0; e < ne; ++e, ++n) {
        PetscInt  row, col, g;
        PetscBool flip = PETSC_FALSE;

        if (lor->element) HopsPatternEntry(lor, &lor->element[lor->mask[c]], sp->restr + c * np, e, &row, &col, &flip);
        else HopsEntry(lor, &st[lor->mask[c]], sp->restr + c * np, v, e, &row, &col);
        lor->pos[n] = trash;
        if (row < 0) continue;
        g = col < sp->nT ? sp->rstart + col : sp->ghost[col - sp->nT];
        if (row < sp->nT) lor->pos[n] = HopsLORFind(lor, row, g);
        else {
          PetscInt k = gi[row];

          while (gj[k] != g) ++k;
          lor->pos[n] = (int)(lor->nd + lor->no + k - g0);
        }
        if (row == col) lor->diag[row] = lor->pos[n];
        if (flip) lor->pos[n] = -1 - lor->pos[n];
      }
  }
  for (PetscInt e = 0; e < sp->ness; ++e) lor->diag[sp->essT[e]] = HopsLORFind(lor, sp->essT[e], sp->rstart + sp->essT[e]);
  for (PetscInt k = 0; k < lor->nr; ++k) lor->rpos[k] = HopsLORFind(lor, rrow[k], rcol[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt    *di, *oi, *dj, *oj;
  PetscScalar *vals;
} HopsLORArrays;

static PetscErrorCode HopsLORFreeArrays(HopsContainerCtx ctx)
{
  HopsLORArrays *a = (HopsLORArrays *)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(PetscFree2(a->di, a->oi));
  PetscCall(PetscFree(a->dj));
  PetscCall(PetscFree(a->oj));
  PetscCall(PetscFree(a->vals));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays live as long as the Mat or one of its blocks, which the inner solver or the user may keep longer
   than the PC does */
static PetscErrorCode HopsLORGiveArrays(HopsLOR *lor)
{
  HopsLORArrays *a;
  PetscContainer c;
  PetscMPIInt    size;
  Mat            m[3] = {lor->mat, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscNew(&a));
  a->di   = lor->di;
  a->oi   = lor->oi;
  a->dj   = lor->dj;
  a->oj   = lor->oj;
  a->vals = lor->vals;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, a));
  PetscCall(HopsContainerSetDestroy(c, HopsLORFreeArrays));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)lor->mat), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(lor->mat, &m[1], &m[2], NULL));
  for (PetscInt i = 0; i < 3; ++i)
    if (m[i]) PetscCall(PetscObjectCompose((PetscObject)m[i], "HopsLORArrays", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ on the arrays di, dj, oi, oj (global columns) and vals, which go with it */
PetscErrorCode HopsLORCreateAIJ(HopsLOR *lor)
{
  HopsSpace      sp   = lor->space;
  MPI_Comm       comm = PetscObjectComm((PetscObject)sp);
  PetscMPIInt    size;
  PetscLogDouble nnz = (PetscLogDouble)(lor->nd + lor->no);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Allreduce(&nnz, &lor->nnz, 1, MPI_DOUBLE, MPI_SUM, comm));
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(comm, sp->nT, sp->nT, lor->di, lor->dj, lor->vals, &lor->mat));
  else
    PetscCall(MatCreateMPIAIJWithSplitArrays(comm, sp->nT, sp->nT, sp->N, sp->N, lor->di, lor->dj, lor->vals, lor->oi, lor->oj,
                                             lor->vals + lor->nd, &lor->mat));
  PetscCall(HopsLORGiveArrays(lor));
  PetscCall(MatSetOption(lor->mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern from lor->mask: CSR of both blocks, positions of element entries, ghost rows; rrow[nr]: row of
   each received entry */
PetscErrorCode HopsLORPattern(HopsLOR *lor, PetscInt *rrow[])
{
  HopsStencil st[8];
  PetscInt   *gi = NULL, *gj = NULL, *rcol = NULL;

  PetscFunctionBegin;
  for (unsigned char m = 0; m < 8; ++m) HopsStencilCreate(lor->space->dim, m, &st[m]);
  if (lor->element) PetscCall(HopsLORLumpPatterns(lor));
  PetscCall(HopsLORCheckEntries(lor, st));
  PetscCall(HopsLORLocalGraph(lor, st, &gi, &gj));
  PetscCall(HopsLORGhostRows(lor, gi + lor->space->nT, gj, rrow, &rcol));
  PetscCall(HopsLORFinalPattern(lor, gi, gj, *rrow, rcol));
  PetscCall(HopsCheckInt("entries of the low-order-refined matrix", (PetscInt64)lor->nd + lor->no + lor->ng));
  PetscCall(HopsLORPositions(lor, st, gi, gj, *rrow, rcol));
  PetscCall(PetscFree(gi));
  PetscCall(PetscFree(gj));
  PetscCall(PetscFree(rcol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the matrix on the pattern from lor->mask; its values are zero until HopsLORNumeric() */
PetscErrorCode HopsLORSymbolic(HopsLOR *lor)
{
  HopsSpace sp = lor->space;
  PetscInt *rrow;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscCall(HopsLORPattern(lor, &rrow));
  PetscCall(PetscFree(rrow));
  PetscCall(PetscMalloc1(lor->nr, &lor->rvals));
  PetscCall(PetscCalloc1(lor->nd + lor->no + lor->ng + 1, &lor->vals));
  PetscCall((*lor->kernel->ops->SetPositions)(lor->kernel, lor->element, lor->mask, lor->start, lor->pos));
  PetscCall(HopsLORCreateAIJ(lor));
  PetscCall(PetscLogEventEnd(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
