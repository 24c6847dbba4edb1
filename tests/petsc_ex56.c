/* PETSc's example snes/tutorials/ex56 (elasticity of hexahedra) as it stands, with hops loaded at run time */
#include <snes/tutorials/ex56.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -pc_type lor -cells 2,2,1 -max_conv_its 2 -lx 1. -alpha .01 -ksp_type cg -ksp_rtol 1.e-10 -ksp_max_it 45 -ksp_error_if_not_converged -use_mat_nearnullspace true -snes_max_it 1 -petscspace_degree 2 -options_left 0
    filter: sed -nE "s|.*max displ=([0-9].[0-9]{4})[0-9]*(e[^,]*),.*|\1\2|p"
    test:
      suffix: assembled
    test:
      suffix: pa
      nsize: {{1 2}}
      output_file: output/petsc_ex56_assembled.out
      args: -ex56_dm_mat_type pa -lor_pc_type {{hypre gamg}}

TEST*/
