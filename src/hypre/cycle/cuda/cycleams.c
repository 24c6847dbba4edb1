/*
  The cycles of AMS and ADS by kernels of our own: smoothing, then corrections from the nodal spaces one after
  the other, each a V-cycle; all of it one CUDA graph. hypre runs dozens of short kernels for each, and waits
  for many.
*/
#include "cycle.h"
#if HOPS_HAVE_HYPRE_DEVICE
  #include <_hypre_parcsr_ls.h>
  #include <petsc/private/pcimpl.h>
  #include <petscmathypre.h>

  #define CURL_DROP 1e-10 /* rounding errors of C^T A C against its diagonal */

/* The first members of hypre's data for ADS, which has no header for them; what is there is compared with
   what hypre was given */
typedef struct {
  hypre_ParCSRMatrix *A, *C, *A_C;
  HYPRE_Solver        B_C;
  hypre_ParCSRMatrix *Pi, *A_Pi;
  HYPRE_Solver        B_Pi;
  hypre_ParCSRMatrix *Pix[3], *A_Pix[3];
  HYPRE_Solver        B_Pix[3];
  HYPRE_Int           owns_Pi;
  hypre_ParCSRMatrix *ND_Pi, *ND_Pix[3], *G;
  hypre_ParVector    *x[3];
  HYPRE_Int           maxit;
  HYPRE_Real          tol;
  HYPRE_Int           cycle_type, print_level, relax_type, relax_times;
  hypre_Vector       *l1_norms;
  HYPRE_Real          relax_weight;
} ADSData;

/* The cycles that hypre runs by their numbers, where each component has its nodal space and smoothing comes
   first and last; 1: G, 3 to 5: the components */
static const char *Program(int cycle_type, bool beta_is_zero)
{
  if (cycle_type == 11) return beta_is_zero ? "0345430" : "013454310";
  if (cycle_type == 13) return beta_is_zero ? "0345430" : "034515430";
  if (cycle_type == 14) return beta_is_zero ? "0(+3+4+5)0" : "01(+3+4+5)10";
  return NULL;
}

static const char *RefuseAMS(const hypre_AMSData *ams)
{
  if (ams->maxit != 1 || ams->tol != 0.0) return "it iterates";
  if (!Program((int)ams->cycle_type, ams->beta_is_zero)) return "its AMS cycle is not 11, 13 or 14";
  if (ams->A_relax_type != 1 || ams->A_relax_times != 1) return "its smoother is not one sweep of l1-Jacobi";
  if (ams->B_G0) return "it projects gradients out of a part of the domain";
  if (hypre_ParCSRMatrixMemoryLocation(ams->A) != HYPRE_MEMORY_DEVICE || !ams->A_l1_norms)
    return "its matrices are not on the device";
  return NULL;
}

/* P and R on one rank, and what runs the space beside others */
static PetscErrorCode SetTransfer(HopsCycle c, int k, hypre_ParCSRMatrix *P, cudaStream_t stream)
{
  hypre_CSRMatrix *R = hypre_ParCSRMatrixDiagT(P);

  PetscFunctionBegin;
  if (strchr(c->program, '+')) { /* made before the capture */
    if (!c->fork) PetscCallCUDA(cudaEventCreateWithFlags(&c->fork, cudaEventDisableTiming));
    PetscCallCUDA(cudaEventCreateWithFlags(&c->joined[k], cudaEventDisableTiming));
    PetscCallCUDA(cudaStreamCreateWithFlags(&c->branch[k], cudaStreamNonBlocking));
  }
  if (!R) {
    PetscCallExternal(hypre_CSRMatrixTranspose, hypre_ParCSRMatrixDiag(P), &R, 1);
    c->spacetransposed[k] = R;
  }
  PetscCall(HopsCycleSetMatrix(c, hypre_ParCSRMatrixDiag(P), 0.0, &c->P[k], stream));
  PetscCall(HopsCycleSetMatrix(c, R, 0.0, &c->R[k], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space whose corrections come from a cycle of its own: sub is that cycle, P leads from it */
static PetscErrorCode SetSpace(HopsCycle c, HopsSpace sp, int k, hypre_ParCSRMatrix *P, HopsCycle sub, cudaStream_t stream)
{
  const PetscLogDouble nnz = (PetscLogDouble)HopsCycleFinest(c)->A.nnz;

  PetscFunctionBegin;
  c->sub[k] = sub;
  if (c->spread) PetscCall(HopsCycleSetSpreadSpace(c, sp, k, P));
  else PetscCall(SetTransfer(c, k, P, stream));
  c->complexity += sub->entries * sub->complexity / c->entries;
  for (const char *op = c->program; *op; op++)
    if (*op == '1' + k)
      c->flops += sub->flops + 2.0 * nnz + 4.0 * (PetscLogDouble)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle of a nodal space, which hypre smooths by Jacobi's iteration */
static PetscErrorCode CreateNodal(HYPRE_Solver solver, HopsSpace sp, const HopsCycleSettings *set, double drop, HopsCycle *sub,
                                  const char **why)
{
  const HopsCycleSettings jacobi = {set->type, 0, set->redundant};
  PetscMPIInt             size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  if (size > 1) PetscCall(HopsCycleCreateSpread(solver, sp, &jacobi, drop, sub, why));
  else PetscCall(HopsCycleCreateHierarchy(solver, 0, set->type == PCLOR_CYCLE_SINGLE, drop, sub, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level that AMS and ADS smooth: in `level`, or spread over the ranks */
static PetscErrorCode CreateLevel(HopsCycle c, HopsSpace sp)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  if (size > 1) {
    PetscCall(PetscNew(&c->spread));
    c->spread->n    = 1;
    c->spread->comm = PetscObjectComm((PetscObject)sp);
    c->spread->be   = sp->backend;
    PetscCall(PetscCalloc1(1, &c->spread->level));
    PetscCall(PetscCalloc1(HOPS_CYCLE_SPACES, &c->spread->space));
  } else {
    c->nlevels = 1;
    PetscCall(PetscCalloc1(1, &c->level));
    PetscCall(PetscCalloc1(1, &c->transposed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(HopsSpace sp, const char *program, bool single, double drop, hypre_ParCSRMatrix *A, hypre_Vector *l1,
                             double weight, cudaStream_t stream, HopsCycle *cycle)
{
  HopsCycle       c;
  HopsCycleLevel *a;
  const size_t    n = (size_t)hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(A));

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  *cycle        = c;
  c->single     = single;
  c->program    = program;
  c->nsteps     = 1;
  c->step[0]    = 1.0;
  c->complexity = 1.0;
  PetscCall(CreateLevel(c, sp));
  a = HopsCycleFinest(c);
  PetscCall(HopsCycleSetMatrix(c, hypre_ParCSRMatrixDiag(A), drop, &a->A, stream));
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->f));
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->u));
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->w));
  PetscCall(HopsCycleMalloc(n * HopsCycleSize(c), &a->d));
  PetscCall(HopsCycleConvert(n, hypre_VectorData(l1), weight, true, single, a->d, stream));
  c->entries = (PetscReal)PetscMax(a->A.nnz, 1);
  if (c->spread) PetscCall(HopsCycleSetSpreadMatrix(c, sp, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleCreateAMS(void *data, HopsSpace sp, const HopsCycleSettings *set, double drop, HopsCycle *cycle,
                                  const char **why)
{
  const hypre_AMSData *ams                  = (const hypre_AMSData *)data;
  hypre_ParCSRMatrix  *P[HOPS_CYCLE_SPACES] = {ams->G, NULL, ams->Pix, ams->Piy, ams->Piz};
  const HYPRE_Solver   B[HOPS_CYCLE_SPACES] = {ams->B_G, NULL, ams->B_Pix, ams->B_Piy, ams->B_Piz};
  cudaStream_t         stream;

  PetscFunctionBegin;
  *why = RefuseAMS(ams);
  PetscCall(HopsCycleAgree(PetscObjectComm((PetscObject)sp), why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(Create(sp, Program((int)ams->cycle_type, ams->beta_is_zero), set->type == PCLOR_CYCLE_SINGLE, drop, ams->A,
                   ams->A_l1_norms, ams->A_relax_weight, stream, cycle));
  for (int k = 0; k < HOPS_CYCLE_SPACES && !*why; k++) {
    HopsCycle sub;

    if (!P[k] || !B[k] || !strchr((*cycle)->program, '1' + k)) continue;
    PetscCall(CreateNodal(B[k], sp, set, drop, &sub, why));
    if (!*why) PetscCall(SetSpace(*cycle, sp, k, P[k], sub, stream));
  }
  if (*why) PetscCall(HopsCycleDestroy(cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is m the matrix of hypre's in A? */
static PetscErrorCode Same(Mat A, hypre_ParCSRMatrix *m, PetscBool *same)
{
  hypre_ParCSRMatrix *p     = NULL;
  PetscBool           hypre = PETSC_FALSE;

  PetscFunctionBegin;
  if (A) PetscCall(PetscObjectTypeCompare((PetscObject)A, MATHYPRE, &hypre));
  if (hypre) PetscCall(MatHYPREGetParCSR(A, &p));
  if (!hypre || p != m) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are hypre's data of ADS what the mirror of them takes them for? */
static PetscErrorCode Recognise(const ADSData *ads, const HopsCycleAuxiliary *aux, PetscBool *same)
{
  PetscFunctionBegin;
  *same = PETSC_TRUE;
  PetscCall(Same(aux->A, ads->A, same));
  PetscCall(Same(aux->C, ads->C, same));
  PetscCall(Same(aux->G, ads->G, same));
  for (int d = 0; d < 3; d++) {
    PetscCall(Same(aux->rt[d], ads->Pix[d], same));
    PetscCall(Same(aux->nd[d], ads->ND_Pix[d], same));
  }
  if (ads->Pi || ads->ND_Pi) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefuseADS(const ADSData *ads, const HopsCycleAuxiliary *aux, const char **why)
{
  PetscBool same;

  PetscFunctionBegin;
  *why = "hypre's data of ADS are not as they were in 2.32";
  PetscCall(Recognise(ads, aux, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  *why = NULL;
  if (ads->maxit != 1 || ads->tol != 0.0) *why = "it iterates";
  else if (!Program((int)ads->cycle_type, false)) *why = "its ADS cycle is not 11, 13 or 14";
  else if (ads->relax_type != 1 || ads->relax_times != 1 || !ads->l1_norms) *why = "its smoother is not one sweep of l1-Jacobi";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCycleCreateADS(void *data, HopsSpace sp, const HopsCycleSettings *set, const HopsCycleAuxiliary *aux,
                                  HopsCycle *cycle, const char **why)
{
  const ADSData *ads = (const ADSData *)data;
  HopsCycle      sub;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(RefuseADS(ads, aux, why));
  PetscCall(HopsCycleAgree(PetscObjectComm((PetscObject)sp), why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(Create(sp, Program((int)ads->cycle_type, false), set->type == PCLOR_CYCLE_SINGLE, 0.0, ads->A, ads->l1_norms,
                   ads->relax_weight, stream, cycle));
  PetscCall(HopsCycleCreateAMS(ads->B_C, sp, set, CURL_DROP, &sub, why));
  if (!*why) PetscCall(SetSpace(*cycle, sp, 0, ads->C, sub, stream));
  for (int d = 0; d < 3 && !*why; d++) {
    PetscCall(CreateNodal(ads->B_Pix[d], sp, set, 0.0, &sub, why));
    if (!*why) PetscCall(SetSpace(*cycle, sp, 2 + d, ads->Pix[d], sub, stream));
  }
  if (*why) PetscCall(HopsCycleDestroy(cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The relaxation weight of the nodal solvers, for which neither AMS nor ADS has a function; weights are read
  by every cycle, so they can be set after the set-up. *done is false where a nodal solver has another
  smoother than l1-Jacobi.
*/
PetscErrorCode HopsCycleSetNodalWeight(PC pc, const HopsCycleAuxiliary *aux, PetscReal weight, PetscBool *done)
{
  void          *data      = HopsPCHYPREGetSolver(pc);
  hypre_AMSData *ams       = (hypre_AMSData *)data;
  HYPRE_Solver   solver[7] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  const char    *name;
  PetscBool      is, ads;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCHYPRE, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCHYPREGetType(pc, &name));
  PetscCall(PetscStrcmp(name, "ads", &ads));
  PetscCall(PetscStrcmp(name, "ams", &is));
  if (!is && !ads) PetscFunctionReturn(PETSC_SUCCESS);
  *done = PETSC_TRUE;
  if (ads) {
    const ADSData *a = (const ADSData *)data;

    PetscCall(Recognise(a, aux, done));
    if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
    for (int d = 0; d < 3; d++) solver[4 + d] = a->B_Pix[d];
    ams = (hypre_AMSData *)a->B_C;
  }
  solver[0] = ams->B_G;
  solver[1] = ams->B_Pix;
  solver[2] = ams->B_Piy;
  solver[3] = ams->B_Piz;
  for (int k = 0; k < 7; k++)
    if (solver[k]) {
      const HYPRE_Int *relax = hypre_ParAMGDataGridRelaxType((hypre_ParAMGData *)solver[k]);

      if (relax[1] != 18 || relax[2] != 18) *done = PETSC_FALSE;
    }
  for (int k = 0; k < 7 && *done; k++) /* the coarsest level may have another smoother */
    for (HYPRE_Int l = 0; solver[k] && l < hypre_ParAMGDataNumLevels((hypre_ParAMGData *)solver[k]) - 1; l++)
      PetscCallExternal(HYPRE_BoomerAMGSetLevelRelaxWt, solver[k], weight, l);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
