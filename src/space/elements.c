/* T-vectors and the values that codes hold cell by cell. */
#include <hops/private/hopsderhamimpl.h>

/* of cells whose own values are combinations of those that they list */
#define HOPS_ELEMENTS_REMEDY "have values of their own: apply MATPA, or HopsSpaceGetNodeNumbers() and your constraints"

PetscInt HopsSpaceGlobalIndex(HopsSpace sp, PetscInt l)
{
  if (l < sp->nT) return sp->rstart + l;
  if (l < sp->nT + sp->nG) return sp->ghost[l - sp->nT];
  return sp->cglobal ? sp->cglobal[l - sp->nT - sp->nG] : -1;
}

/* Entry i of a cell as its caller lists it: the entry of the space */
static inline PetscInt HopsElementEntry(HopsSpace sp, PetscInt c, PetscInt i)
{
  return sp->restr[c * sp->ne + (sp->place ? sp->place[i] : i)];
}

static inline PetscInt HopsElementStart(HopsSpace sp, PetscInt c)
{
  return (sp->cell[c] - sp->cstart) * sp->ne;
}

/* Those that no T-vector has are left out */
PetscErrorCode HopsSpaceGetElementSF(HopsSpace sp, PetscSF *sf)
{
  const PetscInt n = sp->nG + (sp->cglobal ? sp->nC : 0);
  PetscLayout    layout;
  PetscInt      *remote;

  PetscFunctionBegin;
  *sf = sp->elementsf;
  if (*sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &remote));
  for (PetscInt i = 0; i < n; ++i) remote[i] = HopsSpaceGlobalIndex(sp, sp->nT + i);
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &sp->elementsf));
  PetscCall(PetscSFSetGraphLayout(sp->elementsf, layout, n, NULL, PETSC_OWN_POINTER, remote));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree(remote));
  *sf = sp->elementsf;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *nc values of x for each unknown of the space, in blocks; the unit of their exchange, which is the
   caller's to free */
static PetscErrorCode HopsElementUnit(HopsSpace sp, Vec x, PetscInt *nc, MPI_Datatype *unit)
{
  PetscInt n, N;
  PetscSF  sf;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  *nc = sp->N && N % sp->N == 0 ? N / sp->N : 1;
  {
    PetscBool ok = n == *nc * sp->nT ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ok, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
    PetscCheck(ok, PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_SIZ,
               "The vector has %" PetscInt_FMT " entries, and the space %" PetscInt_FMT
               " unknowns (or their distributions differ): a vector has a block of as many entries as there are components for "
               "each "
               "unknown (HopsSpaceCreateVec(), HopsSpaceGetSizes())",
               N, sp->N);
  }
  PetscCall(HopsSpaceGetElementSF(sp, &sf));
  *unit = MPIU_SCALAR; /* PetscSF sums no type of one scalar but the scalar itself */
  if (*nc > 1) {
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)*nc, MPIU_SCALAR, unit));
    PetscCallMPI(MPI_Type_commit(unit));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGlobalToElements - Copies a vector to the values that a code holds cell by cell (an E-vector).

  Collective

  Input Parameters:
+ space - the space
- x     - a vector of the space, or with a block of nc components for each of its unknowns

  Output Parameter:
. e - [cells][ne][nc] the values of this rank's cells, cells and nodes in the caller's order: that of the
arrays that the space was made from, on a `DMPLEX` that of its points of height 0, x fastest; cells of an
overlap are left alone

  Level: intermediate

  Notes:
  `ne` is (order+1)^dim in H1. In H(curl) and H(div), values have the sign with which the cell sees an
  unknown.

  Essential unknowns that the vectors have are copied as all others. Those that they have not (on a
  `DMPLEX`) get the space's essential values (`HopsSpaceSetEssentialFunction()`), which are zero for
  several components.

.seealso: `HopsSpaceElementsToGlobal()`, `HopsSpaceGetNodeNumbers()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode HopsSpaceGlobalToElements(HopsSpace space, Vec x, PetscScalar e[])
{
  HopsSpace          sp = space;
  PetscInt           nc;
  MPI_Datatype       unit;
  const PetscScalar *a;
  PetscScalar       *other;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidArray(space->ncells, e, 3);
  PetscCall(HopsSpaceCheckConforming(sp, "HopsSpaceGlobalToElements()", HOPS_ELEMENTS_REMEDY));
  PetscCall(HopsElementUnit(sp, x, &nc, &unit));
  PetscCall(PetscCalloc1((sp->nL - sp->nT) * nc, &other));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k)
    for (PetscInt i = 0; i < sp->nC && nc == 1; ++i) HopsScalarSetPart(&other[sp->nG + i], k, sp->cvals[k * sp->nC + i]);
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(PetscSFBcastBegin(sp->elementsf, unit, a, other, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->elementsf, unit, a, other, MPI_REPLACE));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscScalar *to = e + HopsElementStart(sp, c) * nc;

    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int          r    = (int)HopsElementEntry(sp, c, i);
      const PetscInt     l    = HopsUnsigned(r);
      const PetscScalar *from = l < sp->nT ? a + l * nc : other + (l - sp->nT) * nc;

      for (PetscInt k = 0; k < nc; ++k) to[i * nc + k] = HopsSign(r) * from[k];
    }
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(PetscFree(other));
  if (nc > 1) PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceElementsToGlobal - Gathers values that a code holds cell by cell (an E-vector) into a vector.

  Collective

  Input Parameters:
+ space - the space
. e     - [cells][ne][nc] the values of this rank's cells, as `HopsSpaceGlobalToElements()` orders them
. mode  - `ADD_VALUES`: an entry of the vector becomes the sum of the values of all cells that have it, as for
          residuals; `INSERT_VALUES`: it becomes one of them, as for fields, of which all are the same

  Output Parameter:
. x - a vector of the space, or with a block of nc components for each of its unknowns; its old values are
lost

  Level: intermediate

  Note:
  With `ADD_VALUES` this is the transpose of `HopsSpaceGlobalToElements()`, in essential unknowns too: an
  operator that works cell by cell and multiplies by this, sets the rows of its essential unknowns itself.

.seealso: `HopsSpaceGlobalToElements()`, `HopsSpaceGetNodeNumbers()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode HopsSpaceElementsToGlobal(HopsSpace space, const PetscScalar e[], InsertMode mode, Vec x)
{
  HopsSpace    sp = space;
  PetscInt     nc;
  MPI_Datatype unit;
  PetscScalar *a, *other;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidArray(space->ncells, e, 2);
  PetscCheck(mode == ADD_VALUES || mode == INSERT_VALUES, PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_OUTOFRANGE,
             "The mode must be ADD_VALUES or INSERT_VALUES");
  HopsValidHeader(x, VEC_CLASSID, 4);
  PetscCall(HopsSpaceCheckConforming(sp, "HopsSpaceElementsToGlobal()", HOPS_ELEMENTS_REMEDY));
  PetscCall(HopsElementUnit(sp, x, &nc, &unit));
  PetscCall(PetscCalloc1((sp->nL - sp->nT) * nc, &other));
  PetscCall(VecGetArrayWrite(x, &a));
  PetscCall(PetscArrayzero(a, sp->nT * nc));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscScalar *from = e + HopsElementStart(sp, c) * nc;

    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int      r  = (int)HopsElementEntry(sp, c, i);
      const PetscInt l  = HopsUnsigned(r);
      PetscScalar   *to = l < sp->nT ? a + l * nc : other + (l - sp->nT) * nc;

      for (PetscInt k = 0; k < nc; ++k) {
        if (mode == ADD_VALUES) to[k] += HopsSign(r) * from[i * nc + k];
        else to[k] = HopsSign(r) * from[i * nc + k];
      }
    }
  }
  PetscCall(PetscSFReduceBegin(sp->elementsf, unit, other, a, mode == ADD_VALUES ? MPIU_SUM : MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(sp->elementsf, unit, other, a, mode == ADD_VALUES ? MPIU_SUM : MPI_REPLACE));
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(PetscFree(other));
  if (nc > 1) PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetNodeNumbers - Gets the global index that each node of each cell has in the space's vectors.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. numbers - [cells][ne] the indices, cells and nodes in the caller's order (see
`HopsSpaceGlobalToElements()`); -1 where the vectors have no such entry, as for essential unknowns on a
`DMPLEX`

  Level: intermediate

  Notes:
  With these a code fills a matrix, for instance by `MatSetValues()`. Of `HopsSpaceCreateFromArrays()`
  they are the numbers that it got. Signs of H(curl) and H(div) are left out.

.seealso: `HopsSpaceGlobalToElements()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode HopsSpaceGetNodeNumbers(HopsSpace space, PetscInt numbers[])
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidArray(space->ncells, numbers, 2);
  PetscCall(HopsSpaceBringMesh(space));
  for (PetscInt c = 0; c < space->ncells; ++c)
    for (PetscInt i = 0; i < space->ne; ++i) {
      const int r = (int)HopsElementEntry(space, c, i);

      numbers[HopsElementStart(space, c) + i] = HopsSpaceGlobalIndex(space, HopsUnsigned(r));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
