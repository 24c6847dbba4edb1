/* What a DMPlex code's PetscDS says: regions, their Jacobian functions, and auxiliary fields at the points of
   a basis. */
#pragma once
#include <hops/private/hopsformimpl.h>
#include <hops/private/hopspleximpl.h>
#include <petscds.h>

/*
  The Jacobian functions that PETSc's assembly evaluates on a region: those of the key (label, 1), or of no
  label for the whole mesh; and those of the time derivative, which it adds times the shift of an implicit
  time step.
*/
typedef struct {
  DMLabel       label;
  PetscInt      value;
  PetscDS       ds;
  PetscInt      n[4], nt[4];
  HopsPointJac *g[4], *gt[4]; /* functions of one kind follow each other on the same array */
} HopsRegion;

/* Auxiliary fields at the points of a basis: values and physical gradients of all components, in the order of
   the aux DS */
typedef struct {
  DM               dm;
  Vec              v;
  PetscDS          ds;
  DMEnclosureType  enclosure;
  PetscInt         nf, nc, *off, *offx;
  PetscTabulation *tab;
} HopsAux;

#define HOPS_MAX_COMPONENTS 6 /* of a field with full tensors */

/* refuses what changes PETSc's assembly and hops does not take: basis transformations, anchors, second
   derivatives, permuted closures; collective */
PETSC_INTERN PetscErrorCode HopsDMCheck(DM);
PETSC_INTERN PetscErrorCode HopsDMHasAnchors(DM, PetscBool *);
PETSC_INTERN PetscErrorCode HopsDMCheckClosures(DM);
PETSC_INTERN PetscErrorCode HopsDSHasHessians(PetscDS, PetscBool *);
/* preconditioner: the functions that PETSc fills the preconditioning matrix with, where they differ from the
   Jacobian's */
PETSC_INTERN PetscErrorCode HopsRegionGet(DM, PetscInt s, PetscBool preconditioner, HopsRegion *);
/* the same for the functions of test field i and trial field j */
PETSC_INTERN PetscErrorCode HopsRegionGetBlock(DM, PetscInt s, PetscBool preconditioner, PetscInt i, PetscInt j, HopsRegion *);
/* the region of a cell, or -1: PETSc then adds nothing there */
PETSC_INTERN PetscErrorCode HopsRegionOfCell(DM, PetscInt cell, PetscInt *region);
/* refuses Jacobian functions under other keys than the region's: they are not part of what PETSc's assembly
   evaluates */
PETSC_INTERN PetscErrorCode HopsRegionCheckKeys(PetscDS, DMLabel);
/* are all residual functions under the region's key? PETSc evaluates no others; those of the explicit side of
   a time step do not count */
PETSC_INTERN PetscErrorCode HopsRegionSeesResidual(PetscDS, DMLabel, PetscBool *);
/* refuses boundary Jacobian functions under other keys than the condition's */
PETSC_INTERN PetscErrorCode HopsBoundaryCheckKeys(PetscWeakForm, DMLabel, PetscInt nv, const PetscInt values[]);
PETSC_INTERN PetscErrorCode HopsAuxCreate(DM, DMLabel, PetscInt value, PetscInt cell, PetscInt nq, const PetscReal xi[], HopsAux *);
PETSC_INTERN PetscErrorCode HopsAuxDestroy(HopsAux *);
/* a[q][nc], ax[q][nc*dim] on one cell; J[q][dim*dim] are the Jacobians there */
PETSC_INTERN PetscErrorCode HopsAuxEvaluate(const HopsAux *, DM, PetscInt cell, PetscInt dim, PetscInt nq, const PetscReal J[],
                                            PetscScalar a[], PetscScalar ax[]);

/* The nodes of a DM's only field, of nc components, as a scalar space, and how the components sit in the DM's
   global vectors */
typedef struct _HopsNodes *HopsNodes;
struct _HopsNodes {
  PetscInt       refct;
  HopsSpace      space;
  PetscInt       nc;
  PetscInt      *map;    /* [nT][nc] local index in the global vector, or -1 where the component is essential */
  unsigned char *isfree; /* [nL][nc] 0 where the component is essential */
  PetscInt       nfree;  /* local size of the global vector */
  PetscInt       nempty; /* entries of it that are no node's: rows and columns of zeros */
};
PETSC_INTERN PetscErrorCode HopsNodesCreate(DM, HopsNodes *);
PETSC_INTERN PetscErrorCode HopsNodesDestroy(HopsNodes *);
/* the nodes of each of a DM's fields, nodes[nf], with maps into the DM's global vectors; their spaces share
   one order of cells */
PETSC_INTERN PetscErrorCode HopsNodesCreateFields(DM, PetscInt nf, HopsNodes nodes[]);
/* has field f the quadrature of field 0, in the same order? PETSc combines the fields' values point by
   point */
PETSC_INTERN PetscErrorCode HopsFieldsSameQuadrature(DM, PetscInt f, PetscBool *);
/* the same nodes in a vector that holds entry i of the global vector as entry position[i] */
PETSC_INTERN PetscErrorCode HopsNodesCreateSub(HopsNodes, const PetscInt position[], HopsNodes *);

/* The fields of a DM, each a continuous Lagrange PetscFE on all of the mesh, and how its closures hold them:
   one after the other */
typedef struct _HopsFields *HopsFields;
struct _HopsFields {
  PetscInt   refct, nf, dim;
  PetscInt  *nc, *P;     /* [nf] components, nodes per direction */
  PetscInt **node;       /* [nf][P^dim] E-vector node of the closure's unknowns i nc .. i nc + nc - 1 */
  PetscInt  *off, *offx; /* [nf + 1] offsets of values and of gradients at a point */
  PetscInt   nclosure;   /* unknowns of a closure */
};
PETSC_INTERN PetscErrorCode HopsFieldsCreate(DM, HopsFields *);
/* are the fields such as HopsFieldsCreate() takes, but for their nodes? If not, why[len] says so */
PETSC_INTERN PetscErrorCode HopsFieldsCheck(DM, PetscBool *, char why[], size_t len);
PETSC_INTERN PetscErrorCode HopsFieldsDestroy(HopsFields *);

/* The fields' bases at the points of one of them, and scratch */
typedef struct {
  HopsFields fields;
  PetscInt   nq;
  HopsBasis *basis; /* [nf] */
  PetscReal *work;
  PetscBool  single; /* vectors of a device stay there, and the process gets single cells of them */
} HopsFieldPoints;
PETSC_INTERN PetscErrorCode HopsFieldPointsCreate(HopsFields, const HopsBasis *, HopsFieldPoints *);
PETSC_INTERN PetscErrorCode HopsFieldPointsDestroy(HopsFieldPoints *);
/* closure[nclosure] of a cell; single: of a device's vector, of which the rest stays there */
PETSC_INTERN PetscErrorCode HopsFieldsGetClosure(HopsFields, DM, Vec, PetscInt cell, PetscBool single, PetscScalar closure[]);
/* u[q][off[nf]], ux[q][offx[nf]] (physical gradients, or NULL) of a local vector on one cell; Ji[q] are the
   inverse Jacobians */
PETSC_INTERN PetscErrorCode HopsFieldPointsEvaluate(const HopsFieldPoints *, DM, Vec, PetscInt cell, const PetscReal Ji[],
                                                    PetscScalar u[], PetscScalar ux[]);

/*
  The pointwise Jacobian of fields at the points of a run of cells, as the PetscDS functions give it. The
  block of a test field of nc and a trial field of nc' components has g[0][..][c][c'], g[1][..][c][c'][d'],
  g[2][..][c][c'][d], g[3][..][c][c'][d][d'] with c, d the component and direction of the test function and
  c', d' those of the trial function; g[k] may be NULL where it is not wanted.
*/
typedef struct {
  PetscInt  test, trial; /* fields of the PetscDS */
  PetscBool has[4];
} HopsJacobianBlock;

/* What the functions of a DM see beside state and time: the constants of all regions, auxiliary vectors */
typedef struct {
  PetscBool    known;
  PetscInt     nconst, naux;
  PetscScalar *constants;
  HopsVecKey  *aux;
} HopsDSData;
/* src/form/ds/reads.c: is it other than at the last call? It becomes that of now. Not collective */
PETSC_INTERN PetscErrorCode HopsDSDataChanged(DM, HopsDSData *, PetscBool *changed);
PETSC_INTERN PetscErrorCode HopsDSDataDestroy(HopsDSData *);

typedef struct _HopsReads    *HopsReads; /* what the functions of a form read */
typedef struct _HopsJacobian *HopsJacobian;
struct _HopsJacobian {
  PetscInt   refct;
  PetscInt   field, nc; /* the only field and its components; 0 components where there are several */
  DM         dm;
  PetscBool  preconditioner;
  Vec        X, Xt; /* local vectors of the state, or NULL: the functions must not depend on it. Forms of blocks share them */
  PetscReal  t, shift;
  HopsFields fields;  /* all fields of the DM */
  PetscInt   nblocks; /* blocks with any function */
  HopsJacobianBlock      *blocks;
  struct _HopsPointCells *points;      /* for each space that it was evaluated on, where a device evaluates it */
  HopsVecKey              coordinates; /* with which the spaces of its operators were made */
  HopsReads               reads;
};
/* Would an evaluation give what the last one gave, but for the state, time and shift that the functions name
   (HOPS_READS_...)? known: their sources tell; else changed is true. Not collective */
PETSC_INTERN PetscErrorCode HopsReadsChanged(HopsJacobian, HopsReads *, PetscBool *known, unsigned *names, PetscBool *changed);
PETSC_INTERN PetscErrorCode HopsReadsDestroy(HopsReads *);
/* the form of some of the blocks, at the same state until one of the two gets another */
PETSC_INTERN PetscErrorCode HopsJacobianCreateSub(HopsJacobian, PetscInt n, const PetscInt blocks[], HopsJacobian *);
/* is the block of these fields among its own? */
PETSC_INTERN PetscBool HopsJacobianHasBlock(HopsJacobian, PetscInt test, PetscInt trial);
/* the second gets the state of the first */
PETSC_INTERN PetscErrorCode HopsJacobianShareState(HopsJacobian, HopsJacobian);
/* a copy with a state of its own */
PETSC_INTERN PetscErrorCode HopsJacobianDuplicate(HopsJacobian, HopsJacobian *);
/* does PETSc fill a preconditioning matrix with functions of its own? Not where it is the Jacobian itself, if
   there is one */
PETSC_INTERN PetscErrorCode HopsDSUsesPreconditioner(DM, PetscBool same, PetscBool *);
PETSC_INTERN PetscErrorCode HopsJacobianDestroy(HopsJacobian *);
PETSC_INTERN PetscErrorCode HopsJacobianCreate(DM, PetscBool preconditioner, HopsJacobian *);
/* copies of the local vectors are kept, unless the functions do not read them; Xt may be NULL. changed is
   false where an evaluation would give what it gave at the state before. An error if the mesh was moved.
   Collective */
PETSC_INTERN PetscErrorCode HopsJacobianSetState(HopsJacobian, Vec X, Vec Xt, PetscReal t, PetscReal shift, PetscBool *changed);
/* of a form with one block */
PETSC_INTERN PetscErrorCode HopsJacobianEvaluate(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                 const PetscReal x[], const PetscReal J[], PetscReal *const g[4]);
/* single: see HopsFieldPoints */
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateHost(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, PetscBool single,
                                                     const HopsBasis *, const PetscReal x[], const PetscReal J[],
                                                     PetscReal *(*g)[4]);
/* src/form/ds/device/pointvalues.c: where a device can, else done is false. A call for what the one before
   had evaluated, at the same state, does not evaluate it again. To the process's memory */
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateDevice(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                       PetscReal *(*g)[4], PetscBool *done);
#define HOPS_DS_NONSYMMETRIC \
  "The diffusion tensor of the PetscDS is not symmetric in cell %" PetscInt_FMT \
  ": hops works on symmetric ones; for others use -mat_pa_general"
/* a component's own g0 or g3 (kind 0 or 3), as a coefficient's values in w->bv: the upper triangle, or
   of one component among several that of the symmetric part; one value a cell where they do not vary
   inside of any */
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateValues(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                       PetscInt kind, PetscInt component, HopsValuesWork *w, HopsValues *,
                                                       PetscBool *done);
/* marks[block][kind][pair] (NULL where there is no such kind) is set where a pair of components has
   a tensor that is not zero; then the same tensors go to q[block], in reference coordinates and times the
   rule's weights and the determinant. place[cell] is its lane among all */
typedef struct {
  HopsTensorLayout      layout;
  const HopsTensorData *block; /* [nblocks]: pairs and q */
  const int            *place; /* [cells of the space] batch * W + lane, where the back end works */
} HopsTensorTarget;
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateMarks(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                      unsigned char *(*marks)[4], PetscBool *grown, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateReference(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                          const HopsTensorTarget *, PetscBool *done);
/* g[block]; any space of the DM's cells */
PETSC_INTERN PetscErrorCode HopsJacobianEvaluateBlocks(HopsJacobian, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *,
                                                       const PetscReal x[], const PetscReal J[], PetscReal *(*g)[4]);
