static char help[] = "Uniform boxes: bad input raises a PETSc error that names the remedy. No device is needed.\n\n";

#include "hopsexpect.h"

int main(int argc, char **argv)
{
  const PetscInt  n[3] = {4, 4, 4}, none[3] = {4, 0, 4}, huge[3] = {400, 400, 400};
  const PetscReal negative[3] = {1.0, -1.0, 1.0};
  PetscMPIInt     size;
  PetscReal      *x;
  PetscInt        nx;
  Mat             A = NULL, B;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1)
    EXPECT("several processes", MatCreateHopsBox(PETSC_COMM_WORLD, 3, 2, n, NULL, NULL, 0.0, &A), "one device|PETSC_COMM_SELF");
  EXPECT("one dimension", MatCreateHopsBox(PETSC_COMM_SELF, 1, 2, n, NULL, NULL, 0.0, &A), "2 or 3 dimensions");
  EXPECT("order 9", MatCreateHopsBox(PETSC_COMM_SELF, 3, 9, n, NULL, NULL, 0.0, &A), "orders 1 to 8|MATPA");
  EXPECT("reaction", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, NULL, -1.0, &A), "reaction -1");
  EXPECT("no cells", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, none, NULL, NULL, 0.0, &A), "0 cells in direction 1");
  EXPECT("length", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, negative, NULL, 0.0, &A), "length -1");
  EXPECT("diffusion", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, negative, 0.0, &A), "direction 1 is -1");
  if (sizeof(PetscInt) == 4)
    EXPECT("too many nodes", MatCreateHopsBox(PETSC_COMM_SELF, 3, 8, huge, NULL, NULL, 0.0, &A), "64-bit indices");
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "too many nodes: refused\n"));
#if !defined(PETSC_HAVE_CUDA)
  EXPECT("no CUDA", MatCreateHopsBox(PETSC_COMM_SELF, 3, 2, n, NULL, NULL, 0.0, &A), "no back end \"cuda\"");
#else
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no CUDA: refused\n"));
#endif
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &B));
  PetscCall(MatSetValue(B, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 1, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  EXPECT("nodes of another matrix", MatHopsBoxGetNodes(B, 0, &nx, &x), "not hopsbox|MatCreateHopsBox()");
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetType(pc, PCBOXMG));
  EXPECT("preconditioner of another matrix", PCSetUp(pc), "MatCreateHopsBox()|hopsmg");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: one
  test:
    suffix: two
    nsize: 2
    filter: grep processes

TEST*/
