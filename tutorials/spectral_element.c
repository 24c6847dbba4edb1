static char help[] = "A spectral-element code with its own matrix, and -pc_type lor from its node numbers and coordinates.\n\
\n\
  div(k grad u) = f on a quarter of a ring, k = exp(c x), u = x^2 - y^2 on its boundary. PETSc alone assembles the\n\
  matrix, by collocation at the Gauss-Lobatto-Legendre nodes. Three lines hand node numbers and coordinates to hops,\n\
  which finds the Dirichlet rows in the matrix, and makes up for k by its diagonal.\n\
\n\
  -order <p>      : polynomial order\n\
  -cells <nr,nt>  : cells along the radius and the angle\n\
  -contrast <c>   : k = exp(c x)\n\n\
  Try: -order 8 -ksp_type cg -pc_type lor -ksp_converged_reason\n\n";

#include <hops.h>
#include <petscdt.h>

/* What the code has: nr x nt cells, cut into slices of the angle, one for each rank. Nodes are numbered
   around
   the ring, those of a radius after each other; a node between two ranks is the lower one's. */
typedef struct {
  PetscInt   p, nr, nt, c0, c1; /* order, cells, this rank's slice of the angle */
  PetscInt   ncells, nloc, np;  /* this rank's cells and nodes, nodes of a cell */
  PetscInt  *nodes;             /* [ncells][np] global number of each node of each cell, x fastest */
  PetscReal *coords;            /* [ncells][np][2] */
  PetscReal *x, *w, **D, **Dt;  /* nodes and weights of [-1,1]; derivative of polynomial j at node i */
  PetscReal  contrast;
} Mesh;

static PetscErrorCode MeshCreate(Mesh *m)
{
  const PetscInt P = m->p + 1, row = m->nr * m->p + 1;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(P, &m->x, P, &m->w));
  if (P == 2) {
    m->x[0] = -1.0;
    m->x[1] = m->w[0] = m->w[1] = 1.0;
  } else PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, m->x, m->w));
  PetscCall(PetscGaussLobattoLegendreElementGradientCreate(P, m->x, m->w, &m->D, &m->Dt));
  m->c0     = m->nt * rank / size;
  m->c1     = m->nt * (rank + 1) / size;
  m->np     = P * P;
  m->ncells = m->nr * (m->c1 - m->c0);
  m->nloc   = row * ((m->c1 - m->c0) * m->p + (m->c0 == 0 && m->c1 > 0 ? 1 : 0));
  PetscCall(PetscMalloc2(m->ncells * m->np, &m->nodes, m->ncells * m->np * 2, &m->coords));
  for (PetscInt c = 0; c < m->ncells; ++c)
    for (PetscInt i = 0; i < m->np; ++i) {
      const PetscInt  cr = c % m->nr, ct = m->c0 + c / m->nr, a = i % P, b = i / P;
      const PetscReal r = 2.0 - (cr + 0.5 * (m->x[a] + 1.0)) / m->nr, t = 0.5 * PETSC_PI * (ct + 0.5 * (m->x[b] + 1.0)) / m->nt;

      m->nodes[c * m->np + i]            = (ct * m->p + b) * row + cr * m->p + a;
      m->coords[(c * m->np + i) * 2]     = r * PetscSinReal(t); /* right-handed: the radius shrinks, the angle goes from y to x */
      m->coords[(c * m->np + i) * 2 + 1] = r * PetscCosReal(t);
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode MeshDestroy(Mesh *m)
{
  PetscFunctionBeginUser;
  PetscCall(PetscGaussLobattoLegendreElementGradientDestroy(m->p + 1, m->x, m->w, &m->D, &m->Dt));
  PetscCall(PetscFree2(m->x, m->w));
  PetscCall(PetscFree2(m->nodes, m->coords));
  PetscFunctionReturn(0);
}

/* K[np][np] and F[np] of a cell: at each node q the gradients g[np][2] of all basis functions */
static void CellMatrix(const Mesh *m, const PetscReal X[], PetscReal g[], PetscScalar K[], PetscScalar F[])
{
  const PetscInt P = m->p + 1;

  for (PetscInt i = 0; i < m->np * m->np; ++i) K[i] = 0.0;
  for (PetscInt q = 0; q < m->np; ++q) {
    const PetscInt a = q % P, b = q / P;
    PetscReal      J[2][2] = {{0.0}}, det, s, k = PetscExpReal(m->contrast * X[2 * q]);

    for (PetscInt d = 0; d < 2; ++d)
      for (PetscInt i = 0; i < P; ++i) {
        J[d][0] += m->D[a][i] * X[2 * (b * P + i) + d];
        J[d][1] += m->D[b][i] * X[2 * (i * P + a) + d];
      }
    det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    for (PetscInt i = 0; i < m->np; ++i) {
      const PetscReal u = i / P == b ? m->D[a][i % P] : 0.0, v = i % P == a ? m->D[b][i / P] : 0.0;

      g[2 * i]     = (u * J[1][1] - v * J[1][0]) / det;
      g[2 * i + 1] = (v * J[0][0] - u * J[0][1]) / det;
    }
    s = m->w[a] * m->w[b] * det * k;
    for (PetscInt i = 0; i < m->np; ++i)
      for (PetscInt j = 0; j < m->np; ++j) K[i * m->np + j] += s * (g[2 * i] * g[2 * j] + g[2 * i + 1] * g[2 * j + 1]);
    F[q] = -2.0 * s * m->contrast * X[2 * q];
  }
}

/* The code's own matrix, right-hand side, and solution at the nodes, which is known on the boundary */
static PetscErrorCode Assemble(const Mesh *m, Mat *A, Vec *b, Vec *u)
{
  const PetscInt P = m->p + 1, most = PetscMin((2 * m->p + 1) * (2 * m->p + 1), (m->nr * m->p + 1) * (m->nt * m->p + 1));
  PetscReal     *g;
  PetscScalar   *K, *F, *value;
  PetscInt      *wall, n = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m->nloc, m->nloc, PETSC_DETERMINE, PETSC_DETERMINE, PetscMin(most, m->nloc), NULL, most,
                         NULL, A));
  PetscCall(MatCreateVecs(*A, u, b));
  PetscCall(PetscMalloc5(2 * m->np, &g, m->np * m->np, &K, m->np, &F, m->np, &value, m->ncells * m->np, &wall));
  for (PetscInt c = 0; c < m->ncells; ++c) {
    const PetscReal *X  = m->coords + 2 * c * m->np;
    const PetscInt   cr = c % m->nr, ct = m->c0 + c / m->nr, *nodes = m->nodes + c * m->np;

    CellMatrix(m, X, g, K, F);
    PetscCall(MatSetValues(*A, m->np, nodes, m->np, nodes, K, ADD_VALUES));
    PetscCall(VecSetValues(*b, m->np, nodes, F, ADD_VALUES));
    for (PetscInt i = 0; i < m->np; ++i) {
      const PetscInt ir = cr * m->p + i % P, it = ct * m->p + i / P;

      value[i] = X[2 * i] * X[2 * i] - X[2 * i + 1] * X[2 * i + 1];
      if (ir == 0 || ir == m->nr * m->p || it == 0 || it == m->nt * m->p) wall[n++] = nodes[i];
    }
    PetscCall(VecSetValues(*u, m->np, nodes, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*b));
  PetscCall(VecAssemblyEnd(*b));
  PetscCall(VecAssemblyBegin(*u));
  PetscCall(VecAssemblyEnd(*u));
  PetscCall(MatZeroRowsColumns(*A, n, wall, 1.0, *u, *b));
  PetscCall(PetscFree5(g, K, F, value, wall));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mesh      m  = {.p = 4, .nr = 8, .nt = 8, .contrast = 2.0};
  PetscInt  nn = 2, its, cells[2] = {8, 8};
  PetscReal error;
  HopsSpace space;
  Mat       A;
  Vec       b, u, x;
  KSP       ksp;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &m.p, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", cells, &nn, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &m.contrast, NULL));
  m.nr = cells[0];
  m.nt = cells[1];
  PetscCall(MeshCreate(&m));
  PetscCall(Assemble(&m, &A, &b, &u));

  /* all that hops needs */
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, m.p, m.ncells, m.nloc, m.nodes, m.coords, 0, NULL, &space));
  PetscCall(MatSetHopsSpace(A, space));
  PetscCall(HopsSpaceDestroy(&space));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": %" PetscInt_FMT " iterations, error %.1e\n", m.p, its, (double)error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(MeshDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -order {{3 6}separate output} -cells 4,4 -ksp_type cg -pc_type lor
    nsize: {{1 3}}
    filter: sed "s/ 1\\?[0-9] iterations/ few iterations/; s/error [0-9.]*e/error e/"

TEST*/
