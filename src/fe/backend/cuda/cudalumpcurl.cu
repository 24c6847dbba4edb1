/*
  Low-order-refined matrices of H(curl) in 3D: rows by a stencil, since all edges of a lattice along a direction have the same neighbours,
  as far as these lie in the cell. A thread works on one cell of a row: it reads the 22 numbers of the masses around its edge, and has at most
  33 entries of them. Cells of a row add in turns, in ascending order, so values come out the same bit by bit.

  As in H1 (cudalorvalues.cu), where the contributions of a cell go in a row is kept: seven bits for each neighbour, its sign among them.
  Rows with more columns than six bits count take the tables of cudalumprows.cu.
*/
#include "cudalorrow.cuh"
#include "cudalump.h"

#define HOPS_CURL_NONE    HOPS_CUDA_CURL_MAX /* place of a neighbour that is not there, or is constrained: all bits */
#define HOPS_CURL_BITS    7
#define HOPS_CURL_WORD    9 /* places of a word */
#define HOPS_CURL_THREADS 128

/* ---- The stencil ---- */

/*
  Directions a (the row's edge), b and c follow one another cyclically; edge (i, j, k) goes from node (i, j, k) to (i + 1, j, k).
  Neighbours by direction and shift of their indices, those of a straight cell first:
    0 itself; 1-4 A(+,0) A(-,0) A(0,+) A(0,-), parallel ones at (j, k) + these; 13-16 A(+,+) A(+,-) A(-,+) A(-,-);
    5-8 B(I,h,0), along b at node i + I, behind (h = 0) or before (1) the row's edge, I varies slowest; 17-24 B(I,h,K), K = +1, -1;
    9-12 C(I,0,h), along c; 25-32 C(I,J,h), J = +1, -1.
*/
struct Neighbour {
  int dir, i, j, k;
};

__host__ __device__ constexpr static Neighbour NeighbourOf(int s)
{
  return s == 0   ? Neighbour{0, 0, 0, 0}
         : s < 3  ? Neighbour{0, 0, s == 1 ? 1 : -1, 0}
         : s < 5  ? Neighbour{0, 0, 0, s == 3 ? 1 : -1}
         : s < 9  ? Neighbour{1, (s - 5) >> 1, -((s - 5) & 1), 0}
         : s < 13 ? Neighbour{2, (s - 9) >> 1, 0, -((s - 9) & 1)}
         : s < 17 ? Neighbour{0, 0, (s - 13) >> 1 ? -1 : 1, (s - 13) & 1 ? -1 : 1}
         : s < 25 ? Neighbour{1, (s - 17) >> 2, -((s - 17) >> 1 & 1), (s - 17) & 1 ? -1 : 1}
                  : Neighbour{2, (s - 25) >> 2, (s - 25) >> 1 & 1 ? -1 : 1, -((s - 25) & 1)};
}

template <bool MIXED>
struct Stencil {
  enum {
    N     = MIXED ? 33 : 13,
    WORDS = (N + HOPS_CURL_WORD - 1) / HOPS_CURL_WORD
  };
};

/* An edge in its cell */
struct Edge {
  int  P, a, b, c, x[3];    /* P nodes a direction; place */
  bool jm, jp, km, kp;      /* is there more of the cell behind and before it, along b and c? */
  bool on_ab, on_bc, on_ac; /* coupled pairs */

  __host__ __device__ __forceinline__ Edge(int P_, int place, int mask)
  {
    P    = P_;
    a    = place >> 24;
    b    = a == 2 ? 0 : a + 1;
    c    = a == 0 ? 2 : a - 1;
    x[0] = place & 255;
    x[1] = place >> 8 & 255;
    x[2] = place >> 16 & 255;

    const int j = place >> 8 * b & 255, k = place >> 8 * c & 255;

    jm    = j > 0;
    jp    = j < P - 1;
    km    = k > 0;
    kp    = k < P - 1;
    on_bc = mask >> (2 - a) & 1;
    on_ac = mask >> (2 - b) & 1;
    on_ab = mask >> (2 - c) & 1;
  }
  /* edges along d, or (open = 0) faces across d: stride of direction f, and index of the one with the same indices */
  __host__ __device__ __forceinline__ int Stride(int d, int f, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return f == 0 ? 1 : (f == 1 ? n0 : n0 * n1);
  }
  __host__ __device__ __forceinline__ int Index(int d, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return x[0] + n0 * (x[1] + n1 * x[2]);
  }
};

/* Is neighbour s in the cell, and does its entry belong to the pattern? */
__host__ __device__ __forceinline__ static bool Exists(const HopsCudaLumpMesh &m, const Edge &e, int s)
{
  const Neighbour n  = NeighbourOf(s);
  bool            ok = true;

  if (n.dir == 1 ? n.j == 0 : n.j > 0) ok = ok && e.jp;
  if (n.j < 0) ok = ok && e.jm;
  if (n.dir == 2 ? n.k == 0 : n.k > 0) ok = ok && e.kp;
  if (n.k < 0) ok = ok && e.km;
  if (s == 0) return true;
  if (s < 5) return ok && m.has[0];
  if (s < 9) return ok && (m.has[0] || e.on_ab);
  if (s < 13) return ok && (m.has[0] || e.on_ac);
  if (s < 17) return ok && m.has[0] && e.on_bc;
  return ok && m.has[0] && (e.on_ab || e.on_bc || e.on_ac);
}

/* The cell's entry of each neighbour, or -1 */
template <bool MIXED>
__host__ __device__ __forceinline__ static void Entries(const HopsCudaLumpMesh &m, const Edge &e, int entry[])
{
  const int d[3] = {e.a, e.b, e.c}, size = (e.P - 1) * e.P * e.P;
  int       base[3], st[3][3];

#pragma unroll
  for (int f = 0; f < 3; f++) {
    base[f] = d[f] * size + e.Index(d[f], 1);
#pragma unroll
    for (int g = 0; g < 3; g++) st[f][g] = e.Stride(d[f], d[g], 1);
  }
#pragma unroll
  for (int s = 0; s < Stencil<MIXED>::N; s++) {
    const Neighbour n = NeighbourOf(s);

    entry[s] = Exists(m, e, s) ? base[n.dir] + n.i * st[n.dir][0] + n.j * st[n.dir][1] + n.k * st[n.dir][2] : -1;
  }
}

/*
  Entries of a cell in the row of its edge e, by neighbours; X: the cell's numbers. With c_f the circulation around a face and n a number,
    y = sum over the edge's faces of +-(n_f c_f + sum over a face's edges g of n_g (sum of c over the faces across g's other direction)),
  written out. What meets around an edge g cancels there but on the cell's boundary: sj = +1 at the first node along b, -1 at the last, else 0; sk along c.
  What neighbours get that are not there is meaningless.
*/
template <bool MIXED>
__host__ __device__ __forceinline__ static void Contributions(const HopsCudaLumpMesh &m, const Edge &e, const double *__restrict__ X, double x[])
{
  const int  P = m.P, p = P - 1, a = e.a, b = e.b, c = e.c;
  const bool has0 = m.has[0], has1 = m.has[1];
  const auto At = [X](bool on, int k) { return on ? X[k] : 0.0; };
  /* an edge's own number, those of its faces across c and b */
  const int    ia = e.Index(a, 1), fc = m.own[0] + c * p * p * P + e.Index(c, 0), fb = m.own[0] + b * p * p * P + e.Index(b, 0);
  const double own = At(has1, m.own[1] + a * p * P * P + ia);
  const double cp = At(has0 && e.jp, fc), cm = At(has0 && e.jm, fc - e.Stride(c, b, 0)), bp = At(has0 && e.kp, fb), bm = At(has0 && e.km, fb - e.Stride(b, c, 0));

  x[0] = own + cp + cm + bp + bm;
  x[1] = -cp;
  x[2] = -cm;
  x[3] = -bp;
  x[4] = -bm;
  if (!MIXED) {
    x[5]  = -cp;
    x[6]  = cm;
    x[7]  = cp;
    x[8]  = -cm;
    x[9]  = -bp;
    x[10] = bm;
    x[11] = bp;
    x[12] = -bm;
    return;
  }
  const int    sj = !e.jm - !e.jp, sk = !e.km - !e.kp, np = P * P * P, ne = p * P * P, na = a == 0 ? 1 : (a == 1 ? P : P * P);
  const int    node = m.mixed[1] + e.x[0] + P * (e.x[1] + P * e.x[2]);
  const int    ga = m.mixed[0] + (2 - a) * ne + ia, gb = m.mixed[0] + (2 - b) * ne + e.Index(b, 1), gc = m.mixed[0] + (2 - c) * ne + e.Index(c, 1);
  const bool   q = has0 && e.on_bc, r = has0 && e.on_ac, t = has0 && e.on_ab;
  const double q0 = At(q && (sj || sk), ga), qjp = At(q && e.jp, ga + e.Stride(a, b, 1)), qjm = At(q && e.jm, ga - e.Stride(a, b, 1));
  const double qkp = At(q && e.kp, ga + e.Stride(a, c, 1)), qkm = At(q && e.km, ga - e.Stride(a, c, 1));

  x[0] -= 2 * sj * sk * q0;
  x[1] += sk * (q0 - qjp);
  x[2] += sk * (qjm - q0);
  x[3] += sj * (q0 - qkp);
  x[4] += sj * (qkm - q0);
  x[13] = qjp + qkp;
  x[14] = -(qjp + qkm);
  x[15] = -(qjm + qkp);
  x[16] = qjm + qkm;
#pragma unroll
  for (int I = 0; I < 2; I++) {
    const int    s  = I ? 1 : -1;
    const double rp = At(r && e.jp, gb + I * e.Stride(b, a, 1)), rm = At(r && e.jm, gb + I * e.Stride(b, a, 1) - e.Stride(b, b, 1));
    const double tp = At(t && e.kp, gc + I * e.Stride(c, a, 1)), tm = At(t && e.km, gc + I * e.Stride(c, a, 1) - e.Stride(c, c, 1));
    const double ab = At(has1 && e.on_ab, node + (2 - c) * np + I * na), ac = At(has1 && e.on_ac, node + (2 - b) * np + I * na);
    const double bs = ab - tp - tm, cs = ac - rp - rm;

    x[5 + 2 * I]  = s * (cp - sk * q0) + bs + sk * rp;
    x[6 + 2 * I]  = -s * (cm + sk * q0) + bs - sk * rm;
    x[9 + 2 * I]  = s * (bp - sj * q0) + cs + sj * tp;
    x[10 + 2 * I] = -s * (bm + sj * q0) + cs - sj * tm;
    x[17 + 4 * I] = tp - rp - s * qkp;
    x[18 + 4 * I] = tm + rp + s * qkm;
    x[19 + 4 * I] = tp + rm - s * qkp;
    x[20 + 4 * I] = tm - rm + s * qkm;
    x[25 + 4 * I] = rp - tp - s * qjp;
    x[26 + 4 * I] = rp + tm - s * qjp;
    x[27 + 4 * I] = rm + tp + s * qjm;
    x[28 + 4 * I] = rm - tm + s * qjm;
  }
}

/* ---- The cells of a block's rows ---- */

/* e / ne, exact for e < 2^31 */
__device__ __forceinline__ static int CellOf(const HopsCudaLumpMesh &m, int e)
{
  return __double2int_rd((e + 0.5) * m.perentry);
}

/* Of the entries k0, k0 + 1, ... of a block's rows, as many as there are threads: whose row each is. begin, end: those of this thread's row */
__device__ __forceinline__ static void FindRows(int begin, int end, int k0, int row[])
{
  for (int k = max(begin, k0); k < min(end, k0 + HOPS_CURL_THREADS); k++) row[k - k0] = threadIdx.x;
}

typedef unsigned long long Word;

/* In a word of ones. negative: the cell sees one of the row's and the neighbour's unknowns with the opposite sign */
__device__ __forceinline__ static void SetPlace(Word word[], int s, int p, bool negative)
{
  word[s / HOPS_CURL_WORD] ^= (Word)((p | (int)negative << 6) ^ 127) << (HOPS_CURL_BITS * (s % HOPS_CURL_WORD));
}

/* x with the sign of neighbour s in place of its own direction's, and its place */
__device__ __forceinline__ static int GetPlace(const Word word[], int s, double *x)
{
  const int w = (int)(word[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD)));

  *x = __hiloint2double(__double2hiint(*x) ^ (w << 25 & 0x80000000), __double2loint(*x));
  return w & HOPS_CURL_NONE;
}

template <bool MIXED>
__device__ __forceinline__ static void PutPlaces(const HopsLORRows &rows, int k, const Word word[])
{
#pragma unroll
  for (int w = 0; w < Stencil<MIXED>::WORDS; w++) rows.place[(size_t)w * rows.nplace + (k - rows.place0)] = word[w];
}

/* ---- Pattern ---- */

/* Place of a column among the n of a row's list, or n */
__device__ __forceinline__ static int Search(const int list[], int n, int col)
{
  int k = 0;

  while (k < n && list[k] != col) k++;
  return k;
}

/*
  A block puts the columns of its rows together in shared memory. The first cell of a row meets columns for the first time; of the next ones' those on
  the surface of the cell alone can be there already. Columns beyond the list's room are counted, and make a long row.
*/
template <bool MIXED, bool FILL>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Pattern(const HopsCudaLumpMesh m, const HopsLORRows rows, int R, unsigned long long *work, unsigned char *used)
{
  extern __shared__ int lists[];
  __shared__ int        rowof[HOPS_CURL_THREADS], first[HOPS_CURL_THREADS], count[HOPS_CURL_THREADS];
  const int             t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int            *begin = m.begin + rows.first + r0;
  const int             k0 = begin[0], k1 = begin[n];
  int                  *mine = lists + t * HOPS_CUDA_CURL_MAX;
  int                   b0 = 0, b1 = 0;

  if (t < n) {
    b0       = begin[t];
    b1       = begin[t + 1];
    first[t] = b0;
    count[t] = 1;
    mine[0]  = (int)rows.first + r0 + t;
  }
  for (int kc = k0; kc < k1; kc += HOPS_CURL_THREADS) {
    int      col[Stencil<MIXED>::N], turn = -1, r = 0;
    unsigned negative = 0, surface = 0; /* bits of the neighbours 1, 2, ... */
    bool     search = false, known = false;

    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t < k1) {
      r            = rowof[t];
      turn         = kc + t - max(first[r], kc);
      search       = m.twice || kc + t > first[r];
      known        = FILL && IsLong(rows, r0 + r, HOPS_CUDA_CURL_MAX);
      const int  e = m.entry[kc + t], c = CellOf(m, e), i = e - c * m.ne, *C = m.restr + (size_t)c * m.ne;
      const Edge edge(m.P, m.at[i], MIXED ? m.mask[c] : 0);
      const bool turned = C[i] < 0;

      Entries<MIXED>(m, edge, col);
#pragma unroll
      for (int s = 0; s < Stencil<MIXED>::N; s++)
        if (col[s] >= 0) col[s] = C[col[s]];
        else col[s] = m.nfree;
#pragma unroll
      for (int s = 1; s < Stencil<MIXED>::N; s++) {
        const Neighbour nb    = NeighbourOf(s);
        const int       at[3] = {edge.x[edge.a] + nb.i, edge.x[edge.b] + nb.j, edge.x[edge.c] + nb.k};
        bool            on    = false;

#pragma unroll
        for (int d = 0; d < 3; d++) on = on || (d != nb.dir && (at[d] == 0 || at[d] == m.P - 1));
        if (on) surface |= 1u << (s - 1);
        if ((col[s] < 0) != turned) negative |= 1u << (s - 1);
        col[s] = Unsigned(col[s]);
      }
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        Word word[Stencil<MIXED>::WORDS];
        int *list = lists + r * HOPS_CUDA_CURL_MAX, len = count[r];

#pragma unroll
        for (int w = 0; w < Stencil<MIXED>::WORDS; w++) word[w] = ~(Word)0;
        if (!known) {
          SetPlace(word, 0, 0, false);
#pragma unroll
          for (int s = 1; s < Stencil<MIXED>::N; s++) {
            if (col[s] >= m.nfree) continue;
            const int p = search && (m.twice || surface >> (s - 1) & 1) ? Search(list, min(len, HOPS_CUDA_CURL_MAX), col[s]) : len;

            if (p >= min(len, HOPS_CUDA_CURL_MAX)) {
              if (len < HOPS_CUDA_CURL_MAX) list[len] = col[s];
              len++;
            }
            if (FILL) SetPlace(word, s, p, negative >> (s - 1) & 1);
          }
          count[r] = len;
        }
        if (FILL && rows.place) PutPlaces<MIXED>(rows, kc + t, word);
      }
      if (!__syncthreads_or(turn > j)) break;
    }
  }
  const int  r  = r0 + t;
  const bool on = t < n && !(FILL && IsLong(rows, r, HOPS_CUDA_CURL_MAX));

  if (on && rows.slot && rows.slot[r] >= 0) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++)
      if (Search(mine, min(count[t], HOPS_CUDA_CURL_MAX), rows.xj[k]) == min(count[t], HOPS_CUDA_CURL_MAX)) {
        if (count[t] < HOPS_CUDA_CURL_MAX) mine[count[t]] = rows.xj[k];
        count[t]++;
      }
  }
  if (!FILL) {
    int low = 0;

    if (!on) return;
    if (count[t] > HOPS_CUDA_CURL_MAX) {
      CountLater(rows, r, count[t], work);
      return;
    }
    for (int k = 0; k < count[t] && rows.i[1]; k++) low += mine[k] < rows.split;
    rows.i[0][r] = rows.i[1] ? low : count[t];
    if (rows.i[1]) rows.i[1][r] = count[t] - low;
    return;
  }
  if (on && rows.sorted) Sort(count[t], mine);
  if (rows.i[1]) {
    if (!on) return;
    int *j0 = rows.j[0] + rows.i[0][r], *j1 = rows.j[1] + rows.i[1][r];

    for (int k = 0; k < count[t]; k++) {
      if (mine[k] < rows.split) *j0++ = mine[k];
      else {
        *j1++                      = mine[k] - (int)rows.split;
        used[mine[k] - rows.split] = 1;
      }
    }
    return;
  }
  __syncthreads();
  for (int i = t / 32; i < n; i += HOPS_CURL_THREADS / 32) {
    int *J = rows.j[0] + rows.i[0][r0 + i];

    if (IsLong(rows, r0 + i, HOPS_CUDA_CURL_MAX)) continue;
    for (int k = t % 32; k < count[i]; k += 32) J[k] = lists[i * HOPS_CUDA_CURL_MAX + k];
  }
}

/* ---- Places in a pattern that is there ---- */

/* Those of block 1 follow those of block 0. Columns mostly come as the row lists them */
__device__ static int Find(const HopsLORRows &rows, int r, int c, int *next)
{
  const int lo = rows.i[0][r], hi = rows.i[0][r + 1];

  if (c < (int)rows.split) {
    int k = *next;

    for (;; k++) {
      if (k == hi) k = lo;
      if (rows.j[0][k] == c) break;
    }
    *next = k + 1;
    return k - lo;
  } else {
    const int d = rows.map[c - rows.split], lo1 = rows.i[1][r];
    int       k = lo1;

    while (rows.j[1][k] != d) k++;
    return hi - lo + k - lo1;
  }
}

template <bool MIXED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Places(const HopsCudaLumpMesh m, const HopsLORRows rows, int R)
{
  __shared__ int rowof[HOPS_CURL_THREADS];
  const int      t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int     *begin = m.begin + rows.first + r0;
  const int      k0 = begin[0], k1 = begin[n], b0 = t < n ? begin[t] : 0, b1 = t < n ? begin[t + 1] : 0;

  for (int kc = k0; kc < k1; kc += HOPS_CURL_THREADS) {
    __syncthreads();
    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t >= k1) continue;
    const int  r = r0 + rowof[t], e = m.entry[kc + t], c = CellOf(m, e), i = e - c * m.ne, *C = m.restr + (size_t)c * m.ne;
    const Edge edge(m.P, m.at[i], MIXED ? m.mask[c] : 0);
    const bool turned = C[i] < 0;
    int        entry[Stencil<MIXED>::N], next = rows.i[0][r];
    Word       word[Stencil<MIXED>::WORDS];

#pragma unroll
    for (int w = 0; w < Stencil<MIXED>::WORDS; w++) word[w] = ~(Word)0;
    if (!IsLong(rows, r, HOPS_CUDA_CURL_MAX)) {
      Entries<MIXED>(m, edge, entry);
#pragma unroll
      for (int s = 0; s < Stencil<MIXED>::N; s++) {
        if (entry[s] < 0) continue;
        const int l = C[entry[s]], u = Unsigned(l);

        if (u < m.nfree) SetPlace(word, s, Find(rows, r, u, &next), (l < 0) != turned);
      }
    }
    PutPlaces<MIXED>(rows, kc + t, word);
  }
}

/* ---- Values ---- */

/* Adds to a row that begins at s[lo]; what has no place goes to s[none]. As no two places are the same, all of a word are read before any is written */
template <int N>
__device__ __forceinline__ static void AddShared(const Word word[], double x[], double s[], int lo, int none)
{
#pragma unroll
  for (int w = 0; w < N; w += HOPS_CURL_WORD) {
    int    to[HOPS_CURL_WORD];
    double v[HOPS_CURL_WORD];

#pragma unroll
    for (int i = 0; i < HOPS_CURL_WORD; i++) {
      if (w + i >= N) continue;
      to[i] = GetPlace(word, w + i, &x[w + i]);
      to[i] = to[i] == HOPS_CURL_NONE ? none : lo + to[i];
      v[i]  = s[to[i]];
    }
#pragma unroll
    for (int i = 0; i < HOPS_CURL_WORD; i++)
      if (w + i < N) s[to[i]] = v[i] + x[w + i];
  }
}

/* The same with V and V1 where the row's entries of block 0, n0 of them, and of block 1 lie */
template <int N>
__device__ __forceinline__ static void AddBlocks(const Word word[], double x[], double *V, int n0, double *V1)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int p = GetPlace(word, i, &x[i]);

    if (p == HOPS_CURL_NONE) continue;
    if (p < n0) V[p] += x[i];
    else V1[p - n0] += x[i];
  }
}

/*
  A block's rows lie side by side in block 0: their values are put together in shared memory, `room` entries and one a thread for
  what has no place, and written as one piece. Rows that do not fit take their values in global memory.
*/
template <bool MIXED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS, MIXED ? 4 : 8) Values(const HopsCudaLumpMesh m, const HopsLORRows rows, int R, int room)
{
  extern __shared__ double shared[];
  __shared__ int           rowof[HOPS_CURL_THREADS], lo[HOPS_CURL_THREADS + 1], first[HOPS_CURL_THREADS];
  const int                t = threadIdx.x, r0 = (int)blockIdx.x * R, n = min(R, (int)rows.n - r0);
  const int               *begin = m.begin + rows.first + r0, *i0 = rows.i[0] + r0, base = i0[0], len = i0[n] - base, k0 = begin[0], k1 = begin[n];
  const bool               fits = len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;
  int                      b0 = 0, b1 = 0;

  if (t < n) {
    b0       = begin[t];
    b1       = begin[t + 1];
    lo[t]    = i0[t] - base;
    first[t] = b0;
    if (t == n - 1) lo[n] = len;
    if (two)
      for (int k = rows.i[1][r0 + t]; k < rows.i[1][r0 + t + 1]; k++) rows.v[1][k] = 0;
  }
  for (int k = t; k < len; k += HOPS_CURL_THREADS) {
    if (fits) shared[k] = 0;
    else rows.v[0][base + k] = 0;
  }
  for (int kc = k0; kc < k1; kc += HOPS_CURL_THREADS) {
    double x[Stencil<MIXED>::N];
    Word   word[Stencil<MIXED>::WORDS];
    int    turn = -1, r = 0;

    FindRows(b0, b1, kc, rowof);
    __syncthreads();
    if (kc + t < k1) {
      const int e = m.entry[kc + t], c = CellOf(m, e);

      r    = rowof[t];
      turn = kc + t - max(first[r], kc);
#pragma unroll
      for (int w = 0; w < Stencil<MIXED>::WORDS; w++) word[w] = __ldg(rows.place + (size_t)w * rows.nplace + (kc + t - rows.place0));
      Contributions<MIXED>(m, Edge(m.P, m.at[e - c * m.ne], MIXED ? m.mask[c] : 0), m.numbers + (size_t)c * m.n, x);
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        if (apart) AddShared<Stencil<MIXED>::N>(word, x, shared, lo[r], room + t);
        else AddBlocks<Stencil<MIXED>::N>(word, x, (fits ? shared : rows.v[0] + base) + lo[r], lo[r + 1] - lo[r], two ? rows.v[1] + rows.i[1][r0 + r] : NULL);
      }
      if (!__syncthreads_or(turn > j)) break;
    }
  }
  if (!fits) return;
  for (int k = t; k < len; k += HOPS_CURL_THREADS) rows.v[0][base + k] = shared[k];
}

/* ---- Launches ---- */

/* rows of a block: as many as have a cell for each thread on average, or few less, since what is too much takes another round */
static int RowsOfBlock(const HopsLORRows *rows)
{
  return (int)PetscMax(1, PetscMin(HOPS_CURL_THREADS, 0.94 * HOPS_CURL_THREADS * (double)rows->n / PetscMax(rows->nplace, 1)));
}

size_t HopsCudaCurlPlaceSize(const HopsLORRows *rows)
{
  return (size_t)rows->nplace * (rows->coupled ? (int)Stencil<true>::WORDS : (int)Stencil<false>::WORDS) * sizeof(*rows->place);
}

PetscErrorCode HopsCudaCurlCount(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  const int          R      = RowsOfBlock(rows);
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);

  PetscFunctionBegin;
  if (rows->coupled) Pattern<true, false><<<blocks, HOPS_CURL_THREADS, R * HOPS_CUDA_CURL_MAX * sizeof(int), stream>>>(*m, *rows, R, work, NULL);
  else Pattern<false, false><<<blocks, HOPS_CURL_THREADS, R * HOPS_CUDA_CURL_MAX * sizeof(int), stream>>>(*m, *rows, R, work, NULL);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlColumns(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  const int          R      = RowsOfBlock(rows);
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);

  PetscFunctionBegin;
  if (rows->coupled) Pattern<true, true><<<blocks, HOPS_CURL_THREADS, R * HOPS_CUDA_CURL_MAX * sizeof(int), stream>>>(*m, *rows, R, NULL, used);
  else Pattern<false, true><<<blocks, HOPS_CURL_THREADS, R * HOPS_CUDA_CURL_MAX * sizeof(int), stream>>>(*m, *rows, R, NULL, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlPlaces(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  const int          R      = RowsOfBlock(rows);
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);

  PetscFunctionBegin;
  if (rows->coupled) Places<true><<<blocks, HOPS_CURL_THREADS, 0, stream>>>(*m, *rows, R);
  else Places<false><<<blocks, HOPS_CURL_THREADS, 0, stream>>>(*m, *rows, R);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlValues(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  const int          R = RowsOfBlock(rows), room = R * (rows->coupled ? 36 : 14);
  const unsigned int blocks = (unsigned int)((rows->n + R - 1) / R);
  const size_t       size   = (room + HOPS_CURL_THREADS) * sizeof(double);

  PetscFunctionBegin;
  if (rows->coupled) Values<true><<<blocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, R, room);
  else Values<false><<<blocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, R, room);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Does a cell have an unknown twice, as in a periodic mesh with one cell in a direction? ---- */

__global__ static void Twice(const HopsCudaLumpMesh m, int *result)
{
  const int l = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (l >= m.nfree) return;
  for (int k = m.begin[l]; k < m.begin[l + 1] - 1; k++)
    if (CellOf(m, m.entry[k]) == CellOf(m, m.entry[k + 1])) *result = 1; /* all write the same */
}

PetscErrorCode HopsCudaCurlTwice(const HopsCudaLumpMesh *m, int *result, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(result, 0, sizeof(*result), stream));
  if (m->nfree) Twice<<<(unsigned int)((m->nfree + 255) / 256), 256, 0, stream>>>(*m, result);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
