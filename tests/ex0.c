static char help[] = "Starts hops twice and checks that its types and classes are registered.\n";

#include <hops.h>

int main(int argc, char **argv)
{
  Mat         A;
  PC          pc;
  MatType     mtype;
  PCType      ptype;
  const char *distinct;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(HopsInitialize());
  distinct =
    HOPS_SPACE_CLASSID > 0 && HOPS_COEFFICIENT_CLASSID > 0 && HOPS_SPACE_CLASSID != HOPS_COEFFICIENT_CLASSID ? "yes" : "no";
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATPA));
  PetscCall(MatGetType(A, &mtype));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCGetType(pc, &ptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "hops version %d, %d, %d\n", HOPS_VERSION_MAJOR, HOPS_VERSION_MINOR, HOPS_VERSION_PATCH));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Mat type %s, PC type %s, distinct classes: %s\n", mtype, ptype, distinct));
  PetscCall(MatDestroy(&A));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 3}}

TEST*/
