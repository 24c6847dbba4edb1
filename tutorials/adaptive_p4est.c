/* p4est's 2D interface; adaptive_p8est.c makes the 3D program of the same text */
#ifndef P4_TO_P8
  #include <p4est_bits.h>
  #include <p4est_extended.h>
  #include <p4est_lnodes.h>
#else
  #include <p8est_bits.h>
  #include <p8est_extended.h>
  #include <p8est_lnodes.h>
#endif
#include "adaptive.h"
#include <petscdmplex.h>

static char help[] = "An adaptive loop by hops on meshes of p4est: solve, estimate, mark, refine, balance, partition, transfer.\n\
\n\
  The problems and options of adaptive.c (-problem layer in 3D). Cells are distributed anew after each refinement.\n\
  -mesh <file>: the roots are the cells of a mesh, curved as its file says to the order of the space; with -problem layer.\n\
  p4est is under the GPL: so is this program when it is linked, but not hops, which links no p4est.\n\n";

#define CHILDREN P4EST_CHILDREN

/* Of a cell: its mark, and how it lies in the old mesh; moves with it to other ranks */
typedef struct {
  PetscInt mark, n, old[CHILDREN], child[CHILDREN];
} CellData;

/* What hops wants of a mesh of p4est */
typedef struct {
  PetscInt        nc, owned, N, ness, *nodes, *ess, n, *relations;
  unsigned short *masks;
  PetscReal      *coords, *z; /* z: Gauss-Lobatto points */
} Arrays;

/* ---------------------------------------- mesh ---------------------------------------- */

/* The trees, and the maps of their roots: coordinates X[tree][dim][(g + 1)^dim] at Gauss-Lobatto points z */
typedef struct {
  p4est_connectivity_t *connectivity;
  PetscInt              g;
  PetscReal            *X, *z;
} Roots;

/* Trees of given corners; p4est finds what touches what */
static p4est_connectivity_t *Connect(PetscInt nv, const double vertices[], PetscInt nt, const p4est_topidx_t tree_to_vertex[])
{
  p4est_topidx_t       *tree_to_tree = (p4est_topidx_t *)malloc(nt * P4EST_FACES * sizeof(p4est_topidx_t));
  int8_t               *tree_to_face = (int8_t *)malloc(nt * P4EST_FACES);
  const p4est_topidx_t  zero         = 0;
  p4est_connectivity_t *c;

  for (PetscInt i = 0; i < nt * P4EST_FACES; ++i) {
    tree_to_tree[i] = i / P4EST_FACES;
    tree_to_face[i] = (int8_t)(i % P4EST_FACES);
  }
#ifndef P4_TO_P8
  c = p4est_connectivity_new_copy(nv, nt, 0, vertices, tree_to_vertex, tree_to_tree, tree_to_face, NULL, &zero, NULL, NULL);
#else
  c = p8est_connectivity_new_copy(nv, nt, 0, 0, vertices, tree_to_vertex, tree_to_tree, tree_to_face, NULL, &zero, NULL, NULL, NULL,
                                  &zero, NULL, NULL);
#endif
  p4est_connectivity_complete(c);
  free(tree_to_tree);
  free(tree_to_face);
  return c;
}

static PetscErrorCode GaussLobatto(PetscInt p, PetscReal z[])
{
  PetscReal *w;

  PetscFunctionBeginUser;
  z[0] = -1.0;
  z[p] = 1.0;
  PetscCall(PetscMalloc1(p + 1, &w));
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(p + 1, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(0);
}

/* 2^d unit cubes but the last */
static PetscErrorCode RootsOfCubes(Roots *r)
{
  const int      n = 3, dim = P4EST_DIM, nt = CHILDREN - 1;
  double         vertices[3 * 27];
  p4est_topidx_t tree_to_vertex[CHILDREN * CHILDREN];

  PetscFunctionBeginUser;
  for (int v = 0; v < 27; ++v) {
    vertices[3 * v]     = v % n;
    vertices[3 * v + 1] = v / n % n;
    vertices[3 * v + 2] = dim == 3 ? v / (n * n) : 0;
  }
  for (int t = 0; t < nt; ++t)
    for (int v = 0; v < CHILDREN; ++v)
      tree_to_vertex[t * CHILDREN + v] =
        (t & 1) + (v & 1) + n * ((t >> 1 & 1) + (v >> 1 & 1)) + (dim == 3 ? n * n * ((t >> 2) + (v >> 2)) : 0);
  r->connectivity = Connect(dim == 2 ? 9 : 27, vertices, nt, tree_to_vertex);
  r->g            = 1;
  PetscCall(PetscMalloc2(nt * dim * CHILDREN, &r->X, 2, &r->z));
  PetscCall(GaussLobatto(1, r->z));
  for (int i = 0; i < nt * CHILDREN; ++i)
    for (int d = 0; d < dim; ++d) r->X[(i / CHILDREN * dim + d) * CHILDREN + i % CHILDREN] = vertices[3 * tree_to_vertex[i] + d];
  PetscFunctionReturn(0);
}

static PetscErrorCode Coordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *d)
{
  u[0] = x[*(PetscInt *)d];
  return 0;
}

/* The coordinates of all cells of a serial mesh at the nodes of order g, and the numbers of these nodes */
static PetscErrorCode ReadCells(DM dm, PetscInt g, PetscInt *nc, PetscInt *N, PetscInt *nodes[], PetscReal *X[])
{
  const PetscInt np = PetscPowInt(g + 1, P4EST_DIM);
  HopsSpace      space;
  Vec            x;
  PetscScalar   *e;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateH1(dm, g, NULL, 0, NULL, &space));
  PetscCall(HopsSpaceGetNumCells(space, nc));
  PetscCall(HopsSpaceGetSizes(space, NULL, N));
  PetscCall(PetscMalloc1(*nc * np, nodes));
  PetscCall(HopsSpaceGetNodeNumbers(space, *nodes));
  PetscCall(PetscMalloc1(*nc * P4EST_DIM * np, X));
  PetscCall(PetscMalloc1(*nc * np, &e));
  PetscCall(HopsSpaceCreateVec(space, &x));
  for (PetscInt d = 0; d < P4EST_DIM; ++d) {
    PetscCall(HopsSpaceInterpolate(space, Coordinate, &d, x));
    PetscCall(HopsSpaceGlobalToElements(space, x, e));
    for (PetscInt i = 0; i < *nc * np; ++i) (*X)[(i / np * P4EST_DIM + d) * np + i % np] = PetscRealPart(e[i]);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFree(e));
  PetscCall(HopsSpaceDestroy(&space));
  PetscFunctionReturn(0);
}

/* The cells of a mesh, which every process reads: p4est has all trees everywhere */
static PetscErrorCode RootsOfMesh(const char file[], PetscInt g, Roots *r)
{
  PetscInt        nc, nv, N, dim, *corners, *nodes;
  PetscReal      *x, *X;
  double         *vertices;
  p4est_topidx_t *tree_to_vertex;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_SELF, file, NULL, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCheck(dim == P4EST_DIM, PETSC_COMM_SELF, PETSC_ERR_USER, "The mesh has %" PetscInt_FMT " dimensions, this program %d", dim,
             P4EST_DIM);
  PetscCall(ReadCells(dm, 1, &nc, &nv, &corners, &x));
  PetscCall(ReadCells(dm, g, &nc, &N, &nodes, &X));
  PetscCall(PetscCalloc1(3 * nv, &vertices));
  PetscCall(PetscMalloc1(nc * CHILDREN, &tree_to_vertex));
  for (PetscInt i = 0; i < nc * CHILDREN; ++i) {
    tree_to_vertex[i] = (p4est_topidx_t)corners[i];
    for (PetscInt d = 0; d < P4EST_DIM; ++d)
      vertices[3 * corners[i] + d] = x[(i / CHILDREN * P4EST_DIM + d) * CHILDREN + i % CHILDREN];
  }
  r->connectivity = Connect(nv, vertices, nc, tree_to_vertex);
  r->g            = g;
  PetscCall(PetscMalloc2(nc * P4EST_DIM * PetscPowInt(g + 1, P4EST_DIM), &r->X, g + 1, &r->z));
  PetscCall(PetscArraycpy(r->X, X, nc * P4EST_DIM * PetscPowInt(g + 1, P4EST_DIM)));
  PetscCall(GaussLobatto(g, r->z));
  PetscCall(PetscFree(corners));
  PetscCall(PetscFree(nodes));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(X));
  PetscCall(PetscFree(vertices));
  PetscCall(PetscFree(tree_to_vertex));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

/* y: the point s of the root of tree t, in [-1,1]^dim */
static void MapRoot(const Roots *r, p4est_topidx_t t, const PetscReal s[], PetscReal y[])
{
  const PetscInt n = r->g + 1, np = PetscPowInt(n, P4EST_DIM);

  for (PetscInt d = 0; d < P4EST_DIM; ++d) y[d] = 0.0;
  for (PetscInt i = 0; i < np; ++i) {
    PetscReal w = 1.0;

    for (PetscInt d = 0, k = i; d < P4EST_DIM; ++d, k /= n)
      for (PetscInt j = 0; j < n; ++j)
        if (j != k % n) w *= (s[d] - r->z[j]) / (r->z[k % n] - r->z[j]);
    for (PetscInt d = 0; d < P4EST_DIM; ++d) y[d] += w * r->X[(t * P4EST_DIM + d) * np + i];
  }
}

static int ShallRefine(p4est_t *p4est, p4est_topidx_t tree, p4est_quadrant_t *q)
{
  return ((CellData *)q->p.user_data)->mark == DM_ADAPT_REFINE;
}

static int ShallCoarsen(p4est_t *p4est, p4est_topidx_t tree, p4est_quadrant_t *q[])
{
  for (int k = 0; k < CHILDREN; ++k)
    if (((CellData *)q[k]->p.user_data)->mark != DM_ADAPT_COARSEN) return 0;
  return 1;
}

/* new cells have no mark, and those of the first forest no old ones */
static void Init(p4est_t *p4est, p4est_topidx_t tree, p4est_quadrant_t *q)
{
  CellData *d = (CellData *)q->p.user_data;

  d->mark = DM_ADAPT_KEEP;
  d->n    = 0;
}

static p4est_quadrant_t *Quadrant(p4est_t *p4est, p4est_topidx_t t, size_t i)
{
  return p4est_quadrant_array_index(&p4est_tree_array_index(p4est->trees, t)->quadrants, i);
}

/* Both forests have the same trees on this rank: one walk along the curve tells which old cells each new one
   is, is a part of, or has */
static void Relate(p4est_t *old, p4est_t *p4est)
{
  for (p4est_topidx_t t = p4est->first_local_tree; t <= p4est->last_local_tree; ++t) {
    const p4est_tree_t *ot = p4est_tree_array_index(old->trees, t), *nt = p4est_tree_array_index(p4est->trees, t);
    const PetscInt      first = (PetscInt)(old->global_first_quadrant[old->mpirank] + ot->quadrants_offset);
    size_t              o     = 0;

    for (size_t i = 0; i < nt->quadrants.elem_count; ++i) {
      p4est_quadrant_t *q = Quadrant(p4est, t, i), *x = Quadrant(old, t, o);
      CellData         *d = (CellData *)q->p.user_data;

      d->n = 0;
      if (x->level <= q->level) {
        d->old[0]   = first + (PetscInt)o;
        d->child[0] = x->level == q->level ? -1 : p4est_quadrant_child_id(q);
        d->n        = 1;
        if (x->level == q->level || p4est_quadrant_child_id(q) == CHILDREN - 1) ++o;
        continue;
      }
      for (; d->n < CHILDREN; ++d->n, ++o) {
        d->old[d->n]   = first + (PetscInt)o;
        d->child[d->n] = -2 - d->n;
      }
    }
  }
}

/* Marks become the next forest */
static void Adapt(p4est_t *p4est, const PetscInt marks[])
{
  PetscInt c   = 0;
  p4est_t *old = p4est_copy(p4est, 0);

  for (p4est_topidx_t t = p4est->first_local_tree; t <= p4est->last_local_tree; ++t)
    for (size_t i = 0; i < p4est_tree_array_index(p4est->trees, t)->quadrants.elem_count; ++i)
      ((CellData *)Quadrant(p4est, t, i)->p.user_data)->mark = marks[c++];
  p4est_refine(p4est, 0, ShallRefine, Init);
  p4est_coarsen(p4est, 0, ShallCoarsen, Init);
  p4est_balance(p4est, P4EST_CONNECT_FULL, Init);
  Relate(old, p4est);
  p4est_partition(p4est, 1, NULL);
  p4est_destroy(old);
}

/* ---------------------------------------- arrays ---------------------------------------- */

/* nodes on facets of the boundary, all of which are essential */
static void AddEssential(p4est_t *p4est, p4est_topidx_t t, const p4est_quadrant_t *q, PetscInt p, const PetscInt nodes[], Arrays *a)
{
  const p4est_qcoord_t at[3] = {q->x, q->y,
#ifdef P4_TO_P8
                                q->z
#else
                                0
#endif
  };

  for (int f = 0; f < P4EST_FACES; ++f) {
    const p4est_qcoord_t end = f % 2 ? P4EST_ROOT_LEN - P4EST_QUADRANT_LEN(q->level) : 0;

    if (at[f / 2] != end || p4est->connectivity->tree_to_tree[t * P4EST_FACES + f] != t) continue;
    for (PetscInt i = 0; i < PetscPowInt(p + 1, P4EST_DIM); ++i)
      if (i / PetscPowInt(p + 1, f / 2) % (p + 1) == (f % 2 ? p : 0)) a->ess[a->ness++] = nodes[i];
  }
}

static PetscErrorCode ArraysCreate(p4est_t *p4est, const Roots *roots, PetscInt p, Arrays *a)
{
  const PetscInt  np    = PetscPowInt(p + 1, P4EST_DIM);
  p4est_ghost_t  *ghost = p4est_ghost_new(p4est, P4EST_CONNECT_FULL);
  p4est_lnodes_t *l     = p4est_lnodes_new(p4est, ghost, (int)p);
  PetscInt        c     = 0;

  PetscFunctionBeginUser;
  *a = (Arrays){.nc = p4est->local_num_quadrants, .owned = l->owned_count};
  PetscCall(PetscMalloc5(a->nc * np, &a->nodes, a->nc, &a->masks, a->nc * np * P4EST_DIM, &a->coords, a->nc * np * P4EST_DIM,
                         &a->ess, p + 1, &a->z));
  PetscCall(PetscMalloc1(3 * CHILDREN * a->nc, &a->relations));
  PetscCall(GaussLobatto(p, a->z));
  for (p4est_topidx_t t = p4est->first_local_tree; t <= p4est->last_local_tree; ++t)
    for (size_t k = 0; k < p4est_tree_array_index(p4est->trees, t)->quadrants.elem_count; ++k, ++c) {
      const p4est_quadrant_t *q = Quadrant(p4est, t, k);
      const CellData         *d = (CellData *)q->p.user_data;

      a->masks[c] = (unsigned short)l->face_code[c];
      for (PetscInt i = 0; i < np; ++i) {
        const p4est_locidx_t n = l->element_nodes[c * np + i];
        PetscReal            s[3];

        a->nodes[c * np + i] = (PetscInt)(n < l->owned_count ? l->global_offset + n : l->nonlocal_nodes[n - l->owned_count]);
        for (int e = 0; e < P4EST_DIM; ++e) {
          s[e] = e == 0 ? q->x : q->y;
#ifdef P4_TO_P8
          if (e == 2) s[e] = q->z;
#endif
          s[e] += 0.5 * (a->z[i / PetscPowInt(p + 1, e) % (p + 1)] + 1.0) * P4EST_QUADRANT_LEN(q->level);
          s[e] = 2.0 * s[e] / P4EST_ROOT_LEN - 1.0;
        }
        MapRoot(roots, t, s, a->coords + (c * np + i) * P4EST_DIM);
      }
      AddEssential(p4est, t, q, p, a->nodes + c * np, a);
      for (PetscInt i = 0; i < d->n; ++i) {
        a->relations[3 * a->n]       = c;
        a->relations[3 * a->n + 1]   = d->old[i];
        a->relations[3 * a->n++ + 2] = d->child[i];
      }
    }
  p4est_lnodes_destroy(l);
  p4est_ghost_destroy(ghost);
  PetscFunctionReturn(0);
}

/* The space on the forest, and on it the function x of the old one, if there is one */
static PetscErrorCode CreateSpace(const Options *o, const Roots *roots, p4est_t *p4est, HopsSpace *space, Vec *x)
{
  HopsSpace old = *space;
  Vec       y   = *x;
  Arrays    a;

  PetscFunctionBeginUser;
  PetscCall(ArraysCreate(p4est, roots, o->order, &a));
  PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, HOPS_H1, P4EST_DIM, o->order, a.nc, a.owned, a.nodes, a.masks,
                                              o->order, a.coords, a.ness, a.ess, space));
  PetscCall(HopsSpaceSetEssentialFunction(*space, o->u, NULL));
  PetscCall(HopsSpaceCreateVec(*space, x));
  if (old) PetscCall(HopsSpaceTransfer(old, y, *space, HOPS_TRANSFER_NODAL, a.n, a.relations, *x));
  PetscCall(VecDestroy(&y));
  PetscCall(HopsSpaceDestroy(&old));
  PetscCall(PetscFree(a.relations));
  PetscCall(PetscFree5(a.nodes, a.masks, a.coords, a.ess, a.z));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Table     table = {0};
  Options   o;
  Roots     roots;
  char      file[PETSC_MAX_PATH_LEN] = "";
  p4est_t  *p4est;
  HopsSpace space = NULL;
  Vec       x     = NULL;
  PetscInt *marks, N, nc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  sc_init(PETSC_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
  PetscCall(ReadOptions(&o));
  PetscCheck(o.lshape ? P4EST_DIM == 2 : 1, PETSC_COMM_WORLD, PETSC_ERR_USER, "The L-shape is in 2D: take -problem layer");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", file, sizeof(file), NULL));
  PetscCheck(!file[0] || !o.lshape, PETSC_COMM_WORLD, PETSC_ERR_USER, "-mesh is for -problem layer");
  if (file[0]) PetscCall(RootsOfMesh(file, o.order, &roots));
  else PetscCall(RootsOfCubes(&roots));
  p4est = p4est_new_ext(PETSC_COMM_WORLD, roots.connectivity, 0, (int)o.start, 1, sizeof(CellData), Init, NULL);
  PetscCall(CreateSpace(&o, &roots, p4est, &space, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  unknowns  iterations  energy error     estimate  effectivity\n"));
  for (N = 0; N <= o.most && table.n < 100;) {
    PetscCall(HopsSpaceGetNumCells(space, &nc));
    PetscCall(PetscMalloc1(nc, &marks));
    PetscCall(SolveAndMark(&o, space, x, &table, marks));
    Adapt(p4est, marks);
    PetscCall(PetscFree(marks));
    PetscCall(CreateSpace(&o, &roots, p4est, &space, &x));
    PetscCall(HopsSpaceGetSizes(space, NULL, &N));
    if (N == table.N[table.n - 1]) break;
  }
  PetscCall(PrintRate(&table, P4EST_DIM, o.order));
  PetscCall(VecDestroy(&x));
  PetscCall(HopsSpaceDestroy(&space));
  p4est_destroy(p4est);
  p4est_connectivity_destroy(roots.connectivity);
  PetscCall(PetscFree2(roots.X, roots.z));
  sc_finalize();
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre real libp4est
    filter: awk '/^Since/ {print} /^ / {print $1, $2, ($3 < 30), $4, $6}'

    test:
      suffix: lshape
      nsize: {{1 2 3 4}}
      args: -order 3 -unknowns 1500 -output adaptive_p4est
      output_file: output/adaptive_lshape.out

    test:
      suffix: coarsen
      nsize: {{1 4}}
      args: -problem layer -order 4 -start 2 -unknowns 6000 -coarsen 0.02

    test:
      suffix: mesh
      nsize: {{1 3}}
      args: -problem layer -mesh ${HOPS_SOURCE}/tutorials/meshes/plate.msh -start 0 -order 3 -unknowns 6000

TEST*/
