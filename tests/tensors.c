static char help[] =
  "Operators of full tensors against the sums written out: all kinds of pairs of components between fields of several\n\
  orders, their transposes, diagonals, terms on faces, and an operator that shares the tensors of another.\n\
  -test_nc, -test_order, -trial_nc, -trial_order <list>: components and orders of the fields; -q <list>: points per direction\n\
  -backends <a,b>: both\n\n";

#include "backends.h"
#include <hops/private/hopsimpl.h>

#define MOST 12

typedef struct {
  PetscInt       n, nc[MOST], order[MOST];
  HopsSpace      sp[MOST];
  HopsBasis      basis[MOST];
  HopsTensorSide side[MOST];
  int           *restr[MOST]; /* the process's */
  PetscReal     *phi[MOST];   /* [1 + dim][point][node] functions and their derivatives at the points of a cell */
  PetscScalar   *x[MOST], *y[MOST];
} Fields;

typedef struct {
  HopsTensorData  data;
  HopsTensorPair *pair;
  PetscScalar    *q, *bq; /* [cell or face][entry][point]; the back end's */
} Block;

typedef enum {
  CELLS,
  DIAGONALS,
  SHARED_TENSORS,
  FACES,
  KINDS
} Kind;

typedef struct {
  PetscInt              dim, Q, ncells;
  const HopsBackendOps *be;
  Fields                f[2]; /* test, trial */
  PetscReal             worst[KINDS];
} Test;

/* Numbers without a pattern, the same ones each time */
static PetscReal Number(void)
{
  static unsigned int s = 12345;

  s = s * 1664525u + 1013904223u;
  return (PetscReal)(s >> 8) / (1 << 23) - 1.0;
}

/* products of one-dimensional functions; f[a][d][point][node] in direction d for derivative a - 1 */
static PetscReal *Products(PetscInt dim, PetscInt Q, PetscInt P, const PetscReal *const f[4][3], const PetscInt nq[3])
{
  const PetscInt np = nq[0] * nq[1] * (dim == 3 ? nq[2] : 1), nn = HopsPower(P, dim);
  PetscReal     *phi;

  if (PetscMalloc1((1 + dim) * np * nn, &phi)) return NULL;
  for (PetscInt a = 0; a <= dim; ++a)
    for (PetscInt p = 0; p < np; ++p)
      for (PetscInt n = 0; n < nn; ++n) {
        PetscReal v = 1.0;

        for (PetscInt d = 0, i = p, j = n; d < dim; i /= nq[d], j /= P, ++d) v *= f[a][d][i % nq[d] * P + j % P];
        phi[(a * np + p) * nn + n] = v;
      }
  return phi;
}

static PetscErrorCode FieldsCreate(Test *t, DM dm, PetscInt k, const char prefix[], const HopsBasis *rule)
{
  Fields   *f = &t->f[k];
  PetscInt  n = MOST;
  char      name[32];
  PetscBool set;

  PetscFunctionBeginUser;
  f->n = MOST;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%s_nc", prefix));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, name, f->nc, &f->n, &set));
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%s_order", prefix));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, name, f->order, &n, &set));
  PetscCheck(set && n == f->n, PETSC_COMM_WORLD, PETSC_ERR_USER, "%s: as many orders as components", name);
  for (PetscInt i = 0; i < f->n; ++i) {
    const PetscInt   P = f->order[i] + 1, nq[3] = {t->Q, t->Q, t->Q};
    const PetscReal *one[4][3], *X;

    PetscCall(HopsSpaceCreateH1(dm, f->order[i], NULL, 0, NULL, &f->sp[i]));
    PetscCall(HopsBasisCreateLike(P, rule, &f->basis[i]));
    f->side[i].nc    = f->nc[i];
    f->side[i].basis = &f->basis[i];
    f->side[i].nl    = f->sp[i]->nL;
    PetscCall(HopsSpaceGetBackendMesh(f->sp[i], &f->side[i].restr, &X));
    t->be     = f->sp[i]->backend;
    t->ncells = f->sp[i]->ncells;
    PetscCall((*t->be->memory->Malloc)(f->sp[i]->nL * f->nc[i] * sizeof(PetscScalar), (void **)&f->side[i].l));
    PetscCall(PetscMalloc1(t->ncells * HopsPower(P, t->dim), &f->restr[i]));
    PetscCall(
      (*t->be->memory->Copy)(NULL, f->restr[i], f->side[i].restr, t->ncells * HopsPower(P, t->dim) * sizeof(int), HOPS_COPY_OUT));
    PetscCall(PetscMalloc2(f->sp[i]->nL * f->nc[i], &f->x[i], f->sp[i]->nL * f->nc[i], &f->y[i]));
    for (PetscInt a = 0; a <= t->dim; ++a)
      for (PetscInt d = 0; d < 3; ++d) one[a][d] = a == d + 1 ? f->basis[i].D : f->basis[i].B;
    f->phi[i] = Products(t->dim, t->Q, P, one, nq);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FieldsDestroy(Test *t, PetscInt k)
{
  Fields *f = &t->f[k];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < f->n; ++i) {
    PetscCall((*t->be->memory->Free)((void **)&f->side[i].l));
    PetscCall(PetscFree(f->restr[i]));
    PetscCall(PetscFree(f->phi[i]));
    PetscCall(PetscFree2(f->x[i], f->y[i]));
    PetscCall(HopsBasisDestroy(&f->basis[i]));
    PetscCall(HopsSpaceDestroy(&f->sp[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pair of a kind; every second one has the entries of the last of its kind */
static void AddPair(PetscInt dim, PetscInt kind, PetscInt c, PetscInt d, Block *b)
{
  HopsTensorPair *pair = &b->pair[b->data.npairs];
  PetscInt        last = b->data.npairs - 1;

  *pair = (HopsTensorPair){(int)kind, (int)c, (int)d, (int)b->data.nentries};
  while (last >= 0 && b->pair[last].kind != kind) --last;
  if (b->data.npairs % 2 && last >= 0) pair->entry = b->pair[last].entry;
  else b->data.nentries += HopsTensorEntries(dim, kind);
  ++b->data.npairs;
}

/* Pairs of all kinds, of a component with itself too, with tensors on n cells or faces */
static PetscErrorCode BlockCreate(const Test *t, PetscInt test, PetscInt trial, PetscInt n, PetscInt nq, Block *b)
{
  const PetscInt nc = t->f[0].nc[test], nct = t->f[1].nc[trial];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  b->data.test  = test;
  b->data.trial = trial;
  PetscCall(PetscMalloc1(3 * nc, &b->pair));
  for (PetscInt c = 0; c < nc; ++c) {
    AddPair(t->dim, 3 - c % 4, c, c % nct, b);
    if (nct > 1) AddPair(t->dim, (c + test) % 4, c, (c + 1) % nct, b);
    AddPair(t->dim, (c + 1 + trial) % 4, c, c % nct, b);
  }
  b->data.pair = b->pair;
  PetscCall(PetscMalloc1(n * b->data.nentries * nq, &b->q));
  for (PetscInt i = 0; i < n * b->data.nentries * nq; ++i) b->q[i] = Number();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensors to where the operator has them */
static PetscErrorCode BlockUpload(const Test *t, PetscInt nq, const HopsTensorLayout *l, Block *b)
{
  const PetscInt ne = b->data.nentries, W = l->W;
  const size_t   size = (size_t)l->nb * W * ne * nq;
  PetscScalar   *q;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(size, &q));
  for (PetscInt i = 0; i < l->nb; ++i)
    for (PetscInt c = l->first[i]; c < l->first[i + 1]; ++c)
      for (PetscInt e = 0; e < ne; ++e)
        for (PetscInt p = 0; p < nq; ++p) {
          const PetscInt lane = c - l->first[i];

          q[l->points ? (((size_t)i * ne + e) * W + lane) * nq + p : (((size_t)i * nq + p) * ne + e) * W + lane] =
            b->q[((size_t)c * ne + e) * nq + p];
        }
  PetscCall((*t->be->memory->Malloc)(size * sizeof(PetscScalar), (void **)&b->bq));
  PetscCall((*t->be->memory->Copy)(NULL, b->bq, q, size * sizeof(PetscScalar), HOPS_COPY_IN));
  b->data.q = b->bq;
  PetscCall(PetscFree(q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlockDestroy(const Test *t, Block *b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(b->pair));
  PetscCall(PetscFree(b->q));
  PetscCall((*t->be->memory->Free)((void **)&b->bq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random x of one side where the back end works, zero on the other; expected sums begin with zero */
static PetscErrorCode Begin(Test *t, PetscInt in, PetscBool first)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k)
    for (PetscInt i = 0; i < t->f[k].n; ++i) {
      const PetscInt n = t->f[k].sp[i]->nL * t->f[k].nc[i];

      for (PetscInt j = 0; j < n; ++j) {
        if (first) t->f[k].x[i][j] = Number();
        t->f[k].y[i][j] = 0.0;
      }
      PetscCall((*t->be->memory->Copy)(NULL, t->f[k].side[i].l, k == in ? t->f[k].x[i] : t->f[k].y[i], n * sizeof(PetscScalar),
                                       HOPS_COPY_IN));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What came out against the expected sums */
static PetscErrorCode End(Test *t, PetscInt out, Kind what)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < t->f[out].n; ++i) {
    const PetscInt n    = t->f[out].sp[i]->nL * t->f[out].nc[i];
    PetscReal      size = 0.0, e = 0.0;
    PetscScalar   *l;

    PetscCall(PetscMalloc1(n, &l));
    PetscCall((*t->be->memory->Copy)(NULL, l, t->f[out].side[i].l, n * sizeof(PetscScalar), HOPS_COPY_OUT));
    for (PetscInt j = 0; j < n; ++j) {
      size = PetscMax(size, PetscAbsReal(t->f[out].y[i][j]));
      e    = TestWorse(e, PetscAbsReal(l[j] - t->f[out].y[i][j]));
    }
    t->worst[what] = TestWorse(t->worst[what], size > 0.0 ? e / size : e);
    PetscCall(PetscFree(l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += the form of a block on a cell, or on a face of it, with functions phi; or the matrix's diagonal */
static void Sums(Test *t, const Block *b, PetscInt which, PetscInt cell, PetscInt nq, const PetscReal *phi[2], PetscBool transpose,
                 PetscBool diagonal)
{
  const PetscInt in = transpose ? 0 : 1, out = 1 - in, side[2] = {b->data.test, b->data.trial};
  Fields        *fi = &t->f[in], *fo = &t->f[out];
  const PetscInt i = side[in], o = side[out], ni = HopsPower(fi->order[i] + 1, t->dim), no = HopsPower(fo->order[o] + 1, t->dim);
  const int     *ri = fi->restr[i] + cell * ni, *ro = fo->restr[o] + cell * no;

  for (PetscInt j = 0; j < b->data.npairs; ++j) {
    const HopsTensorPair pair = b->pair[j];
    const PetscInt       c[2] = {pair.test, pair.trial}, na = pair.kind & 2 ? t->dim : 1, nb = pair.kind & 1 ? t->dim : 1;
    PetscInt             entry = pair.entry;

    for (PetscInt a = 0; a < na; ++a)
      for (PetscInt d = 0; d < nb; ++d, ++entry) {
        const PetscInt deriv[2] = {pair.kind & 2 ? a + 1 : 0, pair.kind & 1 ? d + 1 : 0};

        if (diagonal && c[0] != c[1]) continue;
        for (PetscInt p = 0; p < nq; ++p) {
          const PetscReal  *gi = phi[in] + (deriv[in] * nq + p) * ni, *go = phi[out] + (deriv[out] * nq + p) * no;
          const PetscScalar q = b->q[((size_t)which * b->data.nentries + entry) * nq + p];
          PetscScalar       u = 0.0;

          if (diagonal) {
            for (PetscInt n = 0; n < no; ++n) fo->y[o][ro[n] * fo->nc[o] + c[out]] += q * gi[n] * go[n];
            continue;
          }
          for (PetscInt n = 0; n < ni; ++n) u += gi[n] * fi->x[i][ri[n] * fi->nc[i] + c[in]];
          for (PetscInt n = 0; n < no; ++n) fo->y[o][ro[n] * fo->nc[o] + c[out]] += q * u * go[n];
        }
      }
  }
}

/* Diagonals are those of blocks between the same fields */
static PetscBool SameFields(const Test *t)
{
  PetscBool same = t->f[0].n == t->f[1].n ? PETSC_TRUE : PETSC_FALSE;

  for (PetscInt i = 0; same && i < t->f[0].n; ++i)
    if (t->f[0].nc[i] != t->f[1].nc[i] || t->f[0].order[i] != t->f[1].order[i]) same = PETSC_FALSE;
  return same;
}

/* kind 0, 1: as it stands, transposed; 2: the diagonal */
static PetscErrorCode Compare(Test *t, HopsTensorOperator A, PetscInt nblocks, const Block *b, PetscInt kind, Kind what)
{
  const PetscInt  in = kind == 1 ? 0 : 1, nq = HopsPower(t->Q, t->dim);
  const PetscBool transpose = kind == 1 ? PETSC_TRUE : PETSC_FALSE;
  const HopsPart  parts[3]  = {HOPS_PART_INTERIOR_A, HOPS_PART_SHARED, HOPS_PART_INTERIOR_B};

  PetscFunctionBeginUser;
  PetscCall(Begin(t, in, PETSC_TRUE));
  for (PetscInt i = 0; i < 3 && kind < 2; ++i) PetscCall((*A->ops->Apply)(A, parts[i], transpose));
  if (kind == 2) PetscCall((*A->ops->Diagonal)(A));
  for (PetscInt i = 0; i < nblocks; ++i)
    for (PetscInt c = 0; c < t->ncells; ++c) {
      const PetscReal *phi[2] = {t->f[0].phi[b[i].data.test], t->f[1].phi[b[i].data.trial]};

      if (kind == 2 && b[i].data.test != b[i].data.trial) continue;
      Sums(t, &b[i], c, c, nq, phi, transpose, kind == 2 ? PETSC_TRUE : PETSC_FALSE);
    }
  PetscCall(End(t, 1 - in, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Functions of a field at the points of a face: value, derivative along the normal, those along the face */
static PetscErrorCode FaceProducts(const Test *t, const Fields *f, PetscInt i, PetscInt face, PetscReal **phi)
{
  const PetscInt  P = f->order[i] + 1, normal = face / 2, end = face % 2;
  const PetscReal ends[2] = {-1.0, 1.0}, *one[4][3];
  PetscInt        nq[3]   = {t->Q, t->Q, t->Q};
  HopsBasis       b;

  PetscFunctionBeginUser;
  PetscCall(HopsBasisCreateAtPoints(P, 2, ends, &b));
  nq[normal] = 1;
  for (PetscInt a = 0; a <= t->dim; ++a) {
    const PetscInt along = a < 2 ? normal : (a - 2 < normal ? a - 2 : a - 1); /* the direction of derivative a > 0 */

    for (PetscInt d = 0; d < 3; ++d) {
      const PetscBool derived = a > 0 && d == along ? PETSC_TRUE : PETSC_FALSE;

      one[a][d] = d == normal ? (derived ? b.D : b.B) + end * P : (derived ? f->basis[i].D : f->basis[i].B);
    }
  }
  *phi = Products(t->dim, t->Q, P, one, nq);
  PetscCall(HopsBasisDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some faces of cells, also several of one cell and one twice */
static PetscErrorCode Faces(Test *t, HopsTensorOperator A, PetscInt test, PetscInt trial)
{
  const PetscInt     n = t->ncells ? 2 * t->dim + 2 * t->ncells + 1 : 0, nq = HopsPower(t->Q, t->dim - 1);
  PetscInt          *cells, *faces;
  PetscReal         *phi[2][6];
  HopsTensorOperator F;
  Block              b;

  PetscFunctionBeginUser;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &cells, n, &faces));
  for (PetscInt i = 0; i < n; ++i) {
    cells[i] = i < 2 * t->dim ? 0 : (i - 2 * t->dim) / 2 % t->ncells;
    faces[i] = i < 2 * t->dim ? i : 5 * i % (2 * t->dim);
  }
  for (PetscInt face = 0; face < 2 * t->dim; ++face) {
    PetscCall(FaceProducts(t, &t->f[0], test, face, &phi[0][face]));
    PetscCall(FaceProducts(t, &t->f[1], trial, face, &phi[1][face]));
  }
  PetscCall(BlockCreate(t, test, trial, n, nq, &b));
  b.data.q = b.q;
  PetscCall((*A->ops->CreateFaces)(A, n, cells, faces, &b.data, &F));
  for (PetscInt kind = 0; kind < (test == trial && SameFields(t) ? 3 : 2); ++kind) {
    const PetscInt in = kind == 1 ? 0 : 1;

    PetscCall(Begin(t, in, PETSC_TRUE));
    if (kind < 2) PetscCall((*F->ops->Apply)(F, HOPS_PART_SHARED, kind == 1 ? PETSC_TRUE : PETSC_FALSE));
    else PetscCall((*F->ops->Diagonal)(F));
    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal *at[2] = {phi[0][faces[i]], phi[1][faces[i]]};

      Sums(t, &b, i, cells[i], nq, at, kind == 1 ? PETSC_TRUE : PETSC_FALSE, kind == 2 ? PETSC_TRUE : PETSC_FALSE);
    }
    PetscCall(End(t, 1 - in, FACES));
  }
  PetscCall((*F->ops->Destroy)(&F));
  PetscCall(BlockDestroy(t, &b));
  for (PetscInt face = 0; face < 2 * t->dim; ++face) {
    PetscCall(PetscFree(phi[0][face]));
    PetscCall(PetscFree(phi[1][face]));
  }
  PetscCall(PetscFree2(cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last test field with the first trial field alone, with tensors that the whole operator has, too */
static PetscErrorCode Shared(const Test *t, const HopsTensorLayout *layout, const Block *b, PetscReal *worst)
{
  Test               s    = *t;
  const PetscInt     last = t->f[0].n - 1;
  HopsTensorOperator A;
  HopsTensorLayout   l;
  Block              one = *b;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    const PetscInt i = k ? 0 : last;

    s.f[k].n        = 1;
    s.f[k].nc[0]    = t->f[k].nc[i];
    s.f[k].order[0] = t->f[k].order[i];
    s.f[k].sp[0]    = t->f[k].sp[i];
    s.f[k].basis[0] = t->f[k].basis[i];
    s.f[k].side[0]  = t->f[k].side[i];
    s.f[k].restr[0] = t->f[k].restr[i];
    s.f[k].phi[0]   = t->f[k].phi[i];
    s.f[k].x[0]     = t->f[k].x[i];
    s.f[k].y[0]     = t->f[k].y[i];
  }
  one.data.test = one.data.trial = 0;
  PetscCall((*t->be->TensorCreate)(t->f[1].sp[0], t->Q, layout->W, 1, s.f[0].side, 1, s.f[1].side, &A));
  PetscCall((*A->ops->GetLayout)(A, &l));
  PetscCheck(l.W == layout->W && l.nb == layout->nb && l.points == layout->points, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Another layout");
  PetscCall((*A->ops->SetBlocks)(A, 1, &one.data));
  for (PetscInt kind = 0; kind < 2; ++kind) PetscCall(Compare(&s, A, 1, &one, kind, SHARED_TENSORS));
  PetscCall((*A->ops->Destroy)(&A));
  *worst = s.worst[SHARED_TENSORS];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Print(PetscReal worst[KINDS], PetscBool faces)
{
  const char *const names[] = {"cells", "diagonals", "shared tensors", "faces"};

  PetscFunctionBeginUser;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, worst, KINDS, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  for (PetscInt k = 0; k < (faces ? KINDS : FACES); ++k) {
    if (worst[k] <= 1e-12) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s agree\n", names[k]));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s DIFFER by %g\n", names[k], (double)worst[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* faces: the back end has them */
static PetscErrorCode Run(DM dm, PetscInt Q, PetscReal worst[KINDS], PetscBool *faces)
{
  Test               t = {.Q = Q};
  HopsBasis          rule;
  HopsTensorOperator A;
  HopsTensorLayout   layout;
  HopsTensorData    *data;
  Block             *b;
  PetscInt           nb = 0, nq;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &t.dim));
  nq = HopsPower(Q, t.dim);
  PetscCall(HopsBasisCreate(2, Q, PETSC_FALSE, &rule));
  PetscCall(FieldsCreate(&t, dm, 0, "test", &rule));
  PetscCall(FieldsCreate(&t, dm, 1, "trial", &rule));
  PetscCall((*t.be->TensorCreate)(t.f[1].sp[0], Q, 0, t.f[0].n, t.f[0].side, t.f[1].n, t.f[1].side, &A));
  PetscCall((*A->ops->GetLayout)(A, &layout));
  PetscCall(PetscMalloc2(t.f[0].n * t.f[1].n, &b, t.f[0].n * t.f[1].n, &data));
  /* all blocks but one, so that two fields do not meet */
  for (PetscInt i = 0; i < t.f[0].n; ++i)
    for (PetscInt j = 0; j < t.f[1].n; ++j) {
      if (i == 0 && j == t.f[1].n - 1 && j > 0) continue;
      PetscCall(BlockCreate(&t, i, j, t.ncells, nq, &b[nb]));
      PetscCall(BlockUpload(&t, nq, &layout, &b[nb]));
      data[nb] = b[nb].data;
      ++nb;
    }
  PetscCall((*A->ops->SetBlocks)(A, nb, data));
  for (PetscInt kind = 0; kind < (SameFields(&t) ? 3 : 2); ++kind)
    PetscCall(Compare(&t, A, nb, b, kind, kind < 2 ? CELLS : DIAGONALS));
  for (PetscInt i = 0; i < nb; ++i)
    if (data[i].test == t.f[0].n - 1 && data[i].trial == 0) PetscCall(Shared(&t, &layout, &b[i], &t.worst[SHARED_TENSORS]));
  *faces = A->ops->CreateFaces ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt i = 0; i < nb && *faces; ++i) PetscCall(Faces(&t, A, data[i].test, data[i].trial));
  for (PetscInt k = 0; k < KINDS; ++k) worst[k] = TestWorse(worst[k], t.worst[k]);
  PetscCall((*A->ops->Destroy)(&A));
  for (PetscInt i = 0; i < nb; ++i) PetscCall(BlockDestroy(&t, &b[i]));
  PetscCall(PetscFree2(b, data));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(FieldsDestroy(&t, k));
  PetscCall(HopsBasisDestroy(&rule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *names[2];
  PetscBool   compare;
  PetscInt    Q[16], n = 16;
  DM          dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(names, &compare));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-q", Q, &n, NULL));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  for (PetscInt i = 0; i < 2 && compare; ++i) {
    PetscReal worst[KINDS] = {0.0};
    PetscBool faces        = PETSC_FALSE;

    PetscCall(TestSetBackend(names[i]));
    for (PetscInt k = 0; k < n; ++k) PetscCall(Run(dm, Q[k], worst, &faces));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "back end %s:\n", i ? "two" : "one"));
    PetscCall(Print(worst, faces));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  # points fewer than nodes, as many, one more, more than kernels that know all sizes take; one to five components at once
  testset:
    requires: host cuda
    args: -backends host,cuda -use_gpu_aware_mpi 0 -dm_plex_simplex 0
    output_file: output/tensors.out

    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 5,3 -test_nc 2,1 -test_order 3,2 -trial_nc 2,1 -trial_order 3,2 -q 2,3,4,5,9

    test:
      suffix: scalar
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -test_nc 1 -test_order 2 -trial_nc 1 -trial_order 2 -q 2,3,4,5,6

    test:
      suffix: 3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -test_nc 3,1 -test_order 3,2 -trial_nc 3,1 -trial_order 3,2 -q 2,4,5

    test:
      suffix: vector
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,1 -test_nc {{2 3}} -test_order 4 -trial_nc {{2 3}} -trial_order 4 -q 4,5,6

    test:
      suffix: mixed
      nsize: {{1 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -test_nc 2,1 -test_order 3,1 -trial_nc 1,2,3 -trial_order 1,3,2 -q 3,4,5

    # every order whose kernels know all sizes, and two that none knows
    test:
      suffix: orders_low
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,1,1 \
            -test_nc 2 -test_order {{1 2 3}} -trial_nc 2 -trial_order {{1 2 3}} -q 2,3,4,5

    test:
      suffix: orders
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,2 \
            -test_nc 2 -test_order {{4 5 6 7}} -trial_nc 2 -trial_order {{4 5 6 7}} -q 4,5,6,7,8,9

    test:
      suffix: orders_high
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -test_nc 3 -test_order {{5 6 7 8}} -trial_nc 3 -trial_order 5 -q 7,8,9

    # scratch that only the back end's memory has, of devices and of hosts
    test:
      suffix: large
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,1,1 -test_nc {{12 300}} -test_order 1 -trial_nc 4 -trial_order 1 -q 11

    test:
      suffix: empty
      nsize: 3
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,1 -test_nc 2 -test_order 2 -trial_nc 2 -trial_order 2 -q 3

TEST*/
