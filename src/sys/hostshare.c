/*
  Memory that the ranks of one host share (MPI's windows), and that their devices read and write.

  Windows are made seldom, since page-locking takes milliseconds: pieces of a few are handed out, by an
  allocator on each rank for its own part. A piece may serve again once no rank reads it. So every piece has a
  number, the same on all ranks, a rank that frees it says so in the next HopsShareAlloc(), and the number is
  free when all have. Nothing waits where pieces are freed: ranks may do that at different times.
*/
#include <hops/private/hopsshareimpl.h>
#include <hops/private/hopsimpl.h>

#define WINDOWS 24 /* each twice as large as the last */
#define WORDS   64 /* of 64 numbers of pieces */

typedef struct {
  PetscInt number, window;
  size_t   first, n; /* in this rank's part */
} Piece;

typedef struct {
  MPI_Win win;
  char   *host, *device; /* of the first rank's part, */
  size_t  size;          /* and the size of every rank's */
} Window;

struct _HopsShare {
  MPI_Comm             comm;
  PetscMPIInt          rank, size;
  const HopsMemoryOps *memory;
  PetscBool            possible;
  PetscInt             nwindows, npieces, maxpieces;
  Window               window[WINDOWS];
  Piece               *piece; /* this rank's, by window and place */
  uint64_t             used[WORDS], freed[WORDS];
  HopsShare            next; /* of the same communicator, for another back end */
};

static PetscMPIInt keyval = MPI_KEYVAL_INVALID;

static int Delete(MPI_Comm comm, PetscMPIInt key, void *value, void *extra)
{
  (void)comm, (void)key, (void)extra;
  for (HopsShare s = (HopsShare)value, next; s; s = next) {
    next = s->next;
    for (PetscInt w = 0; w < s->nwindows; ++w) {
      if (s->window[w].device) (void)(*s->memory->Unshare)(s->window[w].host);
      (void)MPI_Win_free(&s->window[w].win);
    }
    if (s->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&s->comm);
    (void)PetscFree(s->piece);
    (void)PetscFree(s);
  }
  return MPI_SUCCESS;
}

static PetscErrorCode FreeKeyval(void)
{
  PetscFunctionBegin;
  if (keyval != MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_free_keyval(&keyval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsShareGet(MPI_Comm comm, const HopsMemoryOps *memory, HopsShare *share)
{
  HopsShare   first = NULL, s;
  PetscMPIInt found, size;

  PetscFunctionBegin;
  *share = NULL;
  if (!memory->Share) PetscFunctionReturn(PETSC_SUCCESS);
  if (keyval == MPI_KEYVAL_INVALID) {
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &keyval, NULL));
    PetscCall(PetscRegisterFinalize(FreeKeyval));
  }
  PetscCallMPI(MPI_Comm_get_attr(comm, keyval, &first, &found));
  for (s = found ? first : NULL; s && s->memory != memory; s = s->next)
    ;
  if (!s) {
    PetscCall(PetscNew(&s));
    s->memory = memory;
    PetscCallMPI(MPI_Comm_rank(comm, &s->rank));
    PetscCallMPI(MPI_Comm_size(comm, &s->size));
    PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &s->comm));
    PetscCallMPI(MPI_Comm_size(s->comm, &size));
    s->possible = size == s->size ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &s->possible, 1, MPIU_BOOL, MPI_LAND, comm));
    PetscCallMPI(MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN));
    if (found) {
      s->next     = first->next;
      first->next = s;
    } else PetscCallMPI(MPI_Comm_set_attr(comm, keyval, s));
  }
  if (s->possible) *share = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the first rank's part begins, if the others follow it without gaps, as they should; else NULL */
static PetscErrorCode FindParts(HopsShare s, Window *w)
{
  PetscFunctionBegin;
  w->host = NULL;
  for (PetscMPIInt r = 0; r < s->size; ++r) {
    MPI_Aint n;
    int      unit;
    void    *base;

    PetscCallMPI(MPI_Win_shared_query(w->win, r, &n, &unit, &base));
    if (!r) w->host = (char *)base;
    else if ((char *)base != w->host + (size_t)r * w->size) {
      w->host = NULL;
      break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A window with room for `need` bytes of each rank. If it is not to be had there will be no others */
static PetscErrorCode AddWindow(HopsShare s, size_t need)
{
  const size_t smallest = (size_t)1 << 20;
  Window       w        = {.win = MPI_WIN_NULL};
  PetscBool    good     = PETSC_FALSE;
  void        *own;

  PetscFunctionBegin;
  w.size = PetscMax(PetscMax(need, smallest), s->nwindows ? 2 * s->window[s->nwindows - 1].size : 0);
  w.size = (w.size + 65535) / 65536 * 65536;
  /* halos know places in it by numbers of floats */
  if (s->nwindows < WINDOWS && w.size / sizeof(float) < (size_t)PETSC_INT_MAX / (size_t)s->size &&
      MPI_Win_allocate_shared((MPI_Aint)w.size, 1, MPI_INFO_NULL, s->comm, &own, &w.win) == MPI_SUCCESS)
    good = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &good, 1, MPIU_BOOL, MPI_LAND, s->comm));
  if (good) {
    PetscCall(FindParts(s, &w));
    if (w.host) PetscCall((*s->memory->Share)(w.host, w.size * (size_t)s->size, (void **)&w.device));
    good = w.device ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &good, 1, MPIU_BOOL, MPI_LAND, s->comm));
    if (!good) {
      if (w.device) PetscCall((*s->memory->Unshare)(w.host));
      PetscCallMPI(MPI_Win_free(&w.win));
    }
  }
  if (good) s->window[s->nwindows++] = w;
  else s->possible = PETSC_FALSE;
  PetscCall(PetscInfo(NULL, "memory that %d ranks share, %g MB each: %s\n", s->size, (double)w.size / 1e6,
                      good ? "made" : "not to be had, ghosts pass through messages"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that all ranks have freed are free, and so is this rank's memory for them */
static PetscErrorCode Reclaim(HopsShare s)
{
  uint64_t all[WORDS];
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(s->freed, all, WORDS, MPI_UINT64_T, MPI_BAND, s->comm));
  for (PetscInt i = 0; i < WORDS; ++i) {
    s->used[i] &= ~all[i];
    s->freed[i] &= ~all[i];
  }
  for (PetscInt i = 0; i < s->npieces; ++i)
    if (!(all[s->piece[i].number / 64] >> s->piece[i].number % 64 & 1)) s->piece[n++] = s->piece[i];
  s->npieces = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first place of a window with n bytes, and before which of the pieces it lies; -1 if there is none */
static int64_t Find(HopsShare s, PetscInt w, size_t n, PetscInt *before)
{
  size_t   at = 0;
  PetscInt i  = 0;

  while (i < s->npieces && s->piece[i].window < w) ++i;
  for (; i < s->npieces && s->piece[i].window == w && s->piece[i].first < at + n; ++i) at = s->piece[i].first + s->piece[i].n;
  *before = i;
  return at + n <= s->window[w].size ? (int64_t)at : -1;
}

static PetscErrorCode Insert(HopsShare s, PetscInt before, const Piece *piece)
{
  PetscFunctionBegin;
  if (s->npieces == s->maxpieces) {
    s->maxpieces = 2 * s->maxpieces + 16;
    PetscCall(PetscRealloc(s->maxpieces * sizeof(Piece), &s->piece));
  }
  PetscCall(PetscArraymove(s->piece + before + 1, s->piece + before, s->npieces - before));
  s->piece[before] = *piece;
  s->npieces++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsShareAlloc(HopsShare s, size_t n, HopsSharePiece *piece)
{
  const size_t own    = (n + HOPS_SHARE_ALIGN - 1) / HOPS_SHARE_ALIGN * HOPS_SHARE_ALIGN;
  PetscInt     number = 0, w, before;
  int64_t     *all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(piece, sizeof(*piece)));
  PetscCall(Reclaim(s));
  while (number < 64 * WORDS && (s->used[number / 64] >> number % 64 & 1)) ++number;
  if (number == 64 * WORDS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(s->size * (WINDOWS + 1), &all));
  for (;;) { /* a window in which all ranks have room, or another one */
    int64_t mine[WINDOWS + 1], need = 0;

    mine[0] = (int64_t)own;
    for (w = 0; w < WINDOWS; ++w) mine[1 + w] = w < s->nwindows ? Find(s, w, own, &before) : -1;
    PetscCallMPI(MPI_Allgather(mine, WINDOWS + 1, MPI_INT64_T, all, WINDOWS + 1, MPI_INT64_T, s->comm));
    for (PetscMPIInt r = 0; r < s->size; ++r) need = PetscMax(need, all[r * (WINDOWS + 1)]);
    for (w = 0; w < s->nwindows; ++w) {
      PetscBool room = PETSC_TRUE;

      for (PetscMPIInt r = 0; r < s->size && room; ++r) room = all[r * (WINDOWS + 1) + 1 + w] >= 0 ? PETSC_TRUE : PETSC_FALSE;
      if (room) break;
    }
    if (w < s->nwindows) break;
    PetscCall(AddWindow(s, (size_t)need));
    if (!s->possible) break;
  }
  if (s->possible) {
    Piece p = {.number = number, .window = w, .n = own};

    p.first = (size_t)Find(s, w, own, &before);
    PetscCall(Insert(s, before, &p));
    s->used[number / 64] |= (uint64_t)1 << number % 64;
    PetscCall(PetscMalloc1(s->size, &piece->first));
    piece->share  = s;
    piece->number = number;
    piece->host   = s->window[w].host;
    piece->device = s->window[w].device;
    for (PetscMPIInt r = 0; r < s->size; ++r)
      piece->first[r] = (size_t)r * s->window[w].size + (size_t)all[r * (WINDOWS + 1) + 1 + w];
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsShareFree(HopsSharePiece *piece)
{
  PetscFunctionBegin;
  if (piece->share) piece->share->freed[piece->number / 64] |= (uint64_t)1 << piece->number % 64;
  PetscCall(PetscFree(piece->first));
  piece->share = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
