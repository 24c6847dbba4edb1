/*
  Local solves of patches by fast diagonalisation, z += R^T (S x S x S) w (s_0 l_i + s_1 l_j + s_2 l_k +
  s_3)^-1 (S x S x S)^T R r, one patch to a lane. Included for each precision REAL, with PATCH() naming its
  functions, by each instruction set.
*/
#define LANES ((int)(8 * W / sizeof(REAL)))

typedef REAL PATCH(pvec) __attribute__((vector_size(8 * W)));
#define pvec      PATCH(pvec)
#define Lines     PATCH(Lines)
#define FindLines PATCH(FindLines)
#define Rect      PATCH(Rect)
#define FindRect  PATCH(FindRect)

/* 1/x to rounding: an estimate and Newton steps, since divisions would take as long as the contractions of
   low orders */
INLINE pvec PATCH(Reciprocal)(const pvec *in)
{
  const pvec x = *in;

#if defined(__AVX512F__)
  pvec y;

  if (sizeof(REAL) == 8) {
    y = (pvec)_mm512_rcp14_pd((__m512d)x);
    y = y + y * (1 - x * y);
    y = y + y * (1 - x * y);
  } else y = (pvec)_mm512_rcp14_ps((__m512)x);
  return y + y * (1 - x * y);
#else
  return 1 / x;
#endif
}

/* v = A u, A[n][n] row by row: scalars, or a vector for each entry; four rows at a time, to have as many
   chains of multiply-adds */
#define HOPS_PATCH_TIMES(name, type) \
  INLINE void PATCH(name)(const int n, const type A[], const pvec u[], pvec v[]) \
  { \
    int m = 0; \
    UNROLL \
    for (; m + 3 < n; m += 4) { \
      const type *a  = A + m * n; \
      pvec        v0 = a[0] * u[0], v1 = a[n] * u[0], v2 = a[2 * n] * u[0], v3 = a[3 * n] * u[0]; \
      UNROLL \
      for (int i = 1; i < n; i++) { \
        v0 += a[i] * u[i]; \
        v1 += a[n + i] * u[i]; \
        v2 += a[2 * n + i] * u[i]; \
        v3 += a[3 * n + i] * u[i]; \
      } \
      v[m]     = v0; \
      v[m + 1] = v1; \
      v[m + 2] = v2; \
      v[m + 3] = v3; \
    } \
    UNROLL \
    for (; m < n; m++) { \
      pvec s = A[m * n] * u[0]; \
      UNROLL \
      for (int i = 1; i < n; i++) s += A[m * n + i] * u[i]; \
      v[m] = s; \
    } \
  }
HOPS_PATCH_TIMES(Times, REAL)
HOPS_PATCH_TIMES(TimesLanes, pvec)

/*
  Even and odd modes: S^T u from the sums and differences of opposite nodes. F holds Ne = (n+1)/2 rows of the
  even modes and No = n/2 of the odd ones, over the first half of the nodes; then the same for S, by nodes.
*/
INLINE void PATCH(TimesHalf)(const int m, const int n, const REAL A[], const pvec u[], pvec v[])
{
  UNROLL
  for (int k = 0; k < m; k++) {
    pvec s = A[k * n] * u[0];

    UNROLL
    for (int i = 1; i < n; i++) s += A[k * n + i] * u[i];
    v[k] = s;
  }
}

INLINE void PATCH(ToModes)(const int n, const REAL F[], const pvec u[], pvec v[])
{
  const int Ne = (n + 1) / 2, No = n / 2;
  pvec      s[HOPS_HOST_MAXLINE / 2 + 1], d[HOPS_HOST_MAXLINE / 2 + 1];

  UNROLL
  for (int i = 0; i < No; i++) {
    s[i] = u[i] + u[n - 1 - i];
    d[i] = u[i] - u[n - 1 - i];
  }
  if (n % 2) s[No] = u[No];
  PATCH(TimesHalf)
  (Ne, Ne, F, s, v);
  if (No) PATCH(TimesHalf)
  (No, No, F + Ne * Ne, d, v + Ne);
}

INLINE void PATCH(ToNodes)(const int n, const REAL F[], const pvec u[], pvec v[])
{
  const int Ne = (n + 1) / 2, No = n / 2;
  pvec      e[HOPS_HOST_MAXLINE / 2 + 1], o[HOPS_HOST_MAXLINE / 2 + 1];

  if (n < 1) __builtin_unreachable(); /* the compiler would warn of an empty line */
  PATCH(TimesHalf)
  (Ne, Ne, F, u, e);
  if (No) PATCH(TimesHalf)
  (No, No, F + Ne * Ne, u + Ne, o);
  UNROLL
  for (int i = 0; i < No; i++) {
    v[i]         = e[i] + o[i];
    v[n - 1 - i] = e[i] - o[i];
  }
  if (n % 2) v[No] = e[No];
}

/* The size of S^T (or S) of a factor, in REALs */
#define HOPS_PATCH_MATRIX(kind, n) \
  ((kind) == HOPS_HOST_PATCH_SYMMETRIC ? (((n) + 1) / 2) * (((n) + 1) / 2) + ((n) / 2) * ((n) / 2) \
                                       : (n) * (n) * ((kind) == HOPS_HOST_PATCH_VARYING ? LANES : 1))

/* nlines lines of n entries, `stride` apart, the lines `step` apart, to modes or to nodes in place */
typedef void (*Lines)(int n, const REAL F[], int nlines, int step, int stride, pvec e[]);

#define HOPS_PATCH_LINES(name, n, apply) \
  static void PATCH(name)(int nrun, const REAL F[], int nlines, int step, int stride, pvec e[]) \
  { \
    for (int j = 0; j < nlines; j++, e += step) { \
      pvec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE]; \
\
      LoadLineOf(n, e, stride, u) apply; \
      StoreLineOf(n, v, stride, e) \
    } \
  }
#define LoadLineOf(n, in, stride, u)   UNROLL for (int i = 0; i < n; i++) u[i] = in[i * stride];
#define StoreLineOf(n, u, stride, out) UNROLL for (int i = 0; i < n; i++) out[i * stride] = u[i];

#define HOPS_PATCH_SIZE(n) \
  HOPS_PATCH_LINES(ToModes_##n, n, PATCH(ToModes)(n, F, u, v)) \
  HOPS_PATCH_LINES(ToNodes_##n, n, PATCH(ToNodes)(n, F, u, v)) \
  HOPS_PATCH_LINES(Times_##n, n, PATCH(Times)(n, F, u, v)) \
  HOPS_PATCH_LINES(TimesLanes_##n, n, PATCH(TimesLanes)(n, (const pvec *)F, u, v))
HOPS_HOST_PATCHES(HOPS_PATCH_SIZE)
HOPS_PATCH_LINES(ToModes_any, nrun, PATCH(ToModes)(nrun, F, u, v))
HOPS_PATCH_LINES(ToNodes_any, nrun, PATCH(ToNodes)(nrun, F, u, v))
HOPS_PATCH_LINES(Times_any, nrun, PATCH(Times)(nrun, F, u, v))
HOPS_PATCH_LINES(TimesLanes_any, nrun, PATCH(TimesLanes)(nrun, (const pvec *)F, u, v))
#undef HOPS_PATCH_SIZE
#undef HOPS_PATCH_LINES
#undef LoadLineOf
#undef StoreLineOf

/* lines[0] to modes, lines[1] back; true if specialised */
static PetscBool FindLines(int n, int kind, Lines lines[2])
{
#define HOPS_PATCH_FIND(m) \
  if (n == m) { \
    lines[0] = kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(ToModes_##m) \
                                                 : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(Times_##m) : PATCH(TimesLanes_##m)); \
    lines[1] = kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(ToNodes_##m) \
                                                 : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(Times_##m) : PATCH(TimesLanes_##m)); \
    return PETSC_TRUE; \
  }
  HOPS_HOST_PATCHES(HOPS_PATCH_FIND)
#undef HOPS_PATCH_FIND
  lines[0] = kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(ToModes_any)
                                               : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(Times_any) : PATCH(TimesLanes_any));
  lines[1] = kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(ToNodes_any)
                                               : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(Times_any) : PATCH(TimesLanes_any));
  return PETSC_FALSE;
}

/* Rows of a window of n among N nodes, even and odd parts: v_i, v_{n-1-i} = E_i (u_j + u_{N-1-j}) +- O_i (u_j
   - u_{N-1-j}) */
INLINE void PATCH(RectHalf)(const int n, const int N, const REAL F[], const pvec u[], pvec v[])
{
  const int   Nh = (N + 1) / 2, No = N / 2;
  const REAL *O = F + ((n + 1) / 2) * Nh;
  pvec        s[HOPS_HOST_MAXLINE / 2 + 2], d[HOPS_HOST_MAXLINE / 2 + 2];

  UNROLL
  for (int j = 0; j < No; j++) {
    s[j] = u[j] + u[N - 1 - j];
    d[j] = u[j] - u[N - 1 - j];
  }
  if (N % 2) s[No] = u[No];
  UNROLL
  for (int i = 0; i < (n + 1) / 2; i++) {
    pvec e = F[i * Nh] * s[0], o;

    UNROLL
    for (int j = 1; j < Nh; j++) e += F[i * Nh + j] * s[j];
    if (2 * i == n - 1) {
      v[i] = e;
      continue;
    }
    o = O[i * No] * d[0];
    UNROLL
    for (int j = 1; j < No; j++) o += O[i * No + j] * d[j];
    v[i]         = e + o;
    v[n - 1 - i] = e - o;
  }
}

#define HOPS_PATCH_ROWS(name, type) \
  INLINE void PATCH(name)(const int n, const int N, const type F[], const pvec u[], pvec v[]) \
  { \
    UNROLL \
    for (int i = 0; i < n; i++) { \
      pvec s = F[i * N] * u[0]; \
      UNROLL \
      for (int j = 1; j < N; j++) s += F[i * N + j] * u[j]; \
      v[i] = s; \
    } \
  }
HOPS_PATCH_ROWS(RectShared, REAL)
HOPS_PATCH_ROWS(RectLanes, pvec)

/* The size of A (or M) of a window's rows, in REALs */
#define HOPS_PATCH_RECT(kind, n, N) \
  ((kind) == HOPS_HOST_PATCH_SYMMETRIC ? (((n) + 1) / 2) * (((N) + 1) / 2) + ((n) / 2) * ((N) / 2) \
                                       : (n) * (N) * ((kind) == HOPS_HOST_PATCH_VARYING ? LANES : 1))

/* nlines lines of N nodes to windows of n */
typedef void (*Rect)(int n, int N, const REAL F[], int nlines, int step, int stride, const pvec in[], int outstep, int outstride,
                     pvec out[]);

#define HOPS_PATCH_RECTS(name, n, N, apply) \
  static void PATCH(name)(int nrun, int Nrun, const REAL F[], int nlines, int step, int stride, const pvec in[], int outstep, \
                          int outstride, pvec out[]) \
  { \
    for (int j = 0; j < nlines; j++, in += step, out += outstep) { \
      pvec u[2 * HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE]; \
\
      UNROLL for (int i = 0; i < N; i++) u[i] = in[i * stride]; \
      apply; \
      UNROLL for (int i = 0; i < n; i++) out[i * outstride] = v[i]; \
    } \
  }
#define HOPS_PATCH_RECT_SIZE(n) \
  HOPS_PATCH_RECTS(RectHalf_##n, n, (n + 2), PATCH(RectHalf)(n, n + 2, F, u, v)) \
  HOPS_PATCH_RECTS(RectShared_##n, n, (n + 2), PATCH(RectShared)(n, n + 2, F, u, v)) \
  HOPS_PATCH_RECTS(RectLanes_##n, n, (n + 2), PATCH(RectLanes)(n, n + 2, (const pvec *)F, u, v))
HOPS_HOST_SWEEPS(HOPS_PATCH_RECT_SIZE)
HOPS_PATCH_RECTS(RectHalf_any, nrun, Nrun, PATCH(RectHalf)(nrun, Nrun, F, u, v))
HOPS_PATCH_RECTS(RectShared_any, nrun, Nrun, PATCH(RectShared)(nrun, Nrun, F, u, v))
HOPS_PATCH_RECTS(RectLanes_any, nrun, Nrun, PATCH(RectLanes)(nrun, Nrun, (const pvec *)F, u, v))

static Rect FindRect(int n, int N, int kind)
{
#define HOPS_PATCH_FIND(m) \
  if (n == m && N == m + 2) \
    return kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(RectHalf_##m) \
                                             : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(RectShared_##m) : PATCH(RectLanes_##m));
  HOPS_HOST_SWEEPS(HOPS_PATCH_FIND)
#undef HOPS_PATCH_FIND
  return kind == HOPS_HOST_PATCH_SYMMETRIC ? PATCH(RectHalf_any)
                                           : (kind == HOPS_HOST_PATCH_SHARED ? PATCH(RectShared_any) : PATCH(RectLanes_any));
}
#undef HOPS_PATCH_RECT_SIZE
#undef HOPS_PATCH_RECTS
#undef HOPS_PATCH_ROWS

INLINE pvec PATCH(Eigenvalue)(const int kind, const REAL *l, int i)
{
  return kind == HOPS_HOST_PATCH_VARYING ? ((const pvec *)l)[i] : l[i] - (pvec){0};
}

/* e <- local inverse e on a batch */
static void PATCH(PatchInvert)(const struct _HopsPatchKernel *k, const HopsHostPatchBatch *b, pvec e[])
{
  const int   nx = b->size[0], ny = b->size[1], nz = b->size[2], n = nx * ny * nz, kind = b->kind, last = k->dim - 1;
  const int   nl = b->size[last], stride = n / nl; /* of the last direction */
  const REAL *reals = (const REAL *)k->reals, *F[3], *B[3], *l[3];
  const pvec *s     = (const pvec *)(reals + b->scale);
  Lines       lines[3][2];

  for (int d = 0; d < k->dim; d++) {
    F[d] = reals + b->matrix[d];
    B[d] = F[d] + HOPS_PATCH_MATRIX(kind, b->size[d]);
    l[d] = B[d] + HOPS_PATCH_MATRIX(kind, b->size[d]);
    (void)FindLines(b->size[d], kind, lines[d]);
  }
  lines[0][0](nx, F[0], n / nx, nx, 1, e);
  if (k->dim == 3)
    for (int o = 0; o < nz; o++) lines[1][0](ny, F[1], nx, 1, nx, e + o * nx * ny);
  for (int j = 0; j < stride / nx; j++) { /* a plane of the last direction's lines */
    pvec *p = e + j * nx;

    lines[last][0](nl, F[last], nx, 1, stride, p);
    for (int m = 0; m < nl; m++) {
      pvec base = s[3] + s[last] * PATCH(Eigenvalue)(kind, l[last], m);

      if (k->dim == 3) base += s[1] * PATCH(Eigenvalue)(kind, l[1], j);
      for (int i = 0; i < nx; i++) {
        const pvec den = base + s[0] * PATCH(Eigenvalue)(kind, l[0], i);

        p[m * stride + i] *= s[4] * PATCH(Reciprocal)(&den);
      }
    }
    lines[last][1](nl, B[last], nx, 1, stride, p);
  }
  if (k->dim == 3)
    for (int o = 0; o < nz; o++) lines[1][1](ny, B[1], nx, 1, nx, e + o * nx * ny);
  lines[0][1](nx, B[0], n / nx, nx, 1, e);
}

#define VECTOR    double
#define PATCHV(x) PATCH(x)
#include "hostpatchvec.h"
#undef VECTOR
#undef PATCHV
#if defined(HOPS_PATCH_FLOAT)
  #define VECTOR    float
  #define PATCHV(x) PATCH(x##Float)
  #include "hostpatchvec.h"
  #undef VECTOR
  #undef PATCHV
#endif

static PetscBool PATCH(PatchFind)(int dim, HopsHostPatchBatch *b)
{
  PetscBool special = PETSC_TRUE;

  for (int d = 0; d < dim; d++) {
    Lines lines[2];

    special = FindLines(b->size[d], b->kind, lines) && special ? PETSC_TRUE : PETSC_FALSE;
  }
  b->solve = PATCH(PatchSolve);
  b->sweep = PATCH(PatchSweep);
#if defined(HOPS_PATCH_FLOAT)
  b->solvesingle = PATCH(PatchSolveFloat);
  b->sweepsingle = PATCH(PatchSweepFloat);
#endif
  return special;
}
#undef HOPS_PATCH_TIMES
#undef HOPS_PATCH_MATRIX
#undef HOPS_PATCH_RECT
#undef LANES
#undef pvec
#undef Lines
#undef FindLines
#undef Rect
#undef FindRect
