/*
  MATPA beside libCEED: the same operator on the same box of hexahedra as gpubench's, with the same index
  lists, Gauss points and vectors, in one process; from L-vector to L-vector, which here is the T-vector (one
  rank, no essential unknowns). Batches of applications of the two take turns.

    make libceedbench LIBCEED_DIR=<prefix of libCEED>
    libceedbench [-hops_backend cuda] [-ceed /gpu/cuda/gen] [-dofs 7e6] [-orders 1,2,...] [-points 1,2]
    [-mass] [-lexicographic]
                 [-geometry <curved|affine>] [-repeat 20] [-batches 3] [-csv FILE] [-lock FILE] [-jit_root
                 DIR] [-mat_pa_geometry ...]

  Options: see -help; those of gpubench mean the same here. Both store their quadrature data, six numbers a
  point and a seventh with -mass, whatever the cells, unless -mat_pa_geometry lets hops recompute them.
  libCEED's are computed by an operator of its own from the coordinates of the nodes, so hops' geometry is
  checked too.

  Columns: order, points per direction, unknowns; seconds of an application, the mean of -repeat and of such
  means the smallest of -batches, of hops and of libCEED; 1e9 unknowns per second of each; libCEED's seconds
  by hops'; the difference of the results by that of hops, in the 2-norm: more than 1e-11 is an error.

  With CEED_DEBUG=1 in the environment libCEED tells when /gpu/cuda/gen falls back to its slower kernels,
  among much else.
*/
static char help[] = "Throughput of MATPA and of libCEED, the same operator on the same hexahedra. Prints CSV:\n\
order, points per direction, unknowns, seconds of hops and of libCEED, GDoF/s of each, ratio of the seconds, relative difference\n\
  of the results.\n\n";

#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscdt.h>
#include <petsctime.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif
#include "../benchlock.h"
#include <ceed.h>
#include <unistd.h>
#include <libceedbench.h> /* not "": its place is then the absolute one of -I, where libCEED finds it at run time */

#define TOLERANCE 1e-11

enum {
  CURVED,
  AFFINE
};
static const char *const Geometries[] = {"curved", "affine"};

typedef struct {
  PetscInt  repeat, batches, geometry;
  PetscReal dofs;
  PetscBool mass, lex, stored, device;
  char      root[PETSC_MAX_PATH_LEN]; /* -jit_root, or empty */
  Ceed      ceed;
  FILE     *csv;
  int       lock; /* or -1 */
} Bench;

/* The box for an order: index lists and coordinates as libCEED reads them (until the program destroys them),
   and hops' space */
typedef struct {
  PetscInt    p, ncells, total;
  CeedInt    *offsets; /* [ncells][(p+1)^3] */
  CeedScalar *coords;  /* [3][total] */
  HopsSpace   space;
} Box;

/* What is compared */
typedef struct {
  const Bench *b;
  Mat          A;
  Vec          x, y; /* y = A x */
  CeedOperator op;
  CeedVector   u, v; /* v = op u */
} Pair;

/* An error of libCEED as one of PETSC_ERR_LIB */
#define CallCeed(b, ...) \
  do { \
    const int ierr_ceed_ = __VA_ARGS__; \
    if (PetscUnlikely(ierr_ceed_)) { \
      const char *message_ = NULL; \
\
      (void)CeedGetErrorMessage((b)->ceed, &message_); \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "libCEED's error %d: %s", ierr_ceed_, message_ ? message_ : "no message"); \
    } \
  } while (0)

/* gpubench's box of one rank, in 3D: equal cells, numbered as the cells meet the unknowns or, with
   -lexicographic, plane by plane */
static PetscErrorCode BoxCreate(const Bench *b, PetscInt p, Box *box)
{
  const PetscInt P = p + 1, n = PetscMax(2, (PetscInt)(PetscCbrtReal(b->dofs) / p + 0.5)), N = n * p + 1, nn = P * P * P;
  /* 3 times this is counted in PetscInt and CeedInt */
  const PetscReal size = PetscMax(PetscPowReal(N, 3), PetscPowReal(n, 3) * nn);
  PetscInt       *nodes, *number, next = 0;
  PetscReal      *x, z[64], w[64];

  PetscFunctionBeginUser;
  PetscCheck(3.0 * size < 2147483647.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%g unknowns of order %" PetscInt_FMT " are too many for 32-bit indices: reduce -dofs", (double)b->dofs, p);
  box->p      = p;
  box->ncells = n * n * n;
  box->total  = N * N * N;
  z[0]        = -1.0;
  z[p]        = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  PetscCall(PetscMalloc2(box->ncells * nn, &box->offsets, 3 * box->total, &box->coords));
  PetscCall(PetscMalloc3(box->ncells * nn, &nodes, box->ncells * nn * 3, &x, box->total, &number));
  for (PetscInt i = 0; i < box->total; ++i) number[i] = b->lex ? i : -1;
  for (PetscInt c = 0; c < box->ncells; ++c) {
    const PetscInt ci[3] = {c % n, c / n % n, c / n / n};

    for (PetscInt i = 0; i < nn; ++i) {
      const PetscInt ii[3] = {i % P, i / P % P, i / P / P}, k = c * nn + i;
      PetscInt       g = 0;
      PetscReal      s = 0.0;

      for (PetscInt d = 2; d >= 0; --d) {
        g            = g * N + ci[d] * p + ii[d];
        x[3 * k + d] = (ci[d] + 0.5 * (z[ii[d]] + 1.0)) / n;
        s += x[3 * k + d];
      }
      if (number[g] < 0) number[g] = next++;
      nodes[k]        = number[g];
      box->offsets[k] = (CeedInt)number[g];
      for (PetscInt d = 0; d < 3; ++d) {
        x[3 * k + d] += b->geometry == CURVED ? 0.05 * PetscSinReal(3.0 * s + d) : 0.1 * s;
        box->coords[d * box->total + number[g]] = x[3 * k + d];
      }
    }
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 3, p, box->ncells, box->total, nodes, x, 0, NULL, &box->space));
  PetscCall(PetscFree3(nodes, x, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoxDestroy(Box *box)
{
  PetscFunctionBeginUser;
  PetscCall(HopsSpaceDestroy(&box->space));
  PetscCall(PetscFree2(box->offsets, box->coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device has finished, on whichever stream */
static PetscErrorCode Wait(const Bench *b)
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  if (b->device) PetscCallCUDA(cudaDeviceSynchronize());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyHops(const Pair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(MatMult(pair->A, pair->x, pair->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyCeed(const Pair *pair)
{
  PetscFunctionBeginUser;
  CallCeed(pair->b, CeedOperatorApply(pair->op, pair->u, pair->v, CEED_REQUEST_IMMEDIATE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of an application, the mean of -repeat; *seconds becomes no larger */
static PetscErrorCode Time(const Pair *pair, PetscErrorCode (*apply)(const Pair *), PetscLogDouble *seconds)
{
  const PetscInt n = pair->b->repeat;
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(Wait(pair->b));
  PetscCall(PetscTime(&t0));
  for (PetscInt i = 0; i < n; ++i) PetscCall((*apply)(pair));
  PetscCall(Wait(pair->b));
  PetscCall(PetscTime(&t1));
  *seconds = PetscMin(*seconds, (t1 - t0) / n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line to standard output and to the file of -csv */
static PetscErrorCode Line(const Bench *b, const char line[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", line));
  if (b->csv) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, b->csv, "%s\n", line));
    PetscCheck(!fflush(b->csv), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The file of -csv cannot be written");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsOperator(const Bench *b, const Box *box, PetscInt q, Mat *A)
{
  HopsCoefficient c;
  PetscScalar     one = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatCreatePA(box->space, A));
  PetscCall(MatPASetQuadrature(*A, q, PETSC_FALSE));
  if (b->stored) PetscCall(MatPASetGeometryType(*A, MATPA_GEOMETRY_STORED));
  PetscCall(MatPASetDiffusion(*A, c));
  if (b->mass) PetscCall(MatPASetMass(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A quadrature function of libceedbench.h, which lies where it was when this was compiled, or in -jit_root */
static PetscErrorCode QFunction(const Bench *b, CeedQFunctionUser f, const char place[], CeedQFunction *qf)
{
  char        source[PETSC_MAX_PATH_LEN + 64];
  const char *name = strrchr(place, ':') + 1;

  PetscFunctionBeginUser;
  if (b->root[0]) {
    PetscCall(PetscSNPrintf(source, sizeof(source), "%s/libceedbench.h:%s", b->root, name));
    place = source;
  }
  CallCeed(b, CeedQFunctionCreateInterior(b->ceed, 1, f, place, qf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* libCEED's operator, whose data another operator computes from the coordinates of the nodes */
static PetscErrorCode LibceedOperator(const Bench *b, const Box *box, PetscInt q, CeedOperator *op)
{
  const CeedInt P = (CeedInt)box->p + 1, Q = (CeedInt)q, nn = P * P * P, nq = Q * Q * Q, ncells = (CeedInt)box->ncells,
                nd         = b->mass ? 7 : 6;
  const CeedSize      size = (CeedSize)ncells * nq * nd, total = box->total;
  Ceed                ceed = b->ceed;
  CeedBasis           basis, xbasis;
  CeedElemRestriction r, xr, dr;
  CeedQFunction       qf, setup;
  CeedOperator        opsetup;
  CeedVector          x, data;

  PetscFunctionBeginUser;
  PetscCheck(size < 2147483647, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%g quadrature data of order %" PetscInt_FMT " are too many for libCEED's 32-bit indices: reduce -dofs", (double)size,
             box->p);
  CallCeed(b, CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, P, Q, CEED_GAUSS, &basis));
  CallCeed(b, CeedBasisCreateTensorH1Lagrange(ceed, 3, 3, P, Q, CEED_GAUSS, &xbasis));
  CallCeed(b, CeedElemRestrictionCreate(ceed, ncells, nn, 1, 1, total, CEED_MEM_HOST, CEED_USE_POINTER, box->offsets, &r));
  CallCeed(b, CeedElemRestrictionCreate(ceed, ncells, nn, 3, (CeedInt)total, 3 * total, CEED_MEM_HOST, CEED_USE_POINTER,
                                        box->offsets, &xr));
  CallCeed(b, CeedElemRestrictionCreateStrided(ceed, ncells, nq, nd, size, CEED_STRIDES_BACKEND, &dr));
  CallCeed(b, CeedVectorCreate(ceed, 3 * total, &x));
  CallCeed(b, CeedVectorSetArray(x, CEED_MEM_HOST, CEED_USE_POINTER, box->coords));
  CallCeed(b, CeedVectorCreate(ceed, size, &data));

  PetscCall(QFunction(b, b->mass ? SetUpBoth : SetUpDiffusion, b->mass ? SetUpBoth_loc : SetUpDiffusion_loc, &setup));
  CallCeed(b, CeedQFunctionAddInput(setup, "dx", 9, CEED_EVAL_GRAD));
  CallCeed(b, CeedQFunctionAddInput(setup, "weights", 1, CEED_EVAL_WEIGHT));
  CallCeed(b, CeedQFunctionAddOutput(setup, "data", nd, CEED_EVAL_NONE));
  CallCeed(b, CeedOperatorCreate(ceed, setup, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &opsetup));
  CallCeed(b, CeedOperatorSetField(opsetup, "dx", xr, xbasis, CEED_VECTOR_ACTIVE));
  CallCeed(b, CeedOperatorSetField(opsetup, "weights", CEED_ELEMRESTRICTION_NONE, xbasis, CEED_VECTOR_NONE));
  CallCeed(b, CeedOperatorSetField(opsetup, "data", dr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CallCeed(b, CeedOperatorApply(opsetup, x, data, CEED_REQUEST_IMMEDIATE));
  CallCeed(b, CeedOperatorDestroy(&opsetup));
  CallCeed(b, CeedQFunctionDestroy(&setup));

  PetscCall(QFunction(b, b->mass ? ApplyBoth : ApplyDiffusion, b->mass ? ApplyBoth_loc : ApplyDiffusion_loc, &qf));
  CallCeed(b, CeedQFunctionAddInput(qf, "du", 3, CEED_EVAL_GRAD));
  CallCeed(b, CeedQFunctionAddInput(qf, "data", nd, CEED_EVAL_NONE));
  if (b->mass) CallCeed(b, CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CallCeed(b, CeedQFunctionAddOutput(qf, "dv", 3, CEED_EVAL_GRAD));
  if (b->mass) CallCeed(b, CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CallCeed(b, CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CallCeed(b, CeedOperatorSetField(*op, "du", r, basis, CEED_VECTOR_ACTIVE));
  CallCeed(b, CeedOperatorSetField(*op, "data", dr, CEED_BASIS_NONE, data));
  if (b->mass) CallCeed(b, CeedOperatorSetField(*op, "u", r, basis, CEED_VECTOR_ACTIVE));
  CallCeed(b, CeedOperatorSetField(*op, "dv", r, basis, CEED_VECTOR_ACTIVE));
  if (b->mass) CallCeed(b, CeedOperatorSetField(*op, "v", r, basis, CEED_VECTOR_ACTIVE));
  CallCeed(b, CeedQFunctionDestroy(&qf));
  CallCeed(b, CeedVectorDestroy(&data));
  CallCeed(b, CeedVectorDestroy(&x));
  CallCeed(b, CeedElemRestrictionDestroy(&dr));
  CallCeed(b, CeedElemRestrictionDestroy(&xr));
  CallCeed(b, CeedElemRestrictionDestroy(&r));
  CallCeed(b, CeedBasisDestroy(&xbasis));
  CallCeed(b, CeedBasisDestroy(&basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Bench *b, const Box *box, PetscInt q)
{
  Pair           pair = {.b = b};
  Vec            x, y; /* libCEED's */
  PetscScalar   *xa, *ya;
  PetscMemType   xtype, ytype;
  CeedMemType    mem;
  PetscLogDouble hops = PETSC_MAX_REAL, ceed = PETSC_MAX_REAL;
  PetscReal      norm, difference;
  char           line[256];

  PetscFunctionBeginUser;
  PetscCall(HopsOperator(b, box, q, &pair.A));
  PetscCall(MatCreateVecs(pair.A, &pair.x, &pair.y));
  PetscCall(VecSetRandom(pair.x, NULL));
  PetscCall(VecDuplicate(pair.x, &x));
  PetscCall(VecDuplicate(pair.y, &y));
  PetscCall(VecCopy(pair.x, x));

  PetscCall(VecGetArrayAndMemType(x, &xa, &xtype));
  PetscCall(VecGetArrayAndMemType(y, &ya, &ytype));
  CallCeed(b, CeedGetPreferredMemType(b->ceed, &mem));
  b->device = PetscMemTypeDevice(xtype) ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(b->device == (mem == CEED_MEM_DEVICE) && PetscMemTypeDevice(ytype) == PetscMemTypeDevice(xtype), PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP,
             "hops' vectors are %s, libCEED's %s: -hops_backend cuda goes with -ceed /gpu/cuda/..., host with /cpu/self/...",
             b->device ? "on a device" : "on the host", mem == CEED_MEM_DEVICE ? "on a device" : "on the host");
  PetscCall(LibceedOperator(b, box, q, &pair.op));
  CallCeed(b, CeedVectorCreate(b->ceed, box->total, &pair.u));
  CallCeed(b, CeedVectorCreate(b->ceed, box->total, &pair.v));
  CallCeed(b, CeedVectorSetArray(pair.u, mem, CEED_USE_POINTER, xa));
  CallCeed(b, CeedVectorSetArray(pair.v, mem, CEED_USE_POINTER, ya));

  PetscCall(ApplyHops(&pair));
  PetscCall(ApplyCeed(&pair));
  for (PetscInt i = 0; i < b->batches; ++i) {
    PetscCall(Time(&pair, ApplyHops, &hops));
    PetscCall(Time(&pair, ApplyCeed, &ceed));
  }

  CallCeed(b, CeedVectorTakeArray(pair.u, mem, NULL));
  CallCeed(b, CeedVectorTakeArray(pair.v, mem, NULL));
  CallCeed(b, CeedVectorDestroy(&pair.u));
  CallCeed(b, CeedVectorDestroy(&pair.v));
  CallCeed(b, CeedOperatorDestroy(&pair.op));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscCall(VecRestoreArrayAndMemType(y, &ya));
  PetscCall(VecNorm(pair.y, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1.0, pair.y));
  PetscCall(VecNorm(y, NORM_2, &difference));
  difference /= norm;
  /* NaN fails */
  PetscCheck(difference <= TOLERANCE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Order %" PetscInt_FMT ", %" PetscInt_FMT
             " points: the results of hops and libCEED differ by %g, relative, in the 2-norm",
             box->p, q, (double)difference);
  PetscCall(PetscSNPrintf(line, sizeof(line), "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%.7f,%.7f,%.3f,%.3f,%.3f,%.1e",
                          box->p, q, box->total, (double)hops, (double)ceed, (double)(box->total / hops / 1e9),
                          (double)(box->total / ceed / 1e9), (double)(ceed / hops), (double)difference));
  PetscCall(Line(b, line));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&pair.x));
  PetscCall(VecDestroy(&pair.y));
  PetscCall(MatDestroy(&pair.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is measured, and the names of the columns */
static PetscErrorCode Header(const Bench *b)
{
  const char *resource, *commit;
  char        line[512];
  int         major, minor, patch;

  PetscFunctionBeginUser;
  CallCeed(b, CeedGetResource(b->ceed, &resource));
  CallCeed(b, CeedGetVersion(&major, &minor, &patch, NULL));
  CallCeed(b, CeedGetGitVersion(&commit));
  PetscCall(PetscSNPrintf(line, sizeof(line), "# %s, %s cells, %s; libCEED %d.%d.%d (%s) %s",
                          b->mass ? "diffusion and mass" : "diffusion", Geometries[b->geometry],
                          b->stored ? "stored" : "-mat_pa_geometry as given", major, minor, patch, commit ? commit : "no commit",
                          resource));
  PetscCall(Line(b, line));
  PetscCall(Line(b, "order,points,unknowns,hops_s,libceed_s,hops_gdof_per_s,libceed_gdof_per_s,ratio,difference"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench       b          = {.repeat = 20, .batches = 3, .dofs = 7e6, .stored = PETSC_TRUE, .lock = -1};
  PetscInt    orders[32] = {1, 2, 3, 4, 5, 6, 7, 8}, n = 32, points[8] = {1, 2}, np = 8;
  PetscBool   set;
  PetscMPIInt size;
  char        file[PETSC_MAX_PATH_LEN] = "", lock[PETSC_MAX_PATH_LEN] = "", resource[256] = "/gpu/cuda/gen";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "libceedbench runs on one rank, not %d", (int)size);
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of libceedbench", NULL);
  PetscCall(PetscOptionsString("-ceed", "libCEED's back end", NULL, resource, resource, sizeof(resource), NULL));
  PetscCall(PetscOptionsReal("-dofs", "Unknowns, about", NULL, b.dofs, &b.dofs, NULL));
  PetscCall(PetscOptionsIntArray("-orders", "Orders", NULL, orders, &n, &set));
  if (!set) n = 8;
  PetscCall(PetscOptionsIntArray("-points", "Gauss points per direction beyond the order", NULL, points, &np, &set));
  if (!set) np = 2;
  PetscCall(PetscOptionsBool("-mass", "Diffusion and mass, not diffusion alone", NULL, b.mass, &b.mass, NULL));
  PetscCall(
    PetscOptionsBool("-lexicographic", "Unknowns numbered plane by plane, not as the cells meet them", NULL, b.lex, &b.lex, NULL));
  PetscCall(PetscOptionsEList("-geometry", "Cells", NULL, Geometries, 2, Geometries[b.geometry], &b.geometry, NULL));
  PetscCall(PetscOptionsInt("-repeat", "Applications of a batch", NULL, b.repeat, &b.repeat, NULL));
  PetscCall(PetscOptionsInt("-batches", "Batches, of which the fastest counts", NULL, b.batches, &b.batches, NULL));
  PetscCall(PetscOptionsString("-csv", "File that gets the output too", NULL, file, file, sizeof(file), NULL));
  PetscCall(PetscOptionsString("-lock", "File: meshes are made beside those of other runs with it, and timed one at a time", NULL,
                               lock, lock, sizeof(lock), NULL));
  PetscCall(PetscOptionsString("-jit_root",
                               "Folder that has libCEED's headers and libceedbench.h, where they have been moved since make", NULL,
                               b.root, b.root, sizeof(b.root), NULL));
  PetscOptionsEnd();
  PetscCheck(b.repeat > 0 && b.batches > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeat and -batches are positive");
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(orders[i] >= 1 && orders[i] < 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-orders are between 1 and 63");
  for (PetscInt i = 0; i < np; ++i)
    PetscCheck(points[i] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-points are not negative");
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_pa_geometry", &set));
  if (set) b.stored = PETSC_FALSE;
  PetscCall(BenchLockOpen(lock[0] ? lock : NULL, &b.lock));
  if (file[0]) PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "w", &b.csv));

  /* the default ends the process */
  PetscCheck(!setenv("CEED_ERROR_HANDLER", "return", 0), PETSC_COMM_SELF, PETSC_ERR_SYS, "The environment cannot be set");
  PetscCheck(!CeedInit(resource, &b.ceed), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libCEED has no back end %s, or it cannot run here: with CEED_ERROR_HANDLER=abort in the environment it says why",
             resource);
  (void)CeedSetErrorHandler(b.ceed, CeedErrorStore);
  if (b.root[0]) {
    char root[PETSC_MAX_PATH_LEN + 1]; /* libCEED appends names as they are */

    PetscCall(PetscSNPrintf(root, sizeof(root), "%s/", b.root));
    CallCeed(&b, CeedAddJitSourceRoot(b.ceed, root));
  }
  PetscCall(Header(&b));
  for (PetscInt i = 0; i < n; ++i) {
    Box box;

    PetscCall(BoxCreate(&b, orders[i], &box));
    PetscCall(BenchLock(b.lock, LOCK_EX));
    for (PetscInt k = 0; k < np; ++k) PetscCall(Run(&b, &box, orders[i] + points[k]));
    PetscCall(BenchLock(b.lock, LOCK_UN));
    PetscCall(BoxDestroy(&box));
  }
  PetscCheck(!CeedDestroy(&b.ceed), PETSC_COMM_SELF, PETSC_ERR_LIB, "libCEED cannot be destroyed");
  if (b.csv) PetscCall(PetscFClose(PETSC_COMM_WORLD, b.csv));
  if (b.lock >= 0) (void)close(b.lock);
  PetscCall(PetscFinalize());
  return 0;
}
