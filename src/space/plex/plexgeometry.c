/* Cells and element maps of a DMPlex: nodal coordinates at GLL points, whatever the coordinate field's own
   nodes are. */
#include <hops/private/hopspleximpl.h>

/* DMPlex's order of a cell's vertices as reference corners, for coordinates without a discretisation */
static const PetscInt HopsPlexVertex2[4] = {0, 1, 3, 2};
static const PetscInt HopsPlexVertex3[8] = {0, 2, 3, 1, 4, 5, 7, 6};

/*
  T[i][a*dimE+d]: value at E-vector node i of the map's d-th component for the a-th... coefficient of a
  coordinate closure. The coordinate field may have any nodes (Gmsh's are equispaced); a tabulation at the GLL
  points makes them ours.
*/
static PetscErrorCode HopsPlexTabulateCoordinates(DM cdm, HopsSpace sp, PetscInt nclosure, PetscReal *T[])
{
  const PetscInt dim  = sp->dim;
  PetscObject    disc = NULL;
  PetscClassId   id   = 0;
  PetscInt       P, np, nf;
  PetscReal     *gll, *w, *x;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(cdm, &nf));
  if (nf) {
    PetscCall(DMGetField(cdm, 0, NULL, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
  }
  P = HopsRoot(nclosure / dim, dim);
  PetscCheck(P >= 2 && HopsPower(P, dim) * dim == nclosure, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The coordinates of a cell have %" PetscInt_FMT " values, not those of a tensor-product map: use a coordinate field "
             "of tensor-product polynomials (-dm_coord_petscspace_degree)",
             nclosure);
  PetscCheck(id == PETSCFE_CLASSID || P == 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "High-order coordinates need a PetscFE on the coordinate DM: set one by DMProjectCoordinates() "
             "(-dm_coord_petscspace_degree)");
  np         = HopsPower(P, dim);
  sp->gorder = P - 1;
  PetscCall(PetscCalloc1(np * dim * nclosure, T)); /* [np][dim][nclosure] */
  if (id != PETSCFE_CLASSID) {
    const PetscInt *v = dim == 2 ? HopsPlexVertex2 : HopsPlexVertex3;

    for (PetscInt a = 0; a < np; ++a)
      for (PetscInt d = 0; d < dim; ++d) (*T)[(v[a] * dim + d) * nclosure + a * dim + d] = 1.0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(P, &gll, P, &w, np * dim, &x));
  PetscCall(HopsGLL(P, gll, w));
  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt d = 0, k = i; d < dim; ++d, k /= P) x[i * dim + d] = gll[k % P];
  {
    PetscTabulation tab;
    PetscInt        nb, nc;

    PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, np, x, 0, &tab));
    nb = tab->Nb;
    nc = tab->Nc;
    PetscCheck(nb == nclosure && nc == dim, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The coordinate field has %" PetscInt_FMT " basis functions of %" PetscInt_FMT
               " components where a cell has %" PetscInt_FMT " coordinates",
               nb, nc, nclosure);
    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt b = 0; b < nb; ++b)
        for (PetscInt d = 0; d < nc; ++d) (*T)[(i * dim + d) * nclosure + b] = tab->T[0][(i * nb + b) * nc + d];
    PetscCall(PetscTabulationDestroy(&tab));
  }
  PetscCall(PetscFree3(gll, w, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X[dim][np] of one cell: its closure of coordinates, tabulated */
static void HopsPlexMapCell(PetscInt dim, PetscInt n, const PetscReal T[], const PetscReal coords[], PetscReal X[])
{
  const PetscInt np = n / dim;

  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal *t = T + (i * dim + d) * n;
      PetscReal        s = 0.0;

      for (PetscInt b = 0; b < n; ++b) s += t[b] * PetscRealPart(coords[b]);
      X[d * np + i] = s;
    }
}

/*
  The localised coordinates of a periodic mesh have the order of the continuous coordinate field if PETSc made
  them, and that of a discontinuous one if a mesh file did: in the wrong order the cell is inverted at its
  centre.
*/
static PetscErrorCode HopsPlexChooseCoordinateDM(DM dm, HopsSpace sp, PetscInt n, const PetscReal coords[], DM *cdm)
{
  const PetscReal centre = 0.0;
  const PetscInt  dim    = sp->dim;
  PetscReal      *T, *X, *keep = sp->X, J[9], Ji[9];
  HopsBasis       geom;

  PetscFunctionBegin;
  PetscCall(HopsPlexTabulateCoordinates(*cdm, sp, n, &T));
  PetscCall(PetscMalloc1(n, &X));
  HopsPlexMapCell(dim, n, T, coords, X);
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 1, &centre, &geom));
  sp->X = X;
  PetscCall(HopsSpaceGetPoints(sp, &geom, 0, 1, NULL, J));
  sp->X = keep;
  if (!(HopsInverse(dim, J, Ji) > 0)) PetscCall(DMGetCellCoordinateDM(dm, cdm));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree(X));
  PetscCall(PetscFree(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement copies the discretisation of the coordinates, and fills in vertices alone: cells have too few
   coordinates for it */
static PetscErrorCode HopsPlexCoordinatesDropped(DM dm, HopsSpace sp, PetscBool *dropped)
{
  DM           cdm;
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nf, nb;

  PetscFunctionBegin;
  *dropped = PETSC_FALSE;
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(DMGetNumFields(cdm, &nf));
  if (nf && sp->ncells) {
    PetscCall(DMGetField(cdm, 0, NULL, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
    if (id == PETSCFE_CLASSID) {
      const PetscScalar *array;
      PetscScalar       *coords = NULL;
      PetscBool          isDG;
      PetscInt           n;

      PetscCall(PetscFEGetDimension((PetscFE)disc, &nb));
      PetscCall(DMPlexGetCellCoordinates(dm, sp->cell[0], &isDG, &n, &array, &coords));
      *dropped = !isDG && n < nb && n == sp->dim * HopsPower(2, sp->dim) ? PETSC_TRUE : PETSC_FALSE;
      PetscCall(DMPlexRestoreCellCoordinates(dm, sp->cell[0], &isDG, &n, &array, &coords));
    }
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, dropped, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The map from a cell's coordinates in the DM's order to those at GLL nodes */
typedef struct {
  PetscInt   n;     /* coordinates of a cell; 0 before the first cell of the kind */
  PetscReal *T;     /* [n][n] values at GLL nodes of each function; where these are the functions themselves */
  PetscInt  *place; /* [n] place of each coordinate, else NULL */
} HopsCoordinateMap;

static PetscErrorCode HopsCoordinateMapCreate(DM cdm, HopsSpace sp, PetscInt n, HopsCoordinateMap *map)
{
  PetscBool permutation = PETSC_TRUE;

  PetscFunctionBegin;
  map->n = n;
  PetscCall(HopsPlexTabulateCoordinates(cdm, sp, n, &map->T));
  PetscCall(PetscMalloc1(n, &map->place));
  for (PetscInt b = 0; b < n; ++b) map->place[b] = -1;
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt b = 0; b < n; ++b) {
      const PetscReal t = map->T[i * n + b];

      if (PetscAbsReal(t) < 1e-13) continue;
      if (PetscAbsReal(t - 1.0) > 1e-13 || map->place[b] >= 0) permutation = PETSC_FALSE;
      map->place[b] = (i % sp->dim) * (n / sp->dim) + i / sp->dim;
    }
  for (PetscInt b = 0; b < n; ++b)
    if (map->place[b] < 0) permutation = PETSC_FALSE;
  if (!permutation) PetscCall(PetscFree(map->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X[] of all cells: from the coordinates of the mesh's points or, in a periodic mesh, from those of the cells
   that have their own */
static PetscErrorCode HopsPlexGetMaps(DM dm, HopsSpace sp)
{
  DM                cdm;
  Vec               v[2];
  PetscSection      s, own;
  const PetscReal  *a[2] = {NULL, NULL};
  PetscReal        *x;
  PetscInt          first = 0, last = 0, nx = 0, *idx;
  HopsPlexUnknowns  u;
  HopsCoordinateMap maps[2] = {{0}};

  PetscFunctionBegin;
  sp->gorder = 1;
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocalNoncollective(dm, &v[0]));
  PetscCall(DMGetCellCoordinateSection(dm, &own));
  PetscCall(DMGetCellCoordinatesLocalNoncollective(dm, &v[1]));
  if (own && v[1]) PetscCall(PetscSectionGetChart(own, &first, &last));
  for (PetscInt k = 0; k < 2; ++k)
    if (v[k]) PetscCall(HopsHostVecGetPartRead(v[k], 0, &a[k]));
  PetscCall(HopsPlexUnknownsCreate(cdm, s, sp->cells, PETSC_TRUE, &u));
  PetscCall(PetscMalloc2(u.size, &idx, u.size, &x));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt     cell   = sp->cell[c];
    const PetscReal   *coords = x;
    PetscInt           n = 0, off, k = 1;
    HopsCoordinateMap *map;

    if (cell >= first && cell < last) PetscCall(PetscSectionGetDof(own, cell, &n));
    if (n) {
      PetscCall(PetscSectionGetOffset(own, cell, &off));
      coords = a[1] + off;
    } else {
      k = 0;
      PetscCall(HopsPlexUnknownsGet(&u, sp->cells->where[cell - sp->cstart], idx, &n));
      for (PetscInt i = 0; i < n && n == u.size; ++i) x[i] = a[0][idx[i]];
    }
    PetscCheck((!nx || n == nx) && (k || n == u.size), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Cell %" PetscInt_FMT " has %" PetscInt_FMT " coordinates where others have %" PetscInt_FMT
               ": the order of the element maps must not vary",
               cell, n, nx ? nx : u.size);
    map = &maps[k];
    if (!map->n) {
      DM from = cdm;

      if (k) PetscCall(HopsPlexChooseCoordinateDM(dm, sp, n, coords, &from));
      PetscCall(HopsCoordinateMapCreate(from, sp, n, map));
    }
    if (!nx) {
      PetscInt size;

      nx = n;
      PetscCall(HopsCount("coordinates of the cells", sp->ncells, nx, 1, &size));
      PetscCall(PetscMalloc1(size, &sp->X));
    }
    if (!map->place) HopsPlexMapCell(sp->dim, n, map->T, coords, sp->X + c * n);
    else
      for (PetscInt i = 0; i < n; ++i) sp->X[c * n + map->place[i]] = PetscRealPart(coords[i]);
  }
  PetscCall(PetscFree2(idx, x));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  for (PetscInt k = 0; k < 2; ++k) {
    if (v[k]) PetscCall(HopsHostVecRestorePartRead(v[k], 0, &a[k]));
    PetscCall(PetscFree(maps[k].T));
    PetscCall(PetscFree(maps[k].place));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Coordinates of a mesh's own that cells have, as those of a periodic mesh have ---- */

typedef struct {
  PetscInt          n;    /* cells that have them, of which each has map.n */
  PetscInt          size; /* of the array x */
  int              *off;  /* [ncells] where those of a cell are, or -1; NULL where none has any */
  HopsCoordinateMap map;
  Vec               v;
  const PetscReal  *x;
} HopsOwnCoordinates;

static PetscErrorCode HopsOwnCoordinatesDestroy(HopsOwnCoordinates *o)
{
  PetscFunctionBegin;
  if (o->x) PetscCall(HopsHostVecRestorePartRead(o->v, 0, &o->x));
  PetscCall(PetscFree(o->map.T));
  PetscCall(PetscFree(o->map.place));
  PetscCall(PetscFree(o->off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the cells' coordinates are: without a call for each cell where they follow each other. fits: all have
   n, or none */
static PetscErrorCode HopsOwnCoordinatesPlaces(HopsSpace sp, PetscSection s, PetscInt n, HopsOwnCoordinates *o, PetscBool *fits)
{
  PetscInt start, end, max, base = 0, last = 0;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(s, &start, &end));
  PetscCall(PetscSectionGetMaxDof(s, &max));
  *fits = max == n ? PETSC_TRUE : PETSC_FALSE;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(sp->ncells, &o->off));
  PetscCall(PetscSectionGetOffset(s, start, &base));
  PetscCall(PetscSectionGetOffset(s, end - 1, &last));
  if (o->size == (end - start) * n && last - base == (end - 1 - start) * n) { /* none has more */
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      const PetscInt cell = sp->cell[c];

      o->off[c] = (int)(cell >= start && cell < end ? base + (cell - start) * n : -1);
      o->n += o->off[c] >= 0;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < sp->ncells && *fits; ++c) {
    PetscInt m = 0, off = -1;

    if (sp->cell[c] >= start && sp->cell[c] < end) PetscCall(PetscSectionGetDof(s, sp->cell[c], &m));
    if (m) PetscCall(PetscSectionGetOffset(s, sp->cell[c], &off));
    o->off[c] = (int)off;
    o->n += m > 0;
    if (m && m != n) *fits = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fits: no cell has coordinates of its own, or some have n each: those at GLL nodes in some order */
static PetscErrorCode HopsOwnCoordinatesCreate(DM dm, HopsSpace sp, PetscInt n, HopsOwnCoordinates *o, PetscBool *fits)
{
  DM           cdm;
  PetscSection s;
  PetscInt     first = 0;

  PetscFunctionBegin;
  *fits = PETSC_TRUE;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(DMGetCellCoordinateSection(dm, &s));
  PetscCall(DMGetCellCoordinatesLocalNoncollective(dm, &o->v));
  if (s && o->v) PetscCall(VecGetLocalSize(o->v, &o->size));
  if (!o->size) PetscFunctionReturn(PETSC_SUCCESS);
  *fits = (PetscInt64)o->size < PETSC_MPI_INT_MAX ? PETSC_TRUE : PETSC_FALSE;
  if (*fits) PetscCall(HopsOwnCoordinatesPlaces(sp, s, n, o, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (!o->n) { /* they are other cells' */
    PetscCall(PetscFree(o->off));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsHostVecGetPartRead(o->v, 0, &o->x));
  while (o->off[first] < 0) ++first;
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(HopsPlexChooseCoordinateDM(dm, sp, n, o->x + o->off[first], &cdm));
  PetscCall(HopsCoordinateMapCreate(cdm, sp, n, &o->map));
  if (!o->map.place) *fits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What Corners() takes of them */
static void HopsOwnCoordinatesCorners(const HopsOwnCoordinates *o, HopsCorners *m)
{
  m->own      = o->off;
  m->nown     = o->off ? o->size : 0;
  m->xown     = o->off ? o->x : NULL;
  m->placeown = o->map.place;
}

/*
  Straight maps of cells whose coordinates are those of their vertices, in the order of these, or their own:
  from closures, where they are. Not done where the mesh has other coordinates
*/
static PetscErrorCode HopsPlexGetCorners(DM dm, HopsSpace sp, PetscBool *done)
{
  const HopsBackendOps *be    = HopsSpaceMeshBackend(sp);
  const PetscBool       apart = sp->cells->backend == be ? PETSC_TRUE : PETSC_FALSE; /* closures are there */
  HopsCoordinateMap     map   = {0};
  HopsOwnCoordinates    own;
  HopsCorners           m;
  DM                    cdm;
  Vec                   v;
  PetscSection          s;
  IS                    order;
  PetscInt              vEnd, start, end, max, last, n = 0;
  int                  *old;
  const PetscReal      *x;
  PetscBool             fits;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!sp->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocalNoncollective(dm, &v));
  m.dim = sp->dim;
  m.n   = sp->dim * HopsPower(2, sp->dim);
  PetscCall(DMPlexGetDepthStratum(dm, 0, &m.vStart, &vEnd));
  PetscCall(PetscSectionGetChart(s, &start, &end));
  PetscCall(PetscSectionGetMaxDof(s, &max));
  PetscCall(PetscSectionGetPermutation(s, &order));
  if (order || max != sp->dim || start > m.vStart || end < vEnd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSectionGetOffset(s, m.vStart, &m.base));
  PetscCall(PetscSectionGetOffset(s, vEnd - 1, &last));
  if (last - m.base != (vEnd - 1 - m.vStart) * sp->dim) PetscFunctionReturn(PETSC_SUCCESS); /* none has more than dim */
  PetscCall(PetscSectionGetStorageSize(s, &n));
  if (n != (vEnd - m.vStart) * sp->dim) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsOwnCoordinatesCreate(dm, sp, m.n, &own, &fits));
  if (fits) PetscCall(HopsCoordinateMapCreate(cdm, sp, m.n, &map));
  if (map.place) {
    PetscCall(PetscArraycpy(m.place, map.place, m.n));
    HopsOwnCoordinatesCorners(&own, &m);
    PetscCall(PetscMalloc1(sp->ncells, &old));
    for (PetscInt c = 0; c < sp->ncells; ++c) old[c] = (int)sp->cells->where[sp->cell[c] - sp->cstart];
    PetscCall(HopsHostVecGetPartRead(v, 0, &x));
    m.x = x;
    if (apart) {
      PetscCall((*be->memory->Malloc)((size_t)sp->ncells * m.n * sizeof(PetscReal), (void **)&sp->bX));
      PetscCall((*be->mesh->Corners)(&m, n, sp->ncells, sp->cells->bpoint, old, sp->bX));
    } else {
      PetscCall(HopsPlexCellsBring(sp->cells));
      PetscCall(PetscMalloc1((size_t)sp->ncells * m.n, &sp->X));
      PetscCall((*HopsMeshHost.Corners)(&m, n, sp->ncells, sp->cells->point, old, sp->X));
    }
    PetscCall(HopsHostVecRestorePartRead(v, 0, &x));
    PetscCall(PetscFree(old));
    *done = PETSC_TRUE;
  }
  PetscCall(HopsOwnCoordinatesDestroy(&own));
  PetscCall(PetscFree(map.T));
  PetscCall(PetscFree(map.place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of places in the local coordinates become X[], where the space works if that has the passes */
static PetscErrorCode HopsPlexTakeCoordinates(HopsSpace sp, const HopsPlexUnknowns *u, const HopsCoordinateMap *map, Vec x)
{
  const PetscBool       apart = HopsMeshApart(HopsSpaceMeshBackend(sp));
  const HopsBackendOps *at    = apart ? sp->backend : &HopsBackendHost;
  const PetscReal      *a;
  PetscInt              size, nx;
  HopsCellView          view;
  void                 *ax;
  int                  *old, *rows;

  PetscFunctionBegin;
  PetscCall(HopsCount("coordinates of the cells", sp->ncells, map->n, 1, &size));
  PetscCall(PetscMalloc1(sp->ncells, &old));
  for (PetscInt c = 0; c < sp->ncells; ++c) old[c] = (int)sp->cells->where[sp->cell[c] - sp->cstart];
  PetscCall(HopsPlexUnknownsView(u, 1, map->n, map->place, &view));
  PetscCall(HopsPlexUnknownsRows(u, at, u->off, &view, sp->ncells, old, &rows));
  PetscCall(VecGetLocalSize(x, &nx));
  PetscCall(HopsHostVecGetPartRead(x, 0, &a));
  if (apart) {
    PetscCall((*at->memory->PoolMalloc)(nx * sizeof(PetscReal), &ax));
    PetscCall((*at->memory->Copy)(NULL, ax, a, nx * sizeof(PetscReal), HOPS_COPY_IN));
    PetscCall((*at->memory->Malloc)(size * sizeof(PetscReal), (void **)&sp->bX));
    PetscCall((*at->vector->Pack)(NULL, PETSC_DOUBLE, size, (const PetscInt *)rows, ax, sp->bX));
    PetscCall((*at->memory->PoolFree)(&ax));
  } else {
    PetscCall(PetscMalloc1(size, &sp->X));
    for (PetscInt i = 0; i < size; ++i) sp->X[i] = PetscRealPart(a[rows[i]]);
  }
  PetscCall(HopsHostVecRestorePartRead(x, 0, &a));
  PetscCall((*at->memory->Free)((void **)&rows));
  PetscCall(PetscFree(view.slot));
  PetscCall(PetscFree(view.seen));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Own coordinates take the place of those in X[] */
static PetscErrorCode HopsPlexTakeOwnCoordinates(HopsSpace sp, const HopsOwnCoordinates *own)
{
  const PetscBool    apart = HopsMeshApart(HopsSpaceMeshBackend(sp));
  const HopsMeshOps *mesh  = apart ? sp->backend->mesh : &HopsMeshHost;
  HopsCorners        m     = {.dim = sp->dim, .n = own->map.n};
  int               *zero;

  PetscFunctionBegin;
  if (!own->n) PetscFunctionReturn(PETSC_SUCCESS);
  HopsOwnCoordinatesCorners(own, &m);
  PetscCall(PetscCalloc1(sp->ncells, &zero)); /* closures that no cell reads */
  PetscCall((*mesh->Corners)(&m, 0, sp->ncells, NULL, zero, apart ? sp->bX : sp->X));
  PetscCall(PetscFree(zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Maps of any order by the passes over all cells, where the mesh's coordinates are those at GLL nodes.
   Not done where cells differ */
static PetscErrorCode HopsPlexGetCurved(DM dm, HopsSpace sp, PetscBool *done)
{
  HopsCoordinateMap  map = {0};
  HopsOwnCoordinates own;
  HopsPlexUnknowns   u;
  DM                 cdm;
  Vec                x;
  PetscSection       s;
  PetscBool          fits;
  PetscInt           nx, ns;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (sizeof(PetscInt) != sizeof(int) && HopsMeshApart(HopsSpaceMeshBackend(sp)))
    PetscFunctionReturn(PETSC_SUCCESS); /* Pack()'s indices */
  if (!sp->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocalNoncollective(dm, &x));
  PetscCall(VecGetLocalSize(x, &nx));
  PetscCall(PetscSectionGetStorageSize(s, &ns));
  PetscCheck(ns <= nx, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "The section of the mesh's coordinates wants %" PetscInt_FMT " numbers, and its local vector has %" PetscInt_FMT
             ": cells with coordinates of their own need another DM for these (DMSetCellCoordinateDM()) than vertices",
             ns, nx);
  PetscCall(HopsPlexUnknownsCreate(cdm, s, sp->cells, PETSC_TRUE, &u));
  if (HopsPlexUnknownsDiffer(&u) < 0) {
    PetscCall(HopsOwnCoordinatesCreate(dm, sp, u.size, &own, &fits));
    if (fits) PetscCall(HopsCoordinateMapCreate(cdm, sp, u.size, &map));
    if (map.place) {
      PetscCall(HopsPlexUnknownsSetUp(&u, map.n, "the first one"));
      PetscCall(HopsPlexTakeCoordinates(sp, &u, &map, x));
      PetscCall(HopsPlexTakeOwnCoordinates(sp, &own));
      *done = PETSC_TRUE;
    }
    PetscCall(HopsOwnCoordinatesDestroy(&own));
    PetscCall(PetscFree(map.T));
    PetscCall(PetscFree(map.place));
  }
  PetscCall(HopsPlexUnknownsDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 HopsHashBits(size_t size, const void *p, PetscInt64 h)
{
  const unsigned char *c = (const unsigned char *)p;
  unsigned long long   v = (unsigned long long)h, word;

  for (; size; c += sizeof(word)) { /* words, the last one with zeros, by the multiplication of FNV-1a and a turn */
    const size_t n = PetscMin(size, sizeof(word));

    word = 0;
    memcpy(&word, c, n);
    v = (v ^ word) * 1099511628211ull;
    v = v << 29 | v >> 35;
    size -= n;
  }
  return (PetscInt64)v;
}

PetscErrorCode HopsVecChanged(Vec x, HopsVecKey *key, PetscBool *changed)
{
  HopsVecKey         now = {0, 0, 0};
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBegin;
  if (x) PetscCall(PetscObjectGetId((PetscObject)x, &now.id));
  if (x) PetscCall(PetscObjectStateGet((PetscObject)x, &now.state));
  *changed = now.id != key->id || now.state != key->state ? PETSC_TRUE : PETSC_FALSE;
  if (*changed && x) {
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArrayRead(x, &a));
    now.hash = HopsHashBits(n * sizeof(PetscScalar), a, 0);
    PetscCall(VecRestoreArrayRead(x, &a));
    if (now.id == key->id && now.hash == key->hash) *changed = PETSC_FALSE;
    *key = now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCoordinatesChanged(DM dm, HopsVecKey *key, PetscBool *changed)
{
  Vec x;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  PetscCall(HopsVecChanged(x, key, changed));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, changed, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexGetGeometry(DM dm, HopsSpace sp)
{
  PetscInt  cdim;
  PetscBool dropped, some, done;
  Vec       x;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(dm, &cdim));
  PetscCheck(cdim == sp->dim, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The mesh has dimension %" PetscInt_FMT " in a space of dimension %" PetscInt_FMT ": hops has no surface meshes",
             sp->dim, cdim);
  PetscCall(DMGetCoordinatesLocalSetUp(dm));
  PetscCall(DMGetCellCoordinatesLocalSetUp(dm));
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  some = x ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscCheck(some, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The mesh has no coordinates: set them (DMSetCoordinatesLocal(), or a creator that takes vertices, such as "
             "DMPlexCreateFromCellListPetsc())");
  PetscCall(HopsPlexCoordinatesDropped(dm, sp, &dropped));
  if (dropped) {
    PetscCall(HopsPlexRefineGeometry(dm, sp));
    PetscCall(HopsSpaceFinishTree(sp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPlexGetCorners(dm, sp, &done));
  if (!done) PetscCall(HopsPlexGetCurved(dm, sp, &done));
  if (!done) PetscCall(HopsPlexGetMaps(dm, sp));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &sp->gorder, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)dm)));
  PetscCall(HopsSpaceFinishTree(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexGetCellCorners(DM dm, HopsPlexCells cells, PetscReal corner[])
{
  const PetscInt     dim = cells->dim, n = cells->ref.n, nv = 1 << dim, *v = dim == 2 ? HopsPlexVertex2 : HopsPlexVertex3;
  Vec                vec[2];
  PetscSection       s, own;
  const PetscScalar *x[2]  = {NULL, NULL};
  PetscInt           first = 0, last = 0;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(cells));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocal(dm, &vec[0]));
  PetscCall(DMGetCellCoordinateSection(dm, &own));
  PetscCall(DMGetCellCoordinatesLocal(dm, &vec[1]));
  if (own && vec[1]) PetscCall(PetscSectionGetChart(own, &first, &last));
  for (PetscInt k = 0; k < 2; ++k)
    if (vec[k]) PetscCall(VecGetArrayRead(vec[k], &x[k]));
  for (PetscInt c = 0; c < cells->ncells; ++c) {
    const PetscInt cell = cells->cell[c];
    PetscReal     *to   = corner + (cell - cells->cstart) * nv * dim;
    PetscInt       off, nown = 0;

    if (cell >= first && cell < last) PetscCall(PetscSectionGetDof(own, cell, &nown));
    if (nown) PetscCall(PetscSectionGetOffset(own, cell, &off));
    PetscCheck(!nown || nown == nv * dim, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " is curved", cell);
    for (PetscInt i = 0; i < nown; ++i) to[v[i / dim] * dim + i % dim] = PetscRealPart(x[1][off + i]);
    for (PetscInt i = 0; i < n && !nown; ++i) {
      PetscInt k = 0;

      if (cells->ref.depth[i]) continue;
      for (PetscInt d = 0; d < dim; ++d) k |= cells->ref.corner[i][0][d] << d;
      PetscCall(PetscSectionGetOffset(s, cells->point[c * n + i], &off));
      for (PetscInt d = 0; d < dim; ++d) to[k * dim + d] = PetscRealPart(x[0][off + d]);
    }
  }
  for (PetscInt k = 0; k < 2; ++k)
    if (vec[k]) PetscCall(VecRestoreArrayRead(vec[k], &x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
