#!/bin/sh
# Install into an empty prefix, take the first C block of the README, build it both ways, run it;
# the same with the contact problem of docs/problem.md.
#   run.sh SOURCE BUILD CC
set -eu
source=$1 build=$2 cc=$3
# A library built with a sanitizer needs its runtime first: not what a user installs.
grep -q '^TRIBO_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
first_block() {
  awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$1" >"$2"
  [ "$(wc -l <"$2")" -ge 10 ]
}
first_block "$source/README.md" "$work/example.c"
first_block "$source/docs/problem.md" "$work/problem.c"

# pkg-config
export PKG_CONFIG_PATH="$(dirname "$(find "$work/prefix" -name tribo.pc)")"
libdir=$(pkg-config --variable=libdir tribo)
$cc -std=c17 -Wall -Werror "$work/example.c" -o "$work/by_pkgconfig" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/by_pkgconfig" "$source/scenes/sliding_cube.xml"
$cc -std=c17 -Wall -Wextra -Werror "$work/problem.c" -o "$work/problem" \
  $(pkg-config --cflags --libs tribo) -lm
LD_LIBRARY_PATH=$libdir "$work/problem"

# find_package
cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(example C)
find_package(tribo REQUIRED)
add_executable(example example.c)
target_link_libraries(example tribo::tribo)
add_executable(example_static example.c)
target_link_libraries(example_static tribo::tribo_static)
CMAKE
cmake -S "$work" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$work/b" >/dev/null
"$work/b/example" "$source/scenes/sliding_cube.xml"
"$work/b/example_static" "$source/scenes/sliding_cube.xml"
