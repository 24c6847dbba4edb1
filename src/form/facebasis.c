/* Tensor-product points on the faces of a cell: interpolation, its transpose, and surface geometry, by sum
   factorisation. */
#include <hops/private/hopsfaceimpl.h>

/* E-vector nodes of a face of a cell with n nodes per direction */
PetscErrorCode HopsFaceNodes(PetscInt dim, PetscInt n, PetscInt face, PetscInt node[])
{
  const PetscInt d = face / 2, fixed = face % 2 ? n - 1 : 0, nf = HopsPower(n, dim - 1);
  PetscInt       stride[3] = {1, n, n * n};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < nf; ++i) {
    PetscInt e = fixed * stride[d], k = i;

    for (PetscInt a = 0; a < dim; ++a) {
      if (a == d) continue;
      e += (k % n) * stride[a];
      k /= n;
    }
    node[i] = e;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceBasisCreate(PetscInt dim, PetscInt P, const HopsBasis *basis, HopsFaceBasis *fb)
{
  const PetscReal ends[2] = {-1.0, 1.0};
  const PetscInt  Q = basis->Q, nf = HopsPower(P, dim - 1);
  HopsBasis       at, end;

  PetscFunctionBegin;
  fb->dim = dim;
  fb->P   = P;
  fb->Q   = Q;
  PetscCall(HopsBasisCreateAtPoints(P, Q, basis->points, &at));
  PetscCall(HopsBasisCreateAtPoints(P, 2, ends, &end));
  PetscCall(PetscMalloc6(Q * P, &fb->B, Q * P, &fb->D, Q * P, &fb->Bt, Q * P, &fb->Dt, Q, &fb->points, 2 * P, &fb->E));
  PetscCall(PetscMalloc2(2 * dim * nf, &fb->node, 4 * HopsPower(PetscMax(P, Q), dim - 1), &fb->work));
  PetscCall(PetscArraycpy(fb->B, at.B, Q * P));
  PetscCall(PetscArraycpy(fb->D, at.D, Q * P));
  PetscCall(PetscArraycpy(fb->points, basis->points, Q));
  PetscCall(PetscArraycpy(fb->E, end.D, 2 * P));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt i = 0; i < P; ++i) {
      fb->Bt[i * Q + q] = at.B[q * P + i];
      fb->Dt[i * Q + q] = at.D[q * P + i];
    }
  for (PetscInt f = 0; f < 2 * dim; ++f) PetscCall(HopsFaceNodes(dim, P, f, fb->node + f * nf));
  PetscCall(HopsBasisDestroy(&at));
  PetscCall(HopsBasisDestroy(&end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceBasisDestroy(HopsFaceBasis *fb)
{
  PetscFunctionBegin;
  PetscCall(PetscFree6(fb->B, fb->D, fb->Bt, fb->Dt, fb->points, fb->E));
  PetscCall(PetscFree2(fb->node, fb->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceBasesCreate(HopsFields fields, const HopsBasis *basis, HopsFaceBasis *fb[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fields->nf, fb));
  for (PetscInt f = 0; f < fields->nf; ++f) PetscCall(HopsFaceBasisCreate(fields->dim, fields->P[f], basis, &(*fb)[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceBasesDestroy(HopsFields fields, HopsFaceBasis *fb[])
{
  PetscFunctionBegin;
  for (PetscInt f = 0; f < fields->nf; ++f) PetscCall(HopsFaceBasisDestroy(&(*fb)[f]));
  PetscCall(PetscFree(*fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceInterpolate(const HopsFaceBasis *fb, PetscInt face, PetscBool gradient, const PetscReal e[], PetscReal v[])
{
  const PetscInt fd = fb->dim - 1, d = face / 2, P = fb->P, Q = fb->Q, nf = HopsPower(P, fd), nq = HopsPower(Q, fd),
                 nm     = HopsPower(PetscMax(P, Q), fd);
  const PetscInt  *node = fb->node + face * nf, stride = HopsPower(P, d);
  PetscReal       *u = fb->work, *un = u + nm, *scratch = un + nm; /* trace and normal derivative at the nodes of the face */
  const PetscReal *M[2] = {fb->B, fb->B};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < nf; ++i) u[i] = e[node[i]];
  PetscCall(HopsTensorApply(fd, Q, P, M, u, v, scratch));
  if (!gradient) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < nf; ++i) {
    const PetscReal *line = e + node[i] - (face % 2 ? P - 1 : 0) * stride;

    un[i] = 0.0;
    for (PetscInt k = 0; k < P; ++k) un[i] += fb->E[(face % 2) * P + k] * line[k * stride];
  }
  PetscCall(HopsTensorApply(fd, Q, P, M, un, v + (1 + d) * nq, scratch));
  for (PetscInt t = 0; t < fd; ++t) {
    M[t] = fb->D;
    PetscCall(HopsTensorApply(fd, Q, P, M, u, v + (1 + (t < d ? t : t + 1)) * nq, scratch));
    M[t] = fb->B;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceIntegrate(const HopsFaceBasis *fb, PetscInt face, PetscBool gradient, const PetscReal v[], PetscReal f[])
{
  const PetscInt fd = fb->dim - 1, d = face / 2, P = fb->P, Q = fb->Q, nf = HopsPower(P, fd), nq = HopsPower(Q, fd),
                 nm     = HopsPower(PetscMax(P, Q), fd);
  const PetscInt  *node = fb->node + face * nf, stride = HopsPower(P, d);
  PetscReal       *u = fb->work, *scratch = u + nm;
  const PetscReal *M[2] = {fb->Bt, fb->Bt};

  PetscFunctionBegin;
  PetscCall(HopsTensorApply(fd, P, Q, M, v, u, scratch));
  for (PetscInt i = 0; i < nf; ++i) f[node[i]] += u[i];
  if (!gradient) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsTensorApply(fd, P, Q, M, v + (1 + d) * nq, u, scratch));
  for (PetscInt i = 0; i < nf; ++i) {
    PetscReal *line = f + node[i] - (face % 2 ? P - 1 : 0) * stride;

    for (PetscInt k = 0; k < P; ++k) line[k * stride] += fb->E[(face % 2) * P + k] * u[i];
  }
  for (PetscInt t = 0; t < fd; ++t) {
    M[t] = fb->Dt;
    PetscCall(HopsTensorApply(fd, P, Q, M, v + (1 + (t < d ? t : t + 1)) * nq, u, scratch));
    M[t] = fb->Bt;
    for (PetscInt i = 0; i < nf; ++i) f[node[i]] += u[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nanson's formula: normal ds = det J J^-T (reference normal) */
PetscErrorCode HopsFaceGeometry(HopsSpace sp, const HopsFaceBasis *geom, PetscInt cell, PetscInt face, PetscReal x[],
                                PetscReal normal[], PetscReal J[], PetscReal ds[])
{
  const PetscInt dim = sp->dim, d = face / 2, ng = HopsPower(geom->P, dim), nq = HopsPower(geom->Q, dim - 1);
  PetscReal     *v;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscMalloc1((dim + 1) * nq, &v));
  for (PetscInt i = 0; i < dim; ++i) {
    PetscCall(HopsFaceInterpolate(geom, face, PETSC_TRUE, sp->X + (size_t)(cell * dim + i) * ng, v));
    for (PetscInt q = 0; q < nq; ++q) {
      x[q * dim + i] = v[q];
      for (PetscInt j = 0; j < dim; ++j) J[(q * dim + i) * dim + j] = v[(1 + j) * nq + q];
    }
  }
  PetscCall(PetscFree(v));
  for (PetscInt q = 0; q < nq; ++q) {
    PetscReal Ji[9], det = HopsInverse(dim, J + q * dim * dim, Ji), *n = normal + q * dim;

    if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(sp, cell, det));
    ds[q] = 0.0;
    for (PetscInt i = 0; i < dim; ++i) {
      n[i] = (face % 2 ? det : -det) * Ji[d * dim + i];
      ds[q] += n[i] * n[i];
    }
    ds[q] = PetscSqrtReal(ds[q]);
    for (PetscInt i = 0; i < dim; ++i) n[i] /= ds[q];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
