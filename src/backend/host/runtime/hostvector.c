/* Host back end: vectors of doubles and of floats, one loop for both */
#include "hostimpl.h"

#define LOOP(type, ...) \
  do { \
    if ((type) == PETSC_FLOAT) { \
      typedef float Real; \
      for (PetscInt i = 0; i < n; i++) __VA_ARGS__ \
    } else { \
      typedef double Real; \
      for (PetscInt i = 0; i < n; i++) __VA_ARGS__ \
    } \
  } while (0)

static size_t Size(PetscDataType type)
{
  return type == PETSC_FLOAT ? sizeof(float) : sizeof(PetscReal);
}

static PetscErrorCode Zero(PetscDataType type, PetscInt n, void *y)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(y, n * Size(type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pack(HopsQueue queue, PetscDataType type, PetscInt n, const PetscInt idx[], const void *x, void *buf)
{
  PetscFunctionBegin;
  LOOP(type, ((Real *)buf)[i] = idx[i] < 0 ? 0 : ((const Real *)x)[idx[i]];);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnpackAdd(PetscDataType type, PetscInt n, const PetscInt idx[], const void *buf, void *y)
{
  PetscFunctionBegin;
  LOOP(type, if (idx[i] >= 0)((Real *)y)[idx[i]] += ((const Real *)buf)[i];);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetEntries(PetscInt n, const PetscInt idx[], const PetscReal x[], PetscReal y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[idx[i]] = x ? x[idx[i]] : 1.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Combine(PetscDataType type, PetscInt n, PetscReal a, const void *x, PetscReal b, const void *y, void *w)
{
  PetscFunctionBegin;
  if (b == 0.0 && a == 1.0) PetscCall(PetscMemcpy(w, x, n * Size(type)));
  else if (b == 0.0) LOOP(type, ((Real *)w)[i] = (Real)a * ((const Real *)x)[i];);
  else LOOP(type, ((Real *)w)[i] = (Real)a * ((const Real *)x)[i] + (Real)b * ((const Real *)y)[i];);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Times(PetscDataType type, PetscInt n, const void *x, const void *y, void *w)
{
  PetscFunctionBegin;
  LOOP(type, ((Real *)w)[i] = ((const Real *)x)[i] * ((const Real *)y)[i];);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Convert(PetscDataType to, PetscInt n, PetscReal s, const void *x, void *y)
{
  PetscFunctionBegin;
  if (to == PETSC_FLOAT) {
    for (PetscInt i = 0; i < n; i++) ((float *)y)[i] = (float)(s * ((const PetscReal *)x)[i]);
  } else {
    for (PetscInt i = 0; i < n; i++) ((PetscReal *)y)[i] = s * ((const float *)x)[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const float e = b * (dinv ? dinv[i] : 1.0f) * r[i];

    d[i] = a == 0.0f ? e : a * d[i] + e;
    if (x) x[i] += d[i];
  }
  PetscCall(PetscLogFlops(5.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dot(PetscInt n, const float w[], const float x[], const float y[], PetscReal *dot)
{
  enum {
    lanes = 8
  };
  PetscReal sum[lanes] = {0.0};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += lanes)
    for (PetscInt j = i; j < PetscMin(i + lanes, n); ++j) sum[j - i] += (w ? w[j] : 1.0) * x[j] * y[j];
  *dot = 0.0;
  for (int j = 0; j < lanes; ++j) *dot += sum[j];
  PetscCall(PetscLogFlops((w ? 3.0 : 2.0) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsVectorOps HopsVectorHost = {Zero, Pack, UnpackAdd, SetEntries, Combine, Times, Convert, Step, Dot};
