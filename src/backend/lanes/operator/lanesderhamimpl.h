/* Forms on H(curl), H(div) and L2 of back ends that launch kernels for teams of lanes: what such a back end
   brings, and an operator's data. */
#pragma once
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsformimpl.h>
#include "lanesderhamargs.h"
#include "lanesoperator.h"
#include "lanesorders.h"

typedef PetscErrorCode (*HopsDerhamLaunch)(const HopsDerhamArgs *, const double x[], const double xg[], double y[], double yg[]);

/* No function waits for a device */
typedef struct {
  const HopsBackendOps *backend; /* whose memory it is */
  int                   group;   /* cells whose data lie side by side */
  /* y += A x on the cells of the arguments, by nodes per direction, for as many points or one more */
  HopsDerhamLaunch launch[HOPS_DERHAM_MOST_NODES + 1];
  HopsDerhamLaunch generic; /* of any order */
  /* of the generic kernels: doubles of scratch of a team, teams of a launch (into the arguments), and whether
     the scratch lies in memory of the team's own */
  PetscErrorCode (*GenericSetUp)(HopsDerhamArgs *, PetscBool *own);
  PetscErrorCode (*Diagonal)(const HopsDerhamArgs *, double d[], double dg[]);
  PetscErrorCode (*SetUp)(int family, const HopsSetUpArgs *);
  HopsLanesFindBad        FindBad;
  const HopsLanesMeetOps *meet;
} HopsDerhamKernels;

typedef struct _HopsDerhamOperator *HopsDerhamOperator;
struct _HopsDerhamOperator {
  struct _HopsOperator     head;
  const HopsDerhamKernels *kernels;
  HopsDerhamArgs           args;
  HopsSetUpArgs            setup; /* kappa: the derivative's coefficient; mass: the field's */
  HopsLanesSetUp           own;
  HopsDerhamLaunch         launch;
  PetscInt                 ncells, ninterior;
  PetscBool                alone; /* no other rank, so that the parts need not be kept apart */
  double                  *tables, *hosttables, *qdata;
  void                    *marked;
  HopsLanesMeets           meets;
  PetscBool                marks; /* args.marked has all it should have */
  HopsBasis                geom;
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsDerhamOperatorCreate(const HopsDerhamKernels *, HopsForm, const HopsBasis *, HopsOperator *);
EXTERN_C_END
