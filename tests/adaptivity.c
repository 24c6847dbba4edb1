static char help[] = "Marks and transfers between adaptive meshes.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> -roots <m,m,m> -turn : refined at random, cells of a root turned\n\
  -to <p>       : order of the new space\n\
  -map <n>      : 0 boxes, 1 multilinear, 2 quadratic\n\
  -empty <r>    : a rank without cells of the new mesh\n\n";

#include "hangingcase.h"
#include "hopsexpect.h"
#include "../tutorials/octreeadapt.h"

/* ------------------------------------------- marks ------------------------------------------- */

static PetscReal Indicator(PetscInt c)
{
  return (PetscReal)(1 + c * 37 % 101) * (c % 7 ? 1.0 : 3.0); /* many are equal */
}

static int Descending(const void *x, const void *y)
{
  const PetscReal a = *(const PetscReal *)x, b = *(const PetscReal *)y;

  return a > b ? -1 : a < b;
}

/* by all estimates, sorted: those not below limit[0] are refined, those below limit[1] coarsened */
static PetscErrorCode SlowLimits(PetscInt n, PetscReal refine, PetscReal coarsen, PetscReal limit[2])
{
  PetscReal *v, sum = 0.0, all = 0.0;
  PetscInt   k;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &v));
  for (PetscInt c = 0; c < n; ++c) {
    v[c] = Indicator(c);
    all += v[c] * v[c];
  }
  qsort(v, (size_t)n, sizeof(*v), Descending);
  limit[0] = PETSC_MAX_REAL;
  for (k = 0; k < n && sum < refine * all * (1.0 - 1e-12); ++k) {
    limit[0] = v[k];
    sum += v[k] * v[k];
  }
  for (k = n - 1, sum = 0.0; k >= 0; --k)
    if ((sum += v[k] * v[k]) > coarsen * all * (1.0 + 1e-12)) break;
  limit[1] = v[PetscMax(k, 0)];
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMarks(const HangMesh *m, const HangArrays *a, HopsSpace sp)
{
  const PetscReal part[5][2] = {{0.5, 0.0}, {0.3, 0.05}, {0.9, 0.2}, {1.0, 0.0}, {0.0, 0.1}};
  PetscInt       *marks;
  Vec             eta;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(a->nc, &marks));
  PetscCall(HopsSpaceCreateCellVec(sp, &eta));
  for (PetscInt c = 0; c < a->nc; ++c) PetscCall(VecSetValue(eta, a->first + c, Indicator(a->first + c), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(eta));
  PetscCall(VecAssemblyEnd(eta));
  for (PetscInt t = 0; t < 5; ++t) {
    PetscInt  wrong = 0, n[2] = {0, 0};
    PetscReal limit[2] = {0.0};

    PetscCall(HopsSpaceMark(sp, eta, part[t][0], part[t][1], marks));
    PetscCall(SlowLimits(m->n, part[t][0], part[t][1], limit));
    for (PetscInt c = 0; c < a->nc; ++c) {
      const PetscReal v    = Indicator(a->first + c);
      const PetscInt  want = v >= limit[0] ? DM_ADAPT_REFINE : (v < limit[1] ? DM_ADAPT_COARSEN : DM_ADAPT_KEEP);

      wrong += marks[c] != want;
      n[0] += marks[c] == DM_ADAPT_REFINE;
      n[1] += marks[c] == DM_ADAPT_COARSEN;
    }
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, n, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "marks for %g and %g: %s%s%s\n", (double)part[t][0], (double)part[t][1],
                          wrong ? "WRONG" : "right", n[0] ? ", some are refined" : "", n[1] ? ", some coarsened" : ""));
  }
  PetscCall(VecSet(eta, 0.0));
  PetscCall(HopsSpaceMark(sp, eta, 0.5, 0.1, marks));
  for (PetscInt c = 0; c < a->nc; ++c)
    PetscCheck(marks[c] == DM_ADAPT_KEEP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No error, but a mark");
  PetscCall(VecDestroy(&eta));
  PetscCall(PetscFree(marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- transfers ----------------------------------------- */

/* cells of a root, with their parents and children, see it one way */
static void TurnRoots(HangMesh *m, PetscBool turn)
{
  for (PetscInt c = 0; c < m->n; ++c) {
    HangCell      *x       = m->cell + c;
    const PetscInt root[3] = {x->a[0] >> x->level, x->a[1] >> x->level, x->a[2] >> x->level};

    HangTurn(m, x, turn ? (root[0] * 7 + root[1] * 13 + root[2] * 29 + 5) * 31 % 101 : 0);
  }
}

static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt p = *(PetscInt *)ctx;

  u[0] = 1.0;
  for (PetscInt d = 0; d < dim; ++d) u[0] *= 0.3 + PetscPowRealInt(x[d] / 3.0, (int)p) - 0.2 * x[d];
  return PETSC_SUCCESS;
}

/* of the first order on the cells' maps */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 + 2.0 * x[0] - x[1] + (dim > 2 ? 0.5 * x[2] : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode Rough(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(40.0 * x[0] + 1.0) + PetscCosReal(31.0 * x[1] - 17.0 * x[0]) * (dim > 2 ? PetscSinReal(23.0 * x[2]) : 1.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode Difference(Vec x, Vec y, const char what[], PetscReal tol)
{
  PetscReal n, e;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1.0, x, y));
  PetscCall(VecNorm(d, NORM_INFINITY, &e));
  PetscCall(VecNorm(y, NORM_INFINITY, &n));
  PetscCall(VecDestroy(&d));
  if (TestWorse(0.0, e) <= tol * n) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERS by %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A function that both spaces have comes over as it is. */
static PetscErrorCode TestSame(HopsSpace old, HopsSpace sp, PetscInt n, const PetscInt relations[], HopsPointFunction f, PetscInt p,
                               const char what[])
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(old, &x));
  PetscCall(HopsSpaceCreateVec(sp, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(HopsSpaceSetEssentialFunction(old, f, &p));
  PetscCall(HopsSpaceSetEssentialFunction(sp, f, &p));
  PetscCall(HopsSpaceInterpolate(old, f, &p, x));
  PetscCall(HopsSpaceInterpolate(sp, f, &p, z));
  for (PetscInt type = 0; type <= (PetscInt)HOPS_TRANSFER_L2; ++type) {
    char text[64];

    PetscCall(HopsSpaceTransfer(old, x, sp, (HopsTransferType)type, n, relations, y));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, %s", what, HopsTransferTypes[type]));
    PetscCall(Difference(y, z, text, 1e-12));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, PetscBool mass, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, A));
  if (mass) PetscCall(MatPASetMass(*A, k));
  else PetscCall(MatPASetDiffusion(*A, k));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x . A y */
static PetscErrorCode Product(HopsSpace sp, PetscBool mass, Vec x, Vec y, PetscScalar *product)
{
  Mat A;
  Vec z;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, mass, &A));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(A, y, z));
  PetscCall(VecDot(x, z, product));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A function of the old space alone keeps its norm and its energy where cells are refined, and comes back as
   it was */
static PetscErrorCode TestRefined(HopsSpace old, HopsSpace sp, PetscInt n, const PetscInt relations[], PetscInt nback,
                                  const PetscInt back[], PetscBool boxes)
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(old, &x));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(HopsSpaceCreateVec(sp, &y));
  PetscCall(HopsSpaceInterpolate(old, Rough, NULL, x));
  PetscCall(HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_L2, n, relations, y));
  for (PetscInt mass = boxes ? 0 : 1; mass < 2; ++mass) { /* on others the energy is no integral of a polynomial */
    PetscScalar a, b;

    PetscCall(Product(old, mass ? PETSC_TRUE : PETSC_FALSE, x, x, &a));
    PetscCall(Product(sp, mass ? PETSC_TRUE : PETSC_FALSE, y, y, &b));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s of the refined function: %s\n", mass ? "norm" : "energy",
                          PetscAbsScalar(a - b) < 1e-11 * PetscAbsScalar(a) ? "the same" : "DIFFERS"));
  }
  for (PetscInt type = 0; type <= (PetscInt)HOPS_TRANSFER_L2; ++type) {
    PetscCall(HopsSpaceTransfer(sp, y, old, (HopsTransferType)type, nback, back, z));
    PetscCall(Difference(z, x, type ? "refined and back, l2" : "refined and back, nodal", 1e-12));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Space(HangMesh *m, PetscInt p, PetscInt map, PetscBool turn, PetscBool essential, PetscInt empty,
                            HangArrays *a, HopsSpace *sp)
{
  void (*maps[])(PetscInt, PetscReal[]) = {NULL, HangBilinear, HangQuadratic};

  PetscFunctionBeginUser;
  TurnRoots(m, turn);
  PetscCall(HangArraysCreate(m, p, maps[map], essential ? HangWall : NULL, empty, a));
  PetscCall(HangSpace(m, p, a, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell alone, of its children: (q, y) = (q, x) for y the projection of x, and q of the coarse space */
static PetscErrorCode TestProjection(PetscInt dim, PetscInt p, PetscBool turn)
{
  const PetscInt roots[3] = {1, 1, 1};
  HangMesh       m[2];
  HangArrays     a[2];
  HopsSpace      sp[2];
  Vec            x, y, q, fine;
  PetscInt       marks = DM_ADAPT_REFINE, n, nback, *relations, *back;
  PetscScalar    r, s;

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, roots, PETSC_FALSE, 1, &m[0]));
  PetscCall(HangList(&m[0], PETSC_FALSE));
  PetscCall(HangNext(&m[0], &marks, &m[1]));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(Space(&m[k], p, 0, turn, PETSC_FALSE, -1, &a[k], &sp[k]));
  PetscCall(HangRelations(&m[0], &m[1], a[1].first, a[1].nc, &n, &relations));
  PetscCall(HangRelations(&m[1], &m[0], a[0].first, a[0].nc, &nback, &back));
  PetscCall(HopsSpaceCreateVec(sp[1], &x));
  PetscCall(VecDuplicate(x, &fine));
  PetscCall(HopsSpaceCreateVec(sp[0], &y));
  PetscCall(VecDuplicate(y, &q));
  PetscCall(HopsSpaceInterpolate(sp[1], Rough, NULL, x));
  PetscCall(HopsSpaceTransfer(sp[1], x, sp[0], HOPS_TRANSFER_L2, nback, back, y));
  PetscCall(HopsSpaceInterpolate(sp[0], Rough, NULL, q));
  PetscCall(HopsSpaceTransfer(sp[0], q, sp[1], HOPS_TRANSFER_NODAL, n, relations, fine));
  PetscCall(Product(sp[0], PETSC_TRUE, q, y, &r));
  PetscCall(Product(sp[1], PETSC_TRUE, fine, x, &s));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "projection: %s\n", PetscAbsScalar(r - s) < 1e-12 ? "orthogonal" : "NOT ORTHOGONAL"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&q));
  PetscCall(VecDestroy(&fine));
  PetscCall(PetscFree(relations));
  PetscCall(PetscFree(back));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(HopsSpaceDestroy(&sp[k]));
    PetscCall(HangArraysDestroy(&a[k]));
    PetscCall(HangDestroy(&m[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What contradicts the meshes is an error on all ranks */
static PetscErrorCode TestErrors(HopsSpace old, HopsSpace sp, PetscInt n, PetscInt relations[])
{
  PetscInt refined = -1, kept = -1, some;
  Vec      x, y;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(old, &x));
  PetscCall(HopsSpaceCreateVec(sp, &y));
  for (PetscInt i = 0; i < n; ++i) {
    if (relations[3 * i + 2] >= 0) refined = i;
    if (relations[3 * i + 2] == -1) kept = i;
  }
  some = refined >= 0;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCheck(some, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No cell is refined");
  if (refined >= 0) relations[3 * refined + 2] ^= 1;
  EXPECT("wrong child", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, n, relations, y), "do not lie as child");
  if (refined >= 0) relations[3 * refined + 2] ^= 1;
  if (kept >= 0) relations[3 * kept + 1] += relations[3 * kept + 1] ? -1 : 1;
  EXPECT("wrong cell", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, n, relations, y), "do not lie as child -1");
  if (kept >= 0) relations[3 * kept + 1] += 1;
  EXPECT("a relation too few", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, PetscMax(n - 1, 0), relations, y), "is made of");
  if (refined >= 0) relations[3 * refined + 2] = 8;
  EXPECT("no child", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, n, relations, y), "which must be -1 (kept)");
  if (refined >= 0) relations[3 * refined] = refined ? relations[0] : relations[3];
  if (refined >= 0) relations[3 * refined + 2] = 0;
  EXPECT("a cell twice", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, n, relations, y), "made twice");
  EXPECT("another vector", HopsSpaceTransfer(old, x, sp, HOPS_TRANSFER_NODAL, n, relations, x), "The vector of the new function");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next mesh: some cells refined and, if asked for, families coarsened, by chance */
static PetscErrorCode Next(HangMesh *old, PetscBool coarsen, HangMesh *m)
{
  PetscInt *marks;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(old->n, &marks));
  for (PetscInt c = 0; c < old->n; ++c) {
    const HangCell *x = old->cell + c;
    const PetscInt  k = (x->a[0] >> 1) * 7 + (x->a[1] >> 1) * 5 + (x->a[2] >> 1) * 3 + x->level;

    marks[c] = c && coarsen && k % 4 ? DM_ADAPT_COARSEN : (!c || HangRandom(old) < 0.1 ? DM_ADAPT_REFINE : DM_ADAPT_KEEP);
  }
  PetscCall(HangNext(old, marks, m));
  PetscCall(PetscFree(marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt   p = 2, to, map = 0, empty = -1, n, nback, *relations, *back, coarsened = 0;
  PetscBool  turn = PETSC_FALSE;
  HangMesh   m, next;
  HangArrays a, b;
  HopsSpace  old, sp;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  to = p;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-to", &to, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-map", &map, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-turn", &turn, NULL));
  PetscCall(HangCreateFromOptions(&m));
  m.finest += 2; /* names of nodes: room for finer cells */
  PetscCall(Space(&m, p, map, turn, PETSC_FALSE, -1, &a, &old));
  PetscCall(TestMarks(&m, &a, old));
  for (PetscInt coarsen = 0; coarsen < 2; ++coarsen) {
    PetscCall(Next(&m, coarsen ? PETSC_TRUE : PETSC_FALSE, &next));
    PetscCall(Space(&next, to, map, turn, PETSC_FALSE, empty, &b, &sp));
    PetscCall(HangRelations(&m, &next, b.first, b.nc, &n, &relations));
    PetscCall(TestSame(old, sp, n, relations, map ? Linear : Polynomial, p, coarsen ? "refined and coarsened" : "refined"));
    if (!coarsen && to == p) {
      PetscCall(HangRelations(&next, &m, a.first, a.nc, &nback, &back));
      PetscCall(TestRefined(old, sp, n, relations, nback, back, map ? PETSC_FALSE : PETSC_TRUE));
      PetscCall(PetscFree(back));
    }
    for (PetscInt i = 0; i < n; ++i) coarsened += relations[3 * i + 2] < -1;
    if (coarsen) PetscCall(TestErrors(old, sp, n, relations));
    PetscCall(PetscFree(relations));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HangArraysDestroy(&b));
    PetscCall(HangDestroy(&next));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &coarsened, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(coarsened, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No cell is coarsened");
  PetscCall(TestProjection(m.dim, p, turn));
  PetscCall(HopsSpaceDestroy(&old));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -turn
    output_file: output/adaptivity.out

    test:
      suffix: 2d
      nsize: {{1 2 3 4}}
      args: -dim 2 -finest 3 -order {{1 2 4}}

    test:
      suffix: 3d
      nsize: {{1 2 3 4}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order {{1 3}} -part 0.3

    test:
      suffix: empty
      nsize: {{2 3}}
      args: -dim 2 -finest 3 -order 2 -empty {{0 1}}

  test:
    suffix: mapped
    nsize: {{1 3}}
    args: -turn -dim {{2 3}} -roots 2,2,1 -finest 2 -order 2 -part 0.3 -map {{1 2}}

  test:
    suffix: order
    nsize: {{1 2}}
    args: -turn -dim {{2 3}} -roots 2,2,1 -finest 2 -order 2 -to {{3 4}} -part 0.3

TEST*/
