/* What the kernels of pointfunctionkernel.cuh take. The C compiler and the compiler of a device's code read
   this file. */

typedef struct {
  const double *nodes;    /* [cell][dim][P^dim] coordinates, x fastest */
  const double *map[2];   /* [Q][P] basis of the element maps, and its derivative */
  const double *weights;  /* [Q] */
  const double *basis[2]; /* of the space: [Q][order + 1] closed, [Q][order] open */
  const int    *restr;    /* [cell][ne] */
  const int    *start;    /* [entries of the L-vector + 1] which entries of restr[] are there */
  const int    *entry;    /* these */
  double       *x;        /* [cell - first][point][dim], or NULL */
  double       *out;      /* [cell - first][point][component] */
  double       *moment;   /* [cell - first][component][point] */
  double       *e;        /* [cell][ne] */
  double       *y, *yg;   /* T-vector, and the L-vector's other entries */
  int          *key;      /* [cell][ne] entries of the L-vector, without signs */
  void         *ctx;      /* the function's */
  int          *flags;    /* least cell with a value that is no number; does any vary inside of a cell? */
  int           first, n, P, Q;
  int           family; /* HopsFamily */
  int           ncells, order, ne, nT, nL;
} HopsPointFunctionArgs;
