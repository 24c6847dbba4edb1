/* HopsSpace: life cycle, numbering of the L-vector, halo exchange, viewing. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>

PetscErrorCode HopsSpaceCreate_Private(MPI_Comm comm, PetscInt dim, PetscInt order, HopsSpace *space)
{
  HopsSpace sp;
  char      name[64] = "host";

  PetscFunctionBegin;
  PetscCall(HopsInitialize());
  PetscCheck(dim == 2 || dim == 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "hops works on meshes of dimension 2 or 3, not %" PetscInt_FMT,
             dim);
  PetscCheck(order >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The order of a space must be at least 1, not %" PetscInt_FMT ": raise the order (for a PetscFE, -petscspace_degree)",
             order);
  PetscCheck(order <= 64, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The order %" PetscInt_FMT " is above 64, where the bases are no longer accurate: lower the order and refine the mesh",
             order);
  PetscCall(PetscHeaderCreate(sp, HOPS_SPACE_CLASSID, "HopsSpace", "High-order finite element space", "HopsSpace", comm,
                              HopsSpaceDestroy, HopsSpaceView));
  sp->dim   = dim;
  sp->order = order;
  sp->ne    = HopsPower(order + 1, dim);
  PetscObjectOptionsBegin((PetscObject)sp);
  PetscCall(PetscOptionsString("-hops_backend", "Where operators of the space live and run", "HopsSpace", name, name, sizeof(name),
                               &sp->backendset));
  PetscCall(PetscOptionsBool("-hops_repair_geometry", "Close the gaps that misplaced hanging nodes leave", "HopsSpace", sp->repair,
                             &sp->repair, NULL));
  PetscOptionsEnd();
  PetscCall(HopsBackendGet(name, &sp->backend));
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceReference - Adds a reference to a `HopsSpace`.

  Logically Collective

  Input Parameter:
. space - the space

  Level: intermediate

.seealso: `HopsSpace`, `HopsSpaceDestroy()`
@*/
PetscErrorCode HopsSpaceReference(HopsSpace space)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  PetscCall(PetscObjectReference((PetscObject)space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceDestroy - Destroys a `HopsSpace` when its last reference is dropped.

  Collective

  Input Parameter:
. space - the space, set to `NULL`

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceCreateFromDM()`, `HopsSpaceCreateH1()`, `HopsSpaceCreateFromArrays()`
@*/
PetscErrorCode HopsSpaceDestroy(HopsSpace *space)
{
  HopsSpace sp;

  PetscFunctionBegin;
  HopsValidPointer(space, 1);
  sp = *space;
  if (!sp) PetscFunctionReturn(PETSC_SUCCESS);
  HopsValidHeader(sp, HOPS_SPACE_CLASSID, 1);
  *space = NULL;
  if (--((PetscObject)sp)->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceResetBackend(sp));
  PetscCall(PetscFree(sp->context));
  for (PetscInt f = 0; f < 4; ++f) PetscCall(HopsSpaceDestroy(&sp->companion[f]));
  PetscCall(HopsSpaceDestroy(&sp->mesh));
  PetscCall(HopsSpaceDestroy(&sp->coarse));
  PetscCall(PetscFree2(sp->coarsecell, sp->coarsechild));
  PetscCall(DMLabelDestroy(&sp->label));
  PetscCall(PetscFree(sp->values));
  PetscCall(PetscFree(sp->fixed));
  for (PetscInt k = 0; k < 2; ++k)
    if (sp->rule[k].P) PetscCall(HopsBasisDestroy(&sp->rule[k]));
  PetscCall(PetscFree(sp->restr));
  PetscCall(PetscFree(sp->hang));
  PetscCall(PetscFree2(sp->absent, sp->xabsent));
  PetscCall(PetscFree(sp->cell));
  PetscCall(PetscFree(sp->X));
  PetscCall(PetscFree(sp->ghost));
  PetscCall(PetscFree2(sp->essT, sp->essC));
  PetscCall(PetscFree(sp->cvals));
  PetscCall(PetscFree(sp->cglobal));
  PetscCall(PetscFree(sp->place));
  PetscCall(PetscSFDestroy(&sp->elementsf));
  PetscCall(HopsProlongDestroy(&sp->hostP));
  PetscCall(HopsHaloDestroy(&sp->halo));
  PetscCall(HopsPlexCellsDestroy(&sp->cells));
  PetscCall(DMDestroy(&sp->dm));
  PetscCall(PetscHeaderDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceView - Prints a `HopsSpace`: dimension, order, cells, unknowns, geometry order and back end.

  Collective

  Input Parameters:
+ space  - the space
- viewer - an ASCII viewer, or `NULL` for standard output

  Level: beginner

.seealso: `HopsSpace`
@*/
PetscErrorCode HopsSpaceView(HopsSpace space, PetscViewer viewer)
{
  PetscBool ascii;
  PetscInt  in[2] = {0, 0}, out[2];

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)space), &viewer));
  HopsValidHeader(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  in[0] = space->ncells;
  for (PetscInt c = 0; space->hanging && c < space->ncells; ++c) in[1] += space->hang[c] ? 1 : 0;
  PetscCall(MPIU_Allreduce(in, out, 2, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)space)));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%s space of order %" PetscInt_FMT " in %" PetscInt_FMT "D: cells %" PetscInt_FMT
                                   ", unknowns %" PetscInt_FMT ", geometry order %" PetscInt_FMT ", back end %s\n",
                                   HopsFamilies[space->family], space->order, space->dim, out[0], space->N, space->gorder,
                                   space->backend->name));
  if (space->turned) PetscCall(PetscViewerASCIIPrintf(viewer, "all cells left-handed, turned\n"));
  if (space->hanging) PetscCall(PetscViewerASCIIPrintf(viewer, "cells with hanging nodes: %" PetscInt_FMT "\n", out[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- numbering ----------------------------------------- */

/*
  lidx[key]: the L index. Owned keys have it from their global index; others if a cell uses them, else -1.
  inner[c]: whether the cell has owned ones only. Ghosts are the distinct global indices owned elsewhere,
  ascending; constrained ones follow in the order of the cells.
*/
static PetscErrorCode HopsSpaceNumberKeys(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], const unsigned char ess[],
                                          const int elist[], int lidx[], unsigned char inner[])
{
  const PetscInt np = sp->ne, first = sp->rstart, last = sp->rstart + sp->nT;
  const int      ghost = INT_MIN;
  PetscInt       nG = 0, nC = 0, *sorted;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nkeys; ++k) lidx[k] = gidx[k] >= first && gidx[k] < last ? (int)(gidx[k] - first) : -1;
  for (PetscInt k = 0; k < nkeys && ess; ++k)
    if (ess[k]) lidx[k] = -1;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const int *e     = elist + c * np;
    int        least = 0;

    for (PetscInt i = 0; i < np; ++i) least = PetscMin(least, lidx[e[i] < 0 ? -1 - e[i] : e[i]]);
    inner[c] = least < 0 ? 0 : 1;
    for (PetscInt i = 0; i < np && least < 0; ++i) {
      const PetscInt k = e[i] < 0 ? -1 - e[i] : e[i];

      if (lidx[k] != -1) continue;
      if (gidx[k] < 0 || (ess && ess[k])) lidx[k] = -2 - (int)nC++; /* constrained: numbered below, after the ghosts */
      else {
        lidx[k] = ghost;
        ++nG;
      }
    }
  }
  PetscCall(HopsCheckInt("unknowns", (PetscInt64)sp->nT + nG + nC));
  sp->nG = nG;
  sp->nC = nC;
  PetscCall(PetscMalloc1(nG, &sp->ghost));
  PetscCall(PetscMalloc1(nG, &sorted));
  nG = 0;
  for (PetscInt k = 0; k < nkeys && sp->nG; ++k)
    if (lidx[k] == ghost) {
      sorted[nG]    = k;
      sp->ghost[nG] = gidx[k];
      ++nG;
    }
  PetscCall(PetscSortIntWithArray(nG, sp->ghost, sorted));
  for (PetscInt g = 0; g < nG; ++g) lidx[sorted[g]] = (int)(sp->nT + g);
  PetscCall(PetscFree(sorted));
  for (PetscInt k = 0; k < nkeys && nC; ++k)
    if (lidx[k] < -1) lidx[k] = (int)(sp->nT + nG) + (-2 - lidx[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* perm[]: cells that touch owned, unconstrained unknowns only come first; within both classes those with
   hanging nodes come last, by their masks, so that kernels meet many of one mask; else the order is kept */
static PetscErrorCode HopsSpaceSortCells(HopsSpace sp, const unsigned char inner[], PetscInt perm[])
{
  const PetscInt nmasks = sp->hanging ? HOPS_HANGING_MASKS : 1;
  PetscInt      *n;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * nmasks + 1, &n));
  sp->ninterior = 0;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    ++n[(inner[c] ? 0 : nmasks) + (sp->hanging ? sp->hang[c] : 0) + 1];
    sp->ninterior += inner[c];
  }
  for (PetscInt k = 0; k < 2 * nmasks; ++k) n[k + 1] += n[k];
  for (PetscInt c = 0; c < sp->ncells; ++c) perm[n[(inner[c] ? 0 : nmasks) + (sp->hanging ? sp->hang[c] : 0)]++] = c;
  PetscCall(PetscFree(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSpaceOrderCells(HopsSpace sp, const int elist[], const int lidx[], const unsigned char inner[])
{
  const PetscInt  np = sp->ne, nx = sp->X ? sp->dim * HopsPower(sp->gorder + 1, sp->dim) : 0; /* maps may be made later */
  PetscInt       *perm, *cell;
  PetscReal      *X    = NULL;
  unsigned short *hang = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncells, &perm));
  PetscCall(HopsSpaceSortCells(sp, inner, perm));
  PetscCall(PetscMalloc1(sp->ncells * np, &sp->restr));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const int *e = elist + perm[c] * np;
    int       *r = sp->restr + c * np;

    for (PetscInt i = 0; i < np; ++i) r[i] = e[i] < 0 ? -1 - lidx[-1 - e[i]] : lidx[e[i]];
  }
  if (sp->ninterior < sp->ncells || sp->hanging) { /* else their order is the old one */
    PetscCall(PetscMalloc1(sp->ncells, &cell));
    if (nx) PetscCall(PetscMalloc1(sp->ncells * nx, &X));
    if (sp->hanging) PetscCall(PetscMalloc1(sp->ncells, &hang));
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      cell[c] = sp->cell[perm[c]];
      if (nx) PetscCall(PetscArraycpy(X + c * nx, sp->X + perm[c] * nx, nx));
      if (sp->hanging) hang[c] = sp->hang[perm[c]];
    }
    PetscCall(PetscFree(sp->cell));
    PetscCall(PetscFree(sp->X));
    PetscCall(PetscFree(sp->hang));
    sp->cell = cell;
    sp->X    = X;
    sp->hang = hang;
  }
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSpaceSetUpHalo(HopsSpace sp)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)sp);
  PetscLayout layout;
  PetscSF     sf;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(comm, sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, sp->nG, NULL, PETSC_OWN_POINTER, sp->ghost));
  PetscCall(HopsHaloCreate(sf, &sp->halo));
  PetscCall(HopsProlongCreate(sp, &HopsBackendHost, &sp->halo, 1, PETSC_DOUBLE, NULL, &sp->hostP));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetUpEntries(HopsSpace sp)
{
  PetscFunctionBegin;
  sp->nL = sp->nT + sp->nG + sp->nC;
  PetscCall(PetscCalloc1(HOPS_PARTS * sp->nC, &sp->cvals));
  PetscCall(HopsSpaceSetUpHalo(sp));
  PetscCall(PetscInfo(sp,
                      "%" PetscInt_FMT " cells (%" PetscInt_FMT " interior), unknowns: %" PetscInt_FMT " owned, %" PetscInt_FMT
                      " ghosts, %" PetscInt_FMT " constrained\n",
                      sp->ncells, sp->ninterior, sp->nT, sp->nG, sp->nC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the cells' arrays of unknowns and coordinates are sized by */
PetscErrorCode HopsSpaceCheckCounts(HopsSpace sp)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(HopsCount("unknowns of the cells", sp->ncells, sp->ne, 1, &n));
  PetscCall(HopsCount("coordinates of the cells", sp->ncells, sp->dim, HopsPower(sp->gorder + 1, sp->dim), &n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetUpNumbering(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], const unsigned char ess[],
                                       const int elist[])
{
  int           *lidx;
  unsigned char *inner;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCheckCounts(sp));
  PetscCall(HopsCheckInt("unknowns", PetscMax(sp->nT, nkeys)));
  PetscCall(PetscMalloc2(nkeys, &lidx, sp->ncells, &inner));
  PetscCall(HopsSpaceNumberKeys(sp, nkeys, gidx, ess, elist, lidx, inner));
  PetscCall(HopsSpaceOrderCells(sp, elist, lidx, inner));
  for (PetscInt i = 0; i < sp->nabsent; ++i) sp->absent[i] = lidx[sp->absent[i]];
  PetscCall(HopsSpaceSetUpEntries(sp));
  if (ess) {
    PetscCall(PetscMalloc1(sp->nC, &sp->cglobal));
    for (PetscInt k = 0; k < nkeys; ++k)
      if (lidx[k] >= sp->nT + sp->nG) sp->cglobal[lidx[k] - sp->nT - sp->nG] = gidx[k];
    sp->ness = 0;
    for (PetscInt k = 0; k < nkeys; ++k) sp->ness += ess[k] && gidx[k] >= sp->rstart && gidx[k] < sp->rstart + sp->nT;
    PetscCall(PetscMalloc2(sp->ness, &sp->essT, sp->ness, &sp->essC));
    sp->ness = 0;
    for (PetscInt k = 0; k < nkeys; ++k) {
      if (!ess[k] || gidx[k] < sp->rstart || gidx[k] >= sp->rstart + sp->nT) continue;
      PetscAssert(lidx[k] >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An essential unknown that no cell of its owner has");
      sp->essT[sp->ness]   = gidx[k] - sp->rstart;
      sp->essC[sp->ness++] = lidx[k];
    }
  }
  PetscCall(PetscFree2(lidx, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceGlobalToLocal(HopsSpace sp, PetscInt part, const PetscReal x[], PetscReal xg[])
{
  PetscFunctionBegin;
  PetscCall(HopsProlongBegin(sp->hostP, x, xg));
  PetscCall(HopsProlongEnd(sp->hostP, x, xg));
  PetscCall(PetscArraycpy(xg + sp->nG, sp->cvals + part * sp->nC, sp->nC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ queries ------------------------------------------ */

/*@
  HopsSpaceGetDimension - Gets the spatial dimension, 2 or 3.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. dim - the dimension

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceGetOrder()`
@*/
PetscErrorCode HopsSpaceGetDimension(HopsSpace space, PetscInt *dim)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(dim, 2);
  *dim = space->dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetOrder - Gets the polynomial order in each direction.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. order - the order

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceGetDimension()`
@*/
PetscErrorCode HopsSpaceGetOrder(HopsSpace space, PetscInt *order)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(order, 2);
  *order = space->order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetNumCells - Gets the number of cells on this rank.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. ncells - the number of cells

  Level: intermediate

.seealso: `HopsSpace`, `HopsSpaceGetSizes()`
@*/
PetscErrorCode HopsSpaceGetNumCells(HopsSpace space, PetscInt *ncells)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(ncells, 2);
  *ncells = space->ncells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetSizes - Gets the local and global number of unknowns in a vector of the space.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameters:
+ n - the number of unknowns owned by this rank
- N - the global number

  Level: intermediate

.seealso: `HopsSpace`, `HopsSpaceCreateVec()`
@*/
PetscErrorCode HopsSpaceGetSizes(HopsSpace space, PetscInt *n, PetscInt *N)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  if (n) *n = space->nT;
  if (N) *N = space->N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetDM - Gets the `DM` whose section numbers the space's unknowns.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. dm - the `DM` (a clone, made by `HopsSpaceCreateH1()`, or the caller's own), `NULL` for a space from arrays

  Level: intermediate

.seealso: `HopsSpace`, `HopsSpaceCreateH1()`
@*/
PetscErrorCode HopsSpaceGetDM(HopsSpace space, DM *dm)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(dm, 2);
  if (space->fixed && !space->hassection) PetscCall(HopsSpaceSetSection(space));
  *dm = space->dm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateVec - Creates a global vector (T-vector) of the space, set to zero.

  Collective

  Input Parameter:
. space - the space

  Output Parameter:
. x - the vector

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceInterpolate()`
@*/
PetscErrorCode HopsSpaceCreateVec(HopsSpace space, Vec *x)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(x, 2);
  PetscCall(HopsVecCreate(PetscObjectComm((PetscObject)space), 1, space->nT, space->N, HopsSpaceVecType(space), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
