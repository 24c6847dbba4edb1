/* Fused forms on H(curl), H(div) and L2 (lanesderham.h) with HOPS_ORDER nodes per direction; the makefile
   compiles this file once for each. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanesderhamlaunch.h>
#include "kokkosderham.h"

template <int P, int Q, int FAMILY, int TERMS, int DIM> struct HopsKokkosDerham {
  typedef HopsDerhamLaunch3<P, Q, FAMILY, TERMS> Launch3;
  typedef HopsDerhamLaunch2<Q>                   Launch2;
  static constexpr int                           LANES = DIM == 3 ? Q * Q : Q, HALVES = DIM == 3 ? Launch3::halves : 1;
  static constexpr int NODES = HopsDerhamNodes(P, FAMILY, DIM), BUFFERS = HopsDerhamBuffers(P, Q, FAMILY, DIM, TERMS),
                       SCRATCH = NODES + BUFFERS;
  static constexpr int CELLS = HopsKokkosCells(DIM == 3 ? Launch3::cells : Launch2::cells, LANES *HALVES, SCRATCH * sizeof(double));
  static constexpr int THREADS = LANES * CELLS * HALVES;
  static constexpr int BLOCKS =
    HopsKokkosBlocks(DIM == 3 ? Launch3::blocks : Launch2::blocks, THREADS, CELLS*SCRATCH * sizeof(double));
  typedef HopsKokkosPolicy<THREADS, BLOCKS>                                                                   Policy;
  typedef typename Policy::member_type                                                                        Member;
  typedef HopsKokkosTeam<Member, double, LANES, CELLS, HALVES>                                                Team;
  typedef typename Team::Value                                                                                Value;
  typedef HopsKokkosRoom<Team::cells * BUFFERS * sizeof(Value), Team::cells * NODES * sizeof(Value), THREADS> Room;

  HopsDerhamTables<P, Q> tab;
  HopsDerhamCells        a;

  KOKKOS_FUNCTION void operator()(const Member &m) const
  {
    Value *allnodes, *allbuffers;

    Room::Get(m, &allbuffers, &allnodes);
    HopsKokkosForGroups<Team>(m, a, [&](const Team &team) {
      Value *const nodes = allnodes + team.part() * NODES, *const buffer = allbuffers + team.part() * BUFFERS;

      if constexpr (DIM == 3) HopsDerhamApply3<FAMILY, TERMS>(team, tab, a, nodes, buffer);
      else HopsDerhamApply2<FAMILY, TERMS>(team, tab, a, nodes, buffer);
    });
  }
};

struct HopsKokkosDerhamRun {
  template <int P, int Q, int FAMILY, int TERMS, int DIM>
  static PetscErrorCode Run(const HopsDerhamTables<P, Q> &tab, const HopsDerhamCells &a)
  {
    typedef HopsKokkosDerham<P, Q, FAMILY, TERMS, DIM> F;

    return HopsKokkosTeamsOf<typename F::Policy>("HopsDerhamApply", HopsKokkosLeague<typename F::Team>(a), F::Team::threads,
                                                 F::Room::bytes[0], F::Room::bytes[1], F{tab, a});
  }
};

#define NAME(order)   HopsKokkosDerhamLaunch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsDerhamArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  return HopsDerhamLaunchNodes<HopsKokkosDerhamRun, HOPS_ORDER>(k, x, xg, y, yg);
}
