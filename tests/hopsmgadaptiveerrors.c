static char help[] = "What HopsSpaceSetCoarse() and multigrid on adaptive meshes refuse, by errors that name the remedy.\n\n";

#include "hopsexpect.h"
#include "hangingmesh.h"
#include "../tutorials/octreeadapt.h"

static PetscBool Corner(PetscInt dim, const PetscReal x[], PetscReal h)
{
  for (PetscInt d = 0; d < dim; ++d)
    if (x[d] > h) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* A grid of 2^dim roots, refined so many times at a corner */
static PetscErrorCode Create(PetscInt dim, PetscInt levels, PetscInt order, HangMesh *m, HangArrays *a, HopsSpace *sp)
{
  const PetscInt M[3] = {2, 2, 2};

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, M, PETSC_FALSE, 4, m));
  PetscCall(HangAdapt(m, 0, levels, 0.0, Corner));
  PetscCall(HangList(m, PETSC_FALSE));
  PetscCall(HangArraysCreate(m, order, NULL, NULL, -1, a));
  PetscCall(HangSpace(m, order, a, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, Mat *A)
{
  const PetscScalar v = 1.0;
  HopsCoefficient   one;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetDiffusion(*A, one));
  PetscCall(MatPASetMass(*A, one));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(const char name[], HopsSpace sp, const char options[], const char words[])
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCSetFromOptions(pc));
  EXPECT(name, PCSetUp(pc), words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* relations that say what is not so; r is changed and put back */
static PetscErrorCode Relations(HopsSpace fine, HopsSpace coarse, PetscInt dim, PetscInt n, PetscInt r[])
{
  PetscInt refined = 0, kept = 0, save[3];

  PetscFunctionBeginUser;
  while (r[3 * refined + 2] < 0) ++refined;
  while (r[3 * kept + 2] >= 0) ++kept;
  r[3 * refined + 2] ^= 1;
  EXPECT("another child", HopsSpaceSetCoarse(fine, coarse, n, r), "does not lie|number children");
  r[3 * refined + 2] ^= 1;
  r[3 * kept + 2] = 0;
  EXPECT("a kept cell that is a child", HopsSpaceSetCoarse(fine, coarse, n, r), "does not lie|a level for each refinement");
  r[3 * kept + 2] = -2;
  EXPECT("a parent of a coarse cell", HopsSpaceSetCoarse(fine, coarse, n, r), "too few|give one relation");
  r[3 * kept + 2] = -1;
  PetscCall(PetscArraycpy(save, r, 3));
  PetscCall(PetscArraycpy(r, r + 3, 3));
  EXPECT("a cell that is told of twice", HopsSpaceSetCoarse(fine, coarse, n, r), "made twice");
  PetscCall(PetscArraycpy(r, save, 3));
  EXPECT("a cell that is not told of", HopsSpaceSetCoarse(fine, coarse, n - 1, r), "no old cells");
  r[1] = 1 << 20;
  EXPECT("a coarse cell that is not there", HopsSpaceSetCoarse(fine, coarse, n, r), "of all ranks");
  r[1] = save[1];
  r[2] = 1 << dim;
  EXPECT("a child that is not there", HopsSpaceSetCoarse(fine, coarse, n, r), "child");
  r[2] = save[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Spaces(PetscInt dim)
{
  PetscInt   n = 0, *r, k;
  HangMesh   m[3];
  HangArrays a[3];
  HopsSpace  sp[3], other;
  Mat        P;

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < 3; ++l) PetscCall(Create(dim, l, 2, &m[l], &a[l], &sp[l]));
  PetscCall(HangRelations(&m[0], &m[1], a[1].first, a[1].nc, &n, &r));
  PetscCall(Relations(sp[1], sp[0], dim, n, r));
  EXPECT("a map between meshes that are not told of", MatCreateHopsInterp(sp[0], sp[1], &P), "HopsSpaceSetCoarse()");
  PetscCall(HopsSpaceSetCoarse(sp[1], sp[0], n, r));
  EXPECT("evaluation", MatCreateHopsInterp(sp[1], sp[0], &P), "HopsSpaceTransfer()");
  PetscCall(PetscFree(r));
  PetscCall(HangRelations(&m[1], &m[0], a[0].first, a[0].nc, &n, &r));
  EXPECT("the finer mesh below", HopsSpaceSetCoarse(sp[0], sp[1], n, r), "below itself");
  PetscCall(HopsSpaceSetCoarse(sp[1], NULL, 0, NULL));
  EXPECT("the finer mesh below, alone", HopsSpaceSetCoarse(sp[0], sp[1], n, r), "coarser everywhere");
  PetscCall(PetscFree(r));
  /* cells of the same mesh, one of which is missing: its coarse cell is not covered */
  PetscCall(HangRelations(&m[0], &m[1], a[1].first, a[1].nc, &n, &r));
  for (k = 0; r[3 * k + 2] < 0;) ++k;
  r[3 * k + 1] += 1;
  EXPECT("a child of another cell", HopsSpaceSetCoarse(sp[1], sp[0], n, r), "does not lie");
  PetscCall(PetscFree(r));
  PetscCall(HangRelations(&m[1], &m[2], a[2].first, a[2].nc, &n, &r));
  for (PetscInt i = 0; i < n; ++i) r[3 * i + 1] = PetscMin(r[3 * i + 1], m[0].n - 1);
  EXPECT("a level is missing", HopsSpaceSetCoarse(sp[2], sp[0], n, r), "does not lie|a level for each refinement");
  PetscCall(PetscFree(r));
  PetscCall(HopsSpaceCreateCoarse(sp[1], NULL, 1, &other));
  PetscCall(HangRelations(&m[1], &m[1], a[1].first, a[1].nc, &n, &r));
  EXPECT("a higher order below", HopsSpaceSetCoarse(other, sp[1], n, r), "orders fall");
  PetscCall(PetscFree(r));
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(HangRelations(&m[0], &m[1], a[1].first, a[1].nc, &n, &r));
  PetscCall(HopsSpaceSetCoarse(sp[1], sp[0], n, r));
  PetscCall(PetscFree(r));
  PetscCall(Expect("single precision", sp[1], "-pc_hopsmg_precision single -pc_mg_cycle_type w", "-pc_hopsmg_precision double"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_cycle_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_hopsmg_precision"));
  PetscCall(Expect("small patches alone", sp[1], "-mg_levels_pc_type patchfd -mg_levels_pc_patchfd_dense_max 1",
                   "hanging nodes|-pc_patchfd_dense_max|jacobi"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_type"));
  PetscCall(HopsSpaceSetCoarse(sp[1], NULL, 0, NULL));
  PetscCall(Expect("no hierarchy", sp[1], "", "HopsSpaceSetCoarse()|-pc_hopsmg_coarsen"));
  for (PetscInt l = 0; l < 3; ++l) {
    PetscCall(HopsSpaceDestroy(&sp[l]));
    PetscCall(HangArraysDestroy(&a[l]));
    PetscCall(HangDestroy(&m[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarse cell where the fine mesh has none */
static PetscErrorCode Covered(PetscInt dim)
{
  const PetscInt M[3] = {2, 2, 2};
  PetscInt       n    = 0, *r;
  HangMesh       m[2];
  HangArrays     a[2];
  HopsSpace      sp[2];

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < 2; ++l) {
    PetscCall(HangCreate(dim, M, l ? PETSC_TRUE : PETSC_FALSE, 1, &m[l]));
    PetscCall(HangList(&m[l], PETSC_FALSE));
    PetscCall(HangArraysCreate(&m[l], 2, NULL, NULL, -1, &a[l]));
    PetscCall(HangSpace(&m[l], 2, &a[l], &sp[l]));
  }
  PetscCall(HangRelations(&m[0], &m[1], a[1].first, a[1].nc, &n, &r));
  EXPECT("a cell that is not covered", HopsSpaceSetCoarse(sp[1], sp[0], n, r), "not covered by its children");
  PetscCall(PetscFree(r));
  for (PetscInt l = 0; l < 2; ++l) {
    PetscCall(HopsSpaceDestroy(&sp[l]));
    PetscCall(HangArraysDestroy(&a[l]));
    PetscCall(HangDestroy(&m[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim = 2;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(Covered(dim));
  PetscCall(Spaces(dim));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: spaces
    args: -dim {{2 3}} -malloc_dump 0

TEST*/
