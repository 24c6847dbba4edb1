/* MATHOPSINTERP: values of the functions of one space at the nodes of another one that is nested with it. */
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopsmatimpl.h>
#include <petsc/private/matimpl.h>

typedef struct {
  HopsSpace         from, to;
  PetscBool         prolong; /* `from` is the coarse space */
  HopsInterpolation kernel;
  PetscInt          M, N;    /* nodes per direction of a macro cell of `to` and `from` */
  PetscReal        *xg, *yg; /* [nL-nT] ghosts and constrained entries of `from`: read, added to */
} Mat_HopsInterp;

/* ------------------------------------------- set-up ------------------------------------------- */

/*
  A[M][N]: the coarse functions at the nodes of the macro cell of children (prolongation), or the children's
  functions, numbered over the macro cell, at the coarse nodes (evaluation).
*/
static PetscErrorCode HopsInterpMatrix(const HopsNested *n, PetscInt pc, PetscInt pf, PetscBool prolong, PetscReal A[])
{
  const PetscInt M = n->nhalf * pf + 1, N = pc + 1;
  PetscReal     *zc, *zf, *w;
  HopsBasis      b;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(N, &zc, pf + 1, &zf, PetscMax(N, pf + 1), &w));
  PetscCall(HopsGLL(N, zc, w));
  PetscCall(HopsGLL(pf + 1, zf, w));
  if (prolong) {
    for (PetscInt m = 0; m < M; ++m) {
      const PetscInt  h = PetscMin(m / pf, n->nhalf - 1);
      const PetscReal y = zf[m - h * pf], x = n->nhalf == 1 ? y : 0.5 * (y + (h ? 1.0 : -1.0));

      PetscCall(HopsBasisCreateAtPoints(N, 1, &x, &b));
      PetscCall(PetscArraycpy(A + m * N, b.B, N));
      PetscCall(HopsBasisDestroy(&b));
    }
  } else {
    PetscCall(PetscArrayzero(A, N * M));
    for (PetscInt i = 0; i < N; ++i) {
      PetscReal      y;
      const PetscInt h = HopsNestedHalf(n, zc[i], &y);

      PetscCall(HopsBasisCreateAtPoints(pf + 1, 1, &y, &b));
      PetscCall(PetscArraycpy(A + i * M + h * pf, b.B, pf + 1));
      PetscCall(HopsBasisDestroy(&b));
    }
  }
  PetscCall(PetscFree3(zc, zf, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpSetUp(Mat_HopsInterp *in, HopsSpace from, HopsSpace to)
{
  HopsSpace        coarse = in->prolong ? from : to, fine = in->prolong ? to : from;
  HopsNested       n;
  HopsInterpData   d;
  const PetscReal *X;
  PetscReal       *A;

  PetscFunctionBegin;
  PetscCall(HopsNestedCreate(coarse, fine, &n));
  in->M = in->prolong ? n.nhalf * fine->order + 1 : coarse->order + 1;
  in->N = in->prolong ? coarse->order + 1 : n.nhalf * fine->order + 1;
  PetscCall(PetscMalloc1(in->M * in->N, &A));
  PetscCall(HopsInterpMatrix(&n, coarse->order, fine->order, in->prolong, A));
  d = (HopsInterpData){in->prolong, n.dim,    n.ncoarse, n.nfine, n.nhalf, coarse->order, fine->order, NULL,
                       NULL,        n.parent, n.half,    n.axis,  A};
  PetscCall(HopsSpaceSetUpBackend(from));
  PetscCall(HopsSpaceGetBackendMesh(coarse, &d.crestr, &X));
  PetscCall(HopsSpaceGetBackendMesh(fine, &d.frestr, &X));
  PetscCall((*from->backend->InterpCreate)(from, to, &d, &in->kernel));
  PetscCall((*from->backend->memory->Malloc)((from->nL - from->nT) * sizeof(PetscReal), (void **)&in->xg));
  PetscCall((*from->backend->memory->Malloc)((from->nL - from->nT) * sizeof(PetscReal), (void **)&in->yg));
  PetscCall((*from->backend->vector->Zero)(PETSC_DOUBLE, from->nL - from->nT, in->xg));
  PetscCall(PetscFree(A));
  PetscCall(HopsNestedDestroy(&n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* Interior macro cells are worked on while the ghosts come in */
static PetscErrorCode HopsInterpForward(Mat P, PetscInt part, Vec x, Vec y, PetscBool add)
{
  Mat_HopsInterp  *in = (Mat_HopsInterp *)P->data;
  HopsSpace        sp = in->from;
  const PetscReal *xa;
  PetscReal       *ya;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.interp, P, x, y, 0));
  PetscCall(HopsVecGetPartRead(sp, x, part, &xa));
  PetscCall(HopsVecGetPart(sp, y, part, add ? HOPS_VEC_READ_WRITE : HOPS_VEC_WRITE, &ya));
  PetscCall(HopsProlongBegin(sp->P, xa, in->xg));
  PetscCall((*in->kernel->ops->Apply)(in->kernel, PETSC_TRUE, xa, in->xg, ya, add));
  PetscCall(HopsProlongEnd(sp->P, xa, in->xg));
  PetscCall((*in->kernel->ops->Apply)(in->kernel, PETSC_FALSE, xa, in->xg, ya, add));
  PetscCall(HopsVecRestorePartRead(sp, x, part, &xa));
  PetscCall(HopsVecRestorePart(sp, y, part, add ? HOPS_VEC_READ_WRITE : HOPS_VEC_WRITE, &ya));
  PetscCall(PetscLogEventEnd(HopsEvent.interp, P, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and while contributions to other ranks' unknowns leave */
static PetscErrorCode HopsInterpBackward(Mat P, PetscInt part, Vec x, Vec y, PetscBool add)
{
  Mat_HopsInterp       *in = (Mat_HopsInterp *)P->data;
  HopsSpace             sp = in->from;
  const HopsBackendOps *be = sp->backend;
  const PetscReal      *xa;
  PetscReal            *ya;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.interp, P, x, y, 0));
  PetscCall(HopsVecGetPartRead(sp, x, part, &xa));
  PetscCall(HopsVecGetPart(sp, y, part, add ? HOPS_VEC_READ_WRITE : HOPS_VEC_WRITE, &ya));
  if (!add) PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, ya));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nL - sp->nT, in->yg));
  PetscCall((*in->kernel->ops->ApplyTranspose)(in->kernel, PETSC_FALSE, xa, ya, in->yg));
  PetscCall(HopsProlongTransposeBegin(sp->P, in->yg, ya));
  PetscCall((*in->kernel->ops->ApplyTranspose)(in->kernel, PETSC_TRUE, xa, ya, in->yg));
  PetscCall(HopsProlongTransposeEnd(sp->P, in->yg, ya));
  PetscCall(HopsVecRestorePartRead(sp, x, part, &xa));
  PetscCall(HopsVecRestorePart(sp, y, part, add ? HOPS_VEC_READ_WRITE : HOPS_VEC_WRITE, &ya));
  PetscCall(PetscLogEventEnd(HopsEvent.interp, P, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_HopsInterp(Mat P, Vec x, Vec y)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpForward(P, k, x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_HopsInterp(Mat P, Vec x, Vec y)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpBackward(P, k, x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_HopsInterp(Mat P, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpForward(P, k, x, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_HopsInterp(Mat P, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) PetscCall(HopsInterpBackward(P, k, x, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHopsInterpGetKernel(Mat P, HopsInterpolation *kernel)
{
  PetscFunctionBegin;
  *kernel = ((Mat_HopsInterp *)P->data)->kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode MatView_HopsInterp(Mat P, PetscViewer viewer)
{
  Mat_HopsInterp *in = (Mat_HopsInterp *)P->data;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !in->kernel) PetscFunctionReturn(PETSC_SUCCESS);
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
  if (in->kernel) PetscCall((*in->kernel->ops->Destroy)(&in->kernel));
  if (in->xg) PetscCall((*in->from->backend->memory->Free)((void **)&in->xg));
  if (in->yg) PetscCall((*in->from->backend->memory->Free)((void **)&in->yg));
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
  one step. From a coarse space to a fine one this is the prolongation of a multigrid method, exact where the
  spaces are nested, that is where the order does not fall.

  `MatMult()`, `MatMultAdd()`, and their transposes (the restriction) are sum-factorised and communicate
  ghosts of `from` alone.

  Meshes that are not nested, and children on other ranks than their parents, raise `PETSC_ERR_ARG_INCOMP`.

.seealso: `MATHOPSINTERP`, `HopsSpaceCreateCoarse()`, `PCHOPSMG`
@*/
PetscErrorCode MatCreateHopsInterp(HopsSpace from, HopsSpace to, Mat *P)
{
  MPI_Comm        comm;
  Mat_HopsInterp *in;
  PetscInt        count[2], sum[2];
  PetscBool       same = PETSC_FALSE;

  PetscFunctionBegin;
  HopsValidHeader(from, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(to, HOPS_SPACE_CLASSID, 2);
  HopsValidPointer(P, 3);
  comm = PetscObjectComm((PetscObject)from);
  PetscCheck(from->backend == to->backend, comm, PETSC_ERR_ARG_INCOMP,
             "The spaces live on the back ends %s and %s: make both on the same one (-hops_backend)", from->backend->name,
             to->backend->name);
  PetscCheck(from->backend->InterpCreate, comm, PETSC_ERR_SUP,
             "The back end %s has no maps between nested spaces: use -hops_backend host", from->backend->name);
  PetscCheck(from->family == HOPS_H1 && to->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "Maps between nested spaces are those of H1, and these are in %s and %s: make the spaces by HopsSpaceCreateH1()",
             HopsFamilies[from->family], HopsFamilies[to->family]);
  PetscCheck(!from->ness && !to->ness, comm, PETSC_ERR_SUP,
             "Spaces made from arrays have no mesh hierarchy: make them on DMPLEX meshes (HopsSpaceCreateH1())");
  PetscCall(MatCreate(comm, P));
  PetscCall(MatSetSizes(*P, to->nT, from->nT, to->N, from->N));
  PetscCall(MatSetType(*P, MATHOPSINTERP));
  PetscCall(MatSetVecType(*P, HopsSpaceVecType(from)));
  in       = (Mat_HopsInterp *)(*P)->data;
  in->from = from;
  in->to   = to;
  PetscCall(HopsSpaceReference(from));
  PetscCall(HopsSpaceReference(to));
  if (from->dm && to->dm) PetscCall(HopsPlexSameMesh(from->dm, to->dm, &same));
  count[0] = from->ncells;
  count[1] = to->ncells;
  PetscCall(MPIU_Allreduce(count, sum, 2, MPIU_INT, MPI_SUM, comm));
  in->prolong = sum[0] < sum[1] || (same && from->order <= to->order) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsInterpSetUp(in, from, to));
  PetscCall(PetscLayoutSetUp((*P)->rmap));
  PetscCall(PetscLayoutSetUp((*P)->cmap));
  (*P)->preallocated = PETSC_TRUE;
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
