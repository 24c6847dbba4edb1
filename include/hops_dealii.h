/* deal.II's spaces for hops: includes deal.II, so hops.h does not include this. See docs/guide/dealii.md.

     hops::attach(A, dof_handler, mapping);   // a PETSc matrix, or a shell: -pc_type lor finds it there
     hops::attach(ksp, dof_handler, mapping); // or a KSP or PC that has operators; its type becomes lor
     hops::attach(ksp, dof_handler, mapping, constraints); // the same with hanging nodes
     hops::Solver solver(op, x, dof_handler, mapping); // matrix-free: op has vmult() on vectors like x
     solver.solve(x, b);                      // a KSP with PETSc's options
     Mat A = hops::create_shell(op, x);       // the operator alone
     hops::renumber_by_node(dof_handler);     // FESystem: components of a node follow each other
     HopsSpace s = hops::create_space(comm, n, dof_handler, mapping);

   Elements are FE_Q of any order, with any mapping, and FESystem of several of the same. Ranks may share a
   mesh of parallel::distributed, fullydistributed or shared, or a serial one by subdomain ids. With
   hanging nodes elements have one component. What else there is raises an exception, on all ranks. */
#pragma once
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/exceptions.h>
#include <hops.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hops {
namespace internal {
inline void check(PetscErrorCode ierr)
{
  AssertThrow(ierr == 0, dealii::ExcMessage("hops: PETSc raised an error, whose text it has printed"));
}

/* On all ranks where it is so on one */
inline void require(bool fine, MPI_Comm comm, const char *message)
{
  int all = fine;

  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  AssertThrow(all, dealii::ExcMessage(std::string("hops: ") + message));
}

/* Of this rank: by its mesh, or, where each rank has the whole of it, by subdomain ids */
template <class Cell> bool owned(const Cell &cell, MPI_Comm comm)
{
  const bool serial = dealii::Utilities::MPI::n_mpi_processes(cell->get_triangulation().get_communicator()) == 1;

  if (serial && dealii::Utilities::MPI::n_mpi_processes(comm) > 1)
    return cell->subdomain_id() == dealii::Utilities::MPI::this_mpi_process(comm);
  return cell->is_locally_owned();
}

template <int dim> bool hanging(const dealii::DoFHandler<dim> &dofs)
{
  for (const auto &cell : dofs.active_cell_iterators())
    if (!cell->is_artificial())
      for (const unsigned int f : cell->face_indices())
        if (!cell->at_boundary(f) && (cell->neighbor_is_coarser(f) || cell->face(f)->has_children())) return true;
  return false;
}

template <int dim> void require_element(const dealii::DoFHandler<dim> &dofs, MPI_Comm comm)
{
  require(!dofs.has_hp_capabilities() || dofs.get_fe_collection().size() == 1, comm, "take one element for all cells");
  require(dofs.get_fe().n_base_elements() == 1 && dynamic_cast<const dealii::FE_Q<dim> *>(&dofs.get_fe().base_element(0)), comm,
          "takes FE_Q, or an FESystem of several of the same: of other spaces give it a block (PCFIELDSPLIT)");
}
} // namespace internal

/* The space of scalar nodes: n is the number of nodes of this rank, and numbers are those of dofs. With
   hanging nodes a preconditioner needs their constraints too (PCLORSetProlongation()), which attach()
   gives it. The caller destroys the space (HopsSpaceDestroy()) */
template <int dim>
HopsSpace create_space(MPI_Comm comm, PetscInt n, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping,
                       const dealii::AffineConstraints<double> *constraints = nullptr)
{
  internal::require_element(dofs, comm);
  internal::require(constraints || !internal::hanging(dofs), comm,
                    "a mesh with hanging nodes needs hops::attach(ksp, dof_handler, mapping, constraints)");
  const auto                     &fe = dofs.get_fe(), &base = fe.base_element(0);
  const unsigned int              nc = fe.n_components(), nodes = base.n_dofs_per_cell();
  std::vector<dealii::Point<dim>> points = base.get_unit_support_points();
  dealii::FEValues<dim>           values(mapping, fe, dealii::Quadrature<dim>(points), dealii::update_quadrature_points);
  std::vector<dealii::types::global_dof_index> indices(fe.n_dofs_per_cell());
  std::vector<PetscInt64>                      ids;
  std::vector<PetscInt>                        order(nodes);
  std::vector<PetscReal>                       reference, coords;
  bool                                         together = true;

  for (const auto &cell : dofs.active_cell_iterators()) {
    if (!internal::owned(cell, comm)) continue;
    values.reinit(cell);
    cell->get_dof_indices(indices);
    for (unsigned int i = 0; i < nodes; ++i) {
      const auto first = indices[fe.component_to_system_index(0, i)];

      for (unsigned int c = 0; c < nc; ++c) together = together && indices[fe.component_to_system_index(c, i)] == first + c;
      together = together && first % nc == 0;
      ids.push_back(first / nc);
      for (int d = 0; d < dim; ++d) coords.push_back(values.quadrature_point(i)[d]);
    }
  }
  internal::require(together, comm, "the components of a node do not follow each other: call hops::renumber_by_node() first");
  for (const auto &point : points)
    for (int d = 0; d < dim; ++d) reference.push_back(point[d]);
  HopsSpace space;
  internal::check(HopsGetNodeOrderFromPoints(dim, base.degree, reference.data(), order.data()));
  internal::check(HopsSpaceCreateFromNodes(comm, dim, base.degree, PetscInt(ids.size() / nodes), n, ids.data(), order.data(),
                                           coords.data(), 0, nullptr, &space));
  return space;
}

/* The matrix keeps the space; that of an FESystem gets a block size */
template <int dim>
void attach(Mat A, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping,
            const dealii::AffineConstraints<double> *constraints = nullptr)
{
  MPI_Comm       comm;
  PetscInt       n, bs;
  const PetscInt nc = dofs.get_fe().n_components();

  internal::check(PetscObjectGetComm((PetscObject)A, &comm));
  internal::check(MatGetLocalSize(A, &n, nullptr));
  internal::check(MatGetBlockSize(A, &bs));
  if (bs != nc) internal::check(MatSetBlockSize(A, nc));
  HopsSpace space = create_space(comm, n / nc, dofs, mapping, constraints);
  internal::check(MatSetHopsSpace(A, space));
  internal::check(HopsSpaceDestroy(&space));
}

namespace internal {
/* What the unknowns are by those of the operator: constrained ones by weights, others are themselves.
   So are those of the boundary, whose rows are found in the operator */
inline Mat prolongation(Mat A, const dealii::AffineConstraints<double> &constraints)
{
  MPI_Comm                                                               comm;
  PetscInt                                                               n, N, start, end, most = 1;
  Mat                                                                    P;
  const std::vector<std::pair<dealii::types::global_dof_index, double>> *entries;

  check(PetscObjectGetComm((PetscObject)A, &comm));
  check(MatGetLocalSize(A, &n, nullptr));
  check(MatGetSize(A, &N, nullptr));
  check(MatGetOwnershipRange(A, &start, &end));
  const auto weights = [&](PetscInt i) {
    entries = constraints.is_constrained(i) ? constraints.get_constraint_entries(i) : nullptr;
    return entries ? PetscInt(entries->size()) : 0;
  };
  for (PetscInt i = start; i < end; ++i) most = std::max(most, weights(i));
  check(MatCreateAIJ(comm, n, n, N, N, most, nullptr, most, nullptr, &P));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt count = weights(i);

    if (!count) check(MatSetValue(P, i, i, 1.0, INSERT_VALUES));
    for (PetscInt k = 0; k < count; ++k) check(MatSetValue(P, i, (*entries)[k].first, (*entries)[k].second, INSERT_VALUES));
  }
  check(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  return P;
}
} // namespace internal

/* The type becomes lor. Constraints are those that the operator was assembled with, closed */
template <int dim>
void attach(PC pc, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping,
            const dealii::AffineConstraints<double> *constraints = nullptr)
{
  Mat A;

  internal::check(PCGetOperators(pc, nullptr, &A));
  attach(A, dofs, mapping, constraints);
  internal::check(HopsInitialize());
  internal::check(PCSetType(pc, PCLOR));
  if (constraints) {
    Mat P = internal::prolongation(A, *constraints);

    internal::check(PCLORSetProlongation(pc, P));
    internal::check(MatDestroy(&P));
  }
}

template <int dim> void attach(KSP ksp, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping)
{
  PC pc;

  internal::check(KSPGetPC(ksp, &pc));
  attach(pc, dofs, mapping);
}

template <int dim>
void attach(KSP ksp, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping,
            const dealii::AffineConstraints<double> &constraints)
{
  PC pc;

  internal::check(KSPGetPC(ksp, &pc));
  attach(pc, dofs, mapping, &constraints);
}

namespace internal {
template <class Operator, class Vector> struct Shell {
  const Operator *op;
  Vector          x, y;
};

template <class Operator, class Vector> PetscErrorCode shell_mult(Mat A, Vec x, Vec y)
{
  Shell<Operator, Vector> *shell;
  const PetscScalar       *a;
  PetscScalar             *b;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscCall(VecGetArrayRead(x, &a));
  std::copy(a, a + shell->x.locally_owned_size(), shell->x.begin());
  PetscCall(VecRestoreArrayRead(x, &a));
  shell->op->vmult(shell->y, shell->x);
  PetscCall(VecGetArrayWrite(y, &b));
  std::copy(shell->y.begin(), shell->y.begin() + shell->y.locally_owned_size(), b);
  PetscCall(VecRestoreArrayWrite(y, &b));
  PetscFunctionReturn(0);
}

template <class Operator, class Vector> PetscErrorCode shell_destroy(Mat A)
{
  Shell<Operator, Vector> *shell;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  delete shell;
  PetscFunctionReturn(0);
}
} // namespace internal

/* An operator with vmult() as a PETSc matrix, on LinearAlgebra::distributed::Vector or others alike. like
   has the operator's layout, as of initialize_dof_vector(); op must outlive the matrix, which the caller
   destroys */
template <class Operator, class Vector> Mat create_shell(const Operator &op, const Vector &like)
{
  auto          *shell = new internal::Shell<Operator, Vector>{&op, like, like};
  const PetscInt n = like.locally_owned_size(), N = like.size();
  Mat            A;

  internal::check(MatCreateShell(like.get_mpi_communicator(), n, n, N, N, shell, &A));
  internal::check(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))internal::shell_mult<Operator, Vector>));
  internal::check(MatShellSetOperation(A, MATOP_DESTROY, (void (*)(void))internal::shell_destroy<Operator, Vector>));
  return A;
}

/* A KSP of type CG with -pc_type lor for an operator with vmult(), which must outlive it. Options choose
   others. A solve that does not converge raises an exception */
class Solver {
public:
  template <class Operator, class Vector, int dim>
  Solver(const Operator &op, const Vector &like, const dealii::DoFHandler<dim> &dofs, const dealii::Mapping<dim> &mapping)
  {
    Mat A = create_shell(op, like);

    internal::check(KSPCreate(like.get_mpi_communicator(), &ksp));
    internal::check(KSPSetOperators(ksp, A, A));
    internal::check(MatDestroy(&A));
    internal::check(KSPSetType(ksp, KSPCG));
    attach(ksp, dofs, mapping);
    internal::check(KSPSetFromOptions(ksp));
  }
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
  {
    KSPDestroy(&ksp);
  }

  /* x is the initial guess too, with -ksp_initial_guess_nonzero */
  template <class Vector> void solve(Vector &x, const Vector &b)
  {
    const auto         comm = x.get_mpi_communicator();
    const PetscInt     n = x.locally_owned_size(), N = x.size();
    KSPConvergedReason reason;
    Vec                vx, vb;

    internal::check(VecCreateMPIWithArray(comm, 1, n, N, x.begin(), &vx));
    internal::check(VecCreateMPIWithArray(comm, 1, n, N, b.begin(), &vb));
    internal::check(KSPSolve(ksp, vb, vx));
    internal::check(VecDestroy(&vx));
    internal::check(VecDestroy(&vb));
    internal::check(KSPGetConvergedReason(ksp, &reason));
    AssertThrow(reason > 0, dealii::ExcMessage("hops: KSP did not converge: -ksp_converged_reason says why"));
  }

  KSP ksp;
};

/* Numbers the unknowns of an FESystem node by node. Each rank keeps its own */
template <int dim> void renumber_by_node(dealii::DoFHandler<dim> &dofs)
{
  const auto        &fe = dofs.get_fe();
  const unsigned int nc = fe.n_components(), nodes = fe.base_element(0).n_dofs_per_cell();
  const auto         owned = dofs.locally_owned_dofs();
  using Index              = dealii::types::global_dof_index;
  std::vector<Index>              indices(fe.n_dofs_per_cell()), numbers(owned.n_elements());
  std::vector<std::vector<Index>> node; /* the unknowns of each node */

  internal::require_element(dofs, dofs.get_communicator());
  for (const auto &cell : dofs.active_cell_iterators()) {
    if (!cell->is_locally_owned()) continue;
    cell->get_dof_indices(indices);
    for (unsigned int i = 0; i < nodes; ++i) {
      if (!owned.is_element(indices[fe.component_to_system_index(0, i)])) continue;
      node.emplace_back();
      for (unsigned int c = 0; c < nc; ++c) node.back().push_back(indices[fe.component_to_system_index(c, i)]);
    }
  }
  std::sort(node.begin(), node.end());
  node.erase(std::unique(node.begin(), node.end()), node.end());
  Index next = owned.n_elements() ? *owned.begin() : 0;
  for (const auto &unknowns : node)
    for (const Index i : unknowns) numbers[owned.index_within_set(i)] = next++;
  dofs.renumber_dofs(numbers);
}
} // namespace hops
