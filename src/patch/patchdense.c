/* Patches that are solved by the inverse of the operator's matrix. */
#include <hops/private/hopspatchimpl.h>
#include <petscblaslapack.h>

/* Inverts the operator's matrix on dense patches, some megabytes of element matrices at a time; collective */
PetscErrorCode HopsPatchesInvert(HopsPatches pt, const HopsPatchCells *pc, PetscInt nd, const HopsPatchDense dense[])
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)pc->space);
  const PetscInt n2 = pc->nn * pc->nn, chunk = PetscMax(1, (1 << 24) / (n2 * (pc->nv + 4)));
  PetscInt       rounds = (nd + chunk - 1) / chunk;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &rounds, 1, MPIU_INT, MPI_MAX, comm));
  for (PetscInt r = 0; r < rounds; ++r) {
    const PetscInt first = PetscMin(nd, r * chunk), last = PetscMin(nd, first + chunk);
    PetscInt       nc = 0, *list;
    PetscReal     *E;

    for (PetscInt k = first; k < last; ++k) nc += dense[k].ncells;
    PetscCall(PetscMalloc1(nc, &list));
    nc = 0;
    for (PetscInt k = first; k < last; ++k)
      for (PetscInt c = 0; c < dense[k].ncells; ++c) list[nc++] = dense[k].cells[c];
    PetscCall(PetscSortRemoveDupsInt(&nc, list));
    PetscCall(HopsPatchElementMatrices(pc, nc, list, &E));
    for (PetscInt k = first; k < last; ++k) {
      const PetscInt j = dense[k].patch, n = pt->start[j + 1] - pt->start[j], *gid = pt->gid + pt->start[j];
      PetscInt      *row;
      PetscScalar   *A;
      PetscBLASInt   bn, info;

      if (pt->ninv + n * n > pt->invmax) {
        pt->invmax = PetscMax(pt->ninv + n * n, pt->invmax + pt->invmax / 2);
        PetscCall(PetscRealloc(pt->invmax * sizeof(PetscScalar), &pt->inv));
      }
      A            = pt->inv + pt->ninv;
      pt->dense[j] = pt->ninv;
      pt->ninv += n * n;
      PetscCall(PetscArrayzero(A, n * n));
      PetscCall(PetscMalloc1(pc->nn, &row));
      for (PetscInt c = 0; c < dense[k].ncells; ++c) {
        PetscInt where;

        PetscCall(PetscFindInt(dense[k].cells[c], nc, list, &where));
        for (PetscInt i = 0; i < pc->nn; ++i) {
          row[i] = -1;
          if (pc->gid[dense[k].cells[c] * pc->nn + i] >= 0)
            PetscCall(PetscFindInt(pc->gid[dense[k].cells[c] * pc->nn + i], n, gid, &row[i]));
        }
        for (PetscInt i = 0; i < pc->nn; ++i)
          for (PetscInt l = 0; l < pc->nn; ++l)
            if (row[i] >= 0 && row[l] >= 0) A[row[i] * n + row[l]] += E[(where * pc->nn + i) * pc->nn + l];
      }
      PetscCall(PetscFree(row));
      PetscCall(PetscBLASIntCast(n, &bn));
      PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("U", &bn, A, &bn, &info));
      PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
                 "The operator's matrix on the patch of %s %" PetscInt_FMT
                 " is not positive definite: the form is not, so use another preconditioner (-pc_type " PCLOR
                 "), or the mesh is periodic with one cell in a direction: refine it",
                 pt->element[j] ? "cell" : "unknown", pt->element[j] ? pc->space->cell[pt->center[j]] : pt->center[j]);
      PetscCallBLAS("LAPACKpotri", LAPACKpotri_("U", &bn, A, &bn, &info));
      PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK potri failed: %d", (int)info);
      for (PetscInt i = 0; i < n; ++i)
        for (PetscInt l = 0; l < i; ++l) A[l * n + i] = A[i * n + l];
    }
    PetscCall(PetscFree(list));
    PetscCall(PetscFree(E));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
