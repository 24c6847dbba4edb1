/* HopsSpace from a DMPlex: on the numbering of an existing PetscFE section, or on hops' own. */
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsderhamimpl.h>

/* gidx[local offset] = global index, or -1 where the section constrains the unknown */
static PetscErrorCode HopsPlexGlobalIndices(PetscSection s, PetscSection gs, PetscInt *nkeys, PetscInt *gidx[])
{
  PetscInt pStart, pEnd;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetStorageSize(s, nkeys));
  PetscCall(PetscMalloc1(*nkeys, gidx));
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt        dof, off, cdof, goff, nc = 0;
    const PetscInt *cind = NULL;

    PetscCall(PetscSectionGetDof(s, p, &dof));
    if (!dof) continue;
    PetscCall(PetscSectionGetOffset(s, p, &off));
    PetscCall(PetscSectionGetConstraintDof(s, p, &cdof));
    if (cdof) PetscCall(PetscSectionGetConstraintIndices(s, p, &cind));
    PetscCall(PetscSectionGetOffset(gs, p, &goff));
    if (goff < 0) goff = -(goff + 1);
    for (PetscInt k = 0; k < dof; ++k) {
      if (nc < cdof && cind[nc] == k) {
        (*gidx)[off + k] = -1;
        ++nc;
      } else (*gidx)[off + k] = goff + k - nc;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetRange(HopsSpace sp)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&sp->nT, &sp->rstart, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  sp->rstart -= sp->nT;
  PetscCall(MPIU_Allreduce(&sp->nT, &sp->N, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One unknown after the other, by the process: for points some of whose unknowns are essential */
static PetscErrorCode HopsSpaceSetUpKeys(HopsSpace sp, PetscSection s, PetscSection gs, const HopsPlexUnknowns *u,
                                         const HopsCellView *view)
{
  PetscInt nkeys, start, end, *gidx, *off;
  int     *rows;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(s, &start, &end));
  PetscCall(PetscCalloc1(u->np, &off));
  for (PetscInt p = PetscMax(start, u->pStart); p < PetscMin(end, u->pStart + u->np); ++p)
    PetscCall(PetscSectionGetOffset(s, p, &off[p - u->pStart]));
  PetscCall(HopsPlexUnknownsRows(u, &HopsBackendHost, off, view, sp->ncells, NULL, &rows));
  PetscCall(HopsPlexGlobalIndices(s, gs, &nkeys, &gidx));
  PetscCall(HopsSpaceSetUpNumbering(sp, nkeys, gidx, NULL, rows));
  PetscCall(PetscFree(off));
  PetscCall(PetscFree(gidx));
  PetscCall((*HopsBackendHost.memory->Free)((void **)&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetUpPlex(HopsSpace sp, PetscSection s, const HopsPlexUnknowns *u, PetscInt nc, const PetscInt node[],
                                  PetscInt *first[])
{
  PetscSection gs;
  PetscInt    *entry;
  HopsCellView view;
  PetscBool    done;

  PetscFunctionBegin;
  if (first) *first = NULL;
  PetscCall(DMGetGlobalSection(sp->dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &sp->nT));
  PetscCall(HopsSpaceSetRange(sp));
  PetscCall(PetscMalloc1(u->size, &entry));
  for (PetscInt i = 0; i < u->size; ++i) entry[i] = i % nc ? -1 : node[i / nc];
  PetscCall(HopsPlexUnknownsView(u, nc, sp->ne, entry, &view));
  PetscCall(HopsPlexNumberSection(sp, s, gs, u, nc, &view, first, &done));
  if (!done) PetscCall(HopsSpaceSetUpKeys(sp, s, gs, u, &view));
  PetscCall(PetscFree(view.slot));
  PetscCall(PetscFree(view.seen));
  PetscCall(PetscFree(entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCheckPlex(DM dm, DM *plex, PetscInt *dim)
{
  PetscFunctionBegin;
  PetscCall(HopsDMGetPlex(dm, plex));
  PetscCheck(*plex, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The DM has type %s; hops takes a DMPLEX, a DMForest, or arrays (HopsSpaceCreateFromArrays())",
             ((PetscObject)dm)->type_name ? ((PetscObject)dm)->type_name : "(unset)");
  PetscCall(DMGetDimension(dm, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateFE_Private(DM dm, HopsSpace *space, PetscInt *nc, PetscInt *node[])
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)dm);
  HopsSpace       sp;
  HopsPlexCells   cells;
  PetscObject     disc;
  PetscClassId    id;
  PetscQuadrature quad[2];
  PetscInt        dim, nf, order;

  PetscFunctionBegin;
  PetscCall(HopsCheckPlex(dm, &dm, &dim));
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCheck(nf == 1, comm, PETSC_ERR_SUP,
             "The DM has %" PetscInt_FMT " fields where a low-order-refined matrix, or a HopsSpace, has one: use PCFIELDSPLIT "
             "(-pc_type fieldsplit), and -pc_type lor on the split of a field",
             nf);
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  PetscCheck(id == PETSCFE_CLASSID, comm, PETSC_ERR_SUP,
             "The DM's field is not a PetscFE: hops needs a continuous Lagrange PetscFE on it, or HopsSpaceCreateH1() on the bare "
             "mesh");
  PetscCall(HopsPlexCellsCreate(dm, dim, NULL, &cells)); /* first: a mesh of triangles should say so, not that its space is odd */
  PetscCall(HopsPlexGetFENodes((PetscFE)disc, dim, &order, nc, node));
  PetscCall(HopsSpaceCreate_Private(comm, dim, order, &sp));
  PetscCall(HopsSpaceSetBackendFromDM(sp, dm));
  PetscCall(PetscFEGetQuadrature((PetscFE)disc, &quad[0]));
  PetscCall(PetscFEGetFaceQuadrature((PetscFE)disc, &quad[1]));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscBool found;

    if (!quad[k]) continue;
    PetscCall(PetscQuadratureGetData(quad[k], NULL, NULL, &sp->nquad[k], NULL, NULL));
    PetscCall(HopsBasisCreateQuadrature(order + 1, dim - k, quad[k], &found, &sp->rule[k]));
    if (!found) sp->rule[k].P = 0;
  }
  PetscCall(HopsSpaceSetCells(sp, dm, cells));
  PetscCall(HopsPlexCellsDestroy(&cells));
  PetscCall(HopsSpaceCheckCounts(sp));
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The local section (to be destroyed) with the symmetries of its edges and faces. The section of a
  DMCreateSubDM(), such as a field of PCFIELDSPLIT, has lost them, so that cells would disagree on the order
  of an edge's nodes: they are made anew. Order 1 needs none: its unknowns are at vertices.
*/
PetscErrorCode HopsPlexGetSection(DM dm, PetscInt order, PetscSection *section)
{
  PetscSection    s, fresh;
  PetscSectionSym sym = NULL;
  PetscObject     disc;
  PetscInt        nf;
  DM              other;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(PetscSectionGetNumFields(s, &nf));
  if (nf == 1) PetscCall(PetscSectionGetFieldSym(s, 0, &sym));
  if (nf != 1 || sym || order == 1) {
    PetscCall(PetscObjectReference((PetscObject)s));
    *section = s;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(DMClone(dm, &other));
  PetscCall(DMSetField(other, 0, NULL, disc));
  PetscCall(DMCreateDS(other));
  PetscCall(DMGetLocalSection(other, &fresh));
  PetscCall(PetscSectionGetFieldSym(fresh, 0, &sym));
  PetscCall(PetscSectionClone(s, section));
  PetscCall(PetscSectionSetFieldSym(*section, 0, sym));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateFromDM - Creates a `HopsSpace` on a `DMPLEX` that has a scalar continuous Lagrange `PetscFE`,
  with the numbering of the DM's own sections, so that its vectors are the DM's global vectors.

  Collective

  Input Parameter:
. dm - the mesh, of quadrilaterals or hexahedra, with one field; essential unknowns are the constraints of its
  section

  Output Parameter:
. space - the space

  Level: beginner

  Notes:
  The nodes of the `PetscFE` must be the Gauss-Lobatto-Legendre points (PETSc's default); this is checked. The
  element maps are those of the DM's coordinate field, of any order.

  A mesh with a tree (`DMPlexSetTree()`) and a `DMFOREST` may have hanging nodes. Neighbours differ by
  one level.

  A mesh of other cells, a field of several components, other nodes, or a mesh without edges and faces raises
  `PETSC_ERR_SUP`.

.seealso: `HopsSpace`, `HopsSpaceCreateH1()`, `HopsSpaceCreateFromArrays()`, `PCLOR`
@*/
PetscErrorCode HopsSpaceCreateFromDM(DM dm, HopsSpace *space)
{
  HopsSpace        sp;
  HopsPlexUnknowns u;
  PetscSection     s;
  PetscInt        *node, nc, dim;
  char             what[32];
  const char      *was = HopsMake("the space");

  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 2);
  PetscCall(HopsInitialize());
  PetscCall(HopsCheckPlex(dm, &dm, &dim));
  PetscCall(PetscLogEventBegin(HopsEvent.space, dm, 0, 0, 0));
  PetscCall(HopsSpaceCreateFE_Private(dm, &sp, &nc, &node));
  PetscCheck(nc == 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The field has %" PetscInt_FMT " components where a HopsSpace is scalar: split the components with PCFIELDSPLIT, or "
             "give PCLOR the DM itself, which it takes with any number",
             nc);
  PetscCall(PetscObjectReference((PetscObject)dm));
  sp->dm = dm;
  PetscCall(HopsPlexGetSection(dm, sp->order, &s));
  PetscCall(HopsPlexUnknownsCreate(dm, s, sp->cells, PETSC_FALSE, &u));
  PetscCall(PetscSNPrintf(what, sizeof(what), "order %" PetscInt_FMT, sp->order));
  PetscCall(HopsPlexUnknownsSetUp(&u, sp->ne, what));
  PetscCall(HopsSpaceSetUpPlex(sp, s, &u, 1, node, NULL));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  PetscCall(HopsPlexGetGeometry(dm, sp));
  PetscCall(HopsSpaceCheckCounts(sp));
  PetscCall(PetscSectionDestroy(&s));
  PetscCall(PetscFree(node));
  PetscCall(PetscLogEventEnd(HopsEvent.space, dm, 0, 0, 0));
  (void)HopsMake(was);
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateH1 - Creates a `HopsSpace` of any order on a `DMPLEX` mesh, with hops' own numbering; the
  mesh needs no `PetscFE`, so this is fast at any order.

  Collective

  Input Parameters:
+ dm     - the mesh, of quadrilaterals or hexahedra, interpolated; it is cloned, not changed
. order  - the polynomial order, 1 or more
. label  - label of the essential (Dirichlet) boundary, or `NULL` for none
. nv     - number of label values
- values - [nv] label values whose points, with their closure, are essential

  Output Parameter:
. space - the space; essential unknowns are absent from its vectors

  Level: beginner

  Note:
  Hanging nodes are taken as by `HopsSpaceCreateFromDM()`. Where one is essential its parent is, too, or it
  is refused.

.seealso: `HopsSpace`, `HopsSpaceCreateFromDM()`, `HopsSpaceCreateHCurl()`, `HopsSpaceSetEssentialFunction()`,
`HopsSpaceGetDM()`
@*/
PetscErrorCode HopsSpaceCreateH1(DM dm, PetscInt order, DMLabel label, PetscInt nv, const PetscInt values[], HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 6);
  PetscCall(HopsSpaceCreatePlex_Private(dm, NULL, HOPS_H1, order, label, nv, values, NULL, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceGetLabelFaces - Lists the boundary faces of one label value as pairs of a cell and a face of it.

  Not Collective

  Input Parameters:
+ space - a space on a `DMPLEX`
. label - a label of the mesh
- value - the value

  Output Parameters:
+ n     - number of faces on this rank
. cells - [n] DMPlex point of the cell (free with `PetscFree()`)
- faces - [n] face of the reference cell: 2*d for the lower and 2*d + 1 for the upper face in direction d
  (free with `PetscFree()`)

  Level: intermediate

.seealso: `HopsSpace`, `MatPAAddRobin()`
@*/
PetscErrorCode HopsSpaceGetLabelFaces(HopsSpace space, DMLabel label, PetscInt value, PetscInt *n, PetscInt *cells[],
                                      PetscInt *faces[])
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  PetscCheck(space->dm, PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_WRONGSTATE,
             "The space was made from arrays and has no labels: list the faces yourself");
  HopsValidHeader(label, DMLABEL_CLASSID, 2);
  HopsValidPointer(n, 4);
  HopsValidPointer(cells, 5);
  HopsValidPointer(faces, 6);
  PetscCall(HopsPlexGetLabelFaces(space->dm, space, label, value, n, cells, faces, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexGetLabelFaces(DM dm, HopsSpace space, DMLabel label, PetscInt value, PetscInt *n, PetscInt *cells[],
                                     PetscInt *faces[], PetscInt *ninner)
{
  const HopsPlexClosure *ref;
  PetscInt               dim, nf = 0, inner = 0, size, *where;
  IS                     is;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(space->cells));
  dim = space->dim;
  ref = &space->cells->ref;
  PetscCall(DMLabelGetStratumSize(label, value, &size));
  PetscCall(PetscMalloc1(size, cells));
  PetscCall(PetscMalloc1(size, faces));
  where = space->cells->where;
  PetscCall(DMLabelGetStratumIS(label, value, &is));
  if (is) {
    const PetscInt *pts;

    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < size; ++i) {
      PetscInt        depth, ns;
      const PetscInt *support, *cl;

      PetscCall(DMPlexGetPointDepth(dm, pts[i], &depth));
      if (depth != dim - 1) continue;
      PetscCall(DMPlexGetSupportSize(dm, pts[i], &ns));
      PetscCall(DMPlexGetSupport(dm, pts[i], &support));
      if (ns > 1 && where[support[0] - space->cstart] >= 0) ++inner;
      if (ns != 1 || where[support[0] - space->cstart] < 0) continue; /* not a boundary face, or another rank's cell */
      cl = space->cells->point + where[support[0] - space->cstart] * ref->n;
      for (PetscInt k = 0; k < ref->n; ++k) {
        if (cl[k] != pts[i]) continue;
        for (PetscInt d = 0; d < dim; ++d) {
          PetscInt sum = 0;

          for (PetscInt v = 0; v < 2 * (dim - 1); ++v) sum += ref->corner[k][v][d];
          if (sum == 0 || sum == 2 * (dim - 1)) (*faces)[nf] = 2 * d + (sum ? 1 : 0);
        }
        (*cells)[nf++] = support[0];
        break;
      }
    }
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  *n = nf;
  if (ninner) *ninner = inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}
