/* CUDA back end: indices for kernels of more nodes than a basis has. */
#include <backend/cuda/runtime/cudaimpl.h>

__global__ static void Pad(int dim, int n, int P, size_t size, const int *__restrict__ restr, int *__restrict__ padded)
{
  const size_t e  = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int    np = dim == 3 ? P * P * P : P * P, nn = dim == 3 ? n * n * n : n * n, s = (P - n) / 2;
  const int    i = (int)(e % np), x = i % P - s, y = i / P % P - s, z = dim == 3 ? i / (P * P) - s : 0;
  bool         in;

  if (e >= size) return;
  in        = x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n;
  padded[e] = in ? restr[e / np * nn + (z * n + y) * n + x] : -1;
}

PetscErrorCode HopsCudaPadRestriction(int dim, int n, int P, PetscInt ncells, const int restr[], int padded[], cudaStream_t stream)
{
  const size_t size = (size_t)ncells * HopsPower(P, dim);

  PetscFunctionBegin;
  if (!size) PetscFunctionReturn(PETSC_SUCCESS);
  Pad<<<(unsigned int)((size + 255) / 256), 256, 0, stream>>>(dim, n, P, size, restr, padded);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
