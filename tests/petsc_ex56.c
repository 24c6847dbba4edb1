/* PETSc's example snes/tutorials/ex56 (elasticity of hexahedra) as it stands, with hops loaded at run time */
#include <snes/tutorials/ex56.c>

/*TEST

  build:
    requires: examples

  testset:
    requires: petsc<3.22
    args: -dll_append ${HOPS_LIB} -pc_type lor -cells 2,2,1 -max_conv_its 2 -lx 1. -alpha .01 -ksp_type cg -ksp_rtol 1.e-10 -ksp_max_it 45 -ksp_error_if_not_converged -use_mat_nearnullspace true -snes_max_it 1 -petscspace_degree 2 -options_left 0
    filter: sed -nE "s|.*max displ=([0-9].[0-9]{4})[0-9]*(e[^,]*),.*|\1\2|p"
    output_file: output/petsc_ex56_assembled.out
    diff_args: -j
    test:
      suffix: assembled
    test:
      suffix: pa
      nsize: {{1 2}}
      args: -ex56_dm_mat_type pa -ex56_hops_residual -lor_pc_type {{hypre gamg}}

  # since 3.22 the mesh has PETSc's own options, and there is a Laplacian of three components
  testset:
    requires: petsc>=3.22
    args: -dll_append ${HOPS_LIB} -pc_type lor -dm_plex_dim 3 -dm_plex_simplex 0 -dm_plex_box_lower 0,0,0 -dm_plex_box_upper 1,1,1 -dm_plex_box_faces 2,2,1 -max_conv_its 2 -ksp_type cg -ksp_rtol 1.e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_max_it 1 -petscspace_degree 2 -options_left 0
    filter: sed -nE "s|.*max displ=([0-9].[0-9]{4})[0-9]*(e[^,]*),.*|\1\2|p"
    test:
      suffix: new
      nsize: {{1 2}}
      args: -run_type 1 -lx 1. -alpha .01 -dm_mat_type {{aij pa}} -hops_residual {{0 1}}
    test:
      suffix: laplacian
      args: -run_type 2 -use_mat_nearnullspace false -dm_mat_type pa

TEST*/
