/* MATHOPSINTERP in single precision, on raw arrays where the back end works: copies of its kernels. */
#include "interpimpl.h"
#include <petsc/private/matimpl.h>

struct _HopsSingleMap {
  HopsSpace         source; /* as the matrix has it */
  PetscInt          n;      /* owned entries of `to` */
  PetscBool         general;
  PetscInt          nkernels;
  HopsInterpolation kernel[2];
  HopsProlong       prolong;
  float            *xg, *yg;
};

PetscErrorCode MatHopsInterpCreateSingle(Mat P, HopsSingleMap *map)
{
  const Mat_HopsInterp *in     = (Mat_HopsInterp *)P->data;
  const HopsMemoryOps  *memory = in->from->backend->memory;
  HopsSpace             sp     = in->source;
  const size_t          bytes  = HopsSpaceNumOthers(sp) * sizeof(float);
  HopsSingleMap         m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  *map       = m;
  m->source  = sp;
  m->n       = in->to->nT;
  m->general = in->general;
  PetscCall(HopsSpaceReference(sp));
  for (; m->nkernels < in->nkernels; ++m->nkernels) {
    const HopsInterpolation kernel = in->kernel[m->nkernels];

    PetscCheck(kernel->ops->CreateSingle, PetscObjectComm((PetscObject)P), PETSC_ERR_SUP,
               "The back end %s has no maps in single precision: use -pc_hopsmg_precision double", in->from->backend->name);
    PetscCall((*kernel->ops->CreateSingle)(kernel, &m->kernel[m->nkernels]));
  }
  PetscCall(HopsProlongCreate(sp, sp->backend, &sp->halo, 1, PETSC_FLOAT, NULL, &m->prolong));
  HopsProlongSetHung(m->prolong, sp->hung);
  PetscCall((*memory->Malloc)(bytes, (void **)&m->xg));
  PetscCall((*memory->Malloc)(bytes, (void **)&m->yg));
  PetscCall((*sp->backend->vector->Zero)(PETSC_FLOAT, HopsSpaceNumOthers(sp), m->xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interior macro cells are worked on while the ghosts come in */
PetscErrorCode HopsSingleMapApply(HopsSingleMap m, const float x[], PetscBool add, float y[])
{
  PetscFunctionBegin;
  if (m->general && !add) PetscCall((*m->source->backend->vector->Zero)(PETSC_FLOAT, m->n, y)); /* essential ones stay so */
  PetscCall(HopsProlongBegin(m->prolong, x, m->xg));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Apply)(m->kernel[k], PETSC_TRUE, x, m->xg, y, add));
  PetscCall(HopsProlongEnd(m->prolong, x, m->xg));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Apply)(m->kernel[k], PETSC_FALSE, x, m->xg, y, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and while contributions to other ranks' unknowns leave */
PetscErrorCode HopsSingleMapApplyTranspose(HopsSingleMap m, const float y[], float x[])
{
  const HopsVectorOps *vec = m->source->backend->vector;

  PetscFunctionBegin;
  PetscCall((*vec->Zero)(PETSC_FLOAT, m->source->nT, x));
  PetscCall((*vec->Zero)(PETSC_FLOAT, HopsSpaceNumOthers(m->source), m->yg));
  for (PetscInt k = 0; k < m->nkernels; ++k)
    PetscCall((*m->kernel[k]->ops->ApplyTranspose)(m->kernel[k], PETSC_FALSE, y, x, m->yg));
  PetscCall(HopsProlongTransposeBegin(m->prolong, m->yg, x));
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->ApplyTranspose)(m->kernel[k], PETSC_TRUE, y, x, m->yg));
  PetscCall(HopsProlongTransposeEnd(m->prolong, m->yg, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSingleMapDestroy(HopsSingleMap *map)
{
  HopsSingleMap m = *map;

  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < m->nkernels; ++k) PetscCall((*m->kernel[k]->ops->Destroy)(&m->kernel[k]));
  PetscCall((*m->source->backend->memory->Free)((void **)&m->xg));
  PetscCall((*m->source->backend->memory->Free)((void **)&m->yg));
  PetscCall(HopsProlongDestroy(&m->prolong));
  PetscCall(HopsSpaceDestroy(&m->source));
  PetscCall(PetscFree(*map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
