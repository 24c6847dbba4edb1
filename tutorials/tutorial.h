/* What the tutorials share: the mesh, the solver, and the time of each part */
#pragma once
#include <hops.h>

/* The mesh of the options -dm_plex_...: quadrilaterals or hexahedra */
static inline PetscErrorCode CreateMesh(DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscFunctionReturn(0);
}

/* CG to a relative 1e-12 with the low-order-refined preconditioner of the operator; guess: from x on */
static inline PetscErrorCode SolveFrom(Mat A, Vec b, Vec x, PetscBool guess, PetscInt *its)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Solve(Mat A, Vec b, Vec x, PetscInt *its)
{
  PetscFunctionBeginUser;
  PetscCall(SolveFrom(A, b, x, PETSC_FALSE, its));
  PetscFunctionReturn(0);
}

/* Seconds in each part, from PETSc's log; `algebraic` is the solver of the low-order-refined matrix */
static inline PetscErrorCode PrintTimes(const char algebraic[])
{
  const char *const parts[][3] = {{"HopsSpaceSetUp", "", "spaces"},
                                  {"MatPASetUp", "", "operator set-up"},
                                  {"PCLORSymbolic", "", "LOR pattern"},
                                  {"PCLORNumeric", "", "LOR assembly"},
                                  {"PCLORAuxiliary", "", "derivatives"},
                                  {"PCLORSolverSetUp", algebraic, " set-up"},
                                  {"KSPSolve", "", "solve"},
                                  {"MatPAMult", "", "operator apply"},
                                  {"PCApply", algebraic, " cycles"}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(parts); ++i) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId(parts[i][0], &event));
    PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    if (!info.count) continue;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%-*s %9.4f s, calls: %d\n", parts[i][1], (int)(15 - strlen(parts[i][1])),
                          parts[i][2], info.time, info.count));
  }
  PetscFunctionReturn(0);
}
