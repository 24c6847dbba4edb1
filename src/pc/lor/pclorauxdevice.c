/*
  What AMS and ADS need on a device: gradient, curl and interpolations as matrices of hypre's own, built
  there. PETSc copies constant vectors and coordinates to hypre from the process's memory, which hypre takes
  for the device's; interpolations replace both.
*/
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsdevicematimpl.h>
#include <petsc/private/pcimpl.h>
#if HOPS_HAVE_HYPRE_DEVICE
  #include <petscmathypre.h>
  #include <HYPRE_parcsr_ls.h>

/* ends[ne][n]: the entries of H1 at the n ends of each entry, 2 of an edge, 4 of a face */
static PetscErrorCode HopsCreateEnds(HopsSpace sp, PetscInt n, int *ends[])
{
  HopsLayout l, h;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  HopsLayoutCreate(HOPS_H1, sp->dim, sp->order, &h);
  PetscCall(PetscMalloc1(sp->ne * n, ends));
  for (PetscInt c = 0, i = 0; c < l.nc; ++c)
    for (PetscInt t = 0; t < l.off[c + 1] - l.off[c]; ++t, ++i)
      for (PetscInt k = 0; k < n; ++k) {
        PetscInt at[3] = {t % l.n[c][0], t / l.n[c][0] % l.n[c][1], t / (l.n[c][0] * l.n[c][1])};

        for (PetscInt d = 0, bit = 0; d < sp->dim; ++d)
          if (l.open[c][d]) at[d] += k >> bit++ & 1;
        (*ends)[i * n + k] = (int)HopsLayoutEntry(&h, 0, at);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Own unknowns of `from` in the column of no row of the derivative into `to`: nodes all of whose edges are
  essential, edges all of whose faces are, where two essential faces meet. hypre (2.32) adds missing diagonal
  entries of D^T A D on a device only if it finds one in the first 1/32 of the rows, since it starts a thread
  where a warp is meant, and without one the row stays zero. With an explicit zero in the column the entry is
  there, and hypre makes it 1.
*/
static PetscErrorCode HopsFindEmpty(HopsSpace from, HopsSpace to, PetscInt *n, int *empty[])
{
  const PetscInt nfree = to->nT + to->nG;
  HopsIncidence  inc;
  PetscReal     *y, *yg;
  PetscInt      *cell;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(from));
  PetscCall(HopsSpaceBringMesh(to));
  PetscCall(HopsCompanionCells(from, to, &cell));
  PetscCall(HopsIncidenceCreate(from->family, to->family, from->dim, from->order, &inc));
  PetscCall(PetscCalloc2(from->nT, &y, from->nL - from->nT, &yg));
  for (PetscInt c = 0; c < to->ncells; ++c) {
    const int *R = from->restr + cell[c] * from->ne, *E = to->restr + c * to->ne;

    for (PetscInt i = 0; i < from->ne && c < to->ninterior; ++i) { /* all rows of these cells are free */
      const PetscInt v = HopsUnsigned(R[i]);

      *(v < from->nT ? y + v : yg + v - from->nT) = 1.0;
    }
    for (PetscInt i = 0; i < inc.nrows && c >= to->ninterior; ++i)
      for (PetscInt k = 0; k < inc.n[i] && HopsUnsigned(E[i]) < nfree; ++k) {
        const PetscInt v = HopsUnsigned(R[inc.col[6 * i + k]]);

        *(v < from->nT ? y + v : yg + v - from->nT) = 1.0;
      }
  }
  PetscCall(HopsIncidenceDestroy(&inc));
  PetscCall(HopsProlongTransposeBegin(from->hostP, yg, y));
  PetscCall(HopsProlongTransposeEnd(from->hostP, yg, y));
  *n = 0;
  for (PetscInt i = 0; i < from->nT; ++i) *n += y[i] == 0.0;
  PetscCall(PetscMalloc1(*n, empty));
  *n = 0;
  for (PetscInt i = 0; i < from->nT; ++i)
    if (y[i] == 0.0) (*empty)[(*n)++] = (int)i;
  PetscCall(PetscFree2(y, yg));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pi[d] from the nodes: the mean over the vertices of an edge or face, times the unit vector of direction d
   in the space */
static PetscErrorCode HopsCreatePiDevice(HopsSpace nodes, HopsSpace sp, PetscInt nempty, const int empty[], Mat Pi[3])
{
  const HopsMemoryOps *memory = sp->backend->memory;
  PetscReal           *v[3]   = {NULL, NULL, NULL};
  const PetscInt       n      = sp->family == HOPS_HDIV && sp->dim == 3 ? 4 : 2;
  int                 *table;

  PetscFunctionBegin;
  if (sp->hanging) {
    PetscCall(HopsCreatePi(nodes, sp, Pi));
    for (PetscInt d = 0; d < sp->dim; ++d) PetscCall(HopsLatticeMatBring(nodes, sp, nempty, empty, MATHYPRE, &Pi[d]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsCreateEnds(sp, n, &table));
  for (PetscInt i = 0; i < sp->ne * n; ++i) table[i] *= 2; /* no sign */
  for (PetscInt d = 0; d < sp->dim; ++d) PetscCall((*memory->PoolMalloc)(sp->nT * sizeof(PetscReal), (void **)&v[d]));
  PetscCall((*sp->backend->rows->UnitVectors)(sp, v));
  for (PetscInt d = 0; d < sp->dim; ++d) {
    PetscCall(HopsIncidenceMatCreate(nodes, sp, n, table, v[d], nempty, empty, MATHYPRE, &Pi[d]));
    PetscCall((*memory->PoolFree)((void **)&v[d]));
  }
  PetscCall(PetscFree(table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes off the essential boundary alone: a space from arrays keeps the others in its vectors */
static PetscErrorCode HopsCreateInside(HopsSpace sp, HopsSpace *inside)
{
  HopsSpace nodes;
  PetscInt  ness;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_TRUE, &nodes));
  ness = nodes->ness;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ness, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  if (ness) {
    PetscCall(HopsSpaceCreateFree_Private(nodes, inside));
    PetscCall(HopsSpaceDestroy(&nodes));
  } else *inside = nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetAuxiliaryDevice(PC inner, PC_LOR *lor, HopsSpace nodes)
{
  HopsSpace       sp  = lor->form->space, edges, inside;
  const PetscBool ads = sp->family == HOPS_HDIV && sp->dim == 3 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCLORCheckCycles(inner, ads));
  if (lor->auxspace != sp) {
    PetscInt nempty = 0;
    int     *empty  = NULL;

    PetscCall(PCLORResetAuxiliary(lor));
    if (ads) {
      PetscCall(HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &edges));
      PetscCall(HopsDerivativeCreateDevice(nodes, edges, 0, NULL, MATHYPRE, &lor->G));
      PetscCall(HopsFindEmpty(edges, sp, &nempty, &empty));
      PetscCall(HopsDerivativeCreateDevice(edges, sp, nempty, empty, MATHYPRE, &lor->C));
      PetscCall(HopsCreatePiDevice(nodes, edges, 0, NULL, lor->Pi[0]));
      PetscCall(HopsSpaceDestroy(&edges));
      /* A vertex of the essential boundary may have no free face across a direction: the nodal matrix would
         have a zero row, which l1-Jacobi cannot smooth, and ADS, unlike AMS, does not mend. Without these
         vertices the iterations are the same (36 and 38, p = 4, straight, curved). */
      PetscCall(HopsCreateInside(sp, &inside));
      PetscCall(HopsCreatePiDevice(inside->N ? inside : nodes, sp, 0, NULL, lor->Pi[1]));
      PetscCall(HopsSpaceDestroy(&inside));
    } else {
      PetscCall(HopsFindEmpty(nodes, sp, &nempty, &empty));
      PetscCall(HopsDerivativeCreateDevice(nodes, sp, nempty, empty, MATHYPRE, &lor->G));
      PetscCall(HopsCreatePiDevice(nodes, sp, nempty, empty, lor->Pi[0]));
    }
    PetscCall(PetscFree(empty));
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
    /* hypre's default solves with triangles */
    PetscCallExternal(HYPRE_AMSSetAlphaAMGCoarseRelaxType, HopsPCHYPREGetSolver(inner), 18);
    PetscCallExternal(HYPRE_AMSSetBetaAMGCoarseRelaxType, HopsPCHYPREGetSolver(inner), 18);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
