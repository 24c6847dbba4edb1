/* PETSc's example snes/tutorials/ex69 (Stokes with variable viscosity) as it stands: two matrix-free
   operators, LOR on the velocity block */
#include <snes/tutorials/ex69.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -dm_plex_simplex 0 -dm_plex_separate_marker -dm_plex_box_faces 6,6 -pc_use_amat -snes_converged_reason -snes_error_if_not_converged -ksp_error_if_not_converged -ksp_type fgmres -ksp_rtol 1e-9 -ksp_max_it 5 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_ksp_max_it 60 -fieldsplit_velocity_ksp_error_if_not_converged -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_ksp_rtol 1e-8 -fieldsplit_pressure_ksp_max_it 60 -fieldsplit_pressure_pc_type jacobi -options_left 0
    output_file: output/petsc_ex26.out
    test:
      suffix: kx
      nsize: {{1 2}}
      args: -sol_type solkx -vel_petscspace_degree {{2 4}} -pres_petscspace_degree 1
    test:
      suffix: cx
      args: -sol_type solcx -vel_petscspace_degree 3 -pres_petscspace_degree 2

  # the solution (two sums over its entries) is that of a run without hops
  testset:
    args: -sol_type solcx -dm_plex_simplex 0 -dm_plex_separate_marker -dm_plex_box_faces 4,4 -vel_petscspace_degree 3 -pres_petscspace_degree 2 -pc_use_amat -ksp_type fgmres -ksp_rtol 1e-11 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-12 -fieldsplit_pressure_ksp_rtol 1e-10 -fieldsplit_pressure_pc_type jacobi -snes_view_solution -options_left 0
    filter: awk '$1 == $1 + 0 && NF == 1 { s += $1 * $1; t += n++ % 17 * $1 } END { printf "%d unknowns, %.3e %.3e\n", n, s, t }'
    diff_args: -j
    output_file: output/petsc_ex69_solution.out
    # PETSc's own run, to compare with: nothing of hops runs on a device here
    test:
      suffix: stock
      requires: host
      args: -fieldsplit_velocity_pc_type lu
    test:
      suffix: same
      args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -fieldsplit_velocity_pc_type lor

TEST*/
