/*
  Entries of ghost rows on their way to the ranks that own the rows: one message from a rank to another. A
  PetscSF would have a leaf for each entry, whose set-up takes longer than the pattern of a rank's own rows on
  a device.
*/
#include <hops/private/hopslorimpl.h>

struct _HopsLORExchange {
  MPI_Comm    comm;
  PetscMPIInt tag, nto, nfrom, *to, *from;
  PetscInt   *tostart, *fromstart; /* [nto+1], [nfrom+1] entries of the messages */
  PetscInt    nrows;               /* rows that arrive */
  /* [nrows+1] where a row's entries begin in what arrives, [nrows] and among all received entries */
  PetscInt    *at, *place;
  PetscBool    inorder; /* both are the same */
  MPI_Request *request;
  size_t       size;   /* of buffer */
  char        *buffer; /* what arrives */
};

PetscErrorCode HopsLORExchangeDestroy(HopsLORExchange *exchange)
{
  HopsLORExchange x = *exchange;

  PetscFunctionBegin;
  *exchange = NULL;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(x->to, x->tostart));
  PetscCall(PetscFree2(x->from, x->fromstart));
  PetscCall(PetscFree2(x->at, x->place));
  PetscCall(PetscFree(x->request));
  PetscCall(PetscFree(x->buffer));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Messages of n numbers of `unit`, `size` bytes each, as tostart[] and fromstart[] say */
static PetscErrorCode Travel(HopsLORExchange x, const PetscInt tostart[], const PetscInt fromstart[], MPI_Datatype unit,
                             size_t size, const void *out, void *in)
{
  PetscMPIInt n = 0, count;

  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < x->nfrom; ++r) {
    PetscCall(PetscMPIIntCast(fromstart[r + 1] - fromstart[r], &count));
    PetscCallMPI(MPI_Irecv((char *)in + fromstart[r] * size, count, unit, x->from[r], x->tag, x->comm, &x->request[n++]));
  }
  for (PetscMPIInt r = 0; r < x->nto; ++r) {
    PetscCall(PetscMPIIntCast(tostart[r + 1] - tostart[r], &count));
    PetscCallMPI(MPI_Isend((const char *)out + tostart[r] * size, count, unit, x->to[r], x->tag, x->comm, &x->request[n++]));
  }
  PetscCallMPI(MPI_Waitall(n, x->request, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Ghost row g has len[g] entries. What the owners get is ordered by row, and for a row by the rank that it
  comes from: (*count)[k] entries of owned row (*row)[k], k < *nrows. Both are the caller's to free.
*/
PetscErrorCode HopsLORExchangeCreate(HopsSpace sp, const PetscInt len[], HopsLORExchange *exchange, PetscInt *nrows,
                                     PetscInt *row[], PetscInt *count[])
{
  const PetscSFNode *remote;
  HopsLORExchange    x;
  PetscInt          *tocount, *fromcount, *torow, *fromrow, *send, *receive, *next, *slot, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&x));
  *exchange = x;
  x->comm   = PetscObjectComm((PetscObject)sp);
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &x->tag));
  PetscCall(PetscSFGetGraph(sp->halo.sf, NULL, NULL, NULL, &remote));
  /* ghosts ascend, and so do their owners */
  for (PetscInt g = 0; g < sp->nG; ++g)
    if (!g || remote[g].rank != remote[g - 1].rank) ++x->nto;
  PetscCall(PetscMalloc2(x->nto, &x->to, x->nto + 1, &x->tostart));
  PetscCall(PetscMalloc2(x->nto, &tocount, x->nto + 1, &torow));
  for (PetscInt g = 0, r = -1, e = 0; g <= sp->nG; ++g) {
    if (g == sp->nG || !g || remote[g].rank != remote[g - 1].rank) {
      ++r;
      x->tostart[r] = e;
      torow[r]      = g;
      if (g < sp->nG) x->to[r] = (PetscMPIInt)remote[g].rank;
    }
    if (g < sp->nG) e += len[g];
  }
  for (PetscMPIInt r = 0; r < x->nto; ++r) tocount[r] = torow[r + 1] - torow[r];
  {
    PetscMPIInt *from;

    PetscCall(PetscCommBuildTwoSided(x->comm, 1, MPIU_INT, x->nto, x->to, tocount, &x->nfrom, &from, &fromcount));
    PetscCall(PetscSortMPIIntWithIntArray(x->nfrom, from, fromcount));
    PetscCall(PetscMalloc2(x->nfrom, &x->from, x->nfrom + 1, &x->fromstart));
    PetscCall(PetscArraycpy(x->from, from, x->nfrom));
    PetscCall(PetscFree(from));
  }
  PetscCall(PetscMalloc1(x->nto + x->nfrom, &x->request));
  /* which rows they are for their owners, and how long */
  PetscCall(PetscMalloc1(x->nfrom + 1, &fromrow));
  fromrow[0] = 0;
  for (PetscMPIInt r = 0; r < x->nfrom; ++r) fromrow[r + 1] = fromrow[r] + fromcount[r];
  x->nrows = fromrow[x->nfrom];
  PetscCall(PetscMalloc2(sp->nG, &send, x->nrows, &receive));
  PetscCall(PetscMalloc2(x->nrows + 1, &x->at, x->nrows, &x->place));
  PetscCall(PetscMalloc1(x->nrows, row));
  PetscCall(PetscMalloc1(x->nrows, count));
  PetscCall(PetscMalloc1(x->nrows, &slot));
  PetscCall(PetscCalloc1(sp->halo.nshared + 1, &next));
  for (PetscInt g = 0; g < sp->nG; ++g) send[g] = remote[g].index;
  PetscCall(Travel(x, torow, fromrow, MPIU_INT, sizeof(PetscInt), send, receive));
  for (PetscInt k = 0; k < x->nrows; ++k) ++next[receive[k] + 1];
  for (PetscInt i = 0; i < sp->halo.nshared; ++i) next[i + 1] += next[i];
  for (PetscInt k = 0; k < x->nrows; ++k) {
    slot[k]         = next[receive[k]]++;
    (*row)[slot[k]] = sp->halo.shared[receive[k]];
  }
  PetscCall(Travel(x, torow, fromrow, MPIU_INT, sizeof(PetscInt), len, receive));
  x->at[0] = 0;
  for (PetscInt k = 0; k < x->nrows; ++k) {
    x->at[k + 1]      = x->at[k] + receive[k];
    (*count)[slot[k]] = receive[k];
  }
  for (PetscMPIInt r = 0; r <= x->nfrom; ++r) x->fromstart[r] = x->at[fromrow[r]];
  for (PetscInt s = 0; s < x->nrows; ++s) { /* places of the slots, where the rows were counted */
    receive[s] = n;
    n += (*count)[s];
  }
  x->inorder = PETSC_TRUE;
  for (PetscInt k = 0; k < x->nrows; ++k) {
    x->place[k] = receive[slot[k]];
    if (x->place[k] != x->at[k]) x->inorder = PETSC_FALSE;
  }
  *nrows = x->nrows;
  PetscCall(PetscFree2(tocount, torow));
  PetscCall(PetscFree(fromcount));
  PetscCall(PetscFree(fromrow));
  PetscCall(PetscFree2(send, receive));
  PetscCall(PetscFree(slot));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of all ghost rows, `size` bytes each, to the owners: received[], by row (collective) */
PetscErrorCode HopsLORExchangeEntries(HopsLORExchange x, MPI_Datatype unit, size_t size, const void *entries, void *received)
{
  const size_t need = x->inorder ? 0 : (size_t)x->at[x->nrows] * size;

  PetscFunctionBegin;
  if (need > x->size) {
    PetscCall(PetscFree(x->buffer));
    PetscCall(PetscMalloc1(need, &x->buffer));
    x->size = need;
  }
  PetscCall(Travel(x, x->tostart, x->fromstart, unit, size, entries, x->inorder ? received : x->buffer));
  for (PetscInt k = 0; k < x->nrows && !x->inorder; ++k)
    PetscCall(
      PetscMemcpy((char *)received + x->place[k] * size, x->buffer + x->at[k] * size, (size_t)(x->at[k + 1] - x->at[k]) * size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
