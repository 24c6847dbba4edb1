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
  HopsSpace       sp;
  const PetscInt *gidx;
  const int      *elist;
  PetscSF         keys;
  PetscInt        nkeys, ne, nv, *ends, *count, *cell; /* ends[ne], count[nkeys] and a cell that has it */
  PetscBool      *on;                                  /* [ne] of the cell at hand */
  PetscReal      *place, *x, *lattice;                 /* [nkeys][nv], [ne][nv], [P^dim][dim] */
  HopsLayout      layout;
  HopsHanging     hang;
  HopsBasis       gll, geom;
  PetscReal      *go[2], tol; /* [P][gorder + 1] maps at the nodes of a parent, of which the cell is a half; see GoOn() */
  char           *why;
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
  HopsSpace         sp = k->sp;
  const HopsLayout *l  = &k->layout;
  const PetscInt    P = sp->order + 1, dim = sp->dim;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, dim, sp->order, &k->layout);
  k->ne = sp->ne;
  k->nv = sp->family == HOPS_H1 ? dim : 2 * dim;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &k->gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &k->gll, &k->geom));
  PetscCall(GoOn(k));
  PetscCall(PetscCalloc4(k->ne, &k->ends, k->nkeys, &k->count, k->nkeys, &k->cell, k->ne, &k->on));
  PetscCall(PetscMalloc3(k->nkeys * k->nv, &k->place, k->ne * k->nv, &k->x, HopsPower(P, dim) * dim, &k->lattice));
  PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &k->hang));
  for (PetscInt i = 0; i < k->nkeys * k->nv; ++i) k->place[i] = PETSC_MIN_REAL;
  for (PetscInt c = 0; c < l->nc; ++c)
    for (PetscInt i = l->off[c]; i < l->off[c + 1]; ++i)
      for (PetscInt d = 0, j = i - l->off[c]; d < dim; ++d, j /= l->n[c][d - 1])
        k->ends[i] += !l->open[c][d] && (j % P == 0 || j % P == P - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDestroy(Check *k)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisDestroy(&k->gll));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree2(k->go[0], k->go[1]));
  PetscCall(HopsHangingDestroy(&k->hang));
  PetscCall(PetscFree4(k->ends, k->count, k->cell, k->on));
  PetscCall(PetscFree3(k->place, k->x, k->lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cell c: which of its entries are on lines of its parent's; its lattice, or its parent's */
static PetscErrorCode Lattice(Check *k, PetscInt c, PetscBool parent)
{
  HopsSpace        sp  = k->sp;
  const PetscInt   dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim), ng = HopsPower(sp->gorder + 1, dim);
  const PetscInt   m[3] = {P, P, P}, n[3] = {sp->gorder + 1, sp->gorder + 1, sp->gorder + 1};
  const PetscReal *M[3];
  PetscReal       *u, *work;

  PetscFunctionBegin;
  if (!parent) {
    PetscCall(HopsArraysLattice(sp, &k->geom, c, k->lattice));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(np, &u, 2 * np, &work)); /* the map's order is not above the space's */
  for (PetscInt d = 0; d < dim; ++d) M[d] = k->go[sp->hang[c] >> d & 1];
  for (PetscInt d = 0; d < dim; ++d) {
    HopsTensorApplyRect(dim, m, n, M, sp->X + (c * dim + d) * ng, u, work);
    for (PetscInt i = 0; i < np; ++i) k->lattice[i * dim + d] = u[i];
  }
  PetscCall(PetscFree2(u, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x: the middle and the vector of entry i, of component c, on the lattice: a line's is from its start to its
   end, a face's, or an edge's in 2D, is across, a box has none */
static void Entity(const Check *k, PetscInt c, PetscInt i, PetscReal sign, PetscReal x[])
{
  const HopsLayout *l   = &k->layout;
  const PetscInt    dim = k->sp->dim, P = k->sp->order + 1, ii = i - l->off[c], st[3] = {1, P, P * P};
  const PetscInt    at[3]   = {ii % l->n[c][0], ii / l->n[c][0] % l->n[c][1], ii / (l->n[c][0] * l->n[c][1])};
  PetscReal         t[2][3] = {{0.0}};
  PetscInt          first = 0, step[3], no = 0;

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscInt e = k->sp->family == HOPS_HDIV && dim == 3 ? (c + 1 + d) % 3 : d;

    first += at[d] * st[d];
    if (l->open[c][e]) step[no++] = st[e];
  }
  for (PetscInt d = 0; d < dim; ++d) {
    x[d] = x[dim + d] = 0.0;
    for (PetscInt v = 0; v < 1 << no; ++v) {
      PetscInt node = first;

      for (PetscInt o = 0; o < no; ++o) node += v >> o & 1 ? step[o] : 0;
      x[d] += k->lattice[node * dim + d] / (1 << no);
      for (PetscInt o = 0; o < PetscMin(no, 2); ++o) t[o][d] += (v >> o & 1 ? 2.0 : -2.0) * k->lattice[node * dim + d] / (1 << no);
    }
  }
  if (k->sp->family == HOPS_HCURL)
    for (PetscInt d = 0; d < dim; ++d) x[dim + d] = sign * t[0][d];
  else if (k->sp->family == HOPS_HDIV && dim == 2) {
    x[2] = sign * (c ? -t[0][1] : t[0][1]);
    x[3] = sign * (c ? t[0][0] : -t[0][0]);
  } else if (k->sp->family == HOPS_HDIV)
    for (PetscInt d = 0; d < 3; ++d)
      x[3 + d] = sign * (t[0][(d + 1) % 3] * t[1][(d + 2) % 3] - t[0][(d + 2) % 3] * t[1][(d + 1) % 3]);
}

static PetscErrorCode Cell(Check *k, PetscInt c)
{
  HopsSpace         sp   = k->sp;
  const HopsLayout *l    = &k->layout;
  const PetscInt    some = HopsHangingNodes(&k->hang, sp->hang[c], k->on);

  PetscFunctionBegin;
  if (sp->family == HOPS_H1) {
    PetscCall(HopsArraysLattice(sp, &k->geom, c, k->x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt parent = some ? 1 : 0; parent >= 0; --parent) { /* the cell's own lattice is left */
    PetscCall(Lattice(k, c, parent ? PETSC_TRUE : PETSC_FALSE));
    for (PetscInt m = 0; m < l->nc; ++m)
      for (PetscInt i = l->off[m]; i < l->off[m + 1]; ++i)
        if (k->on[i] == (parent ? PETSC_TRUE : PETSC_FALSE)) Entity(k, m, i, HopsSign(k->elist[c * k->ne + i]), k->x + i * k->nv);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where unknowns are: as cells have them that see them as nodes of their own; all cells agree */
static PetscErrorCode Places(Check *k)
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
  for (PetscInt i = 0; i < sp->nT; ++i)
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
  PetscCall(Places(k));
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
    size = HopsArraysCellSize(dim, sp->order + 1, 1, dim, k->lattice);
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

      if (k->ends[i] <= 1) ++hung[k->on[i]][key];
      ends[key] = PetscMin(ends[key], (PetscReal)k->ends[i]);
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
static PetscErrorCode Apart(Check *k, const PetscInt seen[])
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < k->nkeys; ++i) sp->napart += !seen[i];
  PetscCall(PetscMalloc2(sp->napart, &sp->apart, sp->napart * dim, &sp->xapart));
  sp->napart = 0;
  for (PetscInt i = 0; i < k->nkeys; ++i) {
    if (seen[i]) continue;
    sp->apart[sp->napart] = i;
    for (PetscInt d = 0; d < dim; ++d) sp->xapart[sp->napart * dim + d] = k->place[i * dim + d];
    ++sp->napart;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysCheckHanging(HopsArraysWork *a, const PetscInt gidx[], PetscBool check)
{
  HopsSpace sp                   = a->sp;
  MPI_Comm  comm                 = PetscObjectComm((PetscObject)sp);
  char      why[HOPS_WHY_LENGTH] = "";
  Check     k                    = {.sp = sp, .nkeys = a->m.nT + a->m.nF, .gidx = gidx, .elist = a->m.key, .why = why};
  PetscInt *seen;
  PetscBool left;

  PetscFunctionBegin;
  if (check) PetscCall(HopsArraysCheckMaps(sp, why, &left)); /* never left: masks are not turned */
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  PetscCall(HopsArraysKeySF(a, gidx, &k.keys));
  PetscCall(CheckCreate(&k));
  PetscCall(Places(&k));
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
  if (sp->family == HOPS_H1) PetscCall(Apart(&k, seen));
  PetscCall(PetscFree(seen));
  PetscCall(PetscSFDestroy(&k.keys));
  PetscCall(CheckDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
