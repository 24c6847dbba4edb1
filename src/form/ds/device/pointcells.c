/* Cells with the fields of a DM where a back end works: where their unknowns lie in local vectors,
   coordinates, regions. */
#include <hops/private/hopspointcellsimpl.h>
#include <hops/private/hopspleximpl.h>
#include <petscdmplex.h>

static PetscErrorCode HopsPointUpload(HopsPointCells pc, size_t n, const void *from, void *to)
{
  const HopsMemoryOps *memory = pc->be->memory;

  PetscFunctionBegin;
  PetscCall((*memory->Malloc)(n, (void **)to));
  PetscCall((*memory->Copy)(NULL, *(void **)to, from, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows[nrows][ne] of the cells perm[nrows], NULL: of all of the caller's, where the back end works: places in
   a local vector of the DM. entry[n] as for HopsPlexUnknownsView(); where node[n] is not NULL unknown i must
   follow unknown node[i] by i - node[i] places */
static PetscErrorCode HopsPointRows(DM dm, PetscSection section, HopsPointCells pc, PetscInt n, PetscInt ne, const PetscInt entry[],
                                    const PetscInt node[], PetscInt nrows, const int perm[], int **rows)
{
  HopsPlexCells    cells = pc->space->cells;
  HopsPlexUnknowns u;
  HopsCellView     view;
  int             *where = NULL;

  PetscFunctionBegin;
  PetscCall(HopsPlexUnknownsCreate(dm, section, cells, PETSC_FALSE, &u));
  PetscCall(HopsPlexUnknownsSetUp(&u, n, "the form"));
  for (PetscInt k = 0; k < u.nlist; ++k)
    for (PetscInt o = 0; o < 8; ++o)
      for (PetscInt t = 0; t < u.dof[k] && u.known[k][o] && node; ++t) {
        const PetscInt *place = u.place + (k * 8 + o) * u.maxdof, first = node[place[t]], d = place[t] - first;

        PetscCheck(t >= d && place[t - d] == first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The components of a node lie apart");
      }
  PetscCall(HopsPlexUnknownsView(&u, 1, ne, entry, &view));
  if (!perm && cells->ncells < cells->ncaller) {
    PetscCall(PetscMalloc1(cells->ncaller, &where));
    for (PetscInt c = 0; c < cells->ncaller; ++c) where[c] = (int)cells->where[c];
  }
  PetscCall(HopsPlexUnknownsRows(&u, pc->be, u.off, &view, perm ? nrows : cells->ncaller, perm ? perm : where, rows));
  PetscCall(PetscFree(where));
  PetscCall(PetscFree(view.slot));
  PetscCall(PetscFree(view.seen));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* idx[caller's cell][n], on the host, of a DM whose cells have other numbers. A vector of the places has them
   for values */
static PetscErrorCode HopsPointClosuresOf(DM dm, PetscSection section, HopsPointCells pc, PetscInt n, int idx[])
{
  HopsSpace    sp = pc->space;
  Vec          v;
  PetscScalar *a;
  PetscInt     nlocal;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetStorageSize(section, &nlocal));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, nlocal, &v));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = 0; i < nlocal; ++i) a[i] = (PetscScalar)i;
  PetscCall(VecRestoreArrayWrite(v, &a));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt     cell, m;
    PetscScalar *closure = NULL;

    PetscCall(DMGetEnclosurePoint(dm, pc->dm, pc->aux.enclosure, sp->cell[c], &cell));
    PetscCall(DMPlexVecGetClosure(dm, section, v, cell, &m, &closure));
    PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns in its closure, not %" PetscInt_FMT, cell, m, n);
    for (PetscInt i = 0; i < n; ++i) idx[(size_t)(sp->cell[c] - sp->cstart) * n + i] = (int)PetscRealPart(closure[i]);
    PetscCall(DMPlexVecRestoreClosure(dm, section, v, cell, &m, &closure));
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entries of the residuals of cells or faces go to an entry of a local vector, in their order */
PetscErrorCode HopsPointCellsTranspose(HopsPointCells pc, HopsPointFaces faces)
{
  const HopsMemoryOps *memory = pc->be->memory;
  HopsFields           F      = pc->fields;
  HopsSpace            sp     = pc->space;
  const PetscInt       nrows  = faces ? faces->n : sp->ncells;
  const size_t         n      = (size_t)nrows * F->nclosure;
  int                **start = faces ? &faces->start : &pc->start, **entry = faces ? &faces->entry : &pc->entry;
  PetscInt            *place, base                                         = 0;
  int                 *perm, *key;

  PetscFunctionBegin;
  if (*start) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(F->nclosure, &place));
  PetscCall(PetscMalloc1(nrows + 1, &perm)); /* not NULL where there are none */
  for (PetscInt f = 0; f < F->nf; ++f) {
    const PetscInt np = HopsPower(F->P[f], F->dim), nc = F->nc[f];

    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt g = 0; g < nc; ++g) place[base + i * nc + g] = base + g * np + F->node[f][i];
    base += np * nc;
  }
  for (PetscInt i = 0; i < nrows; ++i) perm[i] = (int)sp->cells->where[sp->cell[faces ? faces->hostcell[i] : i] - sp->cstart];
  PetscCall(HopsPointRows(pc->dm, pc->section, pc, F->nclosure, F->nclosure, place, NULL, nrows, perm, &key));
  PetscCall((*memory->Malloc)((pc->nlocal + 1) * sizeof(int), (void **)start));
  PetscCall((*memory->Malloc)(n * sizeof(int), (void **)entry));
  PetscCall((*pc->be->mesh->Transpose)(n, key, (int)pc->nlocal, *start, *entry));
  PetscCall((*memory->Free)((void **)&key));
  PetscCall(PetscFree(place));
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointMapDestroy(HopsPointMap *out)
{
  HopsPointMap m = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!m || --m->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*m->be->memory->Free)((void **)&m->restr));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointMapFree(HopsContainerCtx ctx)
{
  HopsPointMap m = (HopsPointMap)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(HopsPointMapDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The DM keeps its last map: residual, operator and preconditioner take the same one */
static PetscErrorCode HopsPointMapFind(HopsPointCells pc, PetscBool *found)
{
  PetscContainer c;
  PetscObjectId  id;
  HopsPointMap   m;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PetscCall(PetscObjectGetId((PetscObject)pc->section, &id));
  PetscCall(PetscObjectQuery((PetscObject)pc->dm, "HopsPointMap", (PetscObject *)&c));
  if (c) {
    PetscCall(PetscContainerGetPointer(c, (void **)&m));
    if (m->be == pc->be && m->section == id && m->ncells == pc->space->ncells && m->nr == pc->nr) {
      ++m->refct;
      pc->map = m;
      *found  = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PetscNew(&m));
  *m      = (struct _HopsPointMap){.refct = 2, .be = pc->be, .section = id, .ncells = pc->space->ncells, .nr = pc->nr};
  pc->map = m;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, m));
  PetscCall(HopsContainerSetDestroy(c, HopsPointMapFree));
  PetscCall(PetscObjectCompose((PetscObject)pc->dm, "HopsPointMap", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the first component of each node lies; the others follow it */
static PetscErrorCode HopsPointRestriction(HopsPointCells pc)
{
  HopsFields F = pc->fields;
  PetscInt  *place, *node, base = 0, row = 0;
  PetscBool  found;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < F->nf; ++f) pc->nr += HopsPower(F->P[f], F->dim);
  PetscCall(HopsPointMapFind(pc, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(F->nclosure, &place, F->nclosure, &node));
  for (PetscInt f = 0; f < F->nf; ++f) {
    const PetscInt np = HopsPower(F->P[f], F->dim), nc = F->nc[f];

    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt g = 0; g < nc; ++g) {
        place[base + i * nc + g] = g ? -1 : row + F->node[f][i];
        node[base + i * nc + g]  = base + i * nc;
      }
    base += np * nc;
    row += np;
  }
  PetscCall(HopsPointRows(pc->dm, pc->section, pc, F->nclosure, pc->nr, place, node, 0, NULL, &pc->map->restr));
  PetscCall(PetscFree2(place, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One vector of auxiliary fields for all regions, or none: else *ok is false */
static PetscErrorCode HopsPointAux(HopsPointCells pc, PetscBool *ok)
{
  HopsSpace       sp        = pc->space;
  const PetscReal origin[3] = {0.0, 0.0, 0.0};
  PetscInt        nds, nf;
  PetscSection    section;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(pc->dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion r;
    Vec        v;

    PetscCall(HopsRegionGet(pc->dm, s, PETSC_FALSE, &r));
    PetscCall(DMGetAuxiliaryVec(pc->dm, r.label, r.value, 0, &v));
    if (s && v != pc->aux.v) *ok = PETSC_FALSE;
    else if (!s && sp->ncells) PetscCall(HopsAuxCreate(pc->dm, r.label, r.value, sp->cell[0], 1, origin, &pc->aux));
  }
  if (!pc->aux.v || !*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetNumDS(pc->aux.dm, &nds));
  if (nds != 1) *ok = PETSC_FALSE;
  for (PetscInt f = 0; f < pc->aux.nf; ++f) {
    PetscObject disc;

    PetscCall(PetscDSGetDiscretization(pc->aux.ds, f, &disc));
    PetscCall(PetscFEGetDimension((PetscFE)disc, &nf));
    pc->nar += nf;
  }
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetLocalSection(pc->aux.dm, &section));
  if (pc->aux.enclosure == DM_ENC_EQUALITY) {
    PetscInt *place;

    PetscCall(PetscMalloc1(pc->nar, &place));
    for (PetscInt i = 0; i < pc->nar; ++i) place[i] = i;
    PetscCall(HopsPointRows(pc->aux.dm, section, pc, pc->nar, pc->nar, place, NULL, 0, NULL, &pc->auxrestr));
    PetscCall(PetscFree(place));
  } else {
    int *restr;

    PetscCall(PetscCalloc1((size_t)sp->ncaller * pc->nar, &restr));
    PetscCall(HopsPointClosuresOf(pc->aux.dm, section, pc, pc->nar, restr));
    PetscCall(HopsPointUpload(pc, (size_t)sp->ncaller * pc->nar * sizeof(int), restr, &pc->auxrestr));
    PetscCall(PetscFree(restr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointRegions(HopsPointCells pc)
{
  HopsSpace sp = pc->space;
  int      *row, *region;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sp->ncells, &row, sp->ncaller, &region));
  for (PetscInt c = 0; c < sp->ncaller; ++c) region[c] = -1;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt s;

    row[c] = (int)(sp->cell[c] - sp->cstart);
    PetscCall(HopsRegionOfCell(pc->dm, sp->cell[c], &s));
    region[row[c]] = (int)s;
  }
  PetscCall(HopsPointUpload(pc, sp->ncells * sizeof(int), row, &pc->row));
  PetscCall(HopsPointUpload(pc, sp->ncaller * sizeof(int), region, &pc->region));
  PetscCall(PetscFree2(row, region));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCellsCreate(DM dm, HopsFields fields, HopsSpace sp, HopsPointCells *out)
{
  HopsPointCells  pc;
  PetscBool       ok = PETSC_TRUE, asked;
  HopsPointOrigin from;
  HopsPointGiven *given;
  char            files[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  *out = NULL;
  PetscCall(HopsDMGetOrigin(dm, files, &given, &from, &asked));
  PetscCall(PetscFree(given));
  if (!asked || !sp->backend->points || !sp->backend->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&pc));
  pc->be     = sp->backend;
  pc->fields = fields;
  ++fields->refct;
  pc->dm = dm; /* which may own this */
  PetscCall(HopsSpaceReference(sp));
  pc->space = sp;
  PetscCall(DMGetLocalSection(dm, &pc->section));
  PetscCall(PetscObjectReference((PetscObject)pc->section));
  PetscCall(PetscSectionGetStorageSize(pc->section, &pc->nlocal));
  PetscCall(HopsPointAux(pc, &ok));
  if ((PetscInt64)sp->ncells * fields->nclosure > PETSC_MPI_INT_MAX) ok = PETSC_FALSE;
  if (!ok) {
    PetscCall(
      PetscInfo(dm, "point functions on the host: the regions have different auxiliary fields, or the rank too many cells\n"));
    PetscCall(HopsPointCellsDestroy(&pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPointRestriction(pc));
  PetscCall(HopsPointRegions(pc));
  PetscCall((*pc->be->memory->Malloc)(HOPS_POINT_FLAGS * sizeof(int), (void **)&pc->flags));
  *out = pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCellsDestroy(HopsPointCells *out)
{
  HopsPointCells pc = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!pc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointCellsDestroy(&pc->next));
  PetscCall(HopsPointKernelDestroyAll(pc));
  {
    void **memory[] = {(void **)&pc->row,       (void **)&pc->auxrestr, (void **)&pc->region, (void **)&pc->start,
                       (void **)&pc->entry,     (void **)&pc->flags,    (void **)&pc->out,    (void **)&pc->auxvalues,
                       (void **)&pc->constants, (void **)&pc->scratch};

    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); ++i) PetscCall((*pc->be->memory->Free)(memory[i]));
  }
  PetscCall(HopsPointMapDestroy(&pc->map));
  PetscCall(PetscFree(pc->hostconst));
  PetscCall(PetscFree(pc->constoff));
  PetscCall(HopsAuxDestroy(&pc->aux));
  PetscCall(PetscSectionDestroy(&pc->section));
  PetscCall(HopsFieldsDestroy(&pc->fields));
  PetscCall(HopsSpaceDestroy(&pc->space));
  PetscCall(PetscFree(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of a form for the cells of a space, made where there are none */
PetscErrorCode HopsJacobianGetPoints(HopsJacobian form, HopsSpace sp, HopsPointCells *out)
{
  HopsPointCells pc = form->points;

  PetscFunctionBegin;
  while (pc && pc->space != sp) pc = pc->next;
  if (!pc) {
    PetscCall(HopsPointCellsCreate(form->dm, form->fields, sp, &pc));
    if (pc) {
      pc->next     = form->points;
      form->points = pc;
    }
  }
  *out = pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}
