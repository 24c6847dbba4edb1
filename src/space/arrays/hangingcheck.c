/* Spaces from arrays with hanging nodes: masks, and whether nodes, masks and coordinates agree. */
#include <hops/private/hopsarraysimpl.h>
#include <hops/private/hopshanging.h>

#define HOPS_HANGING_SAME 1e-10 /* of the size of a cell */

/* Edges of hanging facets hang; a position alone says nothing */
static unsigned short Normal(PetscInt dim, unsigned short mask)
{
  unsigned m = mask;

  for (PetscInt d = 0; d < dim && dim == 3; ++d)
    if (mask >> (3 + d) & 1) m |= (7 & ~(1u << d)) << 6;
  return m >> dim ? (unsigned short)m : 0;
}

PetscErrorCode HopsArraysSetMasks(HopsSpace sp, const unsigned short masks[], PetscBool check)
{
  const unsigned all                  = sp->dim == 3 ? 0x1ff : 0xf;
  MPI_Comm       comm                 = PetscObjectComm((PetscObject)sp);
  char           why[HOPS_WHY_LENGTH] = "";
  PetscBool      some                 = PETSC_FALSE;

  PetscFunctionBegin;
  if (!masks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(sp->ncells, &sp->hang));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    if (masks[c] & ~all)
      PetscCall(HopsRefuse(why,
                           "The mask of cell %" PetscInt_FMT " is 0x%x: in %" PetscInt_FMT
                           "D no more than the bits 0x%x have a meaning (position, hanging facets%s)",
                           c, (unsigned)masks[c], sp->dim, all, sp->dim == 3 ? ", hanging edges" : ""));
    sp->hang[c] = Normal(sp->dim, masks[c]);
    if (sp->hang[c]) some = PETSC_TRUE;
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(MPIU_Allreduce(&some, &sp->hanging, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  if (!sp->hanging) {
    PetscCall(PetscFree(sp->hang));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(sp->backend->hanging || sp->backend->HungCreate, comm, PETSC_ERR_SUP,
             "The back end %s does not know hanging nodes: run with -hops_backend host", sp->backend->name);
  PetscCheck(!check || sp->gorder <= sp->order, comm, PETSC_ERR_SUP,
             "With hanging nodes the order of the element maps, %" PetscInt_FMT
             ", must not be above that of the space, %" PetscInt_FMT ": give maps of the space's order",
             sp->gorder, sp->order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What the walks over the cells share. A key is seen where a cell has it as an entry of its own. An entry is
  at nv numbers x: in H1 the coordinates of the node, else of the middle of the line or face or box, and its
  vector, in the direction of the unknown. Entries of a parent's lines are at the parent's, where the cell's
  map goes on.
*/
typedef struct {
  HopsSpace              sp;
  const HopsArrays      *m;
  const PetscInt        *gidx;
  const int             *elist;
  const HopsArraysEntry *entry; /* [ne] */
  PetscSF                keys;
  PetscInt               nkeys, ne, nv, *count, *cell; /* count[nkeys] and a cell that has it */
  PetscBool             *on;                           /* [ne] of the cell at hand */
  PetscReal             *place, *x, *lattice;          /* [nkeys][nv], [ne][nv], [dim][P^dim] */
  HopsHanging            hang;
  HopsBasis              gll, geom;
  PetscReal             *go[2], tol; /* [P][gorder + 1] maps at the nodes of a parent, of which the cell is a half; see GoOn() */
  char                  *why;
} Check;

/*
  Maps as they go on to the nodes of a parent. Differences of two maps grow there, by what the map's
  polynomials grow to in the facet's directions: by 10^4 at order 3, and by 10^11 at order 8. So maps of a
  higher order go on as what they are at the nodes of order 3, and are compared roughly. Their nodes are
  compared well where the cells have a space of H1
*/
static PetscErrorCode GoOn(Check *k)
{
  HopsSpace      sp = k->sp;
  const PetscInt P = sp->order + 1, Pg = sp->gorder + 1, R = PetscMin(Pg, 4);
  HopsBasis      low, at, go;
  PetscReal     *y, growth = 1.0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(P * Pg, &k->go[0], P * Pg, &k->go[1]));
  PetscCall(PetscMalloc1(P, &y));
  PetscCall(HopsBasisCreate(R, R, PETSC_TRUE, &low));
  PetscCall(HopsBasisCreateAtPoints(Pg, R, low.nodes, &at));
  for (PetscInt half = 0; half < 2; ++half) {
    for (PetscInt i = 0; i < P; ++i) y[i] = 2.0 * k->gll.nodes[i] + (half ? -1.0 : 1.0);
    PetscCall(HopsBasisCreateAtPoints(R, P, y, &go));
    for (PetscInt i = 0; i < P; ++i) {
      PetscReal sum = 0.0;

      for (PetscInt r = 0; r < R; ++r) sum += PetscAbsReal(go.B[i * R + r]);
      growth = PetscMax(growth, sum);
      for (PetscInt j = 0; j < Pg; ++j) {
        k->go[half][i * Pg + j] = 0.0;
        for (PetscInt r = 0; r < R; ++r) k->go[half][i * Pg + j] += go.B[i * R + r] * at.B[r * Pg + j];
      }
    }
    PetscCall(HopsBasisDestroy(&go));
  }
  k->tol = R < Pg ? 0.05 : HOPS_HANGING_SAME * PetscPowRealInt(growth, (int)sp->dim - 1);
  PetscCall(HopsBasisDestroy(&low));
  PetscCall(HopsBasisDestroy(&at));
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCreate(Check *k)
{
  HopsSpace      sp = k->sp;
  const PetscInt P = sp->order + 1, dim = sp->dim;

  PetscFunctionBegin;
  k->ne = sp->ne;
  k->nv = sp->family == HOPS_H1 ? dim : 2 * dim;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &k->gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &k->gll, &k->geom));
  PetscCall(GoOn(k));
  PetscCall(PetscCalloc3(k->nkeys, &k->count, k->nkeys, &k->cell, k->ne, &k->on));
  PetscCall(PetscMalloc3(k->nkeys * k->nv, &k->place, k->ne * k->nv, &k->x, HopsPower(P, dim) * dim, &k->lattice));
  PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &k->hang));
  for (PetscInt i = 0; i < k->nkeys * k->nv; ++i) k->place[i] = PETSC_MIN_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDestroy(Check *k)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisDestroy(&k->gll));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree2(k->go[0], k->go[1]));
  PetscCall(HopsHangingDestroy(&k->hang));
  PetscCall(PetscFree3(k->count, k->cell, k->on));
  PetscCall(PetscFree3(k->place, k->x, k->lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cell c: its lattice, or its parent's */
static PetscErrorCode Lattice(Check *k, PetscInt c, PetscBool parent)
{
  HopsSpace        sp  = k->sp;
  const PetscInt   dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim), ng = HopsPower(sp->gorder + 1, dim);
  const PetscInt   m[3] = {P, P, P}, n[3] = {sp->gorder + 1, sp->gorder + 1, sp->gorder + 1};
  const PetscReal *M[3];
  PetscReal       *work;

  PetscFunctionBegin;
  if (!parent) {
    PetscCall(HopsArraysLattice(sp, &k->geom, c, k->lattice));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(2 * np, &work)); /* the map's order is not above the space's */
  for (PetscInt d = 0; d < dim; ++d) M[d] = k->go[sp->hang[c] >> d & 1];
  for (PetscInt d = 0; d < dim; ++d) HopsTensorApplyRect(dim, m, n, M, sp->X + (c * dim + d) * ng, k->lattice + d * np, work);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x[] of cell c: where its unknowns are; in other families the middle and the vector of each */
static PetscErrorCode Cell(Check *k, PetscInt c)
{
  HopsSpace      sp   = k->sp;
  const PetscInt some = HopsHangingNodes(&k->hang, sp->hang[c], k->on);

  PetscFunctionBegin;
  /* the cell's own lattice is left */
  for (PetscInt parent = some && sp->family != HOPS_H1 ? 1 : 0; parent >= 0; --parent) {
    PetscCall(Lattice(k, c, parent ? PETSC_TRUE : PETSC_FALSE));
    for (PetscInt i = 0; i < k->ne; ++i) {
      const HopsArraysEntry *e = k->entry + i;
      PetscReal             *x = k->x + i * k->nv, mean[3], v[3] = {0.0, 0.0, 0.0};

      if (sp->family != HOPS_H1 && k->on[i] != (parent ? PETSC_TRUE : PETSC_FALSE)) continue;
      HopsArraysMean(k->m, k->lattice, e->node, e->open, 1, mean);
      if (sp->family == HOPS_HCURL || sp->family == HOPS_HDIV)
        HopsArraysVector(k->m, e, HopsSign(k->elist[c * k->ne + i]), k->lattice, v);
      for (PetscInt d = 0; d < k->nv; ++d) x[d] = d < sp->dim ? mean[d] : v[d - sp->dim];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where unknowns are: as cells have them that see them as nodes of their own; all cells agree. Of a whole
   mesh there is such a cell */
static PetscErrorCode Places(Check *k, PetscBool whole)
{
  HopsSpace      sp = k->sp;
  const PetscInt nv = k->nv;
  PetscReal     *root;
  MPI_Datatype   unit = MPIU_REAL;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(Cell(k, c));
    for (PetscInt i = 0; i < k->ne; ++i) {
      const PetscInt key = HopsUnsigned(k->elist[c * k->ne + i]);

      k->cell[key] = c;
      if (k->on[i]) continue;
      if (!k->count[key]++)
        for (PetscInt d = 0; d < nv; ++d) k->place[key * nv + d] = k->x[i * nv + d];
    }
  }
  PetscCall(PetscMalloc1(sp->nT, &root));
  for (PetscInt d = 0; d < nv; ++d) { /* the largest: they differ by rounding errors, or are refused below */
    PetscReal *leaf;

    PetscCall(PetscMalloc1(k->nkeys, &leaf));
    for (PetscInt i = 0; i < sp->nT; ++i) root[i] = PETSC_MIN_REAL;
    for (PetscInt i = 0; i < k->nkeys; ++i) leaf[i] = k->place[i * nv + d];
    PetscCall(PetscSFReduceBegin(k->keys, unit, leaf, root, MPIU_MAX));
    PetscCall(PetscSFReduceEnd(k->keys, unit, leaf, root, MPIU_MAX));
    PetscCall(PetscSFBcastBegin(k->keys, unit, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(k->keys, unit, root, leaf, MPI_REPLACE));
    for (PetscInt i = 0; i < k->nkeys; ++i) k->place[i * nv + d] = leaf[i];
    PetscCall(PetscFree(leaf));
  }
  for (PetscInt i = 0; i < sp->nT && whole; ++i)
    if (root[i] == PETSC_MIN_REAL)
      PetscCall(
        HopsRefuse(k->why,
                   "Unknown %" PetscInt_FMT
                   " is a node of no cell of any rank, but of parents of cells with hanging nodes at most: where a facet or "
                   "an edge hangs a coarser cell has it whole; check the masks, and that all cells are there",
                   sp->rstart + i));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y[np][dim]: where the unknowns are that cell c lists, or their parents' nodes say; x[np][dim] of the cell's
   own map. How far apart these are at most, at which node, and what is no difference */
static PetscReal Compare(const Check *k, PetscInt c, PetscReal y[], PetscInt *worst, PetscReal *size, PetscReal *same)
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim, np = k->ne;
  const int     *e    = k->elist + c * np;
  PetscReal      most = 0.0, round = 0.0, *u = k->lattice; /* of H1 it is not used else */

  *worst = 0;
  *size  = 2.0 * HopsArraysCellSize(dim, sp->order + 1, 1, dim, k->x);
  for (PetscInt i = 0; i < np * dim; ++i) round = PetscMax(round, 64.0 * PETSC_MACHINE_EPSILON * PetscAbsReal(k->x[i]));
  for (PetscInt d = 0; d < dim; ++d) {
    for (PetscInt i = 0; i < np; ++i) u[i] = k->place[e[i] * dim + d];
    HopsHangingApply(&k->hang, sp->hang[c], PETSC_FALSE, u);
    for (PetscInt i = 0; i < np; ++i) {
      const PetscReal far = PetscAbsReal(u[i] - k->x[i * dim + d]);

      y[i * dim + d] = u[i];
      if (!(far <= most)) {
        most   = far;
        *worst = i;
      }
    }
  }
  *same = 0.5 * HOPS_HANGING_SAME * *size + round; /* small cells have few digits far from the origin */
  return most;
}

/* The map of cell c gets the nodes y[np][dim] of the space's lattice where they hang. A map of a lower order
   takes these points of its facets */
static PetscErrorCode MoveNodes(const Check *k, PetscInt c, const HopsBasis *at, const PetscReal y[])
{
  HopsSpace        sp  = k->sp;
  const PetscInt   dim = sp->dim, np = k->ne, G = sp->gorder + 1, ng = HopsPower(G, dim);
  const PetscInt   m[3] = {G, G, G}, n[3] = {sp->order + 1, sp->order + 1, sp->order + 1};
  const PetscReal *M[3] = {at->B, at->B, at->B};
  PetscReal       *u, *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(np, &u, 2 * np, &work));
  for (PetscInt d = 0; d < dim; ++d) {
    for (PetscInt i = 0; i < np; ++i) u[i] = k->on[i] ? y[i * dim + d] : k->x[i * dim + d];
    if (sp->gorder == sp->order) PetscCall(PetscArraycpy(sp->X + (c * dim + d) * ng, u, ng));
    else HopsTensorApplyRect(dim, m, n, M, u, sp->X + (c * dim + d) * ng, work);
  }
  PetscCall(PetscFree2(u, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H1: closes gaps by the maps of the cells whose nodes hang */
static PetscErrorCode Repair(Check *k)
{
  HopsSpace sp       = k->sp;
  PetscInt  moved    = 0, worst;
  PetscReal furthest = 0.0, size, same, *y, *nodes, *w;
  HopsBasis at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(k->ne * sp->dim, &y, sp->gorder + 1, &nodes, sp->gorder + 1, &w));
  PetscCall(HopsGLL(sp->gorder + 1, nodes, w));
  PetscCall(HopsBasisCreateAtPoints(sp->order + 1, sp->gorder + 1, nodes, &at));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscReal most;

    PetscCall(Cell(k, c));
    most = Compare(k, c, y, &worst, &size, &same);
    (void)HopsHangingNodes(&k->hang, sp->hang[c], k->on);
    if (most <= same || !k->on[worst] || !(most <= HOPS_HANGING_REPAIR * size)) continue;
    PetscCall(MoveNodes(k, c, &at, y));
    furthest = PetscMax(furthest, most / size);
    ++moved;
  }
  if (moved)
    PetscCall(
      PetscInfo(sp, "moved hanging nodes of %" PetscInt_FMT " cells, by %g of the cell's size at most\n", moved, (double)furthest));
  PetscCall(HopsBasisDestroy(&at));
  PetscCall(PetscFree3(y, nodes, w));
  /* a map of a low order moves a cell's own nodes, too */
  for (PetscInt i = 0; i < k->nkeys * k->nv; ++i) k->place[i] = PETSC_MIN_REAL;
  PetscCall(PetscArrayzero(k->count, k->nkeys));
  PetscCall(Places(k, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H1: the cells' own nodes are where the unknowns are, or their parents' nodes say */
static PetscErrorCode Geometry(Check *k)
{
  HopsSpace  sp = k->sp;
  PetscReal *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(k->ne * sp->dim, &y));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscReal most, size, same;
    PetscInt  worst;

    PetscCall(Cell(k, c));
    most = Compare(k, c, y, &worst, &size, &same);
    if (most <= same) continue;
    (void)HopsHangingNodes(&k->hang, sp->hang[c], k->on);
    if (k->on[worst])
      PetscCall(HopsRefuse(k->why,
                           "Hanging node %" PetscInt_FMT " of cell %" PetscInt_FMT
                           " is %g of the cell's size away from where its parent's nodes put it: either the mask 0x%x does not say "
                           "which facets and edges are half of a parent's and which half they are, or the listed nodes are not the "
                           "parent's in the cell's directions, or the coordinates are not those of the parent's map%s",
                           worst, c, (double)(most / size), (unsigned)sp->hang[c],
                           most > HOPS_HANGING_REPAIR * size ? "" : " (-hops_repair_geometry puts such nodes there)"));
    else
      PetscCall(HopsRefuse(k->why,
                           "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                           " elsewhere than another cell, by %g of its size: either a mask lacks a hanging facet or edge, or the "
                           "numbers do not follow the lattices of both; meshes with hanging nodes cannot be periodic here",
                           c, k->gidx[k->elist[c * k->ne + worst]], (double)(most / size)));
  }
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In other families than H1 all cells that list an unknown have it at one place, and in one direction */
static PetscErrorCode Agree(Check *k)
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim, nv = k->nv;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscReal size;

    PetscCall(Cell(k, c));
    size = HopsArraysCellSize(dim, sp->order + 1, HopsPower(sp->order + 1, dim), 1, k->lattice);
    for (PetscInt i = 0; i < k->ne; ++i) {
      const PetscInt   key = HopsUnsigned(k->elist[c * k->ne + i]), g = k->gidx[key];
      const PetscReal *x = k->x + i * nv, *y = k->place + key * nv, tol = k->on[i] ? k->tol : HOPS_HANGING_SAME;
      PetscReal        far = 0.0, turned = 0.0;

      for (PetscInt d = 0; d < nv; ++d) {
        const PetscReal unit = d >= dim && sp->family == HOPS_HDIV ? PetscPowRealInt(size, (int)dim - 1) : size;

        far    = PetscMax(far, PetscAbsReal(x[d] - y[d]) / unit);
        turned = PetscMax(turned, PetscAbsReal((d < dim ? x[d] : -x[d]) - y[d]) / unit);
      }
      if (far <= tol) continue;
      if (turned <= tol)
        PetscCall(HopsRefuse(k->why,
                             "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                             " in the opposite direction of another cell: in one of them its entry must be %" PetscInt_FMT
                             ", for the opposite sign",
                             c, g, -1 - g));
      else if (k->on[i])
        PetscCall(
          HopsRefuse(k->why,
                     "Cell %" PetscInt_FMT " lists unknown %" PetscInt_FMT
                     " of its parent, which is %g of the cell's size away from there: either the mask 0x%x does not say which "
                     "facets and edges are half of a parent's and which half they are, or the listed unknowns are not the "
                     "parent's in the cell's directions, or the coordinates are not those of the parent's map",
                     c, g, (double)far, (unsigned)sp->hang[c]));
      else
        PetscCall(HopsRefuse(k->why,
                             "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                             " elsewhere than another cell, by %g of its size: either a mask lacks a hanging facet or edge, or the "
                             "numbers do not follow the lattices of both; meshes with hanging nodes cannot be periodic here",
                             c, g, (double)far));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A node inside a facet is that of two cells, or of one and of all its halves (in 3D, quarters) across */
static PetscErrorCode Siblings(Check *k)
{
  HopsSpace      sp     = k->sp;
  const PetscInt pieces = sp->dim == 3 ? 4 : 2;
  PetscInt      *hung[2], *root[2];
  PetscReal     *ends;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PetscCalloc1(k->nkeys, &hung[i]));
    PetscCall(PetscCalloc1(sp->nT, &root[i]));
  }
  PetscCall(PetscMalloc1(k->nkeys, &ends));
  for (PetscInt i = 0; i < k->nkeys; ++i) ends[i] = (PetscReal)sp->dim;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    (void)HopsHangingNodes(&k->hang, sp->hang[c], k->on);
    for (PetscInt i = 0; i < k->ne; ++i) {
      const PetscInt key = HopsUnsigned(k->elist[c * k->ne + i]);

      if (k->entry[i].ends <= 1) ++hung[k->on[i]][key];
      ends[key] = PetscMin(ends[key], (PetscReal)k->entry[i].ends);
    }
  }
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PetscSFReduceBegin(k->keys, MPIU_INT, hung[i], root[i], MPI_SUM));
    PetscCall(PetscSFReduceEnd(k->keys, MPIU_INT, hung[i], root[i], MPI_SUM));
    PetscCall(PetscSFBcastBegin(k->keys, MPIU_INT, root[i], hung[i], MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(k->keys, MPIU_INT, root[i], hung[i], MPI_REPLACE));
  }
  for (PetscInt i = 0; i < k->nkeys; ++i)
    if (ends[i] == 1.0 && hung[1][i] && (hung[1][i] != pieces || hung[0][i] != 1))
      PetscCall(HopsRefuse(k->why,
                           "Unknown %" PetscInt_FMT " inside a facet is listed as a parent's by %" PetscInt_FMT
                           " cells, one of which is %" PetscInt_FMT ", and %" PetscInt_FMT
                           " have it as their own: a facet that hangs is one coarser cell's, and all its %" PetscInt_FMT
                           " parts say so in their masks",
                           k->gidx[i], hung[1][i], k->cell[i], hung[0][i], pieces));
  PetscCall(HopsArraysCheckCounts(sp, k->nkeys, k->gidx, k->count, k->cell, ends, 1, k->keys, k->why));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PetscFree(hung[i]));
    PetscCall(PetscFree(root[i]));
  }
  PetscCall(PetscFree(ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns that this rank's cells list as parents' alone */
static PetscErrorCode Absent(Check *k, const PetscInt seen[])
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < k->nkeys; ++i) sp->nabsent += !seen[i];
  PetscCall(PetscMalloc2(sp->nabsent, &sp->absent, sp->nabsent * dim, &sp->xabsent));
  sp->nabsent = 0;
  for (PetscInt i = 0; i < k->nkeys; ++i) {
    if (seen[i]) continue;
    sp->absent[sp->nabsent] = i;
    for (PetscInt d = 0; d < dim; ++d) sp->xabsent[sp->nabsent * dim + d] = k->place[i * dim + d];
    ++sp->nabsent;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysCheckHanging(HopsArraysWork *a, const PetscInt gidx[], PetscBool check)
{
  HopsSpace sp                   = a->sp;
  MPI_Comm  comm                 = PetscObjectComm((PetscObject)sp);
  char      why[HOPS_WHY_LENGTH] = "";
  Check     k = {.sp = sp, .nkeys = a->m.nT + a->m.nF, .gidx = gidx, .elist = a->m.key, .m = &a->m, .entry = a->entry, .why = why};
  PetscInt *seen;
  PetscBool left;

  PetscFunctionBegin;
  if (check) PetscCall(HopsArraysCheckMaps(sp, why, &left)); /* never left: masks are not turned */
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  PetscCall(HopsArraysKeySF(a, gidx, &k.keys));
  PetscCall(CheckCreate(&k));
  PetscCall(Places(&k, check));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCheck(!check || !sp->repair || sp->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "-hops_repair_geometry moves nodes of arrays in H1 alone, and the space is in %s: give coordinates of the parents' "
             "maps",
             HopsFamilies[sp->family]);
  if (check && sp->repair) {
    PetscCall(Repair(&k));
    PetscCall(HopsArraysCheckMaps(sp, why, &left));
    PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  }
  if (check && sp->family == HOPS_H1) PetscCall(Geometry(&k));
  else if (check) PetscCall(Agree(&k));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(PetscMalloc1(k.nkeys, &seen)); /* as a node of a cell's own, or by no cell */
  for (PetscInt i = 0; i < k.nkeys; ++i) seen[i] = k.count[i] || !a->m.count[i];
  if (check) PetscCall(Siblings(&k));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  if (sp->family == HOPS_H1) PetscCall(Absent(&k, seen));
  PetscCall(PetscFree(seen));
  PetscCall(PetscSFDestroy(&k.keys));
  PetscCall(CheckDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
