/* What the set-up of patches takes of back ends that launch kernels for teams of lanes: the table `patches`.
   Back is a back end's class: see lanes.h. */
#pragma once
#include <backend/lanes/operator/lanesh1impl.h>
#include "lanespatchset.h"
#include "lanespatchmatrix.h"

template <class Back> struct HopsLanesPatchSetUp {
  static bool Here()
  {
    return PetscMemTypeHost(Back::Ops()->memtype);
  }

  /* Arrays of the process where the back end works: themselves, if it reaches the process's memory, or arrays
     of the pool */
  struct Arrays {
    void *array[16];
    int   n;

    /* with h's values */
    PetscErrorCode In(size_t bytes, const void *h, void *d)
    {
      PetscFunctionBegin;
      PetscCall(Room(bytes, const_cast<void *>(h), d));
      if (bytes && *(void **)d != h) PetscCall((*Back::Ops()->memory->Copy)(NULL, *(void **)d, h, bytes, HOPS_COPY_IN));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    /* for results, which Out() brings to h; NULL: they stay */
    PetscErrorCode Room(size_t bytes, void *h, void *d)
    {
      PetscFunctionBegin;
      *(void **)d = h && Here() ? h : NULL;
      if (!bytes || *(void **)d) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall((*Back::Ops()->memory->PoolMalloc)(bytes, (void **)d));
      array[n++] = *(void **)d;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscErrorCode Free()
    {
      PetscFunctionBegin;
      while (n) PetscCall((*Back::Ops()->memory->PoolFree)(&array[--n]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  };

  static PetscErrorCode Out(void *h, const void *d, size_t bytes)
  {
    return h == d ? PETSC_SUCCESS : (*Back::Ops()->memory->Copy)(NULL, h, d, bytes, HOPS_COPY_OUT);
  }

  static HopsLanesPatchData Data(HopsH1Operator k)
  {
    HopsLanesPatchData a = {};

    a.points.dim        = k->args.dim;
    a.points.Q          = k->args.Q;
    a.points.nq         = HopsLanesPower(k->args.Q, k->args.dim);
    a.points.derivative = k->args.diffusion;
    a.points.mass       = k->args.mass;
    a.points.w          = k->args.w;
    a.ncomp             = k->setup.ncomp;
    a.q                 = k->args.qdata;
    return a;
  }

  /* bytes of a cell's data in scratch */
  static size_t CellBytes(const HopsLanesPatchData &a)
  {
    return Back::Team::group == 1 ? 0 : (size_t)a.ncomp * a.points.nq * sizeof(double);
  }

  static int Rows(PetscInt n, int lanes)
  {
    return (int)((n + lanes / HOPS_LANES_ROW - 1) / (lanes / HOPS_LANES_ROW));
  }

  static PetscErrorCode Models(HopsOperator A, HopsPatchCell models[])
  {
    HopsH1Operator           k      = (HopsH1Operator)A;
    const HopsLanesPatchData a      = Data(k);
    const size_t             bytes  = k->ncells * sizeof(HopsPatchCell);
    Arrays                   arrays = {};
    HopsPatchCell           *d;

    PetscFunctionBegin;
    if (!k->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.Room(bytes, models, &d));
    PetscCall(Back::Teams("HopsPatchModels", Rows(k->ncells, HopsLanesOf(HopsPatchModelsOf::lanes)), CellBytes(a),
                          HopsPatchModelsOf{a, (int)k->ncells, d}));
    PetscCall(Out(models, d, bytes));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Elements(HopsOperator A, const HopsBasis *b, PetscInt n, const PetscInt cells[], PetscReal E[])
  {
    HopsH1Operator           k = (HopsH1Operator)A;
    const HopsLanesPatchData a = Data(k);
    const int                P = (int)b->P, nt = 4 * (int)b->Q * P * P;
    const size_t             nn    = (size_t)HopsLanesPower(P, a.points.dim);
    const int                pair  = HopsPatchElementScratch(a.points.dim, P, a.points.Q);
    const int                chunk = PetscMax(1, PetscMin(P * P, 6144 / pair)); /* pairs in x at a time, in 48 kB */
    const size_t             nwork = (size_t)pair * chunk, bytes = sizeof(double) * nwork + CellBytes(a);
    Arrays                   arrays = {};
    double                  *T, *dT;
    PetscInt                *dcells;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(bytes <= Back::MostScratch(), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Dense patches of order %d with %d quadrature points in a direction do not fit on the device: use "
               "-pc_patchfd_dense_max 0, or -hops_backend host",
               P - 1, a.points.Q);
    PetscCall(PetscMalloc1(nt, &T));
    HopsPatchElementTables(P, (int)b->Q, b->B, b->D, T);
    PetscCall(arrays.In(nt * sizeof(double), T, &dT));
    PetscCall(arrays.In(n * sizeof(PetscInt), cells, &dcells));
    PetscCall(Back::Teams("HopsPatchElements", (int)n, bytes, HopsPatchElementsOf{a, P, dT, dcells, chunk, nn * nn, nwork, E}));
    PetscCall(arrays.Free());
    PetscCall(PetscFree(T));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Hang(const HopsHanging *h, PetscInt n, const PetscInt at[], const unsigned short mask[], PetscReal E[])
  {
    HopsPatchHangOf f      = {*h, NULL, NULL, (size_t)h->ne * h->ne, E};
    Arrays          arrays = {};
    const double   *J;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.In((size_t)h->P * h->P * sizeof(double), h->J[0], &J));
    f.h.J[0] = const_cast<double *>(J);
    PetscCall(arrays.In(n * sizeof(PetscInt), at, &f.at));
    PetscCall(arrays.In(n * sizeof(*mask), mask, &f.mask));
    PetscCall(Back::Teams("HopsPatchHang", (int)n, 0, f));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Corners(const HopsPatchNodes *m, const PetscInt corner[], PetscInt n, int number[])
  {
    const int          nv     = 1 << m->dim;
    const size_t       total  = (size_t)n * nv;
    HopsPatchCornersOf f      = {*m, nv, {0}, NULL};
    Arrays             arrays = {};

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    for (int v = 0; v < nv; ++v) f.corner[v] = (int)corner[v];
    PetscCall(arrays.Room(total * sizeof(int), number, &f.number));
    PetscCall(Back::Each("HopsPatchCorners", total, f));
    PetscCall(Out(number, f.number, total * sizeof(int)));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Lacks(const HopsPatchNodes *m, int last, int other, PetscInt n, unsigned char lacks[])
  {
    return n ? Back::Each("HopsPatchLacks", n, HopsPatchLacksOf{*m, last, other, lacks}) : PETSC_SUCCESS;
  }

  static PetscErrorCode Stars(const HopsPatchVertices *m, HopsPatchStar star[], unsigned char faults[], HopsPatchFit fit[])
  {
    const int        dim = m->corners.dim, derivative = m->derivative ? 1 : 0;
    const PetscInt   n = m->n, total = m->ncells * m->corners.nv;
    HopsPatchCorners corners = m->corners;
    Arrays           arrays  = {};
    PetscInt        *start, *list;
    HopsPatchCell   *data;
    double          *logs;
    HopsPatchStar   *dstar;
    HopsPatchFit    *dfit;
    unsigned char   *dfaults;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.In(total * sizeof(PetscInt), m->corners.vid, &corners.vid));
    if (m->corners.home) {
      PetscCall(arrays.In(2 * m->ncells * sizeof(PetscInt), m->corners.home, &corners.home));
      PetscCall(arrays.In((size_t)total * dim * sizeof(double), m->corners.x, &corners.x));
    }
    PetscCall(arrays.In((n + 1) * sizeof(PetscInt), m->start, &start));
    PetscCall(arrays.In(m->start[n] * sizeof(PetscInt), m->list, &list));
    PetscCall(arrays.Room(n * sizeof(HopsPatchStar), star, &dstar));
    PetscCall(arrays.Room(n, faults, &dfaults));
    PetscCall(Back::Each("HopsPatchStars", n, HopsPatchStarsOf{corners, start, list, dstar}));
    PetscCall(Back::Teams("HopsPatchFaults", Rows(n, HopsLanesOf(HopsPatchFaultsOf::lanes)), 0,
                          HopsPatchFaultsOf{m->nodes, m->all ? 1 : 0, (int)n, dstar, dfaults}));
    PetscCall(arrays.In(m->ncells * sizeof(HopsPatchCell), m->data, &data));
    PetscCall(arrays.Room((size_t)4 * m->ncells * sizeof(double), NULL, &logs));
    PetscCall(arrays.Room(n * sizeof(HopsPatchFit), fit, &dfit));
    PetscCall(Back::Each("HopsPatchLogs", m->ncells, HopsPatchLogsOf{dim, derivative, data, logs}));
    PetscCall(Back::Each("HopsPatchFits", n, HopsPatchFitsOf{dim, derivative, data, logs, dstar, dfit}));
    PetscCall(Out(star, dstar, n * sizeof(HopsPatchStar)));
    PetscCall(Out(faults, dfaults, n));
    PetscCall(Out(fit, dfit, n * sizeof(HopsPatchFit)));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Uncovered(const HopsPatchNodes *m, int last, PetscInt n, unsigned char covered[])
  {
    Arrays         arrays = {};
    unsigned char *d;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.In(n, covered, &d));
    PetscCall(Back::Each("HopsPatchUncovered", n, HopsPatchUncoveredOf{*m, last, d}));
    PetscCall(Out(covered, d, n));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Extents(const HopsPatchMaps *m, PetscInt n, PetscReal extent[])
  {
    Arrays  arrays = {};
    double *d;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.Room((size_t)3 * n * sizeof(double), extent, &d));
    PetscCall(Back::Each("HopsPatchExtents", n, HopsPatchExtentsOf{*m, d}));
    PetscCall(Out(extent, d, (size_t)3 * n * sizeof(double)));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Positions(const HopsPatchMaps *m, PetscInt n, const PetscInt cells[], PetscReal x[])
  {
    const size_t total  = (size_t)n * m->nv * m->dim;
    Arrays       arrays = {};
    PetscInt    *c;
    double      *d;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arrays.In(n * sizeof(PetscInt), cells, &c));
    PetscCall(arrays.Room(total * sizeof(double), x, &d));
    PetscCall(Back::Each("HopsPatchPositions", total, HopsPatchPositionsOf{*m, c, d}));
    PetscCall(Out(x, d, total * sizeof(double)));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Lists(const HopsPatchLists *l, int idx[], int eidx[])
  {
    HopsLanesPatchLists a      = {};
    Arrays              arrays = {};
    size_t              bytes;

    PetscFunctionBegin;
    if (!l->n) PetscFunctionReturn(PETSC_SUCCESS);
    a.n     = (int)l->n;
    a.nodes = l->nodes;
    a.idx   = idx;
    a.eidx  = eidx;
    for (PetscInt k = 0; k < l->n; ++k)
      if (l->star[k].sorted) a.nmax = PetscMax(a.nmax, (int)(l->start[k + 1] - l->start[k]));
    bytes = HOPS_LANES_PATCH_BYTES(a.nmax * sizeof(int));
    PetscCheck(bytes <= Back::MostScratch(), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A dense patch of %d unknowns is too large for the device: lower -pc_patchfd_dense_max, or use -hops_backend host",
               a.nmax);
    PetscCall(arrays.In(l->n * sizeof(HopsPatchStar), l->star, &a.star));
    PetscCall(arrays.In((l->n + 1) * sizeof(PetscInt), l->start, &a.start));
    PetscCall(arrays.In((l->n + 1) * sizeof(PetscInt), l->estart, &a.estart));
    PetscCall(arrays.In(l->ngiven * sizeof(int), l->given, &a.given));
    PetscCall(Back::Teams("HopsPatchLists", a.n, bytes, HopsPatchListsOf{a}));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Pivots at a time of matrices of n unknowns, beside `more` bytes of scratch, and the bytes of both: so
     many that scratch is the team's own on a device */
  static PetscErrorCode InvertBlock(int n, size_t more, const char option[], int *b, size_t *bytes)
  {
    PetscFunctionBegin;
    for (*b = 16; *b > 1 && sizeof(double) * HopsPatchInvertScratch(n, *b) + more > HOPS_LANES_PATCH_OWN;) *b /= 2;
    *bytes = HOPS_LANES_PATCH_BYTES(sizeof(double) * HopsPatchInvertScratch(n, *b) + more);
    PetscCheck(*bytes <= Back::MostScratch(), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A patch of %d unknowns is too large to be inverted on the device: lower %s, or use -hops_backend host", n, option);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Condense(const HopsPatchModes *m, PetscInt n, const HopsPatchCondensed cond[], PetscReal schur[],
                                 PetscInt *bad)
  {
    const int           none   = PETSC_MPI_INT_MAX;
    Arrays              arrays = {};
    HopsPatchModes      dm;
    HopsPatchCondensed *dcond;
    int                *dbad, first = none, nmax = 0, b;
    size_t              bytes;

    PetscFunctionBegin;
    *bad = -1;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    for (PetscInt k = 0; k < n; ++k) nmax = PetscMax(nmax, cond[k].n);
    PetscCall(InvertBlock(nmax, 0, "-pc_patchfd_condense_max", &b, &bytes));
    PetscCall(HopsLanesModesToBack(Back::Ops(), m, &dm));
    PetscCall(arrays.In(n * sizeof(HopsPatchCondensed), cond, &dcond));
    PetscCall(arrays.In(sizeof(int), &first, &dbad));
    PetscCall(Back::Teams("HopsPatchCondense", (int)n, bytes, HopsPatchCondenseOf{dm, dcond, schur, b, dbad}));
    PetscCall(Out(&first, dbad, sizeof(int)));
    if (first != none) *bad = first;
    PetscCall(HopsLanesModesFree(Back::Ops(), &dm));
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Matrices(const HopsPatchMatrices *m, Arrays *arrays, HopsLanesPatchMatrices *a)
  {
    PetscFunctionBegin;
    *a       = {};
    a->n     = (int)m->n;
    a->nodes = m->nodes;
    a->list  = m->list;
    a->E     = m->E;
    for (PetscInt k = 0; k < m->n; ++k) a->nmax = PetscMax(a->nmax, (int)m->size[k]);
    PetscCall(arrays->In(m->n * sizeof(PetscInt), m->start, &a->start));
    PetscCall(arrays->In(m->n * sizeof(PetscInt), m->size, &a->size));
    PetscCall(arrays->In((m->n + 1) * sizeof(PetscInt), m->cstart, &a->cstart));
    PetscCall(arrays->In(m->cstart[m->n] * sizeof(int), m->cell, &a->cell));
    PetscCall(arrays->In(m->ncells * sizeof(PetscInt), m->cells, &a->cells));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Products(const HopsPatchMatrices *m, const PetscReal w[], PetscReal t[])
  {
    HopsPatchProductsOf f      = {};
    Arrays              arrays = {};
    PetscInt           *first;

    PetscFunctionBegin;
    if (!m->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc1(m->n + 1, &first));
    first[0] = 0;
    for (PetscInt k = 0; k < m->n; ++k) first[k + 1] = first[k] + m->size[k];
    PetscCall(Matrices(m, &arrays, &f.m));
    PetscCall(arrays.In(m->n * sizeof(PetscInt), first, &f.first));
    PetscCall(arrays.In(first[m->n] * sizeof(double), w, &f.w));
    PetscCall(arrays.Room(first[m->n] * sizeof(double), t, &f.t));
    PetscCall(Back::Teams("HopsPatchProducts", f.m.n, HOPS_LANES_PATCH_BYTES((sizeof(double) + sizeof(int)) * m->nodes.nn), f));
    PetscCall(Out(t, f.t, first[m->n] * sizeof(double)));
    PetscCall(arrays.Free());
    PetscCall(PetscFree(first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Invert(const HopsPatchMatrices *m, PetscReal inv[], PetscInt *bad)
  {
    const int              none   = PETSC_MPI_INT_MAX;
    HopsLanesPatchMatrices a      = {};
    Arrays                 arrays = {};
    int                    first  = none, b;
    size_t                 bytes;

    PetscFunctionBegin;
    *bad = -1;
    if (!m->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Matrices(m, &arrays, &a));
    a.inv = inv;
    PetscCall(InvertBlock(a.nmax, sizeof(int) * m->nodes.nn, "-pc_patchfd_dense_max", &b, &bytes));
    PetscCall(arrays.In(m->n * sizeof(size_t), m->offset, &a.offset));
    PetscCall(arrays.In(sizeof(int), &first, &a.bad));
    PetscCall(Back::Teams("HopsPatchInvert", a.n, bytes, HopsPatchInvertOf{a, b}));
    PetscCall(Out(&first, a.bad, sizeof(int)));
    if (first != none) *bad = first;
    PetscCall(arrays.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#define HOPS_LANES_PATCH_SETUP(Back) \
  { \
    HopsLanesPatchSetUp<Back>::Models, HopsLanesPatchSetUp<Back>::Elements, HopsLanesPatchSetUp<Back>::Hang, \
      HopsLanesPatchSetUp<Back>::Corners, HopsLanesPatchSetUp<Back>::Lacks, HopsLanesPatchSetUp<Back>::Stars, \
      HopsLanesPatchSetUp<Back>::Uncovered, HopsLanesPatchSetUp<Back>::Extents, HopsLanesPatchSetUp<Back>::Positions, \
      HopsLanesPatchSetUp<Back>::Lists, HopsLanesPatchSetUp<Back>::Condense, HopsLanesPatchSetUp<Back>::Products, \
      HopsLanesPatchSetUp<Back>::Invert \
  }
