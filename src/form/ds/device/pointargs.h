/* What the kernels of pointkernel.cuh take. Both the C compiler and the compiler of a device's code read
   this file. */

typedef struct {
  const double *x, *xt;    /* local vectors of the state and of its time derivative */
  const double *aux;       /* local vector of the auxiliary fields */
  const double *nodes;     /* [cell][dim][(order of the map + 1)^dim] coordinates, x fastest */
  const double *tables;    /* bases of all fields and of the map, see HopsPointRule */
  const double *auxtables; /* tabulations of the auxiliary fields */
  const double *constants; /* of all regions */
  const int    *row;       /* [cell] row of the next three */
  const int    *restr;     /* [row][nodes of all fields] where the first component lies in a local vector */
  const int    *auxrestr;  /* [row][closure of the auxiliary fields] */
  const int    *region;    /* [row], -1 where there is none */
  const int    *start;     /* [entry of a local vector + 1] which entries of out are added there */
  const int    *entry;     /* these */
  double       *scratch;   /* of blocks, where shared memory is too small */
  double       *out;   /* residuals [cell or face][field][component][node]; tensors [block and kind][cell or face - first][point]
                              [entry] */
  double       *y;     /* local vector */
  int          *flags; /* least cell with a determinant that is not positive, and with a tensor that is no number; does any
                              vary inside of a cell? least cell with one that is not symmetric */
  double        t, shift;
  int           first, n; /* cells, or faces, or entries of a local vector */

  /* faces of cells: [face] cell, face of the reference cell, and term, which is what a region is of a cell */
  const int *cell, *face, *term;
  const int *mirror; /* [face] or NULL: functions see the position of another point, see HopsPointFaces */

  /* of one kind of a block, whose tensors are out[cell - first][point][size] */
  int size;
  int own,
    symmetric; /* where a component's own scalar, or tensor of DIM^2, begins; is it symmetric, or its symmetric part meant? */
  int tensor, points; /* is it one? values of a cell in y[cell - first][points] */
  int len, *marks;    /* entries of a pair of components; is there one that is not zero? [pair] */

  /* of a block, all kinds: to y, as HopsTensorLayout has them */
  const double *kind[4]; /* [cell - first][point][sizes[k]] */
  int           sizes[4];
  const int    *pair; /* [npairs][kind, test, trial component, entry] */
  int           npairs, nentries, ntrial;
  const double *weights; /* [Q] */
  const int    *place;   /* [cell] batch * width + lane */
  int           width, bypoint;
} HopsPointArgs;
