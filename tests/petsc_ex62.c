/* PETSc's example snes/tutorials/ex62 (Stokes) as it stands, with hops' preconditioner on the velocity block */
#include <snes/tutorials/ex62.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -sol quadratic -dm_plex_simplex 0 -snes_converged_reason -snes_error_if_not_converged -ksp_type fgmres -ksp_rtol 1e-9 -ksp_max_it 100 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition a11 -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_ksp_max_it 45 -fieldsplit_velocity_ksp_error_if_not_converged -fieldsplit_velocity_pc_type lor -fieldsplit_pressure_pc_type jacobi -fieldsplit_pressure_ksp_rtol 1e-8 -options_left 0
    output_file: output/petsc_ex26.out

    test:
      suffix: 2d
      nsize: {{1 2}}
      args: -dm_plex_box_faces 4,4 -vel_petscspace_degree {{2 3}} -pres_petscspace_degree 1
    test:
      suffix: high
      args: -dm_plex_box_faces 4,4 -vel_petscspace_degree 5 -pres_petscspace_degree 4

  test:
    suffix: pa
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_box_faces 2,2 -vel_petscspace_degree 2 -pres_petscspace_degree 1 -dm_mat_type pa -petsc_ci_portable_error_output
    filter: grep -oE "The DM has 2 fields|leave out -dm_mat_type pa" | sort -u

TEST*/
