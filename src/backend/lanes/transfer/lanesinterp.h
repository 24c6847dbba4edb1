/*
  Maps between nested spaces (MATHOPSINTERP), in both precisions: a team applies the 1D matrix in each
  direction to a few macro cells in its scratch. The transpose writes the sources' values of each macro cell
  to memory of its own, and each unknown sums its own in a fixed order: no atomics, and the same result bit by
  bit. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include <backend/lanes/runtime/laneslog.h>
#include "lanesinterplists.h"

template <class T> struct HopsInterpArgs {
  int        dim, M, N, nT, nb, n; /* n: macro cells */
  const int *source, *target;
  const T   *A;
  T         *work;
  size_t     nwork;
};

/* out[o][m][i] = sum_c A[m][c] in[o][c][i] (transposed: A[c][m]); the last product of a map goes to its
   targets instead */
template <class T> HOPS_LANES T HopsInterpEntry(const T *A, int m, int c, bool transposed, int r, const T *in, int inner)
{
  T v = 0;

  for (int j = 0; j < c; j++) v += A[transposed ? j * m + r : r * c + j] * in[j * inner];
  return v;
}

template <class Team, class T>
HOPS_LANES_CALLED void HopsInterpDirection(const Team &team, const T *A, int m, int c, bool transposed, int outer, int inner,
                                           const T *in, T *out)
{
  const int total = outer * m * inner;

  for (int e = team.lane(); e < total; e += team.size()) {
    const int i = e % inner, r = e / inner % m, o = e / (inner * m);

    out[e] = HopsInterpEntry(A, m, c, transposed, r, in + o * c * inner + i, inner);
  }
  team.Sync();
}

/* What both kernels keep in scratch: the matrix, and two pieces of values */
template <class T> struct HopsInterpScratch {
  T *A, *u, *v;

  template <class Team> HOPS_LANES HopsInterpScratch(const Team &team, const HopsInterpArgs<T> &a, double *scratch)
  {
    const int ns = HopsLanesPower(a.N, a.dim), most = a.dim == 3 && a.N * a.M * a.M > ns ? a.N * a.M * a.M : ns;

    A = (T *)scratch;
    u = a.work ? a.work + team.index() * a.nwork : A + (a.M * a.N + 3) / 4 * 4;
    v = u + (size_t)a.nb * most;
    for (int i = team.lane(); i < a.M * a.N; i += team.size()) A[i] = a.A[i];
    team.Sync();
  }
};

/* y[target] = or += (A x A x A) x[source]: nb macro cells in a team */
template <class T> struct HopsInterpApply {
  static constexpr int lanes = 128;
  HopsInterpArgs<T>    a;
  const T             *x, *xg;
  T                   *y;
  bool                 add;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    /* values across the last direction */
    const int dim = a.dim, M = a.M, N = a.N, ns = HopsLanesPower(N, dim), nt = HopsLanesPower(M, dim), last = dim == 3 ? M * M : M;
    const HopsInterpScratch<T> s(team, a, scratch);
    T                         *u = s.u, *v = s.v;

    for (int first = team.index() * a.nb; first < a.n; first += team.count() * a.nb) {
      const int  cells = a.nb < a.n - first ? a.nb : a.n - first;
      const int *src = a.source + (size_t)first * ns, *dst = a.target + (size_t)first * nt;
      const T   *in;

      for (int i = team.lane(); i < cells * ns; i += team.size()) {
        const int k = HopsLoad(src + i);

        u[i] = HopsLoad(k < a.nT ? x + k : xg + (k - a.nT));
      }
      team.Sync();
      HopsInterpDirection(team, s.A, M, N, false, cells * (dim == 3 ? N * N : N), 1, u, v);
      if (dim == 3) HopsInterpDirection(team, s.A, M, N, false, cells * N, M, v, u);
      in = dim == 3 ? u : v;
      for (int e = team.lane(); e < cells * nt; e += team.size()) {
        const int to = HopsLoad(dst + e);

        if (to >= 0) {
          const int i = e % last, r = e / last % M, o = e / nt;
          const T   value = HopsInterpEntry(s.A, M, N, false, r, in + (o * N) * last + i, last);

          if (add) y[to] += value;
          else y[to] = value;
        }
      }
      team.Sync();
    }
  }
};

/* out = (A x A x A)^T y[target] */
template <class T> struct HopsInterpTranspose {
  static constexpr int lanes = 128;
  HopsInterpArgs<T>    a;
  const T             *y;
  T                   *out;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int dim = a.dim, M = a.M, N = a.N, ns = HopsLanesPower(N, dim), nt = HopsLanesPower(M, dim), last = dim == 3 ? M * M : M;
    const HopsInterpScratch<T> s(team, a, scratch);
    T                         *u = s.u, *v = s.v;

    for (int first = team.index() * a.nb; first < a.n; first += team.count() * a.nb) {
      const int  cells = a.nb < a.n - first ? a.nb : a.n - first;
      const int *dst   = a.target + (size_t)first * nt;
      T         *to    = out + (size_t)first * ns;

      /* the last direction first, from memory: each value is read by N lanes */
      for (int e = team.lane(); e < cells * N * last; e += team.size()) {
        const int  i = e % last, r = e / last % N, o = e / (last * N);
        const int *d     = dst + (size_t)o * nt + i;
        T          value = 0;

        for (int j = 0; j < M; j++) {
          const int k = HopsLoad(d + j * last);

          if (k >= 0) value += s.A[j * N + r] * HopsLoad(y + k);
        }
        (dim == 3 ? u : v)[e] = value;
      }
      team.Sync();
      if (dim == 3) HopsInterpDirection(team, s.A, N, M, true, cells * N, M, u, v);
      for (int e = team.lane(); e < cells * ns; e += team.size())
        to[e] = HopsInterpEntry(s.A, N, M, true, e % N, v + (e / N) * M, 1);
      team.Sync();
    }
  }
};

/* Sums of the transpose */
template <class T> struct HopsInterpSum {
  HopsInterpRows r;
  const T       *e;
  int            nT;
  T             *x, *xg;

  HOPS_LANES void operator()(size_t i) const
  {
    T s = 0;

    for (int j = r.start[i]; j < r.start[i + 1]; j++) s += e[r.pos[j]];
    if (r.row[i] < nT) x[r.row[i]] += s;
    else xg[r.row[i] - nT] += s;
  }
};

/* ---- The object, and its copy that works on floats ---- */

template <class Back> struct HopsLanesInterp {
  struct _HopsInterpolation head;
  int                       dim, M, N, ns, nt, nT, nb; /* nb: macro cells of a team */
  PetscInt                  nmacro;
  HopsInterpLists<Back>     lists;
  double                   *A; /* [M][N] */
  double                   *hostA;
  double                   *e;     /* [nmacro][N^dim] values of the transpose, in either precision */
  double                   *work;  /* scratch of teams where they have none of their own */
  size_t                    nwork; /* numbers of a team */
  int                       nteams;
  PetscLogDouble            flops[2];

  struct Single {
    struct _HopsInterpolation head;
    HopsLanesInterp          *k; /* borrowed */
    float                    *A;
  };

  static PetscErrorCode ToBack(size_t n, const void *h, void *d)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;

    PetscFunctionBegin;
    PetscCall((*memory->Malloc)(n, (void **)d));
    if (n) PetscCall((*memory->Copy)(NULL, *(void **)d, h, n, HOPS_COPY_IN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class T> HopsInterpArgs<T> Args(const T *matrix, PetscInt first, PetscInt n) const
  {
    return {dim,    M,         N,    nT, nb, (int)n, lists.source + (size_t)first * ns, lists.target + (size_t)first * nt,
            matrix, (T *)work, nwork};
  }

  template <class T, class F> PetscErrorCode Launch(PetscInt n, const F &f) const
  {
    const int    needed = (int)((n + nb - 1) / nb);
    const size_t bytes  = ((size_t)(M * N + 3) / 4 * 4 + (work ? 0 : nwork)) * sizeof(T);

    return Back::Teams("HopsInterp", work && nteams < needed ? nteams : needed, bytes, f);
  }

  template <class T> PetscErrorCode Map(const T *matrix, PetscBool interior, const T *x, const T *xg, T *y, PetscBool add) const
  {
    const PetscInt first = interior ? 0 : lists.ninterior, n = (interior ? lists.ninterior : nmacro) - first;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Launch<T>(n, HopsInterpApply<T>{Args(matrix, first, n), x, xg, y, add == PETSC_TRUE}));
    PetscCall(HopsLanesLogFlops(Back::Ops(), flops[interior ? 0 : 1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class T> PetscErrorCode MapBack(const T *matrix, PetscBool interior, const T *y, T *x, T *xg) const
  {
    const PetscInt       first = interior ? 0 : lists.ninterior, n = (interior ? lists.ninterior : nmacro) - first;
    const HopsInterpRows r = lists.rows[interior ? 0 : 1];

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Launch<T>(n, HopsInterpTranspose<T>{Args(matrix, first, n), y, (T *)e + first * ns}));
    PetscCall(Back::Each("HopsInterpSum", r.n, HopsInterpSum<T>{r, (const T *)e + first * ns, nT, x, xg}));
    PetscCall(HopsLanesLogFlops(Back::Ops(), flops[interior ? 0 : 1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Apply(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y, PetscBool add)
  {
    const HopsLanesInterp *k = (const HopsLanesInterp *)P;

    return k->Map(k->A, interior, (const double *)x, (const double *)xg, (double *)y, add);
  }

  static PetscErrorCode ApplyTranspose(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
  {
    const HopsLanesInterp *k = (const HopsLanesInterp *)P;

    return k->MapBack(k->A, interior, (const double *)y, (double *)x, (double *)xg);
  }

  static PetscErrorCode SingleApply(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y, PetscBool add)
  {
    const Single *s = (const Single *)P;

    return s->k->Map((const float *)s->A, interior, (const float *)x, (const float *)xg, (float *)y, add);
  }

  static PetscErrorCode SingleApplyTranspose(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
  {
    const Single *s = (const Single *)P;

    return s->k->MapBack((const float *)s->A, interior, (const float *)y, (float *)x, (float *)xg);
  }

  static PetscErrorCode SingleDestroy(HopsInterpolation *P)
  {
    Single *s = (Single *)*P;

    PetscFunctionBegin;
    if (!s) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*Back::Ops()->memory->Free)((void **)&s->A));
    PetscCall(PetscFree(*P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* The index lists are the map's own, which outlives its copy */
  static PetscErrorCode CreateSingle(HopsInterpolation P, HopsInterpolation *single)
  {
    static const HopsInterpOps ops = {SingleApply, SingleApplyTranspose, NULL, SingleDestroy};
    HopsLanesInterp           *k   = (HopsLanesInterp *)P;
    const PetscInt             n   = k->M * k->N;
    Single                    *s;
    float                     *A;

    PetscFunctionBegin;
    PetscCall(PetscNew(&s));
    s->head.ops = &ops;
    s->k        = k;
    *single     = &s->head;
    PetscCall(PetscMalloc1(n, &A));
    for (PetscInt i = 0; i < n; ++i) A[i] = (float)k->hostA[i];
    PetscCall(ToBack(n * sizeof(float), A, &s->A));
    PetscCall(PetscFree(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Destroy(HopsInterpolation *P)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    HopsLanesInterp     *k      = (HopsLanesInterp *)*P;

    PetscFunctionBegin;
    if (!k) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Free)((void **)&k->lists.source));
    PetscCall((*memory->Free)((void **)&k->lists.target));
    PetscCall((*memory->Free)((void **)&k->A));
    PetscCall((*memory->Free)((void **)&k->e));
    PetscCall((*memory->Free)((void **)&k->work));
    for (int i = 0; i < 2; ++i) {
      PetscCall((*memory->Free)((void **)&k->lists.rows[i].row));
      PetscCall((*memory->Free)((void **)&k->lists.rows[i].start));
      PetscCall((*memory->Free)((void **)&k->lists.rows[i].pos));
    }
    PetscCall(PetscFree(k->hostA));
    PetscCall(PetscFree(*P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Create(HopsSpace from, HopsSpace to, const HopsInterpData *d, HopsInterpolation *P)
  {
    static const HopsInterpOps ops = {Apply, ApplyTranspose, CreateSingle, Destroy};
    HopsLanesInterp           *k;
    size_t                     size;
    PetscBool                  own;

    PetscFunctionBegin;
    PetscCall(PetscNew(&k));
    k->head.ops = &ops;
    *P          = &k->head;
    k->dim      = (int)d->dim;
    k->M        = (int)(d->prolong ? HopsInterpMacroNodes(d) : HopsInterpCoarseNodes(d));
    k->N        = (int)(d->prolong ? HopsInterpCoarseNodes(d) : HopsInterpMacroNodes(d));
    k->ns       = HopsLanesPower(k->N, k->dim);
    k->nt       = HopsLanesPower(k->M, k->dim);
    k->nT       = (int)from->nT;
    k->nmacro   = d->ncoarse;
    PetscCall(k->lists.Create(from, to, d));
    PetscCall(ToBack(k->M * k->N * sizeof(double), d->A, &k->A));
    PetscCall(PetscMalloc1(k->M * k->N, &k->hostA));
    PetscCall(PetscArraycpy(k->hostA, d->A, k->M * k->N));
    PetscCall((*Back::Ops()->memory->Malloc)(k->nmacro * k->ns * sizeof(double), (void **)&k->e));
    /* u: N M^2 (the sources, at first), v: N^2 M; in 2D N^2 and N M */
    size     = k->dim == 3 ? PetscMax((size_t)k->ns, (size_t)k->N * k->M * k->M) + (size_t)PetscMax(k->N, k->M) * k->N * k->M
                           : (size_t)k->ns + (size_t)k->N * k->M;
    k->nb    = (int)PetscMax(1, PetscMin(64, 2 * HopsInterpApply<double>::lanes / k->nt));
    k->nwork = k->nb * size;
    PetscCall(Back::GetSizes((k->nwork + k->M * k->N + 4) * sizeof(double), &k->nteams, &own));
    if (!own) PetscCall((*Back::Ops()->memory->Malloc)(k->nwork * k->nteams * sizeof(double), (void **)&k->work));
    {
      const double n = (double)k->N, m = (double)k->M, f = k->dim == 3 ? n * n * m + n * m * m + m * m * m : n * m + m * m;

      k->flops[0] = 2 * n * f * k->lists.ninterior;
      k->flops[1] = 2 * n * f * (k->nmacro - k->lists.ninterior);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
