/*
  The low-order-refined matrix in three steps: do the couplings fit the pattern, the pattern, the values. The
  back end writes the rows of this rank's unknowns. They are complete but for what other ranks add to them;
  only that travels, through the process's memory.

  Components that do not couple are as many matrices on one pattern, which holds the couplings across cells of
  all of them. Each is made as that of a scalar field, and then its rows are put among the others'.
*/
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>

PetscErrorCode HopsLORDestroyPattern(HopsLOR *lor)
{
  const HopsMemoryOps *memory = lor->backend->memory;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&lor->mat));
  PetscCall(HopsLORExchangeDestroy(&lor->exchange));
  PetscCall(HopsLORFreeRows(lor));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.place));
  PetscCall((*memory->PoolFree)((void **)&lor->ghosts.place));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.longrow));
  PetscCall((*memory->PoolFree)((void **)&lor->ghosts.longrow));
  lor->rows.nlong = lor->ghosts.nlong = 0; /* the next pattern may have none, and no list */
  PetscCall((*memory->PoolFree)((void **)&lor->rows.slotrow));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.slot));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.xi));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.xj));
  PetscCall((*memory->PoolFree)((void **)&lor->rows.map));
  PetscCall((*memory->PoolFree)((void **)&lor->xvals));
  for (PetscInt b = 0; b < 2; ++b) PetscCall((*memory->PoolFree)((void **)&lor->fixed[b]));
  PetscCall(PetscFree(lor->gfixed));
  PetscCall(PetscFree(lor->gvals));
  PetscCall(PetscFree(lor->rvals));
  PetscCall(PetscFree(lor->cols));
  PetscCall(PetscMemzero(&lor->rows, sizeof(lor->rows)));
  PetscCall(PetscMemzero(&lor->wide, sizeof(lor->wide)));
  PetscCall(PetscMemzero(&lor->ghosts, sizeof(lor->ghosts)));
  lor->di = lor->dj = lor->oi = lor->oj = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- vertex data ---------------------------------------- */

/* The error for a cell that the back end found; it keeps no determinants */
static PetscErrorCode HopsLORErrorCell(HopsLOR *lor, PetscInt cell)
{
  HopsSpace      sp = lor->space;
  const PetscInt n = HopsPower(lor->gll.Q, sp->dim), nd = sp->dim * sp->dim;
  HopsBasis      geom;
  PetscReal     *J, Ji[9], det = 1.0;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &lor->gll, &geom));
  PetscCall(PetscMalloc1(n * nd, &J));
  PetscCall(HopsSpaceGetPoints(sp, &geom, cell, 1, NULL, J));
  for (PetscInt q = 0; q < n && det > 0.0; ++q) det = HopsInverse(sp->dim, J + q * nd, Ji);
  PetscCall(PetscFree(J));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsSpaceErrorCell(sp, cell, det));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one value, or one a cell: nothing is evaluated at points */
static inline PetscBool HopsLORFewValues(HopsCoefficient c)
{
  return !c || !c->evaluate ? PETSC_TRUE : PETSC_FALSE;
}

/* The form is meant to be definite: say so when a coefficient is negative, or zero all over a cell, where
   a mass may be */
static PetscErrorCode HopsLORCheckSign(HopsLOR *lor, PetscInt n, const HopsValues values[2])
{
  const HopsValuesTest test[2] = {HOPS_NEGATIVE, HOPS_NEGATIVE_FIELD};
  const PetscInt       nq      = HopsPower(lor->space->order + 1, lor->space->dim);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscInt count;

    PetscCall(HopsValuesCount(lor->backend, test[i], lor->space->dim, n, nq, &values[i], NULL, &count));
    if (count) lor->negative[i] = PETSC_TRUE;
    if (i || !count) continue;
    PetscCall(HopsValuesCount(lor->backend, HOPS_NEGATIVE_FIELD, lor->space->dim, n, nq, &values[0], NULL, &count));
    if (count) lor->negative[2] = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the first cells; of all components of a run of cells before the next run, as functions of a PetscDS give
   them together */
static PetscErrorCode HopsLORVertex(HopsLOR *lor, const HopsForm form[], PetscInt ncells, PetscBool mixed, HopsLORVertexData data[])
{
  HopsSpace      sp   = lor->space;
  const PetscInt nq   = HopsPower(sp->order + 1, sp->dim);
  PetscInt       run  = PetscMax(ncells, 1);
  HopsValuesWork w[2] = {{0}, {0}};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < lor->nc; ++i)
    if (!HopsLORFewValues(HopsFormDerivative(form[i])) || !HopsLORFewValues(HopsFormValue(form[i])))
      run = PetscMax(1, lor->backend->runpoints / (HOPS_LOR_CHUNK * nq * lor->nc * lor->nc)) * HOPS_LOR_CHUNK;
  for (PetscInt c = 0; !c || c < ncells; c += run) {
    const PetscInt n = PetscMin(run, ncells - c);

    for (PetscInt i = 0; i < lor->nc; ++i) {
      HopsValues v[2];
      PetscInt   bad;

      PetscCall(HopsCoefficientEvaluateOn(HopsFormDerivative(form[i]), sp, lor->backend, &lor->inner, c, n, &w[0], &v[0]));
      PetscCall(HopsCoefficientEvaluateOn(HopsFormValue(form[i]), sp, lor->backend, &lor->inner, c, n, &w[1], &v[1]));
      PetscCall(HopsLORCheckSign(lor, n, v));
      PetscCall(
        (*lor->kernel->ops->VertexData)(lor->kernel, c, n, &v[0], &v[1], mixed, HOPS_LOR_TOL, lor->droptol, &data[i], &bad));
      if (bad >= 0) PetscCall(HopsLORErrorCell(lor, bad));
    }
  }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsValuesWorkFree(&w[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A pattern without couplings takes data without off-diagonal factors, which a second pass adds where they
  turn out to be there. So it does where components differ: the host stores no more of a cell than the
  component itself keeps, and another one may keep more. Where the off-diagonal factors of a cell are all
  below droptol the cell keeps none of them: what is left is the diagonal of a positive definite tensor at
  each node, so the matrix stays definite, and the tensor lies between 1 - (dim - 1) droptol and 1 + (dim
  - 1) droptol times it. Dropping single pairs could leave an indefinite one.

  Without a pattern all cells get off-diagonal factors, but where that costs and the first cells have none.
*/
PetscErrorCode HopsLORCheckCouplings(HopsLOR *lor, const HopsForm form[], HopsLORVertexData data[], PetscBool *fits)
{
  HopsLORAssembler k     = lor->kernel;
  const PetscInt   n     = lor->space->ncells;
  PetscBool        mixed = lor->mat ? lor->coupled : PETSC_TRUE, ok, coupled, again;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 3; ++i) lor->negative[i] = PETSC_FALSE;
  for (PetscInt c = 0; c < lor->nc; ++c) data[c] = NULL;
  if (!lor->mat && k->guess && n > HOPS_LOR_CHUNK) {
    PetscCall(HopsLORVertex(lor, form, HOPS_LOR_CHUNK, PETSC_FALSE, data));
    for (PetscInt c = 1; c < lor->nc; ++c) PetscCall((*k->ops->MergeMasks)(k, data[0], data[c]));
    PetscCall((*k->ops->CompareMasks)(k, data[0], PETSC_FALSE, &ok, &mixed));
  }
  PetscCall(HopsLORVertex(lor, form, n, mixed, data));
  for (PetscInt c = 1; c < lor->nc; ++c) PetscCall((*k->ops->MergeMasks)(k, data[0], data[c]));
  PetscCall((*k->ops->CompareMasks)(k, data[0], PETSC_FALSE, &ok, &coupled));
  if (!lor->mat) ok = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(&ok, fits, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)lor->space)));
  if (!*fits) {
    PetscCall(HopsLORDestroyPattern(lor));
    PetscCall((*k->ops->CompareMasks)(k, data[0], PETSC_TRUE, &ok, &coupled));
    lor->coupled = coupled;
    again        = mixed ? PETSC_FALSE : PETSC_TRUE;
    for (PetscInt c = 1; c < lor->nc && lor->backend->host; ++c)
      if (HopsFormDerivative(form[c]) != HopsFormDerivative(form[0])) again = PETSC_TRUE;
    if (coupled && again) PetscCall(HopsLORVertex(lor, form, n, PETSC_TRUE, data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ pattern ------------------------------------------ */

static PetscErrorCode HopsLORCopyIn(HopsLOR *lor, size_t n, const void *x, void **y)
{
  PetscFunctionBegin;
  PetscCall((*lor->backend->memory->PoolMalloc)(n, y));
  PetscCall((*lor->backend->memory->Copy)(NULL, *y, x, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORCopyInts(HopsLOR *lor, PetscInt n, const int x[], int **y)
{
  PetscFunctionBegin;
  PetscCall(HopsLORCopyIn(lor, n * sizeof(int), x, (void **)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another library has streams of its own */
static PetscErrorCode HopsLORWait(HopsLOR *lor)
{
  PetscFunctionBegin;
  if (lor->backend->memory->QueueFinish) PetscCall((*lor->backend->memory->QueueFinish)(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghost rows are assembled like owned ones; their pattern goes to the process's memory, with global columns:
   *gi [nG+1], *gj */
static PetscErrorCode HopsLORGhostPattern(HopsLOR *lor, PetscInt *gi[], PetscInt *gj[])
{
  HopsSpace    sp = lor->space;
  HopsLORRows *g  = &lor->ghosts;
  int         *i, *j;

  PetscFunctionBegin;
  g->first   = sp->nT;
  g->n       = sp->nG;
  g->split   = INT_MAX;
  g->coupled = lor->coupled;
  g->before  = 1;
  PetscCall((*lor->backend->memory->PoolMalloc)((g->n + 1) * sizeof(int), (void **)&g->i[0]));
  PetscCall((*lor->kernel->ops->CountRows)(lor->kernel, g));
  PetscCall((*lor->backend->memory->PoolMalloc)(g->nnz[0] * sizeof(int), (void **)&g->j[0]));
  PetscCall((*lor->kernel->ops->FillColumns)(lor->kernel, g, NULL));
  PetscCall(PetscMalloc2(g->n + 1, &i, g->nnz[0], &j));
  PetscCall(PetscMalloc1(g->n + 1, gi));
  PetscCall(PetscMalloc1(g->nnz[0], gj));
  PetscCall((*lor->backend->memory->Copy)(NULL, i, g->i[0], (g->n + 1) * sizeof(int), HOPS_COPY_OUT));
  PetscCall((*lor->backend->memory->Copy)(NULL, j, g->j[0], g->nnz[0] * sizeof(int), HOPS_COPY_OUT));
  if (lor->essential) PetscCall(PetscMalloc1(g->nnz[0], &lor->gfixed));
  for (PetscInt r = 0; lor->essential && r < g->n; ++r)
    for (int k = i[r]; k < i[r + 1]; ++k) lor->gfixed[k] = lor->essential[sp->nT + r] | lor->essential[j[k]];
  for (PetscInt k = 0; k <= g->n; ++k) (*gi)[k] = i[k];
  for (size_t k = 0; k < g->nnz[0]; ++k) (*gj)[k] = j[k] < sp->nT ? sp->rstart + j[k] : sp->ghost[j[k] - sp->nT];
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Ghost rows travel to their owners: builds lor->exchange and returns for each received entry its owned row
  and global column. The entries of a row are ordered by the rank that they come from, so sums have a fixed
  order. The ghost rows' columns are gj[gi[g]..gi[g+1]), g < nG.
*/
static PetscErrorCode HopsLORGhostRows(HopsLOR *lor, const PetscInt gi[], const PetscInt gj[], PetscInt *rrow[], PetscInt *rcol[])
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

#define NEAR 64 /* entries of a row whose places are remembered */

/* The place of x in an ascending list, negative where it is not there. The next one after *last, which the
   same entry of the row before had, is the right one as a rule */
static PetscErrorCode FindNext(PetscInt x, PetscInt n, const PetscInt list[], PetscInt *last, PetscInt *where)
{
  PetscFunctionBegin;
  *where = *last + 1;
  if (*where >= n || list[*where] != x) PetscCall(PetscFindInt(x, n, list, where));
  if (*where >= 0) *last = *where;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Received entries by row. Their columns get numbers as the rows know them: L indices, and behind these the
  columns that no cell of this rank touches, foreign[*nforeign] (global, ascending).
*/
static PetscErrorCode HopsLORReceived(HopsLOR *lor, const PetscInt rrow[], const PetscInt rcol[], PetscInt *nforeign,
                                      PetscInt *foreign[])
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->rows;
  PetscInt     nf = 0, *f, ghost[NEAR], other[NEAR], where;
  int         *row, *xi, *xj;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(lor->nr, &f));
  PetscCall(PetscMalloc3(lor->nr, &row, lor->nr + 1, &xi, lor->nr, &xj));
  for (PetscInt e = 0; e < NEAR; ++e) ghost[e] = other[e] = -1;
  r->nslots = 0;
  for (PetscInt k = 0; k < lor->nr; ++k) {
    if (!k || rrow[k] != rrow[k - 1]) {
      row[r->nslots]  = (int)rrow[k];
      xi[r->nslots++] = (int)k;
    }
    if (rcol[k] >= sp->rstart && rcol[k] < sp->rstart + sp->nT) xj[k] = (int)(rcol[k] - sp->rstart);
    else {
      PetscCall(FindNext(rcol[k], sp->nG, sp->ghost, &ghost[(k - xi[r->nslots - 1]) % NEAR], &where));
      xj[k] = where < 0 ? -1 : (int)(sp->nT + where);
      if (where < 0) f[nf++] = rcol[k];
    }
  }
  xi[r->nslots] = (int)lor->nr;
  PetscCall(PetscSortRemoveDupsInt(&nf, f));
  for (PetscInt s = 0; s < r->nslots; ++s)
    for (int k = xi[s]; k < xi[s + 1]; ++k) {
      if (xj[k] >= 0) continue;
      PetscCall(FindNext(rcol[k], nf, f, &other[(k - xi[s]) % NEAR], &where));
      xj[k] = (int)(sp->nT + sp->nG + where);
    }
  if (r->nslots) {
    PetscCall(HopsLORCopyInts(lor, r->nslots, row, &r->slotrow));
    PetscCall(HopsLORCopyInts(lor, r->nslots + 1, xi, &r->xi));
    PetscCall(HopsLORCopyInts(lor, lor->nr, xj, &r->xj));
    PetscCall((*lor->backend->memory->PoolMalloc)(sp->nT * sizeof(int), (void **)&r->slot));
  }
  PetscCall(PetscFree3(row, xi, xj));
  *nforeign = nf;
  *foreign  = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of block 1: those in use among ghosts and foreign ones, ascending by global index */
static PetscErrorCode HopsLORNumberColumns(HopsLOR *lor, const unsigned char used[], PetscInt nf, const PetscInt foreign[])
{
  HopsSpace      sp = lor->space;
  const PetscInt nG = sp->nG;
  unsigned char *fixed;
  int           *map;

  PetscFunctionBegin;
  lor->ncols = 0;
  PetscCall(PetscMalloc1(nG + nf, &lor->cols));
  PetscCall(PetscMalloc2(nG + nf, &map, nG + nf, &fixed));
  for (PetscInt g = 0, f = 0; g < nG || f < nf;) { /* merge */
    const PetscInt k = f == nf || (g < nG && sp->ghost[g] < foreign[f]) ? g : nG + f;

    map[k] = (int)lor->ncols;
    /* what is received of a column that no cell of this rank touches was masked by the sender */
    if (used[k]) fixed[lor->ncols] = k < nG && lor->essential ? lor->essential[sp->nT + k] : 0;
    if (used[k]) lor->cols[lor->ncols++] = k < nG ? sp->ghost[g] : foreign[f];
    if (k < nG) ++g;
    else ++f;
  }
  PetscCall(HopsLORCopyInts(lor, nG + nf, map, &lor->rows.map));
  if (lor->essential) PetscCall(HopsLORCopyIn(lor, lor->ncols, fixed, (void **)&lor->fixed[1]));
  PetscCall(PetscFree2(map, fixed));
  PetscCall((*lor->kernel->ops->MapColumns)(lor->kernel, &lor->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLOROwnPattern(HopsLOR *lor, PetscInt nf, const PetscInt foreign[])
{
  HopsSpace      sp = lor->space;
  HopsLORRows   *r  = &lor->rows;
  unsigned char *used;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  r->first   = 0;
  r->n       = sp->nT;
  r->split   = size > 1 ? sp->nT : INT_MAX;
  r->nmap    = sp->nG + nf;
  r->before  = 1 + lor->ghosts.nnz[0];
  r->coupled = lor->coupled;
  r->sorted  = lor->target == HOPS_LOR_HYPRE ? PETSC_FALSE : PETSC_TRUE;
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) PetscCall(HopsLORAlloc(lor, (sp->nT + 1) * sizeof(int), (void **)&r->i[b]));
  PetscCall(HopsLORWait(lor));
  PetscCall((*lor->kernel->ops->CountRows)(lor->kernel, r));
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) PetscCall(HopsLORAlloc(lor, r->nnz[b] * sizeof(int), (void **)&r->j[b]));
  PetscCall(HopsLORWait(lor));
  PetscCall(PetscMalloc1(r->nmap, &used));
  PetscCall((*lor->kernel->ops->FillColumns)(lor->kernel, r, used));
  if (size > 1) PetscCall(HopsLORNumberColumns(lor, used, nf, foreign));
  if (lor->essential) PetscCall(HopsLORCopyIn(lor, sp->nT, lor->essential, (void **)&lor->fixed[0]));
  PetscCall(PetscFree(used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORPattern(HopsLOR *lor, PetscInt *rrow[])
{
  HopsSpace      sp = lor->space;
  PetscInt      *gi, *gj, *rcol, nf = 0, *foreign = NULL;
  PetscMPIInt    size;
  PetscLogDouble nnz;

  PetscFunctionBegin;
  *rrow = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  if (size > 1) {
    PetscCall(HopsLORGhostPattern(lor, &gi, &gj));
    PetscCall(HopsLORGhostRows(lor, gi, gj, rrow, &rcol));
    PetscCall(HopsLORReceived(lor, *rrow, rcol, &nf, &foreign));
    PetscCall(PetscFree(gi));
    PetscCall(PetscFree(gj));
    PetscCall(PetscFree(rcol));
  }
  PetscCall(HopsLOROwnPattern(lor, nf, foreign));
  PetscCall(PetscFree(foreign));
  nnz = (PetscLogDouble)(lor->rows.nnz[0] + lor->rows.nnz[1]);
  PetscCallMPI(MPI_Allreduce(&nnz, &lor->nnz, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the matrix on the pattern of the kernel's masks; its values are not set until HopsLORNumeric() */
PetscErrorCode HopsLORSymbolic(HopsLOR *lor, MatType type)
{
  HopsSpace sp = lor->space;
  PetscInt *rrow;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall(HopsLORSetTarget(lor, type));
  PetscCall(HopsLORPattern(lor, &rrow));
  PetscCall(HopsLORAllocValues(lor));
  if (lor->nc > 1) PetscCall(HopsLORWiden(lor));
  if (lor->exchange) {
    PetscCall(PetscMalloc1(lor->ng, &lor->gvals));
    PetscCall(PetscMalloc1(lor->nr, &lor->rvals));
    PetscCall((*lor->backend->memory->PoolMalloc)(lor->nr * sizeof(PetscReal), (void **)&lor->xvals));
  }
  PetscCall(PetscFree(rrow));
  PetscCall(HopsLORWait(lor));
  PetscCall(HopsLORCreateMat(lor));
  PetscCall(PetscLogEventEnd(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- values ------------------------------------------- */

/* e = J^T e, of a cell's nodes */
static PetscErrorCode HopsLORLumpHanging(const HopsHanging *h, unsigned mask, PetscInt entries, PetscReal e[])
{
  int       *start, *col;
  PetscReal *w, *sum;

  PetscFunctionBegin;
  if (!mask) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingRows(h, mask, entries, &start, &col, &w));
  PetscCall(PetscCalloc1(h->ne, &sum));
  for (int i = 0; i < h->ne; i++)
    for (int k = start[i]; k < start[i + 1]; k++) sum[col[k]] += w[k] * e[i];
  PetscCall(PetscArraycpy(e, sum, h->ne));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(w));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Robin terms: masses at the nodes of the faces, with Gauss-Lobatto weights, summed by unknown in the order
   of the faces, then added to the diagonal. Those of hanging nodes are lumped at their parents', by the
   weights that the matrix has: J^T D 1, as J takes constants to constants */
static PetscErrorCode HopsLORAddFacets(HopsLOR *lor, const HopsFacets r, HopsCoefficient alpha)
{
  HopsSpace      sp = lor->space;
  const PetscInt P = sp->order + 1, nf = HopsPower(P, sp->dim - 1), np = HopsPower(P, sp->dim), nfree = sp->nT + sp->nG;
  PetscInt      *node, *idx, *didx = NULL, n = 0, m = 0;
  PetscReal     *a, *x, *e, *dx = NULL;
  PetscReal     *w = lor->gll.weights;
  HopsHanging    h = {0};

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  n = r->n * (sp->hanging ? np : nf);
  PetscCall(PetscMalloc5(r->n * nf, &a, n, &x, n, &idx, nf, &node, np, &e));
  n = 0;
  PetscCall(PetscArrayzero(e, np));
  PetscCall(HopsFaceEvaluate(sp, &lor->inner, r->n, r->cells, r->faces, alpha, a));
  for (PetscInt f = 0; f < r->n; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i) e[node[i]] = a[f * nf + i] * w[i % P] * (sp->dim == 3 ? w[i / P] : 1.0);
    if (sp->hanging) PetscCall(HopsLORLumpHanging(&h, sp->hang[r->cells[f]], lor->constraintentries, e));
    for (PetscInt i = 0; i < (sp->hanging ? np : nf); ++i) { /* of a facet within a parent, parents' nodes are off it */
      const PetscInt k = sp->hanging ? i : node[i], l = sp->restr[r->cells[f] * np + k];

      if (l >= nfree || e[k] == 0.0) continue;
      idx[n] = l;
      x[n++] = e[k];
    }
    PetscCall(PetscArrayzero(e, np));
  }
  PetscCall(HopsSortIntWithReals(n, idx, x));
  for (PetscInt k = 0; k < n; ++k) {
    if (m && idx[m - 1] == idx[k]) x[m - 1] += x[k];
    else {
      idx[m] = idx[k];
      x[m++] = x[k];
    }
  }
  PetscCall((*lor->backend->memory->Malloc)(m * sizeof(PetscInt), (void **)&didx));
  PetscCall((*lor->backend->memory->Malloc)(m * sizeof(PetscReal), (void **)&dx));
  PetscCall((*lor->backend->memory->Copy)(NULL, didx, idx, m * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall((*lor->backend->memory->Copy)(NULL, dx, x, m * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall((*lor->kernel->ops->SetDiagonal)(lor->kernel, &lor->rows, m, didx, dx));
  if (lor->ghosts.n) PetscCall((*lor->kernel->ops->SetDiagonal)(lor->kernel, &lor->ghosts, m, didx, dx));
  PetscCall((*lor->backend->memory->Free)((void **)&didx));
  PetscCall((*lor->backend->memory->Free)((void **)&dx));
  PetscCall(PetscFree5(a, x, idx, node, e));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What other ranks add to the rows; of component c, without what its essential unknowns have there */
static PetscErrorCode HopsLORExchangeValues(HopsLOR *lor, PetscInt c)
{
  PetscFunctionBegin;
  if (!lor->exchange) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*lor->backend->memory->Copy)(NULL, lor->gvals, lor->ghosts.v[0], lor->ng * sizeof(PetscReal), HOPS_COPY_OUT));
  for (PetscInt k = 0; lor->gfixed && k < lor->ng; ++k)
    if (lor->gfixed[k] >> c & 1) lor->gvals[k] = 0.0;
  PetscCall(HopsLORExchangeEntries(lor->exchange, MPIU_REAL, sizeof(PetscReal), lor->gvals, lor->rvals));
  PetscCall((*lor->backend->memory->Copy)(NULL, lor->xvals, lor->rvals, lor->nr * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall((*lor->kernel->ops->AddReceived)(lor->kernel, &lor->rows, lor->xvals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORNumeric(HopsLOR *lor, const HopsForm form[], HopsLORVertexData data[])
{
  const HopsLOROps   *ops = lor->kernel->ops;
  HopsSpace           sp  = lor->space;
  const HopsIntegral *in;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  for (PetscInt c = 0; c < lor->nc; ++c) {
    PetscCall((*ops->FillValues)(lor->kernel, data[c], &lor->rows, &lor->ghosts));
    PetscCall((*ops->VertexDestroy)(lor->kernel, &data[c]));
    for (PetscInt i = 0; (in = HopsFormNext(form[c], HOPS_BOUNDARY, &i));)
      PetscCall(HopsLORAddFacets(lor, in->facets, in->coefficient));
    PetscCall(HopsLORExchangeValues(lor, c));
    PetscCall((*ops->SetDiagonal)(lor->kernel, &lor->rows, sp->ness, sp->bessT, NULL));
    if (lor->nc > 1) PetscCall((*ops->WidenValues)(lor->kernel, &lor->rows, lor->nc, c, lor->fixed, &lor->wide));
  }
  PetscCall(HopsLORWait(lor));
  PetscCall(HopsLORUpdateMat(lor));
  PetscCall(PetscLogEventEnd(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  PetscCall(HopsLORCheckZero(lor));
  PetscCall(HopsLORWarn(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
