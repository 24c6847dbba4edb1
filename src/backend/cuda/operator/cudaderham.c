/* CUDA back end: forms on H(curl), H(div) and L2. */
#include "cudaderham.h"

static const HopsBackendOps *const be = &HopsBackendCUDA;

static int Family(HopsFamily f)
{
  return f == HOPS_HCURL ? HOPS_CUDA_HCURL : (f == HOPS_HDIV ? HOPS_CUDA_HDIV : HOPS_CUDA_L2);
}

/* All small tables in one piece of memory, on the host and on the device: B, E, BB, EE, DD, BD, weights, the
   element map's B and D */
static PetscErrorCode CreateTables(HopsDerhamKernel k, const HopsBasis *b)
{
  const size_t        PQ = (size_t)b->P * b->Q, OQ = PQ - b->Q, G = (size_t)k->geom.P * b->Q, n = 4 * PQ + 2 * OQ + b->Q + 2 * G;
  HopsCudaDerhamArgs *a = &k->args;
  double             *h, *d;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &k->hosttables));
  PetscCall((*be->memory->Malloc)(n * sizeof(double), (void **)&k->tables));
  h = k->hosttables;
  d = k->tables;
  for (size_t i = 0; i < PQ; i++) {
    h[i]                   = b->B[i];
    h[PQ + OQ + i]         = b->B[i] * b->B[i];
    h[2 * (PQ + OQ) + i]   = b->D[i] * b->D[i];
    h[3 * PQ + 2 * OQ + i] = b->B[i] * b->D[i];
  }
  for (size_t i = 0; i < OQ; i++) {
    h[PQ + i]          = b->E[i];
    h[2 * PQ + OQ + i] = b->E[i] * b->E[i];
  }
  PetscCall(PetscArraycpy(h + 4 * PQ + 2 * OQ, b->weights, b->Q));
  PetscCall(PetscArraycpy(h + 4 * PQ + 2 * OQ + b->Q, k->geom.B, G));
  PetscCall(PetscArraycpy(h + 4 * PQ + 2 * OQ + b->Q + G, k->geom.D, G));
  PetscCall((*be->memory->Copy)(NULL, d, h, n * sizeof(double), HOPS_COPY_IN));
  a->hostB   = h;
  a->hostE   = h + PQ;
  a->B       = d;
  a->E       = d + PQ;
  a->BB      = a->E + OQ;
  a->EE      = a->BB + PQ;
  a->DD      = a->EE + OQ;
  a->BD      = a->DD + PQ;
  k->setup.w = a->BD + PQ;
  k->setup.B = k->setup.w + b->Q;
  k->setup.D = k->setup.B + G;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void FindLaunch(HopsDerhamKernel k)
{
  k->launch                = HopsCudaDerhamLaunchGeneric;
  k->head.info.specialised = PETSC_FALSE;
#define HOPS_CUDA_FORM_FIND(p) \
  if (k->args.P == p && (k->args.Q == p || k->args.Q == p + 1)) { \
    k->launch                = HopsCudaDerhamLaunch_##p; \
    k->head.info.specialised = PETSC_TRUE; \
  }
  HOPS_CUDA_FORM_NODES(HOPS_CUDA_FORM_FIND)
}

/* Multiplications and additions of a term on a cell: contractions there and back, by halves in the fused
   kernels, and products at the points */
static double TermFlops(HopsDerhamKernel k, HopsFamily family, int nc)
{
  const int    Q = k->args.Q, dim = k->args.dim;
  const double nq = (double)HopsPower(Q, dim);
  HopsLayout   l;
  double       f = nq * (nc == 1 ? 1 : (nc == 3 ? 6 : 15));

  HopsLayoutCreate(family, dim, k->args.P - 1, &l);
  for (int c = 0; c < (int)l.nc; c++) {
    double lines = (double)(l.n[c][1] * l.n[c][2]);

    for (int d = 0; d < dim; d++) {
      const int n = (int)l.n[c][d];

      f += 2 * lines * (k->head.info.specialised ? n * Q + n + Q : 2 * n * Q);
      if (d + 1 < dim) lines = lines / (double)l.n[c][d + 1] * Q;
    }
  }
  return f;
}

/* Values of a coefficient: in the device's memory i, unless they lie on the device */
static PetscErrorCode CopyValues(HopsDerhamKernel k, int i, const HopsValues *v, PetscInt n, const double **out)
{
  const size_t nq   = HopsPower(k->args.Q, k->args.dim),
               size = (v->cstride ? (size_t)n * v->cstride : (v->pstride ? nq * v->pstride : (size_t)v->nc)) * sizeof(double);

  PetscFunctionBegin;
  *out = v->v;
  if (!PetscMemTypeHost(v->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  if (size > k->size[i]) {
    PetscCall((*be->memory->Free)(&k->mem[i]));
    PetscCall((*be->memory->Malloc)(size, &k->mem[i]));
    k->size[i] = size;
  }
  PetscCall((*be->memory->Copy)(NULL, k->mem[i], v->v, size, HOPS_COPY_IN));
  *out = (const double *)k->mem[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the device: was there a bad cell? What only set-up needs goes after the last run */
static PetscErrorCode HopsDerhamSetUp_CUDA(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                                           PetscInt *bad, PetscReal *det)
{
  HopsDerhamKernel k    = (HopsDerhamKernel)A;
  HopsSetUpArgs   *s    = &k->setup;
  const int        none = PETSC_MPI_INT_MAX;
  int              cell;

  PetscFunctionBegin;
  *bad = -1;
  *det = 0;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  s->first = first;
  s->n     = n;
  s->X     = k->X + (size_t)first * k->args.dim * HopsPower(s->Pg, k->args.dim);
  s->knc = s->mnc = 0;
  if (k->args.nd) {
    PetscCall(CopyValues(k, 0, mu, n, &s->kappa));
    s->knc      = (int)mu->nc;
    s->kcstride = mu->cstride;
    s->kpstride = mu->pstride;
  }
  if (k->args.nm) {
    PetscCall(CopyValues(k, 1, beta, n, &s->mass));
    s->mnc      = (int)beta->nc;
    s->mcstride = beta->cstride;
    s->mpstride = beta->pstride;
  }
  PetscCall((*be->memory->Copy)(NULL, s->bad, &none, sizeof(int), HOPS_COPY_IN));
  PetscCall(HopsCudaDerhamSetUp(k->args.family, s));
  PetscCall((*be->memory->Copy)(NULL, &cell, s->bad, sizeof(int), HOPS_COPY_OUT));
  if (cell != PETSC_MPI_INT_MAX) {
    PetscCall(HopsCudaFindBad(s, cell));
    PetscCall((*be->memory->Copy)(NULL, det, s->det, sizeof(double), HOPS_COPY_OUT));
    *bad = first + cell;
  }
  for (int i = 0; i < 2 && first + n == k->ncells; i++) {
    PetscCall((*be->memory->Free)(&k->mem[i]));
    k->size[i] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamApply_CUDA(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsDerhamKernel k     = (HopsDerhamKernel)A;
  PetscInt         end[] = {0, k->ninterior / 2, k->ninterior, k->ncells};

  PetscFunctionBegin;
  if (k->alone) { /* nothing to overlap: one launch, with the ghosts (there are none) */
    if (part != HOPS_PART_SHARED) PetscFunctionReturn(PETSC_SUCCESS);
    end[2] = 0;
  }
  k->args.first = end[part];
  k->args.n     = end[part + 1] - k->args.first;
  PetscCall(HopsGetCUDAStream(&k->args.stream));
  if (k->args.n) PetscCall((*k->launch)(&k->args, (const double *)x, (const double *)xg, (double *)y, (double *)yg));
  if (k->ncells) PetscCall(PetscLogGpuFlops(k->head.info.flops / k->ncells * k->args.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDiagonal_CUDA(HopsOperator A, PetscScalar d[], PetscScalar dg[])
{
  HopsDerhamKernel k = (HopsDerhamKernel)A;

  PetscFunctionBegin;
  k->args.first = 0;
  k->args.n     = k->ncells;
  PetscCall(HopsGetCUDAStream(&k->args.stream));
  if (k->args.n) PetscCall(HopsCudaDerhamDiagonal(&k->args, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDestroy_CUDA(HopsOperator *kernel)
{
  HopsDerhamKernel k = (HopsDerhamKernel)*kernel;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall((*be->memory->Free)(&k->mem[i]));
  PetscCall((*be->memory->Free)(&k->flag));
  PetscCall((*be->memory->Free)((void **)&k->args.work));
  PetscCall((*be->memory->Free)((void **)&k->qdata));
  PetscCall((*be->memory->Free)((void **)&k->tables));
  PetscCall(PetscFree(k->hosttables));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsDerhamCUDA = {.SetUp    = HopsDerhamSetUp_CUDA,
                                               .Apply    = HopsDerhamApply_CUDA,
                                               .Diagonal = HopsDerhamDiagonal_CUDA,
                                               .Destroy  = HopsDerhamDestroy_CUDA};

PetscErrorCode HopsDerhamCreate_CUDA(HopsSpace space, const HopsBasis *basis, PetscBool deriv, PetscBool mass, HopsOperator *A)
{
  const HopsFamily    derivative = HopsFamilyDerivative(space->family, space->dim);
  HopsDerhamKernel    k;
  HopsCudaDerhamArgs *a;
  HopsLayout          l;
  PetscMPIInt         size;
  PetscBool           shared;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCheck(!deriv || space->family != HOPS_L2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "L2 has no derivative");
  PetscCall(PetscNew(&k));
  k->head.ops = &HopsDerhamCUDA;
  *A          = &k->head;
  a           = &k->args;
  a->dim      = (int)space->dim;
  a->P        = (int)basis->P;
  a->Q        = (int)basis->Q;
  a->family   = Family(space->family);
  a->nT       = (int)space->nT;
  a->nd       = deriv ? HopsFamilyTensorSize(derivative, a->dim) : 0;
  a->nm       = mass ? HopsFamilyTensorSize(space->family, a->dim) : 0;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)space), &size));
  k->alone     = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  k->ncells    = space->ncells;
  k->ninterior = space->ninterior;
  PetscCall(HopsSpaceGetBackendMesh(space, &a->restr, &k->X));
  PetscCall(HopsSpaceCreateGeometryBasis(space, basis, &k->geom));
  PetscCall(CreateTables(k, basis));
  PetscCall(HopsCudaDerhamGenericSetUp(a, &shared)); /* the diagonal runs it for every order */
  if (!shared) PetscCall((*be->memory->Malloc)(a->nwork * a->nblocks * sizeof(double), (void **)&a->work));
  FindLaunch(k);
  PetscCall(
    (*be->memory->Malloc)((size_t)k->ncells * HopsPower(a->Q, a->dim) * (a->nd + a->nm) * sizeof(double), (void **)&k->qdata));
  a->qdata = k->qdata;
  PetscCall((*be->memory->Malloc)(2 * sizeof(double), &k->flag));
  k->setup.dim   = a->dim;
  k->setup.Pg    = (int)space->gorder + 1;
  k->setup.Q     = a->Q;
  k->setup.ncomp = a->nd + a->nm;
  k->setup.qdata = k->qdata;
  k->setup.det   = (double *)k->flag;
  k->setup.bad   = (int *)(k->setup.det + 1);
  HopsLayoutCreate(space->family, space->dim, space->order, &l);
  k->head.info.bytes =
    (PetscLogDouble)k->ncells * (l.ne * sizeof(int) + HopsPower(a->Q, a->dim) * (a->nd + a->nm) * sizeof(double)) +
    (shared ? 0 : a->nwork * a->nblocks * sizeof(double));
  k->head.info.flops = (PetscLogDouble)l.ne;
  if (mass) k->head.info.flops += TermFlops(k, space->family, a->nm);
  if (deriv) {
    k->head.info.flops += TermFlops(k, derivative, a->nd);
    HopsLayoutCreate(derivative, space->dim, space->order, &l);
    k->head.info.flops += 2.0 * (PetscLogDouble)l.ne * (space->family == HOPS_HCURL ? 4 : 2 * a->dim);
  }
  k->head.info.flops *= (PetscLogDouble)k->ncells;
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "cuda %sP=%d Q=%d, %s",
                          k->head.info.specialised ? "" : "generic ", a->P, a->Q, HopsFamilies[space->family]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
