static char help[] =
  "P, constraints times halo, and its transpose: ghosts by their global numbers, rows of constraints against sums\n\
  written out, and (P x, y) = (x, P' y), in double and single precision and for several components. With -queue the\n\
  same on a back end that has queues, with ghosts that travel as a device's do. -limit: without memory for it.\n\n";

#include <hops/private/hopsimpl.h>
#include <hops/private/hopsshareimpl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

/* ------------------- the host as a device: queues whose work is done at once ------------------- */

static PetscErrorCode MallocHost(size_t n, void **p)
{
  return PetscMalloc(n, p);
}

static PetscErrorCode FreeHost(void **p)
{
  return PetscFree(*p);
}

static PetscErrorCode QueueCreate(HopsQueue *q)
{
  *q = NULL;
  return PETSC_SUCCESS;
}

static PetscErrorCode QueueDestroy(HopsQueue *q)
{
  *q = NULL;
  return PETSC_SUCCESS;
}

static PetscErrorCode QueueNothing(HopsQueue q)
{
  (void)q;
  return PETSC_SUCCESS;
}

static PetscErrorCode Share(void *host, size_t n, void **p)
{
  (void)n;
  *p = host;
  return PETSC_SUCCESS;
}

static PetscErrorCode Unshare(void *host)
{
  (void)host;
  return PETSC_SUCCESS;
}

static PetscErrorCode QueueSignal(HopsQueue q, uint32_t *flag, uint32_t value)
{
  (void)q;
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
  return PETSC_SUCCESS;
}

static PetscErrorCode QueueAwait(HopsQueue q, uint32_t *flag, uint32_t value)
{
  (void)q;
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) sched_yield();
  return PETSC_SUCCESS;
}

static HopsMemoryOps  memory;
static HopsBackendOps backend;

static void SetBackend(PetscBool queue)
{
  backend = HopsBackendHost;
  if (!queue) return;
  memory              = *HopsBackendHost.memory;
  memory.MallocHost   = MallocHost;
  memory.FreeHost     = FreeHost;
  memory.QueueCreate  = QueueCreate;
  memory.QueueDestroy = QueueDestroy;
  memory.QueueFork    = QueueNothing;
  memory.QueueJoin    = QueueNothing;
  memory.QueueFinish  = QueueNothing;
  memory.Share        = Share;
  memory.Unshare      = Unshare;
  memory.QueueSignal  = QueueSignal;
  memory.QueueAwait   = QueueAwait;
  backend.memory      = &memory;
}

/* Every constrained entry is combined from an owned entry and, where there is one, a ghost */
static PetscErrorCode Constraints(HopsSpace sp, HopsConstraints *c)
{
  PetscFunctionBeginUser;
  c->n = sp->nT ? sp->nC : 0;
  PetscCall(PetscMalloc4(c->n, &c->row, c->n + 1, &c->start, 2 * c->n, &c->col, 2 * c->n, &c->value));
  c->start[0] = 0;
  for (PetscInt i = 0, k = 0; i < c->n; ++i) {
    c->row[i]   = sp->nT + sp->nG + i;
    c->col[k]   = 7 * i % sp->nT;
    c->value[k] = 0.5 + 0.01 * i;
    ++k;
    if (sp->nG) {
      c->col[k]   = sp->nT + 5 * i % sp->nG;
      c->value[k] = -0.25;
      ++k;
    }
    c->start[i + 1] = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of an entry, by its global number */
static PetscReal Value(PetscInt g, PetscInt c)
{
  return 1.0 + g + 1000.0 * c;
}

static PetscErrorCode Double(HopsSpace sp, PetscInt nc, const HopsConstraints *con)
{
  const PetscInt n = sp->nL - sp->nT;
  HopsProlong    P;
  PetscReal     *x, *xg, *y, *yg;
  PetscReal      dot[2] = {0.0, 0.0}, wrong = 0.0;

  PetscFunctionBeginUser;
  PetscCall(HopsProlongCreate(sp, &backend, &sp->halo, nc, PETSC_DOUBLE, con, &P));
  PetscCall(PetscCalloc4(sp->nT * nc, &x, n * nc, &xg, sp->nT * nc, &y, n * nc, &yg));
  for (PetscInt i = 0; i < sp->nT * nc; ++i) x[i] = Value(sp->rstart + i / nc, i % nc);
  PetscCall(HopsProlongBegin(P, x, xg));
  PetscCall(HopsProlongEnd(P, x, xg));
  for (PetscInt i = 0; i < sp->nG * nc; ++i) wrong = PetscMax(wrong, PetscAbsReal(xg[i] - Value(sp->ghost[i / nc], i % nc)));
  for (PetscInt i = 0; con && i < con->n; ++i) {
    PetscReal sum = 0.0;

    for (PetscInt k = con->start[i]; k < con->start[i + 1]; ++k) {
      const PetscInt l = con->col[k];

      sum += con->value[k] * Value(l < sp->nT ? sp->rstart + l : sp->ghost[l - sp->nT], 0);
    }
    wrong = PetscMax(wrong, PetscAbsReal(xg[con->row[i] - sp->nT] - sum));
  }
  for (PetscInt i = 0; i < n * nc; ++i) yg[i] = PetscSinReal(1.0 + i);
  for (PetscInt i = 0; i < n * nc; ++i) dot[0] += xg[i] * yg[i];
  PetscCall(HopsProlongTransposeBegin(P, yg, y));
  PetscCall(HopsProlongTransposeEnd(P, yg, y));
  for (PetscInt i = 0; i < sp->nT * nc; ++i) dot[1] += x[i] * y[i];
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, dot, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "components %" PetscInt_FMT ", %s: %s, %s\n", nc, con ? "constraints" : "halo alone",
                        wrong < 1e-9 ? "entries as expected" : "WRONG ENTRIES",
                        PetscAbsReal(dot[0] - dot[1]) <= 1e-12 * (1.0 + PetscAbsReal(dot[0])) ? "adjoint" : "NOT ADJOINT"));
  PetscCall(PetscFree4(x, xg, y, yg));
  PetscCall(HopsProlongDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Single(HopsSpace sp)
{
  HopsProlong P;
  float      *x, *xg, *y;
  PetscBool   good = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(HopsProlongCreate(sp, &backend, &sp->halo, 1, PETSC_FLOAT, NULL, &P));
  PetscCall(PetscCalloc3(sp->nT, &x, sp->nL - sp->nT, &xg, sp->nT, &y));
  for (PetscInt i = 0; i < sp->nT; ++i) x[i] = (float)Value(sp->rstart + i, 0);
  PetscCall(HopsProlongBegin(P, x, xg));
  PetscCall(HopsProlongEnd(P, x, xg));
  for (PetscInt i = 0; i < sp->nG; ++i)
    if (xg[i] != (float)Value(sp->ghost[i], 0)) good = PETSC_FALSE;
  /* a ghost's value comes back to its owner once for each rank that has it */
  PetscCall(HopsProlongTransposeBegin(P, xg, y));
  PetscCall(HopsProlongTransposeEnd(P, xg, y));
  for (PetscInt i = 0; i < sp->nT; ++i)
    if (fmodf(y[i], x[i]) != 0.0F) good = PETSC_FALSE;
  for (PetscInt i = 0; i < sp->halo.nshared; ++i)
    if (y[sp->halo.shared[i]] < x[sp->halo.shared[i]]) good = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &good, 1, MPIU_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single precision: %s\n", good ? "entries as expected" : "WRONG ENTRIES"));
  PetscCall(PetscFree3(x, xg, y));
  PetscCall(HopsProlongDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Many that live beside one another and end in another order on each rank, and many exchanges */
static PetscErrorCode Many(HopsSpace sp)
{
  HopsProlong P[4] = {NULL};
  PetscReal  *x, *xg, *y, wrong = 0.0;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscCalloc3(3 * sp->nT, &x, 3 * (sp->nL - sp->nT), &xg, 3 * sp->nT, &y));
  for (PetscInt k = 0; k < 5000; ++k) {
    const PetscInt nc = 1 + k % 3;
    HopsProlong    p;

    PetscCall(HopsProlongCreate(sp, &backend, &sp->halo, nc, PETSC_DOUBLE, NULL, &p));
    for (PetscInt t = 0; t < 3 && k % 50 < 2; ++t) {
      for (PetscInt i = 0; i < sp->nT * nc; ++i) x[i] = Value(sp->rstart + i / nc, i % nc) + k + t;
      PetscCall(HopsProlongBegin(p, x, xg));
      PetscCall(HopsProlongEnd(p, x, xg));
      if (t == 1) continue; /* two in one direction, too */
      for (PetscInt i = 0; i < sp->nG * nc; ++i)
        wrong = PetscMax(wrong, PetscAbsReal(xg[i] - Value(sp->ghost[i / nc], i % nc) - k - t));
      PetscCall(PetscArrayzero(y, sp->nT * nc));
      PetscCall(HopsProlongTransposeBegin(p, xg, y));
      PetscCall(HopsProlongTransposeEnd(p, xg, y));
      for (PetscInt i = 0; i < sp->nT * nc; ++i) wrong = PetscMax(wrong, PetscAbsReal(fmod(y[i], x[i])));
    }
    if (P[(k + rank) % 4]) PetscCall(HopsProlongDestroy(&P[(k + rank) % 4]));
    P[(k + rank) % 4] = p;
  }
  for (PetscInt k = 0; k < 4; ++k) PetscCall(HopsProlongDestroy(&P[k]));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "many: %s\n", wrong < 1e-9 ? "entries as expected" : "WRONG ENTRIES"));
  PetscCall(PetscFree3(x, xg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Halos that no space has: of m entries a rank, none on the second rank where there are three, every rank has
   all entries as ghosts, its own too, owners last first; or the first rank alone has those of the others */
static PetscErrorCode HandMade(HopsSpace sp, PetscBool onfirst)
{
  HopsHalo     halo;
  HopsProlong  P;
  PetscMPIInt  size, rank, tag, n = 0, who[8];
  PetscInt     count[8], first[9] = {0}, m, nG;
  PetscReal   *x, *y, *xg, wrong = 0.0;
  PetscSFNode *ghost;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscMPIInt r = 0; r < size; ++r) first[r + 1] = first[r] + (r == 1 && size > 2 ? 0 : 70 + r);
  for (PetscMPIInt r = size - 1; r >= 0 && (!rank || !onfirst); --r) {
    if (first[r + 1] == first[r] || (onfirst && !r)) continue;
    who[n]     = r;
    count[n++] = first[r + 1] - first[r];
  }
  PetscCall(HopsNeighborsCreate(n, who, count, &halo.owners));
  nG = halo.owners.start[n];
  PetscCall(PetscMalloc1(nG, &ghost));
  for (PetscMPIInt k = 0, g = 0; k < n; ++k)
    for (PetscInt i = 0; i < count[k]; ++i, ++g) {
      halo.owners.entry[g] = nG - 1 - g;
      ghost[nG - 1 - g]    = (PetscSFNode){who[k], i};
    }
  m = first[rank + 1] - first[rank];
  n = !m ? 0 : !onfirst ? size : rank ? 1 : 0;
  for (PetscMPIInt r = 0; r < n; ++r) {
    who[r]   = r;
    count[r] = m;
  }
  PetscCall(HopsNeighborsCreate(n, who, count, &halo.holders));
  for (PetscInt k = 0; k < halo.holders.start[n]; ++k) halo.holders.entry[k] = k % m;
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &tag));
  PetscCall(HopsHaloFinish(PETSC_COMM_WORLD, tag, m, &halo));
  PetscCall(HopsProlongCreate(sp, &backend, &halo, 1, PETSC_DOUBLE, NULL, &P));
  PetscCall(HopsHaloDestroy(&halo));
  PetscCall(PetscMalloc3(m, &x, nG, &xg, m, &y));
  for (PetscInt t = 0; t < 3; ++t) {
    for (PetscInt i = 0; i < m; ++i) x[i] = Value(first[rank] + i, t);
    PetscCall(HopsProlongBegin(P, x, xg));
    PetscCall(HopsProlongEnd(P, x, xg));
    for (PetscInt g = 0; g < nG; ++g)
      wrong = PetscMax(wrong, PetscAbsReal(xg[g] - Value(first[ghost[g].rank] + ghost[g].index, t)));
    for (PetscInt i = 0; i < m; ++i) y[i] = t;
    PetscCall(HopsProlongTransposeBegin(P, xg, y));
    PetscCall(HopsProlongTransposeEnd(P, xg, y));
    for (PetscInt i = 0; i < m; ++i) wrong = PetscMax(wrong, PetscAbsReal(y[i] - t - n * x[i]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "hand-made: %s\n", wrong < 1e-12 ? "entries as expected" : "WRONG ENTRIES"));
  PetscCall(HopsProlongDestroy(&P));
  PetscCall(PetscFree3(x, xg, y));
  PetscCall(PetscFree(ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of two communicators, ended in another order on each rank */
static PetscErrorCode Order(void)
{
  MPI_Comm    comm[2];
  DM          two[2];
  HopsSpace   sp[2];
  HopsProlong P[2];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int i = 0; i < 2; ++i) {
    PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &comm[i]));
    PetscCall(DMCreate(comm[i], &two[i]));
    PetscCall(DMSetType(two[i], DMPLEX));
    PetscCall(DMSetFromOptions(two[i]));
    PetscCall(HopsSpaceCreateH1(two[i], 2, NULL, 0, NULL, &sp[i]));
    PetscCall(HopsProlongCreate(sp[i], &backend, &sp[i]->halo, 1, PETSC_DOUBLE, NULL, &P[i]));
  }
  for (int i = 0; i < 2; ++i) {
    const int k = (i + rank) % 2;

    PetscCall(HopsProlongDestroy(&P[k]));
    PetscCall(HopsSpaceDestroy(&sp[k]));
    PetscCall(DMDestroy(&two[k]));
  }
  for (int i = 0; i < 2; ++i) PetscCallMPI(MPI_Comm_free(&comm[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No file may grow beyond a page */
static void Limit(void)
{
  const struct rlimit page = {4096, 4096};

  (void)signal(SIGXFSZ, SIG_IGN);
  (void)setrlimit(RLIMIT_FSIZE, &page);
}

int main(int argc, char **argv)
{
  const PetscInt  one = 1;
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsConstraints c;
  PetscBool       queue = PETSC_FALSE, limit = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-queue", &queue, NULL));
  SetBackend(queue);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-limit", &limit, NULL));
  if (limit) Limit();
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetLabel(dm, "marker", &label));
  PetscCall(HopsSpaceCreateH1(dm, 3, label, 1, &one, &sp));
  PetscCall(Double(sp, 1, NULL));
  PetscCall(Double(sp, 3, NULL));
  PetscCall(Constraints(sp, &c));
  PetscCall(Double(sp, 1, &c));
  PetscCall(Single(sp));
  if (queue) PetscCall(Many(sp));
  if (queue) PetscCall(Order());
  if (queue) PetscCall(HandMade(sp, PETSC_FALSE));
  if (queue) PetscCall(HandMade(sp, PETSC_TRUE));
  PetscCall(PetscFree4(c.row, c.start, c.col, c.value));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: host
    nsize: {{1 2 3 5}}
    args: -hops_backend host -dm_plex_simplex 0 -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,1

  test:
    requires: host
    suffix: queue
    nsize: {{2 3 5}}
    args: -hops_backend host -dm_plex_simplex 0 -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,1 -queue \
          -hops_halo {{staged shared direct}}

  test:
    requires: host
    suffix: little
    nsize: {{2 3}}
    args: -hops_backend host -dm_plex_simplex 0 -dm_plex_dim 2 -dm_plex_box_faces 2,2 -queue -limit
    output_file: output/prolong_queue.out

  test:
    requires: host
    suffix: refused
    nsize: 2
    args: -hops_backend host -dm_plex_simplex 0 -dm_plex_dim 2 -dm_plex_box_faces 2,2 -queue -limit -hops_halo shared \
          -petsc_ci_portable_error_output
    filter: grep -o -m 1 "the ranks are on several hosts, there is too little memory for them to share"

TEST*/
