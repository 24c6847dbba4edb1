/*
  Essential values in local vectors, and their time derivatives. PETSc finds them by projecting functions onto
  the cells of the boundary, again before each residual and each Jacobian. The fields here have values at
  nodes for unknowns, so the functions are called at the nodes. Where the sources of a code tell that they
  depend on time and position alone, the values are kept.
*/
#include <hops/private/hopsdmimpl.h>
#include <petscdmplex.h>

typedef PetscErrorCode (*HopsInsertBoundary)(DM, PetscBool, Vec, PetscReal, Vec, Vec, Vec);
static HopsInsertBoundary PlexInsertBoundary[2]; /* values, time derivatives */

/* An essential condition of the PetscDS */
typedef struct {
  DMLabel         label;
  PetscInt        nvalues, field, components; /* values of the label; components of the field */
  PetscInt        nc;                         /* those that it holds for, 0: all */
  const PetscInt *values, *comp;
  HopsFunction    f;
  void           *ctx;
} HopsEssential;

struct _HopsPlexBoundary {
  PetscInt       n; /* conditions */
  HopsEssential *condition;
  PetscBool      plain, fixed; /* all are functions; these depend on time and position alone */
  PetscBool      left;         /* some have no time derivative */
  /* points where they are called, and entries of a local vector: component comp[] of what they give */
  PetscBool             found, all;               /* of all ranks, in cells of theirs */
  PetscInt              npoints, nentries, nmost; /* most components of a field */
  PetscInt             *at, *start, *comp;        /* [npoints] the condition, [npoints + 1], [nentries] */
  PetscReal            *x;                        /* [npoints][dim] */
  const HopsBackendOps *be;
  PetscInt             *idx;            /* [nentries], on the back end, as what follows */
  PetscScalar          *entry, *values; /* [nentries], [nlocal] where all other entries are 0 */
  PetscInt              nlocal;
  PetscBool             set, zero; /* are there values, of this time; all zero */
  PetscReal             t;
};

static PetscErrorCode HopsPlexBoundaryFree(HopsPlexBoundary b)
{
  PetscFunctionBegin;
  b->found = b->set = PETSC_FALSE;
  PetscCall(PetscFree4(b->at, b->start, b->comp, b->x));
  if (!b->be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*b->be->memory->Free)((void **)&b->idx));
  PetscCall((*b->be->memory->Free)((void **)&b->entry));
  PetscCall((*b->be->memory->Free)((void **)&b->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexBoundaryDestroy(HopsPlexBoundary *b)
{
  PetscFunctionBegin;
  if (!*b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexBoundaryFree(*b));
  PetscCall(PetscFree((*b)->condition));
  PetscCall(PetscFree(*b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The essential conditions, for the values or their time derivatives; *plain is false where one of them sees
   more than time and position, or another region has some. Those without a time derivative are left out:
   PETSc sets nothing for them, but for zeros */
static PetscErrorCode HopsPlexEssential(DM dm, PetscBool derivative, PetscInt *n, HopsEssential **condition, PetscBool *plain,
                                        PetscBool *left)
{
  PetscDS  ds;
  PetscInt nds, nb, *components;

  PetscFunctionBegin;
  *n    = 0;
  *left = PETSC_FALSE;
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCall(DMGetDS(dm, &ds));
  *plain = nds == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscDSGetComponents(ds, &components));
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  PetscCall(PetscCalloc1(nb, condition)); /* its bytes are compared */
  for (PetscInt b = 0; b < nb; ++b) {
    HopsEssential          *e = *condition + *n;
    DMBoundaryConditionType type;
    HopsVoidFn              f, f_t;
    const char             *name;

    PetscCall(PetscDSGetBoundary(ds, b, NULL, &type, NULL, &e->label, &e->nvalues, &e->values, &e->field, &e->nc, &e->comp, &f,
                                 &f_t, &e->ctx));
    if (!(type & DM_BC_ESSENTIAL)) continue;
    if (e->label) { /* of that name on this DM: the PetscDS may be another one's */
      PetscCall(PetscObjectGetName((PetscObject)e->label, &name));
      PetscCall(DMGetLabel(dm, name, &e->label));
    }
    if (derivative && !f_t) {
      *left = PETSC_TRUE;
      continue;
    }
    if (type != DM_BC_ESSENTIAL || !f || !e->label) *plain = PETSC_FALSE;
    e->f          = (HopsFunction)(derivative ? f_t : f);
    e->components = components[e->field];
    ++*n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do they depend on time and position alone? Their sources say so: they read no variables of the
   process, and none that reads its context is taken */
static PetscErrorCode HopsPlexBoundaryIsFixed(DM dm, HopsPlexBoundary b)
{
  HopsVoidFn     *once;
  PetscInt        m = 0;
  PetscBool       asked;
  HopsPointCode   code = NULL;
  HopsPointOrigin from;
  HopsPointGiven *given;
  char            files[PETSC_MAX_PATH_LEN], why[1024];

  PetscFunctionBegin;
  b->fixed = PETSC_FALSE;
  if (!b->plain || !b->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsDMGetOrigin(dm, files, &given, &from, &asked));
  if (!asked) {
    PetscCall(PetscFree(given));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(b->n, &once));
  for (PetscInt i = 0; i < b->n; ++i) {
    PetscInt j = 0;

    while (j < m && once[j] != (HopsVoidFn)b->condition[i].f) ++j;
    if (j == m) once[m++] = (HopsVoidFn)b->condition[i].f;
  }
  PetscCall(HopsPointCodeCreateFrom(&from, m, once, &code, why, sizeof(why)));
  PetscCall(PetscFree(given));
  if (code && !code->nvars) b->fixed = PETSC_TRUE;
  if (code) PetscCall(HopsPointCodeDestroy(&code));
  PetscCall(PetscFree(once));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The conditions as they are now: those of the DM's PetscDS may have changed */
static PetscErrorCode HopsPlexBoundaryUpdate(DM dm, PetscBool derivative, HopsPlexBoundary b)
{
  HopsEssential *e;
  PetscInt       n;
  PetscBool      plain = PETSC_FALSE, same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsPlexEssential(dm, derivative, &n, &e, &plain, &b->left));
  if (b->condition && n == b->n && plain == b->plain) PetscCall(PetscMemcmp(e, b->condition, n * sizeof(*e), &same));
  if (same) {
    PetscCall(PetscFree(e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPlexBoundaryFree(b));
  PetscCall(PetscFree(b->condition));
  b->n         = n;
  b->condition = e;
  b->plain     = plain;
  PetscCall(HopsPlexBoundaryIsFixed(dm, b));
  PetscCall(PetscInfo(dm, "%s are %s\n", derivative ? "time derivatives of essential values" : "essential values",
                      !plain     ? "PETSc's"
                      : b->fixed ? "kept: their functions depend on time and position alone"
                                 : "evaluated at the nodes each time"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of[entry of a local vector]: the last condition that sets it, or -1; onpoint[point]: some condition does;
   n: how many entries. PETSc sets constrained unknowns of the points that a label has */
static PetscErrorCode HopsPlexBoundaryMark(PetscSection s, HopsPlexBoundary b, PetscInt of[], PetscBool onpoint[], PetscInt *n)
{
  PetscInt pStart, pEnd;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt i = 0; i < b->n; ++i) {
    const HopsEssential *e = &b->condition[i];

    b->nmost = PetscMax(b->nmost, e->components);
    for (PetscInt v = 0; v < e->nvalues; ++v) {
      IS              is;
      PetscInt        m;
      const PetscInt *points;

      PetscCall(DMLabelGetStratumIS(e->label, e->values[v], &is));
      if (!is) continue;
      PetscCall(ISGetLocalSize(is, &m));
      PetscCall(ISGetIndices(is, &points));
      for (PetscInt p = 0; p < m; ++p) {
        PetscInt        ncon, off;
        const PetscInt *con;

        if (points[p] < pStart || points[p] >= pEnd) continue;
        PetscCall(PetscSectionGetFieldConstraintDof(s, points[p], e->field, &ncon));
        if (!ncon) continue;
        PetscCall(PetscSectionGetFieldConstraintIndices(s, points[p], e->field, &con));
        PetscCall(PetscSectionGetFieldOffset(s, points[p], e->field, &off));
        for (PetscInt k = 0; k < ncon; ++k) {
          PetscBool holds = e->nc ? PETSC_FALSE : PETSC_TRUE;

          for (PetscInt c = 0; c < e->nc && !holds; ++c) holds = e->comp[c] == con[k] % e->components ? PETSC_TRUE : PETSC_FALSE;
          if (!holds) continue;
          if (of[off + con[k]] < 0) ++*n;
          of[off + con[k]]            = i;
          onpoint[points[p] - pStart] = PETSC_TRUE;
        }
      }
      PetscCall(ISRestoreIndices(is, &points));
      PetscCall(ISDestroy(&is));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is appended for a node: HopsPlexNodeVisit */
typedef struct {
  HopsPlexBoundary b;
  PetscInt         dim;
  PetscInt        *entry; /* [nentries] on the host */
} HopsPlexBoundaryList;

static PetscErrorCode HopsPlexBoundaryAppend(void *ctx, PetscInt condition, const PetscReal x[], PetscInt n, const PetscInt entry[],
                                             const PetscInt comp[])
{
  HopsPlexBoundaryList *list = (HopsPlexBoundaryList *)ctx;
  HopsPlexBoundary      b    = list->b;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(list->entry + b->nentries, entry, n));
  PetscCall(PetscArraycpy(b->comp + b->nentries, comp, n));
  PetscCall(PetscArraycpy(b->x + b->npoints * list->dim, x, list->dim));
  b->nentries += n;
  b->at[b->npoints]      = condition;
  b->start[++b->npoints] = b->nentries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points and entries, for the DM's local section and coordinates. all is false where a cell of this rank
   does not have them, as those of an overlap; the same on all ranks */
static PetscErrorCode HopsPlexBoundaryFind(DM dm, HopsPlex *plex, HopsPlexBoundary b, PetscBool *all)
{
  const HopsMemoryOps *memory = plex->space->backend->memory;
  PetscSection         s      = plex->section;
  PetscInt             pStart, pEnd, n, *of, *host;
  PetscBool           *onpoint;
  HopsPlexBoundaryList list;

  PetscFunctionBegin;
  PetscCall(HopsPlexBoundaryFree(b));
  b->be = plex->space->backend;
  PetscCall(PetscSectionGetStorageSize(s, &b->nlocal));
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  PetscCall(PetscMalloc1(b->nlocal, &of));
  HopsHostAdvise(of, b->nlocal * sizeof(*of));
  PetscCall(PetscCalloc1(pEnd - pStart, &onpoint));
  for (PetscInt i = 0; i < b->nlocal; ++i) of[i] = -1;
  PetscCall(HopsPlexBoundaryMark(s, b, of, onpoint, &n));
  PetscCall(PetscMalloc4(n, &b->at, n + 1, &b->start, n, &b->comp, n * plex->fields->dim, &b->x));
  PetscCall(PetscMalloc1(n, &host));
  b->npoints = b->nentries = b->start[0] = 0;
  list.b                                 = b;
  list.dim                               = plex->fields->dim;
  list.entry                             = host;
  PetscCall(HopsPlexVisitNodes(dm, plex, of, onpoint, HopsPlexBoundaryAppend, &list));
  *all = b->nentries == n ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, all, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  PetscCall((*memory->Malloc)(n * sizeof(PetscInt), (void **)&b->idx));
  PetscCall((*memory->Copy)(NULL, b->idx, host, b->nentries * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall((*memory->Malloc)(n * sizeof(PetscScalar), (void **)&b->entry));
  PetscCall((*memory->Malloc)(b->nlocal * sizeof(PetscScalar), (void **)&b->values));
  PetscCall(PetscFree(of));
  PetscCall(PetscFree(onpoint));
  PetscCall(PetscFree(host));
  b->found = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexBoundaryEvaluate(HopsPlexBoundary b, PetscInt dim, PetscReal t, PetscBool zero)
{
  PetscScalar *host, *u;

  PetscFunctionBegin;
  if (b->set && b->zero == zero && (zero || (b->fixed && b->t == t))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(b->nentries, &host, b->nmost, &u));
  for (PetscInt p = 0; p < b->npoints; ++p) {
    const HopsEssential *e = &b->condition[b->at[p]];

    PetscCall(PetscArrayzero(u, b->nmost));
    if (!zero) PetscCall((*e->f)(dim, t, b->x + p * dim, e->components, u, e->ctx));
    for (PetscInt k = b->start[p]; k < b->start[p + 1]; ++k) host[k] = u[b->comp[k]];
  }
  PetscCall((*b->be->memory->Copy)(NULL, b->entry, host, b->nentries * sizeof(PetscScalar), HOPS_COPY_IN));
  PetscCall(PetscFree2(host, u));
  PetscCall((*b->be->vector->Zero)(PETSC_SCALAR, b->nlocal, b->values));
  PetscCall((*b->be->vector->UnpackAdd)(PETSC_SCALAR, b->nentries, b->idx, b->entry, b->values));
  b->t    = t;
  b->zero = zero;
  b->set  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all is false where the values are left to PETSc */
static PetscErrorCode HopsPlexTryBoundary(DM dm, HopsPlex *plex, PetscBool derivative, Vec X, PetscReal t, PetscBool *all)
{
  PetscObject      zero;
  PetscReal       *x;
  HopsPlexBoundary b;

  PetscFunctionBegin;
  if (!plex->boundary[derivative]) PetscCall(PetscNew(&plex->boundary[derivative]));
  b = plex->boundary[derivative];
  PetscCall(HopsPlexBoundaryUpdate(dm, derivative, b));
  PetscCall(PetscObjectQuery((PetscObject)X, "__Vec_bc_zero__", &zero)); /* PETSc's multigrid asks for zeros so */
  *all = HOPS_PARTS == 1 && b->plain && !(zero && b->left) ? PETSC_TRUE : PETSC_FALSE;
  if (*all) PetscCall(HopsSpaceHasVec(plex->space, X, all)); /* vectors of the DM lie where its space is */
  if (!*all) PetscFunctionReturn(PETSC_SUCCESS);
  if (!b->found) PetscCall(HopsPlexBoundaryFind(dm, plex, b, &b->all));
  *all = b->all;
  if (!*all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexBoundaryEvaluate(b, plex->fields->dim, t, zero ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(HopsVecGetArray(plex->space, X, HOPS_VEC_READ_WRITE, &x));
  PetscCall((*b->be->vector->SetEntries)(b->nentries, b->idx, (const PetscReal *)b->values, x));
  PetscCall(HopsVecRestoreArray(plex->space, X, HOPS_VEC_READ_WRITE, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's, on a mesh with a tree cell by cell: on faces alone PETSc takes the affine map of three corners */
static PetscErrorCode HopsPlexInsertPETSc(DM dm, HopsPlex *plex, PetscBool derivative, PetscBool essential, Vec X, PetscReal t,
                                          Vec faces, Vec cells, Vec gradients)
{
  PetscSection parents;
  PetscInt     height;

  PetscFunctionBegin;
  PetscCall(DMPlexGetTree(dm, &parents, NULL, NULL, NULL, NULL));
  PetscCall(DMPlexGetMaxProjectionHeight(dm, &height));
  if (parents && plex) PetscCall(DMPlexSetMaxProjectionHeight(dm, 0));
  PetscCall((*PlexInsertBoundary[derivative])(dm, essential, X, t, faces, cells, gradients));
  PetscCall(DMPlexSetMaxProjectionHeight(dm, height));
  if (parents && plex && X && essential) PetscCall(HopsPlexParentsShare(dm, &plex->parents, INSERT_BC_VALUES, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexInsert(DM dm, PetscBool derivative, PetscBool essential, Vec X, PetscReal t, Vec faces, Vec cells,
                                     Vec gradients)
{
  HopsPlex *plex;
  PetscBool can = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex && X && (plex->residual || plex->fields) && essential && !faces && !cells && !gradients)
    PetscCall(HopsPlexResidualSetUp(dm, plex, &can));
  if (can) {
    PetscCall(PetscLogEventBegin(HopsEvent.essential, dm, X, 0, 0));
    PetscCall(HopsPlexTryBoundary(dm, plex, derivative, X, t, &can));
    PetscCall(PetscLogEventEnd(HopsEvent.essential, dm, X, 0, 0));
  }
  if (!can) PetscCall(HopsPlexInsertPETSc(dm, plex, derivative, essential, X, t, faces, cells, gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexInsertValues(DM dm, PetscBool essential, Vec X, PetscReal t, Vec faces, Vec cells, Vec gradients)
{
  PetscFunctionBegin;
  PetscCall(HopsPlexInsert(dm, PETSC_FALSE, essential, X, t, faces, cells, gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexInsertDerivatives(DM dm, PetscBool essential, Vec X, PetscReal t, Vec faces, Vec cells, Vec gradients)
{
  PetscFunctionBegin;
  PetscCall(HopsPlexInsert(dm, PETSC_TRUE, essential, X, t, faces, cells, gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexWrapBoundary(DM dm)
{
  /* the second is so spelt in older PETSc */
  static const char *const name[3] = {"DMPlexInsertBoundaryValues_C", "DMPlexInsertTimeDerviativeBoundaryValues_C",
                                      "DMPlexInsertTimeDerivativeBoundaryValues_C"};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 3; ++k) {
    const HopsInsertBoundary ours = k ? HopsPlexInsertDerivatives : HopsPlexInsertValues;
    HopsInsertBoundary       f;

    PetscCall(PetscObjectQueryFunction((PetscObject)dm, name[k], &f));
    if (!f || f == ours) continue;
    PlexInsertBoundary[k > 0] = f;
    PetscCall(PetscObjectComposeFunction((PetscObject)dm, name[k], ours));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
