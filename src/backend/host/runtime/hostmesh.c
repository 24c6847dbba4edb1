/* Set-up of spaces on a mesh in the process's memory, cell after cell. */
#include <hops/private/hopsmeshimpl.h>

static PetscErrorCode HopsMeshClosures_Host(const HopsMeshCones *m, PetscInt point[], signed char ornt[], PetscInt *bad)
{
  const PetscInt n = HopsClosureSize(m->dim);

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt c = 0; c < m->ncells && *bad < 0; ++c) {
    PetscBool good;

    if (m->dim == 3) good = HopsCellClosure(3, m, c, point + c * n, ornt + c * n); /* a constant, for the compiler */
    else good = HopsCellClosure(2, m, c, point + c * n, ornt + c * n);
    if (!good) *bad = c;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshNumber_Host(const HopsNumbering *b, PetscInt ness, const PetscInt ess[], PetscInt nforeign,
                                          const PetscInt foreign[], int *nT, int *nC)
{
  int n[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b->kind, b->np));
  for (PetscInt i = 0; i < ness; ++i) b->kind[ess[i] - b->pStart] |= HOPS_POINT_ESSENTIAL;
  for (PetscInt i = 0; i < nforeign; ++i) b->kind[foreign[i] - b->pStart] |= HOPS_POINT_FOREIGN;
  for (PetscInt p = 0; p < b->np; ++p) {
    b->touch[p] = HOPS_UNTOUCHED;
    b->first[p] = HOPS_NO_NUMBER;
  }
  for (PetscInt c = 0; c < b->ncells; ++c) { /* no later cell touches a point before this one */
    HopsTouchCell(b, c);
    HopsReachCell(b, c, PETSC_TRUE, n);
  }
  for (PetscInt p = 0; p < b->np; ++p) {
    const int dof = HopsCountUntouched(b, p);

    if (!dof) continue;
    b->first[p] = n[0];
    n[0] += dof;
  }
  *nT = n[0];
  *nC = n[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshOrder_Host(const HopsNumbering *b, int nT, int perm[], PetscInt *ninterior)
{
  unsigned char *inner;
  PetscInt       at[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->ncells, &inner));
  for (PetscInt c = 0; c < b->ncells; ++c) at[0] += inner[c] = (unsigned char)HopsIsInnerCell(b, nT, c);
  *ninterior = at[0];
  for (PetscInt c = 0; c < b->ncells; ++c) perm[at[inner[c] ? 1 : 0]++] = (int)c;
  PetscCall(PetscFree(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshRestrict_Host(const HopsNumbering *b, const HopsCellView *view, int nTG, PetscInt n, const int perm[],
                                            int restr[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt     c    = perm ? perm[i] : i;
    const signed char *ornt = b->ornt + PetscMax(c, 0) * HopsClosureSize(b->dim);
    int               *r    = restr + i * view->ne, first[27];
    const int         *seen[27];

    if (c < 0) {
      PetscCall(PetscArrayzero(r, view->ne));
      continue;
    }
    for (PetscInt k = 0; k < b->nlist; ++k) {
      first[k] = HopsCellFirst(b, nTG, c, k);
      seen[k]  = view->seen + (ornt[b->list[k]] + 4) * view->ne;
    }
    for (PetscInt e = 0; e < view->ne; ++e) r[e] = HopsCellEntry(first[view->slot[e]], seen[view->slot[e]][e]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshTranspose_Host(size_t n, const int key[], int nkeys, int start[], int entry[])
{
  int sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(start, nkeys + 1));
  for (size_t i = 0; i < n; ++i) ++start[key[i]];
  for (int k = 0; k <= nkeys; ++k) {
    const int next = sum + start[k];

    start[k] = sum;
    sum      = next;
  }
  for (size_t i = 0; i < n; ++i) entry[start[key[i]]++] = (int)i; /* start[k] becomes start[k + 1] */
  for (int k = nkeys; k > 0; --k) start[k] = start[k - 1];
  start[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshComplement_Host(PetscInt size, PetscInt n, const PetscInt gap[], PetscInt list[], PetscInt inverse[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0, k = 0; k <= n; ++k) {
    const PetscInt end = k < n ? gap[k] : size;

    for (; i < end; ++i) {
      inverse[i]  = i - k;
      list[i - k] = i;
    }
    if (k < n) inverse[i++] = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshCorners_Host(const HopsCorners *m, PetscInt nx, PetscInt ncells, const PetscInt point[],
                                           const int perm[], PetscReal X[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < ncells; ++c)
    for (PetscInt i = 0; i < m->n; ++i) HopsCellCorner(m, point, c, perm[c], i, X);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshCoarsen_Host(const HopsChildMaps *m, const PetscReal fine[], PetscReal X[])
{
  const PetscInt np = HopsPower(m->P, m->dim);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->ncoarse; ++c)
    for (PetscInt i = 0; i < np; ++i) HopsCoarseNode(m, fine, c, i, X);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsMeshOps HopsMeshHost = {.Closures   = HopsMeshClosures_Host,
                                  .Number     = HopsMeshNumber_Host,
                                  .Order      = HopsMeshOrder_Host,
                                  .Restrict   = HopsMeshRestrict_Host,
                                  .Transpose  = HopsMeshTranspose_Host,
                                  .Complement = HopsMeshComplement_Host,
                                  .Corners    = HopsMeshCorners_Host,
                                  .Coarsen    = HopsMeshCoarsen_Host};
