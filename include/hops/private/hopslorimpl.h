/* The low-order-refined matrix (HopsLOR) and PCLOR's data. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <petscksp.h>

/*
  Value array of a rank: [0,nd) diagonal block, [nd,nd+no) off-diagonal block (both CSR, owned rows), then ng values of
  ghost rows, which travel to their owners, and one trash entry for constrained and absent neighbours.
*/
typedef struct {
  HopsSpace      space;
  HopsBasis      gll;
  HopsLORKernel  kernel;
  unsigned char *mask;              /* [ncells] coupled direction pairs in the pattern */
  PetscInt      *start;             /* [ncells] start of a cell's positions in pos */
  int           *pos;               /* positions of element entries in vals, see HopsBackendOps */
  PetscInt       nd, no, ng;        /* entries of diagonal block, off-diagonal block and ghost rows */
  PetscInt      *di, *dj, *oi, *oj; /* CSR of both blocks; oj holds global columns until the Mat takes over */
  int           *diag;              /* [nL] position of the diagonal entry of each unknown (trash if constrained) */
  PetscScalar   *vals;              /* [nd + no + ng + 1] */
  PetscSF        sf;                /* roots: received entries; leaves: ghost-row entries */
  PetscInt       nr;
  PetscScalar   *rvals; /* [nr] received entries */
  int           *rpos;  /* [nr] their positions in vals */
  Mat            mat;   /* AIJ on these arrays, which go with it (they outlive this struct if the Mat does) */
  PetscLogDouble nnz;   /* global number of nonzeros */
} HopsLOR;

/* The form whose low-order-refined matrix is wanted */
typedef struct {
  HopsSpace       space;
  HopsCoefficient diffusion, mass;
  HopsRobin       robin;
} HopsForm;

PETSC_INTERN PetscErrorCode HopsLORCreate(HopsSpace, HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORDestroy(HopsLOR *);
/* does the pattern hold the couplings of these coefficients? (collective); new masks are left in `mask` when it does not */
PETSC_INTERN PetscErrorCode HopsLORCheckCouplings(HopsLOR *, const HopsForm *, PetscBool *fits);
PETSC_INTERN PetscErrorCode HopsLORSymbolic(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORPattern(HopsLOR *, PetscInt *rrow[]);
PETSC_INTERN PetscErrorCode HopsLORNumeric(HopsLOR *, const HopsForm *);

typedef enum {
  HOPS_SOURCE_NONE,
  HOPS_SOURCE_MATPA, /* space and form of a MATPA operator */
  HOPS_SOURCE_USER,  /* PCLORSetSpace(), PCLORSetCoefficients() */
  HOPS_SOURCE_DM     /* DMPlex with PetscFE and PetscDS */
} HopsSource;

typedef struct {
  HopsSource            source;
  HopsRobin             robin; /* of the DM's PetscDS, owned; form.robin may be it */
  HopsSpace             userspace;
  HopsCoefficient       userdiffusion, usermass;
  HopsForm              form; /* space and coefficients of the last set-up */
  DM                    dm;   /* the DM that form.space came from */
  PetscSection          section;
  HopsLOR               lor;
  struct _HopsLORBlock *block; /* in place of lor: a vector-valued field, or first-order terms */
  PetscBool             upwind;
  Mat                   mat; /* what the inner solver gets: lor.mat or a conversion of it */
  char                  mattype[64];
  KSP                   ksp;
  PetscBool             built; /* the pattern exists */
  PetscBool             viewspectrum, spectrumdone;
  PetscBool             ignoreconvection, ignoreboundary;
  PetscBool             innerset; /* inner options were read */
} PC_LOR;

PETSC_INTERN PetscErrorCode PCLORGetForm(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORResetForm(PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORSetInnerOptions(PC, PC_LOR *);

/* src/fe/coefficientds.c */
typedef enum {
  HOPS_DS_DIFFUSION,
  HOPS_DS_MASS
} HopsDSTerm;
/* cf = NULL where the DS has no such term; terms that would be dropped raise an error unless the flags allow it */
PETSC_INTERN PetscErrorCode HopsCoefficientCreateDS(DM, HopsDSTerm, PetscBool preconditioner, PetscBool ignoreconvection, HopsCoefficient *);
struct _HopsTensorForm;
/* appends the boundary Jacobians g0 of a scalar field's PetscDS as Robin terms (src/fe/faceds.c); others are refused */
PETSC_INTERN PetscErrorCode HopsRobinCreateDS(struct _HopsTensorForm *, HopsSpace, HopsRobin *);
PETSC_INTERN PetscErrorCode HopsCoefficientCreateTensor(struct _HopsTensorForm *, HopsDSTerm, HopsCoefficient *);
PETSC_INTERN PetscErrorCode HopsDSCheck(DM);
