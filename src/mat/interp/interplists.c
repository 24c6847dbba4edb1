/* The kernels of a prolongation on chosen cells: one of the coarse cells that were refined, one of those that
   were kept. */
#include "interpimpl.h"

/* What a kernel is made from, in the process's memory */
typedef struct {
  PetscInt        nhalf, ncoarse, nfine;
  int            *crestr, *frestr;
  PetscInt       *parent;
  unsigned char  *half, *axis;
  unsigned short *hang;
} Lists;

#define HOPS_NO_TARGET INT_MAX /* above all owned unknowns */

/* The lists of a coarse cell as kernels take them: where they do not know hanging nodes, the entries behind
   the L-vector that P makes */
static PetscErrorCode Sources(HopsSpace coarse, const int **restr, int **copy)
{
  const size_t     n = (size_t)coarse->ncells * coarse->ne;
  const PetscReal *X;

  PetscFunctionBegin;
  *copy = NULL;
  PetscCall(HopsSpaceGetBackendCells(coarse, restr, &X));
  if (*restr == coarse->restr) PetscFunctionReturn(PETSC_SUCCESS); /* the process's own */
  PetscCall(PetscMalloc1(n, copy));
  if (n) PetscCall((*coarse->backend->memory->Copy)(NULL, *copy, *restr, n * sizeof(int), HOPS_COPY_OUT));
  *restr = *copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListsCreate(const HopsInterpCells *x, PetscBool kept, const int sources[], Lists *l)
{
  const HopsSpace coarse = x->coarse, fine = x->fine;
  const PetscInt  nc = coarse->ne, nf = fine->ne, dim = fine->dim;
  PetscInt       *place;

  PetscFunctionBegin;
  *l = (Lists){.nhalf = kept ? 1 : 2};
  PetscCall(PetscMalloc1(coarse->ncells, &place));
  for (PetscInt c = 0; c < coarse->ncells; ++c) place[c] = -1;
  for (PetscInt f = 0; f < x->n; ++f) {
    if (x->kept[f] != kept) continue;
    ++l->nfine;
    place[x->parent[f]] = 0;
  }
  for (PetscInt c = 0; c < coarse->ncells; ++c)
    if (place[c] == 0) place[c] = l->ncoarse++;
  PetscCall(PetscMalloc3(l->ncoarse * nc, &l->crestr, l->nfine * nf, &l->frestr, l->ncoarse, &l->hang));
  PetscCall(PetscMalloc3(l->nfine, &l->parent, l->nfine, &l->half, l->nfine * dim, &l->axis));
  for (PetscInt c = 0; c < coarse->ncells; ++c) {
    if (place[c] < 0) continue;
    PetscCall(PetscArraycpy(l->crestr + place[c] * nc, sources + c * nc, nc));
    l->hang[place[c]] = coarse->hanging ? coarse->hang[c] : 0;
  }
  for (PetscInt f = 0, k = 0; f < x->n; ++f) {
    if (x->kept[f] != kept) continue;
    l->parent[k] = place[x->parent[f]];
    l->half[k]   = x->half[f];
    PetscCall(PetscArraycpy(l->axis + k * dim, x->axis + f * dim, dim));
    PetscCall(PetscArraycpy(l->frestr + k * nf, fine->restr + f * nf, nf));
    ++k;
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListsDestroy(Lists *l)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(l->crestr, l->frestr, l->hang));
  PetscCall(PetscFree3(l->parent, l->half, l->axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Targets are nodes that are a cell's own: what it lists of a parent's is elsewhere. An unknown is the target
  of one kernel, the first one; written[] says of which there was one. Children of one cell have a common node
  hang, or not: the facet or edge is their parent's.
*/
static PetscErrorCode Targets(const HopsInterpCells *x, PetscBool kept, Lists *l, PetscBool written[])
{
  const HopsSpace fine = x->fine;
  const PetscInt  nf   = fine->ne;
  PetscBool      *own;
  HopsHanging     h = {0};

  PetscFunctionBegin;
  if (fine->hanging) PetscCall(HopsHangingCreate(HOPS_H1, fine->dim, fine->order, &h));
  PetscCall(PetscMalloc1(nf, &own));
  for (PetscInt f = 0, k = 0; f < x->n; ++f) {
    if (x->kept[f] != kept) continue;
    HopsInterpOwnNodes(fine, &h, fine->hanging ? fine->hang[f] : 0, own);
    for (PetscInt i = 0; i < nf; ++i) {
      int *t = l->frestr + k * nf + i;

      if (*t >= fine->nT || !own[i] || written[*t]) *t = HOPS_NO_TARGET;
    }
    ++k;
  }
  for (PetscInt i = 0; i < l->nfine * nf; ++i)
    if (l->frestr[i] != HOPS_NO_TARGET) written[l->frestr[i]] = PETSC_TRUE;
  PetscCall(PetscFree(own));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n numbers where the back end works */
static PetscErrorCode ToBackend(const HopsBackendOps *be, size_t n, const int list[], int **to)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(int), (void **)to));
  if (n) PetscCall((*be->memory->Copy)(NULL, *to, list, n * sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKernel(const HopsInterpCells *x, const Lists *l, HopsInterpolation *kernel)
{
  const HopsSpace       coarse = x->coarse, fine = x->fine;
  const HopsBackendOps *be = coarse->backend;
  PetscReal            *A;
  int                  *crestr, *frestr;
  HopsInterpData        d;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((l->nhalf * fine->order + 1) * (coarse->order + 1), &A));
  PetscCall(HopsInterpMatrix(l->nhalf, coarse->order, fine->order, PETSC_TRUE, A));
  PetscCall(ToBackend(be, (size_t)l->ncoarse * coarse->ne, l->crestr, &crestr));
  PetscCall(ToBackend(be, (size_t)l->nfine * fine->ne, l->frestr, &frestr));
  d = (HopsInterpData){.prolong = PETSC_TRUE,
                       .partial = PETSC_TRUE,
                       .dim     = fine->dim,
                       .ncoarse = l->ncoarse,
                       .nfine   = l->nfine,
                       .nhalf   = l->nhalf,
                       .pc      = coarse->order,
                       .pf      = fine->order,
                       .crestr  = crestr,
                       .frestr  = frestr,
                       .parent  = l->parent,
                       .half    = l->half,
                       .axis    = l->axis,
                       .hang    = coarse->hanging && !coarse->hung ? l->hang : NULL,
                       .A       = A};
  PetscCall((*be->InterpCreate)(coarse, fine, &d, kernel));
  PetscCall((*be->memory->Free)((void **)&crestr));
  PetscCall((*be->memory->Free)((void **)&frestr));
  PetscCall(PetscFree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsInterpSetUpCells(Mat_HopsInterp *in, const HopsInterpCells *x)
{
  const HopsSpace to      = in->to;
  PetscInt        missing = to->nT;
  PetscBool      *written;
  const int      *sources;
  int            *copy;

  PetscFunctionBegin;
  PetscCall(HopsSpaceSetUpBackend(x->coarse));
  PetscCall(Sources(x->coarse, &sources, &copy));
  PetscCall(PetscCalloc1(to->nT, &written));
  for (PetscInt k = 0; k < 2; ++k) {
    const PetscBool kept = k ? PETSC_TRUE : PETSC_FALSE;
    PetscInt        most;
    Lists           l;

    PetscCall(ListsCreate(x, kept, sources, &l));
    PetscCall(Targets(x, kept, &l, written));
    PetscCall(MPIU_Allreduce(&l.nfine, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)to)));
    if (most) PetscCall(CreateKernel(x, &l, &in->map.kernel[in->map.nkernels++]));
    PetscCall(ListsDestroy(&l));
  }
  for (PetscInt e = 0; e < to->ness; ++e) written[to->essT[e]] = PETSC_TRUE; /* which are zero */
  for (PetscInt t = 0; t < to->nT; ++t) missing -= written[t] ? 1 : 0;
  PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " unknowns are nodes of no cell of the map", missing);
  PetscCall(PetscFree(written));
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
