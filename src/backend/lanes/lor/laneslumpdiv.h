/*
  Low-order-refined matrices of H(div) in 3D on hosts: rows by a stencil. The matrix is M + C^T D C, where D,
  the mass of the lattice's boxes, is diagonal. So a face couples with the faces of the two boxes that it lies
  between; coupled directions in M add no others. On a device rows go by tables (laneslumprows.h), and so do
  those of more than HOPS_DIV_MAX columns.
*/
#pragma once
#include "laneslumpstencil.h"

#define HOPS_DIV_N    11
#define HOPS_DIV_BITS 5

/*
  Neighbours of a face across a (HopsLumpPlace): 0 itself; 1, 2 the next and the last one across a; 3 and on
  the faces across b of the box before it, at j and j + 1, and of the one behind; 7 and on those across c.
*/

/* The cell's entry of each, or -1 where it is not there or does not belong to the pattern */
HOPS_LANES void HopsDivEntries(const HopsLumpMesh &m, const HopsLumpPlace &f, int entry[])
{
  const int size = (f.P - 1) * (f.P - 1) * f.P, at = f.a * size + f.Index(f.a, 0), step = f.Stride(f.a, f.a, 0);

  entry[0] = at;
  entry[1] = m.has[0] && f.ip ? at + step : -1;
  entry[2] = m.has[0] && f.im ? at - step : -1;
  HOPS_LOR_UNROLL
  for (int d = 0; d < 2; d++) {
    const int  g = d ? f.c : f.b, first = g * size + f.Index(g, 0), up = f.Stride(g, g, 0), back = f.Stride(g, f.a, 0);
    const bool on = m.has[0] || (d ? f.on_ac : f.on_ab);

    entry[3 + 4 * d] = on && f.ip ? first : -1;
    entry[4 + 4 * d] = on && f.ip ? first + up : -1;
    entry[5 + 4 * d] = on && f.im ? first - back : -1;
    entry[6 + 4 * d] = on && f.im ? first - back + up : -1;
  }
}

/* Entries of a cell, or of a value's cells, in the row of face f, by neighbours; X: the cells' numbers, which
   lie G apart. What neighbours get that are not there is meaningless */
template <bool COUPLED, int G, class V>
HOPS_LANES void HopsDivContributions(const HopsLumpMesh &m, const HopsLumpPlace &f, const double *X, V x[])
{
  const int  P = f.P, p = P - 1, box = m.own[0] + f.x[0] + p * (f.x[1] + p * f.x[2]);
  const auto At = [X](bool on, int k) {
    if constexpr (sizeof(V) == sizeof(double)) return on ? X[k * G] : 0.0;
    else return on ? ((const V *)X)[k] : V{};
  };
  const V own = At(m.has[1], m.own[1] + f.a * p * p * P + f.Index(f.a, 0)), next = At(m.has[0] && f.ip, box),
          last = At(m.has[0] && f.im, box - (f.a == 0 ? 1 : (f.a == 1 ? p : p * p)));

  x[0] = own + next + last;
  x[1] = -next;
  x[2] = -last;
  HOPS_LOR_UNROLL
  for (int d = 0; d < 2; d++) {
    V *y = x + 3 + 4 * d;

    y[0] = next;
    y[1] = -next;
    y[2] = -last;
    y[3] = last;
    if (!COUPLED) continue;
    /* numbers of the places where faces across a and g meet, at the two nodes along g */
    const int  g = d ? f.c : f.b, n0 = P - (f.a != 0 && g != 0), n1 = P - (f.a != 1 && g != 1);
    const int  at = m.mixed[1] + (f.a + g - 1) * P * P * p + f.x[0] + n0 * (f.x[1] + n1 * f.x[2]);
    const bool on = m.has[1] && (d ? f.on_ac : f.on_ab);
    const V    lo = At(on, at), hi = At(on, at + (g == 0 ? 1 : (g == 1 ? n0 : n0 * n1)));

    y[0] += lo;
    y[1] += hi;
    y[2] += lo;
    y[3] += hi;
  }
}
