# The tutorials of an installed hops: make first; mpiexec -n 2 ./first -pc_type lor. PKG_CONFIG_PATH must lead to hops.pc and to
# PETSc's own; hops=hops_complex names another flavour. eigen needs SLEPc, adaptive_p4est and adaptive_p8est p4est, programs in
# Fortran the compiler that PETSc was built with.
hops ?= hops
flags := $(shell pkg-config --cflags --libs $(hops))
here := $(dir $(lastword $(MAKEFILE_LIST)))
vpath %.c $(here)
vpath %.F90 $(here)
vpath hops.F90 $(here)../../../include

%: %.c
	mpicc $(sanitizers) $< -o $@ $(flags) -lm

eigen: eigen.c
	mpicc $(sanitizers) $< -o $@ $(flags) $(shell pkg-config --cflags --libs SLEPc 2>/dev/null || pkg-config --cflags --libs slepc) -lm

adaptive_p4est adaptive_p8est: %: %.c
	mpicc $(sanitizers) $< -o $@ $(flags) -lp4est -lsc -lm

%: hops.F90 %.F90
	mpif90 $(sanitizers) -ffree-line-length-0 $(filter -I%,$(flags)) $^ -o $@ $(flags)
