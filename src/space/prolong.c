/*
  P takes a T-vector to the rest of its L-vector: ghosts come from their owners, then rows of constraints are
  combined from what is there. Its transpose takes contributions back.

  On a device packing and copies run on a queue beside the device's other work, so that cells without ghosts
  are worked on meanwhile. Entries pass through memory that the ranks of a host share (prolongshared.c), or
  through page-locked memory and messages, where the process waits for the few entries that travel. Where MPI
  reads the memory itself (the host's, or with PETSc's -use_gpu_aware_mpi the device's), PetscSF gets pointers
  to it.
*/
#include <hops/private/hopspointimpl.h>
#include <hops/private/hopsshareimpl.h>

struct _HopsProlong {
  const HopsBackendOps *be;
  PetscSF               sf; /* roots: the shared entries; leaves: the ghosts */
  PetscInt              nT, nshared, nG, nc;
  PetscBool             alone;       /* no other rank */
  HopsHaloMode          mode;        /* on a host direct: MPI gets the back end's pointers */
  PetscDataType         type;        /* of an entry, */
  size_t                size;        /* and its size */
  PetscInt             *idx;         /* [nshared*nc] entries of the owned part that other ranks hold */
  void                 *dbuf;        /* [nshared*nc]; this and the last where the back end works */
  void                 *hbuf, *gbuf; /* page-locked, staged: [nshared*nc] owned, [nG*nc] ghosts, */
  HopsQueue             queue;       /* and their queue */
  HopsSharedHalo        shared;
  MPI_Datatype          unit;
  HopsConstraints       c;    /* its arrays are copies */
  HopsHung              hung; /* HopsProlongSetHung(); NULL: none */
};

/* ---------------------------------------- the operator ---------------------------------------- */

/* How ghosts of a device travel. Asked once: the answer is the same for all operators of a space */
static PetscErrorCode AskMode(HopsSpace sp)
{
  static const char *const modes[] = {"staged", "shared", "direct", "HopsHaloMode", "", NULL};

  PetscFunctionBegin;
  if (sp->haloasked) PetscFunctionReturn(PETSC_SUCCESS);
  sp->halomode = HopsGPUAwareMPI() ? HOPS_HALO_DIRECT : HOPS_HALO_SHARED;
  if (((PetscObject)sp)->options) PetscCall(PetscOptionsPush(((PetscObject)sp)->options));
  PetscOptionsBegin(PetscObjectComm((PetscObject)sp), ((PetscObject)sp)->prefix, "Ghosts of hops on a device", "HopsSpace");
  PetscCall(PetscOptionsEnum("-hops_halo", "Through page-locked memory, memory that ranks share, or by PetscSF on the device's",
                             "HopsSpace", modes, (PetscEnum)sp->halomode, (PetscEnum *)&sp->halomode, &sp->halogiven));
  PetscOptionsEnd();
  if (((PetscObject)sp)->options) PetscCall(PetscOptionsPop());
  sp->haloasked = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks of several hosts share no memory; then messages serve, unless the user chose, or there is another way
   to do without */
static PetscErrorCode SetMode(HopsSpace sp, const HopsHalo *halo, PetscBool needed, HopsProlong P)
{
  PetscFunctionBegin;
  P->mode = HOPS_HALO_DIRECT;
  if (!P->be->memory->QueueCreate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AskMode(sp));
  P->mode = sp->halomode;
  if (P->mode == HOPS_HALO_DIRECT && P->type == PETSC_FLOAT) P->mode = HOPS_HALO_SHARED; /* PetscSF sums no floats on a device */
  if (P->mode != HOPS_HALO_SHARED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSharedHaloCreate(PetscObjectComm((PetscObject)sp), P->be, halo, P->nc, P->type, &P->shared));
  PetscCheck(P->shared || !needed || !sp->halogiven || sp->halomode != HOPS_HALO_SHARED, PetscObjectComm((PetscObject)sp),
             PETSC_ERR_SUP,
             "-hops_halo shared: the ranks are on several hosts, there is too little memory for them to share (/dev/shm), or the "
             "back end %s cannot have it: use -hops_halo staged",
             P->be->name);
  if (!P->shared) P->mode = HOPS_HALO_STAGED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpBuffers(HopsSpace sp, const PetscInt shared[], HopsProlong P)
{
  const char *const how[]  = {"through page-locked memory", "through memory that ranks share", "by PetscSF on the device's memory"};
  const HopsBackendOps *be = P->be;
  const PetscInt        n = P->nshared * P->nc, nc = P->nc;
  PetscInt             *idx;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &idx));
  for (PetscInt i = 0; i < n; ++i) idx[i] = shared[i / nc] * nc + i % nc;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscInt), (void **)&P->idx));
  PetscCall((*be->memory->Copy)(NULL, P->idx, idx, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall(PetscFree(idx));
  if (P->mode != HOPS_HALO_SHARED) PetscCall((*be->memory->Malloc)(n * P->size, &P->dbuf));
  if (P->mode == HOPS_HALO_STAGED) {
    PetscCall((*be->memory->MallocHost)(n * P->size, &P->hbuf));
    PetscCall((*be->memory->MallocHost)(P->nG * nc * P->size, &P->gbuf));
    PetscCall((*be->memory->QueueCreate)(&P->queue));
  }
  if (be->memory->QueueCreate)
    PetscCall(
      PetscInfo(sp, "halo of %" PetscInt_FMT " owned and %" PetscInt_FMT " ghost unknowns, %s\n", P->nshared, P->nG, how[P->mode]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyConstraints(const HopsConstraints *from, HopsConstraints *to)
{
  const PetscInt n = from->n, nnz = from->start[n];

  PetscFunctionBegin;
  to->n = n;
  PetscCall(PetscMalloc4(n, &to->row, n + 1, &to->start, nnz, &to->col, nnz, &to->value));
  PetscCall(PetscArraycpy(to->row, from->row, n));
  PetscCall(PetscArraycpy(to->start, from->start, n + 1));
  PetscCall(PetscArraycpy(to->col, from->col, nnz));
  PetscCall(PetscArraycpy(to->value, from->value, nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(HopsSpace sp, const HopsBackendOps *be, PetscInt nc, PetscDataType type, HopsProlong *prolong)
{
  HopsProlong P;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscNew(&P));
  *prolong = P;
  P->be    = be;
  P->nc    = nc;
  P->nT    = sp->nT;
  P->type  = type;
  P->unit  = type == PETSC_FLOAT ? MPI_FLOAT : MPIU_REAL;
  P->size  = type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);
  PetscCheck(nc == 1 || type != PETSC_FLOAT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PetscSF sums no blocks of floats");
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  P->alone = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetHalo(HopsSpace sp, const HopsHalo *halo, HopsProlong P)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)halo->sf));
  P->sf      = halo->sf;
  P->nshared = halo->nshared;
  P->nG      = halo->owners.start[halo->owners.n];
  if (P->nc > 1) { /* PetscSF sums no type of one scalar but the scalar itself */
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)P->nc, MPIU_REAL, &P->unit));
    PetscCallMPI(MPI_Type_commit(&P->unit));
  }
  PetscCall(SetUpBuffers(sp, halo->shared, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsProlongCreate(HopsSpace sp, const HopsBackendOps *be, const HopsHalo *halo, PetscInt nc, PetscDataType type,
                                 const HopsConstraints *constraints, HopsProlong *prolong)
{
  HopsProlong P;

  PetscFunctionBegin;
  PetscCall(Create(sp, be, nc, type, prolong));
  P = *prolong;
  if (constraints && constraints->n) {
    PetscCheck(PetscMemTypeHost(be->memtype) && nc == 1 && type != PETSC_FLOAT, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Rows of constraints need one component in double precision on the host: use -hops_backend host");
    PetscCall(CopyConstraints(constraints, &P->c));
  }
  if (P->alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetMode(sp, halo, PETSC_TRUE, P));
  PetscCall(SetHalo(sp, halo, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsProlongCreateShared(HopsSpace sp, const HopsBackendOps *be, const HopsHalo *halo, PetscDataType type,
                                       HopsProlong *prolong)
{
  PetscFunctionBegin;
  PetscCall(Create(sp, be, 1, type, prolong));
  if (!(*prolong)->alone) PetscCall(SetMode(sp, halo, PETSC_FALSE, *prolong));
  if ((*prolong)->shared) PetscCall(SetHalo(sp, halo, *prolong));
  else {
    PetscCall(PetscFree(*prolong));
    *prolong = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsProlongDestroy(HopsProlong *prolong)
{
  HopsProlong P = *prolong;

  PetscFunctionBegin;
  *prolong = NULL;
  if (!P) PetscFunctionReturn(PETSC_SUCCESS);
  if (!P->alone) {
    if (P->mode == HOPS_HALO_STAGED) {
      PetscCall((*P->be->memory->QueueDestroy)(&P->queue));
      PetscCall((*P->be->memory->FreeHost)(&P->hbuf));
      PetscCall((*P->be->memory->FreeHost)(&P->gbuf));
    }
    PetscCall(HopsSharedHaloDestroy(&P->shared));
    PetscCall((*P->be->memory->Free)((void **)&P->idx));
    PetscCall((*P->be->memory->Free)(&P->dbuf));
    if (P->nc > 1) PetscCallMPI(MPI_Type_free(&P->unit));
    PetscCall(PetscSFDestroy(&P->sf));
  }
  PetscCall(PetscFree4(P->c.row, P->c.start, P->c.col, P->c.value));
  PetscCall(PetscFree(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsProlongCanRecord(HopsProlong P)
{
  return P->be->memory->RecordBegin && (P->alone || P->mode == HOPS_HALO_SHARED) ? PETSC_TRUE : PETSC_FALSE;
}

/* Its vectors have room for these entries, too */
void HopsProlongSetHung(HopsProlong P, HopsHung hung)
{
  P->hung = hung;
}

/* Shared entries of x to dbuf, on the queue or, where it is NULL, beside the rest */
static PetscErrorCode Pack(HopsProlong P, HopsQueue queue, const void *x)
{
  PetscFunctionBegin;
  PetscCall((*P->be->vector->Pack)(queue, P->type, P->nshared * P->nc, P->idx, x, P->dbuf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells' own entries where nodes hang, of interior cells or of the others; where there are no ghosts to wait
   for, of both at once */
static PetscErrorCode MakeHung(HopsProlong P, PetscBool interior, const void *x, void *xg)
{
  PetscFunctionBegin;
  if (P->hung) PetscCall((*P->hung->ops->Apply)(P->hung, P->type, P->nc, interior, x, xg));
  if (P->hung && P->alone) PetscCall((*P->hung->ops->Apply)(P->hung, P->type, P->nc, PETSC_FALSE, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeHung(HopsProlong P, PetscBool interior, void *yg, void *y)
{
  PetscFunctionBegin;
  if (P->hung) PetscCall((*P->hung->ops->ApplyTranspose)(P->hung, P->type, P->nc, interior, yg, y));
  if (P->hung && P->alone) PetscCall((*P->hung->ops->ApplyTranspose)(P->hung, P->type, P->nc, PETSC_FALSE, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device messages start in HopsProlongEnd(), so that the caller's kernels are launched first. Masters of
   interior cells are owned */
PetscErrorCode HopsProlongBegin(HopsProlong P, const void *x, void *xg)
{
  PetscFunctionBegin;
  PetscCall(MakeHung(P, PETSC_TRUE, x, xg));
  if (P->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (P->mode == HOPS_HALO_SHARED) PetscCall(HopsSharedHaloBcastBegin(P->shared, P->idx, x));
  else if (P->mode == HOPS_HALO_DIRECT) {
    PetscCall(Pack(P, NULL, x));
    PetscCall(PetscSFBcastWithMemTypeBegin(P->sf, P->unit, P->be->memtype, P->dbuf, P->be->memtype, xg, MPI_REPLACE));
  } else {
    PetscCall((*P->be->memory->QueueFork)(P->queue));
    PetscCall(Pack(P, P->queue, x));
    PetscCall((*P->be->memory->Copy)(P->queue, P->hbuf, P->dbuf, P->nshared * P->nc * P->size, HOPS_COPY_OUT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No row of the constraints is a column of another one, so their order does not matter */
static void Constrain(const HopsProlong P, const PetscReal x[], PetscReal xg[])
{
  for (PetscInt i = 0; i < P->c.n; ++i) {
    PetscReal sum = 0.0;

    for (PetscInt k = P->c.start[i]; k < P->c.start[i + 1]; ++k)
      sum += P->c.value[k] * (P->c.col[k] < P->nT ? x[P->c.col[k]] : xg[P->c.col[k] - P->nT]);
    xg[P->c.row[i] - P->nT] = sum;
  }
}

static void ConstrainTranspose(const HopsProlong P, PetscReal yg[], PetscReal y[])
{
  for (PetscInt i = 0; i < P->c.n; ++i)
    for (PetscInt k = P->c.start[i]; k < P->c.start[i + 1]; ++k)
      *(P->c.col[k] < P->nT ? y + P->c.col[k] : yg + P->c.col[k] - P->nT) += P->c.value[k] * yg[P->c.row[i] - P->nT];
}

PetscErrorCode HopsProlongEnd(HopsProlong P, const void *x, void *xg)
{
  PetscFunctionBegin;
  if (!P->alone && P->mode == HOPS_HALO_SHARED) PetscCall(HopsSharedHaloBcastEnd(P->shared, xg));
  else if (!P->alone && P->mode == HOPS_HALO_DIRECT) PetscCall(PetscSFBcastEnd(P->sf, P->unit, P->dbuf, xg, MPI_REPLACE));
  else if (!P->alone) {
    PetscCall((*P->be->memory->QueueFinish)(P->queue));
    PetscCall(PetscSFBcastBegin(P->sf, P->unit, P->hbuf, P->gbuf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(P->sf, P->unit, P->hbuf, P->gbuf, MPI_REPLACE));
    PetscCall((*P->be->memory->Copy)(P->queue, xg, P->gbuf, P->nG * P->nc * P->size, HOPS_COPY_IN));
    PetscCall((*P->be->memory->QueueJoin)(P->queue));
  }
  if (P->c.n) Constrain(P, (const PetscReal *)x, (PetscReal *)xg);
  if (!P->alone) PetscCall(MakeHung(P, PETSC_FALSE, x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsProlongTransposeBegin(HopsProlong P, void *yg, void *y)
{
  const PetscInt n = P->nshared * P->nc;

  PetscFunctionBegin;
  if (!P->alone) PetscCall(TakeHung(P, PETSC_FALSE, yg, y));
  if (P->c.n) ConstrainTranspose(P, (PetscReal *)yg, (PetscReal *)y);
  if (P->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (P->mode == HOPS_HALO_SHARED) PetscCall(HopsSharedHaloReduceBegin(P->shared, yg));
  else if (P->mode == HOPS_HALO_DIRECT) {
    PetscCall((*P->be->vector->Zero)(P->type, n, P->dbuf));
    PetscCall(PetscSFReduceWithMemTypeBegin(P->sf, P->unit, P->be->memtype, yg, P->be->memtype, P->dbuf,
                                            P->type == PETSC_FLOAT ? MPI_SUM : MPIU_SUM));
  } else {
    PetscCall((*P->be->memory->QueueFork)(P->queue));
    PetscCall((*P->be->memory->Copy)(P->queue, P->gbuf, yg, P->nG * P->nc * P->size, HOPS_COPY_OUT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsProlongTransposeEnd(HopsProlong P, void *yg, void *y)
{
  const PetscInt n   = P->nshared * P->nc;
  const MPI_Op   sum = P->type == PETSC_FLOAT ? MPI_SUM : MPIU_SUM;

  PetscFunctionBegin;
  PetscCall(TakeHung(P, PETSC_TRUE, yg, y));
  if (P->alone) PetscFunctionReturn(PETSC_SUCCESS);
  if (P->mode == HOPS_HALO_SHARED) {
    PetscCall(HopsSharedHaloReduceEnd(P->shared, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (P->mode == HOPS_HALO_DIRECT) PetscCall(PetscSFReduceEnd(P->sf, P->unit, yg, P->dbuf, sum));
  else {
    PetscCall((*P->be->memory->QueueFinish)(P->queue));
    PetscCall(PetscMemzero(P->hbuf, n * P->size));
    PetscCall(PetscSFReduceBegin(P->sf, P->unit, P->gbuf, P->hbuf, sum));
    PetscCall(PetscSFReduceEnd(P->sf, P->unit, P->gbuf, P->hbuf, sum));
    PetscCall((*P->be->memory->Copy)(P->queue, P->dbuf, P->hbuf, n * P->size, HOPS_COPY_IN));
    PetscCall((*P->be->memory->QueueJoin)(P->queue));
  }
  PetscCall((*P->be->vector->UnpackAdd)(P->type, n, P->idx, P->dbuf, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------- where the back end works --------------------------------- */

/* What the exchange and the identity rows need there; the host's own arrays serve the host */
PetscErrorCode HopsSpaceSetUpBackend(HopsSpace sp)
{
  const HopsBackendOps *be   = sp->backend;
  const PetscBool       here = be->host;

  PetscFunctionBegin;
  if (sp->onbackend) PetscFunctionReturn(PETSC_SUCCESS);
  if (sp->hanging && !be->hanging && sp->family != HOPS_L2) PetscCall((*be->HungCreate)(sp, &sp->hung));
  if (here) sp->bessT = sp->essT;
  else {
    PetscCall((*be->memory->Malloc)(sp->ness * sizeof(PetscInt), (void **)&sp->bessT));
    PetscCall((*be->memory->Copy)(NULL, sp->bessT, sp->essT, sp->ness * sizeof(PetscInt), HOPS_COPY_IN));
  }
  if (here && !sp->hung) sp->P = sp->hostP;
  else {
    PetscCall(HopsProlongCreate(sp, be, &sp->halo, 1, PETSC_DOUBLE, NULL, &sp->P));
    HopsProlongSetHung(sp->P, sp->hung);
  }
  sp->onbackend = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For kernels that do not know hanging nodes even where those of this back end's scalar forms do */
PetscErrorCode HopsSpaceGetHung(HopsSpace sp, HopsHung *hung)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceSetUpBackend(sp));
  if (sp->hanging && sp->backend->hanging && sp->family != HOPS_L2 && !sp->tensorhung)
    PetscCall((*sp->backend->HungCreate)(sp, &sp->tensorhung));
  *hung = sp->hung ? sp->hung : sp->tensorhung;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += x in the rows of essential unknowns that the vector holds; buf[ness] is scratch. Floats, or doubles */
PetscErrorCode HopsSpaceAddEssential(HopsSpace sp, PetscDataType type, const void *x, void *buf, void *y)
{
  PetscFunctionBegin;
  if (!sp->ness) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*sp->backend->vector->Pack)(NULL, type, sp->ness, sp->bessT, x, buf));
  PetscCall((*sp->backend->vector->UnpackAdd)(type, sp->ness, sp->bessT, buf, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetBackend(HopsSpace sp, HopsSpace other)
{
  PetscFunctionBegin;
  if (sp->backend != other->backend) {
    PetscCall(HopsSpaceBringMesh(sp));
    PetscCall(HopsSpaceResetBackend(sp));
  }
  sp->backend    = other->backend;
  sp->backendset = other->backendset;
  sp->kokkosvecs = other->kokkosvecs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceResetBackend(HopsSpace sp)
{
  PetscFunctionBegin;
  PetscCall(HopsPointFunctionListDestroy(&sp->compiled));
  if (sp->P != sp->hostP) PetscCall(HopsProlongDestroy(&sp->P));
  if (sp->hung) PetscCall((*sp->hung->ops->Destroy)(&sp->hung));
  if (sp->tensorhung) PetscCall((*sp->tensorhung->ops->Destroy)(&sp->tensorhung));
  if (!sp->backend->host) {
    if (sp->onbackend) PetscCall((*sp->backend->memory->Free)((void **)&sp->bessT));
    PetscCall((*sp->backend->memory->Free)((void **)&sp->brestr));
    PetscCall((*sp->backend->memory->Free)((void **)&sp->bX));
  }
  sp->brestr    = NULL;
  sp->bX        = NULL;
  sp->bessT     = NULL;
  sp->P         = NULL;
  sp->onbackend = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
