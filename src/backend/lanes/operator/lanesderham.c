/* Forms on H(curl), H(div) and L2 of back ends that launch kernels for teams of lanes: their data. */
#include "lanesderhamimpl.h"

static int Family(HopsFamily f)
{
  return f == HOPS_HCURL ? HOPS_DERHAM_HCURL : (f == HOPS_HDIV ? HOPS_DERHAM_HDIV : HOPS_DERHAM_L2);
}

/* All small tables in one piece of memory, on the host and in the back end's memory: B, E, BB, EE, DD, BD,
   weights, the element map's B and D */
static PetscErrorCode CreateTables(HopsDerhamOperator k, const HopsBasis *b)
{
  const size_t         PQ = (size_t)b->P * b->Q, OQ = PQ - b->Q, G = (size_t)k->geom.P * b->Q, n = 4 * PQ + 2 * OQ + b->Q + 2 * G;
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsDerhamArgs      *a      = &k->args;
  double              *h, *d;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &k->hosttables));
  PetscCall((*memory->Malloc)(n * sizeof(double), (void **)&k->tables));
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
  PetscCall((*memory->Copy)(NULL, d, h, n * sizeof(double), HOPS_COPY_IN));
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

static void FindLaunch(HopsDerhamOperator k)
{
  const int              P = k->args.P;
  const HopsDerhamLaunch fused =
    P <= HOPS_DERHAM_MOST_NODES && (k->args.Q == P || k->args.Q == P + 1) ? k->kernels->launch[P] : NULL;

  k->launch                = fused ? fused : k->kernels->generic;
  k->head.info.specialised = fused ? PETSC_TRUE : PETSC_FALSE;
}

/* Multiplications and additions of a term on a cell: contractions there and back, by halves in the fused
   kernels, and products at the points */
static double TermFlops(HopsDerhamOperator k, HopsFamily family, int nc)
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

/* Waits for the device */
static PetscErrorCode HopsDerhamSetUp(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                                      PetscInt *bad, PetscReal *det)
{
  HopsDerhamOperator    k  = (HopsDerhamOperator)A;
  const HopsBackendOps *be = k->kernels->backend;
  const HopsDerhamArgs *a  = &k->args;

  PetscFunctionBegin;
  *bad = -1;
  *det = 0;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLanesSetUpBegin(be, &k->own, first, n, a->nd ? mu : NULL, a->nm ? beta : NULL, &k->setup));
  PetscCall((*k->kernels->SetUp)(a->family, &k->setup));
  PetscCall(HopsLanesSetUpEnd(be, &k->own, k->kernels->FindBad, k->ncells, &k->setup, bad, det));
  if (first + n == k->ncells && a->group > 1)
    HopsLanesFillGroup(a->group, k->ncells, k->qdata, (size_t)HopsPower(a->Q, a->dim) * (a->nd + a->nm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamApply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsDerhamOperator k = (HopsDerhamOperator)A;
  HopsDerhamArgs    *a = &k->args;

  PetscFunctionBegin;
  HopsLanesPart(part, k->alone, k->ninterior, k->ncells, &a->first, &a->n);
  a->copies = HopsLanesMeetsCopies(k->meets, part);
  if (a->n) {
    PetscCall((*k->launch)(a, (const double *)x, (const double *)xg, (double *)y, (double *)yg));
    PetscCall(HopsLanesMeetsSum(k->kernels->meet, k->meets, part, PETSC_DOUBLE, a->nT, y, yg));
  }
  if (k->ncells) PetscCall(HopsLanesLogFlops(k->kernels->backend, k->head.info.flops / k->ncells * a->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDiagonal(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  HopsDerhamOperator k     = (HopsDerhamOperator)A;
  HopsDerhamArgs     a     = k->args;
  const PetscBool    marks = k->marks && !a.work ? PETSC_TRUE : PETSC_FALSE; /* teams with scratch of the back end's take turns */

  PetscFunctionBegin;
  if (!marks) a.marked = NULL;
  for (int p = 0; p < 3; p++) { /* of which each has its marks */
    HopsLanesPart((HopsPart)p, k->alone || !marks ? PETSC_TRUE : PETSC_FALSE, k->ninterior, k->ncells, &a.first, &a.n);
    a.copies = HopsLanesMeetsCopies(k->meets, (HopsPart)p);
    if (!a.n) continue;
    PetscCall((*k->kernels->Diagonal)(&a, d, dg));
    if (marks) PetscCall(HopsLanesMeetsSum(k->kernels->meet, k->meets, (HopsPart)p, PETSC_DOUBLE, a.nT, d, dg));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDestroy(HopsOperator *A)
{
  HopsDerhamOperator   k = (HopsDerhamOperator)*A;
  const HopsMemoryOps *memory;

  PetscFunctionBegin;
  *A = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  memory = k->kernels->backend->memory;
  PetscCall(HopsLanesSetUpDestroy(k->kernels->backend, &k->own));
  PetscCall((*memory->Free)((void **)&k->args.work));
  PetscCall((*memory->Free)((void **)&k->qdata));
  PetscCall((*memory->Free)((void **)&k->tables));
  PetscCall((*memory->Free)(&k->marked));
  PetscCall(HopsLanesMeetsDestroy(k->kernels->backend, &k->meets));
  PetscCall(PetscFree(k->hosttables));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsDerhamOps = {.SetUp    = HopsDerhamSetUp,
                                              .Apply    = HopsDerhamApply,
                                              .Diagonal = HopsDerhamDiagonal,
                                              .Destroy  = HopsDerhamDestroy};

/* bytes of memory, and flops of an application */
static void SetInfo(HopsDerhamOperator k, HopsSpace space, size_t nqdata)
{
  const HopsDerhamArgs *a          = &k->args;
  const HopsFamily      derivative = HopsFamilyDerivative(space->family, space->dim);
  HopsLayout            l;

  HopsLayoutCreate(space->family, space->dim, space->order, &l);
  k->head.info.bytes = (PetscLogDouble)k->ncells * l.ne * sizeof(int) + (PetscLogDouble)nqdata * sizeof(double) +
                       (k->marked ? (PetscLogDouble)k->ncells * l.ne * sizeof(int) : 0) +
                       (a->work ? (PetscLogDouble)(a->nwork * a->nteams * sizeof(double)) : 0);
  k->head.info.flops = (PetscLogDouble)l.ne;
  if (a->nm) k->head.info.flops += TermFlops(k, space->family, a->nm);
  if (a->nd) {
    k->head.info.flops += TermFlops(k, derivative, a->nd);
    HopsLayoutCreate(derivative, space->dim, space->order, &l);
    k->head.info.flops += 2.0 * (PetscLogDouble)l.ne * (space->family == HOPS_HCURL ? 4 : 2 * a->dim);
  }
  k->head.info.flops *= (PetscLogDouble)k->ncells;
}

PetscErrorCode HopsDerhamOperatorCreate(const HopsDerhamKernels *kernels, HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  const HopsMemoryOps *memory = kernels->backend->memory;
  HopsSpace            space  = form->space;
  const PetscBool      deriv  = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE,
                  mass        = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;
  HopsDerhamOperator k;
  HopsDerhamArgs    *a;
  size_t             nqdata;
  PetscMPIInt        size;
  PetscBool          own;

  PetscFunctionBegin;
  PetscCheck(!deriv || space->family != HOPS_L2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "L2 has no derivative");
  PetscCall(PetscNew(&k));
  k->kernels  = kernels;
  k->head.ops = &HopsDerhamOps;
  *A          = &k->head;
  a           = &k->args;
  a->dim      = (int)space->dim;
  a->P        = (int)basis->P;
  a->Q        = (int)basis->Q;
  a->family   = Family(space->family);
  a->nT       = (int)space->nT;
  a->group    = kernels->group;
  a->nd       = deriv ? HopsFamilyTensorSize(HopsFamilyDerivative(space->family, a->dim), a->dim) : 0;
  a->nm       = mass ? HopsFamilyTensorSize(space->family, a->dim) : 0;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)space), &size));
  k->alone     = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  k->ncells    = space->ncells;
  k->ninterior = space->ninterior;
  PetscCall(HopsSpaceGetBackendCells(space, &a->restr, &k->own.X));
  PetscCall(HopsSpaceCreateGeometryBasis(space, basis, &k->geom));
  PetscCall(HopsLanesSetUpCreate(kernels->backend, space, basis->Q, &k->setup, &k->own));
  PetscCall(CreateTables(k, basis));
  PetscCall((*kernels->GenericSetUp)(a, &own)); /* the diagonal runs it for every order */
  if (!own) PetscCall((*memory->Malloc)(a->nwork * a->nteams * sizeof(double), (void **)&a->work));
  FindLaunch(k);
  a->marked = a->restr;
  if (k->head.info.specialised)
    PetscCall(HopsLanesMarkIndices(kernels->backend, kernels->meet, space, k->alone, (int)space->ne, &a->marked, &k->marked,
                                   &k->meets, &k->marks));
  nqdata = HopsLanesGroups(a->group, k->ncells) * HopsPower(a->Q, a->dim) * (a->nd + a->nm);
  PetscCall((*memory->Malloc)(nqdata * sizeof(double), (void **)&k->qdata));
  a->qdata       = k->qdata;
  k->setup.group = a->group;
  k->setup.ncomp = a->nd + a->nm;
  k->setup.qdata = k->qdata;
  SetInfo(k, space, nqdata);
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %sP=%d Q=%d, %s", kernels->backend->name,
                          k->head.info.specialised ? "" : "generic ", a->P, a->Q, HopsFamilies[space->family]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
