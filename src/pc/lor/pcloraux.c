/* What hypre's AMS and ADS need beside the low-order-refined matrix of an H(curl) or H(div) space: gradient,
   curl, vertices. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsrealhypre.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCLORResetAuxiliary(PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&lor->G));
  PetscCall(MatDestroy(&lor->C));
  for (PetscInt k = 0; k < 6; ++k) PetscCall(MatDestroy(&lor->Pi[k / 3][k % 3]));
  PetscCall(HopsSpaceDestroy(&lor->auxspace));
  lor->auxiliary = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What hypre runs on a device: l1-Jacobi smoothing; in the nodal solvers PMIS coarsening without aggressive
  levels, l1-Jacobi with a weight of HOPS_NODAL_WEIGHT, extended+i interpolation with at most 4 entries a row.
  ADS's nodal matrices are those of a second derivative in one direction, with masses in the others: of their
  couplings only those along that direction are to count as strong, which takes a threshold above a half.
*/
static PetscErrorCode PCLORInsertDeviceDefaults(PC_LOR *lor, PetscBool ads, PetscInt *n, char set[][256])
{
  PetscFunctionBegin;
  if (ads) {
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_cycle_type", "13", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_relax_type", "1", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_ams_cycle_type", "14", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_ams_options", "8,0,18,6,4", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_amg_options", "8,0,18,6,4", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_amg_theta", "0.6", n, set));
  } else {
    /* with two components cycle 14 is not symmetric: hypre's last correction of gradients sees the residual
       before the sum */
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ams_cycle_type", lor->form->space->dim == 2 ? "13" : "14", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ams_relax_type", "1", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ams_amg_alpha_options", "8,0,18,6,4", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ams_amg_beta_options", "8,0,18,6,4", n, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ADS for H(div) in 3D; AMS for H(curl), and for H(div) in 2D, which is H(curl) turned by a right angle. On
  the long and thin sub-cells of high orders a strong threshold of 0.5 in ADS's nodal solvers, one after the
  other (cycle 13), saves a fifth of the iterations, and no aggressive level in the vector one a quarter; AMS
  is left as PETSc sets it, since nothing tried gained as much as it cost.
*/
PetscErrorCode PCLORInsertAuxiliaryDefaults(PC_LOR *lor, PetscInt *n, char set[][256])
{
  HopsSpace       sp  = lor->form->space;
  const PetscBool ads = sp->family == HOPS_HDIV && sp->dim == 3 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  /* a diagonal matrix: PCHYPRE's own defaults, where somebody asks for it */
  if (sp->family == HOPS_L2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORInsertDefault(lor, "-pc_hypre_type", ads ? "ads" : "ams", n, set));
  if (HOPS_HAVE_HYPRE_DEVICE && lor->ondevice) {
    PetscCall(PCLORInsertDeviceDefaults(lor, ads, n, set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ads) {
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_cycle_type", "13", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_amg_theta", "0.5", n, set));
    PetscCall(PCLORInsertDefault(lor, "-pc_hypre_ads_amg_options", "10,0,6,6,4", n, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if HOPS_HAVE_HYPRE
static PetscErrorCode HopsUnit(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = i == *(PetscInt *)ctx ? 1.0 : 0.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode HopsCoordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[*(PetscInt *)ctx];
  return PETSC_SUCCESS;
}

/* the inner solver is PCHYPRE of this type? */
static PetscErrorCode PCLORHypreIs(PC inner, const char type[], PetscBool *is)
{
  const char *name = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCHYPRE, is));
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCHYPREGetType(inner, &name));
  PetscCall(PetscStrcmp(name, type, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The vertices of the nodal spaces are all of the mesh's, essential ones too: a normal edge at the boundary is
  free, and its field is that of a nodal field that does not vanish there (a tenth fewer iterations on
  unstructured meshes). But in AMS of order 1, and in ADS with hanging nodes, essential vertices are left out:
  on a mesh one cell thick their matrices would fall into singular pieces of two vertices, which hypre
  refuses.
*/
static PetscErrorCode PCLORGetNodes(PC_LOR *lor, HopsSpace *nodes)
{
  HopsSpace sp = lor->form->space;
  PetscInt  free;

  PetscFunctionBegin;
  if (*nodes) PetscFunctionReturn(PETSC_SUCCESS); /* made only where it is needed */
  PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1,
                                     sp->order == 1 && (sp->hanging || !(sp->family == HOPS_HDIV && sp->dim == 3)) ? PETSC_TRUE
                                                                                                                   : PETSC_FALSE,
                                     nodes));
  free = (*nodes)->nT - (*nodes)->ness;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &free, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscCheck(free, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The mesh has no vertices off the essential boundary, and so no nodal space for AMS: use -lor_pc_type lu, or refine "
             "the mesh");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORCreateAuxiliary(PC_LOR *lor, HopsSpace *nodes)
{
  HopsSpace sp = lor->form->space, edges;

  PetscFunctionBegin;
  if (lor->auxspace == sp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORGetNodes(lor, nodes));
  PetscCall(PCLORResetAuxiliary(lor));
  if (sp->family == HOPS_HDIV && sp->dim == 3) {
    PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &edges));
    PetscCall(HopsSpaceCreateDerivative(*nodes, edges, &lor->G));
    PetscCall(HopsSpaceCreateDerivative(edges, sp, &lor->C));
    PetscCall(HopsSpaceDestroy(&edges));
  } else PetscCall(HopsSpaceCreateDerivative(*nodes, sp, &lor->G));
  PetscCall(HopsSpaceReference(sp));
  lor->auxspace = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  v[d]: the unit vector in direction d in the space, which holds for curved and periodic meshes alike.
  Rounding errors are made zeros: at a vertex whose free edges are all normal to a direction, the nodal matrix
  of that direction has a zero row, which hypre looks for, and with rounding errors in place of it has none
  that it could smooth.
*/
static PetscErrorCode HopsCreateConstants(HopsSpace sp, Vec v[3])
{
  PetscScalar *a[3] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  v[2] = NULL;
  for (PetscInt d = 0; d < sp->dim; ++d) {
    PetscCall(HopsSpaceCreateVec(sp, &v[d]));
    PetscCall(HopsSpaceInterpolate(sp, HopsUnit, &d, v[d]));
    PetscCall(VecGetArray(v[d], &a[d]));
  }
  for (PetscInt i = 0; i < sp->nT; ++i) {
    PetscReal norm = 0.0;

    for (PetscInt d = 0; d < sp->dim; ++d) norm = PetscMax(norm, PetscAbsScalar(a[d][i]));
    for (PetscInt d = 0; d < sp->dim; ++d)
      if (PetscAbsScalar(a[d][i]) < 1e-10 * norm) a[d][i] = 0.0;
  }
  for (PetscInt d = 0; d < sp->dim; ++d) PetscCall(VecRestoreArray(v[d], &a[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interpolation from nodal fields of direction d: the mean over an entity's corners times the constant of the
   direction. `nodes` has no essential unknowns that the gradient has not */
PetscErrorCode HopsCreatePi(HopsSpace nodes, HopsSpace sp, Mat Pi[3])
{
  HopsIncidence mean;
  Mat           M;
  Vec           v[3];

  PetscFunctionBegin;
  PetscCall(HopsIncidenceCreateMean(sp->family, sp->dim, sp->order, &mean));
  PetscCall(HopsLatticeMatCreate(nodes, sp, mean, PETSC_TRUE, &M));
  PetscCall(HopsCreateConstants(sp, v));
  for (PetscInt d = 0; d < 3; ++d) {
    Pi[d] = NULL;
    if (d >= sp->dim) continue;
    PetscCall(MatDuplicate(M, MAT_COPY_VALUES, &Pi[d]));
    PetscCall(MatDiagonalScale(Pi[d], v[d], NULL));
    PetscCall(VecDestroy(&v[d]));
  }
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hypre's cycles of types 11 to 14 take interpolations component by component; the others want them all
   together, and end by a signal */
static PetscErrorCode PCLORCheckCycle(PC inner, const char name[])
{
  PetscInt    type = 13;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(inner, &prefix));
  PetscCall(PetscOptionsGetInt(((PetscObject)inner)->options, prefix, name, &type, NULL));
  PetscCheck(type >= 11 && type <= 14, PetscObjectComm((PetscObject)inner), PETSC_ERR_SUP,
             "-%s%s %" PetscInt_FMT
             " interpolates all components together, which hypre cannot do here: take a type of 11 to 14, as the "
             "default, 13",
             prefix ? prefix : "", name + 1, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORCheckCycles(PC inner, PetscBool ads)
{
  PetscFunctionBegin;
  PetscCall(PCLORCheckCycle(inner, ads ? "-pc_hypre_ads_ams_cycle_type" : "-pc_hypre_ams_cycle_type"));
  if (ads) PetscCall(PCLORCheckCycle(inner, "-pc_hypre_ads_cycle_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  AMS, ADS: interpolation from vector-valued nodal fields. AMS makes it itself of the gradient and of the
  constants of an edge, but only of rows with two ends, which gradients near hanging nodes have not
*/
static PetscErrorCode PCLORSetInterpolations(PC inner, PC_LOR *lor, PetscBool ads, HopsSpace nodes)
{
  HopsSpace sp = lor->form->space, edges;
  Mat       nd[3], rt[3] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PCLORCheckCycles(inner, ads));
  if (ads) {
    PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &edges));
    PetscCall(HopsCreatePi(nodes, sp, rt));
    PetscCall(HopsCreatePi(nodes, edges, nd));
    PetscCall(HopsSpaceDestroy(&edges));
  } else PetscCall(HopsCreatePi(nodes, sp, nd));
  PetscCall(PCHYPRESetInterpolations(inner, sp->dim, NULL, ads ? rt : NULL, NULL, nd));
  for (PetscInt d = 0; d < 3; ++d) {
    PetscCall(MatDestroy(&nd[d]));
    PetscCall(MatDestroy(&rt[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  beta = 0 in some cells only: AMS wants the nodes inside that region, whose gradients are in the kernel, and
  takes them out of what it returns. Essential nodes are not among them: of their gradients the space has the
  normal edges alone.
*/
static PetscErrorCode PCLORSetInteriorNodes(PC inner, PC_LOR *lor, HopsSpace *all)
{
  HopsSpace  sp = lor->form->space, free, nodes;
  PetscReal *y, *yg;
  PetscInt  *where, *wherefree, n, ncells;
  PetscBool *zero;
  Vec        outside;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(sp->ncells, &zero, sp->ncaller, &where, sp->ncaller, &wherefree));
  if (lor->zerofill > 0.0) n = lor->nzero;
  else PetscCall(PCLORFindZeroMass(lor, zero, &n));
  PetscCall(MPIU_Allreduce(&sp->ncells, &ncells, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  if (n == ncells) PetscCall(PCHYPRESetBetaPoissonMatrix(inner, NULL));
  else if (n && lor->zerofill == 0.0) {
    PetscCall(PetscInfo(inner, "AMS: the mass coefficient is zero in %" PetscInt_FMT " cells\n", n));
    PetscCall(PCLORGetNodes(lor, all));
    nodes = *all;
    PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_TRUE, &free));
    PetscCall(HopsSpaceBringMesh(nodes));
    PetscCall(HopsSpaceBringMesh(free));
    for (PetscInt c = 0; c < nodes->ncells; ++c) where[nodes->cell[c] - nodes->cstart] = c;
    for (PetscInt c = 0; c < free->ncells; ++c) wherefree[free->cell[c] - free->cstart] = c;
    PetscCall(HopsSpaceCreateVec(nodes, &outside));
    PetscCall(HopsHostVecGetPart(outside, 0, HOPS_VEC_READ_WRITE, &y));
    PetscCall(PetscCalloc1(nodes->nL - nodes->nT, &yg));
    for (PetscInt c = 0; c < sp->ncells; ++c)
      for (PetscInt i = 0; i < nodes->ne; ++i) {
        const PetscInt  k   = sp->cell[c] - sp->cstart;
        const int       l   = nodes->restr[where[k] * nodes->ne + i];
        const PetscBool ess = free->restr[wherefree[k] * nodes->ne + i] >= free->nT + free->nG ? PETSC_TRUE : PETSC_FALSE;

        if (!zero[c] || ess) *(l < nodes->nT ? y + l : yg + l - nodes->nT) += 1.0;
      }
    PetscCall(HopsProlongTransposeBegin(nodes->hostP, yg, y));
    PetscCall(HopsProlongTransposeEnd(nodes->hostP, yg, y));
    for (PetscInt e = 0; e < nodes->ness; ++e) y[nodes->essT[e]] = 1.0;
    for (PetscInt i = 0; i < nodes->nT; ++i) y[i] = y[i] == 0.0 ? 1.0 : 0.0;
    PetscCall(HopsHostVecRestorePart(outside, 0, HOPS_VEC_READ_WRITE, &y));
    PetscCall(PCHYPREAMSSetInteriorNodes(inner, outside));
    PetscCall(PetscFree(yg));
    PetscCall(VecDestroy(&outside));
    PetscCall(HopsSpaceDestroy(&free));
  }
  PetscCall(PetscFree3(zero, where, wherefree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ADS: the vertices of the refined mesh, which PETSc asks for even where it has interpolations */
static PetscErrorCode PCLORSetVertices(PC inner, HopsSpace nodes)
{
  Vec                x;
  const PetscScalar *a;
  PetscReal         *coords;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nodes->nT * nodes->dim, &coords));
  PetscCall(HopsSpaceCreateVec(nodes, &x));
  for (PetscInt d = 0; d < nodes->dim; ++d) {
    PetscCall(HopsSpaceInterpolate(nodes, HopsCoordinate, &d, x));
    PetscCall(VecGetArrayRead(x, &a));
    for (PetscInt i = 0; i < nodes->nT; ++i) coords[i * nodes->dim + d] = PetscRealPart(a[i]);
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscCall(PCSetCoordinates(inner, nodes->dim, nodes->nT, coords));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFree(coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetAuxiliaryHost(PC inner, PC_LOR *lor, PetscBool ads, HopsSpace *nodes)
{
  Vec v[3];

  PetscFunctionBegin;
  PetscCall(PCLORCreateAuxiliary(lor, nodes));
  PetscCall(PCHYPRESetDiscreteGradient(inner, lor->G));
  if (ads) {
    PetscCall(PCHYPRESetDiscreteCurl(inner, lor->C));
    PetscCall(PCLORGetNodes(lor, nodes));
    PetscCall(PCLORSetVertices(inner, *nodes));
  }
  if (ads || lor->form->space->hanging) {
    PetscCall(PCLORGetNodes(lor, nodes));
    PetscCall(PCLORSetInterpolations(inner, lor, ads, *nodes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsCreateConstants(lor->form->space, v));
  PetscCall(PCHYPRESetEdgeConstantVectors(inner, v[0], v[1], v[2]));
  for (PetscInt d = 0; d < 3; ++d) PetscCall(VecDestroy(&v[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Gives gradient, curl and vertices to an inner AMS or ADS; other inner solvers need nothing but the
   matrix */
PetscErrorCode PCLORSetAuxiliary(PC pc, PC_LOR *lor)
{
  HopsSpace sp = lor->form->space;

  PetscFunctionBegin;
  if (lor->block || lor->auxiliary || sp->family == HOPS_H1 || sp->family == HOPS_L2) PetscFunctionReturn(PETSC_SUCCESS);
#if HOPS_HAVE_HYPRE
  {
    PC        inner;
    PetscBool ams, ads;
    HopsSpace nodes = NULL;

    PetscCall(KSPGetPC(lor->ksp, &inner));
    PetscCall(PCLORHypreIs(inner, "ams", &ams));
    PetscCall(PCLORHypreIs(inner, "ads", &ads));
    if (!ams && !ads) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(!ams || sp->family == HOPS_HCURL || sp->dim == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "AMS is for H(curl), and in 2D for H(div); this space is H(div) in 3D: use -lor_pc_hypre_type ads");
    PetscCheck(!ads || (sp->family == HOPS_HDIV && sp->dim == 3), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "ADS is for H(div) in 3D; this space is %s in %" PetscInt_FMT "D: use -lor_pc_hypre_type ams",
               HopsFamilies[sp->family], sp->dim);
    PetscCheck(!ads || HopsFormValue(lor->form), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "ADS needs a mass term: without one the div-div form is singular on all curls; add one (MatPASetMass()), small if "
               "it must be");
    PetscCheck(!lor->lor.negative[1], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "The mass coefficient is negative somewhere, which AMS and ADS do not allow: give the preconditioner another "
               "operator (KSPSetOperators(ksp, A, P)) with its absolute value, or use another inner solver (-lor_pc_type lu)");
  #if HOPS_HAVE_HYPRE_DEVICE
    PetscCheck(lor->ondevice, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "The hypre of this PETSc is built for devices and crashes on AMS's and ADS's vectors in the host's memory: use "
               "-hops_backend cuda (or -dm_vec_type cuda), or -lor_pc_type gamg");
  #endif
    PetscCall(PetscLogEventBegin(HopsEvent.lorauxiliary, pc, 0, 0, 0));
  #if HOPS_HAVE_HYPRE_DEVICE
    if (lor->ondevice) {
      if (lor->auxspace != sp) PetscCall(PCLORGetNodes(lor, &nodes));
      PetscCall(PCLORSetAuxiliaryDevice(inner, lor, nodes));
    } else
  #endif
      PetscCall(PCLORSetAuxiliaryHost(inner, lor, ads, &nodes));
    if (ams && !HopsFormValue(lor->form)) PetscCall(PCHYPRESetBetaPoissonMatrix(inner, NULL));
    if (ams && HopsFormValue(lor->form)) PetscCall(PCLORSetInteriorNodes(inner, lor, &nodes));
    PetscCall(HopsSpaceDestroy(&nodes));
    PetscCall(PetscLogEventEnd(HopsEvent.lorauxiliary, pc, 0, 0, 0));
    lor->auxiliary = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  hypre's AMS and ADS keep the auxiliary matrices of their first set-up, so that a second one with new values
  would use old ones: the solver is made anew, with the same options.
*/
PetscErrorCode PCLORRenewAuxiliary(PC pc, PC_LOR *lor)
{
  PC inner;

  PetscFunctionBegin;
  if (!lor->auxiliary) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(lor->ksp, &inner));
  PetscCall(PCSetType(inner, PCNONE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)inner, NULL));
  lor->auxiliary = PETSC_FALSE;
  lor->innerset  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
