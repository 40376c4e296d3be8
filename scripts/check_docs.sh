#!/bin/sh
# Links between pages lead somewhere, headings included; every page is listed in docs/index.md; pages
# and equations that comments in the code name exist.
cd "$(dirname "$0")/.." || exit 1
pages="README.md CHANGELOG.md $(ls docs/*.md)"
bad=$(
  # First pass: the anchors of all headings, as GitHub makes them. Second: links.
  awk '
  function anchor(text) {
    text = tolower(text)
    while (match(text, /\]\([^)]*\)/)) text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    gsub(/[^a-z0-9_ -]/, "", text)
    gsub(/ /, "-", text)
    return text
  }
  FNR == 1 { pass[FILENAME]++; code = 0 }
  /^```/ { code = !code }
  code { next }
  pass[FILENAME] == 1 && /^#+ / { sub(/^#+ /, ""); known[FILENAME "#" anchor($0)] = 1; next }
  pass[FILENAME] == 1 { next }
  {
    rest = $0
    while (match(rest, /\]\([^) ]+\)/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 3)
      rest = substr(rest, RSTART + RLENGTH)
      if (target ~ /^https?:/) continue
      folder = FILENAME ~ /\// ? "docs/" : ""
      split(target, part, "#")
      file = part[1] == "" ? FILENAME : folder part[1]
      sub(/^docs\/\.\.\//, "", file)
      if (!(file in exists)) exists[file] = system("test -e " file) == 0
      if (!exists[file]) print FILENAME ":" FNR ": " target " does not exist"
      else if (part[2] != "" && file ~ /\.md$/ && !((file "#" part[2]) in known))
        print FILENAME ":" FNR ": " target " has no such heading"
    }
  }' $pages $pages
  for page in docs/*.md; do
    name=$(basename "$page")
    [ "$name" = index.md ] || grep -q "($name)" docs/index.md || echo "$page is not in docs/index.md"
  done
  grep -rnoE 'docs/[a-z-]+\.md' include src cli test bench viewer --include='*.[ch]' |
    while IFS=: read -r file line page; do [ -e "$page" ] || echo "$file:$line: $page does not exist"; done
  # "docs/step.md, eq. 7" or "eq. 25-27": both ends are numbered on the page, as (7) or \tag{7}.
  grep -rnoE 'docs/[a-z-]+\.md,? eq\. [0-9]+[a-z]?(-[0-9]+)?' include src cli test bench viewer --include='*.[ch]' |
    while IFS=: read -r file line citation; do
      page=${citation%%.md*}.md
      for number in $(echo "${citation##*eq. }" | tr '-' ' '); do
        grep -qF -e "($number)" -e "\\tag{$number}" "$page" || echo "$file:$line: $page has no equation $number"
      done
    done
)
[ -z "$bad" ] && echo "docs: ok" && exit 0
echo "$bad"
exit 1
