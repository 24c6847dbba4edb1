/* PETSc's example snes/tutorials/ex12 as it stands, with coefficients that vary in the cells or depend on
   the state, on a back end whose point functions are compiled at run time */
#include "pointtoy.h"

#define main Main12
#include <snes/tutorials/ex12.c>
#undef main

int main(int argc, char **argv)
{
  HopsBackendOps toy;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  return Main12(argc, argv);
}

/*TEST

  build:
    requires: examples

  # coefficients of the operator and of the preconditioner: the host's, and those of compiled functions
  testset:
    requires: host
    filter: grep -v 'norm .*e-[01]'
    args: -dm_plex_simplex 0 -run_type full -dm_plex_box_faces 4,4 -petscspace_degree 3 -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -snes_monitor_short -ksp_converged_reason -options_left 0 -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex12.c

    test:
      suffix: linear
      output_file: output/pointex12_linear.out
      args: -variable_coefficient analytic -hops_backend {{host toy}}
    test:
      suffix: general
      output_file: output/pointex12_linear.out
      args: -variable_coefficient analytic -hops_backend toy -mat_pa_general
    test:
      suffix: nonlinear
      args: -variable_coefficient nonlinear -nonzero_initial_guess -ksp_type gmres -hops_backend {{host toy}}

TEST*/
