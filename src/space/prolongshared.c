/*
  Ghosts through memory that the ranks of a host share. A rank's piece has two flags, a part for its shared
  entries and one for its ghosts. Exchanges are counted. In each a rank writes its entries and sets `sent` to
  the count. Others wait for that, read, and set their `taken`, which is waited for before the part is written
  again. All of it is work on devices' queues, in the same order on all ranks. A wait is for what another rank
  queued before its own waits of that exchange: no circle of waits can come about.

  Ghosts that go back to their owner are written in the order in which the owner knows them, by rank. An entry
  that several ranks return is summed in rounds, so that in each round entries are distinct.
*/
#include <hops/private/hopsshareimpl.h>
#include <hops/private/hopsimpl.h>

enum {
  SENT  = 0,
  TAKEN = 64,
  DATA  = 128
}; /* bytes from the piece's begin */

typedef struct {
  PetscInt n;
  size_t  *piece; /* [n] where the pieces of these ranks begin */
} Peers;

struct _HopsSharedHalo {
  const HopsBackendOps *be;
  PetscDataType         type;
  HopsSharePiece        piece;
  HopsQueue             queue;
  size_t                mine; /* this rank's piece */
  Peers                 owners, holders;
  uint32_t              count, bcast, reduce; /* exchanges, and which were the last of a kind */
  PetscInt              nshared, nG, nback;   /* scalars: shared entries, ghosts, and entries that come back */
  size_t                ghosts;               /* from the piece's begin */
  PetscInt             *in, *lend, *back;     /* where the back end works: [nG] sources of ghosts, [nG] ghosts by owner,
                                                 [nback] sources of entries that come back, */
  PetscInt             *to, nrounds, *round;  /* and what of y they are added to; rounds begin at round[nrounds+1] */
  void                 *buffer;               /* [nback] */
};

/* ----------------------------------------- set-up ----------------------------------------- */

static PetscErrorCode ToBackend(const HopsBackendOps *be, PetscInt n, const PetscInt a[], PetscInt **b)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscInt), (void **)b));
  PetscCall((*be->memory->Copy)(NULL, *b, a, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPeers(const HopsSharePiece *piece, HopsSFRank n, const PetscMPIInt ranks[], Peers *p)
{
  PetscFunctionBegin;
  p->n = n;
  PetscCall(PetscMalloc1(n, &p->piece));
  for (HopsSFRank i = 0; i < n; ++i) p->piece[i] = piece->first[ranks[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources of ghosts, and ghosts by owner; from[owner]: where, in scalars, what goes to it begins */
static PetscErrorCode SetGhosts(HopsSharedHalo h, PetscSF sf, PetscInt nc, size_t size, int64_t from[])
{
  HopsSFRank         n;
  const PetscMPIInt *ranks;
  const PetscInt    *offset, *mine, *remote;
  PetscInt          *in, *lend;

  PetscFunctionBegin;
  PetscCall(PetscSFGetRootRanks(sf, &n, &ranks, &offset, &mine, &remote));
  PetscCall(SetPeers(&h->piece, n, ranks, &h->owners));
  PetscCall(PetscMalloc2(h->nG, &in, h->nG, &lend));
  for (HopsSFRank i = 0; i < n; ++i) {
    const PetscInt begin = (PetscInt)((h->owners.piece[i] + DATA) / size);

    for (PetscInt j = offset[i]; j < offset[i + 1]; ++j)
      for (PetscInt c = 0; c < nc; ++c) {
        const PetscInt ghost = (mine ? mine[j] : j) * nc + c;

        in[ghost]        = begin + remote[j] * nc + c;
        lend[j * nc + c] = ghost;
      }
    from[ranks[i]] = (int64_t)((h->mine + h->ghosts) / size) + offset[i] * nc;
  }
  PetscCall(ToBackend(h->be, h->nG, in, &h->in));
  PetscCall(ToBackend(h->be, h->nG, lend, &h->lend));
  PetscCall(PetscFree2(in, lend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that come back, in rounds; from[rank]: where in the memory those of a rank begin */
static PetscErrorCode SetBack(HopsSharedHalo h, PetscSF sf, PetscInt nroots, const PetscInt shared[], PetscInt nc,
                              const int64_t from[])
{
  HopsSFRank         n;
  const PetscMPIInt *ranks;
  const PetscInt    *offset, *root;
  PetscInt          *times, *at, *back, *to, nleaves;

  PetscFunctionBegin;
  PetscCall(PetscSFGetLeafRanks(sf, &n, &ranks, &offset, &root));
  PetscCall(SetPeers(&h->piece, n, ranks, &h->holders));
  nleaves  = n ? offset[n] : 0;
  h->nback = nleaves * nc;
  PetscCall(PetscCalloc1(nroots, &times));
  for (PetscInt j = 0; j < nleaves; ++j) {
    times[root[j]]++;
    h->nrounds = PetscMax(h->nrounds, times[root[j]]);
  }
  PetscCall(PetscCalloc1(h->nrounds + 1, &h->round));
  PetscCall(PetscMalloc3(h->nrounds, &at, h->nback, &back, h->nback, &to));
  for (PetscInt i = 0; i < nroots; ++i)
    for (PetscInt r = 0; r < times[i]; ++r) h->round[r + 1] += nc;
  for (PetscInt r = 0; r < h->nrounds; ++r) {
    at[r] = h->round[r];
    h->round[r + 1] += h->round[r];
  }
  PetscCall(PetscArrayzero(times, nroots));
  for (HopsSFRank i = 0; i < n; ++i)
    for (PetscInt j = offset[i]; j < offset[i + 1]; ++j) {
      PetscInt *k = at + times[root[j]]++;

      for (PetscInt c = 0; c < nc; ++c, ++*k) {
        back[*k] = (PetscInt)from[ranks[i]] + (j - offset[i]) * nc + c;
        to[*k]   = shared[root[j]] * nc + c;
      }
    }
  PetscCall(ToBackend(h->be, h->nback, back, &h->back));
  PetscCall(ToBackend(h->be, h->nback, to, &h->to));
  PetscCall(PetscFree3(at, back, to));
  PetscCall(PetscFree(times));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloCreate(MPI_Comm comm, const HopsBackendOps *be, PetscSF sf, const PetscInt shared[], PetscInt nc,
                                    PetscDataType type, HopsSharedHalo *halo)
{
  const size_t   size = type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);
  HopsSharedHalo h;
  HopsShare      share;
  PetscMPIInt    rank, nranks;
  PetscInt       nroots, nG;
  int64_t       *start, *from;

  PetscFunctionBegin;
  *halo = NULL;
  PetscCall(HopsShareGet(comm, be->memory, &share));
  if (!share) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  PetscCall(PetscSFGetGraph(sf, &nroots, &nG, NULL, NULL));
  PetscCall(PetscNew(&h));
  h->be      = be;
  h->type    = type;
  h->nshared = nroots * nc;
  h->nG      = nG * nc;
  h->ghosts  = DATA + (h->nshared * size + HOPS_SHARE_ALIGN - 1) / HOPS_SHARE_ALIGN * HOPS_SHARE_ALIGN;
  PetscCall(HopsShareAlloc(share, h->ghosts + h->nG * size, &h->piece));
  if (!h->piece.share) {
    PetscCall(PetscFree(h));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  h->mine = h->piece.first[rank];
  PetscCall(PetscMemzero(h->piece.host + h->mine, DATA));
  PetscCall(PetscCalloc2(nranks, &start, nranks, &from));
  PetscCall(SetGhosts(h, sf, nc, size, start));
  PetscCallMPI(MPI_Alltoall(start, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm)); /* flags are zero from here on */
  PetscCall(SetBack(h, sf, nroots, shared, nc, from));
  PetscCall(PetscFree2(start, from));
  PetscCall((*be->memory->Malloc)(h->nback * size, &h->buffer));
  PetscCall((*be->memory->QueueCreate)(&h->queue));
  *halo = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloDestroy(HopsSharedHalo *halo)
{
  HopsSharedHalo h = *halo;

  PetscFunctionBegin;
  *halo = NULL;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*h->be->memory->QueueDestroy)(&h->queue)); /* which waits: others may still read, but nothing here does */
  PetscCall(HopsShareFree(&h->piece));
  PetscCall((*h->be->memory->Free)((void **)&h->in));
  PetscCall((*h->be->memory->Free)((void **)&h->lend));
  PetscCall((*h->be->memory->Free)((void **)&h->back));
  PetscCall((*h->be->memory->Free)((void **)&h->to));
  PetscCall((*h->be->memory->Free)(&h->buffer));
  PetscCall(PetscFree(h->round));
  PetscCall(PetscFree(h->owners.piece));
  PetscCall(PetscFree(h->holders.piece));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- exchanges --------------------------------------- */

static PetscErrorCode Await(HopsSharedHalo h, const Peers *p, int flag, uint32_t count)
{
  PetscFunctionBegin;
  if (count)
    for (PetscInt i = 0; i < p->n; ++i)
      PetscCall((*h->be->memory->QueueAwait)(h->queue, (uint32_t *)(h->piece.device + p->piece[i] + flag), count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Signal(HopsSharedHalo h, int flag)
{
  PetscFunctionBegin;
  PetscCall((*h->be->memory->QueueSignal)(h->queue, (uint32_t *)(h->piece.device + h->mine + flag), h->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloBcastBegin(HopsSharedHalo h, const PetscInt idx[], const void *x)
{
  PetscFunctionBegin;
  PetscCall((*h->be->memory->QueueFork)(h->queue));
  PetscCall(Await(h, &h->holders, TAKEN, h->bcast));
  h->bcast = ++h->count;
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nshared, idx, x, h->piece.device + h->mine + DATA));
  PetscCall(Signal(h, SENT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloBcastEnd(HopsSharedHalo h, void *xg)
{
  PetscFunctionBegin;
  PetscCall(Await(h, &h->owners, SENT, h->count));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nG, h->in, h->piece.device, xg));
  PetscCall(Signal(h, TAKEN));
  PetscCall((*h->be->memory->QueueJoin)(h->queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloReduceBegin(HopsSharedHalo h, const void *yg)
{
  PetscFunctionBegin;
  PetscCall((*h->be->memory->QueueFork)(h->queue));
  PetscCall(Await(h, &h->owners, TAKEN, h->reduce));
  h->reduce = ++h->count;
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nG, h->lend, yg, h->piece.device + h->mine + h->ghosts));
  PetscCall(Signal(h, SENT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloReduceEnd(HopsSharedHalo h, void *y)
{
  const size_t size = h->type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);

  PetscFunctionBegin;
  PetscCall(Await(h, &h->holders, SENT, h->count));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nback, h->back, h->piece.device, h->buffer));
  PetscCall(Signal(h, TAKEN));
  PetscCall((*h->be->memory->QueueJoin)(h->queue));
  for (PetscInt r = 0; r < h->nrounds; ++r)
    PetscCall((*h->be->vector->UnpackAdd)(h->type, h->round[r + 1] - h->round[r], h->to + h->round[r],
                                          (char *)h->buffer + h->round[r] * size, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
