static char help[] =
  "Residuals and tensors of a PetscDS by kernels that are compiled at run time, against the host's, cell by cell.\n\
  -on <toy,cuda>: where; -layout <0,1,2>: a scalar; velocity and pressure; two scalars and a vector; -aux: auxiliary fields;\n\
  -regions: two, with a PetscDS each; -curved: cells that are no boxes; -refused: functions that are\n\n";

#include "hopsexpect.h"
#include "pointfields.h"
#include "pointtoy.h"
#include <hops/private/hopsdmimpl.h>
#include <petscds.h>
#define HOPS_POINT_FUNCTION static inline
#include <form/ds/device/pointtensor.h>

static PetscInt calls;
#define CALLED ++calls
#include "pointfunctions.h"

static char Device[16] = "toy"; /* the back end that is compared with the host */

/* A scalar; velocity and pressure; two scalars and a vector */
static PetscErrorCode AddFields(DM dm, PetscInt layout, PetscInt order, PetscInt Q)
{
  const PetscInt components[3][3] = {{1}, {0, 1}, {1, 1, 0}}; /* 0: a vector */
  PetscInt       dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  for (PetscInt f = 0; f <= layout; ++f)
    PetscCall(TestAddField(dm, f, components[layout][f] ? components[layout][f] : dim, PetscMax(1, order - f), Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual and Jacobian functions of the whole mesh or of one of two regions */
static PetscErrorCode SetFunctions(PetscDS ds, DMLabel label, PetscInt layout, PetscInt region)
{
  PetscScalar    constants[3] = {0.7, 0.4, 0.9};
  const PetscInt value        = label ? 1 : 0;
  PetscWeakForm  wf;

  PetscFunctionBeginUser;
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  PetscCall(PetscDSSetConstants(ds, 3 - region, constants + region));
  PetscCall(PetscWeakFormAddResidual(wf, label, value, 0, 0, f0_u, region ? NULL : f1_u));
  PetscCall(PetscWeakFormAddResidual(wf, label, value, 0, 0, f0_more, NULL));
  if (layout == 1) {
    PetscCall(PetscWeakFormAddResidual(wf, label, value, 1, 0, NULL, f1_p));
    PetscCall(PetscWeakFormAddJacobian(wf, label, value, 0, 0, 0, g0_uu, NULL, NULL, g3_uu));
    PetscCall(PetscWeakFormAddJacobian(wf, label, value, 0, 1, 0, NULL, region ? NULL : g1_up, NULL, NULL));
    PetscCall(PetscWeakFormAddJacobian(wf, label, value, 1, 0, 0, NULL, NULL, g2_pu, NULL));
    PetscCall(PetscWeakFormAddJacobian(wf, label, value, 1, 1, 0, NULL, NULL, NULL, g3_pp));
    PetscCall(PetscWeakFormAddDynamicJacobian(wf, label, value, 0, 0, 0, gt_uu, NULL, NULL, NULL));
  } else if (layout == 2) PetscCall(PetscWeakFormAddJacobian(wf, label, value, 1, 1, 0, NULL, NULL, NULL, g3_constant));
  else PetscCall(PetscWeakFormAddJacobian(wf, label, value, 0, 0, 0, g0_scalar, NULL, NULL, region ? g3_constant : g3_scalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two regions, with a PetscDS each, whose functions and constants differ */
static PetscErrorCode AddRegions(DM dm, PetscInt layout)
{
  DMLabel  label[2];
  PetscInt cStart, cEnd, dim, all[3] = {0, 1, 2};
  IS       fields;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMCreateLabel(dm, "outer"));
  PetscCall(DMGetLabel(dm, "outer", &label[0]));
  PetscCall(DMCreateLabel(dm, "inner"));
  PetscCall(DMGetLabel(dm, "inner", &label[1]));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) PetscCall(DMLabelSetValue(label[c % 3 ? 0 : 1], c, 1));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, layout + 1, all, PETSC_COPY_VALUES, &fields));
  for (PetscInt r = 0; r < 2; ++r) {
    PetscDS ds;

    PetscCall(PetscDSCreate(PETSC_COMM_SELF, &ds));
    PetscCall(PetscDSSetCoordinateDimension(ds, dim));
    for (PetscInt f = 0; f <= layout; ++f) {
      PetscObject disc;

      PetscCall(DMGetField(dm, f, NULL, &disc));
      PetscCall(PetscDSSetDiscretization(ds, f, disc));
    }
    PetscCall(SetFunctions(ds, label[r], layout, r));
    PetscCall(PetscDSSetUp(ds));
    if (r) PetscCall(HopsDMSetRegionDS(dm, label[r], fields, ds));
    else PetscCall(HopsDMSetRegionNumDS(dm, 0, label[r], fields, ds));
    PetscCall(PetscDSDestroy(&ds));
  }
  PetscCall(ISDestroy(&fields));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A continuous scalar and a discontinuous vector */
static PetscErrorCode AddAuxiliary(DM dm, PetscInt order)
{
  DM       aux;
  Vec      v;
  PetscFE  fe;
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMClone(dm, &aux));
  PetscCall(TestAddField(aux, 0, 1, order, order + 1));
  PetscCall(PetscFECreateLagrange(PetscObjectComm((PetscObject)dm), dim, dim, PETSC_FALSE, 0, order + 1, &fe));
  PetscCall(DMSetField(aux, 1, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(aux));
  PetscCall(TestProject(aux, 0.1, &v));
  PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, v));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], PetscInt n, const PetscScalar x[], const PetscScalar y[])
{
  PetscReal scale = 0.0, error = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    scale = PetscMax(scale, PetscAbsScalar(x[i]));
    error = TestWorse(error, PetscAbsScalar(x[i] - y[i]));
  }
  PetscCheck(error <= 1e-12 * scale && (!n || scale > 0.0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The %s is off by %g of %g", name,
             (double)error, (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F of the host's path and of the kernels; the second time with another time, and without a time
   derivative */
static PetscErrorCode CompareResiduals(DM dm, Vec X, Vec Xt)
{
  const char *const  backends[2] = {"host", Device};
  HopsPlex          *plex;
  Vec                F[2];
  const PetscScalar *a[2];
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(HopsPlexGet(dm, &plex));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDuplicate(X, &F[k]));
  for (PetscInt again = 0; again < 2; ++again) {
    Strength = 0.4 - 0.1 * again;
    for (PetscInt k = 0; k < 2; ++k) {
      PetscBool done;

      PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backends[k]));
      PetscCall(HopsPlexResidualReset(plex));
      PetscCall(VecSet(F[k], 1.0)); /* the residual is added */
      PetscCall(HopsPlexResidual(dm, plex, 0.3 + again, X, again ? NULL : Xt, F[k], &done));
      PetscCheck(done && !plex->points == !k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The residual is not that of the back end %s",
                 backends[k]);
      PetscCall(VecGetArrayRead(F[k], &a[k]));
    }
    PetscCall(VecGetLocalSize(X, &n));
    PetscCall(Compare("residual", n, a[0], a[1]));
    for (PetscInt k = 0; k < 2; ++k) PetscCall(VecRestoreArrayRead(F[k], &a[k]));
  }
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&F[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A component's own tensor as a coefficient's values, against the host's tensors g[n][nq][..] of all; the
   kernels run once more only where they must */
static PetscErrorCode CompareValues(HopsJacobian form, HopsSpace sp, const HopsBasis *basis, PetscInt kind, PetscBool constant,
                                    const PetscScalar g[])
{
  const PetscInt dim = sp->dim, n = sp->ncells, nq = HopsPower(basis->Q, dim), one = kind ? dim * dim : 1, N = form->nc;
  HopsValuesWork w = {0};
  PetscScalar   *v[2];

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < N; ++c) {
    HopsValues val;
    PetscBool  done;

    PetscCall(HopsJacobianEvaluateValues(form, sp, 0, n, basis, kind, c, &w, &val, &done));
    PetscCheck(done && val.nc == (kind ? dim * (dim + 1) / 2 : 1) && val.memtype == sp->backend->memtype, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "The values are not those of the back end");
    PetscCheck(!n || !val.pstride == (constant || nq == 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Do they vary inside of a cell?");
    PetscCall(HopsValuesBring(&w, n, &val));
    PetscCall(PetscMalloc2(n * nq * val.nc, &v[0], n * nq * val.nc, &v[1]));
    for (PetscInt q = 0; q < n * nq; ++q) {
      const PetscScalar *t = g + ((size_t)q * N * N + c * (N + 1)) * one;

      for (PetscInt i = 0, k = 0; i < (kind ? dim : 1); ++i)
        for (PetscInt j = i; j < (kind ? dim : 1); ++j, ++k) {
          v[0][q * val.nc + k] = 0.5 * (t[i * dim + j] + t[j * dim + i]);
          v[1][q * val.nc + k] = val.v[q / nq * val.cstride + q % nq * val.pstride + k];
        }
    }
    PetscCall(Compare("component's tensor", n * nq * val.nc, v[0], v[1]));
    PetscCall(PetscFree2(v[0], v[1]));
  }
  PetscCall(HopsValuesWorkFree(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All pairs of components of a block, in an operator's layout of batches of W cells, entries
   [batch][point][entry][lane] or [batch][entry][lane][point], against the tensors g[kind][n][nq][..] of
   the host */
static PetscErrorCode CompareReference(HopsJacobian form, HopsSpace sp, const HopsBasis *basis, const PetscReal J[],
                                       PetscScalar *(*g)[4])
{
  const HopsMemoryOps *memory = sp->backend->memory;
  const PetscInt       dim = sp->dim, n = sp->ncells, nq = HopsPower(basis->Q, dim), W = 3, nb = (n + W - 1) / W;
  PetscInt             at = 0;
  HopsTensorTarget     to = {.layout = {.W = W, .nb = nb}};
  HopsTensorData       d[9];
  HopsTensorPair       pair[9][36];
  int                 *place, *there;
  PetscBool            done;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &place));
  for (PetscInt c = 0; c < n; ++c) place[c] = (int)c;
  PetscCall((*memory->Malloc)(n * sizeof(int), (void **)&there));
  PetscCall((*memory->Copy)(NULL, there, place, n * sizeof(int), HOPS_COPY_IN));
  to.place = there;
  to.block = d;
  for (PetscInt b = 0; b < form->nblocks; ++b) {
    const PetscInt nc = form->fields->nc[form->blocks[b].test], nct = form->fields->nc[form->blocks[b].trial];

    d[b] = (HopsTensorData){.pair = pair[b]};
    for (PetscInt i = 0; i < 4 * nc * nct; ++i) {
      const PetscInt kind = i / (nc * nct), j = i % (nc * nct);

      if (!form->blocks[b].has[kind]) continue;
      pair[b][d[b].npairs++] = (HopsTensorPair){(int)kind, (int)(j / nct), (int)(j % nct), (int)d[b].nentries};
      d[b].nentries += HopsTensorEntries(dim, kind);
    }
  }
  for (PetscInt layout = 0; layout < 2; ++layout) {
    to.layout.points = layout ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt b = 0; b < form->nblocks; ++b)
      PetscCall((*memory->Malloc)((size_t)nb * W * nq * d[b].nentries * sizeof(PetscScalar), (void **)&d[b].q));
    PetscCall(HopsJacobianEvaluateReference(form, sp, 0, n, basis, &to, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tensors are not those of the back end");
    for (PetscInt b = 0; b < form->nblocks; ++b) {
      const PetscInt ne = d[b].nentries, nct = form->fields->nc[form->blocks[b].trial],
                     ncc = form->fields->nc[form->blocks[b].test] * nct;
      PetscScalar *q, *x, *y;

      PetscCall(PetscMalloc3((size_t)nb * W * nq * ne, &q, n * nq * ne, &x, n * nq * ne, &y));
      PetscCall((*memory->Copy)(NULL, q, d[b].q, (size_t)nb * W * nq * ne * sizeof(PetscScalar), HOPS_COPY_OUT));
      for (PetscInt i = 0; i < n * nq; ++i) {
        const PetscInt     c = i / nq, p = i % nq, Q = basis->Q;
        const PetscScalar *v[4];
        PetscReal          Ji[9], w = HopsInverse(dim, J + i * dim * dim, Ji);

        for (PetscInt k = 0, r = p; k < dim; ++k, r /= Q) w *= basis->weights[r % Q];
        for (PetscInt k = 0; k < 4; ++k) v[k] = g[b][k] ? g[b][k] + i * ncc * HopsTensorEntries(dim, k) : NULL;
        HopsTensorsAtPoint((int)dim, (int)d[b].npairs, &pair[b][0].kind, (int)nct, w, Ji, v, 1, x + i * ne);
        for (PetscInt e = 0; e < ne; ++e) {
          at            = layout ? (e * W + c % W) * nq + p : (p * ne + e) * W + c % W;
          y[i * ne + e] = q[c / W * W * nq * ne + at];
        }
      }
      PetscCall(Compare("tensor in reference coordinates", n * nq * ne, x, y));
      PetscCall(PetscFree3(q, x, y));
      PetscCall((*memory->Free)((void **)&d[b].q));
    }
  }
  PetscCall((*memory->Free)((void **)&there));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All tensors of a form at the points of a basis: [block][kind], of the host's path and of the kernels */
static PetscErrorCode CompareTensorsAt(HopsJacobian form, HopsSpace sp, const HopsBasis *basis, PetscBool rule, PetscBool constant)
{
  const PetscInt dim = sp->dim, n = sp->ncells, nq = HopsPower(basis->Q, dim);
  HopsBasis      geom;
  PetscReal     *x, *J;
  PetscScalar *(*g[2])[4];
  PetscBool      done[2];
  const PetscInt evaluated = PointToyTensors;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n * nq * dim, &x, n * nq * dim * dim, &J));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  PetscCall(HopsSpaceGetPoints(sp, &geom, 0, n, x, J));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscCalloc1(form->nblocks, &g[k]));
    for (PetscInt b = 0; b < form->nblocks; ++b)
      for (PetscInt i = 0; i < 4; ++i)
        if (form->blocks[b].has[i])
          PetscCall(PetscCalloc1((size_t)n * nq * form->fields->nc[form->blocks[b].test] * form->fields->nc[form->blocks[b].trial] *
                                   HopsTensorEntries(dim, i),
                                 &g[k][b][i]));
    PetscCall(HopsBackendGet(k ? Device : "host", &sp->backend));
    if (!k) PetscCall(HopsJacobianEvaluateBlocks(form, sp, 0, n, basis, x, J, g[k]));
    PetscCall(HopsJacobianEvaluateDevice(form, sp, 0, n, basis, k ? g[k] : NULL, &done[k]));
  }
  PetscCheck(!done[0] && done[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tensors are not those of the back end");
  for (PetscInt b = 0; b < form->nblocks; ++b)
    for (PetscInt i = 0; i < 4; ++i)
      if (form->blocks[b].has[i])
        PetscCall(Compare("tensor",
                          n * nq * form->fields->nc[form->blocks[b].test] * form->fields->nc[form->blocks[b].trial] *
                            HopsTensorEntries(dim, i),
                          g[0][b][i], g[1][b][i]));
  for (PetscInt i = 0; form->nblocks == 1 && form->nc && i < 4; i += 3)
    if (form->blocks[0].has[i]) PetscCall(CompareValues(form, sp, basis, i, constant, g[0][0][i]));
  if (rule) PetscCall(CompareReference(form, sp, basis, J, g[0]));
  PetscCheck(PointToyTensors == evaluated + 1 || !n || strcmp(Device, "toy"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Evaluated %" PetscInt_FMT " times at one state", PointToyTensors - evaluated);
  for (PetscInt k = 0; k < 2; ++k) {
    for (PetscInt b = 0; b < form->nblocks; ++b)
      for (PetscInt i = 0; i < 4; ++i) PetscCall(PetscFree(g[k][b][i]));
    PetscCall(PetscFree(g[k]));
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree2(x, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the points of the PetscFE's rule and at a preconditioner's; with a shift and without */
static PetscErrorCode CompareTensors(DM dm, Vec X, Vec Xt, PetscInt order, PetscBool constant)
{
  HopsJacobian form;
  HopsPlex    *plex;
  HopsBasis    gll, inner;
  PetscBool    changed;

  PetscFunctionBeginUser;
  PetscCall(HopsPlexGet(dm, &plex));
  PetscCall(HopsJacobianCreate(dm, PETSC_FALSE, &form));
  PetscCall(HopsBasisCreate(order + 1, order + 1, PETSC_TRUE, &gll));
  PetscCall(HopsBasisCreateInside(&gll, HOPS_BASIS_INSET, &inner));
  for (PetscInt again = 0; again < 2; ++again) {
    PetscCall(HopsJacobianSetState(form, X, again ? NULL : Xt, 0.2, again ? 0.0 : 1.3, &changed));
    PetscCall(CompareTensorsAt(form, plex->space, &plex->rule, PETSC_TRUE, constant));
    PetscCall(CompareTensorsAt(form, plex->space, &inner, PETSC_FALSE, constant));
  }
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&inner));
  PetscCall(HopsJacobianDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells that are indefinite or negative, of values on the back end and of the same in the process:
   scalars, diagonals and tensors, at all points or one a cell */
static PetscErrorCode CompareCounts(const HopsBackendOps *be, PetscInt dim)
{
  const PetscInt n = 37, nq = 45, nc[3] = {1, dim, dim * (dim + 1) / 2}; /* more points than a warp has lanes */
  PetscInt       found[3] = {0, 0, 0};
  HopsValuesWork w[2]     = {{0}, {0}};
  PetscScalar   *a[2];
  PetscRandom    r;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &r));
  PetscCall(PetscRandomSetInterval(r, -0.001, 1.0));
  PetscCall(PetscMalloc2(n * nq * 6, &a[0], n * nq, &a[1]));
  for (PetscInt i = 0; i < 12; ++i) {
    const PetscInt size = nc[i % 3], np = i / 3 % 2 ? nq : 1;
    HopsValues     here[2] = {{.nc = size, .cstride = np * size, .pstride = np > 1 ? size : 0, .v = a[0]},
                              {.nc = i / 6, .cstride = np, .pstride = np > 1, .v = a[1]}},
               there[2];

    for (PetscInt j = 0; j < n * np * size; ++j) {
      const PetscBool diagonal =
        size < 3 || j % size == 0 || j % size == dim || (size == 6 && j % size == 5) ? PETSC_TRUE : PETSC_FALSE;

      PetscCall(PetscRandomGetValue(r, &a[0][j]));
      a[0][j] *= size > dim && !diagonal ? 0.4 : 1.0;
      if (j / (np * size) % 5 == 4) a[0][j] = 0.0; /* zero all over a cell */
    }
    for (PetscInt j = 0; j < n * np; ++j) a[1][j] = j / np % 10 == 4 ? (j % np == np - 1 ? 1.0 : -1.0) : 0.0;
    for (PetscInt k = 0; k < 2; ++k) {
      there[k] = here[k];
      PetscCall(HopsValuesReserve(&w[k], be, n * nq * 6));
      PetscCall((*be->memory->Copy)(NULL, w[k].bv, here[k].v, n * here[k].cstride * sizeof(PetscScalar), HOPS_COPY_IN));
      there[k].v       = w[k].bv;
      there[k].memtype = be->memtype;
    }
    for (PetscInt test = HOPS_INDEFINITE; test <= HOPS_NEGATIVE_FIELD; ++test) {
      PetscInt count[3];

      PetscCall(HopsValuesCount(be, (HopsValuesTest)test, dim, n, nq, &here[0], &here[1], &count[0]));
      PetscCall(HopsValuesCount(be, (HopsValuesTest)test, dim, n, nq, &there[0], &there[1], &count[1]));
      PetscCall(HopsValuesCount(be, (HopsValuesTest)test, dim, n, nq, &there[0], &here[1], &count[2]));
      PetscCheck(count[0] == count[1] && count[0] == count[2], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Case %" PetscInt_FMT ", test %" PetscInt_FMT ": %" PetscInt_FMT " cells, %" PetscInt_FMT " and %" PetscInt_FMT
                 " on the back end",
                 i, test, count[0], count[1], count[2]);
      found[test] += count[0];
      PetscCheck(count[0] < n || (test == HOPS_INDEFINITE && size > dim), PETSC_COMM_SELF, PETSC_ERR_PLIB, "All cells are found");
    }
  }
  PetscCheck(found[0] && found[1] > found[2] && found[2], PETSC_COMM_SELF, PETSC_ERR_PLIB, "No cells are found");
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsValuesWorkFree(&w[k]));
  PetscCall(PetscFree2(a[0], a[1]));
  PetscCall(PetscRandomDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients whose values the kernels refuse, and name the cell */
static PetscErrorCode Refused(DM dm, Vec X)
{
  HopsPlex *plex;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", Device));
  PetscCall(HopsPlexGet(dm, &plex));
  for (PetscInt k = 0; k < 2; ++k) {
    HopsValuesWork w = {0};
    HopsValues     val;
    HopsJacobian   form;
    PetscDS        ds;
    PetscBool      done, changed;

    PetscCall(DMGetDS(dm, &ds));
    PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, k ? g3_infinite : g3_skew));
    PetscCall(HopsJacobianCreate(dm, PETSC_FALSE, &form));
    PetscCall(HopsJacobianSetState(form, X, NULL, 0.0, 0.0, &changed));
    EXPECT(k ? "infinite" : "not symmetric",
           HopsJacobianEvaluateValues(form, plex->space, 0, plex->space->ncells, &plex->rule, 3, 0, &w, &val, &done),
           k ? "infinite or not-a-number in cell 1" : "not symmetric in cell 1|-mat_pa_general");
    PetscCall(HopsValuesWorkFree(&w));
    PetscCall(HopsJacobianDestroy(&form));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local vectors with essential values, by PETSc's own way and where they are kept: is their function
   called again? */
static PetscErrorCode CompareEssential(DM dm, Vec X)
{
  const PetscReal    t[4]    = {0.0, 0.0, 0.5, 0.0};
  const PetscBool    call[4] = {PETSC_TRUE, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE};
  HopsPlex          *plex;
  Vec                x[2];
  const PetscScalar *a[2];
  PetscInt           n;
  PetscErrorCode (*own)(DM, PetscBool, Vec, PetscReal, Vec, Vec, Vec);

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction((PetscObject)dm, "DMPlexInsertBoundaryValues_C", &own));
  PetscCall(HopsPlexWrapBoundary(dm));
  PetscCall(HopsPlexGet(dm, &plex));
  PetscCheck(plex->points, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There are no kernels");
  PetscCall(VecGetLocalSize(X, &n));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDuplicate(X, &x[k]));
  for (PetscInt i = 0; i < 4; ++i) {
    for (PetscInt k = 0; k < 2; ++k) {
      PetscErrorCode (*insert)(DM, PetscBool, Vec, PetscReal, Vec, Vec, Vec) = k ? DMPlexInsertBoundaryValues : own;

      PetscCall(VecSet(x[k], 0.1));
      calls = 0;
      PetscCall((*insert)(dm, PETSC_TRUE, x[k], t[i], NULL, NULL, NULL));
      PetscCheck(!calls == !(n && (call[i] || !k) && plex->space->ncells), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " calls", calls);
      PetscCall(VecGetArrayRead(x[k], &a[k]));
    }
    PetscCall(Compare("vector with essential values", n, a[0], a[1]));
    for (PetscInt k = 0; k < 2; ++k) PetscCall(VecRestoreArrayRead(x[k], &a[k]));
  }
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All functions of the file, given to the PetscDS one by one in place of -hops_pointwise_source */
static PetscErrorCode GiveSources(DM dm)
{
  PetscDS   ds;
  FILE     *f;
  char      path[PETSC_MAX_PATH_LEN], text[16384], name[64];
  size_t    n;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-given", path, sizeof(path), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  f = fopen(path, "r");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", path);
  n = fread(text, 1, sizeof(text) - 1, f);
  fclose(f);
  text[n] = '\0';
  PetscCall(DMGetDS(dm, &ds));
  for (const char *s = text; (s = strstr(s, "static void ")); ++s)
    if (sscanf(s, "static void %63[A-Za-z0-9_](", name) == 1) PetscCall(HopsDSSetDeviceSource(ds, name, text));
  PetscCall(HopsDSSetDeviceSource(ds, "Wall", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  HopsBackendOps        toy;
  const HopsBackendOps *be;
  DM                    dm;
  Vec                   X, Xt;
  PetscInt              layout = 0, order = 3, Q = 4, dim;
  PetscBool             curved = PETSC_FALSE, regions = PETSC_FALSE, aux = PETSC_FALSE, refused = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-on", Device, sizeof(Device), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-layout", &layout, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-q", &Q, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-regions", &regions, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aux", &aux, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refused", &refused, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(AddFields(dm, layout, order, Q));
  PetscCall(DMCreateDS(dm));
  if (regions) PetscCall(AddRegions(dm, layout));
  else {
    PetscDS ds;

    PetscCall(DMGetDS(dm, &ds));
    PetscCall(SetFunctions(ds, NULL, layout, 0));
  }
  PetscCall(GiveSources(dm));
  if (aux) PetscCall(AddAuxiliary(dm, 2));
  if (!regions) {
    DMLabel        label;
    const PetscInt one = 1;

    PetscCall(DMGetLabel(dm, "marker", &label));
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &one, layout, 0, NULL, (void (*)(void))Wall, NULL, NULL, NULL));
  }
  PetscCall(TestProject(dm, 0.1, &X));
  PetscCall(VecDuplicate(X, &Xt));
  PetscCall(VecCopy(X, Xt));
  PetscCall(VecScale(Xt, -0.7));
  PetscCall(CompareResiduals(dm, X, Xt));
  if (refused) PetscCall(Refused(dm, X));
  else if (!regions) PetscCall(CompareEssential(dm, X));
  PetscCall(HopsBackendGet(Device, &be));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(CompareCounts(be, dim));
  if (!refused) PetscCall(CompareTensors(dm, X, Xt, order, layout == 2 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Kernels compiled at run time agree with the host\n"));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Xt));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    suffix: given
    requires: host
    output_file: output/pointcells.out
    args: -given ${HOPS_SOURCE}/tests/pointfunctions.h -dm_plex_dim 3 -dm_plex_box_faces 3,2,1 -layout {{0 1}}

  testset:
    requires: host
    output_file: output/pointcells.out
    args: -hops_pointwise_source ${HOPS_SOURCE}/tests/pointfunctions.h

    test:
      suffix: scalar
      nsize: {{1 2 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -curved {{0 1}}
    test:
      suffix: fields
      nsize: 2
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,1 -layout {{1 2}} -aux
    test:
      suffix: regions
      args: -dm_plex_box_faces 3,2 -layout {{0 1 2}} -regions -aux {{0 1}}
    # fewer points than nodes; work that shared memory does not hold; cells of order 2; a rank without cells
    test:
      suffix: few
      args: -dm_plex_box_faces 3,2 -layout 1 -q 2
    test:
      suffix: large
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -layout 1 -order 5 -q 6
    test:
      suffix: curved
      args: -dm_plex_box_faces 3,2 -dm_coord_petscspace_degree 2 -curved
    test:
      suffix: refused
      output_file: output/pointcells_refused.out
      args: -dm_plex_box_faces 2,1 -refused
    test:
      suffix: empty
      nsize: 2
      args: -dm_plex_box_faces 1,1

  test:
    suffix: cuda
    requires: cuda
    output_file: output/pointcells.out
    nsize: {{1 2}}
    args: -on cuda -dm_vec_type cuda -use_gpu_aware_mpi 0 -hops_pointwise_source ${HOPS_SOURCE}/tests/pointfunctions.h -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -layout {{0 1 2}} -aux {{0 1}} -order {{2 5}} -q 6
  test:
    suffix: cuda_refused
    requires: cuda
    output_file: output/pointcells_refused.out
    args: -on cuda -dm_vec_type cuda -use_gpu_aware_mpi 0 -hops_pointwise_source ${HOPS_SOURCE}/tests/pointfunctions.h
      -dm_plex_box_faces 2,1 -refused

TEST*/
