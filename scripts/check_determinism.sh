#!/bin/sh
# The same scenes by every compiler, optimisation level and number of threads: the final states must
# agree in every digit. Builds go to build-det-*.
set -e
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
laws="ncp ccp lcp raisim soft comfree"
scenes="islands.xml:0.06 sliding_cube.xml:0.3 grip.xml:0.3 stack.xml:0.1"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

build() { # name compiler flags
  command -v "$2" >/dev/null || { echo "skipped: no $2"; return 0; }
  cmake -S . -B "build-det-$1" -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$3" \
    -DTRIBO_BUILD_TESTS=OFF -DTRIBO_BUILD_BENCH=OFF -DTRIBO_WERROR=OFF >/dev/null
  cmake --build "build-det-$1" -j"$jobs" --target tribo >/dev/null
  variants="$variants $1"
}

# Final state of every scene and law, one line each.
states() { # binary threads
  for scene in $scenes; do
    for law in $laws; do
      printf '%s %s ' "$scene" "$law"
      "$1" sim "scenes/${scene%%:*}" --law "$law" --time "${scene##*:}" --threads "$2" --json |
        tr -d '\n ' | sed 's/.*\("qpos":\[[^]]*\],"qvel":\[[^]]*\]\).*/\1/'
      echo
    done
  done
}

variants=
build gcc-O3 gcc "-O3 -w"
build gcc-O1 gcc "-O1 -w"
build clang-O2 clang "-O2 -w"
status=0
first=
for variant in $variants; do
  for threads in 1 2 4; do
    states "build-det-$variant/tribo" $threads >"$results/$variant-$threads"
    [ -n "$first" ] || first="$results/$variant-$threads"
    if cmp -s "$first" "$results/$variant-$threads"; then
      echo "same: $variant, $threads threads"
    else
      echo "DIFFERS: $variant, $threads threads"
      diff "$first" "$results/$variant-$threads" | grep '^>' | cut -c1-60 || true
      status=1
    fi
  done
done
exit $status
