"""hops.ngsolve on NGSolve's own matrices, against NGSolve's direct solver; on several ranks the meshes are distributed."""

import itertools

import netgen.meshing as meshing
import numpy as np
import pytest
from mpi4py import MPI
from ngsolve import *
from ngsolve.meshes import MakeStructured2DMesh, MakeStructured3DMesh
from petsc4py import PETSc

import hops.ngsolve

COMM = MPI.COMM_WORLD
serial = pytest.mark.skipif(COMM.size > 1, reason="one rank")


def distributed(mesh):
    """A mesh of rank 0, on all others: these have the cells."""
    if COMM.size == 1:
        return mesh
    if COMM.rank == 0:
        mesh.ngmesh.Distribute(COMM)
        return Mesh(mesh.ngmesh)
    return Mesh(meshing.Mesh.Receive(COMM))


def box(dim, n):
    return distributed(MakeStructured2DMesh(True, n, n) if dim == 2 else MakeStructured3DMesh(True, n))


def curved(dim, n):
    mesh = box(dim, n)
    bend = GridFunction(VectorH1(mesh, order=3))
    moves = (0.1 * y * (1 - y) * x, 0.1 * x * x * (1 - x), 0.05 * x * y * z)
    bend.Set(CF(moves[:dim]))
    mesh.SetDeformation(bend)
    mesh.bend = bend
    return mesh


def turns(dim):
    """Rotations of a cell: for each corner of a lattice, x fastest, that which comes in its place."""
    found = []
    for axes in itertools.permutations(range(dim)):
        for flips in itertools.product((0, 1), repeat=dim):
            M = np.zeros((dim, dim))
            M[range(dim), axes] = 1 - 2 * np.array(flips)
            if np.linalg.det(M) > 0:
                corners = [c[::-1] for c in itertools.product((0, 1), repeat=dim)]
                to = lambda c: tuple(c[a] ^ f for a, f in zip(axes, flips))
                found.append([corners.index(to(c)) for c in corners])
    return found


def turned(dim, n, seed=1, mirror=False):
    """A box, its cells turned at random, its vertices numbered at random: all ways in which cells meet; some left-handed."""
    random = np.random.default_rng(seed)
    mesh = meshing.Mesh(dim=dim)
    shape = (n + 1,) * dim
    order = random.permutation((n + 1) ** dim)
    points = np.empty(len(order), dtype=object)
    for i in order:
        x = np.array(np.unravel_index(i, shape)) / n
        x += 0.1 / n * np.sin(3 * x[::-1])
        points[i] = mesh.Add(meshing.MeshPoint(meshing.Pnt(*x, *(0,) * (3 - dim))))
    round = (0, 1, 3, 2) if dim == 2 else (0, 1, 3, 2, 4, 5, 7, 6)  # netgen's order of vertices
    element = meshing.Element2D if dim == 2 else meshing.Element3D
    ways = turns(dim)
    if dim == 2:
        mesh.Add(meshing.FaceDescriptor(surfnr=1, domin=1, bc=1))
    for cell in itertools.product(range(n), repeat=dim):
        corners = [points[np.ravel_multi_index(np.add(cell, c[::-1]), shape)] for c in itertools.product((0, 1), repeat=dim)]
        way = ways[random.integers(len(ways))]
        if mirror and random.integers(2):
            way = [way[i & 4 | (i & 1) << 1 | (i & 2) >> 1] for i in range(len(way))]  # x and y exchanged
        mesh.Add(element(1, [corners[way[i]] for i in round]))
    walls(mesh, dim, n, points, shape)
    return Mesh(mesh)


def walls(mesh, dim, n, points, shape):
    """Boundary conditions 1 (where x = 0) and 2."""
    if dim == 3:
        for bc in (1, 2):
            mesh.Add(meshing.FaceDescriptor(surfnr=bc, domin=1, bc=bc))
    for axis, end in itertools.product(range(dim), (0, n)):
        index = 1 if axis == 0 and end == 0 else 2
        for cell in itertools.product(range(n), repeat=dim - 1):
            around = ((0,), (1,)) if dim == 2 else ((0, 0), (1, 0), (1, 1), (0, 1))
            at = lambda c: np.insert(np.add(cell, c), axis, end)
            nodes = [points[np.ravel_multi_index(at(c), shape)] for c in around]
            mesh.Add(meshing.Element1D(nodes, index=index) if dim == 2 else meshing.Element2D(index, nodes))


def direct(a, fes, f):
    """NGSolve's own solution."""
    u = GridFunction(fes)
    kind = "masterinverse" if COMM.size > 1 else "sparsecholesky"
    u.vec.data = a.mat.Inverse(fes.FreeDofs(), inverse=kind) * f.vec
    return u


def difference(u, v, mesh):
    norm = lambda w: Integrate(w * w, mesh, order=16) ** 0.5
    return norm(u - v) / norm(v)


@pytest.fixture(autouse=True)
def options():
    o = PETSc.Options()
    o.setValue("ksp_type", "cg")
    o.setValue("ksp_rtol", "1e-12")
    yield o
    for name in list(o.getAll()):
        o.delValue(name)


def solve(fes, form, right, **coefficients):
    """Iterations, and how far from NGSolve's own solution."""
    u, v = fes.TnT()
    a = BilinearForm(form(u, v) * dx).Assemble()
    f = LinearForm(right * v * dx).Assemble()
    inverse = hops.ngsolve.Inverse(a.mat, fes, **coefficients)
    w = GridFunction(fes)
    w.vec.data = inverse * f.vec
    error = difference(w, direct(a, fes, f), fes.mesh)
    print("order %d in %dD, %d unknowns: %d iterations, %.0e from a direct solution"
          % (fes.globalorder, fes.mesh.dim, fes.ndofglobal, inverse.ksp.getIterationNumber(), error))
    assert error < 1e-10
    return inverse.ksp.getIterationNumber()


def laplace(u, v):
    return grad(u) * grad(v)


@pytest.mark.parametrize("dim, p", itertools.product((2, 3), range(1, 7) if COMM.size == 1 else (1, 6)))
def test_boxes(dim, p):
    fes = H1(box(dim, 3), order=p, dirichlet="left")
    assert solve(fes, laplace, 1 + x) <= 34


@pytest.mark.parametrize("dim, p", [(2, 3), (2, 6), (3, 2), (3, 4)])
def test_curved_with_coefficients(dim, p):
    fes = H1(curved(dim, 3), order=p, dirichlet="left|right")
    kappa, mass = exp(3 * x) * (1 + y), 1 + x * y
    form = lambda u, v: kappa * grad(u) * grad(v) + mass * u * v
    assert solve(fes, form, exp(x), diffusion=kappa, mass=mass) <= 50


def test_what_coefficients_bring():
    fes = H1(box(2, 4), order=4, dirichlet="left")
    kappa = IfPos(x - 0.5, 1e4, 1.0)
    form = lambda u, v: kappa * grad(u) * grad(v)
    assert 2 * solve(fes, form, 1, diffusion=kappa) < solve(fes, form, 1)


@serial
@pytest.mark.parametrize("mirror", (False, True))
@pytest.mark.parametrize("dim, p, seed", [(2, 2, 1), (2, 5, 2), (3, 2, 3), (3, 3, 4), (3, 4, 5)])
def test_cells_in_all_orientations(dim, p, seed, mirror):
    fes = H1(turned(dim, 3, seed, mirror), order=p, dirichlet=[1])
    kappa = 1 + x * x + y
    assert solve(fes, lambda u, v: kappa * grad(u) * grad(v), 1 + y, diffusion=kappa) <= 34


@pytest.mark.parametrize("mesh, p", [("curved", 3), ("box", 6), ("turned", 5)])
@pytest.mark.parametrize("dim", (2, 3))
def test_transformation(dim, mesh, p):
    """A polynomial's values at the nodes become its coefficients in NGSolve's basis."""
    if mesh == "turned" and COMM.size > 1:
        pytest.skip("one rank")
    mesh = {"curved": curved, "box": box, "turned": turned}[mesh](dim, 2)
    fes = H1(mesh, order=p)
    cf = (1 + x) * (2 - y) + y * y + (z * x if dim == 3 else 0) if mesh.deformation is None else x - y
    layout = hops.ngsolve._Layout(fes)
    sp, rows = layout.space(), layout.rows
    nodal, found, w = sp.create_vec(), rows.vector(), GridFunction(fes)
    sp.from_elements(layout.at_nodes(cf), nodal, add=False)
    layout.transformation().mult(nodal, found)
    rows.to_ngsolve(found, w.vec)
    assert difference(w, cf, mesh) < 1e-11


def test_boundary_values():
    mesh = box(2, 3)
    fes = H1(mesh, order=5, dirichlet="left|top")
    u, v = fes.TnT()
    a = BilinearForm(grad(u) * grad(v) * dx).Assemble()
    f = LinearForm(-6 * x * v * dx + IfPos(x - 0.999, 3 * (1 + y * 0), 0) * v * ds + IfPos(y - 0.001, 0, -1.0) * v * ds).Assemble()
    w = GridFunction(fes)
    w.Set(x**3 + y, BND)
    w.vec.data += hops.ngsolve.Inverse(a.mat, fes) * (f.vec - a.mat * w.vec)
    assert difference(w, x**3 + y, mesh) < 1e-9


@pytest.mark.parametrize("dim", (2, 3))
def test_matrix_free_and_symmetric(dim):
    fes = H1(box(dim, 3), order=3, dirichlet="left")
    u, v = fes.TnT()
    its, vectors, products = [], [], []
    for flags in ({}, {"symmetric": True}, {"symmetric_storage": True}, {"nonassemble": True}):
        a = BilinearForm(fes, **flags)
        a += grad(u) * grad(v) * dx
        a.Assemble()
        f = LinearForm((1 + y) * v * dx).Assemble()
        inverse = hops.ngsolve.Inverse(a.mat, fes)
        w = GridFunction(fes)
        w.vec.data = inverse * f.vec
        its.append(inverse.ksp.getIterationNumber())
        vectors.append(w)
        A = inverse.ksp.getOperators()[0]
        one = A.createVecRight()
        one.set(1.0)
        products.append(A * one)
        inverse.ksp.destroy()
    assert max(its) - min(its) <= 1, its
    assert all(difference(w, vectors[0], fes.mesh) < 1e-10 for w in vectors)
    assert all((y - products[0]).norm() < 1e-12 * products[0].norm() for y in products)


def test_as_a_preconditioner_of_ngsolve(options):
    options.setValue("pre_ksp_type", "preonly")
    fes = H1(box(3, 3), order=4, dirichlet="left")
    u, v = fes.TnT()
    a = BilinearForm(grad(u) * grad(v) * dx).Assemble()
    f = LinearForm(v * dx).Assemble()
    cg = solvers.CGSolver(a.mat, hops.ngsolve.Inverse(a.mat, fes, prefix="pre_"), tol=1e-12, maxiter=50)
    w = GridFunction(fes)
    w.vec.data = cg * f.vec
    assert cg.iterations < 50 and difference(w, direct(a, fes, f), fes.mesh) < 1e-8


def test_natural_boundaries_and_a_mass():
    fes = H1(box(2, 3), order=4)
    assert solve(fes, lambda u, v: grad(u) * grad(v) + 0.1 * u * v, x, mass=0.1) <= 34


def test_natural_boundaries_alone(options):
    options.setValue("ksp_rtol", "1e-10")  # a singular operator's products have rounding errors along constants
    mesh = box(2, 3)
    fes = H1(mesh, order=6)
    u, v = fes.TnT()
    a = BilinearForm(grad(u) * grad(v) * dx).Assemble()
    f = LinearForm(pi**2 * cos(pi * x) * v * dx).Assemble()
    with pytest.raises(PETSc.Error, match="null space"):
        (hops.ngsolve.Inverse(a.mat, fes) * f.vec).Evaluate()
    one, w = GridFunction(fes), GridFunction(fes)
    one.Set(1)
    w.vec.data = hops.ngsolve.Inverse(a.mat, fes, null=one) * f.vec
    assert difference(w - Integrate(w, mesh), cos(pi * x), mesh) < 1e-7


def test_what_does_not_converge(options):
    options.setValue("ksp_max_it", "3")
    fes = H1(box(2, 3), order=4, dirichlet="left")
    with pytest.raises(RuntimeError, match="did not converge"):
        solve(fes, laplace, 1)


def refused():
    quads, triangles = box(2, 2), distributed(MakeStructured2DMesh(False, 2, 2))
    varying = H1(quads, order=3)
    for e in quads.Elements(VOL):
        varying.SetOrder(NodeId(CELL, e.nr), 2)
    varying.Update()
    yield H1(triangles, order=3), "quadrilaterals"
    yield VectorH1(quads, order=2), "one real component, not VectorH1"
    yield H1(quads, order=2, dim=2), "dim=2"
    yield H1(quads, order=2, complex=True), "complex"
    yield HCurl(quads, order=2), "not HCurl"
    yield L2(quads, order=2), "not L2"
    yield Periodic(H1(quads, order=2)), "not Periodic"
    yield varying, "one order"


@serial
def test_refused():
    for fes, why in refused():
        with pytest.raises(ValueError, match=why):
            hops.ngsolve.space(fes)
    fes = H1(box(2, 2), order=2)
    with pytest.raises(ValueError, match="scalar"):
        hops.ngsolve.attach(PETSc.KSP().create(PETSc.COMM_SELF), fes, diffusion=CF((1, 0, 0, 1), dims=(2, 2)))
    u, v = fes.TnT()
    a = BilinearForm(fes, condense=True)
    a += grad(u) * grad(v) * dx
    with pytest.raises(ValueError, match="condense=True"):
        hops.ngsolve.matrix(a.Assemble().mat, fes)
    u, v = H1(box(2, 2), order=3).TnT()
    with pytest.raises(ValueError, match="row for each unknown"):
        hops.ngsolve.matrix(BilinearForm(u * v * dx).Assemble().mat, fes)
