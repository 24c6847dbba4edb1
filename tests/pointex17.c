/* PETSc's example snes/tutorials/ex17 as it stands, elasticity, on a back end whose point functions are
   compiled at run time: full tensors of three components */
#include "pointtoy.h"

#define main Main17
#include <snes/tutorials/ex17.c>
#undef main

int main(int argc, char **argv)
{
  HopsBackendOps toy;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  return Main17(argc, argv);
}

/*TEST

  build:
    requires: examples

  # the operator's tensors and those of the preconditioner, whose components couple or not: the host's, and those of compiled functions
  testset:
    requires: host
    filter: grep -v 'norm .*e-[01]'
    args: -dm_plex_simplex 0 -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -displacement_petscspace_degree 2 -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -snes_monitor_short -ksp_converged_reason -options_left 0 -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex17.c

    test:
      suffix: couple
      output_file: output/pointex17_couple.out
      args: -pc_lor_couple 1 -hops_backend {{host toy}}
    test:
      suffix: apart
      nsize: {{1 2}separate output}
      args: -pc_lor_couple 0 -hops_backend {{host toy}}

TEST*/
