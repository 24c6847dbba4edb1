/* The quadrature of a PetscFE as a tensor product of one rule in each direction: recognised by its points and
   weights, in any order. */
#include <hops/private/hopsimpl.h>
#include <petscdt.h>

#define HOPS_RULE_TOLERANCE 1e-10

/* x[r], ascending: the different values of the first coordinates of r^dim points; found is false if these are
   not r */
static PetscErrorCode HopsRulePoints(PetscInt dim, PetscInt n, const PetscReal points[], PetscInt r, PetscReal x[],
                                     PetscBool *found)
{
  PetscReal *s;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &s));
  for (PetscInt i = 0; i < n; ++i) s[i] = points[i * dim];
  PetscCall(PetscSortReal(n, s));
  for (PetscInt k = 0; k < r; ++k) x[k] = s[k * (n / r) + n / r / 2];
  *found = PETSC_TRUE;
  for (PetscInt i = 0; i < n; ++i)
    if (!(PetscAbsReal(s[i] - x[i / (n / r)]) < HOPS_RULE_TOLERANCE)) *found = PETSC_FALSE;
  for (PetscInt k = 1; k < r; ++k)
    if (x[k] - x[k - 1] < 10 * HOPS_RULE_TOLERANCE) *found = PETSC_FALSE;
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w[r], whose products are the weights of the points x[i] x[j] (x[k]), each of which occurs once */
static PetscErrorCode HopsRuleWeights(PetscInt dim, PetscInt n, const PetscReal points[], const PetscReal weights[], PetscInt r,
                                      const PetscReal x[], PetscReal w[], PetscBool *found)
{
  PetscReal  total = 0.0, scale = 0.0;
  PetscReal *all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &all));
  for (PetscInt i = 0; i < n; ++i) all[i] = 1e30; /* a point that does not occur */
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt e = 0;

    for (PetscInt d = dim - 1; d >= 0; --d) {
      PetscInt k = 0;

      while (k < r - 1 && PetscAbsReal(points[i * dim + d] - x[k]) >= HOPS_RULE_TOLERANCE) ++k;
      if (!(PetscAbsReal(points[i * dim + d] - x[k]) < HOPS_RULE_TOLERANCE)) *found = PETSC_FALSE;
      e = e * r + k;
    }
    all[e] = weights[i];
    total += weights[i];
    scale = PetscMax(scale, PetscAbsReal(weights[i]));
  }
  if (!(total > 0.0)) *found = PETSC_FALSE;
  for (PetscInt k = 0; k < r && *found; ++k) {
    w[k] = 0.0;
    for (PetscInt i = k; i < n; i += r) w[k] += all[i];
    w[k] *= PetscPowReal(total, 1.0 / dim - 1.0);
  }
  for (PetscInt i = 0; i < n && *found; ++i) {
    PetscReal product = 1.0;

    for (PetscInt d = 0, k = i; d < dim; ++d, k /= r) product *= w[k % r];
    if (!(PetscAbsReal(product - all[i]) < HOPS_RULE_TOLERANCE * scale)) *found = PETSC_FALSE;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsRuleClose(const HopsBasis *b, const PetscReal x[], const PetscReal w[])
{
  for (PetscInt q = 0; q < b->Q; ++q)
    if (PetscAbsReal(b->points[q] - x[q]) > HOPS_RULE_TOLERANCE || PetscAbsReal(b->weights[q] - w[q]) > HOPS_RULE_TOLERANCE)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Kernels take even and odd parts of lines of points, and derivatives from values at the points */
static PetscErrorCode HopsRuleCreateOther(PetscInt P, PetscInt Q, PetscReal x[], PetscReal w[], PetscBool *found, HopsBasis *b)
{
  PetscReal worst = 0.0, scale = 0.0;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < Q; ++q)
    if (PetscAbsReal(x[q] + x[Q - 1 - q]) > HOPS_RULE_TOLERANCE || PetscAbsReal(w[q] - w[Q - 1 - q]) > HOPS_RULE_TOLERANCE)
      *found = PETSC_FALSE;
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  HopsSymmetrize(Q, x, w);
  PetscCall(HopsBasisCreateAtPoints(P, Q, x, b));
  PetscCall(PetscArraycpy(b->weights, w, Q));
  b->rule = HOPS_RULE_OTHER;
  for (PetscInt q = 0; Q >= P && q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) {
      PetscReal d = 0.0;

      for (PetscInt k = 0; k < Q; ++k) d += b->C[q * Q + k] * b->B[k * P + i];
      worst = PetscMax(worst, PetscAbsReal(d - b->D[q * P + i]));
      scale = PetscMax(scale, PetscAbsReal(b->D[q * P + i]));
    }
  if (worst > HOPS_RULE_TOLERANCE * scale) { /* points that crowd together, say */
    *found = PETSC_FALSE;
    PetscCall(HopsBasisDestroy(b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBasisCreateQuadrature(PetscInt P, PetscInt dim, PetscQuadrature quad, PetscBool *found, HopsBasis *b)
{
  PetscInt         qdim, nc, n, Q;
  const PetscReal *points, *weights;
  PetscReal       *x, *w;

  PetscFunctionBegin;
  PetscCall(PetscQuadratureGetData(quad, &qdim, &nc, &n, &points, &weights));
  Q      = HopsRoot(n, dim);
  *found = qdim == dim && nc == 1 && Q > 0 && HopsPower(Q, dim) == n ? PETSC_TRUE : PETSC_FALSE;
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(Q, &x, Q, &w));
  PetscCall(HopsRulePoints(dim, n, points, Q, x, found));
  if (*found) PetscCall(HopsRuleWeights(dim, n, points, weights, Q, x, w, found));
  if (*found) {
    PetscBool known = PETSC_FALSE;

    for (PetscInt gll = 0; gll < (Q > 1 ? 2 : 1) && !known; ++gll) {
      PetscCall(HopsBasisCreate(P, Q, gll ? PETSC_TRUE : PETSC_FALSE, b));
      known = HopsRuleClose(b, x, w);
      if (!known) PetscCall(HopsBasisDestroy(b));
      else b->limit = PETSC_FALSE; /* the code's own points are taken as they are */
    }
    if (!known) PetscCall(HopsRuleCreateOther(P, Q, x, w, found, b));
  }
  PetscCall(PetscFree2(x, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCheckRule(HopsSpace sp, PetscInt k)
{
  PetscFunctionBegin;
  PetscCheck(sp->rule[k].P || !sp->nquad[k], PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The %squadrature of the PetscFE, of %" PetscInt_FMT
             " points, is no tensor product of one symmetric rule in each direction: give the PetscFE Gauss or Gauss-Lobatto "
             "points (PetscDTGaussTensorQuadrature(), %s), override it by -mat_pa_q_1d, or leave out -dm_mat_type " MATPA,
             k ? "face " : "", sp->nquad[k], k ? "PetscFESetFaceQuadrature()" : "PetscFESetQuadrature()");
  PetscFunctionReturn(PETSC_SUCCESS);
}
