/*
  A program that knows neither PETSc nor MPI loads libhops privately, as Python does, and with it a PETSc that
  nobody initializes: each way in returns an error after a line on stderr that says what to do.
*/
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  const char *const names[] = {"HopsInitialize", "PetscDLLibraryRegister_hops", "PetscDLLibraryRegister_petschops"};
  void             *handle  = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);

  if (!handle) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  dup2(STDOUT_FILENO, STDERR_FILENO);
  for (int i = 0; i < 3; i++) {
    int (*initialize)(void) = (int (*)(void))dlsym(handle, names[i]); /* returns a PetscErrorCode */

    printf("%s ", names[i]);
    fflush(stdout);
    printf("returns %s\n", initialize && initialize() ? "an error" : "success");
    fflush(stdout);
  }
  return 0;
}

/*TEST

  test:
    args: ${HOPS_LIB}
    filter: sed 's/([0-9][^)]*)/(VERSION)/'

TEST*/
