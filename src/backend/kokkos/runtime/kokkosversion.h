/* The one place that knows the differences between versions of Kokkos (written for 3.4 to 5.2), and
   between its spaces. */
#pragma once
#include <Kokkos_Core.hpp>
#include <hops/private/hopsimpl.h>
#include <petscdevice.h>
#include <petscpkg_version.h>
#if defined(KOKKOS_ENABLE_CUDA) && defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(PETSC_HAVE_HIP)
  #include <petscdevice_hip.h>
#endif

/* Where kernels run, and their memory: Kokkos' own choice, the first of those it was built for */
typedef Kokkos::DefaultExecutionSpace                                  HopsKokkosExec;
typedef HopsKokkosExec::memory_space                                   HopsKokkosMemory;
typedef Kokkos::RangePolicy<HopsKokkosExec, Kokkos::IndexType<size_t>> HopsKokkosRange;

/* The process reads and writes that memory, and one lane of a team does the work of all, for a vector of
   cells. (Memory that a device shares with the process does not make it a host: work there must be waited
   for) */
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)
  #define HOPS_KOKKOS_HOST
static constexpr bool HopsKokkosOnHost = true;
#else
static constexpr bool              HopsKokkosOnHost = false;
#endif
#if defined(KOKKOS_ENABLE_OPENACC) || defined(KOKKOS_ENABLE_OPENMPTARGET) || defined(KOKKOS_ENABLE_HPX)
  #error "hops works on Kokkos' Serial, Threads, OpenMP, Cuda and HIP: take a Kokkos for one of these"
#endif

/* The device has tensor cores of double precision as kernels know them. (Kokkos starts on no other device
   than that it was built for) */
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOS_ARCH_HOPPER90)
static constexpr bool HopsKokkosTensor = true;
#else
static constexpr bool              HopsKokkosTensor = false;
#endif

/* PETSc's own Kokkos is this one */
#if defined(PETSC_HAVE_KOKKOS)
  #if !PETSC_PKG_KOKKOS_VERSION_EQ(KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100)
    #error "This PETSc was built with another version of Kokkos: take the same one (KOKKOS_DIR), since a process has room for one"
  #endif
  #if defined(PETSC_HAVE_KOKKOS_WITHOUT_GPU) && !defined(HOPS_KOKKOS_HOST)
    #error "This PETSc was built with a Kokkos for the host, and this one is for a device: take the same one (KOKKOS_DIR)"
  #endif
#endif

/* Threads of a multiprocessor; of cards for graphics the fewest */
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100) || defined(KOKKOS_ARCH_AMPERE80) || \
  defined(KOKKOS_ARCH_VOLTA70)
  #define HOPS_KOKKOS_THREADS 2048
#else
  #define HOPS_KOKKOS_THREADS 1024
#endif

/* Bytes of shared memory of a multiprocessor */
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
  #define HOPS_KOKKOS_SHARED (228 * 1024)
#elif defined(KOKKOS_ARCH_AMPERE80)
  #define HOPS_KOKKOS_SHARED (164 * 1024)
#elif defined(KOKKOS_ARCH_VOLTA70)
  #define HOPS_KOKKOS_SHARED (96 * 1024)
#else
  #define HOPS_KOKKOS_SHARED (64 * 1024)
#endif

/* No other works beside the only thread of Serial */
#if defined(KOKKOS_ENABLE_SERIAL)
static constexpr bool HopsKokkosAlone = std::is_same<HopsKokkosExec, Kokkos::Serial>::value;
#else
static constexpr bool              HopsKokkosAlone  = false;
#endif

/* What one of those who work at once does at a time (lanes.h), unless it is alone */
template <bool ALONE> struct HopsKokkosAtomics {
  template <class T, class V> KOKKOS_FORCEINLINE_FUNCTION static void Add(T *y, V v)
  {
    if constexpr (ALONE) *y += (T)v;
    else Kokkos::atomic_add(y, (T)v);
  }
  template <class T, class V> KOKKOS_FORCEINLINE_FUNCTION static T Take(T *y, V v)
  {
    if constexpr (ALONE) {
      const T before = *y;

      *y += (T)v;
      return before;
    } else return Kokkos::atomic_fetch_add(y, (T)v);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void Least(int *m, int i)
  {
    if constexpr (ALONE) *m = i < *m ? i : *m;
    else Kokkos::atomic_fetch_min(m, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void Most(int *m, int i)
  {
    if constexpr (ALONE) *m = i > *m ? i : *m;
    else Kokkos::atomic_fetch_max(m, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void Or(int *m, int i)
  {
    if constexpr (ALONE) *m |= i;
    else Kokkos::atomic_fetch_or(m, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int Swap(int *m, int a, int b)
  {
    if constexpr (ALONE) {
      const int before = *m;

      if (before == a) *m = b;
      return before;
    } else return Kokkos::atomic_compare_exchange(m, a, b);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void OrByte(unsigned char *p, int, unsigned int bits)
  {
    if constexpr (ALONE) *p = (unsigned char)(*p | bits);
    else if (bits && (*(volatile unsigned char *)p & bits) != bits) {
      const size_t at = (size_t)p & 3;

      Kokkos::atomic_fetch_or((unsigned int *)(p - at), bits << (8 * at));
    }
  }
};

/* Memory of the process that devices copy from and to; vectors; kinds of memory as PETSc names them */
#if defined(KOKKOS_ENABLE_CUDA)
typedef Kokkos::CudaHostPinnedSpace HopsKokkosPinned;
  #define HOPS_KOKKOS_MEMTYPE PETSC_MEMTYPE_CUDA
  #define HOPS_KOKKOS_VECTYPE VECCUDA
  #if !defined(PETSC_HAVE_CUDA)
    #error "This Kokkos works on CUDA, and this PETSc has no CUDA: configure PETSc --with-cuda, or take a Kokkos for the host"
  #endif
#elif defined(KOKKOS_ENABLE_HIP)
  #if KOKKOS_VERSION >= 40000
typedef Kokkos::HIPHostPinnedSpace HopsKokkosPinned;
  #else
typedef Kokkos::Experimental::HIPHostPinnedSpace HopsKokkosPinned;
  #endif
  #define HOPS_KOKKOS_MEMTYPE PETSC_MEMTYPE_HIP
  #define HOPS_KOKKOS_VECTYPE VECHIP
  #if !defined(PETSC_HAVE_HIP)
    #error "This Kokkos works on HIP, and this PETSc has no HIP: configure PETSc --with-hip, or take a Kokkos for the host"
  #endif
#elif defined(KOKKOS_ENABLE_SYCL)
  #error "The order of work of Kokkos and of PETSc's vectors is not known to hops on SYCL: take a Kokkos for another space"
#else
typedef Kokkos::HostSpace HopsKokkosPinned;
  #define HOPS_KOKKOS_MEMTYPE PETSC_MEMTYPE_HOST
  #define HOPS_KOKKOS_VECTYPE VECSTANDARD
#endif

/* The device that PETSc chose for this process, or -1 */
static inline PetscErrorCode HopsKokkosDevice(int *device)
{
  PetscFunctionBegin;
  *device = -1;
#if defined(KOKKOS_ENABLE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCheck(cudaGetDevice(device) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaGetDevice() failed");
#elif defined(KOKKOS_ENABLE_HIP)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_HIP));
  PetscCheck(hipGetDevice(device) == hipSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "hipGetDevice() failed");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Throws */
static inline void HopsKokkosStart(int device)
{
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;

  if (device >= 0) settings.set_device_id(device);
  settings.set_disable_warnings(true);
#else
  Kokkos::InitArguments settings;

  if (device >= 0) settings.device_id = device;
  settings.disable_warnings = true;
#endif
  Kokkos::initialize(settings);
}

/* Where the back end works now: as a rule where PETSc's own vectors do */
#if defined(KOKKOS_ENABLE_CUDA)
typedef cudaStream_t HopsKokkosStream;
#elif defined(KOKKOS_ENABLE_HIP)
typedef hipStream_t HopsKokkosStream;
#else
typedef int HopsKokkosStream;
#endif
static inline PetscErrorCode HopsKokkosGetStream(HopsKokkosStream *stream)
{
  PetscFunctionBegin;
#if defined(KOKKOS_ENABLE_CUDA)
  PetscCall(HopsGetCUDAStream(stream));
#elif defined(KOKKOS_ENABLE_HIP)
  PetscCall(PetscGetCurrentHIPStream(stream));
#else
  *stream = 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An instance that works there; and another beside it */
static inline HopsKokkosExec HopsKokkosOn(HopsKokkosStream stream)
{
#if defined(HOPS_KOKKOS_HOST)
  return HopsKokkosExec();
#else
  return HopsKokkosExec(stream);
#endif
}

static inline HopsKokkosExec HopsKokkosBeside(const HopsKokkosExec &exec)
{
#if KOKKOS_VERSION >= 30700
  return Kokkos::Experimental::partition_space(exec, 1)[0];
#else
  return exec;
#endif
}
