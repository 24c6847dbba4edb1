/* Patches on back ends that launch kernels for teams of lanes: arguments of the set-up's kernels
   (hopspatchkernel.h). Pointers are to the back end's memory unless they are to structs. */
#pragma once
#include <petscsys.h>
#include <hops/private/hopspatchcondensed.h>
#include <hops/private/hopshangteam.h>
#include <hops/private/hopspatchstar.h>

/* The weights of the points, and q[ncomp][nq] of each cell, are the back end's; data of `group` cells lie
   side by side (HopsH1Args) */
typedef struct {
  HopsPatchPoints points;
  int             ncomp;
  const double   *q;
} HopsLanesPatchData;

typedef struct {
  int             n, nmax; /* patches; unknowns of the largest */
  HopsPatchNodes  nodes;
  const PetscInt *start, *size, *cstart, *cells;
  const int      *cell, *list;
  const size_t   *offset;
  const double   *E;
  double         *inv;
  int            *bad; /* least patch whose matrix is not positive definite; untouched if there is none */
} HopsLanesPatchMatrices;

/* As HopsPatchLists; nmax: entries of the largest list that is sorted */
typedef struct {
  int                  n, nmax;
  HopsPatchNodes       nodes;
  const HopsPatchStar *star;
  const PetscInt      *start, *estart;
  const int           *given;
  int                 *idx, *eidx;
} HopsLanesPatchLists;
