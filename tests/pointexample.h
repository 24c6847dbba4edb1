/* The main program of an example of PETSc, whose own is ExampleMain(), with the toy back end beside it */
#pragma once
#include "pointtoy.h"

int main(int argc, char **argv)
{
  HopsBackendOps toy;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PointToyRegister(&toy));
  return ExampleMain(argc, argv);
}
