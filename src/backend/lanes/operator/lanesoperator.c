/* What operators of back ends that launch kernels for teams of lanes share. */
#include "lanesoperator.h"

void HopsLanesPart(HopsPart part, PetscBool alone, PetscInt ninterior, PetscInt ncells, PetscInt *first, PetscInt *n)
{
  const PetscInt half = ninterior / 2;

  if (alone) {
    *first = 0;
    *n     = part == HOPS_PART_SHARED ? ncells : 0;
    return;
  }
  *first = part == HOPS_PART_INTERIOR_A ? 0 : (part == HOPS_PART_INTERIOR_B ? half : ninterior);
  *n     = (part == HOPS_PART_INTERIOR_A ? half : (part == HOPS_PART_INTERIOR_B ? ninterior : ncells)) - *first;
}

PetscErrorCode HopsLanesSetUpCreate(const HopsBackendOps *be, HopsSpace sp, PetscInt Q, HopsSetUpArgs *s, HopsLanesSetUp *own)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(2 * sizeof(double), &own->flag));
  s->dim = (int)sp->dim;
  s->Pg  = (int)sp->gorder + 1;
  s->Q   = (int)Q;
  s->det = (double *)own->flag;
  s->bad = (int *)(s->det + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a coefficient: in memory i, unless they lie in the back end's memory */
static PetscErrorCode CopyValues(const HopsBackendOps *be, HopsLanesSetUp *own, int i, const HopsValues *v, PetscInt n, PetscInt nq,
                                 const double **out)
{
  const size_t size =
    (v->cstride ? (size_t)n * v->cstride : (v->pstride ? (size_t)nq * v->pstride : (size_t)v->nc)) * sizeof(double);

  PetscFunctionBegin;
  *out = v->v;
  if (!PetscMemTypeHost(v->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  if (size > own->size[i]) {
    PetscCall((*be->memory->Free)(&own->mem[i]));
    PetscCall((*be->memory->Malloc)(size, &own->mem[i]));
    own->size[i] = size;
  }
  PetscCall((*be->memory->Copy)(NULL, own->mem[i], v->v, size, HOPS_COPY_IN));
  *out = (const double *)own->mem[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesSetUpBegin(const HopsBackendOps *be, HopsLanesSetUp *own, PetscInt first, PetscInt n,
                                   const HopsValues *kappa, const HopsValues *mass, HopsSetUpArgs *s)
{
  const PetscInt nq   = HopsPower(s->Q, s->dim);
  const int      none = PETSC_MPI_INT_MAX;

  PetscFunctionBegin;
  s->first = first;
  s->n     = n;
  s->X     = own->X + (size_t)first * s->dim * HopsPower(s->Pg, s->dim);
  s->knc = s->mnc = 0;
  if (kappa) {
    PetscCall(CopyValues(be, own, 0, kappa, n, nq, &s->kappa));
    s->knc      = (int)kappa->nc;
    s->kcstride = kappa->cstride;
    s->kpstride = kappa->pstride;
  }
  if (mass) {
    PetscCall(CopyValues(be, own, 1, mass, n, nq, &s->mass));
    s->mnc      = (int)mass->nc;
    s->mcstride = mass->cstride;
    s->mpstride = mass->pstride;
  }
  PetscCall((*be->memory->Copy)(NULL, s->bad, &none, sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesSetUpEnd(const HopsBackendOps *be, HopsLanesSetUp *own, HopsLanesFindBad FindBad, PetscInt ncells,
                                 const HopsSetUpArgs *s, PetscInt *bad, PetscReal *det)
{
  int cell;

  PetscFunctionBegin;
  PetscCall((*be->memory->Copy)(NULL, &cell, s->bad, sizeof(int), HOPS_COPY_OUT));
  if (cell != PETSC_MPI_INT_MAX) {
    PetscCall((*FindBad)(s, cell));
    PetscCall((*be->memory->Copy)(NULL, det, s->det, sizeof(double), HOPS_COPY_OUT));
    *bad = s->first + cell;
  }
  for (int i = 0; i < 2 && s->first + s->n == ncells; i++) {
    PetscCall((*be->memory->Free)(&own->mem[i]));
    own->size[i] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesSetUpDestroy(const HopsBackendOps *be, HopsLanesSetUp *own)
{
  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) PetscCall((*be->memory->Free)(&own->mem[i]));
  PetscCall((*be->memory->Free)(&own->flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesMarkIndices(const HopsBackendOps *be, const HopsLanesMeetOps *ops, HopsSpace sp, PetscBool alone, int each,
                                    const int **indices, void **mem, HopsLanesMeets *meets, PetscBool *marked)
{
  const size_t     size = (size_t)sp->ncells * each * sizeof(int);
  HopsLanesMeet    m    = {0};
  const PetscReal *X;
  PetscBool        needed = PETSC_FALSE;

  PetscFunctionBegin;
  *marked = ops ? PETSC_TRUE : PETSC_FALSE;
  if (!ops) PetscFunctionReturn(PETSC_SUCCESS);
  m.nl = sp->nL + (sp->hung ? sp->hung->n : 0);
  /* kernels of a host read the mark also where one thread made none */
  PetscCheck(m.nl < HOPS_LANES_MEET, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This rank has %" PetscInt_FMT " unknowns, and the back end %s takes less than 2^30: use more ranks", m.nl, be->name);
  PetscCall((*ops->Mark)(&m, NULL, NULL, &needed));
  if (!needed || !size) PetscFunctionReturn(PETSC_SUCCESS);
  for (int p = 0; p < 3; p++) HopsLanesPart((HopsPart)p, alone, sp->ninterior, sp->ncells, &m.first[p], &m.n[p]);
  PetscCall(HopsSpaceGetBackendCells(sp, &m.restr, &X));
  m.percell = (int)sp->ne;
  m.each    = each;
  m.padded  = each != m.percell;
  if (!*mem) PetscCall((*be->memory->Malloc)(size, mem));
  if (*mem != *indices) PetscCall((*be->memory->Copy)(NULL, *mem, *indices, size, HOPS_COPY_WITHIN));
  *indices = (const int *)*mem;
  if (!*meets) PetscCall(PetscNew(meets));
  (*meets)->nl = m.nl;
  PetscCall((*ops->Mark)(&m, (int *)*mem, *meets, &needed));
  if (!(*meets)->buffer) PetscCall((*ops->Reserve)(*meets, 1, sizeof(double), &(*meets)->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HopsLanesCopies HopsLanesMeetsCopies(HopsLanesMeets meets, HopsPart part)
{
  HopsLanesCopies c = {0};

  if (meets) c = (HopsLanesCopies){meets->shared[part].of, meets->buffer};
  return c;
}

HopsLanesMeets HopsLanesMeetsReference(HopsLanesMeets meets)
{
  if (meets) meets->refct++;
  return meets;
}

PetscErrorCode HopsLanesMeetsSum(const HopsLanesMeetOps *ops, HopsLanesMeets meets, HopsPart part, PetscDataType type, PetscInt nT,
                                 void *y, void *yg)
{
  PetscFunctionBegin;
  if (meets && meets->shared[part].n) PetscCall((*ops->Sum)(meets, part, type, 1, nT, meets->buffer, y, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesMeetsDestroy(const HopsBackendOps *be, HopsLanesMeets *meets)
{
  HopsLanesMeets m = *meets;

  PetscFunctionBegin;
  *meets = NULL;
  if (!m || m->refct-- > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int p = 0; p < 3; p++) PetscCall(HopsLanesSharedFree(be, &m->shared[p]));
  PetscCall((*be->memory->Free)(&m->buffer));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t HopsLanesGroups(int group, PetscInt ncells)
{
  return (size_t)(ncells + group - 1) / group * group;
}

void HopsLanesFillGroup(int group, PetscInt ncells, double *data, size_t n)
{
  const int last = (int)((ncells - 1) % group);

  if (!ncells) return;
  data += (size_t)(ncells / group) * n * group;
  for (size_t i = 0; i < n && last < group - 1; ++i)
    for (int l = last + 1; l < group; ++l) data[i * group + l] = data[i * group + last];
}
