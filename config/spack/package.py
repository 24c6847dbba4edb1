# Spack's recipe of hops. In a repository of Spack it is packages/hops/package.py; the archive is what config/release makes.
# Run: py_compile, and tests/release.sh with stand-ins for Spack's words. Not run: Spack itself (1.0 or newer is meant).
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Hops(MakefilePackage):
    """High-order preconditioners for PETSc: low-order-refined preconditioning, matrix-free operators, geometric multigrid and patch
    smoothers, as a plugin or a library."""

    git = "file:///path/to/hops"  # until there is a public address

    license("BSD-2-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("openmp", default=False, description="Threads inside of a rank")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi")
    depends_on("blas")
    depends_on("lapack")
    depends_on("hypre")
    depends_on("petsc@3.18:+mpi+shared+double~complex+hypre")

    def variables(self):
        petsc = self.spec["petsc"].prefix
        return ["PETSC_DIR=" + petsc, "PETSC_ARCH=", "OPENMP=" + ("1" if self.spec.satisfies("+openmp") else "0")]

    def build(self, spec, prefix):
        make("lib", *self.variables())

    def install(self, spec, prefix):
        make("install-only", "prefix=" + prefix, *self.variables())
