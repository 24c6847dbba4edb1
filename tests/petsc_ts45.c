/* PETSc's example ts/tutorials/ex45 (heat equation, implicit steps) as it stands, with hops loaded at run
   time */
#include <ts/tutorials/ex45.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -sol_type quadratic_linear -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -temp_petscspace_degree {{2 4}} -ts_type {{beuler bdf}} -ts_max_steps 3 -ts_dt 0.1 -ksp_rtol 1e-12 -snes_error_if_not_converged -ts_monitor_error -options_left 0
    filter: sed -nE "s|.*L_2 Error: .([0-9.e+-]+).*|\1|p" | awk '{print ($1 < 1e-9 ? "exact" : "WRONG")}'
    test:
      suffix: pa
      nsize: {{1 2}}
      args: -dll_append ${HOPS_LIB} -dm_mat_type pa -pc_type lor -hops_residual -ksp_max_it 45 -ksp_error_if_not_converged

  # the sources tell that the Jacobian is that of the first step: one set-up of the operator and of the preconditioner
  testset:
    args: -sol_type quadratic_trig -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -temp_petscspace_degree 4 -ts_type beuler -ts_max_steps 5 -ts_dt 0.1 -ksp_type cg -ksp_rtol 1e-12 -dll_append ${HOPS_LIB} -dm_mat_type pa -pc_type lor -hops_residual -hops_linear no -log_view
    filter: awk '$1 == "MatPASetUp" || $1 == "PCLORNumeric" || $1 == "SNESJacobianEval" {print $1, $2}' | sort
    test:
      suffix: kept
      args: -hops_pointwise_source ${PETSC_EXAMPLES}/ts/tutorials/ex45.c
    test:
      suffix: again

TEST*/
