/* PETSc's example snes/tutorials/ex12 as it stands, with coefficients that vary in the cells or depend on
   the state, on a back end whose point functions are compiled at run time */
#define main ExampleMain
#include <snes/tutorials/ex12.c>
#undef main
#include "pointexample.h"

/*TEST

  build:
    requires: real examples

  # coefficients of the operator and of the preconditioner: the host's, and those of compiled functions
  testset:
    requires: host
    filter: grep -v 'norm .*e-[01]'
    args: -dm_plex_simplex 0 -run_type full -dm_plex_box_faces 4,4 -petscspace_degree 3 -dm_mat_type pa -hops_residual -pc_type
      lor -ksp_type cg -ksp_rtol 1e-10 -snes_monitor_short -ksp_converged_reason -options_left 0 -hops_pointwise_source
      ${PETSC_EXAMPLES}/snes/tutorials/ex12.c

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

  # what set-ups copy between process and device, of -log_view: the mesh and numbers of unknowns once, but no tensors
  test:
    suffix: cuda
    requires: cuda hypre petsc>=3.22
    args: -dm_plex_simplex 0 -run_type full -dm_plex_dim 3 -dm_plex_box_faces 8,8,8 -petscspace_degree 4 -variable_coefficient
      analytic -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 100
      -ksp_error_if_not_converged -snes_converged_reason -options_left 0 -dm_vec_type cuda -use_gpu_aware_mpi 0
      -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex12.c -log_view
    filter: awk '/Nonlinear solve converged/ {print "converged"} $1 == "MatPASetUp" || $1 == "PCLORCoef" {n[$1]++; mb[$1] +=
      $(NF - 3) + $(NF - 1)} END {for (k = 1; k <= 2; k++) {e = k == 1 ? "MatPASetUp" : "PCLORCoef"; print e, n[e] && mb[e] < 2
      ? "copies no tensors" : "copies " mb[e] " MB"}}'
    output_file: output/pointex12_cuda.out

TEST*/
