/*
  Text of kernels for the point functions of a PetscDS: constants and calls, written here, around
  pointkernel.cuh. The makefile turns that file, pointargs.h and pointtensor.h into strings.
*/
#include <hops/private/hopspointcellsimpl.h>

static const char HopsPointArgsText[] =
#include <form/ds/device/pointargs.h.inc>
  ;
static const char HopsPointTensorText[] =
#include <form/ds/device/pointtensor.h.inc>
  ;
static const char HopsPointKernelText[] =
#include <form/ds/device/pointkernel.cuh.inc>
  ;

#define HOPS_POINT_SHARED_BYTES 48000 /* what every device has for a block */

typedef struct {
  size_t n, max;
  char  *s;
} HopsText;

static PetscErrorCode HopsTextAppend(HopsText *t, const char s[])
{
  size_t len;

  PetscFunctionBegin;
  PetscCall(PetscStrlen(s, &len));
  if (t->n + len + 1 > t->max) {
    char *more;

    t->max = 2 * (t->n + len + 1);
    PetscCall(PetscMalloc1(t->max, &more));
    if (t->n) PetscCall(PetscArraycpy(more, t->s, t->n));
    PetscCall(PetscFree(t->s));
    t->s = more;
  }
  PetscCall(PetscArraycpy(t->s + t->n, s, len + 1));
  t->n += len;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one line of at most 1023 characters */
static PetscErrorCode HopsTextPrintf(HopsText *t, const char format[], ...)
{
  char    line[1024];
  va_list ap;

  PetscFunctionBegin;
  va_start(ap, format);
  PetscCall(PetscVSNPrintf(line, sizeof(line), format, NULL, ap));
  va_end(ap);
  PetscCall(HopsTextAppend(t, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------ which functions are called ------------------------------------ */

PetscErrorCode HopsPointJobAdd(HopsPointJob *job, PetscInt region, PetscInt target, PetscBool dynamic, PetscInt n, HopsVoidFn *f)
{
  HopsPointCallee *more;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(job->ncalls + n, &more));
  PetscCall(PetscArraycpy(more, job->call, job->ncalls));
  PetscCall(PetscFree(job->call));
  job->call = more;
  for (PetscInt i = 0; i < n; ++i) job->call[job->ncalls++] = (HopsPointCallee){region, target, dynamic, f[i]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointJobCreateResidual(HopsPointCells pc, HopsPointJob *job)
{
  PetscInt nds;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(job, sizeof(*job)));
  PetscCall(DMGetNumDS(pc->dm, &nds));
  job->nregions = nds;
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion    r;
    PetscWeakForm wf;

    PetscCall(HopsRegionGet(pc->dm, s, PETSC_FALSE, &r));
    PetscCall(PetscDSGetWeakForm(r.ds, &wf));
    for (PetscInt f = 0; f < pc->fields->nf; ++f) {
      PetscInt      n[2];
      HopsPointFun *fun[2];

      PetscCall(PetscWeakFormGetResidual(wf, r.label, r.value, f, 0, &n[0], &fun[0], &n[1], &fun[1]));
      for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsPointJobAdd(job, s, 2 * f + k, PETSC_FALSE, n[k], (HopsVoidFn *)fun[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointJobCreateTensors(HopsPointCells pc, HopsJacobian form, HopsPointJob *job)
{
  PetscInt nds;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(job, sizeof(*job)));
  PetscCall(PetscMalloc1(form->nblocks, &job->block));
  PetscCall(PetscArraycpy(job->block, form->blocks, form->nblocks));
  job->nblocks = form->nblocks;
  PetscCall(DMGetNumDS(pc->dm, &nds));
  job->nregions = nds;
  for (PetscInt s = 0; s < nds; ++s)
    for (PetscInt b = 0; b < form->nblocks; ++b) {
      HopsRegion r;

      PetscCall(HopsRegionGetBlock(pc->dm, s, form->preconditioner, form->blocks[b].test, form->blocks[b].trial, &r));
      for (PetscInt k = 0; k < 4; ++k) {
        PetscCall(HopsPointJobAdd(job, s, 4 * b + k, PETSC_FALSE, r.n[k], (HopsVoidFn *)r.g[k]));
        PetscCall(HopsPointJobAdd(job, s, 4 * b + k, PETSC_TRUE, r.nt[k], (HopsVoidFn *)r.gt[k]));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointJobDestroy(HopsPointJob *job)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(job->call));
  PetscCall(PetscFree(job->block));
  PetscCall(PetscMemzero(job, sizeof(*job)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------- the text --------------------------------------------- */

static PetscErrorCode HopsTextArray(HopsText *t, const char name[], PetscInt n, const PetscInt a[])
{
  PetscFunctionBegin;
  PetscCall(HopsTextPrintf(t, "__device__ static const PetscInt %s[] = {", name));
  for (PetscInt i = 0; i < n; ++i) PetscCall(HopsTextPrintf(t, "%" PetscInt_FMT ", ", a[i]));
  PetscCall(HopsTextAppend(t, "0};\n")); /* never empty */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTextConstant(HopsText *t, const char name[], PetscInt value)
{
  PetscFunctionBegin;
  PetscCall(HopsTextPrintf(t, "#undef %s\n#define %s %" PetscInt_FMT "\n", name, name, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of all tensors at a point, the place of target i after those before it: all kinds of a block
   have one */
PetscInt HopsPointJobOffset(const HopsPointCells pc, const HopsPointJob *job, PetscInt target)
{
  PetscInt off = 0;

  for (PetscInt i = 0; i < target; ++i) {
    const HopsJacobianBlock *b = &job->block[i / 4];

    if (b->has[i % 4]) off += pc->fields->nc[b->test] * pc->fields->nc[b->trial] * HopsTensorEntries(pc->fields->dim, i % 4);
  }
  return off;
}

static PetscErrorCode HopsTextConstants(HopsText *t, HopsPointCells pc, const HopsPointJob *job, PetscInt Q, PetscBool *shared,
                                        size_t *nwork)
{
  HopsFields     F  = pc->fields;
  const PetscInt nu = F->off[F->nf], PG = pc->space->gorder + 1, pdim = F->dim - (job->faces ? 1 : 0);
  PetscInt       m = Q, ends = 2 * Q * PG + Q + Q * Q;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < F->nf; ++f) {
    m = PetscMax(m, F->P[f]);
    ends += 2 * Q * F->P[f];
  }
  *nwork  = 2 * HopsPower(m, pdim) + (size_t)nu * (F->dim + 2) * HopsPower(Q, pdim);
  *shared = *nwork * sizeof(double) <= HOPS_POINT_SHARED_BYTES ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsTextConstant(t, "DIM", F->dim));
  PetscCall(HopsTextConstant(t, "Q", Q));
  PetscCall(HopsTextConstant(t, "PG", PG));
  PetscCall(HopsTextConstant(t, "MAXPQ", m));
  PetscCall(HopsTextConstant(t, "NF", F->nf));
  PetscCall(HopsTextConstant(t, "NFAUX", pc->aux.nf));
  PetscCall(HopsTextConstant(t, "NU", nu));
  PetscCall(HopsTextConstant(t, "NA", pc->aux.nc));
  PetscCall(HopsTextConstant(t, "NR", pc->nr));
  PetscCall(HopsTextConstant(t, "NAR", pc->nar));
  PetscCall(HopsTextConstant(t, "NE", F->nclosure));
  PetscCall(HopsTextConstant(t, "WORK", (PetscInt)*nwork));
  PetscCall(HopsTextConstant(t, "SHARED", *shared ? 1 : 0));
  PetscCall(HopsTextConstant(t, "RESIDUAL", job->nblocks ? 0 : 1));
  PetscCall(HopsTextConstant(t, "FACES", job->faces ? 1 : 0));
  PetscCall(HopsTextConstant(t, "ENDS", ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields() and Integrate(): a template for each field; tables as HopsPointKernelSetTables() has them. What
   cells have of the rule, C, faces have of each field, E */
static PetscErrorCode HopsTextFields(HopsText *t, HopsPointCells pc, const HopsPointJob *job, PetscInt Q)
{
  HopsFields     F  = pc->fields;
  const PetscInt PG = pc->space->gorder + 1, C = 2 * Q * PG + Q;
  PetscInt       E = 4 * PG, B = C + Q * Q, r = 0, e = 0;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < F->nf; ++f) E += 2 * Q * F->P[f];
  PetscCall(HopsTextAppend(t, "__device__ static void Fields(const HopsPointArgs &k, const int *restr, int face, double *work, "
                              "double *v)\n{\n"));
  E += B;
  for (PetscInt f = 0, Ef = E; f < F->nf; Ef += 2 * F->P[f++]) {
    const PetscInt P = F->P[f], nc = F->nc[f];

    for (PetscInt xt = 0; xt < 2; ++xt)
      PetscCall(HopsTextPrintf(t,
                               "  %sFieldAtPoints<%" PetscInt_FMT ", %" PetscInt_FMT "> (k.%s, restr + %" PetscInt_FMT
                               ", k.tables + %" PetscInt_FMT ", k.tables + %" PetscInt_FMT ", face, %s, work, v + (%" PetscInt_FMT
                               " * SLOTS%s) * NQ);\n",
                               xt ? "if (k.xt) " : "", P, nc, xt ? "xt" : "x", r, B, job->faces ? Ef : C, xt ? "false" : "true",
                               F->off[f], xt ? " + DIM + 1" : ""));
    r += HopsPower(P, F->dim);
    B += 2 * Q * P;
  }
  PetscCall(HopsTextAppend(t, "}\n"));
  if (job->nblocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsTextAppend(t, "__device__ static void Integrate(const HopsPointArgs &k, int face, double *work, const double *v, "
                              "double *out)\n{\n"));
  B = C + Q * Q;
  for (PetscInt f = 0, Ef = E; f < F->nf; Ef += 2 * F->P[f++]) {
    PetscCall(HopsTextPrintf(t,
                             "  FieldIntegrate<%" PetscInt_FMT ", %" PetscInt_FMT "> (k.tables + %" PetscInt_FMT
                             ", k.tables + %" PetscInt_FMT ", face, work, v + %" PetscInt_FMT " * SLOTS * NQ, out + %" PetscInt_FMT
                             ");\n",
                             F->P[f], F->nc[f], B, job->faces ? Ef : C, F->off[f], e));
    e += F->nc[f] * HopsPower(F->P[f], F->dim);
    B += 2 * Q * F->P[f];
  }
  PetscCall(HopsTextAppend(t, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTextAux(HopsText *t, HopsPointCells pc, const HopsPointJob *job, PetscInt Q)
{
  const PetscInt dim = pc->fields->dim, nq = HopsPower(Q, job->faces ? dim - 1 : dim), nfaces = job->faces ? 2 * dim : 1;
  PetscInt       table = 0, b0 = 0;

  PetscFunctionBegin;
  PetscCall(
    HopsTextAppend(t,
                   "__device__ static void AuxFields(const HopsPointArgs &k, const int *restr, int face, int q, Point &p)\n{\n"));
  for (PetscInt f = 0; f < pc->aux.nf; ++f) {
    PetscObject disc;
    PetscInt    nb, nc;

    PetscCall(PetscDSGetDiscretization(pc->aux.ds, f, &disc));
    PetscCall(PetscFEGetDimension((PetscFE)disc, &nb));
    PetscCall(PetscFEGetNumComponents((PetscFE)disc, &nc));
    PetscCall(HopsTextPrintf(t,
                             "  AuxField<%" PetscInt_FMT ", %" PetscInt_FMT "> (k.auxtables + %" PetscInt_FMT
                             " + (size_t)face * %" PetscInt_FMT ", k.aux, restr + %" PetscInt_FMT ", q, p.Ji, p.a + %" PetscInt_FMT
                             ", p.ax + %" PetscInt_FMT ");\n",
                             nb, nc, table, nq * nb * nc * (dim + 1), b0, pc->aux.off[f], pc->aux.offx[f]));
    table += nfaces * nq * nb * nc * (dim + 1);
    b0 += nb;
  }
  PetscCall(HopsTextAppend(t, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A call with PETSc's arguments */
static PetscErrorCode HopsTextCall(HopsText *t, HopsPointCells pc, const HopsPointJob *job, const HopsPointCallee *call,
                                   const char name[], const char out[])
{
  const PetscInt s = job->faces ? 0 : call->region; /* a boundary is that of one region */

  PetscFunctionBegin;
  PetscCall(HopsTextPrintf(t,
                           "      %s(DIM, NF, NFAUX, uOff, uOffx, p.u, p.ut, p.ux, aOff, aOffx, p.a, 0, p.ax, k.t, %sp.x, "
                           "%s%" PetscInt_FMT ", k.constants + %" PetscInt_FMT ", %s);\n",
                           name, job->nblocks ? "k.shift, " : "", job->faces ? "p.normal, " : "",
                           pc->constoff[s + 1] - pc->constoff[s], pc->constoff[s], out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All calls of a region and target; with a shift those of the time derivative are summed up apart */
static PetscErrorCode HopsTextCalls(HopsText *t, HopsPointCells pc, const HopsPointJob *job, HopsPointCode code, PetscInt region,
                                    PetscInt target, PetscBool dynamic, const char out[], PetscInt *n)
{
  PetscFunctionBegin;
  *n = 0;
  for (PetscInt i = 0; i < job->ncalls; ++i) {
    const HopsPointCallee *call = &job->call[i];
    const char            *name = NULL;

    if (call->region != region || call->target != target || call->dynamic != dynamic) continue;
    ++*n;
    if (!t) continue;
    PetscCall(HopsPointCodeGetName(code, call->f, &name));
    PetscCall(HopsTextCall(t, pc, job, call, name, out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTextResiduals(HopsText *t, HopsPointCells pc, const HopsPointJob *job, HopsPointCode code)
{
  HopsFields F = pc->fields;
  PetscInt   n;
  char       out[64];

  PetscFunctionBegin;
  PetscCall(HopsTextAppend(t, "__device__ static void Residuals(const HopsPointArgs &k, int region, Point &p, double f0[], double "
                              "f1[])\n{\n"));
  for (PetscInt s = 0; s < job->nregions; ++s) {
    PetscCall(HopsTextPrintf(t, "  if (region == %" PetscInt_FMT ") {\n", s));
    for (PetscInt i = 0; i < 2 * F->nf; ++i) {
      PetscCall(PetscSNPrintf(out, sizeof(out), "f%d + %" PetscInt_FMT, (int)(i % 2), i % 2 ? F->offx[i / 2] : F->off[i / 2]));
      PetscCall(HopsTextCalls(t, pc, job, code, s, i, PETSC_FALSE, out, &n));
    }
    PetscCall(HopsTextAppend(t, "  }\n"));
  }
  PetscCall(HopsTextAppend(t, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTextTensors(HopsText *t, HopsPointCells pc, const HopsPointJob *job, HopsPointCode code)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(HopsTextAppend(t, "__device__ static void Tensors(const HopsPointArgs &k, int region, Point &p, int cell, size_t at, "
                              "size_t n)\n{\n"));
  for (PetscInt i = 0; i < 4 * job->nblocks; ++i) {
    const PetscInt off = HopsPointJobOffset(pc, job, i), size = HopsPointJobOffset(pc, job, i + 1) - off;

    if (!size) continue;
    PetscCall(HopsTextPrintf(t, "  {\n    double g[%" PetscInt_FMT "] = {0};\n\n", size));
    for (PetscInt s = 0; s < job->nregions; ++s) {
      PetscCall(HopsTextPrintf(t, "    if (region == %" PetscInt_FMT ") {\n", s));
      PetscCall(HopsTextCalls(t, pc, job, code, s, i, PETSC_FALSE, "g", &n));
      PetscCall(HopsTextCalls(NULL, pc, job, code, s, i, PETSC_TRUE, "g", &n));
      if (n) {
        PetscCall(HopsTextPrintf(t, "      if (k.shift != 0) {\n      double v[%" PetscInt_FMT "] = {0};\n\n", size));
        PetscCall(HopsTextCalls(t, pc, job, code, s, i, PETSC_TRUE, "v", &n));
        PetscCall(HopsTextPrintf(t, "      for (int i = 0; i < %" PetscInt_FMT "; i++) g[i] += k.shift * v[i];\n      }\n", size));
      }
      PetscCall(HopsTextAppend(t, "    }\n"));
    }
    PetscCall(HopsTextPrintf(t,
                             "    StoreTensor<%" PetscInt_FMT "> (k, cell, g, k.out + %" PetscInt_FMT " * n + %" PetscInt_FMT
                             " * at);\n  }\n",
                             size, off, size));
  }
  PetscCall(HopsTextAppend(t, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointJobCreateText(HopsPointCells pc, const HopsPointJob *job, HopsPointCode code, PetscInt Q, char **text,
                                      PetscBool *shared, size_t *nwork)
{
  HopsText   t = {0, 0, NULL};
  HopsFields F = pc->fields;

  PetscFunctionBegin;
  PetscCall(HopsTextConstants(&t, pc, job, Q, shared, nwork));
  PetscCall(HopsTextAppend(&t, "namespace HopsPoints {\n"));
  PetscCall(HopsTextArray(&t, "uOff", F->nf + 1, F->off));
  PetscCall(HopsTextArray(&t, "uOffx", F->nf + 1, F->offx));
  PetscCall(HopsTextArray(&t, "aOff", pc->aux.nf ? pc->aux.nf + 1 : 0, pc->aux.off));
  PetscCall(HopsTextArray(&t, "aOffx", pc->aux.nf ? pc->aux.nf + 1 : 0, pc->aux.offx));
  PetscCall(HopsTextAppend(&t, HopsPointArgsText));
  PetscCall(HopsTextAppend(&t, "#define HOPS_POINT_FUNCTION __device__ static\n"));
  PetscCall(HopsTextAppend(&t, HopsPointTensorText));
  PetscCall(HopsTextAppend(&t, HopsPointKernelText));
  PetscCall(HopsTextFields(&t, pc, job, Q));
  PetscCall(HopsTextAux(&t, pc, job, Q));
  if (job->nblocks) PetscCall(HopsTextTensors(&t, pc, job, code));
  else PetscCall(HopsTextResiduals(&t, pc, job, code));
  PetscCall(HopsTextAppend(&t, "}\n"));
  *text = t.s;
  PetscFunctionReturn(PETSC_SUCCESS);
}
