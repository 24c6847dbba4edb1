#!/bin/bash
# config/runtests on scripts that end as programs may: what it runs once more, lets through and calls failed; and which part of a
# product of options it runs.
set -eu

# program NAME ARGS: a test whose program is the script on stdin
program() {
  mkdir -p tests/output
  {
    printf '#!/bin/bash\n'
    cat
    printf 'exit 0\n/*%s\n  test:\n    args: %s\n    filter: grep -o end\n%s*/\n' TEST "$2" TEST
  } >"tests/$1.sh"
  chmod +x "tests/$1.sh"
  echo end >"tests/output/$1_1.out"
}

# Runs all of them, one at a time, forgets them and prints what became of which
run() {
  local rc=0
  "$HOPS_SOURCE/config/runtests" --build "$PWD" --lib "$HOPS_LIB" --mpiexec true --jobs 1 tests/*.sh >log 2>&1 || rc=$?
  grep -E '^(passed|failed) ' log | awk '{ print $1, $2 }' | sort -k 2
  grep -E '^([0-9]+|failed:) ' log
  echo "status $rc"
  rm -rf tests
}

died='[ ! -e once ] || { echo end; exit 0; }; touch once; echo "*** An error occurred in MPI_Init_thread" >&2; exit 1'
for i in 1 2; do program init$i "" <<<"$died"; done
program final "" <<<'echo end; [ ! -e once ] || exit 0; touch once; kill -SEGV $$'
program startup "" <<'END'
for from in hwloc/linux: "[hwloc/linux]"; do echo "$from failed to find sysfs cpu topology directory, aborting linux discovery." >&2; done
echo end
END
program tmpdir1 "" <<<'touch "$TMPDIR/file"; echo end'
program tmpdir2 "" <<<'[ -e "$TMPDIR/file" ] || echo end'
program error -petsc_ci_portable_error_output <<<'echo PETSC ERROR; echo end; exit 1'
run

for i in 1 2 3 4; do program init$i "" <<<"$died"; done
run

program always "" <<<'echo "*** An error occurred in MPI_Init" >&2; echo end; exit 1'
program before "" <<<'echo "*** The MPI_Comm_size() function was called before MPI_INIT was invoked." >&2; echo end; exit 1'
program crash "" <<<'echo end; kill -SEGV $$'
program crasherror -petsc_ci_portable_error_output <<<'echo PETSC ERROR; echo end; kill -SEGV $$'
program status "" <<<'echo end; exit 1'
program stderr "" <<<'echo "hwloc: something else" >&2; echo end'
run

# of a product of four lists: how many tests run, and how many of the 8 + 3 * 12 combinations of three values they show
for long in "" --long; do
  program product "-a {{1 2}} -b {{1 2}} -c {{1 2}} -d {{1 2 3}}" <<<'echo end'
  "$HOPS_SOURCE/config/runtests" --build "$PWD" --lib "$HOPS_LIB" --mpiexec true --jobs 1 $long tests/*.sh >log 2>&1
  sed -n 's/^passed *product_1+\([^ ]*\).*/\1/p' log | awk -F+ '
    { for (i = 1; i < 3; i++) for (j = i + 1; j < 4; j++) for (k = j + 1; k < 5; k++) shown[$i $j $k] = 1 }
    END { for (t in shown) n++; print (NR < 24 ? "a part" : "all"), "of 24 run,", n, "of 44 combinations" }'
  rm -rf tests
done

: <<'END'
/*TEST

  test:

TEST*/
END
