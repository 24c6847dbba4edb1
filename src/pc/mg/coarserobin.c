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

/* The face of the parent on which the child's face lies */
static PetscErrorCode HopsParentFace(const HopsNested *n, PetscInt f, PetscInt face, PetscInt *parent)
{
  PetscFunctionBegin;
  *parent = -1;
  for (PetscInt d = 0; d < n->dim; ++d) {
    const PetscInt a = n->axis[f * n->dim + d], side = (face % 2) ^ (a & 4 ? 1 : 0);

    if ((a & 3) == face / 2 && (HopsNestedHalves(n, f) == 1 || ((n->half[f] >> d) & 1) == side)) *parent = 2 * d + side;
  }
  PetscCheck(*parent >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A Robin term lies on a face inside of the coarse mesh's cells, where the coarse operator has none: coarsen by order "
             "(-pc_hopsmg_coarsen p), or use -pc_type lor");
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* The coefficient on the parents' faces: constants and functions are the same, of others the mean is taken */
static PetscErrorCode HopsCoarsenFaces(const HopsNested *n, HopsSpace coarse, HopsSpace fine, const HopsBasis *basis,
                                       const HopsIntegral *in, const PetscInt key[], HopsCoefficient *alpha)
{
  const HopsFacets r  = in->facets;
  const PetscInt   nf = coarse->ncells * 2 * n->dim;
  PetscReal       *mean, *area, *s;

  PetscFunctionBegin;
  if (in->coefficient->func || HopsCoefficientIsConstant(in->coefficient)) {
    PetscCall(HopsCoefficientReference(in->coefficient));
    *alpha = in->coefficient;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(2 * r->n, &s));
  PetscCall(PetscCalloc1(nf, &mean));
  PetscCall(PetscCalloc1(nf, &area));
  PetscCall(HopsFaceIntegrals(fine, basis, in, s));
  for (PetscInt f = 0; f < r->n; ++f) {
    mean[key[f]] += s[f];
    area[key[f]] += s[r->n + f];
  }
  for (PetscInt k = 0; k < nf; ++k)
    if (area[k] != 0.0) mean[k] /= area[k];
  PetscCall(PetscFree(area));
  PetscCall(PetscFree(s));
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)fine), 1, "mean over faces", alpha));
  (*alpha)->ctx          = mean;
  (*alpha)->destroyctx   = HopsFreeMeans;
  (*alpha)->evaluateface = HopsFaceEvaluate_Means;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormCoarsenBoundary(HopsForm form, const HopsNested *n, HopsSpace coarse, HopsSpace fine, const HopsBasis *basis,
                                       Mat A)
{
  const HopsIntegral *in;

  PetscFunctionBegin;
  PetscCheck(!n->apart || !HopsFormHas(form, HOPS_BOUNDARY), PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP,
             "Robin terms go to coarser meshes on the ranks of their cells, and some cells are on other ranks than their parents: "
             "partition the meshes alike, or use -pc_type lor");
  for (PetscInt i = 0; (in = HopsFormNext(form, HOPS_BOUNDARY, &i));) {
    const HopsFacets r = in->facets;
    HopsCoefficient  alpha;
    PetscInt        *key, *cells, *faces, m;

    PetscCall(PetscMalloc3(r->n, &key, r->n, &cells, r->n, &faces));
    for (PetscInt f = 0; f < r->n; ++f) {
      PetscInt face;

      PetscCall(HopsParentFace(n, r->cells[f], r->faces[f], &face));
      key[f] = n->parent[r->cells[f]] * 2 * n->dim + face;
    }
    PetscCall(HopsCoarsenFaces(n, coarse, fine, basis, in, key, &alpha));
    m = r->n;
    PetscCall(PetscSortRemoveDupsInt(&m, key));
    for (PetscInt f = 0; f < m; ++f) {
      cells[f] = coarse->cell[key[f] / (2 * n->dim)];
      faces[f] = key[f] % (2 * n->dim);
    }
    PetscCall(MatPAAddRobin(A, m, cells, faces, alpha));
    PetscCall(HopsCoefficientDestroy(&alpha));
    PetscCall(PetscFree3(key, cells, faces));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
