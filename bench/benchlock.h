/* -lock FILE: benchmark programs on one device make their meshes beside each other and are timed one at a
   time. */
#pragma once
#include <petscsys.h>
#include <fcntl.h>
#include <sys/file.h>

/* rank 0 opens the file; lock is -1 on others, and where file is NULL */
static inline PetscErrorCode BenchLockOpen(const char *file, int *lock)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  *lock = -1;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!file || rank) PetscFunctionReturn(PETSC_SUCCESS);
  *lock = open(file, O_CREAT | O_RDWR, 0666);
  PetscCheck(*lock >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. operation: flock()'s, LOCK_EX or LOCK_UN */
static inline PetscErrorCode BenchLock(int lock, int operation)
{
  PetscFunctionBeginUser;
  PetscCheck(lock < 0 || !flock(lock, operation), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "The file of -lock cannot be locked");
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
