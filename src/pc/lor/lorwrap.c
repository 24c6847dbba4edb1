/* The Mat around the rows: hypre's matrix or PETSc's AIJ on the same arrays, or AIJ with copies of a
   device's. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsdevicematimpl.h>

/* Those that the matrix has */
static HopsLORRows *HopsLORMatRows(HopsLOR *lor)
{
  return lor->nc > 1 ? &lor->wide : &lor->rows;
}

/* ------------------------------------------- memory ------------------------------------------- */

PetscErrorCode HopsLORSetTarget(HopsLOR *lor, MatType type)
{
  PetscBool hypre, cusparse, kokkos;

  PetscFunctionBegin;
  lor->target = HOPS_LOR_AIJ;
  PetscCall(PetscStrcmp(type, MATAIJKOKKOS, &kokkos)); /* for other vectors it is made of an AIJ, as any type is */
  if (kokkos && lor->space->kokkosvecs && lor->backend == lor->space->backend) lor->target = HOPS_LOR_AIJKOKKOS;
  if (lor->process) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(type, MATHYPRE, &hypre));
  PetscCall(PetscStrcmp(type, MATAIJCUSPARSE, &cusparse));
  if (cusparse) lor->target = HOPS_LOR_AIJCUSPARSE;
#if HOPS_HAVE_HYPRE_DEVICE
  if (hypre) {
    PetscBool can;

    PetscCall(HopsHypreCanWrap(lor->space, lor->space, &can));
    if (can) lor->target = HOPS_LOR_HYPRE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORAlloc(HopsLOR *lor, size_t n, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsHypreAlloc(n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->backend->memory->PoolMalloc)(n, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(HopsLOR *lor, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsHypreFree(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->backend->memory->PoolFree)(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once the lengths of all rows are known */
PetscErrorCode HopsLORAllocValues(HopsLOR *lor)
{
  HopsLORRows *r = &lor->rows, *g = &lor->ghosts;

  PetscFunctionBegin;
  if (!lor->process) {
    for (PetscInt b = 0; b < 2; ++b)
      if (r->i[b]) PetscCall(HopsLORAlloc(lor, r->nnz[b] * sizeof(PetscReal), (void **)&r->v[b]));
    if (g->i[0]) PetscCall((*lor->backend->memory->PoolMalloc)(g->nnz[0] * sizeof(PetscReal), (void **)&g->v[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*lor->backend->memory->PoolMalloc)((r->before + r->nnz[0] + r->nnz[1]) * sizeof(PetscReal), (void **)&lor->array));
  g->v[0] = lor->array + g->before;
  r->v[0] = lor->array + r->before;
  r->v[1] = r->v[0] + r->nnz[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORWiden(HopsLOR *lor)
{
  const PetscInt nc = lor->nc;
  HopsLORRows   *r = &lor->rows, *w = &lor->wide;

  PetscFunctionBegin;
  PetscCall(HopsCheckInt("entries of the low-order-refined matrix", (PetscInt64)nc * (PetscInt64)(r->nnz[0] + r->nnz[1])));
  w->n      = r->n * nc;
  w->sorted = r->sorted;
  for (PetscInt b = 0; b < 2; ++b) {
    w->nnz[b] = r->nnz[b] * nc;
    if (!r->i[b]) continue;
    PetscCall(HopsLORAlloc(lor, (w->n + 1) * sizeof(int), (void **)&w->i[b]));
    PetscCall(HopsLORAlloc(lor, w->nnz[b] * sizeof(int), (void **)&w->j[b]));
    PetscCall(HopsLORAlloc(lor, w->nnz[b] * sizeof(PetscReal), (void **)&w->v[b]));
  }
  if (lor->backend->memory->QueueFinish) PetscCall((*lor->backend->memory->QueueFinish)(NULL));
  PetscCall((*lor->kernel->ops->WidenRows)(lor->kernel, r, nc, w));
  lor->nnz *= nc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeMatRows(HopsLOR *lor, HopsLORRows *r, PetscBool values)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(Free(lor, (void **)&r->i[b]));
    PetscCall(Free(lor, (void **)&r->j[b]));
    if (values) PetscCall(Free(lor, (void **)&r->v[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the matrix was not given */
PetscErrorCode HopsLORFreeRows(HopsLOR *lor)
{
  const HopsMemoryOps *memory = lor->backend->memory;
  const PetscBool      given  = lor->given && lor->nc == 1 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (!given) PetscCall(FreeMatRows(lor, &lor->rows, lor->process ? PETSC_FALSE : PETSC_TRUE));
  if (!lor->given) PetscCall(FreeMatRows(lor, &lor->wide, PETSC_TRUE));
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall((*memory->PoolFree)((void **)&lor->ghosts.i[b]));
    PetscCall((*memory->PoolFree)((void **)&lor->ghosts.j[b]));
    if (!lor->process) PetscCall((*memory->PoolFree)((void **)&lor->ghosts.v[b]));
  }
  if (lor->process && !given) PetscCall((*memory->PoolFree)((void **)&lor->array));
  lor->array = NULL;
  lor->given = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------- AIJ -------------------------------------------- */

/* What an AIJ in the process's memory is made of */
typedef struct {
  PetscInt n;
  void    *p[12]; /* from the host's memory */
} HopsLORArrays;

static PetscErrorCode HopsLORFreeArrays(HopsContainerCtx ctx)
{
  HopsLORArrays *a = (HopsLORArrays *)HopsContainerData(ctx);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < a->n; ++k) PetscCall((*HopsBackendHost.memory->Free)(&a->p[k]));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays live as long as the Mat or one of its blocks, which the inner solver or the user may keep longer
   than the PC does */
static PetscErrorCode HopsLORGiveArrays(HopsLOR *lor, HopsLORArrays *a)
{
  PetscContainer c;
  PetscMPIInt    size;
  Mat            m[3] = {lor->mat, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, a));
  PetscCall(HopsContainerSetDestroy(c, HopsLORFreeArrays));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)lor->mat), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(lor->mat, &m[1], &m[2], NULL));
  for (PetscInt i = 0; i < 3; ++i)
    if (m[i]) PetscCall(PetscObjectCompose((PetscObject)m[i], "HopsLORArrays", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORArraysMalloc(HopsLORArrays *a, size_t n, void **p)
{
  PetscFunctionBegin;
  PetscCall((*HopsBackendHost.memory->Malloc)(n, p));
  a->p[a->n++] = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block b as PETSc's numbers in the process's memory, block 1 with global columns: the rows' own arrays, or
   copies */
static PetscErrorCode HopsLORGetPattern(HopsLOR *lor, PetscInt b, HopsLORArrays *a, PetscInt **ia, PetscInt **ja)
{
  HopsLORRows   *r  = HopsLORMatRows(lor);
  const PetscInt nc = lor->nc, nT = lor->space->nT * nc, nnz = (PetscInt)r->nnz[b];
  int           *i = r->i[b], *j = r->j[b];

  PetscFunctionBegin;
  if (!lor->process) {
    PetscCall(PetscMalloc2(nT + 1, &i, nnz, &j));
    PetscCall((*lor->backend->memory->Copy)(NULL, i, r->i[b], (nT + 1) * sizeof(int), HOPS_COPY_OUT));
    PetscCall((*lor->backend->memory->Copy)(NULL, j, r->j[b], nnz * sizeof(int), HOPS_COPY_OUT));
  }
  if (lor->process && sizeof(int) == sizeof(PetscInt)) {
    *ia = (PetscInt *)(void *)i;
    *ja = (PetscInt *)(void *)j;
  } else {
    PetscCall(HopsLORArraysMalloc(a, (nT + 1) * sizeof(PetscInt), (void **)ia));
    PetscCall(HopsLORArraysMalloc(a, nnz * sizeof(PetscInt), (void **)ja));
    for (PetscInt k = 0; k <= nT; ++k) (*ia)[k] = i[k];
    for (PetscInt k = 0; k < nnz; ++k) (*ja)[k] = j[k];
  }
  for (PetscInt k = 0; b && k < nnz; ++k) (*ja)[k] = lor->cols[(*ja)[k] / nc] * nc + (*ja)[k] % nc;
  if (!lor->process) PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORScalarsMalloc(size_t n, PetscReal v[], PetscScalar **s)
{
  PetscFunctionBegin;
#if defined(PETSC_USE_COMPLEX)
  PetscCall((*HopsBackendHost.memory->Malloc)(n * sizeof(PetscScalar), (void **)s));
  PetscCall(PetscArrayzero(*s, n));
#else
  *s = v;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORScalarsUpdate(size_t n, const PetscReal v[], PetscScalar s[])
{
  PetscFunctionBegin;
  if (HOPS_PARTS == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < n; ++k) s[k] = v[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes lor->mat of its arrays. But on the smallest meshes no row has the columns of the next: PETSc need not
   compare them, which one thread would do, in the time of all that many threads do for the pattern. Only an
   option of PETSc's says so before the matrix is there. */
static PetscErrorCode HopsLORWrapAIJ(HopsLOR *lor, PetscMPIInt size)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)lor->space);
  const PetscInt nT = lor->space->nT * lor->nc, N = lor->space->N * lor->nc;
  PetscBool      set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_no_inode", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-mat_no_inode", "true"));
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(comm, nT, nT, lor->di, lor->dj, lor->scalars[0], &lor->mat));
  else
    PetscCall(MatCreateMPIAIJWithSplitArrays(comm, nT, nT, N, N, lor->di, lor->dj, lor->scalars[0], lor->oi, lor->oj,
                                             lor->scalars[1], &lor->mat));
  if (!set) PetscCall(PetscOptionsClearValue(NULL, "-mat_no_inode"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORCreateAIJ(HopsLOR *lor)
{
  HopsSpace      sp = lor->space;
  HopsLORRows   *r  = HopsLORMatRows(lor);
  HopsLORArrays *a;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  PetscCall(PetscNew(&a));
  PetscCall(HopsLORGetPattern(lor, 0, a, &lor->di, &lor->dj));
  if (size > 1) PetscCall(HopsLORGetPattern(lor, 1, a, &lor->oi, &lor->oj));
  if (lor->process) {
    for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) {
      lor->vals[b] = r->v[b];
      a->p[a->n++] = r->i[b];
      a->p[a->n++] = r->j[b];
      if (lor->nc > 1) a->p[a->n++] = r->v[b];
    }
    if (lor->nc == 1) a->p[a->n++] = lor->array;
    lor->given = PETSC_TRUE;
  } else {
    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(HopsLORArraysMalloc(a, r->nnz[b] * sizeof(PetscReal), (void **)&lor->vals[b]));
      PetscCall(PetscArrayzero(lor->vals[b], r->nnz[b]));
    }
  }
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) {
    PetscCall(HopsLORScalarsMalloc(r->nnz[b], lor->vals[b], &lor->scalars[b]));
    if (HOPS_PARTS > 1) a->p[a->n++] = lor->scalars[b];
  }
  PetscCall(HopsLORWrapAIJ(lor, size));
  PetscCall(HopsLORGiveArrays(lor, a));
  PetscCall(MatSetOption(lor->mat, MAT_SYMMETRIC, PETSC_TRUE));
  if (lor->target == HOPS_LOR_AIJCUSPARSE) PetscCall(MatConvert(lor->mat, HOPS_MATAIJDEVICE, MAT_INPLACE_MATRIX, &lor->mat));
  else if (lor->target == HOPS_LOR_AIJKOKKOS) PetscCall(MatConvert(lor->mat, MATAIJKOKKOS, MAT_INPLACE_MATRIX, &lor->mat));
  else if (sp->kokkosvecs) PetscCall(MatSetVecType(lor->mat, VECKOKKOS)); /* which go with no other vectors */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where PETSc's Kokkos works are a block's newest values: its own scaling says so, here by one */
static PetscErrorCode HopsLORChangedKokkos(Mat block)
{
  PetscErrorCode (*scale)(Mat, PetscReal);

  PetscFunctionBegin;
  PetscCall(MatGetOperation(block, MATOP_SCALE, (HopsVoidFn *)&scale)); /* MatScale() itself leaves out a factor of one */
  PetscCall((*scale)(block, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORChangedAIJ(Mat mat)
{
  Mat         d = mat, o = NULL;
  PetscBool   kokkos;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mat), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(mat, &d, &o, NULL));
  PetscCall(MatAssemblyBegin(d, MAT_FINAL_ASSEMBLY)); /* drops what the block cached of its old values */
  PetscCall(MatAssemblyEnd(d, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectTypeCompare((PetscObject)d, MATSEQAIJKOKKOS, &kokkos));
  if (kokkos) PetscCall(HopsLORChangedKokkos(d));
  if (kokkos && o) PetscCall(HopsLORChangedKokkos(o));
  PetscCall(PetscObjectStateIncrease((PetscObject)d));
  if (o) PetscCall(PetscObjectStateIncrease((PetscObject)o));
  if (size > 1) PetscCall(PetscObjectStateIncrease((PetscObject)mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORCreateMat(HopsLOR *lor)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->target == HOPS_LOR_HYPRE) {
    PetscInt *cols;

    PetscCall(PetscMalloc1(lor->ncols * lor->nc, &cols));
    for (PetscInt k = 0; k < lor->ncols * lor->nc; ++k) cols[k] = lor->cols[k / lor->nc] * lor->nc + k % lor->nc;
    PetscCall(HopsHypreWrap(lor->space, lor->space, lor->nc, HopsLORMatRows(lor), lor->ncols * lor->nc, cols, &lor->mat));
    PetscCall(PetscFree(cols));
    lor->given = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(HopsLORCreateAIJ(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORUpdateMat(HopsLOR *lor)
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = HopsLORMatRows(lor);

  PetscFunctionBegin;
  if (lor->target == HOPS_LOR_HYPRE) {
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lor->target == HOPS_LOR_AIJCUSPARSE || (lor->target == HOPS_LOR_AIJKOKKOS && !lor->process)) {
    Mat         block[2] = {lor->mat, NULL};
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
    if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(lor->mat, &block[0], &block[1], NULL));
    for (PetscInt b = 0; b < 2; ++b) {
      PetscScalar *a;

      if (!block[b] || !r->nnz[b]) continue;
      /* puts the pattern there the first time */
      if (lor->target == HOPS_LOR_AIJKOKKOS) PetscCall(MatSeqAIJGetCSRAndMemType(block[b], NULL, NULL, &a, NULL));
      else PetscCall(HopsSeqAIJDeviceGetArray(block[b], &a));
      PetscCall((*lor->backend->memory->Copy)(NULL, a, r->v[b], r->nnz[b] * sizeof(PetscReal), HOPS_COPY_WITHIN));
      if (lor->target == HOPS_LOR_AIJKOKKOS) PetscCall(HopsLORChangedKokkos(block[b]));
      else PetscCall(HopsSeqAIJDeviceRestoreArray(block[b], &a));
    }
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt b = 0; b < 2 && !lor->process; ++b)
    PetscCall((*lor->backend->memory->Copy)(NULL, lor->vals[b], r->v[b], r->nnz[b] * sizeof(PetscReal), HOPS_COPY_OUT));
  for (PetscInt b = 0; b < 2 && HOPS_PARTS > 1; ++b)
    if (lor->scalars[b]) PetscCall(HopsLORScalarsUpdate(r->nnz[b], lor->vals[b], lor->scalars[b]));
  PetscCall(HopsLORChangedAIJ(lor->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}
