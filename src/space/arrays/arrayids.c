/* Spaces from node numbers of any kind: 64-bit ids that ranks share, in a code's own order of nodes. */
#include <hops/private/hopsderhamimpl.h>

typedef struct {
  PetscInt64 id;
  PetscInt   where;
} HopsId;

static int HopsIdCompare(const void *a, const void *b)
{
  const HopsId *x = (const HopsId *)a, *y = (const HopsId *)b;

  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->where < y->where ? -1 : x->where > y->where;
}

static inline uint64_t HopsIdHash(PetscInt64 id)
{
  uint64_t h = (uint64_t)id * 0x9e3779b97f4a7c15u;

  return h ^ (h >> 29);
}

/* The distinct ones of ids[n], ascending: set[m]; key[n]: where each is there */
static PetscErrorCode HopsIdsDistinct(PetscInt n, const PetscInt64 ids[], PetscInt *m, PetscInt64 *set[], PetscInt key[])
{
  size_t    size = 16, mask;
  PetscInt *table, *where, count = 0;
  HopsId   *list;

  PetscFunctionBegin;
  while (size < 2 * (size_t)n) size *= 2;
  mask = size - 1;
  PetscCall(PetscMalloc1(size, &table));
  PetscCall(PetscMalloc1(n, &list));
  for (size_t i = 0; i < size; ++i) table[i] = -1;
  for (PetscInt i = 0; i < n; ++i) {
    size_t at = HopsIdHash(ids[i]) & mask;

    while (table[at] >= 0 && list[table[at]].id != ids[i]) at = (at + 1) & mask;
    if (table[at] < 0) {
      table[at]         = count;
      list[count].id    = ids[i];
      list[count].where = count;
      ++count;
    }
    key[i] = table[at];
  }
  PetscCall(PetscFree(table));
  qsort(list, (size_t)count, sizeof(*list), HopsIdCompare);
  PetscCall(PetscMalloc1(count, set));
  PetscCall(PetscMalloc1(count, &where));
  for (PetscInt k = 0; k < count; ++k) {
    (*set)[k]            = list[k].id;
    where[list[k].where] = k;
  }
  for (PetscInt i = 0; i < n; ++i) key[i] = where[key[i]];
  PetscCall(PetscFree(where));
  PetscCall(PetscFree(list));
  *m = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where ids meet: each has a home rank, by its hash. place[n]: where the ids of a rank's set are among those
   that it sends, in the order of homes; list[m]: what it is sent as a home, ascending, with places */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size, *nout, *nin, *dout, *din;
  PetscInt    n, m, *place;
  HopsId     *list;
} HopsIdHomes;

static PetscErrorCode HopsIdHomesCreate(MPI_Comm comm, PetscInt n, const PetscInt64 set[], HopsIdHomes *h)
{
  PetscInt64 *out, *in;

  PetscFunctionBegin;
  h->comm = comm;
  h->n    = n;
  PetscCall(HopsCheckInt("distinct ids of a rank", n));
  PetscCallMPI(MPI_Comm_size(comm, &h->size));
  PetscCall(PetscCalloc4(h->size, &h->nout, h->size, &h->nin, h->size + 1, &h->dout, h->size + 1, &h->din));
  PetscCall(PetscMalloc1(n, &h->place));
  PetscCall(PetscMalloc1(n, &out));
  for (PetscInt i = 0; i < n; ++i) ++h->nout[HopsIdHash(set[i]) % (uint64_t)h->size];
  for (PetscMPIInt r = 0; r < h->size; ++r) h->dout[r + 1] = h->dout[r] + h->nout[r];
  for (PetscInt i = 0; i < n; ++i) {
    h->place[i]      = h->dout[HopsIdHash(set[i]) % (uint64_t)h->size]++;
    out[h->place[i]] = set[i];
  }
  for (PetscMPIInt r = 0; r < h->size; ++r) h->dout[r] -= h->nout[r];
  PetscCallMPI(MPI_Alltoall(h->nout, 1, MPI_INT, h->nin, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < h->size; ++r) h->din[r + 1] = h->din[r] + h->nin[r];
  h->m = h->din[h->size];
  PetscCall(PetscMalloc1(h->m, &h->list));
  PetscCall(PetscMalloc1(h->m, &in));
  PetscCallMPI(MPI_Alltoallv(out, h->nout, h->dout, MPIU_INT64, in, h->nin, h->din, MPIU_INT64, comm));
  for (PetscInt i = 0; i < h->m; ++i) {
    h->list[i].id    = in[i];
    h->list[i].where = i;
  }
  qsort(h->list, (size_t)h->m, sizeof(*h->list), HopsIdCompare);
  PetscCall(PetscFree(out));
  PetscCall(PetscFree(in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsIdHomesDestroy(HopsIdHomes *h)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(h->nout, h->nin, h->dout, h->din));
  PetscCall(PetscFree(h->place));
  PetscCall(PetscFree(h->list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* value[n] of each id of the set becomes the largest that any rank has for it */
static PetscErrorCode HopsIdHomesMax(const HopsIdHomes *h, PetscInt value[])
{
  PetscInt *out, *in;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(h->n, &out, h->m, &in));
  for (PetscInt i = 0; i < h->n; ++i) out[h->place[i]] = value[i];
  PetscCallMPI(MPI_Alltoallv(out, h->nout, h->dout, MPIU_INT, in, h->nin, h->din, MPIU_INT, h->comm));
  for (PetscInt i = 0, end; i < h->m; i = end) {
    PetscInt most = in[h->list[i].where];

    for (end = i + 1; end < h->m && h->list[end].id == h->list[i].id; ++end) most = PetscMax(most, in[h->list[end].where]);
    for (PetscInt k = i; k < end; ++k) in[h->list[k].where] = most;
  }
  PetscCallMPI(MPI_Alltoallv(in, h->nin, h->din, MPIU_INT, out, h->nout, h->dout, MPIU_INT, h->comm));
  for (PetscInt i = 0; i < h->n; ++i) value[i] = out[h->place[i]];
  PetscCall(PetscFree2(out, in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Numbers for ids[n], the first ncell of which are nodes of cells: an id is owned by the lowest rank with
  a cell that has it; ranks number what they own one after the other, by ascending id. number[n] is -1 for
  ids of no cell; *owned is the count of this rank.
*/
static PetscErrorCode HopsIdsNumber(MPI_Comm comm, PetscInt n, PetscInt ncell, const PetscInt64 ids[], PetscInt *owned,
                                    PetscInt number[])
{
  PetscInt64 *set, count[2] = {0, 0};
  PetscInt    m = 0, *owner, *value;
  HopsIdHomes homes;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(HopsIdsDistinct(n, ids, &m, &set, number));
  PetscCall(HopsIdHomesCreate(comm, m, set, &homes));
  PetscCall(PetscMalloc2(m, &owner, m, &value));
  for (PetscInt i = 0; i < m; ++i) owner[i] = -1;
  for (PetscInt i = 0; i < ncell; ++i) owner[number[i]] = homes.size - rank; /* the largest is of the lowest rank */
  PetscCall(HopsIdHomesMax(&homes, owner));
  for (PetscInt i = 0; i < m; ++i) count[0] += owner[i] == homes.size - rank;
  PetscCallMPI(MPI_Exscan(&count[0], &count[1], 1, MPIU_INT64, MPI_SUM, comm));
  if (!rank) count[1] = 0;
  PetscCall(HopsCheckIndex("unknowns", count[0] + count[1]));
  *owned = (PetscInt)count[0];
  for (PetscInt i = 0, k = (PetscInt)count[1]; i < m; ++i) value[i] = owner[i] == homes.size - rank ? k++ : -1;
  PetscCall(HopsIdHomesMax(&homes, value));
  for (PetscInt i = 0; i < n; ++i) number[i] = value[number[i]];
  PetscCall(PetscFree2(owner, value));
  PetscCall(PetscFree(set));
  PetscCall(HopsIdHomesDestroy(&homes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A permutation of a cell's nodes, sizes that are none, arrays that are not there */
static PetscErrorCode HopsNodesCheck(MPI_Comm comm, PetscInt np, PetscInt ncells, PetscInt n, const PetscInt64 ids[],
                                     const PetscInt perm[], const PetscReal coords[], PetscInt ness, const PetscInt64 ess[])
{
  char        why[HOPS_WHY_LENGTH] = "";
  PetscInt   *seen;
  PetscMPIInt decide[2];
  PetscInt64  most = (PetscInt64)PETSC_INT_MAX / (3 * np);

  PetscFunctionBegin;
  if (ncells < 0 || ness < 0 || (n < 0 && n != PETSC_DECIDE))
    PetscCall(HopsRefuse(why,
                         "Negative sizes: %" PetscInt_FMT " cells, %" PetscInt_FMT " essential ids, %" PetscInt_FMT
                         " owned unknowns (PETSC_DECIDE: hops finds who owns them)",
                         ncells, ness, n));
  else if (ncells && (!ids || !coords))
    PetscCall(HopsRefuse(why, "A rank has %" PetscInt_FMT " cells, and the array of their %s is NULL", ncells,
                         ids ? "coordinates" : "ids"));
  else if (ness && !ess) PetscCall(HopsRefuse(why, "A rank has %" PetscInt_FMT " essential ids, and their array is NULL", ness));
  else if (ncells > most)
    PetscCall(HopsRefuse(why,
                         "A rank has %" PetscInt_FMT " cells of %" PetscInt_FMT
                         " nodes, more than this PETSc's indices reach: use more ranks, or a PETSc with 64-bit indices "
                         "(--with-64-bit-indices)",
                         ncells, np));
  PetscCall(PetscCalloc1(np, &seen));
  for (PetscInt i = 0; i < np && perm; ++i) {
    if (perm[i] < 0 || perm[i] >= np || seen[perm[i]]++)
      PetscCall(HopsRefuse(why,
                           "The order of nodes is no permutation of 0 to %" PetscInt_FMT ": entry %" PetscInt_FMT
                           " is %" PetscInt_FMT "; HopsGetNodeOrder() and HopsGetNodeOrderFromPoints() make it",
                           np - 1, i, perm[i]));
    if (why[0]) break;
  }
  PetscCall(PetscFree(seen));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  decide[0] = n == PETSC_DECIDE ? 1 : 0;
  decide[1] = 1 - decide[0];
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, decide, 2, MPI_INT, MPI_MAX, comm));
  PetscCheck(!decide[0] || !decide[1], comm, PETSC_ERR_ARG_INCOMP,
             "Some ranks give their number of owned unknowns, others PETSC_DECIDE: all ranks do the same");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ids that are global indices already */
static PetscErrorCode HopsIdsCopy(MPI_Comm comm, PetscInt n, const PetscInt64 ids[], PetscInt number[])
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) {
    if (ids[i] < 0 || ids[i] > PETSC_INT_MAX)
      PetscCall(HopsRefuse(why,
                           "Id %" PetscInt64_FMT
                           " is no global index of a vector: give PETSC_DECIDE for the number of owned unknowns, and hops numbers "
                           "them",
                           ids[i]));
    number[i] = (PetscInt)ids[i];
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the caller lists the nodes of a cell, which may be turned as a whole */
static PetscErrorCode HopsSpaceSetPlace(HopsSpace sp, const PetscInt perm[])
{
  PetscInt *place;

  PetscFunctionBegin;
  if (!perm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(sp->ne, &place));
  for (PetscInt i = 0; i < sp->ne; ++i) place[i] = sp->place ? sp->place[perm[i]] : perm[i];
  PetscCall(PetscFree(sp->place));
  sp->place = place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceCreateFromNodes - Creates an H1 `HopsSpace` from node ids and coordinates, as a code has them.

  Collective

  Input Parameters:
+ comm   - the communicator
. dim    - 2 or 3
. order  - the polynomial order p, 1 or more
. ncells - number of cells on this rank (may be 0)
. n      - `PETSC_DECIDE`: ids are any numbers, and hops finds who owns them; else the number of unknowns
  owned by this rank, and ids are global indices as in `HopsSpaceCreateFromArrays()`
. ids    - [ncells][(p+1)^dim] id of each node of each cell, the same on all ranks that have the node
. perm   - [(p+1)^dim] the order in which a cell's nodes are listed (`HopsGetNodeOrder()`,
  `HopsGetNodeOrderFromPoints()`), or `NULL` for lexicographic, x fastest
. coords - [ncells][(p+1)^dim][dim] coordinates of these nodes, in the same order
. ness   - number of essential ids listed by this rank
- ess    - [ness] ids of essential (Dirichlet) unknowns; each is listed by some rank

  Output Parameter:
. space - the space

  Level: beginner

  Notes:
  Ids that hops numbers may have gaps and any sign. A node is owned by the lowest rank with a cell that
  has it. Rank after rank, unknowns are numbered by ascending id; on one rank, ids 0 to N-1 stay what they
  are. `HopsSpaceGetNodeNumbers()` gives the numbers, which errors name too, `HopsSpaceGlobalToElements()`
  and `HopsSpaceElementsToGlobal()` move values between vectors and cells.

  Where all cells are left-handed, their first two directions are exchanged inside of the space; faces,
  points and values that are given or returned cell by cell keep the caller's directions. Meshes of both
  kinds are refused.

  With an operator of your own (`MatSetHopsSpace()`) no essential ids need be listed: `PCLOR` finds them
  in it. What is refused is the same as in `HopsSpaceCreateFromArrays()`. The arrays are copied. They lie
  in the process's memory.

.seealso: `HopsSpace`, `HopsSpaceCreateFromArrays()`, `HopsGetNodeOrder()`, `HopsSpaceGetNodeNumbers()`,
`HopsSpaceGlobalToElements()`, `MatSetHopsSpace()`
@*/
PetscErrorCode HopsSpaceCreateFromNodes(MPI_Comm comm, PetscInt dim, PetscInt order, PetscInt ncells, PetscInt n,
                                        const PetscInt64 ids[], const PetscInt perm[], const PetscReal coords[], PetscInt ness,
                                        const PetscInt64 ess[], HopsSpace *space)
{
  char        why[HOPS_WHY_LENGTH] = "";
  PetscInt    np, nel, *number;
  PetscInt64 *all;
  PetscReal  *x;

  PetscFunctionBegin;
  HopsValidPointer(space, 11);
  PetscCall(HopsArraysCheckSame(comm, dim, order, order));
  PetscCheck((dim == 2 || dim == 3) && order >= 1 && order <= 64, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A space has 2 or 3 dimensions and an order between 1 and 64, not %" PetscInt_FMT " and %" PetscInt_FMT, dim, order);
  np = HopsPower(order + 1, dim);
  PetscCall(HopsNodesCheck(comm, np, ncells, n, ids, perm, coords, ness, ess));
  nel = ncells * np;
  PetscCall(PetscMalloc3(nel + ness, &all, nel + ness, &number, nel * dim, &x));
  for (PetscInt i = 0; i < nel; ++i) {
    const PetscInt to = perm ? i - i % np + perm[i % np] : i;

    all[to] = ids[i];
    for (PetscInt d = 0; d < dim; ++d) x[to * dim + d] = coords[i * dim + d];
  }
  for (PetscInt i = 0; i < ness; ++i) all[nel + i] = ess[i];
  if (n == PETSC_DECIDE) PetscCall(HopsIdsNumber(comm, nel + ness, nel, all, &n, number));
  else PetscCall(HopsIdsCopy(comm, nel + ness, all, number));
  for (PetscInt i = nel; i < nel + ness; ++i)
    if (number[i] < 0) PetscCall(HopsRefuse(why, "Essential id %" PetscInt64_FMT " belongs to no cell of any rank", all[i]));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(HopsSpaceCreateArrays_Private(comm, HOPS_H1, dim, order, ncells, n, number, order, x, NULL, ness, number + nel,
                                          PETSC_TRUE, space));
  PetscCall(HopsSpaceSetPlace(*space, perm));
  PetscCall(PetscFree3(all, number, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
