#!/bin/sh
# Install into an empty prefix, take the first C block of the README, build it both ways, run it;
# the same with that of docs/manual/start.md, the programs of docs/examples, and the commands of README
# and start.md.
#   run.sh SOURCE BUILD CC
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
cp "$source"/docs/examples/*.c "$work"
first_block "$source/docs/manual/start.md" "$work/start.c" c
first_block "$source/docs/manual/start.md" "$work/CMakeLists.txt" cmake

# Every command as it stands there, in a folder with the scenes. The problem of the README is the
# reader's own.
mkdir "$work/run"
ln -s "$source/scenes" "$work/run/scenes"
ln -s "$build" "$work/run/build"
for page in README.md docs/manual/start.md; do
  sed -n 's/^    \(build\/tribo [^#]*\).*/\1/p' "$source/$page" | grep -v problem.hdf5 >"$work/commands"
  [ "$(wc -l <"$work/commands")" -ge 4 ]
  while read -r command; do
    (cd "$work/run" && sh -c "$command" >/dev/null) || {
      echo "$page: fails: $command"
      exit 1
    }
  done <"$work/commands"
done

# pkg-config
export PKG_CONFIG_PATH="$(dirname "$(find "$work/prefix" -name tribo.pc)")"
libdir=$(pkg-config --variable=libdir tribo)
$cc -std=c17 -Wall -Werror "$work/example.c" -o "$work/by_pkgconfig" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/by_pkgconfig" "$source/scenes/sliding_cube.xml"
$cc -std=c17 -Wall -Wextra -Werror "$work/problem.c" -o "$work/problem" \
  $(pkg-config --cflags --libs tribo) -lm
LD_LIBRARY_PATH=$libdir "$work/problem"
$cc -std=c17 -Wall -Wextra -Werror "$work/start.c" -o "$work/start" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/start" "$source/scenes/sliding_cube.xml"
$cc -std=c17 -Wall -Wextra -Werror "$work/lqr.c" -o "$work/lqr" $(pkg-config --cflags --libs tribo) -lm
LD_LIBRARY_PATH=$libdir "$work/lqr" "$source/scenes/quadruped_torque.xml"
$cc -std=c17 -Wall -Wextra -Werror "$work/batch.c" -o "$work/batch" $(pkg-config --cflags --libs tribo)
LD_LIBRARY_PATH=$libdir "$work/batch" "$source/scenes/hand.xml"

# find_package
cmake -S "$work" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$work/b" >/dev/null
"$work/b/example" "$source/scenes/sliding_cube.xml"
"$work/b/example_static" "$source/scenes/sliding_cube.xml"
