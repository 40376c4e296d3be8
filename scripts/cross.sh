#!/bin/sh
# Build for 64-bit ARM or PC on the other one and run the unit tests under qemu-user.
#
#   scripts/cross.sh aarch64|x86_64 [ctest options]     for instance: scripts/cross.sh aarch64 -R linalg
#
# Needs Debian's cross compiler, qemu-user and mmdebstrap (scripts/setup.sh aarch64|x86_64). The
# machine's libraries are unpacked once into TRIBO_SYSROOT (build-MACHINE-sysroot); nothing is installed.
set -eu
cd "$(dirname "$0")/.."
machine=${1:-}
case $machine in
  aarch64) debian=arm64 ;;
  x86_64) debian=amd64 ;;
  *) echo "usage: $0 aarch64|x86_64 [ctest options]" >&2; exit 2 ;;
esac
shift
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
sysroot=${TRIBO_SYSROOT:-$PWD/build-$machine-sysroot}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=libc6-dev,libgcc-12-dev,libxml2-dev,libqhull-dev,libhdf5-dev,libpng-dev,zlib1g-dev,libcmocka-dev

for tool in $machine-linux-gnu-gcc qemu-$machine cmake; do
  command -v $tool >/dev/null || { echo "cross: needs $tool (scripts/setup.sh $machine)" >&2; exit 1; }
done

# The sysroot: unpacked packages, with links that stay inside it.
if [ ! -e "$sysroot/complete" ]; then
  rm -rf "$sysroot"
  mmdebstrap --quiet --arch=$debian --variant=extract --include=$packages bookworm "$sysroot" "$mirror"
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$sysroot$(readlink "$link")" "$link"
  done
  touch "$sysroot/complete"
fi

cmake --preset $machine -DTRIBO_SYSROOT="$sysroot" >/dev/null
cmake --build build-$machine -j"$jobs"
# Tests of the command line start it by its name, which no emulator stands behind.
scripts/run_tests.sh build-$machine -j"$jobs" -LE 'slow|peer|install' -E '^cli/' "$@"
