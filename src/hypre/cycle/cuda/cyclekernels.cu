/* The V-cycle on one rank, and the cycles of AMS and ADS */
#include "cyclekernels.cuh"

template <typename T>
__global__ static void Convert(size_t n, const double *__restrict__ x, double scale, bool reciprocal, T *__restrict__ y)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[i] = (T)(reciprocal ? scale / x[i] : scale * x[i]);
}

template <typename T> static PetscErrorCode Middle(HopsCycle, cudaStream_t);

/* Smoothing steps first..last-1 of a level, from x to y and back */
template <typename T>
static PetscErrorCode Steps(HopsCycle c, const HopsCycleLevel *l, int first, int last, T *x, T *y, cudaStream_t stream)
{
  const Csr<T> A = View<T>(l->A);

  PetscFunctionBegin;
  for (int k = first; k < last; k++) {
    T *const from = (k - first) % 2 ? y : x, *const to = (k - first) % 2 ? x : y;

    LAUNCH(l->A, Smooth, stream, A, (T)c->step[k], (const T *)l->d, (const T *)l->f, (const T *)from, to);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What space k makes of the residual w; its vector b->w remains to be prolonged */
template <typename T> static PetscErrorCode Correction(HopsCycle c, int k, cudaStream_t stream)
{
  HopsCycleLevel *b = c->sub[k]->level;
  const Csr<T>    B = View<T>(b->A), R = View<T>(c->R[k]);

  PetscFunctionBegin;
  LAUNCH(c->R[k], Restrict, stream, R, (const T *)c->level->w, (const T *)b->d, (T *)b->f, (T *)b->u);
  PetscCall(Middle<T>(c->sub[k], stream));
  LAUNCH(b->A, Smooth, stream, B, LastWeight<T>(c->sub[k]), (const T *)b->d, (const T *)b->f, (const T *)b->u, (T *)b->w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What a cycle of AMS or ADS does on one rank. Corrections of a sum are captured on streams of their own, from
  the fork to where their vectors are added: short kernels of several spaces run side by side.
*/
template <typename T> struct OneRank {
  HopsCycle       c;
  HopsCycleLevel *a;
  cudaStream_t    stream;

  PetscErrorCode TakeResidual() const
  {
    PetscFunctionBegin;
    LAUNCH(a->A, Residual, stream, View<T>(a->A), (const T *)a->f, (const T *)a->u, (T *)a->w);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode SmoothOnce() const /* w as the smoothed vector, which becomes u */
  {
    PetscFunctionBegin;
    LAUNCH(a->A, Smooth, stream, View<T>(a->A), (T)1, (const T *)a->d, (const T *)a->f, (const T *)a->u, (T *)a->w);
    PetscCallCUDA(cudaMemcpyAsync(a->u, a->w, a->A.m * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Fork() const
  {
    PetscFunctionBegin;
    PetscCallCUDA(cudaEventRecord(c->fork, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Correct(int k, bool insum) const
  {
    PetscFunctionBegin;
    if (insum) PetscCallCUDA(cudaStreamWaitEvent(c->branch[k], c->fork, 0));
    PetscCall(Correction<T>(c, k, insum ? c->branch[k] : stream));
    if (insum) PetscCallCUDA(cudaEventRecord(c->joined[k], c->branch[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Add(int k, bool insum) const
  {
    PetscFunctionBegin;
    if (insum) PetscCallCUDA(cudaStreamWaitEvent(stream, c->joined[k], 0));
    LAUNCH(c->P[k], Prolong, stream, View<T>(c->P[k]), (const T *)c->sub[k]->level->w, (T *)a->u);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* From the residual of the finest level to its corrected vector */
template <typename T> static PetscErrorCode Middle(HopsCycle c, cudaStream_t stream)
{
  const int last = c->nlevels - 1;

  PetscFunctionBegin;
  if (c->program) {
    PetscCall(HopsCycleProgram(c, OneRank<T>{c, c->level, stream}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int l = 0; l < last; l++) {
    HopsCycleLevel *a = c->level + l, *b = a + 1;
    const Csr<T>    A = View<T>(a->A), R = View<T>(a->R);
    T              *x = Smoothed<T>(c, a), *r = Other<T>(c, a);

    PetscCall(Steps<T>(c, a, 1, c->nsteps, (T *)a->u, (T *)a->w, stream));
    LAUNCH(a->A, Residual, stream, A, (const T *)a->f, (const T *)x, r);
    LAUNCH(a->R, Restrict, stream, R, (const T *)r, l + 1 < last || !c->direct ? (const T *)b->d : NULL, (T *)b->f, (T *)b->u);
  }
  if (c->direct) {
    HopsCycleLevel *b = c->level + last;

    Dense<T><<<Blocks(b->A.m, 32), 256, 0, stream>>>(b->A.m, (const T *)c->inverse, (const T *)b->f, (T *)b->u);
    PetscCallCUDA(cudaGetLastError());
  }
  for (int l = last - 1; l >= 0; l--) {
    HopsCycleLevel *a = c->level + l, *b = a + 1;
    const Csr<T>    P = View<T>(a->P);
    T              *x = Smoothed<T>(c, a), *y = Other<T>(c, a);

    LAUNCH(a->P, Prolong, stream, P, (const T *)(l + 1 == last ? b->u : b->w), x);
    PetscCall(Steps<T>(c, a, 0, c->nsteps - (l ? 0 : 1), x, y, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleRunMiddle(HopsCycle c, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (c->single) PetscCall(Middle<float>(c, stream));
  else PetscCall(Middle<double>(c, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleCapture(HopsCycle c)
{
  cudaStream_t   stream;
  PetscBool      done = PETSC_FALSE;
  PetscErrorCode err, end;

  PetscFunctionBegin;
  if (c->spread) PetscCall(HopsCycleRecordSpread(c, &done));
  if (done || (!c->program && !c->nlevels)) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->program && c->spread) { /* the levels below that each rank has for its own */
    for (int k = 0; k < HOPS_CYCLE_SPACES; k++)
      if (c->sub[k]) PetscCall(HopsCycleCapture(c->sub[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsRecordBegin_CUDA());
  PetscCall(HopsGetCUDAStream(&stream));
  err = HopsCycleRunMiddle(c, stream); /* the record is ended in any case */
  end = HopsRecordEnd_CUDA(&c->graph);
  PetscCall(err);
  PetscCall(end);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename T> static PetscErrorCode Run(HopsCycle c, const double x[], double y[], cudaStream_t stream)
{
  HopsCycleLevel *a = c->level;
  const Csr<T>    A = View<T>(a->A);

  PetscFunctionBegin;
  First<T><<<Blocks(a->A.m, 1), 256, 0, stream>>>(a->A.m, x, (const T *)a->d, (T *)a->f, (T *)a->u);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsRecordRun_CUDA(c->graph));
  LAUNCH(a->A, Smooth, stream, A, LastWeight<T>(c), (const T *)a->d, (const T *)a->f, (const T *)a->u, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleRun(HopsCycle c, const double x[], double y[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!c->level[0].A.m) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->single) PetscCall(Run<float>(c, x, y, stream));
  else PetscCall(Run<double>(c, x, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleConvert(size_t n, const double x[], double scale, bool reciprocal, bool single, void *y,
                                cudaStream_t stream)
{
  const unsigned int blocks = (unsigned int)((n + 255) / 256);

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (single) Convert<float><<<blocks, 256, 0, stream>>>(n, x, scale, reciprocal, (float *)y);
  else Convert<double><<<blocks, 256, 0, stream>>>(n, x, scale, reciprocal, (double *)y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
