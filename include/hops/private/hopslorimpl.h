/* The low-order-refined matrix (HopsLOR) and PCLOR's data. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopscycleimpl.h>
#include <hops/private/hopslorrowsimpl.h>
#include <petscksp.h>

#define HOPS_LOR_ZERO_MASS 1.e-3  /* -pc_lor_zero_mass, where one is needed */
#define HOPS_LOR_CHUNK     64     /* cells whose coefficients are looked at at a time, or multiples of them */
#define HOPS_LOR_TOL       1.e-10 /* relative size below which an off-diagonal geometry factor is rounding error */

typedef struct _HopsLORExchange *HopsLORExchange; /* lorexchange.c */

typedef enum {
  HOPS_LOR_AIJ,         /* the rows' arrays are the matrix's own, or copies of them in the process's memory are */
  HOPS_LOR_AIJCUSPARSE, /* values are copied within the device's memory */
  HOPS_LOR_AIJKOKKOS,   /* the same; where Kokkos works in the process's memory as HOPS_LOR_AIJ */
  HOPS_LOR_HYPRE        /* the rows' arrays are the matrix's own */
} HopsLORTarget;

typedef struct {
  HopsSpace             space;
  const HopsBackendOps *backend; /* the space's, or the host's */
  PetscBool             process; /* its memory is the process's */
  HopsBasis             gll;     /* the vertices of the sub-cells */
  /* where coefficients are evaluated: gll, moved into the cell at its ends unless the operator has points
     there (HopsLORSetPoints()) */
  HopsBasis        inner;
  HopsLORAssembler kernel;
  HopsLORTarget    target;
  HopsLORRows      rows, ghosts; /* owned rows; ghost rows, which travel to their owners through the process's memory */
  /* Several components that do not couple have one pattern. Their values come one after the other, in `rows`,
     and go to `wide`, the matrix's. essential[nL]: a bit for each component that is; those of free nodes are
     identity rows. The caller's */
  PetscInt             nc;
  HopsLORRows          wide;
  const unsigned char *essential;
  unsigned char       *fixed[2]; /* these bits of the columns of both blocks, where the back end works */
  unsigned char       *gfixed;   /* [ng] those of an entry's row or column, in the process's memory */
  PetscBool            coupled;  /* the pattern has couplings across cells' directions on this rank */
  PetscBool            given;    /* rows.i, rows.j, and the values belong to the matrix */
  PetscReal           *array;    /* the values of all rows, where the memory is the process's */
  PetscInt             ncols;    /* columns of block 1 */
  PetscInt            *cols;     /* [ncols] their global indices, ascending */
  HopsLORExchange      exchange; /* of ghost rows' entries: ng leave, nr arrive */
  PetscInt             ng, nr;
  PetscReal           *gvals, *rvals; /* [ng], [nr] the values, in the process's memory */
  PetscReal           *xvals;         /* [nr] where the back end works */
  /* of an AIJ in the process's memory, which these go with: CSR of both blocks */
  PetscInt      *di, *dj, *oi, *oj;
  PetscReal     *vals[2];
  PetscScalar   *scalars[2]; /* the same as the matrix has them: real ones are vals[] */
  Mat            mat;        /* it may outlive this struct */
  PetscLogDouble nnz;        /* global number of nonzeros */
  /* cells whose off-diagonal factors are all below this, relatively, keep none; set before the pattern is
     built */
  PetscReal droptol;
  PetscInt  constraintentries; /* of a hanging node's row; 0: all. The same */
  /* is the derivative's coefficient, or the mass, negative somewhere (the first is warned of too where it is
     zero all over a cell, the last leaves that out)? On all ranks alike after the numeric phase */
  PetscBool negative[3];
  PetscBool told; /* the derivative's coefficient was told: refused where it is negative */
  PetscBool part; /* of a sum: rows may be zero, which those of other parts are added to */
} HopsLOR;

/* Where the low-order-refined matrix takes coefficients: as its operator does where cells meet */
typedef enum {
  HOPS_LOR_INSIDE, /* inside of the cells */
  HOPS_LOR_LIMITS, /* at the nodes, where cells meet as limits from inside: hops' own Gauss-Lobatto rule */
  HOPS_LOR_NODES   /* at the nodes, where cells meet with the same value in all of them: a rule of the code's own */
} HopsLORPoints;

/* src/mat/pa/matpaassemble.c: E[n][np][np], dense and slow */
PETSC_INTERN PetscErrorCode HopsFormElementMatrices(HopsForm, const HopsBasis *, PetscInt n, const PetscInt cells[], PetscReal E[]);
/* on the space's back end, or on the host */
PETSC_INTERN PetscErrorCode HopsLORCreate(HopsSpace, const HopsBackendOps *, HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORSetPoints(HopsLOR *, HopsLORPoints);
/* nc > 1 components that do not couple, before there is a pattern; essential[nL] is borrowed */
PETSC_INTERN PetscErrorCode HopsLORSetComponents(HopsLOR *, PetscInt nc, const unsigned char essential[]);
PETSC_INTERN PetscErrorCode HopsLORDestroy(HopsLOR *);
/* Vertex data[nc] of the components' forms, which are the caller's to pass on, and does the pattern hold
   their couplings? (collective); where it does not, the pattern is gone, and the next one is for these */
PETSC_INTERN PetscErrorCode HopsLORCheckCouplings(HopsLOR *, const HopsForm[], HopsLORVertexData[], PetscBool *fits);
/* the matrix on a new pattern, without values. `type` is MATHYPRE, MATAIJCUSPARSE, MATAIJKOKKOS, or anything
   else for MATAIJ */
PETSC_INTERN PetscErrorCode HopsLORSymbolic(HopsLOR *, MatType type);
/* its values, of data that fit, which are destroyed */
PETSC_INTERN PetscErrorCode HopsLORNumeric(HopsLOR *, const HopsForm[], HopsLORVertexData[]);
/* the pattern alone; rrow[nr]: row of each received entry */
PETSC_INTERN PetscErrorCode HopsLORPattern(HopsLOR *, PetscInt *rrow[]);
PETSC_INTERN PetscErrorCode HopsLORDestroyPattern(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORExchangeCreate(HopsSpace, const PetscInt len[], HopsLORExchange *, PetscInt *nrows,
                                                  PetscInt *row[], PetscInt *count[]);
PETSC_INTERN PetscErrorCode HopsLORExchangeEntries(HopsLORExchange, MPI_Datatype unit, size_t size, const void *entries,
                                                   void *received);
PETSC_INTERN PetscErrorCode HopsLORExchangeDestroy(HopsLORExchange *);
PETSC_INTERN PetscErrorCode HopsLORCheckZero(HopsLOR *); /* collective, as the next one */
PETSC_INTERN PetscErrorCode HopsLORWarn(HopsLOR *);
/* src/pc/lor/lorwrap.c: what the matrix is; memory of the rows, as it wants it; the matrix on the filled
   pattern; its new values */
PETSC_INTERN PetscErrorCode HopsLORSetTarget(HopsLOR *, MatType);
PETSC_INTERN PetscErrorCode HopsLORAlloc(HopsLOR *, size_t bytes, void **);
PETSC_INTERN PetscErrorCode HopsLORAllocValues(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORWiden(HopsLOR *); /* the wide rows, of several components */
PETSC_INTERN PetscErrorCode HopsLORFreeRows(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORCreateMat(HopsLOR *);
PETSC_INTERN PetscErrorCode HopsLORUpdateMat(HopsLOR *);
/* Values as a matrix has them, which the host's memory must free where scalars are complex: real ones are the
   values; and their new values */
PETSC_INTERN PetscErrorCode HopsLORScalarsMalloc(size_t n, PetscReal v[], PetscScalar **);
PETSC_INTERN PetscErrorCode HopsLORScalarsUpdate(size_t n, const PetscReal v[], PetscScalar s[]);
/* new values were written into the arrays of an AIJ */
PETSC_INTERN PetscErrorCode HopsLORChangedAIJ(Mat);

typedef enum {
  HOPS_SOURCE_NONE,
  HOPS_SOURCE_MATPA,  /* space and form of a MATPA operator */
  HOPS_SOURCE_USER,   /* PCLORSetSpace(), PCLORSetCoefficients() */
  HOPS_SOURCE_DM,     /* DMPlex with PetscFE and PetscDS */
  HOPS_SOURCE_MAT,    /* MatSetHopsSpace() */
  HOPS_SOURCE_DMSPACE /* DMSetHopsSpace() */
} HopsSource;
PETSC_INTERN const char *const HopsSourceNames[]; /* by HopsSource */

typedef enum {
  PCLOR_SCALE_DEFAULT, /* by the diagonal where no diffusion is known */
  PCLOR_SCALE_NONE,
  PCLOR_SCALE_DIAGONAL
} PCLORScale;

typedef struct _HopsLORBetween HopsLORBetween; /* pclorbetween.c */

/* PCLOR's data; PCPATCHFD uses those members that PCLORGetForm() works on */
typedef struct {
  const char           *name;   /* of the PC in messages, and of its public functions */
  PetscBool             scalar; /* forms of several components or with first-order terms are refused */
  HopsSource            source;
  HopsSpace             userspace;
  HopsSpace             found, foundof; /* a space from arrays with the operator's Dirichlet rows, and without */
  PetscInt              nfound;         /* their number; 0: not in use */
  PetscInt              ndirichlet;     /* rows of the next one */
  PetscScalar          *dirichlet;      /* the operator's diagonal in Dirichlet rows, 1 in others; NULL: not known */
  PetscBool             massless;       /* -pc_lor_diffusion was given without -pc_lor_mass */
  PetscBool             assumed;        /* -pc_lor_mass was given without -pc_lor_diffusion, which is 1 */
  PetscBool             unknown;        /* the diffusion's coefficient is not known: it is 1 */
  HopsCoefficient       userdiffusion, usermass;
  HopsCoefficient       lame[2];  /* PCLORSetElasticity(), or NULL */
  HopsForm              form;     /* space and terms of the last set-up; never NULL */
  PetscBool             ondevice; /* the matrix is assembled in a device's memory */
  HopsLORPoints         points;
  DM                    dm; /* the DM that the form's space came from */
  PetscSection          section;
  HopsLOR               lor;
  struct _HopsLORBlock *block; /* in place of lor: a vector-valued field, or first-order terms */
  PetscBool             upwind;
  PetscBool             couple, coupleset; /* between components: as asked for, or the default */
  PetscReal             droptol;
  PetscBool             dropset;
  PetscInt              constraintentries; /* -pc_lor_constraint_entries, or PETSC_DECIDE: PCLORConstraintEntries() */
  Mat                   mat;               /* what the inner solver gets: lor.mat or a conversion of it */
  char                  mattype[64];
  PetscBool             mattypeset; /* by the user; else the back end's choice */
  Vec                   staged[2];  /* copies on the device of vectors in the process's memory */
  KSP                   ksp;
  Mat                   G, C;                 /* of families other than H1: gradient and curl for AMS and ADS */
  Mat                   Pi[2][3];             /* on a device: their interpolations to H(curl), H(div) */
  HopsSpace             auxspace;             /* the space that they were made for */
  PetscBool             auxiliary;            /* the inner solver has them */
  PCLORCycle            cycletype, cycleused; /* what was asked for; what is done */
  PetscBool             cycleset;             /* by the user */
  PetscBool             cycleprecise;         /* the solver's norm needs double precision */
  PCLORSmoother         smoother;             /* of BoomerAMG's cycle */
  PetscInt              degree;               /* of its polynomial */
  PetscBool             smootherset;          /* by the user */
  PetscInt              redundant;            /* levels of at most so many unknowns are every rank's */
  PetscInt              gather;               /* a matrix of at most so many rows is set up by rank 0: src/pc/lor/pclorgather.c */
  PetscBool             gatherable, gathered; /* the inner solver is as options made it; rank 0 has it set up */
  PC                    first;                /* rank 0's inner solver, of the rows of all ranks */
  HopsCycle             cycle;                /* in place of the inner KSP's solve, where it can be */
  const char           *nocycle;
  void                 *cycledata; /* of the inner PC that the cycle belongs to */
  /* relaxation weight of the nodal solvers on a device: what was asked for, what is; 0: nothing */
  PetscReal nodalweight, nodalused;
  PetscBool built; /* the pattern exists */
  PetscBool viewspectrum, spectrumdone;
  PetscBool ignoreconvection, ignoreboundary;
  PetscBool innerset; /* inner options were read */
  /* src/pc/lor/pclorscale.c */
  PCLORScale  scaletype;
  Vec         scale, scaled; /* D, or NULL; D x */
  const char *notscaled;     /* why not, where it was the default */
  PetscBool   scaledrows;    /* of Dirichlet rows alone */
  /* src/pc/lor/pclorbetween.c: the operator's unknowns are others than the space's */
  Mat             prolongation, transformation;
  HopsLORBetween *between; /* or NULL */
  /* src/pc/lor/pclorsum.c: those of the operators of a sum, and the states of these at set-up */
  PetscInt          nsub;
  PetscBool         summand; /* it is one of them */
  PC               *sub;
  PetscObjectState *substate;
  PetscReal         zeromass; /* -pc_lor_zero_mass, see pclorzeromass.c; negative: not set */
  /* what cells without mass got, in units of the derivative's coefficient; 0: nothing was looked for */
  PetscReal zerofill;
  PetscInt  nzero;  /* their number, where it was */
  PetscBool filled; /* the form's mass has it */
} PC_LOR;

#define HOPS_NODAL_WEIGHT 1.5

/* src/pc/lor/pclorgather.c */
PETSC_INTERN PetscErrorCode PCLORGatherSetOptions(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORGatherSetUp(PC, PC_LOR *);

/* src/pc/lor/pclorform.c; what the user sets is that of all types whose data begin with a PC_LOR */
PETSC_INTERN PetscInt       PCLORConstraintEntries(const PC_LOR *, HopsSpace);
PETSC_INTERN PetscErrorCode PCLORGetForm(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORSetUserSpace(PC, HopsSpace);
PETSC_INTERN PetscErrorCode PCLORSetUserCoefficients(PC, HopsCoefficient, HopsCoefficient);
PETSC_INTERN PetscErrorCode PCLORDestroyUser(PC_LOR *);
/* src/pc/lor/pclorattach.c */
PETSC_INTERN PetscErrorCode PCLORFindSpace(PC, PC_LOR *, const Mat_PA *, HopsSpace *, HopsSource *);
PETSC_INTERN PetscErrorCode PCLORFindEssential(PC, PC_LOR *, const Mat_PA *, HopsSpace, HopsSpace *use);
PETSC_INTERN PetscErrorCode PCLORResetFound(PC_LOR *);
/* What a row of the operator is, by products with random vectors; q[n]: its diagonal entry, where it has
   no other */
typedef enum {
  HOPS_ROW_COUPLED,
  HOPS_ROW_DIAGONAL, /* as Dirichlet rows are */
  HOPS_ROW_ZERO
} HopsRow;
PETSC_INTERN PetscErrorCode PCLORRowsTell(PC, PC_LOR *, const Mat_PA *, HopsSpace, PetscInt nc, PetscBool *);
/* Is T-index i in the list that the user gave? For ascending i, with next = 0 at first */
static inline PetscBool PCLORIsListed(HopsSpace sp, PetscInt i, PetscInt *next)
{
  while (*next < sp->ness && sp->essT[*next] < i) ++*next;
  return *next < sp->ness && sp->essT[*next] == i ? PETSC_TRUE : PETSC_FALSE;
}
PETSC_INTERN PetscErrorCode PCLORSetRandom(Vec); /* numbers from 1 to 2: none is lost beside another */
/* ndiagonal: how many are HOPS_ROW_DIAGONAL, on all ranks */
PETSC_INTERN PetscErrorCode PCLORFindRows(Mat, PetscInt n, HopsRow row[], PetscScalar q[], PetscInt64 *ndiagonal);
/* |A c| / |A r| of largest entries, r random: 0 of what A takes to nothing */
PETSC_INTERN PetscErrorCode PCLORTakes(Mat A, Vec c, PetscReal *ratio);
PETSC_INTERN PetscErrorCode PCLORRefuseZeroRows(PC, PetscInt n, const HopsRow row[]);
PETSC_INTERN PetscErrorCode PCLORSetDirichlet(PC_LOR *, PetscInt n, const HopsRow row[], const PetscScalar q[]);
PETSC_INTERN PetscErrorCode PCLORSetFound(PC_LOR *, HopsSpace, const PetscBool ess[]);
/* src/pc/lor/pclorbetween.c: operators with other unknowns than the space's */
static inline PetscBool PCLORIsBetween(const PC_LOR *lor)
{
  return lor->prolongation || lor->transformation ? PETSC_TRUE : PETSC_FALSE;
}
PETSC_INTERN PetscErrorCode PCLORComposeBetween(PC, PetscBool add);
PETSC_INTERN PetscErrorCode PCLORBetweenFind(PC, PC_LOR *, HopsSpace, HopsSpace *use);
PETSC_INTERN PetscErrorCode PCLORBetweenSetUp(PC, PC_LOR *, Mat *);
PETSC_INTERN PetscErrorCode PCLORBetweenDiagonal(PC_LOR *, Vec d, Vec r);
PETSC_INTERN PetscErrorCode PCLORBetweenBegin(PC_LOR *, Vec x, Vec y, Vec *xi, Vec *yi);
PETSC_INTERN PetscErrorCode PCLORBetweenEnd(PC_LOR *, Vec x, Vec y);
PETSC_INTERN PetscErrorCode PCLORBetweenView(PC_LOR *, PetscViewer);
PETSC_INTERN PetscErrorCode PCLORBetweenDestroy(PC_LOR *);
/* src/pc/lor/pclorview.c */
PETSC_INTERN PetscErrorCode PCView_LOR(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCLORViewConstraints(const HopsLOR *, PetscViewer);
/* src/pc/lor/pclorsum.c: operators that are sums of P^T A P. The new matrix is the caller's */
PETSC_INTERN PetscErrorCode PCLORIsSum(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCLORSumSetUp(PC, PC_LOR *, Mat *);
PETSC_INTERN PetscBool      PCLORSumHasValues(const PC_LOR *); /* mass or boundary terms, after set-up */
PETSC_INTERN PetscErrorCode PCLORCheckConstantsSum(PC, PC_LOR *, Mat, PetscBool look);
PETSC_INTERN PetscErrorCode PCLORSumRenew(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORSumView(const PC_LOR *, PetscViewer);
PETSC_INTERN PetscErrorCode PCLORSumReset(PC_LOR *);
/* src/pc/lor/pclorcomponents.c: operators with a block of nc components for each unknown of an H1 space */
PETSC_INTERN PetscErrorCode PCLORCountComponents(PC, HopsSpace, PetscInt *nc);
PETSC_INTERN PetscErrorCode PCLORCheckElasticity(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORComposeComponents(PC, PetscBool add);
PETSC_INTERN PetscErrorCode PCLORSetFromOptionsElasticity(PC, HopsOptionItems);
PETSC_INTERN PetscErrorCode PCLORCheckComponents(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORGetFormComponents(PC, PC_LOR *, HopsSpace, PetscInt nc);
PETSC_INTERN PetscErrorCode PCLORSetFromOptionsConstants(PC, HopsOptionItems);
/* src/pc/lor/pclorscale.c */
PETSC_INTERN PetscErrorCode PCLORSetUpScale(PC, PC_LOR *, PetscInt nc, const HopsForm form[]);
PETSC_INTERN PetscErrorCode PCLORScaleBegin(PC_LOR *, Vec, Vec *);
PETSC_INTERN PetscErrorCode PCLORScaleEnd(PC_LOR *, Vec);
PETSC_INTERN PetscErrorCode PCLORViewAttach(PC_LOR *, PetscViewer);
PETSC_INTERN PetscErrorCode PCLORSetInnerOptions(PC, PC_LOR *);
PETSC_INTERN PetscBool      PCLORIsCoupled(const PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORInsertDefault(PC_LOR *, const char name[], const char value[], PetscInt *n, char set[][256]);
/* src/pc/lor/pclorcycle.c: the cycle of the inner solver's hierarchy on a device, once that is set up */
PETSC_INTERN PetscErrorCode PCLORSetUpNodalWeight(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORSetUpCycle(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCPreSolve_LOR(PC, KSP, Vec b, Vec x);
PETSC_INTERN PetscErrorCode PCLORSetFromOptionsCycle(PC, HopsOptionItems);
PETSC_INTERN PetscErrorCode PCLORViewCycle(PC_LOR *, PetscViewer);
PETSC_INTERN PetscErrorCode PCLORComposeCycle(PC, PetscBool add);
/* src/pc/lor/pcloraux.c: what AMS and ADS need beside the matrix */
PETSC_INTERN PetscErrorCode PCLORInsertAuxiliaryDefaults(PC_LOR *, PetscInt *n, char set[][256]);
PETSC_INTERN PetscErrorCode PCLORSetAuxiliary(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORRenewAuxiliary(PC, PC_LOR *);
PETSC_INTERN PetscErrorCode PCLORResetAuxiliary(PC_LOR *);
/* src/pc/lor/pclorzeromass.c: cells in which the mass coefficient vanishes */
PETSC_INTERN PetscErrorCode PCLORFindZeroMass(PC_LOR *, PetscBool zero[], PetscInt *n);
PETSC_INTERN PetscErrorCode PCLORFillZeroMass(PC, PC_LOR *);
#if HOPS_HAVE_HYPRE_DEVICE
/* refuses hypre's cycles that do not take interpolations by components */
PETSC_INTERN PetscErrorCode PCLORCheckCycles(PC inner, PetscBool ads);
/* Pi[d] of nodal fields of direction d, AIJ */
PETSC_INTERN PetscErrorCode HopsCreatePi(HopsSpace nodes, HopsSpace, Mat Pi[3]);
/* src/pc/lor/pclorauxdevice.c: the same where the space is on a device; nodes: the vertices of the nodal
   spaces */
PETSC_INTERN PetscErrorCode PCLORSetAuxiliaryDevice(PC inner, PC_LOR *, HopsSpace nodes);
/* nodes to be taken for AMS's interior nodes, of a vector on the device */
#endif

/* src/pc/lor/pclorcheck.c: constants lie in the kernels of operator and matrix, or of neither */
PETSC_INTERN PetscErrorCode PCLORCheckConstants(PC, PC_LOR *);
/* of a nonsymmetric matrix, after the inner solver's set-up */
PETSC_INTERN PetscErrorCode PCLORCheckGrowth(PC, PC_LOR *);
