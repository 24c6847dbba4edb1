/* What hypre's AMS and ADS need beside the low-order-refined matrix of an H(curl) or H(div) space: gradient, curl, vertices. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderham.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCLORResetAuxiliary(PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&lor->G));
  PetscCall(MatDestroy(&lor->C));
  PetscCall(HopsSpaceDestroy(&lor->auxspace));
  lor->auxiliary = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ADS for H(div) in 3D; AMS for H(curl), and for H(div) in 2D, which is H(curl) turned by a right angle */
PetscErrorCode PCLORInsertAuxiliaryDefaults(PC_LOR *lor, PetscInt *n, char set[][256])
{
  HopsSpace       sp  = lor->form.space;
  const PetscBool ads = sp->family == HOPS_HDIV && sp->dim == 3 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (sp->family == HOPS_L2) { /* a diagonal matrix */
    PetscCall(PCLORInsertDefault(lor, "-pc_type", PCJACOBI, n, set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCLORInsertDefault(lor, "-pc_hypre_type", ads ? "ads" : "ams", n, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_HYPRE)
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
  The vertices of the nodal spaces are all of the mesh's, essential ones too: a normal edge at the boundary is free, and its
  field is that of a nodal field that does not vanish there.
*/
static PetscErrorCode PCLORCreateAuxiliary(PC_LOR *lor, HopsSpace *nodes)
{
  HopsSpace sp = lor->form.space, edges;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_FALSE, nodes));
  if (lor->auxspace == sp) PetscFunctionReturn(PETSC_SUCCESS);
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

/* AMS: constant vectors in the space, which hold for curved and periodic meshes alike */
static PetscErrorCode PCLORSetConstants(PC inner, HopsSpace sp)
{
  Vec v[3] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < sp->dim; ++d) {
    PetscCall(HopsSpaceCreateVec(sp, &v[d]));
    PetscCall(HopsSpaceInterpolate(sp, HopsUnit, &d, v[d]));
  }
  PetscCall(PCHYPRESetEdgeConstantVectors(inner, v[0], v[1], v[2]));
  for (PetscInt d = 0; d < sp->dim; ++d) PetscCall(VecDestroy(&v[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ADS: the vertices of the refined mesh */
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
#endif

/* Gives gradient, curl and vertices to an inner AMS or ADS; other inner solvers need nothing but the matrix */
PetscErrorCode PCLORSetAuxiliary(PC pc, PC_LOR *lor)
{
  HopsSpace sp = lor->form.space;

  PetscFunctionBegin;
  if (lor->block || lor->auxiliary || sp->family == HOPS_H1 || sp->family == HOPS_L2) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_HYPRE)
  {
    PC        inner;
    PetscBool ams, ads;
    HopsSpace nodes;

    PetscCall(KSPGetPC(lor->ksp, &inner));
    PetscCall(PCLORHypreIs(inner, "ams", &ams));
    PetscCall(PCLORHypreIs(inner, "ads", &ads));
    if (!ams && !ads) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(!ams || sp->family == HOPS_HCURL || sp->dim == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, "AMS is for H(curl), and in 2D for H(div); this space is H(div) in 3D: use -lor_pc_hypre_type ads");
    PetscCheck(!ads || (sp->family == HOPS_HDIV && sp->dim == 3), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, "ADS is for H(div) in 3D; this space is %s in %" PetscInt_FMT "D: use -lor_pc_hypre_type ams", HopsFamilies[sp->family], sp->dim);
    PetscCheck(!ads || lor->form.mass, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "ADS needs a mass term: without one the div-div form is singular on all curls; add one (MatPASetMass()), small if it must be");
    PetscCall(PetscLogEventBegin(HopsEvent.lorauxiliary, pc, 0, 0, 0));
    PetscCall(PCLORCreateAuxiliary(lor, &nodes));
    PetscCall(PCHYPRESetDiscreteGradient(inner, lor->G));
    if (ads) {
      PetscCall(PCHYPRESetDiscreteCurl(inner, lor->C));
      PetscCall(PCLORSetVertices(inner, nodes));
    } else {
      PetscCall(PCLORSetConstants(inner, sp));
      if (!lor->form.mass) PetscCall(PCHYPRESetBetaPoissonMatrix(inner, NULL));
    }
    PetscCall(HopsSpaceDestroy(&nodes));
    PetscCall(PetscLogEventEnd(HopsEvent.lorauxiliary, pc, 0, 0, 0));
    lor->auxiliary = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  hypre's AMS and ADS keep the auxiliary matrices of their first set-up, so that a second one with new values would use old
  ones: the solver is made anew, with the same options.
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
