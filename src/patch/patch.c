/* A set of patches: storage, and that every free unknown is in one. */
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

PetscErrorCode HopsPatchesReserve(HopsPatches pt, PetscInt n, PetscInt ntouch)
{
  PetscFunctionBegin;
  if (pt->n + n > pt->nmax) {
    pt->nmax = PetscMax(64, PetscMax(pt->n + n, 2 * pt->nmax));
    PetscCall(PetscRealloc((pt->nmax + 1) * sizeof(PetscInt), &pt->start));
    PetscCall(PetscRealloc((pt->nmax + 1) * sizeof(PetscInt), &pt->touchstart));
    PetscCall(PetscRealloc(pt->nmax * sizeof(*pt->star), &pt->star));
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
  if (pt->ntouch + ntouch > pt->tmax) {
    pt->tmax = PetscMax(pt->ntouch + ntouch, pt->tmax + pt->tmax / 2);
    PetscCall(PetscRealloc(pt->tmax * sizeof(PetscInt), &pt->touch));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAppend(HopsPatches pt, PetscInt n, const HopsPatchStar *star, const PetscInt gid[],
                                 const unsigned char dist[], PetscInt ntouch, const PetscInt touch[])
{
  PetscInt k;

  PetscFunctionBegin;
  PetscCheck((PetscInt64)pt->nent + n < PETSC_INT_MAX && (PetscInt64)pt->ngiven + n < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The patches have more than 2^31 entries on one rank: use more ranks");
  PetscCall(HopsPatchesReserve(pt, 1, ntouch));
  k = pt->n++;
  if (star) pt->star[k] = *star;
  else {
    pt->star[k] = (HopsPatchStar){.cell = {(int)pt->ngiven}};
    if (pt->ngiven + n > pt->gmax) {
      pt->gmax = PetscMax(pt->ngiven + n, pt->gmax + pt->gmax / 2);
      PetscCall(PetscRealloc(pt->gmax * sizeof(PetscInt), &pt->gid));
      PetscCall(PetscRealloc(pt->gmax, &pt->gdist));
    }
    PetscCall(PetscArraycpy(pt->gid + pt->ngiven, gid, n));
    PetscCall(PetscArraycpy(pt->gdist + pt->ngiven, dist, n));
    pt->ngiven += n;
  }
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
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->eidx));
  PetscCall(PetscFree(pt->fused));
  PetscCall(PetscFree(pt->bound));
  PetscCall(PetscFree(pt->solver));
  PetscCall(PetscFree(pt->element));
  PetscCall(PetscFree(pt->center));
  PetscCall(PetscFree(pt->color));
  PetscCall(PetscFree(pt->dense));
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->inv));
  PetscCall(PetscFree(pt->cond));
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->schur));
  PetscCall(PetscFree5(pt->alpha, pt->mu, pt->mvalues, pt->mlist, pt->mwhere));
  PetscCall(PetscFree(pt->star));
  PetscCall(PetscFree(pt->gid));
  PetscCall(PetscFree(pt->gdist));
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->idx));
  PetscCall(PetscFree(pt->hidx));
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

/* has[nvertex] of the vertices: is there a patch? */
static PetscErrorCode HavePatches(HopsPatches pt, const HopsPatchCells *pc, int has[])
{
  HopsSpace sp = pt->space;
  int      *root, *ghost; /* of shared unknowns and of ghosts */

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sp->halo.nshared, &root, sp->nG, &ghost));
  for (PetscInt k = 0; k < pt->n; ++k) has[pc->vertex[pt->center[k] - sp->rstart] - 1] = 1;
  for (PetscInt i = 0; i < sp->halo.nshared; ++i) {
    const int v = pc->vertex[sp->halo.shared[i]];

    root[i] = v ? has[v - 1] : 0;
  }
  PetscCall(PetscSFBcastBegin(sp->halo.sf, MPI_INT, root, ghost, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo.sf, MPI_INT, root, ghost, MPI_REPLACE));
  for (PetscInt g = 0; g < sp->nG; ++g)
    if (pc->vertex[sp->nT + g]) has[pc->vertex[sp->nT + g] - 1] = ghost[g];
  PetscCall(PetscFree2(root, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks own cells with a free unknown that is in no vertex patch */
static PetscErrorCode PatchesUncovered(HopsPatches pt, const HopsPatchCells *pc, PetscBool want[])
{
  HopsSpace      sp = pt->space;
  int           *has;
  unsigned char *covered;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(pc->nvertex, &has));
  PetscCall(PetscCalloc1(pc->nown, &covered));
  PetscCall(HavePatches(pt, pc, has));
  for (PetscInt c = 0; c < pc->nown; ++c) {
    const int *v = pc->number + c * pc->nv;

    if (pc->space->hanging) covered[c] = HopsPatchHangingUncovered(pc, c, has) ? 1 : 0;
    else
      for (PetscInt k = 0; k < pc->nv; ++k) covered[c] |= (unsigned char)(has[v[k]] << k);
  }
  if (!pc->space->hanging) PetscCall((*HopsPatchSetUpOf(sp)->Uncovered)(&pc->bnodes, (int)(sp->nT + sp->nG), pc->nown, covered));
  for (PetscInt c = 0; c < pc->nown; ++c)
    if (covered[c]) want[c] = PETSC_TRUE;
  PetscCall(PetscFree(has));
  PetscCall(PetscFree(covered));
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
  PetscCall(HopsPatchesReserve(pt, 1, 1));
  pt->start[0] = pt->touchstart[0] = pt->estart[0] = 0;
  PetscCall(HopsPatchCellsCreate(form, basis, &cells));
  if (!opt->element) PetscCall(HopsPatchCellsGrow(&cells, PETSC_FALSE));
  PetscCall(PetscCalloc1(cells.n, &want));
  if (opt->element)
    for (PetscInt c = 0; c < cells.nown; ++c) want[c] = PETSC_TRUE;
  else {
    PetscCall(HopsPatchesAddVertices(pt, &cells, opt, want));
    PetscCall(SendWants(&cells, want));
    PetscCall(PatchesUncovered(pt, &cells, want));
    for (PetscInt c = 0; c < cells.nown; ++c) any = any || want[c] ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  }
  if (any) {
    PetscCall(HopsPatchCellsGrow(&cells, PETSC_TRUE));
    PetscCall(HopsPatchesAddElements(pt, &cells, opt, want));
  }
  PetscCall(HopsPatchFactorsCheck(pt));
  PetscCall(HopsPatchesNumber(pt, &cells));
  PetscCall(HopsPatchesInvert(pt, &cells, opt));
  PetscCall(HopsPatchesCondense(pt));
  PetscCall(PetscLogEventBegin(HopsPatchEvent.color, 0, 0, 0, 0));
  if (opt->colors) PetscCall(HopsPatchesColor(pt, &cells));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.color, 0, 0, 0, 0));
  PetscCall(PetscMalloc1(PetscMax(1, pt->ncolors), &pt->fused));
  for (PetscInt c = 0; c < PetscMax(1, pt->ncolors); ++c) pt->fused[c] = opt->fuse ? 1 : 0;
  for (PetscInt k = 0; k < pt->n; ++k)
    if (pt->estart[k] == pt->estart[k + 1]) pt->fused[pt->color[k]] = 0;
  if (opt->fuse) /* then the colours are those of all ranks */
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, pt->fused, (PetscMPIInt)PetscMax(1, pt->ncolors), MPI_UNSIGNED_CHAR, MPI_MIN, comm));
  PetscCall(PetscFree(want));
  PetscCall(HopsPatchCellsDestroy(&cells));
  PetscCall(PetscFree(pt->gid));
  PetscCall(PetscFree(pt->gdist));
  PetscCall(PetscFree(pt->touch));
  PetscCall(PetscInfo(sp,
                      "%" PetscInt_FMT " patches of %" PetscInt_FMT " entries, %" PetscInt_FMT " 1D factors, %" PetscInt_FMT
                      " colors, %" PetscInt_FMT " unknowns of other ranks\n",
                      pt->n, pt->nent, pt->nfactors, pt->ncolors, pt->nG));
  *patches = pt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
