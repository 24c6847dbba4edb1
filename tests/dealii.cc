/*
  What include/hops_dealii.h gives, beside the program of docs/guide/dealii.md: MatrixFree in a shell, matrices, several
  components on all ranks' meshes, a serial mesh that ranks share by subdomain ids, and refusals. Run by dealii.sh.
*/
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/integrators/elasticity.h>
#include <deal.II/integrators/laplace.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/petsc_sparse_matrix.h>
#include <deal.II/lac/petsc_vector.h>
#include <deal.II/lac/sparsity_tools.h>
#include <deal.II/matrix_free/operators.h>
#include <deal.II/numerics/vector_tools.h>
#include <hops_dealii.h>

#include <functional>
#include <iostream>
using namespace dealii;
using Distributed = LinearAlgebra::distributed::Vector<double>;
using Laplacian   = MatrixFreeOperators::LaplaceOperator<3, 4, 5, 1, Distributed>;

/* CG to a relative 1e-10 */
static void solve(
  Mat A, Vec b, Vec x, const std::string &name, const char *prefix = "", const std::function<void(KSP)> &prepare = [](KSP) {})
{
  KSP       ksp;
  PetscInt  its;
  PetscReal most;
  PC        pc;

  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOptionsPrefix(ksp, prefix);
  KSPSetOperators(ksp, A, A);
  KSPSetType(ksp, KSPCG);
  KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  KSPSetErrorIfNotConverged(ksp, PETSC_TRUE);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCLOR);
  prepare(ksp);
  KSPSetFromOptions(ksp);
  hops::internal::check(KSPSolve(ksp, b, x));
  KSPGetIterationNumber(ksp, &its);
  VecNorm(x, NORM_INFINITY, &most);
  PetscPrintf(PETSC_COMM_WORLD, "%s: iterations %d, the largest value is %.6f\n", name.c_str(), (int)its, (double)most);
  KSPDestroy(&ksp);
}

template <class Function> void refused(const std::string &what, Function f)
{
  std::string text = "NOT REFUSED";

  try {
    f();
  } catch (const std::exception &e) {
    const std::string all = e.what(), begin = "hops: ";
    const auto        at = all.find(begin);

    text = at == std::string::npos ? all : all.substr(at, all.find('\n', at) - at);
  }
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0) std::cout << what << ": " << text << std::endl;
}

static void shell(Triangulation<3> &mesh)
{
  GridGenerator::hyper_shell(mesh, Point<3>(), 0.5, 1.0, 6);
  mesh.refine_global(2);
}

static void matrixfree(bool alone)
{
  parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
  const FE_Q<3>                           fe(4);
  const MappingQ<3>                       mapping(4);
  DoFHandler<3>                           dofs(mesh);
  auto                                    data = std::make_shared<MatrixFree<3, double>>();
  MatrixFree<3, double>::AdditionalData   additional;
  Laplacian                               laplacian;
  Mat                                     A;

  shell(mesh);
  dofs.distribute_dofs(fe);
  const IndexSet            relevant = DoFTools::extract_locally_relevant_dofs(dofs);
  AffineConstraints<double> boundary(relevant);
  VectorTools::interpolate_boundary_values(mapping, dofs, 0, Functions::ZeroFunction<3>(), boundary);
  boundary.close();
  additional.mapping_update_flags = update_gradients | update_JxW_values | update_quadrature_points;
  data->reinit(mapping, dofs, boundary, QGauss<1>(5), additional);
  laplacian.initialize(data);
  const IndexSet             owned = dofs.locally_owned_dofs();
  PETScWrappers::MPI::Vector b(owned, MPI_COMM_WORLD), x(owned, MPI_COMM_WORLD);
  VectorTools::create_right_hand_side(mapping, dofs, QGauss<3>(5), Functions::ConstantFunction<3>(1.0), b, boundary);
  Distributed y, c;
  laplacian.initialize_dof_vector(y);
  laplacian.initialize_dof_vector(c);
  A = hops::create_shell(laplacian, y);
  hops::attach(A, dofs, mapping);
  solve(A, b, x, "matrix-free");
  MatDestroy(&A);
  if (alone) return;

  for (const auto i : owned) c(i) = b(i);
  hops::Solver solver(laplacian, y, dofs, mapping);
  KSPSetTolerances(solver.ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  solver.solve(y, c);
  for (const auto i : owned) y(i) -= x(i);
  PetscPrintf(PETSC_COMM_WORLD, "by deal.II's vectors: %s\n", y.linfty_norm() < 1e-12 ? "the same" : "ANOTHER SOLUTION");
  KSPSetTolerances(solver.ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1);
  refused("one iteration", [&] { solver.solve(y, c); });
}

/* Of any element: elasticity where it has components, else the Laplacian */
static void assemble(const DoFHandler<3> &dofs, const Mapping<3> &mapping, const IndexSet &owned, const IndexSet &relevant,
                     const AffineConstraints<double> &constraints, PETScWrappers::MPI::SparseMatrix &A,
                     PETScWrappers::MPI::Vector &b)
{
  const auto            &fe = dofs.get_fe();
  DynamicSparsityPattern pattern(relevant);
  FEValues<3>            values(mapping, fe, QGauss<3>(fe.degree + 1), update_values | update_gradients | update_JxW_values);
  FullMatrix<double>     K(fe.n_dofs_per_cell());
  Vector<double>         f(fe.n_dofs_per_cell());
  std::vector<types::global_dof_index> ids(fe.n_dofs_per_cell());

  DoFTools::make_sparsity_pattern(dofs, pattern, constraints, false);
  SparsityTools::distribute_sparsity_pattern(pattern, owned, MPI_COMM_WORLD, relevant);
  A.reinit(owned, owned, pattern, MPI_COMM_WORLD);
  b.reinit(owned, MPI_COMM_WORLD);
  for (const auto &cell : dofs.active_cell_iterators()) {
    if (!hops::internal::owned(cell, MPI_COMM_WORLD)) continue;
    values.reinit(cell);
    cell->get_dof_indices(ids);
    K = 0.0;
    f = 0.0;
    if (fe.n_components() > 1) LocalIntegrators::Elasticity::cell_matrix(K, values, 2.0);
    else LocalIntegrators::Laplace::cell_matrix(K, values);
    for (unsigned int i = 0; i < f.size(); ++i)
      for (unsigned int q = 0; q < values.n_quadrature_points; ++q) f(i) += values.shape_value(i, q) * values.JxW(q);
    constraints.distribute_local_to_global(K, f, ids, A, b);
  }
  A.compress(VectorOperation::add);
  b.compress(VectorOperation::add);
}

static void assembled()
{
  parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
  const FE_Q<3>                           fe(4);
  const MappingQ<3>                       mapping(4);
  DoFHandler<3>                           dofs(mesh);
  PETScWrappers::MPI::SparseMatrix        A;
  PETScWrappers::MPI::Vector              b;

  shell(mesh);
  dofs.distribute_dofs(fe);
  const IndexSet            relevant = DoFTools::extract_locally_relevant_dofs(dofs);
  AffineConstraints<double> boundary(relevant);
  VectorTools::interpolate_boundary_values(mapping, dofs, 0, Functions::ZeroFunction<3>(), boundary);
  boundary.close();
  assemble(dofs, mapping, dofs.locally_owned_dofs(), relevant, boundary, A, b);
  PETScWrappers::MPI::Vector x(b);
  hops::attach(A, dofs, mapping);
  solve(A, b, x, "assembled");
}

static void elasticity()
{
  parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
  const FESystem<3>                       fe(FE_Q<3>(3), 3);
  const MappingQ<3>                       mapping(3);
  DoFHandler<3>                           dofs(mesh);
  PETScWrappers::MPI::SparseMatrix        A;
  PETScWrappers::MPI::Vector              b;

  GridGenerator::hyper_shell(mesh, Point<3>(), 0.5, 1.0, 6);
  mesh.refine_global(1);
  dofs.distribute_dofs(fe);
  hops::renumber_by_node(dofs);
  const IndexSet            relevant = DoFTools::extract_locally_relevant_dofs(dofs);
  AffineConstraints<double> boundary(relevant);
  VectorTools::interpolate_boundary_values(mapping, dofs, 0, Functions::ZeroFunction<3>(3), boundary);
  boundary.close();
  assemble(dofs, mapping, dofs.locally_owned_dofs(), relevant, boundary, A, b);
  PETScWrappers::MPI::Vector x(b);
  hops::attach(A, dofs, mapping);
  solve(A, b, x, "elasticity", "elastic_");
}

static void serial()
{
  Triangulation<3>                 mesh;
  const FE_Q<3>                    fe(4);
  const MappingQ<3>                mapping(4);
  DoFHandler<3>                    dofs(mesh);
  AffineConstraints<double>        boundary;
  PETScWrappers::MPI::SparseMatrix A;
  PETScWrappers::MPI::Vector       b;
  const unsigned int               rank = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);

  shell(mesh);
  GridTools::partition_triangulation(Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD), mesh);
  dofs.distribute_dofs(fe);
  DoFRenumbering::subdomain_wise(dofs);
  const IndexSet owned = DoFTools::locally_owned_dofs_per_subdomain(dofs)[rank];
  VectorTools::interpolate_boundary_values(mapping, dofs, 0, Functions::ZeroFunction<3>(), boundary);
  boundary.close();
  assemble(dofs, mapping, owned, complete_index_set(dofs.n_dofs()), boundary, A, b);
  PETScWrappers::MPI::Vector x(b);
  hops::attach(A, dofs, mapping);
  solve(A, b, x, "serial mesh");
}

/* Refined twice around a corner */
static void hanging(int p)
{
  parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
  const FE_Q<3>                           fe(p);
  const MappingQ<3>                       mapping(p);
  DoFHandler<3>                           dofs(mesh);
  PETScWrappers::MPI::SparseMatrix        A;
  PETScWrappers::MPI::Vector              b;

  GridGenerator::hyper_cube(mesh);
  mesh.refine_global(1);
  for (int step = 0; step < 2; ++step) {
    for (const auto &cell : mesh.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center().norm() < (step ? 0.3 : 0.6)) cell->set_refine_flag();
    mesh.execute_coarsening_and_refinement();
  }
  dofs.distribute_dofs(fe);
  const IndexSet            relevant = DoFTools::extract_locally_relevant_dofs(dofs);
  AffineConstraints<double> constraints(relevant);
  DoFTools::make_hanging_node_constraints(dofs, constraints);
  VectorTools::interpolate_boundary_values(mapping, dofs, 0, Functions::ZeroFunction<3>(), constraints);
  constraints.close();
  assemble(dofs, mapping, dofs.locally_owned_dofs(), relevant, constraints, A, b);
  PETScWrappers::MPI::Vector x(b);
  solve(A, b, x, "hanging nodes, order " + std::to_string(p), "", [&](KSP ksp) { hops::attach(ksp, dofs, mapping, constraints); });
}

static void refusals()
{
  parallel::distributed::Triangulation<3> mesh(MPI_COMM_WORLD);
  const MappingQ<3>                       mapping(1);
  DoFHandler<3>                           dofs(mesh);
  HopsSpace                               space;
  auto                                    create = [&] {
    space = hops::create_space(MPI_COMM_WORLD, dofs.n_locally_owned_dofs() / dofs.get_fe().n_components(), dofs, mapping);
  };

  GridGenerator::hyper_cube(mesh);
  mesh.refine_global(2);
  dofs.distribute_dofs(FE_DGQ<3>(2));
  refused("discontinuous", create);
  dofs.distribute_dofs(FESystem<3>(FE_Q<3>(2), 2, FE_Q<3>(1), 1));
  refused("mixed", create);
  dofs.distribute_dofs(FESystem<3>(FE_Q<3>(3), 3));
  refused("components", create);
  for (const auto &cell : mesh.active_cell_iterators())
    if (cell->is_locally_owned() && cell->center().norm() < 0.3) cell->set_refine_flag();
  mesh.execute_coarsening_and_refinement();
  dofs.distribute_dofs(FE_Q<3>(2));
  refused("hanging", create);
}

int main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  PetscBool                        alone = PETSC_FALSE, only = PETSC_FALSE;

  PetscOptionsGetBool(NULL, NULL, "-matrixfree_only", &alone, NULL);
  PetscOptionsGetBool(NULL, NULL, "-assembled_only", &only, NULL);
  if (!only) matrixfree(alone);
  if (alone) return 0;
  assembled();
  if (only) return 0;
  elasticity();
  serial();
  hanging(2);
  hanging(4);
  refusals();
  return 0;
}
