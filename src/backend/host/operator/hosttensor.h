/* Forms with full tensors on batches of cells. Included once per instruction set, see hostkernels_*.c. */
#pragma once
#include <backend/host/runtime/hostorders.h>
#include "hostpa.h"

INLINE void ContractAdd(const int M, const int N, const int sym, const double A[], const int outer, const int inner, const vec in[],
                        vec out[])
{
  for (int o = 0; o < outer; o++) {
    for (int i = 0; i < inner; i++) {
      vec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE], *to = out + o * M * inner + i;

      if (N < 1) __builtin_unreachable(); /* the compiler would warn of an empty line */
      LoadLine(N, in + o * N * inner + i, inner, u);
      EvenOdd(M, N, sym, A, u, v);
      AddLine(M, to, inner, v);
      StoreLine(M, v, inner, to);
    }
  }
}

/* u[0] = Bz By Bx e; with `gradient`, u[1 + a] = C_a u[0]; slots are S vectors apart, f and g are scratch */
INLINE void Up(const int dim, const int P, const int Q, int S, const HopsHostMatrices *m, const vec *e, vec *f, vec *g, vec *u,
               int gradient)
{
  if (dim == 3) {
    Contract(Q, P, 1, m->B, P * P, 1, e, f);
    Contract(Q, P, 1, m->B, P, Q, f, g);
    Contract(Q, P, 1, m->B, 1, Q * Q, g, u);
  } else {
    Contract(Q, P, 1, m->B, P, 1, e, f);
    Contract(Q, P, 1, m->B, 1, Q, f, u);
  }
  if (!gradient) return;
  Contract(Q, Q, -1, m->C, dim == 3 ? Q * Q : Q, 1, u, u + S);
  Contract(Q, Q, -1, m->C, dim == 3 ? Q : 1, Q, u, u + 2 * S);
  if (dim == 3) Contract(Q, Q, -1, m->C, 1, Q * Q, u, u + 3 * S);
}

/* e = Bx^T By^T Bz^T (u[0] + sum_a C_a^T u[1 + a]) */
INLINE void Down(const int dim, const int P, const int Q, int S, const HopsHostMatrices *m, vec *u, vec *f, vec *g, vec *e,
                 int gradient)
{
  if (gradient) {
    ContractAdd(Q, Q, -1, m->CT, dim == 3 ? Q * Q : Q, 1, u + S, u);
    ContractAdd(Q, Q, -1, m->CT, dim == 3 ? Q : 1, Q, u + 2 * S, u);
    if (dim == 3) ContractAdd(Q, Q, -1, m->CT, 1, Q * Q, u + 3 * S, u);
  }
  if (dim == 3) {
    Contract(P, Q, 1, m->BT, 1, Q * Q, u, g);
    Contract(P, Q, 1, m->BT, P, Q, g, f);
    Contract(P, Q, 1, m->BT, P * P, 1, f, e);
  } else {
    Contract(P, Q, 1, m->BT, 1, Q, u, f);
    Contract(P, Q, 1, m->BT, P, 1, f, e);
  }
}

/* Fewer points than nodes: D is not C B, each derivative is interpolated by itself */
static void UpUnder(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, const double *e, double *u,
                    PetscBool gradient)
{
  for (int a = 0; a <= (gradient ? k->dim : 0); a++) {
    const double *A[3] = {m->B, m->B, m->B};
    int           s[3] = {1, 1, 1};

    if (a) {
      A[a - 1] = m->D;
      s[a - 1] = -1;
    }
    Tensor(k->dim, k->Q, P, A, s, (const vec *)e, (vec *)k->f, (vec *)k->g, (vec *)u + a * k->S);
  }
}

static void DownUnder(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, double *u, double *e, PetscBool gradient)
{
  const int nn  = HopsHostPower(P, k->dim);
  vec      *out = (vec *)e, *t = (vec *)k->g + HopsHostPower(P, k->dim) * 2; /* room for it: TensorScratch() */

  for (int a = 0; a <= (gradient ? k->dim : 0); a++) {
    const double *A[3] = {m->BT, m->BT, m->BT};
    int           s[3] = {1, 1, 1};

    if (a) {
      A[a - 1] = m->DT;
      s[a - 1] = -1;
    }
    Tensor(k->dim, P, k->Q, A, s, (const vec *)u + a * k->S, (vec *)k->f, (vec *)k->g, a ? t : out);
    for (int n = 0; a && n < nn; n++) out[n] += t[n];
  }
}

#define HOPS_SIDE(p, q) \
  static void Up##p##_##q(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, const double *e, double *u, \
                          PetscBool gradient) \
  { \
    if (k->dim == 3) Up(3, p, q, k->S, m, (const vec *)e, (vec *)k->f, (vec *)k->g, (vec *)u, gradient); \
    else Up(2, p, q, k->S, m, (const vec *)e, (vec *)k->f, (vec *)k->g, (vec *)u, gradient); \
  } \
  static void Down##p##_##q(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, double *u, double *e, \
                            PetscBool gradient) \
  { \
    if (k->dim == 3) Down(3, p, q, k->S, m, (vec *)u, (vec *)k->f, (vec *)k->g, (vec *)e, gradient); \
    else Down(2, p, q, k->S, m, (vec *)u, (vec *)k->f, (vec *)k->g, (vec *)e, gradient); \
  }
HOPS_HOST_ORDERS(HOPS_SIDE)

static void UpGeneric(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, const double *e, double *u,
                      PetscBool gradient)
{
  Up(k->dim, P, k->Q, k->S, m, (const vec *)e, (vec *)k->f, (vec *)k->g, (vec *)u, gradient);
}

static void DownGeneric(const struct _HopsTensorKernel *k, const HopsHostMatrices *m, int P, double *u, double *e,
                        PetscBool gradient)
{
  Down(k->dim, P, k->Q, k->S, m, (vec *)u, (vec *)k->f, (vec *)k->g, (vec *)e, gradient);
}

static PetscBool TensorFind(const struct _HopsTensorKernel *k, HopsHostSide *s)
{
#define HOPS_FIND_SIDE(p, q) \
  if (s->P == p && k->Q == q) { \
    s->up   = Up##p##_##q; \
    s->down = Down##p##_##q; \
    return PETSC_TRUE; \
  }
  HOPS_HOST_ORDERS(HOPS_FIND_SIDE)
  s->up   = k->Q >= s->P ? UpGeneric : UpUnder;
  s->down = k->Q >= s->P ? DownGeneric : DownUnder;
  return PETSC_FALSE;
}

/*
  Products at the points of a batch, see HopsTensorData. Points outside and pairs inside, so that the tensors,
  which are most of the data, are read as one stream. Where it goes on does not wait for what a pair says:
  that takes a tenth of the time.
*/
INLINE void Points(const int dim, const int transpose, int nq, int S, const HopsTensorData *d, const vec *all, const vec *u, vec *v)
{
  for (int p = 0; p < nq; p++, all += d->nentries) {
    int n = 0; /* entries so far */

    for (PetscInt j = 0; j < d->npairs; j++) {
      const HopsTensorPair *pair = &d->pair[j];
      const int             kind = pair->kind;
      const vec            *q    = all + n;
      const vec            *in   = u + (transpose ? pair->test : pair->trial) * (dim + 1) * S + p;
      vec                  *out  = v + (transpose ? pair->trial : pair->test) * (dim + 1) * S + p;

      if (PetscUnlikely(pair->entry < n)) q = all + pair->entry; /* those of a pair before */
      else n += (kind & 1 ? dim : 1) * (kind & 2 ? dim : 1);
      if (kind == 3) {
        vec x[3], y[3];

        UNROLL
        for (int a = 0; a < dim; a++) {
          x[a] = in[(a + 1) * S];
          y[a] = out[(a + 1) * S];
        }
        UNROLL
        for (int a = 0; a < dim; a++) {
          UNROLL
          for (int b = 0; b < dim; b++) y[a] += q[transpose ? b * dim + a : a * dim + b] * x[b];
        }
        UNROLL
        for (int a = 0; a < dim; a++) out[(a + 1) * S] = y[a];
      } else if (kind == 0) {
        out[0] += q[0] * in[0];
      } else if ((kind == 1) != transpose) {
        UNROLL
        for (int a = 0; a < dim; a++) out[0] += q[a] * in[(a + 1) * S];
      } else {
        UNROLL
        for (int a = 0; a < dim; a++) out[(a + 1) * S] += q[a] * in[0];
      }
    }
  }
}

/* The E-vectors of all sides that go in become those of all sides that come out; both lie in k->e */
static void TensorCells(const struct _HopsTensorKernel *k, PetscInt b, int transpose, PetscInt nblocks, const HopsTensorData data[])
{
  const int           in = transpose ? 0 : 1, out = 1 - in, dim = k->dim, nq = HopsHostPower(k->Q, dim), S = k->S;
  const HopsHostSide *s;

  for (int i = 0; i < k->n[in]; i++) {
    s = &k->side[in][i];
    for (int c = 0; c < s->nc && (s->value || s->gradient); c++)
      s->up(k, &s->mat, s->P, k->e + (size_t)(s->node + c * HopsHostPower(s->P, dim)) * W,
            k->u + (size_t)(s->slot + c * (dim + 1)) * S * W, s->gradient);
  }
  for (int i = 0; i < k->n[out]; i++) {
    s = &k->side[out][i];
    for (int c = 0; c < s->nc * (dim + 1); c++) {
      vec *v = (vec *)k->v + (s->slot + c) * S;

      for (int p = 0; p < nq; p++) v[p] = (vec){0};
    }
  }
  for (PetscInt j = 0; j < nblocks; j++) {
    const HopsTensorData *d = &data[j];
    const vec            *q = (const vec *)d->q + (size_t)b * nq * d->nentries;
    const vec            *u = (const vec *)k->u + k->side[in][transpose ? d->test : d->trial].slot * S;
    vec                  *v = (vec *)k->v + k->side[out][transpose ? d->trial : d->test].slot * S;

    if (dim == 3 && !transpose) Points(3, 0, nq, S, d, q, u, v);
    else if (dim == 3) Points(3, 1, nq, S, d, q, u, v);
    else if (!transpose) Points(2, 0, nq, S, d, q, u, v);
    else Points(2, 1, nq, S, d, q, u, v);
  }
  for (int i = 0; i < k->n[out]; i++) {
    s = &k->side[out][i];
    for (int c = 0; c < s->nc && (s->value || s->gradient); c++)
      s->down(k, &s->mat, s->P, k->v + (size_t)(s->slot + c * (dim + 1)) * S * W,
              k->e + (size_t)(s->node + c * HopsHostPower(s->P, dim)) * W, s->gradient);
  }
}

static void TensorApply(const struct _HopsTensorKernel *k, PetscInt b0, PetscInt b1, int transpose, PetscInt nblocks,
                        const HopsTensorData data[])
{
  const int in = transpose ? 0 : 1, out = 1 - in;

  for (PetscInt b = b0; b < b1; b++) {
    const int n = (int)(k->first[b + 1] - k->first[b]);

    for (int i = 0; i < k->n[in]; i++) {
      const HopsHostSide *s  = &k->side[in][i];
      const int           nn = HopsHostPower(s->P, k->dim);
      double             *e  = k->e + (size_t)s->node * W;

      if (!s->value && !s->gradient) continue;
      for (int l = 0; l < W; l++) {
        const int *r = s->restr + (size_t)(k->first[b] + (l < n ? l : 0)) * nn;

        for (int m = 0; m < nn; m++)
          for (int c = 0; c < s->nc; c++) e[(size_t)(c * nn + m) * W + l] = s->l[(size_t)r[m] * s->nc + c];
      }
    }
    TensorCells(k, b, transpose, nblocks, data);
    for (int i = 0; i < k->n[out]; i++) {
      const HopsHostSide *s  = &k->side[out][i];
      const int           nn = HopsHostPower(s->P, k->dim);
      const double       *e  = k->e + (size_t)s->node * W;

      if (!s->value && !s->gradient) continue;
      for (int l = 0; l < n; l++) {
        const int *r = s->restr + (size_t)(k->first[b] + l) * nn;

        for (int m = 0; m < nn; m++)
          for (int c = 0; c < s->nc; c++) s->l[(size_t)r[m] * s->nc + c] += e[(size_t)(c * nn + m) * W + l];
      }
    }
  }
}

/* e[component][node] = the diagonal of a block: tensors of a component with itself meet products of 1D
   functions, as in PADiagonal() */
static void TensorDiagonal(const struct _HopsTensorKernel *k, PetscInt b, const HopsTensorData *d, double e[])
{
  const HopsHostSide *s   = &k->side[0][d->test];
  const int           dim = k->dim, nq = HopsHostPower(k->Q, dim), nn = HopsHostPower(s->P, dim);
  const vec          *q  = (const vec *)d->q + (size_t)b * nq * d->nentries;
  vec                *in = (vec *)k->u, *sum = in + nq;

  for (int i = 0; i < s->nc * nn; i++) ((vec *)e)[i] = (vec){0};
  for (PetscInt j = 0; j < d->npairs; j++) {
    const int kind = d->pair[j].kind, n = (int)HopsTensorEntries(dim, kind);

    for (int t = 0; d->pair[j].test == d->pair[j].trial && t < n; t++) {
      /* derivatives; -1: none */
      const int     a = kind == 3 ? t / dim : (kind == 2 ? t : -1), c = kind == 3 ? t % dim : (kind == 1 ? t : -1);
      vec          *out    = (vec *)e + d->pair[j].test * nn;
      const double *A[3]   = {s->mat.BB, s->mat.BB, s->mat.BB};
      int           sym[3] = {1, 1, 1};

      for (int m = 0; m < dim; m++) {
        A[m]   = m == a && m == c ? s->mat.DD : (m == a || m == c ? s->mat.BD : s->mat.BB);
        sym[m] = A[m] == s->mat.BD ? -1 : 1;
      }
      for (int p = 0; p < nq; p++) in[p] = q[p * d->nentries + d->pair[j].entry + t];
      Tensor(dim, s->P, k->Q, A, sym, in, (vec *)k->f, (vec *)k->g, sum);
      for (int i = 0; i < nn; i++) out[i] += sum[i];
    }
  }
}
