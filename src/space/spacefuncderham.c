/* Functions and the spaces H(curl), H(div) and L2: integrals over lines, faces and cells, right-hand sides,
   errors, values at points. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>
#include <petscdt.h>

void HopsTensorApplyRect(PetscInt dim, const PetscInt m[], const PetscInt n[], const PetscReal *const M[], const PetscReal in[],
                         PetscReal out[], PetscReal work[])
{
  PetscInt         inner = 1, outer = 1, size = 1;
  const PetscReal *src = in;

  for (PetscInt d = 0; d < dim; ++d) size *= PetscMax(m[d], n[d]);
  for (PetscInt d = 1; d < dim; ++d) outer *= n[d];
  for (PetscInt d = 0; d < dim; ++d) {
    PetscReal *dst = d == dim - 1 ? out : work + (d % 2) * size;

    for (PetscInt o = 0; o < outer; ++o)
      for (PetscInt q = 0; q < m[d]; ++q) {
        PetscReal *t = dst + (o * m[d] + q) * inner;

        for (PetscInt i = 0; i < inner; ++i) t[i] = 0.0;
        for (PetscInt j = 0; j < n[d]; ++j) {
          const PetscReal  a = M[d][q * n[d] + j];
          const PetscReal *s = src + (o * n[d] + j) * inner;

          for (PetscInt i = 0; i < inner; ++i) t[i] += a * s[i];
        }
      }
    src = dst;
    inner *= m[d];
    if (d < dim - 1) outer /= n[d + 1];
  }
}

/* ------------------------------------------ unknowns ------------------------------------------ */

/*
  Points of the integrals in one direction: the nodes (closed), or g Gauss points between each two (open),
  with the element map's basis tabulated there. Exact where the function along a line is a polynomial of
  degree order + 2 and so is the map's factor. With hanging nodes also at the points of the cell's parent, of
  which it is the lower half (1), or the upper one (2): there the map goes on, whose derivatives are twice the
  cell's.
*/
typedef struct {
  PetscInt   g, m[2]; /* m[0] nodes, m[1] Gauss points */
  PetscReal *B[3][2], *D[3][2], *w;
  PetscReal *pts, *J, *t, *work; /* of a component of a cell */
} HopsMomentRule;

/* Tabulates the map's basis at n points, as a half of the parent sees them */
static PetscErrorCode HopsMomentTabulate(PetscInt Pg, PetscInt n, const PetscReal x[], PetscInt half, PetscReal B[], PetscReal D[])
{
  PetscReal *y;
  HopsBasis  b;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &y));
  for (PetscInt i = 0; i < n; ++i) y[i] = half ? 2.0 * x[i] + (half == 1 ? 1.0 : -1.0) : x[i];
  PetscCall(HopsBasisCreateAtPoints(Pg, n, y, &b));
  for (PetscInt i = 0; i < n * Pg; ++i) {
    B[i] = b.B[i];
    D[i] = (half ? 2.0 : 1.0) * b.D[i];
  }
  PetscCall(HopsBasisDestroy(&b));
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMomentRuleCreate(HopsSpace sp, HopsMomentRule *r)
{
  const PetscInt Pg = sp->gorder + 1, dim = sp->dim;
  PetscReal     *z, *w, *x, *wg, *y;
  PetscInt       most;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->g    = (sp->order + sp->gorder) / 2 + 3;
  r->m[0] = sp->order + 1;
  r->m[1] = sp->order * r->g;
  PetscCall(PetscMalloc1(r->m[1], &r->w));
  PetscCall(PetscMalloc5(r->m[0], &z, r->m[0], &w, r->g, &x, r->g, &wg, r->m[1], &y));
  PetscCall(HopsGLL(r->m[0], z, w));
  PetscCall(PetscDTGaussQuadrature(r->g, -1.0, 1.0, x, wg));
  for (PetscInt i = 0; i < r->m[1]; ++i) {
    const PetscInt j = i / r->g;

    y[i]    = 0.5 * (z[j] + z[j + 1]) + 0.5 * (z[j + 1] - z[j]) * x[i % r->g];
    r->w[i] = 0.5 * (z[j + 1] - z[j]) * wg[i % r->g];
  }
  for (PetscInt half = 0; half < (sp->hanging ? 3 : 1); ++half)
    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(PetscMalloc1(r->m[k] * Pg, &r->B[half][k]));
      PetscCall(PetscMalloc1(r->m[k] * Pg, &r->D[half][k]));
      PetscCall(HopsMomentTabulate(Pg, r->m[k], k ? y : z, half, r->B[half][k], r->D[half][k]));
    }
  PetscCall(PetscFree5(z, w, x, wg, y));
  most = HopsPower(PetscMax(PetscMax(r->m[0], r->m[1]), Pg), dim);
  PetscCall(PetscMalloc4(most * dim, &r->pts, most * dim * dim, &r->J, most, &r->t, 2 * most, &r->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMomentRuleDestroy(HopsMomentRule *r)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 6; ++k) {
    PetscCall(PetscFree(r->B[k / 2][k % 2]));
    PetscCall(PetscFree(r->D[k / 2][k % 2]));
  }
  PetscCall(PetscFree(r->w));
  PetscCall(PetscFree4(r->pts, r->J, r->t, r->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The integrand of component c of the family: F . t along direction c, F . n on the faces across it, f times
   the volume */
static PetscReal HopsMoment(HopsFamily family, PetscInt dim, PetscInt c, const PetscReal J[], const PetscReal u[])
{
  PetscReal Ji[9], det, s = 0.0;

  if (family == HOPS_HCURL) {
    for (PetscInt i = 0; i < dim; ++i) s += J[i * dim + c] * u[i];
    return s;
  }
  det = HopsInverse(dim, J, Ji);
  if (family == HOPS_L2) return det * u[0];
  for (PetscInt i = 0; i < dim; ++i) s += Ji[c * dim + i] * u[i];
  return det * s;
}

/* r->pts and r->J: points and Jacobians of the integrals of component c of a cell, or of its parent's */
static void HopsMomentPoints(HopsSpace sp, const HopsLayout *l, PetscInt cell, PetscInt c, PetscBool parent, HopsMomentRule *r,
                             PetscInt m[])
{
  const PetscInt   dim = sp->dim, Pg = sp->gorder + 1, npg = HopsPower(Pg, dim);
  const PetscInt   n[3] = {Pg, Pg, Pg};
  const PetscReal *M[3];
  PetscInt         half[3] = {0, 0, 0}, nq = 1;

  for (PetscInt d = 0; d < dim; ++d) {
    nq *= m[d] = r->m[l->open[c][d]];
    half[d]    = parent ? 1 + (sp->hang[cell] >> d & 1) : 0;
  }
  for (PetscInt i = 0; i < dim; ++i) {
    const PetscReal *X = sp->X + (cell * dim + i) * npg;

    for (PetscInt d = 0; d < dim; ++d) M[d] = r->B[half[d]][l->open[c][d]];
    HopsTensorApplyRect(dim, m, n, M, X, r->t, r->work);
    for (PetscInt q = 0; q < nq; ++q) r->pts[q * dim + i] = r->t[q];
    for (PetscInt j = 0; j < dim; ++j) {
      for (PetscInt d = 0; d < dim; ++d) M[d] = (d == j ? r->D : r->B)[half[d]][l->open[c][d]];
      HopsTensorApplyRect(dim, m, n, M, X, r->t, r->work);
      for (PetscInt q = 0; q < nq; ++q) r->J[(q * dim + i) * dim + j] = r->t[q];
    }
  }
}

/* The integral of entry ijk of component c at these points, m[] of them in each direction */
static inline PetscErrorCode HopsMomentEntry(HopsFamily family, PetscInt dim, const PetscBool open[], PetscInt c,
                                             const PetscInt ijk[], const PetscInt m[], const HopsMomentRule *r, HopsRealFunction f,
                                             void *ctx, PetscReal *out)
{
  const PetscInt   nf = family == HOPS_L2 ? 1 : dim, g = r->g;
  PetscInt         np = 1, n = 0, first = 0, step[3];
  const PetscReal *w[3]; /* of the n directions in which it is open */
  PetscReal        sum = 0.0;

  PetscFunctionBegin;
  for (PetscInt d = 0, stride = 1; d < dim; stride *= m[d++]) {
    first += (open[d] ? g : 1) * ijk[d] * stride;
    if (!open[d]) continue;
    np *= g;
    w[n]      = r->w + ijk[d] * g;
    step[n++] = stride;
  }
  for (PetscInt s = 0; s < np; ++s) {
    PetscInt  q      = first;
    PetscReal weight = 1.0;
    PetscReal u[3];

    for (PetscInt o = 0, ss = s; o < n; ++o, ss /= g) {
      q += ss % g * step[o];
      weight *= w[o][ss % g];
    }
    PetscCall((*f)(dim, r->pts + q * dim, nf, u, ctx));
    sum += weight * HopsMoment(family, dim, c, r->J + q * dim * dim, u);
  }
  *out = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  x (owned part), g (ghosts) and cv (constrained part) take the unknowns of f; each may be NULL. What a cell
  lists of its parent is taken on the parent's lines and faces; a cell that has it as its own comes later
*/
PetscErrorCode HopsFieldMoments(HopsSpace sp, HopsRealFunction f, void *ctx, PetscReal x[], PetscReal g[], PetscReal cv[])
{
  HopsLayout     l;
  HopsMomentRule r;
  HopsHanging    h = {0};
  PetscBool     *on;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  PetscCall(HopsMomentRuleCreate(sp, &r));
  PetscCall(PetscCalloc1(sp->ne, &on));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  for (PetscInt own = sp->hanging ? 0 : 1; own < 2; ++own)
    for (PetscInt cell = x || g ? 0 : sp->ninterior; cell < sp->ncells; ++cell) { /* interior cells have owned entries alone */
      if (sp->hanging && !HopsHangingNodes(&h, sp->hang[cell], on) && !own) continue;
      for (PetscInt c = 0; c < l.nc; ++c) {
        const PetscInt *n     = l.n[c];
        PetscBool       ready = PETSC_FALSE; /* most cells have one component or none on the boundary */
        PetscInt        m[3]  = {1, 1, 1};

        for (PetscInt i = l.off[c]; i < l.off[c + 1]; ++i) {
          const int  e  = sp->restr[cell * sp->ne + i];
          PetscReal *to = HopsLEntry(sp, HopsUnsigned(e), x, g, cv), sum = 0.0;
          PetscInt   k = i - l.off[c], ijk[3];

          if (!to || on[i] == (own ? PETSC_TRUE : PETSC_FALSE)) continue;
          if (!ready) HopsMomentPoints(sp, &l, cell, c, own ? PETSC_FALSE : PETSC_TRUE, &r, m);
          ready  = PETSC_TRUE;
          ijk[0] = k % n[0];
          ijk[1] = k / n[0] % n[1];
          ijk[2] = k / (n[0] * n[1]);
          PetscCall(HopsMomentEntry(sp->family, sp->dim, l.open[c], c, ijk, m, &r, f, ctx, &sum));
          *to = HopsSign(e) * sum;
        }
      }
    }
  PetscCall(PetscFree(on));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(HopsMomentRuleDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- values ------------------------------------------- */

static void HopsFieldMatrices(const HopsLayout *l, const HopsBasis *b, PetscInt dim, PetscInt c, PetscInt m[], PetscInt n[],
                              const PetscReal *M[])
{
  for (PetscInt d = 0; d < dim; ++d) {
    m[d] = b->Q;
    n[d] = l->n[c][d];
    M[d] = l->open[c][d] ? b->E : b->B;
  }
}

PetscErrorCode HopsFieldAtPoints(HopsSpace sp, const HopsBasis *b, const PetscReal e[], const PetscReal J[], PetscReal u[])
{
  const PetscInt   dim = sp->dim, nq = HopsPower(b->Q, dim), size = HopsPower(PetscMax(b->Q, sp->order + 1), dim);
  HopsLayout       l;
  PetscReal       *v, *work;
  const PetscReal *M[3];
  PetscInt         m[3], n[3];

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, dim, sp->order, &l);
  PetscCall(PetscMalloc2(l.nc * nq, &v, 2 * size, &work));
  for (PetscInt c = 0; c < l.nc; ++c) {
    HopsFieldMatrices(&l, b, dim, c, m, n, M);
    HopsTensorApplyRect(dim, m, n, M, e + l.off[c], v + c * nq, work);
  }
  for (PetscInt q = 0; q < nq; ++q) {
    PetscReal Ji[9], ref[3] = {0.0, 0.0, 0.0};
    PetscReal det = HopsInverse(dim, J + q * dim * dim, Ji);

    for (PetscInt c = 0; c < l.nc; ++c) ref[c] = v[c * nq + q];
    HopsPiola(sp->family, dim, J + q * dim * dim, Ji, det, ref, u + q * l.nc);
  }
  PetscCall(PetscFree2(v, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void HopsFieldGather(HopsSpace sp, PetscInt c, const HopsHanging *h, const PetscReal x[], const PetscReal xg[],
                            PetscReal e[])
{
  for (PetscInt i = 0; i < sp->ne; ++i) {
    const int      r = sp->restr[c * sp->ne + i];
    const PetscInt l = HopsUnsigned(r);

    e[i] = HopsSign(r) * (l < sp->nT ? x[l] : xg[l - sp->nT]);
  }
  if (sp->hanging) HopsHangingApply(h, sp->hang[c], PETSC_FALSE, e);
}

/* Reference coordinates lie in the cell, but for what an iteration that found them leaves */
static PetscErrorCode HopsEvaluateCheckPoints(PetscInt n, const PetscReal xi[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(PetscAbsReal(xi[i]) <= 1.001, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A point has the reference coordinate %g, outside [-1,1]: find the cell that holds it", (double)xi[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceEvaluate - Evaluates a field at points of this rank's cells.

  Collective

  Input Parameters:
+ space - the space, of any family
. x     - the vector of the field
. n     - number of points on this rank
. cells - [n] the cell of each point: its DMPlex point, or its index in the arrays that made the space
- xi    - [n][dim] reference coordinates of the points in their cells, in [-1,1]

  Output Parameter:
. u - [n][nc] the values; nc is dim for H(curl) and H(div), else 1

  Level: intermediate

.seealso: `HopsSpace`, `HopsSpaceInterpolate()`, `HopsSpaceViewVTU()`
@*/
PetscErrorCode HopsSpaceEvaluate(HopsSpace space, Vec x, PetscInt n, const PetscInt cells[], const PetscReal xi[], PetscScalar u[])
{
  PetscInt         dim, P, Pg, npg, size;
  HopsLayout       l;
  PetscInt        *where;
  HopsHanging      h = {0};
  PetscReal       *e, *work;
  const PetscReal *a[HOPS_PARTS];
  PetscReal       *xg[HOPS_PARTS];

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidArray(n, cells, 4);
  HopsValidArray(n, xi, 5);
  HopsValidArray(n, u, 6);
  PetscCall(HopsSpaceCheckVec(space, x, "of the field"));
  PetscCall(HopsSpaceBringMesh(space));
  dim  = space->dim;
  P    = space->order + 1;
  Pg   = space->gorder + 1;
  npg  = HopsPower(Pg, dim);
  size = HopsPower(PetscMax(P, Pg), dim);
  PetscCall(HopsEvaluateCheckPoints(n * dim, xi));
  HopsLayoutCreate(space->family, dim, space->order, &l);
  PetscCall(PetscMalloc3(space->ncaller, &where, space->ne, &e, 2 * size, &work));
  if (space->hanging) PetscCall(HopsHangingCreate(space->family, dim, space->order, &h));
  for (PetscInt c = 0; c < space->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < space->ncells; ++c) where[space->cell[c] - space->cstart] = c;
  for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
    PetscCall(PetscMalloc1(space->nL - space->nT, &xg[part]));
    PetscCall(HopsHostVecGetPartRead(x, part, &a[part]));
    PetscCall(HopsSpaceGlobalToLocal(space, part, a[part], xg[part]));
  }
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt   at = cells[k] - space->cstart, c = at >= 0 && at < space->ncaller ? where[at] : -1;
    const PetscInt   one[3] = {1, 1, 1}, ng[3] = {Pg, Pg, Pg};
    PetscReal        J[9], Ji[9], ref[3] = {0.0, 0.0, 0.0}, v[3], det;
    const PetscReal *M[3];
    HopsBasis        b[3], geom[3];
    PetscReal        point[3] = {0.0, 0.0, 0.0};

    PetscCheck(c >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "There is no cell %" PetscInt_FMT " on this rank", cells[k]);
    for (PetscInt d = 0; d < dim; ++d) {
      point[d] = xi[k * dim + (space->turned && d < 2 ? 1 - d : d)];
      PetscCall(HopsBasisCreateAtPoints(P, 1, &point[d], &b[d]));
      PetscCall(HopsBasisCreateAtPoints(Pg, 1, &point[d], &geom[d]));
    }
    for (PetscInt i = 0; i < dim; ++i)
      for (PetscInt j = 0; j < dim; ++j) {
        for (PetscInt d = 0; d < dim; ++d) M[d] = d == j ? geom[d].D : geom[d].B;
        HopsTensorApplyRect(dim, one, ng, M, space->X + (c * dim + i) * npg, &J[i * dim + j], work);
      }
    det = HopsInverse(dim, J, Ji);
    for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
      HopsFieldGather(space, c, &h, a[part], xg[part], e);
      for (PetscInt i = 0; i < l.nc; ++i) {
        for (PetscInt d = 0; d < dim; ++d) M[d] = l.open[i][d] ? b[d].E : b[d].B;
        HopsTensorApplyRect(dim, one, l.n[i], M, e + l.off[i], &ref[i], work);
      }
      HopsPiola(space->family, dim, J, Ji, det, ref, v);
      for (PetscInt i = 0; i < l.nc; ++i) HopsScalarSetPart(&u[k * l.nc + i], part, v[i]);
    }
    for (PetscInt d = 0; d < dim; ++d) {
      PetscCall(HopsBasisDestroy(&b[d]));
      PetscCall(HopsBasisDestroy(&geom[d]));
    }
  }
  for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
    PetscCall(HopsHostVecRestorePartRead(x, part, &a[part]));
    PetscCall(PetscFree(xg[part]));
  }
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree3(where, e, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal HopsFieldWeight(const HopsBasis *b, PetscInt dim, PetscInt q)
{
  PetscReal w = 1.0;

  for (PetscInt d = 0; d < dim; ++d, q /= b->Q) w *= b->weights[q % b->Q];
  return w;
}

PetscErrorCode HopsFieldComputeL2Error(HopsSpace sp, Vec x, PetscInt part, HopsRealFunction f, void *ctx, PetscReal *square)
{
  const PetscInt   dim = sp->dim, P = sp->order + 1, Q = P + 3, nq = HopsPower(Q, dim), nc = sp->family == HOPS_L2 ? 1 : dim;
  HopsBasis        basis, geom;
  HopsHanging      h = {0};
  PetscReal       *pts, *J, *e, *u, sum = 0.0;
  const PetscReal *a;
  PetscReal       *xg;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, Q, PETSC_FALSE, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &basis, &geom));
  PetscCall(PetscMalloc5(nq * dim, &pts, nq * dim * dim, &J, sp->ne, &e, nq * nc, &u, sp->nL - sp->nT, &xg));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &h));
  PetscCall(HopsHostVecGetPartRead(x, part, &a));
  PetscCall(HopsSpaceGlobalToLocal(sp, part, a, xg));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, pts, J));
    HopsFieldGather(sp, c, &h, a, xg, e);
    PetscCall(HopsFieldAtPoints(sp, &basis, e, J, u));
    for (PetscInt q = 0; q < nq; ++q) {
      PetscReal       v[3];
      PetscReal       Ji[9];
      const PetscReal w = HopsFieldWeight(&basis, dim, q) * HopsInverse(dim, J + q * dim * dim, Ji);

      PetscCall((*f)(dim, pts + q * dim, nc, v, ctx));
      for (PetscInt i = 0; i < nc; ++i) sum += w * PetscSqr(u[q * nc + i] - v[i]);
    }
  }
  PetscCall(HopsHostVecRestorePartRead(x, part, &a));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree5(pts, J, e, u, xg));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsBasisDestroy(&geom));
  *square += sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weight times the reference components of f, tested with reference basis functions: J^-1 f det, J^T f,
   f */
PetscErrorCode HopsFieldComputeRHS(HopsSpace sp, PetscInt part, HopsRealFunction f, void *ctx, Vec b)
{
  const PetscInt dim = sp->dim, P = sp->order + 1, Q = P + 2, nq = HopsPower(Q, dim);
  HopsLayout     l;
  HopsBasis      basis, geom;
  HopsHanging    h = {0};
  PetscReal     *pts, *J, *e, *u, *work, *Bt, *Et;
  PetscReal     *y, *yg;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, dim, sp->order, &l);
  PetscCall(HopsBasisCreate(P, Q, PETSC_FALSE, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &basis, &geom));
  PetscCall(PetscMalloc7(nq * dim, &pts, nq * dim * dim, &J, sp->ne, &e, nq * l.nc, &u, 2 * nq, &work, P * Q, &Bt, P * Q, &Et));
  for (PetscInt q = 0; q < Q; ++q) {
    for (PetscInt i = 0; i < P; ++i) Bt[i * Q + q] = basis.B[q * P + i];
    for (PetscInt i = 0; i < P - 1; ++i) Et[i * Q + q] = basis.E[q * (P - 1) + i];
  }
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &h));
  PetscCall(PetscCalloc1(sp->nL - sp->nT, &yg));
  PetscCall(HopsHostVecGetPart(b, part, HOPS_VEC_WRITE, &y));
  PetscCall(PetscArrayzero(y, sp->nT));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, pts, J));
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscReal *Jq = J + q * dim * dim, w = HopsFieldWeight(&basis, dim, q);
      PetscReal        Ji[9], det;
      PetscReal        v[3];

      det = HopsInverse(dim, Jq, Ji);
      PetscCall((*f)(dim, pts + q * dim, l.nc, v, ctx));
      for (PetscInt a = 0; a < l.nc; ++a) {
        PetscReal s = 0.0;

        if (sp->family == HOPS_L2) s = v[0];
        else
          for (PetscInt i = 0; i < dim; ++i) s += sp->family == HOPS_HCURL ? det * Ji[a * dim + i] * v[i] : Jq[i * dim + a] * v[i];
        u[a * nq + q] = w * s;
      }
    }
    for (PetscInt a = 0; a < l.nc; ++a) {
      const PetscReal *M[3];
      const PetscInt   n[3] = {Q, Q, Q};

      for (PetscInt d = 0; d < dim; ++d) M[d] = l.open[a][d] ? Et : Bt;
      HopsTensorApplyRect(dim, l.n[a], n, M, u + a * nq, e + l.off[a], work);
    }
    if (sp->hanging) HopsHangingApply(&h, sp->hang[c], PETSC_TRUE, e);
    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int      r = sp->restr[c * sp->ne + i];
      const PetscInt k = HopsUnsigned(r);

      if (k < sp->nT) y[k] += HopsSign(r) * e[i];
      else yg[k - sp->nT] += HopsSign(r) * e[i];
    }
  }
  PetscCall(HopsProlongTransposeBegin(sp->hostP, yg, y));
  PetscCall(HopsProlongTransposeEnd(sp->hostP, yg, y));
  PetscCall(HopsHostVecRestorePart(b, part, HOPS_VEC_WRITE, &y));
  PetscCall(PetscFree(yg));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree7(pts, J, e, u, work, Bt, Et));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}
