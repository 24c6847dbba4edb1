/*
  The operator with full tensors, by sum factorisation: at each quadrature point the values u_c and reference gradients d_a u_c of
  all components meet the tensors q0, q1, q2, q3, which hold weight, determinant and inverse Jacobians:

    v_c = q0_cc' u_c' + q1_cc'a d_a u_c'      (times the value of the test function)
    w_ca = q2_cc'a u_c' + q3_cc'ab d_b u_c'   (times its gradient)
*/
#include <hops/private/hopspatensor.h>

PetscErrorCode HopsPATensorCreate(HopsNodes nodes, HopsTensorForm form, HopsPATensor *out)
{
  HopsPATensor   t;
  const PetscInt nc = nodes->nc;
  HopsSpace      sp = nodes->space;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  ++nodes->refct;
  ++form->refct;
  t->nodes = nodes;
  t->form  = form;
  PetscCall(PetscCalloc3(sp->nL * nc, &t->xl, sp->nL * nc, &t->yl, sp->nshared * nc, &t->hbuf));
  t->unit = MPIU_SCALAR;
  if (nc > 1) { /* PetscSF sums no type of one scalar but the scalar itself */
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_SCALAR, &t->unit));
    PetscCallMPI(MPI_Type_commit(&t->unit));
  }
  *out = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorDestroy(HopsPATensor *out)
{
  HopsPATensor t = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(t->q[k]));
  PetscCall(HopsPATensorDestroyDevice(t));
  PetscCall(PetscFree2(t->Bt, t->Dt));
  PetscCall(PetscFree3(t->xl, t->yl, t->hbuf));
  if (t->nodes->nc > 1) PetscCallMPI(MPI_Type_free(&t->unit));
  PetscCall(HopsNodesDestroy(&t->nodes));
  PetscCall(HopsTensorFormDestroy(&t->form));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------- quadrature data ------------------------------------------------------------- */

static PetscErrorCode HopsPATensorSetUpPoint(HopsPATensor t, PetscInt dim, PetscInt nq, PetscInt cell, PetscInt q, PetscReal w, const PetscReal Ji[], const PetscScalar *const g[4])
{
  const PetscInt nc2 = t->form->nc * t->form->nc;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nc2; ++k) {
    if (g[0]) t->q[0][(size_t)(cell * nc2 + k) * nq + q] = w * g[0][k];
    for (PetscInt m = 1; m < 3; ++m)
      for (PetscInt a = 0; g[m] && a < dim; ++a) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d) s += Ji[a * dim + d] * g[m][k * dim + d];
        t->q[m][(size_t)((cell * nc2 + k) * dim + a) * nq + q] = w * s;
      }
    for (PetscInt a = 0; g[3] && a < dim; ++a)
      for (PetscInt b = 0; b < dim; ++b) {
        PetscScalar s = 0.0;

        for (PetscInt d = 0; d < dim; ++d)
          for (PetscInt e = 0; e < dim; ++e) s += Ji[a * dim + d] * g[3][(k * dim + d) * dim + e] * Ji[b * dim + e];
        t->q[3][(size_t)(((cell * nc2 + k) * dim + a) * dim + b) * nq + q] = w * s;
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorSetUp(HopsPATensor t, const HopsBasis *basis)
{
  HopsSpace      sp  = t->nodes->space;
  const PetscInt dim = sp->dim, Q = basis->Q, P = basis->P, nq = PetscPowInt(Q, dim), np = PetscPowInt(P, dim), nc = t->form->nc, nc2 = nc * nc, chunk = 4;
  const PetscInt size[4] = {nc2, nc2 * dim, nc2 * dim, nc2 * dim * dim};
  HopsBasis      geom;
  PetscReal     *x, *J;
  PetscScalar   *g[4];

  PetscFunctionBegin;
  t->basis = basis;
  PetscCall(PetscFree2(t->Bt, t->Dt));
  PetscCall(PetscMalloc2(P * Q, &t->Bt, P * Q, &t->Dt));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) {
      t->Bt[i * Q + q] = basis->B[q * P + i];
      t->Dt[i * Q + q] = basis->D[q * P + i];
    }
  t->flops = 0.0;
  for (PetscInt k = 0; k < 4; ++k) {
    g[k] = NULL;
    PetscCall(PetscFree(t->q[k]));
    if (!t->form->has[k]) continue;
    PetscCall(PetscMalloc1(chunk * nq * size[k], &g[k]));
    PetscCall(PetscMalloc1((size_t)sp->ncells * nq * size[k], &t->q[k]));
    t->flops += 2.0 * sp->ncells * nq * size[k];
  }
  {
    PetscLogDouble sweep = 0.0; /* one tensor contraction */

    for (PetscInt d = 0; d < dim; ++d) sweep += 2.0 * PetscPowInt(Q, d + 1) * PetscPowInt(P, dim - d);
    t->flops += 2.0 * sp->ncells * nc * (dim + 1) * sweep;
  }
  PetscCall(PetscMalloc2(chunk * nq * dim, &x, chunk * nq * dim * dim, &J));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; c += chunk) {
    const PetscInt n = PetscMin(chunk, sp->ncells - c);

    PetscCall(HopsSpaceGetPoints(sp, &geom, c, n, x, J));
    PetscCall(HopsTensorFormEvaluate(t->form, sp, c, n, basis, x, J, g));
    for (PetscInt e = 0; e < n; ++e)
      for (PetscInt q = 0; q < nq; ++q) {
        const PetscScalar *p[4];
        PetscReal          Ji[9], det, w = 1.0;

        det = HopsInverse(dim, J + (e * nq + q) * dim * dim, Ji);
        if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(sp, c + e, det));
        for (PetscInt d = 0, k = q; d < dim; ++d, k /= Q) w *= basis->weights[k % Q];
        for (PetscInt k = 0; k < 4; ++k) p[k] = g[k] ? g[k] + (e * nq + q) * size[k] : NULL;
        PetscCall(HopsPATensorSetUpPoint(t, dim, nq, c + e, q, w * det, Ji, p));
      }
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree2(x, J));
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  if (!sp->backend->host) PetscCall(HopsPATensorSetUpDevice(t));
  PetscCall(PetscInfo(sp, "full tensors: %g bytes of quadrature data, %" PetscInt_FMT " nodes a cell\n", (double)(sizeof(PetscScalar) * sp->ncells * nq) * ((g[0] ? size[0] : 0) + size[3]), np));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------------------------------- action ----------------------------------------------------------------- */

/* e[nc][np] -> f[nc][np]; work as HopsPATensorWork() says */
static size_t HopsPATensorWork(HopsPATensor t)
{
  const PetscInt dim = t->nodes->space->dim;

  return (size_t)PetscPowInt(PetscMax(t->basis->P, t->basis->Q), dim) * (2 * t->form->nc * (dim + 1) + 3);
}

static PetscErrorCode HopsPATensorCell(HopsPATensor t, PetscInt cell, PetscBool transpose, const PetscReal e[], PetscReal f[], PetscReal work[])
{
  const PetscInt   dim = t->nodes->space->dim, P = t->basis->P, Q = t->basis->Q, nc = t->form->nc, nc2 = nc * nc;
  const PetscInt   np = PetscPowInt(P, dim), nq = PetscPowInt(Q, dim), nm = PetscPowInt(PetscMax(P, Q), dim);
  PetscReal       *u = work, *v = u + nc * (dim + 1) * nm, *scratch = v + nc * (dim + 1) * nm, *sum = scratch + 2 * nm; /* [c][value, d_0, d_1, ...][q] */
  const PetscReal *M[3];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt k = 0; k <= dim; ++k) {
      for (PetscInt d = 0; d < dim; ++d) M[d] = d == k - 1 ? t->basis->D : t->basis->B;
      PetscCall(HopsTensorApply(dim, Q, P, M, e + c * np, u + (c * (dim + 1) + k) * nm, scratch));
      PetscCall(PetscArrayzero(v + (c * (dim + 1) + k) * nm, nq));
    }
  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt g = 0; g < nc; ++g) {
      const PetscInt   k  = transpose ? g * nc + c : c * nc + g;
      const PetscReal *ug = u + g * (dim + 1) * nm;
      PetscReal       *vc = v + c * (dim + 1) * nm;
      /* transposed, q1 and q2 change places and the directions of q3 do */
      const PetscScalar *q1 = transpose ? t->q[2] : t->q[1], *q2 = transpose ? t->q[1] : t->q[2];

      if (t->q[0]) {
        const PetscScalar *r = t->q[0] + (size_t)(cell * nc2 + k) * nq;

        for (PetscInt i = 0; i < nq; ++i) vc[i] += r[i] * ug[i];
      }
      for (PetscInt a = 0; a < dim; ++a) {
        const PetscReal *ua = ug + (a + 1) * nm;
        PetscReal       *va = vc + (a + 1) * nm;

        if (q1) {
          const PetscScalar *r = q1 + (size_t)((cell * nc2 + k) * dim + a) * nq;

          for (PetscInt i = 0; i < nq; ++i) vc[i] += r[i] * ua[i];
        }
        if (q2) {
          const PetscScalar *r = q2 + (size_t)((cell * nc2 + k) * dim + a) * nq;

          for (PetscInt i = 0; i < nq; ++i) va[i] += r[i] * ug[i];
        }
        for (PetscInt b = 0; t->q[3] && b < dim; ++b) {
          const PetscReal   *ub = ug + (b + 1) * nm;
          const PetscScalar *r  = t->q[3] + (size_t)(((cell * nc2 + k) * dim + (transpose ? b : a)) * dim + (transpose ? a : b)) * nq;

          for (PetscInt i = 0; i < nq; ++i) va[i] += r[i] * ub[i];
        }
      }
    }
  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt k = 0; k <= dim; ++k) {
      for (PetscInt d = 0; d < dim; ++d) M[d] = d == k - 1 ? t->Dt : t->Bt;
      PetscCall(HopsTensorApply(dim, P, Q, M, v + (c * (dim + 1) + k) * nm, k ? sum : f + c * np, scratch));
      for (PetscInt i = 0; k && i < np; ++i) f[c * np + i] += sum[i];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPATensorCells(HopsPATensor t, PetscBool transpose, PetscInt begin, PetscInt end, PetscReal work[])
{
  const PetscInt nc = t->form->nc, np = PetscPowInt(t->basis->P, t->nodes->space->dim);
  PetscReal     *e = work, *f = e + nc * np, *rest = f + nc * np;

  PetscFunctionBegin;
  for (PetscInt c = begin; c < end; ++c) {
    const int *restr = t->nodes->space->restr + (size_t)c * np;

    for (PetscInt d = 0; d < nc; ++d)
      for (PetscInt i = 0; i < np; ++i) e[d * np + i] = PetscRealPart(t->xl[(size_t)restr[i] * nc + d]);
    PetscCall(HopsPATensorCell(t, c, transpose, e, f, rest));
    for (PetscInt d = 0; d < nc; ++d)
      for (PetscInt i = 0; i < np; ++i) t->yl[(size_t)restr[i] * nc + d] += f[d * np + i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums of ghosts go to their owners, then to the global vector */
static PetscErrorCode HopsPATensorFinish(HopsPATensor t, Vec y)
{
  HopsSpace      sp = t->nodes->space;
  const PetscInt nc = t->form->nc;
  PetscScalar   *ya;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceEnd(sp->halo, t->unit, t->yl + (size_t)sp->nT * nc, t->hbuf, MPIU_SUM));
  for (PetscInt i = 0; i < sp->nshared; ++i)
    for (PetscInt c = 0; c < nc; ++c) t->yl[(size_t)sp->shared[i] * nc + c] += t->hbuf[i * nc + c];
  PetscCall(VecGetArrayWrite(y, &ya));
  for (PetscInt i = 0; i < sp->nT * nc; ++i)
    if (t->nodes->map[i] >= 0) ya[t->nodes->map[i]] = t->yl[i];
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPATensorAddBegin(HopsPATensor t)
{
  HopsSpace sp = t->nodes->space;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(t->hbuf, sp->nshared * t->form->nc));
  PetscCall(PetscSFReduceBegin(sp->halo, t->unit, t->yl + (size_t)sp->nT * t->form->nc, t->hbuf, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorMult(HopsPATensor t, PetscBool transpose, Vec x, Vec y)
{
  HopsSpace          sp = t->nodes->space;
  const PetscInt     nc = t->form->nc, np = PetscPowInt(t->basis->P, sp->dim);
  const PetscScalar *xa;
  PetscReal         *work;

  PetscFunctionBegin;
  if (t->device) {
    PetscCall(HopsPATensorMultDevice(t, transpose, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(HopsPATensorWork(t) + 2 * nc * np, &work));
  PetscCall(VecGetArrayRead(x, &xa));
  for (PetscInt i = 0; i < sp->nT * nc; ++i) t->xl[i] = t->nodes->map[i] < 0 ? 0.0 : xa[t->nodes->map[i]];
  PetscCall(VecRestoreArrayRead(x, &xa));
  for (PetscInt i = 0; i < sp->nshared; ++i)
    for (PetscInt c = 0; c < nc; ++c) t->hbuf[i * nc + c] = t->xl[(size_t)sp->shared[i] * nc + c];
  PetscCall(PetscSFBcastBegin(sp->halo, t->unit, t->hbuf, t->xl + (size_t)sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscArrayzero(t->yl, sp->nL * nc));
  PetscCall(HopsPATensorCells(t, transpose, 0, sp->ninterior / 2, work));
  PetscCall(PetscSFBcastEnd(sp->halo, t->unit, t->hbuf, t->xl + (size_t)sp->nT * nc, MPI_REPLACE));
  PetscCall(HopsPATensorCells(t, transpose, sp->ninterior, sp->ncells, work));
  PetscCall(HopsPATensorAddBegin(t));
  PetscCall(HopsPATensorCells(t, transpose, sp->ninterior / 2, sp->ninterior, work));
  PetscCall(HopsPATensorFinish(t, y));
  PetscCall(PetscFree(work));
  PetscCall(PetscLogFlops(t->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* diag: the tensors of a component with itself meet products of one-dimensional functions with themselves or with their derivatives */
PetscErrorCode HopsPATensorDiagonal(HopsPATensor t, Vec d)
{
  HopsSpace      sp  = t->nodes->space;
  const PetscInt dim = sp->dim, P = t->basis->P, Q = t->basis->Q, nc = t->form->nc, nc2 = nc * nc;
  const PetscInt np = PetscPowInt(P, dim), nq = PetscPowInt(Q, dim), nm = PetscPowInt(PetscMax(P, Q), dim);
  PetscReal     *BB, *BD, *DD, *f, *s, *scratch;

  PetscFunctionBegin;
  if (t->device) {
    PetscCall(HopsPATensorDiagonalDevice(t, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc6(P * Q, &BB, P * Q, &BD, P * Q, &DD, np, &f, nm, &s, 2 * nm, &scratch));
  for (PetscInt i = 0; i < P * Q; ++i) {
    BB[i] = t->Bt[i] * t->Bt[i];
    BD[i] = t->Bt[i] * t->Dt[i];
    DD[i] = t->Dt[i] * t->Dt[i];
  }
  PetscCall(PetscArrayzero(t->yl, sp->nL * nc));
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt g = 0; g < nc; ++g) {
      const PetscInt k = g * nc + g;

      for (PetscInt a = -1; a < dim; ++a)
        for (PetscInt b = -1; b < dim; ++b) { /* test derivative a, trial derivative b; -1: the value */
          const PetscInt     kind = a < 0 ? (b < 0 ? 0 : 1) : (b < 0 ? 2 : 3);
          const PetscInt     off  = kind == 0 ? 0 : (kind == 1 ? b : (kind == 2 ? a : a * dim + b));
          const PetscInt     len  = kind == 0 ? 1 : (kind == 3 ? dim * dim : dim);
          const PetscReal   *M[3];
          const PetscScalar *r;

          if (!t->q[kind]) continue;
          r = t->q[kind] + (size_t)((c * nc2 + k) * len + off) * nq;
          for (PetscInt i = 0; i < nq; ++i) s[i] = PetscRealPart(r[i]);
          for (PetscInt e = 0; e < dim; ++e) M[e] = e == a ? (e == b ? DD : BD) : (e == b ? BD : BB);
          PetscCall(HopsTensorApply(dim, P, Q, M, s, f, scratch));
          for (PetscInt i = 0; i < np; ++i) t->yl[(size_t)sp->restr[(size_t)c * np + i] * nc + g] += f[i];
        }
    }
  PetscCall(HopsPATensorAddBegin(t));
  PetscCall(HopsPATensorFinish(t, d));
  PetscCall(PetscFree6(BB, BD, DD, f, s, scratch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slow: element matrices column by column */
PetscErrorCode HopsPATensorAssemble(HopsPATensor t, Mat A, MatReuse reuse, Mat *newmat)
{
  HopsSpace      sp = t->nodes->space;
  const PetscInt nc = t->form->nc, np = PetscPowInt(t->basis->P, sp->dim), ne = nc * np;
  PetscInt       rstart, n, N, *gidx, *row;
  PetscReal     *work, *e, *f;
  PetscScalar   *E;
  Mat            B = NULL, pre;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc6(sp->nL * nc, &gidx, ne, &row, HopsPATensorWork(t), &work, ne, &e, ne, &f, ne * ne, &E));
  for (PetscInt i = 0; i < sp->nL * nc; ++i) gidx[i] = i < sp->nT * nc && t->nodes->map[i] >= 0 ? rstart + t->nodes->map[i] : -1;
  {
    MPI_Datatype unit;
    PetscInt    *buf;

    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_INT, &unit));
    PetscCallMPI(MPI_Type_commit(&unit));
    PetscCall(PetscMalloc1(sp->nshared * nc, &buf));
    for (PetscInt i = 0; i < sp->nshared; ++i)
      for (PetscInt c = 0; c < nc; ++c) buf[i * nc + c] = gidx[sp->shared[i] * nc + c];
    PetscCall(PetscSFBcastBegin(sp->halo, unit, buf, gidx + sp->nT * nc, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sp->halo, unit, buf, gidx + sp->nT * nc, MPI_REPLACE));
    PetscCall(PetscFree(buf));
    PetscCallMPI(MPI_Type_free(&unit));
  }
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &pre));
  PetscCall(MatSetSizes(pre, n, n, N, N));
  PetscCall(MatSetType(pre, MATPREALLOCATOR));
  PetscCall(MatSetUp(pre));
  for (PetscInt pass = B ? 1 : 0; pass < 2; ++pass) {
    Mat M = pass ? B : pre;

    PetscCall(PetscArrayzero(E, ne * ne));
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      for (PetscInt d = 0; d < nc; ++d)
        for (PetscInt i = 0; i < np; ++i) row[d * np + i] = gidx[(size_t)sp->restr[(size_t)c * np + i] * nc + d];
      for (PetscInt j = 0; pass && j < ne; ++j) {
        PetscCall(PetscArrayzero(e, ne));
        e[j] = 1.0;
        PetscCall(HopsPATensorCell(t, c, PETSC_FALSE, e, f, work));
        for (PetscInt i = 0; i < ne; ++i) E[i * ne + j] = f[i];
      }
      PetscCall(MatSetValues(M, ne, row, ne, row, E, ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    if (!pass) {
      PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
      PetscCall(MatSetSizes(B, n, n, N, N));
      PetscCall(MatSetType(B, MATAIJ));
      PetscCall(MatPreallocatorPreallocate(pre, PETSC_TRUE, B));
    }
  }
  PetscCall(MatDestroy(&pre));
  PetscCall(PetscFree6(gidx, row, work, e, f, E));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
