#!/bin/bash
# config/release in a repository of its own: what it refuses, what --dry-run says, the tag and the archive. The recipes call make as
# they should: Spack's by stand-ins for Spack's words, conda's by a make that prints.
set -eu
mkdir -p r/include r/debian r/config/spack r/config/conda
for f in config/release include/hops.h CITATION.cff debian/changelog config/spack/package.py config/conda/meta.yaml; do
  cp -p "$HOPS_SOURCE/$f" "r/$f"
done
cd r
version=$(sed -n 's/^#define HOPS_VERSION_[A-Z]* //p' include/hops.h | paste -sd.)
sed -i 's/UNRELEASED/unstable/' debian/changelog
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
commit() { git add -A && git commit -qm m; }
release() {
  config/release "$@" 2>&1 | sed -e "s|$PWD/||g; s|${PWD%/*}/||g; s/${version//./\\.}/VERSION/g; s/^[0-9a-f]\{64\}/SUM/"
}
git -c init.defaultBranch=main init -q
echo "## [$version] - unreleased" >CHANGELOG.md
commit
echo "7 passed, 1 failed, 2 skipped" >../log

echo "not ready:" && touch new && release "$version" --tests ../log && rm new
echo "another number:" && release 9.8.7 --tests ../none
echo "## [$version] - 2026-01-01" >CHANGELOG.md
commit
echo "7 passed, 0 failed, 2 skipped" >../log
touch -d 2001-01-01 ../log && echo "old:" && release "$version" --tests ../log && touch ../log
echo "dry:" && release "$version" --tests ../log --dry-run
[ -z "$(git tag)" ] && [ ! -e "hops-$version.tar.gz" ] && echo "nothing done"
echo "release:" && release "$version" --tests ../log
git tag | sed "s/$version/VERSION/" && tar -tzf "hops-$version.tar.gz" | sed -n "s|hops-$version/C|C|p"
rm "hops-$version.tar.gz" && echo "again:" && release "$version" --tests ../log

echo "Spack:"
cd .. && mkdir -p spack spack_repo/builtin/build_systems bin
cat >spack/package.py <<'END_OF_PY'
def make(*words):
    print("make", *words)


git = license = version = variant = depends_on = lambda *a, **k: None
END_OF_PY
echo "MakefilePackage = object" >spack_repo/builtin/build_systems/makefile.py
cp "$HOPS_SOURCE/config/spack/package.py" recipe.py
PYTHONDONTWRITEBYTECODE=1 python3 - <<'END_OF_PY'
import recipe


class Spec(dict):
    prefix = "/petsc"

    def satisfies(self, variant):
        return False


hops = recipe.Hops()
hops.spec = Spec(petsc=Spec())
hops.build(hops.spec, "/prefix")
hops.install(hops.spec, "/prefix")
END_OF_PY
echo "conda:"
printf '#!/bin/sh\necho make "$@"\n' >bin/make && chmod +x bin/make
PATH=$PWD/bin:$PATH PREFIX=/prefix CPU_COUNT=3 "$HOPS_SOURCE/config/conda/build.sh"

: <<'TESTS'
/*TEST

  test:

TEST*/
TESTS
