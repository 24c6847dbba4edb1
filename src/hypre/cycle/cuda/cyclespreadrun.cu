/* The V-cycle on several ranks, see cyclespread.c: the way through the levels, with halo exchanges beside the
   kernels of one rank */
#include "cyclekernels.cuh"
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

/* y += a D s (without D where d is NULL), s = the entries in columns of other ranks times g; a thread for
   each row that has such entries */
template <typename T, typename S>
__global__ static void AddGhosts(int nrows, const int *__restrict__ rows, const Csr<T> A, const T *__restrict__ g, T a,
                                 const T *__restrict__ d, S *__restrict__ y)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k >= nrows) return;

  const int row = rows[k];
  T         s   = 0;

  for (int e = A.i[row]; e < A.i[row + 1]; e++) s += A.v[e] * __ldg(g + A.j[e]);
  y[row] += (S)((d ? a * d[row] : a) * s);
}

/* u = D f */
template <typename T> __global__ static void Scale(int n, const T *__restrict__ d, const T *__restrict__ f, T *__restrict__ u)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) u[i] = d[i] * f[i];
}

/* g = the listed entries of x */
template <typename T> __global__ static void Pick(int n, const int *__restrict__ list, const T *__restrict__ x, T *__restrict__ g)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) g[i] = x[list[i]];
}

template <typename T, typename S>
static PetscErrorCode Add(const HopsCycleGhosted &G, const void *g, T a, const void *d, S *y, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!G.nrows) PetscFunctionReturn(PETSC_SUCCESS);
  AddGhosts<T, S><<<Blocks(G.nrows, 1), 256, 0, stream>>>(G.nrows, G.rows, View<T>(G.M), (const T *)g, a, (const T *)d, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename T> static PetscErrorCode TimesDiagonal(int n, const void *d, const void *f, void *u, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  Scale<T><<<Blocks(n, 1), 256, 0, stream>>>(n, (const T *)d, (const T *)f, (T *)u);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing step k, from x to y */
template <typename T, typename S>
static PetscErrorCode Step(HopsCycle c, HopsCycleSpreadLevel *a, int k, const T *x, S *y, cudaStream_t stream)
{
  HopsCycleLevel *o = &a->own;
  const Csr<T>    A = View<T>(o->A);
  T              *g = (T *)a->g;

  PetscFunctionBegin;
  PetscCall(HopsProlongBegin(a->ua, x, g));
  LAUNCH(o->A, Smooth, stream, A, (T)c->step[k], (const T *)o->d, (const T *)o->f, x, y);
  PetscCall(HopsProlongEnd(a->ua, x, g));
  PetscCall(Add<T>(a->A, g, (T)-c->step[k], o->d, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing steps first..last-1, from x to y and back */
template <typename T>
static PetscErrorCode Steps(HopsCycle c, HopsCycleSpreadLevel *a, int first, int last, T *x, T *y, cudaStream_t stream)
{
  PetscFunctionBegin;
  for (int k = first; k < last; k++) PetscCall(Step<T>(c, a, k, (k - first) % 2 ? y : x, (k - first) % 2 ? x : y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = f - A x */
template <typename T> static PetscErrorCode ResidualOfAll(HopsCycleSpreadLevel *a, const T *x, T *r, cudaStream_t stream)
{
  const Csr<T> A = View<T>(a->own.A);
  T           *g = (T *)a->g;

  PetscFunctionBegin;
  PetscCall(HopsProlongBegin(a->ua, x, g));
  LAUNCH(a->own.A, Residual, stream, A, (const T *)a->own.f, x, r);
  PetscCall(HopsProlongEnd(a->ua, x, g));
  PetscCall(Add<T>(a->A, g, (T)-1, NULL, r, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fc = R r */
template <typename T> static PetscErrorCode RestrictToAll(HopsCycleSpreadLevel *a, const T *r, T *fc, cudaStream_t stream)
{
  const Csr<T> R = View<T>(a->own.R), Rg = View<T>(a->R);
  T           *g = (T *)a->g;

  PetscFunctionBegin;
  LAUNCH(a->R, Restrict, stream, Rg, r, (const T *)NULL, g, (T *)NULL);
  PetscCall(HopsProlongTransposeBegin(a->cp, g, fc));
  LAUNCH(a->own.R, Restrict, stream, R, r, (const T *)NULL, fc, (T *)NULL);
  PetscCall(HopsProlongTransposeEnd(a->cp, g, fc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += P e, where ghosts of e are there already or come now */
template <typename T>
static PetscErrorCode ProlongFromAll(HopsCycleSpreadLevel *a, const T *e, bool there, T *x, cudaStream_t stream)
{
  const Csr<T> P = View<T>(a->own.P);
  T           *g = (T *)a->g;

  PetscFunctionBegin;
  if (!there) PetscCall(HopsProlongBegin(a->cp, e, g));
  LAUNCH(a->own.P, Prolong, stream, P, e, x);
  if (!there) PetscCall(HopsProlongEnd(a->cp, e, g));
  PetscCall(Add<T>(a->P, g, (T)1, NULL, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From f and u = D f of a spread level to the right-hand side fc of the next */
template <typename T> static PetscErrorCode Down(HopsCycle c, HopsCycleSpreadLevel *a, T *fc, cudaStream_t stream)
{
  HopsCycleLevel *o = &a->own;
  T              *x = Smoothed<T>(c, o), *r = Other<T>(c, o);

  PetscFunctionBegin;
  PetscCall(Steps<T>(c, a, 1, c->nsteps, (T *)o->u, (T *)o->w, stream));
  PetscCall(ResidualOfAll<T>(a, x, r, stream));
  PetscCall(RestrictToAll<T>(a, r, fc, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds P e and smooths, but for the last step */
template <typename T> static PetscErrorCode Up(HopsCycle c, HopsCycleSpreadLevel *a, const T *e, bool there, cudaStream_t stream)
{
  HopsCycleLevel *o = &a->own;
  T              *x = Smoothed<T>(c, o), *y = Other<T>(c, o);

  PetscFunctionBegin;
  PetscCall(ProlongFromAll<T>(a, e, there, x, stream));
  PetscCall(Steps<T>(c, a, 0, c->nsteps - 1, x, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename T, typename S> static PetscErrorCode LastStep(HopsCycle c, HopsCycleSpreadLevel *a, S *out, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(Step<T>(c, a, c->nsteps - 1, (const T *)a->own.u, out, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels that are this rank's alone, from the right-hand side f of the first to its correction e */
template <typename T> static PetscErrorCode Coarse(HopsCycle c, const T **e, cudaStream_t stream)
{
  HopsCycleLevel *b = c->level;

  PetscFunctionBegin;
  if (b->d && (c->nlevels > 1 || !c->direct)) PetscCall(TimesDiagonal<T>(c->spread->N, b->d, b->f, b->u, stream));
  if (c->graph) PetscCall(HopsRecordRun_CUDA(c->graph));
  else PetscCall(HopsCycleRunMiddle(c, stream));
  *e = (const T *)b->u;
  if (c->nlevels > 1) {
    const Csr<T> B = View<T>(b->A);

    LAUNCH(b->A, Smooth, stream, B, LastWeight<T>(c), (const T *)b->d, (const T *)b->f, (const T *)b->u, (T *)b->w);
    *e = (const T *)b->w;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels that every rank has: the parts of their right-hand side f, of which this rank's is there, come
   from all; e is their correction */
template <typename T> static PetscErrorCode Redundant(HopsCycle c, const T **e, cudaStream_t stream)
{
  HopsCycleSpread   *s    = c->spread;
  T                 *f    = (T *)c->level->f;
  const MPI_Datatype unit = c->single ? MPI_FLOAT : MPI_DOUBLE;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  if (s->gather) {
    PetscCall(HopsProlongBegin(s->gather, f + s->begin, f));
    PetscCall(HopsProlongEnd(s->gather, f + s->begin, f));
  } else {
    PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
    if (s->count[rank])
      PetscCallCUDA(cudaMemcpyAsync(s->part, f + s->begin, s->count[rank] * sizeof(T), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCallMPI(MPI_Allgatherv(s->part, s->count[rank], unit, s->whole, s->count, s->first, unit, s->comm));
    PetscCallCUDA(cudaMemcpyAsync(f, s->whole, s->N * sizeof(T), cudaMemcpyHostToDevice, stream));
  }
  PetscCall(Coarse<T>(c, e, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = from, of other precisions */
template <typename S, typename T> __global__ static void Convert(int n, const S *__restrict__ from, T *__restrict__ to)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) to[i] = (T)from[i];
}

template <typename S, typename T> static PetscErrorCode ConvertAll(int n, const S *from, T *to, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  Convert<<<Blocks(n, 1), 256, 0, stream>>>(n, from, to);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where this rank's rows of the right-hand side of rank 0's hierarchy are */
static void *RowsForFirst(HopsCycle c)
{
  return c->level ? c->level->f : c->spread->mine;
}

/* A hierarchy that is rank 0's, from there to `mine` of all ranks, by messages */
template <typename T> static PetscErrorCode OnFirstByMessages(HopsCycle c, cudaStream_t stream)
{
  HopsCycleSpread   *s    = c->spread;
  const MPI_Datatype unit = c->single ? MPI_FLOAT : MPI_DOUBLE;
  const T           *e;
  PetscMPIInt        rank, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  n = s->count[rank];
  PetscCallCUDA(cudaMemcpyAsync(s->part, RowsForFirst(c), n * sizeof(T), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallMPI(MPI_Gatherv(s->part, n, unit, s->whole, s->count, s->first, unit, 0, s->comm));
  if (!rank) {
    PetscCallCUDA(cudaMemcpyAsync(c->level->f, s->whole, s->N * sizeof(T), cudaMemcpyHostToDevice, stream));
    PetscCall(Coarse<T>(c, &e, stream));
    PetscCallCUDA(cudaMemcpyAsync(s->whole, e, s->N * sizeof(T), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  PetscCallMPI(MPI_Scatterv(s->whole, s->count, s->first, unit, s->part, n, unit, 0, s->comm));
  PetscCallCUDA(cudaMemcpyAsync(s->mine, s->part, n * sizeof(T), cudaMemcpyHostToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same through memory that ranks share: rank 0 has the rows of all others as ghosts, and what it gives
   back is added to zeros */
template <typename T> static PetscErrorCode OnFirst(HopsCycle c, cudaStream_t stream)
{
  HopsCycleSpread *s = c->spread;
  const T         *e = NULL;
  T               *f = (T *)RowsForFirst(c);
  PetscMPIInt      rank, n;

  PetscFunctionBegin;
  if (!s->gather) {
    PetscCall(OnFirstByMessages<T>(c, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  n = s->count[rank];
  PetscCall(HopsProlongBegin(s->gather, f, f + n));
  PetscCall(HopsProlongEnd(s->gather, f, f + n));
  if (!rank) {
    PetscCall(Coarse<T>(c, &e, stream));
    if (n) PetscCallCUDA(cudaMemcpyAsync(s->mine, e, n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    e += n;
  } else if (n) PetscCallCUDA(cudaMemsetAsync(s->mine, 0, n * sizeof(T), stream));
  PetscCall(HopsProlongTransposeBegin(s->gather, (T *)e, s->mine));
  PetscCall(HopsProlongTransposeEnd(s->gather, (T *)e, s->mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of a hierarchy, from f and u = D f of the first to its last step */
template <typename T> static PetscErrorCode Levels(HopsCycle c, cudaStream_t stream)
{
  HopsCycleSpread *s    = c->spread;
  const int        last = s->n - 1;
  const T         *e;

  PetscFunctionBegin;
  for (int l = 0; l < last; l++) {
    HopsCycleLevel *b = &s->level[l + 1].own;

    PetscCall(Down<T>(c, s->level + l, (T *)b->f, stream));
    PetscCall(TimesDiagonal<T>(b->A.m, b->d, b->f, b->u, stream));
  }
  PetscCall(Down<T>(c, s->level + last, (T *)c->level[0].f + s->begin, stream));
  PetscCall(Redundant<T>(c, &e, stream));
  if (s->nghost) {
    Pick<T><<<Blocks(s->nghost, 1), 256, 0, stream>>>(s->nghost, s->ghost, e, (T *)s->level[last].g);
    PetscCallCUDA(cudaGetLastError());
  }
  e += s->begin;
  for (int l = last; l > 0; l--) {
    T *w = (T *)s->level[l].own.w;

    PetscCall(Up<T>(c, s->level + l, e, l == last, stream));
    PetscCall(LastStep<T>(c, s->level + l, w, stream));
    e = w;
  }
  PetscCall(Up<T>(c, s->level, e, last == 0, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename T> static PetscErrorCode Recorded(HopsCycle, cudaStream_t);

/* What a cycle of AMS or ADS does on several ranks. The corrections of a sum follow one another: side by side
   one's wait for another rank could keep back what that rank waits for */
template <typename T> struct SeveralRanks {
  HopsCycle             c;
  HopsCycleSpreadLevel *a;
  cudaStream_t          stream;

  PetscErrorCode TakeResidual() const
  {
    PetscFunctionBegin;
    PetscCall(ResidualOfAll<T>(a, (const T *)a->own.u, (T *)a->own.w, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode SmoothOnce() const
  {
    PetscFunctionBegin;
    PetscCall(Step<T>(c, a, 0, (const T *)a->own.u, (T *)a->own.w, stream));
    PetscCallCUDA(cudaMemcpyAsync(a->own.u, a->own.w, a->own.A.m * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Fork() const
  {
    return PETSC_SUCCESS;
  }

  PetscErrorCode Correct(int k, bool) const /* in the w of the space's first level */
  {
    HopsCycleLevel *b = HopsCycleFinest(c->sub[k]);

    PetscFunctionBegin;
    PetscCall(RestrictToAll<T>(c->spread->space + k, (const T *)a->own.w, (T *)b->f, stream));
    PetscCall(TimesDiagonal<T>(b->A.m, b->d, b->f, b->u, stream));
    PetscCall(Recorded<T>(c->sub[k], stream));
    PetscCall(LastStep<T>(c->sub[k], c->sub[k]->spread->level, (T *)b->w, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Add(int k, bool) const
  {
    PetscFunctionBegin;
    PetscCall(ProlongFromAll<T>(c->spread->space + k, (const T *)HopsCycleFinest(c->sub[k])->w, false, (T *)a->own.u, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* All between the first smoothing and the last one */
template <typename T> static PetscErrorCode Middle(HopsCycle c, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (c->program) PetscCall(HopsCycleProgram(c, SeveralRanks<T>{c, c->spread->level, stream}));
  else if (c->spread->n) PetscCall(Levels<T>(c, stream));
  else PetscCall(OnFirst<T>(c, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, as one graph where there is one */
template <typename T> static PetscErrorCode Recorded(HopsCycle c, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (c->spread->record) PetscCall((*c->spread->be->memory->RecordRun)(c->spread->record));
  else PetscCall(Middle<T>(c, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a cycle of AMS or ADS, those of its spaces, too */
static bool CanRecord(HopsCycle c)
{
  const HopsCycleSpread *s = c->spread;

  if (!s->be->memory->RecordBegin || (!c->program && !s->gather)) return false;
  for (int l = 0; l < s->n; l++) {
    const HopsCycleSpreadLevel *a = s->level + l;

    if ((a->ua && !HopsProlongCanRecord(a->ua)) || (a->cp && !HopsProlongCanRecord(a->cp))) return false;
  }
  for (int k = 0; k < HOPS_CYCLE_SPACES; k++)
    if (c->sub[k] && (!HopsProlongCanRecord(s->space[k].cp) || !CanRecord(c->sub[k]))) return false;
  return true;
}

PetscErrorCode HopsCycleRecordSpread(HopsCycle c, PetscBool *done)
{
  const HopsMemoryOps *memory = c->spread->be->memory;
  cudaStream_t         stream;
  PetscErrorCode       err, end;

  PetscFunctionBegin;
  *done = CanRecord(c) ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->RecordBegin)());
  PetscCall(HopsGetCUDAStream(&stream));
  err = c->single ? Middle<float>(c, stream) : Middle<double>(c, stream); /* the record is ended in any case */
  end = (*memory->RecordEnd)(&c->spread->record);
  PetscCall(err);
  PetscCall(end);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename T> static PetscErrorCode Run(HopsCycle c, const double x[], double y[], cudaStream_t stream)
{
  HopsCycleSpread *s = c->spread;
  const int        n = s->n ? HopsCycleFinest(c)->A.m : 0;
  PetscMPIInt      rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  if (!s->n) PetscCall(ConvertAll(s->count[rank], x, (T *)RowsForFirst(c), stream));
  else if (n) {
    HopsCycleLevel *o = HopsCycleFinest(c);

    First<T><<<Blocks(n, 1), 256, 0, stream>>>(n, x, (const T *)o->d, (T *)o->f, (T *)o->u);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscCall(Recorded<T>(c, stream));
  if (s->n) PetscCall(LastStep<T>(c, s->level, y, stream));
  else PetscCall(ConvertAll(s->count[rank], (const T *)s->mine, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleRunSpread(HopsCycle c, const double x[], double y[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (c->single) PetscCall(Run<float>(c, x, y, stream));
  else PetscCall(Run<double>(c, x, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct HasEntries {
  const int *i;

  __device__ bool operator()(int row) const
  {
    return i[row + 1] > i[row];
  }
};

PetscErrorCode HopsCycleListRows(int m, const int i[], int *nrows, int **rows, cudaStream_t stream)
{
  const thrust::counting_iterator<int> all(0);
  const HasEntries                     has = {i};
  int                                 *list, *count;
  void                                *work;
  size_t                               size = 0;

  PetscFunctionBegin;
  PetscCall(HopsCycleMalloc((size_t)m * sizeof(int), (void **)&list));
  PetscCall(HopsCycleMalloc(sizeof(int), (void **)&count));
  PetscCallCUDA(cub::DeviceSelect::If(NULL, size, all, list, count, m, has, stream));
  PetscCall(HopsCycleMalloc(size, &work));
  PetscCallCUDA(cub::DeviceSelect::If(work, size, all, list, count, m, has, stream));
  PetscCallCUDA(cudaMemcpyAsync(nrows, count, sizeof(int), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HopsCycleFree(&work));
  PetscCall(HopsCycleFree((void **)&count));
  *rows = list;
  PetscFunctionReturn(PETSC_SUCCESS);
}
