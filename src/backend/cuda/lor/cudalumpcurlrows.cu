/*
  Low-order-refined matrices of H(curl) in 3D: pattern and places of rows by a stencil, see cudalumpcurl.cuh.
  A block puts the columns of its rows together in shared memory: once to count them and to find the places,
  once more to write them.
*/
#include "cudalumpcurl.cuh"

/* ---- Blocks of rows ---- */

/* Is there an unknown without a cell? */
__global__ static void FindEmpty(const HopsCudaLumpMesh m, int *empty)
{
  const int l = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (l < m.nfree && m.begin[l] == m.begin[l + 1]) *empty = 1; /* all write the same */
}

/* The rows whose first cell is among the b-th HOPS_CURL_ENTRIES ones are block b */
__global__ static void FindStarts(const int *__restrict__ begin, int n, int place0, int nblocks, int *start)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= n) return;
  const int last = r ? (begin[r - 1] - place0) / HOPS_CURL_ENTRIES : -1, b = (begin[r] - place0) / HOPS_CURL_ENTRIES;

  for (int i = last + 1; i <= b; i++) start[i] = r;
  if (r == n - 1)
    for (int i = b + 1; i <= nblocks; i++) start[i] = n;
}

__global__ static void EqualStarts(int n, int R, int nblocks, int *start)
{
  const int b = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (b <= nblocks) start[b] = min(b * R, n);
}

/* ---- Pattern ---- */

/* L indices of the neighbours 1, 2, ... of an entry, m.nfree where there is none; bits of those that the cell
   sees with another sign */
template <int N>
__device__ __forceinline__ static unsigned int Columns(const HopsCudaLumpMesh &m, int c, int i, const Edge &edge, int col[])
{
  const int   *C        = m.restr + (size_t)c * m.ne;
  const bool   turned   = C[i] < 0;
  unsigned int negative = 0;

  Entries<N>(m, edge, col);
#pragma unroll
  for (int s = 0; s < N; s++) col[s] = col[s] >= 0 ? C[col[s]] : m.nfree;
#pragma unroll
  for (int s = 1; s < N; s++) {
    if ((col[s] < 0) != turned) negative |= 1u << (s - 1);
    col[s] = Unsigned(col[s]);
  }
  return negative;
}

/* bits of those neighbours that lie on the cell's surface */
template <int N> __device__ __forceinline__ static unsigned int Surface(const Edge &e)
{
  const int    last    = e.P - 1;
  unsigned int surface = 0;

#pragma unroll
  for (int s = 1; s < N; s++) {
    const Neighbour n  = NeighbourOf(s);
    const bool      on = (n.dir != 0 && (e.i + n.i == 0 || e.i + n.i == last)) ||
                    (n.dir != 1 && (e.j + n.j == 0 || e.j + n.j == last)) || (n.dir != 2 && (e.k + n.k == 0 || e.k + n.k == last));

    if (on) surface |= 1u << (s - 1);
  }
  return surface;
}

/*
  Lengths of rows, and places in them in the order in which cells meet their columns, the diagonal entry
  first. The first cell of a row meets columns for the first time; of the next ones' those on the surface of
  the cell alone can be there already, which a hash table for each row tells. Columns beyond a list's room are
  counted, and make a long row.
*/
template <bool COUPLED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS)
  Count(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned long long *work)
{
  constexpr int         N = Stencil<COUPLED>::N, MAX = Stencil<COUPLED>::MAX, SLOTS = Stencil<COUPLED>::SLOTS;
  extern __shared__ int lists[]; /* [threads][MAX], then the tables */
  __shared__ int        rowof[HOPS_CURL_THREADS], first[HOPS_CURL_THREADS], count[HOPS_CURL_THREADS];
  __shared__ bool       several[HOPS_CURL_THREADS];
  unsigned char        *tables = (unsigned char *)(lists + HOPS_CURL_THREADS * MAX);
  const Block           b(m, rows, Starts<COUPLED>(rows));
  const int             t = threadIdx.x, r = b.r0 + t;
  int                  *mine = lists + t * MAX;
  PlaceWords<COUPLED>   word;

  for (int k = t; k < b.n * SLOTS / 4; k += HOPS_CURL_THREADS) ((int *)tables)[k] = -1;
  if (t < b.n) {
    first[t]   = b.b0;
    several[t] = m.twice || b.b1 - b.b0 > 1;
    count[t]   = 1;
    mine[0]    = (int)rows.first + r;
  }
  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    int          col[N], turn = -1, i = 0;
    unsigned int negative = 0, surface = 0;

    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t < b.k1) {
      i    = rowof[t];
      turn = kc + t - max(first[i], kc);

      const int  e = m.entry[kc + t], c = CellOf(m, e);
      const Edge edge(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0);

      negative = Columns<N>(m, c, e - c * m.ne, edge, col);
      if (several[i]) surface = m.twice ? ~0u : Surface<N>(edge); /* two entries of a cell can meet what is inside */
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        int           *list = lists + i * MAX, len = count[i];
        unsigned char *slot = tables + i * SLOTS;
        const auto     Find = [&](int u) { /* the slot that has u, or will have it */
                                       unsigned int h = (unsigned int)u * 2654435761u >> (32 - Stencil<COUPLED>::BITS);

                                       while (slot[h] != 255 && list[slot[h]] != u) h = (h + 1) % SLOTS;
                                       return h;
        };

        word.Clear();
        word.Set(0, 0, false);
        if (several[i] && kc + t == first[i]) slot[Find(list[0])] = 0;
#pragma unroll
        for (int s = 1; s < N; s++) {
          int p = len;

          if (col[s] >= m.nfree) continue;
          if (surface >> (s - 1) & 1) {
            const unsigned int h = Find(col[s]);

            if (slot[h] != 255) p = slot[h];
            else if (p < MAX) slot[h] = (unsigned char)p;
          }
          if (p < MAX) word.Set(s, p, negative >> (s - 1) & 1);
          if (p == len) {
            if (p < MAX) list[p] = col[s];
            len++;
          }
        }
        count[i] = len;
        word.Store(rows, kc + t);
      }
      if (!__syncthreads_or(turn > j)) break;
    }
  }
  if (t >= b.n) return;
  int len = count[t], low = 0;

  if (rows.slot && rows.slot[r] >= 0) {
    for (int x = rows.xi[rows.slot[r]]; x < rows.xi[rows.slot[r] + 1]; x++) {
      int k = 0;

      while (k < min(len, MAX) && mine[k] != rows.xj[x]) k++;
      if (k < min(len, MAX)) continue;
      if (len < MAX) mine[len] = rows.xj[x];
      len++;
    }
  }
  if (len > MAX) {
    word.Clear();
    for (int k = b.b0; k < b.b1; k++) word.Store(rows, k);
    CountLater<HopsCudaAtomics>(rows, r, len, work);
    return;
  }
  for (int k = 0; k < len && rows.i[1]; k++) low += mine[k] < rows.split;
  rows.i[0][r] = rows.i[1] ? low : len;
  if (rows.i[1]) rows.i[1][r] = len - low;
}

/* Columns to their places; these are final where the rows are neither sorted nor in two blocks */
template <bool COUPLED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS)
  Fill(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned char *used)
{
  constexpr int         N = Stencil<COUPLED>::N, MAX = Stencil<COUPLED>::MAX;
  extern __shared__ int lists[]; /* [threads][MAX] */
  __shared__ int        rowof[HOPS_CURL_THREADS], count[HOPS_CURL_THREADS];
  const Block           b(m, rows, Starts<COUPLED>(rows));
  const int             t = threadIdx.x, r = b.r0 + t;
  int                  *mine = lists + t * MAX;

  if (t < b.n) {
    count[t] = 1;
    mine[0]  = (int)rows.first + r;
  }
  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    __syncthreads();
    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t >= b.k1) continue;
    int                 col[N], *list = lists + rowof[t] * MAX, len = 1;
    const int           e = m.entry[kc + t], c = CellOf(m, e);
    PlaceWords<COUPLED> word;

    word.Load(rows, kc + t);
    (void)Columns<N>(m, c, e - c * m.ne, Edge(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0), col);
#pragma unroll
    for (int s = 1; s < N; s++) {
      const int p = word.Get(s);

      if (p == HOPS_CURL_NONE) continue;
      list[p] = col[s]; /* cells that share a column write the same */
      len     = max(len, p + 1);
    }
    atomicMax(count + rowof[t], len); /* in any order */
  }
  __syncthreads();
  const bool on  = t < b.n && !IsLong(rows, r, MAX);
  int        len = on ? count[t] : 0;

  if (on && rows.slot && rows.slot[r] >= 0) {
    for (int x = rows.xi[rows.slot[r]]; x < rows.xi[rows.slot[r] + 1]; x++) {
      int k = 0;

      while (k < len && mine[k] != rows.xj[x]) k++;
      if (k == len) mine[len++] = rows.xj[x];
    }
  }
  if (rows.sorted) Sort(len, mine);
  if (rows.i[1]) {
    if (!on) return;
    int *j0 = rows.j[0] + rows.i[0][r], *j1 = rows.j[1] + rows.i[1][r];

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
  if (t < b.n) count[t] = len;
  __syncthreads();
  for (int i = t / 32; i < b.n; i += HOPS_CURL_THREADS / 32) {
    int *J = rows.j[0] + rows.i[0][b.r0 + i];

    for (int k = t % 32; k < count[i]; k += 32) J[k] = lists[i * MAX + k];
  }
}

/* Places in rows that are sorted or in two blocks */
template <bool COUPLED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Places(const HopsCudaLumpMesh m, const HopsLORRows rows)
{
  constexpr int  N = Stencil<COUPLED>::N;
  __shared__ int rowof[HOPS_CURL_THREADS];
  const Block    b(m, rows, Starts<COUPLED>(rows));
  const int      t = threadIdx.x;

  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    __syncthreads();
    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t >= b.k1) continue;
    const int           r = b.r0 + rowof[t], row = (int)rows.first + r;
    int                 col[N], next             = rows.i[0][r];
    const int           e = m.entry[kc + t], c = CellOf(m, e);
    PlaceWords<COUPLED> word;

    if (IsLong(rows, r, Stencil<COUPLED>::MAX)) continue;
    const unsigned int negative = Columns<N>(m, c, e - c * m.ne, Edge(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0), col);

    word.Clear();
    word.Set(0, Find(rows, r, row, &next), false);
#pragma unroll
    for (int s = 1; s < N; s++)
      if (col[s] < m.nfree) word.Set(s, Find(rows, r, col[s], &next), negative >> (s - 1) & 1);
    word.Store(rows, kc + t);
  }
}

/* ---- Launches ---- */

PetscErrorCode HopsCudaCurlEmpty(const HopsCudaLumpMesh *m, int *empty, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(empty, 0, sizeof(*empty), stream));
  if (m->nfree) FindEmpty<<<(unsigned int)((m->nfree + 255) / 256), 256, 0, stream>>>(*m, empty);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without a cell would make blocks of too many rows: then all have the same number, which give a cell to
   each thread on average, or fewer */
static int RowsOfBlock(const HopsLORRows *rows)
{
  return (int)PetscMax(1, PetscMin(HOPS_CURL_THREADS, 0.94 * HOPS_CURL_THREADS * (double)rows->n / PetscMax(rows->nplace, 1)));
}

size_t HopsCudaCurlPlaceSize(const HopsCudaLumpMesh *m, HopsLORRows *rows)
{
  const int R = RowsOfBlock(rows);

  rows->nblocks = m->empty ? (int)((rows->n + R - 1) / R) : (rows->nplace + HOPS_CURL_ENTRIES - 1) / HOPS_CURL_ENTRIES;
  return (size_t)rows->nplace * (rows->coupled ? (size_t)Stencil<true>::WORDS : (size_t)Stencil<false>::WORDS) *
           sizeof(*rows->place) +
         (rows->nblocks + 1) * sizeof(int);
}

template <bool COUPLED>
static void LaunchCount(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  int *start = Starts<COUPLED>(*rows);

  if (m->empty)
    EqualStarts<<<(unsigned int)(rows->nblocks / 256 + 1), 256, 0, stream>>>((int)rows->n, RowsOfBlock(rows), rows->nblocks, start);
  else
    FindStarts<<<(unsigned int)((rows->n + 255) / 256), 256, 0, stream>>>(m->begin + rows->first, (int)rows->n, rows->place0,
                                                                          rows->nblocks, start);
  Count<COUPLED><<<rows->nblocks, HOPS_CURL_THREADS,
                   HOPS_CURL_THREADS *(Stencil<COUPLED>::MAX * sizeof(int) + Stencil<COUPLED>::SLOTS), stream>>>(*m, *rows, work);
}

PetscErrorCode HopsCudaCurlCount(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->coupled) LaunchCount<true>(m, rows, work, stream);
  else LaunchCount<false>(m, rows, work, stream);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlColumns(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  const size_t size = HOPS_CURL_THREADS * HOPS_CUDA_CURL_MAX(rows->coupled) * sizeof(int);

  PetscFunctionBegin;
  if (rows->coupled) Fill<true><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, used);
  else Fill<false><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlPlaces(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->coupled) Places<true><<<rows->nblocks, HOPS_CURL_THREADS, 0, stream>>>(*m, *rows);
  else Places<false><<<rows->nblocks, HOPS_CURL_THREADS, 0, stream>>>(*m, *rows);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
