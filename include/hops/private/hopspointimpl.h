/* Point functions of a code as text that a device's compiler takes, from the code's own source. */
#pragma once
#include <hops/private/hopsimpl.h>

typedef struct {
  char   name[64]; /* in the text, of C linkage */
  void  *host;     /* in the process */
  size_t size;
} HopsPointVariable;

/* HopsPointCode is declared in hopsbackendimpl.h */
struct _HopsPointCode {
  char              *text; /* C++, of device functions in namespaces */
  PetscInt           n;
  HopsVoidFn        *fn;    /* [n] */
  char             **name;  /* [n] */
  unsigned          *reads; /* [n] HOPS_READS_... that the text of each function of fields names */
  PetscInt           nvars;
  HopsPointVariable *var; /* [nvars] what the functions read of the process's variables */
};

/* src/point/pointcode.c: n functions, by pointer, and what they use, from the sources files = "a.c,b.c".
   Where they cannot be had *code is NULL, and why[len] says so */
PETSC_INTERN PetscErrorCode HopsPointCodeCreate(const char files[], PetscInt n, const HopsVoidFn fn[], HopsPointCode *code,
                                                char why[], size_t len);
/* The same where some functions have a source of their own, which comes before the files */
typedef struct {
  char *name, *text;
} HopsPointGiven;
typedef struct {
  const char           *files;
  PetscInt              ngiven;
  const HopsPointGiven *given;    /* [ngiven] */
  PetscBool             contexts; /* functions may read their context, which the caller brings to the device */
} HopsPointOrigin;
PETSC_INTERN PetscErrorCode HopsPointCodeCreateFrom(const HopsPointOrigin *, PetscInt n, const HopsVoidFn fn[], HopsPointCode *code,
                                                    char why[], size_t len);
/* src/point/devicesource.c: what HopsDSSetDeviceSource() and HopsCoefficientSetDeviceSource() were given,
   which stays the object's */
PETSC_INTERN PetscErrorCode HopsObjectGetDeviceSource(PetscObject, PetscInt *n, const HopsPointGiven *given[]);
/* src/point/pointfunction.c */
PETSC_INTERN PetscErrorCode HopsPointFunctionListDestroy(HopsPointFunctionList *);
/* src/form/ds/reads.c: what -hops_pointwise_source names, into files[PETSC_MAX_PATH_LEN], and what
   HopsDSSetDeviceSource() gave the PetscDSs of a DM; PetscFree() *given. asked: is there any? */
PETSC_INTERN PetscErrorCode HopsDMGetOrigin(DM, char files[], HopsPointGiven **given, HopsPointOrigin *, PetscBool *asked);
PETSC_INTERN PetscErrorCode HopsPointCodeGetText(HopsPointCode, const char **text);
PETSC_INTERN PetscErrorCode HopsPointCodeGetName(HopsPointCode, HopsVoidFn, const char **name);
PETSC_INTERN PetscErrorCode HopsPointCodeDestroy(HopsPointCode *);
/* the arguments of a PetscDS's function: bit k is argument k, all of them where it cannot be told */
#define HOPS_READS_U     (1u << 5)
#define HOPS_READS_UT    (1u << 6)
#define HOPS_READS_UX    (1u << 7)
#define HOPS_READS_T     (1u << 13)
#define HOPS_READS_SHIFT (1u << 14) /* of a Jacobian function */
PETSC_INTERN PetscErrorCode HopsPointCodeGetReads(HopsPointCode, HopsVoidFn, unsigned *reads);

/* src/point/pointsymbol.c: what the symbol tables say of a function */
#define HOPS_POINT_NAMES 8
typedef struct {
  PetscInt n;
  char     name[HOPS_POINT_NAMES][128];   /* at the same address */
  char     source[HOPS_POINT_NAMES][128]; /* the file of a static function, without its folders; else "" */
  char     object[PETSC_MAX_PATH_LEN];
} HopsPointSymbol;
PETSC_INTERN PetscErrorCode HopsPointSymbolFind(HopsVoidFn, HopsPointSymbol *, char why[], size_t len);
/* a variable of the object: of this source where several static ones have the name, and else the only one.
   *address is NULL where there is none, or where there are many */
PETSC_INTERN PetscErrorCode HopsPointSymbolVariable(const HopsPointSymbol *, HopsVoidFn, const char source[], const char name[],
                                                    void **address, size_t *size, PetscBool *many);

/* src/point/pointlex.c: tokens of C */
typedef enum {
  HOPS_TOKEN_NAME,
  HOPS_TOKEN_NUMBER,
  HOPS_TOKEN_STRING, /* or a character */
  HOPS_TOKEN_MARK,   /* one or two or three characters */
  HOPS_TOKEN_LINE,   /* of the preprocessor, with its continuations */
  HOPS_TOKEN_DEAD    /* of a branch that is never taken */
} HopsTokenKind;
typedef struct {
  HopsTokenKind kind;
  const char   *s;
  int           n;
} HopsToken;
PETSC_INTERN PetscErrorCode HopsPointLex(const char text[], PetscInt *n, HopsToken *tokens[]);
PETSC_INTERN PetscBool      HopsTokenIs(const HopsToken *, const char[]);

/* src/point/pointsource.c: what a source file defines */
typedef enum {
  HOPS_UNIT_FUNCTION,
  HOPS_UNIT_PROTOTYPE,
  HOPS_UNIT_TYPE,
  HOPS_UNIT_VARIABLE,
  HOPS_UNIT_MACRO,
  HOPS_UNIT_LINE /* of the preprocessor */
} HopsPointUnitKind;
typedef struct {
  HopsPointUnitKind kind;
  PetscInt          first, last;   /* tokens first..last - 1 */
  PetscInt          body;          /* of a function: its brace; of a macro: the first token of its body */
  PetscInt          nnames, *name; /* [nnames] tokens that are the names that it defines */
  PetscBool         needed, constant;
} HopsPointUnit;
typedef struct {
  char           path[PETSC_MAX_PATH_LEN];
  PetscInt       nbuffers, ntokens, nunits;
  char         **buffer;
  HopsToken     *token;
  HopsPointUnit *unit;
  PetscBool      contexts; /* as in HopsPointOrigin */
} HopsPointSource;
PETSC_INTERN PetscErrorCode HopsPointSourceRead(const char path[], HopsPointSource *, char why[], size_t len);
PETSC_INTERN PetscErrorCode HopsPointSourceParse(const char text[], HopsPointSource *, char why[], size_t len);
PETSC_INTERN PetscErrorCode HopsPointSourceDestroy(HopsPointSource *);
/* the next unit of this kind with this name from number *i on, or NULL: branches of #if may have one each */
PETSC_INTERN HopsPointUnit *HopsPointSourceNext(const HopsPointSource *, HopsPointUnitKind, const char name[], int n, PetscInt *i);
PETSC_INTERN HopsPointUnit *HopsPointSourceFind(const HopsPointSource *, HopsPointUnitKind, const char name[], int n);

/* src/point/pointreads.c: the bits of the parameters that a function names, or a macro of its source
   that is needed */
PETSC_INTERN unsigned HopsPointSourceReads(const HopsPointSource *, const HopsPointUnit *);

/* src/point/pointextract.c: marks the units of a kind with a name, and what they need; why is "" where
   all of it can run on a device */
PETSC_INTERN PetscErrorCode HopsPointSourceNeed(HopsPointSource *, const HopsPointSource *prelude, HopsPointUnitKind,
                                                const char name[], int n, char why[], size_t len);
