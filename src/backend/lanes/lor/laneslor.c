/* The low-order-refined matrix of back ends that launch kernels for teams of lanes. Rows are assembled by
   their owners from data at the vertices of the sub-cells. */
#include <backend/lanes/operator/lanesoperator.h>
#include "laneslump.h"

/* ---- Memory of the back end, and copies ---- */

static PetscErrorCode Malloc(HopsLanesLOR k, size_t n, void **p)
{
  return (*k->kernels->backend->memory->PoolMalloc)(n, p);
}

static PetscErrorCode Free(HopsLanesLOR k, void **p)
{
  return (*k->kernels->backend->memory->PoolFree)(p);
}

static PetscErrorCode CopyIn(HopsLanesLOR k, void *dst, const void *src, size_t n)
{
  return (*k->kernels->backend->memory->Copy)(NULL, dst, src, n, HOPS_COPY_IN);
}

static PetscErrorCode CopyOut(HopsLanesLOR k, void *dst, const void *src, size_t n)
{
  return (*k->kernels->backend->memory->Copy)(NULL, dst, src, n, HOPS_COPY_OUT);
}

/* GPU time in the log */
static PetscErrorCode TimeBegin(HopsLanesLOR k)
{
  return k->kernels->backend->host ? PETSC_SUCCESS : PetscLogGpuTimeBegin();
}

static PetscErrorCode TimeEnd(HopsLanesLOR k)
{
  return k->kernels->backend->host ? PETSC_SUCCESS : PetscLogGpuTimeEnd();
}

/* ---- Life cycle. Nothing is put on the device before the first vertex data are asked for. ---- */

static PetscErrorCode FreeCoefficients(HopsLanesLOR k)
{
  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) {
    PetscCall(Free(k, &k->coef[i]));
    k->coefsize[i] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VertexDestroy(HopsLORAssembler lor, HopsLORVertexData *data)
{
  HopsLanesLOR      k = (HopsLanesLOR)lor;
  HopsLORVertexData d = *data;

  PetscFunctionBegin;
  *data = NULL;
  PetscCall(FreeCoefficients(k));
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Free(k, (void **)&d->v.v));
  PetscCall(Free(k, (void **)&d->mask));
  PetscCall(Free(k, &d->numbers));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(HopsLORAssembler *kernel)
{
  HopsLanesLOR k = (HopsLanesLOR)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FreeCoefficients(k));
  if (k->lump) PetscCall(HopsLumpDestroy(k));
  PetscCall(HopsLORHangDestroy(k));
  PetscCall(Free(k, (void **)&k->tables));
  PetscCall(Free(k, (void **)&k->ijk));
  PetscCall(Free(k, (void **)&k->begin));
  PetscCall(Free(k, (void **)&k->entry));
  PetscCall(Free(k, (void **)&k->bad));
  PetscCall(Free(k, (void **)&k->mask));
  PetscCall(Free(k, (void **)&k->own));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(k->gll));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tables: derivatives at the nodes, the element map's basis and derivatives there, lumped masses, inverse
   widths */
static PetscErrorCode SetUp(HopsLanesLOR k)
{
  HopsSpace         sp = k->space;
  HopsLanesLORMesh *m  = &k->mesh;
  const int     P = k->P, Pg = k->Pg, nC = P * P, nB = P * Pg, nfree = (int)(sp->nT + sp->nG), nl = k->lump ? nfree : (int)sp->nL;
  const double *z = k->gll + nC;
  const PetscReal *X;
  const size_t     ne = (size_t)sp->ncells * sp->ne;
  double          *h;
  int             *ijk, twice;

  PetscFunctionBegin;
  if (k->tables) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(ne < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "The cells of a rank have more than 2^31 unknowns: use more ranks");
  PetscCall(PetscMalloc1(nC + 2 * nB + 3 * P, &h));
  PetscCall(PetscArraycpy(h, k->gll, nC));
  PetscCall(PetscArraycpy(h + nC, k->geom.B, nB));
  PetscCall(PetscArraycpy(h + nC + nB, k->geom.D, nB));
  for (int i = 0; i < P; i++) {
    h[nC + 2 * nB + i]         = ((i ? z[i] - z[i - 1] : 0) + (i < P - 1 ? z[i + 1] - z[i] : 0)) / 2;
    h[nC + 2 * nB + P + i]     = i < P - 1 ? 1 / (z[i + 1] - z[i]) : 0;
    h[nC + 2 * nB + 2 * P + i] = z[P + i] / h[nC + 2 * nB + i];
  }
  PetscCall(Malloc(k, (nC + 2 * nB + 3 * P) * sizeof(double), (void **)&k->tables));
  PetscCall(CopyIn(k, k->tables, h, (nC + 2 * nB + 3 * P) * sizeof(double)));
  PetscCall(PetscFree(h));
  PetscCall(PetscMalloc1(k->nn, &ijk));
  for (int v = 0; v < k->nn; v++) ijk[v] = v % P + (v / P % P << 8) + (v / (P * P) << 16);
  PetscCall(Malloc(k, k->nn * sizeof(int), (void **)&k->ijk));
  PetscCall(CopyIn(k, k->ijk, ijk, k->nn * sizeof(int)));
  PetscCall(PetscFree(ijk));
  m->ijk      = k->ijk;
  m->perentry = 1.0 / k->nn;
  m->ncells   = (int)sp->ncells;
  m->dim      = (int)sp->dim;
  m->P        = P;
  m->nn       = k->nn;
  m->nfree    = nfree;
  m->hinv     = k->tables + nC + 2 * nB + P;
  PetscCall(HopsSpaceGetBackendMesh(sp, &m->restr, &X));
  PetscCall(Malloc(k, 4 * sizeof(int), (void **)&k->bad));
  PetscCall(Malloc(k, sp->ncells, (void **)&k->mask));
  PetscCall(Malloc(k, (nl + 1) * sizeof(int), (void **)&k->begin));
  PetscCall((*k->kernels->Set)(k->bad, 0, sizeof(int)));
  PetscCall(Malloc(k, ne * sizeof(int), (void **)&k->entry));
  m->begin = k->begin;
  m->entry = k->entry;
  m->mask  = k->mask;
  /* with hanging nodes the pattern's masks say which entries these are; such meshes are not periodic */
  if (!k->hang) PetscCall((*k->kernels->Transpose)(ne, m->restr, nl, k->begin, k->entry));
  if (ne && nl && !k->hang) PetscCall((*k->kernels->FindTwice)(m, nl, (int)sp->ne, k->lump ? PETSC_FALSE : PETSC_TRUE, k->bad));
  PetscCall(CopyOut(k, &twice, k->bad, sizeof(int)));
  m->twice = twice;
  PetscCall((*k->kernels->Set)(k->mask, 0, sp->ncells));
  if (k->lump) PetscCall(HopsLumpSetUp(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Vertex data ---- */

/* unless the values lie where the back end works */
static PetscErrorCode CopyCoefficient(HopsLanesLOR k, int i, const HopsValues *v, PetscInt n, const double **out)
{
  const size_t size =
    (v->cstride ? (size_t)n * v->cstride : (v->pstride ? (size_t)k->nn * v->pstride : (size_t)v->nc)) * sizeof(double);

  PetscFunctionBegin;
  *out = v->v;
  if (!PetscMemTypeHost(v->memtype) || k->kernels->backend->host) PetscFunctionReturn(PETSC_SUCCESS);
  if (size > k->coefsize[i]) {
    PetscCall(Free(k, &k->coef[i]));
    PetscCall(Malloc(k, size, &k->coef[i]));
    k->coefsize[i] = size;
  }
  PetscCall(CopyIn(k, k->coef[i], v->v, size));
  *out = (const double *)k->coef[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the last group some cells are not there, and computed with. Of H1 numbers of pairs lie apart */
static PetscErrorCode ClearLast(HopsLanesLOR k, HopsLORVertexData d, size_t ncells)
{
  const size_t part = (k->lump ? d->v.ncomp : 4) * (size_t)k->nn, n = part * k->kernels->group * sizeof(double);

  PetscFunctionBegin;
  if (ncells == (size_t)k->space->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  for (const double *v = d->v.v; v < d->v.v + d->size / sizeof(double); v += ncells * part)
    PetscCall((*k->kernels->Set)((void *)(v + (ncells - k->kernels->group) * part), 0, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VertexData(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                 PetscBool mixed, PetscReal tol, PetscReal droptol, HopsLORVertexData *data, PetscInt *bad)
{
  HopsLanesLOR      k    = (HopsLanesLOR)lor;
  HopsSpace         sp   = k->space;
  const int         none = INT_MAX, dim = (int)sp->dim, P = k->P, nC = P * P, nB = P * k->Pg;
  const size_t      nx = sp->dim * (size_t)HopsPower(k->Pg, sp->dim), ncells = HopsLanesGroups(k->kernels->group, sp->ncells);
  HopsLanesLORRun   r = {.dim     = dim,
                         .P       = P,
                         .Pg      = k->Pg,
                         .nn      = k->nn,
                         .knc     = (int)kappa->nc,
                         .mnc     = (int)mass->nc,
                         .mixed   = (kappa->nc || k->lump) && mixed,
                         .tol     = tol,
                         .droptol = PetscMax(tol, droptol)};
  const int        *restr;
  int               cell;
  HopsLORVertexData d;

  PetscFunctionBegin;
  *bad = -1;
  PetscCheck(first % k->kernels->group == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Runs begin with a group of cells");
  PetscCall(SetUp(k));
  if (first == 0 && !*data) PetscCall(PetscNew(data));
  d       = *data;
  r.first = first;
  r.n     = n;
  r.ncomp = dim == 3 && r.mixed ? 8 : 4;
  if (k->lump) PetscCall(HopsLumpBegin(k, d, &r));
  if (first == 0) {
    const size_t size = k->lump && k->kernels->group > 1 ? 0 : ncells * r.ncomp * k->nn * sizeof(double);

    if (size != d->size) {
      PetscCall(Free(k, (void **)&d->v.v));
      PetscCall(Malloc(k, size, (void **)&d->v.v));
      d->size = size;
    }
    d->v.mixed = r.mixed;
    d->v.ncomp = r.ncomp;
    d->v.pairs = k->lump ? NULL : d->v.v + ncells * 4 * k->nn;
    PetscCall(ClearLast(k, d, ncells));
    if (!d->mask) PetscCall(Malloc(k, sp->ncells + 4, (void **)&d->mask));
    PetscCall((*k->kernels->Set)(d->mask, 0, sp->ncells + 4)); /* threads write whole words */
  }
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &r.X));
  r.X += first * nx;
  r.C        = k->tables;
  r.B        = k->tables + nC;
  r.D        = k->tables + nC + nB;
  r.m        = k->tables + nC + 2 * nB;
  r.r        = k->tables + nC + 2 * nB + 2 * P;
  r.ijk      = k->ijk;
  r.perentry = 1.0 / k->nn;
  if (d->v.v) r.out = (double *)d->v.v + (size_t)first * (k->lump ? r.ncomp : 4) * k->nn;
  if (d->v.pairs) r.pairs = (double *)d->v.pairs + (size_t)first * 4 * k->nn;
  r.mask = d->mask + first;
  r.bad  = k->bad;
  if (kappa->nc) {
    PetscCall(CopyCoefficient(k, 0, kappa, n, &r.kappa));
    r.kcstride = kappa->cstride;
    r.kpstride = kappa->pstride;
  }
  if (mass->nc) {
    PetscCall(CopyCoefficient(k, 1, mass, n, &r.mass));
    r.mcstride = mass->cstride;
    r.mpstride = mass->pstride;
  }
  PetscCall(CopyIn(k, k->bad, &none, sizeof(int)));
  PetscCall((*k->kernels->VertexData)(&r));
  PetscCall(CopyOut(k, &cell, k->bad, sizeof(int)));
  if (cell != none) *bad = first + cell;
  if (k->lump && first + n == sp->ncells) PetscCall(HopsLumpFinish(k, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareMasks(HopsLORAssembler lor, HopsLORVertexData d, PetscBool adopt, PetscBool *covered,
                                   PetscBool *coupled)
{
  HopsLanesLOR   k         = (HopsLanesLOR)lor;
  const PetscInt n         = k->space->ncells;
  int            result[2] = {0, 0};

  PetscFunctionBegin;
  PetscCheck(d, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Patterns without vertex data are the host's");
  PetscCall(SetUp(k));
  if (k->lump) {
    PetscCall(HopsLumpMasks(k, d, adopt, covered, coupled));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (n) {
    PetscCall((*k->kernels->Set)(k->bad + 2, 0, sizeof(result)));
    PetscCall((*k->kernels->Compare)(n, d->mask, k->mask, k->bad + 2));
    PetscCall(CopyOut(k, result, k->bad + 2, sizeof(result)));
    if (adopt) {
      k->owned = PETSC_FALSE;
      PetscCall(HopsLORHangReset(k));
      PetscCall((*k->kernels->backend->memory->Copy)(NULL, k->mask, d->mask, n, HOPS_COPY_WITHIN));
    }
  }
  *covered = result[0] ? PETSC_FALSE : PETSC_TRUE;
  *coupled = result[1] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MergeMasks(HopsLORAssembler lor, HopsLORVertexData d, HopsLORVertexData from)
{
  HopsLanesLOR   k = (HopsLanesLOR)lor;
  const PetscInt n = k->space->ncells;

  PetscFunctionBegin;
  if (n) PetscCall((*k->kernels->Merge)(n, from->mask, d->mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Rows ---- */

/* Which cell has each face and edge first, for the present masks; at order 1 they have no nodes of their own
   that would tell */
static PetscErrorCode FindOwners(HopsLanesLOR k)
{
  int irregular;

  PetscFunctionBegin;
  if (k->owned) PetscFunctionReturn(PETSC_SUCCESS);
  k->owned    = PETSC_TRUE;
  k->mesh.own = NULL;
  if (!k->kernels->Owners || k->hang || k->P < 3 || k->mesh.twice || !k->space->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  if (!k->own) PetscCall(Malloc(k, k->space->ncells * sizeof(*k->own), (void **)&k->own));
  PetscCall((*k->kernels->Set)(k->bad, 0, sizeof(int)));
  PetscCall((*k->kernels->Owners)(&k->mesh, k->space->ncells, k->own, k->bad));
  PetscCall(CopyOut(k, &irregular, k->bad, sizeof(int)));
  if (!irregular) k->mesh.own = k->own;
  else
    PetscCall(PetscInfo(NULL, "cells share edges or faces, and not what these span: columns of the low-order-refined matrix are "
                              "looked up to count them\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for where the entries of restr go in the rows, which the first pass over them finds */
static PetscErrorCode AllocPlaces(HopsLanesLOR k, HopsLORRows *rows)
{
  int ends[2];

  PetscFunctionBegin;
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(CopyOut(k, ends + i, k->begin + rows->first + i * rows->n, sizeof(int)));
  rows->place0 = ends[0];
  rows->nplace = ends[1] - ends[0];
  PetscCall(Malloc(k, (*k->kernels->PlaceSize)(&k->mesh, rows), (void **)&rows->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesLORBuffer(const HopsLanesLORKernels *kernels, HopsLORRows *rows, unsigned long long *work, int **buffer)
{
  const HopsMemoryOps *memory = kernels->backend->memory;
  unsigned long long   n      = 0;

  PetscFunctionBegin;
  PetscCall((*memory->Copy)(NULL, &n, work, sizeof(n), HOPS_COPY_OUT));
  rows->anylong = n ? PETSC_TRUE : PETSC_FALSE;
  *buffer       = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "long rows of the low-order-refined matrix are counted in a buffer of %g MB\n", n * sizeof(int) / 1e6));
  PetscCall((*memory->PoolMalloc)(n * sizeof(int), (void **)buffer));
  PetscCall((*kernels->Set)(work, 0, sizeof(n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that CountOnce() counts */
static PetscBool Once(HopsLanesLOR k, const HopsLORRows *rows)
{
  return k->mesh.own && !rows->i[1] && !rows->slot ? PETSC_TRUE : PETSC_FALSE;
}

/* Row pointers and places */
static PetscErrorCode Count(HopsLanesLOR k, HopsLORRows *rows)
{
  const HopsLanesLORKernels *kernels = k->kernels;
  unsigned long long        *work    = (unsigned long long *)k->bad;
  int                       *buffer, anylong;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCall((*kernels->Set)(rows->i[b] + rows->n, 0, sizeof(int)));
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*kernels->Set)(work, 0, sizeof(*work)));
  if (Once(k, rows)) {
    PetscCall((*kernels->CountOnce)(&k->mesh, rows, (int *)work));
    PetscCall((*kernels->Scan)(rows->n, rows->i[0]));
    PetscCall(CopyOut(k, &anylong, work, sizeof(anylong)));
    rows->anylong = anylong ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*kernels->Count)(&k->mesh, rows, work));
  PetscCall(HopsLanesLORBuffer(kernels, rows, work, &buffer));
  if (rows->anylong) PetscCall((*kernels->CountLong)(&k->mesh, rows, buffer, work));
  PetscCall(Free(k, (void **)&buffer));
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCall((*kernels->Scan)(rows->n, rows->i[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountRows(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLanesLOR k    = (HopsLanesLOR)lor;
  int          n[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(SetUp(k));
  PetscCall(HopsLORHangSetUp(k, rows));
  if (rows->nslots) {
    PetscCall((*k->kernels->Set)(rows->slot, 0xff, rows->n * sizeof(int)));
    PetscCall((*k->kernels->Slots)(rows));
  }
  rows->anylong = PETSC_FALSE;
  if (k->lump) PetscCall(HopsLumpRows(k, rows));
  else {
    PetscCall(FindOwners(k));
    PetscCall(AllocPlaces(k, rows));
    PetscCall(Count(k, rows));
  }
  for (int b = 0; b < 2; b++) {
    if (rows->i[b]) PetscCall(CopyOut(k, &n[b], rows->i[b] + rows->n, sizeof(int)));
    PetscCheck(n[b] >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The low-order-refined matrix has more than 2^31 entries on one rank: use more ranks");
    rows->nnz[b] = (size_t)n[b];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillColumns(HopsLORAssembler lor, HopsLORRows *rows, unsigned char used[])
{
  HopsLanesLOR   k = (HopsLanesLOR)lor;
  unsigned char *d = NULL;

  PetscFunctionBegin;
  if (rows->i[1]) {
    PetscCall(Malloc(k, rows->nmap, (void **)&d));
    PetscCall((*k->kernels->Set)(d, 0, rows->nmap));
  }
  if (k->lump) PetscCall(HopsLumpColumns(k, rows, d));
  else if (rows->n && Once(k, rows)) PetscCall((*k->kernels->FillOnce)(&k->mesh, rows));
  else if (rows->n) PetscCall((*k->kernels->Columns)(&k->mesh, rows, d));
  if (rows->i[1]) PetscCall(CopyOut(k, used, d, rows->nmap));
  PetscCall(Free(k, (void **)&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MapColumns(HopsLORAssembler lor, HopsLORRows *rows)
{
  PetscFunctionBegin;
  if (rows->n) PetscCall((*((HopsLanesLOR)lor)->kernels->Map)(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places of the final pattern, and the rows that have none */
static PetscErrorCode FindPlaces(HopsLanesLOR k, HopsLORRows *rows)
{
  int *sum;

  PetscFunctionBegin;
  PetscCall((*k->kernels->Places)(&k->mesh, rows));
  if (!rows->anylong) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Malloc(k, (rows->n + 1) * sizeof(int), (void **)&sum));
  PetscCall((*k->kernels->LongRows)(rows, sum, NULL));
  PetscCall((*k->kernels->Scan)(rows->n, sum));
  PetscCall(CopyOut(k, &rows->nlong, sum + rows->n, sizeof(int)));
  if (rows->nlong) {
    PetscCall(PetscInfo(k->space, "%d rows of the low-order-refined matrix have too many columns for places\n", rows->nlong));
    PetscCall(Malloc(k, rows->nlong * sizeof(int), (void **)&rows->longrow));
    PetscCall((*k->kernels->LongRows)(rows, sum, rows->longrow));
  }
  PetscCall(Free(k, (void **)&sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillRows(HopsLORAssembler lor, HopsLORVertexData d, HopsLORRows *rows)
{
  HopsLanesLOR    k     = (HopsLanesLOR)lor;
  const PetscBool looks = k->kernels->group > 1 && (!k->lump || k->lump->mesh.stencil) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (!k->lump && !rows->placed) {
    if (rows->n) PetscCall(FindPlaces(k, rows));
    rows->placed = PETSC_TRUE;
  }
  PetscCall(TimeBegin(k));
  if (looks) *k->bad = 0;
  if (k->lump) PetscCall(HopsLumpValues(k, d, rows));
  else if (rows->n) PetscCall((*k->kernels->Values)(&k->mesh, &d->v, rows, k->bad));
  rows->nonzero = looks && !*k->bad ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsLORHangRows(k, rows));
  PetscCall(TimeEnd(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillValues(HopsLORAssembler lor, HopsLORVertexData d, HopsLORRows *rows, HopsLORRows *ghosts)
{
  PetscFunctionBegin;
  PetscCall(HopsLORHangLists((HopsLanesLOR)lor, d, rows->coupled));
  PetscCall(FillRows(lor, d, rows));
  if (ghosts->i[0]) PetscCall(FillRows(lor, d, ghosts));
  PetscCall(HopsLORHangDone((HopsLanesLOR)lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddReceived(HopsLORAssembler lor, HopsLORRows *rows, const PetscReal x[])
{
  PetscFunctionBegin;
  if (rows->nslots) PetscCall((*((HopsLanesLOR)lor)->kernels->Received)(rows, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDiagonal(HopsLORAssembler lor, HopsLORRows *rows, PetscInt n, const PetscInt idx[], const PetscReal x[])
{
  PetscFunctionBegin;
  if (n) PetscCall((*((HopsLanesLOR)lor)->kernels->Diagonal)(rows, n, idx, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindZero(HopsLORAssembler lor, const HopsLORRows *rows, PetscBool *zero)
{
  HopsLanesLOR k = (HopsLanesLOR)lor;
  int          some;

  PetscFunctionBegin;
  *zero = PETSC_FALSE;
  if (!rows->n || rows->nonzero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*k->kernels->Set)(k->bad, 0, sizeof(int)));
  PetscCall((*k->kernels->FindZero)(rows, k->bad));
  PetscCall(CopyOut(k, &some, k->bad, sizeof(int)));
  *zero = some ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WidenRows(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, HopsLORRows *wide)
{
  HopsLanesLOR k = (HopsLanesLOR)lor;

  PetscFunctionBegin;
  if (rows->n) PetscCall((*k->kernels->WidenRows)(rows, (int)nc, wide));
  for (int b = 0; b < 2 && !rows->n; b++)
    if (rows->i[b]) PetscCall((*k->kernels->Set)(wide->i[b], 0, sizeof(int)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WidenValues(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, PetscInt c,
                                  unsigned char *const fixed[2], HopsLORRows *wide)
{
  HopsLanesLOR k = (HopsLanesLOR)lor;

  PetscFunctionBegin;
  if (rows->n) PetscCall((*k->kernels->WidenValues)(rows, (int)nc, (int)c, fixed[0], fixed[1], wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What there is ---- */

static const HopsLOROps HopsLORLanes = {.VertexData    = VertexData,
                                        .VertexDestroy = VertexDestroy,
                                        .CompareMasks  = CompareMasks,
                                        .MergeMasks    = MergeMasks,
                                        .CountRows     = CountRows,
                                        .FillColumns   = FillColumns,
                                        .MapColumns    = MapColumns,
                                        .FillValues    = FillValues,
                                        .AddReceived   = AddReceived,
                                        .SetDiagonal   = SetDiagonal,
                                        .FindZero      = FindZero,
                                        .WidenRows     = WidenRows,
                                        .WidenValues   = WidenValues,
                                        .Destroy       = Destroy};

PetscErrorCode HopsLanesLORCreate(const HopsLanesLORKernels *kernels, HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
{
  HopsLanesLOR k;

  PetscFunctionBegin;
  PetscCheck(gll->collocated && gll->P == space->order + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The low-order-refined matrix needs the collocated basis of the space's order");
  PetscCall(PetscNew(&k));
  k->kernels = kernels;
  k->space   = space;
  k->P       = (int)gll->P;
  k->Pg      = (int)space->gorder + 1;
  k->nn      = k->P * k->P * (space->dim == 3 ? k->P : 1);
  PetscCall(HopsSpaceCreateGeometryBasis(space, gll, &k->geom));
  PetscCall(PetscMalloc1(k->P * k->P + 2 * k->P, &k->gll));
  PetscCall(PetscArraycpy(k->gll, gll->D, k->P * k->P));
  PetscCall(PetscArraycpy(k->gll + k->P * k->P, gll->nodes, k->P));
  PetscCall(PetscArraycpy(k->gll + k->P * k->P + k->P, gll->weights, k->P));
  PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d", kernels->backend->name, k->P));
  if (space->family != HOPS_H1) PetscCall(HopsLumpCreate(k));
  PetscCall(HopsLORHangCreate(k));
  k->head.ops    = &HopsLORLanes;
  k->head.kernel = k->name;
  k->head.guess  = kernels->group > 1 ? PETSC_TRUE : PETSC_FALSE;
  *lor           = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
