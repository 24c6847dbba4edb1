/*
  Throughput of MATPA on devices: a box of hexahedra (or quadrilaterals), unknowns numbered as the cells meet
  them, from T-vector to T-vector; beside the first device's copy bandwidth. CSV to standard output. On
  several ranks the box is cut in slabs.

    gpubench [-hops_backend cuda] [-fe <h1|nd|rt>] [-dim 3] [-dofs 7e6] [-orders 1,2,...] [-points 1,2]
    [-mass] [-repeat 20] [-lexicographic]
             [-geometry <curved|multilinear|affine>] [-lobatto] [-lock FILE]

  -fe nd and rt: curl-curl and mass with Nedelec, div-div and mass (-mass 0: without it) with Raviart-Thomas
  elements on a DMPLEX box with moved vertices, in PETSc's numbering. -dofs counts the unknowns of all ranks;
  -points are the Gauss points per direction beyond the order, or with -lobatto the Gauss-Lobatto points (one
  beyond the order: those of the nodes). Curved cells store their quadrature data; the others' geometry is
  recomputed, unless -mat_pa_geometry stored says otherwise. -lock: meshes are made beside those of other
  runs, and timed one at a time.

  Columns: order, points per direction, unknowns, seconds of set-up (the second one), seconds of an
  application (mean of -repeat), 1e9 unknowns per second; and on one rank with stored data, bytes that an
  application must move at least (quadrature data, indices, x read, y zeroed and added to), 1e9 bytes per
  second of these, and their fraction of the copy bandwidth.
*/
#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscdt.h>
#include <petscdevice.h>
#include <petsctime.h>
#include "benchlock.h"

enum {
  CURVED,
  MULTILINEAR,
  AFFINE
};
static const char *const Geometries[] = {"curved", "multilinear", "affine"};

enum {
  H1,
  ND,
  RT
};
static const char *const Elements[] = {"h1", "nd", "rt"};

typedef struct {
  PetscInt    fe, dim, repeat, geometry;
  PetscReal   dofs, bandwidth;
  PetscBool   mass, lex, lobatto;
  PetscMPIInt size, rank;
  int         lock; /* of rank 0, or -1 */
} Bench;

/* The position of a point r in [0,1]^dim of a cell of the box of n cells in each direction */
static void Map(const Bench *b, PetscInt n, const PetscInt cell[], const PetscReal r[], PetscReal x[])
{
  const PetscInt dim = b->dim;
  PetscReal      s   = 0.0;

  for (PetscInt d = 0; d < dim; ++d) {
    x[d] = (cell[d] + r[d]) / n;
    s += x[d];
  }
  if (b->geometry == CURVED)
    for (PetscInt d = 0; d < dim; ++d) x[d] += 0.05 * PetscSinReal(3.0 * s + d);
  else if (b->geometry == AFFINE)
    for (PetscInt d = 0; d < dim; ++d) x[d] += 0.1 * s;
  else
    for (PetscInt k = 0; k < 1 << dim; ++k) { /* vertices are moved by up to a tenth of a cell */
      PetscReal w = 0.1 / n, v = 0.0;

      for (PetscInt d = 0; d < dim; ++d) {
        w *= k >> d & 1 ? r[d] : 1.0 - r[d];
        v += (7 + 4 * d) * (cell[d] + (k >> d & 1));
      }
      for (PetscInt d = 0; d < dim; ++d) x[d] += w * PetscSinReal(v + 2 * d);
    }
}

/* Slabs of equal cells of order p. An upper interface belongs to the next rank, which numbers it first, plane
   order */
static PetscErrorCode BoxCreate(const Bench *b, PetscInt p, HopsSpace *space)
{
  const PetscInt dim = b->dim, P = p + 1, n = PetscMax(2, (PetscInt)(PetscPowReal(b->dofs, 1.0 / dim) / p + 0.5)), N = n * p + 1;
  const PetscInt z0 = n * b->rank / b->size, z1 = n * (b->rank + 1) / b->size, plane = PetscPowInt(N, dim - 1),
                 layer  = PetscPowInt(n, dim - 1);
  const PetscInt ncells = (z1 - z0) * layer, nn = PetscPowInt(P, dim), total = ((z1 - z0) * p + 1) * plane,
                 nowned = b->rank == b->size - 1 ? total : total - plane, start = z0 * p * plane;
  PetscInt  *nodes, *number, next = b->rank ? plane : 0;
  PetscReal *x, z[64], w[64];

  PetscFunctionBeginUser;
  z[0] = -1.0;
  z[p] = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  PetscCall(PetscMalloc3(ncells * nn, &nodes, ncells * nn * dim, &x, total, &number));
  for (PetscInt i = 0; i < total; ++i) number[i] = b->lex || (b->rank && i < plane) || i >= nowned ? i : -1;
  for (PetscInt c = 0; c < ncells; ++c) {
    const PetscInt ci[3] = {c % n, dim == 3 ? c / n % n : c / n, c / n / n};

    for (PetscInt i = 0; i < nn; ++i) {
      const PetscInt ii[3] = {i % P, i / P % P, i / P / P};
      PetscInt       g     = 0, cell[3];
      PetscReal      r[3];

      for (PetscInt d = dim - 1; d >= 0; --d) {
        g       = g * N + ci[d] * p + ii[d];
        r[d]    = 0.5 * (z[ii[d]] + 1.0);
        cell[d] = ci[d] + (d == dim - 1 ? z0 : 0);
      }
      Map(b, n, cell, r, x + (c * nn + i) * dim);
      if (number[g] < 0) number[g] = next++;
      nodes[c * nn + i] = start + number[g];
    }
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, dim, p, ncells, nowned, nodes, x, 0, NULL, space));
  PetscCall(PetscFree3(nodes, x, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nedelec or Raviart-Thomas elements on a box whose vertices are moved as those of curved cells */
static PetscErrorCode PlexCreate(const Bench *b, PetscInt p, HopsSpace *space)
{
  const PetscInt dim = b->dim, n = PetscMax(2, (PetscInt)(PetscPowReal(b->dofs / dim, 1.0 / dim) / p + 0.5)), faces[3] = {n, n, n},
                 cell[3] = {0, 0, 0};
  DM           dm;
  Vec          v;
  PetscScalar *x;
  PetscInt     size;

  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, PETSC_FALSE, faces, &dm));
  PetscCall(DMSetFromOptions(dm)); /* distributes */
  PetscCall(DMGetCoordinatesLocal(dm, &v));
  PetscCall(VecGetLocalSize(v, &size));
  PetscCall(VecGetArray(v, &x));
  for (PetscInt i = 0; i < size; i += dim) {
    PetscReal y[3];

    for (PetscInt d = 0; d < dim; ++d) y[d] = x[i + d];
    Map(b, 1, cell, y, x + i);
  }
  PetscCall(VecRestoreArray(v, &x));
  PetscCall(b->fe == ND ? HopsSpaceCreateHCurl(dm, p, NULL, 0, NULL, space) : HopsSpaceCreateHDiv(dm, p, NULL, 0, NULL, space));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The devices have finished */
static PetscErrorCode Wait(void)
{
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
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

static PetscErrorCode SetTerm(const Bench *b, Mat A, HopsCoefficient c)
{
  PetscFunctionBeginUser;
  PetscCall(b->fe == H1 ? MatPASetDiffusion(A, c) : (b->fe == ND ? MatPASetCurlCurl(A, c) : MatPASetDivDiv(A, c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a cell's quadrature data and indices */
static PetscReal CellBytes(const Bench *b, PetscInt p, PetscInt q)
{
  const PetscInt dim = b->dim, tensor = dim * (dim + 1) / 2;
  PetscInt       nd = tensor, nm = tensor, ne = PetscPowInt(p + 1, dim); /* values at a point, indices */

  if (b->fe == H1) nm = 1;
  else if (b->fe == RT || dim == 2) nd = 1;
  if (b->fe != H1) ne = dim * p * (p + 1) * (dim == 2 ? 1 : (b->fe == ND ? p + 1 : p));
  return PetscPowInt(q, dim) * (nd + (b->mass ? nm : 0)) * 8.0 + ne * 4.0;
}

static PetscErrorCode Run(Bench *b, HopsSpace space, PetscInt p, PetscInt q)
{
  HopsCoefficient c;
  PetscScalar     one = 1.0;
  PetscInt        n, ncells, N;
  PetscLogDouble  t0, t1, seconds;
  PetscReal       bytes;
  Mat             A;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetSizes(space, &n, &N));
  PetscCall(HopsSpaceGetNumCells(space, &ncells));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatCreatePA(space, &A));
  PetscCall(MatPASetQuadrature(A, q, b->lobatto));
  /* at order 1 cells are multilinear */
  if (b->geometry == CURVED && b->fe == H1) PetscCall(MatPASetGeometryType(A, MATPA_GEOMETRY_STORED));
  PetscCall(SetTerm(b, A, c));
  if (b->mass) PetscCall(MatPASetMass(A, c));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(SetTerm(b, A, c)); /* refill */
  PetscCall(Wait());
  PetscCall(PetscTime(&t0));
  PetscCall(MatMult(A, x, y));
  PetscCall(Wait());
  PetscCall(PetscTime(&t1));
  TIME(b->repeat, seconds, PetscCall(MatMult(A, x, y)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%.4f,%.6f,%.3f", p, q, N,
                        (double)(t1 - t0 - seconds), (double)seconds, (double)(N / seconds / 1e9)));
  bytes = ncells * CellBytes(b, p, q) + 32.0 * n;
  if (b->size == 1 && b->geometry == CURVED)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%.4g,%.1f,%.3f", (double)bytes, (double)(bytes / seconds / 1e9),
                          (double)(bytes / seconds / b->bandwidth)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench     b          = {.dim = 3, .repeat = 20, .dofs = 7e6};
  PetscInt  orders[32] = {1, 2, 3, 4, 5, 6, 7, 8}, n = 32, points[8] = {1, 2}, np = 8;
  PetscBool set;
  char      file[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &b.size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &b.rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &b.dim, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-geometry", Geometries, 3, &b.geometry, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-points", points, &np, &set));
  if (!set) np = 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &b.repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dofs", &b.dofs, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-fe", Elements, 3, &b.fe, NULL));
  b.mass = b.fe == H1 ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mass", &b.mass, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lexicographic", &b.lex, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lobatto", &b.lobatto, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  if (!set) n = 8;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-lock", file, sizeof(file), &set));
  PetscCall(BenchLockOpen(set ? file : NULL, &b.lock));
  for (PetscInt i = 0; i < n; ++i) {
    HopsSpace space;

    PetscCheck(orders[i] >= 1 && orders[i] < 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-orders are between 1 and 63");
    PetscCall(b.fe == H1 ? BoxCreate(&b, orders[i], &space) : PlexCreate(&b, orders[i], &space));
    PetscCall(BenchLock(b.lock, LOCK_EX));
    if (!i) {
      PetscCall(Copy(&b, space));
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD,
                    "# copy bandwidth %.1f GB/s\norder,points,unknowns,setup_s,apply_s,gdof_per_s,bytes,gb_per_s,fraction\n",
                    (double)(b.bandwidth / 1e9)));
    }
    for (PetscInt k = 0; k < np; ++k) PetscCall(Run(&b, space, orders[i], orders[i] + points[k]));
    PetscCall(HopsSpaceDestroy(&space));
    PetscCall(BenchLock(b.lock, LOCK_UN));
  }
  PetscCall(PetscFinalize());
  return 0;
}
