/* Vectors of a space with cells of several orders: sizes, functions, right-hand sides, and as functions of
   its mesh's space. */
#include <hops/private/hopshpimpl.h>

/*@
  HopsHPSpaceGetSizes - Gets the number of unknowns of a `HopsHPSpace`.

  Not Collective

  Input Parameter:
. hp - the space

  Output Parameters:
+ n - those that this rank owns, or `NULL`
- N - those of all ranks, or `NULL`

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsHPSpaceCreateVec()`
@*/
PetscErrorCode HopsHPSpaceGetSizes(HopsHPSpace hp, PetscInt *n, PetscInt *N)
{
  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  if (n) *n = hp->nT;
  if (N) *N = hp->N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceCreateVec - Creates a vector of the unknowns of a `HopsHPSpace`, set to zero.

  Collective

  Input Parameter:
. hp - the space

  Output Parameter:
. x - the vector, in the memory where the mesh's space works

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsHPSpaceInterpolate()`
@*/
PetscErrorCode HopsHPSpaceCreateVec(HopsHPSpace hp, Vec *x)
{
  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(x, 2);
  PetscCall(HopsVecCreate(PetscObjectComm((PetscObject)hp), 1, hp->nT, hp->N, HopsSpaceVecType(hp->mesh), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHPCheckVec(HopsHPSpace hp, Vec x, const char name[])
{
  PetscFunctionBegin;
  PetscCall(
    HopsCheckVec(PetscObjectComm((PetscObject)hp), x, hp->nT, hp->N, name, "space with orders of cells", "HopsHPSpaceCreateVec()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsHPSpaceGetParts - Gets the spaces of the cells of each order.

  Not Collective

  Input Parameter:
. hp - the space

  Output Parameters:
+ n      - how many orders cells of some rank have
. parts  - [n] the space of the cells of each order, ascending by order, or `NULL`
. ncells - [n] how many cells of this rank these are, or `NULL`
- cells  - [n][ncells] which cells of the mesh they are, in the caller's numbers, ascending, or `NULL`

  Level: advanced

  Note:
  All arrays are the space's. A part's unknowns are at all nodes of its cells: none is essential, and nothing
  is to be interpolated there.

.seealso: `HopsHPSpace`, `HopsHPSpaceCreateMat()`, `MatHopsPtAPGetMats()`
@*/
PetscErrorCode HopsHPSpaceGetParts(HopsHPSpace hp, PetscInt *n, const HopsSpace *parts[], const PetscInt *ncells[],
                                   const PetscInt *const *cells[])
{
  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  if (n) *n = hp->nparts;
  if (parts) *parts = hp->part;
  if (ncells) *ncells = hp->ncells;
  if (cells) *cells = (const PetscInt *const *)hp->cells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceGetProlongation - Gets the matrix that has functions of a `HopsHPSpace` as functions of its
  mesh's space.

  Collective on the first call

  Input Parameter:
. hp - the space

  Output Parameter:
. P - the matrix, the space's own: rows are unknowns of the mesh's space

  Level: advanced

.seealso: `HopsHPSpace`, `HopsHPSpaceProlong()`
@*/
PetscErrorCode HopsHPSpaceGetProlongation(HopsHPSpace hp, Mat *P)
{
  HopsSpace mesh;
  PetscInt *number;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(P, 2);
  mesh = hp->mesh;
  if (!hp->toMesh) {
    PetscCall(PetscMalloc1(mesh->nL, &number));
    for (PetscInt l = 0; l < mesh->nL; ++l) number[l] = HopsSpaceGlobalIndex(mesh, l);
    PetscCall(HopsHPCreateP(hp, mesh, mesh->cell, number, &hp->toMesh));
    PetscCall(PetscFree(number));
  }
  *P = hp->toMesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u[nL]: values of entries of the mesh that stand for unknowns; then those of all its entries, of one part */
static PetscErrorCode ProlongPart(HopsHPSpace hp, HopsHPCell *k, PetscReal u[])
{
  HopsSpace  mesh = hp->mesh;
  PetscReal *from, *in, *list;
  PetscSF    sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(mesh->nL, &from, mesh->ne, &in, mesh->ne, &list));
  PetscCall(PetscArraycpy(from, u, mesh->nT));
  PetscCall(HopsSpaceGetElementSF(mesh, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_REAL, from, from + mesh->nT, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_REAL, from, from + mesh->nT, MPI_REPLACE));
  for (PetscInt c = 0; c < mesh->ncells; ++c) {
    PetscCall(HopsHPCellSet(k, c));
    for (PetscInt i = 0; i < k->first[HopsPower(3, mesh->dim)]; ++i) in[i] = from[k->entry[i]];
    PetscCall(HopsHPCellList(k, in, list));
    for (PetscInt i = 0; i < mesh->ne; ++i) u[mesh->restr[c * mesh->ne + i]] = list[i];
  }
  /* owners may have no cell with an entry, and of essential ones have the constrained twin */
  PetscCall(PetscSFReduceBegin(sf, MPIU_REAL, u + mesh->nT, u, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(sf, MPIU_REAL, u + mesh->nT, u, MPI_REPLACE));
  PetscCall(PetscFree3(from, in, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceProlong - Has a function of a `HopsHPSpace` as one of its mesh's space, for what works there:
  errors, estimates, files.

  Collective

  Input Parameters:
+ hp - the space
- x  - the function

  Output Parameter:
. y - the same as a vector of the mesh's space

  Level: intermediate

  Note:
  The essential values of the mesh's space (`HopsSpaceSetEssentialFunction()`) become those of the function.

.seealso: `HopsHPSpace`, `HopsSpaceComputeL2Error()`, `HopsSpaceViewVTU()`, `HopsSpaceEstimateError()`
@*/
PetscErrorCode HopsHPSpaceProlong(HopsHPSpace hp, Vec x, Vec y)
{
  HopsSpace  mesh;
  HopsHPCell k;
  PetscReal *u;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidHeader(y, VEC_CLASSID, 3);
  mesh = hp->mesh;
  PetscCall(HopsHPCheckVec(hp, x, "of the function"));
  PetscCall(HopsSpaceCheckVec(mesh, y, "of the mesh's space"));
  PetscCall(HopsSpaceBringMesh(mesh));
  PetscCall(HopsHPCellCreate(hp, mesh->order, &k));
  PetscCall(PetscCalloc1(mesh->nL, &u));
  for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
    const PetscReal *a;
    PetscReal       *b;

    PetscCall(HopsHostVecGetPartRead(x, part, &a));
    for (PetscInt l = 0; l < mesh->nT; ++l) u[l] = hp->number[l] < 0 ? 0.0 : a[hp->number[l] - hp->rstart];
    PetscCall(HopsHostVecRestorePartRead(x, part, &a));
    PetscCall(ProlongPart(hp, &k, u));
    PetscCall(HopsHostVecGetPart(y, part, HOPS_VEC_WRITE, &b));
    PetscCall(PetscArraycpy(b, u, mesh->nT));
    PetscCall(HopsHostVecRestorePart(y, part, HOPS_VEC_WRITE, &b));
    PetscCall(PetscArraycpy(mesh->cvals + part * mesh->nC, u + mesh->nT + mesh->nG, mesh->nC));
  }
  PetscCall(PetscFree(u));
  PetscCall(HopsHPCellDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of a cell's unknowns, which it has as its own: at their places in its map. map[4 size] is work, size
   that of the larger one of the lattices */
static PetscErrorCode EntityPoints(HopsHPCell *k, PetscInt e, HopsBasis geom[], PetscInt size, PetscReal map[], PetscReal x[])
{
  HopsSpace        mesh = k->hp->mesh;
  const PetscInt   dim = k->dim, G = mesh->gorder + 1, ng = HopsPower(G, dim), a = k->order[e], n = k->first[e + 1] - k->first[e];
  const PetscInt   to[3] = {a - 1, a - 1, a - 1}, from[3] = {G, G, G};
  const PetscReal *M[3];
  PetscInt         stride[3], at;
  const PetscInt   m = HopsEntityDirections(dim, e, G - 1, stride, &at);

  PetscFunctionBegin;
  if (!geom[a].P) {
    PetscReal *node, *w;

    PetscCall(PetscMalloc2(a + 1, &node, a + 1, &w));
    PetscCall(HopsGLL(a + 1, node, w));
    PetscCall(HopsBasisCreateAtPoints(G, a + 1, node, &geom[a]));
    PetscCall(PetscFree2(node, w));
  }
  for (PetscInt d = 0; d < m; ++d) M[d] = geom[a].B + G; /* the ends are left out */
  for (PetscInt d = 0; d < dim && n; ++d) {
    const PetscReal *X = mesh->X + (k->cell * dim + d) * ng;

    /* differences, so that where nodes have the same coordinate the points have it to the last bit */
    for (PetscInt g = 0; g < HopsPower(G, m); ++g) {
      PetscInt node = at;

      for (PetscInt b = 0, j = g; b < m; ++b, j /= G) node += j % G * stride[b];
      map[g] = X[node] - X[at];
    }
    if (m) HopsTensorApplyRect(m, to, from, M, map, map + size, map + 2 * size);
    for (PetscInt i = 0; i < n; ++i) x[i * dim + d] = X[at] + (m ? map[size + i] : 0.0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsHPSpaceInterpolate - Sets a vector to the values of a function at the unknowns' nodes, essential ones
  included.

  Collective

  Input Parameters:
+ hp  - the space
. f   - the function
- ctx - its context, or `NULL`

  Output Parameter:
. x - the vector

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsHPSpaceCreateVec()`, `MatHopsPtAPLiftEssential()`
@*/
PetscErrorCode HopsHPSpaceInterpolate(HopsHPSpace hp, HopsPointFunction f, void *ctx, Vec x)
{
  HopsSpace    mesh;
  HopsHPCell   k;
  HopsBasis    geom[65] = {{0}};
  PetscInt     size;
  PetscReal   *at, *work;
  PetscScalar *u;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(x, VEC_CLASSID, 4);
  PetscCall(HopsHPCheckVec(hp, x, "of the values"));
  mesh = hp->mesh;
  PetscCall(HopsSpaceBringMesh(mesh));
  PetscCall(HopsHPCellCreate(hp, mesh->order, &k));
  size = PetscMax(mesh->ne, HopsPower(mesh->gorder + 1, mesh->dim));
  PetscCall(PetscMalloc3(mesh->ne * mesh->dim, &at, mesh->ne, &u, 4 * size, &work));
  for (PetscInt c = 0; c < mesh->ncells; ++c) {
    PetscCall(HopsHPCellSet(&k, c));
    for (PetscInt e = 0; e < HopsPower(3, mesh->dim); ++e) {
      const PetscInt n = k.first[e + 1] - k.first[e];

      if (k.hangs[e]) continue;
      PetscCall(EntityPoints(&k, e, geom, size, work, at));
      for (PetscInt i = 0; i < n; ++i) PetscCall((*f)(mesh->dim, at + i * mesh->dim, 1, &u[i], ctx));
      PetscCall(VecSetValues(x, n, k.col + k.first[e], u, INSERT_VALUES));
    }
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  for (PetscInt a = 0; a < 65; ++a)
    if (geom[a].P) PetscCall(HopsBasisDestroy(&geom[a]));
  PetscCall(PetscFree3(at, u, work));
  PetscCall(HopsHPCellDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsHPSpaceComputeRHS - Computes the linear form b_i = int f v_i, with order + 3 Gauss points per direction
  of each cell.

  Collective

  Input Parameters:
+ hp  - the space
. f   - the function
- ctx - its context, or `NULL`

  Output Parameter:
. b - the vector, overwritten; for what its essential entries are to be see `MatHopsPtAPLiftEssential()`

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsSpaceComputeRHS()`
@*/
PetscErrorCode HopsHPSpaceComputeRHS(HopsHPSpace hp, HopsPointFunction f, void *ctx, Vec b)
{
  Vec y;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(b, VEC_CLASSID, 4);
  PetscCall(HopsHPCheckVec(hp, b, "of the right-hand side"));
  for (PetscInt i = 0; i < hp->nparts; ++i) {
    PetscCall(HopsSpaceCreateVec(hp->part[i], &y));
    PetscCall(HopsSpaceComputeRHS(hp->part[i], f, ctx, y));
    if (i) PetscCall(MatMultTransposeAdd(hp->P[i], y, b, b));
    else PetscCall(MatMultTranspose(hp->P[i], y, b));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
