/* Host back end: data of a partially assembled operator */
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopsformimpl.h>
#include <hops/private/hopshanging.h>

/* Even-odd form of an M x N matrix A with A[m][n] at a[m*sm + n*sn]; see HopsHostMatrices */
void HopsHostEvenOddPack(int M, int N, const double a[], int sm, int sn, double **p, const double **out)
{
  const int Ne = (N + 1) / 2;

  *out = *p;
  for (int m = 0; m < (M + 1) / 2; m++, *p += N) {
    for (int n = 0; n < Ne; n++) {
      const double s = a[m * sm + n * sn], t = a[m * sm + (N - 1 - n) * sn];

      (*p)[n] = n == N - 1 - n ? s : (s + t) / 2;
      if (n < N / 2) (*p)[Ne + n] = (s - t) / 2;
    }
  }
}

/* Points symmetric about 0: what even-odd contraction rests on */
static PetscErrorCode CheckSymmetric(PetscInt n, const PetscReal x[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++)
    PetscCheck(PetscAbsReal(x[i] + x[n - 1 - i]) < 1e-12, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The host back end needs quadrature points symmetric about the cell's centre: use Gauss or Gauss-Lobatto points");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostPackMatrices(const HopsBasis *b, HopsHostMatrices *mat, double **mem)
{
  const int P = (int)b->P, Q = (int)b->Q, n = PetscMax(P, Q) * (PetscMax(P, Q) + 1) / 2;
  double   *p, *w;

  PetscFunctionBegin;
  PetscCall(CheckSymmetric(Q, b->points));
  PetscCall(CheckSymmetric(P, b->nodes));
  PetscCall(PetscCalloc1(9 * n, mem));
  p = *mem;
  HopsHostEvenOddPack(Q, P, b->B, P, 1, &p, &mat->B);
  HopsHostEvenOddPack(P, Q, b->B, 1, P, &p, &mat->BT);
  if (Q >= P) {
    HopsHostEvenOddPack(Q, Q, b->C, Q, 1, &p, &mat->C);
    HopsHostEvenOddPack(Q, Q, b->C, 1, Q, &p, &mat->CT);
  } else {
    HopsHostEvenOddPack(Q, P, b->D, P, 1, &p, &mat->D);
    HopsHostEvenOddPack(P, Q, b->D, 1, P, &p, &mat->DT);
  }
  PetscCall(PetscMalloc1(P * Q, &w));
  for (int i = 0; i < P * Q; i++) w[i] = b->B[i] * b->B[i];
  HopsHostEvenOddPack(P, Q, w, 1, P, &p, &mat->BB);
  for (int i = 0; i < P * Q; i++) w[i] = b->D[i] * b->D[i];
  HopsHostEvenOddPack(P, Q, w, 1, P, &p, &mat->DD);
  for (int i = 0; i < P * Q; i++) w[i] = b->B[i] * b->D[i];
  HopsHostEvenOddPack(P, Q, w, 1, P, &p, &mat->BD);
  PetscCall(PetscFree(w));
  PetscAssert(p <= *mem + 9 * n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Packed matrices overflow");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Flops of an even-odd product of an M x N matrix: sums and differences of the input, N multiply-adds (less
  two first sums) and a recombination for each pair of rows, and the middle row
*/
double HopsHostEvenOddFlops(int M, int N, int s)
{
  const int pair = N > 1 ? 2 * N : 3, middle = 2 * (s > 0 ? (N + 1) / 2 : N / 2) - 1;

  return 2 * (N / 2) + (M / 2) * pair + (M % 2 ? PetscMax(0, middle) : 0);
}

/* Flops of a cell: contractions as Cell2, Cell3 and CellUnder run them, products with qdata, and the sum into
   y */
static double CellFlops(const HopsPAKernel k)
{
  const int    dim = k->dim, P = k->P, Q = k->Q;
  const double nq = HopsHostPower(Q, dim), nn = HopsHostPower(P, dim), fB = HopsHostEvenOddFlops(Q, P, 1),
               fBT = HopsHostEvenOddFlops(P, Q, 1);
  double f         = nn + (k->diffusion ? (dim == 3 ? 15 : 6) : 0) * nq + (k->mass ? (k->diffusion ? 2 : 1) : 0) * nq, lines;

  if (Q < P) {
    const double fD = HopsHostEvenOddFlops(Q, P, -1), fDT = HopsHostEvenOddFlops(P, Q, -1);
    const double in[3] = {HopsHostPower(P, dim) / P, HopsHostPower(P, dim) / (P * P) * Q, Q * Q};

    for (int a = k->diffusion ? 0 : dim; a < dim + (int)k->mass; a++) {
      for (int b = 0; b < dim; b++) {
        f += in[b] * (a == b ? fD : fB);
        f += HopsHostPower(Q, dim) / Q / pow((double)Q / P, b) * (a == b ? fDT : fBT);
      }
      f += nn;
    }
    return f;
  }
  lines = dim == 3 ? P * P + P * Q + Q * Q : P + Q;
  if (!k->collocated) f += lines * (fB + fBT);
  /* the first sum of the three is no addition */
  if (k->diffusion) f += dim * (nq / Q) * (HopsHostEvenOddFlops(Q, Q, -1) * 2 + Q) - nq;
  return f;
}

/* L-vector indices by batch; lanes beyond the last cell of a class repeat that cell */
static void FillIndices(HopsPAKernel k)
{
  const int W = k->W, nn = (int)HopsHostPower(k->P, k->dim);

  HOPS_EACH_PIECE
  for (int t = 0; t < k->pieces.T; t++)
    for (PetscInt b = HopsHostPiece(k->nb, 1, t, k->pieces.T); b < HopsHostPiece(k->nb, 1, t + 1, k->pieces.T); b++) {
      const PetscInt first = b < k->nbi ? b * W : k->ninterior + (b - k->nbi) * W,
                     last  = (b < k->nbi ? k->ninterior : k->ncells) - 1;

      for (int l = 0; l < W; l++) {
        const int *r = k->restr + (size_t)PetscMin(first + l, last) * nn;

        for (int i = 0; i < nn; i++) k->idx[((size_t)b * nn + i) * W + l] = r[i];
      }
    }
}

/* Products of the 1D basis with itself, after J of either half or none, for the diagonal */
static PetscErrorCode FillSquares(HopsPAKernel k, const HopsBasis *basis)
{
  const int P = k->P, Q = k->Q;
  double   *s;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(9 * P * Q, &k->square));
  s = k->square;
  for (int half = 0; half < 3; half++)
    for (int i = 0; i < P; i++)
      for (int q = 0; q < Q; q++) {
        double b = 0, d = 0;

        for (int v = 0; v < P; v++) {
          const double j = half == 2 ? v == i : (half ? k->hang.J[0][(P - 1 - v) * P + P - 1 - i] : k->hang.J[0][v * P + i]);

          b += j * basis->B[q * P + v];
          d += j * basis->D[q * P + v];
        }
        s[((3 * half + 0) * P + i) * Q + q] = b * b;
        s[((3 * half + 1) * P + i) * Q + q] = b * d;
        s[((3 * half + 2) * P + i) * Q + q] = d * d;
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostHangCreate(HopsSpace sp, PetscInt n, PetscInt ni, const unsigned short masks[], int W, HopsHostHang *h)
{
  const PetscInt nbi = (ni + W - 1) / W, nb = nbi + (n - ni + W - 1) / W;
  HopsHanging    m;

  PetscFunctionBegin;
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &m));
  *h = (HopsHostHang){.dim = m.dim, .P = m.P, .nc = m.nc, .ne = m.ne};
  for (int c = 0; c < m.nc; c++) {
    h->off[c] = m.off[c];
    h->box[c] = m.box[c];
  }
  for (int o = 0; o < 2; o++) {
    const int p = m.P - o;

    PetscCall(PetscMalloc1(2 * p * p, &h->J[o]));
    for (int i = 0; i < p * p; i++) {
      h->J[o][i]                         = m.J[o][i];
      h->J[o][p * p + i % p * p + i / p] = m.J[o][i];
    }
  }
  PetscCall(HopsHangingDestroy(&m));
  PetscCall(PetscMalloc2(nb * W, &h->mask, nb, &h->some));
  for (PetscInt b = 0; b < nb; b++) { /* lanes as in FillIndices() */
    const PetscInt first = b < nbi ? b * W : ni + (b - nbi) * W, last = (b < nbi ? ni : n) - 1;

    for (int l = 0; l < W; l++) h->mask[b * W + l] = masks[PetscMin(first + l, last)];
    h->some[b] = HopsHostHangSome(W, h->mask + b * W);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostHangDestroy(HopsHostHang *h)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(h->mask, h->some));
  for (int o = 0; o < 2; o++) PetscCall(PetscFree(h->J[o]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel as piece t has it */
static struct _HopsPAKernel PieceKernel(const struct _HopsPAKernel *k, int t, HopsPart part)
{
  struct _HopsPAKernel mine = *k;

  mine.e += t * k->pieces.scratch;
  mine.u += t * k->pieces.scratch;
  mine.f += t * k->pieces.scratch;
  mine.g += t * k->pieces.scratch;
  if (mine.hung) mine.hung += t * k->pieces.scratch;
  mine.map.work += t * k->map.nwork;
  mine.pieces.meets = k->pieces.part[part];
  return mine;
}

static void SetUpPieces(HopsPAKernel k, HopsHostRun *run)
{
  const int T = k->pieces.T;

  if (T == 1) {
    k->ops->setup(k, run);
    return;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    struct _HopsPAKernel mine = PieceKernel(k, t, HOPS_PART_SHARED);
    HopsHostRun          piece;
    HopsValues           values[2];

    HopsHostRunPiece(run, run->first < k->ninterior ? 0 : k->ninterior, k->W, t, T, &piece, values);
    if (piece.n) mine.ops->setup(&mine, &piece);
    HopsHostRunBad(&piece, run);
  }
}

/* Batches of a part: the operator or its diagonal; x is NULL on a rank that owns no unknowns, too */
static void RunPart(HopsPAKernel k, PetscBool diagonal, HopsPart part, const double x[], const double xg[], double y[], double yg[])
{
  const PetscInt end[] = {0, k->nbi / 2, k->nbi, k->nb}, b0 = end[part], n = end[part + 1] - b0;
  const int      T = k->pieces.T;

  if (T == 1) {
    if (!diagonal) k->ops->apply(k, b0, b0 + n, x, xg, y, yg);
    else k->ops->diagonal(k, b0, b0 + n, y, yg);
    return;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    const struct _HopsPAKernel mine = PieceKernel(k, t, part);
    const PetscInt             c0 = b0 + HopsHostPiece(n, 1, t, T), c1 = b0 + HopsHostPiece(n, 1, t + 1, T);

    if (!diagonal) k->ops->apply(&mine, c0, c1, x, xg, y, yg);
    else k->ops->diagonal(&mine, c0, c1, y, yg);
  }
  HopsHostMeetingAdd(k->pieces.part[part], k->nT, y, yg);
}

static PetscErrorCode HopsPASetUp_Host(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                                       PetscInt *bad, PetscReal *det)
{
  HopsPAKernel     k    = (HopsPAKernel)A;
  const HopsValues none = {.nc = 0};
  HopsHostRun      run  = {first, n, k->diffusion ? kappa : &none, k->mass ? mass : &none, -1, 0};

  PetscFunctionBegin;
  PetscAssert(first + n <= k->ninterior || first >= k->ninterior, PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "A run of cells mixes interior and shared cells");
  PetscAssert(!k->diffusion || kappa->nc, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Diffusion coefficient absent");
  PetscAssert(!k->mass || mass->nc, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mass coefficient absent");
  if (n > 0) SetUpPieces(k, &run);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPAApply_Host(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsPAKernel   k       = (HopsPAKernel)A;
  const PetscInt cells[] = {0, PetscMin(k->nbi / 2 * k->W, k->ninterior), k->ninterior, k->ncells};

  PetscFunctionBegin;
  RunPart(k, PETSC_FALSE, part, (const double *)x, (const double *)xg, (double *)y, (double *)yg);
  if (k->ncells) PetscCall(PetscLogFlops(k->head.info.flops / k->ncells * (cells[part + 1] - cells[part])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPADiagonal_Host(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  HopsPAKernel k = (HopsPAKernel)A;

  PetscFunctionBegin;
  for (int part = 0; part < 3; part++) RunPart(k, PETSC_TRUE, (HopsPart)part, NULL, NULL, d, dg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPADestroy_Host(HopsOperator *kernel)
{
  HopsPAKernel k = (HopsPAKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostPiecesDestroy(&k->pieces));
  for (int i = 0; i < 4; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree(k->matmem));
  PetscCall(PetscFree(k->weights));
  PetscCall(HopsHostHangDestroy(&k->hang));
  PetscCall(PetscFree(k->square));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsPAHost = {.SetUp        = HopsPASetUp_Host,
                                           .Apply        = HopsPAApply_Host,
                                           .Diagonal     = HopsPADiagonal_Host,
                                           .CreateSingle = HopsSinglePACreate_Host,
                                           .Destroy      = HopsPADestroy_Host};

static PetscErrorCode HopsPACreate_Host(HopsSpace space, const HopsBasis *basis, PetscBool diffusion, PetscBool mass,
                                        HopsOperator *A)
{
  HopsPAKernel k;
  PetscInt     end[4] = {0};
  size_t       nn, nq, nm, nwork;
  double      *p;

  PetscFunctionBegin;
  PetscCheck(basis->P <= HOPS_HOST_MAXLINE && basis->Q <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes at most %d nodes and points per direction, not P_1d = %" PetscInt_FMT
             ", Q_1d = %" PetscInt_FMT ": lower the order, or set -mat_pa_q_1d",
             HOPS_HOST_MAXLINE, basis->P, basis->Q);
  PetscCheck(space->dim == 2 || space->dim == 3, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes dimensions 2 and 3, not %" PetscInt_FMT, space->dim);
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(space, &k->ops));
  k->W          = k->ops->W;
  k->dim        = (int)space->dim;
  k->P          = (int)basis->P;
  k->Q          = (int)basis->Q;
  k->diffusion  = diffusion;
  k->mass       = mass;
  k->collocated = basis->collocated;
  k->ncomp      = (diffusion ? k->dim * (k->dim + 1) / 2 : 0) + (mass ? 1 : 0);
  k->restr      = space->restr;
  k->nT         = (int)space->nT;
  k->ncells     = space->ncells;
  k->ninterior  = space->ninterior;
  k->nbi        = (k->ninterior + k->W - 1) / k->W;
  k->nb         = k->nbi + (k->ncells - k->ninterior + k->W - 1) / k->W;
  end[1]        = k->nbi / 2;
  end[2]        = k->nbi;
  end[3]        = k->nb;
  nn            = HopsHostPower(k->P, k->dim);
  nq            = HopsHostPower(k->Q, k->dim);
  nm            = HopsHostPower(PetscMax(k->P, k->Q), k->dim) + PetscMax(k->P, k->Q); /* planes are padded, see Cell3 */
  /* e, u, f; g also holds all the derivatives where Q < P */
  nwork             = (3 + k->dim + 2) * nm + (space->hanging ? 2 * nn : 0);
  k->pieces.T       = HopsHostThreads();
  k->pieces.scratch = HopsHostAligned(nwork * k->W);
  PetscCall(HopsHostPackMatrices(basis, &k->mat, &k->matmem));
  PetscCall(PetscMalloc1(k->Q, &k->weights));
  PetscCall(PetscArraycpy(k->weights, basis->weights, k->Q));
  PetscCall(HopsHostAlloc((k->nb * nn * k->W + 1) / 2, PETSC_FALSE, &k->mem[0], &p));
  k->idx = (int *)p;
  PetscCall(HopsHostAlloc(k->nb * nq * k->ncomp * k->W, PETSC_FALSE, &k->mem[1], &k->qdata));
  HopsHostZeroLanes(k->nbi, k->nb, nq * k->ncomp * k->W, k->qdata);
  PetscCall(HopsHostAlloc(k->pieces.scratch * k->pieces.T, PETSC_TRUE, &k->mem[2], &k->e));
  k->u = k->e + nm * k->W;
  k->f = k->u + nm * k->W;
  k->g = k->f + nm * k->W;
  if (space->hanging) {
    k->hung = k->e + (nwork - 2 * nn) * k->W;
    PetscCall(HopsHostHangCreate(space, space->ncells, space->ninterior, space->hang, k->W, &k->hang));
    PetscCall(FillSquares(k, basis));
  }
  FillIndices(k);
  PetscCall(HopsHostPiecesCreate(space, end, (int)nn * k->W, k->idx, &k->pieces));
  PetscCall(HopsHostGeometrySetUp(space, basis, k->W, &k->geom, &k->map, &k->mem[3]));
  k->head.info.specialised = k->ops->find(k);
  k->head.info.bytes =
    (PetscLogDouble)k->nb * k->W * (nn * sizeof(int) + nq * k->ncomp * sizeof(double)) + nwork * k->W * sizeof(double);
  k->head.info.flops = CellFlops(k) * (PetscLogDouble)k->ncells;
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %sP=%d Q=%d", k->ops->isa,
                          k->head.info.specialised ? "" : "generic ", k->P, k->Q));
  PetscCall(HopsHostNameThreads(sizeof(k->head.info.name), k->head.info.name));
  k->head.ops = &HopsPAHost;
  *A          = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPAGetRaw_Host(HopsPAKernel k, HopsHostRaw *raw)
{
  const double *m[9] = {k->mat.B, k->mat.BT, k->mat.C, k->mat.CT, k->mat.D, k->mat.DT, k->mat.BB, k->mat.DD, k->mat.BD};
  const int     n    = PetscMax(k->P, k->Q);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(raw, sizeof(*raw)));
  raw->isa        = k->ops->isa;
  raw->dim        = k->dim;
  raw->P          = k->P;
  raw->Q          = k->Q;
  raw->W          = k->W;
  raw->ncomp      = k->ncomp;
  raw->nT         = k->nT;
  raw->diffusion  = k->diffusion;
  raw->mass       = k->mass;
  raw->collocated = k->collocated;
  raw->n          = k->ncells;
  raw->ninterior  = k->ninterior;
  raw->restr      = k->restr;
  raw->qdata      = k->qdata;
  raw->matmem     = k->matmem;
  raw->nmat       = 9 * (n * (n + 1) / 2);
  raw->flops[0]   = k->head.info.flops;
  raw->hang       = k->hang.mask;
  raw->J          = k->hang.J[0];
  for (int i = 0; i < 9; i++) raw->offset[i] = m[i] ? (PetscInt)(m[i] - k->matmem) : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsOperatorCreate_Host(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  HopsSpace       space      = form->space;
  const PetscBool derivative = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE,
                  field      = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (space->family == HOPS_H1) PetscCall(HopsPACreate_Host(space, basis, derivative, field, A));
  else PetscCall(HopsDerhamCreate_Host(space, basis, derivative, field, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
