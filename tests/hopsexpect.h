/* Calls that must raise an error whose text has certain words: EXPECT(name, call, "words|separated|by
   bars"). */
#pragma once
#include "hopstest.h"

static char message[4096];

static PetscErrorCode Catch(MPI_Comm comm, int line, const char *func, const char *file, PetscErrorCode n, PetscErrorType type,
                            const char *mess, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL && mess) PetscStrncpy(message, mess, sizeof(message));
  return n;
}

/* what the call raised must have all the words; words are separated by | */
#define EXPECT(name, call, words) \
  do { \
    PetscErrorCode ierr_; \
    message[0] = 0; \
    PetscCall(PetscPushErrorHandler(Catch, NULL)); \
    ierr_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    PetscCall(Judge(name, ierr_, words)); \
  } while (0)

static inline PetscErrorCode Judge(const char name[], PetscErrorCode ierr, const char words[])
{
  char    **list;
  int       n;
  PetscBool ok = ierr ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscStrToArray(words, '|', &n, &list));
  for (int i = 0; i < n; ++i) {
    char *found;

    PetscCall(PetscStrstr(message, list[i], &found));
    if (!found) ok = PETSC_FALSE;
  }
  PetscCall(PetscStrToArrayDestroy(n, list));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, ok ? "refused" : (ierr ? "WRONG MESSAGE" : "NO ERROR")));
  if (!ok && ierr) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", message));
  PetscFunctionReturn(PETSC_SUCCESS);
}
