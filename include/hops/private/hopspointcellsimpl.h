/* Point functions of a PetscDS where a device's back end works: fields of local vectors at the points of
   cells, residuals and tensors, by kernels that are written and compiled at run time. */
#pragma once
#include <hops/private/hopsdsimpl.h>
#include <hops/private/hopspointimpl.h>
#include <form/ds/device/pointargs.h>

/* A call of a function of the PetscDS: it adds to the residual (target 2 field + k of f_k) or to a
   tensor (4 block + k of g_k) of a region, or of a term of the boundary; dynamic: times the shift of a time
   step */
typedef struct {
  PetscInt   region, target;
  PetscBool  dynamic;
  HopsVoidFn f;
} HopsPointCallee;

/* What is evaluated: the residual, or tensors of blocks of fields */
typedef struct {
  PetscBool          faces; /* of cells, by functions of the boundary */
  PetscInt           nregions;
  PetscInt           ncalls;
  HopsPointCallee   *call;
  PetscInt           nblocks; /* 0: the residual */
  HopsJacobianBlock *block;
} HopsPointJob;

/* Kernels of a job at the points of a rule */
typedef struct _HopsPointKernel *HopsPointKernel;
struct _HopsPointKernel {
  HopsPointJob    job;
  PetscInt        Q;
  PetscReal      *points; /* [Q] */
  HopsPointCode   code;   /* NULL: it cannot be done, and -info said why */
  HopsPointModule module;
  double         *tables, *auxtables; /* on the back end */
  PetscBool       shared, checked;
  size_t          nwork;
  HopsPointKernel next;
};
#define HOPS_POINT_BLOCKS 1024 /* of a launch whose blocks have their work in global memory */

/* The tensors that are there: of these cells, at this state. Nothing where anything else that the
   functions read has changed */
typedef struct {
  HopsPointKernel  kernel;
  PetscInt         first, n;
  PetscObjectId    id[2]; /* of X and Xt */
  PetscObjectState state[2];
  PetscReal        t, shift;
} HopsPointLast;

/* Where the nodes of a DM's cells lie in its local vectors: [caller's cell][nodes of all fields] */
typedef struct _HopsPointMap *HopsPointMap;
struct _HopsPointMap {
  PetscInt              refct, ncells, nr;
  PetscObjectId         section;
  const HopsBackendOps *be;
  int                  *restr; /* on the back end */
};

/* Cells of a space with the fields of a DM, for the DM's local section: maps and coordinates where the
   back end works */
typedef struct _HopsPointCells *HopsPointCells;
struct _HopsPointCells {
  HopsPointCells        next; /* those of the same form for another space */
  DM                    dm;
  HopsFields            fields;
  HopsSpace             space;
  PetscSection          section;
  const HopsBackendOps *be;
  PetscInt              nlocal;  /* entries of a local vector */
  PetscInt              nr, nar; /* nodes of all fields, unknowns of the auxiliary fields in a cell */
  HopsPointMap          map;
  HopsAux               aux;      /* without its tabulations */
  PetscObjectState      auxstate; /* of the values on the back end */
  PetscObjectId         auxid;
  int                  *row, *auxrestr, *region, *start, *entry, *flags; /* see HopsPointArgs */
  double               *auxvalues, *constants, *out, *scratch;
  size_t                nout, nscratch; /* entries of these */
  PetscInt              nconst;
  PetscScalar          *hostconst; /* [nconst] of all regions, as they are on the back end */
  PetscInt             *constoff;  /* [regions + 1] */
  HopsPointKernel       kernels;   /* a list */
  HopsPointLast         last;      /* what is in out[] */
};

/* a boundary residual function of a PetscDS */
typedef void (*HopsBdPointFun)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[],
                               const PetscScalar[], const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[],
                               const PetscScalar[], const PetscScalar[], PetscReal, const PetscReal[], const PetscReal[], PetscInt,
                               const PetscScalar[], PetscScalar[]);

/* Faces of cells where functions of the boundary are evaluated: those of its terms, one after the other */
typedef struct _HopsPointFaces *HopsPointFaces;
struct _HopsPointFaces {
  HopsPointCells pc;                      /* borrowed: fields, vectors, memory */
  PetscInt       nterms, *first;          /* [nterms + 1] */
  PetscInt       n, *hostcell, *hostface; /* [n] cell of the space, face of the reference cell */
  int           *cell, *face, *term;      /* [n] on the back end */
  int           *mirror;        /* [n] there or NULL: the functions see the position of another point, as in PETSc's residual */
  int           *start, *entry; /* as those of cells */
};
/* n[nterms] faces of each term. Not collective */
PETSC_INTERN PetscErrorCode HopsPointFacesCreate(HopsPointCells, PetscInt nterms, const PetscInt n[], PetscInt *const cells[],
                                                 PetscInt *const faces[], HopsPointFaces *);
PETSC_INTERN PetscErrorCode HopsPointFacesDestroy(HopsPointFaces *);
/* mirror[n], of the host; NULL: none */
PETSC_INTERN PetscErrorCode HopsPointFacesMirror(HopsPointFaces, const int mirror[]);
/* reference coordinates xi[Q^(dim-1)][dim] of the points of a face */
PETSC_INTERN void HopsFacePoints(PetscInt dim, PetscInt Q, const PetscReal points[], PetscInt face, PetscReal xi[]);

/* cells is NULL where the back end has no such kernels, no source was given, or it cannot be done: -info
   says why. Not collective; the DM, the owner perhaps, is not referenced */
PETSC_INTERN PetscErrorCode HopsPointCellsCreate(DM, HopsFields, HopsSpace, HopsPointCells *cells);
PETSC_INTERN PetscErrorCode HopsPointCellsDestroy(HopsPointCells *);
/* start[] and entry[], which residuals need, of cells or of faces */
PETSC_INTERN PetscErrorCode HopsPointCellsTranspose(HopsPointCells, HopsPointFaces);
PETSC_INTERN PetscErrorCode HopsPointKernelDestroyAll(HopsPointCells);
/* What the host has for cell or face c, to compare with when kernels run for the first time: values[] as in
   HopsPointArgs.out. Vectors are those of a device, of which single cells are wanted */
typedef PetscErrorCode (*HopsPointHost)(void *ctx, PetscInt c, PetscReal values[]);
/* F += the residual of all cells, or of these faces by a job, which is this function's; done is false where
   it cannot be done there, and F is untouched. Without HopsPointHost nothing is compared */
PETSC_INTERN PetscErrorCode HopsPointCellsResidual(HopsPointCells, HopsPointFaces, HopsPointJob *, const HopsBasis *rule,
                                                   PetscReal t, Vec X, Vec Xt, Vec F, HopsPointHost, void *ctx, PetscBool *done);
/* src/form/ds/device/pointfaces.c: tensors of the faces of a term, by a job, which is this function's, to the
   process's memory: g[target][face][point][..]; done is false where it cannot be done there */
PETSC_INTERN PetscErrorCode HopsPointFacesTensors(HopsPointFaces, PetscInt term, HopsPointJob *, const HopsBasis *rule,
                                                  HopsJacobian, HopsPointHost, void *ctx, PetscReal *const g[], PetscBool *done);
PETSC_INTERN PetscErrorCode HopsJacobianGetPoints(HopsJacobian, HopsSpace, HopsPointCells *);

/* src/form/ds/device/pointrun.c: at least n doubles on the back end */
PETSC_INTERN PetscErrorCode HopsPointReserve(HopsPointCells, size_t n, size_t *have, double **p);
/* the kernels of a job, which are this function's, at the points of a basis; made where there are none */
PETSC_INTERN PetscErrorCode HopsPointKernelGet(HopsPointCells, const HopsBasis *, HopsPointJob *, HopsPointKernel *);
/* what all kernels read but the state, as it is now; ok is false where they cannot have it */
PETSC_INTERN PetscErrorCode HopsPointSetData(HopsPointCells, PetscBool *ok);
/* what all launches take */
PETSC_INTERN PetscErrorCode HopsPointBegin(HopsPointCells, HopsPointFaces, HopsPointKernel, PetscReal t, PetscReal shift,
                                           HopsPointArgs *);
PETSC_INTERN PetscErrorCode HopsPointLaunchCells(HopsPointCells, HopsPointKernel, const char name[], HopsPointArgs *);
/* waits for the device: was there a bad cell? */
#define HOPS_POINT_FLAGS 4
PETSC_INTERN PetscErrorCode HopsPointEnd(HopsPointCells, int flags[HOPS_POINT_FLAGS]);
PETSC_INTERN PetscErrorCode HopsPointCompareCells(HopsPointCells, HopsPointKernel, PetscInt first, PetscInt n, PetscInt nruns,
                                                  const size_t run[], HopsPointHost, void *ctx, PetscBool *ok);

/* src/form/ds/device/pointtext.c */
/* where the tensor of a target begins among those of a point */
PETSC_INTERN PetscInt       HopsPointJobOffset(const HopsPointCells, const HopsPointJob *, PetscInt target);
PETSC_INTERN PetscErrorCode HopsPointJobAdd(HopsPointJob *, PetscInt region, PetscInt target, PetscBool dynamic, PetscInt n,
                                            HopsVoidFn *);
PETSC_INTERN PetscErrorCode HopsPointJobCreateResidual(HopsPointCells, HopsPointJob *);
PETSC_INTERN PetscErrorCode HopsPointJobCreateTensors(HopsPointCells, HopsJacobian, HopsPointJob *);
PETSC_INTERN PetscErrorCode HopsPointJobDestroy(HopsPointJob *);
/* the kernels' text for Q points per direction and an element map of PG nodes; PetscFree() it. nwork:
   doubles that a block needs */
PETSC_INTERN PetscErrorCode HopsPointJobCreateText(HopsPointCells, const HopsPointJob *, HopsPointCode, PetscInt Q, char **text,
                                                   PetscBool *shared, size_t *nwork);
