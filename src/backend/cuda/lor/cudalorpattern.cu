/*
  Pattern of the low-order-refined matrix in H1: lengths of rows and places in them, then columns. A row lists
  its columns as the cells that hold its unknown, in ascending order, meet them. A thread works on one cell of
  a row. Most rows are those of cudalorpatternonce.cu; here are rows of order 1, in two blocks, or with
  received columns, and those of meshes whose faces and edges do not say it all.

  Which cell meets a column first is found without turns. The columns of a cell that can be another cell's
  too, those on its surface, go into a hash table of the row in shared memory, all cells at a time, and the
  least (cell, neighbour) of each column wins; its place is the number of such winners, and of columns inside
  a cell, that come before. Where a column lies in the table depends on the order in which threads come, what
  is read from it does not.
*/
#include "cudalorplace.cuh"

#define HOPS_LOR_BITS  5
#define HOPS_LOR_SLOTS (1 << HOPS_LOR_BITS) /* columns of a row that is not a long one */
#define HOPS_LOR_NEW   64                   /* more than any place: least value of a column in a table that has no place yet */

/* ---- Cells of a row ---- */

/* Neighbours of the row's node in a cell, as bits: free unknowns, those of block 1 among them, and nodes on
   the cell's surface */
struct Neighbours {
  unsigned int have, high, surface;
};

template <int DIM, bool MIXED>
__device__ __forceinline__ static Neighbours FindNeighbours(const HopsLanesLORMesh &m, int e, int split)
{
  constexpr int      N = Star<DIM, MIXED>::N;
  const int          c = CellOf(m, e), at = __ldg(m.ijk + e - c * m.nn), last = m.P - 1, *R = m.restr + e;
  const unsigned int there = There<DIM, MIXED>(m, c, at);
  int                col[N];
  Neighbours         out = {0, 0, 0};

  HOPS_ALONG(back, DIM, N, -1);
  HOPS_ALONG(level, DIM, N, 0);
  HOPS_ALONG(ahead, DIM, N, 1);
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    if (i == 0 || i == last) out.surface |= level[a];
    if (i == 1) out.surface |= back[a];
    if (i == last - 1) out.surface |= ahead[a];
  }
#pragma unroll
  for (int s = 1; s < N; s++) col[s] = __ldg(R + (there >> s & 1 ? Offset<DIM>(m.P, s) : 0));
#pragma unroll
  for (int s = 1; s < N; s++) {
    if (col[s] < m.nfree) out.have |= 1u << s;
    if (col[s] >= split) out.high |= 1u << s;
  }
  out.have &= there;
  return out;
}

/* The slot of column u in a table, into which it is put if it is not there; -1: there is no room */
__device__ __forceinline__ static int FindSlot(int *table, int u)
{
  int h = (int)((unsigned int)u * 2654435761u >> (32 - HOPS_LOR_BITS));

#pragma unroll 1
  for (int i = 0; i < HOPS_LOR_SLOTS; i++, h = (h + 1) % HOPS_LOR_SLOTS) {
    const int old = atomicCAS(table + h, -1, u);

    if (old == -1 || old == u) return h;
  }
  return -1;
}

/* ---- Lengths and places ---- */

/* Rows with more columns than a table holds get no places, and an upper bound in the place of their length */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS)
  Count(const HopsLanesLORMesh m, const HopsLORRows rows, int R, unsigned long long *work)
{
  constexpr int         N = Star<DIM, MIXED>::N;
  extern __shared__ int tables[]; /* [R][HOPS_LOR_SLOTS] columns, and as many places */
  __shared__ int        rowof[HOPS_LOR_THREADS], first[HOPS_LOR_THREADS], count[HOPS_LOR_THREADS], low[HOPS_LOR_THREADS],
    fresh[HOPS_LOR_THREADS], offset[N];
  /* columns that are looked up: none, those on the surface, all */
  __shared__ char lookup[HOPS_LOR_THREADS], crowded[HOPS_LOR_THREADS];
  __shared__ char slots[N * HOPS_LOR_THREADS];
  const int       t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0), r = r0 + t, row = (int)rows.first + r;
  const int      *begin = m.begin + rows.first + r0;
  const int       k0 = begin[0], k1 = begin[n], b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0, split = (int)rows.split;
  const bool      received = t < n && rows.slot && rows.slot[r] >= 0;
  int            *places   = tables + R * HOPS_LOR_SLOTS;

  PlaceWords<DIM, MIXED> word;

  if (t < N) offset[t] = Offset<DIM>(m.P, t);
  if (t < n) {
    first[t]   = b0;
    count[t]   = 1;
    low[t]     = row < split;
    crowded[t] = 0;
    lookup[t]  = m.twice || received ? 2 : b1 - b0 > 1; /* those received can be any */
  }
  __syncthreads();
  for (int i = t / HOPS_LOR_SLOTS; i < n; i += HOPS_LOR_THREADS / HOPS_LOR_SLOTS)
    if (lookup[i]) {
      tables[i * HOPS_LOR_SLOTS + t % HOPS_LOR_SLOTS] = -1;
      places[i * HOPS_LOR_SLOTS + t % HOPS_LOR_SLOTS] = INT_MAX;
    }
  __syncthreads();
  if (t < n && lookup[t] == 2) places[t * HOPS_LOR_SLOTS + FindSlot(tables + t * HOPS_LOR_SLOTS, row)] = 0;
  for (int kc = k0; kc < k1; kc += HOPS_LOR_THREADS) {
    const bool   on = kc + t < k1;
    int          i = 0, end = 0;
    unsigned int look = 0, isnew = 0;
    Neighbours   x = {0, 0, 0};

    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (on) {
      const int e = m.entry[kc + t], *C = m.restr + e;

      i    = rowof[t];
      x    = FindNeighbours<DIM, MIXED>(m, e, split);
      look = lookup[i] == 0 ? 0 : (lookup[i] == 1 ? x.have & x.surface : x.have);
      for (unsigned int left = look; left; left &= left - 1) {
        const int s = __ffs(left) - 1, h = FindSlot(tables + i * HOPS_LOR_SLOTS, __ldg(C + offset[s]));

        slots[s * HOPS_LOR_THREADS + t] = (char)h;
        if (h < 0) crowded[i] = 1; /* all write the same */
        else atomicMin(places + i * HOPS_LOR_SLOTS + h, HOPS_LOR_NEW + 32 * t + s);
      }
    }
    __syncthreads();
    if (on) {
      if (crowded[i]) look = 0;
      isnew = x.have & ~look;
      for (unsigned int left = look; left; left &= left - 1) {
        const int s = __ffs(left) - 1;

        if (places[i * HOPS_LOR_SLOTS + slots[s * HOPS_LOR_THREADS + t]] == HOPS_LOR_NEW + 32 * t + s) isnew |= 1u << s;
      }
      fresh[t] = __popc(isnew);
    }
    __syncthreads();
    if (on) {
      int p = count[i];

      for (int u = max(first[i] - kc, 0); u < t; u++) p += fresh[u];
      for (unsigned int left = look & isnew; left; left &= left - 1) {
        const int s = __ffs(left) - 1;

        places[i * HOPS_LOR_SLOTS + slots[s * HOPS_LOR_THREADS + t]] = min(p + __popc(isnew & ((1u << s) - 1)), HOPS_LOR_NEW - 1);
      }
      if (rows.i[1]) atomicAdd(low + i, __popc(isnew & ~x.high));
      word.Clear();
      word.Set(0, 0);
#pragma unroll
      for (int s = 1; s < N; s++)
        if (isnew >> s & 1) word.Set(s, p++);
      end = p;
    }
    __syncthreads();
    if (on) {
      if (kc + t == k1 - 1 || t == HOPS_LOR_THREADS - 1 || rowof[t + 1] != i) count[i] = end;
      for (unsigned int left = look & ~isnew; left; left &= left - 1) {
        const int s = __ffs(left) - 1;

        word.Set(s, places[i * HOPS_LOR_SLOTS + slots[s * HOPS_LOR_THREADS + t]]);
      }
      word.Store(rows, kc + t);
    }
    __syncthreads();
  }
  if (t >= n) return;
  int  len  = count[t];
  bool full = crowded[t];

  if (received) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) {
      const int h = full ? -1 : FindSlot(tables + t * HOPS_LOR_SLOTS, rows.xj[k]);

      if (h < 0) full = true;
      else if (places[t * HOPS_LOR_SLOTS + h] != INT_MAX) continue;
      else places[t * HOPS_LOR_SLOTS + h] = 0;
      low[t] += rows.xj[k] < split;
      len++;
    }
  }
  if (full || len > HOPS_LOR_SLOTS) {
    word.Clear();
    for (int k = b0; k < b1; k++) word.Store(rows, k);
    CountLater<HopsCudaAtomics>(rows, r, len, work);
    return;
  }
  rows.i[0][r] = rows.i[1] ? low[t] : len;
  if (rows.i[1]) rows.i[1][r] = len - low[t];
}

/* ---- Long rows: the same columns in the same order, a thread for each ---- */

template <int DIM, bool MIXED>
__device__ static void BuildRow(const HopsLanesLORMesh &m, const HopsLORRows &rows, int r, LongRow *list)
{
  const int row = (int)rows.first + r;

  list->Add(row);
  for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
    const int e = m.entry[k], c = CellOf(m, e), at = m.ijk[e - c * m.nn];
    const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};

    ForNeighbours<DIM, MIXED>(ijk, m.P, MIXED ? m.mask[c] : 0, [&](int, int offset) { list->AddFree(m.restr[e + offset]); });
  }
  if (rows.slot && rows.slot[r] >= 0) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) list->Add(rows.xj[k]);
  }
}

/* by way of a buffer */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS)
  CountLong(const HopsLanesLORMesh m, const HopsLORRows rows, int *buffer, unsigned long long *next)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || rows.i[0][r] >= 0) return;
  LongRow list = TakeRow<HopsCudaAtomics>(rows, r, m.nfree, buffer, next);

  BuildRow<DIM, MIXED>(m, rows, r, &list);
  rows.i[0][r] = list.n[0];
  if (rows.i[1]) rows.i[1][r] = list.n[1];
}

/* straight to their place */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS)
  FillLong(const HopsLanesLORMesh m, const HopsLORRows rows, unsigned char *used)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || !IsLong(rows, r, HOPS_LOR_SLOTS)) return;
  LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

  BuildRow<DIM, MIXED>(m, rows, r, &list);
  for (int b = 0; b < 2 && rows.sorted; b++) Sort(list.n[b], list.col[b]);
  for (int k = 0; k < list.n[1]; k++) used[list.col[1][k]] = 1;
}

/* ---- Columns ---- */

/* Columns go to their places in shared memory, side by side as in block 0 unless some row of the block is a
   long one */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS)
  Fill(const HopsLanesLORMesh m, const HopsLORRows rows, int R, unsigned char *used)
{
  constexpr int         N = Star<DIM, MIXED>::N;
  extern __shared__ int list[]; /* [R][HOPS_LOR_SLOTS] */
  __shared__ int        rowof[HOPS_LOR_THREADS], at[HOPS_LOR_THREADS], met[HOPS_LOR_THREADS];
  const int             t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0), r = r0 + t;
  const int            *begin = m.begin + rows.first + r0, *i0 = rows.i[0] + r0, *i1 = rows.i[1] ? rows.i[1] + r0 : NULL;
  const int             k0 = begin[0], k1 = begin[n], b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0;
  const bool            on = t < n && !IsLong(rows, r, HOPS_LOR_SLOTS), sidebyside = !__syncthreads_or(t < n && !on);
  int                  *mine = list;

  if (on) {
    at[t]   = sidebyside ? i0[t] - i0[0] + (i1 ? i1[t] - i1[0] : 0) : t * HOPS_LOR_SLOTS;
    met[t]  = 1;
    mine    = list + at[t];
    mine[0] = (int)rows.first + r;
  }
  for (int kc = k0; kc < k1; kc += HOPS_LOR_THREADS) {
    PlaceWords<DIM, MIXED> word;

    __syncthreads();
    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t >= k1) continue;
    word.Load(rows, kc + t);
    if (word.Get(0) == HOPS_PLACE_NONE) continue; /* a long row */
    const int *C   = m.restr + m.entry[kc + t];
    int       *out = list + at[rowof[t]], most = 0, col[N];

#pragma unroll
    for (int s = 1; s < N; s++) col[s] = __ldg(C + (word.Get(s) != HOPS_PLACE_NONE ? Offset<DIM>(m.P, s) : 0));
#pragma unroll
    for (int s = 1; s < N; s++) {
      const int p = word.Get(s);

      if (p == HOPS_PLACE_NONE) continue;
      out[p] = col[s]; /* cells that share a column write the same */
      most   = max(most, p);
    }
    if (rows.slot) atomicMax(met + rowof[t], most + 1);
  }
  __syncthreads();
  const int len = on ? i0[t + 1] - i0[t] + (i1 ? i1[t + 1] - i1[t] : 0) : 0;

  if (on && rows.slot && rows.slot[r] >= 0) {
    int end = met[t];

    for (int x = rows.xi[rows.slot[r]]; x < rows.xi[rows.slot[r] + 1]; x++) {
      int k = 0;

      while (k < end && mine[k] != rows.xj[x]) k++;
      if (k == end) mine[end++] = rows.xj[x];
    }
  }
  if (rows.sorted) Sort(len, mine);
  if (i1) {
    int *j0 = rows.j[0] + i0[t < n ? t : 0], *j1 = rows.j[1] + i1[t < n ? t : 0];

    for (int k = 0; k < len; k++) {
      if (mine[k] < rows.split) *j0++ = mine[k];
      else {
        *j1++                      = mine[k] - (int)rows.split;
        used[mine[k] - rows.split] = 1;
      }
    }
    return;
  }
  __syncthreads();
  if (sidebyside) {
    for (int k = t; k < i0[n] - i0[0]; k += HOPS_LOR_THREADS) rows.j[0][i0[0] + k] = list[k];
  } else {
    for (int k = 0; k < len; k++) rows.j[0][i0[t] + k] = mine[k];
  }
}

/* ---- Launches ---- */

static unsigned int Blocks(const HopsLORRows *rows, int R)
{
  return (unsigned int)((rows->n + R - 1) / R);
}

#define LAUNCH(m, rows, f) \
  do { \
    if (m->dim == 3 && rows->coupled) f(3, true); \
    else if (m->dim == 3) f(3, false); \
    else if (rows->coupled) f(2, true); \
    else f(2, false); \
  } while (0)

static PetscErrorCode CountRows(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned long long *work)
{
  const int    R = RowsOfBlock(rows);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
#define F(DIM, MIXED) \
  Count<DIM, MIXED><<<Blocks(rows, R), HOPS_LOR_THREADS, 2 * R * HOPS_LOR_SLOTS * sizeof(int), stream>>>(*m, *rows, R, work)
  LAUNCH(m, rows, F);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountLongRows(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *buffer, unsigned long long *work)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
#define G(DIM, MIXED) \
  CountLong<DIM, MIXED><<<Blocks(rows, HOPS_LOR_THREADS), HOPS_LOR_THREADS, 0, stream>>>(*m, *rows, buffer, work)
  LAUNCH(m, rows, G);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillRows(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned char used[])
{
  const int    R = RowsOfBlock(rows);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
#define H(DIM, MIXED) \
  Fill<DIM, MIXED><<<Blocks(rows, R), HOPS_LOR_THREADS, R * HOPS_LOR_SLOTS * sizeof(int), stream>>>(*m, *rows, R, used)
  LAUNCH(m, rows, H);
#define I(DIM, MIXED) FillLong<DIM, MIXED><<<Blocks(rows, HOPS_LOR_THREADS), HOPS_LOR_THREADS, 0, stream>>>(*m, *rows, used)
  if (rows->anylong) LAUNCH(m, rows, I);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsCudaLORPattern(HopsLanesLORKernels *k)
{
  k->Count     = CountRows;
  k->CountLong = CountLongRows;
  k->Columns   = FillRows;
}
