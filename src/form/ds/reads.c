/*
  What the Jacobian functions of a PetscDS read: is an evaluation worth anything, or would it give what the
  last one gave? Their sources (-hops_pointwise_source) tell which of their arguments they name, and which
  variables of the program. Without sources a function may read anything.
*/
#include <hops/private/hopsfaceimpl.h>
#include <hops/private/hopspointcheckimpl.h>

/* ---------------------------------- constants and auxiliary vectors ---------------------------------- */

static PetscErrorCode HopsDSGetConstants(DM dm, PetscInt *n, PetscScalar *constants[])
{
  PetscInt nds;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(PetscMalloc1(*n, constants));
    *n = 0;
    for (PetscInt s = 0; s < nds; ++s) {
      PetscDS            ds;
      PetscInt           m;
      const PetscScalar *c;

      PetscCall(HopsDMGetRegionDS(dm, s, &ds));
      PetscCall(PetscDSGetConstants(ds, &m, &c));
      if (pass) PetscCall(PetscArraycpy(*constants + *n, c, m));
      *n += m;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSDataChanged(DM dm, HopsDSData *data, PetscBool *changed)
{
  PetscInt     n = 0, naux, *values, *parts;
  PetscScalar *constants;
  DMLabel     *labels;
  PetscBool    same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsDSGetConstants(dm, &n, &constants));
  if (data->known && n == data->nconst) PetscCall(PetscArraycmp(constants, data->constants, n, &same));
  *changed = same ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscFree(data->constants));
  data->constants = constants;
  data->nconst    = n;
  data->known     = PETSC_TRUE;
  PetscCall(DMGetNumAuxiliaryVec(dm, &naux));
  if (naux != data->naux) {
    PetscCall(PetscFree(data->aux));
    PetscCall(PetscCalloc1(naux, &data->aux));
    data->naux = naux;
    *changed   = PETSC_TRUE;
  }
  PetscCall(PetscMalloc3(naux, &labels, naux, &values, naux, &parts));
  PetscCall(DMGetAuxiliaryLabels(dm, labels, values, parts));
  for (PetscInt i = 0; i < naux; ++i) {
    Vec       v;
    PetscBool other;

    PetscCall(DMGetAuxiliaryVec(dm, labels[i], values[i], parts[i], &v));
    PetscCall(HopsVecChanged(v, &data->aux[i], &other));
    if (other) *changed = PETSC_TRUE;
  }
  PetscCall(PetscFree3(labels, values, parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSDataDestroy(HopsDSData *data)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(data->constants));
  PetscCall(PetscFree(data->aux));
  PetscCall(PetscMemzero(data, sizeof(*data)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the functions ------------------------------------------- */

struct _HopsReads {
  PetscBool     begun, known; /* the sources said what the functions read */
  PetscBool     dynamic;      /* some are of a time derivative, times the shift */
  PetscInt      n;
  HopsVoidFn   *f;      /* [n] all functions, in the order of the form */
  unsigned      reads;  /* HOPS_READS_... of any */
  HopsPointCode code;   /* its variables */
  char         *values; /* of these, one after the other, at the last evaluation */
  HopsDSData    data;
};

PetscErrorCode HopsReadsDestroy(HopsReads *out)
{
  HopsReads r = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!r) PetscFunctionReturn(PETSC_SUCCESS);
  if (r->code) PetscCall(HopsPointCodeDestroy(&r->code));
  PetscCall(HopsDSDataDestroy(&r->data));
  PetscCall(PetscFree(r->values));
  PetscCall(PetscFree(r->f));
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSubjectsAdd(HopsSubjects *list, PetscInt n, HopsVoidFn *f, HopsPointKind kind, PetscInt size)
{
  HopsPointSubject *more;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(list->n + n, &more));
  PetscCall(PetscArraycpy(more, list->subject, list->n));
  PetscCall(PetscFree(list->subject));
  list->subject = more;
  for (PetscInt i = 0; i < n; ++i) list->subject[list->n++] = (HopsPointSubject){.f = f[i], .kind = kind, .size = size};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All functions of a form, those of its boundary last */
static PetscErrorCode HopsReadsCollect(HopsJacobian jac, HopsSubjects *list, PetscBool *dynamic)
{
  PetscInt nds;

  PetscFunctionBegin;
  *dynamic = PETSC_FALSE;
  PetscCall(DMGetNumDS(jac->dm, &nds));
  for (PetscInt s = 0; s < nds; ++s)
    for (PetscInt b = 0; b < jac->nblocks; ++b) {
      const HopsJacobianBlock *block = &jac->blocks[b];
      HopsRegion               r;

      PetscCall(HopsRegionGetBlock(jac->dm, s, jac->preconditioner, block->test, block->trial, &r));
      for (PetscInt k = 0; k < 4; ++k) {
        const PetscInt size = jac->fields->nc[block->test] * jac->fields->nc[block->trial] * HopsTensorEntries(jac->fields->dim, k);

        PetscCall(HopsSubjectsAdd(list, r.n[k], (HopsVoidFn *)r.g[k], HOPS_POINT_JACOBIAN, size));
        PetscCall(HopsSubjectsAdd(list, r.nt[k], (HopsVoidFn *)r.gt[k], HOPS_POINT_JACOBIAN, size));
        if (r.nt[k]) *dynamic = PETSC_TRUE;
      }
    }
  PetscCall(HopsFaceFormCollect(jac->dm, jac->fields, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The components of the auxiliary fields, of which all functions see the same; else ok is false */
static PetscErrorCode HopsReadsAux(DM dm, PetscInt *nf, const PetscInt *nc[], PetscBool *ok)
{
  PetscInt   naux;
  HopsRegion r;
  PetscDS    ds;
  DM         aux;
  Vec        v;

  PetscFunctionBegin;
  *nf = 0;
  *nc = NULL;
  PetscCall(DMGetNumAuxiliaryVec(dm, &naux));
  if (!naux) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsRegionGet(dm, 0, PETSC_FALSE, &r));
  PetscCall(DMGetAuxiliaryVec(dm, r.label, r.value, 0, &v));
  if (naux > 1 || !v) *ok = PETSC_FALSE;
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetDM(v, &aux));
  PetscCall(DMGetDS(aux, &ds));
  PetscCall(PetscDSGetNumFields(ds, nf));
  PetscCall(PetscDSGetComponents(ds, (PetscInt **)nc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the program's functions give the same where what their text does not name is another? A source that is
   not that of the program does not pass */
static PetscErrorCode HopsReadsProbe(HopsJacobian jac, const HopsReads r, const HopsSubjects *list, PetscBool *ok)
{
  const PetscInt     n = 16, *nca;
  PetscInt           nfa, nds, nconst = 0, last = 0;
  HopsPointState     s, other;
  PetscDS            ds;
  const PetscScalar *constants;

  PetscFunctionBegin;
  PetscCall(HopsReadsAux(jac->dm, &nfa, &nca, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetNumDS(jac->dm, &nds));
  for (PetscInt k = nds - 1; k >= 0; --k) { /* functions of a region may read as many as it has */
    PetscCall(HopsDMGetRegionDS(jac->dm, k, &ds));
    PetscCall(PetscDSGetConstants(ds, &nconst, &constants));
    if (k < nds - 1 && nconst != last) *ok = PETSC_FALSE;
    last = nconst;
  }
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    HopsPointStateCreateRandom(n, jac->fields->dim, jac->fields->nf, jac->fields->nc, nfa, nca, nconst, constants, 1.0, &s));
  PetscCall(
    HopsPointStateCreateRandom(n, jac->fields->dim, jac->fields->nf, jac->fields->nc, nfa, nca, nconst, constants, 3.0, &other));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  for (PetscInt i = 0; i < list->n && *ok; ++i) {
    HopsPointState o = s;
    unsigned       reads;
    PetscScalar   *a, *b;

    PetscCall(HopsPointCodeGetReads(r->code, list->subject[i].f, &reads));
    if (!(reads & HOPS_READS_U)) o.u = other.u;
    if (!(reads & HOPS_READS_UT)) o.u_t = other.u_t;
    if (!(reads & HOPS_READS_UX)) o.u_x = other.u_x;
    if (!(reads & HOPS_READS_T)) o.t += 2.3;
    if (!(reads & HOPS_READS_SHIFT)) o.shift += 1.9;
    PetscCall(PetscMalloc2(n * list->subject[i].size, &a, n * list->subject[i].size, &b));
    PetscCall(HopsPointStateEvaluate(&s, &list->subject[i], a));
    PetscCall(HopsPointStateEvaluate(&o, &list->subject[i], b));
    for (PetscInt j = 0; j < n * list->subject[i].size; ++j)
      if (!(a[j] == b[j]) && !(PetscIsNanScalar(a[j]) && PetscIsNanScalar(b[j]))) *ok = PETSC_FALSE;
    PetscCall(PetscFree2(a, b));
  }
  PetscCall(PetscFPTrapPop());
  PetscCall(HopsPointStateDestroy(&s));
  PetscCall(HopsPointStateDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDMGetOrigin(DM dm, char files[], HopsPointGiven **given, HopsPointOrigin *from, PetscBool *asked)
{
  PetscInt nds, n = 0;

  PetscFunctionBegin;
  files[0] = '\0';
  *given   = NULL;
  PetscCall(PetscOptionsGetString(((PetscObject)dm)->options, ((PetscObject)dm)->prefix, "-hops_pointwise_source", files,
                                  PETSC_MAX_PATH_LEN, asked));
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(PetscMalloc1(n, given));
    n = 0;
    for (PetscInt s = 0; s < nds; ++s) {
      const HopsPointGiven *g;
      PetscDS               ds;
      PetscInt              m;

      PetscCall(HopsDMGetRegionDS(dm, s, &ds));
      PetscCall(HopsObjectGetDeviceSource((PetscObject)ds, &m, &g));
      if (pass) PetscCall(PetscArraycpy(*given + n, g, m));
      n += m;
    }
  }
  if (n) *asked = PETSC_TRUE;
  *from = (HopsPointOrigin){.files = files, .ngiven = n, .given = *given};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the sources say of these functions */
static PetscErrorCode HopsReadsFind(HopsJacobian jac, HopsReads r, const HopsSubjects *list)
{
  char            files[PETSC_MAX_PATH_LEN], why[1024] = "";
  PetscInt        m = 0;
  PetscBool       set;
  HopsPointOrigin from;
  HopsPointGiven *given;
  HopsVoidFn     *once;

  PetscFunctionBegin;
  if (r->code) PetscCall(HopsPointCodeDestroy(&r->code));
  r->known = PETSC_FALSE;
  r->reads = 0;
  PetscCall(HopsDMGetOrigin(jac->dm, files, &given, &from, &set));
  if (!set || !list->n) {
    PetscCall(PetscFree(given));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(list->n, &once));
  for (PetscInt i = 0; i < list->n; ++i) {
    PetscInt j = 0;

    while (j < m && once[j] != list->subject[i].f) ++j;
    if (j == m) once[m++] = list->subject[i].f;
  }
  PetscCall(HopsPointCodeCreateFrom(&from, m, once, &r->code, why, sizeof(why)));
  PetscCall(PetscFree(given));
  PetscCall(PetscFree(once));
  if (!r->code) {
    PetscCall(PetscInfo(jac->dm, "what the Jacobian functions read is not known: %s\n", why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < list->n; ++i) {
    unsigned reads;

    PetscCall(HopsPointCodeGetReads(r->code, list->subject[i].f, &reads));
    r->reads |= reads;
  }
  r->known = PETSC_TRUE;
  PetscCall(HopsReadsProbe(jac, r, list, &r->known));
  PetscCall(PetscInfo(jac->dm, "the Jacobian functions %s%s\n",
                      r->known ? "depend on what they name, " : "differ from their sources",
                      !r->known                                                   ? ""
                      : r->reads & (HOPS_READS_U | HOPS_READS_UT | HOPS_READS_UX) ? "the state among it"
                                                                                  : "not the state"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The variables that they read: others than at the last evaluation? */
static PetscErrorCode HopsReadsVariables(HopsReads r, PetscBool *changed)
{
  size_t at = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; !r->values && k < r->code->nvars; ++k) at += r->code->var[k].size;
  if (!r->values) {
    PetscCall(PetscCalloc1(at + 1, &r->values)); /* not NULL where there are none */
    *changed = PETSC_TRUE;
    at       = 0;
  }
  for (PetscInt k = 0; k < r->code->nvars; at += r->code->var[k++].size) {
    if (memcmp(r->values + at, r->code->var[k].host, r->code->var[k].size)) *changed = PETSC_TRUE;
    PetscCall(PetscMemcpy(r->values + at, r->code->var[k].host, r->code->var[k].size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsReadsChanged(HopsJacobian jac, HopsReads *reads, PetscBool *known, unsigned *names, PetscBool *changed)
{
  HopsReads    r;
  HopsSubjects list = {0, NULL};
  PetscBool    same = PETSC_TRUE, data;

  PetscFunctionBegin;
  if (!*reads) PetscCall(PetscNew(reads));
  r = *reads;
  PetscCall(HopsReadsCollect(jac, &list, &r->dynamic));
  if (!r->begun || list.n != r->n) same = PETSC_FALSE;
  for (PetscInt i = 0; i < list.n && same; ++i)
    if (list.subject[i].f != r->f[i]) same = PETSC_FALSE;
  *changed = same ? PETSC_FALSE : PETSC_TRUE;
  if (!same) {
    PetscCall(PetscFree(r->f));
    PetscCall(PetscFree(r->values));
    PetscCall(PetscMalloc1(list.n, &r->f));
    for (PetscInt i = 0; i < list.n; ++i) r->f[i] = list.subject[i].f;
    r->n     = list.n;
    r->begun = PETSC_TRUE;
    PetscCall(HopsReadsFind(jac, r, &list));
  }
  PetscCall(PetscFree(list.subject));
  *known = r->known;
  *names = r->reads | (r->dynamic ? HOPS_READS_SHIFT : 0);
  if (!r->known) *changed = PETSC_TRUE;
  if (!r->known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsReadsVariables(r, changed));
  PetscCall(HopsDSDataChanged(jac->dm, &r->data, &data));
  if (data) *changed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
