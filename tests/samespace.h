/* Spaces that two back ends set up, compared entry by entry. */
#pragma once
#include <hops/private/hopsimpl.h>
#include "backend_apart.h"

static PetscErrorCode TestCreateSpace(DM dm, HopsFamily f, PetscInt order, DMLabel label, PetscInt n, const PetscInt values[],
                                      HopsSpace *sp)
{
  PetscFunctionBeginUser;
  if (f == HOPS_H1) PetscCall(HopsSpaceCreateH1(dm, order, label, n, values, sp));
  else if (f == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, order, label, n, values, sp));
  else if (f == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, order, label, n, values, sp));
  else PetscCall(HopsSpaceCreateL2(dm, order, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* adds to *different how many of their arrays are */
static PetscErrorCode TestSameSpaces(HopsSpace a, HopsSpace b, PetscInt *different)
{
  const PetscInt in[10] = {a->nT, a->nG, a->nC, a->ncells, a->ninterior, a->gorder, a->rstart, a->nL, a->ness, a->turned};
  const PetscInt mb[10] = {b->nT, b->nG, b->nC, b->ncells, b->ninterior, b->gorder, b->rstart, b->nL, b->ness, b->turned};
  PetscBool      same[7];

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceBringMesh(a));
  PetscCall(HopsSpaceBringMesh(b));
  PetscCall(PetscArraycmp(in, mb, 10, &same[0]));
  if (!same[0] || !a->cglobal != !b->cglobal) {
    ++*different;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArraycmp(a->restr, b->restr, a->ncells * a->ne, &same[0]));
  PetscCall(PetscArraycmp(a->X, b->X, a->ncells * a->dim * HopsPower(a->gorder + 1, a->dim), &same[1]));
  PetscCall(PetscArraycmp(a->cell, b->cell, a->ncells, &same[2]));
  PetscCall(PetscArraycmp(a->ghost, b->ghost, a->nG, &same[3]));
  PetscCall(PetscArraycmp(a->essT, b->essT, a->ness, &same[4]));
  PetscCall(PetscArraycmp(a->essC, b->essC, a->ness, &same[5]));
  PetscCall(PetscArraycmp(a->cglobal, b->cglobal, a->cglobal ? a->nC : 0, &same[6]));
  for (PetscInt i = 0; i < 7; ++i) *different += !same[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -backends <a,b>, the second as ApartUse() has it; NULL without the option */
static PetscErrorCode TestGetBackends(const char *names[2])
{
  static char text[64];
  char       *comma;
  PetscBool   set;

  PetscFunctionBeginUser;
  names[0] = names[1] = NULL;
  PetscCall(ApartRegister());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-backends", text, sizeof(text), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrchr(text, ',', &comma));
  PetscCheck(comma, PETSC_COMM_WORLD, PETSC_ERR_USER, "-backends %s: give two, as in -backends host,apart", text);
  *comma   = 0;
  names[0] = text;
  PetscCall(ApartUse(comma + 1, &names[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
