/* Arguments of point functions: random ones, and what the process's functions make of arguments. */
#include <hops/private/hopspointcheckimpl.h>

#define FIELDS \
  PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[], const PetscScalar[]
#define AUXILIARY const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[], const PetscScalar[]
#define REST      PetscInt, const PetscScalar[], PetscScalar[]
typedef void (*Residual)(FIELDS, AUXILIARY, PetscReal, const PetscReal[], REST);
typedef void (*Jacobian)(FIELDS, AUXILIARY, PetscReal, PetscReal, const PetscReal[], REST);
typedef void (*BoundaryResidual)(FIELDS, AUXILIARY, PetscReal, const PetscReal[], const PetscReal[], REST);
typedef void (*BoundaryJacobian)(FIELDS, AUXILIARY, PetscReal, PetscReal, const PetscReal[], const PetscReal[], REST);
typedef PetscErrorCode (*Exact)(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *);

/* entry i of [n][stride], where there are such */
#define AT(p, stride) ((p) ? (p) + (size_t)i * (stride) : NULL)

PetscErrorCode HopsPointStateEvaluate(const HopsPointState *s, const HopsPointSubject *f, PetscScalar out[])
{
  const PetscInt nu = s->uOff[s->Nf], nux = s->uOff_x[s->Nf], na = s->aOff[s->NfAux], nax = s->aOff_x[s->NfAux], dim = s->dim;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(out, s->n * f->size));
  for (PetscInt i = 0; i < s->n; ++i, out += f->size) {
    const PetscScalar *u = AT(s->u, nu), *u_t = AT(s->u_t, nu), *u_x = AT(s->u_x, nux);
    const PetscScalar *a = AT(s->a, na), *a_t = AT(s->a_t, na), *a_x = AT(s->a_x, nax);
    const PetscReal   *x = AT(s->x, dim), *normal = AT(s->normal, dim);

    switch (f->kind) {
    case HOPS_POINT_RESIDUAL:
      (*(Residual)f->f)(dim, s->Nf, s->NfAux, s->uOff, s->uOff_x, u, u_t, u_x, s->aOff, s->aOff_x, a, a_t, a_x, s->t, x, s->nconst,
                        s->constants, out);
      break;
    case HOPS_POINT_JACOBIAN:
      (*(Jacobian)f->f)(dim, s->Nf, s->NfAux, s->uOff, s->uOff_x, u, u_t, u_x, s->aOff, s->aOff_x, a, a_t, a_x, s->t, s->shift, x,
                        s->nconst, s->constants, out);
      break;
    case HOPS_POINT_BOUNDARY_RESIDUAL:
      (*(BoundaryResidual)f->f)(dim, s->Nf, s->NfAux, s->uOff, s->uOff_x, u, u_t, u_x, s->aOff, s->aOff_x, a, a_t, a_x, s->t, x,
                                normal, s->nconst, s->constants, out);
      break;
    case HOPS_POINT_BOUNDARY_JACOBIAN:
      (*(BoundaryJacobian)f->f)(dim, s->Nf, s->NfAux, s->uOff, s->uOff_x, u, u_t, u_x, s->aOff, s->aOff_x, a, a_t, a_x, s->t,
                                s->shift, x, normal, s->nconst, s->constants, out);
      break;
    case HOPS_POINT_EXACT:
      PetscCall((*(Exact)f->f)(dim, s->t, x, f->size, out, f->ctx));
      break;
    case HOPS_POINT_FUNCTION:
      PetscCall((*(HopsPointFunction)f->f)(dim, x, f->size, out, f->ctx));
      break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n random numbers, which belong to the state */
static PetscErrorCode Values(PetscRandom random, size_t n, PetscReal low, PetscReal high, const PetscScalar **out)
{
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &v));
  PetscCall(PetscRandomSetInterval(random, low, high));
  for (size_t i = 0; i < n; ++i) PetscCall(PetscRandomGetValue(random, &v[i]));
  *out = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Offsets(PetscInt Nf, const PetscInt nc[], PetscInt times, const PetscInt **out)
{
  PetscInt *off;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(Nf + 1, &off));
  off[0] = 0;
  for (PetscInt f = 0; f < Nf; ++f) off[f + 1] = off[f] + nc[f] * times;
  *out = off;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointStateCreateRandom(PetscInt n, PetscInt dim, PetscInt Nf, const PetscInt nc[], PetscInt NfAux,
                                          const PetscInt nca[], PetscInt nconst, const PetscScalar constants[], PetscReal scale,
                                          HopsPointState *s)
{
  PetscRandom  random;
  PetscScalar *c;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->n      = n;
  s->dim    = dim;
  s->Nf     = Nf;
  s->NfAux  = NfAux;
  s->nconst = nconst;
  s->t      = 0.37;
  s->shift  = 1.7;
  PetscCall(Offsets(Nf, nc, 1, &s->uOff));
  PetscCall(Offsets(Nf, nc, dim, &s->uOff_x));
  PetscCall(Offsets(NfAux, nca, 1, &s->aOff));
  PetscCall(Offsets(NfAux, nca, dim, &s->aOff_x));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetSeed(random, 20));
  PetscCall(PetscRandomSeed(random));
  PetscCall(Values(random, (size_t)n * s->uOff[Nf], -scale, scale, &s->u));
  PetscCall(Values(random, (size_t)n * s->uOff[Nf], -scale, scale, &s->u_t));
  PetscCall(Values(random, (size_t)n * s->uOff_x[Nf], -scale, scale, &s->u_x));
  PetscCall(Values(random, (size_t)n * s->aOff[NfAux], -scale, scale, &s->a));
  PetscCall(Values(random, (size_t)n * s->aOff[NfAux], -scale, scale, &s->a_t));
  PetscCall(Values(random, (size_t)n * s->aOff_x[NfAux], -scale, scale, &s->a_x));
  PetscCall(Values(random, (size_t)n * dim, 0.0, 1.0, (const PetscScalar **)&s->x));
  PetscCall(Values(random, (size_t)n * dim, -1.0, 1.0, (const PetscScalar **)&s->normal));
  PetscCall(PetscRandomDestroy(&random));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal *normal = (PetscReal *)s->normal + (size_t)i * dim, length = 0.0;

    for (PetscInt d = 0; d < dim; ++d) length += PetscSqr(normal[d]);
    for (PetscInt d = 0; d < dim; ++d) normal[d] /= PetscSqrtReal(length);
  }
  PetscCall(PetscMalloc1(nconst, &c));
  PetscCall(PetscArraycpy(c, constants, nconst));
  s->constants = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointStateDestroy(HopsPointState *s)
{
  const void **owned[] = {(const void **)&s->uOff,     (const void **)&s->uOff_x, (const void **)&s->aOff,
                          (const void **)&s->aOff_x,   (const void **)&s->u,      (const void **)&s->u_t,
                          (const void **)&s->u_x,      (const void **)&s->a,      (const void **)&s->a_t,
                          (const void **)&s->a_x,      (const void **)&s->x,      (const void **)&s->normal,
                          (const void **)&s->constants};

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(owned); ++i) PetscCall(PetscFree(*owned[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
