/*
  The device's memory that hypre takes. Where there is none left hypre ends the process; here it gets memory
  of the host that the device can reach, slow as that is, so that its set-up comes to an end, and hops raises
  PETSc's error then. hypre built with Umpire or a pool of its own keeps that.
*/
#include <hops/private/hopsdevicematimpl.h>

#if HOPS_HAVE_HYPRE_DEVICE
  #include <petscdevice_cuda.h>
  #include <petscmathypre.h>

  #if defined(HYPRE_USING_UMPIRE_DEVICE) || defined(HYPRE_USING_DEVICE_POOL) || !PETSC_PKG_HYPRE_VERSION_GE(2, 25, 0)
    #define HOPS_HYPRE_MEMORY 0 /* hypre's own */
  #else
    #define HOPS_HYPRE_MEMORY 1
  #endif

  #if HOPS_HYPRE_MEMORY
typedef struct _Elsewhere *Elsewhere;
struct _Elsewhere { /* an allocation in the host's memory */
  void     *p;
  Elsewhere next;
};

static struct {
  Elsewhere list;
  size_t    lacking; /* bytes that the device did not have since this was last told */
  size_t    most;    /* bytes that hypre's pool may hold, or 0 */
} memory;

static cudaError_t DeviceMalloc(void **p, size_t n)
{
    #if defined(HYPRE_USING_DEVICE_MALLOC_ASYNC)
  if (memory.most) {
    unsigned long long used = 0;
    cudaMemPool_t      pool;
    int                device;

    if (cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetMemPool(&pool, device) == cudaSuccess)
      (void)cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    if (used + n > memory.most) return cudaErrorMemoryAllocation;
  }
  return cudaMallocAsync(p, n, NULL);
    #else
  return cudaMalloc(p, n);
    #endif
}

static void Malloc(void **p, size_t n)
{
  *p = NULL;
  if (DeviceMalloc(p, n) == cudaSuccess) return;
  (void)cudaGetLastError();
  *p = NULL;
  memory.lacking += n;
  if (cudaMallocManaged(p, n, cudaMemAttachGlobal) == cudaSuccess) {
    Elsewhere e = (Elsewhere)malloc(sizeof(*e)); /* may outlive PetscFinalize() */

    if (e) {
      e->p        = *p;
      e->next     = memory.list;
      memory.list = e;
      return;
    }
    (void)cudaFree(*p);
  }
  (void)cudaGetLastError();
  *p = NULL; /* hypre ends the process */
}

static void Free(void *p)
{
  for (Elsewhere *e = &memory.list; *e; e = &(*e)->next)
    if ((*e)->p == p) {
      Elsewhere gone = *e;

      *e = gone->next;
      free(gone);
      (void)cudaFree(p);
      return;
    }
    #if defined(HYPRE_USING_DEVICE_MALLOC_ASYNC)
  (void)cudaFreeAsync(p, NULL);
    #else
  (void)cudaFree(p);
    #endif
}
  #endif

PetscErrorCode HopsHypreSetMemory(void)
{
  PetscReal most = 0.0;
  PetscBool set;

  PetscFunctionBegin;
  if (!HYPRE_Initialized()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-hops_hypre_memory", &most, &set));
  PetscCheck(!set || most > 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-hops_hypre_memory %g: megabytes, more than 0",
             (double)most);
  #if !HOPS_HYPRE_MEMORY || !defined(HYPRE_USING_DEVICE_MALLOC_ASYNC)
  PetscCheck(!set, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-hops_hypre_memory needs a hypre that allocates from CUDA's pool (--enable-device-malloc-async): leave it out");
  #endif
  #if HOPS_HYPRE_MEMORY
  memory.most = (size_t)(most * 1e6);
  if (!hypre_HandleUserDeviceMalloc(hypre_handle()) && !hypre_HandleUserDeviceMfree(hypre_handle())) {
    PetscCallExternal(hypre_SetUserDeviceMalloc, Malloc);
    PetscCallExternal(hypre_SetUserDeviceMfree, Free);
  }
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreCheckMemory(MPI_Comm comm)
{
  #if HOPS_HYPRE_MEMORY
  double lacking   = (double)memory.lacking, most;
  size_t available = 0, total = 0;

  PetscFunctionBegin;
  memory.lacking = 0;
  PetscCallMPI(MPI_Allreduce(&lacking, &most, 1, MPI_DOUBLE, MPI_MAX, comm));
  if (most > 0.0) {
    PetscCallCUDA(cudaMemGetInfo(&available, &total));
    SETERRQ(comm, PETSC_ERR_MEM,
            "hypre needs %g MB of the device's memory beyond what it could have (of %g MB %g are free): use more devices, "
            "-pc_lor_drop_tol, or -hops_backend host",
            most / 1e6, total / 1e6, available / 1e6);
  }
  #else
  PetscFunctionBegin;
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
