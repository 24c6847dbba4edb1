"""hops.dolfinx against DOLFINx's own direct solves. Also by `mpiexec -n 3 pytest python/tests/test_dolfinx.py`."""

import numpy as np
import pytest
import dolfinx.fem.petsc
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

import hops
import hops.dolfinx

CELLS = {2: mesh.CellType.quadrilateral, 3: mesh.CellType.hexahedron}


def lagrange(m, p, shape=(), family="Lagrange"):
    """A space with components of that shape."""
    if hasattr(fem, "functionspace"):
        return fem.functionspace(m, (family, p, shape) if shape else (family, p))
    return (fem.VectorFunctionSpace if shape else fem.FunctionSpace)(m, (family, p))


def domain(dim, n, curve=0.0):
    create = mesh.create_unit_square if dim == 2 else mesh.create_unit_cube
    m = create(MPI.COMM_WORLD, *(n,) * dim, CELLS[dim])
    x = m.geometry.x
    x[:, 0] += curve * np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1])
    return m


def assemble(V, a, L, bc):
    a, L = fem.form(a), fem.form(L)
    A = fem.petsc.assemble_matrix(a, bcs=[bc])
    A.assemble()
    b = fem.petsc.assemble_vector(L)
    fem.petsc.apply_lifting(b, [a], bcs=[[bc]])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(b, [bc])
    return A, b


def boundary(V, value, where=None):
    m = V.mesh
    facets = mesh.locate_entities_boundary(m, m.topology.dim - 1, where or (lambda x: np.full(x.shape[1], True)))
    return fem.dirichletbc(value, fem.locate_dofs_topological(V, m.topology.dim - 1, facets), V)


def solve(A, b, V, **kwargs):
    """-> iterations, relative difference to a direct solve."""
    ksp = PETSc.KSP().create(A.comm)
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-10)
    hops.dolfinx.attach(ksp, V, **kwargs)
    x = b.duplicate()
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    its = ksp.getIterationNumber()
    direct = PETSc.KSP().create(A.comm)
    direct.setOperators(A)
    direct.setType("preonly")
    direct.getPC().setType("lu")
    direct.getPC().setFactorSolverType("mumps")
    y = b.duplicate()
    direct.solve(b, y)
    y.axpy(-1.0, x)
    return its, y.norm() / x.norm()


def poisson(dim, p, n):
    """-> space, matrix, right-hand side, on curved cells."""
    V = lagrange(domain(dim, n, 0.1), p)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    f = ufl.exp(ufl.SpatialCoordinate(V.mesh)[0])
    return V, *assemble(V, ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, f * v * ufl.dx, boundary(V, PETSc.ScalarType(0.5)))


def elasticity(dim, p, n):
    """The same, with Lame's parameters 1.25 and 1, held at one side."""
    V = lagrange(domain(dim, n), p, (dim,))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    eps = lambda w: ufl.sym(ufl.grad(w))
    a = (2.0 * ufl.inner(eps(u), eps(v)) + 1.25 * ufl.div(u) * ufl.div(v)) * ufl.dx
    bc = boundary(V, np.zeros(dim, dtype=PETSc.ScalarType), lambda x: np.isclose(x[0], 0.0))
    return V, *assemble(V, a, v[dim - 1] * ufl.dx, bc)


@pytest.mark.parametrize("dim, p, n", [(2, 2, 8), (2, 5, 6), (3, 2, 4), (3, 4, 3)])
def test_poisson(dim, p, n):
    V, A, b = poisson(dim, p, n)
    its, error = solve(A, b, V)
    print("Poisson, order %d in %dD: %d iterations" % (p, dim, its))
    assert its <= 25 and error < 1e-7


def test_coefficient_that_varies():
    V = lagrange(domain(2, 8), 4)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    kappa = 10.0 ** (4.0 * ufl.SpatialCoordinate(V.mesh)[0])
    A, b = assemble(V, kappa * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, v * ufl.dx, boundary(V, PETSc.ScalarType(0.0)))
    for told in (None, lambda x: 10.0 ** (4.0 * x[..., 0])):
        its, error = solve(A, b, V, diffusion=told)
        print("10^(4x), %s: %d iterations" % ("told" if told else "not told", its))
        assert its <= 30 and error < 1e-7


def test_options_alone_find_the_space_of_a_matrix():
    V = lagrange(domain(2, 6), 3)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A, b = assemble(V, ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, v * ufl.dx, boundary(V, PETSc.ScalarType(0.0)))
    hops.dolfinx.attach(A, V)
    ksp = PETSc.KSP().create(A.comm)
    ksp.setOperators(A)
    ksp.setOptionsPrefix("theirs_")
    for name, value in (("ksp_type", "cg"), ("pc_type", "lor")):
        PETSc.Options()["theirs_" + name] = value
    ksp.setFromOptions()
    ksp.solve(b, b.duplicate())
    assert 0 < ksp.getIterationNumber() <= 15


@pytest.mark.parametrize("dim, p, n", [(2, 4, 4), (3, 3, 2)])
def test_elasticity(dim, p, n):
    V, A, b = elasticity(dim, p, n)
    for told, most in ((None, 70), ((1.25, 1.0), 45)):
        its, error = solve(A, b, V, elasticity=told)
        print("elasticity, order %d in %dD, %s: %d iterations" % (p, dim, "told" if told else "not told", its))
        assert its <= most and error < 1e-6


def test_refused():
    m = mesh.create_unit_square(MPI.COMM_WORLD, 4, 4)
    with pytest.raises(ValueError, match="quadrilaterals"):
        hops.dolfinx.space(lagrange(m, 2))
    with pytest.raises(ValueError, match="Lagrange"):
        hops.dolfinx.space(lagrange(domain(2, 4), 2, family="DQ"))
