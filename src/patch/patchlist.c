/* Entries of patches: numbers of the nodes of cells, the unknowns of other ranks, and the lists, which are
   made where the back end works. */
#include <hops/private/hopspatchimpl.h>

/* ----------------------------------- nodes of cells ----------------------------------- */

/* far[]: unknowns of other ranks in any cell */
static PetscErrorCode FarUnknowns(HopsPatchCells *pc)
{
  HopsSpace      sp  = pc->space;
  const PetscInt end = sp->rstart + sp->nT;

  PetscFunctionBegin;
  PetscCall(PetscFree(pc->far));
  PetscCall(PetscMalloc1(sp->nG + (pc->n - pc->nown) * pc->nn, &pc->far));
  PetscCall(PetscArraycpy(pc->far, sp->ghost, sp->nG));
  pc->nfar = sp->nG;
  for (PetscInt i = pc->nown * pc->nn; i < pc->n * pc->nn; ++i)
    if (pc->gid[i] >= 0 && (pc->gid[i] < sp->rstart || pc->gid[i] >= end)) pc->far[pc->nfar++] = pc->gid[i];
  PetscCall(PetscSortRemoveDupsInt(&pc->nfar, pc->far));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy where the back end works; the host's own array serves it */
static PetscErrorCode ToBackend(HopsSpace sp, size_t n, void *h, void **b)
{
  const HopsMemoryOps *memory = sp->backend->memory;

  PetscFunctionBegin;
  if (PetscMemTypeHost(sp->backend->memtype)) *b = h;
  else {
    if (!*b) PetscCall((*memory->Malloc)(n, b));
    PetscCall((*memory->Copy)(NULL, *b, h, n, HOPS_COPY_IN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NodesReset(HopsPatchCells *pc)
{
  const HopsMemoryOps *memory = pc->space->backend->memory;

  PetscFunctionBegin;
  if (!PetscMemTypeHost(pc->space->backend->memtype)) {
    PetscCall((*memory->Free)((void **)&pc->bmap));
    PetscCall((*memory->Free)((void **)&pc->bother));
  }
  pc->bmap = pc->bother = NULL;
  PetscCall((*memory->Free)((void **)&pc->blacks));
  PetscCall(PetscFree(pc->map));
  PetscCall(PetscFree(pc->other));
  PetscCall(PetscFree(pc->far));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt MapSize(const HopsPatchCells *pc)
{
  return pc->space->nL - pc->space->nT + pc->nfar + 1;
}

PetscErrorCode HopsPatchCellsNodes(HopsPatchCells *pc)
{
  HopsSpace       sp     = pc->space;
  const PetscInt  nother = (pc->n - pc->nown) * pc->nn, *gid = nother ? pc->gid + pc->nown * pc->nn : NULL;
  const PetscBool here = PetscMemTypeHost(sp->backend->memtype) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (pc->nodesof == pc->n) PetscFunctionReturn(PETSC_SUCCESS);
  pc->nodesof = pc->n;
  PetscCall(NodesReset(pc));
  PetscCall(FarUnknowns(pc));
  PetscCheck((PetscInt64)sp->nL + pc->nfar + 1 < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "More than 2^31 unknowns on one rank: use more ranks");
  PetscCall(PetscMalloc1(MapSize(pc), &pc->map));
  PetscCall(PetscMalloc1(nother, &pc->other));
  for (PetscInt i = 0; i < MapSize(pc); ++i) { /* ghosts, constrained entries, far[], what is constrained elsewhere */
    const PetscInt far = i - (sp->nL - sp->nT);
    PetscInt       k   = pc->nfar;

    if (i < sp->nG) PetscCall(PetscFindInt(sp->ghost[i], pc->nfar, pc->far, &k));
    else if (far >= 0) k = far;
    pc->map[i] = (int)(sp->nT + k);
  }
  for (PetscInt i = 0; i < nother; ++i) {
    PetscInt k = pc->nfar;

    if (gid[i] >= sp->rstart && gid[i] < sp->rstart + sp->nT) pc->other[i] = (int)(gid[i] - sp->rstart);
    else {
      if (gid[i] >= 0) PetscCall(PetscFindInt(gid[i], pc->nfar, pc->far, &k));
      pc->other[i] = (int)(sp->nL + k);
    }
  }
  PetscCall(ToBackend(sp, MapSize(pc) * sizeof(int), pc->map, (void **)&pc->bmap));
  PetscCall(ToBackend(sp, nother * sizeof(int), pc->other, (void **)&pc->bother));
  PetscCall((*sp->backend->memory->Malloc)(pc->n, (void **)&pc->blacks));
  pc->bnodes.none  = (int)(sp->nT + pc->nfar);
  pc->bnodes.other = pc->bother;
  pc->bnodes.map   = pc->bmap;
  pc->bnodes.lacks = pc->blacks;
  PetscCall((*HopsPatchSetUpOf(sp)->Lacks)(&pc->bnodes, (int)(sp->nT + sp->nG), (int)(sp->nL + pc->nfar), pc->n, pc->blacks));
  pc->nodes       = pc->bnodes;
  pc->nodes.own   = sp->restr; /* where it was brought */
  pc->nodes.other = pc->other;
  pc->nodes.map   = pc->map;
  pc->nodes.lacks = here ? pc->blacks : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchCellsDestroy(HopsPatchCells *pc)
{
  PetscFunctionBegin;
  PetscCall(NodesReset(pc));
  PetscCall(PetscFree(pc->gid));
  PetscCall(PetscFree(pc->vid));
  PetscCall(PetscFree(pc->number));
  PetscCall(PetscFree(pc->x));
  PetscCall(PetscFree(pc->data));
  PetscCall(PetscFree(pc->home));
  PetscCall(PetscFree(pc->hang));
  PetscCall(PetscFree(pc->own));
  PetscCall(HopsHangingDestroy(&pc->hanging));
  PetscCall(PetscFree(pc->vertex));
  if (pc->op) PetscCall((*pc->op->ops->Destroy)(&pc->op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- lists --------------------------------------- */

/* Lists in the process's memory; dist[] and eidx[] may be NULL, `gdist` are the given distances */
static PetscErrorCode HostLists(const HopsPatchLists *l, const unsigned char gdist[], int idx[], unsigned char dist[], int eidx[])
{
  PetscInt       nmax = 0;
  int           *work;
  unsigned char *dwork;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < l->n; ++k) nmax = l->star[k].sorted ? PetscMax(nmax, l->start[k + 1] - l->start[k]) : nmax;
  PetscCall(PetscMalloc2(nmax, &work, nmax, &dwork));
  for (PetscInt k = 0; k < l->n; ++k) {
    const HopsPatchStar *s   = l->star + k;
    const PetscInt       n   = l->start[k + 1] - l->start[k];
    int                 *to  = idx + l->start[k];
    unsigned char       *dto = dist ? dist + l->start[k] : NULL;

    if (!s->side[0]) {
      PetscCall(PetscArraycpy(to, l->given + s->cell[0], n));
      if (dist) PetscCall(PetscArraycpy(dto, gdist + s->cell[0], n));
    } else if (s->sorted) {
      HopsPatchStarList(&l->nodes, s, 0, work, dist ? dwork : NULL, 0, 1);
      HopsPatchListSort((int)n, work, dist ? dwork : NULL, to, dto, 0, 1);
    } else HopsPatchStarList(&l->nodes, s, 0, to, dto, 0, 1);
    if (eidx && l->estart[k] < l->estart[k + 1]) HopsPatchStarList(&l->nodes, s, 1, eidx + l->estart[k], NULL, 0, 1);
  }
  PetscCall(PetscFree2(work, dwork));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the patches without a star, by their global indices; those of dense ones ascend */
static PetscErrorCode Given(HopsPatches pt, int **given)
{
  HopsSpace      sp  = pt->space;
  const PetscInt end = sp->rstart + sp->nT;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pt->ngiven, given));
  for (PetscInt i = 0; i < pt->ngiven; ++i) {
    const PetscInt g = pt->gid[i];
    PetscInt       k = -1;

    if (g >= sp->rstart && g < end) k = g - sp->rstart;
    else if (g >= 0) {
      PetscCall(PetscFindInt(g, pt->nG, pt->ghost, &k));
      k += pt->nT;
    } else k = pt->nP - 1;
    (*given)[i] = (int)k;
  }
  for (PetscInt k = 0; k < pt->n && pt->nG; ++k) { /* ghosts come last, wherever their indices are */
    const PetscInt at = pt->star[k].cell[0], n = pt->start[k + 1] - pt->start[k];
    int           *work;
    unsigned char *dwork;

    if (pt->star[k].side[0] || pt->solver[k] != HOPS_PATCH_DENSE) continue;
    PetscCall(PetscMalloc2(n, &work, n, &dwork));
    PetscCall(PetscArraycpy(work, *given + at, n));
    PetscCall(PetscArraycpy(dwork, pt->gdist + at, n));
    HopsPatchListSort((int)n, work, dwork, *given + at, pt->gdist + at, 0, 1);
    PetscCall(PetscFree2(work, dwork));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lists(HopsPatches pt, HopsPatchCells *pc)
{
  const HopsBackendOps *be   = pt->space->backend;
  const PetscBool       here = PetscMemTypeHost(be->memtype) ? PETSC_TRUE : PETSC_FALSE;
  HopsPatchLists        l    = {.n = pt->n, .star = pt->star, .start = pt->start, .estart = pt->estart, .ngiven = pt->ngiven};
  int                  *given;

  PetscFunctionBegin;
  PetscCall(Given(pt, &given));
  l.given = given;
  PetscCall((*be->memory->Malloc)(pt->nent * sizeof(int), (void **)&pt->idx));
  PetscCall((*be->memory->Malloc)(pt->next * sizeof(int), (void **)&pt->eidx));
  if (pt->levels) PetscCall(PetscMalloc1(pt->nent, &pt->dist));
  if (be->patches) {
    l.nodes = pc->bnodes;
    PetscCall((*be->patches->Lists)(&l, pt->idx, pt->eidx));
  }
  if (!be->patches || pt->levels) {
    PetscCall(HopsPatchCellsBring(pc));
    l.nodes = pc->nodes;
    if (!here) PetscCall(PetscMalloc1(pt->nent, &pt->hidx));
    PetscCall(HostLists(&l, pt->gdist, here ? pt->idx : pt->hidx, pt->dist, be->patches ? NULL : pt->eidx));
  }
  PetscCall(PetscFree(given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesBringLists(HopsPatches pt, const int *idx[])
{
  const HopsBackendOps *be = pt->space->backend;

  PetscFunctionBegin;
  *idx = pt->idx;
  if (PetscMemTypeHost(be->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pt->hidx) {
    PetscCall(PetscMalloc1(pt->nent, &pt->hidx));
    PetscCall((*be->memory->Copy)(NULL, pt->hidx, pt->idx, pt->nent * sizeof(int), HOPS_COPY_OUT));
  }
  *idx = pt->hidx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- numbers -------------------------------------- */

/* Marks the unknowns of other ranks, far[], that are in a patch */
static PetscErrorCode MarkFar(HopsPatches pt, HopsPatchCells *pc, PetscBool used[])
{
  HopsSpace  sp = pt->space;
  int       *work;
  PetscBool *near;

  PetscFunctionBegin;
  PetscCall(HopsPatchCellsBring(pc));
  PetscCall(PetscMalloc2(pc->n, &near, HopsPower(2 * sp->order + 1, sp->dim), &work));
  for (PetscInt c = 0; c < pc->n; ++c) {
    near[c] = c < pc->nown ? PETSC_FALSE : PETSC_TRUE;
    for (PetscInt i = c * pc->nn; i < (c + 1) * pc->nn && c < pc->nown; ++i)
      if (sp->restr[i] >= sp->nT && sp->restr[i] < sp->nT + sp->nG) near[c] = PETSC_TRUE;
  }
  for (PetscInt k = 0; k < pt->n; ++k) {
    const HopsPatchStar *s   = pt->star + k;
    const int            all = pt->estart[k] < pt->estart[k + 1];
    PetscBool            any = PETSC_FALSE;
    int                  n, size[3];

    for (int pos = 0; pos < 8 && s->side[0]; ++pos)
      if (HopsPatchStarHas(s, pos) && near[s->cell[pos]]) any = PETSC_TRUE;
    if (!any) continue;
    n = HopsPatchStarSize(&pc->nodes, s, all, size);
    HopsPatchStarList(&pc->nodes, s, all, work, NULL, 0, 1);
    for (int i = 0; i < n; ++i)
      if (work[i] >= sp->nT && work[i] < pc->nodes.none) used[work[i] - sp->nT] = PETSC_TRUE;
  }
  for (PetscInt i = 0; i < pt->ngiven; ++i) {
    const PetscInt g = pt->gid[i];
    PetscInt       k;

    if (g < 0 || (g >= sp->rstart && g < sp->rstart + sp->nT)) continue;
    PetscCall(PetscFindInt(g, pc->nfar, pc->far, &k));
    PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Unknown %" PetscInt_FMT " of a patch is in no cell", g);
    used[k] = PETSC_TRUE;
  }
  PetscCall(PetscFree2(near, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts are the unknowns of other ranks that patches have; numbers of nodes lead to them */
static PetscErrorCode Ghosts(HopsPatches pt, HopsPatchCells *pc)
{
  PetscBool *used;
  int       *to;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(pc->nfar + 1, &used, pc->nfar + 1, &to));
  if (pc->nfar) PetscCall(MarkFar(pt, pc, used));
  pt->nT = pt->space->nT;
  pt->nG = 0;
  for (PetscInt i = 0; i < pc->nfar; ++i) pt->nG += used[i];
  pt->nP = pt->nT + pt->nG + 1;
  PetscCall(PetscMalloc1(pt->nG, &pt->ghost));
  pt->nG = 0;
  for (PetscInt i = 0; i <= pc->nfar; ++i) {
    to[i] = (int)(used[i] ? pt->nT + pt->nG : pt->nP - 1);
    if (used[i]) pt->ghost[pt->nG++] = pc->far[i];
  }
  for (PetscInt i = 0; i < MapSize(pc); ++i) pc->map[i] = to[pc->map[i] - pt->nT];
  pc->nodes.none = pc->bnodes.none = (int)pt->nP - 1;
  PetscCall(ToBackend(pt->space, MapSize(pc) * sizeof(int), pc->map, (void **)&pc->bmap));
  PetscCall(PetscFree2(used, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sum or least value of a P-vector of integers over the ranks that have an unknown */
static PetscErrorCode Combine(HopsPatches pt, MPI_Op op, int x[])
{
  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(pt->halo, MPI_INT, x + pt->nT, x, op));
  PetscCall(PetscSFReduceEnd(pt->halo, MPI_INT, x + pt->nT, x, op));
  PetscCall(PetscSFBcastBegin(pt->halo, MPI_INT, x, x + pt->nT, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(pt->halo, MPI_INT, x, x + pt->nT, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Levels(HopsPatches pt)
{
  const int *idx;

  PetscFunctionBegin;
  PetscCall(HopsPatchesBringLists(pt, &idx));
  PetscCall(PetscMalloc1(pt->nP, &pt->level));
  PetscCall(PetscCalloc1(pt->nP, &pt->nlevel));
  for (PetscInt i = 0; i < pt->nP; ++i) pt->level[i] = INT_MAX;
  for (PetscInt i = 0; i < pt->nent; ++i) pt->level[idx[i]] = PetscMin(pt->level[idx[i]], pt->dist[i]);
  PetscCall(Combine(pt, MPI_MIN, pt->level));
  for (PetscInt i = 0; i < pt->nent; ++i) pt->nlevel[idx[i]] += pt->dist[i] == pt->level[idx[i]];
  PetscCall(Combine(pt, MPI_SUM, pt->nlevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesCount(HopsPatches pt)
{
  const int *idx;

  PetscFunctionBegin;
  if (pt->mult) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPatchesBringLists(pt, &idx));
  PetscCall(PetscCalloc1(pt->nP, &pt->mult));
  for (PetscInt i = 0; i < pt->nent; ++i) ++pt->mult[idx[i]];
  PetscCall(Combine(pt, MPI_SUM, pt->mult));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesNumber(HopsPatches pt, HopsPatchCells *pc)
{
  HopsSpace   sp = pt->space;
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.number, 0, 0, 0, 0));
  PetscCall(HopsPatchCellsNodes(pc));
  PetscCall(Ghosts(pt, pc));
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &pt->halo));
  PetscCall(PetscSFSetGraphLayout(pt->halo, layout, pt->nG, NULL, PETSC_OWN_POINTER, pt->ghost));
  PetscCall(PetscSFSetUp(pt->halo));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(Lists(pt, pc));
  if (pt->levels) PetscCall(Levels(pt));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.number, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
