#!/bin/sh
# Build the site of the documentation into build/site: docs/, references of the public headers and of
# the Python package, the notebooks with their outputs, a gallery. The tools are those of
# docs/requirements.txt, in a virtual environment below build/; the package is that of `make python`.
set -eu
cd "$(dirname "$0")/.."
venv=build/docs-venv
env=build/python-env
JOBS=${JOBS:-2} scripts/python.sh build >/dev/null
if ! cmp -s docs/requirements.txt "$venv/installed.txt"; then
  rm -rf "$venv"
  "$env/bin/python" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r docs/requirements.txt
  # The package and its run-time part, from the environment they were built in.
  of_env=$("$PWD/$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$venv/bin/python" -c "import pathlib, sysconfig
pathlib.Path(sysconfig.get_path('purelib'), 'tribo.pth').write_text('$of_env\n')"
  cp docs/requirements.txt "$venv/installed.txt"
fi
rm -rf build/docs
mkdir -p build/docs
cp -R docs/. build/docs
scripts/reference.py build/docs/reference
scripts/python_reference.py build/docs/reference/python
"$venv/bin/python" scripts/notebooks.py pages build/docs/notebooks
"$venv/bin/python" scripts/gallery.py build/docs
"$venv/bin/mkdocs" build -q --strict --clean
echo "docs: build/site/index.html"
