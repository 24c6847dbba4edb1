/* Copies from global to shared memory that threads do not wait for */
#pragma once

/* *s = *g, or 0 unless ok: then g is not read */
template <class T> __device__ __forceinline__ void HopsBoxCopy(T *s, const T *g, bool ok)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((unsigned int)__cvta_generic_to_shared(s)), "l"(g),
               "n"(sizeof(T)), "r"(ok ? (int)sizeof(T) : 0)
               : "memory");
}

/* until this thread's copies are there */
__device__ __forceinline__ void HopsBoxCopyWait()
{
  asm volatile("cp.async.wait_all;" ::: "memory");
}
