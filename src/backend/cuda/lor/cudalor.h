/* CUDA back end: data of a low-order-refined matrix, and launches of kernels. */
#pragma once
#include <backend/cuda/runtime/cudaimpl.h>
#include <hops/private/hopslorrowsimpl.h>
#include <hops/private/hopsderhamimpl.h>

#define HOPS_CUDA_LOR_MAX 63 /* columns of a row whose places are kept, in H1; values of longer ones are looked up */

/* What kernels need of the mesh; node v of cell c is entry e = c * nn + v of restr */
typedef struct {
  int        dim, P, nn, nfree; /* nn = P^dim */
  const int *restr;             /* [ncells][nn] L indices; constrained from nfree on */
  /* entries of an unknown, ascending: entry[begin[l]..begin[l+1]); of constrained ones in H1 alone */
  const int           *begin, *entry;
  const unsigned char *mask; /* [ncells] coupled direction pairs of the pattern */
  /* [ncells] which of its faces and edges a cell has before others, see cudalorpatternonce.cu; NULL where
     that does not say which columns cells share */
  const unsigned int *own;
  const double       *hinv;     /* [P-1] inverse widths of the sub-cells on [-1,1] */
  const int          *ijk;      /* [nn] place of a node: i + 256 j + 65536 k */
  double              perentry; /* 1 / nn */
  /* some cell has an unknown twice, as in a periodic mesh with one cell in a direction, or some unknown
     inside a cell is another one's too */
  bool twice;
} HopsCudaLORMesh;

/*
  Vertex data of H1, four numbers a node that a thread reads at once, zero where a term is not there;
  v[ncells][nn][4] and pairs[ncells][nn][4]:
    S_a = R G_aa m_b m_c / 2 for each direction a (m: lumped 1D mass, G = detJ J^-1 kappa J^-T; no m_c in 2D),
    v[0..dim-1], q_ab = R G_ab m_c / 4 for the pairs xy, xz, yz, where `mixed`: pairs[0..2] in 3D, v[2] in 2D,
    mass R m_x m_y m_z detJ c, v[3],
  where R puts the Gauss-Lobatto weight of the node in place of its share of the sub-cells' volumes, as on the
  host.

  Of other families [ncells][ncomp][nn]: the diagonal entries of the derivative's tensor, of the field's, then
  their off-diagonal ones.
*/
typedef struct {
  bool          mixed;
  int           ncomp; /* numbers a node */
  const double *v, *pairs;
} HopsCudaLORData;

/* A run of cells: coordinates X[n][dim][Pg^dim], coefficient values with the strides of HopsValues */
typedef struct {
  int dim, P, Pg, nn, knc, mnc, ncomp;
  /* lump: tensors of other families than H1 in place of the factors, in family[0] (derivative) and
     family[1] */
  bool       mixed, lump;
  HopsFamily family[2];
  PetscInt   first, n, kcstride, kpstride, mcstride, mpstride;
  /* B, D: [P][Pg] the element map at the nodes; C: [P][P] derivatives at the nodes; m, r: [P] lumped 1D mass,
     Gauss-Lobatto weight over it */
  const double  *X, *B, *D, *C, *m, *r;
  const double  *kappa, *mass;
  const int     *ijk;                    /* of HopsCudaLORMesh */
  double         perentry, tol, droptol; /* droptol >= tol: a cell whose off-diagonal factors all lie below it has none */
  double        *out, *pairs;
  unsigned char *mask; /* set by any thread that finds a coupling */
  int           *bad;  /* least cell with a determinant that is not positive */
  cudaStream_t   stream;
} HopsCudaLORRun;

/* What a form brings: of other families the numbers that the data make up, too */
struct _HopsLORVertexData {
  HopsCudaLORData v;
  size_t          size, numbersize; /* bytes */
  unsigned char  *mask;
  void           *numbers;
};

typedef struct _HopsLORKernel *HopsLORKernel;
struct _HopsLORKernel {
  struct _HopsLORAssembler head;
  HopsSpace                space; /* not a reference: the matrix has one */
  struct _HopsCudaLump    *lump;  /* of families other than H1 */
  int                      P, Pg, nn;
  HopsBasis                geom;
  double                  *gll; /* [P][P] derivatives at the nodes, then nodes and weights [P] (host) */
  double                  *tables;
  int                     *ijk;
  HopsCudaLORMesh          mesh;
  int                     *begin, *entry, *bad; /* bad[4]: small results of kernels */
  unsigned char           *mask;
  unsigned int            *own;
  PetscBool                owned; /* own is that of the mask */
  void                    *coef[2];
  size_t                   coefsize[2];
  char                     name[48];
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode    HopsLORCreate_CUDA(HopsSpace, const HopsBasis *, HopsLORAssembler *);
PETSC_INTERN const HopsRowsOps HopsRowsCUDA;

/* cudaincidence.cu */
PETSC_INTERN PetscErrorCode HopsIncidenceCount_CUDA(const HopsDeviceIncidence *, HopsLORRows *, PetscInt *);
PETSC_INTERN PetscErrorCode HopsIncidenceFull_CUDA(const HopsDeviceIncidence *, HopsLORRows *, PetscBool *);
PETSC_INTERN PetscErrorCode HopsIncidenceFill_CUDA(const HopsDeviceIncidence *, HopsLORRows *, unsigned char used[]);
PETSC_INTERN PetscErrorCode HopsUnitVectors_CUDA(HopsSpace, PetscScalar *v[3]);

PETSC_INTERN PetscErrorCode HopsCudaPoolMalloc(size_t, void **);
PETSC_INTERN PetscErrorCode HopsCudaPoolFree(void **);
/* x[n + 1] counts, of which the last is overwritten: their sums before each */
PETSC_INTERN PetscErrorCode HopsCudaScan(size_t n, int x[], cudaStream_t);
/* begin[nkeys + 1], entry[n]: where key[n], or -1 - key where it is negative, is k < nkeys, each list
   ascending */
PETSC_INTERN PetscErrorCode HopsCudaTranspose(size_t n, const int key[], int nkeys, int begin[], int entry[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORVertexData(const HopsCudaLORRun *);
/* the entries (n in all, percell in a cell, its nodes or not) of each of nl unknowns: begin[nl + 1], entry[]
   is allocated here; *twice = 1 (on the device) where mesh.twice should be true */
PETSC_INTERN PetscErrorCode HopsCudaLORTranspose(const HopsCudaLORMesh *, int nl, size_t n, int percell, bool nodes, int begin[],
                                                 int **entry, int *twice, cudaStream_t);
/* result[0]: some new mask has a bit that the old one lacks; result[1]: some new mask is not zero */
PETSC_INTERN PetscErrorCode HopsCudaLORCompare(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[2],
                                               cudaStream_t);
/* mask[c] |= more[c] */
PETSC_INTERN PetscErrorCode HopsCudaLORMerge(PetscInt n, const unsigned char more[], unsigned char mask[], cudaStream_t);
/* cudalorpatternonce.cu: m->own, and whether it is to no use; then lengths, and columns and places, of rows
   in one block that receive nothing */
PETSC_INTERN PetscErrorCode HopsCudaLOROwners(const HopsCudaLORMesh *, PetscInt ncells, unsigned int own[], int *irregular,
                                              cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORCountOnce(const HopsCudaLORMesh *, const HopsLORRows *, int *anylong, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORFillOnce(const HopsCudaLORMesh *, const HopsLORRows *, cudaStream_t);
/* cudalorpattern.cu. work: a number on the device. Row pointers, and places in rows->place: those of the rows
   that are not long ones are final where rows are neither sorted nor in two blocks */
PETSC_INTERN PetscErrorCode HopsCudaLORCount(const HopsCudaLORMesh *, HopsLORRows *, unsigned long long *work, cudaStream_t);
/* what long rows need (work[0] entries, set to zero here); sets rows->anylong */
PETSC_INTERN PetscErrorCode HopsCudaLORBuffer(HopsLORRows *, unsigned long long *work, int **buffer, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORColumns(const HopsCudaLORMesh *, const HopsLORRows *, unsigned char used[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORMap(const HopsLORRows *, cudaStream_t);
/* with rows->place0 and nplace set: bytes of rows->place */
PETSC_INTERN size_t HopsCudaLORPlaceSize(const HopsCudaLORMesh *, const HopsLORRows *);
/* all places anew, looked up in the rows */
PETSC_INTERN PetscErrorCode HopsCudaLORPlaces(const HopsCudaLORMesh *, const HopsLORRows *, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORValues(const HopsCudaLORMesh *, const HopsCudaLORData *, const HopsLORRows *, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORReceived(const HopsLORRows *, const double x[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORDiagonal(const HopsLORRows *, PetscInt n, const PetscInt idx[], const double x[],
                                                cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORSlots(const HopsLORRows *, cudaStream_t);
/* cudalorwide.cu: rows of nc components; values of component c */
PETSC_INTERN PetscErrorCode HopsCudaLORWidenRows(const HopsLORRows *, int nc, HopsLORRows *wide, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaLORWidenValues(const HopsLORRows *, int nc, int c, const unsigned char fixed0[],
                                                   const unsigned char fixed1[], HopsLORRows *wide, cudaStream_t);
EXTERN_C_END
