/* Companions of a space: the other families on its cells. On a DMPlex they are made; of a space from arrays
   the user gives them. */
#include <hops/private/hopsarraysimpl.h>
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsmapkind.h>

/* where[ncaller]: the space's own index of the caller's cells */
static PetscErrorCode HopsSpaceWhere(HopsSpace sp, PetscInt *where[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncaller, where));
  for (PetscInt c = 0; c < sp->ncells; ++c) (*where)[sp->cell[c] - sp->cstart] = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are both in a back end's memory? Where nodes hang the process has made the space, and looks at it */
static PetscBool HopsPairIsApart(HopsSpace a, HopsSpace b)
{
  return HopsArraysAreApart(a->backend) && !a->hanging && !b->hanging ? PETSC_TRUE : PETSC_FALSE;
}

/* Where the spaces' passes run */
static const HopsArraysOps *HopsPairOps(HopsSpace a, HopsSpace b)
{
  return HopsPairIsApart(a, b) ? a->backend->arrays : HopsBackendHost.arrays;
}

/* Two spaces on the same cells: where a's cells are in b; the caller frees `cell` */
static PetscErrorCode HopsPairCreate(HopsSpace a, HopsSpace b, int *cell[], HopsArraysPair *p)
{
  const HopsSpace sp[2] = {a, b};
  PetscInt       *where;

  PetscFunctionBegin;
  *p = (HopsArraysPair){.dim = a->dim, .ncells = a->ncells, .rstart = b->rstart};
  PetscCall(HopsSpaceWhere(b, &where));
  PetscCall(PetscMalloc1(a->ncells, cell));
  for (PetscInt c = 0; c < a->ncells; ++c) (*cell)[c] = (int)where[a->cell[c] - a->cstart];
  PetscCall(PetscFree(where));
  for (PetscInt k = 0; k < 2; ++k) {
    if (HopsPairIsApart(a, b)) PetscCall(HopsSpaceGetBackendMesh(sp[k], &p->restr[k], &p->X[k]));
    else {
      PetscCall(HopsSpaceBringMesh(sp[k]));
      p->restr[k] = sp[k]->restr;
      p->X[k]     = sp[k]->X;
    }
    p->G[k]  = sp[k]->gorder + 1;
    p->ne[k] = sp[k]->ne;
    p->nT[k] = (int)sp[k]->nT;
  }
  p->cell = *cell;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both spaces have the same cells with the same corners */
static PetscErrorCode HopsCompanionCheckMesh(HopsSpace a, HopsSpace b)
{
  MPI_Comm       comm                 = PetscObjectComm((PetscObject)a);
  char           why[HOPS_WHY_LENGTH] = "";
  HopsArraysPair p;
  PetscBool      good;
  int           *cell;

  PetscFunctionBegin;
  if (a->ncells != b->ncells)
    PetscCall(HopsRefuse(why,
                         "The spaces have %" PetscInt_FMT " and %" PetscInt_FMT
                         " cells on a rank: companions are made from the same cells in the same order",
                         a->ncells, b->ncells));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(HopsPairCreate(a, b, &cell, &p));
  PetscCall((*HopsPairOps(a, b)->SameCells)(&p, &good));
  if (!good) {
    PetscCall(HopsSpaceBringCoordinates(a));
    PetscCall(HopsSpaceBringCoordinates(b));
    p.X[0] = a->X;
    p.X[1] = b->X;
    for (PetscInt c = 0; c < a->ncells; ++c)
      if (!HopsArraysSameCorners(&p, c))
        PetscCall(HopsRefuse(why,
                             "Cell %" PetscInt_FMT
                             " has other corners in the companion: companions are made from the same cells in the same order",
                             a->cell[c]));
  }
  PetscCall(PetscFree(cell));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a cell that other cells may have, too; returns how many */
static PetscInt HopsSharedEntries(HopsSpace sp, PetscInt list[])
{
  HopsLayout l;
  PetscInt   n = 0;

  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  for (PetscInt c = 0; c < l.nc; ++c)
    for (PetscInt i = l.off[c]; i < l.off[c + 1]; ++i) {
      PetscBool inside = PETSC_TRUE;

      for (PetscInt d = 0, j = i - l.off[c]; d < sp->dim; j /= l.n[c][d++])
        if (!l.open[c][d] && (j % l.n[c][d] == 0 || j % l.n[c][d] == sp->order)) inside = PETSC_FALSE;
      if (!inside) list[n++] = i;
    }
  return n;
}

/* The derivative of (x, xg) at entry i of cell m->c */
static inline PetscReal HopsLatticeMapTake(HopsLatticeMap *m, PetscInt i, const PetscReal x[], const PetscReal xg[])
{
  PetscReal sum = 0.0;

  HopsLatticeMapRow(m, i);
  for (PetscInt k = 0; k < m->n; ++k) sum += m->value[k] * (m->col[k] < m->from->nT ? x[m->col[k]] : xg[m->col[k] - m->from->nT]);
  return sum;
}

/* Does a back end find that all cells agree on derivatives? What it does not find the process looks at */
static PetscErrorCode HopsPairAgrees(HopsSpace from, HopsSpace to, const HopsIncidence *inc, PetscInt n, const PetscInt entry[],
                                     PetscBool *good)
{
  HopsArraysPair p;
  PetscMPIInt    nranks;
  int           *cell, *list, *ncol, *col;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)to), &nranks));
  if (nranks > 1 || !HopsPairIsApart(to, from)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPairCreate(to, from, &cell, &p));
  PetscCall(PetscMalloc3(n, &list, to->ne, &ncol, 6 * to->ne, &col));
  for (PetscInt i = 0; i < n; ++i) list[i] = (int)entry[i];
  for (PetscInt i = 0; i < to->ne; ++i) {
    ncol[i] = (int)inc->n[i];
    for (PetscInt k = 0; k < 6; ++k) col[6 * i + k] = k < inc->n[i] ? (int)inc->col[6 * i + k] : 0;
  }
  p.n    = n;
  p.list = list;
  p.ncol = ncol;
  p.col  = col;
  p.sgn  = inc->sgn;
  PetscCall((*HopsPairOps(to, from)->SameBoundaries)(&p, good));
  PetscCall(PetscFree3(list, ncol, col));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The derivative that maps one of two companions to the other: all cells that see an unknown of its range must
  find the same boundary of it. A vector of numbers without pattern tells; constrained rows, which the
  derivative has not, are left out.
*/
static PetscErrorCode HopsCompanionCheckIncidence(HopsSpace from, HopsSpace to)
{
  HopsIncidence  inc;
  HopsLatticeMap m;
  PetscReal     *x, *xg, *y, *yg;
  PetscInt      *list, n;
  PetscBool      good;
  char           why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(PetscMalloc1(to->ne, &list));
  n = HopsSharedEntries(to, list);
  PetscCall(HopsPairAgrees(from, to, &inc, n, list, &good));
  if (good) {
    PetscCall(HopsIncidenceDestroy(&inc));
    PetscCall(PetscFree(list));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsLatticeMapCreate(from, to, inc, PETSC_FALSE, &m));
  PetscCall(PetscMalloc4(from->nT, &x, from->nL - from->nT, &xg, to->nT, &y, to->nL - to->nT, &yg));
  for (PetscInt i = 0; i < from->nT; ++i) x[i] = HopsArraysHash(from->rstart + i);
  for (PetscInt i = 0; i < to->nT; ++i) y[i] = PETSC_MAX_REAL; /* none of its owner's cells touches it */
  PetscCall(HopsSpaceGlobalToLocal(from, 0, x, xg));
  for (PetscInt pass = 0; pass < 2; ++pass) { /* owned unknowns, then ghosts, whose cells come last */
    for (PetscInt c = pass ? to->ninterior : 0; c < to->ncells; ++c) {
      PetscCall(HopsLatticeMapSetCell(&m, c));
      for (PetscInt i = 0; i < n; ++i) {
        const PetscInt   l   = HopsUnsigned(m.rto[list[i]]);
        PetscReal *const own = l < to->nT ? y + l : yg + (l - to->nT);
        PetscReal        sum;

        if (l >= to->nT + to->nG || (l >= to->nT) != pass) continue;
        sum = HopsLatticeMapTake(&m, list[i], x, xg);
        if (*own == PETSC_MAX_REAL && !pass) *own = sum;
        if (*own != PETSC_MAX_REAL && !(PetscAbsReal(sum - *own) <= HOPS_ARRAYS_BOUNDARY))
          PetscCall(HopsRefuse(why,
                               "Cell %" PetscInt_FMT
                               " and another cell disagree on the derivative from %s to %s of unknown %" PetscInt_FMT
                               ": the arrays of the two spaces do not number the same lines, faces and directions",
                               to->cell[c], HopsFamilies[from->family], HopsFamilies[to->family],
                               l < to->nT ? to->rstart + l : to->ghost[l - to->nT]));
      }
    }
    if (!pass) PetscCall(HopsSpaceGlobalToLocal(to, 0, y, yg));
  }
  PetscCall(PetscFree4(x, xg, y, yg));
  PetscCall(PetscFree(list));
  PetscCall(HopsLatticeMapDestroy(&m));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)to), PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCompanionCheckPair(HopsSpace a, HopsSpace b)
{
  PetscFunctionBegin;
  if (HopsFamilyHasDerivative(a->family, b->family, a->dim)) PetscCall(HopsCompanionCheckIncidence(a, b));
  else if (HopsFamilyHasDerivative(b->family, a->family, a->dim)) PetscCall(HopsCompanionCheckIncidence(b, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceSetCompanion - Tells a space from arrays which space of another family lies on the same cells.

  Collective

  Input Parameters:
+ space - the space, made by `HopsSpaceCreateFamilyFromArrays()`
- other - the space of the other family, from arrays of the same cells in the same order, without essential
  unknowns

  Level: intermediate

  Notes:
  `PCLOR` asks for the H1 companion of an H(curl) space (in 2D also of an H(div) space) to make AMS, and for
  the H1 and H(curl) companions of an H(div) space in 3D to make ADS. Essential unknowns of companions are
  those in the closure of the space's own.

  The two are compared: cells, their corners, and, where one is the range of a derivative of the other, that
  all cells find the same boundary of each line or face, with the same signs. The latter is also compared
  among the companions that a space has. What contradicts is refused.

  The space keeps a reference. A space on a `DMPLEX` makes its companions itself.

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateFamilyFromArrays()`, `HopsSpaceCreateCompanion()`,
`HopsSpaceCreateDerivative()`
@*/
PetscErrorCode HopsSpaceSetCompanion(HopsSpace space, HopsSpace other)
{
  MPI_Comm comm;
  PetscInt ness[2];

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(other, HOPS_SPACE_CLASSID, 2);
  comm = PetscObjectComm((PetscObject)space);
  PetscCheck(!space->dm && !other->dm, comm, PETSC_ERR_ARG_WRONG,
             "HopsSpaceSetCompanion() is for spaces from arrays; a space on a DMPlex makes its companions itself");
  PetscCheck(space->dim == other->dim && space->order == other->order && space->family != other->family, comm, PETSC_ERR_ARG_INCOMP,
             "Companions have the same dimension and order and different families, not %s of order %" PetscInt_FMT
             " in %" PetscInt_FMT "D and %s of order %" PetscInt_FMT " in %" PetscInt_FMT "D",
             HopsFamilies[space->family], space->order, space->dim, HopsFamilies[other->family], other->order, other->dim);
  ness[0] = other->nC;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, ness, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(!ness[0], comm, PETSC_ERR_ARG_WRONG,
             "A companion is given without essential unknowns: they follow from those of the space");
  PetscCheck(space->backend == other->backend, comm, PETSC_ERR_ARG_INCOMP,
             "The space has the back end %s, its companion %s: create both with the same -hops_backend", space->backend->name,
             other->backend->name);
  PetscCall(HopsCompanionCheckMesh(space, other));
  PetscCall(HopsCompanionCheckPair(space, other));
  for (PetscInt f = 0; f < 4; ++f)
    if (space->companion[f] && space->companion[f]->family != other->family)
      PetscCall(HopsCompanionCheckPair(space->companion[f], other));
  PetscCall(HopsSpaceReference(other));
  PetscCall(HopsSpaceDestroy(&space->companion[other->family]));
  space->companion[other->family] = other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mark[]: the companion's unknowns in the closure of the space's essential ones, where nodes hang: what a
   cell lists of its parent is in the closure of the parent's alone, but for a node that both have */
static PetscErrorCode HopsCompanionMarkHanging(HopsSpace sp, HopsSpace other, const HopsArraysPair *p, const HopsArraysClosure *q)
{
  HopsHanging hang[2] = {{0}, {0}};
  PetscBool  *on;

  PetscFunctionBegin;
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &hang[0]));
  PetscCall(HopsHangingCreate(other->family, sp->dim, sp->order, &hang[1]));
  PetscCall(PetscMalloc1(sp->ne + other->ne, &on));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const unsigned mask = other->hang[p->cell[c]];

    (void)HopsHangingNodes(&hang[0], mask, on);
    (void)HopsHangingNodes(&hang[1], mask, on + sp->ne);
    for (PetscInt i = 0; mask && other->family == HOPS_H1 && i < other->ne; ++i)
      if (HopsHangingIsOwn(&hang[1], mask, (int)i)) on[sp->ne + i] = PETSC_FALSE;
    for (PetscInt i = 0; i < sp->ne; ++i) HopsArraysMarkClosure(p, q, c, i, on);
  }
  PetscCall(PetscFree(on));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsHangingDestroy(&hang[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ess[ness]: global indices of the companion's unknowns in the closure of the space's essential ones */
static PetscErrorCode HopsCompanionClose(HopsSpace sp, HopsSpace other, PetscInt *ness, PetscInt *ess[])
{
  HopsArraysPair    p;
  HopsArraysClosure q = {.dim = sp->dim, .nfree = sp->nT + sp->nG};
  unsigned char    *mark;
  int              *cell;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &q.l[0]);
  HopsLayoutCreate(other->family, sp->dim, sp->order, &q.l[1]);
  PetscCall(PetscCalloc1(other->nL, &mark));
  PetscCall(HopsPairCreate(sp, other, &cell, &p));
  if (other->hanging) {
    q.mark = mark;
    PetscCall(HopsCompanionMarkHanging(sp, other, &p, &q));
  } else PetscCall((*HopsPairOps(sp, other)->Close)(&p, &q, other->nL, mark));
  *ness = 0;
  for (PetscInt k = 0; k < other->nL; ++k) *ness += mark[k];
  PetscCall(PetscMalloc1(*ness, ess));
  *ness = 0;
  for (PetscInt k = 0; k < other->nL; ++k)
    if (mark[k]) (*ess)[(*ness)++] = k < other->nT ? other->rstart + k : other->ghost[k - other->nT];
  PetscCall(PetscFree(cell));
  PetscCall(PetscFree(mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The companion with essential unknowns: those in the closure of the space's */
static PetscErrorCode HopsCompanionEssential(HopsSpace sp, HopsSpace other, HopsSpace *companion)
{
  const HopsBackendOps *at = HopsArraysAreApart(other->backend) && !other->hanging ? other->backend : &HopsBackendHost;
  HopsArraysWork        a;
  HopsSpace             s;
  PetscInt             *ess = NULL, ness = 0;
  const char           *was = HopsMake("the companion");

  PetscFunctionBegin;
  PetscCheck(HopsFamilyForm(other->family, sp->dim) < HopsFamilyForm(sp->family, sp->dim), PetscObjectComm((PetscObject)sp),
             PETSC_ERR_SUP,
             "The essential unknowns of %s do not follow from those of %s: create the space from arrays that list them",
             HopsFamilies[other->family], HopsFamilies[sp->family]);
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)other), other->dim, other->order, &s));
  PetscCall(PetscLogEventBegin(HopsEvent.space, s, 0, 0, 0));
  PetscCall(HopsSpaceSetBackend(s, other));
  s->family = other->family;
  s->ne     = other->ne;
  s->gorder = other->gorder;
  s->ncells = s->ncaller = other->ncells;
  s->nT                  = other->nT;
  s->rstart              = other->rstart;
  s->N                   = other->N;
  s->hanging             = other->hanging;
  if (other->hanging) {
    PetscCall(PetscMalloc1(s->ncells, &s->hang));
    for (PetscInt c = 0; c < s->ncells; ++c) s->hang[other->cell[c]] = other->hang[c];
  }
  PetscCall(HopsCompanionClose(sp, other, &ness, &ess));
  PetscCall(HopsArraysWorkCreateOn(s, other, at, &a));
  PetscCall(HopsArraysFinish(&a, ness, ess, PETSC_FALSE));
  PetscCall(PetscFree(ess));
  PetscCall(PetscLogEventEnd(HopsEvent.space, s, 0, 0, 0));
  (void)HopsMake(was);
  *companion = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space on the cells of another one, n of whose unknowns are this rank's; it is not numbered yet. Keys of
   its numbering are L-vector indices of the other one where there are hanging nodes */
PetscErrorCode HopsSpaceCopyCells_Private(HopsSpace sp, PetscInt n, HopsSpace *space)
{
  const PetscInt nX = sp->ncells * sp->dim * HopsPower(sp->gorder + 1, sp->dim);
  HopsSpace      s;
  PetscLayout    layout;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)sp), sp->dim, sp->order, &s));
  PetscCall(HopsSpaceSetBackend(s, sp));
  s->family  = sp->family;
  s->ne      = sp->ne;
  s->gorder  = sp->gorder;
  s->ncells  = sp->ncells;
  s->cstart  = sp->cstart;
  s->nT      = n;
  s->ncaller = sp->ncaller;
  s->turned  = sp->turned;
  if (sp->place) {
    PetscCall(PetscMalloc1(sp->ne, &s->place));
    PetscCall(PetscArraycpy(s->place, sp->place, sp->ne));
  }
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), s->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRange(layout, &s->rstart, NULL));
  PetscCall(PetscLayoutGetSize(layout, &s->N));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscMalloc1(sp->ncells, &s->cell));
  PetscCall(PetscArraycpy(s->cell, sp->cell, sp->ncells));
  PetscCall(PetscMalloc1(nX, &s->X));
  PetscCall(PetscArraycpy(s->X, sp->X, nX));
  if (sp->hanging) {
    s->hanging = PETSC_TRUE;
    s->nabsent = sp->nabsent;
    PetscCall(PetscMalloc1(sp->ncells, &s->hang));
    PetscCall(PetscArraycpy(s->hang, sp->hang, sp->ncells));
    PetscCall(PetscMalloc2(s->nabsent, &s->absent, s->nabsent * s->dim, &s->xabsent));
    PetscCall(PetscArraycpy(s->absent, sp->absent, s->nabsent));
    PetscCall(PetscArraycpy(s->xabsent, sp->xabsent, s->nabsent * s->dim));
  }
  *space = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The space without its essential unknowns: those of arrays stay in the vectors as identity rows; here they
  are left out, as on a DMPLEX, and what is left is numbered anew, rank by rank in the same order.
*/
PetscErrorCode HopsSpaceCreateFree_Private(HopsSpace sp, HopsSpace *space)
{
  HopsSpace  s;
  PetscInt  *gidx;
  PetscReal *x, *xg;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCopyCells_Private(sp, sp->nT - sp->ness, &s));
  PetscCall(PetscCalloc2(sp->nT, &x, sp->nL - sp->nT, &xg));
  PetscCall(PetscMalloc1(sp->nL, &gidx));
  for (PetscInt e = 0; e < sp->ness; ++e) x[sp->essT[e]] = -1.0;
  for (PetscInt i = 0, n = 0; i < sp->nT; ++i)
    if (x[i] == 0.0) x[i] = (PetscReal)(s->rstart + n++); /* exact in floating point */
  PetscCall(HopsSpaceGlobalToLocal(sp, 0, x, xg));
  for (PetscInt i = 0; i < sp->nL; ++i)
    gidx[i] = i >= sp->nT + sp->nG ? -1 : (PetscInt)PetscRealPart(i < sp->nT ? x[i] : xg[i - sp->nT]);
  PetscCall(HopsSpaceSetUpNumbering(s, sp->nL, gidx, NULL, sp->restr));
  PetscCall(PetscFree(gidx));
  PetscCall(PetscFree2(x, xg));
  *space = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateCompanion - Creates a space of another family on the mesh of a space, of the same order.

  Collective

  Input Parameters:
+ space     - the space, made by `HopsSpaceCreateH1()`, `HopsSpaceCreateHCurl()`, `HopsSpaceCreateHDiv()` or
  `HopsSpaceCreateL2()`, or from arrays
. family    - the family of the other one
- essential - whether its essential boundary is that of the space; else it has none

  Output Parameter:
. other - the other space

  Level: intermediate

  Note:
  For a space from arrays this is the space that `HopsSpaceSetCompanion()` was given; with essential unknowns,
  where the space has any, it is a new one on the same numbering.

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateDerivative()`, `HopsSpaceSetCompanion()`
@*/
PetscErrorCode HopsSpaceCreateCompanion(HopsSpace space, HopsFamily family, PetscBool essential, HopsSpace *other)
{
  PetscInt ness;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidEnum(family, HOPS_L2, 2);
  HopsValidPointer(other, 4);
  if (space->values) {
    PetscCall(HopsSpaceCreatePlex_Private(space->dm, space->cells, family, space->order, essential ? space->label : NULL,
                                          essential ? space->nv : 0, space->values, NULL, other));
    PetscCall(HopsSpaceSetBackend(*other, space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!space->dm, PetscObjectComm((PetscObject)space), PETSC_ERR_SUP,
             "The space is on the numbering of a PetscFE: its companions are unknown; make it by HopsSpaceCreateH1(), "
             "HopsSpaceCreateHCurl(), HopsSpaceCreateHDiv() or HopsSpaceCreateL2()");
  PetscCheck(space->companion[family], PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_WRONGSTATE,
             "The space is from arrays, and its companion in %s is unknown: create that from arrays of the same cells, without "
             "essential unknowns (%s), and give it by HopsSpaceSetCompanion()",
             HopsFamilies[family], family == HOPS_H1 ? "HopsSpaceCreateFromArrays()" : "HopsSpaceCreateFamilyFromArrays()");
  ness = space->nC;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ness, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)space)));
  if (essential && ness) {
    PetscCall(HopsCompanionEssential(space, space->companion[family], other));
  } else {
    PetscCall(HopsSpaceReference(space->companion[family]));
    *other = space->companion[family];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
