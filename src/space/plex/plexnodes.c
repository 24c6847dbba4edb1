/* The nodes of a vector-valued PetscFE field as a scalar space, and how their components sit in the DM's
   global vectors. */
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopsdsimpl.h>

/*
  One unknown for each node; a node all of whose components are essential is constrained, and so is one that
  hangs: where PETSc (3.18) is told that some of its components are essential, it takes the others for
  unknowns, whose rows it leaves empty
*/
static PetscErrorCode HopsPlexNodeSection(DM dm, PetscSection s, PetscInt nc, PetscSection *nodes)
{
  PetscSection ns;
  PetscInt     pStart, pEnd;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)s), &ns));
  PetscCall(PetscSectionSetChart(ns, pStart, pEnd));
  for (PetscInt pass = 0; pass < 2; ++pass) { /* sizes, then constraints */
    for (PetscInt p = pStart; p < pEnd; ++p) {
      PetscInt        dof, cdof, n = 0, *all = NULL, i = 0, parent;
      const PetscInt *c = NULL;

      PetscCall(PetscSectionGetDof(s, p, &dof));
      PetscCall(PetscSectionGetConstraintDof(s, p, &cdof));
      PetscCheck(dof % nc == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "Point %" PetscInt_FMT " of the mesh has %" PetscInt_FMT " unknowns, no multiple of the field's %" PetscInt_FMT
                 " components: hops needs a continuous Lagrange PetscFE with all of them at each node",
                 p, dof, nc);
      if (!pass) PetscCall(PetscSectionSetDof(ns, p, dof / nc));
      if (!cdof) continue;
      PetscCall(DMPlexGetTreeParent(dm, p, &parent, NULL));
      PetscCall(PetscSectionGetConstraintIndices(s, p, &c));
      for (PetscInt k = 1; k < cdof; ++k)
        PetscCheck(c[k] > c[k - 1], PETSC_COMM_SELF, PETSC_ERR_SUP,
                   "The constrained unknowns of point %" PetscInt_FMT
                   " of the mesh are not in ascending order: set them so by PetscSectionSetConstraintIndices()",
                   p);
      PetscCall(PetscMalloc1(dof / nc, &all));
      for (PetscInt k = 0; k < dof / nc; ++k) {
        PetscInt m = 0;

        for (; i < cdof && c[i] < (k + 1) * nc; ++i) ++m;
        if (m == nc || parent != p) all[n++] = k;
      }
      if (!pass) PetscCall(PetscSectionSetConstraintDof(ns, p, n));
      else if (n) PetscCall(PetscSectionSetConstraintIndices(ns, p, all));
      PetscCall(PetscFree(all));
    }
    if (!pass) PetscCall(PetscSectionSetUp(ns));
  }
  *nodes = ns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* map[T-vector node][component] = local index in the DM's global vector, or -1 where the component is
   essential */
static PetscErrorCode HopsPlexNodeMap(DM dm, HopsSpace sp, PetscSection s, PetscSection ns, PetscInt nc, PetscInt *map[],
                                      PetscInt *size)
{
  PetscSection gs, gns;
  PetscInt     pStart, pEnd, start, n;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalSection(dm, &gs));
  PetscCall(DMGetGlobalSection(sp->dm, &gns));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &n));
  PetscCallMPI(MPI_Scan(&n, &start, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)dm)));
  start -= n;
  *size = n;
  PetscCall(PetscMalloc1(sp->nT * nc, map));
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt        dof, cdof, goff, gnoff, i = 0, node = 0;
    const PetscInt *c = NULL;

    PetscCall(PetscSectionGetDof(s, p, &dof));
    PetscCall(PetscSectionGetConstraintDof(ns, p, &cdof));
    if (cdof * nc == dof) continue; /* none of its nodes is in the T-vector */
    PetscCall(PetscSectionGetOffset(gs, p, &goff));
    PetscCall(PetscSectionGetOffset(gns, p, &gnoff));
    if (!dof || gnoff < 0 || goff < 0) continue; /* another rank's */
    PetscCall(PetscSectionGetConstraintDof(s, p, &cdof));
    if (cdof) PetscCall(PetscSectionGetConstraintIndices(s, p, &c));
    for (PetscInt k = 0; k < dof; k += nc) {
      PetscInt *m = *map + (gnoff - sp->rstart + node) * nc, free = 0, first = i;

      for (PetscInt d = 0; d < nc; ++d) {
        if (i < cdof && c[i] == k + d) ++i;
        else ++free;
      }
      if (!free) continue; /* the node is not in the T-vector */
      i = first;
      for (PetscInt d = 0; d < nc; ++d) {
        if (i < cdof && c[i] == k + d) {
          m[d] = -1;
          ++i;
        } else m[d] = goff - start + k + d - i;
      }
      ++node;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* flag[offset] of each unknown of a section: 1 where it is constrained */
static PetscErrorCode HopsPlexConstrained(PetscSection s, unsigned char *flag[])
{
  PetscInt pStart, pEnd, size;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetStorageSize(s, &size));
  PetscCall(PetscCalloc1(size, flag));
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt        cdof, off;
    const PetscInt *c;

    PetscCall(PetscSectionGetConstraintDof(s, p, &cdof));
    if (!cdof) continue;
    PetscCall(PetscSectionGetOffset(s, p, &off));
    PetscCall(PetscSectionGetConstraintIndices(s, p, &c));
    for (PetscInt i = 0; i < cdof; ++i) (*flag)[off + c[i]] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* isfree[nL][nc], all zero: 1 where a component of a node that the cells have is not essential. first[]:
   where the nodes of points begin, or NULL */
static PetscErrorCode HopsNodesMarkFree(HopsNodes n, HopsSpace sp, PetscSection s, const HopsPlexUnknowns *u, PetscInt nc,
                                        const PetscInt node[], const PetscInt first[])
{
  unsigned char *constrained;
  PetscInt      *idx, start, end;

  PetscFunctionBegin;
  PetscCall(HopsPlexConstrained(s, &constrained));
  PetscCall(PetscSectionGetChart(s, &start, &end));
  for (PetscInt p = PetscMax(start, u->pStart); first && p < PetscMin(end, u->pStart + u->np); ++p) {
    PetscInt dof, off;

    if (first[p - u->pStart] < 0) continue;
    PetscCall(PetscSectionGetDof(s, p, &dof));
    PetscCall(PetscSectionGetOffset(s, p, &off));
    for (PetscInt i = 0; i < dof; ++i) n->isfree[first[p - u->pStart] * nc + i] = !constrained[off + i];
  }
  PetscCall(PetscMalloc1(u->size, &idx));
  for (PetscInt c = 0; c < sp->ncells && !first; ++c) { /* in the space's own order of cells */
    PetscInt m;

    PetscCall(HopsPlexUnknownsGet((HopsPlexUnknowns *)u, sp->cells->where[sp->cell[c] - sp->cstart], idx, &m));
    for (PetscInt i = 0; i < m; ++i) n->isfree[sp->restr[c * sp->ne + node[i / nc]] * nc + i % nc] = !constrained[idx[i]];
  }
  PetscCall(PetscFree(idx));
  PetscCall(PetscFree(constrained));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNodesDestroy(HopsNodes *nodes)
{
  HopsNodes n = *nodes;

  PetscFunctionBegin;
  *nodes = NULL;
  if (!n || --n->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceDestroy(&n->space));
  PetscCall(PetscFree(n->map));
  PetscCall(PetscFree(n->isfree));
  PetscCall(PetscFree(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNodesCreate(DM dm, HopsNodes *nodes)
{
  HopsNodes        n;
  HopsSpace        sp;
  HopsPlexUnknowns u;
  PetscSection     s, ns;
  PetscInt        *node, *first, nc;
  char             what[64];
  const char      *was = HopsMake("the space");

  PetscFunctionBegin;
  PetscCall(PetscNew(&n));
  PetscCall(HopsInitialize());
  PetscCall(PetscLogEventBegin(HopsEvent.space, dm, 0, 0, 0));
  PetscCall(HopsSpaceCreateFE_Private(dm, &sp, &nc, &node));
  PetscCall(HopsPlexGetSection(dm, sp->order, &s));
  PetscCall(HopsPlexNodeSection(dm, s, nc, &ns));
  PetscCall(DMClone(dm, &sp->dm));
  PetscCall(DMSetLocalSection(sp->dm, ns));
  PetscCall(HopsPlexUnknownsCreate(dm, s, sp->cells, PETSC_FALSE, &u));
  PetscCall(PetscSNPrintf(what, sizeof(what), "order %" PetscInt_FMT " with %" PetscInt_FMT " components", sp->order, nc));
  PetscCall(HopsPlexUnknownsSetUp(&u, sp->ne * nc, what));
  PetscCall(HopsSpaceSetUpPlex(sp, ns, &u, nc, node, &first));
  PetscCall(HopsPlexGetGeometry(dm, sp));
  PetscCall(HopsSpaceCheckCounts(sp));
  PetscCall(HopsPlexNodeMap(dm, sp, s, ns, nc, &n->map, &n->nfree));
  PetscCall(PetscCalloc1(sp->nL * nc, &n->isfree));
  PetscCall(HopsNodesMarkFree(n, sp, s, &u, nc, node, first));
  PetscCall(PetscFree(first));
  PetscCall(HopsPlexUnknownsDestroy(&u));
  n->nempty = n->nfree;
  for (PetscInt i = 0; i < sp->nT * nc; ++i) n->nempty -= n->map[i] >= 0;
  PetscCall(PetscInfo(dm,
                      "%" PetscInt_FMT " nodes with unknowns, %" PetscInt_FMT " of %" PetscInt_FMT
                      " components free; %" PetscInt_FMT " unknowns of no node\n",
                      sp->nT, n->nfree - n->nempty, sp->nT * nc, n->nempty));
  PetscCall(PetscFree(node));
  PetscCall(PetscSectionDestroy(&ns));
  PetscCall(PetscSectionDestroy(&s));
  PetscCall(PetscLogEventEnd(HopsEvent.space, dm, 0, 0, 0));
  (void)HopsMake(was);
  n->refct = 1;
  n->space = sp;
  n->nc    = nc;
  *nodes   = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
