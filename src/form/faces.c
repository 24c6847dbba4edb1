/* Robin terms: coefficients, operator and diagonal on lists of boundary faces. */
#include <hops/private/hopsfaceimpl.h>

static PetscErrorCode HopsFaceCoefficient(HopsCoefficient alpha, HopsSpace sp, PetscInt cell, PetscInt nq, const PetscReal x[],
                                          PetscScalar out[])
{
  PetscFunctionBegin;
  PetscCheck(alpha->nc == 1, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "A Robin coefficient is a scalar, not of %" PetscInt_FMT " components: create it with nc = 1", alpha->nc);
  PetscCheck(alpha->evaluateface || !alpha->evaluate || alpha->func || (alpha->nvcells && !alpha->q_1d), PETSC_COMM_SELF,
             PETSC_ERR_SUP, "A %s coefficient has no values on boundary faces: give a constant, one value per cell, or a function",
             alpha->kind);
  for (PetscInt q = 0; q < nq; ++q) {
    if (alpha->evaluateface) {
      /* done by the caller, who knows the face */
    } else if (alpha->func) PetscCall((*alpha->func)(sp->dim, x + q * sp->dim, 1, out + q, alpha->ctx));
    else out[q] = alpha->nvcells ? alpha->values[sp->cell[cell] - sp->cstart] : alpha->values[0];
    PetscCheck(!PetscIsInfOrNanScalar(out[q]), PETSC_COMM_SELF, PETSC_ERR_FP,
               "The Robin coefficient is infinite or not-a-number on a face of cell %" PetscInt_FMT
               ": check the function or the array behind it",
               sp->cell[cell]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceEvaluatePoints(HopsSpace sp, const HopsBasis *basis, PetscInt n, const PetscInt cells[],
                                             const PetscInt faces[], HopsCoefficient alpha, PetscScalar out[])
{
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim - 1);
  HopsFaceBasis  geom;
  PetscReal     *x, *normal, *J, *ds;

  PetscFunctionBegin;
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, basis, &geom));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  for (PetscInt f = 0; f < n; ++f) {
    PetscCheck(cells[f] >= 0 && cells[f] < sp->ncells && faces[f] >= 0 && faces[f] < 2 * dim, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "There is no face %" PetscInt_FMT " of cell %" PetscInt_FMT, faces[f], cells[f]);
    PetscCall(HopsFaceGeometry(sp, &geom, cells[f], faces[f], x, normal, J, ds));
    if (alpha->evaluateface) PetscCall((*alpha->evaluateface)(alpha, sp, cells[f], faces[f], basis, x, normal, J, out + f * nq));
    PetscCall(HopsFaceCoefficient(alpha, sp, cells[f], nq, x, out + f * nq));
    for (PetscInt q = 0; q < nq; ++q) out[f * nq + q] *= ds[q];
  }
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceEvaluate(HopsSpace sp, const HopsBasis *basis, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                HopsCoefficient alpha, PetscScalar out[])
{
  PetscScalar *v;

  PetscFunctionBegin;
  if (!basis->limit) {
    PetscCall(HopsFaceEvaluatePoints(sp, basis, n, cells, faces, alpha, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n * HopsPower(basis->Q, sp->dim - 1), &v));
  for (PetscInt k = 0; k < HOPS_LIMIT_POINTS; ++k) { /* of the coefficient where faces meet; the geometry is smooth */
    HopsBasis at;

    PetscCall(HopsBasisCreateLimit(basis, k, &at));
    PetscCall(HopsFaceEvaluatePoints(sp, &at, n, cells, faces, alpha, v));
    PetscCall(HopsBasisAddLimit(basis, k, sp->dim - 1, n, 1, v, out));
    PetscCall(HopsBasisDestroy(&at));
  }
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces' unknowns and data to where the back end works */
static PetscErrorCode HopsRobinSetUpDevice(HopsSpace sp, const HopsBasis *basis, HopsRobin r)
{
  const PetscInt nf = HopsPower(basis->P, sp->dim - 1), np = nf * basis->P;
  PetscInt      *node;
  int           *restr;

  PetscFunctionBegin;
  r->backend = sp->backend;
  if (r->kernel) PetscCall((*r->backend->FaceDestroy)(&r->kernel));
  PetscCall(PetscMalloc2(nf, &node, r->n * nf, &restr));
  for (PetscInt f = 0; f < r->n; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, basis->P, r->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i) restr[f * nf + i] = sp->restr[(size_t)r->cells[f] * np + node[i]];
  }
  PetscCall((*r->backend->FaceCreate)(sp->dim - 1, basis, sp->nT, r->n, restr, r->qdata, &r->kernel));
  PetscCall(PetscFree2(node, restr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRobinSetUp(HopsSpace sp, const HopsBasis *basis, HopsRobin r)
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim - 1);

  PetscFunctionBegin;
  PetscCall(PetscFree(r->qdata));
  PetscCall(PetscMalloc1(r->n * nq, &r->qdata));
  PetscCall(HopsFaceEvaluate(sp, basis, r->n, r->cells, r->faces, r->alpha, r->qdata));
  for (PetscInt f = 0; f < r->n; ++f)
    for (PetscInt q = 0; q < nq; ++q)
      for (PetscInt d = 0, k = q; d < sp->dim - 1; ++d, k /= basis->Q) r->qdata[f * nq + q] *= basis->weights[k % basis->Q];
  if (!sp->backend->host) PetscCall(HopsRobinSetUpDevice(sp, basis, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += B^T D B x on the faces, or, with square set, y += diag(B^T D B) (the entries of B squared, B^T
   alone) */
static PetscErrorCode HopsRobinKernel(HopsSpace sp, const HopsBasis *basis, HopsRobin r, PetscBool diagonal, const PetscScalar x[],
                                      const PetscScalar xg[], PetscScalar y[], PetscScalar yg[])
{
  const PetscInt   fd = sp->dim - 1, P = basis->P, Q = basis->Q, np = HopsPower(P, sp->dim);
  const PetscInt   nf = HopsPower(P, fd), nq = HopsPower(Q, fd);
  const PetscReal *M[2] = {basis->B, basis->B}, *Mt[2];
  PetscInt        *node;
  PetscReal       *u, *v, *work, *Bt;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(nf, &node, nf, &u, nq, &v, 2 * HopsPower(PetscMax(P, Q), fd), &work, P * Q, &Bt));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) Bt[i * Q + q] = diagonal ? PetscSqr(basis->B[q * P + i]) : basis->B[q * P + i];
  Mt[0] = Mt[1] = Bt;
  for (PetscInt f = 0; f < r->n; ++f) {
    const int *l = sp->restr + r->cells[f] * np;

    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    if (!diagonal) {
      for (PetscInt i = 0; i < nf; ++i) u[i] = l[node[i]] < sp->nT ? x[l[node[i]]] : xg[l[node[i]] - sp->nT];
      PetscCall(HopsTensorApply(fd, Q, P, M, u, v, work));
    }
    for (PetscInt q = 0; q < nq; ++q) v[q] = (diagonal ? 1.0 : v[q]) * r->qdata[f * nq + q];
    PetscCall(HopsTensorApply(fd, P, Q, Mt, v, u, work));
    for (PetscInt i = 0; i < nf; ++i) {
      if (l[node[i]] < sp->nT) y[l[node[i]]] += u[i];
      else yg[l[node[i]] - sp->nT] += u[i];
    }
  }
  PetscCall(PetscFree5(node, u, v, work, Bt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRobinApply(HopsSpace sp, const HopsBasis *basis, HopsRobin r, const PetscScalar x[], const PetscScalar xg[],
                              PetscScalar y[], PetscScalar yg[])
{
  PetscFunctionBegin;
  if (r->kernel) PetscCall((*r->backend->FaceApply)(r->kernel, PETSC_FALSE, x, xg, y, yg));
  else PetscCall(HopsRobinKernel(sp, basis, r, PETSC_FALSE, x, xg, y, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRobinDiagonal(HopsSpace sp, const HopsBasis *basis, HopsRobin r, PetscScalar d[], PetscScalar dg[])
{
  PetscFunctionBegin;
  if (r->kernel) PetscCall((*r->backend->FaceApply)(r->kernel, PETSC_TRUE, NULL, NULL, d, dg));
  else PetscCall(HopsRobinKernel(sp, basis, r, PETSC_TRUE, NULL, NULL, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRobinDestroy(HopsRobin *list)
{
  PetscFunctionBegin;
  while (*list) {
    HopsRobin r = *list;

    *list = r->next;
    PetscCall(PetscFree2(r->cells, r->faces));
    PetscCall(PetscFree(r->qdata));
    if (r->kernel) PetscCall((*r->backend->FaceDestroy)(&r->kernel));
    PetscCall(HopsCoefficientDestroy(&r->alpha));
    PetscCall(PetscFree(r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
