/* Host back end: the low-order-refined matrix as an object; vertex data, masks, values. */
#include <backend/host/lor/hostlorimpl.h>

/* ---- Vertex data ---- */

static PetscErrorCode HopsHostLORVertexDestroy(HopsLORAssembler lor, HopsLORVertexData *data)
{
  HopsLORVertexData d = *data;

  PetscFunctionBegin;
  *data = NULL;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree3(d->offset, d->pairs, d->mask));
  PetscCall(PetscFree(d->mem));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for all values that there may be: what is not written to takes none */
static PetscErrorCode VertexCreate(HopsLORKernel k, PetscBool derivative, PetscBool field, HopsLORVertexData *data)
{
  const size_t      nb   = ((size_t)k->space->ncells + k->W - 1) / k->W;
  const int         full = k->dim * (k->dim + 1) / 2;
  HopsLORVertexData d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  *data = d;
  if (k->family == HOPS_H1) {
    d->nd = derivative ? full : 0;
    d->nm = field ? 1 : 0;
  } else {
    d->nd = derivative ? HopsFamilyTensorSize(k->dfamily, k->dim) : 0;
    d->nm = field ? HopsFamilyTensorSize(k->family, k->dim) : 0;
  }
  PetscCall(PetscMalloc3(nb, &d->offset, nb, &d->pairs, k->space->ncells, &d->mask));
  PetscCall(HopsHostAlloc(nb * k->W * k->nn * (d->nd + d->nm), PETSC_FALSE, &d->mem, &d->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel as piece t has it */
static struct _HopsLORKernel PieceKernel(const struct _HopsLORKernel *k, int t)
{
  struct _HopsLORKernel mine = *k;

  if (k->G) mine.G += t * k->scratch;
  if (k->hung) mine.hung += t * k->nhung;
  mine.map.work += t * k->map.nwork;
  return mine;
}

/* Of a run that begins with a batch. A piece writes where its values are even if all before it keep all of
   theirs */
static void VertexPieces(HopsLORKernel k, HopsHostRun *run, PetscBool mixed, double tol, double droptol, HopsLORVertexData d)
{
  void (*vertex)(HopsLORKernel, HopsHostRun *, PetscBool, double, double, HopsLORVertexData) =
    k->family == HOPS_H1 ? k->ops->lor->vertex : k->ops->lor->derhamvertex;

  if (k->T == 1) {
    vertex(k, run, mixed, tol, droptol, d);
    return;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < k->T; t++) {
    struct _HopsLORKernel     mine = PieceKernel(k, t);
    struct _HopsLORVertexData data = *d;
    HopsHostRun               piece;
    HopsValues                values[2];

    HopsHostRunPiece(run, 0, k->W, t, k->T, &piece, values);
    data.size = (size_t)piece.first * k->nn * (d->nd + d->nm);
    if (piece.n) vertex(&mine, &piece, mixed, tol, droptol, &data);
    HopsHostRunBad(&piece, run);
  }
}

static PetscErrorCode HopsHostLORVertexData(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *derivative,
                                            const HopsValues *field, PetscBool mixed, PetscReal tol, PetscReal droptol,
                                            HopsLORVertexData *data, PetscInt *bad)
{
  HopsLORKernel k   = (HopsLORKernel)lor;
  HopsHostRun   run = {first, n, derivative, field, -1, 0};

  PetscFunctionBegin;
  PetscCheck(first % k->W == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Runs begin with a batch");
  if (!first) {
    PetscCall(HopsHostLORVertexDestroy(lor, data));
    PetscCall(VertexCreate(k, derivative->nc ? PETSC_TRUE : PETSC_FALSE, field->nc ? PETSC_TRUE : PETSC_FALSE, data));
  }
  if (n > 0) VertexPieces(k, &run, mixed, tol, droptol, *data);
  *bad = run.bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A term that comes or goes makes other matrices of cells in families other than H1 */
static PetscErrorCode HopsHostLORCompareMasks(HopsLORAssembler lor, HopsLORVertexData d, PetscBool adopt, PetscBool *covered,
                                              PetscBool *coupled)
{
  HopsLORKernel   k        = (HopsLORKernel)lor;
  const PetscBool h1       = k->family == HOPS_H1 ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool terms[2] = {!h1 && d && d->nd ? PETSC_TRUE : PETSC_FALSE, !h1 && d && d->nm ? PETSC_TRUE : PETSC_FALSE};
  const PetscBool same     = k->terms[0] == terms[0] && k->terms[1] == terms[1] ? PETSC_TRUE : PETSC_FALSE;
  unsigned char   lacks = 0, some = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k->space->ncells; c++) {
    const unsigned char m = d ? d->mask[c] : (k->dim == 2 ? 1 : 7);

    lacks |= m & ~k->mask[c];
    some |= m;
    if (adopt) k->mask[c] = (unsigned short)((k->mask[c] & ~7u) | m);
  }
  *covered = same && !lacks ? PETSC_TRUE : PETSC_FALSE;
  *coupled = some ? PETSC_TRUE : PETSC_FALSE;
  if (!adopt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORRowsReset(k));
  if (!same) PetscCall(HopsHostLORCellsDestroy(k));
  k->terms[0] = terms[0];
  k->terms[1] = terms[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsHostLORMergeMasks(HopsLORAssembler lor, HopsLORVertexData d, HopsLORVertexData from)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < ((HopsLORKernel)lor)->space->ncells; c++) d->mask[c] |= from->mask[c];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Values ---- */

static void ValuePieces(HopsLORKernel k, HopsLORVertexData d, double vals[])
{
  void (*values)(const struct _HopsLORKernel *, const struct _HopsLORVertexData *, PetscInt, PetscInt, double[]) =
    k->family == HOPS_H1 ? k->ops->lor->values : k->ops->lor->formvalues;
  const PetscInt n = k->space->ncells;

  HOPS_EACH_PIECE
  for (int t = 0; t < k->T; t++) {
    const struct _HopsLORKernel mine = PieceKernel(k, t);

    values(&mine, d, HopsHostPiece(n, k->W, t, k->T), HopsHostPiece(n, k->W, t + 1, k->T), vals);
  }
  if (k->T > 1) HopsHostLORMeetAdd(k, vals);
}

static PetscErrorCode HopsHostLORFillValues(HopsLORAssembler lor, HopsLORVertexData d, HopsLORRows *rows, HopsLORRows *ghosts)
{
  HopsLORKernel k    = (HopsLORKernel)lor;
  PetscReal    *vals = rows->v[0] - rows->before;
  const size_t  all  = rows->before + rows->nnz[0] + rows->nnz[1];
  int           n    = 0;

  PetscFunctionBegin;
  if (k->T > 1 && k->begin) PetscCall(HopsHostLORMeet(k, (int)all));
  PetscCall(PetscFree(k->begin)); /* no more rows are made */
  PetscCall(PetscFree(k->entry));
  for (int m = 0; m < 8; m++) n = PetscMax(n, k->cell[m].n); /* kinds without hanging nodes */
  if (k->nhang > 1) PetscCall(HopsHostLORHangScratch(k));
  if (k->family != HOPS_H1 && (size_t)n > k->nG) {
    PetscCall(PetscFree(k->mem[0]));
    k->nG      = (size_t)n;
    k->scratch = HopsHostAligned(k->nG * k->W);
    PetscCall(HopsHostAlloc(k->scratch * k->T, PETSC_FALSE, &k->mem[0], &k->G));
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < k->T; t++) {
    const size_t first = all * t / k->T, last = all * (t + 1) / k->T;

    memset(vals + first, 0, (last - first) * sizeof(*vals));
  }
  ValuePieces(k, d, vals);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Several components ---- */

static PetscErrorCode HopsHostLORWidenRows(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, HopsLORRows *wide)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2 && rows->i[b]; b++) {
    int k = 0;

    for (PetscInt r = 0; r < rows->n; r++)
      for (int c = 0; c < nc; c++) {
        wide->i[b][r * nc + c] = k;
        for (int e = rows->i[b][r]; e < rows->i[b][r + 1]; e++) wide->j[b][k++] = rows->j[b][e] * (int)nc + c;
      }
    wide->i[b][rows->n * nc] = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsHostLORWidenValues(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, PetscInt c,
                                             unsigned char *const fixed[2], HopsLORRows *wide)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2 && rows->i[b]; b++)
    for (PetscInt r = 0; r < rows->n; r++) {
      const int       n = rows->i[b][r + 1] - rows->i[b][r], *j = rows->j[b] + rows->i[b][r];
      const double   *v   = rows->v[b] + rows->i[b][r];
      double         *out = wide->v[b] + wide->i[b][r * nc + c];
      const PetscBool row = fixed[0] && fixed[0][r] >> c & 1 ? PETSC_TRUE : PETSC_FALSE;

      for (int e = 0; e < n; e++) out[e] = row ? (!b && j[e] == r ? 1.0 : 0.0) : (fixed[b] && fixed[b][j[e]] >> c & 1 ? 0.0 : v[e]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Life cycle ---- */

static PetscErrorCode HopsHostLORDestroy(HopsLORAssembler *lor)
{
  HopsLORKernel k = (HopsLORKernel)*lor;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORRowsReset(k));
  PetscCall(HopsHostLORCellsDestroy(k));
  PetscCall(HopsHostLORHangDestroy(k));
  PetscCall(PetscFree(k->cell));
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree3(k->h, k->m, k->r));
  PetscCall(PetscFree(k->mask));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsLOROps HopsLORHost = {.VertexData    = HopsHostLORVertexData,
                                       .VertexDestroy = HopsHostLORVertexDestroy,
                                       .CompareMasks  = HopsHostLORCompareMasks,
                                       .MergeMasks    = HopsHostLORMergeMasks,
                                       .CountRows     = HopsHostLORCountRows,
                                       .FillColumns   = HopsHostLORFillColumns,
                                       .MapColumns    = HopsHostLORMapColumns,
                                       .FillValues    = HopsHostLORFillValues,
                                       .AddReceived   = HopsHostLORAddReceived,
                                       .SetDiagonal   = HopsHostLORSetDiagonal,
                                       .FindZero      = HopsHostLORFindZero,
                                       .WidenRows     = HopsHostLORWidenRows,
                                       .WidenValues   = HopsHostLORWidenValues,
                                       .Destroy       = HopsHostLORDestroy};

/* What H1 alone has: 1D tables, and scratch for the factors of a batch */
static PetscErrorCode SetUpH1(HopsLORKernel k)
{
  const HopsBasis *gll = k->gll;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(k->P - 1, &k->h, k->P, &k->m, k->P, &k->r));
  for (int i = 0; i < k->P - 1; i++) k->h[i] = gll->nodes[i + 1] - gll->nodes[i];
  for (int i = 0; i < k->P; i++) k->m[i] = ((i ? k->h[i - 1] : 0) + (i < k->P - 1 ? k->h[i] : 0)) / 2;
  for (int i = 0; i < k->P; i++) k->r[i] = gll->weights[i] / k->m[i];
  k->nG      = (size_t)k->nn * (k->dim * (k->dim + 1) / 2 + 1);
  k->scratch = HopsHostAligned(k->nG * k->W);
  PetscCall(HopsHostAlloc(k->scratch * k->T, PETSC_TRUE, &k->mem[0], &k->G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORCreate_Host(HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
{
  HopsLORKernel k;

  PetscFunctionBegin;
  PetscCheck(space->dim == 2 || space->dim == 3, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes dimensions 2 and 3, not %" PetscInt_FMT, space->dim);
  PetscCheck(gll->collocated && gll->P == space->order + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The low-order-refined matrix needs the collocated basis of the space's order");
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(space, &k->ops));
  k->space   = space;
  k->gll     = gll;
  k->family  = space->family;
  k->dfamily = HopsFamilyDerivative(space->family, space->dim);
  k->W       = k->ops->W;
  k->T       = HopsHostThreads();
  k->limit   = INT_MAX;
  k->dim     = (int)space->dim;
  k->P       = (int)gll->P;
  k->nn      = HopsHostPower(k->P, k->dim);
  if (k->family == HOPS_H1) PetscCall(SetUpH1(k));
  PetscCall(PetscCalloc1(space->ncells, &k->mask));
  PetscCall(HopsHostLORHangSetUp(k));
  k->nkinds = 8 * k->nhang;
  PetscCall(PetscCalloc1(k->nkinds, &k->cell));
  PetscCall(HopsHostGeometrySetUp(space, gll, k->W, &k->geom, &k->map, &k->mem[1]));
  if (k->family == HOPS_H1) PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d", k->ops->isa, k->P));
  else PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d, %s", k->ops->isa, k->P, HopsFamilies[k->family]));
  PetscCall(HopsHostNameThreads(sizeof(k->name), k->name));
  k->head.ops    = &HopsLORHost;
  k->head.kernel = k->name;
  *lor           = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
