/* Hanging nodes for kernels that do not know them, of back ends that launch kernels for teams of lanes: what
   such a back end brings, and the data. */
#pragma once
#include <hops/private/hopshanging.h>

#define HOPS_HUNG_WORDS(P) (((P) + 3) / 4)

/* Cells with such entries are numbered on their own, in the order of the space's cells */
typedef struct {
  int        dim, P, nT, nL, ne, most, lines; /* most entries of a cell; most lines in a direction */
  int        first, n, group;                 /* cells of a launch, and of a team */
  const int *cell, *start;                    /* [n], [n + 1]: the space's number, where its entries begin */
  const int *list;                            /* what the cell lists in their place; -1 - l for the opposite sign */
  /* lines along direction a of cell c, those of its mask, are line[4 c + a] up to line[4 c + a + 1]; the P
     places of each among the cell's entries, in the order that J wants, 16 bits each in HOPS_HUNG_WORDS(P)
     words, and whether its entries are integrals, of which there are P - 1 */
  const int                *line;
  const unsigned long long *at;
  const unsigned char      *open;
  const double             *J[2], *hostJ[2]; /* [P][P], [P-1][P-1]; the latter are the process's */
  int                       unit;            /* this entry of the cells alone, or -1 */
  int                       nc, c;           /* entries have nc components, of which c is worked on */
} HopsHungArgs;

typedef struct {
  const HopsBackendOps *backend;
  PetscErrorCode (*Apply)(const HopsHungArgs *, PetscDataType, const void *x, void *xg);
  PetscErrorCode (*ApplyTranspose)(const HopsHungArgs *, PetscDataType, const void *from, void *y, void *yg);
  /* list[] and restr[], where entry[mstart[m]] and on are the entries of mask m, ascending, and mask[] says
     which one a cell has; restr is as listed before */
  PetscErrorCode (*Number)(const HopsHungArgs *, const int mask[], const int mstart[], const int entry[], int list[], int restr[]);
} HopsHungKernels;

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsLanesHungCreate(const HopsHungKernels *, HopsSpace, HopsHung *);
EXTERN_C_END
