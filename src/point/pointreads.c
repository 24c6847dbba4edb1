/* Which of its arguments a point function reads, by the names in its text. */
#include <hops/private/hopspointimpl.h>

#define HOPS_PARAMETERS 20 /* at most, of a PetscDS's function */

/* Does a line of the preprocessor have this name? */
static PetscBool LineHas(const HopsToken *line, const HopsToken *name)
{
  for (int i = 0; i + name->n <= line->n; ++i)
    if (!strncmp(line->s + i, name->s, name->n)) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The bits of the parameters that tokens first .. last - 1 name, but for members of structures and for what
   is also a parameter own[nown] of a macro */
static unsigned Names(const HopsPointSource *src, PetscInt first, PetscInt last, PetscInt n, const PetscInt param[], PetscInt own,
                      PetscInt ownend)
{
  unsigned reads = 0;

  for (PetscInt i = first; i < last; ++i) {
    const HopsToken *t = &src->token[i];

    if (t->kind != HOPS_TOKEN_NAME && t->kind != HOPS_TOKEN_LINE) continue;
    if (i > first && (HopsTokenIs(t - 1, ".") || HopsTokenIs(t - 1, "->"))) continue;
    for (PetscInt k = 0; k < n; ++k) {
      const HopsToken *p    = &src->token[param[k]];
      PetscBool        mine = PETSC_FALSE;

      if (t->kind == HOPS_TOKEN_LINE ? !LineHas(t, p) : (t->n != p->n || strncmp(t->s, p->s, p->n))) continue;
      for (PetscInt j = own; j < ownend; ++j)
        if (src->token[j].n == p->n && !strncmp(src->token[j].s, p->s, p->n)) mine = PETSC_TRUE;
      if (!mine) reads |= 1u << k;
    }
  }
  return reads;
}

unsigned HopsPointSourceReads(const HopsPointSource *src, const HopsPointUnit *u)
{
  PetscInt param[HOPS_PARAMETERS + 1], n = 0, name = -1;
  unsigned reads;

  if (u->body < 0 || !HopsTokenIs(&src->token[u->name[0] + 1], "(") || !HopsTokenIs(&src->token[u->body - 1], ")")) return ~0u;
  for (PetscInt i = u->name[0] + 2; i < u->body; ++i) {
    const HopsToken *t = &src->token[i];

    if (t->kind == HOPS_TOKEN_NAME && (i + 1 == u->body || !HopsTokenIs(t - 1, "["))) name = i;
    if (HopsTokenIs(t, "(") || t->kind == HOPS_TOKEN_LINE) return ~0u;
    if (!HopsTokenIs(t, ",") && i < u->body - 1) continue;
    if (name < 0 || n == HOPS_PARAMETERS) return ~0u;
    param[n++] = name;
    name       = -1;
  }
  if (n < 18) return ~0u; /* no function of fields, or parameters that a macro defines */
  reads = Names(src, u->body, u->last, n, param, 0, 0);
  for (PetscInt i = 0; i < src->nunits; ++i) {
    const HopsPointUnit *m = &src->unit[i];

    if (m->kind == HOPS_UNIT_MACRO && m->needed) reads |= Names(src, m->body, m->last, n, param, m->name[0] + 1, m->body);
  }
  return reads;
}
