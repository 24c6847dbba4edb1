/* PCPATCHFD's public functions. */
#include <hops/private/hopspatchfdimpl.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCPATCHFDGetData(PC pc, PC_PATCHFD **fd)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCPATCHFD, &same));
  *fd = same ? (PC_PATCHFD *)pc->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetSpace - Sets the finite element space of the operator, where the preconditioner cannot find it
  by itself.

  Collective

  Input Parameters:
+ pc    - the preconditioner
- space - the space

  Level: beginner

  Note:
  Not needed for a `MATPA` operator, nor where the solver has a `DMPLEX` with a `PetscFE`. Unless the operator
  is a `MATPA`, call `PCPATCHFDSetCoefficients()` too.

.seealso: `PCPATCHFD`, `PCPATCHFDSetCoefficients()`, `HopsSpaceCreateFromArrays()`
@*/
PetscErrorCode PCPATCHFDSetSpace(PC pc, HopsSpace space)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscTryMethod(pc, "PCPATCHFDSetSpace_C", (PC, HopsSpace), (pc, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDGetSpace - Gets the finite element space that the preconditioner works on.

  Not Collective

  Input Parameter:
. pc - the preconditioner, after `PCSetUp()`

  Output Parameter:
. space - the space (borrowed), `NULL` before set-up

  Level: intermediate

.seealso: `PCPATCHFD`, `PCPATCHFDSetSpace()`
@*/
PetscErrorCode PCPATCHFDGetSpace(PC pc, HopsSpace *space)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidPointer(space, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCPATCHFDGetData(pc, &fd));
  PetscCheck(fd, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The PC has type %s where " PCPATCHFD " is needed (PCSetType())",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "(unset)");
  *space = fd->src.form->space ? fd->src.form->space : fd->src.userspace;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetCoefficients - Sets the coefficients of the form, in place of those of the operator or of the
  `PetscDS`.

  Collective

  Input Parameters:
+ pc        - the preconditioner
. diffusion - coefficient of the diffusion term, or `NULL`
- mass      - coefficient of the mass term, or `NULL`; with both `NULL` the operator's own are used again

  Level: intermediate

  Note:
  Diffusion must be positive definite and mass not negative: for an indefinite form (a Helmholtz problem, say)
  give those of a positive one that is near.

.seealso: `PCPATCHFD`, `PCPATCHFDSetSpace()`, `HopsCoefficient`
@*/
PetscErrorCode PCPATCHFDSetCoefficients(PC pc, HopsCoefficient diffusion, HopsCoefficient mass)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscTryMethod(pc, "PCPATCHFDSetCoefficients_C", (PC, HopsCoefficient, HopsCoefficient), (pc, diffusion, mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetType - Sets how the corrections of the patches are put together.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- type - multiplicative (default), additive or restricted, see `PCPATCHFDType`

  Options Database Key:
. -pc_patchfd_type <multiplicative|additive|restricted> - the type

  Level: beginner

  Note:
  `KSPCG` may use the additive type and the symmetric multiplicative one. Corrections of 2^dim vertex patches
  overlap in the additive type: as a smoother it needs a factor (`PCPATCHFDSetOmega()`, about 2^-dim) or
  `KSPCHEBYSHEV`. The restricted type is not symmetric: use `KSPGMRES` or `KSPRICHARDSON`.

.seealso: `PCPATCHFD`, `PCPATCHFDType`, `PCPATCHFDSetDirection()`
@*/
PetscErrorCode PCPATCHFDSetType(PC pc, PCPATCHFDType type)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidEnum(type, PC_PATCHFD_RESTRICTED, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd && fd->type != type) {
    fd->type        = type;
    pc->setupcalled = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetPatch - Sets the patches.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- patch - vertex (default) or element patches, see `PCPATCHFDPatch`

  Options Database Key:
. -pc_patchfd_patch <vertex|element> - the patches

  Level: beginner

  Note:
  Element patches overlap less: they cost a fraction of vertex patches and smooth less well.

.seealso: `PCPATCHFD`, `PCPATCHFDPatch`
@*/
PetscErrorCode PCPATCHFDSetPatch(PC pc, PCPATCHFDPatch patch)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidEnum(patch, PC_PATCHFD_ELEMENT, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd && fd->patch != patch) {
    fd->patch       = patch;
    pc->setupcalled = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetDirection - Sets the order in which a multiplicative preconditioner takes its colors.

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - symmetric (default), forward or backward, see `PCPATCHFDDirection`

  Options Database Keys:
+ -pc_patchfd_direction <symmetric|forward|backward> - the order
- -pc_patchfd_symmetric <bool>                       - deprecated: symmetric, or forward

  Level: beginner

.seealso: `PCPATCHFD`, `PCPATCHFDDirection`, `PCPATCHFDSetType()`
@*/
PetscErrorCode PCPATCHFDSetDirection(PC pc, PCPATCHFDDirection direction)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidEnum(direction, PC_PATCHFD_BACKWARD, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd) fd->direction = direction;
  if (fd) fd->directed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite order of colors: a smoother's adjoint */
PetscErrorCode PCPATCHFDReverse_Private(PC pc)
{
  static const PCPATCHFDDirection reversed[] = {PC_PATCHFD_SYMMETRIC, PC_PATCHFD_BACKWARD, PC_PATCHFD_FORWARD};
  PC_PATCHFD                     *fd         = NULL;

  PetscFunctionBegin;
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd) fd->direction = reversed[fd->direction];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetOmega - Sets the factor of the local corrections.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - the factor, positive (default 1)

  Options Database Key:
. -pc_patchfd_omega <omega> - the factor

  Level: intermediate

.seealso: `PCPATCHFD`
@*/
PetscErrorCode PCPATCHFDSetOmega(PC pc, PetscReal omega)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCheck(omega > 0.0 && !PetscIsInfReal(omega), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The factor of the corrections (-pc_patchfd_omega) must be positive and finite, not %g", (double)omega);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd && fd->omega != omega) {
    fd->omega       = omega;
    pc->setupcalled = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCPATCHFDSetPrecision - Sets the precision of the local solves.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- single - single precision (default: double)

  Options Database Key:
. -pc_patchfd_precision <double|single> - the precision

  Level: intermediate

  Note:
  Vectors, the operator, dense and condensed patches remain in double precision. Where the condition number of
  a patch is above 1e5, or its scale beyond what single precision represents, local solves are in double
  precision all the same; `-ksp_view` and `-info` say so. Residuals are rounded as they are: entries below
  1e-38 are lost.

.seealso: `PCPATCHFD`
@*/
PetscErrorCode PCPATCHFDSetPrecision(PC pc, PetscBool single)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCPATCHFD));
  PetscCall(PCPATCHFDGetData(pc, &fd));
  if (fd && fd->single != single) {
    fd->single      = single;
    pc->setupcalled = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCPATCHFDGetPatches - Gets this rank's patches: their unknowns, colors and kinds.

  Not Collective

  Input Parameter:
. pc - the preconditioner, after `PCSetUp()`

  Output Parameters:
+ n        - the number of patches
. start    - [n+1] first entry of each patch
. unknowns - [start[n]] entries: an index below the local size of a vector is that of an owned unknown, one
  beyond it that of another
             rank's; the largest of all stands for what a patch's tensor product includes but the space
             constrains or lacks
. colors   - [n] the color of each patch (zeros where there is one color, and patches share unknowns)
- ncolors  - the number of colors

  Level: developer

  Note:
  The arrays are the preconditioner's own. Outputs may be `NULL`.

.seealso: `PCPATCHFD`
@*/
PetscErrorCode PCPATCHFDGetPatches(PC pc, PetscInt *n, const PetscInt *start[], const int *unknowns[], const int *colors[],
                                   PetscInt *ncolors)
{
  PC_PATCHFD *fd = NULL;

  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCPATCHFDGetData(pc, &fd));
  PetscCheck(fd, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The PC has type %s where " PCPATCHFD " is needed (PCSetType())",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "(unset)");
  PetscCheck(fd->patches, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "Call PCSetUp() first");
  if (n) *n = fd->patches->n;
  if (start) *start = fd->patches->start;
  if (unknowns) PetscCall(HopsPatchesBringLists(fd->patches, unknowns));
  if (colors) *colors = fd->patches->color;
  if (ncolors) *ncolors = fd->patches->ncolors;
  PetscFunctionReturn(PETSC_SUCCESS);
}
