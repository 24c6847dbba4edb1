/* Host back end: choice of the instruction set, element-map tables, and what it has */
#include "hostimpl.h"
#include <hops/private/hopsarraysimpl.h>
#include <hops/private/hopsmeshimpl.h>

/* Piece t of T of a run of cells, which are in batches of W from cell `begin` on; values[] is memory for
   its values */
void HopsHostRunPiece(const HopsHostRun *run, PetscInt begin, int W, int t, int T, HopsHostRun *piece, HopsValues values[2])
{
  const PetscInt lead = (run->first - begin) % W, c0 = PetscMax(0, HopsHostPiece(run->n + lead, W, t, T) - lead),
                 c1 = PetscMax(0, HopsHostPiece(run->n + lead, W, t + 1, T) - lead);

  values[0] = *run->kappa;
  values[1] = *run->mass;
  for (int i = 0; i < 2; i++)
    if (values[i].nc) values[i].v += c0 * values[i].cstride;
  *piece = (HopsHostRun){run->first + c0, c1 - c0, &values[0], &values[1], -1, 0};
}

/* What a piece found, for its run: the first bad cell. Pieces may call this at once */
void HopsHostRunBad(const HopsHostRun *piece, HopsHostRun *run)
{
  if (piece->bad < 0) return;
  HOPS_ONE_AT_A_TIME
  {
    if (run->bad < 0 || piece->bad < run->bad) {
      run->bad = piece->bad;
      run->det = piece->det;
    }
  }
}

/* Appends how many threads there are, where there may be several */
PetscErrorCode HopsHostNameThreads(size_t n, char name[])
{
  PetscFunctionBegin;
#if defined(HOPS_OPENMP)
  const size_t len = strlen(name);

  PetscCall(PetscSNPrintf(name + len, n - len, ", %d thread%s", HopsHostThreads(), HopsHostThreads() == 1 ? "" : "s"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pieces of an operator's parts, batches end[part] to end[part + 1] of n entries */
PetscErrorCode HopsHostPiecesCreate(HopsSpace space, const PetscInt end[4], int n, const int idx[], HopsHostPieces *p)
{
  PetscFunctionBegin;
  for (int part = 0; part < 3; part++)
    PetscCall(HopsHostMeetingCreate(p->T, end[part], end[part + 1], n, idx, space->nT, space->nL, &p->part[part]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostPiecesDestroy(HopsHostPieces *p)
{
  PetscFunctionBegin;
  for (int part = 0; part < 3; part++) PetscCall(HopsHostMeetingDestroy(&p->part[part]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lanes to spare have zero data: the last batches of interior and of shared cells, n numbers each; set-up
   fills all other lanes */
void HopsHostZeroLanes(PetscInt nbi, PetscInt nb, size_t n, double data[])
{
  if (nbi) memset(data + n * (nbi - 1), 0, n * sizeof(*data));
  if (nb > nbi) memset(data + n * (nb - 1), 0, n * sizeof(*data));
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
  map->dim   = dim;
  map->Pg    = Pg;
  map->M     = (int)geom->Q;
  map->B     = geom->B;
  map->D     = geom->D;
  map->X     = space->X;
  n          = (size_t)dim * (dim == 3 ? Pg : 1) * Pg * Pg + (size_t)2 * dim * Pg * Pg + (size_t)map->M * dim * dim;
  map->nwork = HopsHostAligned(n * W);
  PetscCall(HopsHostAlloc(map->nwork * HopsHostThreads(), PETSC_TRUE, base, &map->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsBackendOps HopsBackendHost = {
  .name           = "host",
  .vectype        = VECSTANDARD,
  .memtype        = PETSC_MEMTYPE_HOST,
  .host           = PETSC_TRUE,
  .condenses      = PETSC_TRUE,
  .hanging        = PETSC_TRUE,
  .spare          = PETSC_TRUE,
  .memory         = &HopsMemoryHost,
  .vector         = &HopsVectorHost,
  .OperatorCreate = HopsOperatorCreate_Host,
  .FacesCreate    = HopsFacesCreate_Host,
  .HungCreate     = HopsHungCreate_Host,
  .TensorCreate   = HopsTensorCreate_Host,
  .LORCreate      = HopsLORCreate_Host,
  .InterpCreate   = HopsInterpCreate_Host,
  .PatchCreate    = HopsPatchCreate_Host,
  .mesh           = &HopsMeshHost,
  .arrays         = &HopsArraysHost,
};
