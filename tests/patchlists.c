static char help[] =
  "Lists of patches against lattices: cells around a vertex, turned at random, whose nodes have random numbers.\n\n";

#include <hops.h>
#include <hops/private/hopspatchkernel.h>

#define MAXP 4 /* nodes of a cell in a direction */
#define MAXN (2 * MAXP - 1)

/* Cells on a lattice of nodes, on which the vertex is at `center` */
typedef struct {
  int           dim, P, size[3], center[3];
  int           entry[MAXN * MAXN * MAXN]; /* of the nodes, lexicographic */
  int           number[MAXN * MAXN * MAXN];
  int           cells[8][MAXP * MAXP * MAXP], map[MAXN * MAXN * MAXN];
  unsigned char lacks[8];
  int           place[8][MAXP * MAXP * MAXP]; /* nodes of cells on the lattice */
} Lattice;

static int Random(PetscRandom rand, int n)
{
  PetscReal x;

  PetscCallAbort(PETSC_COMM_SELF, PetscRandomGetValueReal(rand, &x));
  return PetscMin(n - 1, (int)(n * x));
}

/* A star with cells that see it at random; half of the numbers go through map[], half of the cells are own */
static void Create(PetscRandom rand, int dim, int P, Lattice *l, HopsPatchNodes *m, HopsPatchStar *s)
{
  const int p     = P - 1;
  int       total = 1, nT, ncells = 0;

  *s     = (HopsPatchStar){.side = {1, 1, 1}};
  l->dim = dim;
  l->P   = P;
  for (int a = 0; a < 3; ++a) {
    if (a < dim) s->side[a] = (unsigned char)(1 + Random(rand, 2));
    l->size[a]   = a < dim ? s->side[a] * p + 1 : 1;
    l->center[a] = s->side[a] == 2 ? p : 0;
    total *= l->size[a];
  }
  for (int i = 0; i < total; ++i) l->entry[i] = i;
  for (int i = total - 1; i > 0; --i) {
    const int j = Random(rand, i + 1), swap = l->entry[i];

    l->entry[i] = l->entry[j];
    l->entry[j] = swap;
  }
  nT = total / 2;
  for (int i = 0; i < total; ++i) { /* numbers behind nT are in the opposite order */
    l->number[i] = l->entry[i] < nT ? l->entry[i] : nT + total - 1 - l->entry[i];
    if (l->entry[i] >= nT) l->map[l->number[i] - nT] = l->entry[i];
  }
  l->map[total - nT] = total; /* what the space lacks */
  for (int pos = 0; pos < 8; ++pos) ncells += HopsPatchStarHas(s, pos);
  for (int pos = 0, c = 0; pos < 8; ++pos) {
    int axis[3] = {0, 1, 2}, flip = Random(rand, 1 << dim);

    if (!HopsPatchStarHas(s, pos)) continue;
    for (int d = dim - 1; d > 0; --d) {
      const int j = Random(rand, d + 1), swap = axis[d];

      axis[d] = axis[j];
      axis[j] = swap;
    }
    s->cell[pos] = (c++ + ncells / 2) % ncells;
    s->seen[pos] = (unsigned char)(flip | axis[0] << 3 | axis[1] << 5);
    for (int i = 0; i < (dim == 3 ? P * P * P : P * P); ++i) {
      int at = 0, x[3] = {0, 0, 0};

      for (int d = 0, r = i; d < dim; ++d, r /= P) {
        const int a = axis[d], t = (flip >> d) & 1 ? p - r % P : r % P;

        x[a] = s->side[a] == 2 && !((pos >> a) & 1) ? l->center[a] - t : l->center[a] + t;
      }
      at                        = x[0] + l->size[0] * (x[1] + l->size[1] * x[2]);
      l->place[s->cell[pos]][i] = at;
      l->cells[s->cell[pos]][i] = l->number[at];
    }
    l->lacks[s->cell[pos]] = 0;
  }
  *m       = (HopsPatchNodes){.dim   = dim,
                              .P     = P,
                              .nn    = MAXP * MAXP * MAXP,
                              .nT    = nT,
                              .nown  = ncells / 2,
                              .none  = total,
                              .map   = l->map,
                              .lacks = l->lacks};
  m->own   = l->cells[0];
  m->other = l->cells[m->nown];
}

/* Nodes that are further than `far` from the vertex on an axis do not belong to the list */
static int Expected(const Lattice *l, int far, int list[], int dist[])
{
  int n = 0;

  for (int z = 0, i = 0; z < l->size[2]; ++z)
    for (int y = 0; y < l->size[1]; ++y)
      for (int x = 0; x < l->size[0]; ++x, ++i) {
        const int r[3] = {PetscAbs(x - l->center[0]), PetscAbs(y - l->center[1]), PetscAbs(z - l->center[2])};

        if (PetscMax(r[0], PetscMax(r[1], r[2])) > far) continue;
        dist[n]   = r[0] + r[1] + r[2];
        list[n++] = l->entry[i];
      }
  return n;
}

static int Faults(const HopsPatchNodes *m, const HopsPatchStar *s, int all, int team)
{
  int faults = 0;

  for (int rank = 0; rank < team; ++rank) faults |= HopsPatchStarFaults(m, s, all, rank, team);
  return faults;
}

/* How many lists and faults are wrong */
static int Check(PetscRandom rand, int team, Lattice *l, HopsPatchNodes *m, HopsPatchStar *s)
{
  int wrong = 0, list[MAXN * MAXN * MAXN], dist[MAXN * MAXN * MAXN], made[MAXN * MAXN * MAXN], sorted[MAXN * MAXN * MAXN], size[3];
  unsigned char d[MAXN * MAXN * MAXN], e[MAXN * MAXN * MAXN];

  for (int all = 0; all < 2; ++all) {
    const int n = Expected(l, all ? l->P - 1 : l->P - 2, list, dist);

    wrong += n != HopsPatchStarSize(m, s, all, size);
    for (int rank = 0; rank < team; ++rank) HopsPatchStarList(m, s, all, made, d, rank, team);
    for (int i = 0; i < n; ++i) wrong += made[i] != list[i] || d[i] != dist[i];
    for (int rank = 0; rank < team; ++rank) HopsPatchListSort(n, made, d, sorted, e, rank, team);
    for (int i = 0; i < n; ++i) {
      int j = 0;

      while (list[j] != sorted[i]) ++j;
      wrong += (i && sorted[i] <= sorted[i - 1]) || e[i] != dist[j];
    }
    wrong += Faults(m, s, all, team) != 0;
  }
  /* a node of a cell that is another one, or that the space lacks: where it is decides what is wrong */
  for (int pos = 0; pos < 8; ++pos)
    for (int what = 0; what < 2; ++what) {
      const int c = s->cell[pos], i = Random(rand, l->dim == 3 ? l->P * l->P * l->P : l->P * l->P), at = l->place[c][i];
      const int x[3]   = {at % l->size[0], at / l->size[0] % l->size[1], at / (l->size[0] * l->size[1])};
      int       shared = 0, inside = 1, expect;
      const int total = l->size[0] * l->size[1] * l->size[2], before = l->cells[c][i];

      if (!HopsPatchStarHas(s, pos)) continue;
      for (int a = 0; a < l->dim; ++a) {
        shared = shared || (x[a] == l->center[a] && s->side[a] == 2);
        inside = inside && PetscAbs(x[a] - l->center[a]) < l->P - 1;
      }
      l->cells[c][i] = what ? m->nT + (total - m->nT) : (before ? before - 1 : before + 1);
      l->lacks[c]    = (unsigned char)what;
      for (int all = 0; all < 2; ++all) {
        expect = (inside && (shared || what) ? HOPS_PATCH_LACKS : 0) | ((inside || all) && shared ? HOPS_PATCH_DIFFERS : 0);
        wrong += Faults(m, s, all, team) != expect;
      }
      l->cells[c][i] = before;
      l->lacks[c]    = 0;
    }
  return wrong;
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  Lattice    *l;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, 0.0, 1.0));
  PetscCall(PetscNew(&l));
  for (int dim = 2; dim <= 3; ++dim)
    for (int P = 2; P <= MAXP; ++P) {
      int wrong = 0;

      for (int k = 0; k < 200; ++k) {
        HopsPatchNodes m;
        HopsPatchStar  s;

        Create(rand, dim, P, l, &m, &s);
        wrong += Check(rand, k % 2 ? 3 : 1, l, &m, &s);
      }
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%dD, order %d: %d lists or faults are wrong\n", dim, P - 1, wrong));
    }
  PetscCall(PetscFree(l));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
