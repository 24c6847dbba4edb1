/* Element maps of a refined mesh from those of the coarse one: PETSc drops curved coordinates when it
   refines. */
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopspleximpl.h>

/* l[half][i][P]: the 1D functions on GLL nodes at node i of each half, in the coarse cell's coordinate */
static PetscErrorCode HopsHalfTables(PetscInt P, PetscReal l[])
{
  PetscReal *gll, *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(P, &gll, P, &w));
  PetscCall(HopsGLL(P, gll, w));
  for (PetscInt h = 0; h < 2; ++h)
    for (PetscInt i = 0; i < P; ++i) {
      const PetscReal x = 0.5 * (gll[i] + (h ? 1.0 : -1.0));
      HopsBasis       b;

      PetscCall(HopsBasisCreateAtPoints(P, 1, &x, &b));
      PetscCall(PetscArraycpy(l + (h * P + i) * P, b.B, P));
      PetscCall(HopsBasisDestroy(&b));
    }
  PetscCall(PetscFree2(gll, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X of the fine cells: the parents' maps at the children's nodes */
static PetscErrorCode HopsRefineMaps(const HopsNested *n, HopsSpace coarse, HopsSpace fine)
{
  const PetscInt dim = n->dim, P = coarse->gorder + 1, np = HopsPower(P, dim);
  PetscReal     *l;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * P * P, &l));
  PetscCall(HopsHalfTables(P, l));
  PetscCall(HopsSpaceBringMesh(coarse));
  for (PetscInt f = 0; f < n->nfine; ++f)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt   ijk[3] = {i % P, (i / P) % P, i / (P * P)};
      const PetscReal *b[3]   = {NULL, NULL, NULL};

      for (PetscInt d = 0; d < dim; ++d) {
        const PetscInt a = n->axis[f * dim + d], k = ijk[a & 3];

        b[d] = l + (((n->half[f] >> d) & 1) * P + (a & 4 ? P - 1 - k : k)) * P;
      }
      for (PetscInt d = 0; d < dim; ++d) {
        const PetscReal *X = coarse->X + (n->parent[f] * dim + d) * np;
        PetscReal        x = 0.0;

        for (PetscInt j = 0; j < np; ++j) x += X[j] * b[0][j % P] * b[1][(j / P) % P] * (dim == 3 ? b[2][j / (P * P)] : 1.0);
        fine->X[(f * dim + d) * np + i] = x;
      }
    }
  PetscCall(PetscFree(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexRefineGeometry(DM dm, HopsSpace sp)
{
  HopsSpace  coarse;
  HopsNested n;
  DM         cdm, keep = sp->dm;

  PetscFunctionBegin;
  PetscCall(DMGetCoarseDM(dm, &cdm));
  PetscCheck(cdm, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The mesh was refined, which has dropped the high-order coordinates of its cells: refine by -dm_refine_hierarchy, "
             "which keeps the coarse meshes and their coordinates, or refine before they are made");
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)dm), sp->dim, 1, &coarse));
  PetscCall(HopsSpaceSetCells(coarse, cdm, NULL));
  PetscCall(HopsPlexGetGeometry(cdm, coarse));
  coarse->dm = cdm;
  sp->dm     = dm;
  PetscCall(HopsNestedCreate(coarse, sp, &n));
  coarse->dm = NULL;
  sp->dm     = keep;
  sp->gorder = coarse->gorder;
  PetscCall(HopsSpaceCheckCounts(sp));
  PetscCall(PetscMalloc1(sp->ncells * sp->dim * HopsPower(sp->gorder + 1, sp->dim), &sp->X));
  PetscCall(HopsRefineMaps(&n, coarse, sp));
  PetscCall(HopsNestedDestroy(&n));
  PetscCall(HopsSpaceDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
