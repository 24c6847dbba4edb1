static char help[] = "A code that knows nothing of hops: diffusion, reaction and convection of a vector-valued field.\n\
  -nc <n>, -mass <m>, -couple <c>, -conv <v>, -nonlinear : components; factors of the terms; nonlinear diffusion and reaction\n\
  -prec                 : Jacobian functions of a preconditioning matrix of its own\n\
  -bc <all,vertices,...>: essential points of the mesh, by StrangerLabel()\n\
  -component            : the first component alone is essential on 'marker' 1; -second: the last one on 'marker' 3 too\n\
  -anchor               : an unknown is tied to another\n\
  -quad <default,tensor,gll,reverse,permuted,shrink,weights,stroud,tanhsinh>, -quad_points <n> : quadrature of the PetscFE's own;\n\
                          tensor: n Gauss points per direction; gll: n Gauss-Lobatto points (order + 1); reverse,\n\
                          permuted: default's in another order; shrink, weights: with its points moved, with other weights\n\
  -reference <bound>, -check_solution, -most_its <n> : see StrangerRun()\n\n";

#include "stranger.h"

typedef enum {
  DEFAULT,
  TENSOR,
  GLL,
  REVERSE,
  PERMUTED,
  SHRINK,
  WEIGHTS,
  STROUD,
  TANHSINH
} Rule;
static const char *const rules[] = {"default", "tensor", "gll",      "reverse", "permuted", "shrink",
                                    "weights", "stroud", "tanhsinh", "Rule",    "",         NULL};

/* point functions see no context */
static PetscInt     NC   = 2;
static PetscReal    mass = 1.0, couple = 0.3, conv = 0.0;
static PetscBool    nonlinear = PETSC_FALSE;
static PetscInt     points    = PETSC_DEFAULT;
static Rule         rule      = DEFAULT;
static BoundaryKind boundary  = BC_ALL;
static PetscBool    component = PETSC_FALSE, second = PETSC_FALSE, prec = PETSC_FALSE, anchor = PETSC_FALSE;

/* ---------------------------------------- the equation ---------------------------------------- */

static void f0(FUN)
{
  for (PetscInt i = 0; i < NC; ++i) {
    f[i] = mass * (i + 1) * u[i] - 1.0 - i * x[0];
    for (PetscInt j = 0; j < NC; ++j)
      if (j != i) f[i] += 0.1 * couple * u[j];
    for (PetscInt d = 0; d < dim; ++d) f[i] += conv * (1.0 + d + x[0]) * u_x[i * dim + d];
    if (nonlinear) f[i] += u[i] * u[i] * u[i];
  }
}

static void f1(FUN)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt d = 0; d < dim; ++d) {
      f[i * dim + d] = (1.0 + i + 0.5 * x[d] + (nonlinear ? u[0] * u[0] : 0.0)) * u_x[i * dim + d];
      if (NC == dim) f[i * dim + d] += couple * u_x[d * dim + i];
    }
}

static void g0(JAC)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt j = 0; j < NC; ++j) {
      if (i != j) g[i * NC + j] = 0.1 * couple;
      else g[i * NC + j] = mass * (i + 1) + (nonlinear ? 3.0 * u[i] * u[i] : 0.0);
    }
}

static void g1(JAC)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt d = 0; d < dim; ++d) g[(i * NC + i) * dim + d] = conv * (1.0 + d + x[0]);
}

static void g2(JAC)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt d = 0; d < dim; ++d) g[(i * NC + 0) * dim + d] = 2.0 * u[0] * u_x[i * dim + d];
}

static void g3(JAC)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt d = 0; d < dim; ++d) {
      g[((i * NC + i) * dim + d) * dim + d] += 1.0 + i + 0.5 * x[d] + (nonlinear ? u[0] * u[0] : 0.0);
      if (NC == dim) g[((i * NC + d) * dim + d) * dim + i] += couple;
    }
}

static void g3_prec(JAC)
{
  for (PetscInt i = 0; i < NC; ++i)
    for (PetscInt d = 0; d < dim; ++d) g[((i * NC + i) * dim + d) * dim + d] += 1.0 + i;
}

/* of all components, or of the one that is essential */
static PetscErrorCode Boundary(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(2.0 * PETSC_PI * x[0]) + 0.3 * PetscCosReal(2.0 * PETSC_PI * x[1]) + i;
  return PETSC_SUCCESS;
}

/* ---------------------------------- quadrature of one's own ---------------------------------- */

/* the tensor product of n points z with weights v */
static PetscErrorCode CreateTensor(PetscInt dim, PetscInt n, const PetscReal z[], const PetscReal v[], PetscQuadrature *quad)
{
  const PetscInt N = PetscPowInt(n, dim);
  PetscReal     *x, *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(N * dim, &x));
  PetscCall(PetscMalloc1(N, &w));
  for (PetscInt k = 0; k < N; ++k) {
    w[k] = 1.0;
    for (PetscInt d = 0, r = k; d < dim; ++d, r /= n) {
      x[k * dim + d] = z[r % n];
      w[k] *= v[r % n];
    }
  }
  PetscCall(PetscQuadratureCreate(PETSC_COMM_SELF, quad));
  PetscCall(PetscQuadratureSetData(*quad, dim, 1, N, x, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGLL(PetscInt dim, PetscInt n, PetscQuadrature *quad)
{
  PetscReal *z, *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &z, n, &v));
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_LINEAR_ALGEBRA, z, v));
  PetscCall(CreateTensor(dim, n, z, v, quad));
  PetscCall(PetscFree2(z, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateTanhSinh(PetscInt dim, PetscQuadrature *quad)
{
  PetscQuadrature  line;
  const PetscReal *z, *v;
  PetscInt         n;

  PetscFunctionBeginUser;
  PetscCall(PetscDTTanhSinhTensorQuadrature(1, 3, -1.0, 1.0, &line));
  PetscCall(PetscQuadratureGetData(line, NULL, NULL, &n, &z, &v));
  PetscCall(CreateTensor(dim, n, z, v, quad));
  PetscCall(PetscQuadratureDestroy(&line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rule that the element has, in another order, with its points moved inwards, or with other weights */
static PetscErrorCode CreateChanged(PetscInt dim, PetscQuadrature old, PetscQuadrature *quad)
{
  const PetscReal *x, *w;
  PetscReal       *X, *W;
  PetscInt         n, step = 7;

  PetscFunctionBeginUser;
  PetscCall(PetscQuadratureGetData(old, NULL, NULL, &n, &x, &w));
  while (n % step == 0) step += 4; /* a prime that does not divide n: 7 or 11 */
  PetscCall(PetscMalloc1(n * dim, &X));
  PetscCall(PetscMalloc1(n, &W));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt j = rule == REVERSE ? n - 1 - i : (rule == PERMUTED ? (i * step) % n : i);

    for (PetscInt d = 0; d < dim; ++d) X[i * dim + d] = x[j * dim + d] * (rule == SHRINK ? 0.9 : 1.0);
    W[i] = w[j] * (rule == WEIGHTS ? 1.0 + 0.3 * x[j * dim] : 1.0);
  }
  PetscCall(PetscQuadratureCreate(PETSC_COMM_SELF, quad));
  PetscCall(PetscQuadratureSetData(*quad, dim, 1, n, X, W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRule(PetscInt dim, PetscFE fe)
{
  PetscQuadrature old, quad;
  PetscSpace      space;
  PetscInt        p;

  PetscFunctionBeginUser;
  if (rule == DEFAULT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFEGetBasisSpace(fe, &space));
  PetscCall(PetscSpaceGetDegree(space, &p, NULL));
  PetscCall(PetscFEGetQuadrature(fe, &old));
  if (rule == TENSOR) PetscCall(PetscDTGaussTensorQuadrature(dim, 1, points > 0 ? points : p + 3, -1.0, 1.0, &quad));
  else if (rule == STROUD) PetscCall(PetscDTStroudConicalQuadrature(dim, 1, p + 1, -1.0, 1.0, &quad));
  else if (rule == GLL) PetscCall(CreateGLL(dim, points > 0 ? points : p + 1, &quad));
  else if (rule == TANHSINH) PetscCall(CreateTanhSinh(dim, &quad));
  else PetscCall(CreateChanged(dim, old, &quad));
  PetscCall(PetscFESetQuadrature(fe, quad));
  PetscCall(PetscQuadratureDestroy(&quad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- discretisation --------------------------------------- */

static PetscErrorCode AddEssential(DM dm, const char name[], DMLabel label, PetscInt value, PetscInt nc, PetscInt c)
{
  PetscFunctionBeginUser;
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, name, label, 1, &value, 0, nc, &c, (StrangerBoundary)Boundary, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBoundaries(DM dm)
{
  DMLabel label;

  PetscFunctionBeginUser;
  if (component) {
    PetscCall(DMGetLabel(dm, "marker", &label));
    PetscCall(AddEssential(dm, "first", label, 1, 1, 0));
    if (second) PetscCall(AddEssential(dm, "last", label, 3, 1, NC - 1));
  } else if (boundary != BC_NONE) {
    PetscCall(StrangerLabel(dm, boundary, &label));
    PetscCall(AddEssential(dm, "wall", label, 1, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vertex in the middle of the numbering takes the values of the next */
static PetscErrorCode AddAnchor(DM dm)
{
  PetscSection anchors, csection, section;
  IS           is;
  Mat          C;
  PetscInt     vStart, vEnd, v, next, row, col;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  v    = (vStart + vEnd) / 2;
  next = v + 1;
  PetscCall(PetscSectionCreate(PETSC_COMM_SELF, &anchors));
  PetscCall(PetscSectionSetChart(anchors, vStart, vEnd));
  PetscCall(PetscSectionSetDof(anchors, v, 1));
  PetscCall(PetscSectionSetUp(anchors));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, 1, &next, PETSC_COPY_VALUES, &is));
  PetscCall(DMPlexSetAnchors(dm, anchors, is));
  PetscCall(PetscSectionDestroy(&anchors));
  PetscCall(ISDestroy(&is));
  PetscCall(DMGetDefaultConstraints(dm, &csection, &C, NULL));
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(PetscSectionGetOffset(csection, v, &row));
  PetscCall(PetscSectionGetOffset(section, next, &col));
  for (PetscInt i = 0; i < NC; ++i) PetscCall(MatSetValue(C, row + i, col + i, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Discretise(DM dm)
{
  PetscFE  fe;
  PetscDS  ds;
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, NC, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(SetRule(dim, fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, conv != 0.0 ? g1 : NULL, nonlinear ? g2 : NULL, g3));
  if (prec) PetscCall(PetscDSSetJacobianPreconditioner(ds, 0, 0, g0, NULL, NULL, g3_prec));
  PetscCall(SetBoundaries(dm));
  if (anchor) PetscCall(AddAnchor(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Stranger problem = {NULL, Discretise, 0.1, PETSC_TRUE, PETSC_FALSE};
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nc", &NC, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &mass, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-couple", &couple, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-conv", &conv, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nonlinear", &nonlinear, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-prec", &prec, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-bc", boundaries, (PetscEnum *)&boundary, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-component", &component, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-second", &second, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-anchor", &anchor, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-quad", rules, (PetscEnum *)&rule, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-quad_points", &points, NULL));
  problem.linear = nonlinear ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(StrangerRun(&problem, &its));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -ksp_type cg -ksp_rtol 1e-12 -pc_type lor
      -reference 1e-9
    output_file: output/stranger.out

    test:
      suffix: components
      args: -dm_plex_box_faces 2,2 -petscspace_degree 3 -nc {{1 2 3 4 5 6}}
    test:
      suffix: components_empty
      nsize: 5
      args: -dm_plex_box_faces 2,2 -petscspace_degree 3 -nc 3
    test:
      suffix: components_3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -petscspace_degree 2 -nc {{3 6}}
    test:
      suffix: boundary
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -bc {{vertices some none}}
    test:
      suffix: component
      nsize: 2
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -nc {{2 3}} -component -second -dm_plex_separate_marker
    test:
      suffix: convection
      nsize: 2
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -conv 1 -pc_lor_upwind {{0 1}} -ksp_type gmres
    test:
      suffix: nonlinear
      nsize: 2
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -nc {{1 2}} -nonlinear -snes_rtol 1e-12 -ksp_type gmres
    test:
      suffix: preconditioner
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -prec
    test:
      suffix: overlap
      requires: real
      nsize: 3
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -dm_distribute_overlap 1
    test:
      suffix: overlap_operator
      requires: real
      nsize: 3
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -dm_distribute_overlap 1 -hops_residual 0

    # quadrature of the code's own is honoured
    test:
      suffix: quad
      args: -dm_plex_box_faces 3,3 -petscspace_degree 2 -nc {{1 2}} -quad {{tensor gll reverse permuted shrink}}
    test:
      suffix: quad_points
      args: -dm_plex_box_faces 3,3 -petscspace_degree 3 -nc {{1 2}} -quad tensor -quad_points {{3 4 7}}
    test:
      suffix: quad_residual
      args: -dm_plex_box_faces 3,3 -petscspace_degree 2 -nc 1 -quad {{gll permuted}} -dm_mat_type aij
    test:
      suffix: quad_operator
      args: -dm_plex_box_faces 3,3 -petscspace_degree 2 -nc 1 -quad {{gll permuted}} -hops_residual 0
    test:
      suffix: quad_3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -petscspace_degree 2 -nc {{1 3}} -quad {{gll reverse}}

  # or refused
  test:
    suffix: quad_refused
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -pc_type lor -dm_plex_box_faces 3,3
      -petscspace_degree 2 -nc {{1 2}} -quad {{weights stroud tanhsinh}} -petsc_ci_portable_error_output
    filter: grep -oE "quadrature|converged" | sort -u
    output_file: output/stranger_quad.out
  test:
    suffix: anchor
    args: -dll_append ${HOPS_LIB} -options_left 0 -pc_type lor -dm_plex_box_faces 3,3 -petscspace_degree 3 -anchor
      -dm_mat_type {{aij pa}} -petsc_ci_portable_error_output
    filter: grep -oE "has anchors|converged" | sort -u
    output_file: output/stranger_anchor.out
  test:
    suffix: components_refused
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -pc_type lor -dm_plex_box_faces 3,3 -petscspace_degree 2 -nc 7
      -petsc_ci_portable_error_output
    filter: grep -oE "at most 6|converged" | sort -u
    output_file: output/stranger_components.out

TEST*/
