/* Host back end: B^T D B on faces, one face at a time */
#include <backend/host/runtime/hostimpl.h>

typedef struct {
  struct _HopsOperator head;
  PetscInt             fd, P, Q, nT, n;
  int                 *node;         /* [n][P^fd] */
  PetscReal           *qdata;        /* [n][Q^fd] */
  PetscReal           *B, *Bt, *BBt; /* [Q][P]; its transpose; that of its entries' squares */
  PetscReal           *u, *v, *work; /* values at a face's nodes, at its points; scratch */
} * Faces;

static PetscErrorCode FacesAdd(Faces k, PetscBool diagonal, const PetscReal x[], const PetscReal xg[], PetscReal y[],
                               PetscReal yg[])
{
  const PetscInt   nf = HopsPower(k->P, k->fd), nq = HopsPower(k->Q, k->fd);
  const PetscReal *M[2] = {k->B, k->B}, *Mt[2] = {diagonal ? k->BBt : k->Bt, diagonal ? k->BBt : k->Bt};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < k->n; ++f) {
    const int       *l = k->node + f * nf;
    const PetscReal *q = k->qdata + f * nq;

    if (diagonal) PetscCall(PetscArraycpy(k->v, q, nq));
    else {
      for (PetscInt i = 0; i < nf; ++i) k->u[i] = l[i] < k->nT ? x[l[i]] : xg[l[i] - k->nT];
      PetscCall(HopsTensorApply(k->fd, k->Q, k->P, M, k->u, k->v, k->work));
      for (PetscInt i = 0; i < nq; ++i) k->v[i] *= q[i];
    }
    PetscCall(HopsTensorApply(k->fd, k->P, k->Q, Mt, k->v, k->u, k->work));
    for (PetscInt i = 0; i < nf; ++i) *(l[i] < k->nT ? y + l[i] : yg + (l[i] - k->nT)) += k->u[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesApply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  PetscFunctionBegin;
  PetscCall(FacesAdd((Faces)A, PETSC_FALSE, (const PetscReal *)x, (const PetscReal *)xg, (PetscReal *)y, (PetscReal *)yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDiagonal(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  PetscFunctionBegin;
  PetscCall(FacesAdd((Faces)A, PETSC_TRUE, NULL, NULL, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDestroy(HopsOperator *A)
{
  Faces k = (Faces)*A;

  PetscFunctionBegin;
  *A = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(k->node, k->qdata));
  PetscCall(PetscFree6(k->B, k->Bt, k->BBt, k->u, k->v, k->work));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps FacesOps = {.Apply = FacesApply, .Diagonal = FacesDiagonal, .Destroy = FacesDestroy};

PetscErrorCode HopsFacesCreate_Host(HopsSpace sp, const HopsBasis *basis, PetscInt n, const int node[], const PetscReal qdata[],
                                    HopsOperator *A)
{
  const PetscInt fd = sp->dim - 1, P = basis->P, Q = basis->Q, nf = HopsPower(P, fd), nq = HopsPower(Q, fd);
  Faces          k;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  k->head.ops = &FacesOps;
  k->fd       = fd;
  k->P        = P;
  k->Q        = Q;
  k->nT       = sp->nT;
  k->n        = n;
  PetscCall(PetscMalloc2(n * nf, &k->node, n * nq, &k->qdata));
  PetscCall(PetscArraycpy(k->node, node, n * nf));
  PetscCall(PetscArraycpy(k->qdata, qdata, n * nq));
  PetscCall(
    PetscMalloc6(P * Q, &k->B, P * Q, &k->Bt, P * Q, &k->BBt, nf, &k->u, nq, &k->v, 2 * HopsPower(PetscMax(P, Q), fd), &k->work));
  PetscCall(PetscArraycpy(k->B, basis->B, P * Q));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) {
      k->Bt[i * Q + q]  = basis->B[q * P + i];
      k->BBt[i * Q + q] = PetscSqr(basis->B[q * P + i]);
    }
  *A = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
