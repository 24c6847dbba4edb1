/* One-dimensional Lagrange bases on Gauss-Lobatto-Legendre nodes and the edge functions between them,
   tabulated at Gauss, GLL or arbitrary points. */
#include <hops/private/hopsimpl.h>
#include <hops/private/hopsblas.h>
#include <petscdt.h>

/* Points and weights are symmetric about 0; make them so to the last bit, for kernels that use the
   symmetry. */
void HopsSymmetrize(PetscInt n, PetscReal x[], PetscReal w[])
{
  for (PetscInt i = 0; i < n / 2; ++i) {
    const PetscReal a = 0.5 * (x[n - 1 - i] - x[i]), b = 0.5 * (w[n - 1 - i] + w[i]);

    x[i]         = -a;
    x[n - 1 - i] = a;
    w[i] = w[n - 1 - i] = b;
  }
  if (n % 2) x[n / 2] = 0.0;
}

/* GLL nodes x[n] (ascending, on [-1,1]) and weights w[n], n >= 2 */
PetscErrorCode HopsGLL(PetscInt n, PetscReal x[], PetscReal w[])
{
  PetscFunctionBegin;
  PetscCheck(n >= 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Need at least 2 Gauss-Lobatto points, not %" PetscInt_FMT, n);
  if (n == 2) {
    x[0] = -1.0;
    x[1] = 1.0;
    w[0] = w[1] = 1.0;
  } else PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, x, w));
  HopsSymmetrize(n, x, w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lagrange polynomials on the nodes z[n] and their derivatives at the point x, in product form (stable for
   any x) */
static void HopsLagrange(PetscInt n, const PetscReal z[], PetscReal x, PetscReal l[], PetscReal dl[])
{
  for (PetscInt j = 0; j < n; ++j) {
    l[j]  = 1.0;
    dl[j] = 0.0;
    for (PetscInt k = 0; k < n; ++k) {
      PetscReal t;

      if (k == j) continue;
      t = 1.0 / (z[j] - z[k]);
      l[j] *= (x - z[k]) * t;
      for (PetscInt m = 0; m < n; ++m)
        if (m != j && m != k) t *= (x - z[m]) / (z[j] - z[m]);
      dl[j] += t;
    }
  }
}

static PetscErrorCode HopsBasisAllocate(PetscInt P, PetscInt Q, HopsBasis *b)
{
  PetscFunctionBegin;
  b->P = P;
  b->Q = Q;
  PetscCall(PetscCalloc3(P, &b->nodes, Q, &b->points, Q, &b->weights));
  PetscCall(PetscMalloc4(Q * P, &b->B, Q * P, &b->D, Q * (P - 1), &b->E, Q * Q, &b->C));
  b->collocated = b->limit = PETSC_FALSE;
  b->rule                  = HOPS_RULE_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsBasisTabulate(HopsBasis *b)
{
  PetscReal *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(b->P, b->Q), &w));
  PetscCall(HopsGLL(b->P, b->nodes, w));
  for (PetscInt q = 0; q < b->Q; ++q) HopsLagrange(b->P, b->nodes, b->points[q], &b->B[q * b->P], &b->D[q * b->P]);
  for (PetscInt q = 0; q < b->Q; ++q) { /* the derivatives of the first j+1 polynomials sum up to -e_j, those of all to 0 */
    PetscReal sum = 0.0;

    for (PetscInt j = 0; j < b->P - 1; ++j) b->E[q * (b->P - 1) + j] = -(sum += b->D[q * b->P + j]);
  }
  for (PetscInt q = 0; q < b->Q; ++q) HopsLagrange(b->Q, b->points, b->points[q], w, &b->C[q * b->Q]);
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Basis of P nodes tabulated at a quadrature rule: Q Gauss points, or Q GLL points */
PetscErrorCode HopsBasisCreate(PetscInt P, PetscInt Q, PetscBool gll, HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisAllocate(P, Q, b));
  if (gll) PetscCall(HopsGLL(Q, b->points, b->weights));
  else {
    PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, b->points, b->weights));
    HopsSymmetrize(Q, b->points, b->weights);
  }
  b->collocated = (gll && P == Q) ? PETSC_TRUE : PETSC_FALSE;
  b->rule       = gll ? HOPS_RULE_GLL : HOPS_RULE_GAUSS;
  b->limit      = gll;
  PetscCall(HopsBasisTabulate(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Basis of P nodes tabulated at any distinct points, ascending; its weights are zero */
PetscErrorCode HopsBasisCreateAtPoints(PetscInt P, PetscInt Q, const PetscReal points[], HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisAllocate(P, Q, b));
  PetscCall(PetscArraycpy(b->points, points, Q));
  PetscCall(HopsBasisTabulate(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsAtEnd(PetscReal x)
{
  return 1.0 - PetscAbsReal(x) < PETSC_SQRT_MACHINE_EPSILON ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode HopsBasisCreateInside(const HopsBasis *rule, PetscReal inset, HopsBasis *b)
{
  const PetscInt Q = rule->Q;
  PetscReal     *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(Q, &x));
  for (PetscInt q = 0; q < Q; ++q) {
    const PetscInt next = rule->points[q] < 0.0 ? q + 1 : q - 1;

    x[q] = rule->points[q];
    if (HopsAtEnd(x[q])) x[q] += inset * ((next >= 0 && next < Q ? rule->points[next] : -x[q]) - x[q]);
  }
  PetscCall(HopsBasisCreateAtPoints(rule->P, Q, x, b));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBasisCreateLike(PetscInt P, const HopsBasis *rule, HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(P, rule->Q, rule->points, b));
  PetscCall(PetscArraycpy(b->weights, rule->weights, b->Q));
  b->rule       = rule->rule;
  b->limit      = rule->limit;
  b->collocated = b->rule == HOPS_RULE_GLL && P == b->Q ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsBasisSameRule(const HopsBasis *a, const HopsBasis *b)
{
  if (a->Q != b->Q || a->rule != b->rule) return PETSC_FALSE;
  for (PetscInt q = 0; q < a->Q; ++q)
    if (a->points[q] != b->points[q] || a->weights[q] != b->weights[q]) return PETSC_FALSE;
  return PETSC_TRUE;
}

const char *HopsBasisRuleName(const HopsBasis *b)
{
  return b->rule == HOPS_RULE_OTHER ? "tensor-product" : (b->rule == HOPS_RULE_GLL ? "Gauss-Lobatto" : "Gauss");
}

/* Insets e, 2e, 3e: an error e^3, and far above rounding errors and the margins of functions that tell cells
   apart by position */
PetscErrorCode HopsBasisCreateLimit(const HopsBasis *rule, PetscInt k, HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisCreateInside(rule, 2e-5 * (k + 1), b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBasisAddLimit(const HopsBasis *rule, PetscInt k, PetscInt dim, PetscInt n, PetscInt size, const PetscReal v[],
                                 PetscReal out[])
{
  static const PetscReal c[HOPS_LIMIT_POINTS] = {3.0, -3.0, 1.0};
  const PetscInt         nq                   = HopsPower(rule->Q, dim);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n * nq; ++i) {
    PetscBool face = PETSC_FALSE;

    for (PetscInt d = 0, q = i % nq; d < dim; ++d, q /= rule->Q)
      if (HopsAtEnd(rule->points[q % rule->Q])) face = PETSC_TRUE;
    for (PetscInt s = i * size; s < (i + 1) * size; ++s) {
      if (!k) out[s] = face ? c[0] * v[s] : v[s];
      else if (face) out[s] += c[k] * v[s];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBasisDestroy(HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(b->nodes, b->points, b->weights));
  PetscCall(PetscFree4(b->B, b->D, b->E, b->C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* h1: the largest eigenvalue of the mass of the edge functions between P nodes against diag(1/h) */
PetscErrorCode HopsVertexEdgeMass(PetscInt P, PetscReal *h1)
{
  const PetscInt p = P - 1;
  HopsBasis      b;
  PetscReal     *lambda;
  PetscReal     *M, *work;
  PetscBLASInt   n, lwork, info;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(p + 1, p, PETSC_FALSE, &b));
  PetscCall(PetscBLASIntCast(p, &n));
  PetscCall(PetscBLASIntCast(3 * p, &lwork));
  PetscCall(PetscCalloc3(p * p, &M, p, &lambda, 3 * p, &work));
  for (PetscInt q = 0; q < p; ++q)
    for (PetscInt i = 0; i < p; ++i)
      for (PetscInt j = 0; j < p; ++j)
        M[i * p + j] += b.weights[q] * b.E[q * p + i] * b.E[q * p + j] *
                        PetscSqrtReal((b.nodes[i + 1] - b.nodes[i]) * (b.nodes[j + 1] - b.nodes[j]));
  PetscCallBLAS("LAPACKsyev", HopsLAPACKsyev("N", "U", &n, M, &n, lambda, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "Eigenvalues of the edge functions' mass: LAPACK syev returned %d", (int)info);
  *h1 = lambda[p - 1];
  PetscCall(PetscFree3(M, lambda, work));
  PetscCall(HopsBasisDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
