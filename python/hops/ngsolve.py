"""-pc_type lor for NGSolve: hops.ngsolve.Inverse(a.mat, fes), or hops.ngsolve.attach(ksp, fes). Written for NGSolve 6.2.2608.

NGSolve's H1 has no nodes: its unknowns are values at vertices and coefficients of polynomials on edges, faces and cells. The space
that hops gets has Gauss-Lobatto nodes, and as many of them on each edge, face and cell, which take these unknowns' numbers. What
they have to do with each other is the transformation S, from values at nodes to unknowns.

Meshes may be distributed, as mpi4py's communicators have them in NGSolve.
"""

import functools
import itertools
import weakref

import ngsolve
import numpy as np
from petsc4py import PETSc

import hops

__all__ = ["Inverse", "attach", "matrix", "space", "transformation"]

VOL = ngsolve.VOL


def _refuse(mesh, why):
    """Where one rank has a reason all of them raise."""
    if mesh.comm.Max(1 if why else 0):
        raise ValueError(why or "another rank refused the space")


def _sides(dim):
    """Parts of a cell: for each direction 0 or 1, or None where the part extends; vertices first, the cell itself last."""
    return sorted(itertools.product((0, 1, None), repeat=dim), key=lambda side: side.count(None))


class _Rows:
    """Rows of PETSc's vectors and matrices of a space: rank r has a range of them, unknowns that ranks share belong to one."""

    def __init__(self, fes):
        parallel = fes.ParallelDofs() if fes.mesh.comm.size > 1 else None
        self.comm = fes.mesh.comm.mpi4py if parallel else PETSc.COMM_SELF
        self.numbers = np.array(parallel.EnumerateGlobally()[0] if parallel else range(fes.ndof), dtype=PETSc.IntType)
        self.mine = np.array(parallel.MasterDofs() if parallel else [True] * fes.ndof, dtype=bool)
        self.owned, self.total = int(self.mine.sum()), parallel.ndofglobal if parallel else fes.ndof
        self.start = int(self.numbers[self.mine].min()) if self.owned else 0
        self.fixed = ~np.array(fes.FreeDofs(), dtype=bool)
        self.at_fixed = self.numbers[self.fixed & self.mine] - self.start  # of this rank's arrays

    @property
    def size(self):
        return (self.owned, self.total), (self.owned, self.total)

    def vector(self):
        return PETSc.Vec().createMPI((self.owned, self.total), comm=self.comm)

    def to_petsc(self, v, x):
        """Of functionals, which ranks may have parts of, as of functions."""
        w = v.CreateVector()
        w.data = v
        if self.comm.size > 1:
            w.Cumulate()
        x.array[self.numbers[self.mine] - self.start] = w.FV().NumPy()[self.mine]

    def to_ngsolve(self, x, v):
        a = v.FV().NumPy()
        a[:] = 0.0
        a[self.mine] = x.array_r[self.numbers[self.mine] - self.start]
        if self.comm.size > 1:
            v.SetParallelStatus(ngsolve.la.PARALLEL_STATUS.DISTRIBUTED)
            v.Cumulate()


class _Kind:
    """What cells whose vertices' numbers are in the same order have in common, of one of them.

    S[i, j]: unknown i of the nodal function j, nodes x fastest; place[j]: the unknown whose number node j takes.
    """

    def __init__(self, element, dim, p, nodes, vertices):
        values = np.array([element.CalcShape(*x, *(0.0,) * (3 - dim)).NumPy() for x in nodes])  # of unknown j at node i
        S = np.linalg.inv(values)
        S[abs(S) < 1e-11 * abs(S).max()] = 0.0
        lattice = np.array(list(itertools.product(range(p + 1), repeat=dim)))[:, ::-1]
        # which vertex is at a corner: the function that is 1 there
        at = {c: vertices[np.argmax(values[(lattice == p * np.array(c)).all(axis=1)][0, : 2**dim])]
              for c in itertools.product((0, 1), repeat=dim)}
        self.S, self.place, used = S, np.full(len(nodes), -1), np.zeros(len(nodes), dtype=bool)
        for side in _sides(dim):
            closed = np.array([[s is None or x == s * p for s, x in zip(side, X)] for X in lattice]).all(axis=1)
            inside = closed & np.array([[s is not None or 0 < x < p for s, x in zip(side, X)] for X in lattice]).all(axis=1)
            # unknowns of a part follow from values on it alone, and those of its own parts were taken before
            rows = np.flatnonzero(~used & (S[:, ~closed] == 0.0).all(axis=1))
            if len(rows) != inside.sum():
                raise ValueError("hops does not know this basis: %d unknowns belong to a part with %d nodes"
                                 % (len(rows), inside.sum()))
            used[rows] = True
            self.place[np.flatnonzero(inside)[self._order(side, at, lattice[inside], p)]] = rows

    @staticmethod
    def _order(side, at, lattice, p):
        """Nodes of a part as all of its cells list them: from its least vertex, first towards that one's lesser neighbour."""
        axes = [d for d, s in enumerate(side) if s is None]
        if not axes:
            return np.arange(len(lattice))
        corners = [c for c in at if all(s is None or s == x for s, x in zip(side, c))]
        least = min(corners, key=at.get)
        step = lambda d: at[tuple(1 - x if k == d else x for k, x in enumerate(least))]
        axes.sort(key=step)
        away = [lattice[:, d] if least[d] == 0 else p - lattice[:, d] for d in axes]
        return np.lexsort(away)


class _Layout:
    """Numbers, nodes and transformations of the cells of an H1 space."""

    def __init__(self, fes):
        mesh = fes.mesh
        dim, p = mesh.dim, fes.globalorder
        types = {2: ngsolve.ET.QUAD, 3: ngsolve.ET.HEX}
        if type(fes) is not ngsolve.H1 or fes.dim != 1 or fes.is_complex:
            more = "(dim=%d)" % fes.dim if fes.dim != 1 else ", complex" if fes.is_complex else ""
            raise ValueError("hops takes H1 spaces with one real component, not %s%s: precondition components one by one"
                             % (type(fes).__name__, more))
        cells = list(mesh.Elements(VOL))
        n = (p + 1) ** dim
        why = None
        if dim not in types or any(e.type != types[dim] for e in cells):
            why = "hops takes meshes of quadrilaterals in 2D or hexahedra in 3D alone: MakeStructured2DMesh(quads=True)"
        elif any(len(fes.GetDofNrs(e)) != n for e in cells):
            why = "hops takes H1 spaces of one order on the whole mesh, not of several (SetOrder) or of a part (definedon)"
        elif not len(cells) and mesh.comm.size == 1:
            why = "hops takes meshes of quadrilaterals in 2D or hexahedra in 3D: this one has no cells in %dD" % dim
        _refuse(mesh, why)
        self.fes, self.mesh, self.dim, self.p, self.type = fes, mesh, dim, p, types[dim]
        z = np.concatenate([[-1.0], np.polynomial.legendre.Legendre.basis(p).deriv().roots().real, [1.0]]) if p > 1 else [-1.0, 1.0]
        z = 0.5 * (1.0 + np.asarray(z))
        self.nodes = np.array([x[::-1] for x in itertools.product(z, repeat=dim)])  # x fastest
        self.dofs = np.array([fes.GetDofNrs(e) for e in cells], dtype=np.int64).reshape(-1, n)
        self.vertices = np.array([[v.nr for v in e.vertices] for e in cells], dtype=np.int64).reshape(-1, 2**dim)
        self._find_kinds(cells)
        self.rows = _Rows(fes)

    def _find_kinds(self, cells):
        self.kinds, self.kind, why = [], np.zeros(len(cells), dtype=int), None
        order, self.kind = np.unique(np.argsort(self.vertices, axis=1), axis=0, return_inverse=True)
        try:
            for k in range(len(order)):
                c = int(np.argmax(self.kind == k))
                self.kinds.append(_Kind(self.fes.GetFE(cells[c]), self.dim, self.p, self.nodes, self.vertices[c]))
        except ValueError as error:
            why = str(error)
        _refuse(self.mesh, why)
        self.ids = self.dofs.copy()  # of nodes, local numbers
        for k, kind in enumerate(self.kinds):
            self.ids[self.kind == k] = self.dofs[self.kind == k][:, kind.place]

    def at_nodes(self, cf):
        """(cells, nodes[, components]) of a coefficient function, in the order of space()."""
        return self._right_handed(self._at_nodes(cf))

    def _right_handed(self, a):
        """Cells of both hands may meet in NGSolve, and not in hops: left-handed ones list their nodes y fastest."""
        lattice = np.arange((self.p + 1) ** self.dim).reshape((self.p + 1,) * self.dim)
        a = a.copy()
        a[self._left] = a[self._left][:, lattice.swapaxes(-1, -2).ravel()]
        return a

    @functools.cached_property
    def _left(self):
        along = [self._at_nodes(c) for c in (ngsolve.x, ngsolve.y, ngsolve.z)[: self.dim]]
        x = np.stack(along, axis=-1)
        edges = x[:, [self.p * (self.p + 1) ** d for d in range(self.dim)]] - x[:, :1]
        return np.linalg.det(edges) < 0.0

    def _at_nodes(self, cf):
        rule = ngsolve.IntegrationRule([tuple(x) for x in self.nodes], [1.0] * len(self.nodes))
        if not len(self.ids):
            return np.zeros(self.ids.shape + (cf.dim,) * (cf.dim > 1))
        values = np.asarray(cf(self.mesh.MapToAllElements({self.type: rule}, VOL)))
        return values.reshape(self.ids.shape + (cf.dim,) * (cf.dim > 1))

    def space(self):
        x = self.at_nodes(ngsolve.CF((ngsolve.x, ngsolve.y, ngsolve.z)[: self.dim]))
        ids = self._right_handed(self.rows.numbers[self.ids])
        return hops.Space(self.dim, self.p, ids, x, owned=self.rows.owned, comm=self.rows.comm)

    def transformation(self):
        at = self.rows
        unknown, first = np.unique(self.dofs, return_index=True)  # rows come from the first cell that has them
        unknown, first = unknown[at.mine[unknown]], first[at.mine[unknown]]
        cell, local = np.divmod(first, self.dofs.shape[1])
        rows, columns, values = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
        for k, kind in enumerate(self.kinds):
            of = self.kind[cell] == k
            i, j = np.nonzero(kind.S[local[of]])
            rows.append(at.numbers[unknown[of]][i])
            columns.append(at.numbers[self.ids[cell[of][i], j]])
            values.append(kind.S[local[of]][i, j])
        rows, columns, values = map(np.concatenate, (rows, columns, values))
        order = np.lexsort((columns, rows))
        ptr = np.searchsorted(rows[order], at.start + np.arange(at.owned + 1)).astype(PETSc.IntType)
        return PETSc.Mat().createAIJ(at.size, csr=(ptr, columns[order].astype(PETSc.IntType), values[order]), comm=at.comm)

    def coefficient(self, value):
        if not isinstance(value, ngsolve.CoefficientFunction):
            return value
        if value.dim != 1 or value.is_complex:
            raise ValueError("hops takes coefficients that are real and scalar, not of dimension %d" % value.dim)
        return self.at_nodes(value)


def space(fes):
    """The hops.Space of an H1 space: nodes, which have the unknowns' numbers in another order."""
    return _Layout(fes).space()


def transformation(fes):
    """S as a PETSc.Mat: from values at the nodes of space(fes) to NGSolve's unknowns."""
    return _Layout(fes).transformation()


def attach(ksp, fes, diffusion=None, mass=None):
    """Makes a KSP or PC one of type lor for an operator on fes, as matrix() makes it; returns the hops.Space.

    fes is H1 of any order on quadrilaterals or hexahedra. Coefficients are NGSolve's, or those of hops.attach(). They are 1 and 0
    where they are not told: the diagonal of a basis without nodes says nothing. Dirichlet rows are found in the operator.
    """
    layout = _Layout(fes)
    sp = layout.space()
    diffusion, mass = (layout.coefficient(c) for c in (diffusion, mass))
    hops.attach(ksp, sp, diffusion=diffusion, mass=mass, transformation=layout.transformation())
    return sp


class _Operator:
    """The context of a Python matrix: any operator of NGSolve, with rows of the identity for unknowns that are not free."""

    def __init__(self, mat, rows):
        self.mat, self.rows, self.u, self.v = mat, rows, mat.CreateRowVector(), mat.CreateColVector()

    def mult(self, A, x, y):
        self.rows.to_ngsolve(x, self.u)
        u = self.u.FV().NumPy()
        fixed = u[self.rows.fixed]
        u[self.rows.fixed] = 0.0
        self.v.data = self.mat * self.u
        self.rows.to_petsc(self.v, y)
        y.array[self.rows.at_fixed] = fixed[self.rows.mine[self.rows.fixed]]


def matrix(mat, fes, null=None):
    """A bilinear form's mat as a PETSc.Mat, with rows and columns of the identity for the unknowns of fes that are not free.

    Assembled matrices are copied. All others, as those of BilinearForm(fes, nonassemble=True), become Python matrices.
    null: a GridFunction that mat takes to zero, such as a constant where nothing else determines it.
    """
    A = _matrix(mat, fes)
    if null is not None:
        rows = _Rows(fes)
        x = rows.vector()
        rows.to_petsc(null.vec, x)
        x.normalize()
        A.setNullSpace(PETSc.NullSpace().create(vectors=[x], comm=rows.comm))
    return A


def _matrix(mat, fes):
    rows, local = _Rows(fes), mat.local_mat if fes.mesh.comm.size > 1 else mat
    if mat.is_complex or mat.height != fes.ndof:
        raise ValueError("hops takes real matrices with a row for each unknown of the space")
    if not hasattr(local, "CSR"):
        return PETSc.Mat().createPython(rows.size, _Operator(mat, rows), comm=rows.comm)
    values, columns, ptr = (np.asarray(a) for a in local.CSR())
    i, j = np.repeat(np.arange(fes.ndof), np.diff(ptr.astype(int))), columns
    if "Symmetric" in type(local).__name__:  # which stores one half
        values, i, j = np.append(values, values[i != j]), np.append(i, j[i != j]), np.append(j, i[i != j])
    inner = np.array([fes.CouplingType(d) == ngsolve.COUPLING_TYPE.LOCAL_DOF for d in range(fes.ndof)], dtype=bool)
    rest = inner & ~rows.fixed
    rest[i[values != 0.0]] = False
    why = "rows of unknowns inside of cells are zero, as static condensation leaves them: assemble without condense=True"
    _refuse(fes.mesh, why if rest.any() else None)
    keep = ~(rows.fixed[i] | rows.fixed[j])
    one = np.flatnonzero(rows.fixed)  # of shared ones, all but one get a zero
    values = np.concatenate([values[keep], rows.mine[one].astype(float)])
    i, j = np.concatenate([i[keep], one]), np.concatenate([j[keep], one])
    order = np.lexsort((j, i))
    csr = (np.searchsorted(i[order], np.arange(fes.ndof + 1)).astype(PETSc.IntType), j[order].astype(PETSc.IntType), values[order])
    local = PETSc.Mat().createAIJ((fes.ndof, fes.ndof), csr=csr, comm=PETSc.COMM_SELF)
    if rows.comm.size == 1:
        return local
    to_global = PETSc.LGMap().create(rows.numbers, comm=rows.comm)
    A = PETSc.Mat().createIS(rows.size, lgmapr=to_global, lgmapc=to_global, comm=rows.comm)
    A.setISLocalMat(local)
    A.assemble()
    return A.convert("aij")


class Inverse(ngsolve.BaseMatrix):
    """A solver as NGSolve has them: gfu.vec.data += Inverse(a.mat, fes) * residual.

    It is PETSc's, the attribute ksp, with the arguments of attach() and matrix(), and the options of PETSc with `prefix`. Where it
    does not converge it raises an error. With -ksp_type preonly it is a preconditioner for NGSolve's own solvers.
    """

    def __init__(self, mat, fes, diffusion=None, mass=None, null=None, prefix=None):
        super().__init__()
        self.mat, self.rows = mat, _Rows(fes)
        self.x, self.b = self.rows.vector(), self.rows.vector()
        self.ksp = PETSc.KSP().create(self.rows.comm)
        self.ksp.setOptionsPrefix(prefix)
        self.ksp.setOperators(matrix(mat, fes, null))
        attach(self.ksp, fes, diffusion, mass)
        self.ksp.setFromOptions()
        weakref.finalize(self, self.ksp.destroy)  # a Python matrix may not outlive the interpreter

    def Shape(self):
        return self.mat.shape

    def CreateVector(self, column):
        return self.mat.CreateColVector()

    def _solve(self, solve, x, y):
        self.rows.to_petsc(x, self.b)
        self.b.array[self.rows.at_fixed] = 0.0
        solve(self.b, self.x)
        if self.ksp.reason < 0:
            raise RuntimeError("the solver of hops.ngsolve.Inverse did not converge (reason %d, -ksp_converged_reason says more): "
                               "change its options, or take what it has with -ksp_convergence_test skip" % self.ksp.reason)
        self.rows.to_ngsolve(self.x, y)

    def Mult(self, x, y):
        self._solve(self.ksp.solve, x, y)

    def MultTrans(self, x, y):
        self._solve(self.ksp.solveTranspose, x, y)
