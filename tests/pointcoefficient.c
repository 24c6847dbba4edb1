static char help[] = "Coefficients that are functions, right-hand sides and errors, compiled from a source for a back end.\n\
  -hops_backend <toy,cuda> : toy is the host's, with the compiler of C++\n\n";

#include "hopsexpect.h"
#include "pointtoy.h"
#include "pointnvrtc.h"
#include <hops/private/hopsnestedimpl.h>

#define TEXT(...)   #__VA_ARGS__
#define SOURCE(...) TEXT(__VA_ARGS__)
#define ARGS        PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx
/* a function, and its source as NameSource */
#define FUNCTION(Name, ...) \
  static PetscErrorCode         Name(ARGS) \
  __VA_ARGS__ static const char Name##Source[] = "PetscErrorCode " #Name "(" SOURCE(ARGS) ")" SOURCE(__VA_ARGS__);

/* positive definite, of dim(dim+1)/2 entries */
FUNCTION(Tensor, {
  for (PetscInt i = 0; i < nc; ++i) k[i] = 0.1 * PetscSinReal(i + x[0] * x[1]);
  k[0] += 2.0 + x[0];
  k[dim] += 2.0 + x[1] * x[1];
  k[nc - 1] += 2.0;
  return PETSC_SUCCESS;
})
FUNCTION(Cells, {
  k[0] = x[0] < 0.5 ? 1.0 : 100.0;
  return PETSC_SUCCESS;
})
FUNCTION(Halves, {
  k[0] = (x[0] < 0.125 ? 1.0 : 100.0) + x[1]; /* the middle of the first of four cells */
  return PETSC_SUCCESS;
})
FUNCTION(Context, {
  k[0] = *(PetscReal *)ctx + x[0];
  return PETSC_SUCCESS;
})
FUNCTION(Bad, {
  k[0] = PetscSqrtReal(x[0] - 0.9);
  return PETSC_SUCCESS;
})
FUNCTION(Field, {
  for (PetscInt i = 0; i < nc; ++i) k[i] = *(PetscReal *)ctx + PetscExpReal(x[i % dim]) * (i + 1) - x[(i + 1) % dim];
  return PETSC_SUCCESS;
})
static PetscErrorCode Other(ARGS)
{
  k[0] = 1.0 + x[0];
  return PETSC_SUCCESS;
}
static const char OtherSource[] = "PetscErrorCode Other(" SOURCE(ARGS) ")" SOURCE({
  k[0] = 1.0 + 1.001 * x[0];
  return PETSC_SUCCESS;
});

/* NVRTC must take what the compiler of C++ takes */
static PetscErrorCode BothCreate(HopsPointCode code, const char kernels[], PetscBool fma, HopsPointModule *module, char why[],
                                 size_t len)
{
  PetscBool taken = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestNvrtc(code, kernels, fma, &taken, why, len));
  PetscCheck(taken, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", why);
  PetscCall(PointToyCreate(code, kernels, fma, module, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char said[2048];

static PetscErrorCode Say(const char format[], ...)
{
  va_list ap;

  va_start(ap, format);
  PetscCall(PetscVSNPrintf(said, sizeof(said), format, NULL, ap));
  va_end(ap);
  return PETSC_SUCCESS;
}

/* What the back end makes of a coefficient, against what the process makes of one that no source was given,
   with Q points */
static PetscErrorCode Compare(const char what[], HopsSpace sp, HopsCoefficient cf, HopsCoefficient host, PetscInt Q)
{
  const PetscInt nc = cf->nc;
  HopsBasis      basis;
  HopsValuesWork w = {0};
  HopsValues     here, there;
  PetscScalar   *work = NULL;
  size_t         size = 0;
  PetscBool      done;
  PetscReal      diff = 0.0;

  PetscFunctionBeginUser;
  said[0] = '\0';
  PetscCall(HopsBasisCreate(4, Q, PETSC_FALSE, &basis));
  PetscCall((*cf->evaluateon)(cf, sp, 0, sp->ncells, &basis, &w, &there, &done));
  PetscCall(HopsCoefficientEvaluate(host, sp, &basis, 0, sp->ncells, &size, &work, &here));
  if (done) {
    const PetscInt nq = HopsPower(basis.Q, sp->dim);

    PetscCall(HopsValuesBring(&w, sp->ncells, &there));
    for (PetscInt i = 0; i < sp->ncells * nq; ++i)
      for (PetscInt k = 0; k < nc; ++k)
        diff = PetscMax(diff, PetscAbsReal(there.v[i / nq * there.cstride + i % nq * there.pstride + k] - here.v[i * nc + k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s%s%s%s%s\n", what, done ? "compiled" : "the process's",
                        done && !there.pstride ? ", one a cell" : "", diff < 1e-11 ? "" : ", WRONG", said[0] ? ", " : "",
                        strstr(said, " compiled gives") ? "another function"
                                                        : (strstr(said, "reads its context") ? "reads its context" : said)));
  PetscCall(HopsValuesWorkFree(&w));
  PetscCall(PetscFree(work));
  PetscCall(HopsBasisDestroy(&basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareAll(HopsSpace sp)
{
  static PetscReal one = 1.0;
  const PetscInt   dim = sp->dim;
  static const struct {
    const char       *what;
    HopsPointFunction f;
    const char       *name, *source;
    size_t            context;
  } all[] = {
    {"no source", Cells, "Cells", NULL, 0},
    {"a tensor", Tensor, "Tensor", TensorSource, 0},
    {"constant in cells", Cells, "Cells", CellsSource, 0},
    {"a context", Context, "Context", ContextSource, 0},
    {"its copy", Context, "Context", ContextSource, sizeof(one)},
    {"another source", Other, "Other", OtherSource, 0},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(all); ++i) {
    const PetscInt  nc = all[i].f == Tensor ? dim * (dim + 1) / 2 : 1;
    HopsCoefficient cf, host;

    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, all[i].f, &one, &cf));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, all[i].f, &one, &host));
    if (all[i].source) PetscCall(HopsCoefficientSetDeviceSource(cf, all[i].name, all[i].source));
    if (all[i].context) PetscCall(HopsCoefficientSetDeviceContext(cf, all[i].context));
    PetscCall(Compare(all[i].what, sp, cf, host, 5));
    one += 1.0; /* what the process changes is seen */
    if (all[i].context) PetscCall(Compare("changed", sp, cf, host, 5));
    PetscCall(HopsCoefficientDestroy(&cf));
    PetscCall(HopsCoefficientDestroy(&host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the mesh below: means where children meet, which rules of odd length see */
static PetscErrorCode CompareCoarse(DM dm)
{
  static PetscReal one = 1.0;
  static const struct {
    const char       *what;
    HopsPointFunction f;
    const char       *name, *source;
    size_t            context;
  } all[] = {
    {"coarse, no source", Halves, "Halves", NULL, 0},
    {"coarse, halves of cells", Halves, "Halves", HalvesSource, 0},
    {"coarse, constant in cells", Cells, "Cells", CellsSource, 0},
    {"coarse, a copy of a context", Context, "Context", ContextSource, sizeof(one)},
  };
  DM         refined;
  HopsSpace  fine, coarse;
  HopsNested nested;

  PetscFunctionBeginUser;
  PetscCall(DMPlexSetRefinementUniform(dm, PETSC_TRUE));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &refined));
  PetscCall(DMSetCoarseDM(refined, dm));
  PetscCall(HopsSpaceCreateH1(refined, 3, NULL, 0, NULL, &fine));
  PetscCall(HopsSpaceCreateCoarse(fine, dm, 3, &coarse));
  PetscCall(HopsNestedCreate(coarse, fine, &nested));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(all); ++i) {
    HopsCoefficient cf[2], below[2];

    for (int k = 0; k < 2; ++k) {
      PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, all[i].f, &one, &cf[k]));
      if (!k && all[i].source) PetscCall(HopsCoefficientSetDeviceSource(cf[k], all[i].name, all[i].source));
      if (!k && all[i].context) PetscCall(HopsCoefficientSetDeviceContext(cf[k], all[i].context));
      PetscCall(HopsCoefficientCoarsen(cf[k], &nested, coarse, fine, 5, &below[k]));
      PetscCall(HopsCoefficientDestroy(&cf[k]));
    }
    for (PetscInt Q = 4; Q < 6; ++Q) PetscCall(Compare(all[i].what, coarse, below[0], below[1], Q));
    for (int k = 0; k < 2; ++k) PetscCall(HopsCoefficientDestroy(&below[k]));
  }
  PetscCall(HopsNestedDestroy(&nested));
  PetscCall(HopsSpaceDestroy(&coarse));
  PetscCall(HopsSpaceDestroy(&fine));
  PetscCall(DMDestroy(&refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is no number, and what has no function */
static PetscErrorCode Errors(HopsSpace sp)
{
  HopsCoefficient cf;
  HopsBasis       basis;
  HopsValuesWork  w = {0};
  HopsValues      v;
  PetscBool       done;
  PetscScalar     one = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsBasisCreate(4, 5, PETSC_FALSE, &basis));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Bad, NULL, &cf));
  PetscCall(HopsCoefficientSetDeviceSource(cf, "Bad", BadSource));
  EXPECT("not-a-number", (*cf->evaluateon)(cf, sp, 0, sp->ncells, &basis, &w, &v, &done), "infinite or not-a-number in cell");
  EXPECT("no context", HopsCoefficientSetDeviceContext(cf, 8), "has no context");
  PetscCall(HopsValuesWorkFree(&w));
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &cf));
  EXPECT("a constant", HopsCoefficientSetDeviceSource(cf, "Cells", CellsSource), "HopsCoefficientCreateFunction()");
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y: the operator's product; x, its: a solution by the LOR matrix; with and without sources */
static PetscErrorCode Solve(HopsSpace sp, PetscBool compiled, PetscInt *its, Vec *x, Vec *y)
{
  const PetscInt  dim = sp->dim;
  HopsCoefficient cf[2];
  Mat             A;
  KSP             ksp;
  Vec             b;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, Tensor, NULL, &cf[0]));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Cells, NULL, &cf[1]));
  if (compiled) {
    PetscCall(HopsCoefficientSetDeviceSource(cf[0], "Tensor", TensorSource));
    PetscCall(HopsCoefficientSetDeviceSource(cf[1], "Cells", CellsSource));
  }
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, cf[0]));
  PetscCall(MatPASetMass(A, cf[1]));
  PetscCall(HopsSpaceCreateVec(sp, x));
  PetscCall(VecDuplicate(*x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecDuplicate(b, y));
  PetscCall(MatMult(A, b, *y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  for (int i = 0; i < 2; ++i) PetscCall(HopsCoefficientDestroy(&cf[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand side and error of a space, by the process and by the back end */
static PetscErrorCode Integrals(DM dm, HopsFamily family, PetscBool essential)
{
  static const char *const names[]  = {"H1", "H(curl)", "H(div)", "L2"};
  PetscInt                 values[] = {1, 2, 3, 4, 5, 6}, nv = essential ? 6 : 0;
  PetscReal                two = 2.0, error[2], a, b;
  DMLabel                  label;
  Vec                      x[2], f[2];

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (int i = 0; i < 2; ++i) {
    HopsSpace sp;

    if (family == HOPS_H1) PetscCall(HopsSpaceCreateH1(dm, 3, label, nv, values, &sp));
    else if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, 2, label, nv, values, &sp));
    else if (family == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, 2, label, nv, values, &sp));
    else PetscCall(HopsSpaceCreateL2(dm, 3, &sp));
    if (essential && family != HOPS_L2) PetscCall(HopsSpaceSetEssentialFunction(sp, Field, &two));
    if (i) {
      PetscCall(HopsSpaceSetDeviceSource(sp, "Field", FieldSource));
      PetscCall(HopsSpaceSetDeviceContext(sp, &two, sizeof(two)));
    }
    PetscCall(HopsSpaceCreateVec(sp, &x[i]));
    PetscCall(VecDuplicate(x[i], &f[i]));
    PetscCall(VecSet(x[i], 0.5));
    PetscCall(HopsSpaceComputeRHS(sp, Field, &two, f[i]));
    PetscCall(HopsSpaceComputeL2Error(sp, x[i], Field, &two, &error[i]));
    if (i) PetscCheck(sp->compiled || !sp->ncells, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not compiled");
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(VecNorm(f[0], NORM_2, &a));
  PetscCall(VecAXPY(f[1], -1.0, f[0]));
  PetscCall(VecNorm(f[1], NORM_2, &b));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right-hand side %s, error %s\n", names[family],
                        a > 0.0 && b < 1e-13 * a ? "the same" : "DIFFERENT",
                        error[0] > 0.1 && PetscAbsReal(error[1] - error[0]) < 1e-12 * error[0] ? "the same" : "DIFFERENT"));
  for (int i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(VecDestroy(&f[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounding differs, for a device fuses multiply-adds of the function */
static PetscErrorCode Solutions(HopsSpace sp)
{
  Vec       x[2], y[2];
  PetscInt  its[2];
  PetscReal a[2], b[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; ++i) PetscCall(Solve(sp, i ? PETSC_TRUE : PETSC_FALSE, &its[i], &x[i], &y[i]));
  PetscCall(VecNorm(x[0], NORM_2, &a[0]));
  PetscCall(VecNorm(y[0], NORM_2, &a[1]));
  PetscCall(VecAXPY(x[1], -1.0, x[0]));
  PetscCall(VecAXPY(y[1], -1.0, y[0]));
  PetscCall(VecNorm(x[1], NORM_2, &b[0]));
  PetscCall(VecNorm(y[1], NORM_2, &b[1]));
  PetscCall(PetscInfo(NULL, "differences %g of the solution, %g of the product\n", (double)(b[0] / a[0]), (double)(b[1] / a[1])));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products: %s\n", b[1] < 1e-13 * a[1] ? "the same" : "DIFFERENT"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solutions: %s\n",
                        PetscAbsInt(its[0] - its[1]) < 2 && b[0] < 1e-9 * a[0] ? "the same" : "DIFFERENT"));
  for (int i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(VecDestroy(&y[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  HopsPointOps   both;
  PetscBool      nvrtc = PETSC_FALSE;
  HopsBackendOps toy;
  DM             dm;
  HopsSpace      sp;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nvrtc", &nvrtc, NULL));
  both        = PointToyOps;
  both.Create = BothCreate;
  if (nvrtc) toy.points = &both;
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(HopsSpaceCreateH1(dm, 3, NULL, 0, NULL, &sp));
  PetscErrorPrintf = Say;
  PetscCall(CompareAll(sp));
  PetscCall(CompareCoarse(dm));
  PetscErrorPrintf = PetscErrorPrintfDefault;
  PetscCall(Errors(sp));
  PetscCall(Solutions(sp));
  for (int family = HOPS_H1; family <= HOPS_L2; ++family)
    PetscCall(Integrals(dm, (HopsFamily)family, family % 2 ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    output_file: output/pointcoefficient.out
    args: -dm_plex_simplex 0 -dm_plex_box_faces 4,3,2 -pc_type lor
    test:
      requires: host
      args: -hops_backend toy -dm_plex_dim {{2 3}} -dm_coord_petscspace_degree 2
      nsize: {{1 2}}
    test:
      suffix: straight
      requires: host
      args: -hops_backend toy -dm_plex_dim 3
    test:
      suffix: nvrtc
      requires: host nvrtc
      args: -hops_backend toy -dm_plex_dim 3 -nvrtc -hops_pointwise_cache none
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -hops_backend cuda -use_gpu_aware_mpi 0 -dm_plex_dim {{2 3}} -dm_coord_petscspace_degree {{1 2}}

TEST*/
