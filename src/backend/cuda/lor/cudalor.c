/* CUDA back end: the low-order-refined matrix. Rows are assembled by their owners from data at the vertices
   of the sub-cells. */
#include "cudalump.h"

PetscErrorCode HopsCudaPoolMalloc(size_t n, void **p)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  *p = NULL;
  if (n) {
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCall(HopsGetCUDAStream(&stream));
    PetscCall(HopsCudaCheckMemory(cudaMallocAsync(p, n, stream), n, "the low-order-refined matrix", HOPS_CUDA_REMEDY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPoolFree(void **p)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (*p) {
    PetscCall(HopsGetCUDAStream(&stream));
    PetscCallCUDA(cudaFreeAsync(*p, stream));
  }
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Life cycle. Nothing is put on the device before the first vertex data are asked for. ---- */

static PetscErrorCode FreeCoefficients(HopsLORKernel k)
{
  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) {
    PetscCall(HopsCudaPoolFree(&k->coef[i]));
    k->coefsize[i] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VertexDestroy(HopsLORAssembler lor, HopsLORVertexData *data)
{
  HopsLORVertexData d = *data;

  PetscFunctionBegin;
  *data = NULL;
  PetscCall(FreeCoefficients((HopsLORKernel)lor));
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPoolFree((void **)&d->v.v));
  PetscCall(HopsCudaPoolFree((void **)&d->mask));
  PetscCall(HopsCudaPoolFree(&d->numbers));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORDestroy_CUDA(HopsLORAssembler *kernel)
{
  HopsLORKernel k = (HopsLORKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FreeCoefficients(k));
  if (k->lump) PetscCall(HopsCudaLumpDestroy(k));
  PetscCall(HopsCudaPoolFree((void **)&k->tables));
  PetscCall(HopsCudaPoolFree((void **)&k->ijk));
  PetscCall(HopsCudaPoolFree((void **)&k->begin));
  PetscCall(HopsCudaPoolFree((void **)&k->entry));
  PetscCall(HopsCudaPoolFree((void **)&k->bad));
  PetscCall(HopsCudaPoolFree((void **)&k->mask));
  PetscCall(HopsCudaPoolFree((void **)&k->own));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(k->gll));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tables: derivatives at the nodes, the element map's basis and derivatives there, lumped masses, inverse
   widths */
static PetscErrorCode SetUp(HopsLORKernel k)
{
  HopsSpace        sp = k->space;
  HopsCudaLORMesh *m  = &k->mesh;
  const int     P = k->P, Pg = k->Pg, nC = P * P, nB = P * Pg, nfree = (int)(sp->nT + sp->nG), nl = k->lump ? nfree : (int)sp->nL;
  const double *z = k->gll + nC;
  const PetscReal *X;
  const size_t     ne = (size_t)sp->ncells * sp->ne;
  cudaStream_t     stream;
  double          *h;
  int             *ijk, twice;

  PetscFunctionBegin;
  if (k->tables) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(ne < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "The cells of a rank have more than 2^31 unknowns: use more ranks");
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(PetscMalloc1(nC + 2 * nB + 3 * P, &h));
  PetscCall(PetscArraycpy(h, k->gll, nC));
  PetscCall(PetscArraycpy(h + nC, k->geom.B, nB));
  PetscCall(PetscArraycpy(h + nC + nB, k->geom.D, nB));
  for (int i = 0; i < P; i++) {
    h[nC + 2 * nB + i]         = ((i ? z[i] - z[i - 1] : 0) + (i < P - 1 ? z[i + 1] - z[i] : 0)) / 2;
    h[nC + 2 * nB + P + i]     = i < P - 1 ? 1 / (z[i + 1] - z[i]) : 0;
    h[nC + 2 * nB + 2 * P + i] = z[P + i] / h[nC + 2 * nB + i];
  }
  PetscCall(HopsCudaPoolMalloc((nC + 2 * nB + 3 * P) * sizeof(double), (void **)&k->tables));
  PetscCall(HopsCopy_CUDA(NULL, k->tables, h, (nC + 2 * nB + 3 * P) * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscCall(PetscMalloc1(k->nn, &ijk));
  for (int v = 0; v < k->nn; v++) ijk[v] = v % P + (v / P % P << 8) + (v / (P * P) << 16);
  PetscCall(HopsCudaPoolMalloc(k->nn * sizeof(int), (void **)&k->ijk));
  PetscCall(HopsCopy_CUDA(NULL, k->ijk, ijk, k->nn * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree(ijk));
  m->ijk      = k->ijk;
  m->perentry = 1.0 / k->nn;
  m->dim      = (int)sp->dim;
  m->P        = P;
  m->nn       = k->nn;
  m->nfree    = nfree;
  m->hinv     = k->tables + nC + 2 * nB + P;
  PetscCall(HopsSpaceGetBackendMesh(sp, &m->restr, &X));
  PetscCall(HopsCudaPoolMalloc(4 * sizeof(int), (void **)&k->bad));
  PetscCall(HopsCudaPoolMalloc(sp->ncells, (void **)&k->mask));
  PetscCall(HopsCudaPoolMalloc((nl + 1) * sizeof(int), (void **)&k->begin));
  PetscCallCUDA(cudaMemsetAsync(k->bad, 0, sizeof(int), stream));
  PetscCall(HopsCudaLORTranspose(m, nl, ne, (int)sp->ne, !k->lump, k->begin, &k->entry, k->bad, stream));
  PetscCall(HopsCopy_CUDA(NULL, &twice, k->bad, sizeof(int), HOPS_COPY_OUT));
  m->twice = twice;
  m->begin = k->begin;
  m->entry = k->entry;
  m->mask  = k->mask;
  if (sp->ncells) PetscCallCUDA(cudaMemsetAsync(k->mask, 0, sp->ncells, stream));
  if (k->lump) {
    k->lump->mesh.restr = m->restr;
    k->lump->mesh.begin = m->begin;
    k->lump->mesh.entry = m->entry;
    k->lump->mesh.mask  = m->mask;
    k->lump->mesh.twice = m->twice;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Vertex data ---- */

/* unless the values lie on the device */
static PetscErrorCode CopyCoefficient(HopsLORKernel k, int i, const HopsValues *v, PetscInt n, const double **out)
{
  const size_t size =
    (v->cstride ? (size_t)n * v->cstride : (v->pstride ? (size_t)k->nn * v->pstride : (size_t)v->nc)) * sizeof(double);

  PetscFunctionBegin;
  *out = v->v;
  if (!PetscMemTypeHost(v->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  if (size > k->coefsize[i]) {
    PetscCall(HopsCudaPoolFree(&k->coef[i]));
    PetscCall(HopsCudaPoolMalloc(size, &k->coef[i]));
    k->coefsize[i] = size;
  }
  PetscCall(HopsCopy_CUDA(NULL, k->coef[i], v->v, size, HOPS_COPY_IN));
  *out = (const double *)k->coef[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VertexData(HopsLORAssembler lor, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                 PetscBool mixed, PetscReal tol, PetscReal droptol, HopsLORVertexData *data, PetscInt *bad)
{
  HopsLORKernel     k    = (HopsLORKernel)lor;
  HopsSpace         sp   = k->space;
  const int         none = INT_MAX, dim = (int)sp->dim, P = k->P, nC = P * P, nB = P * k->Pg;
  const size_t      nx = sp->dim * (size_t)HopsPower(k->Pg, sp->dim);
  HopsCudaLORRun    r  = {.dim     = dim,
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
  PetscCall(SetUp(k));
  PetscCall(HopsGetCUDAStream(&r.stream));
  if (first == 0 && !*data) PetscCall(PetscNew(data));
  d = *data;
  if (first == 0) {
    size_t size;
    int    ncomp = dim == 3 && r.mixed ? 8 : 4;

    if (k->lump) {
      PetscCall(HopsCudaLumpBegin(k, &r));
      ncomp = r.ncomp;
    }
    size = (size_t)sp->ncells * ncomp * k->nn * sizeof(double);
    if (size != d->size) {
      PetscCall(HopsCudaPoolFree((void **)&d->v.v));
      PetscCall(HopsCudaPoolMalloc(size, (void **)&d->v.v));
      d->size = size;
    }
    d->v.mixed = r.mixed;
    d->v.ncomp = ncomp;
    d->v.pairs = d->v.v + (size_t)sp->ncells * 4 * k->nn;
    if (!d->mask) PetscCall(HopsCudaPoolMalloc(sp->ncells + 4, (void **)&d->mask));
    PetscCallCUDA(cudaMemsetAsync(d->mask, 0, sp->ncells + 4, r.stream)); /* threads write whole words */
  }
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (k->lump) PetscCall(HopsCudaLumpBegin(k, &r));
  PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &r.X));
  r.first = first;
  r.n     = n;
  r.X += first * nx;
  r.C        = k->tables;
  r.B        = k->tables + nC;
  r.D        = k->tables + nC + nB;
  r.m        = k->tables + nC + 2 * nB;
  r.r        = k->tables + nC + 2 * nB + 2 * P;
  r.ijk      = k->ijk;
  r.perentry = 1.0 / k->nn;
  r.ncomp    = d->v.ncomp;
  r.out      = (double *)d->v.v + (size_t)first * (k->lump ? d->v.ncomp : 4) * k->nn;
  r.pairs    = (double *)d->v.pairs + (size_t)first * 4 * k->nn;
  r.mask     = d->mask + first;
  r.bad      = k->bad;
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
  PetscCall(HopsCopy_CUDA(NULL, k->bad, &none, sizeof(int), HOPS_COPY_IN));
  PetscCall(HopsCudaLORVertexData(&r));
  PetscCall(HopsCopy_CUDA(NULL, &cell, k->bad, sizeof(int), HOPS_COPY_OUT));
  if (cell != none) *bad = first + cell;
  if (k->lump && first + n == sp->ncells) PetscCall(HopsCudaLumpFinish(k, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareMasks(HopsLORAssembler lor, HopsLORVertexData d, PetscBool adopt, PetscBool *covered,
                                   PetscBool *coupled)
{
  HopsLORKernel  k         = (HopsLORKernel)lor;
  const PetscInt n         = k->space->ncells;
  int            result[2] = {0, 0};
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCheck(d, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Patterns without vertex data are the host's");
  PetscCall(SetUp(k));
  if (k->lump) {
    PetscCall(HopsCudaLumpMasks(k, d, adopt, covered, coupled));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) {
    PetscCall(HopsCudaLORCompare(n, d->mask, k->mask, k->bad + 2, stream));
    PetscCall(HopsCopy_CUDA(NULL, result, k->bad + 2, sizeof(result), HOPS_COPY_OUT));
    if (adopt) {
      k->owned = PETSC_FALSE;
      PetscCallCUDA(cudaMemcpyAsync(k->mask, d->mask, n, cudaMemcpyDeviceToDevice, stream));
    }
  }
  *covered = result[0] ? PETSC_FALSE : PETSC_TRUE;
  *coupled = result[1] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MergeMasks(HopsLORAssembler lor, HopsLORVertexData d, HopsLORVertexData from)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORMerge(((HopsLORKernel)lor)->space->ncells, from->mask, d->mask, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Rows ---- */

/* Which cell has each face and edge first, for the present masks; at order 1 they have no nodes of their own
   that would tell */
static PetscErrorCode FindOwners(HopsLORKernel k)
{
  int          irregular;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (k->owned) PetscFunctionReturn(PETSC_SUCCESS);
  k->owned    = PETSC_TRUE;
  k->mesh.own = NULL;
  if (k->P < 3 || k->mesh.twice) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  if (!k->own) PetscCall(HopsCudaPoolMalloc(k->space->ncells * sizeof(*k->own), (void **)&k->own));
  PetscCall(HopsCudaLOROwners(&k->mesh, k->space->ncells, k->own, k->bad, stream));
  PetscCall(HopsCopy_CUDA(NULL, &irregular, k->bad, sizeof(int), HOPS_COPY_OUT));
  if (!irregular) k->mesh.own = k->own;
  else
    PetscCall(PetscInfo(NULL, "cells share edges or faces, and not what these span: columns of the low-order-refined matrix are "
                              "looked up to count them\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for where the entries of restr go in the rows, which the first pass over them finds */
static PetscErrorCode AllocPlaces(HopsLORKernel k, HopsLORRows *rows)
{
  int ends[2];

  PetscFunctionBegin;
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++)
    PetscCall(HopsCopy_CUDA(NULL, ends + i, k->begin + rows->first + i * rows->n, sizeof(int), HOPS_COPY_OUT));
  rows->place0 = ends[0];
  rows->nplace = ends[1] - ends[0];
  PetscCall(HopsCudaPoolMalloc(HopsCudaLORPlaceSize(&k->mesh, rows), (void **)&rows->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountRows(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLORKernel       k    = (HopsLORKernel)lor;
  int                 n[2] = {0, 0};
  unsigned long long *work;
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(SetUp(k));
  PetscCall(HopsGetCUDAStream(&stream));
  if (rows->nslots) PetscCall(HopsCudaLORSlots(rows, stream));
  rows->anylong = PETSC_FALSE;
  work          = (unsigned long long *)k->bad;
  if (k->lump) PetscCall(HopsCudaLumpRows(k, rows));
  else {
    PetscCall(FindOwners(k));
    PetscCall(AllocPlaces(k, rows));
    PetscCall(HopsCudaLORCount(&k->mesh, rows, work, stream));
  }
  for (int b = 0; b < 2; b++) {
    if (rows->i[b]) PetscCall(HopsCopy_CUDA(NULL, &n[b], rows->i[b] + rows->n, sizeof(int), HOPS_COPY_OUT));
    PetscCheck(n[b] >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The low-order-refined matrix has more than 2^31 entries on one rank: use more ranks");
    rows->nnz[b] = (size_t)n[b];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillColumns(HopsLORAssembler lor, HopsLORRows *rows, unsigned char used[])
{
  HopsLORKernel  k = (HopsLORKernel)lor;
  cudaStream_t   stream;
  unsigned char *d = NULL;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (rows->i[1]) {
    PetscCall(HopsCudaPoolMalloc(rows->nmap, (void **)&d));
    if (rows->nmap) PetscCallCUDA(cudaMemsetAsync(d, 0, rows->nmap, stream));
  }
  if (k->lump) PetscCall(HopsCudaLumpColumns(k, rows, d));
  else PetscCall(HopsCudaLORColumns(&k->mesh, rows, d, stream));
  if (rows->i[1]) PetscCall(HopsCopy_CUDA(NULL, used, d, rows->nmap, HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MapRows(HopsLORRows *rows)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORMap(rows, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MapColumns(HopsLORAssembler lor, HopsLORRows *rows)
{
  PetscFunctionBegin;
  PetscCall(MapRows(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillRows(HopsLORAssembler lor, HopsLORVertexData d, HopsLORRows *rows)
{
  HopsLORKernel k = (HopsLORKernel)lor;
  cudaStream_t  stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (!k->lump && !rows->placed) {
    /* the first pass had another order */
    if (rows->sorted || rows->i[1] || rows->anylong) PetscCall(HopsCudaLORPlaces(&k->mesh, rows, stream));
    rows->placed = PETSC_TRUE;
  }
  PetscCall(PetscLogGpuTimeBegin());
  if (k->lump) PetscCall(HopsCudaLumpValues(k, d, rows));
  else PetscCall(HopsCudaLORValues(&k->mesh, &d->v, rows, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillValues(HopsLORAssembler lor, HopsLORVertexData d, HopsLORRows *rows, HopsLORRows *ghosts)
{
  PetscFunctionBegin;
  PetscCall(FillRows(lor, d, rows));
  if (ghosts->i[0]) PetscCall(FillRows(lor, d, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddReceived(HopsLORAssembler lor, HopsLORRows *rows, const PetscScalar x[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORReceived(rows, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDiagonal(HopsLORAssembler lor, HopsLORRows *rows, PetscInt n, const PetscInt idx[], const PetscScalar x[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORDiagonal(rows, n, idx, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WidenRows(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, HopsLORRows *wide)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORWidenRows(rows, (int)nc, wide, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WidenValues(HopsLORAssembler lor, const HopsLORRows *rows, PetscInt nc, PetscInt c,
                                  unsigned char *const fixed[2], HopsLORRows *wide)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaLORWidenValues(rows, (int)nc, (int)c, fixed[0], fixed[1], wide, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What there is ---- */

static const HopsLOROps HopsLORCUDA = {.VertexData    = VertexData,
                                       .VertexDestroy = VertexDestroy,
                                       .CompareMasks  = CompareMasks,
                                       .MergeMasks    = MergeMasks,
                                       .CountRows     = CountRows,
                                       .FillColumns   = FillColumns,
                                       .MapColumns    = MapColumns,
                                       .FillValues    = FillValues,
                                       .AddReceived   = AddReceived,
                                       .SetDiagonal   = SetDiagonal,
                                       .WidenRows     = WidenRows,
                                       .WidenValues   = WidenValues,
                                       .Destroy       = HopsLORDestroy_CUDA};

PetscErrorCode HopsLORCreate_CUDA(HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
{
  HopsLORKernel k;

  PetscFunctionBegin;
  PetscCheck(gll->collocated && gll->P == space->order + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The low-order-refined matrix needs the collocated basis of the space's order");
  PetscCall(PetscNew(&k));
  k->space = space;
  k->P     = (int)gll->P;
  k->Pg    = (int)space->gorder + 1;
  k->nn    = k->P * k->P * (space->dim == 3 ? k->P : 1);
  PetscCall(HopsSpaceCreateGeometryBasis(space, gll, &k->geom));
  PetscCall(PetscMalloc1(k->P * k->P + 2 * k->P, &k->gll));
  PetscCall(PetscArraycpy(k->gll, gll->D, k->P * k->P));
  PetscCall(PetscArraycpy(k->gll + k->P * k->P, gll->nodes, k->P));
  PetscCall(PetscArraycpy(k->gll + k->P * k->P + k->P, gll->weights, k->P));
  PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "cuda P=%d", k->P));
  if (space->family != HOPS_H1) PetscCall(HopsCudaLumpCreate(k));
  k->head.ops    = &HopsLORCUDA;
  k->head.kernel = k->name;
  *lor           = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsRowsOps HopsRowsCUDA = {.IncidenceCount = HopsIncidenceCount_CUDA,
                                  .IncidenceFull  = HopsIncidenceFull_CUDA,
                                  .IncidenceFill  = HopsIncidenceFill_CUDA,
                                  .MapColumns     = MapRows,
                                  .UnitVectors    = HopsUnitVectors_CUDA};
