#!/bin/sh
# Install the Debian packages this project needs; does nothing when all are there.
#
#   scripts/setup.sh build    what the library and the command line need
#   scripts/setup.sh test     build, and what the tests need; peer engines where they can be had
#   scripts/setup.sh bench    test, and the engines and converters of the report
#   scripts/setup.sh python   the Python package
#   scripts/setup.sh check    format and static analysis
#   scripts/setup.sh aarch64  cross-compiling for 64-bit ARM; x86_64: for a PC, on an ARM machine
set -u

BUILD="gcc make cmake pkg-config libc6-dev libxml2-dev libqhull-dev libpng-dev zlib1g-dev hdf5-tools"
TEST="$BUILD libcmocka-dev libhdf5-dev g++"
# Test oracles: a missing one skips its tests, it never fails them.
PEERS="libmujoco-dev libsiconos-numerics-dev libfclib-dev libccd-dev libfcl-dev libbullet-dev nodejs npm"
# Only the report needs these.
BENCH="libode-dev libdart-dev libsuitesparse-dev librsvg2-bin"
# The Python package; what it needs from PyPI is in python/requirements.txt.
PYTHON="$BUILD g++ python3-venv python3-dev"
CHECK="$BUILD python3 binutils clang clang-format cppcheck libclang-rt-14-dev"
# What builds and runs for another machine; its libraries are unpacked by scripts/cross.sh.
CROSS="qemu-user mmdebstrap"
AARCH64="$CROSS gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
X86_64="$CROSS gcc-x86-64-linux-gnu libc6-dev-amd64-cross"

HAS_HEADERS='import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'

missing() {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' && continue
    # A tool that came some other way counts as there.
    case $package in
      nodejs) command -v node >/dev/null && continue ;;
      g++) command -v c++ >/dev/null && continue ;;
      python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && continue ;;
      python3-dev) python3 -c "$HAS_HEADERS" 2>/dev/null && continue ;;
      gcc | make | cmake | npm | python3 | clang | clang-format | cppcheck)
        command -v "$package" >/dev/null && continue ;;
    esac
    printf '%s ' "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null
}

case ${1:-build} in
  build) wanted=$BUILD optional= ;;
  test) wanted=$TEST optional=$PEERS ;;
  bench) wanted=$TEST optional="$PEERS $BENCH" ;;
  python) wanted=$PYTHON optional= ;;
  check) wanted="$CHECK $PYTHON" optional= ;;
  aarch64) wanted="$BUILD $AARCH64" optional= ;;
  x86_64) wanted="$BUILD $X86_64" optional= ;;
  *) echo "usage: $0 build|test|bench|python|check|aarch64|x86_64" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is not a Debian system (no apt-get). Install the equivalents of:" >&2
  echo "  $wanted" | tr -s ' \n' ' ' >&2
  echo >&2
  exit 0
fi

need=$(missing $wanted)
extra=$(missing $optional)
[ -z "$need$extra" ] && exit 0
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
  echo "setup: needs root (or sudo) to install: $need$extra" >&2
  [ -z "$need" ] && exit 0
  exit 1
fi

echo "setup: installing $need$extra"
as_root apt-get update >/dev/null || echo "setup: apt-get update failed, trying with the old lists" >&2
if [ -n "$need" ] && ! apt_install $need; then
  echo "setup: could not install $need" >&2
  exit 1
fi
for package in $extra; do
  apt_install "$package" || echo "setup: $package cannot be had here; its tests will be skipped" >&2
done
