/* MATPA to AIJ: dense element matrices from full (not sum-factorised) tabulations. Slow, and independent of
   the kernels. */
#include <hops/private/hopspatensorimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopshanging.h>
#include <hops/private/hopsblas.h>

/* N[q][a][i]: a = 0: basis function i at point q; a = 1..dim: its derivative in reference direction a-1 */
static PetscErrorCode HopsFullTabulation(const HopsBasis *b, PetscInt dim, PetscReal N[])
{
  const PetscInt np = HopsPower(b->P, dim), nq = HopsPower(b->Q, dim);

  PetscFunctionBegin;
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt a = 0; a <= dim; ++a)
      for (PetscInt i = 0; i < np; ++i) {
        PetscReal v = 1.0;

        for (PetscInt d = 0, qq = q, ii = i; d < dim; ++d, qq /= b->Q, ii /= b->P)
          v *= (a == d + 1 ? b->D : b->B)[(qq % b->Q) * b->P + ii % b->P];
        N[(q * (dim + 1) + a) * np + i] = v;
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the symmetric tensor K (dim x dim) of a coefficient's components */
static void HopsTensor(PetscInt dim, PetscInt nc, const PetscReal v[], PetscReal K[])
{
  for (PetscInt i = 0, k = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j) {
      const PetscReal t = nc == 1 ? (i == j ? v[0] : 0.0) : (nc == dim ? (i == j ? v[i] : 0.0) : v[k]);

      K[i * dim + j] = K[j * dim + i] = t;
      ++k;
    }
}

/* E += sum_q w ( grad v . K grad u + c u v ) for the cell c; T is work like N */
static PetscErrorCode HopsElementMatrix(HopsForm form, const HopsBasis *basis, const HopsBasis *geom, PetscInt cell,
                                        const PetscReal N[], PetscReal T[], PetscReal E[])
{
  HopsSpace      sp  = form->space;
  const PetscInt dim = sp->dim, np = HopsPower(basis->P, dim), nq = HopsPower(basis->Q, dim), na = dim + 1;
  PetscReal     *x, *J;
  HopsValues     k, m;
  size_t         ks = 0, ms = 0;
  PetscReal     *kw = NULL, *mw = NULL, one = 1.0;
  PetscBLASInt   bn, bk;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nq * dim, &x, nq * dim * dim, &J));
  PetscCall(HopsSpaceGetPoints(sp, geom, cell, 1, x, J));
  PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(form), sp, basis, cell, 1, &ks, &kw, &k));
  PetscCall(HopsCoefficientEvaluate(HopsFormValue(form), sp, basis, cell, 1, &ms, &mw, &m));
  for (PetscInt q = 0; q < nq; ++q) {
    PetscReal Ji[9], K[9], G[16] = {0}, w = 1.0, det;

    for (PetscInt d = 0, qq = q; d < dim; ++d, qq /= basis->Q) w *= basis->weights[qq % basis->Q];
    det = HopsInverse(dim, J + q * dim * dim, Ji);
    if (!(det > 0)) PetscCall(HopsSpaceErrorCell(sp, cell, det));
    w *= det;
    if (m.nc) G[0] = w * m.v[q * m.pstride];
    if (k.nc) {
      HopsTensor(dim, k.nc, k.v + q * k.pstride, K);
      for (PetscInt a = 0; a < dim; ++a)
        for (PetscInt b = 0; b < dim; ++b)
          for (PetscInt i = 0; i < dim; ++i)
            for (PetscInt j = 0; j < dim; ++j) G[(a + 1) * na + b + 1] += w * Ji[a * dim + i] * K[i * dim + j] * Ji[b * dim + j];
    }
    for (PetscInt a = 0; a < na; ++a)
      for (PetscInt i = 0; i < np; ++i) {
        PetscReal s = 0.0;

        for (PetscInt b = 0; b < na; ++b) s += G[a * na + b] * N[(q * na + b) * np + i];
        T[(q * na + a) * np + i] = s;
      }
  }
  PetscCall(PetscBLASIntCast(np, &bn));
  PetscCall(PetscBLASIntCast(nq * na, &bk));
  PetscCallBLAS("BLASgemm", HopsBLASgemm("N", "T", &bn, &bn, &bk, &one, N, &bn, T, &bn, &one, E, &bn));
  PetscCall(PetscFree2(x, J));
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E[n][np][np] of the form, Robin terms included, on n cells of this rank */
PetscErrorCode HopsFormElementMatrices(HopsForm form, const HopsBasis *basis, PetscInt n, const PetscInt cells[], PetscReal E[])
{
  HopsSpace      sp = form->space;
  const PetscInt fd = sp->dim - 1, np = HopsPower(basis->P, sp->dim), nq = HopsPower(basis->Q, sp->dim),
                 nf = HopsPower(basis->P, fd), mq = HopsPower(basis->Q, fd);
  const HopsIntegral *in;
  HopsBasis           geom;
  PetscReal          *N, *T, *F, *a;
  PetscInt           *node;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  PetscCall(PetscMalloc5(nq * (sp->dim + 1) * np, &N, nq * (sp->dim + 1) * np, &T, mq * (fd + 1) * nf, &F, nf, &node, mq, &a));
  PetscCall(HopsFullTabulation(basis, sp->dim, N));
  PetscCall(HopsFullTabulation(basis, fd, F));
  PetscCall(PetscArrayzero(E, n * np * np));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(HopsElementMatrix(form, basis, &geom, cells[k], N, T, E + k * np * np));
    for (PetscInt i = 0; (in = HopsFormNext(form, HOPS_BOUNDARY, &i));)
      for (PetscInt f = 0; f < in->facets->n; ++f) {
        const HopsFacets r = in->facets;

        if (r->cells[f] != cells[k]) continue;
        PetscCall(HopsFaceEvaluate(sp, basis, 1, r->cells + f, r->faces + f, in->coefficient, a));
        PetscCall(HopsFaceNodes(sp->dim, basis->P, r->faces[f], node));
        for (PetscInt q = 0; q < mq; ++q) {
          PetscReal w = a[q];

          for (PetscInt d = 0, qq = q; d < fd; ++d, qq /= basis->Q) w *= basis->weights[qq % basis->Q];
          for (PetscInt i = 0; i < nf; ++i)
            for (PetscInt j = 0; j < nf; ++j)
              E[(k * np + node[i]) * np + node[j]] += w * F[q * (fd + 1) * nf + i] * F[q * (fd + 1) * nf + j];
        }
      }
  }
  PetscCall(PetscFree5(N, T, F, node, a));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAddFacets(Mat_PA *pa, const HopsFacets r, const PetscReal qdata[], const PetscInt gidx[], Mat B)
{
  HopsSpace      sp = pa->form->space;
  const PetscInt fd = sp->dim - 1, P = pa->facebasis.P, Q = pa->facebasis.Q, nf = HopsPower(P, fd), nq = HopsPower(Q, fd),
                 np = HopsPower(P, sp->dim);
  HopsHanging h     = {0};
  PetscReal  *N, *E;
  PetscInt   *node, *row;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  PetscCall(PetscMalloc4(nq * (fd + 1) * nf, &N, np * np, &E, nf, &node, np, &row));
  PetscCall(HopsFullTabulation(&pa->facebasis, fd, N));
  for (PetscInt f = 0; f < r->n; ++f) {
    const PetscBool hang = sp->hanging && sp->hang[r->cells[f]] ? PETSC_TRUE : PETSC_FALSE;
    const PetscInt  n    = hang ? np : nf;

    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    PetscCall(PetscArrayzero(E, n * n));
    for (PetscInt i = 0; i < n; ++i) row[i] = gidx[sp->restr[r->cells[f] * np + (hang ? i : node[i])]];
    for (PetscInt i = 0; i < nf; ++i) {
      for (PetscInt j = 0; j < nf; ++j) {
        PetscReal s = 0.0;

        for (PetscInt q = 0; q < nq; ++q) s += qdata[f * nq + q] * N[q * (fd + 1) * nf + i] * N[q * (fd + 1) * nf + j];
        if (hang) E[node[i] * np + node[j]] = s;
        else E[i * nf + j] = s;
      }
    }
    if (hang) HopsHangingElement(&h, sp->hang[r->cells[f]], E);
    PetscCall(HopsMatSetReal(B, n, row, n, row, E, ADD_VALUES));
  }
  PetscCall(PetscFree4(N, E, node, row));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPreallocate(HopsSpace sp, const PetscInt gidx[], const PetscReal zero[], PetscInt row[], Mat B)
{
  const PetscInt np = sp->ne;
  Mat            pre;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)sp), &pre));
  PetscCall(MatSetSizes(pre, sp->nT, sp->nT, sp->N, sp->N));
  PetscCall(MatSetType(pre, MATPREALLOCATOR));
  PetscCall(MatSetUp(pre));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    for (PetscInt i = 0; i < np; ++i) row[i] = gidx[HopsUnsigned(sp->restr[c * np + i])];
    PetscCall(HopsMatSetReal(pre, np, row, np, row, zero, ADD_VALUES));
  }
  for (PetscInt e = 0; e < sp->ness; ++e)
    PetscCall(MatSetValue(pre, sp->rstart + sp->essT[e], sp->rstart + sp->essT[e], 1.0, ADD_VALUES));
  PetscCall(MatAssemblyBegin(pre, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(pre, MAT_FINAL_ASSEMBLY));
  PetscCall(MatPreallocatorPreallocate(pre, PETSC_TRUE, B));
  PetscCall(MatDestroy(&pre));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The form in H1 with coefficients */
static PetscErrorCode MatPAAssembleH1(Mat A, Mat_PA *pa, MatReuse reuse, Mat *newmat)
{
  HopsSpace   sp = pa->form->space;
  HopsBasis   geom;
  Mat         B;
  PetscInt   *gidx, *row, np;
  HopsHanging h = {0};
  PetscReal  *N, *T;
  PetscReal  *E;

  const HopsIntegral *in;
  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  np = HopsPower(pa->basis.P, sp->dim);
  {
    const PetscInt nt = HopsPower(pa->basis.Q, sp->dim) * (sp->dim + 1) * np;

    PetscCall(PetscMalloc5(sp->nL, &gidx, np, &row, nt, &N, nt, &T, np * np, &E));
  }
  for (PetscInt l = 0; l < sp->nL; ++l) gidx[l] = l < sp->nT ? sp->rstart + l : (l < sp->nT + sp->nG ? sp->ghost[l - sp->nT] : -1);
  PetscCall(PetscArrayzero(E, np * np));
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  } else {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, sp->nT, sp->nT, sp->N, sp->N));
    PetscCall(MatSetType(B, MATAIJ));
    PetscCall(HopsPreallocate(sp, gidx, E, row, B));
  }
  PetscCall(HopsFullTabulation(&pa->basis, sp->dim, N));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &pa->basis, &geom));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  for (PetscInt c = 0; c < sp->ncells && pa->kernel; ++c) {
    PetscCall(PetscArrayzero(E, np * np));
    PetscCall(HopsElementMatrix(pa->form, &pa->basis, &geom, c, N, T, E));
    if (sp->hanging) HopsHangingElement(&h, sp->hang[c], E);
    for (PetscInt i = 0; i < np; ++i) row[i] = gidx[sp->restr[c * np + i]];
    PetscCall(HopsMatSetReal(B, np, row, np, row, E, ADD_VALUES));
  }
  for (PetscInt i = 0, k = 0; (in = HopsFormNext(pa->form, HOPS_BOUNDARY, &i)); ++k)
    PetscCall(HopsAddFacets(pa, in->facets, pa->facets[k].qdata, gidx, B));
  for (PetscInt e = 0; e < sp->ness; ++e)
    PetscCall(MatSetValue(B, sp->rstart + sp->essT[e], sp->rstart + sp->essT[e], 1.0, ADD_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree5(gidx, row, N, T, E));
  PetscCall(HopsHangingDestroy(&h));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_PA_AIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(reuse != MAT_INPLACE_MATRIX, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A MATPA is not converted in place: use MAT_INITIAL_MATRIX");
  PetscCall(MatPASetUp_Private(A, pa));
  PetscCall(PetscLogEventBegin(HopsEvent.paassemble, A, 0, 0, 0));
  if (pa->tensor) PetscCall(HopsPATensorAssemble(pa->tensor, A, reuse, newmat));
  else if (pa->form->space->family != HOPS_H1) PetscCall(HopsDerhamAssemble(A, pa, reuse, newmat));
  else PetscCall(MatPAAssembleH1(A, pa, reuse, newmat));
  if (pa->sum) PetscCall(MatPASumAssemble(A, pa->sum, *newmat));
  if ((pa->tensor ? pa->tensor->space : pa->form->space)->kokkosvecs) /* vectors of Kokkos go with no others */
    PetscCall(MatSetVecType(*newmat, VECKOKKOS));
  PetscCall(PetscLogEventEnd(HopsEvent.paassemble, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
