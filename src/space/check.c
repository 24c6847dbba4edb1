/* Checks of arguments: counts, vectors of a space, errors that one rank finds. */
#include <hops/private/hopsimpl.h>
#include <stdarg.h>

PetscErrorCode HopsCount(const char what[], PetscInt a, PetscInt b, PetscInt c, PetscInt *product)
{
  PetscFunctionBegin;
  PetscCheck(a >= 0 && b >= 0 && c >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The number of %s is %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ": counts must not be negative", what, a,
             b, c);
  *product = 0;
  if (!a || !b || !c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(a <= PETSC_INT_MAX / b && a * b <= PETSC_INT_MAX / c, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The number of %s on this rank, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
             ", is larger than this PETSc's indices reach (%" PetscInt_FMT
             "): use more ranks, or a PETSc with 64-bit indices (--with-64-bit-indices)",
             what, a, b, c, PETSC_INT_MAX);
  *product = a * b * c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCheckIndex(const char what[], PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The number of %s on this rank, %" PetscInt64_FMT ", is larger than this PETSc's indices reach (%" PetscInt_FMT
             "): use more ranks, or a PETSc with 64-bit indices (--with-64-bit-indices)",
             what, n, PETSC_INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCheckInt(const char what[], PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The number of %s on this rank, %" PetscInt64_FMT
             ", is above 2^31 - 1, which 64-bit indices do not change: use more ranks",
             what, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRefuse(char why[], const char format[], ...)
{
  va_list args;
  size_t  full;

  PetscFunctionBegin;
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  va_start(args, format);
  PetscCall(PetscVSNPrintf(why, HOPS_WHY_LENGTH, format, &full, args));
  va_end(args);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRaise(MPI_Comm comm, PetscErrorCode code, const char why[])
{
  char        text[HOPS_WHY_LENGTH];
  PetscMPIInt rank, size, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  first = why[0] ? rank : size;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(text, why, sizeof(text)));
  PetscCallMPI(MPI_Bcast(text, HOPS_WHY_LENGTH, MPI_CHAR, first, comm));
  SETERRQ(comm, code, "%s", text);
}

PetscErrorCode HopsCheckVec(MPI_Comm comm, Vec x, PetscInt n, PetscInt N, const char name[], const char space[], const char make[])
{
  char        why[HOPS_WHY_LENGTH] = "";
  PetscMPIInt same;
  PetscInt    m, M;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_compare(comm, PetscObjectComm((PetscObject)x), &same));
  PetscCheck(same == MPI_IDENT || same == MPI_CONGRUENT, comm, PETSC_ERR_ARG_NOTSAMECOMM,
             "The vector %s and the space have different communicators: make vectors by %s, or by MatCreateVecs() of the space's "
             "operator",
             name, make);
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetSize(x, &M));
  if (m != n || M != N)
    PetscCall(HopsRefuse(why,
                         "The vector %s has %" PetscInt_FMT " of %" PetscInt_FMT
                         " entries on a rank where the %s has %" PetscInt_FMT " of %" PetscInt_FMT
                         " unknowns: make vectors by %s, or by MatCreateVecs() of the space's operator",
                         name, m, M, space, n, N, make));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_SIZ, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCheckVec(HopsSpace sp, Vec x, const char name[])
{
  char space[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(space, sizeof(space), "%s space of order %" PetscInt_FMT, HopsFamilies[sp->family], sp->order));
  PetscCall(HopsCheckVec(PetscObjectComm((PetscObject)sp), x, sp->nT, sp->N, name, space, "HopsSpaceCreateVec()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCheckConforming(HopsSpace sp, const char what[], const char remedy[])
{
  PetscFunctionBegin;
  PetscCheck(!sp->hanging, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP, "%s: the space has cells with hanging nodes, which %s",
             what, remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}
