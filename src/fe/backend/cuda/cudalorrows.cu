/*
  Rows of the low-order-refined matrix: pattern, a thread for each row, and what other ranks and faces add to single rows. The owner of a
  row visits the cells that hold its unknown in ascending order.
*/
#include "cudalorrow.cuh"
#include <cub/device/device_scan.cuh>

#define HOPS_CUDA_LOR_THREADS 128 /* rows of a block, pattern */

/* ---- Sums before each of n counts, and their total ---- */

PetscErrorCode HopsCudaScan(size_t n, int x[], cudaStream_t stream)
{
  size_t size = 0;
  void  *work = NULL;

  PetscFunctionBegin;
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(NULL, size, x, x, (int)(n + 1), stream));
  PetscCall(HopsCudaPoolMalloc(size, &work));
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(work, size, x, x, (int)(n + 1), stream));
  PetscCall(HopsCudaPoolFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The transposed element restriction ---- */

__global__ static void CountEntries(int n, const int *__restrict__ restr, int nfree, int *count)
{
  const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (e < n && Unsigned(restr[e]) < nfree) atomicAdd(count + Unsigned(restr[e]), 1);
}

__global__ static void PlaceEntries(int n, const int *__restrict__ restr, int nfree, const int *__restrict__ begin, int *left, int *entry)
{
  const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (e < n && Unsigned(restr[e]) < nfree) {
    const int l = Unsigned(restr[e]);

    entry[begin[l] + atomicSub(left + l, 1) - 1] = e;
  }
}

/* The lists were filled in any order */
__global__ static void SortLists(int n, const int *__restrict__ begin, int *x)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n && begin[i + 1] - begin[i] > 1) Sort(begin[i + 1] - begin[i], x + begin[i]);
}

PetscErrorCode HopsCudaLORTranspose(size_t n, const int restr[], int nfree, int begin[], int **entry, cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((n + 255) / 256);
  int               *left;

  PetscFunctionBegin;
  PetscCall(HopsCudaPoolMalloc((nfree + 1) * sizeof(int), (void **)&left));
  PetscCall(HopsCudaPoolMalloc(n * sizeof(int), (void **)entry));
  PetscCallCUDA(cudaMemsetAsync(begin, 0, (nfree + 1) * sizeof(int), stream));
  if (n) {
    CountEntries<<<blocks, 256, 0, stream>>>((int)n, restr, nfree, begin);
    PetscCallCUDA(cudaMemcpyAsync(left, begin, nfree * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    PetscCall(HopsCudaScan(nfree, begin, stream));
    PlaceEntries<<<blocks, 256, 0, stream>>>((int)n, restr, nfree, begin, left, *entry);
    if (nfree) SortLists<<<(nfree + 255) / 256, 256, 0, stream>>>(nfree, begin, *entry);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Pattern ---- */

typedef ColumnList<HOPS_CUDA_LOR_MAX> Columns;

/* e / nn, exact for e < 2^31 */
__device__ __forceinline__ static int CellOf(const HopsCudaLORMesh &m, int e)
{
  return __double2int_rd((e + 0.5) * m.perentry);
}

template <int DIM, class List>
__device__ static void BuildRow(const HopsCudaLORMesh &m, const HopsLORRows &rows, int r, List *list)
{
  const int row = (int)rows.first + r, P = m.P;

  list->Add(row);
  for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
    const int  e = m.entry[k], c = CellOf(m, e), place = m.ijk[e - c * m.nn];
    const int *R      = m.restr + e;
    const int  ijk[3] = {place & 255, place >> 8 & 255, place >> 16}, st[3] = {1, P, P * P};
    const int  mask = m.mask[c];

#pragma unroll
    for (int a = 0; a < DIM; a++) {
      if (ijk[a] < P - 1) list->AddFree(R[st[a]]);
      if (ijk[a] > 0) list->AddFree(R[-st[a]]);
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        if (!(mask >> bit & 1)) continue;
        if (ijk[a] < P - 1 && ijk[b] < P - 1) list->AddFree(R[st[a] + st[b]]);
        if (ijk[a] < P - 1 && ijk[b] > 0) list->AddFree(R[st[a] - st[b]]);
        if (ijk[a] > 0 && ijk[b] < P - 1) list->AddFree(R[st[b] - st[a]]);
        if (ijk[a] > 0 && ijk[b] > 0) list->AddFree(R[-st[a] - st[b]]);
      }
  }
  if (rows.slot && rows.slot[r] >= 0) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) list->Add(rows.xj[k]);
  }
}

template <int DIM>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) Count(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned long long *work)
{
  const int r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  Columns   list = {0, m.nfree};
  int       n    = 0;

  if (r >= rows.n) return;
  BuildRow<DIM>(m, rows, r, &list);
  if (list.n > HOPS_CUDA_LOR_MAX) {
    CountLater(rows, r, list.n, work);
    return;
  }
  for (int k = 0; k < list.n; k++) n += list.col[k] < rows.split;
  rows.i[0][r] = n;
  if (rows.i[1]) rows.i[1][r] = list.n - n;
}

template <int DIM>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) Fill(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned char *used)
{
  const int r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  Columns   list = {0, m.nfree};
  int      *j0, *j1;

  if (r >= rows.n || IsLong(rows, r, HOPS_CUDA_LOR_MAX)) return;
  BuildRow<DIM>(m, rows, r, &list);
  if (rows.sorted) Sort(list.n, list.col);
  j0 = rows.j[0] + rows.i[0][r];
  j1 = rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL;
  for (int k = 0; k < list.n; k++) {
    const int c = list.col[k];

    if (c < rows.split) *j0++ = c;
    else {
      *j1++                = c - (int)rows.split;
      used[c - rows.split] = 1;
    }
  }
}

/* Long rows: the same columns in the same order, by way of a buffer; then straight to their place */
template <int DIM>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) CountLong(const HopsCudaLORMesh m, const HopsLORRows rows, int *buffer, unsigned long long *next)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || rows.i[0][r] >= 0) return;
  LongRow list = TakeRow(rows, r, m.nfree, buffer, next);

  BuildRow<DIM>(m, rows, r, &list);
  rows.i[0][r] = list.n[0];
  if (rows.i[1]) rows.i[1][r] = list.n[1];
}

template <int DIM>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) FillLong(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned char *used)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || !IsLong(rows, r, HOPS_CUDA_LOR_MAX)) return;
  LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

  BuildRow<DIM>(m, rows, r, &list);
  for (int b = 0; b < 2 && rows.sorted; b++) Sort(list.n[b], list.col[b]);
  for (int k = 0; k < list.n[1]; k++) used[list.col[1][k]] = 1;
}

PetscErrorCode HopsCudaLORBuffer(HopsLORRows *rows, unsigned long long *work, int **buffer, cudaStream_t stream)
{
  unsigned long long n = 0;

  PetscFunctionBegin;
  PetscCall(HopsCopy_CUDA(&n, work, sizeof(n), PETSC_FALSE));
  rows->anylong = n ? PETSC_TRUE : PETSC_FALSE;
  *buffer       = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "long rows of the low-order-refined matrix are counted in a buffer of %g MB\n", n * sizeof(int) / 1e6));
  PetscCall(HopsCudaPoolMalloc(n * sizeof(int), (void **)buffer));
  PetscCallCUDA(cudaMemsetAsync(work, 0, sizeof(n), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaLORCount(const HopsCudaLORMesh *m, HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((rows->n + HOPS_CUDA_LOR_THREADS - 1) / HOPS_CUDA_LOR_THREADS);
  int               *buffer;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCallCUDA(cudaMemsetAsync(rows->i[b] + rows->n, 0, sizeof(int), stream));
  if (rows->n) {
    PetscCallCUDA(cudaMemsetAsync(work, 0, sizeof(*work), stream));
    if (m->dim == 3) Count<3><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, work);
    else Count<2><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, work);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(HopsCudaLORBuffer(rows, work, &buffer, stream));
    if (rows->anylong && m->dim == 3) CountLong<3><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, buffer, work);
    else if (rows->anylong) CountLong<2><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, buffer, work);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(HopsCudaPoolFree((void **)&buffer));
    for (int b = 0; b < 2; b++)
      if (rows->i[b]) PetscCall(HopsCudaScan(rows->n, rows->i[b], stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaLORColumns(const HopsCudaLORMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((rows->n + HOPS_CUDA_LOR_THREADS - 1) / HOPS_CUDA_LOR_THREADS);

  PetscFunctionBegin;
  if (rows->n) {
    if (m->dim == 3) Fill<3><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
    else Fill<2><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
    PetscCallCUDA(cudaGetLastError());
    if (rows->anylong && m->dim == 3) FillLong<3><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
    else if (rows->anylong) FillLong<2><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

__global__ static void Map(const HopsLORRows rows)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n) return;
  for (int k = rows.i[1][r]; k < rows.i[1][r + 1]; k++) rows.j[1][k] = rows.map[rows.j[1][k]];
  if (rows.sorted) Sort(rows.i[1][r + 1] - rows.i[1][r], rows.j[1] + rows.i[1][r]);
}

PetscErrorCode HopsCudaLORMap(const HopsLORRows *rows, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->n) Map<<<(unsigned int)((rows->n + 255) / 256), 256, 0, stream>>>(*rows);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

__global__ static void Slots(const HopsLORRows rows)
{
  const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (s < rows.nslots) rows.slot[rows.slotrow[s]] = s;
}

PetscErrorCode HopsCudaLORSlots(const HopsLORRows *rows, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(rows->slot, 0xff, rows->n * sizeof(int), stream));
  Slots<<<(unsigned int)((rows->nslots + 255) / 256), 256, 0, stream>>>(*rows);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What is added to single rows ---- */

/* A thread for each row: what was received is added in the order of the message */
__global__ static void Received(const HopsLORRows rows, const double *__restrict__ x)
{
  const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (s >= rows.nslots) return;
  Row out = GlobalRow(rows, rows.slotrow[s]);

  for (int k = rows.xi[s]; k < rows.xi[s + 1]; k++) out.Add(rows.xj[k], x[k]);
}

PetscErrorCode HopsCudaLORReceived(const HopsLORRows *rows, const double x[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (rows->nslots) Received<<<(unsigned int)((rows->nslots + 127) / 128), 128, 0, stream>>>(*rows, x);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

__global__ static void Diagonal(const HopsLORRows rows, PetscInt n, const PetscInt *__restrict__ idx, const double *__restrict__ x)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= n || idx[i] < rows.first || idx[i] >= rows.first + rows.n) return;
  Row out = GlobalRow(rows, (int)(idx[i] - rows.first));

  for (out.next = out.lo; out.J[out.next] != idx[i];) out.next++;
  if (x) out.V[out.next] += x[i];
  else out.V[out.next] = 1;
}

PetscErrorCode HopsCudaLORDiagonal(const HopsLORRows *rows, PetscInt n, const PetscInt idx[], const double x[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (n) Diagonal<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(*rows, n, idx, x);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
