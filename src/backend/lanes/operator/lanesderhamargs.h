/* Arguments of the launches of forms on H(curl), H(div) and L2, for C and C++. Apart from the rest, so that a
   change of the space recompiles no kernel. */
#pragma once
#include <stddef.h>
#include <petscsys.h>
#include <backend/lanes/runtime/lanescopies.h>

enum {
  HOPS_DERHAM_HCURL,
  HOPS_DERHAM_HDIV,
  HOPS_DERHAM_L2
};

/* Pointers into the back end's memory but for those named host... Data of cells lie in groups of `group`
   cells side by side, cell c in lane c % group: [c / group][n][group], n the numbers of a cell */
typedef struct {
  int             dim, P, Q, family, nT, group;
  int             nd, nm;            /* values at a point: of the derivative's term, of the field's; 0 where the term is absent */
  PetscInt        first, n;          /* cells */
  const int      *restr;             /* [ncells][ne] L-vector indices l, -1-l with the opposite sign */
  const int      *marked;            /* the same, where HOPS_LANES_MEET may be set: what fused kernels read */
  HopsLanesCopies copies;            /* where marked entries are added */
  const double   *qdata;             /* [nd + nm][Q^dim] of a cell, upper triangles by rows; groups: HopsDerhamAt() */
  const double   *B, *E;             /* [Q][P] Lagrange polynomials, [Q][P-1] edge functions */
  const double   *BB, *EE, *DD, *BD; /* [Q][P], [Q][P-1], [Q][P], [Q][P] products by entries: the diagonal */
  const double   *hostB, *hostE;     /* copies, which kernels may have as arguments */
  /* kernels of any order: scratch of a team where a level of its own memory does not hold it, else NULL */
  double *work;
  size_t  nwork;  /* doubles of scratch of a team */
  int     nteams; /* of a launch */
} HopsDerhamArgs;
