#!/bin/sh
# Programs that pages quote are those that the tests run: a block of C after the line
# `<!-- quote: FILE -->` is a part of that file, character by character.
#   quotes.sh SOURCE
cd "$1" || exit 1
cat docs/manual/*.md | grep -q "^<!-- quote: " || {
  echo "no page quotes a program"
  exit 1
}
for page in README.md docs/index.md docs/manual/*.md; do
  awk -v page="$page" '
    function complain(what) { print page ":" NR ": " what; bad = 1 }
    /^<!-- quote: .* -->$/ { if (file) complain("no block of C follows"); file = $3; next }
    file && /^```c$/ { inside = 1; block = ""; next }
    inside && /^```$/ {
      text = ""
      while ((getline line < file) > 0) text = text line "\n"
      close(file)
      if (!text) complain(file " cannot be read")
      else if (!index(text, block)) complain("not what is in " file)
      inside = 0; file = ""; next
    }
    inside { block = block $0 "\n" }
    END { if (file) complain("no block of C follows"); exit bad }' "$page" || bad=1
done
exit ${bad:-0}
