/* Cells and element maps of a DMPlex: nodal coordinates at GLL points, whatever the coordinate field's own
   nodes are. */
#include <hops/private/hopspleximpl.h>

PetscErrorCode HopsPlexGetCells(DM dm, HopsSpace sp)
{
  MPI_Comm             comm = PetscObjectComm((PetscObject)dm);
  const DMPolytopeType want = sp->dim == 2 ? DM_POLYTOPE_QUADRILATERAL : DM_POLYTOPE_HEXAHEDRON;
  PetscSF              sf;
  const PetscInt      *leaves;
  PetscInt             cStart, cEnd, depth, nleaves, bad = PETSC_INT_MAX, gbad;
  PetscBool           *remote;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(dm, &depth));
  PetscCheck(depth == sp->dim || depth < 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The mesh is not interpolated (depth %" PetscInt_FMT " in %" PetscInt_FMT
             "D): create it with edges and faces (-dm_plex_interpolate, DMPlexInterpolate())",
             depth, sp->dim);
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscCalloc1(cEnd - cStart, &remote));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &nleaves, &leaves, NULL));
  for (PetscInt l = 0; l < nleaves; ++l) {
    const PetscInt p = leaves ? leaves[l] : l;

    if (p >= cStart && p < cEnd) remote[p - cStart] = PETSC_TRUE;
  }
  sp->cstart  = cStart;
  sp->ncaller = cEnd - cStart;
  sp->ncells  = 0;
  PetscCall(PetscMalloc1(cEnd - cStart, &sp->cell));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    DMPolytopeType ct;

    PetscCall(DMPlexGetCellType(dm, c, &ct));
    if (ct == DM_POLYTOPE_FV_GHOST || remote[c - cStart]) continue;
    if (ct != want) bad = PetscMin(bad, c);
    sp->cell[sp->ncells++] = c;
  }
  PetscCall(PetscFree(remote));
  PetscCall(MPIU_Allreduce(&bad, &gbad, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(gbad == PETSC_INT_MAX, comm, PETSC_ERR_SUP,
             "Cell %" PetscInt_FMT " is not a %s: hops works on meshes of quadrilaterals or hexahedra alone; make one "
             "(-dm_plex_simplex 0, Gmsh's SubdivisionAlgorithm, or DMPlexTransform type refine_tobox)",
             gbad, sp->dim == 2 ? "quadrilateral" : "hexahedron");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMPlex's order of a cell's vertices as reference corners, for coordinates without a discretisation */
static const PetscInt HopsPlexVertex2[4] = {0, 1, 3, 2};
static const PetscInt HopsPlexVertex3[8] = {0, 2, 3, 1, 4, 5, 7, 6};

/*
  T[i][a*dimE+d]: value at E-vector node i of the map's d-th component for the a-th... coefficient of a
  coordinate closure. The coordinate field may have any nodes (Gmsh's are equispaced); a tabulation at the GLL
  points makes them ours.
*/
static PetscErrorCode HopsPlexTabulateCoordinates(DM cdm, HopsSpace sp, PetscInt nclosure, PetscReal *T[])
{
  const PetscInt dim  = sp->dim;
  PetscObject    disc = NULL;
  PetscClassId   id   = 0;
  PetscInt       P, np, nf;
  PetscReal     *gll, *w, *x;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(cdm, &nf));
  if (nf) {
    PetscCall(DMGetField(cdm, 0, NULL, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
  }
  P = HopsRoot(nclosure / dim, dim);
  PetscCheck(P >= 2 && HopsPower(P, dim) * dim == nclosure, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The coordinates of a cell have %" PetscInt_FMT " values, not those of a tensor-product map: use a coordinate field "
             "of tensor-product polynomials (-dm_coord_petscspace_degree)",
             nclosure);
  PetscCheck(id == PETSCFE_CLASSID || P == 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "High-order coordinates need a PetscFE on the coordinate DM: set one by DMProjectCoordinates() "
             "(-dm_coord_petscspace_degree)");
  np         = HopsPower(P, dim);
  sp->gorder = P - 1;
  PetscCall(PetscCalloc1(np * dim * nclosure, T)); /* [np][dim][nclosure] */
  if (id != PETSCFE_CLASSID) {
    const PetscInt *v = dim == 2 ? HopsPlexVertex2 : HopsPlexVertex3;

    for (PetscInt a = 0; a < np; ++a)
      for (PetscInt d = 0; d < dim; ++d) (*T)[(v[a] * dim + d) * nclosure + a * dim + d] = 1.0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(P, &gll, P, &w, np * dim, &x));
  PetscCall(HopsGLL(P, gll, w));
  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt d = 0, k = i; d < dim; ++d, k /= P) x[i * dim + d] = gll[k % P];
  {
    PetscTabulation tab;
    PetscInt        nb, nc;

    PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, np, x, 0, &tab));
    nb = tab->Nb;
    nc = tab->Nc;
    PetscCheck(nb == nclosure && nc == dim, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The coordinate field has %" PetscInt_FMT " basis functions of %" PetscInt_FMT
               " components where a cell has %" PetscInt_FMT " coordinates",
               nb, nc, nclosure);
    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt b = 0; b < nb; ++b)
        for (PetscInt d = 0; d < nc; ++d) (*T)[(i * dim + d) * nclosure + b] = tab->T[0][(i * nb + b) * nc + d];
    PetscCall(PetscTabulationDestroy(&tab));
  }
  PetscCall(PetscFree3(gll, w, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X[dim][np] of one cell: its closure of coordinates, tabulated */
static void HopsPlexMapCell(PetscInt dim, PetscInt n, const PetscReal T[], const PetscScalar coords[], PetscReal X[])
{
  const PetscInt np = n / dim;

  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal *t = T + (i * dim + d) * n;
      PetscReal        s = 0.0;

      for (PetscInt b = 0; b < n; ++b) s += t[b] * PetscRealPart(coords[b]);
      X[d * np + i] = s;
    }
}

/*
  The localised coordinates of a periodic mesh have the order of the continuous coordinate field if PETSc made
  them, and that of a discontinuous one if a mesh file did: in the wrong order the cell is inverted at its
  centre.
*/
static PetscErrorCode HopsPlexChooseCoordinateDM(DM dm, HopsSpace sp, PetscInt n, const PetscScalar coords[], DM *cdm)
{
  const PetscReal centre = 0.0;
  const PetscInt  dim    = sp->dim;
  PetscReal      *T, *X, *keep = sp->X, J[9], Ji[9];
  HopsBasis       geom;

  PetscFunctionBegin;
  PetscCall(HopsPlexTabulateCoordinates(*cdm, sp, n, &T));
  PetscCall(PetscMalloc1(n, &X));
  HopsPlexMapCell(dim, n, T, coords, X);
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 1, &centre, &geom));
  sp->X = X;
  PetscCall(HopsSpaceGetPoints(sp, &geom, 0, 1, NULL, J));
  sp->X = keep;
  if (!(HopsInverse(dim, J, Ji) > 0)) PetscCall(DMGetCellCoordinateDM(dm, cdm));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree(X));
  PetscCall(PetscFree(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement copies the discretisation of the coordinates, and fills in vertices alone: cells have too few
   coordinates for it */
static PetscErrorCode HopsPlexCoordinatesDropped(DM dm, HopsSpace sp, PetscBool *dropped)
{
  DM           cdm;
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nf, nb;

  PetscFunctionBegin;
  *dropped = PETSC_FALSE;
  PetscCall(DMGetCoordinateDM(dm, &cdm));
  PetscCall(DMGetNumFields(cdm, &nf));
  if (nf && sp->ncells) {
    PetscCall(DMGetField(cdm, 0, NULL, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
    if (id == PETSCFE_CLASSID) {
      const PetscScalar *array;
      PetscScalar       *coords = NULL;
      PetscBool          isDG;
      PetscInt           n;

      PetscCall(PetscFEGetDimension((PetscFE)disc, &nb));
      PetscCall(DMPlexGetCellCoordinates(dm, sp->cell[0], &isDG, &n, &array, &coords));
      *dropped = !isDG && n < nb && n == sp->dim * HopsPower(2, sp->dim) ? PETSC_TRUE : PETSC_FALSE;
      PetscCall(DMPlexRestoreCellCoordinates(dm, sp->cell[0], &isDG, &n, &array, &coords));
    }
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, dropped, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexGetGeometry(DM dm, HopsSpace sp)
{
  PetscInt   cdim, nclosure = 0;
  PetscReal *T    = NULL;
  PetscBool  isDG = PETSC_FALSE, lastDG = PETSC_FALSE, dropped, some;
  Vec        x;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(dm, &cdim));
  PetscCheck(cdim == sp->dim, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The mesh has dimension %" PetscInt_FMT " in a space of dimension %" PetscInt_FMT ": hops has no surface meshes",
             sp->dim, cdim);
  PetscCall(DMGetCoordinatesLocalSetUp(dm));
  PetscCall(DMGetCellCoordinatesLocalSetUp(dm));
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  some = x ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  PetscCheck(some, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The mesh has no coordinates: set them (DMSetCoordinatesLocal(), or a creator that takes vertices, such as "
             "DMPlexCreateFromCellListPetsc())");
  PetscCall(HopsPlexCoordinatesDropped(dm, sp, &dropped));
  if (dropped) {
    PetscCall(HopsPlexRefineGeometry(dm, sp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  sp->gorder = 1;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscScalar *array;
    PetscScalar       *coords = NULL;
    PetscInt           n;

    PetscCall(DMPlexGetCellCoordinates(dm, sp->cell[c], &isDG, &n, &array, &coords));
    if (!T || n != nclosure || isDG != lastDG) {
      DM cdm;

      PetscCheck(!sp->X || n == nclosure, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "Cell %" PetscInt_FMT " has %" PetscInt_FMT " coordinates where others have %" PetscInt_FMT
                 ": the order of the element maps must not vary",
                 sp->cell[c], n, nclosure);
      PetscCall(PetscFree(T));
      PetscCall(DMGetCoordinateDM(dm, &cdm));
      if (isDG) PetscCall(HopsPlexChooseCoordinateDM(dm, sp, n, coords, &cdm));
      PetscCall(HopsPlexTabulateCoordinates(cdm, sp, n, &T));
      nclosure = n;
      lastDG   = isDG;
      if (!sp->X) {
        PetscInt size;

        PetscCall(HopsCount("coordinates of the cells", sp->ncells, n, 1, &size));
        PetscCall(PetscMalloc1(size, &sp->X));
      }
    }
    HopsPlexMapCell(sp->dim, n, T, coords, sp->X + c * n);
    PetscCall(DMPlexRestoreCellCoordinates(dm, sp->cell[c], &isDG, &n, &array, &coords));
  }
  PetscCall(PetscFree(T));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &sp->gorder, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
