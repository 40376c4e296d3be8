#!/usr/bin/env python3
"""What keeps the house in order: sizes of folders, files and functions; one value for each name; the
field's words instead of private ones; kinds that tables list are named by their tables.

    scripts/check_house.py

Lists beside this script name what does not hold yet, and may only shrink:
    two_values.txt    names of constants that have several values in src/
    joint_names.txt   files that name a type of joint, and why
    law_names.txt     files below and beside the laws that name one, and why
    words.txt         private words (regular expressions) and the standard ones in their place
    kinds.txt         files of src/ that name a kind of a table (a transmission, an equality)
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


# Entries of the root of the repository. A new one is added here on purpose; others are outputs that
# a program wrote to the wrong place.
ROOT_ENTRIES = {".ci", ".clang-format", ".gitignore", "CHANGELOG.md", "CMakeLists.txt",
                "CMakePresets.json", "LICENSE", "Makefile", "README.md", "bench", "cli", "cmake",
                "docs", "examples", "include", "mkdocs.yml", "page", "pyproject.toml", "python",
                "scenes", "scripts", "src", "test"}


def check_root(files, wrong):
    for entry in sorted({f.split("/")[0] for f in files} - ROOT_ENTRIES):
        wrong.append(f"{entry}: unexpected in the root of the repository (ROOT_ENTRIES of "
                     "scripts/check_house.py lists what belongs there)")


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
        if name.startswith("docs/notebook") or name == "docs/manual/glossary.md":
            continue
        for i, line in enumerate(read(name).split("\n")):
            text = line if name.endswith(".md") else "".join(re.findall(r"(?://|#|\"\"\").*", line))
            for pattern, standard in table:
                if text and pattern.search(text):
                    wrong.append(f"{name}:{i + 1}: '{pattern.search(text).group(0)}', say {standard}")


# Tables of kinds: prefix of the enumerators, list, file of the list. Enumerators of tribo/enums.h are
# named by the list only; what differs between kinds is a column or a function.
TABLES = (
    ("TB_SENS_", "TB_SENSORS", "sensor_kinds.h"),
    ("TB_GAIN_", "TB_ACTUATOR_GAINS", "actuator_kinds.h"),
    ("TB_BIAS_", "TB_ACTUATOR_BIASES", "actuator_kinds.h"),
    ("TB_DYN_", "TB_ACTUATOR_DYNAMICS", "actuator_kinds.h"),
    ("TB_TRN_", "TB_TRANSMISSIONS", "transmission_kinds.h"),
    ("TB_EQ_", "TB_EQUALITIES", "equality_kinds.h"),
    ("TB_JOINT_", "TB_JOINTS", "joint_kinds.h"),
)
# MuJoCo has them, Tribo does not.
WITHOUT_LINE = {"TB_SENS_TACTILE", "TB_SENS_PLUGIN"}
# Kinds that no file but the list may name.
ONLY_LISTED = ("TB_TRN_", "TB_EQ_")


def check_tables(files, wrong):
    """Each enumerator has one line with a word of its own; no others have lines, and none is named
    elsewhere."""
    enums = read("include/tribo/enums.h")
    named = set()
    for prefix, table, header in TABLES:
        body = re.search(rf"typedef enum \{{([^}}]*\b{prefix}[^}}]*)\}}", enums).group(1)
        kinds = set(re.findall(rf"\b({prefix}[A-Z0-9_]+)\b", body.replace(prefix + "##TYPE", "")))
        text = read(f"src/model/{header}")
        listed_kinds = re.search(rf"#define {table}\(X\)((?:.*\\\n)*.*)", text).group(1)
        lines = re.findall(r'X\((\w+), "([^"]+)"', listed_kinds)
        if {prefix + kind for kind, _ in lines} | WITHOUT_LINE & kinds != kinds:
            wrong.append(f"{table} and the enumerators {prefix}* of tribo/enums.h differ")
        if len({word for _, word in lines}) < len(lines) or len({k for k, _ in lines}) < len(lines):
            wrong.append(f"{table} has a word or a kind twice")
        extension = "TB_EXTENSION_" + table.split("_")[-1]
        if f"{extension}(X)" not in listed_kinds or f"{extension}(" not in body:
            wrong.append(f"{table} or its enumeration does not end with {extension}")
        if prefix in ONLY_LISTED:
            pattern = re.compile(rf"\b({'|'.join(sorted(kinds))})\b")
            named |= {name for name in files if name.startswith("src/") and pattern.search(read(name))}
    known = set(listed("kinds.txt"))
    for name in sorted(named - known):
        wrong.append(f"{name} names a kind of transmission or equality: ask for a property of its table "
                     "(src/model/*_kinds.h)")
    for name in sorted(known - named):
        wrong.append(f"scripts/kinds.txt lists {name}, which names no kind now: take it out")


def check_names(files, wrong, table, list_name, prefix, folders, own):
    """Code asks a table for properties of its kinds; few files name a kind."""
    types = re.findall(r"^ *X\((\w+), \"\w+\",", read(table), re.M)
    if not types:
        wrong.append(f"{table}: no line of its list was found")
        return
    named = re.compile(rf"\b{prefix}({'|'.join(types)})\b")
    found = {name for name in files if name.startswith(folders) and not name.startswith(own)
             and name.endswith((".c", ".h")) and named.search(read(name))}
    known = {line.split("\t")[0] for line in listed(list_name)}
    for name in sorted(found - known):
        wrong.append(f"{name} names a kind of {table}: ask there for its property")
    for name in sorted(known - found):
        wrong.append(f"scripts/{list_name} lists {name}, which names no kind now: take it out")


def main():
    files, wrong = tracked(), []
    check_root(files, wrong)
    check_folders(files, wrong)
    check_lengths(files, wrong)
    known = check_values(files, wrong)
    check_words(files, wrong)
    check_tables(files, wrong)
    check_names(files, wrong, "src/model/joint_kinds.h", "joint_names.txt", "TB_JOINT_",
                ("src/", "cli/"), "src/model/joint_kinds.h")
    # Solvers and rules name the laws of problems until rules stand in one table.
    check_names(files, wrong, "src/model/law_kinds.h", "law_names.txt", "TB_LAW_", "src/",
                ("src/laws/", "src/solvers/", "src/problem/"))
    for line in wrong[:60]:
        print(line)
    if len(wrong) > 60:
        print(f"... and {len(wrong) - 60} more")
    if not wrong:
        print(f"house: ok, {known} names with several values left")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
