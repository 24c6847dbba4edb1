/* PETSc's example snes/tutorials/ex17 (elasticity, vector Laplacian, mass) as it stands, with hops loaded at
   run time */
#include <snes/tutorials/ex17.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0
    output_file: output/petsc_ex26.out

    test:
      suffix: elas
      nsize: {{1 3}}
      args: -sol_type elas_quad -dm_plex_box_faces 4,4 -displacement_petscspace_degree {{1 4}}
    test:
      suffix: shear
      nsize: 2
      args: -sol_type elas_quad -deform_type shear -dm_plex_box_faces 4,4 -displacement_petscspace_degree 3 -lor_pc_type gamg
    test:
      suffix: components
      nsize: {{1 2}}
      args: -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3
        -displacement_petscspace_degree {{2}}
    test:
      suffix: components
      requires: long
      nsize: {{1 2}}
      args: -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3
        -displacement_petscspace_degree {{3}}
    test:
      suffix: vlap
      nsize: {{1 4}}
      args: -sol_type vlap_quad -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -displacement_petscspace_degree 2
    test:
      suffix: mass
      args: -sol_type mass_quad -dm_plex_box_faces 3,3 -displacement_petscspace_degree 5
    test:
      suffix: pa
      nsize: {{1 3}}
      args: -sol_type {{elas_quad vlap_quad}} -dm_plex_box_faces 4,4 -displacement_petscspace_degree {{1 4}} -dm_mat_type pa -hops_residual
    test:
      suffix: pa_components
      nsize: {{1 2}}
      args: -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -displacement_petscspace_degree 2 -dm_mat_type pa -hops_residual
    test:
      suffix: apart
      nsize: {{1 3}}
      args: -sol_type elas_quad -dm_plex_box_faces 4,4 -displacement_petscspace_degree {{2 8}} -dm_mat_type {{aij pa}} -pc_lor_couple 0
    test:
      suffix: apart_components
      nsize: {{1 4}}
      args: -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -displacement_petscspace_degree {{2 4}} -dm_mat_type pa -hops_residual -pc_lor_couple 0 -lor_pc_type {{hypre gamg}}

  # what -ksp_view says of both matrices
  testset:
    requires: host
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_rtol 1e-10 -dm_plex_simplex 0 -sol_type elas_quad -dm_plex_box_faces 3,3 -displacement_petscspace_degree 3 -dm_mat_type pa -ksp_view
    filter: grep -oE "blocks of 2|2 components that do not couple|drop tolerance. [0-9.]*|^ *components. 2, full tensors"
    test:
      suffix: view
    test:
      suffix: view_apart
      args: -pc_lor_couple 0

TEST*/
