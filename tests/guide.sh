#!/bin/bash
# The programs of the guide's pages, as they stand there, with the options that the pages give them; deal.II's is in dealii.sh.
set -eu
page=${*: -1}
options='-ksp_type cg -ksp_rtol 1e-10 -pc_type lor -ksp_converged_reason'
box='-dm_plex_simplex 0 -dm_plex_dim 3 -dm_plex_box_faces'
language=c ranks='1 3' flags=
case $page in
your-own-code) options="$box 4,4,4 $options" ;;
eigenvalues) options="$box 3,3,3 -eps_type lobpcg -eps_nev 4 -st_pc_type lor -eps_view_values" ;;
other-codes) ranks=1 ;;
fortran) language=fortran ranks=1 ;;
ngsolve | mfem) language=python ranks=1 ;;
*) language=python ;;
esac

quietly() { "$@" >log 2>&1 || { cat log; exit 1; }; }
variable() { sed -n "s/^$1=//p" "${HOPS_LIB%/*}/pkgconfig/hops.pc"; }
petsc=$(variable petsc_dir)/$(variable petsc_arch)
export PKG_CONFIG_PATH=${HOPS_LIB%/*}/pkgconfig:$petsc/lib/pkgconfig:$(variable petsc_dir)/lib/pkgconfig
PKG_CONFIG_PATH+=${SLEPC_DIR:+:$SLEPC_DIR/lib/pkgconfig}
! grep -q __asan_init "$HOPS_LIB" || flags=-fsanitize=address,undefined
case $language in
c)
  "$HOPS_SOURCE/config/block" "$page" c >program.c
  [ "$page" != eigenvalues ] || slepc=$(pkg-config --cflags --libs SLEPc 2>/dev/null || pkg-config --cflags --libs slepc)
  quietly mpicc -Wall -Werror $flags program.c $(pkg-config --cflags --libs hops) ${slepc:-} -lm -o program
  command=./program
  ;;
fortran)
  "$HOPS_SOURCE/config/block" "$page" fortran >program.F90
  quietly mpif90 -ffree-line-length-0 $flags $(pkg-config --cflags hops) "$HOPS_SOURCE/include/hops.F90" program.F90 \
    $(pkg-config --libs hops) -o program
  command=./program
  ;;
python)
  unset PETSC_OPTIONS # Python does not free everything before MPI ends
  "$HOPS_SOURCE/config/block" "$page" python >program.py
  quietly "$HOPS_SOURCE/python/build" "$HOPS_LIB" "$PWD/package"
  export PYTHONPATH=$PWD/package${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$PWD/cache
  command="${HOPS_PRELOAD:-} $("$HOPS_SOURCE/config/python" petsc4py) program.py"
  ;;
esac
for n in $ranks; do
  echo "$n:"
  # DOLFINx says on stderr what it compiles
  mpiexec --oversubscribe --bind-to none -n "$n" $command $options 2>err || { cat err; exit 1; }
  grep -v '^INFO:root:\|UserWarning: Number of integration points\|^  warnings.warn(\|^$' err >&2 || true
done

: <<'TESTS'
/*TEST

  testset:
    timeoutfactor: 5
    diff_args: -j
    filter: sed "s/iterations [12][0-9]/few iterations/"
    test:
      suffix: your-own-code
      requires: real
      args: your-own-code
    test:
      suffix: other-codes
      requires: real
      args: other-codes
    test:
      suffix: eigenvalues
      requires: real slepc
      args: eigenvalues
    test:
      suffix: fortran
      requires: fortran
      args: fortran
      filter: sed "s/iterations [12][0-9]/few iterations/; s/[2-4]\.[0-9]E-08/few E-08/"
    test:
      suffix: python
      requires: petsc4py
      args: python
    test:
      suffix: dolfinx
      requires: dolfinx
      args: dolfinx
    test:
      suffix: mfem
      requires: mfem
      args: mfem
    test:
      suffix: ngsolve
      requires: ngsolve
      args: ngsolve

TEST*/
TESTS
