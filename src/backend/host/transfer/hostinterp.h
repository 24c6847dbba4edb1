/* Tensor-product maps from macro cells to macro cells (prolongation, evaluation). Included once per
   instruction set and precision. */
#pragma once
#include <backend/host/operator/hosthang.h>

/* e = A x A (x A) applied to the batch's values; f, g are scratch, see HopsHostInterp */
static void InterpTensor(int dim, int M, int N, const real A[], const vec in[], vec *f, vec *g, vec *out)
{
  if (dim == 3) {
    Contract(M, N, 1, A, N * N, 1, in, f);
    Contract(M, N, 1, A, N, M, f, g);
    Contract(M, N, 1, A, 1, M * M, g, out);
  } else {
    Contract(M, N, 1, A, N, 1, in, f);
    Contract(M, N, 1, A, 1, M, f, out);
  }
}

/* y[target] = or += (A x A x A) J x[source], batches b0..b1-1; a target of -1 is another macro cell's, or
   none */
static void InterpApply(const struct _HopsInterpKernel *k, PetscInt b0, PetscInt b1, const real x[], const real xg[], real y[],
                        PetscBool add)
{
  const int ns = k->ns, nt = k->nt;
  vec      *e = (vec *)k->e, *f = (vec *)k->f, *g = (vec *)k->g, *out = (vec *)k->out;

  for (PetscInt b = b0; b < b1; b++) {
    const int  *src = k->source + (size_t)b * ns * W, *dst = k->target + (size_t)b * nt * W;
    const real *s = (const real *)out;

    if (b < k->nbi) GatherInterior(ns, src, x, e);
    else GatherShared(ns, src, k->nT, x, xg, e);
    if (k->hang.mask && k->hang.some[b]) Hang(&k->hang, b, 0, e);
    InterpTensor(k->dim, k->M, k->N, k->A, e, f, g, out);
    if (add) {
      for (int i = 0; i < nt * W; i++)
        if (dst[i] >= 0) y[dst[i]] += s[i];
    } else {
      for (int i = 0; i < nt * W; i++)
        if (dst[i] >= 0) y[dst[i]] = s[i];
    }
  }
}

/* x[source] += J^T (A x A x A)^T y[target] */
static void InterpApplyTranspose(const struct _HopsInterpKernel *k, PetscInt b0, PetscInt b1, const real y[], real x[], real xg[])
{
  const int ns = k->ns, nt = k->nt;
  vec      *e = (vec *)k->e, *f = (vec *)k->f, *g = (vec *)k->g, *out = (vec *)k->out;

  for (PetscInt b = b0; b < b1; b++) {
    const int *src = k->source + (size_t)b * ns * W, *dst = k->target + (size_t)b * nt * W;
    real      *s = (real *)out;

    for (int i = 0; i < nt * W; i++) s[i] = dst[i] >= 0 ? y[dst[i]] : (real)0.0;
    InterpTensor(k->dim, k->N, k->M, k->AT, out, f, g, e);
    if (k->hang.mask && k->hang.some[b]) Hang(&k->hang, b, 1, e);
    if (b < k->nbi) ScatterInterior(ns, src, e, x);
    else ScatterShared(ns, src, k->nT, e, x, xg);
  }
}
