/* Matrices of the lattice's topology whose rows a device writes: derivatives, and the interpolations of AMS
   and ADS. */
#include <hops/private/hopsdevicematimpl.h>
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsderhamimpl.h>

/* What a matrix is made of meanwhile */
typedef struct {
  HopsDeviceIncidence d;
  HopsLORRows         rows;
  PetscBool           hypre;
  PetscInt            ncols, *cols;               /* columns of block 1, global, ascending */
  int                *cell, *table, *extra, *ess; /* on the device */
} HopsIncidenceWork;

static PetscErrorCode HopsIncidenceAlloc(HopsIncidenceWork *w, size_t n, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (w->hypre) {
    PetscCall(HopsHypreAlloc(n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*w->d.to->backend->memory->PoolMalloc)(n, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsIncidenceFree(HopsIncidenceWork *w, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (w->hypre) {
    PetscCall(HopsHypreFree(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*w->d.to->backend->memory->PoolFree)(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsIncidenceCopy(HopsSpace sp, size_t n, const int x[], int **y)
{
  PetscFunctionBegin;
  PetscCall((*sp->backend->memory->PoolMalloc)(n * sizeof(int), (void **)y));
  PetscCall((*sp->backend->memory->Copy)(NULL, *y, x, n * sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of block 1's columns: the ghosts in use, which ascend */
static PetscErrorCode HopsIncidenceColumns(HopsIncidenceWork *w, const unsigned char used[])
{
  HopsSpace from = w->d.from;
  int      *map;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(from->nG, &w->cols));
  PetscCall(PetscMalloc1(from->nG, &map));
  for (PetscInt g = 0; g < from->nG; ++g) {
    map[g] = (int)w->ncols;
    if (used[g]) w->cols[w->ncols++] = from->ghost[g];
  }
  PetscCall(HopsIncidenceCopy(from, from->nG, map, &w->rows.map));
  PetscCall(PetscFree(map));
  PetscCall((*from->backend->rows->MapColumns)(&w->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of n columns each, without counting; those whose columns coincide (a periodic mesh one cell wide)
   leave it to the other way */
static PetscErrorCode HopsIncidenceFullRows(HopsIncidenceWork *w, PetscBool *ok)
{
  HopsSpace          to  = w->d.to;
  const HopsRowsOps *ops = to->backend->rows;
  HopsLORRows       *r   = &w->rows;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)to), &size));
  *ok = size == 1 && !w->d.nextra && !w->d.from->nC && !to->ness && (double)to->nT * w->d.n < INT_MAX ? PETSC_TRUE : PETSC_FALSE;
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  r->n      = to->nT;
  r->split  = INT_MAX;
  r->nnz[0] = (size_t)to->nT * w->d.n;
  PetscCall(HopsIncidenceAlloc(w, (to->nT + 1) * sizeof(int), (void **)&r->i[0]));
  PetscCall(HopsIncidenceAlloc(w, r->nnz[0] * sizeof(int), (void **)&r->j[0]));
  PetscCall(HopsIncidenceAlloc(w, r->nnz[0] * sizeof(PetscReal), (void **)&r->v[0]));
  if (w->hypre) PetscCall((*to->backend->memory->QueueFinish)(NULL));
  PetscCall((*ops->IncidenceFull)(&w->d, r, ok));
  if (*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsIncidenceFree(w, (void **)&r->i[0]));
  PetscCall(HopsIncidenceFree(w, (void **)&r->j[0]));
  PetscCall(HopsIncidenceFree(w, (void **)&r->v[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsIncidenceRows(HopsIncidenceWork *w)
{
  HopsSpace          from = w->d.from, to = w->d.to;
  const HopsRowsOps *ops = to->backend->rows;
  HopsLORRows       *r   = &w->rows;
  unsigned char     *used;
  PetscInt           missing;
  PetscMPIInt        size;
  PetscBool          full;

  PetscFunctionBegin;
  PetscCall(HopsIncidenceFullRows(w, &full));
  if (full) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)to), &size));
  r->n     = to->nT;
  r->split = size > 1 ? from->nT : INT_MAX;
  r->nmap  = from->nG;
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) PetscCall(HopsIncidenceAlloc(w, (to->nT + 1) * sizeof(int), (void **)&r->i[b]));
  if (w->hypre) PetscCall((*to->backend->memory->QueueFinish)(NULL));
  PetscCall((*ops->IncidenceCount)(&w->d, r, &missing));
  PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscInt_FMT
             " unknowns are owned by a rank none of whose cells touch them: let them be owned by a rank with such a cell",
             missing);
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) {
    PetscCall(HopsIncidenceAlloc(w, r->nnz[b] * sizeof(int), (void **)&r->j[b]));
    PetscCall(HopsIncidenceAlloc(w, r->nnz[b] * sizeof(PetscReal), (void **)&r->v[b]));
  }
  if (w->hypre) PetscCall((*to->backend->memory->QueueFinish)(NULL));
  PetscCall(PetscMalloc1(r->nmap, &used));
  PetscCall((*ops->IncidenceFill)(&w->d, r, used));
  if (size > 1) PetscCall(HopsIncidenceColumns(w, used));
  PetscCall(PetscFree(used));
  PetscCall((*to->backend->memory->QueueFinish)(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By way of the process's memory */
static PetscErrorCode HopsIncidenceAIJ(HopsIncidenceWork *w, MatType type, Mat *A)
{
  HopsSpace    from = w->d.from, to = w->d.to;
  HopsLORRows *r    = &w->rows;
  int         *i[2] = {NULL, NULL}, *j[2] = {NULL, NULL};
  PetscReal   *v[2] = {NULL, NULL};
  PetscScalar *a;
  PetscInt    *ia, *ja, n = 0;
  PetscBool    same;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < 2; ++b) {
    if (!r->i[b]) continue;
    PetscCall(PetscMalloc3(to->nT + 1, &i[b], r->nnz[b], &j[b], r->nnz[b], &v[b]));
    PetscCall((*to->backend->memory->Copy)(NULL, i[b], r->i[b], (to->nT + 1) * sizeof(int), HOPS_COPY_OUT));
    PetscCall((*to->backend->memory->Copy)(NULL, j[b], r->j[b], r->nnz[b] * sizeof(int), HOPS_COPY_OUT));
    PetscCall((*to->backend->memory->Copy)(NULL, v[b], r->v[b], r->nnz[b] * sizeof(PetscReal), HOPS_COPY_OUT));
  }
  PetscCall(PetscMalloc3(to->nT + 1, &ia, r->nnz[0] + r->nnz[1], &ja, r->nnz[0] + r->nnz[1], &a));
  ia[0] = 0;
  for (PetscInt l = 0; l < to->nT; ++l) {
    for (PetscInt b = 0; b < 2; ++b)
      for (int k = i[b] ? i[b][l] : 0; k < (i[b] ? i[b][l + 1] : 0); ++k) {
        ja[n]  = b ? w->cols[j[b][k]] : from->rstart + j[b][k];
        a[n++] = v[b][k];
      }
    ia[l + 1] = n;
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)to), A));
  PetscCall(MatSetSizes(*A, to->nT, from->nT, to->N, from->N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, ia, ja, a));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, ia, ja, a));
  PetscCall(PetscStrcmp(type, MATAIJ, &same));
  if (!same) PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscCall(PetscFree3(ia, ja, a));
  for (PetscInt b = 0; b < 2; ++b) PetscCall(PetscFree3(i[b], j[b], v[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsIncidenceDestroyWork(HopsIncidenceWork *w)
{
  const HopsMemoryOps *memory = w->d.to->backend->memory;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < 2 && !w->hypre; ++b) {
    PetscCall((*memory->PoolFree)((void **)&w->rows.i[b]));
    PetscCall((*memory->PoolFree)((void **)&w->rows.j[b]));
    PetscCall((*memory->PoolFree)((void **)&w->rows.v[b]));
  }
  PetscCall((*memory->PoolFree)((void **)&w->rows.map));
  PetscCall((*memory->PoolFree)((void **)&w->cell));
  PetscCall((*memory->PoolFree)((void **)&w->table));
  PetscCall((*memory->PoolFree)((void **)&w->extra));
  PetscCall((*memory->PoolFree)((void **)&w->ess));
  PetscCall(PetscFree(w->cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceMatCreate(HopsSpace from, HopsSpace to, PetscInt n, const int table[], const PetscReal scale[],
                                      PetscInt nextra, const int extra[], MatType type, Mat *A)
{
  HopsIncidenceWork w;
  PetscInt         *cell;
  PetscBool         identity = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&w, sizeof(w)));
  w.d.to    = to;
  w.d.from  = from;
  w.d.n     = (int)n;
  w.d.scale = scale;
#if HOPS_HAVE_HYPRE_DEVICE
  PetscCall(PetscStrcmp(type, MATHYPRE, &w.hypre));
  if (w.hypre) PetscCall(HopsHypreCanWrap(to, from, &w.hypre));
#endif
  if (from->ncells != to->ncells || from->ncaller != to->ncaller || from->cstart != to->cstart) identity = PETSC_FALSE;
  else PetscCall(PetscArraycmp(from->cell, to->cell, to->ncells, &identity));
  if (!identity) {
    int *c32;

    PetscCall(HopsCompanionCells(from, to, &cell));
    PetscCall(PetscMalloc1(to->ncells, &c32));
    for (PetscInt c = 0; c < to->ncells; ++c) c32[c] = (int)cell[c];
    PetscCall(HopsIncidenceCopy(to, to->ncells, c32, &w.cell));
    PetscCall(PetscFree(c32));
    PetscCall(PetscFree(cell));
  }
  PetscCall(HopsIncidenceCopy(to, to->ne * n, table, &w.table));
  PetscCall(HopsIncidenceCopy(to, nextra, extra, &w.extra));
  if (to->ness) {
    int *e32;

    PetscCall(PetscMalloc1(to->ness, &e32));
    for (PetscInt e = 0; e < to->ness; ++e) e32[e] = (int)to->essT[e];
    PetscCall(HopsIncidenceCopy(to, to->ness, e32, &w.ess));
    PetscCall(PetscFree(e32));
  }
  w.d.ness   = to->ness;
  w.d.ess    = w.ess;
  w.d.nextra = nextra;
  w.d.extra  = w.extra;
  w.d.cell   = w.cell;
  w.d.table  = w.table;
  PetscCall(HopsIncidenceRows(&w));
#if HOPS_HAVE_HYPRE_DEVICE
  if (w.hypre) PetscCall(HopsHypreWrap(to, from, 1, &w.rows, w.ncols, w.cols, A));
#endif
  if (!w.hypre) PetscCall(HopsIncidenceAIJ(&w, type, A));
  PetscCall(HopsIncidenceDestroyWork(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDerivativeCreateDevice(HopsSpace from, HopsSpace to, PetscInt nextra, const int extra[], MatType type, Mat *D)
{
  HopsIncidence inc;
  int          *table;
  PetscInt      n = 0;
  char          name[64];

  PetscFunctionBegin;
  if (!type) {
    PetscCall(PetscStrncpy(name, to->kokkosvecs ? MATAIJKOKKOS : HOPS_MATAIJDEVICE, sizeof(name)));
    if (((PetscObject)to)->options) PetscCall(PetscOptionsPush(((PetscObject)to)->options));
    PetscOptionsBegin(PetscObjectComm((PetscObject)to), ((PetscObject)to)->prefix, "Derivatives of hops on a device", "HopsSpace");
    PetscCall(PetscOptionsString("-hops_derivative_mat_type", "Type of gradient, curl and divergence", "HopsSpaceCreateDerivative",
                                 name, name, sizeof(name), NULL));
    PetscOptionsEnd();
    if (((PetscObject)to)->options) PetscCall(PetscOptionsPop());
    type = name;
  }
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  if (from->hanging) {
    PetscCall(HopsLatticeMatCreate(from, to, inc, PETSC_FALSE, D));
    PetscCall(HopsLatticeMatBring(from, to, nextra, extra, type, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < inc.nrows; ++i) n = PetscMax(n, inc.n[i]);
  PetscCall(PetscMalloc1(inc.nrows * n, &table));
  for (PetscInt i = 0; i < inc.nrows; ++i)
    for (PetscInt k = 0; k < n; ++k)
      table[i * n + k] = k < inc.n[i] ? (int)(2 * inc.col[6 * i + k] + (inc.sgn[6 * i + k] < 0.0 ? 1 : 0)) : -1;
  PetscCall(HopsIncidenceDestroy(&inc));
  PetscCall(HopsIncidenceMatCreate(from, to, n, table, NULL, nextra, extra, type, D));
  PetscCall(PetscFree(table));
  PetscFunctionReturn(PETSC_SUCCESS);
}
