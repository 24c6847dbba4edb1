/* The nodes of several fields of one DM, whose spaces share one order of cells. */
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsdsimpl.h>

/* Cells in the order perm[], of which the first ninterior touch owned, unconstrained unknowns only */
static PetscErrorCode HopsSpacePermuteCells(HopsSpace sp, const PetscInt perm[], PetscInt ninterior)
{
  const PetscInt  np = HopsPower(sp->order + 1, sp->dim), nx = sp->dim * HopsPower(sp->gorder + 1, sp->dim);
  PetscInt       *cell, moved                                = 0;
  int            *restr;
  unsigned short *hang = NULL;
  PetscReal      *X;

  PetscFunctionBegin;
  sp->ninterior = ninterior;
  for (PetscInt c = 0; c < sp->ncells; ++c) moved += perm[c] != c;
  if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceTakeMesh(sp));
  PetscCall(PetscMalloc1(sp->ncells, &cell));
  PetscCall(PetscMalloc1((size_t)sp->ncells * np, &restr));
  PetscCall(PetscMalloc1((size_t)sp->ncells * nx, &X));
  if (sp->hanging) PetscCall(PetscMalloc1(sp->ncells, &hang));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    cell[c] = sp->cell[perm[c]];
    if (hang) hang[c] = sp->hang[perm[c]];
    PetscCall(PetscArraycpy(restr + (size_t)c * np, sp->restr + (size_t)perm[c] * np, np));
    PetscCall(PetscArraycpy(X + (size_t)c * nx, sp->X + (size_t)perm[c] * nx, nx));
  }
  PetscCall(PetscFree(sp->cell));
  PetscCall(PetscFree(sp->restr));
  PetscCall(PetscFree(sp->X));
  PetscCall(PetscFree(sp->hang));
  sp->cell  = cell;
  sp->hang  = hang;
  sp->restr = restr;
  sp->X     = X;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the first space, but cells that are not interior to all spaces go last */
static PetscErrorCode HopsNodesShareOrder(PetscInt nf, HopsNodes nodes[])
{
  HopsSpace  lead = nodes[0]->space;
  PetscInt  *order, *perm, *where, ninterior = 0, n = 0;
  PetscBool *shared;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(lead->ncells, &order, lead->ncells, &perm, lead->ncaller, &where, lead->ncaller, &shared));
  for (PetscInt c = 0; c < lead->ncaller; ++c) shared[c] = PETSC_FALSE;
  for (PetscInt f = 0; f < nf; ++f)
    for (PetscInt c = nodes[f]->space->ninterior; c < lead->ncells; ++c)
      shared[nodes[f]->space->cell[c] - lead->cstart] = PETSC_TRUE;
  for (PetscInt pass = 0; pass < 2; ++pass) {
    for (PetscInt c = 0; c < lead->ncells; ++c)
      if ((shared[lead->cell[c] - lead->cstart] ? 1 : 0) == pass) order[n++] = lead->cell[c];
    if (!pass) ninterior = n;
  }
  for (PetscInt f = 0; f < nf; ++f) {
    HopsSpace sp = nodes[f]->space;

    PetscCheck(sp->ncells == lead->ncells && sp->ncaller == lead->ncaller, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Fields on different cells");
    for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
    for (PetscInt c = 0; c < sp->ncells; ++c) perm[c] = where[order[c] - sp->cstart];
    PetscCall(HopsSpacePermuteCells(sp, perm, ninterior));
  }
  PetscCall(PetscFree4(order, perm, where, shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldsSameQuadrature(DM dm, PetscInt f, PetscBool *same)
{
  PetscInt         dim[2], n[2];
  const PetscReal *x[2], *w[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscObject     disc;
    PetscQuadrature quad;

    PetscCall(DMGetField(dm, k ? f : 0, NULL, &disc));
    PetscCall(PetscFEGetQuadrature((PetscFE)disc, &quad));
    PetscCall(PetscQuadratureGetData(quad, &dim[k], NULL, &n[k], &x[k], &w[k]));
  }
  *same = dim[0] == dim[1] && n[0] == n[1] ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt i = 0; *same && i < n[0] * dim[0]; ++i)
    if (PetscAbsReal(x[0][i] - x[1][i]) > 1e-10 || PetscAbsReal(w[0][i / dim[0]] - w[1][i / dim[0]]) > 1e-10) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_NULL_FIELDS 10 /* PETSc keeps constructors of null spaces for so many fields */

/* A field as a DM. What the code has to make null spaces of fields, PETSc would call for it: a projection or
   more, of which nothing is wanted here */
static PetscErrorCode HopsFieldCreateDM(DM dm, PetscInt f, IS *is, DM *sub)
{
  PetscErrorCode (*null)(DM, PetscInt, PetscInt, MatNullSpace *), (*near)(DM, PetscInt, PetscInt, MatNullSpace *);

  PetscFunctionBegin;
  if (f >= HOPS_NULL_FIELDS) {
    PetscCall(DMCreateSubDM(dm, 1, &f, is, sub));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetNullSpaceConstructor(dm, f, &null));
  PetscCall(DMGetNearNullSpaceConstructor(dm, f, &near));
  PetscCall(DMSetNullSpaceConstructor(dm, f, NULL));
  PetscCall(DMSetNearNullSpaceConstructor(dm, f, NULL));
  PetscCall(DMCreateSubDM(dm, 1, &f, is, sub));
  PetscCall(DMSetNullSpaceConstructor(dm, f, null));
  PetscCall(DMSetNearNullSpaceConstructor(dm, f, near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsNodesMakeFields(DM dm, PetscInt nf, HopsNodes nodes[])
{
  PetscSection gs;
  PetscInt     n, start;

  PetscFunctionBegin;
  if (nf == 1) {
    PetscCall(HopsNodesCreate(dm, &nodes[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetGlobalSection(dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &n));
  PetscCallMPI(MPI_Scan(&n, &start, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)dm)));
  start -= n;
  for (PetscInt f = 0; f < nf; ++f) {
    DM              sub;
    IS              is;
    const PetscInt *idx;
    PetscBool       same;

    PetscCall(HopsFieldCreateDM(dm, f, &is, &sub));
    PetscCall(HopsNodesCreate(sub, &nodes[f]));
    PetscCall(ISGetLocalSize(is, &n));
    PetscCheck(n == nodes[f]->nfree, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Field %" PetscInt_FMT " has %" PetscInt_FMT " unknowns in the global vector and %" PetscInt_FMT " at its nodes", f,
               n, nodes[f]->nfree);
    PetscCall(ISGetIndices(is, &idx));
    for (PetscInt i = 0; i < nodes[f]->space->nT * nodes[f]->nc; ++i)
      if (nodes[f]->map[i] >= 0) nodes[f]->map[i] = idx[nodes[f]->map[i]] - start;
    PetscCall(ISRestoreIndices(is, &idx));
    PetscCall(ISDestroy(&is));
    PetscCall(DMDestroy(&sub));
    PetscCall(HopsFieldsSameQuadrature(dm, f, &same));
    PetscCheck(same, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
               "Field %" PetscInt_FMT " has %" PetscInt_FMT " quadrature points in a cell, field 0 has %" PetscInt_FMT
               ", or they are others: give all fields one rule (PetscFECopyQuadrature(), or "
               "-<field>_petscfe_default_quadrature_order)",
               f, nodes[f]->space->nquad[0], nodes[0]->space->nquad[0]);
  }
  PetscCall(HopsNodesShareOrder(nf, nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes that a DM keeps: Jacobian and preconditioning matrix have the same, and so have operators that
   come after them */
typedef struct {
  PetscInt              nf;
  HopsNodes            *nodes;        /* [nf] */
  PetscObjectId         section, *id; /* [3 nf] elements and their quadratures in cells and on faces */
  HopsVecKey            coordinates;
  const HopsBackendOps *backend;
} HopsKeptNodes;

static PetscErrorCode HopsKeptNodesDestroy(HopsContainerCtx ctx)
{
  HopsKeptNodes *k = (HopsKeptNodes *)HopsContainerData(ctx);

  PetscFunctionBegin;
  for (PetscInt f = 0; f < k->nf; ++f) PetscCall(HopsNodesDestroy(&k->nodes[f]));
  PetscCall(PetscFree(k->nodes));
  PetscCall(PetscFree(k->id));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the nodes of now depend on */
static PetscErrorCode HopsKeptNodesKey(DM dm, PetscInt nf, HopsKeptNodes *key)
{
  PetscSection s;
  HopsSpace    sp;
  PetscInt     dim;
  PetscBool    changed;

  PetscFunctionBegin;
  key->nf = nf;
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(PetscObjectGetId((PetscObject)s, &key->section));
  PetscCall(PetscMalloc1(3 * nf, &key->id));
  for (PetscInt f = 0; f < nf; ++f) {
    PetscObject     disc;
    PetscQuadrature quad[2];

    PetscCall(DMGetField(dm, f, NULL, &disc));
    PetscCall(PetscFEGetQuadrature((PetscFE)disc, &quad[0]));
    PetscCall(PetscFEGetFaceQuadrature((PetscFE)disc, &quad[1]));
    PetscCall(PetscObjectGetId(disc, &key->id[3 * f]));
    for (PetscInt k = 0; k < 2; ++k) {
      key->id[3 * f + 1 + k] = 0;
      if (quad[k]) PetscCall(PetscObjectGetId((PetscObject)quad[k], &key->id[3 * f + 1 + k]));
    }
  }
  PetscCall(HopsPlexCoordinatesChanged(dm, &key->coordinates, &changed));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)dm), dim, 1, &sp));
  PetscCall(HopsSpaceSetBackendFromDM(sp, dm));
  key->backend = sp->backend;
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsKeptNodesSame(DM dm, const HopsKeptNodes *a, const HopsKeptNodes *b, PetscBool *same)
{
  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (a->nf == b->nf && a->section == b->section && a->backend == b->backend && a->coordinates.id == b->coordinates.id &&
      a->coordinates.hash == b->coordinates.hash)
    PetscCall(PetscArraycmp(a->id, b->id, 3 * a->nf, same));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, same, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNodesCreateFields(DM dm, PetscInt nf, HopsNodes nodes[])
{
  PetscContainer c;
  HopsKeptNodes *kept, key = {0};
  PetscBool      same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsKeptNodesKey(dm, nf, &key));
  PetscCall(PetscObjectQuery((PetscObject)dm, "HopsKeptNodes", (PetscObject *)&c));
  if (c) {
    PetscCall(PetscContainerGetPointer(c, (void **)&kept));
    PetscCall(HopsKeptNodesSame(dm, kept, &key, &same));
  }
  if (same) PetscCall(PetscFree(key.id));
  else {
    PetscCall(PetscObjectCompose((PetscObject)dm, "HopsKeptNodes", NULL));
    PetscCall(HopsNodesMakeFields(dm, nf, nodes));
    PetscCall(PetscNew(&kept));
    *kept = key;
    PetscCall(PetscMalloc1(nf, &kept->nodes));
    PetscCall(PetscArraycpy(kept->nodes, nodes, nf));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
    PetscCall(PetscContainerSetPointer(c, kept));
    PetscCall(HopsContainerSetDestroy(c, HopsKeptNodesDestroy));
    PetscCall(PetscObjectCompose((PetscObject)dm, "HopsKeptNodes", (PetscObject)c));
    PetscCall(PetscContainerDestroy(&c));
  }
  for (PetscInt f = 0; f < nf; ++f) {
    nodes[f] = kept->nodes[f];
    ++nodes[f]->refct;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNodesCreateSub(HopsNodes nodes, const PetscInt position[], HopsNodes *out)
{
  HopsSpace      sp = nodes->space;
  const PetscInt n  = sp->nT * nodes->nc;
  HopsNodes      sub;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sub));
  sub->refct  = 1;
  sub->nc     = nodes->nc;
  sub->nfree  = nodes->nfree;
  sub->nempty = nodes->nempty;
  sub->space  = sp;
  PetscCall(HopsSpaceReference(sp));
  PetscCall(PetscMalloc1(n, &sub->map));
  PetscCall(PetscMalloc1(sp->nL * nodes->nc, &sub->isfree));
  PetscCall(PetscArraycpy(sub->isfree, nodes->isfree, sp->nL * nodes->nc));
  for (PetscInt i = 0; i < n; ++i) sub->map[i] = nodes->map[i] < 0 ? -1 : position[nodes->map[i]];
  *out = sub;
  PetscFunctionReturn(PETSC_SUCCESS);
}
