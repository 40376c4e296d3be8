#!/bin/sh
# Install into an empty prefix, take the first C block of the README, build it both ways, run it;
# the same with that of docs/manual/start.md and the programs of examples/c.
#   examples.sh SOURCE BUILD CC
set -eu
source=$1 build=$2 cc=$3
# A library built with a sanitizer needs its runtime first: not what a user installs.
grep -q '^TRIBO_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
first_block() {
  awk -v language="$3" '$0 == "```" language { on = 1; next } /^```$/ { if (on) exit } on' "$1" >"$2"
  [ "$(wc -l <"$2")" -ge 5 ]
}
first_block "$source/README.md" "$work/example.c" c
first_block "$source/docs/manual/start.md" "$work/start.c" c
first_block "$source/docs/manual/start.md" "$work/CMakeLists.txt" cmake

# pkg-config
export PKG_CONFIG_PATH="$(dirname "$(find "$work/prefix" -name tribo.pc)")"
libdir=$(pkg-config --variable=libdir tribo)
$cc -std=c17 -Wall -Werror "$work/example.c" -o "$work/by_pkgconfig" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/by_pkgconfig" "$source/scenes/sliding_cube.xml"
$cc -std=c17 -Wall -Wextra -Werror "$work/start.c" -o "$work/start" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/start" "$source/scenes/sliding_cube.xml"
mkdir "$work/run"
ln -s "$source/scenes" "$work/run/scenes"
for program in "$source"/examples/c/*.c; do
  $cc -std=c17 -Wall -Wextra -Wno-unused-parameter -Werror "$program" -o "$work/program" \
    $(pkg-config --cflags --libs tribo) -lm
  (cd "$work/run" && LD_LIBRARY_PATH=$libdir "$work/program")
done

# find_package
cmake -S "$work" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$work/b" >/dev/null
"$work/b/example" "$source/scenes/sliding_cube.xml"
"$work/b/example_static" "$source/scenes/sliding_cube.xml"
