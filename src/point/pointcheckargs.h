/* What the kernel of pointcheck.c takes. The C compiler and the compiler of a device's code read this
   file. */

typedef struct {
  PetscInt           f; /* which of the functions */
  PetscInt           n, dim, Nf, NfAux, nconst, size, nu, nux, na, nax;
  const PetscInt    *uOff, *uOff_x, *aOff, *aOff_x;
  const PetscScalar *u, *u_t, *u_x, *a, *a_t, *a_x, *constants;
  const PetscReal   *x, *normal;
  PetscReal          t, shift;
  PetscScalar       *out; /* [n][size] */
  void              *ctx;
} HopsPointCheckArgs;
