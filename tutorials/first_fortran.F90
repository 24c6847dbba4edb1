! -laplace u = 1 on a square by a spectral-element code in Fortran, with values cell by cell, as Nek has them:
! -order <p> (at most 15) -n <n>: n^2 cells; -pa: the same by hops' own operator
#include <petsc/finclude/petscksp.h>
module box
  use petscksp
  use hops
  implicit none
  PetscInt :: p = 6, n = 8, ncells
  PetscInt, parameter :: dim = 2, nc = 1          ! a literal is no PetscInt where these have 64 bits
  PetscReal :: z(0:15), w(0:15), K(0:15, 0:15)    ! Gauss-Lobatto nodes and weights, stiffness matrix of 1D
  PetscScalar, allocatable :: u(:, :, :), v(:, :, :) ! (x, y, cell)
  type(HopsSpace) :: space
  Vec :: inside, t                                ! 0 on the boundary, else 1

contains

  subroutine GaussLobatto()
    PetscReal :: L(0:15, 0:15), D(0:15, 0:15), x ! L(k, i): Legendre polynomial k at node i
    PetscInt :: i, j, step

    do i = 0, p
      x = -cos(acos(-1.d0)*i/p)
      do step = 1, 100
        L(0:1, i) = [1.d0, x]
        do j = 2, p
          L(j, i) = ((2*j - 1)*x*L(j - 1, i) - (j - 1)*L(j - 2, i))/j
        end do
        x = x - (x*L(p, i) - L(p - 1, i))/((p + 1)*L(p, i))
      end do
      z(i) = x
      w(i) = 2/(p*(p + 1)*L(p, i)**2)
    end do
    do i = 0, p
      do j = 0, p
        if (i /= j) D(i, j) = L(p, i)/(L(p, j)*(z(i) - z(j)))
      end do
      D(i, i) = 0
      if (i == 0) D(i, i) = -p*(p + 1)/4.d0
      if (i == p) D(i, i) = p*(p + 1)/4.d0
    end do
    do i = 0, p
      do j = 0, p
        K(i, j) = sum(w(0:p)*D(0:p, i)*D(0:p, j))
      end do
    end do
  end subroutine

  ! y = A x, cell by cell; rows of the boundary are those of the identity
  subroutine Mult(A, x, y, ierr)
    Mat :: A
    Vec :: x, y
    PetscErrorCode :: ierr
    PetscInt :: i, c

    PetscCall(VecPointwiseMult(t, inside, x, ierr))
    PetscCall(HopsSpaceGlobalToElements(space, t, u, ierr))
    do c = 1, ncells
      do i = 0, p
        v(:, i, c) = w(i)*matmul(K(0:p, 0:p), u(:, i, c)) + w(0:p)*matmul(u(:, :, c), K(0:p, i))
      end do
    end do
    PetscCall(HopsSpaceElementsToGlobal(space, v, ADD_VALUES, y, ierr))
    PetscCall(VecPointwiseMult(y, y, inside, ierr))
    PetscCall(VecAXPBYPCZ(y, 1.d0, -1.d0, 1.d0, x, t, ierr))
  end subroutine
end module box

program main
  use box
  implicit none
  PetscErrorCode :: ierr
  PetscMPIInt :: rank, size
  PetscInt :: c, i, j, ix, iy, local, total
  PetscInt64, allocatable :: ids(:, :, :) ! of nodes: cells that share one have the same id
  PetscReal, allocatable :: X(:, :, :, :)
  PetscInt, allocatable :: order(:) ! of a cell's nodes: here hops' own
  PetscReal :: most
  PetscBool :: set, pa = .false.
  type(HopsCoefficient) :: one
  Mat :: A
  Vec :: b, sol
  KSP :: solver

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(PetscOptionsGetInt(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-order', p, set, ierr))
  PetscCallA(PetscOptionsGetInt(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-n', n, set, ierr))
  PetscCallA(PetscOptionsGetBool(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-pa', pa, set, ierr))
  PetscCallMPIA(MPI_Comm_rank(PETSC_COMM_WORLD, rank, ierr))
  PetscCallMPIA(MPI_Comm_size(PETSC_COMM_WORLD, size, ierr))
  call GaussLobatto()
  ncells = count([(c*size/(n*n) == rank, c=0, n*n - 1)]) ! cells of this rank
  allocate (ids(0:p, 0:p, ncells), X(2, 0:p, 0:p, ncells), u(0:p, 0:p, ncells), v(0:p, 0:p, ncells))
  ncells = 0
  do c = 0, n*n - 1
    if (c*size/(n*n) /= rank) cycle
    ncells = ncells + 1
    do j = 0, p
      do i = 0, p
        ix = mod(c, n)*p + i
        iy = c/n*p + j
        ids(i, j, ncells) = iy*(n*p + 1) + ix
        X(:, i, j, ncells) = ([mod(c, n), c/n] + 0.5d0*([z(i), z(j)] + 1))/n
        v(i, j, ncells) = w(i)*w(j)/(4*n*n)
        u(i, j, ncells) = merge(0.d0, 1.d0, mod(ix, n*p) == 0 .or. mod(iy, n*p) == 0)
      end do
    end do
  end do
  if (pa) then ! Dirichlet unknowns are told, for the operator is made of the space
    allocate (order((p + 1)**2))
    PetscCallA(HopsGetNodeOrder(dim, p, 'nek', order, ierr))
    call HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, dim, p, ncells, PETSC_DECIDE, ids, X, space, ierr, order, pack(ids, u == 0))
    CHKERRA(ierr)
  else
    PetscCallA(HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, dim, p, ncells, PETSC_DECIDE, ids, X, space, ierr))
  end if
  PetscCallA(HopsSpaceCreateVec(space, sol, ierr))
  PetscCallA(VecDuplicate(sol, b, ierr))
  PetscCallA(VecDuplicate(sol, t, ierr))
  PetscCallA(VecDuplicate(sol, inside, ierr))
  PetscCallA(HopsSpaceElementsToGlobal(space, u, INSERT_VALUES, inside, ierr))
  PetscCallA(HopsSpaceElementsToGlobal(space, v, ADD_VALUES, b, ierr))
  PetscCallA(VecPointwiseMult(b, b, inside, ierr))

  if (pa) then
    PetscCallA(MatCreatePA(space, A, ierr))
    PetscCallA(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, nc, [1.d0], one, ierr))
    PetscCallA(MatPASetDiffusion(A, one, ierr))
    PetscCallA(HopsCoefficientDestroy(one, ierr))
  else
    PetscCallA(HopsSpaceGetSizes(space, local, total, ierr))
    PetscCallA(MatCreateShell(PETSC_COMM_WORLD, local, local, total, total, PETSC_NULL_INTEGER, A, ierr))
    PetscCallA(MatShellSetOperation(A, MATOP_MULT, Mult, ierr))
    PetscCallA(MatSetHopsSpace(A, space, ierr)) ! this one line is for -pc_type lor
  end if

  PetscCallA(KSPCreate(PETSC_COMM_WORLD, solver, ierr))
  PetscCallA(KSPSetOperators(solver, A, A, ierr))
  PetscCallA(KSPSetFromOptions(solver, ierr))
  PetscCallA(KSPSolve(solver, b, sol, ierr))
  PetscCallA(VecMax(sol, PETSC_NULL_INTEGER, most, ierr))
  if (rank == 0) print '(a, f8.6)', 'the largest value is ', most
  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(VecDestroy(sol, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(VecDestroy(t, ierr))
  PetscCallA(VecDestroy(inside, ierr))
  PetscCallA(HopsSpaceDestroy(space, ierr))
  PetscCallA(PetscFinalize(ierr))
end program main

!/*TEST
!
!  build:
!    requires: fortran
!
!  test:
!    args: -pa {{0 1}} -order {{4 8}} -ksp_type cg -ksp_rtol 1e-10 -pc_type lor -ksp_converged_reason
!    nsize: {{1 3}}
!    filter: sed "s/iterations 1[0-9]/few iterations/"
!
!TEST*/
