/*
  Isotropic elasticity, component by component: its part of one component c alone is a diffusion,

    int mu grad u . grad v + (lambda + mu) d_c u d_c v,

  whose tensor is diagonal: lambda + 2 mu in direction c, mu in the others.
*/
#include <hops/private/hopsformimpl.h>

typedef struct {
  HopsCoefficient lame[2];
  PetscInt        component;
} HopsElastic;

static PetscErrorCode HopsElasticDestroy(void *ctx)
{
  HopsElastic *e = (HopsElastic *)ctx;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientDestroy(&e->lame[i]));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lambda + 2 mu; where elasticity is not positive (mu must be, and lambda + mu not negative) a negative
   value, which readers refuse: lambda + 2 mu and mu may hide it */
static inline PetscReal HopsElasticOwn(PetscReal lambda, PetscReal mu)
{
  const PetscReal m = PetscRealPart(mu), bulk = PetscRealPart(lambda) + m;

  return m > 0.0 && bulk >= -1e-12 * m ? lambda + 2.0 * mu : -PetscAbsReal(lambda) - PetscAbsReal(mu);
}

static PetscErrorCode HopsCoefficientEvaluate_Elastic(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                      const HopsBasis *basis, const PetscReal x[], PetscReal out[])
{
  const HopsElastic *e       = (const HopsElastic *)cf->ctx;
  const PetscInt     nq      = HopsPower(basis->Q, sp->dim);
  PetscReal         *work[2] = {NULL, NULL};
  size_t             size[2] = {0, 0};
  HopsValues         v[2];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientEvaluate(e->lame[i], sp, basis, first, n, &size[i], &work[i], &v[i]));
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscReal lambda = v[0].v[c * v[0].cstride + q * v[0].pstride], mu = v[1].v[c * v[1].cstride + q * v[1].pstride];

      for (PetscInt d = 0; d < cf->nc; ++d) out[(c * nq + q) * cf->nc + d] = d == e->component ? HopsElasticOwn(lambda, mu) : mu;
    }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(PetscFree(work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientCreateElastic_Private(PetscInt dim, HopsCoefficient lambda, HopsCoefficient mu, PetscInt component,
                                                    HopsCoefficient *cf)
{
  HopsElastic *e;

  PetscFunctionBegin;
  if (HopsCoefficientIsConstant(lambda) && HopsCoefficientIsConstant(mu)) {
    PetscScalar v[3];

    for (PetscInt d = 0; d < dim; ++d) v[d] = d == component ? HopsElasticOwn(lambda->values[0], mu->values[0]) : mu->values[0];
    PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)mu), dim, v, cf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)mu), dim, "elasticity", cf));
  PetscCall(PetscNew(&e));
  e->lame[0]   = lambda;
  e->lame[1]   = mu;
  e->component = component;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientReference(e->lame[i]));
  (*cf)->ctx        = e;
  (*cf)->destroyctx = HopsElasticDestroy;
  (*cf)->evaluate   = HopsCoefficientEvaluate_Elastic;
  PetscFunctionReturn(PETSC_SUCCESS);
}
