/*
  Micro-benchmark of the host kernels on one core: partial-assembly apply and set-up, low-order-refined fill;
  beside the machine's stream bandwidth and peak of multiply-adds, hence the fraction of the roofline
  min(peak, bandwidth x intensity).

  It calls the internals of the library, so it must be linked with the library's objects (makefile), not with
  libhops.so.

    kernelbench [-dim 3] [-dofs 2e6] [-orders 1,2,...] [-curved] [-lexicographic] [-repeat 5] [-hops_host_isa
    base|avx2|avx512]
*/
#include <hops/private/hopsformimpl.h>
#include <hops/private/hopslorrowsimpl.h>
#include <petsctime.h>

#pragma weak HopsBackendHost
#pragma weak HopsBasisCreate
#pragma weak HopsBasisDestroy
#pragma weak HopsGLL

typedef struct {
  struct _p_HopsSpace space;
  int                 n;    /* cells per direction */
  int                *perm; /* lexicographic grid number -> L-vector index */
} Box;

typedef struct {
  PetscInt  dim, repeat;
  PetscReal dofs;
  PetscBool curved, lex;
  double    bandwidth, peak; /* measured: bytes/s, flop/s */
} Bench;

static PetscErrorCode BoxDestroy(Box *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(b->space.restr, b->space.X));
  PetscCall(PetscFree(b->perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number the unknowns as cells meet them (as HopsSpace does), or leave them lexicographic */
static PetscErrorCode BoxNumber(Box *b, PetscBool lex)
{
  const PetscInt total = b->space.ncells * PetscPowInt((PetscInt)b->space.order + 1, b->space.dim);
  int           *r = b->space.restr, next = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->space.nL, &b->perm));
  for (PetscInt i = 0; i < b->space.nL; i++) b->perm[i] = lex ? (int)i : -1;
  for (PetscInt i = 0; i < total; i++) {
    if (b->perm[r[i]] < 0) b->perm[r[i]] = next++;
    r[i] = b->perm[r[i]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The unit square or cube; curved: sines in all coordinates, element maps of order 2 */
static PetscErrorCode BoxCreate(const Bench *bench, int p, Box *b)
{
  struct _p_HopsSpace *s   = &b->space;
  const int            dim = (int)bench->dim, P = p + 1, g = bench->curved ? 3 : 2,
            n  = PetscMax(2, (int)(PetscPowReal(bench->dofs, 1. / dim) / p + 0.999));
  const int nn = (int)PetscPowInt(P, dim), ng = (int)PetscPowInt(g, dim), N = n * p + 1;
  PetscReal x[3], gx[3], gw[3];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  b->n      = n;
  s->dim    = dim;
  s->order  = p;
  s->gorder = g - 1;
  s->ne     = nn;
  s->ncells = s->ninterior = PetscPowInt(n, dim);
  s->nT = s->nL = s->N = PetscPowInt(N, dim);
  PetscCall(PetscMalloc2(s->ncells * nn, &s->restr, s->ncells * dim * ng, &s->X));
  PetscCall(HopsGLL(g, gx, gw));
  for (int c = 0; c < s->ncells; c++) {
    const int ci[3] = {c % n, c / n % n, c / n / n};

    for (int i = 0; i < nn; i++)
      s->restr[c * nn + i] = ci[0] * p + i % P + N * (ci[1] * p + i / P % P + (dim == 3 ? N * (ci[2] * p + i / P / P) : 0));
    for (int i = 0; i < ng; i++) {
      const int gi[3] = {i % g, i / g % g, i / g / g};

      for (int d = 0; d < 3; d++) x[d] = d < dim ? (ci[d] + (gx[gi[d]] + 1) / 2) / n : 0;
      for (int d = 0; d < dim; d++)
        s->X[(c * dim + d) * ng + i] = x[d] + (bench->curved ? 0.05 * PetscSinReal(3 * (x[0] + x[1] + x[2]) + d) : 0);
    }
  }
  PetscCall(BoxNumber(b, bench->lex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CompareDouble(const void *a, const void *b)
{
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Best of three medians, which a noisy machine disturbs least */
#define TIME(bench, seconds, call) \
  do { \
    seconds = PETSC_MAX_REAL; \
    for (int i_ = 0; i_ < 3; i_++) { \
      double t_[64]; \
      for (int j_ = 0; j_ < (bench)->repeat; j_++) { \
        PetscLogDouble t0_, t1_; \
        PetscCall(PetscTime(&t0_)); \
        call; \
        PetscCall(PetscTime(&t1_)); \
        t_[j_] = t1_ - t0_; \
      } \
      qsort(t_, (bench)->repeat, sizeof(double), CompareDouble); \
      seconds = PetscMin(seconds, t_[(bench)->repeat / 2]); \
    } \
  } while (0)

/* a = b + s c on arrays far larger than the caches: three streams, the write counted once (the usual stream
   figure) */
static PetscErrorCode Triad(Bench *bench)
{
  const size_t n = (size_t)1 << 25;
  double      *a, *b, *c, seconds;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &a, n, &b, n, &c));
  for (size_t i = 0; i < n; i++) a[i] = b[i] = c[i] = 1;
  TIME(bench, seconds, {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
    __asm__ volatile("" ::"r"(a) : "memory");
  });
  bench->bandwidth = 24. * n / seconds;
  PetscCall(PetscFree3(a, b, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PEAK(name, attribute, width) \
  attribute static double name(long n) \
  { \
    typedef double vec __attribute__((vector_size(8 * width))); \
    vec            m = {0}, a, b, c, d, e, f, g, h, i, j; \
    m += 0.999; \
    a = b = c = d = e = f = g = h = i = j = m; \
    for (long k = 0; k < n; k++) { \
      __asm__ volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i), "+v"(j)); \
      a = a * m + m, b = b * m + m, c = c * m + m, d = d * m + m, e = e * m + m; \
      f = f * m + m, g = g * m + m, h = h * m + m, i = i * m + m, j = j * m + m; \
    } \
    a += b + c + d + e + f + g + h + i + j; \
    return a[0]; \
  }
#if defined(__x86_64__)
PEAK(Peak512, __attribute__((target("avx512f"))), 8)
PEAK(Peak256, __attribute__((target("avx2,fma"))), 4)
#endif
PEAK(PeakBase, , 2)

/* Multiply-adds on 10 independent registers */
static PetscErrorCode Peak(Bench *bench)
{
  const long n          = 2000000;
  double (*f)(long)     = PeakBase;
  double          width = 2, seconds;
  volatile double sink  = 0;

  PetscFunctionBegin;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    f     = Peak512;
    width = 8;
  } else if (__builtin_cpu_supports("avx2")) {
    f     = Peak256;
    width = 4;
  }
#endif
  TIME(bench, seconds, sink += f(n));
  (void)sink;
  bench->peak = 20. * width * n / seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchPA(const Bench *bench, Box *box, int Q, PetscBool mass)
{
  const PetscScalar one   = 1;
  const HopsValues  value = {.nc = 1, .v = &one};
  HopsSpace         s     = &box->space;
  HopsIntegral      in[2] = {{.test = HOPS_GRADIENT, .trial = HOPS_GRADIENT}, {.test = HOPS_VALUE, .trial = HOPS_VALUE}};
  struct _HopsForm  form  = {.space = s, .n = mass ? 2 : 1, .integral = in};
  HopsCoefficient   cf;
  HopsOperator      k;
  HopsBasis         basis;
  PetscInt          bad;
  PetscReal         det;
  PetscScalar      *x, *y;
  double            ts, ta, td, flops, moved, roof;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(s->order + 1, Q, PETSC_FALSE, &basis));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &cf));
  in[0].coefficient = in[1].coefficient = cf;
  PetscCall(HopsBackendHost.OperatorCreate(&form, &basis, &k));
  TIME(bench, ts, PetscCall((*k->ops->SetUp)(k, 0, s->ncells, &value, &value, &bad, &det)));
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Inverted cell");
  PetscCall(PetscMalloc2(s->nL, &x, s->nL, &y));
  for (PetscInt i = 0; i < s->nL; i++) x[i] = y[i] = i % 7;
  TIME(bench, ta, for (int part = 0; part < 3; part++) PetscCall((*k->ops->Apply)(k, (HopsPart)part, x, x, y, y)));
  td = 0;
  if (s->order <= 8) TIME(bench, td, PetscCall((*k->ops->Diagonal)(k, y, y)));
  flops = k->info.flops;
  moved = k->info.bytes + 24. * s->nL; /* x read, y read and written */
  roof  = PetscMin(bench->peak, bench->bandwidth * flops / moved);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-22s %-9s %7.2f %7.1f %7.1f %7.1f %6.2f %7.1f %7.1f\n", k->info.name,
                        mass ? "diff+mass" : "diff", s->nL / 1e6, s->nL / ta / 1e6, flops / ta / 1e9, moved / ta / 1e9,
                        flops / ta / roof, s->nL / ts / 1e6, td > 0 ? s->nL / td / 1e6 : 0));
  PetscCall(PetscFree2(x, y));
  PetscCall((*k->ops->Destroy)(&k));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsBasisDestroy(&basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchLOR(const Bench *bench, Box *box)
{
  const PetscScalar one   = 1;
  const HopsValues  value = {.nc = 1, .v = &one};
  HopsSpace         s     = &box->space;
  HopsLORRows       rows = {.n = s->nT, .split = INT_MAX, .sorted = PETSC_TRUE, .before = 1}, ghosts = {0};
  HopsLORVertexData data = NULL;
  HopsLORAssembler  k;
  HopsBasis         gll;
  PetscInt          bad;
  PetscScalar      *vals;
  PetscBool         covered;
  double            tv, tp, tf;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate((PetscInt)s->order + 1, (PetscInt)s->order + 1, PETSC_TRUE, &gll));
  PetscCall(HopsBackendHost.LORCreate(s, &gll, &k));
  TIME(bench, tv, PetscCall((*k->ops->VertexData)(k, 0, s->ncells, &value, &value, PETSC_TRUE, 1e-10, 0, &data, &bad)));
  PetscCall(PetscMalloc1(s->nT + 1, &rows.i[0]));
  TIME(bench, tp, {
    PetscCall((*k->ops->CompareMasks)(k, data, PETSC_TRUE, &covered, &rows.coupled));
    PetscCall((*k->ops->CountRows)(k, &rows));
    PetscCall(PetscFree(rows.j[0]));
    PetscCall(PetscMalloc1(rows.nnz[0], &rows.j[0]));
    PetscCall((*k->ops->FillColumns)(k, &rows, NULL));
  });
  PetscCall(PetscMalloc1(rows.before + rows.nnz[0], &vals));
  rows.v[0] = vals + rows.before;
  TIME(bench, tf, PetscCall((*k->ops->FillValues)(k, data, &rows, &ghosts)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "lor %-18s %.1f/row  %7.2f; Mdof/s: vertex data %7.1f, pattern %7.1f, values %7.1f\n",
                        k->kernel, (double)rows.nnz[0] / (double)s->nT, s->nL / 1e6, s->nL / tv / 1e6, s->nL / tp / 1e6,
                        s->nL / tf / 1e6));
  PetscCall((*k->ops->VertexDestroy)(k, &data));
  PetscCall(PetscFree(rows.i[0]));
  PetscCall(PetscFree(rows.j[0]));
  PetscCall(PetscFree(vals));
  PetscCall((*k->ops->Destroy)(&k));
  PetscCall(HopsBasisDestroy(&gll));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench     bench      = {3, 5, 2e6, PETSC_FALSE, PETSC_FALSE, 0, 0};
  PetscInt  orders[16] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12}, n = 16;
  PetscBool set, lor = PETSC_TRUE, pa = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCheck(HopsBasisCreate != NULL, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This program needs the internals of hops: link it with the library's objects instead of -lhops");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &bench.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &bench.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &bench.dofs, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &bench.curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lexicographic", &bench.lex, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lor", &lor, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pa", &pa, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 10;
  bench.repeat = PetscMax(1, PetscMin(bench.repeat, 64));
  PetscCall(Triad(&bench));
  PetscCall(Peak(&bench));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "one core: triad %.1f GB/s, multiply-adds %.1f GFLOP/s\n", bench.bandwidth / 1e9,
                        bench.peak / 1e9));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-22s %-9s %7s %7s %7s %7s %6s %7s %7s\n", "kernel", "terms", "Mdof", "Mdof/s", "GFLOP/s",
                        "GB/s", "roof", "set-up", "diag"));
  for (PetscInt i = 0; i < n; i++) {
    const int p = (int)orders[i];
    Box       box;

    PetscCall(BoxCreate(&bench, p, &box));
    for (int dq = 1; dq <= 2 && pa; dq++)
      for (int mass = 0; mass < 2; mass++) PetscCall(BenchPA(&bench, &box, p + dq, (PetscBool)mass));
    if (lor) PetscCall(BenchLOR(&bench, &box));
    PetscCall(BoxDestroy(&box));
  }
  PetscCall(PetscFinalize());
  return 0;
}
