#!/usr/bin/env python3
"""What keeps the house in order: sizes of folders, files and functions; one value for each name; the
field's words instead of private ones.

    scripts/check_house.py

Lists beside this script name what does not hold yet, and may only shrink:
    two_values.txt    names of constants that have several values in src/
    joint_names.txt   files that name a type of joint, and why
    words.txt         private words (regular expressions) and the standard ones in their place
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_FILES, MOST_LINES, MOST_FUNCTION = 40, 800, 120
# Folders of small files that are data.
DATA = ("scenes", "test/oracle/cases")


def tracked():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in out.stdout.split("\n") if f and os.path.exists(os.path.join(ROOT, f))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def listed(name):
    for line in read(f"scripts/{name}").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line


def check_folders(files, wrong):
    count = collections.Counter(os.path.dirname(f) for f in files
                                if re.search(r"\.(c|h|cu|cuh|py|ts|md|xml|sh)$", f))
    for folder, n in sorted(count.items()):
        if n > MOST_FILES and folder not in DATA:
            wrong.append(f"{folder}: {n} files, at most {MOST_FILES}")


def check_lengths(files, wrong):
    for name in files:
        if not name.endswith((".c", ".h")):
            continue
        lines = read(name).split("\n")
        if len(lines) - 1 > MOST_LINES:
            wrong.append(f"{name}: {len(lines) - 1} lines, at most {MOST_LINES}")
        start = None
        for i, line in enumerate(lines):
            if re.match(r"^[A-Za-z].*\{$", line) and not re.match(r"^(typedef|struct|enum|union|static const|extern)", line):
                start = i
            elif start is None and line.startswith("   ") and line.endswith(") {") and i:
                start = i
            elif line == "}" and start is not None:
                if i - start > MOST_FUNCTION:
                    wrong.append(f"{name}:{start + 1}: a function of {i - start} lines, at most "
                                 f"{MOST_FUNCTION}")
                start = None


def constants(text):
    """Names of constants with the values that they get."""
    for body in re.findall(r"^enum \{([^}]*)\};", text, re.M):
        for name, value in re.findall(r"\b([A-Z][A-Z0-9_]{2,})\s*=\s*([-+0-9.eExX]+)\b", body):
            yield name, value
    declared = re.findall(r"^static const (?:tbReal|int|double) ([^;(\[]*);", text, re.M)
    for body in declared:
        for name, value in re.findall(r"\b([A-Z][A-Z0-9_]{2,})\s*=\s*([-+0-9.eE]+)", body):
            yield name, value
    for name, value in re.findall(r"^#define ([A-Z][A-Z0-9_]{2,}) ([-+0-9.eE]+)\b", text, re.M):
        yield name, value


def check_values(files, wrong):
    values = collections.defaultdict(set)
    for name in files:
        if name.startswith("src/"):
            for constant, value in constants(read(name)):
                values[constant].add(value)
    several = {name for name, found in values.items() if len(found) > 1}
    known = set(listed("two_values.txt"))
    for name in sorted(several - known):
        wrong.append(f"the constant {name} has several values: {', '.join(sorted(values[name]))}")
    for name in sorted(known - several):
        wrong.append(f"scripts/two_values.txt lists {name}, which has one value now: take it out")
    return len(known)


def check_words(files, wrong):
    table = []
    for line in listed("words.txt"):
        private, standard = line.split("\t")
        table.append((re.compile(private, re.I), standard))
    for name in files:
        if not name.endswith((".c", ".h", ".md", ".py", ".sh")) or name.startswith("scripts/check_house"):
            continue
        if name.startswith(("docs/notebook", "test/")) or name == "docs/manual/glossary.md":
            continue
        for i, line in enumerate(read(name).split("\n")):
            text = line if name.endswith(".md") else "".join(re.findall(r"(?://|#|\"\"\").*", line))
            for pattern, standard in table:
                if text and pattern.search(text):
                    wrong.append(f"{name}:{i + 1}: '{pattern.search(text).group(0)}', say {standard}")


def check_joints(files, wrong):
    """Code asks the list of joint types for their properties; few files name a type."""
    types = re.findall(r"^ *X\((\w+), \"\w+\", \d", read("src/model/joint_kinds.h"), re.M)
    if not types:
        wrong.append("src/model/joint_kinds.h: no line of TB_JOINTS was found")
        return
    named = re.compile(rf"\bTB_JOINT_({'|'.join(types)})\b")
    found = {name for name in files if name.startswith(("src/", "cli/", "viewer/"))
             and name.endswith((".c", ".h")) and named.search(read(name))}
    known = {line.split("\t")[0] for line in listed("joint_names.txt")}
    for name in sorted(found - known):
        wrong.append(f"{name} names a type of joint: ask src/model/joint_kinds.h for its property")
    for name in sorted(known - found):
        wrong.append(f"scripts/joint_names.txt lists {name}, which names no type now: take it out")


def main():
    files, wrong = tracked(), []
    check_folders(files, wrong)
    check_lengths(files, wrong)
    known = check_values(files, wrong)
    check_words(files, wrong)
    check_joints(files, wrong)
    for line in wrong[:60]:
        print(line)
    if len(wrong) > 60:
        print(f"... and {len(wrong) - 60} more")
    if not wrong:
        print(f"house: ok, {known} names with several values left")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
