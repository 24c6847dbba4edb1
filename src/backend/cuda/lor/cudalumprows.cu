/* Low-order-refined matrices of H(curl), H(div) and L2: numbers of the masses, then rows, a thread for each;
   see cudalump.h. */
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/lor/laneslorrow.h>
#include "cudalump.h"

#define HOPS_CUDA_LUMP_ROWS  32 /* rows of a block, values */
#define HOPS_CUDA_LUMP_BATCH 6  /* columns of a cell that go into a row at a time */

/* ---- Numbers ---- */

template <int DIM>
__global__ static void Numbers(const HopsCudaLumpMesh m, unsigned int total, int ncomp,
                               const HopsCudaLumpNumber *__restrict__ number, const double *__restrict__ data,
                               double *__restrict__ out)
{
  const unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;

  if (t >= total) return;
  const unsigned int       c     = t / (unsigned int)m.n;
  const HopsCudaLumpNumber x     = number[t - c * m.n];
  const double            *D     = data + (size_t)c * ncomp * m.nn + x.base;
  const int                st[3] = {1, m.P, m.P * m.P};
  double                   v     = 0;

#pragma unroll
  for (int s = 0; s < 1 << DIM; s++) {
    int o = 0;

    if (s & ~x.open) continue;
#pragma unroll
    for (int d = 0; d < DIM; d++) o += (s >> d & 1) * st[d];
    v += D[o];
  }
  out[t] = x.w * v;
}

PetscErrorCode HopsCudaLumpNumbers(const HopsCudaLumpMesh *m, PetscInt ncells, int ncomp, const HopsCudaLumpNumber *number,
                                   const double data[], double numbers[], cudaStream_t stream)
{
  const size_t       total  = (size_t)ncells * m->n;
  const unsigned int blocks = (unsigned int)((total + 255) / 256);

  PetscFunctionBegin;
  PetscCheck(total < UINT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of a rank have more than 2^32 edges and faces of their lattices: use more ranks");
  if (!total) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->dim == 3) Numbers<3><<<blocks, 256, 0, stream>>>(*m, (unsigned int)total, ncomp, number, data, numbers);
  else Numbers<2><<<blocks, 256, 0, stream>>>(*m, (unsigned int)total, ncomp, number, data, numbers);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Masks ---- */

__global__ static void Compare(PetscInt n, const unsigned char *__restrict__ newmask, const unsigned char *__restrict__ mask,
                               int     *result)
{
  const PetscInt     c = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  const int          a = c < n ? newmask[c] : 0, m = c < n ? mask[c] : 0;
  const int          lacks = __syncthreads_or(a & ~m), some = __syncthreads_or(a);
  const unsigned int used = __reduce_or_sync(~0u, c < n ? 1u << a : 0u);

  if (threadIdx.x % 32 == 0 && used) atomicOr(result, (int)used);
  if (threadIdx.x == 0) { /* all write the same */
    if (lacks) result[1] = 1;
    if (some) result[2] = 1;
  }
}

PetscErrorCode HopsCudaLumpCompare(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[3],
                                   cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(result, 0, 3 * sizeof(int), stream));
  Compare<<<(unsigned int)((n + 255) / 256), 256, 0, stream>>>(n, newmask, mask, result);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Pattern ---- */

/* e / ne, exact for e < 2^31 */
__device__ __forceinline__ static int CellOf(const HopsCudaLumpMesh &m, int e)
{
  return __double2int_rd((e + 0.5) * m.perentry);
}

/* A row's columns while it is built, in a column of shared memory, which HOPS_CUDA_LOR_THREADS threads share;
   n = 0 at first. In local memory the lists of all threads would not fit in L1 */
struct SharedList {
  enum {
    MAX    = 32, /* of longer rows see LongRow */
    STRIDE = HOPS_CUDA_LOR_THREADS + 1
  };
  int n, nfree, *col;

  __device__ void Add(int c)
  {
    for (int k = 0; k < n && k < MAX; k++)
      if (col[k * STRIDE] == c) return;
    if (n < MAX) col[n * STRIDE] = c;
    n++; /* beyond the room: found by the caller, who then has an upper bound */
  }
  /* Columns c[0..N-1] of a cell, those that are not there being >= nfree. They stay in registers, and each
     old column is read once */
  template <int N> __device__ void AddCell(const int c[], bool twice)
  {
    const int    end = min(n, (int)MAX);
    unsigned int old = 0;

#pragma unroll 2
    for (int k = 0; k < end; k++) {
      const int v = col[k * STRIDE];

#pragma unroll
      for (int s = 0; s < N; s++) old |= (unsigned int)(c[s] == v) << s;
    }
    if (twice) {
#pragma unroll
      for (int s = 1; s < N; s++)
#pragma unroll
        for (int t = 0; t < s; t++) old |= (unsigned int)(c[s] == c[t]) << s;
    }
#pragma unroll
    for (int s = 0; s < N; s++) {
      if (c[s] >= nfree || (old >> s & 1)) continue;
      if (n < MAX) col[n * STRIDE] = c[s];
      n++;
    }
  }
  __device__ void SortColumns()
  {
    for (int i = 1; i < n; i++) {
      const int v = col[i * STRIDE];
      int       k = i;

      for (; k > 0 && col[(k - 1) * STRIDE] > v; k--) col[k * STRIDE] = col[(k - 1) * STRIDE];
      col[k * STRIDE] = v;
    }
  }
  /* the row's length */
  __device__ void SetLength(const HopsLORRows &rows, int r, unsigned long long *work)
  {
    int low = 0;

    if (n > MAX) {
      CountLater<HopsCudaAtomics>(rows, r, n, work);
      return;
    }
    if (!rows.i[1]) low = n;
    else
      for (int k = 0; k < n; k++) low += col[k * STRIDE] < rows.split;
    rows.i[0][r] = low;
    if (rows.i[1]) rows.i[1][r] = n - low;
  }
  /* its columns, by all threads of a warp, which writes its rows one after the other where there is one
     block; r may lie behind the last row, with n = 0 */
  __device__ void WriteColumns(const HopsLORRows &rows, int r, unsigned char *used)
  {
    const int lane = (int)threadIdx.x & 31, begin = n ? rows.i[0][r] : 0;

    if (rows.sorted) SortColumns();
    if (rows.i[1]) {
      int *j0 = rows.j[0] + begin, *j1 = n ? rows.j[1] + rows.i[1][r] : NULL;

      for (int k = 0; k < n; k++) {
        const int c = col[k * STRIDE];

        if (c < rows.split) *j0++ = c;
        else {
          *j1++                = c - (int)rows.split;
          used[c - rows.split] = 1;
        }
      }
    } else {
      __syncwarp();
      for (int i = 0; i < 32; i++) {
        const int len = __shfl_sync(~0u, n, i), to = __shfl_sync(~0u, begin, i);

        if (lane < len) rows.j[0][to + lane] = col[lane * STRIDE - lane + i];
      }
    }
  }
};

/* Columns of a row as its cells, in ascending order, meet them */
template <class List> __device__ static void BuildRow(const HopsCudaLumpMesh &m, const HopsLORRows &rows, int r, List *list)
{
  const int row = (int)rows.first + r, e0 = m.begin[row], e1 = m.begin[row + 1];

  list->Add(row);
  for (int k = e0; k < e1; k++) {
    const int               e = m.entry[k], c = CellOf(m, e), i = e - c * m.ne;
    const HopsCudaLumpTable table = m.table[m.mask[c]];
    const int               n = __ldg(table.count + i) >> 16, *R = m.restr + (size_t)c * m.ne, *C = table.col + i;

    for (int s = 1; s < n; s += HOPS_CUDA_LUMP_BATCH) { /* the first is the diagonal's */
      int col[HOPS_CUDA_LUMP_BATCH];

#pragma unroll
      for (int t = 0; t < HOPS_CUDA_LUMP_BATCH; t++) col[t] = s + t < n ? Unsigned(R[__ldg(C + (size_t)(s + t) * m.ne)]) : INT_MAX;
      list->template AddCell<HOPS_CUDA_LUMP_BATCH>(col, m.twice);
    }
  }
  if (rows.slot && rows.slot[r] >= 0) {
    for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) list->Add(rows.xj[k]);
  }
}

__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS)
  Count(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned long long *work)
{
  __shared__ int shared[SharedList::MAX * SharedList::STRIDE];
  const int      r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  SharedList     list = {0, m.nfree, shared + threadIdx.x};

  if (r >= rows.n) return;
  BuildRow(m, rows, r, &list);
  list.SetLength(rows, r, work);
}

__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS)
  Fill(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned char *used)
{
  __shared__ int shared[SharedList::MAX * SharedList::STRIDE];
  const int      r    = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  SharedList     list = {0, m.nfree, shared + threadIdx.x};

  if (r < rows.n && !IsLong(rows, r, SharedList::MAX)) BuildRow(m, rows, r, &list);
  list.WriteColumns(rows, r, used);
}

/* of a row that is not a long one */
__device__ __forceinline__ static int MostColumns(const HopsCudaLumpMesh &m, const HopsLORRows &rows)
{
  return m.stencil ? HOPS_CUDA_CURL_MAX(rows.coupled) : (int)SharedList::MAX;
}

/* Long rows: the same columns in the same order, by way of a buffer; then straight to their place */
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS)
  CountLong(const HopsCudaLumpMesh m, const HopsLORRows rows, int *buffer, unsigned long long *next)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || rows.i[0][r] >= 0) return;
  LongRow list = TakeRow<HopsCudaAtomics>(rows, r, m.nfree, buffer, next);

  BuildRow(m, rows, r, &list);
  rows.i[0][r] = list.n[0];
  if (rows.i[1]) rows.i[1][r] = list.n[1];
}

__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS)
  FillLong(const HopsCudaLumpMesh m, const HopsLORRows rows, unsigned char *used)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= rows.n || !IsLong(rows, r, MostColumns(m, rows))) return;
  LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

  BuildRow(m, rows, r, &list);
  for (int b = 0; b < 2 && rows.sorted; b++) Sort(list.n[b], list.col[b]);
  for (int k = 0; k < list.n[1]; k++) used[list.col[1][k]] = 1;
}

static unsigned int Blocks(const HopsLORRows *rows, int size)
{
  return (unsigned int)((rows->n + size - 1) / size);
}

PetscErrorCode HopsCudaTableCount(const HopsCudaLumpMesh *m, HopsLORRows *rows, unsigned long long *work, cudaStream_t stream)
{
  PetscFunctionBegin;
  Count<<<Blocks(rows, HOPS_CUDA_LOR_THREADS), HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, work);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaTableCountLong(const HopsCudaLumpMesh *m, const HopsLORRows *rows, int *buffer, unsigned long long *work,
                                      cudaStream_t stream)
{
  PetscFunctionBegin;
  CountLong<<<Blocks(rows, HOPS_CUDA_LOR_THREADS), HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, buffer, work);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaTableColumns(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned char used[], cudaStream_t stream)
{
  PetscFunctionBegin;
  Fill<<<Blocks(rows, HOPS_CUDA_LOR_THREADS), HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaTableColumnsLong(const HopsCudaLumpMesh *m, const HopsLORRows *rows, unsigned char used[],
                                        cudaStream_t stream)
{
  PetscFunctionBegin;
  FillLong<<<Blocks(rows, HOPS_CUDA_LOR_THREADS), HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Values ---- */

/* A cell's entries in the row that is its entry e */
__device__ static void AddCell(const HopsCudaLumpMesh &m, int e, Row *out)
{
  const int               c = CellOf(m, e), i = e - c * m.ne, *R = m.restr + (size_t)c * m.ne;
  const HopsCudaLumpTable table  = m.table[m.mask[c]];
  const int               n      = __ldg(table.count + i) & 65535;
  const int2             *T      = (const int2 *)table.term + i;
  const bool              turned = R[i] < 0;
  const double           *x      = m.numbers + (size_t)c * m.n;
  double                  v      = 0;

  for (int t = 0; t < n; t++, T += m.ne) {
    const int2   term = __ldg(T);
    const double a    = __ldg(x + (term.y >> 1));

    v += term.y & 1 ? -a : a;
    if (term.x & HOPS_LUMP_LAST) {
      const int l = R[term.x & ~HOPS_LUMP_LAST], u = Unsigned(l);

      if ((l < 0) != turned) v = -v;
      if (out->direct) out->V[out->next++] = v;
      else if (u < m.nfree) out->Add(u, v);
      v = 0;
    }
  }
}

/* As the rows of H1: those of a block lie side by side in block 0, and are put together in shared memory */
__global__ static void __launch_bounds__(HOPS_CUDA_LUMP_ROWS) Values(const HopsCudaLumpMesh m, const HopsLORRows rows, int room)
{
  extern __shared__ double shared[];
  const int r0 = (int)(blockIdx.x * blockDim.x), r1 = min(r0 + (int)blockDim.x, (int)rows.n), r = r0 + (int)threadIdx.x,
            row   = (int)rows.first + r;
  const int  base = rows.i[0][r0], len = rows.i[0][r1] - base;
  const bool fits = len <= room;
  double    *V    = fits ? shared : rows.v[0] + base;
  const int *J    = rows.j[0] + base;
  Row        out  = {J, rows.j[1], rows.map, V, rows.v[1], 0, 0, 0, 0, 0, (int)rows.split, false};
  int        e0 = 0, e1 = 0;

  if (r < r1) {
    e0      = m.begin[row];
    e1      = m.begin[row + 1];
    out.lo  = rows.i[0][r] - base;
    out.hi  = rows.i[0][r + 1] - base;
    out.lo1 = rows.i[1] ? rows.i[1][r] : 0;
    out.hi1 = rows.i[1] ? rows.i[1][r + 1] : 0;
    if (e1 - e0 == 1 && !rows.sorted && !(rows.slot && rows.slot[r] >= 0)) {
      const int e = m.entry[e0], c = CellOf(m, e);

      out.direct = out.hi - out.lo == __ldg(m.table[m.mask[c]].count + e - c * m.ne) >> 16 && out.lo1 == out.hi1;
    }
    out.next = out.lo;
  }
  for (int k = threadIdx.x; k < len; k += blockDim.x) V[k] = 0;
  if (__syncthreads_or(r < r1 && !out.direct) && fits) {
    int *s = (int *)(shared + room);

    for (int k = threadIdx.x; k < len; k += blockDim.x) s[k] = J[k];
    out.J = s;
  }
  __syncthreads();
  if (r < r1) {
    for (int k = out.lo1; k < out.hi1; k++) out.V1[k] = 0;
    for (int k = e0; k < e1; k++) AddCell(m, m.entry[k], &out);
  }
  if (!fits) return;
  __syncthreads();
  for (int k = threadIdx.x; k < len; k += blockDim.x) rows.v[0][base + k] = V[k];
}

/* Long rows, which are zero: a thread for each, in global memory */
__global__ static void __launch_bounds__(HOPS_CUDA_LOR_THREADS) LongValues(const HopsCudaLumpMesh m, const HopsLORRows rows)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)rows.first + r;

  if (r >= rows.n || !IsLong(rows, r, MostColumns(m, rows))) return;
  Row out = GlobalRow(rows, r);

  for (int k = m.begin[row]; k < m.begin[row + 1]; k++) AddCell(m, m.entry[k], &out);
}

PetscErrorCode HopsCudaTableValues(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  const int room = HOPS_CUDA_LUMP_ROWS * (m->dim == 3 ? (rows->coupled ? 36 : 14) : 12);

  PetscFunctionBegin;
  Values<<<Blocks(rows, HOPS_CUDA_LUMP_ROWS), HOPS_CUDA_LUMP_ROWS, room *(sizeof(double) + sizeof(int)), stream>>>(*m, *rows, room);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaTableValuesLong(const HopsCudaLumpMesh *m, const HopsLORRows *rows, cudaStream_t stream)
{
  PetscFunctionBegin;
  LongValues<<<Blocks(rows, HOPS_CUDA_LOR_THREADS), HOPS_CUDA_LOR_THREADS, 0, stream>>>(*m, *rows);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
