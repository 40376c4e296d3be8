#!/bin/sh
# Run CTest in a build folder, then name and count what was skipped.
#   scripts/run_tests.sh BUILD [ctest options]
build=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
LSAN_OPTIONS=suppressions=$(cd "$(dirname "$0")" && pwd)/lsan.suppressions:print_suppressions=0
export LSAN_OPTIONS
ctest --test-dir "$build" --output-on-failure "$@" | tee "$log"
grep -q '^100% tests passed' "$log"
status=$?
# Whole tests that need a peer, and single cases that need data which is not here.
skipped=$(grep -c 'Skipped' "$log")
cases=$(grep -rh 'skipped: ' "$build/Testing/Temporary/LastTest.log" 2>/dev/null | sort -u)
if [ -n "$cases" ]; then
  echo "skipped ($skipped whole tests):"
  echo "$cases" | sed 's/^/  /'
fi
exit $status
