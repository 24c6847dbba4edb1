/* Matrices from the unknowns of a space with cells of several orders to those of spaces of one order. */
#include <hops/private/hopshpimpl.h>

#define TINY 1e-14 /* of a weight: rounding errors */

typedef struct {
  PetscCount   n, room;
  PetscInt    *i, *j;
  PetscScalar *v;
} Triplets;

static PetscErrorCode Add(Triplets *t, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscFunctionBegin;
  if (t->n == t->room) {
    t->room = 2 * t->room + 1024;
    PetscCall(PetscRealloc(t->room * sizeof(PetscInt), &t->i));
    PetscCall(PetscRealloc(t->room * sizeof(PetscInt), &t->j));
    PetscCall(PetscRealloc(t->room * sizeof(PetscScalar), &t->v));
  }
  t->i[t->n]   = i;
  t->j[t->n]   = j;
  t->v[t->n++] = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mine[nL]: does this rank make the row of an entry of the mesh? The least rank does that has a cell with
   it */
static PetscErrorCode Divide(HopsHPSpace hp, HopsSpace to, const PetscInt place[], PetscBool mine[])
{
  HopsSpace   mesh = hp->mesh;
  PetscInt   *least;
  PetscMPIInt rank;
  PetscSF     sf;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)hp), &rank));
  PetscCall(PetscMalloc1(mesh->nL, &least));
  for (PetscInt l = 0; l < mesh->nL; ++l) least[l] = PETSC_INT_MAX;
  for (PetscInt c = 0; c < mesh->ncells; ++c)
    for (PetscInt j = 0; place[c] >= 0 && j < to->ne; ++j)
      least[mesh->restr[c * mesh->ne + HopsSpaceLowerNode(mesh, to->order, c, j)]] = rank;
  PetscCall(HopsSpaceGetElementSF(mesh, &sf));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, least + mesh->nT, least, MPI_MIN));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, least + mesh->nT, least, MPI_MIN));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, least, least + mesh->nT, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, least, least + mesh->nT, MPI_REPLACE));
  for (PetscInt l = 0; l < mesh->nL; ++l) mine[l] = least[l] == rank ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscFree(least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entity inside of which node j of the lattice of order q lies, and as which of the nodes there */
static PetscInt Entity(PetscInt dim, PetscInt q, PetscInt j, PetscInt *inside)
{
  PetscInt e = 0, n = 1;

  *inside = 0;
  for (PetscInt d = 0, st = 1; d < dim; ++d, j /= q + 1, st *= 3) {
    const PetscInt i = j % (q + 1);

    if (i == 0) continue;
    if (i == q) e += st;
    else {
      e += 2 * st;
      *inside += (i - 1) * n;
      n *= q - 1;
    }
  }
  return e;
}

/* The rows that a cell makes: row[nq], or -1. Vertices, and nodes of an entity that has the order, are
   unknowns themselves */
static PetscErrorCode CellRows(HopsHPCell *k, PetscInt row[], PetscReal in[], PetscReal u[], Triplets *t)
{
  const PetscInt last = HopsPower(3, k->dim) - 1, n = k->first[k->order[last] == k->q ? last : last + 1];
  PetscInt       left = 0;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < k->nq; ++j) {
    PetscInt       i;
    const PetscInt e      = Entity(k->dim, k->q, j, &i);
    PetscBool      vertex = PETSC_TRUE;

    for (PetscInt d = 0; d < k->dim; ++d)
      if (HopsEntityDigit(e, d) == 2) vertex = PETSC_FALSE;
    if (row[j] < 0) continue;
    if (vertex || k->order[e] == k->q) {
      PetscCall(Add(t, row[j], k->col[k->first[e] + i], 1.0));
      row[j] = -1;
    } else ++left;
  }
  if (!left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArrayzero(in, k->first[last + 1]));
  for (PetscInt m = 0; m < n; ++m) {
    in[m] = 1.0;
    PetscCall(HopsHPCellList(k, in, u));
    for (PetscInt j = 0; j < k->nq; ++j)
      if (row[j] >= 0 && PetscAbsReal(u[j]) > TINY) PetscCall(Add(t, row[j], k->col[m], u[j]));
    in[m] = 0.0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of these rows, of the type that goes with the space's vectors */
static PetscErrorCode Assemble(HopsHPSpace hp, HopsSpace to, Triplets *t, Mat *P)
{
  const char *type = MATAIJ;
  char       *kokkos, *cuda;

  PetscFunctionBegin;
  PetscCall(PetscStrstr(HopsSpaceVecType(to), VECKOKKOS, &kokkos));
  PetscCall(PetscStrstr(HopsSpaceVecType(to), VECCUDA, &cuda));
  if (kokkos) type = MATAIJKOKKOS;
  if (cuda) type = MATAIJCUSPARSE;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)hp), P));
  PetscCall(MatSetSizes(*P, to->nT, hp->nT, to->N, hp->N));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSetPreallocationCOO(*P, t->n, t->i, t->j));
  PetscCall(MatSetValuesCOO(*P, t->v, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHPCreateP(HopsHPSpace hp, HopsSpace to, const PetscInt place[], const PetscInt number[], Mat *P)
{
  HopsSpace  mesh = hp->mesh;
  HopsHPCell k;
  Triplets   t = {0};
  PetscInt  *row;
  PetscReal *in, *u;
  PetscBool *mine;

  PetscFunctionBegin;
  PetscCall(HopsHPCellCreate(hp, to->order, &k));
  PetscCall(PetscMalloc4(k.nq, &row, HopsPower(mesh->order + 1, k.dim), &in, k.nq, &u, mesh->nL, &mine));
  PetscCall(Divide(hp, to, place, mine));
  for (PetscInt c = 0; c < mesh->ncells; ++c) {
    PetscBool some = PETSC_FALSE;

    if (place[c] < 0) continue;
    for (PetscInt j = 0; j < k.nq; ++j) {
      const PetscInt l = mesh->restr[c * mesh->ne + HopsSpaceLowerNode(mesh, k.q, c, j)];

      row[j]  = mine[l] ? number[l] : -1;
      some    = some || mine[l] ? PETSC_TRUE : PETSC_FALSE;
      mine[l] = PETSC_FALSE;
    }
    if (!some) continue;
    PetscCall(HopsHPCellSet(&k, c));
    PetscCall(CellRows(&k, row, in, u, &t));
  }
  PetscCall(Assemble(hp, to, &t, P));
  PetscCall(PetscFree(t.i));
  PetscCall(PetscFree(t.j));
  PetscCall(PetscFree(t.v));
  PetscCall(PetscFree4(row, in, u, mine));
  PetscCall(HopsHPCellDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
