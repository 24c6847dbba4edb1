/*
  The halo exchange of a device. Packing and copies run on a queue beside the device's other work, through page-locked memory, so that
  cells without ghosts are worked on meanwhile and the process waits for the few entries that travel, not for them. Where MPI reads the
  device's memory itself (PETSc's -use_gpu_aware_mpi), PetscSF gets the device's pointers.
*/
#include <hops/private/hopsimpl.h>

struct _HopsHalo {
  HopsSpace             space; /* not referenced: the space outlives its halos */
  const HopsBackendOps *be;
  PetscInt              nc;
  PetscBool             alone, direct; /* no other rank; MPI gets the device's pointers */
  PetscInt             *idx;           /* device: [nshared*nc] entries of the owned part that other ranks hold */
  PetscScalar          *dbuf;          /* device: [nshared*nc] */
  PetscScalar          *hbuf, *gbuf;   /* page-locked: [nshared*nc] owned, [nG*nc] ghosts */
  MPI_Datatype          unit;
  HopsQueue             queue;
};

PetscErrorCode HopsHaloCreate(HopsSpace sp, PetscInt nc, HopsHalo *halo)
{
  const HopsBackendOps *be = sp->backend;
  HopsHalo              h;
  PetscInt             *idx;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo    = h;
  h->space = sp;
  h->be    = be;
  h->nc    = nc;
  h->unit  = MPIU_SCALAR;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  h->alone = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  h->direct = HopsGPUAwareMPI();
  PetscCall(PetscOptionsGetBool(((PetscObject)sp)->options, ((PetscObject)sp)->prefix, "-hops_halo_direct", &h->direct, NULL));
  if (nc > 1) { /* PetscSF sums no type of one scalar but the scalar itself */
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_SCALAR, &h->unit));
    PetscCallMPI(MPI_Type_commit(&h->unit));
  }
  PetscCall(PetscMalloc1(sp->nshared * nc, &idx));
  for (PetscInt i = 0; i < sp->nshared * nc; ++i) idx[i] = sp->shared[i / nc] * nc + i % nc;
  PetscCall((*be->Malloc)(sp->nshared * nc * sizeof(PetscInt), (void **)&h->idx));
  PetscCall((*be->Copy)(h->idx, idx, sp->nshared * nc * sizeof(PetscInt), PETSC_TRUE));
  PetscCall(PetscFree(idx));
  PetscCall((*be->Malloc)(sp->nshared * nc * sizeof(PetscScalar), (void **)&h->dbuf));
  if (!h->direct) {
    PetscCall((*be->MallocHost)(sp->nshared * nc * sizeof(PetscScalar), (void **)&h->hbuf));
    PetscCall((*be->MallocHost)(sp->nG * nc * sizeof(PetscScalar), (void **)&h->gbuf));
    PetscCall((*be->QueueCreate)(&h->queue));
  }
  PetscCall(PetscInfo(sp, "halo of %" PetscInt_FMT " owned and %" PetscInt_FMT " ghost unknowns, %s\n", sp->nshared, sp->nG, h->direct ? "by PetscSF on the device's memory" : "through page-locked memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloDestroy(HopsHalo *halo)
{
  HopsHalo h = *halo;

  PetscFunctionBegin;
  *halo = NULL;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  if (!h->alone) {
    PetscCall((*h->be->Free)((void **)&h->idx));
    PetscCall((*h->be->Free)((void **)&h->dbuf));
    if (!h->direct) {
      PetscCall((*h->be->QueueDestroy)(&h->queue));
      PetscCall((*h->be->FreeHost)((void **)&h->hbuf));
      PetscCall((*h->be->FreeHost)((void **)&h->gbuf));
    }
    if (h->nc > 1) PetscCallMPI(MPI_Type_free(&h->unit));
  }
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Owned entries on their way; messages start in HopsHaloEnd(), so that the caller's kernels are launched first */
PetscErrorCode HopsHaloBegin(HopsHalo h, const PetscScalar x[], PetscScalar xg[])
{
  HopsSpace      sp = h->space;
  const PetscInt n  = sp->nshared * h->nc;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) {
    PetscCall((*h->be->Pack)(n, h->idx, x, h->dbuf));
    PetscCall(PetscSFBcastWithMemTypeBegin(sp->halo, h->unit, h->be->memtype, h->dbuf, h->be->memtype, xg, MPI_REPLACE));
  } else {
    PetscCall((*h->be->QueueFork)(h->queue));
    PetscCall((*h->be->QueuePack)(h->queue, n, h->idx, x, h->dbuf));
    PetscCall((*h->be->QueueCopy)(h->queue, h->hbuf, h->dbuf, n * sizeof(PetscScalar), PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloEnd(HopsHalo h, PetscScalar xg[])
{
  HopsSpace sp = h->space;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) PetscCall(PetscSFBcastEnd(sp->halo, h->unit, h->dbuf, xg, MPI_REPLACE));
  else {
    PetscCall((*h->be->QueueFinish)(h->queue));
    PetscCall(PetscSFBcastBegin(sp->halo, h->unit, h->hbuf, h->gbuf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sp->halo, h->unit, h->hbuf, h->gbuf, MPI_REPLACE));
    PetscCall((*h->be->QueueCopy)(h->queue, xg, h->gbuf, sp->nG * h->nc * sizeof(PetscScalar), PETSC_TRUE));
    PetscCall((*h->be->QueueJoin)(h->queue));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddBegin(HopsHalo h, const PetscScalar yg[])
{
  HopsSpace sp = h->space;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) {
    PetscCall((*h->be->Zero)(sp->nshared * h->nc, h->dbuf));
    PetscCall(PetscSFReduceWithMemTypeBegin(sp->halo, h->unit, h->be->memtype, yg, h->be->memtype, h->dbuf, MPIU_SUM));
  } else {
    PetscCall((*h->be->QueueFork)(h->queue));
    PetscCall((*h->be->QueueCopy)(h->queue, h->gbuf, yg, sp->nG * h->nc * sizeof(PetscScalar), PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddEnd(HopsHalo h, const PetscScalar yg[], PetscScalar y[])
{
  HopsSpace      sp = h->space;
  const PetscInt n  = sp->nshared * h->nc;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) PetscCall(PetscSFReduceEnd(sp->halo, h->unit, yg, h->dbuf, MPIU_SUM));
  else {
    PetscCall((*h->be->QueueFinish)(h->queue));
    PetscCall(PetscArrayzero(h->hbuf, n));
    PetscCall(PetscSFReduceBegin(sp->halo, h->unit, h->gbuf, h->hbuf, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(sp->halo, h->unit, h->gbuf, h->hbuf, MPIU_SUM));
    PetscCall((*h->be->QueueCopy)(h->queue, h->dbuf, h->hbuf, n * sizeof(PetscScalar), PETSC_TRUE));
    PetscCall((*h->be->QueueJoin)(h->queue));
  }
  PetscCall((*h->be->UnpackAdd)(n, h->idx, h->dbuf, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The space's own halo, on the host or on a device ---- */

/* What the exchange and the identity rows need where the back end works; the host's own arrays serve the host */
PetscErrorCode HopsSpaceSetUpBackend(HopsSpace sp)
{
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  if (sp->onbackend) PetscFunctionReturn(PETSC_SUCCESS);
  if (be->host) sp->bessT = sp->essT;
  else {
    PetscCall((*be->Malloc)(sp->ness * sizeof(PetscInt), (void **)&sp->bessT));
    PetscCall((*be->Copy)(sp->bessT, sp->essT, sp->ness * sizeof(PetscInt), PETSC_TRUE));
    PetscCall(HopsHaloCreate(sp, 1, &sp->bhalo));
  }
  sp->onbackend = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceResetBackend(HopsSpace sp)
{
  PetscFunctionBegin;
  if (sp->onbackend && !sp->backend->host) {
    PetscCall((*sp->backend->Free)((void **)&sp->bessT));
    PetscCall(HopsHaloDestroy(&sp->bhalo));
  }
  if (!sp->backend->host) {
    PetscCall((*sp->backend->Free)((void **)&sp->brestr));
    PetscCall((*sp->backend->Free)((void **)&sp->bX));
  }
  sp->brestr    = NULL;
  sp->bX        = NULL;
  sp->bessT     = NULL;
  sp->onbackend = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Element restriction and coordinates where the back end works: one copy for all operators and matrices of the space */
PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace sp, const int **restr, const PetscReal **X)
{
  const HopsBackendOps *be = sp->backend;
  const size_t          nr = (size_t)sp->ncells * sp->ne * sizeof(int), nx = (size_t)sp->ncells * sp->dim * PetscPowInt(sp->gorder + 1, sp->dim) * sizeof(PetscReal);

  PetscFunctionBegin;
  if (be->host) {
    sp->brestr = sp->restr;
    sp->bX     = sp->X;
  } else if (!sp->brestr && sp->ncells) {
    PetscCall((*be->Malloc)(nr, (void **)&sp->brestr));
    PetscCall((*be->Malloc)(nx, (void **)&sp->bX));
    PetscCall((*be->Copy)(sp->brestr, sp->restr, nr, PETSC_TRUE));
    PetscCall((*be->Copy)(sp->bX, sp->X, nx, PETSC_TRUE));
  }
  *restr = sp->brestr;
  *X     = sp->bX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloBegin(HopsSpace sp, const PetscScalar x[], PetscScalar xg[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloBegin(sp, x, xg));
  else PetscCall(HopsHaloBegin(sp->bhalo, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloEnd(HopsSpace sp, const PetscScalar x[], PetscScalar xg[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloEnd(sp, x, xg));
  else PetscCall(HopsHaloEnd(sp->bhalo, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloAddBegin(HopsSpace sp, const PetscScalar yg[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloAddBegin(sp, yg));
  else PetscCall(HopsHaloAddBegin(sp->bhalo, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloAddEnd(HopsSpace sp, const PetscScalar yg[], PetscScalar y[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloAddEnd(sp, yg, y));
  else PetscCall(HopsHaloAddEnd(sp->bhalo, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
