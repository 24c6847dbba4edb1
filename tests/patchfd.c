static char help[] =
  "PCPATCHFD against subspace corrections with dense matrices, on boxes of unequal cells with product coefficients.\n\
  -dim <d> -order <p> -cells <n,n,n> -dirichlet <bool>\n\
  -jump <k> : times coefficients that are no product\n\
  -steep <k> : times k in every second column of cells, a product still\n\n";

#include "hopstest.h"

typedef struct {
  PetscInt      dim, p, n[3], N[3], size; /* cells, nodes per direction, unknowns */
  PetscBool     dirichlet;
  PetscReal     steep;
  PetscScalar  *A; /* [size][size] */
  PetscInt      np, ncolors;
  PetscInt     *start, *list; /* unknowns of each patch */
  int          *color;
  PetscScalar **inv; /* dense inverses of the patches' matrices */
  PetscInt     *mult;
} Reference;

static PetscErrorCode Invert(PetscInt n, PetscScalar M[])
{
  PetscBLASInt bn, info, *piv, lwork;
  PetscScalar *work;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(n, &bn));
  lwork = 64 * bn;
  PetscCall(PetscMalloc2(n, &piv, lwork, &work));
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&bn, &bn, M, &bn, piv, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "getrf %d", (int)info);
  PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&bn, M, &bn, piv, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "getri %d", (int)info);
  PetscCall(PetscFree2(piv, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* distance of unknown u from the one mesh vertex among the unknowns of a patch, in nodes */
static PetscInt Distance(const Reference *ref, PetscInt patch, PetscInt u)
{
  for (PetscInt i = ref->start[patch]; i < ref->start[patch + 1]; ++i) {
    PetscInt  l1 = 0;
    PetscBool v  = PETSC_TRUE;

    for (PetscInt d = 0, a = ref->list[i], b = u; d < ref->dim; a /= ref->N[d], b /= ref->N[d], ++d) {
      if (a % ref->N[d] % ref->p) v = PETSC_FALSE;
      l1 += PetscAbsInt(a % ref->N[d] - b % ref->N[d]);
    }
    if (v) return l1;
  }
  return -1;
}

static PetscErrorCode ReferenceCreate(Mat A, PC pc, Reference *ref)
{
  Mat             B;
  PetscInt       *all;
  const PetscInt *start;
  const int      *idx, *color;

  PetscFunctionBeginUser;
  PetscCall(PCPATCHFDGetPatches(pc, &ref->np, &start, &idx, &color, &ref->ncolors));
  PetscCall(MatGetSize(A, &ref->size, NULL));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PetscMalloc1(ref->size, &all));
  PetscCall(PetscMalloc1(ref->size * ref->size, &ref->A));
  for (PetscInt i = 0; i < ref->size; ++i) all[i] = i;
  PetscCall(TestDense(B, ref->size, all, ref->A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscMalloc4(ref->np + 1, &ref->start, start[ref->np], &ref->list, ref->np, &ref->color, ref->np, &ref->inv));
  PetscCall(PetscCalloc1(ref->size, &ref->mult));
  ref->start[0] = 0;
  for (PetscInt k = 0; k < ref->np; ++k) {
    PetscInt n = 0;

    for (PetscInt i = start[k]; i < start[k + 1]; ++i)
      if (idx[i] < ref->size) {
        ref->list[ref->start[k] + n++] = idx[i];
        ++ref->mult[idx[i]];
      }
    ref->start[k + 1] = ref->start[k] + n;
    ref->color[k]     = color[k];
    PetscCall(PetscMalloc1(n * n, &ref->inv[k]));
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt j = 0; j < n; ++j)
        ref->inv[k][i * n + j] = ref->A[ref->list[ref->start[k] + i] * ref->size + ref->list[ref->start[k] + j]];
    PetscCall(Invert(n, ref->inv[k]));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReferenceDestroy(Reference *ref)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < ref->np; ++k) PetscCall(PetscFree(ref->inv[k]));
  PetscCall(PetscFree4(ref->start, ref->list, ref->color, ref->inv));
  PetscCall(PetscFree(ref->mult));
  PetscCall(PetscFree(ref->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += out (inverse of the patch's matrix) in r */
static void Correct(const Reference *ref, PetscInt k, const PetscScalar in[], const PetscScalar out[], const PetscScalar r[],
                    PetscScalar z[])
{
  const PetscInt n = ref->start[k + 1] - ref->start[k], *u = ref->list + ref->start[k];

  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar s = 0.0;

    for (PetscInt j = 0; j < n; ++j) s += ref->inv[k][i * n + j] * (in ? in[j] : 1.0) * r[u[j]];
    z[u[i]] += (out ? out[i] : 1.0) * s;
  }
}

/* weights of a patch's unknowns: 0 none, 1 square root of one over the number of patches, 2 share among the
   nearest patches */
static PetscErrorCode Weights(const Reference *ref, PetscInt kind, PetscInt k, PetscScalar w[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = ref->start[k]; i < ref->start[k + 1]; ++i) {
    const PetscInt u = ref->list[i];
    PetscScalar   *t = w + i - ref->start[k];

    *t = kind == 1 ? 1.0 / PetscSqrtReal((PetscReal)ref->mult[u]) : 1.0;
    if (kind == 2) {
      PetscInt best = PETSC_INT_MAX, n = 0;

      for (PetscInt j = 0; j < ref->np; ++j)
        for (PetscInt m = ref->start[j]; m < ref->start[j + 1]; ++m) {
          const PetscInt l1 = ref->list[m] == u ? Distance(ref, j, u) : PETSC_INT_MAX;

          if (l1 < best) n = 0;
          best = PetscMin(best, l1);
          n += l1 == best && l1 < PETSC_INT_MAX;
        }
      *t = Distance(ref, k, u) == best ? 1.0 / n : 0.0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyReference(const Reference *ref, PCPATCHFDType type, PetscBool weight, PCPATCHFDDirection dir,
                                     PetscBool transpose, const PetscScalar b[], PetscScalar z[])
{
  PetscScalar *r, *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(ref->size, &r, ref->size, &w));
  PetscCall(PetscArrayzero(z, ref->size));
  if (type == PC_PATCHFD_MULTIPLICATIVE) {
    const PetscInt n = ref->ncolors, steps = dir == PC_PATCHFD_SYMMETRIC ? 2 * n - 1 : n;

    for (PetscInt s = 0; s < steps; ++s) {
      PetscInt c = s < n ? s : 2 * n - 2 - s;

      if ((dir == PC_PATCHFD_BACKWARD) != (transpose && dir != PC_PATCHFD_SYMMETRIC)) c = n - 1 - s;
      for (PetscInt k = 0; k < ref->np; ++k) { /* one patch after the other: those of a color must not see each other */
        if (ref->color[k] != c) continue;
        for (PetscInt i = ref->start[k]; i < ref->start[k + 1]; ++i) {
          const PetscInt u = ref->list[i];

          r[u] = b[u];
          for (PetscInt j = 0; j < ref->size; ++j) r[u] -= ref->A[u * ref->size + j] * z[j];
        }
        Correct(ref, k, NULL, NULL, r, z);
      }
    }
  } else {
    for (PetscInt k = 0; k < ref->np; ++k) {
      PetscCall(Weights(ref, type == PC_PATCHFD_RESTRICTED ? 2 : (weight ? 1 : 0), k, w));
      if (type == PC_PATCHFD_ADDITIVE) Correct(ref, k, w, w, b, z);
      else Correct(ref, k, transpose ? w : NULL, transpose ? NULL : w, b, z);
    }
  }
  for (PetscInt i = 0; i < ref->size; ++i)
    if (!ref->mult[i]) z[i] = b[i]; /* essential */
  PetscCall(PetscFree2(r, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every type, its transpose, and a Richardson sweep on a nonzero iterate (but where the residual's rounding
   is multiplied by the contrast, and with complex scalars, where PETSc makes the sweeps) */
static PetscErrorCode Compare(Mat A, Reference *ref, const char options[], PCPATCHFDType type, PetscBool weight,
                              PCPATCHFDDirection dir, PetscReal tol, PetscReal *worst)
{
  PC           pc;
  Vec          b, y, w;
  PetscScalar *z, *ya;
  PetscRandom  rnd;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCPATCHFD));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCPATCHFDSetType(pc, PC_PATCHFD_MULTIPLICATIVE)); /* so that colors are made */
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  if (!ref->A) PetscCall(ReferenceCreate(A, pc, ref)); /* patches and colors are the same with all options */
  PetscCall(PCPATCHFDSetType(pc, type));
  PetscCall(PCPATCHFDSetDirection(pc, dir));
  PetscCall(PCSetUp(pc));
  PetscCall(MatCreateVecs(A, &b, &y));
  PetscCall(VecDuplicate(b, &w));
  PetscCall(PetscMalloc1(ref->size, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rnd));
  PetscCall(VecSetRandom(b, rnd));
  for (PetscInt k = 0; k < (ref->steep == 1.0 && !PetscDefined(USE_COMPLEX) ? 3 : 2); ++k) {
    const PetscScalar *ba;
    PetscReal          e = 0.0, n = 0.0;

    if (k == 2) { /* from y: the correction for b - A y */
      PetscInt                    its;
      PCRichardsonConvergedReason reason;
      Vec                         r;

      PetscCall(VecSetRandom(y, rnd));
      PetscCall(VecDuplicate(b, &r));
      PetscCall(MatMult(A, y, r));
      PetscCall(VecAYPX(r, -1.0, b));
      PetscCall(VecGetArrayRead(r, &ba));
      PetscCall(ApplyReference(ref, type, weight, dir, PETSC_FALSE, ba, z));
      PetscCall(VecRestoreArrayRead(r, &ba));
      PetscCall(VecGetArray(y, &ya));
      for (PetscInt i = 0; i < ref->size; ++i) z[i] += ya[i];
      PetscCall(VecRestoreArray(y, &ya));
      PetscCall(VecDestroy(&r));
      PetscCall(PCApplyRichardson(pc, b, y, w, 0.0, 0.0, 1e5, 1, PETSC_FALSE, &its, &reason));
    } else {
      PetscCall(VecGetArrayRead(b, &ba));
      PetscCall(ApplyReference(ref, type, weight, dir, k ? PETSC_TRUE : PETSC_FALSE, ba, z));
      PetscCall(VecRestoreArrayRead(b, &ba));
      if (k) PetscCall(PCApplyTranspose(pc, b, y));
      else PetscCall(PCApply(pc, b, y));
    }
    PetscCall(VecGetArray(y, &ya));
    for (PetscInt i = 0; i < ref->size; ++i) {
      e = TestWorse(e, PetscAbsScalar(ya[i] - z[i]));
      n = PetscMax(n, PetscAbsScalar(z[i]));
    }
    PetscCall(VecRestoreArray(y, &ya));
    *worst = TestWorse(*worst, e / n / tol);
    if (!(e <= tol * n))
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "order %" PetscInt_FMT ", type %d, direction %d, %s%s: relative difference %g\n",
                            ref->p, type, dir, k == 0 ? "apply" : (k == 1 ? "transpose" : "Richardson"), options, (double)(e / n)));
  }
  PetscCall(PetscFree(z));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&w));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one factor for each row of cells of a direction, of some orders of magnitude */
static PetscReal Factor(PetscInt d, PetscInt i)
{
  static const PetscReal f[3][4] = {{1.0, 30.0, 0.2, 4.0}, {2.0, 0.5, 7.0, 1.0}, {0.1, 5.0, 1.0, 3.0}};

  return f[d][i % 4];
}

/* no product: 1 and `jump` on a checkerboard, where many patches are equal, or with more between, where none
   are */
static PetscReal Jump(const Reference *ref, PetscInt cell, PetscBool board, PetscReal jump)
{
  PetscInt k = (7 * cell + cell * cell / 3) % 5;

  if (board) {
    k = 0;
    for (PetscInt d = 0, j = cell; d < ref->dim; j /= ref->n[d], ++d) k += j % ref->n[d];
    return k % 2 ? jump : 1.0;
  }
  return PetscPowReal(jump, k < 2 ? k : 0.5 * PetscSinReal(2.0 * cell));
}

static PetscErrorCode Dense(void)
{
  Reference       ref = {.dim = 2, .p = 3, .n = {3, 3, 3}, .dirichlet = PETSC_TRUE, .steep = 1.0};
  PetscInt        nc = 1, three = 3, mass = 0;
  PetscReal       z[32], worst = 0.0, ratio = 1.3, jump = 0.0;
  PetscBool       fallback = PETSC_FALSE;
  PetscScalar    *k, *c;
  HopsSpace       sp;
  HopsCoefficient kappa, react;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &ref.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &ref.p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-mass", &mass, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-ratio", &ratio, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-steep", &ref.steep, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fallback", &fallback, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", ref.n, &three, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dirichlet", &ref.dirichlet, NULL));
  PetscCall(TestGLL(ref.p + 1, z));
  PetscCall(TestBox(ref.dim, ref.n, ref.p, ratio, z, ref.dirichlet, NULL, &sp));
  for (PetscInt d = 0; d < ref.dim; ++d) {
    ref.N[d] = ref.n[d] * ref.p + 1;
    nc *= ref.n[d];
  }
  /* anisotropic by constants, times a product; the reaction likewise, so that it is compatible with the
     diffusion's weights */
  PetscCall(PetscMalloc2(nc * ref.dim, &k, nc, &c));
  for (PetscInt i = 0; i < nc; ++i) {
    PetscReal f = 1.0;

    for (PetscInt d = 0, j = i; d < ref.dim; j /= ref.n[d], ++d) f *= ratio == 1.0 ? 1.0 : Factor(d, j % ref.n[d]);
    if (i % ref.n[0] % 2) f *= ref.steep;
    if (jump > 0.0) f *= Jump(&ref, i, ratio == 1.0 ? PETSC_TRUE : PETSC_FALSE, jump);
    for (PetscInt d = 0; d < ref.dim; ++d) k[i * ref.dim + d] = f * (1.0 + d);
    c[i] = 3.0 * f;
  }
  PetscCall(HopsCoefficientCreateCell(sp, ref.dim, k, &kappa));
  PetscCall(HopsCoefficientCreateCell(sp, 1, c, &react));
  PetscCall(MatCreatePA(sp, &A));
  if (mass < 2) PetscCall(MatPASetDiffusion(A, kappa));
  if (mass || !ref.dirichlet) PetscCall(MatPASetMass(A, react));
  if (fallback) { /* patches for which single precision would not do are solved in double */
    PetscCall(Compare(A, &ref, "-pc_patchfd_precision single", PC_PATCHFD_ADDITIVE, PETSC_FALSE, PC_PATCHFD_FORWARD, 1e-9, &worst));
    PetscCall(
      Compare(A, &ref, "-pc_patchfd_precision single", PC_PATCHFD_MULTIPLICATIVE, PETSC_TRUE, PC_PATCHFD_SYMMETRIC, 1e-9, &worst));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_patchfd_precision"));
    goto end;
  }
  PetscCall(Compare(A, &ref, "", PC_PATCHFD_ADDITIVE, PETSC_FALSE, PC_PATCHFD_FORWARD, 1e-12, &worst));
  PetscCall(Compare(A, &ref, "-pc_patchfd_weight", PC_PATCHFD_ADDITIVE, PETSC_TRUE, PC_PATCHFD_FORWARD, 1e-12, &worst));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_patchfd_weight"));
  PetscCall(Compare(A, &ref, "", PC_PATCHFD_RESTRICTED, PETSC_TRUE, PC_PATCHFD_FORWARD, 1e-12, &worst));
  for (PetscInt d = 0; d < 3; ++d)
    PetscCall(Compare(A, &ref, "", PC_PATCHFD_MULTIPLICATIVE, PETSC_TRUE, (PCPATCHFDDirection)d, 1e-12, &worst));
  PetscCall(Compare(A, &ref, "-pc_patchfd_fuse 0", PC_PATCHFD_MULTIPLICATIVE, PETSC_TRUE, PC_PATCHFD_FORWARD, 1e-12, &worst));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_patchfd_fuse"));
  PetscCall(
    Compare(A, &ref, "-pc_patchfd_precision single", PC_PATCHFD_MULTIPLICATIVE, PETSC_TRUE, PC_PATCHFD_SYMMETRIC, 1e-3, &worst));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_patchfd_precision"));
end:
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "order %" PetscInt_FMT " in %" PetscInt_FMT "D: %" PetscInt_FMT " patches, %" PetscInt_FMT " colors, %s\n",
                        ref.p, ref.dim, ref.np, ref.ncolors, worst <= 1.0 ? "as with dense matrices" : "DIFFERENT"));
  PetscCall(ReferenceDestroy(&ref));
  PetscCall(PetscFree2(k, c));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&react));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Dense());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dim 2 -cells 4,3
    test:
      suffix: 2d
      args: -order {{1 2 3 4 5 8}separate output}
    test:
      suffix: 2d_natural
      args: -order {{1 2 3 6}separate output} -dirichlet 0
    test:
      suffix: 2d_uniform
      args: -order {{2 4 9}separate output} -ratio 1 -mass 1
    test:
      suffix: 2d_mass
      args: -order 3 -mass {{1 2}separate output}
    test:
      suffix: 2d_fallback
      args: -order 8 -ratio 30 -cells 3,2 -fallback
    test:
      suffix: 2d_steep
      requires: host
      args: -order {{4 7}separate output} -steep {{1e14 1e-14}} -mass {{0 1}}
    test:
      suffix: 2d_base
      args: -order 4 -hops_host_isa base
    test:
      suffix: 2d_avx2
      requires: avx2
      args: -order 4 -hops_host_isa avx2

  testset:
    args: -dim 3 -cells 3,3,2
    timeoutfactor: 3
    test:
      suffix: 3d
      args: -order {{1 2 3}separate output}
    test:
      suffix: 3d_high
      args: -order {{4 5 6}separate output} -cells 3,2,2
    test:
      suffix: 3d_highest
      args: -order 7 -cells 2,2,2
    test:
      suffix: 3d_natural
      args: -order {{1 2}separate output} -dirichlet 0
    test:
      suffix: 3d_uniform
      args: -order 2 -ratio 1 -mass 1 -cells 4,3,3

  testset:
    requires: host
    args: -jump 1e6 -pc_patchfd_condense_ratio 1 -pc_patchfd_dense_max 0 -dim 2 -cells 4,3
    test:
      suffix: 2d_condensed
      args: -order {{2 3 4 5 6 7 8}separate output}
    test:
      suffix: 2d_condensed_board
      args: -order {{3 6}separate output} -ratio 1 -jump 100 -cells 7,6
    test:
      suffix: 2d_condensed_natural
      args: -order {{2 5}separate output} -dirichlet 0
    test:
      suffix: 2d_condensed_mass
      args: -order 4 -mass {{1 2}separate output}
    test:
      suffix: 2d_condensed_base
      args: -order 4 -ratio 1 -cells 7,6 -hops_host_isa base
    test:
      suffix: 2d_condensed_avx2
      requires: avx2
      args: -order 4 -ratio 1 -cells 7,6 -hops_host_isa avx2

  testset:
    requires: host
    args: -jump 1e6 -pc_patchfd_condense_ratio 1 -pc_patchfd_dense_max 0 -dim 3 -cells 2,2,2
    timeoutfactor: 3
    test:
      suffix: 3d_condensed
      args: -order {{4 5 6}separate output}
    test:
      suffix: 3d_condensed_cells
      args: -order {{2 3}separate output} -cells 3,3,2 -mass {{0 1}separate output} -jump 100
    test:
      suffix: 3d_condensed_board
      args: -order 2 -cells 5,4,3 -ratio 1
    test:
      suffix: 3d_condensed_natural
      args: -order {{2 3}separate output} -dirichlet 0

TEST*/
