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

static PetscErrorCode HopsMeshRestrict_Host(const HopsNumbering *b, const HopsCellView *view, int nT, int nTG, int restr[],
                                            int perm[], PetscInt *ninterior)
{
  unsigned char *inner;
  PetscInt       at[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->ncells, &inner));
  for (PetscInt c = 0; c < b->ncells; ++c) at[0] += inner[c] = (unsigned char)HopsIsInnerCell(b, nT, c);
  *ninterior = at[0];
  for (PetscInt c = 0; c < b->ncells; ++c) perm[at[inner[c] ? 1 : 0]++] = (int)c;
  for (PetscInt c = 0; c < b->ncells; ++c) {
    const signed char *ornt = b->ornt + perm[c] * HopsClosureSize(b->dim);
    int               *r    = restr + c * view->ne, first[27];
    const int         *seen[27];

    for (PetscInt k = 0; k < b->nlist; ++k) {
      first[k] = HopsCellFirst(b, nTG, perm[c], k);
      seen[k]  = view->seen + (ornt[b->list[k]] + 4) * view->ne;
    }
    for (PetscInt i = 0; i < view->ne; ++i) r[i] = HopsCellEntry(first[view->slot[i]], seen[view->slot[i]][i]);
  }
  PetscCall(PetscFree(inner));
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

const HopsMeshOps HopsMeshHost = {.Closures = HopsMeshClosures_Host,
                                  .Number   = HopsMeshNumber_Host,
                                  .Restrict = HopsMeshRestrict_Host,
                                  .Corners  = HopsMeshCorners_Host};
