/* The back ends by name. Accelerator conditionals live here and in petscshim.h. */
#include <hops/private/hopsimpl.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define HOPS_MAX_BACKENDS 8
static const HopsBackendOps *HopsBackends[HOPS_MAX_BACKENDS] = {
  &HopsBackendHost,
#if defined(PETSC_HAVE_CUDA)
  &HopsBackendCUDA,
#endif
#if defined(HOPS_HAVE_KOKKOS)
  &HopsBackendKokkos,
#endif
};

/* what would bring a back end that this build lacks */
static const char *const HopsBackendRemedies[][2] = {{"cuda",
                                                      "build it with a PETSc that was configured --with-cuda, nvcc on the PATH"},
                                                     {"kokkos", "build it with KOKKOS=1 (Debian's package) or KOKKOS_DIR=prefix"}};

static const char *Making;

const char *HopsMake(const char what[])
{
  const char *was = Making;

  Making = what;
  return was;
}

const char *HopsMaking(void)
{
  return Making ? Making : "an array";
}

PetscErrorCode HopsBackendRegister(const HopsBackendOps *ops)
{
  PetscInt i = 0;

  PetscFunctionBegin;
  while (i < HOPS_MAX_BACKENDS && HopsBackends[i] && HopsBackends[i] != ops) ++i;
  PetscCheck(i < HOPS_MAX_BACKENDS, PETSC_COMM_SELF, PETSC_ERR_SUP, "More than %d back ends", HOPS_MAX_BACKENDS);
  HopsBackends[i] = ops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBackendGet(const char name[], const HopsBackendOps **ops)
{
  char names[256] = "";

  PetscFunctionBegin;
  for (PetscInt i = 0; i < HOPS_MAX_BACKENDS && HopsBackends[i]; ++i) {
    PetscBool same;

    PetscCall(PetscStrcmp(name, HopsBackends[i]->name, &same));
    if (same) {
      *ops = HopsBackends[i];
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(HopsBackendRemedies); ++i) {
    PetscBool same;

    PetscCall(PetscStrcmp(name, HopsBackendRemedies[i][0], &same));
    PetscCheck(!same, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "This build of hops has no back end \"%s\" (-hops_backend): %s, or use -hops_backend host", name,
               HopsBackendRemedies[i][1]);
  }
  for (PetscInt i = 0; i < HOPS_MAX_BACKENDS && HopsBackends[i]; ++i) {
    PetscCall(PetscStrlcat(names, i ? ", " : "", sizeof(names)));
    PetscCall(PetscStrlcat(names, HopsBackends[i]->name, sizeof(names)));
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown back end \"%s\" (-hops_backend): this build has %s", name, names);
}

PetscErrorCode HopsBackendOfMemory(PetscMemType type, const HopsBackendOps **ops)
{
  PetscFunctionBegin;
  *ops = NULL;
  for (PetscInt i = 0; i < HOPS_MAX_BACKENDS && HopsBackends[i] && !*ops; ++i)
    if (HopsBackends[i]->memtype == type) *ops = HopsBackends[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of Kokkos lie where PETSc's Kokkos works: the back end kokkos, or another one of that memory */
static PetscErrorCode HopsSpaceSetBackendFromKokkos(HopsSpace sp, VecType type)
{
  PetscFunctionBegin;
#if HOPS_HAVE_VECKOKKOS
  if (!sp->backendset) {
  #if defined(HOPS_HAVE_KOKKOS)
    sp->backend = &HopsBackendKokkos;
  #else
    PetscCall(HopsBackendOfMemory(PETSC_MEMTYPE_KOKKOS, &sp->backend));
    PetscCheck(sp->backend, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
               "The DM's vectors have type %s, and no back end works in their memory: build hops with KOKKOS_DIR=prefix", type);
  #endif
    PetscCall(PetscInfo(sp, "back end %s, as the DM's vectors have type %s\n", sp->backend->name, type));
  }
  sp->kokkosvecs = sp->backend->memtype == PETSC_MEMTYPE_KOKKOS ? PETSC_TRUE : PETSC_FALSE;
#else
  (void)sp;
  (void)type;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetVecTypeFromMat(HopsSpace sp, Mat A)
{
#if HOPS_HAVE_VECKOKKOS
  VecType type;
  char   *found = NULL;
#endif

  PetscFunctionBegin;
#if HOPS_HAVE_VECKOKKOS
  if (sp->kokkosvecs || sp->backend->memtype != PETSC_MEMTYPE_KOKKOS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetVecType(A, &type));
  if (type) PetscCall(PetscStrstr(type, VECKOKKOS, &found));
  if (found) PetscCall(PetscInfo(sp, "its vectors have type %s from now on, as the operator's\n", VECKOKKOS));
  if (found) sp->kokkosvecs = PETSC_TRUE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

VecType HopsSpaceVecType(HopsSpace sp)
{
  return sp->kokkosvecs ? VECKOKKOS : sp->backend->vectype;
}

/*
  VecSetType() gives a vector of several ranks on a device memory of the host too, page-locked and set to
  zero: 5 ms for each million of entries, more than most of what a set-up does. A vector on arrays that are
  not there has no memory until it is used.
*/
PetscErrorCode HopsVecCreate(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N, VecType type, Vec *x)
{
#if defined(PETSC_HAVE_CUDA)
  PetscMPIInt size;
  PetscBool   cuda, mpicuda;
#endif

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscStrcmp(type, VECCUDA, &cuda));
  PetscCall(PetscStrcmp(type, VECMPICUDA, &mpicuda));
  if (size > 1 && (cuda || mpicuda)) {
    PetscCall(VecCreateMPICUDAWithArrays(comm, bs, n, N, NULL, NULL, x));
    PetscCall(VecSet(*x, 0.0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(VecCreate(comm, x));
  PetscCall(VecSetSizes(*x, n, N));
  PetscCall(VecSetBlockSize(*x, bs));
  PetscCall(VecSetType(*x, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatCreateVecs() of matrices of hops */
PetscErrorCode HopsMatCreateVecs(Mat A, Vec *right, Vec *left)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt bs[2], n[2], N[2];
  VecType  type;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatGetLocalSize(A, &n[0], &n[1]));
  PetscCall(MatGetSize(A, &N[0], &N[1]));
  PetscCall(MatGetBlockSizes(A, &bs[0], &bs[1]));
  if (right) PetscCall(HopsVecCreate(comm, PetscAbs(bs[1]), n[1], N[1], type, right));
  if (left) PetscCall(HopsVecCreate(comm, PetscAbs(bs[0]), n[0], N[0], type, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetBackendFromDM(HopsSpace sp, DM dm)
{
  VecType type;
  char   *found = NULL;

  PetscFunctionBegin;
  PetscCall(DMGetVecType(dm, &type));
  if (type) PetscCall(PetscStrstr(type, VECKOKKOS, &found));
  if (found) {
    PetscCall(HopsSpaceSetBackendFromKokkos(sp, type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (sp->backendset) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; type && i < HOPS_MAX_BACKENDS && HopsBackends[i]; ++i) { /* "cuda", "seqcuda", "mpicuda" */
    if (PetscMemTypeHost(HopsBackends[i]->memtype)) continue;
    PetscCall(PetscStrstr(type, HopsBackends[i]->vectype, &found));
    if (found) {
      sp->backend = HopsBackends[i];
      PetscCall(PetscInfo(sp, "back end %s, as the DM's vectors have type %s\n", sp->backend->name, type));
      break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateVecWithArray(HopsSpace sp, const PetscReal a[], Vec *x)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)sp);

  PetscFunctionBegin;
#if HOPS_HAVE_VECKOKKOS
  if (sp->kokkosvecs) {
    PetscCall(VecCreateMPIKokkosWithArray(comm, 1, sp->nT, sp->N, a, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (sp->backend->host) {
    PetscCheck(HOPS_PARTS == 1, comm, PETSC_ERR_SUP, "Vectors on arrays of real numbers: this PETSc has complex scalars");
    PetscCall(VecCreateMPIWithArray(comm, 1, sp->nT, sp->N, (const PetscScalar *)a, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(PETSC_HAVE_CUDA)
  PetscCall(VecCreateMPICUDAWithArray(comm, 1, sp->nT, sp->N, a, x));
#else
  SETERRQ(comm, PETSC_ERR_SUP, "Vectors on arrays of the back end %s: use -hops_backend host", sp->backend->name);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
