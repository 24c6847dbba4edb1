/* Cells that have orders of their own: estimates, and whether a cell is refined or gets a higher order. */
#include <hops/private/hopsadaptimpl.h>
#include <hops/private/hopshpimpl.h>

/*@C
  HopsHPSpaceEstimateError - Estimates the error of a solution in a `HopsHPSpace`, cell by cell.

  Collective

  Input Parameters:
+ hp   - the space
. A    - a `MATPA` of the problem on the mesh's space, for its coefficients: it is not multiplied with
. x    - the solution
. type - the estimate
. f    - the right-hand side as in `HopsSpaceEstimateError()`
. flux - the flux through the boundary, likewise
- ctx  - the context of both functions, or `NULL`

  Output Parameter:
. eta - the estimates of the cells, a vector of `HopsSpaceCreateCellVec()` of the mesh's space

  Level: intermediate

  Note:
  The estimates are those of `HopsSpaceEstimateError()`, with the order of the cell for p. `HOPS_ESTIMATE_ZZ`
  is refused where a cell has a lower order than the mesh's space: its averages are at the nodes of that
  order. The essential values of the mesh's space become the solution's.

.seealso: `HopsHPSpace`, `HopsSpaceEstimateError()`, `HopsSpaceMark()`, `HopsHPSpaceMark()`
@*/
PetscErrorCode HopsHPSpaceEstimateError(HopsHPSpace hp, Mat A, Vec x, HopsEstimateType type, HopsPointFunction f,
                                        HopsPointFunction flux, void *ctx, Vec eta)
{
  Vec       y;
  PetscBool lower = PETSC_FALSE;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidHeader(A, MAT_CLASSID, 2);
  HopsValidHeader(x, VEC_CLASSID, 3);
  HopsValidEnum(type, HOPS_ESTIMATE_RESIDUAL, 4);
  HopsValidHeader(eta, VEC_CLASSID, 8);
  for (PetscInt c = 0; c < hp->mesh->ncells; ++c)
    if (hp->order[c] < hp->mesh->order) lower = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &lower, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)hp)));
  PetscCheck(type != HOPS_ESTIMATE_ZZ || !lower, PetscObjectComm((PetscObject)hp), PETSC_ERR_SUP,
             "The estimate zz averages at the nodes of the mesh's order, which cells of lower order agree with: use "
             "HOPS_ESTIMATE_RESIDUAL or HOPS_ESTIMATE_KELLY");
  PetscCall(HopsSpaceCreateVec(hp->mesh, &y));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsEstimateError_Private(hp->mesh, hp->order, A, y, type, f, flux, ctx, eta));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M[q + 1][P]: Legendre coefficients, by the norm of their polynomials in L2, of a polynomial of order q from
   its values at P nodes */
static PetscErrorCode LegendreCreate(PetscInt P, PetscInt q, PetscReal M[])
{
  HopsBasis  gauss;
  PetscReal *L;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, q + 1, PETSC_FALSE, &gauss));
  PetscCall(PetscMalloc1(q + 2, &L));
  PetscCall(PetscArrayzero(M, (q + 1) * P));
  for (PetscInt g = 0; g <= q; ++g) {
    L[0] = 1.0;
    L[1] = gauss.points[g];
    for (PetscInt k = 1; k < q; ++k) L[k + 1] = ((2 * k + 1) * gauss.points[g] * L[k] - k * L[k - 1]) / (k + 1);
    for (PetscInt k = 0; k <= q; ++k)
      for (PetscInt i = 0; i < P; ++i) M[k * P + i] += PetscSqrtReal(k + 0.5) * gauss.weights[g] * L[k] * gauss.B[g * P + i];
  }
  PetscCall(PetscFree(L));
  PetscCall(HopsBasisDestroy(&gauss));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The rate s at which b[q + 1], squares of coefficients, fall: b_k like exp(-2 s k), by least squares. What is
  larger behind counts for what is before it, as symmetry makes every other coefficient zero. The mean is left
  out where three others are there.
*/
static PetscReal Decay(PetscInt q, PetscReal b[])
{
  const PetscInt from = q > 2 ? 1 : 0;
  PetscReal      n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;

  for (PetscInt k = q; k > 0; --k) b[k - 1] = PetscMax(b[k - 1], b[k]);
  if (b[1] <= 1e-26 * b[0]) return PETSC_MAX_REAL; /* a constant */
  for (PetscInt k = from; k <= q; ++k) {
    const PetscReal l = 0.5 * PetscLogReal(PetscMax(b[k], 1e-30 * b[0]));

    n += 1.0;
    x += k;
    y += l;
    xx += (PetscReal)k * k;
    xy += k * l;
  }
  return -(n * xy - x * y) / (n * xx - x * x);
}

/* Adds to b[dim][q + 1] the squares of a cell's coefficients by their index in each direction; v[ne] at the
   mesh's nodes */
static PetscErrorCode AddCoefficients(PetscInt dim, PetscInt P, PetscInt q, const PetscReal M[], const PetscReal v[], PetscReal a[],
                                      PetscReal work[], PetscReal b[])
{
  const PetscInt         m[3] = {q + 1, q + 1, q + 1}, n[3] = {P, P, P};
  const PetscReal *const L[3] = {M, M, M};

  PetscFunctionBegin;
  HopsTensorApplyRect(dim, m, n, L, v, a, work);
  for (PetscInt i = 0; i < HopsPower(q + 1, dim); ++i)
    for (PetscInt d = 0, k = i; d < dim; ++d, k /= q + 1) b[d * (q + 1) + k % (q + 1)] += PetscSqr(a[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rate[ncells]: the slowest decay of the function y of the mesh's space in any direction of a cell */
static PetscErrorCode Decays(HopsHPSpace hp, Vec y, PetscReal rate[])
{
  HopsSpace        sp = hp->mesh;
  const PetscInt   P = sp->order + 1, dim = sp->dim, ne = sp->ne;
  PetscReal      **M, *v, *a, *work, *b, *xg[HOPS_PARTS];
  const PetscReal *xa[HOPS_PARTS];
  HopsHanging      h = {0};

  PetscFunctionBegin;
  if (sp->hanging) PetscCall(HopsHangingCreate(HOPS_H1, dim, sp->order, &h));
  PetscCall(PetscCalloc1(P, &M));
  PetscCall(PetscMalloc4(ne, &v, ne, &a, 2 * ne, &work, dim * P, &b));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    PetscCall(PetscMalloc1(sp->nL - sp->nT, &xg[k]));
    PetscCall(HopsHostVecGetPartRead(y, k, &xa[k]));
    PetscCall(HopsSpaceGlobalToLocal(sp, k, xa[k], xg[k]));
  }
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt q = hp->order[c];

    if (!M[q]) {
      PetscCall(PetscMalloc1((q + 1) * P, &M[q]));
      PetscCall(LegendreCreate(P, q, M[q]));
    }
    PetscCall(PetscArrayzero(b, dim * P));
    for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
      HopsGatherCell(sp, c, &h, xa[k], xg[k], v);
      PetscCall(AddCoefficients(dim, P, q, M[q], v, a, work, b));
    }
    rate[c] = PETSC_MAX_REAL;
    for (PetscInt d = 0; d < dim; ++d) rate[c] = PetscMin(rate[c], Decay(q, b + d * (q + 1)));
  }
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    PetscCall(HopsHostVecRestorePartRead(y, k, &xa[k]));
    PetscCall(PetscFree(xg[k]));
  }
  for (PetscInt q = 0; q < P; ++q) PetscCall(PetscFree(M[q]));
  PetscCall(PetscFree(M));
  PetscCall(PetscFree4(v, a, work, b));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceMark - Decides of cells that are marked for refinement which of them get a higher order instead:
  those where the function is smooth.

  Collective

  Input Parameters:
+ hp    - the space
. x     - the function
. decay - the rate of decay from which on a function counts as smooth, or `PETSC_DEFAULT`; see the notes
- most  - the highest order that cells get

  Input and Output Parameter:
. marks - [cells] of `HopsSpaceMark()`: `DM_ADAPT_REFINE` becomes `DM_ADAPT_KEEP` where the order is raised

  Output Parameter:
. orders - [cells] the orders to go on with: those of the children, where a cell is refined

  Level: intermediate

  Notes:
  The coefficients of the cell's function by products of Legendre polynomials fall like exp(-s k) with the
  index k in a direction, where the function is analytic. The least s of all directions, by least squares, is
  the rate. Of a singularity as far away as the cell is wide it is 1.76, and with one in the cell it falls
  with the order. The default, 1.5 + 1.5/p in a cell of order p, tells these apart. At order 1 nothing can be
  told, and it is raised.

  References:
+ * - C. Mavriplis, Adaptive mesh strategies for the spectral element method, Computer Methods in Applied
  Mechanics and Engineering 116, 1994
- * - T. Eibner and J. Melenk, An adaptive strategy for hp-FEM based on testing for analyticity, Computational
  Mechanics 39, 2007

.seealso: `HopsHPSpace`, `HopsHPSpaceEstimateError()`, `HopsSpaceMark()`
@*/
PetscErrorCode HopsHPSpaceMark(HopsHPSpace hp, Vec x, PetscReal decay, PetscInt most, PetscInt marks[], PetscInt orders[])
{
  PetscReal *rate;
  HopsSpace  sp;
  Vec        y;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  sp = hp->mesh;
  HopsValidArray(sp->ncells, marks, 5);
  HopsValidArray(sp->ncells, orders, 6);
  PetscCheck(most >= 1 && most <= 64, PetscObjectComm((PetscObject)hp), PETSC_ERR_ARG_OUTOFRANGE,
             "The highest order that cells get must be from 1 to 64, not %" PetscInt_FMT, most);
  PetscCheck(decay > 0.0 || decay == (PetscReal)PETSC_DEFAULT, PetscObjectComm((PetscObject)hp), PETSC_ERR_ARG_OUTOFRANGE,
             "The rate of decay from which on a function is smooth must be positive, not %g", (double)decay);
  PetscCall(PetscMalloc1(sp->ncells, &rate));
  PetscCall(HopsSpaceCreateVec(sp, &y));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(Decays(hp, y, rate));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt i = sp->cell[c];

    orders[i] = hp->order[c];
    if (marks[i] != DM_ADAPT_REFINE || orders[i] >= most) continue;
    if (orders[i] > 1 && rate[c] < (decay > 0.0 ? decay : 1.5 + 1.5 / orders[i])) continue;
    marks[i] = DM_ADAPT_KEEP;
    ++orders[i];
  }
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree(rate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
