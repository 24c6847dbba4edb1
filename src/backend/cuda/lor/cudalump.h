/*
  CUDA back end: low-order-refined matrices of H(curl), H(div) and L2. With vertex quadrature they are M + C^T
  N C, C the incidence of the lattice, M and N masses of the lattice's edges, faces or boxes (lorlump.c has
  the formula). Such a mass has few numbers: one for each entity, its own entry; and for each coupled pair of
  directions one for each place where entities of the two meet.
*/
#pragma once
#include "cudalor.h"

#define HOPS_CUDA_LOR_THREADS       128                   /* rows of a block, pattern */
#define HOPS_LUMP_LAST              (1 << 30)             /* the column's last term */
#define HOPS_CUDA_CURL_MAX(coupled) ((coupled) ? 63 : 31) /* columns of a row by the stencil; longer ones take other kernels */

/*
  w times the sum of a component of the vertex data over the nodes base, base + 1, ... along the directions of
  `open` (bits). For an entity's own entry w is the product over the directions of 1/(2h) where the entity
  extends, of the node's Gauss-Lobatto weight where it does not.
*/
typedef struct {
  int    base, open; /* base: component * nn + node */
  double w;
} HopsCudaLumpNumber;

/* a term of a row on a cell: column (with HOPS_LUMP_LAST), 2 * number of the mass + 1 where it is
   subtracted */
typedef struct __attribute__((aligned(8))) {
  int col, value;
} HopsCudaLumpTerm;

/* Rows of a cell's matrix for one mask, the diagonal entry first; terms of a column follow one another */
typedef struct {
  const int              *count; /* [ne] terms + 65536 * columns */
  const HopsCudaLumpTerm *term;  /* [most][ne] */
  const int              *col;   /* [most][ne], the columns alone */
} HopsCudaLumpTable;

typedef struct {
  int                  dim, P, nn, ne, nfree, n; /* n: numbers of a cell in use */
  const int           *restr;                    /* [ncells][ne], -1-l where the sign is opposite */
  const int           *begin, *entry;
  const unsigned char *mask;
  double               perentry; /* 1 / ne */
  const double        *numbers;  /* [ncells][n] */
  HopsCudaLumpTable    table[8];

  /* H(curl) in 3D: rows go by cudalumpcurl.cuh, for which the others are, and tables serve long ones alone */
  bool stencil;
  bool twice, empty; /* some cell has an unknown twice; some unknown has no cell */
  bool has[2];       /* terms of the derivative and of the field */
  /* first number of the entities' own ones and of the mixed ones, of the derivative and of the field */
  int        own[2], mixed[2];
  const int *at; /* [ne] place of an edge: i + 256 j + 65536 k, and its direction above */
} HopsCudaLumpMesh;

struct _HopsCudaLump {
  HopsFamily          family[2];               /* of the derivative, of the field */
  PetscBool           has[2], thas[2], tables; /* terms of the vertex data, and of the tables */
  HopsLayout          l[2];
  int                 diag[2], mixed[2][3], ncomp[2], n[2]; /* first numbers; components and numbers without and with mixed ones */
  HopsCudaLumpMesh    mesh;
  HopsCudaLumpNumber *number; /* [n[1]] on the device */
  void               *count[8], *term[8], *col[8];
  int                 masks; /* bits of the pattern's masks that occur */
  int                *at;
};

EXTERN_C_BEGIN
/* cudalumprows.cu */
PETSC_INTERN PetscErrorCode HopsCudaLumpNumbers(const HopsCudaLumpMesh *, PetscInt ncells, int ncomp, const HopsCudaLumpNumber *,
                                                const double data[], double numbers[], cudaStream_t);
/* result[0]: bits of the new masks that occur; the next two as in Compare() of laneslor.h */
PETSC_INTERN PetscErrorCode HopsCudaLumpCompare(PetscInt n, const unsigned char newmask[], const unsigned char mask[],
                                                int result[3], cudaStream_t);
/* rows by tables; long ones, by tables or by the stencil, take kernels of their own */
PETSC_INTERN PetscErrorCode HopsCudaTableCount(const HopsCudaLumpMesh *, HopsLORRows *, unsigned long long *work, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaTableColumns(const HopsCudaLumpMesh *, const HopsLORRows *, unsigned char used[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaTableValues(const HopsCudaLumpMesh *, const HopsLORRows *, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaTableCountLong(const HopsCudaLumpMesh *, const HopsLORRows *, int *buffer,
                                                   unsigned long long *work, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaTableColumnsLong(const HopsCudaLumpMesh *, const HopsLORRows *, unsigned char used[],
                                                     cudaStream_t);
/* their values are zero before */
PETSC_INTERN PetscErrorCode HopsCudaTableValuesLong(const HopsCudaLumpMesh *, const HopsLORRows *, cudaStream_t);
/* cudalumpcurl*.cu: rows by a stencil, where mesh.stencil; rows->place is there */
PETSC_INTERN PetscErrorCode HopsCudaCurlEmpty(const HopsCudaLumpMesh *, int *empty, cudaStream_t);
/* bytes of rows->place; sets rows->nblocks */
PETSC_INTERN size_t         HopsCudaCurlPlaceSize(const HopsCudaLumpMesh *, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsCudaCurlCount(const HopsCudaLumpMesh *, const HopsLORRows *, unsigned long long *work,
                                              cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaCurlColumns(const HopsCudaLumpMesh *, const HopsLORRows *, unsigned char used[], cudaStream_t);
/* where the pattern is sorted or in two blocks */
PETSC_INTERN PetscErrorCode HopsCudaCurlPlaces(const HopsCudaLumpMesh *, const HopsLORRows *, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaCurlValues(const HopsCudaLumpMesh *, const HopsLORRows *, cudaStream_t);
EXTERN_C_END
