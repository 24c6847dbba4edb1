/*
  Memory that the ranks of one host share, and that their devices read and write.

  It is POSIX's, not MPI's windows: without room Open MPI returns on one rank and waits on the others, and
  its windows end by a barrier. It is mapped seldom, since page-locking takes milliseconds: pieces of a few
  windows are handed out, by an allocator on each rank for its own part. A piece may serve again once no rank
  reads or marks it. So every piece has a number, the same on all ranks. A rank that frees it says so in the
  next HopsShareAlloc(), and the number is free when all have. Nothing waits where pieces and windows are
  freed: ranks may do that at different times.
*/
#include <hops/private/hopsshareimpl.h>
#include <hops/private/hopsimpl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOWS 24 /* each twice as large as the last, if there is room */
#define WORDS   64 /* of 64 numbers of pieces */

typedef struct {
  PetscInt number, window;
  size_t   first, n; /* in this rank's part */
} Piece;

typedef struct {
  char  *host, *device; /* of the first rank's part, */
  size_t size;          /* and the size of every rank's */
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
      (void)(*s->memory->Unshare)(s->window[w].host);
      (void)munmap(s->window[w].host, s->window[w].size * (size_t)s->size);
    }
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

/* Are all ranks on one host? */
static PetscErrorCode OneHost(MPI_Comm comm, PetscBool *one)
{
  MPI_Comm    host;
  PetscMPIInt size, all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &size));
  PetscCallMPI(MPI_Comm_size(comm, &all));
  PetscCallMPI(MPI_Comm_free(&host));
  *one = size == all ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, one, 1, HOPS_MPI_BOOL, MPI_LAND, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsShareGet(MPI_Comm comm, const HopsMemoryOps *memory, HopsShare *share)
{
  HopsShare   first = NULL, s;
  PetscMPIInt found;

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
    s->comm   = comm;
    s->memory = memory;
    PetscCallMPI(MPI_Comm_rank(comm, &s->rank));
    PetscCallMPI(MPI_Comm_size(comm, &s->size));
    PetscCall(OneHost(comm, &s->possible));
    if (found) {
      s->next     = first->next;
      first->next = s;
    } else PetscCallMPI(MPI_Comm_set_attr(comm, keyval, s));
  }
  if (s->possible) *share = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n bytes that all ranks see, or NULL on all where there are not so many; collective */
static PetscErrorCode Map(HopsShare s, size_t n, char **host)
{
  static int count    = 0;
  char       name[64] = {0};
  int        file     = -1;
  PetscBool  good     = PETSC_TRUE;
  void      *p        = MAP_FAILED;

  PetscFunctionBegin;
  *host = NULL;
  if (!s->rank) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "/hops-%d-%d", (int)getpid(), count++));
    file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file >= 0 && posix_fallocate(file, 0, (off_t)n)) { /* without it a lack of memory is a signal later */
      (void)close(file);
      (void)shm_unlink(name);
      file = -1;
    }
    if (file < 0) name[0] = 0;
  }
  PetscCallMPI(MPI_Bcast(name, (PetscMPIInt)sizeof(name), MPI_CHAR, 0, s->comm));
  if (!name[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->rank) file = shm_open(name, O_RDWR, 0600);
  if (file >= 0) {
    p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
  }
  if (p == MAP_FAILED) good = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &good, 1, HOPS_MPI_BOOL, MPI_LAND, s->comm));
  if (!s->rank) (void)shm_unlink(name); /* no name is left behind, however the program ends */
  if (good) *host = (char *)p;
  else if (p != MAP_FAILED) (void)munmap(p, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A window of this size for each rank. If a device cannot have it there will be no others */
static PetscErrorCode TryWindow(HopsShare s, size_t size, PetscBool *good)
{
  const size_t all = size * (size_t)s->size;
  Window       w   = {.size = size};

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  /* halos know places in it by numbers of floats */
  if (size / sizeof(float) < (size_t)PETSC_INT_MAX / (size_t)s->size) PetscCall(Map(s, all, &w.host));
  if (w.host) {
    PetscCall((*s->memory->Share)(w.host, all, (void **)&w.device));
    *good = w.device ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, good, 1, HOPS_MPI_BOOL, MPI_LAND, s->comm));
    if (!*good) {
      if (w.device) PetscCall((*s->memory->Unshare)(w.host));
      (void)munmap(w.host, all);
      s->possible = PETSC_FALSE;
    }
  }
  if (*good) s->window[s->nwindows++] = w;
  PetscCall(
    PetscInfo(NULL, "memory that %d ranks share, %g MB each: %s\n", s->size, (double)size / 1e6, *good ? "made" : "not to be had"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With room for `need` bytes of each rank: twice as large as the last one, or as large as must be */
static PetscErrorCode AddWindow(HopsShare s, size_t need, PetscBool *good)
{
  const size_t page = 65536, least = (PetscMax(need, (size_t)1 << 20) + page - 1) / page * page,
               size = s->nwindows ? PetscMax(least, 2 * s->window[s->nwindows - 1].size) : least;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  if (s->nwindows == WINDOWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryWindow(s, size, good));
  if (!*good && s->possible && size > least) PetscCall(TryWindow(s, least, good));
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
  PetscBool    good   = PETSC_TRUE;
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
    PetscCall(AddWindow(s, (size_t)need, &good));
    if (!good) break;
  }
  if (good) {
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
