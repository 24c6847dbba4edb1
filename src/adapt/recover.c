/* Zienkiewicz and Zhu's estimate: the distance of the flux to its average at the nodes. */
#include <hops/private/hopsadaptimpl.h>
#include <hops/private/hopsvalues.h>

/* sum[l][dim + 1] over the cells of Lambda^T M F and, last, Lambda^T M 1, M the diagonal mass at the nodes */
static PetscErrorCode AddCells(HopsSpace sp, HopsFlux *fl, HopsSpace nodes, const PetscInt where[], const PetscReal x[],
                               PetscReal sum[])
{
  const PetscInt dim = sp->dim, P = sp->order + 1, ne = sp->ne;
  HopsBasis      gll, geom;
  PetscReal     *e;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(PetscMalloc1(ne, &e));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsFluxCell(fl, c, &gll, &geom, x));
    for (PetscInt d = 0; d <= dim; ++d) {
      for (PetscInt i = 0; i < ne; ++i) {
        const PetscReal w = gll.weights[i % P] * gll.weights[i / P % P] * (dim == 3 ? gll.weights[i / (P * P)] : 1.0);

        e[i] = w * fl->det[i] * (d < dim ? fl->F[i * dim + d] : 1.0);
      }
      if (sp->hanging) HopsHangingApply(&fl->hang, sp->hang[c], PETSC_TRUE, e);
      for (PetscInt i = 0; i < ne; ++i) sum[nodes->restr[where[c] * ne + i] * (dim + 1) + d] += e[i];
    }
  }
  PetscCall(PetscFree(e));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[nL][dim + 1] becomes the average at all entries: sums of owners, which others get */
static PetscErrorCode Average(HopsSpace nodes, PetscReal sum[])
{
  const PetscInt n      = nodes->dim + 1;
  PetscReal     *ghosts = sum + nodes->nT * n;
  MPI_Datatype   unit;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetElementSF(nodes, &sf));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)n, MPIU_REAL, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFReduceBegin(sf, unit, ghosts, sum, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(sf, unit, ghosts, sum, MPIU_SUM));
  for (PetscInt l = 0; l < nodes->nT; ++l)
    for (PetscInt d = 0; d < n - 1; ++d) sum[l * n + d] /= sum[l * n + n - 1];
  PetscCall(PetscSFBcastBegin(sf, unit, sum, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, sum, ghosts, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* e . K^-1 e, K positive definite: by the triangle of Cholesky's factors */
static PetscReal InverseNorm(PetscInt dim, PetscInt nc, const PetscReal k[], PetscReal e[])
{
  PetscReal K[9], sum = 0.0;

  for (PetscInt i = 0; i < dim && nc <= dim; ++i) sum += e[i] * e[i] / k[nc == 1 ? 0 : i];
  if (nc <= dim) return sum;
  for (PetscInt i = 0, t = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j, ++t) K[i * dim + j] = K[j * dim + i] = k[t];
  for (PetscInt p = 0; p < dim; ++p) {
    sum += e[p] * e[p] / K[p * dim + p];
    for (PetscInt i = p + 1; i < dim; ++i) {
      const PetscReal m = K[i * dim + p] / K[p * dim + p];

      e[i] -= m * e[p];
      for (PetscInt j = p + 1; j < dim; ++j) K[i * dim + j] -= m * K[p * dim + j];
    }
  }
  return sum;
}

/* int (S - F) . kappa^-1 (S - F) in the cell at hand, S[dim][ne] at its nodes */
static PetscErrorCode Distance(HopsFlux *fl, PetscInt c, const PetscReal S[], PetscReal s[], PetscReal *eta2, char why[])
{
  const HopsBasis *rule = &fl->rule[0];
  const PetscInt   dim = fl->sp->dim, n = rule->Q, nq = HopsPower(n, dim);
  const PetscReal *M[3] = {rule->B, rule->B, rule->B};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) PetscCall(HopsTensorApply(dim, n, rule->P, M, S + d * fl->sp->ne, s + d * nq, fl->work));
  for (PetscInt k = 0; k < HopsPower(fl->Q, dim); ++k) {
    const PetscInt   i[3] = {k % fl->Q, k / fl->Q % fl->Q, k / (fl->Q * fl->Q)};
    const PetscInt   q    = 1 + i[0] + n * (1 + i[1]) + (dim == 3 ? n * n * (1 + i[2]) : 0);
    const PetscReal *K    = fl->k.v + q * fl->k.pstride;
    PetscReal        e[3];

    if (!HopsPointIsPositive((int)dim, (int)fl->k.nc, K, 0.0)) {
      PetscCall(HopsRefuse(why,
                           "The diffusion is not positive in cell %" PetscInt_FMT
                           ", whose energy has no flux: take HOPS_ESTIMATE_KELLY or HOPS_ESTIMATE_RESIDUAL",
                           fl->sp->cell[c]));
      break;
    }
    for (PetscInt d = 0; d < dim; ++d) e[d] = s[d * nq + q] - fl->F[q * dim + d];
    *eta2 +=
      InverseNorm(dim, fl->k.nc, K, e) * fl->det[q] * fl->weight[i[0]] * fl->weight[i[1]] * (dim == 3 ? fl->weight[i[2]] : 1.0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsEstimateRecovered(HopsSpace sp, HopsFlux *fl, HopsSpace nodes, const PetscInt where[], const PetscReal x[],
                                     PetscReal eta2[], char why[])
{
  const PetscInt dim = sp->dim, ne = sp->ne;
  PetscReal     *sum;
  PetscReal     *S, *s;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nodes->nL * (dim + 1), &sum));
  PetscCall(PetscMalloc2(dim * ne, &S, dim * HopsPower(fl->rule[0].Q, dim), &s));
  PetscCall(AddCells(sp, fl, nodes, where, x, sum));
  PetscCall(Average(nodes, sum));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    for (PetscInt d = 0; d < dim; ++d) {
      for (PetscInt i = 0; i < ne; ++i) S[d * ne + i] = PetscRealPart(sum[nodes->restr[where[c] * ne + i] * (dim + 1) + d]);
      if (sp->hanging) HopsHangingApply(&fl->hang, sp->hang[c], PETSC_FALSE, S + d * ne);
    }
    PetscCall(HopsFluxCell(fl, c, &fl->rule[0], &fl->geom[0], x));
    PetscCall(Distance(fl, c, S, s, eta2 + c, why));
  }
  PetscCall(PetscFree2(S, s));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
