/*
  Values that are projected onto a DMPLEX with a tree, essential ones above all. A process has the parents of
  its hanging edges and faces, and maybe none of the cells that these belong to: no projection onto its own
  cells, or onto edges and faces of the label, gives values to all of their points, and PETSc does not send
  essential ones. They are taken from the processes with cells.
*/
#include <hops/private/hopsdmimpl.h>
#include <petscdmplex.h>

struct _HopsPlexParents {
  PetscSection section; /* that they were made for; a reference */
  PetscSF      sf;      /* of local vectors: from entries to those of the points' owners */
  PetscInt     nlocal;
  PetscReal   *covered; /* [nlocal] 1 where a cell of this process has the entry */
  PetscReal   *weight;  /* [nlocal] of an owner's: how many processes have a cell with it */
};

PetscErrorCode HopsPlexParentsDestroy(HopsPlexParents *p)
{
  PetscFunctionBegin;
  if (!*p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSectionDestroy(&(*p)->section));
  PetscCall(PetscSFDestroy(&(*p)->sf));
  PetscCall(PetscFree2((*p)->covered, (*p)->weight));
  PetscCall(PetscFree(*p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[owner's] += a[other's] of what the processes have in their cells */
static PetscErrorCode Gather(HopsPlexParents p, const PetscReal mine[], PetscReal sum[])
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(sum, mine, p->nlocal));
  PetscCall(PetscSFReduceBegin(p->sf, MPIU_REAL, mine, sum, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(p->sf, MPIU_REAL, mine, sum, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(DM dm, PetscSection s, HopsPlexParents *parents)
{
  HopsPlexParents p;
  PetscSF         points;
  PetscInt        cStart, cEnd, *remote;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  PetscCall(PetscObjectReference((PetscObject)s));
  p->section = s;
  PetscCall(DMGetPointSF(dm, &points));
  PetscCall(PetscSFCreateRemoteOffsets(points, s, s, &remote));
  PetscCall(PetscSFCreateSectionSF(points, s, remote, s, &p->sf));
  PetscCall(PetscFree(remote));
  PetscCall(PetscSectionGetStorageSize(s, &p->nlocal));
  PetscCall(PetscCalloc2(p->nlocal, &p->covered, p->nlocal, &p->weight));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscInt *closure = NULL, n;

    PetscCall(DMPlexGetTransitiveClosure(dm, c, PETSC_TRUE, &n, &closure));
    for (PetscInt k = 0; k < n; ++k) {
      PetscInt dof, off;

      PetscCall(PetscSectionGetDof(s, closure[2 * k], &dof));
      PetscCall(PetscSectionGetOffset(s, closure[2 * k], &off));
      for (PetscInt i = off; i < off + dof; ++i) p->covered[i] = 1.0;
    }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, c, PETSC_TRUE, &n, &closure));
  }
  PetscCall(Gather(p, p->covered, p->weight));
  *parents = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexParentsShare(DM dm, HopsPlexParents *parents, InsertMode mode, Vec X)
{
  PetscSection    s;
  HopsPlexParents p;
  PetscReal      *mine, *sum;
  PetscScalar    *x;
  PetscInt        pStart, pEnd;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)dm), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetLocalSection(dm, &s));
  if (*parents && (*parents)->section != s) PetscCall(HopsPlexParentsDestroy(parents));
  if (!*parents) PetscCall(Create(dm, s, parents));
  p = *parents;
  PetscCall(PetscMalloc2(p->nlocal, &mine, p->nlocal, &sum));
  PetscCheck(HOPS_PARTS == 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "Adaptive meshes on several ranks (-dm_mat_type pa) are for real scalars: take one rank, or a PETSc with real "
             "scalars");
  PetscCall(VecGetArray(X, &x));
  for (PetscInt i = 0; i < p->nlocal; ++i) mine[i] = p->covered[i] != 0.0 ? PetscRealPart(x[i]) : 0.0;
  PetscCall(Gather(p, mine, sum));
  for (PetscInt i = 0; i < p->nlocal; ++i) sum[i] = p->weight[i] > 0.0 ? sum[i] / p->weight[i] : 0.0;
  PetscCall(PetscArraycpy(mine, sum, p->nlocal));
  PetscCall(PetscSFBcastBegin(p->sf, MPIU_REAL, sum, mine, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(p->sf, MPIU_REAL, sum, mine, MPI_REPLACE));
  PetscCall(PetscSectionGetChart(s, &pStart, &pEnd));
  for (PetscInt q = pStart; q < pEnd; ++q) {
    PetscInt        off, dof, ncon;
    const PetscInt *con = NULL;

    PetscCall(PetscSectionGetDof(s, q, &dof));
    PetscCall(PetscSectionGetConstraintDof(s, q, &ncon));
    if (ncon) PetscCall(PetscSectionGetConstraintIndices(s, q, &con));
    PetscCall(PetscSectionGetOffset(s, q, &off));
    for (PetscInt k = 0, n = 0; k < dof; ++k) {
      const PetscBool fixed = n < ncon && con[n] == k ? PETSC_TRUE : PETSC_FALSE;

      n += fixed ? 1 : 0;
      if (mode != INSERT_ALL_VALUES && fixed != (mode == INSERT_BC_VALUES ? PETSC_TRUE : PETSC_FALSE)) continue;
      if (p->covered[off + k] == 0.0) x[off + k] = mine[off + k];
    }
  }
  PetscCall(VecRestoreArray(X, &x));
  PetscCall(PetscFree2(mine, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
