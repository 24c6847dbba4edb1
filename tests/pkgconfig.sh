#!/bin/bash
# A program that is compiled with what pkg-config prints for hops, and nothing else, starts.
set -eu
export PKG_CONFIG_PATH=${HOPS_LIB%/*}/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
variable() { sed -n "s/^$1=//p" "${HOPS_LIB%/*}/pkgconfig/hops.pc"; } # pkg-config itself says nothing before it finds PETSc's file
PKG_CONFIG_PATH=$PKG_CONFIG_PATH:$(variable petsc_dir)/$(variable petsc_arch)/lib/pkgconfig

cat >program.c <<'END'
#include <hops.h>

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(HopsInitialize());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "started\n"));
  PetscCall(PetscFinalize());
  return 0;
}
END
sanitizers= # which come first, if the library has them
! grep -q __asan_init "$HOPS_LIB" || sanitizers=-fsanitize=address,undefined
# shellcheck disable=SC2046,SC2086
mpicc $sanitizers program.c -o program $(pkg-config --cflags --libs hops) 2>&1
./program "$@"

: <<'END'
/*TEST

  test:

TEST*/
END
