/* A back end with an H1 operator of its own, and the host's for the rest. Begin with a copy of it. */
#pragma once
#include <hops/private/hopsformimpl.h>

/* What docs/developer/backend.md asks of an operator: cell by cell, with matrices as they are written down */
typedef struct {
  struct _HopsOperator head; /* comes first: its table is what callers use */
  HopsSpace            sp;
  const int           *restr; /* [cell][entry]: what a cell's entries are; of its own, behind the L-vector's, where nodes hang */
  const HopsBasis     *basis;
  HopsBasis            geom;
  PetscBool            derivative, mass;
  PetscReal           *G, *m, *Bt, *Dt, *u, *v, *w, *work; /* [cell][point][dim^2], [cell][point]; B', D'; scratch */
} * Toy;

/* an entry of a coefficient: a scalar, a diagonal, or the rows of an upper triangle */
static PetscReal ToyEntry(PetscInt dim, const HopsValues *kappa, PetscInt c, PetscInt q, PetscInt i, PetscInt j)
{
  const PetscReal *v = kappa->v + c * kappa->cstride + q * kappa->pstride;
  const PetscInt   a = PetscMin(i, j), b = PetscMax(i, j);

  if (kappa->nc <= dim) return i == j ? v[kappa->nc == 1 ? 0 : i] : 0.0;
  return v[a * dim - a * (a - 1) / 2 + b - a];
}

static PetscErrorCode ToySetUp(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                               PetscInt *bad, PetscReal *det)
{
  Toy            k   = (Toy)A;
  const PetscInt dim = k->sp->dim, Q = k->basis->Q, nq = HopsPower(Q, dim);
  PetscReal     *J, Ji[9];

  PetscFunctionBegin;
  *bad = -1;
  PetscCall(PetscMalloc1(n * nq * dim * dim, &J));
  PetscCall(HopsSpaceGetPoints(k->sp, &k->geom, first, n, NULL, J));
  for (PetscInt i = 0; i < n * nq; ++i) {
    const PetscInt  c = i / nq, q = i % nq;
    const PetscReal d = HopsInverse(dim, J + i * dim * dim, Ji);
    PetscReal       w = d, *G = k->G + (first * nq + i) * dim * dim;

    if (!(d > 0.0) && *bad < 0) *bad = first + c, *det = d;
    for (PetscInt a = 0, r = q; a < dim; ++a, r /= Q) w *= k->basis->weights[r % Q];
    k->m[first * nq + i] = mass->nc ? w * mass->v[c * mass->cstride + q * mass->pstride] : 0.0;
    for (PetscInt a = 0; a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) {
        G[a * dim + b] = 0.0;
        for (PetscInt e = 0; kappa->nc && e < dim * dim; ++e)
          G[a * dim + b] += w * ToyEntry(dim, kappa, c, q, e / dim, e % dim) * Ji[a * dim + e / dim] * Ji[b * dim + e % dim];
      }
  }
  PetscCall(PetscFree(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out = A_c in, lattices of a cell's nodes */
static PetscErrorCode ToyCell(Toy k, PetscInt c, const PetscReal in[], PetscReal out[])
{
  const PetscInt   dim = k->sp->dim, P = k->basis->P, Q = k->basis->Q, nn = HopsPower(P, dim), nq = HopsPower(Q, dim);
  const PetscReal *M[3];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(out, nn));
  for (PetscInt a = 0; a <= dim; ++a) { /* a = dim: values */
    for (PetscInt q = 0; q < nq; ++q) k->v[q] = 0.0;
    for (PetscInt b = 0; b <= dim; ++b) {
      if ((a == dim) != (b == dim)) continue;
      for (PetscInt e = 0; e < dim; ++e) M[e] = e == b ? k->basis->D : k->basis->B;
      PetscCall(HopsTensorApply(dim, Q, P, M, in, k->u, k->work));
      for (PetscInt q = 0; q < nq; ++q)
        k->v[q] += (a == dim ? k->m[c * nq + q] : k->G[((c * nq + q) * dim + a) * dim + b]) * k->u[q];
    }
    for (PetscInt e = 0; e < dim; ++e) M[e] = e == a ? k->Dt : k->Bt;
    PetscCall(HopsTensorApply(dim, P, Q, M, k->v, k->u, k->work));
    for (PetscInt i = 0; i < nn; ++i) out[i] += k->u[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += A x on cells c0..c1-1, or its diagonal (x is no sign of it: it is NULL on a rank without unknowns) */
static PetscErrorCode ToyCells(Toy k, PetscBool diagonal, PetscInt c0, PetscInt c1, const PetscReal x[], const PetscReal xg[],
                               PetscReal y[], PetscReal yg[])
{
  const PetscInt ne = k->sp->ne, nT = k->sp->nT;
  PetscReal     *in = k->w, *out = k->w + ne;

  PetscFunctionBegin;
  for (PetscInt j = c0 * ne; j < c1 * ne; j += diagonal ? 1 : ne) {
    const int *l = k->restr + j / ne * ne;

    for (PetscInt i = 0; i < ne; ++i) in[i] = diagonal ? i == j % ne : (l[i] < nT ? x[l[i]] : xg[l[i] - nT]);
    PetscCall(ToyCell(k, j / ne, in, out));
    for (PetscInt i = diagonal ? j % ne : 0; i <= (diagonal ? j % ne : ne - 1); ++i)
      *(l[i] < nT ? y + l[i] : yg + (l[i] - nT)) += out[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToyApply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsSpace      sp    = ((Toy)A)->sp;
  const PetscInt end[] = {0, sp->ninterior / 2, sp->ninterior, sp->ncells};

  PetscFunctionBegin; /* the parts are numbered in the order of their cells */
  PetscCall(ToyCells((Toy)A, PETSC_FALSE, end[part], end[part + 1], x, xg, y, yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToyDiagonal(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  PetscFunctionBegin;
  PetscCall(ToyCells((Toy)A, PETSC_TRUE, 0, ((Toy)A)->sp->ncells, NULL, NULL, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToyDestroy(HopsOperator *A)
{
  Toy k = (Toy)*A;

  PetscFunctionBegin;
  PetscCall(PetscFree2(k->G, k->m));
  PetscCall(PetscFree6(k->Bt, k->Dt, k->u, k->v, k->w, k->work));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps ToyOps = {.SetUp = ToySetUp, .Apply = ToyApply, .Diagonal = ToyDiagonal, .Destroy = ToyDestroy};

static PetscErrorCode ToyCreate(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  HopsSpace        sp = form->space;
  const PetscReal *X;
  const PetscInt   dim = sp->dim, P = basis->P, Q = basis->Q, nq = HopsPower(Q, dim), nm = HopsPower(PetscMax(P, Q), dim);
  Toy              k;

  PetscFunctionBegin;
  if (sp->family != HOPS_H1) { /* of the host, whose functions its kernel brings with it */
    PetscCall((*HopsBackendHost.OperatorCreate)(form, basis, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&k));
  PetscCall(PetscStrncpy(k->head.info.name, "toy", sizeof(k->head.info.name)));
  k->head.ops   = &ToyOps;
  k->sp         = sp;
  k->basis      = basis;
  k->derivative = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE;
  k->mass       = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsSpaceGetBackendCells(sp, &k->restr, &X));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &k->geom));
  PetscCall(PetscMalloc2(sp->ncells * nq * dim * dim, &k->G, sp->ncells * nq, &k->m));
  PetscCall(PetscMalloc6(P * Q, &k->Bt, P * Q, &k->Dt, nm, &k->u, nm, &k->v, 2 * sp->ne, &k->w, 2 * nm, &k->work));
  for (PetscInt i = 0; i < P * Q; ++i) {
    k->Bt[i % P * Q + i / P] = basis->B[i];
    k->Dt[i % P * Q + i / P] = basis->D[i];
  }
  *A = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ToyRegister(void)
{
  static HopsBackendOps toy;

  PetscFunctionBegin;
  toy                = HopsBackendHost;
  toy.name           = "toy";
  toy.OperatorCreate = ToyCreate; /* which knows no hanging nodes */
  toy.hanging        = PETSC_FALSE;
  toy.HungCreate     = NULL;
  PetscCall(HopsBackendRegister(&toy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
