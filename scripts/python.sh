#!/bin/sh
# Build the Python package into a virtual environment of its own (build/python-env) and test it.
#
#   scripts/python.sh          build, write stubs, run the tests
#   scripts/python.sh build    build only: build/python-env/bin/python imports tribo
#   scripts/python.sh check    ruff and mypy on what is built
set -eu
cd "$(dirname "$0")/.."
ENV=build/python-env
PYTHON=$PWD/$ENV/bin/python

# The environment is made anew when the list of its packages changes.
want=$(cat python/requirements.txt | cksum)
if [ ! -x "$PYTHON" ] || [ "$(cat $ENV/requirements 2>/dev/null)" != "$want" ]; then
  base=$(command -v python3.11 || command -v python3)
  "$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python: needs Python 3.11 or later" >&2
    exit 1
  }
  rm -rf $ENV
  "$base" -m venv $ENV
  "$PYTHON" -m pip install -q --disable-pip-version-check -r python/requirements.txt
  echo "$want" >$ENV/requirements
fi

# The module is built in the tree of the library, so that nothing is compiled twice.
[ -f build/CMakeCache.txt ] || cmake --preset release -DTRIBO_BUILD_TESTS=OFF -DTRIBO_BUILD_BENCH=OFF >/dev/null
cmake -S . -B build -DTRIBO_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PYTHON" >/dev/null
cmake --build build -j"${JOBS:-2}" --target tribo_core tribo
SITE=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# The new package takes the place of the old one at once: programs that run meanwhile find either.
NEW=$SITE/.tribo-new-$$
trap 'rm -rf "$NEW"' EXIT
cmake --install build --component python --prefix "$NEW" >/dev/null
cp -r python/tribo/. "$NEW/tribo/"
PYTHONPATH=$NEW "$PYTHON" python/stubs.py python/tribo "$NEW/tribo"
"$PYTHON" python/swap.py "$NEW/tribo" "$SITE/tribo"
rm -rf "$NEW"

case ${1:-test} in
  build) ;;
  check)
    "$PYTHON" -m ruff check python
    "$PYTHON" -m mypy --python-executable "$PYTHON" python/tribo
    ;;
  test) "$PYTHON" -m pytest -q ${PYTEST_ARGS:-} python/tests ;;
esac
