/*
  Throughput of MATPA on a device: a box of hexahedra (or quadrilaterals), unknowns numbered as the cells meet them, from
  T-vector to T-vector on one rank; beside the device's copy bandwidth. CSV to standard output.

    gpubench [-hops_backend cuda] [-dim 3] [-dofs 7e6] [-orders 1,2,...] [-mass] [-repeat 20] [-lexicographic]

  Columns: order, points per direction, unknowns, seconds of set-up (the second one), seconds of an application (mean of
  -repeat), 1e9 unknowns per second, bytes that an application must move at least (quadrature data, indices, x read, y zeroed
  and added to), 1e9 bytes per second of these, and their fraction of the copy bandwidth.
*/
#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscdt.h>
#include <petscdevice.h>
#include <petsctime.h>

typedef struct {
  PetscInt  dim, repeat;
  PetscReal dofs, bandwidth;
  PetscBool mass, lex;
} Bench;

/* Equal cells of order p on the unit box; nodes of the cells are moved a little, so that no geometry factor is zero */
static PetscErrorCode BoxCreate(const Bench *b, PetscInt p, HopsSpace *space)
{
  const PetscInt dim = b->dim, P = p + 1, n = PetscMax(2, (PetscInt)(PetscPowReal(b->dofs, 1.0 / dim) / p + 0.5)), N = n * p + 1;
  const PetscInt ncells = PetscPowInt(n, dim), nn = PetscPowInt(P, dim), total = PetscPowInt(N, dim);
  PetscInt      *nodes, *number, next                                          = 0;
  PetscReal     *x, z[64], w[64];

  PetscFunctionBeginUser;
  z[0] = -1.0;
  z[p] = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  PetscCall(PetscMalloc3(ncells * nn, &nodes, ncells * nn * dim, &x, total, &number));
  for (PetscInt i = 0; i < total; ++i) number[i] = b->lex ? i : -1;
  for (PetscInt c = 0; c < ncells; ++c) {
    const PetscInt ci[3] = {c % n, c / n % n, c / n / n};

    for (PetscInt i = 0; i < nn; ++i) {
      const PetscInt ii[3] = {i % P, i / P % P, i / P / P};
      PetscInt       g     = 0;
      PetscReal     *xi = x + (c * nn + i) * dim, s = 0.0;

      for (PetscInt d = dim - 1; d >= 0; --d) {
        g     = g * N + ci[d] * p + ii[d];
        xi[d] = (ci[d] + 0.5 * (z[ii[d]] + 1.0)) / n;
        s += xi[d];
      }
      for (PetscInt d = 0; d < dim; ++d) xi[d] += 0.05 * PetscSinReal(3.0 * s + d);
      if (number[g] < 0) number[g] = next++;
      nodes[c * nn + i] = number[g];
    }
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, dim, p, ncells, total, nodes, x, 0, NULL, space));
  PetscCall(PetscFree3(nodes, x, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device has finished */
static PetscErrorCode Wait(void)
{
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of a call: the mean of n calls, after one that warms up */
#define TIME(n, seconds, call) \
  do { \
    PetscLogDouble t0_, t1_; \
    call; \
    PetscCall(Wait()); \
    PetscCall(PetscTime(&t0_)); \
    for (PetscInt i_ = 0; i_ < (n); ++i_) call; \
    PetscCall(Wait()); \
    PetscCall(PetscTime(&t1_)); \
    seconds = (t1_ - t0_) / (n); \
  } while (0)

/* Bytes read and written per second by a copy of 1 GB */
static PetscErrorCode Copy(Bench *b, HopsSpace space)
{
  const PetscInt n = 1 << 27;
  Vec            small, x, y;
  VecType        type;
  PetscLogDouble seconds;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(space, &small));
  PetscCall(VecGetType(small, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetType(x, type));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1.0));
  TIME(b->repeat, seconds, PetscCall(VecCopy(x, y)));
  b->bandwidth = 16.0 * n / seconds;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&small));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Bench *b, HopsSpace space, PetscInt p, PetscInt q)
{
  HopsCoefficient c;
  PetscScalar     one = 1.0;
  PetscInt        n, ncells;
  PetscLogDouble  t0, t1, seconds;
  PetscReal       bytes;
  Mat             A;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetSizes(space, &n, NULL));
  PetscCall(HopsSpaceGetNumCells(space, &ncells));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &c));
  PetscCall(MatCreatePA(space, &A));
  PetscCall(MatPASetQuadrature(A, q, PETSC_FALSE));
  PetscCall(MatPASetDiffusion(A, c));
  if (b->mass) PetscCall(MatPASetMass(A, c));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatPASetDiffusion(A, c)); /* refill */
  PetscCall(Wait());
  PetscCall(PetscTime(&t0));
  PetscCall(MatMult(A, x, y));
  PetscCall(Wait());
  PetscCall(PetscTime(&t1));
  TIME(b->repeat, seconds, PetscCall(MatMult(A, x, y)));
  bytes = (PetscReal)ncells * (PetscPowInt(q, b->dim) * (b->dim * (b->dim + 1) / 2 + (b->mass ? 1 : 0)) * 8.0 + PetscPowInt(p + 1, b->dim) * 4.0) + 32.0 * n;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%.4f,%.6f,%.3f,%.4g,%.1f,%.3f\n", p, q, n, (double)(t1 - t0 - seconds), (double)seconds, (double)(n / seconds / 1e9), (double)bytes, (double)(bytes / seconds / 1e9), (double)(bytes / seconds / b->bandwidth)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench     b          = {3, 20, 7e6, 0, PETSC_FALSE, PETSC_FALSE};
  PetscInt  orders[32] = {1, 2, 3, 4, 5, 6, 7, 8}, n = 32;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &b.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &b.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &b.dofs, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mass", &b.mass, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lexicographic", &b.lex, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 8;
  for (PetscInt i = 0; i < n; ++i) {
    HopsSpace space;

    PetscCheck(orders[i] >= 1 && orders[i] < 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-orders are between 1 and 63");
    PetscCall(BoxCreate(&b, orders[i], &space));
    if (!i) {
      PetscCall(Copy(&b, space));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "# copy bandwidth %.1f GB/s\norder,points,unknowns,setup_s,apply_s,gdof_per_s,bytes,gb_per_s,fraction\n", (double)(b.bandwidth / 1e9)));
    }
    for (PetscInt q = orders[i] + 1; q <= orders[i] + 2; ++q) PetscCall(Run(&b, space, orders[i], q));
    PetscCall(HopsSpaceDestroy(&space));
  }
  PetscCall(PetscFinalize());
  return 0;
}
