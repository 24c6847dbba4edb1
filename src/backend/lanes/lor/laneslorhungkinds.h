/* Tables of each kind of cells with hanging nodes, in the process's memory: which entries J^T A J has, and
   how they are made. */
#pragma once
#include <hops/private/hopshanging.h>
#include "laneslump.h"

#define HOPS_HUNG_KINDS (8 * HOPS_HANGING_MASKS)

/* as it grows */
typedef struct {
  int        n, size;
  int       *x;
  PetscReal *w;
} HopsHungList;

typedef struct {
  int  ne, nkinds, most, number[HOPS_HUNG_KINDS], of[HOPS_HUNG_KINDS]; /* a kind's number; 8 * mask of hanging nodes + pairs */
  int *row, *nlist, *trow, *prow, *jrow, *jtrow, *slice;
  HopsHungList   col, slot, rowof, list, tcol, place, j, jt, prod, pt; /* jtcol with jt */
  HopsHungList  *sum;                                                  /* [ne] scratch */
  int            star;
  HopsHungList   begin, term; /* HopsLORHungSums: at and weight of a product */
  PetscBool      products, sums;
  unsigned char *changed;
} HopsHungKinds;

EXTERN_C_BEGIN
/* kind[ncells], -1 where no node hangs; pairs[ncells]: which directions couple */
PETSC_INTERN PetscErrorCode HopsHungKindsCreate(HopsLanesLOR, const HopsHanging *, const unsigned char pairs[], int kind[],
                                                HopsHungKinds *);
PETSC_INTERN PetscErrorCode HopsHungKindsDestroy(HopsHungKinds *);
EXTERN_C_END
