/*
  Which cells meet at a facet. A vertex of a cell is named by nodes that the cell lists, so that all cells
  with that vertex name it alike; a facet is known by the names of its corners, a facet that hangs by its
  parent's.
  Cells of other ranks are found where facets meet: each has a home rank.
*/
#include <hops/private/hopsadaptimpl.h>
#include <hops/private/hopsderhamimpl.h>

#define HOPS_KEY 8 /* numbers in the key of a facet: two for each corner */

typedef struct {
  PetscInt key[HOPS_KEY];
  PetscInt part;              /* of the parent's facet, in its frame, or -1 */
  PetscInt rank, facet, cell; /* number of the facet on its rank: cell times 2 dim, and face; the caller's cell */
} Record;

/* Behind a facet, or a part of it in its frame (else -1), is that of another cell, on a rank */
typedef struct {
  PetscInt facet, part, rank, other, otherpart;
} Link;

PetscErrorCode HopsSpaceGetAllNodes(HopsSpace sp, HopsSpace *nodes, PetscInt *where[])
{
  PetscInt *at;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  if (!sp->dm) { /* its vectors have them */
    PetscCall(HopsSpaceReference(sp));
    *nodes = sp;
  } else {
    PetscCall(HopsSpaceCreatePlex_Private(sp->dm, sp->cells, HOPS_H1, sp->order, NULL, 0, NULL, NULL, nodes));
    PetscCall(HopsSpaceBringMesh(*nodes));
  }
  PetscCheck((*nodes)->ncells == sp->ncells, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A space of all nodes has other cells");
  PetscCall(PetscMalloc1(sp->ncaller, &at));
  PetscCall(PetscMalloc1(sp->ncells, where));
  for (PetscInt c = 0; c < sp->ncells; ++c) at[(*nodes)->cell[c] - sp->cstart] = c;
  for (PetscInt c = 0; c < sp->ncells; ++c) (*where)[c] = at[sp->cell[c] - sp->cstart];
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- names ------------------------------------------- */

static int Compare(const PetscInt a[], const PetscInt b[], PetscInt n)
{
  for (PetscInt i = 0; i < n; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* Names of the vertices of a cell with corners g[2^dim]: (g, g) of its own node; the ends of the edge in
   whose middle it is; two opposite corners of the facet in whose middle it is */
static PetscErrorCode NameVertices(const HopsHanging *first, unsigned mask, const PetscInt g[], PetscInt name[][2])
{
  const PetscInt nv = first->ne;
  int           *start, *col;
  PetscReal     *w;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < nv; ++v) name[v][0] = name[v][1] = g[v];
  if (!mask) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingRows(first, mask, 0, &start, &col, &w));
  for (PetscInt v = 0; v < nv; ++v) {
    const int n = start[v + 1] - start[v], *c = col + start[v];

    if (n == 4 && PetscMin(g[c[0]], g[c[3]]) > PetscMin(g[c[1]], g[c[2]])) {
      name[v][0] = PetscMin(g[c[1]], g[c[2]]);
      name[v][1] = PetscMax(g[c[1]], g[c[2]]);
    } else {
      name[v][0] = PetscMin(g[c[0]], g[c[n - 1]]);
      name[v][1] = PetscMax(g[c[0]], g[c[n - 1]]);
    }
  }
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The frame of a facet with named corners, and its key: the names, ascending */
static PetscInt FrameOf(PetscInt dim, const PetscInt name[][2], PetscInt key[HOPS_KEY])
{
  const PetscInt nf = 1 << (dim - 1);
  PetscInt       o  = 0, frame, sorted[4];

  for (PetscInt i = 1; i < nf; ++i)
    if (Compare(name[i], name[o], 2) < 0) o = i;
  frame = o;
  if (dim == 3 && Compare(name[o ^ 2], name[o ^ 1], 2) < 0) frame |= 4;
  for (PetscInt i = 0; i < nf; ++i) {
    PetscInt k = i;

    for (; k > 0 && Compare(name[i], name[sorted[k - 1]], 2) < 0; --k) sorted[k] = sorted[k - 1];
    sorted[k] = i;
  }
  for (PetscInt i = 0; i < HOPS_KEY; ++i) key[i] = i < 2 * nf ? name[sorted[i / 2]][i % 2] : 0;
  return frame;
}

/* The facets of a cell: records, and frames */
static PetscErrorCode NameFacets(HopsSpace nodes, const HopsHanging *first, PetscInt c, Record rec[], PetscInt frame[])
{
  const PetscInt dim = nodes->dim, nv = 1 << dim, nf = nv / 2, p = nodes->order;
  const unsigned mask = nodes->hanging ? nodes->hang[c] : 0;
  PetscInt       g[8], name[8][2], corner[4], of[4][2];

  PetscFunctionBegin;
  for (PetscInt v = 0; v < nv; ++v) {
    const PetscInt at = (v & 1) * p + (p + 1) * ((v >> 1 & 1) * p + (p + 1) * (v >> 2) * p);

    g[v] = HopsSpaceGlobalIndex(nodes, nodes->restr[c * nodes->ne + at]);
  }
  PetscCall(NameVertices(first, mask, g, name));
  for (PetscInt f = 0; f < 2 * dim; ++f) {
    const PetscInt  d = f / 2;
    const PetscBool hangs =
      HopsHangingFacets((int)dim, mask) >> d & 1 && (PetscInt)(mask >> d & 1) == f % 2 ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(HopsFaceNodes(dim, 2, f, corner));
    for (PetscInt i = 0; i < nf; ++i) { /* a facet that hangs lists its parent's corners */
      of[i][0] = hangs ? g[corner[i]] : name[corner[i]][0];
      of[i][1] = hangs ? g[corner[i]] : name[corner[i]][1];
    }
    frame[f]    = FrameOf(dim, of, rec[f].key);
    rec[f].part = -1;
    if (hangs) {
      PetscInt own = 0;

      for (PetscInt a = 0, bit = 0; a < dim; ++a)
        if (a != d) own |= (PetscInt)(mask >> a & 1) << bit++;
      for (PetscInt k = 0; k < nf; ++k)
        if (HopsFrameToOwn(dim, frame[f], 2, k) == own) rec[f].part = k;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- pairs ------------------------------------------- */

static int CompareRecords(const void *x, const void *y)
{
  const Record *a = (const Record *)x, *b = (const Record *)y;
  const int     k = Compare(a->key, b->key, HOPS_KEY);

  if (k) return k;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return a->facet < b->facet ? -1 : a->facet > b->facet;
}

/* Are records r[n] of one facet all there are? Two whole ones, or a whole one and all parts */
static PetscBool IsComplete(PetscInt dim, PetscInt n, const Record r[])
{
  if (n == 2) return r[0].part < 0 && r[1].part < 0 ? PETSC_TRUE : PETSC_FALSE;
  if (n != 1 + (1 << (dim - 1))) return PETSC_FALSE;
  for (PetscInt i = 0; i < n; ++i)
    if (r[i].part != i - 1) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The links of a complete facet, from each record's side */
static PetscInt LinksOf(PetscInt n, const Record r[], Link link[])
{
  PetscInt m = 0;

  for (PetscInt i = 1; i < n; ++i) {
    link[m++] = (Link){r[0].facet, r[i].part, r[i].rank, r[i].facet, -1};
    link[m++] = (Link){r[i].facet, -1, r[0].rank, r[0].facet, r[i].part};
  }
  return m;
}

/* in[nin]: what other ranks have for this one of items of `size` numbers out[nout], which go to dest[] */
static PetscErrorCode Exchange(MPI_Comm comm, PetscInt size, PetscInt nout, const PetscInt out[], const PetscInt dest[],
                               PetscInt *nin, PetscInt *in[])
{
  PetscMPIInt nranks, *n, *m, *dn, *dm;
  PetscInt   *buffer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  PetscCall(HopsCheckInt("numbers of facets", (PetscInt64)size * nout));
  PetscCall(PetscCalloc4(nranks, &n, nranks, &m, nranks + 1, &dn, nranks + 1, &dm));
  for (PetscInt i = 0; i < nout; ++i) n[dest[i]] += (PetscMPIInt)size;
  PetscCallMPI(MPI_Alltoall(n, 1, MPI_INT, m, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < nranks; ++r) {
    dn[r + 1] = dn[r] + n[r];
    dm[r + 1] = dm[r] + m[r];
  }
  PetscCall(PetscMalloc1(size * nout, &buffer));
  for (PetscInt i = 0; i < nout; ++i) {
    PetscCall(PetscArraycpy(buffer + dn[dest[i]], out + i * size, size));
    dn[dest[i]] += (PetscMPIInt)size;
  }
  for (PetscMPIInt r = 0; r < nranks; ++r) dn[r] -= n[r];
  *nin = dm[nranks] / size;
  PetscCall(PetscMalloc1(dm[nranks], in));
  PetscCallMPI(MPI_Alltoallv(buffer, n, dn, MPIU_INT, *in, m, dm, MPIU_INT, comm));
  PetscCall(PetscFree(buffer));
  PetscCall(PetscFree4(n, m, dn, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records r[n] of complete facets become links; *left of them, moved to the front, have no other side here */
static PetscErrorCode Pair(PetscInt dim, PetscInt n, Record r[], PetscInt *nlinks, Link link[], PetscInt *left)
{
  PetscFunctionBegin;
  if (n) qsort(r, (size_t)n, sizeof(*r), CompareRecords);
  *left = 0;
  for (PetscInt i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && !Compare(r[end].key, r[i].key, HOPS_KEY);) ++end;
    if (IsComplete(dim, end - i, r + i)) *nlinks += LinksOf(end - i, r + i, link + *nlinks);
    else
      for (PetscInt k = i; k < end; ++k) r[(*left)++] = r[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records r[n] that this rank cannot pair: their homes do. Those which are alone there are of the boundary */
static PetscErrorCode PairAtHomes(HopsSpace nodes, PetscInt n, const Record r[], PetscInt *nlinks, Link *links[])
{
  const PetscInt size = (PetscInt)(sizeof(Record) / sizeof(PetscInt)), lsize = (PetscInt)(sizeof(Link) / sizeof(PetscInt));
  MPI_Comm       comm                 = PetscObjectComm((PetscObject)nodes);
  char           why[HOPS_WHY_LENGTH] = "";
  PetscMPIInt    nranks;
  PetscInt      *dest, m, left, found = 0, *in, *back;
  Link          *link;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  PetscCall(PetscMalloc1(n, &dest)); /* homes are near the owners of the smallest corners */
  for (PetscInt i = 0; i < n; ++i) dest[i] = (PetscInt)((PetscInt64)r[i].key[0] * nranks / nodes->N);
  PetscCall(Exchange(comm, size, n, (const PetscInt *)r, dest, &m, &in));
  PetscCall(PetscFree(dest));
  PetscCall(PetscMalloc2(2 * m, &link, 2 * m, &dest));
  PetscCall(Pair(nodes->dim, m, (Record *)in, &found, link, &left));
  for (PetscInt i = 0; i < left; ++i) {
    const Record *x = (const Record *)in + i;

    if (x->part >= 0 || (i + 1 < left && !Compare(x->key, x[1].key, HOPS_KEY)))
      PetscCall(HopsRefuse(why,
                           "The cells at face %" PetscInt_FMT " of cell %" PetscInt_FMT " of rank %" PetscInt_FMT
                           " do not fit: a facet lies between two cells, or between a cell and all parts of the other one's facet, "
                           "as it does not on a periodic mesh of one or two cells, or where cells are missing beside a coarser one",
                           x->facet % (2 * nodes->dim), x->cell, x->rank));
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  for (PetscInt i = 0; i < found; ++i) dest[i] = link[i ^ 1].rank; /* they come in pairs, there and back */
  PetscCall(Exchange(comm, lsize, found, (const PetscInt *)link, dest, nlinks, &back));
  PetscCall(PetscFree2(link, dest));
  PetscCall(PetscFree(in));
  *links = (Link *)back;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- sides ------------------------------------------- */

/* links[nlinks] of the facets of all cells, in no order */
static PetscErrorCode FindLinks(HopsSpace sp, HopsSpace nodes, const PetscInt where[], PetscInt frame[], PetscInt *nlinks,
                                Link *links[])
{
  const PetscInt nf = 2 * nodes->dim, n = nf * nodes->ncells;
  PetscInt       found = 0, more = 0, left;
  HopsHanging    first;
  Record        *rec;
  Link          *others = NULL;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)nodes), &rank));
  PetscCall(HopsHangingCreate(HOPS_H1, nodes->dim, 1, &first));
  PetscCall(PetscMalloc1(n, &rec));
  for (PetscInt c = 0; c < nodes->ncells; ++c) {
    PetscCall(NameFacets(nodes, &first, where[c], rec + c * nf, frame + c * nf));
    for (PetscInt f = 0; f < nf; ++f) {
      rec[c * nf + f].rank  = rank;
      rec[c * nf + f].facet = c * nf + f;
      rec[c * nf + f].cell  = sp->cell[c];
    }
  }
  PetscCall(HopsHangingDestroy(&first));
  PetscCall(PetscMalloc1(2 * n, links));
  PetscCall(Pair(nodes->dim, n, rec, &found, *links, &left));
  PetscCall(PairAtHomes(nodes, left, rec, &more, &others));
  PetscCall(PetscRealloc((size_t)(found + more + 1) * sizeof(Link), links));
  PetscCall(PetscArraycpy(*links + found, others, more));
  PetscCall(PetscFree(others));
  PetscCall(PetscFree(rec));
  *nlinks = found + more;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph from sides to the others, which other ranks know by facet and part: at[facet][part] is the number
   of a side, to[side] what is behind it */
static PetscErrorCode Connect(HopsSpace sp, HopsFacetSides *s, const Link *const to[], const PetscInt at[])
{
  const PetscInt parts = 1 << (sp->dim - 1), nroots = 2 * sp->dim * sp->ncells * parts;
  PetscInt      *leaf, *other, m = 0;
  PetscSFNode   *remote;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &leaf));
  PetscCall(PetscMalloc1(s->n, &remote));
  PetscCall(PetscMalloc1(s->n, &other));
  for (PetscInt i = 0; i < s->n; ++i) {
    if (!to[i]) continue;
    leaf[m]     = i;
    remote[m++] = (PetscSFNode){.rank = to[i]->rank, .index = to[i]->other * parts + PetscMax(to[i]->otherpart, 0)};
  }
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &sf));
  PetscCall(PetscSFSetGraph(sf, nroots, m, leaf, PETSC_COPY_VALUES, remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, at, other, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, at, other, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  for (PetscInt k = 0; k < m; ++k) remote[k].index = other[leaf[k]];
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &s->others));
  PetscCall(PetscSFSetGraph(s->others, s->n, m, leaf, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscFree(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Facets go by their corners. Where a cell has one other cell behind two of its facets, these may have been
   taken for each other */
static PetscErrorCode CheckNeighbours(HopsSpace sp, const HopsFacetSides *s, const Link *const to[])
{
  const PetscInt nf                   = 2 * sp->dim;
  char           why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt i = s->start[c]; i < s->start[c + 1]; ++i)
      for (PetscInt j = s->start[c]; j < i; ++j)
        if (to[i] && to[j] && s->side[i].face != s->side[j].face && to[i]->rank == to[j]->rank &&
            to[i]->other / nf == to[j]->other / nf)
          PetscCall(
            HopsRefuse(why,
                       "Cell %" PetscInt_FMT " has the same cell behind faces %" PetscInt_FMT " and %" PetscInt_FMT
                       ", as on a periodic mesh of one or two cells: facets are told apart by their corners. Refine the mesh",
                       sp->cell[c], s->side[j].face, s->side[i].face));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_WRONG, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFacetSidesCreate(HopsSpace sp, HopsSpace nodes, const PetscInt where[], HopsFacetSides *s)
{
  const PetscInt dim = sp->dim, nf = 2 * dim, n = nf * sp->ncells, parts = 1 << (dim - 1);
  PetscInt      *frame, *at, nlinks;
  Link          *links;
  const Link   **behind, **to;

  PetscFunctionBegin;
  PetscCall(HopsCheckIndex("parts of facets", (PetscInt64)n * parts));
  PetscCall(PetscMalloc1(n, &frame));
  PetscCall(FindLinks(sp, nodes, where, frame, &nlinks, &links));
  PetscCall(PetscCalloc2(n * parts, &behind, n * parts, &to));
  PetscCall(PetscMalloc1(n * parts, &at));
  PetscCall(PetscMalloc2(n * parts, &s->side, sp->ncells + 1, &s->start));
  for (PetscInt i = 0; i < nlinks; ++i) behind[links[i].facet * parts + PetscMax(links[i].part, 0)] = links + i;
  s->n        = 0;
  s->start[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    const Link    *first = behind[i * parts];
    const PetscInt k     = first && first->part >= 0 ? parts : 1;

    for (PetscInt part = 0; part < parts; ++part) {
      at[i * parts + part] = s->n;
      if (part >= k) continue;
      to[s->n]        = behind[i * parts + part];
      s->side[s->n++] = (HopsFacetSide){.cell     = i / nf,
                                        .face     = i % nf,
                                        .part     = k > 1 ? HopsFrameToOwn(dim, frame[i], 2, part) : -1,
                                        .frame    = frame[i],
                                        .boundary = first ? PETSC_FALSE : PETSC_TRUE};
    }
    s->start[i / nf + 1] = s->n;
  }
  PetscCall(CheckNeighbours(sp, s, to));
  PetscCall(Connect(sp, s, to, at));
  PetscCall(PetscFree2(behind, to));
  PetscCall(PetscFree(at));
  PetscCall(PetscFree(links));
  PetscCall(PetscFree(frame));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFacetSidesDestroy(HopsFacetSides *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(s->side, s->start));
  PetscCall(PetscSFDestroy(&s->others));
  PetscFunctionReturn(PETSC_SUCCESS);
}
