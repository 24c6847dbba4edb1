/* HopsSpace from raw arrays, the form in which spectral-element codes hold their mesh. */
#include <hops/private/hopsarraysimpl.h>
#include <petscdevice.h>

PetscErrorCode HopsArraysCheckSame(MPI_Comm comm, PetscInt dim, PetscInt order, PetscInt gorder)
{
  const char *const what[3] = {"dimension", "order", "order of the element maps"};
  PetscInt64        most[6] = {dim, order, gorder, -(PetscInt64)dim, -(PetscInt64)order, -(PetscInt64)gorder};

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, most, 6, MPIU_INT64, MPI_MAX, comm));
  for (PetscInt i = 0; i < 3; ++i)
    PetscCheck(most[i] == -most[3 + i], comm, PETSC_ERR_ARG_INCOMP,
               "The %s of a space is %" PetscInt64_FMT " on some rank and %" PetscInt64_FMT
               " on another: give the same on all ranks",
               what[i], -most[3 + i], most[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes and pointers; ne unknowns and nx coordinates a cell */
static PetscErrorCode HopsArraysCheckSizes(MPI_Comm comm, PetscInt ncells, PetscInt n, PetscInt ne, PetscInt nx,
                                           const PetscInt unknowns[], const PetscReal coords[], PetscInt ness, const PetscInt ess[])
{
  char       why[HOPS_WHY_LENGTH] = "";
  PetscInt64 sum[2];

  PetscFunctionBegin;
  if (ncells < 0 || n < 0 || ness < 0)
    PetscCall(HopsRefuse(why,
                         "Negative sizes: %" PetscInt_FMT " cells, %" PetscInt_FMT " owned unknowns, %" PetscInt_FMT
                         " essential unknowns",
                         ncells, n, ness));
  else if (ncells && (!unknowns || !coords))
    PetscCall(HopsRefuse(why, "A rank has %" PetscInt_FMT " cells, and the array of their %s is NULL", ncells,
                         unknowns ? "coordinates" : "unknowns"));
  else if (ness && !ess)
    PetscCall(HopsRefuse(why, "A rank has %" PetscInt_FMT " essential unknowns, and their array is NULL", ness));
  else if (ncells > PETSC_INT_MAX / PetscMax(ne, nx))
    PetscCall(HopsRefuse(why,
                         "A rank has %" PetscInt_FMT " cells of %" PetscInt_FMT " unknowns and %" PetscInt_FMT
                         " coordinates, more than this PETSc's indices reach: use more ranks, or a PETSc with 64-bit indices "
                         "(--with-64-bit-indices)",
                         ncells, ne, nx));
  else if ((PetscInt64)ncells * ne >= HOPS_UNTOUCHED || n >= INT_MAX)
    PetscCall(HopsRefuse(why,
                         "A rank has %" PetscInt_FMT " cells of %" PetscInt_FMT " unknowns, and owns %" PetscInt_FMT
                         ": places of unknowns in cells are numbered up to %d, which 64-bit indices do not change: use more ranks",
                         ncells, ne, n, HOPS_UNTOUCHED));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  sum[0] = n;
  sum[1] = (PetscInt64)ncells * ne;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, comm));
  PetscCheck(sum[0] <= sum[1], comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The ranks own %" PetscInt64_FMT " unknowns, more than the %" PetscInt64_FMT
             " that all cells have: number the unknowns without gaps, each owned by one rank",
             sum[0], sum[1]);
  PetscCheck(sum[0] <= PETSC_INT_MAX, comm, PETSC_ERR_SUP,
             "There are %" PetscInt64_FMT " unknowns, more than this PETSc's indices reach (%" PetscInt_FMT
             "): use a PETSc with 64-bit indices (--with-64-bit-indices)",
             sum[0], PETSC_INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array of n bytes is the process's or a device's. Where that is not where `at` works, *array and *copy
   become a copy there */
static PetscErrorCode HopsArrayBring(MPI_Comm comm, const HopsBackendOps *at, size_t n, const void **array, void **copy)
{
  PetscMemType          type = at->memtype;
  const HopsBackendOps *be   = at;

  PetscFunctionBegin;
  *copy = NULL;
  if (n && *array) PetscCall(PetscGetMemType(*array, &type));
  if (PetscMemTypeHost(type) ? PetscMemTypeHost(at->memtype) : !PetscMemTypeHost(at->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!PetscMemTypeHost(type)) PetscCall(HopsBackendOfMemory(type, &be));
  PetscCheck(be, comm, PETSC_ERR_SUP,
             "The arrays are in the memory of a device that hops has no back end for: copy them to the process's");
  PetscCall((*at->memory->PoolMalloc)(n, copy));
  PetscCall((*be->memory->Copy)(NULL, *copy, *array, n, PetscMemTypeHost(type) ? HOPS_COPY_IN : HOPS_COPY_OUT));
  *array = *copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of essential unknowns in [0,N) */
static PetscErrorCode HopsArraysCheckEssential(HopsSpace sp, PetscInt ness, const PetscInt ess[], char why[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < ness; ++i)
    if (ess[i] < 0 || ess[i] >= sp->N)
      PetscCall(HopsRefuse(why, "Essential unknown %" PetscInt_FMT " is outside [0,%" PetscInt_FMT ")", ess[i], sp->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unknown is essential everywhere if any rank says so: mark[] of this rank's, then of others' that its
   cells have */
static PetscErrorCode HopsArraysMarkEssential(HopsArraysWork *a, PetscInt ness, const PetscInt ess[], unsigned char mark[])
{
  const PetscInt nT    = a->m.nT;
  const PetscInt first = a->m.rstart;
  PetscInt      *other, *leaf, *root, n = 0;
  PetscLayout    layout;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(mark, nT + a->m.nF));
  PetscCall(PetscMalloc1(ness, &other));
  for (PetscInt i = 0; i < ness; ++i) {
    if (ess[i] >= first && ess[i] < first + nT) mark[ess[i] - first] = 1;
    else other[n++] = ess[i];
  }
  if (a->sf) {
    PetscCall(PetscMalloc2(nT, &root, PetscMax(n, a->m.nF), &leaf));
    for (PetscInt i = 0; i < nT; ++i) root[i] = mark[i];
    for (PetscInt i = 0; i < n; ++i) leaf[i] = 1;
    PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)a->sp), nT, PETSC_DETERMINE, 1, &layout));
    PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)a->sp), &sf));
    PetscCall(PetscSFSetGraphLayout(sf, layout, n, NULL, PETSC_OWN_POINTER, other));
    PetscCall(PetscSFReduceBegin(sf, MPIU_INT, leaf, root, MPI_MAX));
    PetscCall(PetscSFReduceEnd(sf, MPIU_INT, leaf, root, MPI_MAX));
    PetscCall(PetscSFBcastBegin(a->sf, MPIU_INT, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(a->sf, MPIU_INT, root, leaf, MPI_REPLACE));
    for (PetscInt i = 0; i < nT; ++i) mark[i] = root[i] ? 1 : 0;
    for (PetscInt i = 0; i < a->m.nF; ++i) mark[nT + i] = leaf[i] ? 1 : 0;
    PetscCall(PetscFree2(root, leaf));
    PetscCall(PetscSFDestroy(&sf));
    PetscCall(PetscLayoutDestroy(&layout));
  }
  PetscCall(PetscFree(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of an essential unknown is known from its owner's cells alone */
static PetscErrorCode HopsArraysCheckMarked(HopsArraysWork *a, const unsigned char mark[])
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt n                    = 0;
  int     *list, *count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(a->nuntouched ? a->m.nT : 0, &list, a->nuntouched ? a->m.nT : 0, &count));
  for (PetscInt k = 0; k < a->m.nT && a->nuntouched; ++k)
    if (mark[k]) list[n++] = (int)k;
  PetscCall((*a->at->arrays->ReadInts)(n, list, a->m.count, count));
  for (PetscInt i = 0; i < n; ++i)
    if (!count[i])
      PetscCall(HopsRefuse(why,
                           "Essential unknown %" PetscInt_FMT
                           " is owned by a rank none of whose cells touch it: let it be owned by a rank with such a cell",
                           a->m.rstart + list[i]));
  PetscCall(PetscFree2(list, count));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)a->sp), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks and numbers, by the process */
static PetscErrorCode HopsArraysNumber_Process(HopsArraysWork *a, const unsigned char mark[], PetscBool check)
{
  HopsSpace      sp    = a->sp;
  const PetscInt nkeys = a->m.nT + a->m.nF;
  PetscInt      *gidx;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncells, &sp->cell));
  for (PetscInt c = 0; c < sp->ncells; ++c) sp->cell[c] = c;
  sp->X = a->X;
  PetscCall(PetscMalloc1(nkeys, &gidx));
  for (PetscInt k = 0; k < nkeys; ++k) gidx[k] = HopsArraysGlobal(&a->m, (int)k);
  if (sp->hanging) PetscCall(HopsArraysCheckHanging(a, gidx, check));
  else if (check) PetscCall(HopsArraysCheck(a, gidx));
  PetscCall(HopsSpaceSetUpNumbering(sp, nkeys, gidx, mark, a->m.key));
  PetscCall(PetscFree(gidx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysFinish(HopsArraysWork *a, PetscInt ness, const PetscInt ess[], PetscBool check)
{
  unsigned char *mark;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(a->m.nT + a->m.nF, &mark));
  PetscCall(HopsArraysMarkEssential(a, ness, ess, mark));
  PetscCall(HopsArraysCheckMarked(a, mark));
  if (a->process) PetscCall(HopsArraysNumber_Process(a, mark, check));
  else PetscCall(HopsArraysNumber_Apart(a, mark, check));
  PetscCall(PetscFree(mark));
  PetscCall(HopsArraysWorkDestroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space of any family. unknowns[ncells][ne] as the public functions say, coords at the nodes of order
   gorder */
PetscErrorCode HopsSpaceCreateArrays_Private(MPI_Comm comm, HopsFamily family, PetscInt dim, PetscInt order, PetscInt ncells,
                                             PetscInt n, const PetscInt unknowns[], PetscInt gorder, const PetscReal coords[],
                                             const unsigned short masks[], PetscInt ness, const PetscInt ess[], PetscBool check,
                                             HopsSpace *space)
{
  HopsSpace             sp;
  HopsLayout            l;
  HopsArraysWork        a;
  const HopsBackendOps *at;
  PetscInt              np;
  PetscLayout           layout;
  char                  why[HOPS_WHY_LENGTH] = "";
  const char           *was                  = HopsMake("the space");
  void                 *copy[3];

  PetscFunctionBegin;
  PetscCall(HopsArraysCheckSame(comm, dim, order, gorder));
  PetscCall(HopsSpaceCreate_Private(comm, dim, order, &sp));
  PetscCheck(gorder >= 1 && gorder <= 64, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The order of the element maps must be between 1 and 64, not %" PetscInt_FMT, gorder);
  PetscCall(PetscLogEventBegin(HopsEvent.space, sp, 0, 0, 0));
  HopsLayoutCreate(family, dim, order, &l);
  np = HopsPower(gorder + 1, dim);
  PetscCall(HopsArraysCheckSizes(comm, ncells, n, l.ne, np * dim, unknowns, coords, ness, ess));
  at = HopsArraysAreApart(sp->backend) && !masks ? sp->backend : &HopsBackendHost;
  PetscCall(HopsArrayBring(comm, at, (size_t)ncells * l.ne * sizeof(PetscInt), (const void **)&unknowns, &copy[0]));
  PetscCall(HopsArrayBring(comm, at, (size_t)ncells * np * dim * sizeof(PetscReal), (const void **)&coords, &copy[1]));
  PetscCall(HopsArrayBring(comm, &HopsBackendHost, ness * sizeof(PetscInt), (const void **)&ess, &copy[2]));
  PetscCall(PetscLayoutCreateFromSizes(comm, n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRange(layout, &sp->rstart, NULL));
  PetscCall(PetscLayoutGetSize(layout, &sp->N));
  PetscCall(PetscLayoutDestroy(&layout));
  sp->family = family;
  sp->ne     = l.ne;
  sp->nT     = n;
  sp->ncells = sp->ncaller = ncells;
  sp->gorder               = gorder;
  PetscCall(HopsArraysWorkCreate(sp, at, unknowns, coords, &a, why));
  PetscCall(HopsArraysCheckEssential(sp, ness, ess, why));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(HopsArraysSetMasks(sp, masks, check));
  PetscCall(HopsArraysFinishKeys(&a, unknowns));
  PetscCall(HopsArraysFinish(&a, ness, ess, check));
  for (int i = 0; i < 3; ++i) PetscCall((*(i < 2 ? at : &HopsBackendHost)->memory->PoolFree)(&copy[i]));
  PetscCall(PetscLogEventEnd(HopsEvent.space, sp, 0, 0, 0));
  (void)HopsMake(was);
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceCreateFromArrays - Creates an H1 `HopsSpace` from the arrays of a spectral-element code.

  Collective

  Input Parameters:
+ comm   - the communicator
. dim    - 2 or 3
. order  - the polynomial order p, 1 or more
. ncells - number of cells on this rank (may be 0)
. n      - number of unknowns owned by this rank: rank r owns a contiguous range of global indices, as in a
  `Vec`
. nodes  - [ncells][(p+1)^dim] global index of each Gauss-Lobatto-Legendre node of each cell, x fastest
. coords - [ncells][(p+1)^dim][dim] coordinates of those nodes
. ness   - number of essential unknowns listed by this rank
- ess    - [ness] global indices of essential (Dirichlet) unknowns; every rank with a cell that touches one
  lists it, or its owner does

  Output Parameter:
. space - the space

  Level: beginner

  Notes:
  Essential unknowns stay in the vectors: their rows and columns are those of the identity, in the operator
  and in the low-order-refined matrix alike. The arrays are copied. They may lie in a device's memory.

  With an operator of your own (`MatSetHopsSpace()`) none need be listed: `PCLOR` finds them in it.
  `HopsSpaceCreateFromNodes()` takes other numbers, which hops finds the owners of, and other orders of nodes.

  Arrays that contradict themselves are refused, on all ranks: an unknown of no cell, or at two nodes of a
  cell; cells that have a common unknown at different places of their common edge or face, or share nodes
  inside of an edge or face but not all of it (a slit has nodes of its own inside); cells given twice;
  coordinates that are not finite, or at equispaced points rather than the Gauss-Lobatto-Legendre points;
  lattices that are left-handed in some of the cells (a mesh all of whose cells are left-handed is taken
  as it is), or out of order. Periodic meshes are fine as long as what is identified is a translation (of
  order 1, only corners exchanged in a cell are found there).

.seealso: `HopsSpace`, `HopsSpaceCreateFamilyFromArrays()`, `HopsSpaceCreateFromDM()`, `HopsSpaceCreateH1()`,
`MatSetHopsSpace()`, `PCLORSetSpace()`
@*/
PetscErrorCode HopsSpaceCreateFromArrays(MPI_Comm comm, PetscInt dim, PetscInt order, PetscInt ncells, PetscInt n,
                                         const PetscInt nodes[], const PetscReal coords[], PetscInt ness, const PetscInt ess[],
                                         HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidPointer(space, 10);
  PetscCall(
    HopsSpaceCreateArrays_Private(comm, HOPS_H1, dim, order, ncells, n, nodes, order, coords, NULL, ness, ess, PETSC_TRUE, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceCreateFamilyFromArrays - Creates a `HopsSpace` of any family from arrays: for H(curl), H(div) and
  L2, a user's own mesh and numbering.

  Collective

  Input Parameters:
+ comm     - the communicator
. family   - the family
. dim      - 2 or 3
. order    - the order p, 1 for the lowest
. ncells   - number of cells on this rank (may be 0)
. n        - number of unknowns owned by this rank: rank r owns a contiguous range of global indices, as in a
  `Vec`
. unknowns - [ncells][ne] global index g of each unknown of each cell, or -1-g where the cell sees it with the
  opposite sign; see the notes
. gorder   - the order of the element maps, 1 (bi- or trilinear) or more; it need not be the space's
. coords   - [ncells][(gorder+1)^dim][dim] coordinates of the Gauss-Lobatto-Legendre nodes of that order, x
  fastest
. ness     - number of essential unknowns listed by this rank
- ess      - [ness] global indices of essential unknowns; every rank with a cell that touches one lists it, or
  its owner does

  Output Parameter:
. space - the space

  Level: intermediate

  Notes:
  The unknowns of a cell are integrals over the entities of the lattice of its (p+1)^dim
  Gauss-Lobatto-Legendre points, one component after the other, and within a component x fastest: `unknowns`
  has the shape

.vb
  H(curl), 3D   [p+1][p+1][p] lines along x, [p+1][p][p+1] along y, [p][p+1][p+1] along z (indices z, y, x)  
  ne = 3 p (p+1)^2
  H(curl), 2D   [p+1][p] lines along x, [p][p+1] along y (indices y, x)                                      
  ne = 2 p (p+1)
  H(div), 3D    [p][p][p+1] faces across x, [p][p+1][p] across y, [p+1][p][p] across z                       
  ne = 3 p^2 (p+1)
  H(div), 2D    [p][p+1] edges across x, [p+1][p] across y                                                   
  ne = 2 p (p+1)
  L2            [p]^dim boxes                                                                                
  ne = p^dim
  H1            [p+1]^dim points
.ve

  A cell sees lines along its own reference directions, and fluxes in them. What other codes call the
  lexicographic element restriction of interpolation and histopolation bases (with signs as -1-g) is this
  array. Numbers of a face that two cells share follow from the lattice: the same line or face has the same
  number in both, however the cells lie.

  Data that contradict each other are refused: two cells that give one unknown must agree on the line or face
  behind it, on its place within their common edge or face, and, with the signs, on its direction. Periodic
  meshes are fine as long as what is identified is a translation.

  Essential unknowns (tangential for H(curl), normal for H(div)) stay in the vectors, with the rows and
  columns of the identity. The arrays are copied. They may lie in a device's memory.

  `PCLOR` with AMS needs the H1 space of the same cells, with ADS the H1 and the H(curl) space: create them
  from arrays too and tell by `HopsSpaceSetCompanion()`.

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceSetCompanion()`, `HopsSpaceCreateFromArrays()`,
`HopsSpaceCreateHCurl()`, `HopsSpaceCreateHDiv()`
@*/
PetscErrorCode HopsSpaceCreateFamilyFromArrays(MPI_Comm comm, HopsFamily family, PetscInt dim, PetscInt order, PetscInt ncells,
                                               PetscInt n, const PetscInt unknowns[], PetscInt gorder, const PetscReal coords[],
                                               PetscInt ness, const PetscInt ess[], HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidEnum(family, HOPS_L2, 2);
  HopsValidPointer(space, 12);
  PetscCall(HopsSpaceCreateArrays_Private(comm, family, dim, order, ncells, n, unknowns, gorder, coords, NULL, ness, ess,
                                          PETSC_TRUE, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceCreateAdaptiveFromArrays - Creates a `HopsSpace` from arrays of an adaptive mesh, whose cells may
  have hanging nodes.

  Collective

  Input Parameters:
+ comm     - the communicator
. family   - the family
. dim      - 2 or 3
. order    - the order p, 1 for the lowest
. ncells   - number of cells on this rank (may be 0)
. n        - number of unknowns owned by this rank, as in `HopsSpaceCreateFamilyFromArrays()`
. unknowns - [ncells][ne] global index of each unknown of each cell, with signs, as in
  `HopsSpaceCreateFamilyFromArrays()`: of H1 the nodes, x fastest; see the notes
. masks    - [ncells] where the cell's nodes hang, or 0; see the notes
. gorder   - the order of the element maps, 1 (bi- or trilinear) or more; it need not be the space's
. coords   - [ncells][(gorder+1)^dim][dim] coordinates of the cell's own Gauss-Lobatto-Legendre nodes of that
  order, x fastest
. ness     - number of essential unknowns listed by this rank
- ess      - [ness] global indices of essential unknowns; every rank with a cell that lists one lists it, or
  its owner does

  Output Parameter:
. space - the space

  Level: intermediate

  Notes:
  A facet, or in 3D an edge, of a cell hangs where it is half (a facet in 3D: a quarter) of one of a coarser
  cell. The cell lists the nodes of that whole facet or edge there, its parent's, in its own directions.
  Hanging nodes have no numbers. In H(curl) and H(div) the cell lists the lines and faces of the parent's
  there, -1-g where it sees one with the opposite sign. `masks` says where they are:

.vb
  bits 0 .. dim-1      the position in the parent: bit d is set in the upper half of direction d
  bits dim .. 2*dim-1  bit d: the facet across direction d hangs; it is on the side that the position says
  bits 6 .. 8, in 3D   bit d: the edge along direction d hangs; it is on the two sides that the position says
.ve

  These are the `face_code` and `element_nodes` of `p4est_lnodes_new()`. Edges of hanging facets hang; their
  bits may be set or not. Neighbours across facets and edges differ by one level of refinement at most (in
  p4est, `P4EST_CONNECT_FULL`).

  The function on a cell is what the parent's unknowns make it: it is continuous, in H(curl) its tangential
  components, in H(div) the normal one. Constants and, on boxes, polynomials of the order are exact. A hanging
  node is essential where its parent's nodes are: no list has it.

  L2 has no hanging nodes. It takes masks, since a derivative maps between spaces of the same masks.

  Masks and coordinates that contradict each other are refused, on all ranks: a hanging node, interpolated
  from its parent's nodes, that is not where the cell's coordinates have it, to 1e-10 of the cell (in H(curl)
  and H(div) roughly, where the maps have an order above 3: an H1 space on the cells tells); an unknown
  at different places; a facet some of whose parts hang and others do not; an unknown that no cell has as a
  node of its own. Curved cells must therefore be evaluated from the parent's map at shared facets. Periodic
  meshes are refused. In H1 `-hops_repair_geometry` closes gaps of up to a tenth of a cell, by the maps of the
  cells whose nodes hang.

  What works, and what refuses such a space, is in the guide (adaptive meshes). The arrays are copied. They
  may lie in a device's memory, `masks` in the process's.

.seealso: `HopsSpace`, `HopsSpaceCreateFromArrays()`, `HopsSpaceCreateFamilyFromArrays()`,
`PCLORSetConstraintEntries()`
@*/
PetscErrorCode HopsSpaceCreateAdaptiveFromArrays(MPI_Comm comm, HopsFamily family, PetscInt dim, PetscInt order, PetscInt ncells,
                                                 PetscInt n, const PetscInt unknowns[], const unsigned short masks[],
                                                 PetscInt gorder, const PetscReal coords[], PetscInt ness, const PetscInt ess[],
                                                 HopsSpace *space)
{
  static const unsigned short none                 = 0;
  char                        why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  HopsValidEnum(family, HOPS_L2, 2);
  HopsValidPointer(space, 13);
  if (ncells > 0 && !masks)
    PetscCall(HopsRefuse(why,
                         "A rank has %" PetscInt_FMT " cells, and the array of their masks is NULL: a cell without hanging "
                         "nodes has the mask 0",
                         ncells));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_NULL, why));
  PetscCall(HopsSpaceCreateArrays_Private(comm, family, dim, order, ncells, n, unknowns, gorder, coords, ncells > 0 ? masks : &none,
                                          ness, ess, PETSC_TRUE, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}
