/* Point functions of tests/pointcells.c: they see position, time, every field with its derivatives,
   constants and auxiliary fields. C that is also C++ */

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define JAC POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]
#define FUN POINT, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]

static PetscReal Strength = 0.3; /* which the program changes */

static PetscReal Entry(PetscInt i, PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt aOff[],
                       const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscScalar a[],
                       const PetscScalar a_x[], PetscReal t, const PetscReal x[], PetscInt nc, const PetscScalar constants[])
{
  PetscReal v = sin(1.7 * (i + 1) + x[0] * (i % 3) - 0.5 * x[dim - 1] + t) + (nc ? constants[nc - 1] * cos(i + 0.1) : 0.0);
  PetscInt  f, k;

  for (f = 0; f < Nf; ++f) v += (Strength + 0.1 * f) * u[uOff[f]] * u[uOff[f + 1] - 1] + 0.05 * u_x[dim * uOff[f] + i % dim];
  v += 0.2 * u_t[uOff[Nf] - 1];
  for (k = 0; NfAux && k < aOff[NfAux]; ++k) v *= 1.0 + 0.2 * a[k] + 0.1 * a_x[dim * k + i % dim];
  return v;
}

#define ENTRY(i) Entry(i, dim, Nf, NfAux, uOff, aOff, u, u_t, u_x, a, a_x, t, x, nc, constants)

static void g0_uu(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim; ++i) g[i] += ENTRY(i + 0) + shift * u[0];
}

static void g1_up(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim; ++i) g[i] += ENTRY(i + 3) + shift * u[0];
}

static void g2_pu(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim; ++i) g[i] += ENTRY(i + 7) + shift * u[0];
}

static void g3_uu(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim * dim * dim; ++i) g[i] += ENTRY(i + 5) + shift * u[0];
}

static void g3_pp(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim; ++i) g[i] += ENTRY(i + 2) + shift * u[0];
}

static void gt_uu(JAC)
{
  PetscInt i;

  for (i = 0; i < dim * dim; ++i) g[i] += ENTRY(i + 4) + shift * u[0];
}

static void g3_scalar(JAC)
{
  PetscInt d;

  for (d = 0; d < dim; ++d) g[d * dim + d] = 2.0 + ENTRY(1) * ENTRY(1);
}

/* not symmetric where x > 1/2 */
static void g3_skew(JAC)
{
  PetscInt d;

  for (d = 0; d < dim; ++d) g[d * dim + d] = 2.0;
  if (x[0] > 0.5) g[1] = 0.1;
}

/* infinite there */
static void g3_infinite(JAC)
{
  PetscInt d;

  for (d = 0; d < dim; ++d) g[d * dim + d] = x[0] > 0.5 ? 1.0 / (x[0] - x[0]) : 1.0;
}

static void g3_constant(JAC)
{
  PetscInt d;

  for (d = 0; d < dim; ++d) g[d * dim + d] = 2.0 + constants[0];
}

static void g0_scalar(JAC)
{
  g[0] = 1.0 + u[0] * u[0];
}

static void f0_u(FUN)
{
  PetscInt i;

  for (i = 0; i < uOff[1]; ++i) f[i] += ENTRY(i + 0);
}

static void f0_more(FUN)
{
  PetscInt i;

  for (i = 0; i < uOff[1]; ++i) f[i] += ENTRY(i + 30);
}

static void f1_u(FUN)
{
  PetscInt i;

  for (i = 0; i < uOff[1] * dim; ++i) f[i] += ENTRY(i + 4);
}

static void f1_p(FUN)
{
  PetscInt i;

  for (i = 0; i < dim; ++i) f[i] += ENTRY(i + 9);
}

/* an essential value; the host's counts its calls */
#if !defined(CALLED)
  #define CALLED
#endif
static PetscErrorCode Wall(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt Nc, PetscScalar *u, void *ctx)
{
  PetscInt c;

  CALLED;
  for (c = 0; c < Nc; ++c) u[c] = sin(x[0] + 2.0 * x[1]) + c + (time > 0.0 ? time : 0.0);
  return 0;
}
