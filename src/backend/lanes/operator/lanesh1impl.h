/* Operators in H1 of back ends that launch kernels for teams of lanes: what such a back end brings, and an
   operator's data. */
#pragma once
#include <hops/private/hopsformimpl.h>
#include "lanesoperator.h"
#include "lanesorders.h"

typedef PetscErrorCode (*HopsH1Launch)(const HopsH1Args *, const double x[], const double xg[], double y[], double yg[]);
typedef PetscErrorCode (*HopsH1SingleLaunch)(const HopsH1Args *, const float x[], const float xg[], float y[], float yg[]);

/* No function waits for a device */
typedef struct {
  const HopsBackendOps *backend; /* whose memory it is */
  int                   group;   /* cells whose data lie side by side */
  /* y += A x on the cells of the arguments, by points per direction, for no more nodes than points; NULL:
     none. In single precision quadrature data and geometry are floats behind the arguments' pointers */
  HopsH1Launch       launch[HOPS_H1_MOST_POINTS + 1];
  HopsH1SingleLaunch single[HOPS_H1_MOST_POINTS + 1];
  HopsH1Launch       generic; /* of any order */
  /* of the generic kernels: doubles of scratch of a team, teams of a launch, and whether the scratch lies in
     memory of the team's own */
  PetscErrorCode (*GenericSetUp)(int dim, int P, int Q, size_t *nwork, int *nteams, PetscBool *own);
  PetscErrorCode (*Diagonal)(const HopsH1Args *, double d[], double dg[]);
  /* padded[ncells][P^dim]: indices restr[ncells][n^dim] in the middle of cells of P nodes a direction, -1
     around them */
  PetscErrorCode (*Pad)(int dim, int n, int P, PetscInt ncells, const int restr[], int padded[]);
  PetscErrorCode (*SetUp)(const HopsSetUpArgs *);
  PetscErrorCode (*SetUpCells)(const HopsSetUpArgs *);
  HopsLanesFindBad        FindBad;
  const HopsLanesMeetOps *meet;
} HopsH1Kernels;

typedef struct _HopsH1Operator *HopsH1Operator;
struct _HopsH1Operator {
  struct _HopsOperator head;
  const HopsH1Kernels *kernels;
  HopsSpace            space;
  HopsH1Args           args, few; /* few: of affine cells, see SetFewPoints() */
  HopsSetUpArgs        setup;
  HopsLanesSetUp       own;
  HopsH1Launch         launch, launchfew;
  PetscInt             ncells, ninterior;
  PetscBool            alone;                                       /* no other rank, so that the parts need not be kept apart */
  double              *tables, *hosttables, *fewtables, *fewpoints; /* fewpoints: weights and points, the back end's */
  /* the back end's: qdata, work, geom, padded, that of `few` */
  void          *mem[5];
  size_t         size[5];
  const int     *marks; /* args.restr with all marks, or NULL */
  HopsLanesMeets meets;
  HopsBasis      geom;
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsH1OperatorCreate(const HopsH1Kernels *, HopsForm, const HopsBasis *, HopsOperator *);
PETSC_INTERN PetscErrorCode HopsH1SingleCreate(HopsOperator, HopsOperator *);
EXTERN_C_END
