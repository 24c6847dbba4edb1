/* Functions from one adaptive mesh to the next: cells that were kept, halved, or made one of their halves. */
#include <hops/private/hopsadaptimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsnestedimpl.h>
#include <petscblaslapack.h>

const char *const HopsTransferTypes[] = {"nodal", "l2", "HopsTransferType", "HOPS_TRANSFER_", NULL};

/* Matrices [P new][P old] along a direction: of a kept cell; to the lower and upper child of an old cell;
   from these to their parent, by its nodes or by L2 */
typedef struct {
  PetscInt   P, Pold;
  PetscReal *keep, *refine[2], *coarsen[2];
} Matrices;

/* Of P nodes: those of the half, in its own [-1,1]; and the other way round */
static inline PetscReal ToHalf(PetscReal z, PetscInt upper)
{
  return upper ? 2.0 * z - 1.0 : 2.0 * z + 1.0;
}

static inline PetscReal FromHalf(PetscReal y, PetscInt upper)
{
  return 0.5 * (upper ? y + 1.0 : y - 1.0);
}

/* The nodes of the parent that are in the half; the middle is half of either's */
static PetscErrorCode CreateNodal(Matrices *m, const PetscReal z[], PetscInt upper)
{
  PetscReal *y;
  HopsBasis  b;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->P, &y));
  for (PetscInt i = 0; i < m->P; ++i) y[i] = ToHalf(z[i], upper);
  PetscCall(HopsBasisCreateAtPoints(m->Pold, m->P, y, &b));
  for (PetscInt i = 0; i < m->P; ++i) {
    const PetscReal w = z[i] == 0.0 ? 0.5 : ((z[i] > 0.0) == (upper > 0) ? 1.0 : 0.0);

    for (PetscInt j = 0; j < m->Pold; ++j) m->coarsen[upper][i * m->Pold + j] = w * b.B[i * m->Pold + j];
  }
  PetscCall(HopsBasisDestroy(&b));
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 N: masses of the parent, and of parent and half, by Gauss points of the half */
static PetscErrorCode CreateProjections(Matrices *m)
{
  const PetscInt P = m->P, Pold = m->Pold, Q = PetscMax(P, Pold);
  PetscScalar   *M, *N; /* as LAPACK has them */
  PetscReal     *y;
  PetscBLASInt   n, nrhs, info;
  HopsBasis      own, parent;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(P * P, &M, Q, &y, 2 * P * Pold, &N));
  PetscCall(HopsBasisCreate(Pold, Q, PETSC_FALSE, &own));
  for (PetscInt h = 0; h < 2; ++h) {
    for (PetscInt q = 0; q < Q; ++q) y[q] = FromHalf(own.points[q], h);
    PetscCall(HopsBasisCreateAtPoints(P, Q, y, &parent));
    for (PetscInt q = 0; q < Q; ++q)
      for (PetscInt i = 0; i < P; ++i) {
        const PetscReal w = 0.5 * own.weights[q] * parent.B[q * P + i];

        for (PetscInt j = 0; j < P; ++j) M[i * P + j] += w * parent.B[q * P + j];
        for (PetscInt j = 0; j < Pold; ++j) N[(h * Pold + j) * P + i] += w * own.B[q * Pold + j];
      }
    PetscCall(HopsBasisDestroy(&parent));
  }
  PetscCall(PetscBLASIntCast(P, &n));
  PetscCall(PetscBLASIntCast(2 * Pold, &nrhs));
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("U", &n, M, &n, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "Mass of a cell: LAPACK potrf returned %d", (int)info);
  PetscCallBLAS("LAPACKpotrs", LAPACKpotrs_("U", &n, &nrhs, M, &n, N, &n, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "Mass of a cell: LAPACK potrs returned %d", (int)info);
  for (PetscInt h = 0; h < 2; ++h)
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < Pold; ++j) m->coarsen[h][i * Pold + j] = PetscRealPart(N[(h * Pold + j) * P + i]);
  PetscCall(HopsBasisDestroy(&own));
  PetscCall(PetscFree3(M, y, N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatricesCreate(PetscInt Pold, PetscInt P, HopsTransferType type, Matrices *m)
{
  PetscReal *z, *y;
  HopsBasis  b;

  PetscFunctionBegin;
  *m = (Matrices){.P = P, .Pold = Pold};
  PetscCall(PetscMalloc5(P * Pold, &m->keep, P * Pold, &m->refine[0], P * Pold, &m->refine[1], P * Pold, &m->coarsen[0], P * Pold,
                         &m->coarsen[1]));
  PetscCall(PetscMalloc2(P, &z, P, &y));
  PetscCall(HopsGLL(P, z, y));
  PetscCall(HopsBasisCreateAtPoints(Pold, P, z, &b));
  PetscCall(PetscArraycpy(m->keep, b.B, P * Pold));
  PetscCall(HopsBasisDestroy(&b));
  for (PetscInt h = 0; h < 2; ++h) {
    for (PetscInt i = 0; i < P; ++i) y[i] = FromHalf(z[i], h);
    PetscCall(HopsBasisCreateAtPoints(Pold, P, y, &b));
    PetscCall(PetscArraycpy(m->refine[h], b.B, P * Pold));
    PetscCall(HopsBasisDestroy(&b));
    if (type == HOPS_TRANSFER_NODAL) PetscCall(CreateNodal(m, z, h));
  }
  if (type == HOPS_TRANSFER_L2) PetscCall(CreateProjections(m));
  PetscCall(PetscFree2(z, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- old cells, which come --------------------------------------- */

/* have[n][ne + 2^dim dim]: values and corners of the old cells of relations */
static PetscErrorCode BringCells(HopsSpace old, PetscInt part, Vec x, PetscInt n, const PetscInt relations[], PetscReal *have[])
{
  const PetscInt   size = old->ne + (old->dim << old->dim);
  const PetscReal *a;
  PetscReal       *xg, *mine;
  PetscReal        corner[24];
  PetscInt        *cells;
  HopsHanging      h = {0};
  MPI_Datatype     unit;
  PetscSF          sf;

  PetscFunctionBegin;
  PetscCall(HopsCheckIndex("values of cells", (PetscInt64)PetscMax(old->ncaller, n) * size));
  PetscCall(PetscCalloc1(old->ncaller * size, &mine));
  PetscCall(PetscMalloc2(old->nL - old->nT, &xg, n, &cells));
  PetscCall(PetscMalloc1(n * size, have));
  if (old->hanging) PetscCall(HopsHangingCreate(HOPS_H1, old->dim, old->order, &h));
  PetscCall(HopsHostVecGetPartRead(x, part, &a));
  PetscCall(HopsSpaceGlobalToLocal(old, part, a, xg));
  for (PetscInt c = 0; c < old->ncells; ++c) {
    PetscReal *u = mine + (old->cell[c] - old->cstart) * size;

    HopsGatherCell(old, c, &h, a, xg, u);
    PetscCall(HopsSpaceGetCorners(old, c, corner));
    for (PetscInt i = 0; i < size - old->ne; ++i) u[old->ne + i] = corner[i];
  }
  PetscCall(HopsHostVecRestorePartRead(x, part, &a));
  for (PetscInt i = 0; i < n; ++i) cells[i] = relations[i * HOPS_RELATION + 1];
  PetscCall(HopsSpaceCreateCellSF(old, n, cells, NULL, &sf));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)size, MPIU_REAL, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, mine, *have, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, mine, *have, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree2(xg, cells));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- new cells, of these ---------------------------------------- */

/* v[ncaller][ne]: the values of new cells, in their own nodes; why[]: what does not lie as relations say */
static PetscErrorCode MakeCells(HopsSpace old, HopsSpace sp, const Matrices *m, PetscInt n, const PetscInt relations[],
                                const PetscReal have[], PetscReal v[], char why[])
{
  const PetscInt dim = sp->dim, size = old->ne + (dim << dim);
  PetscReal     *out, *work, corner[24];
  PetscInt      *where;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(sp->ne, &out, 2 * PetscMax(sp->ne, old->ne), &work, sp->ncaller, &where));
  for (PetscInt c = 0; c < sp->ncaller; ++c) where[c] = -1; /* of an overlap: no cell of the space */
  for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt   c = relations[i * HOPS_RELATION], child = relations[i * HOPS_RELATION + 2], k = HopsRelationChild(old, child);
    const PetscReal *u = have + i * size, *ends = u + old->ne;
    const PetscReal *M[3];

    if (where[c] < 0) continue;
    PetscCall(HopsSpaceGetCorners(sp, where[c], corner));
    if (!HopsRelationFits(dim, child, k, child >= -1 ? corner : ends, child >= -1 ? ends : corner))
      PetscCall(HopsRefuse(why,
                           "New cell %" PetscInt_FMT " and old cell %" PetscInt_FMT " do not lie as child %" PetscInt_FMT
                           " says (-1 kept, 0, 1, ... refined, -2, -3, ... coarsened; bit d of the child, or of -2 - child, is its "
                           "half in direction d): number children so, and keep the directions of cells",
                           c, relations[i * HOPS_RELATION + 1], child));
    for (PetscInt d = 0; d < dim; ++d) M[d] = child == -1 ? m->keep : (child >= 0 ? m->refine : m->coarsen)[k >> d & 1];
    PetscCall(HopsTensorApply(dim, m->P, m->Pold, M, u, out, work));
    for (PetscInt j = 0; j < sp->ne; ++j) v[c * sp->ne + j] += out[j];
  }
  PetscCall(PetscFree3(out, work, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y: the mean of what cells have for their own nodes */
static PetscErrorCode Gather(HopsSpace sp, PetscInt part, const PetscReal v[], Vec y)
{
  const PetscInt ng = sp->nL - sp->nT;
  PetscReal     *a, *count, *ag, *countg;
  HopsHanging    h = {0};
  PetscBool     *on;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(sp->nT, &count, ng, &ag, ng, &countg, sp->ne, &on));
  if (sp->hanging) PetscCall(HopsHangingCreate(HOPS_H1, sp->dim, sp->order, &h));
  if (!part) PetscCall(VecSet(y, 0.0));
  PetscCall(HopsHostVecGetPart(y, part, HOPS_VEC_READ_WRITE, &a));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscReal *e = v + (sp->cell[c] - sp->cstart) * sp->ne;

    if (sp->hanging) (void)HopsHangingNodes(&h, sp->hang[c], on);
    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int l = sp->restr[c * sp->ne + i];

      if (on[i] && !HopsHangingIsOwn(&h, sp->hang[c], (int)i)) continue;
      *(l < sp->nT ? a + l : ag + (l - sp->nT)) += e[i];
      *(l < sp->nT ? count + l : countg + (l - sp->nT)) += 1.0;
    }
  }
  PetscCall(HopsProlongTransposeBegin(sp->hostP, ag, a));
  PetscCall(HopsProlongTransposeEnd(sp->hostP, ag, a));
  PetscCall(HopsProlongTransposeBegin(sp->hostP, countg, count));
  PetscCall(HopsProlongTransposeEnd(sp->hostP, countg, count));
  for (PetscInt i = 0; i < sp->nT; ++i) a[i] /= PetscMax(count[i], 1.0);
  for (PetscInt e = 0; e < sp->ness; ++e) a[sp->essT[e]] = sp->cvals[part * sp->nC + sp->essC[e] - sp->nT - sp->nG];
  PetscCall(HopsHostVecRestorePart(y, part, HOPS_VEC_READ_WRITE, &a));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree4(count, ag, countg, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceTransfer - Takes a function from the space on one adaptive mesh to that on the next, whose cells
  are old ones, children of old ones, or parents of old ones.

  Collective

  Input Parameters:
+ old       - the old space, in H1
. x         - the function, a vector of the old space
. space     - the new space, in H1; its order may be another one
. type      - how functions on coarsened cells come to their parent
. n         - number of relations of this rank's new cells
- relations - [n][3] new cell, old cell, child; see the notes

  Output Parameter:
. y - the function, a vector of the new space

  Level: intermediate

  Notes:
  A relation says how one new cell and one old cell lie,

.vb
  new cell  number of the cell on this rank, in the caller's order. One of an overlap is left out
  old cell  number of the cell among those of all ranks: an index of a vector that HopsSpaceCreateCellVec() of
            the old space makes. It may be on another rank, as after a new partition, but in no overlap
  child     -1    the new cell is the old one
            k     the new cell is child k of the old one, k = 0 .. 2^dim - 1; bit d of k is set in the upper
                  half of direction d
            -2-k  the old cell is child k of the new one: there are 2^dim such relations of a new cell
.ve

  Children have the directions of their parent. Corners of both cells are compared, and what does not lie so
  is refused. Cells that were refined twice take two transfers.

  In cells that were kept or refined the function is the old one; with `HOPS_TRANSFER_NODAL` a coarsened cell
  has its values at the nodes. With `HOPS_TRANSFER_L2` it has the L2 projection of its children's function, in
  reference coordinates, and a node of several cells the mean of theirs. Nodal values of functions with
  features smaller than the new cell may be far from the best ones.

  Functions of the new space, when its order is not below the old one's, are reproduced. Entries of essential
  unknowns become the values of `HopsSpaceSetEssentialFunction()` of the new space.

  Refused are other families, spaces of different communicators or dimensions, and relations that contradict
  the corners, leave out a new cell or make one twice.

.seealso: `HopsTransferType`, `HopsSpaceEstimateError()`, `HopsSpaceMark()`, `HopsSpaceCreateCellVec()`
@*/
PetscErrorCode HopsSpaceTransfer(HopsSpace old, Vec x, HopsSpace space, HopsTransferType type, PetscInt n,
                                 const PetscInt relations[], Vec y)
{
  MPI_Comm    comm;
  PetscMPIInt same;
  PetscReal  *have;
  PetscReal  *v;
  Matrices    m;
  char        why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  HopsValidHeader(old, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 3);
  HopsValidEnum(type, HOPS_TRANSFER_L2, 4);
  HopsValidArray(n, relations, 6);
  HopsValidHeader(y, VEC_CLASSID, 7);
  comm = PetscObjectComm((PetscObject)space);
  PetscCallMPI(MPI_Comm_compare(comm, PetscObjectComm((PetscObject)old), &same));
  PetscCheck((same == MPI_IDENT || same == MPI_CONGRUENT) && old->dim == space->dim, comm, PETSC_ERR_ARG_INCOMP,
             "Functions go between spaces on meshes of the same dimension and processes, not from %" PetscInt_FMT
             "D to %" PetscInt_FMT "D or from other processes",
             old->dim, space->dim);
  PetscCheck(old->family == HOPS_H1 && space->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "Functions go from H1 to H1, not from %s to %s: start with HopsSpaceInterpolate() of what is known there",
             HopsFamilies[old->family], HopsFamilies[space->family]);
  PetscCall(HopsSpaceCheckVec(old, x, "of the function"));
  PetscCall(HopsSpaceCheckVec(space, y, "of the new function"));
  PetscCall(PetscLogEventBegin(HopsEvent.transfer, old, x, y, 0));
  PetscCall(HopsSpaceBringMesh(old));
  PetscCall(HopsSpaceBringMesh(space));
  PetscCall(HopsRelationsCheck(old, space, n, relations));
  PetscCall(MatricesCreate(old->order + 1, space->order + 1, type, &m));
  for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
    PetscCall(BringCells(old, part, x, n, relations, &have));
    PetscCall(PetscCalloc1(space->ncaller * space->ne, &v));
    PetscCall(MakeCells(old, space, &m, n, relations, have, v, why));
    PetscCall(Gather(space, part, v, y));
    PetscCall(PetscFree(v));
    PetscCall(PetscFree(have));
  }
  PetscCall(PetscFree5(m.keep, m.refine[0], m.refine[1], m.coarsen[0], m.coarsen[1]));
  PetscCall(PetscLogEventEnd(HopsEvent.transfer, old, x, y, 0));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_WRONG, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
