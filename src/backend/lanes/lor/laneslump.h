/*
  Low-order-refined matrices of H(curl), H(div) and L2 of back ends that launch kernels for teams of lanes.
  With vertex quadrature they are M + C^T N C, C the incidence of the lattice, M and N masses of the lattice's
  edges, faces or boxes (hostlorcell.c has the formula). Such a mass has few numbers: one for each entity, its
  own entry; and for each coupled pair of directions one for each place where entities of the two meet.
*/
#pragma once
#include "laneslor.h"

#define HOPS_LUMP_LAST         (1 << 30)             /* the column's last term */
#define HOPS_LUMP_LIST         32                    /* columns of a row by tables; longer ones take other kernels, */
#define HOPS_CURL_MAX(coupled) ((coupled) ? 63 : 31) /* and so by the stencils */
#define HOPS_DIV_MAX           15

/* a term of a row on a cell: column (with HOPS_LUMP_LAST) + 2^32 (2 * number of the mass + 1 where it is
   subtracted) */
typedef long long HopsLumpTerm;

/* Rows of a cell's matrix for one mask, the diagonal entry first; terms of a column follow one another */
typedef struct {
  const int          *count; /* [ne] terms + 65536 * columns */
  const HopsLumpTerm *term;  /* [most][ne] */
  const int          *col;   /* [most][ne], the columns alone */
} HopsLumpTable;

typedef struct {
  int                  ncells, dim, P, nn, ne, nfree, n; /* n: numbers of a cell in use */
  const int           *restr;                            /* [ncells][ne], -1-l where the sign is opposite */
  const int           *begin, *entry;
  const unsigned char *mask;
  HopsLORHung          hung;
  double               perentry; /* 1 / ne */
  const double        *numbers;  /* [ncells][n], or on a host [groups][n][cells of a group] */
  HopsLumpTable        table[8];

  /* H(curl) in 3D, and on a host H(div), `faces`: rows go by laneslumpcurl.h or laneslumpdiv.h, for which the
     others are, and tables serve long ones alone */
  bool stencil, faces;
  bool twice, empty; /* some cell has an unknown twice; some unknown has no cell */
  bool has[2];       /* terms of the derivative and of the field */
  /* first number of the entities' own ones and of the mixed ones, of the derivative and of the field */
  int        own[2], mixed[2];
  const int *at; /* [ne] place of an edge or a face: i + 256 j + 65536 k, and its direction above */
} HopsLumpMesh;

/* No function waits for a device, or is called for no rows. Lengths of rows and bounds of long ones as in
   HopsLanesLORKernels */
struct _HopsLumpKernels {
  /* of all cells, for devices: NULL on hosts, where VertexData() makes them */
  PetscErrorCode (*Numbers)(const HopsLumpMesh *, PetscInt ncells, int ncomp, const HopsLumpNumber *, const double data[],
                            double numbers[]);
  /* result[0]: bits of the new masks that occur; the next two as in HopsLanesLORKernels; all zero before */
  PetscErrorCode (*Compare)(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[3]);
  /* laneslumprows.h: rows by tables; long ones, by tables or by the stencil, take kernels of their own, which
     add to values that are zero */
  PetscErrorCode (*Count)(const HopsLumpMesh *, const HopsLORRows *, unsigned long long *work);
  PetscErrorCode (*Columns)(const HopsLumpMesh *, const HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*Values)(const HopsLumpMesh *, const HopsLORRows *);
  PetscErrorCode (*CountLong)(const HopsLumpMesh *, const HopsLORRows *, int *buffer, unsigned long long *work);
  PetscErrorCode (*ColumnsLong)(const HopsLumpMesh *, const HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*ValuesLong)(const HopsLumpMesh *, const HopsLORRows *);
  /* laneslumpcurl.h, laneslumpdiv.h: rows by a stencil, where mesh.stencil. *empty, zero before, is 1 where
     an unknown has no cell (a host need not know); bytes of rows->place, and rows->nblocks is set; places in
     rows of the final pattern, looked up if it is sorted or in two blocks; zero as in HopsLanesLORKernels */
  PetscErrorCode (*StencilEmpty)(const HopsLumpMesh *, int *empty);
  size_t (*StencilPlaceSize)(const HopsLumpMesh *, HopsLORRows *);
  PetscErrorCode (*StencilCount)(const HopsLumpMesh *, const HopsLORRows *, unsigned long long *work);
  PetscErrorCode (*StencilColumns)(const HopsLumpMesh *, const HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*StencilPlaces)(const HopsLumpMesh *, const HopsLORRows *);
  PetscErrorCode (*StencilValues)(const HopsLumpMesh *, const HopsLORRows *, int *zero);
  /* as in HopsLanesLORKernels */
  PetscErrorCode (*HungTeams)(size_t bytes, int *teams, PetscBool *own);
  PetscErrorCode (*HungLists)(const HopsLumpMesh *, const HopsLORHungWork *);
};

struct _HopsLump {
  HopsFamily      family[2];               /* of the derivative, of the field */
  PetscBool       has[2], thas[2], tables; /* terms of the vertex data, and of the tables */
  HopsLayout      l[2];
  int             diag[2], mixed[2][3], ncomp[2], n[2]; /* first numbers; components and numbers without and with mixed ones */
  HopsLumpMesh    mesh;
  HopsLumpNumber *number; /* [n[1]] the back end's */
  void           *count[8], *term[8], *col[8];
  int            *hostcount[8], *hostcol[8]; /* the process's copies, where nodes hang */
  int             masks;                     /* bits of the pattern's masks that occur */
  int            *at;
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsLumpCreate(HopsLanesLOR);
PETSC_INTERN PetscErrorCode HopsLumpDestroy(HopsLanesLOR);
PETSC_INTERN PetscErrorCode HopsLumpSetUp(HopsLanesLOR); /* restr, begin, entry, mask and twice of the mesh are known */
/* components of the vertex data for the run's terms, and what numbers they make up; these of all cells */
PETSC_INTERN PetscErrorCode HopsLumpBegin(HopsLanesLOR, HopsLORVertexData, HopsLanesLORRun *);
PETSC_INTERN PetscErrorCode HopsLumpFinish(HopsLanesLOR, HopsLORVertexData);
/* as in HopsLOROps */
PETSC_INTERN PetscErrorCode HopsLumpMasks(HopsLanesLOR, HopsLORVertexData, PetscBool adopt, PetscBool *covered, PetscBool *coupled);
PETSC_INTERN PetscErrorCode HopsLumpRows(HopsLanesLOR, HopsLORRows *); /* row pointers */
PETSC_INTERN PetscErrorCode HopsLumpColumns(HopsLanesLOR, HopsLORRows *, unsigned char used[]);
PETSC_INTERN PetscErrorCode HopsLumpValues(HopsLanesLOR, HopsLORVertexData, HopsLORRows *);
EXTERN_C_END
