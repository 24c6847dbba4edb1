/*
  Full tensors on faces of cells (patensorface.c says which), any order: a team works on a batch of faces.
  Scratch of a component is its value and its derivatives at the points of the face, that along the normal
  first; the trace and the normal derivative at the nodes of the face lie beside them. Values are doubles on
  hosts, too.
*/
#pragma once
#include "lanestensorwork.h"

/* node i of the face of a cell, and the way to the next one along the normal direction; the line of nodes
   begins at `line` */
HOPS_LANES void HopsTensorFaceLine(int dim, int P, int face, int i, int *line, int *step)
{
  const int stride[3] = {1, P, P * P}, d = face / 2, t1 = d == 0 ? 1 : 0, t2 = d == 2 ? 1 : 2;

  *step = stride[d];
  *line = i % P * stride[t1] + (dim == 3 ? i / P * stride[t2] : 0);
}

template <int DIM, class Team>
HOPS_LANES void HopsTensorFaceUp(const Team &team, const HopsLanesTensorFaceArgs &k, const HopsLanesTensorSide &s, PetscInt first,
                                 int n, double *w)
{
  const int P = s.table.P, nf = HopsLanesPower(P, DIM - 1), nn = DIM == 3 ? P * P * P : P * P, items = s.nc * k.W, item = k.W * k.S;
  const double *B = k.tables + s.table.Bup, *D = k.tables + s.table.Dup;
  double       *u = w + s.off, *U = w + k.U, *UN = w + k.UN, *T = w + k.T;

  for (int t = team.lane(); t < k.W * nf; t += team.size()) {
    const int lane = t / nf, i = t - lane * nf, at = lane * k.S + HopsTensorPlace(i, P);

    if (lane < n) {
      const int     face = k.face[first + lane], end = face & 1;
      const int    *restr = s.restr + (size_t)k.cell[first + lane] * nn;
      const double *E     = k.tables + s.table.E + end * P;
      int           line, step;

      HopsTensorFaceLine(DIM, P, face, i, &line, &step);
      for (int c = 0; c < s.nc; c++) {
        double d = 0;

        U[c * item + at] = s.l[(size_t)restr[line + (end ? P - 1 : 0) * step] * s.nc + c];
        for (int j = 0; s.gradient && j < P; j++) d += E[j] * s.l[(size_t)restr[line + j * step] * s.nc + c];
        UN[c * item + at] = d;
      }
    } else
      for (int c = 0; c < s.nc; c++) U[c * item + at] = UN[c * item + at] = 0;
  }
  team.Sync();
  HopsTensorProduct(team, DIM - 1, k.Q, P, B, B, NULL, items, k.S, U, T, (double *)NULL, u, false);
  if (!s.gradient) return;
  HopsTensorProduct(team, DIM - 1, k.Q, P, B, B, NULL, items, k.S, UN, T, (double *)NULL, u + s.R, false);
  HopsTensorProduct(team, DIM - 1, k.Q, P, D, B, NULL, items, k.S, U, T, (double *)NULL, u + 2 * s.R, false);
  if (DIM == 3) HopsTensorProduct(team, DIM - 1, k.Q, P, B, D, NULL, items, k.S, U, T, (double *)NULL, u + 3 * s.R, false);
}

template <int DIM, class Team>
HOPS_LANES void HopsTensorFaceDown(const Team &team, const HopsLanesTensorFaceArgs &k, const HopsLanesTensorSide &s, PetscInt first,
                                   int n, double *w)
{
  const int P = s.table.P, nf = HopsLanesPower(P, DIM - 1), nn = DIM == 3 ? P * P * P : P * P, items = s.nc * k.W, item = k.W * k.S;
  const double *B = k.tables + s.table.Bdown, *D = k.tables + s.table.Ddown;
  double       *u = w + s.off, *U = w + k.U, *UN = w + k.UN, *T = w + k.T;

  HopsTensorProduct(team, DIM - 1, P, k.Q, B, B, NULL, items, k.S, u, T, (double *)NULL, U, false);
  if (s.gradient) {
    HopsTensorProduct(team, DIM - 1, P, k.Q, B, B, NULL, items, k.S, u + s.R, T, (double *)NULL, UN, false);
    HopsTensorProduct(team, DIM - 1, P, k.Q, D, B, NULL, items, k.S, u + 2 * s.R, T, (double *)NULL, U, true);
    if (DIM == 3) HopsTensorProduct(team, DIM - 1, P, k.Q, B, D, NULL, items, k.S, u + 3 * s.R, T, (double *)NULL, U, true);
  }
  for (int t = team.lane(); t < n * nf; t += team.size()) {
    const int lane = t / nf, i = t - lane * nf, at = lane * k.S + HopsTensorPlace(i, P), face = k.face[first + lane],
              end       = face & 1;
    const int    *restr = s.restr + (size_t)k.cell[first + lane] * nn;
    const double *E     = k.tables + s.table.E + end * P;
    int           line, step;

    HopsTensorFaceLine(DIM, P, face, i, &line, &step);
    for (int j = 0; j < P; j++) {
      const bool on = j == (end ? P - 1 : 0);

      if (!s.gradient && !on) continue;
      for (int c = 0; c < s.nc; c++)
        Team::Add(s.l + (size_t)restr[line + j * step] * s.nc + c,
                  (on ? U[c * item + at] : 0.0) + (s.gradient ? E[j] * UN[c * item + at] : 0.0));
    }
  }
}

template <int DIM, bool OWN> struct HopsTensorFacesApply {
  static constexpr int    lanes   = HOPS_TENSOR_FACE_LANES;
  static constexpr bool   indexed = true;
  HopsLanesTensorFaceArgs k;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    double      *w      = OWN ? scratch : k.work + (size_t)team.index() * k.nwork;
    const size_t stride = (size_t)k.W * k.nq;

    for (PetscInt b = team.index(); b * k.W < k.n; b += team.count()) {
      const PetscInt first = b * k.W;
      const int      n     = HopsMin(k.W, (int)(k.n - first));

      HopsTensorFaceUp<DIM>(team, k, k.side[0], first, n, w);
      for (int t = team.lane(); t < n * k.nq; t += team.size()) {
        const int lane = t / k.nq, i = t - lane * k.nq;
        double   *at = w + lane * k.S + (DIM == 3 ? HopsTensorPlace(i, k.Q) : i);

        for (int c = 0; c < k.ncout; c++) {
          double acc[DIM + 1];

          HopsTensorAccumulate<DIM>(k.out[c], k.op, b, stride, t, at, acc);
#pragma unroll
          for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[a];
        }
      }
      team.Sync();
      HopsTensorFaceDown<DIM>(team, k, k.side[1], first, n, w);
      team.Sync();
    }
  }
};

/* As in cells; sums are kept apart by how many of the two functions are derived along the normal */
template <bool OWN> struct HopsTensorFacesDiagonal {
  static constexpr int            lanes   = HOPS_TENSOR_FACE_LANES;
  static constexpr bool           indexed = true;
  HopsLanesTensorFaceDiagonalArgs k;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int dim = k.dim, P = k.table.P, nf = HopsLanesPower(P, dim - 1), nn = nf * P, na = k.kind & 2 ? dim : 1,
              nb = k.kind & 1 ? dim : 1, item = k.W * k.S;
    /* e[3] */
    double      *r0 = OWN ? scratch : k.work + (size_t)team.index() * k.nwork, *t1 = r0 + item, *e = t1 + item;
    const size_t stride = (size_t)k.W * k.nq;

    for (PetscInt b = team.index(); b * k.W < k.n; b += team.count()) {
      const PetscInt first = b * k.W;
      const int      n     = HopsMin(k.W, (int)(k.n - first));

#pragma unroll 1
      for (int t = team.lane(); t < 3 * item; t += team.size()) e[t] = 0;
      for (int ab = 0; ab < na * nb; ab++) {
        /* derivatives of test and trial function: -1 the value, 0 along the normal */
        const int     a = k.kind & 2 ? ab / nb : -1, d = k.kind & 1 ? ab % nb : -1;
        const double *A[2];

#pragma unroll
        for (int m = 0; m < 2; m++)
          A[m] = k.tables + (m + 1 == a ? (m + 1 == d ? k.table.DD : k.table.BD) : (m + 1 == d ? k.table.BD : k.table.BB));
        for (int t = team.lane(); t < k.W * k.nq; t += team.size()) {
          const int lane = t / k.nq, i = t - lane * k.nq;

          r0[lane * k.S + (dim == 3 ? HopsTensorPlace(i, k.Q) : i)] =
            lane < n ? k.q[((size_t)b * k.nentries + k.entry + ab) * stride + t] : 0;
        }
        team.Sync();
        HopsTensorProduct(team, dim - 1, P, k.Q, A[0], A[1], NULL, k.W, k.S, r0, t1, (double *)NULL,
                          e + ((a == 0) + (d == 0)) * item, true);
      }
      for (int t = team.lane(); t < n * nf; t += team.size()) {
        const int lane = t / nf, i = t - lane * nf, at = lane * k.S + (dim == 3 ? HopsTensorPlace(i, P) : i),
                  face = k.face[first + lane], end = face & 1;
        const int    *restr = k.restr + (size_t)k.cell[first + lane] * nn;
        const double *E     = k.tables + k.table.E + end * P;
        int           line, step;

        HopsTensorFaceLine(dim, P, face, i, &line, &step);
        for (int j = 0; j < P; j++)
          Team::Add(k.l + (size_t)restr[line + j * step] * k.nc + k.c,
                    (j == (end ? P - 1 : 0) ? e[at] + E[j] * e[item + at] : 0.0) + E[j] * E[j] * e[2 * item + at]);
      }
      team.Sync();
    }
  }
};

template <class Back> struct HopsTensorFaceLaunches {
  template <class F> static PetscErrorCode Run(const F &f, int teams)
  {
    return Back::Teams("HopsTensorFaces", teams, f.k.work ? 0 : f.k.nwork * sizeof(double), f);
  }

  static PetscErrorCode Apply(const HopsLanesTensorFaceArgs *k, int teams)
  {
    if (k->work)
      return k->dim == 3 ? Run(HopsTensorFacesApply<3, false>{*k}, teams) : Run(HopsTensorFacesApply<2, false>{*k}, teams);
    return k->dim == 3 ? Run(HopsTensorFacesApply<3, true>{*k}, teams) : Run(HopsTensorFacesApply<2, true>{*k}, teams);
  }

  static PetscErrorCode Diagonal(const HopsLanesTensorFaceDiagonalArgs *k, int teams)
  {
    return k->work ? Run(HopsTensorFacesDiagonal<false>{*k}, teams) : Run(HopsTensorFacesDiagonal<true>{*k}, teams);
  }
};
