/* PCPATCHFD: set-up of the patches and of what applies them, options, view, life cycle. */
#include <hops/private/hopspatchfdimpl.h>
#include <hops/private/hopsptapimpl.h>
#include <petsc/private/pcimpl.h>

static const char *const PCPATCHFDTypes[]      = {"multiplicative", "additive", "restricted", "PCPATCHFDType", "PC_PATCHFD_", NULL};
static const char *const PCPATCHFDPatches[]    = {"vertex", "element", "PCPATCHFDPatch", "PC_PATCHFD_", NULL};
static const char *const PCPATCHFDDirections[] = {"symmetric", "forward", "backward", "PCPATCHFDDirection", "PC_PATCHFD_", NULL};

/* ------------------------------------------- set-up ------------------------------------------- */

static PetscErrorCode PCPATCHFDFree(PC_PATCHFD *fd)
{
  PetscFunctionBegin;
  if (fd->patches) {
    const HopsBackendOps *be        = fd->patches->space->backend;
    PetscReal           **arrays[6] = {&fd->r, &fd->z, &fd->w, &fd->b, &fd->g, &fd->c};

    if (fd->kernel) PetscCall((*fd->kernel->ops->Destroy)(&fd->kernel));
    for (PetscInt i = 0; i < 6; ++i)
      if (*arrays[i]) PetscCall((*be->memory->Free)((void **)arrays[i]));
  }
  PetscCall(VecDestroy(&fd->t));
  PetscCall(VecDestroy(&fd->x));
  PetscCall(VecDestroy(&fd->rv));
  PetscCall(HopsProlongDestroy(&fd->prolong));
  PetscCall(HopsPatchesDestroy(&fd->patches));
  if (fd->basis.P) PetscCall(HopsBasisDestroy(&fd->basis));
  fd->basis.P = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array of zeros where the back end works */
static PetscErrorCode PCPATCHFDCalloc(PC_PATCHFD *fd, PetscInt n, PetscReal **a)
{
  const HopsBackendOps *be = fd->patches->space->backend;

  PetscFunctionBegin;
  PetscCall((*be->memory->Malloc)(n * sizeof(PetscReal), (void **)a));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, n, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator's own quadrature, where it is known: patches then have exactly the operator's matrix where
   they can */
static PetscErrorCode PCPATCHFDSetUpBasis(PC pc, PC_PATCHFD *fd)
{
  HopsSpace  sp            = fd->src.form->space;
  HopsBasis *rule          = sp->rule[0].P ? &sp->rule[0] : NULL;
  Mat        candidates[2] = {pc->pmat, pc->mat};

  PetscFunctionBegin;
  fd->A = pc->pmat;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscBool same;
    Mat_PA   *pa;

    PetscCall(PetscObjectTypeCompare((PetscObject)candidates[i], MATPA, &same));
    if (!same) continue;
    PetscCall(MatPAGetData(candidates[i], &pa));
    if (pa->form->space != sp) continue;
    PetscCall(MatPASetUp_Private(candidates[i], pa));
    rule  = &pa->basis;
    fd->A = candidates[i];
    break;
  }
  /* its residuals are those of fd->A, and Richardson's method is to solve with pc->mat; those of a part of
     complex vectors are KSPRICHARDSON's */
  pc->ops->applyrichardson = fd->A == pc->mat && HOPS_PARTS == 1 ? PCApplyRichardson_PATCHFD : NULL;
  if (rule) PetscCall(HopsBasisCreateLike(sp->order + 1, rule, &fd->basis));
  else PetscCall(HopsBasisCreate(sp->order + 1, sp->order + 2, PETSC_FALSE, &fd->basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Would local solves in single precision be of use? Their error is about the unit roundoff times the condition
  of the patch; entries must stay far from overflow.
*/
static PetscErrorCode PCPATCHFDCheckSingle(PC pc, PC_PATCHFD *fd, PetscBool *single)
{
  HopsPatches pt    = fd->patches;
  const int   dim   = (int)pt->space->dim;
  PetscReal   worst = 0.0, big = 0.0;
  PetscReal(*ends)[2]; /* least and greatest eigenvalue of each factor */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pt->nfactors, &ends));
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    const HopsPatchFactor *f = pt->factors + i;
    const PetscReal       *l = pt->values + f->offset + f->n * f->n;

    ends[i][0] = ends[i][1] = l[0];
    for (PetscInt k = 1; k < f->n; ++k) {
      ends[i][0] = PetscMin(ends[i][0], l[k]);
      ends[i][1] = PetscMax(ends[i][1], l[k]);
    }
  }
  for (PetscInt k = 0; k < pt->n; ++k) {
    const PetscReal *s  = pt->scale[k];
    PetscReal        lo = s[3], hi = s[3];

    if (pt->solver[k] >= HOPS_PATCH_DENSE) continue; /* dense and condensed ones are in double precision all the same */
    for (int a = 0; a < dim; ++a) {
      lo += s[a] * ends[pt->factor[k][a]][0];
      hi += s[a] * ends[pt->factor[k][a]][1];
    }
    worst = PetscMax(worst, hi / lo);
    big   = PetscMax(big, PetscMax(PetscMax(hi, 1.0 / lo), PetscMax(s[4], 1.0 / s[4])));
  }
  PetscCall(PetscFree(ends));
  *single = worst < 1e5 && big < 1e15 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, single, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  if (!*single)
    PetscCall(PetscInfo(pc, "Local solves in double precision: the condition number of a patch is %g, the largest factor %g\n",
                        (double)worst, (double)big));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDScale(PC_PATCHFD *fd)
{
  HopsPatches pt = fd->patches;

  PetscFunctionBegin;
  if (fd->omega == 1.0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < pt->n; ++k) pt->scale[k][4] *= fd->omega;
  PetscCall((*pt->space->backend->vector->Combine)(PETSC_DOUBLE, pt->ninv, fd->omega, pt->inv, 0.0, NULL, pt->inv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measured: with weights, the counts of vertex patches grow with the order; without, those of element patches
   grow faster */
static PetscBool PCPATCHFDWeighted(const PC_PATCHFD *fd)
{
  return fd->weightset ? fd->weight : (fd->patch == PC_PATCHFD_ELEMENT ? PETSC_TRUE : PETSC_FALSE);
}

/* Additive: the square root of the weights on both sides, so that the preconditioner is symmetric.
   Restricted: a partition of unity */
static PetscErrorCode PCPATCHFDSetUpWeights(PC_PATCHFD *fd)
{
  HopsPatches pt = fd->patches;
  PetscReal  *w;

  PetscFunctionBegin;
  if (fd->type == PC_PATCHFD_MULTIPLICATIVE || (fd->type == PC_PATCHFD_ADDITIVE && !PCPATCHFDWeighted(fd)))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (fd->type == PC_PATCHFD_ADDITIVE) PetscCall(HopsPatchesCount(pt));
  PetscCall(PetscMalloc1(pt->nT, &w));
  for (PetscInt i = 0; i < pt->nT; ++i)
    w[i] =
      fd->type == PC_PATCHFD_ADDITIVE ? 1.0 / PetscSqrtReal((PetscReal)PetscMax(1, pt->mult[i])) : 1.0 / PetscMax(1, pt->nlevel[i]);
  PetscCall(PCPATCHFDCalloc(fd, pt->nT, &fd->w));
  PetscCall((*pt->space->backend->memory->Copy)(NULL, fd->w, w, pt->nT * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPATCHFDCount(PC pc, PC_PATCHFD *fd)
{
  HopsPatches pt                                 = fd->patches;
  PetscInt64  count[2 * HOPS_PATCH_NSOLVERS + 4] = {0}, *other = count + 2 * HOPS_PATCH_NSOLVERS;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < pt->n; ++k) {
    ++count[HOPS_PATCH_NSOLVERS * pt->element[k] + pt->solver[k]];
    if (pt->solver[k] == HOPS_PATCH_DENSE) other[3] = PetscMax(other[3], pt->start[k + 1] - pt->start[k]);
  }
  other[0] = pt->nfactors;
  other[1] = pt->ncond;
  other[2] = (PetscInt64)(pt->nschur * sizeof(PetscReal));
  PetscCall(
    MPIU_Allreduce(MPI_IN_PLACE, count, 2 * HOPS_PATCH_NSOLVERS + 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, other + 3, 1, MPIU_INT64, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  for (PetscInt i = 0; i < 2 * HOPS_PATCH_NSOLVERS; ++i) fd->count[i / HOPS_PATCH_NSOLVERS][i % HOPS_PATCH_NSOLVERS] = count[i];
  fd->factors   = other[0];
  fd->different = other[1];
  fd->schur     = other[2];
  fd->size      = other[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number between -1 and 1 that looks random */
static PetscReal Digits(PetscInt i)
{
  const uint32_t h = (uint32_t)i * 2654435761u;

  return ((h ^ (h >> 15)) & 0xffff) / 32767.5 - 1.0;
}

/* z[] becomes numbers that look random: some of them, and copies of these where the back end works */
static PetscErrorCode PCPATCHFDFillDigits(PC_PATCHFD *fd)
{
  HopsPatches    pt   = fd->patches;
  const PetscInt some = PetscMin(pt->nT, 1 << 16);
  PetscReal     *z;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(some, &z));
  for (PetscInt i = 0; i < some; ++i) z[i] = Digits(pt->space->rstart + i);
  PetscCall((*pt->space->backend->memory->Copy)(NULL, fd->z, z, some * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall(PetscFree(z));
  for (PetscInt n = some, more; n < pt->nT; n += more) {
    more = PetscMin(n, pt->nT - n);
    PetscCall((*pt->space->backend->memory->Copy)(NULL, fd->z + n, fd->z, more * sizeof(PetscReal), HOPS_COPY_WITHIN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Fused sweeps take residuals from the patches' own tensor products, so these must be the operator: one color
  is done both ways, and a difference (a scaled or shifted shell, say) leaves the residual to the operator.
*/
static PetscErrorCode PCPATCHFDSetUpFused(PC pc, PC_PATCHFD *fd, PetscBool single)
{
  HopsPatches           pt    = fd->patches;
  const HopsBackendOps *be    = pt->space->backend;
  PetscInt              color = 0;
  PetscReal             e[2];
  Vec                   x, y;

  PetscFunctionBegin;
  while (color < pt->ncolors && !pt->fused[color]) ++color;
  if (color == pt->ncolors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPATCHFDCalloc(fd, pt->nP, &fd->b));
  PetscCall(PCPATCHFDCalloc(fd, pt->nG, &fd->g));
  if (single) PetscCall(PCPATCHFDCalloc(fd, 2 * pt->nT, &fd->c));
  PetscCall(PCPATCHFDFillDigits(fd));
  PetscCall(VecDuplicate(fd->x, &x));
  PetscCall(VecDuplicate(fd->x, &y));
  PetscCall(PCPATCHFDTell(pt->space, fd->z, fd->x));
  PetscCall(VecCopy(fd->x, x));
  PetscCall(PCPATCHFDResidual(fd, NULL, NULL));
  PetscCall(PCPATCHFDSolve(pc, fd, color, HOPS_PATCH_PLAIN));
  PetscCall(PCPATCHFDTell(pt->space, fd->z, fd->x));
  PetscCall(VecCopy(fd->x, y));
  PetscCall(VecCopy(x, fd->x));
  PetscCall(PCPATCHFDTake(pt->space, fd->x, fd->z));
  PetscCall(PCPATCHFDSweepFused(pc, fd, color));
  PetscCall(PCPATCHFDTell(pt->space, fd->z, fd->x));
  PetscCall(VecNorm(y, NORM_INFINITY, &e[1]));
  PetscCall(VecAXPY(y, -1.0, fd->x));
  PetscCall(VecNorm(y, NORM_INFINITY, &e[0]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  if (!(e[0] <= (single ? 1e-3 : 1e-9) * e[1])) {
    PetscCall(PetscInfo(pc, "No fused sweeps: the operator is not that of its coefficients (relative difference %g)\n",
                        (double)(e[0] / e[1])));
    PetscCall((*be->memory->Free)((void **)&fd->b));
    PetscCall((*be->memory->Free)((void **)&fd->g));
    if (fd->c) PetscCall((*be->memory->Free)((void **)&fd->c));
  }
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, pt->nP, fd->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_PATCHFD(PC pc)
{
  PC_PATCHFD *fd = (PC_PATCHFD *)pc->data;
  HopsSpace   sp;
  PetscBool   single;
  const char *was = HopsMake("the set of patches");

  PetscFunctionBegin;
  PetscCall(PCPATCHFDFree(fd));
  PetscCall(HopsPtAPRefuse(pc->pmat, "PCPATCHFD"));
  PetscCall(PCLORGetForm(pc, &fd->src));
  sp = fd->src.form->space;
  PetscCheck(sp->family == HOPS_H1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCPATCHFD takes spaces in H1, and this one is in %s: use PCLOR", HopsFamilies[sp->family]);
  PetscCheck(sp->backend->PatchCreate, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The back end %s has no patch solvers: use -hops_backend host", sp->backend->name);
  PetscCall(PetscLogEventBegin(HopsEvent.patchsetup, pc, 0, 0, 0));
  PetscCall(PCPATCHFDSetUpBasis(pc, fd));
  PetscCheck(sp->backend->condenses || !fd->condenseset || !fd->condensemax, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_patchfd_condense_max: the back end %s condenses no patches: leave the option away, or use -hops_backend host",
             sp->backend->name);
  fd->opt.condensemax = sp->backend->condenses ? fd->condensemax : 0;
  fd->opt.element     = fd->patch == PC_PATCHFD_ELEMENT ? PETSC_TRUE : PETSC_FALSE;
  fd->opt.colors      = fd->type == PC_PATCHFD_MULTIPLICATIVE ? PETSC_TRUE : PETSC_FALSE;
  fd->opt.levels      = fd->type == PC_PATCHFD_RESTRICTED ? PETSC_TRUE : PETSC_FALSE;
  fd->opt.fuse        = fd->opt.colors && fd->usefuse && fd->src.source == HOPS_SOURCE_MATPA && !fd->src.userdiffusion &&
                     !fd->src.usermass && !sp->hanging
                          ? PETSC_TRUE
                          : PETSC_FALSE;
  PetscCall(HopsPatchesCreate(fd->src.form, &fd->basis, &fd->opt, &fd->patches));
  PetscCall(PCPATCHFDScale(fd));
  single = fd->single;
  if (single) PetscCall(PCPATCHFDCheckSingle(pc, fd, &single));
  fd->fellback = fd->single && !single ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.kernel, pc, 0, 0, 0));
  PetscCall((*sp->backend->PatchCreate)(fd->patches, single ? PETSC_FLOAT : PETSC_DOUBLE, &fd->kernel));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.kernel, pc, 0, 0, 0));
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall(HopsPatchesCreateProlong(fd->patches, PETSC_DOUBLE, &fd->prolong));
  PetscCall(PCPATCHFDCalloc(fd, fd->patches->nP, &fd->r));
  PetscCall(PCPATCHFDCalloc(fd, fd->patches->nP, &fd->z));
  PetscCall(PCPATCHFDSetUpWeights(fd));
  PetscCall(PCPATCHFDCount(pc, fd));
  if (fd->type == PC_PATCHFD_MULTIPLICATIVE) {
    PetscCall(HopsSpaceCreateVec(sp, &fd->t));
    PetscCall(PCPATCHFDCreateVec(sp, fd->z, &fd->x));
    PetscCall(PCPATCHFDCreateVec(sp, fd->r, &fd->rv));
    PetscCall(PCPATCHFDCheckReal(pc, fd));
    PetscCall(PCPATCHFDSetUpFused(pc, fd, single));
  }
  PetscCall(PetscLogEventEnd(HopsEvent.patchsetup, pc, 0, 0, 0));
  (void)HopsMake(was);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------ options and viewing ------------------------------------ */

static PetscErrorCode PCSetFromOptions_PATCHFD(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_PATCHFD       *fd           = (PC_PATCHFD *)pc->data;
  const char *const precisions[] = {"double", "single"};
  PetscEnum         e;
  PetscBool         set, symmetric = fd->direction == PC_PATCHFD_SYMMETRIC ? PETSC_TRUE : PETSC_FALSE;
  PetscInt          precision = fd->single ? 1 : 0;
  PetscReal         omega     = fd->omega;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Patch smoother options");
  PetscCall(PetscOptionsEnum("-pc_patchfd_type", "How corrections are put together", "PCPATCHFDSetType", PCPATCHFDTypes,
                             (PetscEnum)fd->type, &e, &set));
  if (set) PetscCall(PCPATCHFDSetType(pc, (PCPATCHFDType)e));
  PetscCall(
    PetscOptionsEnum("-pc_patchfd_patch", "The patches", "PCPATCHFDSetPatch", PCPATCHFDPatches, (PetscEnum)fd->patch, &e, &set));
  if (set) PetscCall(PCPATCHFDSetPatch(pc, (PCPATCHFDPatch)e));
  PetscCall(PetscOptionsEnum("-pc_patchfd_direction", "Order of the colors", "PCPATCHFDSetDirection", PCPATCHFDDirections,
                             (PetscEnum)fd->direction, &e, &set));
  if (set) PetscCall(PCPATCHFDSetDirection(pc, (PCPATCHFDDirection)e));
  PetscCall(
    PetscOptionsDeprecated("-pc_patchfd_symmetric", NULL, "0.1.0 of hops", "Use -pc_patchfd_direction symmetric or forward"));
  PetscCall(PetscOptionsBool("-pc_patchfd_symmetric", "Deprecated: use -pc_patchfd_direction", "PCPATCHFDSetDirection", symmetric,
                             &symmetric, &set));
  if (set) PetscCall(PCPATCHFDSetDirection(pc, symmetric ? PC_PATCHFD_SYMMETRIC : PC_PATCHFD_FORWARD));
  PetscCall(PetscOptionsReal("-pc_patchfd_omega", "Factor of the local corrections", "PCPATCHFDSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCPATCHFDSetOmega(pc, omega));
  PetscCall(PetscOptionsEList("-pc_patchfd_precision", "Precision of the local solves", "PCPATCHFDSetPrecision", precisions, 2,
                              precisions[precision], &precision, &set));
  if (set) PetscCall(PCPATCHFDSetPrecision(pc, precision ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscOptionsBool("-pc_patchfd_weight", "Additive: weights by the number of patches of an unknown", "PCPATCHFD",
                             PCPATCHFDWeighted(fd), &fd->weight, &set));
  if (set) fd->weightset = PETSC_TRUE;
  PetscCall(PetscOptionsBool("-pc_patchfd_fuse", "Residuals of exact patches from the patches", "PCPATCHFD", fd->usefuse,
                             &fd->usefuse, NULL));
  PetscCall(PetscOptionsInt("-pc_patchfd_dense_max", "Irregular vertices: largest patch whose matrix is inverted", "PCPATCHFD",
                            fd->opt.densemax, &fd->opt.densemax, NULL));
  PetscCall(PetscOptionsInt("-pc_patchfd_dense_cells", "Cells whose matrices are made at a time for patches that are inverted",
                            "PCPATCHFD", fd->opt.densecells, &fd->opt.densecells, NULL));
  PetscCall(PetscOptionsInt("-pc_patchfd_condense_max",
                            "Cells of different factors: largest skeleton whose Schur complement is inverted", "PCPATCHFD",
                            fd->condensemax, &fd->condensemax, &set));
  if (set) fd->condenseset = PETSC_TRUE;
  PetscCheck(fd->opt.densemax >= 0 && fd->condensemax >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_patchfd_dense_max and -pc_patchfd_condense_max must not be negative (0: none), and are %" PetscInt_FMT
             " and %" PetscInt_FMT,
             fd->opt.densemax, fd->condensemax);
  PetscCheck(fd->opt.densecells >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_patchfd_dense_cells must not be negative (0: the default), and is %" PetscInt_FMT, fd->opt.densecells);
  PetscCall(PetscOptionsReal("-pc_patchfd_condense_ratio",
                             "Condition number beyond which tensor products are replaced by condensed patches", "PCPATCHFD",
                             fd->opt.condenseratio, &fd->opt.condenseratio, NULL));
  PetscCall(PetscOptionsReal("-pc_patchfd_dense_ratio", "Condition number beyond which tensor products are replaced by inverses",
                             "PCPATCHFD", fd->opt.denseratio, &fd->opt.denseratio, NULL));
  PetscCall(PetscOptionsReal("-pc_patchfd_damp", "Bound of the spectrum that tensor products are scaled down to", "PCPATCHFD",
                             fd->opt.damp, &fd->opt.damp, NULL));
  PetscCheck(fd->opt.damp > 0.0 && fd->opt.denseratio >= 1.0 && fd->opt.condenseratio >= 1.0, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_patchfd_damp must be positive, -pc_patchfd_dense_ratio and -pc_patchfd_condense_ratio at least 1, not %g, %g and "
             "%g",
             (double)fd->opt.damp, (double)fd->opt.denseratio, (double)fd->opt.condenseratio);
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_PATCHFD(PC pc, PetscViewer viewer)
{
  PC_PATCHFD *fd  = (PC_PATCHFD *)pc->data;
  const char *how = NULL;
  PetscBool   ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsViewVersion(viewer));
  if (fd->type == PC_PATCHFD_MULTIPLICATIVE) how = PCPATCHFDDirections[fd->direction];
  else if (fd->type == PC_PATCHFD_ADDITIVE) how = PCPATCHFDWeighted(fd) ? "weighted" : "no weights";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s%s%s, %s patches, omega %g\n", PCPATCHFDTypes[fd->type], how ? ", " : "",
                                   how ? how : "", PCPATCHFDPatches[fd->patch], (double)fd->omega));
  if (!fd->patches) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "space and form from %s\n", HopsSourceNames[fd->src.source]));
  PetscCall(PCLORViewAttach(&fd->src, viewer));
  PetscCall(HopsSpaceView(fd->src.form->space, viewer));
  for (PetscInt e = 0; e < 2; ++e) {
    const PetscInt64 *c = fd->count[e];

    if (c[0] + c[1] + c[2])
      PetscCall(PetscViewerASCIIPrintf(viewer,
                                       "%s patches: %" PetscInt64_FMT " tensor products, %" PetscInt64_FMT
                                       " of surrogates, %" PetscInt64_FMT " dense\n",
                                       PCPATCHFDPatches[e], c[0], c[1], c[2]));
  }
  if (fd->count[0][HOPS_PATCH_CONDENSED])
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "vertex patches condensed to their skeletons: %" PetscInt64_FMT ", %" PetscInt64_FMT
                                     " inverses of %g MB\n",
                                     fd->count[0][HOPS_PATCH_CONDENSED], fd->different, 1e-6 * (double)fd->schur));
  if (fd->size) PetscCall(PetscViewerASCIIPrintf(viewer, "largest dense patch: %" PetscInt64_FMT " unknowns\n", fd->size));
  if (fd->type == PC_PATCHFD_MULTIPLICATIVE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "colors: %" PetscInt_FMT "%s\n", fd->patches->ncolors, fd->b ? ", fused sweeps" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "1D factors: %" PetscInt64_FMT "; kernel: %s%s\n", fd->factors, fd->kernel->info.name,
                                   fd->fellback ? " (single precision would not converge)" : ""));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode PCReset_PATCHFD(PC pc)
{
  PC_PATCHFD *fd = (PC_PATCHFD *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCPATCHFDFree(fd));
  PetscCall(HopsFormReset(fd->src.form));
  PetscCall(HopsFormSetSpace(fd->src.form, NULL));
  PetscCall(DMDestroy(&fd->src.dm));
  PetscCall(PetscSectionDestroy(&fd->src.section));
  PetscCall(PCLORResetFound(&fd->src));
  fd->src.source = HOPS_SOURCE_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const composed[] = {"PCPATCHFDSetSpace_C", "PCPATCHFDSetCoefficients_C"};

static PetscErrorCode PCDestroy_PATCHFD(PC pc)
{
  PC_PATCHFD *fd = (PC_PATCHFD *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_PATCHFD(pc));
  PetscCall(PCLORDestroyUser(&fd->src));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(composed); ++i)
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, composed[i], NULL));
  PetscCall(HopsFormDestroy(&fd->src.form));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_PATCHFD(PC pc)
{
  PC_PATCHFD *fd;

  PetscFunctionBegin;
  PetscCall(PetscNew(&fd));
  PetscCall(HopsFormCreate(&fd->src.form));
  pc->data                 = fd;
  fd->src.name             = "PCPATCHFD";
  fd->src.scalar           = PETSC_TRUE;
  fd->omega                = 1.0;
  fd->usefuse              = PETSC_TRUE;
  fd->opt.densemax         = 600;
  fd->condensemax          = 1000;
  fd->opt.condenseratio    = 3.0;
  fd->opt.denseratio       = 50.0;
  fd->opt.damp             = 1.7;
  pc->ops->apply           = PCApply_PATCHFD;
  pc->ops->applytranspose  = PCApplyTranspose_PATCHFD;
  pc->ops->applyrichardson = PCApplyRichardson_PATCHFD;
  pc->ops->setup           = PCSetUp_PATCHFD;
  pc->ops->reset           = PCReset_PATCHFD;
  pc->ops->destroy         = PCDestroy_PATCHFD;
  pc->ops->setfromoptions  = PCSetFromOptions_PATCHFD;
  pc->ops->view            = PCView_PATCHFD;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, composed[0], PCLORSetUserSpace));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, composed[1], PCLORSetUserCoefficients));
  PetscFunctionReturn(PETSC_SUCCESS);
}
