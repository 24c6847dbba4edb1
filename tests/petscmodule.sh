#!/bin/bash
# What config/petsc/install does to sources of PETSc, and what the module of PETSc's configure that it copies tells make, by
# stand-ins for PETSc's words. config/test-petsc-download is the real thing.
set -eu
mkdir -p petsc/config/BuildSystem/config/packages petsc/src/sys/dll
install() { "$HOPS_SOURCE/config/petsc/install" "$PWD/petsc" 2>&1 | sed "s|$PWD/||g"; }
package=petsc/config/BuildSystem/config/package.py reg=petsc/src/sys/dll/reg.c
echo "no sources:" && install
touch $reg && echo "self.found = 0" >$package
echo "too old:" && install
echo "self.builtafterpetsc = 0" >$package
echo "no place:" && install
[ ! -s $reg ] && [ ! -e petsc/config/BuildSystem/config/packages/hops.py ] && echo "nothing done"
cat >$reg <<'END_OF_C'
  nmax = 32;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-dll_prepend", libname, &nmax, NULL));

  nmax = 32;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-dll_append", libname, &nmax, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
END_OF_C
cp $reg before
echo "once:" && install
diff before $reg || true
cp $reg once
echo "twice:" && install
cmp once $reg && cmp "$HOPS_SOURCE/config/petsc/hops.py" petsc/config/BuildSystem/config/packages/hops.py && echo "the same"

mkdir -p words/config
touch words/config/__init__.py words/nargs.py
cat >words/config/package.py <<'END_OF_PY'
class Package:
    shared = True

    def __init__(self, framework):
        pass

    def setupHelp(self, help):
        pass

    def setupDependencies(self, framework):
        pass

    def consistencyChecks(self):
        pass

    def checkSharedLibrariesEnabled(self):
        return self.shared

    def logPrintWarning(self, text):
        print("warning:", text)

    def addPost(self, folder, rules):
        print("in", folder, *rules, sep="\n  ")

    def addMakeCheck(self, folder, rule):
        print("check in", folder, rule, sep="\n  ")
END_OF_PY
cp petsc/config/BuildSystem/config/packages/hops.py words/hopsmodule.py
PYTHONPATH=words PYTHONDONTWRITEBYTECODE=1 python3 - <<'END_OF_PY'
from types import SimpleNamespace

import config.package
import hopsmodule


class Framework:
    def require(self, name, who):
        return SimpleNamespace(name=name, found=False, cudaArch="")




def module(**given):
    m = hopsmodule.Configure(Framework())
    m.setupDependencies(Framework())
    m.petscdir, m.arch, m.packageDir, m.installDir = SimpleNamespace(dir="petsc"), "arch", "hops-0.1.0", "installed"
    m.setCompilers = SimpleNamespace(sharedLibraryExt="so")
    m.argDB = {"download-hops": "/hops.tar.gz", "with-hops": 1, "prefix": ""}
    m.argDB.update({"download-hops-arguments": "", "with-library-name-suffix": ""})
    m.argDB.update({k.replace("_", "-"): v for k, v in given.items()})
    return m


def refused(**given):
    try:
        module(**given).consistencyChecks()
        print("taken")
    except RuntimeError as e:
        print("refused:", e)


refused()
refused(download_hops=0, with_hops=0)
refused(download_hops=1)
refused(download_hops=0)
config.package.Package.shared = False
refused()
config.package.Package.shared = True

m = module()
print("beside the sources:", m.Install(), m.include, m.lib)
m = module(prefix="/prefix", with_library_name_suffix="_x", download_hops_arguments="OPENMP=1")
m.cuda.found, m.cuda.cudaArch = True, "80,90"
print("installed:", m.Install(), m.include, m.lib)
m.cuda.cudaArch = "all"
open("petsc/src/sys/dll/reg.c", "w").close()
m.Install()
END_OF_PY

: <<'TESTS'
/*TEST

  test:

TEST*/
TESTS
