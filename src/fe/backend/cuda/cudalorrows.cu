/*
  Rows of the low-order-refined matrix: pattern, a thread for each row, and what other ranks and faces add to single rows. The owner of a
  row visits the cells that hold its unknown in ascending order.
*/
#include "cudalorrow.cuh"
#include <cub/device/device_scan.cuh>

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
__global__ static void SortLists(int n, int percell, const int *__restrict__ begin, int *x, int *twice)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i >= n || begin[i + 1] - begin[i] < 2) return;
  Sort(begin[i + 1] - begin[i], x + begin[i]);
  for (int k = begin[i] + 1; k < begin[i + 1]; k++)
    if (x[k] / percell == x[k - 1] / percell) *twice = 1; /* all write the same */
}

PetscErrorCode HopsCudaLORTranspose(size_t n, int percell, const int restr[], int nfree, int begin[], int **entry, int *twice, cudaStream_t stream)
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
    if (nfree) SortLists<<<(nfree + 255) / 256, 256, 0, stream>>>(nfree, percell, begin, *entry, twice);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Pattern ---- */

template <int DIM, bool MIXED, class List>
__device__ static void BuildRow(const HopsCudaLORMesh &m, const HopsLORRows &rows, int r, List *list)
{
  constexpr int N   = Star<DIM, MIXED>::N;
  const int     row = (int)rows.first + r, end = m.begin[row + 1];

  list->Add(row);
  for (int k = m.begin[row]; k < end; k++) {
    const int  e = m.entry[k], c = CellOf(m, e), at = m.ijk[e - c * m.nn], mask = MIXED ? m.mask[c] : 0;
    const int  ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, *R = m.restr + e;
    int        col[N];
    const auto Put = [&](int s, int offset) { col[s] = R[offset]; };

#pragma unroll
    for (int s = 0; s < N; s++) col[s] = INT_MAX;
    ForNeighbours<DIM, MIXED>(ijk, m.P, mask, Put);
    list->template AddCell<N - 1>(col + 1, m.twice);
  }
  if (rows.slot && rows.slot[r] >= 0) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) list->Add(rows.xj[k]);
  }
}

template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) Count(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned long long *work)
{
  __shared__ int shared[SharedList::MAX * SharedList::STRIDE];
  const int      r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  SharedList     list = {0, m.nfree, shared + threadIdx.x};

  if (r >= rows.n) return;
  BuildRow<DIM, MIXED>(m, rows, r, &list);
  list.SetLength(rows, r, work);
}

template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) Fill(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned char *used)
{
  __shared__ int shared[SharedList::MAX * SharedList::STRIDE];
  const int      r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  SharedList     list = {0, m.nfree, shared + threadIdx.x};

  if (r < rows.n && !IsLong(rows, r, SharedList::MAX)) BuildRow<DIM, MIXED>(m, rows, r, &list);
  list.WriteColumns(rows, r, used);
}

/* Long rows: the same columns in the same order, by way of a buffer; then straight to their place */
template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) CountLong(const HopsCudaLORMesh m, const HopsLORRows rows, int *buffer, unsigned long long *next)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || rows.i[0][r] >= 0) return;
  LongRow list = TakeRow(rows, r, m.nfree, buffer, next);

  BuildRow<DIM, MIXED>(m, rows, r, &list);
  rows.i[0][r] = list.n[0];
  if (rows.i[1]) rows.i[1][r] = list.n[1];
}

template <int DIM, bool MIXED>
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) FillLong(const HopsCudaLORMesh m, const HopsLORRows rows, unsigned char *used)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || !IsLong(rows, r, SharedList::MAX)) return;
  LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

  BuildRow<DIM, MIXED>(m, rows, r, &list);
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

template <int DIM, bool MIXED>
static PetscErrorCode CountRows(const HopsCudaLORMesh *m, HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((rows->n + HOPS_CUDA_LOR_THREADS - 1) / HOPS_CUDA_LOR_THREADS);
  int               *buffer;

  PetscFunctionBegin;
  Count<DIM, MIXED><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, work);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaLORBuffer(rows, work, &buffer, stream));
  if (rows->anylong) CountLong<DIM, MIXED><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, buffer, work);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaLORCount(const HopsCudaLORMesh *m, HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCallCUDA(cudaMemsetAsync(rows->i[b] + rows->n, 0, sizeof(int), stream));
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemsetAsync(work, 0, sizeof(*work), stream));
  if (m->dim == 3 && rows->coupled) PetscCall((CountRows<3, true>(m, rows, work, stream)));
  else if (m->dim == 3) PetscCall((CountRows<3, false>(m, rows, work, stream)));
  else if (rows->coupled) PetscCall((CountRows<2, true>(m, rows, work, stream)));
  else PetscCall((CountRows<2, false>(m, rows, work, stream)));
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCall(HopsCudaScan(rows->n, rows->i[b], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int DIM, bool MIXED>
static PetscErrorCode FillRows(const HopsCudaLORMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((rows->n + HOPS_CUDA_LOR_THREADS - 1) / HOPS_CUDA_LOR_THREADS);

  PetscFunctionBegin;
  Fill<DIM, MIXED><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
  PetscCallCUDA(cudaGetLastError());
  if (rows->anylong) FillLong<DIM, MIXED><<<blocks, HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaLORColumns(const HopsCudaLORMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->dim == 3 && rows->coupled) PetscCall((FillRows<3, true>(m, rows, used, stream)));
  else if (m->dim == 3) PetscCall((FillRows<3, false>(m, rows, used, stream)));
  else if (rows->coupled) PetscCall((FillRows<2, true>(m, rows, used, stream)));
  else PetscCall((FillRows<2, false>(m, rows, used, stream)));
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
