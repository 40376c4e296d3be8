#!/bin/sh
# What a newcomer sees: the laws side by side on built-in scenes, as tables and as a page in motion.
# The build before it shows its progress in one line, and its whole output only where it fails.
#   demo.sh [JOBS]
set -u
cd "$(dirname "$0")/.." || exit 1
# Make's own flags are for the targets of the Makefile above; the build gets its jobs here.
unset MAKEFLAGS MFLAGS MAKELEVEL
jobs=${1:-2}
log=build/demo.log
mkdir -p build

built() { # what the build prints: its percentages become one line on a terminal
  if [ -t 1 ]; then
    tee "$log" | sed -n -u 's/^\[ *\([0-9]*%\)\].*/\1/p' | while read -r percent; do
      printf '\rbuilding: %s ' "$percent"
    done
    printf '\r%20s\r' ''
  else
    cat >"$log"
  fi
}

build() {
  { cmake --preset release -DTRIBO_BUILD_TESTS=OFF -DTRIBO_BUILD_BENCH=ON &&
    cmake --build build -j"$jobs" --target tribo tribo-bench-cm tribo-bench-papers; } 2>&1
  echo $? >build/demo.rc
}

[ -t 1 ] || echo "building (its output is in $log)"
build | built
if [ "$(cat build/demo.rc)" != 0 ]; then
  cat "$log"
  exit 1
fi
rm -f build/demo.rc
exec build/tribo demo scenes --out build/demo
