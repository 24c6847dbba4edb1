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

static PetscErrorCode GivenGet(PetscObject obj, PetscBool create, Given **g)
{
  PetscContainer c;

  PetscFunctionBegin;
  *g = NULL;
  PetscCall(PetscObjectQuery(obj, HOPS_DEVICE_SOURCE, (PetscObject *)&c));
  if (c) PetscCall(PetscContainerGetPointer(c, (void **)g));
  if (c || !create) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(g));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, *g));
  PetscCall(HopsContainerSetDestroy(c, GivenDestroy));
  PetscCall(PetscObjectCompose(obj, HOPS_DEVICE_SOURCE, (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsObjectGetDeviceSource(PetscObject obj, PetscInt *n, const HopsPointGiven *given[])
{
  Given *g;

  PetscFunctionBegin;
  PetscCall(GivenGet(obj, PETSC_FALSE, &g));
  *n     = g ? g->n : 0;
  *given = g ? g->given : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDeviceSource(PetscObject obj, const char name[], const char source[])
{
  Given          *g;
  HopsPointSource src;
  HopsPointUnit  *u;
  char            why[512];
  PetscInt        k = 0;

  PetscFunctionBegin;
  HopsValidPointer(name, 2);
  HopsValidPointer(source, 3);
  PetscCall(HopsPointSourceParse(source, &src, why, sizeof(why)));
  u = HopsPointSourceFind(&src, HOPS_UNIT_FUNCTION, name, (int)strlen(name));
  PetscCall(HopsPointSourceDestroy(&src));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The source of %s() is no C source%s", name, why);
  PetscCheck(u, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The source has no function %s(): give the name that the function has there and in the program", name);
  PetscCall(GivenGet(obj, PETSC_TRUE, &g));
  while (k < g->n && strcmp(g->given[k].name, name)) ++k;
  if (k == g->n) {
    PetscCall(PetscRealloc((g->n + 1) * sizeof(*g->given), &g->given));
    PetscCall(PetscStrallocpy(name, &g->given[k].name));
    ++g->n;
  } else PetscCall(PetscFree(g->given[k].text));
  PetscCall(PetscStrallocpy(source, &g->given[k].text));
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
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ds, PETSCDS_CLASSID, 1);
  PetscCall(SetDeviceSource((PetscObject)ds, name, source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsCoefficientSetDeviceSource - Gives a device the C source of a coefficient's function.

  Logically Collective

  Input Parameters:
+ cf     - a coefficient of `HopsCoefficientCreateFunction()`
. name   - the function's name in the program
- source - C text with its definition and those of what it uses: functions, macros, types, variables

  Options Database Key:
. -hops_pointwise_source <file.c,...> - files that have the functions of all coefficients

  Level: advanced

  Notes:
  The compiled function is compared with the program's at points of the mesh before it is used, to 1e-12.
  Where it cannot be compiled, differs, or reads a context that the device has not
  (`HopsCoefficientSetDeviceContext()`), a warning says so, and the process evaluates the function.

  The text is copied. Call this before the operator is set up.

.seealso: `HopsCoefficient`, `HopsCoefficientCreateFunction()`, `HopsCoefficientSetDeviceContext()`,
`HopsDSSetDeviceSource()`
@*/
PetscErrorCode HopsCoefficientSetDeviceSource(HopsCoefficient cf, const char name[], const char source[])
{
  PetscFunctionBegin;
  HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 1);
  PetscCheck(cf->func, PetscObjectComm((PetscObject)cf), PETSC_ERR_ARG_WRONG,
             "A %s coefficient has no function that could have a source: HopsCoefficientCreateFunction() makes those that have",
             cf->kind);
  PetscCall(SetDeviceSource((PetscObject)cf, name, source));
  PetscCall(HopsPointFunctionListDestroy(&cf->compiled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsCoefficientSetDeviceContext - Gives a device a copy of the context of a coefficient's function.

  Logically Collective

  Input Parameters:
+ cf   - a coefficient of `HopsCoefficientCreateFunction()`
- size - bytes of the context; 0: it stays in the process's memory

  Level: advanced

  Notes:
  The context is copied before each evaluation. It must have no pointers, for those mean nothing on a device.

.seealso: `HopsCoefficient`, `HopsCoefficientCreateFunction()`, `HopsCoefficientSetDeviceSource()`
@*/
PetscErrorCode HopsCoefficientSetDeviceContext(HopsCoefficient cf, size_t size)
{
  PetscFunctionBegin;
  HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 1);
  PetscCheck(cf->func && (cf->ctx || !size), PetscObjectComm((PetscObject)cf), PETSC_ERR_ARG_WRONG,
             "The %s coefficient has no context: give one to HopsCoefficientCreateFunction()", cf->kind);
  cf->ctxsize = size;
  PetscCall(HopsPointFunctionListDestroy(&cf->compiled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceSetDeviceSource - Gives a device the C source of a function of right-hand sides and errors.

  Logically Collective

  Input Parameters:
+ space  - the space
. name   - the function's name in the program
- source - C text with its definition and those of what it uses: functions, macros, types, variables

  Options Database Key:
. -hops_pointwise_source <file.c,...> - files that have the functions

  Level: advanced

  Notes:
  It serves `HopsSpaceComputeRHS()` and `HopsSpaceComputeL2Error()` with vectors of the device. The notes of
  `HopsCoefficientSetDeviceSource()` hold here too.

.seealso: `HopsSpace`, `HopsSpaceSetDeviceContext()`, `HopsSpaceComputeRHS()`, `HopsSpaceComputeL2Error()`
@*/
PetscErrorCode HopsSpaceSetDeviceSource(HopsSpace space, const char name[], const char source[])
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  PetscCall(SetDeviceSource((PetscObject)space, name, source));
  PetscCall(HopsPointFunctionListDestroy(&space->compiled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t HopsSpaceGetDeviceContext(HopsSpace sp, const void *ctx)
{
  for (PetscInt i = 0; i < sp->ncontexts; ++i)
    if (sp->context[i].ctx == ctx) return sp->context[i].size;
  return 0;
}

/*@
  HopsSpaceSetDeviceContext - Gives a device a copy of a context of functions of position.

  Logically Collective

  Input Parameters:
+ space - the space
. ctx   - the context, as `HopsSpaceComputeRHS()` and `HopsSpaceComputeL2Error()` get it
- size  - its bytes; 0: it stays in the process's memory

  Level: advanced

  Notes:
  The context is copied before each use. It must have no pointers, for those mean nothing on a device.

.seealso: `HopsSpace`, `HopsSpaceSetDeviceSource()`, `HopsCoefficientSetDeviceContext()`
@*/
PetscErrorCode HopsSpaceSetDeviceContext(HopsSpace space, void *ctx, size_t size)
{
  PetscInt i = 0;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(ctx, 2);
  while (i < space->ncontexts && space->context[i].ctx != ctx) ++i;
  if (i == space->ncontexts) {
    PetscCall(PetscRealloc((i + 1) * sizeof(*space->context), &space->context));
    ++space->ncontexts;
  }
  space->context[i] = (HopsDeviceContext){ctx, size};
  PetscFunctionReturn(PETSC_SUCCESS);
}
