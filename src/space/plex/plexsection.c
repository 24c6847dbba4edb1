/* The unknowns of an existing section in the closures of all cells: offsets of the points in one array, and a
   table of how cells see them. */
#include <hops/private/hopspleximpl.h>

/*
  Entries with unknowns, those of the first cell; where the section has others elsewhere, all entries are
  listed, so that cells that differ are found
*/
static PetscErrorCode HopsPlexUnknownsList(DM dm, PetscSection s, HopsPlexUnknowns *u)
{
  const HopsPlexCells cells = u->cells;
  PetscInt            dof[27], size, expected = 0, sStart, sEnd;
  PetscBool           all;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(s, &sStart, &sEnd));
  for (PetscInt i = 0; i < cells->ref.n; ++i) {
    const PetscInt p = cells->point[i];

    dof[i] = 0;
    if (p >= sStart && p < sEnd) PetscCall(PetscSectionGetDof(s, p, &dof[i]));
    u->maxdof = PetscMax(u->maxdof, dof[i]);
    u->size += dof[i];
  }
  for (PetscInt d = 0; d <= cells->dim; ++d) {
    PetscInt i = 0, start, end;

    while (i < cells->ref.n && (i ? cells->ref.depth[i] : cells->dim) != d) ++i;
    PetscCall(DMPlexGetDepthStratum(dm, d, &start, &end));
    expected += dof[i] * PetscMax(0, PetscMin(end, sEnd) - PetscMax(start, sStart));
  }
  PetscCall(PetscSectionGetStorageSize(s, &size));
  all = size == expected ? PETSC_FALSE : PETSC_TRUE;
  for (PetscInt i = 0; i < cells->ref.n; ++i) {
    if (!all && !dof[i]) continue;
    u->dof[u->nlist]    = dof[i];
    u->list[u->nlist++] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexUnknownsCreate(DM dm, PetscSection s, HopsPlexCells cells, PetscBool own, HopsPlexUnknowns *u)
{
  PetscInt pEnd, sStart, sEnd, nf;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(u, sizeof(*u)));
  u->dm    = dm;
  u->s     = s;
  u->cells = cells;
  PetscCall(DMPlexGetChart(dm, &u->pStart, &pEnd));
  u->np = pEnd - u->pStart;
  PetscCall(PetscCalloc1(u->np, &u->off));
  if (!cells->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexCellsBring(cells));
  u->point = !own && cells->upoint ? cells->upoint : cells->point;
  u->ornt  = !own && cells->uornt ? cells->uornt : cells->ornt;
  PetscCall(HopsPlexUnknownsList(dm, s, u));
  PetscCall(PetscMalloc1(u->nlist * 8 * u->maxdof, &u->place));
  PetscCall(PetscSectionGetNumFields(s, &nf));
  for (PetscInt k = 0, first = 0; nf < 2 && k < u->nlist; first += u->dof[k++]) {
    if (u->list[k] && cells->ref.depth[u->list[k]]) continue;
    u->known[k][4] = PETSC_TRUE; /* cells and vertices are seen in one way */
    for (PetscInt t = 0; t < u->dof[k]; ++t) u->place[(k * 8 + 4) * u->maxdof + t] = first + t;
  }
  PetscCall(PetscSectionGetChart(s, &sStart, &sEnd));
  for (PetscInt k = 0, done = -1; k < u->nlist; ++k) {
    const PetscInt d = u->list[k] ? cells->ref.depth[u->list[k]] : cells->dim;
    PetscInt       start, end;

    if (d == done) continue;
    done = d;
    PetscCall(DMPlexGetDepthStratum(dm, d, &start, &end));
    for (PetscInt p = start; p < end; ++p) {
      PetscInt *off = &u->off[p - u->pStart], n = 0;

      *off = 0;
      if (p >= sStart && p < sEnd) {
        PetscCall(PetscSectionGetDof(s, p, &n));
        PetscCall(PetscSectionGetOffset(s, p, off));
      }
      if (n != u->dof[k]) *off = -1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexUnknownsDestroy(HopsPlexUnknowns *u)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(u->off));
  PetscCall(PetscFree(u->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How cell c sees the unknowns of its points is how all cells see those of points with these orientations:
   PETSc tells for one, one field after the other */
static PetscErrorCode HopsPlexUnknownsLearn(HopsPlexUnknowns *u, PetscInt c)
{
  const HopsPlexCells cells = u->cells;
  PetscInt            n, i = 0, nf, *idx = NULL;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetNumFields(u->s, &nf));
  PetscCall(DMPlexGetClosureIndices(u->dm, u->s, u->s, cells->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
  PetscCheck(n == u->size, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns where its points have %" PetscInt_FMT
             ": the mesh has anchors (DMPlexSetAnchors()), and hanging nodes are not supported",
             cells->cell[c], n, u->size);
  for (PetscInt f = 0; f < PetscMax(nf, 1); ++f)
    for (PetscInt k = 0; k < u->nlist; ++k) {
      const PetscInt at = c * cells->ref.n + u->list[k], o = u->ornt[at] + 4, p = u->point[at];
      PetscInt       dof = u->dof[k];

      if (nf > 1 && dof) PetscCall(PetscSectionGetFieldDof(u->s, p, f, &dof));
      u->known[k][o] = PETSC_TRUE;
      for (PetscInt t = 0; t < dof; ++t, ++i)
        u->place[(k * 8 + o) * u->maxdof + (idx[i] < 0 ? -1 - idx[i] : idx[i]) - u->off[p - u->pStart]] = i;
    }
  PetscCall(DMPlexRestoreClosureIndices(u->dm, u->s, u->s, cells->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexUnknownsGet(HopsPlexUnknowns *u, PetscInt c, PetscInt idx[], PetscInt *n)
{
  const PetscInt    *point = u->point + c * u->cells->ref.n;
  const signed char *ornt  = u->ornt + c * u->cells->ref.n;
  PetscInt           least = 0;

  PetscFunctionBegin;
  *n = u->size;
  for (PetscInt k = 0; k < u->nlist; ++k) least = PetscMin(least, u->off[point[u->list[k]] - u->pStart]);
  if (least < 0) { /* the number of its unknowns is another one */
    PetscInt sStart, sEnd, dof;

    *n = 0;
    PetscCall(PetscSectionGetChart(u->s, &sStart, &sEnd));
    for (PetscInt i = 0; i < u->cells->ref.n; ++i) {
      if (point[i] < sStart || point[i] >= sEnd) continue;
      PetscCall(PetscSectionGetDof(u->s, point[i], &dof));
      *n += dof;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < u->nlist; ++k) {
    const PetscInt i = u->list[k], o = ornt[i] + 4, off = u->off[point[i] - u->pStart];
    PetscInt      *place = u->place + (k * 8 + o) * u->maxdof;

    if (!u->known[k][o]) PetscCall(HopsPlexUnknownsLearn(u, c));
    for (PetscInt t = 0; t < u->dof[k]; ++t) idx[place[t]] = off + t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- all cells at once ---------------------------------------- */

PetscInt HopsPlexUnknownsDiffer(const HopsPlexUnknowns *u)
{
  const HopsPlexCells cells = u->cells;

  for (PetscInt c = 0; c < cells->ncells; ++c)
    for (PetscInt k = 0; k < u->nlist; ++k)
      if (u->off[u->point[c * cells->ref.n + u->list[k]] - u->pStart] < 0) return c;
  return -1;
}

PetscErrorCode HopsPlexUnknownsSetUp(HopsPlexUnknowns *u, PetscInt expected, const char what[])
{
  const HopsPlexCells cells = u->cells;
  const PetscInt      n     = cells->ref.n;
  PetscInt            bad = HopsPlexUnknownsDiffer(u), size = u->size;

  PetscFunctionBegin;
  if (bad >= 0) PetscCall(HopsPlexUnknownsGet(u, bad, NULL, &size));
  else if (size != expected && cells->ncells) bad = 0;
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns where %s has %" PetscInt_FMT
             ": the order must not vary over the mesh, and hanging nodes are not supported",
             cells->cell[bad], size, what, expected);
  for (PetscInt c = 0; c < cells->ncells; ++c) {
    if (cells->hang && cells->hang[c] && u->point == cells->upoint) continue; /* PETSc has its parents' unknowns another way */
    for (PetscInt k = 0; k < u->nlist; ++k)
      if (!u->known[k][u->ornt[c * n + u->list[k]] + 4]) PetscCall(HopsPlexUnknownsLearn(u, c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsPlexUnknownsNumbered(const HopsPlexUnknowns *u, PetscInt nc, HopsNumbering *b)
{
  b->nlist = 0;
  for (PetscInt k = 0; k < u->nlist; ++k) {
    if (!u->dof[k]) continue;
    b->list[b->nlist++]                       = u->list[k];
    b->dof[HopsMeshDepth(b->dim, u->list[k])] = u->dof[k] / nc;
  }
}

/*
  Parents may be seen with orientations that no cell without hanging nodes has, so that PETSc does not tell.
  Nodes of a PetscFE are then in the order of hops' own, which is compared where PETSc does
*/
static PetscErrorCode HopsPlexUnknownsGuess(const HopsPlexUnknowns *u, PetscInt nc, PetscInt ne, const PetscInt entry[], int slot[],
                                            int seen[])
{
  const HopsPlexClosure *ref   = &u->cells->ref;
  const PetscInt         order = HopsRoot(ne, ref->dim) - 1;
  int                    n     = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < u->nlist; n += u->dof[k++] ? 1 : 0) {
    const PetscInt i = u->list[k], d = i ? ref->depth[i] : ref->dim;
    const PetscInt low = d == 1 ? -1 : (d == 2 && i ? -4 : 0), high = d == 2 && i ? 3 : 0;

    for (PetscInt o = low; o <= high; ++o)
      for (PetscInt t = 0; t < u->dof[k]; ++t) {
        const PetscInt e = HopsPlexClosureNode(ref, order, i, o, t / nc);

        slot[e]                = n;
        seen[(o + 4) * ne + e] = (int)(t / nc);
        PetscCheck(!u->known[k][o + 4] || t % nc || entry[u->place[(k * 8 + o + 4) * u->maxdof + t]] == e, PETSC_COMM_SELF,
                   PETSC_ERR_SUP,
                   "The nodes of the PetscFE inside of edges or faces are not in the order that hops expects where the mesh has "
                   "hanging nodes: make the space by HopsSpaceCreateH1()");
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexUnknownsView(const HopsPlexUnknowns *u, PetscInt nc, PetscInt ne, const PetscInt entry[], HopsCellView *view)
{
  int *slot, *seen, n = 0; /* of the entries that HopsPlexUnknownsNumbered() lists */

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(ne, &slot));
  PetscCall(PetscCalloc1(8 * ne, &seen));
  if (u->cells->hanging) PetscCall(HopsPlexUnknownsGuess(u, nc, ne, entry, slot, seen));
  for (PetscInt k = 0; k < u->nlist; n += u->dof[k++] ? 1 : 0)
    for (PetscInt o = 0; o < 8; ++o)
      for (PetscInt t = 0; t < u->dof[k] && u->known[k][o]; ++t) {
        const PetscInt e = entry[u->place[(k * 8 + o) * u->maxdof + t]];

        if (e < 0) continue;
        slot[e]          = n;
        seen[o * ne + e] = (int)(t / nc);
      }
  view->ne   = ne;
  view->slot = slot;
  view->seen = seen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexUnknownsRows(const HopsPlexUnknowns *u, const HopsBackendOps *be, const PetscInt first[],
                                    const HopsCellView *view, PetscInt n, const int perm[], int **rows)
{
  const HopsBackendOps *at   = HopsMeshBackend(be);
  const size_t          size = (size_t)n * view->ne * sizeof(int);
  HopsNumbering         b;
  int                  *begin, *r;

  PetscFunctionBegin;
  PetscCall(HopsNumberingBegin(u->dm, u->cells, at, &b));
  HopsPlexUnknownsNumbered(u, 1, &b);
  PetscCall(PetscMalloc1(b.np, &begin));
  for (PetscInt p = 0; p < b.np; ++p) begin[p] = (int)first[p];
  PetscCall((*at->memory->PoolMalloc)(b.np * sizeof(int), (void **)&b.first));
  PetscCall((*at->memory->Copy)(NULL, b.first, begin, b.np * sizeof(int), HOPS_COPY_IN));
  PetscCall((*at->memory->Malloc)(size, (void **)&r));
  PetscCall((*at->mesh->Restrict)(&b, view, 0, n, perm, r));
  PetscCall((*at->memory->PoolFree)((void **)&b.first));
  PetscCall(PetscFree(begin));
  *rows = r;
  if (at != be) {
    PetscCall((*be->memory->Malloc)(size, (void **)rows));
    PetscCall((*be->memory->Copy)(NULL, *rows, r, size, HOPS_COPY_IN));
    PetscCall((*at->memory->Free)((void **)&r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
