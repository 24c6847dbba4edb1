/* CUDA back end: set-up of spaces on a mesh. A thread takes a cell, a point or an entry; numbers are sums of
   what comes before, so that the result is the host's. */
#include <backend/cuda/lor/cudalor.h>
#include <backend/cuda/runtime/cudaimpl.h>
#include <hops/private/hopsmeshimpl.h>

static const int HOPS_MESH_THREADS = 128;

static int Blocks(size_t n)
{
  return (int)((n + HOPS_MESH_THREADS - 1) / HOPS_MESH_THREADS);
}

/* ---- Closures ---- */

__global__ static void Closures(const HopsMeshCones m, PetscInt *point, signed char *ornt, int *bad)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x, n = HopsClosureSize(m.dim);
  PetscBool      good;

  if (c >= m.ncells) return;
  if (m.dim == 3) good = HopsCellClosure(3, &m, c, point + c * n, ornt + c * n);
  else good = HopsCellClosure(2, &m, c, point + c * n, ornt + c * n);
  if (!good) atomicMin(bad, (int)c);
}

/* A copy of the process's n bytes, NULL where there are none */
static PetscErrorCode CopyIn(size_t n, const void *from, void *to)
{
  PetscFunctionBegin;
  *(void **)to = NULL;
  if (!n || !from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPoolMalloc(n, (void **)to));
  PetscCall(HopsCopy_CUDA(NULL, *(void **)to, from, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshClosures_CUDA(const HopsMeshCones *mesh, PetscInt point[], signed char ornt[], PetscInt *bad)
{
  HopsMeshCones m    = *mesh;
  PetscInt      size = 0, *cone, *corn, *cell;
  int          *least, found = PETSC_MPI_INT_MAX;
  cudaStream_t  stream;

  PetscFunctionBegin;
  *bad = -1;
  if (!m.ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  for (PetscInt d = 1; d <= m.dim; ++d) {
    size = PetscMax(size, m.cones[d].stop);
    PetscCall(CopyIn((m.cones[d].end - m.cones[d].start) * sizeof(PetscInt), mesh->cones[d].off, &m.cones[d].off));
  }
  PetscCall(CopyIn(size * sizeof(PetscInt), mesh->cone, &cone));
  PetscCall(CopyIn(size * sizeof(PetscInt), mesh->ornt, &corn));
  PetscCall(CopyIn(m.ncells * sizeof(PetscInt), mesh->cell, &cell));
  PetscCall(CopyIn(sizeof(int), &found, &least));
  m.cone = cone;
  m.ornt = corn;
  m.cell = cell;
  Closures<<<Blocks(m.ncells), HOPS_MESH_THREADS, 0, stream>>>(m, point, ornt, least);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCopy_CUDA(NULL, &found, least, sizeof(int), HOPS_COPY_OUT));
  if (found < m.ncells) *bad = found;
  for (PetscInt d = 1; d <= m.dim; ++d) PetscCall(HopsCudaPoolFree((void **)&m.cones[d].off));
  PetscCall(HopsCudaPoolFree((void **)&cone));
  PetscCall(HopsCudaPoolFree((void **)&corn));
  PetscCall(HopsCudaPoolFree((void **)&cell));
  PetscCall(HopsCudaPoolFree((void **)&least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Numbers ---- */

__global__ static void MarkPoints(PetscInt n, const PetscInt *__restrict__ list, int bit, const HopsNumbering b)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) b.kind[list[i] - b.pStart] |= (unsigned char)bit; /* points of a list are distinct */
}

__global__ static void Touch(const HopsNumbering b)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (c < b.ncells) HopsTouchCell(&b, c);
}

/* count[c], count[stride + c]: unknowns and constrained entries that cell c reaches first; [ncells] is 0 */
__global__ static void CountReached(const HopsNumbering b, PetscInt stride, int *count)
{
  const PetscInt c    = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  int            n[2] = {0, 0};

  if (c > b.ncells) return;
  if (c < b.ncells) HopsReachCell(&b, c, PETSC_FALSE, n);
  count[c]          = n[0];
  count[stride + c] = n[1];
}

__global__ static void PlaceReached(const HopsNumbering b, PetscInt stride, const int *count)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  int            n[2];

  if (c >= b.ncells) return;
  n[0] = count[c];
  n[1] = count[stride + c];
  HopsReachCell(&b, c, PETSC_TRUE, n);
}

/* and of points that no cell reaches */
__global__ static void CountUntouched(const HopsNumbering b, int *count)
{
  const PetscInt p = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (p <= b.np) count[p] = p < b.np ? HopsCountUntouched(&b, p) : 0;
}

__global__ static void PlaceUntouched(const HopsNumbering b, const int *count, int nT)
{
  const PetscInt p = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (p < b.np && count[p + 1] > count[p]) b.first[p] = nT + count[p];
}

static PetscErrorCode MarkList(PetscInt n, const PetscInt list[], int bit, const HopsNumbering *b, cudaStream_t stream)
{
  PetscInt *l;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyIn(n * sizeof(PetscInt), list, &l));
  MarkPoints<<<Blocks(n), HOPS_MESH_THREADS, 0, stream>>>(n, l, bit, *b);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshNumber_CUDA(const HopsNumbering *b, PetscInt ness, const PetscInt ess[], PetscInt nforeign,
                                          const PetscInt foreign[], int *nT, int *nC)
{
  const PetscInt stride = b->ncells + 1;
  int           *count, *rest, sum[3];
  cudaStream_t   stream;

  PetscFunctionBegin;
  *nT = *nC = 0;
  if (!b->np) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCallCUDA(cudaMemsetAsync(b->kind, 0, b->np, stream));
  PetscCallCUDA(cudaMemsetAsync(b->touch, HOPS_UNTOUCHED & 0xff, b->np * sizeof(int), stream));
  PetscCallCUDA(cudaMemsetAsync(b->first, HOPS_NO_NUMBER & 0xff, b->np * sizeof(int), stream));
  PetscCall(MarkList(ness, ess, HOPS_POINT_ESSENTIAL, b, stream));
  PetscCall(MarkList(nforeign, foreign, HOPS_POINT_FOREIGN, b, stream));
  PetscCall(HopsCudaPoolMalloc(2 * stride * sizeof(int), (void **)&count));
  PetscCall(HopsCudaPoolMalloc((b->np + 1) * sizeof(int), (void **)&rest));
  if (b->ncells) Touch<<<Blocks(b->ncells), HOPS_MESH_THREADS, 0, stream>>>(*b);
  CountReached<<<Blocks(stride), HOPS_MESH_THREADS, 0, stream>>>(*b, stride, count);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaScan(b->ncells, count));
  PetscCall(HopsCudaScan(b->ncells, count + stride));
  if (b->ncells) PlaceReached<<<Blocks(b->ncells), HOPS_MESH_THREADS, 0, stream>>>(*b, stride, count);
  CountUntouched<<<Blocks(b->np + 1), HOPS_MESH_THREADS, 0, stream>>>(*b, rest);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaScan(b->np, rest));
  PetscCall(HopsCopy_CUDA(NULL, &sum[0], count + b->ncells, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCopy_CUDA(NULL, &sum[1], count + stride + b->ncells, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCopy_CUDA(NULL, &sum[2], rest + b->np, sizeof(int), HOPS_COPY_OUT));
  if (sum[2]) PlaceUntouched<<<Blocks(b->np), HOPS_MESH_THREADS, 0, stream>>>(*b, rest, sum[0]);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&count));
  PetscCall(HopsCudaPoolFree((void **)&rest));
  *nT = sum[0] + sum[2];
  *nC = sum[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Element restriction ---- */

__global__ static void MarkInner(const HopsNumbering b, int nT, int *inner)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (c <= b.ncells) inner[c] = c < b.ncells ? HopsIsInnerCell(&b, nT, c) : 0;
}

/* before[]: interior cells before each cell. The others follow all of these; order is kept within both */
__global__ static void OrderCells(PetscInt n, const int *__restrict__ before, int *perm)
{
  const PetscInt c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (c >= n) return;
  if (before[c + 1] > before[c]) perm[before[c]] = (int)c;
  else perm[before[n] + c - before[c]] = (int)c;
}

__global__ static void Restrict(const HopsNumbering b, const HopsCellView v, int nTG, size_t size, const int *__restrict__ perm,
                                int *restr)
{
  const PetscInt ne = v.ne, n = HopsClosureSize(b.dim);

  for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < size; e += (size_t)gridDim.x * blockDim.x) {
    const PetscInt row = (PetscInt)(e / ne), i = (PetscInt)(e % ne), c = perm ? perm[row] : row, k = v.slot[i];

    restr[e] = c < 0 ? 0 : HopsCellEntry(HopsCellFirst(&b, nTG, c, k), v.seen[(b.ornt[c * n + b.list[k]] + 4) * ne + i]);
  }
}

static PetscErrorCode HopsMeshOrder_CUDA(const HopsNumbering *b, int nT, int perm[], PetscInt *ninterior)
{
  int         *inner, *order, n;
  cudaStream_t stream;

  PetscFunctionBegin;
  *ninterior = 0;
  if (!b->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCall(HopsCudaPoolMalloc((b->ncells + 1) * sizeof(int), (void **)&inner));
  PetscCall(HopsCudaPoolMalloc(b->ncells * sizeof(int), (void **)&order));
  MarkInner<<<Blocks(b->ncells + 1), HOPS_MESH_THREADS, 0, stream>>>(*b, nT, inner);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaScan(b->ncells, inner));
  OrderCells<<<Blocks(b->ncells), HOPS_MESH_THREADS, 0, stream>>>(b->ncells, inner, order);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCopy_CUDA(NULL, perm, order, b->ncells * sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCopy_CUDA(NULL, &n, inner + b->ncells, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&inner));
  PetscCall(HopsCudaPoolFree((void **)&order));
  *ninterior = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsMeshRestrict_CUDA(const HopsNumbering *b, const HopsCellView *view, int nTG, PetscInt n, const int perm[],
                                            int restr[])
{
  HopsCellView v    = *view;
  const size_t size = (size_t)n * v.ne;
  int         *order, *slot, *seen;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCall(CopyIn(v.ne * sizeof(int), view->slot, &slot));
  PetscCall(CopyIn(8 * v.ne * sizeof(int), view->seen, &seen));
  PetscCall(CopyIn(n * sizeof(int), perm, &order));
  v.slot = slot;
  v.seen = seen;
  Restrict<<<PetscMin(Blocks(size), 1 << 20), HOPS_MESH_THREADS, 0, stream>>>(*b, v, nTG, size, order, restr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&slot));
  PetscCall(HopsCudaPoolFree((void **)&seen));
  PetscCall(HopsCudaPoolFree((void **)&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Lists ---- */

__global__ static void Complement(PetscInt size, PetscInt n, const PetscInt *__restrict__ gap, PetscInt *list, PetscInt *inverse)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < size) HopsComplementEntry(n, gap, i, list, inverse);
}

static PetscErrorCode HopsMeshComplement_CUDA(PetscInt size, PetscInt n, const PetscInt gap[], PetscInt list[], PetscInt inverse[])
{
  PetscInt    *gaps;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCall(CopyIn(n * sizeof(PetscInt), gap, &gaps));
  Complement<<<Blocks(size), HOPS_MESH_THREADS, 0, stream>>>(size, n, gaps, list, inverse);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&gaps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Coordinates ---- */

__global__ static void Corners(const HopsCorners m, PetscInt            ncells, const PetscInt *__restrict__ point,
                               const int *__restrict__ perm, PetscReal *X)
{
  const size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (e < (size_t)ncells * m.n) HopsCellCorner(&m, point, (PetscInt)(e / m.n), perm[e / m.n], (PetscInt)(e % m.n), X);
}

static PetscErrorCode HopsMeshCorners_CUDA(const HopsCorners *corners, PetscInt nx, PetscInt ncells, const PetscInt point[],
                                           const int perm[], PetscReal X[])
{
  HopsCorners  m = *corners;
  PetscReal   *x;
  int         *order;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCall(CopyIn(nx * sizeof(PetscReal), corners->x, &x));
  PetscCall(CopyIn(ncells * sizeof(int), perm, &order));
  m.x = x;
  Corners<<<Blocks((size_t)ncells * m.n), HOPS_MESH_THREADS, 0, stream>>>(m, ncells, point, order, X);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&x));
  PetscCall(HopsCudaPoolFree((void **)&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsMeshOps HopsMeshCUDA = {HopsMeshClosures_CUDA, HopsMeshNumber_CUDA,     HopsMeshOrder_CUDA,  HopsMeshRestrict_CUDA,
                                  HopsCudaTranspose,     HopsMeshComplement_CUDA, HopsMeshCorners_CUDA};
