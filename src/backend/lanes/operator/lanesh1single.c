/* Operators in H1 of back ends that launch kernels for teams of lanes: copies in single precision. */
#include "lanesh1impl.h"

typedef struct {
  struct _HopsOperator head;
  HopsH1Args           args; /* qdata and geom point to floats */
  const HopsH1Kernels *kernels;
  HopsH1SingleLaunch   launch;
  PetscInt             ncells, ninterior;
  PetscBool            alone;
  HopsLanesMeets       meets;  /* the operator's */
  void                *mem[2]; /* quadrature data or geometry, indices */
  double              *tables; /* the process's: B, C, weights, points */
  PetscLogDouble       flops;
} * HopsH1Single;

/* The parts are those of the operator in double precision */
static PetscErrorCode Apply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsH1Single s = (HopsH1Single)A;

  PetscFunctionBegin;
  HopsLanesPart(part, s->alone, s->ninterior, s->ncells, &s->args.first, &s->args.n);
  s->args.copies = HopsLanesMeetsCopies(s->meets, part);
  if (s->args.n) {
    PetscCall((*s->launch)(&s->args, (const float *)x, (const float *)xg, (float *)y, (float *)yg));
    PetscCall(HopsLanesMeetsSum(s->kernels->meet, s->meets, part, PETSC_FLOAT, s->args.nT, y, yg));
  }
  if (s->ncells) PetscCall(HopsLanesLogFlops(s->kernels->backend, s->flops / s->ncells * s->args.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(HopsOperator *A)
{
  HopsH1Single s = (HopsH1Single)*A;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall((*s->kernels->backend->memory->Free)(&s->mem[i]));
  PetscCall(HopsLanesMeetsDestroy(s->kernels->backend, &s->meets));
  PetscCall(PetscFree(s->tables));
  PetscCall(PetscFree(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsH1SingleOps = {.Apply = Apply, .Destroy = Destroy};

/* The kernel's own data may go before their copy */
PetscErrorCode HopsH1SingleCreate(HopsOperator A, HopsOperator *single)
{
  HopsH1Operator    k = (HopsH1Operator)A;
  HopsH1Single      s;
  HopsH1Args       *a;
  PetscInt          n;
  const HopsH1Args *from = k->args.geometry == HOPS_GEOMETRY_AFFINE ? &k->few : &k->args;
  size_t            size, PQ = (size_t)from->P * from->Q, QQ = (size_t)from->Q * from->Q;
  const int         stored = from->geometry == HOPS_GEOMETRY_STORED;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->head.ops  = &HopsH1SingleOps;
  *single      = &s->head;
  s->args      = *from;
  a            = &s->args;
  s->ncells    = k->ncells;
  s->ninterior = k->ninterior;
  s->alone     = k->alone;
  s->flops     = k->head.info.flops;
  s->kernels   = k->kernels;
  s->meets     = HopsLanesMeetsReference(k->meets);
  if (a->Q <= HOPS_H1_MOST_POINTS && a->P <= a->Q) s->launch = k->kernels->single[a->Q];
  PetscCheck(s->launch, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The back end %s has operators in single precision with 2 to 10 quadrature points per direction, and no fewer than "
             "nodes, "
             "not with %d points for %d nodes: set -mat_pa_q_1d, or use -pc_hopsmg_precision double",
             k->kernels->backend->name, a->Q, a->P);
  PetscCall(PetscIntCast((PetscInt64)(k->size[stored ? 0 : 2] / sizeof(double)), &n));
  PetscCall((*s->kernels->backend->memory->Malloc)((size_t)n * sizeof(float), &s->mem[0]));
  PetscCall(
    (*s->kernels->backend->vector->Convert)(PETSC_FLOAT, n, 1.0, (const double *)k->mem[stored ? 0 : 2], (float *)s->mem[0]));
  a->qdata = (const double *)(stored ? s->mem[0] : NULL);
  a->geom  = (const double *)(stored ? NULL : s->mem[0]);
  a->work  = NULL;
  size     = from->padded == k->mem[4]   ? k->size[4]
             : from->padded == k->mem[3] ? k->size[3]
                                         : k->ncells * (size_t)HopsPower(a->P, a->dim) * sizeof(int);
  PetscCall((*s->kernels->backend->memory->Malloc)(size, &s->mem[1]));
  if (size) PetscCall((*s->kernels->backend->memory->Copy)(NULL, s->mem[1], from->padded, size, HOPS_COPY_WITHIN));
  a->restr = a->padded = (const int *)s->mem[1];
  PetscCall(PetscMalloc1(PQ + QQ + 2 * (size_t)a->Q, &s->tables));
  PetscCall(PetscArraycpy(s->tables, a->hostB, PQ));
  PetscCall(PetscArraycpy(s->tables + PQ, a->hostC, QQ));
  PetscCall(PetscArraycpy(s->tables + PQ + QQ, a->hostw, a->Q));
  PetscCall(PetscArraycpy(s->tables + PQ + QQ + a->Q, a->hostz, a->Q));
  a->hostB = s->tables;
  a->hostC = s->tables + PQ;
  a->hostw = s->tables + PQ + QQ;
  a->hostz = a->hostw + a->Q;
  PetscFunctionReturn(PETSC_SUCCESS);
}
