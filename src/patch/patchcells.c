/* What patches need to know of the cells: numbering, and the cells of other ranks around a rank's own. */
#include <hops/private/hopspatchimpl.h>

/* E-vector node of a corner of a cell of n nodes per direction */
static inline PetscInt CornerNode(PetscInt dim, PetscInt n, PetscInt corner)
{
  PetscInt node = 0;

  for (PetscInt d = dim - 1; d >= 0; --d) node = node * n + ((corner >> d) & 1 ? n - 1 : 0);
  return node;
}

/* Corners of own cells: indices, and numbers of vertices */
static PetscErrorCode OwnCorners(HopsPatchCells *pc)
{
  HopsSpace sp = pc->space;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pc->n * pc->nv, &pc->vid));
  PetscCall(PetscMalloc1(pc->n * pc->nv, &pc->number));
  PetscCall(PetscCalloc1(sp->nL, &pc->vertex));
  PetscCall((*HopsPatchSetUpOf(sp)->Corners)(&pc->bnodes, pc->corner, pc->n, pc->number));
  for (PetscInt k = 0; k < pc->n * pc->nv; ++k) {
    const PetscInt l = pc->number[k];

    if (!pc->vertex[l]) pc->vertex[l] = (int)++pc->nvertex;
    pc->number[k] = pc->vertex[l] - 1;
    pc->vid[k]    = l < sp->nT ? sp->rstart + l : (l < sp->nT + sp->nG ? sp->ghost[l - sp->nT] : -2 - l);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own[] of cell c */
static void OwnVertices(HopsPatchCells *pc, PetscInt c)
{
  for (PetscInt k = c * pc->nv; k < (c + 1) * pc->nv && pc->space->hanging; ++k)
    pc->own[k] = HopsPatchCornerIsOwn(pc, k) ? pc->vid[k] : HOPS_PATCH_HANGS;
}

static PetscErrorCode OwnMasks(HopsPatchCells *pc)
{
  HopsSpace sp = pc->space;

  PetscFunctionBegin;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &pc->hanging));
  PetscCall(PetscMalloc1(pc->n, &pc->hang));
  PetscCall(PetscMalloc1(pc->n * pc->nv, &pc->own));
  PetscCall(PetscArraycpy(pc->hang, sp->hang, pc->n));
  for (PetscInt c = 0; c < pc->n; ++c) OwnVertices(pc, c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What other ranks ask of own cells */
static PetscErrorCode OwnPositions(HopsPatchCells *pc)
{
  PetscInt   *cells;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc->space), &rank));
  PetscCall(PetscMalloc1(pc->n, &cells));
  PetscCall(PetscMalloc1(2 * pc->n, &pc->home));
  PetscCall(PetscMalloc1(pc->n * pc->nv * pc->space->dim, &pc->x));
  for (PetscInt c = 0; c < pc->n; ++c) {
    pc->home[2 * c]     = rank;
    pc->home[2 * c + 1] = cells[c] = c;
  }
  PetscCall((*HopsPatchSetUpOf(pc->space)->Positions)(&pc->maps, pc->n, cells, pc->x));
  PetscCall(PetscFree(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchCellsCreate(HopsForm form, const HopsBasis *basis, HopsPatchCells *pc)
{
  HopsSpace        sp  = form->space;
  const PetscInt   dim = sp->dim;
  const int       *restr;
  const PetscReal *X;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  PetscCall(PetscMemzero(pc, sizeof(*pc)));
  pc->space = sp;
  pc->form  = form;
  pc->basis = basis;
  pc->nn    = HopsPower(sp->order + 1, dim);
  pc->nv    = 1 << dim;
  pc->n = pc->nown = sp->ncells;
  pc->nodesof      = -1;
  PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &X));
  pc->maps   = (HopsPatchMaps){.dim = (int)dim, .nv = (int)pc->nv, .nx = (int)HopsPower(sp->gorder + 1, dim), .X = X};
  pc->bnodes = (HopsPatchNodes){.dim  = (int)dim,
                                .P    = (int)sp->order + 1,
                                .nn   = (int)pc->nn,
                                .nT   = (int)sp->nT,
                                .nown = (int)pc->nown,
                                .own  = restr};
  for (PetscInt v = 0; v < pc->nv; ++v) {
    pc->corner[v]      = CornerNode(dim, sp->order + 1, v);
    pc->maps.corner[v] = (int)CornerNode(dim, sp->gorder + 1, v);
  }
  PetscCall(PetscMalloc1(pc->n, &pc->data));
  PetscCall(OwnCorners(pc));
  PetscCall(OwnMasks(pc));
  if (size > 1 || sp->hanging) PetscCall(OwnPositions(pc));
  if (size > 1 || sp->hanging) PetscCall(HopsPatchCellsIndex(pc));
  PetscCall(HopsPatchCellsModel(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchCellsBring(HopsPatchCells *pc)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(pc->space));
  pc->nodes.own = pc->space->restr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchCellsIndex(HopsPatchCells *pc)
{
  HopsSpace sp = pc->space;

  PetscFunctionBegin;
  if (pc->gid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPatchCellsBring(pc));
  PetscCall(PetscMalloc1(pc->nown * pc->nn, &pc->gid));
  for (PetscInt i = 0; i < pc->nown * pc->nn; ++i) {
    const PetscInt l = sp->restr[i];

    pc->gid[i] = l < sp->nT ? sp->rstart + l : (l < sp->nT + sp->nG ? sp->ghost[l - sp->nT] : -1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for n cells, with those of other ranks */
static PetscErrorCode CellsAllocate(PetscInt n, HopsPatchCells *pc)
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc(n * pc->nn * sizeof(PetscInt), &pc->gid));
  PetscCall(PetscRealloc(n * pc->nv * sizeof(PetscInt), &pc->vid));
  PetscCall(PetscRealloc(n * pc->nv * sizeof(int), &pc->number));
  PetscCall(PetscRealloc(n * pc->nv * pc->space->dim * sizeof(PetscReal), &pc->x));
  PetscCall(PetscRealloc(n * sizeof(HopsPatchCell), &pc->data));
  PetscCall(PetscRealloc(2 * n * sizeof(PetscInt), &pc->home));
  if (!pc->space->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRealloc(n * sizeof(*pc->hang), &pc->hang));
  PetscCall(PetscRealloc(n * pc->nv * sizeof(PetscInt), &pc->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- ghost cells ---------------------------------------- */

/* what[n][size bytes] in the order of `out`, to whom it belongs, and what comes; unit is one number of it */
static PetscErrorCode SendItems(MPI_Comm comm, PetscMPIInt tag, const HopsNeighbors *out, const HopsNeighbors *in, PetscInt m,
                                MPI_Datatype unit, size_t size, const void *what, void *come)
{
  const PetscInt n     = out->start[out->n];
  const size_t   bytes = m * size;
  MPI_Datatype   item;
  PetscMPIInt    count;
  char          *sorted;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(m, &count));
  PetscCall(PetscMalloc1(n * bytes, &sorted));
  for (PetscInt k = 0; k < n; ++k) PetscCall(PetscMemcpy(sorted + k * bytes, (const char *)what + out->entry[k] * bytes, bytes));
  PetscCallMPI(MPI_Type_contiguous(count, unit, &item));
  PetscCallMPI(MPI_Type_commit(&item));
  PetscCall(HopsNeighborsSend(comm, tag, out, out->start, in, in->start, item, bytes, sorted, come));
  PetscCallMPI(MPI_Type_free(&item));
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchExchange(MPI_Comm comm, PetscInt n, const PetscInt to[], PetscInt ni, const PetscInt is[], PetscInt nr,
                                 const PetscReal rs[], PetscInt *nfrom, PetscInt *from[], PetscInt *ir[], PetscReal *rr[])
{
  HopsNeighbors out, in;
  PetscMPIInt   tag;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(comm, &comm, &tag));
  PetscCall(HopsNeighborsCreateByRank(comm, n, to, &out));
  PetscCall(HopsNeighborsCreateOpposite(comm, &out, &in));
  *nfrom = in.start[in.n];
  PetscCall(PetscMalloc1(*nfrom * ni, ir));
  PetscCall(SendItems(comm, tag, &out, &in, ni, MPIU_INT, sizeof(PetscInt), is, *ir));
  if (nr) {
    PetscCall(PetscMalloc1(*nfrom * nr, rr));
    PetscCall(SendItems(comm, tag, &out, &in, nr, MPIU_REAL, sizeof(PetscReal), rs, *rr));
  }
  if (from) {
    PetscCall(PetscMalloc1(*nfrom, from));
    for (PetscMPIInt k = 0; k < in.n; ++k)
      for (PetscInt i = in.start[k]; i < in.start[k + 1]; ++i) (*from)[i] = in.rank[k];
  }
  PetscCall(HopsNeighborsDestroy(&out));
  PetscCall(HopsNeighborsDestroy(&in));
  PetscCall(PetscCommDestroy(&comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void CellPack(const HopsPatchCells *pc, PetscInt c, PetscInt i[], PetscReal r[])
{
  const PetscInt   nx = pc->nv * pc->space->dim, nd = sizeof(HopsPatchCell) / sizeof(PetscReal);
  const PetscReal *d = (const PetscReal *)(pc->data + c);

  *i++ = pc->home[2 * c];
  *i++ = pc->home[2 * c + 1];
  for (PetscInt k = 0; k < pc->nn; ++k) *i++ = pc->gid[c * pc->nn + k];
  for (PetscInt k = 0; k < pc->nv; ++k) *i++ = pc->vid[c * pc->nv + k];
  *i++ = pc->space->hanging ? pc->hang[c] : 0;
  for (PetscInt k = 0; k < nx; ++k) *r++ = pc->x[c * nx + k];
  for (PetscInt k = 0; k < nd; ++k) *r++ = d[k];
}

static void CellUnpack(HopsPatchCells *pc, PetscInt c, const PetscInt i[], const PetscReal r[])
{
  const PetscInt nx = pc->nv * pc->space->dim, nd = sizeof(HopsPatchCell) / sizeof(PetscReal);
  PetscReal     *d = (PetscReal *)(pc->data + c);

  pc->home[2 * c]     = *i++;
  pc->home[2 * c + 1] = *i++;
  for (PetscInt k = 0; k < pc->nn; ++k) pc->gid[c * pc->nn + k] = *i++;
  for (PetscInt k = 0; k < pc->nv; ++k) pc->vid[c * pc->nv + k] = *i++;
  if (pc->space->hanging) pc->hang[c] = (unsigned short)*i;
  ++i;
  OwnVertices(pc, c);
  for (PetscInt k = 0; k < pc->nv; ++k) pc->number[c * pc->nv + k] = -1;
  for (PetscInt k = 0; k < nx; ++k) pc->x[c * nx + k] = *r++;
  for (PetscInt k = 0; k < nd; ++k) d[k] = *r++;
}

/* Order of cells by home rank, then number: what makes duplicates adjacent */
static PetscErrorCode CellsSend(HopsPatchCells *pc, PetscInt n, const PetscInt to[], const PetscInt cells[])
{
  const PetscInt ni = 3 + pc->nn + pc->nv, nr = pc->nv * pc->space->dim + (PetscInt)(sizeof(HopsPatchCell) / sizeof(PetscReal));
  PetscInt      *is, *ir, nget, *a, *b, *perm, m = pc->n;
  PetscReal     *rs, *rr = NULL;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc->space), &rank));
  PetscCall(PetscMalloc2(n * ni, &is, n * nr, &rs));
  for (PetscInt k = 0; k < n; ++k) CellPack(pc, cells[k], is + k * ni, rs + k * nr);
  PetscCall(HopsPatchExchange(PetscObjectComm((PetscObject)pc->space), n, to, ni, is, nr, rs, &nget, NULL, &ir, &rr));
  PetscCall(PetscFree2(is, rs));
  /* new ones only, in order of (rank, number) */
  PetscCall(PetscMalloc3(nget + pc->n, &a, nget + pc->n, &b, nget + pc->n, &perm));
  for (PetscInt k = 0; k < nget + pc->n; ++k) { /* a cell that is here already comes before its copies */
    const PetscInt *h = k < pc->n ? pc->home + 2 * k : ir + (k - pc->n) * ni;

    a[k]    = h[0];
    b[k]    = h[1];
    perm[k] = k;
  }
  PetscCall(PetscSortIntWithArrayPair(nget + pc->n, a, b, perm));
  for (PetscInt s = 0, e; s < nget + pc->n; s = e) {
    for (e = s; e < nget + pc->n && a[e] == a[s]; ++e) {}
    PetscCall(PetscSortIntWithArray(e - s, b + s, perm + s));
  }
  PetscCall(CellsAllocate(pc->n + nget, pc));
  for (PetscInt s = 0, e; s < nget + m; s = e) {
    PetscInt have = -1;

    for (e = s; e < nget + m && a[e] == a[s] && b[e] == b[s]; ++e)
      if (perm[e] < m) have = perm[e];
    if (have < 0) {
      const PetscInt k = perm[s] - m;

      CellUnpack(pc, pc->n++, ir + k * ni, rr + k * nr);
    }
  }
  PetscCall(PetscFree3(a, b, perm));
  PetscCall(PetscFree(ir));
  PetscCall(PetscFree(rr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks that are to have a cell of this one */
typedef struct {
  PetscInt n, nmax, *to, *cell;
} CellList;

static PetscErrorCode CellListAdd(CellList *l, PetscInt to, PetscInt cell)
{
  PetscFunctionBegin;
  if (l->n == l->nmax) {
    PetscInt *t, *c;

    l->nmax = PetscMax(64, 2 * l->nmax);
    PetscCall(PetscMalloc2(l->nmax, &t, l->nmax, &c));
    PetscCall(PetscArraycpy(t, l->to, l->n));
    PetscCall(PetscArraycpy(c, l->cell, l->n));
    PetscCall(PetscFree2(l->to, l->cell));
    l->to   = t;
    l->cell = c;
  }
  l->to[l->n]     = to;
  l->cell[l->n++] = cell;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every cell to the owners of its corners; `boundary` or no free corner: of all its free nodes that bound
   other cells */
static PetscErrorCode CellsToOwners(HopsPatchCells *pc, PetscBool boundary)
{
  HopsSpace       sp = pc->space;
  const PetscInt *ranges, np = sp->order + 1;
  CellList        list = {0, 0, NULL, NULL};
  PetscLayout     layout;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  for (PetscInt c = 0; c < pc->nown; ++c) {
    const PetscInt first    = list.n;
    PetscBool      vertices = PETSC_FALSE;

    for (PetscInt v = 0; v < pc->nv; ++v) vertices = vertices || pc->vid[c * pc->nv + v] >= 0 ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt i = 0; i < pc->nn; ++i) {
      const PetscInt g     = pc->gid[c * pc->nn + i];
      PetscInt       nends = 0; /* directions in which the node lies at an end: all for a corner */
      PetscBool      known = PETSC_FALSE;
      PetscMPIInt    owner;

      for (PetscInt d = 0, k = i; d < sp->dim; ++d, k /= np) nends += k % np == 0 || k % np == np - 1;
      if (g < 0 || (g >= sp->rstart && g < sp->rstart + sp->nT)) continue;
      if (nends != sp->dim && !(nends && (boundary || !vertices))) continue;
      PetscCall(PetscLayoutFindOwner(layout, g, &owner));
      for (PetscInt k = first; k < list.n; ++k) known = known || list.to[k] == owner ? PETSC_TRUE : PETSC_FALSE;
      if (!known) PetscCall(CellListAdd(&list, owner, c));
    }
  }
  PetscCall(CellsSend(pc, list.n, list.to, list.cell));
  PetscCall(PetscFree2(list.to, list.cell));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same pair comes from every node of a face */
static PetscErrorCode CellListUnique(CellList *l)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscSortIntWithArray(l->n, l->to, l->cell));
  for (PetscInt s = 0, e; s < l->n; s = e) {
    for (e = s; e < l->n && l->to[e] == l->to[s]; ++e) {}
    PetscCall(PetscSortInt(e - s, l->cell + s));
    for (PetscInt i = s; i < e; ++i)
      if (i == s || l->cell[i] != l->cell[i - 1]) {
        l->to[n]     = l->to[s];
        l->cell[n++] = l->cell[i];
      }
  }
  l->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells around each node of this rank to the ranks of all of them */
static PetscErrorCode CellsToNeighbors(HopsPatchCells *pc)
{
  HopsSpace   sp   = pc->space;
  CellList    list = {0, 0, NULL, NULL};
  PetscInt   *node, *cell, m = 0;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sp), &rank));
  for (PetscInt i = 0; i < pc->n * pc->nn; ++i) m += pc->gid[i] >= sp->rstart && pc->gid[i] < sp->rstart + sp->nT;
  PetscCall(PetscMalloc2(m, &node, m, &cell));
  m = 0;
  for (PetscInt i = 0; i < pc->n * pc->nn; ++i)
    if (pc->gid[i] >= sp->rstart && pc->gid[i] < sp->rstart + sp->nT) {
      node[m]   = pc->gid[i];
      cell[m++] = i / pc->nn;
    }
  PetscCall(PetscSortIntWithArray(m, node, cell));
  for (PetscInt s = 0, e; s < m; s = e) {
    for (e = s; e < m && node[e] == node[s]; ++e) {}
    for (PetscInt i = s; i < e; ++i)
      for (PetscInt j = s; j < e; ++j) {
        const PetscInt r = pc->home[2 * cell[i]];

        if (r != rank && r != pc->home[2 * cell[j]]) PetscCall(CellListAdd(&list, r, cell[j]));
      }
  }
  PetscCall(CellListUnique(&list));
  PetscCall(CellsSend(pc, list.n, list.to, list.cell));
  PetscCall(PetscFree2(list.to, list.cell));
  PetscCall(PetscFree2(node, cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  First hop: every cell to the owners of its corners (of all its free nodes that bound other cells where no
  corner is free), which then know whole stars. Second hop, where each rank wants the neighbours of all its
  cells: the stars back to the ranks in them.
*/
PetscErrorCode HopsPatchCellsGrow(HopsPatchCells *pc, PetscBool all)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc->space), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CellsToOwners(pc, all));
  if (all) PetscCall(CellsToNeighbors(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
