# hops, High-Order PreconditionerS for PETSc. `make help` lists the targets and variables.

.DEFAULT_GOAL := all
include config/petsc.mk
include config/others.mk

# With BUILD=dir (or ASAN=1) everything that is built goes below that directory; else the library goes to lib/.
ifeq ($(ASAN),1)
  BUILD ?= build-asan
endif
ifeq ($(origin BUILD),undefined)
  BUILD  := build
  libdir := lib
else
  libdir := $(BUILD)/lib
endif
# LIBSUFFIX=_complex: libhops_complex.so, hops_complex.pc, so that libraries for several PETScs can be installed beside each other
name   := hops$(LIBSUFFIX)
lib    := $(libdir)/lib$(name).so
prefix ?= /usr/local
installlib ?= $(prefix)/lib

VERSION := $(shell sed -n 's/^\#define HOPS_VERSION_[A-Z]* //p' include/hops.h | paste -sd.)
# before version 1 a minor version may change functions
soname  := lib$(name).so.$(basename $(VERSION))
NPROC   := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)

# ---- Flags. OPT and WARN may be set by the user. Of the libraries that PETSc names (PETSC_WITH_EXTERNAL_LIB) only those
# with functions that hops calls are linked: a plugin needs a shared PETSc, which brings its own.
OPT      ?= -O3 -g
WARN     ?= -Wall -Wextra -Wno-unused-parameter
cflags    = $(OPT) -fPIC -fvisibility=hidden -std=gnu11 $(WARN) -MMD -MP -Iinclude -Isrc $(PETSC_CC_INCLUDES) $(CPPFLAGS) $(CFLAGS)
ldlibs    = -Wl,--as-needed -L$(hops_petscroot)/lib -Wl,-rpath,$(hops_petscroot)/lib $(PETSC_LIB_BASIC) $(HYPRE_LIB) $(BLASLAPACK_LIB) $(MPI_LIB) -lm
ifeq ($(OPENMP),1)
  cflags  += -fopenmp -DHOPS_OPENMP
  LDFLAGS += -fopenmp
endif
# RPATH=0: what is installed names no folders of libraries, for packages of a system, which has them where it looks
norpath   = $(if $(filter 0,$(RPATH)),$(filter-out -Wl$(comma)-rpath$(comma)%,$(1)),$(1))
hopsflags = -L$(libdir) -Wl,-rpath,$(abspath $(libdir)) -Wl,--as-needed -l$(name)
ifeq ($(ASAN),1)
  OPT     := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
  LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(shell uname -m),x86_64)
  %_avx2.o:   simd := -mavx2 -mfma
  %_avx512.o: simd := -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
endif
# GCC spends a fifth of its time on unrolled kernels, and half of their objects, on a debugger's variables
ifneq ($(findstring Free Software,$(shell $(CC) --version 2>/dev/null)),)
  %_base.o %_avx2.o %_avx512.o: debug := -fno-var-tracking
endif

# ---- CUDA, where PETSc has it: nvcc of CUDA_DIR, of the PATH, or PETSc's own; machine code for each of CUDA_ARCH
hops_cuda := $(if $(hops_petscconf),$(shell grep -s 'define PETSC_HAVE_CUDA 1' $(hops_petscconf)))
ifneq ($(hops_cuda),)
  CUDA_ARCH ?= 90
  NVCC      ?= $(firstword $(if $(CUDA_DIR),$(CUDA_DIR)/bin/nvcc) $(shell command -v nvcc 2>/dev/null) $(CUDAC))
  cudaroot  := $(abspath $(dir $(NVCC))..)
  nvccflags  = -ccbin $(firstword $(CXX)) -std=c++17 -O3 -Xfatbin=-compress-all -Xcompiler -fPIC,-fvisibility=hidden -Iinclude -Isrc $(PETSC_CC_INCLUDES) \
               $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$(a),code=sm_$(a)) $(NVCCFLAGS)
  ldlibs    += -L$(cudaroot)/lib64 -Wl,-rpath,$(cudaroot)/lib64 -lcudart -lstdc++
endif

# ---- Complex scalars: on the host alone. PETSc has no hypre then, and hops calls that of HYPRE_DIR, or the system's
ifeq ($(PETSC_SCALAR),complex)
  hops_hypre := $(firstword $(wildcard $(if $(HYPRE_DIR),$(HYPRE_DIR)/include/HYPRE.h,/usr/include/hypre/HYPRE.h /usr/include/HYPRE.h)))
  hops_hypre := $(if $(shell grep -s 'define PETSC_HAVE_HYPRE 1' $(hops_petscconf)),,$(hops_hypre))
endif
ifneq ($(hops_hypre),)
  cflags += -DHOPS_HYPRE -isystem $(dir $(hops_hypre))
  ldlibs += $(if $(HYPRE_DIR),-L$(abspath $(HYPRE_DIR))/lib -Wl$(comma)-rpath$(comma)$(abspath $(HYPRE_DIR))/lib) -lHYPRE
  others += hypre
endif

# ---- Kokkos, where asked for: KOKKOS_DIR is its prefix, KOKKOS=1 takes the system's package. Its own header says what it was built
# for, and its CMake files for which processor; version 5 needs C++20
ifneq ($(KOKKOS_DIR)$(filter 1,$(KOKKOS)),)
  kokkosdir  := $(if $(KOKKOS_DIR),$(abspath $(KOKKOS_DIR)))
  kokkosinc  := $(firstword $(foreach d,$(if $(kokkosdir),$(kokkosdir)/include $(kokkosdir)/include/kokkos,/usr/include/kokkos /usr/include/trilinos /usr/include),\
                  $(if $(wildcard $(d)/KokkosCore_config.h),$(d))))
  kokkosconf := $(if $(kokkosinc),$(shell sed -n 's/^.define KOKKOS_\(ENABLE_[A-Z]*\) *$$/\1/p; s/^.define KOKKOS_VERSION \([0-9]*\)$$/\1/p' $(kokkosinc)/KokkosCore_config.h))
  kokkosstd  := -std=gnu++$(shell [ 0$(filter 3% 4% 5%,$(kokkosconf)) -ge 50000 ] && echo 20 || echo 17)
  kokkoslib  := $(firstword $(wildcard $(if $(kokkosdir),$(kokkosdir)/lib/libkokkoscore.so $(kokkosdir)/lib64/libkokkoscore.so $(kokkosdir)/lib/*/libkokkoscore.so,\
                  /usr/lib/*/lib$(if $(findstring trilinos,$(kokkosinc)),trilinos_)kokkoscore.so)))
  kokkosarch := $(if $(kokkoslib),$(shell grep -ohs -- '-m\(arch\|tune\|cpu\)=[a-zA-Z0-9.-]*' $(dir $(kokkoslib))cmake/Kokkos/KokkosTargets.cmake | sort -u))
  cflags     += -DHOPS_HAVE_KOKKOS
  cxxflags    = $(OPT) -fPIC -fvisibility=hidden $(kokkosstd) $(WARN) -Wno-unknown-pragmas -Wno-unused-but-set-variable -Wno-maybe-uninitialized \
                -MMD -MP -Iinclude -Isrc -I$(kokkosinc) $(PETSC_CC_INCLUDES) -DHOPS_HAVE_KOKKOS $(kokkosarch) $(CPPFLAGS) $(CXXFLAGS)
  ldlibs     += $(kokkoslib) -Wl,-rpath,$(dir $(kokkoslib)) -lstdc++ -ldl
  ifneq ($(filter ENABLE_CUDA,$(kokkosconf)),)
    KOKKOS_CXX ?= $(NVCC)
    kokkoscxx   = -x cu $(subst gnu,c,$(kokkosstd)) --extended-lambda --expt-relaxed-constexpr -MMD -MP -MF $(@:.o=.d) -MT $@ -I$(kokkosinc) \
                  $(filter-out -std=%,$(nvccflags)) -DHOPS_HAVE_KOKKOS $(CPPFLAGS)
    ldlibs     += -Wl,--allow-shlib-undefined
  else
    KOKKOS_CXX ?= $(firstword $(CXX))
    kokkoscxx   = $(cxxflags)
  endif
  ifneq ($(filter ENABLE_OPENMP,$(kokkosconf)),)
    cxxflags  += -fopenmp
    kokkoscxx += $(if $(filter ENABLE_CUDA,$(kokkosconf)),-Xcompiler -fopenmp)
    LDFLAGS   += -fopenmp
  endif
endif

# One short line for each file; V=1 prints the commands
quiet = $(if $(filter 1,$(V)),,@printf '%5s %s\n' $(1) $@;)

# ---- Sources. Kernels for a fixed order are one source, %order.cu, and an object for each order; the tables of kernels in the
# sources name these objects' functions, so a missing one does not link.
orders_cudah1order       := 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
orders_cudah1singleorder := 2 3 4 5 6 7 8 9 10
orders_cudaderhamorder   := 2 3 4 5 6 7 8 9
orders_cudatensororder   := 2 3 4 5 6 7 8
orders_cudapatchorder    := 1 2 3 4 5 6 7 8
orders_cudaboxorder      := 1 2 3 4 5 6 7 8
orders_kokkosderhamorder := 2 3 4 5 6 7 8 9
orders_kokkosh1order     := 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
orders_kokkostensororder := 2 3 4 5 6 7 8
orders_patchstagesorder  := 1 2 3 4 5 6 7 8
orders     = $(orders_$(basename $(notdir $(1))))
objects    = $(foreach f,$(basename $(1)),$(if $(call orders,$(f)),$(patsubst %,$(BUILD)/obj/$(f)_%.o,$(call orders,$(f))),$(BUILD)/obj/$(f).o))
src       := $(sort $(shell find src -name '*.c' -not -path '*/cuda/*' $(if $(hops_hypre),,-not -path '*/hypre/real/*') $(if $(hops_cuda)$(KOKKOS_DIR)$(filter 1,$(KOKKOS)),,-not -path '*/lanes/*')))
obj       := $(src:%.c=$(BUILD)/obj/%.o)
ifneq ($(hops_cuda),)
  cusrc   := $(sort $(shell find src -path '*/cuda/*' -name '*.c' -o -path '*/cuda/*' -name '*.cu'))
  obj     += $(call objects,$(cusrc))
endif
ifneq ($(KOKKOS_DIR)$(filter 1,$(KOKKOS)),)
  kksrc   := $(sort $(shell find src -name '*.cpp'))
  obj     += $(call objects,$(kksrc))
endif
tutorial  := $(filter-out $(if $(filter slepc,$(others)),,tutorials/eigen.c) $(if $(filter complex,$(PETSC_SCALAR)),,tutorials/harmonic.c) \
                           $(if $(filter libp4est,$(others)),,tutorials/adaptive_p4est.c tutorials/adaptive_p8est.c),$(wildcard tutorials/*.c)) \
             $(if $(filter fortran,$(others)),$(wildcard tutorials/*.F90))
tutorial  := $(patsubst tutorials/%,$(BUILD)/bin/%,$(basename $(tutorial)))
programs  := $(tutorial) $(if $(filter complex,$(PETSC_SCALAR)),,$(patsubst bench/%.c,$(BUILD)/bin/%,$(wildcard bench/*.c)))
testsrc   := $(wildcard tests/*.c tests/*.sh tutorials/*.c tutorials/*.F90)
formatted := $(sort $(shell find include src tests tutorials bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' 2>/dev/null))

.PHONY: all lib python tutorials bench libceedbench libceed-found test test-long test-gpu test-names check-tests .programs
.PHONY: demo install install-only uninstall clean man docs format check-format check-sources help
.DELETE_ON_ERROR:

all: lib tutorials bench
lib: $(lib) $(libdir)/pkgconfig/$(name).pc
tutorials: $(tutorial)
bench: $(filter $(patsubst bench/%.c,$(BUILD)/bin/%,$(wildcard bench/*.c)),$(programs))

python: lib
	python/build $(lib) $(BUILD)/python
	@echo 'hops: add $(abspath $(BUILD)/python) to PYTHONPATH'

# ---- The library. A change of PETSc or of flags rebuilds everything (the .flags file).
$(BUILD)/.flags: petsc-found complex-found $(if $(KOKKOS_DIR)$(filter 1,$(KOKKOS)),kokkos-found)
	@mkdir -p $(@D)
	@printf '%s\n' '$(name) $(CC) $(cflags) $(LDFLAGS) $(ldlibs) $(KOKKOS_CXX) $(kokkoscxx) $(if $(hops_cuda),$(NVCC) $(nvccflags))' \
	  > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

.PHONY: complex-found
complex-found:
	@test "$(PETSC_SCALAR)" != complex -o -z "$(hops_cuda)$(KOKKOS_DIR)$(filter 1,$(KOKKOS))" || { \
	  echo "hops: complex scalars ($(hops_petscroot)) work on the host alone: leave out KOKKOS, and take a PETSc without CUDA." >&2; exit 1; }

.PHONY: kokkos-found
kokkos-found:
	@test -n "$(kokkosinc)" -a -n "$(kokkoslib)" || { \
	  echo "hops: no Kokkos as a shared library in KOKKOS_DIR='$(KOKKOS_DIR)'." >&2; \
	  echo "Install Debian's libkokkos-dev (12 and 13: libtrilinos-kokkos-dev), or set KOKKOS_DIR to a prefix (config/build-kokkos)." >&2; exit 1; }
	@test -z "$(filter ENABLE_CUDA,$(kokkosconf))" -o -n "$(hops_cuda)" || { \
	  echo "hops: the Kokkos in $(kokkosinc) works on CUDA, and this PETSc has no CUDA. Take a PETSc with CUDA, or a Kokkos for the host." >&2; exit 1; }
	@command -v $(firstword $(KOKKOS_CXX)) >/dev/null || { echo "hops: no compiler for Kokkos: set KOKKOS_CXX (now '$(KOKKOS_CXX)')" >&2; exit 1; }

$(BUILD)/obj/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) -c $(cflags) $(simd) $(debug) $< -o $@

$(BUILD)/obj/src/hops.o: private CPPFLAGS += $(if $(LIBSUFFIX),-DHOPS_LIBSUFFIX=$(subst -,_,$(LIBSUFFIX)))
$(BUILD)/obj/src/backend/kokkos/runtime/kokkosmemory.o: private CPPFLAGS += -DHOPS_KOKKOS_LIBRARY='"$(notdir $(kokkoslib))"'
$(BUILD)/obj/%.o: %.cpp $(BUILD)/.flags
	$(compile_kokkos)

define compile_kokkos
@mkdir -p $(@D)
$(call quiet,CXX)$(KOKKOS_CXX) -c $(kokkoscxx) $(if $(order),-DHOPS_ORDER=$(order)) $< -o $@
endef

define compile_cuda
@mkdir -p $(@D)
$(call quiet,NVCC)$(NVCC) -c $(nvccflags) $(if $(order),-DHOPS_ORDER=$(order)) -MMD -MP -MF $(@:.o=.d) -MT $@ $< -o $@
endef

# Text that a program compiles at run time is a string in the library
$(BUILD)/text/%.inc: src/%
	@mkdir -p $(@D)
	@sed 's/\\/&&/g; s/"/\\"/g; s/.*/"&\\n"/' $< > $@

$(BUILD)/obj/src/point/pointcode.o: $(BUILD)/text/point/pointprelude.h.inc
$(BUILD)/obj/src/point/pointcheck.o: $(BUILD)/text/point/pointcheckargs.h.inc
$(BUILD)/obj/src/point/pointfunction.o: $(patsubst %,$(BUILD)/text/point/%.inc,pointfunctionargs.h pointfunctionkernel.cuh)
pointtexts := pointargs.h pointtensor.h pointkernel.cuh
$(BUILD)/obj/src/form/ds/device/pointtext.o: $(patsubst %,$(BUILD)/text/form/ds/device/%.inc,$(pointtexts))
$(patsubst %,$(BUILD)/obj/src/%.o,point/pointcode point/pointcheck point/pointfunction form/ds/device/pointtext): cflags += -I$(BUILD)/text

$(BUILD)/obj/%.o: %.cu $(BUILD)/.flags
	$(compile_cuda)

define compile_order
$(BUILD)/obj/$(basename $(1))_$(2).o: order := $(2)
$(BUILD)/obj/$(basename $(1))_$(2).o: $(1) $(BUILD)/.flags
	$$(if $$(filter %.cpp,$(1)),$$(compile_kokkos),$$(compile_cuda))
endef
$(foreach f,$(cusrc) $(kksrc) bench/cuda/patchstagesorder.cu,$(foreach o,$(call orders,$(f)),$(eval $(call compile_order,$(f),$(o)))))

# it stays in memory: MPI and Kokkos call it when they end, which may be after PETSc has unloaded it
$(lib): $(obj)
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) -shared -Wl,-soname,$(soname) -Wl,-z,defs -Wl,-z,nodelete $(OPT) $(LDFLAGS) $(obj) \
	  $(call norpath,$(ldlibs)) -o $@.$(VERSION)
	@ln -sf lib$(name).so.$(VERSION) $(libdir)/$(soname)
	@ln -sf lib$(name).so.$(VERSION) $@

hops_pclibs = -L$${libdir} -Wl,-rpath,$${libdir} -l$(name) $(if $(LIBSUFFIX),-L$(hops_petscroot)/lib $(PETSC_LIB_BASIC)) \
              -Wl,-rpath,$(hops_petscroot)/lib
# pkg-config knows one PETSc by that name, so a library with a suffix names its own PETSc itself
define hops_pc
prefix=$(1)
libdir=$(2)
includedir=$(3)
plugin=$${libdir}/lib$(name).so
petsc_dir=$(PETSC_DIR)
petsc_arch=$(PETSC_ARCH)

Name: $(name)
Description: High-Order PreconditionerS for PETSc
Version: $(VERSION)
$(if $(LIBSUFFIX),,Requires: $(hops_petscpc))
Cflags: -I$${includedir} $(if $(LIBSUFFIX),$(PETSC_CC_INCLUDES))
Libs: $(call norpath,$(hops_pclibs))
endef
define hops_cmake
# find_package($(name)): the target hops::hops, and hops_PLUGIN, a path for -dll_append
set(hops_PLUGIN "$(2)/lib$(name).so")
get_property(hops_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
if("C" IN_LIST hops_languages)
  find_dependency(MPI COMPONENTS C)
  set(hops_mpi MPI::MPI_C)
else()
  find_dependency(MPI COMPONENTS CXX)
  set(hops_mpi MPI::MPI_CXX)
endif()
if(NOT TARGET hops::hops)
  set(hops_path "$$ENV{PKG_CONFIG_PATH}")
  set(ENV{PKG_CONFIG_PATH} "$(hops_petscroot)/lib/pkgconfig:$${hops_path}")
  pkg_check_modules(hops_PETSC REQUIRED IMPORTED_TARGET $(hops_petscpc))
  set(ENV{PKG_CONFIG_PATH} "$${hops_path}")
  add_library(hops::hops SHARED IMPORTED)
  set_target_properties(hops::hops PROPERTIES IMPORTED_LOCATION "$(2)/lib$(name).so.$(VERSION)" IMPORTED_SONAME $(soname)
    INTERFACE_INCLUDE_DIRECTORIES "$(3)" INTERFACE_LINK_LIBRARIES "PkgConfig::hops_PETSC;$${hops_mpi}")
endif()
endef
define hops_cmake_version
set(PACKAGE_VERSION $(VERSION))
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if("$${PACKAGE_FIND_VERSION}" STREQUAL "" OR (NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION AND
   "$(basename $(VERSION))" STREQUAL "$${PACKAGE_FIND_VERSION_MAJOR}.$${PACKAGE_FIND_VERSION_MINOR}"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
endef
export hops_cmake_version
export hops_cmake_build   = $(call hops_cmake,$(CURDIR),$(abspath $(libdir)),$(CURDIR)/include)
export hops_cmake_install = $(call hops_cmake,$(prefix),$(installlib),$(prefix)/include)
export hops_pc_build   = $(call hops_pc,$(CURDIR),$(abspath $(libdir)),$${prefix}/include)
export hops_pc_install = $(call hops_pc,$(prefix),$(installlib),$${prefix}/include)

$(libdir)/pkgconfig/$(name).pc: makefile config/petsc.mk include/hops.h $(BUILD)/.flags
	@mkdir -p $(@D) $(libdir)/cmake/$(name)
	@echo "$$hops_cmake_build" > $(libdir)/cmake/$(name)/$(name)-config.cmake
	@echo "$$hops_cmake_version" > $(libdir)/cmake/$(name)/$(name)-config-version.cmake
	@echo "$$hops_pc_build" > $@

# ---- Programs. A program that uses no symbol of hops is not linked with it: such tests load hops with -dll_append.
define link_program
@mkdir -p $(@D)
@rm -f $@
$(call quiet,LD)$(CC) $(cflags) $(examples) $< -MF $@.d -MT $@ $(hopsflags) $(LDFLAGS) $(ldlibs) -o $@
endef

$(BUILD)/bin/%: tutorials/%.c $(lib) $(BUILD)/.flags
	$(link_program)

$(BUILD)/bin/eigen: examples := $(slepcflags)
$(BUILD)/bin/eigen: hopsflags := $(hopsflags) $(slepclibs)
$(BUILD)/bin/adaptive_p4est $(BUILD)/bin/adaptive_p8est: examples := $(p4estflags)
$(BUILD)/bin/adaptive_p4est $(BUILD)/bin/adaptive_p8est: hopsflags := $(hopsflags) $(p4estlibs)

# Fortran: the module is compiled for these alone, a code compiles it for itself
$(BUILD)/fortran/hops.o: include/hops.F90 $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call quiet,FC)$(FC) -c $(FC_FLAGS) $(PETSC_FC_INCLUDES) $(FC_MODULE_OUTPUT_FLAG)$(@D) $< -o $@

$(BUILD)/bin/%: tutorials/%.F90 $(BUILD)/fortran/hops.o $(lib)
	@mkdir -p $(@D) $(BUILD)/fortran/$*
	$(call quiet,FC)$(FC) $(FC_FLAGS) $(PETSC_FC_INCLUDES) $(FC_MODULE_OUTPUT_FLAG)$(BUILD)/fortran/$* -I$(BUILD)/fortran \
	  $< $(BUILD)/fortran/hops.o $(hopsflags) $(LDFLAGS) $(ldlibs) -o $@

# these call the back ends' own functions, which the library hides
backendtests := arraysforms arraysbackends tensors prolong topology plexessential backend_toy hangingerrors matpa forms geometry lor \
                cycle interface hangingpatches hopsmgadaptive hopsmgsingle hopsmgbackends patchbackends boxmg veckokkos \
                $(patsubst tests/%.c,%,$(wildcard tests/point*.c tests/nvrtc*.c))
$(BUILD)/bin/kernelbench $(BUILD)/bin/patchbench $(backendtests:%=$(BUILD)/tests/bin/%): hopsflags := $(obj)

# so do these, which also compare kernels that no library needs
stages := $(if $(hops_cuda),$(call objects,$(wildcard bench/cuda/*.cu)))
$(BUILD)/bin/patchgpubench $(BUILD)/tests/bin/patchkernels: hopsflags := $(obj) $(filter-out %/boxtools.o,$(stages))
boxtools := $(filter %/boxtools.o,$(stages))
$(BUILD)/bin/boxmgbench: hopsflags := $(boxtools) $(hopsflags)
$(BUILD)/bin/boxmgbench: $(boxtools)
$(BUILD)/bin/patchgpubench $(BUILD)/tests/bin/patchkernels: $(stages)

$(BUILD)/bin/%: bench/%.c $(lib) $(BUILD)/.flags
	$(link_program)

# Beside libCEED, where there is one: never part of `all`. The absolute -I tells libCEED where to find the quadrature functions at run
# time; what libCEED itself needs (a driver's library) may be absent where this is linked.
libceedbench: $(BUILD)/bin/libceedbench
$(BUILD)/bin/libceedbench: examples := -I$(abspath bench/libceed) -isystem $(abspath $(LIBCEED_DIR))/include
$(BUILD)/bin/libceedbench: hopsflags := $(hopsflags) -L$(abspath $(LIBCEED_DIR))/lib -Wl,-rpath,$(abspath $(LIBCEED_DIR))/lib -Wl,--allow-shlib-undefined -lceed
$(BUILD)/bin/libceedbench: bench/libceed/libceedbench.c $(wildcard $(LIBCEED_DIR)/lib/libceed.so) $(lib) $(BUILD)/.flags | libceed-found
	$(link_program)

libceed-found:
	@test -n "$(LIBCEED_DIR)" -a -f "$(LIBCEED_DIR)/include/ceed.h" -a -f "$(LIBCEED_DIR)/lib/libceed.so" || { \
	  echo "hops: libceedbench needs libCEED: set LIBCEED_DIR to its prefix, with include/ceed.h and lib/libceed.so (now '$(LIBCEED_DIR)')." >&2; exit 1; }

$(BUILD)/tests/bin/%: examples := $(if $(PETSC_EXAMPLES),-isystem $(PETSC_EXAMPLES))
$(BUILD)/tests/bin/%: tests/%.c $(lib) $(BUILD)/.flags
	$(link_program)

# ---- Tests: prerequisites first, then in a make of its own, which finds the PETSc that was just installed.
# A program that does not compile counts as failed, so the first line of check-tests goes on after errors.
FUZZ ?= --runs 200 --seconds 120 --seed 1
parallel = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(NPROC))
runtests = config/runtests --build '$(BUILD)' --lib '$(lib)' --petscinclude '$(PETSC_DIR)/include $(dir $(hops_petscconf))' \
           --examples '$(PETSC_EXAMPLES)' --others '$(others)' --mpiexec '$(MPIEXEC)' \
           $(if $(search),--search '$(search)') $(if $(again),--again '$(again)') \
           $(if $(filter 1,$(REPLACE)),--replace) $(if $(filter 1,$(VALGRIND)),--valgrind) $(if $(filter 1,$(ASAN)),--slow 5) \
           $(if $(TIMEOUT),--timeout $(TIMEOUT)) $(if $(THREADS),--threads $(THREADS)) $(if $(filter 1,$(DEVICE)),--device) \
           $(if $(filter 1,$(LONG)),--long) $(if $(SLOWEST),--slowest $(SLOWEST)) $(if $(BACKEND),--backend '$(BACKEND)') $(if $(FUZZ),--fuzz='$(FUZZ)')

test:
	@config/setup --test $(if $(filter 1,$(KOKKOS)),--kokkos)
	+@$(MAKE) --no-print-directory $(parallel) all
	+@$(MAKE) --no-print-directory check-tests

check-tests: petsc-found
	+-@$(MAKE) --no-print-directory $(parallel) $(if $(filter 1,$(V)),,-s) -k .programs $$($(runtests) --programs $(testsrc))
	@$(runtests) $(testsrc)

test-long:
	+@$(MAKE) --no-print-directory test LONG=1

test-names:
	@$(runtests) --names $(testsrc)

.programs:
	@:

test-gpu:
	+@$(MAKE) --no-print-directory $(parallel) all
	+@$(MAKE) --no-print-directory check-tests DEVICE=1

demo:
	@config/setup --demo
	+@$(MAKE) --no-print-directory $(parallel) all
	config/demo

# ---- Installing, cleaning, formatting
install: lib
	@$(MAKE) --no-print-directory install-only

# copies what is built: nothing here looks at flags
to    := $(DESTDIR)$(prefix)
tolib := $(DESTDIR)$(installlib)
install-only:
	install -d $(to)/include $(tolib)/pkgconfig $(tolib)/cmake/$(name) $(to)/share/man/man3 $(to)/share/hops/tutorials/meshes
	install -m 644 include/*.h include/*.F90 $(to)/include
	install -m 755 $(lib).$(VERSION) $(tolib)
	ln -sf lib$(name).so.$(VERSION) $(tolib)/$(soname)
	ln -sf lib$(name).so.$(VERSION) $(tolib)/lib$(name).so
	@echo "$$hops_pc_install" > $(tolib)/pkgconfig/$(name).pc
	@echo "$$hops_cmake_install" > $(tolib)/cmake/$(name)/$(name)-config.cmake
	@echo "$$hops_cmake_version" > $(tolib)/cmake/$(name)/$(name)-config-version.cmake
	config/manpages --roff $(BUILD)/man3
	install -m 644 $(BUILD)/man3/*.3 $(to)/share/man/man3
	install -m 644 tutorials/*.[ch] tutorials/*.F90 $(to)/share/hops/tutorials
	install -m 644 config/tutorials.mk $(to)/share/hops/tutorials/makefile
	install -m 644 tutorials/meshes/*.msh $(to)/share/hops/tutorials/meshes

# what libraries with other suffixes have in common stays as long as there is one
uninstall:
	rm -f $(tolib)/lib$(name).so* $(tolib)/pkgconfig/$(name).pc
	rm -rf $(tolib)/cmake/$(name)
	config/manpages --roff $(BUILD)/man3
	ls $(tolib)/libhops*.so >/dev/null 2>&1 || { \
	  rm -f $(addprefix $(to)/include/,$(notdir $(wildcard include/*.h include/*.F90))) && \
	  rm -f $$(cd $(BUILD)/man3 && printf '$(to)/share/man/man3/%s ' *.3) && rm -rf $(to)/share/hops; }

clean:
	rm -rf $(BUILD) $(lib) $(lib).* $(libdir)/pkgconfig $(libdir)/cmake

man:
	config/manpages $(BUILD)/man

docs:
	config/site $(BUILD)/site

CLANGFORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format 2>/dev/null) clang-format)

format:
	$(CLANGFORMAT) -i $(formatted)

check-format:
	@$(CLANGFORMAT) --version | grep -q 'version 14\.' || { echo "hops: the format is that of clang-format 14; found: $$($(CLANGFORMAT) --version 2>&1)" >&2; exit 1; }
	@$(CLANGFORMAT) --dry-run --Werror $(formatted)
	@config/check-columns $(formatted)

# all that looks at sources and documents alone, in seconds; silent where all is well
check-sources: check-format
	@HOPS_SOURCE='$(CURDIR)' tests/sources.sh | diff tests/output/sources_1.out -

help:
	@echo 'make [all]           $(lib), and the programs of tutorials/ and bench/ in $(BUILD)/bin'
	@echo 'make lib             the library alone'
	@echo 'make python          the Python package, in $(BUILD)/python (needs petsc4py and Cython)'
	@echo 'make test            install what is missing (Debian), build, run all tests'
	@echo 'make test-gpu        all tests on device vectors, and those of the CUDA back end: on a machine with a device'
	@echo 'make test-names      the names of all tests'
	@echo 'make demo            install what is missing (Debian), build, run the demonstration'
	@echo 'make libceedbench    the comparison with libCEED, of prefix LIBCEED_DIR'
	@echo 'make install         into prefix=$(prefix), below DESTDIR where set; make uninstall removes that'
	@echo 'make format          rewrite the sources with clang-format; check-format only compares'
	@echo 'make check-sources   check-format, and the checks of folders, documents and tables: before a commit'
	@echo 'make man             the manual pages as Markdown, in $(BUILD)/man'
	@echo 'make docs            the documents and manual pages as a web site, in $(BUILD)/site/html (needs mkdocs)'
	@echo 'make clean           remove what was built'
	@echo
	@echo 'PETSC_DIR, PETSC_ARCH   which PETSc (default: the one pkg-config knows; now $(hops_petscroot))'
	@echo 'SLEPC_DIR               which SLEPc, for tutorials/eigen.c (default: pkg-config'"'"'s; now $(or $(hops_slepcroot),none))'
	@echo 'P4EST_DIR               which p4est, for tutorials/adaptive_p4est.c (default: the system'"'"'s, with its PETSc)'
	@echo 'HYPRE_DIR               which hypre, where PETSc has complex scalars (default: the system'"'"'s; now $(or $(hops_hypre),none))'
	@echo 'BUILD=dir               build everything below dir'
	@echo 'LIBSUFFIX=_complex      the library is libhops_complex.so, and hops_complex for pkg-config and CMake'
	@echo 'RPATH=0                 no folders of libraries in what is installed: where the system finds PETSc by itself'
	@echo 'ASAN=1                  build with the address and undefined-behaviour sanitizers, in build-asan'
	@echo 'OPENMP=1                build with threads inside of a rank, on the host: OMP_NUM_THREADS of them'
	@echo 'CUDA_DIR, CUDA_ARCH     with a PETSc that has CUDA: where nvcc is, and the compute capabilities (now $(or $(CUDA_ARCH),no CUDA))'
	@echo 'KOKKOS_CXX              the compiler of its sources (default: nvcc for CUDA, else PETSc'"'"'s C++; hipcc for HIP)'
	@echo 'KOKKOS=1, KOKKOS_DIR=prefix   with the back end kokkos, on the system'"'"'s Kokkos or on that of a prefix'
	@echo 'V=1                     print the commands'
	@echo 'OPT, WARN, CFLAGS, LDFLAGS, CC     compiler and flags'
	@echo 'test: search=PATTERNS   only tests whose name matches one (ex1_* lor*); TIMEOUT=seconds for each test; THREADS=n with OPENMP=1'
	@echo '      FUZZ=ARGUMENTS    of tests/fuzz (now $(FUZZ)); FUZZ= runs none'
	@echo '      BACKEND=name      only tests that compare back ends, with this one (kokkos); test-gpu: all tests on it'
	@echo '      SLOWEST=n         prints the n slowest tests and programs'
	@echo '      REPLACE=1         write the outputs to tests/output; VALGRIND=1'

-include $(obj:.o=.d) $(stages:.o=.d) $(wildcard $(BUILD)/bin/*.d $(BUILD)/tests/bin/*.d)
