/*
  The low-order-refined matrix on a device: the steps of lorpattern.c and lormat.c, with kernels of the
  space's back end in place of loops. Own rows are complete but for what other ranks add to them; only that
  travels, through the process's memory.
*/
#include <hops/private/hopslordeviceimpl.h>

PetscErrorCode HopsLORDeviceDestroyPattern(HopsLOR *lor)
{
  HopsLORDevice      d = lor->device;
  const HopsRowsOps *ops;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  ops = lor->space->backend->rows;
  for (PetscInt b = 0; b < 2; ++b) {
    if (!d->given) {
      PetscCall(HopsLORDeviceFree(lor, (void **)&d->rows.i[b]));
      PetscCall(HopsLORDeviceFree(lor, (void **)&d->rows.j[b]));
      PetscCall(HopsLORDeviceFree(lor, (void **)&d->rows.v[b]));
    }
    PetscCall((*ops->Free)((void **)&d->ghosts.i[b]));
    PetscCall((*ops->Free)((void **)&d->ghosts.j[b]));
    PetscCall((*ops->Free)((void **)&d->ghosts.v[b]));
  }
  PetscCall((*ops->Free)((void **)&d->rows.place));
  PetscCall((*ops->Free)((void **)&d->ghosts.place));
  PetscCall((*ops->Free)((void **)&d->rows.slotrow));
  PetscCall((*ops->Free)((void **)&d->rows.slot));
  PetscCall((*ops->Free)((void **)&d->rows.xi));
  PetscCall((*ops->Free)((void **)&d->rows.xj));
  PetscCall((*ops->Free)((void **)&d->rows.map));
  PetscCall((*ops->Free)((void **)&d->xvals));
  PetscCall(PetscFree(d->gvals));
  PetscCall(PetscFree(d->cols));
  PetscCall(PetscMemzero(&d->rows, sizeof(d->rows)));
  PetscCall(PetscMemzero(&d->ghosts, sizeof(d->ghosts)));
  d->given = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceDestroy(HopsLOR *lor)
{
  PetscFunctionBegin;
  PetscCall(HopsLORDeviceDestroyPattern(lor));
  PetscCall(PetscFree(lor->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- vertex data ---------------------------------------- */

/* The error for a cell that the device found; it keeps no determinants */
static PetscErrorCode HopsLORDeviceErrorCell(HopsLOR *lor, PetscInt cell)
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

static PetscErrorCode HopsLORDeviceVertexData(HopsLOR *lor, HopsForm form, PetscBool mixed)
{
  HopsSpace          sp  = lor->space;
  const HopsRowsOps *ops = sp->backend->rows;
  const PetscInt     nq  = HopsPower(sp->order + 1, sp->dim);
  const PetscInt     run = HopsLORFewValues(HopsFormDerivative(form)) && HopsLORFewValues(HopsFormValue(form))
                             ? PetscMax(sp->ncells, 1)
                             : PetscMax(64, sp->backend->runpoints / nq);
  size_t             ks = 0, ms = 0;
  PetscScalar       *kw = NULL, *mw = NULL;

  PetscFunctionBegin;
  lor->negative[0] = lor->negative[1] = PETSC_FALSE;
  for (PetscInt c = 0; !c || c < sp->ncells; c += run) {
    const PetscInt n = PetscMin(run, sp->ncells - c);
    HopsValues     k, m;
    PetscInt       bad;

    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(form), sp, &lor->inner, c, n, &ks, &kw, &k));
    PetscCall(HopsCoefficientEvaluate(HopsFormValue(form), sp, &lor->inner, c, n, &ms, &mw, &m));
    if (n) PetscCall(HopsLORCheckSign(&k, sp->dim, n, nq, PETSC_FALSE, &lor->negative[0]));
    if (n) PetscCall(HopsLORCheckSign(&m, sp->dim, n, nq, PETSC_TRUE, &lor->negative[1]));
    PetscCall((*ops->VertexData)(lor->kernel, c, n, &k, &m, mixed, HOPS_LOR_TOL, lor->droptol, &bad));
    if (bad >= 0) PetscCall(HopsLORDeviceErrorCell(lor, bad));
  }
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Vertex data of the form, and whether the pattern holds its couplings. Where it does not, the pattern is
  dropped. A pattern without couplings takes data without off-diagonal factors, which a second pass adds where
  they turn out to be there.
*/
PetscErrorCode HopsLORDeviceCheckCouplings(HopsLOR *lor, HopsForm form, PetscBool *fits)
{
  HopsSpace          sp  = lor->space;
  const HopsRowsOps *ops = sp->backend->rows;
  PetscBool          mixed, ok, coupled;

  PetscFunctionBegin;
  if (!lor->device) PetscCall(PetscNew(&lor->device));
  mixed = lor->mat ? lor->device->coupled : PETSC_TRUE;
  PetscCall(HopsLORDeviceVertexData(lor, form, mixed));
  PetscCall((*ops->CompareMasks)(lor->kernel, PETSC_FALSE, &ok, &coupled));
  if (!lor->mat) ok = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(&ok, fits, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
  if (!*fits) {
    PetscCall(HopsLORDestroyPattern(lor));
    PetscCall((*ops->CompareMasks)(lor->kernel, PETSC_TRUE, &ok, &coupled));
    lor->device->coupled = coupled;
    if (coupled && !mixed) PetscCall(HopsLORDeviceVertexData(lor, form, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ pattern ------------------------------------------ */

static PetscErrorCode HopsLORDeviceCopyInts(HopsLOR *lor, PetscInt n, const int x[], int **y)
{
  PetscFunctionBegin;
  PetscCall((*lor->space->backend->rows->Malloc)(n * sizeof(int), (void **)y));
  PetscCall((*lor->space->backend->memory->Copy)(NULL, *y, x, n * sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghost rows are assembled like owned ones; their pattern goes to the process's memory, with global columns:
   *gi [nG+1], *gj */
static PetscErrorCode HopsLORDeviceGhostPattern(HopsLOR *lor, PetscInt *gi[], PetscInt *gj[])
{
  HopsSpace          sp  = lor->space;
  const HopsRowsOps *ops = sp->backend->rows;
  HopsLORRows       *g   = &lor->device->ghosts;
  int               *i, *j;

  PetscFunctionBegin;
  g->first   = sp->nT;
  g->n       = sp->nG;
  g->split   = INT_MAX;
  g->coupled = lor->device->coupled;
  PetscCall((*ops->Malloc)((g->n + 1) * sizeof(int), (void **)&g->i[0]));
  PetscCall((*ops->CountRows)(lor->kernel, g));
  PetscCall((*ops->Malloc)(g->nnz[0] * sizeof(int), (void **)&g->j[0]));
  PetscCall((*ops->Malloc)(g->nnz[0] * sizeof(PetscScalar), (void **)&g->v[0]));
  PetscCall((*ops->FillColumns)(lor->kernel, g, NULL));
  PetscCall(PetscMalloc2(g->n + 1, &i, g->nnz[0], &j));
  PetscCall(PetscMalloc1(g->n + 1, gi));
  PetscCall(PetscMalloc1(g->nnz[0], gj));
  PetscCall((*sp->backend->memory->Copy)(NULL, i, g->i[0], (g->n + 1) * sizeof(int), HOPS_COPY_OUT));
  PetscCall((*sp->backend->memory->Copy)(NULL, j, g->j[0], g->nnz[0] * sizeof(int), HOPS_COPY_OUT));
  for (PetscInt k = 0; k <= g->n; ++k) (*gi)[k] = i[k];
  for (size_t k = 0; k < g->nnz[0]; ++k) (*gj)[k] = j[k] < sp->nT ? sp->rstart + j[k] : sp->ghost[j[k] - sp->nT];
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Received entries by row. Their columns get numbers as the rows know them: L indices, and behind these the
  columns that no cell of this rank touches, foreign[*nforeign] (global, ascending).
*/
static PetscErrorCode HopsLORDeviceReceived(HopsLOR *lor, const PetscInt rrow[], const PetscInt rcol[], PetscInt *nforeign,
                                            PetscInt *foreign[])
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;
  PetscInt     nf = 0, *f;
  int         *row, *xi, *xj;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(lor->nr, &f));
  PetscCall(PetscMalloc3(lor->nr, &row, lor->nr + 1, &xi, lor->nr, &xj));
  for (PetscInt k = 0; k < lor->nr; ++k) {
    PetscInt where = 0;

    if (rcol[k] < sp->rstart || rcol[k] >= sp->rstart + sp->nT) PetscCall(PetscFindInt(rcol[k], sp->nG, sp->ghost, &where));
    if (where < 0) f[nf++] = rcol[k];
  }
  PetscCall(PetscSortRemoveDupsInt(&nf, f));
  r->nslots = 0;
  for (PetscInt k = 0; k < lor->nr; ++k) {
    PetscInt where;

    if (!k || rrow[k] != rrow[k - 1]) {
      row[r->nslots]  = (int)rrow[k];
      xi[r->nslots++] = (int)k;
    }
    if (rcol[k] >= sp->rstart && rcol[k] < sp->rstart + sp->nT) xj[k] = (int)(rcol[k] - sp->rstart);
    else {
      PetscCall(PetscFindInt(rcol[k], sp->nG, sp->ghost, &where));
      if (where >= 0) xj[k] = (int)(sp->nT + where);
      else {
        PetscCall(PetscFindInt(rcol[k], nf, f, &where));
        xj[k] = (int)(sp->nT + sp->nG + where);
      }
    }
  }
  xi[r->nslots] = (int)lor->nr;
  if (r->nslots) {
    PetscCall(HopsLORDeviceCopyInts(lor, r->nslots, row, &r->slotrow));
    PetscCall(HopsLORDeviceCopyInts(lor, r->nslots + 1, xi, &r->xi));
    PetscCall(HopsLORDeviceCopyInts(lor, lor->nr, xj, &r->xj));
    PetscCall((*sp->backend->rows->Malloc)(sp->nT * sizeof(int), (void **)&r->slot));
    PetscCall((*sp->backend->rows->Malloc)(lor->nr * sizeof(PetscScalar), (void **)&lor->device->xvals));
  }
  PetscCall(PetscFree3(row, xi, xj));
  *nforeign = nf;
  *foreign  = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of block 1: those in use among ghosts and foreign ones, ascending by global index */
static PetscErrorCode HopsLORDeviceNumberColumns(HopsLOR *lor, const unsigned char used[], PetscInt nf, const PetscInt foreign[])
{
  HopsSpace      sp = lor->space;
  HopsLORDevice  d  = lor->device;
  const PetscInt nG = sp->nG;
  int           *map;

  PetscFunctionBegin;
  d->ncols = 0;
  PetscCall(PetscMalloc1(nG + nf, &d->cols));
  PetscCall(PetscMalloc1(nG + nf, &map));
  for (PetscInt g = 0, f = 0; g < nG || f < nf;) { /* merge */
    const PetscInt k = f == nf || (g < nG && sp->ghost[g] < foreign[f]) ? g : nG + f;

    map[k] = (int)d->ncols;
    if (used[k]) d->cols[d->ncols++] = k < nG ? sp->ghost[g] : foreign[f];
    if (k < nG) ++g;
    else ++f;
  }
  PetscCall(HopsLORDeviceCopyInts(lor, nG + nf, map, &d->rows.map));
  PetscCall(PetscFree(map));
  PetscCall((*sp->backend->rows->MapColumns)(lor->kernel, &d->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORDeviceOwnPattern(HopsLOR *lor, PetscInt nf, const PetscInt foreign[])
{
  HopsSpace          sp  = lor->space;
  const HopsRowsOps *ops = sp->backend->rows;
  HopsLORRows       *r   = &lor->device->rows;
  unsigned char     *used;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  r->first   = 0;
  r->n       = sp->nT;
  r->split   = size > 1 ? sp->nT : INT_MAX;
  r->nmap    = sp->nG + nf;
  r->coupled = lor->device->coupled;
  r->sorted  = lor->device->target == HOPS_LOR_HYPRE ? PETSC_FALSE : PETSC_TRUE;
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b)
    PetscCall(HopsLORDeviceAlloc(lor, (sp->nT + 1) * sizeof(int), (void **)&r->i[b]));
  PetscCall((*ops->Wait)(lor->kernel));
  PetscCall((*ops->CountRows)(lor->kernel, r));
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) {
    PetscCall(HopsLORDeviceAlloc(lor, r->nnz[b] * sizeof(int), (void **)&r->j[b]));
    PetscCall(HopsLORDeviceAlloc(lor, r->nnz[b] * sizeof(PetscScalar), (void **)&r->v[b]));
  }
  PetscCall((*ops->Wait)(lor->kernel));
  PetscCall(PetscMalloc1(r->nmap, &used));
  PetscCall((*ops->FillColumns)(lor->kernel, r, used));
  if (size > 1) PetscCall(HopsLORDeviceNumberColumns(lor, used, nf, foreign));
  PetscCall(PetscFree(used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the matrix on the pattern of the vertex data's masks; its values are not set until
   HopsLORDeviceNumeric() */
PetscErrorCode HopsLORDeviceSymbolic(HopsLOR *lor, MatType type)
{
  HopsSpace      sp = lor->space;
  PetscInt      *gi, *gj, *rrow, *rcol, nf = 0, *foreign = NULL;
  PetscMPIInt    size;
  PetscLogDouble nnz;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall(HopsLORDeviceSetTarget(lor, type));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  if (size > 1) {
    PetscCall(HopsLORDeviceGhostPattern(lor, &gi, &gj));
    PetscCall(HopsLORGhostRows(lor, gi, gj, &rrow, &rcol));
    PetscCall(HopsLORDeviceReceived(lor, rrow, rcol, &nf, &foreign));
    PetscCall(PetscMalloc1(lor->ng, &lor->device->gvals));
    PetscCall(PetscMalloc1(lor->nr, &lor->rvals));
    PetscCall(PetscFree(gi));
    PetscCall(PetscFree(gj));
    PetscCall(PetscFree(rrow));
    PetscCall(PetscFree(rcol));
  }
  PetscCall(HopsLORDeviceOwnPattern(lor, nf, foreign));
  PetscCall(PetscFree(foreign));
  nnz = (PetscLogDouble)(lor->device->rows.nnz[0] + lor->device->rows.nnz[1]);
  PetscCallMPI(MPI_Allreduce(&nnz, &lor->nnz, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscCall((*sp->backend->rows->Wait)(lor->kernel));
  PetscCall(HopsLORDeviceCreateMat(lor));
  PetscCall(PetscLogEventEnd(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- values ------------------------------------------- */

/* Robin terms: masses at the nodes of the faces, with Gauss-Lobatto weights, summed by unknown in the order
   of the faces, then added to the diagonal */
static PetscErrorCode HopsLORDeviceAddFacets(HopsLOR *lor, const HopsFacets r, HopsCoefficient alpha)
{
  HopsSpace      sp = lor->space;
  const PetscInt P = sp->order + 1, nf = HopsPower(P, sp->dim - 1), np = HopsPower(P, sp->dim), nfree = sp->nT + sp->nG;
  PetscInt      *node, *idx, *didx = NULL, n = 0, m = 0;
  PetscScalar   *a, *x, *dx = NULL;
  PetscReal     *w = lor->gll.weights;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(r->n * nf, &a, r->n * nf, &x, r->n * nf, &idx, nf, &node));
  PetscCall(HopsFaceEvaluate(sp, &lor->inner, r->n, r->cells, r->faces, alpha, a));
  for (PetscInt f = 0; f < r->n; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i) {
      const PetscInt l = sp->restr[r->cells[f] * np + node[i]];

      if (l >= nfree) continue;
      idx[n] = l;
      x[n++] = a[f * nf + i] * w[i % P] * (sp->dim == 3 ? w[i / P] : 1.0);
    }
  }
  PetscCall(PetscSortIntWithScalarArray(n, idx, x));
  for (PetscInt k = 0; k < n; ++k) {
    if (m && idx[m - 1] == idx[k]) x[m - 1] += x[k];
    else {
      idx[m] = idx[k];
      x[m++] = x[k];
    }
  }
  PetscCall((*sp->backend->memory->Malloc)(m * sizeof(PetscInt), (void **)&didx));
  PetscCall((*sp->backend->memory->Malloc)(m * sizeof(PetscScalar), (void **)&dx));
  PetscCall((*sp->backend->memory->Copy)(NULL, didx, idx, m * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall((*sp->backend->memory->Copy)(NULL, dx, x, m * sizeof(PetscScalar), HOPS_COPY_IN));
  PetscCall((*sp->backend->rows->SetDiagonal)(lor->kernel, &lor->device->rows, m, didx, dx));
  if (lor->device->ghosts.n) PetscCall((*sp->backend->rows->SetDiagonal)(lor->kernel, &lor->device->ghosts, m, didx, dx));
  PetscCall((*sp->backend->memory->Free)((void **)&didx));
  PetscCall((*sp->backend->memory->Free)((void **)&dx));
  PetscCall(PetscFree4(a, x, idx, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of the vertex data that HopsLORDeviceCheckCouplings() left, which are dropped */
PetscErrorCode HopsLORDeviceNumeric(HopsLOR *lor, HopsForm form)
{
  const HopsIntegral *in;
  HopsSpace           sp  = lor->space;
  HopsLORDevice       d   = lor->device;
  const HopsRowsOps  *ops = sp->backend->rows;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  PetscCall((*ops->FillValues)(lor->kernel, &d->rows));
  if (d->ghosts.i[0]) PetscCall((*ops->FillValues)(lor->kernel, &d->ghosts));
  PetscCall((*ops->FreeVertexData)(lor->kernel));
  for (PetscInt i = 0; (in = HopsFormNext(form, HOPS_BOUNDARY, &i));)
    PetscCall(HopsLORDeviceAddFacets(lor, in->facets, in->coefficient));
  if (lor->exchange) {
    PetscCall((*sp->backend->memory->Copy)(NULL, d->gvals, d->ghosts.v[0], lor->ng * sizeof(PetscScalar), HOPS_COPY_OUT));
    PetscCall(HopsLORExchangeEntries(lor->exchange, MPIU_SCALAR, sizeof(PetscScalar), d->gvals, lor->rvals));
    PetscCall((*sp->backend->memory->Copy)(NULL, d->xvals, lor->rvals, lor->nr * sizeof(PetscScalar), HOPS_COPY_IN));
    PetscCall((*ops->AddReceived)(lor->kernel, &d->rows, d->xvals));
  }
  PetscCall((*ops->SetDiagonal)(lor->kernel, &d->rows, sp->ness, sp->bessT, NULL));
  PetscCall((*ops->Wait)(lor->kernel));
  PetscCall(HopsLORDeviceUpdateMat(lor));
  PetscCall(PetscLogEventEnd(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  PetscCall(HopsLORWarn(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
