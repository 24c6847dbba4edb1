/* The unknowns of a space on other cells than those of each rank: a view, for maps that need cells of other
   ranks. */
#include <hops/private/hopsnestedimpl.h>

/* What travels of a cell: global indices, -1 for essential unknowns, and the mask. mine[ncaller][ne + 1] */
static void Pack(HopsSpace sp, PetscInt mine[])
{
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscInt *m = mine + (sp->cell[c] - sp->cstart) * (sp->ne + 1);

    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int l = sp->restr[c * sp->ne + i];

      m[i] = l < sp->nT + sp->nG ? HopsSpaceGlobalIndex(sp, l) : -1;
    }
    m[sp->ne] = sp->hanging ? sp->hang[c] : 0;
  }
}

static PetscErrorCode Bring(HopsSpace sp, PetscInt n, const PetscInt cells[], PetscInt *have[])
{
  const PetscInt size = sp->ne + 1;
  PetscInt      *mine;
  MPI_Datatype   unit;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(HopsCheckIndex("unknowns of cells", (PetscInt64)PetscMax(sp->ncaller, n) * size));
  PetscCall(PetscCalloc1(sp->ncaller * size, &mine));
  PetscCall(PetscMalloc1(n * size, have));
  Pack(sp, mine);
  PetscCall(HopsSpaceCreateCellSF(sp, n, cells, NULL, &sf));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)size, MPIU_INT, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, mine, *have, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, mine, *have, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No coordinates, and no identity rows: it serves to read and add to entries of vectors */
PetscErrorCode HopsSpaceCreateCellView(HopsSpace sp, PetscInt n, const PetscInt cells[], HopsSpace *view)
{
  const PetscInt size = sp->ne + 1;
  HopsSpace      s;
  PetscInt      *have, *gidx, nkeys = n * sp->ne;
  int           *elist;

  PetscFunctionBegin;
  PetscCall(Bring(sp, n, cells, &have));
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)sp), sp->dim, sp->order, &s));
  s->nT      = sp->nT;
  s->rstart  = sp->rstart;
  s->N       = sp->N;
  s->ncells  = n;
  s->ncaller = n;
  s->gorder  = sp->gorder;
  s->hanging = sp->hanging;
  PetscCall(PetscMalloc1(n, &s->cell));
  PetscCall(PetscMalloc2(nkeys, &gidx, nkeys, &elist));
  if (s->hanging) PetscCall(PetscMalloc1(n, &s->hang));
  for (PetscInt c = 0; c < n; ++c) {
    s->cell[c] = c;
    if (s->hanging) s->hang[c] = (unsigned short)have[c * size + sp->ne];
    PetscCall(PetscArraycpy(gidx + c * sp->ne, have + c * size, sp->ne));
  }
  PetscCall(PetscSortRemoveDupsInt(&nkeys, gidx)); /* -1 is the first, if there are any */
  for (PetscInt i = 0; i < n * sp->ne; ++i) {
    PetscInt k;

    PetscCall(PetscFindInt(have[i / sp->ne * size + i % sp->ne], nkeys, gidx, &k));
    elist[i] = (int)k;
  }
  PetscCall(HopsSpaceSetUpNumbering(s, nkeys, gidx, NULL, elist));
  PetscCall(HopsSpaceSetBackend(s, sp));
  PetscCall(PetscFree2(gidx, elist));
  PetscCall(PetscFree(have));
  *view = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}
