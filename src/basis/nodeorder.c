/* In which order codes list the nodes of a cell: tables by name, or from the nodes of a reference cell. */
#include <hops/private/hopsbasisimpl.h>

/*
  Corners are numbered by bits: bit d is the end in direction d. Codes list corners, then nodes inside of
  edges from one corner to another, then those inside of faces, row by row: from the first of three
  corners rows go to the third, and the next row is nearer to the second. `nested`: the inside of a face
  or cell is a smaller one that is listed in the same way.
*/
typedef struct {
  const char *name;
  PetscBool   lexicographic, nested;
  PetscInt    corner[8];
  PetscInt    edge2[4][2], edge3[12][2], face[6][3];
} HopsNodeOrder;

static const HopsNodeOrder HopsNodeOrders[] = {
  {.name = "lexicographic", .lexicographic = PETSC_TRUE},
  {.name = "nek", .lexicographic = PETSC_TRUE},
  /* vertical edges as in version 2.2 of the file format (VTK 9; VTK 8 had the last two exchanged) */
  {.name   = "vtk",
   .corner = {0, 1, 3, 2, 4, 5, 7, 6},
   .edge2  = {{0, 1}, {1, 3}, {2, 3}, {0, 2}},
   .edge3  = {{0, 1}, {1, 3}, {2, 3}, {0, 2}, {4, 5}, {5, 7}, {6, 7}, {4, 6}, {0, 4}, {1, 5}, {3, 7}, {2, 6}},
   .face   = {{0, 4, 2}, {1, 5, 3}, {0, 4, 1}, {2, 6, 3}, {0, 2, 1}, {4, 6, 5}}},
  /* FE_Q's hierarchic numbering */
  {.name   = "dealii",
   .corner = {0, 1, 2, 3, 4, 5, 6, 7},
   .edge2  = {{0, 2}, {1, 3}, {0, 1}, {2, 3}},
   .edge3  = {{0, 2}, {1, 3}, {0, 1}, {2, 3}, {4, 6}, {5, 7}, {4, 5}, {6, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
   .face   = {{0, 4, 2}, {1, 5, 3}, {0, 1, 4}, {2, 3, 6}, {0, 2, 1}, {4, 6, 5}}},
  /* Basix */
  {.name   = "dolfinx",
   .corner = {0, 1, 2, 3, 4, 5, 6, 7},
   .edge2  = {{0, 1}, {0, 2}, {1, 3}, {2, 3}},
   .edge3  = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}},
   .face   = {{0, 2, 1}, {0, 4, 1}, {0, 4, 2}, {1, 5, 3}, {2, 6, 3}, {4, 6, 5}}},
  {.name   = "gmsh",
   .nested = PETSC_TRUE,
   .corner = {0, 1, 3, 2, 4, 5, 7, 6},
   .edge2  = {{0, 1}, {1, 3}, {3, 2}, {2, 0}},
   .edge3  = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {3, 2}, {3, 7}, {2, 6}, {4, 5}, {4, 6}, {5, 7}, {7, 6}},
   .face   = {{0, 2, 1}, {0, 1, 4}, {0, 4, 2}, {1, 3, 5}, {3, 2, 7}, {4, 5, 6}}},
};

/* Appends the nodes of a box of order m, of a lattice in which its directions have these strides */
static void HopsOrderBox(const HopsNodeOrder *t, PetscInt dim, PetscInt m, PetscInt origin, const PetscInt stride[], PetscInt *n,
                         PetscInt perm[])
{
  const PetscInt(*edge)[2] = dim == 3 ? t->edge3 : t->edge2;
  PetscInt corner[8], inner = origin;

  if (m < 0) return;
  if (m == 0) {
    perm[(*n)++] = origin;
    return;
  }
  for (PetscInt d = 0; d < dim; ++d) inner += stride[d];
  for (PetscInt v = 0; v < (1 << dim); ++v) {
    corner[v] = origin;
    for (PetscInt d = 0; d < dim; ++d) corner[v] += ((v >> d) & 1) * m * stride[d];
  }
  for (PetscInt v = 0; v < (1 << dim); ++v) perm[(*n)++] = corner[t->corner[v]];
  for (PetscInt e = 0; e < (dim == 3 ? 12 : 4); ++e)
    for (PetscInt i = 1; i < m; ++i) perm[(*n)++] = corner[edge[e][0]] + i * (corner[edge[e][1]] - corner[edge[e][0]]) / m;
  for (PetscInt f = 0; dim == 3 && f < 6; ++f) {
    const PetscInt from = corner[t->face[f][0]], s[2] = {(corner[t->face[f][1]] - from) / m, (corner[t->face[f][2]] - from) / m};

    if (t->nested) HopsOrderBox(t, 2, m - 2, from + s[0] + s[1], s, n, perm);
    else
      for (PetscInt i = 1; i < m; ++i)
        for (PetscInt j = 1; j < m; ++j) perm[(*n)++] = from + i * s[0] + j * s[1];
  }
  if (t->nested) HopsOrderBox(t, dim, m - 2, inner, stride, n, perm);
  else
    for (PetscInt i = 0; i < HopsPower(m - 1, dim); ++i) {
      PetscInt at = inner;

      for (PetscInt d = 0, k = i; d < dim; ++d, k /= m - 1) at += k % (m - 1) * stride[d];
      perm[(*n)++] = at;
    }
}

static PetscErrorCode HopsNodeOrderCheck(PetscInt dim, PetscInt order)
{
  PetscFunctionBegin;
  PetscCheck((dim == 2 || dim == 3) && order >= 1 && order <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Cells have 2 or 3 dimensions and orders between 1 and 64, not %" PetscInt_FMT " and %" PetscInt_FMT, dim, order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsGetNodeOrder - Gets the order in which a code lists the nodes of a cell, by name.

  Not Collective

  Input Parameters:
+ dim   - 2 or 3
. order - the polynomial order p, 1 to 64
- name  - `lexicographic`, `vtk`, `dealii`, `dolfinx`, `gmsh` or `nek`

  Output Parameter:
. perm - [(p+1)^dim] perm[i] is the number in the lattice of the cell, x fastest, of the code's i-th node

  Level: beginner

  Notes:
  `nek` is lexicographic, as are element restrictions of MFEM and libCEED with that name. `vtk` are Lagrange
  cells of VTK 9. `dealii` is the hierarchic order of `FE_Q`, `dolfinx` that of Basix. `gmsh` lists nodes of
  `.msh` files, which lie at equispaced points: the element maps must be evaluated at the
  Gauss-Lobatto-Legendre points before they make a space.

  For other codes `HopsGetNodeOrderFromPoints()` finds the order from the nodes of their reference cell.

.seealso: `HopsGetNodeOrderFromPoints()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode HopsGetNodeOrder(PetscInt dim, PetscInt order, const char name[], PetscInt perm[])
{
  const PetscInt       stride[3] = {1, order + 1, (order + 1) * (order + 1)};
  const HopsNodeOrder *t         = NULL;
  PetscInt             n         = 0;

  PetscFunctionBegin;
  HopsValidPointer(name, 3);
  HopsValidPointer(perm, 4);
  PetscCall(HopsNodeOrderCheck(dim, order));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(HopsNodeOrders) && !t; ++i) {
    PetscBool same;

    PetscCall(PetscStrcasecmp(name, HopsNodeOrders[i].name, &same));
    if (same) t = &HopsNodeOrders[i];
  }
  PetscCheck(t, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "There is no order of nodes \"%s\": use lexicographic, vtk, dealii, dolfinx, gmsh or nek, or "
             "HopsGetNodeOrderFromPoints()",
             name);
  if (t->lexicographic)
    for (; n < HopsPower(order + 1, dim); ++n) perm[n] = n;
  else HopsOrderBox(t, dim, order, 0, stride, &n, perm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* at[n]: which of the 1D nodes y[P] the coordinates are, scaled to [-1,1]; or not all are any */
static PetscBool HopsNodesMatch(PetscInt n, const PetscReal points[], PetscReal lo, PetscInt P, const PetscReal y[], PetscInt at[])
{
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal x = lo < -0.5 ? points[i] : 2.0 * points[i] - 1.0;

    at[i] = 0;
    for (PetscInt k = 1; k < P; ++k)
      if (PetscAbsReal(y[k] - x) < PetscAbsReal(y[at[i]] - x)) at[i] = k;
    if (!(PetscAbsReal(y[at[i]] - x) <= 1e-5)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*@
  HopsGetNodeOrderFromPoints - Gets the order in which a code lists the nodes of a cell, from the nodes of its
  reference cell.

  Not Collective

  Input Parameters:
+ dim    - 2 or 3
. order  - the polynomial order p, 1 to 64
- points - [(p+1)^dim][dim] the nodes of the reference cell, [0,1]^dim or [-1,1]^dim, in the code's order

  Output Parameter:
. perm - [(p+1)^dim] perm[i] is the number in the lattice of the cell, x fastest, of the code's i-th node

  Level: beginner

  Notes:
  Codes have these points as, for instance, `FiniteElement::get_unit_support_points()` (deal.II),
  `FiniteElement::GetNodes()` (MFEM), or the points of a Basix element.

  Nodes other than the Gauss-Lobatto-Legendre points are refused.

.seealso: `HopsGetNodeOrder()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode HopsGetNodeOrderFromPoints(PetscInt dim, PetscInt order, const PetscReal points[], PetscInt perm[])
{
  const PetscInt P = order + 1, np = HopsPower(P, dim);
  PetscReal      lo = PETSC_MAX_REAL, gll[65], equal[65], w[65];
  PetscInt      *at;
  PetscBool      is, equispaced, twice = PETSC_FALSE;

  PetscFunctionBegin;
  HopsValidPointer(points, 3);
  HopsValidPointer(perm, 4);
  PetscCall(HopsNodeOrderCheck(dim, order));
  PetscCall(HopsGLL(P, gll, w));
  for (PetscInt k = 0; k < P; ++k) equal[k] = -1.0 + 2.0 * k / order;
  for (PetscInt i = 0; i < np * dim; ++i) lo = PetscMin(lo, points[i]);
  PetscCall(PetscCalloc1(np * dim, &at));
  is         = HopsNodesMatch(np * dim, points, lo, P, gll, at);
  equispaced = is ? PETSC_FALSE : HopsNodesMatch(np * dim, points, lo, P, equal, at);
  for (PetscInt i = 0; i < np; ++i) {
    perm[i] = 0;
    for (PetscInt d = dim - 1; d >= 0; --d) perm[i] = perm[i] * P + at[i * dim + d];
  }
  PetscCall(PetscArrayzero(at, np));
  for (PetscInt i = 0; i < np && is; ++i)
    if (at[perm[i]]++) twice = PETSC_TRUE;
  PetscCall(PetscFree(at));
  PetscCheck(!equispaced, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The nodes of the reference cell are equispaced: choose Gauss-Lobatto-Legendre points in your code (the spectrum of "
             "the preconditioned operator grows with the order else)");
  PetscCheck(is && !twice, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The nodes of the reference cell are not the (order+1)^dim Gauss-Lobatto-Legendre points of [0,1]^dim or [-1,1]^dim, "
             "order %" PetscInt_FMT ": choose these in your code, or give the change of basis (PCLORSetTransformation())",
             order);
  PetscFunctionReturn(PETSC_SUCCESS);
}
