/* What operators of back ends that launch kernels for teams of lanes share: the cells of a part, and what
   their set-ups do around a kernel. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <backend/lanes/runtime/laneslog.h>
#include "lanesargs.h"

/* The determinant of a cell that is not positive, to HopsSetUpArgs' det */
typedef PetscErrorCode (*HopsLanesFindBad)(const HopsSetUpArgs *, PetscInt cell);

/* Indices of `each` nodes of a cell, of which those that are another piece's are to be copies (of a negative
   index the complement). The parts of an operator are launches of their own. restr[ncells][percell] has the
   unknowns, of nl */
typedef struct {
  PetscInt        first[3], n[3], nl; /* cells; batches, where these have cells of their own */
  int             percell, each;
  bool            padded; /* an index of -1 is none */
  const int      *restr;
  const PetscInt *cell; /* [batches + 1] first cells, or NULL: groups of lanes are batches */
} HopsLanesMeet;

/* Where the pieces of an operator's parts meet, and in which copies they add. NULL: nowhere */
typedef struct _HopsLanesMeets *HopsLanesMeets;
struct _HopsLanesMeets {
  int             refct;
  PetscInt        nl; /* unknowns */
  HopsLanesShared shared[3];
  void           *buffer; /* of one component */
};

/* Of a host; NULL in a table: all additions are atomic */
typedef struct {
  /* in place; needed: are there several pieces? Without indices, that alone. The meets of the first indices
     are those of others that have the same unknowns */
  PetscErrorCode (*Mark)(const HopsLanesMeet *, int restr[], HopsLanesMeets, PetscBool *needed);
  /* a buffer of zeros, for numbers of `size` bytes and nc components, that serves all parts */
  PetscErrorCode (*Reserve)(HopsLanesMeets, int nc, size_t size, void **buffer);
  /* adds the copies to a vector after the launch of a part: its unknowns from nT on are those of yg */
  PetscErrorCode (*Sum)(HopsLanesMeets, HopsPart, PetscDataType, int nc, PetscInt nT, void *buffer, void *y, void *yg);
} HopsLanesMeetOps;

/* Of an operator, in the back end's memory but for the struct */
typedef struct {
  const double *X;    /* the space's coordinates */
  void         *flag; /* determinant and cell of HopsSetUpArgs */
  void         *mem[2];
  size_t        size[2]; /* of mem: copies of coefficients */
} HopsLanesSetUp;

EXTERN_C_BEGIN
/* The cells of a part. Where no other rank is, nothing needs overlap: the last part has them all */
PETSC_INTERN void HopsLanesPart(HopsPart, PetscBool alone, PetscInt ninterior, PetscInt ncells, PetscInt *first, PetscInt *n);
/* sp's element map, and Q points */
PETSC_INTERN PetscErrorCode HopsLanesSetUpCreate(const HopsBackendOps *, HopsSpace, PetscInt Q, HopsSetUpArgs *, HopsLanesSetUp *);
/* Cells and coefficients of a run, in the back end's memory; NULL: no such term */
PETSC_INTERN PetscErrorCode HopsLanesSetUpBegin(const HopsBackendOps *, HopsLanesSetUp *, PetscInt first, PetscInt n,
                                                const HopsValues *kappa, const HopsValues *mass, HopsSetUpArgs *);
/* Waits for the device: was there a bad cell? The copies of coefficients go after the last run */
PETSC_INTERN PetscErrorCode HopsLanesSetUpEnd(const HopsBackendOps *, HopsLanesSetUp *, HopsLanesFindBad, PetscInt ncells,
                                              const HopsSetUpArgs *, PetscInt *bad, PetscReal *det);
PETSC_INTERN PetscErrorCode HopsLanesSetUpDestroy(const HopsBackendOps *, HopsLanesSetUp *);
/* *indices of `each` nodes of the space's cells, with such marks where a back end has them: in *mem, which is
   the back end's, and is allocated if it is NULL. marked: what has no mark is one thread's */
PETSC_INTERN PetscErrorCode HopsLanesMarkIndices(const HopsBackendOps *, const HopsLanesMeetOps *, HopsSpace, PetscBool alone,
                                                 int each, const int **indices, void **mem, HopsLanesMeets *, PetscBool *marked);
/* After the launch of a part that added to copies, if it did */
PETSC_INTERN PetscErrorCode HopsLanesMeetsSum(const HopsLanesMeetOps *, HopsLanesMeets, HopsPart, PetscDataType, PetscInt nT,
                                              void *y, void *yg);
/* of a part */
PETSC_INTERN HopsLanesCopies HopsLanesMeetsCopies(HopsLanesMeets, HopsPart);
PETSC_INTERN HopsLanesMeets  HopsLanesMeetsReference(HopsLanesMeets);
PETSC_INTERN PetscErrorCode  HopsLanesMeetsDestroy(const HopsBackendOps *, HopsLanesMeets *);
/* Cells of whole groups */
PETSC_INTERN size_t HopsLanesGroups(int group, PetscInt ncells);
/* Lanes of the last group that have no cell compute as the last cell does, with n numbers of a cell: on a
   host, where groups are */
PETSC_INTERN void HopsLanesFillGroup(int group, PetscInt ncells, double *data, size_t n);
EXTERN_C_END
