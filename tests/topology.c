static char help[] =
  "Closures, element maps and numbering that hops computes in passes over a mesh's arrays, against what PETSc says cell by cell,\n\
on meshes all of whose cells, faces and edges are turned at random.\n\
  -geometry <k> : order of the coordinates (default 1); -overlap <n>; -order <p> of the spaces (default 3)\n\
  -turn 0: cells are not turned, as those of periodic meshes cannot be; -bend: they get curved maps of their own\n\
  -label <name>, -value <v> : essential boundary (default Face Sets, 1; some: every third face)\n\
  -against <back end> : the same spaces set up by it must be the same, entry by entry; apart: as a device does it, in memory of\n\
                        its own and with cells in another order\n\
  -backends <a,b> : those of b against those of a; b's passes serve apart where b works in the process's memory\n\n";

#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsdsimpl.h>
#include "hopstest.h"
#include "samespace.h"
#include "bentcells.h"

static PetscInt bad[7];
enum {
  CLOSURE,
  MAP,
  ESSENTIAL,
  NUMBER,
  SECTION,
  FACES,
  SAME
};

/* Cells by rotations, which keep their maps right-handed; faces and edges by anything */
static PetscErrorCode Turn(DM dm)
{
  PetscRandom r;
  PetscInt    dim, start, end;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &r));
  PetscCall(PetscRandomSetSeed(r, 7));
  PetscCall(PetscRandomSeed(r));
  for (PetscInt d = 1; d <= dim; ++d) {
    const PetscInt n = d == 1 ? 2 : (d == 2 ? 4 : 24);

    PetscCall(DMPlexGetDepthStratum(dm, d, &start, &end));
    for (PetscInt p = start; p < end; ++p) {
      PetscReal x;

      PetscCall(PetscRandomGetValueReal(r, &x));
      if (d == 1) PetscCall(DMPlexOrientPoint(dm, p, x < 0.5 ? 0 : -1));
      else if (d < dim) PetscCall(DMPlexOrientPoint(dm, p, (PetscInt)(x * 2 * n) - n));
      else PetscCall(DMPlexOrientPoint(dm, p, (PetscInt)(x * n)));
    }
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every third face of the boundary: others touch it in edges and vertices, on other ranks too */
static PetscErrorCode Mark(DM dm)
{
  PetscInt start, end, k = 0;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "some"));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &start, &end));
  for (PetscInt f = start; f < end; ++f) {
    PetscInt n;

    PetscCall(DMPlexGetSupportSize(dm, f, &n));
    if (n == 1 && k++ % 3 == 0) PetscCall(DMSetLabelValue(dm, "some", f, 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mesh(DM *dm)
{
  PetscInt  dim, overlap = 0, geometry = 1;
  PetscBool turn = PETSC_TRUE, bend = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-turn", &turn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bend", &bend, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-overlap", &overlap, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-geometry", &geometry, NULL));
  PetscCall(PetscOptionsInsertString(NULL, "-dm_distribute 0"));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, dm));
  PetscCall(DMGetDimension(*dm, &dim));
  if (turn) PetscCall(Turn(*dm));
  PetscCall(Mark(*dm));
  PetscCall(TestDistribute(dm, overlap));
  if (bend) PetscCall(Bend(*dm));
  if (geometry > 1) {
    PetscFE      fe;
    Vec          x;
    PetscScalar *a;
    PetscInt     n;

    PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, dim, PETSC_FALSE, geometry, PETSC_DETERMINE, &fe));
    PetscCall(HopsDMSetCoordinateDisc(*dm, fe));
    PetscCall(PetscFEDestroy(&fe));
    PetscCall(DMGetCoordinatesLocal(*dm, &x));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArray(x, &a));
    for (PetscInt i = 0; i < n; i += dim) {
      PetscReal y[3] = {0.0, 0.0, 0.0};

      for (PetscInt d = 0; d < dim; ++d) y[d] = PetscRealPart(a[i + d]);
      TestCurve(dim, y);
      for (PetscInt d = 0; d < dim; ++d) a[i + d] = y[d];
    }
    PetscCall(VecRestoreArray(x, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckClosures(DM dm, HopsSpace sp)
{
  const HopsPlexCells cells = sp->cells;
  const PetscInt      n     = cells->ref.n;

  PetscFunctionBeginUser;
  PetscCall(HopsPlexCellsBring(cells));
  for (PetscInt c = 0; c < cells->ncells; ++c) {
    PetscInt m, *cl = NULL;

    PetscCall(DMPlexGetTransitiveClosure(dm, cells->cell[c], PETSC_TRUE, &m, &cl));
    if (m != n || cells->where[cells->cell[c] - cells->cstart] != c) ++bad[CLOSURE];
    for (PetscInt i = 0; i < m && m == n; ++i)
      if (cells->point[c * n + i] != cl[2 * i] || cells->ornt[c * n + i] != cl[2 * i + 1]) ++bad[CLOSURE];
    PetscCall(DMPlexRestoreTransitiveClosure(dm, cells->cell[c], PETSC_TRUE, &m, &cl));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* at points of no symmetry */
static PetscErrorCode HaveOwnMaps(DM dm, PetscBool *own)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(DMGetCellCoordinatesLocal(dm, &v));
  *own = v ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of cells with coordinates of their own: the vertices, which come last in a closure */
static PetscErrorCode CheckOwnMaps(DM dm, HopsSpace sp)
{
  const PetscReal ends[2] = {-1.0, 1.0};
  const PetscInt  dim = sp->dim, nv = HopsPower(2, dim);
  HopsBasis       geom;

  PetscFunctionBeginUser;
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 2, ends, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscScalar *array;
    PetscScalar       *y   = NULL;
    PetscBool          own = PETSC_FALSE;
    PetscReal          x[24];
    PetscInt           n;

    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, NULL));
    PetscCall(DMPlexGetCellCoordinates(dm, sp->cell[c], &own, &n, &array, &y));
    for (PetscInt v = 0; v < nv; ++v)
      for (PetscInt d = 0; d < dim; ++d)
        if (!(PetscAbsReal(x[plexcorner[dim - 2][v] * dim + d] - PetscRealPart(y[n - (nv - v) * dim + d])) < 1e-12)) ++bad[MAP];
    PetscCall(DMPlexRestoreCellCoordinates(dm, sp->cell[c], &own, &n, &array, &y));
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMaps(DM dm, HopsSpace sp)
{
  const PetscReal at[2] = {-0.71, 0.37};
  const PetscInt  dim = sp->dim, nq = HopsPower(2, dim);
  HopsBasis       geom;
  PetscBool       own = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(HaveOwnMaps(dm, &own));
  if (own) {
    PetscCall(CheckOwnMaps(dm, sp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 2, at, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscReal xi[24], x[24], y[24];

    for (PetscInt q = 0; q < nq; ++q)
      for (PetscInt d = 0; d < dim; ++d) xi[q * dim + d] = at[(q >> d) & 1];
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, NULL));
    PetscCall(DMPlexReferenceToCoordinates(dm, sp->cell[c], nq, xi, y));
    for (PetscInt i = 0; i < nq * dim; ++i)
      if (!(PetscAbsReal(x[i] - y[i]) < 1e-12)) ++bad[MAP];
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckEssential(DM dm, DMLabel label, PetscInt value)
{
  DMLabel  copy;
  PetscInt pStart, pEnd, *points, n, v, at = 0;

  PetscFunctionBeginUser;
  PetscCall(DMLabelDuplicate(label, &copy));
  PetscCall(DMPlexLabelComplete(dm, copy));
  PetscCall(HopsPlexEssentialPoints(dm, label, 1, &value, &n, &points));
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscBool has;

    PetscCall(DMLabelStratumHasPoint(copy, value, p, &has));
    if (has != (at < n && points[at] == p ? PETSC_TRUE : PETSC_FALSE)) ++bad[ESSENTIAL];
    if (at < n && points[at] == p) ++at;
  }
  if (at != n) ++bad[ESSENTIAL];
  v = n;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &v, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(v, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Nothing is essential");
  PetscCall(PetscFree(points));
  PetscCall(DMLabelDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell's unknowns are those that the global section, made by PETSc, gives to its points */
static PetscErrorCode CheckNumbers(HopsSpace sp)
{
  DM           dm;
  PetscSection s, gs;
  PetscInt    *a, *b;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(HopsSpaceGetDM(sp, &dm));
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(DMGetGlobalSection(dm, &gs));
  PetscCall(PetscMalloc2(sp->ne, &a, sp->ne, &b));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt n, m = 0, *cl = NULL;

    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int l = sp->restr[c * sp->ne + i] < 0 ? -1 - sp->restr[c * sp->ne + i] : sp->restr[c * sp->ne + i];

      a[i] = l < sp->nT ? sp->rstart + l : (l < sp->nT + sp->nG ? sp->ghost[l - sp->nT] : -1);
    }
    PetscCall(DMPlexGetTransitiveClosure(dm, sp->cell[c], PETSC_TRUE, &n, &cl));
    for (PetscInt i = 0; i < n; ++i) {
      PetscInt dof, cdof, off;

      PetscCall(PetscSectionGetDof(s, cl[2 * i], &dof));
      PetscCall(PetscSectionGetConstraintDof(s, cl[2 * i], &cdof));
      PetscCall(PetscSectionGetOffset(gs, cl[2 * i], &off));
      for (PetscInt k = 0; k < dof && m < sp->ne; ++k) b[m++] = cdof ? -1 : (off < 0 ? -1 - off : off) + k;
    }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, sp->cell[c], PETSC_TRUE, &n, &cl));
    PetscCall(PetscSortInt(sp->ne, a));
    PetscCall(PetscSortInt(m, b));
    if (m != sp->ne) ++bad[NUMBER];
    for (PetscInt i = 0; i < m; ++i)
      if (a[i] != b[i]) ++bad[NUMBER];
  }
  PetscCall(PetscFree2(a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space that another back end set up is the same, entry by entry */
static PetscErrorCode CheckSame(HopsSpace a, HopsSpace b)
{
  const PetscInt n = a->ncells == b->ncells ? a->ncells * a->cells->ref.n : 0;
  PetscBool      same[2];

  PetscFunctionBeginUser;
  PetscCall(TestSameSpaces(a, b, &bad[SAME]));
  PetscCall(HopsPlexCellsBring(a->cells));
  PetscCall(HopsPlexCellsBring(b->cells));
  PetscCall(PetscArraycmp(a->cells->point, b->cells->point, n, &same[0]));
  PetscCall(PetscArraycmp(a->cells->ornt, b->cells->ornt, n, &same[1]));
  for (PetscInt i = 0; i < 2; ++i) bad[SAME] += !same[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse maps that back end `name` makes of a straight mesh's refinement are those of the mesh */
static PetscErrorCode CheckCoarse(DM dm, const char name[], HopsSpace sp)
{
  const PetscInt n = sp->dim * HopsPower(2, sp->dim);
  PetscInt      *at;
  PetscBool      own = PETSC_FALSE;
  DM             fine;
  HopsSpace      f, c;

  PetscFunctionBeginUser;
  PetscCall(HaveOwnMaps(dm, &own));
  if (own || sp->gorder > 1 || sp->family != HOPS_H1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(HopsSpaceCreateH1(fine, 2, NULL, 0, NULL, &f));
  PetscCall(HopsSpaceCreateCoarse(f, dm, 1, &c));
  PetscCheck(!strcmp(c->backend->name, name) && c->ncells == sp->ncells, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not the coarse space");
  PetscCall(HopsSpaceBringCoordinates(c));
  PetscCall(HopsSpaceBringCoordinates(sp));
  PetscCall(PetscMalloc1(sp->ncaller, &at));
  for (PetscInt k = 0; k < sp->ncells; ++k) at[sp->cell[k] - sp->cstart] = k;
  for (PetscInt k = 0; k < c->ncells; ++k)
    for (PetscInt i = 0; i < n; ++i)
      if (!(PetscAbsReal(c->X[k * n + i] - sp->X[at[c->cell[k] - sp->cstart] * n + i]) < 1e-13)) ++bad[MAP];
  PetscCall(PetscFree(at));
  PetscCall(HopsSpaceDestroy(&c));
  PetscCall(HopsSpaceDestroy(&f));
  PetscCall(DMDestroy(&fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sp, its companion and its coarse space, against those of another back end */
static PetscErrorCode CheckBackend(DM dm, HopsFamily f, PetscInt order, DMLabel label, PetscInt value, HopsSpace sp)
{
  char      name[64] = "", before[64] = "";
  PetscBool set, had;
  HopsSpace other, a, b;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-against", name, sizeof(name), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_backend", before, sizeof(before), &had));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", name));
  PetscCall(TestCreateSpace(dm, f, order, label, 1, &value, &other));
  PetscCheck(other->backend != sp->backend, PETSC_COMM_WORLD, PETSC_ERR_USER, "-against: another back end is meant");
  PetscCall(CheckSame(sp, other));
  PetscCall(CheckCoarse(dm, name, sp));
  for (PetscInt k = 0; k < 2; ++k) {
    if (k && f != HOPS_H1) continue;
    if (k) {
      PetscCall(HopsSpaceCreateCoarse(sp, NULL, 1, &a));
      PetscCall(HopsSpaceCreateCoarse(other, NULL, 1, &b));
    } else {
      PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_TRUE, &a));
      PetscCall(HopsSpaceCreateCompanion(other, HOPS_HCURL, PETSC_TRUE, &b));
    }
    PetscCheck(a->backend == sp->backend && b->backend == other->backend, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Not the space's");
    PetscCall(CheckSame(a, b));
    PetscCall(HopsSpaceDestroy(&a));
    PetscCall(HopsSpaceDestroy(&b));
  }
  PetscCall(HopsSpaceDestroy(&other));
  if (had) PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", before));
  else PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the section of a PetscFE of several components, with an essential boundary */
static PetscErrorCode CheckSection(DM mesh, HopsSpace sp, PetscInt order, DMLabel label, PetscInt value)
{
  DM               dm;
  PetscFE          fe;
  PetscSection     s;
  PetscInt        *mine;
  HopsPlexUnknowns u;

  PetscFunctionBeginUser;
  PetscCall(DMClone(mesh, &dm));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, sp->dim, 2, PETSC_FALSE, order, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &value, 0, 0, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(HopsPlexUnknownsCreate(dm, s, sp->cells, PETSC_FALSE, &u));
  PetscCall(PetscMalloc1(u.size, &mine));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt n, m, *idx = NULL;

    PetscCall(HopsPlexUnknownsGet(&u, c, mine, &m));
    PetscCall(DMPlexGetClosureIndices(dm, s, s, sp->cells->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
    if (m != n || n != 2 * HopsPower(order + 1, sp->dim)) ++bad[SECTION];
    for (PetscInt i = 0; i < n && m == n; ++i)
      if (mine[i] != (idx[i] < 0 ? -1 - idx[i] : idx[i])) ++bad[SECTION];
    PetscCall(DMPlexRestoreClosureIndices(dm, s, s, sp->cells->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
  }
  PetscCall(PetscFree(mine));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- a code's own section ---------------------------------------- */

/* What is essential on the label's points */
typedef enum {
  ALL,       /* all components of one or of two */
  COMPONENT, /* one of two components */
  PARTIAL    /* of a scalar the first unknown of each point that has several, everywhere */
} CodeKind;

/* The section that a code might make itself: points with essential and other unknowns */
static PetscErrorCode SetPartial(DM dm)
{
  const PetscInt  zero = 0;
  PetscSection    old, s;
  PetscSectionSym sym;
  PetscInt        start, end;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalSection(dm, &old));
  PetscCall(PetscSectionGetChart(old, &start, &end));
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)dm), &s));
  PetscCall(PetscSectionSetNumFields(s, 1));
  PetscCall(PetscSectionSetChart(s, start, end));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    for (PetscInt p = start; p < end; ++p) {
      PetscInt n;

      PetscCall(PetscSectionGetDof(old, p, &n));
      if (!pass) {
        PetscCall(PetscSectionSetDof(s, p, n));
        PetscCall(PetscSectionSetFieldDof(s, p, 0, n));
        PetscCall(PetscSectionSetConstraintDof(s, p, n > 1 ? 1 : 0));
        PetscCall(PetscSectionSetFieldConstraintDof(s, p, 0, n > 1 ? 1 : 0));
      } else if (n > 1) {
        PetscCall(PetscSectionSetConstraintIndices(s, p, &zero));
        PetscCall(PetscSectionSetFieldConstraintIndices(s, p, 0, &zero));
      }
    }
    if (!pass) PetscCall(PetscSectionSetUp(s));
  }
  PetscCall(PetscSectionGetFieldSym(old, 0, &sym));
  PetscCall(PetscSectionSetFieldSym(s, 0, sym));
  PetscCall(DMSetLocalSection(dm, s));
  PetscCall(PetscSectionDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CodeDM(DM mesh, PetscInt dim, PetscInt order, PetscInt nc, CodeKind kind, DMLabel label, PetscInt value,
                             DM *dm)
{
  const PetscInt comp = 1;
  PetscFE        fe;

  PetscFunctionBeginUser;
  PetscCall(DMClone(mesh, dm));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, nc, PETSC_FALSE, order, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(*dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(*dm));
  if (kind == PARTIAL) PetscCall(SetPartial(*dm));
  else
    PetscCall(
      DMAddBoundary(*dm, DM_BC_ESSENTIAL, "wall", label, 1, &value, 0, kind == COMPONENT ? 1 : 0, &comp, NULL, NULL, NULL, NULL));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CodeSpace(DM dm, PetscInt nc, HopsNodes *nodes, HopsSpace *sp)
{
  PetscFunctionBeginUser;
  *nodes = NULL;
  if (nc > 1) {
    PetscCall(HopsNodesCreate(dm, nodes));
    *sp = (*nodes)->space;
  } else PetscCall(HopsSpaceCreateFromDM(dm, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry by entry against the global indices of the closures */
static PetscErrorCode CheckCodeIndices(DM dm, PetscInt nc, HopsNodes nodes, HopsSpace sp)
{
  PetscSection s, gs;
  PetscInt     order, n, *node, start;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(DMGetGlobalSection(dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &n));
  PetscCallMPI(MPI_Scan(&n, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  start -= n;
  {
    PetscObject disc;

    PetscCall(DMGetField(dm, 0, NULL, &disc));
    PetscCall(HopsPlexGetFENodes((PetscFE)disc, sp->dim, &order, &n, &node));
  }
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt m, *idx = NULL;

    PetscCall(DMPlexGetClosureIndices(dm, s, gs, sp->cell[c], PETSC_FALSE, &m, &idx, NULL, NULL));
    if (m != sp->ne * nc) ++bad[NUMBER];
    for (PetscInt i = 0; i < m && m == sp->ne * nc; ++i) {
      const PetscInt l = sp->restr[c * sp->ne + node[i / nc]], g = i % nc;
      PetscInt       k = -1; /* the global index, or none */

      if (nc > 1) {
        if (!nodes->isfree[l * nc + g] != (idx[i] < 0)) ++bad[NUMBER];
        if (l < sp->nT && nodes->map[l * nc + g] >= 0) k = start + nodes->map[l * nc + g];
        if (l >= sp->nT && idx[i] >= 0) k = l < sp->nT + sp->nG ? idx[i] : -1;
      } else if (l < sp->nT) k = sp->rstart + l;
      else if (l < sp->nT + sp->nG) k = sp->ghost[l - sp->nT];
      if (l < 0 || l >= sp->nL || (idx[i] < 0 ? k >= 0 : k != idx[i])) ++bad[NUMBER];
    }
    PetscCall(DMPlexRestoreClosureIndices(dm, s, gs, sp->cell[c], PETSC_FALSE, &m, &idx, NULL, NULL));
  }
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscBool inner = PETSC_TRUE;

    for (PetscInt i = 0; i < sp->ne; ++i)
      if (sp->restr[c * sp->ne + i] >= sp->nT) inner = PETSC_FALSE;
    if (inner != (c < sp->ninterior)) ++bad[NUMBER];
  }
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCode(DM mesh, PetscInt dim, PetscInt order, PetscInt nc, CodeKind kind, DMLabel label, PetscInt value)
{
  DM        dm;
  HopsNodes nodes, others;
  HopsSpace sp, other;
  char      name[64] = "", before[64] = "";
  PetscBool set, had, same;

  PetscFunctionBeginUser;
  PetscCall(CodeDM(mesh, dim, order, nc, kind, label, value, &dm));
  PetscCall(CodeSpace(dm, nc, &nodes, &sp));
  PetscCall(CheckCodeIndices(dm, nc, nodes, sp));
  PetscCall(CheckMaps(dm, sp));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-against", name, sizeof(name), &set));
  if (set) {
    PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_backend", before, sizeof(before), &had));
    PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", name));
    PetscCall(CodeSpace(dm, nc, &others, &other));
    PetscCheck(other->backend != sp->backend, PETSC_COMM_WORLD, PETSC_ERR_USER, "-against: another back end is meant");
    PetscCall(CheckSame(sp, other));
    if (nodes && sp->nL == other->nL) {
      PetscCall(PetscArraycmp(nodes->map, others->map, sp->nT * nc, &same));
      bad[SAME] += !same;
      PetscCall(PetscArraycmp(nodes->isfree, others->isfree, sp->nL * nc, &same));
      bad[SAME] += !same;
    }
    if (others) PetscCall(HopsNodesDestroy(&others));
    else PetscCall(HopsSpaceDestroy(&other));
    if (had) PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", before));
    else PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  }
  if (nodes) PetscCall(HopsNodesDestroy(&nodes));
  else PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The centres of the faces of a label, by the cells' maps and by PETSc */
static PetscErrorCode CheckFaces(DM dm, HopsSpace sp, DMLabel label, PetscInt value)
{
  const PetscReal at[3] = {-1.0, 0.0, 1.0};
  const PetscInt  dim = sp->dim, middle = dim == 2 ? 4 : 13, step[3] = {1, 3, 9};
  PetscInt        n, *cells, *faces, *where = sp->cells->where;
  PetscReal       x[81];
  HopsBasis       geom;
  PetscBool       own = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(HaveOwnMaps(dm, &own));
  if (own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 3, at, &geom));
  PetscCall(HopsSpaceGetLabelFaces(sp, label, value, &n, &cells, &faces));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt *cone, d = faces[i] / 2, side = faces[i] % 2;
    PetscInt        c = 0, nf, found = 0;

    while (sp->cell[c] != cells[i]) ++c;
    if (where[cells[i] - sp->cstart] < 0) ++bad[FACES];
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, NULL));
    PetscCall(DMPlexGetCone(dm, cells[i], &cone));
    PetscCall(DMPlexGetConeSize(dm, cells[i], &nf));
    for (PetscInt f = 0; f < nf; ++f) { /* of straight cells: the mean of the face's vertices */
      PetscInt           m, *cl = NULL, v, nv = 0, vStart, vEnd;
      PetscReal          mean[3] = {0.0, 0.0, 0.0}, e = 0.0;
      Vec                coords;
      const PetscScalar *a;
      PetscSection       cs;

      PetscCall(DMLabelGetValue(label, cone[f], &v));
      if (v != value) continue;
      PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
      PetscCall(DMGetCoordinatesLocal(dm, &coords));
      PetscCall(DMGetCoordinateSection(dm, &cs));
      PetscCall(VecGetArrayRead(coords, &a));
      PetscCall(DMPlexGetTransitiveClosure(dm, cone[f], PETSC_TRUE, &m, &cl));
      for (PetscInt k = 0; k < m; ++k) {
        PetscInt off;

        if (cl[2 * k] < vStart || cl[2 * k] >= vEnd) continue;
        PetscCall(PetscSectionGetOffset(cs, cl[2 * k], &off));
        for (PetscInt e2 = 0; e2 < dim; ++e2) mean[e2] += PetscRealPart(a[off + e2]);
        ++nv;
      }
      PetscCall(DMPlexRestoreTransitiveClosure(dm, cone[f], PETSC_TRUE, &m, &cl));
      PetscCall(VecRestoreArrayRead(coords, &a));
      for (PetscInt k = 0; k < dim; ++k)
        e = PetscMax(e, PetscAbsReal(mean[k] / nv - x[(middle + (side ? 1 : -1) * step[d]) * dim + k]));
      found += e < 1e-12;
    }
    if (!found) ++bad[FACES];
  }
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -backends <a,b> */
static PetscErrorCode SetBackends(void)
{
  const char *names[2];

  PetscFunctionBeginUser;
  PetscCall(TestGetBackends(names));
  if (!names[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", names[1]));
  PetscCall(PetscOptionsSetValue(NULL, "-against", names[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const what[] = {"closures", "element maps",         "essential points",
                              "numbers",  "section of a PetscFE", "faces of a label"};
  DM                dm;
  DMLabel           label;
  PetscInt          order = 3, value = 1;
  char              name[64] = "Face Sets";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SetBackends());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-value", &value, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-label", name, sizeof(name), NULL));
  PetscCall(Mesh(&dm));
  PetscCall(DMGetLabel(dm, name, &label));
  for (PetscInt f = 0; f < 4; ++f) {
    HopsSpace sp, coarse, other;

    PetscCall(TestCreateSpace(dm, (HopsFamily)f, order, label, 1, &value, &sp));
    PetscCall(CheckNumbers(sp));
    PetscCall(CheckBackend(dm, (HopsFamily)f, order, label, value, sp));
    PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_TRUE, &other));
    PetscCheck(other->cells == sp->cells, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The companion has closures of its own");
    PetscCall(CheckNumbers(other));
    PetscCall(HopsSpaceDestroy(&other));
    if (f == HOPS_H1) {
      PetscCall(CheckClosures(dm, sp));
      PetscCall(CheckMaps(dm, sp));
      PetscCall(CheckEssential(dm, label, value));
      PetscCall(CheckSection(dm, sp, order, label, value));
      PetscCall(CheckCode(dm, sp->dim, order, 1, ALL, label, value));
      PetscCall(CheckCode(dm, sp->dim, order, 2, ALL, label, value));
      PetscCall(CheckCode(dm, sp->dim, order, 2, COMPONENT, label, value));
      PetscCall(CheckCode(dm, sp->dim, order, 1, PARTIAL, label, value));
      if (sp->gorder == 1) PetscCall(CheckFaces(dm, sp, label, value));
      PetscCall(HopsSpaceCreateCoarse(sp, NULL, 1, &coarse));
      PetscCheck(coarse->cells == sp->cells, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The coarse space has closures of its own");
      PetscCall(CheckNumbers(coarse));
      PetscCall(HopsSpaceDestroy(&coarse));
    }
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, bad, 7, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (bad[SAME]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " arrays differ between back ends\n", bad[SAME]));
  for (PetscInt k = 0; k < 6; ++k) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what[k], bad[k] ? "WRONG" : "as PETSc's"));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/topology.out
    args: -petscpartitioner_type simple
    test:
      suffix: 2d
      nsize: {{1 2 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -overlap {{0 1}}
    test:
      suffix: 3d
      nsize: {{1 2 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,3 -order 2 -overlap {{0 1}}
    test:
      suffix: some
      nsize: {{1 2 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order 2 -label some -overlap {{0 1}}
    test:
      suffix: orders
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -order {{1 3}}
    test:
      suffix: curved_2d
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -geometry {{2 4}}
    test:
      suffix: curved_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -order 2 -geometry {{2 3}}
    test:
      suffix: empty
      nsize: 3
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,1,1 -order 2
    test:
      suffix: unstructured
      nsize: {{1 3}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2
    test:
      suffix: apart
      nsize: {{1 2 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 3}} -label some -overlap {{0 1}} -against apart
    test:
      suffix: apart_curved
      nsize: 2
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -order 2 -geometry {{2 3}} -backends host,apart
    testset:
      nsize: {{1 2}}
      args: -turn 0 -bend {{0 1}} -order 2 -label some -backends host,apart
      test:
        suffix: periodic_2d
        args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_plex_box_bd periodic,none
      test:
        suffix: periodic_3d
        args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -dm_plex_box_bd periodic,none,periodic
    test:
      suffix: apart_empty
      nsize: 3
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,1,1 -order 2 -backends host,apart
    test:
      suffix: apart_unstructured
      nsize: {{1 3}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2 -backends host,apart
    testset:
      requires: cuda
      args: -backends host,cuda -use_gpu_aware_mpi 0
      test:
        suffix: cuda
        nsize: {{1 2 3}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 3}} -label some -overlap {{0 1}}
      test:
        suffix: cuda_unstructured
        nsize: {{1 3}}
        args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2
      test:
        suffix: cuda_periodic
        nsize: {{1 2}}
        args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -dm_plex_box_bd periodic,none,periodic -turn 0 \
              -order 2 -label some -bend {{0 1}}
      test:
        suffix: cuda_curved
        nsize: {{1 2}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -order 2 -geometry {{2 3}}

TEST*/
