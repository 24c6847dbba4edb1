/*
  SIMD vectors of W lanes and 1D contractions on lines of vectors. Included once per instruction set and
  precision, see hostkernels_*.c and hostsingle_*.c.
*/
#pragma once
#include "hostimpl.h"
#if defined(__AVX2__)
  #include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

typedef HopsHostReal real;
/* What a register holds: wider vectors would be cut in pieces, which takes the compiler minutes and spills */
#if defined(__AVX512F__)
  #define HOPS_HOST_VECBYTES 64
#elif defined(__AVX__)
  #define HOPS_HOST_VECBYTES 32
#else
  #define HOPS_HOST_VECBYTES 16
#endif
#if defined(HOPS_HOST_SINGLE)
  #define W (HOPS_HOST_VECBYTES / 4)
#else
  #define W (HOPS_HOST_VECBYTES / 8)
typedef long long mask __attribute__((vector_size(8 * W)));
#endif

typedef real vec __attribute__((vector_size(HOPS_HOST_VECBYTES)));

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

INLINE vec Gather(const int idx[], const real x[])
{
#if defined(__AVX512F__) && defined(HOPS_HOST_SINGLE)
  return _mm512_i32gather_ps(_mm512_load_si512((const void *)idx), x, 4);
#elif defined(__AVX512F__)
  return _mm512_i32gather_pd(_mm256_load_si256((const __m256i *)idx), x, 8);
#elif defined(HOPS_HOST_SINGLE) && defined(__AVX__)
  return (vec){x[idx[0]], x[idx[1]], x[idx[2]], x[idx[3]], x[idx[4]], x[idx[5]], x[idx[6]], x[idx[7]]};
#elif defined(HOPS_HOST_SINGLE) || defined(__AVX__)
  return (vec){x[idx[0]], x[idx[1]], x[idx[2]], x[idx[3]]};
#else
  return (vec){x[idx[0]], x[idx[1]]};
#endif
}

/* E-vector of a batch of interior cells: all the indices are owned unknowns */
INLINE void GatherInterior(int n, const int idx[], const real x[], vec e[])
{
  for (int i = 0; i < n; i++) e[i] = Gather(idx + W * i, x);
}

INLINE void GatherShared(int n, const int idx[], int nT, const real x[], const real xg[], vec e[])
{
  real *s = (real *)e;

  for (int i = 0; i < n * W; i++) s[i] = idx[i] < nT ? x[idx[i]] : xg[idx[i] - nT];
}

/*
  Lanes are added one by one: two cells of a batch may meet in an entry, and the order must not vary. (AVX-512
  scatter on batches without such meetings was tried: no faster.)
*/
INLINE void ScatterInterior(int n, const int idx[], const vec e[], real y[])
{
  const real *s = (const real *)e;

  for (int i = 0; i < n * W; i += W) {
    UNROLL
    for (int l = 0; l < W; l++) y[idx[i + l]] += s[i + l];
  }
}

INLINE void ScatterShared(int n, const int idx[], int nT, const vec e[], real y[], real yg[])
{
  const real *s = (const real *)e;

  for (int i = 0; i < n * W; i++) {
    if (idx[i] < nT) y[idx[i]] += s[i];
    else yg[idx[i] - nT] += s[i];
  }
}

/* Run-time sizes: rows in pairs, to have four chains of multiply-adds */
static void EvenOddGeneric(int M, int N, int sym, const real A[], const vec u[], vec v[])
{
  const int Ne = (N + 1) / 2, No = N / 2;
  vec       s[HOPS_HOST_MAXLINE / 2 + 1], d[HOPS_HOST_MAXLINE / 2 + 1];
  vec       zero = {0};

  for (int i = 0; i < No; i++) {
    s[i] = u[i] + u[N - 1 - i];
    d[i] = u[i] - u[N - 1 - i];
  }
  if (N % 2) s[No] = u[No];
  for (int q = 0; q < (M + 1) / 2; q += 2) {
    const int   r  = q + 1 < (M + 1) / 2 ? q + 1 : q;
    const real *Aq = A + q * N, *Ar = A + r * N;
    vec         e0 = zero, e1 = zero, o0 = zero, o1 = zero;

    for (int i = 0; i < No; i++) {
      e0 += Aq[i] * s[i];
      o0 += Aq[Ne + i] * d[i];
      e1 += Ar[i] * s[i];
      o1 += Ar[Ne + i] * d[i];
    }
    if (N % 2) {
      e0 += Aq[No] * s[No];
      e1 += Ar[No] * s[No];
    }
    v[M - 1 - q] = sym > 0 ? e0 - o0 : o0 - e0;
    v[q]         = e0 + o0;
    v[M - 1 - r] = sym > 0 ? e1 - o1 : o1 - e1;
    v[r]         = e1 + o1;
  }
}

/* v = A u for an even-odd matrix A (M x N) with symmetry sym: v_q, v_{M-1-q} = A_e (u_n + u_{N-1-n}) +- A_o
   (u_n - u_{N-1-n}) */
INLINE void EvenOdd(const int M, const int N, const int sym, const real A[], const vec u[], vec v[])
{
  const int Ne = (N + 1) / 2, No = N / 2;
  vec       s[HOPS_HOST_MAXLINE / 2 + 1], d[HOPS_HOST_MAXLINE / 2 + 1];

  if (!__builtin_constant_p(M + N)) {
    EvenOddGeneric(M, N, sym, A, u, v);
    return;
  }
  UNROLL
  for (int i = 0; i < No; i++) {
    s[i] = u[i] + u[N - 1 - i];
    d[i] = u[i] - u[N - 1 - i];
  }
  if (N % 2) s[No] = u[No];
  UNROLL
  for (int q = 0; q < M / 2; q++) {
    vec e = A[q * N] * s[0], o = A[q * N + Ne] * d[0];

    UNROLL
    for (int i = 1; i < Ne; i++) e += A[q * N + i] * s[i];
    UNROLL
    for (int i = 1; i < No; i++) o += A[q * N + Ne + i] * d[i];
    v[q]         = e + o;
    v[M - 1 - q] = sym > 0 ? e - o : o - e;
  }
  if (M % 2) {
    const int   q = M / 2, n = sym > 0 ? Ne : No;
    const real *Aq = A + q * N + (sym > 0 ? 0 : Ne);
    const vec  *w  = sym > 0 ? s : d;
    vec         e  = Aq[0] * w[0];

    UNROLL
    for (int i = 1; i < n; i++) e += Aq[i] * w[i];
    v[q] = e;
  }
}

INLINE void LoadLine(const int n, const vec in[], int stride, vec u[])
{
  UNROLL
  for (int i = 0; i < n; i++) u[i] = in[i * stride];
}

INLINE void StoreLine(const int n, const vec u[], int stride, vec out[])
{
  UNROLL
  for (int i = 0; i < n; i++) out[i * stride] = u[i];
}

INLINE void AddLine(const int n, const vec in[], int stride, vec u[])
{
  UNROLL
  for (int i = 0; i < n; i++) u[i] += in[i * stride];
}

/* The next batch's quadrature data, fetched into the second-level cache `n` lines at a time while this one is
   computed */
typedef struct {
  const char *next;
  int         n;
} Stream;

INLINE void Prefetch(Stream *s)
{
  const char *p = s->next;

  for (int i = 0; i < s->n; i++) __builtin_prefetch(p + 64 * i, 0, 2);
  s->next = p + 64 * s->n;
}

/* out[o][m][i] = sum_n A[m][n] in[o][n][i]: one direction of a tensor contraction; `in` and `out` may not
   overlap */
INLINE void ContractStream(const int M, const int N, const int sym, const real A[], const int outer, const int inner,
                           const vec in[], vec out[], Stream *s)
{
  for (int o = 0; o < outer; o++) {
    for (int i = 0; i < inner; i++) {
      vec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

      if (s) Prefetch(s);
      LoadLine(N, in + o * N * inner + i, inner, u);
      EvenOdd(M, N, sym, A, u, v);
      StoreLine(M, v, inner, out + o * M * inner + i);
    }
  }
}

INLINE void Contract(const int M, const int N, const int sym, const real A[], const int outer, const int inner, const vec in[],
                     vec out[])
{
  ContractStream(M, N, sym, A, outer, inner, in, out, NULL);
}

#if !defined(HOPS_HOST_SINGLE)
/* Values of a coefficient component at point q on the cells (relative to the run) of the lanes */
INLINE vec LoadValues(const HopsValues *a, const PetscInt cell[W], PetscInt q, int k)
{
  const PetscReal *v = a->v + q * a->pstride + k;
  vec              r;

  if (!a->cstride) return v[0] - (vec){0};
  UNROLL
  for (int l = 0; l < W; l++) r[l] = v[cell[l] * a->cstride];
  return r;
}
#endif
