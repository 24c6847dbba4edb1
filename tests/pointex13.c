/* PETSc's example snes/tutorials/ex13 as it stands, on a back end whose point functions are compiled at
   run time */
#define main ExampleMain
#include <snes/tutorials/ex13.c>
#undef main
#include "pointexample.h"

/*TEST

  build:
    requires: real examples

  # residuals, coefficients of the operator and of the preconditioner, essential values: the host's, and those of compiled functions
  testset:
    requires: host
    filter: grep -v "1 SNES"
    args: -dm_plex_simplex 0 -dm_plex_box_faces 3,3,3 -potential_petscspace_degree 3 -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -snes_monitor_short -ksp_converged_reason -options_left 0 -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex13.c

    test:
      suffix: one
      output_file: output/pointex13_one.out
      args: -hops_backend {{host toy}}
    test:
      suffix: two
      nsize: 2
      output_file: output/pointex13_two.out
      args: -hops_backend {{host toy}}
    test:
      suffix: general
      output_file: output/pointex13_one.out
      args: -hops_backend toy -mat_pa_general
  # what ran where; a source without the functions leaves them on the host
  testset:
    requires: host
    args: -dm_plex_simplex 0 -dm_plex_box_faces 3,3 -potential_petscspace_degree 3 -dm_mat_type pa -hops_residual -pc_type lor -options_left 0 -hops_backend toy -info
    filter: grep -oE "[0-9] point functions of the PetscDS compiled for the back end toy|essential values are kept|essential values are evaluated at the nodes each time|Warning: -hops_pointwise_source: point functions stay on the host" | sort | uniq -c | awk '{$1 = $1; print}'

    test:
      suffix: info
      args: -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex13.c
    test:
      suffix: wrong
      args: -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex12.c

TEST*/
