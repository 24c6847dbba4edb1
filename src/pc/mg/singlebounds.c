/*
  What smoothing in single precision needs to know of an operator A: the inverse of its diagonal D, and the
  largest eigenvalue of D^-1 A.
*/
#include "hopsmgimpl.h"
#include <petscblaslapack.h>

#define STEPS 10 /* of the conjugate gradient method, as PETSc's own estimates take by default */

/* The inverse of the diagonal, where the back end works. PCJACOBI would look for zeros in the process's
   memory */
PetscErrorCode HopsSingleInvertDiagonal(HopsSpace sp, Mat A, float dinv[])
{
  Vec              v;
  PetscReal        least, sum;
  const PetscReal *a;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateVec(sp, &v));
  PetscCall(MatGetDiagonal(A, v));
  PetscCall(VecMin(v, NULL, &least));
  PetscCall(VecNorm(v, NORM_1, &sum));
  PetscCheck((least > 0.0 && !PetscIsInfOrNanReal(sum)) || !sp->N, PetscObjectComm((PetscObject)A), PETSC_ERR_CONV_FAILED,
             "The operator has a diagonal entry %g on a level: single precision needs a positive definite one, use "
             "-pc_hopsmg_precision double",
             (double)(least > 0.0 ? sum : least));
  PetscCall(VecReciprocal(v));
  PetscCall(HopsVecGetArrayRead(sp, v, &a));
  PetscCall((*sp->backend->vector->Convert)(PETSC_FLOAT, sp->nT, 1.0, a, dinv));
  PetscCall(HopsVecRestoreArrayRead(sp, v, &a));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers without order in [-1/2, 1/2), the same of all back ends: those of a table, again and again. Its
   length is prime, so that it falls in step with no order of unknowns */
static PetscErrorCode SetNoise(HopsSpace sp, float a[])
{
  enum {
    length = 65521
  };
  const HopsMemoryOps *memory = sp->backend->memory;
  float               *table;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(length, &table));
  for (PetscInt i = 0; i < length; ++i) {
    uint32_t h = (uint32_t)((sp->rstart + i) % length) + 1;

    for (int k = 0; k < 2; ++k) { /* every bit of h comes to depend on all others */
      h ^= h >> 16;
      h *= 0x85ebca6bu;
      h ^= h >> 13;
    }
    table[i] = (float)(h / 4294967296.0 - 0.5);
  }
  PetscCall((*memory->Copy)(NULL, a, table, PetscMin(sp->nT, length) * sizeof(float), HOPS_COPY_IN));
  for (PetscInt n = length; n < sp->nT; n += n)
    PetscCall((*memory->Copy)(NULL, a + n, a, PetscMin(n, sp->nT - n) * sizeof(float), HOPS_COPY_WITHIN));
  PetscCall(PetscFree(table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dot(HopsSpace sp, const float w[], const float x[], const float y[], PetscReal *dot)
{
  PetscReal local;

  PetscFunctionBegin;
  PetscCall((*sp->backend->vector->Dot)(sp->nT, w, x, y, &local));
  PetscCall(MPIU_Allreduce(&local, dot, 1, MPIU_REAL, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest eigenvalue of Lanczos' tridiagonal matrix */
static PetscErrorCode LargestOfTridiagonal(PetscInt n, PetscReal diagonal[], PetscReal beside[], PetscReal *largest)
{
  PetscReal    work[2 * STEPS];
  PetscScalar *none = NULL;
  PetscBLASInt size, one = 1, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("N", &size, diagonal, beside, none, &one, work, &info));
  PetscCall(PetscFPTrapPop());
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's steqr failed with %d on a matrix of size %d", (int)info, (int)size);
  *largest = diagonal[n - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The largest eigenvalue of D^-1 A by steps of the conjugate gradient method from noise: their factors are the
  entries of Lanczos' matrix (Saad's "Iterative Methods", section 6.7.3). No iterate is needed. r, d and q are
  work space for nT numbers.
*/
PetscErrorCode HopsSingleLargest(HopsSpace sp, HopsSingleMult mult, void *ctx, const float dinv[], float r[], float d[], float q[],
                                 PetscReal *largest)
{
  const HopsVectorOps *vec = sp->backend->vector;
  PetscReal            diagonal[STEPS], beside[STEPS], rz, before, dq, alpha = 1.0, beta = 0.0;
  PetscInt             n = 0;

  PetscFunctionBegin;
  PetscCall(SetNoise(sp, r));
  PetscCall(Dot(sp, dinv, r, r, &rz));
  for (; n < PetscMin(STEPS, sp->N) && rz > 0.0; ++n) {
    PetscCall((*vec->Step)(sp->nT, (float)beta, 1.0f, dinv, r, d, NULL));
    PetscCall((*mult)(ctx, d, q));
    PetscCall(Dot(sp, NULL, d, q, &dq));
    PetscCheck(!PetscIsInfOrNanReal(dq), PetscObjectComm((PetscObject)sp), PETSC_ERR_FP,
               "The operator of a level has entries that are not numbers, or too large for single precision: use "
               "-pc_hopsmg_precision double");
    if (dq == 0.0) break;
    if (n) beside[n - 1] = PetscSqrtReal(beta) / alpha;
    diagonal[n] = dq / rz + (n ? beta / alpha : 0.0);
    alpha       = rz / dq;
    before      = rz;
    PetscCall((*vec->Combine)(PETSC_FLOAT, sp->nT, 1.0, r, -alpha, q, r));
    PetscCall(Dot(sp, dinv, r, r, &rz));
    beta = rz / before;
  }
  *largest = 1.0;
  if (n) PetscCall(LargestOfTridiagonal(n, diagonal, beside, largest));
  PetscCheck(*largest > 0.0, PetscObjectComm((PetscObject)sp), PETSC_ERR_CONV_FAILED,
             "The operator has no positive eigenvalue on a level: single precision needs a positive definite one, use "
             "-pc_hopsmg_precision double");
  PetscFunctionReturn(PETSC_SUCCESS);
}
