/* Kokkos back end: vectors of doubles and of floats. */
#include "kokkosimpl.h"

template <class F> static PetscErrorCode Each(HopsQueue queue, PetscInt n, const F &f)
{
  return HopsKokkosEach(queue, "HopsVector", n, f);
}

template <class Real> static PetscErrorCode ZeroOf(PetscInt n, Real *y)
{
  return Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { y[i] = 0; });
}

template <class Real> static PetscErrorCode PackOf(HopsQueue queue, PetscInt n, const PetscInt *idx, const Real *x, Real *buf)
{
  return Each(
    queue, n, KOKKOS_LAMBDA(const PetscInt i) { buf[i] = idx[i] < 0 ? 0 : x[idx[i]]; });
}

template <class Real> static PetscErrorCode UnpackAddOf(PetscInt n, const PetscInt *idx, const Real *buf, Real *y)
{
  return Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) {
      if (idx[i] >= 0) y[idx[i]] += buf[i];
    });
}

template <class Real> static PetscErrorCode CombineOf(PetscInt n, Real a, const Real *x, Real b, const Real *y, Real *w)
{
  return b == 0 ? Each(
                    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { w[i] = a * x[i]; })
                : Each(
                    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { w[i] = a * x[i] + b * y[i]; });
}

template <class Real> static PetscErrorCode TimesOf(PetscInt n, const Real *x, const Real *y, Real *w)
{
  return Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { w[i] = x[i] * y[i]; });
}

template <class To, class From> static PetscErrorCode ConvertOf(PetscInt n, PetscReal s, const From *x, To *y)
{
  return Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { y[i] = (To)(s * x[i]); });
}

static PetscErrorCode Zero(PetscDataType type, PetscInt n, void *y)
{
  PetscFunctionBegin;
  if (type == PETSC_FLOAT) PetscCall(ZeroOf(n, (float *)y));
  else PetscCall(ZeroOf(n, (double *)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pack(HopsQueue queue, PetscDataType type, PetscInt n, const PetscInt idx[], const void *x, void *buf)
{
  PetscFunctionBegin;
  if (type == PETSC_FLOAT) PetscCall(PackOf(queue, n, idx, (const float *)x, (float *)buf));
  else PetscCall(PackOf(queue, n, idx, (const double *)x, (double *)buf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnpackAdd(PetscDataType type, PetscInt n, const PetscInt idx[], const void *buf, void *y)
{
  PetscFunctionBegin;
  if (type == PETSC_FLOAT) PetscCall(UnpackAddOf(n, idx, (const float *)buf, (float *)y));
  else PetscCall(UnpackAddOf(n, idx, (const double *)buf, (double *)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetEntries(PetscInt n, const PetscInt idx[], const PetscReal x[], PetscReal y[])
{
  PetscFunctionBegin;
  PetscCall(Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) { y[idx[i]] = x ? x[idx[i]] : 1.0; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Combine(PetscDataType type, PetscInt n, PetscReal a, const void *x, PetscReal b, const void *y, void *w)
{
  PetscFunctionBegin;
  if (type == PETSC_FLOAT) PetscCall(CombineOf(n, (float)a, (const float *)x, (float)b, (const float *)y, (float *)w));
  else PetscCall(CombineOf(n, a, (const double *)x, b, (const double *)y, (double *)w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Times(PetscDataType type, PetscInt n, const void *x, const void *y, void *w)
{
  PetscFunctionBegin;
  if (type == PETSC_FLOAT) PetscCall(TimesOf(n, (const float *)x, (const float *)y, (float *)w));
  else PetscCall(TimesOf(n, (const double *)x, (const double *)y, (double *)w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Convert(PetscDataType to, PetscInt n, PetscReal s, const void *x, void *y)
{
  PetscFunctionBegin;
  if (to == PETSC_FLOAT) PetscCall(ConvertOf(n, s, (const double *)x, (float *)y));
  else PetscCall(ConvertOf(n, s, (const float *)x, (double *)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[])
{
  PetscFunctionBegin;
  PetscCall(Each(
    NULL, n, KOKKOS_LAMBDA(const PetscInt i) {
      const float e = b * (dinv ? dinv[i] : 1.0f) * r[i];

      d[i] = a == 0.0f ? e : a * d[i] + e;
      if (x) x[i] += d[i];
    }));
  PetscCall(HopsKokkosOnHost ? PetscLogFlops(5.0 * n) : PetscLogGpuFlops(5.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dot(PetscInt n, const float w[], const float x[], const float y[], PetscReal *dot)
{
  const double    flops = (w ? 3.0 : 2.0) * n;
  double          sum   = 0;
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  HopsKokkosCall(Kokkos::parallel_reduce(
    "HopsVectorDot", HopsKokkosRange(*exec, 0, n),
    KOKKOS_LAMBDA(const PetscInt i, double &s) { s += (w ? (double)w[i] : 1.0) * x[i] * y[i]; }, sum));
  *dot = sum;
  PetscCall(HopsKokkosOnHost ? PetscLogFlops(flops) : PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsVectorOps HopsVectorKokkos = {Zero, Pack, UnpackAdd, SetEntries, Combine, Times, Convert, Step, Dot};
