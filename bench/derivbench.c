static char help[] = "Throughput of the construction of the discrete gradient and curl on the unit cube, in rows.\n\
  -orders <p,...> -sizes <n,...> : polynomial orders, wanted numbers of H(curl) unknowns (default 4; 2700000)\n\
  -repeat <n>                    : repetitions, of which the best counts (default 5)\n\n";

#include <hops.h>
#include <hops/private/petscshim.h>
#include "benchtime.h"

static PetscErrorCode TimeDerivative(HopsSpace from, HopsSpace to, PetscInt repeat, const char name[])
{
  PetscInt p, N;
  double   best = 0.0;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetOrder(to, &p));
  PetscCall(HopsSpaceGetSizes(to, NULL, &N));
  for (PetscInt i = 0; i <= repeat; ++i) { /* the first one is not counted: it brings the spaces to the device */
    double t = BenchNow();
    Mat    D;

    PetscCall(HopsSpaceCreateDerivative(from, to, &D));
    t    = BenchNow() - t;
    best = i > 1 ? PetscMin(best, t) : t;
    PetscCall(MatDestroy(&D));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s p=%" PetscInt_FMT " rows=%" PetscInt_FMT ": %.3f ms, %.2f GDoF/s\n", name, p, N,
                        1e3 * best, 1e-9 * N / best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  orders[16] = {4}, no = 16, sizes[16] = {2700000}, ns = 16, repeat = 5;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &no, &set));
  if (!set) no = 1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &ns, &set));
  if (!set) ns = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  for (PetscInt s = 0; s < ns; ++s)
    for (PetscInt i = 0; i < no; ++i) {
      const PetscInt n = (PetscInt)PetscMax(1, PetscFloorReal(PetscPowReal((PetscReal)sizes[s] / 3, 1.0 / 3.0) / orders[i] + 0.5)),
                     faces[3] = {n, n, n};
      DM        dm;
      HopsSpace h1, nd, rt;

      PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, 3, PETSC_FALSE, faces, &dm));
      PetscCall(DMSetFromOptions(dm));
      PetscCall(HopsSpaceCreateH1(dm, orders[i], NULL, 0, NULL, &h1));
      PetscCall(HopsSpaceCreateHCurl(dm, orders[i], NULL, 0, NULL, &nd));
      PetscCall(HopsSpaceCreateHDiv(dm, orders[i], NULL, 0, NULL, &rt));
      PetscCall(TimeDerivative(h1, nd, repeat, "gradient"));
      PetscCall(TimeDerivative(nd, rt, repeat, "curl"));
      PetscCall(HopsSpaceDestroy(&h1));
      PetscCall(HopsSpaceDestroy(&nd));
      PetscCall(HopsSpaceDestroy(&rt));
      PetscCall(DMDestroy(&dm));
    }
  PetscCall(PetscFinalize());
  return 0;
}
