/* Where the unknowns of a DMPlex cell sit: E-vector node of each entry of a closure, for PetscFE's numbering
   and for hops' own. */
#include <hops/private/hopspleximpl.h>

/* ------------------------------------ PetscFE's numbering ------------------------------------ */

/*
  A Lagrange PetscFE of nc components: node[i] = E-vector index of its basis functions i*nc..i*nc+nc-1, one
  for each component in turn, read off the point-evaluation functionals; this also proves that the nodes are
  the tensor-product Gauss-Lobatto-Legendre points.
*/
PetscErrorCode HopsPlexGetFENodes(PetscFE fe, PetscInt dim, PetscInt *order, PetscInt *ncomp, PetscInt *node[])
{
  PetscDualSpace sp;
  PetscInt       n, P, nc;
  PetscReal     *gll, *w;
  PetscBool     *seen;

  PetscFunctionBegin;
  PetscCall(PetscFEGetNumComponents(fe, &nc));
  PetscCall(PetscFEGetDualSpace(fe, &sp));
  PetscCall(PetscDualSpaceGetDimension(sp, &n));
  P = HopsRoot(n / nc, dim);
  PetscCheck(P >= 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The PetscFE has order 0; hops needs order 1 or more: set -petscspace_degree");
  PetscCheck(HopsPower(P, dim) * nc == n, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The PetscFE has %" PetscInt_FMT " basis functions of %" PetscInt_FMT " components in %" PetscInt_FMT
             "D: not a tensor-product space; hops needs quadrilaterals or hexahedra with -petscspace_poly_tensor 1 "
             "(-dm_plex_simplex 0)",
             n, nc, dim);
  PetscCall(PetscMalloc2(P, &gll, P, &w));
  PetscCall(HopsGLL(P, gll, w));
  PetscCall(PetscMalloc1(n / nc, node));
  PetscCall(PetscCalloc1(n / nc, &seen));
  for (PetscInt i = 0; i < n; ++i) {
    PetscQuadrature  functional;
    PetscInt         qdim, qnc, nq, e = 0;
    const PetscReal *x, *a;
    PetscBool        nodal;

    PetscCall(PetscDualSpaceGetFunctional(sp, i, &functional));
    PetscCall(PetscQuadratureGetData(functional, &qdim, &qnc, &nq, &x, &a));
    nodal = nq == 1 && qdim == dim && qnc == nc ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt c = 0; c < nc && nodal; ++c)
      nodal = PetscAbsReal(a[c] - (c == i % nc ? 1.0 : 0.0)) < 1e-8 ? PETSC_TRUE : PETSC_FALSE;
    PetscCheck(nodal, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The PetscFE's degrees of freedom are not the nodal values of one component after the other; hops needs a "
               "continuous Lagrange element (-petscdualspace_type lagrange)");
    for (PetscInt d = dim - 1; d >= 0; --d) {
      PetscInt k = 0;

      while (k < P && PetscAbsReal(x[d] - gll[k]) > 1e-7) ++k;
      PetscCheck(k < P, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The PetscFE of order %" PetscInt_FMT
                 " has a node at %g, which is no Gauss-Lobatto-Legendre point; use the default nodes "
                 "(-petscdualspace_lagrange_node_type gaussjacobi -petscdualspace_lagrange_node_endpoints 1)",
                 P - 1, (double)x[d]);
      e = e * P + k;
    }
    PetscCheck(i % nc ? (*node)[i / nc] == e : !seen[e], PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The PetscFE's basis functions are not ordered node by node; hops needs a continuous Lagrange element");
    seen[e]         = PETSC_TRUE;
    (*node)[i / nc] = e;
  }
  PetscCall(PetscFree(seen));
  PetscCall(PetscFree2(gll, w));
  *order = P - 1;
  *ncomp = nc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- hops' numbering -------------------------------------- */

static PetscInt HopsPlexClosureFind(const HopsPlexClosure *cl, const PetscInt points[], PetscInt p)
{
  PetscInt i = 0;

  while (i < cl->n && points[2 * i] != p) ++i;
  return i;
}

/* edge[] and vertex[] from the closure of the reference cell K */
static PetscErrorCode HopsPlexClosureSlots(DM K, const PetscInt points[], HopsPlexClosure *cl)
{
  const PetscInt  e0 = cl->dim == 3 ? 7 : 1;
  const PetscInt *cone;

  PetscFunctionBegin;
  cl->nedges = cl->dim == 3 ? 12 : 4;
  for (PetscInt o = -4; o < 4; ++o)
    for (PetscInt k = 0; k < 4; ++k) cl->tables.slot[o + 4][k] = HopsQuadEdge(o, k);
  for (PetscInt f = 0; f < 6 && cl->dim == 3; ++f) {
    PetscCall(DMPlexGetCone(K, points[2 * (1 + f)], &cone));
    for (PetscInt k = 0; k < 4; ++k)
      cl->tables.edge[f][k] = HopsPlexClosureFind(cl, points, cone[HopsQuadEdge(points[2 * (1 + f) + 1], k)]);
  }
  for (PetscInt e = 0; e < cl->nedges; ++e) {
    PetscCall(DMPlexGetCone(K, points[2 * (e0 + e)], &cone));
    for (PetscInt k = 0; k < 2; ++k)
      cl->tables.vertex[e][k] = HopsPlexClosureFind(cl, points, cone[points[2 * (e0 + e) + 1] < 0 ? 1 - k : k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The closure of the reference cell, see HopsPlexClosure */
PetscErrorCode HopsPlexClosureCreate(PetscInt dim, HopsPlexClosure *cl)
{
  DM               K;
  Vec              coords;
  PetscSection     cs;
  const PetscReal *a;
  PetscInt        *points = NULL, n;

  PetscFunctionBegin;
  PetscCall(DMPlexCreateReferenceCell(PETSC_COMM_SELF, dim == 2 ? DM_POLYTOPE_QUADRILATERAL : DM_POLYTOPE_HEXAHEDRON, &K));
  PetscCall(DMGetCoordinatesLocal(K, &coords));
  PetscCall(DMGetCoordinateSection(K, &cs));
  PetscCall(HopsHostVecGetPartRead(coords, 0, &a));
  PetscCall(DMPlexGetTransitiveClosure(K, 0, PETSC_TRUE, &n, &points));
  PetscCheck(n == (dim == 2 ? 9 : 27), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The reference cell has %" PetscInt_FMT " points in its closure", n);
  cl->dim = dim;
  cl->n   = n;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt p = points[2 * i], o = points[2 * i + 1];
    PetscInt      *own = NULL, nown, nv;

    PetscCall(DMPlexGetPointDepth(K, p, &cl->depth[i]));
    nv = cl->depth[i] == 3 ? 0 : HopsPower(2, cl->depth[i]);
    if (i == 0) nv = 0;
    PetscCall(DMPlexGetTransitiveClosure(K, p, PETSC_TRUE, &nown, &own));
    for (PetscInt k = 0; k < nv; ++k) {
      const PetscInt m = nv == 4 ? HopsQuadVertex(o, k) : (nv == 2 && o < 0 ? 1 - k : k);
      PetscInt       off;

      PetscCall(PetscSectionGetOffset(cs, own[2 * (nown - nv + m)], &off));
      for (PetscInt d = 0; d < dim; ++d) cl->corner[i][k][d] = a[off + d] > 0 ? 1 : 0;
    }
    PetscCall(DMPlexRestoreTransitiveClosure(K, p, PETSC_TRUE, &nown, &own));
  }
  PetscCall(HopsPlexClosureSlots(K, points, cl));
  PetscCall(DMPlexRestoreTransitiveClosure(K, 0, PETSC_TRUE, &n, &points));
  PetscCall(HopsHostVecRestorePartRead(coords, 0, &a));
  PetscCall(DMDestroy(&K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  E-vector index of unknown t of the closure's entry i seen with orientation o. Unknowns of a point: along an
  edge from its first to its last vertex; on a face lexicographic in the frame (vertex 0, vertex 0 to 1,
  vertex 0 to 3); in a cell lexicographic.
*/
PetscInt HopsPlexClosureNode(const HopsPlexClosure *cl, PetscInt order, PetscInt i, PetscInt o, PetscInt t)
{
  const PetscInt p = order, m = order - 1, dim = cl->dim;
  PetscInt       ijk[3] = {0, 0, 0};

  if (i == 0) {
    ijk[0] = t % m + 1;
    ijk[1] = (t / m) % m + 1;
    ijk[2] = dim == 3 ? t / (m * m) + 1 : 0;
  } else if (cl->depth[i] == 0) {
    for (PetscInt d = 0; d < dim; ++d) ijk[d] = p * cl->corner[i][0][d];
  } else if (cl->depth[i] == 1) {
    const PetscInt *A = cl->corner[i][o < 0 ? 1 : 0], *B = cl->corner[i][o < 0 ? 0 : 1];

    for (PetscInt d = 0; d < dim; ++d) ijk[d] = p * A[d] + (t + 1) * (B[d] - A[d]);
  } else {
    const PetscInt *V[4]; /* reference corners of the face's own vertices */

    for (PetscInt k = 0; k < 4; ++k) V[HopsQuadVertex(o, k)] = cl->corner[i][k];
    for (PetscInt d = 0; d < dim; ++d) ijk[d] = p * V[0][d] + (t % m + 1) * (V[1][d] - V[0][d]) + (t / m + 1) * (V[3][d] - V[0][d]);
  }
  return ijk[0] + (p + 1) * (ijk[1] + (p + 1) * ijk[2]);
}
