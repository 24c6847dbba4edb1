/* The team of lanes that kernels of backend/lanes know: a team of Kokkos, or the part of it that works
   on a cell. On a host it is one lane, whose values are vectors of cells. */
#pragma once
#define HOPS_KOKKOS
#include "kokkosimpl.h"
#if defined(HOPS_KOKKOS_HOST)
  #define HOPS_LANES_ONE
#endif
#include <backend/lanes/runtime/lanes.h>

#if defined(HOPS_KOKKOS_HOST)
  #if defined(__AVX512F__)
    #define HOPS_KOKKOS_GROUP 8
  #elif defined(__AVX__)
    #define HOPS_KOKKOS_GROUP 4
  #else
    #define HOPS_KOKKOS_GROUP 2
  #endif
typedef double HopsKokkosDoubles __attribute__((vector_size(HOPS_KOKKOS_GROUP * sizeof(double))));
typedef float  HopsKokkosFloats __attribute__((vector_size(HOPS_KOKKOS_GROUP * sizeof(float))));
#else
  #define HOPS_KOKKOS_GROUP 1
#endif

/* LANES of a device's lanes for each of the CELLS cells of a team, HALVES times; of any number, all of the
   team, where LANES is 0 */
template <class Member, class real, int LANES = 0, int CELLS = 1, int HALVES = 1> struct HopsKokkosTeam {
  static constexpr int group = HOPS_KOKKOS_GROUP;
  typedef real         Scalar;
  const Member        &m;

#if defined(HOPS_KOKKOS_HOST)
  static constexpr int lanes = 1, cells = 1, halves = 1;
  typedef typename std::conditional<sizeof(real) == sizeof(float), HopsKokkosFloats, HopsKokkosDoubles>::type Value;

  template <int N> struct Lines {
    Value *at;

    KOKKOS_FORCEINLINE_FUNCTION        Lines(Value *at_) : at(at_) {}
    KOKKOS_FORCEINLINE_FUNCTION Value *operator[](int t) const
    {
      return at + t * N;
    }
  };
#else
  static constexpr int lanes = LANES, cells = CELLS, halves = HALVES;
  typedef real         Value;

  template <int N> struct Lines {
    real v[N];

    KOKKOS_FORCEINLINE_FUNCTION       Lines(real *) {}
    KOKKOS_FORCEINLINE_FUNCTION real *operator[](int)
    {
      return v;
    }
  };
#endif
  static constexpr int  threads = lanes * cells * halves; /* of the team */
  static constexpr bool indexed = lanes == 1;             /* a device copies an argument that is indexed, to each thread */

  int part_, half_, lane_; /* the lane's of all: (half * cells + part) * lanes + lane */

  KOKKOS_FORCEINLINE_FUNCTION HopsKokkosTeam(const Member &m_) : m(m_), part_(0), half_(0), lane_(m_.team_rank())
  {
    if (cells * halves > 1) {
      part_ = lane_ / (LANES ? LANES : 1);
      lane_ = lane_ % (LANES ? LANES : 1);
    }
    if (halves > 1) {
      half_ = part_ / cells;
      part_ = part_ % cells;
    }
#if defined(__CUDA_ARCH__)
    asm("" : "+r"(lane_)); /* the compiler need not know that it is below LANES: the branches of HOPS_EACH_LANE stay */
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION int part() const
  {
    return part_;
  }
  KOKKOS_FORCEINLINE_FUNCTION int half() const
  {
    return half_;
  }
  KOKKOS_FORCEINLINE_FUNCTION int lane() const
  {
    return lane_;
  }
  KOKKOS_FORCEINLINE_FUNCTION int size() const
  {
    return m.team_size();
  }
  KOKKOS_FORCEINLINE_FUNCTION int index() const
  {
    return m.league_rank();
  }
  KOKKOS_FORCEINLINE_FUNCTION int count() const
  {
    return m.league_size();
  }
  KOKKOS_FORCEINLINE_FUNCTION int cell(int first) const
  {
    return group > 1 ? (first / group + m.league_rank()) * group : first + m.league_rank() * cells + part();
  }
  KOKKOS_FORCEINLINE_FUNCTION void Sync() const
  {
    if (lanes != 1) m.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION static void Add(real *y, real v)
  {
    HopsKokkosAdd(y, v);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void Least(int *least, int i)
  {
    Kokkos::atomic_fetch_min(least, i);
  }
};

#define HOPS_KOKKOS_ALIGN 64 /* bytes */

/* Runs a functor, whose scratch has n bytes of a level, by a league of teams */
template <class Policy, class Functor>
PetscErrorCode HopsKokkosTeams(const char name[], int league, int threads, int level, size_t n, const Functor &f)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  if (n) n += HOPS_KOKKOS_ALIGN;
  HopsKokkosCall(Kokkos::parallel_for(name, Policy(*exec, league, threads).set_scratch_size(level, Kokkos::PerTeam((int)n)), f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Member> KOKKOS_FORCEINLINE_FUNCTION void *HopsKokkosScratch(const Member &m, int level, size_t n)
{
  return n ? m.team_scratch(level).get_shmem_aligned(n, HOPS_KOKKOS_ALIGN) : NULL;
}

/* The level for at most n bytes, which the compiler knows: Kokkos has 32 KiB of level 0 on hosts, and 40
   on devices with the least */
static constexpr int HopsKokkosLevel(size_t n)
{
  return n + HOPS_KOKKOS_ALIGN <= (HopsKokkosOnHost ? 32 : 40) * 1000 ? 0 : 1;
}

/* The same where the level is known: then the compiler is told that addresses are of the team's own memory */
template <int LEVEL, class Member> KOKKOS_FORCEINLINE_FUNCTION void *HopsKokkosOwnScratch(const Member &m, size_t n)
{
  void *p = HopsKokkosScratch(m, LEVEL, n);

#if defined(__CUDA_ARCH__)
  if (LEVEL == 0) __builtin_assume(__isShared(p));
#endif
  return p;
}

/* Teams of a launch for cells a.first ... a.first + a.n - 1: on a host a team takes a group of them */
template <class Team, class Cells> int HopsKokkosLeague(const Cells &a)
{
  if (Team::group > 1) return (a.first + a.n - 1) / Team::group - a.first / Team::group + 1;
  return (a.n + Team::cells - 1) / Team::cells;
}

/* A functor of backend/lanes as Kokkos wants it */
template <class F> struct HopsKokkosFunctor {
  typedef Kokkos::TeamPolicy<HopsKokkosExec> Policy;
  typedef typename Policy::member_type       Member;
  F                                          f;
  size_t                                     bytes;
  int                                        level;

  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    f(HopsKokkosTeam<Member, double>(m), (double *)HopsKokkosScratch(m, level, bytes));
  }
};

/* As lanes.h asks for it */
struct HopsKokkosBack {
  typedef HopsKokkosTeam<Kokkos::TeamPolicy<HopsKokkosExec>::member_type, double> Team;

  static const HopsBackendOps *Ops()
  {
    return &HopsBackendKokkos;
  }

  template <class F> static PetscErrorCode Teams(const char name[], int teams, size_t bytes, const F &f)
  {
    typedef typename HopsKokkosFunctor<F>::Policy Policy;
    const int level = bytes + HOPS_KOKKOS_ALIGN <= (size_t)Policy::scratch_size_max(0) ? 0 : 1; /* the first that has the room */

    return HopsKokkosTeams<Policy>(name, teams, HopsKokkosOnHost ? 1 : F::lanes, level, bytes,
                                   HopsKokkosFunctor<F>{f, bytes, level});
  }

  template <class F> static PetscErrorCode Each(const char name[], size_t n, const F &f)
  {
    return HopsKokkosEach(NULL, name, n, f);
  }

  static PetscErrorCode GetSizes(size_t bytes, int *teams, PetscBool *own, size_t most = PETSC_INT_MAX)
  {
    HopsKokkosExec *exec;

    PetscFunctionBegin;
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    most   = PetscMin(most, (size_t)HopsKokkosFunctor<int>::Policy::scratch_size_max(0));
    *own   = HopsKokkosOnHost || bytes + HOPS_KOKKOS_ALIGN <= most ? PETSC_TRUE : PETSC_FALSE;
    *teams = HopsKokkosOnHost ? PETSC_MPI_INT_MAX : (*own ? 2048 : 256);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
