static char help[] =
  "An adaptive loop by hops whose cells have orders of their own: where the solution is smooth orders are raised,\n\
elsewhere cells are refined.\n\
\n\
  -div(grad u) = f on a square without a quarter (a cube without one of its eighths), r the distance from the corner.\n\
\n\
  Options of adaptive.c, but for -coarsen; -order is that of the first mesh, and\n\
  -highest <p> : the highest order that a cell gets\n\
  -decay <s>   : where coefficients fall like exp(-s k) or faster the solution counts as smooth\n\
  -slope <s>   : in place of estimates, cells at the corner are refined, and orders are -order there and rise by s\n\
                 from level to level\n\n\
  Try: -order 2 -unknowns 4000\n\n";

#include "adaptive.h"
#include "octreeadapt.h"

typedef struct {
  Options   o;
  PetscInt  highest;
  PetscReal decay, slope;
} Choice;

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

static PetscBool All(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PETSC_TRUE;
}

/* The mesh, at the highest order of its cells, and the space of their orders[mesh.n] on it */
static PetscErrorCode CreateSpaces(const HangMesh *mesh, const PetscInt orders[], HangArrays *a, HopsSpace *space, HopsHPSpace *hp)
{
  PetscInt p = 1;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < mesh->n; ++c) p = PetscMax(p, orders[c]);
  PetscCall(HangArraysCreate(mesh, p, NULL, Everywhere, -1, a));
  PetscCall(HangSpace(mesh, p, a, space));
  PetscCall(HopsHPSpaceCreate(*space, orders + a->first, hp));
  PetscFunctionReturn(0);
}

/* Solves, estimates, and prints a line of the table */
static PetscErrorCode SolveAndEstimate(const Options *o, HopsSpace space, HopsHPSpace hp, Vec x, Table *t, Vec eta)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;
  Mat               M, A;
  const Mat        *parts;
  Vec               b, g, y;
  PetscInt          n, its, p, N, ncells;
  PetscReal         error, estimate;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(HopsHPSpaceCreateMat(hp, &M));
  PetscCall(MatHopsPtAPGetMats(M, &n, &parts, NULL));
  for (PetscInt i = 0; i < n; ++i) PetscCall(MatPASetDiffusion(parts[i], kappa));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(HopsHPSpaceInterpolate(hp, o->u, NULL, g));
  PetscCall(HopsHPSpaceComputeRHS(hp, o->f, NULL, b));
  PetscCall(MatHopsPtAPLiftEssential(M, g, b));
  PetscCall(SolveFrom(M, b, x, PETSC_FALSE, &its));
  PetscCall(MatCreatePA(space, &A)); /* the problem's coefficients, for estimates */
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsHPSpaceEstimateError(hp, A, x, o->estimate, o->f, NULL, NULL, eta));
  PetscCall(VecNorm(eta, NORM_2, &estimate));
  PetscCall(HopsSpaceCreateVec(space, &y));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsSpaceComputeEnergyError(space, A, y, NULL, o->grad, NULL, NULL, &error));
  PetscCall(HopsHPSpaceGetSizes(hp, NULL, &N));
  PetscCall(HopsSpaceGetOrder(space, &p));
  PetscCall(VecGetSize(eta, &ncells));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%8" PetscInt_FMT "%7" PetscInt_FMT "%10" PetscInt_FMT "%12" PetscInt_FMT "%14.3e%13.3e%13.2f\n", ncells, p,
                        N, its, (double)error, (double)estimate, (double)(estimate / error)));
  if (o->write) {
    char name[PETSC_MAX_PATH_LEN];

    PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%" PetscInt_FMT ".vtu", o->output, t->n));
    PetscCall(HopsSpaceViewVTUCells(space, y, "u", eta, "eta", name));
  }
  t->N[t->n]             = N;
  t->error[t->n]         = error;
  t->effectivity[t->n++] = estimate / error;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscFunctionReturn(0);
}

/* The next mesh, and the orders of all its cells: those of the cells that they lie in */
static PetscErrorCode Advance(HangMesh *mesh, const PetscInt marks[], const PetscInt old[], PetscInt *orders[])
{
  HangMesh next;
  PetscInt n, *relations;

  PetscFunctionBeginUser;
  PetscCall(HangNext(mesh, marks, &next));
  PetscCall(HangRelations(mesh, &next, 0, next.n, &n, &relations));
  PetscCall(PetscFree(*orders));
  PetscCall(PetscMalloc1(next.n, orders));
  for (PetscInt i = 0; i < n; ++i) (*orders)[relations[3 * i]] = old[relations[3 * i + 1]];
  PetscCall(PetscFree(relations));
  PetscCall(HangDestroy(mesh));
  *mesh = next;
  PetscFunctionReturn(0);
}

/* Of all cells: those at the corner are to be refined */
static void MarkCorner(const HangMesh *mesh, PetscInt marks[])
{
  for (PetscInt c = 0; c < mesh->n; ++c) {
    const HangCell *x = mesh->cell + c;

    marks[c] = DM_ADAPT_REFINE;
    for (PetscInt d = 0; d < mesh->dim; ++d)
      if (x->a[d] != 1 << x->level && x->a[d] + 1 != 1 << x->level) marks[c] = DM_ADAPT_KEEP;
  }
}

static void SetOrders(const Choice *k, const HangMesh *mesh, PetscInt orders[])
{
  PetscInt deepest = 0;

  for (PetscInt c = 0; c < mesh->n; ++c) deepest = PetscMax(deepest, mesh->cell[c].level);
  for (PetscInt c = 0; c < mesh->n; ++c)
    orders[c] = PetscMin(k->highest, k->o.order + (PetscInt)(k->slope * (deepest - mesh->cell[c].level) + 0.5));
}

/* Marks this rank's cells, and goes on with the marks of all */
static PetscErrorCode Decide(const Choice *k, HopsSpace space, HopsHPSpace hp, Vec x, Vec eta, PetscInt nc, HangMesh *mesh,
                             PetscInt *orders[])
{
  PetscInt *marks, *mine, *all, *old;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(nc, &marks, nc, &mine, mesh->n, &all, mesh->n, &old));
  PetscCall(HopsSpaceMark(space, eta, k->o.refine, 0.0, marks));
  PetscCall(HopsHPSpaceMark(hp, x, k->decay, k->highest, marks, mine));
  PetscCall(HangAllMarks(mesh, nc, marks, all));
  PetscCall(HangAllMarks(mesh, nc, mine, old));
  if (k->slope > 0.0) MarkCorner(mesh, all);
  PetscCall(Advance(mesh, all, old, orders));
  if (k->slope > 0.0) SetOrders(k, mesh, *orders);
  PetscCall(PetscFree4(marks, mine, all, old));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt roots[3] = {2, 2, 2};
  Table          table    = {0};
  Choice         k        = {.highest = 12, .decay = PETSC_DEFAULT};
  HangMesh       mesh;
  PetscInt      *orders, N = 0, last = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&k.o));
  PetscCheck(k.o.coarsen == 0.0, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "This loop does not coarsen: leave out -coarsen, or run adaptive");
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Orders of cells", NULL);
  PetscCall(PetscOptionsInt("-highest", "Highest order", NULL, k.highest, &k.highest, NULL));
  PetscCall(PetscOptionsReal("-slope", "Of the orders, by level", NULL, k.slope, &k.slope, NULL));
  PetscCall(PetscOptionsReal("-decay", "Of a smooth function's coefficients", NULL, k.decay, &k.decay, NULL));
  PetscOptionsEnd();
  PetscCall(HangCreate(k.o.dim, roots, PETSC_TRUE, k.o.dim == 3 ? 10 : HANG_LEVELS, &mesh));
  PetscCall(HangAdapt(&mesh, 0, k.o.start, 0.0, All));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  PetscCall(PetscMalloc1(mesh.n, &orders));
  for (PetscInt c = 0; c < mesh.n; ++c) orders[c] = k.o.order;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  order  unknowns  iterations  energy error     estimate  effectivity\n"));
  while (N <= k.o.most && table.n < 100 && (!table.n || N != last)) { /* or no cell is finer */
    HangArrays  a;
    HopsSpace   space;
    HopsHPSpace hp;
    Vec         x, eta;

    PetscCall(CreateSpaces(&mesh, orders, &a, &space, &hp));
    last = N;
    PetscCall(HopsHPSpaceGetSizes(hp, NULL, &N));
    if (N <= k.o.most && N != last) {
      PetscCall(HopsSpaceCreateCellVec(space, &eta));
      PetscCall(HopsHPSpaceCreateVec(hp, &x));
      PetscCall(SolveAndEstimate(&k.o, space, hp, x, &table, eta));
      PetscCall(Decide(&k, space, hp, x, eta, a.nc, &mesh, &orders));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&eta));
    }
    PetscCall(HopsHPSpaceDestroy(&hp));
    PetscCall(HopsSpaceDestroy(&space));
    PetscCall(HangArraysDestroy(&a));
  }
  PetscCall(PetscFree(orders));
  PetscCall(HangDestroy(&mesh));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre real
    filter: awk '/^ / {print $1, $2, $3, ($4 < 30), $5, $7}'

    test:
      suffix: lshape
      nsize: {{1 2 3 4}}
      args: -order 2 -unknowns 900 -output adaptive_hp

    test:
      suffix: slope
      nsize: {{1 3}}
      args: -order 2 -slope 0.25 -unknowns 1500

    test:
      suffix: fichera
      nsize: {{1 3}}
      args: -problem layer -dim 3 -order 2 -start 2 -unknowns 15000 -highest 4

TEST*/
