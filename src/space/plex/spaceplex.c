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

PetscErrorCode HopsSpaceSetUpPlex(HopsSpace sp, PetscSection s, const PetscInt elist[])
{
  PetscSection gs;
  PetscInt     nkeys, *gidx;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalSection(sp->dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &sp->nT));
  PetscCallMPI(MPI_Scan(&sp->nT, &sp->rstart, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  sp->rstart -= sp->nT;
  PetscCall(MPIU_Allreduce(&sp->nT, &sp->N, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscCall(HopsPlexGlobalIndices(s, gs, &nkeys, &gidx));
  PetscCall(HopsSpaceSetUpNumbering(sp, nkeys, gidx, NULL, elist));
  PetscCall(PetscFree(gidx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCheckPlex(DM dm, PetscInt *dim)
{
  PetscBool plex;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &plex));
  PetscCheck(plex, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The DM has type %s; hops takes a DMPLEX, or arrays (HopsSpaceCreateFromArrays())",
             ((PetscObject)dm)->type_name ? ((PetscObject)dm)->type_name : "(unset)");
  PetscCall(DMGetDimension(dm, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateFE_Private(DM dm, HopsSpace *space, PetscInt *nc, PetscInt *node[])
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)dm);
  HopsSpace       sp;
  PetscObject     disc;
  PetscClassId    id;
  PetscQuadrature quad[2];
  PetscInt        dim, nf, order;

  PetscFunctionBegin;
  PetscCall(HopsCheckPlex(dm, &dim));
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
  {
    HopsSpace probe; /* cells first: a mesh of triangles should say so, not that its space is odd */

    PetscCall(HopsSpaceCreate_Private(comm, dim, 1, &probe));
    PetscCall(HopsPlexGetCells(dm, probe));
    PetscCall(HopsSpaceDestroy(&probe));
  }
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
  PetscCall(HopsPlexGetCells(dm, sp));
  PetscCall(HopsPlexGetGeometry(dm, sp));
  PetscCall(HopsSpaceCheckCounts(sp));
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The local section (to be destroyed) with the symmetries of its edges and faces. The section of a
  DMCreateSubDM(), such as a field of PCFIELDSPLIT, has lost them, so that cells would disagree on the order
  of an edge's nodes: they are made anew.
*/
PetscErrorCode HopsPlexGetSection(DM dm, PetscSection *section)
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
  if (nf != 1 || sym) {
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

  A mesh of other cells, a field of several components, other nodes, or a mesh without edges and faces raises
  `PETSC_ERR_SUP`.

.seealso: `HopsSpace`, `HopsSpaceCreateH1()`, `HopsSpaceCreateFromArrays()`, `PCLOR`
@*/
PetscErrorCode HopsSpaceCreateFromDM(DM dm, HopsSpace *space)
{
  HopsSpace    sp;
  PetscSection s;
  PetscInt    *node, *elist, np, nc;

  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 2);
  PetscCall(HopsInitialize());
  PetscCall(PetscLogEventBegin(HopsEvent.space, dm, 0, 0, 0));
  PetscCall(HopsSpaceCreateFE_Private(dm, &sp, &nc, &node));
  PetscCheck(nc == 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The field has %" PetscInt_FMT " components where a HopsSpace is scalar: split the components with PCFIELDSPLIT, or "
             "give PCLOR the DM itself, which it takes with any number",
             nc);
  PetscCall(PetscObjectReference((PetscObject)dm));
  sp->dm = dm;
  PetscCall(HopsPlexGetSection(dm, &s));
  np = HopsPower(sp->order + 1, sp->dim);
  PetscCall(PetscMalloc1(sp->ncells * np, &elist));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt n, *idx = NULL;

    PetscCall(DMPlexGetClosureIndices(dm, s, s, sp->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
    PetscCheck(n == np, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns where order %" PetscInt_FMT " has %" PetscInt_FMT
               ": the order must not vary over the mesh, and hanging nodes are not supported",
               sp->cell[c], n, sp->order, np);
    for (PetscInt i = 0; i < np; ++i) elist[c * np + node[i]] = idx[i] < 0 ? -(idx[i] + 1) : idx[i];
    PetscCall(DMPlexRestoreClosureIndices(dm, s, s, sp->cell[c], PETSC_FALSE, &n, &idx, NULL, NULL));
  }
  PetscCall(HopsSpaceSetUpPlex(sp, s, elist));
  PetscCall(PetscSectionDestroy(&s));
  PetscCall(PetscFree(elist));
  PetscCall(PetscFree(node));
  PetscCall(PetscLogEventEnd(HopsEvent.space, dm, 0, 0, 0));
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cl[ncells][2 n]: points and orientations in the closures of the space's cells */
PetscErrorCode HopsPlexGetClosures(DM dm, HopsSpace sp, PetscInt n, PetscInt *cl[])
{
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(HopsCount("points of the cells", sp->ncells, 2, n, &size));
  PetscCall(PetscMalloc1(size, cl));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt m, *points = NULL;

    PetscCall(DMPlexGetTransitiveClosure(dm, sp->cell[c], PETSC_TRUE, &m, &points));
    PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Cell %" PetscInt_FMT " has %" PetscInt_FMT " points in its closure where a conforming cell has %" PetscInt_FMT
               ": hanging nodes are not supported",
               sp->cell[c], m, n);
    PetscCall(PetscArraycpy(*cl + c * 2 * n, points, 2 * n));
    PetscCall(DMPlexRestoreTransitiveClosure(dm, sp->cell[c], PETSC_TRUE, &m, &points));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Layout of hops' own section: points in the order in which the cells' closures first reach them, for
   locality */
static PetscErrorCode HopsPlexFirstTouch(HopsSpace sp, PetscInt ncl, const PetscInt cl[], PetscInt pStart, PetscInt pEnd, IS *perm)
{
  PetscInt   n = 0, *order;
  PetscBool *seen;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pEnd - pStart, &order));
  PetscCall(PetscCalloc1(pEnd - pStart, &seen));
  for (PetscInt i = 0; i < sp->ncells * ncl; ++i) {
    const PetscInt p = cl[2 * i] - pStart;

    if (!seen[p]) order[n++] = p + pStart;
    seen[p] = PETSC_TRUE;
  }
  for (PetscInt p = 0; p < pEnd - pStart; ++p) /* points of other ranks' cells */
    if (!seen[p]) order[n++] = p + pStart;
  PetscCall(PetscFree(seen));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ess[p - pStart]: the point lies in the closure of an essential stratum */
PetscErrorCode HopsPlexEssentialPoints(DM dm, DMLabel label, PetscInt nv, const PetscInt values[], PetscInt pStart, PetscInt pEnd,
                                       PetscBool *essential[])
{
  DMLabel         ess;
  IS              is;
  PetscInt        n;
  const PetscInt *pts;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(pEnd - pStart, essential));
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "essential", &ess));
  for (PetscInt v = 0; label && v < nv; ++v) {
    PetscCall(DMLabelGetStratumIS(label, values[v], &is));
    if (!is) continue;
    PetscCall(ISGetLocalSize(is, &n));
    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < n; ++i) PetscCall(DMLabelSetValue(ess, pts[i], 1));
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(DMPlexLabelComplete(dm, ess));
  PetscCall(DMLabelGetStratumIS(ess, 1, &is));
  if (is) {
    PetscCall(ISGetLocalSize(is, &n));
    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < n; ++i) (*essential)[pts[i] - pStart] = PETSC_TRUE;
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(DMLabelDestroy(&ess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the unknowns of the family on each point ((order-1)^depth in H1); all those of essential points are
   constrained */
PetscErrorCode HopsPlexCreateSection(DM dm, HopsSpace sp, PetscInt ncl, const PetscInt cl[], const PetscBool ess[],
                                     PetscSection *section)
{
  PetscSection s;
  IS           perm;
  PetscInt     pStart, pEnd, maxdof = 0, *ind;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)dm), &s));
  PetscCall(PetscSectionSetChart(s, pStart, pEnd));
  for (PetscInt d = 0; d <= sp->dim; ++d) {
    const PetscInt dof = HopsFamilyDof(sp->family, sp->dim, sp->order, d);
    PetscInt       first, last;

    maxdof = PetscMax(maxdof, dof);
    PetscCall(DMPlexGetDepthStratum(dm, d, &first, &last));
    for (PetscInt p = first; p < last && dof; ++p) {
      PetscCall(PetscSectionSetDof(s, p, dof));
      if (ess[p - pStart]) PetscCall(PetscSectionSetConstraintDof(s, p, dof));
    }
  }
  PetscCall(HopsPlexFirstTouch(sp, ncl, cl, pStart, pEnd, &perm));
  PetscCall(PetscSectionSetPermutation(s, perm));
  PetscCall(ISDestroy(&perm));
  PetscCall(PetscSectionSetUp(s));
  PetscCall(PetscMalloc1(maxdof, &ind));
  for (PetscInt k = 0; k < maxdof; ++k) ind[k] = k;
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt cdof = 0;

    if (ess[p - pStart]) PetscCall(PetscSectionGetConstraintDof(s, p, &cdof));
    if (cdof) PetscCall(PetscSectionSetConstraintIndices(s, p, ind));
  }
  PetscCall(PetscFree(ind));
  *section = s;
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

.seealso: `HopsSpace`, `HopsSpaceCreateFromDM()`, `HopsSpaceCreateHCurl()`, `HopsSpaceSetEssentialFunction()`,
`HopsSpaceGetDM()`
@*/
PetscErrorCode HopsSpaceCreateH1(DM dm, PetscInt order, DMLabel label, PetscInt nv, const PetscInt values[], HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 6);
  PetscCall(HopsSpaceCreatePlex_Private(dm, HOPS_H1, order, label, nv, values, NULL, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateH1Points(DM dm, PetscInt order, const PetscBool ess[], HopsSpace *space)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceCreatePlex_Private(dm, HOPS_H1, order, NULL, 0, NULL, ess, space));
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
  HopsPlexClosure ref;
  PetscInt        dim, nf = 0, size, *where;
  IS              is;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  PetscCheck(space->dm, PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_WRONGSTATE,
             "The space was made from arrays and has no labels: list the faces yourself");
  HopsValidHeader(label, DMLABEL_CLASSID, 2);
  HopsValidPointer(n, 4);
  HopsValidPointer(cells, 5);
  HopsValidPointer(faces, 6);
  dim = space->dim;
  PetscCall(HopsPlexClosureCreate(dim, &ref));
  PetscCall(DMLabelGetStratumSize(label, value, &size));
  PetscCall(PetscMalloc1(size, cells));
  PetscCall(PetscMalloc1(size, faces));
  PetscCall(PetscMalloc1(space->ncaller, &where));
  for (PetscInt c = 0; c < space->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < space->ncells; ++c) where[space->cell[c] - space->cstart] = c;
  PetscCall(DMLabelGetStratumIS(label, value, &is));
  if (is) {
    const PetscInt *pts;

    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < size; ++i) {
      PetscInt        depth, ns, ncl, *cl = NULL;
      const PetscInt *support;

      PetscCall(DMPlexGetPointDepth(space->dm, pts[i], &depth));
      if (depth != dim - 1) continue;
      PetscCall(DMPlexGetSupportSize(space->dm, pts[i], &ns));
      PetscCall(DMPlexGetSupport(space->dm, pts[i], &support));
      if (ns != 1 || where[support[0] - space->cstart] < 0) continue; /* not a boundary face, or another rank's cell */
      PetscCall(DMPlexGetTransitiveClosure(space->dm, support[0], PETSC_TRUE, &ncl, &cl));
      for (PetscInt k = 0; k < ncl; ++k) {
        if (cl[2 * k] != pts[i]) continue;
        for (PetscInt d = 0; d < dim; ++d) {
          PetscInt sum = 0;

          for (PetscInt v = 0; v < 2 * (dim - 1); ++v) sum += ref.corner[k][v][d];
          if (sum == 0 || sum == 2 * (dim - 1)) (*faces)[nf] = 2 * d + (sum ? 1 : 0);
        }
        (*cells)[nf++] = support[0];
        break;
      }
      PetscCall(DMPlexRestoreTransitiveClosure(space->dm, support[0], PETSC_TRUE, &ncl, &cl));
    }
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(PetscFree(where));
  *n = nf;
  PetscFunctionReturn(PETSC_SUCCESS);
}
