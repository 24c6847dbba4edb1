/* Spaces that travel with a matrix or a DM: a preconditioner finds them wherever a code keeps its KSP. */
#include <hops/private/hopsimpl.h>

static const char Key[] = "HopsSpace";

static PetscErrorCode HopsSpaceCompose(PetscObject obj, HopsSpace space)
{
  PetscMPIInt same;

  PetscFunctionBegin;
  if (space) {
    PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)space), PetscObjectComm(obj), &same));
    PetscCheck(same == MPI_IDENT || same == MPI_CONGRUENT, PetscObjectComm(obj), PETSC_ERR_ARG_NOTSAMECOMM,
               "The space and the %s have different communicators: create the space on that of the %s", obj->class_name,
               obj->class_name);
  }
  PetscCall(PetscObjectCompose(obj, Key, (PetscObject)space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSetHopsSpace - Tells the finite element space of a matrix, so that `-pc_type lor` finds it.

  Logically Collective

  Input Parameters:
+ A     - the matrix, of any type; its rows are the unknowns of the space, in the space's numbering
- space - the space, or `NULL` for none

  Level: beginner

  Notes:
  The matrix keeps a reference to the space. `PCLOR` and `PCPATCHFD` look at the matrices that they are given
  (the second of `KSPSetOperators()` before the first), so that nothing needs to be known of the solver: it
  may be made by options, or lie inside another one. Blocks of a `MATNEST` may each have a space.

  `MatDuplicate()` and `MatConvert()` do not copy it. A `MATPA` has its own space, which comes before this.

.seealso: `PCLOR`, `PCPATCHFD`, `DMSetHopsSpace()`, `MatGetHopsSpace()`, `PCLORSetSpace()`,
`HopsSpaceCreateFromArrays()`
@*/
PetscErrorCode MatSetHopsSpace(Mat A, HopsSpace space)
{
  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  if (space) HopsValidHeader(space, HOPS_SPACE_CLASSID, 2);
  PetscCall(HopsSpaceCompose((PetscObject)A, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGetHopsSpace - Gets the space that `MatSetHopsSpace()` gave a matrix.

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. space - the space (borrowed), or `NULL`

  Level: intermediate

.seealso: `MatSetHopsSpace()`
@*/
PetscErrorCode MatGetHopsSpace(Mat A, HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidPointer(space, 2);
  PetscCall(PetscObjectQuery((PetscObject)A, Key, (PetscObject *)space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMSetHopsSpace - Tells the finite element space of a `DM`'s vectors and matrices, so that `-pc_type lor`
  finds it.

  Logically Collective

  Input Parameters:
+ dm    - the `DM`, for instance a `DMSHELL`
- space - the space, or `NULL` for none

  Level: beginner

  Notes:
  The `DM` keeps a reference to the space. `PCLOR` and `PCPATCHFD` look at the solver's `DM` (`KSPSetDM()`,
  `SNESSetDM()`) and at those of its matrices (`MatSetDM()`), after the matrices' own spaces
  (`MatSetHopsSpace()`) and before the `PetscFE` of a `DMPLEX`.

  A space that was made from the `DM` itself is refused: the two would keep each other, and the
  preconditioners find that one unasked.

.seealso: `PCLOR`, `PCPATCHFD`, `MatSetHopsSpace()`, `DMGetHopsSpace()`, `PCLORSetSpace()`,
`HopsSpaceCreateFromArrays()`
@*/
PetscErrorCode DMSetHopsSpace(DM dm, HopsSpace space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  if (space) {
    HopsValidHeader(space, HOPS_SPACE_CLASSID, 2);
    PetscCheck(space->dm != dm, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
               "The space was made from this DM, and preconditioners find it by the DM's PetscFE: leave DMSetHopsSpace() out");
  }
  PetscCall(HopsSpaceCompose((PetscObject)dm, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMGetHopsSpace - Gets the space that `DMSetHopsSpace()` gave a `DM`.

  Not Collective

  Input Parameter:
. dm - the `DM`

  Output Parameter:
. space - the space (borrowed), or `NULL`

  Level: intermediate

.seealso: `DMSetHopsSpace()`
@*/
PetscErrorCode DMGetHopsSpace(DM dm, HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 2);
  PetscCall(PetscObjectQuery((PetscObject)dm, Key, (PetscObject *)space));
  PetscFunctionReturn(PETSC_SUCCESS);
}
