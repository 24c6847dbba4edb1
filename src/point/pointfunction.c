/*
  Functions of position where a device's back end works: compiled from a source, compared with the program's
  own at points of the mesh, and evaluated at the points of cells.
*/
#include <hops/private/hopspointcheckimpl.h>
#include <hops/private/hopspointfunctionimpl.h>

/* for a function, on one back end */
struct _HopsPointFunction {
  const HopsBackendOps *be;
  HopsPointFunction     f;
  HopsPointCode         code;
  HopsPointModule       module; /* NULL: it cannot be done, and why was said */
  PetscBool             checked;
  int                  *flags;
  void                 *ctx; /* a copy of the function's, or NULL */
  size_t                ctxsize;
  PetscInt              dim, nc;
  HopsPointFunctionList next;
};

static const char ArgsText[] =
#include <point/pointfunctionargs.h.inc>
  ;
static const char KernelText[] =
#include <point/pointfunctionkernel.cuh.inc>
  ;

#define HOPS_POINT_CELLS 8 /* of the mesh, where functions are compared */

PetscErrorCode HopsPointFunctionListDestroy(HopsPointFunctionList *list)
{
  PetscFunctionBegin;
  while (*list) {
    HopsPointFunctionList c = *list;

    *list = c->next;
    if (c->module) PetscCall((*c->be->points->Destroy)(&c->module));
    PetscCall(HopsPointCodeDestroy(&c->code));
    PetscCall((*c->be->memory->Free)((void **)&c->flags));
    PetscCall((*c->be->memory->Free)(&c->ctx));
    PetscCall(PetscFree(c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once, on each rank that it happens on: others may have the function */
static PetscErrorCode Refuse(HopsPointFunctionList c, const char why[])
{
  PetscFunctionBegin;
  if (c->module) PetscCall((*c->be->points->Destroy)(&c->module));
  PetscCall((*PetscErrorPrintf)("Warning: a function of position stays on the host: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compile(HopsSpace sp, const HopsPositionFunction *f, const HopsPointOrigin *from, HopsPointFunctionList c)
{
  const HopsVoidFn fn   = (HopsVoidFn)f->f;
  const size_t     size = sizeof(ArgsText) + sizeof(KernelText) + 512;
  char             why[1024], *text;
  const char      *name;
  size_t           head;

  PetscFunctionBegin;
  PetscCall(HopsPointCodeCreateFrom(from, 1, &fn, &c->code, why, sizeof(why)));
  if (c->code) {
    PetscCall(HopsPointCodeGetName(c->code, fn, &name));
    PetscCall(PetscMalloc1(size, &text));
    PetscCall(PetscSNPrintf(text, size,
                            "%s#undef DIM\n#define DIM %" PetscInt_FMT "\n#undef NC\n#define NC %" PetscInt_FMT
                            "\n#undef FUNCTION\n#define FUNCTION %s\n",
                            ArgsText, sp->dim, f->nc, name));
    PetscCall(PetscStrlen(text, &head));
    PetscCall(PetscArraycpy(text + head, KernelText, sizeof(KernelText)));
    PetscCall((*c->be->points->Create)(c->code, text, PETSC_TRUE, &c->module, why, sizeof(why)));
    PetscCall(PetscFree(text));
  }
  if (!c->module) PetscCall(Refuse(c, why));
  else {
    PetscCall((*c->be->memory->Malloc)(2 * sizeof(int), (void **)&c->flags));
    if (f->ctxsize) PetscCall((*c->be->memory->Malloc)(f->ctxsize, &c->ctx));
    PetscCall(PetscInfo(sp, "%s compiled for the back end %s\n", name, c->be->name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What serves on the space's back end; NULL where no source was given */
static PetscErrorCode Get(HopsPointFunctionList *list, HopsSpace sp, const HopsPositionFunction *f, HopsPointFunctionList *out)
{
  HopsPointFunctionList c                         = *list;
  HopsPointOrigin       from                      = {.contexts = f->ctxsize ? PETSC_TRUE : PETSC_FALSE};
  char                  files[PETSC_MAX_PATH_LEN] = "";
  PetscBool             set;

  PetscFunctionBegin;
  while (c && (c->be != sp->backend || c->f != f->f || c->ctxsize != f->ctxsize || c->dim != sp->dim || c->nc != f->nc))
    c = c->next;
  *out = c;
  if (c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsObjectGetDeviceSource(f->owner, &from.ngiven, &from.given));
  PetscCall(PetscOptionsGetString(((PetscObject)sp)->options, ((PetscObject)sp)->prefix, "-hops_pointwise_source", files,
                                  sizeof(files), &set));
  from.files = files;
  if (!set && !from.ngiven) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&c));
  c->be      = sp->backend;
  c->f       = f->f;
  c->ctxsize = f->ctxsize;
  c->dim     = sp->dim;
  c->nc      = f->nc;
  c->next    = *list;
  *list      = c;
  PetscCall(Compile(sp, f, &from, c));
  *out = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPositionLaunch(HopsPositionRun *r, const char kernel[], size_t n)
{
  void *launch[] = {&r->args};

  PetscFunctionBegin;
  if (n)
    PetscCall(
      (*r->compiled->be->points->Launch)(r->compiled->module, kernel, (PetscInt)PetscMin((n + 127) / 128, 16384), 128, launch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPositionEvaluate(HopsPositionRun *r, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  r->args.first = (int)first;
  r->args.n     = (int)n;
  PetscCall(HopsPositionLaunch(r, "HopsFunctionAtPoints", (size_t)n * r->nq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPositionVaries(HopsPositionRun *r, int flags[2])
{
  PetscFunctionBegin;
  PetscCall(HopsPositionLaunch(r, "HopsFunctionVaries", (size_t)r->args.n * r->nq));
  PetscCall((*r->compiled->be->memory->Copy)(NULL, flags, r->args.flags, 2 * sizeof(int), HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with the program's function, at the points of cells, when the kernels run for the first time */
static PetscErrorCode Check(HopsPositionRun *r, const HopsPositionFunction *f, HopsSpace sp)
{
  static const PetscInt  zero[1] = {0};
  const HopsBackendOps  *be      = sp->backend;
  const HopsPointSubject subject = {.f     = (HopsVoidFn)f->f,
                                    .kind  = HOPS_POINT_FUNCTION,
                                    .size  = f->nc,
                                    .ctx   = f->ctx,
                                    .there = r->compiled->ctx};
  const PetscInt         n       = PetscMin(sp->ncells, HOPS_POINT_CELLS);
  const size_t           size    = (size_t)r->nq * sp->dim * sizeof(double);
  HopsPointState         state   = {.n = n * r->nq, .dim = sp->dim, .uOff = zero, .uOff_x = zero, .aOff = zero, .aOff_x = zero};
  PetscReal             *x;
  char                   why[1024];

  PetscFunctionBegin;
  r->compiled->checked = PETSC_TRUE;
  PetscCall(PetscMalloc(n * size, &x));
  PetscCall((*be->memory->PoolMalloc)(size, (void **)&r->args.x));
  PetscCall((*be->memory->PoolMalloc)((size_t)r->nq * f->nc * sizeof(double), (void **)&r->args.out));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(HopsPositionEvaluate(r, (PetscInt)((PetscInt64)i * sp->ncells / n), 1));
    PetscCall((*be->memory->Copy)(NULL, x + i * r->nq * sp->dim, r->args.x, size, HOPS_COPY_OUT));
  }
  PetscCall((*be->memory->PoolFree)((void **)&r->args.x));
  PetscCall((*be->memory->PoolFree)((void **)&r->args.out));
  state.x = x;
  PetscCall(HopsPointCheck(be, r->compiled->code, 1, &subject, &state, why, sizeof(why)));
  PetscCall(PetscFree(x));
  if (why[0]) PetscCall(Refuse(r->compiled, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPositionEnd(HopsPositionRun *r)
{
  PetscFunctionBegin;
  PetscCall((*r->compiled->be->memory->PoolFree)((void **)&r->tables));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the bases of maps and of the space at the points, one after the other */
static PetscErrorCode SetTables(HopsPositionRun *r, HopsSpace sp, const HopsBasis *basis)
{
  const HopsMemoryOps *memory = sp->backend->memory;
  const PetscInt       Q = basis->Q, P = sp->gorder + 1, nm = Q * P, nc = Q * basis->P, no = Q * (basis->P - 1);
  const PetscInt       n = 2 * nm + Q + nc + no;
  HopsBasis            geom;
  PetscReal           *h, *t;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  PetscCall(PetscCalloc1(n, &h));
  PetscCall(PetscArraycpy(h, geom.B, nm));
  PetscCall(PetscArraycpy(h + nm, geom.D, nm));
  if (basis->weights) PetscCall(PetscArraycpy(h + 2 * nm, basis->weights, Q));
  PetscCall(PetscArraycpy(h + 2 * nm + Q, basis->B, nc));
  if (basis->E) PetscCall(PetscArraycpy(h + 2 * nm + Q + nc, basis->E, no));
  PetscCall((*memory->PoolMalloc)(n * sizeof(*h), (void **)&r->tables));
  PetscCall((*memory->Copy)(NULL, r->tables, h, n * sizeof(*h), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscCall(HopsBasisDestroy(&geom));
  t                = r->tables;
  r->args.map[0]   = t;
  r->args.map[1]   = t + nm;
  r->args.weights  = t + 2 * nm;
  r->args.basis[0] = t + 2 * nm + Q;
  r->args.basis[1] = t + 2 * nm + Q + nc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPositionBegin(HopsPointFunctionList *list, HopsSpace sp, const HopsPositionFunction *f, const HopsBasis *basis,
                                 HopsPositionRun *r, PetscBool *done)
{
  const int             none[] = {PETSC_MPI_INT_MAX, 0};
  HopsPointFunctionList c      = NULL;
  PetscBool             changed;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (sp->backend->points && sp->ncells) PetscCall(Get(list, sp, f, &c));
  if (!c || !c->module) PetscFunctionReturn(PETSC_SUCCESS);
  *r = (HopsPositionRun){.compiled = c, .nq = HopsPower(basis->Q, sp->dim)};
  PetscCall(HopsSpaceGetBackendMesh(sp, &r->args.restr, &r->args.nodes));
  PetscCall(SetTables(r, sp, basis));
  r->args.flags  = c->flags;
  r->args.ctx    = c->ctx;
  r->args.P      = (int)sp->gorder + 1;
  r->args.Q      = (int)basis->Q;
  r->args.family = (int)sp->family;
  r->args.ncells = (int)sp->ncells;
  r->args.order  = (int)sp->order;
  r->args.ne     = (int)sp->ne;
  r->args.nT     = (int)sp->nT;
  r->args.nL     = (int)sp->nL;
  if (c->ctx) PetscCall((*c->be->memory->Copy)(NULL, c->ctx, f->ctx, f->ctxsize, HOPS_COPY_IN));
  PetscCall((*c->be->points->Refresh)(c->module, &changed));
  PetscCall((*c->be->memory->Copy)(NULL, c->flags, none, sizeof(none), HOPS_COPY_IN));
  if (!c->checked) {
    PetscCall(Check(r, f, sp));
    PetscCall((*c->be->memory->Copy)(NULL, c->flags, none, sizeof(none), HOPS_COPY_IN));
  }
  *done = c->module ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscCall(HopsPositionEnd(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
