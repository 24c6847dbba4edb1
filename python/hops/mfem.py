"""-pc_type lor for PyMFEM (mfem.ser): hops.mfem.attach(ksp, fes). Written for MFEM 4.10."""

import mfem.ser as mfem
import numpy as np
from petsc4py import PETSc

import hops

__all__ = ["attach", "matrix", "space"]


def matrix(m):
    """An mfem.SparseMatrix as a PETSc.Mat."""
    csr = (m.GetIArray().copy(), m.GetJArray().copy(), m.GetDataArray().copy())
    return PETSc.Mat().createAIJ((m.Height(), m.Width()), csr=csr, comm=PETSc.COMM_SELF)


def space(fes):
    """The hops.Space of an H1 finite element space on quadrilaterals or hexahedra, all of the same order."""
    mesh = fes.GetMesh()
    dim, ncells = mesh.Dimension(), mesh.GetNE()
    if any(mesh.GetElementBaseGeometry(e) not in (mfem.Geometry.SQUARE, mfem.Geometry.CUBE) for e in range(ncells)):
        raise ValueError("hops takes quadrilaterals and hexahedra alone")
    rule = fes.GetFE(0).GetNodes()
    points = [rule.IntPoint(i) for i in range(rule.GetNPoints())]
    reference = np.array([[p.x, p.y, p.z][:dim] for p in points])
    ids = np.array([fes.GetElementDofs(e) for e in range(ncells)])
    maps = (mesh.GetElementTransformation(e) for e in range(ncells))
    coords = np.array([[np.array(t.Transform(p)) for p in points] for t in maps])
    return hops.Space(dim, round(len(points) ** (1.0 / dim)) - 1, ids, coords, nodes=reference, owned=fes.GetNDofs(),
                      comm=PETSc.COMM_SELF)


def attach(ksp, fes, diffusion=None, mass=None, elasticity=None):
    """Makes a KSP or PC one of type lor for an operator on fes, as FormLinearSystem() makes it; returns the hops.Space.

    Meshes may have hanging nodes. Dirichlet rows are found in the operator. Coefficients are those of hops.attach(); without, they
    are made up for by the operator's diagonal. Components of a space are ordered by VDIM.
    """
    sp = space(fes)
    P = fes.GetConformingProlongation()
    hops.attach(ksp, sp, diffusion=diffusion, mass=mass, elasticity=elasticity, prolongation=None if P is None else matrix(P))
    return sp
