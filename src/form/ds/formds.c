/* The scalar symmetric form of a PetscDS: coefficients from its Jacobian functions g0 and g3, Robin terms
   from the boundary's. */
#include <hops/private/hopsfaceimpl.h>

typedef enum {
  HOPS_DS_DIFFUSION,
  HOPS_DS_MASS
} HopsDSTerm;

typedef struct {
  HopsTensorForm form;
  HopsDSTerm     term;
} HopsDSContext;

static PetscErrorCode HopsCoefficientEvaluate_DS(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                 const HopsBasis *basis, const PetscReal x[], PetscScalar out[])
{
  HopsDSContext *ctx = (HopsDSContext *)cf->ctx;
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim), kind = ctx->term == HOPS_DS_MASS ? 0 : 3,
                 size = kind ? dim * dim : 1;
  HopsBasis    geom;
  PetscReal   *J;
  PetscScalar *v, *g[4] = {NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n * nq * dim * dim, &J, kind ? n * nq * size : 0, &v));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  PetscCall(HopsSpaceGetPoints(sp, &geom, first, n, NULL, J));
  PetscCall(HopsBasisDestroy(&geom));
  g[kind] = kind ? v : out;
  PetscCall(HopsTensorFormEvaluate(ctx->form, sp, first, n, basis, x, J, g));
  for (PetscInt q = 0; kind && q < n * nq; ++q) {
    const PetscScalar *t = v + q * size;

    for (PetscInt i = 0, k = 0; i < dim; ++i)
      for (PetscInt j = i; j < dim; ++j) {
        PetscCheck(!(PetscAbsScalar(t[i * dim + j] - t[j * dim + i]) >
                     1e-10 * (PetscAbsScalar(t[i * dim + i]) + PetscAbsScalar(t[j * dim + j]))),
                   PETSC_COMM_SELF, PETSC_ERR_SUP,
                   "The diffusion tensor of the PetscDS is not symmetric in cell %" PetscInt_FMT
                   ": hops works on symmetric ones; for others use -mat_pa_general",
                   sp->cell[first + q / nq]);
        out[q * cf->nc + k++] = t[i * dim + j];
      }
  }
  PetscCall(PetscFree2(J, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDSContextDestroy(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(HopsTensorFormDestroy(&((HopsDSContext *)ctx)->form));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientCreateTensor(HopsTensorForm form, HopsDSTerm term, HopsCoefficient *cf)
{
  PetscInt       dim;
  HopsDSContext *ctx;

  PetscFunctionBegin;
  *cf = NULL;
  if (!form->has[term == HOPS_DS_MASS ? 0 : 3]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetDimension(form->dm, &dim));
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)form->dm), term == HOPS_DS_MASS ? 1 : dim * (dim + 1) / 2,
                                          "PetscDS", cf));
  PetscCall(PetscNew(&ctx));
  ++form->refct;
  ctx->form         = form;
  ctx->term         = term;
  (*cf)->ctx        = ctx;
  (*cf)->destroyctx = HopsDSContextDestroy;
  (*cf)->needsx     = PETSC_TRUE;
  (*cf)->evaluate   = HopsCoefficientEvaluate_DS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSNeedsTensors(DM dm, PetscBool preconditioner, PetscBool ignoreconvection, PetscBool ignoreboundary,
                                  PetscBool *needs)
{
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nf, nds, nc = 1;
  PetscBool    face[4];

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  if (id == PETSCFE_CLASSID) PetscCall(PetscFEGetNumComponents((PetscFE)disc, &nc));
  *needs = nf > 1 || nc > 1 ? PETSC_TRUE : PETSC_FALSE;
  if (nds && !ignoreboundary) {
    PetscCall(HopsFaceFormQuery(dm, face));
    if (face[1] || face[2] || face[3]) *needs = PETSC_TRUE;
  }
  for (PetscInt s = 0; s < nds && nf == 1 && !ignoreconvection; ++s) {
    HopsRegion r;

    PetscCall(HopsRegionGet(dm, s, preconditioner, &r));
    if (r.n[1] || r.n[2] || r.nt[1] || r.nt[2]) *needs = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormReset(HopsForm *form)
{
  PetscFunctionBegin;
  PetscCall(HopsCoefficientDestroy(&form->diffusion));
  PetscCall(HopsCoefficientDestroy(&form->mass));
  PetscCall(HopsRobinDestroy(&form->robin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormSetTensor(HopsTensorForm t, HopsSpace sp, PetscBool ignoreconvection, PetscBool ignoreboundary,
                                 HopsForm *form)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)t->dm);

  PetscFunctionBegin;
  PetscCheck(t->fields->nf == 1, comm, PETSC_ERR_SUP,
             "The DM has %" PetscInt_FMT
             " fields where a scalar coefficient is wanted: use -dm_mat_type pa, which takes several, or PCFIELDSPLIT",
             t->fields->nf);
  PetscCheck(t->nc == 1, comm, PETSC_ERR_SUP,
             "The field has %" PetscInt_FMT
             " components where a scalar coefficient is wanted: use -dm_mat_type pa, or PCLOR on the DM itself, which take several",
             t->nc);
  PetscCheck(ignoreconvection || (!t->has[1] && !t->has[2]), comm, PETSC_ERR_SUP,
             "The form has a first-order term (g1 or g2 of its PetscDS), which a diffusion-reaction operator does not hold: let "
             "PCLOR take the form from the DM, or, to precondition with its symmetric part, use -pc_lor_ignore convection");
  form->space = sp;
  form->robin = NULL;
  PetscCall(HopsCoefficientCreateTensor(t, HOPS_DS_DIFFUSION, &form->diffusion));
  PetscCall(HopsCoefficientCreateTensor(t, HOPS_DS_MASS, &form->mass));
  if (!ignoreboundary) PetscCall(HopsRobinCreateDS(t, sp, &form->robin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every cell has one PetscDS, and all of its Jacobian functions are where PETSc's assembly looks for them */
PetscErrorCode HopsDSCheck(DM dm)
{
  PetscInt nds;

  PetscFunctionBegin;
  PetscCall(HopsDMCheck(dm));
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS ds;
    DMLabel region;

    PetscCall(HopsDMGetRegionLabel(dm, s, &region));
    PetscCheck(nds == 1 || region, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
               "The DM has a PetscDS for the whole mesh beside those of regions, whose terms PETSc adds up where they overlap: "
               "give each region one PetscDS and its own label (DMSetRegionNumDS())");
    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(HopsRegionCheckKeys(ds, region));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
