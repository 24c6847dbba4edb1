/*
  Boundary Jacobians in the operator with full tensors. On a face the tensors meet the values and the reference gradients of the trace
  of all components, as they do in cells (see patensor.c); the derivative normal to the face takes in all nodes of the cell.
*/
#include <hops/private/hopsface.h>

static void HopsFaceSizes(PetscInt nc, PetscInt dim, PetscInt size[4])
{
  size[0] = nc * nc;
  size[1] = size[2] = nc * nc * dim;
  size[3]           = nc * nc * dim * dim;
}

/* the tensors of one point in reference coordinates, times w */
static void HopsFaceSetUpPoint(PetscInt nc, PetscInt dim, PetscInt nq, PetscReal w, const PetscReal Ji[], const PetscScalar *const g[4], PetscScalar *const out[4])
{
  for (PetscInt k = 0; k < nc * nc; ++k) {
    if (g[0]) out[0][k * nq] = w * g[0][k];
    for (PetscInt m = 1; m < 3; ++m)
      for (PetscInt a = 0; g[m] && a < dim; ++a) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d) s += Ji[a * dim + d] * g[m][k * dim + d];
        out[m][(k * dim + a) * nq] = w * s;
      }
    for (PetscInt a = 0; g[3] && a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) s += Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[b * dim + e];
        out[3][((k * dim + a) * dim + b) * nq] = w * s;
      }
  }
}

PetscErrorCode HopsFaceFormSetUp(HopsFaceForm ff, const HopsBasis *basis)
{
  HopsSpace      sp  = ff->space;
  const PetscInt dim = sp->dim, nc = ff->form->nc, Q = basis->Q, nq = PetscPowInt(Q, dim - 1);
  PetscInt       size[4];
  HopsFaceBasis  fb, geom;
  PetscReal     *x, *normal, *J, *ds;
  PetscScalar   *g[4];

  PetscFunctionBegin;
  HopsFaceSizes(nc, dim, size);
  PetscCall(HopsFaceBasisCreate(dim, sp->order + 1, basis, &fb));
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, basis, &geom));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  for (HopsFaceTerm t = ff->terms; t; t = t->next) {
    for (PetscInt k = 0; k < 4; ++k) {
      g[k] = NULL;
      PetscCall(PetscFree(t->q[k]));
      if (!t->nf[k]) continue;
      PetscCall(PetscMalloc1(nq * size[k], &g[k]));
      PetscCall(PetscMalloc1((size_t)t->n * nq * size[k], &t->q[k]));
    }
    for (PetscInt f = 0; f < t->n; ++f) {
      PetscCall(HopsFaceGeometry(sp, &geom, t->cells[f], t->faces[f], x, normal, J, ds));
      PetscCall(HopsFaceTermEvaluate(ff->form, t, sp, t->cells[f], t->faces[f], &fb, x, normal, J, g));
      for (PetscInt q = 0; q < nq; ++q) {
        const PetscScalar *in[4];
        PetscScalar       *out[4];
        PetscReal          Ji[9], w = ds[q];

        HopsInverse(dim, J + q * dim * dim, Ji);
        for (PetscInt d = 0, k = q; d < dim - 1; ++d, k /= Q) w *= basis->weights[k % Q];
        for (PetscInt k = 0; k < 4; ++k) {
          in[k]  = g[k] ? g[k] + q * size[k] : NULL;
          out[k] = g[k] ? t->q[k] + (size_t)f * size[k] * nq + q : NULL;
        }
        HopsFaceSetUpPoint(nc, dim, nq, w, Ji, in, out);
      }
    }
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  }
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscCall(HopsFaceBasisDestroy(&fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v[c][test value and derivatives][q] = tensors of one face times u[c'][trial value and derivatives][q] */
static void HopsFaceTensors(HopsFaceTerm t, PetscInt f, PetscInt nc, PetscInt dim, PetscInt nq, PetscBool transpose, const PetscReal u[], PetscReal v[])
{
  PetscInt size[4];

  HopsFaceSizes(nc, dim, size);
  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt g = 0; g < nc; ++g) {
      const PetscInt k = transpose ? g * nc + c : c * nc + g;

      for (PetscInt a = 0; a <= dim; ++a) /* test and trial derivative, 0: the value */
        for (PetscInt b = 0; b <= dim; ++b) {
          const PetscInt     A = transpose ? b : a, B = transpose ? a : b; /* those of the tensor */
          const PetscInt     kind = A ? (B ? 3 : 2) : (B ? 1 : 0), entry = kind == 3 ? (k * dim + A - 1) * dim + B - 1 : (kind ? k * dim + A + B - 1 : k);
          const PetscReal   *ub = u + (g * (dim + 1) + b) * nq;
          PetscReal         *va = v + (c * (dim + 1) + a) * nq;
          const PetscScalar *r;

          if (!t->q[kind]) continue;
          r = t->q[kind] + ((size_t)f * size[kind] + entry) * nq;
          for (PetscInt q = 0; q < nq; ++q) va[q] += r[q] * ub[q];
        }
    }
}

PetscErrorCode HopsFaceFormApply(HopsFaceForm ff, const HopsBasis *basis, PetscBool transpose, const PetscScalar xl[], PetscScalar yl[])
{
  HopsSpace       sp  = ff->space;
  const PetscInt  dim = sp->dim, nc = ff->form->nc, np = PetscPowInt(basis->P, dim), nq = PetscPowInt(basis->Q, dim - 1), nv = nc * (dim + 1) * nq;
  const PetscBool gradient = ff->has[1] || ff->has[2] || ff->has[3] ? PETSC_TRUE : PETSC_FALSE;
  HopsFaceBasis   fb;
  PetscReal      *e, *u, *v;

  PetscFunctionBegin;
  PetscCall(HopsFaceBasisCreate(dim, basis->P, basis, &fb));
  PetscCall(PetscMalloc3(np, &e, nv, &u, nv, &v));
  PetscCall(PetscArrayzero(u, nv));
  for (HopsFaceTerm t = ff->terms; t; t = t->next)
    for (PetscInt f = 0; f < t->n; ++f) {
      const int *restr = sp->restr + (size_t)t->cells[f] * np;

      for (PetscInt c = 0; c < nc; ++c) {
        for (PetscInt i = 0; i < np; ++i) e[i] = PetscRealPart(xl[(size_t)restr[i] * nc + c]);
        PetscCall(HopsFaceInterpolate(&fb, t->faces[f], gradient, e, u + c * (dim + 1) * nq));
      }
      PetscCall(PetscArrayzero(v, nv));
      HopsFaceTensors(t, f, nc, dim, nq, transpose, u, v);
      for (PetscInt c = 0; c < nc; ++c) {
        PetscCall(PetscArrayzero(e, np));
        PetscCall(HopsFaceIntegrate(&fb, t->faces[f], gradient, v + c * (dim + 1) * nq, e));
        for (PetscInt i = 0; i < np; ++i) yl[(size_t)restr[i] * nc + c] += e[i];
      }
    }
  PetscCall(PetscFree3(e, u, v));
  PetscCall(HopsFaceBasisDestroy(&fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One node after the other: its basis function and its derivatives at the points meet the tensors of each component with itself */
PetscErrorCode HopsFaceFormDiagonal(HopsFaceForm ff, const HopsBasis *basis, PetscScalar dl[])
{
  HopsSpace      sp  = ff->space;
  const PetscInt dim = sp->dim, nc = ff->form->nc, np = PetscPowInt(basis->P, dim), nq = PetscPowInt(basis->Q, dim - 1);
  PetscInt       size[4];
  HopsFaceBasis  fb;
  PetscReal     *e, *u;

  PetscFunctionBegin;
  HopsFaceSizes(nc, dim, size);
  PetscCall(HopsFaceBasisCreate(dim, basis->P, basis, &fb));
  PetscCall(PetscCalloc2(np, &e, (size_t)2 * dim * np * (dim + 1) * nq, &u));
  for (PetscInt face = 0; face < 2 * dim; ++face)
    for (PetscInt i = 0; i < np; ++i) {
      e[i] = 1.0;
      PetscCall(HopsFaceInterpolate(&fb, face, PETSC_TRUE, e, u + (size_t)(face * np + i) * (dim + 1) * nq));
      e[i] = 0.0;
    }
  for (HopsFaceTerm t = ff->terms; t; t = t->next)
    for (PetscInt f = 0; f < t->n; ++f) {
      const int *restr = sp->restr + (size_t)t->cells[f] * np;

      for (PetscInt i = 0; i < np; ++i)
        for (PetscInt c = 0; c < nc; ++c) {
          const PetscReal *ui = u + (size_t)(t->faces[f] * np + i) * (dim + 1) * nq;
          PetscReal        s  = 0.0;

          for (PetscInt a = 0; a <= dim; ++a)
            for (PetscInt b = 0; b <= dim; ++b) {
              const PetscInt     k = c * nc + c, kind = a ? (b ? 3 : 2) : (b ? 1 : 0), entry = kind == 3 ? (k * dim + a - 1) * dim + b - 1 : (kind ? k * dim + a + b - 1 : k);
              const PetscScalar *r;

              if (!t->q[kind]) continue;
              r = t->q[kind] + ((size_t)f * size[kind] + entry) * nq;
              for (PetscInt q = 0; q < nq; ++q) s += ui[a * nq + q] * PetscRealPart(r[q]) * ui[b * nq + q];
            }
          dl[(size_t)restr[i] * nc + c] += s;
        }
    }
  PetscCall(PetscFree2(e, u));
  PetscCall(HopsFaceBasisDestroy(&fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
