/* Host back end: vectors in single precision, as a cycle in single precision needs them */
#include "hostimpl.h"

static PetscErrorCode Zero(PetscInt n, float y[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(y, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Demote(PetscInt n, PetscReal s, const PetscScalar x[], float y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[i] = (float)(s * x[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Promote(PetscInt n, PetscReal s, const float x[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[i] = s * x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Combine(PetscInt n, float a, const float x[], float b, const float y[], float w[])
{
  PetscFunctionBegin;
  if (b == 0.0f && a == 1.0f) PetscCall(PetscArraycpy(w, x, n));
  else if (b == 0.0f) {
    for (PetscInt i = 0; i < n; i++) w[i] = a * x[i];
  } else {
    for (PetscInt i = 0; i < n; i++) w[i] = a * x[i] + b * y[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Times(PetscInt n, const float x[], const float y[], float w[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) w[i] = x[i] * y[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const float e = b * (dinv ? dinv[i] : 1.0f) * r[i];

    d[i] = a == 0.0f ? e : a * d[i] + e;
    x[i] += d[i];
  }
  PetscCall(PetscLogFlops(5.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pack(HopsQueue queue, PetscInt n, const PetscInt idx[], const float x[], float buf[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) buf[i] = x[idx[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnpackAdd(PetscInt n, const PetscInt idx[], const float buf[], float y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[idx[i]] += buf[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsSingleOps HopsSingleHost =
  {Zero, Demote, Promote, Combine, Times, Step, Pack, UnpackAdd, HopsPatchApplySingle_Host, HopsPatchSweepSingle_Host};
