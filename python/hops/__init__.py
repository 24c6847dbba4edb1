"""hops from Python: -pc_type lor for codes on petsc4py.

    import hops
    space = hops.Space(dim, order, ids, coords)   # node ids and coordinates, cell by cell
    hops.attach(A, space)                         # a matrix; -pc_type lor finds it there

The extension is built by `make python`. docs/guide/python.md shows it.
"""

from hops._hops import Space, attach, matpa, node_order

__all__ = ["Space", "attach", "matpa", "node_order"]
