/* What the kernels of pointfunction.c take. The C compiler and the compiler of a device's code read this
   file. */

typedef struct {
  const double *nodes; /* [cell][dim][(P)^dim] coordinates, x fastest */
  const double *basis; /* [Q][P] of the element maps */
  double       *x;     /* [cell - first][point][dim], or NULL */
  double       *out;   /* [cell - first][point][component] */
  void         *ctx;   /* the function's */
  int          *flags; /* least cell with a value that is no number; does any vary inside of a cell? */
  int           first, n, P, Q;
} HopsPointFunctionArgs;
