/*
  What rows of the low-order-refined matrix are made from: the cells that hold an unknown, in ascending order; the columns of other ranks' unknowns; and what other
  ranks and faces add to single rows.
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
__global__ static void SortLists(const HopsCudaLORMesh m, int percell, double perentry, bool nodes, const int *__restrict__ begin, int *x, int *twice)
{
  const int i      = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int       before = -1;

  if (i >= m.nfree || begin[i + 1] - begin[i] < 2) return;
  Sort(begin[i + 1] - begin[i], x + begin[i]);
  for (int k = begin[i]; k < begin[i + 1]; k++) {
    const int c = __double2int_rd((x[k] + 0.5) * perentry), at = nodes ? m.ijk[x[k] - c * percell] : 0;
    bool      inside = nodes;

    for (int d = 0; d < m.dim; d++) inside = inside && (at >> 8 * d & 255) > 0 && (at >> 8 * d & 255) < m.P - 1;
    if (inside || c == before) *twice = 1; /* all write the same */
    before = c;
  }
}

PetscErrorCode HopsCudaLORTranspose(const HopsCudaLORMesh *m, size_t n, int percell, bool nodes, int begin[], int **entry, int *twice, cudaStream_t stream)
{
  const int          nfree  = m->nfree;
  const unsigned int blocks = (unsigned int)((n + 255) / 256);
  int               *left;

  PetscFunctionBegin;
  PetscCall(HopsCudaPoolMalloc((nfree + 1) * sizeof(int), (void **)&left));
  PetscCall(HopsCudaPoolMalloc(n * sizeof(int), (void **)entry));
  PetscCallCUDA(cudaMemsetAsync(begin, 0, (nfree + 1) * sizeof(int), stream));
  if (n) {
    CountEntries<<<blocks, 256, 0, stream>>>((int)n, m->restr, nfree, begin);
    PetscCallCUDA(cudaMemcpyAsync(left, begin, nfree * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    PetscCall(HopsCudaScan(nfree, begin, stream));
    PlaceEntries<<<blocks, 256, 0, stream>>>((int)n, m->restr, nfree, begin, left, *entry);
    if (nfree) SortLists<<<(nfree + 255) / 256, 256, 0, stream>>>(*m, percell, 1.0 / percell, nodes, begin, *entry, twice);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&left));
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
