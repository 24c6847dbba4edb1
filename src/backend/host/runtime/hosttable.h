/* The kernels of one instruction set as a table: HOPS_HOST_TABLE(name of the table, name of the instruction
   set) */
#pragma once
#include <backend/host/operator/hostpa.h>
#include <backend/host/operator/hostpasetup.h>
#include <backend/host/operator/hosttensor.h>
#include <backend/host/transfer/hostinterp.h>
#include <backend/host/operator/hostderham.h>
#define REAL     double
#define PATCH(x) x##Double
#include <backend/host/patch/hostpatch.h>
#undef REAL
#undef PATCH
#define REAL             float
#define PATCH(x)         x##Single
#define HOPS_PATCH_FLOAT /* on vectors in single precision too */
#include <backend/host/patch/hostpatch.h>
#undef HOPS_PATCH_FLOAT
#undef REAL
#undef PATCH

#include <backend/host/patch/hostcondensed.h>

static PetscBool PatchFind(int dim, PetscBool single, HopsHostPatchBatch *b)
{
  return single ? PatchFindSingle(dim, b) : PatchFindDouble(dim, b);
}

#define HOPS_HOST_TABLE(table, name, check) \
  static PetscBool Supported(void) \
  { \
    return (check) ? PETSC_TRUE : PETSC_FALSE; \
  } \
  const HopsHostKernels table = { \
    name, \
    W, \
    Supported, \
    .find            = PAFind, \
    .apply           = PAApply, \
    .diagonal        = PADiagonal, \
    .setup           = PASetUp, \
    .lor             = &table##LOR, \
    .tensorfind      = TensorFind, \
    .tensorapply     = TensorApply, \
    .tensordiagonal  = TensorDiagonal, \
    .interp          = InterpApply, \
    .interptranspose = InterpApplyTranspose, \
    .formfind        = FormFind, \
    .formapply       = FormApply, \
    .formdiagonal    = FormDiagonal, \
    .formsetup       = FormSetUp, \
    .condense        = Condense, \
    .skeleton        = Skeleton, \
    .expand          = Expand, \
    .patchfind       = PatchFind, \
  };
