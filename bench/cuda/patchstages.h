/* Smoothing sweeps of a uniform box in the stages of the literature (patchstages.cuh), for comparison */
#pragma once
#if defined(__cplusplus)
extern "C" {
#endif
typedef enum {
  HOPS_STAGE_GLOBAL,
  HOPS_STAGE_SEPARATE,
  HOPS_STAGE_FUSED,
  HOPS_STAGE_LINEAR,
  HOPS_STAGE_FREE,
  HOPS_STAGE_SEPARATEFREE,
  HOPS_STAGE_BOUNDARY
} HopsPatchStage;

/* Lexicographic nodes, the boundary included. Device memory: x, b, r, and tables: A0 (with the mass term),
   A1, A2, M of a patch, [2p+1][2p+1]; S [2p-1][2p-1] (node by mode); inverse eigenvalues, x mode fastest; A0,
   A1, A2, M of a cell, [p+1][p+1] */
typedef struct {
  int         dim, p, single, ncells[3], first, last; /* colours first..last-1 */
  long long   sy, sz, nnodes;
  const void *tables, *b;
  void       *x, *r;
} HopsStageBox;

/* returns a cudaError_t */
#define HOPS_STAGES_DECLARE(P) int HopsStageSweep_##P(HopsPatchStage, const HopsStageBox *);
HOPS_STAGES_DECLARE(1)
HOPS_STAGES_DECLARE(2)
HOPS_STAGES_DECLARE(3)
HOPS_STAGES_DECLARE(4)
HOPS_STAGES_DECLARE(5)
HOPS_STAGES_DECLARE(6)
HOPS_STAGES_DECLARE(7)
HOPS_STAGES_DECLARE(8)
#if defined(__cplusplus)
}
#endif
