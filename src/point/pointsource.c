/* What a C source defines at its top level: functions, types, variables, macros. */
#include <hops/private/hopspointimpl.h>
#include <ctype.h>

static PetscErrorCode ReadFile(const char path[], char **text)
{
  FILE *f = fopen(path, "r");
  long  n;

  PetscFunctionBegin;
  *text = NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  (void)fseek(f, 0, SEEK_END);
  n = ftell(f);
  rewind(f);
  if (n >= 0) {
    PetscCall(PetscMalloc1(n + 1, text));
    (*text)[fread(*text, 1, n, f)] = '\0';
  }
  (void)fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The word of a line of the preprocessor, #define say, and what follows it */
static const char *LineWord(const HopsToken *t, const char **rest)
{
  const char *s = t->s + 1, *w;

  while (*s == ' ' || *s == '\t') ++s;
  for (w = s; isalpha((unsigned char)*s); ++s) {}
  while (*s == ' ' || *s == '\t') ++s;
  *rest = s;
  return w;
}

static PetscErrorCode AppendTokens(HopsPointSource *src, PetscInt n, const HopsToken tokens[])
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((src->ntokens + n) * sizeof(HopsToken), &src->token));
  PetscCall(PetscArraycpy(src->token + src->ntokens, tokens, n));
  src->ntokens += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over the text. Headers beside the source, in quotes, are read in their place */
static PetscErrorCode LexText(HopsPointSource *src, const char path[], char text[], PetscInt depth)
{
  HopsToken *tokens;
  PetscInt   n, begin = 0;

  PetscFunctionBegin;
  PetscCall(PetscRealloc((src->nbuffers + 1) * sizeof(char *), &src->buffer));
  src->buffer[src->nbuffers++] = text;
  PetscCall(HopsPointLex(text, &n, &tokens));
  for (PetscInt i = 0; i < n; ++i) {
    const char *rest, *end, *slash = strrchr(path, '/');
    char        header[PETSC_MAX_PATH_LEN], *more = NULL;

    if (tokens[i].kind != HOPS_TOKEN_LINE || strncmp(LineWord(&tokens[i], &rest), "include", 7)) continue;
    PetscCall(AppendTokens(src, i - begin, tokens + begin));
    begin = i + 1;
    end   = *rest == '"' ? strchr(rest + 1, '"') : NULL;
    if (!end || depth > 20) continue;
    PetscCall(PetscSNPrintf(header, sizeof(header), "%.*s%.*s", slash ? (int)(slash - path) + 1 : 0, path, (int)(end - rest) - 1,
                            rest + 1));
    PetscCall(ReadFile(header, &more));
    if (more) PetscCall(LexText(src, header, more, depth + 1));
  }
  PetscCall(AppendTokens(src, n - begin, tokens + begin));
  PetscCall(PetscFree(tokens));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- units ------------------------------------------- */

static PetscErrorCode AddName(HopsPointUnit *u, PetscInt token)
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((u->nnames + 1) * sizeof(PetscInt), &u->name));
  u->name[u->nnames++] = token;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsMark(const HopsToken *t, char c)
{
  return t->kind == HOPS_TOKEN_MARK && t->n == 1 && t->s[0] == c ? PETSC_TRUE : PETSC_FALSE;
}

/* 1 for one of these opening brackets, -1 for one that closes: a PetscBool has no sign to subtract it by */
static PetscInt Nests(const HopsToken *t, const char opening[], const char closing[])
{
  if (t->kind != HOPS_TOKEN_MARK || t->n != 1) return 0;
  return strchr(opening, t->s[0]) ? 1 : (strchr(closing, t->s[0]) ? -1 : 0);
}

static PetscErrorCode ParseLine(HopsPointSource *src, HopsPointUnit *u)
{
  const char *rest;
  HopsToken   t = src->token[u->first], *body;
  PetscInt    n, k = 1, depth = 0;
  char       *copy;

  PetscFunctionBegin;
  u->kind = HOPS_UNIT_LINE;
  u->last = u->first + 1;
  if (strncmp(LineWord(&t, &rest), "define", 6)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(t.n + 1, &copy)); /* tokens end where the line does */
  PetscCall(PetscStrncpy(copy, rest, t.n - (rest - t.s) + 1));
  PetscCall(PetscRealloc((src->nbuffers + 1) * sizeof(char *), &src->buffer));
  src->buffer[src->nbuffers++] = copy;
  PetscCall(HopsPointLex(copy, &n, &body));
  if (n) {
    if (n > 1 && IsMark(&body[1], '(') && body[1].s == body[0].s + body[0].n) do {
        depth += Nests(&body[k], "(", ")");
        ++k;
      } while (k < n && depth);
    u->kind = HOPS_UNIT_MACRO;
    PetscCall(AddName(u, src->ntokens));
    u->body = src->ntokens + k;
    PetscCall(AppendTokens(src, n, body));
    u->last = src->ntokens;
  }
  PetscCall(PetscFree(body));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names of a declaration: those before = , ; [ or ) outside of brackets, and constants of an enumeration */
static PetscErrorCode ParseNames(const HopsPointSource *src, HopsPointUnit *u)
{
  PetscInt  depth  = 0;
  PetscBool isenum = PETSC_FALSE, value = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = u->first; i < u->last; ++i) {
    const HopsToken *t = &src->token[i], *next = t + 1;

    if (t->kind == HOPS_TOKEN_NAME && HopsTokenIs(t, "enum")) isenum = PETSC_TRUE;
    if (t->kind == HOPS_TOKEN_NAME && (HopsTokenIs(t, "struct") || HopsTokenIs(t, "union"))) isenum = PETSC_FALSE;
    if (t->kind == HOPS_TOKEN_NAME && i > u->first && depth == 0 && !value) {
      const PetscBool tag =
        HopsTokenIs(t - 1, "struct") || HopsTokenIs(t - 1, "union") || HopsTokenIs(t - 1, "enum") ? PETSC_TRUE : PETSC_FALSE;

      if (tag || IsMark(next, '=') || IsMark(next, ',') || IsMark(next, ';') || IsMark(next, '[')) PetscCall(AddName(u, i));
    }
    if (t->kind == HOPS_TOKEN_NAME && depth == 1 && (isenum || (IsMark(t - 1, '*') && i > u->first + 1 && IsMark(t - 2, '('))) &&
        (IsMark(t - 1, '{') || IsMark(t - 1, ',') || IsMark(t - 1, '*')))
      PetscCall(AddName(u, i));
    if (depth == 0 && IsMark(t, '=')) value = PETSC_TRUE;
    if (depth == 0 && IsMark(t, ',')) value = PETSC_FALSE;
    depth += Nests(t, "{([", "})]");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a declaration's data constant, and no pointer? */
static PetscBool IsConstant(const HopsPointSource *src, const HopsPointUnit *u)
{
  PetscBool constant = PETSC_FALSE;

  for (PetscInt i = u->first; i < u->last && !IsMark(&src->token[i], '='); ++i) {
    if (HopsTokenIs(&src->token[i], "const")) constant = PETSC_TRUE;
    if (IsMark(&src->token[i], '*')) return PETSC_FALSE;
  }
  return constant;
}

/* One declaration or definition from token u->first; has it an end? */
static PetscErrorCode ParseUnit(const HopsPointSource *src, PetscInt n, HopsPointUnit *u, PetscBool *ended)
{
  PetscInt  depth = 0, call = -1, i;
  PetscBool value = PETSC_FALSE, brace = PETSC_FALSE, type = HopsTokenIs(&src->token[u->first], "typedef");

  PetscFunctionBegin;
  u->body = -1;
  for (i = u->first; i < n; ++i) {
    const HopsToken *t = &src->token[i];

    if (depth == 0 && IsMark(t, ';')) break;
    if (depth == 0 && IsMark(t, '=')) value = PETSC_TRUE;
    if (depth == 0 && IsMark(t, '(') && call < 0 && i > u->first && t[-1].kind == HOPS_TOKEN_NAME && !value) call = i - 1;
    if (depth == 0 && IsMark(t, '{') && u->body < 0) {
      brace = PETSC_TRUE;
      if (call >= 0 && !value && !type && IsMark(t - 1, ')')) u->body = i;
    }
    depth += Nests(t, "{([", "})]");
    if (depth == 0 && u->body >= 0 && IsMark(t, '}')) break;
  }
  u->last = PetscMin(i + 1, n);
  *ended  = i < n ? PETSC_TRUE : PETSC_FALSE;
  if (u->body >= 0 || (call >= 0 && !type && !brace && !value)) {
    u->kind = u->body >= 0 ? HOPS_UNIT_FUNCTION : HOPS_UNIT_PROTOTYPE;
    PetscCall(AddName(u, call));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  u->kind = type || (brace && !value) ? HOPS_UNIT_TYPE : HOPS_UNIT_VARIABLE;
  PetscCall(ParseNames(src, u));
  u->constant = IsConstant(src, u);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* behind the bracket that closes the one at i */
static PetscInt SkipBlock(const HopsPointSource *src, PetscInt n, PetscInt i)
{
  PetscInt depth = 0;

  do {
    const HopsToken *t = &src->token[i++];

    depth += Nests(t, "{", "}");
  } while (i < n && depth);
  return i;
}

/* if (0) { .. }, and the other branch of if (1) { .. }: codes leave in them what no device could run */
static void MarkDead(HopsPointSource *src, PetscInt n)
{
  for (PetscInt i = 0; i + 4 < n; ++i) {
    HopsToken *t   = &src->token[i];
    PetscInt   end = i, dead[2];

    if (!HopsTokenIs(t, "if") || !IsMark(t + 1, '(') || !IsMark(t + 3, ')') || !IsMark(t + 4, '{')) continue;
    if (!HopsTokenIs(t + 2, "0") && !HopsTokenIs(t + 2, "1")) continue;
    end     = SkipBlock(src, n, i + 4);
    dead[0] = HopsTokenIs(t + 2, "0") ? i : end;
    dead[1] = end;
    if (end < n && HopsTokenIs(&src->token[end], "else")) {
      if (HopsTokenIs(t + 2, "0")) dead[1] = end + 1;
      else if (end + 1 < n && IsMark(&src->token[end + 1], '{')) dead[1] = SkipBlock(src, n, end + 1);
    }
    for (PetscInt k = dead[0]; k < dead[1]; ++k) src->token[k].kind = HOPS_TOKEN_DEAD;
  }
}

static PetscErrorCode ParseUnits(HopsPointSource *src, char why[], size_t len)
{
  const PetscInt n   = src->ntokens;
  PetscInt       max = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n;) {
    HopsPointUnit *u;
    PetscBool      ended = PETSC_TRUE;

    if (src->nunits == max) {
      max = PetscMax(256, 2 * max);
      PetscCall(PetscRealloc(max * sizeof(HopsPointUnit), &src->unit));
    }
    u = &src->unit[src->nunits++];
    PetscCall(PetscMemzero(u, sizeof(*u)));
    u->first = i;
    if (src->token[i].kind == HOPS_TOKEN_LINE) PetscCall(ParseLine(src, u));
    else PetscCall(ParseUnit(src, n, u, &ended));
    i = src->token[i].kind == HOPS_TOKEN_LINE ? i + 1 : u->last;
    if (!ended)
      PetscCall(PetscSNPrintf(why, len, "%s: brackets do not match after \"%.*s\"", src->path, src->token[u->first].n,
                              src->token[u->first].s));
  }
  MarkDead(src, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSourceParse(const char text[], HopsPointSource *src, char why[], size_t len)
{
  char *copy;

  PetscFunctionBegin;
  why[0] = '\0';
  PetscCall(PetscMemzero(src, sizeof(*src)));
  PetscCall(PetscStrallocpy(text, &copy));
  PetscCall(LexText(src, "", copy, 0));
  PetscCall(ParseUnits(src, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSourceRead(const char path[], HopsPointSource *src, char why[], size_t len)
{
  char *text;

  PetscFunctionBegin;
  why[0] = '\0';
  PetscCall(PetscMemzero(src, sizeof(*src)));
  PetscCall(PetscStrncpy(src->path, path, sizeof(src->path)));
  PetscCall(ReadFile(path, &text));
  if (!text) {
    PetscCall(PetscSNPrintf(why, len, "%s cannot be read", path));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LexText(src, path, text, 0));
  PetscCall(ParseUnits(src, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSourceDestroy(HopsPointSource *src)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < src->nunits; ++i) PetscCall(PetscFree(src->unit[i].name));
  for (PetscInt i = 0; i < src->nbuffers; ++i) PetscCall(PetscFree(src->buffer[i]));
  PetscCall(PetscFree(src->buffer));
  PetscCall(PetscFree(src->token));
  PetscCall(PetscFree(src->unit));
  PetscCall(PetscMemzero(src, sizeof(*src)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HopsPointUnit *HopsPointSourceNext(const HopsPointSource *src, HopsPointUnitKind kind, const char name[], int n, PetscInt *i)
{
  while (*i < src->nunits) {
    HopsPointUnit *u = &src->unit[(*i)++];

    for (PetscInt k = 0; k < u->nnames && u->kind == kind; ++k)
      if (src->token[u->name[k]].n == n && !strncmp(src->token[u->name[k]].s, name, n)) return u;
  }
  return NULL;
}

HopsPointUnit *HopsPointSourceFind(const HopsPointSource *src, HopsPointUnitKind kind, const char name[], int n)
{
  PetscInt i = 0;

  return HopsPointSourceNext(src, kind, name, n, &i);
}
