/* Compiled point functions against the process's own, before they are used. */
#pragma once
#include <hops/private/hopspointimpl.h>

typedef enum {
  HOPS_POINT_RESIDUAL,          /* f0, f1, and other functions of fields at points of cells */
  HOPS_POINT_JACOBIAN,          /* g0 to g3 */
  HOPS_POINT_BOUNDARY_RESIDUAL, /* the same with a normal */
  HOPS_POINT_BOUNDARY_JACOBIAN,
  HOPS_POINT_EXACT,   /* of position and time */
  HOPS_POINT_FUNCTION /* of position: HopsPointFunction */
} HopsPointKind;

typedef struct {
  HopsVoidFn    f;
  HopsPointKind kind;
  PetscInt      size;  /* entries that it writes */
  void         *ctx;   /* of the last two kinds, for the host's */
  void         *there; /* for the compiled one */
} HopsPointSubject;

/* Arguments of all kinds at n points. Arrays that a caller has not are NULL, and so are the functions' */
typedef struct {
  PetscInt           n, dim, Nf, NfAux, nconst;
  const PetscInt    *uOff, *uOff_x, *aOff, *aOff_x; /* [Nf + 1], [NfAux + 1] */
  const PetscScalar *u, *u_t;                       /* [n][uOff[Nf]] */
  const PetscScalar *u_x;                           /* [n][uOff_x[Nf]] */
  const PetscScalar *a, *a_t, *a_x;                 /* the same of the auxiliary fields */
  const PetscScalar *constants;                     /* [nconst] */
  const PetscReal   *x, *normal;                    /* [n][dim] */
  PetscReal          t, shift;
} HopsPointState;

/* src/point/pointstate.c: random arguments, the values of fields and derivatives in (-scale, scale),
   x in (0, 1), unit normals, these constants. The same in every run */
PETSC_INTERN PetscErrorCode HopsPointStateCreateRandom(PetscInt n, PetscInt dim, PetscInt Nf, const PetscInt nc[], PetscInt NfAux,
                                                       const PetscInt nca[], PetscInt nconst, const PetscScalar constants[],
                                                       PetscReal scale, HopsPointState *);
PETSC_INTERN PetscErrorCode HopsPointStateDestroy(HopsPointState *);
/* what the process's function gives, out[n][size], from zeros */
PETSC_INTERN PetscErrorCode HopsPointStateEvaluate(const HopsPointState *, const HopsPointSubject *, PetscScalar out[]);

/* src/point/pointcheck.c: do the functions of a code, compiled for a back end without fused
   multiply-adds, give what the process's give, to 1e-12 of the largest value of each? Where not, or where
   they do not compile, why[len] says so; else it is "" */
PETSC_INTERN PetscErrorCode HopsPointCheck(const HopsBackendOps *, HopsPointCode, PetscInt n, const HopsPointSubject f[],
                                           const HopsPointState *, char why[], size_t len);
