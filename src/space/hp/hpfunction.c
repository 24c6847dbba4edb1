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

PetscErrorCode HopsHPCheckVec(HopsHPSpace hp, Vec x, const char what[])
{
  PetscInt  n, N;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  ok = n == hp->nT && N == hp->N ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ok, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)hp)));
  PetscCheck(ok, PetscObjectComm((PetscObject)hp), PETSC_ERR_ARG_SIZ,
             "The vector %s has %" PetscInt_FMT " entries, and the space %" PetscInt_FMT
             " unknowns (or their distributions differ): make it by HopsHPSpaceCreateVec()",
             what, N, hp->N);
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
  HopsSpace          mesh;
  const PetscScalar *a;
  PetscScalar       *other;
  PetscSF            sf;
  Mat                P;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidHeader(y, VEC_CLASSID, 3);
  mesh = hp->mesh;
  PetscCall(HopsHPCheckVec(hp, x, "of the function"));
  PetscCall(HopsSpaceCheckVec(mesh, y, "of the mesh's space"));
  PetscCall(HopsHPSpaceGetProlongation(hp, &P));
  PetscCall(MatMult(P, x, y));
  PetscCall(PetscCalloc1(mesh->nL - mesh->nT, &other));
  PetscCall(HopsSpaceGetElementSF(mesh, &sf));
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, a, other, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, a, other, MPI_REPLACE));
  PetscCall(VecRestoreArrayRead(y, &a));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k)
    for (PetscInt i = 0; i < mesh->nC; ++i)
      mesh->cvals[k * mesh->nC + i] = k ? PetscImaginaryPart(other[mesh->nG + i]) : PetscRealPart(other[mesh->nG + i]);
  PetscCall(PetscFree(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of a cell's unknowns, which it has as its own: at their places in its map */
static PetscErrorCode EntityPoints(HopsHPCell *k, PetscInt e, HopsBasis geom[], PetscReal x[])
{
  HopsSpace      mesh = k->hp->mesh;
  const PetscInt dim = k->dim, G = mesh->gorder + 1, ng = HopsPower(G, dim), a = k->order[e], n = k->first[e + 1] - k->first[e];
  PetscInt       at = 0; /* a corner of the entity */

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d)
    if (HopsEntityDigit(e, d) == 1) at += mesh->gorder * HopsPower(G, d);
  if (!geom[a].P) {
    PetscReal *node, *w;

    PetscCall(PetscMalloc2(a + 1, &node, a + 1, &w));
    PetscCall(HopsGLL(a + 1, node, w));
    PetscCall(HopsBasisCreateAtPoints(G, a + 1, node, &geom[a]));
    PetscCall(PetscFree2(node, w));
  }
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal *B[3];

    for (PetscInt d = 0, j = i; d < dim; ++d) {
      const PetscInt digit = HopsEntityDigit(e, d);

      B[d] = geom[a].B + G * (digit == 2 ? 1 + j % (a - 1) : digit * a);
      if (digit == 2) j /= a - 1;
    }
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal *X   = mesh->X + (k->cell * dim + d) * ng;
      PetscReal        sum = 0.0; /* by differences: where nodes have the same coordinate the points have it to the last bit */

      for (PetscInt g = 0; g < ng; ++g)
        sum += B[0][g % G] * B[1][g / G % G] * (dim == 3 ? B[2][g / (G * G)] : 1.0) * (X[g] - X[at]);
      x[i * dim + d] = X[at] + sum;
    }
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
  PetscReal   *at;
  PetscScalar *u;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(x, VEC_CLASSID, 4);
  PetscCall(HopsHPCheckVec(hp, x, "of the values"));
  mesh = hp->mesh;
  PetscCall(HopsSpaceBringMesh(mesh));
  PetscCall(HopsHPCellCreate(hp, mesh->order, &k));
  PetscCall(PetscMalloc2(mesh->ne * mesh->dim, &at, mesh->ne, &u));
  for (PetscInt c = 0; c < mesh->ncells; ++c) {
    PetscCall(HopsHPCellSet(&k, c));
    for (PetscInt e = 0; e < HopsPower(3, mesh->dim); ++e) {
      const PetscInt n = k.first[e + 1] - k.first[e];

      if (k.hangs[e]) continue;
      PetscCall(EntityPoints(&k, e, geom, at));
      for (PetscInt i = 0; i < n; ++i) PetscCall((*f)(mesh->dim, at + i * mesh->dim, 1, &u[i], ctx));
      PetscCall(VecSetValues(x, n, k.col + k.first[e], u, INSERT_VALUES));
    }
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  for (PetscInt a = 0; a < 65; ++a)
    if (geom[a].P) PetscCall(HopsBasisDestroy(&geom[a]));
  PetscCall(PetscFree2(at, u));
  PetscCall(HopsHPCellDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsHPSpaceComputeRHS - Computes the linear form b_i = int f v_i, with the mesh's order + 3 Gauss points per
  direction.

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
  Mat P;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(f, 2);
  HopsValidHeader(b, VEC_CLASSID, 4);
  PetscCall(HopsHPCheckVec(hp, b, "of the right-hand side"));
  PetscCall(HopsHPSpaceGetProlongation(hp, &P));
  PetscCall(HopsSpaceCreateVec(hp->mesh, &y));
  PetscCall(HopsSpaceComputeRHS(hp->mesh, f, ctx, y));
  PetscCall(MatMultTranspose(P, y, b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
