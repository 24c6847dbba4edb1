# Packages that some tutorials and tests use, where they are: what is found here goes into `others`, and tests that require one
# that is not there are skipped. SLEPC_DIR names SLEPc; else it is the one that pkg-config knows, where PETSc is that one too.

others :=
comma  := ,
hops_petscfound := $(if $(filter command environment,$(firstword $(origin PETSC_DIR))),,by pkg-config)

ifneq ($(hops_petscvars),)
  ifneq ($(hops_petscfound),)
    SLEPC_DIR ?= $(shell for n in SLEPc slepc; do $(PKG_CONFIG) --variable=prefix $$n 2>/dev/null && break; done)
  endif
  hops_slepcdirs := $(if $(SLEPC_DIR),$(if $(PETSC_ARCH),$(SLEPC_DIR)/$(PETSC_ARCH)) $(SLEPC_DIR))
  hops_slepcroot := $(firstword $(foreach d,$(hops_slepcdirs),$(if $(wildcard $(d)/include/slepcconf.h),$(d))))
endif
ifneq ($(hops_slepcroot),)
  # one of another minor version is of another PETSc
  minor = $(shell sed -n 's/^.define $(1)_VERSION_MINOR *//p' $(2) /dev/null)
  hops_slepclib := $(firstword $(wildcard $(addprefix $(hops_slepcroot)/lib/,libslepc.so libslepc_*.so)))
  hops_slepclib := $(basename $(notdir $(hops_slepclib)))
  ifeq ($(call minor,SLEPC,$(wildcard $(SLEPC_DIR)/include/slepcversion.h)),$\
        $(call minor,PETSC,$(wildcard $(PETSC_DIR)/include/petscversion.h)))
    others     += $(if $(hops_slepclib),slepc)
    slepcflags := -isystem $(SLEPC_DIR)/include -isystem $(hops_slepcroot)/include
    slepclibs  := -L$(hops_slepcroot)/lib -Wl,-rpath,$(hops_slepcroot)/lib -l$(hops_slepclib:lib%=%)
  endif
endif

# Fortran: PETSc's modules, which its own compiler reads; the program is one for real scalars. CMake, for a program that finds hops by it
ifneq ($(and $(FC),$(filter real,$(PETSC_SCALAR)),$(wildcard $(hops_petscroot)/include/petscksp.mod $(PETSC_DIR)/include/petscksp.mod)),)
  others += $(if $(shell command -v $(firstword $(FC))),fortran)
endif
others += $(if $(shell command -v cmake),cmake)

# deal.II, through its CMake files, where it has PETSc: that of the prefix DEAL_II_DIR, or the system's for the system's PETSc
ifneq ($(or $(DEAL_II_DIR),$(hops_petscfound)),)
  hops_dealii := $(wildcard $(if $(DEAL_II_DIR),$(DEAL_II_DIR)/include,/usr/include)/deal.II/base/config.h)
  ifneq ($(and $(hops_dealii),$(filter cmake,$(others))),)
    others += $(if $(shell grep -s '^.define DEAL_II_WITH_PETSC' $(hops_dealii)),dealii)
  endif
endif

# p4est: the system's where PETSc is, or that of the prefix P4EST_DIR. It is under the GPL: two tutorials link it, the library does
# not
ifneq ($(or $(P4EST_DIR),$(filter-out command% environment%,$(origin PETSC_DIR))),)
  ifneq ($(wildcard $(if $(P4EST_DIR),$(P4EST_DIR)/include,/usr/include)/p8est_lnodes.h),)
    others     += libp4est
    p4estflags := $(if $(P4EST_DIR),-isystem $(P4EST_DIR)/include)
    p4estlibs  := $(if $(P4EST_DIR),-L$(P4EST_DIR)/lib -Wl$(comma)-rpath$(comma)$(P4EST_DIR)/lib) -lp4est -lsc
  endif
endif
