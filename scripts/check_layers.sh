#!/bin/sh
# The arrows of the layout: who may include whom. Reads the include lines, prints every violation,
# and ends with 1 if there was one.
cd "$(dirname "$0")/.." || exit 1
awk '
BEGIN {
  allow["base"]     = "base"
  allow["linalg"]   = "base linalg"
  allow["spatial"]  = "base linalg spatial"
  allow["model"]    = "base linalg spatial model"
  allow["dynamics"] = "base linalg spatial model dynamics"
  allow["collide"]  = "base linalg spatial collide"
  allow["contact"]  = "base linalg spatial model dynamics collide contact"
  allow["solvers"]  = "base linalg contact solvers"
  allow["step"]     = "base linalg spatial model dynamics collide contact solvers step"
  allow["batch"]    = "base linalg spatial model dynamics collide contact solvers step batch"
  allow["control"]  = "base linalg spatial model dynamics contact solvers step io control"
  allow["io"]       = "base linalg spatial collide model io"
  allow["api"]      = "base linalg spatial model dynamics collide contact solvers step batch io api"
  # Assembly is the one place that sees dynamics and collision; the rest of contact sees neither.
  narrow["contact"] = "base linalg contact"
  bad = 0
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, part, "\"")
  target = part[2]
  n = split(FILENAME, path, "/")
  if (path[1] == "include") {
    if (target !~ /^tribo\//) { print FILENAME ":" FNR ": public header includes " target; bad = 1 }
    next
  }
  if (path[1] == "cli" || path[1] == "python" || path[1] == "viewer") {
    if (target ~ /\// && target !~ /^tribo\//) {
      print FILENAME ":" FNR ": " path[1] " may include only tribo/ headers, not " target; bad = 1
    }
    next
  }
  if (path[1] != "src") next
  layer = path[2]
  split(target, dir, "/")
  to = dir[1]
  if (to == "tribo") next
  if (target !~ /\//) { print FILENAME ":" FNR ": write the layer in \"" target "\""; bad = 1; next }
  list = allow[layer]
  if (layer in narrow && path[3] !~ /^assemble/) list = narrow[layer]
  if (index(" " list " ", " " to " ") == 0) {
    print FILENAME ":" FNR ": " layer " may not include " target; bad = 1
  }
}
END { if (!bad) print "layers: ok"; exit bad }
' $(find include src cli -name '*.[ch]' | sort)
