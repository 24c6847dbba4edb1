/* A bilinear form: the list of integrals that MATPA applies, and that LOR matrices, patches and levels of
   multigrid are made from. */
#pragma once
#include <hops/private/hopsimpl.h>

typedef enum {
  HOPS_CELLS,
  HOPS_BOUNDARY, /* facets of the boundary */
  HOPS_INTERIOR  /* facets between two cells */
} HopsDomain;

/* What an integral takes of a function */
typedef enum {
  HOPS_VALUE,
  HOPS_GRADIENT,
  HOPS_CURL,
  HOPS_DIVERGENCE,
  HOPS_NORMAL_TRACE
} HopsDifferential;

/* A list of facets, which integrals share */
typedef struct _HopsFacets *HopsFacets;
struct _HopsFacets {
  PetscInt refct, n, *cells, *faces; /* [n] cell of the space, face 2d (lower) or 2d+1 (upper) of the reference cell */
};

struct _HopsJacobian; /* the functions of a PetscDS at a state (hopsdsimpl.h) */

/* int data (D_test v) (D_trial u), with the coefficient, or the Jacobian of the form where there is none */
typedef struct {
  HopsDomain       domain;
  HopsDifferential test, trial;
  PetscInt         field[2]; /* of the test and of the trial function */
  HopsFacets       facets;   /* of HOPS_BOUNDARY with a coefficient */
  HopsCoefficient  coefficient;
} HopsIntegral;

struct _HopsForm {
  PetscInt              refct, nf, nc; /* fields, and components of the first */
  HopsSpace             space;         /* of one field without components; NULL elsewhere, or until it is known */
  struct _HopsJacobian *jacobian;      /* or NULL */
  PetscErrorCode (*destroyjacobian)(struct _HopsJacobian **);
  PetscInt      n, max;
  HopsIntegral *integral; /* [n] */
};

/* src/form/form.c: one field, one component, no integrals */
PETSC_INTERN PetscErrorCode HopsFormCreate(HopsForm *);
PETSC_INTERN PetscErrorCode HopsFormDestroy(HopsForm *);
/* drops all but the space */
PETSC_INTERN PetscErrorCode HopsFormReset(HopsForm);
PETSC_INTERN PetscErrorCode HopsFormSetSpace(HopsForm, HopsSpace); /* or NULL */
/* raises an error where the space has not the derivative of a term that was set before it */
PETSC_INTERN PetscErrorCode HopsFormCheck(HopsForm);
PETSC_INTERN PetscErrorCode HopsFormView(HopsForm, PetscViewer);
PETSC_INTERN PetscErrorCode HopsFormClear(HopsForm, HopsDomain);
/* appends those of a domain, which share facets and coefficients */
PETSC_INTERN PetscErrorCode HopsFormCopy(HopsForm from, HopsDomain, HopsForm to);
PETSC_INTERN PetscErrorCode HopsFormAppendShared(HopsForm, const HopsIntegral *);
/* the cells' integral with this on both functions; a coefficient of NULL removes it */
PETSC_INTERN PetscErrorCode HopsFormSetCells(HopsForm, HopsDifferential, HopsCoefficient);
/* appends an integral of both functions' values */
PETSC_INTERN PetscErrorCode HopsFormAddBoundary(HopsForm, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                                HopsCoefficient);
/* integrals of two fields whose data are a Jacobian's: has[0] v u, has[1] v grad u, has[2] grad v u, has[3]
   grad v grad u */
PETSC_INTERN PetscErrorCode HopsFormAddFunctions(HopsForm, HopsDomain, PetscInt test, PetscInt trial, const PetscBool has[4]);
PETSC_INTERN void           HopsFormGetFunctions(HopsForm, HopsDomain, PetscBool has[4]);
/* is there what a scalar symmetric form has not: several fields or components, first-order terms, derivatives
   on the boundary? */
PETSC_INTERN PetscBool HopsFormNeedsTensors(HopsForm);

/* the derivative that a family's forms have beside values */
static inline HopsDifferential HopsFamilyDifferential(HopsFamily family)
{
  return family == HOPS_HCURL ? HOPS_CURL : (family == HOPS_HDIV ? HOPS_DIVERGENCE : HOPS_GRADIENT);
}

/* the coefficient of the cells' integral with this on both functions, or NULL; borrowed */
static inline HopsCoefficient HopsFormGetCells(HopsForm form, HopsDifferential d)
{
  for (PetscInt i = 0; i < form->n; ++i)
    if (form->integral[i].domain == HOPS_CELLS && form->integral[i].test == d && form->integral[i].trial == d)
      return form->integral[i].coefficient;
  return NULL;
}

static inline HopsCoefficient HopsFormDerivative(HopsForm form)
{
  return HopsFormGetCells(form, HopsFamilyDifferential(form->space->family));
}

static inline HopsCoefficient HopsFormValue(HopsForm form)
{
  return HopsFormGetCells(form, HOPS_VALUE);
}

/* the next integral of a domain from number *i on, which becomes the one behind it; NULL: no more */
static inline const HopsIntegral *HopsFormNext(HopsForm form, HopsDomain domain, PetscInt *i)
{
  while (*i < form->n && form->integral[*i].domain != domain) ++*i;
  return *i < form->n ? &form->integral[(*i)++] : NULL;
}

static inline PetscBool HopsFormHas(HopsForm form, HopsDomain domain)
{
  PetscInt i = 0;

  return HopsFormNext(form, domain, &i) ? PETSC_TRUE : PETSC_FALSE;
}

/* src/form/elasticcoef.c: the diagonal tensor of one component of elasticity by itself */
PETSC_INTERN PetscErrorCode HopsCoefficientCreateElastic_Private(PetscInt dim, HopsCoefficient lambda, HopsCoefficient mu,
                                                                 PetscInt component, HopsCoefficient *);

/* src/form/faces.c: terms on boundary faces. Node picture of a face: E-vector nodes with the face's direction
   fixed, the others in ascending order of direction, lowest fastest. */
PETSC_INTERN PetscErrorCode HopsFaceNodes(PetscInt dim, PetscInt n, PetscInt face, PetscInt node[]);
/* refuses facets with hanging nodes, whose terms are not the listed nodes' alone; collective */
PETSC_INTERN PetscErrorCode HopsFacetsHang(HopsSpace, const HopsFacets, PetscBool *);
/* out[f][q] = alpha * surface element at the points of `basis` on each face */
PETSC_INTERN PetscErrorCode HopsFaceEvaluate(HopsSpace, const HopsBasis *, PetscInt n, const PetscInt cells[],
                                             const PetscInt faces[], HopsCoefficient alpha, PetscReal out[]);

/* src/form/ds/formds.c: every cell has one PetscDS, and all of its Jacobian functions are where PETSc's
   assembly looks for them */
PETSC_INTERN PetscErrorCode HopsDSCheck(DM);
/* the integrals of the Jacobian of the DM's PetscDS, without (list) and with its functions and state.
   First-order terms of the cells (convection) and the boundary's are left out by request */
PETSC_INTERN PetscErrorCode HopsFormListDS(DM, PetscBool preconditioner, PetscBool convection, PetscBool boundary, HopsForm *);
PETSC_INTERN PetscErrorCode HopsFormCreateDS(DM, PetscBool preconditioner, PetscBool convection, PetscBool boundary, HopsForm *);
/* the integrals of a form without some, or with the fields of some of its blocks alone; the Jacobian is the
   form's own, a part of it, or a copy */
PETSC_INTERN PetscErrorCode HopsFormSelect(HopsForm, struct _HopsJacobian *, PetscBool convection, PetscBool boundary, HopsForm *);
/* the second gets the integrals, and the Jacobian, of the first as coefficients at its state. Its space is
   set; what is not scalar and symmetric is refused */
PETSC_INTERN PetscErrorCode HopsFormSetScalar(HopsForm ds, HopsForm);
/* the same of one component, as a form of its own: the symmetric part of its tensor, its mass, its values on
   the boundary. First-order terms are left out */
PETSC_INTERN PetscErrorCode HopsFormSetComponent(HopsForm ds, PetscInt component, HopsForm);
/* all integrals; coefficients of a Jacobian are those of a copy of it, at the state of now */
PETSC_INTERN PetscErrorCode HopsFormCopyAll(HopsForm from, HopsForm to);
