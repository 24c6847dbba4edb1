/*
  What the programs stranger_*.c share. They are DMPlex, PetscFE and PetscDS codes that know nothing of hops
  and include none of its headers: a plugin changes them by options alone. Each solves its problem as the
  options say, and then, if asked to, a second time with an assembled matrix, a direct solver and PETSc's own
  residual, on a mesh of its own, to compare.
*/
#pragma once
#include <petscdmplex.h>
#include <petscds.h>
#include <petscsf.h>
#include <petscsnes.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif
#if PETSC_VERSION_GE(3, 21, 0)
  #define StrangerSetLocalFEM(dm) DMPlexSetSNESLocalFEM(dm, PETSC_FALSE, NULL)
#else
  #define StrangerSetLocalFEM(dm) DMPlexSetSNESLocalFEM(dm, NULL, NULL, NULL)
#endif
#if PETSC_VERSION_GE(3, 24, 0)
typedef PetscErrorCodeFn *StrangerBoundary;
#else
typedef void (*StrangerBoundary)(void);
#endif

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define FUN POINT, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]
#define JAC POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]

/* a problem: what a program does to the mesh, and its field, equations and boundary conditions */
typedef struct {
  PetscErrorCode (*warp)(DM);
  PetscErrorCode (*discretise)(DM);
  PetscScalar guess;     /* where Newton's method starts */
  PetscBool   linear;    /* one linear solve */
  PetscBool   nullspace; /* constants */
} Stranger;

/* -------------------------------------- essential points -------------------------------------- */

typedef enum {
  BC_ALL,
  BC_VERTICES,
  BC_EDGES,
  BC_EDGESONLY,
  BC_FACES,
  BC_SOME,
  BC_ONEVERTEX,
  BC_INTERIOR,
  BC_EVERYTHING,
  BC_NONE
} BoundaryKind;
static const char *const boundaries[] = {"all",      "vertices",   "edges", "edgesonly",    "faces", "some", "onevertex",
                                         "interior", "everything", "none",  "BoundaryKind", "BC_",   NULL};

/* an arbitrary half of the points in space, the same on all ranks */
static inline PetscBool StrangerChance(const PetscReal x[])
{
  return PetscSinReal(12.9898 * x[0] + 78.233 * x[1] + 37.719 * x[2]) > 0.1 ? PETSC_TRUE : PETSC_FALSE;
}

/* mean of the vertices of a point of the mesh */
static inline PetscErrorCode StrangerCentre(DM dm, PetscInt p, PetscReal x[3])
{
  PetscSection section;
  Vec          coords;
  PetscInt     n, cdim;
  PetscScalar *a = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinateDim(dm, &cdim));
  PetscCall(DMGetCoordinateSection(dm, &section));
  PetscCall(DMGetCoordinatesLocal(dm, &coords));
  PetscCall(DMPlexVecGetClosure(dm, section, coords, p, &n, &a));
  x[0] = x[1] = x[2] = 0.0;
  for (PetscInt i = 0; i < n; ++i) x[i % cdim] += PetscRealPart(a[i]) * cdim / n;
  PetscCall(DMPlexVecRestoreClosure(dm, section, coords, p, &n, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least sum of the coordinates of a vertex of the mesh */
static inline PetscErrorCode StrangerCorner(DM dm, PetscReal *least)
{
  PetscReal mine = PETSC_MAX_REAL, x[3];
  PetscInt  vStart, vEnd;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(StrangerCentre(dm, v, x));
    mine = PetscMin(mine, x[0] + x[1] + x[2]);
  }
  PetscCallMPI(MPI_Allreduce(&mine, least, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a point of the boundary essential? */
static inline PetscErrorCode StrangerIsEssential(DM dm, BoundaryKind kind, PetscInt p, PetscReal corner, PetscBool *in)
{
  PetscReal x[3];
  PetscInt  dim, depth;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetPointDepth(dm, p, &depth));
  PetscCall(StrangerCentre(dm, p, x));
  *in = kind == BC_ALL ? PETSC_TRUE : PETSC_FALSE;
  if (kind == BC_VERTICES) *in = depth == 0 ? PETSC_TRUE : PETSC_FALSE;
  if (kind == BC_EDGES) *in = depth <= 1 ? PETSC_TRUE : PETSC_FALSE;
  if (kind == BC_EDGESONLY) *in = depth == 1 ? PETSC_TRUE : PETSC_FALSE;
  if (kind == BC_FACES) *in = depth == dim - 1 ? PETSC_TRUE : PETSC_FALSE;
  if (kind == BC_SOME) *in = StrangerChance(x);
  if (kind == BC_ONEVERTEX) *in = depth == 0 && x[0] + x[1] + x[2] < corner + 1e-10 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers at the points of the mesh, combined over the ranks that share a point */
static inline PetscErrorCode StrangerCombine(DM dm, PetscInt start, PetscInt end, PetscInt a[], MPI_Op op)
{
  PetscSF  sf;
  PetscInt nroots, *root;

  PetscFunctionBeginUser;
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, NULL, NULL, NULL));
  if (nroots < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(end - start, &root));
  PetscCall(PetscArraycpy(root, a, end - start));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, a, root, op));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, a, root, op));
  PetscCall(PetscArraycpy(a, root, end - start));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, root, a, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, root, a, MPI_REPLACE));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 at the points of the boundary; DMPlexMarkBoundaryFaces() of PETSc 3.18 counts faces between ranks among
   them */
static inline PetscErrorCode StrangerMarkBoundary(DM dm, PetscInt start, PetscInt end, PetscInt mark[])
{
  PetscSF         sf;
  const PetscInt *leaves, *cone;
  PetscInt       *cells, nroots, nleaves, cStart, cEnd, fStart, fEnd, size;

  PetscFunctionBeginUser;
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &leaves, NULL));
  PetscCall(PetscCalloc1(end - start, &cells)); /* of a face, on all ranks */
  for (PetscInt i = 0; i < nleaves; ++i) mark[(leaves ? leaves[i] : i) - start] = 1;
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    if (mark[c - start]) continue; /* another rank's */
    PetscCall(DMPlexGetConeSize(dm, c, &size));
    PetscCall(DMPlexGetCone(dm, c, &cone));
    for (PetscInt i = 0; i < size; ++i) ++cells[cone[i] - start];
  }
  PetscCall(StrangerCombine(dm, start, end, cells, MPI_SUM));
  PetscCall(PetscArrayzero(mark, end - start));
  for (PetscInt f = fStart; f < fEnd; ++f) {
    PetscInt *closure = NULL, n;

    if (cells[f - start] != 1) continue;
    PetscCall(DMPlexGetTransitiveClosure(dm, f, PETSC_TRUE, &n, &closure));
    for (PetscInt i = 0; i < n; ++i) mark[closure[2 * i] - start] = 1;
    PetscCall(DMPlexRestoreTransitiveClosure(dm, f, PETSC_TRUE, &n, &closure));
  }
  PetscCall(StrangerCombine(dm, start, end, mark, MPI_MAX));
  PetscCall(PetscFree(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A label with the value 1 at the essential points */
static inline PetscErrorCode StrangerLabel(DM dm, BoundaryKind kind, DMLabel *label)
{
  PetscReal corner, x[3];
  PetscInt *mark, start, end;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "essential"));
  PetscCall(DMGetLabel(dm, "essential", label));
  PetscCall(StrangerCorner(dm, &corner));
  PetscCall(DMPlexGetChart(dm, &start, &end));
  PetscCall(PetscCalloc1(end - start, &mark));
  PetscCall(StrangerMarkBoundary(dm, start, end, mark));
  for (PetscInt p = start; p < end; ++p) {
    PetscBool in = PETSC_FALSE;

    if (mark[p - start]) PetscCall(StrangerIsEssential(dm, kind, p, corner, &in));
    if (in) PetscCall(DMLabelSetValue(*label, p, 1));
  }
  PetscCall(PetscFree(mark));
  for (PetscInt p = start; p < end && kind == BC_EVERYTHING; ++p) PetscCall(DMLabelSetValue(*label, p, 1));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &start, &end));
  for (PetscInt c = start; c < end && kind == BC_INTERIOR; ++c) {
    PetscCall(StrangerCentre(dm, c, x));
    if (StrangerChance(x)) PetscCall(DMLabelSetValue(*label, c, 1));
  }
  if (kind == BC_INTERIOR) PetscCall(DMPlexLabelComplete(dm, *label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- the solve ----------------------------------------- */

/* The mesh and its discretisation, from options */
static inline PetscErrorCode StrangerCreate(const Stranger *s, DM *dm)
{
  PetscSection section;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  if (s->warp) PetscCall((*s->warp)(*dm));
  PetscCall(DMGetCoordinateSection(*dm, &section)); /* both made by all ranks together, read by those with cells */
  PetscCall(DMGetCoordinatesLocalSetUp(*dm));
  PetscCall((*s->discretise)(*dm));
  for (DM fine = *dm, coarse; fine; fine = coarse) {
    PetscCall(DMGetCoarseDM(fine, &coarse));
    if (coarse) PetscCall(DMCopyDisc(fine, coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Newton's method, or one linear solve. With a prefix by the direct solver, which GMRES corrects where the
  PetscDS has functions of a preconditioning matrix, or by Jacobi and CG, which do not mind singular matrices
*/
static inline PetscErrorCode StrangerSolve(const Stranger *s, DM dm, const char prefix[], SNES *snes, Vec *u)
{
  Mat A;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(SNESCreate(PETSC_COMM_WORLD, snes));
  PetscCall(SNESSetOptionsPrefix(*snes, prefix));
  PetscCall(SNESSetDM(*snes, dm));
  PetscCall(StrangerSetLocalFEM(dm));
  if (s->linear) PetscCall(SNESSetType(*snes, SNESKSPONLY));
  if (prefix) {
    PetscCall(SNESGetKSP(*snes, &ksp));
    PetscCall(KSPSetType(ksp, s->nullspace ? KSPCG : KSPGMRES));
    PetscCall(KSPSetTolerances(ksp, s->nullspace ? 1e-14 : 1e-13, 1e-300, PETSC_DEFAULT, s->nullspace ? 20000 : 100));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, s->nullspace ? PCJACOBI : PCREDUNDANT));
    PetscCall(SNESSetTolerances(*snes, 1e-300, 1e-13, 1e-14, 50, 10000));
  }
  PetscCall(SNESSetFromOptions(*snes));
  PetscCall(DMCreateGlobalVector(dm, u));
  PetscCall(PetscObjectSetName((PetscObject)*u, "solution"));
  PetscCall(VecSet(*u, s->guess));
  if (s->nullspace) {
    MatNullSpace constants;

    PetscCall(SNESSetUp(*snes));
    PetscCall(SNESGetJacobian(*snes, &A, NULL, NULL, NULL));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatSetTransposeNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(SNESSolve(*snes, NULL, *u));
  if (s->nullspace) {
    PetscScalar sum;
    PetscInt    n;

    PetscCall(VecGetSize(*u, &n));
    PetscCall(VecSum(*u, &sum));
    PetscCall(VecShift(*u, -sum / n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- the reference --------------------------------------- */

/* Options that the reference does without: those of plugins, and overlap, with which PETSc's own residual
   counts cells twice */
static const char *const hidden[][2] = {{"-dm_mat_type", "aij"}, {"-hops_residual", "0"}, {"-dm_distribute_overlap", "0"}};
#define NUM_HIDDEN 3

static inline PetscErrorCode StrangerCreateReference(const Stranger *s, DM *dm)
{
  char      value[NUM_HIDDEN][64];
  PetscBool set[NUM_HIDDEN];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < NUM_HIDDEN; ++i) {
    PetscCall(PetscOptionsGetString(NULL, NULL, hidden[i][0], value[i], sizeof(value[i]), &set[i]));
    PetscCall(PetscOptionsSetValue(NULL, hidden[i][0], hidden[i][1]));
  }
  PetscCall(StrangerCreate(s, dm));
  for (PetscInt i = 0; i < NUM_HIDDEN; ++i) {
    if (set[i]) PetscCall(PetscOptionsSetValue(NULL, hidden[i][0], value[i]));
    else PetscCall(PetscOptionsClearValue(NULL, hidden[i][0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a number that belongs to a component of a node; ctx: the lengths of the periods, or zero */
static PetscErrorCode StrangerKey(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal *L    = (const PetscReal *)ctx;
  PetscReal        y[3] = {0.0, 0.0, 0.0}, key = 0.0;

  for (PetscInt d = 0; d < dim; ++d) y[d] = L[d] > 0.0 ? x[d] - L[d] * PetscFloorReal(x[d] / L[d] + 1e-9) : x[d];
  key = y[0] + PETSC_PI * y[1] + PetscExpReal(1.0) * y[2];
  for (PetscInt c = 0; c < nc; ++c) u[c] = key + 17.1234567 * (c + 1);
  return PETSC_SUCCESS;
}

/* A vector's entries on every rank, and their order by the keys of the DM */
static inline PetscErrorCode StrangerGather(DM dm, Vec u, Vec *all, PetscInt **order)
{
  PetscErrorCode (*func[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {StrangerKey};
  Vec                key, keys;
  VecScatter         scatter;
  PetscInt           n, dim;
  PetscReal         *k;
  PetscScalar const *a;
  const PetscReal   *maxcell, *start, *L;
  PetscReal          period[3] = {0.0, 0.0, 0.0};
  void              *ctx[1]    = {period};

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetPeriodicity(dm, &maxcell, &start, &L));
  for (PetscInt d = 0; d < dim && L; ++d) period[d] = L[d];
  PetscCall(VecDuplicate(u, &key));
  PetscCall(DMProjectFunction(dm, 0.0, func, ctx, INSERT_VALUES, key));
  PetscCall(VecScatterCreateToAll(key, &scatter, &keys));
  PetscCall(VecScatterBegin(scatter, key, keys, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, key, keys, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecDuplicate(keys, all));
  PetscCall(VecScatterBegin(scatter, u, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, u, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecGetSize(keys, &n));
  PetscCall(PetscMalloc1(n, order));
  PetscCall(PetscMalloc1(n, &k));
  PetscCall(VecGetArrayRead(keys, &a));
  for (PetscInt i = 0; i < n; ++i) {
    k[i]        = PetscRealPart(a[i]);
    (*order)[i] = i;
  }
  PetscCall(VecRestoreArrayRead(keys, &a));
  PetscCall(PetscSortRealWithPermutation(n, k, *order));
  PetscCall(PetscFree(k));
  PetscCall(VecDestroy(&key));
  PetscCall(VecDestroy(&keys));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u of one DM as a vector of another on the same mesh, by the coordinates of the nodes: two meshes need not
   be distributed alike */
static inline PetscErrorCode StrangerTransfer(DM from, Vec u, DM to, Vec v)
{
  Vec                all, old;
  PetscInt          *order[2], n, m, start, end;
  PetscScalar const *a;
  PetscScalar       *b;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(u, &n));
  PetscCall(VecGetSize(v, &m));
  PetscCheck(n == m, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " of the reference", n, m);
  PetscCall(StrangerGather(from, u, &all, &order[0]));
  PetscCall(VecSet(v, 0.0));
  PetscCall(StrangerGather(to, v, &old, &order[1]));
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCall(VecGetArray(v, &b));
  for (PetscInt i = 0; i < n; ++i)
    if (order[1][i] >= start && order[1][i] < end) b[order[1][i] - start] = a[order[0][i]];
  PetscCall(VecRestoreArray(v, &b));
  PetscCall(VecRestoreArrayRead(all, &a));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(PetscFree(order[i]));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a solution lacks, against PETSc's own residual and assembled matrix */
typedef struct {
  PetscReal residual; /* |F(u)| / |F(guess)| */
  PetscReal energy;   /* sqrt(e.Ae / v.Av), where v solves and e = u - v */
  PetscReal l2;       /* |e| / |v| */
} StrangerErrors;

static inline PetscErrorCode StrangerMeasure(SNES snes, PetscScalar guess, Vec u, Vec v, StrangerErrors *err)
{
  Mat          A;
  MatNullSpace constants;
  Vec          e, r;
  PetscReal    f, f0, n;
  PetscScalar  ee, vv;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &e));
  PetscCall(VecDuplicate(u, &r));
  PetscCall(VecSet(e, guess));
  PetscCall(SNESComputeFunction(snes, e, r));
  PetscCall(VecNorm(r, NORM_2, &f0));
  PetscCall(SNESComputeFunction(snes, u, r));
  PetscCall(SNESGetJacobian(snes, &A, NULL, NULL, NULL));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, r)); /* what no solution balances */
  PetscCall(VecNorm(r, NORM_2, &f));
  PetscCall(MatMult(A, v, r));
  PetscCall(VecDot(v, r, &vv));
  PetscCall(VecWAXPY(e, -1.0, v, u));
  PetscCall(MatMult(A, e, r));
  PetscCall(VecDot(e, r, &ee));
  PetscCall(VecNorm(e, NORM_2, &err->l2));
  PetscCall(VecNorm(v, NORM_2, &n));
  err->l2 /= n > 0.0 ? n : 1.0;
  err->residual = f / (f0 > 0.0 ? f0 : 1.0);
  err->energy   = PetscSqrtReal(PetscAbsScalar(ee) / (PetscAbsScalar(vv) > 0.0 ? PetscAbsScalar(vv) : 1.0));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The problem again, with an assembled matrix and a direct solver, on a mesh without overlap */
static inline PetscErrorCode StrangerCompare(const Stranger *s, DM dm, Vec u, StrangerErrors *err)
{
  DM      ref;
  SNES    snes;
  Vec     v, w;
  MatType type;
  Mat     A;

  PetscFunctionBeginUser;
  PetscCall(StrangerCreateReference(s, &ref));
  PetscCall(StrangerSolve(s, ref, "ref_", &snes, &v));
  PetscCall(SNESGetJacobian(snes, &A, NULL, NULL, NULL));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscInfo(snes, "The reference's matrix has type %s\n", type));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(StrangerTransfer(dm, u, ref, w));
  PetscCall(StrangerMeasure(snes, s->guess, w, v, err));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&ref));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ verdicts ------------------------------------------ */

static inline PetscErrorCode StrangerSayConverged(SNES snes, Vec u)
{
  KSP                 ksp;
  SNESConvergedReason reason;
  KSPConvergedReason  kreason;
  PetscReal           norm;
  const char         *word;

  PetscFunctionBeginUser;
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetConvergedReason(ksp, &kreason));
  PetscCall(VecNorm(u, NORM_2, &norm));
  word = reason > 0 && kreason >= 0 ? "converged" : "DIVERGED";
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s\n", word, PetscIsInfOrNanReal(norm) ? " to NOT A NUMBER" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Solves, and says what the options ask for:
    -most_its <n>       : were there at most n linear iterations?
    -reference <bound>  : does the solution agree with that of an assembled matrix, relative in the 2-norm?
    -check_solution     : its errors in numbers
*/
static inline PetscErrorCode StrangerRun(const Stranger *s, PetscInt *its)
{
  DM                 dm;
  SNES               snes;
  KSP                ksp;
  KSPConvergedReason reason;
  Vec                u;
  PetscInt           most  = PETSC_DEFAULT, n;
  PetscReal          bound = 0.0;
  PetscBool          some, numbers = PETSC_FALSE;
  StrangerErrors     err;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most_its", &most, &some));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reference", &bound, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check_solution", &numbers, NULL));
  PetscCall(StrangerCreate(s, &dm));
  PetscCall(StrangerSolve(s, dm, NULL, &snes, &u));
  PetscCall(StrangerSayConverged(snes, u));
  PetscCall(SNESGetLinearSolveIterations(snes, its));
  if (some && *its <= most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as expected\n"));
  else if (some) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " ITERATIONS\n", *its));
  if (bound > 0.0 || numbers) PetscCall(StrangerCompare(s, dm, u, &err));
  if (bound > 0.0 && err.l2 <= bound) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the solution is PETSc's\n"));
  else if (bound > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the solution DIFFERS from PETSc's by %g\n", (double)err.l2));
  if (numbers) {
    PetscCall(VecGetSize(u, &n));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns %" PetscInt_FMT " iterations %" PetscInt_FMT " ", n, *its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason %s\n", KSPConvergedReasons[reason]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %.3e ", (double)err.residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "energy %.3e error %.3e\n", (double)err.energy, (double)err.l2));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
