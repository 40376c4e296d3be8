#!/bin/sh
# What an installed Tribo needs and brings: the libraries it pulls in, pkg-config, the demo.
#   package.sh SOURCE BUILD CC
set -eu
source=$1 build=$2 cc=$3
grep -q '^TRIBO_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
export PKG_CONFIG_PATH="$(dirname "$(find "$work/prefix" -name tribo.pc)")"
libdir=$(pkg-config --variable=libdir tribo)

# The shared library needs the C library, libxml2, qhull and libpng, and what these need.
ldd "$libdir/libtribo.so" >"$work/needed"
if grep -vE '^\s*(linux-vdso|/lib|lib(c|m|dl|pthread|xml2|icuuc|icudata|z|lzma|stdc\+\+|gcc_s|qhull_r|png16)\.)' \
  "$work/needed"; then
  echo "libtribo.so pulls in more than it should (above)"
  exit 1
fi

# A program that links the shared library needs no header but Tribo's.
[ "$(pkg-config --cflags tribo | grep -o -- '-I' | wc -l)" = 1 ]

# The static library links with what --static names. (A sole libtribo.a: a linker takes the shared one
# where both are.)
awk '$0 == "```c" { on = 1; next } /^```$/ { if (on) exit } on' "$source/README.md" >"$work/example.c"
mkdir "$work/static"
mv "$libdir"/libtribo.so* "$work/static"
$cc -std=c17 "$work/example.c" -o "$work/example" $(pkg-config --static --cflags --libs tribo)
"$work/example" "$source/scenes/sliding_cube.xml" >/dev/null
if ldd "$work/example" | grep libtribo; then exit 1; fi
mv "$work/static"/* "$libdir"

# The demo finds its scenes from any folder, also after a move.
mv "$work/prefix" "$work/moved"
cd "$work/static"
"$work/moved/bin/tribo" demo --json >"$work/demo.json"
[ "$(grep -o '"law"' "$work/demo.json" | wc -l)" = 14 ]
