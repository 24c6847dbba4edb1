/* The sources of point functions that a program gives itself, beside those of -hops_pointwise_source. */
#include <hops/private/hopspointimpl.h>
#include <petscds.h>

#define HOPS_DEVICE_SOURCE "HopsDeviceSource"

typedef struct {
  PetscInt        n;
  HopsPointGiven *given;
} Given;

static PetscErrorCode GivenDestroy(HopsContainerCtx ctx)
{
  Given *g = (Given *)HopsContainerData(ctx);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < g->n; ++k) {
    PetscCall(PetscFree(g->given[k].name));
    PetscCall(PetscFree(g->given[k].text));
  }
  PetscCall(PetscFree(g->given));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GivenGet(PetscDS ds, PetscBool create, Given **g)
{
  PetscContainer c;

  PetscFunctionBegin;
  *g = NULL;
  PetscCall(PetscObjectQuery((PetscObject)ds, HOPS_DEVICE_SOURCE, (PetscObject *)&c));
  if (c) PetscCall(PetscContainerGetPointer(c, (void **)g));
  if (c || !create) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(g));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, *g));
  PetscCall(HopsContainerSetDestroy(c, GivenDestroy));
  PetscCall(PetscObjectCompose((PetscObject)ds, HOPS_DEVICE_SOURCE, (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSGetDeviceSource(PetscDS ds, PetscInt *n, const HopsPointGiven *given[])
{
  Given *g;

  PetscFunctionBegin;
  PetscCall(GivenGet(ds, PETSC_FALSE, &g));
  *n     = g ? g->n : 0;
  *given = g ? g->given : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsDSSetDeviceSource - Gives the C source of a point function, so that it can be compiled for a device.

  Not Collective

  Input Parameters:
+ ds     - the `PetscDS` that has the function
. name   - the function's name in the program
- source - C text with its definition and those of what it uses: functions, macros, types, variables

  Level: advanced

  Notes:
  The function is found by its name in the symbol table of the program or library. It may be static.

  The text is copied. It serves this function alone, so that several texts may define the same helpers.
  It comes before the files that options name. Another text for the same name replaces the first.

  A compiled function is compared with the program's before it is used.

.seealso: `MATPA`, `PetscDSSetResidual()`, `PetscDSSetJacobian()`
@*/
PetscErrorCode HopsDSSetDeviceSource(PetscDS ds, const char name[], const char source[])
{
  Given          *g;
  HopsPointSource src;
  HopsPointUnit  *u;
  char            why[512];
  PetscInt        k = 0;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ds, PETSCDS_CLASSID, 1);
  HopsValidPointer(name, 2);
  HopsValidPointer(source, 3);
  PetscCall(HopsPointSourceParse(source, &src, why, sizeof(why)));
  u = HopsPointSourceFind(&src, HOPS_UNIT_FUNCTION, name, (int)strlen(name));
  PetscCall(HopsPointSourceDestroy(&src));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The source of %s() is no C source%s", name, why);
  PetscCheck(u, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The source has no function %s(): give the name that the function has there and in the program", name);
  PetscCall(GivenGet(ds, PETSC_TRUE, &g));
  while (k < g->n && strcmp(g->given[k].name, name)) ++k;
  if (k == g->n) {
    PetscCall(PetscRealloc((g->n + 1) * sizeof(*g->given), &g->given));
    PetscCall(PetscStrallocpy(name, &g->given[k].name));
    ++g->n;
  } else PetscCall(PetscFree(g->given[k].text));
  PetscCall(PetscStrallocpy(source, &g->given[k].text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
