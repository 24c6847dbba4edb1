/* CUDA back end: what the set-up of patches takes of the device. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/lanes/operator/lanesh1impl.h>
#include "cudapatchmatrix.h"
#include "cudapatchpc.h"

static HopsCudaPatchData Data(HopsH1Operator k)
{
  HopsCudaPatchData a = {.points = {.dim        = k->args.dim,
                                    .Q          = k->args.Q,
                                    .nq         = (int)HopsPower(k->args.Q, k->args.dim),
                                    .derivative = k->args.diffusion,
                                    .mass       = k->args.mass,
                                    .w          = k->args.w},
                         .ncomp  = k->setup.ncomp,
                         .q      = k->args.qdata};

  return a;
}

static PetscErrorCode Models(HopsOperator A, HopsPatchCell models[])
{
  HopsH1Operator          k = (HopsH1Operator)A;
  const HopsCudaPatchData a = Data(k);
  const size_t            n = k->ncells * sizeof(HopsPatchCell);
  HopsPatchCell          *d;
  cudaStream_t            stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsMalloc_CUDA(n, (void **)&d));
  PetscCall(HopsCudaPatchModels(&a, (int)k->ncells, d, stream));
  PetscCall(HopsCopy_CUDA(NULL, models, d, n, HOPS_COPY_OUT));
  PetscCall(HopsFree_CUDA((void **)&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Elements(HopsOperator A, const HopsBasis *b, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  HopsH1Operator          k  = (HopsH1Operator)A;
  const HopsCudaPatchData a  = Data(k);
  const PetscInt          P2 = b->P * b->P, nt = 4 * b->Q * P2;
  double                 *T, *dT;
  PetscInt               *dcells;
  cudaStream_t            stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(PetscMalloc1(nt, &T));
  HopsPatchElementTables((int)b->P, (int)b->Q, b->B, b->D, T);
  PetscCall(HopsCudaToDevice(nt * sizeof(double), T, &dT));
  PetscCall(PetscFree(T));
  PetscCall(HopsCudaToDevice(n * sizeof(PetscInt), cells, &dcells));
  PetscCall(HopsCudaPatchElements(&a, (int)b->P, dT, (int)n, dcells, E, stream));
  PetscCall(HopsFree_CUDA((void **)&dT));
  PetscCall(HopsFree_CUDA((void **)&dcells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Faults(const HopsPatchNodes *m, PetscBool all, PetscInt n, const HopsPatchStar star[], unsigned char faults[])
{
  HopsPatchStar *dstar;
  unsigned char *dfaults;
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaToDevice(n * sizeof(HopsPatchStar), star, &dstar));
  PetscCall(HopsMalloc_CUDA(n, (void **)&dfaults));
  PetscCall(HopsCudaPatchFaults(m, all ? 1 : 0, (int)n, dstar, dfaults, stream));
  PetscCall(HopsCopy_CUDA(NULL, faults, dfaults, n, HOPS_COPY_OUT));
  PetscCall(HopsFree_CUDA((void **)&dstar));
  PetscCall(HopsFree_CUDA((void **)&dfaults));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lists(const HopsPatchLists *l, int idx[], int eidx[])
{
  HopsCudaPatchLists a = {.n = (int)l->n, .nodes = l->nodes, .idx = idx, .eidx = eidx};
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!l->n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < l->n; ++k)
    if (l->star[k].sorted) a.nmax = PetscMax(a.nmax, (int)(l->start[k + 1] - l->start[k]));
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaToDevice(l->n * sizeof(HopsPatchStar), l->star, &a.star));
  PetscCall(HopsCudaToDevice((l->n + 1) * sizeof(PetscInt), l->start, &a.start));
  PetscCall(HopsCudaToDevice((l->n + 1) * sizeof(PetscInt), l->estart, &a.estart));
  PetscCall(HopsCudaToDevice(l->ngiven * sizeof(int), l->given, &a.given));
  PetscCall(HopsCudaPatchMakeLists(&a, stream));
  PetscCall(HopsFree_CUDA((void **)&a.star));
  PetscCall(HopsFree_CUDA((void **)&a.start));
  PetscCall(HopsFree_CUDA((void **)&a.estart));
  PetscCall(HopsFree_CUDA((void **)&a.given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Condense(const HopsPatchModes *m, PetscInt n, const HopsPatchCondensed cond[], PetscScalar schur[],
                               PetscInt *bad)
{
  const int           none = PETSC_MPI_INT_MAX;
  HopsPatchModes      dm;
  HopsPatchCondensed *dcond;
  int                *dbad, first, nmax = 0;
  cudaStream_t        stream;

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt k = 0; k < n; ++k) nmax = PetscMax(nmax, cond[k].n);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaModesToDevice(m, &dm));
  PetscCall(HopsCudaToDevice(n * sizeof(HopsPatchCondensed), cond, &dcond));
  PetscCall(HopsCudaToDevice(sizeof(int), &none, &dbad));
  PetscCall(HopsCudaPatchCondense(&dm, (int)n, nmax, dcond, schur, dbad, stream));
  PetscCall(HopsCopy_CUDA(NULL, &first, dbad, sizeof(int), HOPS_COPY_OUT));
  if (first != none) *bad = first;
  PetscCall(HopsCudaModesFree(&dm));
  PetscCall(HopsFree_CUDA((void **)&dcond));
  PetscCall(HopsFree_CUDA((void **)&dbad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Invert(const HopsPatchMatrices *m, PetscScalar inv[], PetscInt *bad)
{
  const int             none = PETSC_MPI_INT_MAX;
  HopsCudaPatchMatrices a    = {.n = (int)m->n, .nodes = m->nodes, .list = m->list, .E = m->E, .inv = inv};
  int                   first;
  cudaStream_t          stream;

  PetscFunctionBegin;
  *bad = -1;
  if (!m->n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < m->n; ++k) a.nmax = PetscMax(a.nmax, (int)m->size[k]);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaToDevice(m->n * sizeof(PetscInt), m->start, &a.start));
  PetscCall(HopsCudaToDevice(m->n * sizeof(PetscInt), m->size, &a.size));
  PetscCall(HopsCudaToDevice((m->n + 1) * sizeof(PetscInt), m->cstart, &a.cstart));
  PetscCall(HopsCudaToDevice(m->cstart[m->n] * sizeof(int), m->cell, &a.cell));
  PetscCall(HopsCudaToDevice(m->ncells * sizeof(PetscInt), m->cells, &a.cells));
  PetscCall(HopsCudaToDevice(m->n * sizeof(size_t), m->offset, &a.offset));
  PetscCall(HopsCudaToDevice(sizeof(int), &none, &a.bad));
  PetscCall(HopsCudaPatchInvert(&a, stream));
  PetscCall(HopsCopy_CUDA(NULL, &first, a.bad, sizeof(int), HOPS_COPY_OUT));
  if (first != none) *bad = first;
  PetscCall(HopsFree_CUDA((void **)&a.start));
  PetscCall(HopsFree_CUDA((void **)&a.cstart));
  PetscCall(HopsFree_CUDA((void **)&a.size));
  PetscCall(HopsFree_CUDA((void **)&a.cell));
  PetscCall(HopsFree_CUDA((void **)&a.cells));
  PetscCall(HopsFree_CUDA((void **)&a.offset));
  PetscCall(HopsFree_CUDA((void **)&a.bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsPatchSetUpOps HopsPatchSetUpCUDA =
  {.Models = Models, .Elements = Elements, .Faults = Faults, .Lists = Lists, .Condense = Condense, .Invert = Invert};
