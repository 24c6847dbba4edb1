/* Kokkos back end: start and end of Kokkos, memory, copies, queues. */
#include "kokkosimpl.h"
#include <backend/lanes/lor/laneslorhungkinds.h>
#include <cstring>
#include <map>
#include <unordered_map>
#if defined(__linux__)
  #include <dlfcn.h>
#endif

static PetscErrorCode PoolTrim(void);

struct _HopsQueue {
  HopsKokkosExec exec;
};

static HopsKokkosExec  *HopsKokkosDefault; /* works in the order of PETSc's vectors, on this stream */
static HopsKokkosStream HopsKokkosDefaultStream;
static PetscBool        HopsKokkosOwned; /* hops started Kokkos, and ends it */

/* Before Kokkos ends, whoever ends it: a PETSc that started it does that before what is registered to be
   called when PETSc ends (3.22 to 3.25) or after it (3.18) */
static void HopsKokkosLeave(void)
{
  if (HopsKokkosDefault) (void)HopsHungTablesClear(&HopsBackendKokkos);
  if (HopsKokkosDefault) (void)PoolTrim();
  delete HopsKokkosDefault;
  HopsKokkosDefault = NULL;
}

/* When PETSc ends: MPI is still there, and no space is */
static PetscErrorCode HopsKokkosFinalize(void)
{
  PetscFunctionBegin;
  if (Kokkos::is_initialized()) HopsKokkosCall(HopsKokkosLeave(); if (HopsKokkosOwned) Kokkos::finalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Libraries of Kokkos have the same names: what is called may be another one's, which PETSc or the program
   has loaded before */
static PetscErrorCode HopsKokkosCheckLibraries(void)
{
  PetscFunctionBegin;
#if defined(__linux__)
  Dl_info     info = {};
  const char *file = NULL;

  if (dladdr((void *)static_cast<void (*)()>(&Kokkos::finalize), &info) && info.dli_fname) file = std::strrchr(info.dli_fname, '/');
  PetscCheck(!file || !std::strncmp(file + 1, HOPS_KOKKOS_LIBRARY, std::strlen(HOPS_KOKKOS_LIBRARY)), PETSC_COMM_SELF,
             PETSC_ERR_SUP,
             "hops was built with the Kokkos of %s, and in this process another one was loaded before it, %s: load that of "
             "hops first (LD_PRELOAD), build hops, PETSc and the program with the same (KOKKOS_DIR=prefix), or use another back "
             "end (-hops_backend)",
             HOPS_KOKKOS_LIBRARY, info.dli_fname);
#endif
#if defined(PETSC_HAVE_KOKKOS)
  PetscCall(PetscKokkosInitializeCheck());
  PetscCheck(Kokkos::is_initialized(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc has started its Kokkos, and that of hops is another library: build hops with PETSc's (KOKKOS_DIR=prefix)");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc starts Kokkos itself where it was built with it, and ends it */
static PetscErrorCode HopsKokkosInitialize(void)
{
  int             device;
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosDevice(&device));
  PetscCall(HopsKokkosCheckLibraries());
  if (!Kokkos::is_initialized()) {
    PetscCheck(!HopsKokkosOwned, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "Kokkos starts once in a process, and was ended by PetscFinalize(): call PetscInitialize() and PetscFinalize() "
               "once");
    HopsKokkosCall(HopsKokkosStart(device));
    HopsKokkosOwned = PETSC_TRUE;
  }
  PetscCall(HopsKokkosGetStream(&HopsKokkosDefaultStream));
  HopsKokkosCall(exec = new HopsKokkosExec(HopsKokkosOn(HopsKokkosDefaultStream)));
  PetscCall(PetscRegisterFinalize(HopsKokkosFinalize));
  HopsKokkosDefault = exec;
  HopsKokkosCall(Kokkos::push_finalize_hook(HopsKokkosLeave));
  if (HopsKokkosOnHost && exec->concurrency() > 1) PetscCall(HopsHostPoolBegin());
  PetscCall(PetscInfo(NULL, "Kokkos %d.%d.%d works on %s, with %d threads\n", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                      KOKKOS_VERSION % 100, HopsKokkosExec::name(), (int)exec->concurrency()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's stream may be another one than before */
PetscErrorCode HopsKokkosGetExec(HopsQueue queue, HopsKokkosExec **exec)
{
  HopsKokkosStream stream;

  PetscFunctionBegin;
  if (!HopsKokkosDefault) PetscCall(HopsKokkosInitialize());
  if (!queue) {
    PetscCall(HopsKokkosGetStream(&stream));
    if (stream != HopsKokkosDefaultStream) {
      HopsKokkosCall(HopsKokkosDefault->fence(); *HopsKokkosDefault = HopsKokkosOn(stream));
      HopsKokkosDefaultStream = stream;
    }
  }
  *exec = queue ? &queue->exec : HopsKokkosDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Memory of devices: as their driver gives it, without the header of kokkos_malloc(). Another back
   end in the same memory, from which this one takes what it lacks, frees what was allocated here, and the
   reverse. (A Kokkos that takes memory from the driver's pools frees it by its size, which is not known
   here: as blocks of any other size, which drivers allow) ---- */

template <class Space> static PetscErrorCode Malloc(size_t n, void **p)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  *p = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  try {
    *p = Space().allocate("hops", n);
    PetscFunctionReturn(PETSC_SUCCESS);
  } catch (const std::exception &) {
    PetscCall(PoolTrim());
  }
  try {
    *p = Space().allocate("hops", n);
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM,
            "Kokkos has no %g MB in its %s for %s: use more devices, or -hops_backend host. It says: %s", n / 1e6, Space::name(),
            HopsMaking(), e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Space> static PetscErrorCode Free(void **p)
{
  PetscFunctionBegin;
  if (*p) HopsKokkosCall(Space().deallocate("hops", *p, 0));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The pool: blocks that were freed wait for those that ask for their size. All of them work in the
   order of PETSc's vectors, so that what still works with a block has ended when the next one does ---- */

struct HopsKokkosPool {
  std::multimap<size_t, void *>      spare;
  std::unordered_map<void *, size_t> size; /* of all blocks that came from here */
};
static HopsKokkosPool HopsKokkosBlocksOfPool;

/* n and up to a quarter more: 4, 5, 6 or 7 times a power of two */
static size_t PoolSize(size_t n)
{
  size_t unit = 64;

  while (7 * unit < n) unit *= 2;
  return (n + unit - 1) / unit * unit;
}

static PetscErrorCode PoolTrim(void)
{
  HopsKokkosPool *pool = &HopsKokkosBlocksOfPool;

  PetscFunctionBegin;
  for (auto &block : pool->spare) {
    void *p = block.second;

    pool->size.erase(p);
    PetscCall(Free<HopsKokkosMemory>(&p));
  }
  pool->spare.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PoolMalloc(size_t n, void **p)
{
  HopsKokkosPool *pool = &HopsKokkosBlocksOfPool;
  const size_t    size = PoolSize(n);

  PetscFunctionBegin;
  *p = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  const auto block = pool->spare.find(size);

  if (block != pool->spare.end()) {
    *p = block->second;
    pool->spare.erase(block);
  } else {
    PetscCall(Malloc<HopsKokkosMemory>(size, p));
    pool->size[*p] = size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What another back end allocated does not wait: what works with it ends first. (The reverse is not to be: a
   block of this pool that is freed elsewhere leaves its size behind) */
static PetscErrorCode PoolFree(void **p)
{
  HopsKokkosPool *pool = &HopsKokkosBlocksOfPool;
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  if (!*p) PetscFunctionReturn(PETSC_SUCCESS);
  const auto block = pool->size.find(*p);

  if (block != pool->size.end()) {
    pool->spare.insert({block->second, *p});
    *p = NULL;
  } else {
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    HopsKokkosCall(exec->fence());
    PetscCall(Free<HopsKokkosMemory>(p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class To, class From> static PetscErrorCode CopyBytes(const HopsKokkosExec &exec, void *dst, const void *src, size_t n)
{
  typedef Kokkos::MemoryTraits<Kokkos::Unmanaged> Unmanaged;

  PetscFunctionBegin;
  HopsKokkosCall(Kokkos::deep_copy(exec, Kokkos::View<char *, To, Unmanaged>((char *)dst, n),
                                   Kokkos::View<const char *, From, Unmanaged>((const char *)src, n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(HopsQueue queue, void *dst, const void *src, size_t n, HopsCopyDirection direction)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsKokkosGetExec(queue, &exec));
  if (direction == HOPS_COPY_IN) PetscCall((CopyBytes<HopsKokkosMemory, Kokkos::HostSpace>(*exec, dst, src, n)));
  else if (direction == HOPS_COPY_OUT) PetscCall((CopyBytes<Kokkos::HostSpace, HopsKokkosMemory>(*exec, dst, src, n)));
  else PetscCall((CopyBytes<HopsKokkosMemory, HopsKokkosMemory>(*exec, dst, src, n)));
  /* what a copy reads may change after the call, and what it wrote may be read */
  if (!queue && direction != HOPS_COPY_WITHIN) HopsKokkosCall(exec->fence());
  if (!HopsKokkosOnHost && direction == HOPS_COPY_IN) PetscCall(PetscLogCpuToGpu(n));
  if (!HopsKokkosOnHost && direction == HOPS_COPY_OUT) PetscCall(PetscLogGpuToCpu(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(HOPS_KOKKOS_HOST)
/* Large copies of the process by all threads, which touch what is new for the first time */
static PetscErrorCode CopyHost(HopsQueue, void *dst, const void *src, size_t n, HopsCopyDirection)
{
  const size_t    piece = (size_t)1 << 16;
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  if (n <= 4 * piece) {
    PetscCall(PetscMemcpy(dst, src, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  HopsKokkosCall(Kokkos::parallel_for("HopsCopy", HopsKokkosRange(*exec, 0, (n + piece - 1) / piece), [=](size_t i) {
    std::memcpy((char *)dst + i * piece, (const char *)src + i * piece, PetscMin(piece, n - i * piece));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HopsMemoryOps HopsKokkosHostMemory(const HopsMemoryOps *host)
{
  HopsMemoryOps memory = *host;

  memory.Copy = CopyHost;
  return memory;
}
#endif

/* Kokkos would fill a host's memory byte by byte, or with zeros by one thread, though it is often touched for
   the first time here */
PetscErrorCode HopsKokkosSet(void *p, int byte, size_t n)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsKokkosGetExec(NULL, &exec));
#if defined(HOPS_KOKKOS_HOST)
  const size_t piece = (size_t)1 << 16;

  HopsKokkosCall(Kokkos::parallel_for("HopsSet", HopsKokkosRange(*exec, 0, (n + piece - 1) / piece),
                                      [=](size_t i) { std::memset((char *)p + i * piece, byte, PetscMin(piece, n - i * piece)); }));
#else
  typedef Kokkos::MemoryTraits<Kokkos::Unmanaged> Unmanaged;

  HopsKokkosCall(Kokkos::deep_copy(*exec, Kokkos::View<unsigned char *, HopsKokkosMemory, Unmanaged>((unsigned char *)p, n),
                                   (unsigned char)byte));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsKokkosScan(size_t n, int x[])
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  HopsKokkosCall(Kokkos::parallel_scan(
    "HopsScan", HopsKokkosRange(*exec, 0, n + 1), KOKKOS_LAMBDA(const size_t i, int &sum, const bool last) {
      const int count = x[i];

      if (last) x[i] = sum;
      sum += count;
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Queues: on devices alone. Kokkos has no events, so the process waits where work meets ---- */

static PetscErrorCode QueueCreate(HopsQueue *queue)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  HopsKokkosCall(*queue = new _HopsQueue{HopsKokkosBeside(*exec)});
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QueueFinish(HopsQueue queue)
{
  PetscFunctionBegin;
  if (queue) HopsKokkosCall(queue->exec.fence());
  else if (HopsKokkosDefault) HopsKokkosCall(Kokkos::fence());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QueueDestroy(HopsQueue *queue)
{
  PetscFunctionBegin;
  if (*queue) PetscCall(QueueFinish(*queue));
  HopsKokkosCall(delete *queue);
  *queue = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QueueFork(HopsQueue queue)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  HopsKokkosCall(exec->fence());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr bool HopsKokkosQueues = !HopsKokkosOnHost;

const HopsMemoryOps HopsMemoryKokkos = {Malloc<HopsKokkosMemory>,
                                        Free<HopsKokkosMemory>,
                                        PoolMalloc,
                                        PoolFree,
                                        Malloc<HopsKokkosPinned>,
                                        Free<HopsKokkosPinned>,
                                        Copy,
                                        HopsKokkosQueues ? QueueCreate : NULL,
                                        HopsKokkosQueues ? QueueDestroy : NULL,
                                        HopsKokkosQueues ? QueueFork : NULL,
                                        HopsKokkosQueues ? QueueFinish : NULL,
                                        HopsKokkosQueues ? QueueFinish : NULL};
