/*
  Inverses of patches' matrices. Adaptive meshes have few kinds of stars, and many of each: patches with equal
  matrices share an inverse. Their unknowns are put into an order that depends on the star alone, as its cells
  meet them, cells by their places. Matrices are taken for equal whose products with one vector, which has no
  symmetries, agree in each row; so none is made for that. Others would have to differ by a matrix that takes
  this vector to nothing. The inverse would be another one's then, and the preconditioner a worse one.
*/
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsblas.h>

/* Distinct inverses; places are found by keys, in a table that is a quarter full at most */
struct _HopsPatchInverses {
  PetscInt    n, size, *place;        /* place[size]: number in the next ones, -1 */
  PetscInt   *order, *offset, *first; /* [n] of the matrix; where the inverse begins in inv; and in the next two */
  int        *met;                    /* the unknowns of the patch whose inverse it is, as its cells meet them */
  PetscReal  *t;                      /* the product, in this order */
  PetscInt    nmet, mmet;
  PetscInt64 *key, most; /* [n]; entries that there is room for */
  int        *at;        /* [nP] -1, but for the patch that is worked on */
  PetscInt    npatches;  /* that have come so far */
  PetscBool   moved;     /* lists were put into another order */
};

PetscErrorCode HopsPatchInversesCreate(HopsPatches pt, HopsPatchInverses *have)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(have));
  PetscCall(PetscMalloc1(pt->nP, &(*have)->at));
  for (PetscInt i = 0; i < pt->nP; ++i) (*have)->at[i] = -1;
  (*have)->most = pt->ninv;
  pt->ninv      = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchInversesDestroy(HopsPatches pt, HopsPatchInverses *have)
{
  const HopsBackendOps *be = pt->space->backend;

  PetscFunctionBegin;
  if (!*have) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pt->space, "%" PetscInt_FMT " distinct inverses for %" PetscInt_FMT " patches, %" PetscInt_FMT " entries\n",
                      (*have)->n, (*have)->npatches, pt->ninv));
  if ((*have)->moved && pt->hidx) PetscCall((*be->memory->Copy)(NULL, pt->idx, pt->hidx, pt->nent * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree((*have)->place));
  PetscCall(PetscFree((*have)->order));
  PetscCall(PetscFree((*have)->offset));
  PetscCall(PetscFree((*have)->first));
  PetscCall(PetscFree((*have)->key));
  PetscCall(PetscFree((*have)->met));
  PetscCall(PetscFree((*have)->t));
  PetscCall(PetscFree((*have)->at));
  PetscCall(PetscFree(*have));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first place of a key, or one to put it */
static PetscInt Place(const struct _HopsPatchInverses *have, PetscInt64 key)
{
  PetscInt s = (PetscInt)((size_t)key % (size_t)have->size);

  while (have->place[s] >= 0 && have->key[have->place[s]] != key) s = (s + 1) % have->size;
  return s;
}

static PetscErrorCode Grow(HopsPatchInverses have)
{
  PetscFunctionBegin;
  have->size = PetscMax(64, 8 * have->size);
  PetscCall(PetscRealloc(have->size * sizeof(PetscInt), &have->place));
  PetscCall(PetscRealloc(have->size / 4 * sizeof(PetscInt), &have->order));
  PetscCall(PetscRealloc(have->size / 4 * sizeof(PetscInt), &have->offset));
  PetscCall(PetscRealloc(have->size / 4 * sizeof(PetscInt), &have->first));
  PetscCall(PetscRealloc(have->size / 4 * sizeof(*have->key), &have->key));
  for (PetscInt s = 0; s < have->size; ++s) have->place[s] = -1;
  for (PetscInt i = 0; i < have->n; ++i) have->place[Place(have, have->key[i])] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room in inv[] for what there will be */
static PetscErrorCode Reserve(HopsPatches pt, PetscInt before, HopsPatchInverses have)
{
  const HopsMemoryOps *memory = pt->space->backend->memory;
  PetscReal           *inv;

  PetscFunctionBegin;
  if (pt->ninv <= have->most) PetscFunctionReturn(PETSC_SUCCESS);
  have->most = PetscMax((PetscInt64)pt->ninv, have->most + have->most / 2);
  PetscCall((*memory->Malloc)((size_t)have->most * sizeof(PetscReal), (void **)&inv));
  if (before) PetscCall((*memory->Copy)(NULL, inv, pt->inv, before * sizeof(PetscReal), HOPS_COPY_WITHIN));
  PetscCall((*memory->Free)((void **)&pt->inv));
  pt->inv = inv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A becomes its inverse; *bad: it is not positive definite, and lost */
static PetscErrorCode Invert(PetscInt n, PetscReal A[], PetscBool *bad)
{
  PetscBLASInt bn, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCallBLAS("LAPACKpotrf", HopsLAPACKpotrf("U", &bn, A, &bn, &info));
  *bad = info ? PETSC_TRUE : PETSC_FALSE;
  if (*bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallBLAS("LAPACKpotri", HopsLAPACKpotri("U", &bn, A, &bn, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK potri failed: %d", (int)info);
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt l = 0; l < i; ++l) A[l * n + i] = A[i * n + l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscReal x[3];
  int       cell;
} Placed;

/* Centres are compared to an eighth of the least distance of one from its corner */
PetscErrorCode HopsPatchCellsArrange(const HopsPatchCells *pc, const PetscInt cells[], PetscInt n, int cell[])
{
  const PetscInt dim = pc->space->dim;
  PetscReal      tol = PETSC_MAX_REAL;
  Placed        *p;

  PetscFunctionBegin;
  if (!pc->x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &p));
  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal *x    = pc->x + cells[cell[k]] * pc->nv * dim;
    PetscReal        size = 0.0;

    p[k] = (Placed){.cell = cell[k]};
    for (PetscInt d = 0; d < dim; ++d) {
      for (PetscInt v = 0; v < pc->nv; ++v) p[k].x[d] += x[v * dim + d] / pc->nv;
      size = PetscMax(size, PetscAbsReal(x[d] - p[k].x[d]));
    }
    tol = PetscMin(tol, size / 8);
  }
  for (PetscInt k = 1; k < n; ++k) { /* by insertion: they are few */
    const Placed me = p[k];
    PetscInt     i  = k;

    for (; i > 0; --i) {
      PetscInt d = 0;

      while (d < dim - 1 && PetscAbsReal(me.x[d] - p[i - 1].x[d]) <= tol) ++d;
      if (me.x[d] >= p[i - 1].x[d] - tol) break;
      p[i] = p[i - 1];
    }
    p[i] = me;
  }
  for (PetscInt k = 0; k < n; ++k) cell[k] = p[k].cell;
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A direction that no symmetry of a matrix has */
static PetscReal Direction(PetscInt i)
{
  const PetscReal x = 0.6180339887498949 * (i + 1);

  return 0.5 + x - PetscFloorReal(x);
}

/* order[]: the unknowns list[n] of patch k as its cells meet them */
static void Order(const HopsPatchMatrices *m, PetscInt k, const HopsPatchNodes *nodes, const int list[], int at[], int order[])
{
  const int n     = (int)m->size[k];
  int       found = 0;

  for (int i = 0; i < n; ++i) at[list[i]] = i;
  for (PetscInt c = m->cstart[k]; c < m->cstart[k + 1]; ++c)
    for (int i = 0; i < m->nn; ++i) {
      int *to = at + HopsPatchCellEntry(nodes, (int)m->cells[m->cell[c]], i);

      if (*to >= 0) order[found++] = *to;
      *to = -1;
    }
  for (int i = 0; i < n; ++i) at[list[i]] = -1; /* what no cell met would be another patch's */
  for (; found < n; ++found) order[found] = 0;  /* twice there, on one periodic cell: the matrix is singular */
}

/* Equal for products t[n] that differ by rounding errors, nearly always; t is put into that order */
static PetscInt64 Key(PetscInt n, const int order[], PetscReal t[], PetscReal work[])
{
  PetscReal  form = 0.0, square = 0.0;
  PetscInt64 bits[3];

  for (PetscInt i = 0; i < n; ++i) work[i] = t[order[i]];
  for (PetscInt i = 0; i < n; ++i) {
    t[i] = work[i];
    form += t[i] * Direction(i);
    square += t[i] * t[i];
  }
  bits[0] = n;
  bits[1] = HopsPatchBits(form);
  bits[2] = HopsPatchBits(square);
  return HopsHashBits(sizeof(bits), bits, 0);
}

static PetscBool Same(PetscInt n, const PetscReal s[], const PetscReal t[])
{
  /* row by row: coefficients of neighbours may differ by any factor */
  for (PetscInt i = 0; i < n; ++i)
    if (!(PetscAbsReal(s[i] - t[i]) <= 1e-9 * PetscAbsReal(s[i]))) return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscErrorCode HopsPatchInversesRefuse(char why[])
{
  PetscFunctionBegin;
  PetscCall(HopsRefuse(why,
                       "The inverses of a rank's dense patches take more than %" PetscInt_FMT
                       " entries: lower -pc_patchfd_dense_max, or use more ranks",
                       PETSC_INT_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new inverse, of patch j, at the place s; a matrix with the key of another one takes its place */
static PetscErrorCode Add(HopsPatches pt, PetscInt j, PetscInt s, PetscInt64 key, const int order[], const PetscReal t[],
                          HopsPatchInverses have)
{
  const PetscInt n = pt->start[j + 1] - pt->start[j];

  PetscFunctionBegin;
  if (have->nmet + n > have->mmet) {
    have->mmet = PetscMax(have->nmet + n, 2 * have->mmet);
    PetscCall(PetscRealloc(have->mmet * sizeof(int), &have->met));
    PetscCall(PetscRealloc(have->mmet * sizeof(PetscReal), &have->t));
  }
  PetscCall(PetscArraycpy(have->met + have->nmet, order, n));
  PetscCall(PetscArraycpy(have->t + have->nmet, t, n));
  have->key[have->n]    = key;
  have->order[have->n]  = n;
  have->first[have->n]  = have->nmet;
  have->offset[have->n] = pt->dense[j] = pt->ninv;
  have->place[s]                       = have->n++;
  have->nmet += n;
  pt->ninv += n * n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of patch j: what is met at first comes where the other patch has it */
static void Permute(HopsPatches pt, PetscInt j, const int to[], const int from[], int list[], int work[])
{
  const PetscInt n    = pt->start[j + 1] - pt->start[j];
  unsigned char *dist = pt->dist ? pt->dist + pt->start[j] : NULL;

  for (PetscInt i = 0; i < n; ++i) work[to[i]] = list[from[i]];
  for (PetscInt i = 0; i < n; ++i) list[i] = work[i];
  if (!dist) return;
  for (PetscInt i = 0; i < n; ++i) work[to[i]] = dist[from[i]];
  for (PetscInt i = 0; i < n; ++i) dist[i] = (unsigned char)work[i];
}

/* Of all patches the orders, and products A w, w being that direction in this order */
static PetscErrorCode Products(HopsPatches pt, const HopsPatchCells *pc, const HopsPatchMatrices *m, const int idx[], int at[],
                               int order[], PetscReal t[])
{
  PetscReal *w;
  PetscInt   n = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < m->n; ++k) n += m->size[k];
  PetscCall(PetscCalloc1(n, &w));
  n = 0;
  for (PetscInt k = 0; k < m->n; n += m->size[k++]) {
    Order(m, k, &pc->nodes, idx + m->start[k], at, order + n);
    for (PetscInt i = 0; i < m->size[k]; ++i) w[n + order[n + i]] = Direction(i);
  }
  PetscCall((*HopsPatchSetUpOf(pt->space)->Products)(m, w, t));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchInversesFind(HopsPatches pt, const HopsPatchCells *pc, const HopsPatchMatrices *m, const PetscInt dense[],
                                     HopsPatchInverses have, PetscInt *nfresh, PetscInt fresh[], char why[])
{
  const PetscInt before = pt->ninv;
  const int     *idx;
  PetscInt       nmax = 0, all = 0;
  int           *order, *work;
  PetscReal     *t, *moved;

  PetscFunctionBegin;
  PetscCall(HopsPatchesBringLists(pt, &idx));
  for (PetscInt k = 0; k < m->n; ++k) {
    nmax = PetscMax(nmax, m->size[k]);
    all += m->size[k];
  }
  PetscCall(PetscMalloc4(all, &order, all, &t, nmax, &work, nmax, &moved));
  PetscCall(Products(pt, pc, m, idx, have->at, order, t));
  have->npatches += m->n;
  *nfresh = all = 0;
  for (PetscInt k = 0; k < m->n && !why[0]; all += m->size[k++]) {
    const PetscInt   j = dense[k], n = m->size[k];
    const PetscInt64 key = Key(n, order + all, t + all, moved);
    PetscInt         s, i;

    if (4 * have->n >= have->size) PetscCall(Grow(have));
    s = Place(have, key);
    i = have->place[s];
    if (i >= 0 && have->order[i] == n && Same(n, have->t + have->first[i], t + all)) {
      pt->dense[j] = have->offset[i];
      Permute(pt, j, have->met + have->first[i], order + all, (pt->hidx ? pt->hidx : pt->idx) + pt->start[j], work);
      have->moved = PETSC_TRUE;
    } else if (pt->ninv + PetscSqr((PetscInt64)n) >= PETSC_INT_MAX) PetscCall(HopsPatchInversesRefuse(why));
    else {
      PetscCall(Add(pt, j, s, key, order + all, t + all, have));
      fresh[(*nfresh)++] = k;
    }
  }
  PetscCall(Reserve(pt, before, have));
  PetscCall(PetscFree4(order, t, work, moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesProductsHost(const HopsPatchMatrices *m, const PetscReal w[], PetscReal t[])
{
  int       *row;
  PetscReal *wc;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m->nn, &row, m->nn, &wc));
  for (PetscInt k = 0, n = 0; k < m->n; n += m->size[k++])
    HopsPatchProduct(&m->nodes, (int)m->size[k], m->list + m->start[k], (int)(m->cstart[k + 1] - m->cstart[k]),
                     m->cell + m->cstart[k], m->cells, m->E, w + n, row, wc, t + n, 0, 1);
  PetscCall(PetscFree2(row, wc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesInvertHost(const HopsPatchMatrices *m, PetscReal inv[], PetscInt *bad)
{
  int      *row;
  PetscBool fails = PETSC_FALSE;

  PetscFunctionBegin;
  *bad = -1;
  PetscCall(PetscMalloc1(m->nn, &row));
  for (PetscInt k = 0; k < m->n && *bad < 0; ++k) {
    PetscReal *A = inv + m->offset[k];

    HopsPatchAssemble(&m->nodes, (int)m->size[k], m->list + m->start[k], (int)(m->cstart[k + 1] - m->cstart[k]),
                      m->cell + m->cstart[k], m->cells, m->E, row, A, 0, 1);
    PetscCall(Invert(m->size[k], A, &fails));
    if (fails) *bad = k;
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
