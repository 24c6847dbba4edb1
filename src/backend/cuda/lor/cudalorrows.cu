/*
  What rows of the low-order-refined matrix are made from: the cells that hold an unknown, in ascending order;
  the columns of other ranks' unknowns; and what other ranks and faces add to single rows.
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

/* ---- Transposed lists ---- */

/* rank: how many of the unknown's entries came before, in any order */
__global__ static void CountEntries(int n, const int *__restrict__ restr, int nl, int *count, int *__restrict__ rank)
{
  const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (e < n && Unsigned(restr[e]) < nl) rank[e] = atomicAdd(count + Unsigned(restr[e]), 1);
}

__global__ static void PlaceEntries(int n, const int *__restrict__ restr, int nl, const int *__restrict__ begin,
                                    const int *__restrict__ rank, int *entry)
{
  const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (e < n && Unsigned(restr[e]) < nl) entry[begin[Unsigned(restr[e])] + rank[e]] = e;
}

#define HOPS_LIST 8 /* entries of a list that is sorted in registers */

/* The lists were filled in any order */
__global__ static void SortLists(int nl, const int *__restrict__ begin, int *entry)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), lo = i < nl ? begin[i] : 0, n = i < nl ? begin[i + 1] - lo : 0;
  int      *x = entry + lo, v[HOPS_LIST];

  if (n < 2) return;
  if (n <= HOPS_LIST) {
#pragma unroll
    for (int k = 0; k < HOPS_LIST; k++) v[k] = k < n ? x[k] : INT_MAX;
#pragma unroll
    for (int k = 1; k < HOPS_LIST; k++) {
      if (k >= n) break;
#pragma unroll
      for (int h = k; h > 0; h--) {
        const int a = v[h - 1], b = v[h];

        v[h - 1] = min(a, b);
        v[h]     = max(a, b);
      }
    }
#pragma unroll
    for (int k = 0; k < HOPS_LIST; k++)
      if (k < n) x[k] = v[k];
  } else Sort(n, x);
}

PetscErrorCode HopsCudaTranspose(size_t n, const int key[], int nkeys, int begin[], int entry[], cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((n + 255) / 256);
  int               *rank;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(begin, 0, (nkeys + 1) * sizeof(int), stream));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPoolMalloc(n * sizeof(int), (void **)&rank));
  CountEntries<<<blocks, 256, 0, stream>>>((int)n, key, nkeys, begin, rank);
  PetscCall(HopsCudaScan(nkeys, begin, stream));
  PlaceEntries<<<blocks, 256, 0, stream>>>((int)n, key, nkeys, begin, rank, entry);
  if (nkeys) SortLists<<<(nkeys + 255) / 256, 256, 0, stream>>>(nkeys, begin, entry);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The transposed element restriction ---- */

/* Has a cell an unknown twice, or is one of several cells in the middle of one? */
__global__ static void FindTwice(const HopsCudaLORMesh m, int nl, int percell, double perentry, bool nodes,
                                 const int *__restrict__ begin, const int *__restrict__ entry, int *twice)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), lo = i < nl ? begin[i] : 0, n = i < nl ? begin[i + 1] - lo : 0;
  const int sides = m.dim == 3 ? 0x808080 : 0x8080, top = 0x808080 + (m.P - 2) * 0x010101, *x = entry + lo;
  int       before = -1;
  bool      again  = false;

  if (n < 2) return;
  for (int k = 0; k < n; k++) {
    const int  e = x[k], c = __double2int_rd((e + 0.5) * perentry), at = nodes ? m.ijk[e - c * percell] : 0;
    const bool inside = nodes && ((at + 0x7f7f7f) & (top - at) & sides) == sides; /* 0 < i < P - 1 in each byte */

    again  = again || inside || c == before;
    before = c;
  }
  if (again) *twice = 1; /* all write the same */
}

PetscErrorCode HopsCudaLORTranspose(const HopsCudaLORMesh *m, int nl, size_t n, int percell, bool nodes, int begin[], int **entry,
                                    int *twice, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(HopsCudaPoolMalloc(n * sizeof(int), (void **)entry));
  PetscCall(HopsCudaTranspose(n, m->restr, nl, begin, *entry, stream));
  if (n && nl) FindTwice<<<(nl + 255) / 256, 256, 0, stream>>>(*m, nl, percell, 1.0 / percell, nodes, begin, *entry, twice);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Columns of block 1 ---- */

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
