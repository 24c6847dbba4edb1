/* A scalar symmetric form: what MATPA applies, and what LOR matrices, patches and levels of multigrid are
   made from. */
#pragma once
#include <hops/private/hopsimpl.h>

/* One Robin term: alpha u v on a list of boundary faces */
typedef struct _HopsRobin *HopsRobin;
struct _HopsRobin {
  PetscInt        n, *cells, *faces; /* [n] cell of the space, face 2d (lower) or 2d+1 (upper) of the reference cell */
  HopsCoefficient alpha;
  PetscScalar    *qdata; /* [n][Q_1d^(dim-1)] weight * surface element * alpha */
  HopsOperator    kernel;
  HopsRobin       next;
};

/* int diffusion du dv + int mass u v on the cells, du the gradient (H1), curl (H(curl)) or divergence
   (H(div)), and alpha u v on lists of faces; NULL where a term is absent */
typedef struct {
  HopsSpace       space;
  HopsCoefficient diffusion, mass;
  HopsRobin       robin;
} HopsForm;

/* src/form/faces.c: terms on boundary faces. Node picture of a face: E-vector nodes with the face's direction
   fixed, the others in ascending order of direction, lowest fastest. */
PETSC_INTERN PetscErrorCode HopsFaceNodes(PetscInt dim, PetscInt n, PetscInt face, PetscInt node[]);
/* out[f][q] = alpha * surface element at the points of `basis` on each face */
PETSC_INTERN PetscErrorCode HopsFaceEvaluate(HopsSpace, const HopsBasis *, PetscInt n, const PetscInt cells[],
                                             const PetscInt faces[], HopsCoefficient alpha, PetscScalar out[]);
PETSC_INTERN PetscErrorCode HopsRobinSetUp(HopsSpace, const HopsBasis *, HopsRobin);
PETSC_INTERN PetscErrorCode HopsRobinDestroy(HopsRobin *);

/* src/form/ds/formds.c: every cell has one PetscDS, and all of its Jacobian functions are where PETSc's
   assembly looks for them */
PETSC_INTERN PetscErrorCode HopsDSCheck(DM);
/* is the Jacobian of the DM's PetscDS more than a HopsForm: several fields or components, first-order terms,
   boundary terms with derivatives? The flags leave some of these out of account */
PETSC_INTERN PetscErrorCode HopsDSNeedsTensors(DM, PetscBool preconditioner, PetscBool ignoreconvection, PetscBool ignoreboundary,
                                               PetscBool *needs);
/* the HopsForm of a Jacobian at its state; what it does not hold is refused, unless the flags leave it out.
   The space is borrowed, the rest goes by HopsFormReset() */
struct _HopsTensorForm;
PETSC_INTERN PetscErrorCode HopsFormSetTensor(struct _HopsTensorForm *, HopsSpace, PetscBool ignoreconvection,
                                              PetscBool ignoreboundary, HopsForm *);
PETSC_INTERN PetscErrorCode HopsFormReset(HopsForm *);
/* src/form/ds/faceds.c: appends the boundary Jacobians g0 of a scalar field's PetscDS; others are refused */
PETSC_INTERN PetscErrorCode HopsRobinCreateDS(struct _HopsTensorForm *, HopsSpace, HopsRobin *);
