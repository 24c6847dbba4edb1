/* What MATHOPSINTERP does, on raw arrays where the back end works: in double precision for the matrix, in
   single precision by copies of its kernels. */
#include "interpimpl.h"
#include <petsc/private/matimpl.h>

PetscErrorCode HopsInterpMapSetUp(HopsInterpMap m)
{
  const HopsBackendOps *be    = m->source->backend;
  const PetscInt        n     = HopsSpaceNumOthers(m->source);
  const size_t          bytes = n * (m->type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal));

  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(bytes, &m->xg));
  PetscCall((*be->memory->Malloc)(bytes, &m->yg));
  PetscCall((*be->vector->Zero)(m->type, n, m->xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interior macro cells are worked on while the ghosts come in */
PetscErrorCode HopsInterpMapApply(HopsInterpMap m, const void *x, PetscBool add, void *y)
{
  HopsProlong P = m->P ? m->P : m->source->P;

  PetscFunctionBegin;
  if (m->general && !add) PetscCall((*m->source->backend->vector->Zero)(m->type, m->n, y)); /* essential ones stay so */
  PetscCall(HopsProlongBegin(P, x, m->xg));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Apply)(m->kernel[k], PETSC_TRUE, x, m->xg, y, add));
  PetscCall(HopsProlongEnd(P, x, m->xg));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Apply)(m->kernel[k], PETSC_FALSE, x, m->xg, y, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and while contributions to other ranks' unknowns leave */
PetscErrorCode HopsInterpMapApplyTranspose(HopsInterpMap m, const void *y, PetscBool add, void *x)
{
  const HopsVectorOps *vec = m->source->backend->vector;
  HopsProlong          P   = m->P ? m->P : m->source->P;

  PetscFunctionBegin;
  if (!add) PetscCall((*vec->Zero)(m->type, m->source->nT, x));
  PetscCall((*vec->Zero)(m->type, HopsSpaceNumOthers(m->source), m->yg));
  for (PetscInt k = 0; k < m->nkernels; ++k)
    PetscCall((*m->kernel[k]->ops->ApplyTranspose)(m->kernel[k], PETSC_FALSE, y, x, m->yg));
  PetscCall(HopsProlongTransposeBegin(P, m->yg, x));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->ApplyTranspose)(m->kernel[k], PETSC_TRUE, y, x, m->yg));
  PetscCall(HopsProlongTransposeEnd(P, m->yg, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsInterpMapCanRecord(HopsInterpMap m)
{
  return HopsProlongCanRecord(m->P ? m->P : m->source->P);
}

PetscErrorCode HopsInterpMapReset(HopsInterpMap m)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Destroy)(&m->kernel[k]));
  if (m->xg) PetscCall((*m->source->backend->memory->Free)(&m->xg));
  if (m->yg) PetscCall((*m->source->backend->memory->Free)(&m->yg));
  PetscCall(HopsProlongDestroy(&m->P));
  PetscCall(HopsSpaceDestroy(&m->source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- single precision -------------------------------------- */

PetscErrorCode MatHopsInterpCreateSingle(Mat P, HopsInterpMap *map)
{
  const Mat_HopsInterp *in = (Mat_HopsInterp *)P->data;
  HopsSpace             sp = in->map.source;
  HopsInterpMap         m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  *map = m;
  *m   = (struct _HopsInterpMap){.type = PETSC_FLOAT, .source = sp, .n = in->map.n, .general = in->map.general};
  PetscCall(HopsSpaceReference(sp));
  for (; m->nkernels < in->map.nkernels; ++m->nkernels) {
    const HopsInterpolation kernel = in->map.kernel[m->nkernels];

    PetscCheck(kernel->ops->CreateSingle, PetscObjectComm((PetscObject)P), PETSC_ERR_SUP,
               "The back end %s has no maps in single precision: use -pc_hopsmg_precision double", sp->backend->name);
    PetscCall((*kernel->ops->CreateSingle)(kernel, &m->kernel[m->nkernels]));
  }
  PetscCall(HopsProlongCreate(sp, sp->backend, &sp->halo, 1, PETSC_FLOAT, NULL, &m->P));
  HopsProlongSetHung(m->P, sp->hung);
  PetscCall(HopsInterpMapSetUp(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsInterpMapDestroy(HopsInterpMap *map)
{
  PetscFunctionBegin;
  if (!*map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsInterpMapReset(*map));
  PetscCall(PetscFree(*map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
