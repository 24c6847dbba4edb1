/* Element matrices where nodes hang, for the process and for devices: teams as in hopspatchkernel.h. */
#pragma once
#include <hops/private/hopshanging.h>
#include <hops/private/hopspatchkernel.h>

/* E[ne][ne] of a cell becomes J^T E J, columns before rows */
HOPS_TEAM void HopsHangingElementTeam(const HopsHanging *h, unsigned mask, double E[], int rank, int size)
{
  for (int pass = 0; pass < 2; ++pass) {
    HOPS_TEAM_FOR(i, h->ne, rank, size)
    HopsHangingApplyApart(h, mask, 1, E + (pass ? (size_t)i * h->ne : (size_t)i), pass ? 1 : (size_t)h->ne);
    HOPS_TEAM_SYNC();
  }
}
