/* Functions of the boundary at the points of faces of cells, by the kernels of pointkernel.cuh: lists of
   faces, and tensors, which go to the process. Residuals are those of cells (pointrun.c). */
#include <hops/private/hopspointcellsimpl.h>

static PetscErrorCode HopsPointFacesUpload(const HopsMemoryOps *memory, PetscInt n, const int from[], int **to)
{
  PetscFunctionBegin;
  PetscCall((*memory->Malloc)(n * sizeof(int), (void **)to));
  PetscCall((*memory->Copy)(NULL, *to, from, n * sizeof(int), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointFacesCreate(HopsPointCells pc, PetscInt nterms, const PetscInt n[], PetscInt *const cells[],
                                    PetscInt *const faces[], HopsPointFaces *out)
{
  const HopsMemoryOps *memory = pc->be->memory;
  HopsPointFaces       pf;
  int                 *list[3];

  PetscFunctionBegin;
  *out = NULL;
  PetscCall(PetscNew(&pf));
  pf->pc     = pc;
  pf->nterms = nterms;
  PetscCall(PetscMalloc1(nterms + 1, &pf->first));
  for (PetscInt t = 0; t < nterms; ++t) {
    pf->first[t] = pf->n;
    pf->n += n[t];
  }
  pf->first[nterms] = pf->n;
  if ((PetscInt64)pf->n * pc->fields->nclosure > PETSC_MPI_INT_MAX) {
    PetscCall(PetscInfo(pc->dm, "functions of the boundary on the host: the rank has too many faces\n"));
    PetscCall(PetscFree(pf->first));
    PetscCall(PetscFree(pf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(pf->n, &pf->hostcell, pf->n, &pf->hostface));
  PetscCall(PetscMalloc3(pf->n, &list[0], pf->n, &list[1], pf->n, &list[2]));
  for (PetscInt t = 0; t < nterms; ++t)
    for (PetscInt i = 0; i < n[t]; ++i) {
      const PetscInt at = pf->first[t] + i;

      pf->hostcell[at] = cells[t][i];
      pf->hostface[at] = faces[t][i];
      list[0][at]      = (int)cells[t][i];
      list[1][at]      = (int)faces[t][i];
      list[2][at]      = (int)t;
    }
  PetscCall(HopsPointFacesUpload(memory, pf->n, list[0], &pf->cell));
  PetscCall(HopsPointFacesUpload(memory, pf->n, list[1], &pf->face));
  PetscCall(HopsPointFacesUpload(memory, pf->n, list[2], &pf->term));
  PetscCall(PetscFree3(list[0], list[1], list[2]));
  *out = pf;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointFacesMirror(HopsPointFaces pf, const int mirror[])
{
  PetscFunctionBegin;
  PetscCall((*pf->pc->be->memory->Free)((void **)&pf->mirror));
  if (mirror) PetscCall(HopsPointFacesUpload(pf->pc->be->memory, pf->n, mirror, &pf->mirror));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointFacesDestroy(HopsPointFaces *out)
{
  HopsPointFaces pf = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!pf) PetscFunctionReturn(PETSC_SUCCESS);
  {
    void **memory[] = {(void **)&pf->cell,  (void **)&pf->face,  (void **)&pf->term,
                       (void **)&pf->start, (void **)&pf->entry, (void **)&pf->mirror};

    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); ++i) PetscCall((*pf->pc->be->memory->Free)(memory[i]));
  }
  PetscCall(PetscFree2(pf->hostcell, pf->hostface));
  PetscCall(PetscFree(pf->first));
  PetscCall(PetscFree(pf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the host's, when the kernels run for the first time. They serve all terms, so a face of each is
   evaluated then: this one's, and before it those of the others */
static PetscErrorCode HopsPointFacesEvaluate(HopsPointFaces pf, PetscInt first, PetscInt n, HopsPointKernel k, HopsJacobian form,
                                             HopsPointArgs *a, HopsPointHost host, void *ctx, PetscBool *done)
{
  HopsPointCells pc = pf->pc;
  const PetscInt nt = 4 * k->job.nblocks, nq = HopsPower(k->Q, pc->fields->dim - 1);
  int            flags[HOPS_POINT_FLAGS];
  size_t        *run;

  PetscFunctionBegin;
  PetscCall(HopsPointReserve(pc, (size_t)n * nq * HopsPointJobOffset(pc, &k->job, nt), &pc->nout, &pc->out));
  a->out   = pc->out;
  a->first = (int)first;
  a->n     = (int)n;
  PetscCall(HopsVecGetArrayRead(pc->space, form->X, &a->x));
  if (form->Xt) PetscCall(HopsVecGetArrayRead(pc->space, form->Xt, &a->xt));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HopsPointLaunchCells(pc, k, "HopsPointTensors", a));
  PetscCall(PetscLogGpuTimeEnd());
  if (form->Xt) PetscCall(HopsVecRestoreArrayRead(pc->space, form->Xt, &a->xt));
  PetscCall(HopsVecRestoreArrayRead(pc->space, form->X, &a->x));
  PetscCall(HopsPointEnd(pc, flags));
  PetscCall(PetscMalloc1(nt, &run));
  for (PetscInt i = 0; i < nt; ++i) run[i] = nq * (HopsPointJobOffset(pc, &k->job, i + 1) - HopsPointJobOffset(pc, &k->job, i));
  PetscCall(HopsPointCompareCells(pc, k, first, n, nt, run, host, ctx, done));
  PetscCall(PetscFree(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointFacesTensors(HopsPointFaces pf, PetscInt term, HopsPointJob *job, const HopsBasis *rule, HopsJacobian form,
                                     HopsPointHost host, void *ctx, PetscReal *const g[], PetscBool *done)
{
  HopsPointCells  pc    = pf->pc;
  HopsSpace       sp    = pc->space;
  const PetscInt  first = pf->first[term], n = pf->first[term + 1] - first, nq = HopsPower(rule->Q, sp->dim - 1);
  HopsPointKernel k = NULL;
  HopsPointArgs   a;
  PetscBool       checked;

  PetscFunctionBegin;
  *done = form->X && !rule->limit ? PETSC_TRUE : PETSC_FALSE;
  if (*done) PetscCall(HopsSpaceHasVec(sp, form->X, done));
  if (*done) PetscCall(HopsSpaceHasVec(sp, form->Xt, done));
  if (*done) PetscCall(HopsPointSetData(pc, done));
  if (*done) PetscCall(HopsPointKernelGet(pc, rule, job, &k));
  else PetscCall(HopsPointJobDestroy(job));
  if (*done) *done = k->module ? PETSC_TRUE : PETSC_FALSE;
  if (!*done || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(HopsEvent.points, pc->dm, 0, 0, 0));
  pc->last.kernel = NULL; /* it has this memory */
  PetscCall(HopsPointBegin(pc, pf, k, form->t, form->shift, &a));
  checked = k->checked;
  for (PetscInt t = 0; t < pf->nterms && !checked && *done; ++t) { /* a face of each of the others */
    if (t == term || pf->first[t] == pf->first[t + 1]) continue;
    k->checked = PETSC_FALSE;
    PetscCall(HopsPointFacesEvaluate(pf, pf->first[t], 1, k, form, &a, host, ctx, done));
  }
  if (*done && !checked) k->checked = PETSC_FALSE;
  if (*done) PetscCall(HopsPointFacesEvaluate(pf, first, n, k, form, &a, host, ctx, done));
  for (PetscInt i = 0; i < 4 * (*done ? k->job.nblocks : 0); ++i) {
    const size_t off = HopsPointJobOffset(pc, &k->job, i), size = HopsPointJobOffset(pc, &k->job, i + 1) - off;

    if (g[i] && size)
      PetscCall((*pc->be->memory->Copy)(NULL, g[i], pc->out + off * n * nq, size * n * nq * sizeof(PetscReal), HOPS_COPY_OUT));
  }
  PetscCall(PetscLogEventEnd(HopsEvent.points, pc->dm, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
