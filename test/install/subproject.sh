#!/bin/sh
# Tribo inside another project, by add_subdirectory and by FetchContent: the libraries and nothing
# else, and a program that links tribo::tribo.
#   subproject.sh SOURCE BUILD CC LAUNCHER
set -eu
source=$1 build=$2 cc=$3 launcher=$4
grep -q '^TRIBO_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/user.c" <<'END'
#include <stdio.h>
#include <tribo/tribo.h>

int main(void) {
  tbModel* m = tb_load_string("<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                              "<body pos='0 0 0.1'><freejoint/><geom size='0.1'/></body>"
                              "</worldbody></mujoco>", NULL, NULL, NULL);
  tbData* d = m ? tb_data_new(m) : NULL;
  if (!d || tb_step(m, d) != TB_OK) return 1;
  printf("%d contacts\n", d->ncon);
  return d->ncon == 1 ? 0 : 1;
}
END
project() { # name, the lines that get Tribo
  mkdir "$work/$1"
  {
    echo 'cmake_minimum_required(VERSION 3.20)'
    echo "project($1 C)"
    echo "$2"
    echo 'add_executable(user ../user.c)'
    echo 'target_link_libraries(user tribo::tribo)'
    echo 'add_executable(user_static ../user.c)'
    echo 'target_link_libraries(user_static tribo::tribo_static)'
  } >"$work/$1/CMakeLists.txt"
  # Without optimisation: this is about names, not speed.
  cmake -S "$work/$1" -B "$work/$1/b" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$work/log"
  cmake --build "$work/$1/b" --target help >"$work/targets"
  if grep -E 'test_|tribo-bench|thread_tests| tribo$' "$work/targets" ||
    grep -e '-Werror' "$work/$1/b/compile_commands.json"; then
    echo "$1: a project that uses Tribo gets the above, too"
    exit 1
  fi
  grep -q 'BUILD_TYPE:STRING=Debug' "$work/$1/b/CMakeCache.txt"
}
project by_folder "add_subdirectory($source tribo)"
project by_fetch "include(FetchContent)
FetchContent_Declare(tribo SOURCE_DIR $source)
FetchContent_MakeAvailable(tribo)"
cmake --build "$work/by_fetch/b" -j2 >"$work/log" || { tail -20 "$work/log"; exit 1; }
"$work/by_fetch/b/user"
"$work/by_fetch/b/user_static"
# The CMake file and the program of the first steps, with the path of this checkout.
mkdir "$work/start"
awk '$0 == "```cmake" { n++; on = n == 2; next } /^```$/ { on = 0 } on' "$source/docs/manual/start.md" |
  sed "s|/path/to/tribo|$source|" >"$work/start/CMakeLists.txt"
awk '$0 == "```c" { on = 1; next } /^```$/ { if (on) exit } on' "$source/docs/manual/start.md" \
  >"$work/start/example.c"
grep -q '^project(' "$work/start/CMakeLists.txt"
cmake -S "$work/start" -B "$work/start/b" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher" >"$work/log"
cmake --build "$work/start/b" -j2 >"$work/log" || { tail -20 "$work/log"; exit 1; }
"$work/start/b/example" "$source/scenes/sliding_cube.xml"
# Installing the project installs what the project says, not Tribo.
cmake --install "$work/by_fetch/b" --prefix "$work/prefix" >/dev/null
[ ! -e "$work/prefix/include/tribo" ]
