/* The slow program of estimators.c: estimates and energies by the values of all cells and their places in the
   octree. */
#pragma once
#include "hangingcase.h"

/* What the slow program knows of all cells, in the directions of the domain: values e[n][np], and nodes
   x[n][np][dim] */
typedef struct {
  const HangMesh *m;
  PetscInt        p, np, kappa, *place[HANG_LEVELS + 1];
  PetscReal      *z, *e, *x;
  PetscBool       half, flux, robin, forgets;
} Slow;

static PetscErrorCode Alpha(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 2.0 + x[0] + x[1] * x[1];
  return PETSC_SUCCESS;
}

/* not smooth on any of the meshes */
static PetscErrorCode Rough(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(40.0 * x[0] + 1.0) + PetscCosReal(31.0 * x[1] - 17.0 * x[0]) * (dim > 2 ? PetscSinReal(23.0 * x[2]) : 1.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 3.0 + x[0] * x[1];
  return PETSC_SUCCESS;
}

static PetscErrorCode Given(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 - 2.0 * x[0] + x[dim - 1];
  return PETSC_SUCCESS;
}

static PetscErrorCode Tensor(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  for (PetscInt i = 0, t = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j, ++t) k[t] = i == j ? 2.0 + PetscSinReal(x[i]) : 0.3 * PetscCosReal(x[0] - x[1]);
  return PETSC_SUCCESS;
}

static PetscReal CellKappa(PetscInt c)
{
  return 1.0 + (PetscReal)(c * 7 % 11);
}

/* -------------------------------------- the slow program -------------------------------------- */

static PetscReal Derivative(PetscInt n, const PetscReal z[], PetscInt j, PetscReal x)
{
  PetscReal s = 0.0;

  for (PetscInt m = 0; m < n; ++m) {
    PetscReal t = 1.0;

    if (m == j) continue;
    for (PetscInt k = 0; k < n; ++k)
      if (k != j && k != m) t *= (x - z[k]) / (z[j] - z[k]);
    s += t / (z[j] - z[m]);
  }
  return s;
}

/* of v[np] with a stride: value, and derivatives, at y in [-1,1]^dim */
static PetscReal Evaluate(const Slow *s, const PetscReal v[], PetscInt stride, const PetscReal y[], PetscReal du[])
{
  const PetscInt dim = s->m->dim, P = s->p + 1;
  PetscReal      u = 0.0;

  for (PetscInt d = 0; d < dim; ++d) du[d] = 0.0;
  for (PetscInt i = 0; i < s->np; ++i) {
    PetscReal l[3], t = 1.0;

    for (PetscInt d = 0, k = i; d < dim; ++d, k /= P) {
      l[d] = HangLagrange(P, s->z, k % P, y[d]);
      t *= l[d];
    }
    u += t * v[i * stride];
    for (PetscInt d = 0; d < dim; ++d) {
      t = 1.0;
      for (PetscInt a = 0, k = i; a < dim; ++a, k /= P) t *= a == d ? Derivative(P, s->z, k % P, y[a]) : l[a];
      du[d] += t * v[i * stride];
    }
  }
  return u;
}

static PetscReal Invert(PetscInt dim, const PetscReal J[], PetscReal Ji[])
{
  PetscReal det = 0.0;

  if (dim == 2) {
    det   = J[0] * J[3] - J[1] * J[2];
    Ji[0] = J[3] / det;
    Ji[1] = -J[1] / det;
    Ji[2] = -J[2] / det;
    Ji[3] = J[0] / det;
    return det;
  }
  for (PetscInt i = 0; i < 3; ++i)
    det += J[i] * (J[3 + (i + 1) % 3] * J[6 + (i + 2) % 3] - J[3 + (i + 2) % 3] * J[6 + (i + 1) % 3]);
  for (PetscInt i = 0; i < 3; ++i)
    for (PetscInt j = 0; j < 3; ++j) {
      const PetscInt a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

      Ji[3 * i + j] = (J[3 * a + c] * J[3 * b + d] - J[3 * a + d] * J[3 * b + c]) / det;
    }
  return det;
}

/* At y in cell k: point, inverse Jacobian, flux; returns the determinant */
static PetscReal Flux(const Slow *s, PetscInt k, const PetscReal y[], PetscReal x[], PetscReal Ji[], PetscReal F[], PetscReal *u)
{
  const PetscInt dim = s->m->dim, nc = dim * (dim + 1) / 2;
  PetscReal      J[9] = {0.0}, g[3], grad[3] = {0.0}, det;
  PetscScalar    K[6];

  for (PetscInt d = 0; d < dim; ++d) x[d] = Evaluate(s, s->x + k * s->np * dim + d, dim, y, J + d * dim);
  det = Invert(dim, J, Ji);
  *u  = Evaluate(s, s->e + k * s->np, 1, y, g);
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) grad[i] += Ji[j * dim + i] * g[j];
  if (s->kappa == 1) (void)Tensor(dim, x, nc, K, NULL);
  for (PetscInt i = 0; i < dim; ++i) {
    F[i] = s->kappa == 2 ? CellKappa(k) * grad[i] : (s->kappa ? 0.0 : grad[i]);
    for (PetscInt j = 0; j < dim && s->kappa == 1; ++j) {
      const PetscInt a = PetscMin(i, j), b = PetscMax(i, j);

      F[i] += K[a * dim - a * (a - 1) / 2 + b - a] * grad[j];
    }
  }
  return det;
}

static PetscReal Distance(PetscInt dim, const PetscReal a[], const PetscReal b[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(a[d] - b[d]);
  return PetscSqrtReal(s);
}

/* where a point of the octree is in cell k */
static void Local(const Slow *s, PetscInt k, const PetscReal X[], PetscReal y[])
{
  const HangCell *c = s->m->cell + k;

  for (PetscInt d = 0; d < s->m->dim; ++d) y[d] = 2.0 * (X[d] * (1 << c->level) - c->a[d]) - 1.0;
}

/* The square of the jump on a piece of cell c's facet across d: the facet of the cell a of a level; k is the
   cell behind it, or -1 */
static PetscReal Piece(const Slow *s, PetscInt c, PetscInt d, PetscInt side, PetscInt level, const PetscInt a[], PetscInt k,
                       const PetscReal g[], const PetscReal w[])
{
  const PetscInt dim = s->m->dim, Q = s->p + 2, nq = PetscPowInt(Q, dim - 1), n = 1 << (dim - 1);
  PetscReal      corner[4][3], X[3], y[3], x[3], Ji[9], F[3], G[3], u, sum = 0.0, h = 0.0, scale = 1.0;

  for (PetscInt i = 0; i < nq + n; ++i) {
    PetscReal weight = 1.0, ds = 0.0, normal[3], jump = 0.0, det;

    for (PetscInt b = 0, j = i < nq ? i : i - nq; b < dim; ++b) {
      const PetscReal t = i < nq ? g[j % Q] : 2.0 * (j % 2) - 1.0;

      if (b == d) X[b] = (PetscReal)(s->m->cell[c].a[b] + side) / (1 << s->m->cell[c].level);
      else {
        X[b] = (a[b] + 0.5 * (t + 1.0)) / (1 << level);
        if (i < nq) weight *= w[j % Q];
        j /= i < nq ? Q : 2;
      }
    }
    Local(s, c, X, y);
    det = Flux(s, c, y, x, Ji, F, &u);
    if (i >= nq) {
      for (PetscInt b = 0; b < dim; ++b) corner[i - nq][b] = x[b];
      continue;
    }
    for (PetscInt b = 0; b < dim; ++b) {
      normal[b] = (side ? det : -det) * Ji[d * dim + b];
      ds += normal[b] * normal[b];
    }
    ds = PetscSqrtReal(ds);
    for (PetscInt b = 0; b < dim; ++b) jump += F[b] * normal[b] / ds;
    if (k >= 0) {
      if (s->half)
        for (PetscInt b = 0; b < dim; ++b)
          if (b != d && s->m->cell[k].level != s->m->cell[c].level) X[b] += 0.1 / (1 << level);
      Local(s, k, X, y);
      (void)Flux(s, k, y, x, Ji, G, &u);
      for (PetscInt b = 0; b < dim; ++b) jump -= G[b] * normal[b] / ds;
    } else {
      PetscScalar given, alpha;

      (void)Given(dim, x, 1, &given, NULL);
      (void)Alpha(dim, x, 1, &alpha, NULL);
      if (!s->flux) jump -= given;
      if (s->robin && d == 0 && side && s->m->cell[c].a[0] + 1 == s->m->M[0] << s->m->cell[c].level) jump += alpha * u;
    }
    sum += weight * ds * jump * jump;
  }
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < i; ++j) h = PetscMax(h, Distance(dim, corner[i], corner[j]));
  for (PetscInt b = 1; b < dim; ++b) scale *= (PetscReal)(1 << s->m->cell[c].level) / (1 << level);
  return h / (2.0 * s->p) * sum * scale;
}

static PetscReal SlowJumps(const Slow *s, PetscInt c, const PetscReal g[], const PetscReal w[])
{
  const HangMesh *m   = s->m;
  const HangCell *K   = m->cell + c;
  const PetscInt  dim = m->dim;
  PetscReal       sum = 0.0;

  for (PetscInt f = 0; f < 2 * dim; ++f) {
    const PetscInt d = f / 2, side = f % 2;
    PetscInt       b[3] = {K->a[0], K->a[1], K->a[2]};
    PetscReal      mid[3];
    char           state;

    b[d] += side ? 1 : -1;
    state = HangState(m, K->level, b);
    for (PetscInt e = 0; e < dim; ++e) mid[e] = (K->a[e] + (e == d ? side : 0.5)) / (1 << K->level);
    if (state == 2)
      for (PetscInt v = 0; v < (1 << dim); ++v) {
        const PetscInt child[3] = {2 * b[0] + (v & 1), 2 * b[1] + (v >> 1 & 1), 2 * b[2] + (v >> 2)};

        if ((v >> d & 1) == side) continue;
        sum += Piece(s, c, d, side, K->level + 1, child, s->place[K->level + 1][HangIndex(m, K->level + 1, child)], g, w);
      }
    else if (state == 1) sum += Piece(s, c, d, side, K->level, K->a, s->place[K->level][HangIndex(m, K->level, b)], g, w);
    else if (state == 0) {
      const PetscInt parent[3] = {b[0] >> 1, b[1] >> 1, b[2] >> 1};

      sum += Piece(s, c, d, side, K->level, K->a, s->place[K->level - 1][HangIndex(m, K->level - 1, parent)], g, w);
    } else if (!HangWall(dim, mid)) sum += Piece(s, c, d, side, K->level, K->a, -1, g, w);
  }
  return sum;
}

/* Derivatives by differences of sixth order */
static PetscReal SlowResidual(const Slow *s, PetscInt c, PetscReal mass, const PetscReal g[], const PetscReal w[])
{
  static const PetscReal D[3] = {0.75, -0.15, 1.0 / 60.0};
  const PetscInt         dim = s->m->dim, Q = s->p + 2;
  PetscReal              corner[8][3], Ji[9], F[3], G[3], Jj[9], x[3], y[3], u, v, sum = 0.0, h = 0.0, step = s->x ? 0.05 : 0.0;

  for (PetscInt i = 0; i < PetscPowInt(Q, dim); ++i) {
    PetscReal   weight = 1.0, r, det;
    PetscScalar f;

    for (PetscInt d = 0, j = i; d < dim; ++d, j /= Q) {
      y[d] = g[j % Q];
      weight *= w[j % Q];
    }
    det = Flux(s, c, y, x, Ji, F, &u);
    (void)Source(dim, x, 1, &f, NULL);
    r = PetscRealPart(f) - mass * u;
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal t = y[d];

      for (PetscInt k = 1; k <= 3; ++k)
        for (PetscInt sign = -1; sign <= 1; sign += 2) {
          y[d] = t + sign * k * step;
          (void)Flux(s, c, y, x, Jj, G, &v);
          for (PetscInt a = 0; a < dim; ++a) r += sign * D[k - 1] / step * Ji[d * dim + a] * G[a];
        }
      y[d] = t;
    }
    sum += weight * det * r * r;
  }
  for (PetscInt i = 0; i < (1 << dim); ++i) {
    for (PetscInt d = 0; d < dim; ++d) y[d] = i >> d & 1 ? 1.0 : -1.0;
    (void)Flux(s, c, y, corner[i], Ji, F, &u);
    for (PetscInt j = 0; j < i; ++j) h = PetscMax(h, Distance(dim, corner[i], corner[j]));
  }
  return PetscSqr(h / s->p) * sum;
}

/* Values of all cells from those of this rank's, in their own directions */
static PetscErrorCode SlowGather(Slow *s, const HangArrays *a, Vec local, PetscReal all[])
{
  VecScatter         scatter;
  Vec                seq;
  const PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(local, &scatter, &seq));
  PetscCall(VecScatterBegin(scatter, local, seq, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, local, seq, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(seq, &v));
  for (PetscInt k = 0; k < s->m->n * s->np; ++k) {
    PetscInt at[3], P = s->p + 1;

    HangPlace(s->m, s->m->cell + k / s->np, s->p, k % s->np, at);
    all[k / s->np * s->np + at[0] + P * (at[1] + P * at[2])] = PetscRealPart(v[k]);
  }
  PetscCall(VecRestoreArrayRead(seq, &v));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&seq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlowCreate(const HangMesh *m, PetscInt p, PetscInt kappa, void (*map)(PetscInt, PetscReal[]),
                                 const HangArrays *a, Mat L, Vec x, Slow *s)
{
  Vec e;

  PetscFunctionBeginUser;
  *s = (Slow){.m = m, .p = p, .np = a->np, .kappa = kappa};
  PetscCall(PetscMalloc3(p + 1, &s->z, m->n * a->np, &s->e, m->n * a->np * m->dim, &s->x));
  PetscCall(TestGLL(p + 1, s->z));
  for (PetscInt g = 0; g <= m->finest; ++g) PetscCall(PetscCalloc1(HangCount(m, g), &s->place[g]));
  for (PetscInt c = 0; c < m->n; ++c) {
    const HangCell *K = m->cell + c;

    s->place[K->level][HangIndex(m, K->level, K->a)] = c;
    for (PetscInt i = 0; i < a->np; ++i) {
      PetscReal *y = s->x + (c * a->np + i) * m->dim;

      for (PetscInt d = 0, k = i; d < m->dim; ++d, k /= p + 1) y[d] = (K->a[d] + 0.5 * (s->z[k % (p + 1)] + 1.0)) / (1 << K->level);
      if (map) map(m->dim, y);
    }
  }
  PetscCall(MatCreateVecs(L, NULL, &e));
  PetscCall(MatMult(L, x, e));
  PetscCall(SlowGather(s, a, e, s->e));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlowDestroy(Slow *s)
{
  PetscFunctionBeginUser;
  for (PetscInt g = 0; g <= s->m->finest; ++g) PetscCall(PetscFree(s->place[g]));
  PetscCall(PetscFree3(s->z, s->e, s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S[d][n][np]: the averaged flux at all cells' nodes, by the constraint matrix */
static PetscErrorCode SlowAverage(Slow *s, const HangArrays *a, Mat L, PetscReal S[])
{
  const PetscInt dim = s->m->dim, P = s->p + 1;
  Vec            e, sum[4];
  PetscReal     *w, *z, Ji[9], F[3], x[3], y[3], u;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(L, &sum[0], &e));
  for (PetscInt d = 1; d <= dim; ++d) PetscCall(VecDuplicate(sum[0], &sum[d]));
  PetscCall(PetscMalloc2(P, &w, P, &z));
  if (P > 2) PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  else w[0] = w[1] = 1.0;
  for (PetscInt d = dim; d >= 0; --d) {
    PetscScalar *v;

    PetscCall(VecGetArray(e, &v));
    for (PetscInt r = 0; r < a->nc * a->np; ++r) {
      const PetscInt c = a->first + r / a->np;
      PetscInt       at[3];
      PetscReal      weight = 1.0, det;

      HangPlace(s->m, s->m->cell + c, s->p, r % a->np, at);
      for (PetscInt b = 0; b < dim; ++b) {
        y[b] = s->z[at[b]];
        weight *= w[at[b]];
      }
      det  = Flux(s, c, y, x, Ji, F, &u);
      v[r] = weight * det * (d < dim ? F[d] : 1.0);
    }
    PetscCall(VecRestoreArray(e, &v));
    PetscCall(MatMultTranspose(L, e, sum[d]));
    if (d == dim) continue;
    PetscCall(VecPointwiseDivide(sum[d], sum[d], sum[dim]));
    PetscCall(MatMult(L, sum[d], e));
    PetscCall(SlowGather(s, a, e, S + d * s->m->n * s->np));
  }
  PetscCall(PetscFree2(w, z));
  PetscCall(VecDestroy(&e));
  for (PetscInt d = 0; d <= dim; ++d) PetscCall(VecDestroy(&sum[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the square of the distance to S, of a scalar diffusion: others are compared where it is constant */
static PetscReal SlowRecovered(const Slow *s, PetscInt c, const PetscReal S[], const PetscReal g[], const PetscReal w[])
{
  const PetscInt  dim = s->m->dim, Q = s->p + 2;
  const PetscReal kappa = s->kappa == 2 ? CellKappa(c) : 1.0;
  PetscReal       sum   = 0.0;

  for (PetscInt i = 0; i < PetscPowInt(Q, dim); ++i) {
    PetscReal weight = 1.0, y[3], x[3], Ji[9], F[3], u, du[3], det, K[6], e[3], q = 0.0;

    for (PetscInt d = 0, j = i; d < dim; ++d, j /= Q) {
      y[d] = g[j % Q];
      weight *= w[j % Q];
    }
    det = Flux(s, c, y, x, Ji, F, &u);
    for (PetscInt d = 0; d < dim; ++d) e[d] = Evaluate(s, S + (d * s->m->n + c) * s->np, 1, y, du) - F[d];
    if (s->kappa == 1) { /* e . K^-1 e */
      PetscReal A[9], Ai[9];

      (void)Tensor(dim, x, dim * (dim + 1) / 2, K, NULL);
      for (PetscInt a = 0, t = 0; a < dim; ++a)
        for (PetscInt b = a; b < dim; ++b, ++t) A[a * dim + b] = A[b * dim + a] = K[t];
      (void)Invert(dim, A, Ai);
      for (PetscInt a = 0; a < dim; ++a)
        for (PetscInt b = 0; b < dim; ++b) q += e[a] * Ai[a * dim + b] * e[b];
    } else
      for (PetscInt a = 0; a < dim; ++a) q += e[a] * e[a] / kappa;
    sum += weight * det * q;
  }
  return sum;
}

static PetscErrorCode AnyGradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  for (PetscInt d = 0; d < dim; ++d) g[d] = x[d] - 2.0 * x[0] * x[1];
  return PETSC_SUCCESS;
}

/* the square of the energy of the difference to a function and a gradient that do not belong together */
static PetscReal SlowEnergy(const Slow *s, PetscInt c, PetscReal mass, PetscInt Q, const PetscReal g[], const PetscReal w[])
{
  const PetscInt dim = s->m->dim;
  PetscReal      sum = 0.0;

  for (PetscInt i = 0; i < PetscPowInt(Q, dim); ++i) {
    PetscReal   weight = 1.0, y[3], x[3], Ji[9], F[3], u, det, K[9] = {0.0}, Kinv[9], e[3], q = 0.0;
    PetscScalar v, grad[3], T[6];

    for (PetscInt d = 0, j = i; d < dim; ++d, j /= Q) {
      y[d] = g[j % Q];
      weight *= w[j % Q];
    }
    det = Flux(s, c, y, x, Ji, F, &u);
    (void)Source(dim, x, 1, &v, NULL);
    (void)AnyGradient(dim, x, dim, grad, NULL);
    (void)Tensor(dim, x, dim * (dim + 1) / 2, T, NULL);
    for (PetscInt a = 0, t = 0; a < dim; ++a)
      for (PetscInt b = a; b < dim; ++b, ++t)
        K[a * dim + b] = K[b * dim + a] = s->kappa == 1 ? T[t] : (a != b ? 0.0 : (s->kappa ? CellKappa(c) : 1.0));
    (void)Invert(dim, K, Kinv);
    for (PetscInt a = 0; a < dim; ++a) {
      e[a] = -grad[a];
      for (PetscInt b = 0; b < dim; ++b) e[a] += Kinv[a * dim + b] * F[b];
    }
    for (PetscInt a = 0; a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) q += e[a] * K[a * dim + b] * e[b];
    sum += weight * det * (q + mass * PetscSqr(u - v));
  }
  return sum;
}
