/* Fast diagonalisation in 1D: the generalised eigenproblems of patches, equal ones stored once. */
#include <hops/private/hopspatch.h>
#include <petscblaslapack.h>

/* 40 bits of a number, and its exponent: equal for numbers that differ by rounding errors (but for a few at the seams, which cost a copy) */
PetscInt64 HopsPatchBits(PetscReal x)
{
  int       e;
  PetscReal m;

  if (x == 0.0) return 0;
  m = frexp(x, &e);
  return (PetscInt64)llround(ldexp(m, 40)) * 4096 + e;
}

PetscReal HopsPatchRoundRatio(PetscReal r)
{
  return PetscPowReal(2.0, PetscFloorReal(16.0 * PetscLog2Real(r) + 0.5) / 16.0);
}

/* Rows of a line's A and M on its window of nodes; columns of the window too, or of all N nodes */
static void Pencil(const HopsPatches pt, const HopsPatchLine *l, PetscBool all, PetscReal A[], PetscReal M[])
{
  const PetscInt p = pt->space->order, P = p + 1, n = l->last - l->first + 1, N = all ? l->ncells * p + 1 : n, first = all ? 0 : l->first;

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
  Even modes first, then odd ones, made so to the last bit: kernels of half the work rest on it. False where the modes are not of
  definite parity.
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
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "V", "U", &bn, A, &bn, M, &bn, lambda, work, &lwork, &info));
  /* M holds its Cholesky factor, which rounding may let through. Pivots are compared with their own diagonal entries, as coefficients of the line's cells may differ by any factor */
  for (PetscInt i = 0; i < n && info <= n; ++i) regular = regular && PetscSqr(M[i * n + i]) > 100 * n * PETSC_MACHINE_EPSILON * diag[i] ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(info <= n && regular, PETSC_COMM_SELF, PETSC_ERR_SUP, "The operator's quadrature rule makes the 1D mass matrix of a patch singular: use at least order + 1 points per direction (-mat_pa_q_1d)");
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK sygv failed: %d", (int)info);
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt k = 0; k < n; ++k) S[i * n + k] = A[k * n + i];
  for (PetscInt k = 0; k < n; ++k) lambda[k] = PetscMax(lambda[k], 0.0);
  PetscCall(Parity(n, S, lambda, &f->symmetric));
  if (l->first + l->last != l->ncells * pt->space->order || l->a[0] != l->a[l->ncells - 1] || l->m[0] != l->m[l->ncells - 1]) f->symmetric = PETSC_FALSE; /* one node is always even */
  PetscCall(PetscFree4(A, M, work, diag));
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
  const PetscInt64 key[10] = {((PetscInt64)l->ncells << 32) + (l->first << 16) + l->last, HopsPatchBits(l->a[0]), HopsPatchBits(l->a[1]), HopsPatchBits(l->a[2]), HopsPatchBits(l->m[0]), HopsPatchBits(l->m[1]), HopsPatchBits(l->m[2]), HopsPatchBits(l->robin[0]), HopsPatchBits(l->robin[1]), 0};
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
