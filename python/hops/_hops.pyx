# cython: language_level=3
"""The calls of hops that other codes need, on objects of petsc4py."""

from libc.stdint cimport int64_t, uintptr_t
from petsc4py.PETSc cimport Object, Vec, PetscVec, Mat, PetscMat, KSP, PC, PetscPC, DM, PetscDM
from petsc4py.PETSc cimport MPI_Comm, GetComm, GetCommDefault

import numpy as np
from petsc4py import PETSc

cdef extern from "hops.h":
    ctypedef int PetscErrorCode
    ctypedef int PetscBool
    ctypedef int InsertMode
    ctypedef long PetscInt
    ctypedef double PetscReal
    ctypedef double PetscScalar
    ctypedef int64_t PetscInt64
    struct _p_HopsSpace
    ctypedef _p_HopsSpace *HopsSpace
    struct _p_HopsCoefficient
    ctypedef _p_HopsCoefficient *HopsCoefficient
    InsertMode ADD_VALUES, INSERT_VALUES
    PetscInt PETSC_DECIDE

    PetscErrorCode HopsInitialize()
    PetscErrorCode PetscFinalized(PetscBool *)
    PetscErrorCode HopsGetNodeOrder(PetscInt, PetscInt, const char *, PetscInt *)
    PetscErrorCode HopsGetNodeOrderFromPoints(PetscInt, PetscInt, const PetscReal *, PetscInt *)
    PetscErrorCode HopsSpaceCreateFromNodes(MPI_Comm, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt64 *, const PetscInt *,
                                            const PetscReal *, PetscInt, const PetscInt64 *, HopsSpace *)
    PetscErrorCode HopsSpaceDestroy(HopsSpace *)
    PetscErrorCode HopsSpaceView(HopsSpace, void *)
    PetscErrorCode HopsSpaceGetSizes(HopsSpace, PetscInt *, PetscInt *)
    PetscErrorCode HopsSpaceGetNodeNumbers(HopsSpace, PetscInt *)
    PetscErrorCode HopsSpaceCreateVec(HopsSpace, PetscVec *)
    PetscErrorCode HopsSpaceGlobalToElements(HopsSpace, PetscVec, PetscScalar *)
    PetscErrorCode HopsSpaceElementsToGlobal(HopsSpace, const PetscScalar *, InsertMode, PetscVec)
    PetscErrorCode HopsCoefficientCreateConstant(MPI_Comm, PetscInt, const PetscScalar *, HopsCoefficient *)
    PetscErrorCode HopsCoefficientCreateCell(HopsSpace, PetscInt, const PetscScalar *, HopsCoefficient *)
    PetscErrorCode HopsCoefficientCreateNodal(HopsSpace, PetscInt, const PetscScalar *, HopsCoefficient *)
    PetscErrorCode HopsCoefficientDestroy(HopsCoefficient *)
    PetscErrorCode MatSetHopsSpace(PetscMat, HopsSpace)
    PetscErrorCode DMSetHopsSpace(PetscDM, HopsSpace)
    PetscErrorCode MatCreatePA(HopsSpace, PetscMat *)
    PetscErrorCode MatPASetDiffusion(PetscMat, HopsCoefficient)
    PetscErrorCode MatPASetMass(PetscMat, HopsCoefficient)
    PetscErrorCode PCLORSetSpace(PetscPC, HopsSpace)
    PetscErrorCode PCLORSetCoefficients(PetscPC, HopsCoefficient, HopsCoefficient)
    PetscErrorCode PCLORSetElasticity(PetscPC, HopsCoefficient, HopsCoefficient)
    PetscErrorCode PCLORSetProlongation(PetscPC, PetscMat)
    PetscErrorCode PCLORSetTransformation(PetscPC, PetscMat)


cdef int nodes_of_cell(int dim, int order):
    return <int>((order + 1) ** dim)  # Cython 3 makes a float of a power of integers


cdef int check(PetscErrorCode ierr) except -1:
    if ierr:
        raise PETSc.Error(ierr)
    return 0


cdef void *address(a):
    """Of an array's memory, which the caller keeps alive; NULL for None."""
    return NULL if a is None else <void *><uintptr_t>a.ctypes.data


check(HopsInitialize())


def node_order(dim, order, nodes):
    """The place in the lattice of a cell, x fastest, of each node in a code's order.

    nodes: a name ("vtk", "dealii", "dolfinx", "gmsh", "nek", "lexicographic"), or the nodes of the code's reference cell, an array
    of shape ((order + 1)**dim, dim) in [0, 1] or [-1, 1].
    """
    perm = np.empty(nodes_of_cell(dim, order), dtype=PETSc.IntType)
    if isinstance(nodes, str):
        name = nodes.encode()
        check(HopsGetNodeOrder(dim, order, name, <PetscInt *>address(perm)))
    else:
        points = np.ascontiguousarray(nodes, dtype=PETSc.RealType)
        if points.shape != (len(perm), dim):
            raise ValueError("the nodes of a reference cell of order %d in %dD have shape %s, not %s"
                             % (order, dim, (len(perm), dim), points.shape))
        check(HopsGetNodeOrderFromPoints(dim, order, <PetscReal *>address(points), <PetscInt *>address(perm)))
    return perm


cdef class Space:
    """A high-order space on quadrilaterals or hexahedra, from node ids and coordinates.

    dim, order: 2 or 3; the polynomial order
    ids:        (cells, nodes) id of each node of each cell of this rank, 64-bit integers that ranks share
    coords:     (cells, nodes, dim) where the nodes are
    nodes:      the order in which a cell's nodes are listed, as in node_order(); None: lexicographic, x fastest
    owned:      None: ids are any numbers, and hops finds who owns them; else the number of unknowns that this rank owns, and ids
                are global indices of vectors
    essential:  ids of Dirichlet unknowns; None: they are found in the operator
    comm:       an MPI communicator, PETSc's default one where it is None
    """

    cdef HopsSpace space
    cdef MPI_Comm comm
    cdef readonly int dim, order
    cdef readonly object coords, shape

    def __cinit__(self, *args, **kwargs):
        self.space = NULL

    def __init__(self, int dim, int order, ids, coords, nodes=None, owned=None, essential=None, comm=None):
        n = nodes_of_cell(dim, order)
        for name, a in (("ids", np.asarray(ids)), ("essential", np.asarray([] if essential is None else essential))):
            if a.size and a.dtype.kind not in "iu":
                raise TypeError("%s are integers, not of type %s" % (name, a.dtype))
        ids = np.ascontiguousarray(ids, dtype=np.int64).reshape(-1, n)
        coords = np.ascontiguousarray(coords, dtype=PETSc.RealType).reshape(-1, n, dim)
        if len(ids) != len(coords):
            raise ValueError("there are ids of %d cells and coordinates of %d" % (len(ids), len(coords)))
        perm = None if nodes is None else node_order(dim, order, nodes)
        ess = np.ascontiguousarray([] if essential is None else essential, dtype=np.int64)
        self.comm = GetComm(comm, GetCommDefault())
        self.dim, self.order, self.coords, self.shape = dim, order, coords, ids.shape
        check(HopsSpaceCreateFromNodes(self.comm, dim, order, len(ids), PETSC_DECIDE if owned is None else owned,
                                       <PetscInt64 *>address(ids), <PetscInt *>address(perm),
                                       <PetscReal *>address(coords), len(ess),
                                       <PetscInt64 *>address(ess), &self.space))

    def __dealloc__(self):
        cdef PetscBool finalized = 1
        if self.space != NULL:
            PetscFinalized(&finalized)
            if not finalized:
                HopsSpaceDestroy(&self.space)

    @property
    def sizes(self):
        """The unknowns of this rank, and of all."""
        n = np.empty(2, dtype=PETSc.IntType)
        check(HopsSpaceGetSizes(self.space, <PetscInt *>address(n), <PetscInt *>address(n[1:])))
        return int(n[0]), int(n[1])

    @property
    def numbers(self):
        """(cells, nodes) the index of each node in vectors and matrices."""
        numbers = np.empty(self.shape, dtype=PETSc.IntType)
        check(HopsSpaceGetNodeNumbers(self.space, <PetscInt *>address(numbers)))
        return numbers

    def create_vec(self):
        """A vector of the space."""
        cdef Vec v = PETSc.Vec()
        check(HopsSpaceCreateVec(self.space, &v.vec))
        return v

    def to_elements(self, Vec x):
        """(cells, nodes[, components]) the values of a vector, in the caller's order."""
        size = self.sizes[1]
        nc = x.getSize() // size if size and x.getSize() % size == 0 else 1
        e = np.zeros(self.shape if nc == 1 else self.shape + (nc,), dtype=PETSc.ScalarType)
        check(HopsSpaceGlobalToElements(self.space, x.vec, <PetscScalar *>address(e)))
        return e

    def from_elements(self, e, Vec x, add=True):
        """x becomes the sums of the values of all cells (of residuals), or, add=False, one of them (of fields)."""
        size = self.sizes[1]
        nc = x.getSize() // size if size and x.getSize() % size == 0 else 1
        e = np.ascontiguousarray(e, dtype=PETSc.ScalarType)
        if e.size != self.shape[0] * self.shape[1] * nc:
            raise ValueError("there are %d values for %d cells of %d nodes with %d components" % (e.size, *self.shape, nc))
        check(HopsSpaceElementsToGlobal(self.space, <PetscScalar *>address(e), ADD_VALUES if add else INSERT_VALUES, x.vec))

    def view(self):
        check(HopsSpaceView(self.space, NULL))

    cdef HopsCoefficient coefficient(self, value) except? NULL:
        """NULL for None; a number; a value for each cell, or for each node; a function of coordinates (cells, nodes, dim)."""
        cdef HopsCoefficient cf = NULL
        if value is None:
            return NULL
        if callable(value):
            value = np.broadcast_to(value(self.coords), self.shape)
        v = np.ascontiguousarray(value, dtype=PETSc.ScalarType)
        if np.ndim(value) == 0:
            check(HopsCoefficientCreateConstant(self.comm, 1, <PetscScalar *>address(v), &cf))
        elif v.shape == self.shape[:1]:
            check(HopsCoefficientCreateCell(self.space, 1, <PetscScalar *>address(v), &cf))
        elif v.shape == self.shape:
            check(HopsCoefficientCreateNodal(self.space, 1, <PetscScalar *>address(v), &cf))
        else:
            raise ValueError("a coefficient is a number, %d values of cells or %s of nodes, not %s"
                             % (self.shape[0], self.shape, v.shape))
        return cf


def attach(obj, Space space, diffusion=None, mass=None, elasticity=None, prolongation=None, transformation=None):
    """Tells the space of an operator, so that `-pc_type lor` finds it.

    obj: a Mat or a DM, which carry the space to whatever solver gets them; or a KSP or PC, which become one of type lor. These take
    what else is known: coefficients (a number, an array of cells or of nodes, a function of coordinates), of elasticity Lame's two,
    and how the operator's unknowns and the space's belong together, see PCLORSetProlongation() and PCLORSetTransformation(). Each
    call says all: what an earlier one told is forgotten. A mass alone goes with a diffusion of 1; diffusion=0 is none.
    """
    cdef HopsCoefficient k, c
    cdef Mat P
    rest = (diffusion, mass, elasticity, prolongation, transformation)
    if isinstance(obj, PETSc.KSP):
        obj = obj.getPC()
    if isinstance(obj, PETSc.PC):
        obj.setType("lor")
        check(PCLORSetSpace((<PC>obj).pc, space.space))
        # what the last call told and this one does not is cleared; what options told is not
        now = [r is not None for r in rest]
        say = [a or b for a, b in zip(now, obj.getAttr("hops.attach") or now)]
        obj.setAttr("hops.attach", now)
        if mass is not None and elasticity is None:
            if diffusion is None:
                diffusion = 1.0
            elif not callable(diffusion) and np.ndim(diffusion) == 0 and diffusion == 0:
                diffusion = None
        if say[0] or say[1]:
            k = space.coefficient(diffusion)
            c = space.coefficient(mass)
            check(PCLORSetCoefficients((<PC>obj).pc, k, c))
            check(HopsCoefficientDestroy(&k))
            check(HopsCoefficientDestroy(&c))
        if say[2]:
            k = space.coefficient(None if elasticity is None else elasticity[0])
            c = space.coefficient(None if elasticity is None else elasticity[1])
            check(PCLORSetElasticity((<PC>obj).pc, k, c))
            check(HopsCoefficientDestroy(&k))
            check(HopsCoefficientDestroy(&c))
        if say[3]:
            P = prolongation
            check(PCLORSetProlongation((<PC>obj).pc, NULL if P is None else P.mat))
        if say[4]:
            P = transformation
            check(PCLORSetTransformation((<PC>obj).pc, NULL if P is None else P.mat))
    elif any(r is not None for r in rest):
        raise TypeError("coefficients, prolongations and transformations are given to a KSP or a PC, not to a %s"
                        % type(obj).__name__)
    elif isinstance(obj, PETSc.Mat):
        check(MatSetHopsSpace((<Mat>obj).mat, space.space))
    elif isinstance(obj, PETSc.DM):
        check(DMSetHopsSpace((<DM>obj).dm, space.space))
    else:
        raise TypeError("a space is attached to a Mat, DM, KSP or PC, not to a %s" % type(obj).__name__)


def matpa(Space space, diffusion=None, mass=None):
    """A matrix-free operator of type pa: int diffusion grad u . grad v + mass u v, with coefficients as attach() takes them."""
    cdef HopsCoefficient k, c
    cdef Mat A = PETSc.Mat()
    check(MatCreatePA(space.space, &A.mat))
    k = space.coefficient(diffusion)
    c = space.coefficient(mass)
    if k != NULL:
        check(MatPASetDiffusion(A.mat, k))
    if c != NULL:
        check(MatPASetMass(A.mat, c))
    check(HopsCoefficientDestroy(&k))
    check(HopsCoefficientDestroy(&c))
    return A
