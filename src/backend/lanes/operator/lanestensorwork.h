/*
  What the kernels of full tensors on cells and on faces do alike. Sizes are not known to the compiler: an
  item (a component in a slot) has lines of length n an odd number n|1 of values apart; a lane of the team
  makes four entries of a line at a time, with two loads of the matrix.

  A slot is a cell on a device, and Team::group cells on a host, where a value is a vector of theirs and there
  is one slot. W counts slots.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "lanestensor.h"

HOPS_LANES int HopsTensorOdd(int n)
{
  return n | 1;
}

HOPS_LANES float HopsTensorReciprocal(int d)
{
#if defined(__CUDA_ARCH__)
  return __frcp_rn((float)d);
#else
  return 1.0f / (float)d;
#endif
}

/* t / d, for t < 2^21, by its reciprocal */
HOPS_LANES int HopsTensorQuotient(int t, float reciprocal)
{
  return (int)((t + 0.5f) * reciprocal);
}

/* out[item][o][m][i] (+)= sum_n A[n][m] in[item][o][n][i], where an entry lies at item S + o so + n sn + i
   (in), o ro + m rm + i (out) */
template <class Team, class V>
HOPS_LANES void HopsTensorContract(const Team &team, int M, int N, const double *A, int items, int S, int outer, int inner, int so,
                                   int sn, int ro, int rm, const V *in, V *out, bool add)
{
  const int   Mp = (M + 3) & ~3, total = items * outer * inner * (Mp / 4);
  const float ri = HopsTensorReciprocal(inner), ro1 = HopsTensorReciprocal(outer), rs = HopsTensorReciprocal(items);

  for (int t = team.lane(); t < total; t += team.size()) {
    int       r = t, q = HopsTensorQuotient(r, ri);
    const int i    = r - q * inner;
    V         v[4] = {};

    r                  = q;
    q                  = HopsTensorQuotient(r, ro1);
    const int o        = r - q * outer;
    r                  = q;
    q                  = HopsTensorQuotient(r, rs);
    const int     item = r - q * items, m = 4 * q;
    const V      *s  = in + item * S + o * so + i;
    const double *a  = A + m;
    V            *to = out + item * S + o * ro + i + m * rm;

#pragma unroll 2
    for (int n = 0; n < N; n++) {
      const V                x  = s[n * sn];
      const HopsPair<double> a0 = HopsReadPair(a + n * Mp), a1 = HopsReadPair(a + n * Mp + 2);

      v[0] += a0.a * x;
      v[1] += a0.b * x;
      v[2] += a1.a * x;
      v[3] += a1.b * x;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (m + j < M) to[j * rm] = add ? to[j * rm] + v[j] : v[j];
  }
}

/* out (+)= (Az x) Ay x Ax in of items; t1 and t2 are scratch, t2 may be `in`; 2D and 1D use fewer of them */
template <class Team, class V>
HOPS_LANES void HopsTensorProduct(const Team &team, int dim, int M, int N, const double *Ax, const double *Ay, const double *Az,
                                  int items, int S, const V *in, V *t1, V *t2, V *out, bool add)
{
  const int lm = HopsTensorOdd(M), ln = HopsTensorOdd(N);

  if (dim == 1) {
    HopsTensorContract(team, M, N, Ax, items, S, 1, 1, 0, 1, 0, 1, in, out, add);
    team.Sync();
    return;
  }
  HopsTensorContract(team, M, N, Ax, items, S, dim == 3 ? N * N : N, 1, ln, 1, lm, 1, in, t1, false);
  team.Sync();
  if (dim == 2) {
    HopsTensorContract(team, M, N, Ay, items, S, 1, M, 0, lm, 0, lm, t1, out, add);
    team.Sync();
    return;
  }
  HopsTensorContract(team, M, N, Ay, items, S, N, M, N * lm, lm, M * lm, lm, t1, t2, false);
  team.Sync();
  HopsTensorContract(team, M, N, Az, items, S, M, M, lm, M * lm, lm, M * lm, t2, out, add);
  team.Sync();
}

/* where entry i of a tensor-product set of n entries a direction lies in an item */
HOPS_LANES int HopsTensorPlace(int i, int n)
{
  return i / n * HopsTensorOdd(n) + i % n;
}

/* Entry e of a block of nentries at point `at` of a batch, which has `stride` of them, and the way to the
   next entry; see HopsTensorLayout */
template <class V>
HOPS_LANES const V *HopsTensorEntry(const double *q, size_t batch, int nentries, int e, size_t stride, int at, size_t *step)
{
  if constexpr (sizeof(V) > sizeof(double)) {
    *step = 1;
    return (const V *)q + (batch * stride + at) * nentries + e;
  } else {
    *step = stride;
    return q + (batch * nentries + e) * stride + at;
  }
}

/* acc[a] += sum_b q[a SA + b SB] g[b] */
template <int DIM, int SA, int SB, class V> HOPS_LANES void HopsTensorDot(const V *q, const V g[], V acc[])
{
#pragma unroll
  for (int a = 0; a < DIM; a++)
#pragma unroll
    for (int b = 0; b < DIM; b++) acc[a] += q[a * SA + b * SB] * g[b];
}

/* acc = what a component gets at a point: value, then derivatives. `w` is the scratch at the point, which is
   number `at` of the batch's `stride` points */
template <int DIM, class V>
HOPS_LANES void HopsTensorAccumulate(const HopsLanesTensorOut &o, const HopsLanesTensorOp *__restrict__ ops, size_t batch,
                                     size_t stride, int at, const V *w, V acc[])
{
#pragma unroll
  for (int a = 0; a <= DIM; a++) acc[a] = V{};
  for (int j = o.first; j < o.end; j++) {
    const HopsLanesTensorOp p = ops[j];
    size_t                  step;
    const V                *q = HopsTensorEntry<V>(p.q, batch, p.nentries, p.entry, stride, at, &step), *u = w + p.in;

    if (p.kind == 3 && sizeof(V) > sizeof(double)) { /* one after the other: the next entry is q[1] */
      V g[DIM];

#pragma unroll
      for (int b = 0; b < DIM; b++) g[b] = u[(b + 1) * p.R];
      HopsLanesPrefetch(q + 8 * p.nentries, DIM * DIM * sizeof(V)); /* of a point to come: pages end a processor's own */
      if (p.sb == 1) HopsTensorDot<DIM, DIM, 1>(q, g, acc + 1);
      else HopsTensorDot<DIM, 1, DIM>(q, g, acc + 1);
    } else if (p.kind == 3) {
      V g[DIM], x[DIM][DIM];

#pragma unroll
      for (int a = 0; a < DIM; a++)
#pragma unroll
        for (int b = 0; b < DIM; b++) x[a][b] = HopsLoadOnce(q + (a * p.sa + b * p.sb) * step);
#pragma unroll
      for (int b = 0; b < DIM; b++) g[b] = u[(b + 1) * p.R];
#pragma unroll
      for (int a = 0; a < DIM; a++)
#pragma unroll
        for (int b = 0; b < DIM; b++) acc[a + 1] += x[a][b] * g[b];
    } else if (p.kind == 1) {
#pragma unroll
      for (int b = 0; b < DIM; b++) acc[0] += HopsLoadOnce(q + b * step) * u[(b + 1) * p.R];
    } else if (p.kind == 2) {
#pragma unroll
      for (int a = 0; a < DIM; a++) acc[a + 1] += HopsLoadOnce(q + a * step) * u[0];
    } else acc[0] += HopsLoadOnce(q) * u[0];
  }
}

/* Slots that n cells fill */
template <class Team> HOPS_LANES int HopsTensorSlots(int n)
{
  return (n + Team::group - 1) / Team::group;
}

/* The tensors at the points of the n cells of a batch; NC: components that come out, in place of those that
   go in; 0: any number, beside them */
template <int DIM, int NC, class Team, class V>
HOPS_LANES void HopsTensorPoints(const Team &team, const HopsLanesTensorArgs &k, const int Q, const int nq, size_t batch, int n,
                                 V *w)
{
  const size_t stride = (size_t)k.W * nq;

  for (int t = team.lane(); t < HopsTensorSlots<Team>(n) * nq; t += team.size()) {
    const int slot = t / nq;
    V        *at   = w + slot * k.S + HopsTensorPlace(t - slot * nq, Q);

    if constexpr (NC > 0) {
      V acc[NC][DIM + 1];

#pragma unroll
      for (int c = 0; c < NC; c++) HopsTensorAccumulate<DIM>(k.out[c], k.op, batch, stride, t, at, acc[c]);
#pragma unroll
      for (int c = 0; c < NC; c++)
#pragma unroll
        for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[c][a];
    } else {
      for (int c = 0; c < k.ncout; c++) {
        V acc[DIM + 1];

        HopsTensorAccumulate<DIM>(k.out[c], k.op, batch, stride, t, at, acc);
#pragma unroll
        for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[a];
      }
    }
  }
}

/* Where the index lies of node t of all slots, number g there, of a batch whose first cell is `cell` */
template <class Team> HOPS_LANES size_t HopsTensorNode(PetscInt cell, int nn, int slot, int t, int g)
{
  if constexpr (Team::group == 1) return (size_t)cell * nn + t;
  else return ((size_t)cell + slot * Team::group + g) * nn + (t - slot * nn);
}

/* The nodes of the n cells of a batch; e: [component][slot][node]. Slots without a cell are zero; places in
   the one slot of a host without one have the last cell's. C: components that the compiler knows, or 0 */
template <int DIM, int C, class Team, class V>
HOPS_LANES void HopsTensorGatherOf(const Team &team, const HopsLanesTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                   V *e)
{
  constexpr int group = Team::group;
  const int     nn = DIM == 3 ? P * P * P : P * P, nc = C ? C : s.nc, item = W * S * group;

  for (int g = 0; g < group; g++)
    for (int t = team.lane(); t < W * nn; t += team.size()) {
      const int slot = group == 1 ? t / nn : 0, own = group == 1 ? 0 : HopsMin(g, n - 1);
      double   *to = (double *)(e + slot * S + HopsTensorPlace(t - slot * nn, P)) + g;

      if (group == 1 && slot >= n) {
        for (int c = 0; c < nc; c++) to[c * item] = 0;
        continue;
      }
      const double *from = s.l + (size_t)s.restr[HopsTensorNode<Team>(cell, nn, slot, t, own)] * nc;

#pragma unroll
      for (int c = 0; c < nc; c++) to[c * item] = from[c];
    }
  team.Sync();
}

template <int DIM, class Team, class V>
HOPS_LANES void HopsTensorGather(const Team &team, const HopsLanesTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                 V *e)
{
  if (Team::group > 1 && s.nc == DIM) HopsTensorGatherOf<DIM, DIM>(team, s, P, W, S, cell, n, e);
  else HopsTensorGatherOf<DIM, 0>(team, s, P, W, S, cell, n, e);
}

template <int DIM, int C, class Team, class V>
HOPS_LANES void HopsTensorScatterOf(const Team &team, const HopsLanesTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                    const V *e)
{
  constexpr int group = Team::group;
  const int     nn = DIM == 3 ? P * P * P : P * P, nc = C ? C : s.nc, item = W * S * group;
  const bool    marked = group > 1 && s.marked;
  const int    *restr  = marked ? s.marked : s.restr;

  for (int g = 0; g < HopsMin(group, n); g++)
    for (int t = team.lane(); t < HopsTensorSlots<Team>(n) * nn; t += team.size()) {
      const int     slot = group == 1 ? t / nn : 0;
      const double *from = (const double *)(e + slot * S + HopsTensorPlace(t - slot * nn, P)) + g;
      const int     k    = restr[HopsTensorNode<Team>(cell, nn, slot, t, g)];

      if constexpr (group > 1) {
        if (marked) {
          double *const to =
            k & HOPS_LANES_MEET ? (double *)s.copies.buffer + (size_t)(k & ~HOPS_LANES_MEET) * nc : s.l + (size_t)k * nc;

#pragma unroll
          for (int c = 0; c < nc; c++) to[c] += from[c * item];
          continue;
        }
      }
      for (int c = 0; c < nc; c++) Team::Add(s.l + (size_t)k * nc + c, from[c * item]);
    }
}

template <int DIM, class Team, class V>
HOPS_LANES void HopsTensorScatter(const Team &team, const HopsLanesTensorSide &s, const int P, int W, int S, PetscInt cell, int n,
                                  const V *e)
{
  if (Team::group > 1 && s.nc == DIM) HopsTensorScatterOf<DIM, DIM>(team, s, P, W, S, cell, n, e);
  else HopsTensorScatterOf<DIM, 0>(team, s, P, W, S, cell, n, e);
}
