#!/bin/sh
# What a newcomer sees: the laws side by side on built-in scenes, then the most telling claims of the
# report with their figures as a page.
cd "$(dirname "$0")/.." || exit 1
build/tribo demo scenes || exit 1
[ -x build/bench/tribo-bench-cm ] && [ -x build/bench/tribo-bench-papers ] || exit 0
echo
echo "What the papers say, and what is measured here:"
echo
build/tribo bench papers --demo --out build/demo 2>/dev/null
status=$?
echo "The figures and an animation: build/demo/index.html. All four papers: make bench."
exit $status
