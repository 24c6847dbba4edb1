static char help[] = "PCHOPSMG where nodes hang: maps between spaces on adaptive meshes, and solves.\n\
  -what <maps|solve|coefficients> -dim <d> -order <p> -coarse <p> (of the coarse space) -finest <n> -empty <rank>\n\
  -turn: cells see the domain each their own way; -essential: part of the boundary is\n\
  -kind <function|cell|quadrature>: the coefficient, which is constant on each root\n\
  -curved: cells are\n\
  -wrong <half|edge>: what the maps are compared with is made wrong, which must be noticed\n\n";

#include "backend_team.h"
#include "hanginghierarchy.h"

static PetscErrorCode Say(const char name[], PetscReal error, PetscReal most)
{
  PetscFunctionBeginUser;
  if (error <= most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", name));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: WRONG, %g\n", name, (double)error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* e: what all cells of a level have at their nodes, of the vector x, by constraints found by location of
   points */
static PetscErrorCode Elements(HangHierarchy *h, PetscInt l, PetscInt order, HangMutation wrong, Vec x, Vec *e)
{
  PetscInt *all;
  Vec       mine;
  Mat       L;

  PetscFunctionBeginUser;
  PetscCall(HangAllNodes(&h->mesh[l], &h->a[l], &all));
  PetscCall(HangConstraints(&h->mesh[l], order, &h->a[l], all, 0, PETSC_TRUE, wrong, &L));
  PetscCall(PetscFree(all));
  PetscCall(MatCreateVecs(L, NULL, &mine));
  PetscCall(MatMult(L, x, mine));
  *e = mine;
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToAll(Vec v, Vec *all)
{
  VecScatter s;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(v, &s, all));
  PetscCall(VecScatterBegin(s, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse function of entries e[ne], of cell K, at a point of the domain */
static PetscReal ValueAt(const HangMesh *m, const HangCell *K, const HangLayout *l, const PetscReal z[], const PetscScalar e[],
                         const PetscReal x[])
{
  PetscReal sum = 0.0;

  for (PetscInt j = 0; j < l->ne; ++j) {
    PetscInt  at[3];
    PetscBool open[3];
    PetscReal w = 1.0;

    (void)HangEntry(m, K, l, j, at, open);
    for (PetscInt d = 0; d < m->dim; ++d) w *= HangLagrange(l->p + 1, z, at[d], 2.0 * (x[d] * (1 << K->level) - K->a[d]) - 1.0);
    sum += w * PetscRealPart(e[j]);
  }
  return sum;
}

/* The largest difference of y, on the cells of level 1, from x of level 0 at their nodes */
static PetscErrorCode Compare(HangHierarchy *h, const PetscInt orders[2], HangMutation wrong, Vec x, Vec y, PetscReal *most)
{
  const HangMutation none   = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  const HangMesh    *coarse = &h->mesh[0], *fine = &h->mesh[1];
  const PetscScalar *e, *all;
  PetscReal         *z[2];
  HangLayout         l[2];
  Vec                ec, ef, ea;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    HangLayoutCreate(HOPS_H1, fine->dim, orders[1 - k], &l[k]);
    PetscCall(PetscMalloc1(orders[1 - k] + 1, &z[k]));
    PetscCall(TestGLL(orders[1 - k] + 1, z[k]));
  }
  PetscCall(Elements(h, 0, orders[1], wrong, x, &ec));
  PetscCall(Elements(h, 1, orders[0], none, y, &ef));
  PetscCall(ToAll(ec, &ea));
  PetscCall(VecGetArrayRead(ea, &all));
  PetscCall(VecGetArrayRead(ef, &e));
  *most = 0.0;
  for (PetscInt c = 0; c < h->a[1].nc; ++c) {
    const HangCell *K    = fine->cell + h->a[1].first + c;
    const HangNode *node = HangFind(coarse, K->level, HangIndex(coarse, K->level, K->a));

    if (!node || node->state != 1) {
      const PetscInt up[3] = {K->a[0] >> 1, K->a[1] >> 1, K->a[2] >> 1};

      node = HangFind(coarse, K->level - 1, HangIndex(coarse, K->level - 1, up));
    }
    for (PetscInt i = 0; i < l[1].ne; ++i) {
      HangPart x;

      HangWhere(fine, K, &l[1], z[1], i, &x);
      *most = PetscMax(*most, PetscAbsReal(PetscRealPart(e[c * l[1].ne + i]) - ValueAt(coarse, coarse->cell + node->cell, &l[0],
                                                                                       z[0], all + node->cell * l[0].ne, x.lo)));
    }
  }
  PetscCall(VecRestoreArrayRead(ea, &all));
  PetscCall(VecRestoreArrayRead(ef, &e));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&ec));
  PetscCall(VecDestroy(&ef));
  PetscCall(VecDestroy(&ea));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(PetscFree(z[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of essential unknowns become zero */
static PetscErrorCode Clear(const HangArrays *a, Vec x)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < a->ness; ++i) PetscCall(VecSetValue(x, a->ess[i], 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace space, Mat *A)
{
  const PetscScalar two = 2.0, one = 1.0;
  HopsCoefficient   c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &c));
  PetscCall(MatPASetDiffusion(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatPASetMass(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P = A of the coarse space, but for its identity rows: boxes are affine, and quadrature is exact */
static PetscErrorCode Galerkin(HangHierarchy *h, Mat P, Vec x, Vec y, PetscReal *error)
{
  Mat       A[2];
  Vec       z, w, v;
  PetscReal norm;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(Operator(h->space[k], &A[k]));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(MatMult(A[1], y, z));
  PetscCall(MatMultTranspose(P, z, w));
  PetscCall(MatMult(A[0], x, v));
  PetscCall(VecNorm(v, NORM_2, &norm));
  PetscCall(VecAXPY(v, -1.0, w));
  PetscCall(VecNorm(v, NORM_2, error));
  *error /= norm;
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(MatDestroy(&A[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x . P^T z = P x . z, whatever y was; and added to what was there */
static PetscErrorCode Transpose(Mat P, Vec x, Vec y, PetscReal *error)
{
  Vec         z, w, v;
  PetscScalar s, t;
  PetscReal   norm;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &v));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(z, r));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(MatMultTranspose(P, z, w));
  PetscCall(VecTDot(w, x, &s));
  PetscCall(VecTDot(z, y, &t));
  *error = PetscAbsScalar(s - t) / PetscAbsScalar(t);
  PetscCall(MatMultAdd(P, x, z, v));
  PetscCall(VecAXPY(v, -1.0, z));
  PetscCall(VecAXPY(v, -1.0, y));
  PetscCall(VecNorm(v, NORM_INFINITY, &norm));
  *error = PetscMax(*error, norm);
  PetscCall(VecCopy(w, x)); /* x is no longer needed */
  PetscCall(MatMultTransposeAdd(P, z, x, x));
  PetscCall(VecAXPY(x, -2.0, w));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  *error = PetscMax(*error, norm);
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No polynomial. Numbers of unknowns depend on the ranks, so entries are values */
static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(12.9898 * x[0] + 7.8233 * x[1] + (dim > 2 ? 9.7719 * x[2] : 0.0) + 0.3) + x[0];
  return PETSC_SUCCESS;
}

/* The space of lower order that hops numbers: from it comes the same y as from that of arrays */
static PetscErrorCode Lower(HangHierarchy *h, PetscInt order, Vec y)
{
  HopsSpace low;
  PetscInt  N;
  Mat       P;
  Vec       x, z;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateCoarse(h->space[1], NULL, order, &low));
  PetscCall(HopsSpaceGetSizes(low, NULL, &N));
  PetscCall(Say("as many unknowns", (PetscReal)(N - h->a[0].N), 0.0));
  PetscCall(MatCreateHopsInterp(low, h->space[1], &P));
  PetscCall(MatCreateVecs(P, &x, &z));
  PetscCall(HopsSpaceInterpolate(low, Wave, NULL, x));
  PetscCall(MatMult(P, x, z));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCall(Say("the lower order", error, 1e-12));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&P));
  PetscCall(HopsSpaceDestroy(&low));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Maps(PetscInt empty)
{
  char          text[16]  = "";
  PetscInt      orders[2] = {2, -1};
  PetscBool     some = PETSC_FALSE, same = PETSC_FALSE;
  HangMutation  wrong = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  PetscReal     error;
  HangMesh      mesh;
  HangHierarchy h;
  Mat           P;
  Vec           x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &orders[0], NULL));
  orders[1] = orders[0];
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-coarse", &orders[1], NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-essential", &some, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-same", &same, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-wrong", text, sizeof(text), NULL));
  if (text[0] == 'h') wrong.half = PETSC_TRUE;
  if (text[0] == 'e') wrong.edge = PETSC_TRUE;
  PetscCall(HangCreateFromOptions(&mesh));
  PetscCall(HangHierarchyCreate(&mesh, 2, same, orders, some ? HangWall : NULL, empty, &h));
  PetscCall(MatCreateHopsInterp(h.space[0], h.space[1], &P));
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(HopsSpaceInterpolate(h.space[0], Wave, NULL, x));
  PetscCall(Clear(&h.a[0], x));
  PetscCall(VecSet(y, 7.0)); /* is overwritten */
  PetscCall(MatMult(P, x, y));
  PetscCall(Compare(&h, orders, wrong, x, y, &error));
  PetscCall(Say("the coarse function", error, 1e-12));
  PetscCall(Galerkin(&h, P, x, y, &error));
  PetscCall(Say("coarse operator", error, 1e-12));
  if (same) PetscCall(Lower(&h, orders[1], y));
  PetscCall(Transpose(P, x, y, &error));
  PetscCall(Say("transpose", error, 1e-12));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&P));
  PetscCall(HangHierarchyDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Operators of all levels ---- */

/* values of a coefficient by cell, q = 0, or at q points per direction */
static PetscErrorCode Given(HangHierarchy *h, HopsSpace space, PetscInt q, HopsCoefficient *c)
{
  const HangMesh *m  = &h->mesh[h->n - 1];
  const PetscInt  nc = h->a[h->n - 1].nc, nq = q ? PetscPowInt(q, m->dim) : 1;
  PetscScalar    *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(nc * nq, &v));
  for (PetscInt i = 0; i < nc * nq; ++i) {
    const HangCell *x = m->cell + h->a[h->n - 1].first + i / nq;
    PetscReal       mid[3];

    for (PetscInt d = 0; d < 3; ++d) mid[d] = (x->a[d] + 0.5) / (1 << x->level);
    PetscCall(HangParity(m->dim, mid, 1, v + i, NULL));
  }
  if (q) PetscCall(HopsCoefficientCreateQuadrature(space, 1, q, v, c));
  else PetscCall(HopsCoefficientCreateCell(space, 1, v, c));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On each level P^T A P = A of the next one, on vectors that are zero where essential */
static PetscErrorCode Products(HangHierarchy *h, PC pc, PetscReal *most)
{
  PetscFunctionBeginUser;
  *most = 0.0;
  for (PetscInt l = h->n - 1; l > 0; --l) {
    Mat       P, A, Ac;
    Vec       x, y, z, w;
    PetscReal norm, error;

    PetscCall(TestLevel(pc, l, &P, &A, &Ac));
    PetscCall(MatCreateVecs(P, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecDuplicate(x, &w));
    PetscCall(HopsSpaceInterpolate(h->space[l - 1], Wave, NULL, x));
    PetscCall(Clear(&h->a[l - 1], x));
    PetscCall(MatMult(P, x, y));
    PetscCall(MatMult(A, y, z));
    PetscCall(MatMult(Ac, x, w));
    PetscCall(VecNorm(w, NORM_2, &norm));
    PetscCall(VecScale(w, -1.0));
    PetscCall(MatMultTransposeAdd(P, z, w, w));
    PetscCall(VecNorm(w, NORM_2, &error));
    *most = PetscMax(*most, error / norm);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coefficients(PetscInt order, PetscInt empty)
{
  const PetscInt  orders[2] = {order, order};
  char            kind[16]  = "function";
  PetscReal       error;
  HangMesh        mesh;
  HangHierarchy   h;
  HopsCoefficient c;
  Mat             A;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kind", kind, sizeof(kind), NULL));
  PetscCall(HangCreateFromOptions(&mesh));
  PetscCall(HangHierarchyCreate(&mesh, HANG_MESHES, PETSC_FALSE, orders, HangWall, empty, &h));
  if (kind[0] == 'f') PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, HangParity, NULL, &c));
  else PetscCall(Given(&h, h.space[h.n - 1], kind[0] == 'q' ? order + 2 : 0, &c));
  PetscCall(MatCreatePA(h.space[h.n - 1], &A));
  PetscCall(MatPASetQuadrature(A, order + 2, PETSC_FALSE));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(MatPASetMass(A, c));
  if (mesh.dim == 2 && kind[0] != 'q') PetscCall(HangAddRobin(&h.mesh[h.n - 1], &h.a[h.n - 1], PETSC_FALSE, A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(Products(&h, pc, &error));
  PetscCall(Say("operators of all levels", error, 1e-12));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HangHierarchyDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Solves ---- */

/* b, once the essential values are known: its entries of identity rows are zero, and do not count in its
   norm */
static PetscErrorCode RightSide(HopsSpace space, const HangArrays *a, Mat A, Vec b)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceSetEssentialFunction(space, HangLayerSolution, NULL));
  PetscCall(HopsSpaceComputeRHS(space, HangLayerSource, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecCopy(b, y));
  PetscCall(Clear(a, y));
  PetscCall(VecWAXPY(x, -1.0, y, b)); /* the identity rows of b alone */
  PetscCall(MatMult(A, x, y));
  PetscCall(VecAXPY(b, -1.0, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and says of how many levels, iterations and unknowns; and whether it solves A x = b */
static PetscErrorCode SolveOn(HopsSpace space, const HangArrays *a, PetscInt most, PetscBool numbers)
{
  const PetscScalar  one = 1.0;
  HopsCoefficient    kappa;
  PetscInt           its, nlevels, N;
  PetscReal          norm, residual;
  KSPConvergedReason reason;
  Mat                A;
  Vec                x, b, r;
  KSP                ksp;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, &A));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(RightSide(space, a, A, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(HopsSpaceGetSizes(space, NULL, &N));
  if (numbers)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels %" PetscInt_FMT ", unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n",
                          nlevels, N, its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n",
                        reason > 0 && residual <= 2e-9 * norm ? (its <= most ? "solved" : "SLOW") : "NOT SOLVED"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A layer near a re-entrant corner, refined so many times */
static PetscErrorCode SolveLayer(PetscInt dim, PetscInt order, PetscInt finest, PetscInt empty)
{
  const PetscInt M[3] = {2, 2, 2}, orders[2] = {order, order};
  PetscInt       most    = 12;
  PetscBool      numbers = PETSC_FALSE;
  HangMesh       mesh;
  HangHierarchy  h;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-numbers", &numbers, NULL));
  PetscCall(HangCreate(dim, M, PETSC_TRUE, finest, &mesh));
  PetscCall(HangAdapt(&mesh, 0, finest, 0.0, HangLayer));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  PetscCall(HangHierarchyCreate(&mesh, HANG_MESHES, PETSC_FALSE, orders, HangEverywhere, empty, &h));
  PetscCall(SolveOn(h.space[h.n - 1], &h.a[h.n - 1], most, numbers));
  PetscCall(HangHierarchyDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     what[16] = "maps";
  PetscInt dim = 2, order = 2, finest = 3, empty = -1;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TeamRegister());
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  if (what[0] == 'm') PetscCall(Maps(empty));
  else if (what[0] == 'c') PetscCall(Coefficients(order, empty));
  else PetscCall(SolveLayer(dim, order, finest, empty));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    output_file: output/hopsmgadaptive_maps.out

    test:
      suffix: maps_2d
      nsize: {{1 2 3 4}}
      args: -what maps -dim 2 -order {{1 2 5}} -turned -essential

    test:
      suffix: maps_3d
      nsize: {{1 2 4}}
      args: -what maps -dim 3 -finest 2 -order {{1 3}} -turned

    test:
      suffix: maps_orders
      nsize: {{1 3}}
      args: -what maps -dim {{2 3}} -finest 2 -order 4 -coarse 3 -turned -essential

    test:
      suffix: maps_empty
      nsize: 3
      args: -what maps -dim {{2 3}} -finest 2 -order 2 -empty {{0 1}} -turned

    test:
      suffix: backends
      nsize: {{1 3}}
      args: -what maps -dim 3 -finest 2 -order 3 -turned -essential -backends host,base

  testset:
    output_file: output/hopsmgadaptive_same.out

    test:
      suffix: same_2d
      nsize: {{1 3}}
      args: -what maps -same -dim 2 -order {{3 6}} -coarse {{1 2}} -turned -essential

    test:
      suffix: same_3d
      nsize: {{1 4}}
      args: -what maps -same -dim 3 -finest 2 -order 4 -coarse {{2 3}} -turned

    test:
      suffix: same_backends
      nsize: {{1 3}}
      args: -what maps -same -dim 3 -finest 2 -order 3 -coarse 2 -turned -essential -backends host,base

    test:
      suffix: same_empty
      nsize: 2
      args: -what maps -same -dim 3 -finest 1 -order 3 -coarse 2 -empty 0

  testset:
    output_file: output/hopsmgadaptive_wrong.out
    filter: sed 's/WRONG,.*$/noticed/'

    test:
      suffix: wrong_half
      args: -what maps -dim {{2 3}} -finest 2 -order 3 -wrong half

    test:
      suffix: wrong_edge
      args: -what maps -dim 3 -finest 2 -order 3 -wrong edge

  testset:
    output_file: output/hopsmgadaptive_coefficients.out

    test:
      suffix: coefficients_2d
      nsize: {{1 2 4}}
      args: -what coefficients -kind {{function cell quadrature}} -dim 2 -order 3 -turned

    test:
      suffix: coefficients_3d
      nsize: {{1 3}}
      args: -what coefficients -kind {{function cell quadrature}} -dim 3 -finest 2 -order 2 -turned

    test:
      suffix: coefficients_backends
      nsize: {{1 3}}
      args: -what coefficients -kind {{function cell quadrature}} -dim 2 -order 3 -turned -backends host,base

    test:
      suffix: coefficients_empty
      nsize: 3
      args: -what coefficients -kind cell -dim {{2 3}} -finest 2 -order 2 -empty 1

  # the bar: 12 iterations of CG to 1e-9
  testset:
    output_file: output/hopsmgadaptive_solve.out

    test:
      suffix: solve_2d
      nsize: {{1 4}}
      args: -what solve -dim 2 -order {{2 3 4}} -finest {{3 6}}

    test:
      suffix: solve_3d
      nsize: {{1 3}}
      args: -what solve -dim 3 -order {{2 4}} -finest 2

    test:
      suffix: solve_backends
      nsize: {{1 3}}
      args: -what solve -dim {{2 3}} -order 3 -finest 2 -pc_hopsmg_coarsen {{h ph}} -backends host,base

    test:
      suffix: solve_deep
      args: -what solve -dim 3 -order 2 -finest 4

    # the bar of patches: 8
    test:
      suffix: solve_patches
      nsize: {{1 3}}
      args: -what solve -dim 2 -order {{2 4}} -finest {{3 5}} -most 8 \
            -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type patchfd

    test:
      suffix: solve_patches_3d
      nsize: {{1 4}}
      args: -what solve -dim 3 -order {{2 3}} -finest 2 -curved -most 8 \
            -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type patchfd

    test:
      suffix: solve_patches_kinds
      nsize: {{1 3}}
      args: -what solve -dim {{2 3}} -order 3 -finest 2 -turned -most 9 \
            -mg_levels_pc_type patchfd -mg_levels_pc_patchfd_type additive -mg_levels_pc_patchfd_patch {{vertex element}}

    test:
      suffix: solve_patches_restricted
      nsize: {{1 3}}
      args: -what solve -dim {{2 3}} -order 3 -finest 2 -turned -most 9 -ksp_type fgmres \
            -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type patchfd \
            -mg_levels_pc_patchfd_type restricted

    test:
      suffix: solve_patches_backends
      nsize: {{1 3}}
      args: -what solve -dim {{2 3}} -order 2 -finest 3 -turned -most 8 -backends host,team \
            -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type patchfd

    test:
      suffix: solve_single
      nsize: {{1 3}}
      args: -what solve -dim {{2 3}} -order 3 -finest 3 -turned -pc_hopsmg_precision single -backends host,base

    test:
      suffix: solve_single_patches
      nsize: {{1 2 4}}
      args: -what solve -dim {{2 3}} -order 2 -finest 3 -turned -most 8 -pc_hopsmg_precision single -backends host,base \
            -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type patchfd

    test:
      suffix: solve_empty
      nsize: 3
      args: -what solve -dim 2 -order 3 -finest 4 -empty {{0 2}}

    test:
      suffix: solve_curved
      nsize: {{1 2}}
      args: -what solve -dim {{2 3}} -order 3 -finest 2 -curved -pc_hopsmg_coarsen {{h ph}}

    test:
      suffix: solve_coarsen
      nsize: {{1 2}}
      args: -what solve -dim 2 -order 4 -finest 4 -pc_hopsmg_coarsen {{p ph hp}}

    test:
      suffix: solve_types
      nsize: {{1 2}}
      args: -what solve -dim 2 -order 3 -finest 4 -pc_mg_type {{multiplicative full}} -pc_mg_cycle_type {{v w}}

    test:
      suffix: solve_coarse
      args: -what solve -dim 2 -order 3 -finest 4 -pc_hopsmg_levels {{2 3}} -pc_hopsmg_coarse_mat {{aij pa}}

TEST*/
