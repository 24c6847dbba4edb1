/* The kernels of one instruction set as a table: HOPS_HOST_TABLE(name of the table, name of the instruction set) */
#pragma once
#include "hostpa.h"
#include "hostlor.h"
#include "hosttensor.h"

#define HOPS_HOST_TABLE(table, name, check) \
  static PetscBool Supported(void) \
  { \
    return (check) ? PETSC_TRUE : PETSC_FALSE; \
  } \
  const HopsHostKernels table = {name, W, Supported, PAFind, PAApply, PADiagonal, PASetUp, LORCouplings, LORFill, TensorFind, TensorApply, TensorDiagonal};
