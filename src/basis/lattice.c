/*
  The lattice of a cell's Gauss-Lobatto nodes, its edges, faces and sub-cells: which ones bound which, as the
  derivatives of the families see them, and the skeleton of a star of cells.
*/
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopspatchimpl.h>

PetscBool HopsFamilyHasDerivative(HopsFamily from, HopsFamily to, PetscInt dim)
{
  if (from == HOPS_H1) return to == HOPS_HCURL || (to == HOPS_HDIV && dim == 2) ? PETSC_TRUE : PETSC_FALSE;
  if (from == HOPS_HCURL) return to == (dim == 3 ? HOPS_HDIV : HOPS_L2) ? PETSC_TRUE : PETSC_FALSE;
  return from == HOPS_HDIV && to == HOPS_L2 ? PETSC_TRUE : PETSC_FALSE;
}

/*
  Boundary of the lattice entity (component c of the target at ijk), as (component of the source, direction of
  a shift by one, sign): the ends of an edge, the edges around a face, the faces of a cell. Shift -1 is none.
*/
static PetscInt HopsBoundary(HopsFamily from, HopsFamily to, PetscInt dim, PetscInt c, PetscInt comp[6], PetscInt shift[6],
                             PetscInt sign[6])
{
  PetscInt n = 0;

#define HOPS_ADD(cc, ss, gg) \
  do { \
    comp[n]   = cc; \
    shift[n]  = ss; \
    sign[n++] = gg; \
  } while (0)
  if (from == HOPS_H1 && to == HOPS_HCURL) {
    HOPS_ADD(0, c, 1);
    HOPS_ADD(0, -1, -1);
  } else if (from == HOPS_H1) { /* 2D: (d/dy, -d/dx) */
    HOPS_ADD(0, 1 - c, c ? -1 : 1);
    HOPS_ADD(0, -1, c ? 1 : -1);
  } else if (from == HOPS_HCURL) {
    const PetscInt a = dim == 3 ? (c + 1) % 3 : 0, b = dim == 3 ? (c + 2) % 3 : 1;

    HOPS_ADD(a, -1, 1);
    HOPS_ADD(b, a, 1);
    HOPS_ADD(a, b, -1);
    HOPS_ADD(b, -1, -1);
  } else {
    for (PetscInt d = 0; d < dim; ++d) {
      HOPS_ADD(d, d, 1);
      HOPS_ADD(d, -1, -1);
    }
  }
#undef HOPS_ADD
  return n;
}

PetscErrorCode HopsIncidenceCreate(HopsFamily from, HopsFamily to, PetscInt dim, PetscInt order, HopsIncidence *inc)
{
  HopsLayout lf, lt;
  PetscInt   i = 0;

  PetscFunctionBegin;
  HopsLayoutCreate(from, dim, order, &lf);
  HopsLayoutCreate(to, dim, order, &lt);
  inc->nrows = lt.ne;
  PetscCall(PetscMalloc3(lt.ne, &inc->n, 6 * lt.ne, &inc->col, 6 * lt.ne, &inc->sgn));
  for (PetscInt c = 0; c < lt.nc; ++c) {
    PetscInt       comp[6], shift[6], sign[6];
    const PetscInt n = HopsBoundary(from, to, dim, c, comp, shift, sign);

    for (PetscInt t = 0; t < lt.off[c + 1] - lt.off[c]; ++t, ++i) {
      const PetscInt ijk[3] = {t % lt.n[c][0], t / lt.n[c][0] % lt.n[c][1], t / (lt.n[c][0] * lt.n[c][1])};

      inc->n[i] = n;
      for (PetscInt k = 0; k < n; ++k) {
        const PetscInt at[3] = {ijk[0] + (shift[k] == 0), ijk[1] + (shift[k] == 1), ijk[2] + (shift[k] == 2)};

        inc->col[6 * i + k] = HopsLayoutEntry(&lf, comp[k], at);
        inc->sgn[6 * i + k] = sign[k];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceCreateMean(HopsFamily to, PetscInt dim, PetscInt order, HopsIncidence *inc)
{
  HopsLayout lf, lt;
  PetscInt   i = 0;

  PetscFunctionBegin;
  PetscAssert(to != HOPS_L2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Boxes have too many corners");
  HopsLayoutCreate(HOPS_H1, dim, order, &lf);
  HopsLayoutCreate(to, dim, order, &lt);
  inc->nrows = lt.ne;
  PetscCall(PetscMalloc3(lt.ne, &inc->n, 6 * lt.ne, &inc->col, 6 * lt.ne, &inc->sgn));
  for (PetscInt c = 0; c < lt.nc; ++c)
    for (PetscInt t = 0; t < lt.off[c + 1] - lt.off[c]; ++t, ++i) {
      const PetscInt ijk[3] = {t % lt.n[c][0], t / lt.n[c][0] % lt.n[c][1], t / (lt.n[c][0] * lt.n[c][1])};

      inc->n[i] = 0;
      for (PetscInt v = 0; v < 1 << dim; ++v) {
        PetscInt  at[3] = {ijk[0], ijk[1], ijk[2]};
        PetscBool in    = PETSC_TRUE;

        for (PetscInt d = 0; d < dim; ++d) {
          at[d] += v >> d & 1;
          if (v >> d & 1 && !lt.open[c][d]) in = PETSC_FALSE;
        }
        if (in) inc->col[6 * i + inc->n[i]++] = HopsLayoutEntry(&lf, 0, at);
      }
      for (PetscInt k = 0; k < inc->n[i]; ++k) inc->sgn[6 * i + k] = 1.0 / inc->n[i];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsIncidenceDestroy(HopsIncidence *inc)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(inc->n, inc->col, inc->sgn));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchSkeleton(PetscInt dim, PetscInt p, const int side[3], PetscInt *n, int list[])
{
  PetscInt size[3] = {1, 1, 1}, center[3] = {-1, -1, -1};

  PetscFunctionBegin;
  for (PetscInt a = 0; a < dim; ++a) {
    size[a]   = side[a] == 2 ? 2 * p - 1 : p;
    center[a] = side[a] == 2 ? p - 1 : 0;
  }
  *n = 0;
  for (PetscInt z = 0, i = 0; z < size[2]; ++z)
    for (PetscInt y = 0; y < size[1]; ++y)
      for (PetscInt x = 0; x < size[0]; ++x, ++i)
        if (x == center[0] || y == center[1] || z == center[2]) {
          if (list) list[*n] = (int)i;
          ++*n;
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}
