/* PETSc's example snes/tutorials/ex62 (Stokes) as it stands, with hops' preconditioner on the velocity
   block */
#include <snes/tutorials/ex62.c>

/*TEST

  build:
    requires: examples

  # BiCGStab for the pressure, as sums of several CUDA vectors of a few entries, which GMRES makes, are wrong in PETSc 3.19 to 3.25 (VecMAXPY())
  testset:
    args: -dll_append ${HOPS_LIB} -sol quadratic -dm_plex_simplex 0 -snes_converged_reason -snes_error_if_not_converged -ksp_type fgmres -ksp_rtol 1e-9 -ksp_max_it 100 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_ksp_max_it 45 -fieldsplit_velocity_ksp_error_if_not_converged -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_pc_type jacobi -fieldsplit_pressure_ksp_type bcgs -fieldsplit_pressure_ksp_rtol 1e-8 -options_left 0
    output_file: output/petsc_ex26.out

    test:
      suffix: 2d
      nsize: {{1 2}}
      args: -dm_plex_box_faces 4,4 -vel_petscspace_degree {{2 3}} -pres_petscspace_degree 1
    test:
      suffix: high
      args: -dm_plex_box_faces 4,4 -vel_petscspace_degree 5 -pres_petscspace_degree 4

  # the whole operator matrix-free; velocity and pressure of three pairs of orders
  testset:
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -dm_plex_simplex 0 -pc_use_amat -snes_converged_reason -snes_error_if_not_converged -ksp_error_if_not_converged -ksp_type fgmres -ksp_rtol 1e-9 -ksp_max_it 5 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_ksp_max_it 45 -fieldsplit_velocity_ksp_error_if_not_converged -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_ksp_type bcgs -fieldsplit_pressure_ksp_rtol 1e-8 -fieldsplit_pressure_ksp_max_it 40 -options_left 0
    output_file: output/petsc_ex26.out
    test:
      suffix: pa
      nsize: {{1 3}}
      args: -sol {{quadratic trig}} -dm_plex_box_faces 4,4 -vel_petscspace_degree {{2 5}} -pres_petscspace_degree 1 -pc_fieldsplit_schur_precondition a11 -fieldsplit_pressure_pc_type jacobi
    test:
      suffix: pa_self
      args: -sol trig -dm_plex_box_faces 4,4 -vel_petscspace_degree 3 -pres_petscspace_degree 2 -pc_fieldsplit_schur_precondition self -fieldsplit_pressure_pc_type none
    test:
      suffix: pa_3d
      nsize: {{1 2}}
      args: -sol quadratic -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -vel_petscspace_degree {{2 3}} -pres_petscspace_degree 1 -pc_fieldsplit_schur_precondition a11 -fieldsplit_pressure_pc_type jacobi

  # tensors of the Jacobian's three blocks, and of the one block of the preconditioning matrix
  # that is applied, the pressure's; nodes of each field once
  test:
    suffix: blocks
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -vel_petscspace_degree 3 -pres_petscspace_degree 2 -sol trig -pc_use_amat -ksp_type fgmres -ksp_rtol 1e-9 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_pc_type jacobi -info -log_view
    filter: grep -oE "quadrature data in [0-9]+ blocks|^HopsSpaceSetUp +[0-9]+" | sort

  # rows of blocks
  test:
    suffix: pa_multiplicative
    nsize: {{1 2}}
    output_file: output/petsc_ex26.out
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -vel_petscspace_degree 3 -pres_petscspace_degree 2 -sol trig -snes_converged_reason -ksp_rtol 1e-9 -ksp_max_it 20 -ksp_error_if_not_converged -ksp_type fgmres -pc_type fieldsplit -pc_fieldsplit_type multiplicative -pc_fieldsplit_off_diag_use_amat -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_ksp_type preonly -fieldsplit_pressure_pc_type jacobi -options_left 0

  # the solution (two sums over its entries) is that of a run without hops
  testset:
    args: -sol trig -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -vel_petscspace_degree 3 -pres_petscspace_degree 2 -pc_use_amat -ksp_type fgmres -ksp_rtol 1e-10 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-11 -fieldsplit_pressure_ksp_rtol 1e-10 -fieldsplit_pressure_pc_type jacobi -snes_view_solution -options_left 0
    filter: awk '$1 == $1 + 0 && NF == 1 { s += $1 * $1; t += n++ % 17 * $1 } END { printf "%d unknowns, %.3e %.3e\n", n, s, t }'
    diff_args: -j
    output_file: output/petsc_ex62_solution.out
    # PETSc's own run, to compare with: nothing of hops runs on a device here
    test:
      suffix: stock
      requires: host
      args: -fieldsplit_velocity_pc_type lu
    test:
      suffix: same
      args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -fieldsplit_velocity_pc_type lor

  testset:
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_box_faces 2,2 -vel_petscspace_degree 2 -pres_petscspace_degree 1 -dm_mat_type pa -petsc_ci_portable_error_output
    test:
      suffix: whole
      args: -pc_type lor
      filter: grep -oE "The operator has several fields|use -pc_type fieldsplit" | sort -u
    test:
      suffix: selfp
      args: -pc_use_amat -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_precondition selfp -fieldsplit_velocity_pc_type lor
      filter: grep -oE "are not multiplied|use a11 with a Jacobian function" | sort -u
    test:
      suffix: discontinuous
      args: -pres_petscspace_degree 0
      filter: grep -oE "Field 1 of the DM is discontinuous|leave out -dm_mat_type pa" | sort -u

TEST*/
