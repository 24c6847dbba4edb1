/* Host back end: data of forms on H(curl), H(div) and L2 */
#include <backend/host/runtime/hostimpl.h>

static const HopsValues none = {.nc = 0};

static PetscErrorCode PackMatrices(HopsDerhamKernel k, const HopsBasis *b)
{
  const int        P = k->P, Q = k->Q, n = PetscMax(P, Q) * (PetscMax(P, Q) + 1) / 2;
  const PetscReal *f[4] = {b->B, b->E, b->D, b->B}, *g[4] = {b->B, b->E, b->D, b->D};
  double          *p, *w;

  PetscFunctionBegin;
  for (int i = 0; i < Q; i++)
    PetscCheck(PetscAbsReal(b->points[i] + b->points[Q - 1 - i]) < 1e-12, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The host back end needs quadrature points symmetric about the cell's centre: use Gauss or Gauss-Lobatto points");
  PetscCall(PetscMalloc2(8 * n, &k->matmem, Q, &k->weights));
  PetscCall(PetscArraycpy(k->weights, b->weights, Q));
  p = k->matmem;
  HopsHostEvenOddPack(Q, P, b->B, P, 1, &p, &k->M[0]);
  HopsHostEvenOddPack(Q, P - 1, b->E, P - 1, 1, &p, &k->M[1]);
  HopsHostEvenOddPack(P, Q, b->B, 1, P, &p, &k->M[2]);
  HopsHostEvenOddPack(P - 1, Q, b->E, 1, P - 1, &p, &k->M[3]);
  PetscCall(PetscMalloc1(P * Q, &w));
  for (int t = 0; t < 4; t++) {
    const int m = t == 1 ? P - 1 : P;

    for (int i = 0; i < m * Q; i++) w[i] = f[t][i] * g[t][i];
    HopsHostEvenOddPack(m, Q, w, 1, m, &p, &k->S[t]);
  }
  PetscCall(PetscFree(w));
  PetscAssert(p <= k->matmem + 8 * n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Packed matrices overflow");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* contractions there and back, products at the points */
static double TermFlops(const HopsDerhamKernel k, const HopsLayout *l, int nc)
{
  const int    Q  = k->Q;
  const double nq = (double)HopsPower(Q, k->dim);
  double       f  = nq * (nc == 1 ? 1 : (nc == 3 ? 6 : 15));

  for (int c = 0; c < (int)l->nc; c++) {
    double lines = (double)(l->n[c][1] * l->n[c][2]);

    for (int d = 0; d < k->dim; d++) {
      const int n = (int)l->n[c][d];

      f += lines * (HopsHostEvenOddFlops(Q, n, 1) + HopsHostEvenOddFlops(n, Q, 1));
      if (d + 1 < k->dim) lines = lines / (double)l->n[c][d + 1] * Q;
    }
  }
  return f;
}

/* The kernel as piece t has it */
static struct _HopsDerhamKernel PieceKernel(const struct _HopsDerhamKernel *k, int t, HopsPart part)
{
  struct _HopsDerhamKernel mine = *k;

  mine.e += t * k->pieces.scratch;
  mine.w += t * k->pieces.scratch;
  mine.v += t * k->pieces.scratch;
  mine.f += t * k->pieces.scratch;
  mine.g += t * k->pieces.scratch;
  if (mine.hung) mine.hung += t * k->pieces.scratch;
  mine.map.work += t * k->map.nwork;
  mine.pieces.meets = k->pieces.part[part];
  return mine;
}

static void SetUpPieces(HopsDerhamKernel k, HopsHostRun *run)
{
  const int T = k->pieces.T;

  if (T == 1) {
    k->ops->formsetup(k, run);
    return;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    struct _HopsDerhamKernel mine = PieceKernel(k, t, HOPS_PART_SHARED);
    HopsHostRun              piece;
    HopsValues               values[2];

    HopsHostRunPiece(run, run->first < k->ninterior ? 0 : k->ninterior, k->W, t, T, &piece, values);
    if (piece.n) mine.ops->formsetup(&mine, &piece);
    HopsHostRunBad(&piece, run);
  }
}

/* Batches of a part: the operator or its diagonal; x is NULL on a rank that owns no unknowns, too */
static void RunPart(HopsDerhamKernel k, PetscBool diagonal, HopsPart part, const double x[], const double xg[], double y[],
                    double yg[])
{
  const PetscInt end[] = {0, k->nbi / 2, k->nbi, k->nb}, b0 = end[part], n = end[part + 1] - b0;
  const int      T = k->pieces.T;

  if (T == 1) {
    if (!diagonal) k->ops->formapply(k, b0, b0 + n, x, xg, y, yg);
    else k->ops->formdiagonal(k, b0, b0 + n, y, yg);
    return;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    const struct _HopsDerhamKernel mine = PieceKernel(k, t, part);
    const PetscInt                 c0 = b0 + HopsHostPiece(n, 1, t, T), c1 = b0 + HopsHostPiece(n, 1, t + 1, T);

    if (!diagonal) k->ops->formapply(&mine, c0, c1, x, xg, y, yg);
    else k->ops->formdiagonal(&mine, c0, c1, y, yg);
  }
  HopsHostMeetingAdd(k->pieces.part[part], k->nT, y, yg);
}

static PetscErrorCode HopsDerhamSetUp_Host(HopsOperator A, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                                           PetscInt *bad, PetscReal *det)
{
  HopsDerhamKernel k   = (HopsDerhamKernel)A;
  HopsHostRun      run = {first, n, k->nd ? mu : &none, k->nm ? beta : &none, -1, 0};

  PetscFunctionBegin;
  PetscAssert(first + n <= k->ninterior || first >= k->ninterior, PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "A run of cells mixes interior and shared cells");
  if (n > 0) SetUpPieces(k, &run);
  *bad = run.bad;
  *det = run.det;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamApply_Host(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsDerhamKernel k       = (HopsDerhamKernel)A;
  const PetscInt   cells[] = {0, PetscMin(k->nbi / 2 * k->W, k->ninterior), k->ninterior, k->ncells};

  PetscFunctionBegin;
  RunPart(k, PETSC_FALSE, part, (const double *)x, (const double *)xg, (double *)y, (double *)yg);
  if (k->ncells) PetscCall(PetscLogFlops(k->head.info.flops / k->ncells * (cells[part + 1] - cells[part])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDiagonal_Host(HopsOperator A, PetscReal d[], PetscReal dg[])
{
  HopsDerhamKernel k = (HopsDerhamKernel)A;

  PetscFunctionBegin;
  for (int part = 0; part < 3; part++) RunPart(k, PETSC_TRUE, (HopsPart)part, NULL, NULL, d, dg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDerhamDestroy_Host(HopsOperator *kernel)
{
  HopsDerhamKernel k = (HopsDerhamKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostPiecesDestroy(&k->pieces));
  for (int i = 0; i < 4; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree2(k->matmem, k->weights));
  PetscCall(HopsHostHangDestroy(&k->hang));
  PetscCall(HopsBasisDestroy(&k->geom));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsDerhamHost = {.SetUp    = HopsDerhamSetUp_Host,
                                               .Apply    = HopsDerhamApply_Host,
                                               .Diagonal = HopsDerhamDiagonal_Host,
                                               .Destroy  = HopsDerhamDestroy_Host};

PetscErrorCode HopsDerhamCreate_Host(HopsSpace space, const HopsBasis *basis, PetscBool deriv, PetscBool mass, HopsOperator *A)
{
  HopsDerhamKernel k;
  PetscInt         end[4] = {0};
  size_t           nq, nm;
  double          *p;

  PetscFunctionBegin;
  PetscCheck(basis->P <= HOPS_HOST_MAXLINE && basis->Q <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes at most %d nodes and points per direction, not P_1d = %" PetscInt_FMT
             ", Q_1d = %" PetscInt_FMT ": lower the order, or set -mat_pa_q_1d",
             HOPS_HOST_MAXLINE, basis->P, basis->Q);
  PetscCheck(!deriv || space->family != HOPS_L2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "L2 has no derivative");
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(space, &k->ops));
  k->W         = k->ops->W;
  k->dim       = (int)space->dim;
  k->P         = (int)basis->P;
  k->Q         = (int)basis->Q;
  k->family    = space->family;
  k->dfamily   = HopsFamilyDerivative(space->family, space->dim);
  k->nd        = deriv ? HopsFamilyTensorSize(k->dfamily, k->dim) : 0;
  k->nm        = mass ? HopsFamilyTensorSize(k->family, k->dim) : 0;
  k->nT        = (int)space->nT;
  k->ncells    = space->ncells;
  k->ninterior = space->ninterior;
  k->nbi       = (k->ninterior + k->W - 1) / k->W;
  k->nb        = k->nbi + (k->ncells - k->ninterior + k->W - 1) / k->W;
  end[1]       = k->nbi / 2;
  end[2]       = k->nbi;
  end[3]       = k->nb;
  HopsLayoutCreate(k->family, k->dim, space->order, &k->layout);
  HopsLayoutCreate(k->dfamily, k->dim, space->order, &k->dlayout);
  nq = HopsPower(k->Q, k->dim);
  nm = HopsPower(PetscMax(k->P, k->Q), k->dim);
  PetscCall(PackMatrices(k, basis));
  PetscCall(HopsHostAlloc((k->nb * k->layout.ne * k->W + 1) / 2, PETSC_FALSE, &k->mem[0], &p));
  k->idx = (int *)p;
  PetscCall(HopsHostAlloc(k->nb * nq * (k->nd + k->nm) * k->W, PETSC_FALSE, &k->mem[1], &k->qdata));
  HopsHostZeroLanes(k->nbi, k->nb, nq * (k->nd + k->nm) * k->W, k->qdata);
  k->pieces.T       = HopsHostThreads();
  k->pieces.scratch = HopsHostAligned((k->layout.ne * (space->hanging ? 3 : 1) + k->dlayout.ne + 3 * nq + 2 * nm) * k->W);
  PetscCall(HopsHostAlloc(k->pieces.scratch * k->pieces.T, PETSC_TRUE, &k->mem[2], &k->e));
  k->w = k->e + k->layout.ne * k->W;
  k->v = k->w + k->dlayout.ne * k->W;
  k->f = k->v + 3 * nq * k->W;
  k->g = k->f + nm * k->W;
  if (space->hanging && k->family != HOPS_L2) {
    k->hung = k->g + nm * k->W;
    PetscCall(HopsHostHangCreate(space, space->ncells, space->ninterior, space->hang, k->W, &k->hang));
  }
  for (PetscInt b = 0; b < k->nb; b++) {
    const PetscInt first = b < k->nbi ? b * k->W : k->ninterior + (b - k->nbi) * k->W,
                   last  = (b < k->nbi ? k->ninterior : k->ncells) - 1;

    for (int l = 0; l < k->W; l++) /* lanes beyond the last cell of a class repeat it, with zero data */
      for (PetscInt i = 0; i < k->layout.ne; i++)
        k->idx[((size_t)b * k->layout.ne + i) * k->W + l] = space->restr[PetscMin(first + l, last) * k->layout.ne + i];
  }
  PetscCall(HopsHostPiecesCreate(space, end, (int)k->layout.ne * k->W, k->idx, &k->pieces));
  PetscCall(HopsHostGeometrySetUp(space, basis, k->W, &k->geom, &k->map, &k->mem[3]));
  k->head.info.specialised = k->ops->formfind(k) ? PETSC_TRUE : PETSC_FALSE;
  k->head.info.bytes       = (PetscLogDouble)k->nb * k->W * (k->layout.ne * sizeof(int) + nq * (k->nd + k->nm) * sizeof(double));
  k->head.info.flops       = (PetscLogDouble)k->layout.ne;
  if (k->nm) k->head.info.flops += TermFlops(k, &k->layout, k->nm);
  if (k->nd)
    k->head.info.flops += TermFlops(k, &k->dlayout, k->nd) + 2.0 * k->dlayout.ne * (k->family == HOPS_HCURL ? 4 : 2 * k->dim);
  k->head.info.flops *= (PetscLogDouble)k->ncells;
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %sP=%d Q=%d, %s", k->ops->isa,
                          k->head.info.specialised ? "" : "generic ", k->P, k->Q, HopsFamilies[k->family]));
  PetscCall(HopsHostNameThreads(sizeof(k->head.info.name), k->head.info.name));
  k->head.ops = &HopsDerhamHost;
  *A          = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
