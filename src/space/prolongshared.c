/*
  Ghosts through memory that the ranks of a host share. A rank's piece has a part for its shared entries and
  one for its ghosts, and before them flags, for each part one of each rank that reads it. It waits until
  these are empty, writes the part and sets them full. Readers wait for that, read, and set their own flag
  empty. All of it is work on devices' queues, in the same order on all ranks. A wait is for what another rank
  queued before its own waits of that exchange: no circle of waits can come about. Flags have the same values
  after an exchange as before, so that a device can record exchanges and repeat them.

  Ghosts that go back to their owner are written in the order in which the owner knows them, by rank. An entry
  that several ranks return is summed in rounds, so that in each round entries are distinct.
*/
#include <hops/private/hopsshareimpl.h>

enum {
  EMPTY,
  FULL
};
enum {
  BCAST,
  REDUCE
}; /* parts of a piece */

#define FLAG ((size_t)64) /* bytes from one flag to the next */

/* offsets in bytes */
typedef struct {
  PetscInt n;
  size_t  *piece;        /* [n] where the pieces of these ranks begin */
  size_t  *mine, *their; /* [n] the first part's flags of theirs in this rank's piece, of this rank's in theirs */
} Peers;

struct _HopsSharedHalo {
  const HopsBackendOps *be;
  PetscDataType         type;
  HopsSharePiece        piece;
  HopsQueue             queue;
  size_t                mine;         /* this rank's piece */
  size_t                data, ghosts; /* from the piece's begin: the parts, after the flags; */
  size_t                flags;        /* of one part, in bytes */
  Peers                 owners, holders;
  PetscInt              nshared, nG, nback;  /* scalars: shared entries, ghosts, and entries that come back */
  PetscInt             *in, *lend, *back;    /* where the back end works: [nG] sources of ghosts, [nG] ghosts by owner,
                                               [nback] sources of entries that come back, */
  PetscInt             *to, nrounds, *round; /* and what of y they are added to; rounds begin at round[nrounds+1] */
  void                 *buffer;              /* [nback] */
};

/* ----------------------------------------- set-up ----------------------------------------- */

static PetscErrorCode ToBackend(const HopsBackendOps *be, PetscInt n, const PetscInt a[], PetscInt **b)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscInt), (void **)b));
  PetscCall((*be->memory->Copy)(NULL, *b, a, n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPeers(HopsSharedHalo h, PetscMPIInt rank, const HopsNeighbors *neighbors, Peers *p)
{
  PetscFunctionBegin;
  p->n = neighbors->n;
  PetscCall(PetscMalloc3(p->n, &p->piece, p->n, &p->mine, p->n, &p->their));
  for (PetscInt i = 0; i < p->n; ++i) {
    p->piece[i] = h->piece.first[neighbors->rank[i]];
    p->mine[i]  = h->mine + neighbors->rank[i] * FLAG;
    p->their[i] = p->piece[i] + rank * FLAG;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources of ghosts, and ghosts by owner; from[owner]: where, in scalars, what goes to it begins */
static PetscErrorCode SetGhosts(HopsSharedHalo h, const HopsHalo *halo, PetscInt nc, size_t size, int64_t from[])
{
  const HopsNeighbors *owners = &halo->owners;
  PetscInt            *in, *lend;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(h->nG, &in, h->nG, &lend));
  for (PetscInt i = 0; i < owners->n; ++i) {
    const PetscInt begin = (PetscInt)((h->owners.piece[i] + h->data) / size);

    for (PetscInt j = owners->start[i]; j < owners->start[i + 1]; ++j)
      for (PetscInt c = 0; c < nc; ++c) {
        const PetscInt ghost = owners->entry[j] * nc + c;

        in[ghost]        = begin + halo->place[j] * nc + c;
        lend[j * nc + c] = ghost;
      }
    from[owners->rank[i]] = (int64_t)((h->mine + h->ghosts) / size) + owners->start[i] * nc;
  }
  PetscCall(ToBackend(h->be, h->nG, in, &h->in));
  PetscCall(ToBackend(h->be, h->nG, lend, &h->lend));
  PetscCall(PetscFree2(in, lend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that come back, in rounds; from[rank]: where in the memory those of a rank begin */
static PetscErrorCode SetBack(HopsSharedHalo h, const HopsHalo *halo, PetscInt nc, const int64_t from[])
{
  const HopsNeighbors *holders = &halo->holders;
  const PetscInt      *root = holders->entry, nleaves = holders->start[holders->n], nroots = halo->nshared;
  PetscInt            *times, *at, *back, *to;

  PetscFunctionBegin;
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
  for (PetscInt i = 0; i < holders->n; ++i)
    for (PetscInt j = holders->start[i]; j < holders->start[i + 1]; ++j) {
      PetscInt *k = at + times[root[j]]++;

      for (PetscInt c = 0; c < nc; ++c, ++*k) {
        back[*k] = (PetscInt)from[holders->rank[i]] + (j - holders->start[i]) * nc + c;
        to[*k]   = halo->shared[root[j]] * nc + c;
      }
    }
  PetscCall(ToBackend(h->be, h->nback, back, &h->back));
  PetscCall(ToBackend(h->be, h->nback, to, &h->to));
  PetscCall(PetscFree3(at, back, to));
  PetscCall(PetscFree(times));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloCreate(MPI_Comm comm, const HopsBackendOps *be, const HopsHalo *entries, PetscInt nc,
                                    PetscDataType type, HopsSharedHalo *halo)
{
  const size_t   size = type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);
  HopsSharedHalo h;
  HopsShare      share;
  PetscMPIInt    rank, nranks;
  int64_t       *start, *from;

  PetscFunctionBegin;
  *halo = NULL;
  PetscCall(HopsShareGet(comm, be->memory, &share));
  if (!share) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  PetscCall(PetscNew(&h));
  h->be      = be;
  h->type    = type;
  h->nshared = entries->nshared * nc;
  h->nG      = entries->owners.start[entries->owners.n] * nc;
  h->flags   = nranks * FLAG;
  h->data    = 2 * h->flags; /* a multiple of HOPS_SHARE_ALIGN */
  h->ghosts  = h->data + (h->nshared * size + HOPS_SHARE_ALIGN - 1) / HOPS_SHARE_ALIGN * HOPS_SHARE_ALIGN;
  PetscCall(HopsShareAlloc(share, h->ghosts + h->nG * size, &h->piece));
  if (!h->piece.share) {
    PetscCall(PetscFree(h));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  h->mine = h->piece.first[rank];
  PetscCall(PetscMemzero(h->piece.host + h->mine, h->data));
  PetscCall(SetPeers(h, rank, &entries->owners, &h->owners));
  PetscCall(SetPeers(h, rank, &entries->holders, &h->holders));
  PetscCall(PetscCalloc2(nranks, &start, nranks, &from));
  PetscCall(SetGhosts(h, entries, nc, size, start));
  PetscCallMPI(MPI_Alltoall(start, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm)); /* flags are empty from here on */
  PetscCall(SetBack(h, entries, nc, from));
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
  /* recorded exchanges are not the queue's. Others may still read and set their flags, nothing here does */
  PetscCall((*h->be->memory->QueueFinish)(NULL));
  PetscCall((*h->be->memory->QueueDestroy)(&h->queue));
  PetscCall(HopsShareFree(&h->piece));
  PetscCall((*h->be->memory->Free)((void **)&h->in));
  PetscCall((*h->be->memory->Free)((void **)&h->lend));
  PetscCall((*h->be->memory->Free)((void **)&h->back));
  PetscCall((*h->be->memory->Free)((void **)&h->to));
  PetscCall((*h->be->memory->Free)(&h->buffer));
  PetscCall(PetscFree(h->round));
  PetscCall(PetscFree3(h->owners.piece, h->owners.mine, h->owners.their));
  PetscCall(PetscFree3(h->holders.piece, h->holders.mine, h->holders.their));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- exchanges --------------------------------------- */

static PetscErrorCode Await(HopsSharedHalo h, PetscInt n, const size_t flag[], int part, uint32_t value)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    PetscCall((*h->be->memory->QueueAwait)(h->queue, (uint32_t *)(h->piece.device + flag[i] + part * h->flags), value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Signal(HopsSharedHalo h, PetscInt n, const size_t flag[], int part, uint32_t value)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    PetscCall((*h->be->memory->QueueSignal)(h->queue, (uint32_t *)(h->piece.device + flag[i] + part * h->flags), value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloBcastBegin(HopsSharedHalo h, const PetscInt idx[], const void *x)
{
  PetscFunctionBegin;
  PetscCall((*h->be->memory->QueueFork)(h->queue));
  PetscCall(Await(h, h->holders.n, h->holders.mine, BCAST, EMPTY));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nshared, idx, x, h->piece.device + h->mine + h->data));
  PetscCall(Signal(h, h->holders.n, h->holders.mine, BCAST, FULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloBcastEnd(HopsSharedHalo h, void *xg)
{
  PetscFunctionBegin;
  PetscCall(Await(h, h->owners.n, h->owners.their, BCAST, FULL));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nG, h->in, h->piece.device, xg));
  PetscCall(Signal(h, h->owners.n, h->owners.their, BCAST, EMPTY));
  PetscCall((*h->be->memory->QueueJoin)(h->queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloReduceBegin(HopsSharedHalo h, const void *yg)
{
  PetscFunctionBegin;
  PetscCall((*h->be->memory->QueueFork)(h->queue));
  PetscCall(Await(h, h->owners.n, h->owners.mine, REDUCE, EMPTY));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nG, h->lend, yg, h->piece.device + h->mine + h->ghosts));
  PetscCall(Signal(h, h->owners.n, h->owners.mine, REDUCE, FULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSharedHaloReduceEnd(HopsSharedHalo h, void *y)
{
  const size_t size = h->type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);

  PetscFunctionBegin;
  PetscCall(Await(h, h->holders.n, h->holders.their, REDUCE, FULL));
  PetscCall((*h->be->vector->Pack)(h->queue, h->type, h->nback, h->back, h->piece.device, h->buffer));
  PetscCall(Signal(h, h->holders.n, h->holders.their, REDUCE, EMPTY));
  PetscCall((*h->be->memory->QueueJoin)(h->queue));
  for (PetscInt r = 0; r < h->nrounds; ++r)
    PetscCall((*h->be->vector->UnpackAdd)(h->type, h->round[r + 1] - h->round[r], h->to + h->round[r],
                                          (char *)h->buffer + h->round[r] * size, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
