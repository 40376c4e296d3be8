#!/bin/sh
# Files over 800 lines ask for a split.
cd "$(dirname "$0")/.." || exit 1
long=$(find include src cli test bench -name '*.[ch]' -exec wc -l {} + | awk '$1 > 800 && $2 != "total" { print "  " $1 " " $2 }')
[ -z "$long" ] && echo "sizes: ok" && exit 0
echo "files over 800 lines:"
echo "$long"
exit 1
