#!/bin/sh
# The same scenes under every law by both compilers, at several optimisation levels, with and without
# this machine's wide registers (base/kernel.h), with 1, 2 and 4 threads: every step must agree in
# every bit. gcc's -O3 is the release build; the others go to build-det-*, by way of ccache where it is
# installed. A build for another machine (scripts/cross.sh) takes part where it is.
set -e
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
builds=
ninja=
launcher=
! command -v ninja >/dev/null || ninja="-G Ninja"
! command -v ccache >/dev/null || launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"

compile() { # folder
  if ! cmake --build "$1" -j"$jobs" --target tribo_golden >"$1/determinism.log" 2>&1; then
    tail -20 "$1/determinism.log"
    exit 1
  fi
  builds="$builds $1"
}

build() { # name compiler flags
  command -v "$2" >/dev/null || { echo "skipped: no $2"; return 0; }
  # A folder that another generator made is made anew.
  [ -z "$ninja" ] || [ ! -e "build-det-$1/Makefile" ] || rm -rf "build-det-$1"
  cmake -S . -B "build-det-$1" $ninja $launcher -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="$3" -DTRIBO_BUILD_BENCH=OFF -DTRIBO_WERROR=OFF >/dev/null
  compile "build-det-$1"
}

cmake --preset release -DTRIBO_BUILD_TESTS=ON >/dev/null
compile build
build gcc-O1 gcc "-O1 -w -DTB_NARROW"
build clang-O2 clang "-O2 -w"
for build in build-aarch64 build-x86_64; do
  [ ! -x $build/test/tribo_golden ] || builds="$builds $build"
done
scripts/same_bits.sh $builds
