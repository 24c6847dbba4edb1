/* Discrete gradient, curl and divergence: incidence of the Gauss-Lobatto lattice, entries 1 and -1. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsdevicematimpl.h>

/* The cells of a space among those of another one on the same mesh: both order them their own way */
PetscErrorCode HopsCompanionCells(HopsSpace from, HopsSpace to, PetscInt *cell[])
{
  PetscBool same =
    from->ncells == to->ncells && from->ncaller == to->ncaller && from->cstart == to->cstart ? PETSC_TRUE : PETSC_FALSE;
  PetscInt *where;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(from->ncaller, &where));
  PetscCall(PetscMalloc1(to->ncells, cell));
  for (PetscInt c = 0; c < from->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < from->ncells; ++c) where[from->cell[c] - from->cstart] = c;
  for (PetscInt c = 0; c < to->ncells && same; ++c) {
    (*cell)[c] = where[to->cell[c] - to->cstart];
    if ((*cell)[c] < 0) same = PETSC_FALSE;
  }
  PetscCall(PetscFree(where));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "The spaces are on different meshes, or on different distributions of one: make one from the other by "
             "HopsSpaceCreateCompanion()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerivativeCheck(HopsSpace from, HopsSpace to)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)from);

  PetscFunctionBegin;
  PetscCall(HopsSpaceCheckConforming(from, "A derivative", "are for H1 alone, without derivatives"));
  PetscCall(HopsSpaceCheckConforming(to, "A derivative", "are for H1 alone, without derivatives"));
  PetscCheck(from->dim == to->dim && from->order == to->order, comm, PETSC_ERR_ARG_INCOMP,
             "The spaces have order %" PetscInt_FMT " in %" PetscInt_FMT "D and order %" PetscInt_FMT " in %" PetscInt_FMT
             "D: a derivative maps between spaces of the same order (HopsSpaceCreateCompanion())",
             from->order, from->dim, to->order, to->dim);
  PetscCheck(HopsFamilyHasDerivative(from->family, to->family, from->dim), comm, PETSC_ERR_ARG_INCOMP,
             "No derivative maps %s to %s in %" PetscInt_FMT "D: H1 has a gradient in H(curl) (and in 2D a turned one in H(div)), "
             "H(curl) a curl in H(div) (in 2D, in L2), H(div) a divergence in L2",
             HopsFamilies[from->family], HopsFamilies[to->family], from->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateDerivative - Creates the matrix of the gradient, curl or divergence that maps a space to
  another one.

  Collective

  Input Parameters:
+ from - an H1, H(curl) or H(div) space
- to   - its range, of the same order on the same mesh: H(curl) for H1, H(div) for H(curl), L2 for H(div); in
  2D also L2 for H(curl), and
         H(div) for H1, by the turned gradient (d/dy, -d/dx)

  Output Parameter:
. D - the matrix, with entries 1 and -1: of type `MATAIJ`, or for spaces on a CUDA device, where it is built,
  `MATAIJCUSPARSE`, with vectors of type `VECKOKKOS` `MATAIJKOKKOS`

  Options Database Key:
. -hops_derivative_mat_type <aijcusparse,aijkokkos,hypre,aij> - its type for spaces on a device, with the
  prefix of the space `to`

  Level: intermediate

  Notes:
  It depends on topology alone, and is the same for the high-order spaces and for the lowest-order ones on the
  mesh of the Gauss-Lobatto points. The product of two that follow each other is exactly zero.

  Essential unknowns have neither rows nor columns, or, in spaces from arrays, empty ones; see
  `HopsSpaceDifferentiate()` for fields with essential values.

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateCompanion()`, `HopsSpaceDifferentiate()`
@*/
PetscErrorCode HopsSpaceCreateDerivative(HopsSpace from, HopsSpace to, Mat *D)
{
  HopsIncidence inc;
  PetscInt     *cell, *dnz, *onz, nfree, left;
  char         *done;

  PetscFunctionBegin;
  HopsValidHeader(from, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(to, HOPS_SPACE_CLASSID, 2);
  HopsValidPointer(D, 3);
  PetscCall(HopsDerivativeCheck(from, to));
  if (from->backend->rows && !from->backend->host && from->backend == to->backend) {
    PetscCall(HopsDerivativeCreateDevice(from, to, 0, NULL, NULL, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsSpaceBringMesh(from));
  PetscCall(HopsSpaceBringMesh(to));
  PetscCall(HopsCompanionCells(from, to, &cell));
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(PetscCalloc3(to->nT, &dnz, to->nT, &onz, to->nT, &done));
  nfree = from->nT + from->nG;
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) {
      PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)from), to->nT, from->nT, to->N, from->N, 0, dnz, 0, onz, D));
      PetscCall(PetscArrayzero(done, to->nT));
    }
    left = to->nT - to->ness;
    for (PetscInt e = 0; e < to->ness; ++e) done[to->essT[e]] = 1;
    for (PetscInt c = 0; c < to->ncells; ++c)
      for (PetscInt i = 0; i < to->ne; ++i) {
        const int      r = to->restr[c * to->ne + i];
        const PetscInt l = HopsUnsigned(r);
        PetscInt       cols[6], n = 0;
        PetscScalar    vals[6];

        if (l >= to->nT || done[l]) continue;
        done[l] = 1;
        --left;
        for (PetscInt k = 0; k < inc.n[i]; ++k) {
          const int      s = from->restr[cell[c] * from->ne + inc.col[6 * i + k]];
          const PetscInt m = HopsUnsigned(s);

          if (m >= nfree) continue;
          if (!pass) ++*(m < from->nT ? dnz + l : onz + l);
          cols[n]   = m < from->nT ? from->rstart + m : from->ghost[m - from->nT];
          vals[n++] = inc.sgn[6 * i + k] * HopsSign(r) * HopsSign(s);
        }
        if (pass) {
          const PetscInt row = to->rstart + l;

          PetscCall(MatSetValues(*D, 1, &row, n, cols, vals, ADD_VALUES));
        }
      }
    PetscCheck(!left, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%" PetscInt_FMT
               " unknowns are owned by a rank none of whose cells touch them: let them be owned by a rank with such a cell",
               left);
  }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  if (to->kokkosvecs) PetscCall(MatSetVecType(*D, VECKOKKOS));
  PetscCall(PetscFree3(dnz, onz, done));
  PetscCall(HopsIncidenceDestroy(&inc));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceDifferentiate - Computes the gradient, curl or divergence of a field with its essential values.

  Collective

  Input Parameters:
+ from - the space of the field
. x    - its vector
- to   - the space of the derivative, see `HopsSpaceCreateDerivative()`; its essential values, if any, become
  those of the derivative

  Output Parameter:
. y - the vector of the derivative

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceCreateDerivative()`, `HopsSpaceCreateCompanion()`,
`HopsSpaceSetEssentialFunction()`
@*/
PetscErrorCode HopsSpaceDifferentiate(HopsSpace from, Vec x, HopsSpace to, Vec y)
{
  HopsIncidence      inc;
  PetscInt          *cell, left;
  char              *done;
  const PetscScalar *a;
  PetscScalar       *b, *xg;

  PetscFunctionBegin;
  HopsValidHeader(from, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidHeader(to, HOPS_SPACE_CLASSID, 3);
  HopsValidHeader(y, VEC_CLASSID, 4);
  PetscCall(HopsDerivativeCheck(from, to));
  PetscCall(HopsSpaceCheckVec(from, x, "of the field"));
  PetscCall(HopsSpaceCheckVec(to, y, "of the derivative"));
  PetscCheck(x != y, PetscObjectComm((PetscObject)from), PETSC_ERR_ARG_IDN,
             "The vectors of the field and of its derivative must be different");
  PetscCall(HopsSpaceBringMesh(from));
  PetscCall(HopsSpaceBringMesh(to));
  PetscCall(HopsCompanionCells(from, to, &cell));
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(PetscMalloc1(from->nL - from->nT, &xg));
  PetscCall(PetscCalloc1(to->nT, &done));
  left = to->nT - to->ness;
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArray(y, &b));
  PetscCall(HopsSpaceGlobalToLocal(from, a, xg));
  for (PetscInt c = 0; c < to->ncells; ++c)
    for (PetscInt i = 0; i < to->ne; ++i) {
      const int      r   = to->restr[c * to->ne + i];
      const PetscInt l   = HopsUnsigned(r);
      PetscScalar    sum = 0.0;

      if (l >= to->nT && l < to->nT + to->nG) continue;
      for (PetscInt k = 0; k < inc.n[i]; ++k) {
        const int      s = from->restr[cell[c] * from->ne + inc.col[6 * i + k]];
        const PetscInt m = HopsUnsigned(s);

        sum += inc.sgn[6 * i + k] * HopsSign(s) * (m < from->nT ? a[m] : xg[m - from->nT]);
      }
      if (l < to->nT) {
        b[l] = HopsSign(r) * sum;
        if (!done[l]) --left;
        done[l] = 1;
      } else to->cvals[l - to->nT - to->nG] = HopsSign(r) * sum;
    }
  PetscCheck(!left, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscInt_FMT
             " unknowns are owned by a rank none of whose cells touch them: let them be owned by a rank with such a cell",
             left);
  for (PetscInt e = 0; e < to->ness; ++e) b[to->essT[e]] = to->cvals[to->essC[e] - to->nT - to->nG];
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArray(y, &b));
  PetscCall(PetscFree(xg));
  PetscCall(PetscFree(done));
  PetscCall(HopsIncidenceDestroy(&inc));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}
