/* Forms as lists of integrals. */
#include <hops/private/hopsformimpl.h>

PetscErrorCode HopsFormCreate(HopsForm *form)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(form));
  (*form)->refct = (*form)->nf = (*form)->nc = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFacetsDestroy(HopsFacets *facets)
{
  HopsFacets f = *facets;

  PetscFunctionBegin;
  *facets = NULL;
  if (!f || --f->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(f->cells, f->faces));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFormRemove(HopsForm form, PetscInt i)
{
  PetscFunctionBegin;
  PetscCall(HopsFacetsDestroy(&form->integral[i].facets));
  PetscCall(HopsCoefficientDestroy(&form->integral[i].coefficient));
  for (--form->n; i < form->n; ++i) form->integral[i] = form->integral[i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFormAppend(HopsForm form, const HopsIntegral *in)
{
  PetscFunctionBegin;
  if (form->n == form->max) {
    form->max = PetscMax(4, 2 * form->max);
    PetscCall(PetscRealloc(form->max * sizeof(HopsIntegral), &form->integral));
  }
  form->integral[form->n++] = *in;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormClear(HopsForm form, HopsDomain domain)
{
  PetscFunctionBegin;
  for (PetscInt i = form->n - 1; i >= 0; --i)
    if (form->integral[i].domain == domain) PetscCall(HopsFormRemove(form, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormReset(HopsForm form)
{
  PetscFunctionBegin;
  while (form->n) PetscCall(HopsFormRemove(form, form->n - 1));
  if (form->jacobian) PetscCall((*form->destroyjacobian)(&form->jacobian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormDestroy(HopsForm *out)
{
  HopsForm form = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!form || --form->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsFormReset(form));
  PetscCall(PetscFree(form->integral));
  PetscCall(HopsSpaceDestroy(&form->space));
  PetscCall(PetscFree(form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormSetSpace(HopsForm form, HopsSpace sp)
{
  PetscFunctionBegin;
  if (sp) PetscCall(HopsSpaceReference(sp));
  PetscCall(HopsSpaceDestroy(&form->space));
  form->space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormAppendShared(HopsForm to, const HopsIntegral *in)
{
  PetscFunctionBegin;
  if (in->facets) ++in->facets->refct;
  if (in->coefficient) PetscCall(HopsCoefficientReference(in->coefficient));
  PetscCall(HopsFormAppend(to, in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormCopy(HopsForm from, HopsDomain domain, HopsForm to)
{
  const HopsIntegral *in;

  PetscFunctionBegin;
  for (PetscInt i = 0; (in = HopsFormNext(from, domain, &i));) PetscCall(HopsFormAppendShared(to, in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the list, and of viewers: cells' derivatives, their values, facets */
static PetscInt HopsFormRank(const HopsIntegral *in)
{
  return in->domain == HOPS_CELLS ? (in->test == HOPS_VALUE ? 1 : 0) : 2;
}

PetscErrorCode HopsFormSetCells(HopsForm form, HopsDifferential d, HopsCoefficient cf)
{
  HopsIntegral in = {.domain = HOPS_CELLS, .test = d, .trial = d, .coefficient = cf};
  PetscInt     at = -1;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < form->n; ++i)
    if (form->integral[i].domain == HOPS_CELLS && form->integral[i].test == d && form->integral[i].trial == d) at = i;
  if (cf) PetscCall(HopsCoefficientReference(cf));
  if (at < 0 && cf) {
    PetscCall(HopsFormAppend(form, &in));
    for (PetscInt i = form->n - 1; i > 0 && HopsFormRank(&in) < HopsFormRank(&form->integral[i - 1]); --i) {
      form->integral[i]     = form->integral[i - 1];
      form->integral[i - 1] = in;
    }
  } else if (at >= 0 && !cf) PetscCall(HopsFormRemove(form, at));
  else if (at >= 0) {
    PetscCall(HopsCoefficientDestroy(&form->integral[at].coefficient));
    form->integral[at].coefficient = cf;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormAddBoundary(HopsForm form, PetscInt n, const PetscInt cells[], const PetscInt faces[], HopsCoefficient cf)
{
  HopsIntegral in = {.domain = HOPS_BOUNDARY, .test = HOPS_VALUE, .trial = HOPS_VALUE, .coefficient = cf};

  PetscFunctionBegin;
  PetscCall(PetscNew(&in.facets));
  in.facets->refct = 1;
  in.facets->n     = n;
  PetscCall(PetscMalloc2(n, &in.facets->cells, n, &in.facets->faces));
  PetscCall(PetscArraycpy(in.facets->cells, cells, n));
  PetscCall(PetscArraycpy(in.facets->faces, faces, n));
  PetscCall(HopsCoefficientReference(cf));
  PetscCall(HopsFormAppend(form, &in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormAddFunctions(HopsForm form, HopsDomain domain, PetscInt test, PetscInt trial, const PetscBool has[4])
{
  HopsIntegral in = {.domain = domain, .field = {test, trial}};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k) {
    in.test  = k & 2 ? HOPS_GRADIENT : HOPS_VALUE;
    in.trial = k & 1 ? HOPS_GRADIENT : HOPS_VALUE;
    if (has[k]) PetscCall(HopsFormAppend(form, &in));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsFormGetFunctions(HopsForm form, HopsDomain domain, PetscBool has[4])
{
  const HopsIntegral *in;

  for (PetscInt k = 0; k < 4; ++k) has[k] = PETSC_FALSE;
  for (PetscInt i = 0; (in = HopsFormNext(form, domain, &i));)
    has[(in->test == HOPS_VALUE ? 0 : 2) + (in->trial == HOPS_VALUE ? 0 : 1)] = PETSC_TRUE;
}

static const char *const HopsTermNames[] = {"mass", "diffusion", "curl-curl", "div-div", "normal trace"};

PetscErrorCode HopsFormCheck(HopsForm form)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < form->n; ++i) {
    const HopsIntegral *in = &form->integral[i];

    PetscCheck(in->domain != HOPS_CELLS || in->test == HOPS_VALUE || in->test == HopsFamilyDifferential(form->space->family),
               PetscObjectComm((PetscObject)form->space), PETSC_ERR_ARG_INCOMP,
               "The operator has a %s term, which its space, %s, does not take: set the space before the terms, and call "
               "MatPASetDiffusion() for H1, MatPASetCurlCurl() for H(curl), MatPASetDivDiv() for H(div)",
               HopsTermNames[in->test], HopsFamilies[form->space->family]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormView(HopsForm form, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < form->n; ++i) {
    const HopsIntegral *in = &form->integral[i];
    const char         *kind;

    if (!in->coefficient) continue; /* of a PetscDS: the operator with full tensors shows them */
    kind = in->coefficient->kind;
    if (in->domain == HOPS_BOUNDARY) PetscCall(PetscViewerASCIIPrintf(viewer, "Robin term: %s coefficient\n", kind));
    else if (in->test == HOPS_VALUE) PetscCall(PetscViewerASCIIPrintf(viewer, "mass: %s coefficient\n", kind));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %s coefficient, %" PetscInt_FMT " component%s\n", HopsTermNames[in->test], kind,
                                       in->coefficient->nc, in->coefficient->nc > 1 ? "s" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsFormNeedsTensors(HopsForm form)
{
  PetscBool needs = form->nf > 1 || form->nc > 1 ? PETSC_TRUE : PETSC_FALSE;

  for (PetscInt i = 0; i < form->n; ++i) {
    const HopsIntegral *in = &form->integral[i];

    if (in->test != in->trial || (in->domain == HOPS_BOUNDARY && in->test != HOPS_VALUE)) needs = PETSC_TRUE;
  }
  return needs;
}
