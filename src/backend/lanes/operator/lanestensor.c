/* Forms with full tensors, of back ends that launch kernels for teams of lanes (lanestensorkernels.h): their
   data. */
#include "lanestensor.h"

static int Pad(int n)
{
  return (n + 3) / 4 * 4;
}

/* ---- One-dimensional matrices ---- */

/* to[n][m] = A[m * sm + n * sn] times B likewise, which may be NULL */
static int TablePut(double *tables, int at, int M, int N, int sm, int sn, const PetscReal A[], const PetscReal B[])
{
  for (int n = 0; tables && n < N; n++)
    for (int m = 0; m < Pad(M); m++)
      tables[at + n * Pad(M) + m] = m < M ? A[m * sm + n * sn] * (B ? B[m * sm + n * sn] : 1.0) : 0.0;
  return at + N * Pad(M);
}

/* Lays the tables out, and fills them where there is room; those that the kernel of cells keeps in shared
   memory come first */
static PetscErrorCode Tables(HopsLanesTensor k, PetscInt Q, const HopsBasis *const bases[], double *tables, int *size)
{
  const PetscReal ends[2] = {-1.0, 1.0};
  int             at      = 0;

  PetscFunctionBegin;
  for (int i = 0; i < k->nt; i++) {
    const HopsBasis      *b = bases[i];
    HopsLanesTensorTable *t = &k->table[i];
    const int             P = t->P;

    t->Bup   = at;
    t->Bdown = at = TablePut(tables, at, Q, P, P, 1, b->B, NULL);
    at            = TablePut(tables, at, P, Q, 1, P, b->B, NULL);
    if (k->args[0].under) {
      t->Dup   = at;
      t->Ddown = at = TablePut(tables, at, Q, P, P, 1, b->D, NULL);
      at            = TablePut(tables, at, P, Q, 1, P, b->D, NULL);
    }
  }
  if (!k->args[0].under) {
    k->args[0].C  = at;
    k->args[0].CT = at = TablePut(tables, at, Q, Q, Q, 1, bases[0]->C, NULL);
    at                 = TablePut(tables, at, Q, Q, 1, Q, bases[0]->C, NULL);
  }
  k->args[0].ntables = at;
  for (int i = 0; i < k->nt; i++) {
    const HopsBasis      *b = bases[i];
    HopsLanesTensorTable *t = &k->table[i];
    const int             P = t->P;
    HopsBasis             end;

    if (!k->args[0].under) {
      t->Dup   = at;
      t->Ddown = at = TablePut(tables, at, Q, P, P, 1, b->D, NULL);
      at            = TablePut(tables, at, P, Q, 1, P, b->D, NULL);
    }
    t->BB = at;
    t->BD = at = TablePut(tables, at, P, Q, 1, P, b->B, b->B);
    t->DD = at = TablePut(tables, at, P, Q, 1, P, b->B, b->D);
    t->E = at = TablePut(tables, at, P, Q, 1, P, b->D, b->D);
    PetscCall(HopsBasisCreateAtPoints(P, 2, ends, &end));
    for (int j = 0; tables && j < 2 * P; j++) tables[at + j] = end.D[j];
    PetscCall(HopsBasisDestroy(&end));
    at += Pad(2 * P);
  }
  *size = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TensorTables(HopsLanesTensor k, PetscInt Q, const HopsBasis *const bases[])
{
  const HopsBackendOps *be = k->kernels->backend;
  double               *tables;
  int                   size = 0;

  PetscFunctionBegin;
  PetscCall(Tables(k, Q, bases, NULL, &size));
  PetscCall(PetscMalloc1(size, &tables));
  PetscCall(Tables(k, Q, bases, tables, &size));
  PetscCall((*be->memory->Malloc)(size * sizeof(double), (void **)&k->tables));
  PetscCall((*be->memory->Copy)(NULL, k->tables, tables, size * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(tables));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Kernel ---- */

/* Batches hold cells of one part each */
static PetscErrorCode TensorBatches(HopsSpace sp, HopsLanesTensor k)
{
  const HopsBackendOps *be      = k->kernels->backend;
  const PetscInt        W       = k->args[0].W * k->kernels->group;
  const HopsPart        parts[] = {HOPS_PART_INTERIOR_A, HOPS_PART_INTERIOR_B, HOPS_PART_SHARED}; /* in order of their cells */
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
  PetscCall(PetscMalloc1(sp->ncells / W + 4, &k->first));
  k->nb = 0;
  for (int p = 0; p < 3; p++) {
    PetscInt first, n;

    HopsLanesPart(parts[p], size == 1 ? PETSC_TRUE : PETSC_FALSE, sp->ninterior, sp->ncells, &first, &n);
    k->part[p] = k->nb;
    for (PetscInt c = first; c < first + n; c += W) k->first[k->nb++] = c;
  }
  k->part[3]      = k->nb;
  k->first[k->nb] = sp->ncells;
  PetscCall((*be->memory->Malloc)((k->nb + 1) * sizeof(PetscInt), (void **)&k->cell));
  PetscCall((*be->memory->Copy)(NULL, k->cell, k->first, (k->nb + 1) * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scratch of a team with W slots; what goes in and what comes out share it where the kernel keeps a point's
   results in registers */
static int TensorScratch(HopsLanesTensor k, int W)
{
  const int row  = k->args[0].dim + 1;
  int       most = 0, n[2] = {0, 0};

  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      n[t] += k->args[0].side[1 - t][i].nc;
      most = PetscMax(most, k->args[0].side[1 - t][i].nc);
    }
  for (int t = 0; t < 2; t++) {
    HopsLanesTensorArgs *a    = &k->args[t];
    const int            item = W * a->S, ni = n[1 - t], no = n[t]; /* args[0] has trial functions in, test functions out */
    int                  off[2];

    a->W       = W;
    a->ncout   = no;
    off[0]     = 0;
    off[1]     = no <= 4 ? 0 : ni * row * item;
    a->scratch = PetscMax(ni * row * item, off[1] + no * row * item);
    a->X       = most * item;
    a->nwork   = a->scratch + (a->under ? 3 * a->X : 0);
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < a->nside[s]; i++) {
        a->side[s][i].off = off[s];
        a->side[s][i].R   = a->side[s][i].nc * item;
        off[s] += row * a->side[s][i].R;
      }
  }
  return PetscMax(k->args[0].nwork, k->args[1].nwork);
}

static PetscErrorCode HopsLanesTensorDestroy(HopsTensorOperator *kernel)
{
  HopsLanesTensor       k = (HopsLanesTensor)*kernel;
  const HopsBackendOps *be;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  be = k->kernels->backend;
  for (int i = 0; i < 4; i++) PetscCall((*be->memory->Free)(&k->program[i / 2][i % 2]));
  for (int i = 0; i < 2 * HOPS_TENSOR_SIDES; i++) {
    PetscCall((*be->memory->Free)((void **)&k->marked[i % 2][i / 2]));
    PetscCall((*be->memory->Free)(&k->buffer[i % 2][i / 2]));
    PetscCall(HopsLanesMeetsDestroy(be, &k->meets[i % 2][i / 2]));
  }
  PetscCall((*be->memory->Free)((void **)&k->tables));
  PetscCall((*be->memory->Free)((void **)&k->cell));
  PetscCall((*be->memory->Free)((void **)&k->work));
  PetscCall(PetscFree(k->first));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesTensorGetLayout(HopsTensorOperator A, HopsTensorLayout *layout)
{
  HopsLanesTensor k = (HopsLanesTensor)A;

  PetscFunctionBegin;
  layout->W      = k->args[0].W * k->kernels->group;
  layout->nb     = k->nb;
  layout->first  = k->first;
  layout->points = k->kernels->group == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Pairs of components ---- */

PetscErrorCode HopsLanesTensorProgram(const HopsBackendOps *be, PetscInt nblocks, const HopsTensorData data[], PetscBool transpose,
                                      int dim, int item, const HopsLanesTensorSide in[], int nout, const HopsLanesTensorSide out[],
                                      void *program[2])
{
  HopsLanesTensorOut *o;
  HopsLanesTensorOp  *op;
  int                 nc = 0, npairs = 0, c = 0, n = 0;

  PetscFunctionBegin;
  for (int i = 0; i < nout; i++) nc += out[i].nc;
  for (PetscInt b = 0; b < nblocks; b++) npairs += (int)data[b].npairs;
  PetscCall(PetscMalloc1(nc, &o));
  PetscCall(PetscCalloc1(npairs, &op));
  for (int i = 0; i < nout; i++)
    for (int g = 0; g < out[i].nc; g++, c++) {
      o[c].off   = out[i].off + g * item;
      o[c].R     = out[i].R;
      o[c].first = n;
      for (PetscInt b = 0; b < nblocks; b++) {
        const HopsLanesTensorSide *from = &in[transpose ? data[b].test : data[b].trial];

        for (PetscInt j = 0; j < data[b].npairs; j++) {
          const HopsTensorPair p = data[b].pair[j];

          if ((transpose ? data[b].trial : data[b].test) == i && (transpose ? p.trial : p.test) == g) {
            op[n].q        = data[b].q;
            op[n].kind     = !transpose || p.kind == 0 || p.kind == 3 ? p.kind : 3 - p.kind;
            op[n].in       = from->off + (transpose ? p.test : p.trial) * item;
            op[n].R        = from->R;
            op[n].entry    = p.entry;
            op[n].sa       = p.kind == 3 && !transpose ? dim : 1;
            op[n].sb       = p.kind == 3 && transpose ? dim : 1;
            op[n].nentries = (int)data[b].nentries;
            n++;
          }
        }
      }
      o[c].end = n;
    }
  PetscCall((*be->memory->Free)(&program[0]));
  PetscCall((*be->memory->Free)(&program[1]));
  PetscCall((*be->memory->Malloc)(nc * sizeof(*o), &program[0]));
  PetscCall((*be->memory->Malloc)(npairs * sizeof(*op), &program[1]));
  PetscCall((*be->memory->Copy)(NULL, program[0], o, nc * sizeof(*o), HOPS_COPY_IN));
  PetscCall((*be->memory->Copy)(NULL, program[1], op, npairs * sizeof(*op), HOPS_COPY_IN));
  PetscCall(PetscFree(o));
  PetscCall(PetscFree(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplications and additions of a component's contractions from nodes to points; those back take as
   many */
static double SideFlops(const HopsLanesTensorArgs *a, const HopsLanesTensorSide *s)
{
  const double P = s->table.P, Q = a->Q, one = 2 * P * Q * (a->dim == 3 ? P * P + P * Q + Q * Q : P + Q);

  if (a->under) return (s->gradient ? a->dim + 1 : 1) * one;
  return one + (s->gradient ? 2 * a->dim * Q * a->nq : 0);
}

static PetscLogDouble Flops(HopsLanesTensor k)
{
  const HopsLanesTensorArgs *a = &k->args[0];
  double                     f = 0.0;

  for (int s = 0; s < 2; s++)
    for (int i = 0; i < a->nside[s]; i++)
      if (a->side[s][i].value || a->side[s][i].gradient) f += a->side[s][i].nc * SideFlops(a, &a->side[s][i]);
  for (PetscInt b = 0; b < k->nblocks; b++) f += HopsTensorFlops(a->dim, &k->data[b]) * a->nq;
  return f * (PetscLogDouble)k->first[k->nb];
}

static PetscErrorCode HopsLanesTensorSetBlocks(HopsTensorOperator A, PetscInt nblocks, const HopsTensorData data[])
{
  HopsLanesTensor k = (HopsLanesTensor)A;

  PetscFunctionBegin;
  k->nblocks = nblocks;
  k->data    = data;
  for (int t = 0; t < 2; t++) {
    HopsLanesTensorArgs *a = &k->args[t];

    for (int s = 0; s < 2; s++)
      for (int i = 0; i < a->nside[s]; i++) a->side[s][i].value = a->side[s][i].gradient = false;
    for (PetscInt b = 0; b < nblocks; b++) {
      HopsLanesTensorSide *in = &a->side[0][t ? data[b].test : data[b].trial], *out = &a->side[1][t ? data[b].trial : data[b].test];

      for (PetscInt j = 0; j < data[b].npairs; j++) {
        const int  kind  = data[b].pair[j].kind;
        const bool trial = kind & 1, test = kind & 2;

        if (t ? test : trial) in->gradient = true;
        else in->value = true;
        if (t ? trial : test) out->gradient = true;
        else out->value = true;
      }
    }
    PetscCall(HopsLanesTensorProgram(k->kernels->backend, nblocks, data, t ? PETSC_TRUE : PETSC_FALSE, a->dim, a->W * a->S,
                                     a->side[0], a->nside[1], a->side[1], k->program[t]));
    a->out = (const HopsLanesTensorOut *)k->program[t][0];
    a->op  = (const HopsLanesTensorOp *)k->program[t][1];
  }
  k->head.info.flops = Flops(k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Launches ---- */

/* Is there so much scratch of each team's own? Kernels that know all sizes take it of whatever memory where
   MostScratch() says so */
static PetscErrorCode FindScratch(HopsLanesTensor k, bool fixed, int *teams, PetscBool *fits)
{
  size_t bytes = 0;

  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) bytes = PetscMax(bytes, HopsLanesTensorBytes(&k->args[t], fixed, k->kernels->group));
  PetscCall((*k->kernels->GetSizes)(bytes, teams, fits));
  if (fixed && k->kernels->MostScratch && bytes <= (*k->kernels->MostScratch)()) *fits = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel for the form and its transpose, and teams of a launch; is there one? */
static PetscErrorCode FindTeams(HopsLanesTensor k, HopsLanesTensorLaunch launch, PetscBool *found)
{
  PetscFunctionBegin;
  *found = launch ? PETSC_TRUE : PETSC_FALSE;
  for (int t = 0; t < 2 && *found; t++) {
    PetscCall((*launch)(&k->args[t], k->lanes, 0, &k->teams[t]));
    if (!k->teams[t]) *found = PETSC_FALSE;
  }
  if (*found) k->launch = launch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One that knows all sizes, or the generic one, with scratch of the back end's memory where it must */
static PetscErrorCode FindLaunch(HopsLanesTensor k)
{
  const int nwork = PetscMax(k->args[0].nwork, k->args[1].nwork), group = k->kernels->group;
  PetscBool fits, found                                                 = PETSC_FALSE;
  int       teams;

  PetscFunctionBegin;
  PetscCall(FindScratch(k, true, &teams, &fits));
  if (k->head.info.specialised && fits) PetscCall(FindTeams(k, k->kernels->fixed[k->args[0].Q], &found));
  k->head.info.specialised = found;
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindScratch(k, false, &teams, &fits));
  if (fits) {
    PetscCall(FindTeams(k, k->kernels->generic, &found));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  k->launch   = k->kernels->generic;
  k->teams[0] = k->teams[1] = (int)PetscMin(2 * teams, PetscMax(k->nb, 1));
  PetscCall((*k->kernels->backend->memory->Malloc)((size_t)nwork * group * k->teams[0] * sizeof(double), (void **)&k->work));
  for (int t = 0; t < 2; t++) {
    k->args[t].nwork = nwork;
    k->args[t].work  = k->work;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The indices of a field, with marks, of which those of a field before with the same nodes are taken */
static PetscErrorCode MarkSide(HopsSpace sp, HopsLanesTensor k, int t, int i, PetscInt nl)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsLanesTensorSide *s      = &k->args[t].side[1][i];
  const int            ne     = (int)HopsPower(s->table.P, k->args[0].dim);
  HopsLanesMeet        m      = {.nl = nl, .percell = ne, .each = ne, .restr = s->restr, .cell = k->cell};
  PetscBool            needed;

  PetscFunctionBegin;
  PetscCheck(nl < HOPS_LANES_MEET, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This rank has %" PetscInt_FMT " nodes of a field, and the back end %s takes less than 2^30: use more ranks", nl,
             k->kernels->backend->name);
  for (int j = 0; j < t * k->n[0] + i && !s->marked; j++) {
    const int                  u = j < k->n[0] ? 0 : 1, f = j - u * k->n[0];
    const HopsLanesTensorSide *o = &k->args[u].side[1][f];

    if (o->restr != s->restr) continue;
    s->marked      = o->marked;
    k->meets[t][i] = HopsLanesMeetsReference(k->meets[u][f]);
  }
  if (s->marked) PetscFunctionReturn(PETSC_SUCCESS);
  s->marked = s->restr;
  PetscCall((*k->kernels->meet->Mark)(&m, NULL, NULL, &needed));
  if (!needed || !sp->ncells) PetscFunctionReturn(PETSC_SUCCESS);
  for (int p = 0; p < 3; p++) {
    m.first[p] = k->part[p];
    m.n[p]     = k->part[p + 1] - k->part[p];
  }
  PetscCall((*memory->Malloc)((size_t)sp->ncells * ne * sizeof(int), (void **)&k->marked[t][i]));
  PetscCall((*memory->Copy)(NULL, k->marked[t][i], s->restr, (size_t)sp->ncells * ne * sizeof(int), HOPS_COPY_WITHIN));
  PetscCall(PetscNew(&k->meets[t][i]));
  k->meets[t][i]->nl = nl;
  PetscCall((*k->kernels->meet->Mark)(&m, k->marked[t][i], k->meets[t][i], &needed));
  s->marked = k->marked[t][i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a thread's batches follow each other. Teams with scratch of the back end's memory take turns */
static PetscErrorCode MarkSides(HopsSpace sp, HopsLanesTensor k, const HopsTensorSide *const given[2])
{
  PetscFunctionBegin;
  if (!k->kernels->meet || k->work) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      PetscCall(MarkSide(sp, k, t, i, given[t][i].nl));
      if (k->meets[t][i])
        PetscCall((*k->kernels->meet->Reserve)(k->meets[t][i], k->args[t].side[1][i].nc, sizeof(double), &k->buffer[t][i]));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the launch of a part: where sides add what is another piece's */
static void SetCopies(HopsLanesTensor k, int t, HopsPart part, HopsLanesTensorArgs *a)
{
  for (int i = 0; i < a->nside[1]; i++) {
    a->side[1][i].copies        = HopsLanesMeetsCopies(k->meets[t][i], part);
    a->side[1][i].copies.buffer = k->buffer[t][i];
  }
}

/* After it: adds that to the vectors */
static PetscErrorCode SumCopies(HopsLanesTensor k, int t, HopsPart part, const HopsLanesTensorArgs *a)
{
  PetscFunctionBegin;
  for (int i = 0; i < a->nside[1]; i++) {
    const HopsLanesTensorSide *s = &a->side[1][i];
    HopsLanesMeets             m = k->meets[t][i];

    if (m && m->shared[part].n && (s->value || s->gradient))
      PetscCall((*k->kernels->meet->Sum)(m, part, PETSC_DOUBLE, s->nc, m->nl, k->buffer[t][i], s->l, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesTensorApply(HopsTensorOperator A, HopsPart part, PetscBool transpose)
{
  HopsLanesTensor     k = (HopsLanesTensor)A;
  const int           p = part == HOPS_PART_INTERIOR_A ? 0 : (part == HOPS_PART_INTERIOR_B ? 1 : 2), t = transpose ? 1 : 0;
  HopsLanesTensorArgs a = k->args[t];

  PetscFunctionBegin;
  a.first = k->part[p];
  a.n     = k->part[p + 1] - k->part[p];
  if (!a.n || !k->nblocks) PetscFunctionReturn(PETSC_SUCCESS);
  SetCopies(k, t, part, &a);
  PetscCall((*k->launch)(&a, k->lanes, (int)PetscMin(a.n, k->teams[t]), NULL));
  PetscCall(SumCopies(k, t, part, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLanesTensorDiagonal(HopsTensorOperator A)
{
  HopsLanesTensor             k      = (HopsLanesTensor)A;
  const HopsLanesTensorArgs  *a      = &k->args[0];
  const HopsMemoryOps        *memory = k->kernels->backend->memory;
  HopsLanesTensorDiagonalArgs d;
  PetscBool                   own;
  double                     *work = NULL;
  int                         teams;

  PetscFunctionBegin;
  if (!k->nb) PetscFunctionReturn(PETSC_SUCCESS);
  d.dim    = a->dim;
  d.Q      = a->Q;
  d.nq     = a->nq;
  d.W      = a->W;
  d.S      = a->S;
  d.n      = k->nb;
  d.cell   = k->cell;
  d.tables = k->tables;
  d.nwork  = 3 * d.W * d.S;
  PetscCall((*k->kernels->GetSizes)((size_t)d.nwork * k->kernels->group * sizeof(double), &teams, &own));
  teams = (int)PetscMin(teams, d.n);
  if (!own) PetscCall((*memory->PoolMalloc)((size_t)d.nwork * k->kernels->group * teams * sizeof(double), (void **)&work));
  d.work = work;
  for (PetscInt b = 0; b < k->nblocks; b++) {
    const HopsTensorData      *data = &k->data[b];
    const HopsLanesTensorSide *s    = &a->side[1][data->test];

    if (data->test != data->trial) continue;
    d.q        = data->q;
    d.nentries = (int)data->nentries;
    d.nc       = s->nc;
    d.l        = s->l;
    d.restr    = s->restr;
    d.table    = s->table;
    for (PetscInt j = 0; j < data->npairs; j++) {
      const HopsTensorPair p = data->pair[j];

      d.kind  = p.kind;
      d.c     = p.test;
      d.entry = p.entry;
      if (p.test == p.trial) PetscCall((*k->kernels->Diagonal)(&d, k->lanes, teams));
    }
  }
  PetscCall((*memory->PoolFree)((void **)&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsTensorOps HopsLanesTensorOps = {.GetLayout   = HopsLanesTensorGetLayout,
                                                 .SetBlocks   = HopsLanesTensorSetBlocks,
                                                 .CreateFaces = HopsLanesTensorFacesCreate,
                                                 .Apply       = HopsLanesTensorApply,
                                                 .Diagonal    = HopsLanesTensorDiagonal,
                                                 .Destroy     = HopsLanesTensorDestroy};

/* ---- Sides ---- */

/* The fields of both sides, and a basis for each number of nodes that they have */
static void SetSides(HopsLanesTensor k, PetscInt Q, const HopsTensorSide *const given[2], const HopsBasis *bases[], int *most)
{
  HopsLanesTensorArgs *a = &k->args[0];

  *most = (int)Q;
  for (int t = 0; t < 2; t++) {
    a->nside[1 - t] = k->n[t];
    for (int i = 0; i < k->n[t]; i++) {
      HopsLanesTensorSide *s = &a->side[1 - t][i];
      const int            P = (int)given[t][i].basis->P;
      int                  j = 0;

      s->nc    = (int)given[t][i].nc;
      s->restr = given[t][i].restr;
      s->l     = given[t][i].l;
      while (j < k->nt && k->table[j].P != P) j++;
      if (j == k->nt) {
        k->table[k->nt].P = P;
        bases[k->nt++]    = given[t][i].basis;
      }
      if (Q < P) a->under = true;
      *most = PetscMax(*most, P);
    }
  }
}

/* The matrices of kernels that know all sizes, until FindLaunch() finds no such kernel */
static PetscErrorCode SetFixed(HopsLanesTensor k, PetscInt Q, const HopsBasis *const bases[])
{
  HopsLanesTensorArgs *a = &k->args[0];

  PetscFunctionBegin;
  k->head.info.specialised = Q <= HOPS_TENSOR_MOST_POINTS && !a->under ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 0; i < k->nt; i++) {
    const size_t PQ = (size_t)k->table[i].P * Q;

    if (k->table[i].P < Q - 1) k->head.info.specialised = PETSC_FALSE;
    if (k->head.info.specialised) PetscCall(PetscArraycpy(k->table[i].P == Q ? a->fixedB : a->fixedA, bases[i]->B, PQ));
  }
  if (k->head.info.specialised) PetscCall(PetscArraycpy(a->fixedC, bases[0]->C, Q * Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many cells at a time as occupy the lanes, while several teams still share a multiprocessor; and so many
   lanes that few of them wait */
static void SetSlots(HopsLanesTensor k, int W)
{
  const int most = k->kernels->lanes;
  int       total;

  if (!W) {
    W = PetscMax(1, most / k->args[0].nq);
    while (W > 1 && (size_t)TensorScratch(k, W) * sizeof(double) > 48 * 1024) W--;
  }
  (void)TensorScratch(k, W);
  total    = W * k->args[0].nq;
  k->lanes = most;
  for (int n = most; n >= 128; n -= 32)
    if ((total + n - 1) / n * n < (total + k->lanes - 1) / k->lanes * k->lanes) k->lanes = n;
}

PetscErrorCode HopsLanesTensorCreate(const HopsLanesTensorKernels *kernels, HopsSpace sp, PetscInt Q, PetscInt W, PetscInt ntest,
                                     const HopsTensorSide test[], PetscInt ntrial, const HopsTensorSide trial[],
                                     HopsTensorOperator *A)
{
  const HopsTensorSide *given[2] = {test, trial};
  const HopsBasis      *bases[2 * HOPS_TENSOR_SIDES];
  HopsLanesTensor       k;
  HopsLanesTensorArgs  *a;
  int                   M;

  PetscFunctionBegin;
  PetscCheck(ntest <= HOPS_TENSOR_SIDES && ntrial <= HOPS_TENSOR_SIDES, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end %s takes forms of at most %d fields, not %" PetscInt_FMT ": use -hops_backend host",
             kernels->backend->name, HOPS_TENSOR_SIDES, PetscMax(ntest, ntrial));
  PetscCall(PetscNew(&k));
  k->head.ops = &HopsLanesTensorOps;
  k->kernels  = kernels;
  *A          = &k->head;
  a           = &k->args[0];
  a->dim      = (int)sp->dim;
  a->Q        = (int)Q;
  a->nq       = (int)HopsPower(a->Q, a->dim);
  k->n[0] = (int)ntest, k->n[1] = (int)ntrial;
  SetSides(k, Q, given, bases, &M);
  PetscCall(SetFixed(k, Q, bases));
  a->S = (int)HopsPower(M, a->dim) / M * (M | 1); /* lines an odd number of values apart: no bank conflicts */
  PetscCall(TensorTables(k, Q, bases));
  a->tables = k->tables;
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      int j = 0;

      while (k->table[j].P != given[t][i].basis->P) j++;
      a->side[1 - t][i].table = k->table[j];
    }
  k->args[1] = k->args[0];
  for (int s = 0; s < 2; s++) {
    k->args[1].nside[s] = a->nside[1 - s];
    PetscCall(PetscMemcpy(k->args[1].side[s], a->side[1 - s], sizeof(a->side[s])));
  }
  SetSlots(k, (int)(W / kernels->group));
  PetscCall(TensorBatches(sp, k));
  k->args[0].cell = k->args[1].cell = k->cell;
  PetscCall(FindLaunch(k));
  PetscCall(MarkSides(sp, k, given));
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s tensors Q=%d%s", kernels->backend->name, a->Q,
                          a->work ? ", scratch in the back end's memory" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
