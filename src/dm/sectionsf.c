/*
  DMGlobalToLocal() and DMLocalToGlobal() on one process. PETSc's graph of a DM's section sends nothing
  there, but it is sorted and set up as if it did: 0.3 and 0.6 to 0.8 s for 7 million unknowns. Here it is
  filled without a sort where the unknowns of the points follow one another, its own set-up waits until
  something asks for it, and scalars go by the list of the unknowns in local vectors: the n-th leaf's root
  is the n-th entry of the global vector, which is checked. Entries of local vectors without a root, the
  essential ones, are few, so that these describe the graph.

  The operations of the DM's PetscSF are replaced, and put back (HopsSectionLeave()) by what is not of this
  kind: several processes, other units or reductions, memories that differ, questions for ranks.
*/
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopsmeshimpl.h>
#include <petsc/private/dmimpl.h> /* dm->sectionSF */
#include <petsc/private/sfimpl.h> /* sf->ops */

#define HOPS_SECTION_PENDING 4 /* operations that have begun */

typedef struct {
  struct _PetscSFOps ops;         /* PETSc's */
  PetscBool          known;       /* the next four are those of the graph */
  PetscInt           n, nlocal;   /* leaves; size of a local vector as far as it has some */
  PetscInt           ngaps, *gap; /* [ngaps] entries of it that are no leaves, ascending */
  /* on a back end: leaf[n], and inverse[nlocal] with -1 for what is no leaf */
  const HopsBackendOps *be;
  PetscInt             *beleaf, *beinverse;
  PetscInt              npending;
  const void           *pending[HOPS_SECTION_PENDING]; /* the data that change */
} HopsSectionGraph;

static PetscErrorCode HopsSectionGet(PetscSF sf, HopsSectionGraph **g)
{
  PetscContainer c;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)sf, "HopsSectionGraph", (PetscObject *)&c));
  PetscCall(PetscContainerGetPointer(c, (void **)g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionFree(HopsSectionGraph *g)
{
  PetscFunctionBegin;
  if (!g->be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*g->be->memory->Free)((void **)&g->beleaf));
  PetscCall((*g->be->memory->Free)((void **)&g->beinverse));
  g->be = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionDestroy(HopsContainerCtx ctx)
{
  HopsSectionGraph *g = (HopsSectionGraph *)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(HopsSectionFree(g));
  PetscCall(PetscFree(g->gap));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionBcastEnd(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);
static PetscErrorCode HopsSectionReduceEnd(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);

/* From here on the graph is PETSc's; what has begun here ends here */
static PetscErrorCode HopsSectionLeave(PetscSF sf)
{
  const struct _PetscSFOps now = *sf->ops;
  HopsSectionGraph        *g;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  *sf->ops        = g->ops;
  sf->ops->Malloc = now.Malloc; /* PetscSFSetUp() sets these two where there are devices */
  sf->ops->Free   = now.Free;
  if (g->npending) {
    sf->ops->BcastEnd  = HopsSectionBcastEnd;
    sf->ops->ReduceEnd = HopsSectionReduceEnd;
  }
  PetscCall((*sf->ops->SetUp)(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One process, and leaves and roots in the same order, each root once */
static PetscErrorCode HopsSectionSetUp(PetscSF sf)
{
  HopsSectionGraph  *g;
  PetscInt           nroots, ngaps = 0;
  const PetscInt    *leaf;
  const PetscSFNode *root;
  PetscMPIInt        size;
  PetscBool          plain;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  if (g->known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sf), &size));
  PetscCall(PetscSFGetGraph(sf, &nroots, &g->n, &leaf, &root));
  plain     = size == 1 && g->n <= nroots ? PETSC_TRUE : PETSC_FALSE;
  g->nlocal = g->n && leaf ? leaf[g->n - 1] + 1 : g->n;
  for (PetscInt i = 0; i < g->n && plain; ++i)
    if (root[i].index != i || (leaf && (leaf[i] < 0 || (i && leaf[i] <= leaf[i - 1])))) plain = PETSC_FALSE;
  if (!plain) {
    PetscCall(HopsSectionLeave(sf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscFree(g->gap));
  PetscCall(PetscMalloc1(g->nlocal - g->n, &g->gap));
  for (PetscInt i = 0, l = 0; i < g->n; ++i, ++l)
    for (; leaf && l < leaf[i]; ++l) g->gap[ngaps++] = l;
  g->ngaps = ngaps;
  g->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists on a back end */
static PetscErrorCode HopsSectionSetBackend(HopsSectionGraph *g, const HopsBackendOps *be)
{
  const HopsBackendOps *at   = be->mesh ? be : &HopsBackendHost;
  const size_t          n[2] = {g->n * sizeof(PetscInt), g->nlocal * sizeof(PetscInt)};
  PetscInt             *list[2];

  PetscFunctionBegin;
  if (g->be == be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSectionFree(g));
  g->be = be;
  for (PetscInt k = 0; k < 2; ++k) PetscCall((*at->memory->Malloc)(n[k], (void **)&list[k]));
  PetscCall((*at->mesh->Complement)(g->nlocal, g->ngaps, g->gap, list[0], list[1]));
  for (PetscInt k = 0; k < 2 && at != be; ++k) {
    PetscInt *there;

    PetscCall((*be->memory->Malloc)(n[k], (void **)&there));
    PetscCall((*be->memory->Copy)(NULL, there, list[k], n[k], HOPS_COPY_IN));
    PetscCall((*at->memory->Free)((void **)&list[k]));
    list[k] = there;
  }
  g->beleaf    = list[0];
  g->beinverse = list[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins what changes `to`, if it is of the kind that is done here; else the graph is PETSc's */
static PetscErrorCode HopsSectionBegin(PetscSF sf, MPI_Datatype unit, PetscMemType from, PetscMemType tot, const void *to,
                                       MPI_Op op, HopsSectionGraph **g, PetscBool *here)
{
  const HopsBackendOps *be = NULL;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, g));
  if (from == tot) PetscCall(HopsBackendOfMemory(from, &be));
  *here = HOPS_PARTS == 1 && be && unit == MPIU_SCALAR && (op == MPI_REPLACE || op == MPI_SUM || op == MPIU_SUM) &&
              (*g)->npending < HOPS_SECTION_PENDING
            ? PETSC_TRUE
            : PETSC_FALSE;
  if (*here) {
    PetscCall(HopsSectionSetBackend(*g, be));
    (*g)->pending[(*g)->npending++] = to;
  } else PetscCall(HopsSectionLeave(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* local[leaf[i]] = or += global[i] */
static PetscErrorCode HopsSectionBcastBegin(PetscSF sf, MPI_Datatype unit, PetscMemType rtype, const void *global,
                                            PetscMemType ltype, void *local, MPI_Op op)
{
  HopsSectionGraph *g;
  PetscBool         here;
  PetscScalar      *all;

  PetscFunctionBegin;
  PetscCall(HopsSectionBegin(sf, unit, rtype, ltype, local, op, &g, &here));
  if (!here) PetscCall((*sf->ops->BcastBegin)(sf, unit, rtype, global, ltype, local, op));
  else if (op != MPI_REPLACE) PetscCall((*g->be->vector->UnpackAdd)(PETSC_SCALAR, g->n, g->beleaf, global, local));
  else {
    PetscCall((*g->be->memory->PoolMalloc)(g->nlocal * sizeof(PetscScalar), (void **)&all));
    PetscCall((*g->be->vector->Pack)(NULL, PETSC_SCALAR, g->nlocal, g->beinverse, global, all));
    PetscCall((*g->be->vector->SetEntries)(g->n, g->beleaf, (const PetscReal *)all, (PetscReal *)local));
    PetscCall((*g->be->memory->PoolFree)((void **)&all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* global[i] = or += local[leaf[i]] */
static PetscErrorCode HopsSectionReduceBegin(PetscSF sf, MPI_Datatype unit, PetscMemType ltype, const void *local,
                                             PetscMemType rtype, void *global, MPI_Op op)
{
  HopsSectionGraph *g;
  PetscBool         here;
  PetscScalar      *packed;

  PetscFunctionBegin;
  PetscCall(HopsSectionBegin(sf, unit, ltype, rtype, global, op, &g, &here));
  if (!here) PetscCall((*sf->ops->ReduceBegin)(sf, unit, ltype, local, rtype, global, op));
  else if (op == MPI_REPLACE) PetscCall((*g->be->vector->Pack)(NULL, PETSC_SCALAR, g->n, g->beleaf, local, global));
  else {
    PetscCall((*g->be->memory->PoolMalloc)(g->n * sizeof(PetscScalar), (void **)&packed));
    PetscCall((*g->be->vector->Pack)(NULL, PETSC_SCALAR, g->n, g->beleaf, local, packed));
    PetscCall((*g->be->vector->Combine)(PETSC_SCALAR, g->n, 1.0, packed, 1.0, global, global));
    PetscCall((*g->be->memory->PoolFree)((void **)&packed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing is left to do, or PETSc began it */
static PetscErrorCode HopsSectionEndAny(PetscSF sf, const void *to, PetscBool *here)
{
  HopsSectionGraph *g;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  *here = PETSC_FALSE;
  for (PetscInt i = 0; i < g->npending && !*here; ++i) {
    if (g->pending[i] != to) continue;
    g->pending[i] = g->pending[--g->npending];
    *here         = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionBcastEnd(PetscSF sf, MPI_Datatype unit, const void *global, void *local, MPI_Op op)
{
  HopsSectionGraph *g;
  PetscBool         here;

  PetscFunctionBegin;
  PetscCall(HopsSectionEndAny(sf, local, &here));
  PetscCall(HopsSectionGet(sf, &g));
  if (!here) PetscCall((*g->ops.BcastEnd)(sf, unit, global, local, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionReduceEnd(PetscSF sf, MPI_Datatype unit, const void *local, void *global, MPI_Op op)
{
  HopsSectionGraph *g;
  PetscBool         here;

  PetscFunctionBegin;
  PetscCall(HopsSectionEndAny(sf, global, &here));
  PetscCall(HopsSectionGet(sf, &g));
  if (!here) PetscCall((*g->ops.ReduceEnd)(sf, unit, local, global, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionFetchBegin(PetscSF sf, MPI_Datatype unit, PetscMemType rtype, void *root, PetscMemType ltype,
                                            const void *leaf, void *update, MPI_Op op)
{
  PetscFunctionBegin;
  PetscCall(HopsSectionLeave(sf));
  PetscCall((*sf->ops->FetchAndOpBegin)(sf, unit, rtype, root, ltype, leaf, update, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionRootRanks(PetscSF sf, HopsSFRank *n, const PetscMPIInt **ranks, const PetscInt **offset,
                                           const PetscInt **mine, const PetscInt **remote)
{
  PetscFunctionBegin;
  PetscCall(HopsSectionLeave(sf));
  PetscCall(PetscSFGetRootRanks(sf, n, ranks, offset, mine, remote));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionLeafRanks(PetscSF sf, HopsSFRank *n, const PetscMPIInt **ranks, const PetscInt **offset,
                                           const PetscInt **leaf)
{
  PetscFunctionBegin;
  PetscCall(HopsSectionLeave(sf));
  PetscCall(PetscSFGetLeafRanks(sf, n, ranks, offset, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionEmbedRoots(PetscSF sf, PetscInt n, const PetscInt *roots, PetscSF *embedded)
{
  PetscFunctionBegin;
  PetscCall(HopsSectionLeave(sf));
  PetscCall(PetscSFCreateEmbeddedRootSF(sf, n, roots, embedded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionEmbedLeaves(PetscSF sf, PetscInt n, const PetscInt *leaves, PetscSF *embedded)
{
  PetscFunctionBegin;
  PetscCall(HopsSectionLeave(sf));
  PetscCall(PetscSFCreateEmbeddedLeafSF(sf, n, leaves, embedded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists are those of the graph */
static PetscErrorCode HopsSectionReset(PetscSF sf)
{
  HopsSectionGraph *g;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  PetscCall(HopsSectionFree(g));
  g->known = PETSC_FALSE;
  PetscCall((*g->ops.Reset)(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of local vectors that are no leaves, from the sections alone; plain is false where the points'
   unknowns do not follow one another in both, or the sections do not agree */
static PetscErrorCode HopsSectionFindGaps(PetscSection s, PetscSection gs, HopsSectionGraph *g, PetscBool *plain)
{
  PetscInt start, end, gstart, gend, ngaps = 0, at = 0;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(s, &start, &end));
  PetscCall(PetscSectionGetChart(gs, &gstart, &gend));
  PetscCall(PetscSectionGetStorageSize(s, &g->nlocal));
  PetscCall(PetscSectionGetConstrainedStorageSize(s, &g->n));
  PetscCall(PetscSectionGetConstrainedStorageSize(gs, &g->ngaps));
  *plain = start == gstart && end == gend && g->n == g->ngaps ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc1(g->nlocal - g->n, &g->gap));
  for (PetscInt p = start; p < end && *plain; ++p) {
    PetscInt        dof, ncon, off, gdof, gncon, goff;
    const PetscInt *con = NULL;

    PetscCall(PetscSectionGetDof(s, p, &dof));
    PetscCall(PetscSectionGetDof(gs, p, &gdof));
    if (dof != gdof) *plain = PETSC_FALSE;
    if (!dof) continue;
    PetscCall(PetscSectionGetConstraintDof(s, p, &ncon));
    PetscCall(PetscSectionGetConstraintDof(gs, p, &gncon));
    PetscCall(PetscSectionGetOffset(s, p, &off));
    PetscCall(PetscSectionGetOffset(gs, p, &goff));
    if (off != at || ncon != gncon || (ncon < dof && goff != at - ngaps) || ngaps + ncon > g->nlocal - g->n) *plain = PETSC_FALSE;
    if (ncon && *plain) PetscCall(PetscSectionGetConstraintIndices(s, p, &con));
    for (PetscInt k = 0; k < ncon && *plain; ++k) {
      if (k && con[k] <= con[k - 1]) *plain = PETSC_FALSE;
      g->gap[ngaps++] = off + con[k];
    }
    at += dof;
  }
  g->ngaps = ngaps;
  if (at != g->nlocal || ngaps != g->nlocal - g->n) *plain = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph as PetscSFSetGraph() leaves it, which sorts leaves even where they are sorted */
static PetscErrorCode HopsSectionFill(PetscSF sf, const HopsSectionGraph *g)
{
  PetscInt    *leaf = NULL;
  PetscSFNode *root;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->n, &root));
  HopsHostAdvise(root, g->n * sizeof(*root));
  for (PetscInt i = 0; i < g->n; ++i) {
    root[i].rank  = 0;
    root[i].index = i;
  }
  if (g->ngaps && g->n && g->gap[0] < g->n) {
    PetscCall(PetscMalloc1(g->n, &leaf));
    HopsHostAdvise(leaf, g->n * sizeof(*leaf));
    for (PetscInt i = 0, l = 0, k = 0; i < g->n; ++i, ++l) {
      while (k < g->ngaps && g->gap[k] == l) {
        ++k;
        ++l;
      }
      leaf[i] = l;
    }
  }
  sf->nroots  = g->n;
  sf->nleaves = g->n;
  sf->minleaf = leaf ? leaf[0] : 0;
  sf->maxleaf = leaf ? leaf[g->n - 1] : g->n - 1;
  sf->mine = sf->mine_alloc = leaf;
  sf->remote = sf->remote_alloc = root;
  sf->graphset                  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where it cannot be filled PETSc makes it when it is asked for */
static PetscErrorCode HopsSectionTryFill(DM dm, PetscSF sf, HopsSectionGraph *g)
{
  PetscSection s, gs;
  PetscBool    plain = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &s));
  if (s) {
    PetscCall(DMGetGlobalSection(dm, &gs));
    PetscCall(HopsSectionFindGaps(s, gs, g, &plain));
  }
  if (plain) PetscCall(HopsSectionFill(sf, g));
  else PetscCall(PetscFree(g->gap));
  g->known = plain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexSetSectionSF(DM dm)
{
  HopsSectionGraph *g;
  PetscContainer    c;
  PetscMPIInt       size;
  PetscInt          nroots = -1;
  PetscSF           sf;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)dm), &size));
  if (dm->sectionSF) PetscCall(PetscSFGetGraph(dm->sectionSF, &nroots, NULL, NULL, NULL));
  if (size > 1 || nroots >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&g));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, g));
  PetscCall(HopsContainerSetDestroy(c, HopsSectionDestroy));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)dm), &sf));
  PetscCall(PetscSFSetType(sf, PETSCSFBASIC));
  PetscCall(PetscObjectCompose((PetscObject)sf, "HopsSectionGraph", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  g->ops                        = *sf->ops;
  sf->ops->SetUp                = HopsSectionSetUp;
  sf->ops->Reset                = HopsSectionReset;
  sf->ops->BcastBegin           = HopsSectionBcastBegin;
  sf->ops->BcastEnd             = HopsSectionBcastEnd;
  sf->ops->ReduceBegin          = HopsSectionReduceBegin;
  sf->ops->ReduceEnd            = HopsSectionReduceEnd;
  sf->ops->FetchAndOpBegin      = HopsSectionFetchBegin;
  sf->ops->GetRootRanks         = HopsSectionRootRanks;
  sf->ops->GetLeafRanks         = HopsSectionLeafRanks;
  sf->ops->CreateEmbeddedRootSF = HopsSectionEmbedRoots;
  sf->ops->CreateEmbeddedLeafSF = HopsSectionEmbedLeaves;
  PetscCall(HopsSectionTryFill(dm, sf, g));
  PetscCall(DMSetSectionSF(dm, sf));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
