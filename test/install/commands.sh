#!/bin/sh
# Every command of the README and of the first pages of the manual, as it stands there, in a folder
# with the scenes. Pictures must show something, and animations must move.
#   commands.sh SOURCE BUILD
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
ln -s "$source/scenes" "$work/run/scenes"
ln -s "$build" "$work/run/build"
cd "$work/run"

# The problem that the README solves is the reader's own: here two contacts.
"$build/test/problem_file" problem.hdf5

check_picture() { # command, picture
  [ -x "$build/test/picture" ] || return 0
  read -r frames changed edges <<END
$("$build/test/picture" "$2")
END
  if [ "$edges" -lt 500 ]; then
    echo "an empty picture ($edges edges): $1"
    exit 1
  fi
  if [ "$frames" -gt 1 ] && [ "$changed" -lt 500 ]; then
    echo "nothing moves ($changed pixels in $frames frames): $1"
    exit 1
  fi
}

for page in README.md docs/manual/start.md; do
  sed -n 's/^    \(build\/tribo [^#]*\).*/\1/p' "$source/$page" >"$work/commands"
  [ "$(wc -l <"$work/commands")" -ge 4 ]
  while read -r command; do
    sh -c "$command" >"$work/log" 2>&1 </dev/null || {
      cat "$work/log"
      echo "$page: fails: $command"
      exit 1
    }
    picture=$(echo "$command" | sed -n 's/.*--out \([^ ]*\.png\).*/\1/p')
    [ -z "$picture" ] || check_picture "$page: $command" "$picture"
  done <"$work/commands"
done
