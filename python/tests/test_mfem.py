"""hops.mfem on MFEM's own matrices, with and without hanging nodes; one rank."""

import mfem.ser as mfem
import numpy as np
import pytest
from petsc4py import PETSc

import hops.mfem


def domain(dim, n, levels):
    if dim == 2:
        mesh = mfem.Mesh.MakeCartesian2D(n, n, mfem.Element.QUADRILATERAL)
    else:
        mesh = mfem.Mesh.MakeCartesian3D(n, n, n, mfem.Element.HEXAHEDRON)
    for level in range(levels):  # hanging nodes around a corner
        mesh.EnsureNCMesh()
        centres = [np.mean([mesh.GetVertexArray(v) for v in mesh.GetElementVertices(e)], axis=0) for e in range(mesh.GetNE())]
        mesh.GeneralRefinement(mfem.intArray([e for e, x in enumerate(centres) if np.linalg.norm(x) < 0.6 / (level + 1)]))
    return mesh


def system(fes, *integrators):
    """-> A, b with Dirichlet conditions on all of the boundary."""
    essential = mfem.intArray()
    fes.GetEssentialTrueDofs(mfem.intArray([1] * fes.GetMesh().bdr_attributes.Max()), essential)
    a = mfem.BilinearForm(fes)
    for i in integrators:
        a.AddDomainIntegrator(i)
    a.Assemble()
    b = mfem.LinearForm(fes)
    b.Assemble()
    b.Assign(1.0)
    x = mfem.GridFunction(fes)
    x.Assign(0.0)
    A, X, B = mfem.SparseMatrix(), mfem.Vector(), mfem.Vector()
    a.FormLinearSystem(essential, x, b, A, X, B)
    return hops.mfem.matrix(A), PETSc.Vec().createWithArray(B.GetDataArray().copy(), comm=PETSc.COMM_SELF)


def diffusion(dim, p, n, levels):
    """-> space, matrix, right-hand side."""
    fes = mfem.FiniteElementSpace(domain(dim, n, levels), mfem.H1_FECollection(p, dim))
    one = mfem.ConstantCoefficient(1.0)
    return fes, *system(fes, mfem.DiffusionIntegrator(one))


def solve(A, b, fes, **kwargs):
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-10)
    hops.mfem.attach(ksp, fes, **kwargs)
    x = b.duplicate()
    ksp.solve(b, x)
    r = b.duplicate()
    A.mult(x, r)
    r.axpy(-1.0, b)
    assert ksp.getConvergedReason() > 0 and r.norm() < 1e-7 * b.norm()
    return ksp.getIterationNumber()


@pytest.mark.parametrize("dim, p, n, levels", [(2, 5, 6, 0), (2, 5, 6, 2), (3, 4, 3, 0), (3, 2, 3, 2), (3, 4, 3, 2)])
def test_diffusion(dim, p, n, levels):
    fes, A, b = diffusion(dim, p, n, levels)
    its = solve(A, b, fes)
    print("order %d in %dD, %d levels of hanging nodes: %d iterations" % (p, dim, levels, its))
    assert its <= 25


def test_nodes_other_than_gauss_lobatto():
    fes = mfem.FiniteElementSpace(domain(2, 2, 0), mfem.H1_FECollection(4, 2, mfem.BasisType.ClosedUniform))
    with pytest.raises(PETSc.Error, match="equispaced"):
        hops.mfem.space(fes)
