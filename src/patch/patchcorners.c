/* What the host computes of stars, cells and matrices, one after the other, where a back end has no kernels
   for it. */
#include <hops/private/hopspatchimpl.h>

static PetscErrorCode Corners(const HopsPatchNodes *m, const PetscInt corner[], PetscInt n, int number[])
{
  const PetscInt nv = (PetscInt)1 << m->dim;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt v = 0; v < nv; ++v) number[c * nv + v] = m->own[c * m->nn + corner[v]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lacks(const HopsPatchNodes *m, int last, int other, PetscInt n, unsigned char lacks[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; ++c) {
    const int *in   = c < m->nown ? m->own + c * m->nn : m->other + (c - m->nown) * m->nn;
    int        most = 0;

    for (int i = 0; i < m->nn; ++i) most = PetscMax(most, in[i]);
    lacks[c] = most >= (c < m->nown ? last : other);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stars(const HopsPatchVertices *m, HopsPatchStar star[], unsigned char faults[], HopsPatchFit fit[])
{
  const int dim = m->corners.dim, derivative = m->derivative ? 1 : 0;
  double   *logs;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * m->ncells, &logs));
  for (PetscInt c = 0; c < m->ncells; ++c) HopsPatchCellLogs(dim, derivative, m->data + c, logs + 4 * c);
  for (PetscInt v = 0; v < m->n; ++v) {
    faults[v] = 0;
    HopsPatchStarMake(&m->corners, (int)(m->start[v + 1] - m->start[v]), m->list + m->start[v], star + v);
    if (!star[v].side[0]) continue;
    faults[v] = (unsigned char)HopsPatchStarFaults(&m->nodes, star + v, m->all ? 1 : 0, 0, 1);
    HopsPatchStarFit(dim, derivative, m->data, logs, star + v, fit + v);
  }
  PetscCall(PetscFree(logs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Uncovered(const HopsPatchNodes *m, int last, PetscInt n, unsigned char covered[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; ++c) covered[c] = (unsigned char)HopsPatchCellUncovered(m, last, (int)c, covered[c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Extents(const HopsPatchMaps *m, PetscInt n, PetscReal extent[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; ++c) HopsPatchExtent(m, c, extent + 3 * c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Positions(const HopsPatchMaps *m, PetscInt n, const PetscInt cells[], PetscReal x[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; ++c)
    for (int v = 0; v < m->nv; ++v)
      for (int d = 0; d < m->dim; ++d) *x++ = HopsPatchCorner(m, cells[c], v, d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hang(const HopsHanging *h, PetscInt n, const PetscInt at[], const unsigned short mask[], PetscReal E[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) HopsHangingElement(h, mask[k], E + at[k] * PetscSqr((size_t)h->ne));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsPatchSetUpOps HopsPatchSetUpHost = {.Corners   = Corners,
                                              .Lacks     = Lacks,
                                              .Stars     = Stars,
                                              .Uncovered = Uncovered,
                                              .Extents   = Extents,
                                              .Positions = Positions,
                                              .Hang      = Hang,
                                              .Products  = HopsPatchesProductsHost,
                                              .Invert    = HopsPatchesInvertHost};

const HopsPatchSetUpOps *HopsPatchSetUpOf(HopsSpace sp)
{
  return sp->backend->patches ? sp->backend->patches : &HopsPatchSetUpHost;
}
