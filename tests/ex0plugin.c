static char help[] = "A code that knows nothing of hops gets its types from the command line.\n";

#include <petscksp.h>

int main(int argc, char **argv)
{
  Mat     A;
  PC      pc;
  MatType mtype;
  PCType  ptype;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatGetType(A, &mtype));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCGetType(pc, &ptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Mat type %s, PC type %s\n", mtype, ptype));
  PetscCall(MatDestroy(&A));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_type pa -pc_type lor

    test:
      suffix: loaded
      args: -dll_append ${HOPS_LIB}
      nsize: {{1 2}}

    test:
      suffix: absent
      args: -petsc_ci_portable_error_output
      filter: grep -o "Unknown Mat type given: pa"

TEST*/
