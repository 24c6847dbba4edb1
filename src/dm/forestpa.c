/*
  -dm_mat_type pa of a DMForest. PETSc's local functions turn a forest into a DMPlex (plexforest.c) and work
  on that. So do those of plexpa.c, which take their place by the same hooks, and the matrix is that of the
  DMPlex. The types are registered anew as DMPLEX is, where PETSc has them: nothing here calls p4est.

  DMConvert() sets a projection height of dim - 1 on the DMPlex, which in 3D makes values on faces that are no
  parallelograms wrong. Essential values are put right in plexboundary.c, those of DMProjectFunction() here.
*/
#include <hops/private/hopsdmimpl.h>
#include <petsc/private/dmimpl.h> /* dm->ops */
#include <petscdmforest.h>
#include <petscdmplex.h>

typedef struct {
  const char *type;
  PetscErrorCode (*create)(DM), (*creatematrix)(DM, Mat *), (*clone)(DM, DM *);
  PetscErrorCode (*project)(DM, PetscReal, HopsFunction *, void **, InsertMode, Vec);
} HopsForestType;
static HopsForestType HopsForests[2] = {{DMP4EST, NULL, NULL, NULL, NULL}, {DMP8EST, NULL, NULL, NULL, NULL}};

static PetscErrorCode HopsForestWrap(DM);

/* What PETSc has for this type */
static PetscErrorCode HopsForestGetType(DM dm, HopsForestType **t)
{
  PetscBool same;

  PetscFunctionBegin;
  *t = NULL;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, HopsForests[i].type, &same));
    if (same) *t = &HopsForests[i];
  }
  PetscCheck(*t, PetscObjectComm((PetscObject)dm), PETSC_ERR_PLIB, "A DM of type %s is no forest", ((PetscObject)dm)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsForestPrepare(DM dm, DM *plex)
{
  PetscInt height;
  DM       mesh[2]; /* hops' and, if it is another one, PETSc's */

  PetscFunctionBegin;
  PetscCall(HopsDMGetPlex(dm, &mesh[0]));
  PetscCall(PetscObjectQuery((PetscObject)dm, "dm_plex", (PetscObject *)&mesh[1]));
  for (PetscInt i = 0; i < 2 && mesh[i]; ++i) {
    PetscCall(DMPlexGetMaxProjectionHeight(mesh[i], &height));
    PetscCall(HopsPlexWrapBoundary(mesh[i]));
    if (!height) continue;
    PetscCall(DMPlexSetMaxProjectionHeight(mesh[i], 0));
    PetscCall(PetscInfo(dm, "functions are projected cell by cell: projection height 0 in place of %" PetscInt_FMT "\n", height));
  }
  if (plex) *plex = mesh[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsForestCreateMatrix(DM dm, Mat *A)
{
  HopsForestType *t;
  HopsPlex       *plex;
  DM              mesh;

  PetscFunctionBegin;
  PetscCall(HopsForestGetType(dm, &t));
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexTakeRequest(dm, plex));
  if (!plex || !plex->pa) {
    PetscCall((*t->creatematrix)(dm, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsForestPrepare(dm, &mesh));
  PetscCall(HopsPlexCreateMatrixPA(mesh, A));
  PetscCall(MatSetDM(*A, dm));
  PetscCall(HopsPlexAddHook(dm, plex));
  PetscCall(HopsPlexSwap(dm, plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without the request, as of a DMPLEX */
static PetscErrorCode HopsForestClone(DM dm, DM *clone)
{
  HopsForestType *t;
  PetscBool       pa;

  PetscFunctionBegin;
  PetscCall(HopsForestGetType(dm, &t));
  PetscCall((*t->clone)(dm, clone));
  PetscCall(PetscStrcmp((*clone)->mattype, MATPA, &pa));
  if (pa) PetscCall(DMSetMatType(*clone, MATAIJ));
  PetscCall(HopsForestWrap(*clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cell by cell, as of a DMPLEX */
static PetscErrorCode HopsForestProject(DM dm, PetscReal time, HopsFunction *f, void **ctx, InsertMode mode, Vec X)
{
  HopsForestType *t;
  HopsPlex       *plex;
  DM              mesh;

  PetscFunctionBegin;
  PetscCall(HopsForestGetType(dm, &t));
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex || !plex->pa) {
    PetscCall((*t->project)(dm, time, f, ctx, mode, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsForestPrepare(dm, &mesh));
  PetscCall(HopsPlexGet(mesh, &plex));
  if (plex) plex->pa = PETSC_TRUE;
  PetscCall(DMProjectFunctionLocal(mesh, time, f, ctx, mode, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsForestWrap(DM dm)
{
  HopsForestType *t;

  PetscFunctionBegin;
  PetscCall(HopsForestGetType(dm, &t));
  t->creatematrix               = dm->ops->creatematrix;
  t->clone                      = dm->ops->clone;
  t->project                    = dm->ops->projectfunctionlocal;
  dm->ops->creatematrix         = HopsForestCreateMatrix;
  dm->ops->clone                = HopsForestClone;
  dm->ops->projectfunctionlocal = HopsForestProject;
  PetscCall(HopsPlexAddState(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsForestCreate(DM dm, HopsForestType *t)
{
  PetscFunctionBegin;
  PetscCall((*t->create)(dm));
  PetscCall(HopsForestWrap(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsForestCreate2D(DM dm)
{
  PetscFunctionBegin;
  PetscCall(HopsForestCreate(dm, &HopsForests[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsForestCreate3D(DM dm)
{
  PetscFunctionBegin;
  PetscCall(HopsForestCreate(dm, &HopsForests[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsForestRegister(void)
{
  PetscErrorCode (*const wrapped[2])(DM) = {HopsForestCreate2D, HopsForestCreate3D};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscErrorCode (*create)(DM);

    PetscCall(PetscFunctionListFind(DMList, HopsForests[i].type, &create));
    if (!create || create == wrapped[i]) continue;
    HopsForests[i].create = create;
    PetscCall(DMRegister(HopsForests[i].type, wrapped[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
