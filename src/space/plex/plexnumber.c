/* hops' own numbering of the unknowns on a DMPlex: by points, in the order in which the cells' closures first
   reach them, for locality. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopspleximpl.h>

/* --------------------------------------- essential points --------------------------------------- */

/* with every point all those of its closure */
static PetscErrorCode HopsPlexMarkClosures(DM dm, PetscInt pStart, PetscInt mark[])
{
  PetscInt depth;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(dm, &depth));
  for (PetscInt d = depth; d > 0; --d) {
    PetscInt first, last, n;

    PetscCall(DMPlexGetDepthStratum(dm, d, &first, &last));
    for (PetscInt p = first; p < last; ++p) {
      const PetscInt *cone;

      if (!mark[p - pStart]) continue;
      PetscCall(DMPlexGetConeSize(dm, p, &n));
      PetscCall(DMPlexGetCone(dm, p, &cone));
      for (PetscInt i = 0; i < n; ++i) mark[cone[i] - pStart] = 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexShareMarks(DM dm, PetscInt mark[])
{
  PetscSF  sf;
  PetscInt nroots;

  PetscFunctionBegin;
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, NULL, NULL, NULL));
  if (nroots < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, mark, mark, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, mark, mark, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A face may be known to one rank alone, and its edges to others too: marks go to the owners and back */
PetscErrorCode HopsPlexEssentialPoints(DM dm, DMLabel label, PetscInt nv, const PetscInt values[], PetscInt *mark[])
{
  PetscSF  sf;
  PetscInt pStart, pEnd, nroots, *leaf;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(PetscCalloc1(pEnd - pStart, mark));
  for (PetscInt v = 0; label && v < nv; ++v) {
    IS              is;
    PetscInt        n;
    const PetscInt *pts;

    PetscCall(DMLabelGetStratumIS(label, values[v], &is));
    if (!is) continue;
    PetscCall(ISGetLocalSize(is, &n));
    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < n; ++i) (*mark)[pts[i] - pStart] = 1;
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(HopsPlexMarkClosures(dm, pStart, *mark));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, NULL, NULL, NULL));
  if (nroots < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(pEnd - pStart, &leaf));
  PetscCall(PetscArraycpy(leaf, *mark, pEnd - pStart));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, leaf, *mark, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, leaf, *mark, MPI_MAX));
  PetscCall(PetscFree(leaf));
  PetscCall(HopsPlexMarkClosures(dm, pStart, *mark));
  PetscCall(HopsPlexShareMarks(dm, *mark));
  PetscCall(HopsPlexMarkClosures(dm, pStart, *mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceGetEssentialPoints(HopsSpace sp, PetscInt *mark[])
{
  PetscInt pStart, pEnd;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(sp->dm, &pStart, &pEnd));
  PetscCall(PetscCalloc1(pEnd - pStart + 1, mark)); /* never NULL, also on a rank without cells */
  if (sp->fixed) {
    for (PetscInt i = 0; i < sp->nfixed; ++i) (*mark)[sp->fixed[i] - pStart] = 1;
  } else {
    PetscSection s;

    PetscCall(DMGetLocalSection(sp->dm, &s));
    for (PetscInt p = pStart; p < pEnd; ++p) {
      PetscInt n;

      PetscCall(PetscSectionGetConstraintDof(s, p, &n));
      (*mark)[p - pStart] = n > 0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ numbering ------------------------------------------ */

/* dof[d] unknowns on each point of depth d, start[d] the first one, end[d] behind the last */
typedef struct {
  PetscInt dof[4], start[4], end[4], pStart, pEnd;
} HopsStrata;

static PetscErrorCode HopsStrataCreate(HopsSpace sp, HopsStrata *s)
{
  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(sp->dm, &s->pStart, &s->pEnd));
  for (PetscInt d = 0; d <= sp->dim; ++d) {
    s->dof[d] = HopsFamilyDof(sp->family, sp->dim, sp->order, d);
    PetscCall(DMPlexGetDepthStratum(sp->dm, d, &s->start[d], &s->end[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points with unknowns in the order of their numbers, those of other ranks' cells last, as p - pStart; their
   depths */
static PetscErrorCode HopsPlexFirstTouch(HopsSpace sp, const HopsStrata *s, PetscInt *n, PetscInt *order[], unsigned char *depth[])
{
  const HopsPlexCells cells = sp->cells;
  const PetscInt      np    = s->pEnd - s->pStart;
  PetscInt            list[27], nlist = 0, m = 0, *o;
  unsigned char      *d, *seen;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(np, order));
  PetscCall(PetscMalloc1(np, depth));
  PetscCall(PetscMalloc1(np, &seen));
  PetscCall(PetscMemzero(seen, np));
  o = *order;
  d = *depth;
  for (PetscInt i = 0; i < cells->ref.n; ++i)
    if (s->dof[i ? cells->ref.depth[i] : sp->dim]) list[nlist++] = i;
  for (PetscInt c = 0; c < cells->ncells; ++c)
    for (PetscInt k = 0; k < nlist; ++k) {
      const PetscInt p = cells->point[c * cells->ref.n + list[k]] - s->pStart;

      if (seen[p]) continue;
      seen[p] = 1;
      d[m]    = (unsigned char)(list[k] ? cells->ref.depth[list[k]] : sp->dim);
      o[m++]  = p;
    }
  for (PetscInt p = 0; p < np; ++p) {
    PetscInt e = sp->dim;

    if (seen[p]) continue;
    while (e > 0 && (p + s->pStart < s->start[e] || p + s->pStart >= s->end[e])) --e;
    if (!s->dof[e]) continue;
    d[m]   = (unsigned char)e;
    o[m++] = p;
  }
  PetscCall(PetscFree(seen));
  *n = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* first[p - pStart]: the first global index of the points in order[n]. A rank numbers those that it owns, and
   gets the others from their owners; sets nT */
static PetscErrorCode HopsPlexNumberPoints(HopsSpace sp, const HopsStrata *s, PetscInt n, const PetscInt order[],
                                           const unsigned char depth[], const PetscInt ess[], PetscInt first[])
{
  PetscSF         sf;
  PetscInt        nroots, nleaves, rstart;
  const PetscInt *leaves;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) first[order[i]] = 0;
  PetscCall(DMGetPointSF(sp->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &leaves, NULL));
  for (PetscInt l = 0; l < nleaves; ++l) first[(leaves ? leaves[l] : l) - s->pStart] = -1;
  sp->nT = 0;
  for (PetscInt i = 0; i < n; ++i) {
    if (first[order[i]] < 0) continue;
    first[order[i]] = sp->nT;
    if (!ess[order[i]]) sp->nT += s->dof[depth[i]];
  }
  PetscCallMPI(MPI_Scan(&sp->nT, &rstart, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  for (PetscInt i = 0; i < n; ++i) first[order[i]] += rstart - sp->nT;
  PetscCall(HopsPlexShareMarks(sp->dm, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from the section, for meshes in which periodic faces identify points of one rank */
static PetscErrorCode HopsPlexNumberIdentified(HopsSpace sp, const HopsStrata *s, PetscInt n, const PetscInt order[],
                                               PetscInt first[])
{
  PetscSection gs;

  PetscFunctionBegin;
  PetscCall(HopsSpaceSetSection(sp));
  PetscCall(DMGetGlobalSection(sp->dm, &gs));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &sp->nT));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt off;

    PetscCall(PetscSectionGetOffset(gs, order[i] + s->pStart, &off));
    first[order[i]] = off < 0 ? -1 - off : off;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexNumber(HopsSpace sp, const PetscInt ess[], PetscInt *nkeys, PetscInt *key[], PetscInt *gidx[])
{
  HopsStrata     s;
  PetscInt       n, identified, nk = 0, *order, *first;
  PetscInt64     total = 0;
  unsigned char *depth;

  PetscFunctionBegin;
  PetscCall(HopsStrataCreate(sp, &s));
  for (PetscInt d = 0; d <= sp->dim; ++d) total += (PetscInt64)s.dof[d] * (s.end[d] - s.start[d]);
  PetscCall(HopsCheckIndex("unknowns", total));
  PetscCall(HopsPlexFirstTouch(sp, &s, &n, &order, &depth));
  PetscCall(PetscCalloc1(s.pEnd - s.pStart, &first));
  PetscCall(HopsDMPlexGetIdentified(sp->dm, &identified));
  if (identified) PetscCall(HopsPlexNumberIdentified(sp, &s, n, order, first));
  else PetscCall(HopsPlexNumberPoints(sp, &s, n, order, depth, ess, first));
  PetscCall(HopsSpaceSetRange(sp));
  PetscCall(PetscMalloc1(s.pEnd - s.pStart, key));
  PetscCall(PetscMalloc1((PetscInt)total, gidx));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt p = order[i], g = ess[p] ? -1 : first[p], step = g < 0 ? 0 : 1, dof = s.dof[depth[i]];

    (*key)[p] = nk;
    for (PetscInt t = 0; t < dof; ++t) (*gidx)[nk++] = g + step * t;
  }
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(depth));
  *nkeys = nk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetSection(HopsSpace sp)
{
  HopsStrata     s;
  PetscSection   section;
  IS             perm;
  PetscInt       n, maxdof = 0, *mark, *order, *ind;
  unsigned char *depth;

  PetscFunctionBegin;
  PetscCall(HopsStrataCreate(sp, &s));
  PetscCall(HopsSpaceGetEssentialPoints(sp, &mark));
  PetscCall(HopsPlexFirstTouch(sp, &s, &n, &order, &depth));
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)sp->dm), &section));
  PetscCall(PetscSectionSetChart(section, s.pStart, s.pEnd));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt p = order[i] + s.pStart, dof = s.dof[depth[i]];

    maxdof = PetscMax(maxdof, dof);
    PetscCall(PetscSectionSetDof(section, p, dof));
    if (mark[order[i]]) PetscCall(PetscSectionSetConstraintDof(section, p, dof));
    mark[order[i]] |= 2; /* it has its place */
  }
  for (PetscInt p = 0; p < s.pEnd - s.pStart; ++p)
    if (!(mark[p] & 2)) order[n++] = p;
  for (PetscInt i = 0; i < n; ++i) order[i] += s.pStart;
  PetscCall(PetscFree(depth));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, &perm));
  PetscCall(PetscSectionSetPermutation(section, perm));
  PetscCall(ISDestroy(&perm));
  PetscCall(PetscSectionSetUp(section));
  PetscCall(PetscMalloc1(maxdof, &ind));
  for (PetscInt k = 0; k < maxdof; ++k) ind[k] = k;
  for (PetscInt p = s.pStart; p < s.pEnd; ++p)
    if (mark[p - s.pStart] == 3) PetscCall(PetscSectionSetConstraintIndices(section, p, ind));
  PetscCall(PetscFree(ind));
  PetscCall(PetscFree(mark));
  PetscCall(DMSetLocalSection(sp->dm, section));
  PetscCall(PetscSectionDestroy(&section));
  sp->hassection = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
