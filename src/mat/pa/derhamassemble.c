/* Forms on H(curl), H(div) and L2 to AIJ: dense element matrices from basis functions and their derivatives,
   point by point. Slow, and independent of the kernels. */
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>
#include <petscmat.h>

/* derivatives of the edge functions at the points, by differentiating twice on the Lagrange basis: e_j' =
   -sum_{k<=j} l_k'' */
static PetscErrorCode HopsEdgeDerivatives(const HopsBasis *b, PetscReal F[])
{
  const PetscInt P = b->P, p = P - 1;
  HopsBasis      nodal;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(P, P, b->nodes, &nodal)); /* D: derivatives at the nodes */
  for (PetscInt q = 0; q < b->Q; ++q)
    for (PetscInt j = 0; j < p; ++j) {
      F[q * p + j] = 0.0;
      for (PetscInt i = 0; i < P; ++i) { /* l_k'(x) = sum_i l_k'(z_i) l_i(x) */
        PetscReal e = 0.0;

        for (PetscInt k = 0; k <= j; ++k) e -= nodal.D[i * P + k];
        F[q * p + j] += e * b->D[q * P + i];
      }
    }
  PetscCall(HopsBasisDestroy(&nodal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The reference field of E-vector entry i and its reference derivatives at point q: val is entry c of the
  vector alone, grad its gradient in reference coordinates
*/
static void HopsShape(const HopsLayout *l, const HopsBasis *b, const PetscReal F[], PetscInt dim, PetscInt i, PetscInt q,
                      PetscInt *c, PetscReal *val, PetscReal grad[])
{
  PetscInt ii, qq[3];

  for (*c = 0; i >= l->off[*c + 1]; ++*c) {}
  ii   = i - l->off[*c];
  *val = 1.0;
  for (PetscInt d = 0; d < dim; ++d, q /= b->Q) qq[d] = q % b->Q;
  for (PetscInt d = 0; d < dim; ++d) grad[d] = 1.0;
  for (PetscInt d = 0; d < dim; ++d) {
    const PetscInt  n = l->n[*c][d], j = ii % n;
    const PetscReal v = (l->open[*c][d] ? b->E : b->B)[qq[d] * n + j], dv = (l->open[*c][d] ? F : b->D)[qq[d] * n + j];

    ii /= n;
    *val *= v;
    for (PetscInt e = 0; e < dim; ++e) grad[e] *= e == d ? dv : v;
  }
}

/* physical values u[nc] and derivative du[nd] (curl or divergence) of one basis function */
static void HopsPhysicalShape(HopsFamily family, PetscInt dim, PetscInt c, PetscReal val, const PetscReal grad[],
                              const PetscReal J[], const PetscReal Ji[], PetscReal det, PetscReal u[], PetscReal du[])
{
  PetscReal ref[3] = {0.0, 0.0, 0.0}, dref[3] = {0.0, 0.0, 0.0};

  ref[family == HOPS_L2 ? 0 : c] = val;
  HopsPiola(family, dim, J, Ji, det, ref, u);
  if (family == HOPS_HDIV) {
    du[0] = grad[c] / det;
    return;
  }
  if (family == HOPS_L2) return;
  if (dim == 2) {
    du[0] = (c == 0 ? -grad[1] : grad[0]) / det;
    return;
  }
  dref[(c + 1) % 3] = grad[(c + 2) % 3];
  dref[(c + 2) % 3] = -grad[(c + 1) % 3];
  HopsPiola(HOPS_HDIV, dim, J, Ji, det, dref, du);
}

/* y = K x for a scalar, diagonal or symmetric coefficient */
static void HopsTimes(PetscInt n, PetscInt nc, const PetscReal v[], const PetscReal x[], PetscReal y[])
{
  for (PetscInt i = 0, k = 0; i < n; ++i) {
    if (nc == 1 || nc == n) y[i] = v[nc == 1 ? 0 : i] * x[i];
    else {
      if (!i)
        for (PetscInt j = 0; j < n; ++j) y[j] = 0.0;
      for (PetscInt j = i; j < n; ++j, ++k) {
        y[i] += v[k] * x[j];
        if (i != j) y[j] += v[k] * x[i];
      }
    }
  }
}

static PetscErrorCode HopsFormElement(Mat_PA *pa, const HopsBasis *geom, const PetscReal F[], PetscInt cell, PetscReal work[],
                                      PetscReal E[])
{
  HopsSpace        sp  = pa->form->space;
  const PetscInt   dim = sp->dim, ne = sp->ne, nq = HopsPower(pa->basis.Q, dim);
  const PetscInt   nc = sp->family == HOPS_L2 ? 1 : dim, nd = sp->family == HOPS_HCURL && dim == 3 ? 3 : 1;
  const HopsBasis *b = &pa->basis;
  HopsLayout       l;
  PetscReal       *x, *J, *u = work, *du = work + 3 * ne;
  HopsValues       mu, beta;
  size_t           ks = 0, ms = 0;
  PetscReal       *kw = NULL, *mw = NULL;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, dim, sp->order, &l);
  PetscCall(PetscMalloc2(nq * dim, &x, nq * dim * dim, &J));
  PetscCall(HopsSpaceGetPoints(sp, geom, cell, 1, x, J));
  PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(pa->form), sp, b, cell, 1, &ks, &kw, &mu));
  PetscCall(HopsCoefficientEvaluate(HopsFormValue(pa->form), sp, b, cell, 1, &ms, &mw, &beta));
  for (PetscInt q = 0; q < nq; ++q) {
    PetscReal Ji[9], w = 1.0, det;

    for (PetscInt d = 0, qq = q; d < dim; ++d, qq /= b->Q) w *= b->weights[qq % b->Q];
    det = HopsInverse(dim, J + q * dim * dim, Ji);
    if (!(det > 0)) PetscCall(HopsSpaceErrorCell(sp, cell, det));
    w *= det;
    for (PetscInt i = 0; i < ne; ++i) {
      PetscReal val, grad[3];
      PetscInt  c;

      HopsShape(&l, b, F, dim, i, q, &c, &val, grad);
      HopsPhysicalShape(sp->family, dim, c, val, grad, J + q * dim * dim, Ji, det, u + 3 * i, du + 3 * i);
    }
    for (PetscInt i = 0; i < ne; ++i) {
      PetscReal Ku[3], Kdu[3];

      if (beta.nc) HopsTimes(nc, beta.nc, beta.v + q * beta.pstride, u + 3 * i, Ku);
      if (mu.nc) HopsTimes(nd, mu.nc, mu.v + q * mu.pstride, du + 3 * i, Kdu);
      for (PetscInt j = 0; j < ne; ++j) {
        PetscReal s = 0.0;

        for (PetscInt a = 0; a < nc && beta.nc; ++a) s += Ku[a] * u[3 * j + a];
        for (PetscInt a = 0; a < nd && mu.nc; ++a) s += Kdu[a] * du[3 * j + a];
        E[i * ne + j] += w * s;
      }
    }
  }
  PetscCall(PetscFree2(x, J));
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDerhamAssemble(Mat A, Mat_PA *pa, MatReuse reuse, Mat *newmat)
{
  HopsSpace      sp = pa->form->space;
  const PetscInt ne = sp->ne;
  HopsBasis      geom;
  HopsHanging    h = {0};
  Mat            B;
  PetscInt      *gidx, *row;
  PetscReal     *F, *work;
  PetscReal     *E;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscMalloc5(sp->nL, &gidx, ne, &row, pa->basis.Q * sp->order, &F, 6 * ne, &work, ne * ne, &E));
  for (PetscInt l = 0; l < sp->nL; ++l) gidx[l] = l < sp->nT ? sp->rstart + l : (l < sp->nT + sp->nG ? sp->ghost[l - sp->nT] : -1);
  PetscCall(PetscArrayzero(E, ne * ne));
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  } else {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, sp->nT, sp->nT, sp->N, sp->N));
    PetscCall(MatSetType(B, MATAIJ));
    PetscCall(HopsPreallocate(sp, gidx, E, row, B));
  }
  PetscCall(HopsEdgeDerivatives(&pa->basis, F));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &pa->basis, &geom));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(PetscArrayzero(E, ne * ne));
    PetscCall(HopsFormElement(pa, &geom, F, c, work, E));
    if (sp->hanging) HopsHangingElement(&h, sp->hang[c], E);
    for (PetscInt i = 0; i < ne; ++i) {
      const int r = sp->restr[c * ne + i];

      row[i] = gidx[HopsUnsigned(r)];
      for (PetscInt j = 0; j < ne; ++j) E[i * ne + j] *= HopsSign(r) * HopsSign(sp->restr[c * ne + j]);
    }
    PetscCall(HopsMatSetReal(B, ne, row, ne, row, E, ADD_VALUES));
  }
  for (PetscInt e = 0; e < sp->ness; ++e)
    PetscCall(MatSetValue(B, sp->rstart + sp->essT[e], sp->rstart + sp->essT[e], 1.0, ADD_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree5(gidx, row, F, work, E));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
