/* The team of lanes that kernels of backend/lanes know: the threads of a block, or those of a cell. */
#pragma once
#include <backend/lanes/runtime/lanes.h>

struct HopsCudaAtomics {
  template <class T, class V> __device__ __forceinline__ static void Add(T *y, V v)
  {
    atomicAdd(y, (T)v);
  }
  template <class T, class V> __device__ __forceinline__ static T Take(T *y, V v)
  {
    return atomicAdd(y, (T)v);
  }
  __device__ __forceinline__ static void Least(int *m, int i)
  {
    atomicMin(m, i);
  }
  __device__ __forceinline__ static void Most(int *m, int i)
  {
    atomicMax(m, i);
  }
  __device__ __forceinline__ static void Or(int *m, int i)
  {
    atomicOr(m, i);
  }
  __device__ __forceinline__ static int Swap(int *m, int a, int b)
  {
    return atomicCAS(m, a, b);
  }
  /* once for the threads of a warp that share the byte */
  __device__ __forceinline__ static void OrByte(unsigned char *p, int key, unsigned int bits)
  {
    const unsigned int active = __activemask(), peers = __match_any_sync(active, key);

    bits = __reduce_or_sync(peers, bits);
    if ((int)(threadIdx.x % 32) == __ffs(peers) - 1 && bits && (*(volatile unsigned char *)p & bits) != bits) {
      const size_t at = (size_t)p & 3;

      atomicOr((unsigned int *)(p - at), bits << (8 * at));
    }
  }
};

/* LANES threads in x for each of the CELLS cells of a block, HALVES times in z; of any number, all of the
   block, where LANES is 0 */
template <class real, int LANES = 0, int CELLS = 1, int HALVES = 1> struct HopsCudaTeam : HopsCudaAtomics {
  static constexpr int    lanes = LANES, group = 1, halves = HALVES;
  static constexpr bool   indexed = true; /* __grid_constant__ */
  typedef real            Scalar, Value;
  typedef HopsCudaAtomics Own;
  template <class T> using Of = T; /* values of other numbers */

  template <int N> struct Lines {
    real v[N];

    __device__ __forceinline__       Lines(real *) {}
    __device__ __forceinline__ real *operator[](int)
    {
      return v;
    }
  };

  __device__ __forceinline__ int half() const
  {
    return HALVES > 1 ? threadIdx.z : 0;
  }
  __device__ __forceinline__ int part() const
  {
    return threadIdx.y;
  }
  __device__ __forceinline__ int lane() const
  {
    return threadIdx.x;
  }
  __device__ __forceinline__ int size() const
  {
    return blockDim.x;
  }
  __device__ __forceinline__ int index() const
  {
    return blockIdx.x;
  }
  __device__ __forceinline__ int count() const
  {
    return gridDim.x;
  }
  __device__ __forceinline__ static int begin(int)
  {
    return 0; /* HopsCudaFromFirst() */
  }
  __device__ __forceinline__ int cell(int) const
  {
    return blockIdx.x * CELLS + threadIdx.y;
  }
  __device__ __forceinline__ void Sync() const
  {
    __syncthreads();
  }
  __device__ __forceinline__ bool Any(bool b) const
  {
    return __syncthreads_or(b);
  }
};
