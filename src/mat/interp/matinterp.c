/* MATHOPSINTERP: values of the functions of one space at the nodes of another one that is nested with it. */
#include "interpimpl.h"
#include <petsc/private/matimpl.h>

/* ------------------------------------------- set-up ------------------------------------------- */

/*
  A[M][N]: the coarse functions at the nodes of the macro cell of children (prolongation), or the children's
  functions, numbered over the macro cell, at the coarse nodes (evaluation).
*/
PetscErrorCode HopsInterpMatrix(PetscInt nhalf, PetscInt pc, PetscInt pf, PetscBool prolong, PetscReal A[])
{
  const PetscInt M = nhalf * pf + 1, N = pc + 1;
  PetscReal     *zc, *zf, *w;
  HopsBasis      b;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(N, &zc, pf + 1, &zf, PetscMax(N, pf + 1), &w));
  PetscCall(HopsGLL(N, zc, w));
  PetscCall(HopsGLL(pf + 1, zf, w));
  if (prolong) {
    for (PetscInt m = 0; m < M; ++m) {
      const PetscInt  h = PetscMin(m / pf, nhalf - 1);
      const PetscReal y = zf[m - h * pf], x = nhalf == 1 ? y : 0.5 * (y + (h ? 1.0 : -1.0));

      PetscCall(HopsBasisCreateAtPoints(N, 1, &x, &b));
      PetscCall(PetscArraycpy(A + m * N, b.B, N));
      PetscCall(HopsBasisDestroy(&b));
    }
  } else {
    PetscCall(PetscArrayzero(A, N * M));
    for (PetscInt i = 0; i < N; ++i) {
      PetscReal      y;
      const PetscInt h = HopsNestedHalf(nhalf, zc[i], &y);

      PetscCall(HopsBasisCreateAtPoints(pf + 1, 1, &y, &b));
      PetscCall(PetscArraycpy(A + i * M + h * pf, b.B, pf + 1));
      PetscCall(HopsBasisDestroy(&b));
    }
  }
  PetscCall(PetscFree3(zc, zf, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All cells of both spaces, where they lie in each other by one rule */
static PetscErrorCode HopsInterpSetUpAll(Mat_HopsInterp *in, const HopsNested *n, HopsSpace coarse, HopsSpace fine)
{
  HopsInterpData   d;
  const PetscReal *X;
  PetscReal       *A;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(in->M * in->N, &A));
  PetscCall(HopsInterpMatrix(n->nhalf, coarse->order, fine->order, in->prolong, A));
  d = (HopsInterpData){.prolong = in->prolong,
                       .dim     = n->dim,
                       .ncoarse = n->ncoarse,
                       .nfine   = n->nfine,
                       .nhalf   = n->nhalf,
                       .pc      = coarse->order,
                       .pf      = fine->order,
                       .parent  = n->parent,
                       .half    = n->half,
                       .axis    = n->axis,
                       .A       = A};
  PetscCall(HopsSpaceSetUpBackend(in->from));
  PetscCall(HopsSpaceGetBackendMesh(coarse, &d.crestr, &X));
  PetscCall(HopsSpaceGetBackendMesh(fine, &d.frestr, &X));
  PetscCall((*in->from->backend->InterpCreate)(in->from, in->to, &d, &in->map.kernel[0]));
  in->map.nkernels = 1;
  PetscCall(HopsSpaceReference(in->from));
  in->map.source = in->from;
  PetscCall(PetscFree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpSetUp(Mat_HopsInterp *in, const HopsNested *n)
{
  HopsSpace coarse = in->prolong ? in->from : in->to, fine = in->prolong ? in->to : in->from;

  PetscFunctionBegin;
  in->map.type    = PETSC_DOUBLE;
  in->map.n       = in->to->nT;
  in->M           = in->prolong ? n->nhalf * fine->order + 1 : coarse->order + 1;
  in->N           = in->prolong ? coarse->order + 1 : n->nhalf * fine->order + 1;
  in->map.general = !coarse->dm || !fine->dm || coarse->hanging || fine->hanging || n->given ? PETSC_TRUE : PETSC_FALSE;
  if (in->map.general) {
    HopsInterpCells x;

    PetscCheck(in->prolong, PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP,
               "Spaces from arrays or with hanging nodes have prolongations, no evaluations at nodes of a coarser space: use "
               "HopsSpaceTransfer()");
    PetscCall(HopsInterpCellsCreate(n, coarse, fine, &x));
    PetscCall(HopsInterpSetUpCells(in, &x));
    PetscCall(HopsSpaceReference(x.coarse));
    in->map.source = x.coarse;
    PetscCall(HopsInterpCellsDestroy(&x));
  } else PetscCall(HopsInterpSetUpAll(in, n, coarse, fine));
  PetscCall(HopsInterpMapSetUp(&in->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* One part of the vectors, forward or by the transpose */
static PetscErrorCode HopsInterpPart(Mat P, PetscInt part, PetscBool transpose, Vec x, Vec y, PetscBool add)
{
  Mat_HopsInterp     *in   = (Mat_HopsInterp *)P->data;
  HopsSpace           sp   = in->map.source;
  const HopsVecAccess mode = add ? HOPS_VEC_READ_WRITE : HOPS_VEC_WRITE;
  const PetscReal    *xa;
  PetscReal          *ya;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.interp, P, x, y, 0));
  PetscCall(HopsVecGetPartRead(sp, x, part, &xa));
  PetscCall(HopsVecGetPart(sp, y, part, mode, &ya));
  if (transpose) PetscCall(HopsInterpMapApplyTranspose(&in->map, xa, add, ya));
  else PetscCall(HopsInterpMapApply(&in->map, xa, add, ya));
  PetscCall(HopsVecRestorePartRead(sp, x, part, &xa));
  PetscCall(HopsVecRestorePart(sp, y, part, mode, &ya));
  PetscCall(PetscLogEventEnd(HopsEvent.interp, P, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_HopsInterp(Mat P, Vec x, Vec y)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpPart(P, k, PETSC_FALSE, x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_HopsInterp(Mat P, Vec x, Vec y)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpPart(P, k, PETSC_TRUE, x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_HopsInterp(Mat P, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpPart(P, k, PETSC_FALSE, x, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_HopsInterp(Mat P, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpPart(P, k, PETSC_TRUE, x, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode MatView_HopsInterp(Mat P, PetscViewer viewer)
{
  Mat_HopsInterp *in = (Mat_HopsInterp *)P->data;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !in->map.nkernels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%s from order %" PetscInt_FMT " to order %" PetscInt_FMT ", %" PetscInt_FMT " to %" PetscInt_FMT
                                   " nodes per direction of a macro cell\n",
                                   in->prolong ? "prolongation" : "evaluation", in->from->order, in->to->order, in->N, in->M));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_HopsInterp(Mat P)
{
  Mat_HopsInterp *in = (Mat_HopsInterp *)P->data;

  PetscFunctionBegin;
  PetscCall(HopsInterpMapReset(&in->map));
  PetscCall(HopsSpaceDestroy(&in->from));
  PetscCall(HopsSpaceDestroy(&in->to));
  PetscCall(PetscFree(P->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_HopsInterp(Mat P)
{
  Mat_HopsInterp *in;

  PetscFunctionBegin;
  PetscCall(PetscNew(&in));
  P->data                  = in;
  P->ops->mult             = MatMult_HopsInterp;
  P->ops->multadd          = MatMultAdd_HopsInterp;
  P->ops->multtranspose    = MatMultTranspose_HopsInterp;
  P->ops->multtransposeadd = MatMultTransposeAdd_HopsInterp;
  P->ops->getvecs          = HopsMatCreateVecs;
  P->ops->view             = MatView_HopsInterp;
  P->ops->destroy          = MatDestroy_HopsInterp;
  PetscCall(HopsMatRefuseRows(P));
  PetscCall(PetscObjectChangeTypeName((PetscObject)P, MATHOPSINTERP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateHopsInterp - Creates the matrix that evaluates the functions of one space at the nodes of another,
  nested one.

  Collective

  Input Parameters:
+ from - the space of the functions
- to   - the space of the result

  Output Parameter:
. P - the matrix, of type `MATHOPSINTERP`, with the rows of `to` and the columns of `from`

  Level: intermediate

  Notes:
  The spaces lie on the same mesh (with two orders), or one mesh is the uniform refinement of the other, by
  one step, or the coarse one is what `HopsSpaceSetCoarse()` told of the fine one. From a coarse space to a
  fine one this is the prolongation of a multigrid method, exact where the spaces are nested, that is where
  the order does not fall.

  `MatMult()`, `MatMultAdd()`, and their transposes (the restriction) are sum-factorised and communicate
  ghosts of `from` alone.

  Where nodes hang, those of coarse cells take part with what they are made of, and true unknowns of the fine
  space alone are written. Entries of essential unknowns of spaces from arrays are neither read nor
  written: they are zero. Such spaces have prolongations, and no maps to coarser spaces.

  Meshes that are not nested, and children of a `DMPLEX` on other ranks than their parents, raise
  `PETSC_ERR_ARG_INCOMP`.

.seealso: `MATHOPSINTERP`, `HopsSpaceCreateCoarse()`, `PCHOPSMG`
@*/
PetscErrorCode MatCreateHopsInterp(HopsSpace from, HopsSpace to, Mat *P)
{
  PetscFunctionBegin;
  HopsValidHeader(from, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(to, HOPS_SPACE_CLASSID, 2);
  HopsValidPointer(P, 3);
  PetscCall(MatCreateHopsInterp_Private(from, to, NULL, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateHopsInterp_Private(HopsSpace from, HopsSpace to, const HopsNested *nested, Mat *P)
{
  MPI_Comm        comm;
  Mat_HopsInterp *in;
  PetscInt        count[2], sum[2];
  HopsNested      made;

  PetscFunctionBegin;
  comm = PetscObjectComm((PetscObject)from);
  PetscCheck(from->backend == to->backend, comm, PETSC_ERR_ARG_INCOMP,
             "The spaces live on the back ends %s and %s: make both on the same one (-hops_backend)", from->backend->name,
             to->backend->name);
  PetscCheck(from->backend->InterpCreate, comm, PETSC_ERR_SUP,
             "The back end %s has no maps between nested spaces: use -hops_backend host", from->backend->name);
  PetscCheck(from->family == HOPS_H1 && to->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "Maps between nested spaces are those of H1, and these are in %s and %s: make the spaces by HopsSpaceCreateH1()",
             HopsFamilies[from->family], HopsFamilies[to->family]);
  PetscCall(MatCreate(comm, P));
  PetscCall(MatSetSizes(*P, to->nT, from->nT, to->N, from->N));
  PetscCall(MatSetType(*P, MATHOPSINTERP));
  PetscCall(MatSetVecType(*P, HopsSpaceVecType(from)));
  in       = (Mat_HopsInterp *)(*P)->data;
  in->from = from;
  in->to   = to;
  PetscCall(HopsSpaceReference(from));
  PetscCall(HopsSpaceReference(to));
  count[0] = from->ncells;
  count[1] = to->ncells;
  PetscCall(MPIU_Allreduce(count, sum, 2, MPIU_INT, MPI_SUM, comm));
  in->prolong = sum[0] < sum[1] || (sum[0] == sum[1] && from->order <= to->order) ? PETSC_TRUE : PETSC_FALSE;
  if (nested) PetscCall(HopsInterpSetUp(in, nested));
  else {
    PetscCall(HopsNestedCreate(in->prolong ? from : to, in->prolong ? to : from, &made));
    PetscCall(HopsInterpSetUp(in, &made));
    PetscCall(HopsNestedDestroy(&made));
  }
  PetscCall(PetscLayoutSetUp((*P)->rmap));
  PetscCall(PetscLayoutSetUp((*P)->cmap));
  (*P)->preallocated = PETSC_TRUE;
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
