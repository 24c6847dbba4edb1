/* Element matrices where nodes hang, for the process and for devices: teams as in hopspatchkernel.h. */
#pragma once
#include <hops/private/hopshanging.h>
#include <hops/private/hopspatchkernel.h>

/* E[nn][nn] of a cell of H1 becomes J^T E J, columns before rows; J[P][P] */
HOPS_TEAM void HopsPatchHangElement(int dim, const HopsHangingBox *box, const double J[], unsigned mask, double E[], int rank,
                                    int size)
{
  const int nn = box->n[0] * box->n[1] * box->n[2];

  for (int pass = 0; pass < 2; ++pass) {
    HOPS_TEAM_FOR(i, nn, rank, size)
    for (int a = dim - 1; a >= 0; --a)
      HopsHangingAlong(dim, box, J, mask, a, 1, E + (pass ? (size_t)i * nn : (size_t)i), pass ? 1 : (size_t)nn);
    HOPS_TEAM_SYNC();
  }
}
