/* Hanging nodes: the matrices from a parent's entries to a cell's, along lines of the lattice and as rows. */
#include <hops/private/hopshangteam.h>

/* J[P][P], and that of integrals: the difference of what J makes of the integrals' antiderivative, which is
   minus their sum from entry to entry */
static PetscErrorCode CreateMatrices(PetscInt P, PetscReal *J[2])
{
  HopsBasis  gll, half;
  PetscReal *x;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(PetscMalloc1(P, &x));
  PetscCall(PetscMalloc2(P * P, &J[0], (P - 1) * (P - 1), &J[1]));
  for (PetscInt i = 0; i < P; ++i) x[i] = 0.5 * (gll.nodes[i] - 1.0);
  PetscCall(HopsBasisCreateAtPoints(P, P, x, &half));
  for (PetscInt i = 0; i < P * P; ++i) {
    const PetscReal v = half.B[i];

    /* at nodes of the parent, exactly */
    J[0][i] = PetscAbsReal(v) < 1e-14 ? 0.0 : (PetscAbsReal(v - 1.0) < 1e-14 ? 1.0 : v);
  }
  for (PetscInt i = 0; i < P - 1; ++i)
    for (PetscInt j = 0; j < P - 1; ++j)
      J[1][i * (P - 1) + j] = (j ? J[1][i * (P - 1) + j - 1] : 0.0) - (J[0][(i + 1) * P + j] - J[0][i * P + j]);
  PetscCall(PetscFree(x));
  PetscCall(HopsBasisDestroy(&half));
  PetscCall(HopsBasisDestroy(&gll));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHangingCreate(HopsFamily family, PetscInt dim, PetscInt order, HopsHanging *h)
{
  HopsLayout l;

  PetscFunctionBegin;
  HopsLayoutCreate(family, dim, order, &l);
  *h = (HopsHanging){.dim = (int)dim, .P = (int)order + 1, .nc = (int)l.nc, .ne = (int)l.ne};
  for (PetscInt c = 0; c < l.nc; ++c) {
    h->off[c] = (int)l.off[c];
    for (PetscInt d = 0; d < 3; ++d) {
      h->box[c].n[d] = (int)l.n[c][d];
      if (l.open[c][d]) h->box[c].open |= 1u << d;
    }
  }
  PetscCall(CreateMatrices(order + 1, h->J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHangingDestroy(HopsHanging *h)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(h->J[0], h->J[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsHangingApply(const HopsHanging *h, unsigned mask, PetscBool transpose, PetscReal u[])
{
  if (mask) HopsHangingApplyApart(h, mask, transpose ? 1 : 0, u, 1);
}

int HopsHangingNodes(const HopsHanging *h, unsigned mask, PetscBool on[])
{
  int start[2 * HOPS_HANGING_MOST], step, sum = 0;

  for (int i = 0; i < h->ne; i++) on[i] = PETSC_FALSE;
  for (int k = 0; k < h->nc * h->dim; k++) {
    const int             a = k % h->dim, c = k / h->dim;
    const HopsHangingBox *x = h->box + c;
    const int             n = HopsHangingLines(h->dim, x, mask, a, start);

    for (int l = 0; l < n; l++) {
      const int at = h->off[c] + HopsHangingLine(x, mask, a, start[l], &step);

      for (int m = 0; m < x->n[a]; m++) {
        sum += !on[at + m * step];
        on[at + m * step] = PETSC_TRUE;
      }
    }
  }
  return sum;
}

PetscBool HopsHangingIsOwn(const HopsHanging *h, unsigned mask, int node)
{
  int start[2 * HOPS_HANGING_MOST], step;

  for (int a = 0; a < h->dim; a++) {
    const int n = HopsHangingLines(h->dim, h->box, mask, a, start);

    for (int l = 0; l < n; l++) {
      const int x = HopsHangingLine(h->box, mask, a, start[l], &step); /* the end that is shared */

      for (int m = 1; m < h->P; m++)
        if (node == x + m * step) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

void HopsHangingElement(const HopsHanging *h, unsigned mask, PetscReal E[])
{
  if (mask) HopsHangingElementTeam(h, mask, E, 0, 1);
}

/* Of w[n], the largest `most` and what is as large as the last of them, the others 0; the sum stays what it
   was. Nodes that lie symmetric have the same weights, so cells that look from other sides keep the same */
static void Truncate(PetscInt n, PetscInt most, PetscReal w[], PetscReal sorted[])
{
  PetscReal sum = 0.0, kept = 0.0;

  if (n <= most) return;
  for (PetscInt i = 0; i < n; ++i) {
    sorted[i] = PetscAbsReal(w[i]);
    sum += w[i];
  }
  (void)PetscSortReal(n, sorted);
  for (PetscInt i = 0; i < n; ++i) {
    if (PetscAbsReal(w[i]) < (1.0 - 1e-10) * sorted[n - most]) w[i] = 0.0;
    kept += w[i];
  }
  for (PetscInt i = 0; i < n; ++i) w[i] *= sum / kept;
}

PetscErrorCode HopsHangingRows(const HopsHanging *h, unsigned mask, PetscInt most, int *start[], int *col[], PetscReal *w[])
{
  const int  np = h->ne;
  int        n = 0, room = np, non = 0;
  PetscReal *row, *kept, *sorted;
  PetscBool *on;
  int       *list, *which;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(np, &row, np, &kept, np, &sorted, np, &on, np, &list, np, &which));
  room += HopsHangingNodes(h, mask, on) * h->P * (h->dim == 3 ? h->P : 1);
  PetscCall(PetscMalloc1(np + 1, start));
  PetscCall(PetscMalloc1(room, col));
  PetscCall(PetscMalloc1(room, w));
  PetscCall(PetscArrayzero(row, np));
  for (int i = 0; i < np; i++)
    if (on[i]) list[non++] = i;
  for (int i = 0; i < np; i++) {
    int m = 0;

    (*start)[i] = n;
    if (on[i]) { /* a row of J is a column of its transpose, zero but for entries on lines */
      row[i] = 1.0;
      HopsHangingApply(h, mask, PETSC_TRUE, row);
      for (int k = 0; k < non; k++) {
        if (PetscAbsReal(row[list[k]]) > 1e-15) {
          which[m]  = list[k];
          kept[m++] = row[list[k]];
        }
        row[list[k]] = 0.0;
      }
      if (most > 0) Truncate(m, most, kept, sorted);
    } else {
      which[m]  = i;
      kept[m++] = 1.0;
    }
    for (int k = 0; k < m; k++) {
      if (kept[k] == 0.0) continue;
      PetscCheck(n < room, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows of hanging nodes overflow");
      (*col)[n] = which[k];
      (*w)[n++] = kept[k];
    }
  }
  (*start)[np] = n;
  PetscCall(PetscFree6(row, kept, sorted, on, list, which));
  PetscFunctionReturn(PETSC_SUCCESS);
}
