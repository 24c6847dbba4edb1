/* hops' own numbering of the unknowns on a DMPlex: by points, in the order in which the cells' closures first
   reach them, for locality. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopspleximpl.h>

/* ------------------------------------------ numbering ------------------------------------------ */

PetscErrorCode HopsNumberingBegin(DM dm, HopsPlexCells cells, const HopsBackendOps *be, HopsNumbering *b)
{
  PetscInt pEnd;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscCall(HopsPlexCellsMove(cells, be));
  PetscCall(DMPlexGetChart(dm, &b->pStart, &pEnd));
  b->np     = pEnd - b->pStart;
  b->dim    = cells->dim;
  b->ncells = cells->ncells;
  b->point  = HopsMeshApart(be) ? cells->bpoint : (cells->upoint ? cells->upoint : cells->point);
  b->ornt   = HopsMeshApart(be) ? cells->bornt : (cells->uornt ? cells->uornt : cells->ornt);
  for (PetscInt d = 0; d <= b->dim; ++d) PetscCall(DMPlexGetDepthStratum(dm, d, &b->start[d], &b->end[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known before the passes of hops' own numbering; the arrays are to be allocated */
static PetscErrorCode HopsNumberingCreate(HopsSpace sp, HopsNumbering *b)
{
  PetscInt64 total = 0;

  PetscFunctionBegin;
  PetscCall(HopsNumberingBegin(sp->dm, sp->cells, HopsSpaceMeshBackend(sp), b));
  for (PetscInt d = 0; d <= sp->dim; ++d) {
    b->dof[d] = HopsFamilyDof(sp->family, sp->dim, sp->order, d);
    total += (PetscInt64)b->dof[d] * (b->end[d] - b->start[d]);
  }
  PetscCall(HopsCheckInt("unknowns", total));
  for (PetscInt i = 0; i < sp->cells->ref.n; ++i)
    if (b->dof[HopsMeshDepth(sp->dim, i)]) b->list[b->nlist++] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays that the passes fill, where they work */
static PetscErrorCode HopsNumberingAllocate(const HopsBackendOps *be, HopsNumbering *b)
{
  const HopsMemoryOps *memory = HopsMeshBackend(be)->memory;

  PetscFunctionBegin;
  PetscCall((*memory->PoolMalloc)(b->np, (void **)&b->kind));
  PetscCall((*memory->PoolMalloc)(b->np * sizeof(int), (void **)&b->touch));
  PetscCall((*memory->PoolMalloc)(b->np * sizeof(int), (void **)&b->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsNumberingFree(const HopsBackendOps *be, HopsNumbering *b)
{
  const HopsMemoryOps *memory = HopsMeshBackend(be)->memory;

  PetscFunctionBegin;
  PetscCall((*memory->PoolFree)((void **)&b->kind));
  PetscCall((*memory->PoolFree)((void **)&b->touch));
  PetscCall((*memory->PoolFree)((void **)&b->first));
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

/* Ghosts are the global indices that other ranks own, ascending: first[] of their points, ghost[] and nG.
   index[n] is the first of point[n], as p - pStart; the lists are sorted */
static PetscErrorCode HopsPlexNumberGhosts(HopsSpace sp, const HopsNumbering *b, PetscInt n, PetscInt point[], PetscInt index[],
                                           int first[])
{
  PetscInt nG = 0;

  PetscFunctionBegin;
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points numbered by this rank, then the ghosts, by the host, to which numbers come where there are other
   ranks */
static PetscErrorCode HopsPlexNumberPoints(HopsSpace sp, const HopsBackendOps *be, HopsNumbering *b)
{
  const HopsMeshOps   *mesh   = HopsMeshBackend(be)->mesh;
  const HopsMemoryOps *memory = HopsMeshBackend(be)->memory;
  const size_t         size   = b->np * sizeof(int);
  PetscSF              sf;
  PetscInt             nleaves, identified, n, *point, *index;
  const PetscInt      *leaves;
  PetscInt            *foreign = NULL;
  PetscMPIInt          nranks;
  int                  nT, nC, *first;

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
  PetscCall(PetscMalloc1(b->np, &first));
  PetscCall((*memory->Copy)(NULL, first, b->first, size, HOPS_COPY_OUT));
  if (identified) PetscCall(HopsPlexFindIdentified(sp, b, first, &n, &point, &index));
  else PetscCall(HopsPlexFindGhosts(sp, b, first, &n, &point, &index));
  PetscCall(HopsPlexNumberGhosts(sp, b, n, point, index, first));
  PetscCall((*memory->Copy)(NULL, b->first, first, size, HOPS_COPY_IN));
  PetscCall(PetscFree(point));
  PetscCall(PetscFree(index));
  PetscCall(PetscFree(first));
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

/* The order of the cells, and restr[] where the back end has the passes */
static PetscErrorCode HopsPlexRestrict(HopsSpace sp, const HopsNumbering *b, const HopsCellView *view)
{
  const HopsBackendOps *be   = HopsSpaceMeshBackend(sp);
  const HopsMeshOps    *mesh = HopsMeshBackend(be)->mesh;
  const size_t          size = (size_t)sp->ncells * sp->ne;
  int                  *perm, *restr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncells, &perm));
  if (HopsMeshApart(be)) {
    PetscCall((*be->memory->Malloc)(size * sizeof(int), (void **)&sp->brestr));
    restr = sp->brestr;
  } else {
    PetscCall(PetscMalloc1(size, &sp->restr));
    restr = sp->restr;
  }
  PetscCall((*mesh->Order)(b, (int)sp->nT, perm, &sp->ninterior));
  PetscCall(HopsSpaceSortTree(sp, perm));
  PetscCall((*mesh->Restrict)(b, view, (int)(sp->nT + sp->nG), sp->ncells, perm, restr));
  for (PetscInt c = 0; c < sp->ncells; ++c) sp->cell[c] = sp->cells->cell[perm[c]];
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexNumber(HopsSpace sp, const HopsLayout *layout)
{
  HopsNumbering b;
  HopsCellView  view;

  PetscFunctionBegin;
  PetscCall(HopsNumberingCreate(sp, &b));
  PetscCall(HopsNumberingAllocate(HopsSpaceMeshBackend(sp), &b));
  PetscCall(HopsPlexNumberPoints(sp, HopsSpaceMeshBackend(sp), &b));
  PetscCall(HopsCellViewCreate(sp, layout, &b, &view));
  PetscCall(HopsPlexRestrict(sp, &b, &view));
  PetscCall(PetscFree(view.slot));
  PetscCall(PetscFree(view.seen));
  PetscCall(HopsNumberingFree(HopsSpaceMeshBackend(sp), &b));
  PetscCall(HopsSpaceSetUpEntries(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- a code's own section --------------------------------------- */

/* What a section says of the mesh's points */
typedef struct {
  PetscInt  ness, nforeign;
  PetscInt *ess, *foreign, *index; /* points; the global index of the first unknown of foreign[] */
  int      *given;                 /* [np] T-vector index of the first unknown of those that this rank owns */
} HopsSectionPoints;

/* whole is false where a point has both essential and other unknowns */
static PetscErrorCode HopsSectionPointsCreate(HopsSpace sp, PetscSection s, PetscSection gs, const HopsNumbering *b,
                                              HopsSectionPoints *p, PetscBool *whole)
{
  PetscInt start, end;

  PetscFunctionBegin;
  p->ness = p->nforeign = 0;
  *whole                = PETSC_TRUE;
  PetscCall(PetscMalloc4(b->np, &p->ess, b->np, &p->foreign, b->np, &p->index, b->np, &p->given));
  PetscCall(PetscArrayzero(p->given, b->np));
  PetscCall(PetscSectionGetChart(s, &start, &end));
  for (PetscInt q = PetscMax(start, b->pStart); q < PetscMin(end, b->pStart + b->np) && *whole; ++q) {
    PetscInt dof, ncon, off;

    PetscCall(PetscSectionGetDof(s, q, &dof));
    if (!dof) continue;
    PetscCall(PetscSectionGetConstraintDof(s, q, &ncon));
    if (ncon == dof) {
      p->ess[p->ness++] = q;
      continue;
    }
    if (ncon) *whole = PETSC_FALSE;
    PetscCall(PetscSectionGetOffset(gs, q, &off));
    if (off < 0) off = -1 - off; /* another rank's, or identified with a point of this one */
    if (off >= sp->rstart && off < sp->rstart + sp->nT) p->given[q - b->pStart] = (int)(off - sp->rstart);
    else {
      p->foreign[p->nforeign] = q;
      p->index[p->nforeign++] = off;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* first[] of all points: those of other ranks that no cell has are left out of the list */
static PetscErrorCode HopsSectionNumber(HopsSpace sp, HopsNumbering *b, HopsSectionPoints *p, PetscInt *first[])
{
  const HopsBackendOps *at   = HopsMeshBackend(HopsSpaceMeshBackend(sp));
  const size_t          size = b->np * sizeof(int);
  int                   nT, nC, *given, *host;
  PetscInt              n = 0;

  PetscFunctionBegin;
  PetscCall((*at->memory->PoolMalloc)(size, (void **)&given));
  PetscCall((*at->memory->Copy)(NULL, given, p->given, size, HOPS_COPY_IN));
  b->given = given;
  PetscCall((*at->mesh->Number)(b, p->ness, p->ess, p->nforeign, p->foreign, &nT, &nC));
  PetscCall((*at->memory->PoolFree)((void **)&given));
  b->given = NULL;
  sp->nC   = nC;
  PetscCall(HopsCheckInt("unknowns", (PetscInt64)sp->nT + sp->nC));
  if (!p->nforeign && !first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(b->np, &host));
  PetscCall((*at->memory->Copy)(NULL, host, b->first, size, HOPS_COPY_OUT));
  for (PetscInt i = 0; i < p->nforeign; ++i) {
    if (host[p->foreign[i] - b->pStart] != HOPS_REACHED) continue;
    p->foreign[n] = p->foreign[i] - b->pStart;
    p->index[n++] = p->index[i];
  }
  PetscCall(HopsPlexNumberGhosts(sp, b, n, p->foreign, p->index, host));
  if (n) PetscCall((*at->memory->Copy)(NULL, b->first, host, size, HOPS_COPY_IN));
  if (first) {
    PetscCall(PetscMalloc1(b->np, first));
    for (PetscInt q = 0; q < b->np; ++q) {
      const PetscBool none = host[q] == HOPS_NO_NUMBER || host[q] == HOPS_REACHED ? PETSC_TRUE : PETSC_FALSE;

      (*first)[q] = none ? -1 : (host[q] < 0 ? sp->nT + sp->nG - 1 - host[q] : host[q]);
    }
  }
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexNumberSection(HopsSpace sp, PetscSection s, PetscSection gs, const HopsPlexUnknowns *u, PetscInt nc,
                                     const HopsCellView *view, PetscInt *first[], PetscBool *done)
{
  HopsNumbering     b;
  HopsSectionPoints p;

  PetscFunctionBegin;
  PetscCall(HopsNumberingBegin(sp->dm, sp->cells, HopsSpaceMeshBackend(sp), &b));
  PetscCall(HopsSectionPointsCreate(sp, s, gs, &b, &p, done));
  if (*done) {
    HopsPlexUnknownsNumbered(u, nc, &b);
    PetscCall(HopsNumberingAllocate(HopsSpaceMeshBackend(sp), &b));
    PetscCall(HopsSectionNumber(sp, &b, &p, first));
    PetscCall(HopsPlexRestrict(sp, &b, view));
    PetscCall(HopsNumberingFree(HopsSpaceMeshBackend(sp), &b));
    PetscCall(HopsSpaceSetUpEntries(sp));
  }
  PetscCall(PetscFree4(p.ess, p.foreign, p.index, p.given));
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
  b.point = sp->cells->upoint ? sp->cells->upoint : sp->cells->point;
  b.ornt  = sp->cells->uornt ? sp->cells->uornt : sp->cells->ornt;
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
