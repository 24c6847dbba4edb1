/* Tokens of C, without comments; lines of the preprocessor are one token each. */
#include <hops/private/hopspointimpl.h>
#include <ctype.h>

PetscBool HopsTokenIs(const HopsToken *t, const char s[])
{
  return (size_t)t->n == strlen(s) && !strncmp(t->s, s, t->n) ? PETSC_TRUE : PETSC_FALSE;
}

/* the first character behind a comment or blanks, or s itself; newline: one was passed */
static const char *SkipBlank(const char *s, PetscBool *newline)
{
  for (;;) {
    if (s[0] == '/' && s[1] == '/') {
      while (*s && *s != '\n') ++s;
    } else if (s[0] == '/' && s[1] == '*') {
      const char *e = strstr(s + 2, "*/");

      s = e ? e + 2 : s + strlen(s);
    } else if (s[0] == '\\' && s[1] == '\n') s += 2;
    else if (isspace((unsigned char)*s)) {
      if (*s == '\n') *newline = PETSC_TRUE;
      ++s;
    } else return s;
  }
}

/* behind a line of the preprocessor, which comments may continue */
static const char *SkipLine(const char *s)
{
  while (*s && *s != '\n') {
    if (s[0] == '\\' && s[1] == '\n') s += 2;
    else if (s[0] == '/' && s[1] == '*') {
      const char *e = strstr(s + 2, "*/");

      s = e ? e + 2 : s + strlen(s);
    } else if (s[0] == '/' && s[1] == '/') {
      while (*s && *s != '\n') ++s;
    } else ++s;
  }
  return s;
}

static const char *SkipString(const char *s)
{
  const char quote = *s++;

  while (*s && *s != quote) s += s[0] == '\\' && s[1] ? 2 : 1;
  return *s ? s + 1 : s;
}

static const char *SkipNumber(const char *s)
{
  while (isalnum((unsigned char)*s) || *s == '.' || *s == '_' || ((*s == '+' || *s == '-') && strchr("eEpP", s[-1]))) ++s;
  return s;
}

static const char *SkipMark(const char *s)
{
  static const char *const marks[] = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                      "&&",  "||",  "*=",  "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##"};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(marks); ++k)
    if (!strncmp(s, marks[k], strlen(marks[k]))) return s + strlen(marks[k]);
  return s + 1;
}

PetscErrorCode HopsPointLex(const char text[], PetscInt *n, HopsToken *tokens[])
{
  PetscInt    max     = 0;
  PetscBool   newline = PETSC_TRUE;
  const char *s       = text;

  PetscFunctionBegin;
  *n      = 0;
  *tokens = NULL;
  while (*(s = SkipBlank(s, &newline))) {
    HopsToken   t = {.s = s};
    const char *e;

    if (*s == '#' && newline) {
      t.kind = HOPS_TOKEN_LINE;
      e      = SkipLine(s);
    } else if (isalpha((unsigned char)*s) || *s == '_') {
      t.kind = HOPS_TOKEN_NAME;
      for (e = s; isalnum((unsigned char)*e) || *e == '_'; ++e) {}
    } else if (*s == '"' || *s == '\'') {
      t.kind = HOPS_TOKEN_STRING;
      e      = SkipString(s);
    } else if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
      t.kind = HOPS_TOKEN_NUMBER;
      e      = SkipNumber(s);
    } else {
      t.kind = HOPS_TOKEN_MARK;
      e      = SkipMark(s);
    }
    t.n = (int)(e - s);
    if (*n == max) {
      max = PetscMax(1024, 2 * max);
      PetscCall(PetscRealloc(max * sizeof(HopsToken), tokens));
    }
    (*tokens)[(*n)++] = t;
    newline           = PETSC_FALSE;
    s                 = e;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
