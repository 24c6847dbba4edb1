#!/bin/bash
# The notebooks of docs/notebooks print what they say they print; Jupyter is not needed.
set -eu
unset PETSC_OPTIONS # Python does not free everything before MPI ends
"$HOPS_SOURCE/python/build" "$HOPS_LIB" "$PWD/package" >log 2>&1 || { cat log; exit 1; }
PYTHON=$("$HOPS_SOURCE/config/python" petsc4py)
export PYTHONPATH=$PWD/package${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=agg MPLCONFIGDIR=$PWD
for notebook in "$HOPS_SOURCE"/docs/notebooks/*.ipynb; do
  echo "${notebook##*/}"
  ${HOPS_PRELOAD:-} "$PYTHON" "$HOPS_SOURCE/config/notebook" check "$notebook"
done

: <<'END'
/*TEST

  test:
    requires: petsc4py real
    timeoutfactor: 3

TEST*/
END
