static char help[] =
  "Estimates of the error on hanging nodes against a slow program, which finds neighbours by their place in the octree.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> -roots <m,m,m> -corner : refined at random\n\
  -turn      : each cell sees the mesh its own way\n\
  -map <n>   : 0 boxes, 1 multilinear, 2 quadratic\n\
  -kappa <n> : 0 constant, 1 a tensor that is a function, 2 jumps from cell to cell\n\
  -empty <r> : a rank without cells\n\
  -refused   : what has no estimate; -files: a file with cell data is read\n\
  -robin     : there is a Robin term on a wall\n\
  -mutate <half|flux|robin> : the slow program is made wrong, which must be noticed\n\n";

#include "hangingslow.h"
#include "hopsexpect.h"

static PetscBool files = PETSC_FALSE;

/* -------------------------------------------- files -------------------------------------------- */

/* Cell data of all pieces of a file, as its header says where they are: number, and sum of squares */
static PetscErrorCode ReadCells(const char file[], PetscInt *n, PetscReal *sum)
{
  FILE       *f = fopen(file, "rb");
  char       *text, *data;
  const char *at;
  long        size;

  PetscFunctionBeginUser;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file %s", file);
  PetscCheck(!fseek(f, 0, SEEK_END) && (size = ftell(f)) > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Empty file");
  rewind(f);
  PetscCall(PetscCalloc1(size + 1, &text));
  PetscCheck(fread(text, 1, (size_t)size, f) == (size_t)size, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read %s", file);
  fclose(f);
  data = strstr(text, "<AppendedData");
  PetscCheck(data, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "No data");
  data = strchr(data, '_') + 1;
  *n   = 0;
  *sum = 0.0;
  for (at = text; (at = strstr(at, "Name=\"eta\"")); ++at) {
    const char *from = data + strtoull(strstr(at, "offset=\"") + 8, NULL, 10);
    uint64_t    bytes;

    memcpy(&bytes, from, sizeof(bytes));
    for (uint64_t i = 0; i < bytes / sizeof(PetscReal); ++i, ++*n) {
      PetscReal v;

      memcpy(&v, from + sizeof(bytes) + i * sizeof(v), sizeof(v));
      *sum += v * v;
    }
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareFile(HopsSpace sp, Vec x, Vec eta)
{
  PetscMPIInt rank;
  PetscInt    n, N      = 0;
  PetscReal   norm, sum = 0.0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(HopsSpaceViewVTUCells(sp, x, "u", eta, "eta", "estimators.vtu"));
  PetscCall(VecNorm(eta, NORM_2, &norm));
  PetscCall(VecGetSize(eta, &n));
  if (!rank) PetscCall(ReadCells("estimators.vtu", &N, &sum));
  if (!rank && (N != n || !(PetscAbsReal(PetscSqrtReal(sum) - norm) <= 1e-12 * norm)))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "The file has %" PetscInt_FMT " cells of %" PetscInt_FMT ", norm %g of %g\n", N, n,
                          (double)PetscSqrtReal(sum), (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ comparison ------------------------------------------ */

static PetscErrorCode Say(const char what[], PetscReal e, PetscReal size, PetscReal tol, PetscBool mutated)
{
  PetscFunctionBeginUser;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &e, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &size, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  if (e <= tol * size) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", what));
  else if (mutated) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, e > 1e-3 * size ? "differs" : "DIFFERS BY LITTLE"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERS by %g of %g\n", what, (double)e, (double)size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareEnergy(const Slow *s, const HangArrays *a, HopsSpace sp, Mat A, Vec x, PetscReal mass)
{
  const PetscInt     Q = s->p + 4;
  PetscReal         *g, *w, e = 0.0, size = 0.0, sum = 0.0, error;
  const PetscScalar *v;
  Vec                cells;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(Q, &g, Q, &w));
  PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, g, w));
  PetscCall(HopsSpaceCreateCellVec(sp, &cells));
  PetscCall(HopsSpaceComputeEnergyError(sp, A, x, Source, AnyGradient, NULL, cells, &error));
  PetscCall(VecGetArrayRead(cells, &v));
  for (PetscInt c = 0; c < a->nc; ++c) {
    const PetscReal want = SlowEnergy(s, a->first + c, mass, Q, g, w);

    sum += want;
    e    = TestWorse(e, PetscAbsReal(PetscRealPart(v[c]) - PetscSqrtReal(want)));
    size = PetscMax(size, PetscSqrtReal(want));
  }
  PetscCall(VecRestoreArrayRead(cells, &v));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(Say("energy", TestWorse(e, PetscAbsReal(error - PetscSqrtReal(sum))), size, 1e-12, PETSC_FALSE));
  PetscCall(VecDestroy(&cells));
  PetscCall(PetscFree2(g, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Slow *s, const HangArrays *a, Mat L, HopsSpace sp, Mat A, Vec x, PetscReal mass, PetscReal tol)
{
  const PetscInt  Q       = s->p + 2;
  const PetscBool mutated = s->half || s->flux || s->forgets ? PETSC_TRUE : PETSC_FALSE;
  PetscReal      *g, *w, *S, *jumps;
  Vec             eta;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(Q, &g, Q, &w, s->m->n * s->np * s->m->dim, &S, a->nc, &jumps));
  PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, g, w));
  PetscCall(HopsSpaceCreateCellVec(sp, &eta));
  PetscCall(SlowAverage(s, a, L, S));
  for (PetscInt c = 0; c < a->nc; ++c) jumps[c] = SlowJumps(s, a->first + c, g, w);
  for (PetscInt type = 0; type <= (PetscInt)HOPS_ESTIMATE_RESIDUAL; ++type) {
    const PetscScalar *v;
    PetscReal          e = 0.0, size = 0.0;

    PetscCall(HopsSpaceEstimateError(sp, A, x, (HopsEstimateType)type, Source, Given, NULL, eta));
    PetscCall(VecGetArrayRead(eta, &v));
    for (PetscInt c = 0; c < a->nc; ++c) {
      PetscReal want = jumps[c];

      if (type == HOPS_ESTIMATE_ZZ) want = SlowRecovered(s, a->first + c, S, g, w);
      if (type == HOPS_ESTIMATE_RESIDUAL) want += SlowResidual(s, a->first + c, mass, g, w);
      e    = TestWorse(e, PetscAbsReal(PetscRealPart(v[c]) - PetscSqrtReal(want)));
      size = PetscMax(size, PetscSqrtReal(want));
    }
    PetscCall(VecRestoreArrayRead(eta, &v));
    PetscCall(Say(HopsEstimateTypes[type], e, size, type == HOPS_ESTIMATE_RESIDUAL ? tol : 1e-12, mutated));
  }
  PetscCall(CompareEnergy(s, a, sp, A, x, mass));
  if (files) PetscCall(CompareFile(sp, x, eta));
  PetscCall(VecDestroy(&eta));
  PetscCall(PetscFree4(g, w, S, jumps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------- polynomials, whose flux is continuous ---------------------------- */

typedef struct {
  PetscInt        what, p; /* 0: u, 1: -Laplace u, 2: the flux out of the cube */
  const PetscInt *top;
} Part;

static PetscErrorCode Poly(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const Part    *part = (const Part *)ctx;
  const PetscInt p    = part->p;
  PetscReal      d[3], dd = 0.0;

  u[0] = 0.0;
  for (PetscInt i = 0; i < dim; ++i) {
    const PetscReal y = x[i] / 2.0;

    u[0] += (i + 1) * PetscPowRealInt(y, (int)p) + x[i] * x[(i + 1) % dim] * (p > 1 ? 1.0 : 0.0);
    d[i] = (i + 1) * 0.5 * p * PetscPowRealInt(y, (int)p - 1) + (p > 1 ? x[(i + 1) % dim] + x[(i + dim - 1) % dim] : 0.0);
    if (p > 1) dd += (i + 1) * 0.25 * p * (p - 1) * PetscPowRealInt(y, (int)p - 2);
  }
  if (part->what == 1) u[0] = -dd;
  if (part->what == 2) {
    u[0] = 0.0;
    for (PetscInt i = 0; i < dim; ++i) {
      if (PetscAbsReal(x[i] - part->top[i]) < 1e-9) u[0] = d[i];
      if (PetscAbsReal(x[i]) < 1e-9) u[0] = -d[i];
    }
  }
  return PETSC_SUCCESS;
}

static Part polynomial;

static PetscErrorCode PolyF(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  Part part = polynomial;

  part.what = 1;
  return Poly(dim, x, nc, u, &part);
}

static PetscErrorCode PolyG(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  Part part = polynomial;

  part.what = 2;
  return Poly(dim, x, nc, u, &part);
}

static PetscErrorCode CompareZero(HopsSpace sp, PetscInt p, const HangMesh *m)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;
  Vec               x, eta;
  Mat               A;

  PetscFunctionBeginUser;
  polynomial = (Part){.p = p, .top = m->M};
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Poly, &polynomial));
  PetscCall(HopsSpaceInterpolate(sp, Poly, &polynomial, x));
  PetscCall(HopsSpaceCreateCellVec(sp, &eta));
  for (PetscInt type = 0; type <= (PetscInt)HOPS_ESTIMATE_RESIDUAL; ++type) {
    PetscReal n;

    PetscCall(HopsSpaceEstimateError(sp, A, x, (HopsEstimateType)type, PolyF, PolyG, NULL, eta));
    PetscCall(VecNorm(eta, NORM_2, &n));
    if (n < 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s of a polynomial: zero\n", HopsEstimateTypes[type]));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s of a polynomial: %g, NOT ZERO\n", HopsEstimateTypes[type], (double)n));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&eta));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ refusals ------------------------------------------ */

#define ESTIMATE(sp, A, x, type, eta) HopsSpaceEstimateError(sp, A, x, type, NULL, NULL, NULL, eta)

/* n cells around, two rows, each of its last rank */
static PetscErrorCode CreateRing(PetscInt n, HopsSpace *sp)
{
  PetscMPIInt rank, size;
  PetscInt    nodes[24], nc = 0, owned;
  PetscReal   x[48];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt row = 0; row < 2; ++row)
    for (PetscInt c = 0; c < n && PetscMin(row, size - 1) == rank; ++c, ++nc)
      for (PetscInt v = 0; v < 4; ++v) {
        nodes[4 * nc + v]       = (row + v / 2) * n + (c + v % 2) % n;
        x[2 * (4 * nc + v)]     = (PetscReal)(c + v % 2);
        x[2 * (4 * nc + v) + 1] = (PetscReal)(row + v / 2);
      }
  owned = rank > 1 ? 0 : (size == 1 ? 3 : (rank ? 1 : 2)) * n;
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, 1, nc, owned, nodes, x, 0, NULL, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* facets of a ring of one or two cells have the same corners */
static PetscErrorCode TestRings(HopsCoefficient k)
{
  PetscFunctionBeginUser;
  for (PetscInt n = 1; n <= 3; ++n) {
    HopsSpace sp;
    Mat       A;
    Vec       x, eta;

    PetscCall(CreateRing(n, &sp));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, k));
    PetscCall(HopsSpaceCreateVec(sp, &x));
    PetscCall(HopsSpaceCreateCellVec(sp, &eta));
    if (n < 3)
      EXPECT(n > 1 ? "a ring of two" : "a ring of one", ESTIMATE(sp, A, x, HOPS_ESTIMATE_KELLY, eta), "of one or two cells");
    else PetscCall(ESTIMATE(sp, A, x, HOPS_ESTIMATE_KELLY, eta));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&eta));
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefused(const HangMesh *m, const HangArrays *a, HopsSpace sp, PetscInt p)
{
  const PetscScalar one = 1.0, zero = 0.0;
  PetscInt          marks[1024];
  PetscReal         error;
  HopsCoefficient   k, none;
  HopsSpace         other;
  Mat               A, B, C;
  Vec               x, eta;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &zero, &none));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceCreateCellVec(sp, &eta));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetMass(A, k));
  EXPECT("no diffusion", ESTIMATE(sp, A, x, HOPS_ESTIMATE_KELLY, eta), "no diffusion|MatPASetDiffusion()");
  PetscCall(MatPASetDiffusion(A, k));
  EXPECT("vector of cells", ESTIMATE(sp, A, x, HOPS_ESTIMATE_KELLY, x), "HopsSpaceCreateCellVec()");
  EXPECT("vector", ESTIMATE(sp, A, eta, HOPS_ESTIMATE_KELLY, eta), "of the solution|HopsSpaceCreateVec()");
  EXPECT("no function for the mass", HopsSpaceComputeEnergyError(sp, A, x, NULL, AnyGradient, NULL, NULL, &error), "is NULL");
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  EXPECT("assembled matrix", ESTIMATE(sp, B, x, HOPS_ESTIMATE_KELLY, eta), "takes the coefficients of one of type pa");
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatScale(C, 2.0));
  EXPECT("scaled matrix", ESTIMATE(sp, C, x, HOPS_ESTIMATE_KELLY, eta), "was changed since");
  PetscCall(MatDestroy(&C));
  PetscCall(MatPASetDiffusion(A, none));
  EXPECT("zero diffusion", ESTIMATE(sp, A, x, HOPS_ESTIMATE_ZZ, eta), "not positive in cell|HOPS_ESTIMATE_KELLY");
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(ESTIMATE(sp, A, x, HOPS_ESTIMATE_ZZ, eta));
  PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, HOPS_H1, m->dim, p, a->nc, a->owned, a->nodes, a->masks, p,
                                              a->coords, 0, NULL, &other));
  EXPECT("another space", ESTIMATE(other, A, x, HOPS_ESTIMATE_ZZ, eta), "on another space");
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(VecSet(eta, -1.0));
  EXPECT("negative estimates", HopsSpaceMark(sp, eta, 0.5, 0.0, marks), "finite, and not negative");
  EXPECT("part of more than all", HopsSpaceMark(sp, eta, 1.5, 0.0, marks), "parts between 0 and 1");
  PetscCall(TestRings(k));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&eta));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateCoefficient(HopsSpace sp, const HangArrays *a, PetscInt kappa, HopsCoefficient *k)
{
  const PetscScalar one = 1.0;
  PetscInt          d;
  PetscScalar      *v;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDimension(sp, &d));
  PetscCall(PetscMalloc1(a->nc, &v));
  for (PetscInt c = 0; c < a->nc; ++c) v[c] = CellKappa(a->first + c);
  if (kappa == 1) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, d * (d + 1) / 2, Tensor, NULL, k));
  else if (kappa == 2) PetscCall(HopsCoefficientCreateCell(sp, 1, v, k));
  else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, k));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscScalar mass = 0.7;
  PetscInt          p = 2, map = 0, kappa = 0, empty = -1, *all;
  char              mutate[8] = "";
  PetscBool         refused, robin;
  HangMesh          m;
  HangArrays        a;
  HangMutation      none = {0};
  HopsSpace         sp;
  HopsCoefficient   k, r, alpha;
  Mat               A, L;
  Vec               x;
  Slow              s;
  void (*maps[])(PetscInt, PetscReal[]) = {NULL, HangBilinear, HangQuadratic};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-map", &map, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-kappa", &kappa, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mutate", mutate, sizeof(mutate), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refused", &refused));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-files", &files));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-robin", &robin));
  PetscCall(HangCreateFromOptions(&m));
  PetscCall(HangArraysCreate(&m, p, maps[map], HangWall, empty, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(HangAllNodes(&m, &a, &all));
  PetscCall(HangConstraints(&m, p, &a, all, 0, PETSC_TRUE, none, &L));
  PetscCall(CreateCoefficient(sp, &a, kappa, &k));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &mass, &r));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(MatPASetMass(A, r));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Alpha, NULL, &alpha));
  if (robin) PetscCall(HangAddRobin(&m, &a, PETSC_TRUE, A, alpha));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Rough, NULL));
  PetscCall(HopsSpaceInterpolate(sp, Rough, NULL, x));
  PetscCall(SlowCreate(&m, p, kappa, maps[map], &a, L, x, &s));
  s.half    = mutate[0] == 'h' ? PETSC_TRUE : PETSC_FALSE;
  s.flux    = mutate[0] == 'f' ? PETSC_TRUE : PETSC_FALSE;
  s.forgets = mutate[0] == 'r' ? PETSC_TRUE : PETSC_FALSE; /* the Robin term */
  s.robin   = robin && !s.forgets ? PETSC_TRUE : PETSC_FALSE;
  /* on curved cells, or with a diffusion that varies in them, the divergence is an approximation */
  PetscCall(Compare(&s, &a, L, sp, A, x, PetscRealPart(mass), map || kappa == 1 ? 1e-3 : 1e-10));
  if (refused) PetscCall(TestRefused(&m, &a, sp, p));
  else if (!map && !mutate[0] && !m.corner) PetscCall(CompareZero(sp, p, &m));
  PetscCall(SlowDestroy(&s));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&L));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&r));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(PetscFree(all));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -turn
    output_file: output/estimators.out

    test:
      suffix: 2d
      args: -dim 2 -finest 3 -order {{1 2 3 4 5}} -kappa {{0 2}}

    test:
      suffix: 2d_ranks
      nsize: {{2 3 4}}
      args: -dim 2 -finest 3 -order {{1 3}} -seed 5

    test:
      suffix: 2d_empty
      nsize: {{2 3}}
      args: -dim 2 -finest 3 -order 2 -seed 3 -empty 0 -files

    test:
      suffix: robin
      nsize: {{1 3}}
      args: -dim {{2 3}} -roots 2,1,1 -finest 2 -order {{1 3}} -part 0.3 -robin

    test:
      suffix: 3d
      args: -dim 3 -roots 2,1,1 -finest 2 -order {{1 2 3}} -part 0.3 -files

    test:
      suffix: 3d_ranks
      nsize: {{2 3 4}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order {{1 2}} -part 0.3 -seed 4 -kappa 2

  testset:
    args: -turn
    output_file: output/estimators_mapped.out

    test:
      suffix: corner
      nsize: {{1 3}}
      args: -dim {{2 3}} -roots 2,2,2 -corner -finest 2 -order 2 -part 0.2

    test:
      suffix: mapped
      nsize: {{1 3}}
      args: -dim {{2 3}} -roots 2,1,1 -finest 2 -order {{2 3}} -map {{1 2}} -part 0.3

    test:
      suffix: robin_mapped
      args: -dim {{2 3}} -roots 2,1,1 -finest 2 -order 2 -map {{1 2}} -part 0.3 -robin

    test:
      suffix: tensor
      nsize: {{1 3}}
      args: -dim {{2 3}} -roots 2,1,1 -finest 2 -order {{1 2}} -map 1 -part 0.3 -kappa 1

  test:
    suffix: refused
    nsize: {{1 2}}
    args: -dim 2 -finest 2 -order 2 -refused -malloc_dump 0

  test:
    suffix: mutate
    nsize: {{1 2}}
    args: -turn -dim {{2 3}} -roots 2,2,1 -finest 2 -order 2 -part 0.3 -robin -mutate {{half flux robin}}
    filter: grep "kelly\|residual"

TEST*/
