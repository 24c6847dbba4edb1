/*
  The halo exchange of a device, and in single precision of the host too. Packing and copies run on a queue
  beside the device's other work, through page-locked memory, so that cells without ghosts are worked on
  meanwhile and the process waits for the few entries that travel, not for them. Where MPI reads the memory
  itself (the host's, or with PETSc's -use_gpu_aware_mpi the device's), PetscSF gets pointers to it.
*/
#include <hops/private/hopsimpl.h>

struct _HopsHalo {
  const HopsBackendOps *be;
  PetscSF               sf; /* roots: the shared entries; leaves: the ghosts */
  PetscInt              nshared, nG, nc;
  PetscBool             alone, direct; /* no other rank; MPI gets the back end's pointers */
  PetscBool             single;        /* entries are floats */
  size_t                size;          /* of an entry */
  PetscInt             *idx;           /* device: [nshared*nc] entries of the owned part that other ranks hold */
  void                 *dbuf;          /* device: [nshared*nc] */
  void                 *hbuf, *gbuf;   /* page-locked: [nshared*nc] owned, [nG*nc] ghosts */
  MPI_Datatype          unit;
  HopsQueue             queue;
};

static PetscErrorCode HaloCreate(HopsSpace sp, PetscSF sf, PetscInt nshared, const PetscInt shared[], PetscInt nG, PetscInt nc,
                                 PetscBool single, HopsHalo *halo)
{
  const HopsBackendOps *be = sp->backend;
  HopsHalo              h;
  PetscInt             *idx;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo     = h;
  h->be     = be;
  h->nc     = nc;
  h->single = single;
  h->unit   = single ? MPI_FLOAT : MPIU_SCALAR;
  h->size   = single ? sizeof(float) : sizeof(PetscScalar);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  h->alone = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)sf));
  h->sf      = sf;
  h->nshared = nshared;
  h->nG      = nG;
  h->direct  = be->host || HopsGPUAwareMPI() ? PETSC_TRUE : PETSC_FALSE;
  if (!be->host) {
    if (!sp->halodirectset) { /* once: every halo of the space is the same */
      sp->halodirect = h->direct;
      if (((PetscObject)sp)->options) PetscCall(PetscOptionsPush(((PetscObject)sp)->options));
      PetscOptionsBegin(PetscObjectComm((PetscObject)sp), ((PetscObject)sp)->prefix, "Ghosts of hops on a device", "HopsSpace");
      PetscCall(PetscOptionsBool("-hops_halo_direct", "By PetscSF on the device's memory, or through page-locked memory",
                                 "HopsSpace", sp->halodirect, &sp->halodirect, NULL));
      PetscOptionsEnd();
      if (((PetscObject)sp)->options) PetscCall(PetscOptionsPop());
      sp->halodirectset = PETSC_TRUE;
    }
    h->direct = sp->halodirect;
  }
  if (single && !be->host) h->direct = PETSC_FALSE; /* PetscSF sums no floats on a device */
  if (nc > 1) {                                     /* PetscSF sums no type of one scalar but the scalar itself */
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_SCALAR, &h->unit));
    PetscCallMPI(MPI_Type_commit(&h->unit));
  }
  PetscCall(PetscMalloc1(nshared * nc, &idx));
  for (PetscInt i = 0; i < nshared * nc; ++i) idx[i] = shared[i / nc] * nc + i % nc;
  PetscCall((*be->Malloc)(nshared * nc * sizeof(PetscInt), (void **)&h->idx));
  PetscCall((*be->Copy)(h->idx, idx, nshared * nc * sizeof(PetscInt), PETSC_TRUE));
  PetscCall(PetscFree(idx));
  PetscCall((*be->Malloc)(nshared * nc * h->size, &h->dbuf));
  if (!h->direct) {
    PetscCall((*be->MallocHost)(nshared * nc * h->size, &h->hbuf));
    PetscCall((*be->MallocHost)(nG * nc * h->size, &h->gbuf));
    PetscCall((*be->QueueCreate)(&h->queue));
  }
  PetscCall(PetscInfo(sp, "halo of %" PetscInt_FMT " owned and %" PetscInt_FMT " ghost unknowns, %s\n", nshared, nG,
                      h->direct ? "by PetscSF on the device's memory" : "through page-locked memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloCreate(HopsSpace sp, PetscInt nc, HopsHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(HaloCreate(sp, sp->halo, sp->nshared, sp->shared, sp->nG, nc, PETSC_FALSE, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloCreateShared(HopsSpace sp, PetscInt nshared, const PetscInt shared[], PetscInt nG,
                                    const PetscSFNode remote[], PetscBool single, HopsHalo *halo)
{
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &sf));
  PetscCall(PetscSFSetGraph(sf, nshared, nG, NULL, PETSC_OWN_POINTER, (PetscSFNode *)remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(HaloCreate(sp, sf, nshared, shared, nG, 1, single, halo));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The roots that have leaves are numbered anew, so that they alone are packed */
static PetscErrorCode HaloCreateSF(HopsSpace sp, PetscSF sf, PetscInt nG, PetscBool single, HopsHalo *halo)
{
  PetscInt           nroots, nleaves, nshared = 0, *place, *shared, *leaf;
  const PetscInt    *degree, *ilocal;
  const PetscSFNode *iremote;
  PetscSFNode       *remote;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &ilocal, &iremote));
  PetscCheck(!ilocal && nleaves == nG, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The leaves of a halo are not its ghosts");
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  PetscCall(PetscMalloc3(nroots, &place, nroots, &shared, nG, &leaf));
  for (PetscInt i = 0; i < nroots; ++i) {
    place[i] = -1;
    if (!degree[i]) continue;
    shared[nshared] = i;
    place[i]        = nshared++;
  }
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, place, leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, place, leaf, MPI_REPLACE));
  PetscCall(PetscMalloc1(nG, &remote));
  for (PetscInt i = 0; i < nG; ++i) {
    remote[i].rank  = iremote[i].rank;
    remote[i].index = leaf[i];
  }
  PetscCall(HopsHaloCreateShared(sp, nshared, shared, nG, remote, single, halo));
  PetscCall(PetscFree(remote));
  PetscCall(PetscFree3(place, shared, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloCreateSF(HopsSpace sp, PetscSF sf, PetscInt nG, HopsHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(HaloCreateSF(sp, sf, nG, PETSC_FALSE, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloCreateSingle(HopsSpace sp, PetscSF sf, PetscInt nG, HopsHalo *halo)
{
  PetscFunctionBegin;
  if (sf) PetscCall(HaloCreateSF(sp, sf, nG, PETSC_TRUE, halo));
  else PetscCall(HaloCreate(sp, sp->halo, sp->nshared, sp->shared, sp->nG, 1, PETSC_TRUE, halo));
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
    PetscCall((*h->be->Free)(&h->dbuf));
    if (!h->direct) {
      PetscCall((*h->be->QueueDestroy)(&h->queue));
      PetscCall((*h->be->FreeHost)(&h->hbuf));
      PetscCall((*h->be->FreeHost)(&h->gbuf));
    }
    if (h->nc > 1) PetscCallMPI(MPI_Type_free(&h->unit));
    PetscCall(PetscSFDestroy(&h->sf));
  }
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shared entries of x to dbuf, on the queue or beside the rest */
static PetscErrorCode HaloPack(HopsHalo h, HopsQueue queue, const void *x)
{
  const PetscInt n = h->nshared * h->nc;

  PetscFunctionBegin;
  if (h->single) PetscCall((*h->be->single->Pack)(queue, n, h->idx, (const float *)x, (float *)h->dbuf));
  else if (queue) PetscCall((*h->be->QueuePack)(queue, n, h->idx, (const PetscScalar *)x, (PetscScalar *)h->dbuf));
  else PetscCall((*h->be->Pack)(n, h->idx, (const PetscScalar *)x, (PetscScalar *)h->dbuf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Owned entries on their way; messages start in HaloEnd(), so that the caller's kernels are launched first */
static PetscErrorCode HaloBegin(HopsHalo h, const void *x, void *xg)
{
  const PetscInt n = h->nshared * h->nc;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) {
    PetscCall(HaloPack(h, NULL, x));
    PetscCall(PetscSFBcastWithMemTypeBegin(h->sf, h->unit, h->be->memtype, h->dbuf, h->be->memtype, xg, MPI_REPLACE));
  } else {
    PetscCall((*h->be->QueueFork)(h->queue));
    PetscCall(HaloPack(h, h->queue, x));
    PetscCall((*h->be->QueueCopy)(h->queue, h->hbuf, h->dbuf, n * h->size, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HaloEnd(HopsHalo h, void *xg)
{
  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) PetscCall(PetscSFBcastEnd(h->sf, h->unit, h->dbuf, xg, MPI_REPLACE));
  else {
    PetscCall((*h->be->QueueFinish)(h->queue));
    PetscCall(PetscSFBcastBegin(h->sf, h->unit, h->hbuf, h->gbuf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(h->sf, h->unit, h->hbuf, h->gbuf, MPI_REPLACE));
    PetscCall((*h->be->QueueCopy)(h->queue, xg, h->gbuf, h->nG * h->nc * h->size, PETSC_TRUE));
    PetscCall((*h->be->QueueJoin)(h->queue));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HaloAddBegin(HopsHalo h, const void *yg)
{
  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) {
    if (h->single) PetscCall((*h->be->single->Zero)(h->nshared * h->nc, (float *)h->dbuf));
    else PetscCall((*h->be->Zero)(h->nshared * h->nc, (PetscScalar *)h->dbuf));
    PetscCall(
      PetscSFReduceWithMemTypeBegin(h->sf, h->unit, h->be->memtype, yg, h->be->memtype, h->dbuf, h->single ? MPI_SUM : MPIU_SUM));
  } else {
    PetscCall((*h->be->QueueFork)(h->queue));
    PetscCall((*h->be->QueueCopy)(h->queue, h->gbuf, yg, h->nG * h->nc * h->size, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HaloAddEnd(HopsHalo h, const void *yg, void *y)
{
  const PetscInt n = h->nshared * h->nc;

  PetscFunctionBegin;
  if (h->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->direct) PetscCall(PetscSFReduceEnd(h->sf, h->unit, yg, h->dbuf, h->single ? MPI_SUM : MPIU_SUM));
  else {
    PetscCall((*h->be->QueueFinish)(h->queue));
    PetscCall(PetscMemzero(h->hbuf, n * h->size));
    PetscCall(PetscSFReduceBegin(h->sf, h->unit, h->gbuf, h->hbuf, h->single ? MPI_SUM : MPIU_SUM));
    PetscCall(PetscSFReduceEnd(h->sf, h->unit, h->gbuf, h->hbuf, h->single ? MPI_SUM : MPIU_SUM));
    PetscCall((*h->be->QueueCopy)(h->queue, h->dbuf, h->hbuf, n * h->size, PETSC_TRUE));
    PetscCall((*h->be->QueueJoin)(h->queue));
  }
  if (h->single) PetscCall((*h->be->single->UnpackAdd)(n, h->idx, (const float *)h->dbuf, (float *)y));
  else PetscCall((*h->be->UnpackAdd)(n, h->idx, (const PetscScalar *)h->dbuf, (PetscScalar *)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloBegin(HopsHalo h, const PetscScalar x[], PetscScalar xg[])
{
  PetscFunctionBegin;
  PetscCall(HaloBegin(h, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloBeginSingle(HopsHalo h, const float x[], float xg[])
{
  PetscFunctionBegin;
  PetscCall(HaloBegin(h, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloEnd(HopsHalo h, PetscScalar xg[])
{
  PetscFunctionBegin;
  PetscCall(HaloEnd(h, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloEndSingle(HopsHalo h, float xg[])
{
  PetscFunctionBegin;
  PetscCall(HaloEnd(h, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddBegin(HopsHalo h, const PetscScalar yg[])
{
  PetscFunctionBegin;
  PetscCall(HaloAddBegin(h, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddBeginSingle(HopsHalo h, const float yg[])
{
  PetscFunctionBegin;
  PetscCall(HaloAddBegin(h, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddEnd(HopsHalo h, const PetscScalar yg[], PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(HaloAddEnd(h, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloAddEndSingle(HopsHalo h, const float yg[], float y[])
{
  PetscFunctionBegin;
  PetscCall(HaloAddEnd(h, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The space's own halo, on the host or on a device ---- */

/* What the exchange and the identity rows need where the back end works; the host's own arrays serve the host
   */
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
