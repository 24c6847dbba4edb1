/*
  Functions at the nodes of a DM's fields: a walk over nodes, and DMProjectFunction(), which initial guesses
  and exact solutions of a code go through. PETSc projects cell by cell, and evaluates a node in each of its
  cells; unknowns of these fields are values at nodes, so one call a node is the same.
*/
#include <hops/private/hopsdmimpl.h>
#include <petsc/private/dmimpl.h> /* dm->ops */
#include <petscdmplex.h>

typedef PetscErrorCode (*HopsProject)(DM, PetscReal, HopsFunction *, void **, InsertMode, Vec);
static HopsProject PlexProject = NULL;

/* The nodes of field f of a cell with the unknowns idx[], at x[node][dim]; list[2 nc] is scratch */
static PetscErrorCode HopsPlexVisitCell(HopsFields F, PetscInt f, const PetscInt idx[], const PetscReal x[], PetscInt of[],
                                        PetscInt list[], HopsPlexNodeVisit visit, void *ctx)
{
  const PetscInt nc = F->nc[f], np = HopsPower(F->P[f], F->dim);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt k = 0; k < nc; ++k) {
      const PetscInt which = of[idx[i * nc + k]];
      PetscInt       n     = 0;

      if (which < 0) continue;
      for (PetscInt l = k; l < nc; ++l) { /* other components by the same function */
        if (of[idx[i * nc + l]] != which) continue;
        of[idx[i * nc + l]] = -1;
        list[n]             = idx[i * nc + l];
        list[nc + n++]      = l;
      }
      PetscCall((*visit)(ctx, which, x + F->node[f][i] * F->dim, n, list, list + nc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexVisitNodes(DM dm, HopsPlex *plex, PetscInt of[], const PetscBool onpoint[], HopsPlexNodeVisit visit,
                                  void *ctx)
{
  HopsFields       F     = plex->fields;
  HopsSpace        sp    = plex->space;
  HopsPlexCells    cells = sp->cells;
  HopsPlexUnknowns u;
  HopsBasis       *nodes, *geom;
  PetscInt        *idx, *list, pStart, pEnd, most = 0;
  PetscReal       *x;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(cells));
  PetscCall(PetscSectionGetChart(plex->section, &pStart, &pEnd));
  PetscCall(PetscMalloc2(F->nf, &nodes, F->nf, &geom));
  for (PetscInt f = 0; f < F->nf; ++f) {
    PetscCall(HopsBasisCreate(F->P[f], F->P[f], PETSC_TRUE, &nodes[f]));
    PetscCall(HopsSpaceCreateGeometryBasis(sp, &nodes[f], &geom[f]));
    most = PetscMax(most, HopsPower(F->P[f], F->dim));
  }
  PetscCall(HopsPlexUnknownsCreate(dm, plex->section, cells, PETSC_FALSE, &u));
  PetscCall(PetscMalloc3(u.size, &idx, 2 * F->off[F->nf], &list, most * F->dim, &x));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt cell    = cells->where[sp->cell[c] - cells->cstart];
    PetscBool      touches = onpoint ? PETSC_FALSE : PETSC_TRUE;
    PetscInt       n, off = 0;

    for (PetscInt k = 0; k < cells->ref.n && !touches; ++k) {
      const PetscInt p = cells->point[cell * cells->ref.n + k];

      if (p >= pStart && p < pEnd) touches = onpoint[p - pStart];
    }
    if (!touches) continue;
    PetscCall(HopsPlexUnknownsGet(&u, cell, idx, &n));
    PetscCheck(n == F->nclosure, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns in its closure, not %" PetscInt_FMT, sp->cell[c], n,
               F->nclosure);
    for (PetscInt f = 0; f < F->nf; off += F->nc[f] * HopsPower(F->P[f], F->dim), ++f) {
      PetscCall(HopsSpaceGetPoints(sp, &geom[f], c, 1, x, NULL));
      PetscCall(HopsPlexVisitCell(F, f, idx + off, x, of, list, visit, ctx));
    }
  }
  PetscCall(PetscFree3(idx, list, x));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  for (PetscInt f = 0; f < F->nf; ++f) {
    PetscCall(HopsBasisDestroy(&nodes[f]));
    PetscCall(HopsBasisDestroy(&geom[f]));
  }
  PetscCall(PetscFree2(nodes, geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- DMProjectFunction() --------------------------------------- */

typedef struct {
  PetscReal       t;
  PetscInt        dim;
  const PetscInt *nc; /* components of each field */
  HopsFunction   *f;
  void          **ctx;
  PetscScalar    *a, *u; /* the local vector; all components of a field */
} HopsProjection;

static PetscErrorCode HopsProjectNode(void *ctx, PetscInt field, const PetscReal x[], PetscInt n, const PetscInt entry[],
                                      const PetscInt comp[])
{
  HopsProjection *p = (HopsProjection *)ctx;

  PetscFunctionBegin;
  PetscCall((*p->f[field])(p->dim, p->t, x, p->nc[field], p->u, p->ctx ? p->ctx[field] : NULL));
  for (PetscInt i = 0; i < n; ++i) p->a[entry[i]] = p->u[comp[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of[entry of a local vector] = its field, but -1 for constrained ones unless they are wanted; n: how many
   entries have a field */
static PetscErrorCode HopsProjectMark(const HopsPlex *plex, PetscBool constrained, PetscInt of[], PetscInt *n)
{
  PetscSection s = plex->section;
  PetscInt     pStart, pEnd;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd; ++p)
    for (PetscInt f = 0; f < plex->fields->nf; ++f) {
      PetscInt        off, dof, ncon;
      const PetscInt *con;

      PetscCall(PetscSectionGetFieldDof(s, p, f, &dof));
      if (!dof) continue;
      PetscCall(PetscSectionGetFieldOffset(s, p, f, &off));
      PetscCall(PetscSectionGetFieldConstraintDof(s, p, f, &ncon));
      for (PetscInt i = 0; i < dof; ++i) of[off + i] = f;
      *n += dof;
      if (!ncon || constrained) continue;
      PetscCall(PetscSectionGetFieldConstraintIndices(s, p, f, &con));
      for (PetscInt i = 0; i < ncon; ++i) of[off + con[i]] = -1;
      *n -= ncon;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do all nodes of a point have the same values? */
static PetscErrorCode HopsProjectIsConstant(const HopsPlex *plex, const PetscScalar x[], PetscBool *constant)
{
  PetscSection s = plex->section;
  PetscInt     pStart, pEnd;

  PetscFunctionBegin;
  *constant = PETSC_TRUE;
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd && *constant; ++p)
    for (PetscInt f = 0; f < plex->fields->nf; ++f) {
      const PetscInt nc = plex->fields->nc[f];
      PetscInt       off, dof;

      PetscCall(PetscSectionGetFieldDof(s, p, f, &dof));
      PetscCall(PetscSectionGetFieldOffset(s, p, f, &off));
      for (PetscInt i = nc; i < dof; ++i)
        if (x[off + i] != x[off + i % nc]) *constant = PETSC_FALSE;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* done is false where the cells of a rank have not all entries, as with an overlap, or would not agree on the
   order of a point's nodes: the section of a part of a DM has lost what says so, and PETSc's values there are
   those of the last cell. The same on all ranks */
static PetscErrorCode HopsPlexProject(DM dm, HopsPlex *plex, PetscReal t, HopsFunction f[], void *ctx[], InsertMode mode, Vec X,
                                      PetscBool *done)
{
  HopsProjection p = {.t = t, .dim = plex->fields->dim, .nc = plex->fields->nc, .f = f, .ctx = ctx};
  PetscInt       size, n, left = 0, *of;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetStorageSize(plex->section, &size));
  PetscCall(PetscMalloc2(size, &of, plex->fields->off[plex->fields->nf], &p.u));
  HopsHostAdvise(of, size * sizeof(*of));
  for (PetscInt i = 0; i < size; ++i) of[i] = -1;
  PetscCall(HopsProjectMark(plex, mode == INSERT_ALL_VALUES ? PETSC_TRUE : PETSC_FALSE, of, &n));
  PetscCall(VecGetArray(X, &p.a));
  PetscCall(HopsPlexVisitNodes(dm, plex, of, NULL, HopsProjectNode, &p));
  for (PetscInt i = 0; i < size; ++i) left += of[i] >= 0 ? 1 : 0;
  PetscCall(PetscFree2(of, p.u));
  *done = left ? PETSC_FALSE : PETSC_TRUE;
  if (plex->projects && *done && plex->space->order > 2) PetscCall(HopsProjectIsConstant(plex, p.a, done));
  PetscCall(VecRestoreArray(X, &p.a));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, done, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMProjectFunctionLocal() is collective on DMs with -hops_residual, and on parts of these while they are
   made; codes call it on auxiliary ones as they like */
static PetscErrorCode HopsPlexProjectLocal(DM dm, PetscReal t, HopsFunction *f, void **ctx, InsertMode mode, Vec X)
{
  HopsPlex *plex;
  PetscInt  nds;
  PetscBool can = PETSC_FALSE, localized = PETSC_FALSE, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex && (plex->residual || plex->projects)) {
    PetscCall(DMGetNumDS(dm, &nds));
    PetscCall(DMGetCoordinatesLocalized(dm, &localized)); /* a node may have several places then */
    if (nds == 1 && !localized && (mode == INSERT_VALUES || mode == INSERT_ALL_VALUES))
      PetscCall(HopsPlexResidualSetUp(dm, plex, &can));
  }
  for (PetscInt i = 0; can && i < plex->fields->nf; ++i)
    if (!f[i]) can = PETSC_FALSE;
  if (can) PetscCall(HopsPlexProject(dm, plex, t, f, ctx, mode, X, &done));
  if (!done) PetscCall((*PlexProject)(dm, t, f, ctx, mode, X));
  if (!done && plex && plex->pa) {
    PetscSection parents;

    PetscCall(DMPlexGetTree(dm, &parents, NULL, NULL, NULL, NULL));
    if (parents && (mode == INSERT_VALUES || mode == INSERT_ALL_VALUES || mode == INSERT_BC_VALUES))
      PetscCall(HopsPlexParentsShare(dm, &plex->parents, mode, X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexWrapProject(DM dm)
{
  PetscFunctionBegin;
  if (dm->ops->projectfunctionlocal == HopsPlexProjectLocal) PetscFunctionReturn(PETSC_SUCCESS);
  PlexProject                   = dm->ops->projectfunctionlocal;
  dm->ops->projectfunctionlocal = HopsPlexProjectLocal;
  PetscFunctionReturn(PETSC_SUCCESS);
}
