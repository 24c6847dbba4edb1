/* Tables of each kind of cells with hanging nodes, in the process's memory: which entries J^T A J has, and
   how they are made. */
#pragma once
#include <hops/private/hopshanging.h>
#include "laneslump.h"

#define HOPS_HUNG_KINDS (8 * HOPS_HANGING_MASKS)

/* What tables depend on. terms: of the derivative and of the field, in families other than H1 */
typedef struct {
  const HopsBackendOps *backend;
  HopsFamily            family;
  PetscInt              dim, order, entries; /* weights of a row */
  PetscBool             terms[2];
} HopsHungKey;

/* as it grows */
typedef struct {
  int        n, size;
  int       *x;
  PetscReal *w;
} HopsHungList;

typedef struct {
  int            ne, nkinds, most;
  const int     *of; /* 8 * mask of hanging nodes + pairs of directions that couple */
  int           *row, *nlist, *trow, *prow, *jrow, *jtrow, *slice;
  HopsHungList   col, slot, rowof, list, tcol, place, j, jt, prod, pt; /* jtcol with jt */
  HopsHungList  *sum;                                                  /* [ne] scratch */
  int            star;
  HopsHungList   begin, term; /* HopsLORHungSums: at and weight of a product */
  PetscBool      products, sums;
  unsigned char *changed;
} HopsHungKinds;

/* The tables in a back end's memory: of all kinds of cells so far, for all spaces of a family and an order */
typedef struct _HopsHungTables *HopsHungTables;
struct _HopsHungTables {
  HopsHungTables  next;
  int             refs;
  HopsHungKey     key;
  int             ne, nkinds, number[HOPS_HUNG_KINDS], of[HOPS_HUNG_KINDS]; /* a kind's number, or what follows */
  int            *nvalues, *nrows; /* [nkinds] numbers of a list, rows of A that it takes */
  int            *there[2];        /* number and nvalues in the back end's memory */
  HopsLORHung     hung;            /* what of these is the same for all meshes */
  HopsLORHungWork work;
  unsigned char  *changed; /* [nkinds][ne] does J change the entry's row? */
  int             nmem;
  void           *mem[24];
};
#define HOPS_HUNG_UNKNOWN -2
#define HOPS_HUNG_NONE    -1 /* no entry hangs */

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsHungKindsCreate(HopsLanesLOR, const HopsHanging *, int nkinds, const int of[], HopsHungKinds *);
PETSC_INTERN PetscErrorCode HopsHungKindsDestroy(HopsHungKinds *);
/* count[HOPS_HUNG_KINDS]: cells of each */
PETSC_INTERN PetscErrorCode HopsHungTablesGet(HopsLanesLOR, const int count[], HopsHungTables *);
PETSC_INTERN PetscErrorCode HopsHungTablesRelease(HopsHungTables *);
/* What no matrix uses, of a back end that ends; NULL: of all */
PETSC_INTERN PetscErrorCode HopsHungTablesClear(const HopsBackendOps *);
EXTERN_C_END
