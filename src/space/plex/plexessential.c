/* Essential points of a DMPlex: those in the closures of a label's values, on all ranks. */
#include <hops/private/hopspleximpl.h>

/* with every point of the list all those of its closure: they are marked, and added to the list */
static PetscErrorCode HopsPlexMarkClosures(DM dm, PetscInt pStart, PetscInt n, PetscInt *list[], signed char mark[])
{
  PetscInt size = n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt *cone;
    PetscInt        m;

    PetscCall(DMPlexGetConeSize(dm, (*list)[i], &m));
    PetscCall(DMPlexGetCone(dm, (*list)[i], &cone));
    if (n + m > size) {
      size = 2 * (n + m);
      PetscCall(PetscRealloc(size * sizeof(PetscInt), list));
    }
    for (PetscInt k = 0; k < m; ++k) {
      if (mark[cone[k] - pStart]) continue;
      mark[cone[k] - pStart] = 1;
      (*list)[n++]           = cone[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first marked point from p on, or np; few are, so that most of mark[] is looked at eight by eight */
static PetscInt HopsNextMark(PetscInt p, PetscInt np, const signed char mark[])
{
  const char none[8] = {0};

  while (p < np && !mark[p]) p += p + 8 <= np && !memcmp(mark + p, none, 8) ? 8 : 1;
  return p;
}

/* the marked points, ascending; never NULL */
static PetscErrorCode HopsPlexListMarks(PetscInt pStart, PetscInt np, const signed char mark[], PetscInt *n, PetscInt *list[])
{
  PetscInt m = 0;

  PetscFunctionBegin;
  for (PetscInt p = HopsNextMark(0, np, mark); p < np; p = HopsNextMark(p + 1, np, mark)) ++m;
  PetscCall(PetscMalloc1(m + 1, list));
  *n = 0;
  for (PetscInt p = HopsNextMark(0, np, mark); p < np; p = HopsNextMark(p + 1, np, mark)) (*list)[(*n)++] = p + pStart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexSharePoints(DM dm, signed char mark[], PetscInt *n, PetscInt *points[])
{
  PetscSF  sf;
  PetscInt nroots, pStart, pEnd;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, NULL, NULL, NULL));
  if (nroots >= 0) {
    PetscCall(PetscSFBcastBegin(sf, MPI_SIGNED_CHAR, mark, mark, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, MPI_SIGNED_CHAR, mark, mark, MPI_REPLACE));
  }
  PetscCall(HopsPlexListMarks(pStart, pEnd - pStart, mark, n, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A face may be known to one rank alone, and its edges to others too: marks go to the owners and back */
PetscErrorCode HopsPlexShareClosures(DM dm, PetscInt pStart, PetscInt np, signed char mark[], PetscInt *n, PetscInt *list[])
{
  PetscSF      sf;
  PetscInt     nroots;
  signed char *leaf;

  PetscFunctionBegin;
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, NULL, NULL, NULL));
  if (nroots >= 0) {
    PetscCall(PetscMalloc1(np, &leaf));
    PetscCall(PetscArraycpy(leaf, mark, np));
    PetscCall(PetscSFReduceBegin(sf, MPI_SIGNED_CHAR, leaf, mark, MPI_MAX));
    PetscCall(PetscSFReduceEnd(sf, MPI_SIGNED_CHAR, leaf, mark, MPI_MAX));
    PetscCall(PetscFree(leaf));
    PetscCall(PetscFree(*list));
    PetscCall(HopsPlexListMarks(pStart, np, mark, n, list));
    PetscCall(HopsPlexMarkClosures(dm, pStart, *n, list, mark));
    PetscCall(PetscFree(*list));
    PetscCall(HopsPlexSharePoints(dm, mark, n, list));
    PetscCall(HopsPlexMarkClosures(dm, pStart, *n, list, mark));
  }
  PetscCall(PetscFree(*list));
  PetscCall(HopsPlexListMarks(pStart, np, mark, n, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexEssentialPoints(DM dm, DMLabel label, PetscInt nv, const PetscInt values[], PetscInt *n, PetscInt *points[])
{
  PetscInt     pStart, pEnd, size = 0, *list;
  signed char *mark;

  PetscFunctionBegin;
  *n = 0;
  if (!label) {
    PetscCall(PetscMalloc1(1, points));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(PetscCalloc1(pEnd - pStart, &mark));
  for (PetscInt v = 0; v < nv; ++v) {
    PetscInt m;

    PetscCall(DMLabelGetStratumSize(label, values[v], &m));
    size += m;
  }
  PetscCall(PetscMalloc1(size + 1, &list));
  for (PetscInt v = 0; v < nv; ++v) {
    IS              is;
    PetscInt        m;
    const PetscInt *pts;

    PetscCall(DMLabelGetStratumIS(label, values[v], &is));
    if (!is) continue;
    PetscCall(ISGetLocalSize(is, &m));
    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < m; ++i) {
      if (!mark[pts[i] - pStart]) list[(*n)++] = pts[i];
      mark[pts[i] - pStart] = 1;
    }
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(HopsPlexMarkClosures(dm, pStart, *n, &list, mark));
  PetscCall(HopsPlexShareClosures(dm, pStart, pEnd - pStart, mark, n, &list));
  PetscCall(PetscFree(mark));
  *points = list;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points that hang are left out: they have no unknowns, and follow their parents */
static PetscErrorCode HopsLeaveHanging(HopsSpace sp, PetscInt *n, PetscInt points[])
{
  const PetscInt all = *n;

  PetscFunctionBegin;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  *n = 0;
  for (PetscInt i = 0; i < all; ++i) {
    PetscInt parent;

    PetscCall(DMPlexGetTreeParent(sp->dm, points[i], &parent, NULL));
    if (parent == points[i]) points[(*n)++] = points[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceGetEssentialPoints(HopsSpace sp, PetscInt *n, PetscInt *points[])
{
  PetscInt     pStart, pEnd;
  PetscSection s;

  PetscFunctionBegin;
  if (sp->fixed) {
    *n = sp->nfixed;
    PetscCall(PetscMalloc1(sp->nfixed + 1, points));
    PetscCall(PetscArraycpy(*points, sp->fixed, sp->nfixed));
    PetscCall(HopsLeaveHanging(sp, n, *points));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMPlexGetChart(sp->dm, &pStart, &pEnd));
  PetscCall(DMGetLocalSection(sp->dm, &s));
  PetscCall(PetscMalloc1(pEnd - pStart + 1, points)); /* never NULL, also on a rank without cells */
  *n = 0;
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt m;

    PetscCall(PetscSectionGetConstraintDof(s, p, &m));
    if (m > 0) (*points)[(*n)++] = p;
  }
  PetscCall(HopsLeaveHanging(sp, n, *points));
  PetscFunctionReturn(PETSC_SUCCESS);
}
