/* Spaces from arrays with hanging nodes: masks, and whether nodes, masks and coordinates agree. */
#include <hops/private/hopsderhamimpl.h>
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

PetscErrorCode HopsArraysSetMasks(HopsSpace sp, const unsigned short masks[])
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
  PetscCheck(sp->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "Hanging nodes are for H1, not for %s: refine the mesh uniformly, so that all masks are 0", HopsFamilies[sp->family]);
  PetscCheck(sp->backend == &HopsBackendHost, comm, PETSC_ERR_SUP,
             "Hanging nodes are for the back end host, not for %s: run with -hops_backend host", sp->backend->name);
  PetscCheck(sp->gorder <= sp->order, comm, PETSC_ERR_SUP,
             "With hanging nodes the order of the element maps, %" PetscInt_FMT
             ", must not be above that of the space, %" PetscInt_FMT ": give maps of the space's order",
             sp->gorder, sp->order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the walks over the cells share. A key is seen where a cell has it as a node of its own */
typedef struct {
  HopsSpace       sp;
  const PetscInt *gidx, *elist;
  PetscSF         keys;
  PetscInt        nkeys, np, *ends, *count, *cell; /* ends[np], count[nkeys] and a cell that has it */
  PetscBool      *on;                              /* [np] of the cell at hand */
  PetscReal      *place, *J, *x;                   /* [nkeys][dim] */
  HopsBasis       gll, geom;
  char           *why;
} Check;

static PetscErrorCode CheckCreate(Check *k)
{
  HopsSpace      sp = k->sp;
  const PetscInt P = sp->order + 1, dim = sp->dim;

  PetscFunctionBegin;
  k->np = HopsPower(P, dim);
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &k->gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &k->gll, &k->geom));
  PetscCall(PetscCalloc4(k->np, &k->ends, k->nkeys, &k->count, k->nkeys, &k->cell, k->np, &k->on));
  PetscCall(PetscMalloc3(k->nkeys * dim, &k->place, P * P, &k->J, k->np * dim, &k->x));
  PetscCall(HopsHangingMatrix(P, k->J));
  for (PetscInt i = 0; i < k->nkeys * dim; ++i) k->place[i] = PETSC_MIN_REAL;
  for (PetscInt i = 0; i < k->np; ++i)
    for (PetscInt d = 0, j = i; d < dim; ++d, j /= P) k->ends[i] += j % P == 0 || j % P == P - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDestroy(Check *k)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisDestroy(&k->gll));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree4(k->ends, k->count, k->cell, k->on));
  PetscCall(PetscFree3(k->place, k->J, k->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cell c: which of its nodes are on lines of its parent's, and its lattice */
static PetscErrorCode Cell(Check *k, PetscInt c)
{
  PetscFunctionBegin;
  (void)HopsHangingNodes((int)k->sp->dim, (int)k->sp->order + 1, k->sp->hang[c], k->on);
  PetscCall(HopsArraysLattice(k->sp, &k->geom, c, k->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where unknowns are: as cells have them that see them as nodes of their own; all cells agree */
static PetscErrorCode Places(Check *k)
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim;
  PetscReal     *root;
  MPI_Datatype   unit = MPIU_REAL;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(Cell(k, c));
    for (PetscInt i = 0; i < k->np; ++i) {
      const PetscInt key = k->elist[c * k->np + i];

      k->cell[key] = c;
      if (k->on[i]) continue;
      if (!k->count[key]++)
        for (PetscInt d = 0; d < dim; ++d) k->place[key * dim + d] = k->x[i * dim + d];
    }
  }
  PetscCall(PetscMalloc1(sp->nT, &root));
  for (PetscInt d = 0; d < dim; ++d) { /* the largest: they differ by rounding errors, or are refused below */
    PetscReal *leaf;

    PetscCall(PetscMalloc1(k->nkeys, &leaf));
    for (PetscInt i = 0; i < sp->nT; ++i) root[i] = PETSC_MIN_REAL;
    for (PetscInt i = 0; i < k->nkeys; ++i) leaf[i] = k->place[i * dim + d];
    PetscCall(PetscSFReduceBegin(k->keys, unit, leaf, root, MPIU_MAX));
    PetscCall(PetscSFReduceEnd(k->keys, unit, leaf, root, MPIU_MAX));
    PetscCall(PetscSFBcastBegin(k->keys, unit, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(k->keys, unit, root, leaf, MPI_REPLACE));
    for (PetscInt i = 0; i < k->nkeys; ++i) k->place[i * dim + d] = leaf[i];
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

/* The cells' own nodes are where the unknowns are, or their parents' nodes say */
static PetscErrorCode Geometry(Check *k)
{
  HopsSpace      sp  = k->sp;
  const PetscInt dim = sp->dim, np = k->np;
  PetscReal     *u;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(np, &u));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt *e = k->elist + c * np;
    PetscReal       size, most = 0.0;
    PetscInt        worst = 0;

    PetscCall(Cell(k, c));
    size = HopsArraysSize(sp, k->x);
    for (PetscInt d = 0; d < dim; ++d) {
      for (PetscInt i = 0; i < np; ++i) u[i] = k->place[e[i] * dim + d];
      HopsHangingApply((int)dim, (int)sp->order + 1, sp->hang[c], k->J, PETSC_FALSE, u);
      for (PetscInt i = 0; i < np; ++i) {
        const PetscReal far = PetscAbsReal(u[i] - k->x[i * dim + d]);

        if (!(far <= most)) {
          most  = far;
          worst = i;
        }
      }
    }
    if (most <= HOPS_HANGING_SAME * size) continue;
    if (k->on[worst])
      PetscCall(HopsRefuse(k->why,
                           "Hanging node %" PetscInt_FMT " of cell %" PetscInt_FMT
                           " is %g of the cell's size away from where its parent's nodes put it: either the mask 0x%x does not say "
                           "which facets and edges are half of a parent's and which half they are, or the listed nodes are not the "
                           "parent's in the cell's directions, or the coordinates are not those of the parent's map",
                           worst, c, (double)(most / size), (unsigned)sp->hang[c]));
    else
      PetscCall(HopsRefuse(k->why,
                           "Cell %" PetscInt_FMT " has unknown %" PetscInt_FMT
                           " elsewhere than another cell, by %g of its size: either a mask lacks a hanging facet or edge, or the "
                           "numbers do not follow the lattices of both; meshes with hanging nodes cannot be periodic here",
                           c, k->gidx[e[worst]], (double)(most / size)));
  }
  PetscCall(PetscFree(u));
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
    (void)HopsHangingNodes((int)sp->dim, (int)sp->order + 1, sp->hang[c], k->on);
    for (PetscInt i = 0; i < k->np; ++i) {
      const PetscInt key = k->elist[c * k->np + i];

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

PetscErrorCode HopsArraysCheckHanging(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], const PetscInt elist[], PetscSF keys)
{
  MPI_Comm  comm                 = PetscObjectComm((PetscObject)sp);
  char      why[HOPS_WHY_LENGTH] = "";
  Check     k                    = {.sp = sp, .nkeys = nkeys, .gidx = gidx, .elist = elist, .keys = keys, .why = why};
  PetscInt *seen;
  PetscBool left;

  PetscFunctionBegin;
  PetscCall(HopsArraysCheckMaps(sp, why, &left)); /* never left: masks are not turned */
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  PetscCall(CheckCreate(&k));
  PetscCall(Places(&k));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(Geometry(&k));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(PetscMalloc1(nkeys, &seen));
  PetscCall(PetscArraycpy(seen, k.count, nkeys));
  PetscCall(Siblings(&k));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(Apart(&k, seen));
  PetscCall(PetscFree(seen));
  PetscCall(CheckDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
