#!/bin/sh
# Static analysis: clang's warnings and cppcheck over everything. Anything found fails. cppcheck sees the
# lists of fields empty: their expansion takes it minutes a file.
cd "$(dirname "$0")/.." || exit 1
bad=0
if command -v clang >/dev/null; then
  find src cli page -name '*.c' | sort | xargs -P2 -n8 clang -std=c17 -D_POSIX_C_SOURCE=200809L \
    -DTRIBO_VERSION='"check"' -DTRIBO_SCENES_FROM_PROGRAM='"check"' -Iinclude -Isrc -Icli -Ipage \
    $(pkg-config --cflags libxml-2.0) -fsyntax-only -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
    -Wunreachable-code -Werror || bad=1
else
  echo "static: clang is not installed, its warnings are skipped"
fi
if command -v cppcheck >/dev/null; then
  lists=$(mktemp -d)
  trap 'rm -rf "$lists"' EXIT
  mkdir "$lists/tribo" "$lists/io"
  for file in include/tribo/model_fields.h include/tribo/data_fields.h include/tribo/spec_fields.h; do
    sed -n 's/^#define \(TB_[A-Z_]*\)(X).*/#define \1(X)/p' $file >"$lists/${file#*/}"
  done
  cppcheck --std=c11 --enable=warning,portability --quiet --error-exitcode=1 -j2 --max-configs=1 \
    --suppress=missingIncludeSystem --suppressions-list=scripts/cppcheck.suppressions -I"$lists" \
    -Iinclude -Isrc -Icli -Ipage src cli page || bad=1
else
  echo "static: cppcheck is not installed, skipped"
fi
[ $bad = 0 ] && echo "static: ok"
exit $bad
