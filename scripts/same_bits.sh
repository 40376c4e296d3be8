#!/bin/sh
# Whether builds compute the same bits: compares what tribo_golden prints in each build folder.
#   scripts/same_bits.sh BUILD...          a folder with a cross-compiled build runs under qemu-user
set -u
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
threads=${THREADS:-1 2 4}
status=0
first=
for build in "$@"; do
  program=$build/test/tribo_golden
  [ -x "$program" ] || { echo "skipped: $build has no tribo_golden"; continue; }
  # Another machine's program runs in its emulator.
  run=
  machine=$(sed -n 's/^TRIBO_MACHINE:[A-Z]*=//p' "$build/CMakeCache.txt")
  sysroot=$(sed -n 's/^TRIBO_SYSROOT:[A-Z]*=//p' "$build/CMakeCache.txt")
  [ -z "$machine" ] || run="qemu-$machine -cpu max -L $sysroot"
  out=$results/$(basename "$build")
  if ! $run "$program" $threads >"$out"; then
    echo "DIFFERS with the number of threads: $build"
    grep DIFFERS "$out"
    status=1
  fi
  [ -n "$first" ] || first=$out
  if cmp -s "$first" "$out"; then
    echo "same bits with $threads threads, $(wc -l <"$out") runs: $build"
  else
    echo "DIFFERS from $(basename "$first"): $build"
    diff "$first" "$out" | sed -n 's/^> /  /p'
    status=1
  fi
done
exit $status
