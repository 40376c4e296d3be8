#!/bin/sh
# Fail where a C file is not as clang-format would write it.
cd "$(dirname "$0")/.." || exit 1
if ! command -v clang-format >/dev/null; then
  echo "format: skipped, clang-format is not installed"
  exit 0
fi
find include src cli page test bench examples python \( -name '*.[ch]' -o -name '*.cpp' \) | sort | xargs clang-format --dry-run -Werror && echo "format: ok"
