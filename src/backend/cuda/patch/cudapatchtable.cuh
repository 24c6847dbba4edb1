/*
  The 1D factors of a vertex patch of two equal cells of order p, for kernels: n = 2p - 1 nodes inside, one on
  either end. With the stiffness A and mass M of both cells (d = 0 and 1 for the ends), S^T M S = 1 and S^T A
  S = diag(lambda) on the n nodes. Modes are even (the first p) or odd, since the patch is symmetric; so a
  transform is two products of half the size.

  A function on the N = n + 2 nodes is written in the n modes and two functions that are 1 at an end, 0 at the
  other, and M-orthogonal to the modes: v = S w + E v_ends, w = S^{-1} v_inside + mu v_ends. In this basis the
  mass matrix has no coupling between modes and ends, and the stiffness matrix has c. So the unknowns of a
  patch in d dimensions couple to the tensor products (end) x (mode) x (mode) alone: six faces, no edges, no
  corners.
*/
#pragma once
template <int P, class T> struct HopsPatchTable {
  static constexpr int n = 2 * P - 1, O = P > 1 ? P - 1 : 1;
  T                    Se[P * P], So[O * O]; /* [node of the lower half, centre last][mode]: values of even and odd modes */
  T                    Ie[P * P], Io[O * O]; /* [mode][node]: S^{-1} = S^T M */
  T                    l[n];                 /* the first direction's eigenvalues, times its weight */
  /* c times the first direction's weight; even modes: of the sum of both ends, odd ones: of the difference */
  T mu[n], c[n];
  T Ee[P], Eo[O]; /* [node] of half the sum and half the difference of the ends' functions */
};

/* Columns below are of type V: numbers T, or pairs of them (cudapatchpair.cuh) */

/* w = S^T v (dual): M is Se, So; odd modes where `full` */
template <int P, class T, class V>
__device__ __forceinline__ void HopsPatchDual(const HopsPatchTable<P, T> &t, V v[2 * P - 1], bool full = true)
{
  constexpr int n = 2 * P - 1, O = P - 1;
  V             e[P], o[P];

#pragma unroll
  for (int i = 0; i < O; i++) {
    e[i] = v[i] + v[n - 1 - i];
    o[i] = v[i] - v[n - 1 - i];
  }
  e[O] = v[O];
#pragma unroll
  for (int m = 0; m < P; m++) {
    V s = t.Se[m] * e[0];
#pragma unroll
    for (int i = 1; i < P; i++) s += t.Se[i * P + m] * e[i];
    v[m] = s;
  }
  if (full) {
#pragma unroll
    for (int m = 0; m < O; m++) {
      V s = t.So[m] * o[0];
#pragma unroll
      for (int i = 1; i < O; i++) s += t.So[i * O + m] * o[i];
      v[P + m] = s;
    }
  }
}

/* w[m stride] = S^{-1} v + mu (ends), ends being the sum and the difference; odd modes where `full` */
template <int P, class T, class V>
__device__ __forceinline__ void HopsPatchModes(const HopsPatchTable<P, T> &t, const V v[2 * P + 1], V *w, int stride = 1,
                                               bool full = true)
{
  constexpr int n = 2 * P - 1, O = P - 1;
  V             e[P], o[P];
  const V       s = v[0] + v[n + 1], d = v[0] - v[n + 1];

#pragma unroll
  for (int i = 0; i < O; i++) {
    e[i] = v[1 + i] + v[n - i];
    o[i] = v[1 + i] - v[n - i];
  }
  e[O] = v[1 + O];
#pragma unroll
  for (int m = 0; m < P; m++) {
    V sum = t.mu[m] * s;
#pragma unroll
    for (int i = 0; i < P; i++) sum += t.Ie[m * P + i] * e[i];
    w[m * stride] = sum;
  }
  if (full) {
#pragma unroll
    for (int m = 0; m < O; m++) {
      V sum = t.mu[P + m] * d;
#pragma unroll
      for (int i = 0; i < O; i++) sum += t.Io[m * O + i] * o[i];
      w[(P + m) * stride] = sum;
    }
  }
}

/* v = S w + E (ends), s and d being the sum and the difference of the ends */
template <int P, class T, class V>
__device__ __forceinline__ void HopsPatchValues(const HopsPatchTable<P, T> &t, V s, V d, V v[2 * P - 1])
{
  constexpr int n = 2 * P - 1, O = P - 1;
  V             e[P], o[P];

#pragma unroll
  for (int i = 0; i < P; i++) {
    e[i] = t.Ee[i] * s;
#pragma unroll
    for (int m = 0; m < P; m++) e[i] += t.Se[i * P + m] * v[m];
  }
#pragma unroll
  for (int i = 0; i < O; i++) {
    o[i] = t.Eo[i] * d;
#pragma unroll
    for (int m = 0; m < O; m++) o[i] += t.So[i * O + m] * v[P + m];
  }
#pragma unroll
  for (int i = 0; i < O; i++) {
    v[i]         = e[i] + o[i];
    v[n - 1 - i] = e[i] - o[i];
  }
  v[O] = e[O];
}

/* Lexicographic nodes of a box, its boundary included; patch (i,j,k) of the colour c starts at node (2i+c0)p,
   (2j+c1)p, (2k+c2)p */
template <class T> struct HopsPatchBox {
  int       nx, c[3]; /* patches of a row; the colour */
  int       sy;       /* nodes of a row; of a plane: */
  long long sz;
  /* Dinv[x mode]([z mode])[y mode], which 2D, and double precision but walks read; cyz[4][n]: c times the
     weights of y and z; eigenvalues times these, m added to those of y */
  const T *__restrict__ b, *__restrict__ Dinv, *__restrict__ cyz;
  T *x;
};

/*
  Walks along z. The first colour's patches are those on the cells w and w + 1, w = lead, lead + 2, ..., of
  which a block takes `each`, and those of the second colour between them. `alone`: one patch a block, w =
  lead + 2 each z. Later launches overwrite the cells of the patches `inner`, [0] <= i < [1] and [2] <= j <
  [3].
*/
typedef struct {
  int  lead, each, last; /* last: w of the last patch, of either colour */
  bool alone, zero;      /* zero: x is, on the faces across x, whatever stands there */
  int  inner[4];
} HopsPatchSteps;
