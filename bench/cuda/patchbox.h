/* A uniform box on the device with all ways to smooth on it: the library's fused kernels, and the
   literature's stages */
#pragma once
#include <backend/cuda/patch/cudapatch.h>
#include "patchref.h"
#include "patchstages.h"

typedef enum {
  BOX_GLOBAL,
  BOX_SEPARATE,
  BOX_FUSED,
  BOX_LINEAR,
  BOX_FREE,
  BOX_SEPARATEFREE,
  BOX_BOUNDARY,
  BOX_MODAL, /* the library's */
  BOX_NKINDS
} BoxKind;
static const char *const BoxKinds[] = {"global", "separate", "fused", "linear", "free", "separate-free", "boundary", "modal"};

typedef struct {
  PetscInt      dim, p, ncells[3];
  PetscReal     d[3], m;
  PetscBool     single;
  PetscInt64    nnodes;
  HopsCudaPatch modal;
  HopsStageBox  stage;
  void         *x, *b, *r, *tables;
  PetscReal    *ref; /* the host's reference of BoxCompare() */
  PetscBool     reverse;
} Box;

static inline PetscErrorCode BoxCopy(Box *box, size_t n, const PetscReal h[], void **d)
{
  float *s;

  PetscFunctionBeginUser;
  if (!*d) PetscCallCUDA(cudaMalloc(d, n * (box->single ? 4 : 8)));
  if (!box->single) PetscCallCUDA(cudaMemcpy(*d, h, n * 8, cudaMemcpyHostToDevice));
  else {
    PetscCall(PetscMalloc1(n, &s));
    for (size_t i = 0; i < n; ++i) s[i] = (float)h[i];
    PetscCallCUDA(cudaMemcpy(*d, s, n * 4, cudaMemcpyHostToDevice));
    PetscCall(PetscFree(s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* K[N][N] <- dK + sM */
static inline void BoxMatrix(PetscInt n, PetscReal d, const PetscReal K[], PetscReal s, const PetscReal M[], PetscReal **out)
{
  for (PetscInt i = 0; i < n * n; ++i) *(*out)++ = d * K[i] + s * M[i];
}

static inline PetscErrorCode BoxCreate(PetscInt dim, PetscInt p, const PetscInt ncells[], PetscReal m, PetscBool single, Box *box)
{
  const PetscInt   n = 2 * p - 1, N = 2 * p + 1, P = p + 1, in = PetscPowInt(n, dim);
  static PetscReal d[3] = {1.0, 1.3, 0.8};
  PetscReal        A1[256], M1[256], A[289], M[289], *h, *o;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(box, sizeof(*box)));
  box->dim    = dim;
  box->p      = p;
  box->m      = m;
  box->single = single;
  box->nnodes = 1;
  for (PetscInt a = 0; a < 3; ++a) {
    box->ncells[a] = a < dim ? ncells[a] : 1;
    box->d[a]      = a < dim ? d[a] : 0.0;
    if (a < dim) box->nnodes *= ncells[a] * p + 1;
  }
  PetscCall(PatchRefCell(p, A1, M1));
  PetscCall(HopsCudaPatchCreate(dim, p, A1, M1, box->d, m, box->ncells, 0, 0, single, &box->modal));
  PetscCall(PatchRefPair(p, A1, A));
  PetscCall(PatchRefPair(p, M1, M));
  PetscCall(PetscMalloc1(4 * N * N + n * n + in + 4 * P * P, &h));
  o = h;
  BoxMatrix(N, d[0], A, m, M, &o);
  BoxMatrix(N, d[1], A, 0.0, M, &o);
  BoxMatrix(N, d[2], A, 0.0, M, &o);
  BoxMatrix(N, 0.0, A, 1.0, M, &o);
  for (PetscInt i = 0; i < n * n; ++i) *o++ = box->modal->S[i];
  for (PetscInt i = 0; i < in; ++i)
    *o++ = 1.0 / (d[0] * box->modal->lambda[i % n] + d[1] * box->modal->lambda[i / n % n] +
                  (dim == 3 ? d[2] * box->modal->lambda[i / n / n] : 0.0) + m);
  BoxMatrix(P, d[0], A1, m, M1, &o);
  BoxMatrix(P, d[1], A1, 0.0, M1, &o);
  BoxMatrix(P, d[2], A1, 0.0, M1, &o);
  BoxMatrix(P, 0.0, A1, 1.0, M1, &o);
  PetscCall(BoxCopy(box, o - h, h, &box->tables));
  PetscCall(PetscFree(h));
  PetscCallCUDA(cudaMalloc(&box->x, box->nnodes * (single ? 4 : 8)));
  PetscCallCUDA(cudaMalloc(&box->b, box->nnodes * (single ? 4 : 8)));
  PetscCallCUDA(cudaMalloc(&box->r, box->nnodes * (single ? 4 : 8)));
  box->stage = (HopsStageBox){.dim    = (int)dim,
                              .p      = (int)p,
                              .single = single,
                              .sy     = box->modal->sy,
                              .sz     = dim == 3 ? box->modal->sz : 0,
                              .nnodes = box->nnodes,
                              .tables = box->tables,
                              .b      = box->b,
                              .x      = box->x,
                              .r      = box->r};
  for (PetscInt a = 0; a < 3; ++a) box->stage.ncells[a] = (int)box->ncells[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asynchronous, in the default stream; `ok` is false where a stage needs more shared memory than a block can
   have */
static inline PetscErrorCode BoxSweep(Box *box, BoxKind kind, PetscInt first, PetscInt last, PetscBool reverse, PetscBool *ok)
{
  int err = 0;

  PetscFunctionBeginUser;
  *ok = PETSC_TRUE;
  if (kind == BOX_MODAL) {
    PetscCall(HopsCudaPatchSweep(box->modal, (int)first, (int)last, reverse, PETSC_FALSE, box->b, box->x, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt q = first; q < last && !err; ++q) {
    box->stage.first = (int)(reverse ? first + last - 1 - q : q);
    box->stage.last  = box->stage.first + 1;
#define BOX_STAGE(P) \
  if (box->p == P) err = HopsStageSweep_##P((HopsPatchStage)kind, &box->stage);
    HOPS_CUDA_PATCH_ORDERS(BOX_STAGE)
  }
  if (err == cudaErrorInvalidValue) {
    (void)cudaGetLastError();
    *ok = PETSC_FALSE;
  } else PetscCallCUDA((cudaError_t)err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BoxDestroy(Box *box)
{
  PetscFunctionBeginUser;
  PetscCall(HopsCudaPatchDestroy(&box->modal));
  PetscCallCUDA(cudaFree(box->x));
  PetscCallCUDA(cudaFree(box->b));
  PetscCallCUDA(cudaFree(box->r));
  PetscCallCUDA(cudaFree(box->tables));
  PetscCall(PetscFree(box->ref));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relative difference to the host's reference after a sweep from random values (the boundary's values
   included), always the same ones: a box keeps its reference */
static inline PetscErrorCode BoxCompare(Box *box, BoxKind kind, PetscBool reverse, PetscBool *ok, PetscReal *error)
{
  const PetscInt ncolors = 1 << box->dim;
  PetscReal     *x, *b, num = 0.0, den = 0.0;
  PetscRandom    rand;
  void          *y;

  PetscFunctionBeginUser;
  *error = 0.0;
  PetscCall(PetscMalloc2(box->nnodes, &x, box->nnodes, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, -1.0, 1.0));
  for (PetscInt64 i = 0; i < box->nnodes; ++i) {
    PetscCall(PetscRandomGetValueReal(rand, &x[i]));
    PetscCall(PetscRandomGetValueReal(rand, &b[i]));
    if (box->single) { /* what the device gets */
      x[i] = (float)x[i];
      b[i] = (float)b[i];
    }
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(BoxCopy(box, box->nnodes, x, &box->x));
  PetscCall(BoxCopy(box, box->nnodes, b, &box->b));
  PetscCallCUDA(cudaMemset(box->r, 0xff, box->nnodes * (box->single ? 4 : 8))); /* NaN: what is not written shows */
  PetscCall(BoxSweep(box, kind, 0, ncolors, reverse, ok));
  if (*ok) {
    if (!box->ref || box->reverse != reverse) {
      PetscCall(PatchRefSweep(box->dim, box->p, box->d, box->m, box->ncells, 0, ncolors, reverse, b, x));
      PetscCall(PetscFree(box->ref));
      PetscCall(PetscMalloc1(box->nnodes, &box->ref));
      PetscCall(PetscArraycpy(box->ref, x, box->nnodes));
      box->reverse = reverse;
    }
    PetscCall(PetscMalloc(box->nnodes * 8, &y));
    PetscCallCUDA(cudaMemcpy(y, box->x, box->nnodes * (box->single ? 4 : 8), cudaMemcpyDeviceToHost));
    for (PetscInt64 i = 0; i < box->nnodes; ++i) {
      const PetscReal v = box->single ? (PetscReal)((float *)y)[i] : ((double *)y)[i];

      num += PetscSqr(v - box->ref[i]);
      den += PetscSqr(box->ref[i]);
    }
    PetscCall(PetscFree(y));
    *error = PetscSqrtReal(num / den);
  }
  PetscCall(PetscFree2(x, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
