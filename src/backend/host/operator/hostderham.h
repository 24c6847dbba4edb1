/* Partially assembled forms on H(curl), H(div), L2: apply, diagonal, set-up. Included once per instruction
   set, see hostkernels_*.c. */
#pragma once
#include "hostgeom.h"
#include <backend/host/operator/hosthang.h>
#include <backend/host/runtime/hostorders.h>

/* ---- Contractions in one direction, even-odd matrices of symmetry +1: specialised for (P, Q), (P-1, Q) and
   back, or any sizes ---- */

static void ContractAny(int M, int N, const double *A, int outer, int inner, const double *in, double *out)
{
  vec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      const vec *s = (const vec *)in + o * N * inner + i;
      vec       *t = (vec *)out + o * M * inner + i;

      for (int k = 0; k < N; k++) u[k] = s[k * inner];
      EvenOddGeneric(M, N, 1, A, u, v);
      for (int k = 0; k < M; k++) t[k * inner] = v[k];
    }
}

#define HOPS_CONTRACT(name, m, n) \
  static void name(int M, int N, const double *A, int outer, int inner, const double *in, double *out) \
  { \
    if ((n) == 1 || (m) == 1) ContractAny(m, n, A, outer, inner, in, out); \
    else Contract(m, n, 1, A, outer, inner, (const vec *)in, (vec *)out); \
  }
#define HOPS_CONTRACTS(P, Q) \
  HOPS_CONTRACT(ContractB_##P##_##Q, Q, P) \
  HOPS_CONTRACT(ContractE_##P##_##Q, Q, (P) > 2 ? (P)-1 : 1) \
  HOPS_CONTRACT(ContractBT_##P##_##Q, P, Q) \
  HOPS_CONTRACT(ContractET_##P##_##Q, (P) > 2 ? (P)-1 : 1, Q)
HOPS_HOST_ORDERS(HOPS_CONTRACTS)

static PetscBool FormFind(HopsDerhamKernel k)
{
#define HOPS_FORM_FIND(p, q) \
  if (k->P == p && k->Q == q) { \
    k->contract[0] = ContractB_##p##_##q; \
    k->contract[1] = ContractE_##p##_##q; \
    k->contract[2] = ContractBT_##p##_##q; \
    k->contract[3] = ContractET_##p##_##q; \
    return PETSC_TRUE; \
  }
  HOPS_HOST_ORDERS(HOPS_FORM_FIND)
  for (int i = 0; i < 4; i++) k->contract[i] = ContractAny;
  return PETSC_FALSE;
}

/* ---- One term: v <- D (evaluation of u at the points), u <- transposed evaluation of v ---- */

/* component c of an E-vector to the points, direction by direction; `out` holds Q^dim vectors */
static void FormEvaluate(const struct _HopsDerhamKernel *k, const HopsLayout *l, int c, const double *u, double *out)
{
  const int n0 = (int)l->n[c][0], n1 = (int)l->n[c][1], n2 = (int)l->n[c][2], Q = k->Q;
  const int a = l->open[c][0], b = l->open[c][1], z = l->open[c][2];

  k->contract[a](Q, n0, k->M[a], n1 * n2, 1, u, k->f);
  if (k->dim == 2) {
    k->contract[b](Q, n1, k->M[b], 1, Q, k->f, out);
    return;
  }
  k->contract[b](Q, n1, k->M[b], n2, Q, k->f, k->g);
  k->contract[z](Q, n2, k->M[z], 1, Q * Q, k->g, out);
}

static void FormEvaluateTranspose(const struct _HopsDerhamKernel *k, const HopsLayout *l, int c, const double *in, double *u)
{
  const int n0 = (int)l->n[c][0], n1 = (int)l->n[c][1], n2 = (int)l->n[c][2], Q = k->Q;
  const int a = 2 + l->open[c][0], b = 2 + l->open[c][1], z = 2 + l->open[c][2];

  if (k->dim == 2) {
    k->contract[b](n1, Q, k->M[b], 1, Q, in, k->f);
    k->contract[a](n0, Q, k->M[a], n1, 1, k->f, u);
    return;
  }
  k->contract[z](n2, Q, k->M[z], 1, Q * Q, in, k->g);
  k->contract[b](n1, Q, k->M[b], n2, Q, k->g, k->f);
  k->contract[a](n0, Q, k->M[a], n1 * n2, 1, k->f, u);
}

/* u <- sum_ab B_a^T D_ab B_b u with the tensor data d[q][nc] of the layout's family */
static void FormTerm(const struct _HopsDerhamKernel *k, const HopsLayout *l, int nc, const double *qdata, double *u)
{
  const int  nq = k->dim == 3 ? k->Q * k->Q * k->Q : k->Q * k->Q;
  const vec *d  = (const vec *)qdata;
  vec       *v = (vec *)k->v, *v1 = v + nq, *v2 = v1 + nq;

  for (int c = 0; c < (int)l->nc; c++) FormEvaluate(k, l, c, u + l->off[c] * W, k->v + (size_t)c * nq * W);
  if (nc == 1) {
    for (int q = 0; q < nq; q++) v[q] *= d[q];
  } else if (nc == 3) {
    for (int q = 0; q < nq; q++, d += 3) {
      const vec a = v[q], b = v1[q];

      v[q]  = d[0] * a + d[1] * b;
      v1[q] = d[1] * a + d[2] * b;
    }
  } else {
    for (int q = 0; q < nq; q++, d += 6) {
      const vec a = v[q], b = v1[q], c = v2[q];

      v[q]  = d[0] * a + d[1] * b + d[2] * c;
      v1[q] = d[1] * a + d[3] * b + d[4] * c;
      v2[q] = d[2] * a + d[4] * b + d[5] * c;
    }
  }
  for (int c = 0; c < (int)l->nc; c++) FormEvaluateTranspose(k, l, c, k->v + (size_t)c * nq * W, u + l->off[c] * W);
}

/* ---- Derivative on the lattice of a cell: w = C u, y += C^T w ---- */

/*
  One piece of a component of the derivative: w[ijk] (+)= s u[ijk + e_shift], a box of n entries of two arrays
  of other extents; transposed, u[ijk + e_shift] += s w[ijk]
*/
INLINE void Piece(const PetscInt n[3], const vec w0[], const PetscInt m[3], const vec u0[], int shift, int s, int transpose,
                  int first)
{
  const PetscInt sh = shift < 0 ? 0 : (shift == 0 ? 1 : (shift == 1 ? m[0] : m[0] * m[1]));

  for (PetscInt z = 0; z < n[2]; z++)
    for (PetscInt y = 0; y < n[1]; y++) {
      vec *w = (vec *)w0 + (z * n[1] + y) * n[0], *u = (vec *)u0 + (z * m[1] + y) * m[0] + sh;

      if (transpose) {
        if (s > 0)
          for (PetscInt x = 0; x < n[0]; x++) u[x] += w[x];
        else
          for (PetscInt x = 0; x < n[0]; x++) u[x] -= w[x];
      } else if (first) {
        for (PetscInt x = 0; x < n[0]; x++) w[x] = u[x];
      } else if (s > 0) {
        for (PetscInt x = 0; x < n[0]; x++) w[x] += u[x];
      } else {
        for (PetscInt x = 0; x < n[0]; x++) w[x] -= u[x];
      }
    }
}

/* curl: (dw)_c = u_a + u_b(+a) - u_a(+b) - u_b around the face; divergence: the sum over directions d of
   u_d(+d) - u_d */
static void FormDerivative(const struct _HopsDerhamKernel *k, int transpose, const double *u, const double *w)
{
  const HopsLayout *lu = &k->layout, *lw = &k->dlayout;
  const vec        *uv = (const vec *)u, *wv = (const vec *)w;

  if (k->family == HOPS_HCURL) {
    for (int c = 0; c < (int)lw->nc; c++) {
      const int a = k->dim == 3 ? (c + 1) % 3 : 0, b = k->dim == 3 ? (c + 2) % 3 : 1;

      Piece(lw->n[c], wv + lw->off[c], lu->n[a], uv + lu->off[a], -1, 1, transpose, 1);
      Piece(lw->n[c], wv + lw->off[c], lu->n[b], uv + lu->off[b], a, 1, transpose, 0);
      Piece(lw->n[c], wv + lw->off[c], lu->n[a], uv + lu->off[a], b, -1, transpose, 0);
      Piece(lw->n[c], wv + lw->off[c], lu->n[b], uv + lu->off[b], -1, -1, transpose, 0);
    }
  } else {
    for (int d = 0; d < k->dim; d++) {
      Piece(lw->n[0], wv, lu->n[d], uv + lu->off[d], d, 1, transpose, d == 0);
      Piece(lw->n[0], wv, lu->n[d], uv + lu->off[d], -1, -1, transpose, 0);
    }
  }
}

/* y <- (C^T term C + term) e on a batch */
static void FormCell(const struct _HopsDerhamKernel *k, const double *qdata)
{
  const int nq = k->dim == 3 ? k->Q * k->Q * k->Q : k->Q * k->Q, ne = (int)k->layout.ne;
  vec      *e = (vec *)k->e;

  if (k->nd) FormDerivative(k, 0, k->e, k->w);
  if (k->nm) FormTerm(k, &k->layout, k->nm, qdata + (size_t)nq * k->nd * W, k->e);
  else
    for (int i = 0; i < ne; i++) e[i] = (vec){0};
  if (!k->nd) return;
  FormTerm(k, &k->dlayout, k->nd, qdata, k->w);
  FormDerivative(k, 1, k->e, k->w);
}

/* ---- Apply ---- */

/* the sign is in the index: -1 - l is unknown l with the opposite sign */
INLINE void FormGather(int n, const int idx[], int nT, const double x[], const double xg[], int shared, vec e[])
{
  double *s = (double *)e;

  for (int i = 0; i < n * W; i += W) {
    UNROLL
    for (int l = 0; l < W; l++) {
      const int m = idx[i + l] >> 31, j = idx[i + l] ^ m;

      s[i + l] = (1 | m) * (!shared || j < nT ? x[j] : xg[j - nT]);
    }
  }
}

INLINE void FormScatter(int n, const int idx[], int nT, const vec e[], int shared, double y[], double yg[])
{
  const double *s = (const double *)e;

  for (int i = 0; i < n * W; i += W) {
    UNROLL
    for (int l = 0; l < W; l++) {
      const int m = idx[i + l] >> 31, j = idx[i + l] ^ m;

      if (!shared || j < nT) y[j] += (1 | m) * s[i + l];
      else yg[j - nT] += (1 | m) * s[i + l];
    }
  }
}

static void FormApply(const struct _HopsDerhamKernel *k, PetscInt b0, PetscInt b1, const double x[], const double xg[], double y[],
                      double yg[])
{
  const int    ne = (int)k->layout.ne;
  const size_t nq = (size_t)(k->dim == 3 ? k->Q : 1) * k->Q * k->Q * (k->nd + k->nm) * W;

  for (PetscInt b = b0; b < b1; b++) {
    const int *idx = k->idx + (size_t)b * ne * W, *meet = HopsHostMeetingIndices(k->pieces.meets, b);

    if (b < k->nbi) FormGather(ne, idx, k->nT, x, xg, 0, (vec *)k->e);
    else FormGather(ne, idx, k->nT, x, xg, 1, (vec *)k->e);
    if (k->hang.some && k->hang.some[b]) {
      Hang(&k->hang, b, 0, (vec *)k->e);
      FormCell(k, k->qdata + b * nq);
      Hang(&k->hang, b, 1, (vec *)k->e);
    } else FormCell(k, k->qdata + b * nq);
    if (meet) FormScatter(ne, meet, k->nT, (vec *)k->e, 1, y, k->pieces.meets->sums);
    else if (b < k->nbi) FormScatter(ne, idx, k->nT, (vec *)k->e, 0, y, yg);
    else FormScatter(ne, idx, k->nT, (vec *)k->e, 1, y, yg);
  }
}

/* ---- Diagonal ---- */

static void ContractSymmetry(int M, int N, int sym, const double *A, int outer, int inner, const vec *in, vec *out)
{
  vec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      for (int n = 0; n < N; n++) u[n] = in[(o * N + n) * inner + i];
      EvenOddGeneric(M, N, sym, A, u, v);
      for (int m = 0; m < M; m++) out[(o * M + m) * inner + i] = v[m];
    }
}

/*
  e_i += a sum_q d_q prod_x f_x(q) for the entries i of component c, where f is, by `kind` of direction x, the
  square of the basis function (0), the square of its derivative (1), or their product (2); d has a stride of
  nc
*/
static void FormDiagonalTerm(const struct _HopsDerhamKernel *k, int c, const int kind[3], double a, const vec d[], int nc, vec e[])
{
  const HopsLayout *l = &k->layout;
  const int         Q = k->Q, dim = k->dim, nq = dim == 3 ? Q * Q * Q : Q * Q, ne = (int)(l->off[c + 1] - l->off[c]);
  vec              *v = (vec *)k->v, *f = (vec *)k->f, *g = (vec *)k->g, *in = v;
  int               inner = 1, outer = nq / Q;

  for (int q = 0; q < nq; q++) v[q] = a * d[q * nc];
  for (int x = 0; x < dim; x++) {
    vec *out = in == f ? g : f;

    ContractSymmetry((int)l->n[c][x], Q, kind[x] == 2 ? -1 : 1, kind[x] ? k->S[1 + kind[x]] : k->S[l->open[c][x]], outer, inner, in,
                     out);
    inner *= (int)l->n[c][x];
    outer /= Q;
    in = out;
  }
  for (int i = 0; i < ne; i++) e[l->off[c] + i] += in[i];
}

/* Entries of the diagonal on lines of hanging nodes, one after the other; see HangDiagonal() */
static int FormHangDiagonal(const struct _HopsDerhamKernel *k, PetscInt b, const double qdata[])
{
  const int ne = k->hang.ne;
  vec      *e = (vec *)k->e, *d = (vec *)k->hung;
  int      *list = (int *)(void *)(d + ne), n = HangList(&k->hang, b, list);

  for (int i = 0; i < n; i++) {
    memset(e, 0, (size_t)ne * sizeof(vec));
    e[list[i]] += 1;
    Hang(&k->hang, b, 0, e);
    FormCell(k, qdata);
    Hang(&k->hang, b, 1, e);
    d[list[i]] = e[list[i]];
  }
  return n;
}

/*
  Term by term: of the field D_cc phi^2; of a divergence D (d_c phi)^2; of a curl, with component c alone, (0,
  d_z, -d_y) phi and cyclic, so that the tensor's two diagonal entries and the one between them count
*/
static void FormDiagonal(const struct _HopsDerhamKernel *k, PetscInt b0, PetscInt b1, double y[], double yg[])
{
  static const int  diag3[3] = {0, 3, 5}, diag2[2] = {0, 2}, off3[3] = {4, 2, 1};
  const HopsLayout *l   = &k->layout;
  const int         dim = k->dim, Q = k->Q, nq = dim == 3 ? Q * Q * Q : Q * Q, ne = (int)l->ne;
  vec              *e = (vec *)k->e;

  for (PetscInt b = b0; b < b1; b++) {
    const vec *dd = (const vec *)(k->qdata + (size_t)b * nq * (k->nd + k->nm) * W), *dm = dd + (size_t)nq * k->nd;
    const int *meet = HopsHostMeetingIndices(k->pieces.meets, b), *idx = meet ? meet : k->idx + (size_t)b * ne * W;
    double    *other = meet ? k->pieces.meets->sums : yg;
    const int  hung  = k->hang.some && k->hang.some[b] ? FormHangDiagonal(k, b, (const double *)dd) : 0;

    for (int i = 0; i < ne; i++) e[i] = (vec){0};
    for (int c = 0; c < (int)l->nc; c++) {
      int kind[3] = {0, 0, 0};

      if (k->nm) FormDiagonalTerm(k, c, kind, 1, dm + (l->nc == 1 ? 0 : (dim == 3 ? diag3[c] : diag2[c])), k->nm, e);
      if (!k->nd) continue;
      if (k->family == HOPS_HDIV || dim == 2) {
        kind[k->family == HOPS_HDIV ? c : 1 - c] = 1;
        FormDiagonalTerm(k, c, kind, 1, dd, 1, e);
      } else {
        const int r = (c + 1) % 3, s = (c + 2) % 3;

        kind[s] = 1;
        FormDiagonalTerm(k, c, kind, 1, dd + diag3[r], 6, e);
        kind[s] = 0;
        kind[r] = 1;
        FormDiagonalTerm(k, c, kind, 1, dd + diag3[s], 6, e);
        kind[r] = kind[s] = 2;
        FormDiagonalTerm(k, c, kind, -2, dd + off3[c], 6, e);
      }
    }
    HangDiagonalPut(k->hung, ne, hung, e);
    for (int i = 0; i < ne * W; i++) { /* squares have no sign */
      const int j = idx[i] < 0 ? -1 - idx[i] : idx[i];

      if (j < k->nT) y[j] += k->e[i];
      else other[j - k->nT] += k->e[i];
    }
  }
}

/* ---- Quadrature data ---- */

static void FormSetUpBatch(const struct _HopsDerhamKernel *k, const HopsHostRun *run, Lanes *b, const int l[2], double *qdata)
{
  const HopsHostGeometry *g   = &k->map;
  const int               dim = k->dim, Q = k->Q, Pg = g->Pg, n = 2 * dim * Pg * Pg, nq = dim == 3 ? Q * Q * Q : Q * Q;
  vec                    *plane = (vec *)g->work + dim * Pg * (dim == 3 ? Pg * Pg : Pg), *J = plane + n, A[9], v[12] = {{0}};
  const double           *w  = k->weights;
  double                 *dd = qdata, *dm = qdata + (size_t)nq * k->nd * W;
  PetscInt                q = 0;

  for (int z = 0; z < (dim == 3 ? Q : 1); z++) {
    GeometryPlane(dim, Pg, g, z, plane);
    for (int y = 0; y < Q; y++) {
      GeometryRow(dim, Pg, g, y, plane, J);
      for (int x = 0; x < Q; x++, q++, dd += k->nd * W, dm += k->nm * W) {
        const double wq  = (dim == 3 ? w[z] : 1) * w[y] * w[x];
        const vec    det = Adjugate(dim, J + x * dim * dim, A);

        b->bad |= ~(det > (vec){0});
        FormFactor(dim, k->dfamily, run->kappa, b, q, wq, &det, J + x * dim * dim, A, v);
        FormFactor(dim, k->family, run->mass, b, q, wq, &det, J + x * dim * dim, A, v + 6);
        for (int c = 0; c < k->nd; c++)
          for (int i = l[0]; i < l[1]; i++) dd[c * W + i] = v[c][i];
        for (int c = 0; c < k->nm; c++)
          for (int i = l[0]; i < l[1]; i++) dm[c * W + i] = v[6 + c][i];
      }
    }
  }
}

static void FormSetUp(HopsDerhamKernel k, HopsHostRun *run)
{
  const PetscInt c0 = run->first < k->ninterior ? 0 : k->ninterior, b0 = run->first < k->ninterior ? 0 : k->nbi;
  const size_t   nq = (size_t)(k->dim == 3 ? k->Q : 1) * k->Q * k->Q * (k->nd + k->nm) * W;
  const PetscInt f = run->first - c0, end = f + run->n;

  for (PetscInt b = f / W; b * W < end; b++) {
    const int l[2] = {(int)PetscMax(0, f - b * W), (int)PetscMin(W, end - b * W)};
    Lanes     lanes;

    LanesSet(&lanes, b * W - f, run->n);
    LoadCoordinates(&k->map, run->first, lanes.cell);
    FormSetUpBatch(k, run, &lanes, l, k->qdata + (size_t)(b0 + b) * nq);
    if (MaskAny(&lanes.bad)) {
      FindBad(&k->map, &lanes, run);
      return;
    }
  }
}
