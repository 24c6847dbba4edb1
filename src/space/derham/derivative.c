/* Discrete gradient, curl and divergence: incidence of the Gauss-Lobatto lattice, entries 1 and -1 but for
   unknowns whose boundary hangs. */
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsdevicematimpl.h>

static PetscErrorCode HopsDerivativeCheck(HopsSpace from, HopsSpace to)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)from);

  PetscFunctionBegin;
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

/* The error where a rank owns unknowns which none of its cells touch; collective */
static PetscErrorCode HopsDerivativeCheckOwned(HopsSpace to, PetscInt left)
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  if (left)
    PetscCall(
      HopsRefuse(why,
                 "%" PetscInt_FMT
                 " unknowns are owned by a rank none of whose cells touch them: let them be owned by a rank with such a cell",
                 left));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)to), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLatticeMatCreate(HopsSpace from, HopsSpace to, HopsIncidence inc, PetscBool mean, Mat *D)
{
  HopsLatticeMap m;
  PetscInt      *dnz, *onz, *col, nfree, left;
  PetscReal     *value;
  char          *done;

  PetscFunctionBegin;
  PetscCall(HopsLatticeMapCreate(from, to, inc, mean, &m));
  PetscCall(PetscCalloc3(to->nT, &dnz, to->nT, &onz, to->nT, &done));
  nfree = from->nT + from->nG;
  col   = m.col;
  value = m.value;
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) {
      PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)from), to->nT, from->nT, to->N, from->N, 0, dnz, 0, onz, D));
      PetscCall(PetscArrayzero(done, to->nT));
    }
    left = to->nT - to->ness;
    for (PetscInt e = 0; e < to->ness; ++e) done[to->essT[e]] = 1;
    for (PetscInt c = 0; c < to->ncells; ++c) {
      PetscCall(HopsLatticeMapSetCell(&m, c));
      for (PetscInt i = 0; i < to->ne; ++i) {
        const PetscInt l = HopsUnsigned(to->restr[c * to->ne + i]), row = to->rstart + l;
        PetscInt       n = 0;

        if (l >= to->nT || done[l]) continue;
        done[l] = 1;
        --left;
        HopsLatticeMapRow(&m, i);
        if (!pass) {
          for (PetscInt k = 0; k < m.n; ++k)
            if (col[k] < nfree) ++*(col[k] < from->nT ? dnz + l : onz + l);
          continue;
        }
        for (PetscInt k = 0; k < m.n; ++k) {
          const PetscInt s = col[k];

          if (s >= nfree) continue;
          col[n]     = s < from->nT ? from->rstart + s : from->ghost[s - from->nT]; /* n <= k */
          value[n++] = value[k];
        }
        PetscCall(HopsMatSetReal(*D, 1, &row, n, col, value, ADD_VALUES));
      }
    }
    PetscCall(HopsDerivativeCheckOwned(to, left));
  }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  if (to->kokkosvecs) PetscCall(MatSetVecType(*D, VECKOKKOS));
  PetscCall(PetscFree3(dnz, onz, done));
  PetscCall(HopsLatticeMapDestroy(&m));
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
. D - the matrix, with entries 1 and -1 but near hanging nodes: of type `MATAIJ`, or for spaces on a CUDA
  device, where it is built,
  `MATAIJCUSPARSE`, with vectors of type `VECKOKKOS` `MATAIJKOKKOS`

  Options Database Key:
. -hops_derivative_mat_type <aijcusparse,aijkokkos,hypre,aij> - its type for spaces on a device, with the
  prefix of the space `to`

  Level: intermediate

  Notes:
  It depends on topology alone, and is the same for the high-order spaces and for the lowest-order ones on the
  mesh of the Gauss-Lobatto points. The product of two that follow each other is exactly zero.

  Near hanging nodes other entries come from the weights of these, up to some tens in a row, and the product
  is zero up to rounding errors.

  Essential unknowns have neither rows nor columns, or, in spaces from arrays, empty ones; see
  `HopsSpaceDifferentiate()` for fields with essential values.

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateCompanion()`, `HopsSpaceDifferentiate()`
@*/
PetscErrorCode HopsSpaceCreateDerivative(HopsSpace from, HopsSpace to, Mat *D)
{
  HopsIncidence inc;

  PetscFunctionBegin;
  HopsValidHeader(from, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(to, HOPS_SPACE_CLASSID, 2);
  HopsValidPointer(D, 3);
  PetscCall(HopsDerivativeCheck(from, to));
  if (from->backend->rows && !from->backend->host && from->backend == to->backend) {
    PetscCall(HopsDerivativeCreateDevice(from, to, 0, NULL, NULL, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(HopsLatticeMatCreate(from, to, inc, PETSC_FALSE, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSpaceDifferentiatePart(HopsSpace from, Vec x, HopsSpace to, PetscInt part, HopsLatticeMap *m, Vec y)
{
  PetscReal       *cvals = to->cvals + part * to->nC;
  PetscInt         left  = to->nT - to->ness;
  char            *done;
  const PetscReal *a;
  PetscReal       *b, *xg;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(from->nL - from->nT, &xg));
  PetscCall(PetscCalloc1(to->nT, &done));
  PetscCall(HopsHostVecGetPartRead(x, part, &a));
  PetscCall(HopsHostVecGetPart(y, part, HOPS_VEC_READ_WRITE, &b));
  PetscCall(HopsSpaceGlobalToLocal(from, part, a, xg));
  for (PetscInt c = 0; c < to->ncells; ++c) {
    PetscCall(HopsLatticeMapSetCell(m, c));
    for (PetscInt i = 0; i < to->ne; ++i) {
      const PetscInt l   = HopsUnsigned(to->restr[c * to->ne + i]);
      PetscReal      sum = 0.0;

      if (l >= to->nT && l < to->nT + to->nG) continue;
      HopsLatticeMapRow(m, i);
      for (PetscInt k = 0; k < m->n; ++k) sum += m->value[k] * (m->col[k] < from->nT ? a[m->col[k]] : xg[m->col[k] - from->nT]);
      if (l < to->nT) {
        b[l] = sum;
        if (!done[l]) --left;
        done[l] = 1;
      } else cvals[l - to->nT - to->nG] = sum;
    }
  }
  PetscCall(HopsDerivativeCheckOwned(to, left));
  for (PetscInt e = 0; e < to->ness; ++e) b[to->essT[e]] = cvals[to->essC[e] - to->nT - to->nG];
  PetscCall(HopsHostVecRestorePartRead(x, part, &a));
  PetscCall(HopsHostVecRestorePart(y, part, HOPS_VEC_READ_WRITE, &b));
  PetscCall(PetscFree(xg));
  PetscCall(PetscFree(done));
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
  HopsIncidence  inc;
  HopsLatticeMap m;

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
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(HopsLatticeMapCreate(from, to, inc, PETSC_FALSE, &m));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsSpaceDifferentiatePart(from, x, to, k, &m, y));
  PetscCall(HopsLatticeMapDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}
