# config/roots.sh: Debian roots to build and test hops in, for config/test-petsc and config/fresh, which source it as root.
# For each release there is one archive, NAME.tar, of a minimal debootstrap root with git and make alone, in $HOPS_ROOTS, by
# default ~/.cache/hops/roots; it is made once, and roots are unpacked from it. Delete it to start anew.

roots=${HOPS_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/hops/roots}
mkdir -p "$roots"

suite_of() {
  case $1 in
  12) echo bookworm ;;
  13) echo trixie ;;
  unstable) echo sid ;;
  64 | complex) (. /etc/os-release && echo "$VERSION_CODENAME") ;;
  *) echo "$1" ;;
  esac
}

# The archive that this machine's apt uses
mirror() {
  apt-get indextargets --format '$(LABEL)|$(CREATED_BY)|$(REPO_URI)' | sed -n 's/^Debian|Packages|//p' | head -n 1
}

# inside ROOT COMMAND...: in a mount namespace of its own, which leaves nothing mounted behind, whatever happens.
# With NO_SYS=1 there is no /sys, as in some containers.
inside() {
  local root=$1
  shift
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  NO_SYS=${NO_SYS:-} unshare --mount --propagation private bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; [ -n "$NO_SYS" ] || mount --rbind /sys "$root/sys"
    exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' - "$root" "$@" </dev/null
}

# pristine SUITE: makes $roots/SUITE.tar
pristine() (
  suite=$1 new=$roots/$1.new log=$roots/$1.log
  [ ! -f "$roots/$suite.tar" ] || exit 0
  exec 9>"$roots/$suite.lock" && flock 9
  [ ! -f "$roots/$suite.tar" ] || exit 0
  rm -rf --one-file-system "$new"
  {
    { command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap; } &&
      debootstrap --variant=minbase "$suite" "$new" "$(mirror)" &&
      { [ "$suite" != sid ] || # of unstable, mirrors may hold a copy that is weeks old
        echo 'Acquire::Check-Valid-Until "false";' >"$new/etc/apt/apt.conf.d/80unstable"; } &&
      inside "$new" sh -c 'apt-get -qq update && apt-get install -y -qq --no-install-recommends make git &&
        apt-get clean && rm -rf /var/lib/apt/lists/*' &&
      tar -C "$new" --numeric-owner -cf "$roots/$suite.tar.new" . && mv "$roots/$suite.tar.new" "$roots/$suite.tar"
  } >"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 1; }
  rm -rf --one-file-system "$new"
)

# unpack NAME ROOT: a root as debootstrap left it, for a release's name
unpack() {
  pristine "$(suite_of "$1")" || return 1
  rm -rf --one-file-system "$2" "$2.new"
  mkdir -p "$2.new"
  tar -C "$2.new" --numeric-owner -xpf "$roots/$(suite_of "$1").tar" && mv "$2.new" "$2"
}

# copy_tree ROOT: the tree as it stands, and nothing that was built, is /hops there; what was built there, in build-*, stays
copy_tree() {
  mkdir -p "$1/hops"
  find "$1/hops" -mindepth 1 -maxdepth 1 ! -name 'build-*' -exec rm -rf {} +
  git ls-files -z -co --exclude-standard | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done \
    | tar -c --null -T - | tar -x --no-same-owner -C "$1/hops"
}
