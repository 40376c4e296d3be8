#!/bin/sh
# Build for 64-bit ARM on another machine and run the unit tests under qemu-user.
#
#   scripts/aarch64.sh [ctest options]     for instance: scripts/aarch64.sh -R linalg
#
# Needs Debian's gcc-aarch64-linux-gnu, qemu-user and mmdebstrap (scripts/setup.sh aarch64). The arm64
# libraries are unpacked once into TRIBO_SYSROOT (build-aarch64-sysroot); nothing is installed.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
sysroot=${TRIBO_SYSROOT:-$PWD/build-aarch64-sysroot}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=libc6-dev,libgcc-12-dev,libxml2-dev,libqhull-dev,libhdf5-dev,libpng-dev,zlib1g-dev,libcmocka-dev

for tool in aarch64-linux-gnu-gcc qemu-aarch64 cmake; do
  command -v $tool >/dev/null || { echo "aarch64: needs $tool (scripts/setup.sh aarch64)" >&2; exit 1; }
done

# The sysroot: unpacked packages, with links that stay inside it.
if [ ! -e "$sysroot/complete" ]; then
  rm -rf "$sysroot"
  mmdebstrap --quiet --arch=arm64 --variant=extract --include=$packages bookworm "$sysroot" "$mirror"
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$sysroot$(readlink "$link")" "$link"
  done
  touch "$sysroot/complete"
fi

cmake --preset aarch64 -DTRIBO_SYSROOT="$sysroot" >/dev/null
cmake --build build-aarch64 -j"$jobs"
# Tests of the command line start it by its name, which no emulator stands behind.
scripts/run_tests.sh build-aarch64 -j"$jobs" -LE 'slow|peer|install' -E '^cli/' "$@"
