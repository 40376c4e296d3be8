#!/bin/sh
# The same scenes under every law by both compilers, at several optimisation levels, with 1, 2 and 4
# threads: every step must agree in every bit. Builds go to build-det-*; a build for another machine
# (scripts/aarch64.sh) takes part where it is.
set -e
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
builds=

build() { # name compiler flags
  command -v "$2" >/dev/null || { echo "skipped: no $2"; return 0; }
  cmake -S . -B "build-det-$1" -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$3" \
    -DTRIBO_BUILD_BENCH=OFF -DTRIBO_WERROR=OFF >/dev/null
  cmake --build "build-det-$1" -j"$jobs" --target tribo_hashes >/dev/null
  builds="$builds build-det-$1"
}

build gcc-O3 gcc "-O3 -DNDEBUG -w"
build gcc-O1 gcc "-O1 -w"
build clang-O2 clang "-O2 -w"
[ ! -x build-aarch64/test/tribo_hashes ] || builds="$builds build-aarch64"
scripts/same_bits.sh $builds
