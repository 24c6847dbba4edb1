/* MATHOPSBOX: the operator of a uniform box, matrix-free on a device. */
#include <hops/private/hopsboximpl.h>
#include <hops/private/hopsmatimpl.h>
#include <petsc/private/matimpl.h>

typedef struct {
  HopsBoxForm       form;
  PetscReal         h[3]; /* of a cell */
  const HopsBoxOps *ops;
  HopsBoxKernel     kernel;
} Mat_HopsBox;

PetscErrorCode MatHopsBoxGetForm(Mat A, const HopsBoxForm **form, const HopsBoxOps **ops)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATHOPSBOX, &same));
  *form = same ? &((Mat_HopsBox *)A->data)->form : NULL;
  *ops  = same ? ((Mat_HopsBox *)A->data)->ops : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Entries of A, unchanged when its indices are exchanged or mirrored, are rounded to multiples of a power of
  two such that sums in rows are exact, and zero: smoothers, which solve with A, must not see another reaction
  than residuals do, whose matrices are rounded so too.
*/
static void RoundStiffness(PetscInt P, PetscReal A[])
{
  PetscReal largest = 0.0, unit;

  for (PetscInt i = 0; i < P * P; ++i) largest = PetscMax(largest, PetscAbsReal(A[i]));
  unit = ldexp(1.0, ilogb(largest) + 2 - 52);
  for (PetscInt i = 0; i < P; ++i)
    for (PetscInt j = 0; j < i; ++j) {
      const PetscInt a = P - 1 - j, b = P - 1 - i;

      A[i * P + j] = A[j * P + i] = A[a * P + b] = A[b * P + a] = rint(0.5 * (A[i * P + j] + A[a * P + b]) / unit) * unit;
    }
  for (PetscInt i = 0; i < P; ++i) {
    A[i * P + i] = 0.0;
    for (PetscInt j = 0; j < P; ++j)
      if (j != i) A[i * P + i] -= A[i * P + j];
  }
}

/* 1D matrices of the cell [0,1]; and its functions at the nodes of its halves */
static PetscErrorCode FormMatrices(HopsBoxForm *f)
{
  const PetscInt p = f->order, P = p + 1;
  PetscReal      points[17], x[9];
  HopsBasis      b, half;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, p + 2, PETSC_FALSE, &b));
  for (PetscInt i = 0; i < P; ++i)
    for (PetscInt j = 0; j < P; ++j) {
      f->A1[i * P + j] = f->M1[i * P + j] = 0.0;
      for (PetscInt q = 0; q < b.Q; ++q) {
        f->A1[i * P + j] += 2.0 * b.weights[q] * b.D[q * P + i] * b.D[q * P + j];
        f->M1[i * P + j] += 0.5 * b.weights[q] * b.B[q * P + i] * b.B[q * P + j];
      }
    }
  RoundStiffness(P, f->A1);
  for (PetscInt i = 0; i < P; ++i) x[i] = b.nodes[i];
  for (PetscInt i = 0; i < P; ++i) {
    f->nodes[i]   = 0.5 * (x[i] + 1.0);
    points[i]     = 0.5 * (x[i] - 1.0);
    points[i + p] = 0.5 * (x[i] + 1.0);
  }
  points[p] = 0.0;
  PetscCall(HopsBasisCreateAtPoints(P, 2 * p + 1, points, &half));
  PetscCall(PetscArraycpy(f->J, half.B, (2 * p + 1) * P));
  for (PetscInt j = 0; j < P; ++j) f->J[j] = f->J[2 * p * P + j] = 0.0; /* the ends are nodes: exactly */
  f->J[0]             = 1.0;
  f->J[2 * p * P + p] = 1.0;
  PetscCall(HopsBasisDestroy(&half));
  PetscCall(HopsBasisDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_HopsBox(Mat A, Vec x, Vec y)
{
  Mat_HopsBox       *box = (Mat_HopsBox *)A->data;
  const PetscScalar *xa;
  PetscScalar       *ya;
  PetscMemType       xm, ym;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.boxmult, A, x, y, 0));
  PetscCall(VecGetArrayReadAndMemType(x, &xa, &xm));
  PetscCall(VecGetArrayWriteAndMemType(y, &ya, &ym));
  PetscCheck(PetscMemTypeDevice(xm) && PetscMemTypeDevice(ym), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "A vector of type %s lies in the host's memory, and the operator on the device: make vectors by MatCreateVecs()",
             ((PetscObject)x)->type_name);
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall((*box->ops->Mult)(box->kernel, (const PetscReal *)xa, (PetscReal *)ya));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecRestoreArrayReadAndMemType(x, &xa));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &ya));
  PetscCall(PetscLogEventEnd(HopsEvent.boxmult, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_HopsBox(Mat A, PetscViewer viewer)
{
  const HopsBoxForm *f = &((Mat_HopsBox *)A->data)->form;
  PetscBool          ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !f->dim) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "uniform box of %" PetscInt_FMT " x %" PetscInt_FMT, f->ncells[0], f->ncells[1]));
  if (f->dim == 3) PetscCall(PetscViewerASCIIPrintf(viewer, " x %" PetscInt_FMT, f->ncells[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, " cells of order %" PetscInt_FMT ", lexicographic nodes, nothing stored for a cell\n",
                                   f->order));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_HopsBox(Mat A)
{
  Mat_HopsBox *box = (Mat_HopsBox *)A->data;

  PetscFunctionBegin;
  if (box->kernel) PetscCall((*box->ops->Destroy)(&box->kernel));
  PetscCall(PetscFree(A->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_HopsBox(Mat A)
{
  Mat_HopsBox *box;

  PetscFunctionBegin;
  PetscCall(PetscNew(&box));
  A->data         = box;
  A->ops->mult    = MatMult_HopsBox;
  A->ops->view    = MatView_HopsBox;
  A->ops->destroy = MatDestroy_HopsBox;
  PetscCall(HopsMatRefuseRows(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATHOPSBOX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateHopsBox - Creates the matrix-free operator of -div(kappa grad u) + c u on a uniform box, on a CUDA
  device.

  Collective

  Input Parameters:
+ comm    - a communicator of one process
. dim     - 2 or 3
. order   - polynomial order of the elements, 1 to 8
. ncells  - [dim] cells in each direction
. lengths - [dim] sides of the box, or `NULL` for 1
. kappa   - [dim] diffusion in each direction, or `NULL` for 1
- c       - reaction, 0 for none

  Output Parameter:
. A - the matrix, of type `MATHOPSBOX`, with (ncells[0] order + 1) (ncells[1] order + 1) ... rows

  Level: intermediate

  Notes:
  Vectors are those of `MatCreateVecs()`; `MatHopsBoxGetNodes()` says where their entries lie. The boundary is
  essential, see `MATHOPSBOX`.

  A build or machine without CUDA raises `PETSC_ERR_SUP`; there `MATPA` on a `DMPLEX` box is the same
  operator.

.seealso: `MATHOPSBOX`, `MatHopsBoxGetNodes()`, `PCBOXMG`, `MatCreatePA()`
@*/
PetscErrorCode MatCreateHopsBox(MPI_Comm comm, PetscInt dim, PetscInt order, const PetscInt ncells[], const PetscReal lengths[],
                                const PetscReal kappa[], PetscReal c, Mat *A)
{
  const HopsBackendOps *be;
  Mat_HopsBox          *box;
  HopsBoxForm          *f;
  PetscMPIInt           size;
  PetscReal             volume = 1.0, n = 1.0;

  PetscFunctionBegin;
  HopsValidPointer(ncells, 4);
  HopsValidPointer(A, 8);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_SUP,
             "A uniform box lives on one device, and its communicator has %d processes: use PETSC_COMM_SELF, or MATPA on a DMPLEX",
             size);
  PetscCheck(dim == 2 || dim == 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "A box has 2 or 3 dimensions, not %" PetscInt_FMT, dim);
  PetscCheck(order >= 1 && order <= HOPS_BOX_ORDER, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A uniform box has the orders 1 to %d, not %" PetscInt_FMT ": use MATPA on a DMPLEX", HOPS_BOX_ORDER, order);
  PetscCheck(c >= 0.0, comm, PETSC_ERR_ARG_OUTOFRANGE, "The reaction %g is not positive or zero: use MATPA on a DMPLEX", (double)c);
  for (PetscInt a = 0; a < dim; ++a) {
    PetscCheck(ncells[a] >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "There are %" PetscInt_FMT " cells in direction %" PetscInt_FMT,
               ncells[a], a);
    PetscCheck(!lengths || lengths[a] > 0.0, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "The box has the length %g in direction %" PetscInt_FMT, (double)lengths[a], a);
    PetscCheck(!kappa || kappa[a] > 0.0, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "The diffusion in direction %" PetscInt_FMT " is %g, not positive", a, (double)kappa[a]);
    n *= (PetscReal)ncells[a] * order + 1.0;
  }
  PetscCheck(n < (PetscReal)PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A box of %g nodes has more than this PETSc's indices reach (%" PetscInt_FMT
             "): use fewer cells, or a PETSc with 64-bit indices",
             (double)n, PETSC_INT_MAX);
  PetscCall(HopsBackendGet("cuda", &be));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, (PetscInt)n, (PetscInt)n, (PetscInt)n, (PetscInt)n));
  PetscCall(MatSetType(*A, MATHOPSBOX));
  PetscCall(MatSetVecType(*A, be->vectype));
  box      = (Mat_HopsBox *)(*A)->data;
  box->ops = HOPS_CUDA_TABLE(HopsBoxCUDA);
  f        = &box->form;
  f->dim   = dim;
  f->order = order;
  for (PetscInt a = 0; a < 3; ++a) {
    f->ncells[a] = a < dim ? ncells[a] : 1;
    box->h[a]    = a < dim ? (lengths ? lengths[a] : 1.0) / ncells[a] : 1.0;
    volume *= box->h[a];
  }
  for (PetscInt a = 0; a < dim; ++a) f->d[a] = (kappa ? kappa[a] : 1.0) * volume / PetscSqr(box->h[a]);
  f->m = c * volume;
  PetscCall(FormMatrices(f));
  PetscCall((*box->ops->Create)(f, &box->kernel));
  PetscCall(PetscLayoutSetUp((*A)->rmap));
  PetscCall(PetscLayoutSetUp((*A)->cmap));
  (*A)->preallocated = PETSC_TRUE;
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatHopsBoxGetNodes - Gets where the nodes of a uniform box lie in a direction.

  Not Collective

  Input Parameters:
+ A   - the matrix, of type `MATHOPSBOX`
- dir - the direction, from 0

  Output Parameters:
+ n - nodes in that direction
- x - [n] their coordinates, from 0 on; free with `PetscFree()`

  Level: intermediate

  Note:
  Entry i + n_0 (j + n_1 k) of a vector belongs to the node (x_0[i], x_1[j], x_2[k]).

.seealso: `MATHOPSBOX`, `MatCreateHopsBox()`
@*/
PetscErrorCode MatHopsBoxGetNodes(Mat A, PetscInt dir, PetscInt *n, PetscReal *x[])
{
  const HopsBoxForm *f   = NULL;
  const HopsBoxOps  *ops = NULL;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidPointer(n, 3);
  HopsValidPointer(x, 4);
  PetscCall(MatHopsBoxGetForm(A, &f, &ops));
  PetscCheck(f, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "This matrix has type %s, not " MATHOPSBOX ": make it by MatCreateHopsBox()", ((PetscObject)A)->type_name);
  PetscCheck(dir >= 0 && dir < f->dim, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The box has %" PetscInt_FMT " directions, and %" PetscInt_FMT " is none of them", f->dim, dir);
  *n = f->ncells[dir] * f->order + 1;
  PetscCall(PetscMalloc1(*n, x));
  for (PetscInt c = 0; c < f->ncells[dir]; ++c)
    for (PetscInt i = 0; i <= f->order; ++i) (*x)[c * f->order + i] = (c + f->nodes[i]) * ((Mat_HopsBox *)A->data)->h[dir];
  PetscFunctionReturn(PETSC_SUCCESS);
}
