/*
  Entries of ghost rows on their way to the ranks that own the rows: one message from a rank to another. A
  PetscSF would have a leaf for each entry, whose set-up takes longer than the pattern of a rank's own rows on
  a device.
*/
#include <hops/private/hopslorimpl.h>

struct _HopsLORExchange {
  MPI_Comm        comm;
  PetscMPIInt     tag;
  const HopsHalo *halo;                /* the space's */
  PetscInt       *tostart, *fromstart; /* entries of the messages to owners, from holders */
  PetscInt        nrows;               /* rows that arrive */
  /* [nrows+1] where a row's entries begin in what arrives, [nrows] and among all received entries */
  PetscInt *at, *place;
  PetscBool inorder; /* both are the same */
  size_t    size;    /* of buffer */
  char     *buffer;  /* what arrives */
};

PetscErrorCode HopsLORExchangeDestroy(HopsLORExchange *exchange)
{
  HopsLORExchange x = *exchange;

  PetscFunctionBegin;
  *exchange = NULL;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(x->tostart, x->fromstart));
  PetscCall(PetscFree2(x->at, x->place));
  PetscCall(PetscFree(x->buffer));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Ghost row g has len[g] entries. What the owners get is ordered by row, and for a row by the rank that it
  comes from: (*count)[k] entries of owned row (*row)[k], k < *nrows. Both are the caller's to free.
*/
PetscErrorCode HopsLORExchangeCreate(HopsSpace sp, const PetscInt len[], HopsLORExchange *exchange, PetscInt *nrows,
                                     PetscInt *row[], PetscInt *count[])
{
  const HopsNeighbors *owners = &sp->halo.owners, *holders = &sp->halo.holders;
  HopsLORExchange      x;
  PetscInt            *receive, *next, *slot, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&x));
  *exchange = x;
  x->comm   = PetscObjectComm((PetscObject)sp);
  x->halo   = &sp->halo;
  x->nrows  = holders->start[holders->n];
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &x->tag));
  PetscCall(PetscMalloc2(owners->n + 1, &x->tostart, holders->n + 1, &x->fromstart));
  for (PetscInt r = 0, g = 0, e = 0; r <= owners->n; ++r) { /* a space's ghosts ascend, and so do their owners */
    for (; g < owners->start[r]; ++g) e += len[g];
    x->tostart[r] = e;
  }
  PetscCall(PetscMalloc2(x->nrows + 1, &x->at, x->nrows, &x->place));
  PetscCall(PetscMalloc1(x->nrows, row));
  PetscCall(PetscMalloc1(x->nrows, count));
  PetscCall(PetscMalloc2(x->nrows, &receive, x->nrows, &slot));
  PetscCall(PetscCalloc1(sp->halo.nshared + 1, &next));
  for (PetscInt k = 0; k < x->nrows; ++k) ++next[holders->entry[k] + 1];
  for (PetscInt i = 0; i < sp->halo.nshared; ++i) next[i + 1] += next[i];
  for (PetscInt k = 0; k < x->nrows; ++k) {
    slot[k]         = next[holders->entry[k]]++;
    (*row)[slot[k]] = sp->halo.shared[holders->entry[k]];
  }
  PetscCall(
    HopsNeighborsSend(x->comm, x->tag, owners, owners->start, holders, holders->start, MPIU_INT, sizeof(PetscInt), len, receive));
  x->at[0] = 0;
  for (PetscInt k = 0; k < x->nrows; ++k) {
    x->at[k + 1]      = x->at[k] + receive[k];
    (*count)[slot[k]] = receive[k];
  }
  for (PetscInt r = 0; r <= holders->n; ++r) x->fromstart[r] = x->at[holders->start[r]];
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
  PetscCall(PetscFree2(receive, slot));
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
  PetscCall(HopsNeighborsSend(x->comm, x->tag, &x->halo->owners, x->tostart, &x->halo->holders, x->fromstart, unit, size, entries,
                              x->inorder ? received : x->buffer));
  for (PetscInt k = 0; k < x->nrows && !x->inorder; ++k)
    PetscCall(
      PetscMemcpy((char *)received + x->place[k] * size, x->buffer + x->at[k] * size, (size_t)(x->at[k + 1] - x->at[k]) * size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
