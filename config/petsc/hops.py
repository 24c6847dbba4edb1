"""PETSc's configure builds hops with this module: --download-hops=/path/to/hops-0.1.0.tar.gz, or a folder that is a git clone.

config/petsc/install puts it to PETSc's own modules. hops is built when PETSc is (make all, or make install where there is a
prefix), installed beside it, and loaded by every PetscInitialize(): programs need no -dll_append.
"""
import os

import config.package


class Configure(config.package.Package):
    def __init__(self, framework):
        super().__init__(framework)
        self.gitcommit = "HEAD"
        self.download = ["hops has no public address yet"]
        self.precisions = ["double"]
        self.noMPIUni = 1
        self.linkedbypetsc = 0
        self.builtafterpetsc = 1
        self.skippackagewithoptions = 1

    def setupHelp(self, help):
        import nargs

        super().setupHelp(help)
        arguments = nargs.Arg(None, "", "Variables for the makefile of hops, as in KOKKOS_DIR=/opt/kokkos OPENMP=1")
        help.addArgument("HOPS", "-download-hops-arguments=string", arguments)

    def setupDependencies(self, framework):
        super().setupDependencies(framework)
        self.mpi = framework.require("config.packages.MPI", self)
        self.blasLapack = framework.require("config.packages.BlasLapack", self)
        self.hypre = framework.require("config.packages.hypre", self)
        self.cuda = framework.require("config.packages.CUDA", self)
        self.deps = [self.mpi, self.blasLapack]
        self.odeps = [self.hypre, self.cuda]

    def consistencyChecks(self):
        super().consistencyChecks()
        wanted = self.argDB["download-hops"]
        if wanted and not isinstance(wanted, str):
            raise RuntimeError("hops has no public address yet: give --download-hops=/path/to/hops-0.1.0.tar.gz")
        if self.argDB["with-hops"] and not wanted:
            raise RuntimeError("hops is built for one PETSc: use --download-hops in place of --with-hops")
        if wanted and not self.checkSharedLibrariesEnabled():
            raise RuntimeError("PETSc loads hops at run time, for which both must be shared: remove --with-shared-libraries=0")

    def loaded(self):
        """whether PetscInitialize() has the lines that config/petsc/install adds"""
        with open(os.path.join(self.petscdir.dir, "src", "sys", "dll", "reg.c")) as source:
            return "PETSC_HAVE_HOPS" in source.read()

    def Install(self):
        if not self.loaded():
            self.logPrintWarning("PETSc will not load hops by itself (run config/petsc/install of hops): programs need -dll_append")
        if self.argDB["prefix"] and "package-prefix-hash" not in self.argDB:
            prefix = os.path.abspath(os.path.expanduser(self.argDB["prefix"]))
            where = ["PETSC_DIR=" + prefix, "PETSC_ARCH="]
        else:
            prefix = os.path.join(self.petscdir.dir, self.arch)
            where = ["PETSC_DIR=" + self.petscdir.dir, "PETSC_ARCH=" + self.arch]
        if self.cuda.found and self.cuda.cudaArch.replace(",", "").isdigit():
            where.append('CUDA_ARCH="%s"' % self.cuda.cudaArch.replace(",", " "))
        suffix = self.argDB["with-library-name-suffix"]
        make = ["${OMAKE}", "BUILD=build-petsc", "LIBSUFFIX=" + suffix] + where + [self.argDB["download-hops-arguments"]]
        make = " ".join(make).rstrip()
        lib = os.path.join(prefix, "lib")
        extension = suffix + "." + self.setCompilers.sharedLibraryExt
        self.include = [os.path.join(prefix, "include")]
        self.lib = ["-Wl,-rpath," + lib, "-L" + lib, "-lhops" + suffix]
        build = [make + " -j${MAKE_NP} lib", make + " install-only prefix=" + prefix]
        build.append('ln -sf libhops%s "%s"' % (extension, os.path.join(lib, "libpetschops" + extension)))
        self.addPost(self.packageDir, build)
        self.addMakeCheck(self.packageDir, make + " -j${MAKE_NP} check-tests FUZZ= search='first_1*'")
        return self.installDir
