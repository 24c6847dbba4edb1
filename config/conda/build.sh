#!/bin/bash
# conda-build runs this in the source tree; see meta.yaml
set -eu
make -j"${CPU_COUNT:-1}" lib PETSC_DIR="$PREFIX" PETSC_ARCH=
make install-only prefix="$PREFIX" PETSC_DIR="$PREFIX" PETSC_ARCH=
