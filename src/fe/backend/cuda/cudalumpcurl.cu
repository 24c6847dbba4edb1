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
#define HOPS_CURL_WORD    9   /* places of a word */
#define HOPS_CURL_THREADS 128 /* rows of a block, at most */
#define HOPS_CURL_ENTRIES 120 /* cells of its rows, or few more */
#define HOPS_CURL_SLOTS   64  /* of a row's hash table; more than columns */

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
  int  P, a, b, c, x[3], i, j, k; /* P nodes a direction; place along x, y, z, and along a, b, c */
  bool jm, jp, km, kp;            /* is there more of the cell behind and before it, along b and c? */
  bool on_ab, on_bc, on_ac;       /* coupled pairs */

  __host__ __device__ __forceinline__ Edge(int P_, int place, int mask)
  {
    P    = P_;
    a    = place >> 24;
    b    = a == 2 ? 0 : a + 1;
    c    = a == 0 ? 2 : a - 1;
    x[0] = place & 255;
    x[1] = place >> 8 & 255;
    x[2] = place >> 16 & 255;

    i     = place >> 8 * a & 255;
    j     = place >> 8 * b & 255;
    k     = place >> 8 * c & 255;
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

/* ---- Blocks of rows, and the cells of these ---- */

/* e / ne, exact for e < 2^31 */
__device__ __forceinline__ static int CellOf(const HopsCudaLumpMesh &m, int e)
{
  return __double2int_rd((e + 0.5) * m.perentry);
}

/* Where the blocks of rows start, behind the places */
template <bool MIXED>
__host__ __device__ __forceinline__ static int *Starts(const HopsLORRows &rows)
{
  return (int *)(rows.place + (size_t)rows.nplace * Stencil<MIXED>::WORDS);
}

/* result[0]: does a cell have an unknown twice, as in a periodic mesh with one cell in a direction? result[1]: is there an unknown without a cell? */
__global__ static void Check(const HopsCudaLumpMesh m, int *result)
{
  const int l = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (l >= m.nfree) return;
  if (m.begin[l] == m.begin[l + 1]) result[1] = 1; /* all write the same */
  for (int k = m.begin[l]; k < m.begin[l + 1] - 1; k++)
    if (CellOf(m, m.entry[k]) == CellOf(m, m.entry[k + 1])) result[0] = 1;
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

/* Rows of a block: n from r0 on, with the entries k0..k1-1; b0, b1: those of this thread's row */
struct Block {
  int r0, n, k0, k1, b0, b1;

  __device__ __forceinline__ Block(const HopsCudaLumpMesh &m, const HopsLORRows &rows, const int start[])
  {
    r0 = start[blockIdx.x];
    n  = start[blockIdx.x + 1] - r0;

    const int *begin = m.begin + rows.first + r0;

    k0 = begin[0];
    k1 = begin[n];
    b0 = (int)threadIdx.x < n ? begin[threadIdx.x] : 0;
    b1 = (int)threadIdx.x < n ? begin[threadIdx.x + 1] : 0;
  }
  /* of the entries k, k + 1, ..., as many as there are threads: whose row each is */
  __device__ __forceinline__ void FindRows(int k, int row[]) const
  {
    for (int i = max(b0, k); i < min(b1, k + HOPS_CURL_THREADS); i++) row[i - k] = threadIdx.x;
  }
};

/* ---- Places ---- */

typedef unsigned long long Word;

template <bool MIXED>
struct PlaceWords {
  Word w[Stencil<MIXED>::WORDS];

  __device__ __forceinline__ void Clear()
  {
#pragma unroll
    for (int i = 0; i < Stencil<MIXED>::WORDS; i++) w[i] = ~(Word)0;
  }
  /* where nothing was set. negative: the cell sees one of the row's and the neighbour's unknowns with the opposite sign */
  __device__ __forceinline__ void Set(int s, int p, bool negative)
  {
    w[s / HOPS_CURL_WORD] ^= (Word)((p | (int)negative << 6) ^ 127) << (HOPS_CURL_BITS * (s % HOPS_CURL_WORD));
  }
  __device__ __forceinline__ int Get(int s) const
  {
    return (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD))) & HOPS_CURL_NONE;
  }
  /* and x with the sign */
  __device__ __forceinline__ int Get(int s, double *x) const
  {
    const int p = (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD)));

    *x = __hiloint2double(__double2hiint(*x) ^ (p << 25 & 0x80000000), __double2loint(*x));
    return p & HOPS_CURL_NONE;
  }
  __device__ __forceinline__ void Store(const HopsLORRows &rows, int k) const
  {
#pragma unroll
    for (int i = 0; i < Stencil<MIXED>::WORDS; i++) rows.place[(size_t)i * rows.nplace + (k - rows.place0)] = w[i];
  }
  __device__ __forceinline__ void Load(const HopsLORRows &rows, int k)
  {
#pragma unroll
    for (int i = 0; i < Stencil<MIXED>::WORDS; i++) w[i] = rows.place[(size_t)i * rows.nplace + (k - rows.place0)];
  }
};

/* ---- Pattern ---- */

/* Neighbours 1, 2, ... of the cell's entry: L indices, m.nfree where there is none; bits of those that the cell sees with another sign, and of those on its surface */
template <bool MIXED>
__device__ __forceinline__ static void Columns(const HopsCudaLumpMesh &m, int e, int col[], unsigned int *negative, unsigned int *surface)
{
  const int  c = CellOf(m, e), i = e - c * m.ne, *C = m.restr + (size_t)c * m.ne;
  const Edge edge(m.P, m.at[i], MIXED ? m.mask[c] : 0);
  const bool turned = C[i] < 0;

  *negative = *surface = 0;
  Entries<MIXED>(m, edge, col);
#pragma unroll
  for (int s = 0; s < Stencil<MIXED>::N; s++) col[s] = col[s] >= 0 ? C[col[s]] : m.nfree;
#pragma unroll
  for (int s = 1; s < Stencil<MIXED>::N; s++) {
    const Neighbour n    = NeighbourOf(s);
    const int       last = m.P - 1;
    const bool      on   = (n.dir != 0 && (edge.i + n.i == 0 || edge.i + n.i == last)) || (n.dir != 1 && (edge.j + n.j == 0 || edge.j + n.j == last)) || (n.dir != 2 && (edge.k + n.k == 0 || edge.k + n.k == last));

    if (on) *surface |= 1u << (s - 1);
    if ((col[s] < 0) != turned) *negative |= 1u << (s - 1);
    col[s] = Unsigned(col[s]);
  }
}

/*
  Lengths of rows, and places in them in the order in which cells meet their columns, the diagonal entry first. The first cell of a row meets columns for the
  first time; of the next ones' those on the surface of the cell alone can be there already, which a hash table for each row tells. Columns beyond a list's room
  are counted, and make a long row.
*/
template <bool MIXED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Count(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned long long *work)
{
  extern __shared__ int lists[]; /* [threads][max], then the tables */
  __shared__ int        rowof[HOPS_CURL_THREADS], first[HOPS_CURL_THREADS], count[HOPS_CURL_THREADS];
  __shared__ bool       several[HOPS_CURL_THREADS];
  unsigned char        *tables = (unsigned char *)(lists + HOPS_CURL_THREADS * HOPS_CUDA_CURL_MAX);
  const Block           b(m, rows, Starts<MIXED>(rows));
  const int             t = threadIdx.x, r = b.r0 + t;
  int                  *mine = lists + t * HOPS_CUDA_CURL_MAX;
  PlaceWords<MIXED>     word;

  for (int k = t; k < b.n * HOPS_CURL_SLOTS / 4; k += HOPS_CURL_THREADS) ((int *)tables)[k] = -1;
  if (t < b.n) {
    first[t]   = b.b0;
    several[t] = m.twice || b.b1 - b.b0 > 1;
    count[t]   = 1;
    mine[0]    = (int)rows.first + r;
  }
  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    int          col[Stencil<MIXED>::N], turn = -1, i = 0;
    unsigned int negative = 0, surface = 0;

    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t < b.k1) {
      i    = rowof[t];
      turn = kc + t - max(first[i], kc);
      Columns<MIXED>(m, m.entry[kc + t], col, &negative, &surface);
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        int           *list = lists + i * HOPS_CUDA_CURL_MAX, len = count[i];
        unsigned char *slot = tables + i * HOPS_CURL_SLOTS;
        const auto     Find = [&](int u) { /* the slot that has u, or will have it */
                                       unsigned int h = (unsigned int)u * 2654435761u >> 26;

                                       while (slot[h] != 255 && list[slot[h]] != u) h = (h + 1) % HOPS_CURL_SLOTS;
                                       return h;
        };

        word.Clear();
        word.Set(0, 0, false);
        if (m.twice) surface = ~0u; /* two entries of a cell can meet what is inside */
        if (!several[i]) surface = 0;
        else if (kc + t == first[i]) slot[Find(list[0])] = 0;
#pragma unroll
        for (int s = 1; s < Stencil<MIXED>::N; s++) {
          int p = len;

          if (col[s] >= m.nfree) continue;
          if (surface >> (s - 1) & 1) {
            const unsigned int h = Find(col[s]);

            if (slot[h] != 255) p = slot[h];
            else if (p < HOPS_CUDA_CURL_MAX) slot[h] = (unsigned char)p;
          }
          if (p < HOPS_CUDA_CURL_MAX) word.Set(s, p, negative >> (s - 1) & 1);
          if (p == len) {
            if (p < HOPS_CUDA_CURL_MAX) list[p] = col[s];
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

      while (k < min(len, HOPS_CUDA_CURL_MAX) && mine[k] != rows.xj[x]) k++;
      if (k < min(len, HOPS_CUDA_CURL_MAX)) continue;
      if (len < HOPS_CUDA_CURL_MAX) mine[len] = rows.xj[x];
      len++;
    }
  }
  if (len > HOPS_CUDA_CURL_MAX) {
    word.Clear();
    for (int k = b.b0; k < b.b1; k++) word.Store(rows, k);
    CountLater(rows, r, len, work);
    return;
  }
  for (int k = 0; k < len && rows.i[1]; k++) low += mine[k] < rows.split;
  rows.i[0][r] = rows.i[1] ? low : len;
  if (rows.i[1]) rows.i[1][r] = len - low;
}

/* Columns to their places; these are final where the rows are neither sorted nor in two blocks */
template <bool MIXED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Fill(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned char *used)
{
  extern __shared__ int lists[]; /* [threads][max] */
  __shared__ int        rowof[HOPS_CURL_THREADS], count[HOPS_CURL_THREADS];
  const Block           b(m, rows, Starts<MIXED>(rows));
  const int             t = threadIdx.x, r = b.r0 + t;
  int                  *mine = lists + t * HOPS_CUDA_CURL_MAX;

  if (t < b.n) {
    count[t] = 1;
    mine[0]  = (int)rows.first + r;
  }
  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    __syncthreads();
    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t >= b.k1) continue;
    int               col[Stencil<MIXED>::N], *list = lists + rowof[t] * HOPS_CUDA_CURL_MAX, len = 1;
    unsigned int      negative, surface;
    PlaceWords<MIXED> word;

    word.Load(rows, kc + t);
    Columns<MIXED>(m, m.entry[kc + t], col, &negative, &surface);
#pragma unroll
    for (int s = 1; s < Stencil<MIXED>::N; s++) {
      const int p = word.Get(s);

      if (p == HOPS_CURL_NONE) continue;
      list[p] = col[s]; /* cells that share a column write the same */
      len     = max(len, p + 1);
    }
    atomicMax(count + rowof[t], len); /* in any order */
  }
  __syncthreads();
  const bool on  = t < b.n && !IsLong(rows, r, HOPS_CUDA_CURL_MAX);
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

    for (int k = t % 32; k < count[i]; k += 32) J[k] = lists[i * HOPS_CUDA_CURL_MAX + k];
  }
}

/* Place of column c in row r: those of block 1 follow those of block 0. Columns mostly come as the row lists them */
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

/* Places in rows that are sorted or in two blocks */
template <bool MIXED>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS) Places(const HopsCudaLumpMesh m, const HopsLORRows rows)
{
  __shared__ int rowof[HOPS_CURL_THREADS];
  const Block    b(m, rows, Starts<MIXED>(rows));
  const int      t = threadIdx.x;

  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    __syncthreads();
    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t >= b.k1) continue;
    const int         r = b.r0 + rowof[t], row     = (int)rows.first + r;
    int               col[Stencil<MIXED>::N], next = rows.i[0][r];
    unsigned int      negative, surface;
    PlaceWords<MIXED> word;

    if (IsLong(rows, r, HOPS_CUDA_CURL_MAX)) continue;
    Columns<MIXED>(m, m.entry[kc + t], col, &negative, &surface);
    word.Clear();
    word.Set(0, Find(rows, r, row, &next), false);
#pragma unroll
    for (int s = 1; s < Stencil<MIXED>::N; s++)
      if (col[s] < m.nfree) word.Set(s, Find(rows, r, col[s], &next), negative >> (s - 1) & 1);
    word.Store(rows, kc + t);
  }
}

/* ---- Values ---- */

/*
  Adds to a row that begins at s[lo], or where it is fresh sets it; what has no place goes to s[none]. As no two places are the same, all of a word are
  read before any is written
*/
template <bool MIXED>
__device__ __forceinline__ static void AddShared(const PlaceWords<MIXED> &word, double x[], double s[], int lo, int none, bool fresh)
{
#pragma unroll
  for (int w = 0; w < Stencil<MIXED>::N; w += HOPS_CURL_WORD) {
    int    to[HOPS_CURL_WORD];
    double v[HOPS_CURL_WORD];

#pragma unroll
    for (int i = 0; i < HOPS_CURL_WORD; i++) {
      if (w + i >= Stencil<MIXED>::N) continue;
      to[i] = word.Get(w + i, &x[w + i]);
      to[i] = to[i] == HOPS_CURL_NONE ? none : lo + to[i];
      v[i]  = fresh ? 0 : s[to[i]];
    }
#pragma unroll
    for (int i = 0; i < HOPS_CURL_WORD; i++)
      if (w + i < Stencil<MIXED>::N) s[to[i]] = v[i] + x[w + i];
  }
}

/* The same with V and V1 where the row's entries of block 0, n0 of them, and of block 1 lie */
template <bool MIXED>
__device__ __forceinline__ static void AddBlocks(const PlaceWords<MIXED> &word, double x[], double *V, int n0, double *V1)
{
#pragma unroll
  for (int i = 0; i < Stencil<MIXED>::N; i++) {
    const int p = word.Get(i, &x[i]);

    if (p == HOPS_CURL_NONE) continue;
    if (p < n0) V[p] += x[i];
    else V1[p - n0] += x[i];
  }
}

/*
  A block's rows lie side by side in block 0: their values are put together in shared memory, `room` entries and one a thread for
  what has no place, and written as one piece. Rows that do not fit take their values in global memory. A row of one cell and of nothing that was received is set, not added to.
*/
template <bool MIXED, int BLOCKS>
__global__ static void __launch_bounds__(HOPS_CURL_THREADS, BLOCKS) Values(const HopsCudaLumpMesh m, const HopsLORRows rows, int room)
{
  extern __shared__ double shared[];
  __shared__ int           rowof[HOPS_CURL_THREADS], lo[HOPS_CURL_THREADS + 1], first[HOPS_CURL_THREADS];
  __shared__ bool          alone[HOPS_CURL_THREADS];
  const Block              b(m, rows, Starts<MIXED>(rows));
  const int                t = threadIdx.x, *i0 = rows.i[0] + b.r0, base = i0[0], len = i0[b.n] - base;
  const bool               fits = len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;

  if (t < b.n) {
    lo[t]    = i0[t] - base;
    first[t] = b.b0;
    alone[t] = apart && b.b1 - b.b0 == 1 && !(rows.slot && rows.slot[b.r0 + t] >= 0);
    if (t == b.n - 1) lo[b.n] = len;
    if (two)
      for (int k = rows.i[1][b.r0 + t]; k < rows.i[1][b.r0 + t + 1]; k++) rows.v[1][k] = 0;
  }
  __syncthreads();
  if (fits) {
    for (int i = t / 32; i < b.n; i += HOPS_CURL_THREADS / 32)
      for (int k = lo[i] + t % 32; k < lo[i + 1] && !alone[i]; k += 32) shared[k] = 0;
  } else {
    for (int k = t; k < len; k += HOPS_CURL_THREADS) rows.v[0][base + k] = 0;
  }
  for (int kc = b.k0; kc < b.k1; kc += HOPS_CURL_THREADS) {
    double            x[Stencil<MIXED>::N];
    PlaceWords<MIXED> word;
    int               turn = -1, i = 0;

    b.FindRows(kc, rowof);
    __syncthreads();
    if (kc + t < b.k1) {
      const int e = m.entry[kc + t], c = CellOf(m, e);

      i    = rowof[t];
      turn = kc + t - max(first[i], kc);
      word.Load(rows, kc + t);
      Contributions<MIXED>(m, Edge(m.P, m.at[e - c * m.ne], MIXED ? m.mask[c] : 0), m.numbers + (size_t)c * m.n, x);
    }
    for (int j = 0;; j++) {
      if (turn == j) {
        if (apart) AddShared<MIXED>(word, x, shared, lo[i], room + t, alone[i]);
        else AddBlocks<MIXED>(word, x, (fits ? shared : rows.v[0] + base) + lo[i], lo[i + 1] - lo[i], two ? rows.v[1] + rows.i[1][b.r0 + i] : NULL);
      }
      if (!__syncthreads_or(turn > j)) break;
    }
  }
  if (!fits) return;
  for (int k = t; k < len; k += HOPS_CURL_THREADS) rows.v[0][base + k] = shared[k];
}

/* ---- Launches ---- */

PetscErrorCode HopsCudaCurlCheck(const HopsCudaLumpMesh *m, int result[2], cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(result, 0, 2 * sizeof(*result), stream));
  if (m->nfree) Check<<<(unsigned int)((m->nfree + 255) / 256), 256, 0, stream>>>(*m, result);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without a cell would make blocks of too many rows: then all have the same number, which give a cell to each thread on average, or fewer */
static int RowsOfBlock(const HopsLORRows *rows)
{
  return (int)PetscMax(1, PetscMin(HOPS_CURL_THREADS, 0.94 * HOPS_CURL_THREADS * (double)rows->n / PetscMax(rows->nplace, 1)));
}

size_t HopsCudaCurlPlaceSize(const HopsCudaLumpMesh *m, HopsLORRows *rows)
{
  const int R = RowsOfBlock(rows);

  rows->nblocks = m->empty ? (int)((rows->n + R - 1) / R) : (rows->nplace + HOPS_CURL_ENTRIES - 1) / HOPS_CURL_ENTRIES;
  return (size_t)rows->nplace * (rows->coupled ? (int)Stencil<true>::WORDS : (int)Stencil<false>::WORDS) * sizeof(*rows->place) + (rows->nblocks + 1) * sizeof(int);
}

PetscErrorCode HopsCudaCurlCount(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  int         *start = rows->coupled ? Starts<true>(*rows) : Starts<false>(*rows);
  const size_t size  = HOPS_CURL_THREADS * (HOPS_CUDA_CURL_MAX * sizeof(int) + HOPS_CURL_SLOTS);

  PetscFunctionBegin;
  if (m->empty) EqualStarts<<<(unsigned int)(rows->nblocks / 256 + 1), 256, 0, stream>>>((int)rows->n, RowsOfBlock(rows), rows->nblocks, start);
  else FindStarts<<<(unsigned int)((rows->n + 255) / 256), 256, 0, stream>>>(m->begin + rows->first, (int)rows->n, rows->place0, rows->nblocks, start);
  if (rows->coupled) Count<true><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, work);
  else Count<false><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, work);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaCurlColumns(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  const size_t size = HOPS_CURL_THREADS * HOPS_CUDA_CURL_MAX * sizeof(int);

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

PetscErrorCode HopsCudaCurlValues(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  const int    room = HOPS_CURL_THREADS * (rows->coupled ? 36 : 14);
  const size_t size = (room + HOPS_CURL_THREADS) * sizeof(double);

  PetscFunctionBegin;
  if (rows->coupled && getenv("HOPS_FIVE")) Values<true, 5><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, room);
  else if (rows->coupled) Values<true, 4><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, room);
  else Values<false, 8><<<rows->nblocks, HOPS_CURL_THREADS, size, stream>>>(*m, *rows, room);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
