/* Fused operators in H1 (lanesh1.h) with HOPS_ORDER points per direction; the makefile compiles this
   file once for each. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanesh1launch.h>
#include "kokkosh1.h"

template <class real, int P, int Q, int GEOM, int TERMS> struct HopsKokkosApply3 {
  typedef HopsH1Launch3<Q, GEOM, TERMS> Launch;
  static constexpr int                  THREADS = Q * Q * Launch::cells;
  static constexpr size_t               MOST =
    Launch::cells * sizeof(real) * ((TERMS == HOPS_H1_DIFFUSION ? 2 : 3) * Q * Q * (Q | 1) + HopsH1Geometry<GEOM, 3>());
  typedef HopsKokkosPolicy<THREADS, HopsKokkosBlocks(Launch::blocks, THREADS, MOST)> Policy;
  typedef typename Policy::member_type                                               Member;
  typedef HopsKokkosTeam<Member, real, Q * Q, Launch::cells>                         Team;
  typedef typename Team::Value                                                       Value;

  HopsH1Tables<real, P, Q> tab;
  HopsH1Cells<real>        a;

  static constexpr int LEVEL =
    HopsKokkosLevel(Team::cells * (HopsH1Cubes3<Team, Q>(TERMS != HOPS_H1_DIFFUSION) + HopsH1Geometry<GEOM, 3>()) * sizeof(Value),
                    THREADS);

  KOKKOS_FORCEINLINE_FUNCTION int Cubes() const
  {
    return HopsH1Cubes3<Team, Q>(TERMS == HOPS_H1_ANY ? a.mass : TERMS == HOPS_H1_BOTH);
  }
  KOKKOS_FORCEINLINE_FUNCTION size_t Size() const
  {
    return Team::cells * (Cubes() + HopsH1Geometry<GEOM, 3>()) * sizeof(Value);
  }
  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    Value *const mem = (Value *)HopsKokkosOwnScratch<LEVEL>(m, Size());

    HopsKokkosForGroups<Team>(m, a, [&](const Team &team) {
      HopsH1Apply3<GEOM, TERMS, Launch::unroll>(team, tab, a, mem + team.part() * Cubes(),
                                                mem + Team::cells * Cubes() + team.part() * HopsH1Geometry<GEOM, 3>());
    });
  }
};

template <class real, int P, int Q, int GEOM> struct HopsKokkosApply2 {
  typedef HopsH1Launch2<Q> Launch;
  static constexpr int     THREADS = Q * Launch::cells;
  static constexpr size_t  MOST    = Launch::cells * sizeof(real) * (2 * Q * (Q | 1) + HopsH1Geometry<GEOM, 2>());
  typedef HopsKokkosPolicy<THREADS, HopsKokkosBlocks(Launch::blocks, THREADS, MOST)> Policy;
  typedef typename Policy::member_type                                               Member;
  typedef HopsKokkosTeam<Member, real, Q, Launch::cells>                             Team;
  typedef typename Team::Value                                                       Value;
  static constexpr int SQUARES = (Team::lanes == 1 ? 3 : 2) * Q * (Q | 1);

  HopsH1Tables<real, P, Q> tab;
  HopsH1Cells<real>        a;

  static constexpr int LEVEL = HopsKokkosLevel(Team::cells * (SQUARES + HopsH1Geometry<GEOM, 2>()) * sizeof(Value), THREADS);

  KOKKOS_FORCEINLINE_FUNCTION size_t Size() const
  {
    return Team::cells * (SQUARES + HopsH1Geometry<GEOM, 2>()) * sizeof(Value);
  }
  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    Value *const mem = (Value *)HopsKokkosOwnScratch<LEVEL>(m, Size());

    HopsKokkosForGroups<Team>(m, a, [&](const Team &team) {
      HopsH1Apply2<GEOM>(team, tab, a, mem + team.part() * SQUARES,
                         mem + Team::cells * SQUARES + team.part() * HopsH1Geometry<GEOM, 2>());
    });
  }
};

template <class real> struct HopsKokkosH1Run {
  template <class F, int P, int Q> static PetscErrorCode Run(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a)
  {
    const F f = {tab, a};

    PetscFunctionBegin;
    PetscCall(HopsKokkosTeams<typename F::Policy>("HopsH1Apply", HopsKokkosLeague<typename F::Team>(a), F::Team::threads, F::LEVEL,
                                                  f.Size(), f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int P, int Q, int GEOM, int TERMS>
  static PetscErrorCode Run3(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a)
  {
    return Run<HopsKokkosApply3<real, P, Q, GEOM, TERMS>>(tab, a);
  }

  template <int P, int Q, int GEOM> static PetscErrorCode Run2(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a)
  {
    return Run<HopsKokkosApply2<real, P, Q, GEOM>>(tab, a);
  }
};

#define NAME(what, order)   what##order
#define DEFINE(what, order) NAME(what, order)

PetscErrorCode DEFINE(HopsKokkosH1Launch_, HOPS_ORDER)(const HopsH1Args *k, const double x[], const double xg[], double y[],
                                                       double yg[])
{
  return HopsH1LaunchPoints<HopsKokkosH1Run<double>, HOPS_ORDER>(k, x, xg, y, yg);
}

#if HOPS_ORDER <= HOPS_H1_MOST_SINGLE_POINTS
PetscErrorCode DEFINE(HopsKokkosSingleLaunch_, HOPS_ORDER)(const HopsH1Args *k, const float x[], const float xg[], float y[],
                                                           float yg[])
{
  return HopsH1LaunchPoints<HopsKokkosH1Run<float>, HOPS_ORDER>(k, x, xg, y, yg);
}
#endif
