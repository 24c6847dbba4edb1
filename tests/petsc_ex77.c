/* PETSc's example snes/tutorials/ex77 (nonlinear elasticity, deformation and pressure, a load that follows
   the surface) as it stands */
#include <snes/tutorials/ex77.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -run_type full -dm_plex_dim 3 -dm_plex_simplex 0 -dm_plex_box_faces 2,2,2 -elastMat_petscspace_degree 0 -wall_pres_petscspace_degree 0 -snes_rtol 1e-8 -snes_converged_reason -ksp_type fgmres -ksp_rtol 1e-9 -ksp_gmres_restart 200 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type upper -pc_fieldsplit_schur_precondition self -fieldsplit_pressure_pc_type none -fieldsplit_pressure_ksp_rtol 1e-1 -fieldsplit_pressure_ksp_max_it 20 -fieldsplit_pressure_inner_ksp_type preonly -bc_fixed 1 -bc_pressure 2 -wall_pressure 0.4 -options_left 0
    # PETSc's own run, to compare with: nothing of hops runs on a device here
    test:
      suffix: stock
      requires: host
      output_file: output/petsc_ex77_solution.out
      filter: awk '$1 == $1 + 0 && NF == 1 { s += $1 * $1; t += n++ % 17 * $1 } END { printf "%d unknowns, %.3e %.3e\n", n, s, t }'
      diff_args: -j
      args: -snes_view_solution -def_petscspace_degree 2 -pres_petscspace_degree 1 -fieldsplit_deformation_ksp_type preonly -fieldsplit_deformation_pc_type lu -fieldsplit_pressure_inner_pc_type lu
    test:
      suffix: same
      output_file: output/petsc_ex77_solution.out
      filter: awk '$1 == $1 + 0 && NF == 1 { s += $1 * $1; t += n++ % 17 * $1 } END { printf "%d unknowns, %.3e %.3e\n", n, s, t }'
      diff_args: -j
      args: -snes_view_solution -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -def_petscspace_degree 2 -pres_petscspace_degree 1 -fieldsplit_deformation_ksp_type preonly -fieldsplit_deformation_pc_type lor -fieldsplit_pressure_inner_pc_type lor
    test:
      suffix: pa
      output_file: output/petsc_ex77.out
      filter: grep -oE "Nonlinear solve converged due to CONVERGED_FNORM_RELATIVE"
      nsize: {{1 2}}
      args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -def_petscspace_degree {{2 3}} -pres_petscspace_degree 1 -fieldsplit_deformation_ksp_type preonly -fieldsplit_deformation_pc_type lor -fieldsplit_pressure_inner_pc_type lor -ksp_max_it 120 -ksp_error_if_not_converged

TEST*/
