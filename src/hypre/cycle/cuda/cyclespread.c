/*
  The V-cycle of a BoomerAMG hierarchy on several ranks. The finer levels are spread as hypre has them:
  products take entries of other ranks by halo exchanges, beside which those within the rank are multiplied.
  Coarser levels, whose few rows are no work but whose messages would wait for one another, are gathered on
  every rank, which runs the rest of the cycle for itself, as on one rank: one exchange gathers the right-hand
  side, and none is needed on the way up. A space of AMS or ADS is reached like a coarser level.
*/
#include "cycle.h"
#if HOPS_HAVE_HYPRE_DEVICE
  #include <_hypre_parcsr_ls.h>
  #include <hops/private/hopsdevicematimpl.h>
  #include <hops/private/hopsshareimpl.h>
  #include <petsc/private/pcimpl.h>
  #include <petscsf.h>

static PetscErrorCode FreeGhosted(HopsCycleGhosted *g)
{
  PetscFunctionBegin;
  PetscCall(HopsCycleFreeMatrix(&g->M));
  PetscCall(HopsCycleFree((void **)&g->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeSpreadLevel(const HopsBackendOps *be, HopsCycleSpreadLevel *a)
{
  PetscFunctionBegin;
  PetscCall(HopsCycleFreeLevel(&a->own));
  PetscCall(FreeGhosted(&a->A));
  PetscCall(FreeGhosted(&a->P));
  PetscCall(HopsCycleFreeMatrix(&a->R));
  PetscCall(HopsProlongDestroy(&a->ua));
  PetscCall(HopsProlongDestroy(&a->cp));
  PetscCall((*be->memory->Free)(&a->g));
  for (int k = 0; k < 2; k++)
    if (a->transposed[k]) PetscCallExternal(hypre_CSRMatrixDestroy, (hypre_CSRMatrix *)a->transposed[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleDestroySpread(HopsCycleSpread **spread)
{
  HopsCycleSpread *s = *spread;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->record) PetscCall((*s->be->memory->RecordDestroy)(&s->record));
  for (int l = 0; l < s->n; l++) PetscCall(FreeSpreadLevel(s->be, s->level + l));
  for (int k = 0; s->space && k < HOPS_CYCLE_SPACES; k++) PetscCall(FreeSpreadLevel(s->be, s->space + k));
  PetscCall(PetscFree(s->space));
  PetscCall(HopsCycleFree((void **)&s->ghost));
  PetscCall(HopsProlongDestroy(&s->gather));
  PetscCall((*s->be->memory->Free)(&s->mine));
  PetscCall((*s->be->memory->FreeHost)(&s->part));
  PetscCall((*s->be->memory->FreeHost)(&s->whole));
  PetscCall(PetscFree2(s->count, s->first));
  PetscCall(PetscFree(s->level));
  PetscCall(PetscFree(*spread));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange of the entries that A multiplies and other ranks have, by hypre's lists of what is sent and
   received */
static PetscErrorCode CreateProlong(HopsCycle c, HopsSpace sp, hypre_ParCSRMatrix *A, HopsProlong *prolong)
{
  hypre_ParCSRCommPkg *pkg;
  PetscMPIInt         *rank, tag, nto, nfrom;
  PetscInt            *count;
  HopsHalo             halo;

  PetscFunctionBegin;
  (void)HopsHypreColumnsOfOthers(A); /* hypre makes its lists from them */
  if (!hypre_ParCSRMatrixCommPkg(A)) PetscCallExternal(hypre_MatvecCommPkgCreate, A);
  pkg   = hypre_ParCSRMatrixCommPkg(A);
  nto   = (PetscMPIInt)hypre_ParCSRCommPkgNumSends(pkg);
  nfrom = (PetscMPIInt)hypre_ParCSRCommPkgNumRecvs(pkg);
  PetscCall(PetscMalloc2(PetscMax(nto, nfrom), &rank, PetscMax(nto, nfrom), &count));
  for (PetscMPIInt r = 0; r < nfrom; r++) {
    rank[r]  = (PetscMPIInt)hypre_ParCSRCommPkgRecvProc(pkg, r);
    count[r] = (PetscInt)(hypre_ParCSRCommPkgRecvVecStart(pkg, r + 1) - hypre_ParCSRCommPkgRecvVecStart(pkg, r));
  }
  PetscCall(HopsNeighborsCreate(nfrom, rank, count, &halo.owners));
  for (PetscInt k = 0; k < halo.owners.start[nfrom]; k++) halo.owners.entry[k] = k;
  for (PetscMPIInt r = 0; r < nto; r++) {
    rank[r]  = (PetscMPIInt)hypre_ParCSRCommPkgSendProc(pkg, r);
    count[r] = (PetscInt)(hypre_ParCSRCommPkgSendMapStart(pkg, r + 1) - hypre_ParCSRCommPkgSendMapStart(pkg, r));
  }
  PetscCall(HopsNeighborsCreate(nto, rank, count, &halo.holders));
  for (PetscInt k = 0; k < halo.holders.start[nto]; k++) halo.holders.entry[k] = (PetscInt)hypre_ParCSRCommPkgSendMapElmt(pkg, k);
  PetscCall(PetscFree2(rank, count));
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &tag));
  PetscCall(
    HopsHaloFinish(PetscObjectComm((PetscObject)sp), tag, (PetscInt)hypre_CSRMatrixNumCols(hypre_ParCSRMatrixDiag(A)), &halo));
  PetscCall(HopsProlongCreate(sp, sp->backend, &halo, 1, c->single ? PETSC_FLOAT : PETSC_DOUBLE, NULL, prolong));
  PetscCall(HopsHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetGhosted(HopsCycle c, hypre_CSRMatrix *offd, HopsCycleGhosted *g, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(HopsCycleSetMatrix(c, offd, 0.0, &g->M, stream));
  if (g->M.nnz) PetscCall(HopsCycleListRows(g->M.m, g->M.i, &g->nrows, &g->rows, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What A, and what P, multiply of other ranks; the transpose of P within the rank; room for the ghosts of
   both. Either may be NULL */
static PetscErrorCode SetOthers(HopsCycle c, HopsSpace sp, hypre_ParCSRMatrix *A, hypre_ParCSRMatrix *P, HopsCycleSpreadLevel *a,
                                hypre_CSRMatrix **R, cudaStream_t stream)
{
  const size_t na = A ? (size_t)hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(A)) : 0;
  const size_t np = P ? (size_t)hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(P)) : 0;

  PetscFunctionBegin;
  if (A) {
    PetscCall(SetGhosted(c, hypre_ParCSRMatrixOffd(A), &a->A, stream));
    PetscCall(CreateProlong(c, sp, A, &a->ua));
  }
  if (P) {
    hypre_CSRMatrix *Ro = hypre_ParCSRMatrixOffdT(P);

    *R = hypre_ParCSRMatrixDiagT(P);
    if (!*R) {
      PetscCallExternal(hypre_CSRMatrixTranspose, hypre_ParCSRMatrixDiag(P), R, 1);
      a->transposed[0] = *R;
    }
    if (!Ro && np) {
      PetscCallExternal(hypre_CSRMatrixTranspose, hypre_ParCSRMatrixOffd(P), &Ro, 1);
      a->transposed[1] = Ro;
    }
    PetscCallCUDA(cudaDeviceSynchronize()); /* hypre's stream is not ours */
    PetscCall(SetGhosted(c, hypre_ParCSRMatrixOffd(P), &a->P, stream));
    if (np) PetscCall(HopsCycleSetMatrix(c, Ro, 0.0, &a->R, stream));
    PetscCall(CreateProlong(c, sp, P, &a->cp));
  }
  /* no pool's: an MPI that takes device pointers may hand it to another process */
  PetscCall((*sp->backend->memory->Malloc)(PetscMax(na, np) * HopsCycleSize(c), &a->g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetSpreadLevel(HopsCycle c, HopsSpace sp, hypre_ParAMGData *amg, int l, double weight, cudaStream_t stream)
{
  HopsCycleSpreadLevel *a = c->spread->level + l;
  hypre_ParCSRMatrix   *A = hypre_ParAMGDataAArray(amg)[l], *P = hypre_ParAMGDataPArray(amg)[l];
  hypre_CSRMatrix      *R;

  PetscFunctionBegin;
  PetscCall(SetOthers(c, sp, A, P, a, &R, stream));
  PetscCall(HopsCycleSetLevel(c, &a->own, hypre_ParCSRMatrixDiag(A), hypre_ParCSRMatrixDiag(P), R,
                              hypre_VectorData(hypre_ParAMGDataL1Norms(amg)[l]), weight * hypre_ParAMGDataRelaxWeight(amg)[l],
                              stream));
  c->flops += (2.0 * c->nsteps - 1.0) * 2.0 * (PetscLogDouble)a->A.M.nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleSetSpreadMatrix(HopsCycle c, HopsSpace sp, void *A)
{
  hypre_CSRMatrix *R = NULL;
  PetscReal        nnz;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(SetOthers(c, sp, (hypre_ParCSRMatrix *)A, NULL, c->spread->level, &R, stream));
  nnz = (PetscReal)c->spread->level[0].own.A.nnz + (PetscReal)c->spread->level[0].A.M.nnz;
  PetscCallMPI(MPI_Allreduce(&nnz, &c->entries, 1, MPIU_REAL, MPIU_SUM, c->spread->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleSetSpreadSpace(HopsCycle c, HopsSpace sp, int k, void *data)
{
  hypre_ParCSRMatrix   *P = (hypre_ParCSRMatrix *)data;
  HopsCycleSpreadLevel *a = c->spread->space + k;
  hypre_CSRMatrix      *R;
  cudaStream_t          stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(SetOthers(c, sp, NULL, P, a, &R, stream));
  PetscCall(HopsCycleSetMatrix(c, hypre_ParCSRMatrixDiag(P), 0.0, &a->own.P, stream));
  PetscCall(HopsCycleSetMatrix(c, R, 0.0, &a->own.R, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Level l, which every rank is to have, as level k of its own */
static PetscErrorCode SetRedundantLevel(HopsCycle c, MPI_Comm comm, hypre_ParAMGData *amg, int l, int k, double weight,
                                        cudaStream_t stream)
{
  hypre_ParCSRMatrix *A     = hypre_ParAMGDataAArray(amg)[l];
  hypre_Vector       *l1    = hypre_ParAMGDataL1Norms(amg) ? hypre_ParAMGDataL1Norms(amg)[l] : NULL;
  const PetscMPIInt   m     = (PetscMPIInt)hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(A));
  hypre_CSRMatrix    *M[3]  = {NULL, NULL, NULL};
  double             *norms = NULL;
  PetscMPIInt         norm  = l1 || !m ? 1 : 0, all; /* hypre makes none where a rank has no rows */

  PetscFunctionBegin;
  PetscCall(HopsHypreGather(comm, A, -1, (void **)&M[0]));
  c->gathered[2 * k] = M[0];
  if (k < c->nlevels - 1) {
    PetscCall(HopsHypreGather(comm, hypre_ParAMGDataPArray(amg)[l], -1, (void **)&M[1]));
    c->gathered[2 * k + 1] = M[1];
    PetscCallExternal(hypre_CSRMatrixTranspose, M[1], &M[2], 1);
    PetscCallCUDA(cudaDeviceSynchronize()); /* hypre's stream is not ours */
    c->transposed[k] = M[2];
  }
  PetscCallMPI(MPI_Allreduce(&norm, &all, 1, MPI_INT, MPI_MIN, comm));
  if (all) {
    const size_t N = (size_t)hypre_CSRMatrixNumRows(M[0]);
    double      *part, *whole;
    PetscMPIInt  size, *count, *first, total;

    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCall(PetscMalloc4(m, &part, N, &whole, size, &count, size, &first));
    PetscCall(HopsGatherPlaces(comm, m, count, first, &total));
    if (m) PetscCallCUDA(cudaMemcpy(part, hypre_VectorData(l1), m * sizeof(double), cudaMemcpyDeviceToHost));
    PetscCallMPI(MPI_Allgatherv(part, m, MPI_DOUBLE, whole, count, first, MPI_DOUBLE, comm));
    PetscCall(HopsCycleMalloc(N * sizeof(double), (void **)&norms));
    PetscCallCUDA(cudaMemcpy(norms, whole, N * sizeof(double), cudaMemcpyHostToDevice));
    PetscCall(PetscFree4(part, whole, count, first));
  }
  PetscCall(HopsCycleSetLevel(c, c->level + k, M[0], M[1], M[2], norms, weight * hypre_ParAMGDataRelaxWeight(amg)[l], stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HopsCycleFree((void **)&norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange by which ranks get all rows, or rank 0 those of others; NULL where ranks share no memory */
static PetscErrorCode CreateGather(HopsCycle c, HopsSpace sp, PetscBool onfirst)
{
  HopsCycleSpread *s = c->spread;
  HopsHalo         halo;
  PetscMPIInt      size, rank, tag, n = 0, *who;
  PetscInt        *count, m;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(PetscMalloc2(size, &who, size, &count));
  for (PetscMPIInt r = 0; r < size && (!rank || !onfirst); r++) {
    if (!s->count[r] || (onfirst && !r)) continue;
    who[n]     = r;
    count[n++] = s->count[r];
  }
  PetscCall(HopsNeighborsCreate(n, who, count, &halo.owners));
  for (PetscInt k = 0; k < halo.owners.start[n]; k++) halo.owners.entry[k] = k;
  m = s->count[rank];
  n = m ? (onfirst ? (rank ? 1 : 0) : size) : 0;
  for (PetscMPIInt r = 0; r < n; r++) {
    who[r]   = r;
    count[r] = m;
  }
  PetscCall(HopsNeighborsCreate(n, who, count, &halo.holders));
  for (PetscInt k = 0; k < halo.holders.start[n]; k++) halo.holders.entry[k] = k % m;
  PetscCall(PetscFree2(who, count));
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &tag));
  PetscCall(HopsHaloFinish(s->comm, tag, m, &halo));
  PetscCall(HopsProlongCreateShared(sp, s->be, &halo, c->single ? PETSC_FLOAT : PETSC_DOUBLE, &s->gather));
  PetscCall(HopsHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the right-hand side comes to the first level that every rank has, or rank 0: this rank has m of its
   rows */
static PetscErrorCode SetGathering(HopsCycle c, HopsSpace sp, PetscMPIInt m, PetscBool onfirst)
{
  HopsCycleSpread *s = c->spread;
  PetscMPIInt      size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(PetscMalloc2(size, &s->count, size, &s->first));
  PetscCall(HopsGatherPlaces(s->comm, m, s->count, s->first, &s->N));
  s->begin = s->first[rank];
  PetscCall(CreateGather(c, sp, onfirst));
  if (s->gather) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*s->be->memory->MallocHost)((size_t)m * HopsCycleSize(c), &s->part));
  PetscCall((*s->be->memory->MallocHost)((size_t)s->N * HopsCycleSize(c), &s->whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of the result the last spread level takes from others */
static PetscErrorCode SetGhosts(HopsCycleSpread *s, hypre_ParCSRMatrix *P)
{
  const HYPRE_BigInt *columns = (const HYPRE_BigInt *)HopsHypreColumnsOfOthers(P);
  int                *ghost;

  PetscFunctionBegin;
  s->nghost = (int)hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(P));
  PetscCall(PetscMalloc1(s->nghost, &ghost));
  for (int k = 0; k < s->nghost; k++) ghost[k] = (int)columns[k];
  PetscCall(HopsCycleMalloc(s->nghost * sizeof(int), (void **)&s->ghost));
  PetscCallCUDA(cudaMemcpy(s->ghost, ghost, s->nghost * sizeof(int), cudaMemcpyHostToDevice));
  PetscCall(PetscFree(ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle of the whole matrix, which rank 0 has (NULL elsewhere) and runs for all; n rows are this
   rank's */
PetscErrorCode HopsCycleCreateGathered(void *amg, HopsSpace sp, PetscInt n, const HopsCycleSettings *set, HopsCycle *cycle,
                                       const char **why)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)sp);
  const bool     single = set->type == PCLOR_CYCLE_SINGLE;
  HopsCycle      c      = NULL;
  PetscReal      info[2];
  PetscMPIInt    rank, levels;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) PetscCall(HopsCycleCreateHierarchy(amg, set->degree, single, 0.0, &c, why));
  PetscCall(HopsCycleAgree(comm, why));
  if (*why) {
    PetscCall(HopsCycleDestroy(&c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (rank) {
    PetscCall(PetscNew(&c));
    c->single = single;
  }
  PetscCall(PetscNew(&c->spread));
  c->spread->comm = comm;
  c->spread->be   = sp->backend;
  PetscCall(SetGathering(c, sp, (PetscMPIInt)n, PETSC_TRUE));
  PetscCall((*sp->backend->memory->Malloc)((size_t)n * HopsCycleSize(c), &c->spread->mine));
  levels  = c->nlevels;
  info[0] = c->entries;
  info[1] = c->complexity;
  PetscCallMPI(MPI_Bcast(&levels, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(info, 2, MPIU_REAL, 0, comm));
  c->spread->levels = levels;
  c->entries        = info[0];
  c->complexity     = info[1];
  *cycle            = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of all levels over those of the finest, of all ranks; the coarsest has no matrix of ours */
static PetscErrorCode SetComplexity(HopsCycle c, hypre_ParAMGData *amg)
{
  HopsCycleSpread *s      = c->spread;
  PetscReal        nnz[2] = {0.0, 0.0}, sum[2];

  PetscFunctionBegin;
  for (int l = 0; l < (int)hypre_ParAMGDataNumLevels(amg); l++) {
    hypre_ParCSRMatrix *A = hypre_ParAMGDataAArray(amg)[l];

    nnz[1] += (PetscReal)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(A)) +
              (PetscReal)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixOffd(A));
    if (!l) nnz[0] = nnz[1];
  }
  PetscCallMPI(MPI_Allreduce(nnz, sum, 2, MPIU_REAL, MPIU_SUM, s->comm));
  c->entries    = PetscMax(sum[0], 1.0);
  c->complexity = sum[1] / c->entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleAgree(MPI_Comm comm, const char **why)
{
  PetscMPIInt refused = *why ? 1 : 0, any;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&refused, &any, 1, MPI_INT, MPI_MAX, comm));
  if (any && !*why) *why = "another rank cannot run it";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse of the coarsest level, or the sweep that hypre has for it */
static PetscErrorCode SetSpreadCoarsest(HopsCycle c, hypre_ParAMGData *amg, double weight, cudaStream_t stream, PetscBool *ok)
{
  const HYPRE_Int     last  = hypre_ParAMGDataNumLevels(amg) - 1;
  hypre_ParCSRMatrix *A     = hypre_ParAMGDataAArray(amg)[last];
  const double        w     = hypre_ParAMGDataRelaxWeight(amg)[last];
  HopsCycleSweep      sweep = {w, weight * w, 1, NULL};
  PetscMPIInt        *count, *first, total, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->spread->comm, &size));
  PetscCall(PetscMalloc2(size, &count, size, &first));
  PetscCall(
    HopsGatherPlaces(c->spread->comm, (PetscMPIInt)hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(A)), count, first, &total));
  sweep.nranks = size;
  sweep.first  = first;
  PetscCall(HopsCycleSetCoarsest(c, c->gathered[2 * (c->nlevels - 1)], hypre_ParAMGDataGridRelaxType(amg)[3] == 8 ? &sweep : NULL,
                                 stream, ok));
  PetscCall(PetscFree2(count, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is taken for granted of a hierarchy on several ranks, and how many of its levels are spread */
static const char *RefuseSpread(hypre_ParAMGData *amg, PetscInt nredundant, int *first)
{
  const char     *why     = HopsCycleRefuse(amg);
  const int       nlevels = (int)hypre_ParAMGDataNumLevels(amg);
  const HYPRE_Int relax   = hypre_ParAMGDataGridRelaxType(amg)[3];

  *first = 1;
  if (why) return why;
  while (*first < nlevels - 1 && hypre_ParCSRMatrixGlobalNumRows(hypre_ParAMGDataAArray(amg)[*first]) > nredundant) ++*first;
  for (int l = 0; l < *first; l++)
    if (!hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(hypre_ParAMGDataAArray(amg)[l])))
      return "a rank has no unknowns of a level that is spread";
  return hypre_ParCSRMatrixGlobalNumRows(hypre_ParAMGDataAArray(amg)[nlevels - 1]) >
             (relax == 18 ? PetscMax(nredundant, 1000) : HOPS_CYCLE_DENSE)
           ? "its coarsest level is large"
           : NULL;
}

PetscErrorCode HopsCycleCreateSpread(void *data, HopsSpace sp, const HopsCycleSettings *set, double drop, HopsCycle *cycle,
                                     const char **why)
{
  hypre_ParAMGData   *amg  = (hypre_ParAMGData *)data;
  const MPI_Comm      comm = PetscObjectComm((PetscObject)sp);
  hypre_ParCSRMatrix *P;
  HopsCycle           c;
  double              weight;
  PetscBool           same = PETSC_TRUE;
  cudaStream_t        stream;
  int                 nlevels, first;

  PetscFunctionBegin;
  *why = RefuseSpread(amg, set->redundant, &first);
  PetscCall(HopsCycleAgree(comm, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(PetscNew(&c));
  nlevels    = (int)hypre_ParAMGDataNumLevels(amg);
  c->single  = set->type == PCLOR_CYCLE_SINGLE;
  c->drop    = drop;
  c->nlevels = nlevels - first;
  c->direct  = hypre_ParAMGDataGridRelaxType(amg)[3] != 18;
  weight     = HopsCycleSetSteps(c, amg, set->degree);
  PetscCall(PetscCalloc1(c->nlevels, &c->level));
  PetscCall(PetscCalloc1(c->nlevels, &c->transposed));
  PetscCall(PetscCalloc1(2 * c->nlevels, &c->gathered));
  PetscCall(PetscNew(&c->spread));
  c->spread->n    = first;
  c->spread->comm = comm;
  c->spread->be   = sp->backend;
  PetscCall(PetscCalloc1(first, &c->spread->level));
  for (int l = 0; l < first; l++) PetscCall(SetSpreadLevel(c, sp, amg, l, weight, stream));
  for (int l = first; l < nlevels; l++) PetscCall(SetRedundantLevel(c, comm, amg, l, l - first, weight, stream));
  P = hypre_ParAMGDataPArray(amg)[first - 1];
  PetscCall(SetGathering(c, sp, (PetscMPIInt)hypre_CSRMatrixNumCols(hypre_ParCSRMatrixDiag(P)), PETSC_FALSE));
  PetscCall(SetGhosts(c->spread, P));
  PetscCall(SetComplexity(c, amg));
  if (c->direct) {
    PetscCall(SetSpreadCoarsest(c, amg, weight, stream, &same));
    if (!same) *why = "its coarsest level is singular";
  } else if (!c->level[c->nlevels - 1].d) *why = "its coarsest level has no l1 norms";
  PetscCall(HopsCycleAgree(comm, why));
  if (*why) PetscCall(HopsCycleDestroy(&c));
  else
    PetscCall(PetscInfo(sp, "V-cycle on several ranks: %d levels are spread, %d that begin with %d unknowns are every rank's\n",
                        first, c->nlevels, c->spread->N));
  *cycle = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
