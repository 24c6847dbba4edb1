/* The team of lanes that kernels of backend/lanes know: a team of Kokkos, or the part of it that works
   on a cell. On a host it is one lane, whose values are vectors of cells. */
#pragma once
#define HOPS_KOKKOS
#include "kokkosimpl.h"
#if defined(HOPS_KOKKOS_HOST)
  #define HOPS_LANES_ONE
#endif
#include <backend/lanes/operator/lanesargs.h>
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
template <class Member, class real, int LANES = 0, int CELLS = 1, int HALVES = 1>
struct HopsKokkosTeam : HopsKokkosAtomics<HopsKokkosAlone> {
  static constexpr int                        group = HOPS_KOKKOS_GROUP;
  typedef real                                Scalar;
  typedef HopsKokkosAtomics<HopsKokkosOnHost> Own; /* where a team is one lane it is alone */
  const Member                               &m;

#if defined(HOPS_KOKKOS_HOST)
  static constexpr int lanes = 1, cells = 1, halves = 1;
  template <class T> using Of = typename std::conditional<sizeof(T) == sizeof(float), HopsKokkosFloats, HopsKokkosDoubles>::type;
  typedef Of<real> Value;

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
  template <class T> using Of = T;
  typedef real Value;

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
#if defined(HOPS_KOKKOS_HOST)
  int index_, count_;

  /* one of many that a thread does one after the other */
  HopsKokkosTeam(const Member &m_, int index, int count) : m(m_), part_(0), half_(0), lane_(0), index_(index), count_(count) {}
#endif

  KOKKOS_FORCEINLINE_FUNCTION HopsKokkosTeam(const Member &m_) : m(m_), part_(0), half_(0), lane_(m_.team_rank())
  {
#if defined(HOPS_KOKKOS_HOST)
    index_ = m.league_rank();
    count_ = m.league_size();
#endif
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
#if defined(HOPS_KOKKOS_HOST)
    return index_;
#else
    return m.league_rank();
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION int count() const
  {
#if defined(HOPS_KOKKOS_HOST)
    return count_;
#else
    return m.league_size();
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static int begin(int first)
  {
    return first;
  }
  KOKKOS_FORCEINLINE_FUNCTION int cell(int first) const
  {
    return group > 1 ? (first / group + index()) * group : first + m.league_rank() * cells + part();
  }
  KOKKOS_FORCEINLINE_FUNCTION void Sync() const
  {
    if (lanes != 1) m.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION bool Any(bool b) const
  {
#if defined(__CUDA_ARCH__)
    return __syncthreads_or(b); /* the team is a block */
#else
    int any = b;

    if (lanes != 1) m.team_reduce(Kokkos::Max<int>(any));
    return any;
#endif
  }
};

#define HOPS_KOKKOS_ALIGN 64 /* bytes */

/* The functor is an argument of the kernel: Kokkos copies those of more than 512 bytes to memory of constants
   for which the process waits, since the next one lies there, too */
template <class Policy> auto HopsKokkosLight(const Policy &policy)
{
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/* Runs a functor by a league of teams, with scratch of so many bytes of both levels */
template <class Policy, class Functor>
PetscErrorCode HopsKokkosTeamsOf(const char name[], int league, int threads, size_t own, size_t far, const Functor &f)
{
  HopsKokkosExec *exec;

  PetscFunctionBegin;
  PetscCall(HopsKokkosGetExec(NULL, &exec));
  if (own) own += HOPS_KOKKOS_ALIGN;
  if (far) far += HOPS_KOKKOS_ALIGN;
  HopsKokkosCall(Kokkos::parallel_for(name,
                                      HopsKokkosLight(Policy(*exec, league, threads)
                                                        .set_scratch_size(0, Kokkos::PerTeam((int)own))
                                                        .set_scratch_size(1, Kokkos::PerTeam((int)far))),
                                      f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of n bytes of a level */
template <class Policy, class Functor>
PetscErrorCode HopsKokkosTeams(const char name[], int league, int threads, int level, size_t n, const Functor &f)
{
  return HopsKokkosTeamsOf<Policy>(name, league, threads, level ? 0 : n, level ? n : 0, f);
}

template <class Member> KOKKOS_FORCEINLINE_FUNCTION void *HopsKokkosScratch(const Member &m, int level, size_t n)
{
  return n ? m.team_scratch(level).get_shmem_aligned(n, HOPS_KOKKOS_ALIGN) : NULL;
}

/* The level for at most n bytes of a team, which the compiler knows: Kokkos has 32 KiB of level 0 on hosts,
   and 48 on devices, of which it takes a number for each thread */
static constexpr int HopsKokkosLevel(size_t n, int threads = 1024)
{
  return n + HOPS_KOKKOS_ALIGN <= (HopsKokkosOnHost ? 32000 : 48 * 1024 - sizeof(double) * (threads + 2)) ? 0 : 1;
}

/* The same where the level is known: then the compiler is told that addresses are of the team's own memory */
template <int LEVEL, class Member> KOKKOS_FORCEINLINE_FUNCTION void *HopsKokkosOwnScratch(const Member &m, size_t n)
{
  void *p = HopsKokkosScratch(m, LEVEL, n);

#if defined(__CUDA_ARCH__)
  if (LEVEL == 0) __builtin_assume(!n || __isShared(p));
#endif
  return p;
}

/* Scratch of a team in two parts, `own` and `apart` bytes: both of level 0, or what lies apart of level 1, or
   both of that */
template <size_t own, size_t apart, int threads> struct HopsKokkosRoom {
  static constexpr int    level = HopsKokkosLevel(own, threads), far = HopsKokkosLevel(own + apart, threads);
  static constexpr bool   split    = apart && level != far;
  static constexpr size_t bytes[2] = {split ? own : (far ? 0 : own + apart), split ? apart : (far ? own + apart : 0)};

  template <class T, class Member> KOKKOS_FORCEINLINE_FUNCTION static void Get(const Member &m, T **x, T **y)
  {
    *x = (T *)HopsKokkosOwnScratch<level>(m, split ? own : own + apart);
    *y = split ? (T *)HopsKokkosScratch(m, 1, apart) : *x + own / sizeof(T);
  }
};

/* blocks, or as many as a multiprocessor has room for, and at least one */
static constexpr int HopsKokkosBound(int threads, int blocks)
{
  return blocks < 2 || threads * 2 > HOPS_KOKKOS_THREADS
           ? 1
           : (threads * blocks > HOPS_KOKKOS_THREADS ? HOPS_KOKKOS_THREADS / threads : blocks);
}

/* Of so many lanes, of which registers must be had for so many teams at once, 0: for one. Without bounds
   Kokkos refuses teams that are too large for the registers that the compiler took */
template <int THREADS, int BLOCKS>
using HopsKokkosPolicy = Kokkos::TeamPolicy<HopsKokkosExec, Kokkos::LaunchBounds<THREADS, HopsKokkosBound(THREADS, BLOCKS)>>;

/* As many of `blocks` teams as scratch of n bytes each leaves room for: Kokkos refuses others */
static constexpr int HopsKokkosBlocks(int blocks, int threads, size_t n)
{
  return blocks > 1 && HopsKokkosLevel(n, threads) == 0 &&
             blocks * (n + HOPS_KOKKOS_ALIGN + sizeof(double) * (threads + 2)) > HOPS_KOKKOS_SHARED
           ? HopsKokkosBlocks(blocks - 1, threads, n)
           : blocks;
}

/* As many of `cells` of a team as have n bytes each of level 0, at least one, if that has them */
static constexpr int HopsKokkosCells(int cells, int threads, size_t n)
{
  return HopsKokkosOnHost || cells == 1 || HopsKokkosLevel(cells * n, cells * threads) == 0 || HopsKokkosLevel(n, threads)
           ? cells
           : HopsKokkosCells(cells - 1, threads, n);
}

/* Teams of a launch for cells a.first ... a.first + a.n - 1: on a host each is a thread's, and takes a piece
   of their groups (lanesmeet.h) */
template <class Team, class Cells> int HopsKokkosLeague(const Cells &a)
{
  if (HopsKokkosOnHost) return (int)HopsKokkosExec().concurrency();
  return (a.n + Team::cells - 1) / Team::cells;
}

/* f(team) for the groups of a team's piece; on a device for the team */
template <class Team, class Member, class Cells, class F>
KOKKOS_FORCEINLINE_FUNCTION void HopsKokkosForGroups(const Member &m, [[maybe_unused]] const Cells &a, const F &f)
{
#if defined(HOPS_KOKKOS_HOST)
  const int n = m.league_size(), t = m.league_rank(), begin = HopsLanesPiece(a.first, a.n, Team::group, n, t),
            end = HopsLanesPiece(a.first, a.n, Team::group, n, t + 1), all = HopsLanesPiece(a.first, a.n, Team::group, 1, 1);

  for (int i = begin; i < end; i++) f(Team(m, i, all));
#else
  f(Team(m));
#endif
}

/* A functor of backend/lanes as Kokkos wants it, with scratch of a level */
template <class F, int LEVEL> struct HopsKokkosFunctor {
  typedef HopsKokkosPolicy<F::lanes, HopsLanesBlocks<F>(0)> Policy;
  typedef typename Policy::member_type                      Member;
  F                                                         f;
  size_t                                                    bytes;
#if defined(HOPS_KOKKOS_HOST)
  int teams; /* shares of which Kokkos' own take, since these take as long to begin as a row of a matrix does */

  void operator()(const Member &m) const
  {
    const int n = m.league_size(), t = m.league_rank(), end = (int)((long long)teams * (t + 1) / n);
    double   *scratch = (double *)HopsKokkosOwnScratch<LEVEL>(m, bytes);

    for (int i = (int)((long long)teams * t / n); i < end; i++) f(HopsKokkosTeam<Member, double>(m, i, teams), scratch);
  }
  PetscErrorCode Launch(const char name[], int, int) const
  {
    return HopsKokkosTeams<Policy>(name, (int)PetscMin(teams, HopsKokkosExec().concurrency()), 1, LEVEL, bytes, *this);
  }
#else

  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    f(HopsKokkosTeam<Member, double>(m), (double *)HopsKokkosOwnScratch<LEVEL>(m, bytes));
  }
  PetscErrorCode Launch(const char name[], int teams, int lanes) const
  {
    constexpr int blocks = HopsLanesBlocks<F>(0);

    if constexpr (blocks > 1) {
      if (HopsKokkosBlocks(blocks, F::lanes, bytes) < blocks)
        return HopsKokkosTeams<HopsKokkosPolicy<F::lanes, 1>>(name, teams, lanes, LEVEL, bytes, *this);
    }
    return HopsKokkosTeams<Policy>(name, teams, lanes, LEVEL, bytes, *this);
  }
#endif
};

/* The same of parts */
template <class real, class F> struct HopsKokkosParts {
  typedef typename Kokkos::TeamPolicy<HopsKokkosExec>::member_type Member;
  typedef HopsKokkosTeam<Member, real, F::lanes, F::cells>         Team;
  typedef typename Team::Value                                     Value;
  static constexpr size_t numbers = F::template Numbers<Team>(), apart = HopsLanesApart<F, Team>(0);
  static constexpr int    threads = F::lanes * F::cells;
  typedef HopsKokkosRoom<Team::cells * numbers * sizeof(Value), Team::cells * apart * sizeof(Value), threads> Room;
  typedef HopsKokkosPolicy<threads, HopsKokkosBlocks(F::blocks, threads, Room::bytes[0])>                     Policy;
  F                                                                                                           f;

  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    const Team team(m);
    Value     *x, *y;

    Room::Get(m, &x, &y);
    if constexpr (apart) f(team, x + team.part() * numbers, y + team.part() * apart);
    else f(team, x + team.part() * numbers);
  }
};

/* Has a team of a device so much scratch of its own? */
static inline bool HopsKokkosOwn(size_t bytes)
{
  return bytes + HOPS_KOKKOS_ALIGN <= (size_t)Kokkos::TeamPolicy<HopsKokkosExec>::scratch_size_max(0);
}

/* As lanes.h asks for it */
struct HopsKokkosBack {
  typedef HopsKokkosTeam<Kokkos::TeamPolicy<HopsKokkosExec>::member_type, double> Team;

  static const HopsBackendOps *Ops()
  {
    return &HopsBackendKokkos;
  }

  template <class F> static PetscErrorCode Teams(const char name[], int teams, size_t bytes, const F &f, int lanes = F::lanes)
  {
#if defined(HOPS_KOKKOS_HOST)
    return HopsKokkosFunctor<F, 1>{f, bytes, teams}.Launch(name, teams, lanes);
#else
    if (HopsKokkosOwn(bytes)) return HopsKokkosFunctor<F, 0>{f, bytes}.Launch(name, teams, lanes);
    return HopsKokkosFunctor<F, 1>{f, bytes}.Launch(name, teams, lanes);
#endif
  }

  template <class F> static PetscErrorCode GetTeams(int lanes, size_t, int *teams)
  {
    HopsKokkosExec *exec;

    PetscFunctionBegin;
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    *teams = HopsKokkosOnHost ? PETSC_MPI_INT_MAX : (int)PetscMax(1, 4 * (exec->concurrency() / lanes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class real, class F> static PetscErrorCode Parts(const char name[], int n, const F &f)
  {
    typedef HopsKokkosParts<real, F> Run;
    constexpr int                    each = Run::Team::group * Run::Team::cells; /* of a team */

    return HopsKokkosTeamsOf<typename Run::Policy>(name, (n + each - 1) / each, Run::Team::threads, Run::Room::bytes[0],
                                                   Run::Room::bytes[1], Run{f});
  }

  static PetscErrorCode GetThreads(int *n)
  {
    HopsKokkosExec *exec;

    PetscFunctionBegin;
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    *n = (int)exec->concurrency();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static size_t MostScratch()
  {
    return (size_t)Kokkos::TeamPolicy<HopsKokkosExec>::scratch_size_max(1) - HOPS_KOKKOS_ALIGN;
  }

  template <class F> static PetscErrorCode Each(const char name[], size_t n, const F &f)
  {
    return HopsKokkosEach(NULL, name, n, f);
  }

  static PetscErrorCode Set(void *p, int byte, size_t n)
  {
    return HopsKokkosSet(p, byte, n);
  }

  static PetscErrorCode Scan(size_t n, int x[])
  {
    return HopsKokkosScan(n, x);
  }

  static PetscErrorCode GetSizes(size_t bytes, int *teams, PetscBool *own, size_t most = PETSC_INT_MAX)
  {
    HopsKokkosExec *exec;

    PetscFunctionBegin;
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    most = PetscMin(most, (size_t)Kokkos::TeamPolicy<HopsKokkosExec>::scratch_size_max(0));
    if (HopsKokkosOnHost) {
      *own   = bytes <= MostScratch() ? PETSC_TRUE : PETSC_FALSE;
      *teams = *own ? PETSC_MPI_INT_MAX : (int)exec->concurrency();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    *own   = bytes + HOPS_KOKKOS_ALIGN <= most ? PETSC_TRUE : PETSC_FALSE;
    *teams = *own ? 2048 : 256;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode GetOwn(size_t *bytes)
  {
    HopsKokkosExec *exec;

    PetscFunctionBegin;
    PetscCall(HopsKokkosGetExec(NULL, &exec));
    *bytes = HopsKokkosOnHost ? SIZE_MAX : (size_t)Kokkos::TeamPolicy<HopsKokkosExec>::scratch_size_max(0) - HOPS_KOKKOS_ALIGN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
