/* PETSc's example snes/tutorials/ex71 (a channel whose boundary conditions are given in a rotated basis) as
   it stands, with hops loaded at run time */
#include <snes/tutorials/ex71.c>

/*TEST

  build:
    requires: examples

  # the rotation is PETSc's, between global and local vectors: it does not touch a residual of local vectors
  testset:
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_separate_marker -dm_refine 1 -u_0 0.125 -alpha 0.3927 -vel_petscspace_degree 2 -pres_petscspace_degree 1 -snes_converged_reason -snes_error_if_not_converged -dmsnes_check 1e-9 -ksp_type fgmres -ksp_gmres_restart 10 -ksp_rtol 1.0e-9 -ksp_error_if_not_converged -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full -fieldsplit_velocity_pc_type lu -fieldsplit_pressure_ksp_rtol 1e-10 -fieldsplit_pressure_pc_type jacobi -options_left 0
    output_file: output/petsc_ex71.out
    filter: grep converged
    test:
      suffix: residual
      args: -hops_residual {{0 1}}

  # which a matrix would have to know of
  test:
    suffix: refused
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_separate_marker -dm_refine 1 -u_0 0.125 -alpha 0.3927 -vel_petscspace_degree 2 -pres_petscspace_degree 1 -dm_mat_type pa -hops_residual {{0 1}} -petsc_ci_portable_error_output
    filter: grep -oE "has a basis transformation" | sort -u

TEST*/
