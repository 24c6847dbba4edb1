/* The matrix-free operator of a form with full tensors: several fields and components, first-order terms,
   nonsymmetric tensors. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsfaceimpl.h>

/* A field as test or as trial functions */
typedef struct {
  PetscInt    field;
  HopsNodes   nodes; /* their map is into the operator's own vectors */
  HopsBasis   basis;
  HopsHung    hung;  /* the space's, NULL where no nodes hang */
  PetscInt    nl;    /* entries of the L-vector, with cells' own where nodes hang */
  const int  *restr; /* [ncells][P^dim] into it, where the back end works */
  PetscReal  *l;     /* [nl][nc] likewise */
  HopsProlong P;     /* of L-vectors of nc components */
} HopsPASide;

/* ghosts and constrained entries of its L-vector */
static inline PetscReal *HopsPASideGhosts(const HopsPASide *s)
{
  return s->l + (size_t)s->nodes->space->nT * s->nodes->nc;
}

/* The tensors of a pair of fields; operators of blocks share those of the whole, which makes new ones for its
   next state */
typedef struct {
  PetscInt              refct;
  const HopsBackendOps *backend; /* where q lies */
  PetscInt              npairs, nentries;
  HopsTensorPair       *pair;
  PetscReal            *q;
  PetscBool             cleared; /* lanes without cells are zero */
} HopsPAData;

typedef struct {
  PetscInt       test, trial; /* sides */
  unsigned char *pairs[4];    /* [nc][nc'] kinds and components that were not zero so far */
  PetscInt      *like[4];     /* [nc][nc'] the first pair whose tensors these were so far, itself where none is */
  PetscBool      compared;    /* else like[] is not known */
  HopsPAData    *data;
} HopsPABlock;

/* The L-vectors of the fields of a side, one after the other, where the back end works */
typedef struct {
  PetscInt   n;
  PetscReal *l;
  PetscInt  *gather;  /* [n] entry of the global vector, -1 where it has none */
  PetscInt  *scatter; /* [local size of the global vector] entry of l[], -1 where no node has it */
} HopsPAVector;

enum {
  HOPS_TEST  = 0,
  HOPS_TRIAL = 1
};

typedef struct _HopsPATensor *HopsPATensor;
struct _HopsPATensor {
  HopsForm            form;
  HopsJacobian        jacobian; /* the form's */
  HopsNodes           nodes;    /* of the only field, NULL where there are several or test and trial functions differ */
  HopsSpace           space;    /* that of highest order, for the cells */
  PetscInt            n[2];     /* test and trial fields */
  HopsPASide         *side[2];
  HopsPAVector        vec[2];
  PetscInt            size[2]; /* local rows and columns */
  HopsPABlock        *block;   /* [form->nblocks] */
  HopsFaceForm        faces;   /* boundary Jacobians, or NULL */
  HopsTensorOperator  kernel;
  HopsTensorData     *view; /* [form->nblocks] what the kernel sees */
  PetscInt            Q;
  PetscBool           devicefaces; /* are boundary terms the next ones? */
  PetscInt            nfaceops;
  HopsTensorOperator *faceops;
};

/* src/mat/pa/patensor.c: room for the tensors of a block */
PETSC_INTERN void           HopsPABlockForget(HopsPATensor, PetscInt b);
PETSC_INTERN PetscErrorCode HopsPABlockAllocate(HopsPATensor, PetscInt b, PetscInt nq);
/* src/mat/pa/patensordevice.c: a pass over the cells where a device evaluates the point functions, else
   done is false */
PETSC_INTERN PetscErrorCode HopsPATensorPassDevice(HopsPATensor, const HopsBasis *, PetscBool *again, PetscBool *done);
/* boundary terms of a device */
PETSC_INTERN PetscErrorCode HopsPATensorSetUpFacesDevice(HopsPATensor);
PETSC_INTERN PetscErrorCode HopsPATensorResetFacesDevice(HopsPATensor);
/* src/mat/pa/patensoraction.c: L-vectors, and the way to them */
PETSC_INTERN PetscErrorCode HopsPATensorCreateVectors(HopsPATensor);
PETSC_INTERN PetscErrorCode HopsPATensorDestroyVectors(HopsPATensor);
/* boundary terms, between the sides' L-vectors */
PETSC_INTERN PetscErrorCode HopsPATensorApplyFaces(HopsPATensor, PetscBool transpose);
PETSC_INTERN PetscErrorCode HopsPATensorMult(HopsPATensor, PetscBool transpose, PetscInt part, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsPATensorDiagonal(HopsPATensor, Vec d);

/* src/mat/pa/patensor.c: fields[i] is the field of nodes[i] */
PETSC_INTERN PetscErrorCode HopsPATensorCreate(HopsForm, PetscInt ntest, const PetscInt testfields[], HopsNodes const test[],
                                               PetscInt ntrial, const PetscInt trialfields[], HopsNodes const trial[],
                                               HopsPATensor *);
PETSC_INTERN PetscErrorCode HopsPATensorDestroy(HopsPATensor *);
PETSC_INTERN PetscErrorCode HopsPATensorSetUp(HopsPATensor, const HopsBasis *rule, const HopsBasis *face);
/* what a set-up with the whole's rule makes, but for the tensors, which are the whole's; blocks[i] is the
   whole's block of block i */
PETSC_INTERN PetscErrorCode HopsPATensorShare(HopsPATensor whole, const HopsBasis *face, const PetscInt blocks[], HopsPATensor);
PETSC_INTERN PetscErrorCode HopsPATensorAssemble(HopsPATensor, Mat A, MatReuse, Mat *B);
PETSC_INTERN PetscErrorCode HopsPATensorView(HopsPATensor, PetscViewer);
/* src/mat/pa/patensorhung.c: takes L-vectors whose entries but for cells' own where nodes hang have the
   diagonal to those of the whole, the test sides' */
PETSC_INTERN PetscErrorCode HopsPATensorDiagonalHung(HopsPATensor);
/* src/mat/pa/patensorface.c: boundary Jacobians, between the sides' L-vectors, and their diagonal */
PETSC_INTERN PetscErrorCode HopsPATensorFacesApply(HopsPATensor, PetscBool transpose);
PETSC_INTERN PetscErrorCode HopsPATensorFacesDiagonal(HopsPATensor);
PETSC_INTERN PetscErrorCode HopsPATensorSameSpaces(HopsPATensor, HopsPATensor, PetscBool *);
/* a copy on the same nodes whose form has a state of its own; not set up */
PETSC_INTERN PetscErrorCode HopsPATensorDuplicate(HopsPATensor, HopsPATensor *);
PETSC_INTERN PetscErrorCode MatPASetForm(Mat, HopsSpace, HopsForm);
/* src/mat/pa/matpads.c: the form becomes that of a PetscDS at a state (local vectors); Xt may be NULL */
PETSC_INTERN PetscErrorCode MatPASetState(Mat, DM, PetscBool preconditioner, Vec X, Vec Xt, PetscReal t, PetscReal shift);
/* src/mat/pa/matpasub.c: operators of the blocks of fields */
PETSC_INTERN PetscErrorCode MatCreateSubMatrix_PA(Mat, IS, IS, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_PA(Mat);
