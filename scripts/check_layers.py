#!/usr/bin/env python3
"""The layers of the library: who may use whom, by include lines and by the symbols of the objects.

    scripts/check_layers.py [BUILD]     BUILD: a folder with compiled objects (default: build)

A layer is a folder of src/ with what it may use; it may also use what those may use. Sub-folders of
collide/, solvers/ and io/ see each other, and a law's folder sees no other law's. What still points
upward stands in scripts/upward_calls.txt, a list that may only shrink.
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Layer: the layers right below it.
BELOW = {
    "base": "",
    "linalg": "base",
    "spatial": "linalg",
    "model": "spatial",
    "dynamics": "model",
    "dynamics/constants": "dynamics",
    "forces": "dynamics/constants",
    "collide": "spatial",
    "problem": "linalg",
    "operator": "problem",
    "solvers": "operator",
    "io": "model dynamics/constants collide problem",
    "assemble": "forces problem",
    "detect": "assemble collide",
    "partials": "detect",
    "world": "partials solvers",
    "laws": "world",
    "laws/rigid": "laws",
    "laws/soft": "laws",
    "laws/comfree": "laws",
    "laws/viscoelastic": "laws",
    "sensors": "laws/rigid laws/soft laws/comfree laws/viscoelastic",
    "step": "sensors",
    "derivatives": "step",
    "batch": "derivatives",
    "control": "derivatives io",
    "load": "step io",
    "render": "world",
    "record": "world io",
    "measure": "world",
}


def closure(layer):
    """The layer and everything below it."""
    seen, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += BELOW[at].split()
    return seen


ALLOWED = {layer: closure(layer) for layer in BELOW}


def layer_of(path):
    """The layer of a file given below src/: the longest folder that is one."""
    folder = os.path.dirname(path)
    while folder and folder not in BELOW:
        folder = os.path.dirname(folder)
    return folder


def sources():
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "src"))


def include_arrows():
    """(file, included file) for all project headers; complaints about what no file may include."""
    arrows, wrong = set(), []
    places = [("src", f) for f in sources()]
    for top in ("include", "cli"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            places += [(top, os.path.relpath(os.path.join(folder, n), os.path.join(ROOT, top)))
                       for n in names if n.endswith((".c", ".h"))]
    for top, name in places:
        text = open(os.path.join(ROOT, top, name), encoding="utf-8").read()
        for target in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
            if target.startswith("tribo/"):
                continue
            if top == "src":
                arrows.add((name, target))
            elif top == "cli" and os.path.exists(os.path.join(ROOT, "cli", target)):
                continue
            elif top == "include" or "/" in target:
                wrong.append(f"{top}/{name} includes {target}: only headers of tribo/ are public")
    return arrows, wrong


def symbol_arrows(build):
    """(file, file) for every symbol that one object takes from another."""
    objects = {}
    top = os.path.join(build, "CMakeFiles", "tribo_objects.dir", "src")
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith(".o"):
                path = os.path.join(folder, name)
                source = os.path.relpath(path, top)[:-2]
                if os.path.exists(os.path.join(ROOT, "src", source)):
                    objects[source] = path
    owner, wanted = {}, collections.defaultdict(list)
    for source, path in objects.items():
        for line in subprocess.run(["nm", path], capture_output=True, text=True).stdout.splitlines():
            kind, name = line.split()[-2:]
            if kind in "TDRBVW":
                owner[name] = source
            elif kind == "U":
                wanted[source].append(name)
    return {(source, owner[name], name) for source in wanted for name in wanted[source]
            if name in owner}


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
    includes, wrong = include_arrows()
    for source in sources():
        if not layer_of(source):
            wrong.append(f"src/{source} lies in no layer")
    symbols = symbol_arrows(build)
    if not symbols:
        print("layers: no objects to look at; build first")
        return 1

    found = {}
    for source, target in includes:
        if layer_of(target) not in ALLOWED.get(layer_of(source), set()):
            found.setdefault((source, target), set()).add("include")
    for source, target, name in symbols:
        if layer_of(target) not in ALLOWED.get(layer_of(source), set()):
            found.setdefault((source, target), set()).add(name)

    listed = {}
    for line in open(os.path.join(ROOT, "scripts", "upward_calls.txt"), encoding="utf-8"):
        line = line.split("#")[0].split()
        if line:
            listed[tuple(line[:2])] = True
    new = sorted(set(found) - set(listed))
    gone = sorted(set(listed) - set(found))
    for source, target in new:
        wrong.append(f"src/{source} uses {target} ({', '.join(sorted(found[source, target]))})")
    for source, target in gone:
        wrong.append(f"scripts/upward_calls.txt lists {source} {target}, which is gone: take it out")
    for line in wrong:
        print(line)
    if not wrong:
        print(f"layers: ok, {len(listed)} upward calls left")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
