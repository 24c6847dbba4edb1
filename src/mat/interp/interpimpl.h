/* MATHOPSINTERP's data. */
#pragma once
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopshanging.h>

/* The cells that a rank works on. All maps but those between conforming DMPLEX meshes have them: where nodes
   hang or cells were kept, and of arrays, whose ranks may own what none of their cells has as a node of its
   own */
typedef struct {
  HopsSpace      coarse, fine; /* the spaces, or views of them that have the cells */
  PetscInt       n;            /* of the fine one; as in HopsNested: */
  PetscInt      *parent;
  unsigned char *half, *axis;
  PetscBool     *kept;
} HopsInterpCells;

/* A map in one precision */
struct _HopsInterpMap {
  PetscDataType     type;
  HopsSpace         source;  /* the space, or a view of it, whose cells and ghosts kernels read; a reference */
  PetscInt          n;       /* owned entries of the result */
  PetscBool         general; /* by HopsInterpCells */
  PetscInt          nkernels;
  HopsInterpolation kernel[2]; /* of children and, where some cells were kept, of these */
  HopsProlong       P;         /* NULL: the source's */
  void             *xg, *yg;   /* what `source` has besides owned entries: read, added to */
};

typedef struct {
  HopsSpace             from, to;
  PetscBool             prolong; /* `from` is the coarse space */
  PetscInt              M, N;    /* nodes per direction of a macro cell of `to` and `from` */
  struct _HopsInterpMap map;
} Mat_HopsInterp;

/* src/mat/interp/interpmap.c: xg, yg, when `type` and `source` are set; and what Destroy() frees in it */
PETSC_INTERN PetscErrorCode HopsInterpMapSetUp(HopsInterpMap);
PETSC_INTERN PetscErrorCode HopsInterpMapReset(HopsInterpMap);

/* src/mat/interp/matinterp.c: A[M][N], see there */
PETSC_INTERN PetscErrorCode HopsInterpMatrix(PetscInt nhalf, PetscInt pc, PetscInt pf, PetscBool prolong, PetscReal A[]);
/* src/mat/interp/interpcells.c; collective */
PETSC_INTERN PetscErrorCode HopsInterpCellsCreate(const HopsNested *, HopsSpace coarse, HopsSpace fine, HopsInterpCells *);
PETSC_INTERN PetscErrorCode HopsInterpCellsDestroy(HopsInterpCells *);
/* own[ne]: the nodes of a cell with this mask that are its own */
PETSC_INTERN void HopsInterpOwnNodes(HopsSpace, const HopsHanging *, unsigned mask, PetscBool own[]);
/* src/mat/interp/interplists.c: the prolongation's kernels on them */
PETSC_INTERN PetscErrorCode HopsInterpSetUpCells(Mat_HopsInterp *, const HopsInterpCells *);
