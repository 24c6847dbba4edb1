/* Hanging nodes: the matrix from a parent's nodes to a cell's, along lines of the lattice and as rows. */
#include <hops/private/hopshanging.h>

PetscErrorCode HopsHangingMatrix(PetscInt P, PetscReal J[])
{
  HopsBasis  gll, half;
  PetscReal *x;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(PetscMalloc1(P, &x));
  for (PetscInt i = 0; i < P; ++i) x[i] = 0.5 * (gll.nodes[i] - 1.0);
  PetscCall(HopsBasisCreateAtPoints(P, P, x, &half));
  for (PetscInt i = 0; i < P * P; ++i) {
    const PetscReal v = half.B[i];

    /* at nodes of the parent, exactly */
    J[i] = PetscAbsReal(v) < 1e-14 ? 0.0 : (PetscAbsReal(v - 1.0) < 1e-14 ? 1.0 : v);
  }
  PetscCall(PetscFree(x));
  PetscCall(HopsBasisDestroy(&half));
  PetscCall(HopsBasisDestroy(&gll));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsHangingApply(int dim, int P, unsigned mask, const PetscReal J[], PetscBool transpose, PetscReal u[])
{
  int       start[2 * 65], step;
  PetscReal v[65];

  for (int i = 0; i < dim; i++) {
    const int a = transpose ? dim - 1 - i : i, n = HopsHangingLines(dim, P, mask, a, start);

    for (int l = 0; l < n; l++) {
      PetscReal *x = u + HopsHangingLine(P, mask, a, start[l], &step);

      for (int m = 0; m < P; m++) {
        v[m] = 0.0;
        for (int k = 0; k < P; k++) v[m] += (transpose ? J[k * P + m] : J[m * P + k]) * x[k * step];
      }
      for (int m = 0; m < P; m++) x[m * step] = v[m];
    }
  }
}

int HopsHangingNodes(int dim, int P, unsigned mask, PetscBool on[])
{
  const int np = (int)HopsPower(P, dim);
  int       start[2 * 65], step, sum = 0;

  for (int i = 0; i < np; i++) on[i] = PETSC_FALSE;
  for (int a = 0; a < dim; a++) {
    const int n = HopsHangingLines(dim, P, mask, a, start);

    for (int l = 0; l < n; l++) {
      const int x = HopsHangingLine(P, mask, a, start[l], &step);

      for (int m = 0; m < P; m++) {
        sum += !on[x + m * step];
        on[x + m * step] = PETSC_TRUE;
      }
    }
  }
  return sum;
}

PetscBool HopsHangingIsOwn(int dim, int P, unsigned mask, int node)
{
  int start[2 * 65], step;

  for (int a = 0; a < dim; a++) {
    const int n = HopsHangingLines(dim, P, mask, a, start);

    for (int l = 0; l < n; l++) {
      const int x = HopsHangingLine(P, mask, a, start[l], &step); /* the end that is shared */

      for (int m = 1; m < P; m++)
        if (node == x + m * step) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
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

PetscErrorCode HopsHangingRows(int dim, int P, unsigned mask, const PetscReal J[], PetscInt most, int *start[], int *col[],
                               PetscReal *w[])
{
  const int  np = (int)HopsPower(P, dim);
  int        n = 0, room = np;
  PetscReal *row, *sorted;
  PetscBool *on;
  int       *list;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(np, &row, np, &sorted, np, &on, np, &list));
  room += HopsHangingNodes(dim, P, mask, on) * P * (dim == 3 ? P : 1);
  PetscCall(PetscMalloc1(np + 1, start));
  PetscCall(PetscMalloc1(room, col));
  PetscCall(PetscMalloc1(room, w));
  for (int i = 0; i < np; i++) {
    int m = 0;

    (*start)[i] = n;
    PetscCall(PetscArrayzero(row, np));
    row[i] = 1.0;
    if (on[i]) HopsHangingApply(dim, P, mask, J, PETSC_TRUE, row); /* a row of J is a column of its transpose */
    for (int c = 0; c < np; c++)
      if (PetscAbsReal(row[c]) > 1e-15) {
        list[m] = c;
        row[m]  = row[c]; /* m <= c */
        m++;
      }
    if (most > 0) Truncate(m, most, row, sorted);
    for (int k = 0; k < m; k++) {
      if (row[k] == 0.0) continue;
      PetscCheck(n < room, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows of hanging nodes overflow");
      (*col)[n] = list[k];
      (*w)[n++] = row[k];
    }
  }
  (*start)[np] = n;
  PetscCall(PetscFree4(row, sorted, on, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
