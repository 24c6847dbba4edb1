/* Marks for refinement and coarsening, by the parts of the estimate that cells have. */
#include <hops/private/hopsadaptimpl.h>
#include <petscdm.h>

#define HOPS_MARK_TIE 1e-6 /* relative difference of squares that are taken for equal */

/* Squares of estimates, and the same as integers, whose sums do not depend on their order: `most` is made
   `one` of them */
typedef struct {
  MPI_Comm    comm;
  PetscInt    n;
  PetscReal  *v;
  PetscInt64 *k, total;
} Squares;

/* of the cells of a space: those of an overlap are their owners' */
static PetscErrorCode SquaresCreate(HopsSpace sp, const PetscScalar eta[], PetscReal *most, Squares *s)
{
  const PetscInt n                    = sp->ncells;
  const MPI_Comm comm                 = PetscObjectComm((PetscObject)sp);
  char           why[HOPS_WHY_LENGTH] = "";
  PetscInt64     N = n, one = (PetscInt64)1 << 62;

  PetscFunctionBegin;
  *s    = (Squares){.comm = comm, .n = n};
  *most = 0.0;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal e = PetscRealPart(eta[sp->cell[i] - sp->cstart]);

    if (!(e >= 0.0) || PetscIsInfOrNanReal(e * e))
      PetscCall(HopsRefuse(why,
                           "The estimate of cell %" PetscInt_FMT " is %g: estimates are finite, and not negative (for an indicator "
                           "of your own give its absolute value)",
                           sp->cell[i] - sp->cstart, (double)e));
    *most = PetscMax(*most, e * e);
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(PetscMalloc2(n, &s->v, n, &s->k));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, most, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &N, 1, MPIU_INT64, MPI_SUM, comm));
  one /= PetscMax(N, 1);
  for (PetscInt i = 0; i < n; ++i) {
    s->v[i] = PetscSqr(PetscRealPart(eta[sp->cell[i] - sp->cstart]));
    s->k[i] = *most > 0.0 ? (PetscInt64)(s->v[i] / *most * (PetscReal)one) : 0;
    s->total += s->k[i];
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &s->total, 1, MPIU_INT64, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[0] of those that are not below limit[0], sum[1] of those that are not above limit[1] */
static PetscErrorCode SquaresSum(const Squares *s, const PetscReal limit[2], PetscInt64 sum[2])
{
  PetscFunctionBegin;
  sum[0] = sum[1] = 0;
  for (PetscInt i = 0; i < s->n; ++i) {
    if (s->v[i] >= limit[0]) sum[0] += s->k[i];
    if (s->v[i] <= limit[1]) sum[1] += s->k[i];
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, s->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal RealOf(PetscInt64 bits)
{
  PetscReal x;

  memcpy(&x, &bits, sizeof(x));
  return x;
}

/*
  limit[0]: the largest one for which the squares that are not below it sum up to `refine` of all; limit[1]:
  the smallest one for which those that are not above it sum up to more than `coarsen` of all. By bisection of
  the bits of floating point numbers, whose order is that of integers.
*/
static PetscErrorCode FindLimits(const Squares *s, PetscReal most, PetscReal refine, PetscReal coarsen, PetscReal limit[2])
{
  const PetscInt64 need  = PetscMin((PetscInt64)PetscCeilReal(refine * (PetscReal)s->total), s->total);
  const PetscInt64 room  = (PetscInt64)PetscFloorReal(coarsen * (PetscReal)s->total);
  PetscInt64       lo[2] = {0, -1}, hi[2], sum[2];

  PetscFunctionBegin;
  memcpy(&hi[1], &most, sizeof(most));
  hi[0] = hi[1] + 1;
  while (hi[0] - lo[0] > 1 || hi[1] - lo[1] > 1) {
    const PetscInt64 mid[2] = {lo[0] + (hi[0] - lo[0]) / 2, lo[1] + (hi[1] - lo[1]) / 2};

    limit[0] = RealOf(mid[0]);
    limit[1] = RealOf(PetscMax(mid[1], 0));
    PetscCall(SquaresSum(s, limit, sum));
    if (hi[0] - lo[0] > 1) {
      if (sum[0] >= need) lo[0] = mid[0];
      else hi[0] = mid[0];
    }
    if (hi[1] - lo[1] > 1) {
      if (sum[1] > room) hi[1] = mid[1];
      else lo[1] = mid[1];
    }
  }
  limit[0] = RealOf(lo[0]);
  limit[1] = RealOf(hi[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceMark - Marks cells for refinement, and for coarsening, by the parts of the estimate that they have
  (Doerfler).

  Collective

  Input Parameters:
+ space   - the space
. eta     - the estimates, as `HopsSpaceEstimateError()` gives them, or an indicator of your own
. refine  - a part of the sum of all squares, between 0 and 1: as few cells as have it together are refined.
  0: none
- coarsen - a part of that sum, from 0 to below 1: as many cells with small estimates as have no more together
  are coarsened. 0: none

  Output Parameter:
. marks - [cells] in the order of `eta`: `DM_ADAPT_REFINE`, `DM_ADAPT_COARSEN` or `DM_ADAPT_KEEP`

  Level: intermediate

  Notes:
  Usual values are 0.3 to 0.7 for `refine`, where smaller ones need more solves, and fewer unknowns, and 0 to
  0.01 for `coarsen`. A cell for which both hold is refined.

  The marks do not depend on how the cells are distributed. Estimates whose squares differ by less than 1e-6
  of them are taken for equal: they are refined together, and not coarsened.

  Estimates that are negative, infinite or no numbers raise an error on all ranks.

  References:
. * - W. Doerfler, A convergent adaptive algorithm for Poisson's equation, SIAM Journal on Numerical Analysis
  33(3), 1996

.seealso: `HopsSpaceEstimateError()`, `HopsSpaceTransfer()`
@*/
PetscErrorCode HopsSpaceMark(HopsSpace space, Vec eta, PetscReal refine, PetscReal coarsen, PetscInt marks[])
{
  const PetscScalar *a;
  PetscReal          most, limit[2];
  Squares            s;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(eta, VEC_CLASSID, 2);
  HopsValidArray(space->ncaller, marks, 5);
  PetscCheck(refine >= 0.0 && refine <= 1.0 && coarsen >= 0.0 && coarsen < 1.0, PetscObjectComm((PetscObject)space),
             PETSC_ERR_ARG_OUTOFRANGE,
             "Cells with %g of the estimate's square are to be refined, and with %g to be coarsened: give parts between 0 "
             "and 1, the second one below 1",
             (double)refine, (double)coarsen);
  PetscCall(HopsSpaceCheckCellVec(space, eta));
  PetscCall(VecGetArrayRead(eta, &a));
  PetscCall(SquaresCreate(space, a, &most, &s));
  PetscCall(VecRestoreArrayRead(eta, &a));
  for (PetscInt i = 0; i < space->ncaller; ++i) marks[i] = DM_ADAPT_KEEP;
  if (most > 0.0) {
    PetscCall(FindLimits(&s, most, refine, coarsen, limit));
    for (PetscInt c = 0; c < space->ncells; ++c) {
      const PetscInt i = space->cell[c] - space->cstart;

      if (coarsen > 0.0 && s.v[c] < (1.0 - HOPS_MARK_TIE) * limit[1]) marks[i] = DM_ADAPT_COARSEN;
      if (refine > 0.0 && s.v[c] >= (1.0 - HOPS_MARK_TIE) * limit[0]) marks[i] = DM_ADAPT_REFINE;
    }
  }
  PetscCall(PetscFree2(s.v, s.k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
