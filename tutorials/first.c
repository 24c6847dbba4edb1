static char help[] = "-laplace u = 1 on a square by a spectral-element code of its own: -order <p> -n <n>: n^2 cells\n";
#include <hops.h>

static PetscInt     p = 6, n = 8, ncells;
static PetscReal    z[65], w[65], **K; /* Gauss-Lobatto nodes and weights, stiffness matrix of 1D */
static HopsSpace    space;
static Vec          inside, t; /* 0 on the boundary, else 1 */
static PetscScalar *u, *v;     /* values cell by cell, x fastest */

/* y = A x, cell by cell; rows of the boundary are those of the identity */
static PetscErrorCode Mult(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecPointwiseMult(t, inside, x));
  PetscCall(HopsSpaceGlobalToElements(space, t, u));
  for (PetscInt i = 0, P = p + 1; i < ncells * P * P; ++i) {
    const PetscInt ix = i % P, iy = i / P % P, cell = i - iy * P - ix;

    for (PetscInt k = v[i] = 0; k < P; ++k)
      v[i] += w[iy] * K[ix][k] * u[cell + iy * P + k] + w[ix] * K[iy][k] * u[cell + k * P + ix];
  }
  PetscCall(HopsSpaceElementsToGlobal(space, v, ADD_VALUES, y));
  PetscCall(VecPointwiseMult(y, y, inside));
  PetscCall(VecAXPBYPCZ(y, 1.0, -1.0, 1.0, x, t));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt64  *ids; /* of nodes: cells that share one have the same id */
  PetscReal   *X;
  PetscScalar *f, *in;
  PetscMPIInt  rank, size;
  Mat          A;
  Vec          x, b;
  KSP          ksp;
  PetscInt     local;
  PetscReal    most;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const PetscInt P = p + 1, m = n * n * P * P;
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  PetscCall(PetscGaussLobattoLegendreElementLaplacianCreate(P, z, w, &K));
  PetscCall(PetscMalloc6(m, &ids, 2 * m, &X, m, &f, m, &in, m, &u, m, &v));
  for (PetscInt c = 0, k = 0; c < n * n; ++c)
    for (PetscInt i = 0; i < P * P && c * size / (n * n) == rank; ++i, ++k) { /* cells of this rank */
      const PetscInt ix = c % n * p + i % P, iy = c / n * p + i / P;

      ids[k]       = iy * (n * p + 1) + ix;
      X[2 * k]     = (c % n + 0.5 * (z[i % P] + 1.0)) / n;
      X[2 * k + 1] = (c / n + 0.5 * (z[i / P] + 1.0)) / n;
      f[k]         = w[i % P] * w[i / P] / (4.0 * n * n);
      in[k]        = ix % (n * p) && iy % (n * p) ? 1.0 : 0.0;
      ncells       = k / (P * P) + 1;
    }
  PetscCall(HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, 2, p, ncells, PETSC_DECIDE, ids, NULL, X, 0, NULL, &space));

  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &t));
  PetscCall(VecDuplicate(x, &inside));
  PetscCall(HopsSpaceElementsToGlobal(space, in, INSERT_VALUES, inside));
  PetscCall(HopsSpaceElementsToGlobal(space, f, ADD_VALUES, b));
  PetscCall(VecPointwiseMult(b, b, inside));
  PetscCall(VecGetLocalSize(x, &local));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))Mult));
  PetscCall(MatSetHopsSpace(A, space)); /* this one line is for -pc_type lor */

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecMax(x, NULL, &most));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the largest value is %.6f\n", (double)most));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&inside));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(PetscGaussLobattoLegendreElementLaplacianDestroy(P, z, w, &K));
  PetscCall(PetscFree6(ids, X, f, in, u, v));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -order {{4 8}} -ksp_type cg -ksp_rtol 1e-10 -pc_type lor -ksp_converged_reason
    nsize: {{1 3}}
    filter: sed "s/iterations 1[0-9]/few iterations/"

TEST*/
