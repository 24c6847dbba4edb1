/* PETSc's example snes/tutorials/ex17 as it stands, elasticity, on a back end whose point functions are
   compiled at run time: full tensors of three components */
#define main ExampleMain
#include <snes/tutorials/ex17.c>
#undef main
#include "pointexample.h"

/*TEST

  build:
    requires: real examples

  # the operator's tensors and those of the preconditioner, whose components couple or not: the host's, and
  # those of compiled functions
  testset:
    requires: host
    filter: grep -v 'norm .*e-[01]'
    args: -dm_plex_simplex 0 -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 3,3,3
      -displacement_petscspace_degree 2 -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10
      -snes_monitor_short -ksp_converged_reason -options_left 0 -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex17.c

    test:
      suffix: couple
      output_file: output/pointex17_couple.out
      args: -pc_lor_couple 1 -hops_backend {{host toy}}
    test:
      suffix: apart
      nsize: {{1 2}separate output}
      args: -pc_lor_couple 0 -hops_backend {{host toy}}

  # what set-ups copy between process and device, of -log_view: the mesh and numbers of unknowns once, but no tensors
  test:
    suffix: cuda
    requires: cuda hypre petsc>=3.22
    args: -dm_plex_simplex 0 -sol_type elas_axial_disp -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 8,8,8
      -displacement_petscspace_degree 4 -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 100
      -ksp_error_if_not_converged -snes_converged_reason -options_left 0 -dm_vec_type cuda -use_gpu_aware_mpi 0
      -hops_pointwise_source ${PETSC_EXAMPLES}/snes/tutorials/ex17.c -log_view
    filter: awk '/Nonlinear solve converged/ {print "converged"} $1 == "MatPASetUp" || $1 == "PCLORCoef" {n[$1]++; mb[$1] +=
      $(NF - 3) + $(NF - 1)} END {for (k = 1; k <= 2; k++) {e = k == 1 ? "MatPASetUp" : "PCLORCoef"; print e, n[e] && mb[e] < 8
      ? "copies no tensors" : "copies " mb[e] " MB"}}'
    output_file: output/pointex12_cuda.out

TEST*/
