/*
  Smoothing sweeps of the vertex-patch smoother on a device: a uniform box, every stage, order and precision,
  as CSV.

    -dim 2,3 -orders 1,...,8 -dofs 1e8 -repeat 5 -single 0,1 -kinds modal,free,... -check

  With -repeat 0 -colors 2 the first two colours alone are done, once, and no line printed: few launches of
  each kernel, for a profiler (bench/patchprofile). -fetch 32, 64 or 128 asks the L2 cache to fetch no more
  bytes than that at once (CUDA's default is 64).

  Columns: unknowns inside; seconds of a sweep over all colours (the least of -repeat); 10^9 unknowns/s; flops
  done; 10^12 flop/s and their share of the vector units' peak at the highest clock; standard_tflops: the same
  with the flops of a full residual and a plain fast diagonalisation (3D 14 N^4 + 12 n^4 + n^3 a patch, 2D 8
  N^3 + 8 n^3 + n^2, N = 2p+1, n = 2p-1); least bytes of a launch for each colour and their share of the
  measured copy bandwidth; bytes that pass between shared memory and registers and their share of 128 bytes a
  clock and multiprocessor.
*/
#include <petscsys.h>

#if defined(PETSC_HAVE_CUDA)
  #include "cuda/devicecopy.h"
  #include "cuda/patchbox.h"

typedef struct {
  PetscReal dofs, copy, peak[2], shared; /* bytes/s; flop/s in double and single precision; bytes/s */
  PetscInt  repeat, colors;              /* colours of a sweep at most */
} Bench;

/* Flops, least bytes of device memory, and bytes of shared memory of a sweep */
static void Count(const Box *box, BoxKind kind, PetscReal *flops, PetscReal *bytes, PetscReal *shared)
{
  const PetscReal p = box->p, n = 2 * p - 1, N = 2 * p + 1, Q = p + 1, shares = 1.0 / box->modal->row, size = box->single ? 4 : 8,
                  in = PetscPowReal(n, box->dim), all = PetscPowReal(N, box->dim), touched = PetscPowReal(2 * p, box->dim);
  PetscReal np = 1, nc = PetscPowInt(2, (int)box->dim), res, solve, cell, products;

  for (PetscInt a = 0; a < box->dim; ++a) {
    np *= box->ncells[a] - 1;
    nc *= box->ncells[a]; /* cells times colours */
  }
  if (kind == BOX_MODAL) {
    *flops  = box->modal->flops;
    *bytes  = box->modal->bytes; /* of a launch a colour; walks, which take two colours, need fewer */
    *shared = box->p == 1
                ? 0.0
                : np * size *
                    (box->dim == 3 ? 10 * in + 2 * (1 + shares) * n * N + 4 * n * (n + 1 + shares) + 4 * n * N + 10 * n * n
                                   : 5 * in + 6 * n);
    /* the first colours' p of n modes; without the copies of faces, some 10%, and with all lines of patches
       whose middle planes are enough, a tenth too many */
    if (box->modal->walks) *shared *= (1 + p / n) / 2;
    return;
  }
  res   = box->dim == 3 ? 10 * N * N * N * N + 4 * N * in : 8 * N * N * N + in;
  solve = 4 * box->dim * n * in + 2 * in;
  cell  = box->dim == 3 ? 14 * Q * Q * Q * Q : 8 * Q * Q * Q;
  /* each multiplication reads two numbers, each product writes its result */
  products = box->dim == 3 ? 5 * all + in + 6 * in : 4 * all + 4 * in;
  switch (kind) {
  case BOX_GLOBAL:
    *flops  = np * solve + nc * (cell + PetscPowReal(Q, box->dim));
    *bytes  = size * (np * 3 * in + PetscPowInt(2, (int)box->dim) * 5.0 * box->nnodes); /* r <- b; r -= A x; r and x in, x out */
    *shared = size * (np * (solve + 2 * box->dim * in) + nc * (cell + (box->dim == 3 ? 8 : 5) * PetscPowReal(Q, box->dim)));
    break;
  case BOX_SEPARATE:
  case BOX_SEPARATEFREE:
    *flops  = np * (res + solve);
    *bytes  = size * np * (touched + 5 * in); /* x and b in, r out; r and x in, x out */
    *shared = size * np * (res + solve + products);
    break;
  case BOX_BOUNDARY:
    res      = box->dim == 3 ? 8 * N * N * n + 20 * n * n * N + 56 * in : 8 * n * N + 24 * in;
    products = box->dim == 3 ? 4 * n * N + 20 * n * n + 7 * in : 8 * n + 5 * in;
    *flops   = np * (res + solve - in);    /* nothing is added to x */
    *bytes   = size * np * (touched + in); /* x around the inside and b in, x out */
    *shared  = size * np * (res + solve + products);
    break;
  default:
    *flops  = np * (res + solve);
    *bytes  = size * np * (touched + 2 * in);
    *shared = size * np * (res + solve + products);
  }
}

static PetscErrorCode Run(Bench *bench, Box *box, BoxKind kind)
{
  const PetscInt  ncolors = PetscMin(bench->colors, 1 << box->dim);
  const PetscReal p = box->p, n = 2 * p - 1, N = 2 * p + 1;
  PetscReal       flops, bytes, shared, dofs = 1, np = 1, s, std;
  cudaEvent_t     begin, end;
  float           ms, best = 1e9;
  PetscBool       ok;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaEventCreate(&begin));
  PetscCallCUDA(cudaEventCreate(&end));
  for (PetscInt i = 0; i <= bench->repeat; ++i) { /* the first one warms up */
    PetscCallCUDA(cudaEventRecord(begin, 0));
    PetscCall(BoxSweep(box, kind, 0, ncolors, PETSC_FALSE, &ok));
    if (!ok) break;
    PetscCallCUDA(cudaEventRecord(end, 0));
    PetscCallCUDA(cudaEventSynchronize(end));
    PetscCallCUDA(cudaEventElapsedTime(&ms, begin, end));
    if (i) best = PetscMin(best, ms);
  }
  PetscCallCUDA(cudaEventDestroy(begin));
  PetscCallCUDA(cudaEventDestroy(end));
  if (!ok || !bench->repeat) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt a = 0; a < box->dim; ++a) {
    dofs *= box->ncells[a] * p - 1;
    np *= box->ncells[a] - 1;
  }
  Count(box, kind, &flops, &bytes, &shared);
  s   = best * 1e-3;
  std = np * (box->dim == 3 ? 14 * N * N * N * N + 12 * n * n * n * n + n * n * n : 8 * N * N * N + 8 * n * n * n + n * n);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d,%d,%s,%s,%.0f,%.6f,%.3f,%.4g,%.3f,%.3f,%.3f,%.4g,%.3f,%.4g,%.3f\n", (int)box->dim,
                        (int)box->p, box->single ? "single" : "double", BoxKinds[kind], (double)dofs, (double)s,
                        (double)(dofs / s * 1e-9), (double)flops, (double)(flops / s * 1e-12),
                        (double)(flops / s / bench->peak[box->single ? 1 : 0]), (double)(std / s * 1e-12), (double)bytes,
                        (double)(bytes / s / bench->copy), (double)shared, (double)(shared / s / bench->shared)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random values everywhere: a random piece again and again */
static PetscErrorCode Fill(Box *box)
{
  const PetscInt n    = 1 << 20;
  const size_t   size = box->single ? 4 : 8;
  PetscReal     *h;
  void          *d = NULL;
  PetscRandom    rand;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &h));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, -1.0, 1.0));
  for (PetscInt i = 0; i < n; ++i) PetscCall(PetscRandomGetValueReal(rand, &h[i]));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(BoxCopy(box, n, h, &d));
  for (PetscInt64 i = 0; i < box->nnodes; i += n) {
    const size_t m = (size_t)PetscMin(n, box->nnodes - i) * size;

    PetscCallCUDA(cudaMemcpy((char *)box->x + i * size, d, m, cudaMemcpyDeviceToDevice));
    PetscCallCUDA(cudaMemcpy((char *)box->b + i * size, d, m, cudaMemcpyDeviceToDevice));
  }
  PetscCallCUDA(cudaFree(d));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench    b     = {.dofs = 1e8, .repeat = 5, .colors = 8};
  PetscInt fetch = 0, dims[2] = {2, 3}, ndims = 2, orders[8] = {1, 2, 3, 4, 5, 6, 7, 8}, norders = 8, single[2] = {0, 1},
           nsingle = 2, nkinds = BOX_NKINDS;
  char     *kinds[BOX_NKINDS];
  int       sms, clock;
  PetscBool set[4], check = PETSC_FALSE, use[BOX_NKINDS];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dim", dims, &ndims, &set[0]));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &norders, &set[1]));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-single", single, &nsingle, &set[2]));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-kinds", kinds, &nkinds, &set[3]));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &b.dofs, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &b.repeat, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-colors", &b.colors, NULL));
  PetscCheck(b.colors >= 8 || !b.repeat, PETSC_COMM_SELF, PETSC_ERR_USER, "A sweep over some colours is not timed: add -repeat 0");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fetch", &fetch, NULL));
  if (fetch) PetscCallCUDA(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, (size_t)fetch));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check", &check, NULL));
  if (!set[0]) ndims = 2;
  if (!set[1]) norders = 8;
  if (!set[2]) nsingle = 2;
  for (PetscInt k = 0; k < BOX_NKINDS; ++k) {
    use[k] = set[3] ? PETSC_FALSE : PETSC_TRUE;
    for (PetscInt i = 0; set[3] && i < nkinds; ++i) {
      PetscBool same;

      PetscCall(PetscStrcmp(kinds[i], BoxKinds[k], &same));
      if (same) use[k] = PETSC_TRUE;
    }
  }
  if (set[3])
    for (PetscInt i = 0; i < nkinds; ++i) PetscCall(PetscFree(kinds[i]));
  PetscCallCUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  PetscCallCUDA(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
  b.peak[0] = 2.0 * 64 * sms * clock * 1e3; /* compute capabilities 8.0, 9.0 */
  b.peak[1] = 2 * b.peak[0];
  b.shared  = 128.0 * sms * clock * 1e3;
  PetscCall(DeviceCopy(&b.copy));
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF,
                "# %d multiprocessors, %.3f GHz at most, peak %.1f and %.1f TFLOP/s, shared memory %.1f TB/s, copy %.3f TB/s\n",
                sms, clock * 1e-6, (double)(b.peak[0] * 1e-12), (double)(b.peak[1] * 1e-12), (double)(b.shared * 1e-12),
                (double)(b.copy * 1e-12)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "dim,order,precision,kind,unknowns,seconds,gdof_per_s,flops,tflops,of_peak,standard_"
                                         "tflops,bytes,of_copy,shared_bytes,of_shared\n"));
  for (PetscInt i = 0; i < ndims; ++i)
    for (PetscInt s = 0; s < nsingle; ++s)
      for (PetscInt o = 0; o < norders; ++o) {
        const PetscInt n = PetscMax(3, (PetscInt)(PetscPowReal(b.dofs, 1.0 / dims[i]) / orders[o] + 0.5)), ncells[3] = {n, n, n},
                       small[3] = {4, 3, 3};
        PetscBool ok            = PETSC_FALSE;
        PetscReal error;
        Box       box;

        if (check) PetscCall(BoxCreate(dims[i], orders[o], small, 0.7, single[s] ? PETSC_TRUE : PETSC_FALSE, &box));
        for (PetscInt k = 0; check && k < BOX_NKINDS; ++k) {
          if (!use[k]) continue;
          PetscCall(BoxCompare(&box, (BoxKind)k, PETSC_FALSE, &ok, &error));
          PetscCheck(!ok || error < (single[s] ? 1e-5 : 1e-12), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s, order %d, differs from the reference by %g", BoxKinds[k], (int)orders[o], (double)error);
        }
        if (check) PetscCall(BoxDestroy(&box));
        PetscCall(BoxCreate(dims[i], orders[o], ncells, 0.0, single[s] ? PETSC_TRUE : PETSC_FALSE, &box));
        PetscCall(Fill(&box));
        for (PetscInt k = 0; k < BOX_NKINDS; ++k)
          if (use[k]) PetscCall(Run(&b, &box, (BoxKind)k));
        PetscCall(BoxDestroy(&box));
      }
  PetscCall(PetscFinalize());
  return 0;
}
#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif
