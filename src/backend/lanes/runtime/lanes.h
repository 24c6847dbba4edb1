/*
  Kernels that several back ends launch. A kernel is written for a team of lanes that work on a cell, or
  on a few: threads of a block on a device, one thread of the process on a host, where a lane's values
  may be vectors of several cells. A team is a class with

    lane(), size()   which lane this is, of how many
    index(), count() which team this is, of how many
    Sync()           what lanes of the team wrote before, all read after
    Any(b)           Sync(), and does b hold for some lane?
    Add(y, v)        *y += v, by one lane at a time; Take(y, v) likewise, and returns what was there before
    Least(m, i)      *m = min(*m, i) by one lane at a time; Most(m, i): the maximum; Or(m, i): bits of both
    Swap(m, a, b)    *m = b where it is a, by one lane at a time; returns what was there before
    OrByte(p, k, b)  *p |= b by one lane at a time, a byte of whole words; k: a number of that byte alone
    Own              a class with these functions for memory that lanes of one team alone write to meanwhile

  and, for kernels whose lanes keep lines in registers, what lanesh1.h asks. One loop serves any size:

    for (int i = team.lane(); i < n; i += team.size())

  Lanes are in rows of HOPS_LANES_ROW, which exchange numbers without scratch or Sync(): HopsLanesSum(),
  HopsLanesMost(), HopsLanesAny() of a row, by all of its lanes. (On a host a row is one lane.)

  A back end launches functors f by a class Back:

    Ops()                          its table
    Teams(name, n, bytes, f, m)    f(team, scratch) by n teams of F::lanes lanes, or of m (on a host one),
                                   with so much scratch of each team's own; F::blocks teams, where it has
                                   that, should fit on a multiprocessor at once
    GetTeams<F>(m, bytes, &n)      such teams that keep the machine busy, each with a loop over its share
    Parts<real>(name, n, f)        f(team, scratch) for n parts of F::lanes lanes, F::cells of which make a
                                   team and meet where one calls Sync(); F::blocks teams should fit at once.
                                   On a host a part is Team::group of the n. team.cell(0) says which (perhaps
                                   none of the n); scratch has F::Numbers<Team>() values of its own. Where F
                                   has Apart<Team>(): f(team, scratch, apart), with so many values more, in
                                   slower memory where a team has no room for both
    Each(name, n, f)               f(i) for i < n
    Set(p, byte, n)                n bytes at p become `byte`
    Scan(n, x)                     x[n + 1] counts, of which the last is overwritten: their sums before each
    GetSizes(bytes, &teams, &own, most)
                                   is there so much scratch, and no more than `most` bytes (or the back end's
                                   own bound)? Teams that keep the machine busy: few where not, since they
                                   get scratch of the back end's memory
    GetThreads(&n)                 threads of a host
    MostScratch()                  bytes of scratch that a team of Teams() can have, in whatever memory
    GetOwn(&bytes)                 the same of its own, which is fast
    Team                           a team of doubles

  A functor may have `blocks`, so many teams of which a device's multiprocessor should hold at once; and
  `indexed`, true: it has arrays that are indexed by what is not known before, which CUDA is not to copy to
  each thread's memory.

  HOPS_LANES qualifies functions that the compiler must inline, HOPS_LANES_CALLED others,
  HOPS_LANES_CONSTEXPR those that the process calls too. What a back end defines before it includes this
  file: HOPS_KOKKOS in those of Kokkos, and HOPS_LANES_ONE where a team is one lane.
*/
#pragma once
#include <math.h>
#include <stddef.h>
#include "lanesconst.h"
#if defined(HOPS_KOKKOS)
  #include <Kokkos_Macros.hpp>
  #define HOPS_LANES        KOKKOS_FORCEINLINE_FUNCTION
  #define HOPS_LANES_CALLED static KOKKOS_INLINE_FUNCTION
#else
  #include <cuda_runtime.h>
  #define HOPS_LANES        __device__ __forceinline__
  #define HOPS_LANES_CALLED __device__ static
#endif

/* What lanes t < N do, of which a device has enough: each its own, t being the lane; or one lane all,
   one after the other. HOPS_ALL_LANES where a device has no others: without a branch, which else keeps
   what follows a barrier from moving before it, or the reverse. No loop is left on a device, nor a
   function with the body as an argument: with either some kernels kept lines in local memory, and took
   up to 15% longer */
#if defined(HOPS_LANES_ONE)
  #define HOPS_EACH_LANE(t, N) for (int t = 0; t < (N); t++)
  #define HOPS_ALL_LANES(t, N) for (int t = 0; t < (N); t++)
#else
  #define HOPS_EACH_LANE(t, N) if (t < (N))
  #define HOPS_ALL_LANES(t, N)
#endif

/* Lanes of a team that has n of them on a device */
HOPS_LANES_CONSTEXPR int HopsLanesOf(int n)
{
#if defined(HOPS_LANES_ONE)
  return n > 0 ? 1 : n;
#else
  return n;
#endif
}

#define HOPS_LANES_ROW HopsLanesOf(32)

/* What the lane has whose number in the row differs in bit o */
template <class T> HOPS_LANES T HopsLanesOther(T x, int o)
{
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(0xffffffffu, x, o);
#elif defined(__HIP_DEVICE_COMPILE__)
  return __shfl_xor(x, o, HOPS_LANES_ROW);
#else
  return (void)o, x;
#endif
}

template <class T> HOPS_LANES T HopsLanesSum(T x)
{
  for (int o = HOPS_LANES_ROW / 2; o; o /= 2) x += HopsLanesOther(x, o);
  return x;
}

HOPS_LANES double HopsLanesMost(double x)
{
  for (int o = HOPS_LANES_ROW / 2; o; o /= 2) x = fmax(x, HopsLanesOther(x, o));
  return x;
}

HOPS_LANES int HopsLanesAny(int bits)
{
  for (int o = HOPS_LANES_ROW / 2; o; o /= 2) bits |= HopsLanesOther(bits, o);
  return bits;
}

/* Sync() of a row alone */
HOPS_LANES void HopsLanesRowSync()
{
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/* An error of the device, for what is never to run */
HOPS_LANES void HopsLanesStop()
{
#if defined(__CUDA_ARCH__)
  __trap();
#endif
}

/* On a host data of the next group of lanes are asked for while this one is worked on, where they are read
   with strides that a processor does not foresee */
static HOPS_LANES void HopsLanesPrefetch(const void *p, size_t bytes)
{
#if defined(HOPS_LANES_ONE)
  for (size_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)p + b, 0, 2);
#endif
}

/* A value of a team: of[g] of each of its lanes' numbers */
template <class Value, int group, class F> HOPS_LANES Value HopsLanesEach(const F &of)
{
  if constexpr (group == 1) return of(0);
  else {
    Value v;

    for (int g = 0; g < group; g++) v[g] = of(g);
    return v;
  }
}

/* Number g of a value */
template <class T, class Value> HOPS_LANES T HopsLanesNumber(const Value &v, int g)
{
  if constexpr (sizeof(T) == sizeof(Value)) return v;
  else return v[g];
}

/* The compiler reads memory again that it had read before: kept in registers, it would spill */
HOPS_LANES void HopsLanesForget()
{
#if defined(__CUDA_ARCH__)
  asm volatile("" ::: "memory");
#endif
}

/* What no lane writes while the kernel runs; and what is read once */
template <class T> HOPS_LANES T HopsLoad(const T *p)
{
#if defined(__CUDA_ARCH__)
  return __ldg(p);
#else
  return *p;
#endif
}

template <class T> HOPS_LANES T HopsLoadOnce(const T *p)
{
#if defined(__CUDA_ARCH__)
  return __ldcs(p);
#else
  return *p;
#endif
}

/* Two numbers that lie side by side, the first one at a multiple of their size, at once */
template <class T> struct HopsPair {
  T a, b;
};

HOPS_LANES void HopsStorePair(int *p, int a, int b)
{
#if defined(__CUDA_ARCH__)
  *(int2 *)p = make_int2(a, b);
#else
  p[0] = a;
  p[1] = b;
#endif
}

HOPS_LANES void HopsStorePair(double *p, double a, double b)
{
#if defined(__CUDA_ARCH__)
  *(double2 *)p = make_double2(a, b);
#else
  p[0] = a;
  p[1] = b;
#endif
}

HOPS_LANES HopsPair<double> HopsLoadPair(const double *p)
{
#if defined(__CUDA_ARCH__)
  const double2 x = __ldg((const double2 *)p);

  return {x.x, x.y};
#else
  return {p[0], p[1]};
#endif
}

/* The same of any memory, which lanes may write */
HOPS_LANES HopsPair<double> HopsReadPair(const double *p)
{
#if defined(__CUDA_ARCH__)
  const double2 x = *(const double2 *)p;

  return {x.x, x.y};
#else
  return {p[0], p[1]};
#endif
}

/* Bits of x; the place of the lowest one of x != 0 */
HOPS_LANES int HopsBits(unsigned int x)
{
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

HOPS_LANES int HopsLowestBit(unsigned int x)
{
#if defined(__CUDA_ARCH__)
  return __ffs(x) - 1;
#else
  return __builtin_ctz(x);
#endif
}

HOPS_LANES int HopsMin(int a, int b)
{
#if defined(__CUDA_ARCH__)
  return min(a, b); /* one instruction, also where ptxas would not see it */
#else
  return a < b ? a : b;
#endif
}

HOPS_LANES int HopsMax(int a, int b)
{
  return a > b ? a : b;
}

/* 1/x to rounding, for normal x */
template <class V> HOPS_LANES V HopsInverseOf(V x)
{
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(V) == sizeof(float)) return __frcp_rn(x);
  else {
    double r;

    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r *= 2 - x * r;
    return r * (2 - x * r);
  }
#else
  return 1 / x;
#endif
}

/* blocks of a functor, 0 where it has none */
template <class F> static constexpr auto HopsLanesBlocks(int) -> decltype(F::blocks)
{
  return F::blocks;
}

template <class F> static constexpr int HopsLanesBlocks(...)
{
  return 0;
}

/* indexed of a functor, false where it has none */
template <class F> static constexpr auto HopsLanesIndexed(int) -> decltype(F::indexed)
{
  return F::indexed;
}

template <class F> static constexpr bool HopsLanesIndexed(...)
{
  return false;
}

/* Apart<Team>() of a functor, 0 where it has none */
template <class F, class Team> HOPS_LANES_CONSTEXPR auto HopsLanesApart(int) -> decltype(F::template Apart<Team>())
{
  return F::template Apart<Team>();
}

template <class F, class Team> HOPS_LANES_CONSTEXPR int HopsLanesApart(...)
{
  return 0;
}

/* n^d, d = 1 to 3 */
HOPS_LANES_CONSTEXPR int HopsLanesPower(int n, int d)
{
  return d == 3 ? n * n * n : (d == 2 ? n * n : n);
}

/* e / n as a product, which a device does in two instructions and a division in twenty; e n < 2^31 */
struct HopsLanesQuotient {
  unsigned n, inverse;

  HOPS_LANES_CONSTEXPR explicit HopsLanesQuotient(int by) : n(by), inverse(0x80000000u / by + 1) {}

  /* and the rest */
  HOPS_LANES int operator()(int e, int *rest) const
  {
    const int q = (int)((unsigned long long)inverse * (unsigned)e >> 31);

    *rest = e - q * (int)n;
    return q;
  }
};

/* The weight of point q of a cell with Q in a direction, the first one fastest */
HOPS_LANES_CALLED double HopsLanesWeight(int dim, int Q, const double *w, int q)
{
  double f = 1;

  for (int d = 0; d < dim; d++, q /= Q) f *= w[q % Q];
  return f;
}

/* Where the n numbers of a cell begin, which lie `group` apart */
HOPS_LANES_CALLED size_t HopsLanesCell(int group, size_t cell, int n)
{
  return group == 1 ? cell * n : cell / group * n * group + cell % group;
}
