/* Functions of position, compiled for a back end: at the points of cells, and integrals of them. */
#pragma once
#include <hops/private/hopspointimpl.h>
#include <point/pointfunctionargs.h>

/* What a device may have of a function */
typedef struct {
  HopsPointFunction f;
  PetscInt          nc;
  void             *ctx;
  size_t            ctxsize; /* bytes of ctx that are copied to the device; 0: it gets none */
  PetscObject       owner;   /* which sources may have been given to */
} HopsPositionFunction;

typedef struct {
  HopsPointFunctionList compiled;
  PetscInt              nq;
  PetscReal            *tables; /* on the back end */
  HopsPointFunctionArgs args;   /* of further launches */
} HopsPositionRun;

/* src/point/pointfunction.c: done is false, and nothing is to be ended, where there is no source, or the
   function differs from the program's: a warning said so. The rule's weights and bases need not be there */
PETSC_INTERN PetscErrorCode HopsPositionBegin(HopsPointFunctionList *, HopsSpace, const HopsPositionFunction *, const HopsBasis *,
                                              HopsPositionRun *, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsPositionEnd(HopsPositionRun *);
/* args.out[n][point][component] */
PETSC_INTERN PetscErrorCode HopsPositionEvaluate(HopsPositionRun *, PetscInt first, PetscInt n);
/* after that: waits for the back end; the least cell with a value that is no number; does any vary inside of
   a cell? */
PETSC_INTERN PetscErrorCode HopsPositionVaries(HopsPositionRun *, int flags[2]);
/* a kernel of pointfunctionkernel.cuh, by n threads or fewer */
PETSC_INTERN PetscErrorCode HopsPositionLaunch(HopsPositionRun *, const char kernel[], size_t n);
