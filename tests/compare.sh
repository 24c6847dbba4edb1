#!/bin/bash
# bench/compare on programs that print set figures: what it calls slower, faster and the same, leaves out and calls failed.
set -eu

# build NAME RATE [RATE]: a build folder whose lorbench says this rate for apply, or the second one where the options have -curved;
# a rate of two numbers is said in turns
build() {
  mkdir -p "$1/bin" "$1/lib"
  cat >"$1/bin/lorbench" <<END
#!/bin/bash
rate=$2
[[ " \$* " == *" -curved "* ]] && rate=${3:-$2}
[[ \$rate != *,* ]] || { echo >>"\$0.runs"; ((\$(wc -l <"\$0.runs") % 2)) && rate=\${rate%,*} || rate=\${rate#*,}; }
[[ " \$* " == *" l2 "* && $1 == none ]] && { echo "[0]PETSC ERROR: Unknown option l2" >&2; exit 83; }
echo "3D p=3: 100000 unknowns, 7.0 nonzeros per row"
echo "  apply            0.00100 s \$rate million unknowns/s"
echo "  space            2.00000 s     0.050 million unknowns/s"
END
  chmod +x "$1/bin/lorbench"
}

# compare OLD NEW options...: the table without columns of white space, and the status
compare() {
  local status=0
  "$HOPS_SOURCE/bench/compare" "$@" >out 2>err || status=$?
  sed -E 's/ +/ /g' out
  echo "status $status"
}

build old 100
build new 90
build mixed 110 96
echo "== the same build"
compare old old --cases 'h1*-p2' --runs 3
echo "== all slower, and raw figures"
compare old new --cases 'h1-p2' --runs 3 --csv raw
sort raw
echo "== faster; 4% slower on curved cells"
compare old mixed --cases 'h1*-p2' --runs 3
echo "== 8% slower, of a figure that changes by a third"
build calm 100
build noise 80,110
compare calm noise --cases 'h1-p2' --runs 6
echo "== too few runs to tell"
compare old new --cases 'h1-p2' --runs 2
echo "== a case that OLD lacks, one that NEW lacks, none at all, no time"
build none 100
compare none old --cases 'l2-p2' --runs 3
compare old none --cases '[hl]*-p2' --runs 3
compare old new --cases 'patch-p2'
compare old new --cases 'h1-p2' --seconds 0
echo "== device"
compare old new --cases 'gpu-solve-h1-p[24]' --device --jobs 2 --runs 3

# a valgrind that writes a profile with as many instructions as the program's rate says
cat >valgrind <<'END'
#!/bin/bash
for a in "$@"; do case $a in --callgrind-out-file=*) file=${a#*=} ;; esac; done
shift 3
n=$(($("$@" | sed -nE 's/.*apply .* s ([0-9]+) .*/1000000000 \/ \1/p')))
cat >"$file" <<PROFILE
positions: line
events: Ir

ob=(1) lorbench
fl=(1) bench/lorbench.c
fn=(1) TimeKernels
12 50
cob=(2) libpetsc.so
cfi=(2) ???
cfn=(2) MatMult
calls=1 0
13 $n
cfn=(3) PetscInitialize
calls=1 0
+1 500000000

ob=(3) libhops.so
fl=(3) /hops/src/mat/pa/matpa.c
fn=(4) MatMult_PA
* $((n / 2))
fi=(4) include/hops.h
+2 1000
PROFILE
END
chmod +x valgrind
echo "== instructions"
PATH=$PWD:$PATH compare old old --cases 'h1-p2' --instructions
PATH=$PWD:$PATH compare old new --cases 'h1-p2' --instructions --keep .
ls ./*.callgrind

: <<'END'
/*TEST

  test:

TEST*/
END
