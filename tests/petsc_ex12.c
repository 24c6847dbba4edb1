/* PETSc's example snes/tutorials/ex12 as it stands, with hops loaded at run time */
#include <snes/tutorials/ex12.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -run_type full -dm_refine 2 -petscspace_degree 3
    output_file: output/petsc_ex12.out

    test:
      suffix: plain
    test:
      suffix: analytic
      args: -variable_coefficient analytic
    test:
      suffix: field
      nsize: {{1 2}}
      args: -variable_coefficient field -mat_petscspace_degree {{0 2}}
    test:
      suffix: ball
      args: -variable_coefficient ball -mat_petscspace_degree 0
    test:
      suffix: checkerboard
      nsize: {{1 3}}
      args: -variable_coefficient checkerboard_0 -rand -k 2
    test:
      suffix: neumann
      nsize: {{1 2}}
      args: -bc_type neumann -dm_plex_boundary_label boundary

    test:
      suffix: pa
      nsize: {{1 2}}
      args: -dm_mat_type pa -hops_residual -variable_coefficient {{none analytic}}
    test:
      suffix: pa_field
      nsize: {{1 2}}
      args: -dm_mat_type pa -hops_residual -variable_coefficient field -mat_petscspace_degree {{0 2}}
    test:
      suffix: pa_ball
      args: -dm_mat_type pa -hops_residual -variable_coefficient ball -mat_petscspace_degree 0
    test:
      suffix: pa_neumann
      nsize: {{1 2}}
      args: -dm_mat_type pa -hops_residual -bc_type neumann -dm_plex_boundary_label boundary

  # this code makes its matrix before it sets its functions: residuals are by hops all the same
  testset:
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -pc_type lor -ksp_type cg -dm_plex_simplex 0 -options_left 0
      -run_type full -petscspace_degree 3 -variable_coefficient {{none analytic}} -log_view
    filter: awk '$1 == "HopsResidual" {print $1, ($2 > 1 ? "more than one" : $2)}'
    test:
      suffix: by_hops
      requires: real
      nsize: {{1 2}}
      args: -hops_linear {{no auto}}
      output_file: output/petsc_ex12_by_hops.out

  testset:
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -pc_type hopsmg -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 25 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -run_type full -dm_refine_hierarchy 2 -petscspace_degree 3
    output_file: output/petsc_ex12.out
    test:
      suffix: hopsmg
      nsize: {{1 2}}
      args: -variable_coefficient {{none analytic}} -pc_hopsmg_coarsen {{h ph}}
    test:
      suffix: hopsmg_field
      args: -variable_coefficient field -mat_petscspace_degree {{0 2}}
    test:
      suffix: hopsmg_neumann
      nsize: {{1 2}}
      args: -bc_type neumann -dm_plex_boundary_label boundary

  test:
    suffix: hopsmg_nonlinear
    nsize: 2
    output_file: output/petsc_ex12_pa_nonlinear.out
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -pc_type hopsmg -pc_hopsmg_coarsen {{h ph}} -ksp_type gmres -ksp_rtol 1e-10 -ksp_max_it 40 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -run_type full -dm_plex_box_faces 2,2 -dm_refine_hierarchy 1 -petscspace_degree 3 -variable_coefficient nonlinear -nonzero_initial_guess

  test:
    suffix: pa_nonlinear
    nsize: {{1 3}}
    output_file: output/petsc_ex12_pa_nonlinear.out
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -pc_type lor -ksp_type gmres -ksp_rtol 1e-10 -ksp_max_it 80 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -run_type full -dm_plex_box_faces 4,4 -petscspace_degree 3 -variable_coefficient nonlinear -nonzero_initial_guess

  test:
    suffix: nonlinear
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -run_type full -dm_refine 1 -petscspace_degree 3 -variable_coefficient nonlinear -petsc_ci_portable_error_output
    filter: grep -oE "depends on the solution|PCLORSetCoefficients()" | sort -u

  # a singular matrix is not factored on BoomerAMG's coarsest level
  test:
    suffix: neumann_view
    requires: host hypre real
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -dm_plex_simplex 0 -options_left 0 -run_type full -petscspace_degree 3 -bc_type {{dirichlet neumann}separate output} -dm_plex_boundary_label boundary -ksp_view
    filter: grep -o "Relax on coarse .*" | sort -u

TEST*/
