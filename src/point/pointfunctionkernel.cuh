/*
  A function of position at the points of cells, integrals against a space's basis, and differences from a
  field. This text is compiled at run time, behind the function, the arguments (pointfunctionargs.h), and the
  constants DIM, NC (its components) and FUNCTION.
*/
#define FOR_EACH(i, n) \
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)(n); i += (size_t)gridDim.x * blockDim.x)

enum {
  H1,
  HCURL,
  HDIV,
  L2
};

__device__ static int Power(int n)
{
  return DIM == 3 ? n * n * n : n * n;
}

/* x[DIM], and J[DIM][DIM] where it is not NULL, at point q of a cell */
__device__ static void MapAt(const HopsPointFunctionArgs &k, int cell, int q, double *x, double *J)
{
  const int     np = Power(k.P), at[3] = {q % k.Q * k.P, q / k.Q % k.Q * k.P, q / (k.Q * k.Q) * k.P};
  const double *X = k.nodes + (size_t)cell * DIM * np;

  for (int d = 0; d < DIM; d++) x[d] = 0;
  for (int i = 0; i < DIM * DIM && J; i++) J[i] = 0;
  for (int j = 0; j < np; j++) {
    const int n[3] = {j % k.P, j / k.P % k.P, j / (k.P * k.P)};
    double    b[3] = {1, 1, 1}, c[3] = {1, 1, 1};

    for (int d = 0; d < DIM; d++) {
      b[d] = k.map[0][at[d] + n[d]];
      if (J) c[d] = k.map[1][at[d] + n[d]];
    }
    for (int i = 0; i < DIM; i++) {
      const double v = X[i * np + j];

      x[i] += b[0] * b[1] * b[2] * v;
      for (int d = 0; d < DIM && J; d++)
        J[i * DIM + d] += (d == 0 ? c[0] : b[0]) * (d == 1 ? c[1] : b[1]) * (d == 2 ? c[2] : b[2]) * v;
    }
  }
}

__device__ static double Inverse(const double *J, double *Ji)
{
  double det;

  if (DIM == 2) {
    det   = J[0] * J[3] - J[1] * J[2];
    Ji[0] = J[3] / det, Ji[1] = -J[1] / det, Ji[2] = -J[2] / det, Ji[3] = J[0] / det;
    return det;
  }
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

      Ji[i * DIM + j] = J[a * DIM + c] * J[b * DIM + d] - J[a * DIM + d] * J[b * DIM + c];
    }
  det = J[0] * Ji[0] + J[1] * Ji[DIM] + J[2] * Ji[2 * DIM];
  for (int i = 0; i < DIM * DIM; i++) Ji[i] /= det;
  return det;
}

__device__ static double Weight(const HopsPointFunctionArgs &k, int q)
{
  return k.weights[q % k.Q] * k.weights[q / k.Q % k.Q] * (DIM == 3 ? k.weights[q / (k.Q * k.Q)] : 1.0);
}

/* is the basis of component c along direction d that of order - 1 (HopsLayout)? */
__device__ static bool IsOpen(int family, int c, int d)
{
  return family == L2 || (family == HCURL && c == d) || (family == HDIV && c != d);
}

/* The entries n[3] of component c, and the bases M[3] at all points */
__device__ static int Entries(const HopsPointFunctionArgs &k, int c, int *n, const double **M)
{
  for (int d = 0; d < 3; d++) {
    const bool open = IsOpen(k.family, c, d);

    n[d] = d < DIM ? (open ? k.order : k.order + 1) : 1;
    M[d] = k.basis[open];
  }
  return n[0] * n[1] * n[2];
}

extern "C" __global__ void HopsFunctionAtPoints(const HopsPointFunctionArgs k)
{
  const int nq = Power(k.Q);

  FOR_EACH(i, (size_t)k.n * nq)
  {
    const int cell = k.first + (int)(i / nq);
    double    x[DIM], *v = k.out + i * NC;

    MapAt(k, cell, (int)(i % nq), x, nullptr);
    for (int d = 0; d < DIM && k.x; d++) k.x[i * DIM + d] = x[d];
    if (FUNCTION(DIM, x, NC, v, k.ctx)) v[0] = nan(""); /* an error, which a device cannot raise, is seen */
    for (int c = 0; c < NC; c++)
      if (!(v[c] - v[c] == 0)) atomicMin(k.flags, cell);
  }
}

extern "C" __global__ void HopsFunctionVaries(const HopsPointFunctionArgs k)
{
  const size_t row = (size_t)Power(k.Q) * NC;

  FOR_EACH(i, k.n * row)
  if (k.out[i] != k.out[i / row * row + i % NC]) k.flags[1] = 1;
}

/* Of a right-hand side: weight times the reference components of the function, which reference basis
   functions meet */
extern "C" __global__ void HopsFunctionMoments(const HopsPointFunctionArgs k)
{
  const int nq = Power(k.Q);

  FOR_EACH(i, (size_t)k.n * nq)
  {
    const int     c = (int)(i / nq), q = (int)(i % nq);
    const double *v = k.out + i * NC, w = Weight(k, q);
    double        x[DIM], J[DIM * DIM], Ji[DIM * DIM], det;

    MapAt(k, k.first + c, q, x, J);
    det = Inverse(J, Ji);
    for (int a = 0; a < NC; a++) {
      double s = 0;

      if (k.family == H1) s = det * v[0];
      else if (k.family == L2) s = v[0];
      else
        for (int d = 0; d < DIM; d++) s += k.family == HCURL ? det * Ji[a * DIM + d] * v[d] : J[d * DIM + a] * v[d];
      k.moment[((size_t)c * NC + a) * nq + q] = w * s;
    }
  }
}

/* e[entry of a cell] */
extern "C" __global__ void HopsFunctionTest(const HopsPointFunctionArgs k)
{
  const int nq = Power(k.Q);

  FOR_EACH(t, (size_t)k.n * k.ne)
  {
    const int     c = (int)(t / k.ne);
    const double *M[3], *m;
    int           i = (int)(t % k.ne), a = 0, n[3], size;
    double        sum = 0;

    while (i >= (size = Entries(k, a, n, M))) i -= size, a++;
    m                = k.moment + ((size_t)c * NC + a) * nq;
    const double *M0 = M[0] + i % n[0], *M1 = M[1] + i / n[0] % n[1], *M2 = M[2] + i / (n[0] * n[1]);

    for (int z = 0; z < (DIM == 3 ? k.Q : 1); z++) {
      double s = 0;

      for (int y = 0; y < k.Q; y++) {
        double r = 0;

        for (int x = 0; x < k.Q; x++) r += M0[x * n[0]] * *m++;
        s += M1[y * n[1]] * r;
      }
      sum += (DIM == 3 ? M2[z * n[2]] : 1.0) * s;
    }
    k.e[(size_t)k.first * k.ne + t] = sum;
  }
}

extern "C" __global__ void HopsFunctionKeys(const HopsPointFunctionArgs k)
{
  FOR_EACH(i, (size_t)k.ncells * k.ne) k.key[i] = k.restr[i] < 0 ? -1 - k.restr[i] : k.restr[i];
}

/* what all cells have for an entry of the L-vector, in their order */
extern "C" __global__ void HopsFunctionSum(const HopsPointFunctionArgs k)
{
  FOR_EACH(l, k.nL)
  {
    double s = 0;

    for (int i = k.start[l]; i < k.start[l + 1]; i++) s += k.restr[k.entry[i]] < 0 ? -k.e[k.entry[i]] : k.e[k.entry[i]];
    if ((int)l < k.nT) k.y[l] = s;
    else k.yg[l - k.nT] = s;
  }
}

/* Of an error: e[] from the vectors */
extern "C" __global__ void HopsFunctionGather(const HopsPointFunctionArgs k)
{
  FOR_EACH(i, (size_t)k.ncells * k.ne)
  {
    const int    r = k.restr[i], l = r < 0 ? -1 - r : r;
    const double v = l < k.nT ? k.y[l] : k.yg[l - k.nT];

    k.e[i] = r < 0 ? -v : v;
  }
}

/* the square of the difference at a point, times its weight, to moment[cell - first][point] */
extern "C" __global__ void HopsFunctionDifference(const HopsPointFunctionArgs k)
{
  const int nq = Power(k.Q);

  FOR_EACH(i, (size_t)k.n * nq)
  {
    const int     c = (int)(i / nq), q = (int)(i % nq), at[3] = {q % k.Q, q / k.Q % k.Q, q / (k.Q * k.Q)};
    const double *v = k.out + i * NC, *e = k.e + (size_t)(k.first + c) * k.ne;
    double        x[DIM], J[DIM * DIM], Ji[DIM * DIM], det, ref[NC], sum = 0;

    MapAt(k, k.first + c, q, x, J);
    det = Inverse(J, Ji);
    for (int a = 0; a < NC; a++) {
      const double *M[3];
      int           n[3];

      Entries(k, a, n, M);
      ref[a] = 0;
      for (int z = 0; z < n[2]; z++) {
        double s = 0;

        for (int y = 0; y < n[1]; y++) {
          double r = 0;

          for (int j = 0; j < n[0]; j++) r += M[0][at[0] * n[0] + j] * *e++;
          s += M[1][at[1] * n[1] + y] * r;
        }
        ref[a] += (DIM == 3 ? M[2][at[2] * n[2] + z] : 1.0) * s;
      }
    }
    for (int d = 0; d < NC; d++) {
      double u = 0;

      if (k.family == H1) u = ref[0];
      else if (k.family == L2) u = ref[0] / det;
      else
        for (int a = 0; a < DIM; a++) u += k.family == HCURL ? Ji[a * DIM + d] * ref[a] : J[d * DIM + a] * ref[a] / det;
      sum += (u - v[d]) * (u - v[d]);
    }
    k.moment[i] = Weight(k, q) * det * sum;
  }
}

/* y[cell] */
extern "C" __global__ void HopsFunctionCells(const HopsPointFunctionArgs k)
{
  const int nq = Power(k.Q);

  FOR_EACH(c, k.n)
  {
    double s = 0;

    for (int q = 0; q < nq; q++) s += k.moment[c * nq + q];
    k.y[k.first + c] = s;
  }
}
