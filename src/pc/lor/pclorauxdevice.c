/*
  What AMS and ADS need on a device: gradient, curl and interpolations as matrices of hypre's own, built there. PETSc copies constant
  vectors and coordinates to hypre from the process's memory, which hypre takes for the device's; interpolations replace both.
*/
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderham.h>
#include <hops/private/hopsdevicemat.h>
#include <petsc/private/pcimpl.h>
#if HOPS_HAVE_HYPRE_DEVICE
  #include <petscmathypre.h>
  #include <HYPRE_parcsr_ls.h>

/* Pi[d] from the nodes: the mean over the vertices of an edge or face, times the unit vector of direction d in the space */
static PetscErrorCode HopsCreatePiDevice(HopsSpace nodes, HopsSpace sp, Mat Pi[3])
{
  const HopsLORDeviceOps *ops  = sp->backend->lordevice;
  PetscScalar            *v[3] = {NULL, NULL, NULL};
  HopsLayout              l, h;
  PetscInt                n;
  int                    *table;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  HopsLayoutCreate(HOPS_H1, sp->dim, sp->order, &h);
  n = sp->family == HOPS_HDIV && sp->dim == 3 ? 4 : 2;
  PetscCall(PetscMalloc1(sp->ne * n, &table));
  for (PetscInt c = 0, i = 0; c < l.nc; ++c)
    for (PetscInt t = 0; t < l.off[c + 1] - l.off[c]; ++t, ++i)
      for (PetscInt k = 0; k < n; ++k) {
        PetscInt at[3] = {t % l.n[c][0], t / l.n[c][0] % l.n[c][1], t / (l.n[c][0] * l.n[c][1])};

        for (PetscInt d = 0, bit = 0; d < sp->dim; ++d)
          if (l.open[c][d]) at[d] += k >> bit++ & 1;
        table[i * n + k] = (int)(2 * HopsLayoutEntry(&h, 0, at));
      }
  for (PetscInt d = 0; d < sp->dim; ++d) PetscCall((*ops->Malloc)(sp->nT * sizeof(PetscScalar), (void **)&v[d]));
  PetscCall((*ops->UnitVectors)(sp, v));
  for (PetscInt d = 0; d < sp->dim; ++d) {
    PetscCall(HopsIncidenceMatCreate(nodes, sp, n, table, v[d], MATHYPRE, &Pi[d]));
    PetscCall((*ops->Free)((void **)&v[d]));
  }
  PetscCall(PetscFree(table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interpolations are given by components, which the cycles below 11 do not take: hypre would crash */
static PetscErrorCode PCLORCheckCycles(PC inner, PC_LOR *lor, PetscBool ads)
{
  static const char *const names[] = {"-pc_hypre_ams_cycle_type", "-pc_hypre_ads_cycle_type", "-pc_hypre_ads_ams_cycle_type"};
  const char              *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(inner, &prefix));
  for (PetscInt i = ads ? 1 : 0; i < (ads ? 3 : 1); ++i) {
    PetscInt type = 13;

    PetscCall(PetscOptionsGetInt(NULL, prefix, names[i], &type, NULL));
    PetscCheck(type > 10 && type < 15, PetscObjectComm((PetscObject)inner), PETSC_ERR_SUP, "On a device AMS and ADS have interpolations by components: %s takes 11, 12, 13 or 14, not %" PetscInt_FMT, names[i], type);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetAuxiliaryDevice(PC inner, PC_LOR *lor, HopsSpace nodes)
{
  HopsSpace       sp  = lor->form.space, edges, inside;
  const PetscBool ads = sp->family == HOPS_HDIV && sp->dim == 3 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCLORCheckCycles(inner, lor, ads));
  if (lor->auxspace != sp) {
    PetscCall(PCLORResetAuxiliary(lor));
    if (ads) {
      PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &edges));
      PetscCall(HopsDerivativeCreateDevice(nodes, edges, MATHYPRE, &lor->G));
      PetscCall(HopsDerivativeCreateDevice(edges, sp, MATHYPRE, &lor->C));
      PetscCall(HopsCreatePiDevice(nodes, edges, lor->Pi[0]));
      PetscCall(HopsSpaceDestroy(&edges));
      /* A vertex of the essential boundary may have no free face across a direction: the nodal matrix would have a zero row, which l1-Jacobi
         cannot smooth, and ADS, unlike AMS, does not mend. Without these vertices the iterations are the same (36 and 38, p = 4, straight, curved). */
      PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_TRUE, &inside));
      PetscCall(HopsCreatePiDevice(inside->N ? inside : nodes, sp, lor->Pi[1]));
      PetscCall(HopsSpaceDestroy(&inside));
    } else {
      PetscCall(HopsDerivativeCreateDevice(nodes, sp, MATHYPRE, &lor->G));
      PetscCall(HopsCreatePiDevice(nodes, sp, lor->Pi[0]));
    }
    PetscCall(HopsSpaceReference(sp));
    lor->auxspace = sp;
  }
  PetscCallExternal(HYPRE_SetSpGemmUseVendor, 0); /* cuSPARSE's sparse products take too much memory */
  PetscCall(PCHYPRESetDiscreteGradient(inner, lor->G));
  if (ads) {
    PetscCall(PCHYPRESetDiscreteCurl(inner, lor->C));
    PetscCall(PCSetCoordinates(inner, 3, 0, NULL)); /* PETSc asks for vertices, which nobody reads */
    PetscCall(PCHYPRESetInterpolations(inner, 3, NULL, lor->Pi[1], NULL, lor->Pi[0]));
  } else {
    PetscCall(PCHYPRESetInterpolations(inner, sp->dim, NULL, NULL, NULL, lor->Pi[0]));
    PetscCallExternal(HYPRE_AMSSetAlphaAMGCoarseRelaxType, HopsPCHYPREGetSolver(inner), 18); /* hypre's default solves with triangles */
    PetscCallExternal(HYPRE_AMSSetBetaAMGCoarseRelaxType, HopsPCHYPREGetSolver(inner), 18);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc hands hypre the pointer that VecGetArrayRead() returns: a vector of the host on the device's array gives the right one */
PetscErrorCode PCLORSetInteriorDevice(PC inner, Vec outside)
{
  const PetscScalar *a;
  PetscInt           n, N;
  PetscMemType       mem;
  Vec                x;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(outside, &n));
  PetscCall(VecGetSize(outside, &N));
  PetscCall(VecGetArrayReadAndMemType(outside, &a, &mem));
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)outside), 1, n, N, a, &x));
  PetscCall(PCHYPREAMSSetInteriorNodes(inner, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecRestoreArrayReadAndMemType(outside, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
