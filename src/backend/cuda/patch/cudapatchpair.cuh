/* Two numbers in single precision, of patches or of cells whose 1D matrices are the same. */
#pragma once

struct alignas(8) HopsPatchPair {
  float a, b;
};

__device__ __forceinline__ HopsPatchPair operator+(HopsPatchPair x, HopsPatchPair y)
{
  return {x.a + y.a, x.b + y.b};
}

__device__ __forceinline__ HopsPatchPair operator-(HopsPatchPair x, HopsPatchPair y)
{
  return {x.a - y.a, x.b - y.b};
}

__device__ __forceinline__ HopsPatchPair operator*(float s, HopsPatchPair x)
{
  return {s * x.a, s * x.b};
}

__device__ __forceinline__ HopsPatchPair &operator+=(HopsPatchPair &x, HopsPatchPair y)
{
  x.a += y.a;
  x.b += y.b;
  return x;
}
