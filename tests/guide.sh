#!/bin/bash
# The programs in Python of the guide's pages, as they stand there.
set -eu
page=${*: -1}
case $page in ngsolve | mfem) ranks=1 ;; *) ranks='1 3' ;; esac
unset PETSC_OPTIONS # Python does not free everything before MPI ends
"$HOPS_SOURCE/python/build" "$HOPS_LIB" "$PWD/package" >log 2>&1 || { cat log; exit 1; }
"$HOPS_SOURCE/config/block" "$page" python >program.py
PYTHON=$("$HOPS_SOURCE/config/python" petsc4py)
export PYTHONPATH=$PWD/package${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$PWD/cache
for n in $ranks; do
  echo "$n:"
  mpiexec --oversubscribe --bind-to none -n "$n" "$PYTHON" program.py -ksp_type cg -ksp_rtol 1e-10 -pc_type lor -ksp_converged_reason
done

: <<'TESTS'
/*TEST

  testset:
    timeoutfactor: 5
    diff_args: -j
    filter: sed "s/iterations [12][0-9]/few iterations/"
    test:
      suffix: ngsolve
      requires: ngsolve
      args: ngsolve

TEST*/
TESTS
