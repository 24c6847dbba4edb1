/* Host back end: choice of the instruction set, memory, element-map tables, and the table of operations */
#include "hostimpl.h"

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

static PetscErrorCode HopsPASetUp_Host(HopsPAKernel k, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                       PetscInt *bad, PetscReal *det)
{
  const HopsValues none = {0, 0, 0, NULL};
  HopsHostRun      run  = {first, n, k->diffusion ? kappa : &none, k->mass ? mass : &none, -1, 0};

  PetscFunctionBegin;
  PetscAssert(first + n <= k->ninterior || first >= k->ninterior, PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "A run of cells mixes interior and shared cells");
  PetscAssert(!k->diffusion || kappa->nc, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Diffusion coefficient absent");
  PetscAssert(!k->mass || mass->nc, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mass coefficient absent");
  if (n > 0) k->ops->setup(k, &run);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPAApply_Host(HopsPAKernel k, HopsPart part, const PetscScalar x[], const PetscScalar xg[],
                                       PetscScalar y[], PetscScalar yg[])
{
  const PetscInt end[]   = {0, k->nbi / 2, k->nbi, k->nb};
  const PetscInt cells[] = {0, PetscMin(k->nbi / 2 * k->W, k->ninterior), k->ninterior, k->ncells};

  PetscFunctionBegin;
  k->ops->apply(k, end[part], end[part + 1], x, xg, y, yg);
  if (k->ncells) PetscCall(PetscLogFlops(k->flops / k->ncells * (cells[part + 1] - cells[part])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPADiagonal_Host(HopsPAKernel k, PetscScalar d[], PetscScalar dg[])
{
  PetscFunctionBegin;
  k->ops->diagonal(k, d, dg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPAGetInfo_Host(HopsPAKernel k, const char **kernel, PetscBool *specialised, PetscLogDouble *bytes,
                                         PetscLogDouble *flops)
{
  PetscFunctionBegin;
  if (kernel) *kernel = k->name;
  if (specialised) *specialised = k->specialised;
  if (bytes) *bytes = k->bytes;
  if (flops) *flops = k->flops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The process's own memory ---- */

static PetscErrorCode HopsMalloc_Host(size_t n, void **p)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(n, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFree_Host(void **p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCopy_Host(void *dst, const void *src, size_t n, PetscBool in)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(dst, src, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsZero_Host(PetscInt n, PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(y, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPack_Host(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) buf[i] = idx[i] < 0 ? 0.0 : x[idx[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsUnpackAdd_Host(PetscInt n, const PetscInt idx[], const PetscScalar buf[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++)
    if (idx[i] >= 0) y[idx[i]] += buf[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSetEntries_Host(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[idx[i]] = x ? x[idx[i]] : 1.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCombine_Host(PetscInt n, PetscScalar a, const PetscScalar x[], PetscScalar b, const PetscScalar y[],
                                       PetscScalar w[])
{
  PetscFunctionBegin;
  if (b == 0.0 && a == 1.0) PetscCall(PetscArraycpy(w, x, n));
  else if (b == 0.0) {
    for (PetscInt i = 0; i < n; i++) w[i] = a * x[i];
  } else {
    for (PetscInt i = 0; i < n; i++) w[i] = a * x[i] + b * y[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTimes_Host(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar w[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) w[i] = x[i] * y[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsBackendOps HopsBackendHost = {
  .name                       = "host",
  .vectype                    = VECSTANDARD,
  .memtype                    = PETSC_MEMTYPE_HOST,
  .host                       = PETSC_TRUE,
  .Malloc                     = HopsMalloc_Host,
  .Free                       = HopsFree_Host,
  .Copy                       = HopsCopy_Host,
  .Zero                       = HopsZero_Host,
  .Pack                       = HopsPack_Host,
  .UnpackAdd                  = HopsUnpackAdd_Host,
  .SetEntries                 = HopsSetEntries_Host,
  .Combine                    = HopsCombine_Host,
  .Times                      = HopsTimes_Host,
  .PACreate                   = HopsPACreate_Host,
  .PASetUp                    = HopsPASetUp_Host,
  .PAApply                    = HopsPAApply_Host,
  .PADiagonal                 = HopsPADiagonal_Host,
  .PAGetInfo                  = HopsPAGetInfo_Host,
  .PADestroy                  = HopsPADestroy_Host,
  .LORCreate                  = HopsLORCreate_Host,
  .LORCouplings               = HopsLORCouplings_Host,
  .LORSetPositions            = HopsLORSetPositions_Host,
  .LORFill                    = HopsLORFill_Host,
  .LORGetInfo                 = HopsLORGetInfo_Host,
  .LORDestroy                 = HopsLORDestroy_Host,
  .TensorCreate               = HopsTensorCreate_Host,
  .TensorGetLayout            = HopsTensorGetLayout_Host,
  .TensorSetBlocks            = HopsTensorSetBlocks_Host,
  .TensorApply                = HopsTensorApply_Host,
  .TensorDiagonal             = HopsTensorDiagonal_Host,
  .TensorGetInfo              = HopsTensorGetInfo_Host,
  .TensorDestroy              = HopsTensorDestroy_Host,
  .InterpCreate               = HopsInterpCreate_Host,
  .InterpApply                = HopsInterpApply_Host,
  .InterpApplyTranspose       = HopsInterpApplyTranspose_Host,
  .InterpDestroy              = HopsInterpDestroy_Host,
  .FormCreate                 = HopsFormCreate_Host,
  .FormSetUp                  = HopsFormSetUp_Host,
  .FormApply                  = HopsFormApply_Host,
  .FormDiagonal               = HopsFormDiagonal_Host,
  .FormGetInfo                = HopsFormGetInfo_Host,
  .FormDestroy                = HopsFormDestroy_Host,
  .LumpCreate                 = HopsLumpCreate_Host,
  .LumpCouplings              = HopsLumpCouplings_Host,
  .LumpSetPositions           = HopsLumpSetPositions_Host,
  .LumpFill                   = HopsLumpFill_Host,
  .LumpGetInfo                = HopsLumpGetInfo_Host,
  .LumpDestroy                = HopsLumpDestroy_Host,
  .PatchCreate                = HopsPatchCreate_Host,
  .PatchApply                 = HopsPatchApply_Host,
  .PatchSweep                 = HopsPatchSweep_Host,
  .PatchGetInfo               = HopsPatchGetInfo_Host,
  .PatchDestroy               = HopsPatchDestroy_Host,
  .SinglePACreate             = HopsSinglePACreate_Host,
  .SinglePAApply              = HopsSinglePAApply_Host,
  .SinglePADestroy            = HopsSinglePADestroy_Host,
  .SingleInterpCreate         = HopsSingleInterpCreate_Host,
  .SingleInterpApply          = HopsSingleInterpApply_Host,
  .SingleInterpApplyTranspose = HopsSingleInterpApplyTranspose_Host,
  .SingleInterpDestroy        = HopsSingleInterpDestroy_Host,
  .single                     = &HopsSingleHost,
};
