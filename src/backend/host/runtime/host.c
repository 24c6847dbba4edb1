/* Host back end: choice of the instruction set, memory, element-map tables, and what it has */
#include "hostimpl.h"
#include <hops/private/hopsmeshimpl.h>

/* Memory aligned for vectors of any width; huge pages (madvise) were tried and gained nothing */
PetscErrorCode HopsHostAlloc(size_t n, PetscBool zero, void **base, double **aligned)
{
  const size_t bytes = n * sizeof(double) + HOPS_HOST_ALIGN;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, base));
  if (zero) PetscCall(PetscMemzero(*base, bytes));
  *aligned = (double *)(((size_t)*base + HOPS_HOST_ALIGN - 1) / HOPS_HOST_ALIGN * HOPS_HOST_ALIGN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Widest instruction set that the machine has; -hops_host_isa <base|avx2|avx512> asks for one */
PetscErrorCode HopsHostSelect(HopsSpace space, const HopsHostKernels **kernels)
{
  const HopsHostKernels *all[] = {
#if defined(__x86_64__)
    &HopsHostKernelsAVX512,
    &HopsHostKernelsAVX2,
#endif
    &HopsHostKernelsBase
  };
  const int n = (int)PETSC_STATIC_ARRAY_LENGTH(all);
  char      isa[16];
  PetscBool set, same = PETSC_FALSE;
  int       i;

  PetscFunctionBegin;
  if (((PetscObject)space)->options) PetscCall(PetscOptionsPush(((PetscObject)space)->options));
  PetscOptionsBegin(PetscObjectComm((PetscObject)space), ((PetscObject)space)->prefix, "Host kernels of hops", "HopsSpace");
  PetscCall(
    PetscOptionsString("-hops_host_isa", "Instruction set: base, avx2 or avx512", "HopsSpace", "best", isa, sizeof(isa), &set));
  PetscOptionsEnd();
  if (((PetscObject)space)->options) PetscCall(PetscOptionsPop());
  for (i = 0; i < n; i++) {
    if (set) PetscCall(PetscStrcmp(isa, all[i]->isa, &same));
    if (set ? same : all[i]->supported()) break;
  }
  PetscCheck(i < n, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "Unknown -hops_host_isa %s: use base, avx2 or avx512 (the last two on x86-64 only)", isa);
  PetscCheck(all[i]->supported(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This machine does not run -hops_host_isa %s: use base, or leave the choice to hops", isa);
  *kernels = all[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tabulation of the element maps at the points of `basis`, and scratch for a batch: coordinates, one plane, a
   row of Jacobians */
PetscErrorCode HopsHostGeometrySetUp(HopsSpace space, const HopsBasis *basis, int W, HopsBasis *geom, HopsHostGeometry *map,
                                     void **base)
{
  const int dim = (int)space->dim, Pg = (int)space->gorder + 1;
  size_t    n;

  PetscFunctionBegin;
  PetscCheck(Pg <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Element maps of order %d: the host back end takes at most %d; lower the order of the coordinates "
             "(-dm_coord_petscspace_degree)",
             Pg - 1, HOPS_HOST_MAXLINE - 1);
  PetscCall(HopsSpaceCreateGeometryBasis(space, basis, geom));
  map->dim = dim;
  map->Pg  = Pg;
  map->M   = (int)geom->Q;
  map->B   = geom->B;
  map->D   = geom->D;
  map->X   = space->X;
  n        = (size_t)dim * (dim == 3 ? Pg : 1) * Pg * Pg + (size_t)2 * dim * Pg * Pg + (size_t)map->M * dim * dim;
  PetscCall(HopsHostAlloc(n * W, PETSC_TRUE, base, &map->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The process's own memory ---- */

/* Aligned for vectors of any width; what PetscMalloc() gave lies before it */
static PetscErrorCode HopsMalloc_Host(size_t n, void **p)
{
  void *base;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(n + HOPS_HOST_ALIGN + sizeof(void *), &base));
  *p                = (void *)(((size_t)base + sizeof(void *) + HOPS_HOST_ALIGN - 1) / HOPS_HOST_ALIGN * HOPS_HOST_ALIGN);
  ((void **)*p)[-1] = base;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFree_Host(void **p)
{
  void *base = *p ? ((void **)*p)[-1] : NULL;

  PetscFunctionBegin;
  PetscCall(PetscFree(base));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCopy_Host(HopsQueue queue, void *dst, const void *src, size_t n, HopsCopyDirection direction)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(dst, src, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing runs beside the process: MPI reads its memory, so that there are no queues */
static const HopsMemoryOps HopsMemoryHost = {.Malloc     = HopsMalloc_Host,
                                             .Free       = HopsFree_Host,
                                             .PoolMalloc = HopsMalloc_Host,
                                             .PoolFree   = HopsFree_Host,
                                             .MallocHost = HopsMalloc_Host,
                                             .FreeHost   = HopsFree_Host,
                                             .Copy       = HopsCopy_Host};

const HopsBackendOps HopsBackendHost = {
  .name           = "host",
  .vectype        = VECSTANDARD,
  .memtype        = PETSC_MEMTYPE_HOST,
  .host           = PETSC_TRUE,
  .condenses      = PETSC_TRUE,
  .spare          = PETSC_TRUE,
  .memory         = &HopsMemoryHost,
  .vector         = &HopsVectorHost,
  .OperatorCreate = HopsOperatorCreate_Host,
  .FacesCreate    = HopsFacesCreate_Host,
  .TensorCreate   = HopsTensorCreate_Host,
  .LORCreate      = HopsLORCreate_Host,
  .InterpCreate   = HopsInterpCreate_Host,
  .PatchCreate    = HopsPatchCreate_Host,
  .mesh           = &HopsMeshHost,
};
