static char help[] = "Multigrid on conforming meshes given as arrays, which may be left-handed: each coarse operator is P^T A P.\n\
  -left : all cells are left-handed; -cells <n> of a side of the coarse square; -order <p>\n\
  -robin : a term on one side; -points : a coefficient at points\n\n";

#include "boxarrays.h"

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(1.3 * x[0] + 0.4) * PetscCosReal(0.7 * x[1]) + 0.3 * x[1] * x[0] + x[0];
  return PETSC_SUCCESS;
}

static PetscErrorCode CreateSpace(Box *b, PetscBool left, HopsSpace *sp)
{
  BoxArrays a;

  PetscFunctionBeginUser;
  PetscCall(BoxSetUp(b));
  PetscCall(BoxArraysCreate(b, PETSC_FALSE, PETSC_FALSE, &a));
  for (PetscInt i = 0; left && i < a.nc * a.np; ++i) { /* the mesh in a mirror */
    const PetscReal t = a.coords[i * b->dim];

    a.coords[i * b->dim]     = a.coords[i * b->dim + 1];
    a.coords[i * b->dim + 1] = t;
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a.nc, a.owned, a.nodes, a.coords, a.ness, a.ess, sp));
  PetscCall(BoxArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the column of each of this rank's cells; how they lie in the cells of the coarse square */
static PetscErrorCode Relations(const Box *coarse, const Box *fine, PetscInt n, PetscInt column[], PetscInt relations[])
{
  PetscMPIInt rank, size;
  PetscInt    m = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt c = 0; c < fine->nc; ++c) {
    const PetscInt i = c % fine->cells[0], j = c / fine->cells[0];

    if (c * size / fine->nc != rank) continue; /* as BoxArraysCreate() deals them out */
    PetscCheck(m < n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The rank has other cells");
    column[m]            = i;
    relations[3 * m]     = m;
    relations[3 * m + 1] = i / 2 + j / 2 * coarse->cells[0];
    relations[3 * m + 2] = (i & 1) | (j & 1) << 1;
    ++m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 + x / 2 along the lattice, in columns of coarse cells: by the nearest points it differs by little */
static PetscErrorCode AtPoints(HopsSpace sp, PetscInt n, const PetscInt column[], PetscInt q, HopsCoefficient *c)
{
  PetscReal   *z, *w;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(q, &z, q, &w, n * q * q, &v));
  PetscCall(PetscDTGaussQuadrature(q, -1, 1, z, w));
  for (PetscInt k = 0; k < n * q * q; ++k) v[k] = 1.0 + 0.5 * (column[k / (q * q)] + 0.5 * (z[k % q] + 1.0));
  PetscCall(HopsCoefficientCreateQuadrature(sp, 1, q, v, c));
  PetscCall(PetscFree3(z, w, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddRobin(Mat A, PetscInt n, const PetscInt column[])
{
  const PetscScalar three = 3.0;
  HopsCoefficient   alpha;
  PetscInt         *cells, *faces, m = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(n, &cells, n, &faces));
  for (PetscInt k = 0; k < n; ++k)
    if (!column[k]) cells[m++] = k;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &three, &alpha));
  PetscCall(MatPAAddRobin(A, m, cells, faces, alpha));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscCall(PetscFree2(cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |P^T A P x - A_c x| by |A_c x| on each level but the coarsest */
static PetscErrorCode CompareLevels(PC pc, PetscReal tol)
{
  PetscInt nl;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &nl));
  for (PetscInt l = nl - 1; l > 0; --l) {
    Mat       P, Af, Ac;
    Vec       x, y, z, w, u;
    HopsSpace s;
    PetscReal n, e;

    PetscCall(TestLevel(pc, l, &P, &Af, &Ac));
    PetscCall(MatCreateVecs(P, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecDuplicate(x, &w));
    PetscCall(VecDuplicate(x, &u));
    PetscCall(PCHopsMGGetSpace(pc, l - 1, &s));
    PetscCall(HopsSpaceInterpolate(s, Wave, NULL, x));
    PetscCall(MatMult(P, x, y));
    PetscCall(MatMult(Af, y, z));
    PetscCall(MatMultTranspose(P, z, u));
    PetscCall(MatMult(Ac, x, w));
    PetscCall(VecNorm(w, NORM_2, &n));
    PetscCall(VecAXPY(u, -1.0, w));
    PetscCall(VecNorm(u, NORM_2, &e));
    if (n > 0.0 && e <= tol * n) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "coarse operator: P^T A P\n"));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "level %" PetscInt_FMT ": DIFFERS by %g\n", l, (double)(e / n)));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&w));
    PetscCall(VecDestroy(&u));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscScalar unit  = 1.0;
  PetscBool         left  = PETSC_FALSE, robin, points;
  PetscInt          cells = 3, p = 3, n, *relations, *column;
  Box               b[2];
  HopsSpace         sp[2];
  HopsCoefficient   one, c;
  Mat               A;
  PC                pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-left", &left, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-robin", &robin));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-points", &points));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &cells, NULL));
  for (PetscInt k = 0; k < 2; ++k) {
    b[k] = (Box){.dim = 2, .p = p, .cells = {cells * (k + 1), cells * (k + 1), 1}, .straight = PETSC_TRUE};
    PetscCall(CreateSpace(&b[k], left, &sp[k]));
  }
  PetscCall(HopsSpaceGetNumCells(sp[1], &n));
  PetscCall(PetscMalloc2(3 * n, &relations, n, &column));
  PetscCall(Relations(&b[0], &b[1], n, column, relations));
  PetscCall(HopsSpaceSetCoarse(sp[1], sp[0], n, relations));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(MatCreatePA(sp[1], &A));
  PetscCall(MatPASetQuadrature(A, p + 2, PETSC_FALSE));
  PetscCall(MatPASetDiffusion(A, one));
  if (points) {
    PetscCall(AtPoints(sp[1], n, column, p + 2, &c));
    PetscCall(MatPASetMass(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  } else PetscCall(MatPASetMass(A, one));
  if (robin) PetscCall(AddRobin(A, n, column));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(CompareLevels(pc, points ? 3e-3 : 1e-12)); /* of a coefficient at points the nearest ones are taken */
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(PetscFree2(relations, column));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsSpaceDestroy(&sp[k]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: mesh
    nsize: {{1 3}}
    args: -left {{0 1}} -cells {{3 4}} -pc_hopsmg_coarsen h -robin
    output_file: output/hopsmgarrays_1.out

  test:
    suffix: points
    nsize: {{1 2}}
    args: -left {{0 1}} -pc_hopsmg_coarsen h -points
    output_file: output/hopsmgarrays_1.out

  test:
    suffix: order
    nsize: {{1 2}}
    args: -left {{0 1}} -pc_hopsmg_coarsen p -robin
    output_file: output/hopsmgarrays_1.out

  test:
    suffix: both
    nsize: {{1 3}}
    args: -left {{0 1}} -order 4 -pc_hopsmg_coarsen ph -robin
    output_file: output/hopsmgarrays_2.out

TEST*/
