static char help[] =
  "Spaces from arrays that one back end sets up, against those of another one: they must be the same, entry by entry.\n\
  -backends <a,b> : those of b against those of a; b's passes serve apart where b works in the process's memory\n\
  -order <p>, -geometry <k> : of the spaces and of the coordinates\n\
  -essential 0 : no unknowns are essential; else every third one is\n\
  -left : cells of H1 are left-handed; -straight : cells are not bent\n\
  -refuse : arrays that are wrong, in place of others\n\n";

/*
  The back end `apart` takes cells and entries in other orders than the host, and lattices node by node. What
  is done for one entry is the same code: arraysforms compares that with meshes; tests named *_cuda_*, or
  make check-tests BACKEND=kokkos, what another compiler makes of it.
*/
#include <hops/private/hopsderhamimpl.h>
#include "hopsexpect.h"
#include "samespace.h"

static PetscInt bad, refused[16];

/* Arrays of a space on a mesh */
typedef struct {
  PetscInt  *unknowns, *ess, ness, gorder, n; /* n are this rank's */
  PetscReal *coords;
} Arrays;

/* Nodes of the cells' maps, of order gorder; cells are bent where that is above 1 */
static PetscErrorCode SetNodes(HopsSpace sp, PetscBool left, Arrays *a)
{
  const PetscInt dim = sp->dim, G = a->gorder + 1, np = HopsPower(G, dim);
  PetscReal     *x;
  HopsBasis      gll, geom;

  PetscFunctionBeginUser;
  PetscCall(HopsBasisCreate(G, G, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(PetscMalloc1(sp->ncells * np * dim, &x));
  PetscCall(HopsSpaceGetPoints(sp, &geom, 0, sp->ncells, x, NULL));
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt j    = left ? i / (G * G) * G * G + i % G * G + i / G % G : i;
      PetscReal      y[3] = {0.0, 0.0, 0.0};

      for (PetscInt d = 0; d < dim; ++d) y[d] = x[(c * np + i) * dim + d];
      if (G > 2) TestCurve(dim, y);
      for (PetscInt d = 0; d < dim; ++d) a->coords[(c * np + j) * dim + d] = y[d];
    }
  PetscCall(PetscFree(x));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysCreate(HopsSpace sp, PetscInt gorder, PetscBool essential, PetscBool left, Arrays *a)
{
  const PetscInt dim = sp->dim, np = HopsPower(gorder + 1, dim), P = sp->order + 1;
  PetscBool     *seen;

  PetscFunctionBeginUser;
  a->gorder = gorder;
  a->n      = sp->nT;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscMalloc3(sp->ncells * sp->ne, &a->unknowns, sp->ncells * np * dim, &a->coords, sp->nL, &a->ess));
  PetscCall(PetscCalloc1(sp->nL, &seen));
  a->ness = 0;
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt i = 0; i < sp->ne; ++i) {
      const PetscInt j = left ? i / (P * P) * P * P + i % P * P + i / P % P : i;
      const int      l = sp->restr[c * sp->ne + i], u = (int)HopsUnsigned(l);
      const PetscInt g = HopsSpaceGlobalIndex(sp, u);

      a->unknowns[c * sp->ne + j] = l < 0 ? -1 - g : g;
      if (essential && g % 3 == 0 && !seen[u] && u < sp->nT) a->ess[a->ness++] = g;
      seen[u] = PETSC_TRUE;
    }
  PetscCall(SetNodes(sp, left, a));
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysDestroy(Arrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(a->unknowns, a->coords, a->ess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on back end `name` */
static PetscErrorCode CreateSpace(const char name[], HopsSpace on, const Arrays *a, HopsSpace *sp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", name));
  PetscCall(HopsSpaceCreateFamilyFromArrays(PETSC_COMM_WORLD, on->family, on->dim, on->order, on->ncells, a->n, a->unknowns,
                                            a->gorder, a->coords, a->ness, a->ess, sp));
  PetscCheck(!strcmp((*sp)->backend->name, name), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Not on back end %s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of a cell; not all of them are wrong everywhere */
typedef enum {
  BACKWARDS, /* it lists its unknowns so */
  SWAPPED,   /* two of them */
  SIGN,      /* of one, or its number is out of range */
  ANOTHER,   /* one has the number of any other */
  TWICE,     /* it is another cell */
  COLLAPSED, /* a corner is at another one */
  MOVED,     /* one of its nodes, or */
  SLIGHTLY,
  INFINITE,
  CHANGES
} Change;

/* the same on each run */
static PetscInt Any(PetscInt n)
{
  static uint64_t state = 88172645463325252u;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return n ? (PetscInt)(state % (uint64_t)n) : 0;
}

static void ChangeCell(HopsSpace on, Change change, Arrays *a)
{
  const PetscInt dim = on->dim, ne = on->ne, nx = HopsPower(a->gorder + 1, dim) * dim, c = Any(on->ncells), o = Any(on->ncells);
  const PetscInt i = Any(ne), j = Any(ne), d = Any(nx), node = Any(nx / dim), g = Any(on->N);
  PetscInt      *u = a->unknowns + c * ne;
  PetscReal     *x = a->coords + c * nx;

  if (!on->ncells) return;
  if (change == BACKWARDS)
    for (PetscInt k = 0; k < ne / 2; ++k) {
      const PetscInt t = u[k];

      u[k]          = u[ne - 1 - k];
      u[ne - 1 - k] = t;
    }
  else if (change == SWAPPED) {
    const PetscInt t = u[i];

    u[i] = u[j];
    u[j] = t;
  } else if (change == SIGN) u[i] = -1 - u[i];
  else if (change == ANOTHER) u[i] = g;
  else if (change == TWICE) {
    for (PetscInt k = 0; k < ne; ++k) u[k] = a->unknowns[o * ne + k];
    for (PetscInt k = 0; k < nx; ++k) x[k] = a->coords[o * nx + k];
  } else if (change == COLLAPSED)
    for (PetscInt k = 0; k < dim; ++k) x[k] = x[node * dim + k];
  else x[d] = change == INFINITE ? (PetscReal)INFINITY : x[d] + (change == MOVED ? 1e-3 : 1e-13);
}

/* Both back ends say the same of changed arrays, in the same words */
static PetscErrorCode CheckRefused(const char *const names[2], HopsSpace on, const Arrays *right)
{
  const PetscInt n = on->ncells * on->ne, nx = on->ncells * on->dim * HopsPower(right->gorder + 1, on->dim);
  Arrays         a = *right;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &a.unknowns, nx, &a.coords));
  for (PetscInt run = 0; run < 4 * CHANGES; ++run) {
    char           text[2][sizeof(message)];
    PetscErrorCode ierr[2];
    PetscBool      same;
    HopsSpace      sp[2];

    PetscCall(PetscArraycpy(a.unknowns, right->unknowns, n));
    PetscCall(PetscArraycpy(a.coords, right->coords, nx));
    ChangeCell(on, (Change)(run % CHANGES), &a);
    for (PetscInt k = 0; k < 2; ++k) {
      message[0] = 0;
      PetscCall(PetscPushErrorHandler(Catch, NULL));
      ierr[k] = CreateSpace(names[k], on, &a, &sp[k]);
      PetscCall(PetscPopErrorHandler());
      PetscCall(PetscStrncpy(text[k], message, sizeof(message)));
    }
    if (!ierr[0] && !ierr[1]) PetscCall(TestSameSpaces(sp[0], sp[1], &bad));
    for (PetscInt k = 0; k < 2; ++k)
      if (!ierr[k]) PetscCall(HopsSpaceDestroy(&sp[k]));
    PetscCall(PetscStrcmp(text[0], text[1], &same));
    bad += ierr[0] != ierr[1] || !same;
    refused[run % CHANGES] += ierr[0] ? 1 : 0;
  }
  PetscCall(PetscFree2(a.unknowns, a.coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The companion in H1 is found to belong to both, and follows from their essential unknowns */
static PetscErrorCode CheckCompanions(const char *const names[2], HopsSpace h1, const Arrays *a, HopsSpace with[2])
{
  HopsSpace nodes, companion[2];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(CreateSpace(names[k], h1, a, &nodes));
    PetscCall(HopsSpaceSetCompanion(with[k], nodes));
    PetscCall(HopsSpaceDestroy(&nodes));
    PetscCall(HopsSpaceCreateCompanion(with[k], HOPS_H1, PETSC_TRUE, &companion[k]));
  }
  PetscCall(TestSameSpaces(companion[0], companion[1], &bad));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsSpaceDestroy(&companion[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space that is right by itself is refused as a companion, by both in the same words */
static PetscErrorCode CheckNoCompanion(const char *const names[2], HopsSpace h1, const Arrays *a, HopsSpace with[2],
                                       const char words[])
{
  char text[2][sizeof(message)];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscErrorCode ierr;
    HopsSpace      nodes;

    PetscCall(CreateSpace(names[k], h1, a, &nodes));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(Catch, NULL));
    ierr = HopsSpaceSetCompanion(with[k], nodes);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PetscStrncpy(text[k], message, sizeof(message)));
    bad += !ierr || !strstr(message, words);
    PetscCall(HopsSpaceDestroy(&nodes));
  }
  bad += strcmp(text[0], text[1]) != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The corner that has unknown g moves, in all cells */
static void MoveCorner(HopsSpace h1, PetscInt g, Arrays *a)
{
  const PetscInt dim = h1->dim, P = h1->order + 1, G = a->gorder + 1, np = HopsPower(P, dim), ng = HopsPower(G, dim);

  for (PetscInt c = 0; c < h1->ncells; ++c)
    for (PetscInt k = 0; k < (1 << dim); ++k) {
      PetscInt i = 0, j = 0;

      for (PetscInt d = dim - 1; d >= 0; --d) {
        i = i * P + (k >> d & 1) * (P - 1);
        j = j * G + (k >> d & 1) * (G - 1);
      }
      if (a->unknowns[c * np + i] == g) a->coords[(c * ng + j) * dim] += 1e-3;
    }
}

/* Nodes that are each one cell's, so that those around an edge have boundaries of their own; then other
   cells, by a corner */
static PetscErrorCode CheckNoCompanions(const char *const names[2], HopsSpace h1, const Arrays *right, HopsSpace with[2])
{
  const PetscInt n     = h1->ncells * h1->ne;
  PetscInt       first = 0, corner = n ? right->unknowns[0] : 0;
  Arrays         a = *right;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &a.unknowns));
  PetscCallMPI(MPI_Scan(&n, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < n; ++i) a.unknowns[i] = first - n + i;
  a.n = n;
  PetscCall(CheckNoCompanion(names, h1, &a, with, "disagree on the derivative from H1 to"));
  PetscCall(PetscFree(a.unknowns));
  a = *right;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &corner, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  MoveCorner(h1, corner, &a);
  PetscCall(CheckNoCompanion(names, h1, &a, with, "has other corners in the companion"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM          dm;
  PetscInt    order = 3, geometry = 1;
  PetscBool   essential = PETSC_TRUE, left = PETSC_FALSE, refuse = PETSC_FALSE, straight = PETSC_FALSE;
  const char *names[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(names));
  PetscCheck(names[0], PETSC_COMM_WORLD, PETSC_ERR_USER, "Give two back ends, as in -backends host,apart");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-geometry", &geometry, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-essential", &essential, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-left", &left, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refuse", &refuse, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  for (PetscInt f = 0; f < (left ? 1 : 4); ++f) {
    HopsSpace on, sp[2];
    Arrays    a;

    PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "host"));
    PetscCall(TestCreateSpace(dm, (HopsFamily)f, order, NULL, 0, NULL, &on));
    PetscCall(ArraysCreate(on, geometry, essential, left, &a));
    for (PetscInt k = 0; k < 2 && !refuse; ++k) PetscCall(CreateSpace(names[k], on, &a, &sp[k]));
    if (!refuse) PetscCall(TestSameSpaces(sp[0], sp[1], &bad));
    else PetscCall(CheckRefused(names, on, &a));
    if (!refuse && (f == HOPS_HCURL || (f == HOPS_HDIV && on->dim == 2))) {
      HopsSpace h1;
      Arrays    nodes;

      PetscCall(HopsSpaceCreateCompanion(on, HOPS_H1, PETSC_FALSE, &h1));
      PetscCall(ArraysCreate(h1, geometry, PETSC_FALSE, PETSC_FALSE, &nodes));
      PetscCall(CheckCompanions(names, h1, &nodes, sp));
      PetscCall(CheckNoCompanions(names, h1, &nodes, sp));
      PetscCall(ArraysDestroy(&nodes));
      PetscCall(HopsSpaceDestroy(&h1));
    }
    for (PetscInt k = 0; k < 2 && !refuse; ++k) PetscCall(HopsSpaceDestroy(&sp[k]));
    PetscCall(ArraysDestroy(&a));
    PetscCall(HopsSpaceDestroy(&on));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  /* numbers that are none are always refused, and in H1 and L2 signs are; each four times in four families */
  if (refuse && (refused[INFINITE] != 16 || refused[SIGN] < 8)) ++bad;
  /* what raised errors left half made is not freed; with a value the option would name a file */
  if (refuse) PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  if (bad) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " arrays differ\n", bad));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the same on both back ends\n"));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/arraysbackends.out
    args: -petscpartitioner_type simple
    testset:
      args: -backends host,apart
      test:
        suffix: box
        nsize: {{1 2 3 4}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 3}} -essential {{0 1}}
      test:
        suffix: curved
        nsize: {{1 3}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,3 -order 2 -geometry {{2 3}}
      test:
        suffix: left
        nsize: {{1 2}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,3 -order 3 -left
      test:
        suffix: empty
        nsize: 3
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,1,1 -order 2
      test:
        suffix: unstructured
        nsize: {{1 3}}
        args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2
      test:
        suffix: periodic
        nsize: {{1 2}}
        args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -dm_plex_box_bd periodic,none,periodic -straight -order {{1 2}}
      test:
        suffix: refuse
        nsize: {{1 2 3}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 2 3}} -geometry {{1 2}} -refuse -malloc_dump 0
    testset:
      requires: cuda
      args: -backends host,cuda -use_gpu_aware_mpi 0
      test:
        suffix: cuda
        nsize: {{1 2 3}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 3}} -essential {{0 1}}
      test:
        suffix: cuda_curved
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,3 -order 2 -geometry {{2 3}}
      test:
        suffix: cuda_left
        nsize: 2
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,3 -order 3 -left
      test:
        suffix: cuda_unstructured
        nsize: {{1 3}}
        args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 2
      test:
        suffix: cuda_periodic
        args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -dm_plex_box_bd periodic,none,periodic -straight -order {{1 2}}
      test:
        suffix: cuda_refuse
        nsize: {{1 3}}
        args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -order {{1 3}} -geometry {{1 2}} -refuse -malloc_dump 0

TEST*/
