/* What tests/pointcheck.c takes for the source of its functions, where it is another one */
#define FACTOR 3.0
#define FIELDS \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define REST PetscInt nc, const PetscScalar constants[], PetscScalar f[]

static PetscReal variable = 0.5;

/* every argument counts */
static void f_all(FIELDS, const PetscReal x[], REST)
{
  for (PetscInt c = 0; c < uOff[Nf]; ++c) f[c] += u[c] * x[c % dim] + u_t[c] * t + constants[nc - 1] * a[aOff[NfAux] - 1 - c];
  for (PetscInt d = 0; d < dim; ++d) f[d] += u_x[uOff_x[1] + d] - a_x[aOff_x[1] + d] * a_t[0] * FACTOR;
}

static void g_all(FIELDS, PetscReal shift, const PetscReal x[], REST)
{
  for (PetscInt d = 0; d < dim; ++d) f[d * dim + d] = shift * FACTOR + u[0] * x[d] + variable;
}

static void b_all(FIELDS, const PetscReal x[], const PetscReal n[], REST)
{
  for (PetscInt d = 0; d < dim; ++d) f[d] = n[d] * FACTOR * x[0] + u[0];
}

static void j_all(FIELDS, PetscReal shift, const PetscReal x[], const PetscReal n[], REST)
{
  f[0] = n[0] * shift + FACTOR * n[1] * x[0];
}

static PetscErrorCode e_all(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt nc, PetscScalar *u, void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = FACTOR * PetscSinReal(x[c % dim] + time);
  return PETSC_SUCCESS;
}

/* not a number where u[0] is negative, infinite where it is small: the same there */
static void f_nan(FIELDS, const PetscReal x[], REST)
{
  f[0] = PetscSqrtReal(u[0]);
  f[1] = PetscAbsReal(u[0]) < 0.5 ? 1.0 / PetscMax(0.0, FACTOR - 10.0) : 1.0;
}

/* a number where FACTOR is 3 */
static void f_othernan(FIELDS, const PetscReal x[], REST)
{
  f[0] = PetscLogReal(FACTOR - 2.5) + u[0];
}
