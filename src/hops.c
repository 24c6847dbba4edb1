/* Start and end of the package: checks the PETSc found at run time, registers classes, events, MATPA, PCLOR
   and PCPATCHFD. */
#include <hops/private/hopsimpl.h>
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopsptapimpl.h>
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsboximpl.h>
#include <hops/private/hopsrealhypre.h>

PetscClassId HOPS_SPACE_CLASSID;
PetscClassId HOPS_COEFFICIENT_CLASSID;
PetscClassId HOPS_HPSPACE_CLASSID;
HopsEvents   HopsEvent;

static PetscBool HopsInitialized = PETSC_FALSE;

/*
  Is the PETSc that hops calls initialized? A program that loads its PETSc privately, as Python's petsc4py
  does, leaves it to libhops to load the one that it was linked with: the same, or one that nobody
  initializes. PetscInitialize() loads plugins before PetscInitialized() is true, but after PETSC_COMM_WORLD
  is set.
*/
static PetscBool HopsPetscRuns(void)
{
  PetscBool initialized = PETSC_FALSE, finalized = PETSC_FALSE;

  (void)PetscInitialized(&initialized);
  (void)PetscFinalized(&finalized);
  return initialized || (!finalized && PETSC_COMM_WORLD != MPI_COMM_NULL) ? PETSC_TRUE : PETSC_FALSE;
}

/* PETSc's layouts of Mat and PC change between minor versions, so a library built for another one would
   corrupt memory. */
static PetscErrorCode HopsCheckVersion(void)
{
  PetscInt64 v[4] = {0, 0, 0, 0}; /* wide enough for the PetscInt of any PETSc (little-endian) */
  int        major, minor, subminor;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber((PetscInt *)&v[0], (PetscInt *)&v[1], (PetscInt *)&v[2], (PetscInt *)&v[3]));
  major    = (int)v[0];
  minor    = (int)v[1];
  subminor = (int)v[2];
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This code runs PETSc %d.%d.%d, but libhops was built for PETSc %d.%d: rebuild hops with PETSC_DIR and PETSC_ARCH (or "
             "PKG_CONFIG_PATH) set to the PETSc that this code is linked with",
             major, minor, subminor, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSC_SCALAR and PETSC_REAL are macros of the build; the names "scalar" and "real" are resolved by the
   library that runs. */
static PetscErrorCode HopsCheckTypes(void)
{
  PetscDataType scalar, real;
  PetscBool     foundscalar, foundreal;
  size_t        intsize, realsize;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &intsize));
  PetscCheck(intsize == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This code runs a PETSc with %d-bit indices, but libhops was built for %d-bit indices: rebuild hops with PETSC_DIR "
             "and PETSC_ARCH (or PKG_CONFIG_PATH) set to the PETSc that this code is linked with",
             (int)(8 * intsize), (int)(8 * sizeof(PetscInt)));
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &foundscalar));
  PetscCall(PetscDataTypeFromString("real", &real, &foundreal));
  PetscCheck(foundscalar && foundreal, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc does not name its scalar type");
  PetscCall(PetscDataTypeGetSize(real, &realsize));
  PetscCheck(scalar == PETSC_SCALAR && real == PETSC_REAL, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This code runs a PETSc with %s scalars of %d bits, but libhops needs real scalars of %d bits: run with a real "
             "double-precision PETSc (Debian: libpetsc-real-dev; configure: --with-scalar-type=real --with-precision=double)",
             scalar == real ? "real" : "complex", (int)(8 * realsize), (int)(8 * sizeof(PetscReal)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsRegisterEvents(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("HopsSpaceSetUp", HOPS_SPACE_CLASSID, &HopsEvent.space));
  PetscCall(PetscLogEventRegister("HopsDelegated", HOPS_SPACE_CLASSID, &HopsEvent.delegated));
  PetscCall(PetscLogEventRegister("MatPASetUp", MAT_CLASSID, &HopsEvent.pasetup));
  PetscCall(PetscLogEventRegister("MatPAMult", MAT_CLASSID, &HopsEvent.pamult));
  PetscCall(PetscLogEventRegister("MatPADiagonal", MAT_CLASSID, &HopsEvent.padiag));
  PetscCall(PetscLogEventRegister("MatPAAssemble", MAT_CLASSID, &HopsEvent.paassemble));
  PetscCall(PetscLogEventRegister("MatHopsInterp", MAT_CLASSID, &HopsEvent.interp));
  PetscCall(PetscLogEventRegister("PCHopsMGLevels", PC_CLASSID, &HopsEvent.mgsetup));
  PetscCall(PetscLogEventRegister("HopsResidual", HOPS_SPACE_CLASSID, &HopsEvent.residual));
  PetscCall(PetscLogEventRegister("HopsEssential", HOPS_SPACE_CLASSID, &HopsEvent.essential));
  PetscCall(PetscLogEventRegister("HopsEstimate", HOPS_SPACE_CLASSID, &HopsEvent.estimate));
  PetscCall(PetscLogEventRegister("HopsTransfer", HOPS_SPACE_CLASSID, &HopsEvent.transfer));
  PetscCall(PetscLogEventRegister("HopsPoints", HOPS_SPACE_CLASSID, &HopsEvent.points));
  PetscCall(PetscLogEventSetCollective(HopsEvent.points, PETSC_FALSE)); /* a rank has as many runs of cells as it needs */
  PetscCall(PetscLogEventRegister("PCLORSymbolic", PC_CLASSID, &HopsEvent.lorsymbolic));
  PetscCall(PetscLogEventRegister("PCLORNumeric", PC_CLASSID, &HopsEvent.lornumeric));
  PetscCall(PetscLogEventRegister("PCLORCoef", PC_CLASSID, &HopsEvent.lorcoef));
  PetscCall(PetscLogEventRegister("PCLORAuxiliary", PC_CLASSID, &HopsEvent.lorauxiliary));
  PetscCall(PetscLogEventRegister("PCLORSolverSetUp", PC_CLASSID, &HopsEvent.lorsolver));
  PetscCall(PetscLogEventRegister("PCPatchFDSetUp", PC_CLASSID, &HopsEvent.patchsetup));
  PetscCall(HopsPatchRegisterEvents());
  PetscCall(PetscLogEventRegister("PCPatchFDSolve", PC_CLASSID, &HopsEvent.patchsolve));
  PetscCall(PetscLogEventRegister("MatHopsBoxMult", MAT_CLASSID, &HopsEvent.boxmult));
  PetscCall(PetscLogEventRegister("PCBoxMGSetUp", PC_CLASSID, &HopsEvent.boxsetup));
  PetscCall(PetscLogEventRegister("PCBoxMGCycle", PC_CLASSID, &HopsEvent.boxcycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -info_exclude hops and -log_exclude hops, as for PETSc's own packages */
static PetscErrorCode HopsProcessExclusions(void)
{
  PetscClassId classids[3] = {HOPS_SPACE_CLASSID, HOPS_COEFFICIENT_CLASSID, HOPS_HPSPACE_CLASSID};
  char         list[256];
  PetscBool    set, excluded = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscInfoProcessClass("hops", 3, classids));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-log_exclude", list, sizeof(list), &set));
  if (set) PetscCall(PetscStrInList("hops", list, ',', &excluded));
  if (excluded) {
    for (PetscInt i = 0; i < 3; ++i) PetscCall(PetscLogEventExcludeClass(classids[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsInitialize - Registers the matrix type `MATPA`, the preconditioner types `PCLOR` and `PCPATCHFD`, and
  the classes and log events of hops.

  Not Collective, but every process that uses hops must call it

  Level: beginner

  Notes:
  A program that is linked with hops calls this once, after `PetscInitialize()`. It is not needed where PETSc
  loads the library itself (`-dll_append /path/to/libhops.so`), and further calls do nothing.

  There is nothing to undo by hand: `PetscFinalize()` calls `HopsFinalize()`.

  Errors:
  `PETSC_ERR_LIB` if the PETSc that runs differs from the one hops was built for in its version (major.minor),
  size of indices or type of scalars, or if the one that hops calls is not initialized (with a line on stderr,
  since that one cannot print).

.seealso: `HopsFinalize()`, `MATPA`, `PCLOR`, `HopsSpace`
@*/
PetscErrorCode HopsInitialize(void)
{
  PetscFunctionBegin;
  if (HopsInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  if (!HopsPetscRuns()) { /* which cannot print an error either */
    fprintf(stderr,
            "hops: libhops calls the PETSc that it was built for (%d.%d, real scalars of %d bits, %d-bit indices), and that one is "
            "not initialized: call PetscInitialize() first. If this code did, it runs another PETSc (Python's petsc4py loads one "
            "of its own): run it with the PETSc above (Debian: python3-petsc4py-real), or rebuild hops for the other, with "
            "PETSC_DIR and PETSC_ARCH, if its scalars are real and of double precision\n",
            PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)(8 * sizeof(PetscScalar)), (int)(8 * sizeof(PetscInt)));
    PetscFunctionReturn(PETSC_ERR_LIB);
  }
  PetscCall(HopsCheckVersion());
  PetscCall(HopsCheckTypes());
  HopsInitialized = PETSC_TRUE;
  PetscCall(MatInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(PetscClassIdRegister("Hops Space", &HOPS_SPACE_CLASSID));
  PetscCall(PetscClassIdRegister("Hops Coefficient", &HOPS_COEFFICIENT_CLASSID));
  PetscCall(PetscClassIdRegister("Hops hp Space", &HOPS_HPSPACE_CLASSID));
  PetscCall(MatRegister(MATPA, MatCreate_PA));
  PetscCall(PCRegister(PCLOR, PCCreate_LOR));
#if defined(HOPS_HYPRE)
  PetscCall(PCRegister(PCHYPRE, PCCreate_HopsHypre));
#endif
  PetscCall(MatRegister(MATHOPSINTERP, MatCreate_HopsInterp));
  PetscCall(PCRegister(PCHOPSMG, PCCreate_HopsMG));
  PetscCall(PCRegister(PCPATCHFD, PCCreate_PATCHFD));
  PetscCall(MatRegister(MATHOPSPTAP, MatCreate_HopsPtAP));
  PetscCall(MatRegister(MATHOPSBOX, MatCreate_HopsBox));
  PetscCall(PCRegister(PCBOXMG, PCCreate_BoxMG));
  PetscCall(HopsPlexRegister());
  PetscCall(HopsLinearRegister());
  PetscCall(HopsRegisterEvents());
  PetscCall(HopsProcessExclusions());
  PetscCall(PetscRegisterFinalize(HopsFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsFinalize - Ends the use of hops, so that a later `HopsInitialize()` registers everything anew.

  Not Collective

  Level: developer

  Note:
  `PetscFinalize()` calls this; a user's code does not need to.

.seealso: `HopsInitialize()`
@*/
PetscErrorCode HopsFinalize(void)
{
  PetscFunctionBegin;
  HopsInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls the function that the library's file is named after when it loads it as a plugin (-dll_append,
   -dll_prepend or PetscDLLibraryAppend()): libhops.so, libpetschops.so (by itself, see config/petsc/install),
   libhops_complex.so with LIBSUFFIX. */
#define HOPS_REGISTER_(name) \
  PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_##name(void) \
  { \
    return HopsInitialize(); /* reported by the PETSc that loads it */ \
  }
#define HOPS_REGISTER(name) HOPS_REGISTER_(name)

HOPS_REGISTER(hops)
HOPS_REGISTER(petschops)
#if defined(HOPS_LIBSUFFIX)
HOPS_REGISTER(PetscConcat(hops, HOPS_LIBSUFFIX))
HOPS_REGISTER(PetscConcat(petschops, HOPS_LIBSUFFIX))
#endif
