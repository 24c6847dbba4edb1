/*
  Pattern of the low-order-refined matrix in H1 where cells meet in whole edges and faces, as most do. What
  two cells share of a row lies on an edge or a face of both, so which cell meets a column first is known from
  which cell has each edge and face first: bits of the cell, and nothing is looked up to count. For its place,
  a cell that is not the first looks a column up where the row has one in the same direction, which is right
  where cells lie alike, then in the whole row.
*/
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/lor/laneslorplace.h>
#include "cudalor.h"

/* ---- Cells ---- */

#define HOPS_ONCE_LIST 4 /* cells of an edge that are compared in registers */

/*
  A warp for each cell, a thread for each of its faces and edges. *irregular = 1 where cells share two edges
  that meet and not the face that these span, or two faces that meet: they can have columns in common that no
  edge or face says.
*/
template <int DIM>
__global__ static void __launch_bounds__(256) Owners(const HopsLanesLORMesh m, int ncells, unsigned int *own, int *irregular)
{
  const int  c = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), t = threadIdx.x % 32, P = m.P, last = P - 1;
  const int *R = m.restr + (size_t)c * m.nn;
  /* a node inside the face or edge, the cells around it; behind a face */
  int  at[3] = {1, 1, DIM == 3 ? 1 : 0}, b = 0, n = 0, cell[HOPS_ONCE_LIST], other = -1;
  bool coupled = false, constrained = false, bad = false;

  if (c >= ncells) return;
  for (int i = t; i < m.nn; i += 32) constrained |= R[i] >= m.nfree;
  if (t < 2 * DIM) at[t / 2] = t & 1 ? last : 0;
  else if (DIM == 3 && t < 18) {
    const int pair = (t - HOPS_ONCE_EDGES) / 4, sides = (t - HOPS_ONCE_EDGES) % 4;

    at[pair < 2 ? 0 : 1] = sides & 1 ? last : 0;
    at[pair ? 2 : 1]     = sides & 2 ? last : 0;
  }
  if (t < (DIM == 3 ? 18 : 4)) {
    const int l = R[at[0] + P * (at[1] + P * at[2])];

    b = m.begin[l];
    n = m.begin[l + 1] - b;
  }
#pragma unroll
  for (int i = 0; i < HOPS_ONCE_LIST; i++) cell[i] = i < n ? CellOf(m, m.entry[b + i]) : -1;
  const bool later = n && cell[0] != c;

  if (t < 2 * DIM) {
    bad = n > 2;
    if (n == 2) other = cell[later ? 0 : 1];
    if (DIM == 3 && later) { /* along the face, the other one's pair of axes is xy, xz or yz as its normal is z, y or x */
      const int v = m.ijk[m.entry[b] - cell[0] * m.nn], i = v & 255, j = v >> 8 & 255;

      coupled = m.mask[cell[0]] >> (i == 0 || i == last ? 2 : (j == 0 || j == last ? 1 : 0)) & 1;
    }
  }
  const unsigned int before = __ballot_sync(~0u, later), diagonals = __ballot_sync(~0u, coupled),
                     some = __ballot_sync(~0u, constrained);

  if (t == 0) own[c] = before | (some ? 1u << HOPS_ONCE_CONSTRAINED : 0) | diagonals << HOPS_ONCE_DIAGONALS;
  for (int d = 2; d < 2 * DIM; d += 2) { /* faces that meet */
    const int f = (t / 2 * 2 + d) % (2 * DIM), x = __shfl_sync(~0u, other, f), y = __shfl_sync(~0u, other, f + 1);

    if (t < 2 * DIM && other >= 0 && (other == x || other == y)) bad = true;
  }
  if (DIM == 3) { /* edges that meet in corner t % 4 of face t / 4: along u and along v */
    const int f = t / 4 % 6, normal = f / 2, u = normal ? 0 : 1, v = normal == 2 ? 1 : 2, su = t & 1, sv = t >> 1 & 1, sf = f & 1;
    const int eu     = HOPS_ONCE_EDGES + 4 * (2 - u) + (v < normal ? sv + 2 * sf : sf + 2 * sv),
              ev     = HOPS_ONCE_EDGES + 4 * (2 - v) + (u < normal ? su + 2 * sf : sf + 2 * su);
    const int behind = __shfl_sync(~0u, other, f);

    if (__any_sync(~0u, n > HOPS_ONCE_LIST)) {
      const int bu = __shfl_sync(~0u, b, eu), nu = __shfl_sync(~0u, n, eu), bv = __shfl_sync(~0u, b, ev),
                nv = __shfl_sync(~0u, n, ev);

      for (int i = bu; i < bu + nu; i++) {
        const int x = CellOf(m, m.entry[i]);

        for (int j = bv; x != c && x != behind && j < bv + nv; j++) bad |= CellOf(m, m.entry[j]) == x;
      }
    } else {
      int y[HOPS_ONCE_LIST];

#pragma unroll
      for (int j = 0; j < HOPS_ONCE_LIST; j++) y[j] = __shfl_sync(~0u, cell[j], ev);
#pragma unroll
      for (int i = 0; i < HOPS_ONCE_LIST; i++) {
        const int x = __shfl_sync(~0u, cell[i], eu);

#pragma unroll
        for (int j = 0; j < HOPS_ONCE_LIST; j++) bad |= x == y[j] && x >= 0 && x != c && x != behind;
      }
    }
  }
  if (bad) *irregular = 1; /* all write the same */
}

/* ---- Lengths ---- */

/* Columns that the cell of entry e meets before others, as bits */
template <int DIM, bool MIXED> __device__ __forceinline__ static unsigned int Fresh(const HopsLanesLORMesh &m, int e)
{
  const int          c = CellOf(m, e), at = __ldg(m.ijk + e - c * m.nn);
  const unsigned int own   = __ldg(m.own + c);
  unsigned int       fresh = There<DIM, MIXED>(m, c, at) & ~Shared<DIM, MIXED>(own, at, m.P - 1);

  if (own >> HOPS_ONCE_CONSTRAINED & 1) {
    for (unsigned int left = fresh; left; left &= left - 1) {
      const int s = __ffs(left) - 1;

      if (m.restr[e + Offset<DIM>(m.P, s)] >= m.nfree) fresh &= ~(1u << s);
    }
  }
  return fresh;
}

/* Sum of x over the threads of the block up to this one, and over all of them */
__device__ __forceinline__ static int SumBefore(int x, int sums[], int *total)
{
  const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  int       sum = x, all = 0;

#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int v = __shfl_up_sync(~0u, sum, d);

    if (lane >= d) sum += v;
  }
  if (lane == 31) sums[w] = sum;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < HOPS_LOR_TEAM / 32; i++) {
    if (i < w) sum += sums[i];
    all += sums[i];
  }
  *total = all;
  return sum;
}

template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_TEAM)
  CountOnce(const HopsLanesLORMesh m, const HopsLORRows rows, int R, int *anylong)
{
  __shared__ int upto[HOPS_LOR_TEAM + 1];
  __shared__ int __align__(16) sums[HOPS_LOR_TEAM / 32]; /* read as a vector, which should not begin in upto[] */
  const int      t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int     *begin = m.begin + rows.first + r0;
  const int      k0 = begin[0], k1 = begin[n], b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0;
  int            len = 1;

  if (t == 0) upto[0] = 0;
  for (int kc = k0; kc < k1; kc += HOPS_LOR_TEAM) {
    int       all;
    const int sum = SumBefore(kc + t < k1 ? __popc(Fresh<DIM, MIXED>(m, m.entry[kc + t])) : 0, sums, &all);

    upto[t + 1] = sum;
    __syncthreads();
    if (min(b1, kc + HOPS_LOR_TEAM) > max(b0, kc)) len += upto[min(b1 - kc, HOPS_LOR_TEAM)] - upto[max(b0 - kc, 0)];
    __syncthreads();
  }
  if (t >= n) return;
  rows.i[0][r0 + t] = len;
  if (len > HOPS_LANES_LOR_MAX) *anylong = 1; /* all write the same */
}

/* ---- Columns and places ---- */

/* Of the entries k0, k0 + 1, ... of a block's rows, as many as there are threads: whose row each is. begin,
   end: those of this thread's row */
__device__ __forceinline__ static void FindRows(int begin, int end, int k0, int row[])
{
  for (int k = max(begin, k0); k < min(end, k0 + HOPS_LOR_TEAM); k++) row[k - k0] = threadIdx.x;
}

/* A block's rows lie side by side; they are put together in shared memory where `room` columns are enough */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_TEAM) FillOnce(const HopsLanesLORMesh m, const HopsLORRows rows, int R, int room)
{
  constexpr int         N = Star<DIM, MIXED>::N, W = (N + 3) / 4;
  extern __shared__ int shared[]; /* [room] columns, then [R][4 * W] places by direction */
  __shared__ int        rowof[HOPS_LOR_TEAM], lo[HOPS_LOR_TEAM + 1], sums[HOPS_LOR_TEAM / 32];
  const int             t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int            *begin = m.begin + rows.first + r0, *i0 = rows.i[0] + r0, base = i0[0], len = i0[n] - base, k0 = begin[0],
            k1            = begin[n];
  const int            b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0;
  const unsigned char *along = (const unsigned char *)(shared + room);

  if (t < n) {
    lo[t] = i0[t] - base;
    if (t == n - 1) lo[n] = len;
  }
  for (int k = t; k < n * W; k += HOPS_LOR_TEAM) shared[room + k] = 0;

  const auto List = [&](int *list) {
    int before = 0; /* new columns of the cells before */

    if (t < n) list[lo[t]] = (int)rows.first + r0 + t;
    for (int kc = k0; kc < k1; kc += HOPS_LOR_TEAM) {
      const bool             on   = kc + t < k1;
      unsigned int           have = 0, fresh = 0;
      const int             *C = NULL;
      int                    col[N], r = 0, all;
      PlaceWords<DIM, MIXED> word;

      FindRows(b0, b1, kc, rowof);
      if (on) {
        const int          e = m.entry[kc + t], c = CellOf(m, e), at = __ldg(m.ijk + e - c * m.nn);
        const unsigned int own = __ldg(m.own + c);

        C    = m.restr + e;
        have = There<DIM, MIXED>(m, c, at);
#pragma unroll
        for (int s = 1; s < N; s++) col[s] = __ldg(C + (have >> s & 1 ? Offset<DIM>(m.P, s) : 0));
        if (own >> HOPS_ONCE_CONSTRAINED & 1) {
#pragma unroll
          for (int s = 1; s < N; s++)
            if (col[s] >= m.nfree) have &= ~(1u << s);
        }
        fresh = have & ~Shared<DIM, MIXED>(own, at, m.P - 1);
      }
      const int mine = __popc(fresh), sum = SumBefore(mine, sums, &all); /* waits for rowof[] */

      word.Clear();
      if (on) {
        r     = rowof[t];
        int p = before + sum - mine + r + 1 - lo[r]; /* each row before has its diagonal too */

        word.Set(0, 0);
#pragma unroll
        for (int s = 1; s < N; s++) {
          if (!(fresh >> s & 1)) continue;
          list[lo[r] + p] = col[s];
          /* a guess, of no use where several cells make it or it does not fit */
          atomicOr(shared + room + r * W + s / 4, (p & 255) << 8 * (s % 4));
          word.Set(s, p++);
        }
      }
      before += all;
      __syncthreads();
      if (!on) continue;
      const int   *L = list + lo[r], n1 = lo[r + 1] - lo[r];
      unsigned int left = have & ~fresh;

#pragma unroll
      for (int s = 1; s < N; s++) {
        const int p = along[r * 4 * W + s];

        if (!(left >> s & 1) || p >= n1 || L[p] != col[s]) continue;
        word.Set(s, p);
        left &= ~(1u << s);
      }
      for (; left; left &= left - 1) {
        const int s = __ffs(left) - 1, v = C[Offset<DIM>(m.P, s)];
        int       p = 1;

        while (p < n1 && L[p] != v) p++;
        word.Set(s, p);
      }
      if (n1 > HOPS_LANES_LOR_MAX) word.Clear(); /* a long row */
      word.Store(rows, kc + t);
    }
    __syncthreads();
    if (rows.sorted && t < n) HopsSortInts(lo[t + 1] - lo[t], list + lo[t]);
  };

  if (len > room) {
    List(rows.j[0] + base);
    return;
  }
  List(shared);
  __syncthreads();
  for (int k = t; k < len; k += HOPS_LOR_TEAM) rows.j[0][base + k] = shared[k];
}

/* ---- Launches ---- */

static PetscErrorCode HopsLanesLOROwners(const HopsLanesLORMesh *m, PetscInt ncells, unsigned int own[], int *irregular)
{
  cudaStream_t stream;
  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(irregular, 0, sizeof(int), stream));
  if (ncells) {
    if (m->dim == 3) Owners<3><<<(unsigned int)((ncells + 7) / 8), 256, 0, stream>>>(*m, (int)ncells, own, irregular);
    else Owners<2><<<(unsigned int)((ncells + 7) / 8), 256, 0, stream>>>(*m, (int)ncells, own, irregular);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int DIM, bool MIXED>
static PetscErrorCode LaunchOnce(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *anylong, cudaStream_t stream)
{
  const int          R = RowsOfTeam(rows), room = R * Star<DIM, MIXED>::ROOM, W = (Star<DIM, MIXED>::N + 3) / 4;
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);

  PetscFunctionBegin;
  if (anylong) CountOnce<DIM, MIXED><<<blocks, HOPS_LOR_TEAM, 0, stream>>>(*m, *rows, R, anylong);
  else FillOnce<DIM, MIXED><<<blocks, HOPS_LOR_TEAM, (room + R * W) * sizeof(int), stream>>>(*m, *rows, R, room);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsOnce(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *anylong, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (m->dim == 3 && rows->coupled) PetscCall((LaunchOnce<3, true>(m, rows, anylong, stream)));
  else if (m->dim == 3) PetscCall((LaunchOnce<3, false>(m, rows, anylong, stream)));
  else if (rows->coupled) PetscCall((LaunchOnce<2, true>(m, rows, anylong, stream)));
  else PetscCall((LaunchOnce<2, false>(m, rows, anylong, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesLORCountOnce(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *anylong)
{
  cudaStream_t stream;
  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(anylong, 0, sizeof(int), stream));
  PetscCall(RowsOnce(m, rows, anylong, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesLORFillOnce(const HopsLanesLORMesh *m, const HopsLORRows *rows)
{
  cudaStream_t stream;
  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(RowsOnce(m, rows, NULL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsCudaLOROnce(HopsLanesLORKernels *k)
{
  k->Owners    = HopsLanesLOROwners;
  k->CountOnce = HopsLanesLORCountOnce;
  k->FillOnce  = HopsLanesLORFillOnce;
}
