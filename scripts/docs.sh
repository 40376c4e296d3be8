#!/bin/sh
# Build the site of the documentation into build/site: docs/ and a reference of the public headers.
# The tools are those of docs/requirements.txt, in a virtual environment below build/.
set -eu
cd "$(dirname "$0")/.."
venv=build/docs-venv
mkdir -p build
if ! cmp -s docs/requirements.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q -r docs/requirements.txt
  cp docs/requirements.txt "$venv/installed.txt"
fi
rm -rf build/docs
mkdir -p build/docs
cp -R docs/. build/docs
scripts/reference.py build/docs/reference
"$venv/bin/mkdocs" build -q --strict --clean
echo "docs: build/site/index.html"
