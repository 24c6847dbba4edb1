/* Point functions of a code, and what they use of its source, as one text that a device's compiler takes. */
#include <hops/private/hopspointimpl.h>

static const char HopsPointPrelude[] =
#include <point/pointprelude.h.inc>
  ;

/* Text that grows */
typedef struct {
  char  *s;
  size_t n, max;
} Text;

static PetscErrorCode TextAdd(Text *t, const char s[], size_t n)
{
  PetscFunctionBegin;
  if (t->n + n + 1 > t->max) {
    t->max = 2 * (t->n + n + 1);
    PetscCall(PetscRealloc(t->max, &t->s));
  }
  PetscCall(PetscMemcpy(t->s + t->n, s, n));
  t->n += n;
  t->s[t->n] = '\0';
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TextPrint(Text *t, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
static PetscErrorCode TextPrint(Text *t, const char format[], ...)
{
  char    line[1024];
  va_list args;
  size_t  n;

  PetscFunctionBegin;
  va_start(args, format);
  PetscCall(PetscVSNPrintf(line, sizeof(line), format, NULL, args));
  va_end(args);
  PetscCall(PetscStrlen(line, &n));
  PetscCall(TextAdd(t, line, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tokens without those that say where C would put a name */
static PetscErrorCode TextTokens(Text *t, const HopsPointSource *src, PetscInt first, PetscInt last, PetscBool head)
{
  static const char *const linkage[] = {"static",       "inline",       "extern",      "PETSC_STATIC_INLINE",
                                        "PETSC_EXTERN", "PETSC_INTERN", "PETSC_UNUSED"};

  PetscFunctionBegin;
  for (PetscInt i = first; i < last; ++i) {
    const HopsToken *k    = &src->token[i];
    PetscBool        skip = k->kind == HOPS_TOKEN_DEAD ? PETSC_TRUE : PETSC_FALSE;

    for (size_t l = 0; head && l < PETSC_STATIC_ARRAY_LENGTH(linkage); ++l)
      if (HopsTokenIs(k, linkage[l])) skip = PETSC_TRUE;
    if (skip) continue;
    if (k->kind == HOPS_TOKEN_LINE) PetscCall(TextAdd(t, "\n", 1));
    if (HopsTokenIs(k, "restrict")) PetscCall(TextPrint(t, "__restrict__"));
    else PetscCall(TextAdd(t, k->s, k->n));
    PetscCall(
      TextAdd(t, k->kind == HOPS_TOKEN_LINE || HopsTokenIs(k, ";") || HopsTokenIs(k, "{") || HopsTokenIs(k, "}") ? "\n" : " ", 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line of the preprocessor: conditions and definitions, which the text needs where they are */
static PetscErrorCode TextLine(Text *t, const HopsPointSource *src, const HopsPointSource *prelude, const HopsPointUnit *u)
{
  const HopsToken *line = &src->token[u->first];
  const char      *s    = line->s + 1;

  PetscFunctionBegin;
  while (*s == ' ' || *s == '\t') ++s;
  if (!strncmp(s, "include", 7) || !strncmp(s, "pragma", 6) || !strncmp(s, "warning", 7) || !strncmp(s, "line", 4))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (u->kind == HOPS_UNIT_MACRO) {
    const HopsToken *name = &src->token[u->name[0]];

    if (HopsPointSourceFind(prelude, HOPS_UNIT_FUNCTION, name->s, name->n)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(TextPrint(t, "#undef %.*s\n", name->n, name->s));
  }
  PetscCall(TextAdd(t, line->s, line->n));
  PetscCall(TextAdd(t, "\n", 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- the sources ----------------------------------------- */

typedef struct {
  PetscInt         n;      /* sources */
  PetscInt         ngiven; /* the first of them, each for one function alone */
  HopsPointSource *source, prelude;
  HopsPointSymbol *symbol; /* [functions] */
  PetscInt        *from;   /* [functions] source */
  HopsPointUnit  **unit;   /* [functions] */
} Sources;

static const char *BaseName(const char path[])
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* The function in the sources: in its own one, that of its file, or else in the only one that has it */
static PetscErrorCode FindFunction(Sources *s, const HopsPointGiven given[], PetscInt f, char why[], size_t len)
{
  const HopsPointSymbol *y     = &s->symbol[f];
  PetscInt               found = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < s->ngiven; ++k)
    for (PetscInt i = 0; i < y->n; ++i) {
      if (strcmp(y->name[i], given[k].name)) continue;
      s->from[f] = k;
      s->unit[f] = HopsPointSourceFind(&s->source[k], HOPS_UNIT_FUNCTION, y->name[i], (int)strlen(y->name[i]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  for (PetscInt pass = 0; pass < 2 && !found; ++pass)
    for (PetscInt k = s->ngiven; k < s->n; ++k)
      for (PetscInt i = 0; i < y->n; ++i) {
        HopsPointUnit *u = HopsPointSourceFind(&s->source[k], HOPS_UNIT_FUNCTION, y->name[i], (int)strlen(y->name[i]));

        if (!u || (!pass && strcmp(y->source[i], BaseName(s->source[k].path)))) continue;
        if (found++) {
          PetscCall(PetscSNPrintf(why, len, "%s() is in %s and in %s: leave one of them out", y->name[i],
                                  s->source[s->from[f]].path, s->source[k].path));
          PetscFunctionReturn(PETSC_SUCCESS);
        }
        s->from[f] = k;
        s->unit[f] = u;
        break;
      }
  if (!found) PetscCall(PetscSNPrintf(why, len, "%s() is not in the sources given", y->name[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadSources(const char files[], PetscInt ngiven, const HopsPointGiven given[], Sources *s, char why[],
                                  size_t len)
{
  char **path;
  int    n;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(files, ',', &n, &path));
  PetscCall(PetscCalloc1(ngiven + n, &s->source));
  s->ngiven = ngiven;
  for (PetscInt k = 0; k < ngiven && !why[0]; ++k) {
    PetscCall(HopsPointSourceParse(given[k].text, &s->source[k], why, len));
    PetscCall(PetscSNPrintf(s->source[k].path, sizeof(s->source[k].path), "the source of %s()", given[k].name));
    ++s->n;
  }
  for (PetscInt k = 0; k < n && !why[0]; ++k) {
    PetscCall(HopsPointSourceRead(path[k], &s->source[ngiven + k], why, len));
    ++s->n;
  }
  PetscCall(PetscStrToArrayDestroy(n, path));
  if (!why[0]) PetscCall(HopsPointSourceParse(HopsPointPrelude, &s->prelude, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the text ------------------------------------------- */

/* Variables of the process: their values are copied to the device's by name, before each use */
static PetscErrorCode TextVariable(Text *t, HopsPointCode code, const Sources *s, PetscInt k, const HopsPointUnit *u, PetscInt f,
                                   char why[], size_t len)
{
  const HopsPointSource *src = &s->source[k];

  PetscFunctionBegin;
  if (u->constant) {
    PetscCall(TextPrint(t, "static __device__ "));
    PetscCall(TextTokens(t, src, u->first, u->last, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < u->nnames; ++i) {
    const HopsToken  *name = &src->token[u->name[i]];
    HopsPointVariable v;
    char              plain[128];
    PetscBool         many;

    PetscCall(PetscSNPrintf(plain, sizeof(plain), "%.*s", name->n, name->s));
    PetscCall(PetscSNPrintf(v.name, sizeof(v.name), "hops%d_%s", (int)k, plain));
    PetscCall(HopsPointSymbolVariable(&s->symbol[f], code->fn[f], BaseName(src->path), plain, &v.host, &v.size, &many));
    if (many)
      PetscCall(
        PetscSNPrintf(why, len, "%s: several files have a variable %s, and none of them is this one: rename it", src->path, plain));
    PetscCall(TextPrint(t, "#define %s %s\n", plain, v.name));
    if (!v.host) continue; /* the compiler saw that nobody changes it */
    PetscCall(PetscRealloc((code->nvars + 1) * sizeof(v), &code->var));
    code->var[code->nvars++] = v;
  }
  PetscCall(TextPrint(t, "extern \"C\" {\n__device__ "));
  PetscCall(TextTokens(t, src, u->first, u->last, PETSC_TRUE));
  PetscCall(TextPrint(t, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A function, or the prototype of one that is needed */
static PetscErrorCode TextFunction(Text *t, const HopsPointSource *src, const HopsPointUnit *u)
{
  const HopsToken     *name = &src->token[u->name[0]];
  const HopsPointUnit *f    = HopsPointSourceFind(src, HOPS_UNIT_FUNCTION, name->s, name->n);

  PetscFunctionBegin;
  if (!f || !f->needed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TextPrint(t, "static __device__ "));
  PetscCall(TextTokens(t, src, u->first, u->body >= 0 ? u->body : u->last, PETSC_TRUE));
  if (u->body >= 0) PetscCall(TextTokens(t, src, u->body, u->last, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is needed of a source, in its order; f: any function of it */
static PetscErrorCode TextSource(Text *t, HopsPointCode code, const Sources *s, PetscInt k, PetscInt f, char why[], size_t len)
{
  const HopsPointSource *src = &s->source[k];

  PetscFunctionBegin;
  PetscCall(TextPrint(t, "namespace hops_source_%d\n{\n", (int)k));
  for (PetscInt i = 0; i < src->nunits; ++i) {
    const HopsPointUnit *u = &src->unit[i];

    if (u->kind == HOPS_UNIT_LINE || u->kind == HOPS_UNIT_MACRO) PetscCall(TextLine(t, src, &s->prelude, u));
    if (u->kind == HOPS_UNIT_TYPE && u->needed) PetscCall(TextTokens(t, src, u->first, u->last, PETSC_TRUE));
    if (u->kind == HOPS_UNIT_VARIABLE && u->needed) PetscCall(TextVariable(t, code, s, k, u, f, why, len));
    if (u->kind == HOPS_UNIT_FUNCTION || u->kind == HOPS_UNIT_PROTOTYPE) PetscCall(TextFunction(t, src, u));
  }
  PetscCall(TextPrint(t, "}\n"));
  for (PetscInt i = 0; i < src->nunits; ++i) { /* what comes next knows none of them */
    const HopsPointUnit *u = &src->unit[i];

    for (PetscInt j = 0; j < u->nnames; ++j) {
      const HopsToken *name = &src->token[u->name[j]];

      if (HopsPointSourceFind(&s->prelude, HOPS_UNIT_MACRO, name->s, name->n)) continue;
      if (u->kind == HOPS_UNIT_MACRO || (u->kind == HOPS_UNIT_VARIABLE && u->needed && !u->constant))
        PetscCall(TextPrint(t, "#undef %.*s\n", name->n, name->s));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateText(HopsPointCode code, Sources *s, char why[], size_t len)
{
  Text t = {NULL, 0, 0};

  PetscFunctionBegin;
  PetscCall(TextPrint(&t, "#define HOPS_PETSC_VERSION %d\n",
                      10000 * PETSC_VERSION_MAJOR + 100 * PETSC_VERSION_MINOR + PETSC_VERSION_SUBMINOR));
  PetscCall(TextPrint(&t, "typedef %s PetscInt;\n%s", sizeof(PetscInt) == 4 ? "int" : "long long",
                      sizeof(PetscInt) == 4 ? "" : "#define PETSC_USE_64BIT_INDICES 1\n"));
  /* in structures it has the process's size; as in C, any integer goes into it */
  PetscCall(TextPrint(&t, "typedef %s PetscBool;\n", sizeof(PetscBool) == 1 ? "bool" : "int"));
  PetscCall(TextAdd(&t, HopsPointPrelude, sizeof(HopsPointPrelude) - 1));
  for (PetscInt k = 0; k < s->n && !why[0]; ++k)
    for (PetscInt f = 0; f < code->n; ++f)
      if (s->from[f] == k) {
        PetscCall(TextSource(&t, code, s, k, f, why, len));
        break;
      }
  code->text = t.s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeCreate(const char files[], PetscInt n, const HopsVoidFn fn[], HopsPointCode *out, char why[],
                                   size_t len)
{
  const HopsPointOrigin from = {.files = files};

  PetscFunctionBegin;
  PetscCall(HopsPointCodeCreateFrom(&from, n, fn, out, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeCreateFrom(const HopsPointOrigin *from, PetscInt n, const HopsVoidFn fn[], HopsPointCode *out,
                                       char why[], size_t len)
{
  HopsPointCode code;
  Sources       s;

  PetscFunctionBegin;
  why[0] = '\0';
  PetscCall(PetscMemzero(&s, sizeof(s)));
  PetscCall(PetscNew(&code));
  PetscCall(PetscMalloc1(n, &code->fn));
  PetscCall(PetscCalloc1(n, &code->name));
  PetscCall(PetscMalloc1(n, &code->reads));
  PetscCall(PetscCalloc3(n, &s.symbol, n, &s.from, n, &s.unit));
  PetscCall(PetscArraycpy(code->fn, fn, n));
  code->n = n;
  PetscCall(ReadSources(from->files, from->ngiven, from->given, &s, why, len));
  for (PetscInt f = 0; f < n && !why[0]; ++f) {
    PetscCall(HopsPointSymbolFind(fn[f], &s.symbol[f], why, len));
    if (!why[0]) PetscCall(FindFunction(&s, from->given, f, why, len));
    if (!why[0]) {
      const HopsToken *t = &s.source[s.from[f]].token[s.unit[f]->name[0]];

      s.source[s.from[f]].contexts = from->contexts;
      PetscCall(HopsPointSourceNeed(&s.source[s.from[f]], &s.prelude, HOPS_UNIT_FUNCTION, t->s, t->n, why, len));
      PetscCall(PetscMalloc1(t->n + 32, &code->name[f]));
      PetscCall(PetscSNPrintf(code->name[f], t->n + 32, "hops_source_%d::%.*s", (int)s.from[f], t->n, t->s));
    }
  }
  for (PetscInt f = 0; f < n && !why[0]; ++f) code->reads[f] = HopsPointSourceReads(&s.source[s.from[f]], s.unit[f]);
  if (!why[0]) PetscCall(CreateText(code, &s, why, len));
  for (PetscInt k = 0; k < s.n; ++k) PetscCall(HopsPointSourceDestroy(&s.source[k]));
  PetscCall(HopsPointSourceDestroy(&s.prelude));
  PetscCall(PetscFree(s.source));
  PetscCall(PetscFree3(s.symbol, s.from, s.unit));
  if (why[0]) PetscCall(HopsPointCodeDestroy(&code));
  *out = code;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeGetText(HopsPointCode code, const char **text)
{
  PetscFunctionBegin;
  *text = code->text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeGetName(HopsPointCode code, HopsVoidFn fn, const char **name)
{
  PetscFunctionBegin;
  *name = NULL;
  for (PetscInt f = 0; f < code->n; ++f)
    if (code->fn[f] == fn) *name = code->name[f];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeGetReads(HopsPointCode code, HopsVoidFn fn, unsigned *reads)
{
  PetscFunctionBegin;
  *reads = ~0u;
  for (PetscInt f = 0; f < code->n; ++f)
    if (code->fn[f] == fn) *reads = code->reads[f];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCodeDestroy(HopsPointCode *out)
{
  HopsPointCode code = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!code) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt f = 0; f < code->n; ++f) PetscCall(PetscFree(code->name[f]));
  PetscCall(PetscFree(code->name));
  PetscCall(PetscFree(code->reads));
  PetscCall(PetscFree(code->fn));
  PetscCall(PetscFree(code->var));
  PetscCall(PetscFree(code->text));
  PetscCall(PetscFree(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}
