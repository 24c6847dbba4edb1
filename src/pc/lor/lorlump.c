/*
  Low-order-refined matrices of H(curl), H(div) and L2: a cell's matrix as a list of terms in the tensors at
  its Gauss-Lobatto nodes. On a sub-cell with sides h the lowest-order field is, at a vertex, the unknowns of
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
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <stdlib.h>

typedef struct {
  PetscInt64 key; /* (row * ne + col) * nvalues + value */
  PetscReal  a;
} HopsLumpItem;

typedef struct {
  PetscInt      n, max;
  HopsLumpItem *item;
} HopsLumpList;

static int HopsLumpCompare(const void *a, const void *b)
{
  const PetscInt64 x = ((const HopsLumpItem *)a)->key, y = ((const HopsLumpItem *)b)->key;

  return x < y ? -1 : x > y;
}

static PetscErrorCode HopsLumpAdd(HopsLumpList *list, PetscInt64 key, PetscReal a)
{
  PetscFunctionBegin;
  if (list->n == list->max) {
    list->max = PetscMax(1024, 2 * list->max);
    PetscCall(PetscRealloc(list->max * sizeof(HopsLumpItem), &list->item));
  }
  list->item[list->n].key = key;
  list->item[list->n++].a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* position of T_ab in the upper triangle by rows, and whether the mask has the pair */
static PetscBool HopsLumpTensorEntry(PetscInt dim, PetscInt nc, PetscInt a, PetscInt b, unsigned char mask, PetscInt *k)
{
  static const PetscInt at3[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}, at2[2][2] = {{0, 1}, {1, 2}};

  *k = nc == 1 ? 0 : (dim == 3 ? at3[a][b] : at2[a][b]);
  return a == b || mask & (1 << (a + b - 1)) ? PETSC_TRUE : PETSC_FALSE;
}

/*
  Terms of one tensor of a family with nt values a node, the first of which is `value0`, times `factor`; inc
  maps the form's unknowns to the family's, or is NULL where they are the same
*/
static PetscErrorCode HopsLumpTensor(HopsSpace sp, HopsFamily family, const HopsBasis *gll, PetscReal factor, unsigned char mask,
                                     PetscInt value0, PetscInt nt, PetscInt nvalues, const HopsIncidence *inc, HopsLumpList *list)
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

          if (!HopsLumpTensorEntry(dim, nt, a, b, mask, &k)) continue;
          k += value0 + node * nt;
          if (!inc) PetscCall(HopsLumpAdd(list, ((PetscInt64)entity[a] * sp->ne + entity[b]) * nvalues + k, c));
          else
            for (PetscInt i = 0; i < inc->n[entity[a]]; ++i)
              for (PetscInt j = 0; j < inc->n[entity[b]]; ++j) {
                const PetscInt r = 6 * entity[a] + i, t = 6 * entity[b] + j;

                PetscCall(
                  HopsLumpAdd(list, ((PetscInt64)inc->col[r] * sp->ne + inc->col[t]) * nvalues + k, c * inc->sgn[r] * inc->sgn[t]));
              }
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the terms, sums up equal ones, and numbers the entries */
static PetscErrorCode HopsLumpFinish(HopsSpace sp, PetscInt nvalues, HopsLumpList *list, HopsLumpPattern *p)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  if (list->n) qsort(list->item, list->n, sizeof(HopsLumpItem), HopsLumpCompare);
  for (PetscInt i = 0; i < list->n; ++i) {
    if (n && list->item[n - 1].key == list->item[i].key) list->item[n - 1].a += list->item[i].a;
    else list->item[n++] = list->item[i];
  }
  p->nterms = n;
  p->n      = 0;
  for (PetscInt i = 0; i < n; ++i) p->n += !i || list->item[i].key / nvalues != list->item[i - 1].key / nvalues;
  PetscCall(PetscMalloc2(p->n, &p->row, p->n, &p->col));
  PetscCall(PetscMalloc1(n, &p->term));
  p->n = 0;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt64 rc = list->item[i].key / nvalues;

    if (!i || rc != list->item[i - 1].key / nvalues) {
      p->row[p->n]   = (PetscInt)(rc / sp->ne);
      p->col[p->n++] = (PetscInt)(rc % sp->ne);
    }
    p->term[i].entry = p->n - 1;
    p->term[i].value = (PetscInt)(list->item[i].key % nvalues);
    p->term[i].a     = list->item[i].a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpPatternCreate(HopsLOR *lor, unsigned char mask, HopsLumpPattern *p)
{
  HopsSpace        sp      = lor->space;
  const HopsFamily dfamily = HopsFamilyDerivative(sp->family, sp->dim);
  const PetscInt   nn = HopsPower(sp->order + 1, sp->dim), full = sp->dim * (sp->dim + 1) / 2;
  const PetscInt   nd = !lor->deriv ? 0 : (dfamily == HOPS_L2 ? 1 : full), nm = !lor->mass ? 0 : (sp->family == HOPS_L2 ? 1 : full);
  HopsLumpList     list = {0, 0, NULL};

  PetscFunctionBegin;
  if (nd) {
    HopsIncidence inc;
    PetscReal     h1 = 1.0;

    PetscCall(HopsLumpEdgeMass(lor->gll.P, &h1));
    PetscCall(HopsIncidenceCreate(sp->family, dfamily, sp->dim, sp->order, &inc));
    PetscCall(HopsLumpTensor(sp, dfamily, &lor->gll, h1, mask, 0, nd, nn * (nd + nm), &inc, &list));
    PetscCall(HopsIncidenceDestroy(&inc));
  }
  if (nm) PetscCall(HopsLumpTensor(sp, sp->family, &lor->gll, 1.0, mask, nn * nd, nm, nn * (nd + nm), NULL, &list));
  PetscCall(HopsLumpFinish(sp, nn * (nd + nm), &list, p));
  PetscCall(PetscFree(list.item));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLumpPatternDestroy(HopsLumpPattern *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(p->row, p->col));
  PetscCall(PetscFree(p->term));
  p->n = p->nterms = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORLumpReset(HopsLOR *lor)
{
  PetscFunctionBegin;
  if (lor->kernel) PetscCall((*lor->kernel->ops->Destroy)(&lor->kernel));
  for (PetscInt m = 0; m < 8 && lor->element; ++m) PetscCall(HopsLumpPatternDestroy(&lor->element[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The patterns of the masks in use on this rank */
PetscErrorCode HopsLORLumpPatterns(HopsLOR *lor)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < lor->space->ncells; ++c)
    if (!lor->element[lor->mask[c]].n) PetscCall(HopsLumpPatternCreate(lor, lor->mask[c], &lor->element[lor->mask[c]]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mask[ncells]: coupled pairs in either tensor; a term that comes or goes makes everything anew, and ok
   false */
PetscErrorCode HopsLORLumpCouplings(HopsLOR *lor, HopsForm form, unsigned char mask[], PetscBool *ok)
{
  HopsSpace       sp    = lor->space;
  const PetscBool deriv = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE,
                  mass  = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;
  size_t       ks = 0, ms = 0;
  PetscScalar *kw = NULL, *mw = NULL;

  PetscFunctionBegin;
  if (!lor->kernel || lor->deriv != deriv || lor->mass != mass) {
    PetscCall(HopsLORLumpReset(lor));
    lor->deriv = deriv;
    lor->mass  = mass;
    PetscCall((*sp->backend->LORCreate)(sp, &lor->gll, deriv, mass, &lor->kernel));
    *ok = PETSC_FALSE;
  }
  for (PetscInt c = 0; c < sp->ncells; c += HOPS_LOR_CHUNK) {
    const PetscInt n = PetscMin(HOPS_LOR_CHUNK, sp->ncells - c);
    HopsValues     k, m;
    PetscInt       bad;
    PetscReal      det;

    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(form), sp, &lor->inner, c, n, &ks, &kw, &k));
    PetscCall(HopsCoefficientEvaluate(HopsFormValue(form), sp, &lor->inner, c, n, &ms, &mw, &m));
    PetscCall((*lor->kernel->ops->Couplings)(lor->kernel, c, n, &k, &m, HOPS_LOR_TOL, mask + c, &bad, &det));
    if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
  }
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  PetscFunctionReturn(PETSC_SUCCESS);
}
