/* Writes a finite element function as a VTK file of Lagrange cells, which keep the order of the space and of
   its geometry. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopshanging.h>

/* Arrays of a piece (the cells of one rank), in the order of the file */
#define HOPS_VTU_ARRAYS 7         /* the last one may be absent */
#define HOPS_VTU_CHUNK  (1 << 26) /* bytes that rank 0 receives at a time */

typedef struct {
  int64_t    npoints, ncells, nc; /* nc: 1, or 3 of vector fields (the third zero in 2D) */
  PetscReal *points;              /* [npoints][3] */
  PetscReal *u;                   /* [npoints][nc] */
  int64_t   *connectivity;        /* [ncells][(order+1)^dim] points of a cell, in VTK's order */
  int64_t   *offsets;             /* [ncells] ends of the cells in `connectivity` */
  uint8_t   *types;               /* [ncells] */
  int32_t   *rank;                /* [ncells] */
  PetscReal *cell;                /* [ncells] the caller's cell data */
} HopsVTUPiece;

/*
  number[i]: that in VTK's Lagrange cells of the i-th node of the lattice

      3---8---9---2
     11  14  15   7    order 3 in 2D
     10  12  13   6
      0---4---5---1
*/
static PetscErrorCode HopsVTKNumbers(PetscInt dim, PetscInt order, PetscInt number[])
{
  const PetscInt np = HopsPower(order + 1, dim);
  PetscInt      *perm;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(np, &perm));
  PetscCall(HopsGetNodeOrder(dim, order, "vtk", perm));
  for (PetscInt i = 0; i < np; ++i) number[perm[i]] = i;
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The point at x of the L-vector entry l. Cells share the points of shared entries, but on a periodic mesh,
  or where nodes hang, one entry may have several places: head[l] is its latest point, next[] chains the
  others, -1 ends.
*/
static int64_t HopsVTUPoint(HopsVTUPiece *v, PetscInt l, PetscInt dim, const PetscReal x[], PetscReal tol, PetscReal u,
                            int64_t head[], int64_t next[])
{
  int64_t k;

  for (k = head[l]; k >= 0; k = next[k]) {
    PetscReal dist = 0.0;

    for (PetscInt d = 0; d < dim; ++d) dist = PetscMax(dist, PetscAbsReal(v->points[3 * k + d] - x[d]));
    if (dist <= tol) return k;
  }
  k       = v->npoints++;
  next[k] = head[l];
  head[l] = k;
  v->u[k] = u;
  for (PetscInt d = 0; d < 3; ++d) v->points[3 * k + d] = d < dim ? x[d] : 0.0;
  return k;
}

/* Size of the mesh cell with the points x[n][dim]: the largest side of its bounding box */
static PetscReal HopsCellSize(PetscInt dim, PetscInt n, const PetscReal x[])
{
  PetscReal size = 0.0;

  for (PetscInt d = 0; d < dim; ++d) {
    PetscReal lo = x[d], hi = x[d];

    for (PetscInt i = 1; i < n; ++i) {
      lo = PetscMin(lo, x[i * dim + d]);
      hi = PetscMax(hi, x[i * dim + d]);
    }
    size = PetscMax(size, hi - lo);
  }
  return size;
}

/* The cells of this rank: position and value at the equispaced points of each cell, which VTK interpolates
   between */
static PetscErrorCode HopsVTUFill(HopsSpace sp, const PetscReal x[], const PetscReal xg[], HopsVTUPiece *v)
{
  const PetscInt   dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim);
  HopsBasis        basis, geom;
  const PetscReal *M[3];
  HopsHanging      h = {0};
  PetscReal       *equi, *pts, *u, *e, *work;
  PetscInt        *perm;
  int64_t         *head, *next;
  PetscMPIInt      rank;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sp), &rank));
  PetscCall(PetscMalloc6(P, &equi, np * dim, &pts, np, &u, np, &e, 2 * np, &work, np, &perm));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &h));
  PetscCall(PetscMalloc2(sp->nL, &head, sp->ncells * np, &next));
  for (PetscInt l = 0; l < sp->nL; ++l) head[l] = -1;
  for (PetscInt i = 0; i < P; ++i) equi[i] = -1.0 + 2.0 * i / sp->order;
  PetscCall(HopsVTKNumbers(dim, sp->order, perm));
  PetscCall(HopsBasisCreateAtPoints(P, P, equi, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &basis, &geom));
  for (PetscInt d = 0; d < dim; ++d) M[d] = basis.B;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscReal tol;

    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, pts, NULL));
    tol = 1e-6 * HopsCellSize(dim, np, pts);
    HopsGatherCell(sp, c, &h, x, xg, u);
    PetscCall(HopsTensorApply(dim, P, P, M, u, e, work));
    for (PetscInt n = 0; n < np; ++n)
      v->connectivity[c * np + perm[n]] = HopsVTUPoint(v, sp->restr[c * np + n], dim, pts + n * dim, tol, e[n], head, next);
    v->offsets[c] = (int64_t)(c + 1) * np;
    v->types[c]   = dim == 2 ? 70 : 72; /* VTK_LAGRANGE_QUADRILATERAL, VTK_LAGRANGE_HEXAHEDRON */
    v->rank[c]    = rank;
  }
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree2(head, next));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree6(equi, pts, u, e, work, perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of H(curl), H(div) and L2: every cell has its own points, since the fields jump between cells */
static PetscErrorCode HopsVTUFillField(HopsSpace sp, const PetscReal x[], const PetscReal xg[], HopsVTUPiece *v)
{
  const PetscInt dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim), nc = sp->family == HOPS_L2 ? 1 : dim;
  HopsBasis      basis, geom;
  HopsHanging    h = {0};
  PetscReal     *equi, *pts, *J, *u, *e;
  PetscInt      *perm;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sp), &rank));
  PetscCall(PetscMalloc6(P, &equi, np * dim, &pts, np * dim * dim, &J, np * nc, &u, sp->ne, &e, np, &perm));
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &h));
  PetscCall(HopsVTKNumbers(dim, sp->order, perm));
  for (PetscInt i = 0; i < P; ++i) equi[i] = -1.0 + 2.0 * i / sp->order;
  PetscCall(HopsBasisCreateAtPoints(P, P, equi, &basis));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, pts, J));
    for (PetscInt i = 0; i < sp->ne; ++i) {
      const int      r = sp->restr[c * sp->ne + i];
      const PetscInt l = HopsUnsigned(r);

      e[i] = HopsSign(r) * (l < sp->nT ? x[l] : xg[l - sp->nT]);
    }
    if (sp->hanging) HopsHangingApply(&h, sp->hang[c], PETSC_FALSE, e);
    PetscCall(HopsFieldAtPoints(sp, &basis, e, J, u));
    for (PetscInt n = 0; n < np; ++n) {
      const int64_t k = v->npoints++;

      for (PetscInt d = 0; d < 3; ++d) v->points[3 * k + d] = d < dim ? pts[n * dim + d] : 0.0;
      for (PetscInt d = 0; d < v->nc; ++d) v->u[k * v->nc + d] = d < nc ? u[n * nc + d] : 0.0;
      v->connectivity[c * np + perm[n]] = k;
    }
    v->offsets[c] = (int64_t)(c + 1) * np;
    v->types[c]   = dim == 2 ? 70 : 72;
    v->rank[c]    = rank;
  }
  PetscCall(HopsBasisDestroy(&basis));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree6(equi, pts, J, u, e, perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the arrays of a piece; narrays of them are there */
static void HopsVTUSizes(int64_t npoints, int64_t ncells, int64_t nc, int64_t np, int narrays, uint64_t bytes[HOPS_VTU_ARRAYS])
{
  bytes[0] = 3 * npoints * sizeof(PetscReal);
  bytes[1] = nc * npoints * sizeof(PetscReal);
  bytes[2] = ncells * np * sizeof(int64_t);
  bytes[3] = ncells * sizeof(int64_t);
  bytes[4] = ncells * sizeof(uint8_t);
  bytes[5] = ncells * sizeof(int32_t);
  bytes[6] = narrays > 6 ? ncells * sizeof(PetscReal) : 0;
}

/* The XML part, in front of the arrays: a piece for each rank with cells, sizes[rank] = {points, cells};
   cellname: of cell data, or NULL */
static PetscErrorCode HopsVTUWriteHeader(FILE *f, const char name[], const char cellname[], PetscMPIInt nranks,
                                         const int64_t sizes[], int64_t nc, int64_t np)
{
#if defined(PETSC_WORDS_BIGENDIAN)
  const char order[] = "BigEndian";
#else
  const char order[] = "LittleEndian";
#endif
  const char *const format[HOPS_VTU_ARRAYS] =
    {"      <Points>\n        <DataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\" format=\"appended\" "
     "offset=\"%llu\"/>\n      </Points>\n",
     "        <DataArray type=\"Float64\" Name=\"%s\"%s format=\"appended\" offset=\"%llu\"/>\n      </PointData>\n",
     "      <Cells>\n        <DataArray type=\"Int64\" Name=\"connectivity\" format=\"appended\" offset=\"%llu\"/>\n",
     "        <DataArray type=\"Int64\" Name=\"offsets\" format=\"appended\" offset=\"%llu\"/>\n",
     "        <DataArray type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"%llu\"/>\n      </Cells>\n",
     "      <CellData>\n        <DataArray type=\"Int32\" Name=\"rank\" format=\"appended\" offset=\"%llu\"/>\n",
     "        <DataArray type=\"Float64\" Name=\"%s\" format=\"appended\" offset=\"%llu\"/>\n"};
  const int narrays = cellname ? HOPS_VTU_ARRAYS : HOPS_VTU_ARRAYS - 1;
  uint64_t  offset  = 0;

  PetscFunctionBegin;
  (void)fprintf(f,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"2.2\" byte_order=\"%s\" "
                "header_type=\"UInt64\">\n  <UnstructuredGrid>\n",
                order);
  for (PetscMPIInt r = 0; r < nranks; ++r) {
    uint64_t bytes[HOPS_VTU_ARRAYS];

    if (!sizes[2 * r + 1]) continue;
    HopsVTUSizes(sizes[2 * r], sizes[2 * r + 1], nc, np, narrays, bytes);
    (void)fprintf(f, "    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n", (long long)sizes[2 * r],
                  (long long)sizes[2 * r + 1]);
    for (int a = 0; a < narrays; ++a) {
      if (a == 1) (void)fprintf(f, "      <PointData %s=\"%s\">\n", nc == 1 ? "Scalars" : "Vectors", name);
      if (a == 1) (void)fprintf(f, format[a], name, nc == 1 ? "" : " NumberOfComponents=\"3\"", (unsigned long long)offset);
      else if (a == 6) (void)fprintf(f, format[a], cellname, (unsigned long long)offset);
      else (void)fprintf(f, format[a], (unsigned long long)offset);
      offset += bytes[a] + sizeof(uint64_t);
    }
    (void)fprintf(f, "      </CellData>\n    </Piece>\n");
  }
  (void)fprintf(f, "  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rank 0 writes the array of another rank, a chunk at a time, whatever the state of the file: the sender
   waits for it. */
static PetscErrorCode HopsVTUReceive(MPI_Comm comm, FILE *f, PetscMPIInt rank, PetscMPIInt tag, uint64_t bytes, char buffer[])
{
  PetscFunctionBegin;
  for (uint64_t done = 0; done < bytes; done += HOPS_VTU_CHUNK) {
    const uint64_t n = PetscMin(bytes - done, HOPS_VTU_CHUNK);

    PetscCallMPI(MPI_Recv(buffer, (PetscMPIInt)n, MPI_BYTE, rank, tag, comm, MPI_STATUS_IGNORE));
    (void)fwrite(buffer, 1, (size_t)n, f);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsVTUSend(MPI_Comm comm, PetscMPIInt tag, uint64_t bytes, const char data[])
{
  PetscFunctionBegin;
  for (uint64_t done = 0; done < bytes; done += HOPS_VTU_CHUNK)
    PetscCallMPI(MPI_Send(data + done, (PetscMPIInt)PetscMin(bytes - done, HOPS_VTU_CHUNK), MPI_BYTE, 0, tag, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays of all ranks, rank by rank, each behind its length in bytes */
static PetscErrorCode HopsVTUWriteArrays(MPI_Comm comm, PetscMPIInt tag, FILE *f, const HopsVTUPiece *v, const int64_t sizes[],
                                         int64_t np, int narrays)
{
  const char *const data[HOPS_VTU_ARRAYS] = {(const char *)v->points,  (const char *)v->u,     (const char *)v->connectivity,
                                             (const char *)v->offsets, (const char *)v->types, (const char *)v->rank,
                                             (const char *)v->cell};
  uint64_t          bytes[HOPS_VTU_ARRAYS], largest = 0;
  PetscMPIInt       rank, nranks;
  char             *buffer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  if (rank) {
    HopsVTUSizes(v->npoints, v->ncells, v->nc, np, narrays, bytes);
    for (int a = 0; a < narrays; ++a) PetscCall(HopsVTUSend(comm, tag, bytes[a], data[a]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscMPIInt r = 1; r < nranks; ++r) {
    HopsVTUSizes(sizes[2 * r], sizes[2 * r + 1], v->nc, np, narrays, bytes);
    for (int a = 0; a < narrays; ++a) largest = PetscMax(largest, bytes[a]);
  }
  PetscCall(PetscMalloc1(PetscMin(largest, HOPS_VTU_CHUNK), &buffer));
  for (PetscMPIInt r = 0; r < nranks; ++r) {
    if (!sizes[2 * r + 1]) continue;
    HopsVTUSizes(sizes[2 * r], sizes[2 * r + 1], v->nc, np, narrays, bytes);
    for (int a = 0; a < narrays; ++a) {
      (void)fwrite(&bytes[a], sizeof(uint64_t), 1, f);
      if (r) PetscCall(HopsVTUReceive(comm, f, r, tag, bytes[a], buffer));
      else (void)fwrite(data[a], 1, (size_t)bytes[a], f);
    }
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the file on rank 0, writes the pieces; failures of the file are errors on all ranks */
static PetscErrorCode HopsVTUWrite(HopsSpace sp, const HopsVTUPiece *v, const char name[], const char cellname[],
                                   const char filename[])
{
  const MPI_Comm comm     = PetscObjectComm((PetscObject)sp);
  const int64_t  np       = HopsPower(sp->order + 1, sp->dim);
  const int64_t  local[2] = {v->npoints, v->ncells};
  int64_t       *sizes    = NULL;
  FILE          *f        = NULL;
  int            ok       = 1;
  PetscMPIInt    rank, nranks, tag;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  PetscCall(PetscObjectGetNewTag((PetscObject)sp, &tag));
  if (!rank) {
    f  = fopen(filename, "wb");
    ok = f ? 1 : 0;
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, comm));
  PetscCheck(ok, comm, PETSC_ERR_FILE_OPEN, "Cannot open %s for writing: the folder must exist and be writable", filename);
  if (!rank) PetscCall(PetscMalloc1(2 * nranks, &sizes));
  PetscCallMPI(MPI_Gather(local, 2, MPI_INT64_T, sizes, 2, MPI_INT64_T, 0, comm));
  if (!rank) PetscCall(HopsVTUWriteHeader(f, name, cellname, nranks, sizes, v->nc, np));
  PetscCall(HopsVTUWriteArrays(comm, tag, f, v, sizes, np, cellname ? HOPS_VTU_ARRAYS : HOPS_VTU_ARRAYS - 1));
  if (!rank) {
    (void)fprintf(f, "\n  </AppendedData>\n</VTKFile>\n");
    ok = !ferror(f);
    ok = !fclose(f) && ok;
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, comm));
  PetscCheck(ok, comm, PETSC_ERR_FILE_WRITE, "Cannot write all of %s: the disk may be full", filename);
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsVTUFillCells(HopsSpace sp, PetscInt part, Vec cells, PetscReal v[])
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCheckCellVec(sp, cells));
  PetscCall(VecGetArrayRead(cells, &a));
  for (PetscInt c = 0; c < sp->ncells; ++c) v[c] = HopsScalarPart(a[sp->cell[c] - sp->cstart], part);
  PetscCall(VecRestoreArrayRead(cells, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cells and cellname may be NULL */
static PetscErrorCode HopsVTUViewPart(HopsSpace space, PetscInt part, Vec x, const char name[], Vec cells, const char cellname[],
                                      const char filename[])
{
  HopsVTUPiece     v  = {0};
  const PetscInt   np = HopsPower(space->order + 1, space->dim);
  const PetscReal *a;
  PetscReal       *xg;

  PetscFunctionBegin;
  v.ncells = space->ncells;
  v.nc     = space->family == HOPS_HCURL || space->family == HOPS_HDIV ? 3 : 1;
  PetscCall(PetscMalloc7(3 * v.ncells * np, &v.points, v.nc * v.ncells * np, &v.u, v.ncells * np, &v.connectivity, v.ncells,
                         &v.offsets, v.ncells, &v.types, v.ncells, &v.rank, v.ncells, &v.cell));
  if (cells) PetscCall(HopsVTUFillCells(space, part, cells, v.cell));
  PetscCall(PetscMalloc1(space->nL - space->nT, &xg));
  PetscCall(HopsHostVecGetPartRead(x, part, &a));
  PetscCall(HopsSpaceGlobalToLocal(space, part, a, xg));
  if (space->family == HOPS_H1) PetscCall(HopsVTUFill(space, a, xg, &v));
  else PetscCall(HopsVTUFillField(space, a, xg, &v));
  PetscCall(HopsHostVecRestorePartRead(x, part, &a));
  PetscCall(PetscFree(xg));
  PetscCall(HopsVTUWrite(space, &v, name, cellname, filename));
  PetscCall(PetscFree7(v.points, v.u, v.connectivity, v.offsets, v.types, v.rank, v.cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the imaginary part has a file of its own */
static PetscErrorCode HopsVTUView(HopsSpace space, Vec x, const char name[], Vec cells, const char cellname[],
                                  const char filename[])
{
  const char *end;
  char        imaginary[PETSC_MAX_PATH_LEN];
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCheckVec(space, x, "of the finite element function"));
  for (int k = 0; k < (cellname ? 2 : 1); ++k)
    PetscCheck(!strpbrk(k ? cellname : name, "\"<>&"), PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_WRONG,
               "The name %s has a character that XML reserves: leave out \", <, > and &", k ? cellname : name);
  PetscCall(HopsCount("numbers of the file's points", space->ncells, HopsPower(space->order + 1, space->dim), 3, &n));
  PetscCall(HopsVTUViewPart(space, 0, x, name, cells, cellname, filename));
  if (HOPS_PARTS == 1) PetscFunctionReturn(PETSC_SUCCESS);
  end = strrchr(filename, '.');
  if (!end) end = filename + strlen(filename);
  PetscCall(PetscSNPrintf(imaginary, sizeof(imaginary), "%.*s_imaginary%s", (int)(end - filename), filename, end));
  PetscCall(HopsVTUViewPart(space, 1, x, name, cells, cellname, imaginary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceViewVTU - Writes a finite element function, in its order and on its curved mesh, to a file for
  ParaView and VTK.

  Collective

  Input Parameters:
+ space    - the space
. x        - the vector of the function, as `HopsSpaceCreateVec()` makes it
. name     - the name of the point data
- filename - the file to write; VTK expects a name that ends in `.vtu`

  Level: beginner

  Notes:
  The file has one Lagrange cell of VTK (`VTK_LAGRANGE_QUADRILATERAL`, `VTK_LAGRANGE_HEXAHEDRON`) of the order
  of the space for each cell, with the values at equispaced points: interpolation there, nothing is lost for
  the function, and nothing for the geometry as long as the order of the space is not below that of the mesh.
  Its numbering is that of VTK 9 (file version 2.2), its arrays are binary. In ParaView, raise "Nonlinear
  Subdivision Level" to see the cells curved.

  Fields of H(curl) and H(div) are vectors of three components; these and fields of L2 jump between cells, so
  cells share no points.

  Essential values are those of `HopsSpaceSetEssentialFunction()`. Cell data `rank` is the MPI rank that owns
  the cell. The first rank writes the whole file, taking at most 64 MiB of another rank's data at a time.

  A file that cannot be opened or written is an error on all ranks.

  `HopsSpaceViewVTUCells()` adds a value for each cell.

  With complex scalars the file has the real part, and a second one, `_imaginary` before its `.vtu`, the
  imaginary part.

.seealso: `HopsSpace`, `HopsSpaceCreateVec()`, `HopsSpaceSetEssentialFunction()`, `HopsSpaceComputeL2Error()`
@*/
PetscErrorCode HopsSpaceViewVTU(HopsSpace space, Vec x, const char name[], const char filename[])
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidPointer(name, 3);
  HopsValidPointer(filename, 4);
  PetscCall(HopsVTUView(space, x, name, NULL, NULL, filename));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceViewVTUCells - Writes a finite element function, and a value for each cell, to a file for ParaView
  and VTK.

  Collective

  Input Parameters:
+ space    - the space
. x        - the vector of the function
. name     - the name of the point data
. cells    - the values of the cells, a vector of `HopsSpaceCreateCellVec()`, as estimates of the error
. cellname - their name
- filename - the file to write, see `HopsSpaceViewVTU()`

  Level: intermediate

.seealso: `HopsSpaceViewVTU()`, `HopsSpaceEstimateError()`, `HopsSpaceCreateCellVec()`
@*/
PetscErrorCode HopsSpaceViewVTUCells(HopsSpace space, Vec x, const char name[], Vec cells, const char cellname[],
                                     const char filename[])
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(x, VEC_CLASSID, 2);
  HopsValidPointer(name, 3);
  HopsValidHeader(cells, VEC_CLASSID, 4);
  HopsValidPointer(cellname, 5);
  HopsValidPointer(filename, 6);
  PetscCall(HopsVTUView(space, x, name, cells, cellname, filename));
  PetscFunctionReturn(PETSC_SUCCESS);
}
