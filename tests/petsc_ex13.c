/* PETSc's example snes/tutorials/ex13 as it stands, with hops loaded at run time */
#include <snes/tutorials/ex13.c>

/*TEST

  build:
    requires: examples

  testset:
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0
    output_file: output/petsc_ex13.out

    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree {{1 4 7}}
    test:
      suffix: 3d
      nsize: {{1 4}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -potential_petscspace_degree {{2 3}}
    test:
      suffix: curved
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_plex_boundary_label marker -potential_petscspace_degree 3
    test:
      suffix: pa
      nsize: {{1 4}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,3 -potential_petscspace_degree {{1 4}} -dm_mat_type pa -hops_residual {{0 1}}
    test:
      suffix: pa_refined
      nsize: 2
      args: -dm_plex_box_faces 2,2 -dm_refine 2 -potential_petscspace_degree 5 -dm_mat_type pa
    test:
      suffix: pa_gmsh
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_plex_boundary_label marker -potential_petscspace_degree 3 -dm_mat_type pa -hops_residual
    test:
      suffix: pa_mf
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree 3 -dm_mat_type pa -snes_mf_operator
      output_file: output/petsc_ex13_pa_mf.out
    test:
      suffix: coordinate_space
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,2 -dm_coord_petscspace_degree 2 -potential_petscspace_degree 3 -dm_mat_type pa -hops_residual
    # finite differences of the residual and no preconditioner
    test:
      suffix: pa_mf_alone
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree 3 -dm_mat_type pa -hops_residual {{0 1}} -snes_mf -ksp_type gmres -ksp_max_it 200
      output_file: output/petsc_ex13_pa_mf.out
    test:
      suffix: refined
      nsize: 2
      args: -dm_plex_box_faces 2,2 -dm_refine 2 -potential_petscspace_degree 5
    test:
      suffix: periodic
      nsize: {{1 2}}
      args: -dm_plex_box_faces 3,3 -dm_plex_box_bd periodic,none -potential_petscspace_degree 4
    test:
      suffix: hypremat
      requires: hypre real
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree 4 -pc_lor_mat_type hypre
    # no transfer between host and device in any iteration, however many there are: counts in both directions, of -log_view; the operator's set-up, in the first product, has some
    test:
      suffix: device
      requires: cuda hypre petsc>=3.22
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -potential_petscspace_degree 4 -dm_mat_type pa -dm_vec_type cuda -use_gpu_aware_mpi 0 -log_view -ksp_rtol {{1e-10 1e-13}}
      filter: awk '/Nonlinear/ {print} $1 == "PCApply" || $1 == "MatPAMult" {print $1, $(NF - 4), $(NF - 2)} $1 == "KSPSolve" {k++; to += $(NF - 4); from += $(NF - 2)} $1 == "MatPASetUp" {m++; to -= $(NF - 4); from -= $(NF - 2)} END {if (k && m) print "KSPSolve, but for MatPASetUp", to, from}'
      output_file: output/petsc_ex13_device.out
    test:
      suffix: gamg
      nsize: 2
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree 4 -lor_pc_type gamg
    test:
      suffix: lu
      args: -dm_plex_box_faces 4,4 -potential_petscspace_degree 4 -lor_pc_type lu
    test:
      suffix: pa_mg
      args: -dm_plex_box_faces 4,4 -dm_refine_hierarchy 2 -potential_petscspace_degree 2 -dm_mat_type {{aij pa}} -pc_type mg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_coarse_pc_type lor -mg_coarse_ksp_type preonly
    test:
      suffix: pa_mg_levels
      args: -dm_plex_box_faces 4,4 -dm_refine_hierarchy 1 -potential_petscspace_degree 2 -dm_mat_type {{aij pa}} -pc_type mg -mg_levels_pc_type lor -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.6 -mg_coarse_pc_type lor
    test:
      suffix: hopsmg
      nsize: {{1 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,2 -dm_refine_hierarchy 2 -potential_petscspace_degree {{1 3}} -dm_mat_type pa -pc_type hopsmg -pc_hopsmg_coarsen {{h ph}} -ksp_max_it 20

  test:
    suffix: view
    requires: host
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 45 -ksp_error_if_not_converged -snes_converged_reason -dm_plex_simplex 0 -options_left 0 -dm_plex_box_faces 4,4 -potential_petscspace_degree 4 -lor_pc_type lu -ksp_view -pc_lor_view_spectrum -hops_host_isa base
    filter: grep -E "LOR spectrum|space and form|H1 space|low-order"

  # the matrix-free Jacobian against differences of the residual by sum factorisation
  test:
    suffix: differences
    nsize: {{1 2}}
    args: -dll_append ${HOPS_LIB} -dm_mat_type pa -hops_residual -pc_type lor -dm_plex_simplex 0 -dm_plex_box_faces 2,2 -potential_petscspace_degree 3 -snes_test_jacobian
    filter: grep -oE "J - Jfd.._F/..J.._F = [0-9.]+e-(0[789]|1[0-9])" | grep -oE "J - Jfd" | sort -u

  test:
    suffix: equispaced
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_box_faces 2,2 -potential_petscspace_degree 4 -potential_petscdualspace_lagrange_node_type equispaced -pc_type lor -dm_mat_type {{aij pa}} -petsc_ci_portable_error_output
    filter: grep -oE "no Gauss-Lobatto-Legendre point" | sort -u

  test:
    suffix: finite_differences
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_box_faces 2,2 -potential_petscspace_degree 2 -dm_mat_type pa {{-snes_fd -snes_fd_color}} -petsc_ci_portable_error_output
    filter: grep -oE "leave it out, or use -snes_mf" | sort -u

  # without its options the plugin changes nothing: both runs have one output
  test:
    suffix: stock
    output_file: output/petsc_ex13_history.out
    args: -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -potential_petscspace_degree 3 -pc_type jacobi -ksp_type cg -ksp_monitor_short -snes_monitor_short
  test:
    suffix: untouched
    output_file: output/petsc_ex13_history.out
    args: -dll_append ${HOPS_LIB} -dm_plex_simplex 0 -dm_plex_box_faces 4,4 -potential_petscspace_degree 3 -pc_type jacobi -ksp_type cg -ksp_monitor_short -snes_monitor_short

TEST*/
