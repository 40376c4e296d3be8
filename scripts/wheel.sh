#!/bin/sh
# A wheel that needs libc, libm and libstdc++ only (as NumPy's does): libxml2, qhull and libpng are built as static,
# position-independent libraries from Debian's source packages, without what they pull in (ICU, lzma, ...).
#
#   scripts/wheel.sh           build/dist/tribo-*.whl
#   scripts/wheel.sh test      and run a step with it in a bare Debian (mmdebstrap), outside of this machine's libraries
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
DEPS=$ROOT/build/wheel-deps
JOBS=${JOBS:-2}
# Source packages of Debian 12, exactly; a new point release changes the last part of a version.
SOURCES="libxml2=2.9.14+dfsg-1.3~deb12u6 qhull=2020.2-5 libpng1.6=1.6.39-2+deb12u5"

command -v dpkg-source >/dev/null || apt-get install -y --no-install-recommends dpkg-dev >/dev/null
rm -rf build/dist
mkdir -p "$DEPS/source" "$DEPS/lists" build/dist
cd "$DEPS/source"

# The system's own list of sources stays as it is.
sources() {
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
  {
    echo "deb-src $mirror $codename main"
    echo "deb-src $mirror $codename-updates main"
    echo "deb-src ${mirror%/debian*}/debian-security $codename-security main"
  } >"$DEPS/sources.list"
  set -- -o Dir::Etc::sourcelist="$DEPS/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$DEPS/lists"
  apt-get "$@" update -qq || true
  for package in $SOURCES; do
    name=${package%%=*}
    [ -d "$name" ] && continue
    # A version that the mirror no longer has is an error: the pin above is to be moved by hand.
    apt-get "$@" source -qq "$package"
    mv "$name"-[0-9]*/ "$name"
  done
}

configure() {
  source=$1
  shift
  cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$DEPS" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF "$@" >/dev/null
  cmake --build "$source/build" -j"$JOBS" ${TARGETS:+--target $TARGETS} >/dev/null
}

[ -f "$DEPS/done" ] || {
  sources
  TARGETS= configure libxml2 -DLIBXML2_WITH_ICU=OFF -DLIBXML2_WITH_ICONV=OFF -DLIBXML2_WITH_LZMA=OFF -DLIBXML2_WITH_ZLIB=OFF \
    -DLIBXML2_WITH_HTTP=OFF -DLIBXML2_WITH_FTP=OFF -DLIBXML2_WITH_PYTHON=OFF -DLIBXML2_WITH_TESTS=OFF \
    -DLIBXML2_WITH_PROGRAMS=OFF -DLIBXML2_WITH_CATALOG=OFF
  cmake --install libxml2/build >/dev/null
  TARGETS=qhullstatic_r configure qhull
  cp qhull/build/libqhullstatic_r.a "$DEPS/lib/libqhull_r.a"
  cp -r qhull/src/libqhull_r "$DEPS/include/"
  TARGETS=png_static configure libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF
  cp libpng1.6/build/libpng16.a "$DEPS/lib/"
  cp libpng1.6/png.h libpng1.6/pngconf.h libpng1.6/build/pnglibconf.h "$DEPS/include/"
  touch "$DEPS/done"
}

cd "$ROOT"
scripts/python.sh build >/dev/null
PYTHON=$ROOT/build/python-env/bin/python
ZLIB=$(find /usr/lib -name libz.a | head -1)
"$PYTHON" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w build/dist . \
  -Ccmake.define.LIBXML2_LIBRARY="$DEPS/lib/libxml2.a" -Ccmake.define.LIBXML2_INCLUDE_DIR="$DEPS/include/libxml2" \
  -Ccmake.define.QHULL_LIBRARY="$DEPS/lib/libqhull_r.a" -Ccmake.define.QHULL_INCLUDE="$DEPS/include" \
  -Ccmake.define.PNG_LIBRARY="$DEPS/lib/libpng16.a" -Ccmake.define.PNG_PNG_INCLUDE_DIR="$DEPS/include" \
  -Ccmake.define.ZLIB_LIBRARY="$ZLIB" -Ccmake.define.ZLIB_INCLUDE_DIR=/usr/include
ls -l build/dist/*.whl
rm -rf build/dist/unpacked
"$PYTHON" -m zipfile -e build/dist/tribo-*.whl build/dist/unpacked
for file in build/dist/unpacked/tribo/_core.abi3.so build/dist/unpacked/tribo/_cli/bin/tribo; do
  left=$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|gcc_s|stdc\+\+)\.so|ld-linux)' || true)
  [ -z "$left" ] || {
    echo "wheel: $file needs $left" >&2
    exit 1
  }
done
for page in manual/choosing.md manual/laws/ncp.md howto/install.md _cli/share/tribo/scenes/quadruped.xml; do
  [ -f "build/dist/unpacked/tribo/$page" ] || {
    echo "wheel: $page is missing" >&2
    exit 1
  }
done
# The tag says the newest version of glibc that a symbol asks for.
glibc=$(objdump -T build/dist/unpacked/tribo/_core.abi3.so build/dist/unpacked/tribo/_cli/bin/tribo |
  grep -oE 'GLIBC_2\.[0-9]+' | sort -t. -k2 -n | tail -1 | cut -d. -f2)
"$PYTHON" -m pip install -q --disable-pip-version-check --upgrade --target build/wheel-deps/tools wheel==0.45.1
PYTHONPATH=build/wheel-deps/tools "$PYTHON" -m wheel tags --remove \
  --platform-tag "manylinux_2_${glibc}_$(uname -m)" build/dist/tribo-*.whl
echo "wheel: needs libc, libm, libgcc_s and libstdc++ only"

[ "${1:-}" = test ] || exit 0
command -v mmdebstrap >/dev/null || apt-get install -y --no-install-recommends mmdebstrap >/dev/null
BARE=$ROOT/build/bare
[ -d "$BARE/usr" ] || mmdebstrap --variant=minbase --include=python3,python3-venv,ca-certificates,libstdc++6 bookworm "$BARE" >/dev/null
"$PYTHON" -m pip download -q --disable-pip-version-check -d build/dist/with numpy==2.4.6 nanobind-backend==1.0.0
mkdir -p "$BARE/wheels"
cp build/dist/*.whl build/dist/with/*.whl "$BARE/wheels/"
cp scenes/stack.xml "$BARE/wheels/"
chroot "$BARE" sh -c 'rm -rf /env && python3 -m venv /env && /env/bin/pip install -q --no-index --find-links /wheels tribo &&
  /env/bin/python -c "
import tribo
m = tribo.Model.from_xml_path(\"/wheels/stack.xml\")
d = tribo.Data(m)
tribo.step(m, d, 100)
print(\"bare machine:\", d, d.solve.converged)
" && /env/bin/tribo info /wheels/stack.xml | head -1'
