/* Fast diagonalisation in 1D: the generalised eigenproblems of patches, equal ones stored once. */
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsblas.h>

/* 40 bits of a number, and its exponent: equal for numbers that differ by rounding errors (but for a few at
   the seams, which cost a copy) */
PetscInt64 HopsPatchBits(PetscReal x)
{
  PetscInt64 bits;

  if (x == 0.0) return 0;
  memcpy(&bits, &x, sizeof(bits));
  return (bits + (1 << 12)) >> 13; /* 39 of the 52 bits of the mantissa, rounded, below the exponent */
}

/* Rows of a line's A and M on its window of nodes; columns of the window too, or of all N nodes */
static void Pencil(const HopsPatches pt, const HopsPatchLine *l, PetscBool all, PetscReal A[], PetscReal M[])
{
  const PetscInt p = pt->space->order, P = p + 1, n = l->last - l->first + 1, N = all ? l->ncells * p + 1 : n,
                 first = all ? 0 : l->first;

  for (PetscInt i = 0; i < n * N; ++i) A[i] = M[i] = 0.0;
  for (PetscInt c = 0; c < l->ncells; ++c)
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) {
        const PetscInt r = c * p + i - l->first, s = c * p + j - first;

        if (r < 0 || s < 0 || r >= n || s >= N) continue;
        A[r * N + s] += l->a[c] * pt->A1[i * P + j];
        M[r * N + s] += l->m[c] * pt->M1[i * P + j];
      }
  A[l->first - first] += l->robin[0];
  A[(n - 1) * N + l->last - first] += l->robin[1];
}

/*
  Even modes first, then odd ones, made so to the last bit: kernels of half the work rest on it. False where
  the modes are not of definite parity.
*/
static PetscErrorCode Parity(PetscInt n, PetscReal S[], PetscReal lambda[], PetscBool *symmetric)
{
  PetscReal *T, *l;
  PetscInt   even = 0, odd = (n + 1) / 2;

  PetscFunctionBegin;
  *symmetric = PETSC_TRUE;
  PetscCall(PetscMalloc2(n * n, &T, n, &l));
  for (PetscInt k = 0; k < n && *symmetric; ++k) {
    PetscReal e = 0.0, o = 0.0, total = 0.0;
    PetscInt  to;

    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal a = S[i * n + k], b = S[(n - 1 - i) * n + k];

      e += PetscSqr(a - b);
      o += PetscSqr(a + b);
      total += PetscSqr(a);
    }
    if (PetscMin(e, o) > 1e-18 * total || (e < o && even == (n + 1) / 2) || (e >= o && odd == n)) {
      *symmetric = PETSC_FALSE;
      break;
    }
    to    = e < o ? even++ : odd++;
    l[to] = lambda[k];
    for (PetscInt i = 0; i < n; ++i) T[i * n + to] = 0.5 * (S[i * n + k] + (e < o ? 1.0 : -1.0) * S[(n - 1 - i) * n + k]);
  }
  if (*symmetric) {
    PetscCall(PetscArraycpy(S, T, n * n));
    PetscCall(PetscArraycpy(lambda, l, n));
  }
  PetscCall(PetscFree2(T, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonalize(HopsPatches pt, const HopsPatchLine *l, HopsPatchFactor *f)
{
  const PetscInt n = f->n;
  PetscReal     *A, *M, *work, *diag, *S = pt->values + f->offset, *lambda = S + n * n;
  PetscBool      regular = PETSC_TRUE;
  PetscBLASInt   one     = 1, bn, lwork, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(40 * n, &lwork));
  PetscCall(PetscMalloc4(n * n, &A, n * n, &M, lwork, &work, n, &diag));
  Pencil(pt, l, PETSC_FALSE, A, M);
  for (PetscInt i = 0; i < n; ++i) diag[i] = M[i * n + i];
  if (pt->fuse) Pencil(pt, l, PETSC_TRUE, lambda + n, lambda + n + n * f->N);
  PetscCallBLAS("LAPACKsygv", HopsLAPACKsygv(&one, "V", "U", &bn, A, &bn, M, &bn, lambda, work, &lwork, &info));
  /* M holds its Cholesky factor, which rounding may let through. Pivots are compared with their own diagonal
     entries, as coefficients of the line's cells may differ by any factor */
  for (PetscInt i = 0; i < n && info <= n; ++i)
    regular = regular && PetscSqr(M[i * n + i]) > 100 * n * PETSC_MACHINE_EPSILON * diag[i] ? PETSC_TRUE : PETSC_FALSE;
  if (info > n || !regular) pt->singular = PETSC_TRUE;
  PetscCheck(!info || pt->singular, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK sygv failed: %d", (int)info);
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt k = 0; k < n; ++k) S[i * n + k] = A[k * n + i];
  for (PetscInt k = 0; k < n; ++k) lambda[k] = PetscMax(lambda[k], 0.0);
  PetscCall(Parity(n, S, lambda, &f->symmetric));
  /* one node is always even */
  if (l->first + l->last != l->ncells * pt->space->order || l->a[0] != l->a[l->ncells - 1] || l->m[0] != l->m[l->ncells - 1])
    f->symmetric = PETSC_FALSE;
  PetscCall(PetscFree4(A, M, work, diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchFactorsCheck(HopsPatches pt)
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  if (pt->singular)
    PetscCall(HopsRefuse(why, "The operator's quadrature rule makes the 1D mass matrix of a patch singular: use at least order + 1 "
                              "points per direction (-mat_pa_q_1d)"));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pt->space), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Slot(const HopsPatches pt, const PetscInt64 key[10])
{
  uint64_t h = 1469598103934665603ULL;
  PetscInt s;

  for (int k = 0; k < 10; ++k) h = (h ^ ((uint64_t)key[k] + ((uint64_t)key[k] >> 29))) * 1099511628211ULL;
  for (s = (PetscInt)((h ^ (h >> 31)) & (uint64_t)(pt->nhash - 1)); pt->hash[s] >= 0; s = (s + 1) & (pt->nhash - 1)) {
    const PetscInt64 *other = pt->factors[pt->hash[s]].key;
    int               k     = 0;

    while (k < 10 && key[k] == other[k]) ++k;
    if (k == 10) break;
  }
  return s;
}

PetscErrorCode HopsPatchFactorGet(HopsPatches pt, const HopsPatchLine *l, int *factor)
{
  const PetscInt   n = l->last - l->first + 1, N = l->ncells * pt->space->order + 1, size = n * n + n + (pt->fuse ? 2 * n * N : 0);
  const PetscInt64 key[10] = {((PetscInt64)l->ncells << 32) + (l->first << 16) + l->last,
                              HopsPatchBits(l->a[0]),
                              HopsPatchBits(l->a[1]),
                              HopsPatchBits(l->a[2]),
                              HopsPatchBits(l->m[0]),
                              HopsPatchBits(l->m[1]),
                              HopsPatchBits(l->m[2]),
                              HopsPatchBits(l->robin[0]),
                              HopsPatchBits(l->robin[1]),
                              0};
  HopsPatchFactor *f;
  PetscInt         s;

  PetscFunctionBegin;
  if (4 * pt->nfactors >= pt->nhash) {
    pt->nhash = PetscMax(64, 4 * pt->nhash);
    PetscCall(PetscRealloc(pt->nhash * sizeof(PetscInt), &pt->hash));
    for (PetscInt i = 0; i < pt->nhash; ++i) pt->hash[i] = -1;
    for (PetscInt i = 0; i < pt->nfactors; ++i) {
      s           = Slot(pt, pt->factors[i].key);
      pt->hash[s] = i;
    }
  }
  s = Slot(pt, key);
  if (pt->hash[s] < 0) {
    if (pt->nfactors == pt->fmax) {
      pt->fmax = PetscMax(16, 2 * pt->fmax);
      PetscCall(PetscRealloc(pt->fmax * sizeof(HopsPatchFactor), &pt->factors));
    }
    if (pt->nvalues + size > pt->vmax) {
      pt->vmax = PetscMax(2 * pt->vmax, pt->nvalues + size);
      PetscCall(PetscRealloc(pt->vmax * sizeof(PetscReal), &pt->values));
    }
    f         = pt->factors + pt->nfactors;
    f->n      = n;
    f->N      = N;
    f->offset = pt->nvalues;
    PetscCall(PetscArraycpy(f->key, key, 10));
    PetscCall(Diagonalize(pt, l, f));
    pt->nvalues += size;
    pt->hash[s] = pt->nfactors++;
  }
  *factor = (int)pt->hash[s];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out = M in along direction d, M[n][n] (transposed: M^T) */
static void ApplyAlong(const PetscInt size[3], PetscInt d, PetscBool transpose, const PetscReal M[], const PetscReal in[],
                       PetscReal out[])
{
  const PetscInt n = size[d], stride = d == 0 ? 1 : (d == 1 ? size[0] : size[0] * size[1]), total = size[0] * size[1] * size[2];

  for (PetscInt i = 0; i < total; ++i) {
    const PetscInt   row = (i / stride) % n;
    const PetscReal *x   = in + i - row * stride;

    out[i] = 0.0;
    for (PetscInt k = 0; k < n; ++k) out[i] += (transpose ? M[k * n + row] : M[row * n + k]) * x[k * stride];
  }
}

/* out = sum_a scale[a] A_a x (M_b, b != a) in + scale[3] M x M x M in; A[3] and M[3] are the pencils, w[2]
   scratch */
static void ApplyProduct(PetscInt dim, const PetscInt size[3], PetscReal *const A[3], PetscReal *const M[3],
                         const PetscReal scale[], const PetscReal in[], PetscReal *const w[2], PetscReal out[])
{
  const PetscInt n = size[0] * size[1] * size[2];

  for (PetscInt i = 0; i < n; ++i) out[i] = 0.0;
  for (PetscInt a = 0; a <= dim; ++a) {
    const PetscReal  s    = a == dim ? scale[3] : scale[a];
    const PetscReal *from = in;

    for (PetscInt d = 0; d < dim; ++d) {
      ApplyAlong(size, d, PETSC_FALSE, d == a ? A[d] : M[d], from, w[d % 2]);
      from = w[d % 2];
    }
    for (PetscInt i = 0; i < n; ++i) out[i] += s * from[i];
  }
}

/* out = its inverse, S (sum_a scale[a] lambda_a + scale[3])^-1 S^T in */
static void ApplyInverse(PetscInt dim, const PetscInt size[3], PetscReal *const S[3], const PetscReal scale[], const PetscReal in[],
                         PetscReal *const w[2], PetscReal out[])
{
  const PetscInt   n    = size[0] * size[1] * size[2];
  const PetscReal *from = in;

  for (PetscInt d = 0; d < dim; ++d) {
    ApplyAlong(size, d, PETSC_TRUE, S[d], from, w[d % 2]);
    from = w[d % 2];
  }
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal s = scale[3];

    for (PetscInt d = 0, r = i; d < dim; r /= size[d++]) s += scale[d] * S[d][size[d] * size[d] + r % size[d]];
    out[i] = from[i] / s;
  }
  for (PetscInt d = 0; d < dim; ++d) {
    ApplyAlong(size, d, PETSC_FALSE, S[d], d ? w[d % 2] : out, w[(d + 1) % 2]);
  }
  for (PetscInt i = 0; i < n; ++i) out[i] = w[dim % 2][i];
}

/*
  Let F be the entries that the space has, C the others, K the product and B its inverse: from K B = 1 the
  eigenvalues of B_FF K_FF, but for ones, are those of B_CC K_CC. The greatest by the power method on C, which
  has few entries; Rayleigh quotients of K_CC B_CC in the inner product of B_CC come from below, so there is a
  little on top.
*/
PetscErrorCode HopsPatchRestrictedBound(HopsPatches pt, const HopsPatchLine line[], const int factor[], const PetscReal scale[],
                                        const PetscInt gid[], PetscReal *lambda)
{
  const PetscInt dim     = pt->space->dim;
  PetscInt       size[3] = {1, 1, 1}, n = 1;
  PetscReal     *A[3] = {NULL}, *M[3] = {NULL}, *S[3] = {NULL}, *x, *y, *w[2], old = 0.0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) {
    n *= size[d] = line[d].last - line[d].first + 1;
    S[d]         = pt->values + pt->factors[factor[d]].offset;
    PetscCall(PetscMalloc2(size[d] * size[d], &A[d], size[d] * size[d], &M[d]));
    Pencil(pt, &line[d], PETSC_FALSE, A[d], M[d]);
  }
  PetscCall(PetscMalloc4(n, &x, n, &y, n, &w[0], n, &w[1]));
  for (PetscInt i = 0; i < n; ++i) x[i] = gid[i] < 0 ? 1.0 + 0.25 * PetscSinReal(1.0 + 0.7 * i) : 0.0;
  *lambda = 1.0;
  for (PetscInt it = 0; it < 50; ++it) {
    PetscReal xy = 0.0, yy = 0.0, norm = 0.0;

    ApplyInverse(dim, size, S, scale, x, w, y);
    for (PetscInt i = 0; i < n; ++i) {
      if (gid[i] >= 0) y[i] = 0.0;
      xy += x[i] * y[i];
    }
    ApplyProduct(dim, size, A, M, scale, y, w, x);
    for (PetscInt i = 0; i < n; ++i) {
      if (gid[i] >= 0) x[i] = 0.0;
      yy += x[i] * y[i];
      norm = PetscMax(norm, PetscAbsReal(x[i]));
    }
    if (!(xy > 0.0)) break; /* nothing is left out */
    *lambda = PetscMax(*lambda, yy / xy);
    if (it > 4 && *lambda - old < 0.01 * *lambda) break;
    old = *lambda;
    for (PetscInt i = 0; i < n; ++i) x[i] /= norm;
  }
  *lambda *= 1.05;
  PetscCall(PetscFree4(x, y, w[0], w[1]));
  for (PetscInt d = 0; d < dim; ++d) PetscCall(PetscFree2(A[d], M[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
