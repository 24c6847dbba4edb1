/*
  Point functions at the points of cells, or of faces of cells (FACES). This text is compiled at run time,
  behind the point functions of a code, the arguments (pointargs.h), pointtensor.h and what pointtext.c
  writes: the constants DIM, Q, PG, NF, NFAUX, NU, NA, NR, NAR, NE, SIZE, WORK, SHARED, FACES, ENDS, and
  Fields(), AuxFields(), Residuals(), Integrate() and Tensors(). A block works on a cell or face, then on
  another one.
*/
#define SLOTS (DIM + 2) /* of a component at all points: value, reference derivatives, time derivative */
#if FACES
  #define NQ        (Power(Q) / Q)
  #define BUFFER    (Power(MAXPQ) / MAXPQ)
  #define CELL(i)   k.cell[i]
  #define FACE(i)   k.face[i]
  #define REGION(i) k.term[i]
#else
  #define NQ        Power(Q)
  #define BUFFER    Power(MAXPQ)
  #define CELL(i)   (i)
  #define FACE(i)   0
  #define REGION(i) k.region[k.row[i]]
#endif

__host__ __device__ constexpr int Power(int n)
{
  return DIM == 3 ? n * n * n : n * n;
}

#if FACES
/* Node i of a face: the line of nodes along its normal begins at `line`, with one each `step`; the other
   directions are t[0] < t[1] */
__device__ static void FaceLine(int P, int face, int i, int &line, int &step, int t[2])
{
  const int stride[3] = {1, P, P * P}, d = face / 2;

  t[0] = d == 0 ? 1 : 0;
  t[1] = d == 2 ? 1 : 2;
  step = stride[d];
  line = i % P * stride[t[0]] + (DIM == 3 ? i / P * stride[t[1]] : 0);
}

/* As in cells, but at the points of a face: its trace and its derivative along the normal, by E[2][P] at the
   ends, meet the bases of the other directions */
template <int P, int NC>
__device__ static void FieldAtPoints(const double *x, const int *restr, const double *B, const double *E, int face, bool gradients,
                                     double *work, double *v)
{
  constexpr int N = Power(P) / P;
  const double *D = B + Q * P;
  int           line, step, t[2];

  E += face % 2 * P;
  for (int c = 0; c < NC; c++, v += SLOTS * NQ) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
      double s = 0;

      FaceLine(P, face, i, line, step, t);
      for (int j = 0; j < P; j++) s += E[j] * x[restr[line + j * step] + c];
      work[i]          = x[restr[line + face % 2 * (P - 1) * step] + c];
      work[BUFFER + i] = s;
    }
    __syncthreads();
    FaceLine(P, face, 0, line, step, t);
    for (int q = threadIdx.x; q < NQ; q += blockDim.x) {
      double s[4] = {0, 0, 0, 0};

      for (int i = 0; i < N; i++) {
        const double b0 = B[q % Q * P + i % P], d0 = D[q % Q * P + i % P], b1 = DIM == 3 ? B[q / Q * P + i / P] : 1,
                     d1 = DIM == 3 ? D[q / Q * P + i / P] : 0;

        s[0] += b0 * b1 * work[i];
        s[1] += b0 * b1 * work[BUFFER + i];
        s[2] += d0 * b1 * work[i];
        s[3] += b0 * d1 * work[i];
      }
      v[q] = s[0];
      if (!gradients) continue;
      v[(1 + face / 2) * NQ + q] = s[1];
      v[(1 + t[0]) * NQ + q]     = s[2];
      if (DIM == 3) v[(1 + t[1]) * NQ + q] = s[3];
    }
    __syncthreads();
  }
}

template <int P, int NC>
__device__ static void FieldIntegrate(const double *B, const double *E, int face, double *work, const double *v, double *out)
{
  constexpr int N = Power(P) / P;
  const double *D = B + Q * P;
  int           line, step, t[2];

  E += face % 2 * P;
  for (int c = 0; c < NC; c++, v += SLOTS * NQ, out += Power(P)) {
    FaceLine(P, face, 0, line, step, t);
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
      double s = 0, n = 0;

      for (int q = 0; q < NQ; q++) {
        const double b0 = B[q % Q * P + i % P], d0 = D[q % Q * P + i % P], b1 = DIM == 3 ? B[q / Q * P + i / P] : 1,
                     d1 = DIM == 3 ? D[q / Q * P + i / P] : 0;

        s += b0 * b1 * v[q] + d0 * b1 * v[(1 + t[0]) * NQ + q];
        if (DIM == 3) s += b0 * d1 * v[(1 + t[1]) * NQ + q];
        n += b0 * b1 * v[(1 + face / 2) * NQ + q];
      }
      work[i]          = s;
      work[BUFFER + i] = n;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < Power(P); e += blockDim.x) {
      const int i = e / P % N, j = e % P; /* of the face, along its normal */

      FaceLine(P, face, i, line, step, t);
      out[line + j * step] = (j == face % 2 * (P - 1) ? work[i] : 0) + E[j] * work[BUFFER + i];
    }
    __syncthreads();
  }
}
#else
/* out[AFTER][M][BEFORE] = (ADD: +=) A in[AFTER][N][BEFORE], A[M][N], or its transpose */
template <int M, int N, int BEFORE, int AFTER, bool TRANSPOSE, bool ADD>
__device__ static void Contract(const double *A, const double *in, double *out)
{
  for (int t = threadIdx.x; t < BEFORE * M * AFTER; t += blockDim.x) {
    const int     m = t / BEFORE % M;
    const double *v = in + t / (BEFORE * M) * N * BEFORE + t % BEFORE;
    double        s = ADD ? out[t] : 0;

    for (int n = 0; n < N; n++) s += (TRANSPOSE ? A[n * M + m] : A[m * N + n]) * v[n * BEFORE];
    out[t] = s;
  }
  __syncthreads();
}

/* the same in all directions, with A[d]; in is lost in 3D */
template <int M, int N, bool TRANSPOSE, bool ADD>
__device__ static void ContractAll(const double *const A[3], double *in, double *work, double *out)
{
  Contract<M, N, 1, Power(N) / N, TRANSPOSE, false>(A[0], in, work);
  if constexpr (DIM == 2) {
    Contract<M, N, M, 1, TRANSPOSE, ADD>(A[1], work, out);
  } else {
    Contract<M, N, M, N, TRANSPOSE, false>(A[1], work, in);
    Contract<M, N, M * M, 1, TRANSPOSE, ADD>(A[2], in, out);
  }
}

/* The derivatives of v[0][point] to v[1 + d][point], or transposed v[0] += those of v[1 + d] */
template <bool TRANSPOSE> __device__ static void Derive(const double *C, const double *in, double *out)
{
  constexpr int step = TRANSPOSE ? 0 : NQ, back = TRANSPOSE ? NQ : 0;

  Contract<Q, Q, 1, NQ / Q, TRANSPOSE, TRANSPOSE>(C, in, out);
  Contract<Q, Q, Q, NQ / (Q * Q), TRANSPOSE, TRANSPOSE>(C, in + back, out + step);
  if constexpr (DIM == 3) Contract<Q, Q, Q * Q, 1, TRANSPOSE, TRANSPOSE>(C, in + 2 * back, out + 2 * step);
}

/* v[component][slot][point] of a field of P nodes per direction; B[Q][P], its derivatives D, C[Q][Q] as
   in HopsBasis */
template <int P, int NC>
__device__ static void FieldAtPoints(const double *x, const int *restr, const double *B, const double *C, int, bool gradients,
                                     double *work, double *v)
{
  const double *D = B + Q * P;

  for (int c = 0; c < NC; c++, v += SLOTS * NQ) {
    for (int k = 0; k <= (gradients && Q < P ? DIM : 0); k++) {
      const double *A[3] = {k == 1 ? D : B, k == 2 ? D : B, k == 3 ? D : B};

      for (int i = threadIdx.x; i < Power(P); i += blockDim.x) work[i] = x[restr[i] + c];
      __syncthreads();
      ContractAll<Q, P, false, false>(A, work, work + BUFFER, v + k * NQ);
    }
    if (gradients && Q >= P) Derive<false>(C, v, v + NQ);
  }
}

/* out[component][node] = the test functions of a field against v[component][slot][point], what values
   and reference derivatives meet */
template <int P, int NC>
__device__ static void FieldIntegrate(const double *B, const double *C, int, double *work, const double *v, double *out)
{
  const double *D = B + Q * P;

  for (int c = 0; c < NC; c++, v += SLOTS * NQ, out += Power(P)) {
    if (Q >= P) {
      const double *A[3] = {B, B, B};

      for (int q = threadIdx.x; q < NQ; q += blockDim.x) work[q] = v[q];
      __syncthreads();
      Derive<true>(C, v + NQ, work);
      ContractAll<P, Q, true, false>(A, work, work + BUFFER, out);
      continue;
    }
    for (int i = threadIdx.x; i < Power(P); i += blockDim.x) out[i] = 0;
    for (int k = 0; k <= DIM; k++) {
      const double *A[3] = {k == 1 ? D : B, k == 2 ? D : B, k == 3 ? D : B};

      for (int q = threadIdx.x; q < NQ; q += blockDim.x) work[q] = v[k * NQ + q];
      __syncthreads();
      ContractAll<P, Q, true, true>(A, work, work + BUFFER, out);
    }
  }
}
#endif

/* What the functions see at a point, with the inverse Jacobian and the weight times the determinant */
struct Point {
  double x[DIM], normal[DIM], Ji[DIM * DIM], weight;
  double u[NU], ut[NU], ux[NU * DIM], a[NA + 1], ax[NA * DIM + 1];
};

/* The rows of the map's tables at a point, in each direction, and the weights. Of a face they are those of
   its end in its own direction */
__device__ static void MapRows(const double *tables, int q, int face, const double *B[3], const double *D[3], double w[3])
{
  for (int d = 0; d < DIM; d++) {
    const int i = q % Q;

    w[d] = 1;
#if FACES
    if (d == face / 2) {
      B[d] = tables + ENDS + face % 2 * PG;
      D[d] = B[d] + 2 * PG;
      continue;
    }
#endif
    B[d] = tables + i * PG;
    D[d] = B[d] + Q * PG;
    w[d] = tables[2 * Q * PG + i];
    q /= Q;
  }
}

/* The map's position and inverse Jacobian at a point, by full sums over its nodes; of a face the outward
   normal. The determinant times the weight, or the surface's element times that; not positive where the
   determinant is not */
__device__ static double Geometry(const double *nodes, const double *tables, int q, int face, double x[DIM], double Ji[DIM * DIM],
                                  double normal[DIM])
{
  const double *B[3], *D[3];
  const int     nz = DIM == 3 ? PG : 1;
  double        J[DIM * DIM], w[3], det;

  MapRows(tables, q, face, B, D, w);
  for (int i = 0; i < DIM; i++) {
    double s[4] = {0, 0, 0, 0};

    for (int z = 0; z < nz; z++)
      for (int y = 0; y < PG; y++) {
        const double by = B[1][y], dy = D[1][y], bz = DIM == 3 ? B[2][z] : 1, dz = DIM == 3 ? D[2][z] : 0;
        double       b = 0, d = 0;

        for (int n = 0; n < PG; n++) {
          const double v = nodes[(size_t)i * Power(PG) + (z * PG + y) * PG + n];

          b += B[0][n] * v;
          d += D[0][n] * v;
        }
        s[0] += bz * by * b;
        s[1] += bz * by * d;
        s[2] += bz * dy * b;
        s[3] += dz * by * b;
      }
    x[i] = s[0];
    for (int j = 0; j < DIM; j++) J[i * DIM + j] = s[1 + j];
  }
  if (DIM == 2) {
    det         = J[0] * J[DIM + 1] - J[1] * J[DIM];
    Ji[0]       = J[DIM + 1] / det;
    Ji[1]       = -J[1] / det;
    Ji[DIM]     = -J[DIM] / det;
    Ji[DIM + 1] = J[0] / det;
  } else {
    for (int i = 0; i < DIM; i++)
      for (int j = 0; j < DIM; j++) {
        const int a = (j + 1) % DIM, b = (j + 2) % DIM, c = (i + 1) % DIM, d = (i + 2) % DIM;

        Ji[i * DIM + j] = J[a * DIM + c] * J[b * DIM + d] - J[a * DIM + d] * J[b * DIM + c];
      }
    det = 0;
    for (int j = 0; j < DIM; j++) det += J[j] * Ji[j * DIM];
    for (int i = 0; i < DIM * DIM; i++) Ji[i] /= det;
  }
#if FACES
  if (!(det > 0)) return det;
  {
    double ds = 0;

    for (int i = 0; i < DIM; i++) { /* Nanson's formula */
      normal[i] = (face % 2 ? det : -det) * Ji[face / 2 * DIM + i];
      ds += normal[i] * normal[i];
    }
    det = sqrt(ds);
    for (int i = 0; i < DIM; i++) normal[i] /= det;
  }
#endif
  det = det * w[0] * w[1];
  return DIM == 3 ? det * w[2] : det;
}

/* Values and physical gradients of a PetscFE of NB functions at a point, by its tabulation:
   [point][NB][NC], then [point][NB][NC][DIM] */
template <int NB, int NC>
__device__ static void AuxField(const double *table, const double *aux, const int *restr, int q, const double Ji[], double a[],
                                double ax[])
{
  const double *T = table + (size_t)q * NB * NC, *TD = table + (size_t)NQ * NB * NC + (size_t)q * NB * NC * DIM;
  double        r[NC * DIM];

  for (int i = 0; i < NC; i++) a[i] = 0;
  for (int i = 0; i < NC * DIM; i++) r[i] = 0;
  for (int b = 0; b < NB; b++) {
    const double v = aux[restr[b]];

    for (int i = 0; i < NC; i++) a[i] += v * T[b * NC + i];
    for (int i = 0; i < NC * DIM; i++) r[i] += v * TD[b * NC * DIM + i];
  }
  for (int c = 0; c < NC; c++)
    for (int d = 0; d < DIM; d++) {
      ax[c * DIM + d] = 0;
      for (int e = 0; e < DIM; e++) ax[c * DIM + d] += r[c * DIM + e] * Ji[e * DIM + d];
    }
}

__device__ static void Fields(const HopsPointArgs &k, const int *restr, int face, double *work, double *v);
__device__ static void AuxFields(const HopsPointArgs &k, const int *restr, int face, int q, Point &p);
__device__ static void Residuals(const HopsPointArgs &k, int region, Point &p, double f0[], double f1[]);
__device__ static void Integrate(const HopsPointArgs &k, int face, double *work, const double *v, double *out);
__device__ static void Tensors(const HopsPointArgs &k, int region, Point &p, int cell, size_t at, size_t n);

#if FACES
/* The point of a face that a mirrored one is: bit 0 turns the first direction, bit 1 the second, and bit 2
   makes them change places before */
__device__ static int Mirrored(int q, int code)
{
  int a = q % Q, b = q / Q;

  if (code & 4) {
    const int t = a;

    a = b;
    b = t;
  }
  return (code & 1 ? Q - 1 - a : a) + Q * (code & 2 ? Q - 1 - b : b);
}
#endif

__device__ static void SetPoint(const HopsPointArgs &k, int item, int c, int face, int q, const double *v, Point &p)
{
  const double *nodes = k.nodes + (size_t)c * DIM * Power(PG);

  p.weight = Geometry(nodes, k.tables, q, face, p.x, p.Ji, p.normal);
#if FACES
  if (k.mirror && k.mirror[item]) {
    double Ji[DIM * DIM], normal[DIM];

    Geometry(nodes, k.tables, Mirrored(q, k.mirror[item]), face, p.x, Ji, normal);
  }
#endif
  if (!(p.weight > 0)) atomicMin(k.flags, c);
  for (int g = 0; g < NU; g++, v += SLOTS * NQ) {
    p.u[g]  = k.x ? v[q] : 0;
    p.ut[g] = k.xt ? v[(DIM + 1) * NQ + q] : 0;
    for (int d = 0; d < DIM; d++) {
      p.ux[g * DIM + d] = 0;
      for (int a = 0; k.x && a < DIM; a++) p.ux[g * DIM + d] += v[(a + 1) * NQ + q] * p.Ji[a * DIM + d];
    }
  }
  AuxFields(k, k.auxrestr + (size_t)k.row[c] * NAR, face, q, p);
}

/* Work of this block: two buffers, then the fields at the points */
#if SHARED
  #define HOPS_WORK(name) __shared__ double name[WORK]
#else
  #define HOPS_WORK(name) double *name = k.scratch + (size_t)blockIdx.x * WORK
#endif

#if RESIDUAL
extern "C" __global__ void HopsPointResidual(const HopsPointArgs k)
{
  HOPS_WORK(work);
  double *const v = work + 2 * BUFFER;

  for (int item = k.first + blockIdx.x; item < k.first + k.n; item += gridDim.x) {
    const int c = CELL(item), face = FACE(item), region = REGION(item);
    double   *out = k.out + (size_t)item * NE;

    if (region < 0) { /* PETSc adds nothing there */
      for (int i = threadIdx.x; i < NE; i += blockDim.x) out[i] = 0;
      continue;
    }
    Fields(k, k.restr + (size_t)k.row[c] * NR, face, work, v);
    for (int q = threadIdx.x; q < NQ; q += blockDim.x) {
      Point  p;
      double f0[NU], f1[NU * DIM], *vg = v + q;

      SetPoint(k, item, c, face, q, v, p);
      for (int i = 0; i < NU; i++) f0[i] = 0;
      for (int i = 0; i < NU * DIM; i++) f1[i] = 0;
      Residuals(k, region, p, f0, f1);
      for (int g = 0; g < NU; g++, vg += SLOTS * NQ) {
        vg[0] = p.weight * f0[g];
        for (int b = 0; b < DIM; b++) {
          double s = 0;

          for (int d = 0; d < DIM; d++) s += p.Ji[b * DIM + d] * f1[g * DIM + d];
          vg[(b + 1) * NQ] = p.weight * s;
        }
      }
    }
    __syncthreads();
    Integrate(k, face, work, v, out);
  }
}

/* y += what the cells or faces have for each entry of a local vector, in their order */
extern "C" __global__ void HopsPointAdd(const HopsPointArgs k)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < k.n; i += gridDim.x * blockDim.x) {
    double s = 0;

    for (int e = k.start[i]; e < k.start[i + 1]; e++) s += k.out[k.entry[e]];
    if (k.start[i] < k.start[i + 1]) k.y[i] += s;
  }
}
#else
/* The tensors of a block of fields and a kind, of N entries, begin where those before it end */
template <int N> __device__ static void StoreTensor(const HopsPointArgs &k, int cell, const double g[], double *out)
{
  for (int i = 0; i < N; i++) {
    if (!isfinite(g[i])) atomicMin(k.flags + 1, cell);
    out[i] = g[i];
  }
}

extern "C" __global__ void HopsPointTensors(const HopsPointArgs k)
{
  HOPS_WORK(work);
  double *const v = work + 2 * BUFFER;

  for (int item = k.first + blockIdx.x; item < k.first + k.n; item += gridDim.x) {
    const int c = CELL(item), face = FACE(item), region = REGION(item);

    if (k.x && region >= 0) Fields(k, k.restr + (size_t)k.row[c] * NR, face, work, v);
    for (int q = threadIdx.x; q < NQ; q += blockDim.x) {
      Point p;

      if (region >= 0) SetPoint(k, item, c, face, q, v, p);
      Tensors(k, region, p, c, (size_t)(item - k.first) * NQ + q, (size_t)k.n * NQ);
    }
    __syncthreads();
  }
}

  #if !FACES
/* Does a component's own tensor vary inside of a cell? Is it symmetric? */
extern "C" __global__ void HopsPointLook(const HopsPointArgs k)
{
  for (int c = blockIdx.x; c < k.n; c += gridDim.x) {
    const double *first = k.out + (size_t)c * NQ * k.size + k.own;

    for (int q = threadIdx.x; q < NQ; q += blockDim.x) {
      const double *g = first + (size_t)q * k.size;

      for (int i = 0; i < (k.tensor ? DIM * DIM : 1); i++)
        if (g[i] != first[i]) k.flags[2] = 1;
      for (int i = 0; k.tensor && k.symmetric && i < DIM; i++)
        for (int j = i + 1; j < DIM; j++)
          if (fabs(g[i * DIM + j] - g[j * DIM + i]) > 1e-10 * (fabs(g[i * DIM + i]) + fabs(g[j * DIM + j])))
            atomicMin(k.flags + 3, k.first + c);
    }
  }
}

/* y[cell - first][points]: the same as a coefficient's values, at all points or at the first one of each
   cell */
extern "C" __global__ void HopsPointPack(const HopsPointArgs k)
{
  const size_t n = (size_t)k.n * k.points;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const double *g = k.out + (i / k.points * NQ + i % k.points) * k.size + k.own;
    double       *y = k.y + i * (k.tensor ? DIM * (DIM + 1) / 2 : 1);

    if (!k.tensor) *y = g[0];
    for (int a = 0; k.tensor && a < DIM; a++)
      for (int b = a; b < DIM; b++) *y++ = k.symmetric ? g[a * DIM + b] : 0.5 * (g[a * DIM + b] + g[b * DIM + a]);
  }
}

/* Which pairs of components have a tensor that is not zero? */
extern "C" __global__ void HopsPointMark(const HopsPointArgs k)
{
  const size_t n = (size_t)k.n * NQ * k.size;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    int *mark = k.marks + i % k.size / k.len;

    if (k.out[i] != 0 && !*mark) *mark = 1;
  }
}

/* y = the tensors of a block in reference coordinates, times weight and determinant */
extern "C" __global__ void HopsPointFill(const HopsPointArgs k)
{
  const size_t n = (size_t)k.n * NQ, W = k.width;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const int     c = k.first + (int)(i / NQ), q = (int)(i % NQ);
    const size_t  batch = k.place[c] / W, lane = k.place[c] % W;
    double       *y = k.y + batch * NQ * k.nentries * W + (k.bypoint ? lane * NQ + q : q * k.nentries * W + lane);
    const double *g[4];
    double        x[DIM], normal[DIM], Ji[DIM * DIM], w;

    w = Geometry(k.nodes + (size_t)c * DIM * Power(PG), k.tables, q, 0, x, Ji, normal);
    if (!(w > 0)) atomicMin(k.flags, c);
    w *= k.weights[q % Q] * k.weights[q / Q % Q] * (DIM == 3 ? k.weights[q / (Q * Q)] : 1);
    for (int d = 0; d < 4; d++) g[d] = k.kind[d] + i * k.sizes[d];
    HopsTensorsAtPoint(DIM, k.npairs, k.pair, k.ntrial, w, Ji, g, k.bypoint ? W * NQ : W, y);
  }
}
  #endif
#endif
