/*
  Matrices of the lattice's topology: gradient, curl, divergence, and the interpolations of AMS and ADS; unit
  vectors. A lane for each entry of a cell writes the row of its unknown: cells that share the unknown write
  the same, with columns in ascending order. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorrows.h"

#define HOPS_NO_ENTRY 0x7f7f7f7f

struct HopsIncidenceArgs {
  int           n, ncells, ne, nef, nT, nTf, nfree; /* n: columns at most; f: of the source */
  double        perentry;
  const int    *to, *from, *cell, *table;
  const double *scale;
};

/* Columns and values of the row of entry e, ascending; returns its L index, or -1 where the row is not this
   rank's own */
template <int N> HOPS_LANES int RowOf(const HopsIncidenceArgs &a, int e, int *count, int col[N], double val[N])
{
  const int c = CellOf(e, a.perentry), i = e - c * a.ne, r = a.to[e], l = HopsLanesUnsigned(r);
  int       n = 0;

  if (l >= a.nT) return -1;
  const int   *R    = a.from + (size_t)(a.cell ? a.cell[c] : c) * a.nef;
  const double unit = a.scale ? a.scale[l] / a.n : 1;

#pragma unroll
  for (int k = 0; k < N; k++) {
    const int t = k < a.n ? HopsLoad(a.table + i * a.n + k) : -1;

    col[k] = INT_MAX;
    val[k] = 0;
    if (t < 0) continue;
    const int s = R[t >> 1], m = HopsLanesUnsigned(s);

    if (m >= a.nfree) continue;
    int    x = m;
    double v = !a.scale && (((t & 1) != 0) != ((s < 0) != (r < 0))) ? -unit : unit;

#pragma unroll
    for (int j = 0; j < k; j++) { /* what is there ascends; the new column finds its place, or its equal */
      if (col[j] == x && x != INT_MAX) {
        val[j] += v;
        x = INT_MAX;
        v = 0;
      } else if (col[j] > x) {
        const int    y = col[j];
        const double w = val[j];

        col[j] = x;
        val[j] = v;
        x      = y;
        v      = w;
      }
    }
    col[k] = x;
    val[k] = v;
  }
#pragma unroll
  for (int k = 0; k < N; k++) n += col[k] != INT_MAX;
  *count = n;
  return l;
}

template <int N> struct HopsIncidenceCount {
  HopsIncidenceArgs a;
  int               split, *i0, *i1;

  HOPS_LANES void operator()(size_t e) const
  {
    int       n = 0, col[N], own = 0;
    double    val[N];
    const int l = RowOf<N>(a, (int)e, &n, col, val);

    if (l < 0) return;
#pragma unroll
    for (int k = 0; k < N; k++) own += k < n && col[k] < split;
    i0[l] = own;
    if (i1) i1[l] = n - own;
  }
};

/* The row of explicit zero k of n, and how many others come after it there */
HOPS_LANES int ExtraRow(int k, int n, int nT, int *after)
{
  *after = k / nT;
  return n <= nT ? k * (nT / n) : k % nT;
}

template <class Team> struct HopsIncidenceCountExtra {
  int n, nT, *i0;

  HOPS_LANES void operator()(size_t k) const
  {
    int after;

    Team::Add(i0 + ExtraRow((int)k, n, nT, &after), 1); /* a count: the order does not matter */
  }
};

struct HopsIncidenceFillExtra {
  int         n, nT;
  const int  *extra;
  HopsLORRows rows;

  HOPS_LANES void operator()(size_t k) const
  {
    int       after;
    const int r = ExtraRow((int)k, n, nT, &after), at = rows.i[0][r + 1] - 1 - after;

    rows.j[0][at] = extra[k];
    rows.v[0][at] = 0;
  }
};

/* Identity rows of the range, which no cell writes: empty */
struct HopsIncidenceCountEssential {
  const int *idx;
  int       *i0;

  HOPS_LANES void operator()(size_t k) const
  {
    i0[idx[k]] = 0;
  }
};

/* Rows that nobody counted */
template <class Team> struct HopsIncidenceMissing {
  const int *i0;
  int       *missing;

  HOPS_LANES void operator()(size_t l) const
  {
    if (i0[l] < 0) Team::Add(missing, 1);
  }
};

template <int N> struct HopsIncidenceFill {
  HopsIncidenceArgs a;
  HopsLORRows       rows;
  unsigned char    *used;

  HOPS_LANES void operator()(size_t e) const
  {
    int       n = 0, col[N];
    double    val[N];
    const int l = RowOf<N>(a, (int)e, &n, col, val);

    if (l < 0) return;
    int p0 = rows.i[0][l], p1 = rows.i[1] ? rows.i[1][l] : 0;

#pragma unroll
    for (int k = 0; k < N; k++) {
      if (k >= n) break;
      if (col[k] < rows.split) {
        rows.j[0][p0]   = col[k];
        rows.v[0][p0++] = val[k];
      } else {
        used[col[k] - rows.split] = 1;
        rows.j[1][p1]             = col[k] - (int)rows.split;
        rows.v[1][p1++]           = val[k];
      }
    }
  }
};

/* All rows have N columns: their places are known, and they are written as vectors */
template <int N> struct HopsIncidenceFull {
  HopsIncidenceArgs a;
  size_t            total;
  int              *i0, *j;
  double           *v;
  int              *fewer;

  HOPS_LANES void operator()(size_t e) const
  {
    int    n = 0, col[N];
    double val[N];

    if (e <= (size_t)a.nT) i0[e] = N * (int)e; /* there are no fewer entries than unknowns */
    if (e >= total) return;
    const int l = RowOf<N>(a, (int)e, &n, col, val);

    if (l < 0) return;
    if (n < N) *fewer = 1;
#pragma unroll
    for (int k = 0; k < N; k += 2) {
      HopsStorePair(j + (size_t)l * N + k, col[k], col[k + 1]);
      HopsStorePair(v + (size_t)l * N + k, val[k], val[k + 1]);
    }
  }
};

/* ---- Unit vectors ---- */

struct HopsUnitField {
  int           dim, P, Pg, ne, nT;
  double        perentry;
  const int    *restr;
  const double *X, *B; /* B: [P][Pg] the element map at the nodes */
  const int    *place; /* [ne] component, and lattice point of the entry: component + 4 (i + 256 j + 65536 k) */
};

template <class Team> struct HopsUnitFirst {
  HopsUnitField f;
  int          *first;

  HOPS_LANES void operator()(size_t e) const
  {
    const int l = HopsLanesUnsigned(f.restr[e]);

    if (l < f.nT) Team::Least(first + l, (int)e);
  }
};

template <int DIM> HOPS_LANES_CALLED void Point(const HopsUnitField &f, int c, const int ijk[3], double x[DIM])
{
  const int     ng = f.Pg * f.Pg * (DIM == 3 ? f.Pg : 1);
  const double *X  = f.X + (size_t)c * DIM * ng;

  for (int i = 0; i < DIM; i++) x[i] = 0;
  for (int z = 0; z < (DIM == 3 ? f.Pg : 1); z++)
    for (int y = 0; y < f.Pg; y++) {
      const double yz = f.B[ijk[1] * f.Pg + y] * (DIM == 3 ? f.B[ijk[2] * f.Pg + z] : 1);

      for (int w = 0; w < f.Pg; w++) {
        const double b = f.B[ijk[0] * f.Pg + w] * yz;

        for (int i = 0; i < DIM; i++) x[i] += b * X[i * ng + (z * f.Pg + y) * f.Pg + w];
      }
    }
}

/* Along an edge: the difference of its ends. Through a face: half the product of its diagonals, in 2D the
   difference turned */
template <int DIM, bool DIV> struct HopsUnits {
  HopsUnitField f;
  const int    *first;
  double       *v0, *v1, *v2;

  HOPS_LANES void operator()(size_t l) const
  {
    const int e = first[l];

    if (e == HOPS_NO_ENTRY) return;
    const int    c = CellOf(e, f.perentry), p = f.place[e - c * f.ne], comp = p & 3;
    const int    at[3] = {p >> 2 & 255, p >> 10 & 255, p >> 18};
    const double sign  = f.restr[e] < 0 ? -1 : 1;
    double       a[DIM], b[DIM], u[3] = {0, 0, 0}, most = 0;

    if (!DIV || DIM == 2) {
      const int d    = DIV ? 1 - comp : comp;
      const int q[3] = {at[0] + (d == 0), at[1] + (d == 1), at[2] + (d == 2)};

      Point<DIM>(f, c, at, a);
      Point<DIM>(f, c, q, b);
      for (int i = 0; i < DIM; i++) b[i] -= a[i];
      if (!DIV)
        for (int i = 0; i < DIM; i++) u[i] = b[i];
      else {
        u[0] = comp == 0 ? b[1] : -b[1];
        u[1] = comp == 0 ? -b[0] : b[0];
      }
    } else {
      const int r = (comp + 1) % 3, s = (comp + 2) % 3;
      double    g[DIM], h[DIM];
      int       q[3] = {at[0], at[1], at[2]};

      Point<DIM>(f, c, q, a);
      q[r]++;
      Point<DIM>(f, c, q, g);
      q[s]++;
      Point<DIM>(f, c, q, b);
      q[r]--;
      Point<DIM>(f, c, q, h);
      for (int i = 0; i < DIM; i++) {
        b[i] -= a[i];
        h[i] -= g[i];
      }
      for (int i = 0; i < 3; i++) u[i] = 0.5 * (b[(i + 1) % 3] * h[(i + 2) % 3] - b[(i + 2) % 3] * h[(i + 1) % 3]);
    }
    for (int i = 0; i < DIM; i++) most = fmax(most, fabs(u[i]));
    for (int i = 0; i < DIM; i++) u[i] = fabs(u[i]) < 1e-10 * most ? 0 : sign * u[i]; /* see pcloraux.c */
    v0[l] = u[0];
    v1[l] = u[1];
    if (DIM == 3) v2[l] = u[2];
  }
};

/* ---- Launches: the functions of HopsRowsOps ---- */

template <class Back> struct HopsIncidenceLaunches {
  typedef typename Back::Team Team;

  static PetscErrorCode Malloc(size_t n, void **p)
  {
    return (*Back::Ops()->memory->PoolMalloc)(n, p);
  }

  static PetscErrorCode Free(void **p)
  {
    return (*Back::Ops()->memory->PoolFree)(p);
  }

  static PetscErrorCode CopyIn(void *dst, const void *src, size_t n)
  {
    return (*Back::Ops()->memory->Copy)(NULL, dst, src, n, HOPS_COPY_IN);
  }

  static PetscErrorCode CopyOut(void *dst, const void *src, size_t n)
  {
    return (*Back::Ops()->memory->Copy)(NULL, dst, src, n, HOPS_COPY_OUT);
  }

  static PetscErrorCode Arguments(const HopsDeviceIncidence *d, HopsIncidenceArgs *a, size_t *total)
  {
    const PetscReal *X;

    PetscFunctionBegin;
    *total = (size_t)d->to->ncells * d->to->ne;
    PetscCheck(*total < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of a rank have more than 2^31 unknowns: use more ranks");
    a->n        = d->n;
    a->ncells   = (int)d->to->ncells;
    a->ne       = (int)d->to->ne;
    a->nef      = (int)d->from->ne;
    a->nT       = (int)d->to->nT;
    a->nTf      = (int)d->from->nT;
    a->nfree    = (int)(d->from->nT + d->from->nG);
    a->perentry = 1.0 / d->to->ne;
    a->cell     = d->cell;
    a->table    = d->table;
    a->scale    = d->scale;
    PetscCall(HopsSpaceGetBackendMesh(d->to, &a->to, &X));
    PetscCall(HopsSpaceGetBackendMesh(d->from, &a->from, &X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int N> static PetscErrorCode CountOf(const HopsIncidenceArgs &a, size_t total, const HopsLORRows *rows)
  {
    return Back::Each("HopsIncidenceCount", total, HopsIncidenceCount<N>{a, (int)rows->split, rows->i[0], rows->i[1]});
  }

  static PetscErrorCode Count(const HopsDeviceIncidence *d, HopsLORRows *rows, PetscInt *missing)
  {
    HopsIncidenceArgs a;
    size_t            total;
    int              *flag, n = 0;

    PetscFunctionBegin;
    PetscCall(Arguments(d, &a, &total));
    PetscCall(Malloc(sizeof(int), (void **)&flag));
    PetscCall(Back::Set(flag, 0, sizeof(int)));
    for (int b = 0; b < 2; b++)
      if (rows->i[b]) {
        PetscCall(Back::Set(rows->i[b], b ? 0 : 0xff, rows->n * sizeof(int)));
        PetscCall(Back::Set(rows->i[b] + rows->n, 0, sizeof(int)));
      }
    if (a.n <= 2) PetscCall(CountOf<2>(a, total, rows));
    else if (a.n <= 4) PetscCall(CountOf<4>(a, total, rows));
    else PetscCall(CountOf<6>(a, total, rows));
    if (rows->n) {
      PetscCall(Back::Each("HopsIncidenceCountEssential", d->ness, HopsIncidenceCountEssential{d->ess, rows->i[0]}));
      PetscCall(Back::Each("HopsIncidenceMissing", rows->n, HopsIncidenceMissing<Team>{rows->i[0], flag}));
      PetscCall(Back::Each("HopsIncidenceCountExtra", d->nextra, HopsIncidenceCountExtra<Team>{(int)d->nextra, a.nT, rows->i[0]}));
    }
    for (int b = 0; b < 2; b++) {
      int nnz = 0;

      if (rows->i[b]) {
        PetscCall(Back::Scan(rows->n, rows->i[b]));
        PetscCall(CopyOut(&nnz, rows->i[b] + rows->n, sizeof(int)));
      }
      rows->nnz[b] = (size_t)nnz;
    }
    PetscCall(CopyOut(&n, flag, sizeof(int)));
    PetscCall(Free((void **)&flag));
    *missing = n;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int N> static PetscErrorCode FullOf(const HopsIncidenceArgs &a, size_t total, const HopsLORRows *rows, int *fewer)
  {
    return Back::Each("HopsIncidenceFull", PetscMax(total, (size_t)a.nT + 1),
                      HopsIncidenceFull<N>{a, total, rows->i[0], rows->j[0], rows->v[0], fewer});
  }

  static PetscErrorCode Full(const HopsDeviceIncidence *d, HopsLORRows *rows, PetscBool *ok)
  {
    HopsIncidenceArgs a;
    size_t            total;
    int              *flag, fewer = 0;

    PetscFunctionBegin;
    PetscCall(Arguments(d, &a, &total));
    *ok = total && (a.n == 2 || a.n == 4 || a.n == 6) ? PETSC_TRUE : PETSC_FALSE;
    if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Malloc(sizeof(int), (void **)&flag));
    PetscCall(Back::Set(flag, 0, sizeof(int)));
    if (a.n == 2) PetscCall(FullOf<2>(a, total, rows, flag));
    else if (a.n == 4) PetscCall(FullOf<4>(a, total, rows, flag));
    else PetscCall(FullOf<6>(a, total, rows, flag));
    PetscCall(CopyOut(&fewer, flag, sizeof(int)));
    PetscCall(Free((void **)&flag));
    *ok = fewer ? PETSC_FALSE : PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int N>
  static PetscErrorCode FillOf(const HopsIncidenceArgs &a, size_t total, const HopsLORRows *rows, unsigned char *used)
  {
    return Back::Each("HopsIncidenceFill", total, HopsIncidenceFill<N>{a, *rows, used});
  }

  static PetscErrorCode Fill(const HopsDeviceIncidence *d, HopsLORRows *rows, unsigned char used[])
  {
    HopsIncidenceArgs a;
    size_t            total;
    unsigned char    *u = NULL;

    PetscFunctionBegin;
    PetscCall(Arguments(d, &a, &total));
    if (rows->i[1]) {
      PetscCall(Malloc(rows->nmap, (void **)&u));
      PetscCall(Back::Set(u, 0, rows->nmap));
    }
    if (a.n <= 2) PetscCall(FillOf<2>(a, total, rows, u));
    else if (a.n <= 4) PetscCall(FillOf<4>(a, total, rows, u));
    else PetscCall(FillOf<6>(a, total, rows, u));
    if (rows->n)
      PetscCall(Back::Each("HopsIncidenceFillExtra", d->nextra, HopsIncidenceFillExtra{(int)d->nextra, a.nT, d->extra, *rows}));
    if (rows->i[1]) PetscCall(CopyOut(used, u, rows->nmap));
    PetscCall(Free((void **)&u));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Map(HopsLORRows *rows)
  {
    return HopsLORRowLaunches<Back>::Map(rows);
  }

  /* The field, with B and place in the back end's memory */
  static PetscErrorCode CreateField(HopsSpace sp, HopsUnitField *f)
  {
    const int  P = (int)sp->order + 1, Pg = (int)sp->gorder + 1;
    HopsBasis  gll, geom;
    HopsLayout l;
    int       *place;

    PetscFunctionBegin;
    *f = {(int)sp->dim, P, Pg, (int)sp->ne, (int)sp->nT, 1.0 / sp->ne, NULL, NULL, NULL, NULL};
    PetscCall(HopsSpaceGetBackendMesh(sp, &f->restr, &f->X));
    PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
    PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
    PetscCall(Malloc(P * Pg * sizeof(double), (void **)&f->B));
    PetscCall(CopyIn((void *)f->B, geom.B, P * Pg * sizeof(double)));
    PetscCall(HopsBasisDestroy(&gll));
    PetscCall(HopsBasisDestroy(&geom));
    HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
    PetscCall(PetscMalloc1(sp->ne, &place));
    for (int a = 0; a < (int)l.nc; a++)
      for (int t = 0; t < (int)(l.off[a + 1] - l.off[a]); t++)
        place[l.off[a] + t] =
          a + 4 * ((int)(t % l.n[a][0]) + 256 * (int)(t / l.n[a][0] % l.n[a][1]) + 65536 * (int)(t / (l.n[a][0] * l.n[a][1])));
    PetscCall(Malloc(sp->ne * sizeof(int), (void **)&f->place));
    PetscCall(CopyIn((void *)f->place, place, sp->ne * sizeof(int)));
    PetscCall(PetscFree(place));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode UnitVectors(HopsSpace sp, PetscReal *v[3])
  {
    const bool    div   = sp->family == HOPS_HDIV;
    const size_t  total = (size_t)sp->ncells * sp->ne, n = sp->nT;
    HopsUnitField f;
    int          *first;

    PetscFunctionBegin;
    PetscCheck(sp->family == HOPS_HCURL || sp->family == HOPS_HDIV, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Unit vectors are of H(curl) and H(div)");
    PetscCheck(total < HOPS_NO_ENTRY, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of a rank have more than 2^31 unknowns: use more ranks");
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(CreateField(sp, &f));
    PetscCall(Malloc(n * sizeof(int), (void **)&first));
    PetscCall(Back::Set(first, 0x7f, n * sizeof(int)));
    PetscCall(Back::Each("HopsUnitFirst", total, HopsUnitFirst<Team>{f, first}));
    if (f.dim == 3 && div) PetscCall(Back::Each("HopsUnits", n, HopsUnits<3, true>{f, first, v[0], v[1], v[2]}));
    else if (f.dim == 3) PetscCall(Back::Each("HopsUnits", n, HopsUnits<3, false>{f, first, v[0], v[1], v[2]}));
    else if (div) PetscCall(Back::Each("HopsUnits", n, HopsUnits<2, true>{f, first, v[0], v[1], NULL}));
    else PetscCall(Back::Each("HopsUnits", n, HopsUnits<2, false>{f, first, v[0], v[1], NULL}));
    PetscCall(Free((void **)&first));
    PetscCall(Free((void **)&f.B));
    PetscCall(Free((void **)&f.place));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static HopsRowsOps Table()
  {
    HopsRowsOps k = {};

    k.IncidenceCount = Count;
    k.IncidenceFull  = Full;
    k.IncidenceFill  = Fill;
    k.MapColumns     = Map;
    k.UnitVectors    = UnitVectors;
    return k;
  }
};
