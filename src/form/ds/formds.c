/* The form of a PetscDS: its list of integrals, and, of a scalar symmetric one, their coefficients. */
#include <hops/private/hopsfaceimpl.h>

typedef struct {
  HopsJacobian jacobian;
  PetscInt     kind; /* 0: g0, 3: g3 */
  PetscInt     component;
} HopsDSContext;

/* Entries of the functions' tensor at a point, and where the component's own begin */
static PetscInt HopsDSTensor(const HopsDSContext *ctx, PetscInt dim, PetscInt *own)
{
  const PetscInt nc = ctx->jacobian->nc, one = ctx->kind ? dim * dim : 1;

  *own = ctx->component * (nc + 1) * one;
  return nc * nc * one;
}

/* out[n][nc]: of the tensors t[n][size], each at a point of a cell of the run, which has nq of them, the
   component's own: its upper triangle. That of one component among several is the symmetric part */
static PetscErrorCode HopsDSPack(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n, PetscInt nq, const PetscReal t[],
                                 PetscReal out[])
{
  const HopsDSContext *ctx = (const HopsDSContext *)cf->ctx;
  const PetscInt       dim = sp->dim;
  PetscInt             own, size = HopsDSTensor(ctx, dim, &own);

  PetscFunctionBegin;
  t += own;
  for (PetscInt q = 0; q < n; ++q, t += size) {
    if (!ctx->kind) out[q] = t[0];
    for (PetscInt i = 0, k = 0; ctx->kind && i < dim; ++i)
      for (PetscInt j = i; j < dim; ++j) {
        PetscCheck(ctx->jacobian->nc > 1 || !(PetscAbsReal(t[i * dim + j] - t[j * dim + i]) >
                                              1e-10 * (PetscAbsReal(t[i * dim + i]) + PetscAbsReal(t[j * dim + j]))),
                   PETSC_COMM_SELF, PETSC_ERR_SUP, HOPS_DS_NONSYMMETRIC, sp->cell[first + q / nq]);
        out[q * cf->nc + k++] = ctx->jacobian->nc > 1 ? 0.5 * (t[i * dim + j] + t[j * dim + i]) : t[i * dim + j];
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientEvaluate_DS(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                 const HopsBasis *basis, const PetscReal unused[], PetscReal out[])
{
  HopsDSContext *ctx = (HopsDSContext *)cf->ctx;
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim);
  PetscInt       own, size         = HopsDSTensor(ctx, dim, &own);
  HopsBasis      geom;
  PetscReal     *x, *J;
  PetscReal     *v = NULL, *g[1][4] = {{NULL, NULL, NULL, NULL}};
  PetscBool      done;

  PetscFunctionBegin;
  if (size > 1) PetscCall(PetscMalloc1((size_t)n * nq * size, &v));
  g[0][ctx->kind] = v ? v : out;
  PetscCall(HopsJacobianEvaluateDevice(ctx->jacobian, sp, first, n, basis, g, &done));
  if (!done) {
    PetscCall(PetscMalloc2(n * nq * dim, &x, n * nq * dim * dim, &J));
    PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
    PetscCall(HopsSpaceGetPoints(sp, &geom, first, n, x, J));
    PetscCall(HopsBasisDestroy(&geom));
    PetscCall(HopsJacobianEvaluate(ctx->jacobian, sp, first, n, basis, x, J, g[0]));
    PetscCall(PetscFree2(x, J));
  }
  if (v) PetscCall(HopsDSPack(cf, sp, first, n * nq, nq, v, out));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientEvaluateOn_DS(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                   const HopsBasis *basis, HopsValuesWork *w, HopsValues *val, PetscBool *done)
{
  HopsDSContext *ctx = (HopsDSContext *)cf->ctx;

  PetscFunctionBegin;
  PetscCall(HopsJacobianEvaluateValues(ctx->jacobian, sp, first, n, basis, ctx->kind, ctx->component, w, val, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDSContextDestroy(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(HopsJacobianDestroy(&((HopsDSContext *)ctx)->jacobian));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientCreateJacobian(HopsJacobian jac, PetscInt kind, PetscInt component, HopsCoefficient *cf)
{
  PetscInt       dim;
  HopsDSContext *ctx;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(jac->dm, &dim));
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)jac->dm), kind ? dim * (dim + 1) / 2 : 1, "PetscDS", cf));
  PetscCall(PetscNew(&ctx));
  ++jac->refct;
  ctx->jacobian     = jac;
  ctx->kind         = kind;
  ctx->component    = component;
  (*cf)->ctx        = ctx;
  (*cf)->destroyctx = HopsDSContextDestroy;
  (*cf)->evaluate   = HopsCoefficientEvaluate_DS;
  (*cf)->evaluateon = HopsCoefficientEvaluateOn_DS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormListDS(DM dm, PetscBool preconditioner, PetscBool convection, PetscBool boundary, HopsForm *form)
{
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nds;
  PetscBool    has[4];

  PetscFunctionBegin;
  PetscCall(HopsFormCreate(form));
  PetscCall(DMGetNumFields(dm, &(*form)->nf));
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  if (id == PETSCFE_CLASSID) PetscCall(PetscFEGetNumComponents((PetscFE)disc, &(*form)->nc));
  for (PetscInt i = 0; i < (*form)->nf; ++i)
    for (PetscInt j = 0; j < (*form)->nf; ++j) {
      for (PetscInt k = 0; k < 4; ++k) has[k] = PETSC_FALSE;
      for (PetscInt s = 0; s < nds; ++s) {
        HopsRegion r;

        PetscCall(HopsRegionGetBlock(dm, s, preconditioner, i, j, &r));
        for (PetscInt k = 0; k < 4; ++k)
          if ((r.n[k] || r.nt[k]) && (convection || k == 0 || k == 3)) has[k] = PETSC_TRUE;
      }
      PetscCall(HopsFormAddFunctions(*form, HOPS_CELLS, i, j, has));
    }
  if (nds && boundary) { /* which fields these join is known where their faces are: HopsFaceFormCreate() */
    PetscCall(HopsFaceFormQuery(dm, has));
    PetscCall(HopsFormAddFunctions(*form, HOPS_BOUNDARY, 0, 0, has));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFormSetJacobian(HopsForm form, HopsJacobian jac)
{
  PetscFunctionBegin;
  ++jac->refct;
  if (form->jacobian) PetscCall((*form->destroyjacobian)(&form->jacobian));
  form->jacobian        = jac;
  form->destroyjacobian = HopsJacobianDestroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormCreateDS(DM dm, PetscBool preconditioner, PetscBool convection, PetscBool boundary, HopsForm *form)
{
  HopsJacobian jac;

  PetscFunctionBegin;
  PetscCall(HopsJacobianCreate(dm, preconditioner, &jac));
  PetscCall(HopsFormListDS(dm, preconditioner, convection, boundary, form));
  PetscCall(HopsFormSetJacobian(*form, jac));
  PetscCall(HopsJacobianDestroy(&jac));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormSelect(HopsForm form, HopsJacobian jac, PetscBool convection, PetscBool boundary, HopsForm *out)
{
  PetscFunctionBegin;
  PetscCall(HopsFormCreate(out));
  (*out)->nf = form->nf;
  (*out)->nc = form->nc;
  PetscCall(HopsFormSetJacobian(*out, jac));
  for (PetscInt i = 0; i < form->n; ++i) {
    const HopsIntegral *in    = &form->integral[i];
    const PetscBool     cells = in->domain == HOPS_CELLS ? PETSC_TRUE : PETSC_FALSE;

    if (cells && in->test != in->trial && !convection) continue;
    if (cells && !HopsJacobianHasBlock(jac, in->field[0], in->field[1])) continue;
    if (cells || boundary) PetscCall(HopsFormAppendShared(*out, in));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormSetComponent(HopsForm ds, PetscInt component, HopsForm form)
{
  HopsJacobian jac = ds->jacobian;
  PetscBool    has[4];

  PetscFunctionBegin;
  PetscCall(HopsFormSetJacobian(form, jac));
  HopsFormGetFunctions(ds, HOPS_CELLS, has);
  for (PetscInt k = 0; k < 4; k += 3) {
    HopsCoefficient cf = NULL;

    if (has[k]) PetscCall(HopsCoefficientCreateJacobian(jac, k, component, &cf));
    PetscCall(HopsFormSetCells(form, k ? HOPS_GRADIENT : HOPS_VALUE, cf));
    PetscCall(HopsCoefficientDestroy(&cf));
  }
  PetscCall(HopsFormClear(form, HOPS_BOUNDARY));
  if (HopsFormHas(ds, HOPS_BOUNDARY)) PetscCall(HopsFormAddBoundaryDS(form, jac, component));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormSetScalar(HopsForm ds, HopsForm form)
{
  HopsJacobian jac  = ds->jacobian;
  MPI_Comm     comm = PetscObjectComm((PetscObject)jac->dm);
  PetscBool    has[4];

  PetscFunctionBegin;
  PetscCheck(jac->fields->nf == 1, comm, PETSC_ERR_SUP,
             "The DM has %" PetscInt_FMT
             " fields where a scalar coefficient is wanted: use -dm_mat_type pa, which takes several, or PCFIELDSPLIT",
             jac->fields->nf);
  PetscCheck(jac->nc == 1, comm, PETSC_ERR_SUP,
             "The field has %" PetscInt_FMT
             " components where a scalar coefficient is wanted: use -dm_mat_type pa, or PCLOR on the DM itself, which take several",
             jac->nc);
  HopsFormGetFunctions(ds, HOPS_CELLS, has);
  PetscCheck(!has[1] && !has[2], comm, PETSC_ERR_SUP,
             "The form has a first-order term (g1 or g2 of its PetscDS), which a diffusion-reaction operator does not hold: let "
             "PCLOR take the form from the DM, or, to precondition with its symmetric part, use -pc_lor_ignore convection");
  PetscCall(HopsFormSetComponent(ds, 0, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsCoefficientIsDS(HopsCoefficient cf)
{
  return cf->ctx && (cf->destroyctx == HopsDSContextDestroy || cf->destroyctx == HopsFaceContextDestroy) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode HopsFormCopyAll(HopsForm from, HopsForm to)
{
  HopsJacobian jac;
  PetscBool    boundary = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < from->n; ++i) {
    const HopsIntegral *in = &from->integral[i];

    if (!HopsCoefficientIsDS(in->coefficient)) PetscCall(HopsFormAppendShared(to, in));
    else if (in->domain == HOPS_BOUNDARY) boundary = PETSC_TRUE;
  }
  if (!from->jacobian) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsJacobianDuplicate(from->jacobian, &jac));
  PetscCall(HopsFormSetJacobian(to, jac));
  for (PetscInt i = 0; i < from->n; ++i) {
    const HopsIntegral *in = &from->integral[i];
    HopsCoefficient     cf;

    if (in->domain != HOPS_CELLS || !HopsCoefficientIsDS(in->coefficient)) continue;
    PetscCall(HopsCoefficientCreateJacobian(jac, ((HopsDSContext *)in->coefficient->ctx)->kind, 0, &cf));
    PetscCall(HopsFormSetCells(to, in->test, cf));
    PetscCall(HopsCoefficientDestroy(&cf));
  }
  if (boundary) PetscCall(HopsFormAddBoundaryDS(to, jac, 0));
  PetscCall(HopsJacobianDestroy(&jac));
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
