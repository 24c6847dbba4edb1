/*
  Coefficients that are functions of position, where a device's back end works: compiled from a source,
  compared with the program's own function at points of the mesh, and evaluated at the points of cells.
*/
#include <hops/private/hopspointcheckimpl.h>
#include <form/point/pointfunctionargs.h>

/* on one back end */
struct _HopsPointFunction {
  const HopsBackendOps *be;
  HopsPointCode         code;
  HopsPointModule       module; /* NULL: it cannot be done, and why was said */
  PetscBool             checked;
  int                  *flags;
  void                 *ctx; /* a copy of the coefficient's, of cf->ctxsize bytes, or NULL */
  HopsPointFunctionList next;
};

static const char ArgsText[] =
#include <form/point/pointfunctionargs.h.inc>
  ;

/* behind the constants DIM and NC and the name of the function */
static const char KernelText[] =
  "__device__ static int Power(int n)\n{\n  return DIM == 3 ? n * n * n : n * n;\n}\n"
  "extern \"C\" __global__ void HopsFunctionAtPoints(const HopsPointFunctionArgs k)\n{\n"
  "  const int nq = Power(k.Q), np = Power(k.P);\n"
  "  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)k.n * nq; i += (size_t)gridDim.x * blockDim.x) {\n"
  "    const int     q = (int)(i % nq), cell = k.first + (int)(i / nq);\n"
  "    const double *X = k.nodes + (size_t)cell * DIM * np, *B0 = k.basis + q % k.Q * k.P, *B1 = k.basis + q / k.Q % k.Q * k.P,\n"
  "                 *B2 = k.basis + q / (k.Q * k.Q) * k.P;\n"
  "    double        x[3] = {0, 0, 0}, *v = k.out + i * NC;\n"
  "    for (int j = 0; j < np; j++) {\n"
  "      const double b = B0[j % k.P] * B1[j / k.P % k.P] * (DIM == 3 ? B2[j / (k.P * k.P)] : 1.0);\n"
  "      for (int d = 0; d < DIM; d++) x[d] += b * X[d * np + j];\n"
  "    }\n"
  "    for (int d = 0; d < DIM && k.x; d++) k.x[i * DIM + d] = x[d];\n"
  "    FUNCTION(DIM, x, NC, v, k.ctx);\n"
  "    for (int c = 0; c < NC; c++)\n"
  "      if (!(v[c] - v[c] == 0)) atomicMin(k.flags, cell);\n"
  "  }\n"
  "}\n"
  "extern \"C\" __global__ void HopsFunctionVaries(const HopsPointFunctionArgs k)\n{\n"
  "  const size_t row = (size_t)Power(k.Q) * NC;\n"
  "  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < k.n * row; i += (size_t)gridDim.x * blockDim.x)\n"
  "    if (k.out[i] != k.out[i / row * row + i % NC]) k.flags[1] = 1;\n"
  "}\n";

PetscErrorCode HopsPointFunctionListDestroy(HopsPointFunctionList *list)
{
  PetscFunctionBegin;
  while (*list) {
    HopsPointFunctionList f = *list;

    *list = f->next;
    if (f->module) PetscCall((*f->be->points->Destroy)(&f->module));
    PetscCall(HopsPointCodeDestroy(&f->code));
    PetscCall((*f->be->memory->Free)((void **)&f->flags));
    PetscCall((*f->be->memory->Free)(&f->ctx));
    PetscCall(PetscFree(f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once: what was asked for does not happen */
static PetscErrorCode Refuse(HopsSpace sp, HopsPointFunctionList f, const char why[])
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  if (f->module) PetscCall((*f->be->points->Destroy)(&f->module));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sp), &rank));
  if (!rank) PetscCall((*PetscErrorPrintf)("Warning: a coefficient's function stays on the host: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compile(HopsCoefficient cf, HopsSpace sp, const HopsPointOrigin *from, HopsPointFunctionList f)
{
  const HopsVoidFn fn   = (HopsVoidFn)cf->func;
  const size_t     size = sizeof(ArgsText) + sizeof(KernelText) + 512;
  char             why[1024], *text;
  const char      *name;

  PetscFunctionBegin;
  PetscCall(HopsPointCodeCreateFrom(from, 1, &fn, &f->code, why, sizeof(why)));
  if (f->code) {
    PetscCall(HopsPointCodeGetName(f->code, fn, &name));
    PetscCall(PetscMalloc1(size, &text));
    PetscCall(PetscSNPrintf(text, size,
                            "#undef DIM\n#define DIM %" PetscInt_FMT "\n#undef NC\n#define NC %" PetscInt_FMT
                            "\n#undef FUNCTION\n#define FUNCTION %s\n%s%s",
                            sp->dim, cf->nc, name, ArgsText, KernelText));
    PetscCall((*f->be->points->Create)(f->code, text, PETSC_TRUE, &f->module, why, sizeof(why)));
    PetscCall(PetscFree(text));
  }
  if (!f->module) PetscCall(Refuse(sp, f, why));
  else {
    PetscCall((*f->be->memory->Malloc)(2 * sizeof(int), (void **)&f->flags));
    if (cf->ctxsize) PetscCall((*f->be->memory->Malloc)(cf->ctxsize, &f->ctx));
    PetscCall(PetscInfo(cf, "function compiled for the back end %s\n", f->be->name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What serves on the space's back end; NULL where no source was given */
static PetscErrorCode Get(HopsCoefficient cf, HopsSpace sp, HopsPointFunctionList *out)
{
  HopsPointFunctionList f                         = cf->compiled;
  HopsPointOrigin       from                      = {.contexts = cf->ctxsize ? PETSC_TRUE : PETSC_FALSE};
  char                  files[PETSC_MAX_PATH_LEN] = "";
  PetscBool             set;

  PetscFunctionBegin;
  while (f && f->be != sp->backend) f = f->next;
  *out = f;
  if (f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsObjectGetDeviceSource((PetscObject)cf, &from.ngiven, &from.given));
  PetscCall(PetscOptionsGetString(((PetscObject)sp)->options, ((PetscObject)sp)->prefix, "-hops_pointwise_source", files,
                                  sizeof(files), &set));
  from.files = files;
  if (!set && !from.ngiven) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&f));
  f->be        = sp->backend;
  f->next      = cf->compiled;
  cf->compiled = f;
  PetscCall(Compile(cf, sp, &from, f));
  *out = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out[n][point][component] on the back end; with x[] the points too */
static PetscErrorCode Launch(HopsCoefficient cf, HopsPointFunctionList f, HopsSpace sp, const HopsBasis *basis, PetscInt first,
                             PetscInt n, double x[], double out[], int flags[2])
{
  const PetscInt        grid     = PetscMin((n * HopsPower(basis->Q, sp->dim) + 127) / 128, 16384);
  const int             none[]   = {PETSC_MPI_INT_MAX, 0}, *restr;
  const size_t          size     = basis->Q * (sp->gorder + 1) * sizeof(PetscReal);
  const HopsMemoryOps  *memory   = f->be->memory;
  HopsPointFunctionArgs args     = {.x     = x,
                                    .out   = out,
                                    .ctx   = f->ctx,
                                    .flags = f->flags,
                                    .first = (int)first,
                                    .n     = (int)n,
                                    .P     = (int)sp->gorder + 1,
                                    .Q     = (int)basis->Q};
  void                 *launch[] = {&args}, *table;
  PetscBool             changed;
  HopsBasis             geom;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  PetscCall((*memory->PoolMalloc)(size, &table));
  PetscCall((*memory->Copy)(NULL, table, geom.B, size, HOPS_COPY_IN));
  PetscCall((*memory->Copy)(NULL, f->flags, none, sizeof(none), HOPS_COPY_IN));
  if (f->ctx) PetscCall((*memory->Copy)(NULL, f->ctx, cf->ctx, cf->ctxsize, HOPS_COPY_IN));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsSpaceGetBackendMesh(sp, &restr, &args.nodes));
  args.basis = (double *)table;
  PetscCall((*f->be->points->Refresh)(f->module, &changed));
  PetscCall((*f->be->points->Launch)(f->module, "HopsFunctionAtPoints", grid, 128, launch));
  PetscCall((*f->be->points->Launch)(f->module, "HopsFunctionVaries", grid, 128, launch));
  PetscCall((*memory->Copy)(NULL, flags, f->flags, sizeof(none), HOPS_COPY_OUT));
  PetscCall((*memory->PoolFree)(&table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_POINT_CELLS 8 /* of the mesh, where functions are compared */

/* with the program's function, at the points of cells, when the kernels run for the first time; out[] has room for one */
static PetscErrorCode Check(HopsCoefficient cf, HopsPointFunctionList f, HopsSpace sp, const HopsBasis *basis, double out[])
{
  static const PetscInt  zero[1] = {0};
  const HopsPointSubject subject = {.f     = (HopsVoidFn)cf->func,
                                    .kind  = HOPS_POINT_FUNCTION,
                                    .size  = cf->nc,
                                    .ctx   = cf->ctx,
                                    .there = f->ctx};
  const PetscInt         n = PetscMin(sp->ncells, HOPS_POINT_CELLS), nq = HopsPower(basis->Q, sp->dim);
  const size_t           size  = (size_t)nq * sp->dim * sizeof(double);
  HopsPointState         state = {.n = n * nq, .dim = sp->dim, .uOff = zero, .uOff_x = zero, .aOff = zero, .aOff_x = zero};
  PetscReal             *x;
  void                  *bx;
  char                   why[1024];
  int                    flags[2];

  PetscFunctionBegin;
  f->checked = PETSC_TRUE;
  PetscCall(PetscMalloc(n * size, &x));
  PetscCall((*f->be->memory->PoolMalloc)(size, &bx));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(Launch(cf, f, sp, basis, (PetscInt)((PetscInt64)i * sp->ncells / n), 1, (double *)bx, out, flags));
    PetscCall((*f->be->memory->Copy)(NULL, x + i * nq * sp->dim, bx, size, HOPS_COPY_OUT));
  }
  state.x = x;
  PetscCall(HopsPointCheck(f->be, f->code, 1, &subject, &state, why, sizeof(why)));
  PetscCall((*f->be->memory->PoolFree)(&bx));
  PetscCall(PetscFree(x));
  if (why[0]) PetscCall(Refuse(sp, f, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientEvaluateOn_Function(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                  const HopsBasis *basis, HopsValuesWork *w, HopsValues *val, PetscBool *done)
{
  const PetscInt        nq = HopsPower(basis->Q, sp->dim);
  HopsPointFunctionList f;
  int                   flags[2];

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!n || !sp->backend->points) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Get(cf, sp, &f));
  if (!f || !f->module) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsValuesReserve(w, f->be, (size_t)n * nq * cf->nc));
  if (!f->checked) PetscCall(Check(cf, f, sp, basis, w->bv));
  if (!f->module) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Launch(cf, f, sp, basis, first, n, NULL, w->bv, flags));
  PetscCheck(flags[0] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_FP,
             "The %s coefficient is infinite or not-a-number in cell %" PetscInt_FMT ": check the function behind it", cf->kind,
             sp->cell[flags[0]]);
  *val =
    (HopsValues){.nc = cf->nc, .v = w->bv, .cstride = nq * cf->nc, .pstride = flags[1] ? cf->nc : 0, .memtype = f->be->memtype};
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
