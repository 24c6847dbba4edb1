/* The Mat around the rows that a device assembled: hypre's matrix on the same arrays, or PETSc's AIJ with
   copies of them. */
#include <hops/private/hopslordeviceimpl.h>
#include <hops/private/hopsdevicematimpl.h>

/* ------------------------------------------- memory ------------------------------------------- */

PetscErrorCode HopsLORDeviceSetTarget(HopsLOR *lor, MatType type)
{
  PetscBool hypre, cusparse;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATHYPRE, &hypre));
  PetscCall(PetscStrcmp(type, MATAIJCUSPARSE, &cusparse));
  lor->device->target = cusparse ? HOPS_LOR_AIJCUSPARSE : HOPS_LOR_AIJ;
#if HOPS_HAVE_HYPRE_DEVICE
  if (hypre) {
    PetscBool can;

    PetscCall(HopsHypreCanWrap(lor->space, lor->space, &can));
    if (can) lor->device->target = HOPS_LOR_HYPRE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceAlloc(HopsLOR *lor, size_t n, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsHypreAlloc(n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->space->backend->rows->Malloc)(n, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceFree(HopsLOR *lor, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsHypreFree(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->space->backend->rows->Free)(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------- AIJ -------------------------------------------- */

/* Pattern of a block in the process's memory; columns by `cols` where it is not NULL */
static PetscErrorCode HopsLORDeviceGetPattern(HopsLOR *lor, PetscInt b, const PetscInt cols[], PetscInt ia[], PetscInt ja[])
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;
  int         *i, *j;

  PetscFunctionBegin;
  if (!r->i[b]) {
    PetscCall(PetscArrayzero(ia, sp->nT + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(sp->nT + 1, &i, r->nnz[b], &j));
  PetscCall((*sp->backend->memory->Copy)(NULL, i, r->i[b], (sp->nT + 1) * sizeof(int), HOPS_COPY_OUT));
  PetscCall((*sp->backend->memory->Copy)(NULL, j, r->j[b], r->nnz[b] * sizeof(int), HOPS_COPY_OUT));
  for (PetscInt k = 0; k <= sp->nT; ++k) ia[k] = i[k];
  for (size_t k = 0; k < r->nnz[b]; ++k) ja[k] = cols ? cols[j[k]] : j[k];
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORDeviceCreateAIJ(HopsLOR *lor)
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;

  PetscFunctionBegin;
  lor->nd = (PetscInt)r->nnz[0];
  lor->no = (PetscInt)r->nnz[1];
  PetscCall(PetscMalloc2(sp->nT + 1, &lor->di, sp->nT + 1, &lor->oi));
  PetscCall(PetscMalloc1(PetscMax(lor->nd, 1), &lor->dj));
  PetscCall(PetscMalloc1(PetscMax(lor->no, 1), &lor->oj));
  PetscCall(PetscCalloc1(lor->nd + lor->no + 1, &lor->vals));
  PetscCall(HopsLORDeviceGetPattern(lor, 0, NULL, lor->di, lor->dj));
  PetscCall(HopsLORDeviceGetPattern(lor, 1, lor->device->cols, lor->oi, lor->oj));
  PetscCall(HopsLORCreateAIJ(lor));
  if (lor->device->target == HOPS_LOR_AIJCUSPARSE)
    PetscCall(MatConvert(lor->mat, HOPS_MATAIJDEVICE, MAT_INPLACE_MATRIX, &lor->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceCreateMat(HopsLOR *lor)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsHypreWrap(lor->space, lor->space, &lor->device->rows, lor->device->ncols, lor->device->cols, &lor->mat));
    lor->device->given = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(HopsLORDeviceCreateAIJ(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceUpdateMat(HopsLOR *lor)
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;

  PetscFunctionBegin;
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lor->device->target == HOPS_LOR_AIJCUSPARSE) {
    Mat         block[2] = {lor->mat, NULL};
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
    if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(lor->mat, &block[0], &block[1], NULL));
    for (PetscInt b = 0; b < 2; ++b) {
      PetscScalar *a;

      if (!block[b] || !r->nnz[b]) continue;
      PetscCall(HopsSeqAIJDeviceGetArray(block[b], &a)); /* puts the pattern there the first time */
      PetscCall((*sp->backend->memory->Copy)(NULL, a, r->v[b], r->nnz[b] * sizeof(PetscScalar), HOPS_COPY_WITHIN));
      PetscCall(HopsSeqAIJDeviceRestoreArray(block[b], &a));
    }
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt b = 0; b < 2; ++b)
    PetscCall(
      (*sp->backend->memory->Copy)(NULL, lor->vals + (b ? lor->nd : 0), r->v[b], r->nnz[b] * sizeof(PetscScalar), HOPS_COPY_OUT));
  PetscCall(HopsLORChangedAIJ(lor->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}
