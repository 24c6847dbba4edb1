/* What a point function needs of its source, and whether a device can run it. */
#include <hops/private/hopspointimpl.h>

static const char *const Keywords[] = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "defined"};
static const char *const Types[]    = {"const",  "void",     "char",   "short",    "int",      "long",   "float", "double",
                                       "signed", "unsigned", "size_t", "volatile", "register", "struct", "union", "enum"};
/* what CUDA has of C's library for any thread */
static const char *const Library[] = {"acos",     "acosh",     "asin",  "asinh",  "atan",   "atan2", "atanh", "cbrt",  "ceil",
                                      "copysign", "cos",       "cosh",  "erf",    "erfc",   "exp",   "exp2",  "expm1", "fabs",
                                      "fdim",     "floor",     "fma",   "fmax",   "fmin",   "fmod",  "hypot", "ilogb", "isfinite",
                                      "isinf",    "isnan",     "ldexp", "lgamma", "log",    "log10", "log1p", "log2",  "nearbyint",
                                      "pow",      "remainder", "rint",  "round",  "sin",    "sinh",  "sqrt",  "tan",   "tanh",
                                      "tgamma",   "trunc",     "abs",   "labs",   "memcpy", "memset"};

#define IsIn(t, list) InList(t, (int)PETSC_STATIC_ARRAY_LENGTH(list), list)
static PetscBool InList(const HopsToken *t, int n, const char *const list[])
{
  for (int k = 0; k < n; ++k)
    if (HopsTokenIs(t, list[k])) return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscBool Same(const HopsToken *a, const HopsToken *b)
{
  return a->n == b->n && !strncmp(a->s, b->s, a->n) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool IsType(const HopsPointSource *src, const HopsPointSource *prelude, const HopsToken *t)
{
  return t->kind == HOPS_TOKEN_NAME && (IsIn(t, Types) || HopsPointSourceFind(src, HOPS_UNIT_TYPE, t->s, t->n) ||
                                        HopsPointSourceFind(prelude, HOPS_UNIT_TYPE, t->s, t->n))
           ? PETSC_TRUE
           : PETSC_FALSE;
}

/* Does a function have a parameter or a variable of this name of its own? */
static PetscBool IsLocal(const HopsPointSource *src, const HopsPointSource *prelude, const HopsPointUnit *u, const HopsToken *name)
{
  for (PetscInt i = u->first + 1; u->kind == HOPS_UNIT_FUNCTION && i < u->last; ++i) {
    const HopsToken *t = &src->token[i], *before = t - 1;

    if (t->kind != HOPS_TOKEN_NAME || !Same(t, name) || i == u->name[0]) continue;
    while (before > &src->token[u->first] &&
           (HopsTokenIs(before, "*") || HopsTokenIs(before, "const") || HopsTokenIs(before, "restrict")))
      --before;
    if (IsType(src, prelude, before)) return PETSC_TRUE;
  }
  if (u->kind != HOPS_UNIT_MACRO) return PETSC_FALSE;
  for (PetscInt i = u->name[0] + 1; i < u->body; ++i)
    if (Same(&src->token[i], name)) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Is the variable at token i changed, or its address taken? */
static PetscBool IsChanged(const HopsPointSource *src, PetscInt i)
{
  static const char *const assign[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  const HopsToken         *t        = &src->token[i];
  PetscInt                 depth    = 0;

  if (HopsTokenIs(t - 1, "++") || HopsTokenIs(t - 1, "--") || HopsTokenIs(t - 1, "&")) return PETSC_TRUE;
  for (++t; t < src->token + src->ntokens; ++t) { /* behind its indices and members */
    depth += (HopsTokenIs(t, "[") ? 1 : 0) - (HopsTokenIs(t, "]") ? 1 : 0);
    if (depth || HopsTokenIs(t, "]")) continue;
    if (HopsTokenIs(t, ".")) ++t;
    else break;
  }
  return IsIn(t, assign);
}

static const char *UnitName(const HopsPointSource *src, const HopsPointUnit *u, int *n)
{
  *n = u->nnames ? src->token[u->name[0]].n : 1;
  return u->nnames ? src->token[u->name[0]].s : "?";
}

/* The last parameter of a function where that is void *, in PETSc 3.25 PetscCtx: a context of the process */
static const HopsToken *GetContext(const HopsPointSource *src, const HopsPointUnit *u)
{
  const HopsToken *t = u->kind == HOPS_UNIT_FUNCTION && u->body > u->first + 4 ? &src->token[u->body - 2] : NULL;

  if (!t || t->kind != HOPS_TOKEN_NAME) return NULL;
  return HopsTokenIs(t - 1, "PetscCtx") || (HopsTokenIs(t - 1, "*") && HopsTokenIs(t - 2, "void")) ? t : NULL;
}

static PetscErrorCode NeedName(HopsPointSource *, const HopsPointSource *, HopsPointUnit *, PetscInt, char[], size_t);

static PetscErrorCode NeedUnit(HopsPointSource *src, const HopsPointSource *prelude, HopsPointUnit *u, char why[], size_t len)
{
  int              n;
  const char      *name    = UnitName(src, u, &n);
  const HopsToken *context = GetContext(src, u);

  PetscFunctionBegin;
  if (u->needed || why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  u->needed = PETSC_TRUE;
  for (PetscInt i = u->kind == HOPS_UNIT_MACRO ? u->body : u->first; i < u->last && !why[0]; ++i) {
    const HopsToken *t = &src->token[i];

    if (t->kind != HOPS_TOKEN_NAME || (u->nnames && i == u->name[0])) continue;
    if (u->kind == HOPS_UNIT_FUNCTION && i > u->body && HopsTokenIs(t, "static") && !HopsTokenIs(t + 1, "const") &&
        !HopsTokenIs(t + 2, "const"))
      PetscCall(PetscSNPrintf(why, len, "%s: %.*s() keeps a value between calls (static), which threads of a device would share",
                              src->path, n, name));
    if (i && (HopsTokenIs(t - 1, ".") || HopsTokenIs(t - 1, "->"))) continue;
    if (context && !src->contexts && i > u->body && Same(t, context))
      PetscCall(PetscSNPrintf(why, len, "%s: %.*s() reads its context, which is in the process's memory", src->path, n, name));
    if (IsLocal(src, prelude, u, t)) continue;
    PetscCall(NeedName(src, prelude, u, i, why, len));
  }
  if (u->kind != HOPS_UNIT_VARIABLE || u->constant || why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = u->first; i < u->last && !HopsTokenIs(&src->token[i], "="); ++i)
    if (HopsTokenIs(&src->token[i], "*"))
      PetscCall(PetscSNPrintf(why, len, "%s: the variable %.*s is a pointer, which means nothing on a device", src->path, n, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSourceNeed(HopsPointSource *src, const HopsPointSource *prelude, HopsPointUnitKind kind, const char name[],
                                   int n, char why[], size_t len)
{
  HopsPointUnit *u;

  PetscFunctionBegin;
  for (PetscInt i = 0; (u = HopsPointSourceNext(src, kind, name, n, &i));) PetscCall(NeedUnit(src, prelude, u, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Token i of the unit, a name that stands for something outside of it */
static PetscErrorCode NeedName(HopsPointSource *src, const HopsPointSource *prelude, HopsPointUnit *u, PetscInt i, char why[],
                               size_t len)
{
  static const HopsPointUnitKind kinds[] = {HOPS_UNIT_MACRO, HOPS_UNIT_TYPE, HOPS_UNIT_FUNCTION, HOPS_UNIT_VARIABLE};
  const HopsToken               *t       = &src->token[i];
  const PetscBool                call    = i + 1 < src->ntokens && HopsTokenIs(t + 1, "(") ? PETSC_TRUE : PETSC_FALSE;
  int                            n;
  const char                    *name = UnitName(src, u, &n);

  PetscFunctionBegin;
  for (int k = 0; k < 4; ++k) {
    const HopsPointUnit *v = HopsPointSourceFind(src, kinds[k], t->s, t->n);

    if (!v) continue;
    PetscCall(HopsPointSourceNeed(src, prelude, kinds[k], t->s, t->n, why, len));
    if (v->kind == HOPS_UNIT_VARIABLE && u->kind != HOPS_UNIT_VARIABLE && !v->constant && IsChanged(src, i))
      PetscCall(PetscSNPrintf(why, len, "%s: %.*s() changes the variable %.*s, which the device would do to a copy", src->path, n,
                              name, t->n, t->s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!call || IsIn(t, Keywords) || IsIn(t, Types) || IsIn(t, Library)) PetscFunctionReturn(PETSC_SUCCESS);
  if (HopsPointSourceFind(prelude, HOPS_UNIT_MACRO, t->s, t->n) || HopsPointSourceFind(prelude, HOPS_UNIT_FUNCTION, t->s, t->n) ||
      HopsPointSourceFind(prelude, HOPS_UNIT_TYPE, t->s, t->n))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(why, len, "%s: %.*s() calls %.*s(), which is not in the source and not known on a device", src->path, n,
                          name, t->n, t->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
