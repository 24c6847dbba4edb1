/* MATPA's data, shared by its own files and by PCLOR; what all of hops' matrices share. */
#pragma once
#include <hops/private/hopsformimpl.h>

/* An integral over facets with a coefficient */
typedef struct {
  PetscReal   *qdata; /* [n][Q_1d^(dim-1)] weight * surface element * coefficient */
  HopsOperator kernel;
} HopsPAFacets;

typedef struct {
  HopsForm          form;        /* never NULL */
  PetscInt          q_1d;        /* 0: the default */
  PetscBool         gll;         /* collocated Gauss-Lobatto quadrature */
  PetscBool         gauss;       /* Gauss points, though the PetscFE may have others */
  PetscBool         needsetup;   /* quadrature data are older than the coefficients */
  PetscInt          nindefinite; /* this rank's cells whose diffusion no positive form has, after set-up; H1 alone */
  MatPAGeometryType geometry;
  const char       *geometrynote; /* what was done, for the viewer */
  PetscBool         fromds;       /* the form comes from a PetscDS: its own quadrature is the default */
  HopsBasis         basis;
  HopsBasis         facebasis; /* at the rule of boundary faces */
  PetscBool         ferule;    /* both rules are the PetscFE's */
  HopsOperator      kernel;
  PetscInt          nfacets;
  HopsPAFacets     *facets; /* [nfacets] of the form's integrals over the boundary, after set-up */
  /* of facets, which see cells' own entries where nodes hang, behind those that the kernel of the cells has;
     the space's, or NULL */
  HopsHung              facethung;
  PetscReal            *xg, *yg; /* ghost and constrained parts of the L-vectors, and these, where the back end works */
  struct _HopsPATensor *tensor;  /* in place of space, coefficients and kernel: several components, first-order terms */
  PetscBool             general; /* use it for every form */
  struct _HopsPASum    *sum;     /* what MatScale() and the like made of the form, NULL for the form itself */
} Mat_PA;

PETSC_INTERN PetscErrorCode MatPAGetData(Mat, Mat_PA **);
PETSC_INTERN PetscErrorCode MatPASetUp_Private(Mat, Mat_PA *);
PETSC_INTERN PetscErrorCode MatPASetUpRules(Mat, Mat_PA *); /* the rules of cells and boundary faces */
PETSC_INTERN PetscErrorCode MatPAReset(Mat_PA *);           /* drops the quadrature data and the rule */
PETSC_INTERN PetscErrorCode MatPAFreeWork(Mat_PA *);        /* drops xg and yg, before the space goes */
PETSC_INTERN PetscErrorCode MatPASetTerm(Mat, Mat_PA *, HopsDifferential, HopsCoefficient);
/* src/mat/pa/matpafacets.c */
PETSC_INTERN PetscErrorCode MatPASetUpFacets(Mat_PA *);
PETSC_INTERN PetscErrorCode MatPADestroyFacets(Mat_PA *);
PETSC_INTERN PetscErrorCode MatPAFindFacetHung(Mat_PA *);
/* y += A x on the facets, between L-vectors with what is there already */
PETSC_INTERN PetscErrorCode MatPAApplyFacets(Mat_PA *, const PetscReal x[], PetscReal xg[], PetscReal y[], PetscReal yg[]);
/* a coefficient is new; layout: a term came or went */
PETSC_INTERN PetscErrorCode MatPAChanged(Mat, Mat_PA *, PetscBool layout);
PETSC_INTERN PetscErrorCode HopsDerhamAssemble(Mat, Mat_PA *, MatReuse, Mat *); /* families other than H1 */
PETSC_INTERN PetscErrorCode HopsPreallocate(HopsSpace, const PetscInt gidx[], const PetscReal zero[], PetscInt row[], Mat);
PETSC_INTERN PetscErrorCode MatPASetUpGeometry(Mat, Mat_PA *, PetscBool *done); /* src/mat/pa/matpageometry.c */
/* arrays of vectors where the back end of the space works; x may be NULL */
PETSC_INTERN PetscErrorCode MatPAGetArrays(HopsSpace, PetscInt part, Vec x, Vec y, const PetscReal **, PetscReal **);
/* src/mat/pa/matpahung.c: entries behind a T-vector, of the operator's xg and yg */
PETSC_INTERN PetscInt MatPANumOthers(const Mat_PA *);
/* adds what hanging nodes bring to the diagonal, in place of what kernels put there */
PETSC_INTERN PetscErrorCode MatPADiagonalHung(Mat_PA *, PetscReal d[], PetscReal dg[]);
PETSC_INTERN PetscErrorCode MatPARestoreArrays(HopsSpace, PetscInt part, Vec x, Vec y, const PetscReal **, PetscReal **);
PETSC_INTERN PetscErrorCode MatConvert_PA_AIJ(Mat, MatType, MatReuse, Mat *);

/* src/mat/pa/matpaalgebra.c: operators that were changed as matrices are; new terms, or a new state, of the
   form end that */
PETSC_INTERN PetscErrorCode MatPASetAlgebra(Mat);
PETSC_INTERN PetscErrorCode MatPASumDestroy(Mat_PA *);
PETSC_INTERN PetscErrorCode MatPASumCopy(Mat, Mat);
PETSC_INTERN PetscErrorCode MatPASumMult(Mat, struct _HopsPASum *, PetscBool transpose,
                                         PetscErrorCode (*form)(Mat, PetscBool, Vec, Vec), Vec, Vec);
PETSC_INTERN PetscErrorCode MatPASumDiagonal(Mat, struct _HopsPASum *, Vec);
PETSC_INTERN PetscErrorCode MatPASumAssemble(Mat, struct _HopsPASum *, Mat);
PETSC_INTERN PetscErrorCode MatPASumView(Mat_PA *, PetscViewer);
/* raises an error unless A is its form, or where scalable a positive multiple of it */
PETSC_INTERN PetscErrorCode MatPACheckForm(Mat, PetscBool scalable, const char what[]);

/* src/sys/refuse.c: for all of hops' matrices, what PETSc calls without asking for it raises an error that
   names the remedy */
PETSC_INTERN PetscErrorCode HopsMatRefuseRows(Mat);
