/*
  Matrices of the lattice's topology: gradient, curl, divergence, and the interpolations of AMS and ADS; unit
  vectors. A thread for each entry of a cell writes the row of its unknown: cells that share the unknown write
  the same, with columns in ascending order.
*/
#include "cudalorrow.cuh"

#define HOPS_CUDA_NONE 0x7f7f7f7f /* no entry */

typedef struct {
  int           n, ncells, ne, nef, nT, nTf, nfree; /* n: columns at most; f: of the source */
  double        perentry;
  const int    *to, *from, *cell, *table;
  const double *scale;
} Incidence;

/* Columns and values of the row of entry e, ascending; returns its L index, or -1 where the row is not this
   rank's own */
template <int N> __device__ static int RowOf(const Incidence &a, int e, int *count, int col[N], double val[N])
{
  const int c = __double2int_rd((e + 0.5) * a.perentry), i = e - c * a.ne, r = a.to[e], l = Unsigned(r);
  int       n = 0;

  if (l >= a.nT) return -1;
  const int   *R    = a.from + (size_t)(a.cell ? a.cell[c] : c) * a.nef;
  const double unit = a.scale ? a.scale[l] / a.n : 1;

#pragma unroll
  for (int k = 0; k < N; k++) {
    const int t = k < a.n ? __ldg(a.table + i * a.n + k) : -1;

    col[k] = INT_MAX;
    val[k] = 0;
    if (t < 0) continue;
    const int s = R[t >> 1], m = Unsigned(s);

    if (m >= a.nfree) continue;
    int    x = m;
    double v = !a.scale && (((t & 1) != 0) != ((s < 0) != (r < 0))) ? -unit : unit;

#pragma unroll
    for (int j = 0; j < k; j++) { /* what is there ascends; the new column finds its place, or its equal */
      if (col[j] == x && x != INT_MAX) {
        val[j] += v;
        x = INT_MAX;
        v = 0;
      } else if (col[j] > x) {
        const int    y = col[j];
        const double w = val[j];

        col[j] = x;
        val[j] = v;
        x      = y;
        v      = w;
      }
    }
    col[k] = x;
    val[k] = v;
  }
#pragma unroll
  for (int k = 0; k < N; k++) n += col[k] != INT_MAX;
  *count = n;
  return l;
}

template <int N> __global__ static void Count(const Incidence a, unsigned int total, int split, int *i0, int *i1)
{
  const unsigned int e = blockIdx.x * blockDim.x + threadIdx.x;
  int                n = 0, col[N], own = 0;
  double             val[N];

  if (e >= total) return;
  const int l = RowOf<N>(a, (int)e, &n, col, val);

  if (l < 0) return;
#pragma unroll
  for (int k = 0; k < N; k++) own += k < n && col[k] < split;
  i0[l] = own;
  if (i1) i1[l] = n - own;
}

/* The row of explicit zero k of n, and how many others come after it there */
__device__ static int ExtraRow(int k, int n, int nT, int *after)
{
  *after = k / nT;
  return n <= nT ? k * (nT / n) : k % nT;
}

__global__ static void CountExtra(int n, int nT, int *i0)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int       after;

  if (k < n) atomicAdd(i0 + ExtraRow(k, n, nT, &after), 1); /* a count: the order does not matter */
}

__global__ static void FillExtra(int n, int nT, const int *__restrict__ extra, const HopsLORRows rows)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int       after;

  if (k >= n) return;
  const int at = rows.i[0][ExtraRow(k, n, nT, &after) + 1] - 1 - after;

  rows.j[0][at] = extra[k];
  rows.v[0][at] = 0;
}

/* Identity rows of the range, which no cell writes: empty */
__global__ static void CountEssential(int n, const int *__restrict__ idx, int *i0)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k < n) i0[idx[k]] = 0;
}

/* Rows that nobody counted */
__global__ static void Missing(int n, const int *i0, int *missing)
{
  const int l = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (l < n && i0[l] < 0) atomicAdd(missing, 1);
}

template <int N> __global__ static void Fill(const Incidence a, unsigned int total, const HopsLORRows rows, unsigned char *used)
{
  const unsigned int e = blockIdx.x * blockDim.x + threadIdx.x;
  int                n = 0, col[N];
  double             val[N];

  if (e >= total) return;
  const int l = RowOf<N>(a, (int)e, &n, col, val);

  if (l < 0) return;
  int p0 = rows.i[0][l], p1 = rows.i[1] ? rows.i[1][l] : 0;

#pragma unroll
  for (int k = 0; k < N; k++) {
    if (k >= n) break;
    if (col[k] < rows.split) {
      rows.j[0][p0]   = col[k];
      rows.v[0][p0++] = val[k];
    } else {
      used[col[k] - rows.split] = 1;
      rows.j[1][p1]             = col[k] - (int)rows.split;
      rows.v[1][p1++]           = val[k];
    }
  }
}

/* All rows have N columns: their places are known, and they are written as vectors */
template <int N>
__global__ static void Full(const Incidence a, unsigned int total, int *__restrict__ i0, int *__restrict__ j,
                            double *__restrict__ v, int    *fewer)
{
  const unsigned int e = blockIdx.x * blockDim.x + threadIdx.x;
  int                n = 0, col[N];
  double             val[N];

  if (e <= (unsigned int)a.nT) i0[e] = N * (int)e; /* there are no fewer entries than unknowns */
  if (e >= total) return;
  const int l = RowOf<N>(a, (int)e, &n, col, val);

  if (l < 0) return;
  if (n < N) *fewer = 1;
#pragma unroll
  for (int k = 0; k < N; k += 2) {
    *(int2 *)(j + (size_t)l * N + k)    = make_int2(col[k], col[k + 1]);
    *(double2 *)(v + (size_t)l * N + k) = make_double2(val[k], val[k + 1]);
  }
}

static PetscErrorCode Arguments(const HopsDeviceIncidence *d, Incidence *a, unsigned int *total, cudaStream_t *stream)
{
  const PetscReal *X;

  PetscFunctionBegin;
  PetscCheck((size_t)d->to->ncells * d->to->ne < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of a rank have more than 2^31 unknowns: use more ranks");
  PetscCall(HopsGetCUDAStream(stream));
  a->n        = d->n;
  a->ncells   = (int)d->to->ncells;
  a->ne       = (int)d->to->ne;
  a->nef      = (int)d->from->ne;
  a->nT       = (int)d->to->nT;
  a->nTf      = (int)d->from->nT;
  a->nfree    = (int)(d->from->nT + d->from->nG);
  a->perentry = 1.0 / d->to->ne;
  a->cell     = d->cell;
  a->table    = d->table;
  a->scale    = d->scale;
  PetscCall(HopsSpaceGetBackendMesh(d->to, &a->to, &X));
  PetscCall(HopsSpaceGetBackendMesh(d->from, &a->from, &X));
  *total = (unsigned int)(d->to->ncells * d->to->ne);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceCount_CUDA(const HopsDeviceIncidence *d, HopsLORRows *rows, PetscInt *missing)
{
  Incidence    a;
  unsigned int total;
  cudaStream_t stream;
  int         *flag, n = 0;

  PetscFunctionBegin;
  PetscCall(Arguments(d, &a, &total, &stream));
  PetscCall(HopsCudaPoolMalloc(sizeof(int), (void **)&flag));
  PetscCallCUDA(cudaMemsetAsync(flag, 0, sizeof(int), stream));
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) {
      PetscCallCUDA(cudaMemsetAsync(rows->i[b], b ? 0 : 0xff, rows->n * sizeof(int), stream));
      PetscCallCUDA(cudaMemsetAsync(rows->i[b] + rows->n, 0, sizeof(int), stream));
    }
  if (total) {
    if (a.n <= 2) Count<2><<<(total + 255) / 256, 256, 0, stream>>>(a, total, (int)rows->split, rows->i[0], rows->i[1]);
    else if (a.n <= 4) Count<4><<<(total + 255) / 256, 256, 0, stream>>>(a, total, (int)rows->split, rows->i[0], rows->i[1]);
    else Count<6><<<(total + 255) / 256, 256, 0, stream>>>(a, total, (int)rows->split, rows->i[0], rows->i[1]);
    PetscCallCUDA(cudaGetLastError());
  }
  if (rows->n) {
    if (d->ness) CountEssential<<<(unsigned int)((d->ness + 255) / 256), 256, 0, stream>>>((int)d->ness, d->ess, rows->i[0]);
    PetscCallCUDA(cudaGetLastError());
    Missing<<<(unsigned int)((rows->n + 255) / 256), 256, 0, stream>>>((int)rows->n, rows->i[0], flag);
    PetscCallCUDA(cudaGetLastError());
    if (d->nextra) CountExtra<<<(unsigned int)((d->nextra + 255) / 256), 256, 0, stream>>>((int)d->nextra, a.nT, rows->i[0]);
    PetscCallCUDA(cudaGetLastError());
  }
  for (int b = 0; b < 2; b++) {
    int nnz = 0;

    if (rows->i[b]) {
      PetscCall(HopsCudaScan(rows->n, rows->i[b], stream));
      PetscCall(HopsCopy_CUDA(NULL, &nnz, rows->i[b] + rows->n, sizeof(int), HOPS_COPY_OUT));
    }
    rows->nnz[b] = (size_t)nnz;
  }
  PetscCall(HopsCopy_CUDA(NULL, &n, flag, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&flag));
  *missing = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceFull_CUDA(const HopsDeviceIncidence *d, HopsLORRows *rows, PetscBool *ok)
{
  Incidence    a;
  unsigned int total;
  cudaStream_t stream;
  int         *flag, fewer = 0;

  PetscFunctionBegin;
  PetscCall(Arguments(d, &a, &total, &stream));
  *ok = total && (a.n == 2 || a.n == 4 || a.n == 6) ? PETSC_TRUE : PETSC_FALSE;
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPoolMalloc(sizeof(int), (void **)&flag));
  PetscCallCUDA(cudaMemsetAsync(flag, 0, sizeof(int), stream));
  const unsigned int blocks = (PetscMax(total, (unsigned int)a.nT + 1) + 255) / 256;

  if (a.n == 2) Full<2><<<blocks, 256, 0, stream>>>(a, total, rows->i[0], rows->j[0], rows->v[0], flag);
  else if (a.n == 4) Full<4><<<blocks, 256, 0, stream>>>(a, total, rows->i[0], rows->j[0], rows->v[0], flag);
  else Full<6><<<blocks, 256, 0, stream>>>(a, total, rows->i[0], rows->j[0], rows->v[0], flag);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCopy_CUDA(NULL, &fewer, flag, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&flag));
  *ok = fewer ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceFill_CUDA(const HopsDeviceIncidence *d, HopsLORRows *rows, unsigned char used[])
{
  Incidence      a;
  unsigned int   total;
  cudaStream_t   stream;
  unsigned char *u = NULL;

  PetscFunctionBegin;
  PetscCall(Arguments(d, &a, &total, &stream));
  if (rows->i[1]) {
    PetscCall(HopsCudaPoolMalloc(rows->nmap, (void **)&u));
    if (rows->nmap) PetscCallCUDA(cudaMemsetAsync(u, 0, rows->nmap, stream));
  }
  if (total) {
    if (a.n <= 2) Fill<2><<<(total + 255) / 256, 256, 0, stream>>>(a, total, *rows, u);
    else if (a.n <= 4) Fill<4><<<(total + 255) / 256, 256, 0, stream>>>(a, total, *rows, u);
    else Fill<6><<<(total + 255) / 256, 256, 0, stream>>>(a, total, *rows, u);
    PetscCallCUDA(cudaGetLastError());
  }
  if (rows->n && d->nextra)
    FillExtra<<<(unsigned int)((d->nextra + 255) / 256), 256, 0, stream>>>((int)d->nextra, a.nT, d->extra, *rows);
  PetscCallCUDA(cudaGetLastError());
  if (rows->i[1]) PetscCall(HopsCopy_CUDA(NULL, used, u, rows->nmap, HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Unit vectors ---- */

typedef struct {
  int           dim, P, Pg, ne, nT;
  double        perentry;
  const int    *restr;
  const double *X, *B; /* B: [P][Pg] the element map at the nodes */
  const int    *place; /* [ne] component, and lattice point of the entry: component + 4 (i + 256 j + 65536 k) */
} Field;

__global__ static void First(Field f, unsigned int total, int *first)
{
  const unsigned int e = blockIdx.x * blockDim.x + threadIdx.x;

  if (e < total && Unsigned(f.restr[e]) < f.nT) atomicMin(first + Unsigned(f.restr[e]), (int)e);
}

template <int DIM> __device__ static void Point(const Field &f, int c, const int ijk[3], double x[DIM])
{
  const int     ng = f.Pg * f.Pg * (DIM == 3 ? f.Pg : 1);
  const double *X  = f.X + (size_t)c * DIM * ng;

  for (int i = 0; i < DIM; i++) x[i] = 0;
  for (int z = 0; z < (DIM == 3 ? f.Pg : 1); z++)
    for (int y = 0; y < f.Pg; y++) {
      const double yz = f.B[ijk[1] * f.Pg + y] * (DIM == 3 ? f.B[ijk[2] * f.Pg + z] : 1);

      for (int w = 0; w < f.Pg; w++) {
        const double b = f.B[ijk[0] * f.Pg + w] * yz;

        for (int i = 0; i < DIM; i++) x[i] += b * X[i * ng + (z * f.Pg + y) * f.Pg + w];
      }
    }
}

/* Along an edge: the difference of its ends. Through a face: half the product of its diagonals, in 2D the
   difference turned */
template <int DIM, bool DIV>
__global__ static void Units(const Field f, const int *__restrict__ first, double *__restrict__ v0, double *__restrict__ v1,
                             double *__restrict__ v2)
{
  const int l = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (l >= f.nT) return;
  const int e = first[l];

  if (e == HOPS_CUDA_NONE) return;
  const int    c = __double2int_rd((e + 0.5) * f.perentry), p = f.place[e - c * f.ne], comp = p & 3;
  const int    at[3] = {p >> 2 & 255, p >> 10 & 255, p >> 18};
  const double sign  = f.restr[e] < 0 ? -1 : 1;
  double       a[DIM], b[DIM], u[3] = {0, 0, 0}, most = 0;

  if (!DIV || DIM == 2) {
    const int d    = DIV ? 1 - comp : comp;
    const int q[3] = {at[0] + (d == 0), at[1] + (d == 1), at[2] + (d == 2)};

    Point<DIM>(f, c, at, a);
    Point<DIM>(f, c, q, b);
    for (int i = 0; i < DIM; i++) b[i] -= a[i];
    if (!DIV)
      for (int i = 0; i < DIM; i++) u[i] = b[i];
    else {
      u[0] = comp == 0 ? b[1] : -b[1];
      u[1] = comp == 0 ? -b[0] : b[0];
    }
  } else {
    const int r = (comp + 1) % 3, s = (comp + 2) % 3;
    double    g[DIM], h[DIM];
    int       q[3] = {at[0], at[1], at[2]};

    Point<DIM>(f, c, q, a);
    q[r]++;
    Point<DIM>(f, c, q, g);
    q[s]++;
    Point<DIM>(f, c, q, b);
    q[r]--;
    Point<DIM>(f, c, q, h);
    for (int i = 0; i < DIM; i++) {
      b[i] -= a[i];
      h[i] -= g[i];
    }
    for (int i = 0; i < 3; i++) u[i] = 0.5 * (b[(i + 1) % 3] * h[(i + 2) % 3] - b[(i + 2) % 3] * h[(i + 1) % 3]);
  }
  for (int i = 0; i < DIM; i++) most = fmax(most, fabs(u[i]));
  for (int i = 0; i < DIM; i++) u[i] = fabs(u[i]) < 1e-10 * most ? 0 : sign * u[i]; /* see pcloraux.c */
  v0[l] = u[0];
  v1[l] = u[1];
  if (DIM == 3) v2[l] = u[2];
}

PetscErrorCode HopsUnitVectors_CUDA(HopsSpace sp, PetscScalar *v[3])
{
  const int    dim = (int)sp->dim, P = (int)sp->order + 1, Pg = (int)sp->gorder + 1, div = sp->family == HOPS_HDIV;
  const size_t total = (size_t)sp->ncells * sp->ne;
  Field        f     = {dim, P, Pg, (int)sp->ne, (int)sp->nT, 1.0 / sp->ne, NULL, NULL, NULL, NULL};
  HopsBasis    gll, geom;
  HopsLayout   l;
  int         *place, *first = NULL;
  void        *B = NULL, *dplace = NULL;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCheck(sp->family == HOPS_HCURL || sp->family == HOPS_HDIV, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Unit vectors are of H(curl) and H(div)");
  PetscCheck(total < HOPS_CUDA_NONE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of a rank have more than 2^31 unknowns: use more ranks");
  if (!sp->nT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsSpaceGetBackendMesh(sp, &f.restr, &f.X));
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(HopsCudaPoolMalloc(P * Pg * sizeof(double), &B));
  PetscCall(HopsCopy_CUDA(NULL, B, geom.B, P * Pg * sizeof(double), HOPS_COPY_IN));
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  PetscCall(PetscMalloc1(sp->ne, &place));
  for (int a = 0; a < (int)l.nc; a++)
    for (int t = 0; t < (int)(l.off[a + 1] - l.off[a]); t++)
      place[l.off[a] + t] =
        a + 4 * ((int)(t % l.n[a][0]) + 256 * (int)(t / l.n[a][0] % l.n[a][1]) + 65536 * (int)(t / (l.n[a][0] * l.n[a][1])));
  PetscCall(HopsCudaPoolMalloc(sp->ne * sizeof(int), &dplace));
  PetscCall(HopsCopy_CUDA(NULL, dplace, place, sp->ne * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree(place));
  f.B     = (const double *)B;
  f.place = (const int *)dplace;
  PetscCall(HopsCudaPoolMalloc(sp->nT * sizeof(int), (void **)&first));
  PetscCallCUDA(cudaMemsetAsync(first, 0x7f, sp->nT * sizeof(int), stream));
  First<<<(unsigned int)((total + 255) / 256), 256, 0, stream>>>(f, (unsigned int)total, first);
  const unsigned int blocks = (unsigned int)((sp->nT + 127) / 128);

  if (dim == 3 && div) Units<3, true><<<blocks, 128, 0, stream>>>(f, first, v[0], v[1], v[2]);
  else if (dim == 3) Units<3, false><<<blocks, 128, 0, stream>>>(f, first, v[0], v[1], v[2]);
  else if (div) Units<2, true><<<blocks, 128, 0, stream>>>(f, first, v[0], v[1], NULL);
  else Units<2, false><<<blocks, 128, 0, stream>>>(f, first, v[0], v[1], NULL);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCudaPoolFree((void **)&first));
  PetscCall(HopsCudaPoolFree(&B));
  PetscCall(HopsCudaPoolFree(&dplace));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}
