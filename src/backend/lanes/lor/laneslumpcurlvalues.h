/*
  Low-order-refined matrices of H(curl) in 3D: values of rows by a stencil, see laneslumpcurl.h. Of one cell
  a row has at most 33 entries, which 22 numbers of the masses around its edge make up; 13 and 5 where no cell
  couples directions. Cells of a row add in turns, in ascending order, so values come out the same bit by bit.
*/
#pragma once
#include "laneslumpcurl.h"
#include <type_traits>

/*
  Entries of a cell in the row of its edge e, by neighbours; X: the cell's numbers, or those of a value's
  cells, which lie G apart. With c_f the circulation
  around a face and n a number,
    y = sum over the edge's faces of +-(n_f c_f + sum over a face's edges g of n_g (sum of c over the faces
    across g's other direction)),
  written out. What meets around an edge g cancels there but on the cell's boundary: sj = +1 at the first node
  along b, -1 at the last, else 0; sk along c. What neighbours get that are not there is meaningless.
*/
template <bool COUPLED, int G, class V>
HOPS_LANES void HopsCurlContributions(const HopsLumpMesh &m, const HopsLumpPlace &e, const double *X, V x[])
{
  const int  P = m.P, p = P - 1, a = e.a, b = e.b, c = e.c;
  const bool has0 = m.has[0], has1 = m.has[1];
  const auto At = [X](bool on, int k) {
    if constexpr (sizeof(V) == sizeof(double)) return on ? X[k * G] : 0.0;
    else return on ? ((const V *)X)[k] : V{};
  };
  /* an edge's own number, those of its faces across c and b */
  const int ia = e.Index(a, 1), fc = m.own[0] + c * p * p * P + e.Index(c, 0), fb = m.own[0] + b * p * p * P + e.Index(b, 0);
  const V   own = At(has1, m.own[1] + a * p * P * P + ia);
  const V   cp = At(has0 && e.jp, fc), cm = At(has0 && e.jm, fc - e.Stride(c, b, 0)), bp = At(has0 && e.kp, fb),
          bm = At(has0 && e.km, fb - e.Stride(b, c, 0));

  x[0] = own + cp + cm + bp + bm;
  x[1] = -cp;
  x[2] = -cm;
  x[3] = -bp;
  x[4] = -bm;
  if (!COUPLED) {
    HOPS_LOR_UNROLL
    for (int I = 0; I < 2; I++) {
      x[5 + 2 * I]  = I ? cp : -cp;
      x[6 + 2 * I]  = I ? -cm : cm;
      x[9 + 2 * I]  = I ? bp : -bp;
      x[10 + 2 * I] = I ? -bm : bm;
    }
    return;
  }
  typedef typename std::conditional<(G > 1), double, int>::type Sign; /* an integer is a register of a device */

  const Sign sj = !e.jm - !e.jp, sk = !e.km - !e.kp;
  const int  np = P * P * P, ne = p * P * P, na = a == 0 ? 1 : (a == 1 ? P : P * P);
  const int  node = m.mixed[1] + e.x[0] + P * (e.x[1] + P * e.x[2]);
  const int  ga = m.mixed[0] + (2 - a) * ne + ia, gb = m.mixed[0] + (2 - b) * ne + e.Index(b, 1),
            gc = m.mixed[0] + (2 - c) * ne + e.Index(c, 1);
  const bool q = has0 && e.on_bc, r = has0 && e.on_ac, t = has0 && e.on_ab;
  const V    q0 = At(q && (sj != 0 || sk != 0), ga), qjp = At(q && e.jp, ga + e.Stride(a, b, 1)),
          qjm = At(q && e.jm, ga - e.Stride(a, b, 1));
  const V qkp = At(q && e.kp, ga + e.Stride(a, c, 1)), qkm = At(q && e.km, ga - e.Stride(a, c, 1));

  x[0] -= 2 * sj * sk * q0;
  x[1] += sk * (q0 - qjp);
  x[2] += sk * (qjm - q0);
  x[3] += sj * (q0 - qkp);
  x[4] += sj * (qkm - q0);
  x[13] = qjp + qkp;
  x[14] = -(qjp + qkm);
  x[15] = -(qjm + qkp);
  x[16] = qjm + qkm;
  HOPS_LOR_UNROLL
  for (int I = 0; I < 2; I++) {
    const Sign s  = I ? 1 : -1;
    const V    rp = At(r && e.jp, gb + I * e.Stride(b, a, 1)), rm = At(r && e.jm, gb + I * e.Stride(b, a, 1) - e.Stride(b, b, 1));
    const V    tp = At(t && e.kp, gc + I * e.Stride(c, a, 1)), tm = At(t && e.km, gc + I * e.Stride(c, a, 1) - e.Stride(c, c, 1));
    const V    ab = At(has1 && e.on_ab, node + (2 - c) * np + I * na), ac = At(has1 && e.on_ac, node + (2 - b) * np + I * na);
    const V    bs = ab - tp - tm, cs = ac - rp - rm;

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

/* ---- Values ---- */

/*
  Adds to a row that begins at s[lo], or where it is fresh sets it; what has no place goes to s[none]. As no
  two places are the same, all of a word are read before any is written
*/
template <bool COUPLED>
HOPS_LANES void HopsCurlAdd(const HopsCurlWords<COUPLED> &word, double x[], double s[], int lo, int none, bool fresh)
{
  constexpr int N = HopsCurlStencil<COUPLED>::N, EACH = HopsCurlWords<COUPLED>::EACH;

  HOPS_LOR_UNROLL
  for (int w = 0; w < N; w += EACH) {
    int    to[EACH];
    double v[EACH];

    HOPS_LOR_UNROLL
    for (int i = 0; i < EACH; i++) {
      if (w + i >= N) continue;
      to[i] = word.Get(w + i, &x[w + i]);
      to[i] = to[i] == HopsCurlWords<COUPLED>::NONE ? none : lo + to[i];
      v[i]  = fresh ? 0 : s[to[i]];
    }
    HOPS_LOR_UNROLL
    for (int i = 0; i < EACH; i++)
      if (w + i < N) s[to[i]] = v[i] + x[w + i];
  }
}

/*
  A team's rows lie side by side in block 0: their values are put together in its scratch, `room` entries and
  one a lane for what has no place, and written as one piece. Rows that do not fit take their values where
  they are to be. A row of one cell and of nothing that was received is set, not added to.
*/
template <bool COUPLED> struct HopsCurlValues {
  static constexpr int lanes = HOPS_CURL_LANES, blocks = COUPLED ? 4 : 8;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  const int           *start;

  static size_t Bytes()
  {
    return HopsLanesOf(lanes) * ((HopsCurlStencil<COUPLED>::ROOM + 1) * sizeof(double) + 3 * sizeof(int) + sizeof(bool)) +
           sizeof(int);
  }
  template <class Team> HOPS_LANES void operator()(const Team &team, double *shared) const
  {
    constexpr int T = HopsLanesOf(lanes), W = HopsLanesOf(32), room = T * HopsCurlStencil<COUPLED>::ROOM;
    /* [T] which row an entry is of; [T + 1] where rows begin; [T] their first entries; [T] is the row set? */
    int                      *rowof = (int *)(shared + room + T), *lo = rowof + T, *first = lo + T + 1;
    bool                     *alone = (bool *)(first + T);
    const HopsCurlBlock<Team> b(team, m, rows, start);
    const int                 t = team.lane(), *i0 = rows.i[0] + b.r0, base = i0[0], len = i0[b.n] - base;
    const bool                fits = len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;

    if (t < b.n) {
      lo[t]    = i0[t] - base;
      first[t] = b.b0;
      alone[t] = apart && b.b1 - b.b0 == 1 && !HasMore(m.hung, rows, b.r0 + t);
      if (t == b.n - 1) lo[b.n] = len;
      if (two)
        for (int k = rows.i[1][b.r0 + t]; k < rows.i[1][b.r0 + t + 1]; k++) rows.v[1][k] = 0;
    }
    team.Sync();
    if (fits) {
      for (int i = t / W; i < b.n; i += T / W)
        for (int k = lo[i] + t % W; k < lo[i + 1] && !alone[i]; k += W) shared[k] = 0;
    } else {
      for (int k = t; k < len; k += T) rows.v[0][base + k] = 0;
    }
    for (int kc = b.k0; kc < b.k1; kc += T) {
      double                 x[HopsCurlStencil<COUPLED>::N];
      HopsCurlWords<COUPLED> word;
      int                    turn = -1, i = 0;

      b.FindRows(kc, rowof);
      team.Sync();
      if (kc + t < b.k1) {
        const int e = m.entry[kc + t], c = CellOf(e, m.perentry);

        i    = rowof[t];
        turn = kc + t - HopsMax(first[i], kc);
        word.Load(rows, kc + t);
        HopsCurlContributions<COUPLED, 1>(m, HopsLumpPlace(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0),
                                          m.numbers + (size_t)c * m.n, x);
      }
      for (int j = 0;; j++) {
        if (turn == j) {
          if (apart) HopsCurlAdd<COUPLED>(word, x, shared, lo[i], room + t, alone[i]);
          else
            HopsLumpAddBlocks(word, x, (fits ? shared : rows.v[0] + base) + lo[i], lo[i + 1] - lo[i],
                              two ? rows.v[1] + rows.i[1][b.r0 + i] : NULL);
        }
        if (!team.Any(turn > j)) break;
      }
    }
    if (!fits) return;
    if (b.k0 == b.k1) team.Sync(); /* the zeros are other lanes' */
    for (int k = t; k < len; k += T) rows.v[0][base + k] = shared[k];
  }
};
