static char help[] =
  "A space from node ids of any kind and in any order of nodes is that from arrays; values cell by cell, and vectors.\n\
  -dim <d> -order <p> -cells <n,n,n> -spread : the mesh, as arrays\n\
  -name <order>                              : of the nodes of a cell\n\
  -orders                                    : orders of nodes by name against what is known of these codes\n\
  -errors                                    : what is refused\n\n";

#include "boxarrays.h"
#include "hopsexpect.h"
#include <hops/private/petscshim.h>

/* ------------------------------------------- orders ------------------------------------------- */

/* as VTK 9 computes it (vtkHigherOrderHexahedron::PointIndexFromIJK) */
static PetscInt VTKNode(PetscInt dim, PetscInt p, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt  m      = p - 1;
  const PetscBool ib     = (i % p == 0) ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool jb     = (j % p == 0) ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool kb     = (dim < 3 || k % p == 0) ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  corner = i ? (j ? 2 : 1) : (j ? 3 : 0);
  PetscInt        n      = dim < 3 ? 4 : 8;

  if (ib && jb && kb) return corner + (k ? 4 : 0);
  if (jb && kb) return n + (k ? 4 * m : 0) + (j ? 2 * m : 0) + i - 1;
  if (ib && kb) return n + (k ? 4 * m : 0) + (i ? m : 3 * m) + j - 1;
  if (ib && jb) return n + 8 * m + corner * m + k - 1;
  n += dim < 3 ? 4 * m : 12 * m;
  if (dim < 3) return n + (j - 1) * m + i - 1;
  if (ib) return n + (i ? m * m : 0) + (k - 1) * m + j - 1;
  if (jb) return n + (2 + (j ? 1 : 0)) * m * m + (k - 1) * m + i - 1;
  if (kb) return n + (4 + (k ? 1 : 0)) * m * m + (j - 1) * m + i - 1;
  return n + 6 * m * m + ((k - 1) * m + j - 1) * m + i - 1;
}

/* what Basix 0.5 has, what deal.II's and Gmsh's manuals say */
static const struct {
  const char *name;
  PetscInt    dim, order, perm[64];
} Known[] = {
  {"gmsh", 2, 3, {0, 3, 15, 12, 1, 2, 7, 11, 14, 13, 8, 4, 5, 6, 10, 9}},
  {"gmsh", 3, 2, {0, 2, 8, 6, 18, 20, 26, 24, 1, 3, 9, 5, 11, 7, 17, 15, 19, 21, 23, 25, 4, 10, 12, 14, 16, 22, 13}},
  {"vtk", 2, 3, {0, 3, 15, 12, 1, 2, 7, 11, 13, 14, 4, 8, 5, 6, 9, 10}},
  {"dealii", 2, 3, {0, 3, 12, 15, 4, 8, 7, 11, 1, 2, 13, 14, 5, 6, 9, 10}},
  {"dealii", 3, 2, {0, 2, 6, 8, 18, 20, 24, 26, 3, 5, 1, 7, 21, 23, 19, 25, 9, 11, 15, 17, 12, 14, 10, 16, 4, 22, 13}},
  {"dealii", 3, 3, {0,  3,  12, 15, 48, 51, 60, 63, 4,  8,  7,  11, 1,  2,  13, 14, 52, 56, 55, 59, 49, 50,
                    61, 62, 16, 32, 19, 35, 28, 44, 31, 47, 20, 24, 36, 40, 23, 27, 39, 43, 17, 33, 18, 34,
                    29, 45, 30, 46, 5,  6,  9,  10, 53, 54, 57, 58, 21, 22, 25, 26, 37, 38, 41, 42}},
  {"dolfinx", 2, 3, {0, 3, 12, 15, 1, 2, 4, 8, 7, 11, 13, 14, 5, 6, 9, 10}},
  {"dolfinx", 3, 3, {0,  3,  12, 15, 48, 51, 60, 63, 1,  2,  4,  8,  16, 32, 7,  11, 19, 35, 13, 14, 28, 44,
                     31, 47, 49, 50, 52, 56, 55, 59, 61, 62, 5,  6,  9,  10, 17, 18, 33, 34, 20, 24, 36, 40,
                     23, 27, 39, 43, 29, 30, 45, 46, 53, 54, 57, 58, 21, 22, 25, 26, 37, 38, 41, 42}},
  {"dolfinx", 3, 2, {0, 2, 6, 8, 18, 20, 24, 26, 1, 3, 9, 5, 11, 7, 15, 17, 19, 21, 23, 25, 4, 10, 12, 14, 16, 22, 13}},
  {"lexicographic", 2, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
  {"NEK", 2, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
};

static PetscErrorCode IsPermutation(PetscInt n, const PetscInt perm[], PetscBool *yes)
{
  PetscInt *sorted;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &sorted));
  PetscCall(PetscArraycpy(sorted, perm, n));
  PetscCall(PetscSortInt(n, sorted));
  for (PetscInt i = 0; i < n; ++i)
    if (sorted[i] != i) *yes = PETSC_FALSE;
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0;
  return PETSC_SUCCESS;
}

/* a cell of Gmsh's order of nodes, which PETSc reads: x + 0.3 x^2 y (z) is its map, whose volume is known,
   at order 1 too */
static PetscErrorCode Gmsh(PetscInt dim, PetscInt p, PetscBool *right)
{
  const int   type[2][5] = {{3, 10, 36, 37, 38}, {5, 12, 92, 93, 94}};
  const char *name       = "nodes.msh";
  PetscInt    perm[216], np = PetscPowInt(p + 1, dim);
  PetscReal   norm;
  FILE       *f;
  DM          dm;
  HopsSpace   sp;
  Vec         x;

  PetscFunctionBeginUser;
  PetscCall(HopsGetNodeOrder(dim, p, "gmsh", perm));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &f));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", (int)np));
  for (PetscInt i = 0; i < np; ++i) {
    PetscReal y[3] = {0.0, 0.0, 0.0};

    for (PetscInt d = 0, k = perm[i]; d < dim; ++d, k /= p + 1) y[d] = (PetscReal)(k % (p + 1)) / p;
    y[0] += 0.3 * y[0] * y[0] * y[1] * (dim > 2 ? y[2] : 1.0);
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, f, "%d %.16g %.16g %.16g\n", (int)i + 1, (double)y[0], (double)y[1], (double)y[2]));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, f, "$EndNodes\n$Elements\n1\n1 %d 2 1 1", type[dim - 2][p - 1]));
  for (PetscInt i = 0; i < np; ++i) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, f, " %d", (int)i + 1));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, f, "\n$EndElements\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, f));
  PetscCall(DMPlexCreateGmshFromFile(PETSC_COMM_WORLD, name, PETSC_TRUE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceComputeL2Error(sp, x, One, NULL, &norm));
  if (PetscAbsReal(norm * norm - (dim > 2 ? 1.075 : 1.15)) > 1e-10) *right = PETSC_FALSE;
  PetscCall(VecDestroy(&x));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Orders(void)
{
  const char *names[] = {"lexicographic", "vtk", "dealii", "dolfinx", "gmsh", "nek"};
  PetscBool   are = PETSC_TRUE, vtk = PETSC_TRUE, known = PETSC_TRUE, points = PETSC_TRUE, gmsh = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; ++dim)
    for (PetscInt p = 1; p <= 6; ++p) {
      const PetscInt P = p + 1, np = PetscPowInt(P, dim);
      PetscInt      *perm, *found;
      PetscReal     *y, z[7];

      PetscCall(TestGLL(P, z));
      PetscCall(PetscMalloc3(np, &perm, np, &found, np * dim, &y));
      for (size_t n = 0; n < 6; ++n) {
        PetscCall(HopsGetNodeOrder(dim, p, names[n], perm));
        PetscCall(IsPermutation(np, perm, &are));
        for (PetscInt i = 0; i < np * dim; ++i) {
          const PetscInt k = perm[i / dim] / PetscPowInt(P, i % dim) % P;

          y[i] = n % 2 ? z[k] : 0.5 * (z[k] + 1.0); /* both reference cells */
        }
        PetscCall(HopsGetNodeOrderFromPoints(dim, p, y, found));
        for (PetscInt i = 0; i < np; ++i)
          if (found[i] != perm[i]) points = PETSC_FALSE;
        for (PetscInt i = 0; i < np && n == 1; ++i)
          if (VTKNode(dim, p, perm[i] % P, perm[i] / P % P, perm[i] / (P * P)) != i) vtk = PETSC_FALSE;
      }
      PetscCall(PetscFree3(perm, found, y));
      if (p < 6) PetscCall(Gmsh(dim, p, &gmsh));
    }
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(Known); ++n) {
    PetscInt perm[64];

    PetscCall(HopsGetNodeOrder(Known[n].dim, Known[n].order, Known[n].name, perm));
    for (PetscInt i = 0; i < PetscPowInt(Known[n].order + 1, Known[n].dim); ++i)
      if (perm[i] != Known[n].perm[i]) {
        if (known) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d is %d\n", Known[n].name, (int)i, (int)perm[i]));
        known = PETSC_FALSE;
      }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "orders: %s\n", are ? "permutations" : "NO PERMUTATIONS"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "found from points: %s\n", points ? "the same" : "OTHERS"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "VTK's own formula: %s\n", vtk ? "the same" : "ANOTHER"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Gmsh's as PETSc reads it: %s\n", gmsh ? "the same" : "ANOTHER"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "known lists: %s\n", known ? "the same" : "OTHERS"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- spaces ------------------------------------------- */

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0]) + x[1] * x[0] + (dim > 2 ? PetscCosReal(x[2]) : 0.0);
  return PETSC_SUCCESS;
}

/* ids with gaps, in no order, beyond 32 bits and of both signs */
static PetscInt64 Id(PetscInt g)
{
  return ((PetscInt64)((g * 7919 + 13) % 1000003) - 400000) * 12884901889;
}

typedef struct {
  PetscInt    n, np, *perm;
  PetscInt64 *ids, *ess;
  PetscReal  *coords;
} Nodes;

/* the arrays of a code that lists its nodes in another order; `left`: with the first two directions
   exchanged */
static PetscErrorCode NodesCreate(const BoxArrays *a, PetscInt dim, PetscInt order, const char name[], PetscBool left, Nodes *c)
{
  PetscInt *swap;

  PetscFunctionBeginUser;
  c->np = a->np;
  PetscCall(PetscMalloc4(a->np, &c->perm, a->nc * a->np, &c->ids, a->ness, &c->ess, a->nc * a->np * dim, &c->coords));
  PetscCall(PetscMalloc1(a->np, &swap));
  PetscCall(HopsGetNodeOrder(dim, order, name, c->perm));
  for (PetscInt i = 0, P = order + 1; i < a->np; ++i) swap[i] = left ? i / (P * P) * P * P + i % P * P + i / P % P : i;
  for (PetscInt i = 0; i < a->nc * a->np; ++i) {
    const PetscInt from = i - i % a->np + swap[c->perm[i % a->np]];

    c->ids[i] = Id(a->nodes[from]);
    for (PetscInt d = 0; d < dim; ++d) c->coords[i * dim + d] = a->coords[from * dim + d];
  }
  for (PetscInt i = 0; i < a->ness; ++i) c->ess[i] = Id(a->ess[i]);
  PetscCall(PetscFree(swap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NodesDestroy(Nodes *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(c->perm, c->ids, c->ess, c->coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the largest difference of two arrays of values cell by cell, the second in the code's order */
static PetscErrorCode Difference(const BoxArrays *a, PetscInt order, const Nodes *c, PetscBool left, const PetscScalar e[],
                                 const PetscScalar f[], PetscReal *worst)
{
  const PetscInt P = order + 1;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < a->nc * a->np; ++i) {
    const PetscInt s = c->perm[i % a->np], from = left ? s / (P * P) * P * P + s % P * P + s / P % P : s;

    *worst = TestWorse(*worst, PetscAbsScalar(f[i] - e[i - i % a->np + from]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ids that are numbers already, with the code's own owners */
static PetscErrorCode Numbered(const Box *b, const BoxArrays *a, const Nodes *c)
{
  PetscInt   *numbers;
  PetscInt64 *ids, *ess;
  PetscBool   same = PETSC_TRUE;
  HopsSpace   sp;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(a->nc * a->np, &numbers, a->nc * a->np, &ids, a->ness, &ess));
  for (PetscInt i = 0; i < a->nc * a->np; ++i) ids[i] = a->nodes[i - i % a->np + c->perm[i % a->np]];
  for (PetscInt i = 0; i < a->ness; ++i) ess[i] = a->ess[i];
  PetscCall(HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, b->dim, b->p, a->nc, a->owned, ids, c->perm, c->coords, a->ness, ess, &sp));
  PetscCall(HopsSpaceGetNodeNumbers(sp, numbers));
  for (PetscInt i = 0; i < a->nc * a->np; ++i)
    if (numbers[i] != ids[i]) same = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "numbers: %s\n", same ? "the code's" : "OTHERS"));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(PetscFree3(numbers, ids, ess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an operator with all that is given cell by cell: a nodal coefficient, one at quadrature points, faces */
static PetscErrorCode Operator(const Box *b, HopsSpace sp, const BoxArrays *a, const Nodes *c, PetscBool left, Mat *A)
{
  const PetscInt  q = b->p + 2, nq = PetscPowInt(q, b->dim), P = b->p + 1;
  PetscScalar    *k, *m, one                                   = 1.5;
  PetscInt       *cells, *faces, n                             = 0;
  HopsCoefficient kf, mf, alpha;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(a->nc * a->np, &k, a->nc * nq, &m, a->nc, &cells, a->nc, &faces));
  for (PetscInt i = 0; i < a->nc * a->np; ++i) {
    const PetscInt   s = c ? c->perm[i % a->np] : i % a->np, from = left ? s / (P * P) * P * P + s % P * P + s / P % P : s;
    const PetscReal *x = a->coords + (i - i % a->np + from) * b->dim;

    k[i] = 2.0 + 0.3 * x[0] + 0.1 * (i / a->np); /* jumps between cells */
  }
  for (PetscInt i = 0; i < a->nc * nq; ++i) {
    const PetscInt at = i % nq, x = at % q, y = at / q % q;

    m[i] = 1.0 + 0.1 * (left ? y : x) + 0.01 * (left ? x : y) + 0.2 * (i / nq);
  }
  for (PetscInt i = 0; i < a->nc; ++i) { /* the upper face in x of every other cell */
    cells[n]   = i;
    faces[n++] = left ? 3 : 1;
    if (n > 1) --n;
  }
  PetscCall(HopsCoefficientCreateNodal(sp, 1, k, &kf));
  PetscCall(HopsCoefficientCreateQuadrature(sp, 1, q, m, &mf));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &alpha));
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetQuadrature(*A, q, PETSC_FALSE));
  PetscCall(MatPASetDiffusion(*A, kf));
  PetscCall(MatPASetMass(*A, mf));
  PetscCall(MatPAAddRobin(*A, n, cells, faces, alpha));
  PetscCall(HopsCoefficientDestroy(&kf));
  PetscCall(HopsCoefficientDestroy(&mf));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscCall(PetscFree4(k, m, cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the interpolant, the operator's product and a field at a point, seen from the cells */
static PetscErrorCode Compare(const Box *b, const BoxArrays *a, HopsSpace sp, const Nodes *c, PetscBool left, HopsSpace other)
{
  const PetscInt size = a->nc * a->np;
  PetscScalar   *e[2], v[2];
  PetscReal      worst = 0.0, at[2][3] = {{0.1, -0.4, 0.7}, {0.1, -0.4, 0.7}};
  const PetscInt first = 0;
  Mat            A[2];
  Vec            x, y;

  PetscFunctionBeginUser;
  if (left) {
    at[1][0] = -0.4;
    at[1][1] = 0.1;
  }
  PetscCall(PetscMalloc2(size, &e[0], size, &e[1]));
  PetscCall(Operator(b, sp, a, NULL, PETSC_FALSE, &A[0]));
  PetscCall(Operator(b, other, a, c, left, &A[1]));
  for (PetscInt k = 0; k < 3; ++k) {
    for (PetscInt i = 0; i < 2; ++i) {
      HopsSpace s = i ? other : sp;

      PetscCall(HopsSpaceCreateVec(s, &x));
      PetscCall(VecDuplicate(x, &y));
      PetscCall(HopsSpaceInterpolate(s, U, NULL, x));
      if (k == 1) PetscCall(MatMult(A[i], x, y));
      else PetscCall(VecCopy(x, y));
      if (k < 2) PetscCall(HopsSpaceGlobalToElements(s, y, e[i]));
      else {
        v[i] = 0.0;
        PetscCall(HopsSpaceEvaluate(s, x, a->nc ? 1 : 0, &first, at[i], &v[i]));
      }
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
    if (k < 2) PetscCall(Difference(a, b->p, c, left, e[0], e[1], &worst));
    else worst = TestWorse(worst, PetscAbsScalar(v[0] - v[1]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", left ? "left-handed cells" : "ids", worst < 1e-11 ? "the same" : "DIFFERENT"));
  if (worst >= 1e-11) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g\n", (double)worst));
  PetscCall(MatDestroy(&A[0]));
  PetscCall(MatDestroy(&A[1]));
  PetscCall(PetscFree2(e[0], e[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* vectors of nc components and values cell by cell, against VecSetValues() */
static PetscErrorCode Elements(HopsSpace sp, PetscInt ne, PetscInt nc)
{
  PetscInt     ncells, n, N, *number;
  PetscScalar *e, *f;
  PetscReal    error[3] = {0.0, 0.0, 0.0}, norm;
  Vec          x, y, z;
  PetscRandom  r;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetNumCells(sp, &ncells));
  PetscCall(HopsSpaceGetSizes(sp, &n, &N));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n * nc, N * nc, &x));
  PetscCall(VecSetBlockSize(x, nc));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PetscMalloc3(ncells * ne, &number, ncells * ne * nc, &e, ncells * ne * nc, &f));
  PetscCall(HopsSpaceGetNodeNumbers(sp, number));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(HopsSpaceGlobalToElements(sp, x, e));
  PetscCall(HopsSpaceElementsToGlobal(sp, e, INSERT_VALUES, y));
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &error[0]));
  for (PetscInt i = 0; i < ncells * ne * nc; ++i) e[i] *= 1.0 + 0.01 * (i % 17);
  PetscCall(VecZeroEntries(z));
  PetscCall(VecSetValuesBlocked(z, ncells * ne, number, e, ADD_VALUES));
  PetscCall(VecAssemblyBegin(z));
  PetscCall(VecAssemblyEnd(z));
  PetscCall(HopsSpaceElementsToGlobal(sp, e, ADD_VALUES, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &error[1]));
  error[1] /= norm;
  PetscCall(HopsSpaceGlobalToElements(sp, z, f)); /* each number has the value of its entry */
  PetscCall(VecZeroEntries(y));
  PetscCall(VecSetValuesBlocked(y, ncells * ne, number, f, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &error[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cell by cell: %s\n",
                        error[0] == 0.0 && error[1] < 1e-13 && error[2] == 0.0 ? "inserted, added and back" : "WRONG"));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(PetscFree3(number, e, f));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Box *b, const BoxArrays *a, PetscInt n, const Nodes *c, HopsSpace *sp)
{
  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, b->dim, b->p, a->nc, n, c->ids, c->perm, c->coords, a->ness, c->ess, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of two cells of order 3, on two ranks if there are, one has numbers of its own for n nodes of the common
   facet, from node `from` of this on */
static PetscErrorCode Crack(PetscInt dim, const char name[], PetscInt from, PetscInt n, const char words[])
{
  Box         box = {.dim = dim, .p = 3, .cells = {2, 1, 1}}, *b = &box;
  BoxArrays   a;
  Nodes       c;
  HopsSpace   sp;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(BoxSetUp(b));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(BoxArraysCreate(b, PETSC_FALSE, PETSC_FALSE, &a));
  PetscCall(NodesCreate(&a, b->dim, b->p, "vtk", PETSC_FALSE, &c));
  for (PetscInt i = 0; i < a.np && !rank; ++i) {
    const PetscInt at = c.perm[i] / (b->p + 1);

    if (c.perm[i] % (b->p + 1) == b->p && at >= from && at < from + n) c.ids[i] = 1000000 + at;
  }
  if (words) EXPECT(name, Create(b, &a, PETSC_DECIDE, &c, &sp), words);
  else {
    PetscCall(Create(b, &a, PETSC_DECIDE, &c, &sp));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: taken\n", name));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(NodesDestroy(&c));
  PetscCall(BoxArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(const Box *b)
{
  BoxArrays   a;
  Nodes       c;
  HopsSpace   sp;
  PetscInt    perm[27];
  PetscReal   y[32];
  Vec         x;
  PetscInt64  keep = 0;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCall(BoxArraysCreate(b, PETSC_FALSE, PETSC_TRUE, &a));
  PetscCall(NodesCreate(&a, b->dim, b->p, "vtk", PETSC_FALSE, &c));
  EXPECT("another code", HopsGetNodeOrder(2, 2, "nastran", perm), "nastran|HopsGetNodeOrderFromPoints()");
  for (PetscInt i = 0; i < 16; ++i) {
    y[2 * i]     = (i % 4) / 3.0;
    y[2 * i + 1] = (i / 4) / 3.0;
  }
  EXPECT("equispaced points", HopsGetNodeOrderFromPoints(2, 3, y, perm), "equispaced|Gauss-Lobatto-Legendre");
  y[5] = 0.3;
  EXPECT("other points", HopsGetNodeOrderFromPoints(2, 3, y, perm), "are not the|PCLORSetTransformation()");
  EXPECT("ids for indices", Create(b, &a, a.owned, &c, &sp), "is no global index|PETSC_DECIDE");
  if (a.ness) {
    keep     = c.ess[0];
    c.ess[0] = 17;
  }
  EXPECT("an essential id of no cell", Create(b, &a, PETSC_DECIDE, &c, &sp), "Essential id 17 belongs to no cell");
  if (a.ness) c.ess[0] = keep;
  EXPECT("nodes in another order",
         HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, b->dim, b->p, a.nc, PETSC_DECIDE, c.ids, NULL, c.coords, 0, NULL, &sp),
         "x fastest");
  c.perm[1] = c.perm[0];
  EXPECT("no permutation", Create(b, &a, PETSC_DECIDE, &c, &sp), "no permutation|HopsGetNodeOrder()");
  PetscCall(HopsGetNodeOrder(b->dim, b->p, "vtk", c.perm));
  PetscCall(NodesDestroy(&c));
  PetscCall(NodesCreate(&a, b->dim, b->p, "vtk", PETSC_TRUE, &c)); /* then all of the first rank's but one the other way round */
  for (PetscInt i = 0; i < a.nc * a.np && a.nc > 1; ++i) {
    const PetscInt s = c.perm[i % a.np], from = i - i % a.np + s;

    if (i < a.np) continue;
    c.ids[i] = Id(a.nodes[from]);
    for (PetscInt d = 0; d < b->dim; ++d) c.coords[i * b->dim + d] = a.coords[from * b->dim + d];
  }
  EXPECT("cells of both hands", Create(b, &a, PETSC_DECIDE, &c, &sp), "is left-handed|are not|exchange two directions");
  PetscCall(NodesDestroy(&c));
  PetscCall(NodesCreate(&a, b->dim, b->p, "vtk", PETSC_FALSE, &c));
  PetscCall(Create(b, &a, PETSC_DECIDE, &c, &sp));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 3, PETSC_DETERMINE, &x));
  EXPECT("a vector of another size", HopsSpaceGlobalToElements(sp, x, (PetscScalar *)y), "entries, and the space");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size)); /* only one rank's is wrong */
  EXPECT("an order of no space",
         HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, b->dim, rank ? b->p : 65, a.nc, PETSC_DECIDE, c.ids, NULL, c.coords, 0, NULL,
                                  &sp),
         size > 1 ? "order of a space is 3|65|all ranks" : "order between 1 and 64");
  EXPECT("a dimension of no space",
         HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, rank ? b->dim : 4, b->p, a.nc, a.owned, a.nodes, a.coords, 0, NULL, &sp),
         size > 1 ? "dimension of a space is 2|4|all ranks" : "dimension 2 or 3");
  PetscCall(Crack(2, "a node of an edge is not shared", 1, 1, "inside of the edge|do not share all|a slit"));
  PetscCall(Crack(2, "a corner of an edge is not shared", 0, 1, "inside of the edge|corners included"));
  PetscCall(Crack(2, "a slit", 1, 2, NULL));
  PetscCall(Crack(3, "a node of a face is not shared", 5, 1, "inside of the face|do not share all|a slit"));
  PetscCall(Crack(3, "a corner of a face is not shared", 15, 1, "inside of the face|corners included"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Box       box    = {.dim = 2, .p = 4, .cells = {4, 3, 2}};
  PetscInt  nn     = 3;
  PetscBool spread = PETSC_FALSE, orders = PETSC_FALSE, errors = PETSC_FALSE;
  char      name[32] = "vtk";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &box.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &box.p, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", box.cells, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spread", &spread, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-orders", &orders, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-name", name, sizeof(name), NULL));
  PetscCall(BoxSetUp(&box));
  if (orders) PetscCall(Orders());
  else if (errors) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Errors(&box));
  } else
    for (PetscInt left = 0; left < 2; ++left) {
      BoxArrays a;
      Nodes     c;
      HopsSpace sp, other;

      PetscCall(BoxArraysCreate(&box, spread, spread ? PETSC_FALSE : PETSC_TRUE, &a));
      PetscCall(NodesCreate(&a, box.dim, box.p, name, left ? PETSC_TRUE : PETSC_FALSE, &c));
      PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, box.dim, box.p, a.nc, a.owned, a.nodes, a.coords, a.ness, a.ess, &sp));
      PetscCall(Create(&box, &a, PETSC_DECIDE, &c, &other));
      PetscCall(Compare(&box, &a, sp, &c, left ? PETSC_TRUE : PETSC_FALSE, other));
      if (!left) PetscCall(Numbered(&box, &a, &c));
      PetscCall(Elements(left ? sp : other, a.np, left ? 1 : 3));
      PetscCall(HopsSpaceDestroy(&sp));
      PetscCall(HopsSpaceDestroy(&other));
      PetscCall(NodesDestroy(&c));
      PetscCall(BoxArraysDestroy(&a));
    }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/nodes.out
    test:
      suffix: 2d
      args: -name {{lexicographic vtk dealii dolfinx gmsh}} -order {{1 4}}
      nsize: {{1 3}}
    test:
      suffix: 3d
      args: -dim 3 -name {{vtk dolfinx gmsh}} -order 3 -cells 3,2,2
      nsize: {{1 2 4}}
    test:
      suffix: spread
      args: -spread
      nsize: {{2 4}}
    test:
      suffix: empty
      args: -cells 2,1,1
      nsize: 4

  test:
    suffix: orders
    args: -orders

  test:
    suffix: errors
    args: -errors -cells 4,1 -order 3 -malloc_dump 0
    nsize: {{1 2}}

TEST*/
