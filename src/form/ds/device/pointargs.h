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
  double       *out;       /* residuals [cell][field][component][node]; tensors [block and kind][cell - first][point][entry] */
  double       *y;         /* local vector */
  int          *flags;     /* least cell with a determinant that is not positive, and with a tensor that is no number; any varies */
  double        t, shift;
  int           first, n; /* cells, or entries of a local vector */
  int           size;     /* of a tensor */
} HopsPointArgs;
