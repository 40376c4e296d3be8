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

# The robot of the first steps' scene is the reader's own: here two links. The scene is the page's.
cat >robot.urdf <<'END'
<robot name="robot"><link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="arm"><collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>
END
awk '$0 == "```xml" { on = 1; next } /^```$/ { if (on) exit } on' "$source/docs/manual/start.md" >scene.xml
[ "$(wc -l <scene.xml)" -ge 6 ]

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
