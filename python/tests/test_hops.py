"""hops from petsc4py alone. On one rank `pytest python/tests`, on several `mpiexec -n 3 pytest python/tests`."""

import numpy as np
import pytest
from petsc4py import PETSc

import hops

COMM = PETSc.COMM_WORLD


def gll(p):
    """Nodes and weights of Gauss-Lobatto quadrature on [-1, 1], and the derivatives of the nodes' polynomials there."""
    leg = np.polynomial.legendre
    c = np.zeros(p + 1)
    c[p] = 1.0
    z = np.concatenate([[-1.0], np.sort(np.real(leg.legroots(leg.legder(c)))), [1.0]])
    w = 2.0 / (p * (p + 1) * leg.legval(z, c) ** 2)
    d = np.zeros((p + 1, p + 1))
    for i in range(p + 1):
        for j in range(p + 1):
            if i != j:
                others = [k for k in range(p + 1) if k not in (i, j)]
                d[i, j] = np.prod((z[i] - z[others]) / (z[j] - z[others])) / (z[j] - z[i])
        d[i, i] = sum(1.0 / (z[i] - z[k]) for k in range(p + 1) if k != i)
    return z, w, d


class Box:
    """The cells of this rank of n x n cells of the unit square, x fastest: ids beyond 32 bits, coordinates, where
    the boundary is."""

    def __init__(self, p, n, nodes=None, left=False):
        self.p, self.n = p, n
        self.z, self.w, self.d = gll(p)
        rank, size = COMM.getRank(), COMM.getSize()
        cells = [c for c in range(n * n) if c * size // (n * n) == rank]
        i = np.arange((p + 1) ** 2)
        ix = np.array([c % n * p + i % (p + 1) for c in cells]).reshape(-1, len(i))
        iy = np.array([c // n * p + i // (p + 1) for c in cells]).reshape(-1, len(i))
        line = (np.arange(n)[:, None] + 0.5 * (self.z[None, :-1] + 1.0)).ravel() / n
        line = np.append(line, 1.0)
        self.ids = (iy * (n * p + 1) + ix) * 8589934592 - 77
        self.coords = np.stack([line[ix], line[iy]], axis=-1)
        self.wall = (ix % (n * p) == 0) | (iy % (n * p) == 0)
        self.weights = np.broadcast_to(np.kron(self.w, self.w) / (2.0 * n) ** 2, ix.shape)

    def space(self, **kwargs):
        return hops.Space(2, self.p, self.ids, self.coords, **kwargs)

    def stiffness(self, u):
        """-laplace u, cell by cell, with coefficient 1."""
        k = self.d.T @ np.diag(self.w) @ self.d
        v = u.reshape(-1, self.p + 1, self.p + 1)
        r = np.einsum("y,xk,cyk->cyx", self.w, k, v) + np.einsum("x,yk,ckx->cyx", self.w, k, v)
        return r.reshape(u.shape)


class Operator:
    """A code's own operator, with rows of the identity at the boundary."""

    def __init__(self, box, space):
        self.box, self.space = box, space

    def mult(self, mat, x, y):
        u = self.space.to_elements(x)
        r = self.box.stiffness(np.where(self.box.wall, 0.0, u))
        self.space.from_elements(np.where(self.box.wall, 0.0, r), y)
        z = x.duplicate()
        self.space.from_elements(np.where(self.box.wall, u, 0.0), z, add=False)
        y.axpy(1.0, z)


def python_matrix(box, space):
    n, N = space.sizes
    return PETSc.Mat().createPython([(n, N), (n, N)], context=Operator(box, space), comm=COMM)


def solve(A, b, attach=None, rtol=1e-10):
    """The solver is PETSc's, and knows of hops by its type alone."""
    ksp = PETSc.KSP().create(COMM)
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.setTolerances(rtol=rtol)
    ksp.getPC().setType("lor")
    if attach:
        attach(ksp)
    x = b.duplicate()
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    return x, ksp.getIterationNumber()


def right_hand_side(box, space, f):
    b = space.create_vec()
    space.from_elements(np.where(box.wall, 0.0, box.weights * f(box.coords)), b)
    return b


def sines(x):
    return np.sin(np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])


def largest(e):
    return COMM.tompi4py().allreduce(np.max(np.abs(e), initial=0.0), op=max)


@pytest.mark.parametrize("p", [3, 6, 9])
def test_own_operator(p):
    box = Box(p, 6)
    space = box.space()
    A = python_matrix(box, space)
    hops.attach(A, space)
    x, its = solve(A, right_hand_side(box, space, lambda x: 2.0 * np.pi**2 * sines(x)))
    assert its <= 16
    assert largest(space.to_elements(x) - sines(box.coords)) < (1e-4 if p == 3 else 1e-7)


def test_the_matrix_keeps_the_space():
    box = Box(4, 4)
    space = box.space()
    A = space_free = python_matrix(box, space)
    hops.attach(A, space)
    b = right_hand_side(box, space, sines)
    A.getPythonContext().space = box.space()  # the operator's own
    del space
    _, its = solve(space_free, b)
    assert its <= 16


@pytest.mark.parametrize("name", ["vtk", "dealii", "dolfinx", "gmsh"])
def test_orders_of_nodes(name):
    p = 5
    perm = hops.node_order(2, p, name)
    z = gll(p)[0]
    points = np.stack([z[perm % (p + 1)], z[perm // (p + 1)]], axis=-1)
    assert np.array_equal(hops.node_order(2, p, points), perm)
    assert np.array_equal(hops.node_order(2, p, 0.5 * (points + 1.0)), perm)
    box = Box(p, 3)
    space = box.space()
    other = hops.Space(2, p, box.ids[:, perm], box.coords[:, perm], nodes=name)
    assert np.array_equal(other.numbers, space.numbers[:, perm])
    x = space.create_vec()
    x.setRandom()
    assert np.array_equal(other.to_elements(x), space.to_elements(x)[:, perm])


def test_elements_of_components():
    box = Box(3, 3)
    space = box.space()
    n, N = space.sizes
    x = PETSc.Vec().createMPI((2 * n, 2 * N), bsize=2, comm=COMM)
    x.setRandom()
    e = space.to_elements(x)
    assert e.shape == box.ids.shape + (2,)
    y = x.duplicate()
    space.from_elements(e, y, add=False)
    y.axpy(-1.0, x)
    assert y.norm() == 0.0
    space.from_elements(e, y)
    z = x.duplicate()
    z.setValuesBlocked(space.numbers.ravel(), e.ravel(), addv=True)
    z.assemble()
    z.axpy(-1.0, y)
    assert z.norm() < 1e-13 * y.norm()


def test_matpa_and_its_assembly():
    box = Box(4, 4)
    wall = box.ids[box.wall]
    space = box.space(essential=wall)
    kappa = lambda x: 1.0 + x[..., 0]
    A = hops.matpa(space, diffusion=kappa, mass=0.5)
    b = space.create_vec()
    b.setRandom()
    x, its = solve(A, b)
    assert its <= 20
    ksp = PETSc.KSP().create(COMM)
    ksp.setOperators(A.convert("aij", PETSc.Mat()))
    ksp.setType("preonly")
    ksp.getPC().setType("lu")
    if COMM.getSize() > 1:
        ksp.getPC().setFactorSolverType("mumps")
    y = b.duplicate()
    ksp.solve(b, y)
    y.axpy(-1.0, x)
    assert y.norm() < 1e-7 * x.norm()


def test_coefficients_that_jump():
    box = Box(4, 8)
    right = box.coords.mean(axis=1)[:, 0] > 0.5
    kappa = np.where(right, 1e4, 1.0)
    A = hops.matpa(box.space(essential=box.ids[box.wall]), diffusion=kappa).convert("aij", PETSc.Mat())
    space = box.space()
    b = space.create_vec()
    b.setRandom()
    told = [solve(A, b, lambda ksp: hops.attach(ksp, space, diffusion=k))[1]
            for k in (kappa, np.repeat(kappa[:, None], 25, axis=1))]
    untold = solve(A, b, lambda ksp: hops.attach(ksp, space))[1]
    assert told[0] == told[1] <= 20 < untold <= 60


def test_a_mass_alone_and_calls_that_follow():
    box = Box(4, 6)
    A = hops.matpa(box.space(), diffusion=1.0, mass=0.5).convert("aij", PETSc.Mat())
    space = box.space()
    b = space.create_vec()
    b.setRandom()
    both, alone = [solve(A, b, lambda ksp: hops.attach(ksp, space, mass=0.5, **k))[1] for k in ({"diffusion": 1.0}, {})]
    assert both == alone <= 20

    kappa = lambda x: 10.0 ** (4.0 * x[..., 0])
    A = hops.matpa(box.space(essential=box.ids[box.wall]), diffusion=kappa).convert("aij", PETSc.Mat())

    def twice(ksp):
        hops.attach(ksp, space, diffusion=1.0)
        hops.attach(ksp, space)

    told, again = solve(A, b, lambda ksp: hops.attach(ksp, space, diffusion=1.0))[1], solve(A, b, twice)[1]
    assert again == solve(A, b, lambda ksp: hops.attach(ksp, space))[1] < told


def test_diagonal_operator():
    box = Box(1, 2)
    space = box.space()
    A = python_matrix(box, space)
    b = space.create_vec()
    b.setRandom()
    x, its = solve(A, b, lambda ksp: hops.attach(ksp, space))
    r = b.duplicate()
    A.mult(x, r)
    r.axpy(-1.0, b)
    assert its <= 2 and r.norm() < 1e-9 * b.norm()


def test_transformation():
    box = Box(4, 4)
    A = hops.matpa(box.space(essential=box.ids[box.wall]), diffusion=1.0).convert("aij", PETSc.Mat())
    space = box.space()
    b = space.create_vec()
    b.setRandom()
    plain = solve(A, b, lambda ksp: hops.attach(ksp, space))[1]
    s = space.create_vec()
    s.setRandom()
    s.shift(0.1)
    S = A.duplicate()
    S.zeroEntries()
    S.setDiagonal(s)
    s.reciprocal()
    B = A.copy()
    B.diagonalScale(s, s)
    b.pointwiseMult(b, s)
    x, its = solve(B, b, lambda ksp: hops.attach(ksp, space, diffusion=1.0, transformation=S))
    assert its <= plain + 2
    r = b.duplicate()
    B.mult(x, r)
    r.axpy(-1.0, b)
    assert r.norm() < 1e-6 * b.norm()


def test_eigenvalues():
    """By SLEPc, matrix-free: those of the square are pi^2 (i^2 + j^2). Rows of essential unknowns have 1e6."""
    slepc = pytest.importorskip("slepc4py.SLEPc")
    box = Box(4, 3)
    space = box.space(essential=box.ids[box.wall])
    A, M = hops.matpa(space, diffusion=1.0), hops.matpa(space, diffusion=0.0, mass=1.0)
    M.zeroRows(np.unique(space.numbers[box.wall]).astype(PETSc.IntType), 1e-6)
    eps = slepc.EPS().create(COMM)
    eps.setOperators(A, M)
    eps.setProblemType(slepc.EPS.ProblemType.GHEP)
    eps.setType("lobpcg")
    eps.setDimensions(3)
    eps.getST().getKSP().getPC().setType("lor")
    eps.solve()
    values = [eps.getEigenvalue(i).real / np.pi**2 for i in range(3)]
    assert np.allclose(values, [2.0, 5.0, 5.0], rtol=2e-5), values
    assert eps.getIterationNumber() < 30


def test_errors():
    box = Box(4, 2)
    space = box.space()
    A = python_matrix(box, space)
    with pytest.raises(TypeError, match="KSP or a PC"):
        hops.attach(A, space, diffusion=1.0)
    with pytest.raises(TypeError, match="Mat, DM, KSP or PC"):
        hops.attach(space.create_vec(), space)
    with pytest.raises(ValueError, match="coefficient"):
        hops.matpa(space, diffusion=np.ones(3 if len(box.ids) != 3 else 4))
    with pytest.raises(TypeError, match="ids are integers"):
        hops.Space(2, 4, np.zeros(box.ids.shape), np.zeros(box.coords.shape))
    with pytest.raises(TypeError, match="essential are integers"):
        box.space(essential=[0.5])
    with pytest.raises(ValueError, match="shape"):
        hops.node_order(2, 3, np.zeros((4, 2)))
    with pytest.raises(PETSc.Error, match="equispaced"):
        hops.node_order(2, 3, np.array([[i % 4 / 3, i // 4 / 3] for i in range(16)]))
    with pytest.raises(PETSc.Error, match="lattice"):
        hops.Space(2, 4, box.ids, box.coords, nodes="vtk")
