static char help[] = "A code that knows nothing of hops: -div(K grad u) + c u = 1 + x y on warped meshes, K = k T.\n\
  -coefficient <constant,checkerboard,smooth,inside,nan,infinite,negative,halfzero,minus,zero> : k; checkerboard, inside: 1 or\n\
                               -jump <k>, in squares or cubes of side 1/4 or in a layer; smooth: exp(jump sin 9x cos 7y)\n\
  -by_cell                   : k of the middle of each cell, as an auxiliary field, in place of a function\n\
  -aniso <a>, -theta <t>     : T is 1 in the direction of this angle and a across\n\
  -mass <c>                  : default 0\n\
  -warp <none,kershaw,shear,stretch,grade,sine,annulus,translate,scale,mirror,lift,fold,collapse,nan> : moves the vertices\n\
  -eps <e>                   : by how much (default 0.3)\n\
  -bc <all,vertices,...>     : essential points of the mesh, by StrangerLabel(); -nullspace: constants are in the null space\n\
  -by_cell_factor <f>        : are iterations at most f times those with -by_cell?\n\
  -reference <bound>, -check_solution, -most_its <n> : see StrangerRun()\n\n";

#include "stranger.h"

typedef enum {
  CONSTANT,
  CHECKERBOARD,
  SMOOTH,
  INSIDE,
  NOTANUMBER,
  INFINITE,
  NEGATIVE,
  HALFZERO,
  MINUS,
  ZERO
} Coefficient;
static const char *const coefficients[] = {"constant", "checkerboard", "smooth", "inside",      "nan", "infinite", "negative",
                                           "halfzero", "minus",        "zero",   "Coefficient", "",    NULL};

typedef enum {
  NONE,
  KERSHAW,
  SHEAR,
  STRETCH,
  GRADE,
  SINE,
  ANNULUS,
  TRANSLATE,
  SCALE,
  MIRROR,
  LIFT,
  FOLD,
  COLLAPSE,
  WARPNAN
} WarpKind;
static const char *const warps[] = {"none",   "kershaw", "shear", "stretch",  "grade", "sine",     "annulus", "translate", "scale",
                                    "mirror", "lift",    "fold",  "collapse", "nan",   "WarpKind", "",        NULL};

/* point functions see no context */
static Coefficient  coefficient = CONSTANT;
static WarpKind     warp        = NONE;
static BoundaryKind boundary    = BC_ALL;
static PetscBool    bycell      = PETSC_FALSE;
static PetscReal    jump = 1.0, aniso = 1.0, theta = 0.0, mass = 0.0, eps = 0.3;

/* ---------------------------------------- the equation ---------------------------------------- */

static PetscReal Factor(PetscInt dim, const PetscReal x[])
{
  const PetscBool corner = x[0] > 0.7 && x[1] > 0.7 ? PETSC_TRUE : PETSC_FALSE;
  PetscInt        sum    = 0;

  switch (coefficient) {
  case CHECKERBOARD:
    for (PetscInt d = 0; d < dim; ++d) sum += (PetscInt)PetscFloorReal(4.0 * x[d] + 1e-9);
    return sum % 2 ? jump : 1.0;
  case SMOOTH:
    return PetscExpReal(jump * PetscSinReal(9.0 * x[0]) * PetscCosReal(7.0 * x[1]));
  case INSIDE:
    return x[0] > 0.5 && x[0] < 0.6 ? jump : 1.0;
  case NOTANUMBER:
    return corner ? NAN : 1.0;
  case INFINITE:
    return corner ? INFINITY : 1.0;
  case NEGATIVE:
    return corner ? -1.0 : 1.0;
  case HALFZERO:
    return x[0] > 0.5 ? 0.0 : 1.0;
  case MINUS:
    return -1.0;
  case ZERO:
    return 0.0;
  default:
    return 1.0;
  }
}

/* in 3D the third direction is across */
static void Tensor(PetscInt dim, PetscReal k, PetscScalar K[])
{
  const PetscReal c = PetscCosReal(theta), s = PetscSinReal(theta);

  for (PetscInt d = 0; d < dim * dim; ++d) K[d] = d % (dim + 1) ? 0.0 : k;
  if (aniso == 1.0) return;
  K[0]       = k * (c * c + aniso * s * s);
  K[dim + 1] = k * (s * s + aniso * c * c);
  K[1] = K[dim] = k * c * s * (1.0 - aniso);
  if (dim == 3) K[8] = k * aniso;
}

static void f0(FUN)
{
  f[0] = mass * u[0] - 1.0 - x[0] * x[1];
}

static void f1(FUN)
{
  PetscScalar K[9];

  Tensor(dim, NfAux ? a[0] : Factor(dim, x), K);
  for (PetscInt d = 0; d < dim; ++d) {
    f[d] = 0.0;
    for (PetscInt e = 0; e < dim; ++e) f[d] += K[d * dim + e] * u_x[e];
  }
}

static void g0(JAC)
{
  g[0] = mass;
}

static void g3(JAC)
{
  Tensor(dim, NfAux ? a[0] : Factor(dim, x), g);
}

static PetscErrorCode Boundary(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * PETSC_PI * x[0]) + 0.3 * PetscCosReal(2.0 * PETSC_PI * x[1]);
  return PETSC_SUCCESS;
}

/* ------------------------------------------ the mesh ------------------------------------------ */

/* The map of the CEED bake-off problems, after Kershaw: six layers in x */
static PetscReal Right(PetscReal e, PetscReal x)
{
  return x <= 0.5 ? (2.0 - e) * x : 1.0 + e * (x - 1.0);
}

static PetscReal Left(PetscReal e, PetscReal x)
{
  return 1.0 - Right(e, 1.0 - x);
}

static PetscReal Step(PetscReal a, PetscReal b, PetscReal x)
{
  if (x <= 0.0) return a;
  if (x >= 1.0) return b;
  return a + (b - a) * (x * x * x * (x * (6.0 * x - 15.0) + 10.0));
}

static void Kershaw(PetscReal e, PetscReal x[])
{
  const int       layer  = (int)(x[0] * 6.0 - 1e-12);
  const PetscReal lambda = (x[0] - layer / 6.0) * 6.0;

  for (PetscInt d = 1; d < 3; ++d) {
    const PetscReal l = Left(e, x[d]), r = Right(e, x[d]);

    if (layer == 0) x[d] = l;
    else if (layer == 1 || layer == 4) x[d] = Step(l, r, lambda);
    else if (layer == 2) x[d] = Step(r, l, 0.5 * lambda);
    else if (layer == 3) x[d] = Step(r, l, 0.5 * (1.0 + lambda));
    else x[d] = r;
  }
}

static void MoveVertex(const PetscReal p[], PetscReal x[])
{
  const PetscReal r = 1.0 + p[0], t = PETSC_PI * p[1] * eps;

  if (warp == KERSHAW) Kershaw(eps, x);
  if (warp == SHEAR) x[0] += eps * p[1];
  if (warp == STRETCH) x[0] *= eps;
  if (warp == GRADE) x[0] = PetscPowReal(p[0], eps);
  if (warp == SINE) {
    x[0] += eps * PetscSinReal(PETSC_PI * p[0]) * PetscSinReal(PETSC_PI * p[1]);
    x[1] -= eps * PetscSinReal(2.0 * PETSC_PI * p[0]) * PetscSinReal(PETSC_PI * p[1]);
  }
  if (warp == ANNULUS) {
    x[0] = r * PetscCosReal(t);
    x[1] = r * PetscSinReal(t);
  }
  if (warp == TRANSLATE) {
    x[0] += eps;
    x[1] -= eps;
  }
  for (PetscInt d = 0; d < 3 && warp == SCALE; ++d) x[d] *= eps;
  if (warp == MIRROR) x[0] = -x[0];
  if (warp == LIFT) x[2] += eps * p[0] * p[1];
  if (warp == FOLD && p[0] > 0.5) x[0] = 1.0 - p[0];
  if (warp == COLLAPSE) x[0] *= p[1] + eps;
  if (warp == WARPNAN && p[0] > 0.7 && p[1] > 0.7) x[0] = NAN;
}

static PetscErrorCode Warp(DM dm)
{
  Vec          coords;
  PetscScalar *a;
  PetscInt     cdim, n;

  PetscFunctionBeginUser;
  if (warp == NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinateDim(dm, &cdim));
  PetscCall(DMGetCoordinatesLocal(dm, &coords));
  PetscCall(VecGetLocalSize(coords, &n));
  PetscCall(VecGetArray(coords, &a));
  for (PetscInt i = 0; i < n; i += cdim) {
    PetscReal p[3] = {0.5, 0.5, 0.5}, x[3];

    for (PetscInt d = 0; d < cdim; ++d) p[d] = a[i + d];
    for (PetscInt d = 0; d < 3; ++d) x[d] = p[d];
    MoveVertex(p, x);
    for (PetscInt d = 0; d < cdim; ++d) a[i + d] = x[d];
  }
  PetscCall(VecRestoreArray(coords, &a));
  PetscCall(DMSetCoordinatesLocal(dm, coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- discretisation --------------------------------------- */

/* k of the middle of each cell as an auxiliary field */
static PetscErrorCode SetFactorByCell(DM dm, PetscFE fe)
{
  DM       aux;
  PetscFE  fek;
  Vec      k;
  PetscInt dim, cStart, cEnd;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMClone(dm, &aux));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, 0, PETSC_DETERMINE, &fek));
  PetscCall(PetscFECopyQuadrature(fe, fek));
  PetscCall(DMSetField(aux, 0, NULL, (PetscObject)fek));
  PetscCall(PetscFEDestroy(&fek));
  PetscCall(DMCreateDS(aux));
  PetscCall(DMCreateLocalVector(aux, &k));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal   x[3];
    PetscScalar value;

    PetscCall(StrangerCentre(dm, c, x));
    value = Factor(dim, x);
    PetscCall(DMPlexVecSetClosure(aux, NULL, k, c, &value, INSERT_VALUES));
  }
  PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, k));
  PetscCall(VecDestroy(&k));
  PetscCall(DMDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Discretise(DM dm)
{
  const PetscInt one = 1;
  PetscFE        fe;
  PetscDS        ds;
  DMLabel        label;
  PetscInt       dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, mass != 0.0 ? g0 : NULL, NULL, NULL, g3));
  if (boundary != BC_NONE) {
    PetscCall(StrangerLabel(dm, boundary, &label));
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 0, NULL, (StrangerBoundary)Boundary, NULL, NULL, NULL));
  }
  if (bycell) PetscCall(SetFactorByCell(dm, fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Stranger  problem = {Warp, Discretise, 0.0, PETSC_TRUE, PETSC_FALSE};
  PetscInt  its, cellits;
  PetscReal factor = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0"));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-coefficient", coefficients, (PetscEnum *)&coefficient, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-warp", warps, (PetscEnum *)&warp, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-bc", boundaries, (PetscEnum *)&boundary, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-by_cell", &bycell, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-aniso", &aniso, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-theta", &theta, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &mass, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-eps", &eps, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nullspace", &problem.nullspace, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-by_cell_factor", &factor, NULL));
  PetscCall(StrangerRun(&problem, &its));
  if (factor > 0.0) {
    bycell = PETSC_TRUE;
    PetscCall(StrangerRun(&problem, &cellits));
    if (its <= factor * cellits) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as by cell\n"));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " ITERATIONS, %" PetscInt_FMT " by cell\n", its, cellits));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -ksp_type cg -ksp_rtol 1e-11 -reference 1e-8
    output_file: output/stranger.out

    # essential conditions on any points of the mesh, and ranks without cells
    test:
      suffix: boundary
      args: -dm_plex_box_faces 3,2 -petscspace_degree 3 -mass 1 -pc_type lor -bc {{all vertices some onevertex interior everything
        none}}
    test:
      suffix: boundary_empty
      nsize: 5
      args: -dm_plex_box_faces 2,2 -petscspace_degree 3 -mass 1 -pc_type lor -bc {{all some none}}
    test:
      suffix: boundary_3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,1 -petscspace_degree 2 -mass 1 -pc_type lor -bc {{vertices edges some}}
    test:
      suffix: nullspace
      nsize: {{1 2}}
      args: -dm_plex_box_faces 3,2 -petscspace_degree 3 -bc none -nullspace -pc_type lor
    test:
      suffix: patchfd
      args: -dm_plex_box_faces 4,4 -petscspace_degree 3 -pc_type patchfd -pc_patchfd_patch {{vertex element}} -bc {{all vertices
        some onevertex}} -most_its 60
      output_file: output/stranger_its.out
    test:
      suffix: patchfd_3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -petscspace_degree 2 -pc_type patchfd -bc {{vertices edges some}}
    test:
      suffix: hopsmg
      args: -dm_plex_box_faces 2,1 -dm_refine_hierarchy 1 -petscspace_degree 4 -mass 1 -pc_type hopsmg -pc_hopsmg_coarsen {{h p
        ph}} -bc {{all vertices}} -most_its 30
      output_file: output/stranger_its.out
    test:
      suffix: hopsmg_empty
      nsize: 2
      args: -dm_plex_box_faces 1,1 -petscspace_degree 4 -mass 1 -bc none -pc_type hopsmg -pc_hopsmg_coarsen p
    test:
      suffix: hopsmg_empty_hierarchy
      nsize: 3
      args: -dm_plex_box_faces 2,1 -dm_refine_hierarchy 1 -petscspace_degree 4 -bc {{all vertices}} -mass 1 -pc_type hopsmg
        -pc_hopsmg_coarsen ph
    # the order below has no unknowns, the one between has
    test:
      suffix: hopsmg_order
      args: -dm_plex_box_faces 1,1 -petscspace_degree 3 -pc_type hopsmg -pc_hopsmg_coarsen p

    # matrix-free operator or residual alone, and with overlap: PETSc's own residual counts its cells twice
    test:
      suffix: assembled
      nsize: {{1 2}}
      args: -dm_plex_box_faces 3,3 -petscspace_degree 4 -dm_mat_type aij -hops_residual {{0 1}} -pc_type lor
    test:
      suffix: operator
      nsize: {{1 2}}
      args: -dm_plex_box_faces 3,3 -petscspace_degree 4 -hops_residual 0 -pc_type lor
    test:
      suffix: overlap
      requires: real
      nsize: 3
      args: -dm_plex_box_faces 4,4 -petscspace_degree 3 -bc {{all vertices}} -mass 1 -dm_distribute_overlap {{1 2}} -pc_type lor
    test:
      suffix: overlap_operator
      requires: real
      nsize: 3
      args: -dm_plex_box_faces 4,4 -petscspace_degree 3 -dm_distribute_overlap 1 -hops_residual 0 -pc_type lor
    test:
      suffix: overlap_patchfd
      requires: real
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -petscspace_degree 2 -dm_distribute_overlap 1 -pc_type patchfd

    # coefficients, cells of any shape, other meshes
    test:
      suffix: coefficient
      args: -dm_plex_box_faces 4,4 -petscspace_degree 4 -coefficient {{checkerboard smooth inside}} -jump 3 -aniso {{1 1e-3}}
        -theta 0.4 -mass 1 -pc_type lor
    test:
      suffix: jump_solution
      nsize: {{1 2}}
      args: -dm_plex_box_faces 4,4 -petscspace_degree 3 -coefficient checkerboard -jump 1e12 -by_cell {{0 1}} -pc_type lor
    test:
      suffix: warp
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -petscspace_degree 2 -pc_type lor -warp {{shear stretch grade sine annulus
        translate scale lift collapse}} -eps 0.2
    test:
      suffix: kershaw
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 6,2,2 -petscspace_degree 2 -pc_type lor -warp kershaw -eps 0.3
    test:
      suffix: warp_2d
      nsize: 2
      args: -dm_plex_box_faces 6,3 -petscspace_degree 5 -pc_type patchfd -warp {{sine annulus}} -eps 0.2
    test:
      suffix: plate
      nsize: 3
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -petscspace_degree 2 -pc_type lor
    test:
      suffix: fichera
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/fichera.msh -petscspace_degree 2 -pc_type lor
    test:
      suffix: periodic
      nsize: {{1 2}}
      args: -dm_plex_box_faces 3,4 -dm_plex_box_bd none,periodic -petscspace_degree 4 -pc_type lor

  # a jump at the faces of cells costs no more as a function than by cell
  testset:
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -ksp_type cg -ksp_rtol 1e-10 -coefficient
      checkerboard -by_cell_factor 1.2
    output_file: output/stranger_jump.out
    test:
      suffix: jump
      args: -dm_plex_box_faces 8,8 -petscspace_degree {{1 4}} -jump {{1e2 1e6 1e12}} -pc_type lor
    test:
      suffix: jump_3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 4,4,4 -petscspace_degree 2 -jump {{1e-6 1e12}} -pc_type {{lor patchfd}}
    test:
      suffix: jump_assembled
      args: -dm_plex_box_faces 8,8 -petscspace_degree 3 -jump 1e6 -dm_mat_type aij -pc_type lor
    test:
      suffix: jump_hopsmg
      args: -dm_plex_box_faces 4,4 -dm_refine_hierarchy 1 -petscspace_degree 3 -jump {{1e2 1e6}} -pc_type hopsmg

  # PETSc's assembled Jacobian counts the cells of the overlap on every rank
  test:
    suffix: overlap_assembled
    requires: real
    nsize: 3
    args: -dll_append ${HOPS_LIB} -options_left 0 -hops_residual -pc_type jacobi -dm_plex_box_faces 4,4 -petscspace_degree 3
      -dm_distribute_overlap 1 -petsc_ci_portable_error_output
    filter: grep -oE "overlapping partitions|converged" | sort -u
    output_file: output/stranger_overlap.out

  # values that no option takes
  testset:
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -dm_plex_box_faces 4,4 -petscspace_degree 2
      -petsc_ci_portable_error_output
    filter: grep -oE "Argument out of range|converged" | sort -u
    output_file: output/stranger_range.out
    test:
      suffix: negative
      args: -pc_type patchfd -pc_patchfd_{{dense_max condense_max}} -1
    test:
      suffix: infinite
      args: -pc_type {{lor patchfd}} -pc_lor_zero_mass inf -pc_patchfd_omega inf

  test:
    suffix: inverted
    args: -dll_append ${HOPS_LIB} -options_left 0 -dm_mat_type pa -hops_residual -pc_type lor -dm_plex_box_faces 4,4
      -petscspace_degree 2 -warp {{mirror fold nan}} -petsc_ci_portable_error_output
    filter: grep -oE "inverted|converged" | sort -u
    output_file: output/stranger_inverted.out

TEST*/
