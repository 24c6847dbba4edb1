static char help[] =
  "H(curl), H(div) and L2 from arrays: against the space of a DMPlex, against arrays written down for a box, and contradictions.\n\
  -family <HCURL,HDIV,L2> -order <p>\n\
  -what <plex>  : numbers and signs of a DMPlex space, shuffled: the same operator, low-order-refined matrix and solution;\n\
                  -flat: not bent; -device <name>: from arrays in that back end's memory\n\
  -half         : the mass coefficient is zero in half of the cells, and the right-hand side in the range\n\
  -what <box>   : lines and faces of a box numbered by hand, -dim <d> -cells <n,n,n>\n\
  -what <errors>: data that contradict each other\n\
  -what <remote>: a sign that two ranks see differently\n\n";

#include "formarrays.h" /* reads numbers and signs of DMPlex spaces */
#include "hopsexpect.h"

static HopsFamily family = HOPS_HCURL;
static PetscBool  half   = PETSC_FALSE;

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + i + x[i % dim] - 2.0 * x[(i + 1) % dim]) + x[(i + 1) % dim];
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscExpReal(0.3 * x[i % dim]) - i + x[(i + 1) % dim] * x[i % dim];
  return PETSC_SUCCESS;
}

/* an unknown's number counts backwards on its owner, and every third unknown turns round */
static PetscInt Shuffle(const PetscInt range[], PetscMPIInt size, PetscInt g)
{
  PetscMPIInt r = 0;

  while (r < size - 1 && g >= range[r + 1]) ++r;
  return range[r] + range[r + 1] - 1 - g;
}

static PetscReal Turn(HopsFamily f, PetscInt g)
{
  return (f == HOPS_HCURL || f == HOPS_HDIV) && g % 3 == 0 ? -1.0 : 1.0;
}

static PetscErrorCode FromPlex(HopsSpace sp, HopsSpace essential, Arrays *a)
{
  const PetscInt  ng = PetscPowInt(sp->gorder + 1, sp->dim);
  const PetscInt *range;
  PetscInt       *where;
  PetscMPIInt     size;
  Vec             x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(HopsSpaceBringMesh(sp));
  if (essential) PetscCall(HopsSpaceBringMesh(essential));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecGetOwnershipRanges(x, &range));
  a->dim    = sp->dim;
  a->order  = sp->order;
  a->gorder = sp->gorder;
  a->nc     = sp->ncells;
  a->ne     = sp->ne;
  a->n      = sp->nT;
  a->rstart = sp->rstart;
  a->ness   = 0;
  PetscCall(PetscMalloc1(a->nc * a->ne, &a->unknowns));
  PetscCall(PetscMalloc1(a->nc * ng * a->dim, &a->coords));
  PetscCall(PetscMalloc1(a->nc * a->ne, &a->ess));
  PetscCall(PetscMalloc1(sp->ncaller, &where));
  for (PetscInt c = 0; c < a->nc && essential; ++c) where[essential->cell[c] - essential->cstart] = c;
  for (PetscInt c = 0; c < a->nc; ++c) {
    const PetscInt to = sp->cell[c] - sp->cstart;

    for (PetscInt i = 0; i < a->ne; ++i) {
      const int      r = sp->restr[c * a->ne + i];
      const PetscInt l = r < 0 ? -1 - r : r, g = l < sp->nT ? sp->rstart + l : sp->ghost[l - sp->nT], s = Shuffle(range, size, g);

      a->unknowns[to * a->ne + i] = (r < 0 ? -1.0 : 1.0) * Turn(sp->family, g) < 0.0 ? -1 - s : s;
      if (essential) {
        const int      re = essential->restr[where[to] * a->ne + i];
        const PetscInt le = re < 0 ? -1 - re : re;

        if (le >= essential->nT + essential->nG) a->ess[a->ness++] = s;
      }
    }
    for (PetscInt i = 0; i < ng; ++i)
      for (PetscInt d = 0; d < a->dim; ++d) a->coords[(to * ng + i) * a->dim + d] = sp->X[(c * a->dim + d) * ng + i];
  }
  PetscCall(PetscFree(where));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlexSpace(DM dm, HopsFamily f, PetscInt order, PetscBool essential, HopsSpace *sp)
{
  PetscInt values[6] = {1, 2, 3, 4, 5, 6};
  DMLabel  label     = NULL;

  PetscFunctionBeginUser;
  if (essential) PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (f == HOPS_H1) PetscCall(HopsSpaceCreateH1(dm, order, label, 6, values, sp));
  if (f == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, order, label, 6, values, sp));
  if (f == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, order, label, 6, values, sp));
  if (f == HOPS_L2) PetscCall(HopsSpaceCreateL2(dm, order, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the companions that AMS and ADS need, from the DMPlex's */
static PetscErrorCode Companions(DM dm, HopsSpace sp, PetscInt dim, PetscInt order)
{
  PetscFunctionBeginUser;
  for (PetscInt f = HOPS_H1; f <= HOPS_HCURL; ++f) {
    HopsSpace plex, other;
    Arrays    a;

    if (family == HOPS_L2 || (PetscInt)family <= f || (f == HOPS_HCURL && dim == 2)) continue;
    PetscCall(PlexSpace(dm, (HopsFamily)f, order, PETSC_FALSE, &plex));
    PetscCall(FromPlex(plex, NULL, &a));
    PetscCall(ArraysCreateSpace((HopsFamily)f, &a, PETSC_FALSE, &other));
    PetscCall(HopsSpaceSetCompanion(sp, other));
    PetscCall(HopsSpaceDestroy(&other));
    PetscCall(HopsSpaceDestroy(&plex));
    PetscCall(ArraysDestroy(&a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, PetscBool tensor, Mat *A)
{
  const PetscInt  dim = sp->dim, full = dim * (dim + 1) / 2;
  HopsCoefficient mu, beta;

  PetscFunctionBeginUser;
  PetscCall(
    HopsCoefficientCreateFunction(PETSC_COMM_WORLD, tensor && family == HOPS_HCURL && dim == 3 ? full : 1, TestKappa, NULL, &mu));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, tensor && family != HOPS_L2 ? full : 1, TestKappa, NULL, &beta));
  PetscCall(MatCreatePA(sp, A));
  if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(*A, mu));
  if (family == HOPS_HDIV) PetscCall(MatPASetDivDiv(*A, mu));
  PetscCall(MatPASetMass(*A, beta));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y of the DMPlex space, shuffled and turned, is z? */
static PetscErrorCode Same(const char name[], HopsSpace plex, Vec y, Vec z)
{
  const PetscScalar *a, *b;
  const PetscInt    *range;
  PetscMPIInt        size;
  PetscReal          diff[2] = {0.0, 0.0};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VecGetOwnershipRanges(y, &range));
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayRead(z, &b));
  for (PetscInt i = 0; i < plex->nT; ++i) {
    const PetscInt g = plex->rstart + i;

    diff[0] = TestWorse(diff[0], PetscAbsScalar(Turn(family, g) * a[i] - b[Shuffle(range, size, g) - plex->rstart]));
    diff[1] = PetscMax(diff[1], PetscAbsScalar(a[i]));
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayRead(z, &b));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, diff, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, diff[1] > 0.0 && diff[0] <= 1e-12 * diff[1] ? "the same" : "DIFFERS"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solution with essential values of U and right-hand side V: iterations, and the error with respect to U,
   which is a number as good as any */
static PetscErrorCode Solve(HopsSpace sp, PetscInt *its, PetscReal *number)
{
  Mat         A;
  Vec         x, b;
  KSP         ksp;
  PC          pc;
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, PETSC_FALSE, &A));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, V, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  if (half) {
    HopsCoefficient beta;
    PetscScalar    *values;

    PetscCall(PetscMalloc1(sp->ncells, &values));
    for (PetscInt c = 0; c < sp->ncells; ++c) values[c] = c < sp->ncells / 2 ? 0.0 : 1.0;
    PetscCall(HopsCoefficientCreateCell(sp, 1, values, &beta));
    PetscCall(PetscFree(values));
    PetscCall(MatPASetMass(A, beta));
    PetscCall(HopsCoefficientDestroy(&beta));
    PetscCall(HopsSpaceSetEssentialFunction(sp, NULL, NULL));
    PetscCall(HopsSpaceInterpolate(sp, U, NULL, x));
    PetscCall(MatMult(A, x, b));
    PetscCall(MatPALiftEssential(A, b)); /* zeros in the essential rows */
    PetscCall(VecZeroEntries(x));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 80));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(HopsSpaceComputeL2Error(sp, x, U, NULL, number));
  PetscCall(VecDot(x, b, &dot));
  if (half) *number = PetscRealPart(dot); /* the solution itself is known up to gradients only */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plex(DM dm, PetscInt order)
{
  HopsSpace free, bound, sp[2];
  Arrays    a;
  Mat       A[2], L[2];
  PC        pc[2];
  Vec       x[2], y[2];
  PetscInt  its[2];
  PetscReal number[2];

  PetscFunctionBeginUser;
  PetscCall(PlexSpace(dm, family, order, PETSC_FALSE, &free));
  PetscCall(PlexSpace(dm, family, order, PETSC_TRUE, &bound));
  PetscCall(FromPlex(free, bound, &a));
  sp[0] = free;
  PetscCall(ArraysCreateSpace(family, &a, PETSC_FALSE, &sp[1]));
  PetscCall(Companions(dm, sp[1], free->dim, order));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(Operator(sp[k], PETSC_TRUE, &A[k]));
    PetscCall(HopsSpaceCreateVec(sp[k], &x[k]));
    PetscCall(VecDuplicate(x[k], &y[k]));
    PetscCall(HopsSpaceInterpolate(sp[k], U, NULL, x[k]));
    PetscCall(MatMult(A[k], x[k], y[k]));
  }
  PetscCall(Same("integrals of a function", free, x[0], x[1]));
  PetscCall(Same("operator", free, y[0], y[1]));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[k]));
    PetscCall(PCSetType(pc[k], PCLOR));
    PetscCall(PCSetOperators(pc[k], A[k], A[k]));
    PetscCall(PCSetFromOptions(pc[k]));
    PetscCall(PCSetUp(pc[k]));
    PetscCall(PCLORGetMat(pc[k], &L[k]));
    PetscCall(MatMult(L[k], x[k], y[k]));
  }
  PetscCall(Same("low-order-refined matrix", free, y[0], y[1]));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(MatGetDiagonal(A[k], y[k]));
  for (PetscInt k = 0; k < 2 && family == HOPS_L2; ++k) PetscCall(HopsSpaceComputeRHS(sp[k], V, NULL, y[k]));
  if (family == HOPS_L2) PetscCall(Same("right-hand side", free, y[0], y[1]));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscCall(HopsSpaceDestroy(&sp[1]));
  if (family != HOPS_L2) {
    PetscCall(ArraysCreateSpace(family, &a, PETSC_TRUE, &sp[1]));
    PetscCall(Companions(dm, sp[1], free->dim, order));
    PetscCall(Solve(bound, &its[0], &number[0]));
    PetscCall(Solve(sp[1], &its[1], &number[1]));
    /* on several ranks ADS on one and the same space takes a few more or fewer from one run to the next */
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "essential boundary: solution %s, iterations %s\n",
                          PetscAbsReal(number[0] - number[1]) < 1e-7 * number[0] ? "the same" : "DIFFERS",
                          PetscAbsInt(its[0] - its[1]) <= 2 + its[0] / 5 ? "about the same" : "DIFFER"));
    PetscCall(PetscInfo(NULL, "iterations %" PetscInt_FMT " %" PetscInt_FMT ", numbers %.12g %.12g\n", its[0], its[1],
                        (double)number[0], (double)number[1]));
    PetscCall(HopsSpaceDestroy(&sp[1]));
  }
  PetscCall(HopsSpaceDestroy(&free));
  PetscCall(HopsSpaceDestroy(&bound));
  PetscCall(ArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A box by hand: unknowns of component c in x fastest order of the whole box, one component after the
   other ---- */

/* does component c extend along direction d? */
static PetscBool Open(HopsFamily f, PetscInt c, PetscInt d)
{
  return f == HOPS_L2 || (f == HOPS_HCURL && c == d) || (f == HOPS_HDIV && c != d) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode FromBox(HopsFamily f, PetscInt dim, PetscInt p, const PetscInt n[], Arrays *a)
{
  const PetscInt ncomp = f == HOPS_HCURL || f == HOPS_HDIV ? dim : 1, g = p + 2, ng = PetscPowInt(g, dim); /* maps of order p + 1 */
  PetscInt       total = 0, nc = 1, *owner, *number, count = 0;
  PetscReal      z[65];
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  a->dim    = dim;
  a->order  = p;
  a->gorder = p + 1;
  a->ne     = 0;
  a->n = a->nc = a->ness = 0;
  for (PetscInt d = 0; d < dim; ++d) nc *= n[d];
  for (PetscInt c = 0; c < ncomp; ++c) {
    PetscInt all = 1, cell = 1;

    for (PetscInt d = 0; d < dim; ++d) {
      all *= n[d] * p + !Open(f, c, d);
      cell *= p + !Open(f, c, d);
    }
    total += all;
    a->ne += cell;
  }
  PetscCall(TestGLL(g, z));
  PetscCall(PetscMalloc2(total, &owner, total, &number));
  PetscCall(PetscMalloc1(nc * a->ne, &a->unknowns));
  PetscCall(PetscMalloc1(nc * ng * dim, &a->coords));
  PetscCall(PetscMalloc1(nc * a->ne, &a->ess));
  for (PetscInt i = 0; i < total; ++i) owner[i] = -1;
  for (PetscInt pass = 0; pass < 2; ++pass) {
    a->nc = 0;
    for (PetscInt cell = 0; cell < nc; ++cell) {
      const PetscInt at[3] = {cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])}, r = cell * size / nc;
      PetscInt       e = 0, start = 0;

      for (PetscInt c = 0; c < ncomp; ++c) {
        PetscInt m[3] = {1, 1, 1}, N[3] = {1, 1, 1};

        for (PetscInt d = 0; d < dim; ++d) {
          m[d] = p + !Open(f, c, d);
          N[d] = n[d] * p + !Open(f, c, d);
        }
        for (PetscInt k = 0; k < m[2]; ++k)
          for (PetscInt j = 0; j < m[1]; ++j)
            for (PetscInt i = 0; i < m[0]; ++i, ++e) {
              const PetscInt u = start + at[0] * p + i + N[0] * (at[1] * p + j + N[1] * (dim > 2 ? at[2] * p + k : 0));

              if (!pass && owner[u] < 0) owner[u] = r; /* the first rank with a cell that touches it */
              if (pass && r == rank) a->unknowns[a->nc * a->ne + e] = number[u];
            }
        start += N[0] * N[1] * N[2];
      }
      if (r != rank) continue;
      for (PetscInt i = 0; i < ng && pass; ++i) {
        const PetscInt q[3] = {i % g, i / g % g, i / (g * g)};
        PetscReal     *x    = a->coords + (a->nc * ng + i) * dim;

        for (PetscInt d = 0; d < dim; ++d) x[d] = (at[d] + 0.5 * (z[q[d]] + 1.0)) / n[d];
        /* what a tri- or bilinear map of the box's corners does too, if there is one cell only; */
        x[0] += 0.1 * x[1] * (dim > 2 ? x[2] : 1.0);
      }
      ++a->nc;
    }
    for (PetscInt r = 0; r < size && !pass; ++r) {
      if (r == rank) a->rstart = count;
      for (PetscInt i = 0; i < total; ++i)
        if (owner[i] == r) {
          number[i] = count++;
          a->n += r == rank;
        }
    }
  }
  PetscCall(PetscFree2(owner, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the map of the box above for the vertices of a mesh: trilinear in each cell, as its restriction is */
static void Bend(PetscInt dim, PetscReal x[])
{
  x[0] += 0.1 * x[1] * (dim > 2 ? x[2] : 1.0);
}

/* v.Au, v.Lu and v.b, where u, v and b are functions: no numbers are compared */
static PetscErrorCode Forms(HopsSpace sp, PetscScalar out[3])
{
  Mat A, L;
  PC  pc;
  Vec u, v, w;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, PETSC_TRUE, &A));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(MatMult(A, u, w));
  PetscCall(VecDot(v, w, &out[0]));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_type jacobi"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatMult(L, u, w));
  PetscCall(VecDot(v, w, &out[1]));
  PetscCall(HopsSpaceComputeRHS(sp, U, NULL, w));
  PetscCall(VecDot(v, w, &out[2]));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Box(PetscInt dim, PetscInt order, const PetscInt n[])
{
  HopsSpace   sp, plex, l2;
  Arrays      a, b;
  DM          dm;
  char        text[128];
  PetscBool   same = PETSC_TRUE;
  PetscScalar out[2][3];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "-dm_plex_dim %" PetscInt_FMT " -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT,
                          dim, n[0], n[1], n[2]));
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, Bend, &dm));
  PetscCall(PlexSpace(dm, family, order, PETSC_FALSE, &plex));
  PetscCall(FromBox(family, dim, order, n, &a));
  PetscCall(ArraysCreateSpace(family, &a, PETSC_FALSE, &sp));
  PetscCall(Forms(plex, out[0]));
  PetscCall(Forms(sp, out[1]));
  for (PetscInt k = 0; k < 3; ++k)
    if (!(PetscAbsScalar(out[0][k] - out[1][k]) <= 1e-11 * PetscAbsScalar(out[0][k]))) same = PETSC_FALSE;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a box by hand: %s\n", same ? "the same" : "DIFFERS"));
  if (!same)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %.14g %.14g, %.14g %.14g, %.14g %.14g\n", (double)out[0][0], (double)out[1][0],
                          (double)out[0][1], (double)out[1][1], (double)out[0][2], (double)out[1][2]));
  if (family == HOPS_HDIV || (family == HOPS_HCURL && dim == 2)) { /* a derivative into a space from arrays */
    Vec         u, du;
    PetscScalar sum;

    PetscCall(FromBox(HOPS_L2, dim, order, n, &b));
    PetscCall(ArraysCreateSpace(HOPS_L2, &b, PETSC_FALSE, &l2));
    PetscCall(HopsSpaceSetCompanion(sp, l2));
    PetscCall(HopsSpaceCreateVec(sp, &u));
    PetscCall(HopsSpaceCreateVec(l2, &du));
    PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
    PetscCall(HopsSpaceDifferentiate(sp, u, l2, du));
    PetscCall(VecSum(du, &out[1][0]));
    PetscCall(HopsSpaceDestroy(&l2));
    PetscCall(HopsSpaceCreateCompanion(plex, HOPS_L2, PETSC_FALSE, &l2));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&du));
    PetscCall(HopsSpaceCreateVec(plex, &u));
    PetscCall(HopsSpaceCreateVec(l2, &du));
    PetscCall(HopsSpaceInterpolate(plex, U, NULL, u));
    PetscCall(HopsSpaceDifferentiate(plex, u, l2, du));
    PetscCall(VecSum(du, &sum)); /* the flux through the boundary, or the circulation around it */
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "flux or circulation: %s\n",
                          PetscAbsScalar(sum - out[1][0]) <= 1e-12 * PetscAbsScalar(sum) ? "the same" : "DIFFERS"));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&du));
    PetscCall(HopsSpaceDestroy(&l2));
    PetscCall(ArraysDestroy(&b));
  }
  PetscCall(ArraysDestroy(&a));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&plex));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Contradictions ---- */

static PetscErrorCode SetUp(HopsSpace sp)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, PETSC_FALSE, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Swap(PetscInt u[], PetscInt i, PetscInt j)
{
  const PetscInt t = u[i];

  u[i] = u[j];
  u[j] = t;
}

static PetscErrorCode ErrorsHDiv(void)
{
  const PetscInt n[3] = {2, 2, 2}, p = 2;
  Arrays         div;
  HopsSpace      bad;

  PetscFunctionBeginUser;
  PetscCall(FromBox(HOPS_HDIV, 3, p, n, &div));
  /* cell 0 and its neighbour in x meet at faces 2, 5, 8, 11 of the first component */
  div.unknowns[5] = -1 - div.unknowns[5];
  EXPECT("sign of a face", ArraysCreateSpace(HOPS_HDIV, &div, PETSC_FALSE, &bad), "opposite directions|its entry must be");
  div.unknowns[5] = -1 - div.unknowns[5];
  Swap(div.unknowns, 2, 8);
  EXPECT("faces in another order", ArraysCreateSpace(HOPS_HDIV, &div, PETSC_FALSE, &bad), "different places");
  Swap(div.unknowns, 2, 8);
  Swap(div.unknowns, 1, 2);
  EXPECT("a face inside a cell and one outside", ArraysCreateSpace(HOPS_HDIV, &div, PETSC_FALSE, &bad), "to a different face");
  Swap(div.unknowns, 1, 2);
  PetscCall(ArraysDestroy(&div));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ErrorsHCurl(void)
{
  const PetscInt n[3] = {2, 2, 2}, p = 2;
  Arrays         curl;
  HopsSpace      bad;

  PetscFunctionBeginUser;
  PetscCall(FromBox(HOPS_HCURL, 3, p, n, &curl));
  /* lines of the first component of cell 0 at y = z = 1, which it shares with three cells: 16 and 17 */
  curl.unknowns[16] = -1 - curl.unknowns[16];
  EXPECT("sign of a line", ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &bad), "opposite directions|its entry must be");
  curl.unknowns[16] = -1 - curl.unknowns[16];
  Swap(curl.unknowns, 16, 17);
  EXPECT("lines in another order", ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &bad), "different places");
  curl.unknowns[16] = -1 - curl.unknowns[16];
  curl.unknowns[17] = -1 - curl.unknowns[17];
  EXPECT("an edge turned round in its signs alone", ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &bad), "different places");
  curl.unknowns[16] = -1 - curl.unknowns[16];
  curl.unknowns[17] = -1 - curl.unknowns[17];
  Swap(curl.unknowns, 16, 17);
  PetscCall(ArraysDestroy(&curl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ErrorsL2(void)
{
  const PetscInt n[3] = {2, 2, 2}, p = 2;
  Arrays         l2;
  HopsSpace      bad;
  PetscInt       keep;

  PetscFunctionBeginUser;
  PetscCall(FromBox(HOPS_L2, 3, p, n, &l2));
  keep           = l2.unknowns[3];
  l2.unknowns[3] = -1 - keep;
  EXPECT("a sign in L2", ArraysCreateSpace(HOPS_L2, &l2, PETSC_FALSE, &bad), "signs are for");
  l2.unknowns[3] = l2.unknowns[11];
  EXPECT("an unknown of two cells in L2", ArraysCreateSpace(HOPS_L2, &l2, PETSC_FALSE, &bad), "belongs to no cell");
  l2.unknowns[3] = keep;
  PetscCall(ArraysDestroy(&l2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ErrorsOfNumbers(void)
{
  const PetscInt n[3] = {2, 2, 2}, p = 2;
  Arrays         curl, boxes;
  HopsSpace      bad, good;
  Mat            A;
  PetscInt       keep;

  PetscFunctionBeginUser;
  PetscCall(FromBox(HOPS_HCURL, 3, p, n, &curl));
  PetscCall(FromBox(HOPS_L2, 3, 1, n, &boxes));
  PetscCall(ArraysCreateSpace(HOPS_L2, &boxes, PETSC_FALSE, &good));
  PetscCall(MatCreatePA(good, &A));
  EXPECT("a derivative in L2", MatPASetConstants(A, 1.0, 1.0), "no derivative");
  PetscCall(MatPASetConstants(A, 0.0, 1.0));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&good));
  boxes.unknowns[7] = boxes.unknowns[0];
  --boxes.n;
  EXPECT("an unknown inside two cells", ArraysCreateSpace(HOPS_L2, &boxes, PETSC_FALSE, &bad), "is given 2 times");
  ++curl.n;
  EXPECT("an unknown of no cell", ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &bad), "belongs to no cell");
  --curl.n;
  keep             = curl.unknowns[0];
  curl.unknowns[0] = curl.n;
  EXPECT("an unknown out of range", ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &bad), "outside");
  curl.unknowns[0] = keep;
  PetscCall(ArraysDestroy(&curl));
  PetscCall(ArraysDestroy(&boxes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ErrorsOfCompanions(void)
{
  const PetscInt n[3] = {2, 2, 2}, m[3] = {4, 2, 1}, p = 2;
  Arrays         h1, curl, other;
  HopsSpace      sp, nodes;
  PetscInt       keep;

  PetscFunctionBeginUser;
  PetscCall(FromBox(HOPS_H1, 3, p, n, &h1));
  PetscCall(FromBox(HOPS_HCURL, 3, p, n, &curl));
  PetscCall(FromBox(HOPS_H1, 3, p, m, &other));
  PetscCall(ArraysCreateSpace(HOPS_HCURL, &curl, PETSC_FALSE, &sp));
  family = HOPS_HCURL;
  EXPECT("AMS without an H1 space", SetUp(sp), "HopsSpaceSetCompanion()|HopsSpaceCreateFromArrays()");
  PetscCall(ArraysCreateSpace(HOPS_H1, &other, PETSC_FALSE, &nodes));
  EXPECT("a companion on another mesh", HopsSpaceSetCompanion(sp, nodes), "other corners");
  PetscCall(HopsSpaceDestroy(&nodes));
  keep      = h1.unknowns[0];
  h1.ness   = 1;
  h1.ess[0] = keep;
  h1.gorder = p + 1;
  EXPECT("a companion with essential unknowns",
         (ArraysCreateSpace(HOPS_H1, &h1, PETSC_TRUE, &nodes), HopsSpaceSetCompanion(sp, nodes)), "without essential unknowns");
  PetscCall(HopsSpaceDestroy(&nodes));
  Swap(h1.unknowns, 0, 26); /* two corners of cell 0, one of which is a corner of all cells */
  EXPECT("other corners in one cell", ArraysCreateSpace(HOPS_H1, &h1, PETSC_FALSE, &nodes), "different places");
  Swap(h1.unknowns, 0, 26);
  Swap(h1.unknowns, 14, 16); /* in the middles of two faces */
  EXPECT("other nodes on faces", ArraysCreateSpace(HOPS_H1, &h1, PETSC_FALSE, &nodes), "different places");
  Swap(h1.unknowns, 14, 16);
  keep            = h1.unknowns[14];
  h1.unknowns[14] = h1.n++; /* cell 0 has its own node in the middle of a face */
  PetscCall(ArraysCreateSpace(HOPS_H1, &h1, PETSC_FALSE, &nodes));
  EXPECT("a companion with a crack", HopsSpaceSetCompanion(sp, nodes), "disagree on the derivative");
  PetscCall(HopsSpaceDestroy(&nodes));
  h1.unknowns[14] = keep;
  --h1.n;
  EXPECT("a companion of itself", HopsSpaceSetCompanion(sp, sp), "different families");
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(ArraysDestroy(&h1));
  PetscCall(ArraysDestroy(&curl));
  PetscCall(ArraysDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(void)
{
  PetscFunctionBeginUser;
  PetscCall(ErrorsHDiv());
  PetscCall(ErrorsHCurl());
  PetscCall(ErrorsL2());
  PetscCall(ErrorsOfNumbers());
  PetscCall(ErrorsOfCompanions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rank 0 sees a line at the seam turned round: rank 1 or 0 must find out */
static PetscErrorCode Remote(void)
{
  const PetscInt n[3] = {2, 1, 1};
  Arrays         a;
  HopsSpace      sp;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(FromBox(HOPS_HDIV, 3, 1, n, &a));
  if (!rank) a.unknowns[1] = -1 - a.unknowns[1];
  PetscCall(ArraysCreateSpace(HOPS_HDIV, &a, PETSC_FALSE, &sp));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(ArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 3, order = 2, n[3] = {3, 2, 2}, nn = 3;
  char      what[16] = "plex";
  PetscBool flat     = PETSC_FALSE;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", n, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-half", &half, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-flat", &flat, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  if (what[0] == 'p') {
    PetscCall(TestMesh(PETSC_COMM_WORLD, flat ? PETSC_FALSE : PETSC_TRUE, &dm));
    PetscCall(Plex(dm, order));
    PetscCall(DMDestroy(&dm));
  } else if (what[0] == 'b') PetscCall(Box(dim, order, n));
  else if (what[0] == 'r') PetscCall(Remote());
  else {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
    PetscCall(Errors());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre
    args: -what plex -family {{HCURL HDIV L2}separate output}
    test:
      suffix: plate
      nsize: {{1 2 3 4}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order {{1 4}}
    test:
      suffix: elbow
      nsize: {{1 3 4}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2
    test:
      suffix: solid
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order {{1 2}}
    test:
      suffix: memory
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 2 -device host
    test:
      suffix: memory_cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 2 -device cuda
    test:
      suffix: periodic
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -dm_plex_box_bd periodic,none,periodic -order 3 -flat

  testset:
    args: -what box -family {{HCURL HDIV L2}separate output}
    test:
      suffix: box
      nsize: {{1 2 4}}
      args: -dim {{2 3}separate output} -order {{1 3}}

  test:
    suffix: half
    requires: hypre
    nsize: {{1 2}}
    args: -what plex -half -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order {{1 2}}

  test:
    suffix: errors
    requires: hypre
    args: -what errors

  test:
    suffix: remote
    nsize: 2
    args: -what remote -petsc_ci_portable_error_output
    filter: grep -o -m 1 "opposite directions"

TEST*/
