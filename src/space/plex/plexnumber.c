/* hops' own numbering of the unknowns on a DMPlex: by points, in the order in which the cells' closures first
   reach them, for locality. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopspleximpl.h>

/* ------------------------------------------ numbering ------------------------------------------ */

/* What is known before the passes; the arrays are to be allocated */
static PetscErrorCode HopsNumberingCreate(HopsSpace sp, HopsNumbering *b)
{
  const HopsPlexCells cells = sp->cells;
  PetscInt            pEnd;
  PetscInt64          total = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscCall(DMPlexGetChart(sp->dm, &b->pStart, &pEnd));
  b->np     = pEnd - b->pStart;
  b->dim    = sp->dim;
  b->ncells = cells->ncells;
  b->point  = HopsMeshApart(sp->backend) ? cells->bpoint : cells->point;
  b->ornt   = HopsMeshApart(sp->backend) ? cells->bornt : cells->ornt;
  for (PetscInt d = 0; d <= sp->dim; ++d) {
    b->dof[d] = HopsFamilyDof(sp->family, sp->dim, sp->order, d);
    PetscCall(DMPlexGetDepthStratum(sp->dm, d, &b->start[d], &b->end[d]));
    total += (PetscInt64)b->dof[d] * (b->end[d] - b->start[d]);
  }
  PetscCall(HopsCheckInt("unknowns", total));
  for (PetscInt i = 0; i < cells->ref.n; ++i)
    if (b->dof[HopsMeshDepth(sp->dim, i)]) b->list[b->nlist++] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt HopsPointDof(const HopsNumbering *b, PetscInt p)
{
  PetscInt d = b->dim;

  while (d > 0 && (p < b->start[d] || p >= b->end[d])) --d;
  return b->dof[d];
}

/* The points of other ranks, of these those that the cells have, and the global index of the first unknown of
   each, from the numbers in first[] that their owners gave them */
static PetscErrorCode HopsPlexFindGhosts(HopsSpace sp, const HopsNumbering *b, const int first[], PetscInt *n, PetscInt *point[],
                                         PetscInt *index[])
{
  PetscSF            sf;
  PetscLayout        layout;
  PetscInt           nroots, nleaves;
  const PetscInt    *leaves, *ranges;
  const PetscSFNode *remote;
  int               *owners;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(DMGetPointSF(sp->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &leaves, &remote));
  PetscCall(PetscMalloc1(PetscMax(nleaves, 0), point));
  PetscCall(PetscMalloc1(PetscMax(nleaves, 0), index));
  if (nroots < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(PetscMalloc1(b->np, &owners));
  PetscCall(PetscSFBcastBegin(sf, MPI_INT, first, owners, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPI_INT, first, owners, MPI_REPLACE));
  for (PetscInt l = 0; l < nleaves; ++l) {
    const PetscInt p = (leaves ? leaves[l] : l) - b->pStart;

    if (first[p] != HOPS_REACHED) continue;
    PetscCheck(owners[p] >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Point %" PetscInt_FMT " has no number on its owner, rank %d",
               p + b->pStart, (int)remote[l].rank);
    (*point)[*n] = p;
    (*index)[*n] = ranges[remote[l].rank] + owners[p];
    *n += 1;
  }
  PetscCall(PetscFree(owners));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from the section, for meshes in which periodic faces identify points of one rank; first[] of this
   rank's points becomes the section's */
static PetscErrorCode HopsPlexFindIdentified(HopsSpace sp, const HopsNumbering *b, int first[], PetscInt *n, PetscInt *point[],
                                             PetscInt *index[])
{
  PetscSection gs;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(HopsSpaceSetSection(sp));
  PetscCall(DMGetGlobalSection(sp->dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &sp->nT));
  PetscCall(HopsSpaceSetRange(sp));
  PetscCall(PetscMalloc1(b->np, point));
  PetscCall(PetscMalloc1(b->np, index));
  for (PetscInt p = 0; p < b->np; ++p) {
    PetscInt off;

    if (first[p] < 0 && first[p] != HOPS_REACHED) continue; /* essential, or without unknowns of a cell */
    PetscCall(PetscSectionGetOffset(gs, p + b->pStart, &off));
    if (off < 0) off = -1 - off;
    if (off >= sp->rstart && off < sp->rstart + sp->nT) first[p] = (int)(off - sp->rstart);
    else {
      (*point)[*n] = p;
      (*index)[*n] = off;
      *n += 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts are the global indices that other ranks own, ascending: first[] of their points, ghost[] and nG */
static PetscErrorCode HopsPlexNumberGhosts(HopsSpace sp, const HopsNumbering *b, int first[])
{
  PetscInt n, identified, nG = 0, *point, *index;

  PetscFunctionBegin;
  PetscCall(HopsDMPlexGetIdentified(sp->dm, &identified));
  if (identified) PetscCall(HopsPlexFindIdentified(sp, b, first, &n, &point, &index));
  else PetscCall(HopsPlexFindGhosts(sp, b, first, &n, &point, &index));
  PetscCall(PetscSortIntWithArray(n, index, point));
  for (PetscInt i = 0; i < n; ++i) {
    if (i && index[i] == index[i - 1]) {
      first[point[i]] = first[point[i - 1]];
      continue;
    }
    first[point[i]] = (int)(sp->nT + nG);
    nG += HopsPointDof(b, point[i] + b->pStart);
  }
  PetscCall(HopsCheckInt("unknowns", (PetscInt64)sp->nT + nG + sp->nC));
  sp->nG = nG;
  PetscCall(PetscMalloc1(nG, &sp->ghost));
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt t = 0, g = first[point[i]] - sp->nT, dof = HopsPointDof(b, point[i] + b->pStart); t < dof; ++t)
      sp->ghost[g + t] = index[i] + t;
  PetscCall(PetscFree(point));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points numbered by this rank, then the ghosts, by the host, to which numbers come where there are other
   ranks */
static PetscErrorCode HopsPlexNumberPoints(HopsSpace sp, const HopsBackendOps *be, HopsNumbering *b)
{
  const HopsMeshOps *mesh = be->mesh ? be->mesh : &HopsMeshHost;
  const size_t       size = b->np * sizeof(int);
  PetscSF            sf;
  PetscInt           nleaves, identified;
  const PetscInt    *leaves;
  PetscInt          *foreign = NULL;
  PetscMPIInt        nranks;
  int                nT, nC, *first = b->first;

  PetscFunctionBegin;
  PetscCall(DMGetPointSF(sp->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &nleaves, &leaves, NULL));
  nleaves = PetscMax(nleaves, 0);
  if (!leaves) {
    PetscCall(PetscMalloc1(nleaves, &foreign));
    for (PetscInt l = 0; l < nleaves; ++l) foreign[l] = l;
  }
  PetscCall((*mesh->Number)(b, sp->nfixed, sp->fixed, nleaves, leaves ? leaves : foreign, &nT, &nC));
  PetscCall(PetscFree(foreign));
  sp->nT = nT;
  sp->nC = nC;
  PetscCall(HopsSpaceSetRange(sp));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &nranks));
  PetscCall(HopsDMPlexGetIdentified(sp->dm, &identified));
  if (nranks == 1 && !identified && !nleaves) PetscFunctionReturn(PETSC_SUCCESS); /* there are no ghosts */
  if (HopsMeshApart(be)) {
    PetscCall(PetscMalloc1(b->np, &first));
    PetscCall((*be->memory->Copy)(NULL, first, b->first, size, HOPS_COPY_OUT));
  }
  PetscCall(HopsPlexNumberGhosts(sp, b, first));
  if (HopsMeshApart(be)) {
    PetscCall((*be->memory->Copy)(NULL, b->first, first, size, HOPS_COPY_IN));
    PetscCall(PetscFree(first));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How cells see unknowns, for all orientations of their points */
static PetscErrorCode HopsCellViewCreate(HopsSpace sp, const HopsLayout *layout, const HopsNumbering *b, HopsCellView *view)
{
  const HopsPlexClosure *ref    = &sp->cells->ref;
  PetscInt               maxdof = 0, *row;
  int                   *slot, *seen;

  PetscFunctionBegin;
  for (PetscInt d = 0; d <= sp->dim; ++d) maxdof = PetscMax(maxdof, b->dof[d]);
  PetscCall(PetscMalloc1(sp->ne, &slot));
  PetscCall(PetscCalloc1(8 * sp->ne, &seen));
  PetscCall(PetscMalloc1(maxdof, &row));
  for (PetscInt k = 0; k < b->nlist; ++k) {
    const PetscInt d = HopsMeshDepth(sp->dim, b->list[k]), dof = b->dof[d];
    const PetscInt low = d == 1 ? -1 : (d == 2 && b->list[k] ? -4 : 0), high = d == 2 && b->list[k] ? 3 : 0;

    for (PetscInt o = low; o <= high; ++o) {
      HopsPlexEntryRow(ref, layout, sp->family, sp->order, b->list[k], o, dof, row);
      for (PetscInt t = 0; t < dof; ++t) {
        const PetscInt i = row[t] < 0 ? -1 - row[t] : row[t];

        slot[i]                    = (int)k;
        seen[(o + 4) * sp->ne + i] = (int)(row[t] < 0 ? -1 - t : t);
      }
    }
  }
  PetscCall(PetscFree(row));
  view->ne   = sp->ne;
  view->slot = slot;
  view->seen = seen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexNumber(HopsSpace sp, const HopsLayout *layout)
{
  const HopsBackendOps *be    = sp->backend;
  const HopsMeshOps    *mesh  = be->mesh ? be->mesh : &HopsMeshHost;
  const PetscBool       apart = HopsMeshApart(be);
  HopsNumbering         b;
  HopsCellView          view;
  int                  *perm, *restr;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsMove(sp->cells, be));
  PetscCall(HopsNumberingCreate(sp, &b));
  if (apart) {
    PetscCall((*be->memory->PoolMalloc)(b.np, (void **)&b.kind));
    PetscCall((*be->memory->PoolMalloc)(b.np * sizeof(int), (void **)&b.touch));
    PetscCall((*be->memory->PoolMalloc)(b.np * sizeof(int), (void **)&b.first));
  } else PetscCall(PetscMalloc3(b.np, &b.kind, b.np, &b.touch, b.np, &b.first));
  PetscCall(HopsPlexNumberPoints(sp, be, &b));
  PetscCall(HopsCellViewCreate(sp, layout, &b, &view));
  if (apart) PetscCall((*be->memory->Malloc)((size_t)sp->ncells * sp->ne * sizeof(int), (void **)&restr));
  else PetscCall(PetscMalloc1((size_t)sp->ncells * sp->ne, &restr));
  PetscCall(PetscMalloc1(sp->ncells, &perm));
  PetscCall((*mesh->Restrict)(&b, &view, (int)sp->nT, (int)(sp->nT + sp->nG), restr, perm, &sp->ninterior));
  if (apart) sp->brestr = restr;
  else sp->restr = restr;
  for (PetscInt c = 0; c < sp->ncells; ++c) sp->cell[c] = sp->cells->cell[perm[c]];
  PetscCall(PetscFree(perm));
  PetscCall(PetscFree(view.slot));
  PetscCall(PetscFree(view.seen));
  if (apart) {
    PetscCall((*be->memory->PoolFree)((void **)&b.kind));
    PetscCall((*be->memory->PoolFree)((void **)&b.touch));
    PetscCall((*be->memory->PoolFree)((void **)&b.first));
  } else PetscCall(PetscFree3(b.kind, b.touch, b.first));
  PetscCall(HopsSpaceSetUpEntries(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ section ------------------------------------------ */

/* Points with unknowns in the order of their numbers, those of other ranks' cells last, as p - pStart; sets
   touch[] */
static PetscErrorCode HopsPlexFirstTouch(HopsSpace sp, const HopsNumbering *b, PetscInt *n, PetscInt order[])
{
  PetscInt m = 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < b->np; ++p) b->touch[p] = HOPS_UNTOUCHED;
  for (PetscInt c = 0; c < b->ncells; ++c) {
    HopsTouchCell(b, c);
    for (PetscInt k = 0; k < b->nlist; ++k) {
      const PetscInt at = c * sp->cells->ref.n + b->list[k], p = b->point[at] - b->pStart;

      if (b->touch[p] == at) order[m++] = p;
    }
  }
  for (PetscInt p = 0; p < b->np; ++p)
    if (b->touch[p] == HOPS_UNTOUCHED && HopsPointDof(b, p + b->pStart)) order[m++] = p;
  *n = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetSection(HopsSpace sp)
{
  HopsNumbering b;
  PetscSection  section;
  IS            perm;
  PetscInt      n, maxdof = 0, *order, *ind;
  signed char  *mark;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(sp->cells));
  PetscCall(HopsNumberingCreate(sp, &b));
  b.point = sp->cells->point;
  b.ornt  = sp->cells->ornt;
  PetscCall(PetscMalloc1(b.np, &order));
  PetscCall(PetscMalloc1(b.np, &b.touch));
  PetscCall(HopsPlexFirstTouch(sp, &b, &n, order));
  PetscCall(PetscFree(b.touch));
  PetscCall(PetscCalloc1(b.np, &mark));
  for (PetscInt i = 0; i < sp->nfixed; ++i) mark[sp->fixed[i] - b.pStart] = 1;
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)sp->dm), &section));
  PetscCall(PetscSectionSetChart(section, b.pStart, b.pStart + b.np));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt p = order[i] + b.pStart, dof = HopsPointDof(&b, p);

    maxdof = PetscMax(maxdof, dof);
    PetscCall(PetscSectionSetDof(section, p, dof));
    if (mark[order[i]]) PetscCall(PetscSectionSetConstraintDof(section, p, dof));
    mark[order[i]] |= 2; /* it has its place */
  }
  for (PetscInt p = 0; p < b.np; ++p)
    if (!(mark[p] & 2)) order[n++] = p;
  for (PetscInt i = 0; i < n; ++i) order[i] += b.pStart;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, &perm));
  PetscCall(PetscSectionSetPermutation(section, perm));
  PetscCall(ISDestroy(&perm));
  PetscCall(PetscSectionSetUp(section));
  PetscCall(PetscMalloc1(maxdof, &ind));
  for (PetscInt k = 0; k < maxdof; ++k) ind[k] = k;
  for (PetscInt p = b.pStart; p < b.pStart + b.np; ++p)
    if (mark[p - b.pStart] == 3) PetscCall(PetscSectionSetConstraintIndices(section, p, ind));
  PetscCall(PetscFree(ind));
  PetscCall(PetscFree(mark));
  PetscCall(DMSetLocalSection(sp->dm, section));
  PetscCall(PetscSectionDestroy(&section));
  sp->hassection = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
