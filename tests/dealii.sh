#!/bin/bash
# The program of docs/guide/dealii.md, as it stands there, and what else hops_dealii.h gives (dealii.cc), through CMake on deal.II.
# build-guide and build-others make these programs, build/shell, and do not run them.
set -eu
what=${*: -1}
lib=${HOPS_LIB%/*}
unset PETSC_OPTIONS # deal.II does not free everything before PETSc ends
block=$HOPS_SOURCE/config/block

"$block" dealii cmake >CMakeLists.txt
case $what in *guide) "$block" dealii cpp >shell.cc ;; *) cp "$HOPS_SOURCE/tests/dealii.cc" shell.cc ;; esac
quietly() { "$@" >log 2>&1 || { cat log; exit 1; }; }
quietly cmake -S . -B build -Dhops_DIR="$lib/cmake/hops" -DCMAKE_BUILD_TYPE=Release
quietly cmake --build build
case $what in build-*) exit ;; esac
for n in 1 3; do
  echo "$n:"
  case $what in
  guide) mpiexec --oversubscribe --bind-to none -n $n ${HOPS_PRELOAD:-} build/shell -ksp_type cg -ksp_rtol 1e-10 -pc_type lor -ksp_converged_reason ;;
  *) mpiexec --oversubscribe --bind-to none -n $n ${HOPS_PRELOAD:-} build/shell -elastic_pc_lor_elasticity 0,1 ;;
  esac
done

: <<'TESTS'
/*TEST

  testset:
    requires: dealii
    timeoutfactor: 5
    diff_args: -j
    test:
      suffix: guide
      args: guide
      filter: sed "s/iterations [12][0-9]/few iterations/"
    test:
      suffix: others
      args: others
      filter: sed "s/iterations [12][0-9]/few iterations/"

TEST*/
TESTS
