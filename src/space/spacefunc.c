/* Functions and a HopsSpace: interpolation, essential values, right-hand sides, L2 errors. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>

/* x (owned part), g (ghosts) and cv (constrained part) take the values of f at the nodes of this rank's
   cells; each may be NULL */
static PetscErrorCode HopsSpaceEvaluateNodes(HopsSpace sp, HopsRealFunction f, void *ctx, PetscReal x[], PetscReal g[],
                                             PetscReal cv[])
{
  const PetscInt np = HopsPower(sp->order + 1, sp->dim);
  HopsBasis      gll, geom;
  HopsHanging    h = {0};
  PetscReal     *pts;
  PetscBool     *on;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  if (sp->family != HOPS_H1) {
    PetscCall(HopsFieldMoments(sp, f, ctx, x, g, cv));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsBasisCreate(sp->order + 1, sp->order + 1, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(PetscMalloc1(np * sp->dim, &pts));
  PetscCall(PetscCalloc1(np, &on));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  for (PetscInt c = x || g ? 0 : sp->ninterior; c < sp->ncells; ++c) { /* interior cells have owned entries alone */
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, pts, NULL));
    /* what a cell lists where its nodes hang is elsewhere */
    if (sp->hanging) (void)HopsHangingNodes(&h, sp->hang[c], on);
    for (PetscInt i = 0; i < np; ++i) {
      PetscReal *u = on[i] ? NULL : HopsLEntry(sp, sp->restr[c * np + i], x, g, cv);

      if (u) PetscCall((*f)(sp->dim, pts + i * sp->dim, 1, u, ctx));
    }
  }
  for (PetscInt i = 0; i < sp->nabsent; ++i) {
    PetscReal *u = HopsLEntry(sp, sp->absent[i], x, g, cv);

    if (u) PetscCall((*f)(sp->dim, sp->xabsent + i * sp->dim, 1, u, ctx));
  }
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree(on));
  PetscCall(PetscFree(pts));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSpaceInterpolatePart(HopsSpace space, PetscInt part, HopsRealFunction f, void *ctx, Vec x)
{
  const PetscInt nel = space->ncells * space->ne;
  PetscReal     *a, *cv, *g;
  PetscBool     *touched;
  PetscReal     *shared; /* values that other ranks have for entries of this one */

  PetscFunctionBegin;
  PetscCall(HopsHostVecGetPart(x, part, HOPS_VEC_READ_WRITE, &a));
  PetscCall(PetscCalloc4(space->nC, &cv, space->nG, &g, space->nT, &touched, space->halo.nshared, &shared));
  PetscCall(HopsSpaceEvaluateNodes(space, f, ctx, a, g, cv));
  /* unknowns that none of their owner's cells touch (raw arrays allow it) take another rank's value */
  for (PetscInt i = 0; i < nel; ++i)
    if (HopsUnsigned(space->restr[i]) < space->nT) touched[HopsUnsigned(space->restr[i])] = PETSC_TRUE;
  PetscCall(PetscSFReduceBegin(space->halo.sf, MPIU_REAL, g, shared, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(space->halo.sf, MPIU_REAL, g, shared, MPI_REPLACE));
  for (PetscInt i = 0; i < space->halo.nshared; ++i)
    if (!touched[space->halo.shared[i]]) a[space->halo.shared[i]] = shared[i];
  for (PetscInt e = 0; e < space->ness; ++e) a[space->essT[e]] = cv[space->essC[e] - space->nT - space->nG];
  PetscCall(PetscFree4(cv, g, touched, shared));
  PetscCall(HopsHostVecRestorePart(x, part, HOPS_VEC_READ_WRITE, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of some of a mesh's cells, as parts of a space with orders of cells are, unknowns may be those of parents
   that are not among them: nobody knows where they are */
static PetscErrorCode HopsSpaceCheckPlaces(HopsSpace sp)
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nabsent; ++i)
    if (sp->xabsent[i * sp->dim] == PETSC_MIN_REAL)
      PetscCall(HopsRefuse(why,
                           "The space has unknowns of parents' nodes whose cells it has not, as parts of a HopsHPSpace may: use "
                           "HopsHPSpaceInterpolate()"));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceInterpolate - Sets a vector to the values of a function at the nodes, or to its integrals over
  lines, faces or cells that are the unknowns of the space.

  Collective

  Input Parameters:
+ space - the space
. f     - the function; it has `dim` components for H(curl) and H(div), one for H1 and L2
- ctx   - its context, or `NULL`

  Output Parameter:
. x - the vector

  Level: beginner

  Note:
  The integrals are taken by Gauss quadrature between each two neighbouring nodes.

.seealso: `HopsSpace`, `HopsSpaceCreateVec()`, `HopsSpaceSetEssentialFunction()`
@*/
PetscErrorCode HopsSpaceInterpolate(HopsSpace space, HopsPointFunction f, void *ctx, Vec x)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(x, VEC_CLASSID, 4);
  PetscCall(HopsSpaceCheckVec(space, x, "of the values"));
  PetscCall(HopsSpaceCheckPlaces(space));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    HopsFunctionPart p = {f, ctx, k};

    PetscCall(HopsSpaceInterpolatePart(space, k, HopsPartFunction(p), HopsPartContext(p), x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceSetEssentialFunction - Sets the values of the essential (Dirichlet) unknowns; they are zero until
  then.

  Collective

  Input Parameters:
+ space - the space
. f     - the boundary values as a function of position, or `NULL` for zero
- ctx   - its context, or `NULL`

  Level: beginner

  Note:
  `MatPALiftEssential()` moves these values to the right-hand side; `HopsSpaceComputeL2Error()` and
  `HopsSpaceViewVTU()` use them too.

.seealso: `HopsSpace`, `MatPALiftEssential()`
@*/
PetscErrorCode HopsSpaceSetEssentialFunction(HopsSpace space, HopsPointFunction f, void *ctx)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  for (PetscInt k = 0; f && k < HOPS_PARTS; ++k) {
    HopsFunctionPart p = {f, ctx, k};

    PetscCall(HopsSpaceEvaluateNodes(space, HopsPartFunction(p), HopsPartContext(p), NULL, NULL, space->cvals + k * space->nC));
  }
  if (!f) PetscCall(PetscArrayzero(space->cvals, HOPS_PARTS * space->nC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal HopsDet(PetscInt dim, const PetscReal J[])
{
  if (dim == 2) return J[0] * J[3] - J[1] * J[2];
  return J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

static inline PetscReal HopsTensorWeight(const HopsBasis *b, PetscInt dim, PetscInt q)
{
  PetscReal w = 1.0;

  for (PetscInt d = 0; d < dim; ++d, q /= b->Q) w *= b->weights[q % b->Q];
  return w;
}

/* The linear form of an H1 space */
static PetscErrorCode HopsNodalComputeRHS(HopsSpace space, PetscInt part, HopsRealFunction f, void *ctx, Vec b)
{
  const PetscInt   dim = space->dim, P = space->order + 1, Q = P + 2;
  const PetscInt   np = HopsPower(P, dim), nq = HopsPower(Q, dim);
  HopsBasis        basis, geom;
  HopsHanging      h = {0};
  PetscReal       *pts, *J, *u, *v, *work, *Bt;
  const PetscReal *M[3];
  PetscReal       *y, *yg;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, Q, PETSC_FALSE, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(space, &basis, &geom));
  PetscCall(PetscMalloc6(nq * dim, &pts, nq * dim * dim, &J, nq, &u, np, &v, 2 * nq, &work, P * Q, &Bt));
  if (space->hanging) PetscCall(HopsHangingCreate(space->family, dim, space->order, &h));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) Bt[i * Q + q] = basis.B[q * P + i];
  for (PetscInt d = 0; d < dim; ++d) M[d] = Bt;
  PetscCall(PetscCalloc1(space->nL - space->nT, &yg));
  PetscCall(HopsHostVecGetPart(b, part, HOPS_VEC_WRITE, &y));
  PetscCall(PetscArrayzero(y, space->nT));
  for (PetscInt c = 0; c < space->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(space, &geom, c, 1, pts, J));
    for (PetscInt q = 0; q < nq; ++q) {
      PetscCall((*f)(dim, pts + q * dim, 1, &u[q], ctx));
      u[q] *= HopsTensorWeight(&basis, dim, q) * HopsDet(dim, J + q * dim * dim);
    }
    PetscCall(HopsTensorApply(dim, P, Q, M, u, v, work));
    if (space->hanging) HopsHangingApply(&h, space->hang[c], PETSC_TRUE, v);
    for (PetscInt i = 0; i < np; ++i) {
      const int l = space->restr[c * np + i];

      if (l < space->nT) y[l] += v[i];
      else yg[l - space->nT] += v[i];
    }
  }
  PetscCall(HopsProlongTransposeBegin(space->hostP, yg, y));
  PetscCall(HopsProlongTransposeEnd(space->hostP, yg, y));
  for (PetscInt e = 0; e < space->ness; ++e) y[space->essT[e]] = 0.0;
  PetscCall(HopsHostVecRestorePart(b, part, HOPS_VEC_WRITE, &y));
  PetscCall(PetscFree(yg));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree6(pts, J, u, v, work, Bt));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceComputeRHS - Computes the linear form b_i = int f . v_i, with order + 3 Gauss points per direction.

  Collective

  Input Parameters:
+ space - the space
. f     - the function
- ctx   - its context, or `NULL`

  Output Parameter:
. b - the vector, overwritten; entries of essential unknowns that the vector holds are zero

  Level: beginner

.seealso: `HopsSpace`, `MatPALiftEssential()`
@*/
PetscErrorCode HopsSpaceComputeRHS(HopsSpace space, HopsPointFunction f, void *ctx, Vec b)
{
  PetscBool done;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(b, VEC_CLASSID, 4);
  PetscCall(HopsSpaceCheckVec(space, b, "of the right-hand side"));
  PetscCall(HopsSpaceComputeRHSDevice(space, f, ctx, space->order + 3, b, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceBringMesh(space));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    HopsFunctionPart p = {f, ctx, k};

    if (space->family == HOPS_H1) PetscCall(HopsNodalComputeRHS(space, k, HopsPartFunction(p), HopsPartContext(p), b));
    else PetscCall(HopsFieldComputeRHS(space, k, HopsPartFunction(p), HopsPartContext(p), b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error in an H1 space */
static PetscErrorCode HopsNodalComputeL2Error(HopsSpace space, Vec x, PetscInt part, HopsRealFunction f, void *ctx,
                                              PetscReal *square)
{
  const PetscInt   dim = space->dim, P = space->order + 1, Q = P + 3;
  const PetscInt   np = HopsPower(P, dim), nq = HopsPower(Q, dim);
  HopsBasis        basis, geom;
  HopsHanging      h = {0};
  PetscReal       *pts, *J, *u, *v, *work, sum = 0.0;
  const PetscReal *M[3];
  const PetscReal *a;
  PetscReal       *xg;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, Q, PETSC_FALSE, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(space, &basis, &geom));
  PetscCall(PetscMalloc5(nq * dim, &pts, nq * dim * dim, &J, np, &u, nq, &v, 2 * nq, &work));
  if (space->hanging) PetscCall(HopsHangingCreate(space->family, dim, space->order, &h));
  for (PetscInt d = 0; d < dim; ++d) M[d] = basis.B;
  PetscCall(PetscMalloc1(space->nL - space->nT, &xg));
  PetscCall(HopsHostVecGetPartRead(x, part, &a));
  PetscCall(HopsSpaceGlobalToLocal(space, part, a, xg));
  for (PetscInt c = 0; c < space->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(space, &geom, c, 1, pts, J));
    HopsGatherCell(space, c, &h, a, xg, u);
    PetscCall(HopsTensorApply(dim, Q, P, M, u, v, work));
    for (PetscInt q = 0; q < nq; ++q) {
      PetscReal e;

      PetscCall((*f)(dim, pts + q * dim, 1, &e, ctx));
      sum += HopsTensorWeight(&basis, dim, q) * HopsDet(dim, J + q * dim * dim) * PetscSqr(v[q] - e);
    }
  }
  PetscCall(HopsHostVecRestorePartRead(x, part, &a));
  PetscCall(PetscFree(xg));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree5(pts, J, u, v, work));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsBasisDestroy(&geom));
  *square += sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceComputeL2Error - Computes the L2 norm of the difference between a finite element function and a
  given one.

  Collective

  Input Parameters:
+ space - the space, whose essential values are used where the vector has no entry
. x     - the vector
. f     - the function to compare with
- ctx   - its context, or `NULL`

  Output Parameter:
. error - the norm, by order + 4 Gauss points per direction

  Level: beginner

.seealso: `HopsSpace`, `HopsSpaceSetEssentialFunction()`
@*/
PetscErrorCode HopsSpaceComputeL2Error(HopsSpace space, Vec x, HopsPointFunction f, void *ctx, PetscReal *error)
{
  PetscBool done;
  PetscReal square = 0.0;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidPointer(f, 3);
  HopsValidPointer(error, 5);
  PetscCall(HopsSpaceCheckVec(space, x, "of the finite element function"));
  PetscCall(HopsSpaceComputeL2ErrorDevice(space, f, ctx, space->order + 4, x, error, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceBringMesh(space));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    HopsFunctionPart p = {f, ctx, k};

    if (space->family == HOPS_H1) PetscCall(HopsNodalComputeL2Error(space, x, k, HopsPartFunction(p), HopsPartContext(p), &square));
    else PetscCall(HopsFieldComputeL2Error(space, x, k, HopsPartFunction(p), HopsPartContext(p), &square));
  }
  PetscCall(MPIU_Allreduce(&square, error, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)space)));
  *error = PetscSqrtReal(*error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
