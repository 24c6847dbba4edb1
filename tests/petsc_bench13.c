/* PETSc's benchmark snes/tests/ex13 as it stands, with hops loaded at run time */
#include <snes/tests/ex13.c>

/*TEST

  build:
    requires: examples

  test:
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -benchmark_it 0 -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -potential_petscspace_degree 3
    nsize: {{1 2}}
    filter: grep -o "Nonlinear solve converged"

TEST*/
