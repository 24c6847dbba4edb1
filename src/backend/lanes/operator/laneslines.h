/*
  What fused operators share, whose lanes hold lines of nodes or points in registers and apply halves of a
  one-dimensional matrix to them.

  Beside what lanes.h says, a team has

    lanes, group       how many lanes, known to the compiler; cells in a value
    cell(first)        the first cell of the team's values, of a launch whose cells begin at begin(first):
    begin(first)       `first`, or 0 where the launch's pointers are to the first cell
    indexed            are arguments of a kernel indexed as cheaply as memory?
    Scalar, Value      double or float; that, or a vector of them
    Lines<N>           lines of N values, one for each lane, that outlast Sync(): registers, or at an address
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>

/* out[M] = A in[N]: A is B (SYM) or C of the tables e, o; T: its transpose */
template <int M, int N, bool SYM, bool T, class real, class V>
HOPS_LANES void HopsLine(const real *te, const real *to, const V in[N], V out[M])
{
  constexpr int NU = (N + 1) / 2, ND = N / 2, MU = (M + 1) / 2, MD = M / 2;
  V             e[NU], o[ND];

#pragma unroll
  for (int n = 0; n < ND; n++) {
    e[n] = in[n] + in[N - 1 - n];
    o[n] = in[n] - in[N - 1 - n];
  }
  if (N % 2) e[ND] = in[ND];
#pragma unroll
  for (int m = 0; m < MU; m++) {
    V E = {}, O = {};

    /* the reflection of C changes its sign, so its transpose takes even parts to even parts by the odd part
       of the matrix */
    if (SYM || m < MD) {
#pragma unroll
      for (int n = 0; n < NU; n++)
        E += (SYM ? (T ? te[n * MU + m] : te[m * NU + n]) : (T ? to[n * MD + m] : te[m * NU + n])) * e[n];
    }
    if (!SYM || m < MD) {
#pragma unroll
      for (int n = 0; n < ND; n++)
        O += (SYM ? (T ? to[n * MD + m] : to[m * ND + n]) : (T ? te[n * MU + m] : to[m * ND + n])) * o[n];
    }
    if (m < MD) {
      out[m]         = E + O;
      out[M - 1 - m] = SYM ? E - O : O - E;
    } else out[m] = SYM ? E : O;
  }
}

/* in[i] = s[i*stride], and the reverse */
template <int N, class V> HOPS_LANES void HopsGet(const V *s, int stride, V in[N])
{
#pragma unroll
  for (int i = 0; i < N; i++) in[i] = s[i * stride];
}

template <int N, class V> HOPS_LANES void HopsPut(const V out[N], V *s, int stride)
{
#pragma unroll
  for (int i = 0; i < N; i++) s[i * stride] = out[i];
}

/* A line of scratch, times a matrix, to a line of scratch. The arrays are this function's own:
   one that lives on in the caller, where a rolled loop indexes it, would take all of its uses to local memory
   */
template <int M, int N, bool SYM, bool T, class real, class V>
HOPS_LANES void HopsSweep(const real *te, const real *to, const V *s, int sstride, V *d, int dstride)
{
  V in[N], out[M];

  HopsGet<N>(s, sstride, in);
  HopsLine<M, N, SYM, T>(te, to, in, out);
  HopsPut<M>(out, d, dstride);
}

/* Numbers i of the n of a cell, or of a group of cells */
template <class Team> HOPS_LANES const typename Team::Value *HopsLanesData(const typename Team::Scalar *d, size_t c, int n)
{
  return (const typename Team::Value *)d + c / Team::group * n;
}

/* The end of a launch's cells; and the cell that a team reads: the last one where there is none for it */
template <class Team, class Cells> HOPS_LANES int HopsLanesEnd(const Cells &a)
{
  return Team::begin(a.first) + a.n;
}

template <class Team, class Cells> HOPS_LANES int HopsLanesClip(const Cells &a, int cell)
{
  return Team::group > 1 ? cell : HopsMin(cell, HopsLanesEnd<Team>(a) - 1);
}
