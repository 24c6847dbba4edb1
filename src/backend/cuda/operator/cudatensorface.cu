/*
  Full tensors on faces of cells (patensorface.c says which), any order: a block works on a batch of faces.
  Scratch of a component is its value and its derivatives at the points of the face, that along the normal
  first; the trace and the normal derivative at the nodes of the face lie beside them.
*/
#include "cudatensor.cuh"
#include <backend/lanes/runtime/lanes.h>

#define HOPS_CUDA_FACES_THREADS 128

/* node i of the face of a cell, and the way to the next one along the normal direction; the line of nodes
   begins at `line` */
__device__ static void FaceLine(int dim, int P, int face, int i, int *line, int *step)
{
  const int stride[3] = {1, P, P * P}, d = face / 2, t1 = d == 0 ? 1 : 0, t2 = d == 2 ? 1 : 2;

  *step = stride[d];
  *line = i % P * stride[t1] + (dim == 3 ? i / P * stride[t2] : 0);
}

template <int DIM>
__device__ static void FaceUp(const HopsCudaTensorFaceArgs &k, const HopsCudaTensorSide &s, PetscInt first, int n, double *w)
{
  const int P = s.table.P, nf = HopsLanesPower(P, DIM - 1), nn = DIM == 3 ? P * P * P : P * P, items = s.nc * k.W, item = k.W * k.S;
  const double *B = k.tables + s.table.Bup, *D = k.tables + s.table.Dup;
  double       *u = w + s.off, *U = w + k.U, *UN = w + k.UN, *T = w + k.T;

  for (int t = threadIdx.x; t < k.W * nf; t += blockDim.x) {
    const int lane = t / nf, i = t - lane * nf, at = lane * k.S + Place(i, P);

    if (lane < n) {
      const int     face = k.face[first + lane], end = face & 1;
      const int    *restr = s.restr + (size_t)k.cell[first + lane] * nn;
      const double *E     = k.tables + s.table.E + end * P;
      int           line, step;

      FaceLine(DIM, P, face, i, &line, &step);
      for (int c = 0; c < s.nc; c++) {
        double d = 0;

        U[c * item + at] = s.l[(size_t)restr[line + (end ? P - 1 : 0) * step] * s.nc + c];
        for (int j = 0; s.gradient && j < P; j++) d += E[j] * s.l[(size_t)restr[line + j * step] * s.nc + c];
        UN[c * item + at] = d;
      }
    } else
      for (int c = 0; c < s.nc; c++) U[c * item + at] = UN[c * item + at] = 0;
  }
  __syncthreads();
  Tensor(DIM - 1, k.Q, P, B, B, NULL, items, k.S, U, T, NULL, u, false);
  if (!s.gradient) return;
  Tensor(DIM - 1, k.Q, P, B, B, NULL, items, k.S, UN, T, NULL, u + s.R, false);
  Tensor(DIM - 1, k.Q, P, D, B, NULL, items, k.S, U, T, NULL, u + 2 * s.R, false);
  if (DIM == 3) Tensor(DIM - 1, k.Q, P, B, D, NULL, items, k.S, U, T, NULL, u + 3 * s.R, false);
}

template <int DIM>
__device__ static void FaceDown(const HopsCudaTensorFaceArgs &k, const HopsCudaTensorSide &s, PetscInt first, int n, double *w)
{
  const int P = s.table.P, nf = HopsLanesPower(P, DIM - 1), nn = DIM == 3 ? P * P * P : P * P, items = s.nc * k.W, item = k.W * k.S;
  const double *B = k.tables + s.table.Bdown, *D = k.tables + s.table.Ddown;
  double       *u = w + s.off, *U = w + k.U, *UN = w + k.UN, *T = w + k.T;

  Tensor(DIM - 1, P, k.Q, B, B, NULL, items, k.S, u, T, NULL, U, false);
  if (s.gradient) {
    Tensor(DIM - 1, P, k.Q, B, B, NULL, items, k.S, u + s.R, T, NULL, UN, false);
    Tensor(DIM - 1, P, k.Q, D, B, NULL, items, k.S, u + 2 * s.R, T, NULL, U, true);
    if (DIM == 3) Tensor(DIM - 1, P, k.Q, B, D, NULL, items, k.S, u + 3 * s.R, T, NULL, U, true);
  }
  for (int t = threadIdx.x; t < n * nf; t += blockDim.x) {
    const int     lane = t / nf, i = t - lane * nf, at = lane * k.S + Place(i, P), face = k.face[first + lane], end = face & 1;
    const int    *restr = s.restr + (size_t)k.cell[first + lane] * nn;
    const double *E     = k.tables + s.table.E + end * P;
    int           line, step;

    FaceLine(DIM, P, face, i, &line, &step);
    for (int j = 0; j < P; j++) {
      const bool on = j == (end ? P - 1 : 0);

      if (!s.gradient && !on) continue;
      for (int c = 0; c < s.nc; c++)
        atomicAdd(s.l + (size_t)restr[line + j * step] * s.nc + c,
                  (on ? U[c * item + at] : 0.0) + (s.gradient ? E[j] * UN[c * item + at] : 0.0));
    }
  }
}

template <int DIM, bool SHARED>
__global__ static void __launch_bounds__(HOPS_CUDA_FACES_THREADS) FacesApply(const __grid_constant__ HopsCudaTensorFaceArgs k)
{
  extern __shared__ double2 shared2[];
  double                   *w      = SHARED ? (double *)shared2 : k.work + (size_t)blockIdx.x * k.nwork;
  const size_t              stride = (size_t)k.W * k.nq;

  for (PetscInt b = blockIdx.x; b * k.W < k.n; b += gridDim.x) {
    const PetscInt first = b * k.W;
    const int      n     = (int)min((PetscInt)k.W, k.n - first);

    FaceUp<DIM>(k, k.side[0], first, n, w);
    for (int t = threadIdx.x; t < n * k.nq; t += blockDim.x) {
      const int lane = t / k.nq, i = t - lane * k.nq;
      double   *at = w + lane * k.S + (DIM == 3 ? Place(i, k.Q) : i);

      for (int c = 0; c < k.ncout; c++) {
        double acc[DIM + 1];

        Accumulate<DIM>(k.out[c], k.op, b, stride, t, at, acc);
#pragma unroll
        for (int a = 0; a <= DIM; a++) at[k.out[c].off + a * k.out[c].R] = acc[a];
      }
    }
    __syncthreads();
    FaceDown<DIM>(k, k.side[1], first, n, w);
    __syncthreads();
  }
}

/* As in cells; sums are kept apart by how many of the two functions are derived along the normal */
template <bool SHARED>
__global__ static void __launch_bounds__(HOPS_CUDA_FACES_THREADS)
  FacesDiagonal(const __grid_constant__ HopsCudaTensorFaceDiagonalArgs k)
{
  extern __shared__ double2 shared2[];
  const int                 dim = k.dim, P = k.table.P, nf = HopsLanesPower(P, dim - 1), nn = nf * P, na = k.kind & 2 ? dim : 1,
            nb = k.kind & 1 ? dim : 1, item = k.W * k.S;
  /* e[3] */
  double      *r0 = SHARED ? (double *)shared2 : k.work + (size_t)blockIdx.x * k.nwork, *t1 = r0 + item, *e = t1 + item;
  const size_t stride = (size_t)k.W * k.nq;

  for (PetscInt b = blockIdx.x; b * k.W < k.n; b += gridDim.x) {
    const PetscInt first = b * k.W;
    const int      n     = (int)min((PetscInt)k.W, k.n - first);

    for (int t = threadIdx.x; t < 3 * item; t += blockDim.x) e[t] = 0;
    for (int ab = 0; ab < na * nb; ab++) {
      /* derivatives of test and trial function: -1 the value, 0 along the normal */
      const int     a = k.kind & 2 ? ab / nb : -1, d = k.kind & 1 ? ab % nb : -1;
      const double *A[2];

#pragma unroll
      for (int m = 0; m < 2; m++)
        A[m] = k.tables + (m + 1 == a ? (m + 1 == d ? k.table.DD : k.table.BD) : (m + 1 == d ? k.table.BD : k.table.BB));
      for (int t = threadIdx.x; t < k.W * k.nq; t += blockDim.x) {
        const int lane = t / k.nq, i = t - lane * k.nq;

        r0[lane * k.S + (dim == 3 ? Place(i, k.Q) : i)] = lane < n ? k.q[((size_t)b * k.nentries + k.entry + ab) * stride + t] : 0;
      }
      __syncthreads();
      Tensor(dim - 1, P, k.Q, A[0], A[1], NULL, k.W, k.S, r0, t1, NULL, e + ((a == 0) + (d == 0)) * item, true);
    }
    for (int t = threadIdx.x; t < n * nf; t += blockDim.x) {
      const int lane = t / nf, i = t - lane * nf, at = lane * k.S + (dim == 3 ? Place(i, P) : i), face = k.face[first + lane],
                end       = face & 1;
      const int    *restr = k.restr + (size_t)k.cell[first + lane] * nn;
      const double *E     = k.tables + k.table.E + end * P;
      int           line, step;

      FaceLine(dim, P, face, i, &line, &step);
      for (int j = 0; j < P; j++)
        atomicAdd(k.l + (size_t)restr[line + j * step] * k.nc + k.c,
                  (j == (end ? P - 1 : 0) ? e[at] + E[j] * e[item + at] : 0.0) + E[j] * E[j] * e[2 * item + at]);
    }
    __syncthreads();
  }
}

typedef void (*FacesFunction)(const HopsCudaTensorFaceArgs);

static FacesFunction FindKernel(const HopsCudaTensorFaceArgs *a)
{
  if (a->work) return a->dim == 3 ? FacesApply<3, false> : FacesApply<2, false>;
  return a->dim == 3 ? FacesApply<3, true> : FacesApply<2, true>;
}

/* From [face][entry][point] to [batch][entry][lane][point] */
static PetscErrorCode FacesUpload(HopsTensorFaces f, PetscInt n, const PetscScalar q[])
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  const PetscInt        W = f->args[0].W, nq = f->args[0].nq, ne = f->data.nentries;
  const size_t          size = (size_t)((n + W - 1) / W) * W * ne * nq;
  PetscScalar          *to;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &to));
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt e = 0; e < ne; e++)
      PetscCall(PetscArraycpy(to + ((size_t)(i / W * ne + e) * W + i % W) * nq, q + ((size_t)i * ne + e) * nq, nq));
  PetscCall((*be->memory->Malloc)(size * sizeof(PetscScalar), (void **)&f->data.q));
  PetscCall((*be->memory->Copy)(NULL, (void *)f->data.q, to, size * sizeof(PetscScalar), HOPS_COPY_IN));
  PetscCall(PetscFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesUploadInts(PetscInt n, const PetscInt in[], int **out)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  int                  *h;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt i = 0; i < n; i++) h[i] = (int)in[i];
  PetscCall((*be->memory->Malloc)(n * sizeof(int), (void **)out));
  PetscCall((*be->memory->Copy)(NULL, *out, h, n * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesApply(HopsTensorOperator A, HopsPart part, PetscBool transpose)
{
  HopsTensorFaces               f = (HopsTensorFaces)A;
  const HopsCudaTensorFaceArgs *a = &f->args[transpose ? 1 : 0];
  cudaStream_t                  stream;

  PetscFunctionBegin;
  if (!a->n || !f->data.npairs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  FindKernel(a)<<<f->grid, f->threads, a->work ? 0 : a->nwork * sizeof(double), stream>>>(*a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDiagonal(HopsTensorOperator A)
{
  HopsTensorFaces                f = (HopsTensorFaces)A;
  const HopsCudaTensorFaceArgs  *a = &f->args[0];
  const HopsCudaTensorSide      *s = &a->side[1];
  HopsCudaTensorFaceDiagonalArgs d;
  cudaStream_t                   stream;
  int                            entry = 0;

  PetscFunctionBegin;
  if (!a->n || f->data.test != f->data.trial) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  d.dim      = a->dim;
  d.Q        = a->Q;
  d.nq       = a->nq;
  d.W        = a->W;
  d.S        = a->S;
  d.n        = a->n;
  d.cell     = a->cell;
  d.face     = a->face;
  d.tables   = a->tables;
  d.q        = f->data.q;
  d.nentries = (int)f->data.nentries;
  d.work     = a->work;
  d.nwork    = 5 * d.W * d.S; /* fewer than what the action takes */
  d.nc       = s->nc;
  d.l        = s->l;
  d.restr    = s->restr;
  d.table    = s->table;
  for (PetscInt j = 0; j < f->data.npairs; j++) {
    const HopsTensorPair p = f->data.pair[j];

    d.kind  = p.kind;
    d.c     = p.test;
    d.entry = entry;
    entry += (int)HopsTensorEntries(d.dim, p.kind);
    if (p.test != p.trial) continue;
    if (d.work) FacesDiagonal<false><<<f->grid, f->threads, 0, stream>>>(d);
    else FacesDiagonal<true><<<f->grid, f->threads, d.nwork * sizeof(double), stream>>>(d);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDestroy(HopsTensorOperator *faces)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  HopsTensorFaces       f  = (HopsTensorFaces)*faces;

  PetscFunctionBegin;
  *faces = NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 4; i++) PetscCall((*be->memory->Free)(&f->program[i / 2][i % 2]));
  PetscCall((*be->memory->Free)((void **)&f->cell));
  PetscCall((*be->memory->Free)((void **)&f->face));
  PetscCall((*be->memory->Free)((void **)&f->work));
  PetscCall((*be->memory->Free)((void **)&f->data.q));
  PetscCall(PetscFree(f->data.pair));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GetLayout, SetBlocks, CreateFaces, Apply, Diagonal, Destroy */
static const HopsTensorOps FacesCUDA = {NULL, NULL, NULL, FacesApply, FacesDiagonal, FacesDestroy};

PetscErrorCode HopsTensorFacesCreate_CUDA(HopsTensorOperator A, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                          const HopsTensorData *data, HopsTensorOperator *out)
{
  HopsTensorKernel          kernel = (HopsTensorKernel)A;
  const HopsBackendOps     *be     = &HopsBackendCUDA;
  const HopsCudaTensorSide *test = &kernel->args[0].side[1][data->test], *trial = &kernel->args[0].side[0][data->trial];
  const int                 dim = kernel->args[0].dim, Q = kernel->args[0].Q, nq = HopsLanesPower(Q, dim - 1),
            M = PetscMax(Q, PetscMax(test->table.P, trial->table.P));
  const int S = dim == 3 ? M * (M | 1) : M | 1, most = PetscMax(test->nc, trial->nc), row = dim + 1,
            slots = row * (test->nc + trial->nc) + 3 * most;
  HopsTensorFaces f;
  HopsTensorPair *pair;
  int             W = PetscMax(1, HOPS_CUDA_FACES_THREADS / nq);

  PetscFunctionBegin;
  PetscCall(PetscNew(&f));
  f->head.ops = &FacesCUDA;
  *out        = &f->head;
  while (W > 1 && (size_t)W * S * slots * sizeof(double) > 48 * 1024) W--;
  f->threads = HOPS_CUDA_FACES_THREADS;
  f->grid    = (int)PetscMin((n + W - 1) / W, 2048);
  PetscCall(PetscMalloc1(data->npairs, &pair));
  PetscCall(PetscArraycpy(pair, data->pair, data->npairs));
  f->data      = *data;
  f->data.pair = pair;
  f->data.q    = NULL;
  for (int t = 0; t < 2; t++) {
    HopsCudaTensorFaceArgs *a = &f->args[t];

    a->dim     = dim;
    a->Q       = Q;
    a->nq      = nq;
    a->W       = W;
    a->S       = S;
    a->n       = n;
    a->tables  = kernel->tables;
    a->side[0] = t ? *test : *trial;
    a->side[1] = t ? *trial : *test;
    a->ncout   = a->side[1].nc;
    for (int s = 0; s < 2; s++) {
      a->side[s].R     = a->side[s].nc * W * S;
      a->side[s].off   = s ? row * a->side[0].R : 0;
      a->side[s].value = true;
    }
    a->U                = row * (a->side[0].R + a->side[1].R);
    a->UN               = a->U + most * W * S;
    a->T                = a->UN + most * W * S;
    a->nwork            = a->T + most * W * S;
    a->side[0].gradient = a->side[1].gradient = false;
    for (PetscInt j = 0; j < data->npairs; j++) {
      if (data->pair[j].kind & (t ? 2 : 1)) a->side[0].gradient = true;
      if (data->pair[j].kind & (t ? 1 : 2)) a->side[1].gradient = true;
    }
  }
  PetscCall(FacesUpload(f, n, data->q));
  PetscCall(FacesUploadInts(n, cells, &f->cell));
  PetscCall(FacesUploadInts(n, faces, &f->face));
  if (f->args[0].nwork * sizeof(double) > HOPS_CUDA_TENSOR_SHARED) {
    f->grid = PetscMin(f->grid, 256);
    PetscCall((*be->memory->Malloc)((size_t)f->args[0].nwork * f->grid * sizeof(double), (void **)&f->work));
  }
  for (int t = 0; t < 2; t++) {
    HopsCudaTensorFaceArgs *a = &f->args[t];
    HopsTensorData          d = f->data;

    d.test = d.trial = 0;
    PetscCall(HopsCudaTensorProgram(1, &d, t ? PETSC_TRUE : PETSC_FALSE, dim, W * S, &a->side[0], 1, &a->side[1], f->program[t]));
    a->out  = (const HopsCudaTensorOut *)f->program[t][0];
    a->op   = (const HopsCudaTensorOp *)f->program[t][1];
    a->cell = f->cell;
    a->face = f->face;
    a->work = f->work;
    if (!f->work)
      PetscCallCUDA(cudaFuncSetAttribute(FindKernel(a), cudaFuncAttributeMaxDynamicSharedMemorySize, HOPS_CUDA_TENSOR_SHARED));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
