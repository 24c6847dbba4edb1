/* CUDA: boxes of the levels, and the exact solver of the coarsest one. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <petscblaslapack.h>
#include "cudabox.h"

PetscErrorCode HopsCudaBoxCreate(PetscInt dim, PetscInt p, const PetscReal A1[], const PetscReal M1[], const PetscReal J[],
                                 const PetscReal d[], PetscReal m, const PetscInt ncells[], PetscBool single, HopsCudaBox *box)
{
  HopsCudaBox k;
  PetscBool   inner = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCheck(p >= 1 && p <= HOPS_BOX_ORDER, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A uniform box on a device has the orders 1 to %d, not %" PetscInt_FMT, HOPS_BOX_ORDER, p);
  PetscCall(PetscNew(&k));
  k->dim    = (int)dim;
  k->p      = (int)p;
  k->single = single;
  k->m      = m;
  k->n      = 1;
  for (int a = 0; a < 3; a++) {
    k->ncells[a] = a < dim ? (int)ncells[a] : 1;
    k->nodes[a]  = a < dim ? (int)(ncells[a] * p + 1) : 1;
    k->d[a]      = a < dim ? d[a] : 0.0;
    k->n *= k->nodes[a];
    if (a < dim && ncells[a] < 2) inner = PETSC_FALSE;
    PetscCheck(k->nodes[a] < 65535 * (a ? 1 : 1024), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%d nodes in direction %d are more than a launch has blocks: use fewer cells", k->nodes[a], a);
  }
  k->sy = k->nodes[0];
  k->sz = k->sy * k->nodes[1];
  for (PetscInt i = 0; i < (p + 1) * (p + 1); i++) {
    k->A1[i] = A1[i];
    k->M1[i] = M1[i];
  }
  for (PetscInt i = 0; i < 2 * p * (p + 1); i++) k->J[i] = J[i];
  PetscCallCUDA(cudaDeviceGetAttribute(&k->multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  PetscCallCUDA(cudaDeviceGetAttribute(&k->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
#define HOPS_CUDA_BOX_FIND(P) \
  if (p == P) k->k = &HopsCudaBoxKernels_##P;
  HOPS_CUDA_PATCH_ORDERS(HOPS_CUDA_BOX_FIND)
  if (inner) PetscCall(HopsCudaPatchCreate(dim, p, A1, M1, d, m, ncells, 0, 0, single, &k->patch));
  *box = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxDestroy(HopsCudaBox *box)
{
  PetscFunctionBegin;
  if (!*box) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPatchDestroy(&(*box)->patch));
  PetscCall(PetscFree(*box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A S = M S diag(lambda), S^T M S = 1, on the n nodes inside a row of cells; S as [node][mode] */
static PetscErrorCode Modes(HopsCudaBox k, int ncells, int n, double S[], double lambda[])
{
  const int    P = k->p + 1;
  double      *A, *M, *work;
  PetscBLASInt one = 1, bn = n, lwork = 64 * n, info;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(n * n, &A, n * n, &M, lwork, &work));
  for (int c = 0; c < ncells; c++)
    for (int i = 0; i < P; i++)
      for (int j = 0; j < P; j++) {
        const int r = c * k->p + i - 1, s = c * k->p + j - 1;

        if (r < 0 || s < 0 || r >= n || s >= n) continue;
        A[r * n + s] += k->A1[i * P + j];
        M[r * n + s] += k->M1[i * P + j];
      }
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "V", "U", &bn, A, &bn, M, &bn, lambda, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK sygv failed: %d", (int)info);
  for (int i = 0; i < n; i++)
    for (int q = 0; q < n; q++) S[i * n + q] = A[q * n + i];
  PetscCall(PetscFree3(A, M, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxDirectCreate(HopsCudaBox k, HopsCudaBoxDirect *c)
{
  size_t total = 1;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->box = k;
  for (int a = 0; a < 3; a++) {
    double *S, *lambda;

    c->n[a] = a < k->dim ? k->nodes[a] - 2 : 1;
    total *= (size_t)c->n[a];
    if (a >= k->dim || !c->n[a]) continue;
    PetscCall(PetscMalloc2(c->n[a] * c->n[a], &S, c->n[a], &lambda));
    PetscCall(Modes(k, k->ncells[a], c->n[a], S, lambda));
    PetscCall(HopsCudaNumbersToDevice((size_t)c->n[a] * c->n[a], k->single, S, &c->S[a]));
    PetscCall(HopsCudaNumbersToDevice(c->n[a], k->single, lambda, &c->lambda[a]));
    PetscCall(PetscFree2(S, lambda));
  }
  for (int i = 0; i < 2; i++)
    PetscCallCUDA(cudaMalloc(&c->w[i], PetscMax(total, 1) * (k->single ? sizeof(float) : sizeof(double))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxDirectSolve(const HopsCudaBoxDirect *c, const void *b, void *x, cudaStream_t stream)
{
  HopsCudaBox      k      = c->box;
  const PetscInt64 far[3] = {1, k->sy, k->dim == 3 ? k->sz : 0}, near[3] = {1, c->n[0], (PetscInt64)c->n[0] * c->n[1]};
  const size_t     first = (1 + k->sy + (k->dim == 3 ? k->sz : 0)) * (k->single ? sizeof(float) : sizeof(double));
  const void      *in    = (const char *)b + first;
  const int        n     = 2 * k->dim;

  PetscFunctionBegin;
  if (!c->n[0] || !c->n[1] || !c->n[2]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = 0; s < n; s++) {
    const int dir = s % k->dim;
    void     *out = s == n - 1 ? (char *)x + first : c->w[s % 2];

    PetscCall(HopsCudaBoxContract(k->single, c->n, dir, s < k->dim ? PETSC_TRUE : PETSC_FALSE, c->S[dir], s ? near : far, in,
                                  s < n - 1 ? near : far, out, s == k->dim - 1 ? c : NULL, stream));
    in = out;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaBoxDirectDestroy(HopsCudaBoxDirect *c)
{
  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    if (c->S[a]) PetscCallCUDA(cudaFree(c->S[a]));
    if (c->lambda[a]) PetscCallCUDA(cudaFree(c->lambda[a]));
  }
  for (int i = 0; i < 2; i++)
    if (c->w[i]) PetscCallCUDA(cudaFree(c->w[i]));
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
