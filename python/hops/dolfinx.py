"""-pc_type lor for DOLFINx: hops.dolfinx.attach(ksp, V).

V is a Lagrange space of any degree on quadrilaterals or hexahedra, scalar or with components. For DOLFINx 0.5 to 0.9.
"""

import numpy as np

import hops

__all__ = ["attach", "space"]


def _call(value):
    """What is a method in one version of DOLFINx and a property in another."""
    return value() if callable(value) else value


def _is_lagrange(element):
    """Of UFL's element in DOLFINx 0.5, of Basix' later on, which has the family as an enumeration."""
    family = getattr(element, "element_family", None)
    if family is None:
        return _call(element.family) in ("Q", "CG", "Lagrange")
    return family.name == "P" and not element.discontinuous


def space(V):
    """The hops.Space of a Lagrange space, with DOLFINx's own numbers."""
    mesh, element, dofmap = V.mesh, V.element, V.dofmap
    dim = mesh.topology.dim
    cell = _call(mesh.ufl_cell().cellname)
    if cell not in ("quadrilateral", "hexahedron") or mesh.geometry.dim != dim:
        raise ValueError("hops takes quadrilaterals and hexahedra that fill their space, not %s cells in %dD"
                         % (cell, mesh.geometry.dim))
    parts = _call(V.ufl_element().sub_elements) or [V.ufl_element()]
    if not all(_is_lagrange(e) for e in parts):
        raise ValueError("hops takes Lagrange spaces, not %s" % V.ufl_element())
    points = np.asarray(_call(element.interpolation_points))
    order = round(len(points) ** (1.0 / dim)) - 1
    ncells = mesh.topology.index_map(dim).size_local  # without ghosts
    n = len(points)
    dofs = np.asarray(getattr(dofmap.list, "array", dofmap.list)).reshape(-1, n)[:ncells]
    index = dofmap.index_map
    ids = index.local_to_global(dofs.ravel().astype(np.int32)).reshape(dofs.shape)
    coords = V.tabulate_dof_coordinates()[dofs][:, :, :dim]
    return hops.Space(dim, order, ids, coords, nodes=points[:, :dim], owned=index.size_local, comm=mesh.comm)


def attach(obj, V, diffusion=None, mass=None, elasticity=None):
    """Tells a KSP, PC or Mat that its operator lives on V; returns the hops.Space.

    A KSP or PC becomes one of type lor and takes coefficients: a number, a value for each cell of this rank, or a function of
    coordinates, an array of shape (cells, nodes, dim); of elasticity Lame's two. Without, they are made up for by the operator's
    diagonal. Dirichlet rows are found in the operator, for each component of V.
    """
    sp = space(V)
    hops.attach(obj, sp, diffusion=diffusion, mass=mass, elasticity=elasticity)
    return sp
