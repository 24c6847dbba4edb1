/* Robin terms on the next coarser level of a multigrid hierarchy. */
#include <hops/private/hopsnestedimpl.h>

/* One value for each face of each cell, v[cell][2 dim] */
static PetscErrorCode HopsFaceEvaluate_Means(HopsCoefficient cf, HopsSpace sp, PetscInt cell, PetscInt face, const HopsBasis *basis,
                                             const PetscReal x[], const PetscReal normal[], const PetscReal J[], PetscReal out[])
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim - 1);

  PetscFunctionBegin;
  for (PetscInt q = 0; q < nq; ++q) out[q] = ((PetscReal *)cf->ctx)[cell * 2 * sp->dim + face];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFreeMeans(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The face of the parent on which the child's face lies, -1 where it lies inside of the parent */
static PetscInt HopsParentFace(const HopsNested *n, PetscInt f, PetscInt face)
{
  for (PetscInt d = 0; d < n->dim; ++d) {
    const PetscInt a = n->axis[f * n->dim + d], side = (face % 2) ^ (a & 4 ? 1 : 0);

    if ((a & 3) == face / 2 && (HopsNestedHalves(n, f) == 1 || ((n->half[f] >> d) & 1) == side)) return 2 * d + side;
  }
  return -1;
}

/* s[2][n]: the integrals of alpha and of 1 over the faces */
static PetscErrorCode HopsFaceIntegrals(HopsSpace sp, const HopsBasis *basis, const HopsIntegral *in, PetscReal s[])
{
  const HopsFacets r   = in->facets;
  const PetscInt   nq  = HopsPower(basis->Q, sp->dim - 1);
  PetscScalar      one = 1.0;
  PetscReal       *v;
  HopsCoefficient  unit;

  PetscFunctionBegin;
  PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)sp), 1, &one, &unit));
  PetscCall(PetscMalloc1(r->n * nq, &v));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(HopsFaceEvaluate(sp, basis, r->n, r->cells, r->faces, k ? unit : in->coefficient, v));
    for (PetscInt f = 0; f < r->n; ++f) {
      s[k * r->n + f] = 0.0;
      for (PetscInt q = 0; q < nq; ++q) {
        PetscReal w = basis->weights[q % basis->Q];

        if (sp->dim == 3) w *= basis->weights[q / basis->Q];
        s[k * r->n + f] += w * v[f * nq + q];
      }
    }
  }
  PetscCall(PetscFree(v));
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the coefficient on coarse faces the same, a constant or a function? */
static PetscBool HopsFacesKeep(const HopsIntegral *in)
{
  return in->coefficient->func || HopsCoefficientIsConstant(in->coefficient) ? PETSC_TRUE : PETSC_FALSE;
}

#define HOPS_SUMS 3 /* of a face of a coarse cell: fine faces on it, their integrals of alpha and of 1 */

/* sums[][2 dim][HOPS_SUMS] of the coarse cells, in the caller's order */
static PetscErrorCode HopsSumFaces(const HopsNested *n, HopsSpace coarse, HopsSpace fine, const HopsBasis *basis,
                                   const HopsIntegral *in, PetscScalar *sums[])
{
  const HopsFacets r                    = in->facets;
  const PetscInt   nf                   = 2 * n->dim;
  char             why[HOPS_WHY_LENGTH] = "";
  PetscReal       *s;
  HopsToParents    to;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < r->n; ++f)
    if (HopsParentFace(n, r->cells[f], r->faces[f]) < 0)
      PetscCall(HopsRefuse(why,
                           "A Robin term lies on a face inside of the coarse mesh's cells, where the coarse operator has none: "
                           "coarsen by order (-pc_hopsmg_coarsen p), or use -pc_type lor"));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP, why));
  PetscCall(HopsToParentsCreate(n, coarse, &to));
  PetscCall(PetscCalloc1(to.n * nf * HOPS_SUMS, sums));
  PetscCall(PetscCalloc1(2 * r->n, &s));
  if (!HopsFacesKeep(in)) PetscCall(HopsFaceIntegrals(fine, basis, in, s));
  for (PetscInt f = 0; f < r->n; ++f) {
    const PetscInt face = HopsParentFace(n, r->cells[f], r->faces[f]);
    PetscScalar   *sum;

    sum = *sums + (to.place[r->cells[f]] * nf + face) * HOPS_SUMS;
    sum[0] += 1.0;
    sum[1] += s[f];
    sum[2] += s[r->n + f];
  }
  PetscCall(HopsToParentsSum(&to, nf * HOPS_SUMS, sums));
  PetscCall(HopsToParentsDestroy(&to));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficient on the parents' faces: constants and functions are the same, of others the mean is taken */
static PetscErrorCode HopsCoarsenFaces(const HopsNested *n, HopsSpace coarse, const HopsIntegral *in, const PetscScalar sums[],
                                       HopsCoefficient *alpha)
{
  const PetscInt nf = 2 * n->dim;
  PetscReal     *mean;

  PetscFunctionBegin;
  if (HopsFacesKeep(in)) {
    PetscCall(HopsCoefficientReference(in->coefficient));
    *alpha = in->coefficient;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(coarse->ncells * nf, &mean));
  for (PetscInt k = 0; k < coarse->ncells * nf; ++k) {
    const PetscScalar *sum = sums + ((coarse->cell[k / nf] - coarse->cstart) * nf + k % nf) * HOPS_SUMS;

    if (PetscRealPart(sum[2]) != 0.0) mean[k] = PetscRealPart(sum[1]) / PetscRealPart(sum[2]);
  }
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)coarse), 1, "mean over faces", alpha));
  (*alpha)->ctx          = mean;
  (*alpha)->destroyctx   = HopsFreeMeans;
  (*alpha)->evaluateface = HopsFaceEvaluate_Means;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormCoarsenBoundary(HopsForm form, const HopsNested *n, HopsSpace coarse, HopsSpace fine, const HopsBasis *basis,
                                       Mat A)
{
  const PetscInt      nf = 2 * n->dim;
  const HopsIntegral *in;

  PetscFunctionBegin;
  for (PetscInt i = 0; (in = HopsFormNext(form, HOPS_BOUNDARY, &i));) {
    HopsCoefficient alpha;
    PetscScalar    *sums;
    PetscInt       *cells, *faces, m = 0;

    PetscCall(HopsSumFaces(n, coarse, fine, basis, in, &sums));
    PetscCall(HopsCoarsenFaces(n, coarse, in, sums, &alpha));
    PetscCall(PetscMalloc2(coarse->ncells * nf, &cells, coarse->ncells * nf, &faces));
    for (PetscInt k = 0; k < coarse->ncells * nf; ++k) {
      const PetscInt cell = coarse->cell[k / nf];

      if (PetscRealPart(sums[((cell - coarse->cstart) * nf + k % nf) * HOPS_SUMS]) == 0.0) continue;
      cells[m]   = cell;
      faces[m++] = coarse->turned && k % nf < 4 ? (k % nf + 2) % 4 : k % nf; /* as the caller counts directions */
    }
    PetscCall(MatPAAddRobin(A, m, cells, faces, alpha));
    PetscCall(HopsCoefficientDestroy(&alpha));
    PetscCall(PetscFree2(cells, faces));
    PetscCall(PetscFree(sums));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
