static char help[] = "An adaptive loop by hops: solve, estimate, mark, refine and balance, transfer, and again.\n\
\n\
  -div(grad u) = f on a square without a quarter (a cube without one of its eighths), r the distance from the corner.\n\
\n\
  -problem <lshape|layer> : u = r^(2/3) sin(2/3 theta), singular at the corner, in 2D; or u = arctan(20 (r - 0.725))\n\
  -dim <d>         : dimension of the layer\n\
  -order <p>       : polynomial order\n\
  -start <n>       : how often all cells of the first mesh were refined\n\
  -unknowns <n>    : stop before so many unknowns\n\
  -estimate <kelly|zz|residual>\n\
  -refine <part>, -coarsen <part> : parts of the estimate's square, see HopsSpaceMark()\n\
  -output <name>   : writes name-0.vtu, name-1.vtu, ... for ParaView\n\
  -pc_type hopsmg  : multigrid on meshes that are coarser and coarser, in place of lor\n\n\
  Try: -order 4 -unknowns 20000 -output corner\n\n";

#include "adaptive.h"
#include "octreeadapt.h"

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

static PetscBool All(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PETSC_TRUE;
}

/* The levels of -pc_type hopsmg below the space on a mesh */
static PetscErrorCode SetLevels(const Options *o, const HangMesh *mesh, const HangArrays *a, HopsSpace space)
{
  HangMesh   coarse;
  HangArrays b;
  HopsSpace  below;
  PetscInt   n = 0, *relations;

  PetscFunctionBeginUser;
  PetscCall(HangCoarsen(mesh, &coarse));
  if (coarse.n < mesh->n) {
    PetscCall(HangArraysCreate(&coarse, o->order, NULL, Everywhere, -1, &b));
    PetscCall(HangSpace(&coarse, o->order, &b, &below));
    PetscCall(HangRelations(&coarse, mesh, a->first, a->nc, &n, &relations));
    PetscCall(HopsSpaceSetCoarse(space, below, n, relations)); /* which keeps it */
    PetscCall(SetLevels(o, &coarse, &b, below));
    PetscCall(PetscFree(relations));
    PetscCall(HopsSpaceDestroy(&below));
    PetscCall(HangArraysDestroy(&b));
  }
  PetscCall(HangDestroy(&coarse));
  PetscFunctionReturn(0);
}

/* The next mesh, the space on it, and on it the function x */
static PetscErrorCode Advance(const Options *o, HangMesh *mesh, HangArrays *a, const PetscInt marks[], HopsSpace *space, Vec *x)
{
  HangMesh  next;
  HopsSpace newspace;
  Vec       y;
  PetscInt  n = 0, *relations, *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->n, &all));
  PetscCall(HangAllMarks(mesh, a->nc, marks, all));
  PetscCall(HangNext(mesh, all, &next));
  PetscCall(HangArraysDestroy(a));
  PetscCall(HangArraysCreate(&next, o->order, NULL, Everywhere, -1, a));
  PetscCall(HangRelations(mesh, &next, a->first, a->nc, &n, &relations));
  PetscCall(HangSpace(&next, o->order, a, &newspace));
  PetscCall(HopsSpaceSetEssentialFunction(newspace, o->u, NULL));
  PetscCall(HopsSpaceCreateVec(newspace, &y));
  PetscCall(HopsSpaceTransfer(*space, *x, newspace, HOPS_TRANSFER_NODAL, n, relations, y));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(relations));
  PetscCall(HangDestroy(mesh));
  PetscCall(HopsSpaceDestroy(space));
  PetscCall(VecDestroy(x));
  *mesh  = next;
  *space = newspace;
  *x     = y;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt roots[3] = {2, 2, 2};
  Table          table    = {0};
  Options        o;
  HangMesh       mesh;
  HangArrays     a;
  HopsSpace      space;
  Vec            x;
  PetscInt      *marks;
  char           pc[16]    = "";
  PetscBool      multigrid = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", pc, sizeof(pc), NULL));
  PetscCall(PetscStrcmp(pc, PCHOPSMG, &multigrid));
  PetscCall(HangCreate(o.dim, roots, PETSC_TRUE, o.dim == 3 ? 10 : HANG_LEVELS, &mesh));
  PetscCall(HangAdapt(&mesh, 0, o.start, 0.0, All));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  PetscCall(HangArraysCreate(&mesh, o.order, NULL, Everywhere, -1, &a));
  PetscCall(HangSpace(&mesh, o.order, &a, &space));
  PetscCall(HopsSpaceSetEssentialFunction(space, o.u, NULL));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  unknowns  iterations  energy error     estimate  effectivity\n"));
  while (!table.n || (a.N <= o.most && table.n < 100 && a.N != table.N[table.n - 1])) { /* or no cell is finer */
    PetscCall(PetscMalloc1(a.nc, &marks));
    if (multigrid) PetscCall(SetLevels(&o, &mesh, &a, space));
    PetscCall(SolveAndMark(&o, space, x, &table, marks));
    PetscCall(Advance(&o, &mesh, &a, marks, &space, &x));
    PetscCall(PetscFree(marks));
  }
  PetscCall(PrintRate(&table, o.dim, o.order));
  PetscCall(VecDestroy(&x));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&mesh));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre real
    filter: awk '/^Since/ {print} /^ / {print $1, $2, ($3 < 30), $4, $6}'

    test:
      suffix: lshape
      nsize: {{1 2 3 4}}
      args: -order 3 -unknowns 1500 -output adaptive

    test:
      suffix: estimates
      args: -order 2 -unknowns 1500 -estimate {{kelly zz}separate output}

    test:
      suffix: inner
      nsize: {{1 3}}
      args: -problem layer -order 4 -start 2 -unknowns 6000 -coarsen 0.02

    test:
      suffix: fichera
      nsize: {{1 4}}
      args: -problem layer -dim 3 -order 2 -start 2 -unknowns 15000

  test:
    suffix: multigrid
    requires: real
    nsize: {{1 3}}
    args: -problem layer -order 3 -start 2 -unknowns 3000 -coarsen 0.02 -pc_type hopsmg
    filter: awk '/^ / {print $1, $2, ($3 < 20), $4}'

  # the bar: slopes of at least 0.9 order/2
  test:
    suffix: slopes
    requires: hypre real
    args: -order {{1 2 3 4}} -unknowns 4000
    filter: tr '^,)' '   ' | awk '/^Since/ {print ($7 < 0.9 * $9), ($13 < 2 * $11)}'

TEST*/
