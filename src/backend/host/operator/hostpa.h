/* Partially assembled operator: apply and diagonal. Included once per instruction set and precision, see
   hostvec.h. */
#pragma once
#include <backend/host/runtime/hostorders.h>
#include <backend/host/runtime/hostvec.h>
#include <backend/host/operator/hosthang.h>

/*
  Flux at a row of Q points, gx the x-derivative (registers), gy and gz the others (memory):
  (gx, gy, gz) <- D (gx, gy, gz), D symmetric from qdata d[q][nc]
*/
INLINE void Flux3(const int Q, int nc, const vec d[], vec gx[], vec gy[], vec gz[])
{
  UNROLL
  for (int q = 0; q < Q; q++) {
    const vec *dq = d + q * nc;
    const vec  a = gx[q], b = gy[q], c = gz[q];

    gx[q] = dq[0] * a + dq[1] * b + dq[2] * c;
    gy[q] = dq[1] * a + dq[3] * b + dq[4] * c;
    gz[q] = dq[2] * a + dq[4] * b + dq[5] * c;
  }
}

INLINE void Flux2(const int Q, int nc, const vec d[], vec gx[], vec gy[])
{
  UNROLL
  for (int q = 0; q < Q; q++) {
    const vec *dq = d + q * nc;
    const vec  a = gx[q], b = gy[q];

    gx[q] = dq[0] * a + dq[1] * b;
    gy[q] = dq[1] * a + dq[2] * b;
  }
}

/* Spread the prefetch of the next batch's data (nq points) over the lines of this batch */
INLINE Stream StreamNext(const struct _HopsPAKernel *k, const real *qdata, int nq, int lines)
{
  const int bytes = nq * k->ncomp * (int)sizeof(vec);

  return (Stream){(const char *)qdata + bytes, (bytes / 64 + lines - 1) / lines};
}

/*
  One plane of points: u <- Cx^T fx + Cy^T fy + m u, where (fx, fy, fz) = D (Cx u, Cy u, gz); gz <- fz (3D)
*/
INLINE void Plane(const int dim, const int Q, const struct _HopsPAKernel *k, const vec d[], vec u[], vec gz[], Stream *s)
{
  const int nc = k->ncomp, nd = k->diffusion ? dim * (dim + 1) / 2 : 0;
  vec      *gy = (vec *)k->f, a[HOPS_HOST_MAXLINE], b[HOPS_HOST_MAXLINE];

  if (!k->diffusion) {
    for (int q = 0; q < Q * Q; q++) u[q] *= d[q];
    return;
  }
  ContractStream(Q, Q, -1, k->mat.C, 1, Q, u, gy, s);
  for (int y = 0; y < Q; y++, d += Q * nc) {
    vec *uy = u + y * Q;

    Prefetch(s);
    LoadLine(Q, uy, 1, a);
    EvenOdd(Q, Q, -1, k->mat.C, a, b);
    if (dim == 3) Flux3(Q, nc, d, b, gy + y * Q, gz + y * Q);
    else Flux2(Q, nc, d, b, gy + y * Q);
    EvenOdd(Q, Q, -1, k->mat.CT, b, a);
    if (k->mass) {
      UNROLL
      for (int q = 0; q < Q; q++) a[q] += d[q * nc + nd] * uy[q];
    }
    StoreLine(Q, a, 1, uy);
  }
  for (int x = 0; x < Q; x++) {
    Prefetch(s);
    LoadLine(Q, gy + x, Q, a);
    EvenOdd(Q, Q, -1, k->mat.CT, a, b);
    AddLine(Q, u + x, Q, b);
    StoreLine(Q, b, Q, u + x);
  }
}

/*
  e <- sum_ab B^T C_a^T D_ab C_b B e + B^T m B e on a batch, B = Bz By Bx interpolation to the points (Q >=
  P), C_a derivatives there. Partial sums share `u` and `e`, which keeps the scratch small; planes are S
  vectors apart, since with Q = 8 a column of planes Q^2 = 64 vectors (4 KiB) apart would fall into one set of
  the first-level cache.
*/
INLINE void Cell3(const int P, const int Q, const struct _HopsPAKernel *k, const real qdata[])
{
  const HopsHostMatrices *m = &k->mat;
  const vec              *d = (const vec *)qdata;
  vec                    *e = (vec *)k->e, *u = (vec *)k->u, *g = (vec *)k->g;
  vec                     a[HOPS_HOST_MAXLINE], b[HOPS_HOST_MAXLINE];
  const int               coll = P == Q && k->collocated, diff = k->diffusion, Q2 = Q * Q, S = Q2 | 1, Se = coll ? Q2 : S;
  Stream                  s = StreamNext(k, qdata, Q2 * Q, 2 * P * P + 2 * P * Q + 5 * Q2);

  if (!coll) {
    ContractStream(Q, P, 1, m->B, P * P, 1, e, u, &s);
    for (int z = 0; z < P; z++) ContractStream(Q, P, 1, m->B, 1, Q, u + z * P * Q, e + z * S, &s);
  }
  for (int i = 0; i < Q2; i++) {
    Prefetch(&s);
    LoadLine(P, e + i, Se, a);
    if (coll) StoreLine(Q, a, 1, b);
    else EvenOdd(Q, P, 1, m->B, a, b);
    StoreLine(Q, b, S, u + i);
    if (diff) {
      EvenOdd(Q, Q, -1, m->C, b, a);
      StoreLine(Q, a, S, g + i);
    }
  }
  for (int z = 0; z < Q; z++) Plane(3, Q, k, d + z * Q2 * k->ncomp, u + z * S, g + z * S, &s);
  for (int i = 0; i < Q2; i++) {
    Prefetch(&s);
    if (diff) {
      LoadLine(Q, g + i, S, a);
      EvenOdd(Q, Q, -1, m->CT, a, b);
      AddLine(Q, u + i, S, b);
    } else LoadLine(Q, u + i, S, b);
    if (coll) StoreLine(Q, b, 1, a);
    else EvenOdd(P, Q, 1, m->BT, b, a);
    StoreLine(P, a, Se, e + i);
  }
  if (!coll) {
    for (int z = 0; z < P; z++) ContractStream(P, Q, 1, m->BT, 1, Q, e + z * S, u + z * P * Q, &s);
    ContractStream(P, Q, 1, m->BT, P * P, 1, u, e, &s);
  }
}

INLINE void Cell2(const int P, const int Q, const struct _HopsPAKernel *k, const real qdata[])
{
  const HopsHostMatrices *m = &k->mat;
  vec                    *e = (vec *)k->e, *u = (vec *)k->u;
  Stream                  s = StreamNext(k, qdata, Q * Q, 2 * P + 5 * Q);

  if (k->collocated) {
    Plane(2, Q, k, (const vec *)qdata, e, NULL, &s);
    return;
  }
  ContractStream(Q, P, 1, m->B, P, 1, e, (vec *)k->g, &s);
  ContractStream(Q, P, 1, m->B, 1, Q, (vec *)k->g, u, &s);
  Plane(2, Q, k, (const vec *)qdata, u, NULL, &s);
  ContractStream(P, Q, 1, m->BT, 1, Q, u, (vec *)k->g, &s);
  ContractStream(P, Q, 1, m->BT, P, 1, (vec *)k->g, e, &s);
}

/* out[nodes or points] = (A_z x) A_y x A_x in; s: symmetries of the matrices. f, g are scratch */
static void Tensor(int dim, int M, int N, const real *const A[3], const int s[3], const vec *in, vec *f, vec *g, vec *out)
{
  if (dim == 3) {
    Contract(M, N, s[0], A[0], N * N, 1, in, f);
    Contract(M, N, s[1], A[1], N, M, f, g);
    Contract(M, N, s[2], A[2], 1, M * M, g, out);
  } else {
    Contract(M, N, s[0], A[0], N, 1, in, f);
    Contract(M, N, s[1], A[1], 1, M, f, out);
  }
}

/*
  Fewer points than nodes: D is not C B, so each derivative is interpolated by itself,
  e <- sum_ab D_a^T D_ab D_b e + B^T m B e, D_x = Bz By Dx
*/
static void CellUnder(const struct _HopsPAKernel *k, const real qdata[])
{
  const HopsHostMatrices *m   = &k->mat;
  const int               dim = k->dim, P = k->P, Q = k->Q, nc = k->ncomp, nq = HopsHostPower(Q, dim), nn = HopsHostPower(P, dim);
  const vec              *d = (const vec *)qdata;
  vec                    *e = (vec *)k->e, *f = (vec *)k->f, *g = (vec *)k->u, *v = (vec *)k->g, *t;
  const int               nd = k->diffusion ? dim * (dim + 1) / 2 : 0, first = k->diffusion ? 0 : dim;

  t = v + (dim + 1) * nq; /* sum */
  for (int a = first; a <= dim; a++) {
    const real *A[3];
    int         s[3];

    for (int b = 0; b < dim; b++) {
      A[b] = a == b ? m->D : m->B;
      s[b] = a == b ? -1 : 1;
    }
    Tensor(dim, Q, P, A, s, e, f, g, v + a * nq);
  }
  for (int q = 0; q < nq; q++) {
    if (nd == 6) Flux3(1, nc, d + q * nc, v + q, v + nq + q, v + 2 * nq + q);
    if (nd == 3) Flux2(1, nc, d + q * nc, v + q, v + nq + q);
    if (k->mass) v[dim * nq + q] *= d[q * nc + nd];
  }
  for (int n = 0; n < nn; n++) e[n] = (vec){0};
  for (int a = first; a < dim + (int)k->mass; a++) {
    const real *A[3];
    int         s[3];

    for (int b = 0; b < dim; b++) {
      A[b] = a == b ? m->DT : m->BT;
      s[b] = a == b ? -1 : 1;
    }
    Tensor(dim, P, Q, A, s, v + a * nq, f, g, t);
    for (int n = 0; n < nn; n++) e[n] += t[n];
  }
}

#define HOPS_CELL(P, Q) \
  static void Cell3_##P##_##Q(const struct _HopsPAKernel *k, const real qdata[]) \
  { \
    Cell3(P, Q, k, qdata); \
  } \
  static void Cell2_##P##_##Q(const struct _HopsPAKernel *k, const real qdata[]) \
  { \
    Cell2(P, Q, k, qdata); \
  }
HOPS_HOST_ORDERS(HOPS_CELL)

static void CellGeneric(const struct _HopsPAKernel *k, const real qdata[])
{
  if (k->dim == 3) Cell3(k->P, k->Q, k, qdata);
  else Cell2(k->P, k->Q, k, qdata);
}

static PetscBool PAFind(HopsPAKernel k)
{
#define HOPS_FIND(p, q) \
  if (k->P == p && k->Q == q) { \
    k->cell = k->dim == 3 ? Cell3_##p##_##q : Cell2_##p##_##q; \
    return PETSC_TRUE; \
  }
  HOPS_HOST_ORDERS(HOPS_FIND)
  k->cell = k->Q >= k->P ? CellGeneric : CellUnder;
  return PETSC_FALSE;
}

static void PAApply(const struct _HopsPAKernel *k, PetscInt b0, PetscInt b1, const real x[], const real xg[], real y[], real yg[])
{
  const int    nn = HopsHostPower(k->P, k->dim), nT = k->nT;
  const size_t nq = (size_t)HopsHostPower(k->Q, k->dim) * k->ncomp * W;
  vec         *e  = (vec *)k->e;

  for (PetscInt b = b0; b < b1; b++) {
    const int *idx = k->idx + (size_t)b * nn * W, *meet = HopsHostMeetingIndices(k->pieces.meets, b);

    if (b < k->nbi) GatherInterior(nn, idx, x, e);
    else GatherShared(nn, idx, nT, x, xg, e);
    if (k->hang.some && k->hang.some[b]) {
      Hang(&k->hang, b, 0, e);
      k->cell(k, k->qdata + b * nq);
      Hang(&k->hang, b, 1, e);
    } else k->cell(k, k->qdata + b * nq);
    if (meet) ScatterShared(nn, meet, nT, e, y, (real *)(void *)k->pieces.meets->sums);
    else if (b < k->nbi) ScatterInterior(nn, idx, e, y);
    else ScatterShared(nn, idx, nT, e, y, yg);
  }
}

#if !defined(HOPS_HOST_SINGLE)
/* d_n += sum_q sum_ab D_ab(q) (d_a phi_n d_b phi_n)(q) + m(q) phi_n(q)^2, term by term: 1D factors DD, BD,
   BB */
static void PADiagonal(const struct _HopsPAKernel *k, PetscInt b0, PetscInt b1, real y[], real yg[])
{
  const int dim = k->dim, P = k->P, Q = k->Q, nc = k->ncomp, nq = HopsHostPower(Q, dim), nn = HopsHostPower(P, dim);
  const int nd = k->diffusion ? dim * (dim + 1) / 2 : 0;
  vec      *e = (vec *)k->e, *f = (vec *)k->f, *g = (vec *)k->u, *in = (vec *)k->g, *out = in + nq;

  for (PetscInt b = b0; b < b1; b++) {
    const int *idx = k->idx + (size_t)b * nn * W, *meet = HopsHostMeetingIndices(k->pieces.meets, b);
    const vec *d    = (const vec *)k->qdata + (size_t)b * nq * nc;
    const int  hung = k->hang.some && k->hang.some[b] ? HangDiagonal(k, b, k->qdata + (size_t)b * nq * nc * W) : 0;

    for (int n = 0; n < nn; n++) e[n] = (vec){0};
    for (int t = 0, r = 0, c = 0; t < nc; t++) {
      const real *A[3] = {k->mat.BB, k->mat.BB, k->mat.BB};
      int         s[3] = {1, 1, 1};
      real        two  = 1;

      if (t < nd) {
        if (r == c) A[r] = k->mat.DD;
        else {
          A[r] = A[c] = k->mat.BD;
          s[r] = s[c] = -1;
          two         = 2;
        }
        if (++c == dim) c = ++r;
      }
      for (int q = 0; q < nq; q++) in[q] = two * d[q * nc + t];
      Tensor(dim, P, Q, A, s, in, f, g, out);
      for (int n = 0; n < nn; n++) e[n] += out[n];
    }
    HangDiagonalPut(k->hung, nn, hung, e);
    if (meet) ScatterShared(nn, meet, k->nT, e, y, k->pieces.meets->sums);
    else ScatterShared(nn, idx, k->nT, e, y, yg);
  }
}
#endif
