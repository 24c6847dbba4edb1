#!/bin/bash
# The package of python/, built against the library, passes its own tests on one rank and, but for PyMFEM's, on three.
set -eu
unset PETSC_OPTIONS # Python does not free everything before MPI ends
suite=${*: -1}
"$HOPS_SOURCE/python/build" "$HOPS_LIB" "$PWD/package" >log 2>&1 || { cat log; exit 1; }
PYTHON=$("$HOPS_SOURCE/config/python" petsc4py pytest)
export PYTHONPATH=$PWD/package${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$PWD/cache
for n in 1 $([ "$suite" = mfem ] || echo 3); do
  mpiexec --oversubscribe --bind-to none -n $n ${HOPS_PRELOAD:-} "$PYTHON" -m pytest -q -p no:cacheprovider \
    "$HOPS_SOURCE/python/tests/test_$suite.py" >log 2>&1 || { cat log; exit 1; }
  echo "$suite on $n: passed"
done

: <<'END'
/*TEST

  test:
    suffix: hops
    requires: petsc4py
    args: hops

  test:
    suffix: dolfinx
    requires: dolfinx
    timeoutfactor: 5
    args: dolfinx

  test:
    suffix: mfem
    requires: mfem
    args: mfem

  test:
    suffix: ngsolve
    requires: ngsolve
    timeoutfactor: 5
    args: ngsolve

TEST*/
END
