/* Right-hand sides and errors by functions that were compiled for the space's back end. */
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopspointfunctionimpl.h>

#define HOPS_FUNCTION_POINTS 4000000 /* that are worked on at a time */

/* What both need of the back end's memory; e[] is for all cells */
typedef struct {
  HopsPositionRun r;
  PetscInt        chunk;
} Integral;

/* done is false where the function is not compiled, or on any rank the vector lies elsewhere */
static PetscErrorCode Begin(HopsSpace sp, HopsPointFunction f, void *ctx, PetscInt Q, Vec v, PetscInt values, Integral *in,
                            PetscBool *done)
{
  const HopsMemoryOps       *memory = sp->backend->memory;
  const HopsPositionFunction pf     = {.f       = f,
                                       .nc      = sp->family == HOPS_HCURL || sp->family == HOPS_HDIV ? sp->dim : 1,
                                       .ctx     = ctx,
                                       .ctxsize = HopsSpaceGetDeviceContext(sp, ctx),
                                       .owner   = (PetscObject)sp};
  HopsBasis                  basis;
  PetscBool                  mine, all;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (sp->hanging) PetscFunctionReturn(PETSC_SUCCESS); /* the process knows J */
  if (!sp->backend->points || HopsMeshBackend(sp->backend)->memtype != sp->backend->memtype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceHasVec(sp, v, &mine));
  if ((PetscInt64)sp->ncells * sp->ne > PETSC_MPI_INT_MAX) mine = PETSC_FALSE; /* lists of entries have this type */
  PetscCall(HopsBasisCreate(sp->order + 1, Q, PETSC_FALSE, &basis));
  if (mine && sp->ncells) PetscCall(HopsPositionBegin(&sp->compiled, sp, &pf, &basis, &in->r, &mine));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(MPIU_Allreduce(&mine, &all, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
  if (mine && !all && sp->ncells) PetscCall(HopsPositionEnd(&in->r));
  *done = all;
  if (!all || !sp->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  in->chunk = PetscMin(sp->ncells, PetscMax(1, HOPS_FUNCTION_POINTS / in->r.nq));
  PetscCall((*memory->PoolMalloc)((size_t)in->chunk * in->r.nq * pf.nc * sizeof(double), (void **)&in->r.args.out));
  PetscCall((*memory->PoolMalloc)((size_t)in->chunk * in->r.nq * values * sizeof(double), (void **)&in->r.args.moment));
  PetscCall((*memory->PoolMalloc)((size_t)sp->ncells * sp->ne * sizeof(double), (void **)&in->r.args.e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(HopsSpace sp, Integral *in)
{
  const HopsMemoryOps *memory = sp->backend->memory;

  PetscFunctionBegin;
  if (!sp->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->PoolFree)((void **)&in->r.args.out));
  PetscCall((*memory->PoolFree)((void **)&in->r.args.moment));
  PetscCall((*memory->PoolFree)((void **)&in->r.args.e));
  PetscCall(HopsPositionEnd(&in->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the two kernels for all cells, a chunk after the other */
static PetscErrorCode Cells(HopsSpace sp, Integral *in, const char first[], size_t nfirst, const char second[], size_t nsecond)
{
  int flags[2];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < sp->ncells; c += in->chunk) {
    const PetscInt n = PetscMin(in->chunk, sp->ncells - c);

    PetscCall(HopsPositionEvaluate(&in->r, c, n));
    PetscCall(HopsPositionLaunch(&in->r, first, n * nfirst));
    PetscCall(HopsPositionLaunch(&in->r, second, n * nsecond));
  }
  PetscCall((*sp->backend->memory->Copy)(NULL, flags, in->r.args.flags, sizeof(flags), HOPS_COPY_OUT));
  PetscCheck(flags[0] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_FP,
             "The function is infinite or not-a-number, or returns an error, in cell %" PetscInt_FMT, sp->cell[flags[0]]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y and yg from e[]: each entry sums what its cells have in their order, so that results repeat */
static PetscErrorCode SumCells(HopsSpace sp, HopsPositionRun *r)
{
  const HopsBackendOps *be = HopsMeshBackend(sp->backend);
  const size_t          n  = (size_t)sp->ncells * sp->ne;
  int                  *start, *entry;

  PetscFunctionBegin;
  PetscCall((*be->memory->PoolMalloc)(n * sizeof(int), (void **)&r->args.key));
  PetscCall((*be->memory->PoolMalloc)(n * sizeof(int), (void **)&entry));
  PetscCall((*be->memory->PoolMalloc)((sp->nL + 1) * sizeof(int), (void **)&start));
  PetscCall(HopsPositionLaunch(r, "HopsFunctionKeys", n));
  PetscCall((*be->mesh->Transpose)(n, r->args.key, (int)sp->nL, start, entry));
  r->args.start = start;
  r->args.entry = entry;
  PetscCall(HopsPositionLaunch(r, "HopsFunctionSum", sp->nL));
  PetscCall((*be->memory->PoolFree)((void **)&r->args.key));
  PetscCall((*be->memory->PoolFree)((void **)&entry));
  PetscCall((*be->memory->PoolFree)((void **)&start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceComputeRHSDevice(HopsSpace sp, HopsPointFunction f, void *ctx, PetscInt Q, Vec b, PetscBool *done)
{
  const HopsBackendOps *be = sp->backend;
  PetscReal            *y, *yg;
  Integral              in;

  PetscFunctionBegin;
  PetscCall(Begin(sp, f, ctx, Q, b, sp->family == HOPS_HCURL || sp->family == HOPS_HDIV ? sp->dim : 1, &in, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall((*be->memory->PoolMalloc)((sp->nL - sp->nT) * sizeof(PetscReal), (void **)&yg));
  PetscCall(HopsVecGetArray(sp, b, HOPS_VEC_WRITE, &y));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, y));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nL - sp->nT, yg));
  if (sp->ncells) {
    in.r.args.y  = y;
    in.r.args.yg = yg;
    PetscCall(Cells(sp, &in, "HopsFunctionMoments", in.r.nq, "HopsFunctionTest", sp->ne));
    PetscCall(SumCells(sp, &in.r));
  }
  PetscCall(HopsProlongTransposeBegin(sp->P, yg, y));
  PetscCall(HopsProlongTransposeEnd(sp->P, yg, y));
  PetscCall(HopsVecRestoreArray(sp, b, HOPS_VEC_WRITE, &y));
  PetscCall((*be->memory->PoolFree)((void **)&yg));
  PetscCall(End(sp, &in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceComputeL2ErrorDevice(HopsSpace sp, HopsPointFunction f, void *ctx, PetscInt Q, Vec x, PetscReal *error,
                                             PetscBool *done)
{
  const HopsBackendOps *be = sp->backend;
  const PetscReal      *a;
  PetscReal            *xg, *sums;
  PetscReal             sum = 0.0;
  Integral              in;

  PetscFunctionBegin;
  PetscCall(Begin(sp, f, ctx, Q, x, 1, &in, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall((*be->memory->PoolMalloc)((sp->nL - sp->nT) * sizeof(PetscReal), (void **)&xg));
  PetscCall(HopsVecGetArrayRead(sp, x, &a));
  PetscCall(HopsProlongBegin(sp->P, a, xg));
  PetscCall(HopsProlongEnd(sp->P, a, xg));
  PetscCall((*be->memory->Copy)(NULL, xg + sp->nG, sp->cvals, sp->nC * sizeof(PetscReal), HOPS_COPY_IN));
  if (sp->ncells) {
    in.r.args.y  = (double *)a;
    in.r.args.yg = xg;
    PetscCall(HopsPositionLaunch(&in.r, "HopsFunctionGather", (size_t)sp->ncells * sp->ne));
    PetscCall((*be->memory->PoolMalloc)(sp->ncells * sizeof(double), (void **)&in.r.args.y));
    PetscCall(Cells(sp, &in, "HopsFunctionDifference", in.r.nq, "HopsFunctionCells", 1));
    PetscCall(PetscMalloc1(sp->ncells, &sums));
    PetscCall((*be->memory->Copy)(NULL, sums, in.r.args.y, sp->ncells * sizeof(double), HOPS_COPY_OUT));
    for (PetscInt c = 0; c < sp->ncells; ++c) sum += sums[c];
    PetscCall(PetscFree(sums));
    PetscCall((*be->memory->PoolFree)((void **)&in.r.args.y));
  }
  PetscCall(HopsVecRestoreArrayRead(sp, x, &a));
  PetscCall((*be->memory->PoolFree)((void **)&xg));
  PetscCall(End(sp, &in));
  PetscCall(MPIU_Allreduce(&sum, error, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)sp)));
  *error = PetscSqrtReal(*error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
