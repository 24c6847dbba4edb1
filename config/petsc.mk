# Finds PETSc and takes its compiler and flags: PETSC_DIR (and PETSC_ARCH) where set, else the PETSc that pkg-config knows.
# Nothing here fails where there is no PETSc: `petsc-found` below does, so that `make test` can install one first.

PKG_CONFIG ?= pkg-config
hops_petscpc := PETSc
ifeq ($(PETSC_DIR),)
  hops_petscpc := $(shell for n in PETSc petsc; do $(PKG_CONFIG) --exists $$n 2>/dev/null && echo $$n && break; done)
  PETSC_DIR    := $(if $(hops_petscpc),$(shell $(PKG_CONFIG) --variable=prefix $(hops_petscpc)))
  PETSC_ARCH   :=
endif
hops_petscroot := $(PETSC_DIR)$(if $(PETSC_ARCH),/$(PETSC_ARCH))
hops_petscvars := $(wildcard $(hops_petscroot)/lib/petsc/conf/petscvariables)
hops_petscconf := $(wildcard $(hops_petscroot)/include/petscconf.h)

# petscvariables also sets MAKE and SHELL, which are not PETSc's to choose here
hops_make := $(MAKE)
-include $(hops_petscvars)
MAKE  := $(hops_make)
SHELL := /bin/bash

# Where the sources of PETSc's examples are: installed with a prefix (Debian: libpetscX.Y-dev-examples), or PETSc's own tree
PETSC_EXAMPLES ?= $(firstword $(wildcard $(hops_petscroot)/share/petsc/examples/src $(PETSC_DIR)/src))

.PHONY: petsc-found
petsc-found:
	@test -n "$(hops_petscvars)" || { \
	  echo "hops: no PETSc found (PETSC_DIR='$(PETSC_DIR)', PETSC_ARCH='$(PETSC_ARCH)', pkg-config names PETSc and petsc)." >&2; \
	  echo "On Debian run config/setup; elsewhere set PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH." >&2; exit 1; }
	@command -v $(firstword $(CC)) >/dev/null || { \
	  echo "hops: PETSc's compiler '$(firstword $(CC))' is not on the PATH. On Debian run config/setup." >&2; exit 1; }
