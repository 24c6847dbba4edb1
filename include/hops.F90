! hops, High-Order PreconditionerS for PETSc: the module of Fortran codes. Compile it with the code, as PETSc's own Fortran is:
! a compiler reads only modules of its own. Names and arguments are those of C, with these differences.
!   - ierr comes last, but for optional arguments: perm (default: x fastest) and ess (default: none, or found in the operator).
!   - Arrays are the same memory: ids(nodes, cells), coords(dim, nodes, cells). Indices of unknowns begin with 0, as PETSc's.
#include <petsc/finclude/petscksp.h>
#include <petsc/finclude/petscdm.h>
! MPI_Comm is PETSc's macro until 3.22, MPIU_Comm since: an integer, or with mpi_f08 a type that has one
#ifndef MPIU_Comm
#define MPIU_Comm MPI_Comm
#endif
#ifdef PETSC_USE_MPI_F08
#define HOPS_FINT(comm) comm%MPI_VAL
#else
#define HOPS_FINT(comm) comm
#endif

module hops
  use, intrinsic :: iso_c_binding
  use petscksp
  use petscdm
  implicit none
  private

  type, public :: HopsSpace
    PetscFortranAddr :: v = 0
  end type
  type, public :: HopsCoefficient
    PetscFortranAddr :: v = 0
  end type
  type(HopsCoefficient), parameter, public :: HOPS_NULL_COEFFICIENT = HopsCoefficient(0)

  public :: HopsGetNodeOrder, HopsSpaceCreateFromNodes, HopsSpaceCreateFromArrays, HopsSpaceDestroy, HopsSpaceGetSizes
  public :: HopsSpaceCreateVec, HopsSpaceGetNodeNumbers, HopsSpaceGlobalToElements, HopsSpaceElementsToGlobal
  public :: MatSetHopsSpace, DMSetHopsSpace, MatCreatePA, MatPASetDiffusion, MatPASetMass, MatPASetConstants
  public :: HopsCoefficientCreateConstant, HopsCoefficientCreateCell, HopsCoefficientCreateNodal, HopsCoefficientDestroy
  public :: PCLORSetSpace, PCLORSetCoefficients, PCLORSetElasticity

  interface
    function c_order(dim, order, name, perm) bind(C, name='HopsGetNodeOrder') result(ierr)
      import
      PetscInt, value :: dim, order
      character(kind=c_char), intent(in) :: name(*)
      PetscInt, intent(out) :: perm(*)
      PetscErrorCode :: ierr
    end function
    function c_nodes(comm, dim, order, ncells, n, ids, perm, coords, ness, ess, space) &
      bind(C, name='HopsSpaceCreateFromNodesFortran') result(ierr)
      import
      integer, value :: comm
      PetscInt, value :: dim, order, ncells, n, ness
      PetscInt64, intent(in) :: ids(*)
      PetscInt, intent(in), optional :: perm(*)
      PetscReal, intent(in) :: coords(*)
      PetscInt64, intent(in), optional :: ess(*)
      PetscFortranAddr, intent(out) :: space
      PetscErrorCode :: ierr
    end function
    function c_arrays(comm, dim, order, ncells, n, idx, coords, ness, ess, space) &
      bind(C, name='HopsSpaceCreateFromArraysFortran') result(ierr)
      import
      integer, value :: comm
      PetscInt, value :: dim, order, ncells, n, ness
      PetscInt, intent(in) :: idx(*)
      PetscReal, intent(in) :: coords(*)
      PetscInt, intent(in), optional :: ess(*)
      PetscFortranAddr, intent(out) :: space
      PetscErrorCode :: ierr
    end function
    function c_destroy(space) bind(C, name='HopsSpaceDestroy') result(ierr)
      import
      PetscFortranAddr, intent(inout) :: space
      PetscErrorCode :: ierr
    end function
    function c_sizes(space, n, nglobal) bind(C, name='HopsSpaceGetSizes') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscInt, intent(out) :: n, nglobal
      PetscErrorCode :: ierr
    end function
    function c_vec(space, x) bind(C, name='HopsSpaceCreateVec') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscFortranAddr, intent(out) :: x
      PetscErrorCode :: ierr
    end function
    function c_numbers(space, numbers) bind(C, name='HopsSpaceGetNodeNumbers') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscInt, intent(out) :: numbers(*)
      PetscErrorCode :: ierr
    end function
    function c_toelements(space, x, e) bind(C, name='HopsSpaceGlobalToElements') result(ierr)
      import
      PetscFortranAddr, value :: space, x
      PetscScalar, intent(inout) :: e(*)
      PetscErrorCode :: ierr
    end function
    function c_toglobal(space, e, mode, x) bind(C, name='HopsSpaceElementsToGlobal') result(ierr)
      import
      PetscFortranAddr, value :: space, x
      PetscScalar, intent(in) :: e(*)
      integer(c_int), value :: mode
      PetscErrorCode :: ierr
    end function
    function c_matspace(A, space) bind(C, name='MatSetHopsSpace') result(ierr)
      import
      PetscFortranAddr, value :: A, space
      PetscErrorCode :: ierr
    end function
    function c_dmspace(dm, space) bind(C, name='DMSetHopsSpace') result(ierr)
      import
      PetscFortranAddr, value :: dm, space
      PetscErrorCode :: ierr
    end function
    function c_pa(space, A) bind(C, name='MatCreatePA') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscFortranAddr, intent(out) :: A
      PetscErrorCode :: ierr
    end function
    function c_diffusion(A, cf) bind(C, name='MatPASetDiffusion') result(ierr)
      import
      PetscFortranAddr, value :: A, cf
      PetscErrorCode :: ierr
    end function
    function c_constants(A, derivative, value) bind(C, name='MatPASetConstants') result(ierr)
      import
      PetscFortranAddr, value :: A
      PetscScalar, value :: derivative, value
      PetscErrorCode :: ierr
    end function
    function c_mass(A, cf) bind(C, name='MatPASetMass') result(ierr)
      import
      PetscFortranAddr, value :: A, cf
      PetscErrorCode :: ierr
    end function
    function c_constant(comm, nc, values, cf) bind(C, name='HopsCoefficientCreateConstantFortran') result(ierr)
      import
      integer, value :: comm
      PetscInt, value :: nc
      PetscScalar, intent(in) :: values(*)
      PetscFortranAddr, intent(out) :: cf
      PetscErrorCode :: ierr
    end function
    function c_cell(space, nc, values, cf) bind(C, name='HopsCoefficientCreateCell') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscInt, value :: nc
      PetscScalar, intent(in) :: values(*)
      PetscFortranAddr, intent(out) :: cf
      PetscErrorCode :: ierr
    end function
    function c_nodal(space, nc, values, cf) bind(C, name='HopsCoefficientCreateNodal') result(ierr)
      import
      PetscFortranAddr, value :: space
      PetscInt, value :: nc
      PetscScalar, intent(in) :: values(*)
      PetscFortranAddr, intent(out) :: cf
      PetscErrorCode :: ierr
    end function
    function c_cfdestroy(cf) bind(C, name='HopsCoefficientDestroy') result(ierr)
      import
      PetscFortranAddr, intent(inout) :: cf
      PetscErrorCode :: ierr
    end function
    function c_pcspace(pc, space) bind(C, name='PCLORSetSpace') result(ierr)
      import
      PetscFortranAddr, value :: pc, space
      PetscErrorCode :: ierr
    end function
    function c_pccoefficients(pc, kappa, mass) bind(C, name='PCLORSetCoefficients') result(ierr)
      import
      PetscFortranAddr, value :: pc, kappa, mass
      PetscErrorCode :: ierr
    end function
    function c_pcelasticity(pc, lambda, mu) bind(C, name='PCLORSetElasticity') result(ierr)
      import
      PetscFortranAddr, value :: pc, lambda, mu
      PetscErrorCode :: ierr
    end function
  end interface

contains

  subroutine HopsGetNodeOrder(dim, order, name, perm, ierr)
    PetscInt, intent(in) :: dim, order
    character(*), intent(in) :: name
    PetscInt, intent(out) :: perm(*)
    PetscErrorCode, intent(out) :: ierr

    ierr = c_order(dim, order, trim(name)//c_null_char, perm)
  end subroutine

  subroutine HopsSpaceCreateFromNodes(comm, dim, order, ncells, n, ids, coords, space, ierr, perm, ess)
    MPIU_Comm, intent(in) :: comm
    PetscInt, intent(in) :: dim, order, ncells, n
    PetscInt64, intent(in) :: ids(*)
    PetscReal, intent(in) :: coords(*)
    type(HopsSpace), intent(out) :: space
    PetscErrorCode, intent(out) :: ierr
    PetscInt, intent(in), optional :: perm(*)
    PetscInt64, intent(in), optional :: ess(:)
    PetscInt :: ness

    ness = 0
    if (present(ess)) ness = size(ess, kind=kind(ness))
    ierr = c_nodes(HOPS_FINT(comm), dim, order, ncells, n, ids, perm, coords, ness, ess, space%v)
  end subroutine

  subroutine HopsSpaceCreateFromArrays(comm, dim, order, ncells, n, idx, coords, space, ierr, ess)
    MPIU_Comm, intent(in) :: comm
    PetscInt, intent(in) :: dim, order, ncells, n
    PetscInt, intent(in) :: idx(*)
    PetscReal, intent(in) :: coords(*)
    type(HopsSpace), intent(out) :: space
    PetscErrorCode, intent(out) :: ierr
    PetscInt, intent(in), optional :: ess(:)
    PetscInt :: ness

    ness = 0
    if (present(ess)) ness = size(ess, kind=kind(ness))
    ierr = c_arrays(HOPS_FINT(comm), dim, order, ncells, n, idx, coords, ness, ess, space%v)
  end subroutine

  subroutine HopsSpaceDestroy(space, ierr)
    type(HopsSpace), intent(inout) :: space
    PetscErrorCode, intent(out) :: ierr

    ierr = c_destroy(space%v)
  end subroutine

  subroutine HopsSpaceGetSizes(space, n, nglobal, ierr)
    type(HopsSpace), intent(in) :: space
    PetscInt, intent(out) :: n, nglobal
    PetscErrorCode, intent(out) :: ierr

    ierr = c_sizes(space%v, n, nglobal)
  end subroutine

  subroutine HopsSpaceCreateVec(space, x, ierr)
    type(HopsSpace), intent(in) :: space
    Vec, intent(inout) :: x
    PetscErrorCode, intent(out) :: ierr

    ierr = c_vec(space%v, x%v)
  end subroutine

  subroutine HopsSpaceGetNodeNumbers(space, numbers, ierr)
    type(HopsSpace), intent(in) :: space
    PetscInt, intent(out) :: numbers(*)
    PetscErrorCode, intent(out) :: ierr

    ierr = c_numbers(space%v, numbers)
  end subroutine

  subroutine HopsSpaceGlobalToElements(space, x, e, ierr)
    type(HopsSpace), intent(in) :: space
    Vec, intent(in) :: x
    PetscScalar, intent(inout) :: e(*)
    PetscErrorCode, intent(out) :: ierr

    ierr = c_toelements(space%v, x%v, e)
  end subroutine

  subroutine HopsSpaceElementsToGlobal(space, e, mode, x, ierr)
    type(HopsSpace), intent(in) :: space
    PetscScalar, intent(in) :: e(*)
    InsertMode, intent(in) :: mode
    Vec, intent(in) :: x
    PetscErrorCode, intent(out) :: ierr

    ierr = c_toglobal(space%v, e, transfer(mode, 0_c_int), x%v)
  end subroutine

  subroutine MatSetHopsSpace(A, space, ierr)
    Mat, intent(in) :: A
    type(HopsSpace), intent(in) :: space
    PetscErrorCode, intent(out) :: ierr

    ierr = c_matspace(A%v, space%v)
  end subroutine

  subroutine DMSetHopsSpace(dm, space, ierr)
    type(tDM), intent(in) :: dm
    type(HopsSpace), intent(in) :: space
    PetscErrorCode, intent(out) :: ierr

    ierr = c_dmspace(dm%v, space%v)
  end subroutine

  subroutine MatCreatePA(space, A, ierr)
    type(HopsSpace), intent(in) :: space
    Mat, intent(inout) :: A
    PetscErrorCode, intent(out) :: ierr

    ierr = c_pa(space%v, A%v)
  end subroutine

  subroutine MatPASetDiffusion(A, cf, ierr)
    Mat, intent(in) :: A
    type(HopsCoefficient), intent(in) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_diffusion(A%v, cf%v)
  end subroutine

  subroutine MatPASetConstants(A, derivative, value, ierr)
    type(tMat), intent(in) :: A
    PetscScalar, intent(in) :: derivative, value
    PetscErrorCode, intent(out) :: ierr

    ierr = c_constants(A%v, derivative, value)
  end subroutine

  subroutine MatPASetMass(A, cf, ierr)
    Mat, intent(in) :: A
    type(HopsCoefficient), intent(in) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_mass(A%v, cf%v)
  end subroutine

  subroutine HopsCoefficientCreateConstant(comm, nc, values, cf, ierr)
    MPIU_Comm, intent(in) :: comm
    PetscInt, intent(in) :: nc
    PetscScalar, intent(in) :: values(*)
    type(HopsCoefficient), intent(out) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_constant(HOPS_FINT(comm), nc, values, cf%v)
  end subroutine

  subroutine HopsCoefficientCreateCell(space, nc, values, cf, ierr)
    type(HopsSpace), intent(in) :: space
    PetscInt, intent(in) :: nc
    PetscScalar, intent(in) :: values(*)
    type(HopsCoefficient), intent(out) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_cell(space%v, nc, values, cf%v)
  end subroutine

  subroutine HopsCoefficientCreateNodal(space, nc, values, cf, ierr)
    type(HopsSpace), intent(in) :: space
    PetscInt, intent(in) :: nc
    PetscScalar, intent(in) :: values(*)
    type(HopsCoefficient), intent(out) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_nodal(space%v, nc, values, cf%v)
  end subroutine

  subroutine HopsCoefficientDestroy(cf, ierr)
    type(HopsCoefficient), intent(inout) :: cf
    PetscErrorCode, intent(out) :: ierr

    ierr = c_cfdestroy(cf%v)
  end subroutine

  subroutine PCLORSetSpace(pc, space, ierr)
    type(tPC), intent(in) :: pc
    type(HopsSpace), intent(in) :: space
    PetscErrorCode, intent(out) :: ierr

    ierr = c_pcspace(pc%v, space%v)
  end subroutine

  subroutine PCLORSetCoefficients(pc, kappa, mass, ierr)
    type(tPC), intent(in) :: pc
    type(HopsCoefficient), intent(in) :: kappa, mass
    PetscErrorCode, intent(out) :: ierr

    ierr = c_pccoefficients(pc%v, kappa%v, mass%v)
  end subroutine

  subroutine PCLORSetElasticity(pc, lambda, mu, ierr)
    type(tPC), intent(in) :: pc
    type(HopsCoefficient), intent(in) :: lambda, mu
    PetscErrorCode, intent(out) :: ierr

    ierr = c_pcelasticity(pc%v, lambda%v, mu%v)
  end subroutine
end module hops
