/*
  Compiled point functions against the process's own. The source given may be another than the one that
  the program was made from, or its compiler may have been told other macros: then the two differ, and
  the compiled ones are not used. Fused multiply-adds round otherwise, so the comparison goes without
  them.
*/
#include <hops/private/hopspointcheckimpl.h>
#include <point/pointcheckargs.h>

static const char ArgsText[] =
#include <point/pointcheckargs.h.inc>
  ;

#define HOPS_POINT_TOLERANCE 1e-12 /* of the largest value: libraries of functions differ in the last digits */
#define HOPS_POINT_LINE      640   /* what a call takes of the text, beside the function's name */

static const char HeadText[] =
  "#define AT(p, stride) ((p) ? (p) + (size_t)i * (stride) : nullptr)\n"
  "extern \"C\" __global__ void HopsPointCheckAll(const HopsPointCheckArgs *args)\n{\n"
  "  const HopsPointCheckArgs s = *args;\n"
  "  for (PetscInt i = blockIdx.x * blockDim.x + threadIdx.x; i < s.n; i += gridDim.x * blockDim.x) {\n"
  "    const PetscScalar *u = AT(s.u, s.nu), *u_t = AT(s.u_t, s.nu), *u_x = AT(s.u_x, s.nux);\n"
  "    const PetscScalar *a = AT(s.a, s.na), *a_t = AT(s.a_t, s.na), *a_x = AT(s.a_x, s.nax);\n"
  "    const PetscReal *x = AT(s.x, s.dim), *normal = AT(s.normal, s.dim);\n"
  "    PetscScalar *out = s.out + (size_t)i * s.size;\n"
  "    (void)u, (void)u_t, (void)u_x, (void)a, (void)a_t, (void)a_x, (void)normal;\n"
  "    for (PetscInt k = 0; k < s.size; ++k) out[k] = 0;\n"
  "    switch (s.f) {\n";

/* what the kinds take between time and constants */
static const char *const ArgsOfKind[] = {"x", "s.shift, x", "x, normal", "s.shift, x, normal"};

static PetscErrorCode CheckText(HopsPointCode code, PetscInt n, const HopsPointSubject f[], char **text)
{
  size_t len = sizeof(ArgsText) + sizeof(HeadText) + 16, at;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    const char *name;

    PetscCall(HopsPointCodeGetName(code, f[k].f, &name));
    len += strlen(name) + HOPS_POINT_LINE;
  }
  PetscCall(PetscMalloc1(len, text));
  PetscCall(PetscSNPrintf(*text, len, "%s%s", ArgsText, HeadText));
  for (PetscInt k = 0; k < n; ++k) {
    const char *name;

    PetscCall(HopsPointCodeGetName(code, f[k].f, &name));
    at = strlen(*text);
    if (f[k].kind == HOPS_POINT_EXACT)
      PetscCall(PetscSNPrintf(*text + at, len - at, "    case %" PetscInt_FMT ": %s(s.dim, s.t, x, s.size, out, s.ctx); break;\n",
                              k, name));
    else if (f[k].kind == HOPS_POINT_FUNCTION)
      PetscCall(
        PetscSNPrintf(*text + at, len - at, "    case %" PetscInt_FMT ": %s(s.dim, x, s.size, out, s.ctx); break;\n", k, name));
    else
      PetscCall(PetscSNPrintf(*text + at, len - at,
                              "    case %" PetscInt_FMT
                              ": %s(s.dim, s.Nf, s.NfAux, s.uOff, s.uOff_x, u, u_t, u_x, s.aOff, s.aOff_x, a, a_t, "
                              "a_x, s.t, %s, s.nconst, s.constants, out); break;\n",
                              k, name, ArgsOfKind[f[k].kind]));
  }
  at = strlen(*text);
  PetscCall(PetscSNPrintf(*text + at, len - at, "    }\n  }\n}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- arguments ------------------------------------------- */

#define HOPS_POINT_COPIES 16
typedef struct {
  const HopsMemoryOps *memory;
  int                  n;
  void                *p[HOPS_POINT_COPIES]; /* on the back end */
} Copies;

/* *to, a pointer to anything, is a copy on the back end, or NULL where there is nothing to be copied */
static PetscErrorCode Copy(Copies *c, size_t size, const void *from, void *to)
{
  PetscFunctionBegin;
  *(void **)to = NULL;
  if (!from || !size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*c->memory->Malloc)(size, &c->p[c->n]));
  PetscCall((*c->memory->Copy)(NULL, c->p[c->n], from, size, HOPS_COPY_IN));
  *(void **)to = c->p[c->n++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyState(Copies *c, const HopsPointState *s, HopsPointCheckArgs *args)
{
  const size_t real = sizeof(PetscReal), offsets = (s->Nf + 1) * sizeof(PetscInt), auxoffsets = (s->NfAux + 1) * sizeof(PetscInt);
  HopsPointCheckArgs a =
    {.n = s->n, .dim = s->dim, .Nf = s->Nf, .NfAux = s->NfAux, .nconst = s->nconst, .t = s->t, .shift = s->shift};

  PetscFunctionBegin;
  a.nu  = s->uOff[s->Nf];
  a.nux = s->uOff_x[s->Nf];
  a.na  = s->aOff[s->NfAux];
  a.nax = s->aOff_x[s->NfAux];
  PetscCall(Copy(c, offsets, s->uOff, &a.uOff));
  PetscCall(Copy(c, offsets, s->uOff_x, &a.uOff_x));
  PetscCall(Copy(c, auxoffsets, s->aOff, &a.aOff));
  PetscCall(Copy(c, auxoffsets, s->aOff_x, &a.aOff_x));
  PetscCall(Copy(c, real * s->n * a.nu, s->u, &a.u));
  PetscCall(Copy(c, real * s->n * a.nu, s->u_t, &a.u_t));
  PetscCall(Copy(c, real * s->n * a.nux, s->u_x, &a.u_x));
  PetscCall(Copy(c, real * s->n * a.na, s->a, &a.a));
  PetscCall(Copy(c, real * s->n * a.na, s->a_t, &a.a_t));
  PetscCall(Copy(c, real * s->n * a.nax, s->a_x, &a.a_x));
  PetscCall(Copy(c, real * s->nconst, s->constants, &a.constants));
  PetscCall(Copy(c, real * s->n * s->dim, s->x, &a.x));
  PetscCall(Copy(c, real * s->n * s->dim, s->normal, &a.normal));
  *args = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------- the check -------------------------------------------- */

/* Not-a-numbers and infinities must be the same */
static PetscReal Difference(PetscReal here, PetscReal there)
{
  if (PetscIsNanReal(here) && PetscIsNanReal(there)) return 0.0;
  if (PetscIsInfOrNanReal(here) || PetscIsInfOrNanReal(there)) return here == there ? 0.0 : PETSC_INFINITY;
  return PetscAbsReal(here - there);
}

/* PETSc and C libraries write them in several ways */
static PetscErrorCode Number(PetscReal v, char s[], size_t len)
{
  PetscFunctionBegin;
  if (PetscIsNanReal(v)) PetscCall(PetscStrncpy(s, "not-a-number", len));
  else PetscCall(PetscSNPrintf(s, len, "%g", (double)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Judge(const char name[], PetscInt n, PetscInt size, const PetscReal here[], const PetscReal there[],
                            char why[], size_t len)
{
  PetscReal scale = 0.0, worst = 0.0;
  PetscInt  at = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n * size; ++i) {
    if (!PetscIsInfOrNanReal(here[i])) scale = PetscMax(scale, PetscAbsReal(here[i]));
    if (Difference(here[i], there[i]) > worst) {
      worst = Difference(here[i], there[i]);
      at    = i;
    }
  }
  if (worst > HOPS_POINT_TOLERANCE * scale) {
    char a[32], b[32];

    PetscCall(Number(there[at], a, sizeof(a)));
    PetscCall(Number(here[at], b, sizeof(b)));
    PetscCall(PetscSNPrintf(why, len,
                            "%s() compiled gives %s for entry %" PetscInt_FMT
                            " where the program's gives %s: is its source the one that "
                            "the program was compiled from, with the same macros?",
                            name, a, at % size, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFunction(const HopsBackendOps *be, HopsPointModule module, const char name[], const HopsPointSubject *f,
                                    const HopsPointState *s, HopsPointCheckArgs *args, char why[], size_t len)
{
  const size_t total = (size_t)s->n * f->size;
  PetscScalar *here, *there;
  Copies       c   = {.memory = be->memory};
  void        *out = NULL, *where, *launch[1];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(total, &here, total, &there));
  PetscCall((*be->memory->Malloc)(total * sizeof(PetscScalar), &out));
  args->size = f->size;
  args->ctx  = f->there;
  args->out  = (PetscScalar *)out;
  PetscCall(Copy(&c, sizeof(*args), args, &where));
  launch[0] = &where;
  PetscCall((*be->points->Launch)(module, "HopsPointCheckAll", (s->n + 63) / 64, 64, launch));
  PetscCall(HopsPointStateEvaluate(s, f, here));
  PetscCall((*be->memory->Copy)(NULL, there, out, total * sizeof(PetscScalar), HOPS_COPY_OUT));
  PetscCall(Judge(name, s->n, f->size, (const PetscReal *)here, (const PetscReal *)there, why, len));
  PetscCall((*be->memory->Free)(&c.p[0]));
  PetscCall((*be->memory->Free)(&out));
  PetscCall(PetscFree2(here, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCheck(const HopsBackendOps *be, HopsPointCode code, PetscInt n, const HopsPointSubject f[],
                              const HopsPointState *s, char why[], size_t len)
{
  HopsPointModule    module;
  HopsPointCheckArgs args;
  Copies             c = {.memory = be->memory};
  PetscBool          changed;
  char              *text;

  PetscFunctionBegin;
  why[0] = '\0';
  PetscCheck(HOPS_PARTS == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "Functions are compiled for real scalars alone");
  PetscCall(CheckText(code, n, f, &text));
  PetscCall((*be->points->Create)(code, text, PETSC_FALSE, &module, why, len));
  PetscCall(PetscFree(text));
  if (!module) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->points->Refresh)(module, &changed));
  PetscCall(CopyState(&c, s, &args));
  for (args.f = 0; args.f < n && s->n && !why[0]; ++args.f) {
    const char *name, *colon;

    PetscCall(HopsPointCodeGetName(code, f[args.f].f, &name));
    colon = strrchr(name, ':'); /* without the namespace of its file */
    PetscCall(CheckFunction(be, module, colon ? colon + 1 : name, &f[args.f], s, &args, why, len));
  }
  for (int k = 0; k < c.n; ++k) PetscCall((*be->memory->Free)(&c.p[k]));
  PetscCall((*be->points->Destroy)(&module));
  PetscFunctionReturn(PETSC_SUCCESS);
}
