/* PETSc's example snes/tutorials/ex26 as it stands, with hops loaded at run time */
#include <snes/tutorials/ex26.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0
    output_file: output/petsc_ex26.out

    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree {{2 6}}
    test:
      suffix: 3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -potential_petscspace_degree 3
    test:
      suffix: pa
      nsize: 2
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,3 -potential_petscspace_degree 4 -dm_mat_type pa -hops_residual

TEST*/
