static char help[] = "Solves -div(kappa grad u) + c u = f at high order: matrix-free operator, low-order-refined preconditioner.\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>, -dm_refine <n>: mesh of quadrilaterals or hexahedra\n\
  -order <p>                                          : polynomial order (default 4)\n\
  -coefficient <constant,variable,tensor,checkerboard>: kappa\n\
  -reaction <c>                                       : c (default 0)\n\
  -boundary <dirichlet,neumann,robin>                 : condition on the boundary outside -dirichlet_values\n\
  -dirichlet_values <v,...>                           : values of the label 'Face Sets' with Dirichlet conditions\n\
  -exact <bool>                                       : a solution is known (default where u is given on the whole boundary)\n\
  -vtu <file.vtu>                                     : write the solution for ParaView\n\
  -show_times                                         : print the time of each part\n\n";

#include <hops.h>
#include <petscksp.h>

typedef enum { CONSTANT, VARIABLE, TENSOR, CHECKERBOARD } Kind;
typedef enum { DIRICHLET, NEUMANN, ROBIN } Boundary;
static const char *const kinds[]      = {"constant", "variable", "tensor", "checkerboard", "Kind", "", NULL};
static const char *const boundaries[] = {"dirichlet", "neumann", "robin", "Boundary", "", NULL};

typedef struct {
  Kind      kind;
  PetscReal reaction;
} Problem;

/* kappa is k(x) K with a constant matrix K and k(x) = 1, or 1 + |x|^2 / 2, whose gradient is x */
static const PetscReal tensor[3][3] = {{1.0, 0.3, 0.2}, {0.3, 2.0, 0.4}, {0.2, 0.4, 3.0}};

static PetscReal Matrix(Problem *p, PetscInt i, PetscInt j)
{
  return p->kind == TENSOR ? tensor[i][j] : (PetscReal)(i == j);
}

static PetscReal Scale(Problem *p, PetscInt dim, const PetscReal x[])
{
  PetscReal k = 1.0;

  for (PetscInt d = 0; d < dim && p->kind != CONSTANT; ++d) k += 0.5 * x[d] * x[d];
  return k;
}

static PetscErrorCode Kappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar kappa[], void *ctx)
{
  const PetscReal k = Scale((Problem *)ctx, dim, x);

  kappa[0] = k;
  for (PetscInt i = 0, n = 0; nc > 1 && i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j) kappa[n++] = k * Matrix((Problem *)ctx, i, j);
  return 0;
}

/* The solution is sin(2x + 0.3) exp(y/2) cos(z + 0.1): factors g[d][r], derivative r in direction d */
static void Factors(const PetscReal x[], PetscInt dim, PetscReal g[3][3])
{
  const PetscReal s = PetscSinReal(2.0 * x[0] + 0.3), c = PetscCosReal(2.0 * x[0] + 0.3), e = PetscExpReal(0.5 * x[1]);
  const PetscReal z = dim > 2 ? x[2] + 0.1 : 0.0;
  const PetscReal f[3][3] = {{s, 2.0 * c, -4.0 * s}, {e, 0.5 * e, 0.25 * e}, {PetscCosReal(z), -PetscSinReal(z), -PetscCosReal(z)}};

  for (PetscInt d = 0; d < 3; ++d)
    for (PetscInt r = 0; r < 3; ++r) g[d][r] = f[d][r];
}

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscReal g[3][3];

  Factors(x, dim, g);
  u[0] = g[0][0] * g[1][0] * g[2][0];
  return 0;
}

/* f = -sum_ij K_ij (k d_i d_j u + d_i k d_j u) + c u */
static PetscErrorCode ExactSource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  Problem        *p = (Problem *)ctx;
  const PetscReal k = Scale(p, dim, x);
  PetscReal       g[3][3];

  Factors(x, dim, g);
  f[0] = p->reaction * g[0][0] * g[1][0] * g[2][0];
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) {
      PetscReal du = 1.0, ddu = 1.0;

      for (PetscInt d = 0; d < 3; ++d) {
        du *= g[d][d == j];
        ddu *= g[d][(d == i) + (d == j)];
      }
      f[0] -= Matrix(p, i, j) * (k * ddu + (p->kind == CONSTANT ? 0.0 : x[i] * du));
    }
  return 0;
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 1.0;
  return 0;
}

static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 1.0 + x[0] - 0.5 * x[1];
  return 0;
}

/* 1 or 1000 on each cell, by the parity of the cube of side 1/2 that holds the mean of its nodes */
static PetscErrorCode CreateCheckerboard(HopsSpace space, DM dm, HopsCoefficient *kappa)
{
  PetscInt     dim, cStart, cEnd;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    const PetscScalar *array;
    PetscScalar       *x;
    PetscInt           n, parity = 0;
    PetscBool          isdg;

    PetscCall(DMPlexGetCellCoordinates(dm, c, &isdg, &n, &array, &x));
    for (PetscInt d = 0; d < dim; ++d) {
      PetscReal mean = 0.0;

      for (PetscInt i = d; i < n; i += dim) mean += PetscRealPart(x[i]) * dim / n;
      parity += (PetscInt)PetscFloorReal(2.0 * mean);
    }
    values[c - cStart] = parity % 2 ? 1000.0 : 1.0;
    PetscCall(DMPlexRestoreCellCoordinates(dm, c, &isdg, &n, &array, &x));
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, kappa));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintTimes(MPI_Comm comm, PetscReal total)
{
  const char *const events[] = {"HopsSpaceSetUp", "MatPASetUp", "PCLORSymbolic", "PCLORNumeric", "PCLORSolverSetUp", "MatPAMult", "PCApply"};
  const char *const names[]  = {"space", "operator set-up", "LOR pattern", "LOR assembly", "AMG set-up", "operator apply", "V-cycle"};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 7; ++i) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId(events[i], &event));
    if (event < 0) continue;
    PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    PetscCall(PetscPrintf(comm, "%-16s %10.4f s", names[i], info.time));
    PetscCall(info.count > 1 ? PetscPrintf(comm, " = %d x %.6f s\n", info.count, info.time / info.count) : PetscPrintf(comm, "\n"));
  }
  PetscCall(PetscPrintf(comm, "%-16s %10.4f s\n", "all, from mesh", (double)total));
  PetscFunctionReturn(0);
}
