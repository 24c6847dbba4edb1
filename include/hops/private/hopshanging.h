/* Hanging nodes: what a cell's mask says, and the lines of its lattice that are parts of a parent's. */
#pragma once
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsmapkind.h>

/*
  A cell whose facets or edges are parts of a coarser neighbour's lists the nodes of the parent's facet or
  edge there, in its own directions. Its mask says where; 0: nowhere.

    bits 0 .. dim-1        position in the parent: bit d is set in the upper half of direction d
    bits dim .. 2 dim-1    bit d: the facet across direction d is half of a parent's, quarter in 3D
    bits 6 .. 8 (3D)       bit d: the edge along direction d is half of a parent's

  Such a facet, or edge, is on the side, or sides, that the position says. Masks of a space are normal: edges
  of hanging facets have their bits.

       +-------+---+   A and B list K's nodes of the common edge: bit 2 of their masks is set, and bit 0, the
       |       | B |   side on which it lies, is not. Bit 1 tells A, in its lower half, from B, in its upper
       |   K   +---+
       |       | A |
       +-------+---+

  The cell's own values are E = J u: one matrix, from a parent's P nodes to those in its lower half, along the
  lines of each direction in turn; reversed lines serve the upper half. The result goes back by J^T, in
  reverse.

  In H(curl) and H(div) this goes component by component. Where a component is open its entries are integrals
  between nodes, and the matrix is another one, from a parent's P - 1 integrals. A facet has entries of those
  components that are closed across it. Masks and directions are the same; signs are those of the restriction.
*/
#define HOPS_HANGING_MASKS  512
#define HOPS_HANGING_MOST   65  /* entries of a line */
#define HOPS_HANGING_REPAIR 0.1 /* the widest gap that is closed, in parts of a cell: more is a wrong mask or number */

HOPS_HOST_DEVICE unsigned HopsHangingFacets(int dim, unsigned mask)
{
  return mask >> dim & ((1u << dim) - 1);
}

HOPS_HOST_DEVICE unsigned HopsHangingEdges(int dim, unsigned mask)
{
  return dim == 3 ? mask >> 6 & 7 : 0;
}

/* Entries of a component of a cell: how many in each direction, and the directions, as bits, in which it is
   open */
typedef struct {
  int      n[3];
  unsigned open;
} HopsHangingBox;

/* The lines of direction a: start[] of those below 2 P, as offsets in the component; returns their number */
HOPS_HOST_DEVICE int HopsHangingLines(int dim, const HopsHangingBox *x, unsigned mask, int a, int start[])
{
  const int      st[3] = {1, x->n[0], x->n[0] * x->n[1]}, b = a ? 0 : 1, c = 3 - a - b;
  const unsigned facets = HopsHangingFacets(dim, mask) & ~x->open;
  const int      endb = mask >> b & 1 ? (x->n[b] - 1) * st[b] : 0, endc = dim == 3 && mask >> c & 1 ? (x->n[c] - 1) * st[c] : 0;
  int            n = 0;

  if (dim == 2) {
    if (facets >> b & 1) start[n++] = endb;
    return n;
  }
  if (facets >> b & 1)
    for (int i = 0; i < x->n[c]; i++) start[n++] = endb + i * st[c];
  if (facets >> c & 1)
    for (int i = 0; i < x->n[b]; i++)
      if (!(facets >> b & 1) || i * st[b] != endb) start[n++] = endc + i * st[b];
  if (!n && HopsHangingEdges(dim, mask) >> a & 1 && !((x->open >> b | x->open >> c) & 1)) start[n++] = endb + endc;
  return n;
}

/* Where a line begins, and the step between its entries: those of the upper half are run through backwards */
HOPS_HOST_DEVICE int HopsHangingLine(const HopsHangingBox *x, unsigned mask, int a, int start, int *step)
{
  const int st = a == 0 ? 1 : (a == 1 ? x->n[0] : x->n[0] * x->n[1]);

  *step = mask >> a & 1 ? -st : st;
  return mask >> a & 1 ? start + (x->n[a] - 1) * st : start;
}

/* The lines of direction a become J[P][P] times what they are, or J^T; entries of u are `stride` apart. For
   host and device */
HOPS_HOST_DEVICE void HopsHangingAlong(int dim, const HopsHangingBox *x, const PetscReal J[], unsigned mask, int a, int transpose,
                                       PetscReal u[], size_t stride)
{
  const int P = x->n[a];
  int       start[2 * HOPS_HANGING_MOST], step;
  PetscReal v[HOPS_HANGING_MOST];

  for (int l = HopsHangingLines(dim, x, mask, a, start); l--;) {
    PetscReal      *y    = u + HopsHangingLine(x, mask, a, start[l], &step) * stride;
    const ptrdiff_t st   = step * (ptrdiff_t)stride;
    int             some = 0;

    for (int m = 0; m < P; m++) some = some || y[m * st] != 0.0;
    for (int m = 0; m < P && some; m++) { /* of a unit vector most lines are zero */
      v[m] = 0.0;
      for (int k = 0; k < P; k++) v[m] += (transpose ? J[k * P + m] : J[m * P + k]) * y[k * st];
    }
    for (int m = 0; m < P && some; m++) y[m * st] = v[m];
  }
}

/* The matrices of a family and order. J[0][P][P]: values at the nodes of the lower half from those at a
   parent's nodes; J[1][P-1][P-1]: integrals between them */
typedef struct {
  int            dim, P, nc, ne, off[3];
  HopsHangingBox box[3];
  PetscReal     *J[2];
} HopsHanging;

/* u = J u, or J^T u, on a cell's entries, which are `stride` apart. For host and device */
HOPS_HOST_DEVICE void HopsHangingApplyApart(const HopsHanging *h, unsigned mask, int transpose, PetscReal u[], size_t stride)
{
  for (int c = 0; c < h->nc; c++)
    for (int i = 0; i < h->dim; i++) {
      const int a = transpose ? h->dim - 1 - i : i;

      HopsHangingAlong(h->dim, h->box + c, h->J[h->box[c].open >> a & 1], mask, a, transpose, u + h->off[c] * stride, stride);
    }
}

PETSC_INTERN PetscErrorCode HopsHangingCreate(HopsFamily, PetscInt dim, PetscInt order, HopsHanging *);
PETSC_INTERN PetscErrorCode HopsHangingDestroy(HopsHanging *); /* of zeros, too */
/* the same of u[ne] */
PETSC_INTERN void HopsHangingApply(const HopsHanging *, unsigned mask, PetscBool transpose, PetscReal u[]);
/* E = J^T E J, of a symmetric element matrix E[ne][ne] */
PETSC_INTERN void HopsHangingElement(const HopsHanging *, unsigned mask, PetscReal E[]);
/* on[ne]: the entries on lines; returns their number */
PETSC_INTERN int HopsHangingNodes(const HopsHanging *, unsigned mask, PetscBool on[]);
/* Is what the cell lists at a node of H1 the node itself? The end that a line shares with its parent's is */
PETSC_INTERN PetscBool HopsHangingIsOwn(const HopsHanging *, unsigned mask, int node);
/* J as rows: start[ne + 1], and col[], w[], which are the caller's to free. most > 0: a row keeps its `most`
   largest entries, and those as large as the last of them, and is scaled to sum up to 1 */
PETSC_INTERN PetscErrorCode HopsHangingRows(const HopsHanging *, unsigned mask, PetscInt most, int *start[], int *col[],
                                            PetscReal *w[]);

/* E-vector of one cell of H1: owned entries from x, the others from xg; hanging nodes from their parents' */
static inline void HopsGatherCell(HopsSpace sp, PetscInt c, const HopsHanging *h, const PetscReal x[], const PetscReal xg[],
                                  PetscReal u[])
{
  for (PetscInt i = 0; i < sp->ne; ++i) {
    const int l = sp->restr[c * sp->ne + i];

    u[i] = l < sp->nT ? x[l] : xg[l - sp->nT];
  }
  if (sp->hanging) HopsHangingApply(h, sp->hang[c], PETSC_FALSE, u);
}
