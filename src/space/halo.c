/*
  Which entries ranks share: each knows its ghosts, and their owners are told which entries of theirs these
  are. The work is that of the entries shared, but for one pass over a bit of each owned entry: of millions,
  few are shared. PetscSF would need one graph whose roots are all owned entries and one of those shared, and
  its set-up took as long as the rest of a space's on a device.
*/
#include <hops/private/hopsimpl.h>

PetscErrorCode HopsNeighborsCreate(PetscMPIInt n, const PetscMPIInt rank[], const PetscInt count[], HopsNeighbors *neighbors)
{
  PetscFunctionBegin;
  neighbors->n = n;
  PetscCall(PetscMalloc2(n, &neighbors->rank, n + 1, &neighbors->start));
  PetscCall(PetscArraycpy(neighbors->rank, rank, n));
  neighbors->start[0] = 0;
  for (PetscMPIInt k = 0; k < n; ++k) neighbors->start[k + 1] = neighbors->start[k] + count[k];
  PetscCall(PetscMalloc1(neighbors->start[n], &neighbors->entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNeighborsDestroy(HopsNeighbors *neighbors)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(neighbors->rank, neighbors->start));
  PetscCall(PetscFree(neighbors->entry));
  neighbors->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNeighborsCreateByRank(MPI_Comm comm, PetscInt nitems, const PetscInt to[], HopsNeighbors *neighbors)
{
  PetscMPIInt size, n = 0, *rank;
  PetscInt   *count, *next;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc1(size, &next));
  for (PetscInt i = 0; i < nitems; ++i) ++next[to[i]];
  for (PetscMPIInt r = 0; r < size; ++r) n += next[r] ? 1 : 0;
  PetscCall(PetscMalloc2(n, &rank, n, &count));
  for (PetscMPIInt r = 0, k = 0; r < size; ++r) {
    if (!next[r]) continue;
    rank[k]    = r;
    count[k++] = next[r];
  }
  PetscCall(HopsNeighborsCreate(n, rank, count, neighbors));
  PetscCall(PetscFree2(rank, count));
  for (PetscMPIInt k = 0; k < n; ++k) next[neighbors->rank[k]] = neighbors->start[k];
  for (PetscInt i = 0; i < nitems; ++i) neighbors->entry[next[to[i]]++] = i;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNeighborsCreateOpposite(MPI_Comm comm, const HopsNeighbors *neighbors, HopsNeighbors *opposite)
{
  PetscInt   *count, *theirs;
  PetscMPIInt n, *rank;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(neighbors->n, &count));
  for (PetscMPIInt k = 0; k < neighbors->n; ++k) count[k] = neighbors->start[k + 1] - neighbors->start[k];
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, neighbors->n, neighbors->rank, count, &n, &rank, &theirs));
  PetscCall(PetscSortMPIIntWithIntArray(n, rank, theirs)); /* they answer in any order */
  PetscCall(HopsNeighborsCreate(n, rank, theirs, opposite));
  PetscCall(PetscFree(rank));
  PetscCall(PetscFree(theirs));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNeighborsSend(MPI_Comm comm, PetscMPIInt tag, const HopsNeighbors *to, const PetscInt tostart[],
                                 const HopsNeighbors *from, const PetscInt fromstart[], MPI_Datatype unit, size_t size,
                                 const void *out, void *in)
{
  PetscMPIInt  n = 0, count;
  MPI_Request *request;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(to->n + from->n, &request));
  for (PetscMPIInt k = 0; k < from->n; ++k) {
    PetscCall(PetscMPIIntCast(fromstart[k + 1] - fromstart[k], &count));
    PetscCallMPI(MPI_Irecv((char *)in + fromstart[k] * size, count, unit, from->rank[k], tag, comm, &request[n++]));
  }
  for (PetscMPIInt k = 0; k < to->n; ++k) {
    PetscCall(PetscMPIIntCast(tostart[k + 1] - tostart[k], &count));
    PetscCallMPI(MPI_Isend((const char *)out + tostart[k] * size, count, unit, to->rank[k], tag, comm, &request[n++]));
  }
  PetscCallMPI(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A bit for each of n entries, and how many are set before each word of bits */
typedef struct {
  PetscInt  nwords;
  uint64_t *word;
  PetscInt *before;
} Bits;

static PetscErrorCode BitsCreate(PetscInt n, PetscInt nentries, const PetscInt entry[], Bits *bits, PetscInt *nset)
{
  PetscInt sum = 0;

  PetscFunctionBegin;
  bits->nwords = (n + 63) / 64;
  PetscCall(PetscCalloc2(bits->nwords, &bits->word, bits->nwords, &bits->before));
  for (PetscInt k = 0; k < nentries; ++k) {
    PetscAssert(entry[k] >= 0 && entry[k] < n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Another rank holds an entry that there is not");
    bits->word[entry[k] / 64] |= (uint64_t)1 << entry[k] % 64;
  }
  for (PetscInt w = 0; w < bits->nwords; ++w) {
    bits->before[w] = sum;
    if (bits->word[w]) sum += __builtin_popcountll(bits->word[w]);
  }
  *nset = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt BitsBefore(const Bits *bits, PetscInt i)
{
  return bits->before[i / 64] + __builtin_popcountll(bits->word[i / 64] & (((uint64_t)1 << i % 64) - 1));
}

PetscErrorCode HopsHaloFinish(MPI_Comm comm, PetscMPIInt tag, PetscInt nT, HopsHalo *halo)
{
  const HopsNeighbors *owners = &halo->owners, *holders = &halo->holders;
  const PetscInt       nheld = holders->start[holders->n], nghosts = owners->start[owners->n];
  PetscSFNode         *remote;
  Bits                 bits;

  PetscFunctionBegin;
  PetscCall(BitsCreate(nT, nheld, holders->entry, &bits, &halo->nshared));
  PetscCall(PetscMalloc1(halo->nshared, &halo->shared));
  for (PetscInt w = 0, k = 0; w < bits.nwords; ++w)
    for (uint64_t left = bits.word[w]; left; left &= left - 1) halo->shared[k++] = 64 * w + __builtin_ctzll(left);
  for (PetscInt k = 0; k < nheld; ++k) holders->entry[k] = BitsBefore(&bits, holders->entry[k]);
  PetscCall(PetscFree2(bits.word, bits.before));
  PetscCall(PetscMalloc1(nghosts, &halo->place));
  PetscCall(HopsNeighborsSend(comm, tag, holders, holders->start, owners, owners->start, MPIU_INT, sizeof(PetscInt), holders->entry,
                              halo->place));
  PetscCall(PetscMalloc1(nghosts, &remote));
  for (PetscMPIInt r = 0; r < owners->n; ++r)
    for (PetscInt k = owners->start[r]; k < owners->start[r + 1]; ++k) {
      remote[owners->entry[k]].rank  = owners->rank[r];
      remote[owners->entry[k]].index = halo->place[k];
    }
  PetscCall(PetscSFCreate(comm, &halo->sf));
  PetscCall(PetscSFSetGraph(halo->sf, halo->nshared, nghosts, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloCreate(PetscSF sf, HopsHalo *halo)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)sf);
  PetscInt           nroots, nghosts, *owner, *root;
  PetscMPIInt        tag;
  const PetscInt    *ilocal;
  const PetscSFNode *remote;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &nroots, &nghosts, &ilocal, &remote));
  PetscCheck(!ilocal, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The leaves of a halo are not its ghosts in order");
  PetscCall(PetscObjectGetNewTag((PetscObject)sf, &tag));
  PetscCall(PetscMalloc2(nghosts, &owner, nghosts, &root));
  for (PetscInt g = 0; g < nghosts; ++g) owner[g] = remote[g].rank;
  PetscCall(HopsNeighborsCreateByRank(comm, nghosts, owner, &halo->owners));
  for (PetscInt k = 0; k < nghosts; ++k) root[k] = remote[halo->owners.entry[k]].index;
  PetscCall(HopsNeighborsCreateOpposite(comm, &halo->owners, &halo->holders));
  PetscCall(HopsNeighborsSend(comm, tag, &halo->owners, halo->owners.start, &halo->holders, halo->holders.start, MPIU_INT,
                              sizeof(PetscInt), root, halo->holders.entry));
  PetscCall(HopsHaloFinish(comm, tag, nroots, halo));
  PetscCall(PetscFree2(owner, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHaloDestroy(HopsHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&halo->sf));
  PetscCall(PetscFree(halo->shared));
  PetscCall(PetscFree(halo->place));
  PetscCall(HopsNeighborsDestroy(&halo->owners));
  PetscCall(HopsNeighborsDestroy(&halo->holders));
  halo->nshared = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
