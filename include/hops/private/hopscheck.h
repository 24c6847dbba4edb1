/* Checks of arguments that guard memory, in every build: PetscValidHeaderSpecific() and PetscAssertPointer()
   are empty in optimised ones. */
#pragma once
#include <hops.h>
#include <petsc/private/petscimpl.h>

/* an array, an output or a function that must be there */
#define HopsValidPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Parameter %d (" #p ") is NULL", arg)

/* an object of a class */
#define HopsValidHeader(h, ck, arg) \
  do { \
    HopsValidPointer(h, arg); \
    PetscValidHeaderSpecific(h, ck, arg); /* of a debugging build: may the pointer be read? */ \
    PetscCheck(((PetscObject)(h))->classid == (ck), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, \
               "Parameter %d (" #h ") is an object of another class, or was destroyed", arg); \
  } while (0)

/* an array of n entries, which may be NULL where n is 0 */
#define HopsValidArray(n, p, arg) \
  do { \
    PetscCheck((n) >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, \
               "Parameter %d (" #p ") has %" PetscInt_FMT " entries: the number must not be negative", arg, (PetscInt)(n)); \
    PetscCheck((n) == 0 || (p), PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, \
               "Parameter %d (" #p ") is NULL and has %" PetscInt_FMT " entries", arg, (PetscInt)(n)); \
  } while (0)

/* an enumeration whose values are 0..last */
#define HopsValidEnum(v, last, arg) \
  PetscCheck((int)(v) >= 0 && (int)(v) <= (int)(last), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, \
             "Parameter %d (" #v ") is %d, which is no value of its type", arg, (int)(v))

/* most quadrature points per direction: what a cell then has, dim 3 and 6 values a point, is far below the
   largest PetscInt */
#define HOPS_MAX_Q_1D 256

/* *product = a b c, counts of something that memory or indices are sized by; an error where a PetscInt cannot
   hold it */
PETSC_INTERN PetscErrorCode HopsCount(const char what[], PetscInt a, PetscInt b, PetscInt c, PetscInt *product);
/* the same of a count that was taken in 64 bits */
PETSC_INTERN PetscErrorCode HopsCheckIndex(const char what[], PetscInt64 n);
/* the same for what is numbered by `int`, as the L-vector and the matrices of other libraries are, whatever
   PetscInt is */
PETSC_INTERN PetscErrorCode HopsCheckInt(const char what[], PetscInt64 n);

/* The vector belongs to the space: communicator, local and global size; the same result on all ranks.
   Collective. */
PETSC_INTERN PetscErrorCode HopsSpaceCheckVec(HopsSpace, Vec, const char name[]);
/* the same of any space of n of N unknowns, by what it is called and what makes its vectors */
PETSC_INTERN PetscErrorCode HopsCheckVec(MPI_Comm, Vec, PetscInt n, PetscInt N, const char name[], const char space[],
                                         const char make[]);
/* src/space/cellvec.c: it has the sizes that HopsSpaceCreateCellVec() gives; collective */
PETSC_INTERN PetscErrorCode HopsSpaceCheckCellVec(HopsSpace, Vec);

/*
  What one rank has found wrong becomes the error of all: the text of the lowest rank whose `why` is not
  empty. HopsRefuse() sets it where it is empty. Collective.
*/
#define HOPS_WHY_LENGTH 512
PETSC_INTERN PetscErrorCode HopsRefuse(char why[], const char format[], ...);
PETSC_INTERN PetscErrorCode HopsRaise(MPI_Comm, PetscErrorCode, const char why[]);
