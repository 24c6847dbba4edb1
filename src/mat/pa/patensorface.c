/*
  Boundary Jacobians in the operator with full tensors. On a face the tensors meet the values and the
  reference gradients of the trace of all components, as they do in cells (see patensor.c); the derivative
  normal to the face takes in all nodes of the cell.
*/
#include <hops/private/hopspatensorimpl.h>

/* the tensors of one point in reference coordinates, times w */
static void HopsFaceSetUpPoint(PetscInt ncc, PetscInt dim, PetscInt nq, PetscReal w, const PetscReal Ji[],
                               const PetscReal *const g[4], PetscReal *const out[4])
{
  for (PetscInt k = 0; k < ncc; ++k) {
    if (g[0]) out[0][k * nq] = w * g[0][k];
    for (PetscInt m = 1; m < 3; ++m)
      for (PetscInt a = 0; g[m] && a < dim; ++a) {
        PetscReal s = 0.0;

        for (PetscInt d = 0; d < dim; ++d) s += Ji[a * dim + d] * g[m][k * dim + d];
        out[m][(k * dim + a) * nq] = w * s;
      }
    for (PetscInt a = 0; g[3] && a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) {
        PetscReal s = 0.0;

        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) s += Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[b * dim + e];
        out[3][((k * dim + a) * dim + b) * nq] = w * s;
      }
  }
}

/* tensors g[k] of a face, to those of the term */
static void HopsFaceTermSetFace(HopsFaceTerm t, PetscInt f, PetscInt ncc, PetscInt dim, const HopsBasis *basis, const PetscReal J[],
                                const PetscReal ds[], const PetscReal *const g[4])
{
  const PetscInt Q = basis->Q, nq = HopsPower(Q, dim - 1);

  for (PetscInt q = 0; q < nq; ++q) {
    const PetscReal *in[4];
    PetscReal       *out[4];
    PetscReal        Ji[9], w = ds[q];

    HopsInverse(dim, J + q * dim * dim, Ji);
    for (PetscInt d = 0, k = q; d < dim - 1; ++d, k /= Q) w *= basis->weights[k % Q];
    for (PetscInt k = 0; k < 4; ++k) {
      const PetscInt size = ncc * HopsTensorEntries(dim, k);

      in[k]  = g[k] ? g[k] + q * size : NULL;
      out[k] = g[k] ? t->q[k] + (size_t)f * size * nq + q : NULL;
    }
    HopsFaceSetUpPoint(ncc, dim, nq, w, Ji, in, out);
  }
}

/* g[k] has all faces where a device evaluates them, else one after the other */
static PetscErrorCode HopsFaceTermSetUp(HopsFaceForm ff, HopsFaceTerm t, const HopsBasis *basis, const HopsFaceBasis *geom)
{
  HopsFields     F   = ff->jacobian->fields;
  const PetscInt dim = F->dim, ncc = F->nc[t->test] * F->nc[t->trial], nq = HopsPower(basis->Q, dim - 1);
  PetscReal     *x, *normal, *J, *ds;
  PetscReal     *g[4];
  PetscBool      device;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  for (PetscInt k = 0; k < 4; ++k) {
    const size_t n = (size_t)t->n * nq * ncc * HopsTensorEntries(dim, k);

    g[k] = NULL;
    PetscCall(PetscFree(t->q[k]));
    if (!t->nf[k]) continue;
    PetscCall(PetscMalloc1(n, &g[k]));
    PetscCall(PetscMalloc1(n, &t->q[k]));
  }
  PetscCall(HopsFaceTermEvaluateDevice(ff, t, basis, g, &device));
  for (PetscInt f = 0; f < t->n; ++f) {
    const PetscReal *at[4];

    PetscCall(HopsFaceGeometry(ff->space, geom, t->cells[f], t->faces[f], x, normal, J, ds));
    if (!device)
      PetscCall(
        HopsFaceTermEvaluate(ff->jacobian, t, ff->space, t->cells[f], t->faces[f], PETSC_FALSE, ff->basis, x, normal, J, g));
    for (PetscInt k = 0; k < 4; ++k) at[k] = g[k] && device ? g[k] + (size_t)f * nq * ncc * HopsTensorEntries(dim, k) : g[k];
    HopsFaceTermSetFace(t, f, ncc, dim, basis, J, ds, at);
  }
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceFormSetUp(HopsFaceForm ff, const HopsBasis *basis)
{
  HopsFaceBasis geom;

  PetscFunctionBegin;
  PetscCall(HopsFaceFormResetRule(ff));
  PetscCall(HopsFaceBasesCreate(ff->jacobian->fields, basis, &ff->basis));
  PetscCall(PetscMalloc1(ff->jacobian->fields->nf, &ff->rule));
  for (PetscInt i = 0; i < ff->jacobian->fields->nf; ++i)
    PetscCall(HopsBasisCreateLike(ff->jacobian->fields->P[i], basis, &ff->rule[i]));
  PetscCall(HopsFaceBasisCreate(ff->space->dim, ff->space->gorder + 1, basis, &geom));
  for (HopsFaceTerm t = ff->terms; t; t = t->next) PetscCall(HopsFaceTermSetUp(ff, t, basis, &geom));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v[c][test value and derivatives][q] += tensors of one face times u[c'][trial value and derivatives][q];
   transposed, u and v change places */
static void HopsFaceTensors(HopsFaceTerm t, PetscInt f, PetscInt nc, PetscInt nct, PetscInt dim, PetscInt nq, PetscBool transpose,
                            const PetscReal u[], PetscReal v[])
{
  for (PetscInt k = 0; k < nc * nct; ++k)
    for (PetscInt a = 0; a <= dim; ++a) /* test and trial derivative, 0: the value */
      for (PetscInt b = 0; b <= dim; ++b) {
        const PetscInt kind  = a ? (b ? 3 : 2) : (b ? 1 : 0),
                       entry = kind == 3 ? (k * dim + a - 1) * dim + b - 1 : (kind ? k * dim + a + b - 1 : k);
        const PetscInt   row = ((k / nct) * (dim + 1) + a) * nq, col = ((k % nct) * (dim + 1) + b) * nq;
        const PetscReal *ub = u + (transpose ? row : col);
        PetscReal       *va = v + (transpose ? col : row);
        const PetscReal *r;

        if (!t->q[kind]) continue;
        r = t->q[kind] + ((size_t)f * nc * nct * HopsTensorEntries(dim, kind) + entry) * nq;
        for (PetscInt q = 0; q < nq; ++q) va[q] += PetscRealPart(r[q]) * ub[q];
      }
}

/* the side of a field, which the operator has */
static HopsPASide *HopsPASideOf(HopsPATensor t, PetscInt side, PetscInt field)
{
  for (PetscInt i = 0; i < t->n[side]; ++i)
    if (t->side[side][i].field == field) return &t->side[side][i];
  return NULL;
}

PetscErrorCode HopsPATensorFacesApply(HopsPATensor t, PetscBool transpose)
{
  HopsFaceForm    ff  = t->faces;
  HopsFields      F   = t->jacobian->fields;
  const PetscInt  dim = F->dim, nq = HopsPower(ff->basis[0].Q, dim - 1);
  const PetscBool gradient = ff->has[1] || ff->has[2] || ff->has[3] ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  for (HopsFaceTerm term = ff->terms; term; term = term->next) {
    const PetscInt fin = transpose ? term->test : term->trial, fout = transpose ? term->trial : term->test;
    HopsPASide    *in   = HopsPASideOf(t, transpose ? HOPS_TEST : HOPS_TRIAL, fin),
               *out     = HopsPASideOf(t, transpose ? HOPS_TRIAL : HOPS_TEST, fout);
    const PetscInt npin = HopsPower(F->P[fin], dim), npout = HopsPower(F->P[fout], dim), nv = F->nc[fout] * (dim + 1) * nq;
    PetscReal     *e, *u, *v;

    PetscCall(PetscMalloc2(PetscMax(npin, npout), &e, nv, &v));
    PetscCall(PetscCalloc1(F->nc[fin] * (dim + 1) * nq, &u));
    for (PetscInt f = 0; f < term->n; ++f) {
      const int *rin = in->restr + (size_t)term->cells[f] * npin, *rout = out->restr + (size_t)term->cells[f] * npout;

      for (PetscInt c = 0; c < F->nc[fin]; ++c) {
        for (PetscInt i = 0; i < npin; ++i) e[i] = PetscRealPart(in->l[(size_t)rin[i] * F->nc[fin] + c]);
        PetscCall(HopsFaceInterpolate(&ff->basis[fin], term->faces[f], gradient, e, u + c * (dim + 1) * nq));
      }
      PetscCall(PetscArrayzero(v, nv));
      HopsFaceTensors(term, f, F->nc[term->test], F->nc[term->trial], dim, nq, transpose, u, v);
      for (PetscInt c = 0; c < F->nc[fout]; ++c) {
        PetscCall(PetscArrayzero(e, npout));
        PetscCall(HopsFaceIntegrate(&ff->basis[fout], term->faces[f], gradient, v + c * (dim + 1) * nq, e));
        for (PetscInt i = 0; i < npout; ++i) out->l[(size_t)rout[i] * F->nc[fout] + c] += e[i];
      }
    }
    PetscCall(PetscFree2(e, v));
    PetscCall(PetscFree(u));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One node after the other: its basis function and its derivatives at the points meet the tensors of each
   component with itself */
static PetscErrorCode HopsFaceTermDiagonal(HopsFaceForm ff, HopsFaceTerm term, HopsPASide *s)
{
  const HopsFaceBasis *fb  = &ff->basis[term->test];
  const PetscInt       dim = fb->dim, nc = s->nodes->nc, np = HopsPower(fb->P, dim), nq = HopsPower(fb->Q, dim - 1);
  PetscReal           *e, *u;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(np, &e, (size_t)2 * dim * np * (dim + 1) * nq, &u));
  for (PetscInt face = 0; face < 2 * dim; ++face)
    for (PetscInt i = 0; i < np; ++i) {
      e[i] = 1.0;
      PetscCall(HopsFaceInterpolate(fb, face, PETSC_TRUE, e, u + (size_t)(face * np + i) * (dim + 1) * nq));
      e[i] = 0.0;
    }
  for (PetscInt f = 0; f < term->n; ++f) {
    const int *restr = s->restr + (size_t)term->cells[f] * np;

    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt c = 0; c < nc; ++c) {
        const PetscReal *ui  = u + (size_t)(term->faces[f] * np + i) * (dim + 1) * nq;
        PetscReal        sum = 0.0;

        for (PetscInt a = 0; a <= dim; ++a)
          for (PetscInt b = 0; b <= dim; ++b) {
            const PetscInt k = c * nc + c, kind = a ? (b ? 3 : 2) : (b ? 1 : 0),
                           entry = kind == 3 ? (k * dim + a - 1) * dim + b - 1 : (kind ? k * dim + a + b - 1 : k);
            const PetscReal *r;

            if (!term->q[kind]) continue;
            r = term->q[kind] + ((size_t)f * nc * nc * HopsTensorEntries(dim, kind) + entry) * nq;
            for (PetscInt q = 0; q < nq; ++q) sum += ui[a * nq + q] * PetscRealPart(r[q]) * ui[b * nq + q];
          }
        s->l[(size_t)restr[i] * nc + c] += sum;
      }
  }
  PetscCall(PetscFree2(e, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorFacesDiagonal(HopsPATensor t)
{
  PetscFunctionBegin;
  for (HopsFaceTerm term = t->faces->terms; term; term = term->next)
    if (term->test == term->trial) PetscCall(HopsFaceTermDiagonal(t->faces, term, HopsPASideOf(t, HOPS_TEST, term->test)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
