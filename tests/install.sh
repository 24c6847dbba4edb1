#!/bin/bash
# What `make install` copies is enough for programs outside: by pkg-config and by CMake, linked and as a plugin; `make uninstall`
# takes all of it away.
set -eu
what=${*: -1}
variable() { sed -n "s/^$1=//p" "${HOPS_LIB%/*}/pkgconfig/hops.pc"; } # pkg-config itself says nothing before it finds PETSc's file
petsc=$(variable petsc_dir) arch=$(variable petsc_arch) prefix=$PWD/prefix
sanitizers= # which come first, if the library has them
! grep -q __asan_init "$HOPS_LIB" || sanitizers=-fsanitize=address,undefined

# Of the library as it is: a make with other variables would build another one
hops_make() {
  make -s -C "$HOPS_SOURCE" "$1" prefix="$prefix" libdir="${HOPS_LIB%/*}" BUILD="$PWD/build" PETSC_DIR="$petsc" PETSC_ARCH="$arch"
}
quietly() { "$@" >log 2>&1 || { cat log; exit 1; }; }
# Which library it loads, and what it computes
try() {
  ldd "$1" | grep -o '=> .*/libhops.so[^ ]*' | sed "s|=> $prefix|prefix|"
  "$@" -petsc_ci -order 4 -ksp_type cg -ksp_rtol 1e-10 -pc_type lor
}

quietly hops_make install-only
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$petsc/$arch/lib/pkgconfig
case $what in
pkgconfig)
  quietly make -s -f "$prefix/share/hops/tutorials/makefile" first sanitizers="$sanitizers"
  try ./first
  ;;
fortran)
  quietly make -s -f "$prefix/share/hops/tutorials/makefile" first_fortran sanitizers="$sanitizers"
  try ./first_fortran
  ;;
cmake)
  cat >CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.13)
project(outside C)
find_package(hops 0.1 REQUIRED)
add_executable(first first.c)
target_link_libraries(first hops::hops m)
message(STATUS "plugin ${hops_PLUGIN}")
LISTS
  cp "$prefix/share/hops/tutorials/first.c" .
  unset PKG_CONFIG_PATH # find_package() knows PETSc
  quietly cmake -S . -B cmake -Dhops_DIR="$prefix/lib/cmake/hops" -DCMAKE_C_FLAGS="$sanitizers"
  sed -n "s|^-- plugin $prefix|plugin prefix|p" log
  quietly cmake --build cmake
  try cmake/first
  sed -i 's/hops 0.1/hops 0.2/' CMakeLists.txt
  cmake -S . -B other -Dhops_DIR="$prefix/lib/cmake/hops" >log 2>&1 || echo "0.2 is refused"
  ;;
plugin) # the same library twice, linked and by -dll_append, is one
  quietly make -s -f "$prefix/share/hops/tutorials/makefile" first sanitizers="$sanitizers"
  try ./first -dll_append "$(pkg-config --variable=plugin hops)"
  ;;
beside) # another library in the same prefix keeps what all have in common
  touch "$prefix/lib/libhops_other.so"
  quietly hops_make uninstall
  (cd "$prefix" && ls include/hops.h lib/libhops* share/hops/tutorials/first.c)
  rm "$prefix/lib/libhops_other.so"
  ;;
esac
man=$(find "$prefix/share/man" -name PCLOR.3)
grep -q 'low.*order.*refined' "$man" && echo "PCLOR has a manual page"
quietly hops_make uninstall
find "$prefix" -type f -o -type l

: <<'TESTS'
/*TEST

  test:
    suffix: pkgconfig
    args: pkgconfig

  test:
    suffix: plugin
    args: plugin

  test:
    suffix: beside
    args: beside

  test:
    suffix: fortran
    requires: fortran
    args: fortran

  test:
    suffix: cmake
    requires: cmake
    args: cmake

TEST*/
TESTS
