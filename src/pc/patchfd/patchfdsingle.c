/* PCPATCHFD on vectors in single precision: what a multigrid cycle in single precision smooths with. */
#include <hops/private/hopspatchfdimpl.h>
#include <petsc/private/pcimpl.h>

struct _HopsPatchSingle {
  PC             pc;
  HopsSpace      space; /* of the patches, which may be gone at the end */
  PC_PATCHFD    *fd;
  HopsSingleMult mult;
  void          *ctx;
  HopsProlong    prolong;
  float         *b, *r, *z, *g, *w, *t; /* [nP] right-hand side, residual, correction; [nG]; [nT] weights or NULL; [nT] A z */
  float         *ess;                   /* [ness] */
  Vec            vr, vz;                /* in their place: local solves in double precision */
};

PetscErrorCode HopsPatchSingleCreate(PC pc, HopsSingleMult mult, void *ctx, HopsPatchSingle *single)
{
  HopsPatchSingle       s;
  HopsPatches           pt;
  const HopsBackendOps *be;
  PetscInt              n[7];
  float               **a[7];

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *single = s;
  PetscCall(PetscObjectReference((PetscObject)pc));
  s->pc = pc;
  PetscCall(PCPATCHFDGetData(pc, &s->fd));
  PetscCheck(s->fd && s->fd->patches, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The smoother has not been set up");
  s->mult = mult;
  s->ctx  = ctx;
  pt      = s->fd->patches;
  be      = pt->space->backend;
  PetscCall(HopsSpaceReference(pt->space));
  s->space = pt->space;
  if (!s->fd->single || s->fd->fellback) {
    PetscCall(HopsSpaceCreateVec(pt->space, &s->vr));
    PetscCall(VecDuplicate(s->vr, &s->vz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  n[0] = n[1] = n[2] = pt->nP;
  n[3]               = pt->nG;
  n[4]               = s->fd->w ? pt->nT : 0;
  n[5]               = s->fd->type == PC_PATCHFD_MULTIPLICATIVE ? pt->nT : 0;
  n[6]               = pt->space->ness;
  a[0]               = &s->b;
  a[1]               = &s->r;
  a[2]               = &s->z;
  a[3]               = &s->g;
  a[4]               = &s->w;
  a[5]               = &s->t;
  a[6]               = &s->ess;
  for (PetscInt i = 0; i < 7; ++i) {
    if (!n[i]) continue;
    PetscCall((*be->memory->Malloc)(n[i] * sizeof(float), (void **)a[i]));
    PetscCall((*be->vector->Zero)(PETSC_FLOAT, n[i], *a[i]));
  }
  if (s->w) PetscCall((*be->vector->Convert)(PETSC_FLOAT, pt->nT, 1.0, s->fd->w, s->w));
  PetscCall(HopsPatchesCreateProlong(pt, PETSC_FLOAT, &s->prolong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is B symmetric? */
PetscErrorCode HopsPatchSingleIsSymmetric(HopsPatchSingle s, PetscBool *symmetric)
{
  const PC_PATCHFD *fd = s->fd;

  PetscFunctionBegin;
  *symmetric = fd->type == PC_PATCHFD_ADDITIVE || (fd->type == PC_PATCHFD_MULTIPLICATIVE && fd->direction == PC_PATCHFD_SYMMETRIC)
                 ? PETSC_TRUE
                 : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Broadcast(HopsPatchSingle s, float x[])
{
  const PetscInt nT = s->fd->patches->nT;

  PetscFunctionBegin;
  PetscCall(HopsProlongBegin(s->prolong, x, x + nT));
  PetscCall(HopsProlongEnd(s->prolong, x, x + nT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reduce(HopsPatchSingle s, float g[], float x[])
{
  PetscFunctionBegin;
  PetscCall(HopsProlongTransposeBegin(s->prolong, g, x));
  PetscCall(HopsProlongTransposeEnd(s->prolong, g, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += corrections for the residual in r's owned entries */
static PetscErrorCode Solve(HopsPatchSingle s, PetscInt color, HopsPatchMode mode)
{
  HopsPatches           pt = s->fd->patches;
  const HopsBackendOps *be = pt->space->backend;

  PetscFunctionBegin;
  PetscCall(Broadcast(s, s->r));
  PetscCall((*be->vector->Zero)(PETSC_FLOAT, pt->nG + 1, s->z + pt->nT));
  PetscCall((*s->fd->kernel->ops->Apply)(s->fd->kernel, PETSC_FLOAT, color, mode, s->r, s->z));
  PetscCall(Reduce(s, s->z + pt->nT, s->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepFused(HopsPatchSingle s, PetscInt color)
{
  HopsPatches           pt = s->fd->patches;
  const HopsBackendOps *be = pt->space->backend;
  float                *zg = s->z + pt->nT;

  PetscFunctionBegin;
  PetscCall(Broadcast(s, s->z));
  PetscCall((*be->vector->Combine)(PETSC_FLOAT, pt->nG, 1.0f, zg, 0.0f, NULL, s->g));
  PetscCall((*s->fd->kernel->ops->Sweep)(s->fd->kernel, PETSC_FLOAT, color, s->b, s->z));
  PetscCall((*be->vector->Combine)(PETSC_FLOAT, pt->nG, 1.0f, zg, -1.0f, s->g, s->g));
  PetscCall(Reduce(s, s->g, s->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep from zero, as PCPATCHFDSweep() has it */
static PetscErrorCode Multiplicative(HopsPatchSingle s, const float r[])
{
  HopsPatches          pt        = s->fd->patches;
  const HopsVectorOps *vec       = pt->space->backend->vector;
  PCPATCHFDDirection   direction = s->fd->direction;
  const PetscInt       n = pt->ncolors, steps = direction == PC_PATCHFD_SYMMETRIC ? 2 * n - 1 : n;
  const PetscBool      fuse = s->fd->b ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (fuse) {
    PetscCall((*vec->Combine)(PETSC_FLOAT, pt->nT, 1.0f, r, 0.0f, NULL, s->b));
    PetscCall(Broadcast(s, s->b));
  }
  for (PetscInt k = 0; k < steps; ++k) {
    const PetscInt color = direction == PC_PATCHFD_BACKWARD ? n - 1 - k : (k < n ? k : 2 * n - 2 - k);

    if (fuse && pt->fused[color] && k) {
      PetscCall(SweepFused(s, color));
      continue;
    }
    if (!k) PetscCall((*vec->Combine)(PETSC_FLOAT, pt->nT, 1.0f, r, 0.0f, NULL, s->r));
    else {
      PetscCall((*s->mult)(s->ctx, s->z, s->t));
      PetscCall((*vec->Combine)(PETSC_FLOAT, pt->nT, 1.0f, r, -1.0f, s->t, s->r));
    }
    PetscCall(Solve(s, color, HOPS_PATCH_PLAIN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local solves in double precision, where single precision would not do or was not wanted */
static PetscErrorCode ApplyDouble(HopsPatchSingle s, const float r[], float z[])
{
  HopsSpace            sp  = s->fd->patches->space;
  const HopsVectorOps *vec = sp->backend->vector;
  PetscReal           *a;
  const PetscReal     *c;

  PetscFunctionBegin;
  PetscCall(HopsVecGetArray(sp, s->vr, HOPS_VEC_WRITE, &a));
  PetscCall((*vec->Convert)(PETSC_DOUBLE, sp->nT, 1.0, r, a));
  PetscCall(HopsVecRestoreArray(sp, s->vr, HOPS_VEC_WRITE, &a));
  PetscCall(PCApply(s->pc, s->vr, s->vz));
  PetscCall(HopsVecGetArrayRead(sp, s->vz, &c));
  PetscCall((*vec->Convert)(PETSC_FLOAT, sp->nT, 1.0, c, z));
  PetscCall(HopsVecRestoreArrayRead(sp, s->vz, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchSingleApply(HopsPatchSingle s, const float r[], float z[])
{
  HopsPatches          pt  = s->fd->patches;
  const HopsVectorOps *vec = pt->space->backend->vector;

  PetscFunctionBegin;
  if (s->vr) {
    PetscCall(ApplyDouble(s, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(HopsEvent.patchsolve, s->pc, 0, 0, 0));
  PetscCall((*vec->Zero)(PETSC_FLOAT, pt->nP, s->z));
  if (s->fd->type == PC_PATCHFD_MULTIPLICATIVE) PetscCall(Multiplicative(s, r));
  else {
    const PetscBool restrict_ = s->fd->type == PC_PATCHFD_RESTRICTED ? PETSC_TRUE : PETSC_FALSE;

    if (s->w && !restrict_) PetscCall((*vec->Times)(PETSC_FLOAT, pt->nT, s->w, r, s->r));
    else PetscCall((*vec->Combine)(PETSC_FLOAT, pt->nT, 1.0f, r, 0.0f, NULL, s->r));
    PetscCall(Solve(s, -1, restrict_ ? HOPS_PATCH_RESTRICT_OUT : HOPS_PATCH_PLAIN));
  }
  if (s->w) PetscCall((*vec->Times)(PETSC_FLOAT, pt->nT, s->w, s->z, z));
  else PetscCall((*vec->Combine)(PETSC_FLOAT, pt->nT, 1.0f, s->z, 0.0f, NULL, z));
  PetscCall(HopsSpaceAddEssential(pt->space, PETSC_FLOAT, r, s->ess, z)); /* rows of the identity, which no patch has */
  PetscCall(PetscLogEventEnd(HopsEvent.patchsolve, s->pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchSingleDestroy(HopsPatchSingle *single)
{
  HopsPatchSingle s = *single;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  {
    float **a[7] = {&s->b, &s->r, &s->z, &s->g, &s->w, &s->t, &s->ess};

    for (PetscInt i = 0; i < 7; ++i)
      if (*a[i]) PetscCall((*s->space->backend->memory->Free)((void **)a[i]));
  }
  PetscCall(HopsProlongDestroy(&s->prolong));
  PetscCall(VecDestroy(&s->vr));
  PetscCall(VecDestroy(&s->vz));
  PetscCall(HopsSpaceDestroy(&s->space));
  PetscCall(PCDestroy(&s->pc));
  PetscCall(PetscFree(*single));
  PetscFunctionReturn(PETSC_SUCCESS);
}
