/* PCLOR: the low-order-refined matrix inside an inner solver. */
#include <hops/private/hopslorblockimpl.h>
#include <hops/private/hopsdevicematimpl.h>
#include <hops/private/hopsrealhypre.h>
#include <petsc/private/pcimpl.h>

static PetscBool  Cited      = PETSC_FALSE;
static const char Citation[] = "@article{pazner2023lor,\n"
                               "  title   = {End-to-end {GPU} acceleration of low-order-refined preconditioning "
                               "for high-order finite element discretizations},\n"
                               "  author  = {Pazner, Will and Kolev, Tzanio and Camier, Jean-Sylvain},\n"
                               "  journal = {International Journal of High Performance Computing Applications},\n"
                               "  year    = {2023}\n}\n";

static const char *const PCLORScales[] = {"default", "none", "diagonal", "PCLORScale", "PCLOR_SCALE_", NULL};

/* ---------------------------------------- inner solver ---------------------------------------- */

/* Defaults of the inner solver are put into the options database for as long as its options are read, where
   the user set none */
PetscErrorCode PCLORInsertDefault(PC_LOR *lor, const char name[], const char value[], PetscInt *n, char set[][256])
{
  const char *prefix;
  PetscBool   has;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(lor->ksp, &prefix));
  PetscCall(PetscOptionsHasName(NULL, prefix, name, &has));
  if (has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(set[*n], 256, "-%s%s", prefix ? prefix : "", name + 1));
  PetscCall(PetscOptionsSetValue(NULL, set[*n], value));
  ++*n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the matrix one of blocks? Those are the host's; components apart are as good as scalar fields */
PetscBool PCLORIsCoupled(const PC_LOR *lor)
{
  return lor->block && lor->block->couple ? PETSC_TRUE : PETSC_FALSE;
}

/*
  The inner PC where nobody chooses one: L2's matrix is diagonal; hypre built for devices crashes on blocks,
  and does nothing where there is none
*/
static PCType PCLORUsualInner(PC_LOR *lor)
{
  if (lor->form->space->family == HOPS_L2) return PCJACOBI;
#if HOPS_HAVE_HYPRE_DEVICE
  return PCLORIsCoupled(lor) || !HopsCudaPresent() ? PCGAMG : PCHYPRE;
#elif HOPS_HAVE_HYPRE
  return PCHYPRE;
#else
  return PCGAMG;
#endif
}

/* The inner PC that there is, or that its options will make */
static PetscErrorCode PCLORGetInnerType(PC_LOR *lor, char choice[64])
{
  PC          inner;
  PCType      type;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(lor->ksp, &inner));
  PetscCall(PCGetType(inner, &type));
  PetscCall(PetscStrncpy(choice, type ? type : PCLORUsualInner(lor), 64));
  if (type && lor->innerset) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOptionsPrefix(lor->ksp, &prefix));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-pc_type", choice, 64, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One BoomerAMG V-cycle: HMIS coarsening, extended+i interpolation with at most 4 entries a row (at order 2 in
  3D three, unless components couple, which is up to a fourth less set-up for an iteration; at order 1 they
  would cost multigrid, whose coarsest level this is, five iterations), strong threshold 0.25, symmetric l1
  Gauss-Seidel smoothing in the natural order (C/F order costs a quarter more time for the same iterations). A
  singular matrix is not factored on the coarsest level. On a device: PMIS coarsening and l1 Jacobi smoothing,
  and hypre's own sparse products.
*/
PetscErrorCode PCLORSetInnerOptions(PC pc, PC_LOR *lor)
{
  char         set[16][256];
  PetscInt     n = 0;
  PC           inner;
  PCType       type;
  MatNullSpace nsp;

  PetscFunctionBegin;
  if (lor->innerset) PetscFunctionReturn(PETSC_SUCCESS);
  lor->innerset = PETSC_TRUE;
  PetscCall(KSPGetPC(lor->ksp, &inner));
  PetscCall(PCGetType(inner, &type));
#if HOPS_HAVE_HYPRE
  if (!type) {
    PetscBool ishypre, isusual;
    char      choice[64];

    PetscCall(PCLORGetInnerType(lor, choice));
    PetscCall(PetscStrcmp(choice, PCHYPRE, &ishypre));
    PetscCall(PetscStrcmp(choice, PCLORUsualInner(lor), &isusual));
    if (HOPS_HAVE_HYPRE_DEVICE && isusual && !ishypre && lor->form->space->family != HOPS_L2)
      PetscCall(PetscInfo(pc, "GAMG in place of hypre, which is built for devices, and %s\n",
                          PCLORIsCoupled(lor) ? "crashes on blocks" : "there is none here"));
    PetscCall(PCLORInsertDefault(lor, "-pc_type", choice, &n, set));
    if (ishypre && lor->form->space->family != HOPS_H1) PetscCall(PCLORInsertAuxiliaryDefaults(lor, &n, set));
    else if (ishypre) {
      const HopsSpace   sp     = lor->form->space;
      const PetscBool   device = HOPS_HAVE_HYPRE_DEVICE && lor->ondevice ? PETSC_TRUE : PETSC_FALSE;
      const char *const relax  = device ? "l1scaled-Jacobi" : "l1scaled-SOR/Jacobi";
      const char *const pmax   = sp->dim == 3 && sp->order == 2 && !PCLORIsCoupled(lor) ? "3" : "4";

      PetscCall(MatGetNullSpace(lor->mat, &nsp));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_type", "boomeramg", &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_P_max", pmax, &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_strong_threshold", "0.25", &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_coarsen_type", device ? "PMIS" : "HMIS", &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_interp_type", "ext+i", &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_relax_type_all", relax, &n, set));
      PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_no_CF", "1", &n, set));
      if (nsp) PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_relax_type_coarse", relax, &n, set));
      /* the last levels are many launches for little work */
      else if (device) PetscCall(PCLORInsertDefault(lor, "-pc_hypre_boomeramg_max_coarse_size", "100", &n, set));
      if (device) PetscCall(PCLORInsertDefault(lor, "-pc_mg_galerkin_mat_product_algorithm", "hypre", &n, set));
    }
  }
#else
  (void)nsp;
  if (!type) PetscCall(PCLORInsertDefault(lor, "-pc_type", PCLORUsualInner(lor), &n, set));
#endif
  PetscCall(KSPSetFromOptions(lor->ksp));
  if (!type && HOPS_HAVE_HYPRE_DEVICE) PetscCall(PCLORGatherSetOptions(pc, lor));
  for (PetscInt i = 0; i < n; ++i) PetscCall(PetscOptionsClearValue(NULL, set[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- set-up ------------------------------------------- */

/* Null space, near null space and transpose null space go with the matrix */
static PetscErrorCode PCLORCopyNullSpaces(PC pc, Mat to)
{
  MatNullSpace sp, near;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->pmat, &sp));
  if (!sp) PetscCall(MatGetNullSpace(pc->mat, &sp));
  PetscCall(MatSetNullSpace(to, sp));
  PetscCall(MatGetNearNullSpace(pc->pmat, &near));
  if (!near) PetscCall(MatGetNearNullSpace(pc->mat, &near));
  PetscCall(MatSetNearNullSpace(to, near));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &sp));
  PetscCall(MatSetTransposeNullSpace(to, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix's type: on a device, and for vectors of Kokkos, by default one that the inner solver takes as it
   is */
static PetscErrorCode PCLORChooseMatType(PC_LOR *lor, MatType *type)
{
  const HopsSpace sp     = lor->form->space; /* coupled components have spaces of their own */
  const PetscBool kokkos = sp && sp->kokkosvecs ? PETSC_TRUE : PETSC_FALSE;
  char            inner[64];
  PetscBool       hypre;

  PetscFunctionBegin;
  *type = lor->mattype;
  if (lor->mattypeset || PCLORIsCoupled(lor) || (!lor->ondevice && !kokkos)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORGetInnerType(lor, inner));
  PetscCall(PetscStrcmp(inner, PCHYPRE, &hypre));
  if (!hypre) *type = kokkos ? MATAIJKOKKOS : MATAIJCUSPARSE;
  else if (lor->ondevice && HOPS_HAVE_HYPRE_DEVICE) *type = MATHYPRE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inner solver's matrix: the matrix itself, or a conversion, refilled in place where PETSc does that
   right (for aijperm it does not) */
static PetscErrorCode PCLORConvert(PC_LOR *lor, Mat from)
{
  static const char *const refills[] = {MATHYPRE, MATAIJCUSPARSE, MATAIJKOKKOS};
  MatType                  type;
  char                     seq[64], mpi[64];
  PetscBool                same, kokkos, reuse = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCLORChooseMatType(lor, &type));
  PetscCall(PetscStrcmp(type, MATAIJ, &same));
  PetscCall(PetscStrcmp(type, MATAIJKOKKOS, &kokkos));
  PetscCall(PetscSNPrintf(seq, sizeof(seq), "seq%s", type));
  PetscCall(PetscSNPrintf(mpi, sizeof(mpi), "mpi%s", type));
  if (!same) PetscCall(PetscObjectTypeCompareAny((PetscObject)from, &same, type, seq, mpi, ""));
  for (PetscInt i = 0; i < 3 && lor->mat && !reuse && !same; ++i) PetscCall(PetscStrcmp(type, refills[i], &reuse));
  if (!reuse) PetscCall(MatDestroy(&lor->mat));
  if (same) {
    PetscCall(PetscObjectReference((PetscObject)from));
    lor->mat = from;
  } else if (kokkos && reuse) {
    PetscCall(MatCopy(from, lor->mat, SAME_NONZERO_PATTERN));
    PetscCall(HopsLORChangedAIJ(lor->mat));
  } else if (kokkos) { /* MatConvert() would give new types to the blocks of the old matrix (PETSc 3.22 to 3.25) */
    PetscCall(MatDuplicate(from, MAT_COPY_VALUES, &lor->mat));
    PetscCall(MatConvert(lor->mat, type, MAT_INPLACE_MATRIX, &lor->mat));
  } else PetscCall(MatConvert(from, type, reuse ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &lor->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A scalar field: the matrix has the rows of the operator */
static PetscErrorCode PCLORSetUpScalar(PC pc, PC_LOR *lor)
{
  HopsLORVertexData data;
  PetscBool         fits;
  Mat               mat;

  PetscFunctionBegin;
  PetscCheck(lor->form->space->family == HOPS_H1 || !lor->dropset || lor->droptol == 0.0, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP,
             "The low-order-refined matrix of H(curl), H(div) or L2 keeps all its entries: -pc_lor_drop_tol is for H1, remove it");
  PetscCheck(lor->form->space->family == HOPS_H1 || !lor->massless || lor->usermass, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_INCOMP,
             "-pc_lor_diffusion alone leaves a matrix that takes gradients or curls to zero: give -pc_lor_mass too (0 if it is "
             "meant)");
  if (lor->lor.space != lor->form->space || lor->lor.droptol != lor->droptol ||
      lor->lor.constraintentries != PCLORConstraintEntries(lor, lor->form->space)) {
    PetscCall(KSPReset(lor->ksp)); /* the sizes may change */
    PetscCall(HopsLORDestroy(&lor->lor));
    PetscCall(MatDestroy(&lor->mat));
    PetscCall(HopsLORCreate(lor->form->space, lor->form->space->backend, &lor->lor));
    lor->lor.droptol           = lor->droptol;
    lor->lor.constraintentries = lor->lor.kernel->constraintentries = PCLORConstraintEntries(lor, lor->form->space);
  }
  PetscCall(HopsLORSetPoints(&lor->lor, lor->points));
  PetscCall(PetscLogEventBegin(HopsEvent.lorcoef, pc, 0, 0, 0));
  lor->lor.told = lor->userdiffusion ? PETSC_TRUE : PETSC_FALSE;
  lor->lor.part = lor->summand;
  PetscCall(PCLORFillZeroMass(pc, lor));
  PetscCall(HopsLORCheckCouplings(&lor->lor, &lor->form, &data, &fits));
  PetscCall(PetscLogEventEnd(HopsEvent.lorcoef, pc, 0, 0, 0));
  if (!fits) {
    MatType type;

    PetscCall(MatDestroy(&lor->mat));
    PetscCall(PCLORChooseMatType(lor, &type));
    PetscCall(HopsLORSymbolic(&lor->lor, lor->prolongation ? MATAIJ : type));
    PetscCall(PetscInfo(pc, "low-order-refined pattern built: %g nonzeros\n", lor->lor.nnz));
  } else PetscCall(PetscInfo(pc, "low-order-refined pattern reused, values refilled\n"));
  PetscCall(HopsLORNumeric(&lor->lor, &lor->form, &data));
  mat = lor->lor.mat;
  if (lor->between) PetscCall(PCLORBetweenSetUp(pc, lor, &mat));
  PetscCall(PCLORConvert(lor, mat));
  if (!lor->transformation) PetscCall(PCLORCopyNullSpaces(pc, lor->mat));
  if (!lor->between) PetscCall(PCLORCheckConstants(pc, lor));
  PetscCall(PCLORSetUpScale(pc, lor, 1, &lor->form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector-valued field, or first-order terms: in a numbering of its own */
static PetscErrorCode PCLORSetUpBlock(PC pc, PC_LOR *lor)
{
  MatNullSpace nsp;
  MatType      type;
  PetscBool    kept, kokkos, same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(!lor->block->couple || !lor->dropset || lor->droptol == 0.0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The low-order-refined matrix of a vector-valued field, or with first-order terms, keeps all its entries: "
             "-pc_lor_drop_tol is for scalar symmetric forms, or for components apart (-pc_lor_couple 0); remove it");
  PetscCheck(!lor->block->jacobian || lor->scaletype != PCLOR_SCALE_DIAGONAL, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_lor_scale diagonal is for scalar symmetric forms, and this one has several components or first-order terms, "
             "which "
             "come with their coefficients: remove it");
  PetscCall(HopsLORSetPoints(&lor->block->lor, lor->points));
  PetscCall(PCLORChooseMatType(lor, &type));
  PetscCall(HopsLORBlockNumeric(lor->block, type, &kept));
  if (!kept) PetscCall(MatDestroy(&lor->mat));
  PetscCall(HopsLORBlockSetNullSpaces(lor->block, pc->pmat, pc->mat));
  PetscCall(PCLORConvert(lor, lor->block->mat));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)lor->mat, &kokkos, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, ""));
  if (lor->block->x) PetscCall(PetscObjectTypeCompareAny((PetscObject)lor->block->x, &same, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  if (kokkos && lor->block->x && !same) { /* its own vectors, which go with no others */
    PetscCall(VecDestroy(&lor->block->x));
    PetscCall(VecDestroy(&lor->block->y));
    PetscCall(MatCreateVecs(lor->mat, &lor->block->x, &lor->block->y));
  }
  if (!lor->block->jacobian) {
    PetscCall(PCLORCheckComponents(pc, lor));
    PetscCall(PCLORSetUpScale(pc, lor, lor->block->nc, lor->block->part));
  }
  if (lor->mat == lor->block->mat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(lor->block->mat, &nsp));
  PetscCall(MatSetNullSpace(lor->mat, nsp));
  PetscCall(MatGetNearNullSpace(lor->block->mat, &nsp));
  PetscCall(MatSetNearNullSpace(lor->mat, nsp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sum over operators on spaces, by unknowns of its own */
static PetscErrorCode PCLORSetUpSum(PC pc, PC_LOR *lor)
{
  Mat sum;

  PetscFunctionBegin;
  PetscCall(PCLORSumSetUp(pc, lor, &sum));
  PetscCall(KSPReset(lor->ksp)); /* sizes and pattern may change */
  PetscCall(MatDestroy(&lor->mat));
  PetscCall(PCLORConvert(lor, sum));
  PetscCall(PCLORCopyNullSpaces(pc, lor->mat));
  PetscCall(
    PCLORCheckConstantsSum(pc, lor, sum,
                           !PCLORSumHasValues(lor) && !lor->ignoreconvection && !lor->ignoreboundary ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatDestroy(&sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_LOR(PC pc);

static PetscErrorCode PCSetUp_LOR(PC pc)
{
  PC_LOR     *lor = (PC_LOR *)pc->data;
  const char *was = HopsMake("the low-order-refined matrix");
  PetscBool   sum;

  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(Citation, &Cited));
  PetscCall(PCLORIsSum(pc, &sum));
  if (lor->form->space && sum != (lor->nsub ? PETSC_TRUE : PETSC_FALSE)) PetscCall(PCReset_LOR(pc)); /* nothing of it serves */
  if (!sum) PetscCall(PCLORGetForm(pc, lor));
  if (!lor->innerset) {
    const char *prefix;

    PetscCall(PCGetOptionsPrefix(pc, &prefix)); /* may have been set after the type */
    PetscCall(KSPSetOptionsPrefix(lor->ksp, prefix));
    PetscCall(KSPAppendOptionsPrefix(lor->ksp, "lor_"));
  }
  if (sum) PetscCall(PCLORSetUpSum(pc, lor));
  else if (lor->block) PetscCall(PCLORSetUpBlock(pc, lor));
  else PetscCall(PCLORSetUpScalar(pc, lor));
  PetscCall(PCLORRenewAuxiliary(pc, lor));
  PetscCall(KSPSetOperators(lor->ksp, lor->mat, lor->mat));
  PetscCall(PCLORSetInnerOptions(pc, lor));
  PetscCall(PCLORSetAuxiliary(pc, lor));
  (void)HopsMake("the solver of the low-order-refined matrix");
  PetscCall(PetscLogEventBegin(HopsEvent.lorsolver, pc, 0, 0, 0));
#if HOPS_HAVE_HYPRE_DEVICE
  PetscCall(HopsCycleDestroy(&lor->cycle));           /* its matrices are about to go */
  if (lor->ondevice) PetscCall(HopsHypreConfigure()); /* also where the matrix came by MatConvert() */
  PetscCall(PCLORGatherSetUp(pc, lor));
#endif
  if (!lor->gathered) PetscCall(KSPSetUp(lor->ksp));
#if HOPS_HAVE_HYPRE_DEVICE
  /* where an inner preconditioner was the first to start hypre */
  if (lor->ondevice) PetscCall(HopsHypreConfigure());
#endif
  PetscCall(PCLORSetUpNodalWeight(pc, lor));
  PetscCall(PCLORSetUpCycle(pc, lor));
  if (lor->gathered && !lor->cycle) { /* kernels refuse what rank 0 has */
    lor->gathered = PETSC_FALSE;
    PetscCall(KSPSetUp(lor->ksp));
  }
  PetscCall(PCLORCheckGrowth(pc, lor));
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->ondevice) PetscCall(HopsHypreCheckMemory(PetscObjectComm((PetscObject)pc)));
#endif
  PetscCall(PetscLogEventEnd(HopsEvent.lorsolver, pc, 0, 0, 0));
  (void)HopsMake(was);
  if (lor->viewspectrum && !lor->spectrumdone) {
    lor->spectrumdone = PETSC_TRUE;
    PetscCall(PCLORViewSpectrum(pc, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* Vectors that the matrix does not go with: of the process's memory where it is on a device; of another type
   where it is one of Kokkos */
static PetscErrorCode PCLORVecsFit(PC_LOR *lor, Vec x, Vec y, PetscBool *fit)
{
  Vec       xy[2] = {x, y};
  PetscBool kokkos;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)lor->mat, &kokkos, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, ""));
  *fit = PETSC_TRUE;
  for (PetscInt i = 0; i < 2 && *fit; ++i) {
    if (kokkos) PetscCall(PetscObjectTypeCompareAny((PetscObject)xy[i], fit, VECSEQKOKKOS, VECMPIKOKKOS, ""));
    else if (lor->ondevice) {
      const PetscScalar *a;
      PetscMemType       mem;

      PetscCall(VecGetArrayReadAndMemType(xy[i], &a, &mem));
      PetscCall(VecRestoreArrayReadAndMemType(xy[i], &a));
      *fit = PetscMemTypeDevice(mem) ? PETSC_TRUE : PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a vector does not go with the matrix, applies the preconditioner to copies that do */
static PetscErrorCode PCLORApplyStaged(PC pc, PetscErrorCode (*apply)(PC, Vec, Vec), Vec x, Vec y, PetscBool *done)
{
  PC_LOR   *lor = (PC_LOR *)pc->data;
  PetscBool fit;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (PCLORIsCoupled(lor)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORVecsFit(lor, x, y, &fit));
  if (fit) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < 2; ++i) {
    PetscBool kokkos;
    PetscInt  n, N;

    if (lor->staged[i]) continue;
    PetscCall(PetscInfo(pc, "vectors have type %s, which does not go with the matrix: every application copies them\n",
                        ((PetscObject)x)->type_name));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)lor->mat, &kokkos, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, ""));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetSize(x, &N));
    PetscCall(HopsVecCreate(PetscObjectComm((PetscObject)pc), 1, n, N, kokkos ? VECKOKKOS : HopsSpaceVecType(lor->form->space),
                            &lor->staged[i]));
  }
  PetscCall(VecCopy(x, lor->staged[0]));
  PetscCall((*apply)(pc, lor->staged[0], lor->staged[1]));
  PetscCall(VecCopy(lor->staged[1], y));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inner solver, between vectors of the space's type, scaled */
static PetscErrorCode PCLORApplyInner(PC pc, PC_LOR *lor, Vec x, Vec y)
{
  HopsLORBlock *block = lor->block && (lor->block->couple || !lor->block->direct) ? lor->block : NULL;
  Vec           xi = block ? block->x : x, yi = block ? block->y : y;
  PetscBool     done = PETSC_FALSE;

  PetscFunctionBegin;
  if (block) PetscCall(HopsLORBlockEmbed(block, x, xi));
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->cycle) {
    PetscBool preonly, hypre;
    PC        inner;

    PetscCall(PetscObjectTypeCompare((PetscObject)lor->ksp, KSPPREONLY, &preonly));
    PetscCall(KSPGetPC(lor->ksp, &inner));
    PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCHYPRE, &hypre));
    /* nobody has changed the inner solver since: the first three tell all ranks alike */
    if (preonly && hypre && (inner->setupcalled || lor->gathered) && inner->data == lor->cycledata) {
      PetscCall(HopsCycleApply(lor->cycle, xi, yi));
      done = PETSC_TRUE;
    }
  }
#endif
  if (!done) {
    PetscCall(KSPSolve(lor->ksp, xi, yi));
    PetscCall(KSPCheckSolve(lor->ksp, pc, yi));
  }
  if (block) PetscCall(HopsLORBlockExtract(block, yi, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_LOR(PC pc, Vec x, Vec y)
{
  PC_LOR   *lor = (PC_LOR *)pc->data;
  PetscBool done;
  Vec       xs, xi, yi;

  PetscFunctionBegin;
  PetscCall(PCLORSumRenew(pc, lor));
  PetscCall(PCLORApplyStaged(pc, PCApply_LOR, x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORScaleBegin(lor, x, &xs));
  PetscCall(PCLORBetweenBegin(lor, xs, y, &xi, &yi));
  PetscCall(PCLORApplyInner(pc, lor, xi, yi));
  PetscCall(PCLORBetweenEnd(lor, xs, y));
  PetscCall(PCLORScaleEnd(lor, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric matrix has a symmetric V-cycle if its smoothing is symmetric: PETSc's transposed BoomerAMG
   returns zero (3.18) */
static PetscErrorCode PCApplyTranspose_LOR(PC pc, Vec x, Vec y)
{
  PC_LOR       *lor   = (PC_LOR *)pc->data;
  HopsLORBlock *block = lor->block;
  PC            inner;
  PetscBool     hypre, done;
  Vec           xs, xi, yi;

  PetscFunctionBegin;
  PetscCall(PCLORSumRenew(pc, lor));
  PetscCall(PCLORApplyStaged(pc, PCApplyTranspose_LOR, x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->cycle) { /* symmetric */
    PetscCall(PCApply_LOR(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetPC(lor->ksp, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCHYPRE, &hypre));
  PetscCheck(!hypre || !block || block->sym, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The transposed preconditioner of a nonsymmetric form needs an inner solver with a transpose, which PCHYPRE has not: "
             "use -lor_pc_type gamg or lu");
  PetscCall(PCLORScaleBegin(lor, x, &xs));
  PetscCall(PCLORBetweenBegin(lor, xs, y, &xi, &yi));
  if (block) PetscCall(HopsLORBlockEmbed(block, xs, block->x));
  if (hypre) PetscCall(KSPSolve(lor->ksp, block ? block->x : xi, block ? block->y : yi));
  else PetscCall(KSPSolveTranspose(lor->ksp, block ? block->x : xi, block ? block->y : yi));
  PetscCall(KSPCheckSolve(lor->ksp, pc, block ? block->y : yi));
  if (block) PetscCall(HopsLORBlockExtract(block, block->y, y));
  PetscCall(PCLORBetweenEnd(lor, xs, y));
  PetscCall(PCLORScaleEnd(lor, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_LOR(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_LOR   *lor = (PC_LOR *)pc->data;
  char     *terms[8];
  PetscInt  nterms  = 8;
  PetscInt  entries = lor->constraintentries;
  PetscBool set, couple = lor->couple;
  PetscReal droptol, fill;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Low-order-refined preconditioner options");
  PetscCall(PetscOptionsFList("-pc_lor_mat_type", "Type of the low-order-refined matrix", "PCLORSetMatType", MatList, lor->mattype,
                              lor->mattype, sizeof(lor->mattype), &set));
  if (set) lor->mattypeset = PETSC_TRUE;
  PetscCall(PetscOptionsBool("-pc_lor_view_spectrum", "Print Lanczos estimates of extreme eigenvalues", "PCLORViewSpectrum",
                             lor->viewspectrum, &lor->viewspectrum, NULL));
  PetscCall(PetscOptionsBool("-pc_lor_upwind", "First-order terms by one-sided differences in the low-order-refined matrix",
                             "PCLOR", lor->upwind, &lor->upwind, NULL));
  PetscCall(PetscOptionsBool("-pc_lor_couple", "Keep the couplings between components in the low-order-refined matrix",
                             "PCLORSetCouple", couple, &couple, &set));
  if (set) PetscCall(PCLORSetCouple(pc, couple));
  droptol = lor->droptol;
  PetscCall(PetscOptionsReal("-pc_lor_drop_tol", "Relative size of off-diagonal metric terms below which a cell's are dropped",
                             "PCLORSetDropTolerance", droptol, &droptol, &set));
  if (set) PetscCall(PCLORSetDropTolerance(pc, droptol));
  PetscCall(PetscOptionsInt("-pc_lor_constraint_entries",
                            "Largest weights that a hanging node's row keeps in the matrix of H1, 0: all, -1: by the order",
                            "PCLORSetConstraintEntries", entries, &entries, &set));
  if (set) PetscCall(PCLORSetConstraintEntries(pc, entries));
  PetscCall(PCLORSetFromOptionsCycle(pc, PetscOptionsObject));
  PetscCall(PCLORSetFromOptionsConstants(pc, PetscOptionsObject));
  PetscCall(PCLORSetFromOptionsElasticity(pc, PetscOptionsObject));
  PetscCall(PetscOptionsEnum("-pc_lor_scale", "Scales the low-order-refined matrix by the operator's diagonal", "PCLOR",
                             PCLORScales, (PetscEnum)lor->scaletype, (PetscEnum *)&lor->scaletype, NULL));
  PetscCall(PetscOptionsStringArray("-pc_lor_ignore",
                                    "Terms of the form that the preconditioner may leave out: convection (of the cells), boundary",
                                    "PCLOR", terms, &nterms, &set));
  for (PetscInt i = 0; set && i < nterms; ++i) {
    PetscBool convection, boundary;

    PetscCall(PetscStrcmp(terms[i], "convection", &convection));
    PetscCall(PetscStrcmp(terms[i], "boundary", &boundary));
    PetscCheck(convection || boundary, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_lor_ignore takes \"convection\" and \"boundary\", not \"%s\"", terms[i]);
    if (convection) lor->ignoreconvection = PETSC_TRUE;
    if (boundary) lor->ignoreboundary = PETSC_TRUE;
    PetscCall(PetscFree(terms[i]));
  }
  fill = lor->zeromass >= 0.0 ? lor->zeromass : HOPS_LOR_ZERO_MASS;
  PetscCall(PetscOptionsReal("-pc_lor_zero_mass",
                             "H(curl), H(div): mass coefficient, over that of the derivative by the mesh's length squared, in "
                             "cells without one; 0: none (AMS on the host, unless set)",
                             "PCLOR", fill, &fill, &set));
  if (set) lor->zeromass = fill;
  PetscCheck(!set || (lor->zeromass >= 0.0 && !PetscIsInfReal(lor->zeromass)), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_lor_zero_mass is %g, but must be finite and not negative", (double)lor->zeromass);
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By measurement (docs/performance/adaptive-gpu.md): in 3D AMG's set-up and cycle gain more by a matrix as
   sparse as that of equal cells than CG loses by iterations. From order 3 on the largest weight alone does
   about as well as two, by spectra and by iterations. From order 7 on it costs a sixth more iterations and
   gains 3% of the time */
PetscInt PCLORConstraintEntries(const PC_LOR *lor, HopsSpace sp)
{
  if (lor->constraintentries != PETSC_DECIDE) return lor->constraintentries;
  if (sp->dim < 3 || sp->order > 6) return 4;
  return sp->order < 3 ? 2 : 1;
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode PCReset_LOR(PC pc)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  PetscCall(HopsCycleDestroy(&lor->cycle));
#endif
  PetscCall(KSPReset(lor->ksp));
  if (lor->first) PetscCall(PCReset(lor->first));
  lor->gathered = PETSC_FALSE;
  PetscCall(MatDestroy(&lor->mat));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(VecDestroy(&lor->staged[i]));
  PetscCall(HopsLORDestroy(&lor->lor));
  PetscCall(HopsLORBlockDestroy(&lor->block));
  PetscCall(PCLORResetAuxiliary(lor));
  PetscCall(PCLORSumReset(lor));
  PetscCall(HopsFormReset(lor->form));
  PetscCall(HopsFormSetSpace(lor->form, NULL));
  PetscCall(DMDestroy(&lor->dm));
  PetscCall(PetscSectionDestroy(&lor->section));
  PetscCall(PCLORResetFound(lor));
  PetscCall(PCLORBetweenDestroy(lor));
  PetscCall(VecDestroy(&lor->scale));
  PetscCall(VecDestroy(&lor->scaled));
  lor->source = HOPS_SOURCE_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_LOR(PC pc)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_LOR(pc));
  PetscCall(PCLORDestroyUser(lor));
  PetscCall(MatDestroy(&lor->prolongation));
  PetscCall(MatDestroy(&lor->transformation));
  PetscCall(PCLORComposeBetween(pc, PETSC_FALSE));
  PetscCall(PCLORComposeComponents(pc, PETSC_FALSE));
  PetscCall(PCDestroy(&lor->first));
  PetscCall(KSPDestroy(&lor->ksp));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetSpace_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCoefficients_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetMatType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetDropTolerance_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetConstraintEntries_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCouple_C", NULL));
  PetscCall(PCLORComposeCycle(pc, PETSC_FALSE));
  PetscCall(HopsFormDestroy(&lor->form));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetMatType_LOR(PC pc, MatType type)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(lor->mattype, type, sizeof(lor->mattype)));
  lor->mattypeset = PETSC_TRUE;
  PetscCall(MatDestroy(&lor->mat));
  /* its arrays are of the old type */
  if (lor->ondevice && lor->lor.kernel) PetscCall(HopsLORDestroyPattern(&lor->lor));
  if (lor->ondevice && lor->block && !lor->block->couple) PetscCall(HopsLORDestroyPattern(&lor->block->lor));
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetDropTolerance_LOR(PC pc, PetscReal tol)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCheck(tol >= 0.0 && tol <= 1.0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The drop tolerance is %g, but must lie between 0 (nothing is dropped) and 1 (all off-diagonal metric terms are)",
             (double)tol);
  if (tol != lor->droptol) pc->setupcalled = 0;
  lor->droptol = tol;
  lor->dropset = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetConstraintEntries_LOR(PC pc, PetscInt n)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCheck(n >= 0 || n == PETSC_DECIDE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Rows of hanging nodes cannot keep %" PetscInt_FMT " entries: give 1 or more, 0 for all, or PETSC_DECIDE (-1)", n);
  if (n != lor->constraintentries) pc->setupcalled = 0;
  lor->constraintentries = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetCouple_LOR(PC pc, PetscBool couple)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  if (!lor->coupleset || couple != lor->couple) pc->setupcalled = 0;
  lor->couple    = couple;
  lor->coupleset = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORCreateKSP(PC pc, PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)pc), &lor->ksp));
  PetscCall(KSPSetErrorIfNotConverged(lor->ksp, pc->erroriffailure));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)lor->ksp, (PetscObject)pc, 1));
  PetscCall(KSPSetType(lor->ksp, KSPPREONLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_LOR(PC pc)
{
  PC_LOR *lor;

  PetscFunctionBegin;
  PetscCall(PetscNew(&lor));
  PetscCall(HopsFormCreate(&lor->form));
  pc->data     = lor;
  lor->droptol = 0.5; /* by measurement: docs/performance/host.md */
  lor->name    = "PCLOR";

  lor->constraintentries = PETSC_DECIDE;
  PetscCall(PetscStrncpy(lor->mattype, MATAIJ, sizeof(lor->mattype)));
  lor->cycletype = PCLOR_CYCLE_SINGLE;
  lor->redundant = 60000;
  lor->gather    = 150000; /* by measurement: docs/performance/gpu.md */
  lor->smoother  = PCLOR_SMOOTHER_CHEBYSHEV;
  lor->degree    = 1; /* by measurement: docs/performance/gpu.md */
  lor->zeromass  = -1.0;
  lor->couple    = PETSC_TRUE;
  PetscCall(PCLORCreateKSP(pc, lor));
  pc->ops->apply          = PCApply_LOR;
  pc->ops->applytranspose = PCApplyTranspose_LOR;
  pc->ops->setup          = PCSetUp_LOR;
  pc->ops->presolve       = PCPreSolve_LOR;
  pc->ops->reset          = PCReset_LOR;
  pc->ops->destroy        = PCDestroy_LOR;
  pc->ops->setfromoptions = PCSetFromOptions_LOR;
  pc->ops->view           = PCView_LOR;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetSpace_C", PCLORSetUserSpace));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCoefficients_C", PCLORSetUserCoefficients));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetMatType_C", PCLORSetMatType_LOR));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetDropTolerance_C", PCLORSetDropTolerance_LOR));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetConstraintEntries_C", PCLORSetConstraintEntries_LOR));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCouple_C", PCLORSetCouple_LOR));
  PetscCall(PCLORComposeCycle(pc, PETSC_TRUE));
  PetscCall(PCLORComposeBetween(pc, PETSC_TRUE));
  PetscCall(PCLORComposeComponents(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
