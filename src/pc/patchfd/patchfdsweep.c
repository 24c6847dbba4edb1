/* PCPATCHFD at work: corrections of patches are put together, all at once, or color by color in sweeps. */
#include <hops/private/hopspatchfdimpl.h>
#include <petsc/private/pcimpl.h>

/* ------------------------------------------ vectors ------------------------------------------- */

/* Ghosts of a P-vector from their owners, and contributions to ghosts to their owners */
static PetscErrorCode PCPATCHFDBroadcast(PC_PATCHFD *fd, PetscReal x[])
{
  const PetscInt nT = fd->patches->nT;

  PetscFunctionBegin;
  PetscCall(HopsProlongBegin(fd->prolong, x, x + nT));
  PetscCall(HopsProlongEnd(fd->prolong, x, x + nT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDReduce(PC_PATCHFD *fd, PetscReal g[], PetscReal x[])
{
  PetscFunctionBegin;
  PetscCall(HopsProlongTransposeBegin(fd->prolong, g, x));
  PetscCall(HopsProlongTransposeEnd(fd->prolong, g, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- arrays and vectors ------------------------------------- */

PetscErrorCode PCPATCHFDCreateVec(HopsSpace sp, const PetscReal a[], Vec *v)
{
  PetscFunctionBegin;
  if (HOPS_PARTS == 1) PetscCall(HopsSpaceCreateVecWithArray(sp, a, v));
  else PetscCall(HopsSpaceCreateVec(sp, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPATCHFDTell(HopsSpace sp, const PetscReal a[], Vec v)
{
  PetscReal *b;

  PetscFunctionBegin;
  if (HOPS_PARTS == 1) {
    PetscCall(PetscObjectStateIncrease((PetscObject)v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecSet(v, 0.0));
  PetscCall(HopsVecGetPart(sp, v, 0, HOPS_VEC_WRITE, &b));
  PetscCall(PetscArraycpy(b, a, sp->nT));
  PetscCall(HopsVecRestorePart(sp, v, 0, HOPS_VEC_WRITE, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPATCHFDTake(HopsSpace sp, Vec v, PetscReal a[])
{
  const PetscReal *b;

  PetscFunctionBegin;
  if (HOPS_PARTS == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsVecGetPartRead(sp, v, 0, &b));
  PetscCall(PetscArraycpy(a, b, sp->nT));
  PetscCall(HopsVecRestorePartRead(sp, v, 0, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ one color ----------------------------------------- */

/* r = b - A z; the norm of it, if wanted, counts owned entries */
PetscErrorCode PCPATCHFDResidual(PC_PATCHFD *fd, const PetscReal b[], PetscReal *norm)
{
  HopsPatches      pt = fd->patches;
  const PetscReal *t;

  PetscFunctionBegin;
  PetscCall(PCPATCHFDTell(pt->space, fd->z, fd->x));
  PetscCall(MatMult(fd->A, fd->x, fd->t));
  PetscCall(HopsVecGetPartRead(pt->space, fd->t, 0, &t));
  if (b) PetscCall((*pt->space->backend->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, b, -1.0, t, fd->r));
  else PetscCall((*pt->space->backend->vector->Combine)(PETSC_DOUBLE, pt->nT, -1.0, t, 0.0, NULL, fd->r));
  PetscCall(HopsVecRestorePartRead(pt->space, fd->t, 0, &t));
  if (norm) {
    PetscCall(PCPATCHFDTell(pt->space, fd->r, fd->rv));
    PetscCall(VecNorm(fd->rv, NORM_2, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a product's parts sweeps take the real one: is the operator real? */
PetscErrorCode PCPATCHFDCheckReal(PC pc, PC_PATCHFD *fd)
{
  Vec       x, y;
  PetscReal all, imaginary;

  PetscFunctionBegin;
  if (HOPS_PARTS == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(fd->A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecRealPart(x));
  PetscCall(MatMult(fd->A, x, y));
  PetscCall(VecNorm(y, NORM_2, &all));
  PetscCall(VecImaginaryPart(y));
  PetscCall(VecNorm(y, NORM_2, &imaginary));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCheck(imaginary <= 1e-12 * all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Multiplicative patches need a real operator, and its imaginary part is %g of the whole: give a real matrix as the "
             "second one of KSPSetOperators(), or use -pc_patchfd_type additive",
             (double)(imaginary / all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process there are no ghosts, and a back end may neither read nor write what is not there: then the
   caller's arrays can be P-vectors */
static PetscErrorCode IsAlone(PC pc, const PC_PATCHFD *fd, PetscBool *alone)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *alone = HOPS_PARTS == 1 && size == 1 && !fd->patches->space->backend->spare && !fd->patches->nG ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += corrections of a color (or all, negative) for the residual in r's owned entries; ghosts of r come in,
   those of z go out */
PetscErrorCode PCPATCHFDSolve(PC pc, PC_PATCHFD *fd, PetscInt color, HopsPatchMode mode)
{
  HopsPatches           pt = fd->patches;
  const HopsBackendOps *be = pt->space->backend;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.patchsolve, pc, 0, 0, 0));
  PetscCall(PCPATCHFDBroadcast(fd, fd->r));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nG + 1, fd->z + pt->nT));
  PetscCall((*fd->kernel->ops->Apply)(fd->kernel, PETSC_DOUBLE, color, mode, fd->r, fd->z));
  PetscCall(PCPATCHFDReduce(fd, fd->z + pt->nT, fd->z));
  PetscCall(PetscLogEventEnd(HopsEvent.patchsolve, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z of a fused sweep of a color; b holds the right-hand side with its ghosts */
PetscErrorCode PCPATCHFDSweepFused(PC pc, PC_PATCHFD *fd, PetscInt color)
{
  HopsPatches           pt = fd->patches;
  const HopsBackendOps *be = pt->space->backend;
  PetscReal            *zg = fd->z + pt->nT;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.patchsolve, pc, 0, 0, 0));
  PetscCall(PCPATCHFDBroadcast(fd, fd->z));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nG, 1.0, zg, 0.0, NULL, fd->g));
  PetscCall((*fd->kernel->ops->Sweep)(fd->kernel, PETSC_DOUBLE, color, fd->b, fd->z));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nG, 1.0, zg, -1.0, fd->g,
                                   fd->g)); /* what this rank's patches added to others' unknowns */
  PetscCall(PCPATCHFDReduce(fd, fd->g, fd->z));
  PetscCall(PetscLogEventEnd(HopsEvent.patchsolve, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------ all patches and colors ---------------------------------- */

/* Rows of essential unknowns are those of the identity */
static PetscErrorCode SetEssential(HopsSpace sp, const PetscReal b[], PetscReal z[])
{
  PetscFunctionBegin;
  if (sp->ness) PetscCall((*sp->backend->vector->SetEntries)(sp->ness, sp->bessT, b, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDApplyAdditive(PC pc, PC_PATCHFD *fd, PetscBool transpose, PetscInt part, Vec x, Vec y)
{
  HopsPatches           pt        = fd->patches;
  const HopsBackendOps *be        = pt->space->backend;
  const PetscBool       restrict_ = fd->type == PC_PATCHFD_RESTRICTED ? PETSC_TRUE : PETSC_FALSE;
  const HopsPatchMode   mode      = !restrict_ ? HOPS_PATCH_PLAIN : (transpose ? HOPS_PATCH_RESTRICT_IN : HOPS_PATCH_RESTRICT_OUT);
  const PetscReal      *in        = fd->w && mode != HOPS_PATCH_RESTRICT_OUT ? fd->w : NULL,
                  *out            = fd->w && mode != HOPS_PATCH_RESTRICT_IN ? fd->w : NULL;
  const PetscReal *xa;
  PetscReal       *ya;
  PetscBool        alone;

  PetscFunctionBegin;
  PetscCall(IsAlone(pc, fd, &alone));
  PetscCall(HopsVecGetPartRead(pt->space, x, part, &xa));
  PetscCall(HopsVecGetPart(pt->space, y, part, HOPS_VEC_WRITE, &ya));
  if (alone && !in && !out) {
    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nT, ya));
    PetscCall(PetscLogEventBegin(HopsEvent.patchsolve, pc, 0, 0, 0));
    PetscCall((*fd->kernel->ops->Apply)(fd->kernel, PETSC_DOUBLE, -1, mode, xa, ya));
    PetscCall(PetscLogEventEnd(HopsEvent.patchsolve, pc, 0, 0, 0));
  } else {
    if (in) PetscCall((*be->vector->Times)(PETSC_DOUBLE, pt->nT, in, xa, fd->r));
    else PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, xa, 0.0, NULL, fd->r));
    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nT, fd->z));
    PetscCall(PCPATCHFDSolve(pc, fd, -1, mode));
    if (out) PetscCall((*be->vector->Times)(PETSC_DOUBLE, pt->nT, out, fd->z, ya));
    else PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, fd->z, 0.0, NULL, ya));
  }
  PetscCall(SetEssential(pt->space, xa, ya));
  PetscCall(HopsVecRestorePart(pt->space, y, part, HOPS_VEC_WRITE, &ya));
  PetscCall(HopsVecRestorePartRead(pt->space, x, part, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDSweep(PC, PC_PATCHFD *, PCPATCHFDDirection, PetscBool, const PetscReal[], PetscReal *);

/* In single precision a fused sweep works on the correction, for a residual in double precision: on the
   iterate it would limit its accuracy */
static PetscErrorCode PCPATCHFDSweepCorrection(PC pc, PC_PATCHFD *fd, PCPATCHFDDirection direction, const PetscReal b[],
                                               PetscReal *norm)
{
  const HopsBackendOps *be = fd->patches->space->backend;
  const PetscInt        n  = fd->patches->nT;
  PetscReal            *z = fd->c, *r = fd->c + n;

  PetscFunctionBegin;
  PetscCall(PCPATCHFDResidual(fd, b, norm));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, n, 1.0, fd->r, 0.0, NULL, r));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, n, 1.0, fd->z, 0.0, NULL, z));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, fd->patches->nP, fd->z));
  PetscCall(PCPATCHFDSweep(pc, fd, direction, PETSC_TRUE, r, NULL));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, n, 1.0, z, 1.0, fd->z, fd->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A sweep on the iterate in z. The residual of a color is that of the operator, so that it is exact whatever
  stands for the patches' matrices; where all of them are the operator's own, it comes from them, patch by
  patch. zero: z is zero, else norm, where it is not NULL, is that of the residual before the sweep.
*/
static PetscErrorCode PCPATCHFDSweep(PC pc, PC_PATCHFD *fd, PCPATCHFDDirection direction, PetscBool zero, const PetscReal b[],
                                     PetscReal *norm)
{
  HopsPatches           pt = fd->patches;
  const HopsBackendOps *be = pt->space->backend;
  const PetscInt        n = pt->ncolors, steps = direction == PC_PATCHFD_SYMMETRIC ? 2 * n - 1 : n;
  const PetscBool       fuse = fd->b ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (fuse && !zero && fd->single && !fd->fellback) {
    PetscCall(PCPATCHFDSweepCorrection(pc, fd, direction, b, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (fuse) {
    PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, b, 0.0, NULL, fd->b));
    PetscCall(PCPATCHFDBroadcast(fd, fd->b));
  }
  if (!norm || zero) PetscCall(SetEssential(pt->space, b, fd->z));
  for (PetscInt s = 0; s < steps; ++s) {
    const PetscInt color = direction == PC_PATCHFD_BACKWARD ? n - 1 - s : (s < n ? s : 2 * n - 2 - s);

    if (fuse && pt->fused[color] && (s || (!zero && !norm))) {
      PetscCall(PCPATCHFDSweepFused(pc, fd, color));
      continue;
    }
    if (zero && !s) PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, b, 0.0, NULL, fd->r));
    else PetscCall(PCPATCHFDResidual(fd, b, s ? NULL : norm));
    if (!s) PetscCall(SetEssential(pt->space, b, fd->z));
    PetscCall(PCPATCHFDSolve(pc, fd, color, HOPS_PATCH_PLAIN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Where all colors are fused, sweeps work on the caller's vectors, if these can be P-vectors. In single
  precision a sweep on an iterate takes the way of PCPATCHFDSweepCorrection().
*/
static PetscErrorCode PCPATCHFDSweepInPlace(PC pc, PC_PATCHFD *fd, PCPATCHFDDirection direction, PetscBool zero, PetscInt its,
                                            Vec b, Vec y, PetscBool *done)
{
  HopsPatches           pt = fd->patches;
  const HopsBackendOps *be = pt->space->backend;
  const PetscInt        n = pt->ncolors, steps = direction == PC_PATCHFD_SYMMETRIC ? 2 * n - 1 : n;
  const PetscReal      *ba;
  PetscReal            *ya;
  PetscBool             alone;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(IsAlone(pc, fd, &alone));
  if (!alone || !fd->b || pt->space->ness || (fd->single && !fd->fellback && (!zero || its > 1)))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; c < n; ++c)
    if (!pt->fused[c]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsVecGetArrayRead(fd->patches->space, b, &ba));
  PetscCall(HopsVecGetArray(pt->space, y, HOPS_VEC_READ_WRITE, &ya));
  if (zero) PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nT, ya));
  PetscCall(PetscLogEventBegin(HopsEvent.patchsolve, pc, 0, 0, 0));
  for (PetscInt i = 0; i < its; ++i)
    for (PetscInt s = 0; s < steps; ++s)
      PetscCall((*fd->kernel->ops->Sweep)(fd->kernel, PETSC_DOUBLE,
                                          direction == PC_PATCHFD_BACKWARD ? n - 1 - s : (s < n ? s : 2 * n - 2 - s), ba, ya));
  PetscCall(PetscLogEventEnd(HopsEvent.patchsolve, pc, 0, 0, 0));
  PetscCall(HopsVecRestoreArray(pt->space, y, HOPS_VEC_READ_WRITE, &ya));
  PetscCall(HopsVecRestoreArrayRead(fd->patches->space, b, &ba));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDApplyMultiplicative(PC pc, PC_PATCHFD *fd, PCPATCHFDDirection direction, PetscInt part, Vec x, Vec y)
{
  HopsPatches           pt = fd->patches;
  const HopsBackendOps *be = pt->space->backend;
  const PetscReal      *xa;
  PetscReal            *ya;
  PetscBool             done;

  PetscFunctionBegin;
  PetscCall(PCPATCHFDSweepInPlace(pc, fd, direction, PETSC_TRUE, 1, x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nP, fd->z));
  PetscCall(HopsVecGetPartRead(pt->space, x, part, &xa));
  PetscCall(PCPATCHFDSweep(pc, fd, direction, PETSC_TRUE, xa, NULL));
  PetscCall(HopsVecRestorePartRead(pt->space, x, part, &xa));
  PetscCall(HopsVecGetPart(pt->space, y, part, HOPS_VEC_WRITE, &ya));
  PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, fd->z, 0.0, NULL, ya));
  PetscCall(HopsVecRestorePart(pt->space, y, part, HOPS_VEC_WRITE, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- operations ----------------------------------------- */

PetscErrorCode PCApply_PATCHFD(PC pc, Vec x, Vec y)
{
  PC_PATCHFD *fd = (PC_PATCHFD *)pc->data;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    if (fd->type == PC_PATCHFD_MULTIPLICATIVE) PetscCall(PCPATCHFDApplyMultiplicative(pc, fd, fd->direction, k, x, y));
    else PetscCall(PCPATCHFDApplyAdditive(pc, fd, PETSC_FALSE, k, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operator and local solves are symmetric */
PetscErrorCode PCApplyTranspose_PATCHFD(PC pc, Vec x, Vec y)
{
  static const PCPATCHFDDirection reversed[] = {PC_PATCHFD_SYMMETRIC, PC_PATCHFD_BACKWARD, PC_PATCHFD_FORWARD};
  PC_PATCHFD                     *fd         = (PC_PATCHFD *)pc->data;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    if (fd->type == PC_PATCHFD_MULTIPLICATIVE) PetscCall(PCPATCHFDApplyMultiplicative(pc, fd, reversed[fd->direction], k, x, y));
    else PetscCall(PCPATCHFDApplyAdditive(pc, fd, PETSC_TRUE, k, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Sweeps on the iterate itself. More than a handful of them are taken for a solver's, not a smoother's: then
  the norm of the residual, which each sweep has at its beginning, is tested.
*/
PetscErrorCode PCApplyRichardson_PATCHFD(PC pc, Vec b, Vec y, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                         PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PC_PATCHFD           *fd   = (PC_PATCHFD *)pc->data;
  HopsPatches           pt   = fd->patches;
  const HopsBackendOps *be   = pt->space->backend;
  const PetscBool       test = its > 8 ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal      *ba;
  PetscReal            *ya;
  PetscReal             norm = 0.0, bnorm = 0.0;
  PetscInt              i;

  PetscFunctionBegin;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  if (test) PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (fd->type != PC_PATCHFD_MULTIPLICATIVE) {
    if (!fd->x) PetscCall(VecDuplicate(b, &fd->x));
    for (i = 0; i < its; ++i) {
      if (guesszero && !i) PetscCall(PCPATCHFDApplyAdditive(pc, fd, PETSC_FALSE, 0, b, y));
      else {
        PetscCall(MatMult(fd->A, y, w));
        PetscCall(VecAYPX(w, -1.0, b));
        if (test) PetscCall(VecNorm(w, NORM_2, &norm));
        if (test && (norm <= rtol * bnorm || norm <= abstol || norm > dtol * bnorm)) break;
        PetscCall(PCPATCHFDApplyAdditive(pc, fd, PETSC_FALSE, 0, w, fd->x));
        PetscCall(VecAXPY(y, 1.0, fd->x));
      }
    }
  } else {
    PetscBool done = PETSC_FALSE;

    if (!test) PetscCall(PCPATCHFDSweepInPlace(pc, fd, fd->direction, guesszero, its, b, y, &done));
    if (done) {
      *outits = its;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nP, fd->z));
    if (!guesszero) {
      PetscCall(HopsVecGetArrayRead(fd->patches->space, y, &ba));
      PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, ba, 0.0, NULL, fd->z));
      PetscCall(HopsVecRestoreArrayRead(fd->patches->space, y, &ba));
    }
    PetscCall(HopsVecGetArrayRead(fd->patches->space, b, &ba));
    for (i = 0; i < its; ++i) {
      PetscCall(PCPATCHFDSweep(pc, fd, fd->direction, guesszero && !i ? PETSC_TRUE : PETSC_FALSE, ba, test ? &norm : NULL));
      if (test && i && (norm <= rtol * bnorm || norm <= abstol || norm > dtol * bnorm)) break;
    }
    PetscCall(HopsVecRestoreArrayRead(fd->patches->space, b, &ba));
    PetscCall(HopsVecGetArray(fd->patches->space, y, HOPS_VEC_WRITE, &ya));
    PetscCall((*be->vector->Combine)(PETSC_DOUBLE, pt->nT, 1.0, fd->z, 0.0, NULL, ya));
    PetscCall(HopsVecRestoreArray(fd->patches->space, y, HOPS_VEC_WRITE, &ya));
  }
  if (i < its)
    *reason = norm > dtol * bnorm ? PCRICHARDSON_DIVERGED_DTOL
                                  : (norm <= abstol ? PCRICHARDSON_CONVERGED_ATOL : PCRICHARDSON_CONVERGED_RTOL);
  *outits = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}
