/*
  What set-up computes for a cell or a patch, for the process and for devices: models of cells, element
  matrices, lists of patches, their matrices and inverses.

  A team works on one cell or patch: a block of threads on a device, one thread on the host. Each function is
  a row of loops whose passes do not depend on each other, with a barrier behind each loop, so that the host
  alone tests what a device runs.
*/
#pragma once
#include <petscsystypes.h>
#include <math.h>
#include <stddef.h>
#if defined(__CUDACC__) || defined(__HIPCC__)
  #define HOPS_TEAM __host__ __device__ static inline
#else
  #define HOPS_TEAM static inline
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  #define HOPS_TEAM_SYNC()     __syncthreads()
  #define HOPS_TEAM_ADD(to, x) atomicAdd(&(to), x)
#else
  #define HOPS_TEAM_ADD(to, x) ((to) += (x))
  #define HOPS_TEAM_SYNC() \
    do { \
    } while (0)
#endif
#define HOPS_TEAM_FOR(i, n, rank, size) for (int i = (rank); i < (n); i += (size))

/*
  What a patch needs to know of a cell. The form restricted to the cell is, or is replaced by, the tensor
  product
    sum_a d[a] A_a x (M_b, b != a)  +  m M x M (x M)
  with the 1D stiffness A and mass M of the reference cell by the operator's own quadrature rule: d[a] is the
  mean over the reference cell of det J (J^-1 kappa J^-T)_aa, m that of det J c. All entries are PetscReals,
  since cells travel between ranks.
*/
typedef struct {
  double d[3], m;
  double robin[6]; /* mean of alpha times the surface element on the lower and upper face of each direction */
  double lo, hi;   /* extreme eigenvalues over the quadrature points of the true metric relative to diag(d) */
  double mlo, mhi; /* the same for the reaction; mlo < 0 where it is negative at a point */
} HopsPatchCell;

/* Where an operator's quadrature data of a cell are: q[comp][nq], the weighted metric (upper triangle by
   rows) where there is a derivative, then the weighted reaction where there is a mass */
typedef struct {
  int           dim, Q, nq, derivative, mass;
  const double *w; /* [Q] weights in one direction */
} HopsPatchPoints;

#define HOPS_PATCH_BIG 1.7976931348623157e308

/* ------------------------------------ models of cells ------------------------------------ */

/* Extreme eigenvalues of a symmetric matrix of order 2 or 3, the upper triangle by rows (of order 3 by the
   trigonometric formula) */
HOPS_TEAM void HopsPatchExtremes(int dim, const double A[], double *lo, double *hi)
{
  if (dim == 2) {
    const double m = 0.5 * (A[0] + A[2]), r = sqrt(0.25 * (A[0] - A[2]) * (A[0] - A[2]) + A[1] * A[1]);

    if (fabs(A[1]) <= 1e-14 * fmax(A[0], A[2])) { /* boxes, mostly */
      *lo = fmin(A[0], A[2]);
      *hi = fmax(A[0], A[2]);
      return;
    }
    *lo = m - r;
    *hi = m + r;
  } else {
    const double xy = A[1], xz = A[2], yz = A[4], off = xy * xy + xz * xz + yz * yz, m = (A[0] + A[3] + A[5]) / 3.0;
    const double a = A[0] - m, b = A[3] - m, c = A[5] - m, r = sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0);
    double       h = 0.0, phi;

    if (fmax(fabs(xy), fmax(fabs(xz), fabs(yz))) <= 1e-14 * fmax(A[0], fmax(A[3], A[5]))) {
      *lo = fmin(A[0], fmin(A[3], A[5]));
      *hi = fmax(A[0], fmax(A[3], A[5]));
      return;
    }
    if (r > 0.0) h = 0.5 * (a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)) / (r * r * r);
    phi = acos(fmax(-1.0, fmin(1.0, h))) / 3.0;
    *hi = m + 2.0 * r * cos(phi);
    *lo = m + 2.0 * r * cos(phi + 2.0943951023931954923);
  }
}

HOPS_TEAM int HopsPatchMetricSize(const HopsPatchPoints *p)
{
  return p->derivative ? p->dim * (p->dim + 1) / 2 : 0;
}

HOPS_TEAM double HopsPatchWeight(const HopsPatchPoints *p, int q)
{
  double w = p->w[q % p->Q];

  for (int d = 1; d < p->dim; ++d) w *= p->w[(q /= p->Q) % p->Q];
  return w;
}

/* sum[5] += a member's share of the sums of the metric's diagonal, the reaction, and the weights */
HOPS_TEAM void HopsPatchModelSums(const HopsPatchPoints *p, const double q[], int rank, int size, double sum[5])
{
  const int nm = HopsPatchMetricSize(p);

  HOPS_TEAM_FOR(i, p->nq, rank, size)
  {
    for (int a = 0, t = 0; a < p->dim && p->derivative; t += p->dim - a, ++a) sum[a] += q[(size_t)t * p->nq + i];
    if (p->mass) sum[3] += q[(size_t)nm * p->nq + i];
    sum[4] += HopsPatchWeight(p, i);
  }
}

/* The means of all members' sums */
HOPS_TEAM void HopsPatchModelMeans(const HopsPatchPoints *p, const double sum[5], HopsPatchCell *cell)
{
  for (int a = 0; a < 3; ++a) cell->d[a] = a < p->dim ? sum[a] / sum[4] : 0.0;
  cell->m = sum[3] / sum[4];
  for (int f = 0; f < 6; ++f) cell->robin[f] = 0.0;
  cell->lo = cell->mlo = HOPS_PATCH_BIG;
  cell->hi = cell->mhi = 0.0;
}

/* A member's share of the extremes (lo, hi, mlo, mhi of `cell`, whose means are those of all). A metric that
   is not positive, or not a number, makes lo negative */
HOPS_TEAM void HopsPatchModelExtremes(const HopsPatchPoints *p, const double q[], int rank, int size, HopsPatchCell *cell)
{
  const int nm = HopsPatchMetricSize(p);
  double    scale[6];

  for (int a = 0, t = 0; a < p->dim; ++a)
    for (int b = a; b < p->dim; ++b) scale[t++] = 1.0 / sqrt(cell->d[a] * cell->d[b]);
  HOPS_TEAM_FOR(i, p->nq, rank, size)
  {
    const double w = HopsPatchWeight(p, i);

    if (p->derivative) {
      double g[6], lo, hi;

      for (int t = 0; t < nm; ++t) g[t] = q[(size_t)t * p->nq + i] * scale[t] / w;
      HopsPatchExtremes(p->dim, g, &lo, &hi);
      if (!(lo > 0.0 && hi < HOPS_PATCH_BIG)) lo = -1.0;
      cell->lo = fmin(cell->lo, lo);
      cell->hi = fmax(cell->hi, hi);
    }
    if (p->mass) {
      const double r = q[(size_t)nm * p->nq + i] / w;

      if (!(r >= 0.0)) cell->mlo = -1.0;
      else if (cell->m > 0.0) {
        cell->mlo = fmin(cell->mlo, r / cell->m);
        cell->mhi = fmax(cell->mhi, r / cell->m);
      }
    }
  }
}

/* ------------------------------------ element matrices ------------------------------------ */

/*
  E_ij = sum over points and (a, b) of d_a phi_i q_ab d_b phi_j, and the reaction, by sum factorisation: a
  pair (i, j) of basis functions is a pair in each direction, and T[k][Q][P^2] holds their products at the
  points: k = 0 values, 1 the derivative of the first, 2 of the second, 3 of both. Pairs in x go through the
  rest some at a time, those with i <= j alone. In 2D there is one point and one pair in z.
*/
HOPS_TEAM void HopsPatchElementTables(int P, int Q, const double B[], const double D[], double T[])
{
  for (int k = 0; k < 4; ++k)
    for (int q = 0; q < Q; ++q)
      for (int e = 0; e < P * P; ++e) T[(k * Q + q) * P * P + e] = (k % 2 ? D : B)[q * P + e / P] * (k / 2 ? D : B)[q * P + e % P];
}

HOPS_TEAM int HopsPatchElementScratch(int dim, int P, int Q) /* doubles for a pair in x */
{
  return dim == 3 ? 8 * Q * Q + 4 * Q * P * P : 8 * Q + 4 * P * P;
}

/* Sums over x for a pair e of it: eight kinds of data, by which derivatives remain in y and z */
HOPS_TEAM void HopsPatchElementX(const HopsPatchPoints *p, const double q[], const double T[], int P2, int e, int yz, double s[],
                                 int stride)
{
  const int Q = p->Q, nq = p->nq, xz = 2, yy = p->dim == 3 ? 3 : 2, nm = HopsPatchMetricSize(p);
  double    a[8] = {0.0};

  for (int x = 0; x < Q; ++x) {
    const double *v  = q + x + (size_t)Q * yz;
    const double  t0 = T[(0 * Q + x) * P2 + e], t1 = T[(1 * Q + x) * P2 + e], t2 = T[(2 * Q + x) * P2 + e],
                 t3 = T[(3 * Q + x) * P2 + e];

    if (p->derivative) {
      a[0] += t3 * v[0];
      a[1] += t0 * v[(size_t)yy * nq];
      a[3] += t1 * v[nq];
      a[4] += t2 * v[nq];
      if (p->dim == 3) {
        a[2] += t0 * v[(size_t)5 * nq];
        a[5] += t1 * v[(size_t)xz * nq];
        a[6] += t2 * v[(size_t)xz * nq];
        a[7] += t0 * v[(size_t)4 * nq];
      }
    }
    if (p->mass) a[0] += t0 * v[(size_t)nm * nq];
  }
  for (int k = 0; k < 8; ++k) s[k * stride] = a[k];
}

/* Sums over y for a pair f of it, by which derivatives remain in z; s: of a pair in x and a point in z */
HOPS_TEAM void HopsPatchElementY(const HopsPatchPoints *p, const double s[], int stride, const double T[], int P2, int f,
                                 double out[], int ostride)
{
  const int Q    = p->Q;
  double    a[4] = {0.0};

  for (int y = 0; y < Q; ++y) {
    const double *v  = s + y;
    const double  t0 = T[(0 * Q + y) * P2 + f], t1 = T[(1 * Q + y) * P2 + f], t2 = T[(2 * Q + y) * P2 + f],
                 t3 = T[(3 * Q + y) * P2 + f];

    a[0] += t0 * v[0] + t3 * v[stride] + t2 * v[3 * stride] + t1 * v[4 * stride];
    if (p->dim == 3) {
      a[1] += t0 * v[6 * stride] + t2 * v[7 * stride];
      a[2] += t0 * v[5 * stride] + t1 * v[7 * stride];
      a[3] += t0 * v[2 * stride];
    }
  }
  for (int k = 0; k < 4; ++k) out[k * ostride] = a[k];
}

/* E[P^dim][P^dim] of a cell; work holds the scratch of `chunk` pairs, chunk >= 1 */
HOPS_TEAM void HopsPatchElementMatrix(const HopsPatchPoints *p, int P, const double q[], const double T[], int chunk, double work[],
                                      double E[], int rank, int size)
{
  const int Q = p->Q, P2 = P * P, Qz = p->dim == 3 ? Q : 1, P2z = p->dim == 3 ? P2 : 1, nx = Q * Qz, ny = P2 * Qz,
            n = P2 * (p->dim == 3 ? P : 1);
  double *S = work, *C = work + 8 * chunk * nx;

  for (int first = 0; first < P2; first += chunk) {
    const int m = first + chunk < P2 ? chunk : P2 - first;

    HOPS_TEAM_FOR(k, m * nx, rank, size)
    {
      const int e = first + k / nx;

      if (e / P <= e % P) HopsPatchElementX(p, q, T, P2, e, k % nx, S + 8 * (k / nx) * nx + k % nx, nx);
    }
    HOPS_TEAM_SYNC();
    HOPS_TEAM_FOR(k, m * ny, rank, size)
    {
      const int c = k / ny, f = k % P2, z = k % ny / P2, e = first + c;

      if (e / P <= e % P) HopsPatchElementY(p, S + 8 * c * nx + z * Q, nx, T, P2, f, C + 4 * c * ny + z * P2 + f, ny);
    }
    HOPS_TEAM_SYNC();
    HOPS_TEAM_FOR(k, m * P2 * P2z, rank, size)
    {
      const int g = k % P2z, f = k / P2z % P2, c = k / (P2z * P2), e = first + c;
      const int i     = e / P + P * (f / P + (p->dim == 3 ? P * (g / P) : 0)),
                j     = e % P + P * (f % P + (p->dim == 3 ? P * (g % P) : 0));
      const double *v = C + 4 * c * ny + f;
      double        a = 0.0;

      if (e / P > e % P) continue;
      if (p->dim == 3)
        for (int z = 0; z < Q; ++z)
          for (int t = 0; t < 4; ++t) a += T[(t * Q + z) * P2 + g] * v[t * ny + z * P2];
      else a = v[0];
      E[(size_t)i * n + j] = a;
      if (e / P < e % P) E[(size_t)j * n + i] = a;
    }
    HOPS_TEAM_SYNC();
  }
}

/* ------------------------------------ lists of entries ------------------------------------ */

/* The nodes of cells as entries of a P-vector (hopspatchimpl.h). A node has a number: that of its entry where
   it is below nT, else the entry is map[number - nT] */
typedef struct {
  int                  dim, P, nn;  /* nn = P^dim nodes of a cell */
  int                  nT, nown;    /* own entries, own cells */
  int                  none;        /* the entry of what the space lacks */
  const int           *own, *other; /* numbers [..][nn] of the nodes of own cells, and of the cells behind these */
  const int           *map;
  const unsigned char *lacks; /* [all cells] 1: some node is not an unknown */
} HopsPatchNodes;

/*
  The cells around a vertex, two along an axis or one. Cell `pos` lies on side (pos >> a) & 1 of axis a; there
  are those whose sides exist. t[a] counts its nodes along the axes from the vertex on. A patch without a star
  has a list that was made elsewhere, from cell[0] on.
*/
typedef struct {
  int           cell[8];
  unsigned char seen[8]; /* bits 0-2: the vertex's corner of the cell; 3-4, 5-6: the axes of its first two directions */
  unsigned char side[3]; /* cells along each axis; side[0] = 0: there is no star */
  unsigned char sorted;  /* the list ascends, else it is lexicographic along the axes */
} HopsPatchStar;

HOPS_TEAM int HopsPatchStarHas(const HopsPatchStar *s, int pos)
{
  for (int a = 0; a < 3; ++a)
    if (((pos >> a) & 1) >= s->side[a]) return 0;
  return 1;
}

/* Entries of a star's patch along the axes: its unknowns, or all nodes of its cells */
HOPS_TEAM int HopsPatchStarSize(const HopsPatchNodes *m, const HopsPatchStar *s, int all, int size[3])
{
  const int end = all ? m->P : m->P - 1; /* the first node that does not count, from the vertex */

  for (int a = 0; a < 3; ++a) size[a] = a >= m->dim ? 1 : (s->side[a] == 2 ? 2 * end - 1 : end);
  return size[0] * size[1] * size[2];
}

/* How a star sees its cells: the number of node t of cell pos is at[pos][sum of t[a] step[pos][a]] */
typedef struct {
  const int *at[8];
  int        step[8][3];
} HopsPatchView;

HOPS_TEAM void HopsPatchStarView(const HopsPatchNodes *m, const HopsPatchStar *s, HopsPatchView *view)
{
  for (int pos = 0; pos < 8; ++pos) {
    const int  c = s->cell[pos], seen = s->seen[pos], first = (seen >> 3) & 3, second = (seen >> 5) & 3;
    const int *at;

    if (!HopsPatchStarHas(s, pos)) continue;
    at                 = c < m->nown ? m->own + (size_t)c * m->nn : m->other + (size_t)(c - m->nown) * m->nn;
    view->step[pos][2] = 0;
    for (int d = 0, stride = 1; d < m->dim; ++d, stride *= m->P) {
      const int flip = (seen >> d) & 1, axis = d == 0 ? first : (d == 1 ? second : 3 - first - second);

      at += flip ? (m->P - 1) * stride : 0;
      view->step[pos][axis] = flip ? -stride : stride;
    }
    view->at[pos] = at;
  }
}

HOPS_TEAM int HopsPatchEntry(const HopsPatchNodes *m, int number)
{
  return number < m->nT ? number : m->map[number - m->nT];
}

/* Entry i of a cell's nodes */
HOPS_TEAM int HopsPatchCellEntry(const HopsPatchNodes *m, int c, int i)
{
  return HopsPatchEntry(m, c < m->nown ? m->own[(size_t)c * m->nn + i] : m->other[(size_t)(c - m->nown) * m->nn + i]);
}

#define HOPS_PATCH_LACKS   1 /* cells disagree about an unknown of the patch, or the space lacks it */
#define HOPS_PATCH_DIFFERS 2 /* cells disagree about a node on the star's outer faces, if these are looked at */

/* A member's share of what is wrong with a star. Cells on both sides of an axis are compared on the plane
   between them; those that lack nodes are looked through */
HOPS_TEAM int HopsPatchStarFaults(const HopsPatchNodes *m, const HopsPatchStar *s, int all, int rank, int size)
{
  const int     p = m->P - 1, end = all ? m->P : p;
  int           faults = 0;
  HopsPatchView view;

  HopsPatchStarView(m, s, &view);
  for (int pos = 0; pos < 8; ++pos) {
    const int *at = view.at[pos], *step = view.step[pos];

    if (!HopsPatchStarHas(s, pos)) continue;
    if (m->lacks[s->cell[pos]]) {
      HOPS_TEAM_FOR(i, m->dim == 3 ? p * p * p : p * p, rank, size)
      {
        const int number = at[i % p * step[0] + i / p % p * step[1] + i / (p * p) * step[2]];

        if (HopsPatchEntry(m, number) == m->none) faults |= HOPS_PATCH_LACKS;
      }
    }
    for (int a = 0; a < m->dim; ++a) {
      const int  u = a == 0 ? 1 : 0, v = m->dim == 2 || a == 2 ? 1 : 2, other = pos & ~(1 << a); /* axes of the plane, in 3D */
      const int *o = view.at[other], *ostep = view.step[other];

      if (other == pos) continue;
      HOPS_TEAM_FOR(row, m->dim == 3 ? end : 1, rank, size)
      {
        const int *line = at + (m->dim == 3 ? row * step[v] : 0), *oline = o + (m->dim == 3 ? row * ostep[v] : 0);

        for (int t = 0; t < end; ++t) {
          const int x = line[t * step[u]], y = oline[t * ostep[u]];

          if (x != y && HopsPatchEntry(m, x) != HopsPatchEntry(m, y))
            faults |= row < p && t < p ? HOPS_PATCH_LACKS | HOPS_PATCH_DIFFERS : HOPS_PATCH_DIFFERS;
        }
      }
    }
  }
  return faults;
}

/* The entries of a star's patch, lexicographic along the axes: its unknowns, or all nodes of its cells; and
   their distances from the vertex in nodes along the axes, where dist[] is not NULL */
HOPS_TEAM void HopsPatchStarList(const HopsPatchNodes *m, const HopsPatchStar *s, int all, int out[], unsigned char dist[],
                                 int rank, int size)
{
  const int     end = all ? m->P : m->P - 1, last = end - 1;
  int           n[3];
  HopsPatchView view;

  HopsPatchStarView(m, s, &view);
  (void)HopsPatchStarSize(m, s, all, n);
  HOPS_TEAM_FOR(row, n[1] * n[2], rank, size)
  {
    const int y = row % n[1], z = row / n[1], hy = s->side[1] == 2 && y > last, hz = s->side[2] == 2 && z > last;
    const int ty = s->side[1] == 1 ? y : (hy ? y - last : last - y), tz = s->side[2] == 1 ? z : (hz ? z - last : last - z);
    int      *to = out + row * n[0] + (s->side[0] == 2 ? last : 0); /* of the vertex */

    for (int h = 0; h < s->side[0]; ++h) {
      const int  pos = h + 2 * hy + 4 * hz, step = view.step[pos][0], way = s->side[0] == 2 && !h ? -1 : 1;
      const int *in = view.at[pos] + ty * view.step[pos][1] + tz * view.step[pos][2];

      for (int t = h; t < end; ++t) to[way * t] = HopsPatchEntry(m, in[t * step]);
      for (int t = h; t < end && dist; ++t) dist[to - out + way * t] = (unsigned char)(t + ty + tz);
    }
  }
}

/* out[n] = in[n], which are different, in ascending order; the same with other numbers that belong to them,
   where these are not NULL */
HOPS_TEAM void HopsPatchListSort(int n, const int in[], const unsigned char other[], int out[], unsigned char oout[], int rank,
                                 int size)
{
  HOPS_TEAM_FOR(i, n, rank, size)
  {
    const int x  = in[i];
    int       to = 0;

    for (int j = 0; j < n; ++j) to += in[j] < x;
    out[to] = x;
    if (other) oout[to] = other[i];
  }
}

/* ------------------------------------ dense patches ------------------------------------ */

/* Where x is in an ascending list, -1 if it is not */
HOPS_TEAM int HopsPatchFind(int n, const int list[], int x)
{
  int lo = 0, hi = n;

  while (lo < hi) {
    const int mid = (lo + hi) / 2;

    if (list[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && list[lo] == x ? lo : -1;
}

/* The lower triangle of A[n][n] = sum over cells of the entries of E[where[c]][nn][nn] whose nodes, those of
   the cell number[where[c]], are in the ascending list[n]; row[nn] is scratch */
HOPS_TEAM void HopsPatchAssemble(const HopsPatchNodes *m, int n, const int list[], int ncells, const int where[],
                                 const PetscInt number[], const double E[], int row[], double A[], int rank, int size)
{
  const int nn = m->nn;

  HOPS_TEAM_FOR(k, n * n, rank, size) A[k] = 0.0;
  for (int c = 0; c < ncells; ++c) {
    const size_t at = (size_t)where[c] * nn;

    HOPS_TEAM_FOR(i, nn, rank, size) row[i] = HopsPatchFind(n, list, HopsPatchCellEntry(m, (int)number[where[c]], i));
    HOPS_TEAM_SYNC();
    /* k = i nn + j, without divisions, which the host would feel */
    for (int k = rank, i = rank / nn, j = rank % nn; k < nn * nn; k += size, i += size / nn, j += size % nn) {
      if (j >= nn) {
        j -= nn;
        ++i;
      }
      if (row[j] >= 0 && row[i] >= row[j]) /* a periodic cell may have a node twice */
        HOPS_TEAM_ADD(A[(size_t)row[i] * n + row[j]], E[at * nn + k]);
    }
    HOPS_TEAM_SYNC();
  }
}

/* t[n] = A w of the same matrix, which is not made; wc[nn] is scratch, too */
HOPS_TEAM void HopsPatchProduct(const HopsPatchNodes *m, int n, const int list[], int ncells, const int where[],
                                const PetscInt number[], const double E[], const double w[], int row[], double wc[], double t[],
                                int rank, int size)
{
  const int    nn = m->nn;
  const size_t si = size > 1 ? 1 : (size_t)nn, sj = size > 1 ? (size_t)nn : 1; /* E is symmetric: side by side */

  HOPS_TEAM_FOR(i, n, rank, size) t[i] = 0.0;
  for (int c = 0; c < ncells; ++c) {
    const double *M = E + (size_t)where[c] * nn * nn;

    HOPS_TEAM_FOR(i, nn, rank, size)
    {
      row[i] = HopsPatchFind(n, list, HopsPatchCellEntry(m, (int)number[where[c]], i));
      wc[i]  = row[i] < 0 ? 0.0 : w[row[i]];
    }
    HOPS_TEAM_SYNC();
    HOPS_TEAM_FOR(i, nn, rank, size)
    {
      double s = 0.0;

      if (row[i] < 0) continue;
      for (int j = 0; j < nn; ++j) s += M[i * si + j * sj] * wc[j];
      HOPS_TEAM_ADD(t[row[i]], s); /* a periodic cell may have a node twice */
    }
    HOPS_TEAM_SYNC();
  }
}

#define HOPS_PATCH_TILE 4

/* An entry of a symmetric matrix that has its lower triangle */
#define HOPS_PATCH_LOWER(A, n, i, j) ((A)[(i) >= (j) ? (size_t)(i) * (n) + (j) : (size_t)(j) * (n) + (i)])

/* A -= X Y^T on the tile's part of the lower triangle, but for rows and columns k..k+b-1 */
HOPS_TEAM void HopsPatchSweepTile(int n, int k, int b, int tile, const double X[], const double Y[], double A[])
{
  const int t                                   = HOPS_PATCH_TILE;
  int       ti                                  = (int)((sqrt(8.0 * tile + 1.0) - 1.0) / 2.0), tj;
  double    s[HOPS_PATCH_TILE][HOPS_PATCH_TILE] = {{0.0}};

  while (ti * (ti + 1) / 2 > tile) --ti; /* rounding */
  while ((ti + 1) * (ti + 2) / 2 <= tile) ++ti;
  tj = tile - ti * (ti + 1) / 2;
  for (int c = 0; c < b; ++c) {
    double x[HOPS_PATCH_TILE], y[HOPS_PATCH_TILE];

    for (int i = 0; i < HOPS_PATCH_TILE; ++i) {
      x[i] = ti * t + i < n ? X[c * n + ti * t + i] : 0.0;
      y[i] = tj * t + i < n ? Y[c * n + tj * t + i] : 0.0;
    }
    for (int i = 0; i < HOPS_PATCH_TILE; ++i)
      for (int j = 0; j < HOPS_PATCH_TILE; ++j) s[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < HOPS_PATCH_TILE; ++i)
    for (int j = 0; j < HOPS_PATCH_TILE; ++j) {
      const int r = ti * t + i, c = tj * t + j;

      if (r < n && c <= r && (r < k || r >= k + b) && (c < k || c >= k + b)) A[(size_t)r * n + c] -= s[i][j];
    }
}

/* doubles of scratch of the inversion by blocks of b */
HOPS_TEAM size_t HopsPatchInvertScratch(int n, int b)
{
  return 2 * (size_t)b * n + (size_t)b * b;
}

/*
  A[n][n] becomes its inverse; its lower triangle is read. The sweep operator, b pivots at a time: for the
  block K and D = A_KK, B = A_RK
    A_RR -= B D^-1 B^T,  A_RK = B D^-1,  A_KK = -D^-1,
  which keeps A symmetric, and leaves -A^-1 when all blocks are done. Pivots are those of Cholesky's method:
  false where one is not positive.
*/
HOPS_TEAM int HopsPatchInvert(int n, int b, double A[], double work[], int rank, int size)
{
  const int nt = (n + HOPS_PATCH_TILE - 1) / HOPS_PATCH_TILE;
  double   *B = work, *X = work + (size_t)b * n, *D = X + (size_t)b * n; /* B and X: [b][n]; D[b][b] */
  int       good = 1;

  for (int k = 0; k < n; k += b) {
    const int m = k + b < n ? b : n - k;

    HOPS_TEAM_FOR(e, m * n, rank, size) B[e] = HOPS_PATCH_LOWER(A, n, e % n, k + e / n);
    HOPS_TEAM_FOR(e, m * m, rank, size) D[e] = HOPS_PATCH_LOWER(A, n, k + e / m, k + e % m);
    HOPS_TEAM_SYNC();
    for (int s = 0; s < m; ++s) { /* D becomes -D^-1, X holds row s */
      const double d = D[s * m + s];

      good                                 = good && d > 0.0;
      HOPS_TEAM_FOR(e, m, rank, size) X[e] = D[s * m + e];
      HOPS_TEAM_SYNC();
      HOPS_TEAM_FOR(e, m * m, rank, size)
      {
        const int i = e / m, j = e % m;

        D[e] = i == s ? (j == s ? -1.0 / d : X[j] / d) : (j == s ? X[i] / d : D[e] - X[i] * X[j] / d);
      }
      HOPS_TEAM_SYNC();
    }
    HOPS_TEAM_FOR(e, m * n, rank, size)
    {
      double x = 0.0;

      for (int c = 0; c < m; ++c) x -= B[c * n + e % n] * D[c * m + e / n];
      X[e] = x;
    }
    HOPS_TEAM_SYNC();
    HOPS_TEAM_FOR(t, nt * (nt + 1) / 2, rank, size) HopsPatchSweepTile(n, k, m, t, X, B, A);
    HOPS_TEAM_FOR(e, m * n, rank, size)
    {
      const int i = e % n, c = e / n;

      if (i < k || i >= k + m) HOPS_PATCH_LOWER(A, n, i, k + c) = X[e];
      else if (i >= k + c) A[(size_t)i * n + k + c] = D[(i - k) * m + c];
    }
    HOPS_TEAM_SYNC();
  }
  HOPS_TEAM_FOR(e, n * n, rank, size)
  {
    const int i = e / n, j = e % n;

    if (i >= j) {
      const double x = -A[(size_t)i * n + j];

      A[(size_t)i * n + j] = A[(size_t)j * n + i] = x;
    }
  }
  return good;
}
