/* HopsCoefficient: constant, per cell, a function of position, or given at quadrature points. */
#include <hops/private/hopspointfunctionimpl.h>

PetscErrorCode HopsCoefficientCreate_Private(MPI_Comm comm, PetscInt nc, const char kind[], HopsCoefficient *cf)
{
  PetscFunctionBegin;
  PetscCall(HopsInitialize());
  PetscCheck(nc >= 1 && nc <= 6 && nc != 5, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A coefficient has 1 component (scalar), dim (diagonal) or dim(dim+1)/2 (symmetric tensor), not %" PetscInt_FMT, nc);
  PetscCall(PetscHeaderCreate(*cf, HOPS_COEFFICIENT_CLASSID, "HopsCoefficient", "Coefficient of a form", "HopsCoefficient", comm,
                              HopsCoefficientDestroy, HopsCoefficientView));
  (*cf)->nc   = nc;
  (*cf)->kind = kind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientCreateConstant - Creates a coefficient that is the same everywhere.

  Collective

  Input Parameters:
+ comm   - the communicator
. nc     - number of components: 1, dim or dim(dim+1)/2, see `HopsCoefficient`
- values - [nc] the values

  Output Parameter:
. cf - the coefficient

  Level: beginner

.seealso: `HopsCoefficient`, `MatPASetDiffusion()`
@*/
PetscErrorCode HopsCoefficientCreateConstant(MPI_Comm comm, PetscInt nc, const PetscScalar values[], HopsCoefficient *cf)
{
  PetscFunctionBegin;
  HopsValidArray(nc, values, 3);
  HopsValidPointer(cf, 4);
  PetscCall(HopsCoefficientCreate_Private(comm, nc, "constant", cf));
  for (PetscInt k = 0; k < nc; ++k)
    PetscCheck(!PetscIsInfOrNanScalar(values[k]), comm, PETSC_ERR_FP,
               "Component %" PetscInt_FMT " of the constant coefficient is infinite or not-a-number", k);
  PetscCall(PetscMalloc1(nc, &(*cf)->values));
  PetscCall(HopsTakeReal(nc, values, (*cf)->values, "A coefficient"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientCreateCell - Creates a coefficient that is constant on each cell.

  Collective

  Input Parameters:
+ space  - the space
. nc     - number of components, see `HopsCoefficient`
- values - [cells][nc] in the caller's order of this rank's cells: that of the arrays, or of the DMPlex's
  points of height 0
           (overlap cells included)

  Output Parameter:
. cf - the coefficient; the values are copied

  Level: beginner

.seealso: `HopsCoefficient`, `MatPASetDiffusion()`
@*/
PetscErrorCode HopsCoefficientCreateCell(HopsSpace space, PetscInt nc, const PetscScalar values[], HopsCoefficient *cf)
{
  PetscInt n;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(cf, 4);
  PetscCall(HopsCount("values of the cell coefficient", space->ncaller, nc, 1, &n));
  HopsValidArray(n, values, 3);
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)space), nc, "cell", cf));
  (*cf)->nvcells = space->ncaller;
  PetscCall(PetscMalloc1(n, &(*cf)->values));
  PetscCall(HopsTakeReal(n, values, (*cf)->values, "A coefficient"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientEvaluate_Function(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                       const HopsBasis *basis, const PetscReal x[], PetscReal out[])
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n * nq; ++i)
    PetscCall(HopsEvaluateReal(cf->func, sp->dim, x + i * sp->dim, cf->nc, out + i * cf->nc, cf->ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the function is compiled for the space's back end */
static PetscErrorCode HopsCoefficientEvaluateOn_Function(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                         const HopsBasis *basis, HopsValuesWork *w, HopsValues *val,
                                                         PetscBool *done)
{
  const HopsPositionFunction f = {.f = cf->func, .nc = cf->nc, .ctx = cf->ctx, .ctxsize = cf->ctxsize, .owner = (PetscObject)cf};
  HopsPositionRun            r;
  int                        flags[2];

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (n) PetscCall(HopsPositionBegin(&cf->compiled, sp, &f, basis, &r, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsValuesReserve(w, sp->backend, (size_t)n * r.nq * cf->nc));
  r.args.out = w->bv;
  PetscCall(HopsPositionEvaluate(&r, first, n));
  PetscCall(HopsPositionVaries(&r, flags));
  PetscCall(HopsPositionEnd(&r));
  PetscCheck(flags[0] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_FP,
             "The %s coefficient is infinite or not-a-number in cell %" PetscInt_FMT ": check the function behind it", cf->kind,
             sp->cell[flags[0]]);
  *val = (HopsValues){.nc      = cf->nc,
                      .v       = w->bv,
                      .cstride = r.nq * cf->nc,
                      .pstride = flags[1] ? cf->nc : 0,
                      .memtype = sp->backend->memtype};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsCoefficientCreateFunction - Creates a coefficient that is a function of position.

  Collective

  Input Parameters:
+ comm - the communicator
. nc   - number of components, see `HopsCoefficient`
. f    - the function
- ctx  - its context, or `NULL`

  Output Parameter:
. cf - the coefficient

  Level: beginner

  Note:
  The function may jump between cells: it is evaluated inside of them alone. Operators do so at the points of
  their quadrature rule; Gauss-Lobatto points on faces (`MatPASetQuadrature()`) have the limit from inside of
  the cell, extrapolated from three points within 6e-5 of the distance to the next one. `PCLOR` does so at its
  nodes, with those on faces moved in by a hundredth of that distance. Robin terms take it on the faces.

  A device evaluates it where it has the function's source (`HopsCoefficientSetDeviceSource()`).

.seealso: `HopsCoefficient`, `HopsPointFunction`, `HopsCoefficientSetDeviceSource()`,
          `HopsCoefficientCreateCell()`, `MatPASetDiffusion()`
@*/
PetscErrorCode HopsCoefficientCreateFunction(MPI_Comm comm, PetscInt nc, HopsPointFunction f, void *ctx, HopsCoefficient *cf)
{
  PetscFunctionBegin;
  HopsValidPointer(f, 3);
  HopsValidPointer(cf, 5);
  PetscCall(HopsCoefficientCreate_Private(comm, nc, "function", cf));
  (*cf)->func       = f;
  (*cf)->ctx        = ctx;
  (*cf)->needsx     = PETSC_TRUE;
  (*cf)->evaluate   = HopsCoefficientEvaluate_Function;
  (*cf)->evaluateon = HopsCoefficientEvaluateOn_Function;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  At its own Gauss points the coefficient is what was given. At other points (the low-order-refined mesh's
  vertices) it is the value at the nearest Gauss point, which keeps it positive.
*/
static PetscErrorCode HopsCoefficientEvaluate_Quadrature(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                         const HopsBasis *basis, const PetscReal x[], PetscReal out[])
{
  const PetscInt dim = sp->dim, Q = basis->Q, nq = HopsPower(Q, dim), nv = HopsPower(cf->q_1d, dim);
  HopsBasis      own;
  PetscInt      *near;

  PetscFunctionBegin;
  PetscCheck(cf->nvcells == sp->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The quadrature coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, sp->ncaller);
  PetscCall(HopsBasisCreate(2, cf->q_1d, PETSC_FALSE, &own));
  PetscCall(PetscMalloc1(Q, &near));
  for (PetscInt q = 0; q < Q; ++q) {
    near[q] = 0;
    for (PetscInt k = 1; k < cf->q_1d; ++k)
      if (PetscAbsReal(own.points[k] - basis->points[q]) < PetscAbsReal(own.points[near[q]] - basis->points[q])) near[q] = k;
  }
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscInt a = near[q % Q], b = near[(q / Q) % Q], z = dim == 3 ? cf->q_1d * near[q / (Q * Q)] : 0;
      const PetscInt v = sp->turned ? b + cf->q_1d * (a + z) : a + cf->q_1d * (b + z); /* as the caller counts directions */

      PetscCall(
        PetscArraycpy(out + (c * nq + q) * cf->nc, cf->values + ((sp->cell[first + c] - sp->cstart) * nv + v) * cf->nc, cf->nc));
    }
  PetscCall(PetscFree(near));
  PetscCall(HopsBasisDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientCreateQuadrature - Creates a coefficient from its values at the Gauss points of every cell.

  Collective

  Input Parameters:
+ space  - the space
. nc     - number of components, see `HopsCoefficient`
. q_1d   - Gauss points per direction, 1 to 256
- values - [cells][q_1d^dim][nc], cells in the caller's order (see `HopsCoefficientCreateCell()`), points x
  fastest

  Output Parameter:
. cf - the coefficient; the values are copied

  Level: intermediate

  Note:
  Set the operator's quadrature to the same number of Gauss points (`MatPASetQuadrature()`, `-mat_pa_q_1d`):
  elsewhere the value at the nearest Gauss point is taken.

.seealso: `HopsCoefficient`, `MatPASetDiffusion()`
@*/
PetscErrorCode HopsCoefficientCreateQuadrature(HopsSpace space, PetscInt nc, PetscInt q_1d, const PetscScalar values[],
                                               HopsCoefficient *cf)
{
  PetscInt n;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(cf, 5);
  PetscCheck(q_1d >= 1 && q_1d <= HOPS_MAX_Q_1D, PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_OUTOFRANGE,
             "A cell has 1 to %d Gauss points per direction, not %" PetscInt_FMT, HOPS_MAX_Q_1D, q_1d);
  PetscCall(HopsCount("values of the quadrature coefficient", space->ncaller, HopsPower(q_1d, space->dim), nc, &n));
  HopsValidArray(n, values, 4);
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)space), nc, "quadrature", cf));
  (*cf)->nvcells  = space->ncaller;
  (*cf)->q_1d     = q_1d;
  (*cf)->evaluate = HopsCoefficientEvaluate_Quadrature;
  PetscCall(PetscMalloc1(n, &(*cf)->values));
  PetscCall(HopsTakeReal(n, values, (*cf)->values, "A coefficient"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B[Q][P]: the polynomials on the nodes at the points. Points next to a node, where preconditioners look,
   have the node's value */
static PetscErrorCode HopsNodalTabulate(PetscInt P, const HopsBasis *basis, HopsBasis *b)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(P, basis->Q, basis->points, b));
  for (PetscInt q = 0; q < basis->Q; ++q)
    for (PetscInt i = 0; i < P; ++i) {
      const PetscReal width = PetscMin(i ? b->nodes[i] - b->nodes[i - 1] : 2.0, i < P - 1 ? b->nodes[i + 1] - b->nodes[i] : 2.0);

      if (PetscAbsReal(basis->points[q] - b->nodes[i]) > 1.5 * HOPS_BASIS_INSET * width) continue;
      for (PetscInt j = 0; j < P; ++j) b->B[q * P + j] = i == j ? 1.0 : 0.0;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A polynomial through positive values may be negative in between, and no operator means that */
static PetscErrorCode HopsNodalCheck(HopsCoefficient cf, HopsSpace sp, PetscInt cell, PetscInt n, const PetscReal v[], PetscInt nq,
                                     const PetscReal u[])
{
  PetscReal least = PETSC_MAX_REAL, lowest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (cf->nc != 1 && cf->nc != sp->dim) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < n; ++i) least = PetscMin(least, v[i]);
  for (PetscInt q = 0; q < nq; ++q) lowest = PetscMin(lowest, u[q]);
  PetscCheck(least < 0.0 || lowest >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The nodal coefficient is %g or more at the nodes of cell %" PetscInt_FMT
             ", and its polynomial %g at a quadrature point: it varies more than the order resolves. Use the nodes for quadrature "
             "(MatPASetQuadrature(), -mat_pa_quadrature gll), or HopsCoefficientCreateQuadrature()",
             (double)least, sp->cell[cell], (double)lowest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientEvaluate_Nodal(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                    const HopsBasis *basis, const PetscReal x[], PetscReal out[])
{
  const PetscInt   dim = sp->dim, P = cf->q_1d, np = HopsPower(P, dim), nq = HopsPower(basis->Q, dim);
  const PetscReal *M[3];
  PetscReal       *v, *u, *work;
  HopsBasis        b;

  PetscFunctionBegin;
  PetscCheck(cf->nvcells == sp->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The nodal coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, sp->ncaller);
  PetscCall(HopsNodalTabulate(P, basis, &b));
  PetscCall(PetscMalloc3(np, &v, nq, &u, 2 * PetscMax(np, nq), &work));
  for (PetscInt d = 0; d < dim; ++d) M[d] = b.B;
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt k = 0; k < cf->nc; ++k) {
      const PetscReal *values = cf->values + (sp->cell[first + c] - sp->cstart) * np * cf->nc + k;

      for (PetscInt i = 0; i < np; ++i) v[i] = PetscRealPart(values[i * cf->nc]);
      PetscCall(HopsTensorApply(dim, basis->Q, P, M, v, u, work));
      PetscCall(HopsNodalCheck(cf, sp, first + c, np, v, nq, u));
      for (PetscInt q = 0; q < nq; ++q) out[(c * nq + q) * cf->nc + k] = u[q];
    }
  PetscCall(PetscFree3(v, u, work));
  PetscCall(HopsBasisDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientCreateNodal - Creates a coefficient from its values at the nodes of every cell.

  Collective

  Input Parameters:
+ space  - an H1 space
. nc     - number of components, see `HopsCoefficient`
- values - [cells][(order+1)^dim][nc], cells and nodes in the caller's order: the order of the arrays that the
  space was made from (`HopsSpaceCreateFromNodes()`), on a `DMPLEX` the Gauss-Lobatto-Legendre nodes, x
  fastest

  Output Parameter:
. cf - the coefficient; the values are copied

  Level: intermediate

  Notes:
  The form in which spectral-element codes hold coefficients. Cells have their own values where they meet, so
  the coefficient may jump there.

  `PCLOR` takes the values as they are, and so does an operator whose quadrature points are the nodes
  (`MatPASetQuadrature()`). At other points it is the polynomial through the values. Where that is negative
  between values that are not, it raises `PETSC_ERR_ARG_OUTOFRANGE`.

.seealso: `HopsCoefficient`, `HopsCoefficientCreateQuadrature()`, `PCLORSetCoefficients()`,
`MatPASetDiffusion()`
@*/
PetscErrorCode HopsCoefficientCreateNodal(HopsSpace space, PetscInt nc, const PetscScalar values[], HopsCoefficient *cf)
{
  PetscInt n;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(cf, 4);
  PetscCheck(space->family == HOPS_H1, PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_WRONG,
             "A nodal coefficient has its values at the nodes of an H1 space, not of one in %s: use "
             "HopsCoefficientCreateQuadrature()",
             HopsFamilies[space->family]);
  PetscCall(HopsCount("values of the nodal coefficient", space->ncaller, space->ne, nc, &n));
  HopsValidArray(n, values, 3);
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)space), nc, "nodal", cf));
  (*cf)->nvcells  = space->ncaller;
  (*cf)->q_1d     = space->order + 1;
  (*cf)->evaluate = HopsCoefficientEvaluate_Nodal;
  PetscCall(PetscMalloc1(n, &(*cf)->values)); /* of the space's own lattice */
  for (PetscInt i = 0; i < space->ncaller * space->ne; ++i) {
    const PetscInt node = i % space->ne, at = space->place ? space->place[node] : node;

    PetscCall(HopsTakeReal(nc, values + i * nc, (*cf)->values + (i - node + at) * nc, "A coefficient"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientReference - Adds a reference to a `HopsCoefficient`.

  Logically Collective

  Input Parameter:
. cf - the coefficient

  Level: intermediate

.seealso: `HopsCoefficient`, `HopsCoefficientDestroy()`
@*/
PetscErrorCode HopsCoefficientReference(HopsCoefficient cf)
{
  PetscFunctionBegin;
  HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 1);
  PetscCall(PetscObjectReference((PetscObject)cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientDestroy - Destroys a `HopsCoefficient` when its last reference is dropped.

  Collective

  Input Parameter:
. cf - the coefficient, set to `NULL`

  Level: beginner

.seealso: `HopsCoefficient`
@*/
PetscErrorCode HopsCoefficientDestroy(HopsCoefficient *cf)
{
  HopsCoefficient c;

  PetscFunctionBegin;
  HopsValidPointer(cf, 1);
  c = *cf;
  if (!c) PetscFunctionReturn(PETSC_SUCCESS);
  HopsValidHeader(c, HOPS_COEFFICIENT_CLASSID, 1);
  *cf = NULL;
  if (--((PetscObject)c)->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->destroyctx) PetscCall((*c->destroyctx)(c->ctx));
  PetscCall(HopsPointFunctionListDestroy(&c->compiled));
  PetscCall(PetscFree(c->values));
  PetscCall(PetscHeaderDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientView - Prints the kind and the number of components of a coefficient.

  Collective

  Input Parameters:
+ cf     - the coefficient
- viewer - an ASCII viewer, or `NULL` for standard output

  Level: intermediate

.seealso: `HopsCoefficient`
@*/
PetscErrorCode HopsCoefficientView(HopsCoefficient cf, PetscViewer viewer)
{
  PetscFunctionBegin;
  HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)cf), &viewer));
  HopsValidHeader(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "%s coefficient, %" PetscInt_FMT " component%s\n", cf->kind, cf->nc, cf->nc > 1 ? "s" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
