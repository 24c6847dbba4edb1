static char help[] =
  "MATHOPSINTERP between nested spaces against dense matrices: coarse functions, one by one, at the fine nodes, and the other\n\
  way round.\n\
  -dim <d> -coarse <q> -fine <p> -same (one mesh) -fe (the fine space has the numbering of a PetscFE)\n\
  -orientations: two cells in every relative orientation in place of a box\n\n";

#include "hopstest.h"
#include <petscfe.h>

static PetscBool same = PETSC_FALSE, usefe = PETSC_FALSE;

static PetscErrorCode Coordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[*(PetscInt *)ctx];
  return PETSC_SUCCESS;
}

/* x[i][3]: coordinates of the unknowns */
static PetscErrorCode Nodes(HopsSpace sp, PetscInt dim, PetscInt *n, PetscReal **x)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(sp, &v));
  PetscCall(VecGetSize(v, n));
  PetscCall(PetscCalloc1(*n * 3, x));
  for (PetscInt d = 0; d < dim; ++d) {
    const PetscScalar *a;

    PetscCall(HopsSpaceInterpolate(sp, Coordinate, &d, v));
    PetscCall(VecGetArrayRead(v, &a));
    for (PetscInt i = 0; i < *n; ++i) (*x)[i * 3 + d] = PetscRealPart(a[i]);
    PetscCall(VecRestoreArrayRead(v, &a));
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lower and upper corner of each cell, an axis-aligned box */
static PetscErrorCode Boxes(DM dm, PetscInt dim, PetscInt *n, PetscReal **box)
{
  PetscInt cStart, cEnd;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  *n = cEnd - cStart;
  PetscCall(PetscMalloc1(*n * 6, box));
  for (PetscInt c = 0; c < *n; ++c) {
    const PetscScalar *array;
    PetscScalar       *x = NULL;
    PetscBool          isdg;
    PetscInt           m;
    PetscReal         *b = *box + 6 * c;

    for (PetscInt d = 0; d < 3; ++d) {
      b[d]     = PETSC_MAX_REAL;
      b[3 + d] = -PETSC_MAX_REAL;
    }
    PetscCall(DMPlexGetCellCoordinates(dm, c + cStart, &isdg, &m, &array, &x));
    for (PetscInt i = 0; i < m; ++i) {
      b[i % dim]     = PetscMin(b[i % dim], PetscRealPart(x[i]));
      b[3 + i % dim] = PetscMax(b[3 + i % dim], PetscRealPart(x[i]));
    }
    PetscCall(DMPlexRestoreCellCoordinates(dm, c + cStart, &isdg, &m, &array, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Inside(PetscInt dim, const PetscReal b[], const PetscReal x[])
{
  for (PetscInt d = 0; d < dim; ++d)
    if (x[d] < b[d] - 1e-10 || x[d] > b[3 + d] + 1e-10) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The Lagrange function of the unknown at y, at the point x of the same box: a product over the axes,
   whatever the cell's orientation */
static PetscReal Phi(PetscInt dim, PetscInt p, const PetscReal z[], const PetscReal b[], const PetscReal y[], const PetscReal x[])
{
  PetscReal v = 1.0;

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscReal s = 2.0 * (x[d] - b[d]) / (b[3 + d] - b[d]) - 1.0, t = 2.0 * (y[d] - b[d]) / (b[3 + d] - b[d]) - 1.0;
    PetscInt        k = 0;

    for (PetscInt i = 0; i <= p; ++i)
      if (PetscAbsReal(z[i] - t) < PetscAbsReal(z[k] - t)) k = i;
    for (PetscInt i = 0; i <= p; ++i)
      if (i != k) v *= (s - z[i]) / (z[k] - z[i]);
  }
  return v;
}

/* max |P - D|, D[i][j] = function j of `from` at node i of `to`, in the last box that holds both; and of the
   transposes and additions */
static PetscErrorCode Compare(DM dm, PetscInt dim, PetscInt p, HopsSpace from, HopsSpace to, PetscReal *err)
{
  Mat        P;
  Vec        x, y, z, w;
  PetscInt   nf, nt, nb = 0;
  PetscReal *xf, *xt, *box, *D, *gll;

  PetscFunctionBeginUser;
  PetscCall(MatCreateHopsInterp(from, to, &P));
  PetscCall(Nodes(from, dim, &nf, &xf));
  PetscCall(Nodes(to, dim, &nt, &xt));
  PetscCall(Boxes(dm, dim, &nb, &box));
  PetscCall(PetscCalloc2(nf * nt, &D, p + 1, &gll));
  PetscCall(TestGLL(p + 1, gll));
  for (PetscInt b = 0; b < nb; ++b)
    for (PetscInt i = 0; i < nt; ++i)
      for (PetscInt j = 0; j < nf && Inside(dim, box + 6 * b, xt + 3 * i); ++j)
        if (Inside(dim, box + 6 * b, xf + 3 * j)) D[i * nf + j] = Phi(dim, p, gll, box + 6 * b, xf + 3 * j, xt + 3 * i);
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(x, &w));
  for (PetscInt j = 0; j < nf; ++j) { /* columns; added to ones */
    const PetscScalar *a, *c;

    PetscCall(VecSet(x, 0.0));
    PetscCall(VecSetValue(x, j, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMult(P, x, y));
    PetscCall(VecSet(z, 1.0));
    PetscCall(MatMultAdd(P, x, z, z));
    PetscCall(VecGetArrayRead(y, &a));
    PetscCall(VecGetArrayRead(z, &c));
    for (PetscInt i = 0; i < nt; ++i)
      *err = TestWorse(TestWorse(*err, PetscAbsScalar(a[i] - D[i * nf + j])), PetscAbsScalar(c[i] - 1.0 - D[i * nf + j]));
    PetscCall(VecRestoreArrayRead(y, &a));
    PetscCall(VecRestoreArrayRead(z, &c));
  }
  for (PetscInt i = 0; i < nt; ++i) { /* rows, by the transpose */
    const PetscScalar *a, *c;

    PetscCall(VecSet(y, 0.0));
    PetscCall(VecSetValue(y, i, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(y));
    PetscCall(VecAssemblyEnd(y));
    PetscCall(MatMultTranspose(P, y, x));
    PetscCall(VecSet(w, 1.0));
    PetscCall(MatMultTransposeAdd(P, y, w, w));
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(VecGetArrayRead(w, &c));
    for (PetscInt j = 0; j < nf; ++j)
      *err = TestWorse(TestWorse(*err, PetscAbsScalar(a[j] - D[i * nf + j])), PetscAbsScalar(c[j] - 1.0 - D[i * nf + j]));
    PetscCall(VecRestoreArrayRead(x, &a));
    PetscCall(VecRestoreArrayRead(w, &c));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(PetscFree(xf));
  PetscCall(PetscFree(xt));
  PetscCall(PetscFree(box));
  PetscCall(PetscFree2(D, gll));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* both directions between orders q and p, without and with essential conditions on all of the boundary, which
   the coarse space takes over */
static PetscErrorCode Check(DM coarsedm, PetscInt dim, PetscInt q, PetscInt p, PetscReal *up, PetscReal *down)
{
  DM        finedm;
  HopsSpace fine, coarse;
  DMLabel   label;
  PetscInt  one = 1;
  PetscBool marked;

  PetscFunctionBeginUser;
  if (same) {
    PetscCall(PetscObjectReference((PetscObject)coarsedm));
    finedm = coarsedm;
  } else PetscCall(DMRefine(coarsedm, PETSC_COMM_SELF, &finedm));
  PetscCall(DMHasLabel(finedm, "walls", &marked));
  if (!marked) PetscCall(DMCreateLabel(finedm, "walls"));
  PetscCall(DMGetLabel(finedm, "walls", &label));
  if (!marked) PetscCall(DMPlexMarkBoundaryFaces(finedm, 1, label));
  for (PetscInt dirichlet = 0; dirichlet < 2; ++dirichlet) {
    if (usefe && !dirichlet) {
      PetscFE fe;

      PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, p, PETSC_DETERMINE, &fe));
      PetscCall(DMSetField(finedm, 0, NULL, (PetscObject)fe));
      PetscCall(DMCreateDS(finedm));
      PetscCall(PetscFEDestroy(&fe));
      PetscCall(HopsSpaceCreateFromDM(finedm, &fine));
    } else PetscCall(HopsSpaceCreateH1(finedm, p, label, dirichlet, &one, &fine));
    PetscCall(HopsSpaceCreateCoarse(fine, same ? NULL : coarsedm, q, &coarse));
    PetscCall(Compare(coarsedm, dim, q, coarse, fine, up));
    PetscCall(Compare(finedm, dim, p, fine, coarse, down));
    PetscCall(HopsSpaceDestroy(&fine));
    PetscCall(HopsSpaceDestroy(&coarse));
  }
  PetscCall(DMDestroy(&finedm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* corner of DMPlex's vertex k of a cell, bit d for direction d */
static const PetscInt plexcorner2[4] = {0, 1, 3, 2}, plexcorner3[8] = {0, 2, 3, 1, 4, 5, 7, 6};

/* corner to which symmetry s (a permutation of the axes, then reflections) takes corner c, or -1 if s turns
   the cell inside out */
static PetscInt Symmetry(PetscInt dim, PetscInt s, PetscInt c)
{
  static const PetscInt perm[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
  const PetscInt       *p = dim == 2 ? perm[s % 2 ? 3 : 0] : perm[s % 6], flip = dim == 2 ? s / 2 : s / 6;
  PetscInt              out = 0, bits = (dim == 2 ? s % 2 : s % 6 >= 3);

  for (PetscInt d = 0; d < dim; ++d) {
    bits += (flip >> d) & 1;
    out |= (((c >> p[d]) & 1) ^ ((flip >> d) & 1)) << d;
  }
  return bits % 2 ? -1 : out;
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, q = 2, p = 2, faces[3] = {3, 2, 2}, count = 0;
  PetscReal up = 0.0, down = 0.0;
  PetscBool orientations = PETSC_FALSE;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-coarse", &q, NULL));
  p = q;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fine", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-same", &same, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fe", &usefe, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-orientations", &orientations, NULL));
  if (!orientations) {
    PetscCall(HopsDMPlexCreateBox(PETSC_COMM_SELF, dim, PETSC_FALSE, faces, &dm));
    PetscCall(Check(dm, dim, q, p, &up, &down));
    PetscCall(DMDestroy(&dm));
    ++count;
  }
  for (PetscInt s = 0; s < 64 && orientations; ++s) {
    const PetscInt a = s % 8, b = s / 8, nc = 1 << dim, n = dim == 2 ? 8 : 48;
    PetscInt       cells[16], sa = dim == 2 ? a : (5 * a + 7 * b) % n, sb = dim == 2 ? b : (11 * a + 13 * b + 1) % n;
    PetscReal      coords[36];

    if (Symmetry(dim, sa, 0) < 0 || Symmetry(dim, sb, 0) < 0) continue;
    for (PetscInt v = 0; v < 3 * nc / 2; ++v) {
      const PetscInt ijk[3] = {v % 3, (v / 3) % 2, v / 6};

      for (PetscInt d = 0; d < dim; ++d) coords[v * dim + d] = ijk[d] + (d == 0 && ijk[d] == 2 ? 0.3 : 0.0);
    }
    for (PetscInt c = 0; c < 2; ++c)
      for (PetscInt k = 0; k < nc; ++k) {
        const PetscInt corner = Symmetry(dim, c ? sb : sa, dim == 2 ? plexcorner2[k] : plexcorner3[k]);

        cells[c * nc + k] = c + (corner & 1) + 3 * ((corner >> 1) & 1) + 6 * (corner >> 2);
      }
    PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, dim, 2, 3 * nc / 2, nc, PETSC_TRUE, cells, dim, coords, &dm));
    PetscCall(Check(dm, dim, q, p, &up, &down));
    PetscCall(DMDestroy(&dm));
    ++count;
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%" PetscInt_FMT " meshes, order %" PetscInt_FMT " to %" PetscInt_FMT ": prolongation %s, evaluation %s\n",
                        count, q, p, up < 1e-13 ? "exact" : "WRONG", down < 1e-13 ? "exact" : "WRONG"));
  if (up >= 1e-13 || down >= 1e-13) PetscCall(PetscPrintf(PETSC_COMM_SELF, "errors %g %g\n", (double)up, (double)down));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j
    test:
      suffix: 2d
      args: -dim 2 -coarse {{1 2 3 4 7 10}separate output}
    test:
      suffix: 2d_hp
      args: -dim 2 -coarse {{1 2 3}separate output} -fine 5
    test:
      suffix: 2d_p
      args: -dim 2 -coarse {{1 2 4}separate output} -fine 6 -same
    test:
      suffix: 3d
      args: -dim 3 -coarse {{1 2 3}separate output}
    test:
      suffix: 3d_p
      args: -dim 3 -coarse 2 -fine 4 -same
    test:
      suffix: 2d_orientations
      args: -dim 2 -orientations -coarse 3 -fine {{3 4}separate output}
    test:
      suffix: 3d_orientations
      timeoutfactor: 2
      args: -dim 3 -orientations -coarse {{1 2}separate output} -fine 2
    test:
      suffix: fe
      args: -dim {{2 3}} -fe -coarse 2 -fine {{2 3}separate output}
    test:
      suffix: fe_orientations
      args: -dim 2 -fe -orientations -coarse 3
    test:
      suffix: isa
      args: -dim 3 -coarse 2 -hops_host_isa {{base avx2}}
      requires: avx2

TEST*/
