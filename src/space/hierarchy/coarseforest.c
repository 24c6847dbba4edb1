/*
  The space below one on a DMForest: all families of cells whose members are there become their parents, as
  far as the balance of the forest allows. PETSc says which cell of the coarse forest has a fine one's place;
  all goes through its interface, and p4est is not linked.
*/
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopspleximpl.h>
#include <petscdmforest.h>

static const char Key[] = "HopsForest";

PetscErrorCode HopsSpaceGetForest(HopsSpace sp, DM *forest)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)HopsSpaceMesh(sp), Key, (PetscObject *)forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same cells, in the same order, however they are distributed; `stay`: as those of the fine one, which
   PETSc can tell of then */
static PetscErrorCode Coarsen(DM fine, PetscBool stay, DM *coarse)
{
  DMLabel      label;
  PetscOptions options;

  PetscFunctionBegin;
  PetscCall(DMForestTemplate(fine, PetscObjectComm((PetscObject)fine), coarse));
  if (stay) {
    PetscCall(PetscOptionsCreate(&options));
    PetscCall(PetscOptionsSetValue(options, "-dm_p4est_partition_for_coarsening", "0"));
    PetscCall(PetscObjectSetOptions((PetscObject)*coarse, options));
    PetscCall(DMSetFromOptions(*coarse));
    PetscCall(PetscObjectSetOptions((PetscObject)*coarse, NULL));
    PetscCall(PetscOptionsDestroy(&options));
  }
  PetscCall(DMForestSetAdaptivityPurpose(*coarse, DM_ADAPT_COARSEN));
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "coarsen", &label));
  PetscCall(DMLabelSetDefaultValue(label, DM_ADAPT_COARSEN)); /* of all cells */
  PetscCall(DMForestSetAdaptivityLabel(*coarse, label));
  PetscCall(DMLabelDestroy(&label));
  PetscCall(DMForestSetComputeAdaptivitySF(*coarse, stay));
  PetscCall(DMSetUp(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number[n] among those of all ranks of the coarse cells that have the places of a rank's fine ones, and how
   many there are of either */
static PetscErrorCode Numbers(DM fine, PetscInt n, PetscInt number[], PetscInt all[2])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)fine);
  DM             coarse;
  PetscSF        sf;
  PetscInt       start, end, first = 0, *mine, count[2];

  PetscFunctionBegin;
  PetscCall(Coarsen(fine, PETSC_TRUE, &coarse));
  PetscCall(DMForestGetAdaptivitySF(coarse, NULL, &sf));
  PetscCheck(sf, comm, PETSC_ERR_PLIB, "The coarse forest does not say whose places its cells have");
  PetscCall(DMForestGetCellChart(coarse, &start, &end));
  count[0] = n;
  count[1] = end -= start;
  PetscCallMPI(MPI_Exscan(&end, &first, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(MPIU_Allreduce(count, all, 2, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscMalloc1(end, &mine));
  for (PetscInt c = 0; c < end; ++c) mine[c] = first + c;
  for (PetscInt c = 0; c < n; ++c) number[c] = -1;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, mine, number, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, mine, number, MPI_REPLACE));
  PetscCall(PetscFree(mine));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which of the 3^dim entities of a cell entry i of its closure is: in each direction 0 for the lower end, 1
   for inside, 2 for the upper end */
static PetscInt Entity(const HopsPlexClosure *ref, PetscInt i)
{
  PetscInt e = 0;

  for (PetscInt d = ref->dim - 1; d >= 0; --d) {
    PetscInt lower = 0, upper = 0;

    for (PetscInt k = 0; k < 1 << ref->depth[i]; ++k) {
      lower += ref->corner[i][k][d] == 0;
      upper += ref->corner[i][k][d] == 1;
    }
    e = 3 * e + (!upper ? 0 : (!lower ? 2 : 1));
  }
  return e;
}

/* bits[ncaller] of the cells: those of their entities whose unknowns are essential; or the marks of points,
   from these. What hangs has no unknowns, and a coarser cell tells of its parent */
static PetscErrorCode Essential(HopsPlexCells cells, PetscInt pStart, PetscBool set, PetscInt bits[], signed char mark[])
{
  const PetscInt n = cells->ref.n;

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(cells));
  for (PetscInt c = 0; c < cells->ncells; ++c)
    for (PetscInt i = 1; i < n; ++i) {
      const PetscInt bit = (PetscInt)1 << Entity(&cells->ref, i);
      PetscInt      *b   = bits + cells->cell[c] - cells->cstart;
      signed char   *m   = mark + cells->point[c * n + i] - pStart;

      if (cells->upoint && cells->upoint[c * n + i] != cells->point[c * n + i]) continue;
      if (set && *m) *b |= bit;
      if (!set && *b & bit) *m = 1;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bits of a child as those of its parent: what lies inside of an entity of the parent's is that entity */
static PetscInt ParentBits(PetscInt dim, PetscInt child, PetscInt bits)
{
  PetscInt up = 0;

  for (PetscInt e = 0; e < HopsPower(3, dim); ++e) {
    PetscInt to = 0, power = 1;

    if (!(bits >> e & 1)) continue;
    for (PetscInt d = 0, r = e; d < dim; ++d, r /= 3, power *= 3) to += power * (r % 3 == 2 * (child >> d & 1) ? r % 3 : 1);
    up |= (PetscInt)1 << to;
  }
  return up;
}

/* The space on the coarse forest, with the essential points that bits[] say */
static PetscErrorCode CreateSpace(HopsSpace fine, DM plex, HopsPlexCells cells, PetscInt bits[], HopsSpace *coarse)
{
  PetscInt     pStart, pEnd, n, *points = NULL;
  signed char *mark;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(plex, &pStart, &pEnd));
  PetscCall(PetscCalloc1(pEnd - pStart, &mark));
  PetscCall(Essential(cells, pStart, PETSC_FALSE, bits, mark));
  PetscCall(HopsPlexShareClosures(plex, pStart, pEnd - pStart, mark, &n, &points)); /* owners may have no cell that tells */
  PetscCall(PetscFree(mark));
  PetscCall(HopsSpaceCreatePlex_Private(plex, cells, HOPS_H1, fine->order, NULL, n, NULL, points, coarse));
  PetscCall(PetscFree(points));
  PetscCall(HopsSpaceSetBackend(*coarse, fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* relations[fine->ncaller][3], whose coarse cells are known: children in directions of cells, by corners */
static PetscErrorCode Children(HopsSpace fine, DM plex, HopsPlexCells cells, PetscSF sf, PetscInt relations[])
{
  const PetscInt dim = fine->dim, size = dim << dim;
  PetscReal     *mine, *ends, corner[24];
  MPI_Datatype   unit;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(cells->ncaller * size, &mine, fine->ncaller * size, &ends));
  PetscCall(HopsPlexGetCellCorners(plex, cells, mine));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)size, MPIU_REAL, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, mine, ends, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, mine, ends, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscInt c = 0; c < fine->ncells; ++c) {
    const PetscInt at = fine->cell[c] - fine->cstart;
    PetscInt       k  = -1;

    PetscCall(HopsSpaceGetCorners(fine, c, corner));
    while (k < (1 << dim) - 1 && !HopsRelationFits(dim, k, PetscMax(k, 0), corner, ends + at * size)) ++k;
    relations[at * HOPS_RELATION + 2] = k; /* HopsSpaceSetCoarse() looks whether it is so */
  }
  PetscCall(PetscFree2(mine, ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The space below on the coarse forest, whose cells number[] have the places of the fine ones */
static PetscErrorCode CreateBelow(HopsSpace fine, DM forest, const PetscInt number[], HopsSpace *coarse)
{
  const PetscInt n = fine->ncaller;
  DM             plex;
  HopsPlexCells  cells;
  PetscLayout    layout;
  PetscSF        sf;
  PetscInt       pStart, pEnd, m, *points, *relations, *bits, *up;
  signed char   *mark;

  PetscFunctionBegin;
  PetscCall(DMConvert(forest, DMPLEX, &plex));
  PetscCall(HopsPlexCellsCreate(plex, fine->dim, fine->backend, &cells));
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)fine), cells->ncaller, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)fine), &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, n, NULL, PETSC_OWN_POINTER, number));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(DMPlexGetChart(fine->dm, &pStart, &pEnd));
  PetscCall(PetscMalloc1(n * HOPS_RELATION, &relations));
  for (PetscInt c = 0; c < n; ++c) {
    relations[c * HOPS_RELATION]     = c;
    relations[c * HOPS_RELATION + 1] = number[c];
  }
  PetscCall(Children(fine, plex, cells, sf, relations));
  PetscCall(PetscCalloc3(n, &bits, cells->ncaller, &up, pEnd - pStart, &mark));
  PetscCall(HopsSpaceGetEssentialPoints(fine, &m, &points));
  for (PetscInt i = 0; i < m; ++i) mark[points[i] - pStart] = 1;
  PetscCall(PetscFree(points));
  PetscCall(Essential(fine->cells, pStart, PETSC_TRUE, bits, mark));
  for (PetscInt c = 0; c < n; ++c)
    if (relations[c * HOPS_RELATION + 2] >= 0) bits[c] = ParentBits(fine->dim, relations[c * HOPS_RELATION + 2], bits[c]);
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, bits, up, MPI_BOR));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, bits, up, MPI_BOR));
  PetscCall(CreateSpace(fine, plex, cells, up, coarse));
  PetscCall(PetscFree3(bits, up, mark));
  PetscCall(HopsSpaceSetCoarse(fine, *coarse, n, relations));
  PetscCall(PetscFree(relations));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(HopsPlexCellsDestroy(&cells));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateCoarseForest(HopsSpace fine, DM forest, HopsSpace *coarse)
{
  PetscInt all[2], *number;
  DM       below;

  PetscFunctionBegin;
  *coarse = NULL;
  PetscCall(HopsSpaceBringMesh(fine));
  PetscCall(PetscMalloc1(fine->ncaller, &number));
  PetscCall(Numbers(forest, fine->ncaller, number, all));
  if (all[1] < all[0]) {
    PetscCall(Coarsen(forest, PETSC_FALSE, &below));
    PetscCall(DMForestSetAdaptivityForest(below, NULL)); /* it would be kept */
    PetscCall(CreateBelow(fine, below, number, coarse));
    PetscCall(PetscObjectCompose((PetscObject)*coarse, Key, (PetscObject)below));
    PetscCall(DMDestroy(&below));
    PetscCall(PetscInfo(fine, "the forest's %" PetscInt_FMT " cells become %" PetscInt_FMT "\n", all[0], all[1]));
  }
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
