/*
  Host back end: the matrix of a cell, for each mask of coupled directions. In H1 it is a stencil on the
  lattice (hostlorh1.h). In H(curl), H(div) and L2 it is a list of terms in the tensors at its Gauss-Lobatto
  nodes. On a sub-cell with sides h the lowest-order field is, at a vertex, the unknowns of
  the edges (faces) that meet there over their lengths (areas) in reference coordinates, so vertex quadrature
  of int (T u) . v couples those alone:

    (1/2^dim) prod h  sum_{a,b} T_ab(vertex) sqrt(r_a r_b) u_a / |a|  v_b / |b|

  and the term of the derivative is the same in the derivative's family, with C^T and C around it. r_a is the
  ratio of the node's Gauss-Lobatto weight to its share of the sub-cells' lengths, multiplied over the
  directions in which a does not extend: against the weights the mass of Lagrange polynomials has eigenvalues
  in [p/(2p+1), 1], against the lengths in [0.31, 1.16] at worst. In the other directions 1/h stays, which is
  within 1% of the best diagonal matrix for the mass of the edge functions; its eigenvalues are in [1, h1], h1
  from 1 to 2.12 at order 12. The derivative has one such direction more and one of Lagrange polynomials less
  than the field, so its term gets a factor h1: the spectra of both then lie in about the same interval.
*/
#include <backend/host/lor/hostlorimpl.h>
#include <stdlib.h>

typedef struct {
  PetscInt64 key; /* (row * ne + col) * nvalues + value */
  PetscReal  a;
} Item;

typedef struct {
  PetscInt n, max;
  Item    *item;
} List;

static int Compare(const void *a, const void *b)
{
  const PetscInt64 x = ((const Item *)a)->key, y = ((const Item *)b)->key;

  return x < y ? -1 : x > y;
}

static PetscErrorCode Add(List *list, PetscInt64 key, PetscReal a)
{
  PetscFunctionBegin;
  if (list->n == list->max) {
    list->max = PetscMax(1024, 2 * list->max);
    PetscCall(PetscRealloc(list->max * sizeof(Item), &list->item));
  }
  list->item[list->n].key = key;
  list->item[list->n++].a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* position of T_ab in the upper triangle by rows, and whether the mask has the pair */
static PetscBool TensorEntry(PetscInt dim, PetscInt nc, PetscInt a, PetscInt b, unsigned char mask, PetscInt *k)
{
  static const PetscInt at3[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}, at2[2][2] = {{0, 1}, {1, 2}};

  *k = nc == 1 ? 0 : (dim == 3 ? at3[a][b] : at2[a][b]);
  return a == b || mask & (1 << (a + b - 1)) ? PETSC_TRUE : PETSC_FALSE;
}

/*
  Terms of one tensor of a family with nt values a node, the first of which is `value0`, times `factor`; inc
  maps the form's unknowns to the family's, or is NULL where they are the same
*/
static PetscErrorCode Tensor(HopsSpace sp, HopsFamily family, const HopsBasis *gll, PetscReal factor, unsigned char mask,
                             PetscInt value0, PetscInt nt, PetscInt nvalues, const HopsIncidence *inc, List *list)
{
  const PetscInt   dim = sp->dim, p = sp->order, nsub = HopsPower(p, dim);
  const PetscReal *z = gll->nodes;
  HopsLayout       l;

  PetscFunctionBegin;
  HopsLayoutCreate(family, dim, p, &l);
  for (PetscInt s = 0; s < nsub; ++s)
    for (PetscInt v = 0; v < (1 << dim); ++v) {
      const PetscInt sub[3] = {s % p, s / p % p, s / (p * p)}, bit[3] = {v & 1, (v >> 1) & 1, v >> 2};
      PetscInt       entity[3], node                                  = 0;
      PetscReal      w = factor, along[3], across[3], scale[3];

      for (PetscInt d = dim - 1; d >= 0; --d) {
        const PetscInt  i = sub[d] + bit[d];
        const PetscReal h = z[sub[d] + 1] - z[sub[d]];

        w *= 0.5 * h;
        along[d]  = 1.0 / h;
        across[d] = PetscSqrtReal(2.0 * gll->weights[i] / (z[PetscMin(i + 1, p)] - z[PetscMax(i - 1, 0)]));
        node      = node * (p + 1) + i;
      }
      for (PetscInt a = 0; a < l.nc; ++a) {
        PetscInt at[3] = {0, 0, 0};

        scale[a] = 1.0;
        for (PetscInt d = 0; d < dim; ++d) {
          at[d] = sub[d] + (l.open[a][d] ? 0 : bit[d]);
          scale[a] *= l.open[a][d] ? along[d] : across[d];
        }
        entity[a] = HopsLayoutEntry(&l, a, at);
      }
      for (PetscInt a = 0; a < l.nc; ++a)
        for (PetscInt b = 0; b < l.nc; ++b) {
          PetscInt        k;
          const PetscReal c = w * scale[a] * scale[b];

          if (!TensorEntry(dim, nt, a, b, mask, &k)) continue;
          k += value0 + node * nt;
          if (!inc) PetscCall(Add(list, ((PetscInt64)entity[a] * sp->ne + entity[b]) * nvalues + k, c));
          else
            for (PetscInt i = 0; i < inc->n[entity[a]]; ++i)
              for (PetscInt j = 0; j < inc->n[entity[b]]; ++j) {
                const PetscInt r = 6 * entity[a] + i, t = 6 * entity[b] + j;

                PetscCall(Add(list, ((PetscInt64)inc->col[r] * sp->ne + inc->col[t]) * nvalues + k, c * inc->sgn[r] * inc->sgn[t]));
              }
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for the lists of rows of n[] entries */
PetscErrorCode HopsHostLORCreateLists(PetscInt nrows, const int n[], HopsHostLORCell *p, HopsHostLORRow *row)
{
  int *next, total = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < nrows; ++r) total += HopsHostLORPadded(n[r]);
  PetscCall(PetscMalloc1(2 * total, &p->lists));
  next = p->lists;
  for (PetscInt r = 0; r < nrows; next += 2 * HopsHostLORPadded(n[r]), ++r) {
    row[r]      = (HopsHostLORRow){0};
    row[r].col  = next;
    row[r].slot = next + HopsHostLORPadded(n[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsHostLORAddEntry(HopsHostLORRow *row, int col, int slot)
{
  row->col[row->n]    = col;
  row->slot[row->n++] = slot;
  for (int i = row->n; i < HopsHostLORPadded(row->n); ++i) {
    row->col[i]  = row->col[0];
    row->slot[i] = row->slot[0];
  }
}

/* Sorts the terms, sums up equal ones, and numbers the entries by rows */
static PetscErrorCode Finish(HopsLORKernel k, PetscInt nvalues, List *list, HopsHostLORCell *p)
{
  const PetscInt ne = k->space->ne;
  PetscInt       n  = 0;
  int           *len;

  PetscFunctionBegin;
  if (list->n) qsort(list->item, list->n, sizeof(Item), Compare);
  for (PetscInt i = 0; i < list->n; ++i) {
    if (n && list->item[n - 1].key == list->item[i].key) list->item[n - 1].a += list->item[i].a;
    else list->item[n++] = list->item[i];
  }
  p->nterms = (int)n;
  p->n      = 0;
  PetscCall(PetscMalloc1(n, &p->term));
  PetscCall(PetscCalloc1(ne, &len));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt64 rc = list->item[i].key / nvalues;

    if (!i || rc != list->item[i - 1].key / nvalues) {
      ++p->n;
      ++len[rc / ne];
    }
    p->term[i].entry = p->n - 1;
    p->term[i].value = (int)(list->item[i].key % nvalues);
    p->term[i].a     = list->item[i].a;
  }
  PetscCall(PetscMalloc1(ne, &p->row));
  PetscCall(HopsHostLORCreateLists(ne, len, p, p->row));
  for (PetscInt r = 0; r < ne; ++r) {
    const PetscInt id = (p - k->cell) * ne + r + 1;

    p->row[r].id = id < 65536 ? (int)id : 0;
  }
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt64 rc = list->item[i].key / nvalues;

    if (!i || p->term[i].entry != p->term[i - 1].entry)
      HopsHostLORAddEntry(&p->row[rc / ne], (int)(rc % ne - rc / ne), p->term[i].entry);
  }
  PetscCall(PetscFree(len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateForm(HopsLORKernel k, unsigned char mask, HopsHostLORCell *p)
{
  HopsSpace      sp = k->space;
  const PetscInt nn = k->nn, nd = k->terms[0] ? HopsFamilyTensorSize(k->dfamily, k->dim) : 0,
                 nm = k->terms[1] ? HopsFamilyTensorSize(k->family, k->dim) : 0;
  List list         = {0, 0, NULL};

  PetscFunctionBegin;
  if (nd) {
    HopsIncidence inc;
    PetscReal     h1 = 1.0;

    PetscCall(HopsVertexEdgeMass(k->P, &h1));
    PetscCall(HopsIncidenceCreate(k->family, k->dfamily, sp->dim, sp->order, &inc));
    PetscCall(Tensor(sp, k->dfamily, k->gll, h1, mask, 0, nd, nn * (nd + nm), &inc, &list));
    PetscCall(HopsIncidenceDestroy(&inc));
  }
  if (nm) PetscCall(Tensor(sp, k->family, k->gll, 1.0, mask, nn * nd, nm, nn * (nd + nm), NULL, &list));
  PetscCall(Finish(k, nn * (nd + nm), &list, p));
  PetscCall(PetscFree(list.item));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- H1 ----------------------------------------- */

typedef struct {
  HopsHostLORRow *row;
  const int      *st;  /* strides of the lattice */
  int             ne;  /* entries of a node */
  const int      *ijk; /* the row's place: 0, 1 or 2 at the first, an inner, the last node of a line */
} Stencil;

/* Column v + s e_a + t e_b of the row v, whose entry is the given one of the list of v - (what is negative
   in s e_a, t e_b, r e_c); left out where it is not in the cell */
static void AddNode(const Stencil *x, int a, int s, int b, int t, int entry)
{
  const int at[2] = {a, b}, step[2] = {s, t};
  int       col = 0, base = 0;

  for (int i = 0; i < 2; i++) {
    if (!step[i]) continue;
    if (x->ijk[at[i]] == (step[i] > 0 ? 2 : 0)) return;
    col += step[i] * x->st[at[i]];
    if (step[i] < 0) base -= x->st[at[i]];
  }
  HopsHostLORAddEntry(x->row, col, base * x->ne + entry);
}

/* The stencil of each node by its place in the lattice: 3^dim lists */
static PetscErrorCode CreateH1(HopsLORKernel k, unsigned char mask, HopsHostLORCell *p)
{
  const int      dim = k->dim, P = k->P, nclass = dim == 3 ? 27 : 9, most = 1 + 2 * dim + 4 * (dim == 3 ? 3 : 1);
  const int      st[3] = {1, P, P * P};
  int            len[27];
  HopsHostLORRow row[27];

  PetscFunctionBegin;
  p->n = 1 + 2 * dim + 4 * ((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1));
  for (int c = 0; c < nclass; c++) len[c] = most;
  PetscCall(HopsHostLORCreateLists(nclass, len, p, row));
  for (int c = 0; c < nclass; c++) {
    const int     ijk[3] = {c % 3, c / 3 % 3, c / 9};
    const Stencil x      = {row + c, st, p->n, ijk};

    AddNode(&x, 0, 0, 0, 0, 0);
    for (int a = 0; a < dim; a++) {
      AddNode(&x, a, -1, a, 0, 2 + 2 * a);
      AddNode(&x, a, 1, a, 0, 1 + 2 * a);
    }
    for (int a = 0, entry = 1 + 2 * dim; a < dim; a++)
      for (int b = a + 1; b < dim; b++) {
        if (!(mask >> (a + b - 1) & 1)) continue;
        AddNode(&x, a, -1, b, 1, entry);
        AddNode(&x, a, 1, b, -1, entry + 1);
        AddNode(&x, a, 1, b, 1, entry + 2);
        AddNode(&x, a, -1, b, -1, entry + 3);
        entry += 4;
      }
  }
  PetscCall(PetscMalloc1(k->nn, &p->row));
  for (int v = 0; v < k->nn; v++) {
    int c = 0, place = 0;

    for (int d = dim - 1; d >= 0; d--) {
      const int i = v / st[d] % P, right = P - 1 - i;

      c     = 3 * c + (i ? (right ? 1 : 2) : 0);
      place = 5 * place + (i < 2 ? i : (right < 2 ? 4 - right : 2));
    }
    p->row[v]       = row[c];
    p->row[v].base  = v * p->n;
    p->row[v].id    = 27 * mask + c + 1;
    p->row[v].place = place;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORCellsDestroy(HopsLORKernel k)
{
  PetscFunctionBegin;
  for (int m = 0; m < k->nkinds; m++) {
    PetscCall(PetscFree(k->cell[m].row));
    PetscCall(PetscFree(k->cell[m].lists));
    PetscCall(PetscFree(k->cell[m].term));
    PetscCall(PetscFree(k->cell[m].start));
    PetscCall(PetscFree(k->cell[m].col));
    PetscCall(PetscFree(k->cell[m].same));
    k->cell[m].n = k->cell[m].nterms = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKind(HopsLORKernel k, int kind)
{
  HopsHostLORCell *p = &k->cell[kind];

  PetscFunctionBegin;
  if (p->row) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind >= 8) PetscCall(HopsHostLORHangCell(k, &k->hang[kind / 8], &k->cell[kind % 8], p));
  else if (k->family == HOPS_H1) PetscCall(CreateH1(k, (unsigned char)kind, p));
  else PetscCall(CreateForm(k, (unsigned char)kind, p));
  p->most = 0;
  for (PetscInt i = 0; i < k->space->ne; ++i) p->most = PetscMax(p->most, p->row[i].n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORCellsCreate(HopsLORKernel k)
{
  PetscFunctionBegin;
  if (k->nhang > 1) PetscCall(HopsHostLORHangRows(k));
  for (PetscInt c = 0; c < k->space->ncells; ++c) {
    PetscCall(CreateKind(k, k->mask[c] % 8)); /* those with hanging nodes are made of it */
    PetscCall(CreateKind(k, k->mask[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
