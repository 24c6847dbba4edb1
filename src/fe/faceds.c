/* Robin terms of a PetscDS: the boundary Jacobian g0 at points of faces, as the coefficient of a Robin term. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsds.h>

typedef struct {
  HopsTensorForm form; /* state and node order */
  PetscDS        ds;
  PetscWeakForm  wf;
  DMLabel        label;
  PetscInt       value;
} HopsFaceContext;

/* Values N[i] and reference derivatives dN[i][d] of the tensor-product Lagrange functions on GLL nodes at one point */
static PetscErrorCode HopsLagrangeAt(PetscInt dim, PetscInt P, const PetscReal xi[], PetscReal N[], PetscReal dN[])
{
  HopsBasis b[3];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) PetscCall(HopsBasisCreateAtPoints(P, 1, xi + d, &b[d]));
  for (PetscInt i = 0; i < PetscPowInt(P, dim); ++i) {
    PetscInt k[3];

    for (PetscInt d = 0, j = i; d < dim; ++d, j /= P) k[d] = j % P;
    N[i] = 1.0;
    for (PetscInt d = 0; d < dim; ++d) N[i] *= b[d].B[k[d]];
    for (PetscInt e = 0; e < dim; ++e) {
      dN[i * dim + e] = 1.0;
      for (PetscInt d = 0; d < dim; ++d) dN[i * dim + e] *= d == e ? b[d].D[k[d]] : b[d].B[k[d]];
    }
  }
  for (PetscInt d = 0; d < dim; ++d) PetscCall(HopsBasisDestroy(&b[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u, ux of the state at one point; zero without a state */
static PetscErrorCode HopsStateAt(HopsTensorForm form, Vec v, PetscInt cell, PetscInt dim, PetscInt np, const PetscReal N[], const PetscReal dN[], const PetscReal Ji[], PetscScalar u[], PetscScalar ux[])
{
  PetscScalar *closure = NULL;
  PetscInt     n;

  PetscFunctionBegin;
  u[0] = 0.0;
  for (PetscInt d = 0; d < dim; ++d) ux[d] = 0.0;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexVecGetClosure(form->dm, NULL, v, cell, &n, &closure));
  for (PetscInt i = 0; i < np; ++i) {
    u[0] += N[form->node[i]] * closure[i];
    for (PetscInt d = 0; d < dim; ++d)
      for (PetscInt e = 0; e < dim; ++e) ux[d] += dN[form->node[i] * dim + e] * Ji[e * dim + d] * closure[i];
  }
  PetscCall(DMPlexVecRestoreClosure(form->dm, NULL, v, cell, &n, &closure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceEvaluate_DS(HopsCoefficient cf, HopsSpace sp, PetscInt c, PetscInt face, const HopsBasis *basis, const PetscReal x[], const PetscReal normal[], PetscScalar out[])
{
  HopsFaceContext   *ctx  = (HopsFaceContext *)cf->ctx;
  HopsTensorForm     form = ctx->form;
  const PetscInt     dim = sp->dim, Q = basis->Q, nq = PetscPowInt(Q, dim - 1), P = sp->order + 1, np = PetscPowInt(P, dim), g = sp->gorder + 1, ng = PetscPowInt(g, dim), cell = sp->cell[c];
  const PetscInt     uOff[2] = {0, 1}, uOffx[2] = {0, dim};
  PetscReal         *xi, *J, *N, *dN;
  PetscScalar       *a, *ax;
  const PetscScalar *constants;
  HopsAux            aux;
  HopsBdPointJac    *g0, *gk;
  PetscInt           n0, n1, n2, n3, nconst;

  PetscFunctionBegin;
  PetscCall(PetscWeakFormGetBdJacobian(ctx->wf, ctx->label, ctx->value, 0, 0, 0, &n0, &g0, &n1, &gk, &n2, &gk, &n3, &gk));
  PetscCall(PetscDSGetConstants(ctx->ds, &nconst, &constants));
  PetscCall(PetscMalloc4(nq * dim, &xi, nq * dim * dim, &J, PetscMax(np, ng), &N, PetscMax(np, ng) * dim, &dN));
  for (PetscInt q = 0; q < nq; ++q) {
    for (PetscInt d = 0, k = q; d < dim; ++d) {
      if (d == face / 2) xi[q * dim + d] = face % 2 ? 1.0 : -1.0;
      else {
        xi[q * dim + d] = basis->points[k % Q];
        k /= Q;
      }
    }
    PetscCall(HopsLagrangeAt(dim, g, xi + q * dim, N, dN));
    for (PetscInt i = 0; i < dim; ++i)
      for (PetscInt j = 0; j < dim; ++j) {
        J[(q * dim + i) * dim + j] = 0.0;
        for (PetscInt k = 0; k < ng; ++k) J[(q * dim + i) * dim + j] += sp->X[(c * dim + i) * ng + k] * dN[k * dim + j];
      }
  }
  PetscCall(HopsAuxCreate(form->dm, ctx->label, ctx->value, cell, nq, xi, &aux));
  PetscCall(PetscMalloc2(nq * aux.nc, &a, nq * aux.nc * dim, &ax));
  if (aux.v) PetscCall(HopsAuxEvaluate(&aux, form->dm, cell, dim, nq, J, a, ax));
  for (PetscInt q = 0; q < nq; ++q) {
    PetscReal   Ji[9];
    PetscScalar u[1], ux[3], ut[1], utx[3];

    HopsInverse(dim, J + q * dim * dim, Ji);
    PetscCall(HopsLagrangeAt(dim, P, xi + q * dim, N, dN));
    PetscCall(HopsStateAt(form, form->X, cell, dim, np, N, dN, Ji, u, ux));
    PetscCall(HopsStateAt(form, form->Xt, cell, dim, np, N, dN, Ji, ut, utx));
    for (PetscInt probe = 0; probe < (form->X ? 1 : 2); ++probe) { /* without a state the function must not depend on it */
      PetscScalar v = 0.0;

      if (probe) {
        u[0] = 0.7310585786;
        for (PetscInt d = 0; d < dim; ++d) ux[d] = 0.3141592653 - d;
      }
      for (PetscInt k = 0; k < n0; ++k) (*g0[k])(dim, 1, aux.nf, uOff, uOffx, u, ut, ux, aux.off, aux.offx, a + q * aux.nc, NULL, ax + q * aux.nc * dim, form->t, form->shift, x + q * dim, normal + q * dim, nconst, constants, &v);
      PetscCheck(!probe || PetscAbsScalar(v - out[q]) <= 1e-12 * PetscAbsScalar(v) || PetscIsInfOrNanScalar(v), PETSC_COMM_SELF, PETSC_ERR_SUP, "The boundary Jacobian of the PetscDS depends on the solution (cell %" PetscInt_FMT "), which a preconditioner does not see: make the operator matrix-free by -dm_mat_type pa, which keeps the state, or leave it out by -pc_lor_ignore boundary", cell);
      out[q] = v;
    }
  }
  PetscCall(PetscFree2(a, ax));
  PetscCall(HopsAuxDestroy(&aux));
  PetscCall(PetscFree4(xi, J, N, dN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceContextDestroy(void *p)
{
  HopsFaceContext *ctx = (HopsFaceContext *)p;

  PetscFunctionBegin;
  PetscCall(HopsTensorFormDestroy(&ctx->form));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRobinCreateDS(HopsTensorForm form, HopsSpace sp, HopsRobin *list)
{
  PetscDS    ds;
  PetscInt   nb, *where;
  HopsRobin *end = list;

  PetscFunctionBegin;
  PetscCall(DMGetDS(form->dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  PetscCall(PetscMalloc1(sp->ncaller, &where));
  for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
  for (; *end; end = &(*end)->next) {}
  for (PetscInt b = 0; b < nb; ++b) {
    PetscWeakForm           wf;
    DMBoundaryConditionType type;
    DMLabel                 label;
    const PetscInt         *values;
    PetscInt                nv;
    PetscBool               pre;

    PetscCall(PetscDSGetBoundary(ds, b, &wf, &type, NULL, &label, &nv, &values, NULL, NULL, NULL, NULL, NULL, NULL));
    if (type & DM_BC_ESSENTIAL) continue;
    PetscCall(PetscWeakFormHasBdJacobianPreconditioner(wf, &pre));
    PetscCheck(!pre, PetscObjectComm((PetscObject)form->dm), PETSC_ERR_SUP, "The PetscDS has a boundary Jacobian for the preconditioning matrix alone, which hops does not take: leave it out by -pc_lor_ignore boundary");
    for (PetscInt v = 0; v < nv; ++v) {
      HopsBdPointJac  *g;
      PetscInt         n0, n1, n2, n3, *cells;
      HopsRobin        r;
      HopsFaceContext *ctx;

      PetscCall(PetscWeakFormGetBdJacobian(wf, label, values[v], 0, 0, 0, &n0, &g, &n1, &g, &n2, &g, &n3, &g));
      PetscCheck(!n1 && !n2 && !n3, PetscObjectComm((PetscObject)form->dm), PETSC_ERR_SUP, "The PetscDS has a boundary Jacobian with derivatives (g1, g2 or g3 of value %" PetscInt_FMT "), of which hops takes g0 alone: leave out -dm_mat_type pa, or use -pc_lor_ignore boundary", values[v]);
      if (!n0) continue;
      PetscCheck(form->nc == 1, PetscObjectComm((PetscObject)form->dm), PETSC_ERR_SUP, "The PetscDS has a boundary Jacobian (a Robin term) on a field of %" PetscInt_FMT " components, which hops takes for scalar fields alone: leave out -dm_mat_type pa and use -pc_lor_ignore boundary", form->nc);
      PetscCall(PetscNew(&r));
      PetscCall(PetscNew(&ctx));
      ++form->refct;
      ctx->form  = form;
      ctx->ds    = ds;
      ctx->wf    = wf;
      ctx->label = label;
      ctx->value = values[v];
      PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)form->dm), 1, "PetscDS", &r->alpha));
      r->alpha->ctx          = ctx;
      r->alpha->destroyctx   = HopsFaceContextDestroy;
      r->alpha->evaluateface = HopsFaceEvaluate_DS;
      PetscCall(HopsSpaceGetLabelFaces(sp, label, values[v], &r->n, &cells, &r->faces));
      for (PetscInt i = 0; i < r->n; ++i) cells[i] = where[cells[i] - sp->cstart];
      {
        PetscInt *c, *f; /* in one allocation, as MatPAAddRobin() makes them */

        PetscCall(PetscMalloc2(r->n, &c, r->n, &f));
        PetscCall(PetscArraycpy(c, cells, r->n));
        PetscCall(PetscArraycpy(f, r->faces, r->n));
        PetscCall(PetscFree(cells));
        PetscCall(PetscFree(r->faces));
        r->cells = c;
        r->faces = f;
      }
      *end = r;
      end  = &r->next;
    }
  }
  PetscCall(PetscFree(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators with full tensors have no Robin terms */
PetscErrorCode HopsDSCheckNoRobin(DM dm)
{
  PetscDS  ds;
  PetscInt nb;

  PetscFunctionBegin;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  for (PetscInt b = 0; b < nb; ++b) { /* each boundary has a weak form of its own */
    PetscWeakForm wf;
    PetscBool     has;

    PetscCall(PetscDSGetBoundary(ds, b, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(PetscWeakFormHasBdJacobian(wf, &has));
    if (!has) PetscCall(PetscWeakFormHasBdJacobianPreconditioner(wf, &has));
    PetscCheck(!has, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The PetscDS has a boundary Jacobian (a Robin term) beside several components, first-order terms or a nonsymmetric tensor, which hops does not take together: leave out -dm_mat_type pa, and leave the term out of the preconditioner by -pc_lor_ignore boundary");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
