/* Low-order-refined matrices of H(curl), H(div) and L2 of back ends that launch kernels for teams of lanes:
   the tables that say which numbers make up an entry, see laneslump.h. */
#include <backend/lanes/operator/lanesoperator.h>
#include "laneslump.h"

#define HOPS_LUMP_MAX 512 /* terms of a row while it is put together */

/* 0 xy, 1 xz, 2 yz */
static int Pair(int a, int b)
{
  return a + b - 1;
}

PetscErrorCode HopsLumpCreate(HopsLanesLOR k)
{
  HopsSpace         sp  = k->space;
  const int         dim = (int)sp->dim, P = k->P;
  struct _HopsLump *u;

  PetscFunctionBegin;
  PetscCall(PetscNew(&u));
  k->lump      = u;
  u->family[0] = HopsFamilyDerivative(sp->family, sp->dim);
  u->family[1] = sp->family;
  for (int t = 0; t < 2; t++) HopsLayoutCreate(u->family[t], sp->dim, sp->order, &u->l[t]);
  u->mesh.ncells   = (int)sp->ncells;
  u->mesh.dim      = dim;
  u->mesh.P        = P;
  u->mesh.nn       = k->nn;
  u->mesh.ne       = (int)sp->ne;
  u->mesh.nfree    = (int)(sp->nT + sp->nG);
  u->mesh.perentry = 1.0 / sp->ne;
  u->mesh.faces    = sp->family == HOPS_HDIV && dim == 3 && P < 256 && k->kernels->group > 1;
  u->mesh.stencil  = u->mesh.faces || (sp->family == HOPS_HCURL && dim == 3 && P < 256);
  PetscCall(PetscSNPrintf(k->name, sizeof(k->name), "%s P=%d, %s", k->kernels->backend->name, P, HopsFamilies[sp->family]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpSetUp(HopsLanesLOR k)
{
  HopsLumpMesh *m = &k->lump->mesh;

  PetscFunctionBegin;
  m->restr = k->mesh.restr;
  m->begin = k->mesh.begin;
  m->entry = k->mesh.entry;
  m->mask  = k->mesh.mask;
  m->twice = k->mesh.twice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *d is a copy of n bytes */
static PetscErrorCode ToBack(HopsLanesLOR k, size_t n, const void *h, void **d)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;

  PetscFunctionBegin;
  PetscCall((*memory->PoolMalloc)(n, d));
  PetscCall((*memory->Copy)(NULL, *d, h, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeTables(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  struct _HopsLump    *u      = k->lump;

  PetscFunctionBegin;
  for (int m = 0; m < 8; m++) {
    PetscCall((*memory->PoolFree)(&u->count[m]));
    PetscCall((*memory->PoolFree)(&u->term[m]));
    PetscCall((*memory->PoolFree)(&u->col[m]));
    PetscCall(PetscFree(u->hostcount[m]));
    PetscCall(PetscFree(u->hostcol[m]));
    u->mesh.table[m].count = NULL;
    u->mesh.table[m].term  = NULL;
    u->mesh.table[m].col   = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpDestroy(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;

  PetscFunctionBegin;
  PetscCall(FreeTables(k));
  PetscCall((*memory->PoolFree)((void **)&k->lump->number));
  PetscCall((*memory->PoolFree)((void **)&k->lump->at));
  PetscCall(PetscFree(k->lump));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Numbers of the masses ---- */

/* extent of the places where two components meet (or of one component, a = b) */
static void Extent(const HopsLayout *l, int dim, int P, int a, int b, int n[3])
{
  for (int d = 0; d < 3; d++) n[d] = d >= dim ? 1 : (l->open[a][d] && l->open[b][d] ? P - 1 : P);
}

static void Number(HopsLanesLOR k, const HopsLayout *l, int a, int b, const int at[3], int comp, double factor, HopsLumpNumber *out)
{
  const int     dim = k->lump->mesh.dim, P = k->P;
  const double *z = k->gll + P * P, *weight = z + P;

  out->base = comp * k->nn + at[0] + P * (at[1] + (dim == 3 ? P * at[2] : 0));
  out->open = 0;
  out->w    = factor;
  for (int d = 0; d < dim; d++) {
    const int    i = at[d], open = l->open[a][d] + l->open[b][d];
    const double right = i < P - 1 ? z[i + 1] - z[i] : 0, left = i ? z[i] - z[i - 1] : 0;

    out->w *= open == 2 ? 0.5 / right : (open == 1 ? 0.5 * PetscSqrtReal(2 * weight[i] / (left + right)) : weight[i]);
    if (open == 2) out->open |= 1 << d;
  }
}

/* Numbers and components of the vertex data for the terms in u->has: the entities' own ones first, then the
   mixed ones */
static PetscErrorCode SetNumbers(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  struct _HopsLump    *u      = k->lump;
  const int            dim = u->mesh.dim, P = k->P;
  HopsLumpNumber      *h;
  int                  n = 0, comp = 0;
  PetscReal            h1;

  PetscFunctionBegin;
  PetscCall(HopsVertexEdgeMass(k->P, &h1));
  u->n[0] = u->n[1] = u->ncomp[0] = u->ncomp[1] = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1(n, &h));
    n = comp = 0;
    for (int mixed = 0; mixed < 2; mixed++) {
      for (int t = 0; t < 2; t++) {
        const HopsLayout *l = &u->l[t];

        if (!u->has[t]) continue;
        if (!mixed) u->diag[t] = n;
        for (int a = 0; a < (int)l->nc; a++)
          for (int b = mixed ? a + 1 : a; b < (mixed ? (int)l->nc : a + 1); b++, comp++) {
            int e[3];

            Extent(l, dim, P, a, b, e);
            if (mixed) u->mixed[t][Pair(a, b)] = n;
            for (int i = 0; i < e[0] * e[1] * e[2]; i++, n++) {
              const int at[3] = {i % e[0], i / e[0] % e[1], i / (e[0] * e[1])};

              if (pass) Number(k, l, a, b, at, comp, t ? 1 : h1, h + n);
            }
          }
      }
      u->n[mixed]     = n;
      u->ncomp[mixed] = comp;
    }
  }
  for (int t = 0; t < 2; t++) {
    u->mesh.has[t]   = u->has[t];
    u->mesh.own[t]   = u->diag[t];
    u->mesh.mixed[t] = u->mixed[t][0];
  }
  PetscCall((*memory->PoolFree)((void **)&u->number));
  PetscCall(ToBack(k, n * sizeof(*h), h, (void **)&u->number));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpBegin(HopsLanesLOR k, HopsLORVertexData d, HopsLanesLORRun *r)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  struct _HopsLump    *u      = k->lump;
  const PetscBool      has[2] = {r->knc ? PETSC_TRUE : PETSC_FALSE, r->mnc ? PETSC_TRUE : PETSC_FALSE};
  size_t               size;

  PetscFunctionBegin;
  r->lump      = true;
  r->family[0] = u->family[0];
  r->family[1] = u->family[1];
  if (!u->number || u->has[0] != has[0] || u->has[1] != has[1]) {
    u->has[0] = has[0];
    u->has[1] = has[1];
    PetscCall(SetNumbers(k));
  }
  r->ncomp    = u->ncomp[r->mixed ? 1 : 0];
  r->nnumbers = u->n[r->mixed ? 1 : 0];
  r->number   = u->number;
  size        = HopsLanesGroups(k->kernels->group, k->space->ncells) * r->nnumbers * sizeof(double);
  if (!r->first && size != d->numbersize) {
    PetscCall((*memory->PoolFree)(&d->numbers));
    PetscCall((*memory->PoolMalloc)(size, &d->numbers));
    d->numbersize = size;
  }
  r->numbers = (double *)d->numbers + (size_t)r->first * r->nnumbers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpFinish(HopsLanesLOR k, HopsLORVertexData d)
{
  const HopsLumpKernels *kernels = k->kernels->lump;
  struct _HopsLump      *u       = k->lump;
  const PetscInt         nc      = k->space->ncells;

  PetscFunctionBegin;
  u->mesh.n       = u->n[d->v.mixed ? 1 : 0];
  u->mesh.numbers = (const double *)d->numbers;
  if (nc && kernels->Numbers) PetscCall((*kernels->Numbers)(&u->mesh, nc, d->v.ncomp, u->number, d->v.v, (double *)d->numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Tables ---- */

/* Entries of a row: columns as they were met, each with a list of the numbers that are added and
   subtracted */
typedef struct {
  int  n, ncols, col[HOPS_LUMP_MAX], first[HOPS_LUMP_MAX], last[HOPS_LUMP_MAX]; /* columns, their lists' ends or -1 */
  int  number[HOPS_LUMP_MAX], sign[HOPS_LUMP_MAX], next[HOPS_LUMP_MAX];
  int *slot; /* [ne] place of a column in col[], or -1 */
} RowTerms;

static int FindSlot(RowTerms *r, int col)
{
  if (r->slot[col] < 0) {
    r->slot[col]       = r->ncols;
    r->first[r->ncols] = r->last[r->ncols] = -1;
    r->col[r->ncols++]                     = col;
  }
  return r->slot[col];
}

static PetscErrorCode AddTerm(RowTerms *r, int col, int number, int sign)
{
  const int s = FindSlot(r, col);

  PetscFunctionBegin;
  for (int i = r->first[s]; i >= 0; i = r->next[i])
    if (r->number[i] == number && r->sign[i] == -sign) { /* both go */
      r->sign[i] = 0;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  PetscCheck(r->n < HOPS_LUMP_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many terms");
  r->number[r->n] = number;
  r->sign[r->n]   = sign;
  r->next[r->n]   = -1;
  if (r->last[s] >= 0) r->next[r->last[s]] = r->n;
  else r->first[s] = r->n;
  r->last[s] = r->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entities that a mass couples with entity x: y[], with the numbers of the entries; returns how many */
static int Coupled(const struct _HopsLump *u, int t, unsigned char mask, int x, int y[], int number[])
{
  const HopsLayout *l   = &u->l[t];
  const int         dim = u->mesh.dim, P = u->mesh.P;
  int               a = 0, n = 1, at[3];

  y[0]      = x;
  number[0] = u->diag[t] + x;
  while (x >= (int)l->off[a + 1]) a++;
  x -= (int)l->off[a];
  at[0] = x % (int)l->n[a][0];
  at[1] = x / (int)l->n[a][0] % (int)l->n[a][1];
  at[2] = x / (int)(l->n[a][0] * l->n[a][1]);
  for (int b = 0; b < (int)l->nc; b++) {
    int e[3];

    if (b == a || !(mask >> Pair(a, b) & 1)) continue;
    Extent(l, dim, P, a, b, e);
    for (int side = 0; side < 1 << dim; side++) {
      PetscInt to[3]    = {0, 0, 0};
      int      place[3] = {0, 0, 0}, ok = 1;

      for (int d = 0; d < dim; d++) {
        const int s = side >> d & 1, oa = l->open[a][d], ob = l->open[b][d];

        to[d] = place[d] = at[d];
        if (oa == ob) ok = ok && !s;               /* both extend, or neither does: the same index */
        else if (oa) to[d] = place[d] = at[d] + s; /* the two ends */
        else to[d] = at[d] - s;                    /* the intervals before and behind */
        ok = ok && to[d] >= 0 && to[d] < l->n[b][d];
      }
      if (!ok) continue;
      y[n]        = (int)HopsLayoutEntry(l, b, to);
      number[n++] = u->mixed[t][Pair(a, b)] + place[0] + e[0] * (place[1] + e[1] * place[2]);
    }
  }
  return n;
}

/* Entities of the derivative's family with row i of the transposed incidence: start[ne + 1], f[], sign[] */
static PetscErrorCode Transpose(const HopsIncidence *inc, int ne, int **start, int **f, int **sign)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < inc->nrows; r++) n += inc->n[r];
  PetscCall(PetscCalloc1(ne + 2, start));
  PetscCall(PetscMalloc1(n, f));
  PetscCall(PetscMalloc1(n, sign));
  for (PetscInt r = 0; r < inc->nrows; r++)
    for (PetscInt i = 0; i < inc->n[r]; i++) (*start)[inc->col[6 * r + i] + 2]++;
  for (int i = 0; i < ne; i++) (*start)[i + 2] += (*start)[i + 1];
  for (PetscInt r = 0; r < inc->nrows; r++)
    for (PetscInt i = 0; i < inc->n[r]; i++) {
      const int k = (*start)[inc->col[6 * r + i] + 1]++;

      (*f)[k]    = (int)r;
      (*sign)[k] = inc->sgn[6 * r + i] > 0 ? 1 : -1;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static HopsLumpTerm Term(int col, int number, int subtracted)
{
  return col + ((HopsLumpTerm)(2 * number + subtracted) << 32);
}

/* Terms of a row, columns in order of appearance (the diagonal's first); those of a column follow one
   another. Ready for the next row then */
static int Emit(RowTerms *r, HopsLumpTerm out[])
{
  int n = 0;

  for (int s = 0; s < r->ncols; s++) {
    const int start = n;

    for (int i = r->first[s]; i >= 0; i = r->next[i]) {
      if (!r->sign[i]) continue;
      out[n++] = Term(r->col[s], r->number[i], r->sign[i] < 0);
    }
    if (n == start) { /* all cancel: a zero belongs to the pattern all the same */
      for (int k = 0; k < 2; k++) out[n++] = Term(r->col[s], r->number[r->first[s]], k);
    }
    out[n - 1] |= HOPS_LUMP_LAST;
    r->slot[r->col[s]] = -1;
  }
  r->n = r->ncols = 0;
  return n;
}

static PetscErrorCode CreateTable(HopsLanesLOR k, unsigned char mask)
{
  struct _HopsLump *u  = k->lump;
  const int         ne = u->mesh.ne;
  HopsIncidence     inc;
  int              *start = NULL, *f = NULL, *sign = NULL, *count, *col, most = 0, mostcols = 0;
  HopsLumpTerm     *rows, *ell;
  size_t            total = 0, room;
  RowTerms         *r;

  PetscFunctionBegin;
  if (u->has[0]) {
    PetscCall(HopsIncidenceCreate(u->family[1], u->family[0], k->space->dim, k->space->order, &inc));
    PetscCall(Transpose(&inc, ne, &start, &f, &sign));
  }
  PetscCall(PetscNew(&r));
  PetscCall(PetscMalloc1(ne, &r->slot));
  for (int i = 0; i < ne; i++) r->slot[i] = -1;
  PetscCall(PetscMalloc1(ne, &count));
  room = (size_t)ne * (mask ? 160 : 24) + HOPS_LUMP_MAX;
  PetscCall(PetscMalloc1(room, &rows));
  for (int i = 0; i < ne; i++) {
    int y[32], number[32], n, ncols;

    (void)FindSlot(r, i);
    if (u->has[1]) {
      n = Coupled(u, 1, mask, i, y, number);
      for (int j = 0; j < n; j++) PetscCall(AddTerm(r, y[j], number[j], 1));
    }
    for (int e = u->has[0] ? start[i] : 0; e < (u->has[0] ? start[i + 1] : 0); e++) {
      n = Coupled(u, 0, mask, f[e], y, number);
      for (int j = 0; j < n; j++)
        for (PetscInt c = 0; c < inc.n[y[j]]; c++)
          PetscCall(AddTerm(r, (int)inc.col[6 * y[j] + c], number[j], sign[e] * (inc.sgn[6 * y[j] + c] > 0 ? 1 : -1)));
    }
    if (total + 2 * HOPS_LUMP_MAX > room) {
      room *= 2;
      PetscCall(PetscRealloc(room * sizeof(*rows), &rows));
    }
    ncols    = r->ncols;
    n        = Emit(r, rows + total);
    count[i] = n + 65536 * ncols;
    most     = PetscMax(most, n);
    mostcols = PetscMax(mostcols, ncols);
    total += n;
  }
  PetscCall(PetscCalloc1((size_t)most * ne, &ell));
  PetscCall(PetscCalloc1((size_t)mostcols * ne, &col));
  total = 0;
  for (int i = 0; i < ne; i++)
    for (int t = 0, c = 0; t < (count[i] & 65535); t++) {
      const HopsLumpTerm x = rows[total++];

      ell[(size_t)t * ne + i] = x;
      if (x & HOPS_LUMP_LAST) col[(size_t)c++ * ne + i] = (int)(x & (HOPS_LUMP_LAST - 1));
    }
  PetscCall(ToBack(k, ne * sizeof(int), count, &u->count[mask]));
  PetscCall(ToBack(k, (size_t)most * ne * sizeof(*ell), ell, &u->term[mask]));
  PetscCall(ToBack(k, (size_t)mostcols * ne * sizeof(*col), col, &u->col[mask]));
  u->mesh.table[mask].col   = (const int *)u->col[mask];
  u->mesh.table[mask].count = (const int *)u->count[mask];
  u->mesh.table[mask].term  = (const HopsLumpTerm *)u->term[mask];
  PetscCall(PetscFree(ell));
  PetscCall(PetscFree(rows));
  u->hostcol[mask]   = col;
  u->hostcount[mask] = count;
  PetscCall(PetscFree(r->slot));
  PetscCall(PetscFree(r));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(f));
  PetscCall(PetscFree(sign));
  if (u->has[0]) PetscCall(HopsIncidenceDestroy(&inc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the masks that occur in the pattern */
static PetscErrorCode CreateTables(HopsLanesLOR k)
{
  PetscFunctionBegin;
  for (int m = 0; m < 8; m++)
    if (k->lump->masks >> m & 1 && !k->lump->count[m]) PetscCall(CreateTable(k, (unsigned char)m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A term that comes or goes makes another pattern, whatever the masks are */
PetscErrorCode HopsLumpMasks(HopsLanesLOR k, HopsLORVertexData d, PetscBool adopt, PetscBool *covered, PetscBool *coupled)
{
  const HopsMemoryOps *memory    = k->kernels->backend->memory;
  struct _HopsLump    *u         = k->lump;
  const PetscInt       n         = k->space->ncells;
  const PetscBool      same      = u->tables && u->thas[0] == u->has[0] && u->thas[1] == u->has[1] ? PETSC_TRUE : PETSC_FALSE;
  int                  result[3] = {0, 0, 0};

  PetscFunctionBegin;
  if (n) {
    PetscCall((*k->kernels->Set)(k->bad + 1, 0, sizeof(result)));
    PetscCall((*k->kernels->lump->Compare)(n, d->mask, k->mask, k->bad + 1));
    PetscCall((*memory->Copy)(NULL, result, k->bad + 1, sizeof(result), HOPS_COPY_OUT));
  }
  *covered = same && !result[1] ? PETSC_TRUE : PETSC_FALSE;
  *coupled = result[2] ? PETSC_TRUE : PETSC_FALSE;
  if (!adopt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLORHangReset(k));
  if (n) PetscCall((*memory->Copy)(NULL, k->mask, d->mask, n, HOPS_COPY_WITHIN));
  if (!same) PetscCall(FreeTables(k));
  u->tables  = PETSC_TRUE;
  u->thas[0] = u->has[0];
  u->thas[1] = u->has[1];
  u->masks   = result[0];
  if (!u->mesh.stencil || k->hang) PetscCall(CreateTables(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Rows ---- */

/* What the stencil needs to know of the lattice and of the mesh, once */
static PetscErrorCode SetUpStencil(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  struct _HopsLump    *u      = k->lump;
  const HopsLayout    *l      = &u->l[1];
  int                 *at, n = 0, empty;

  PetscFunctionBegin;
  if (u->at) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(u->mesh.ne, &at));
  for (int a = 0; a < (int)l->nc; a++)
    for (int z = 0; z < (int)l->n[a][2]; z++)
      for (int y = 0; y < (int)l->n[a][1]; y++)
        for (int x = 0; x < (int)l->n[a][0]; x++) at[n++] = x + (y << 8) + (z << 16) + (a << 24);
  PetscCall(ToBack(k, n * sizeof(int), at, (void **)&u->at));
  PetscCall(PetscFree(at));
  u->mesh.at = u->at;
  PetscCall((*k->kernels->Set)(k->bad, 0, sizeof(*k->bad)));
  if (!k->hang) PetscCall((*k->kernels->lump->StencilEmpty)(&u->mesh, k->bad));
  PetscCall((*memory->Copy)(NULL, &empty, k->bad, sizeof(empty), HOPS_COPY_OUT));
  u->mesh.empty = empty || k->hang; /* rows may have nothing but what hanging nodes bring */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for where the entries of restr go in the rows, which a stencil's first pass over them needs */
static PetscErrorCode AllocPlaces(HopsLanesLOR k, HopsLORRows *rows)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  int                  ends[2];

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++)
    PetscCall((*memory->Copy)(NULL, ends + i, k->begin + rows->first + i * rows->n, sizeof(int), HOPS_COPY_OUT));
  rows->place0 = ends[0];
  rows->nplace = ends[1] - ends[0];
  PetscCall((*memory->PoolMalloc)((*k->kernels->lump->StencilPlaceSize)(&k->lump->mesh, rows), (void **)&rows->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpRows(HopsLanesLOR k, HopsLORRows *rows)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsLumpMesh        *m      = &k->lump->mesh;
  unsigned long long  *work   = (unsigned long long *)k->bad;
  int                 *buffer;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCall((*k->kernels->Set)(rows->i[b] + rows->n, 0, sizeof(int)));
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->stencil) {
    PetscCall(SetUpStencil(k));
    PetscCall(AllocPlaces(k, rows));
  }
  PetscCall((*k->kernels->Set)(work, 0, sizeof(*work)));
  if (m->stencil) PetscCall((*k->kernels->lump->StencilCount)(m, rows, work));
  else PetscCall((*k->kernels->lump->Count)(m, rows, work));
  PetscCall(HopsLanesLORBuffer(k->kernels, rows, work, &buffer));
  if (rows->anylong) {
    PetscCall(CreateTables(k));
    PetscCall((*k->kernels->lump->CountLong)(m, rows, buffer, work));
  }
  PetscCall((*memory->PoolFree)((void **)&buffer));
  for (int b = 0; b < 2; b++)
    if (rows->i[b]) PetscCall((*k->kernels->Scan)(rows->n, rows->i[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpColumns(HopsLanesLOR k, HopsLORRows *rows, unsigned char used[])
{
  const HopsLumpMesh *m = &k->lump->mesh;

  PetscFunctionBegin;
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->stencil) PetscCall((*k->kernels->lump->StencilColumns)(m, rows, used));
  else PetscCall((*k->kernels->lump->Columns)(m, rows, used));
  if (rows->anylong) PetscCall((*k->kernels->lump->ColumnsLong)(m, rows, used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLumpValues(HopsLanesLOR k, HopsLORVertexData d, HopsLORRows *rows)
{
  const HopsLumpMesh *m = &k->lump->mesh;

  PetscFunctionBegin;
  if (!rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!m->stencil) {
    PetscCall((*k->kernels->lump->Values)(m, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(d->v.mixed || !rows->coupled, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The pattern has couplings that the vertex data lack");
  if (!rows->placed) PetscCall((*k->kernels->lump->StencilPlaces)(m, rows));
  rows->placed = PETSC_TRUE;
  PetscCall((*k->kernels->lump->StencilValues)(m, rows, k->bad));
  if (rows->anylong) PetscCall((*k->kernels->lump->ValuesLong)(m, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
