/*
  Condensed patches: static condensation where the cells of a tensor star have factors of their own, so that
  no tensor product is the patch's matrix, but each cell's form is one.

  In 1D let t = 0 be the vertex's node of a cell and t = 1..p-1 those inside it. The functions of the modes
  psi_k of the inside, with M = 1 and A = lambda, and phi = phi_0 - sum_k mu_k psi_k, mu_k = M(phi_0, psi_k),
  have a diagonal mass matrix and a stiffness matrix that couples phi with each psi_k by alpha_k, and nothing
  else. The change of basis is the same in all cells, whatever their factors, so its tensor product is one of
  the patch. In it a mode (i, j, k) inside a cell is coupled to (0, j, k), (i, 0, k) and (i, j, 0) alone, and
    S = A_BB - sum over cells and modes of c c^T / D,  D = d_x lambda_i + d_y lambda_j + d_z lambda_k + d_m,
  has three entries c (two in 2D) in each summand. S is inverted as it is.
*/
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsblas.h>

PetscErrorCode HopsPatchesAddCondensed(HopsPatches pt, const int side[3], PetscReal d[8][4])
{
  const PetscInt      k     = pt->n - 1;
  PetscReal           scale = 0.0;
  HopsPatchCondensed *c;

  PetscFunctionBegin;
  if (pt->ncond == pt->cmax) {
    pt->cmax = PetscMax(16, 2 * pt->cmax);
    PetscCall(PetscRealloc(pt->cmax * sizeof(*pt->cond), &pt->cond));
  }
  c = pt->cond + pt->ncond;
  for (PetscInt i = 0; i < 32; ++i) scale = PetscMax(scale, d[i / 4][i % 4]);
  for (PetscInt i = 0; i < 32; ++i) c->d[i / 4][i % 4] = d[i / 4][i % 4] / scale;
  for (PetscInt a = 0; a < 3; ++a) c->side[a] = side[a];
  pt->solver[k]   = HOPS_PATCH_CONDENSED;
  pt->scale[k][4] = 1.0 / scale;
  pt->dense[k]    = pt->ncond++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Modes of a cell's interior, and the function of the vertex */
static PetscErrorCode Modes(HopsPatches pt)
{
  const PetscInt   dim = pt->space->dim, p = pt->space->order, n = p - 1, nodes = HopsPower(2 * p - 1, dim);
  HopsPatchLine    l = {.ncells = 1, .first = 1, .last = n, .a = {1.0}, .m = {1.0}};
  HopsPatchModes  *m = &pt->modes;
  const PetscReal *S, *lambda;
  PetscReal       *nu;

  PetscFunctionBegin;
  PetscCall(HopsPatchFactorGet(pt, &l, &pt->cfactor));
  S      = pt->values + pt->factors[pt->cfactor].offset;
  lambda = S + n * n;
  *m     = (HopsPatchModes){.dim = (int)dim, .n = (int)n, .nodes = (int)nodes, .arrow = {pt->A1[0], pt->M1[0]}};
  PetscCall(PetscCalloc5(n, &pt->alpha, n, &pt->mu, HopsPatchModesValues(m), &pt->mvalues, HopsPatchModesTable(m), &pt->mlist,
                         HopsPatchModesTable(m), &pt->mwhere));
  for (PetscInt k = 0; k < n; ++k) {
    for (PetscInt t = 0; t < n; ++t) {
      pt->alpha[k] += S[t * n + k] * pt->A1[t + 1];
      pt->mu[k] += S[t * n + k] * pt->M1[t + 1];
    }
    m->arrow[0] += pt->mu[k] * (lambda[k] * pt->mu[k] - 2.0 * pt->alpha[k]);
    m->arrow[1] -= PetscSqr(pt->mu[k]);
    pt->alpha[k] -= lambda[k] * pt->mu[k];
  }
  PetscCall(PetscArraycpy(pt->mvalues, S, n * n + n));
  PetscCall(PetscArraycpy(pt->mvalues + n * n + n, pt->alpha, n));
  nu = pt->mvalues + n * n + 2 * n;
  for (PetscInt t = 0; t < n; ++t)
    for (PetscInt k = 0; k < n; ++k) nu[t] += S[t * n + k] * pt->mu[k];
  for (PetscInt s = 0; s < 1 << dim; ++s) {
    const int side[3] = {(int)(1 + (s & 1)), (int)(1 + ((s >> 1) & 1)), (int)(1 + ((s >> 2) & 1))};
    int      *list = pt->mlist + s * nodes, *where = pt->mwhere + s * nodes;
    PetscInt  size;

    PetscCall(HopsPatchSkeleton(dim, p, side, &size, list));
    for (PetscInt i = 0; i < nodes; ++i) where[i] = -1;
    for (PetscInt i = 0; i < size; ++i) where[list[i]] = (int)i;
  }
  m->values = pt->mvalues;
  m->list   = pt->mlist;
  m->where  = pt->mwhere;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt64 key[35];
  PetscInt   cond;
} Key;

static int KeyCompare(const void *a, const void *b)
{
  const Key *x = (const Key *)a, *y = (const Key *)b;

  for (int i = 0; i < 35; ++i)
    if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
  return x->cond < y->cond ? -1 : 1;
}

/* Equal patches get the first one's number: then there are as many as differ, in the order of their first */
static PetscErrorCode Share(HopsPatches pt)
{
  const PetscInt nall = pt->ncond;
  Key           *key;
  PetscInt      *first, *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nall, &key, nall, &first, nall, &number));
  for (PetscInt k = 0; k < nall; ++k) {
    for (PetscInt a = 0; a < 3; ++a) key[k].key[a] = pt->cond[k].side[a];
    /* far from powers of two, where bits change by rounding errors */
    for (PetscInt i = 0; i < 32; ++i) key[k].key[3 + i] = HopsPatchBits(0.7137 * pt->cond[k].d[i / 4][i % 4]);
    key[k].cond = k;
  }
  if (nall) qsort(key, nall, sizeof(Key), KeyCompare);
  for (PetscInt k = 0, f = 0; k < nall; ++k) {
    if (k && memcmp(key[k].key, key[k - 1].key, sizeof(key[k].key))) f = k;
    first[key[k].cond] = key[f].cond;
  }
  pt->ncond = 0;
  for (PetscInt k = 0; k < nall; ++k) {
    if (first[k] == k) {
      number[k]           = pt->ncond;
      pt->cond[pt->ncond] = pt->cond[k];
      ++pt->ncond;
    } else number[k] = number[first[k]];
  }
  for (PetscInt k = 0; k < pt->n; ++k)
    if (pt->solver[k] == HOPS_PATCH_CONDENSED) pt->dense[k] = number[pt->dense[k]];
  PetscCall(PetscFree3(key, first, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By LAPACK, patch by patch */
static PetscErrorCode HostCondense(const HopsPatchModes *m, PetscInt ncond, const HopsPatchCondensed cond[], PetscReal schur[],
                                   PetscInt *bad)
{
  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt k = 0; k < ncond && *bad < 0; ++k) {
    PetscReal     *S = schur + cond[k].offset;
    const PetscInt n = cond[k].n;
    PetscBLASInt   bn, info;

    HopsPatchSchur(m, cond + k, S, 0, 1);
    PetscCall(PetscBLASIntCast(n, &bn));
    PetscCallBLAS("LAPACKpotrf", HopsLAPACKpotrf("U", &bn, S, &bn, &info));
    if (info) *bad = k;
    else {
      PetscCallBLAS("LAPACKpotri", HopsLAPACKpotri("U", &bn, S, &bn, &info));
      PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK potri failed: %d", (int)info);
    }
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt l = 0; l < i; ++l) S[l * n + i] = S[i * n + l];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesCondense(HopsPatches pt)
{
  const PetscInt        dim = pt->space->dim, p = pt->space->order, nall = pt->ncond;
  const HopsBackendOps *be                   = pt->space->backend;
  char                  why[HOPS_WHY_LENGTH] = "";
  PetscInt              bad                  = -1;

  PetscFunctionBegin;
  if (nall) {
    PetscCall(Modes(pt));
    PetscCall(Share(pt));
    for (PetscInt k = 0; k < pt->ncond; ++k) {
      PetscInt n;

      PetscCall(HopsPatchSkeleton(dim, p, pt->cond[k].side, &n, NULL));
      pt->cond[k].n      = (int)n;
      pt->cond[k].offset = pt->nschur;
      pt->nschur += PetscSqr((size_t)n);
    }
    PetscCall((*be->memory->Malloc)(pt->nschur * sizeof(PetscReal), (void **)&pt->schur));
    PetscCall((*(be->patches ? be->patches->Condense : HostCondense))(&pt->modes, pt->ncond, pt->cond, pt->schur, &bad));
    PetscCall(PetscInfo(pt->space,
                        "%" PetscInt_FMT " condensed patches, %" PetscInt_FMT " of them different: %g MB for their inverses\n",
                        nall, pt->ncond, 1e-6 * pt->nschur * sizeof(PetscReal)));
  }
  PetscCall(HopsPatchFactorsCheck(pt));
  if (bad >= 0)
    PetscCall(HopsRefuse(why, "A condensed patch is not positive definite: the form is not (no boundary condition on a mesh of one "
                              "patch?), or its coefficients jump by more than double precision can bear: use "
                              "-pc_patchfd_condense_max 0, or -pc_type lor"));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pt->space), PETSC_ERR_MAT_LU_ZRPVT, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
