/* hops, High-Order PreconditionerS for PETSc: the one header that a user's code includes. */
#pragma once
#include <hopsspace.h>
#include <hopsmat.h>
#include <hopsadapt.h>
#include <hopshp.h>
#include <hopslor.h>
#include <hopspatch.h>
#include <hopsmg.h>
#include <hopsbox.h>

#define HOPS_VERSION_MAJOR 0
#define HOPS_VERSION_MINOR 1
#define HOPS_VERSION_PATCH 0

PETSC_EXTERN PetscErrorCode HopsInitialize(void);
PETSC_EXTERN PetscErrorCode HopsFinalize(void);
