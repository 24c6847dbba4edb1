static char help[] =
  "Seconds to set up spaces on the unit square or cube, of this process (user time), so that a busy machine matters little.\n\
  -dim <2,3>             : dimension (default 3)\n\
  -fe <h1,nd,rt,l2>      : family (default h1)\n\
  -orders <p,...>        : polynomial orders (default 1,2,3,6)\n\
  -sizes <n,...>         : wanted numbers of unknowns; the box with the nearest number is taken (default 500000)\n\
  -from <mesh,fe,arrays> : on the bare mesh, on the section of a PetscFE, or from arrays (the last two for h1; default mesh)\n\
  -geometry <k>          : order of the coordinate field (default 1)\n\
  -companion, -coarse    : also the H1 space on the same cells, and that of half the order\n\
  -clock                 : seconds on the clock, with what a device has to do, in place of user time\n\
  -repeat <n>            : repetitions, of which the best counts (default 3)\n\n";

#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscdmplex.h>
#include <petscfe.h>
#include <petsctime.h>
#include <petscdevice.h>
#include <sys/resource.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

typedef enum {
  H1,
  ND,
  RT,
  L2
} Element;
static const char *const elements[] = {"h1", "nd", "rt", "l2", "Element", "", NULL};
typedef enum {
  MESH,
  FE,
  ARRAYS
} Source;
static const char *const sources[] = {"mesh", "fe", "arrays", "Source", "", NULL};

typedef struct {
  Element    fe;
  Source     from;
  PetscInt   dim, order, cells, geometry, repeat, n; /* n nodes from arrays */
  PetscBool  companion, coarse;
  PetscInt  *nodes;
  PetscReal *x;
} Case;

static PetscBool onclock = PETSC_FALSE;

static double Now(void)
{
  struct rusage r;

  if (onclock) {
    PetscLogDouble t;

#if defined(PETSC_HAVE_CUDA)
    if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) (void)cudaDeviceSynchronize();
#endif
    (void)PetscTime(&t);
    return t;
  }
  (void)getrusage(RUSAGE_SELF, &r);
  return (double)r.ru_utime.tv_sec + 1e-6 * (double)r.ru_utime.tv_usec;
}

static PetscInt Count(const Case *c, PetscInt cells)
{
  const PetscInt p = c->order, closed = cells * p + 1, open = cells * p;
  PetscInt       extends = c->fe == H1 ? 0 : (c->fe == ND ? 1 : (c->fe == RT ? c->dim - 1 : c->dim)), n = 1;

  for (PetscInt d = 0; d < c->dim; ++d) n *= d < extends ? open : closed;
  return c->fe == ND || c->fe == RT ? c->dim * n : n;
}

static PetscErrorCode CreateMesh(Case *c, PetscInt size, DM *dm)
{
  PetscInt faces[3];

  PetscFunctionBeginUser;
  c->cells = 1;
  while (Count(c, c->cells + 1) <= size) ++c->cells;
  if (size - Count(c, c->cells) > Count(c, c->cells + 1) - size) ++c->cells;
  for (PetscInt d = 0; d < 3; ++d) faces[d] = c->cells;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, c->dim, PETSC_FALSE, faces, dm));
  PetscCall(DMSetFromOptions(*dm));
  if (c->geometry > 1) {
    PetscFE fe;

    PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, c->dim, c->dim, PETSC_FALSE, c->geometry, PETSC_DETERMINE, &fe));
    PetscCall(HopsDMSetCoordinateDisc(*dm, fe));
    PetscCall(PetscFEDestroy(&fe));
  }
  if (c->from == FE) {
    PetscFE fe;

    PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, c->dim, 1, PETSC_FALSE, c->order, PETSC_DETERMINE, &fe));
    PetscCall(DMSetField(*dm, 0, NULL, (PetscObject)fe));
    PetscCall(DMCreateDS(*dm));
    PetscCall(PetscFEDestroy(&fe));
    {
      DMLabel        label;
      const PetscInt values[6] = {1, 2, 3, 4, 5, 6};
      PetscSection   s;

      PetscCall(DMGetLabel(*dm, "Face Sets", &label));
      PetscCall(DMAddBoundary(*dm, DM_BC_ESSENTIAL, "wall", label, 2 * c->dim, values, 0, 0, NULL, NULL, NULL, NULL, NULL));
      PetscCall(DMGetGlobalSection(*dm, &s)); /* PETSc's own */
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a box of the same cells as a spectral-element code has it */
static PetscErrorCode CreateArrays(Case *c)
{
  const PetscInt p = c->order, P = p + 1, m = c->cells, n = m * p + 1, dim = c->dim, ncells = dim == 2 ? m * m : m * m * m;
  const PetscInt np = dim == 2 ? P * P : P * P * P;
  PetscReal     *gll, *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)ncells * np, &c->nodes));
  PetscCall(PetscMalloc1((size_t)ncells * np * dim, &c->x));
  PetscCall(PetscMalloc2(P, &gll, P, &w));
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_LINEAR_ALGEBRA, gll, w));
  for (PetscInt e = 0; e < ncells; ++e)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt at[3] = {e % m, e / m % m, e / (m * m)}, ijk[3] = {i % P, i / P % P, i / (P * P)};
      PetscInt       g = 0;

      for (PetscInt d = dim - 1; d >= 0; --d) {
        g                                    = g * n + at[d] * p + ijk[d];
        c->x[((size_t)e * np + i) * dim + d] = (at[d] + 0.5 * (gll[ijk[d]] + 1.0)) / m;
      }
      c->nodes[(size_t)e * np + i] = g;
    }
  c->n = dim == 2 ? n * n : n * n * n;
  PetscCall(PetscFree2(gll, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSpace(const Case *c, DM dm, HopsSpace *sp)
{
  DMLabel        label;
  const PetscInt values[6] = {1, 2, 3, 4, 5, 6};

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (c->from == FE) PetscCall(HopsSpaceCreateFromDM(dm, sp));
  else if (c->from == ARRAYS) {
    const PetscInt m = c->cells, ncells = c->dim == 2 ? m * m : m * m * m;

    PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, c->dim, c->order, ncells, c->n, c->nodes, c->x, 0, NULL, sp));
  } else if (c->fe == H1) PetscCall(HopsSpaceCreateH1(dm, c->order, label, 2 * c->dim, values, sp));
  else if (c->fe == ND) PetscCall(HopsSpaceCreateHCurl(dm, c->order, label, 2 * c->dim, values, sp));
  else if (c->fe == RT) PetscCall(HopsSpaceCreateHDiv(dm, c->order, label, 2 * c->dim, values, sp));
  else PetscCall(HopsSpaceCreateL2(dm, c->order, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunCase(Case *c, PetscInt size)
{
  DM       dm;
  PetscInt N    = 0;
  double   t[3] = {0.0, 0.0, 0.0};

  PetscFunctionBeginUser;
  PetscCall(CreateMesh(c, size, &dm));
  if (c->from == ARRAYS) PetscCall(CreateArrays(c));
  for (PetscInt i = 0; i < c->repeat; ++i) {
    HopsSpace sp, other;
    double    s = Now(), u;

    PetscCall(CreateSpace(c, dm, &sp));
    u    = Now() - s;
    t[0] = i ? PetscMin(t[0], u) : u;
    PetscCall(HopsSpaceGetSizes(sp, NULL, &N));
    if (c->companion) {
      s = Now();
      PetscCall(HopsSpaceCreateCompanion(sp, HOPS_H1, PETSC_TRUE, &other));
      u    = Now() - s;
      t[1] = i ? PetscMin(t[1], u) : u;
      PetscCall(HopsSpaceDestroy(&other));
    }
    if (c->coarse && c->order > 1) {
      s = Now();
      PetscCall(HopsSpaceCreateCoarse(sp, NULL, c->order / 2, &other));
      u    = Now() - s;
      t[2] = i ? PetscMin(t[2], u) : u;
      PetscCall(HopsSpaceDestroy(&other));
    }
    PetscCall(HopsSpaceDestroy(&sp));
  }
  for (PetscInt k = 0; k < 3; ++k) {
    const char *names[] = {"space", "companion", "coarse"};

    if (t[k] > 0.0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%" PetscInt_FMT "D %s %s p=%" PetscInt_FMT " unknowns=%" PetscInt_FMT
                            " cells=%.0f %-9s %8.4f s %8.3f million unknowns/s\n",
                            c->dim, elements[c->fe], sources[c->from], c->order, N, PetscPowRealInt(c->cells, c->dim), names[k],
                            t[k], 1e-6 * N / t[k]));
  }
  PetscCall(PetscFree(c->nodes));
  PetscCall(PetscFree(c->x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Case      c          = {.dim = 3, .geometry = 1, .repeat = 3};
  PetscInt  orders[16] = {1, 2, 3, 6}, no = 16, sizes[16] = {500000}, ns = 16;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &c.dim, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-fe", elements, (PetscEnum *)&c.fe, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-from", sources, (PetscEnum *)&c.from, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-geometry", &c.geometry, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &c.repeat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-clock", &onclock, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-companion", &c.companion, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-coarse", &c.coarse, NULL));
  PetscCheck(c.fe == H1 || c.from == MESH, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-from fe and -from arrays are for -fe h1");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &no, &set));
  if (!set) no = 4;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &ns, &set));
  if (!set) ns = 1;
  for (PetscInt s = 0; s < ns; ++s)
    for (PetscInt i = 0; i < no; ++i) {
      c.order = orders[i];
      PetscCall(RunCase(&c, sizes[s]));
    }
  PetscCall(PetscFinalize());
  return 0;
}
