/* MATPA's choice between stored quadrature data and geometry that kernels recompute: for affine and
   multilinear cells. */
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsmapkind.h>

const char *const MatPAGeometryTypes[] = {"auto", "stored", "recompute", "MatPAGeometryType", "MATPA_GEOMETRY_", NULL};

/* The narrowest kind of map that has the coordinates of all cells, to within their rounding. The space
   remembers it. */
PetscErrorCode HopsSpaceGetMapKind(HopsSpace sp, HopsMapKind *kind)
{
  const PetscInt dim = sp->dim, g = sp->gorder + 1, ng = HopsPower(g, dim);
  PetscReal     *z, *w;
  HopsMapKind    in = HOPS_MAP_AFFINE, out;

  PetscFunctionBegin;
  *kind = sp->mapkind;
  if (sp->mapkind != HOPS_MAP_UNKNOWN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(g, &z, g, &w));
  PetscCall(HopsGLL(g, z, w));
  for (PetscInt i = 0; i < g; ++i) z[i] = 0.5 * (z[i] + 1.0);
  if (sp->backend->MapKind) {
    const int       *restr;
    const PetscReal *X;

    PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &X));
    PetscCall((*sp->backend->MapKind)(sp->ncells, dim, g, z, X, &in));
  } else {
    PetscCall(HopsSpaceBringMesh(sp));
    for (PetscInt i = 0; i < sp->ncells * dim && in != HOPS_MAP_CURVED; ++i)
      in = PetscMax(in, (HopsMapKind)(HOPS_MAP_AFFINE + HopsCellMapKind(dim, g, z, sp->X + (size_t)i * ng)));
  }
  PetscCall(PetscFree2(z, w));
  PetscCall(MPIU_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)sp)));
  *kind = sp->mapkind = out;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient's value in each cell, if it has one: *out[ncells][nc], or NULL where it is the same
   everywhere or absent */
static PetscErrorCode MatPAGetCellValues(Mat_PA *pa, HopsCoefficient cf, PetscBool *constant, PetscReal **out)
{
  HopsSpace      sp = pa->form->space;
  const PetscInt nq = HopsPower(pa->basis.Q, sp->dim), chunk = PetscMax(64, sp->backend->runpoints / nq);
  HopsValuesWork w = {0};
  PetscInt       size;

  PetscFunctionBegin;
  *out      = NULL;
  *constant = PETSC_TRUE;
  if (!cf || (cf->values && !cf->nvcells)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCount("values of the coefficient", sp->ncells, cf->nc, 1, &size));
  PetscCall(PetscMalloc1(size, out));
  for (PetscInt c = 0, n; c < sp->ncells && *constant; c += n) {
    HopsValues v;

    n = c ? PetscMin(chunk, sp->ncells - c) : 1; /* most coefficients that vary do so in the first cell */
    PetscCall(HopsCoefficientEvaluateOn(cf, sp, sp->backend, &pa->basis, c, n, &w, &v));
    if (!PetscMemTypeHost(v.memtype)) { /* where there are values at points, they are not all the same in a cell */
      if (v.pstride) *constant = PETSC_FALSE;
      else PetscCall(HopsValuesBring(&w, n, &v));
    }
    for (PetscInt i = 0; i < n && *constant; ++i) {
      const PetscReal *a = v.v + i * v.cstride;

      PetscCall(PetscArraycpy(*out + (c + i) * cf->nc, a, cf->nc));
      for (PetscInt q = 1; q < (v.pstride ? nq : 1); ++q)
        for (PetscInt k = 0; k < cf->nc; ++k)
          if (a[q * v.pstride + k] != a[k]) *constant = PETSC_FALSE;
    }
  }
  PetscCall(HopsValuesWorkFree(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static HopsValues MatPAValues(HopsCoefficient cf, const PetscReal *cells)
{
  HopsValues v = {.memtype = PETSC_MEMTYPE_HOST};

  if (cf) {
    v.nc      = cf->nc;
    v.cstride = cells ? cf->nc : 0;
    v.v       = cells ? cells : cf->values;
  }
  return v;
}

/* Multilinear cells, by docs/performance/gpu-operators.md. Order 1 in 3D has a kernel of its own for a scalar
   coefficient and up to 3 points */
static PetscBool MatPAStoringIsFaster(const Mat_PA *pa)
{
  const PetscInt P = pa->basis.P, Q = pa->basis.Q;

  if (P == 2 && Q <= 3 && pa->form->space->dim == 3 && HopsFormDerivative(pa->form) && HopsFormDerivative(pa->form)->nc == 1)
    return PETSC_FALSE;
  return P + Q < 7 ? PETSC_TRUE : PETSC_FALSE;
}

/* done: the kernel recomputes the geometry; else the caller fills quadrature data. pa->geometrynote says
   which, and why.
   Collective. */
PetscErrorCode MatPASetUpGeometry(Mat A, Mat_PA *pa, PetscBool *done)
{
  HopsSpace   sp = pa->form->space;
  PetscReal  *k = NULL, *m = NULL;
  HopsMapKind kind = HOPS_MAP_CURVED;
  PetscBool   ck, cm, in[2], out[2];

  PetscFunctionBegin;
  *done            = PETSC_FALSE;
  pa->geometrynote = "quadrature data stored";
  if (pa->geometry == MATPA_GEOMETRY_STORED) PetscFunctionReturn(PETSC_SUCCESS);
  if (sp->family != HOPS_H1) pa->geometrynote = "quadrature data stored (no geometry is recomputed outside H1)";
  else if (!pa->kernel->ops->SetUpCells) pa->geometrynote = "quadrature data stored (the back end recomputes no geometry)";
  else if (pa->basis.rule == HOPS_RULE_OTHER) pa->geometrynote = "quadrature data stored (the rule may not be exact)";
  else if (!pa->kernel->info.specialised) pa->geometrynote = "quadrature data stored (the generic kernel recomputes no geometry)";
  else {
    PetscCall(HopsSpaceGetMapKind(sp, &kind));
    if (kind == HOPS_MAP_CURVED) pa->geometrynote = "quadrature data stored (curved cells)";
    else if (kind == HOPS_MAP_MULTILINEAR && pa->geometry == MATPA_GEOMETRY_AUTO && MatPAStoringIsFaster(pa))
      pa->geometrynote = "quadrature data stored (reading them is faster at this order)";
    else {
      PetscCall(MatPAGetCellValues(pa, HopsFormDerivative(pa->form), &ck, &k));
      PetscCall(MatPAGetCellValues(pa, HopsFormValue(pa->form), &cm, &m));
      in[0] = (PetscBool)(ck && cm);
      PetscCall(MPIU_Allreduce(in, out, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
      if (!out[0]) pa->geometrynote = "quadrature data stored (a coefficient varies inside cells)";
      else {
        const HopsValues kappa = MatPAValues(HopsFormDerivative(pa->form), k), mass = MatPAValues(HopsFormValue(pa->form), m);
        PetscInt         bad;
        PetscReal        det;

        PetscCall(HopsValuesCount(sp->backend, HOPS_INDEFINITE, sp->dim, sp->ncells, 1, &kappa, &mass, &pa->nindefinite));
        PetscCall((*pa->kernel->ops->SetUpCells)(pa->kernel, kind, &kappa, &mass, &bad, &det));
        if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
        pa->geometrynote =
          kind == HOPS_MAP_AFFINE ? "geometry recomputed (affine cells)" : "geometry recomputed (multilinear cells)";
        *done = PETSC_TRUE;
      }
      PetscCall(PetscFree(k));
      PetscCall(PetscFree(m));
    }
  }
  PetscCheck(*done || pa->geometry == MATPA_GEOMETRY_AUTO, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "-mat_pa_geometry recompute cannot be honoured, %s: use auto or stored", pa->geometrynote);
  PetscCall(PetscInfo(A, "%s\n", pa->geometrynote));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetGeometryType - Sets whether an operator stores the geometry in its quadrature data, or recomputes it
  at every application.

  Logically Collective

  Input Parameters:
+ A    - the operator
- type - `MATPA_GEOMETRY_STORED`; `MATPA_GEOMETRY_RECOMPUTE`, an error where that cannot be done; or
  `MATPA_GEOMETRY_AUTO` (the
         default), to recompute it where that can be done and is faster

  Options Database Key:
. -mat_pa_geometry <auto|stored|recompute> - the type

  Level: intermediate

  Notes:
  Geometry is recomputed by back ends of devices where it is faster than reading it: all cells affine
  (parallelograms, parallelepipeds), or all bi- or trilinear; coefficients that do not vary inside a cell; and
  a kernel for the number of points. This also saves most of the operator's memory. `-ksp_view` and `-info`
  say what is done, and why.

  On affine cells with such coefficients a rule of more than order + 1 points is exact. So are order + 1 Gauss
  points, which are taken in its place.

.seealso: `MATPA`, `MatPAGeometryType`, `MatPASetQuadrature()`
@*/
PetscErrorCode MatPASetGeometryType(Mat A, MatPAGeometryType type)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  PetscCall(MatPAGetData(A, &pa));
  HopsValidEnum(type, MATPA_GEOMETRY_RECOMPUTE, 2);
  if (pa->geometry != type) PetscCall(MatPAChanged(A, pa, PETSC_FALSE));
  pa->geometry = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}
