/*
  DMGlobalToLocal() and DMLocalToGlobal() on one process. PETSc's graph of a DM's section sends nothing there,
  but its set-up sorts and checks all unknowns as if it did: 0.6 to 0.8 s for 7 million of them. Here the
  graph's own set-up waits until something asks for it, and scalars go by the list of the unknowns in local
  vectors: the n-th leaf's root is the n-th entry of the global vector, which is checked.

  The operations of the DM's PetscSF are replaced, and put back (HopsSectionLeave()) by what is not of this
  kind: several processes, other units or reductions, memories that differ, questions for ranks.
*/
#include <hops/private/hopsdmimpl.h>
#include <petsc/private/dmimpl.h> /* dm->sectionSF */
#include <petsc/private/sfimpl.h> /* sf->ops */

#define HOPS_SECTION_PENDING 4 /* operations that have begun */

typedef struct {
  struct _PetscSFOps ops;       /* PETSc's */
  PetscInt           n, nlocal; /* leaves; size of a local vector as far as it has some */
  const PetscInt    *leaf;      /* [n], the graph's; NULL: i */
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
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSectionBcastEnd(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);
static PetscErrorCode HopsSectionReduceEnd(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);

/* From here on the graph is PETSc's; what has begun here ends here */
static PetscErrorCode HopsSectionLeave(PetscSF sf)
{
  HopsSectionGraph *g;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  *sf->ops = g->ops;
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
  PetscInt           nroots;
  const PetscSFNode *root;
  PetscMPIInt        size;
  PetscBool          plain;

  PetscFunctionBegin;
  PetscCall(HopsSectionGet(sf, &g));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sf), &size));
  PetscCall(PetscSFGetGraph(sf, &nroots, &g->n, &g->leaf, &root));
  plain     = size == 1 && g->n <= nroots ? PETSC_TRUE : PETSC_FALSE;
  g->nlocal = g->n && g->leaf ? g->leaf[g->n - 1] + 1 : g->n;
  for (PetscInt i = 0; i < g->n && plain; ++i)
    if (root[i].index != i || (g->leaf && i && g->leaf[i] <= g->leaf[i - 1])) plain = PETSC_FALSE;
  if (!plain) PetscCall(HopsSectionLeave(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists on a back end */
static PetscErrorCode HopsSectionSetBackend(HopsSectionGraph *g, const HopsBackendOps *be)
{
  PetscInt *list;

  PetscFunctionBegin;
  if (g->be == be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSectionFree(g));
  g->be = be;
  PetscCall(PetscMalloc1(g->nlocal, &list));
  for (PetscInt i = 0; i < g->nlocal; ++i) list[i] = -1;
  for (PetscInt i = 0; i < g->n; ++i) list[g->leaf ? g->leaf[i] : i] = i;
  PetscCall((*be->memory->Malloc)(g->nlocal * sizeof(PetscInt), (void **)&g->beinverse));
  PetscCall((*be->memory->Copy)(NULL, g->beinverse, list, g->nlocal * sizeof(PetscInt), HOPS_COPY_IN));
  for (PetscInt i = 0; i < g->n; ++i) list[i] = g->leaf ? g->leaf[i] : i;
  PetscCall((*be->memory->Malloc)(g->n * sizeof(PetscInt), (void **)&g->beleaf));
  PetscCall((*be->memory->Copy)(NULL, g->beleaf, list, g->n * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall(PetscFree(list));
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
  *here =
    be && unit == MPIU_SCALAR && (op == MPI_REPLACE || op == MPI_SUM || op == MPIU_SUM) && (*g)->npending < HOPS_SECTION_PENDING
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
    PetscCall((*g->be->vector->SetEntries)(g->n, g->beleaf, all, (PetscScalar *)local));
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
  PetscCall((*g->ops.Reset)(sf));
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
  PetscCall(DMSetSectionSF(dm, sf)); /* without a graph: PETSc makes it when it is asked for */
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
