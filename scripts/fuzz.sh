#!/bin/sh
# Fuzz every target for a while: scripts/fuzz.sh [SECONDS [NAME...]]. Needs clang with libFuzzer.
# New inputs collect in build-fuzz/corpus; an input that fails is left in build-fuzz/failures: once
# the defect is mended, put it into test/fuzz/corpus/NAME so that every `make test` runs it.
set -e
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DTRIBO_FUZZ=ON -DTRIBO_BUILD_BENCH=OFF -DTRIBO_BUILD_TESTS=ON >/dev/null
names=${*:-$(for f in test/fuzz/fuzz_*.c; do basename "$f" .c | sed 's/^fuzz_//'; done)}
mkdir -p build-fuzz/failures
failed=
for name in $names; do
  cmake --build build-fuzz --target "fuzz_$name" >/dev/null
  mkdir -p "build-fuzz/corpus/$name"
  echo "fuzz $name for $seconds s"
  ./build-fuzz/test/"fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 \
    -max_len=65536 -artifact_prefix="build-fuzz/failures/$name-" -print_final_stats=1 \
    "build-fuzz/corpus/$name" "test/fuzz/corpus/$name" 2>"build-fuzz/$name.log" ||
    failed="$failed $name"
  grep -E 'stat::number_of_executed_units|SUMMARY|DONE' "build-fuzz/$name.log" || true
done
[ -z "$failed" ] || { echo "failed:$failed (see build-fuzz/failures)"; exit 1; }
