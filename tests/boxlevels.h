/* Levels of a box with what stands against the device's: spaces, operators and transfers on the host, and a
   cycle of plain loops. */
#pragma once
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
