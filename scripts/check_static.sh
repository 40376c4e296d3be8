#!/bin/sh
# Static analysis by cppcheck: errors, warnings and portability; anything it finds fails.
cd "$(dirname "$0")/.." || exit 1
if ! command -v cppcheck >/dev/null; then
  echo "static: skipped, cppcheck is not installed"
  exit 0
fi
cppcheck --std=c11 --enable=warning,portability --inline-suppr --quiet --error-exitcode=1 -j2 \
  --suppress=missingIncludeSystem --suppressions-list=scripts/cppcheck.suppressions -Iinclude -Isrc src cli && echo "static: ok"
