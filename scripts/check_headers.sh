#!/bin/sh
# Public headers are self-contained and compile as C and as C++.
cd "$(dirname "$0")/.." || exit 1
bad=0
for header in include/tribo/*.h; do
  name=${header#include/}
  echo "#include \"$name\"" | ${CC:-cc} -std=c17 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c - || bad=1
  if command -v c++ >/dev/null; then
    echo "#include \"$name\"" | c++ -std=c++17 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c++ - || bad=1
  fi
done
[ $bad = 0 ] && echo "headers: ok"
exit $bad
