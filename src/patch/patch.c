/* A set of patches: storage, numbering of their unknowns across ranks, and that every free unknown is in
   one. */
#include <hops/private/hopspatchimpl.h>

HopsPatchEvents HopsPatchEvent;

PetscErrorCode HopsPatchRegisterEvents(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("PCPatchFDModels", PC_CLASSID, &HopsPatchEvent.model));
  PetscCall(PetscLogEventRegister("PCPatchFDStars", PC_CLASSID, &HopsPatchEvent.star));
  PetscCall(PetscLogEventRegister("PCPatchFDInvert", PC_CLASSID, &HopsPatchEvent.invert));
  PetscCall(PetscLogEventRegister("PCPatchFDNumber", PC_CLASSID, &HopsPatchEvent.number));
  PetscCall(PetscLogEventRegister("PCPatchFDColor", PC_CLASSID, &HopsPatchEvent.color));
  PetscCall(PetscLogEventRegister("PCPatchFDKernel", PC_CLASSID, &HopsPatchEvent.kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatchesReserve(HopsPatches pt, PetscInt nent, PetscInt ntouch)
{
  PetscFunctionBegin;
  if (pt->n == pt->nmax) {
    pt->nmax = PetscMax(64, 2 * pt->nmax);
    PetscCall(PetscRealloc((pt->nmax + 1) * sizeof(PetscInt), &pt->start));
    PetscCall(PetscRealloc((pt->nmax + 1) * sizeof(PetscInt), &pt->touchstart));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->size), &pt->size));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->factor), &pt->factor));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->scale), &pt->scale));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->esize), &pt->esize));
    PetscCall(PetscRealloc((pt->nmax + 1) * sizeof(PetscInt), &pt->estart));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->bound), &pt->bound));
    PetscCall(PetscRealloc(pt->nmax, &pt->solver));
    PetscCall(PetscRealloc(pt->nmax, &pt->element));
    PetscCall(PetscRealloc(pt->nmax * sizeof(PetscInt), &pt->center));
    PetscCall(PetscRealloc(pt->nmax * sizeof(int), &pt->color));
    PetscCall(PetscRealloc(pt->nmax * sizeof(PetscInt), &pt->dense));
  }
  if (pt->nent + nent > pt->emax) {
    pt->emax = PetscMax(pt->nent + nent, pt->emax + pt->emax / 2);
    PetscCall(PetscRealloc(pt->emax * sizeof(PetscInt), &pt->gid));
    PetscCall(PetscRealloc(pt->emax, &pt->dist));
  }
  if (pt->ntouch + ntouch > pt->tmax) {
    pt->tmax = PetscMax(pt->ntouch + ntouch, pt->tmax + pt->tmax / 2);
    PetscCall(PetscRealloc(pt->tmax * sizeof(PetscInt), &pt->touch));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAppend(HopsPatches pt, PetscInt n, const PetscInt gid[], const unsigned char dist[], PetscInt ntouch,
                                 const PetscInt touch[])
{
  PetscInt k;

  PetscFunctionBegin;
  PetscCall(PatchesReserve(pt, n, ntouch));
  k = pt->n++;
  PetscCall(PetscArraycpy(pt->gid + pt->nent, gid, n));
  PetscCall(PetscArraycpy(pt->dist + pt->nent, dist, n));
  PetscCall(PetscArraycpy(pt->touch + pt->ntouch, touch, ntouch));
  pt->start[k]          = pt->nent;
  pt->touchstart[k]     = pt->ntouch;
  pt->start[k + 1]      = pt->nent += n;
  pt->touchstart[k + 1] = pt->ntouch += ntouch;
  for (int a = 0; a < 3; ++a) {
    pt->size[k][a]   = a ? 1 : (int)n;
    pt->factor[k][a] = -1;
  }
  for (int a = 0; a < 6; ++a) pt->scale[k][a] = 0.0;
  for (int a = 0; a < 3; ++a) pt->esize[k][a] = 0;
  pt->estart[k] = pt->estart[k + 1] = pt->next;
  pt->bound[k][0] = pt->bound[k][1] = 1.0;
  pt->solver[k]                     = HOPS_PATCH_DENSE;
  pt->element[k]                    = 0;
  pt->color[k]                      = 0;
  pt->center[k]                     = -1;
  pt->dense[k]                      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesDestroy(HopsPatches *patches)
{
  HopsPatches pt = *patches;

  PetscFunctionBegin;
  if (!pt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(pt->A1, pt->M1));
  PetscCall(PetscFree(pt->start));
  PetscCall(PetscFree(pt->touchstart));
  PetscCall(PetscFree(pt->size));
  PetscCall(PetscFree(pt->factor));
  PetscCall(PetscFree(pt->scale));
  PetscCall(PetscFree(pt->esize));
  PetscCall(PetscFree(pt->estart));
  PetscCall(PetscFree(pt->egid));
  PetscCall(PetscFree(pt->eidx));
  PetscCall(PetscFree(pt->fused));
  PetscCall(PetscFree(pt->bound));
  PetscCall(PetscFree(pt->solver));
  PetscCall(PetscFree(pt->element));
  PetscCall(PetscFree(pt->center));
  PetscCall(PetscFree(pt->color));
  PetscCall(PetscFree(pt->dense));
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->inv));
  PetscCall(PetscFree(pt->cond));
  PetscCall(PetscFree(pt->schur));
  PetscCall(PetscFree2(pt->alpha, pt->mu));
  PetscCall(PetscFree(pt->gid));
  PetscCall(PetscFree(pt->idx));
  PetscCall(PetscFree(pt->dist));
  PetscCall(PetscFree(pt->touch));
  PetscCall(PetscFree(pt->hash));
  PetscCall(PetscFree(pt->factors));
  PetscCall(PetscFree(pt->values));
  PetscCall(PetscFree(pt->ghost));
  PetscCall(PetscFree(pt->mult));
  PetscCall(PetscFree(pt->level));
  PetscCall(PetscFree(pt->nlevel));
  PetscCall(PetscSFDestroy(&pt->halo));
  PetscCall(HopsSpaceDestroy(&pt->space));
  PetscCall(PetscFree(*patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesCreateProlong(HopsPatches pt, PetscDataType type, HopsProlong *P)
{
  HopsHalo halo;

  PetscFunctionBegin;
  PetscCall(HopsHaloCreate(pt->halo, &halo));
  PetscCall(HopsProlongCreate(pt->space, pt->space->backend, &halo, 1, type, NULL, P));
  PetscCall(HopsHaloDestroy(&halo));
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

/* P-vector numbering, multiplicities and levels; again whenever patches have been added */
static PetscErrorCode PatchesNumber(HopsPatches pt)
{
  HopsSpace      sp  = pt->space;
  const PetscInt end = sp->rstart + sp->nT;
  PetscLayout    layout;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.number, 0, 0, 0, 0));
  PetscCall(PetscFree(pt->ghost));
  PetscCall(PetscFree(pt->idx));
  PetscCall(PetscFree(pt->eidx));
  PetscCall(PetscFree(pt->mult));
  PetscCall(PetscFree(pt->level));
  PetscCall(PetscFree(pt->nlevel));
  PetscCall(PetscSFDestroy(&pt->halo));
  pt->nT = sp->nT;
  pt->nG = 0;
  for (PetscInt pass = 0; pass < 2 && (!pass || pt->nG); ++pass) {
    if (pass) PetscCall(PetscMalloc1(pt->nG, &pt->ghost));
    pt->nG = 0;
    for (PetscInt i = 0; i < pt->nent + pt->next; ++i) {
      const PetscInt g = i < pt->nent ? pt->gid[i] : pt->egid[i - pt->nent];

      if (g < 0 || (g >= sp->rstart && g < end)) continue;
      if (pass) pt->ghost[pt->nG] = g;
      ++pt->nG;
    }
  }
  PetscCall(PetscSortRemoveDupsInt(&pt->nG, pt->ghost));
  pt->nP = pt->nT + pt->nG + 1;
  PetscCheck(pt->nP < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "More than 2^31 unknowns on one rank: use more ranks");
  PetscCall(PetscMalloc1(pt->nent, &pt->idx));
  PetscCall(PetscCalloc1(pt->nP, &pt->mult));
  PetscCall(PetscMalloc1(pt->next, &pt->eidx));
  for (PetscInt i = 0; i < pt->nent + pt->next; ++i) {
    const PetscInt g = i < pt->nent ? pt->gid[i] : pt->egid[i - pt->nent];
    PetscInt       k = -1;

    if (g >= sp->rstart && g < end) k = g - sp->rstart;
    else if (g >= 0) {
      PetscCall(PetscFindInt(g, pt->nG, pt->ghost, &k));
      k += pt->nT;
    } else k = pt->nP - 1;
    if (i < pt->nent) {
      pt->idx[i] = (int)k;
      ++pt->mult[k];
    } else pt->eidx[i - pt->nent] = (int)k;
  }
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)sp), sp->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sp), &pt->halo));
  PetscCall(PetscSFSetGraphLayout(pt->halo, layout, pt->nG, NULL, PETSC_OWN_POINTER, pt->ghost));
  PetscCall(PetscSFSetUp(pt->halo));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(Combine(pt, MPI_SUM, pt->mult));
  if (pt->levels) {
    PetscCall(PetscMalloc1(pt->nP, &pt->level));
    PetscCall(PetscCalloc1(pt->nP, &pt->nlevel));
    for (PetscInt i = 0; i < pt->nP; ++i) pt->level[i] = INT_MAX;
    for (PetscInt i = 0; i < pt->nent; ++i) pt->level[pt->idx[i]] = PetscMin(pt->level[pt->idx[i]], pt->dist[i]);
    PetscCall(Combine(pt, MPI_MIN, pt->level));
    for (PetscInt i = 0; i < pt->nent; ++i) pt->nlevel[pt->idx[i]] += pt->dist[i] == pt->level[pt->idx[i]];
    PetscCall(Combine(pt, MPI_SUM, pt->nlevel));
  }
  PetscCall(PetscLogEventEnd(HopsPatchEvent.number, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks own cells with a free unknown that is in no patch */
static PetscErrorCode PatchesUncovered(HopsPatches pt, const HopsPatchCells *cells, PetscBool want[])
{
  HopsSpace sp = pt->space;
  int      *root, *ghost;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscMalloc2(sp->halo.nshared, &root, sp->nG, &ghost));
  for (PetscInt i = 0; i < sp->halo.nshared; ++i) root[i] = pt->mult[sp->halo.shared[i]];
  PetscCall(PetscSFBcastBegin(sp->halo.sf, MPI_INT, root, ghost, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo.sf, MPI_INT, root, ghost, MPI_REPLACE));
  for (PetscInt c = 0; c < cells->nown; ++c)
    for (PetscInt i = 0; i < cells->nn; ++i) {
      const PetscInt l = sp->restr[c * cells->nn + i];

      if (l < sp->nT ? !pt->mult[l] : (l < sp->nT + sp->nG && !ghost[l - sp->nT])) want[c] = PETSC_TRUE;
    }
  PetscCall(PetscFree2(root, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells marked by other ranks' vertices are marked where they live */
static PetscErrorCode SendWants(const HopsPatchCells *cells, PetscBool want[])
{
  PetscInt n = 0, nget, *to, *is, *ir;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(cells->n - cells->nown, &to, cells->n - cells->nown, &is));
  for (PetscInt c = cells->nown; c < cells->n; ++c)
    if (want[c]) {
      to[n]   = cells->home[2 * c];
      is[n++] = cells->home[2 * c + 1];
    }
  PetscCall(HopsPatchExchange(PetscObjectComm((PetscObject)cells->space), n, to, 1, is, 0, NULL, &nget, NULL, &ir, NULL));
  for (PetscInt k = 0; k < nget; ++k) want[ir[k]] = PETSC_TRUE;
  PetscCall(PetscFree2(to, is));
  PetscCall(PetscFree(ir));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReferenceMatrices(HopsPatches pt, const HopsBasis *b)
{
  const PetscInt P = b->P;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(P * P, &pt->A1, P * P, &pt->M1));
  for (PetscInt i = 0; i < P; ++i)
    for (PetscInt j = 0; j < P; ++j)
      for (PetscInt q = 0; q < b->Q; ++q) {
        pt->A1[i * P + j] += b->weights[q] * b->D[q * P + i] * b->D[q * P + j];
        pt->M1[i * P + j] += b->weights[q] * b->B[q * P + i] * b->B[q * P + j];
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesCreate(HopsForm form, const HopsBasis *basis, const HopsPatchOptions *opt, HopsPatches *patches)
{
  HopsSpace      sp   = form->space;
  MPI_Comm       comm = PetscObjectComm((PetscObject)sp);
  HopsPatches    pt;
  HopsPatchCells cells;
  PetscBool     *want, any = opt->element;

  PetscFunctionBegin;
  PetscCall(PetscNew(&pt));
  PetscCall(HopsSpaceReference(sp));
  pt->space  = sp;
  pt->fuse   = opt->fuse;
  pt->levels = opt->levels;
  PetscCall(ReferenceMatrices(pt, basis));
  PetscCall(PatchesReserve(pt, 1, 1));
  pt->start[0] = pt->touchstart[0] = pt->estart[0] = 0;
  PetscCall(HopsPatchCellsCreate(form, basis, &cells));
  if (!opt->element) PetscCall(HopsPatchCellsGrow(&cells, PETSC_FALSE));
  PetscCall(PetscCalloc1(cells.n, &want));
  if (opt->element)
    for (PetscInt c = 0; c < cells.nown; ++c) want[c] = PETSC_TRUE;
  else {
    PetscCall(HopsPatchesAddVertices(pt, &cells, opt, want));
    PetscCall(SendWants(&cells, want));
    PetscCall(PatchesNumber(pt));
    PetscCall(PatchesUncovered(pt, &cells, want));
    for (PetscInt c = 0; c < cells.nown; ++c) any = any || want[c] ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  }
  if (any) {
    PetscCall(HopsPatchCellsGrow(&cells, PETSC_TRUE));
    PetscCall(HopsPatchesAddElements(pt, &cells, opt, want));
    PetscCall(PatchesNumber(pt));
  }
  PetscCall(PetscArrayzero(want, cells.nown));
  PetscCall(PatchesUncovered(pt, &cells, want));
  for (PetscInt c = 0; c < cells.nown; ++c)
    PetscCheck(!want[c], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " has a free unknown in no patch", sp->cell[c]);
  PetscCall(PetscLogEventBegin(HopsPatchEvent.color, 0, 0, 0, 0));
  if (opt->colors) PetscCall(HopsPatchesColor(pt, &cells));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.color, 0, 0, 0, 0));
  PetscCall(PetscMalloc1(PetscMax(1, pt->ncolors), &pt->fused));
  for (PetscInt c = 0; c < PetscMax(1, pt->ncolors); ++c) pt->fused[c] = opt->fuse ? 1 : 0;
  for (PetscInt k = 0; k < pt->n; ++k)
    if (pt->estart[k] == pt->estart[k + 1]) pt->fused[pt->color[k]] = 0;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, pt->fused, (PetscMPIInt)PetscMax(1, pt->ncolors), MPI_UNSIGNED_CHAR, MPI_MIN, comm));
  PetscCall(PetscFree(want));
  PetscCall(HopsPatchCellsDestroy(&cells));
  PetscCall(PetscFree(pt->gid));
  PetscCall(PetscFree(pt->egid));
  PetscCall(PetscFree(pt->touch));
  PetscCall(PetscInfo(sp,
                      "%" PetscInt_FMT " patches of %" PetscInt_FMT " entries, %" PetscInt_FMT " 1D factors, %" PetscInt_FMT
                      " colors, %" PetscInt_FMT " unknowns of other ranks\n",
                      pt->n, pt->nent, pt->nfactors, pt->ncolors, pt->nG));
  *patches = pt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
