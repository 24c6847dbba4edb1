/* Functions of tests/pointfaces.c: those of the boundary see position, normal, time, every field with its
   derivatives, constants and auxiliary fields. C that is also C++ */

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define REST  PetscInt nc, const PetscScalar constants[], PetscScalar f[]
#define FUN   POINT, const PetscReal x[], REST
#define JAC   POINT, PetscReal shift, const PetscReal x[], REST
#define BDFUN POINT, const PetscReal x[], const PetscReal n[], REST
#define BDJAC POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], REST

/* the host's counts calls */
#if !defined(CALLED)
  #define CALLED
#endif

static PetscReal Strength = 0.3; /* which the program changes */

static PetscReal Entry(PetscInt i, PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt aOff[],
                       const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscScalar a[],
                       const PetscScalar a_x[], PetscReal t, const PetscReal x[], const PetscReal n[], PetscInt nc,
                       const PetscScalar constants[])
{
  PetscReal v = sin(1.7 * (i + 1) + x[0] * (i % 3) - 0.5 * x[dim - 1] + t) + constants[nc - 1] * cos(i + 0.1);
  PetscInt  f, k, d;

  for (f = 0; f < Nf; ++f) v += (Strength + 0.1 * f) * u[uOff[f]] * u[uOff[f + 1] - 1];
  for (k = 0; k < uOff[Nf]; ++k)
    for (d = 0; d < dim; ++d) v += 0.05 * n[d] * u_x[k * dim + d] + 0.02 * (d + 1) * u_x[k * dim + d];
  v += (u_t ? 0.2 * u_t[uOff[Nf] - 1] : 0.0) + 0.3 * n[i % dim];
  for (k = 0; NfAux && k < aOff[NfAux]; ++k) v *= 1.0 + 0.2 * a[k] + 0.1 * a_x[dim * k + i % dim];
  return v;
}

#define ENTRY(i) Entry(i, dim, Nf, NfAux, uOff, aOff, u, u_t, u_x, a, a_x, t, x, n, nc, constants)

static void f0_u(FUN)
{
  f[0] = u[0] + u_t[0];
}

static void g3_uu(JAC)
{
  PetscInt i;

  for (i = 0; i < uOff[1]; ++i) {
    PetscInt d;

    for (d = 0; d < dim; ++d) f[((i * uOff[1] + i) * dim + d) * dim + d] = 2.0 + u[0] * u[0];
  }
}

static void g3_pp(JAC)
{
  PetscInt d;

  for (d = 0; d < dim; ++d) f[d * dim + d] = 1.0 + x[0];
}

/* of the first field */
static void f0_wall(BDFUN)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1]; ++i) f[i] += ENTRY(i);
}

static void f1_wall(BDFUN)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1] * dim; ++i) f[i] += ENTRY(i + 4);
}

/* of any field, for its first component */
static void f0_other(BDFUN)
{
  CALLED;
  f[0] += ENTRY(7);
}

static void f0_more(BDFUN)
{
  CALLED;
  f[0] += 0.3 * ENTRY(11);
}

/* of the first field with itself */
static void g0_wall(BDJAC)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1] * uOff[1]; ++i) f[i] += ENTRY(i + 1) + 0.1 * shift;
}

static void g1_wall(BDJAC)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1] * uOff[1] * dim; ++i) f[i] += ENTRY(i + 2);
}

static void g2_wall(BDJAC)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1] * uOff[1] * dim; ++i) f[i] += ENTRY(i + 5);
}

static void g3_wall(BDJAC)
{
  PetscInt i;

  CALLED;
  for (i = 0; i < uOff[1] * uOff[1] * dim * dim; ++i) f[i] += ENTRY(i + 3);
}

/* of a field with another one */
static void g0_other(BDJAC)
{
  CALLED;
  f[0] += ENTRY(8);
}
