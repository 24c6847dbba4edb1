/*
  Values of the low-order-refined matrix. A block has consecutive rows, and a thread works on one cell of one
  of them, so that rows of one cell and rows of eight keep the threads of a warp equally busy. A row's cells
  add in turns, in ascending order: values come out the same bit by bit.

  Where the contributions of a cell go in a row is known once for a pattern: from its first pass over the
  cells (cudalorpattern.cu), or looked up where rows are sorted, in two blocks, or long. Rows with more
  columns than six bits count have no places, and a kernel of their own that looks them up each time.
*/
#include "cudalorplace.cuh"

/* ---- Places ---- */

template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS) Places(const HopsLanesLORMesh m, const HopsLORRows rows, int R)
{
  __shared__ int rowof[HOPS_LOR_THREADS];
  const int      t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0), P = m.P;
  const int     *begin = m.begin + rows.first + r0;
  const int      k0 = begin[0], k1 = begin[n], b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0;

  PlaceWords<DIM, MIXED> word;

  for (int kc = k0; kc < k1; kc += HOPS_LOR_THREADS) {
    __syncthreads();
    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t >= k1) continue;
    const int  r = r0 + rowof[t], e = m.entry[kc + t], c = CellOf(m, e), at = m.ijk[e - c * m.nn], mask = MIXED ? m.mask[c] : 0;
    const int  ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, *N = m.restr + e;
    int        next = rows.i[0][r];
    const auto Put  = [&](int s, int offset) {
      if (N[offset] < m.nfree) word.Set(s, Find(rows, r, N[offset], &next));
    };

    word.Clear();
    if (!IsLong(rows, r, HOPS_LANES_LOR_MAX)) ForNeighbours<DIM, MIXED>(ijk, P, mask, Put);
    word.Store(rows, kc + t);
  }
}

/* ---- Values ---- */

/*
  Contributions of a cell to the row of its node v, by neighbours, with s_a = +1 at the first node of a line,
  -1 at the last, 0 inside:
    (v,v+e_a) = -(S_a(v) + S_a(v+e_a)) / h_a + sum_b s_b (q_ab(v+e_a) - q_ab(v)), and (v,v-e_a) by symmetry,
    (v,v) = mass - sum of the first terms of its edges + 2 sum_ab s_a s_b q_ab(v),
    (v,v+e_a+e_b) = -q_ab(v+e_a) - q_ab(v+e_b), (v,v+e_a-e_b) = q_ab(v+e_a) + q_ab(v-e_b).
*/
template <int DIM, bool MIXED>
__device__ __forceinline__ static void Contributions(const HopsLanesLORMesh &m, const HopsLanesLORData &data, int e, double x[])
{
  const int     P = m.P, c = CellOf(m, e), at = __ldg(m.ijk + e - c * m.nn), mask = MIXED ? m.mask[c] : 0;
  const int     ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, st[3] = {1, P, P * P};
  const double *D = data.v + 4 * (size_t)e, *Q = DIM == 3 ? data.pairs + 4 * (size_t)e : D + 2;
  const double2 d0 = __ldg((const double2 *)D), d1 = __ldg((const double2 *)D + 1);
  const double  S[3] = {d0.x, d0.y, d1.x};
  bool          up[DIM], down[DIM];

  x[0] = d1.y;
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    up[a]        = ijk[a] < P - 1;
    down[a]      = ijk[a] > 0;
    x[1 + 2 * a] = up[a] ? -(S[a] + __ldg(D + 4 * st[a] + a)) * __ldg(m.hinv + ijk[a]) : 0;
    x[2 + 2 * a] = down[a] ? -(__ldg(D - 4 * st[a] + a) + S[a]) * __ldg(m.hinv + ijk[a] - 1) : 0;
    x[0] -= x[1 + 2 * a] + x[2 + 2 * a];
  }
  if constexpr (MIXED) {
#pragma unroll
    for (int a = 0, s = 1 + 2 * DIM; a < DIM - 1; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, s += 4) {
        const int     sa = !down[a] - !up[a], sb = !down[b] - !up[b];
        const bool    on = mask >> (a + b - 1) & 1;
        const double *q  = Q + a + b - 1;
        const double  ap = on && up[a] ? __ldg(q + 4 * st[a]) : 0, am = on && down[a] ? __ldg(q - 4 * st[a]) : 0;
        const double  bp = on && up[b] ? __ldg(q + 4 * st[b]) : 0, bm = on && down[b] ? __ldg(q - 4 * st[b]) : 0;

        if (on && (sa || sb)) {
          const double q0 = __ldg(q);

          if (up[a]) x[1 + 2 * a] += sb * (ap - q0);
          if (down[a]) x[2 + 2 * a] += sb * (q0 - am);
          if (up[b]) x[1 + 2 * b] += sa * (bp - q0);
          if (down[b]) x[2 + 2 * b] += sa * (q0 - bm);
          x[0] += 2 * sa * sb * q0;
        }
        x[s]     = -ap - bp;
        x[s + 1] = ap + bm;
        x[s + 2] = am + bp;
        x[s + 3] = -am - bm;
      }
  }
}

/* Adds to a row that begins at s[lo]; what has no place goes to s[none]. As no two places are the same, all
   are read before any is written, and none waits for another */
template <int N>
__device__ __forceinline__ static void AddShared(const unsigned long long word[], const double x[], double s[], int lo, int none)
{
#pragma unroll
  for (int w = 0; w < N; w += HOPS_PLACE_WORD) {
    int    to[HOPS_PLACE_WORD];
    double v[HOPS_PLACE_WORD];

#pragma unroll
    for (int i = 0; i < HOPS_PLACE_WORD; i++) {
      if (w + i >= N) continue;
      to[i] = PlaceOf(word, w + i);
      to[i] = to[i] == HOPS_PLACE_NONE ? none : lo + to[i];
      v[i]  = s[to[i]];
    }
#pragma unroll
    for (int i = 0; i < HOPS_PLACE_WORD; i++)
      if (w + i < N) s[to[i]] = v[i] + x[w + i];
  }
}

/* The same with V and V1 where the row's entries of block 0, n0 of them, and of block 1 lie */
template <int N>
__device__ __forceinline__ static void AddBlocks(const unsigned long long word[], const double x[], double *V, int n0, double *V1)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int p = PlaceOf(word, i);

    if (p == HOPS_PLACE_NONE) continue;
    if (p < n0) V[p] += x[i];
    else V1[p - n0] += x[i];
  }
}

/*
  A block's rows lie side by side in block 0: their values are put together in shared memory, `room` entries
  and one a thread for what has no place, and written as one piece. Rows that do not fit take their values in
  global memory.
*/
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS, MIXED ? 6 : 10)
  Values(const HopsLanesLORMesh m, const HopsLanesLORData data, const HopsLORRows rows, int R, int room)
{
  extern __shared__ double shared[];
  __shared__ int           rowof[HOPS_LOR_THREADS], lo[HOPS_LOR_THREADS + 1], first[HOPS_LOR_THREADS];
  const int                t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int               *begin = m.begin + rows.first + r0, *i0 = rows.i[0] + r0, base = i0[0], len = i0[n] - base, k0 = begin[0],
            k1    = begin[n];
  const bool fits = len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;
  int        b0 = 0, b1 = 0;

  if (t < n) {
    b0       = begin[t];
    b1       = begin[t + 1];
    lo[t]    = i0[t] - base;
    first[t] = b0;
    if (t == n - 1) lo[n] = len;
    if (two)
      for (int k = rows.i[1][r0 + t]; k < rows.i[1][r0 + t + 1]; k++) rows.v[1][k] = 0;
  }
  for (int k = t; k < len; k += HOPS_LOR_THREADS) {
    if (fits) shared[k] = 0;
    else rows.v[0][base + k] = 0;
  }
  for (int kc = k0; kc < k1; kc += HOPS_LOR_THREADS) {
    double                 x[Star<DIM, MIXED>::N];
    PlaceWords<DIM, MIXED> word;
    int                    turn = -1, r = 0;

    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t < k1) {
      r    = rowof[t];
      turn = kc + t - max(first[r], kc);
      word.Load(rows, kc + t);
      Contributions<DIM, MIXED>(m, data, m.entry[kc + t], x);
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        if (apart) AddShared<Star<DIM, MIXED>::N>(word.w, x, shared, lo[r], room + t);
        else
          AddBlocks<Star<DIM, MIXED>::N>(word.w, x, (fits ? shared : rows.v[0] + base) + lo[r], lo[r + 1] - lo[r],
                                         two ? rows.v[1] + rows.i[1][r0 + r] : NULL);
      }
      if (!__syncthreads_or(turn > j)) break;
    }
  }
  if (!fits) return;
  for (int k = t; k < len; k += HOPS_LOR_THREADS) rows.v[0][base + k] = shared[k];
}

/* The rows that have no places, a thread for each; Values() made them zero */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_LOR_THREADS)
  LongValues(const HopsLanesLORMesh m, const HopsLanesLORData data, const HopsLORRows rows)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || !IsLong(rows, r, HOPS_LANES_LOR_MAX)) return;
  const int lo = rows.i[0][r], n0 = rows.i[0][r + 1] - lo, row = (int)rows.first + r;
  int       next = lo;

  for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
    const int e = m.entry[k], c = CellOf(m, e), at = m.ijk[e - c * m.nn], mask = MIXED ? m.mask[c] : 0, *N = m.restr + e;
    const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
    double    x[Star<DIM, MIXED>::N];

    Contributions<DIM, MIXED>(m, data, e, x);
    ForNeighbours<DIM, MIXED>(ijk, m.P, mask, [&](int s, int offset) {
      if (N[offset] >= m.nfree) return;
      const int p = (int)Find(rows, r, N[offset], &next);

      if (p < n0) rows.v[0][lo + p] += x[s];
      else rows.v[1][rows.i[1][r] + p - n0] += x[s];
    });
  }
}

/* ---- Launches ---- */

template <int DIM, bool MIXED>
static PetscErrorCode Launch(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows, cudaStream_t stream)
{
  const int          R      = RowsOfBlock(rows);
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);
  const int          room   = R * Star<DIM, MIXED>::ROOM;

  PetscFunctionBegin;
  if (data) {
    Values<DIM, MIXED><<<blocks, HOPS_LOR_THREADS, (room + HOPS_LOR_THREADS) * sizeof(double), stream>>>(*m, *data, *rows, R, room);
    if (rows->anylong)
      LongValues<DIM, MIXED>
        <<<(unsigned int)((rows->n + HOPS_LOR_THREADS - 1) / HOPS_LOR_THREADS), HOPS_LOR_THREADS, 0, stream>>>(*m, *data, *rows);
  } else Places<DIM, MIXED><<<blocks, HOPS_LOR_THREADS, 0, stream>>>(*m, *rows, R);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesLORPlaces(const HopsLanesLORMesh *m, const HopsLORRows *rows)
{
  cudaStream_t stream;
  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->dim == 3 && rows->coupled) PetscCall((Launch<3, true>(m, NULL, rows, stream)));
  else if (m->dim == 3) PetscCall((Launch<3, false>(m, NULL, rows, stream)));
  else if (rows->coupled) PetscCall((Launch<2, true>(m, NULL, rows, stream)));
  else PetscCall((Launch<2, false>(m, NULL, rows, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesLORValues(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows)
{
  cudaStream_t stream;
  const bool   mixed = data->mixed && rows->coupled;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->dim == 3 && mixed) PetscCall((Launch<3, true>(m, data, rows, stream)));
  else if (m->dim == 3) PetscCall((Launch<3, false>(m, data, rows, stream)));
  else if (mixed) PetscCall((Launch<2, true>(m, data, rows, stream)));
  else PetscCall((Launch<2, false>(m, data, rows, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsCudaLORValues(HopsLanesLORKernels *k)
{
  k->Places = HopsLanesLORPlaces;
  k->Values = HopsLanesLORValues;
}
