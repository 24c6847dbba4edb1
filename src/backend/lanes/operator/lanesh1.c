/* Operators in H1 of back ends that launch kernels for teams of lanes: their data. */
#include "lanesh1impl.h"

/* Memory i of the kernel, the back end's, at least n bytes */
static PetscErrorCode Reserve(HopsH1Operator k, int i, size_t n)
{
  PetscFunctionBegin;
  if (n > k->size[i]) {
    PetscCall((*k->kernels->backend->memory->Free)(&k->mem[i]));
    PetscCall((*k->kernels->backend->memory->Malloc)(n, &k->mem[i]));
    k->size[i] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Indices for a fused kernel, in memory i where they have marks, or other nodes than restr */
static PetscErrorCode Mark(HopsH1Operator k, int i, HopsH1Args *a, int nodes)
{
  const int each = HopsPower(nodes, a->dim);
  PetscBool marked;

  PetscFunctionBegin;
  PetscCall(HopsLanesMarkIndices(k->kernels->backend, k->kernels->meet, k->space, k->alone, each, &a->padded, &k->mem[i], &k->meets,
                                 &marked));
  if (marked && nodes == a->P) k->marks = a->padded;
  if (k->mem[i]) k->size[i] = (size_t)k->ncells * each * sizeof(int);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All small tables in one piece of memory, on the host and in the back end's memory: B, D, C, BB, DD,
   BD, weights, points, the element map's B and D */
static PetscErrorCode CreateTables(HopsH1Operator k, const HopsBasis *b)
{
  const size_t PQ = (size_t)b->P * b->Q, QQ = (size_t)b->Q * b->Q, G = (size_t)k->geom.P * b->Q,
               n = 5 * PQ + QQ + 2 * (size_t)b->Q + 2 * G;
  double *h, *d;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &k->hosttables));
  PetscCall((*k->kernels->backend->memory->Malloc)(n * sizeof(double), (void **)&k->tables));
  h = k->hosttables;
  d = k->tables;
  PetscCall(PetscArraycpy(h, b->B, PQ));
  PetscCall(PetscArraycpy(h + PQ, b->D, PQ));
  if (b->Q >= b->P) PetscCall(PetscArraycpy(h + 2 * PQ, b->C, QQ));
  for (size_t i = 0; i < PQ; i++) {
    h[2 * PQ + QQ + i] = b->B[i] * b->B[i];
    h[3 * PQ + QQ + i] = b->D[i] * b->D[i];
    h[4 * PQ + QQ + i] = b->B[i] * b->D[i];
  }
  PetscCall(PetscArraycpy(h + 5 * PQ + QQ, b->weights, b->Q));
  for (PetscInt q = 0; q < b->Q; q++) h[5 * PQ + QQ + b->Q + q] = 0.5 * (b->points[q] + 1.0);
  PetscCall(PetscArraycpy(h + 5 * PQ + QQ + 2 * b->Q, k->geom.B, G));
  PetscCall(PetscArraycpy(h + 5 * PQ + QQ + 2 * b->Q + G, k->geom.D, G));
  PetscCall((*k->kernels->backend->memory->Copy)(NULL, d, h, n * sizeof(double), HOPS_COPY_IN));
  k->args.hostB = h;
  k->args.hostC = h + 2 * PQ;
  k->args.hostw = h + 5 * PQ + QQ;
  k->args.hostz = k->args.hostw + b->Q;
  k->args.B     = d;
  k->args.D     = d + PQ;
  k->args.C     = d + 2 * PQ;
  k->args.BB    = d + 2 * PQ + QQ;
  k->args.DD    = k->args.BB + PQ;
  k->args.BD    = k->args.DD + PQ;
  k->args.w     = k->args.BD + PQ;
  k->args.z     = k->args.w + b->Q;
  k->setup.w    = k->args.w;
  k->setup.z    = k->args.z;
  k->setup.B    = k->args.z + b->Q;
  k->setup.D    = k->setup.B + G;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplications and additions of a cell, as the fused kernels (Q >= P) or the generic one run them */
static double CellFlops(const HopsH1Args *a)
{
  const double P = a->P, Q = a->Q, nq = HopsPower(a->Q, a->dim), nn = HopsPower(a->P, a->dim);
  const double interp = a->dim == 3 ? 2 * P * Q * (P * P + P * Q + Q * Q) : 2 * P * Q * (P + Q);
  const double flux   = (a->diffusion ? (a->dim == 3 ? 15 : 6) : 0) * nq + (a->mass ? (a->diffusion ? 2 : 1) : 0) * nq;

  if (a->Q < a->P) return 2 * interp * ((a->diffusion ? a->dim : 0) + (a->mass ? 1 : 0)) + flux + nn;
  return 2 * interp + (a->diffusion ? 4 * a->dim * Q * nq : 0) + flux + nn;
}

static void FindLaunch(HopsH1Operator k)
{
  const HopsH1Launch *fused = k->kernels->launch;
  const int           P = k->args.P, Q = k->args.Q;

  k->launchfew             = P <= HOPS_H1_MOST_POINTS ? fused[P] : NULL;
  k->head.info.specialised = Q <= HOPS_H1_MOST_POINTS && P <= Q && fused[Q] ? PETSC_TRUE : PETSC_FALSE;
  k->launch                = k->head.info.specialised ? fused[Q] : k->kernels->generic;
}

/*
  On affine cells with coefficients that are constant in each, integrands have at most the degree 2p in a
  direction. A rule of more than p + 1 points, Gauss or Gauss-Lobatto, integrates them exactly, and so do p +
  1 Gauss points, with which it is applied. (The diagonal keeps the rule.)
*/
static PetscErrorCode SetFewPoints(HopsH1Operator k)
{
  HopsH1Args *a = &k->few;
  const int   n = k->args.P;

  PetscFunctionBegin;
  *a = k->args;
  if (a->Q == n) PetscFunctionReturn(PETSC_SUCCESS);
  a->Q      = n;
  a->padded = k->mem[4] ? (const int *)k->mem[4] : a->restr;
  if (!k->fewtables) {
    HopsBasis b;

    PetscCall(Mark(k, 4, a, n));
    PetscCall(HopsBasisCreate(n, n, PETSC_FALSE, &b));
    PetscCall(PetscMalloc1(2 * n * n + 2 * n, &k->fewtables));
    PetscCall(PetscArraycpy(k->fewtables, b.B, n * n));
    PetscCall(PetscArraycpy(k->fewtables + n * n, b.C, n * n));
    PetscCall(PetscArraycpy(k->fewtables + 2 * n * n, b.weights, n));
    for (int q = 0; q < n; q++) k->fewtables[2 * n * n + n + q] = 0.5 * (b.points[q] + 1.0);
    PetscCall(HopsBasisDestroy(&b));
    PetscCall((*k->kernels->backend->memory->Malloc)(2 * n * sizeof(double), (void **)&k->fewpoints));
    PetscCall(
      (*k->kernels->backend->memory->Copy)(NULL, k->fewpoints, k->fewtables + 2 * n * n, 2 * n * sizeof(double), HOPS_COPY_IN));
  }
  a->w               = k->fewpoints;
  a->z               = k->fewpoints + n;
  a->hostB           = k->fewtables;
  a->hostC           = a->hostB + n * n;
  a->hostw           = a->hostC + n * n;
  a->hostz           = a->hostw + n;
  k->head.info.flops = CellFlops(a) * (PetscLogDouble)k->ncells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsH1Destroy(HopsOperator *kernel)
{
  HopsH1Operator k = (HopsH1Operator)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 5; i++) PetscCall((*k->kernels->backend->memory->Free)(&k->mem[i]));
  PetscCall(HopsLanesMeetsDestroy(k->kernels->backend, &k->meets));
  PetscCall(HopsLanesSetUpDestroy(k->kernels->backend, &k->own));
  PetscCall((*k->kernels->backend->memory->Free)((void **)&k->tables));
  PetscCall(PetscFree(k->hosttables));
  PetscCall(PetscFree(k->fewtables));
  PetscCall((*k->kernels->backend->memory->Free)((void **)&k->fewpoints));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Indices for a fused kernel of more nodes than the basis has */
static PetscErrorCode PadRestriction(HopsH1Operator k)
{
  HopsH1Args *a = &k->args;
  const int   n = a->P, P = (a->Q - n) % 2 ? a->Q - 1 : a->Q;

  PetscFunctionBegin;
  a->padded = a->restr;
  if (!k->head.info.specialised) PetscFunctionReturn(PETSC_SUCCESS);
  if (n != P) {
    PetscCall(Reserve(k, 3, (size_t)k->ncells * HopsPower(P, a->dim) * sizeof(int)));
    a->padded = (const int *)k->mem[3];
    PetscCall((*k->kernels->Pad)(a->dim, n, P, k->ncells, a->restr, (int *)k->mem[3]));
  }
  PetscCall(Mark(k, 3, a, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run of cells by a kernel; afterwards waits for the device */
static PetscErrorCode SetUpCells(HopsH1Operator k, PetscErrorCode (*run)(const HopsSetUpArgs *), PetscInt first, PetscInt n,
                                 const HopsValues *kappa, const HopsValues *mass, PetscInt *bad, PetscReal *det)
{
  const HopsBackendOps *be = k->kernels->backend;
  HopsSetUpArgs        *s  = &k->setup;

  PetscFunctionBegin;
  PetscCall(HopsLanesSetUpBegin(be, &k->own, first, n, k->args.diffusion ? kappa : NULL, k->args.mass ? mass : NULL, s));
  PetscCall((*run)(s));
  PetscCall(HopsLanesSetUpEnd(be, &k->own, k->kernels->FindBad, k->ncells, s, bad, det));
  if (first + n == k->ncells && k->args.group > 1) {
    if (k->args.geometry == HOPS_GEOMETRY_STORED)
      HopsLanesFillGroup(k->args.group, k->ncells, s->qdata, s->ncomp * HopsPower(k->args.Q, k->args.dim));
    else HopsLanesFillGroup(k->args.group, k->ncells, s->geom, HopsGeometrySize(k->args.geometry, k->args.dim));
  }
  k->head.info.bytes = (PetscLogDouble)k->ncells * HopsPower(k->args.P, k->args.dim) * sizeof(int) + k->size[0] + k->size[1] +
                       k->size[2] + k->size[3] + k->size[4];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Quadrature data from memory, or recomputed: the other's data go */
static PetscErrorCode SetGeometry(HopsH1Operator k, int geometry)
{
  const size_t nq   = HopsPower(k->args.Q, k->args.dim);
  const int    drop = geometry == HOPS_GEOMETRY_STORED ? 2 : 0, keep = geometry == HOPS_GEOMETRY_STORED ? 0 : 2;

  PetscFunctionBegin;
  PetscCall((*k->kernels->backend->memory->Free)(&k->mem[drop]));
  k->size[drop] = 0;
  PetscCall(Reserve(k, keep,
                    HopsLanesGroups(k->args.group, k->ncells) *
                      (geometry == HOPS_GEOMETRY_STORED ? nq * k->setup.ncomp : (size_t)HopsGeometrySize(geometry, k->args.dim)) *
                      sizeof(double)));
  k->args.geometry = k->setup.geometry = geometry;
  k->setup.qdata                       = (double *)k->mem[0];
  k->setup.geom                        = (double *)k->mem[2];
  k->args.qdata                        = k->setup.qdata;
  k->args.geom                         = k->setup.geom;
  k->head.info.flops                   = CellFlops(&k->args) * (PetscLogDouble)k->ncells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsH1SetUp(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                  PetscInt *bad, PetscReal *det)
{
  HopsH1Operator k = (HopsH1Operator)A;

  PetscFunctionBegin;
  *bad = -1;
  *det = 0;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetGeometry(k, HOPS_GEOMETRY_STORED));
  PetscCall(SetUpCells(k, k->kernels->SetUp, first, n, kappa, mass, bad, det));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsH1SetUpCells(HopsOperator A, HopsMapKind kind, const HopsValues *kappa, const HopsValues *mass,
                                       PetscInt *bad, PetscReal *det)
{
  HopsH1Operator k = (HopsH1Operator)A;

  PetscFunctionBegin;
  *bad = -1;
  *det = 0;
  if (!k->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetGeometry(k, kind == HOPS_MAP_AFFINE ? HOPS_GEOMETRY_AFFINE : HOPS_GEOMETRY_MULTILINEAR));
  k->args.scalar = kappa->nc == 1;
  if (kind == HOPS_MAP_AFFINE) PetscCall(SetFewPoints(k));
  PetscCall(SetUpCells(k, k->kernels->SetUpCells, 0, k->ncells, kappa, mass, bad, det));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsH1Apply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsH1Operator  k      = (HopsH1Operator)A;
  const PetscBool affine = k->args.geometry == HOPS_GEOMETRY_AFFINE ? PETSC_TRUE : PETSC_FALSE;
  HopsH1Args     *a      = affine ? &k->few : &k->args;

  PetscFunctionBegin;
  HopsLanesPart(part, k->alone, k->ninterior, k->ncells, &a->first, &a->n);
  a->copies = HopsLanesMeetsCopies(k->meets, part);
  if (a->n) {
    PetscCall((*(affine ? k->launchfew : k->launch))(a, (const double *)x, (const double *)xg, (double *)y, (double *)yg));
    PetscCall(HopsLanesMeetsSum(k->kernels->meet, k->meets, part, PETSC_DOUBLE, a->nT, y, yg));
  }
  if (k->ncells) PetscCall(HopsLanesLogFlops(k->kernels->backend, k->head.info.flops / k->ncells * a->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsH1Diagonal(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  HopsH1Operator  k     = (HopsH1Operator)A;
  HopsH1Args      a     = k->args;
  const PetscBool marks = k->marks && !a.work ? PETSC_TRUE : PETSC_FALSE; /* teams with scratch of the back end's take turns */

  PetscFunctionBegin;
  a.padded = marks ? k->marks : NULL;
  if (marks) a.restr = k->marks;
  for (int p = 0; p < 3; p++) { /* of which each has its marks */
    HopsLanesPart((HopsPart)p, k->alone || !marks ? PETSC_TRUE : PETSC_FALSE, k->ninterior, k->ncells, &a.first, &a.n);
    a.copies = HopsLanesMeetsCopies(k->meets, (HopsPart)p);
    if (!a.n) continue;
    PetscCall((*k->kernels->Diagonal)(&a, d, dg));
    if (marks) PetscCall(HopsLanesMeetsSum(k->kernels->meet, k->meets, (HopsPart)p, PETSC_DOUBLE, a.nT, d, dg));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsH1Ops = {.SetUp        = HopsH1SetUp,
                                          .SetUpCells   = HopsH1SetUpCells,
                                          .Apply        = HopsH1Apply,
                                          .Diagonal     = HopsH1Diagonal,
                                          .CreateSingle = HopsH1SingleCreate,
                                          .Destroy      = HopsH1Destroy};

PetscErrorCode HopsH1OperatorCreate(const HopsH1Kernels *kernels, HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  HopsSpace       space     = form->space;
  const PetscBool diffusion = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE,
                  mass      = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;
  HopsH1Operator k;
  HopsH1Args    *a;
  int            ncomp;
  PetscMPIInt    size;
  PetscBool      own;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  k->kernels = kernels;
  a          = &k->args;
  *a         = (HopsH1Args){.dim       = (int)space->dim,
                            .P         = (int)basis->P,
                            .Q         = (int)basis->Q,
                            .nT        = (int)space->nT,
                            .group     = kernels->group,
                            .diffusion = diffusion,
                            .mass      = mass};
  ncomp      = (diffusion ? a->dim * (a->dim + 1) / 2 : 0) + (mass ? 1 : 0);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)space), &size));
  k->alone     = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  k->space     = space;
  k->ncells    = space->ncells;
  k->ninterior = space->ninterior;
  PetscCall(HopsSpaceGetBackendCells(space, &a->restr, &k->own.X));
  PetscCall(HopsSpaceCreateGeometryBasis(space, basis, &k->geom));
  PetscCall(CreateTables(k, basis));
  PetscCall((*kernels->GenericSetUp)(a->dim, a->P, a->Q, &a->nwork, &a->nteams, &own)); /* the diagonal runs it for every order */
  if (!own) PetscCall(Reserve(k, 1, a->nwork * a->nteams * sizeof(double)));
  a->work = (double *)k->mem[1];
  FindLaunch(k);
  PetscCall(PadRestriction(k));
  PetscCall(HopsLanesSetUpCreate(kernels->backend, space, basis->Q, &k->setup, &k->own));
  k->setup.ncomp     = ncomp;
  k->head.info.flops = CellFlops(a) * (PetscLogDouble)k->ncells;
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %sP=%d Q=%d", kernels->backend->name,
                          k->head.info.specialised ? "" : "generic ", a->P, a->Q));
  k->setup.group = a->group;
  k->head.ops    = &HopsH1Ops;
  *A             = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
