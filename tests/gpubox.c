static char help[] =
  "A uniform box on a device against MATPA, MATHOPSINTERP and dense local solves on the host: operator, transfers, direct\n\
  solver, V-cycle, and the solve.\n\
  -dim <d> -orders <p,...> -coarse <n0,n1,n2> : cells of the coarsest mesh\n\
  -refine <n>                                 : levels above it\n\
  -errors                                     : print the largest differences in either precision\n\
  -counts                                     : cycles of full multigrid in 3D instead\n\n";

#include <petscsys.h>

#if defined(PETSC_HAVE_CUDA)
  #include <hops.h>
  #include <mat/box/cuda/cudabox.h>
  #include "../bench/cuda/patchref.h"

static PetscReal kappas[3] = {1.0, 1.3, 0.8}, sides[3] = {1.0, 0.75, 1.25}, reaction = 2.5;

typedef struct {
  PetscInt  dim, order, ncells[3], n, nodes[3];
  HopsSpace space;
  Mat       A, P; /* P: from the next coarser level */
  PetscInt *at;   /* lexicographic node of an unknown of the space */
  Vec       u, v;
} Level;

static PetscReal errmax[2];

static PetscErrorCode Check(const char what[], PetscInt order, PetscBool single, PetscInt n, const PetscReal ref[],
                            const PetscReal x[], PetscReal tol)
{
  PetscReal num = 0.0, den = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    num += PetscSqr(ref[i] - x[i]);
    den += PetscSqr(ref[i]);
  }
  num = PetscSqrtReal(num / den);
  if (!(num <= errmax[single])) errmax[single] = num;
  if (!(num < tol))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision: %s differs by %.2e\n", order,
                          single ? "single" : "double", what, (double)num));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[*(PetscInt *)ctx];
  return PETSC_SUCCESS;
}

/* Where an unknown of the mesh lies among the nodes of the box */
static PetscErrorCode Number(Level *l, Mat box)
{
  const PetscScalar *x;
  PetscInt           stride = 1;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(l->space, &l->u));
  PetscCall(VecDuplicate(l->u, &l->v));
  PetscCall(VecGetLocalSize(l->u, &l->n));
  PetscCall(PetscCalloc1(l->n, &l->at));
  for (PetscInt a = 0; a < l->dim; ++a) {
    PetscReal *z;
    PetscInt   nz;

    PetscCall(MatHopsBoxGetNodes(box, a, &nz, &z));
    l->nodes[a] = nz;
    PetscCall(HopsSpaceInterpolate(l->space, Coordinate, &a, l->u));
    PetscCall(VecGetArrayRead(l->u, &x));
    for (PetscInt i = 0; i < l->n; ++i) {
      PetscInt k = 0;

      while (k < nz && PetscAbsReal(z[k] - x[i]) > 1e-9) ++k;
      PetscCheck(k > 0 && k < nz - 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No inner node at %g in direction %d", (double)x[i], (int)a);
      l->at[i] += k * stride;
    }
    PetscCall(VecRestoreArrayRead(l->u, &x));
    PetscCall(PetscFree(z));
    stride *= nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToMesh(const Level *l, const PetscReal x[], Vec u)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(u, &a));
  for (PetscInt i = 0; i < l->n; ++i) a[i] = x[l->at[i]];
  PetscCall(VecRestoreArrayWrite(u, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* zero on the boundary */
static PetscErrorCode FromMesh(const Level *l, Vec u, PetscReal x[])
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(x, l->nodes[0] * l->nodes[1] * l->nodes[2]));
  PetscCall(VecGetArrayRead(u, &a));
  for (PetscInt i = 0; i < l->n; ++i) x[l->at[i]] = a[i];
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevels(PetscInt dim, PetscInt order, const PetscInt coarse[], PetscInt n, Level l[])
{
  DM              dm;
  PetscInt        values[6] = {1, 2, 3, 4, 5, 6};
  PetscScalar     tensor[9] = {0.0};
  HopsCoefficient kappa, mass;

  PetscFunctionBeginUser;
  for (PetscInt a = 0; a < dim; ++a) tensor[a] = kappas[a];
  for (PetscInt k = 0; k < n; ++k) {
    DMLabel label;
    Mat     box;

    l[k].dim      = dim;
    l[k].order    = order;
    l[k].nodes[2] = 1;
    for (PetscInt a = 0; a < 3; ++a) l[k].ncells[a] = coarse[a] << k;
    if (!k) {
      Vec          coords;
      PetscScalar *x;
      PetscInt     n;

      PetscCall(HopsDMPlexCreateBox(PETSC_COMM_SELF, dim, PETSC_FALSE, coarse, &dm));
      PetscCall(DMGetCoordinatesLocal(dm, &coords));
      PetscCall(VecGetLocalSize(coords, &n));
      PetscCall(VecGetArray(coords, &x));
      for (PetscInt i = 0; i < n; ++i) x[i] *= sides[i % dim];
      PetscCall(VecRestoreArray(coords, &x));
    } else {
      DM fine;

      PetscCall(DMPlexSetRefinementUniform(dm, PETSC_TRUE));
      PetscCall(DMRefine(dm, PETSC_COMM_SELF, &fine));
      PetscCall(DMSetCoarseDM(fine, dm));
      PetscCall(DMDestroy(&dm));
      dm = fine;
    }
    PetscCall(DMSetVecType(dm, VECSTANDARD));
    PetscCall(DMGetLabel(dm, "Face Sets", &label));
    PetscCall(HopsSpaceCreateH1(dm, order, label, 6, values, &l[k].space));
    PetscCall(MatCreatePA(l[k].space, &l[k].A));
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, dim, tensor, &kappa));
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &reaction, &mass));
    PetscCall(MatPASetDiffusion(l[k].A, kappa));
    PetscCall(MatPASetMass(l[k].A, mass));
    PetscCall(HopsCoefficientDestroy(&kappa));
    PetscCall(HopsCoefficientDestroy(&mass));
    if (k) PetscCall(MatCreateHopsInterp(l[k - 1].space, l[k].space, &l[k].P));
    PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, dim, order, l[k].ncells, sides, kappas, reaction, &box));
    PetscCall(Number(&l[k], box));
    PetscCall(MatDestroy(&box));
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = one cycle for b, on the host, lexicographic */
static PetscErrorCode Reference(Level *l, PetscInt k, const HopsBoxForm *f, PetscInt top, PetscBool symmetric, const PetscReal b[],
                                PetscReal x[])
{
  const PetscInt n = l[k].nodes[0] * l[k].nodes[1] * l[k].nodes[2];
  PetscReal      d[3], m = f->m * PetscPowReal(2.0, l->dim * (top - k)), *bc, *xc;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(x, n));
  if (!k) {
    KSP ksp;
    PC  pc;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetOperators(ksp, l->A, l->A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetTolerances(ksp, 1e-14, 0.0, PETSC_DEFAULT, 2000));
    PetscCall(ToMesh(l, b, l->u));
    PetscCall(KSPSolve(ksp, l->u, l->v));
    PetscCall(FromMesh(l, l->v, x));
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt a = 0; a < 3; ++a) d[a] = f->d[a] * (l->dim == 3 ? PetscPowReal(2.0, (PetscReal)(top - k)) : 1.0);
  PetscCall(PetscMalloc2(n, &bc, n, &xc));
  PetscCall(PatchRefSweep(l->dim, l->order, d, m, l[k].ncells, 0, 1 << l->dim, PETSC_FALSE, b, x));
  PetscCall(ToMesh(&l[k], x, l[k].u));
  PetscCall(MatMult(l[k].A, l[k].u, l[k].v));
  PetscCall(ToMesh(&l[k], b, l[k].u));
  PetscCall(VecAYPX(l[k].v, -1.0, l[k].u));
  PetscCall(MatMultTranspose(l[k].P, l[k].v, l[k - 1].u));
  PetscCall(FromMesh(&l[k - 1], l[k - 1].u, bc));
  PetscCall(Reference(l, k - 1, f, top, symmetric, bc, xc));
  PetscCall(ToMesh(&l[k - 1], xc, l[k - 1].u));
  PetscCall(ToMesh(&l[k], x, l[k].u));
  PetscCall(MatMultAdd(l[k].P, l[k - 1].u, l[k].u, l[k].u));
  PetscCall(FromMesh(&l[k], l[k].u, x));
  PetscCall(PatchRefSweep(l->dim, l->order, d, m, l[k].ncells, 0, 1 << l->dim, symmetric, b, x));
  PetscCall(PetscFree2(bc, xc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Device vectors in either precision ---- */

static PetscErrorCode Up(PetscInt n, const PetscReal h[], PetscBool single, void **d)
{
  float *s;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc(d, n * (single ? 4 : 8)));
  if (!h) PetscCallCUDA(cudaMemset(*d, 0xff, n * (single ? 4 : 8))); /* NaN: what is not written shows */
  else if (!single) PetscCallCUDA(cudaMemcpy(*d, h, n * 8, cudaMemcpyHostToDevice));
  else {
    PetscCall(PetscMalloc1(n, &s));
    for (PetscInt i = 0; i < n; ++i) s[i] = (float)h[i];
    PetscCallCUDA(cudaMemcpy(*d, s, n * 4, cudaMemcpyHostToDevice));
    PetscCall(PetscFree(s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* frees d; the inner nodes */
static PetscErrorCode Down(const Level *l, PetscBool single, void **d, PetscReal h[])
{
  const PetscInt n = l->nodes[0] * l->nodes[1] * l->nodes[2];
  void          *s;
  PetscReal     *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(n * 8, &s));
  PetscCall(PetscCalloc1(n, &all));
  PetscCallCUDA(cudaMemcpy(s, *d, n * (single ? 4 : 8), cudaMemcpyDeviceToHost));
  for (PetscInt i = 0; i < n; ++i) all[i] = single ? ((float *)s)[i] : ((double *)s)[i];
  for (PetscInt i = 0; i < n; ++i) h[i] = 0.0;
  for (PetscInt i = 0; i < l->n; ++i) h[l->at[i]] = all[l->at[i]];
  PetscCall(PetscFree(s));
  PetscCall(PetscFree(all));
  PetscCallCUDA(cudaFree(*d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* random values, inside alone, that floats hold */
static PetscErrorCode Random(const Level *l, PetscRandom rand, PetscReal x[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(x, l->nodes[0] * l->nodes[1] * l->nodes[2]));
  for (PetscInt i = 0; i < l->n; ++i) {
    PetscReal v;

    PetscCall(PetscRandomGetValueReal(rand, &v));
    x[l->at[i]] = (float)v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kernels(Level *l, PetscInt top, const HopsBoxForm *f, PetscBool single, PetscRandom rand)
{
  Level         *fine = l + top, *coarse = fine - 1;
  const PetscInt n = fine->nodes[0] * fine->nodes[1] * fine->nodes[2], nc = coarse->nodes[0] * coarse->nodes[1] * coarse->nodes[2];
  const double   tol = single ? 2e-5 : 2e-12;
  PetscReal     *x, *b, *r, *y, *c, norm;
  void          *dx, *db, *dy, *t0, *t1, *dc, *dsum, *partial;
  double         sum;
  int            blocks;
  HopsCudaBox    k, kc;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(n, &x, n, &b, n, &r, n, &y, n, &c));
  PetscCall(HopsCudaBoxCreate(f->dim, f->order, f->A1, f->M1, f->J, f->d, f->m, fine->ncells, single, &k));
  PetscCall(Random(fine, rand, x));
  PetscCall(Random(fine, rand, b));
  PetscCall(ToMesh(fine, x, fine->u));
  PetscCall(MatMult(fine->A, fine->u, fine->v));
  PetscCall(ToMesh(fine, b, fine->u));
  PetscCall(VecAYPX(fine->v, -1.0, fine->u));
  PetscCall(VecNorm(fine->v, NORM_2, &norm));
  PetscCall(FromMesh(fine, fine->v, r));
  PetscCall(Up(n, x, single, &dx));
  PetscCall(Up(n, b, single, &db));
  PetscCallCUDA(cudaMalloc(&partial, (*k->k->Blocks)(k)*8));
  PetscCallCUDA(cudaMalloc(&dsum, 8));
  for (PetscInt rsingle = single; rsingle < 2; ++rsingle) {
    PetscCall(Up(n, NULL, rsingle ? PETSC_TRUE : PETSC_FALSE, &dy));
    PetscCall((*k->k->Residual)(k, db, dx, rsingle ? PETSC_TRUE : PETSC_FALSE, 1.0, dy, (double *)partial, 0));
    PetscCall(HopsCudaBoxSum((*k->k->Blocks)(k), (double *)partial, (double *)dsum, 0));
    PetscCallCUDA(cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost));
    sum = PetscSqrtReal(sum);
    PetscCall(Check("norm of the residual", f->order, single, 1, &norm, &sum, tol));
    PetscCall(Down(fine, rsingle ? PETSC_TRUE : PETSC_FALSE, &dy, y));
    PetscCall(Check("residual", f->order, rsingle ? PETSC_TRUE : PETSC_FALSE, n, r, y, rsingle ? 2e-5 : tol));
  }
  /* restriction of the residual */
  PetscCall(MatMultTranspose(fine->P, fine->v, coarse->u));
  PetscCall(FromMesh(coarse, coarse->u, r));
  for (PetscInt fused = 0; fused < 2; ++fused) {
    const PetscBool all = f->dim == 3 && fused && single ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(Up(all ? (PetscInt)((*k->k->CoarseSums)(k, &blocks) / 4) : n, NULL, single, &t0));
    PetscCall(Up(n, NULL, single, &t1));
    PetscCall(Up(nc, NULL, single, &dc));
    if (all) PetscCall((*k->k->Coarse)(k, db, dx, t0, dc, NULL, 0));
    else if (fused) PetscCall((*k->k->ResidualRestrict)(k, db, dx, t0, 0));
    else {
      PetscCall(Up(n, NULL, single, &dy));
      PetscCall((*k->k->Residual)(k, db, dx, PETSC_FALSE, 1.0, dy, NULL, 0));
      PetscCall((*k->k->Restrict)(k, f->dim - 1, dy, t0, 0));
      PetscCallCUDA(cudaFree(dy));
    }
    if (f->dim == 3 && !all) PetscCall((*k->k->Restrict)(k, 1, t0, t1, 0));
    if (!all) PetscCall((*k->k->Restrict)(k, 0, f->dim == 3 ? t1 : t0, dc, 0));
    PetscCall(Down(coarse, single, &dc, y));
    PetscCall(Check(fused ? "restricted residual" : "restriction", f->order, single, nc, r, y, tol));
    PetscCallCUDA(cudaFree(t0));
    PetscCallCUDA(cudaFree(t1));
  }
  if (f->dim == 3 && !single) { /* of b, with its norm */
    void *p;

    PetscCall(ToMesh(fine, b, fine->u));
    PetscCall(VecNorm(fine->u, NORM_2, &norm));
    PetscCall(MatMultTranspose(fine->P, fine->u, coarse->u));
    PetscCall(FromMesh(coarse, coarse->u, r));
    PetscCall(Up((PetscInt)((*k->k->CoarseSums)(k, &blocks) / 8), NULL, single, &t0));
    PetscCall(Up(nc, NULL, single, &dc));
    PetscCallCUDA(cudaMalloc(&p, blocks * 8));
    PetscCall((*k->k->Coarse)(k, db, NULL, t0, dc, (double *)p, 0));
    PetscCall(HopsCudaBoxSum(blocks, (double *)p, (double *)dsum, 0));
    PetscCallCUDA(cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost));
    sum = PetscSqrtReal(sum);
    PetscCall(Check("norm of a restricted vector", f->order, single, 1, &norm, &sum, tol));
    PetscCall(Down(coarse, single, &dc, y));
    PetscCall(Check("restricted vector", f->order, single, nc, r, y, tol));
    PetscCallCUDA(cudaFree(p));
    PetscCallCUDA(cudaFree(t0));
  }
  /* prolongation */
  PetscCall(Random(coarse, rand, c));
  PetscCall(ToMesh(coarse, c, coarse->u));
  for (PetscInt add = 0; add < 2; ++add) {
    PetscCall(ToMesh(fine, x, fine->u));
    if (add) PetscCall(MatMultAdd(fine->P, coarse->u, fine->u, fine->v));
    else PetscCall(MatMult(fine->P, coarse->u, fine->v));
    PetscCall(FromMesh(fine, fine->v, r));
    PetscCall(Up(nc, c, single, &dc));
    PetscCall(Up(n, add ? x : NULL, single, &dy));
    PetscCall((*k->k->Prolong)(k, dc, k->single, 1.0, NULL, add ? dy : NULL, dy, 0));
    PetscCall(Down(fine, single, &dy, y));
    PetscCall(Check(add ? "added prolongation" : "prolongation", f->order, single, n, r, y, tol));
    PetscCallCUDA(cudaFree(dc));
  }
  /* b - A P c with its norm, and P c + x / 2 for floats x, of doubles c */
  if (!single) {
    const double factors[2] = {2.0, 0.25};
    void        *p;
    double      *factor;

    PetscCallCUDA(cudaMalloc((void **)&factor, sizeof(factors)));
    PetscCallCUDA(cudaMemcpy(factor, factors, sizeof(factors), cudaMemcpyHostToDevice));
    PetscCall(ToMesh(fine, x, fine->u));
    PetscCall(VecScale(fine->u, 0.5));
    PetscCall(MatMultAdd(fine->P, coarse->u, fine->u, fine->v));
    PetscCall(FromMesh(fine, fine->v, r));
    PetscCall(Up(nc, c, PETSC_FALSE, &dc));
    PetscCall(Up(n, x, PETSC_TRUE, &t0));
    PetscCall(Up(n, NULL, PETSC_FALSE, &dy));
    PetscCall((*k->k->Prolong)(k, dc, PETSC_TRUE, 2.0, factor + 1, t0, dy, 0));
    PetscCall(Down(fine, PETSC_FALSE, &dy, y));
    PetscCall(Check("prolongation with floats added", f->order, PETSC_FALSE, n, r, y, tol));
    PetscCallCUDA(cudaFree(t0));
    PetscCall(MatMult(fine->P, coarse->u, fine->u));
    PetscCall(MatMult(fine->A, fine->u, fine->v));
    PetscCall(ToMesh(fine, b, fine->u));
    PetscCall(VecAYPX(fine->v, -1.0, fine->u));
    PetscCall(VecNorm(fine->v, NORM_2, &norm));
    PetscCall(FromMesh(fine, fine->v, r));
    for (PetscInt i = 0; i < n; ++i) r[i] *= 2.0;
    PetscCall(Up(n, NULL, PETSC_TRUE, &dy));
    PetscCallCUDA(cudaMalloc(&p, (*k->k->ProlongedBlocks)(k)*8));
    PetscCall((*k->k->ResidualProlonged)(k, db, dc, factor, dy, (double *)p, 0));
    PetscCall(HopsCudaBoxSum((*k->k->ProlongedBlocks)(k), (double *)p, (double *)dsum, 0));
    PetscCallCUDA(cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost));
    sum = PetscSqrtReal(sum);
    PetscCall(Check("norm of the residual of a prolonged function", f->order, PETSC_FALSE, 1, &norm, &sum, tol));
    PetscCall(Down(fine, PETSC_TRUE, &dy, y));
    PetscCall(Check("residual of a prolonged function", f->order, PETSC_TRUE, n, r, y, 2e-7));
    PetscCallCUDA(cudaFree(dc));
    PetscCallCUDA(cudaFree(p));
    PetscCallCUDA(cudaFree(factor));
  }
  /* direct solver: A (solution) = c, on the coarse box, whose coefficients are those of cells of twice the
     size */
  if (coarse->nodes[0] <= HOPS_BOX_COARSE && coarse->nodes[1] <= HOPS_BOX_COARSE && coarse->nodes[2] <= HOPS_BOX_COARSE) {
    PetscReal         d[3];
    HopsCudaBoxDirect direct;

    for (PetscInt a = 0; a < 3; ++a) d[a] = f->d[a] * (f->dim == 3 ? 2.0 : 1.0);
    PetscCall(
      HopsCudaBoxCreate(f->dim, f->order, f->A1, f->M1, f->J, d, f->m * (f->dim == 3 ? 8.0 : 4.0), coarse->ncells, single, &kc));
    PetscCall(HopsCudaBoxDirectCreate(kc, &direct));
    PetscCall(MatMult(coarse->A, coarse->u, coarse->v));
    PetscCall(FromMesh(coarse, coarse->v, r));
    PetscCall(Up(nc, r, single, &dc));
    PetscCall(Up(nc, NULL, single, &dy));
    PetscCall(HopsCudaBoxDirectSolve(&direct, dc, dy, 0));
    PetscCall(Down(coarse, single, &dy, y));
    PetscCall(Check("direct solver", f->order, single, nc, c, y, single ? 1e-3 : 1e-11));
    PetscCallCUDA(cudaFree(dc));
    PetscCall(HopsCudaBoxDirectDestroy(&direct));
    PetscCall(HopsCudaBoxDestroy(&kc));
  }
  PetscCallCUDA(cudaFree(dx));
  PetscCallCUDA(cudaFree(db));
  PetscCallCUDA(cudaFree(partial));
  PetscCallCUDA(cudaFree(dsum));
  PetscCall(HopsCudaBoxDestroy(&k));
  PetscCall(PetscFree5(x, b, r, y, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetVec(Vec v, PetscInt n, const PetscReal x[])
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &a));
  PetscCall(PetscArraycpy(a, x, n));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckVec(const char what[], const Level *l, PetscBool single, const PetscReal ref[], Vec v, PetscReal tol)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(Check(what, l->order, single, l->nodes[0] * l->nodes[1] * l->nodes[2], ref, a, tol));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's objects: MATHOPSBOX and PCBOXMG */
static PetscErrorCode Objects(Level *l, PetscInt top, Mat A, const HopsBoxForm *f, PetscRandom rand)
{
  Level         *fine = l + top;
  const PetscInt n    = fine->nodes[0] * fine->nodes[1] * fine->nodes[2];
  PetscReal     *b, *x;
  Vec            db, dx;
  char           levels[16];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &b, n, &x));
  PetscCall(MatCreateVecs(A, &dx, &db));
  PetscCall(Random(fine, rand, b));
  PetscCall(ToMesh(fine, b, fine->u));
  PetscCall(MatMult(fine->A, fine->u, fine->v));
  PetscCall(FromMesh(fine, fine->v, x));
  PetscCall(SetVec(db, n, b));
  PetscCall(MatMult(A, db, dx));
  PetscCall(CheckVec("MatMult()", fine, PETSC_FALSE, x, dx, 2e-12));
  PetscCall(PetscSNPrintf(levels, sizeof(levels), "%" PetscInt_FMT, top + 1));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_levels", levels));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_coarse_nodes", "0"));
  for (PetscInt symmetric = 0; symmetric < 2; ++symmetric) {
    PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_direction", symmetric ? "symmetric" : "forward"));
    PetscCall(Reference(l, top, f, top, symmetric ? PETSC_TRUE : PETSC_FALSE, b, x));
    for (PetscInt single = 0; single < 2; ++single)
      for (PetscInt graph = 0; graph < 2; ++graph) {
        PC pc;

        PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetType(pc, PCBOXMG));
        PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
        PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_graph", graph ? "1" : "0"));
        PetscCall(PCSetFromOptions(pc));
        for (PetscInt i = 0; i < 2; ++i) { /* twice: nothing is left from the first time */
          PetscCall(PCApply(pc, db, dx));
          PetscCall(CheckVec(symmetric ? "symmetric cycle" : "cycle", fine, single ? PETSC_TRUE : PETSC_FALSE, x, dx,
                             single ? 2e-4 : 1e-10));
        }
        PetscCall(PCDestroy(&pc));
      }
  }
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_direction", "forward"));
  /* the solve, from zero, from an initial guess, and from NaN that is ignored, with essential values: A x = b
     on the host */
  for (PetscInt single = 0; single < 2; ++single)
    for (PetscInt guess = 0; guess < 3; ++guess) {
      KSP                ksp;
      PC                 pc;
      PetscReal          bnorm, rnorm;
      const PetscScalar *xa;

      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, KSPRICHARDSON));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCBOXMG));
      PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
      PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_ignore_guess", guess == 2 ? "1" : "0"));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(KSPSetTolerances(ksp, 1e-9, 0.0, PETSC_DEFAULT, 30));
      if (guess) {
        PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
        if (guess == 2) PetscCall(VecSet(dx, NAN));
        else PetscCall(VecCopy(db, dx));
      }
      PetscCall(KSPSolve(ksp, db, dx));
      PetscCall(VecGetArrayRead(dx, &xa));
      PetscCall(ToMesh(fine, xa, fine->u));
      PetscCall(VecRestoreArrayRead(dx, &xa));
      PetscCall(MatMult(fine->A, fine->u, fine->v));
      PetscCall(ToMesh(fine, b, fine->u));
      PetscCall(VecNorm(fine->u, NORM_2, &bnorm));
      PetscCall(VecAXPY(fine->v, -1.0, fine->u));
      PetscCall(VecNorm(fine->v, NORM_2, &rnorm));
      if (!(rnorm <= 1.01e-9 * bnorm))
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision: the solve leaves %.2e\n", l->order,
                              single ? "single" : "double", (double)(rnorm / bnorm)));
      PetscCall(KSPDestroy(&ksp));
    }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_boxmg_ignore_guess"));
  /* essential values: the solution of the linear function 1 + x without reaction is itself; here by the
     residual of the operator */
  for (PetscInt single = 0; single < 2; ++single) {
    KSP       ksp;
    PC        pc;
    PetscReal rnorm, bnorm;
    Vec       r;

    PetscCall(VecDuplicate(db, &r));
    PetscCall(VecSet(db, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCBOXMG));
    PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(KSPSetTolerances(ksp, 1e-9, 0.0, PETSC_DEFAULT, 50));
    PetscCall(KSPSolve(ksp, db, dx));
    PetscCall(MatMult(A, dx, r));
    PetscCall(VecAXPY(r, -1.0, db));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
    PetscCall(VecNorm(db, NORM_2, &bnorm));
    if (!(rnorm <= 1.01e-9 * bnorm))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision, essential values: the solve leaves %.2e\n",
                            l->order, single ? "single" : "double", (double)(rnorm / bnorm)));
    PetscCall(VecDestroy(&r));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&db));
  PetscCall(VecDestroy(&dx));
  PetscCall(PetscFree2(b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full multigrid for f = 1 on the unit cube of 8^3 cells, down to one cell: cycles after the nested
   iteration, against those of PCHOPSMG with the same patches on the host
   (docs/performance/multigrid-full.md), one more at most, and the same in both precisions */
static PetscErrorCode Counts(PetscInt order)
{
  const PetscInt n[3] = {8, 8, 8}, P = order + 1, N = 8 * order + 1, host[9] = {0, 5, 4, 2, 1, 1, 1, 1, 1};
  PetscReal      A1[256], M1[256], g[65];
  PetscInt       its[2];
  PetscScalar   *a;
  Mat            A;
  Vec            b, x;

  PetscFunctionBeginUser;
  PetscCall(PatchRefCell(order, A1, M1));
  PetscCall(PetscArrayzero(g, N));
  for (PetscInt c = 0; c < 8; ++c)
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) g[c * order + i] += M1[i * P + j] / 8.0;
  g[0] = g[N - 1] = 0.0;
  PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, 3, order, n, NULL, NULL, 0.0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = 0; i < N * N * N; ++i) a[i] = g[i % N] * g[i / N % N] * g[i / N / N];
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_boxmg_coarse_nodes", "0"));
  for (PetscInt single = 0; single < 2; ++single) {
    KSP ksp;
    PC  pc;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetTolerances(ksp, 1e-9, 0.0, PETSC_DEFAULT, 50));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCBOXMG));
    PetscCall(PCBoxMGSetPrecision(pc, single ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[single]));
    PetscCall(KSPDestroy(&ksp));
  }
  if (its[0] != its[1] || its[0] > host[order] + 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "order %" PetscInt_FMT ": %" PetscInt_FMT " cycles in double precision, %" PetscInt_FMT
                          " in single, %" PetscInt_FMT " on the host\n",
                          order, its[0], its[1], host[order]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    dim = 3, orders[8], norders = 8, nc = 3, coarse[3] = {1, 1, 1}, refine = 2;
  PetscBool   set, errors = PETSC_FALSE, counts = PETSC_FALSE;
  PetscRandom rand;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "host")); /* of the reference */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &norders, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-coarse", coarse, &nc, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &refine, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-counts", &counts, NULL));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetType(rand, PETSCRAND48));
  PetscCall(PetscRandomSetInterval(rand, -1.0, 1.0));
  for (PetscInt o = 0; o < norders; ++o) {
    Level              l[8];
    Mat                A;
    const HopsBoxForm *f;
    const HopsBoxOps  *ops;

    if (counts) {
      PetscCall(Counts(orders[o]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT " counted\n", orders[o]));
      continue;
    }
    PetscCall(PetscMemzero(l, sizeof(l)));
    errmax[0] = errmax[1] = 0.0;
    PetscCall(CreateLevels(dim, orders[o], coarse, refine + 1, l));
    PetscCall(MatCreateHopsBox(PETSC_COMM_SELF, dim, orders[o], l[refine].ncells, sides, kappas, reaction, &A));
    PetscCall(MatHopsBoxGetForm(A, &f, &ops));
    PetscCall(Kernels(l, refine, f, PETSC_FALSE, rand));
    PetscCall(Kernels(l, refine, f, PETSC_TRUE, rand));
    PetscCall(Objects(l, refine, A, f, rand));
    PetscCall(MatDestroy(&A));
    for (PetscInt k = 0; k <= refine; ++k) {
      PetscCall(VecDestroy(&l[k].u));
      PetscCall(VecDestroy(&l[k].v));
      PetscCall(MatDestroy(&l[k].A));
      PetscCall(MatDestroy(&l[k].P));
      PetscCall(HopsSpaceDestroy(&l[k].space));
      PetscCall(PetscFree(l[k].at));
    }
    if (errors) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest differences %.1e, %.1e\n", (double)errmax[0], (double)errmax[1]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT " checked\n", orders[o]));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}
#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif

/*TEST

  build:
    requires: cuda

  test:
    suffix: 2d
    args: -dim 2 -orders 1,2,3,4,5,6,7,8 -coarse 3,2 -refine 2

  test:
    suffix: 2d_deep
    args: -dim 2 -orders 2,3,7 -coarse 2,1 -refine 4

  test:
    suffix: 3d
    args: -dim 3 -orders 1,2,3,4 -coarse 2,3,2 -refine 1

  test:
    suffix: 3d_high
    args: -dim 3 -orders 2,5,6,7 -coarse 1,1,2 -refine 1
    timeoutfactor: 3

  test:
    suffix: 3d_8
    args: -dim 3 -orders 8 -coarse 1,1,1 -refine 1
    timeoutfactor: 5

  test:
    suffix: counts
    args: -counts -orders 1,2,3,4,5,6,7,8

  test:
    suffix: 3d_wide
    args: -dim 3 -orders 1,2 -coarse 5,3,2 -refine 2

TEST*/
