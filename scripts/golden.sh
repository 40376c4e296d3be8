#!/bin/sh
# Store the golden lines anew (test/golden/lines.txt) and show which ones changed. The commit says why.
set -e
cd "$(dirname "$0")/.."
lines=test/golden/lines.txt
cmake --preset release -DTRIBO_BUILD_TESTS=ON >/dev/null
cmake --build build -j"${JOBS:-$(nproc)}" --target tribo_golden >/dev/null
build/test/tribo_golden 1 2 4 >build/golden.txt
[ ! -f $lines ] || diff $lines build/golden.txt | grep '^>' || echo "no line changed"
cp build/golden.txt $lines
