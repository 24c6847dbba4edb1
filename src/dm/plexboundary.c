/*
  Essential values in local vectors. PETSc evaluates their functions on the host before each residual and
  Jacobian. Where the sources of a code are given, they tell whether the functions depend on time and
  position alone. Such values are kept.
*/
#include <hops/private/hopsdmimpl.h>
#include <petscdmplex.h>

/* in a local vector before PETSc inserts values: what is left of it was not inserted */
#define HOPS_UNTOUCHED (-1.2345678901234567e300)

typedef PetscErrorCode (*HopsInsertBoundary)(DM, PetscBool, Vec, PetscReal, Vec, Vec, Vec);
static HopsInsertBoundary PlexInsertBoundary = NULL;

struct _HopsPlexBoundary {
  PetscInt              nf; /* functions for which `fixed` was found out */
  HopsVoidFn           *f;
  PetscBool             fixed, set; /* they depend on time and position alone; there are values */
  PetscReal             t;          /* of the values */
  PetscObjectId         section, coordinates;
  PetscObjectState      state; /* of the coordinates */
  const HopsBackendOps *be;
  PetscInt              n, *idx; /* entries, on the back end */
  PetscScalar          *values;  /* [entries of a local vector] there */
};

static PetscErrorCode HopsPlexBoundaryFree(HopsPlexBoundary b)
{
  PetscFunctionBegin;
  if (!b->be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*b->be->memory->Free)((void **)&b->idx));
  PetscCall((*b->be->memory->Free)((void **)&b->values));
  b->set = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexBoundaryDestroy(HopsPlexBoundary *b)
{
  PetscFunctionBegin;
  if (!*b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexBoundaryFree(*b));
  PetscCall(PetscFree((*b)->f));
  PetscCall(PetscFree(*b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of all essential conditions; *plain is false where one of them sees more than time and
   position */
static PetscErrorCode HopsPlexBoundaryFunctions(DM dm, PetscInt *n, HopsVoidFn **f, PetscBool *plain)
{
  PetscInt nds;

  PetscFunctionBegin;
  *n     = 0;
  *f     = NULL;
  *plain = PETSC_TRUE;
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS  ds;
    PetscInt nb;

    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(PetscDSGetNumBoundary(ds, &nb));
    for (PetscInt b = 0; b < nb; ++b) {
      DMBoundaryConditionType type;
      HopsVoidFn              func, *more;

      PetscCall(PetscDSGetBoundary(ds, b, NULL, &type, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &func, NULL, NULL));
      if (!(type & DM_BC_ESSENTIAL)) continue;
      if (type != DM_BC_ESSENTIAL || !func) *plain = PETSC_FALSE;
      PetscCall(PetscMalloc1(*n + 1, &more));
      PetscCall(PetscArraycpy(more, *f, *n));
      PetscCall(PetscFree(*f));
      *f       = more;
      (*f)[*n] = func;
      *n += 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do they depend on time and position alone? Their sources say so: they read no variables of the
   process, and none that reads its context is taken */
static PetscErrorCode HopsPlexBoundaryIsFixed(DM dm, HopsPlexBoundary b, PetscBool *fixed)
{
  HopsVoidFn   *f;
  PetscInt      n, m        = 0;
  PetscBool     plain, same = PETSC_FALSE, asked;
  HopsPointCode code = NULL;
  char          files[PETSC_MAX_PATH_LEN], why[1024];

  PetscFunctionBegin;
  PetscCall(HopsPlexBoundaryFunctions(dm, &n, &f, &plain));
  if (b->f && n == b->nf) PetscCall(PetscArraycmp(f, b->f, n, &same));
  if (same) PetscCall(PetscFree(f));
  else {
    HopsVoidFn *once;

    PetscCall(PetscFree(b->f));
    b->nf    = n;
    b->f     = f;
    b->set   = PETSC_FALSE;
    b->fixed = PETSC_FALSE;
    PetscCall(PetscOptionsGetString(((PetscObject)dm)->options, ((PetscObject)dm)->prefix, "-hops_pointwise_source", files,
                                    sizeof(files), &asked));
    PetscCall(PetscMalloc1(n, &once));
    for (PetscInt i = 0; i < n; ++i) {
      PetscInt j = 0;

      while (j < m && once[j] != f[i]) ++j;
      if (j == m) once[m++] = f[i];
    }
    if (plain && asked && n) PetscCall(HopsPointCodeCreate(files, m, once, &code, why, sizeof(why)));
    if (code && !code->nvars) b->fixed = PETSC_TRUE;
    PetscCall(
      PetscInfo(dm, "essential values %s\n",
                b->fixed ? "are kept: their functions depend on time and position alone" : "are evaluated by PETSc each time"));
    if (code) PetscCall(HopsPointCodeDestroy(&code));
    PetscCall(PetscFree(once));
  }
  *fixed = plain ? b->fixed : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own values, and which entries have them */
static PetscErrorCode HopsPlexBoundarySet(DM dm, HopsPlexBoundary b, const HopsBackendOps *be, Vec X, PetscReal t)
{
  Vec                v;
  const PetscScalar *a;
  PetscInt           n, *idx;

  PetscFunctionBegin;
  PetscCall(HopsPlexBoundaryFree(b));
  b->be = be;
  PetscCall(VecGetLocalSize(X, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &v));
  PetscCall(VecSetDM(v, dm));
  PetscCall(VecSet(v, HOPS_UNTOUCHED));
  PetscCall((*PlexInsertBoundary)(dm, PETSC_TRUE, v, t, NULL, NULL, NULL));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(PetscMalloc1(n, &idx));
  b->n = 0;
  for (PetscInt i = 0; i < n; ++i)
    if (a[i] != HOPS_UNTOUCHED) idx[b->n++] = i;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscScalar), (void **)&b->values));
  PetscCall((*be->memory->Copy)(NULL, b->values, a, n * sizeof(PetscScalar), HOPS_COPY_IN));
  PetscCall((*be->memory->Malloc)(b->n * sizeof(PetscInt), (void **)&b->idx));
  PetscCall((*be->memory->Copy)(NULL, b->idx, idx, b->n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecDestroy(&v));
  PetscCall(PetscFree(idx));
  b->t   = t;
  b->set = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Were the values made at this time, for this section and these coordinates? */
static PetscErrorCode HopsPlexBoundaryIsCurrent(DM dm, HopsPlexBoundary b, PetscReal t, PetscBool *current)
{
  PetscSection     section;
  PetscObjectId    id[2] = {0, 0};
  PetscObjectState state = 0;
  Vec              x;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(PetscObjectGetId((PetscObject)section, &id[0]));
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  PetscCall(PetscObjectGetId((PetscObject)x, &id[1]));
  PetscCall(PetscObjectStateGet((PetscObject)x, &state));
  *current = b->set && b->t == t && b->section == id[0] && b->coordinates == id[1] && b->state == state ? PETSC_TRUE : PETSC_FALSE;
  b->section     = id[0];
  b->coordinates = id[1];
  b->state       = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexInsertBoundaryValues(DM dm, PetscBool essential, Vec X, PetscReal t, Vec faces, Vec cells,
                                                   Vec gradients)
{
  HopsPlex    *plex;
  PetscBool    fixed = PETSC_FALSE, current = PETSC_FALSE, can;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex && plex->residual) PetscCall(HopsPlexResidualSetUp(dm, plex, &can));
  if (plex && plex->points && essential && !faces && !cells && !gradients) { /* vectors of the DM lie where its space is */
    if (!plex->boundary) PetscCall(PetscNew(&plex->boundary));
    PetscCall(HopsPointCellsHaveVec(plex->points, X, &fixed));
    if (fixed) PetscCall(HopsPlexBoundaryIsFixed(dm, plex->boundary, &fixed));
  }
  if (!fixed) {
    PetscCall((*PlexInsertBoundary)(dm, essential, X, t, faces, cells, gradients));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPlexBoundaryIsCurrent(dm, plex->boundary, t, &current));
  if (!current) PetscCall(HopsPlexBoundarySet(dm, plex->boundary, plex->space->backend, X, t));
  PetscCall(HopsVecGetArray(plex->space, X, HOPS_VEC_READ_WRITE, &x));
  PetscCall((*plex->boundary->be->vector->SetEntries)(plex->boundary->n, plex->boundary->idx, plex->boundary->values, x));
  PetscCall(HopsVecRestoreArray(plex->space, X, HOPS_VEC_READ_WRITE, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexWrapBoundary(DM dm)
{
  HopsInsertBoundary f;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)dm, "DMPlexInsertBoundaryValues_C", &f));
  if (!f || f == HopsPlexInsertBoundaryValues) PetscFunctionReturn(PETSC_SUCCESS);
  PlexInsertBoundary = f;
  PetscCall(PetscObjectComposeFunction((PetscObject)dm, "DMPlexInsertBoundaryValues_C", HopsPlexInsertBoundaryValues));
  PetscFunctionReturn(PETSC_SUCCESS);
}
