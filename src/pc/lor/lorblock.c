/*
  The low-order-refined matrix of a vector-valued field, or of a form with first-order terms: vertex
  quadrature as for the scalar matrix, with a tensor for each pair of components.

  At a node v of a cell let m_d be the lumped width in direction d, h_a^s the width of the sub-edge on side s
  = -1, 1 (if in the cell), and D_a^s u = s (u(v + s e_a) - u(v)). The sub-cells around v share its
  Gauss-Lobatto weight M in proportion to their volumes; summed over them, vertex quadrature of the form
  gives, with G = detJ J^-1 g3 J^-T, b = detJ J^-1 g1, c = detJ J^-1 g2,

    sum_a,s   M / (2 m_a h_a^s) G_aa D_a^s w D_a^s u
    sum_a!=b  M / (4 m_a m_b) G_ab (sum_s D_a^s w) (sum_s D_b^s u)
    sum_a     M / (2 m_a) (w b_a (sum_s D_a^s u) + (sum_s D_a^s w) c_a u)  +  M detJ w g0 u

  Upwinding adds the diffusion |b_a| h_a^s / 2 in direction a, which turns the central difference into a
  one-sided one. Boundary Jacobians come by vertex quadrature of the sub-faces in the same way: along the face
  as above with the surface element for detJ, and across it with the one difference D_d^s / h_d^s into the
  cell.
*/
#include <hops/private/hopslorblockimpl.h>

#define HOPS_BLOCK_CHUNK 8 /* cells whose tensors are held at a time; more where a device evaluates them */

PetscErrorCode HopsLORBlockDestroy(HopsLORBlock **block)
{
  HopsLORBlock *b = *block;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&b->mat));
  PetscCall(VecDestroy(&b->x));
  PetscCall(VecDestroy(&b->y));
  PetscCall(HopsLORBlockDestroyApart(b));
  PetscCall(HopsLORDestroy(&b->lor));
  PetscCall(HopsFaceFormDestroy(&b->faces));
  PetscCall(HopsFormDestroy(&b->form));
  PetscCall(HopsNodesDestroy(&b->nodes));
  PetscCall(PetscFree(b->rvals));
  PetscCall(PetscFree(b->rrow));
  PetscCall(PetscFree(b->stencil));
  PetscCall(PetscFree4(b->condensed.v, b->condensed.row, b->condensed.col, b->condensed.work));
  if (b->unit != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&b->unit));
  PetscCall(PetscFree(b));
  *block = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ pattern ------------------------------------------ */

/* CSR of components from one of nodes (none where ia is NULL), whose columns are numbered by cols where that
   is not NULL */
static PetscErrorCode HopsLORBlockExpand(PetscInt n, PetscInt nc, const int ia[], const int ja[], const PetscInt cols[],
                                         PetscInt *bi[], PetscInt *bj[])
{
  PetscInt *i, *j, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * nc + 1, &i));
  PetscCall(PetscMalloc1(ia ? nc * nc * ia[n] : 0, &j));
  i[0] = 0;
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt c = 0; c < nc; ++c) {
      for (PetscInt e = ia ? ia[r] : 0; e < (ia ? ia[r + 1] : 0); ++e)
        for (PetscInt d = 0; d < nc; ++d) j[k++] = (cols ? cols[ja[e]] : ja[e]) * nc + d;
      i[r * nc + c + 1] = k;
    }
  *bi = i;
  *bj = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the Mat is made of lives as long as the Mat or one of its blocks */
typedef struct {
  PetscInt  *di, *dj, *oi, *oj;
  PetscReal *vals;
  void      *scalars; /* the same as the matrix has them, or NULL */
} HopsLORBlockArrays;

static PetscErrorCode HopsLORBlockFreeArrays(HopsContainerCtx ctx)
{
  HopsLORBlockArrays *a = (HopsLORBlockArrays *)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(PetscFree(a->di));
  PetscCall(PetscFree(a->dj));
  PetscCall(PetscFree(a->oi));
  PetscCall(PetscFree(a->oj));
  PetscCall(PetscFree(a->vals));
  PetscCall((*HopsBackendHost.memory->Free)(&a->scalars));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Mat on expanded patterns, and what it is made of */
static PetscErrorCode HopsLORBlockCreateMat(HopsLORBlock *b)
{
  HopsSpace            sp   = b->lor.space;
  MPI_Comm             comm = PetscObjectComm((PetscObject)sp);
  const PetscInt       nc = b->nc, nc2 = nc * nc;
  HopsLORRows         *rows = &b->lor.rows;
  const PetscInt       nd = (PetscInt)rows->nnz[0], no = (PetscInt)rows->nnz[1];
  const PetscLogDouble nnz = (PetscLogDouble)nc2 * (nd + no);
  HopsLORBlockArrays  *a;
  PetscContainer       keep;
  PetscMPIInt          size;
  Mat                  m[3] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscNew(&a));
  a->vals = b->vals;
  PetscCall(HopsLORScalarsMalloc(nc2 * (nd + no), b->vals, &b->scalars));
  if (HOPS_PARTS > 1) a->scalars = b->scalars;
  PetscCall(HopsLORBlockExpand(sp->nT, nc, rows->i[0], rows->j[0], NULL, &a->di, &a->dj));
  PetscCall(HopsLORBlockExpand(sp->nT, nc, rows->i[1], rows->j[1], b->lor.cols, &a->oi, &a->oj));
  PetscCallMPI(MPI_Allreduce(&nnz, &b->lor.nnz, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(comm, sp->nT * nc, sp->nT * nc, a->di, a->dj, b->scalars, &b->mat));
  else
    PetscCall(MatCreateMPIAIJWithSplitArrays(comm, sp->nT * nc, sp->nT * nc, sp->N * nc, sp->N * nc, a->di, a->dj, b->scalars,
                                             a->oi, a->oj, b->scalars + nc2 * nd, &b->mat));
  PetscCall(MatSetBlockSize(b->mat, nc));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &keep));
  PetscCall(PetscContainerSetPointer(keep, a));
  PetscCall(HopsContainerSetDestroy(keep, HopsLORBlockFreeArrays));
  m[0] = b->mat;
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(b->mat, &m[1], &m[2], NULL));
  for (PetscInt i = 0; i < 3; ++i)
    if (m[i]) PetscCall(PetscObjectCompose((PetscObject)m[i], "HopsLORBlockArrays", (PetscObject)keep));
  PetscCall(PetscContainerDestroy(&keep));
  PetscCall(MatCreateVecs(b->mat, &b->x, &b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of components that couple, without values: on the host, with a pattern that does not depend on
   them */
static PetscErrorCode HopsLORBlockSymbolic(HopsLORBlock *b, PetscInt entries)
{
  HopsSpace      sp   = b->nodes->space;
  MPI_Comm       comm = PetscObjectComm((PetscObject)sp);
  const PetscInt nc2  = b->nc * b->nc;
  HopsLORRows   *rows = &b->lor.rows;
  PetscInt       n;
  PetscBool      covered, coupled;

  PetscFunctionBegin;
  PetscCheck(sp->order <= 64, comm, PETSC_ERR_SUP,
             "Order %" PetscInt_FMT
             ": the low-order-refined matrix in blocks goes to order 64; lower the order and refine the mesh",
             sp->order);
  if (HopsFormHas(b->form, HOPS_BOUNDARY))
    PetscCall(HopsFaceFormCreate(b->jacobian, sp, 1, &b->jacobian->field, 1, &b->jacobian->field, &b->faces));
  b->mixed = b->has[3] || (b->faces && b->faces->has[3]) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsSpaceBringMesh(sp)); /* this matrix is the process's wherever the space is */
  PetscCall(HopsLORCreate(sp, &HopsBackendHost, &b->lor));
  b->lor.constraintentries = b->lor.kernel->constraintentries = entries;
  PetscCall(PetscLogEventBegin(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  /* components couple across directions even on axis-aligned cells */
  if (b->mixed) PetscCall((*b->lor.kernel->ops->CompareMasks)(b->lor.kernel, NULL, PETSC_TRUE, &covered, &coupled));
  PetscCall(HopsLORPattern(&b->lor, &b->rrow));
  n = (PetscInt)(rows->nnz[0] + rows->nnz[1]) + b->lor.ng;
  PetscCall(HopsCheckInt("entries of the low-order-refined matrix", (PetscInt64)nc2 * PetscMax(n, b->lor.nr)));
  PetscCall(PetscMalloc1(nc2 * n + 1, &b->vals));
  PetscCall(PetscMalloc1(nc2 * b->lor.nr, &b->rvals));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc2, MPIU_REAL, &b->unit));
  PetscCallMPI(MPI_Type_commit(&b->unit));
  PetscCall(HopsLORBlockCreateMat(b));
  PetscCall(PetscLogEventEnd(HopsEvent.lorsymbolic, sp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockCreate(HopsNodes nodes, HopsForm form, PetscBool upwind, PetscBool couple, PetscReal droptol,
                                  PetscInt entries, HopsLORBlock **block)
{
  HopsJacobian  jac = form->jacobian;
  HopsLORBlock *b;

  PetscFunctionBegin;
  PetscCheck(jac->nc == nodes->nc, PetscObjectComm((PetscObject)nodes->space), PETSC_ERR_PLIB,
             "A form of %" PetscInt_FMT " components on a field of %" PetscInt_FMT, jac->nc, nodes->nc);
  PetscCall(PetscNew(&b));
  b->unit = MPI_DATATYPE_NULL;
  ++form->refct;
  ++nodes->refct;
  b->form     = form;
  b->jacobian = jac;
  b->nodes    = nodes;
  b->nc       = nodes->nc;
  b->upwind   = upwind;
  b->couple   = couple;
  HopsFormGetFunctions(form, HOPS_CELLS, b->has);
  if (couple) PetscCall(HopsLORBlockSymbolic(b, entries));
  else PetscCall(HopsLORBlockSetUpApart(b, droptol, entries));
  *block = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- values ------------------------------------------- */

/* Adds a block to the values: place is that of the node entry in the array of HopsLORRows, row its node (L
   index); fr and fc mask components */
static inline void HopsLORBlockAdd(HopsLORBlock *b, PetscInt row, PetscInt place, const unsigned char fr[],
                                   const unsigned char fc[], const PetscReal v[])
{
  const HopsLORRows *rows = &b->lor.rows;
  const PetscInt     nc = b->nc, nc2 = nc * nc, pos = place - (PetscInt)rows->before, nd = (PetscInt)rows->nnz[0];
  PetscReal         *out;
  PetscInt           stride;

  if (!place) return; /* nowhere */
  if (pos < 0) {      /* of a ghost */
    out    = b->vals + nc2 * (nd + (PetscInt)rows->nnz[1] + place - 1);
    stride = nc;
  } else {
    const PetscInt block = pos < nd ? 0 : 1, at = block ? pos - nd : pos;
    const int     *i = rows->i[block] + row;

    out    = b->vals + nc2 * ((block ? nd : 0) + i[0]) + nc * (at - i[0]);
    stride = nc * (i[1] - i[0]);
  }
  for (PetscInt i = 0; i < nc; ++i)
    for (PetscInt j = 0; j < nc; ++j)
      if (fr[i] && fc[j]) out[i * stride + j] += v[i * nc + j];
}

/* Entry of the node stencil (see hostlorimpl.h) of row v + s e_a (a < 0: v itself) and column v + t e_b, and
   its base node's offset */
typedef struct {
  PetscInt base[3], entry;
} HopsSlot;

static HopsSlot HopsSlotOf(PetscInt dim, PetscInt a, PetscInt s, PetscInt b, PetscInt t)
{
  PetscInt r[3] = {0, 0, 0}, c[3] = {0, 0, 0}, diff[2], nd = 0;
  HopsSlot slot;

  if (a >= 0) r[a] = s;
  if (b >= 0) c[b] = t;
  for (PetscInt d = 0; d < 3; ++d) {
    slot.base[d] = PetscMin(r[d], c[d]);
    if (r[d] != c[d]) diff[nd++] = d;
  }
  if (nd == 0) slot.entry = 0;
  else if (nd == 1) slot.entry = 1 + 2 * diff[0] + (r[diff[0]] > c[diff[0]] ? 1 : 0);
  else {
    const PetscInt pair = diff[0] + diff[1] - 1, first = 1 + 2 * dim + 4 * pair;
    const PetscInt r0 = r[diff[0]] > c[diff[0]], r1 = r[diff[1]] > c[diff[1]];

    /* anti-diagonal (v+e_a, v+e_b), (v+e_b, v+e_a); main diagonal (v, v+e_a+e_b), (v+e_a+e_b, v) */
    slot.entry = first + (r0 && !r1 ? 0 : (!r0 && r1 ? 1 : (!r0 && !r1 ? 2 : 3)));
  }
  return slot;
}

typedef struct {
  PetscInt  dim, P, nentries, np;
  PetscInt  stride[3];
  PetscReal h[64], m[65], w[65]; /* sub-edge widths, lumped widths, Gauss-Lobatto weights */
  HopsSlot  slot[4][2][4][2];
} HopsStar;

static PetscErrorCode HopsStarCreate(HopsLORBlock *b, HopsStar *s)
{
  HopsSpace        sp = b->lor.space;
  const PetscReal *x  = b->lor.gll.nodes;

  PetscFunctionBegin;
  s->dim      = sp->dim;
  s->P        = sp->order + 1;
  s->np       = HopsPower(s->P, s->dim);
  s->nentries = 1 + 2 * s->dim + (b->mixed ? (s->dim == 2 ? 4 : 12) : 0);
  for (PetscInt d = 0; d < 3; ++d) s->stride[d] = HopsPower(s->P, d);
  for (PetscInt i = 0; i < s->P - 1; ++i) s->h[i] = x[i + 1] - x[i];
  for (PetscInt i = 0; i < s->P; ++i) s->m[i] = 0.5 * ((i ? s->h[i - 1] : 0.0) + (i < s->P - 1 ? s->h[i] : 0.0));
  for (PetscInt i = 0; i < s->P; ++i) s->w[i] = b->lor.gll.weights[i];
  for (PetscInt a = -1; a < s->dim; ++a)
    for (PetscInt i = 0; i < 2; ++i)
      for (PetscInt c = -1; c < s->dim; ++c)
        for (PetscInt j = 0; j < 2; ++j) s->slot[a + 1][i][c + 1][j] = HopsSlotOf(s->dim, a, 2 * i - 1, c, 2 * j - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds f * g to the entry of row v + (2i-1) e_a and column v + (2j-1) e_c of a cell */
static inline void HopsStarAdd(HopsLORBlock *b, const HopsStar *s, PetscInt cell, PetscInt v, PetscInt a, PetscInt i, PetscInt c,
                               PetscInt j, PetscReal f, const PetscReal g[])
{
  const HopsSlot *slot  = &s->slot[a + 1][i][c + 1][j];
  const int      *restr = b->lor.space->restr + cell * s->np;
  const PetscInt  nc2 = b->nc * b->nc, nfree = b->lor.space->nT + b->lor.space->nG;
  const PetscInt  row = restr[a < 0 ? v : v + (2 * i - 1) * s->stride[a]], col = restr[c < 0 ? v : v + (2 * j - 1) * s->stride[c]];
  PetscInt        base = v;
  PetscReal       w[36];

  for (PetscInt d = 0; d < s->dim; ++d) base += slot->base[d] * s->stride[d];
  if (b->stencil && b->lor.space->hang[cell]) {
    for (PetscInt k = 0; k < nc2; ++k) b->stencil[(base * s->nentries + slot->entry) * nc2 + k] += f * g[k];
    return;
  }
  if (row >= nfree || col >= nfree) return;
  for (PetscInt k = 0; k < nc2; ++k) w[k] = f * g[k];
  HopsLORBlockAdd(b, row, b->lor.rows.cellplace[b->lor.rows.cellstart[cell] + base * s->nentries + slot->entry],
                  b->nodes->isfree + row * b->nc, b->nodes->isfree + col * b->nc, w);
}

/* What a cell with hanging nodes has in its stencil goes to the nodes of its parents */
static PetscErrorCode HopsStarFlush(HopsLORBlock *b, const HopsStar *s, PetscInt cell)
{
  HopsLOR          *lor   = &b->lor;
  HopsLORCondensed *c     = &b->condensed;
  const int        *restr = lor->space->restr + cell * s->np, *place = lor->rows.cellplace + lor->rows.cellstart[cell];
  const PetscInt    nc2 = b->nc * b->nc, nfree = lor->space->nT + lor->space->nG;

  PetscFunctionBegin;
  if (!b->stencil || !lor->space->hang[cell]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORCondense(lor->kernel, cell, nc2, b->stencil, c));
  for (int e = 0; e < c->n; ++e) {
    const PetscInt row = restr[c->row[e]], col = restr[c->col[e]];

    if (row < nfree && col < nfree)
      HopsLORBlockAdd(b, row, place[e], b->nodes->isfree + row * b->nc, b->nodes->isfree + col * b->nc, c->v + e * nc2);
  }
  PetscCall(PetscArrayzero(b->stencil, s->np * s->nentries * nc2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g0 and g3 are their own transposes, and g2 is that of g1 */
static PetscBool HopsTensorsSymmetric(PetscInt nc, PetscInt dim, const PetscReal *const g[4])
{
  const PetscInt n        = nc * (dim + 1);
  PetscReal      scale[3] = {0.0, 0.0, 0.0}, off[3] = {0.0, 0.0, 0.0};

  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt s = 0; s <= r; ++s) {
      const PetscInt c = r / (dim + 1), a = r % (dim + 1), e = s / (dim + 1), b = s % (dim + 1), order = (a > 0) + (b > 0);
      PetscReal      v[2]; /* entry (r, s) and entry (s, r) */

      for (PetscInt k = 0; k < 2; ++k) {
        const PetscInt i = k ? e : c, j = k ? c : e, A = k ? b : a, B = k ? a : b, ij = i * nc + j;

        if (A && B) v[k] = g[3] ? g[3][(ij * dim + A - 1) * dim + B - 1] : 0.0;
        else if (A) v[k] = g[2] ? g[2][ij * dim + A - 1] : 0.0;
        else if (B) v[k] = g[1] ? g[1][ij * dim + B - 1] : 0.0;
        else v[k] = g[0] ? g[0][ij] : 0.0;
      }
      scale[order] = PetscMax(scale[order], PetscMax(PetscAbsReal(v[0]), PetscAbsReal(v[1])));
      off[order]   = PetscMax(off[order], PetscAbsReal(v[0] - v[1]));
    }
  return off[0] <= 1e-12 * scale[0] && off[1] <= 1e-12 * scale[1] && off[2] <= 1e-12 * scale[2] ? PETSC_TRUE : PETSC_FALSE;
}

/* Adds f times g, (w_i - w)(u_i - u) with the neighbour i of the node v along a */
static inline void HopsStarAddDifference(HopsLORBlock *b, const HopsStar *s, PetscInt cell, PetscInt v, PetscInt a, PetscInt i,
                                         PetscReal f, const PetscReal g[])
{
  HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, f, g);
  HopsStarAdd(b, s, cell, v, a, i, a, i, f, g);
  HopsStarAdd(b, s, cell, v, -1, 0, a, i, -f, g);
  HopsStarAdd(b, s, cell, v, a, i, -1, 0, -f, g);
}

/* The component a on the reference cell of vectors g[nc2][dim] */
static inline void HopsPullVector(PetscInt dim, PetscInt nc2, const PetscReal Ji[], PetscReal det, PetscInt a, const PetscReal g[],
                                  PetscReal t[])
{
  for (PetscInt k = 0; k < nc2; ++k) {
    t[k] = 0.0;
    for (PetscInt d = 0; d < dim; ++d) t[k] += det * Ji[a * dim + d] * g[k * dim + d];
  }
}

/* One node of one cell; Ji = J^-1, det its determinant; the tensors are those of the node */
static void HopsLORBlockNode(HopsLORBlock *b, const HopsStar *s, PetscInt cell, PetscInt v, const PetscReal Ji[], PetscReal det,
                             const PetscReal *const g[4])
{
  const PetscInt dim = s->dim, nc = b->nc, nc2 = nc * nc;
  PetscInt       lo[3], hi[3];
  PetscReal      m[3] = {1.0, 1.0, 1.0}, h[3][2] = {{0}}, all = 1.0;
  PetscReal      t[36];

  for (PetscInt d = 0, k = v; d < dim; ++d, k /= s->P) {
    const PetscInt i = k % s->P;

    m[d] = s->m[i];
    all *= s->w[i];
    lo[d]   = i > 0 ? 0 : 1; /* sides -1 and 1 that lie in the cell are lo..hi-1 */
    hi[d]   = i < s->P - 1 ? 2 : 1;
    h[d][0] = i > 0 ? s->h[i - 1] : 0.0;
    h[d][1] = i < s->P - 1 ? s->h[i] : 0.0;
  }
  if (g[0]) HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, all * det, g[0]);
  for (PetscInt a = 0; a < dim; ++a) {
    if (g[1]) { /* w b_a D_a u, and its upwinding */
      HopsPullVector(dim, nc2, Ji, det, a, g[1], t);
      for (PetscInt i = lo[a]; i < hi[a]; ++i) {
        const PetscReal f = (2 * i - 1) * 0.5 * all / m[a];

        HopsStarAdd(b, s, cell, v, -1, 0, a, i, f, t);
        HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, -f, t);
      }
      if (b->upwind) {
        for (PetscInt k = 0; k < nc2; ++k) t[k] = k % (nc + 1) ? 0.0 : PetscAbsReal(t[k]);
        for (PetscInt i = lo[a]; i < hi[a]; ++i) HopsStarAddDifference(b, s, cell, v, a, i, 0.25 * all / m[a], t);
      }
    }
    if (g[2]) { /* D_a w c_a u */
      HopsPullVector(dim, nc2, Ji, det, a, g[2], t);
      for (PetscInt i = lo[a]; i < hi[a]; ++i) {
        const PetscReal f = (2 * i - 1) * 0.5 * all / m[a];

        HopsStarAdd(b, s, cell, v, a, i, -1, 0, f, t);
        HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, -f, t);
      }
    }
    for (PetscInt c = 0; g[3] && c < dim; ++c) {
      for (PetscInt k = 0; k < nc2; ++k) {
        t[k] = 0.0;
        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) t[k] += det * Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[c * dim + e];
      }
      if (a == c) {
        for (PetscInt i = lo[a]; i < hi[a]; ++i) HopsStarAddDifference(b, s, cell, v, a, i, 0.5 * all / (m[a] * h[a][i]), t);
      } else {
        for (PetscInt i = lo[a]; i < hi[a]; ++i)
          for (PetscInt j = lo[c]; j < hi[c]; ++j) {
            const PetscReal f = (2 * i - 1) * (2 * j - 1) * 0.25 * all / (m[a] * m[c]);

            HopsStarAdd(b, s, cell, v, a, i, c, j, f, t);
            HopsStarAdd(b, s, cell, v, a, i, -1, 0, -f, t);
            HopsStarAdd(b, s, cell, v, -1, 0, c, j, -f, t);
            HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, f, t);
          }
      }
    }
  }
}

/* One node of a face; Ji = J^-1, ds the surface element */
static void HopsLORBlockFaceNode(HopsLORBlock *b, const HopsStar *s, PetscInt cell, PetscInt face, PetscInt v, const PetscReal Ji[],
                                 PetscReal ds, const PetscReal *const g[4])
{
  const PetscInt dim = s->dim, nc2 = b->nc * b->nc, normal = face / 2;
  PetscInt       lo[3], hi[3];
  PetscReal      w[3][2] = {{0}}, w2[3][2] = {{0}}, all = ds; /* weights of D_a^s in a gradient, and of its square */
  PetscReal      t[36];

  for (PetscInt d = 0, k = v; d < dim; ++d, k /= s->P) {
    const PetscInt i = k % s->P;

    lo[d] = i > 0 ? 0 : 1;
    hi[d] = i < s->P - 1 ? 2 : 1;
    if (d != normal) all *= s->w[i];
    for (PetscInt j = lo[d]; j < hi[d]; ++j) {
      const PetscReal h = s->h[j ? i : i - 1];

      w[d][j]  = (2 * j - 1) * (d == normal ? 1.0 / h : 0.5 / s->m[i]);
      w2[d][j] = d == normal ? 1.0 / (h * h) : 0.5 / (s->m[i] * h);
    }
  }
  if (g[0]) HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, all, g[0]);
  for (PetscInt a = 0; a < dim; ++a) {
    for (PetscInt m = 1; m < 3; ++m) {
      if (!g[m]) continue;
      for (PetscInt k = 0; k < nc2; ++k) {
        t[k] = 0.0;
        for (PetscInt d = 0; d < dim; ++d) t[k] += Ji[a * dim + d] * g[m][k * dim + d];
      }
      for (PetscInt i = lo[a]; i < hi[a]; ++i) {
        if (m == 1) HopsStarAdd(b, s, cell, v, -1, 0, a, i, all * w[a][i], t);
        else HopsStarAdd(b, s, cell, v, a, i, -1, 0, all * w[a][i], t);
        HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, -all * w[a][i], t);
      }
    }
    for (PetscInt c = 0; g[3] && c < dim; ++c) {
      for (PetscInt k = 0; k < nc2; ++k) {
        t[k] = 0.0;
        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) t[k] += Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[c * dim + e];
      }
      for (PetscInt i = lo[a]; i < hi[a]; ++i)
        for (PetscInt j = lo[c]; j < hi[c]; ++j) {
          const PetscReal f = all * (a == c ? w2[a][i] : w[a][i] * w[c][j]);

          if (a == c && i != j) continue;
          HopsStarAdd(b, s, cell, v, a, i, c, j, f, t);
          HopsStarAdd(b, s, cell, v, a, i, -1, 0, -f, t);
          HopsStarAdd(b, s, cell, v, -1, 0, c, j, -f, t);
          HopsStarAdd(b, s, cell, v, -1, 0, -1, 0, f, t);
        }
    }
  }
}

/* Boundary Jacobians at the Gauss-Lobatto nodes of their faces */
static PetscErrorCode HopsLORBlockFaces(HopsLORBlock *b, const HopsStar *s)
{
  HopsSpace      sp  = b->lor.space;
  const PetscInt dim = sp->dim, nc2 = b->nc * b->nc, nq = HopsPower(s->P, dim - 1);
  const PetscInt size[4] = {nc2, nc2 * dim, nc2 * dim, nc2 * dim * dim};
  HopsFaceBasis *fb, geom, inner;
  PetscReal     *x, *normal, *J, *ds;
  PetscReal     *g[4];

  PetscFunctionBegin;
  PetscCall(HopsFaceBasesCreate(b->jacobian->fields, &b->lor.inner, &fb));
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, &b->lor.gll, &geom));
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, &b->lor.inner, &inner));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  for (HopsFaceTerm t = b->faces->terms; t; t = t->next) {
    for (PetscInt k = 0; k < 4; ++k) {
      g[k] = NULL;
      if (t->nf[k]) PetscCall(PetscMalloc1(nq * size[k], &g[k]));
    }
    for (PetscInt f = 0; f < t->n; ++f) {
      PetscCall(HopsFaceGeometry(sp, &inner, t->cells[f], t->faces[f], x, normal, J, ds));
      PetscCall(HopsFaceTermEvaluate(b->jacobian, t, sp, t->cells[f], t->faces[f], PETSC_FALSE, fb, x, normal, J, g));
      PetscCall(HopsFaceGeometry(sp, &geom, t->cells[f], t->faces[f], x, normal, J, ds));
      for (PetscInt q = 0; q < nq; ++q) {
        const PetscReal *p[4];
        PetscReal        Ji[9];

        HopsInverse(dim, J + q * dim * dim, Ji);
        for (PetscInt k = 0; k < 4; ++k) p[k] = g[k] ? g[k] + q * size[k] : NULL;
        if (b->sym) b->sym = HopsTensorsSymmetric(b->nc, dim, p);
        HopsLORBlockFaceNode(b, s, t->cells[f], t->faces[f], fb[b->jacobian->field].node[t->faces[f] * nq + q], Ji, ds[q], p);
      }
      PetscCall(HopsStarFlush(b, s, t->cells[f]));
    }
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  }
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscCall(HopsFaceBasisDestroy(&inner));
  PetscCall(HopsFaceBasesDestroy(b->jacobian->fields, &fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORBlockNumericCoupled(HopsLORBlock *b)
{
  HopsLOR                   *lor = &b->lor;
  HopsSpace                  sp  = lor->space;
  const PetscInt             dim = sp->dim, nc = b->nc, nc2 = nc * nc, np = HopsPower(sp->order + 1, dim);
  const PetscInt             chunk = PetscMax(HOPS_BLOCK_CHUNK, sp->backend->runpoints / (np * nc2 * dim * dim));
  const PetscInt             nd = (PetscInt)lor->rows.nnz[0], no = (PetscInt)lor->rows.nnz[1];
  const PetscInt             size[4] = {nc2, nc2 * dim, nc2 * dim, nc2 * dim * dim};
  static const unsigned char all[6]  = {1, 1, 1, 1, 1, 1};
  HopsBasis                  geom, inner;
  HopsStar                  *star;
  PetscReal                 *x, *J;
  PetscReal                 *g[4];

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lornumeric, b->mat, 0, 0, 0));
  PetscCall(PetscNew(&star));
  PetscCall(HopsStarCreate(b, star));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &lor->gll, &geom));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &lor->inner, &inner));
  PetscCall(PetscMalloc2(chunk * np * dim, &x, chunk * np * dim * dim, &J));
  for (PetscInt k = 0; k < 4; ++k) {
    g[k] = NULL;
    if (b->has[k]) PetscCall(PetscMalloc1(chunk * np * size[k], &g[k]));
  }
  PetscCall(PetscArrayzero(b->vals, nc2 * (nd + no + lor->ng)));
  if (sp->hanging && !b->stencil) PetscCall(PetscCalloc1(np * star->nentries * nc2, &b->stencil));
  b->sym = PETSC_TRUE;
  for (PetscInt c = 0; c < sp->ncells; c += chunk) {
    const PetscInt n = PetscMin(chunk, sp->ncells - c);

    PetscCall(HopsSpaceGetPoints(sp, &inner, c, n, x, J));
    PetscCall(HopsJacobianEvaluate(b->jacobian, sp, c, n, &lor->inner, x, J, g));
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, n, NULL, J));
    for (PetscInt e = 0; e < n; ++e) {
      for (PetscInt v = 0; v < np; ++v) {
        const PetscInt   q = e * np + v;
        const PetscReal *t[4];
        PetscReal        Ji[9], det;

        det = HopsInverse(dim, J + q * dim * dim, Ji);
        if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(sp, c + e, det));
        for (PetscInt k = 0; k < 4; ++k) t[k] = b->has[k] ? g[k] + q * size[k] : NULL;
        if (b->sym) b->sym = HopsTensorsSymmetric(nc, dim, t);
        HopsLORBlockNode(b, star, c + e, v, Ji, det, t);
      }
      PetscCall(HopsStarFlush(b, star, c + e));
    }
  }
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  PetscCall(PetscFree2(x, J));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsBasisDestroy(&inner));
  if (b->faces) PetscCall(HopsLORBlockFaces(b, star));
  PetscCall(PetscFree(star));
  if (lor->exchange)
    PetscCall(HopsLORExchangeEntries(lor->exchange, b->unit, nc2 * sizeof(PetscReal), b->vals + nc2 * (nd + no), b->rvals));
  /* the sender masked them */
  for (PetscInt k = 0; k < lor->nr; ++k) HopsLORBlockAdd(b, b->rrow[k], lor->rows.received[k], all, all, b->rvals + k * nc2);
  for (PetscInt r = 0; r < sp->nT; ++r) {
    const int begin = lor->rows.i[0][r], end = lor->rows.i[0][r + 1];
    int       diag = begin;

    while (diag < end && lor->rows.j[0][diag] != r) ++diag;
    for (PetscInt c = 0; c < nc; ++c)
      if (b->nodes->map[r * nc + c] < 0) b->vals[nc2 * begin + nc * (diag - begin) + c * nc * (end - begin) + c] = 1.0;
  }
  PetscCall(HopsLORScalarsUpdate(nc2 * (nd + no), b->vals, b->scalars));
  PetscCall(HopsLORChangedAIJ(b->mat));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &b->sym, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)b->mat)));
  PetscCall(MatSetOption(b->mat, MAT_SYMMETRIC, b->sym));
  PetscCall(PetscLogEventEnd(HopsEvent.lornumeric, b->mat, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockNumeric(HopsLORBlock *b, MatType type, PetscBool *kept)
{
  PetscFunctionBegin;
  *kept = PETSC_TRUE;
  if (b->couple) PetscCall(HopsLORBlockNumericCoupled(b));
  else PetscCall(HopsLORBlockNumericApart(b, type, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ vectors ------------------------------------------ */

/* in the process's memory */
static PetscErrorCode HopsLORBlockEmbedHost(HopsLORBlock *b, Vec outer, Vec inner)
{
  const PetscInt     n = b->lor.space->nT * b->nc;
  const PetscScalar *o;
  PetscScalar       *i;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(outer, &o));
  PetscCall(VecGetArrayWrite(inner, &i));
  for (PetscInt k = 0; k < n; ++k) i[k] = b->nodes->map[k] < 0 ? 0.0 : o[b->nodes->map[k]];
  PetscCall(VecRestoreArrayWrite(inner, &i));
  PetscCall(VecRestoreArrayRead(outer, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockEmbed(HopsLORBlock *b, Vec outer, Vec inner)
{
  PetscFunctionBegin;
  if (b->couple) PetscCall(HopsLORBlockEmbedHost(b, outer, inner));
  else PetscCall(HopsLORBlockEmbedApart(b, outer, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockExtract(HopsLORBlock *b, Vec inner, Vec outer)
{
  const PetscInt     n = b->lor.space->nT * b->nc;
  const PetscScalar *i;
  PetscScalar       *o;

  PetscFunctionBegin;
  if (!b->couple) {
    PetscCall(HopsLORBlockExtractApart(b, inner, outer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(inner, &i));
  PetscCall(VecGetArrayWrite(outer, &o));
  for (PetscInt k = 0; k < n; ++k)
    if (b->nodes->map[k] >= 0) o[b->nodes->map[k]] = i[k];
  PetscCall(VecRestoreArrayWrite(outer, &o));
  PetscCall(VecRestoreArrayRead(inner, &i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coordinates of the owned nodes, as a vector of blocks */
static PetscErrorCode HopsLORBlockCoordinates(HopsLORBlock *b, Vec *coordinates)
{
  HopsSpace      sp  = b->lor.space;
  const PetscInt dim = sp->dim, np = HopsPower(sp->order + 1, dim);
  HopsBasis      geom;
  PetscReal     *x;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)sp), coordinates));
  PetscCall(VecSetSizes(*coordinates, sp->nT * dim, sp->N * dim));
  PetscCall(VecSetBlockSize(*coordinates, dim));
  PetscCall(VecSetType(*coordinates, VECSTANDARD));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &b->lor.gll, &geom));
  PetscCall(PetscMalloc1(np * dim, &x));
  PetscCall(VecGetArrayWrite(*coordinates, &a));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, NULL));
    for (PetscInt v = 0; v < np; ++v)
      for (PetscInt d = 0; d < dim && sp->restr[c * np + v] < sp->nT; ++d) a[sp->restr[c * np + v] * dim + d] = x[v * dim + d];
  }
  PetscCall(VecRestoreArrayWrite(*coordinates, &a));
  PetscCall(PetscFree(x));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets essential components, which are decoupled, to zero, and makes the vectors the orthonormal basis of a
   null space */
static PetscErrorCode HopsLORBlockMakeSpace(HopsLORBlock *b, PetscInt n, Vec vecs[], MatNullSpace *space)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    PetscScalar *a;

    PetscCall(VecGetArray(vecs[k], &a));
    for (PetscInt i = 0; i < b->lor.space->nT * b->nc; ++i)
      if (b->nodes->map[i] < 0) a[i] = 0.0;
    PetscCall(VecRestoreArray(vecs[k], &a));
    for (PetscInt j = 0; j < k; ++j) {
      PetscScalar dot;

      PetscCall(VecDot(vecs[k], vecs[j], &dot));
      PetscCall(VecAXPY(vecs[k], -dot, vecs[j]));
    }
    PetscCall(VecNormalize(vecs[k], NULL));
  }
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)b->mat), PETSC_FALSE, n, vecs, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORBlockEmbedSpace(HopsLORBlock *b, MatNullSpace from, MatNullSpace *to)
{
  const Vec *vecs;
  Vec       *inner;
  PetscInt   n;
  PetscBool  constant;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(from, &constant, &n, &vecs));
  PetscCall(VecDuplicateVecs(b->x, n + (constant ? 1 : 0), &inner));
  for (PetscInt k = 0; k < n; ++k) PetscCall(HopsLORBlockEmbedHost(b, vecs[k], inner[k]));
  if (constant) PetscCall(VecSet(inner[n], 1.0));
  n += constant ? 1 : 0;
  PetscCall(HopsLORBlockMakeSpace(b, n, inner, to));
  PetscCall(VecDestroyVecs(n, &inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORBlockSetNullSpaces(HopsLORBlock *b, Mat outer, Mat alternative)
{
  MatNullSpace nsp, near, inner;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(outer, &nsp));
  if (!nsp) PetscCall(MatGetNullSpace(alternative, &nsp));
  if (nsp) {
    PetscCall(HopsLORBlockEmbedSpace(b, nsp, &inner));
    PetscCall(MatSetNullSpace(b->mat, inner));
    PetscCall(MatNullSpaceDestroy(&inner));
  }
  if (!b->couple) PetscFunctionReturn(PETSC_SUCCESS); /* rotations join components */
  PetscCall(MatGetNearNullSpace(outer, &near));
  if (!near) PetscCall(MatGetNearNullSpace(alternative, &near));
  if (near) PetscCall(HopsLORBlockEmbedSpace(b, near, &inner));
  else if (b->nc == b->lor.space->dim) {
    MatNullSpace modes;
    Vec          coordinates;
    const Vec   *vecs;
    Vec         *masked;
    PetscInt     n;

    PetscCall(HopsLORBlockCoordinates(b, &coordinates));
    PetscCall(MatNullSpaceCreateRigidBody(coordinates, &modes));
    PetscCall(VecDestroy(&coordinates));
    PetscCall(MatNullSpaceGetVecs(modes, NULL, &n, &vecs));
    PetscCall(VecDuplicateVecs(b->x, n, &masked));
    for (PetscInt k = 0; k < n; ++k) PetscCall(VecCopy(vecs[k], masked[k]));
    PetscCall(HopsLORBlockMakeSpace(b, n, masked, &inner));
    PetscCall(VecDestroyVecs(n, &masked));
    PetscCall(MatNullSpaceDestroy(&modes));
  } else PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetNearNullSpace(b->mat, inner));
  PetscCall(MatNullSpaceDestroy(&inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
