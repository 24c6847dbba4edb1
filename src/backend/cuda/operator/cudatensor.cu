/*
  Forms with full tensors between several fields (patensor.c says which), any order: a block works on a batch
  of cells, with values and reference gradients of all components at their points in shared memory where they
  fit, else in the device's memory. Reading the tensors bounds it.
*/
#include "cudatensor.cuh"

/* From L-vectors to values and derivatives at the points. Fewer points than nodes: each derivative is
   interpolated by itself */
template <int DIM>
__device__ static void Up(const HopsCudaTensorArgs &k, const HopsCudaTensorSide &s, const double *tables, PetscInt cell, int n,
                          double *w)
{
  const int     P = s.table.P, Q = k.Q, lq = Odd(Q), items = s.nc * k.W;
  double       *u = w + s.off, *e = k.under ? w + k.scratch : u + s.R;
  const double *B = tables + s.table.Bup;

  Gather<DIM>(s, P, k.W, k.S, cell, n, e);
  if (k.under) {
    double *t1 = e + k.X, *t2 = t1 + k.X;

    for (int a = 0; a <= (s.gradient ? DIM : 0); a++) {
      const double *D = tables + s.table.Dup;

      Tensor(DIM, Q, P, a == 1 ? D : B, a == 2 ? D : B, a == 3 ? D : B, items, k.S, e, t1, t2, u + a * s.R, false);
    }
    return;
  }
  Tensor(DIM, Q, P, B, B, B, items, k.S, e, u + 2 * s.R, e, u, false);
  if (s.gradient) {
    const double *C = tables + k.C;

    Contract(Q, Q, C, items, k.S, DIM == 3 ? Q * Q : Q, 1, lq, 1, lq, 1, u, u + s.R, false);
    Contract(Q, Q, C, items, k.S, DIM == 3 ? Q : 1, Q, Q * lq, lq, Q * lq, lq, u, u + 2 * s.R, false);
    if (DIM == 3) Contract(Q, Q, C, items, k.S, Q, Q, lq, Q * lq, lq, Q * lq, u, u + 3 * s.R, false);
    __syncthreads();
  }
}

/* The transpose, whose results are added to L-vectors */
template <int DIM>
__device__ static void Down(const HopsCudaTensorArgs &k, const HopsCudaTensorSide &s, const double *tables, PetscInt cell, int n,
                            double *w)
{
  const int     P = s.table.P, Q = k.Q, lq = Odd(Q), items = s.nc * k.W;
  double       *u = w + s.off, *e = k.under ? w + k.scratch : u + s.R;
  const double *B = tables + s.table.Bdown;

  if (k.under) {
    double *t1 = e + k.X, *t2 = t1 + k.X;

    for (int a = 0; a <= (s.gradient ? DIM : 0); a++) {
      const double *D = tables + s.table.Ddown;

      Tensor(DIM, P, Q, a == 1 ? D : B, a == 2 ? D : B, a == 3 ? D : B, items, k.S, u + a * s.R, t1, t2, e, a > 0);
    }
  } else {
    if (s.gradient) {
      const double *CT = tables + k.CT;

      Contract(Q, Q, CT, items, k.S, DIM == 3 ? Q * Q : Q, 1, lq, 1, lq, 1, u + s.R, u, true);
      __syncthreads();
      Contract(Q, Q, CT, items, k.S, DIM == 3 ? Q : 1, Q, Q * lq, lq, Q * lq, lq, u + 2 * s.R, u, true);
      __syncthreads();
      if (DIM == 3) {
        Contract(Q, Q, CT, items, k.S, Q, Q, lq, Q * lq, lq, Q * lq, u + 3 * s.R, u, true);
        __syncthreads();
      }
    }
    Tensor(DIM, P, Q, B, B, B, items, k.S, u, u + 2 * s.R, DIM == 3 ? u + 3 * s.R : NULL, e, false);
  }
  Scatter<DIM>(s, P, k.W, k.S, cell, n, e);
}

/* NC: components that come out, in place of those that go in; 0: any number, beside them */
template <int DIM, int NC, bool SHARED>
__global__ static void __launch_bounds__(HOPS_CUDA_TENSOR_THREADS, 3) TensorApply(const __grid_constant__ HopsCudaTensorArgs k)
{
  extern __shared__ double2 shared2[];
  double                   *shared = (double *)shared2, *w = SHARED ? shared + k.ntables : k.work + (size_t)blockIdx.x * k.nwork;
  const double             *tables = SHARED ? shared : k.tables;

  if (SHARED) {
    for (int i = threadIdx.x; i < k.ntables; i += blockDim.x) shared[i] = k.tables[i];
    __syncthreads();
  }
  for (PetscInt b = k.first + blockIdx.x; b < k.first + k.n; b += gridDim.x) {
    const PetscInt cell = k.cell[b];
    const int      n    = (int)(k.cell[b + 1] - cell);

    for (int i = 0; i < k.nside[0]; i++)
      if (k.side[0][i].value || k.side[0][i].gradient) Up<DIM>(k, k.side[0][i], tables, cell, n, w);
    Points<DIM, NC>(k, k.Q, k.nq, b, n, w);
    __syncthreads();
    for (int i = 0; i < k.nside[1]; i++)
      if (k.side[1][i].value || k.side[1][i].gradient) Down<DIM>(k, k.side[1][i], tables, cell, n, w);
    __syncthreads();
  }
}

/* The tensors of a component with itself meet products of one-dimensional functions with themselves or with
   their derivatives */
template <bool SHARED>
__global__ static void __launch_bounds__(HOPS_CUDA_TENSOR_THREADS)
  TensorDiagonal(const __grid_constant__ HopsCudaTensorDiagonalArgs k)
{
  extern __shared__ double2 shared2[];
  double      *r0 = SHARED ? (double *)shared2 : k.work + (size_t)blockIdx.x * k.nwork, *e = r0 + k.W * k.S, *t1 = e + k.W * k.S;
  const size_t stride = (size_t)k.W * k.nq;
  const int    dim = k.dim, P = k.table.P, nn = dim == 3 ? P * P * P : P * P, na = k.kind & 2 ? dim : 1, nb = k.kind & 1 ? dim : 1;

  for (PetscInt b = blockIdx.x; b < k.n; b += gridDim.x) {
    const PetscInt cell = k.cell[b];
    const int      n    = (int)(k.cell[b + 1] - cell);

    for (int ab = 0; ab < na * nb; ab++) {
      /* derivatives of test and trial function, -1: the value */
      const int     a = k.kind & 2 ? ab / nb : -1, d = k.kind & 1 ? ab % nb : -1;
      const double *A[3];

#pragma unroll
      for (int m = 0; m < 3; m++)
        A[m] = k.tables + (m == a ? (m == d ? k.table.DD : k.table.BD) : (m == d ? k.table.BD : k.table.BB));
      for (int t = threadIdx.x; t < k.W * k.nq; t += blockDim.x) {
        const int lane = t / k.nq;

        r0[lane * k.S + Place(t - lane * k.nq, k.Q)] = lane < n ? k.q[((size_t)b * k.nentries + k.entry + ab) * stride + t] : 0;
      }
      __syncthreads();
      Tensor(dim, P, k.Q, A[0], A[1], A[2], k.W, k.S, r0, t1, r0, e, ab > 0);
    }
    for (int t = threadIdx.x; t < n * nn; t += blockDim.x) {
      const int lane = t / nn;

      atomicAdd(k.l + (size_t)k.restr[(size_t)cell * nn + t] * k.nc + k.c, e[lane * k.S + Place(t - lane * nn, P)]);
    }
    __syncthreads();
  }
}

template <int DIM, bool SHARED> static HopsCudaTensorFunction FindComponents(int nc)
{
  switch (nc) {
  case 1:
    return TensorApply<DIM, 1, SHARED>;
  case 2:
    return TensorApply<DIM, 2, SHARED>;
  case 3:
    return TensorApply<DIM, 3, SHARED>;
  case 4:
    return TensorApply<DIM, 4, SHARED>;
  default:
    return TensorApply<DIM, 0, SHARED>;
  }
}

/* the kernel that knows all sizes, if there is one */
static HopsCudaTensorFunction FindFixed(const HopsCudaTensorArgs *a)
{
#define HOPS_CUDA_TENSOR_FIND(q) \
  if (a->Q == q) return HopsCudaTensorFind_##q(a->dim, a->ncout);
  HOPS_CUDA_TENSOR_POINTS(HOPS_CUDA_TENSOR_FIND)
  return NULL;
}

static HopsCudaTensorFunction FindKernel(const HopsTensorKernel k, const HopsCudaTensorArgs *a)
{
  if (k->head.info.specialised) return FindFixed(a);
  if (a->work) return a->dim == 3 ? FindComponents<3, false>(a->ncout) : FindComponents<2, false>(a->ncout);
  return a->dim == 3 ? FindComponents<3, true>(a->ncout) : FindComponents<2, true>(a->ncout);
}

static size_t SharedBytes(const HopsTensorKernel k, const HopsCudaTensorArgs *a)
{
  return ((k->head.info.specialised ? 0 : a->ntables) + a->nwork) * sizeof(double);
}

PetscErrorCode HopsCudaTensorLaunchSize(HopsTensorKernel k)
{
  const int    nwork = PetscMax(k->args[0].nwork, k->args[1].nwork);
  int          device, nsm;
  const size_t bytes = PetscMax(SharedBytes(k, &k->args[0]), SharedBytes(k, &k->args[1]));

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
  for (int t = 0; t < 2; t++)
    if (!FindFixed(&k->args[t])) k->head.info.specialised = PETSC_FALSE;
  if (bytes > HOPS_CUDA_TENSOR_SHARED) {
    k->head.info.specialised = PETSC_FALSE;
    k->grid[0] = k->grid[1] = 4 * nsm;
    PetscCall((*HopsBackendCUDA.memory->Malloc)((size_t)nwork * k->grid[0] * sizeof(double), (void **)&k->work));
    for (int t = 0; t < 2; t++) {
      k->args[t].nwork = nwork;
      k->args[t].work  = k->work;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int t = 0; t < 2; t++) {
    int n;

    PetscCallCUDA(
      cudaFuncSetAttribute(FindKernel(k, &k->args[t]), cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_TENSOR_SHARED));
    PetscCallCUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, FindKernel(k, &k->args[t]), k->threads, SharedBytes(k, &k->args[t])));
    k->grid[t] = 4 * nsm * PetscMax(1, n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorApply_CUDA(HopsTensorOperator A, HopsPart part, PetscBool transpose)
{
  HopsTensorKernel   k = (HopsTensorKernel)A;
  const int          p = part == HOPS_PART_INTERIOR_A ? 0 : (part == HOPS_PART_INTERIOR_B ? 1 : 2), t = transpose ? 1 : 0;
  HopsCudaTensorArgs a = k->args[t];
  cudaStream_t       stream;

  PetscFunctionBegin;
  a.first = k->part[p];
  a.n     = k->part[p + 1] - k->part[p];
  if (!a.n || !k->nblocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  FindKernel(k, &a)<<<(unsigned int)PetscMin(a.n, k->grid[t]), k->threads, a.work ? 0 : SharedBytes(k, &a), stream>>>(a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorDiagonal_CUDA(HopsTensorOperator A)
{
  HopsTensorKernel           k = (HopsTensorKernel)A;
  const HopsCudaTensorArgs  *a = &k->args[0];
  HopsCudaTensorDiagonalArgs d;
  cudaStream_t               stream;
  double                    *work = NULL;
  int                        grid = 2048;

  PetscFunctionBegin;
  if (!k->nb) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  d.dim    = a->dim;
  d.Q      = a->Q;
  d.nq     = a->nq;
  d.W      = a->W;
  d.S      = a->S;
  d.n      = k->nb;
  d.cell   = k->cell;
  d.tables = k->tables;
  d.nwork  = 3 * d.W * d.S;
  if (d.nwork * sizeof(double) > HOPS_CUDA_TENSOR_SHARED) {
    grid = 256;
    PetscCall((*HopsBackendCUDA.memory->Malloc)((size_t)grid * d.nwork * sizeof(double), (void **)&work));
  } else
    PetscCallCUDA(cudaFuncSetAttribute(TensorDiagonal<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_TENSOR_SHARED));
  d.work = work;
  for (PetscInt b = 0; b < k->nblocks; b++) {
    const HopsTensorData     *data  = &k->data[b];
    const HopsCudaTensorSide *s     = &a->side[1][data->test];
    int                       entry = 0;

    if (data->test != data->trial) continue;
    d.q        = data->q;
    d.nentries = (int)data->nentries;
    d.nc       = s->nc;
    d.l        = s->l;
    d.restr    = s->restr;
    d.table    = s->table;
    for (PetscInt j = 0; j < data->npairs; j++) {
      const HopsTensorPair p = data->pair[j];

      d.kind  = p.kind;
      d.c     = p.test;
      d.entry = entry;
      entry += (int)HopsTensorEntries(d.dim, p.kind);
      if (p.test != p.trial) continue;
      if (work) TensorDiagonal<false><<<(unsigned int)PetscMin(d.n, grid), k->threads, 0, stream>>>(d);
      else TensorDiagonal<true><<<(unsigned int)PetscMin(d.n, grid), k->threads, d.nwork * sizeof(double), stream>>>(d);
      PetscCallCUDA(cudaGetLastError());
    }
  }
  if (work) {
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall((*HopsBackendCUDA.memory->Free)((void **)&work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
