/*
  Inverses of patches' matrices on the host, by LAPACK. Adaptive meshes have few kinds of stars, and many of
  each: patches with equal matrices share an inverse. For that the unknowns of a patch are put into an order
  that depends on the star alone, as its cells meet them, cells by their places.
*/
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsblas.h>

/* Distinct inverses; places are found by keys, in a table that is a quarter full at most */
struct _HopsPatchInverses {
  PetscInt    n, size, *place; /* place[size]: number in the next ones, -1 */
  PetscInt   *order, *offset;  /* [n] of the matrix; where it begins in inv */
  PetscInt64 *key;
  PetscInt64  most; /* entries that there is room for */
};

PetscErrorCode HopsPatchInversesCreate(HopsPatches pt, HopsPatchInverses *have)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(have));
  (*have)->most = pt->ninv;
  pt->ninv      = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchInversesDestroy(HopsPatches pt, HopsPatchInverses *have)
{
  PetscFunctionBegin;
  if (!*have) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pt->space, "%" PetscInt_FMT " distinct inverses of %" PetscInt_FMT " entries\n", (*have)->n, pt->ninv));
  PetscCall(PetscFree((*have)->place));
  PetscCall(PetscFree((*have)->order));
  PetscCall(PetscFree((*have)->offset));
  PetscCall(PetscFree((*have)->key));
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
  PetscCall(PetscRealloc(have->size / 4 * sizeof(PetscInt64), &have->key));
  for (PetscInt s = 0; s < have->size; ++s) have->place[s] = -1;
  for (PetscInt i = 0; i < have->n; ++i) have->place[Place(have, have->key[i])] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the inverse of n unknowns more */
static PetscErrorCode Reserve(HopsPatches pt, PetscInt n, HopsPatchInverses have)
{
  const HopsMemoryOps *memory = pt->space->backend->memory;
  const PetscInt64     total  = pt->ninv + PetscSqr((PetscInt64)n);
  PetscReal           *inv;

  PetscFunctionBegin;
  PetscCheck(total < PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inverses of dense patches take more than %" PetscInt_FMT
             " entries: lower -pc_patchfd_dense_max, or use more ranks",
             PETSC_INT_MAX);
  if (total <= have->most) PetscFunctionReturn(PETSC_SUCCESS);
  have->most = PetscMax(total, have->most + have->most / 2);
  PetscCall((*memory->Malloc)((size_t)have->most * sizeof(PetscReal), (void **)&inv));
  PetscCall(PetscArraycpy(inv, pt->inv, pt->ninv));
  PetscCall((*memory->Free)((void **)&pt->inv));
  pt->inv = inv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A direction that no symmetry of a matrix has */
static PetscReal Direction(PetscInt i)
{
  const PetscReal x = 0.6180339887498949 * (i + 1);

  return 0.5 + x - PetscFloorReal(x);
}

/* Equal for matrices that differ by rounding errors, nearly always. t = A w for directions w */
static PetscInt64 Key(PetscInt n, const PetscReal A[], PetscReal t[])
{
  PetscReal  form = 0.0, trace = 0.0;
  PetscInt64 bits[3];

  for (PetscInt i = 0; i < n; ++i) {
    t[i] = 0.0;
    for (PetscInt j = 0; j < n; ++j) t[i] += A[i * n + j] * Direction(j);
    form += t[i] * Direction(i);
    trace += A[i * n + i];
  }
  bits[0] = n;
  bits[1] = HopsPatchBits(form);
  bits[2] = HopsPatchBits(trace);
  return HopsHashBits(sizeof(bits), bits, 0);
}

/* inv t = w? */
static PetscBool Inverts(PetscInt n, const PetscReal inv[], const PetscReal t[])
{
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal w = 0.0;

    for (PetscInt j = 0; j < n; ++j) w += inv[i * n + j] * t[j];
    if (!(PetscAbsReal(w - Direction(i)) <= 1e-9)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
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

/* order[]: the unknowns list[n] as the cells meet them */
static void Order(const HopsPatchMatrices *m, PetscInt k, PetscInt n, const int list[], PetscBool seen[], PetscInt order[])
{
  PetscInt found = 0;

  for (PetscInt i = 0; i < n; ++i) seen[i] = PETSC_FALSE;
  for (PetscInt c = m->cstart[k]; c < m->cstart[k + 1]; ++c)
    for (int i = 0; i < m->nn; ++i) {
      const int at = HopsPatchFind((int)n, list, HopsPatchCellEntry(&m->nodes, (int)m->cells[m->cell[c]], i));

      if (at < 0 || seen[at]) continue;
      seen[at]       = PETSC_TRUE;
      order[found++] = at;
    }
  for (PetscInt i = 0; i < n; ++i)
    if (!seen[i]) order[found++] = i; /* twice in the list, on a periodic mesh of one cell: the matrix is singular */
}

/* The lists of patch j, in that order */
static void Permute(HopsPatches pt, PetscInt j, PetscInt n, const PetscInt order[], int work[])
{
  int *list = pt->idx + pt->start[j];

  for (PetscInt i = 0; i < n; ++i) work[i] = list[order[i]];
  for (PetscInt i = 0; i < n; ++i) list[i] = work[i];
  if (!pt->dist) return;
  for (PetscInt i = 0; i < n; ++i) work[i] = pt->dist[pt->start[j] + order[i]];
  for (PetscInt i = 0; i < n; ++i) pt->dist[pt->start[j] + i] = (unsigned char)work[i];
}

PetscErrorCode HopsPatchesInvertHost(HopsPatches pt, const HopsPatchMatrices *m, const PetscInt dense[], HopsPatchInverses have,
                                     PetscInt *bad)
{
  PetscInt   nmax = 0, *order;
  int       *row, *work;
  PetscBool *seen, fails = PETSC_FALSE;
  PetscReal *A, *B, *t;

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt k = 0; k < m->n; ++k) nmax = PetscMax(nmax, m->size[k]);
  PetscCall(PetscMalloc4(m->nn, &row, nmax, &work, nmax, &seen, nmax, &order));
  PetscCall(PetscMalloc3(nmax * nmax, &A, nmax * nmax, &B, nmax, &t));
  for (PetscInt k = 0; k < m->n && *bad < 0; ++k) {
    const PetscInt n = m->size[k];
    PetscInt       s;
    PetscInt64     key;

    HopsPatchAssemble(&m->nodes, (int)n, m->list + m->start[k], (int)(m->cstart[k + 1] - m->cstart[k]), m->cell + m->cstart[k],
                      m->cells, m->E, row, A, 0, 1);
    Order(m, k, n, m->list + m->start[k], seen, order);
    Permute(pt, dense[k], n, order, work);
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt j = 0; j < n; ++j) B[i * n + j] = A[PetscMax(order[i], order[j]) * n + PetscMin(order[i], order[j])];
    key = Key(n, B, t);
    if (4 * have->n >= have->size) PetscCall(Grow(have));
    s = Place(have, key);
    if (have->place[s] >= 0 && have->order[have->place[s]] == n && Inverts(n, pt->inv + have->offset[have->place[s]], t)) {
      pt->dense[dense[k]] = have->offset[have->place[s]];
      continue;
    }
    PetscCall(Reserve(pt, n, have));
    PetscCall(Invert(n, B, &fails));
    if (fails) *bad = k;
    PetscCall(PetscArraycpy(pt->inv + pt->ninv, B, n * n));
    have->key[have->n]    = key;
    have->order[have->n]  = n;
    have->offset[have->n] = pt->dense[dense[k]] = pt->ninv;
    have->place[s]                              = have->n++; /* a matrix with the key of another one takes its place */
    pt->ninv += n * n;
  }
  PetscCall(PetscFree4(row, work, seen, order));
  PetscCall(PetscFree3(A, B, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
