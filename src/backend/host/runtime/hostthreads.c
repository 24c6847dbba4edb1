/* Host back end: where the pieces of several threads meet in a result; see hostthreads.h */
#include "hostthreads.h"

/* The piece that has batch b */
typedef struct {
  PetscInt n;     /* its entries that meet */
  PetscInt nown;  /* its batches that have some */
  int     *where; /* [n] in the indices of these batches, which follow each other */
} Piece;

static inline int Unsigned(int i)
{
  return i < 0 ? -1 - i : i;
}

/* some[l] = 1 where pieces meet; who[nL] is scratch */
static void FindMeetings(const HopsHostMeeting *m, int n, const int idx[], PetscInt nT, PetscInt nL, int who[],
                         unsigned char some[])
{
  HOPS_EACH_PIECE
  for (int t = 0; t < m->T; t++)
    for (PetscInt l = HopsHostPiece(nL, 64, t, m->T); l < HopsHostPiece(nL, 64, t + 1, m->T); l++) some[l] = l >= nT;
  for (int pass = 0; pass < 2; pass++) { /* one of the pieces that have an entry leaves its number, and all others see it */
    HOPS_EACH_PIECE
    for (int t = 0; t < m->T; t++) {
      const size_t i0 = (size_t)(m->b0 + HopsHostPiece(m->b1 - m->b0, 1, t, m->T)) * n,
                   i1 = (size_t)(m->b0 + HopsHostPiece(m->b1 - m->b0, 1, t + 1, m->T)) * n;

      for (size_t i = i0; i < i1; i++) {
        const int l = Unsigned(idx[i]);

        if (!pass) {
          HOPS_ATOMIC
          who[l] = t;
        } else if (who[l] != t) {
          HOPS_ATOMIC
          some[l] = 1;
        }
      }
    }
  }
}

/* Indices of the batches of piece t that meet others, and which of them do */
static void CountPiece(const HopsHostMeeting *m, int t, int n, const int idx[], const unsigned char some[], Piece *p)
{
  p->n = p->nown = 0;
  for (PetscInt b = HopsHostPiece(m->b1 - m->b0, 1, t, m->T); b < HopsHostPiece(m->b1 - m->b0, 1, t + 1, m->T); b++) {
    const int *i   = idx + (size_t)(m->b0 + b) * n;
    PetscInt   sum = 0;

    for (int k = 0; k < n; k++) sum += some[Unsigned(i[k])];
    m->own[b] = sum ? p->nown++ : -1;
    p->n += sum;
  }
}

static void FillPiece(const HopsHostMeeting *m, int t, int n, const int idx[], const unsigned char some[], PetscInt nown, Piece *p)
{
  PetscInt next = 0;

  for (PetscInt b = HopsHostPiece(m->b1 - m->b0, 1, t, m->T); b < HopsHostPiece(m->b1 - m->b0, 1, t + 1, m->T); b++) {
    if (m->own[b] < 0) continue;
    m->own[b] = (nown + m->own[b]) * n;
    for (int k = 0; k < n; k++) {
      m->idx[m->own[b] + k] = idx[(size_t)(m->b0 + b) * n + k];
      if (some[Unsigned(m->idx[m->own[b] + k])]) p->where[next++] = (int)m->own[b] + k;
    }
  }
}

/* Entries in the order in which they are met, and their meetings in the order of the batches; number[nL] is
   scratch */
static PetscErrorCode NumberMeetings(HopsHostMeeting *m, const Piece p[], PetscInt nT, PetscInt nL, int number[])
{
  PetscInt total = 0;

  PetscFunctionBegin;
  for (int t = 0; t < m->T; t++) total += p[t].n;
  PetscCall(PetscMalloc1(total, &m->entry));
  PetscCall(PetscCalloc1(total + 2, &m->begin));
  PetscCall(PetscCalloc1(total, &m->sums));
  for (PetscInt l = 0; l < nL; l++) number[l] = -1;
  for (int t = 0; t < m->T; t++)
    for (PetscInt k = 0; k < p[t].n; k++) {
      const int l = Unsigned(m->idx[p[t].where[k]]);

      if (number[l] < 0) {
        number[l]        = (int)m->n;
        m->entry[m->n++] = l;
      }
      m->begin[number[l] + 2]++;
    }
  for (PetscInt k = 0; k < m->n; k++) m->begin[k + 2] += m->begin[k + 1];
  for (int t = 0; t < m->T; t++)
    for (PetscInt k = 0; k < p[t].n; k++) {
      int      *i = m->idx + p[t].where[k];
      const int s = (int)nT + m->begin[number[Unsigned(*i)] + 1]++;

      *i = *i < 0 ? -1 - s : s;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostMeetingCreate(int T, PetscInt b0, PetscInt b1, int n, const int idx[], PetscInt nT, PetscInt nL,
                                     HopsHostMeeting **meeting)
{
  HopsHostMeeting *m;
  Piece           *p;
  int             *who;
  unsigned char   *some;
  PetscInt         nown = 0;

  PetscFunctionBegin;
  *meeting = NULL;
  if (T == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&m));
  m->T  = T;
  m->b0 = b0;
  m->b1 = b1;
  PetscCall(PetscMalloc1(b1 - b0, &m->own));
  PetscCall(PetscMalloc3(T, &p, nL, &who, nL, &some));
  FindMeetings(m, n, idx, nT, nL, who, some);
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) CountPiece(m, t, n, idx, some, p + t);
  for (int t = 0; t < T; t++) {
    PetscCall(PetscMalloc1(p[t].n, &p[t].where));
    nown += p[t].nown;
  }
  PetscCheck((PetscInt64)nown * n < PETSC_INT_MAX && (PetscInt64)nown * n + nT < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of this rank have too many entries for several threads: use more ranks, or OMP_NUM_THREADS=1");
  PetscCall(PetscMalloc1(nown * n, &m->idx));
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    PetscInt before = 0;

    for (int s = 0; s < t; s++) before += p[s].nown;
    FillPiece(m, t, n, idx, some, before, p + t);
  }
  PetscCall(NumberMeetings(m, p, nT, nL, who));
  for (int t = 0; t < T; t++) PetscCall(PetscFree(p[t].where));
  PetscCall(PetscFree3(p, who, some));
  *meeting = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostMeetingDestroy(HopsHostMeeting **meeting)
{
  HopsHostMeeting *m = *meeting;

  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(m->own));
  PetscCall(PetscFree(m->idx));
  PetscCall(PetscFree(m->entry));
  PetscCall(PetscFree(m->begin));
  PetscCall(PetscFree(m->sums));
  PetscCall(PetscFree(*meeting));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsHostMeetingAdd(HopsHostMeeting *m, PetscInt nT, double y[], double yg[])
{
  HOPS_EACH_PIECE
  for (int t = 0; t < m->T; t++) {
    for (PetscInt k = HopsHostPiece(m->n, 64, t, m->T); k < HopsHostPiece(m->n, 64, t + 1, m->T); k++) {
      const int l   = m->entry[k];
      double   *sum = l < nT ? y + l : yg + (l - nT);

      for (int s = m->begin[k]; s < m->begin[k + 1]; s++) {
        *sum += m->sums[s];
        m->sums[s] = 0;
      }
    }
  }
}
