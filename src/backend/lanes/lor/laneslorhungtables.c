/* Rows of low-order-refined matrices that hanging nodes change: the tables of all kinds of cells so far in a
   back end's memory, see laneslor.h. They do not depend on the mesh. So those of an adaptive loop are made
   once. */
#include "laneslorhungkinds.h"

static HopsHungTables Tables; /* of each key the newest; each has a reference */

/* ---- In the back end's memory ---- */

static PetscErrorCode Bring(HopsHungTables t, size_t n, const void *h, void *d)
{
  const HopsMemoryOps *memory = t->key.backend->memory;
  void               **p      = &t->mem[t->nmem++];

  PetscFunctionBegin;
  PetscCheck(t->nmem <= (int)PETSC_STATIC_ARRAY_LENGTH(t->mem), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "More tables than places for them");
  PetscCall((*memory->Malloc)(n, p));
  if (n) PetscCall((*memory->Copy)(NULL, *p, h, n, HOPS_COPY_IN));
  *(void **)d = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BringShorts(HopsHungTables t, const HopsHungList *l, void *d)
{
  unsigned short *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(l->n, &x));
  for (int i = 0; i < l->n; i++) {
    PetscCheck(l->x[i] < 65536, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Order too high for hanging nodes on a device: use -hops_backend host");
    x[i] = (unsigned short)l->x[i];
  }
  PetscCall(Bring(t, l->n * sizeof(*x), x, d));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a kernel needs to make the lists by T */
static PetscErrorCode BringT(HopsHungTables t, const HopsHungKinds *x)
{
  HopsLORHungWork *w  = &t->work;
  const size_t     nr = (size_t)x->nkinds * (x->ne + 1) * sizeof(int);

  PetscFunctionBegin;
  PetscCall(Bring(t, nr, x->trow, &w->trow));
  PetscCall(Bring(t, x->tcol.n * sizeof(int), x->tcol.x, &w->tcol));
  PetscCall(Bring(t, (size_t)x->nkinds * x->ne * sizeof(int), x->prow, &w->prow));
  PetscCall(BringShorts(t, &x->place, &w->place));
  PetscCall(Bring(t, nr, x->jrow, &w->jrow));
  PetscCall(Bring(t, x->j.n * sizeof(double), x->j.w, &w->j));
  PetscCall(Bring(t, nr, x->jtrow, &w->jtrow));
  PetscCall(Bring(t, x->jt.n * sizeof(int), x->jt.x, &w->jtcol));
  PetscCall(Bring(t, x->jt.n * sizeof(double), x->jt.w, &w->jt));
  if (x->products) {
    PetscCall(Bring(t, x->prod.n * sizeof(int), x->prod.x, &w->prod));
    PetscCall(Bring(t, x->pt.n * sizeof(int), x->pt.x, &w->pt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BringKinds(HopsHungTables t, const HopsHungKinds *x)
{
  HopsLORHung     *h = &t->hung;
  HopsLORHungWork *w = &t->work;

  PetscFunctionBegin;
  PetscCall(Bring(t, (size_t)x->nkinds * (x->ne + 1) * sizeof(int), x->row, &h->row));
  PetscCall(Bring(t, x->col.n * sizeof(int), x->col.x, &h->col));
  PetscCall(Bring(t, x->slot.n * sizeof(int), x->slot.x, &h->slot));
  PetscCall(BringShorts(t, &x->rowof, &h->of));
  PetscCall(Bring(t, (x->nkinds + 1) * sizeof(int), x->nlist, &w->nlist));
  PetscCall(Bring(t, x->list.n * sizeof(int), x->list.x, &w->list));
  PetscCall(Bring(t, (size_t)x->nkinds * x->ne, x->changed, &t->changed));
  w->most = x->most;
  if (!x->sums) {
    PetscCall(BringT(t, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  w->sums.star = x->star;
  PetscCall(Bring(t, (x->nkinds + 1) * sizeof(int), x->slice, &w->sums.slice));
  PetscCall(Bring(t, x->begin.n * sizeof(int), x->begin.x, &w->sums.begin));
  PetscCall(BringShorts(t, &x->term, &w->sums.at));
  PetscCall(Bring(t, x->term.n * sizeof(double), x->term.w, &w->sums.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Tables that several matrices share ---- */

PetscErrorCode HopsHungTablesRelease(HopsHungTables *tables)
{
  HopsHungTables t = *tables;

  PetscFunctionBegin;
  *tables = NULL;
  if (!t || --t->refs) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < t->nmem; i++) PetscCall((*t->key.backend->memory->Free)(&t->mem[i]));
  PetscCall(PetscFree2(t->nvalues, t->nrows));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHungTablesClear(const HopsBackendOps *backend)
{
  PetscFunctionBegin;
  for (HopsHungTables *p = &Tables; *p;) {
    HopsHungTables t = *p;

    if (backend && t->key.backend != backend) {
      p = &t->next;
      continue;
    }
    *p = t->next;
    PetscCall(HopsHungTablesRelease(&t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When PETSc ends */
static PetscErrorCode Finalize(void)
{
  return HopsHungTablesClear(NULL);
}

static PetscBool SameKey(const HopsHungKey *a, const HopsHungKey *b)
{
  return a->backend == b->backend && a->family == b->family && a->dim == b->dim && a->order == b->order &&
             a->entries == b->entries && a->terms[0] == b->terms[0] && a->terms[1] == b->terms[1]
           ? PETSC_TRUE
           : PETSC_FALSE;
}

/* The newest tables of a key get a place in the list, or take the old ones' */
static PetscErrorCode Keep(HopsHungTables t)
{
  HopsHungTables *p = &Tables, old;

  PetscFunctionBegin;
  PetscCall(PetscRegisterFinalize(Finalize));
  while (*p && !SameKey(&(*p)->key, &t->key)) p = &(*p)->next;
  old     = *p;
  t->next = old ? old->next : NULL;
  *p      = t;
  t->refs++;
  PetscCall(HopsHungTablesRelease(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Kinds of a mesh ---- */

/* The kinds of[n] get numbers, if they have none yet */
static PetscErrorCode Number(HopsLanesLOR k, const HopsHanging *J, int n, const int of[], HopsHungTables t)
{
  PetscBool *on;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(J->ne, &on));
  for (int i = 0; i < n; i++) {
    if (t->number[of[i]] != HOPS_HUNG_UNKNOWN) continue;
    if (k->lump && !k->lump->hostcount[of[i] % 8]) continue; /* of older tables: the matrix lacks what makes rows of this kind */
    t->number[of[i]] = HopsHangingNodes(J, (unsigned)of[i] / 8, on) ? t->nkinds : HOPS_HUNG_NONE;
    if (t->number[of[i]] >= 0) t->of[t->nkinds++] = of[i];
  }
  PetscCall(PetscFree(on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(HopsLanesLOR k, const HopsHungKey *key, int n, const int of[], HopsHungTables old,
                             HopsHungTables *tables)
{
  HopsHungTables t;
  HopsHungKinds  x;
  HopsHanging    J;
  int            own;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  t->key = *key;
  t->ne  = (int)k->space->ne;
  for (int i = 0; i < HOPS_HUNG_KINDS; i++) t->number[i] = HOPS_HUNG_UNKNOWN;
  PetscCall(HopsHangingCreate(key->family, key->dim, key->order, &J));
  PetscCall(Number(k, &J, n, of, t));
  for (int i = 0; i < n; i++)
    PetscCheck(t->number[of[i]] != HOPS_HUNG_UNKNOWN, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Rows of cells of mask %d, couplings %d, are not known", of[i] / 8, of[i] % 8);
  own = t->nkinds;
  if (old && old->work.sums.at) PetscCall(Number(k, &J, old->nkinds, old->of, t));
  PetscCall(HopsHungKindsCreate(k, &J, t->nkinds, t->of, &x));
  if (!x.sums && t->nkinds > own) { /* together they are too many */
    PetscCall(HopsHungKindsDestroy(&x));
    while (t->nkinds > own) t->number[t->of[--t->nkinds]] = HOPS_HUNG_UNKNOWN;
    PetscCall(HopsHungKindsCreate(k, &J, t->nkinds, t->of, &x));
  }
  PetscCall(HopsHangingDestroy(&J));
  PetscCall(BringKinds(t, &x));
  PetscCall(PetscMalloc2(t->nkinds, &t->nvalues, t->nkinds, &t->nrows));
  for (int i = 0; i < t->nkinds; i++) {
    t->nvalues[i] = x.row[i * (t->ne + 1) + t->ne] - x.row[i * (t->ne + 1)];
    t->nrows[i]   = x.nlist[i + 1] - x.nlist[i];
  }
  PetscCall(Bring(t, sizeof(t->number), t->number, &t->there[0]));
  PetscCall(Bring(t, t->nkinds * sizeof(int), t->nvalues, &t->there[1]));
  PetscCall(HopsHungKindsDestroy(&x));
  PetscCall(PetscInfo(k->space, "tables of %d kinds of cells with hanging nodes, whose rows come %s\n", t->nkinds,
                      t->work.sums.at ? "by sums" : "in two steps"));
  *tables = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHungTablesGet(HopsLanesLOR k, const int count[], HopsHungTables *tables)
{
  HopsSpace         sp  = k->space;
  const HopsHungKey key = {k->kernels->backend,
                           sp->family,
                           sp->dim,
                           sp->order,
                           k->lump ? 0 : k->head.constraintentries,
                           {k->lump && k->lump->thas[0], k->lump && k->lump->thas[1]}};
  HopsHungTables    t   = Tables;
  int               n   = 0, *of;
  PetscBool         all = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(HOPS_HUNG_KINDS, &of));
  while (t && !SameKey(&t->key, &key)) t = t->next;
  for (int i = 8; i < HOPS_HUNG_KINDS; i++) {
    if (!count[i]) continue;
    of[n++] = i;
    if (t && t->number[i] == HOPS_HUNG_UNKNOWN) all = PETSC_FALSE;
  }
  if (!t || !all) {
    PetscCall(Create(k, &key, n, of, t, &t));
    PetscCall(Keep(t));
  }
  PetscCall(PetscFree(of));
  t->refs++;
  *tables = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}
