/* PETSc's example ts/tutorials/ex46 (time-dependent Navier-Stokes) as it stands, with hops loaded at run
   time: errors as in PETSc's own run */
#include <ts/tutorials/ex46.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -vel_petscspace_degree 2 -pres_petscspace_degree 1 -ts_type beuler -ts_max_steps 3 -ts_dt 0.01 -ksp_type fgmres -ksp_rtol 1e-9 -ksp_error_if_not_converged -snes_error_if_not_converged -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -pc_fieldsplit_schur_precondition self -fieldsplit_velocity_ksp_type gmres -fieldsplit_velocity_ksp_rtol 1e-10 -fieldsplit_velocity_ksp_max_it 45 -fieldsplit_pressure_pc_type none -fieldsplit_pressure_ksp_rtol 1e-9 -options_left 0 -options_suppress_deprecated_warnings
    output_file: output/petsc_ts46.out
    filter: grep -v "Timestep: 0000"
    diff_args: -j
    # PETSc's own run, to compare with: nothing of hops runs on a device here
    test:
      suffix: stock
      requires: host
      args: -fieldsplit_velocity_pc_type lu
    test:
      suffix: pa
      nsize: {{1 2}}
      args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -fieldsplit_velocity_pc_type lor

TEST*/
