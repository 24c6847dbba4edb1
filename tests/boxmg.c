static char help[] =
  "A uniform box on a device against MATPA, MATHOPSINTERP and dense local solves on the host: operator, transfers, direct\n\
  solver, V-cycle, and the solve.\n\
  -dim <d> -orders <p,...> -coarse <n0,n1,n2> : cells of the coarsest mesh\n\
  -refine <n>                                 : levels above it\n\
  -errors                                     : print the largest differences in either precision\n\
  -counts                                     : cycles of full multigrid in 3D instead\n\
  -refused                                    : what raises an error that names the remedy, without a device\n\n";

#include <petscsys.h>
#if defined(PETSC_HAVE_CUDA)
  #include "boxlevels.h" /* first: petscshim.h comes after PETSc's private headers */
#endif
#include "hopsexpect.h"

static PetscErrorCode Refused(void)
{
  const PetscInt  n[3] = {4, 4, 4}, none[3] = {4, 0, 4}, huge[3] = {400, 400, 400};
  const PetscReal negative[3] = {1.0, -1.0, 1.0};
  PetscMPIInt     size;
  PetscReal      *x;
  PetscInt        nx;
  Mat             A = NULL, B;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(HopsInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1)
    EXPECT("several processes", MatCreateHopsBox(PETSC_COMM_WORLD, 3, 2, n, NULL, NULL, 0.0, &A), "one device|PETSC_COMM_SELF");
  EXPECT("one dimension", MatCreateHopsBox(PETSC_COMM_SELF, 1, 2, n, NULL, NULL, 0.0, &A), "2 or 3 dimensions");
  EXPECT("order 9", MatCreateHopsBox(PETSC_COMM_SELF, 3, 9, n, NULL, NULL, 0.0, &A), "orders 1 to 8|MATPA");
  EXPECT("reaction", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, NULL, -1.0, &A), "reaction -1");
  EXPECT("no cells", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, none, NULL, NULL, 0.0, &A), "0 cells in direction 1");
  EXPECT("length", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, negative, NULL, 0.0, &A), "length -1");
  EXPECT("diffusion", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, negative, 0.0, &A), "direction 1 is -1");
  if (sizeof(PetscInt) == 4)
    EXPECT("too many nodes", MatCreateHopsBox(PETSC_COMM_SELF, 3, 8, huge, NULL, NULL, 0.0, &A), "64-bit indices");
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "too many nodes: refused\n"));
#if !defined(PETSC_HAVE_CUDA)
  EXPECT("no CUDA", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, NULL, 0.0, &A), "no back end \"cuda\"");
#else
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no CUDA: refused\n"));
#endif
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &B));
  PetscCall(MatSetValue(B, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 1, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  EXPECT("nodes of another matrix", MatHopsBoxGetNodes(B, 0, &nx, &x), "not hopsbox|MatCreateHopsBox()");
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetType(pc, PCBOXMG));
  EXPECT("preconditioner of another matrix", PCSetUp(pc), "MatCreateHopsBox()|hopsmg");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
static PetscReal errmax[2];

static PetscErrorCode Check(const char what[], PetscInt order, PetscBool single, PetscInt n, const PetscReal ref[],
                            const PetscReal x[], PetscReal tol)
{
  PetscReal num = 0.0, den = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    num += PetscSqr(ref[i] - x[i]);
    den += PetscSqr(ref[i]);
  }
  num = PetscSqrtReal(num / den);
  if (!(num <= errmax[single])) errmax[single] = num;
  if (!(num < tol))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision: %s differs by %.2e\n", order,
                          single ? "single" : "double", what, (double)num));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Device vectors in either precision ---- */

static PetscErrorCode Up(PetscInt n, const PetscReal h[], PetscBool single, void **d)
{
  float *s;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc(d, n * (single ? 4 : 8)));
  if (!h) PetscCallCUDA(cudaMemset(*d, 0xff, n * (single ? 4 : 8))); /* NaN: what is not written shows */
  else if (!single) PetscCallCUDA(cudaMemcpy(*d, h, n * 8, cudaMemcpyHostToDevice));
  else {
    PetscCall(PetscMalloc1(n, &s));
    for (PetscInt i = 0; i < n; ++i) s[i] = (float)h[i];
    PetscCallCUDA(cudaMemcpy(*d, s, n * 4, cudaMemcpyHostToDevice));
    PetscCall(PetscFree(s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* frees d; the inner nodes */
static PetscErrorCode Down(const Level *l, PetscBool single, void **d, PetscReal h[])
{
  const PetscInt n = l->nodes[0] * l->nodes[1] * l->nodes[2];
  void          *s;
  PetscReal     *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(n * 8, &s));
  PetscCall(PetscCalloc1(n, &all));
  PetscCallCUDA(cudaMemcpy(s, *d, n * (single ? 4 : 8), cudaMemcpyDeviceToHost));
  for (PetscInt i = 0; i < n; ++i) all[i] = single ? ((float *)s)[i] : ((double *)s)[i];
  for (PetscInt i = 0; i < n; ++i) h[i] = 0.0;
  for (PetscInt i = 0; i < l->n; ++i) h[l->at[i]] = all[l->at[i]];
  PetscCall(PetscFree(s));
  PetscCall(PetscFree(all));
  PetscCallCUDA(cudaFree(*d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* random values, inside alone, that floats hold */
static PetscErrorCode Random(const Level *l, PetscRandom rand, PetscReal x[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(x, l->nodes[0] * l->nodes[1] * l->nodes[2]));
  for (PetscInt i = 0; i < l->n; ++i) {
    PetscReal v;

    PetscCall(PetscRandomGetValueReal(rand, &v));
    x[l->at[i]] = (float)v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors on the nodes of a fine box and of the next coarser one, and two of the fine one's on the device */
typedef struct {
  Level             *fine, *coarse;
  const HopsBoxForm *f;
  PetscBool          single;
  PetscInt           n, nc; /* nodes */
  double             tol;
  HopsCudaBox        k;
  PetscReal         *x, *b, *c, *ref, *y;
  void              *dx, *db;
} Case;

/* The norm whose squares kernels leave as partial sums, which are freed */
static PetscErrorCode Norm(int blocks, void *partial, double *norm)
{
  void *sum;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc(&sum, 8));
  PetscCall(HopsCudaBoxSum(blocks, (double *)partial, (double *)sum, 0));
  PetscCallCUDA(cudaMemcpy(norm, sum, 8, cudaMemcpyDeviceToHost));
  *norm = PetscSqrtReal(*norm);
  PetscCallCUDA(cudaFree(sum));
  PetscCallCUDA(cudaFree(partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b - A x with its norm, which is left on the host in fine->v */
static PetscErrorCode Residuals(Case *t)
{
  Level    *fine = t->fine;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(ToMesh(fine, t->x, fine->u));
  PetscCall(MatMult(fine->A, fine->u, fine->v));
  PetscCall(ToMesh(fine, t->b, fine->u));
  PetscCall(VecAYPX(fine->v, -1.0, fine->u));
  PetscCall(VecNorm(fine->v, NORM_2, &norm));
  PetscCall(FromMesh(fine, fine->v, t->ref));
  for (PetscInt i = t->single; i < 2; ++i) {
    const PetscBool single = i ? PETSC_TRUE : PETSC_FALSE;
    const int       blocks = (*t->k->k->Blocks)(t->k);
    void           *dy, *partial;
    double          sum;

    PetscCallCUDA(cudaMalloc(&partial, blocks * 8));
    PetscCall(Up(t->n, NULL, single, &dy));
    PetscCall((*t->k->k->Residual)(t->k, t->db, t->dx, single, 1.0, dy, (double *)partial, 0));
    PetscCall(Norm(blocks, partial, &sum));
    PetscCall(Check("norm of the residual", t->f->order, t->single, 1, &norm, &sum, t->tol));
    PetscCall(Down(fine, single, &dy, t->y));
    PetscCall(Check("residual", t->f->order, single, t->n, t->ref, t->y, single ? 2e-5 : t->tol));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the residual in fine->v: apart from it, and in one kernel with it */
static PetscErrorCode Restrictions(Case *t)
{
  const HopsBoxForm *f = t->f;
  HopsCudaBox        k = t->k;

  PetscFunctionBeginUser;
  PetscCall(MatMultTranspose(t->fine->P, t->fine->v, t->coarse->u));
  PetscCall(FromMesh(t->coarse, t->coarse->u, t->ref));
  for (PetscInt fused = 0; fused < 2; ++fused) {
    const PetscBool all = f->dim == 3 && fused && t->single ? PETSC_TRUE : PETSC_FALSE;
    int             blocks;
    void           *t0, *t1, *dc, *dy;

    PetscCall(Up(all ? (PetscInt)((*k->k->CoarseSums)(k, &blocks) / 4) : t->n, NULL, t->single, &t0));
    PetscCall(Up(t->n, NULL, t->single, &t1));
    PetscCall(Up(t->nc, NULL, t->single, &dc));
    if (all) PetscCall((*k->k->Coarse)(k, t->db, t->dx, t0, dc, NULL, 0));
    else if (fused) PetscCall((*k->k->ResidualRestrict)(k, t->db, t->dx, t0, 0));
    else {
      PetscCall(Up(t->n, NULL, t->single, &dy));
      PetscCall((*k->k->Residual)(k, t->db, t->dx, PETSC_FALSE, 1.0, dy, NULL, 0));
      PetscCall((*k->k->Restrict)(k, f->dim - 1, dy, t0, 0));
      PetscCallCUDA(cudaFree(dy));
    }
    if (f->dim == 3 && !all) PetscCall((*k->k->Restrict)(k, 1, t0, t1, 0));
    if (!all) PetscCall((*k->k->Restrict)(k, 0, f->dim == 3 ? t1 : t0, dc, 0));
    PetscCall(Down(t->coarse, t->single, &dc, t->y));
    PetscCall(Check(fused ? "restricted residual" : "restriction", f->order, t->single, t->nc, t->ref, t->y, t->tol));
    PetscCallCUDA(cudaFree(t0));
    PetscCallCUDA(cudaFree(t1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of b, with its norm, in 3D and double precision */
static PetscErrorCode RestrictionWithNorm(Case *t)
{
  Level      *fine = t->fine, *coarse = t->coarse;
  HopsCudaBox k = t->k;
  PetscReal   norm;
  void       *t0, *dc, *partial;
  int         blocks;
  double      sum;

  PetscFunctionBeginUser;
  PetscCall(ToMesh(fine, t->b, fine->u));
  PetscCall(VecNorm(fine->u, NORM_2, &norm));
  PetscCall(MatMultTranspose(fine->P, fine->u, coarse->u));
  PetscCall(FromMesh(coarse, coarse->u, t->ref));
  PetscCall(Up((PetscInt)((*k->k->CoarseSums)(k, &blocks) / 8), NULL, t->single, &t0));
  PetscCall(Up(t->nc, NULL, t->single, &dc));
  PetscCallCUDA(cudaMalloc(&partial, blocks * 8));
  PetscCall((*k->k->Coarse)(k, t->db, NULL, t0, dc, (double *)partial, 0));
  PetscCall(Norm(blocks, partial, &sum));
  PetscCall(Check("norm of a restricted vector", t->f->order, t->single, 1, &norm, &sum, t->tol));
  PetscCall(Down(coarse, t->single, &dc, t->y));
  PetscCall(Check("restricted vector", t->f->order, t->single, t->nc, t->ref, t->y, t->tol));
  PetscCallCUDA(cudaFree(t0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of c, which is left on the host in coarse->u */
static PetscErrorCode Prolongations(Case *t, PetscRandom rand)
{
  Level      *fine = t->fine, *coarse = t->coarse;
  HopsCudaBox k = t->k;

  PetscFunctionBeginUser;
  PetscCall(Random(coarse, rand, t->c));
  PetscCall(ToMesh(coarse, t->c, coarse->u));
  for (PetscInt add = 0; add < 2; ++add) {
    void *dc, *dy;

    PetscCall(ToMesh(fine, t->x, fine->u));
    if (add) PetscCall(MatMultAdd(fine->P, coarse->u, fine->u, fine->v));
    else PetscCall(MatMult(fine->P, coarse->u, fine->v));
    PetscCall(FromMesh(fine, fine->v, t->ref));
    PetscCall(Up(t->nc, t->c, t->single, &dc));
    PetscCall(Up(t->n, add ? t->x : NULL, t->single, &dy));
    PetscCall((*k->k->Prolong)(k, dc, k->single, 1.0, NULL, add ? dy : NULL, dy, 0));
    PetscCall(Down(fine, t->single, &dy, t->y));
    PetscCall(Check(add ? "added prolongation" : "prolongation", t->f->order, t->single, t->n, t->ref, t->y, t->tol));
    PetscCallCUDA(cudaFree(dc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In double precision: P c + x / 2 for floats x, and b - A P c with its norm, of doubles c */
static PetscErrorCode Prolonged(Case *t)
{
  const double factors[2] = {2.0, 0.25};
  Level       *fine = t->fine, *coarse = t->coarse;
  HopsCudaBox  k      = t->k;
  const int    blocks = (*k->k->ProlongedBlocks)(k);
  PetscReal    norm;
  void        *partial, *dc, *dx, *dy;
  double      *factor, sum;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc((void **)&factor, sizeof(factors)));
  PetscCallCUDA(cudaMemcpy(factor, factors, sizeof(factors), cudaMemcpyHostToDevice));
  PetscCall(ToMesh(fine, t->x, fine->u));
  PetscCall(VecScale(fine->u, 0.5));
  PetscCall(MatMultAdd(fine->P, coarse->u, fine->u, fine->v));
  PetscCall(FromMesh(fine, fine->v, t->ref));
  PetscCall(Up(t->nc, t->c, PETSC_FALSE, &dc));
  PetscCall(Up(t->n, t->x, PETSC_TRUE, &dx));
  PetscCall(Up(t->n, NULL, PETSC_FALSE, &dy));
  PetscCall((*k->k->Prolong)(k, dc, PETSC_TRUE, 2.0, factor + 1, dx, dy, 0));
  PetscCall(Down(fine, PETSC_FALSE, &dy, t->y));
  PetscCall(Check("prolongation with floats added", t->f->order, PETSC_FALSE, t->n, t->ref, t->y, t->tol));
  PetscCallCUDA(cudaFree(dx));
  PetscCall(MatMult(fine->P, coarse->u, fine->u));
  PetscCall(MatMult(fine->A, fine->u, fine->v));
  PetscCall(ToMesh(fine, t->b, fine->u));
  PetscCall(VecAYPX(fine->v, -1.0, fine->u));
  PetscCall(VecNorm(fine->v, NORM_2, &norm));
  PetscCall(FromMesh(fine, fine->v, t->ref));
  for (PetscInt i = 0; i < t->n; ++i) t->ref[i] *= 2.0;
  PetscCall(Up(t->n, NULL, PETSC_TRUE, &dy));
  PetscCallCUDA(cudaMalloc(&partial, blocks * 8));
  PetscCall((*k->k->ResidualProlonged)(k, t->db, dc, factor, dy, (double *)partial, 0));
  PetscCall(Norm(blocks, partial, &sum));
  PetscCall(Check("norm of the residual of a prolonged function", t->f->order, PETSC_FALSE, 1, &norm, &sum, t->tol));
  PetscCall(Down(fine, PETSC_TRUE, &dy, t->y));
  PetscCall(Check("residual of a prolonged function", t->f->order, PETSC_TRUE, t->n, t->ref, t->y, 2e-7));
  PetscCallCUDA(cudaFree(dc));
  PetscCallCUDA(cudaFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A (solution) = c on the coarse box, whose coefficients are those of cells of twice the size; c lies in
   coarse->u */
static PetscErrorCode Direct(Case *t)
{
  const HopsBoxForm *f      = t->f;
  Level             *coarse = t->coarse;
  PetscReal          d[3];
  void              *dc, *dy;
  HopsCudaBox        k;
  HopsCudaBoxDirect  direct;

  PetscFunctionBeginUser;
  for (PetscInt a = 0; a < 3; ++a)
    if (coarse->nodes[a] > HOPS_BOX_COARSE) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt a = 0; a < 3; ++a) d[a] = f->d[a] * (f->dim == 3 ? 2.0 : 1.0);
  PetscCall(
    HopsCudaBoxCreate(f->dim, f->order, f->A1, f->M1, f->J, d, f->m * (f->dim == 3 ? 8.0 : 4.0), coarse->ncells, t->single, &k));
  PetscCall(HopsCudaBoxDirectCreate(k, &direct));
  PetscCall(MatMult(coarse->A, coarse->u, coarse->v));
  PetscCall(FromMesh(coarse, coarse->v, t->ref));
  PetscCall(Up(t->nc, t->ref, t->single, &dc));
  PetscCall(Up(t->nc, NULL, t->single, &dy));
  PetscCall(HopsCudaBoxDirectSolve(&direct, dc, dy, 0));
  PetscCall(Down(coarse, t->single, &dy, t->y));
  PetscCall(Check("direct solver", f->order, t->single, t->nc, t->c, t->y, t->single ? 1e-3 : 1e-11));
  PetscCallCUDA(cudaFree(dc));
  PetscCall(HopsCudaBoxDirectDestroy(&direct));
  PetscCall(HopsCudaBoxDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kernels(Level *l, PetscInt top, const HopsBoxForm *f, PetscBool single, PetscRandom rand)
{
  Level *fine = l + top, *coarse = fine - 1;
  Case   t = {.fine = fine, .coarse = coarse, .f = f, .single = single, .tol = single ? 2e-5 : 2e-12};

  PetscFunctionBeginUser;
  t.n  = fine->nodes[0] * fine->nodes[1] * fine->nodes[2];
  t.nc = coarse->nodes[0] * coarse->nodes[1] * coarse->nodes[2];
  PetscCall(PetscMalloc5(t.n, &t.x, t.n, &t.b, t.n, &t.ref, t.n, &t.y, t.n, &t.c));
  PetscCall(HopsCudaBoxCreate(f->dim, f->order, f->A1, f->M1, f->J, f->d, f->m, fine->ncells, single, &t.k));
  PetscCall(Random(fine, rand, t.x));
  PetscCall(Random(fine, rand, t.b));
  PetscCall(Up(t.n, t.x, single, &t.dx));
  PetscCall(Up(t.n, t.b, single, &t.db));
  PetscCall(Residuals(&t));
  PetscCall(Restrictions(&t));
  if (f->dim == 3 && !single) PetscCall(RestrictionWithNorm(&t));
  PetscCall(Prolongations(&t, rand));
  if (!single) PetscCall(Prolonged(&t));
  PetscCall(Direct(&t));
  PetscCallCUDA(cudaFree(t.dx));
  PetscCallCUDA(cudaFree(t.db));
  PetscCall(HopsCudaBoxDestroy(&t.k));
  PetscCall(PetscFree5(t.x, t.b, t.ref, t.y, t.c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetVec(Vec v, PetscInt n, const PetscReal x[])
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &a));
  PetscCall(PetscArraycpy(a, x, n));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckVec(const char what[], const Level *l, PetscBool single, const PetscReal ref[], Vec v, PetscReal tol)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(Check(what, l->order, single, l->nodes[0] * l->nodes[1] * l->nodes[2], ref, a, tol));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCBOXMG with every combination of its options, against the cycle on the host */
static PetscErrorCode Cycles(Level *l, PetscInt top, Mat A, const HopsBoxForm *f, const PetscReal b[], Vec db, Vec dx)
{
  Level         *fine = l + top;
  const PetscInt n    = fine->nodes[0] * fine->nodes[1] * fine->nodes[2];
  PetscReal     *x;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &x));
  for (PetscInt symmetric = 0; symmetric < 2; ++symmetric) {
    PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_direction", symmetric ? "symmetric" : "forward"));
    PetscCall(Reference(l, top, f, top, symmetric ? PETSC_TRUE : PETSC_FALSE, b, x));
    for (PetscInt single = 0; single < 2; ++single)
      for (PetscInt graph = 0; graph < 2; ++graph) {
        PC pc;

        PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetType(pc, PCBOXMG));
        PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
        PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_graph", graph ? "1" : "0"));
        PetscCall(PCSetFromOptions(pc));
        for (PetscInt i = 0; i < 2; ++i) { /* twice: nothing is left from the first time */
          PetscCall(PCApply(pc, db, dx));
          PetscCall(CheckVec(symmetric ? "symmetric cycle" : "cycle", fine, single ? PETSC_TRUE : PETSC_FALSE, x, dx,
                             single ? 2e-4 : 1e-10));
        }
        PetscCall(PCDestroy(&pc));
      }
  }
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_direction", "forward"));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, PetscInt single, PetscInt maxits, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPRICHARDSON));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCBOXMG));
  PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, 0.0, PETSC_DEFAULT, maxits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solve, from zero, from an initial guess, and from NaN that is ignored: A x = b on the host */
static PetscErrorCode Solves(Level *fine, Mat A, const PetscReal b[], Vec db, Vec dx)
{
  PetscFunctionBeginUser;
  for (PetscInt single = 0; single < 2; ++single)
    for (PetscInt guess = 0; guess < 3; ++guess) {
      KSP                ksp;
      PetscReal          bnorm, rnorm;
      const PetscScalar *xa;

      PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_ignore_guess", guess == 2 ? "1" : "0"));
      PetscCall(CreateSolver(A, single, 30, &ksp));
      if (guess) {
        PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
        if (guess == 2) PetscCall(VecSet(dx, NAN));
        else PetscCall(VecCopy(db, dx));
      }
      PetscCall(KSPSolve(ksp, db, dx));
      PetscCall(VecGetArrayRead(dx, &xa));
      PetscCall(ToMesh(fine, xa, fine->u));
      PetscCall(VecRestoreArrayRead(dx, &xa));
      PetscCall(MatMult(fine->A, fine->u, fine->v));
      PetscCall(ToMesh(fine, b, fine->u));
      PetscCall(VecNorm(fine->u, NORM_2, &bnorm));
      PetscCall(VecAXPY(fine->v, -1.0, fine->u));
      PetscCall(VecNorm(fine->v, NORM_2, &rnorm));
      if (!(rnorm <= 1.01e-9 * bnorm))
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision: the solve leaves %.2e\n", fine->order,
                              single ? "single" : "double", (double)(rnorm / bnorm)));
      PetscCall(KSPDestroy(&ksp));
    }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_boxmg_ignore_guess"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b is 1 on the boundary too, so with essential values, by the residual of the operator */
static PetscErrorCode SolvesEssential(Level *fine, Mat A, Vec db, Vec dx)
{
  PetscFunctionBeginUser;
  for (PetscInt single = 0; single < 2; ++single) {
    KSP       ksp;
    PetscReal rnorm, bnorm;
    Vec       r;

    PetscCall(VecDuplicate(db, &r));
    PetscCall(VecSet(db, 1.0));
    PetscCall(CreateSolver(A, single, 50, &ksp));
    PetscCall(KSPSolve(ksp, db, dx));
    PetscCall(MatMult(A, dx, r));
    PetscCall(VecAXPY(r, -1.0, db));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
    PetscCall(VecNorm(db, NORM_2, &bnorm));
    if (!(rnorm <= 1.01e-9 * bnorm))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision, essential values: the solve leaves %.2e\n",
                            fine->order, single ? "single" : "double", (double)(rnorm / bnorm)));
    PetscCall(VecDestroy(&r));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's objects: MATHOPSBOX and PCBOXMG */
static PetscErrorCode Objects(Level *l, PetscInt top, Mat A, const HopsBoxForm *f, PetscRandom rand)
{
  Level         *fine = l + top;
  const PetscInt n    = fine->nodes[0] * fine->nodes[1] * fine->nodes[2];
  PetscReal     *b, *x;
  Vec            db, dx;
  char           levels[16];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &b, n, &x));
  PetscCall(MatCreateVecs(A, &dx, &db));
  PetscCall(Random(fine, rand, b));
  PetscCall(ToMesh(fine, b, fine->u));
  PetscCall(MatMult(fine->A, fine->u, fine->v));
  PetscCall(FromMesh(fine, fine->v, x));
  PetscCall(SetVec(db, n, b));
  PetscCall(MatMult(A, db, dx));
  PetscCall(CheckVec("MatMult()", fine, PETSC_FALSE, x, dx, 2e-12));
  PetscCall(PetscSNPrintf(levels, sizeof(levels), "%" PetscInt_FMT, top + 1));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_levels", levels));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_coarse_nodes", "0"));
  PetscCall(Cycles(l, top, A, f, b, db, dx));
  PetscCall(Solves(fine, A, b, db, dx));
  PetscCall(SolvesEssential(fine, A, db, dx));
  PetscCall(VecDestroy(&db));
  PetscCall(VecDestroy(&dx));
  PetscCall(PetscFree2(b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full multigrid for f = 1 on the unit cube of 8^3 cells, down to one cell: cycles after the nested
   iteration, against those of PCHOPSMG with the same patches on the host
   (docs/performance/multigrid-full.md), one more at most, and the same in both precisions */
static PetscErrorCode Counts(PetscInt order)
{
  const PetscInt n[3] = {8, 8, 8}, P = order + 1, N = 8 * order + 1, host[9] = {0, 5, 4, 2, 1, 1, 1, 1, 1};
  PetscReal      A1[256], M1[256], g[65];
  PetscInt       its[2];
  PetscScalar   *a;
  Mat            A;
  Vec            b, x;

  PetscFunctionBeginUser;
  PetscCall(PatchRefCell(order, A1, M1));
  PetscCall(PetscArrayzero(g, N));
  for (PetscInt c = 0; c < 8; ++c)
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) g[c * order + i] += M1[i * P + j] / 8.0;
  g[0] = g[N - 1] = 0.0;
  PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, 3, order, n, NULL, NULL, 0.0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = 0; i < N * N * N; ++i) a[i] = g[i % N] * g[i / N % N] * g[i / N / N];
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_coarse_nodes", "0"));
  for (PetscInt single = 0; single < 2; ++single) {
    KSP ksp;
    PC  pc;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetTolerances(ksp, 1e-9, 0.0, PETSC_DEFAULT, 50));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCBOXMG));
    PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[single]));
    PetscCall(KSPDestroy(&ksp));
  }
  if (its[0] != its[1] || its[0] > host[order] + 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "order %" PetscInt_FMT ": %" PetscInt_FMT " cycles in double precision, %" PetscInt_FMT
                          " in single, %" PetscInt_FMT " on the host\n",
                          order, its[0], its[1], host[order]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Device(void)
{
  PetscInt    dim = 3, orders[8], norders = 8, nc = 3, coarse[3] = {1, 1, 1}, refine = 2;
  PetscBool   set, errors = PETSC_FALSE, counts = PETSC_FALSE;
  PetscRandom rand;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "host")); /* of the reference */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &norders, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-coarse", coarse, &nc, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &refine, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-counts", &counts, NULL));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetType(rand, PETSCRAND48));
  PetscCall(PetscRandomSetInterval(rand, -1.0, 1.0));
  for (PetscInt o = 0; o < norders; ++o) {
    Level              l[8];
    Mat                A;
    const HopsBoxForm *f;
    const HopsBoxOps  *ops;

    if (counts) {
      PetscCall(Counts(orders[o]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT " counted\n", orders[o]));
      continue;
    }
    PetscCall(PetscMemzero(l, sizeof(l)));
    errmax[0] = errmax[1] = 0.0;
    PetscCall(CreateLevels(dim, orders[o], coarse, refine + 1, l));
    PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, dim, orders[o], l[refine].ncells, sides, kappas, reaction, &A));
    PetscCall(MatHopsBoxGetForm(A, &f, &ops));
    PetscCall(Kernels(l, refine, f, PETSC_FALSE, rand));
    PetscCall(Kernels(l, refine, f, PETSC_TRUE, rand));
    PetscCall(Objects(l, refine, A, f, rand));
    PetscCall(MatDestroy(&A));
    for (PetscInt k = 0; k <= refine; ++k) {
      PetscCall(VecDestroy(&l[k].u));
      PetscCall(VecDestroy(&l[k].v));
      PetscCall(MatDestroy(&l[k].A));
      PetscCall(MatDestroy(&l[k].P));
      PetscCall(HopsSpaceDestroy(&l[k].space));
      PetscCall(PetscFree(l[k].at));
    }
    if (errors) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest differences %.1e, %.1e\n", (double)errmax[0], (double)errmax[1]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT " checked\n", orders[o]));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Device(void)
{
  PetscFunctionBeginUser;
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif

int main(int argc, char **argv)
{
  PetscBool refused = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refused", &refused, NULL));
  PetscCall(refused ? Refused() : Device());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -refused
    test:
      suffix: refused_one
    test:
      suffix: refused_two
      nsize: 2
      filter: grep processes

  test:
    requires: cuda
    suffix: cuda_2d
    args: -dim 2 -orders 1,2,3,4,5,6,7,8 -coarse 3,2 -refine 2

  test:
    requires: cuda
    suffix: cuda_2d_deep
    args: -dim 2 -orders 2,3,7 -coarse 2,1 -refine 4

  test:
    requires: cuda
    suffix: cuda_3d
    args: -dim 3 -orders 1,2,3,4 -coarse 2,3,2 -refine 1

  test:
    requires: cuda
    suffix: cuda_3d_high
    args: -dim 3 -orders 2,5,6,7 -coarse 1,1,2 -refine 1
    timeoutfactor: 3

  test:
    requires: cuda
    suffix: cuda_3d_8
    args: -dim 3 -orders 8 -coarse 1,1,1 -refine 1
    timeoutfactor: 5

  test:
    requires: cuda
    suffix: cuda_counts
    args: -counts -orders 1,2,3,4,5,6,7,8

  test:
    requires: cuda
    suffix: cuda_3d_wide
    args: -dim 3 -orders 1,2 -coarse 5,3,2 -refine 2

TEST*/
