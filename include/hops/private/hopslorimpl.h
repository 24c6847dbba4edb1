/* The low-order-refined matrix (HopsLOR) and PCLOR's data. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopscycle.h>
#include <petscksp.h>

/*
  Value array of a rank: [0,nd) diagonal block, [nd,nd+no) off-diagonal block (both CSR, owned rows), then ng values of
  ghost rows, which travel to their owners, and one trash entry for constrained and absent neighbours.
*/
#define HOPS_LOR_TOL 1.e-10 /* relative size below which an off-diagonal geometry factor is rounding error */

typedef struct {
  HopsSpace              space;
  HopsBasis              gll;
  HopsLORKernel          kernel;
  unsigned char         *mask;              /* [ncells] coupled direction pairs in the pattern */
  PetscInt              *start;             /* [ncells] start of a cell's positions in pos */
  int                   *pos;               /* positions of element entries in vals, see HopsBackendOps */
  PetscInt               nd, no, ng;        /* entries of diagonal block, off-diagonal block and ghost rows */
  PetscInt              *di, *dj, *oi, *oj; /* CSR of both blocks; oj holds global columns until the Mat takes over */
  int                   *diag;              /* [nL] position of the diagonal entry of each unknown (trash if constrained) */
  PetscScalar           *vals;              /* [nd + no + ng + 1] */
  PetscSF                sf;                /* roots: received entries; leaves: ghost-row entries */
  PetscInt               nr;
  PetscScalar           *rvals;  /* [nr] received entries */
  int                   *rpos;   /* [nr] their positions in vals */
  Mat                    mat;    /* AIJ on these arrays, which go with it (they outlive this struct if the Mat does) */
  PetscLogDouble         nnz;    /* global number of nonzeros */
  struct _HopsLORDevice *device; /* in place of mask, start, pos, vals and diag where the space's back end assembles the rows */
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
PETSC_INTERN PetscErrorCode HopsLORDestroyPattern(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORGhostRows(HopsLOR *, const PetscInt gi[], const PetscInt gj[], PetscInt *rrow[], PetscInt *rcol[]);
PETSC_INTERN PetscErrorCode HopsLORCreateAIJ(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORChangedAIJ(Mat);
PETSC_INTERN PetscErrorCode HopsLORCheckSign(const HopsValues *, PetscInt dim, PetscInt n, PetscInt nq, PetscBool *negative);
PETSC_INTERN PetscErrorCode HopsLORWarn(HopsLOR *, PetscBool negative); /* collective */
PETSC_INTERN PetscErrorCode HopsLORNumeric(HopsLOR *, const HopsForm *);

/* The same three steps on a device (src/pc/lor/lordevice.c). `type` is MATHYPRE, MATAIJCUSPARSE, or anything else for MATAIJ. */
PETSC_INTERN PetscErrorCode HopsLORDeviceCheckCouplings(HopsLOR *, const HopsForm *, PetscBool *fits);
PETSC_INTERN PetscErrorCode HopsLORDeviceSymbolic(HopsLOR *, MatType type);
PETSC_INTERN PetscErrorCode HopsLORDeviceNumeric(HopsLOR *, const HopsForm *);
PETSC_INTERN PetscErrorCode HopsLORDeviceDestroyPattern(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORDeviceDestroy(HopsLOR *);

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
  PetscBool             mattypeset; /* by the user; else the back end's choice */
  KSP                   ksp;
  PCLORCycle            cycletype;
  HopsCycle             cycle; /* in place of the inner KSP's solve, where it can be */
  const char           *nocycle;
  void                 *cycledata; /* of the inner PC that the cycle belongs to */
  PetscBool             built;     /* the pattern exists */
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
/* appends the Robin terms of the PetscDS's boundary Jacobians (src/fe/faceds.c); others than g0 of a scalar field are refused */
PETSC_INTERN PetscErrorCode HopsRobinCreateDS(struct _HopsTensorForm *, HopsSpace, HopsRobin *);
PETSC_INTERN PetscErrorCode HopsDSCheckNoRobin(DM);
PETSC_INTERN PetscErrorCode HopsCoefficientCreateTensor(struct _HopsTensorForm *, HopsDSTerm, HopsCoefficient *);
PETSC_INTERN PetscErrorCode HopsDSCheck(DM);
